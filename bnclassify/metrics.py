"""Metrics of predictions: from the posteriors of test rows to a number.

A metric has two steps: sums over rows, and a value that follows from the sums,
so that rows in parts have metrics, too. `METRICS` has the metrics by name, from
accuracy and log-loss to calibration error. Functions of one's own are accepted
in their place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .prediction import Outcomes
from .tools import special
from .tools.arrays import TOLERANCE, Array, Codes, Mask, first_best, log_normalize, log_sum_exp
from .tools.checks import ListOf, options_sentence
from .tools.foreign_words import METRICS_ELSEWHERE
from .tools.messages import listed, repeated_items, shown, to_python_scalar

# Metrics of posteriors in two steps: sums over rows, then a value from these.


CALIBRATION_BINS = 15
_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class AnyMetric(ABC):
    """A metric of predictions: sums over rows, and a value from the sums.

    A metric that ``is_pooled`` is computed from the sums over all folds, not as
    a mean over folds, and ``value_if_calibrated`` computes from these sums the
    value to expect if the posteriors were calibrated. One that ``needs_joint``
    is defined only for models with a joint distribution, and uses the log joint
    without normalization. One that ``needs_order`` is defined only for a class
    whose labels have an order.
    """

    name: str
    _: KW_ONLY
    target: int = 0
    is_loss: bool = False
    needs_rows: bool = False
    needs_joint: bool = False
    needs_order: bool = False
    is_pooled: bool = False
    value_if_calibrated: Callable[[Any], float] | None = None

    @abstractmethod
    def sums_over_rows(self, outcomes: Outcomes) -> Any:
        """Return the sums over rows with a known target or, if the metric needs rows, its value."""

    def value_from_sums(self, sums: Any) -> float:
        """Return the metric."""
        return float(sums)


@dataclass(frozen=True)
class Metric(AnyMetric):
    """A metric of the log joint of rows and of their classes.

    ``sums`` is a function of the log joint, (rows, classes), the codes of the
    actual classes, (rows,), and the weights, (rows,), above 0. It returns an
    array of sums over the rows or, if the metric ``needs_rows``, one or more
    values per row. ``value`` computes the metric from the sums.
    """

    sums: Callable[[Array, Codes, Array], Array]
    value: Callable[[Array], float]

    def metric_of_rows(self, logs: Array, actual: Codes, weights: Array | None = None) -> float:
        return self.value_from_sums(self._sums_of_rows_with_weight(logs, actual, weights))

    def sums_over_rows(self, outcomes: Outcomes) -> Array:
        """Return the sums over the rows in which the target is known."""
        outcome = outcomes.outcome_of_target(self.target)
        return self._sums_of_rows_with_weight(outcome.logs, outcome.actual, outcome.weights)

    def value_from_sums(self, sums: Array) -> float:
        with np.errstate(invalid="ignore"):
            return float(self.value(sums))

    def _sums_of_rows_with_weight(self, logs: Array, actual: Codes, weights: Array | None) -> Array:
        if weights is None:
            return self.sums(logs, actual, np.ones(len(actual)))
        counted = weights > 0
        return self.sums(logs[counted], actual[counted], weights[counted])


_ARGUMENTS = (
    "Its arguments are the posteriors, a DataFrame with one column per class, the actual classes, "
    "a Series, and weights, if the rows have weights."
)


@dataclass(frozen=True)
class OwnMetric(AnyMetric):
    """A user's function of labeled posteriors and labeled classes."""

    function: Callable[..., float]

    def sums_over_rows(self, outcomes: Outcomes) -> float:
        """Return the value of the function, called with copies; NaN without rows."""
        outcome = outcomes.outcome_of_target(self.target)
        if not len(outcome.actual):
            return np.nan
        weights: dict[str, Any] = {}
        if outcome.weights is not None:
            weights["weights"] = pd.Series(outcome.weights, index=outcome.labelling.index)
        try:
            value = to_python_scalar(
                self.function(outcome.posteriors.copy(), outcome.actual_labels.copy(), **weights)
            )
        except Exception as error:
            error.add_note(f"This error is from metric {self.name}. {_ARGUMENTS}")
            raise
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(
                f"metric {self.name} must return a number; got {type(value).__name__}. {_ARGUMENTS}"
            )
        return float(value)


