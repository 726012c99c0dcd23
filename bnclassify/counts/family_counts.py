"""Counts of families, and of each extended by one more parent, for searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from ..dataset import Countable, Dataset
from ..tools.arrays import Array, ArrayOf, Codes, Mask, Positions, Slice, slices, weights_at
from ..tools.immutable import cached_property
from .contingency import (
    Counts,
    Family,
    check_number_of_cells,
    check_table_size,
    count_bits,
    count_extended_families,
    flat_index,
    pack_bits,
)
from .pairs import level_mask_of_rows, pair_tables, products_are_faster

_FEW_CONFIGURATIONS = 2**12  # up to this number, all configurations are numbered
# Number of levels of rows, or of pairs, that are kept in memory, in 16 or 32 MiB.
_KEPT_CELLS = 2**24
_FEW_CELLS = 2**3  # of a family that bits extend faster than products; 16 are slower
_SHORT_ROWS = 2**14  # number of rows whose counts 16 bits can hold


def number_family_states(
    data: Dataset, family: Sequence[int], *, numbered: bool = True
) -> tuple[Positions, tuple[int, int]]:
    """Number the joint values of a family in each row, and return the numbers of both parts.

    A family is a variable and its parents. A missing value is replaced by the
    first level. If `numbered` is True and there are more configurations of the
    parents than rows, only observed ones are numbered.
    """
    codes = [np.maximum(data.codes[v], 0) if data.incomplete[v] else data.codes[v] for v in family]
    card, *cards = [data.cards[v] for v in family]
    n = prod(cards)
    if not numbered or n <= max(len(data), _FEW_CONFIGURATIONS):
        return flat_index(codes, [card, *cards]).astype(np.intp), (card, n)
    configurations: Codes = np.zeros(len(data), dtype=np.int8)
    n = 1
    for parent, own in zip(cards, codes[1:], strict=True):
        configurations = flat_index([configurations, own], [n, parent])
        n *= parent
        if n > max(len(data), _FEW_CONFIGURATIONS):
            occurring, configurations = np.unique(configurations, return_inverse=True)
            n = len(occurring)
    return flat_index([codes[0], configurations], [card, n]).astype(np.intp), (card, n)


def count_occurring(values: Positions, weights: Array | None) -> Counts:
    """Return the weights of the values that occur."""
    if weights is None:
        return np.unique(values, return_counts=True)[1]
    return np.bincount(np.unique(values, return_inverse=True)[1], weights)


class FamilyCounts:
    """Counts of families, each the numbers of a variable and its parents.

    A row in which a member is missing is not counted. If data are partitioned,
    one pass counts all families that `prefetch` requests; a family that it did
    not request takes a pass of its own.
    """

    def __init__(self, data: Countable) -> None:
        self.data, self._rows = data, cast("Dataset", data)  # whose codes are not used if in parts
        self.cards: Positions = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._starts = (np.cumsum(self.cards) - self.cards).tolist()
        self._tables: dict[Family, Counts] = {}
        self._extended: dict[Family, Counts] = {}

    def prefetch(
        self, families: Collection[Sequence[int]], tables: Iterable[Sequence[int]] = ()
    ) -> None:
        """Count families that will be extended, and others, if this is faster than one by one.

        In memory, these are families to be extended, if most columns have the
        same parent or none.
        """
        if self.data.in_parts:
            self._count_in_one_pass(families, tables)
            return
        every, self._extended = range(len(self.cards)), {}
        n_children = Counter(tuple(parents) for _, *parents in families)
        most = _KEPT_CELLS // int(self.cards.sum()) ** 2  # configurations of the parents
        frequent = [
            parents
            for parents, n in n_children.items()
            if 2 * n > len(every) and len(parents) < 2 and self.cards[list(parents)].prod() <= most
        ]
        if not frequent or not products_are_faster(self.data, every):
            return
        for parents in frequent:
            tables = pair_tables(self.data, every, *(parents or (None,)))
            for v, start in enumerate(self._starts):
                self._extended[v, *parents] = tables[start : start + self.data.cards[v]]

    def _count_in_one_pass(
        self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]]
    ) -> None:
        # Counts are requested once, because their scores are cached.
        wanted = [tuple(family) for family in families if tuple(family) not in self._extended]
        alone = [tuple(family) for family in tables if tuple(family) not in self._tables]
        if not wanted and not alone:
            return
        every = range(len(self.cards))
        for family in wanted:
            cells: int = prod(self.cards[list(family)].tolist()) * int(self.cards.sum())
            check_number_of_cells(self.data, every, cells, "set max_parents")
        for family in alone:
            check_table_size(self.data, family)
        counted, extended = count_extended_families(self.data, wanted, every, alone)
        self._tables, self._extended = {}, {}
        for family, table in zip(alone, counted, strict=True):
            self._tables[family] = table.reshape(len(table), -1)
        for family, table in zip(wanted, extended, strict=True):
            self._extended[family] = table.reshape(len(table), -1, table.shape[-1])

    def count_family(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        if self.data.in_parts:
            self._count_in_one_pass([], [family])
            return self._tables[tuple(family)]
        if self._is_counted_by_bits(family):
            counted: Counts = count_bits(self._bits_of_cells(family)).sum(axis=-1)
            return counted.reshape(self.data.cards[family[0]], -1)
        state, shape = number_family_states(self._rows, family)
        weights = self._rows.weights
        if not self.is_complete:
            observed = self._rows_observed_in(family)
            state, weights = state[observed], weights_at(weights, observed)
        return np.bincount(state, weights, minlength=prod(shape)).reshape(shape)

    def _rows_observed_in(self, family: Sequence[int]) -> Mask:
        return np.asarray((self._rows.codes[list(family)] >= 0).all(axis=0))

    def count_extensions(self, family: Sequence[int]) -> Iterator[tuple[Slice, Counts]]:
        """Yield slices of columns, and (levels, configurations, levels of these columns) counts."""
        if self.data.in_parts:
            self._count_in_one_pass([family], [])
        if (own := self._extended.get(tuple(family))) is not None:
            yield slice(0, len(self.cards)), own if own.dtype.kind == "f" else own.astype(np.intp)
            return
        if self._is_counted_by_bits(family):
            joint = self._bits_of_cells(family)[:, None] & self._bits_of_levels
            counted: Counts = count_bits(joint).sum(axis=-1)
            of_levels = counted.reshape(self.data.cards[family[0]], -1, len(self._bits_of_levels))
            yield slice(0, len(self.cards)), of_levels
            return
        state, shape = number_family_states(self._rows, family)
        cells, widest = prod(shape), int(self.cards.argmax())
        most = cells * int(self.cards[widest])
        check_number_of_cells(self.data, (*family, widest), most, "set max_parents")
        # 2**22: number of counts up to which products are faster
        if self._keeps_levels and cells * int(self.cards.sum()) <= 2**22:
            counts = self._count_levels_by_state(family, state, cells)
            yield slice(0, len(self.cards)), counts.reshape(*shape, -1)
            return
        for columns in slices(len(self.cards), max(len(self.data), most)):
            counts = self._count_columns_by_state(family, state, cells, columns)
            yield columns, counts.reshape(*shape, -1)

    def is_sparse(self, family: Sequence[int]) -> bool:
        """Whether most cells of extensions are empty, as with a column of names."""
        cells = prod([self.data.cards[v] for v in family]) * int(self.cards.sum())
        # 16: number of cells that are counted in the time in which a row is sorted
        return not self.data.in_parts and cells > 16 * len(self.data) * len(self.cards)

    def count_occurring_extensions(
        self, family: Sequence[int]
    ) -> Iterator[tuple[int, list[Counts], list[Counts]]]:
        """Yield other columns, and counts that are not 0, of rows in which the column is known.

        They are those of the cells and of the configurations of the family,
        first extended by the column, then not.
        """
        every, (_, n) = number_family_states(self._rows, family)
        in_family = self._rows_observed_in(family)
        for column in set(range(len(self.cards))).difference(family):
            known = in_family & (self._rows.codes[column] >= 0)
            state, code = every[known], self._rows.codes[column, known]
            weights, card = weights_at(self._rows.weights, known), self.data.cards[column]
            alone = [state, state % n]
            both = [count_occurring(own * card + code, weights) for own in alone]
            yield column, both, [count_occurring(own, weights) for own in alone]

    def _count_columns_by_state(
        self, family: Sequence[int], state: Positions, cells: int, columns: Slice
    ) -> Counts:
        """Count the levels of a few columns in the known rows of each state at once."""
        cards, codes = self.cards[columns], self._rows.codes[columns]
        # Levels are numbered consecutively: of columns with 2 and 3 levels, those of the second
        # have the numbers 2, 3 and 4 in state 0, and 5 more in state 1.
        n_levels, starts = int(cards.sum()), np.cumsum(cards) - cards
        index: Positions = (state * n_levels + starts[:, None] + codes).ravel()
        weights = self._rows.weights
        weights = None if weights is None else np.tile(weights, len(cards))
        if not self.is_complete:
            known: Mask = ((codes >= 0) & self._rows_observed_in(family)).ravel()
            index, weights = index[known], weights_at(weights, known)
        return np.bincount(index, weights, cells * n_levels)

    def _is_counted_by_bits(self, family: Sequence[int]) -> bool:
        few = prod([self.data.cards[v] for v in family]) <= _FEW_CELLS
        return few and self._keeps_levels and count_bits is not None and not self._rows.is_weighted

    @cached_property
    def _keeps_levels(self) -> bool:
        """Whether the levels of all rows are kept, because there are few."""
        every, cells = range(len(self.cards)), len(self.data) * int(self.cards.sum())
        return cells <= _KEPT_CELLS and products_are_faster(self.data, every)

    @cached_property
    def _bits_of_levels(self) -> ArrayOf[np.uint64]:
        """Which rows have each level, as bits, (levels, groups of 64 rows)."""
        every, rows = range(len(self.cards)), np.arange(len(self.data))
        return pack_bits(level_mask_of_rows(self._rows, every, rows))

    def _bits_of_cells(self, family: Sequence[int]) -> ArrayOf[np.uint64]:
        """Return which rows are in each cell of a family, as bits, (cells, groups of 64 rows)."""
        joint: ArrayOf[np.uint64] | None = None
        for v in family:
            own = self._bits_of_levels[self._starts[v] : self._starts[v] + self.data.cards[v]]
            joint = own if joint is None else (joint[:, None] & own).reshape(-1, own.shape[1])
        assert joint is not None
        return joint

    @cached_property
    def _level_indicators(self) -> ArrayOf[np.uint8]:
        """Which level each row has, as zeros and ones, (rows, levels)."""
        result = np.empty((len(self.data), int(self.cards.sum())), dtype=np.uint8)
        for rows in slices(len(result), most=_SHORT_ROWS):
            some = np.arange(rows.start, rows.stop)
            result[rows] = level_mask_of_rows(self._rows, range(len(self.cards)), some).T
        return result

    def _count_levels_by_state(self, family: Sequence[int], state: Positions, cells: int) -> Counts:
        """Add up the levels of the known rows of each state, by sparse products of few rows."""
        from scipy.sparse import csc_array  # slow to import

        given, n_rows, is_level = self._rows.weights, len(state), self._level_indicators
        weights: ArrayOf[Any] = np.ones(n_rows, dtype=np.uint16) if given is None else given
        if not self.is_complete:
            weights = weights * self._rows_observed_in(family)
        states = state.astype(np.int32)
        rows_at = np.arange(min(n_rows, _SHORT_ROWS) + 1, dtype=np.int32)
        count_type = np.intp if given is None else np.float64
        total: Counts = np.zeros((cells, is_level.shape[1]), count_type)
        for rows in slices(n_rows, most=_SHORT_ROWS):
            n: int = rows.stop - rows.start
            of_state = csc_array((weights[rows], states[rows], rows_at[: n + 1]), shape=(cells, n))
            total += of_state @ is_level[rows]
        return total
