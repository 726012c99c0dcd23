"""Metrics: how good the posteriors of rows are whose classes are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan, sqrt
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, first_best, log_normalize
from ..base.messages import plain, shown, suggestion
from .outcomes import Outcome

CALIBRATION_BINS = 15
_LEAST = float(np.finfo(np.float64).eps)

Weights: TypeAlias = Array | None


@dataclass(frozen=True)
class Metric:
    """A function of what a model says of rows and of what they are.

    Attributes
    ----------
    name : str
    measure : callable
        Takes the log joint of the rows and classes, (rows, classes), the codes of the true
        classes, (rows,), at least one, and optionally the weights of the rows, above 0 or None; returns
        a number.
    is_loss : bool
        Whether less is better.
    """

    name: str
    measure: Callable[..., float]
    is_loss: bool = False

    def judge(self, outcome: Outcome) -> float:
        """Return the figure of an outcome; rows that do not count are left out."""
        return self.of_rows(outcome.logs, outcome.actual, outcome.weights)

    def of_rows(self, logs: Array, actual: Codes, weights: Weights) -> float:
        """Return the figure of rows, some of which may have weight 0; NaN if none counts."""
        if weights is None:
            return self.measure(logs, actual)
        logs, actual, weights = rows_that_count(logs, actual, weights)
        return self.measure(logs, actual, weights) if len(weights) else nan


def rows_that_count(logs: Array, actual: Codes, weights: Array) -> tuple[Array, Codes, Array]:
    """Return what is known of the rows of positive weight."""
    counted = weights > 0
    return logs[counted], actual[counted], weights[counted]


@dataclass(frozen=True)
class OwnMetric:
    """A user's function of labelled posteriors and labelled classes.

    It is apart from `Metric` because labels cost more than most metrics do.
    """

    name: str
    function: Callable[[pd.DataFrame, pd.Series[Any]], float]

    def judge(self, outcome: Outcome) -> float:
        """Return the figure of an outcome, from copies that the function may do with as it likes."""
        if outcome.weights is not None:
            raise ValueError(
                f"metric: {self.name} is not told how often rows count, and these have weights; take a "
                "metric by name, or rows without weights"
            )
        figure = plain(self.function(outcome.posteriors.copy(), outcome.truth.copy()))
        if isinstance(figure, bool) or not isinstance(figure, Real):
            raise TypeError(
                f"metric: {self.name} returned {type(figure).__name__}, expected a number; it is given the "
                "posteriors, a DataFrame with a column a class, and the actual classes, a Series"
            )
        return float(figure)


AnyMetric: TypeAlias = Metric | OwnMetric


def find_metric(metric: object) -> AnyMetric:
    """Return a metric given by name or as a function of posteriors and actual classes, or raise.

    >>> find_metric("brier").is_loss
    True
    """
    if isinstance(metric, Metric | OwnMetric):
        return metric
    if callable(metric):
        function = metric.func if isinstance(metric, partial) else metric
        return OwnMetric(getattr(function, "__name__", type(function).__name__), metric)
    if not isinstance(metric, str):
        raise TypeError(
            "metric: expected a name, a function (posteriors, actual) -> number, or a list of such, "
            f"got {shown(metric)}"
        )
    if metric not in METRICS:
        raise ValueError(
            f"metric: expected the name of one or a function (posteriors, actual) -> number, got "
            f"{shown(metric)}; {suggestion(metric, METRICS)}"
        )
    return METRICS[metric]


def bin_by(
    probability: Array, right: NDArray[np.bool_], bins: int, weights: Weights = None
) -> tuple[Array, Array, Array]:
    """Gather probabilities in intervals (0, 1/bins], (1/bins, 2/bins], ..., the first with 0 in it.

    Returns
    -------
    three (bins,) arrays
        The number of rows, the mean probability and the share that was right; NaN where no row is.
    """
    inner = np.arange(1, bins) / bins
    bin_numbers = np.searchsorted(inner, probability, side="left")
    rows = _sums(bin_numbers, bins, None, weights)
    with np.errstate(invalid="ignore"):
        return (
            rows,
            _sums(bin_numbers, bins, probability, weights) / rows,
            _sums(bin_numbers, bins, right, weights) / rows,
        )


def _posteriors(logs: Array) -> Array:
    return np.exp(log_normalize(logs))


def entries_at(table: Array, codes: Codes) -> Array:
    """Return from each row the entry of its class."""
    return np.take_along_axis(table, codes[:, None].astype(np.intp), axis=1)[:, 0]


def _sums(codes: Codes, n_classes: int, amounts: Array | NDArray[np.bool_] | None, weights: Weights) -> Array:
    """Return the sum over the rows of each class of amounts, 1 by default, as often as rows count."""
    if amounts is not None and weights is not None:
        amounts = amounts * weights
    return np.bincount(codes, weights=weights if amounts is None else amounts, minlength=n_classes).astype(
        float
    )


def _accuracy(logs: Array, actual: Codes, weights: Weights = None) -> float:
    return float(np.average(first_best(logs) == actual, weights=weights))


def _balanced_accuracy(logs: Array, actual: Codes, weights: Weights = None) -> float:
    """Mean over classes of the share of their rows that is right; classes without rows are left out."""
    n_classes = logs.shape[1]
    rows = _sums(actual, n_classes, None, weights)
    right = _sums(actual, n_classes, first_best(logs) == actual, weights)
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


def _log_loss(logs: Array, actual: Codes, weights: Weights = None) -> float:
    """Mean of −ln P(true class)."""
    true_logs = np.maximum(entries_at(log_normalize(logs), actual), np.log(_LEAST))
    return float(-np.average(true_logs, weights=weights))


def _brier(logs: Array, actual: Codes, weights: Weights = None) -> float:
    """Mean of Σ_c (P(c) − 1[c])²."""
    p = _posteriors(logs)
    p[np.arange(len(p)), actual] -= 1
    return float(np.average((p**2).sum(axis=1), weights=weights))


def _auc(logs: Array, actual: Codes, weights: Weights = None) -> float:
    """Chance that a row of a class is given more of it than another row, ties half; mean by class shares."""
    p, w = _posteriors(logs), np.ones(len(logs)) if weights is None else weights
    n_classes = p.shape[1]
    if n_classes == 2:
        # One area is the other, but near 1 the numbers of a float are farther apart than near 0.
        p[:, 0] = -p[:, 1]
    class_weights = _sums(actual, n_classes, None, w)
    ranked = np.flatnonzero((class_weights > 0) & (class_weights < class_weights.sum()))
    if not len(ranked):
        return nan
    areas = [_area(p[:, c], actual == c, w) for c in ranked]
    return float(np.average(areas, weights=class_weights[ranked]))


def _area(scores: Array, is_positive: NDArray[np.bool_], weights: Array) -> float:
    """Return the share of pairs of a row inside and one outside in which the one inside scores more."""
    _, rank = np.unique(scores, return_inverse=True)
    positives, negatives = (np.bincount(rank, weights=weights * mask) for mask in (is_positive, ~is_positive))
    below = np.cumsum(negatives) - negatives / 2  # of those that tie, half
    return float(positives @ below / (positives.sum() * negatives.sum()))


def _calibration_error(logs: Array, actual: Codes, weights: Weights = None) -> float:
    """Mean difference of what the likeliest class was given and how often it was right, by bins."""
    p, best = _posteriors(logs), first_best(logs)
    rows, probability, correct = bin_by(entries_at(p, best), best == actual, CALIBRATION_BINS, weights)
    filled = rows > 0
    return float(np.average(np.abs(probability - correct)[filled], weights=rows[filled]))


def _rmse(logs: Array, actual: Codes, weights: Weights = None) -> float:
    """Root of the mean of (1 − P(true class))²."""
    return sqrt(np.average((1 - entries_at(_posteriors(logs), actual)) ** 2, weights=weights))


ACCURACY = Metric("accuracy", _accuracy)

METRICS = {
    metric.name: metric
    for metric in (
        ACCURACY,
        Metric("balanced_accuracy", _balanced_accuracy),
        Metric("log_loss", _log_loss, is_loss=True),
        Metric("brier", _brier, is_loss=True),
        Metric("auc", _auc),
        Metric("calibration_error", _calibration_error, is_loss=True),
        Metric("rmse", _rmse, is_loss=True),
    )
}
"""The metrics that are called by name."""