@dataclass(frozen=True)
class LabelMetric(AnyMetric):
    """The share of correct labels of all targets or, if ``exact``, of rows in which all are.

    The labels are jointly most probable if ``joint``, and separately most
    probable if not. Missing labels are ignored, and if ``exact``, so are rows
    in which one is missing.
    """

    exact: bool
    joint: bool

    def sums_over_rows(self, outcomes: Outcomes) -> Array:
        """Return the sums of correct and of known labels, or of rows, (2,)."""
        labels = (
            outcomes.most_probable() if self.joint else np.array([*map(first_best, outcomes.logs)])
        )
        known: Mask = outcomes.actual >= 0
        right: Mask = known & (labels == outcomes.actual)
        weights = np.ones(known.shape[1]) if outcomes.weights is None else outcomes.weights
        per_row = np.all if self.exact else np.sum
        return np.array([per_row(mask, axis=0) @ weights for mask in (right, known)])

    def value_from_sums(self, sums: Array) -> float:
        """Return the proportion, or NaN for 0 / 0."""
        return float(sums[0] / sums[1]) if sums[1] else np.nan


def choose_metrics(metric: object, targets: Sequence[Hashable]) -> list[AnyMetric]:
    """Return the metrics of models with these target variables, with different names, or raise."""
    if len(targets) > 1 and isinstance(metric, str) and metric == "accuracy":
        metric = ["hamming", "exact_match"]
    metrics: list[AnyMetric] = []
    chosen = metric if isinstance(metric, list | tuple) else [metric]
    for one in ListOf("metrics", filled=True).check("metric", chosen):
        if len(targets) > 1 and isinstance(one, str) and one in LABEL_METRICS:
            metrics.append(LABEL_METRICS[one])
            continue
        found = find_metric(one)
        for i, target in enumerate(targets):
            name = found.name if len(targets) == 1 else f"{found.name}({target})"
            metrics.append(replace(found, name=name, target=i))
    names = [one.name for one in metrics]
    if twice := repeated_items(names):
        raise ValueError(
            f"metric must contain metrics with different names; got {listed(twice)} more than "
            "once. Name functions with def."
        )
    return metrics


def find_metric(metric: object) -> Metric | OwnMetric:
    """Return a metric given by name, `Metric` or function of posteriors and classes, or raise.

    >>> find_metric("brier").is_loss
    True
    """
    if isinstance(metric, Metric | OwnMetric):
        return metric
    if callable(metric):
        function = metric.func if isinstance(metric, partial) else metric
        name = getattr(function, "__name__", type(function).__name__)
        return OwnMetric(name, metric, needs_rows=True)
    expected = (
        "metric must be a name or a function (posteriors, actual) -> number, or a "
        "list of these; got"
    )
    if not isinstance(metric, str):
        raise TypeError(f"{expected} {shown(metric)}.")
    if metric not in METRICS:
        remedy = options_sentence(metric, METRICS, METRICS_ELSEWHERE)
        raise ValueError(f"{expected} {shown(metric)}. {remedy}")
    return METRICS[metric]


def bin_sums(probability: Array, right: Mask | Array, ends: Array, weights: Array) -> Array:
    """Sum weights, probabilities and correct predictions by the intervals that ``ends`` divide.

    A probability that equals an end up to rounding is in the lower interval.
    """
    bins = np.searchsorted(ends + TOLERANCE, probability, side="left")
    return _sums_by_class(bins, len(ends) + 1, weights, weights * probability, weights * right)


def bin_means(sums: Array) -> tuple[Array, Array, Array]:
    """Return the weight, the mean probability and the proportion correct of each bin with rows."""
    filled: Array = sums[:, sums[0, :] > 0]
    rows = filled[0, :]
    return rows, filled[1, :] / rows, filled[2, :] / rows


def ends_of_equal_width(bins: int) -> Array:
    return np.arange(1, bins) / bins


def _sums_by_class(codes: Codes, n_classes: int, *amounts: Array) -> Array:
    """Sum amounts, (rows,) each, over the rows of each class; (amounts, classes)."""
    return np.stack([np.bincount(codes, amount, n_classes) for amount in amounts])


def _posteriors_of_logs(logs: Array) -> Array:
    return np.exp(log_normalize(logs))


def _entry_of_class_per_row(table: Array, codes: Codes) -> Array:
    return np.take_along_axis(table, codes[:, None].astype(np.intp), axis=1)[:, 0]


def _correct_and_all_by_class(logs: Array, actual: Codes, weights: Array) -> Array:
    """Sum the correctly predicted rows and all rows of each class, (2, classes)."""
    return _sums_by_class(actual, logs.shape[1], weights * (first_best(logs) == actual), weights)


def _mean_recall(sums: Array) -> float:
    """Mean over the classes with rows of the proportion that is correct."""
    right, rows = sums[0, :], sums[1, :]
    return float(np.mean(right[rows > 0] / rows[rows > 0])) if rows.any() else np.nan


def _log_loss_sums(logs: Array, actual: Codes, weights: Array) -> Array:
    losses = -np.maximum(_entry_of_class_per_row(log_normalize(logs), actual), np.log(_LEAST))
    return np.array([losses @ weights, weights.sum()])


