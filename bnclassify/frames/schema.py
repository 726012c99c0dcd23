"""Data as integer codes: the schema (names and levels of columns) and the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, added
from ..base.arrays import code_type as code_type
from ..base.immutable import Immutable, lock
from .matching import MISSING, codes_of, match
from .matching import Levels as Levels
from .numeric import as_floats, to_numbers

_PART_ROWS = 2**20
"""Rows in memory are counted in parts of this size, so that temporary arrays stay small."""

T = TypeVar("T")
Data = TypeVar("Data", bound="Dataset")


@dataclass(frozen=True)
class Schema:
    """The names of columns and their levels, without rows.

    ``levels[i]`` is the tuple of labels of a coded column: code ``k`` stands for label ``k``. A column of
    numbers has none. ``ordered`` holds the names of columns whose levels are declared to have an order.
    """

    columns: tuple[Hashable, ...]
    levels: Levels
    ordered: frozenset[Hashable] = frozenset()

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple([len(labels) for labels in self.levels])

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Position of each column by name."""
        return {column: i for i, column in enumerate(self.columns)}

    @cached_property
    def numeric(self) -> dict[Hashable, bool]:
        """The columns of numbers, which have no levels, in the form of `encode_columns`."""
        return {name: True for name, labels in zip(self.columns, self.levels, strict=True) if not labels}

    def select(self, columns: Sequence[Hashable]) -> Schema:
        """Return the schema of some columns, in their order."""
        levels = tuple([self.levels[self.positions[column]] for column in columns])
        return Schema(tuple(columns), levels, self.ordered)

    def with_missing_level(self, columns: Collection[Hashable]) -> Schema:
        """Return the schema with a last level for the missing values of some columns."""
        levels = [
            (*labels, MISSING) if name in columns and MISSING not in labels else labels
            for name, labels in zip(self.columns, self.levels, strict=True)
        ]
        return Schema(self.columns, tuple(levels), self.ordered)


class _Rows(Immutable):
    """Members that data in memory and partitioned data share; their docstrings are in `Dataset`."""

    if TYPE_CHECKING:  # read-only for callers; fields or properties of subclasses
        schema: Schema

        @property
        def size(self) -> float: ...
        @property
        def incomplete(self) -> NDArray[np.bool_]: ...
        @property
        def is_weighted(self) -> bool: ...
        @property
        def fractions(self) -> tuple[int, int]: ...
        def __len__(self) -> int: ...
        def add_up(self, count: Callable[[Dataset], T]) -> T: ...
        def select(self, columns: Sequence[Hashable]) -> Self: ...
        def counts_of_source(self, families: Sequence[Sequence[int]]) -> list[Array] | None: ...
        def cells(self, families: Sequence[Sequence[int]]) -> Iterable[tuple[NDArray[Any], Array | None]]: ...
        def coded(self, schema: Schema) -> Countable: ...
        def counting(self) -> Countable: ...
        def label_counts(self, name: Hashable) -> Array: ...


