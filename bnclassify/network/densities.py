"""Numbers as leaves of a network: a density given the class and coded parents, and its term in a log joint.

Each type of density is a frozen dataclass in a separate module.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes
from ..base.messages import shown
from ..counts.contingency import Moments, flat_index
from ..frames.schema import Dataset
from ..model.formulas import Normal
from .factors import Batch, Factor

_DEVIATIONS, _POINTS = 2.5, 201  # standard deviations beyond the means of a curve, and its number of points

_LEAST_SHARE = 1e-9
"""The smallest variance, as a share of the largest variance of the number within the classes."""


class Density(Protocol):
    """The density of a number in each configuration (cell) of its coded parents and class."""

    is_parametric: bool
    """Whether a cell has two parameters, its mean and variance, and no others."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of levels of the parents and of the class."""

    @staticmethod
    def count(data: Dataset, scope: Sequence[int]) -> Any:
        """Return the sufficient statistics, which add up over rows."""

    @classmethod
    def estimate(cls, counts: Any, name: Hashable) -> Self:
        """Return the density of a number with the parameters that follow from counts."""

    def log_density(self, values: Array, parents: NDArray[np.intp]) -> Array:
        """Return ln p(value | parents, class), (rows, classes), with parents by number."""

    def draw(self, cells: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Return a number drawn in each of some cells, which are numbered with the class varying fastest."""

    def columns(self) -> Mapping[str, Array]:
        """Return the parameters of each cell by name, including ``mean`` and ``sd``."""


def curve(density: Density) -> Array:
    """Return numbers over the range of probable values."""
    mean, sd = density.columns()["mean"], density.columns()["sd"]
    return np.linspace((mean - _DEVIATIONS * sd).min(), (mean + _DEVIATIONS * sd).max(), _POINTS)


def fall_back(
    name: Hashable, within: Moments | None, by_class: Moments
) -> tuple[Moments, NDArray[np.bool_], float]:
    """Return moments per cell (without variance, those of the class), a mask of these, and the floor."""
    if not by_class.n.any():
        raise ValueError(f"dataset must have an observed value of {shown(name)}; got none. Drop the column.")
    variance = by_class.variance
    floor = _LEAST_SHARE * (float(variance.max()) or 1.0)
    empty = by_class.n == 0
    if empty.any():
        by_class = choose(empty, by_class.over(0), by_class)
    if within is None:
        return by_class, np.zeros(empty.shape, dtype=bool), floor
    falls = ~(within.low < within.high)
    return choose(falls, by_class, within), falls, floor


def choose(where: NDArray[np.bool_], first: Moments, second: Moments) -> Moments:
    """Return the first moments if a condition holds, and the second if not."""
    names = Moments.__dataclass_fields__
    return Moments(*[np.where(where, getattr(first, name), getattr(second, name)) for name in names])


@dataclass(frozen=True, eq=False)
class NumberTerm:
    """The term of a number in the log joint, over ``scope``; its codes are positions in ``values``."""

    scope: tuple[int, ...]
    density: Density
    values: Array

    def add_to(self, total: Array, rows: Batch) -> None:
        """Add the term to (rows, classes) sums, and 0 if the number or a parent is missing."""
        codes = [rows.codes[v] for v in self.scope]
        known = slice(None) if rows.complete else np.logical_and.reduce([code >= 0 for code in codes])
        number, *parents = [code[known] for code in codes]
        total[known] += self.density.log_density(self.values[number], self._cells(parents, len(number)))

    def described(self, owner: int) -> Normal:
        """Return the term as part of a formula; the density has two parameters per cell."""
        cells = self.density.columns()
        return Normal(owner, self.scope[1:], cells["mean"], np.square(cells["sd"]))

    def _cells(self, parents: Sequence[Codes], rows: int) -> NDArray[np.intp]:
        if not parents:
            return np.zeros(rows, dtype=np.intp)
        return flat_index(parents, self.density.shape[:-1]).astype(np.intp)

    def tabulated(self, codes: Codes) -> tuple[Factor, Codes]:
        """Return the term as a table over the values in some rows, and their codes; the last is missing."""
        found, positions = np.unique(codes, return_inverse=True)
        if not len(found) or found[0] >= 0:
            found, positions = np.append(-1, found), positions + 1
        values, cells = self.values[found[1:]], prod(self.density.shape[:-1])
        logs = self.density.log_density(np.repeat(values, cells), np.tile(np.arange(cells), len(values)))
        table = np.zeros((len(found), *self.density.shape[:-1], 1, self.density.shape[-1]))
        table[1:] = logs.reshape(len(values), *table.shape[1:])
        return Factor(self.scope, table), positions


def tabulate_numbers(terms: Sequence[Any], codes: Codes) -> tuple[Sequence[Factor], Codes]:
    """Return terms in which numbers have tables over the values in some rows, and the codes of these rows."""
    if not any(isinstance(term, NumberTerm) for term in terms):
        return terms, codes
    made, codes = list(terms), codes.astype(np.int64)
    for i, term in enumerate(made):
        if isinstance(term, NumberTerm):
            made[i], codes[i] = term.tabulated(codes[i])
    return made, codes
