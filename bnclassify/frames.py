"""The entrance: a table of any library or source is opened, checked and encoded.

A public function calls `open_data` once, with a DataFrame, a Dataset, records,
a frame of polars or Arrow, or rows in parts. The result, `Opened`, knows its
columns and encodes those that are asked for. A learner calls
`prepare_training_data`, which checks the class and the features, ignores rows
without a class, and warns of suspicious columns, so that learners need not check
them. `encode` does the work of this chapter once for
many calls. The warnings themselves are found by the annex
`check`, and sources in parts are opened by the annex `parts`; both add their
functions to the lists that this chapter calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from itertools import compress
from numbers import Real
from operator import attrgetter, is_
from os import PathLike
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeGuard, TypeVar, cast, overload
from weakref import ref

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.types import is_extension_array_dtype

from .dataset import (
    ALL,
    MISSING,
    MOST_CODES,
    Columns,
    Countable,
    Data,
    Dataset,
    Known,
    Numeric,
    Opened,
    OpenedData,
    Prepare,
    Schema,
    are_categories,
)
from .tools.arrays import Array, ArrayOf, Mask, Positions, code_type, slices
from .tools.calls import with_call_advice
from .tools.checks import (
    Flag,
    Names,
    OneOf,
    Optional,
    check_column_name,
    check_columns,
    check_feature_names,
    must_be,
)
from .tools.immutable import EMPTY, cached_property
from .tools.messages import (
    did_you_mean,
    listed,
    no_labels_error,
    repeated_items,
    shorten_text,
    shown,
    to_python_scalar,
    warn,
)

# Frames of other libraries, such as polars and Arrow, as pandas, and results in their type.


_OWN = (pd.DataFrame, pd.Series, Mapping, np.ndarray, list, tuple, str)

_MODULES = (
    "narwhals",
    "polars",
    "pyarrow",
    "duckdb",
    "_duckdb",
    "ibis",
    "pyspark",
    "sqlframe",
    "modin",
    "cudf",
)
"""Libraries with frames, of which some do not have the interface of Arrow."""


class _AnyFrame(Protocol):
    """A data frame of any library, as type checkers see it."""

    @property
    def columns(self) -> Any:
        """The columns or their names."""


AnyTable: TypeAlias = _AnyFrame | Callable[[], Iterable[Any]] | Sequence[pd.DataFrame]
"""What a user gives: a frame of any library, encoded data, chunks, or a table of a database.

It becomes a `Dataset`, or what is `Countable` where it is.
"""

Foreign: TypeAlias = Any
"""An object of another library, such as a column of narwhals or ibis."""


def foreign_to_pandas(data: Any) -> Any:
    """Return another library's data frame or Series as one of pandas, and other data unchanged."""
    if not is_foreign(data):
        return data
    opened = _opened_by_narwhals(data)
    if not hasattr(opened, "implementation"):  # such as an array of Arrow
        return data
    if hasattr(opened, "collect"):
        opened = opened.collect()
    if hasattr(opened, "columns"):
        columns = {str(name): _column_for_pandas(opened[name]) for name in opened.columns}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(opened)))
    return pd.Series(_column_for_pandas(opened), name=str(opened.name))


def in_library_of(given: object, answer: pd.Series[Any] | pd.DataFrame) -> Any:
    """Return a Series or data frame of pandas in the library of the data that were given."""
    if not is_foreign(given):
        return answer
    import narwhals.stable.v2 as nw

    own = _opened_by_narwhals(given).implementation
    is_lazy = own.is_spark_like() or own.is_duckdb() or own.is_ibis()
    backend: Foreign = nw.Implementation.PYARROW if is_lazy else own
    if isinstance(answer, pd.Series):
        return nw.new_series(
            str(answer.name), *_values_and_type(answer), backend=backend
        ).to_native()
    names = [
        "_".join(map(str, name if isinstance(name, tuple) else (name,))) for name in answer.columns
    ]
    if len(set(names)) < len(names):
        raise ValueError(
            "newdata must be a pandas DataFrame if columns of the result have the same name as "
            f"text; got {type(given).__name__} and the names {listed(names)}. Convert it "
            "with .to_pandas()."
        )
    values, types = zip(*[_values_and_type(column) for _, column in answer.items()], strict=True)
    schema = dict(zip(names, types, strict=True))
    return nw.from_dict(dict(zip(names, values, strict=True)), schema, backend=backend).to_native()


def is_dask(data: object) -> bool:
    """Whether data is a Dask DataFrame, found without importing Dask."""
    return type(data).__module__.partition(".")[0] == "dask" and type(data).__name__ == "DataFrame"


def dask_frame_of(data: object) -> Any:
    """Return the Dask DataFrame, also of encoded data that stay there; None for other data."""
    frame = data if is_dask(data) else getattr(data, "dask_frame", None)
    return frame if is_dask(frame) else None


def is_foreign(data: object) -> bool:
    """Whether data may be a frame or a column of another library."""
    if isinstance(data, _OWN):
        return False
    return (
        hasattr(data, "__arrow_c_stream__") or type(data).__module__.partition(".")[0] in _MODULES
    )


