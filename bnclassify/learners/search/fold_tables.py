"""Tables of families in every fold, and their contributions to the log joint of tested rows.

A family is a variable and its feature parents; the class is a parent of all. Its joint values are the
cells of a table. If there are more cells than rows, only observed cells are numbered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log as ln
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...base.arrays import TOLERANCE, Array, Codes, code_type, log
from ...counts.contingency import check_cells, flat_index
from ...frames.schema import Dataset, Schema
from ...metrics.folds import Rows
from ...network.priors import PseudoCounts
from .neighbours import Parents

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FoldedData:
    """Rows in the order in which the folds test them.

    A fold is trained on the rows that it does not test, so its counts are the counts of all rows
    minus the counts of the tested rows. If the folds are not a partition of the rows, all rows are appended
    after the tested ones, as an additional fold.

    A count of training rows must be exactly 0 if there are none, even if weights are fractions.
    Therefore rows ascend in each fold: if all rows of a cell are in one fold, the subtracted sum has
    the same terms in the same order.

    `grouped` contains the features and, in place of the class, the group of each row: fold · classes +
    class. `sizes` are the numbers of rows that each fold tests, (folds,), and `partition` is True if the
    folds test every row exactly once.
    """

    grouped: Dataset
    sizes: Index
    n_classes: int
    partition: bool

    @classmethod
    def deal(cls, data: Dataset, tests: Sequence[Rows]) -> FoldedData:
        """Put rows in order; the class is the last column of `data` and is observed in all rows."""
        rows = np.concatenate([np.sort(test) for test in tests])
        partition = len(rows) == len(data) and bool((np.bincount(rows, minlength=len(data)) == 1).all())
        sizes = np.array([len(test) for test in tests])
        slots = sizes if partition else np.append(sizes, len(data))
        if not partition:
            rows = np.concatenate([rows, np.arange(len(data))])
        *levels, classes = data.levels
        groups = tuple(range(len(slots) * len(classes)))
        columns = Schema((*data.columns[:-1], "fold and class"), (*levels, groups))
        codes = data.codes.take(rows, axis=1).astype(code_type(max(columns.cards)), copy=False)
        codes[-1] += np.repeat(np.arange(len(slots)) * len(classes), slots).astype(codes.dtype)
        weights = None if data.weights is None else data.weights[rows]
        grouped = Dataset(columns, codes, pd.RangeIndex(len(rows)), weights)
        return cls(grouped, sizes, len(classes), partition)

    @cached_property
    def n_folds(self) -> int:
        """Number of folds with tested rows."""
        return len(self.sizes)

    @cached_property
    def n_groups(self) -> int:
        """Number of groups: pairs of a fold, including the one that contains all rows, and a class."""
        return self.grouped.cards[-1]

    @cached_property
    def n_tested(self) -> int:
        """Number of tested rows, which come first; a row that is tested twice counts twice."""
        return int(self.sizes.sum())

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Numbers of levels of the features."""
        return self.grouped.cards[:-1]

    @cached_property
    def group(self) -> Codes:
        """The group of each row."""
        return self.grouped.codes[-1]

    @cached_property
    def partial(self) -> frozenset[int]:
        """The features with missing values."""
        return frozenset(np.nonzero(self.grouped.incomplete)[0].tolist())

    @cached_property
    def tested(self) -> Codes:
        """The codes of the features in the tested rows."""
        return self.grouped.codes[:-1, : self.n_tested]

    @cached_property
    def truth(self) -> Codes:
        """The classes of the tested rows."""
        return (self.group[: self.n_tested] % self.n_classes).astype(code_type(self.n_classes))

    @cached_property
    def weights(self) -> Array | None:
        """The weights of the tested rows."""
        return None if self.grouped.weights is None else self.grouped.weights[: self.n_tested]

    @cached_property
    def lowest(self) -> float:
        """A lower bound of the log of an estimated probability that is positive."""
        weights = self.grouped.weights
        least = 1.0 if weights is None else float(weights.min(where=weights > 0, initial=np.inf))
        return ln(least) - ln(self.grouped.size) - ln(max(self.cards, default=1) + self.n_classes)

    @cached_property
    def folds(self) -> list[slice]:
        """The positions of the tested rows of each fold."""
        ends = np.cumsum([0, *self.sizes]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]

    @cached_property
    def fold(self) -> Codes:
        """The fold of each row, with a separate number for the fold of all rows."""
        return self.group // np.array(self.n_classes, dtype=self.group.dtype)

    def by_row(self, by_fold: NDArray[Any]) -> NDArray[Any]:
        """Repeat the values of each fold, along the last axis, for its tested rows."""
        return np.repeat(by_fold, self.sizes, axis=-1)

    def observed(self, columns: Sequence[int], rows: slice | Index = slice(None)) -> NDArray[np.bool_] | None:
        """Whether rows are complete in these columns; None if all rows are."""
        partial = [self.grouped.codes[column][rows] >= 0 for column in columns if column in self.partial]
        return np.logical_and.reduce(partial) if partial else None

    def trained(self, counts: NDArray[Any]) -> Array:
        """Convert counts by group, the last axis, to counts of training rows: (..., folds, classes)."""
        by_fold = counts.reshape(*counts.shape[:-1], -1, self.n_classes)
        total = by_fold.sum(axis=-2, keepdims=True) if self.partition else by_fold[..., -1:, :]
        trained: Array = total - by_fold[..., : self.n_folds, :]
        return trained


