"""Cross-validation of models that are learned again in each fold: how good they are, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..base.arrays import Array, first_best
from ..base.checks import check_choice, check_flag, check_whole
from ..base.messages import listed, warn
from ..base.randomness import Seed
from ..frames.encoding import check_columns, check_levels, encode_columns
from ..frames.folding import Folds
from ..frames.matching import scoring_classes
from ..frames.parting import InFull, InParts, columns_of, is_parted
from ..frames.raw import with_frame
from ..frames.schema import Dataset, take_columns
from ..frames.training import TrainingData
from ..inference.metrics import AnyMetric, find_metric
from ..inference.outcomes import Labelling
from ..learning.repetition import check_recipe, columns_needed
from ..model.kinds import Model, of_estimator
from ..model.questions import class_var
from .baselines import judge_shares
from .partitioned import Plan, judge_in_parts, plan_folds, predict_in_parts
from .rounds import Round, deal_rounds, run_round
from .schemes import describe_folds, record_scheme

Judged: TypeAlias = Callable[[Any, Round], Iterator[list[float]]]
AsMetric: TypeAlias = "str | Callable[[pd.DataFrame, pd.Series[Any]], float]"


def cv(
    x: Model | Sequence[Model] | Mapping[str, Model],
    dataset: InFull | InParts,
    *,
    k: int = 10,
    repeats: int = 1,
    metric: AsMetric | Sequence[AsMetric] = "accuracy",
    dag: bool = True,
    mean: bool = True,
    folds: Folds | str | None = None,
    columns: str = "same",
    rng: Seed = None,
    progress: bool = False,
) -> float | pd.Series[Any] | pd.DataFrame:
    """Estimate by stratified cross-validation how good models are, all on the same folds.

    Parameters
    ----------
    x : Model, or a list or dict of them
        Models with parameters. In each fold they are learned again as they were learned,
        on the rows that the fold does not test.
    dataset : pandas.DataFrame, Dataset, or data in parts
        Has all variables of the models, the class in every row.
    k : int, default 10
        Number of folds, if ``folds`` is not given.
    repeats : int, default 1
        How often to deal rows into folds anew.
    metric : str, function, or a list of them, default "accuracy"
        "accuracy", "balanced_accuracy", "auc", of which more is better; "log_loss", "brier",
        "calibration_error", "rmse", of which less is. Or a function of the tested rows' posteriors, a
        DataFrame with a column a class, and their actual classes, a Series on the same index,
        that returns a number; see Notes.
    dag : bool, default True
        Whether to learn the structure again too; else only parameters.
    mean : bool, default True
        Whether to average over folds.
    folds : list of arrays or array of int, optional
        The positions of the rows that each fold tests, or the fold number of each row. Of data in parts,
        the name of a column that holds the fold of each row; by default these are dealt by a hash of the
        row and its label.
    columns : {"same", "any"}, default "same"
        What to do where a model was learned from all columns of its data and this data has others: raise,
        or learn from what is there, which is another model then.
    rng : int or numpy.random.Generator, optional
        Seed of the folds, and of all that learners draw at random within them.
    progress : bool, default False
        Whether to show a bar over folds and models.

    Returns
    -------
    float
        For one model and one metric, the mean over folds of the figure in the fold.
    pandas.Series
        For several models, the mean of each; a list is numbered, a dict named. With a list of
        metrics, by model and metric.
    pandas.DataFrame
        With ``mean=False``, a row a fold, or a repeat and fold, and a column a model, or a model and metric.

    Raises
    ------
    KeyError
        If a variable is not a column.
    TypeError, ValueError
        If ``x`` holds something else than models with parameters, models differ in their
        class, a model was learned from other columns, the class is missing in a row, there is no such
        metric or it returns no number, or ``k``, ``repeats`` or ``folds`` do not fit the data.

    Warns
    -----
    UserWarning
        If a class has fewer than ``k`` rows, so that some folds have none, or a metric is not
        defined in some folds, which are left out of the mean.

    Notes
    -----
    With p(c) the posterior of class c in a row, and means over the tested rows:

    - accuracy: the share of rows whose likeliest class is right;
    - balanced_accuracy: the mean over classes of the share of their rows that is right;
    - log_loss: mean of −ln p(true class), at most −ln of the least step of a float above 1;
    - brier: mean of Σ_c (p(c) − 1[c is true])², 0 to 2;
    - auc: the chance that a row of a class has a greater p of it than a row of another class, ties
      counting half, averaged over the classes by their shares;
    - calibration_error: mean over 15 equal intervals of the likeliest class's p, by rows in them, of the
      difference between mean p and the share that is right;
    - rmse: √mean of (1 − p(true class))².

    Of models of several class variables, folds are dealt whatever the classes, labels that are not known are
    not judged, and "accuracy" stands for "hamming", the share of labels that are right, and "exact_match",
    that of rows in which all are; both of the likeliest label of each class variable. "joint_hamming" and
    "joint_exact_match" are of the likeliest combinations, and any other metric is taken of each class
    variable by itself, as "log_loss(name)". Results of one such model are by metric alone.

    Balanced accuracy and AUC leave out classes of which no row is tested; AUC is NaN where only one
    is. What a Series or DataFrame was made by travels in its ``attrs``, for `compare`; so does, for
    `plot_cv`, what the largest class alone would score: a model without features that gives each class the
    share that it has in the rows that are not tested. Where classes are unbalanced, that is the
    figure to beat.

    References
    ----------
    .. [1] Kohavi, R. (1995). A study of cross-validation and bootstrap for accuracy estimation
       and model selection. IJCAI 95.
    .. [2] Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly
       Weather Review 78.
    .. [3] Hanley, J. A., McNeil, B. J. (1982). The meaning and use of the area under a receiver
       operating characteristic (ROC) curve. Radiology 143.

    Examples
    --------
    >>> from bnclassify import cv, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> models = {"nb": lp(nb("class", car), car, smooth=1),
    ...           "tan": lp(tan_cl("class", car), car, smooth=1)}
    >>> cv(models, car, k=5, rng=0).round(2).to_dict()
    {'nb': 0.85, 'tan': 0.94}
    >>> cv(models, car, k=5, rng=0, metric=["balanced_accuracy", "log_loss"]).unstack().round(2)
    metric  balanced_accuracy  log_loss
    model
    nb                   0.57      0.34
    tan                  0.91      0.21
    """
    models = _as_dict(x)
    for name, flag in {"dag": dag, "mean": mean, "progress": progress}.items():
        check_flag(name, flag)
    if check_whole("repeats", repeats, 1) > 1 and folds is not None:
        raise ValueError("repeats: folds are given, so there is nothing to deal anew; leave one of them out")
    check_same_columns(models, dataset, columns, dag, [folds] if isinstance(folds, str) else [])
    if is_parted(dataset):
        plan = plan_folds(models, dataset, k=k, repeats=repeats, folds=folds, dag=dag, rng=rng)
        return _judge_in_parts(x, models, plan, metric, dag, mean, progress)
    trial = Trial(models, cast("InFull", dataset), metric, k, repeats, dag, folds, rng, progress)
    verdict = judge(next(iter(models.values())), trial)
    rounds, several = verdict.rounds, verdict.several
    names = _column_names(models, verdict.metrics if several else None)
    if verdict.flat and isinstance(x, Model):
        names = pd.Index(verdict.metrics)
    index = _row_names([(which.repeat, which.fold) for which in rounds], repeats)
    results = pd.DataFrame(verdict.figures.reshape(len(rounds), -1), index, names)
    tests = [[which.test for which in rounds if which.repeat == repeat] for repeat in range(repeats)]
    scheme = describe_folds(tests, verdict.rows, verdict.baselines)
    if not mean:
        return record_scheme(results, scheme)
    _warn_of_undefined(verdict.figures, verdict.metrics)
    means = results.mean()
    return float(means.iloc[0]) if isinstance(x, Model) and not several else record_scheme(means, scheme)


def _judge_in_parts(
    x: object, models: Mapping[Any, Model], plan: Plan, metric: Any, dag: bool, mean: bool, progress: bool
) -> float | pd.Series[Any] | pd.DataFrame:
    metrics, several = _as_metrics(metric), isinstance(metric, list | tuple)
    found = judge_in_parts(models, metrics, plan, dag=dag, progress=progress)
    names = [one.name for one in metrics]
    repeats, k = len(plan.repeats), plan.repeats[0].k
    index = _row_names([(repeat, fold) for repeat in range(repeats) for fold in range(k)], repeats)
    columns = _column_names(models, names if several else None)
    results = pd.DataFrame(found.figures.reshape(len(index), -1), index, columns)
    scheme = found.scheme(plan, metrics)
    if not mean:
        return record_scheme(results, scheme)
    _warn_of_undefined(found.figures, names)
    means = results.mean()
    return float(means.iloc[0]) if isinstance(x, Model) and not several else record_scheme(means, scheme)


@dataclass(frozen=True, eq=False)
class Trial:
    """What `cv` is asked: its arguments, the models by name."""

    models: Mapping[Any, Model]
    dataset: pd.DataFrame | Dataset
    metric: AsMetric | Sequence[AsMetric]
    k: int
    repeats: int
    dag: bool
    folds: Folds | None
    rng: Seed
    progress: bool

    def run(self, rounds: Sequence[Round], data: Dataset, judged: Judged, n: int) -> Array:
        """Return n figures of each model in each round, (rounds, models, n), with a progress bar."""
        figures = np.empty((len(rounds), len(self.models), n))
        steps = len(rounds) * len(self.models)
        with tqdm(total=steps, disable=not self.progress, desc="cv", unit=" models") as bar:
            for row, which in zip(figures, rounds, strict=True):
                for cell, found in zip(row, judged(data, which), strict=True):
                    cell[:] = found
                    bar.update()
        return figures


@dataclass(frozen=True, eq=False)
class Verdict:
    """What `cv` found.

    Attributes
    ----------
    figures : (rounds, models, metrics) array
    metrics : list of str
        Their names.
    rounds : list of Round
    rows : int
        The number of rows in all.
    baselines : dict
        By name of the metric, what the largest class alone would score.
    several : bool
        Whether metrics are told apart in the result; else there is one.
    flat : bool
        Whether the results of one model are told by metric alone.
    """

    figures: Array
    metrics: list[str]
    rounds: list[Round]
    rows: int
    baselines: dict[str, float | None]
    several: bool
    flat: bool = False


@singledispatch
def judge(first: Model, trial: Trial) -> Verdict:
    """Judge models by cross-validation; a kind registers here, of the first, if it has not one class."""
    metrics = _as_metrics(trial.metric)
    data = _prepare(trial.models, trial.dataset, trial.dag)
    rounds = deal_rounds(data, k=trial.k, repeats=trial.repeats, folds=trial.folds, rng=trial.rng)

    def judged(data: TrainingData, which: Round) -> Iterator[list[float]]:
        for outcome in run_round(trial.models, data, which, dag=trial.dag):
            yield [metric.judge(outcome) for metric in metrics]

    figures = trial.run(rounds, data, judged, len(metrics))
    names, several = [metric.name for metric in metrics], isinstance(trial.metric, list | tuple)
    return Verdict(figures, names, rounds, len(data), judge_shares(metrics, data, rounds), several)


def cv_predict(
    x: Model,
    dataset: InFull | InParts,
    *,
    k: int = 10,
    prob: bool = True,
    dag: bool = True,
    folds: Folds | str | None = None,
    columns: str = "same",
    rng: Seed = None,
    progress: bool = False,
) -> pd.DataFrame | pd.Series[Any]:
    """Predict every row by a model that was learned without it, in cross-validation.

    Parameters
    ----------
    x : Model
        A model with parameters. In each fold it is learned again as it was learned, on the rows that
        the fold does not test, and predicts those that it does.
    dataset : pandas.DataFrame or Dataset
        As in `cv`.
    k : int, default 10
        Number of folds, if ``folds`` is not given.
    prob : bool, default True
        Whether to return posteriors; else labels.
    dag : bool, default True
        Whether to learn the structure again too; else only parameters.
    folds : list of arrays or array of int, optional
        As in `cv`; they test every row once.
    columns : {"same", "any"}, default "same"
        As in `cv`.
    rng : int or numpy.random.Generator, optional
        As in `cv`: a seed gives the folds and models that it gives there.
    progress : bool, default False
        Whether to show a bar over folds.

    Returns
    -------
    pandas.DataFrame
        The posteriors on the index of ``dataset``, a column a class, rows summing to 1.
    pandas.Series
        With ``prob=False``, the labels, as `predict` gives them.
    dask.dataframe.DataFrame, dask.dataframe.Series
        Of a Dask DataFrame, the same in its partitions, made when they are asked for.

    Raises
    ------
    KeyError
        If a variable is not a column.
    TypeError, ValueError
        As `cv`, or if ``folds`` test a row never or more than once.

    Warns
    -----
    UserWarning
        If a class has fewer than ``k`` rows, so that some folds have none.

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
    if not isinstance(x, Model):
        raise TypeError(f"x: expected one model, got {type(x).__name__}{of_estimator(x)}")
    models = _as_dict(x)
    for name, flag in {"prob": prob, "dag": dag, "progress": progress}.items():
        check_flag(name, flag)
    check_same_columns(models, dataset, columns, dag, [folds] if isinstance(folds, str) else [])
    if is_parted(dataset):
        plan = plan_folds(models, dataset, k=k, repeats=1, folds=folds, dag=dag, rng=rng)
        return predict_in_parts(x, dataset, plan, prob=prob, dag=dag, progress=progress)
    data = _prepare(models, cast("InFull", dataset), dag)
    labels = data.levels[-1]
    rounds = deal_rounds(data, k=k, repeats=1, folds=folds, rng=rng)
    times = np.bincount(np.concatenate([which.test for which in rounds]), minlength=len(data))
    if (times != 1).any():
        raise ValueError(
            f"folds: expected every row to be tested once, but {np.count_nonzero(times == 0)} of "
            f"{len(data)} rows never are, and {np.count_nonzero(times > 1)} more than once"
        )
    logs = np.empty((len(data), len(labels)))
    for which in tqdm(rounds, disable=not progress, desc="cv_predict", unit=" folds"):
        for outcome in run_round(models, data, which, dag=dag):
            logs[which.test] = outcome.logs_of(labels)
    labelling = Labelling(labels, data.columns[-1], data.index)
    return labelling.posteriors(logs) if prob else labelling.labels(first_best(logs))


