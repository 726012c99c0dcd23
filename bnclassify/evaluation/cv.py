"""Cross-validation of models that are refitted in each fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import isnan
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from ..accessors import check_has_joint_distribution, check_ordered, unwrap_estimator
from ..fitting.rounds import Plan, models_by_name, names_of_given_models, plan_rounds
from ..frames import InFull, InParts
from ..metrics import AnyMetric, choose_metrics
from ..metrics.folds import Folds
from ..model import Model, SeveralClasses
from ..tools.arrays import Array
from ..tools.calls import showing_progress, with_call_advice
from ..tools.checks import Flag, MetricName, Seed, Unseen, Whole
from ..tools.messages import warn
from ..tools.parallel import using_jobs
from .fold_scores import Scheme, Scores, attach_scheme, evaluate_in_rounds

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
    dataset: InFull | InParts,
    *,
    metric: AsMetric | Metrics = "accuracy",
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> pd.Series[Any]: ...
@overload
def cv(
    x: Model,
    dataset: InFull | InParts,
    *,
    metric: AsMetric = "accuracy",
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> float: ...
@overload
def cv(
    x: Model,
    dataset: InFull | InParts,
    *,
    metric: Metrics,
    mean: Literal[True] = True,
    **options: Unpack[_Repeated],
) -> pd.Series[Any]: ...
@overload
def cv(
    x: Model | Models,
    dataset: InFull | InParts,
    *,
    metric: AsMetric | Metrics = "accuracy",
    mean: Literal[False],
    **options: Unpack[_Repeated],
) -> pd.DataFrame: ...
@with_call_advice("The class is a column of the data: cv(x, dataset, k=10).")
def cv(
    x: Model | Models,
    dataset: InFull | InParts,
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
    flat = len(targets) > 1 and isinstance(x, Model)
    names = _result_columns(list(models), metrics if by_metric else None, flat=flat)
    scheme, given = _describe_folds_and_baselines(plan, scores), names_of_given_models(models)
    if not mean:
        by_round = scores.values_by_round[:, :-1].reshape(len(plan.rounds), -1)
        return attach_scheme(
            pd.DataFrame(by_round, _result_index(plan), names), scheme, plan.unseen, given
        )
    _warn_of_undefined_metrics(metrics, scores.values_by_round[scores.sizes[:, 0] > 0, :-1])
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


def _result_columns(
    models: list[Any], metrics: Sequence[AnyMetric] | None, *, flat: bool
) -> pd.Index[Any]:
    """Return the columns of results: models, models and metrics, or metrics of one if ``flat``."""
    if metrics is None:
        columns: pd.Index[Any] = pd.Index(models, tupleize_cols=False)
        return columns
    names = [metric.name for metric in metrics]
    if flat:
        return pd.Index(names)
    return pd.MultiIndex.from_product([models, names], names=["model", "metric"])


def _result_index(plan: Plan) -> pd.Index[Any]:
    """Return the rows of results: folds, or repeats and folds."""
    if plan.n_repeats == 1:
        return pd.RangeIndex(len(plan.rounds), name="fold")
    return pd.MultiIndex.from_tuples(
        [(r.repeat, r.number) for r in plan.rounds], names=["repeat", "fold"]
    )


def _describe_folds_and_baselines(plan: Plan, scores: Scores) -> Scheme:
    """Return the record of folds and of the metrics of class frequencies alone."""
    train_size, test_size = map(float, scores.sizes.mean(axis=0))
    means: list[float] = scores.means[-1, :].tolist()
    of_metric = zip(scores.metrics, means, strict=True)
    baselines = {metric.name: None if isnan(mean) else mean for metric, mean in of_metric}
    k = len(plan.rounds) // plan.n_repeats
    return Scheme(
        plan.n_repeats, k, train_size, test_size, plan.is_partition, plan.folds, baselines
    )


def _warn_of_undefined_metrics(metrics: Sequence[AnyMetric], values: Array) -> None:
    """Warn of metrics that are not defined in some folds; values are (rounds, models, metrics)."""
    absent: list[int] = np.isnan(values).any(axis=1).sum(axis=0).tolist()
    for metric, folds in zip(metrics, absent, strict=True):
        if folds:
            warn(
                f"{metric.name} is not defined in {folds} of {len(values)} folds, which are "
                "excluded from the mean. mean=False shows them."
            )
