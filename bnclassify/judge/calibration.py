"""Calibration of posterior probabilities."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..frames import check_unique, foreign_to_pandas
from ..metrics import (
    bin_means,
    bin_sums,
    calibration_error,
    calibration_noise,
    ends_of_equal_width,
)
from ..tools import special
from ..tools.arrays import Array, Codes, Mask, first_best
from ..tools.checks import Instance, OneOf, Whole
from ..tools.messages import listed
from .accuracy import check_no_dataset, check_same_rows

MOST_BINS = 10_000
_LEAST = float(np.finfo(float).eps)  # minimum distance of probabilities from 0 and 1
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities in intervals with rows, shares, Wilson's 95 % limits, 95 % `band`; (bins,)."""

    target: Any
    rows: Array
    predicted: Array
    actual: Array
    low: Array
    high: Array
    band: Array


def bin_class_probabilities(
    posteriors: pd.DataFrame,
    actual: pd.Series[Any],
    *,
    bins: int,
    strategy: str,
    target: Hashable = None,
) -> Calibration:
    """Bin the probabilities of a class: by default the last of two, or the most probable one."""
    p, codes, names = check_posteriors(posteriors, actual)
    classes: list[Hashable] = list(names)
    if target is not None:
        OneOf(classes).check("target", target)
    if target is None and len(classes) == 2:
        target = classes[1]
    best = first_best(p) if target is None else np.full(len(p), classes.index(target))
    chosen: Array = p[np.arange(len(p)), best]
    right: Mask = best == codes
    ends = ends_of_bins(chosen, bins, strategy)
    rows, means, shares = bin_means(bin_sums(chosen, right, ends, np.ones(len(p))))
    variances = bin_means(bin_sums(chosen, right, ends, chosen * (1 - chosen)))[0]
    spread: Array = _NORMAL_95 * np.sqrt(variances) / rows
    band: Array = np.clip([means - spread, means + spread], 0, 1)
    # Wilson's limits of 5 in 10 rows: 0.237 and 0.763
    extra = _NORMAL_95**2 / rows
    middle: Array = (shares + extra / 2) / (1 + extra)
    reach: Array = np.sqrt(extra * shares * (1 - shares) + extra**2 / 4) / (1 + extra)
    limits = middle - reach, middle + reach
    return Calibration(target, rows, means, shares, *limits, band)


def ends_of_bins(probabilities: Array, bins: int, strategy: str) -> Array:
    """Return the inner ends of intervals of equal width, or of equally many rows but for ties."""
    shares = ends_of_equal_width(Whole(least=1, most=MOST_BINS).check("bins", bins))
    if OneOf(("width", "quantile")).check("strategy", strategy) == "width":
        return shares
    return np.unique(np.quantile(probabilities, shares, method="inverted_cdf"))


def calibration(
    posteriors: pd.DataFrame, actual: pd.Series[Any], *, bins: int = 10, strategy: str = "width"
) -> pd.DataFrame:
    """Measure the calibration of posteriors, each class against the others.

    Parameters
    ----------
    posteriors : pandas.DataFrame
        Posterior probabilities with one column per class, for example from
        `cv_predict`. Posteriors of training rows are too optimistic.
    actual : pandas.Series
        Class of each row.
    bins : int, default 10
        Number of intervals of the probability.
    strategy : {"width", "quantile"}, default "width"
        Intervals of equal width, or with equal numbers of rows, except for
        ties.

    Returns
    -------
    pandas.DataFrame
        One row per class. Columns:

        - ``intercept`` and ``slope`` of the log odds of the class against the
          log odds of its posterior; 0 and 1 if posteriors are calibrated. A
          slope below 1 means that posteriors are too extreme
        - ``brier``, the mean squared error of the posterior (with two classes,
          "brier" of `cv`), and its parts: it is ``reliability`` −
          ``resolution`` + ``uncertainty`` + ``within_bins``
        - ``calibration_error``, the mean difference between posterior and share
          of the class over the bins, and ``expected_error``, its value for
          calibrated posteriors with the same number of rows

    Raises
    ------
    KeyError, TypeError, ValueError
        If `posteriors` do not sum to 1, or the rows of the two differ.

    Notes
    -----
    With N_b rows in bin b, their mean posterior p_b, the share y_b of the class
    in them and its share y in all rows, the parts of the Brier score [1]_ are Σ
    N_b/N (p_b − y_b)² (reliability, lower is better), Σ N_b/N (y_b − y)²
    (resolution, higher is better) and y(1 − y) (uncertainty); ``within_bins``
    is the remainder, which is 0 if all posteriors in a bin are equal. If a
    threshold of the posterior separates the class from the others, the slope is
    infinite.

    References
    ----------
    .. [1] Murphy, A. H. (1973). A new vector partition of the probability
       score. Journal of Applied Meteorology 12.

    Examples
    --------
    >>> from bnclassify import calibration, cv_predict, load_voting, lp, nb
    >>> voting = load_voting()
    >>> model = lp(nb("Class", voting), voting, smooth=1)
    >>> found = calibration(cv_predict(model, voting, rng=0), voting["Class"]).loc["republican"]
    >>> found[["slope", "reliability", "calibration_error", "expected_error"]].round(2).tolist()
    [0.21, 0.02, 0.09, 0.01]
    """
    p, codes, names = check_posteriors(posteriors, actual)
    rows = []
    for i in range(len(names)):
        probabilities, right = p[:, i], codes == i
        ends = ends_of_bins(probabilities, bins, strategy)
        intercept, slope = _fit_log_odds(probabilities, right)
        sums = bin_sums(probabilities, right, ends, np.ones(len(right)))
        n, means, shares = bin_means(sums)
        share, brier = float(right.mean()), float(np.mean((probabilities - right) ** 2))
        reliability, resolution = [
            float(n @ d**2) / len(right) for d in (means - shares, shares - share)
        ]
        uncertainty = share * (1 - share)
        rows.append(
            {
                "intercept": intercept,
                "slope": slope,
                "brier": brier,
                "reliability": reliability,
                "resolution": resolution,
                "uncertainty": uncertainty,
                "within_bins": brier - reliability + resolution - uncertainty,
                "calibration_error": calibration_error(sums),
                "expected_error": calibration_noise(sums),
            }
        )
    return pd.DataFrame(rows, names)


