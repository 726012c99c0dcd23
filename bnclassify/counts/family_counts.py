"""Counts of families, and of a family together with each other column, for the addition of a parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.immutable import cached_property
from ..frames.partitions import Partitions
from ..frames.schema import Countable, Dataset
from .contingency import check_cells, check_number, pair_tables

_PAIR_CELLS = 2**22  # cells of the tables of all pairs of columns, up to which they are counted at once
_TABLE_CELLS = 2**20  # cells of the tables of other columns that are returned together
_FEW_LEVELS = 16  # of each column, up to which all pairs are counted at once
_FEW_CONFIGURATIONS = 2**12  # up to this number, all configurations are numbered

Counts = NDArray[Any]
Index = NDArray[np.intp]


class FamilyCounts:
    """Counts of families, each the numbers of a variable and its parents, over rows in memory.

    A row in which a member is missing is not counted. If `numbered` is True and there are more configurations
    of the parents than rows, only observed configurations are numbered; if False, tables contain all
    configurations, so that tables of several parts add up.
    """

    def __init__(self, data: Dataset, *, numbered: bool = True) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._most = max(len(data), _FEW_CONFIGURATIONS) if numbered else np.inf

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families in advance; rows in memory are counted on request."""

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        state, shape = self._states(family)
        return self._count(state, family, shape)

    def _count(self, index: Index, columns: Sequence[int], shape: Sequence[int]) -> Counts:
        """Count the cells of the rows in which all of some columns are observed."""
        weights = self.data.weights
        if not self.is_complete:
            observed = np.logical_and.reduce(self.data.codes[list(columns)] >= 0)
            index, weights = index[observed], None if weights is None else weights[observed]
        return np.bincount(index, weights, minlength=prod(shape)).reshape(shape)

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Yield slices of columns, and (levels, configurations, levels of these columns) counts."""
        if len(family) == 1 and self._pairs is not None:
            start = int(self.cards[: family[0]].sum())
            pairs = self._pairs[start : start + self.cards[family[0]]]
            yield slice(0, len(self.cards)), pairs[:, None]
            return
        state, shape = self._states(family)
        start, tables = 0, list[Counts]()
        for column, card in enumerate(self.cards.tolist()):
            check_number(self.data, (*family, column), prod(shape) * card, "set max_parents")
            index = state * card + self.data.codes[column]
            tables.append(self._count(index, (*family, column), (*shape, card)))
            if column == len(self.cards) - 1 or sum(table.size for table in tables) > _TABLE_CELLS:
                yield slice(start, column + 1), np.concatenate(tables, axis=-1)
                start, tables = column + 1, []

    def _states(self, family: Sequence[int]) -> tuple[Index, tuple[int, int]]:
        """Number the joint values of a family in each row, and return the numbers of both parts."""
        variable, *parents = family
        configuration, n = np.zeros(len(self.data), dtype=np.intp), 1
        for parent in parents:
            n *= int(self.cards[parent])
            configuration *= self.cards[parent]
            configuration += self._codes(parent)
            if n > self._most:
                occurring, configuration = np.unique(configuration, return_inverse=True)
                n = len(occurring)
        configuration += self._codes(variable).astype(np.intp) * n
        return configuration, (int(self.cards[variable]), n)

    def _codes(self, column: int) -> Counts:
        codes = self.data.codes[column]
        return np.maximum(codes, 0) if self.data.incomplete[column] else codes

    @cached_property
    def _pairs(self) -> Counts | None:
        """Counts of the pairs of levels, (levels, levels); None if there are too many."""
        n_levels = int(self.cards.sum())
        if not 0 < self.cards.min() <= self.cards.max() <= _FEW_LEVELS or n_levels**2 > _PAIR_CELLS:
            return None
        columns = np.repeat(np.arange(len(self.cards)), self.cards)
        levels = np.concatenate([np.arange(card) for card in self.cards])
        [pairs] = pair_tables(self.data, columns, levels, None)
        return pairs.astype(np.intp if self.data.weights is None else np.float64)


class FamilyCountsInParts:
    """Counts of families of partitioned data: one pass counts all requested families."""

    def __init__(self, data: Partitions) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._tables: dict[tuple[int, ...], Counts] = {}
        self._extended: dict[tuple[int, ...], Counts] = {}

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families to be extended, and others, in one pass."""
        # Counts are requested once, because their scores are cached.
        wanted = [tuple(family) for family in families if tuple(family) not in self._extended]
        alone = [tuple(family) for family in tables if tuple(family) not in self._tables]
        if not wanted and not alone:
            return
        for family in wanted:
            cells = prod(self.cards[list(family)].tolist()) * int(self.cards.sum())
            check_number(self.data, range(len(self.cards)), cells, "set max_parents")
        for family in alone:
            check_cells(self.data, family)
        self._tables, self._extended = {}, {}
        expected = partial(_count_expected, [*alone, *wanted], wanted)
        made, extended = self._of_source([*alone, *wanted], wanted) or self.data.add_up(expected)
        self._tables.update(zip([*alone, *wanted], made, strict=True))
        self._extended.update(zip(wanted, extended, strict=True))

    def _of_source(
        self, tables: Sequence[Sequence[int]], extended: Sequence[Sequence[int]]
    ) -> tuple[list[Counts], list[Counts]] | None:
        """Return the counts of families and of extended ones if the source counts them itself."""
        cards = self.cards.tolist()
        further = [(*f, *({c} - {*f})) for f in extended for c in range(len(cards))]
        counted = self.data.counts_of_source([*tables, *further])
        if counted is None:
            return None
        parts, wide = iter(counted), []
        made = [next(parts).reshape(cards[variable], -1) for variable, *_ in tables]
        for family in extended:
            shape = cards[family[0]], prod([cards[parent] for parent in family[1:]])
            blocks = [next(parts).reshape(*shape, -1) for _ in cards]
            # A member of the family itself has the rows at its first level.
            full = [
                b * np.eye(1, card) if b.shape[2] == 1 else b for b, card in zip(blocks, cards, strict=True)
            ]
            wide.append(np.concatenate(full, axis=-1))
        return made, wide

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family; see `FamilyCounts`."""
        self.prefetch([], [family])
        return self._tables[tuple(family)]

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Count a family together with each level of each column; see `FamilyCounts`."""
        self.prefetch([family])
        yield slice(0, len(self.cards)), self._extended[tuple(family)]


def _count_expected(
    tables: Sequence[Sequence[int]], extended: Sequence[Sequence[int]], data: Dataset
) -> tuple[list[Counts], list[Counts]]:
    counts = FamilyCounts(data, numbered=False)
    return (
        [counts.table(family) for family in tables],
        [np.concatenate([table for _, table in counts.extended(family)], axis=-1) for family in extended],
    )


def family_counts(data: Countable) -> FamilyCounts | FamilyCountsInParts:
    """Return the counter of families of data."""
    return FamilyCountsInParts(data) if isinstance(data, Partitions) else FamilyCounts(cast("Dataset", data))