def _opened_by_narwhals(data: object) -> Foreign:
    """Return a frame or Series wrapped by narwhals, from any object with Arrow's interface."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        name = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise ImportError(
            f"Data of type {name} require narwhals, which is not installed. Run pip install "
            "narwhals, or convert them to a pandas DataFrame."
        ) from None
    if type(data).__module__.partition(".")[0] == "narwhals":  # of any of its versions
        data = cast("Any", data).to_native()
    opened: Foreign = nw.from_native(data, allow_series=True, pass_through=True)
    if opened is data and hasattr(data, "__arrow_c_stream__"):
        opened = nw.from_arrow(data, backend="pyarrow")
    return opened


def _column_for_pandas(series: Foreign) -> Any:
    """Return a column as pandas has it: integers and bools with missing values are nullable."""
    dtype, implementation = series.dtype, series.implementation
    if implementation.is_pandas_like():
        return series.to_pandas().array
    if implementation.is_pyarrow() and str(dtype) == "Categorical":
        return categories_of_arrow(series.to_native())
    if dtype.is_float():
        return series.to_numpy()
    if not (dtype.is_integer() or str(dtype) == "Boolean") or str(dtype) in _WIDE:
        values = pd.Series(list(series.to_list()), dtype=object)
        categories = getattr(dtype, "categories", None)
        return values.array if categories is None else pd.Categorical(values, list(categories))
    filled = np.array(series.fill_null(0 if dtype.is_integer() else False).to_numpy())
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if not missing.any():
        return filled
    return (pd.arrays.IntegerArray if dtype.is_integer() else pd.arrays.BooleanArray)(
        filled, missing
    )


def categories_of_arrow(chunked: Foreign) -> pd.Categorical:
    """Return categories of Arrow, whose dictionary may repeat a label, as those of pandas."""
    labels = chunked.unify_dictionaries().combine_chunks().dictionary.to_pylist()
    known = dict.fromkeys(label for label in labels if label is not None)
    return pd.Categorical(
        list(chunked.to_pylist()), list(known), ordered=bool(chunked.type.ordered)
    )


def _values_and_type(column: pd.Series[Any]) -> tuple[object, Foreign]:
    """Return numbers or labels and their type; other labels as text, missing ones as None."""
    import narwhals.stable.v2 as nw

    if column.dtype.kind == "f":
        return column.to_numpy(), nw.Float64()
    labels = column.astype(object).where(column.notna(), None)
    types: dict[str, Foreign] = {"integer": nw.Int64(), "boolean": nw.Boolean()}
    kind = pd.api.types.infer_dtype(column.cat.categories)
    if kind in types:
        return labels.tolist(), types[kind]
    return [None if label is None else str(label) for label in labels], nw.String()


_WIDE = ("Int128", "UInt128")
"""Types of integers that NumPy does not know."""


# Records, rows of which each is a dict or a Series, before encoding.


Row: TypeAlias = "pd.Series[Any] | Mapping[Any, Any]"


@dataclass(frozen=True)
class Records(Opened[Dataset]):
    """Rows of which each is a dict or a Series; the values that a record omits are unknown."""

    rows: Sequence[Row]
    argument: str

    @property
    def columns(self) -> Sequence[Hashable]:
        return list(dict.fromkeys(name for row in self.rows for name, _ in row.items()))

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns, whose levels are their values; what a record omits is unknown."""
        names = tuple(self.columns if wanted.names is None else wanted.names)
        rows, argument, numeric = self.rows, self.argument, wanted.numeric_by_name()
        records = [_values_by_name(row, argument) for row in rows]
        for number, (row, record) in enumerate(zip(rows, records, strict=True)):
            is_column = isinstance(row, pd.Series) and row.name in names
            place = argument if len(rows) == 1 else f"{argument}[{number}]"
            _check_record(record, names, place, _IS_COLUMN if is_column else "")
            absent = [name for name in names if name not in record]
            for key in record if absent else ():
                similar = did_you_mean(key, absent) if key not in names else ""
                if similar:
                    warn(
                        f"{argument}: {shown(key)} is not a variable of the model and is ignored. "
                        f"{similar}"
                    )
        numbers, levels = dict[Hashable, ArrayOf[Any]](), list[tuple[Any, ...]]()
        codes = np.full((len(names), len(rows)), -1, dtype=code_type(len(rows)))
        for column, name in zip(codes, names, strict=True):
            values = [record.get(name) for record in records]
            if name in numeric and all(type(value) is float for value in values):
                numbers[name] = np.array(values, dtype=np.float64)
                check_finite(numbers[name], name, argument)
                levels.append(())
                continue
            if numeric.get(name):
                _check_no_text_or_flags(values, name, argument, rows)
            labels = dict.fromkeys(value for value in values if not is_missing(value))
            if name in numeric:
                # without pandas, whose objects take long for a single record
                array: ArrayOf[Any] = np.fromiter(values, dtype=object, count=len(values))
                if len(values) == 1 and isinstance(values[0], float | int | np.number):
                    array = np.array(values)
                read = read_numbers(array, name, argument, must=numeric[name])
                if read is not None:
                    numbers[name], labels = read, {}
            position = {label: code for code, label in enumerate(labels)}
            column[:] = [position.get(value, -1) for value in values]
            levels.append(tuple(labels))
        lacking = [[name not in record for record in records] for name in names]
        is_absent = np.array(lacking, dtype=bool).reshape(codes.shape)
        unknown = is_absent if is_absent.any() else None
        schema = Schema(names, tuple(levels))
        return Dataset(schema, codes, _index_of_records(rows), numbers=numbers, unsaid=unknown)

    @property
    def frame(self) -> pd.DataFrame:
        """The records as a data frame."""
        rows = [_values_by_name(row, self.argument) for row in self.rows]
        for row in rows:
            _check_scalar(row, row, self.argument)
        columns: list[pd.Series[Any]] = []
        for name in self.columns:
            values = pd.Series([row.get(name) for row in rows], dtype=object)
            is_integer = value_type(values) == "integer"  # which missing values do not change
            columns.append(pd.Series(values.tolist(), dtype="Int64" if is_integer else None))
        frame = pd.DataFrame(dict(enumerate(columns))).set_axis(_index_of_records(self.rows))
        return frame.set_axis(pd.Index(self.columns, tupleize_cols=False), axis="columns")


def _check_no_text_or_flags(
    values: Sequence[Any], name: Hashable, argument: str, rows: Sequence[Row]
) -> None:
    """Raise a TypeError if a value that must be a number is a text or a bool."""
    wrong = [value for value in values if isinstance(value, str | bool | np.bool_)]
    if not wrong:
        return
    column = f"{argument}: column {shown(name)}"
    text = next((value for value in wrong if isinstance(value, str)), None)
    if text is not None:
        advice = "Write numbers without quotes, with a decimal point."
        if any(isinstance(row, pd.Series) for row in rows):
            advice = "Convert the column of its table first, with pd.to_numeric."
        raise TypeError(f"{column} must be numeric; got text such as {shown(text)}. {advice}")
    raise TypeError(must_be(column, "numeric", wrong[0], "Write it as a number."))


_IS_COLUMN = "A Series is one row. Convert a column, with its to_frame()."


def _check_record(
    record: Mapping[Hashable, Any], names: Sequence[Hashable], argument: str, advice: str
) -> None:
    """Raise unless a record has some of the names, with one value each."""
    absent = [name for name in names if name not in record]
    if absent and len(absent) == len(names):
        hints = [
            advice,
            *(did_you_mean(key, names) for key in record),
            f"The model has {listed(names, most=20)}.",
        ]
        nothing = " If all values are unknown, pass their names as unknown."
        raise KeyError(
            f"{argument} must have a value of at least one variable of the model; got "
            f"{listed(record, most=8)}. {next(filter(None, hints))}"
            f"{nothing if argument in ('newdata', 'row') and not record else ''}"
        )
    _check_scalar(record, [name for name in names if name in record], argument)


def _values_by_name(row: Row, argument: str) -> dict[Hashable, Any]:
    if isinstance(row, pd.Series) and not row.index.is_unique:
        raise ValueError(
            f"{argument} must have one value per column; got a Series with repeated labels."
        )
    return {name: decimal_as_number(value) for name, value in row.items()}


def _check_scalar(values: Mapping[Hashable, Any], names: Iterable[Hashable], argument: str) -> None:
    for name in names:
        if not isinstance(values[name], Hashable):
            remedy = "A dict or Series is one row; for several rows, pass a pd.DataFrame."
            raise TypeError(must_be(argument, f"one value of {shown(name)}", values[name], remedy))


def is_missing(value: Any) -> bool:
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _index_of_records(rows: Sequence[Row]) -> pd.Index[Any]:
    """Return the names of rows that are Series or, if a row has none, row numbers."""
    labels = [row.name if isinstance(row, pd.Series) else None for row in rows]
    if None in labels or not labels:
        return pd.RangeIndex(len(rows))
    return pd.Index(labels, tupleize_cols=False)


# Columns of a data frame: their types, numbers, levels and codes, and weights.


ArrayLike = ExtensionArray | ArrayOf[Any]

# Inferred types of pandas for columns of numbers.
FLOATS = ("floating", "mixed-integer-float")
NUMBERS = (*FLOATS, "integer")

_WITH_INTEGERS = ("integer", "mixed-integer-float")

_TYPES = {"f": "floating", "i": "integer", "u": "integer", "b": "boolean"}


def is_arrow_dictionary(dtype: object) -> bool:
    """Whether values are categories of Arrow, as pandas reads with ``dtype_backend="pyarrow"``."""
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype).startswith("dictionary")


