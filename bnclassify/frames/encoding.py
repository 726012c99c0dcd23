"""Data frames and records before encoding, and how they, or the parts of partitioned data, are encoded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pandas as pd

from ..base.arrays import ArrayOf, code_type
from ..base.checks import check_columns, must_be
from ..base.immutable import EMPTY, cached_property
from ..base.messages import did_you_mean, listed, repeated, shown, warn
from .columns import NUMBERS_ADVICE, check_categorical, column_arrays, encode_column
from .numeric import (
    ArrayLike,
    check_weights,
    code_labels,
    labels_to_keep,
    names_column,
    read_numbers,
    value_type,
)
from .schema import ALL, Columns, Countable, Dataset, InMemory, Known, Prepare, Schema, recode

Row: TypeAlias = "pd.Series[Any] | Mapping[Any, Any]"


@dataclass(frozen=True)
class Frame(InMemory):
    """A data frame with unique names of columns; errors about its values name the ``argument``."""

    frame: pd.DataFrame
    argument: str

    def __post_init__(self) -> None:
        if not self.frame.columns.is_unique:
            check_unique(self.frame.columns.tolist(), self.argument)

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def columns(self) -> Sequence[Hashable]:
        """Names of the columns."""
        return self.frame.columns.tolist()

    @cached_property
    def types(self) -> Mapping[Hashable, str]:
        """The types of values by column, as pandas infers them."""
        return dict(zip(self.columns, map(value_type, column_arrays(self.frame)), strict=True))

    has_numbers = True

    @property
    def has_gaps(self) -> bool:
        """Whether there are missing values."""
        try:
            return bool(self.frame.isna().to_numpy().any())
        except ArithmeticError:  # a decimal that cannot be compared, which `read_numbers` reports
            return True

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns in the order of the frame; see `InMemory`."""
        chosen = set(wanted.among(self.columns))
        names = [name for name in self.columns if name in chosen]
        numeric = wanted.as_numbers()
        return encode_frame(self.frame, names, argument=self.argument, known=wanted.known, numeric=numeric)

    def read_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Dataset:
        """Encode columns of which numbers have codes, too, if they have few values or are ``coded``."""
        data = self.encode(Columns(columns, raw={name: False for name in columns if name != class_var}))
        kept = {name: labels_to_keep(values) for name, values in data.numbers.items() if name not in coded}
        codes = {name: code_labels(data.numbers[name], labels) for name, labels in kept.items() if labels}
        both = encode_frame(self.frame, [name for name in data.numbers if name in coded])
        codes |= dict(zip(both.columns, zip(both.levels, both.codes, strict=True), strict=True))
        return data.recoded(codes)

    def weighed(self, weights: Any) -> Dataset:
        """Return the encoded data, with the weights of a column or of an array."""
        frame = self.frame
        if names_column(weights):
            check_columns([weights], self.columns, "weights")
            weights, frame = frame[weights].array, frame.drop(columns=[weights])
        coded = [name for name, kind in self.types.items() if kind == "integer"]
        data = Frame(frame, self.argument).read_raw(None, frame.columns.tolist(), coded)
        return replace(data, weights=check_weights(weights, frame.index))


