"""Tables that know a distribution for every prefix of a family."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..base.messages import how_to_merge, listed
from ..base.records import record
from ..counts.contingency import MAX_CELLS
from .counts import PrefixCounts


@record
@dataclass(frozen=True, eq=False)
class PrefixTable(Immutable):
    """The distributions of a variable alone, given the class, and given its first 1, 2, … feature parents.

    Each is estimated from rows and pseudo-rows, which are spread as a base distribution says:

        P(x | u) = (n(u, x) + mass · base(x)) / (n(u) + mass).

    Attributes
    ----------
    cards : tuple of int
        Number of levels of the variable and of its feature parents.
    prefixes : tuple of PrefixCounts
        One more than ``cards`` where the class is a parent.
    masses : tuple of float
        The pseudo-rows of each prefix.
    nested : bool
        Whether the base is the distribution of the prefix before; otherwise, and for the first, it is
        uniform.
    """

    cards: tuple[int, ...]
    prefixes: tuple[PrefixCounts, ...]
    masses: tuple[float, ...]
    nested: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = len(self.prefixes) - len(self.cards) in (0, 1) and len(self.masses) == len(self.prefixes)
        if not fits or any(prefix.levels != self.cards[0] for prefix in self.prefixes):
            raise ValueError("prefixes: expected one, with a mass, for each of variable, class and parents")

    @property
    def by_class(self) -> bool:
        """Whether the class is a parent."""
        return len(self.prefixes) > len(self.cards)

    @property
    def cells(self) -> int:
        """Number of cells of the full table."""
        return prod(self.cards) * self.prefixes[-1].counts.shape[1]

    def shortened(self, parents: int) -> PrefixTable:
        """Return the table with at most so many feature parents."""
        lost = len(self.cards) - 1 - parents
        if lost <= 0:
            return self
        return replace(
            self, cards=self.cards[:-lost], prefixes=self.prefixes[:-lost], masses=self.masses[:-lost]
        )

    def full(self) -> Array:
        """Return the distributions given all there can be.

        Returns
        -------
        (levels of each feature parent…, levels of the variable, classes) array
            The last axis has length 1 where the class is no parent.
        """
        levels, *parent_cards = self.cards
        tables, rows = np.full((1, levels, 1), 1 / levels), np.zeros(1, dtype=np.intp)
        root = len(self.prefixes) - len(self.cards)  # the prefix without feature parents
        for i, (prefix, mass) in enumerate(zip(self.prefixes, self.masses, strict=True)):
            if i > root:
                card = parent_cards[i - root - 1]
                tables = np.repeat(tables, card, axis=0)
                previous, level = np.divmod(prefix.parents.keys, card)
                rows = rows[previous] * card + level
            elif i == 1:
                tables = np.repeat(tables, prefix.counts.shape[1], axis=2)
            if not self.nested:
                tables = np.full_like(tables, 1 / levels)
            dense = np.zeros((len(rows) * levels, tables.shape[2]))
            dense[prefix.cells.keys] = prefix.counts
            counts = dense.reshape(len(rows), *tables.shape[1:])
            tables[rows] = shrunk(counts, prefix.totals[:, None], mass, tables[rows])
        return tables.reshape(*parent_cards, *tables.shape[1:])

    def conditional(self, family: Sequence[Hashable]) -> Array:
        """Return the conditional probability table, its axes in the order of the family.

        Raises
        ------
        ValueError
            If it would have more than ``MAX_CELLS`` cells.
        """
        if self.cells > MAX_CELLS:
            wide = how_to_merge(zip(family, self.cards, strict=False))
            raise ValueError(
                f"dataset: a table of {listed(family)} would have {self.cells:,} cells, more than "
                f"{MAX_CELLS:,}; use fewer parents, or {wide}"
            )
        table = np.moveaxis(self.full(), len(self.cards) - 1, 0)
        return np.ascontiguousarray(table if self.by_class else table[..., 0])


def shrunk(counts: Array, totals: Array, mass: float, base: Array) -> Array:
    """Return (counts + mass · base) / (totals + mass), and the base where there is neither."""
    if mass > 0:
        return np.asarray((counts + mass * base) / (totals + mass))
    observed = totals > 0
    return np.where(observed, counts / np.where(observed, totals, 1.0), base)