def value_type(column: pd.Series[Any] | ArrayLike) -> str:
    """Return the inferred type of pandas of a column; decimals are numbers like all others."""
    return column_and_type(column)[1]


def column_and_type(column: pd.Series[Any] | ArrayLike) -> tuple[Any, str]:
    """Return a column with Python numbers in place of decimals, and its type as in `value_type`."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column, type_of_categories(dtype.categories)
    if is_arrow_dictionary(dtype):
        return column, "categorical"
    if isinstance(dtype, pd.StringDtype):
        return column, "string"
    kind = _TYPES.get(dtype.kind) or _inferred_type(column)
    if isinstance(dtype, pd.SparseDtype) and kind == "unknown-array":
        return column_and_type(np.asarray(column))
    if kind in _WITH_DECIMALS:
        column = np.fromiter(map(decimal_as_number, column), dtype=object, count=len(column))
        kind = _inferred_type(column)
    if kind == "interval" and all(map(_is_label, pd.Series(column).dropna())):
        return pd.Categorical(column), "categorical"
    return column, str(dtype) if kind == "unknown-array" else kind


def type_of_categories(categories: pd.Index[Any]) -> str:
    """Return "categorical", or the inferred type of categories of which some cannot be labels."""
    is_plain = categories.dtype.kind in "biuf" or isinstance(categories.dtype, pd.StringDtype)
    if is_plain or all(map(_is_label, categories)):
        return "categorical"
    return pd.api.types.infer_dtype(categories)


def _is_label(value: object) -> bool:
    """Whether a value can be a level: text, a number, a tuple, or an interval of numbers."""
    if isinstance(value, pd.Interval):
        return isinstance(value.left, Real)
    return isinstance(value, str | Real | Decimal | tuple) or value is None


def _inferred_type(column: pd.Series[Any] | ArrayLike) -> str:
    values = column if isinstance(column, np.ndarray) else pd.Series(column, dtype=column.dtype)
    return pd.api.types.infer_dtype(values, skipna=True)


_WITH_DECIMALS = ("decimal", "mixed", "mixed-integer")
"""Inferred types of pandas for columns in which values can be decimals."""


def decimal_as_number(value: Any) -> Any:
    """Return a `decimal.Decimal` as an int, if whole, or a float, NaT as NaN, others unchanged."""
    if not isinstance(value, Decimal):
        return np.nan if value is pd.NaT else value
    if value.is_nan():
        return np.nan
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def categories_without_decimals(array: pd.Categorical) -> pd.Categorical:
    """Return categories with Python numbers in place of decimals."""
    if array.categories.dtype.kind != "O" or isinstance(array.categories.dtype, pd.StringDtype):
        return array
    labels = list(map(decimal_as_number, array.categories))
    if all(map(is_, labels, array.categories)):
        return array
    codes, distinct = pd.factorize(pd.Series(labels, dtype=object))
    recoded = np.append(codes, -1)[array.codes]
    return pd.Categorical.from_codes(recoded, categories=distinct, ordered=array.ordered)


def read_numbers(
    array: ArrayLike, name: Hashable, argument: str, *, must: bool, kind: str | None = None
) -> ArrayOf[Any] | None:
    """Return numbers as floats (large integers as objects); other values raise, or give None.

    Infinite numbers raise, because each is beyond any bound of the training
    data.
    """
    kind = value_type(array) if kind is None else kind
    if kind in NUMBERS:
        try:
            if isinstance(array, np.ndarray) and array.dtype.kind != "O":
                floats = array.astype(np.float64)
            else:
                floats = pd.Series(array).to_numpy(dtype=np.float64, na_value=np.nan)
        except ArithmeticError as error:
            raise ValueError(
                f"{argument}: column {shown(name)} must have numbers up to the largest float, "
                "1.8e308; got one that cannot be a float. Make it missing, or use logarithms."
            ) from error
        check_finite(floats, name, argument)
        # 2.0**53: above this bound, floats cannot represent every integer
        if kind in _WITH_INTEGERS and (np.abs(floats) >= 2.0**53).any():
            exact = np.array(array, dtype=object)
            exact[np.isnan(floats)] = None
            return exact
        return floats
    if not must:
        return None
    if pd.isna(array).all():
        return np.full(len(array), np.nan)
    text = next((value for value in array if isinstance(value, str)), None)
    is_text = text is not None and kind != "categorical"
    got = f"text such as {shown(text)}" if is_text else f"{kind} values"
    advice = conversion_advice(kind, NUMERIC, name, array, argument)
    raise TypeError(f"{argument}: column {shown(name)} must be numeric; got {got}. {advice}")


def labels_if_categories(numbers: ArrayOf[Any]) -> tuple[Any, ...]:
    """Return the distinct numbers of a column, ascending, if they are categories."""
    # 100: number of rows that are searched first for too many distinct values
    if len(pd.unique(numbers[:100])) > MOST_CODES + 1:  # one may be missing
        return ()
    values = pd.unique(numbers)
    labels = tuple(sorted({number_as_label(value) for value in values[~pd.isna(values)].tolist()}))
    return labels if are_categories(labels) else ()


def number_as_label(number: float) -> int | float:
    """Return a number as a Python number, a whole number as an int."""
    try:
        whole = int(number)
    except (OverflowError, ValueError):  # infinite, or NaN
        return float(number)
    return whole if whole == number else float(number)


def labels_and_codes_of_numbers(
    numbers: ArrayOf[Any], labels: tuple[Any, ...]
) -> tuple[tuple[Any, ...], Positions]:
    """Return the given labels, then the numbers not among them, and the code of each number."""
    codes, values = pd.factorize(numbers)
    found = [number_as_label(value) for value in values]
    levels = (*labels, *sorted(set(found).difference(labels)))
    position = {label: code for code, label in enumerate(levels)}
    # The last entry stands for missing values.
    lookup = np.array([*(position[label] for label in found), -1])
    return levels, lookup[codes]


def check_finite(values: Array, name: Hashable, argument: str) -> None:
    """Raise a ValueError that names a column with infinite numbers."""
    if np.isinf(values).any():
        raise ValueError(
            f"{argument}: column {shown(name)} must have finite numbers; got infinite ones. "
            f"{MAKE_FINITE}."
        )


MAKE_FINITE = (
    "Make them missing, with .replace([np.inf, -np.inf], np.nan), or replace them with a finite "
    "bound"
)
"""The remedy for infinite numbers."""


NUMERIC, CATEGORICAL, EITHER = 0, 1, 2
"""The expected type of a column, for `conversion_advice`."""

DATES = ("datetime64", "datetime", "date", "period")
TIMES = (*DATES, "time", "timedelta64", "timedelta")

CONVERSIONS: list[Callable[..., str]] = []
"""The function that says how to convert a column; the annex that checks data adds it."""


def conversion_advice(
    kind: str, expected: int, name: Hashable, array: ArrayLike, argument: str = "dataset"
) -> str:
    """Return a sentence on how to convert a column of another type to numbers, or to categories."""
    return CONVERSIONS[0](kind, expected, name, array, argument)


def is_column_name(weights: object) -> TypeGuard[Hashable]:
    return isinstance(weights, str | tuple) or np.ndim(cast("ArrayOf[Any]", weights)) == 0


def check_same_index(
    values: object, index: pd.Index[Any], argument: str, data: str = "dataset"
) -> None:
    """Raise a ValueError for a Series or a frame with another index than the data."""
    if isinstance(values, pd.Series | pd.DataFrame) and not values.index.equals(index):
        raise ValueError(
            f"{argument} must have the index of the data; got a {type(values).__name__} with "
            f"another one. Align it, with {argument}.loc[{data}.index], or pass .to_numpy() if its "
            "values are in the order of the rows."
        )


def check_not_reordered(y: object, rows: object) -> None:
    """Raise a ValueError if y has the row labels of a frame X in another order."""
    if not isinstance(rows, pd.DataFrame) or not isinstance(y, pd.Series | pd.DataFrame):
        return
    if len(y) == len(rows) and y.index.isin(rows.index).all() and rows.index.isin(y.index).all():
        check_same_index(y, rows.index, "y", "X")


def check_weights(
    weights: object, index: pd.Index[Any], argument: str = "weights", data: str = "dataset"
) -> Array:
    """Return a weight of 0 or more for each row, or raise."""
    check_same_index(weights, index, argument, data)
    numbers = np.asarray(weights)
    if numbers.dtype.kind not in "biuf":
        try:  # nullable types of pandas, decimals
            numbers = pd.Series(numbers, dtype=object).astype(float).to_numpy()
        except (TypeError, ValueError, OverflowError):
            raise TypeError(must_be(argument, "a number for each row", weights)) from None
    if numbers.shape != (len(index),):
        raise ValueError(
            f"{argument} must be one number for each of {len(index)} rows; got an array of shape "
            f"{numbers.shape}."
        )
    # A copy, because the caller may change the array.
    floats = numbers.astype(np.float64, copy=True)
    wrong = ~(np.isfinite(floats) & (floats >= 0))
    if wrong.any():
        raise ValueError(
            f"{argument} must be finite numbers of 0 or more; got {shown(numbers[wrong][0])} in "
            f"{np.count_nonzero(wrong)} of {len(index)} rows. To ignore a row, give it weight 0."
        )
    with np.errstate(over="ignore"):
        total = float(floats.sum())
    if not np.isfinite(total):
        raise ValueError(
            f"{argument} must have a finite sum; got weights up to {floats.max():g}. "
            "Divide them by a number."
        )
    return floats


def arrays_and_types(frame: pd.DataFrame) -> tuple[list[ArrayLike], list[str]]:
    """Return the values of columns, and their types as `value_type` infers them.

    Categories of Arrow become a Categorical, and decimals numbers of Python.
    """
    try:
        arrays = _arrays_in_blocks(frame)
    except AttributeError:
        arrays = _arrays_one_by_one(frame)
    types = ["categorical"] * len(arrays)
    for i, array in enumerate(arrays):
        if _is_array_of_floats(array):  # most numbers
            types[i] = "floating"
        elif type(array) is pd.Categorical:
            if id(array.dtype) not in _kept_levels:
                types[i] = type_of_categories(array.categories)
        elif is_arrow_dictionary(array.dtype):
            arrays[i] = categories_of_arrow(array.__arrow_array__())
        else:
            arrays[i], types[i] = column_and_type(array)
    return arrays, types


def _is_array_of_floats(array: ArrayLike) -> bool:
    return type(array) is np.ndarray and array.dtype.kind == "f"


def _arrays_in_blocks(frame: pd.DataFrame) -> list[Any]:
    """Return the arrays of columns from the blocks of pandas, which are not documented."""
    manager: Any = cast("Any", frame)._mgr
    blocks = list(map(attrgetter("values"), manager.blocks))
    places = zip(manager.blknos.tolist(), manager.blklocs.tolist(), strict=True)
    return [blocks[i] if blocks[i].ndim == 1 else blocks[i][row] for i, row in places]


def _arrays_one_by_one(frame: pd.DataFrame) -> list[Any]:
    """Return the arrays of columns from a Series per column, in five times the time."""
    columns = [column for _, column in frame.items()]
    return [c.array if is_extension_array_dtype(c) else c.to_numpy() for c in columns]


def encode_column(array: Any) -> tuple[tuple[Any, ...], ArrayOf[Any], bool]:
    """Return the levels and codes of one categorical column, and whether its levels are ordered.

    Codes can be those of the column itself: they must not be changed.
    """
    if isinstance(array, pd.Categorical):
        dtype = array.dtype
        kept = _kept_levels.get(id(dtype))
        if kept is not None and kept[0]() is dtype:
            return kept[1], _codes_of(array), kept[2]
        own, key = categories_without_decimals(array), id(dtype)
        levels, ordered = _labels_as_tuple(own.categories), bool(own.ordered)
        # 100: number of levels up to which those of a type, which never change, are kept
        if own is array and len(levels) <= 100:
            _kept_levels[key] = ref(dtype, lambda _: _kept_levels.pop(key, None)), levels, ordered
        return levels, _codes_of(own), ordered
    if isinstance(array, pd.arrays.ArrowStringArray):  # which pandas sorts slowly
        codes, labels = pd.factorize(cast("Any", array))
        texts = _labels_as_tuple(labels)
        order = sorted(range(len(texts)), key=texts.__getitem__)
        place = np.full(len(order) + 1, -1)  # the last one is the code of missing values
        place[order] = np.arange(len(order))
        return tuple([texts[i] for i in order]), place[codes], False
    codes, labels = pd.factorize(array, sort=True)
    levels = _labels_as_tuple(labels)
    if array.dtype.kind in "fO":  # whole numbers are written and compared as integers
        levels = tuple([int(x) if isinstance(x, float) and x.is_integer() else x for x in levels])
    return levels, codes, False


_kept_levels: dict[int, tuple[ref[pd.CategoricalDtype], tuple[Any, ...], bool]] = {}

# The property `codes` makes a view that cannot be written at each access.
_codes_of: Callable[[Any], ArrayOf[Any]] = attrgetter(
    "_ndarray" if hasattr(pd.Categorical, "_ndarray") else "codes"
)


def _labels_as_tuple(labels: Any) -> tuple[Any, ...]:
    array = getattr(labels, "array", labels)
    if isinstance(array, pd.arrays.ArrowStringArray):  # with a slow tolist
        return tuple(array.__arrow_array__().to_pylist())
    is_text = isinstance(labels.dtype, pd.StringDtype)
    if labels.dtype.kind == "O" and not is_text:
        return tuple(map(to_python_scalar, labels))
    return tuple(labels.tolist())


CATEGORIES = ("categorical", "string", "boolean", "integer")
"""Types of columns that are categorical without a check of their values."""


def check_categorical(
    columns: Mapping[Hashable, tuple[pd.Series[Any], str]],
    known: Mapping[Hashable, tuple[Hashable, ...]] | None,
    *,
    whole_floats: bool = False,
    argument: str = "dataset",
    numeric: Collection[Hashable] = (),
) -> None:
    """Raise a TypeError that names columns that are not categorical; new data can have floats.

    The ``columns``, with their types, are those whose type is not among
    `CATEGORIES`. Those that are ``numeric`` could have been numbers, too.
    """
    rejected: dict[str, list[Hashable]] = {}
    for name, (column, inferred) in columns.items():
        if column.isna().all():
            continue
        if inferred not in FLOATS:
            expected, types = CATEGORICAL, "categorical: category, text, bool or integer"
            if name in numeric:
                expected, types = EITHER, "numeric or categorical: number, category, text or bool"
            raise TypeError(
                f"column {shown(name)} must be {types}; got {inferred} values. "
                f"{conversion_advice(inferred, expected, name, column.array, argument)}"
            )
        try:
            numbers = column.dropna().to_numpy(dtype=float)
        except OverflowError:
            numbers = np.array([np.inf])
        kind = _WHOLE if (numbers == numbers.round()).all() else _FRACTIONS
        if np.isinf(numbers).any():
            kind = _INFINITE
        accepted = kind == _WHOLE and (whole_floats or known)
        if known and not accepted:
            accepted = any(isinstance(level, float | pd.Interval) for level in known[name])
        if not accepted:
            rejected.setdefault(kind, []).append(name)
    for kind, remedy in (_REMEDIES if known is None else _REMEDIES_OF_NEW).items():
        if kind in rejected:
            what = "column" if len(rejected[kind]) == 1 else "columns"
            raise TypeError(
                f"{what} {listed(rejected[kind])} must be categorical; got {kind}. {remedy}"
            )


_INFINITE = "infinite numbers"
_FRACTIONS = "numbers with fractions"
_WHOLE = "whole numbers of type float"

_REMEDIES = {
    _INFINITE: "Replace them with missing values, with .replace([np.inf, -np.inf], np.nan).",
    _FRACTIONS: (
        "Discretize them: training data with discretize(dataset, class_var=...), new data with the "
        "returned discretizer. bnc(..., smooth=1, discretize='mdlp') and BNCClassifier() do "
        "so within the model."
    ),
    _WHOLE: (
        "pandas uses this type for whole numbers if some are missing. If they are codes, convert "
        "them with .astype('Int64'); if they are measurements, discretize them with "
        "discretize(dataset, class_var=...) or bnc(..., smooth=1, discretize='mdlp')."
    ),
}
"""Remedies for floats in training data, the most serious case first."""

NUMBERS_ADVICE = f"{_FRACTIONS}. {_REMEDIES[_FRACTIONS]}"

_REMEDIES_OF_NEW = {
    _INFINITE: _REMEDIES[_INFINITE],
    _FRACTIONS: (
        "If the training data were discretized, apply the discretizer that discretize "
        "returned for them."
    ),
}


COLUMN_WARNINGS: dict[str, Callable[..., None]] = {}
"""What warns of "columns" and of "labels"; the annex that checks data adds it."""


def warn_of_columns(data: Dataset, class_var: Hashable, raw: Dataset | None = None) -> None:
    """Warn of serious findings about columns; numbers of ``raw`` data are read unprepared."""
    COLUMN_WARNINGS["columns"](data, class_var, raw)


def warn_of_labels(schema: Schema) -> None:
    """Warn of serious findings about labels of data that stay where they are."""
    COLUMN_WARNINGS["labels"](schema)


def warn_of_no_features(class_var: Hashable) -> None:
    """Warn that a model has no features."""
    warn(
        f"no feature remains, so {shown(class_var)} is always predicted as its most frequent "
        "label. Check whether a previous step dropped too many columns."
    )


# Data frames before encoding, and their encoding.


@dataclass(frozen=True)
class Frame(Opened[Dataset]):
    """A data frame with unique names of columns; errors about its values name the ``argument``.

    The ``cases`` of its rows, if any, are those of a `Dataset`.
    """

    frame: pd.DataFrame
    argument: str
    cases: Positions | None = None

    def __post_init__(self) -> None:
        if not self.frame.columns.is_unique:
            check_unique(self.frame.columns.tolist(), self.argument)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def index(self) -> pd.Index[Any]:
        return self.frame.index

    @cached_property
    def columns(self) -> Sequence[Hashable]:
        return self.frame.columns.tolist()

    @cached_property
    def _arrays_and_types(self) -> tuple[dict[Hashable, ArrayLike], dict[Hashable, str]]:
        arrays, types = arrays_and_types(self.frame)
        arrays_by_name = dict(zip(self.columns, arrays, strict=True))
        return arrays_by_name, dict(zip(self.columns, types, strict=True))

    @property
    def types(self) -> Mapping[Hashable, str]:
        return self._arrays_and_types[1]

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns in the given order."""
        names = wanted.check_names_of_columns(self.columns)
        data = self.encode_columns(names, known=wanted.known, numeric=wanted.numeric_by_name())
        check_without_mark(data.schema, wanted.known or {}, self.argument)
        return data

    def encode_columns(
        self,
        columns: Sequence[Hashable],
        *,
        known: Known | None = None,
        numeric: Mapping[Hashable, bool] = EMPTY,
        whole_floats: bool = False,
    ) -> Dataset:
        """Encode columns in the given order.

        In new data, with ``known`` levels, floats can be categories. The
        columns in ``numeric`` are read as numbers, without codes; columns that
        map to True must be numeric. With ``whole_floats``, whole numbers can be
        of type float, as in a chunk with missing values.
        """
        arrays, types = self._arrays_and_types
        numbers, floats = dict[Hashable, ArrayOf[Any]](), dict[Hashable, Array]()
        wanted = list(filter(numeric.__contains__, columns if numeric else ()))
        for block in slices(len(wanted), max(len(self), 1)):
            some = [name for name in wanted[block] if _is_array_of_floats(arrays[name])]
            together = np.array([arrays[name] for name in some], dtype=np.float64)
            if not np.isinf(together).any():
                floats |= zip(some, together, strict=True)
        for name in wanted:
            must, kind = numeric[name], types[name]
            read = floats.get(name)
            if read is None:
                read = read_numbers(arrays[name], name, self.argument, must=must, kind=kind)
            if read is not None:
                numbers[name] = read
        tested = {
            name: (pd.Series(arrays[name], dtype=arrays[name].dtype), types[name])
            for name in columns
            if types[name] not in CATEGORIES and name not in numbers
        }
        open_to = () if known else numeric
        check_categorical(
            tested, known, whole_floats=whole_floats, argument=self.argument, numeric=open_to
        )
        no_codes = np.full(len(self), -1, dtype=np.int8)
        of_number: tuple[Any, ...] = (), no_codes, False
        encoded = [of_number if n in numbers else encode_column(arrays[n]) for n in columns]
        levels, by_column, are_ordered = zip(*encoded, strict=True) if encoded else ((), (), ())
        narrow = code_type(max(map(len, levels), default=0))
        codes = np.concatenate([no_codes[:0], *by_column], dtype=narrow)
        schema = Schema(tuple(columns), levels, frozenset(compress(columns, are_ordered)))
        codes = codes.reshape(len(columns), len(self))
        return Dataset(schema, codes, self.index, numbers=numbers, cases=self.cases)

    def encode_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Dataset:
        chosen = set(columns)
        names = [name for name in self.columns if name in chosen]
        maybe_numbers = {name: False for name in names if name != class_var}
        data = self.encode(Columns(names, raw=maybe_numbers))
        codes: dict[Hashable, tuple[tuple[Any, ...], ArrayOf[Any]]] = {}
        for name, values in data.numbers.items():
            labels = () if name in coded else labels_if_categories(values)
            if labels:
                codes[name] = labels_and_codes_of_numbers(values, labels)
        both = self.encode_columns([name for name in data.numbers if name in coded])
        for name, levels, of_column in zip(both.columns, both.levels, both.codes, strict=True):
            codes[name] = levels, of_column
        return data.with_codes(codes)

    def split_off_column(self, column: Hashable) -> tuple[Frame, ArrayLike]:
        others = self.frame.drop(columns=[column])
        return Frame(others, self.argument, self.cases), self.frame[column].array