class LogOddsPlanes:
    """Log joints as planes, one array per class: log odds against the first class, which has no plane.

    If probabilities may be 0, there are no finite log odds. Then every class has a plane of log
    probabilities, with log 0 replaced by a floor. The floor is so low that a sum of logs contains it
    if and only if it is below half of the floor; `lowest` is a bound of the logs of positive probabilities.
    """

    def __init__(self, n_classes: int, n_variables: int, lowest: float, *, positive: bool) -> None:
        self.n_classes = n_classes
        self.relative = positive and n_classes > 1
        self.floor = 8 * n_variables * lowest
        self.n_planes = n_classes - self.relative

    def planes(self, logs: Array, axis: int) -> Array:
        """Convert log probabilities with an axis of classes to planes, the first axis."""
        by_class = np.moveaxis(logs, axis, 0)
        planes = by_class[1:] - by_class[:1] if self.relative else np.maximum(by_class, self.floor)
        return np.ascontiguousarray(planes)

    def joint(self, planes: Array) -> Array:
        """Convert the planes of rows to log joints, (rows, classes), up to a constant per row."""
        possible = self._possible(planes)
        if self.relative:
            possible = np.concatenate([np.zeros_like(planes[:1]), possible])
        return np.ascontiguousarray(possible.T)

    def best(self, planes: Array) -> NDArray[Any]:
        """Return the first class of each row that ties with the best."""
        if self.relative and self.n_classes == 2:
            return planes[0] > TOLERANCE
        by_class = self._possible(planes)
        threshold = by_class.max(axis=0, initial=0.0 if self.relative else -np.inf)
        threshold -= TOLERANCE
        # The number of classes before the first one that reaches the threshold
        below = threshold > (0.0 if self.relative else by_class[0])
        best = below.astype(np.min_scalar_type(-self.n_classes))
        for plane in by_class[not self.relative : -1]:
            below &= threshold > plane
            best += below
        return best

    def are_settled(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Whether each row has the same best class for all planes between two bounds."""
        threshold = low.max(axis=0, initial=0.0 if self.relative else -np.inf) - TOLERANCE
        contenders = (threshold <= 0).astype(np.int8) if self.relative else np.zeros(len(threshold), np.int8)
        for plane in high:
            contenders += plane >= threshold
        return (contenders == 1) & (threshold > self.floor / 2)

    def _possible(self, planes: Array) -> Array:
        """Replace sums that contain the floor by -inf."""
        return planes if self.relative else np.where(planes < self.floor / 2, -np.inf, planes)


Value = TypeVar("Value")

_KEPT_BYTES = 2**27
_FEW_CELLS = 2**12  # up to this number, all cells are numbered


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
        """Return the cells of rows in a table of columns (missing as level 0), and their number."""
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
        cells = flat_index([cells, self._codes[columns[-1]]], cards)
        if prod(cards) <= self._most_cells:
            return cells, prod(cards)
        occurring, cells = np.unique(cells, return_inverse=True)
        return cells, len(occurring)
