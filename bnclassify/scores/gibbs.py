"""Draws from dependency networks by ordered Gibbs sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..tools.arrays import Array, Codes, Positions
from ..tools.graphs import find_cycle, topological_layers
from .elimination import draw_column_per_row
from .factors import Factor

BURN_IN = 100
"""Number of sweeps over the missing features before a draw."""

MOST_SWEEPS = 1_000_000


class _MemberTable(NamedTuple):
    """The logs of a family, (levels of the other members…, classes, levels of one member)."""

    others: tuple[int, ...]
    table: Array

    def logs_of_levels(self, codes: Codes, labels: Positions, rows: Positions) -> Array:
        """Return the logs of the member's levels in some rows, 0 if another member is unknown."""
        *shape, n_classes, card = self.table.shape
        index = np.zeros(len(rows), dtype=np.intp)
        for v, size in zip(self.others, shape, strict=True):
            index = index * size + codes[v, rows]  # -1 selects an entry of the padding
        flat = self.table.reshape(-1, card)
        return flat.take(index * n_classes + labels[rows], axis=0, mode="wrap")


@dataclass(frozen=True, eq=False)
class GibbsSampler:
    """Draws features given the class: in a sweep, one after the other given all others.

    A feature is drawn from its own table times those of its children that are
    not its parents, too: in a network without cycles its distribution given all
    others, and in one whose arcs all have both directions its own table alone.
    """

    terms: Mapping[int, Sequence[_MemberTable]]

    @classmethod
    def from_factors(cls, factors: Sequence[Factor]) -> GibbsSampler:
        """Return the sampler of features' families; parents come first unless arcs form a cycle."""
        parents = {v: list(factor.scope[1:]) for v, factor in enumerate(factors)}
        order = list(parents)
        if not find_cycle(parents):
            order = list(chain.from_iterable(topological_layers(parents)))
        terms: dict[int, list[_MemberTable]] = {}
        for v in order:
            terms[v] = [_table_of_member(factors[v], v)]
            for child, above in parents.items():
                if v in above and child not in parents[v]:
                    terms[v].append(_table_of_member(factors[child], v))
        return cls(terms)

    def draw_missing(
        self, codes: Codes, labels: Positions, burn_in: int, rng: np.random.Generator
    ) -> Codes:
        """Return rows with values for -1 after sweeps; the first starts from observed values."""
        drawn = codes.copy()
        rows_of = {v: np.flatnonzero(codes[v] < 0) for v in self.terms}
        hidden = {v: rows for v, rows in rows_of.items() if len(rows)}
        for _ in range(1 + burn_in):
            for v, rows in hidden.items():
                logs: Array = np.sum(
                    [term.logs_of_levels(drawn, labels, rows) for term in self.terms[v]], axis=0
                )
                drawn[v, rows] = draw_column_per_row(logs, rng)
        return drawn


def _table_of_member(factor: Factor, v: int) -> _MemberTable:
    axis = factor.scope.index(v)
    table = np.moveaxis(factor.padded_table[..., 0, :], axis, -1)[..., :-1]
    return _MemberTable(tuple([u for u in factor.scope if u != v]), table)