def _as_metrics(metric: object) -> list[AnyMetric]:
    """Return one metric or several, of different names."""
    metrics = [find_metric(one) for one in (metric if isinstance(metric, list | tuple) else [metric])]
    names = [one.name for one in metrics]
    if not names:
        raise ValueError("metric: expected at least one, got an empty list")
    twice = dict.fromkeys(name for name in names if names.count(name) > 1)
    if twice:
        raise ValueError(
            f"metric: there are several of the same name, {listed(twice)}; name functions by def"
        )
    return metrics


def _as_dict(x: object) -> dict[Any, Model]:
    """Return models by name or number, all with parameters and of one class."""
    if isinstance(x, Model):
        models: dict[Any, Any] = {0: x}
    elif isinstance(x, Mapping):
        models = dict(x)
    elif isinstance(x, list | tuple):
        models = dict(enumerate(x))
    else:
        raise TypeError(
            f"x: expected a model, a list or a dict of models, got {type(x).__name__}{of_estimator(x)}"
        )
    if not models:
        raise ValueError("x: expected at least one model, got none")
    for model in models.values():
        check_recipe(model)
    targets = {model.targets for model in models.values()}
    if len(targets) > 1:
        raise ValueError(
            f"x: expected models of one class, got {listed([t for own in targets for t in own])}"
        )
    return models


