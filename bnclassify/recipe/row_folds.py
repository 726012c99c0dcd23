"""Folds of rows, and units of their weights, by the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..base.arrays import Array, Codes, Positions
from ..frames.dataset import Dataset
from .content_order import class_ranks

D = TypeVar("D", bound=Dataset)


@dataclass(frozen=True, eq=False)
class RowFold:
    """A fold: tested rows, tested ``units`` of weights, and rows to learn from if not the rest."""

    rows: Positions
    units: Array | None = None
    learned: Positions | None = None

    def split(self, data: D) -> tuple[D, D]:
        test = data.take_rows(self.rows)
        if self.learned is not None:
            return data.take_rows(self.learned), test
        if self.units is None or data.weights is None:
            others = np.ones(len(data), dtype=bool)
            others[self.rows] = False
            return data.take_rows(np.nonzero(others)[0]), test
        left = data.weights.copy()
        left[self.rows] -= self.units
        train = replace(data, weights=left).take_rows(np.nonzero(left)[0])
        return train, replace(test, weights=self.units)


def split_cases_into_folds(cases: Codes, classes: Codes, rows: Codes, number: int) -> list[RowFold]:
    """Return each fold's rows: whole cases, those of a class (by first row) in turns."""
    _, first, case = np.unique(cases, return_index=True, return_inverse=True)
    if len(first) < number:
        remedy = (
            f"Use k={len(first)} or less"
            if len(first) > 1
            else "Each row needs the label of its group"
        )
        raise ValueError(
            f"groups must contain at least {number} groups, one for each fold; got "
            f"{len(first)}. {remedy}."
        )
    order = np.lexsort((first, classes[first]))
    place = np.arange(len(order)) - np.searchsorted(classes[first][order], classes[first][order])
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = (place + classes[first][order]) % number
    folds = [np.sort(rows[fold[case] == each]) for each in range(number)]
    return [RowFold(some) for some in folds if len(some)]


def split_rows_into_folds(data: Dataset, folds: int, *, by_content: bool = True) -> list[RowFold]:
    """Return rows, or units of whole weights, of folds: unit i of class c is in (i + c) mod V.

    Units are in the given order, and classes, ``by_content``, by frequency.
    Rows of a case, which has the class of its first row, stay together.
    `draw_folds` of `metrics` draws its folds; these depend on the contents of
    the rows alone, so that the default needs no seed.
    """
    rows, weights = np.arange(len(data)), data.weights
    classes: Codes = class_ranks(data, rows)[data.codes[-1]] if by_content else data.codes[-1]
    if data.cases is not None:
        return split_cases_into_folds(data.cases, classes, rows, folds)
    whole = weights is not None and not (weights % 1).any()
    units: Codes = np.ones(len(data), dtype=np.int64)
    if weights is not None and whole:
        units = weights.astype(np.int64)
    # The number of the first unit of a row, within its class.
    starts = np.empty(len(data), dtype=np.int64)
    for of_class in (np.flatnonzero(classes == c) for c in range(data.cards[-1])):
        starts[of_class] = units[of_class].cumsum() - units[of_class]
    result = []
    for fold in range(folds):
        # The units of class c in this fold are (fold − c) mod V, and then each V-th. In fold 0 of
        # 5, those of class 0 are 0, 5, 10, …, so a row with the units 7 to 11 has one of them.
        first = (fold - classes.astype(np.intp)) % folds
        # The numbers of these units before the row, and until its last one: rounded up.
        before, until = [-((first - end) // folds) for end in (starts, starts + units)]
        some = np.flatnonzero(until > before)
        if len(some):
            result.append(
                RowFold(some, (until - before)[some].astype(np.float64) if whole else None)
            )
    return result
