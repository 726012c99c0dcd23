"""Counts of families, and of a family together with each other column, for the addition of a parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import blocks
from ..frames.partitions import Partitions
from ..frames.schema import Countable, Dataset
from .contingency import check_cells, check_number

_BLOCK_CELLS = 2**18  # of rows and columns, or of tables, that are counted at once
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
        state, shape = self.states(family)
        observed = self._observed(family)
        weights = None if self.data.weights is None else self.data.weights[observed]
        return np.bincount(state[observed], weights, minlength=prod(shape)).reshape(shape)

    def _observed(self, family: Sequence[int]) -> Any:
        """Return the rows in which all members of a family are observed."""
        return slice(None) if self.is_complete else (self.data.codes[list(family)] >= 0).all(axis=0)

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Yield slices of columns, and (levels, configurations, levels of these columns) counts."""
        state, shape = self.states(family)
        cells, widest = prod(shape), int(self.cards.argmax())
        check_number(self.data, (*family, widest), cells * int(self.cards[widest]), "set max_parents")
        largest = max(len(self.data), cells * int(self.cards[widest]))
        for columns in blocks(len(self.cards), _BLOCK_CELLS, largest):
            cards, codes = self.cards[columns], self.data.codes[columns]
            index = state * cards.sum() + (np.cumsum(cards) - cards)[:, None] + codes
            index, weights = (
                index.ravel(),
                None if self.data.weights is None else np.tile(self.data.weights, len(cards)),
            )
            if not self.is_complete:
                known = ((codes >= 0) & self._observed(family)).ravel()
                index, weights = index[known], None if weights is None else weights[known]
            counts = np.bincount(index, weights, cells * int(cards.sum()))
            yield columns, counts.reshape(*shape, -1)

    def states(self, family: Sequence[int]) -> tuple[Index, tuple[int, int]]:
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
