"""Tables of families in every fold, and their contributions to the log joint of tested rows.

A family is a variable and its feature parents; the class is a parent of all. Its joint values are the
cells of a table. If there are more cells than rows, only observed cells are numbered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log as ln
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...base.arrays import Array, Codes, code_type
from ...base.immutable import cached_property
from ...frames.schema import Dataset, Schema
from ...metrics.folds import Rows

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
