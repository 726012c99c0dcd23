"""Tables of families in every fold, and their contributions to the log joint of tested rows.

A family is a variable and its feature parents; the class is a parent of all. Its joint values are the
cells of a table. If there are more cells than rows, only observed cells are numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from math import prod
from typing import Generic, TypeVar

import numpy as np

from ...base.arrays import Array, Codes, log
from ...counts.contingency import check_cells, flat_index
from ...network.priors import PseudoCounts
from .folded import FoldedData, Index
from .neighbours import Parents
from .planes import LogOddsPlanes

Value = TypeVar("Value")

_KEPT_BYTES = 2**27
_FEW_CELLS = 2**12  # up to this number, all cells are numbered
_FLAGGED = 16  # up to this number of cells per row, a mask finds observed cells; above it, sorting does


class Kept(Generic[Value]):
    """A cache of values of this step and the previous one, with a maximum of bytes in each.

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
        """Return the value of a key, from the cache if possible."""
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
    """Contributions of families to the log joint of tested rows, with tables of training rows."""

    def __init__(self, data: FoldedData, prior: PseudoCounts, planes: LogOddsPlanes) -> None:
        self.data, self.prior, self.planes = data, prior, planes
        self._most_cells = max(len(data.grouped), _FEW_CELLS)
        self._added = Kept[Array](lambda added: added.nbytes)
        self._tables = Kept[Array](lambda table: table.nbytes)
        self._logs = Kept[Array](lambda logs: logs.nbytes)
        self._cells = Kept[tuple[Codes, int]](lambda cells: cells[0].nbytes)
        self._codes = np.maximum(data.grouped.codes, 0)

    def turn(self) -> None:
        """Begin a step of the search."""
        for kept in (self._added, self._tables, self._logs, self._cells):
            kept.turn()

    @cached_property
    def of_class(self) -> Array:
        """The contribution of the class, (planes, tested rows)."""
        counts = np.bincount(self.data.group, self.data.grouped.weights, self.data.n_groups)
        shares = self.prior(self.data.trained(counts), axis=1)
        return self.data.by_row(self.planes.planes(log(shares), axis=1))

    def added(self, family: Parents) -> Array:
        """Return the contribution of a family, (planes, tested rows); 0 if a member is missing."""
        return self._added.get(family, lambda: self.added_in(family, slice(self.data.n_tested)))

    def added_in(self, family: Parents, rows: slice | Index) -> Array:
        """Return the contribution of a family in some rows, (planes, rows); 0 if a member is missing."""
        cells, n_cells = self._number(family, rows)
        index = flat_index([cells, self.data.fold[rows]], [n_cells, self.data.n_folds])
        added = self._table(family).take(index, axis=1, mode="wrap")  # faster than with a check of each index
        observed = self.data.observed(family)
        return added if observed is None else added * observed[rows]

    def bounds(self, families: Sequence[Parents]) -> tuple[Array, Array]:
        """Return bounds of the contributions of families of one variable, (planes, tested rows) each."""
        data, variable = self.data, families[0][0]
        shape = self.planes.n_planes, data.cards[variable], data.n_folds
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for family in families:
            table = self._table(family)
            if table.shape[1] == self._size(family) * data.n_folds:
                by_level = table.reshape(shape[0], shape[1], -1, shape[2])
            else:  # only observed cells are numbered
                by_level = table[:, None, :, None]
            np.minimum(low, by_level.min(axis=2), out=low)
            np.maximum(high, by_level.max(axis=2), out=high)
        index = flat_index([self._codes[variable], data.fold], shape[1:])[: data.n_tested]
        low, high = (end.reshape(shape[0], -1).take(index, axis=1, mode="wrap") for end in (low, high))
        return low, high

    def _table(self, family: Parents) -> Array:
        """Return the logs of a family's table, (planes, cells · folds)."""

        def make() -> Array:
            planes = self.planes.planes(self.logs(family), axis=-1)
            return planes.reshape(len(planes), -1)

        return self._tables.get(family, make)

    def logs(self, family: Parents) -> Array:
        """Return the logs of a family's table, (..., folds, classes); with missing values, all its cells."""
        if self.data.partial.isdisjoint(family):
            return self._tabulate(family)
        check_cells(self.data.grouped, (*family, -1))
        return self._logs.get(family, lambda: self._tabulate(family))

    def _tabulate(self, family: Parents) -> Array:
        data, card = self.data, self.data.cards[family[0]]
        cells, n_cells = self._number(family)
        index = flat_index([cells, data.group], [n_cells, data.n_groups])
        weights, observed = data.grouped.weights, data.observed(family)
        if observed is not None:
            index, weights = index[observed], None if weights is None else weights[observed]
        counts = np.bincount(index, weights, n_cells * data.n_groups)
        trained, configurations = data.trained(counts.reshape(n_cells, -1)), self._size(family) // card
        if n_cells == card * configurations:
            trained = trained.reshape(card, configurations, *trained.shape[1:])
            totals = trained.sum(axis=0, keepdims=True)
        else:
            totals = self._totals(trained, family)
        return log(self.prior.shares(trained, totals, card, configurations * data.n_classes))

    def _totals(self, trained: Array, family: Parents) -> Array:
        """Sum (cells, ...) over the levels of the variable: the rows with the parents of each cell."""
        of_row, n_configurations = self._number(family[1:])
        configuration = np.zeros(len(trained), dtype=np.intp)  # arbitrary for cells without rows
        configuration[self._number(family)[0]] = of_row
        flat = trained.reshape(len(trained), -1)
        index = configuration[:, None] * flat.shape[1] + np.arange(flat.shape[1])
        sums = np.bincount(index.ravel(), flat.ravel(), n_configurations * flat.shape[1])
        return np.asarray(sums.reshape(n_configurations, *trained.shape[1:])[configuration])

    def _size(self, columns: Parents) -> int:
        return prod([self.data.cards[column] for column in columns])

    def _number(self, columns: Parents, rows: slice | Index = slice(None)) -> tuple[Codes, int]:
        """Return the cells of rows in a table of these columns, and the number of cells.

        A missing value counts as the first level.
        """
        if not columns:
            return np.zeros_like(self.data.fold[rows]), 1
        n_cells = self._size(columns)
        if n_cells <= self._most_cells or not self.data.partial.isdisjoint(columns):
            cards = [self.data.cards[column] for column in columns]
            return flat_index([self._codes[column][rows] for column in columns], cards), n_cells
        cells, n_cells = self._cells.get(columns, lambda: self._number_occurring(columns))
        return cells[rows], n_cells

    def _number_occurring(self, columns: Parents) -> tuple[Codes, int]:
        cells, n_cells = self._number(columns[:-1])
        cards = [n_cells, self.data.cards[columns[-1]]]
        return renumber(flat_index([cells, self._codes[columns[-1]]], cards), prod(cards), self._most_cells)


def renumber(cells: Codes, n_cells: int, most: int) -> tuple[Codes, int]:
    """Number the observed cells, in the same order, if there are more than `most` cells.

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
