"""Columns of numbers: which there are, what they hold, and which of them are cut by default."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.messages import listed, shown

# What pandas calls the values of a column of numbers.
FLOATS = ("floating", "mixed-integer-float", "decimal")
NUMBERS = (*FLOATS, "integer")

MOST_CODES = 10
"""Whole numbers of up to so many values are taken for codes, which stay categories."""

_BEGINNING = 100
"""Rows at the beginning of a column, which mostly tell that it holds more values than that."""

_MOST_EXACT = 2.0**53
"""From here on, floats skip integers."""


def kind_of(column: pd.Series[Any]) -> str:
    """Return what pandas calls the values of a column."""
    return pd.api.types.infer_dtype(column, skipna=True)


def labels_to_keep(column: pd.Series[Any]) -> tuple[Any, ...]:
    """Return the different numbers of a column, ascending, if it has so few that they are categories.

    Those are two numbers whatever they are, and whole numbers up to ``MOST_CODES``; else it is empty.
    """
    if len(column.array[:_BEGINNING].unique()) > MOST_CODES + 1:  # one may be what is missing
        return ()
    values = column.dropna().unique().tolist()
    if len(values) > MOST_CODES:
        return ()
    labels = tuple(sorted({as_label(value) for value in values}))
    whole = all(isinstance(label, int) for label in labels)
    return labels if whole or len(labels) <= 2 else ()


def as_label(number: Any) -> int | float:
    """Return a number as Python's own, whole ones as integers.

    >>> from decimal import Decimal
    >>> as_label(np.float64(3)), as_label(Decimal("0.5"))
    (3, 0.5)
    """
    try:
        whole = int(number)
    except (OverflowError, ValueError):  # infinite, or none
        return float(number)
    return whole if whole == number else float(number)


def as_floats(column: pd.Series[Any], argument: str) -> Array:
    """Return a column of numbers as floats, NaN where they are missing, or raise."""
    kind = kind_of(column)
    if kind in NUMBERS:
        try:
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        except OverflowError as error:
            raise ValueError(
                f"{argument}: column {shown(column.name)}: an integer is beyond the greatest float, 1.8e308; "
                "make it missing, or take logarithms"
            ) from error
    if column.isna().all():
        return np.full(len(column), np.nan)
    advice = _OTHER_KINDS.get(kind, "make numbers of them, or leave the column out")
    raise TypeError(f"{argument}: column {shown(column.name)}: expected numbers, got {kind} values; {advice}")


def check_finite(numbers: Mapping[Hashable, Array]) -> None:
    """Raise a ValueError that names the columns with infinite numbers."""
    infinite = [name for name, values in numbers.items() if np.isinf(values).any()]
    if infinite:
        raise ValueError(
            f"dataset: infinite numbers in {listed(infinite)}, which no cut point can be chosen by; "
            "make them missing, or great finite numbers"
        )


def check_exact(columns: Mapping[Hashable, pd.Series[Any]], numbers: Mapping[Hashable, Array]) -> None:
    """Raise a ValueError that names the columns of integers that floats do not tell apart."""
    great = [
        name
        for name, values in numbers.items()
        if kind_of(columns[name]) == "integer" and (np.abs(values) >= _MOST_EXACT).any()
    ]
    if great:
        raise ValueError(
            f"dataset: integers of 2**53 or more in {listed(great)}, which floats do not tell apart; take "
            "a number from them or divide them, and if they are codes, make them categories or leave them out"
        )


_TEXT = "make numbers of text with pd.to_numeric(..., errors='coerce')"
_DATE = "make numbers of dates, for example the year with .dt.year, or the days since a first date"
_TIME = "make numbers of them with pd.to_timedelta(...).dt.total_seconds()"

_OTHER_KINDS = {
    "string": _TEXT,
    "mixed": _TEXT,
    "mixed-integer": _TEXT,
    "categorical": "what is cut already needs no cutting",
    "interval": "what is cut already needs no cutting",
    "boolean": "truth values are categories and need no cutting",
    "datetime64": _DATE,
    "datetime": _DATE,
    "date": _DATE,
    "period": _DATE,
    "timedelta64": _TIME,
    "timedelta": _TIME,
    "complex": "take one number of each, for example its absolute value with .abs()",
}