def check_same_columns(
    models: Mapping[Any, Model], dataset: object, columns: object, dag: bool, besides: Sequence[Hashable] = ()
) -> None:
    """Raise if data has other columns than a model was learned from, and some besides, unless any will do."""
    if check_choice("columns", columns, ("same", "any")) == "any" or not dag:
        return
    there = [name for name in getattr(dataset, "columns", ()) if name not in besides]
    if is_parted(dataset):
        there = [name for name in columns_of(dataset) if name not in besides]
    for name, model in models.items():
        seen = model.recipe.seen if model.recipe is not None else None
        if seen is None or set(seen) == set(there):
            continue
        missing, added = set(seen) - set(there), set(there) - set(seen)
        differing = [
            f"{what} {listed([column for column in order if column in some])}"
            for what, order, some in (("it lacks", seen, missing), ("it has besides", there, added))
            if some
        ]
        raise ValueError(
            f"dataset: model {name!r} was learned from other columns: {' and '.join(differing)}. Pass the "
            "columns that it was learned from; or say columns='any', to learn from what is there, another "
            "model then; or dag=False, which keeps the structure"
        )


def _prepare(models: Mapping[Any, Model], dataset: pd.DataFrame | Dataset, dag: bool) -> TrainingData:
    """Return the data that models need; no row lacks the class."""
    target = class_var(next(iter(models.values())))
    data = _encode(models, dataset, dag, target)
    check_columns([target], data.columns, "dataset")
    check_levels(data, data.columns)
    position = data.columns.index(target)
    data = take_columns(data, (*(name for name in data.columns if name != target), target))
    scoring_classes(data, target, data.levels[-1])
    rows = TrainingData(data.schema, data.codes, data.index, data.weights, target, class_position=position)
    if isinstance(dataset, Dataset) or all(model.preparation is None for model in models.values()):
        return rows
    return with_frame(rows, dataset)