def _encode_with_weights(rows: OpenedData, weights: object) -> Countable:
    if rows.in_parts and isinstance(rows, Countable):
        raise TypeError(
            "weights must be None for encoded partitioned data. Pass the source to encode."
        )
    if rows.in_parts and not is_column_name(weights):
        raise TypeError(
            f"weights must be the name of a column if data are partitioned; got {shown(weights)}."
        )
    is_name = is_column_name(weights) and not isinstance(rows, Dataset)
    if is_name:
        check_columns([weights], rows.columns, "weights")
    if rows.in_parts:
        return rows.read(Columns(weights=weights))
    data: Any = rows
    if isinstance(rows, Frame):
        frame = rows
        if is_name:
            frame, weights = rows.split_off_column(weights)
        coded = [name for name, kind in frame.types.items() if kind == "integer"]
        data = frame.encode_raw(None, frame.columns, coded)
    encoded: Dataset = replace(data, weights=check_weights(weights, data.index))
    return encoded


def make_mark_missing(column: str) -> str:
    text = f"{column}.astype('string')"
    return f"Make it missing, with {column} = {text}.mask({column} == {MISSING!r}), or rename it"


def check_without_mark(schema: Schema, known: Known, argument: str) -> None:
    """Raise a ValueError for a label that is the name of missing values, if it is not known."""
    marked = [n for n, own in schema.levels_of.items() if n not in known and MISSING in own]
    if marked:
        raise ValueError(
            f"{argument} must not have the label {MISSING!r}, by which models call missing "
            f"values; got it in {listed(marked)}. "
            f"{make_mark_missing(f'{argument}[{marked[0]!r}]')}. With missing_level, models "
            "learn from missing values as a level."
        )