def _brier_sums(logs: Array, actual: Codes, weights: Array) -> Array:
    """Sum Σ_c (P(c) − 1[actual = c])² of rows; with two classes, of one of them."""
    p = _posteriors_of_logs(logs)
    p[np.arange(len(p)), actual] -= 1
    errors = (p**2).sum(axis=1) / (2 if p.shape[1] == 2 else 1)
    return np.array([errors @ weights, weights.sum()])


def _rmse_sums(logs: Array, actual: Codes, weights: Array) -> Array:
    errors = 1 - _entry_of_class_per_row(_posteriors_of_logs(logs), actual)
    return np.array([errors**2 @ weights, weights.sum()])


def _ranked_probability_sums(logs: Array, actual: Codes, weights: Array) -> Array:
    """Sum Σ_k (P(class ≤ k) − 1[actual ≤ k])² / (K − 1) of rows; k = 1 … K − 1 of K classes."""
    most = max(1, logs.shape[1] - 1)
    below = _posteriors_of_logs(logs).cumsum(axis=1)[:, :-1] - (
        actual[:, None] <= np.arange(logs.shape[1] - 1)
    )
    return np.array([(below**2).sum(axis=1) @ weights / most, weights.sum()])


def _rank_error_sums(logs: Array, actual: Codes, weights: Array) -> Array:
    return np.array([np.abs(first_best(logs) - actual.astype(np.intp)) @ weights, weights.sum()])


def _weighted_mean(sums: Array) -> float:
    total, rows = map(float, sums.reshape(2, -1).sum(axis=1))
    return total / rows if rows else np.nan


def _root_weighted_mean(sums: Array) -> float:
    return float(np.sqrt(_weighted_mean(sums)))


def _bin_sums_of_most_probable(logs: Array, actual: Codes, weights: Array) -> Array:
    """Sum rows by the probability of the most probable class; (3, bins)."""
    best = first_best(logs)
    probability = _entry_of_class_per_row(_posteriors_of_logs(logs), best)
    return bin_sums(probability, best == actual, ends_of_equal_width(CALIBRATION_BINS), weights)


def calibration_error(sums: Array) -> float:
    """Mean over bins of |mean probability − proportion correct|, weighted by their rows."""
    rows, probabilities, shares = bin_means(sums)
    return float(rows @ np.abs(probabilities - shares) / rows.sum())


def calibration_noise(sums: Array) -> float:
    """Return the expected calibration error of calibrated posteriors, from sums of bins.

    In a bin of n rows with mean probability p, the number of correct rows X is
    then about binomial, and by de Moivre E|X − np| = 2m C(n, m) pᵐ (1 −
    p)ⁿ⁻ᵐ⁺¹, where m = ⌊np⌋ + 1. Example: for 2 rows and p = ½, X is 0 or 2 half
    of the time, so the mean is ½; m is 2, and 4 · 1 · ¼ · ½ = ½.
    """
    rows, probabilities, _ = bin_means(sums)
    n: Array = np.maximum(np.rint(rows), 1)
    p: Array = np.minimum(probabilities, 1.0)
    m: Array = np.minimum(np.floor(n * p) + 1, n)
    logs: Array = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    with np.errstate(divide="ignore"):
        logs += m * np.log(p) + (n - m + 1) * np.log1p(-p)
    deviations: Array = 2 * m * np.exp(logs)
    return float(deviations / n @ rows / rows.sum()) if len(rows) else np.nan


def _confusion_counts(logs: Array, actual: Codes, weights: Array) -> Array:
    n = logs.shape[1]
    cells = actual.astype(np.intp) * n + first_best(logs)
    return np.bincount(cells, weights, n * n).reshape(n, n).astype(np.float64)


def _actual_and_predicted_rows(table: Array) -> tuple[Array, Array]:
    return table.sum(axis=1), table.sum(axis=0)


def _macro_precision_or_recall(share: float, table: Array) -> float:
    """Mean of right / (share · actual + (1 − share) · predicted) over classes that occur; 0/0 = 0.

    It is the precision if the share is 0, the recall if it is 1, and F1 if it
    is ½.
    """
    actual, predicted = _actual_and_predicted_rows(table)
    rows: Array = share * actual + (1 - share) * predicted
    found = np.divide(np.diagonal(table), rows, out=np.zeros(len(rows)), where=rows > 0)
    return float(np.mean(found[actual + predicted > 0])) if table.any() else np.nan


def _kappa(table: Array) -> float:
    """Cohen's kappa: agreement beyond chance, divided by its largest possible value."""
    actual, predicted = _actual_and_predicted_rows(table)
    return _agreement_beyond_chance(table, table.sum() ** 2 - actual @ predicted)


