"""Columns of numbers: how they are recognized and read, and whether they are categories."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, TypeGuard, cast

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from ..tools.arrays import Array, ArrayOf, Positions
from ..tools.checks import must_be
from ..tools.messages import USUAL_SHARE, listed, share_of_known_values, shown, warn

ArrayLike = ExtensionArray | ArrayOf[Any]

# Inferred types of pandas for columns of numbers.
FLOATS = ("floating", "mixed-integer-float")
NUMBERS = (*FLOATS, "integer")

MOST_CODES = 10
"""Maximum number of distinct whole numbers in a column of codes, which stay categories."""


_WITH_INTEGERS = ("integer", "mixed-integer-float")

_TYPES = {"f": "floating", "i": "integer", "u": "integer", "b": "boolean"}


def is_categorical(dtype: object) -> bool:
    """Whether values are categories of pandas or of Arrow."""
    return isinstance(dtype, pd.CategoricalDtype) or is_arrow_dictionary(dtype)


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
    if all(map(operator.is_, labels, array.categories)):
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


def is_column_name(weights: object) -> TypeGuard[Hashable]:
    """Whether weights are the name of a column."""
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


def as_floats(numbers: ArrayOf[Any]) -> Array:
    """Return numbers as floats, including integers that floats cannot distinguish."""
    return numbers if numbers.dtype == np.float64 else numbers.astype(np.float64)


def levels_as_floats(name: Hashable, labels: tuple[Any, ...]) -> list[float]:
    """Return the levels of a column as floats, or raise if they are not numbers."""
    if any(isinstance(label, bool) or not isinstance(label, Real) for label in labels):
        raise TypeError(
            f"column {shown(name)} must hold numbers; got the levels {listed(labels)}. Exclude it "
            "from numbers, or convert it, for example with pd.to_numeric."
        )
    return [float(label) for label in labels]


def warn_of_distant_numbers(
    numbers: Mapping[Hashable, ArrayOf[Any]], ranges: Mapping[Hashable, tuple[float, float]]
) -> None:
    """Warn of columns in which many numbers are far from those of the training data.

    A number is far if it lies outside the range of training by more than the
    width of this range; a column of a single number has no width.
    """
    for name in numbers.keys() & ranges.keys():
        values, (low, high) = as_floats(numbers[name]), ranges[name]
        width = high - low
        is_far = (values < low - width) | (values > high + width)
        n_far = int(np.count_nonzero(is_far))
        if not n_far or not width:
            continue
        n_known = int(np.count_nonzero(~np.isnan(values)))
        if n_far > USUAL_SHARE * n_known:
            value = float(values[is_far.argmax()])
            example = number_as_label(value) if abs(value) < 1e15 else value
            warn(
                f"column {shown(name)}: {share_of_known_values(n_far, n_known)}, such as "
                f"{shown(example)}, are far outside of the range of the training data, "
                f"{low:.6g} to {high:.6g}. Check their unit."
            )


def labels_if_categories(numbers: ArrayOf[Any]) -> tuple[Any, ...]:
    """Return the distinct numbers of a column, ascending, if they are categories."""
    # 100: number of rows that are searched first for too many distinct values
    if len(pd.unique(numbers[:100])) > MOST_CODES + 1:  # one may be missing
        return ()
    values = pd.unique(numbers)
    labels = tuple(sorted({number_as_label(value) for value in values[~pd.isna(values)].tolist()}))
    return labels if are_categories(labels) else ()


def are_categories(labels: tuple[Any, ...]) -> bool:
    """Whether numbers are categories: at most two values, or ``MOST_CODES`` whole numbers."""
    return len(labels) <= 2 or (
        len(labels) <= MOST_CODES and all(isinstance(x, int) for x in labels)
    )


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


def check_exact_integers(numbers: Mapping[Hashable, ArrayOf[Any]]) -> None:
    """Raise a ValueError that names the columns of integers that floats cannot distinguish."""
    large = [name for name, values in numbers.items() if values.dtype == object]
    if large:
        raise ValueError(
            f"dataset must have integers below 2**53, which floats represent; got larger ones in "
            f"{listed(large)}. "
            "Subtract a number from them or divide them, or make them categories if they are codes."
        )


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


def check_class_type(column: pd.Series[Any]) -> None:
    """Raise a TypeError if the class consists of dates or times, or of numbers of type float."""
    got = f"class_var must be categorical; got {shown(column.name)}, which has"
    kind = value_type(column)
    if kind in TIMES:
        raise TypeError(f"{got} {kind} values. {how_to_label(column.name)}.")
    if kind in FLOATS and column.notna().any():
        to = label_dtype(column.dropna())
        raise TypeError(
            f"{got} numbers of type float. If they are codes, use .astype('{to}'); if they are "
            "measurements, bin them with pd.cut."
        )


def how_to_label(name: Hashable) -> str:
    """Return how to make labels of a class of dates or times."""
    column = f"dataset[{name!r}]"
    return f"Make them labels, with {column} = {column}.astype('string')"


def label_dtype(numbers: Iterable[Any]) -> str:
    """Return the type of pandas for labels that are written as numbers of type float."""
    return "string" if any(number % 1 > 0 for number in numbers) else "Int64"
