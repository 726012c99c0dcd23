"""Columns as codes or numbers, with the class, and what is found about them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..dataset import as_floats
from ..tools.arrays import Array, ArrayOf, Codes, Positions

CHANCE = -14.0
"""Log of the probability, one in a million, below which chance does not explain what is found."""

BEGINNING = 200
"""Number of rows that are searched first for a value with two classes."""


class Finding(NamedTuple):
    """What is odd about a column, and what to do; an empty remedy is to drop the column."""

    column: Hashable
    finding: str
    remedy: str = ""
    serious: bool = False


class CodedColumn(NamedTuple):
    """A column as codes of levels, as numbers, or both; ``classes`` are the codes of the class.

    A column that ``is_apart`` is not compared with the class, and one that
    cannot copy it only for groups. The labels of one that ``is_category`` are
    declared.
    """

    name: Hashable
    levels: tuple[Hashable, ...]
    codes: Codes
    numbers: ArrayOf[np.generic] | None = None
    weights: Array | None = None
    classes: Codes | None = None
    is_class: bool = False
    is_apart: bool = False
    is_category: bool = False
    can_copy: bool = True

    def take_rows(self, rows: slice) -> CodedColumn:
        """Return the column in some of the rows."""
        numbers = None if self.numbers is None else self.numbers[rows]
        classes = None if self.classes is None else self.classes[rows]
        return self._replace(codes=self.codes[rows], numbers=numbers, classes=classes)

    @property
    def value_positions(self) -> Positions:
        """The position of each row's value among the distinct numbers or levels; -1 is missing."""
        if self.numbers is None:
            return self.codes.astype(np.intp)
        return pd.factorize(as_floats(self.numbers), sort=True)[0]
