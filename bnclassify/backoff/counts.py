"""Counts of every prefix of a family: of the variable given its first parents, none, one, two and so on.

Only configurations of the parents that occur have a place, so however many parents a family has, its
counts never take more than the rows they were counted in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..base.records import record

Places = NDArray[np.intp]

_LOOKED_UP = 2**16  # numbers that are found by a table, which is kept, rather than by bisection
_MARKED = 2**24  # numbers of which those that occur are marked rather than sorted


@record
@dataclass(frozen=True, eq=False)
class Numbering(Immutable):
    """The numbers that occur among those below a size; the place of each stands for it.

    Attributes
    ----------
    keys : (n,) array of int
        Ascending.
    size : int
    """

    keys: Places
    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        ascending = (np.diff(self.keys) > 0).all() and (not len(self.keys) or self.keys[0] >= 0)
        if not ascending or (len(self.keys) and self.keys[-1] >= self.size):
            raise ValueError(f"keys: expected ascending numbers from 0 and below {self.size}")

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, numbers: Places) -> Places:
        """Return the places of numbers, -1 for those that do not occur and for -1."""
        if self.size == len(self.keys):
            return numbers
        if self.size <= _LOOKED_UP:
            return self._table.take(numbers, mode="wrap")  # so that -1 leads to the last
        places = np.searchsorted(self.keys[:-1], numbers)
        return np.where(self.keys[places] == numbers, places, -1)

    @cached_property
    def _table(self) -> Places:
        table = np.full(self.size + 1, -1, dtype=np.intp)
        table[self.keys] = np.arange(len(self.keys))
        return table


@record
@dataclass(frozen=True, eq=False)
class PrefixCounts(Immutable):
    """How often the values of a variable occur with those of its first parents.

    Attributes
    ----------
    levels : int
        Number of levels of the variable.
    parents : Numbering
        Configurations of the feature parents: the place in the prefix before × levels of the last
        parent + its level.
    cells : Numbering
        Place of the configuration × levels of the variable + its level.
    counts : (cells, classes) array
        One column where the class is not among the parents.
    """

    levels: int
    parents: Numbering
    cells: Numbering
    counts: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cells.size != len(self.parents) * self.levels or len(self.counts) != len(self.cells):
            raise ValueError("counts: expected a row a cell, and cells of levels and configurations")

    @cached_property
    def totals(self) -> Array:
        """Rows of each configuration of the parents, (configurations, classes)."""
        totals = np.zeros((len(self.parents), self.counts.shape[1]))
        np.add.at(totals, self.cells.keys // self.levels, self.counts)
        return totals


def count_prefixes(
    codes: Sequence[NDArray[Any]],
    cards: Sequence[int],
    classes: NDArray[Any] | None = None,
    n_classes: int = 1,
    weights: Array | None = None,
) -> tuple[PrefixCounts, ...]:
    """Count a variable alone, given the class, and given its first 1, 2, … feature parents.

    Each prefix is counted in the rows that know all of it.

    Parameters
    ----------
    codes : sequence of (rows,) arrays of int
        The variable, then its feature parents; -1 where missing.
    cards : sequence of int
        Number of levels of each.
    classes : (rows,) array of int, optional
        Of each row, none missing, if the class is a parent.
    n_classes : int
    weights : (rows,) array, optional
        How often each row counts.
    """
    places = np.where(codes[0] >= 0, 0, -1)
    parents = Numbering(np.zeros(1, dtype=np.intp), 1)
    result = [_count(parents, places, codes[0], cards[0], None, 1, weights)]
    if classes is not None:
        result.append(_count(parents, places, codes[0], cards[0], classes, n_classes, weights))
    for code, card in zip(codes[1:], cards[1:], strict=True):
        numbers = _joined(places, code, card)
        parents = _numbering(numbers, len(parents) * card)
        places = parents.find(numbers)
        result.append(_count(parents, places, codes[0], cards[0], classes, n_classes, weights))
    return tuple(result)


def _count(
    parents: Numbering,
    places: Places,
    variable: NDArray[Any],
    levels: int,
    classes: NDArray[Any] | None,
    n_classes: int,
    weights: Array | None,
) -> PrefixCounts:
    numbers = _joined(places, variable, levels)
    cells = _numbering(numbers, len(parents) * levels)
    index = cells.find(numbers)
    if classes is not None:
        index = _joined(index, classes, n_classes)
    if index.min(initial=0) < 0:
        seen = index >= 0
        index, weights = index[seen], None if weights is None else weights[seen]
    counts = np.bincount(index, weights, len(cells) * n_classes).astype(np.float64)
    return PrefixCounts(levels, parents, cells, counts.reshape(-1, n_classes))


@record
@dataclass(frozen=True, eq=False)
class NestedCounts(Immutable):
    """The counts of every prefix of a family; those of different rows can be added.

    Attributes
    ----------
    cards : tuple of int
        Number of levels of the variable and of its feature parents.
    prefixes : tuple of PrefixCounts
        As `count_prefixes` returns them.
    """

    cards: tuple[int, ...]
    prefixes: tuple[PrefixCounts, ...]

    def __add__(self, other: NestedCounts) -> NestedCounts:
        if prod(self.cards) > np.iinfo(np.intp).max:
            raise ValueError("dataset: a family has too many joint values to number; use fewer parents")
        parts = [_spread(counts.prefixes, self.cards) for counts in (self, other)]
        cells = []
        for each in zip(*parts, strict=True):
            keys, places = np.unique(np.concatenate([keys for keys, _ in each]), return_inverse=True)
            counts = np.zeros((len(keys), each[0][1].shape[1]))
            np.add.at(counts, places, np.concatenate([values for _, values in each]))
            cells.append((keys, counts))
        return NestedCounts(self.cards, _nest(cells, self.cards))


def _spread(prefixes: Sequence[PrefixCounts], cards: Sequence[int]) -> list[tuple[Places, Array]]:
    """Return cells by numbers that are the same in all data: parents first, then the variable."""
    configurations, alone, result = np.zeros(1, dtype=np.intp), len(prefixes) - len(cards), []
    for i, prefix in enumerate(prefixes):
        if i > alone:
            card = cards[i - alone]
            before, last = np.divmod(prefix.parents.keys, card)
            configurations = configurations[before] * card + last
        places, level = np.divmod(prefix.cells.keys, prefix.levels)
        result.append((configurations[places] * prefix.levels + level, prefix.counts))
    return result


def _nest(cells: Sequence[tuple[Places, Array]], cards: Sequence[int]) -> tuple[PrefixCounts, ...]:
    """Number cells, given as `_spread` has them, ascending, within those of the prefix before."""
    levels, alone = cards[0], len(cells) - len(cards)
    parents, before, result = Numbering(np.zeros(1, dtype=np.intp), 1), np.zeros(1, dtype=np.intp), []
    for i, (keys, counts) in enumerate(cells):
        cell_configurations, level = np.divmod(keys, levels)
        if i > alone:
            card, n_before = cards[i - alone], len(before)
            configurations = np.unique(cell_configurations)
            first, last = np.divmod(configurations, card)
            parents = Numbering(np.searchsorted(before, first) * card + last, n_before * card)
            before = configurations
        places = np.searchsorted(before, cell_configurations)
        numbering = Numbering(places * levels + level, len(parents) * levels)
        result.append(PrefixCounts(levels, parents, numbering, counts))
    return tuple(result)


def walk(
    prefixes: Sequence[PrefixCounts], codes: Sequence[NDArray[Any]], cards: Sequence[int]
) -> Iterator[tuple[Places, Places]]:
    """Yield where rows are in the counts of each prefix: their configurations and their cells.

    -1 where a row knows too little, or is the first to have such values.
    """
    places = np.zeros(len(codes[0]), dtype=np.intp)
    steps = len(prefixes) - len(codes) + 1  # without feature parents
    for i, prefix in enumerate(prefixes):
        if i >= steps:
            position = i - steps + 1
            places = prefix.parents.find(_joined(places, codes[position], cards[position]))
        yield places, prefix.cells.find(_joined(places, codes[0], cards[0]))


def _joined(places: Places, codes: NDArray[Any], card: int) -> Places:
    """Number pairs of a place and a code; -1 where either is."""
    numbers = places * card + codes
    numbers[(places < 0) | (codes < 0)] = -1
    return numbers


def _numbering(numbers: Places, bound: int) -> Numbering:
    """Return the numbering of the numbers that occur, -1 left out."""
    if bound <= _MARKED:
        seen = np.zeros(bound + 1, dtype=bool)
        seen[numbers] = True
        return Numbering(np.nonzero(seen[:-1])[0], bound)
    unique = np.unique(numbers)
    return Numbering(unique[unique >= 0], bound)
