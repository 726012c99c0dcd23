"""The choice whether missing values are a level, by the prediction of held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import sqrt
from typing import Any

import numpy as np

from ..base.arrays import Array
from ..frames.schema import Dataset
from ..recipe.cases import in_order
from ..recipe.default import TERMS
from ..recipe.leave_one_out import LeaveOneOut
from ..recipe.prior import BackOff

_MOST_ROWS = 5_000

Learn = Callable[[Dataset, bool], tuple[Any, Any]]
"""Returns naive Bayes and the rows prepared for it, from raw rows, with or without the level."""


def wants_missing_level(raw: Dataset, class_var: Hashable, learn: Learn) -> bool:
    """Whether held-out rows are predicted better with the level by more than a standard error.

    The rows, at most 5,000, are predicted by naive Bayes with weights, each without the row.
    """
    rows = raw.counting()
    rows = rows.taken(rows.codes[rows.positions[class_var]] >= 0)
    data = in_order(rows.select([name for name in rows.columns if name != class_var] + [class_var]))
    data = data.taken(np.unique(np.linspace(0, len(data) - 1, min(len(data), _MOST_ROWS)).astype(np.intp)))
    if np.ptp(data.codes[-1]) == 0 or len(data) < 2:
        return False
    without, with_level = [_held_out(*learn(data, level)) for level in (False, True)]
    if without.shape != with_level.shape:
        return False
    weights = np.ones(len(data)) if data.weights is None else data.weights
    gain, n = with_level - without, weights.sum()
    mean = weights @ gain / n
    return bool(mean > sqrt(weights @ (gain - mean) ** 2 / n / n))


def _held_out(x: Any, data: Any) -> Array:
    """Return ln P(class) of each row without it, (rows,)."""
    return LeaveOneOut(terms=TERMS).held_out(x, data, BackOff())
