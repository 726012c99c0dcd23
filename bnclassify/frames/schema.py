"""Encoded data: the schema, names and levels of columns, and the rows coded by it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, Codes
from ..base.immutable import Immutable, lock

Levels = tuple[tuple[Any, ...], ...]

Data = TypeVar("Data", bound="Dataset")


@dataclass(frozen=True)
class Schema:
    """The columns of data and what their codes stand for, without the rows.

    Attributes
    ----------
    columns : tuple
        Names of the columns.
    levels : tuple of tuple
        The labels of each column; code ``k`` stands for label ``k``.
    """

    columns: tuple[Hashable, ...]
    levels: Levels

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple([len(labels) for labels in self.levels])

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Position of each column by name."""
        return {column: i for i, column in enumerate(self.columns)}

    def select(self, columns: Sequence[Hashable]) -> Schema:
        """Return the schema of some columns, in their order."""
        return Schema(tuple(columns), tuple([self.levels[self.positions[column]] for column in columns]))


class Countable(Immutable):
    """Data that can be counted, wherever its rows are: in memory, or in parts that stay where they are."""

    if TYPE_CHECKING:  # read-only to callers; each kind has them as fields or properties
        schema: Schema

        @property
        def size(self) -> float:
            """The sum of the weights: the number of rows, where each counts once."""

        @property
        def incomplete(self) -> NDArray[np.bool_]:
            """Which columns have a missing value."""

        @property
        def is_weighted(self) -> bool:
            """Whether rows may count otherwise than once, so that counts may be fractions."""

        def __len__(self) -> int:
            """Return the number of rows."""

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """Names of the columns."""
        return self.schema.columns

    @property
    def levels(self) -> Levels:
        """The labels of each column; code ``k`` stands for label ``k``."""
        return self.schema.levels

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return self.schema.cards

    @property
    def positions(self) -> dict[Hashable, int]:
        """Position of each column by name."""
        return self.schema.positions


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Countable):
    """Categorical data as integer codes. Made by `encode`, taken wherever a data frame is.

    Attributes
    ----------
    schema : Schema
        Names and levels of the columns.
    codes : (columns, rows) array of signed integers
        In the smallest type that holds the longest tuple of levels; -1 is missing.
    index : pandas.Index
        The row labels of the data frame.
    weights : (rows,) array or None
        How often each row counts, 0 or more; None: once.
    """

    schema: Schema
    codes: Codes
    index: pd.Index[Any]
    weights: Array | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    def __repr__(self) -> str:
        missing = int(np.count_nonzero(self.codes < 0))
        counted = f"{self.size:,.0f}" if self.size == round(self.size) else f"{self.size:,g}"
        weighed = f" that count {counted}" if self.is_weighted else ""
        return f"Dataset: {len(self)} rows{weighed}, {len(self.columns)} columns, {missing} missing values"

    def taken(self: Data, positions: NDArray[Any]) -> Data:
        """Return the rows at positions."""
        weights = None if self.weights is None else self.weights[positions]
        codes = self.codes.take(positions, axis=1)
        return replace(self, codes=codes, index=self.index[positions], weights=weights)

    @property
    def is_weighted(self) -> bool:
        """Whether rows may count otherwise than once, so that counts may be fractions."""
        return self.weights is not None

    @cached_property
    def size(self) -> float:
        """The sum of the weights: the number of rows, where each counts once."""
        return len(self) if self.weights is None else float(self.weights.sum())

    @cached_property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which columns have a missing value."""
        incomplete: NDArray[np.bool_] = self.codes.min(axis=1, initial=0) < 0
        lock(incomplete)
        return incomplete


@cache
def code_type(bound: int) -> np.dtype[Any]:
    """Return the smallest signed integer type that holds every code below ``bound``, and -2."""
    return np.min_scalar_type(-max(bound, 2))


def take_rows(data: Data, rows: NDArray[Any]) -> Data:
    """Select rows by position or by a mask, with the levels unchanged."""
    positions = np.nonzero(rows)[0] if rows.dtype == bool else rows
    return data.taken(positions)


def take_columns(data: Data, columns: Sequence[Hashable]) -> Data:
    """Select columns by name, without a copy where they lie side by side."""
    if tuple(columns) == data.columns:
        return data
    where = [data.positions[column] for column in columns]
    return replace(data, schema=data.schema.select(columns), codes=codes_of(data.codes, where))


def codes_of(codes: Codes, where: list[int]) -> Codes:
    """Select columns by position, without a copy where they lie side by side."""
    if where and where == list(range(where[0], where[0] + len(where))):
        return codes[where[0] : where[0] + len(where)]
    return codes[where]
