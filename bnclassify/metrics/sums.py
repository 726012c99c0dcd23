"""Metrics as functions of sums over rows, so that rows may lie in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..base.arrays import Array, Codes, first_best, log_normalize
from .metrics import CALIBRATION_BINS, entries_at, rows_that_count
from .outcomes import Outcome

_LEAST = float(np.finfo(np.float64).eps)


class Summed(NamedTuple):
    """A metric in two steps.

    Attributes
    ----------
    add_up : callable
        Takes the log joint, (rows, classes), the codes of the true classes and the weights of rows; returns
        sums over the rows, (sums, …).
    finish : callable
        Takes these, of all rows.
    """

    add_up: Callable[[Array, Codes, Array], Array]
    finish: Callable[[Array], float]


def sums_over_rows(metric: str, outcome: Outcome) -> Array:
    """Return the sums that a metric is made of."""
    weights = np.ones(len(outcome.actual)) if outcome.weights is None else outcome.weights
    return SUMMED[metric].add_up(*rows_that_count(outcome.logs, outcome.actual, weights))


def finish(metric: str, sums: Array) -> float:
    """Return the figure of a metric from sums over all rows; NaN if there are none."""
    with np.errstate(invalid="ignore"):
        return SUMMED[metric].finish(sums)


def _by_class(amounts: Array, actual: Codes, classes: int) -> Array:
    return np.bincount(actual, weights=amounts, minlength=classes).astype(np.float64)


def _right(logs: Array, actual: Codes, weights: Array) -> Array:
    """Rows of each class that are right, and all of them."""
    right = weights * (first_best(logs) == actual)
    return np.stack([_by_class(amounts, actual, logs.shape[1]) for amounts in (right, weights)])


def _log_losses(logs: Array, actual: Codes, weights: Array) -> Array:
    losses = -np.maximum(entries_at(log_normalize(logs), actual), np.log(_LEAST))
    return np.array([losses @ weights, weights.sum()])


def _squares(logs: Array, actual: Codes, weights: Array) -> Array:
    p = np.exp(log_normalize(logs))
    p[np.arange(len(p)), actual] -= 1
    return np.array([(p**2).sum(axis=1) @ weights, weights.sum()])


def _shortfalls(logs: Array, actual: Codes, weights: Array) -> Array:
    lacking = 1 - entries_at(np.exp(log_normalize(logs)), actual)
    return np.array([lacking**2 @ weights, weights.sum()])


def _bins(logs: Array, actual: Codes, weights: Array) -> Array:
    """Rows of each bin of the likeliest class's probability, the sum of that, and those that are right."""
    p, best = np.exp(log_normalize(logs)), first_best(logs)
    top = entries_at(p, best)
    bin_numbers = np.searchsorted(np.arange(1, CALIBRATION_BINS) / CALIBRATION_BINS, top, side="left")
    amounts = (weights, weights * top, weights * (best == actual))
    return np.stack([_by_class(amount, bin_numbers, CALIBRATION_BINS) for amount in amounts])


def _mean(sums: Array) -> float:
    return float(sums[0] / sums[1])


def _share_of_all(sums: Array) -> float:
    return float(sums[0].sum() / sums[1].sum())


def _mean_share(sums: Array) -> float:
    right, rows = sums[:, sums[1] > 0]
    return float(np.mean(right / rows)) if len(rows) else np.nan


def _calibration(sums: Array) -> float:
    rows, probability, correct = sums[:, sums[0] > 0]
    return float(np.abs(probability - correct).sum() / rows.sum())


SUMMED = {
    "accuracy": Summed(_right, _share_of_all),
    "balanced_accuracy": Summed(_right, _mean_share),
    "log_loss": Summed(_log_losses, _mean),
    "brier": Summed(_squares, _mean),
    "rmse": Summed(_shortfalls, lambda sums: float(np.sqrt(_mean(sums)))),
    "calibration_error": Summed(_bins, _calibration),
}
"""Those that are, by name; areas under curves rank all rows, and so are none."""