class Countable(_Rows):
    """Data that can be counted, in memory or partitioned."""

    @cached_property
    def columns(self) -> tuple[Hashable, ...]:
        """Names of the columns."""
        return self.schema.columns

    @cached_property
    def levels(self) -> Levels:
        """The labels of each column; code ``k`` stands for label ``k``."""
        return self.schema.levels

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return self.schema.cards

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Position of each column by name."""
        return self.schema.positions


class Learnable(Countable):
    """Prepared training data: the features, then the target variables, of which there can be several."""

    if TYPE_CHECKING:
        targets: tuple[Hashable, ...]
        order: tuple[Hashable, ...]  # columns in their original order

    @property
    def class_var(self) -> Hashable:
        """The name of the only target."""
        [name] = self.targets
        return name

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """All columns but the targets, which are the last."""
        return self.columns[: len(self.columns) - len(self.targets)]

    @property
    def as_given(self) -> Countable:
        """The same rows, with the columns in their original order."""
        return self.select(self.order)

    @property
    def views(self) -> Iterable[Learnable]:
        """The codings of the rows over which statistics of pairs are averaged; a Dataset has one."""
        return (self,)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Countable):
    """Categorical data as integer codes, from `encode`. All functions accept it in place of a DataFrame.

    Attributes
    ----------
    schema : Schema
        Names and levels of the columns.
    codes : (columns, rows) array of signed integers
        In the smallest type for the numbers of levels; -1 is missing.
    index : pandas.Index
        Row labels of the data frame.
    weights : (rows,) array or None
        Weight of each row, 0 or more; None if each row counts once.
    numbers : mapping
        The values of numeric columns, NaN if missing. Such a column has no levels, and codes of -1, unless
        it is coded, too.
    """

    schema: Schema
    codes: Codes
    index: pd.Index[Any]
    weights: Array | None = None
    numbers: Mapping[Hashable, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.codes.shape[1]

    def __repr__(self) -> str:
        raw = {name for name in self.numbers if not self.levels[self.positions[name]]}
        missing = int(np.count_nonzero(self.codes < 0)) - len(raw) * len(self)
        missing += sum(int(np.isnan(as_floats(self.numbers[name])).sum()) for name in raw)
        counted = f"{self.size:,.0f}" if self.size == round(self.size) else f"{self.size:,g}"
        weighed = f" that count {counted}" if self.is_weighted else ""
        return f"Dataset: {len(self)} rows{weighed}, {len(self.columns)} columns, {missing} missing values"

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights, so that counts may be fractions."""
        return self.weights is not None

    @property
    def fractions(self) -> tuple[int, int]:
        """Number of positive weights, and of weights that are not whole numbers."""
        weights = np.ones(len(self)) if self.weights is None else self.weights
        return int(np.count_nonzero(weights)), int(np.count_nonzero(weights % 1))

    @cached_property
    def size(self) -> float:
        """Sum of the weights; the number of rows if there are no weights."""
        return len(self) if self.weights is None else float(self.weights.sum())

    @cached_property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which columns have a missing value."""
        incomplete: NDArray[np.bool_] = self.codes.min(axis=1, initial=0) < 0
        lock(incomplete)
        return incomplete

    def add_up(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of the results of a function for each part of the rows.

        The results are numbers, arrays, or tuples, lists and dicts of them, of the same shape for all parts.
        """
        if len(self) <= _PART_ROWS:
            return count(self)
        starts = range(0, len(self), _PART_ROWS)
        total: T = added(count(self._part(slice(start, start + _PART_ROWS))) for start in starts)
        return total

    def counts_of_source(self, families: Sequence[Sequence[int]]) -> None:
        """Return None, because rows in memory are counted here."""

    def label_counts(self, name: Hashable) -> Array:
        """Return the weight of each label of a column."""
        codes, card = self.codes[self.positions[name]], self.cards[self.positions[name]]
        return np.bincount(codes.astype(np.intp) + 1, self.weights, card + 1)[1:].astype(np.float64)

    def cells(self, families: Sequence[Sequence[int]]) -> Iterable[tuple[NDArray[Any], Array | None]]:
        """Yield the codes of families, (columns, rows), and the weights; a source can merge equal rows."""
        return ((self.codes[list(family)], self.weights) for family in families)

    def _part(self, rows: slice) -> Dataset:
        weights = None if self.weights is None else self.weights[rows]
        numbers = {name: values[rows] for name, values in self.numbers.items()}
        return Dataset(self.schema, self.codes[:, rows], self.index[rows], weights, numbers)

    def taken(self, rows: NDArray[Any]) -> Self:
        """Return rows by position or by a mask, with the levels unchanged."""
        positions = np.nonzero(rows)[0] if rows.dtype == bool else rows
        weights = None if self.weights is None else self.weights[positions]
        codes = self.codes.take(positions, axis=1)
        numbers = {name: values[positions] for name, values in self.numbers.items()}
        return replace(self, codes=codes, index=self.index[positions], weights=weights, numbers=numbers)

    def select(self, columns: Sequence[Hashable]) -> Self:
        """Return some of the columns in this order, without a copy if they are adjacent."""
        if tuple(columns) == self.columns:
            return self
        where = [self.positions[column] for column in columns]
        numbers = {name: values for name, values in self.numbers.items() if name in columns}
        schema = self.schema.select(columns)
        return replace(self, schema=schema, codes=codes_of(self.codes, where), numbers=numbers)

    def recoded(self, coded: Mapping[Hashable, tuple[tuple[Any, ...], NDArray[Any]]]) -> Self:
        """Return the data with the given levels and codes of some columns, which keep their numbers."""
        if not coded:
            return self
        pairs = zip(self.columns, self.levels, strict=True)
        levels = tuple([coded[name][0] if name in coded else labels for name, labels in pairs])
        codes = np.empty(self.codes.shape, dtype=code_type(max(map(len, levels))))
        for i, name in enumerate(self.columns):
            codes[i] = coded[name][1] if name in coded else self.codes[i]
        schema = Schema(self.columns, levels, self.schema.ordered)
        return replace(self, schema=schema, codes=codes)

    def with_numbers(self, columns: Iterable[Hashable]) -> Self:
        """Return the data with some columns as numbers, without codes; raise for columns of text."""
        chosen = [name for name in columns if self.levels[self.positions[name]] or name not in self.numbers]
        read = {name: self._read_numbers(name) for name in chosen}
        if not read:
            return self
        data = self.recoded({name: ((), np.full(len(self), -1)) for name in read})
        return replace(data, numbers={**data.numbers, **read})

    def _read_numbers(self, name: Hashable) -> Array:
        if name in self.numbers:
            return as_floats(self.numbers[name])
        column = self.positions[name]
        labels = np.array([*to_numbers(name, self.levels[column]), np.nan])
        return labels[self.codes[column]]

    def with_values(self, columns: Collection[Hashable]) -> Self:
        """Return the data with the numbers of some columns coded by their distinct values."""
        found = {name: pd.factorize(as_floats(self.numbers[name])) for name in columns}
        coded = {name: (tuple(values.tolist()), codes) for name, (codes, values) in found.items()}
        return self.recoded(coded)

    def with_missing_level(self, columns: Collection[Hashable]) -> Self:
        """Return the data with missing values of some columns as their last level."""
        schema = self.schema.with_missing_level(columns)
        return replace(self, schema=schema, codes=match(self, schema.columns, schema.levels))

    def coded(self, schema: Schema) -> Dataset:
        """Return the columns of a schema, coded by its levels."""
        codes = match(self, schema.columns, schema.levels)
        numbers = {name: self.numbers[name] for name in schema.columns if name in self.numbers}
        return Dataset(schema, codes, self.index, self.weights, numbers)

    def counting(self) -> Self:
        """Return the rows with a positive weight."""
        return self if self.weights is None or self.weights.all() else self.taken(self.weights > 0)
