"""Counts of families, and of a family together with each further column, as needed to add a parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..frames.partitions import Partitions
from ..frames.schema import Countable, Dataset
from .contingency import check_cells, check_number
from .pairs import pair_tables, part_by_levels

_PAIR_CELLS = 2**22  # of the tables of all pairs of columns, or of rows and levels, up to which they are made
_TABLE_CELLS = 2**20  # of the tables of further columns that are returned together
_FEW_LEVELS = 16  # of a column on average
_MOST_ONES = 2**15 - 1  # whose sum does not exceed the integers of 16 bits
_BLOCK_ENTRIES = 2**17  # rows x further columns that are counted at once
_FEW_CONFIGURATIONS = 2**12  # up to here, configurations are numbered whether they occur or not

Counts = NDArray[Any]
Index = NDArray[np.intp]


class FamilyCounts:
    """Counts of families, each the numbers of a variable and its parents, over rows in memory.

    A row in which a member is missing is not counted. If `numbered` is True and there are more
    configurations of the parents than rows, only those that occur are numbered; if False, tables contain
    all configurations, so that tables of several parts add up.
    """

    def __init__(self, data: Dataset, *, numbered: bool = True) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._most = max(len(data), _FEW_CONFIGURATIONS) if numbered else np.inf

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families that will be asked for. Rows in memory are counted when they are."""

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        (state, shape), weights = self._states(family), self.data.weights
        if not self.is_complete:
            observed = self._observed(family)
            state, weights = state[observed], None if weights is None else weights[observed]
        return np.bincount(state, weights, minlength=prod(shape)).reshape(shape)

    def _observed(self, family: Sequence[int]) -> NDArray[np.bool_]:
        return np.logical_and.reduce(self.data.codes[list(family)] >= 0)

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Yield slices of all columns, and counts of the family together with each level of these columns.

        Their shape is (levels of the variable, configurations, levels of the columns side by side). The
        entries of the columns of the family itself are undefined.
        """
        if len(family) == 1 and self._pairs is not None:
            start = int(self.cards[: family[0]].sum())
            pairs = self._pairs[start : start + self.cards[family[0]]]
            yield slice(0, len(self.cards)), pairs[:, None]
            return
        state, shape = self._states(family)
        observed = None if self.is_complete else self._observed(family)
        if self._hot is not None and prod(shape) * self._hot.shape[1] <= _TABLE_CELLS:
            yield slice(0, len(self.cards)), self._product(state, prod(shape), observed).reshape(*shape, -1)
            return
        weights = self.data.weights
        for columns, card in self._blocks(family, prod(shape)):
            offsets = np.cumsum(self.cards[columns]) - self.cards[columns]
            index = self.data.codes[columns] + offsets[:, None]
            index += state * card
            if observed is not None:
                index[(self.data.codes[columns] < 0) | ~observed] = prod(shape) * card
            repeated = None if weights is None else np.tile(weights, len(index))
            counts = np.bincount(index.ravel(), repeated, prod(shape) * card + 1)[:-1]
            yield columns, counts.reshape(*shape, card)

    def _product(self, state: Index, cells: int, observed: NDArray[np.bool_] | None) -> Counts:
        """Count the cells of a family with all levels: (cells, levels of all columns side by side)."""
        from scipy import sparse  # which takes long to import

        entries = np.ones(len(state), dtype=np.int16) if observed is None else observed.astype(np.int16)
        state, each, result = state.astype(np.int32), np.arange(len(state) + 1, dtype=np.int32), 0
        for start in range(0, max(1, len(state)), _MOST_ONES):
            rows = slice(start, start + _MOST_ONES)
            hot = self._hot[rows]
            member = sparse.csc_array((entries[rows], state[rows], each[: len(hot) + 1]), (cells, len(hot)))
            result = result + (member @ hot).astype(np.intp)
        return np.asarray(result)

    @cached_property
    def _hot(self) -> Any:
        """Whether rows have each level of each column, (rows, levels), as 0 and 1; None if that is large.

        A product with it is the fastest way to count whole rows if levels are few.
        """
        n_levels = int(self.cards.sum())
        few = n_levels <= _FEW_LEVELS * len(self.cards) and n_levels * len(self.data) <= _PAIR_CELLS
        if self.data.weights is not None or not few:
            return None
        hot = np.zeros((len(self.data), n_levels), dtype=np.int16)
        starts = np.cumsum(self.cards) - self.cards
        places = self.data.codes + starts[:, None] + np.arange(0, hot.size, n_levels)
        hot.reshape(-1)[places.ravel() if self.is_complete else places[self.data.codes >= 0]] = 1
        return hot

    def _blocks(self, family: Sequence[int], cells: int) -> Iterator[tuple[slice, int]]:
        """Yield adjacent columns to count at once with a family of so many cells, and their levels."""
        most = min(max(1, _BLOCK_ENTRIES // max(1, len(self.data))), len(self.cards))
        start, levels = 0, 0
        for column, card in enumerate(self.cards.tolist()):
            check_number(self.data, (*family, column), cells * card, "set max_parents")
            if column > start and (column - start == most or cells * (levels + card) > _TABLE_CELLS):
                yield slice(start, column), levels
                start, levels = column, 0
            levels += card
        yield slice(start, len(self.cards)), levels

    def _states(self, family: Sequence[int]) -> tuple[Index, tuple[int, int]]:
        """Number the joint values of a family in each row; return the numbers of levels and configurations.

        A missing value counts as the first level.
        """
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
        if part_by_levels(self.data, range(len(self.cards)))[1] or n_levels**2 > _PAIR_CELLS:
            return None
        columns = np.repeat(np.arange(len(self.cards)), self.cards)
        levels = np.concatenate([np.arange(card) for card in self.cards])
        [pairs] = pair_tables(self.data, columns, levels, None)
        return pairs.astype(np.intp if self.data.weights is None else np.float64)


class FamilyCountsInParts:
    """Counts of families of data in parts: one pass counts all families that are asked for."""

    def __init__(self, data: Partitions) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._tables: dict[tuple[int, ...], Counts] = {}
        self._extended: dict[tuple[int, ...], Counts] = {}

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families to be extended, and others, in one pass."""
        # What is counted is asked for once; the scores made of it are kept.
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
    """Return what counts families of the columns of data."""
    return FamilyCountsInParts(data) if isinstance(data, Partitions) else FamilyCounts(cast("Dataset", data))
