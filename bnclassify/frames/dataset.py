"""Data to learn from, of any source, and rows in memory as integer codes and numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd

from ..tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    Slice,
    code_type,
    slices,
    sum_nested,
    weights_at,
)
from ..tools.immutable import EMPTY, Immutable, cached_property, make_read_only
from ..tools.messages import needs_rows_error, shown
from .labels import REFIT, TREAT_AS_MISSING, recode_column, warn_of_unseen_labels
from .numeric import are_categories, as_floats, check_weights, levels_as_floats
from .schema import ALL, MISSING, Columns, Known, Levels, Schema

_PART_ROWS = 2**20
"""Rows in memory are counted in parts of this size, so that temporary arrays stay small."""

T = TypeVar("T")
Data = TypeVar("Data", bound="Dataset")
Read = TypeVar("Read", bound="Countable", covariant=True)


class Prepare(Protocol):
    """Converts raw columns to categories."""

    def read(self, rows: Opened[Dataset], known: Known, named_by: str = "dataset", /) -> Dataset:
        """Encode the raw columns of a model, which has the ``known`` levels."""

    def prepared_data(self, data: Data, /) -> Data:
        """Prepare encoded data, unless they are prepared."""


class Opened(ABC, Generic[Read]):
    """Rows to read, of any source, encoded or not: what `open_data` returns.

    Each class reads its own type of data, so that functions need not ask for
    the type. Rows of an ``Opened[Dataset]`` are in memory, for which the
    methods are written here; ``OpenedData`` can be partitioned, too.
    """

    in_parts: ClassVar[bool] = False
    """Whether rows are partitioned, so that they need not be in memory together."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[Hashable]:
        """Names of the columns."""

    @property
    def types(self) -> Mapping[Hashable, str]:
        """The types of values by column, as pandas infers them, if the data are a frame."""
        return EMPTY

    @property
    def has_numbers(self) -> bool:
        """Whether rows in memory may have numeric columns to discretize."""
        return False

    @abstractmethod
    def encode(self, wanted: Columns = ALL) -> Read:
        """Return at least the given columns, in any order; see `read`."""

    def read(self, wanted: Columns = ALL) -> Read:
        """Return columns (by default, all) in the given order, coded or as numbers."""
        data = self.encode(wanted)
        return data if wanted.names is None else data.select(tuple(dict.fromkeys(wanted.names)))

    def encode_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Read:
        """Encode columns; numeric ones have codes if they have few values or are ``coded``."""
        return self.encode(Columns(columns))

    def prepared(self, preparation: Prepare, known: Known) -> Opened[Read]:
        """Return the data with the categories of a model, which has the ``known`` levels."""
        raw = preparation.read(self.check_in_memory("dataset"), known)
        return cast("Opened[Read]", preparation.prepared_data(raw))

    def data_and_default_numeric_features(
        self, features: Sequence[Hashable], targets: Sequence[Hashable]
    ) -> tuple[Opened[Read], tuple[Hashable, ...]]:
        """Return the data, encoded if needed, and the features to `discretize` by default."""
        data: Any = self.encode_raw(targets[0] if targets else None, {*features, *targets}, targets)
        found = []
        for name in features:
            labels = data.schema.levels_of[name]
            if name in data.numbers and not (labels and are_categories(labels)):
                found.append(name)
        return data, tuple(found)

    def with_weights(self, weights: object) -> Read:
        """Return the encoded data with weights; see `encode`."""
        data: Any = self.encode()
        return cast("Read", replace(data, weights=check_weights(weights, data.index)))

    def check_in_memory(self, argument: str) -> Opened[Dataset]:
        """Return data whose rows are in memory; for others, raise a TypeError with the argument."""
        if self.in_parts:
            raise needs_rows_error(argument)
        return cast("Opened[Dataset]", self)