def _fit_log_odds(probabilities: Array, right: Mask) -> tuple[float, float]:
    """Return intercept and slope of a logistic regression on the log odds of probabilities."""
    from scipy.optimize import minimize  # slow to import

    x = special.logit(np.clip(probabilities, _LEAST, 1 - _LEAST))
    if right.all() or not right.any() or np.ptp(x) == 0:
        return np.nan, np.nan
    for sign in (1.0, -1.0):
        if (sign * x[right]).min() >= (sign * x[~right]).max():
            return np.nan, sign * np.inf
    design = np.column_stack([np.ones(len(x)), x])

    def loss_and_gradient(beta: Array) -> tuple[float, Array]:
        odds = design @ beta
        gradient = design.T @ (special.expit(odds) - right)
        return float(np.logaddexp(0, odds).sum() - odds[right].sum()), gradient

    def hessian(beta: Array) -> Array:
        share = special.expit(design @ beta)
        return (design.T * (share * (1 - share))) @ design

    search: Any = {"jac": True, "hess": hessian, "method": "trust-exact"}
    found = minimize(loss_and_gradient, [0.0, 1.0], options={"gtol": 1e-9}, **search)
    return float(found.x[0]), float(found.x[1])


def check_posteriors(
    posteriors: pd.DataFrame, actual: pd.Series[Any]
) -> tuple[Array, Codes, pd.Index[Any]]:
    """Return posteriors as an array, the codes of the actual classes and the classes, or raise."""
    given, posteriors, actual = posteriors, foreign_to_pandas(posteriors), foreign_to_pandas(actual)
    expected = (
        "a DataFrame with one column per class, as cv_predict(x, df) and predict(x, "
        "df, prob=True) return"
    )
    Instance(pd.DataFrame, expected).check("posteriors", posteriors)
    check_unique(posteriors.columns.tolist(), "posteriors")
    check_no_dataset("actual", actual)
    if isinstance(actual, pd.DataFrame):
        raise TypeError(
            "actual must be labels; got DataFrame. Pass its column of the class: df[class_var]."
        )
    check_same_rows(posteriors, actual, "posteriors and actual")
    labels = pd.Series(np.asarray(actual, dtype=object), dtype=object)
    if given is not posteriors:  # in other libraries, the names of columns are text
        labels = labels.map(str)
    codes = posteriors.columns.get_indexer(pd.Index(labels, dtype=object))
    if (codes < 0).any():
        raise ValueError(
            "actual must be classes among the columns of posteriors, "
            f"{listed(posteriors.columns)}; got {listed(labels[codes < 0].unique(), most=8)}."
        )
    p: Array = posteriors.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    # 0.01: tolerance for rounded posteriors
    if not (p.min() >= 0 and np.allclose(p.sum(axis=1), 1, rtol=0, atol=0.01)):
        raise ValueError("posteriors must be probabilities that sum to 1 in every row.")
    return p, codes, posteriors.columns
