"""Rows at which formulas are evaluated: their codes, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..tools.arrays import Array, Codes, Mask


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the features of a model: codes, and the numbers of some features.

    ``codes`` are (features, rows), -1 if the value is missing. ``numbers`` has
    the numbers of some features, by position, (rows,), NaN if missing. The code
    of a number without levels is 0, or -1 if it is missing. ``unknown``,
    (features, rows), tells which values are unknown, or is None if none is. The
    code of an unknown value is -1, too, and its number is NaN; see `scores_at`.
    """

    codes: Codes
    numbers: Mapping[int, Array] = field(default_factory=dict)
    unknown: Mask | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    def subset(self, rows: Any) -> Rows:
        """Return some of the rows: positions, a mask or a slice."""
        numbers = {i: values[rows] for i, values in self.numbers.items()}
        unknown = None if self.unknown is None else self.unknown[:, rows]
        return Rows(self.codes[:, rows], numbers, unknown)

    def with_values_missing(self, hidden: Mask) -> Rows:
        """Return the rows in which the values at a mask, (features, rows), are missing."""
        numbers = {i: np.where(hidden[i], np.nan, values) for i, values in self.numbers.items()}
        return Rows(np.where(hidden, -1, self.codes), numbers, self.unknown)

    def with_values_unknown(self, unknown: Mask) -> Rows:
        """Return the rows in which the values at a mask, (features, rows), are unknown."""
        rows = self.with_values_missing(unknown)
        told = unknown if self.unknown is None else unknown | self.unknown
        return Rows(rows.codes, rows.numbers, told)

    def revealed_in_sequence(self, order: Sequence[int]) -> Rows:
        """Return each row with its first 0, 1, 2 … features in an order, the others missing.

        The result has (1 + features) · rows rows: first all rows without
        features, then with the first.
        """
        features, n = self.codes.shape
        step = np.empty(features, dtype=np.intp)
        step[list(order)] = np.arange(len(order))
        hidden = np.repeat(step[:, None] >= np.arange(len(order) + 1), n, axis=1)
        return self.subset(np.tile(np.arange(n), len(order) + 1)).with_values_missing(hidden)

    @property
    def mask_of_complete_rows(self) -> Mask:
        """Which rows have a value of each feature."""
        complete: Mask = self.codes.min(axis=0, initial=0) >= 0
        return complete