class Countable(Immutable):
    """Data ready to learn from: coded, in memory or counted where they are, as by a database.

    `Dataset` describes the members.

    Prepared training data have features, then the target variables.
    """

    in_parts: ClassVar[bool] = False

    if TYPE_CHECKING:  # read-only for callers; fields or properties of subclasses

        @property
        def schema(self) -> Schema: ...
        @property
        def size(self) -> float: ...
        @property
        def incomplete(self) -> Mask: ...
        @property
        def is_weighted(self) -> bool: ...
        @property
        def n_positive_and_fractional(self) -> tuple[int, int]: ...
        def __len__(self) -> int: ...
        def sum_over_parts(self, count: Callable[[Dataset], T]) -> T: ...
        def sum_from_source_or_parts(self, count: Callable[[Any], T]) -> T: ...
        def select(self, columns: Sequence[Hashable]) -> Self: ...
        def family_codes_and_weights(
            self, families: Sequence[Sequence[int]]
        ) -> Iterable[tuple[ArrayOf[Any], Array | None]]: ...
        def coded_by_schema(self, schema: Schema) -> Countable: ...
        def rows_with_known(self, column: Hashable) -> Self: ...
        def with_missing_level(self, columns: Collection[Hashable]) -> Self: ...
        def level_weights(self, name: Hashable) -> Array: ...

    numbers: Mapping[Hashable, ArrayOf[Any]] = EMPTY
    targets: tuple[Hashable, ...] = ()
    order: tuple[Hashable, ...] = ()
    """The columns in their original order, if the data are prepared."""

    def with_positive_weights(self) -> Self:
        """Return the rows of positive weight; others add nothing to sums over partitioned data."""
        return self

    def tables_from_source(self, families: Sequence[Sequence[int]]) -> list[Array] | None:
        """Return the tables of families if the source of rows counts them, as a database can."""
        return None

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
    def in_original_column_order(self) -> Countable:
        """The same rows, with the columns in their original order."""
        return self.select(self.order)

    @property
    def codings(self) -> Iterable[Countable]:
        """The codings over whose rows statistics of pairs are averaged; a Dataset has one."""
        return (self,)