def _encode(
    models: Mapping[Any, Model], dataset: pd.DataFrame | Dataset, dag: bool, target: Hashable
) -> Dataset:
    """Encode the columns that models need, but those that they make categories of themselves."""
    plain = [model for model in models.values() if model.preparation is None]
    needed = [columns_needed(model, dag=dag) for model in plain]
    return encode_columns(dataset, None if None in needed else {target}.union(*filter(None, needed)))


def _row_names(rounds: Sequence[tuple[int, int]], repeats: int) -> pd.Index[Any]:
    if repeats == 1:
        return pd.RangeIndex(len(rounds), name="fold")
    return pd.MultiIndex.from_tuples(rounds, names=["repeat", "fold"])


def _column_names(models: Mapping[Any, Model], metrics: Sequence[str] | None) -> pd.Index[Any]:
    if metrics is None:
        return pd.Index(list(models), tupleize_cols=False)
    return pd.MultiIndex.from_product([list(models), list(metrics)], names=["model", "metric"])


def _warn_of_undefined(figures: Array, metrics: Sequence[str]) -> None:
    absent = np.isnan(figures).any(axis=1).sum(axis=0)
    for metric, folds in zip(metrics, absent.tolist(), strict=True):
        if folds:
            warn(
                f"{metric} is not defined in {folds} of {len(figures)} folds, which are left out of the "
                "mean; mean=False shows them"
            )
