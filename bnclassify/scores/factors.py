"""The terms of a log joint: log tables, padded so that missing values add 0, and densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..counts import flat_index
from ..tools.arrays import Array, Codes, Positions, slices
from ..tools.immutable import cached_property

if TYPE_CHECKING:
    from .densities import Density


@dataclass(frozen=True, eq=False)
class Factor:
    """The term ln θ of a family: feature positions, (levels of each…, contexts, classes or 1)."""

    scope: tuple[int, ...]
    table: Array

    @property
    def n_classes(self) -> int:
        """The number of classes, or 1."""
        return self.table.shape[-1]

    @cached_property
    def padded_table(self) -> Array:
        """The table with a last level, 0, on each feature's axis, which the code -1 selects."""
        n = len(self.scope)
        padded = np.zeros((*(r + 1 for r in self.table.shape[:n]), *self.table.shape[n:]))
        padded[(slice(-1),) * n] = self.table
        return padded

    def add_to_sums(self, total: Array, codes: Codes, context: Codes | None = None) -> None:
        """Add the term to (rows, classes) sums; a row in which a family member is missing adds 0.

        Rows are (features, rows) codes and, if tables differ by row, the
        context, which is the table to use.
        """
        coordinates: list[Codes] = [codes[i] for i in self.scope]
        if context is not None:
            coordinates.append(context)
        if not coordinates:
            total += self.table
            return
        index = flat_index(coordinates, self.padded_table.shape[: len(coordinates)])
        total += self.padded_table.reshape(-1, self.n_classes).take(index, axis=0, mode="wrap")


@dataclass(frozen=True, eq=False)
class AlikeFactors:
    """Factors whose tables have the same shape, and no contexts, which are looked up at once.

    ``scopes`` are (features of a scope, factors) and ``padded_tables`` the
    tables, (factors, levels of each… and one more, classes or 1), see `Factor`.
    """

    scopes: Positions
    padded_tables: Array

    @classmethod
    def from_factors(cls, factors: Sequence[Factor]) -> AlikeFactors:
        """Stack factors, whose tables have one context."""
        scopes = np.array([factor.scope for factor in factors], dtype=np.intp).T
        return cls(scopes, np.array([factor.padded_table[..., 0, :] for factor in factors]))

    @property
    def n_classes(self) -> int:
        """The number of classes, or 1."""
        return self.padded_tables.shape[-1]

    def add_to_sums(self, total: Array, codes: Codes) -> None:
        """Add the terms to (rows, classes) sums one by one, as `Factor` does, with its rounding."""
        flat = self.padded_tables.reshape(-1, self.n_classes)
        if not len(self.scopes):
            for row in flat:
                total += row
            return
        n, *shape, _ = self.padded_tables.shape
        starts = np.arange(0, len(flat), len(flat) // n)[:, None]
        # 2**14: numbers that are looked up at once; more would need new memory each time
        for block in slices(n, total.size, 2**14):
            index = flat_index(list(codes[self.scopes[:, block]]), shape)
            cells = np.add(index, starts[block], dtype=np.intp)
            for values in flat.take(cells, axis=0, mode="wrap"):
                total += values


class Belief(NamedTuple):
    """Posteriors, (rows, levels of each…, classes), of ``free`` members of ``factor``'s family."""

    factor: int
    rows: Positions
    free: tuple[int, ...]
    shares: Array


@dataclass(frozen=True, eq=False)
class DensityTerm:
    """The term of a number, with a density over ``scope``; codes are positions in ``values``."""

    scope: tuple[int, ...]
    density: Density
    values: Array

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.density.shape[-1]

    def add_to_sums(self, total: Array, codes: Codes, context: Codes | None = None) -> None:
        """Add the term to (rows, classes) sums, and 0 if the number or a parent is missing."""
        known = np.flatnonzero((codes[list(self.scope)] >= 0).all(axis=0))
        values: Array = self.values[codes[self.scope[0], known]]
        parents: list[Codes] = [codes[v, known] for v in self.scope[1:]]
        cells: Codes = np.zeros(len(known), dtype=np.intp)
        if parents:
            cells = flat_index(parents, self.density.shape[:-1]).astype(np.intp)
        total[known] += self.density.log_density(values, cells)

    def as_factor_and_codes(self, codes: Codes) -> tuple[Factor, Codes]:
        """Return the term as a table over values in some rows, and their codes; 0 is missing."""
        known = codes >= 0
        values, places = np.unique(self.values[codes[known]], return_inverse=True)
        *parents, n_classes = self.density.shape
        cells = prod(parents)
        logs = self.density.log_density(
            np.repeat(values, cells), np.tile(np.arange(cells), len(values))
        )
        table = np.zeros((len(values) + 1, *parents, 1, n_classes))
        table[1:] = logs.reshape(len(values), *table.shape[1:])
        positions = np.zeros(len(codes), dtype=np.intp)
        positions[known] = places + 1
        return Factor(self.scope, table), positions


NetworkTerm: TypeAlias = Factor | DensityTerm


def as_factors_and_codes(
    terms: Sequence[NetworkTerm], codes: Codes
) -> tuple[Sequence[Factor], Codes]:
    """Return terms in which numbers have tables over the values in some rows, and their codes."""
    factors = [term for term in terms if isinstance(term, Factor)]
    if len(factors) == len(terms):
        return factors, codes
    codes = codes.astype(np.int64)
    for i, term in enumerate(terms):
        if isinstance(term, DensityTerm):
            table, codes[i] = term.as_factor_and_codes(codes[i])
            factors.insert(i, table)
    return factors, codes


def sum_terms(
    terms: Sequence[NetworkTerm] | Sequence[AlikeFactors],
    codes: Codes,
    context: Codes | None = None,
) -> Array:
    """Return the sum of terms at each row, (rows, classes); stacked ones have no context."""
    total = np.zeros((codes.shape[1], max([term.n_classes for term in terms])))
    for term in terms:
        if isinstance(term, AlikeFactors):
            term.add_to_sums(total, codes)
        else:
            term.add_to_sums(total, codes, context)
    return total