OpenedData: TypeAlias = Opened[Countable]
"""Opened data of any source, with rows in memory or partitioned."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Countable, Opened["Dataset"]):
    """Categorical data as integer codes, from `encode`, accepted like a frame.

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
        The values of numeric columns, NaN if missing. They have no levels, and
        codes of -1, unless they are coded.
    cases : (rows,) array of integers or None
        The number of the case of each row, which is held out as a whole. If
        None, each unit of weight is a case.
    given : int
        The number of rows if each row is a case because weights have fractions;
        if not, 0.
    unsaid : (columns, rows) array of bool or None
        Which of the missing values are unknown, because a record omits them.

    Examples
    --------
    >>> from bnclassify import encode, load_car
    >>> data = encode(load_car())
    >>> data
    Dataset: 1728 rows, 7 columns, 0 missing values
    >>> data.schema.levels[-1], data.codes[-1, :3].tolist()
    (('unacc', 'acc', 'good', 'vgood'), [0, 0, 0])
    """

    schema: Schema
    codes: Codes
    index: pd.Index[Any]
    weights: Array | None = None
    numbers: Mapping[Hashable, ArrayOf[Any]] = field(default_factory=dict)
    cases: Positions | None = None
    given: int = 0
    unsaid: Mask | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    def encode(self, wanted: Columns = ALL) -> Self:
        wanted.check_names_of_columns(self.columns)
        return self.columns_as_numbers([name for name in wanted.numeric if name in self.positions])

    def __repr__(self) -> str:
        raw = {name for name in self.numbers if not self.levels[self.positions[name]]}
        missing = int(np.count_nonzero(self.codes < 0)) - len(raw) * len(self)
        missing += sum(int(np.isnan(as_floats(self.numbers[name])).sum()) for name in raw)
        counted = f"{self.size:,.0f}" if self.size == round(self.size) else f"{self.size:,g}"
        weighed = f" that count {counted}" if self.is_weighted else ""
        return (
            f"Dataset: {len(self)} rows{weighed}, {len(self.columns)} columns, "
            f"{missing} missing values"
        )

    @property
    def has_numbers(self) -> bool:
        return bool(self.numbers)

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights, so that counts may be fractions."""
        return self.weights is not None

    @property
    def row_weights(self) -> Array:
        """The weight of each row, 1 without weights."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def n_positive_and_fractional(self) -> tuple[int, int]:
        """Number of positive weights, and of weights that are not whole numbers."""
        weights = self.row_weights
        return int(np.count_nonzero(weights)), int(np.count_nonzero(weights % 1))

    @cached_property
    def size(self) -> float:
        """Sum of the weights; without weights, the number of rows."""
        return len(self) if self.weights is None else float(self.weights.sum())

    @cached_property
    def incomplete(self) -> Mask:
        """Which columns have a missing value."""
        incomplete: Mask = self.codes.min(axis=1, initial=0) < 0
        make_read_only(incomplete)
        return incomplete

    @property
    def held_out_weights(self) -> Array:
        """The weight of each row that is held out with it: all if rows have cases, or at most 1."""
        weights = self.row_weights
        return weights if self.cases is not None else np.minimum(weights, 1.0)

    def sum_over_parts(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of the results of a function for each part of the rows.

        The results are numbers, arrays, or tuples, lists and dicts of them, of
        the same shape for all parts.
        """
        if len(self) <= _PART_ROWS:
            return count(self)
        parts = map(self.take_rows, slices(len(self), most=_PART_ROWS))
        return sum_nested(map(count, parts))

    sum_from_source_or_parts = sum_over_parts

    def level_weights(self, name: Hashable) -> Array:
        """Return the weight of each label of a column."""
        codes: Codes = self.codes[self.positions[name]]
        n_codes = len(self.schema.levels_of[name]) + 1
        return np.bincount(codes.astype(np.intp) + 1, self.weights, n_codes)[1:].astype(np.float64)

    def family_codes_and_weights(
        self, families: Sequence[Sequence[int]]
    ) -> Iterable[tuple[ArrayOf[Any], Array | None]]:
        """Yield codes of families, (columns, rows), and weights; a source can merge equal rows."""
        return ((self.codes[list(family)], self.weights) for family in families)

    def take_rows(self, rows: Positions | Mask | Slice) -> Self:
        """Return rows by position, by a mask or by a slice, with the levels unchanged."""
        if isinstance(rows, slice):
            codes = self.codes[:, rows]
        else:
            rows = np.flatnonzero(rows) if rows.dtype == bool else rows
            codes = self.codes.take(rows, axis=1)
        return replace(
            self,
            codes=codes,
            index=self.index[rows],
            weights=weights_at(self.weights, rows),
            numbers={name: values[rows] for name, values in self.numbers.items()},
            cases=None if self.cases is None else self.cases[rows],
            unsaid=None if self.unsaid is None else self.unsaid[:, rows],
        )

    def rows_with_known(self, column: Hashable) -> Self:
        """Return the rows in which a column is known; all rows if it is None."""
        if column is None:
            return self
        known: Mask = self.codes[self.positions[column]] >= 0
        return self if known.all() else self.take_rows(known)

    def select(self, columns: Sequence[Hashable]) -> Self:
        """Return some of the columns in this order, without a copy if they are adjacent."""
        if tuple(columns) == self.columns:
            return self
        where = [self.positions[column] for column in columns]
        return replace(
            self,
            schema=self.schema.select(columns),
            codes=codes_of_columns(self.codes, where),
            numbers={name: values for name, values in self.numbers.items() if name in columns},
            unsaid=None if self.unsaid is None else self.unsaid[where],
        )

    def with_unknown_columns_added(self, other: Dataset) -> Dataset:
        """Return the data with the columns of another row, whose values are unknown in all rows."""
        side = other.take_rows(np.zeros(len(self), dtype=np.intp))
        schema = Schema((*self.columns, *side.columns), (*self.levels, *side.levels))
        codes = np.concatenate([self.codes, side.codes.astype(self.codes.dtype)])
        unknown = np.concatenate([self._unknown_mask, np.ones(side.codes.shape, dtype=bool)])
        numbers = {**self.numbers, **side.numbers}
        return Dataset(schema, codes, self.index, self.weights, numbers, unsaid=unknown)

    def with_unknown_columns(self, names: Sequence[Hashable]) -> Self:
        """Return the data in which the values of these columns, all missing, are unknown."""
        if not names:
            return self
        unknown = self._unknown_mask.copy()
        unknown[[self.positions[name] for name in names]] = True
        return replace(self, unsaid=unknown)

    @property
    def _unknown_mask(self) -> Mask:
        """Which values are unknown, (columns, rows)."""
        return np.zeros(self.codes.shape, dtype=bool) if self.unsaid is None else self.unsaid

    def split_off_column(self, column: Hashable) -> tuple[Self, ArrayOf[Any]]:
        """Return the data without a column, and its numbers or codes, NaN where missing."""
        codes: Codes = self.codes[self.positions[column]]
        values: ArrayOf[Any] = self.numbers.get(column, np.where(codes < 0, np.nan, codes))
        return self.select([name for name in self.columns if name != column]), values

    def with_codes(self, coded: Mapping[Hashable, tuple[tuple[Any, ...], ArrayOf[Any]]]) -> Self:
        """Return the data with these levels and codes of columns, which keep their numbers."""
        if not coded:
            return self
        schema = self.schema.with_levels({name: labels for name, (labels, _) in coded.items()})
        codes = np.empty(self.codes.shape, dtype=code_type(max(schema.cards)))
        for row, name, old in zip(codes, self.columns, self.codes, strict=True):
            row[:] = coded[name][1] if name in coded else old
        return replace(self, schema=schema, codes=codes)

    def columns_as_numbers(self, columns: Iterable[Hashable]) -> Self:
        """Return the data with some columns as numbers, without codes; columns of text raise."""
        levels_of = self.schema.levels_of
        chosen = [name for name in columns if levels_of[name] or name not in self.numbers]
        if not chosen:
            return self
        numbers, no_codes = dict(self.numbers), np.full(len(self), -1)
        for name in chosen:
            if name in numbers:
                numbers[name] = as_floats(numbers[name])
            else:
                labels = np.array([*levels_as_floats(name, levels_of[name]), np.nan])
                numbers[name] = labels[self.codes[self.positions[name]]]
        data = self.with_codes(dict.fromkeys(chosen, ((), no_codes)))
        return replace(data, numbers=numbers)

    def coded_by_distinct_values(self, columns: Collection[Hashable]) -> Self:
        """Return the data with the numbers of some columns coded by their distinct values."""
        coded: dict[Hashable, tuple[tuple[Any, ...], Positions]] = {}
        for name in columns:
            codes, values = pd.factorize(as_floats(self.numbers[name]))
            coded[name] = tuple(values.tolist()), codes
        return self.with_codes(coded)

    def with_missing_level(self, columns: Collection[Hashable]) -> Self:
        """Return the data with missing values of some columns as their last level."""
        chosen = [name for name in self.columns if name in columns]
        levels = self.schema.with_missing_level(columns).select(chosen).levels
        codes = codes_by_levels(self, chosen, levels)
        return self.with_codes(dict(zip(chosen, zip(levels, codes, strict=True), strict=True)))

    def coded_by_schema(self, schema: Schema) -> Dataset:
        """Return the columns of a schema, coded by its levels."""
        codes = codes_by_levels(self, schema.columns, schema.levels)
        numbers = {name: self.numbers[name] for name in schema.columns if name in self.numbers}
        return Dataset(schema, codes, self.index, self.weights, numbers, self.cases, self.given)

    def with_positive_weights(self) -> Self:
        """Return the rows with a positive weight."""
        are_positive = self.weights is None or self.weights.all()
        return self if are_positive else self.take_rows(self.row_weights > 0)


