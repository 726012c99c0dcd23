"""Counts of families, and of a family with each further column: what is asked before a parent is added.

All further columns are counted at once, by a product of two matrices: which rows have which joint
values of the family, and which rows have which levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ..base.arrays import Array
from ..base.blas import one_thread
from ..base.messages import how_to_merge, shown
from ..frames.partitions import Partitions
from ..frames.schema import Countable, Dataset
from .contingency import MAX_CELLS, check_cells

_ONES = 2**26  # zeros and ones that are kept
_EXACT_ROWS = 2**24  # sums of fewer ones are exact in single precision
_CELLS = 2**22  # of the tables of all further columns together
_STATES = 2**12  # up to here joint values are numbered whether they occur or not

Counts = NDArray[Any]
States = NDArray[Any]


class FamilyCounts:
    """Count families of the columns of a data set; a family is a variable and its parents, by number.

    Rows in which a member of a family is missing are not counted for it. Of the configurations of
    the parents only those that occur are sure to be in a table, so that no table has more columns
    than there are rows, or than a few thousand.

    Parameters
    ----------
    data : Dataset
    numbered : bool
        Whether configurations are numbered by those that occur; if not, tables have all, so that those
        of different rows add up.
    """

    def __init__(self, data: Dataset, *, numbered: bool = True) -> None:
        self.data, self.numbered = data, numbered
        self.cards = np.array(data.cards, dtype=np.intp)
        self.starts = np.concatenate([[0], np.cumsum(self.cards)])
        """Where the levels of each column begin, when those of all lie side by side."""
        self.is_complete = not data.incomplete.any()
        most = (max(len(data), _STATES) if numbered else MAX_CELLS) * int(self.cards.max(initial=1)) ** 2
        self._counted = np.intp if data.weights is None else np.float64
        self._type: type[np.signedinteger[Any]] = np.int32 if most < 2**31 else np.int64

    def expect(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Be told what will be asked for: families to be extended, and others. Here, nothing follows."""

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        state, shape = self._states(family)
        weights = self.data.weights
        if not self.is_complete:
            observed = self._observed(family)
            state, weights = state[observed], weights if weights is None else weights[observed]
        return np.bincount(state, weights, minlength=shape[0] * shape[1]).reshape(shape)

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Count a family together with each level of each column.

        Yields
        ------
        slice
            Columns; together the slices have all.
        (levels of the variable, configurations, levels of these columns) array
            For each level of those columns, side by side, the family's table in the rows that have
            it. What stands at the columns of the family itself means nothing.
        """
        if len(family) == 1 and self._pairs is not None:
            pairs = self._pairs[self.starts[family[0]] : self.starts[family[0] + 1]]
            yield slice(0, len(self.cards)), pairs[:, None].astype(self._counted)
            return
        state, shape = self._states(family)
        n_states = shape[0] * shape[1]
        observed = None if self.is_complete else self._observed(family)
        if self._hot is not None and n_states * self.starts[-1] <= _CELLS:
            counts = self._product(self._hot, state, n_states, observed)
            yield slice(0, len(self.cards)), counts.reshape(*shape, -1)
            return
        for column, card in enumerate(self.cards.tolist()):
            if n_states * card > MAX_CELLS:
                wide = how_to_merge((self.data.columns[c], self.data.cards[c]) for c in (*family, column))
                raise ValueError(
                    f"dataset: a table of {shown(self.data.columns[family[0]])}, its parents and "
                    f"{shown(self.data.columns[column])} would have {n_states * card:,} cells, more than "
                    f"{MAX_CELLS:,}; set max_parents, or {wide}"
                )
            index, weights = self._extended_by(column, state, observed)
            counts = np.bincount(index, weights, minlength=n_states * card)
            yield slice(column, column + 1), counts.reshape(*shape, card)

    def _extended_by(
        self, column: int, state: States, observed: NDArray[np.bool_] | None
    ) -> tuple[States, Array | None]:
        """Number the joint values of states and a column, in rows in which both are known, with weights."""
        codes, weights = self.data.codes[column], self.data.weights
        index = state * self.cards[column] + codes
        if observed is None:
            return index, weights
        both = observed & (codes >= 0)
        return index[both], weights if weights is None else weights[both]

    def _product(
        self, hot: NDArray[Any], state: States, n_states: int, observed: NDArray[np.bool_] | None
    ) -> Counts:
        """Count (states, levels of all columns) by the product of two matrices of zeros and ones.

        Rows that weigh more or less than others have their weights for ones.
        """
        rows = len(state)
        ones = np.ones(rows, dtype=hot.dtype) if self.data.weights is None else self.data.weights
        entries = ones if observed is None else ones * observed
        member = csc_array((entries, state, self._each), shape=(n_states, rows))
        return np.asarray(member @ hot).astype(self._counted, copy=False)

    def _states(self, family: Sequence[int]) -> tuple[States, tuple[int, int]]:
        """Number the joint values of a family in each row, and return how many levels and configurations.

        A missing value is taken for the first level; whoever counts leaves such rows out.
        """
        variable, *parents = family
        configuration: States = np.zeros(len(self.data), dtype=self._type)
        n = 1
        for parent in parents:
            n *= int(self.cards[parent])
            configuration *= self.cards[parent].astype(self._type)
            configuration += self._codes(parent)
            if self.numbered and n > max(len(self.data), _STATES):
                occurring, configuration = np.unique(configuration, return_inverse=True)
                configuration, n = configuration.astype(self._type), len(occurring)
        state = self._codes(variable) * self._type(n)
        state += configuration
        return state, (int(self.cards[variable]), n)

    def _codes(self, column: int) -> States:
        codes = self.data.codes[column].astype(self._type)
        return np.maximum(codes, 0, out=codes) if self.data.incomplete[column] else codes

    def _observed(self, family: Sequence[int]) -> NDArray[np.bool_]:
        return np.logical_and.reduce(self.data.codes[list(family)] >= 0)

    @cached_property
    def _each(self) -> NDArray[np.int32]:
        """The rows one by one, as the columns of a sparse matrix with one entry in each."""
        return np.arange(len(self.data) + 1, dtype=np.int32)

    @cached_property
    def _pairs(self) -> NDArray[Any] | None:
        """How many rows have both of two levels, for all pairs; None if there are too many."""
        if self._hot is None or int(self.starts[-1]) ** 2 > _CELLS:
            return None
        if self.data.weights is not None:
            left, hot = self._hot.T * self.data.weights, self._hot
        else:
            hot = self._hot.astype(np.float32)
            left = hot.T
        with one_thread:
            return np.asarray(left @ hot)

    @cached_property
    def _hot(self) -> NDArray[Any] | None:
        """Which rows have which levels of all columns, as zeros and ones; None if that would be large."""
        rows = len(self.data)
        if rows * int(self.starts[-1]) > _ONES or rows > _EXACT_ROWS:
            return None
        exact = np.int16 if rows < 2**15 else np.float32  # both are added up fast
        hot = np.zeros((rows, int(self.starts[-1])), dtype=exact if self.data.weights is None else np.float64)
        for codes, start in zip(self.data.codes, self.starts, strict=False):
            known = np.nonzero(codes >= 0)[0]
            # NumPy 1 would add in the small type of the codes, and wrap.
            hot[known, start + codes[known].astype(np.intp)] = 1
        return hot


class FamilyCountsInParts:
    """The same of data in parts, of which each pass counts all families that are expected by then."""

    def __init__(self, data: Partitions) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._tables: dict[tuple[int, ...], Counts] = {}
        self._extended: dict[tuple[int, ...], Counts] = {}

    def expect(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count, in one pass, families to be extended, and others, but for those that are known."""
        # What is counted is asked for once; the scores made of it are kept.
        wanted = [tuple(family) for family in families if tuple(family) not in self._extended]
        alone = [tuple(family) for family in tables if tuple(family) not in self._tables]
        if not wanted and not alone:
            return
        for family in wanted:
            self._check_extended(family)
        for family in alone:
            check_cells(self.data, family)
        self._tables, self._extended = {}, {}
        made, extended = self.data.add_up(partial(_count_expected, [*alone, *wanted], wanted))
        self._tables.update(zip([*alone, *wanted], made, strict=True))
        self._extended.update(zip(wanted, extended, strict=True))

    def _check_extended(self, family: Sequence[int]) -> None:
        cells = prod(self.cards[list(family)].tolist()) * int(self.cards.sum())
        if cells > MAX_CELLS:
            wide = how_to_merge(zip(self.data.columns, self.data.cards, strict=True))
            raise ValueError(
                f"dataset: tables of {shown(self.data.columns[family[0]])}, its parents and each other "
                f"column would have {cells:,} cells, more than {MAX_CELLS:,}; set max_parents, or {wide}"
            )

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family; see `FamilyCounts`."""
        self.expect([], [family])
        return self._tables[tuple(family)]

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Count a family together with each level of each column; see `FamilyCounts`."""
        self.expect([family])
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
    if isinstance(data, Dataset):
        return FamilyCounts(data)
    if isinstance(data, Partitions):
        return FamilyCountsInParts(data)
    raise TypeError(f"data: expected rows in memory or in parts, got {type(data).__name__}")
