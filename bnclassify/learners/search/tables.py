"""Tables of families in every fold, and what families add to the log joint of tested rows.

A family is a variable and its feature parents; the class is a parent of all. Its joint values are the
cells of a table. If there are more of them than rows, only those that occur are numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from math import prod
from typing import Generic, TypeVar

import numpy as np

from ...base.arrays import Array, log
from ...network.priors import PseudoCounts
from .folded import FoldedData, Index
from .neighbours import Parents
from .planes import LogOddsPlanes

Value = TypeVar("Value")

_KEPT_BYTES = 2**27
_FEW_CELLS = 2**12  # up to here, cells are numbered whether they occur or not
_FLAGGED = 16  # up to so many cells per row, flags show which occur; otherwise sorting does


class Kept(Generic[Value]):
    """Values of this step of a search and the last one, up to so many bytes in each.

    >>> kept = Kept[str](len)
    >>> kept.get("a", lambda: "made"), kept.get("a", lambda: "made again")
    ('made', 'made')
    """

    def __init__(self, n_bytes: Callable[[Value], int]) -> None:
        self._n_bytes = n_bytes
        self._now: dict[Hashable, Value] = {}
        self.turn()

    def turn(self) -> None:
        """Begin a step."""
        self._last, self._now, self._free = self._now, {}, _KEPT_BYTES

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key; make it if it is not kept."""
        value = self._now.get(key)
        if value is None:
            value = self._last.pop(key, None)
            if value is None:
                value = make()
            size = self._n_bytes(value)
            if size <= self._free:
                self._now[key] = value
                self._free -= size
        return value


class FamilyTables:
    """What families add to the log joint of tested rows, if each fold is trained on its training rows."""

    def __init__(self, data: FoldedData, prior: PseudoCounts, planes: LogOddsPlanes) -> None:
        self.data, self.prior, self.planes = data, prior, planes
        self._most_cells = max(len(data.grouped), _FEW_CELLS)
        self._added = Kept[Array](lambda added: added.nbytes)
        self._tables = Kept[Array](lambda table: table.nbytes)
        self._cells = Kept[tuple[Index, int]](lambda cells: cells[0].nbytes)

    def turn(self) -> None:
        """Begin a step of the search."""
        for kept in (self._added, self._tables, self._cells):
            kept.turn()

    @cached_property
    def of_class(self) -> Array:
        """What the class adds, (planes, tested rows)."""
        counts = np.bincount(self.data.group, self.data.grouped.weights, self.data.n_groups)
        shares = self.prior(self.data.trained(counts), axis=1)
        return self.data.by_row(self.planes.planes(log(shares), axis=1))

    def added(self, variable: int, parents: Parents) -> Array:
        """Return what a family adds, (planes, tested rows); 0 if a member is missing."""
        return self._added.get((variable, *parents), lambda: self._look_up(variable, parents))

    def _look_up(self, variable: int, parents: Parents) -> Array:
        cells, _ = self._number((variable, *parents))
        table = self._tables.get((variable, *parents), lambda: self._tabulate(variable, parents))
        index = cells[: self.data.n_tested] * self.data.n_folds
        index += self.data.fold
        added = table.take(index, axis=1, mode="wrap")  # faster than with a check of each index
        observed = self.data.observed((variable, *parents))
        return added if observed is None else added * observed[: self.data.n_tested]

    def _tabulate(self, variable: int, parents: Parents) -> Array:
        """Return the logs of a family's table, (planes, cells · folds)."""
        data, card = self.data, self.data.cards[variable]
        cells, n_cells = self._number((variable, *parents))
        index, weights = cells * data.n_groups + data.group, data.grouped.weights
        observed = data.observed((variable, *parents))
        if observed is not None:
            index, weights = index[observed], None if weights is None else weights[observed]
        counts = np.bincount(index, weights, n_cells * data.n_groups)
        trained = data.trained(counts.reshape(n_cells, -1))
        configurations = prod([data.cards[p] for p in parents]) * data.n_classes
        shares = self.prior.shares(trained, self._totals(trained, variable, parents), card, configurations)
        planes = self.planes.planes(log(shares), axis=2)
        return planes.reshape(len(planes), -1)

    def _totals(self, trained: Array, variable: int, parents: Parents) -> Array:
        """Sum (cells, ...) over the levels of the variable: the rows with the parents of each cell."""
        n_cells, card = len(trained), self.data.cards[variable]
        if n_cells == card * prod([self.data.cards[p] for p in parents]):
            total = trained.reshape(card, -1, *trained.shape[1:]).sum(axis=0)
            return np.concatenate([total] * card)
        of_row, n_configurations = self._number(parents)
        configuration = np.zeros(n_cells, dtype=np.intp)  # cells without rows may have any
        configuration[self._number((variable, *parents))[0]] = of_row
        flat = trained.reshape(n_cells, -1)
        index = configuration[:, None] * flat.shape[1] + np.arange(flat.shape[1])
        sums = np.bincount(index.ravel(), flat.ravel(), n_configurations * flat.shape[1])
        return np.asarray(sums.reshape(n_configurations, *trained.shape[1:])[configuration])

    def _number(self, columns: Parents) -> tuple[Index, int]:
        """Return the cell of each row in a table of these columns, and the number of cells.

        A missing value counts as the first level.
        """
        if not columns:
            return np.zeros(len(self.data.grouped), dtype=np.intp), 1
        return self._cells.get(columns, lambda: self._number_further(columns))

    def _number_further(self, columns: Parents) -> tuple[Index, int]:
        *others, last = columns
        cells, n_cells = self._number(tuple(others))
        codes = self.data.grouped.codes[last]
        further = cells * self.data.cards[last]
        further += np.maximum(codes, 0) if last in self.data.partial else codes
        return renumber(further, n_cells * self.data.cards[last], self._most_cells)


def renumber(cells: Index, n_cells: int, most: int) -> tuple[Index, int]:
    """Number the cells that occur, in the same order, if there are more than `most`.

    >>> renumber(np.array([7, 3, 7]), 8, most=4)
    (array([1, 0, 1]), 2)
    >>> renumber(np.array([7, 3, 7]), 8, most=8)
    (array([7, 3, 7]), 8)
    """
    if n_cells <= most:
        return cells, n_cells
    if n_cells > _FLAGGED * len(cells):
        occurring, cells = np.unique(cells, return_inverse=True)
        return cells, len(occurring)
    flags = np.zeros(n_cells, dtype=bool)
    flags[cells] = True
    ranks = flags.cumsum(dtype=np.intp)
    return ranks[cells] - 1, int(ranks[-1])