def check_unique(names: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if a column name is repeated."""
    if twice := repeated(names):
        raise ValueError(f"{argument} must have unique column names; got {listed(twice)} more than once.")


def encode_frame(
    frame: pd.DataFrame,
    columns: Sequence[Hashable],
    *,
    argument: str = "dataset",
    known: Known | None = None,
    numeric: Mapping[Hashable, bool] = EMPTY,
    whole_floats: bool = False,
) -> Dataset:
    """Encode columns of a data frame, in the given order.

    In new data, with ``known`` levels, floats can be categories. The columns in ``numeric`` are read as
    numbers, without codes; columns that map to True must be numeric. With ``whole_floats``, whole numbers
    can be of type float, as in a chunk with missing values.
    """
    by_name: dict[Hashable, ArrayLike] = dict(zip(frame.columns.tolist(), column_arrays(frame), strict=True))
    arrays = {name: by_name[name] for name in columns}
    read = {
        name: read_numbers(array, name, argument, must=numeric[name])
        for name, array in arrays.items()
        if name in numeric
    }
    numbers = {name: values for name, values in read.items() if values is not None}
    coded = {name: array for name, array in arrays.items() if name not in numbers}
    check_categorical(coded, known, whole_floats=whole_floats, argument=argument)
    encoded = {name: encode_column(array) for name, array in coded.items()}
    ordered = [name for name, array in coded.items() if getattr(array.dtype, "ordered", False)]
    levels = tuple([encoded[name][0] if name in encoded else () for name in columns])
    codes = np.full((len(columns), len(frame)), -1, dtype=code_type(max(map(len, levels), default=0)))
    for row, name in zip(codes, columns, strict=True):
        if name in encoded:
            row[:] = encoded[name][1]
    return Dataset(Schema(tuple(columns), levels, frozenset(ordered)), codes, frame.index, numbers=numbers)


@dataclass(frozen=True)
class Records(InMemory):
    """Rows of which each is a dict or a Series; the values that a record omits are missing."""

    rows: Sequence[Row]
    argument: str

    @property
    def columns(self) -> Sequence[Hashable]:
        """The names of the values of the records."""
        return list(dict.fromkeys(name for row in self.rows for name, _ in row.items()))

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns, of which the levels are the values themselves; see `InMemory`."""
        names = tuple(self.columns if wanted.names is None else wanted.names)
        return encode_records(self.rows, names, self.argument, wanted.as_numbers())

    @property
    def frame(self) -> pd.DataFrame:
        """The records as a data frame."""
        rows = [_values_by_name(row, self.argument) for row in self.rows]
        for row in rows:
            _check_single(row, row, self.argument)
        values = {i: [row.get(name) for row in rows] for i, name in enumerate(self.columns)}
        frame = pd.DataFrame(values, index=_index(self.rows))
        return frame.set_axis(pd.Index(self.columns, tupleize_cols=False), axis="columns")


def encode_records(
    rows: Sequence[Row], names: Sequence[Hashable], argument: str, numeric: Mapping[Hashable, bool] = EMPTY
) -> Dataset:
    """Encode records; values that a record omits are missing, and the levels are the values themselves."""
    records = [_values_by_name(row, argument) for row in rows]
    for row, record in zip(rows, records, strict=True):
        is_column = isinstance(row, pd.Series) and row.name in names
        _check_record(record, names, argument, _IS_COLUMN if is_column else "")
    numbers, levels = {}, []
    codes = np.full((len(names), len(rows)), -1, dtype=code_type(len(rows)))
    for column, name in zip(codes, names, strict=True):
        values = [record.get(name) for record in records]
        read, text = None, next((value for value in values if isinstance(value, str)), None)
        if text is not None and numeric.get(name):
            raise TypeError(
                f"{argument}: column {shown(name)} must be numeric; got text such as {shown(text)}. Write "
                "numbers without quotes, with a decimal point."
            )
        if name in numeric:
            array = _alone(values[0]) if len(values) == 1 else pd.Series(values).array
            read = read_numbers(array, name, argument, must=numeric[name])
        labels = {} if read is not None else dict.fromkeys(v for v in values if not is_missing(v))
        if read is not None:
            numbers[name] = read
        position = {label: code for code, label in enumerate(labels)}
        column[:] = [position.get(value, -1) for value in values]
        levels.append(tuple(labels))
    return Dataset(Schema(tuple(names), tuple(levels)), codes, _index(rows), numbers=numbers)


_IS_COLUMN = "A Series is one row. Convert a column, with its to_frame()."


def _check_record(
    record: Mapping[Hashable, Any], names: Sequence[Hashable], argument: str, advice: str = ""
) -> None:
    """Raise unless a record has some of the names, with one value each; warn of misspelled ones."""
    absent = [name for name in names if name not in record]
    if absent and len(absent) == len(names):
        hints = [advice, *(did_you_mean(key, names) for key in record), f"The model has {listed(names)}."]
        raise KeyError(
            f"{argument} must have a value of at least one variable of the model in every record; "
            f"got {listed(record)}. {next(filter(None, hints))}"
        )
    _check_single(record, [name for name in names if name in record], argument)
    for key in record if absent else ():
        similar = did_you_mean(key, absent) if key not in names else ""
        if similar:
            warn(f"{argument}: {shown(key)} is not a variable of the model and is ignored. {similar}")


def _alone(value: Any) -> ArrayOf[Any]:
    """Return an array of one value, of floats if it is a number."""
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        return np.array([value])
    array = np.empty(1, dtype=object)
    array[0] = value
    return array


def _values_by_name(row: Row, argument: str) -> dict[Hashable, Any]:
    if isinstance(row, pd.Series) and not row.index.is_unique:
        raise ValueError(f"{argument} must have one value per column; got a Series with repeated labels.")
    return dict(row.items())


def _check_single(values: Mapping[Hashable, Any], names: Iterable[Hashable], argument: str) -> None:
    """Raise a TypeError unless a row has one value per column."""
    for name in names:
        if not isinstance(values[name], Hashable):
            remedy = "A dict or Series is one row; for several rows, pass a pd.DataFrame."
            raise TypeError(must_be(argument, f"one value of {shown(name)}", values[name], remedy))


def is_missing(value: Any) -> bool:
    """Whether a value of any type stands for a missing one."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _index(rows: Sequence[Row]) -> pd.Index[Any]:
    """Return the row labels of a frame or, for other data, row numbers."""
    labels = [row.name if isinstance(row, pd.Series) else None for row in rows]
    return pd.RangeIndex(len(rows)) if None in labels or not labels else pd.Index(labels, tupleize_cols=False)


def check_levels(data: Countable | Schema, columns: Iterable[Hashable]) -> None:
    """Raise a ValueError for columns without a level."""
    cards, positions = data.cards, data.positions
    empty = [name for name in columns if not cards[positions[name]]]
    if empty and isinstance(data, Dataset) and not len(data):
        raise ValueError("dataset must have rows; got none.")
    numeric = [name for name in empty if isinstance(data, Dataset) and name in data.numbers]
    if numeric:
        raise TypeError(f"column {listed(numeric)} must be categorical; got {NUMBERS_ADVICE}")
    if empty:
        raise ValueError(
            f"dataset: all values are missing in {listed(empty)}. Drop these columns or, if this is a subset "
            "of the data, make them categorical before splitting."
        )


class Choice(Protocol):
    """Selects or draws rows of a frame, by some of its columns."""

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The required columns."""

    __call__: Callable[..., Any]


class Facts(NamedTuple):
    """Facts that a pass over rows collects: their number, and the number of rows kept, which have a class.

    Of these, ``size`` is the weight, ``gaps`` has the number of missing values by column, ``positive`` have
    a weight above 0, and ``fractional`` a weight that is not whole. ``hidden`` has the number of values by
    column that are treated as missing, because they are not among the levels, and ``labels`` the weight of
    each label of the targets. ``checks`` are the sums of the codes by column.
    """

    rows: int
    kept: int
    size: float
    gaps: ArrayOf[np.int64]
    positive: int = 0
    fractional: int = 0
    hidden: Any = 0
    labels: Any = ()
    checks: Any = 0


def with_class(data: Dataset, class_var: Hashable) -> tuple[Dataset, Facts]:
    """Return the rows with a class (all rows if no column is required), and their facts."""
    rows = len(data)
    if class_var is not None:
        known = data.codes[data.positions[class_var]] >= 0
        data = data if known.all() else data.taken(known)
    gaps = np.zeros(len(data.columns), dtype=np.int64)
    gaps[data.incomplete] = np.count_nonzero(data.codes[data.incomplete] < 0, axis=1)
    weights = np.empty(0) if data.weights is None else data.weights
    fractional = int(np.count_nonzero(weights != np.round(weights)))
    facts = Facts(rows, len(data), data.size, gaps, int(np.count_nonzero(weights)), fractional)
    return data, facts._replace(checks=data.codes.sum(axis=1, dtype=np.int64))


@dataclass(frozen=True)
class Reading:
    """A function that encodes a frame, called by workers.

    Rows that lack the ``required`` column are dropped, ``weights`` names a column, ``prepare`` converts
    raw columns to categories, and unseen values of the ``lenient`` columns are missing. ``keep`` returns
    which rows of a frame are selected, or which part of their weights; ``draw`` returns a sample of its
    encoded rows, drawn with replacement.
    """

    schema: Schema
    required: Hashable = None
    weights: Hashable = None
    prepare: Prepare | None = None
    keep: Choice | None = None
    lenient: tuple[Hashable, ...] = ()
    draw: Choice | None = None

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns of frames that are read."""
        besides = [name for part in (self.keep, self.draw) if part is not None for name in part.columns]
        weights = () if self.weights is None else (self.weights,)
        return tuple(dict.fromkeys((*self.schema.columns, *weights, *besides)))

    def __call__(self, frame: pd.DataFrame) -> tuple[Dataset, Facts]:
        """Return the rows of a frame, and their facts."""
        weights = None if self.weights is None else check_weights(frame[self.weights].array, frame.index)
        if self.keep is not None:
            kept = self.keep(frame)
            rows = np.flatnonzero(kept)
            frame = frame.iloc[rows]
            if weights is not None:
                weights = weights[rows] if kept.dtype == bool else np.asarray(kept[rows], dtype=np.float64)
        if self.prepare is None:
            raw = encode_frame(frame, self.schema.columns, numeric=self.schema.numeric, whole_floats=True)
        else:
            known = dict(zip(self.schema.columns, self.schema.levels, strict=True))
            raw = Frame(frame, "dataset").prepared(self.prepare, known)
        coded, hidden = raw, np.zeros(len(self.schema.columns), dtype=np.int64)
        for name in self.lenient:
            i, new = raw.positions[name], self.schema.levels[self.schema.positions[name]]
            codes = recode(raw.codes[i], raw.levels[i], new, name, -1)
            hidden[self.schema.positions[name]] = np.count_nonzero((codes < 0) & (raw.codes[i] >= 0))
            coded = coded.recoded({name: (new, codes)})
        data, facts = with_class(replace(coded.coded(self.schema), weights=weights), self.required)
        if self.draw is not None:
            data, facts = with_class(self.draw(frame, data), None)
        return data, facts._replace(hidden=hidden)
