"""What the largest class alone would score, which is the least that a model has to beat."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import nan

import numpy as np
import pandas as pd

from ..base.arrays import log, normalize
from ..frames.schema import Dataset
from ..metrics.folds import Rows
from ..metrics.metrics import Metric, OwnMetric, measure
from ..metrics.outcomes import Labelling, Outcome
from .rounds import Round


def judge_shares(
    metrics: Sequence[Metric | OwnMetric], data: Dataset, rounds: Sequence[Round]
) -> dict[str, float | None]:
    """Return what the classes' shares score by each metric, a mean over folds; None if it is undefined."""
    outcomes = [shares_alone(data, fold.test) for fold in rounds]
    means = {m.name: pd.Series([_judge_quietly(m, o) for o in outcomes]).mean() for m in metrics}
    return {name: None if np.isnan(mean) else float(mean) for name, mean in means.items()}


def _judge_quietly(metric: Metric | OwnMetric, outcome: Outcome) -> float:
    """Judge what no user asked for: their functions may not be made for it."""
    if isinstance(metric, Metric):
        return measure(metric, outcome)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return measure(metric, outcome)
        except Exception:
            return nan


def shares_alone(data: Dataset, test: Rows) -> Outcome:
    """Return what a model without features would say of some rows; the class is the last column.

    It predicts the class that is the largest in the others, and gives each class its share there.
    """
    trained = np.ones(len(data), dtype=bool)
    trained[test] = False
    weights = np.ones(len(data)) if data.weights is None else data.weights
    counts = np.bincount(data.codes[-1, trained], weights[trained], minlength=data.cards[-1])
    shares = normalize(counts.astype(float))
    logs = np.broadcast_to(log(shares), (len(test), len(shares)))
    labelling = Labelling(data.levels[-1], data.columns[-1], data.index[test])
    test_weights = None if data.weights is None else weights[test]
    return Outcome(logs, data.codes[-1, test], labelling, test_weights)