def codes_of_columns(codes: Codes, where: list[int]) -> Codes:
    """Select columns by position, without a copy if they are adjacent."""
    first = where[0] if where else 0
    adjacent = slice(first, first + len(where))
    return codes[adjacent] if where == list(range(first, adjacent.stop)) else codes[where]


def codes_of_class(data: Dataset, class_var: Hashable, levels: tuple[Hashable, ...]) -> Codes:
    """Return the codes of the class in data to evaluate a model on; every row must have one."""
    classes: Codes = codes_by_levels(data, (class_var,), (levels,))[0]
    unknown = int(np.count_nonzero(classes < 0))
    if unknown:
        raise ValueError(
            f"dataset: {unknown} of {len(data)} rows have no class {shown(class_var)}. Drop them, "
            f"for example with .dropna(subset=[{shown(class_var)}])."
        )
    return classes


def codes_by_levels(
    data: Dataset, columns: Sequence[Hashable], levels: Levels, *, unseen: str | None = None
) -> Codes:
    """Return (columns, rows) codes by other levels, matched by label; unseen are -1 or raise."""
    positions, old_levels = data.positions, data.levels
    where = [positions[name] for name in columns]
    codes = codes_of_columns(data.codes, where)
    pairs = zip(where, levels, strict=True)
    same = [old_levels[i] == new and new[-1:] != (MISSING,) for i, new in pairs]
    if all(same):
        return codes
    longest = max(len(labels) for labels in levels)
    matched = np.empty(codes.shape, dtype=np.promote_types(codes.dtype, code_type(longest)))
    code = -1 if unseen == "missing" else None
    advice = REFIT if unseen is None else TREAT_AS_MISSING
    old: Codes
    for k, (old, i, labels) in enumerate(zip(codes, where, levels, strict=True)):
        known, name = old_levels[i], columns[k]
        row = old if same[k] else recode_column(old, known, labels, name, code, advice)
        matched[k] = row
        is_unseen: Mask = (row < 0) & (old >= 0)
        if code is not None and is_unseen.any():
            warn_of_unseen_labels(name, old, known, is_unseen, labels)
    return matched
