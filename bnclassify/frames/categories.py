"""Which columns hold categories, and what is said of those that do not."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.messages import listed, shown
from .numeric import CATEGORICAL, FLOATS, ArrayLike, advice_on, value_type


def check_categorical(
    columns: Mapping[Hashable, ArrayLike], known: Mapping[Hashable, tuple[Any, ...]] | None
) -> None:
    """Raise a TypeError that names every column whose values are no categories.

    In new data, for which the levels that are ``known`` are given by column, numbers of type float are
    categories too where they are whole, or where numbers with fractions are known.
    """
    rejected: dict[str, list[Hashable]] = {}
    for name, array in columns.items():
        if not isinstance(array, pd.Categorical):
            kind = _number_kind(name, pd.Series(array, dtype=array.dtype))
            if kind and not (known is not None and _may_be_known(kind, known[name])):
                rejected.setdefault(kind, []).append(name)
    for kind, advice in (_NO_LABELS if known is None else _NO_KNOWN_LABELS).items():
        if kind in rejected:
            raise TypeError(f"column {listed(rejected[kind])}: expected categories, got {advice}")


def _number_kind(name: Hashable, column: pd.Series[Any]) -> str:
    """Return what numbers of type float a column holds, nothing if it holds categories, or raise."""
    kind = value_type(column)
    if kind in ("string", "boolean", "integer") or column.isna().all():
        return ""
    if kind not in FLOATS:
        raise TypeError(
            f"column {shown(name)}: expected one type of categories (category, text, bool or integer), got "
            f"{kind} values; {advice_on(kind, CATEGORICAL)}"
        )
    numbers = _floats(column.dropna())
    if np.isinf(numbers).any():
        return "infinite"
    return "whole" if (numbers == numbers.round()).all() else "fractions"


def _may_be_known(kind: str, levels: tuple[Any, ...]) -> bool:
    """Whether numbers of type float may be among levels: whole ones always, as they are compared."""
    return kind == "whole" or any(isinstance(level, float | Decimal) for level in levels)


NUMBERS_ADVICE = (
    "numbers with fractions; discretize them first: training data with discretize(dataset, class_var=...), "
    "new data with the discretizer that it returns; bnc(..., discretize='averaged') and BNCClassifier() "
    "learn models that discretize numbers themselves"
)

_NO_LABELS = {
    "infinite": (
        "numbers with infinite ones among them; make those missing with .replace([np.inf, -np.inf], np.nan), "
        "then discretize the column with discretize(dataset, class_var=...) or make categories of codes with "
        ".astype('Int64')"
    ),
    "fractions": NUMBERS_ADVICE,
    "whole": (
        "whole numbers of type float (pandas makes them so where some are missing); convert them with "
        ".astype('Int64'), or all with dataset.convert_dtypes(), if they are codes, cut them into intervals "
        "with discretize(dataset, class_var=...) if they are measurements"
    ),
}
"""What is said of numbers of type float in data to learn from, the worst first."""

_NO_KNOWN_LABELS = {
    "infinite": (
        "numbers with infinite ones among them; make those missing with .replace([np.inf, -np.inf], np.nan)"
    ),
    "fractions": (
        "numbers with fractions, which the model does not know; if the training data was cut into intervals, "
        "cut new data with the discretizer that discretize returned for it"
    ),
}
"""What is said of them in new data."""


def _floats(numbers: pd.Series[Any]) -> Array:
    """Return numbers as floats; those too great for one are infinite."""
    try:
        return numbers.to_numpy(dtype=float)
    except OverflowError:
        return np.array([float(Decimal(number)) for number in numbers])