def check_unique(names: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if a column name is repeated."""
    if twice := repeated_items(names):
        raise ValueError(
            f"{argument} must have unique column names; got {listed(twice)} more than once. Rename "
            f"them, or keep the first, with {argument}.loc[:, ~{argument}.columns.duplicated()]."
        )


def check_have_levels(
    data: Countable | Schema, columns: Iterable[Hashable], targets: Sequence[Hashable] = ()
) -> None:
    """Raise a ValueError for columns without a level; a single target is the class."""
    if all(data.levels):
        return
    cards, positions = data.cards, data.positions
    empty = [name for name in columns if not cards[positions[name]]]
    if empty and isinstance(data, Dataset) and not len(data):
        raise ValueError("dataset must have rows; got none.")
    numeric = [name for name in empty if isinstance(data, Dataset) and name in data.numbers]
    if numeric:
        raise TypeError(f"column {listed(numeric)} must be categorical; got {NUMBERS_ADVICE}")
    if empty and len(targets) == 1 and targets[0] in empty:
        raise no_labels_error(targets)
    if empty:
        raise ValueError(
            f"dataset: all values are missing in {listed(empty)}. Drop these columns or, if this "
            "is a subset of the data, make them categorical before splitting."
        )


# Entrance of data of any source: recognizes its type, checks its columns and finds its levels.


OPENERS: list[Callable[[object, str, bool | None], OpenedData | None]] = []
"""Functions that open types of partitioned data, and return None for others.

Their arguments are the data, the argument's name in errors, and whether the
rows are read into memory: True, False, or None if they fit.
"""

Meaning: TypeAlias = Literal["frequencies", "cases"]


def with_groups_as_cases(
    dataset: OpenedData, groups: Any, targets: Collection[Hashable] = ()
) -> Frame | Dataset:
    """Return data in which each group of rows is a case, or raise.

    ``groups`` is the name of a column, but not of a target, which is split off,
    or one label per row.
    """
    rows, labels = dataset.check_in_memory("dataset"), foreign_to_pandas(groups)
    assert isinstance(rows, Frame | Dataset)
    if is_column_name(groups):
        if groups in targets:
            raise ValueError(f"groups must not be the class; got {shown(groups)}.")
        check_columns([groups], rows.columns, "groups")
        rows, labels = rows.split_off_column(groups)
    elif isinstance(labels, list | tuple) and all(isinstance(label, Hashable) for label in labels):
        # As an array, 1 and "1" would be the same, and NaN a label.
        labels = pd.Series(labels, dtype=object)
    else:
        check_same_index(labels, rows.index, "groups")
    if np.ndim(labels) != 1:
        raise TypeError(
            f"groups must be the name of a column or one label per row; got {shown(groups)}."
        )
    if len(labels) != len(rows):
        raise ValueError(
            f"groups must have one label for each of the {len(rows)} rows; got {len(labels)}."
        )
    group_of_row, _ = pd.factorize(pd.Series(labels))
    if missing := np.count_nonzero(group_of_row < 0):
        raise ValueError(
            f"groups must have a label for each row; got {missing} missing values. Give each of "
            "these rows a label of its own."
        )
    return replace(rows, cases=group_of_row)


def open_data(
    data: Any,
    argument: str = "dataset",
    *,
    or_rows: bool = False,
    in_memory: bool | None = None,
) -> OpenedData:
    """Open data of any source, or return opened ones: the only entrance; errors name the argument.

    If ``or_rows``, data can also be one or several records. Partitioned data
    are read into memory if ``in_memory`` or, if it is None, if they fit.
    """
    if isinstance(data, Opened):
        return data
    if isinstance(data, pd.DataFrame):
        return Frame(data, argument)
    records = [data] if isinstance(data, pd.Series | Mapping) else data
    may_be = or_rows and isinstance(records, list) and (records or argument != "dataset")
    if may_be and all(isinstance(row, pd.Series | Mapping) for row in records):
        return Records(records, argument)
    for open_parts in OPENERS:
        parts = open_parts(data, argument, in_memory)
        if parts is not None:
            return parts
    frame = foreign_to_pandas(data)
    if isinstance(frame, pd.DataFrame):
        return Frame(frame, argument)
    rows = ", one row as a Series or a dict, or a list of rows" if or_rows else ""
    expected = f"{argument} must be a pandas DataFrame{rows}"
    raise TypeError(f"{expected}; got {type(data).__name__}.{_how_to_convert(data)}")


def open_rows(newdata: Any, argument: str = "newdata") -> Opened[Dataset]:
    """Open rows in memory, which can also be records; errors name the argument."""
    return open_data(newdata, argument, or_rows=True).check_in_memory(argument)


def is_partitioned(data: object) -> bool:
    return any(open_parts(data, "data", False) is not None for open_parts in OPENERS)


def frame_of(data: Any, argument: str, *, or_row: bool = False) -> pd.DataFrame:
    """Return data, or one row, as a data frame of pandas; raise for other data."""
    rows = open_data(data, argument, or_rows=or_row).check_in_memory(argument)
    if isinstance(rows, Dataset):
        raise TypeError(
            f"{argument} must be a pandas DataFrame; got Dataset. Its columns are categories "
            "already; pass the data frame that it was encoded from."
        )
    assert isinstance(rows, Frame | Records)
    return rows.frame


_READERS = {
    "parquet": "read_parquet",
    "feather": "read_feather",
    "json": "read_json",
    "xlsx": "read_excel",
}
"""The functions of pandas that read files, by ending; others are text in columns."""


def _how_to_convert(data: object) -> str:
    for method in ("compute", "to_pandas", "to_frame"):
        if hasattr(data, method):
            return f" Call its {method}()."
    absent = [name for name in ("names", "declared", "reduce") if not hasattr(data, name)]
    if len(absent) == 1:
        return f" A source of data must also have {listed(absent)}."
    if isinstance(data, str | PathLike):
        ending = str(data).rpartition(".")[2].lower()
        reader = _READERS.get(ending, "read_csv")
        return f" Read the file first, with pd.{reader}({shorten_text(str(data), 200)!r})."
    if isinstance(data, Hashable) and not isinstance(data, tuple):
        return ""
    return " Make one with pd.DataFrame(data, columns=names)."


# Encoding of data once for many calls: weights, cases and a level for missing values.


@overload
def encode(
    frame: AnyTable | Countable,
    *,
    weights: Any = None,
    weights_are: Meaning | None = None,
    missing_level: Any = False,
    in_memory: Literal[False],
) -> Any: ...
@overload
def encode(
    frame: AnyTable,
    *,
    weights: Any = None,
    weights_are: Meaning | None = None,
    missing_level: Any = False,
    in_memory: bool | None = None,
) -> Dataset: ...
@with_call_advice("Pass weights by name: encode(frame, weights=name).")
def encode(
    frame: Any,
    *,
    weights: Any = None,
    weights_are: Meaning | None = None,
    missing_level: Any = False,
    in_memory: bool | None = None,
) -> Any:
    """Encode categorical data as integers, once for many calls.

    Every function of the package accepts a data frame or the result of this
    function. Encoding first saves time if several functions use the same data,
    and can assign weights to rows, as in a table of frequencies.

    Parameters
    ----------
    frame : pandas.DataFrame or another frame, Dataset, or partitioned data
        Columns of type category (levels in the order of the categories,
        including unobserved ones), text, bool or integer (levels sorted).
        Missing values are NaN, None or pd.NA.
    weights : str or array-like of numbers, optional
        Weight of each row, 0 or more: one number per row, or the name of a
        column, which is not used as a feature. All counts are sums of weights,
        so whole weights are equivalent to repeated rows.
    weights_are : {"frequencies", "cases"}, default "frequencies"
        Meaning of the weights. Frequencies are numbers of equal rows. "cases"
        are survey or importance weights: each row is a case that is held out as
        a whole, and weights are scaled to sum to the effective number of rows,
        (Σw)² / Σw² (Kish). Penalties, tests and intervals use this number.
    missing_level : bool or list of str, default False
        If True, missing values become a level "(missing)" in each column with
        missing values, in these data and in new data; a list names exactly the
        columns. Name the features if the class has missing values.
    in_memory : bool, optional
        Whether partitioned data are read into memory. By default, they are if
        their codes need at most 1 GiB. If False, the rows stay where they are.

    Returns
    -------
    Dataset or Partitions
        Codes, levels and weights, in memory. For partitioned data that stay
        where they are, Partitions, which has no rows.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column contains numbers with fractions, dates, or values of several
        types, a weight is missing, infinite or below 0, or a column has a level
        "(missing)" already.

    Notes
    -----
    With the extra ``frames``, data frames of other libraries are also accepted:
    a polars DataFrame or LazyFrame, an Arrow table, a DuckDB relation, and all
    that narwhals or the interface of Arrow supports. `predict` and `cv_predict`
    return the type of the data, all other functions return pandas.

    Partitioned data are a Dask DataFrame, a function that returns a new
    iterator of data frames at each call, such as ``lambda: pd.read_csv(path,
    chunksize=100_000)``, a list of data frames, or a table of ibis. Their rows
    are read once, part by part, and kept as codes, with one byte per label and
    eight per number with fractions. Weights are the name of a column, or one
    number per row.

    Data that do not fit in memory, and with ``in_memory=False`` all partitioned
    data, stay where they are: chunks are counted in turn, partitions of Dask by
    their workers, and tables by GROUP BY queries. Functions that only count
    accept them, with the same results: `nb`, `tan_cl`, `chow_liu`, `kdb_mi`,
    `hc`, `aode`, `lp`, `update`, and scores such as `BIC`. Weights are then the
    name of a column. All other functions raise an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import encode
    >>> counted = pd.DataFrame({"sex": ["f", "f", "m", "m"], "survived": ["no", "yes", "no", "yes"],
    ...                         "people": [126, 344, 1364, 367]})
    >>> data = encode(counted, weights="people", weights_are="frequencies")
    >>> data
    Dataset: 4 rows that count 2,201, 2 columns, 0 missing values
    """
    if weights_are is not None:
        OneOf(("frequencies", "cases")).check("weights_are", weights_are)
        if weights is None:
            raise ValueError("weights must be given if weights_are is given; got None.")
    opened: Any = open_data(
        frame, "frame", in_memory=Optional(Flag()).check("in_memory", in_memory)
    )
    if weights is not None:
        opened = _encode_with_weights(opened, weights)
    data = opened if isinstance(opened, Countable) else opened.read()
    if isinstance(data, Dataset) and weights is not None:
        data = rows_as_cases(data) if weights_are == "cases" else data
        positive = data.with_positive_weights().weights
        if weights_are is None and positive is not None:
            has_fractions, total = bool((positive % 1).any()), float(positive.sum())
            # 10: weight per row from which weights are probably not frequencies
            many = total > 10 * len(positive)
            if has_fractions or (many and not pd.DataFrame(data.codes.T).duplicated().any()):
                found = f"sum to {total:,.0f} in {len(positive):,} rows"
                warn(
                    f"weights {'have fractions' if has_fractions else found}, and are used as "
                    "frequencies, that is, numbers of equal rows. Use weights_are='cases' for "
                    "survey weights, or weights_are='frequencies' for frequencies."
                )
    elif weights_are == "cases":
        raise TypeError(
            "weights_are must be 'frequencies' if rows stay where they are; got 'cases'. Use "
            "in_memory=True."
        )
    if missing_level is False:
        return data
    if missing_level is True:
        chosen = [name for name, gaps in zip(data.columns, data.incomplete, strict=True) if gaps]
    else:
        chosen = list(Names().check("missing_level", missing_level))
        check_columns(chosen, data.columns, "missing_level")
    check_can_add_missing_level(data, chosen)
    return data.with_missing_level(chosen)


def rows_as_cases(data: Data) -> Data:
    """Return data in which each row is a case, of weights that sum to the effective row number."""
    assert data.weights is not None
    size = data.weights.max(initial=0.0) or 1.0
    weights: Array = data.weights / size
    scale = float(weights.sum()) / max(float(np.square(weights).sum()), 1e-300)
    return replace(data, weights=weights * scale, cases=np.arange(len(data)))


def check_can_add_missing_level(data: Countable, chosen: Collection[Hashable]) -> None:
    """Raise if missing values of chosen columns cannot be a level: they are numbers, or have it."""
    levels_of = data.schema.levels_of
    if numeric := [name for name in chosen if name in data.numbers and not levels_of[name]]:
        raise TypeError(
            f"missing_level must name categorical columns; got {listed(numeric)}. "
            "Discretize it first."
        )
    if twice := [name for name in chosen if MISSING in levels_of[name]]:
        raise ValueError(
            f"missing_level must not name columns with a level {MISSING!r}; got "
            f"{listed(twice)}. Rename it."
        )


# Preparation of training data, once per call: checks, encoding, choice of columns, numbers.


class NoRowsError(ValueError):
    """Raised if no rows or labels remain."""


@dataclass(frozen=True, eq=False, repr=False)
class TrainingData(Dataset):
    """Training rows: the features, then the targets. A single target is observed in all rows.

    ``order`` lists the columns in their original order, and ``with_unknown``
    has all rows if some lack the only target.
    """

    targets: tuple[Hashable, ...] = ()
    order: tuple[Hashable, ...] = ()
    with_unknown: Dataset | None = None

    @property
    def with_unlabeled_rows(self) -> Dataset:
        return self if self.with_unknown is None else self.with_unknown

    @property
    def is_row_labeled(self) -> Mask:
        """Which rows have the only target; all rows if there are several targets."""
        codes = self.with_unlabeled_rows.codes[-1]
        return np.asarray((codes >= 0) | (len(self.targets) != 1))

    def select(self, columns: Sequence[Hashable]) -> Self:
        with_unknown = self.with_unknown and self.with_unknown.select(columns)
        return replace(super().select(columns), with_unknown=with_unknown)


L = TypeVar("L", bound=Callable[..., Any])


def prepare_training_data(
    dataset: AnyTable | Countable | OpenedData,
    targets: tuple[Hashable, ...],
    features: Iterable[Hashable] | None = None,
    *,
    rows_needed: bool = False,
    known: Known | None = None,
    preparation: Prepare | None = None,
    numeric: Numeric = (),
    warns: bool = True,
    named_by: str = "class_var",
) -> Countable:
    """Read data to learn from them, or raise: the first line of functions that learn.

    The columns are the ``features`` (by default, all) in the order of the data,
    then the ``targets``. Data prepared for the same targets are returned, with
    the ``features``. Data that stay where they are raise an error if
    ``rows_needed``. The ``known`` levels, for example of a model, need not occur
    in the data. A ``preparation`` converts raw columns to categories, and
    ``numeric`` columns are kept as numbers. If ``warns`` is False, rows without a
    class and wide columns cause no warning.
    """
    for target in targets:
        check_column_name(target, named_by)
    wanted = None if features is None else check_feature_names(features, targets)
    opened = open_data(dataset)
    if rows_needed:
        opened = opened.check_in_memory("dataset")
    if preparation:
        opened = opened.prepared(preparation, known or {})
    names, order = _features_and_column_order(opened.columns, targets, wanted, named_by)
    opened, numbers = opened.data_and_numeric_features(numeric, names, targets)
    if isinstance(opened, Countable) and opened.targets == targets:
        kept = opened.columns_as_numbers(numbers) if isinstance(opened, TrainingData) else opened
        columns = kept.columns if wanted is None else (*wanted, *targets)
        order = tuple(filter(set(columns).__contains__, kept.order))
        return kept if columns == kept.columns else replace(kept.select(columns), order=order)
    class_var = targets[0] if len(targets) == 1 else None
    if warns and wanted is None and not names and class_var is not None:
        warn_of_no_features(class_var)
    data = opened.read(Columns((*names, *targets), known, numbers, required=class_var))
    _check_no_missing_level(data.schema, targets, named_by)
    has_checked_levels = isinstance(opened, Countable) and (
        opened.in_parts or isinstance(opened, TrainingData)
    )
    if not has_checked_levels:
        given = {*(known or ()), *numbers}
        check_have_levels(data, [name for name in data.columns if name not in given], targets)
    if not isinstance(data, Dataset):
        if wanted is None and warns:
            warn_of_labels(data.schema)
        counted: Any = data  # where it is
        prepared: Countable = counted.prepared_for(targets, order, warns)
        return prepared
    if wanted is None and warns:
        warn_of_columns(data, class_var)
    rows = data.rows_with_known(class_var)
    unlabeled = class_var is None and bool((data.codes[-len(targets) :] < 0).all())
    check_rows_remain(targets, len(data), 0 if unlabeled else len(rows), rows.size, warns)
    content = {field.name: getattr(rows, field.name) for field in fields(Dataset)}
    with_unknown = None if rows is data else data
    return TrainingData(**content, targets=targets, order=order, with_unknown=with_unknown)


def prepare_training_rows(
    dataset: AnyTable | Countable,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
    numeric: Numeric = (),
) -> TrainingData:
    """Prepare data with their rows in memory, or raise; see `prepare_training_data`."""
    targets = (class_var,)
    data = prepare_training_data(dataset, targets, features, rows_needed=True, numeric=numeric)
    assert isinstance(data, TrainingData)
    return data


def _features_and_column_order(
    columns: Sequence[Hashable],
    targets: Sequence[Hashable],
    wanted: Sequence[Hashable] | None,
    named_by: str,
) -> tuple[list[Hashable], tuple[Hashable, ...]]:
    """Return the features, and the features and targets in the order of the data, or raise."""
    check_columns(targets, columns, named_by)
    chosen = columns if wanted is None else check_columns(wanted, columns, "features")
    kept = {*chosen, *targets}
    order = tuple([name for name in columns if name in kept])
    return [name for name in order if name not in targets], order


def _check_no_missing_level(schema: Schema, targets: Sequence[Hashable], argument: str) -> None:
    for target in targets:
        if schema.levels_of[target][-1:] == (MISSING,):
            raise ValueError(
                f"{argument} must not have the level {MISSING!r}. Name only "
                "features in missing_level."
            )


def check_rows_remain(
    targets: Sequence[Hashable], rows: int, kept: int, size: float, warns: bool
) -> None:
    """Raise if no rows remain, and warn of rows that were dropped because they have no class."""
    if not rows:
        raise NoRowsError("dataset must have rows; got none.")
    if not kept:
        raise no_labels_error(targets)
    if not size:
        raise NoRowsError("dataset must have rows with a positive weight; all weights are 0.")
    if kept < rows and warns:
        warn(f"{rows - kept} of {rows} rows have no class {shown(targets[0])} and are ignored")


def mark_as_averaging(learner: L) -> L:
    """Mark a learner that averages over `Countable.codings`, or does not depend on the data."""
    vars(learner)["averages_codings"] = True
    return learner


def schema_and_features(
    dataset: AnyTable | Countable | None,
    class_var: Hashable,
    features: Iterable[Hashable] | None,
    *,
    numeric: bool = False,
) -> tuple[Schema | None, tuple[Hashable, ...]]:
    """Return the schema of data, if data are given, and the features, for a fixed structure."""
    check_column_name(class_var)
    wanted = None if features is None else check_feature_names(features, (class_var,))
    if dataset is None:
        return None, wanted or ()
    data = open_data(dataset)
    if isinstance(data, Countable) and data.targets == (class_var,) and wanted is None:
        return data.schema.select(data.order), data.features
    chosen, columns = _features_and_column_order(data.columns, (class_var,), wanted, "class_var")
    if data.in_parts:
        learnable = prepare_training_data(data, (class_var,), wanted)
        return learnable.schema.select(learnable.order), learnable.features
    if wanted is None and not chosen:
        warn_of_no_features(class_var)
    types, data = data.types if numeric else {}, data.check_in_memory("dataset")
    floats = {name for name in chosen if types.get(name) in FLOATS}
    if floats:
        found = data.encode_raw(class_var, columns, {*columns} - floats).select(columns)
    else:
        found = data.read(Columns(columns)).select(columns)
    numbers = found.numbers if numeric else {}
    coded = [name for name in columns if name not in numbers or pd.isna(numbers[name]).all()]
    check_have_levels(found, coded, (class_var,))
    _check_no_missing_level(found.schema, (class_var,), "class_var")
    if wanted is None:
        warn_of_columns(found, class_var)
    return found.schema, tuple(chosen)
