"""Training data dealt into folds: what a structure is scored on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log as ln
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...base.arrays import Array, Codes
from ...frames.schema import Dataset, Schema, code_type
from ...metrics.folds import Rows

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FoldedData:
    """Rows in the order in which the folds test them.

    A fold learns from the rows that it does not test, and what those count is what all rows count
    less what the tested ones do. So counts by fold are all that is needed, and each row is looked at
    once. Where the folds are no partition of the rows, all rows stand once more behind the tested
    ones, as one fold more, which counts all.

    What no row counts that a fold learns from must be 0 to the last digit, for weights that are no
    whole numbers too. So rows ascend in each fold: where all rows of a cell are in one, what is taken
    away is the same sum, in the same order.

    Attributes
    ----------
    grouped : Dataset
        The features; then a column of one level, which stands where there is no parent; and last,
        in place of the class, the group of a row: its fold and its class in one number.
    sizes : (folds,) array of int
        How many rows each fold tests.
    n_classes : int
    partition : bool
        Whether the folds test every row once.
    """

    grouped: Dataset
    sizes: Index
    n_classes: int
    partition: bool

    @classmethod
    def deal(cls, data: Dataset, tests: Sequence[Rows]) -> FoldedData:
        """Put rows in order; the class is the last column of ``data``, and no row lacks it."""
        rows = np.concatenate([np.sort(test) for test in tests])
        partition = len(rows) == len(data) and bool((np.bincount(rows, minlength=len(data)) == 1).all())
        sizes = np.array([len(test) for test in tests])
        slots = sizes if partition else np.append(sizes, len(data))
        if not partition:
            rows = np.concatenate([rows, np.arange(len(data))])
        features = data.columns[:-1]
        *levels, classes = data.levels
        groups = tuple(range(len(slots) * len(classes)))
        columns = Schema((*features, "no parent", "fold and class"), (*levels, (0,), groups))
        codes = np.empty((len(columns.columns), len(rows)), code_type(max(columns.cards)))
        for kept, column in zip(codes, data.codes[:-1], strict=False):
            column.take(rows, out=kept) if column.dtype == kept.dtype else np.copyto(kept, column[rows])
        codes[-2] = 0
        codes[-1] = np.repeat(np.arange(len(slots)) * len(classes), slots)
        codes[-1] += data.codes[-1].take(rows)
        weights = None if data.weights is None else data.weights[rows]
        grouped = Dataset(columns, codes, pd.RangeIndex(len(rows)), weights)
        return cls(grouped, sizes, len(classes), partition)

    @cached_property
    def n_folds(self) -> int:
        """How many folds are tested."""
        return len(self.sizes)

    @cached_property
    def n_slots(self) -> int:
        """How many folds are counted: those that are tested and, if need be, the one that has all rows."""
        return self.n_folds + (not self.partition)

    @cached_property
    def n_tested(self) -> int:
        """How many rows are tested, those first in order; a row tested twice counts twice."""
        return int(self.sizes.sum())

    @cached_property
    def n_groups(self) -> int:
        """How many groups of rows there are: a class in a fold is one."""
        return self.n_slots * self.n_classes

    @cached_property
    def no_parent(self) -> int:
        """The number of the column that stands where there is no parent; the features come before it."""
        return len(self.grouped.columns) - 2

    @cached_property
    def group(self) -> int:
        """The number of the column of groups."""
        return len(self.grouped.columns) - 1

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Numbers of levels of the columns."""
        return self.grouped.cards

    @cached_property
    def partial(self) -> frozenset[int]:
        """The features that have a missing value."""
        return frozenset(np.nonzero(self.grouped.incomplete)[0].tolist())

    @cached_property
    def tested(self) -> Codes:
        """The codes of the columns at the tested rows."""
        return self.grouped.codes[:, : self.n_tested]

    @cached_property
    def truth(self) -> Codes:
        """The classes of the tested rows."""
        truth = self.tested[self.group] % self.n_classes
        return truth.astype(code_type(self.n_classes))

    @cached_property
    def weights(self) -> Array | None:
        """How often the tested rows count, None if once each."""
        return None if self.grouped.weights is None else self.grouped.weights[: self.n_tested]

    @cached_property
    def lowest(self) -> float:
        """What no log of a share that is learned is below, but that of 0.

        The least share is a single row of the least weight out of all, or one level out of many.
        """
        weights = self.grouped.weights
        least = 1.0 if weights is None else float(weights.min(where=weights > 0, initial=np.inf))
        return ln(least) - ln(self.grouped.size) - ln(max(self.cards) + 1)

    @cached_property
    def folds(self) -> list[slice]:
        """Where the tested rows of each fold stand."""
        ends = np.cumsum([0, *self.sizes]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]

    @cached_property
    def fold(self) -> Index:
        """The fold that tests each of the tested rows."""
        return self.by_row(np.arange(self.n_folds))

    def by_row(self, by_fold: NDArray[Any]) -> NDArray[Any]:
        """Give each tested row what belongs to its fold, the last axis."""
        return np.repeat(by_fold, self.sizes, axis=-1)

    def observed(self, columns: Sequence[int]) -> NDArray[np.bool_] | None:
        """Tell at which tested rows all of these columns are observed; None says at all of them."""
        if self.partial.isdisjoint(columns):
            return None
        shown = self.tested[[column for column in columns if column in self.partial]] >= 0
        return np.asarray(shown.all(axis=0))

    def showing(self, columns: Collection[int], rows: Index) -> Index:
        """Return those of some rows in which these columns are observed."""
        if not columns:
            return rows
        return rows[(self.grouped.codes[sorted(columns)].take(rows, axis=1) >= 0).all(axis=0)]

    def weights_of(self, rows: Index) -> Array | None:
        """Return how often some rows count, None if each counts once."""
        return None if self.grouped.weights is None else self.grouped.weights.take(rows)

    def trained(self, counts: Array) -> Array:
        """Turn counts by group, the first axis, into what each fold learns from: (folds, classes, …)."""
        by_fold = counts.reshape(self.n_slots, self.n_classes, *counts.shape[1:])
        total = by_fold.sum(axis=0) if self.partition else by_fold[-1]
        result: Array = total - by_fold[: self.n_folds]
        return result
