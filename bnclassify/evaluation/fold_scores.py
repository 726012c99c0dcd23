"""Metrics in the rounds of cross-validation, and the record of the folds in `attrs` of results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import product
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..dataset import Dataset
from ..fitting.rounds import (
    Plan,
    Round,
    hide_unseen_levels,
    training_data_of_models,
    warn_of_unseen_values,
)
from ..frames import open_data
from ..metrics import AnyMetric
from ..metrics.outcomes import Outcomes, predict_outcomes
from ..model import Model
from ..tools.arrays import Array, Codes, Positions, first_best, log, normalize, sum_nested
from ..tools.calls import progress_bar
from ..tools.checks import is_among, must_be, options_sentence
from ..tools.immutable import cached_property
from ..tools.messages import listed, silencing_warnings

_KEY = "cv"
NOT_REFITTED = "not_refitted"
"""The attribute of results with the names of models that were not fitted again in the folds."""

Results = TypeVar("Results", "pd.Series[Any]", pd.DataFrame)


@dataclass(frozen=True)
class Scheme:
    """The assignment of rows to folds, and the metrics of class frequencies alone.

    Results with the same digest ``folds`` have the same folds, which are a
    partition if each repeat tests every row once. Sizes are sums of weights
    and, as baselines, means over the folds.
    """

    repeats: int
    k: int
    train_size: float
    test_size: float
    is_partition: bool
    folds: str
    baselines: Mapping[str, float | None]

    def __str__(self) -> str:
        folds = f"{self.k} folds" if self.k > 1 else "1 fold"
        return folds if self.repeats == 1 else f"{self.repeats} repeats of {folds}"


def attach_scheme(
    results: Results,
    scheme: Scheme,
    unseen: Mapping[Hashable, int],
    given: Sequence[Hashable] = (),
) -> Results:
    """Return results with the record of their computation, in plain values that pandas keeps."""
    results.attrs[_KEY] = asdict(scheme)
    if given:
        results.attrs[NOT_REFITTED] = list(given)
    if unseen:
        results.attrs["unseen"] = dict(unseen)
    return results


def recorded_scheme(results: pd.Series[Any] | pd.DataFrame) -> Scheme | None:
    """Return the record of results, None if they have none."""
    record = results.attrs.get(_KEY)
    if not isinstance(record, Mapping) or set(record) != {field.name for field in fields(Scheme)}:
        return None
    return Scheme(**record)


def values_of_metric(
    results: pd.DataFrame, metric: Hashable | None, scheme: Scheme | None
) -> tuple[pd.DataFrame, Hashable | None]:
    """Return the values of one metric, with one column per model, and its name if it is known."""
    wanted = getattr(metric, "__name__", metric)
    if results.columns.nlevels == 1 and "metric" in results.columns.names:
        raise ValueError("results must have one column per model; got metrics of one model.")
    by_metric = results.columns.nlevels == 2
    metrics: list[Hashable] = list(scheme.baselines) if scheme else []
    if by_metric:
        metrics = list(results.columns.unique(1))
    if wanted is not None and not is_among(wanted, metrics):
        remedy = "The columns of these results are models only."
        if metrics:
            remedy = options_sentence(wanted, metrics)
        raise ValueError(must_be("metric", "in the results", wanted, remedy))
    if wanted is None and by_metric and len(metrics) > 1:
        names = listed(metrics)
        raise ValueError(f"metric must be given, because the results have several: {names}.")
    name = wanted if wanted is not None or len(metrics) != 1 else metrics[0]
    if by_metric:
        results = results.loc[:, results.columns.get_level_values(1) == name].droplevel(1, axis=1)
    return results, name


@dataclass(frozen=True, eq=False)
class Scores:
    """Metrics of models in each round; the last model is the baseline of class frequencies.

    ``sums`` over the tested rows are by round, model and metric, None if a
    metric is not defined; ``sizes``, (rounds, 2), are the weights of the
    training and the test rows.
    """

    metrics: Sequence[AnyMetric]
    repeats: list[int]
    sums: list[list[list[Any]]]
    sizes: Array

    @cached_property
    def values_by_round(self) -> Array:
        """The metrics in each round, (rounds, models, metrics)."""
        values = np.full((len(self.sums), len(self.sums[0]), len(self.metrics)), np.nan)
        for fold, model, metric in product(*map(range, values.shape)):
            sums = self.sums[fold][model][metric]
            if sums is not None:
                values[fold, model, metric] = self.metrics[metric].value_from_sums(sums)
        return values

    @cached_property
    def means(self) -> Array:
        """The metrics, (models, metrics): means over rounds or, if pooled, over repeats."""
        means = _mean_of_folds(self.values_by_round)
        for i, metric in enumerate(self.metrics):
            if metric.is_pooled:
                means[:, i] = self._pooled_means_by_model(i, metric.value_from_sums)
        return means

    @cached_property
    def expected_metrics_if_calibrated(self) -> Array:
        """The expected metrics of calibrated posteriors, (models, metrics); NaN if not defined."""
        expected = np.full_like(self.means, np.nan)
        for i, metric in enumerate(self.metrics):
            if metric.value_if_calibrated is not None:
                expected[:, i] = self._pooled_means_by_model(i, metric.value_if_calibrated)
        return expected

    @cached_property
    def standard_errors(self) -> Array:
        """Standard errors, (models, metrics): √(variance / folds) or, pooled, by the jackknife."""
        errors, repeats = [], np.array(self.repeats)
        pooled = [i for i, metric in enumerate(self.metrics) if metric.is_pooled]
        for repeat in dict.fromkeys(self.repeats):
            values: Array = self.values_by_round[repeats == repeat]
            n: Positions = np.count_nonzero(~np.isnan(values), axis=0)
            for metric, model in product(pooled, range(values.shape[1])):
                values[:, model, metric] = self._jackknife_values(repeat, model, metric)
            squares: Array = np.nansum((values - _mean_of_folds(values)) ** 2, axis=0)
            variance: Array = squares / np.where(n > 1, n - 1, np.nan)
            variance[:, pooled] *= (n[:, pooled] - 1) ** 2
            errors.append(np.sqrt(variance / np.maximum(n, 1)))
        return np.asarray(np.mean(errors, axis=0))

    def _jackknife_values(self, repeat: int, model: int, metric: int) -> list[float]:
        """Return a pooled metric of all folds of a repeat but one, for each; NaN without rows."""
        folds = self._sums_by_fold(repeat, model, metric)
        values = [np.nan] * len(folds)
        for fold, own in enumerate(folds):
            rest = [sums for sums in folds[:fold] + folds[fold + 1 :] if sums is not None]
            if own is not None and rest:
                values[fold] = self.metrics[metric].value_from_sums(sum_nested(rest))
        return values

    def _pooled_means_by_model(self, metric: int, function: Callable[[Any], float]) -> list[float]:
        """Return for each model the mean over repeats of a function of the sums over all folds."""
        means = []
        for model in range(len(self.sums[0])):
            values = []
            for repeat in dict.fromkeys(self.repeats):
                folds = self._sums_by_fold(repeat, model, metric)
                known = [sums for sums in folds if sums is not None]
                if known:
                    values.append(function(sum_nested(known)))
            means.append(float(_mean_of_folds(np.array(values))))
        return means

    def _sums_by_fold(self, repeat: int, model: int, metric: int) -> list[Any]:
        """Return the sums of the folds of a repeat, None where the metric is not defined."""
        rounds = zip(self.repeats, self.sums, strict=True)
        return [models[model][metric] for own, models in rounds if own == repeat]


def _mean_of_folds(values: Array) -> Array:
    """Return the mean over the first axis without NaN; NaN if all are NaN."""
    n: Positions = np.count_nonzero(~np.isnan(values), axis=0)
    total: Array = np.nansum(values, axis=0)
    return total / np.where(n, n, np.nan)


def _sums_and_weights_of_rows(
    models: Sequence[Model], metrics: Sequence[AnyMetric], rows: Dataset
) -> tuple[list[list[Any]], list[Any]]:
    """Return the sums over rows by model and metric, and the weights of the rows."""
    all_outcomes = [predict_outcomes(model, rows) for model in models]
    sums = [[metric.sums_over_rows(outcomes) for metric in metrics] for outcomes in all_outcomes]
    return sums, _total_and_label_weights(rows, models[0].targets)


def _total_and_label_weights(rows: Dataset, targets: Sequence[Hashable]) -> list[Any]:
    """Return the weight of the rows and, for each target, by label, (labels,)."""
    return [float(rows.size), *[rows.level_weights(name) for name in targets]]


def evaluate_in_rounds(
    models: Mapping[Hashable, Model], plan: Plan, metrics: Sequence[AnyMetric], *, dag: bool
) -> Scores:
    """Refit models in each round, and evaluate them on its test rows."""
    data = plan.data
    weigh = partial(_total_and_label_weights, targets=data.targets)

    def evaluate_round(
        _: Round, train: Dataset, test: Dataset, learned: list[Model]
    ) -> tuple[list[list[Any]], tuple[float, float]]:
        if not learned:
            return [[None] * len(metrics)] * (len(models) + 1), (0.0, test.size)
        of_rows = partial(_sums_and_weights_of_rows, learned, metrics)
        sums, tested = of_rows(test)
        learned_from = train.sum_over_parts(weigh)
        frequencies = _metric_sums_of_class_shares(metrics, test, data, learned_from[1:])
        return [*sums, frequencies], (learned_from[0], tested[0])

    steps = len(plan.rounds) * len(models)
    with progress_bar(None, total=steps, desc="cv", unit=" models") as bar:
        found = [*plan.map_rounds(models, evaluate_round, dag=dag, bar=bar)]
    repeats, sizes = [rnd.repeat for rnd in plan.rounds], np.array([sizes for _, sizes in found])
    return Scores(metrics, repeats, [sums for sums, _ in found], sizes)


def evaluate_without_refit(
    x: Model, dataset: Any, metrics: Sequence[AnyMetric]
) -> tuple[list[float], list[float | None]]:
    """Return metrics of a model in rows, and those of the class shares in these rows."""
    models, opened = dict[Hashable, Model]({0: x}), open_data(dataset)
    data = training_data_of_models(models, opened, [*opened.columns], dag=False)
    data, unseen = hide_unseen_levels(models, data)
    warn_of_unseen_values(unseen)
    [sums], tested = data.sum_over_parts(partial(_sums_and_weights_of_rows, [x], metrics))
    of_shares = _metric_sums_of_class_shares(metrics, data, data, tested[1:])
    pairs = zip(metrics, of_shares, strict=True)
    baselines = [None if own is None else metric.value_from_sums(own) for metric, own in pairs]
    values = zip(metrics, sums, strict=True)
    return [metric.value_from_sums(own) for metric, own in values], baselines


def _metric_sums_of_class_shares(
    metrics: Sequence[AnyMetric], test: Dataset, data: Dataset, counts: Sequence[Array]
) -> list[Any]:
    """Return the sums of metrics of label frequencies alone; None if a user's function fails."""
    actual: Codes = test.codes[-len(data.targets) :]
    logs = [np.broadcast_to(log(normalize(own)), (actual.shape[1], len(own))) for own in counts]
    levels = data.levels[-len(counts) :]
    labels = partial(np.array, [*map(first_best, logs)])
    outcomes = Outcomes(logs, actual, data.targets, levels, test.index, test.weights, labels)
    sums: list[Any] = []
    with silencing_warnings():  # users did not request these results
        for metric in metrics:
            try:
                sums.append(None if metric.needs_joint else metric.sums_over_rows(outcomes))
            except Exception:
                sums.append(None)
    return sums
