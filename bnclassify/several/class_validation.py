"""Cross-validation of models with several class variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, first_best
from ..base.messages import listed
from ..frames.encoding import check_columns, check_levels, encode_columns
from ..frames.matching import match
from ..frames.schema import Dataset, take_columns, take_rows
from ..frames.training import TrainingData
from ..functions.repetition import columns_needed
from ..functions.rounds import Round, deal_rounds, learn_again
from ..functions.trials import Trial, Verdict, describe_rounds, judge
from ..metrics.metrics import AnyMetric, find_metric, measure
from ..metrics.outcomes import Labelling, Outcome
from .class_inference import likeliest, log_marginals
from .class_prediction import match_features
from .mbc import MultiModel


@dataclass(frozen=True, eq=False)
class MultiOutcome:
    """What a model of several class variables says of rows, and what they are.

    Attributes
    ----------
    model : MultiModel
    codes : (features, rows) array
    actual : (class variables, rows) array of integers
        The codes of the true labels; -1 where missing.
    index : pandas.Index
        Of the rows.
    weights : (rows,) array or None
        How often each row counts.
    """

    model: MultiModel
    codes: Codes
    actual: Codes
    index: pd.Index[Any]
    weights: Array | None

    @cached_property
    def marginals(self) -> list[Array]:
        """The logs of each class variable's posteriors, up to a constant a row."""
        return log_marginals(self.model, self.codes)

    def labels(self, *, joint: bool) -> Codes:
        """Return the codes of the likeliest labels, together or each by itself."""
        if joint:
            return likeliest(self.model, self.codes).codes
        return np.array([first_best(logs) for logs in self.marginals])

    def of_class(self, number: int) -> Outcome:
        """Return what is said of one class variable, in the rows in which it is known."""
        known = self.actual[number] >= 0
        labels, name = self.model.class_levels[number], self.model.class_vars[number]
        weights = None if self.weights is None else self.weights[known]
        labelling = Labelling(labels, name, self.index[known])
        return Outcome(self.marginals[number][known], self.actual[number, known], labelling, weights)


Figure = Callable[[MultiOutcome], float]


def _hamming(outcome: MultiOutcome, *, joint: bool = False) -> float:
    """Return the share of the known labels that are right."""
    known = outcome.actual >= 0
    right = known & (outcome.labels(joint=joint) == outcome.actual)
    return _share(right.sum(axis=0), known.sum(axis=0), outcome.weights)


def _exact_match(outcome: MultiOutcome, *, joint: bool = False) -> float:
    """Return the share of rows, of those with all labels known, in which all are right."""
    known = (outcome.actual >= 0).all(axis=0)
    right = known & (outcome.labels(joint=joint) == outcome.actual).all(axis=0)
    return _share(right, known, outcome.weights)


def _share(right: Any, known: Any, weights: Array | None) -> float:
    often = np.ones(len(known)) if weights is None else weights
    total = float(often @ known)
    return float(often @ right) / total if total else nan


_TOGETHER: dict[str, Figure] = {
    "hamming": _hamming,
    "exact_match": _exact_match,
    "joint_hamming": lambda outcome: _hamming(outcome, joint=True),
    "joint_exact_match": lambda outcome: _exact_match(outcome, joint=True),
}
"""Metrics of all class variables together; those called joint are of the likeliest combinations."""


@judge.register
def _(first: MultiModel, trial: Trial) -> Verdict:
    figures = _as_figures(trial.metric, first.class_vars)
    data = _prepare(first.class_vars, trial)
    rounds = deal_rounds(
        data, k=trial.k, repeats=trial.repeats, folds=trial.folds, rng=trial.rng, stratified=False
    )

    def judged(data: TrainingData, fold: Round) -> Iterator[list[float]]:
        test = take_rows(data, fold.test)
        for learned in learn_again(trial.models, data, fold, dag=trial.dag):
            assert isinstance(learned, MultiModel)
            outcome = _outcome(learned, test)
            yield [figure(outcome) for figure in figures.values()]

    return Verdict(
        trial.run(rounds, data, judged, len(figures)),
        list(figures),
        [(fold.repeat, fold.fold) for fold in rounds],
        describe_rounds(rounds, data, dict.fromkeys(figures)),
        several=True,
        flat=True,
    )


def _as_figures(metric: object, class_vars: Sequence[Hashable]) -> dict[str, Figure]:
    """Return what is measured by name: of all class variables together, or of each by itself."""
    if isinstance(metric, str) and metric == "accuracy":
        metric = ["hamming", "exact_match"]
    figures: dict[str, Figure] = {}
    metrics = metric if isinstance(metric, list | tuple) else [metric]
    for item in metrics:
        if isinstance(item, str) and item in _TOGETHER:
            figures[item] = _TOGETHER[item]
            continue
        measure = find_metric(item)
        figures |= {f"{measure.name}({name})": _of_class(measure, j) for j, name in enumerate(class_vars)}
    if not figures:
        raise ValueError("metric: expected at least one, got an empty list")
    return figures


def _of_class(metric: AnyMetric, number: int) -> Figure:
    def figure(outcome: MultiOutcome) -> float:
        class_outcome = outcome.of_class(number)
        return measure(metric, class_outcome) if len(class_outcome.actual) else nan

    return figure


def _prepare(class_vars: tuple[Hashable, ...], trial: Trial) -> TrainingData:
    """Return the data that models need, the class variables last."""
    needed = [columns_needed(model, dag=trial.dag) for model in trial.models.values()]
    columns = None if None in needed else set().union(*filter(None, needed))
    data = encode_columns(trial.dataset, columns)
    check_columns(class_vars, data.columns, "dataset")
    check_levels(data, data.columns)
    features = [name for name in data.columns if name not in class_vars]
    data = take_columns(data, (*features, *class_vars))
    unknown = [c for c in class_vars if (data.codes[data.positions[c]] < 0).all()]
    if unknown:
        raise ValueError(f"dataset: no label is known of {listed(unknown)}")
    return TrainingData(data.schema, data.codes, data.index, data.weights, class_vars, data.columns)


def _outcome(x: MultiModel, test: Dataset) -> MultiOutcome:
    codes, index = match_features(x, test, "error")
    actual = match(test, x.class_vars, x.class_levels)
    return MultiOutcome(x, codes, actual, index, test.weights)
