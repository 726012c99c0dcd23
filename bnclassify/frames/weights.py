"""How often rows count: weights that a column or an array holds, checked."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.checks import is_among
from ..base.messages import shown, suggestion


def names_column(weights: Any) -> bool:
    """Whether weights are told by the name of a column, and not one by one."""
    return isinstance(weights, str | tuple) or np.ndim(weights) == 0


def weight_column(frame: pd.DataFrame, name: Hashable) -> pd.Series[Any]:
    """Return the column of weights, or raise a KeyError."""
    names = frame.columns.tolist()
    if not is_among(name, names):
        raise KeyError(f"weights: no column {shown(name)} in the data; {suggestion(name, names)}")
    return frame[name]


def check_weights(weights: Any, index: pd.Index[Any], argument: str = "weights") -> Array:
    """Return a weight of 0 or more for each row, or raise."""
    if isinstance(weights, pd.Series) and not weights.index.equals(index):
        raise ValueError(
            f"{argument}: the index of the Series differs from that of the data; align it, or pass "
            ".to_numpy() if its numbers are in the order of the rows"
        )
    numbers = np.asarray(weights)
    if numbers.dtype.kind not in "biuf":
        try:  # nullable types of pandas, decimals
            numbers = pd.Series(numbers).astype(float).to_numpy()
        except (TypeError, ValueError):
            raise TypeError(f"{argument}: expected a number for each row, got {shown(weights)}") from None
    if numbers.shape != (len(index),):
        raise ValueError(
            f"{argument}: expected a number for each of {len(index)} rows, got an array of shape "
            f"{numbers.shape}"
        )
    floats = numbers.astype(np.float64, copy=True)  # not a view of what the caller may change
    wrong = ~(np.isfinite(floats) & (floats >= 0))
    if wrong.any():
        raise ValueError(
            f"{argument}: expected finite numbers of 0 or more, got {shown(numbers[wrong][0])} in "
            f"{np.count_nonzero(wrong)} of {len(index)} rows; a row that shall not count has 0"
        )
    return floats
