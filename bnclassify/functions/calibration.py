"""Calibration of posterior probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, first_best
from ..base.checks import OneOf
from ..base.messages import listed, shown
from ..metrics.metrics import bin_sums

_NORMAL_95 = 1.959963984540054
_ROUNDED = 0.01  # posteriors that were rounded for people to read will do


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities in intervals that have rows, and shares of rows of the class; (bins,) arrays.

    `target` is None for the most probable class of each row; `low` and `high` are Wilson's intervals of 95 %
    confidence of the shares, and `band` (2, bins) contains 95 % of the shares of calibrated posteriors.
    """

    target: Any
    rows: Array
    predicted: Array
    actual: Array
    low: Array
    high: Array
    band: Array


def weigh_calibration(
    posteriors: pd.DataFrame, actual: pd.Series[Any], *, bins: int, target: Any = None
) -> Calibration:
    """Bin the probabilities of a class: by default the rarer of two, or the most probable of several."""
    p, codes = check_posteriors(posteriors, actual)
    classes = list(posteriors.columns)
    if target is not None:
        OneOf(classes).check("target", target)
    if target is None and len(classes) == 2:
        target = classes[int(np.bincount(codes, minlength=2).argmin())]
    best = first_best(p) if target is None else np.full(len(p), classes.index(target))
    chosen, right = p[np.arange(len(p)), best], best == codes
    sums = bin_sums(chosen, right, bins, np.ones(len(p)))
    variances = bin_sums(chosen, right, bins, chosen * (1 - chosen))[0, sums[0] > 0]
    rows, *totals = sums[:, sums[0] > 0]
    means, shares = totals / rows
    middle = (shares + _NORMAL_95**2 / (2 * rows)) / (1 + _NORMAL_95**2 / rows)
    reach = np.sqrt(shares * (1 - shares) / rows + _NORMAL_95**2 / (4 * rows**2)) * _NORMAL_95
    reach /= 1 + _NORMAL_95**2 / rows
    spread = _NORMAL_95 * np.sqrt(variances) / rows
    band = np.clip([means - spread, means + spread], 0, 1)
    return Calibration(target, rows, means, shares, middle - reach, middle + reach, band)


def check_posteriors(posteriors: object, actual: object) -> tuple[Array, Codes]:
    """Return posteriors as an array and the codes of the actual classes among its columns, or raise."""
    if not isinstance(posteriors, pd.DataFrame):
        raise TypeError(
            "posteriors must be a DataFrame with one column per class, as cv_predict(x, df) and predict(x, "
            f"df, prob=True) return; got {type(posteriors).__name__}."
        )
    if not posteriors.columns.is_unique:
        raise ValueError(
            "posteriors must have one column per class; some names of columns occur more than once."
        )
    if np.ndim(cast("Any", actual)) != 1:
        raise TypeError(f"actual must be the class of each row; got {shown(actual)}.")
    labels = pd.Series(np.asarray(actual, dtype=object), dtype=object)
    if isinstance(actual, pd.Series) and not actual.index.equals(posteriors.index):
        raise ValueError(
            "posteriors and actual must have the same index. Align them, or pass actual.to_numpy()."
        )
    if len(labels) != len(posteriors) or not len(labels):
        raise ValueError(
            "posteriors and actual must have the same number of rows, at least one; got "
            f"{len(posteriors)} and {len(labels)}."
        )
    codes = posteriors.columns.get_indexer(pd.Index(labels, dtype=object))
    if (codes < 0).any():
        raise ValueError(
            f"actual must be classes among the columns of posteriors, {listed(posteriors.columns)}; got "
            f"{listed(labels[codes < 0].unique())}."
        )
    p = posteriors.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    if not (p.min() >= 0 and np.allclose(p.sum(axis=1), 1, rtol=0, atol=_ROUNDED)):
        raise ValueError("posteriors must be probabilities that sum to 1 in every row.")
    return p, codes
