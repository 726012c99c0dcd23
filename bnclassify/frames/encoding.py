"""Encoding of data frames as integers: training data, new data, one row, and weights."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, code_type
from ..base.checks import Names, available, must_be
from ..base.immutable import EMPTY
from ..base.messages import did_you_mean, listed, repeated, shown, warn
from .columns import NUMBERS_ADVICE, check_categorical, column_arrays, encode_column
from .numeric import ArrayLike, code_labels, labels_to_keep, read_numbers
from .schema import Countable, Dataset, Schema
from .sources import NEEDS_ROWS, AnyFrame, find_source, in_pandas

Row: TypeAlias = "pd.Series[Any] | Mapping[Any, Any]"

_ASKED_ABOUT = {
    "newdata": (
        "Use one part at a time, as in: for chunk in chunks: predict(x, chunk). In a database, run the query "
        "of to_sql(x, table=name)."
    ),
    "frame": "Use one part at a time, as in: for chunk in chunks: impute(x, chunk).",
    "row": "Use a few rows, such as frame.head() of a Dask DataFrame.",
}
"""The remedy for partitioned data in calls that need rows in memory, by argument."""


def encode_columns(
    frame: pd.DataFrame | Dataset | AnyFrame,
    columns: Iterable[Hashable] | None = None,
    *,
    argument: str = "dataset",
    named_by: str | None = None,
    known: Mapping[Hashable, tuple[Any, ...]] | None = None,
    numeric: Mapping[Hashable, bool] = EMPTY,
    whole_floats: bool = False,
) -> Dataset:
    """Encode the named columns of a data frame (by default, all), in the order of the data.

    A `Dataset` is returned with all its columns. Absent columns raise a KeyError with the
    name of the argument. In new data, with ``known`` levels, floats can be categories. The
    columns in ``numeric`` are read as numbers, without codes; columns that map to True must be numeric.
    With ``whole_floats``, whole numbers can be of type float, as in a chunk with missing values.
    """
    if isinstance(frame, Dataset):
        check_columns(() if columns is None else columns, frame.columns, named_by or argument)
        return frame.with_numbers(
            [name for name, must in numeric.items() if must and name in frame.positions]
        )
    frame = check_frame(frame, argument, or_row=known is not None)
    chosen = None
    if columns is not None:
        chosen = check_columns(columns, frame.columns.tolist(), named_by or argument)
    names: list[Hashable] = [name for name in frame.columns.tolist() if chosen is None or name in chosen]
    arrays = zip(frame.columns.tolist(), column_arrays(frame), strict=True) if numeric else ()
    numbers: dict[Hashable, NDArray[Any]] = {}
    wanted = numeric.keys() & names
    for column, array in arrays:
        values = read_numbers(array, column, argument, must=numeric[column]) if column in wanted else None
        if values is not None:
            numbers[column] = values
    chosen = {name for name in names if name not in numbers}
    coded, column_codes, _ = read_columns(frame, chosen, known=known, whole_floats=whole_floats)
    levels = tuple([() if name in numbers else coded.levels[coded.positions[name]] for name in names])
    schema = Schema(tuple(names), levels, coded.ordered)
    codes = np.full((len(names), len(frame)), -1, dtype=code_type(max(coded.cards, default=0)))
    for name, code in zip(coded.columns, column_codes, strict=True):
        codes[schema.positions[name]] = code
    return Dataset(schema, codes, frame.index, numbers=numbers)


def read_raw(
    frame: pd.DataFrame,
    class_var: Hashable | None,
    columns: Collection[Hashable],
    coded: Collection[Hashable] = (),
) -> Dataset:
    """Encode raw columns; numbers have codes, too, if they have few values or are ``coded``."""
    numeric = {name: False for name in columns if name != class_var}
    data = encode_columns(frame, columns, numeric=numeric)
    kept = {name: labels_to_keep(values) for name, values in data.numbers.items() if name not in coded}
    codes = {name: code_labels(data.numbers[name], labels) for name, labels in kept.items() if labels}
    both = encode_columns(frame, [name for name in data.numbers if name in coded])
    codes |= dict(zip(both.columns, zip(both.levels, both.codes, strict=True), strict=True))
    return data.recoded(codes)


def read_columns(
    data: pd.DataFrame | Dataset,
    columns: Collection[Hashable] | None = None,
    *,
    known: Mapping[Hashable, tuple[Any, ...]] | None = None,
    whole_floats: bool = False,
) -> tuple[Schema, Sequence[NDArray[Any]], Array | None]:
    """Return the schema of columns in the order of the data, their codes (not copied), and the weights."""
    if isinstance(data, Dataset):
        chosen = data.select([name for name in data.columns if columns is None or name in columns])
        return chosen.schema, list(chosen.codes), data.weights
    arrays: dict[Hashable, ArrayLike] = {
        name: array
        for name, array in zip(data.columns.tolist(), column_arrays(data), strict=True)
        if columns is None or name in columns
    }
    check_categorical(arrays, known, whole_floats=whole_floats)
    encoded = [encode_column(array) for array in arrays.values()]
    ordered = [name for name, array in arrays.items() if getattr(array.dtype, "ordered", False)]
    levels = tuple([levels for levels, _ in encoded])
    return Schema(tuple(arrays), levels, frozenset(ordered)), [c for _, c in encoded], None


def encode_new(
    newdata: pd.DataFrame | Dataset | Row | Sequence[Row],
    known: Mapping[Hashable, tuple[Any, ...]],
    argument: str = "newdata",
    numeric: Mapping[Hashable, bool] = EMPTY,
) -> Dataset:
    """Encode the ``known`` columns of new data: a data frame, one or several records, or a `Dataset`."""
    if isinstance(newdata, pd.Series | Mapping):
        newdata = [newdata]
    may_be_empty = argument != "dataset"
    if (
        isinstance(newdata, list)
        and (newdata or may_be_empty)
        and all(isinstance(row, pd.Series | Mapping) for row in newdata)
    ):
        return encode_records(newdata, tuple(known), argument, numeric)
    frame: Any = newdata
    return encode_columns(frame, known, argument=argument, known=known, numeric=numeric)


def encode_records(
    rows: Sequence[Row], names: Sequence[Hashable], argument: str, numeric: Mapping[Hashable, bool] = EMPTY
) -> Dataset:
    """Encode records; values that a record omits are missing, and the levels are the values themselves."""
    records = [_values_by_name(row, argument) for row in rows]
    for record in records:
        _check_record(record, names, argument)
    numbers, levels = {}, []
    codes = np.full((len(names), len(rows)), -1, dtype=code_type(len(rows)))
    for column, name in zip(codes, names, strict=True):
        values = [record.get(name) for record in records]
        read = None
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


def _check_record(record: Mapping[Hashable, Any], names: Sequence[Hashable], argument: str) -> None:
    """Raise unless a record has some of the names, with one value each; warn of misspelled ones."""
    absent = [name for name in names if name not in record]
    if absent and len(absent) == len(names):
        hint = next(
            filter(None, [did_you_mean(key, names) for key in record]), f"The model has {listed(names)}."
        )
        raise KeyError(
            f"{argument} must have a value of at least one variable of the model in every record; "
            f"got {listed(record)}. {hint}"
        )
    _check_single(record, [name for name in names if name in record], argument)
    for key in record if absent else ():
        similar = did_you_mean(key, absent) if key not in names else ""
        if similar:
            warn(f"{argument}: {shown(key)} is not a variable of the model and is ignored. {similar}")


def _alone(value: Any) -> NDArray[Any]:
    """Return an array of one value, of floats if it is a number."""
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        return np.array([value])
    array = np.empty(1, dtype=object)
    array[0] = value
    return array


def as_frame(newdata: object, argument: str = "newdata") -> pd.DataFrame:
    """Return a data frame unchanged, and one row as a frame of one row; raise for other types."""
    if not isinstance(newdata, pd.Series | Mapping):
        return check_frame(newdata, argument, or_row=True)
    values = _values_by_name(newdata, argument)
    _check_single(values, values, argument)
    frame = pd.DataFrame({i: [value] for i, value in enumerate(values.values())}, index=_index([newdata]))
    frame.columns = pd.Index(list(values), tupleize_cols=False)
    return frame


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


def check_frame(frame: object, argument: str, *, or_row: bool = False) -> pd.DataFrame:
    """Return a data frame with unique column names, or raise; ``or_row`` names one row in the message."""
    if (isinstance(frame, Countable) and not isinstance(frame, Dataset)) or find_source(frame, argument):
        remedy = _ASKED_ABOUT.get(argument)
        in_memory = "must be in memory; got partitioned data."
        raise TypeError(f"{argument} {NEEDS_ROWS if remedy is None else f'{in_memory} {remedy}'}")
    frame = in_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        expected = "a pandas DataFrame" + (
            ", one row as a Series or a dict, or a list of rows" if or_row else ""
        )
        raise TypeError(f"{argument} must be {expected}; got {type(frame).__name__}.{_remedy(frame)}")
    if not frame.columns.is_unique:
        twice = repeated(frame.columns.tolist())
        raise ValueError(f"{argument} must have unique column names; got {listed(twice)} more than once.")
    return frame


def _remedy(data: object) -> str:
    """Return how to convert other data to a data frame."""
    if isinstance(data, Dataset):
        return " Its columns are categories already; pass the data frame that it was encoded from."
    for method in ("compute", "to_pandas", "to_frame"):
        if hasattr(data, method):
            return f" Call its {method}()."
    if isinstance(data, str | Hashable) and not isinstance(data, tuple):
        return ""
    return " Make one with pd.DataFrame(data, columns=names)."


def check_columns(names: Iterable[Hashable], options: Collection[Hashable], argument: str) -> set[Hashable]:
    """Return names as a set, or raise a KeyError for absent columns."""
    existing = options if isinstance(options, set | dict) else set(options)
    names = list(names)
    try:
        chosen = set(names)
    except TypeError:
        for name in names:
            check_name(name, argument)
        raise
    absent = [name for name in names if name not in existing]
    if absent:
        raise KeyError(f"{argument}: no column {listed(absent)} in the data. {available(absent[0], options)}")
    return chosen


def check_names(
    features: Iterable[Hashable], targets: Collection[Hashable], argument: str = "features"
) -> tuple[Hashable, ...]:
    """Return feature names as a tuple; they must be unique and must not include a target."""
    names = Names().check(argument, features)
    for target in targets:
        if target in names:
            raise ValueError(f"{argument} must not include the class; got {shown(target)}.")
    return names


def check_name(name: object, argument: str = "class_var") -> None:
    """Raise a TypeError for a value that cannot name a column."""
    if not isinstance(name, Hashable) or name is None or name is pd.NA:
        remedy = ""
        if isinstance(name, pd.Series):
            remedy = f" Write {shown(name.name)}."
        elif isinstance(name, pd.DataFrame):
            remedy = " The name of the class is the first argument, and the data are the second."
        raise TypeError(f"{argument} must be the name of a column; got {type(name).__name__}.{remedy}")


def check_levels(data: Countable | Schema, columns: Iterable[Hashable], rows: int | None = None) -> None:
    """Raise a ValueError for columns without a level."""
    cards, positions = data.cards, data.positions
    empty = [name for name in columns if not cards[positions[name]]]
    if empty and (rows == 0 or (isinstance(data, Dataset) and not len(data))):
        raise ValueError("dataset must have rows; got none.")
    numeric = [name for name in empty if isinstance(data, Dataset) and name in data.numbers]
    if numeric:
        raise TypeError(f"column {listed(numeric)} must be categorical; got {NUMBERS_ADVICE}")
    if empty:
        raise ValueError(
            f"dataset: all values are missing in {listed(empty)}. Drop these columns or, if this is a subset "
            "of the data, make them categorical before splitting."
        )


def names_column(weights: Any) -> bool:
    """Whether weights are the name of a column."""
    return isinstance(weights, str | tuple) or np.ndim(weights) == 0


def weight_column(frame: pd.DataFrame, name: Hashable) -> pd.Series[Any]:
    """Return the column of weights, or raise a KeyError."""
    check_columns([name], frame.columns.tolist(), "weights")
    return frame[name]


def check_weights(weights: Any, index: pd.Index[Any], argument: str = "weights") -> Array:
    """Return a weight of 0 or more for each row, or raise."""
    if isinstance(weights, pd.Series) and not weights.index.equals(index):
        raise ValueError(
            f"{argument} must have the index of the data; got a Series with another one. Align it, or pass "
            ".to_numpy() if its numbers are in the order of the rows."
        )
    numbers = np.asarray(weights)
    if numbers.dtype.kind not in "biuf":
        try:  # nullable types of pandas, decimals
            numbers = pd.Series(numbers).astype(float).to_numpy()
        except (TypeError, ValueError):
            raise TypeError(must_be(argument, "a number for each row", weights)) from None
    if numbers.shape != (len(index),):
        raise ValueError(
            f"{argument} must be one number for each of {len(index)} rows; got an array of shape "
            f"{numbers.shape}."
        )
    floats = numbers.astype(np.float64, copy=True)  # a copy, because the caller may change the array
    wrong = ~(np.isfinite(floats) & (floats >= 0))
    if wrong.any():
        raise ValueError(
            f"{argument} must be finite numbers of 0 or more; got {shown(numbers[wrong][0])} in "
            f"{np.count_nonzero(wrong)} of {len(index)} rows. To ignore a row, give it weight 0."
        )
    with np.errstate(over="ignore"):
        total = floats.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"{argument} must have a finite sum; got weights up to {floats.max():g}. Divide them by a number."
        )
    return floats
