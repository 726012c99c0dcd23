"""What a search maximises: the mean over folds of a metric of the rows that the fold tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array
from ...metrics.metrics import ACCURACY, Metric
from .contrasts import Contrasts
from .folded import FoldedData, Index


class Goal:
    """Score structures by a metric, taken negative if it is a loss.

    Parameters
    ----------
    metric : Metric
    data : FoldedData
    contrasts : Contrasts
        How log joints are held.
    """

    def __init__(self, metric: Metric, data: FoldedData, contrasts: Contrasts) -> None:
        self.metric, self.data, self.contrasts = metric, data, contrasts

    def score(self, logs: Array) -> float:
        """Score a structure by the log joint of all tested rows, (planes, tested rows)."""
        figures = [self._figure(logs[:, fold], fold) for fold in self.data.folds]
        return float(np.mean(figures)) * (-1 if self.metric.is_loss else 1)

    def _figure(self, logs: Array, fold: slice) -> float:
        weights = None if self.data.weights is None else self.data.weights[fold]
        return self.metric.of_rows(self.contrasts.joint(logs), self.data.truth[fold], weights)


class AccuracyGoal(Goal):
    """Score by accuracy, for which only those rows need be looked at whose best class is not settled."""

    def __init__(self, metric: Metric, data: FoldedData, contrasts: Contrasts) -> None:
        super().__init__(metric, data, contrasts)
        self._bounds = np.cumsum([0, *data.sizes])
        counted = data.sizes if data.weights is None else [data.weights[fold].sum() for fold in data.folds]
        self._shares = 1 / (np.asarray(counted) * data.n_folds)

    def score(self, logs: Array) -> float:
        """Score a structure by the log joint of all tested rows, (planes, tested rows)."""
        right = self.right(logs, slice(None))
        weights = self.data.weights
        hits: list[Any] = [
            np.count_nonzero(right[fold]) if weights is None else weights[fold] @ right[fold]
            for fold in self.data.folds
        ]
        return float(np.dot(hits, self._shares))

    def right(self, logs: Array, rows: Index | slice) -> NDArray[np.bool_]:
        """Tell where the best class is the true one; logs are those of these rows."""
        right: NDArray[np.bool_] = self.contrasts.best(logs) == self.data.truth[rows]
        return right

    def hits(self, right: NDArray[np.bool_], rows: Index) -> NDArray[Any]:
        """Count what is right in each fold, (structures, rows) to (structures, folds); rows ascend."""
        weights = self.data.weights
        counted = right if weights is None else right * weights.take(rows)
        running = np.zeros((len(right), len(rows) + 1), dtype=np.int32 if weights is None else np.float64)
        np.cumsum(counted, axis=1, out=running[:, 1:])
        until = running[:, np.searchsorted(rows, self._bounds)]
        return until[:, 1:] - until[:, :-1]

    def scores(self, hits: NDArray[Any]) -> Array:
        """Turn right answers by fold, (structures, folds), into scores."""
        scores: Array = hits @ self._shares
        return scores


def goal_of(metric: Metric, data: FoldedData, contrasts: Contrasts) -> Goal:
    """Return the goal of a metric."""
    return (AccuracyGoal if metric == ACCURACY else Goal)(metric, data, contrasts)