def _matthews_correlation(table: Array) -> float:
    """Correlation of the indicators of actual and predicted classes: covariance over deviations."""
    actual, predicted = _actual_and_predicted_rows(table)
    n: np.float64 = table.sum()
    variances = (n**2 - actual @ actual) * (n**2 - predicted @ predicted)
    return _agreement_beyond_chance(table, float(np.sqrt(variances)))


def _agreement_beyond_chance(table: Array, divisor: float) -> float:
    """Return (n · right rows − Σ actual · predicted rows) / divisor; 0 if labels do not vary.

    Example: 6 of 10 rows are right, 5 actual and 5 predicted ones in each of
    two classes: kappa is (60 − 50) / (100 − 50) = 0.2.
    """
    actual, predicted = _actual_and_predicted_rows(table)
    if not table.any():
        return np.nan
    beyond = float(table.sum() * np.trace(table) - actual @ predicted)
    return beyond / divisor if divisor > 0 else 0.0


def _log_density_sums(logs: Array, actual: Codes, weights: Array) -> Array:
    return np.array([_entry_of_class_per_row(logs, actual) @ weights, weights.sum()])


def _log_odds_classes_and_weights(logs: Array, actual: Codes, weights: Array) -> Array:
    """Return the log odds of each class, the actual class and the weight, (rows, classes + 2)."""
    n, posteriors = logs.shape[1], log_normalize(logs)
    odds = []
    for c in range(n):
        others = log_sum_exp(np.delete(posteriors, c, axis=1)) if n > 1 else -np.inf
        odds.append(posteriors[:, c] - others)
    return np.column_stack([*odds, actual, weights])


def _mean_area_under_curve(rows: Array) -> float:
    """Mean over classes, by rows, of the area under the curve of one class against the others."""
    odds, actual, weights = rows[:, :-2], rows[:, -2].astype(np.intp), rows[:, -1]
    class_weights = np.bincount(actual, weights, odds.shape[1])
    ranked = np.flatnonzero((class_weights > 0) & (class_weights < class_weights.sum()))
    if not len(ranked):
        return np.nan
    areas = []
    for c in ranked:  # the share of pairs of a row of the class and another, that one first
        order = np.argsort(odds[:, c], kind="stable")
        with np.errstate(invalid="ignore"):
            rank = np.concatenate([[0], np.cumsum(np.diff(odds[order, c]) > TOLERANCE)])
        mass, own = weights[order], actual[order] == c
        positives, negatives = [np.bincount(rank, mass * mask) for mask in (own, ~own)]
        below = np.cumsum(negatives) - negatives / 2  # ties count as 1/2
        areas.append(float(positives @ below / (positives.sum() * negatives.sum())))
    return float(np.average(areas, weights=class_weights[ranked]))


ACCURACY = Metric("accuracy", _correct_and_all_by_class, _weighted_mean)

METRICS = {
    metric.name: metric
    for metric in (
        ACCURACY,
        Metric("balanced_accuracy", _correct_and_all_by_class, _mean_recall),
        Metric("log_loss", _log_loss_sums, _weighted_mean, is_loss=True),
        Metric("brier", _brier_sums, _weighted_mean, is_loss=True),
        Metric("auc", _log_odds_classes_and_weights, _mean_area_under_curve, needs_rows=True),
        Metric(
            "calibration_error",
            _bin_sums_of_most_probable,
            calibration_error,
            is_loss=True,
            is_pooled=True,
            value_if_calibrated=calibration_noise,
        ),
        Metric("rmse", _rmse_sums, _root_weighted_mean, is_loss=True),
        Metric("f1", _confusion_counts, partial(_macro_precision_or_recall, 0.5)),
        Metric("precision", _confusion_counts, partial(_macro_precision_or_recall, 0.0)),
        Metric("recall", _confusion_counts, partial(_macro_precision_or_recall, 1.0)),
        Metric("kappa", _confusion_counts, _kappa),
        Metric("mcc", _confusion_counts, _matthews_correlation),
        Metric("rps", _ranked_probability_sums, _weighted_mean, is_loss=True, needs_order=True),
        Metric(
            "mean_absolute_error", _rank_error_sums, _weighted_mean, is_loss=True, needs_order=True
        ),
        Metric("loglik", _log_density_sums, _weighted_mean, needs_joint=True),
    )
}
"""The metrics by name."""

LABEL_METRICS = {
    metric.name: metric
    for metric in (
        LabelMetric("hamming", exact=False, joint=False),
        LabelMetric("exact_match", exact=True, joint=False),
        LabelMetric("joint_hamming", exact=False, joint=True),
        LabelMetric("joint_exact_match", exact=True, joint=True),
    )
}
"""The joint metrics of several target variables."""
