"""Advice on how to convert a column of another type, which errors about columns contain."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real

import pandas as pd

from ..dataset import MOST_CODES
from ..frames import (
    CATEGORICAL,
    CONVERSIONS,
    DATES,
    EITHER,
    NUMERIC,
    TIMES,
    ArrayLike,
    decimal_as_number,
)
from .dates import how_to_split_dates
from .texts import find_number_format, how_to_read_numbers

_MINUTES = "{0}.map(lambda t: 60 * t.hour + t.minute, na_action='ignore').astype('Int64')"
_SECONDS = "pd.to_timedelta({0}).dt.total_seconds()"
_DECODED = "{0}.map(bytes.decode, na_action='ignore')"  # .str is not available for bytes of Arrow
_AS_FLOATS = "{0}.map(float, na_action='ignore')"
_AS_INTEGERS = "{0}.map(int, na_action='ignore').astype('Int64')"


_CODE = {
    "time": (_MINUTES, "{0}.map(lambda t: t.hour, na_action='ignore').astype('Int64')"),
    **dict.fromkeys(
        ["timedelta64", "timedelta"], (_SECONDS, f"pd.cut({_SECONDS}, 5).astype('string')")
    ),
    "bytes": (f"pd.to_numeric({_DECODED})", _DECODED),
    "categorical": ("{0}.astype(float)", ""),
    "boolean": (_AS_FLOATS, ""),
}
"""Code that converts a column, {0}, of another type to numbers, and to categories."""


def how_to_convert_column(
    kind: str, expected: int, name: Hashable, array: ArrayLike, argument: str = "dataset"
) -> str:
    """Return a sentence on how to convert a column of another type to numbers, or to categories.

    If it can be either, times and spans become numbers, and all others
    categories.
    """
    known = [decimal_as_number(value) for value in array[pd.notna(array)]]
    labels = [value for value in known if isinstance(value, str | Real)]
    texts = list(dict.fromkeys(map(str, labels)))
    are_numbers = find_number_format(texts) is not None
    if expected == NUMERIC and kind in ("categorical", "interval") and not are_numbers:
        return "Pass the numbers, not their intervals."
    if any(isinstance(label, str) for label in labels) and (
        expected == NUMERIC or (are_numbers and len(texts) > MOST_CODES)
    ):
        return how_to_read_numbers(texts, name, argument)
    if kind in DATES:
        is_whole = expected == CATEGORICAL and len(known) < len(array)
        return f"{how_to_split_dates(name, array, argument, is_whole=is_whole)}."
    column = f"{argument}[{name!r}]"
    others: tuple[str, str] = "", "{0}.map(str, na_action='ignore')"
    if all(isinstance(value, Real) for value in known):  # such as fractions, or flags and numbers
        others = (_AS_FLOATS if any(value % 1 for value in known) else _AS_INTEGERS,) * 2
    if expected == EITHER:
        expected = NUMERIC if kind in TIMES else CATEGORICAL
    code = _CODE.get(kind, others)[expected].format(column)
    if not code:
        return "Convert them to numbers."
    is_part = kind == "time" and expected == CATEGORICAL
    part = "Extract a part that repeats, for example" if is_part else "Convert them,"
    return f"{part} with {column} = {code}."


CONVERSIONS.append(how_to_convert_column)
