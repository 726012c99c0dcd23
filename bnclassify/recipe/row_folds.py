"""Folds of rows, and units of their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..dataset import Dataset
from ..tools.arrays import Array, Codes, Positions

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
