"""Cross-validation: what is measured in the folds in which models are tested.

In each round of the previous chapter, the refitted models predict the fold.
Metrics are sums over its rows, which give values by fold, and means and standard
errors over folds. `cv` returns them, together with a record of the folds, so that
only results of the same folds are compared. `cv_predict` returns the predictions
themselves. The metrics of the class proportions alone are the baselines.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import product
from math import isnan
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np
import pandas as pd

from .accessors import check_has_joint_distribution, check_ordered, unwrap_estimator
from .dataset import Countable, Dataset
from .folds import (
    Folds,
    Plan,
    Round,
    hide_unseen_levels,
    models_by_name,
    names_of_given_models,
    plan_rounds,
    training_data_of_models,
    warn_of_unseen_values,
)
from .frames import AnyTable, in_library_of, open_data
from .metrics import AnyMetric, choose_metrics
from .model import Model, SeveralClasses
from .prediction import Labelling, Outcomes, predict_outcomes
from .tools.arrays import (
    Array,
    Codes,
    Mask,
    Positions,
    first_best,
    log,
    log_normalize,
    normalize,
    sum_nested,
)
from .tools.calls import progress_bar, showing_progress, with_call_advice
from .tools.checks import Flag, MetricName, Seed, Unseen, Whole, is_among, must_be, options_sentence
from .tools.immutable import cached_property
from .tools.messages import listed, silencing_warnings, warn
from .tools.parallel import using_jobs

# Metrics in the rounds of cross-validation, and the record of the folds in `attrs` of results.


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
    all_outcomes = [predict_outcomes(model, rows) for model in models]
    sums = [[metric.sums_over_rows(outcomes) for metric in metrics] for outcomes in all_outcomes]
    return sums, _total_and_label_weights(rows, models[0].targets)


def _total_and_label_weights(rows: Dataset, targets: Sequence[Hashable]) -> list[Any]:
    return [float(rows.size), *[rows.level_weights(name) for name in targets]]


def evaluate_in_rounds(
    models: Mapping[Hashable, Model], plan: Plan, metrics: Sequence[AnyMetric], *, dag: bool
) -> Scores:
    """Refit models in each round, and evaluate them on its test rows."""
    data = plan.data

    def evaluate_round(
        _: Round, train: Dataset, test: Dataset, learned: list[Model]
    ) -> tuple[list[list[Any]], tuple[float, float]]:
        if not learned:
            return [[None] * len(metrics)] * (len(models) + 1), (0.0, test.size)
        of_rows = partial(_sums_and_weights_of_rows, learned, metrics)
        sums, tested = of_rows(test)
        learned_from = _total_and_label_weights(train, data.targets)
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


# Cross-validation of models that are refitted in each fold.


AsMetric: TypeAlias = "MetricName | Callable[[pd.DataFrame, pd.Series[Any]], float]"


Models: TypeAlias = "Sequence[Model] | Mapping[str, Model]"
# type checkers infer list[str] for a variable, so its names are not checked
Metrics: TypeAlias = "list[str] | list[AsMetric] | tuple[str | AsMetric, ...]"


class Options(TypedDict, total=False):
    """Arguments that `cv` and `cv_predict` share."""

    k: int
    dag: bool
    folds: Folds | str | None
    groups: Any
    columns: Literal["same", "any"]
    unseen: Unseen
    rng: Seed
    n_jobs: int | None
    progress: bool | None


class _Repeated(Options, total=False):
    repeats: int


@overload  # type checkers regard a Model as a model of a single class variable
def cv(  # type: ignore[overload-overlap]
    x: SeveralClasses | Models,
    dataset: AnyTable | Countable,
    *,
    metric: AsMetric | Metrics = "accuracy",
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> pd.Series[Any]: ...
@overload
def cv(
    x: Model,
    dataset: AnyTable | Countable,
    *,
    metric: AsMetric = "accuracy",
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> float: ...
@overload
def cv(
    x: Model,
    dataset: AnyTable | Countable,
    *,
    metric: Metrics,
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> pd.Series[Any]: ...
@overload
def cv(
    x: Model | Models,
    dataset: AnyTable | Countable,
    *,
    metric: AsMetric | Metrics = "accuracy",
    mean: Literal[False],
    **options: Unpack[_Repeated],
) -> pd.DataFrame: ...
@with_call_advice("The class is a column of the data: cv(x, dataset, k=10).")
def cv(
    x: Model | Models,
    dataset: AnyTable | Countable,
    *,
    k: int = 10,
    repeats: int = 1,
    metric: AsMetric | Metrics = "accuracy",
    dag: bool = True,
    mean: bool = True,
    folds: Folds | str | None = None,
    groups: Any = None,
    columns: Literal["same", "any"] = "same",
    unseen: Unseen = "missing",
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> float | pd.Series[Any] | pd.DataFrame:
    """Estimate the performance of models by cross-validation on the same folds.

    Parameters
    ----------
    x : Model, or a list or dict of models
        Fitted models. In each fold, each model is fitted again to the training
        rows by the same calls. Given tables, as of `from_effects` and
        `with_table`, are not, which gives a warning, because rows that are
        tested can be those with which they were made. To evaluate them, use
        ``summary(x, rows, k=0)`` with other rows.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with all variables of the models. Rows without a class are ignored.
    k : int, default 10
        Number of folds, if `folds` is not given. Five take half the time.
    repeats : int, default 1
        Number of times that rows are split into folds at random. Use more for
        small data, because results depend on the split.
    metric : str, function, or a list of them, default "accuracy"
        One or several of:

        - for labels: "accuracy", "balanced_accuracy", "f1", "precision",
          "recall", "kappa", "mcc";
        - for posteriors: "auc", "loglik" (higher is better), "log_loss",
          "brier", "calibration_error", "rmse" (lower is better). Choose
          "log_loss" if you use probabilities;
        - for a class with an order: "rps", the ranked probability score, and
          "mean_absolute_error" of ranks;
        - a function ``(posteriors, actual)`` that returns a number.
          `posteriors` has one column per class. If rows have weights, it must
          accept ``weights``, a Series.
    dag : bool, default True
        If True, structure and parameters are refitted; if False, only the
        parameters, which is faster, but too optimistic if the structure was
        learned from the same rows.
    mean : bool, default True
        If True, average over folds. "calibration_error" is then computed from
        all held-out rows. Use False for the results of each fold, which
        `compare` needs.
    folds : list of arrays, array of int, or str, optional
        Positions of the test rows of each fold, the fold number of each row,
        the name of a column with the fold of each row, or pairs of training and
        test rows, as scikit-learn's ``TimeSeriesSplit`` yields them. By
        default, `k` random folds.
    groups : str or array-like, optional
        Name of a column, or one label per row, if several rows belong together,
        such as the visits of a patient. The rows of a group stay in one fold.
        The column is not a feature.
    columns : {"same", "any"}, default "same"
        Whether `dataset` must have the columns that the models were learned
        from. With "any", the models learn from the columns of `dataset`, and
        are different models.
    unseen : {"missing", "error"}, default "missing"
        With ``dag=False``, what to do with values that a model does not
        contain, as in `predict`. With ``dag=True``, the levels of all rows are
        known in every fold.
    rng : int or numpy.random.Generator, optional
        Seed of the folds, and of learners that draw at random. Give it to get
        the same result again.
    n_jobs : int, optional
        Number of folds that run at the same time, by default 1; -1 means all
        processor cores. The results are the same. Folds run in processes on
        Linux and in threads on other systems.
    progress : bool, optional
        Whether to show a progress bar. By default, it appears after 3 seconds
        in an interactive session.

    Returns
    -------
    float, pandas.Series, pandas.DataFrame
        The mean over folds; for several models or metrics, a Series by model,
        or model and metric. With ``mean=False``, one row per fold and one
        column per model, or per model and metric.

    Raises
    ------
    KeyError, TypeError, ValueError
        If models differ in their class, a model was learned from other columns,
        the class is missing in every row, or ``k``, ``repeats`` or ``folds`` do
        not fit the data.

    Notes
    -----
    Folds are stratified by class. A row of weight 5 counts as
    five rows, which can be in several folds; a row with a fractional weight
    stays in one fold. "brier" is the mean of (P(class) − 1[class])², as in
    scikit-learn, and the sum over the classes if there are more than two. The
    page :doc:`Formulas </methods>` defines the metrics, and how weights are
    split.

    For several class variables, "accuracy" means "hamming", the proportion of
    labels that are correct, and "exact_match" is the proportion of rows with
    all labels correct. "joint_hamming" and "joint_exact_match" evaluate the
    most probable combinations, and other metrics each class variable, as
    "log_loss(name)".

    ``attrs["standard_errors"]`` of a Series is the standard deviation over
    folds divided by √k, an approximation, because training sets overlap. To get
    it for a single model, pass ``[x]``.

    Examples
    --------
    >>> from bnclassify import cv, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> models = {"nb": lp(nb("class", car), car, smooth=1),
    ...           "tan": lp(tan_cl("class", car), car, smooth=1)}
    >>> cv(models, car, k=5, rng=0, metric=["balanced_accuracy", "log_loss"]).unstack().round(2)
    metric  balanced_accuracy  log_loss
    model
    nb                   0.57      0.34
    tan                  0.91      0.21
    """
    x = unwrap_estimator(x)
    models = models_by_name(x)
    Flag().check("mean", mean)
    if Whole(least=1, most=100_000).check("repeats", repeats) > 1 and folds is not None:
        raise ValueError("repeats must be 1 if folds are given. Omit one of the two arguments.")
    targets = next(iter(models.values())).targets
    metrics = choose_metrics(metric, targets)
    for one, model in product(metrics, models.values()):
        if one.needs_joint:
            check_has_joint_distribution(model, 'metric "loglik"')
        if one.needs_order:
            check_ordered(model, f'metric "{one.name}"', one.target)
    options: Any = {"folds": folds, "dag": dag, "unseen": unseen, "rng": rng, "groups": groups}
    with using_jobs(n_jobs), showing_progress(progress):
        plan = plan_rounds(models, dataset, k=k, repeats=repeats, columns=columns, **options)
        scores = evaluate_in_rounds(models, plan, metrics, dag=dag)
    by_metric = isinstance(metric, list | tuple) or len(targets) > 1
    names: pd.Index[Any] = pd.Index(list(models), tupleize_cols=False)
    if len(targets) > 1 and isinstance(x, Model):
        names = pd.Index([one.name for one in metrics])
    elif by_metric:
        of_metrics = [one.name for one in metrics]
        names = pd.MultiIndex.from_product([models, of_metrics], names=["model", "metric"])
    n_rounds, given = len(plan.rounds), names_of_given_models(models)
    baselines = zip(metrics, scores.means[-1, :].tolist(), strict=True)
    train_size, test_size = map(float, scores.sizes.mean(axis=0))
    scheme = Scheme(
        plan.n_repeats,
        n_rounds // plan.n_repeats,
        train_size,
        test_size,
        plan.is_partition,
        plan.folds,
        {one.name: None if isnan(value) else value for one, value in baselines},
    )
    if not mean:
        by_round = scores.values_by_round[:, :-1].reshape(n_rounds, -1)
        index: pd.Index[Any] = pd.RangeIndex(n_rounds, name="fold")
        if plan.n_repeats > 1:
            pairs = [(each.repeat, each.number) for each in plan.rounds]
            index = pd.MultiIndex.from_tuples(pairs, names=["repeat", "fold"])
        return attach_scheme(pd.DataFrame(by_round, index, names), scheme, plan.unseen, given)
    in_rounds = scores.values_by_round[scores.sizes[:, 0] > 0, :-1]  # (rounds, models, metrics)
    absent: list[int] = np.isnan(in_rounds).any(axis=1).sum(axis=0).tolist()
    for one, n_folds in zip(metrics, absent, strict=True):
        if n_folds:
            warn(
                f"{one.name} is not defined in {n_folds} of {len(in_rounds)} folds, which are "
                "excluded from the mean. mean=False shows them."
            )
    if isinstance(x, Model) and not by_metric:
        return float(scores.means[0, 0])
    means = attach_scheme(pd.Series(scores.means[:-1].ravel(), names), scheme, plan.unseen, given)
    attributes = {
        "standard_errors": scores.standard_errors,
        "calibrated": scores.expected_metrics_if_calibrated,
    }
    for name, values in attributes.items():
        known = pd.Series(values[:-1].ravel(), names).dropna()
        if len(known):
            means.attrs[name] = known.to_dict()
    return means


# Out-of-fold predictions of models that are refitted in each fold of a cross-validation.


Predictions: TypeAlias = "pd.DataFrame | pd.Series[Any]"


@overload
def cv_predict(
    x: Model,
    dataset: pd.DataFrame | Countable,
    *,
    prob: Literal[True] = True,
    **options: Unpack[Options],
) -> pd.DataFrame: ...
@overload
def cv_predict(
    x: Model, dataset: pd.DataFrame | Countable, *, prob: Literal[False], **options: Unpack[Options]
) -> pd.Series[Any]: ...
@overload
def cv_predict(
    x: Model, dataset: AnyTable, *, prob: bool = True, **options: Unpack[Options]
) -> Any: ...
@with_call_advice("The class is a column of the data: cv_predict(x, dataset, k=10).")
def cv_predict(
    x: Model,
    dataset: AnyTable | Countable,
    *,
    k: int = 10,
    prob: bool = True,
    dag: bool = True,
    folds: Folds | str | None = None,
    groups: Any = None,
    columns: Literal["same", "any"] = "same",
    unseen: Unseen = "missing",
    rng: Seed = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Predictions:
    """Predict every row by a model fitted without it, in cross-validation.

    Parameters
    ----------
    x : Model
        Fitted model. In each fold, it is fitted again to the training rows, and
        predicts the test rows.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        As in `cv`.
    prob : bool, default True
        If True, return posteriors; if False, labels.
    k, dag, folds, groups, columns, unseen, rng, n_jobs, progress
        As in `cv`. ``folds`` must test every row once.

    Returns
    -------
    pandas.DataFrame, pandas.Series, or a frame of another library
        Posteriors or labels, as `predict` returns them; missing in rows without
        a class. If units of a row with a whole weight are tested in several
        folds, its posteriors are averaged over these folds.

    Raises
    ------
    KeyError, TypeError, ValueError
        As `cv`, or if ``folds`` do not test every row once.

    Examples
    --------
    >>> from bnclassify import cv_predict, load_car, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, smooth=1)
    >>> cv_predict(model, car, rng=0).tail(2).round(3)
    class  unacc    acc   good  vgood
    1726   0.190  0.288  0.515  0.008
    1727   0.163  0.118  0.023  0.695
    """
    x = unwrap_estimator(x)
    if not isinstance(x, Model):
        raise TypeError(f"x must be one model; got {type(x).__name__}.")
    models = models_by_name(x)
    Flag().check("prob", prob)
    if len(x.targets) > 1:
        raise TypeError(f"x must predict one class; got a model of {listed(x.targets)}.")
    options: Any = {"folds": folds, "dag": dag, "unseen": unseen, "rng": rng, "groups": groups}
    with using_jobs(n_jobs), showing_progress(progress):
        plan = plan_rounds(models, dataset, k=k, columns=columns, **options)
        labels, tests = plan.data.levels[-1], [rnd.fold for rnd in plan.rounds]
        posteriors = np.zeros((len(plan.data), len(labels)))
        if not plan.is_partition:
            tested = np.concatenate([fold.rows for fold in tests])
            times = np.bincount(tested, minlength=len(posteriors))
            raise ValueError(
                f"folds must test every row once; {np.count_nonzero(times == 0)} of {len(times)} "
                f"rows are never tested, and {np.count_nonzero(times > 1)} more than once."
            )

        def posteriors_at_test_rows(
            rnd: Round, train: Dataset, test: Dataset, learned: list[Model]
        ) -> Array:
            if not learned:
                return np.array(np.nan)
            outcome = predict_outcomes(learned[0], test).outcome_of_target()
            return np.exp(log_normalize(outcome.log_joint_of_classes(labels)))

        with progress_bar(None, total=len(tests), desc="cv_predict", unit=" folds") as bar:
            predicted = plan.map_rounds(models, posteriors_at_test_rows, dag=dag, bar=bar)
            for fold, found in zip(tests, predicted, strict=True):
                units = (
                    np.ones(1) if fold.units is None else np.where(fold.units > 0, fold.units, 1)
                )
                posteriors[fold.rows] += units[:, None] * found
    of_all = np.full((len(plan.index), len(labels)), np.nan)  # in rows without a class
    of_all[plan.known] = posteriors
    unknown: Mask = np.isnan(of_all[:, 0])
    logs = log(np.where(unknown[:, None], 1.0, of_all))
    labelling = Labelling(labels, x.class_var, plan.index)
    named: Any
    if prob:
        named = labelling.posterior_frame(logs)
        named[unknown] = np.nan
    else:
        named = labelling.labels_of_codes(np.where(unknown, -1, first_best(logs)))
    if plan.unseen:
        named.attrs["unseen"] = dict(plan.unseen)
    answer: Predictions = in_library_of(dataset, named)
    return answer
