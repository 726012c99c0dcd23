"""Trials: what cross-validation is asked of models, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..base.arrays import Array
from ..base.checks import check_choice
from ..base.messages import listed, shown, warn
from ..base.randomness import Seed
from ..frames.encoding import check_columns, check_levels, encode_columns
from ..frames.matching import scoring_classes
from ..frames.parting import column_names
from ..frames.schema import Dataset, take_columns
from ..frames.training import TrainingData
from ..metrics.folds import Folds
from ..metrics.metrics import Metric, OwnMetric, find_metric, measure
from ..model.model import Model, of_estimator
from ..model.questions import class_var
from .baselines import judge_shares
from .repetition import check_recipe, columns_needed
from .rounds import Round, deal_rounds, run_round
from .schemes import Scheme, describe_folds

Judged: TypeAlias = Callable[[Any, Round], Iterator[list[float]]]
AsMetric: TypeAlias = "str | Callable[[pd.DataFrame, pd.Series[Any]], float]"


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
            for row, fold in zip(figures, rounds, strict=True):
                for cell, judgement in zip(row, judged(data, fold), strict=True):
                    cell[:] = judgement
                    bar.update()
        return figures


@dataclass(frozen=True, eq=False)
class Verdict:
    """What cross-validation found.

    Attributes
    ----------
    figures : (rounds, models, metrics) array
    metrics : list of str
        Their names.
    rounds : list of (int, int)
        Repeats and folds.
    scheme : Scheme
        How rows were dealt.
    several : bool
        Whether metrics are told apart in the result; else there is one.
    flat : bool
        Whether the results of one model are told by metric alone.
    """

    figures: Array
    metrics: list[str]
    rounds: Sequence[tuple[int, int]]
    scheme: Scheme
    several: bool
    flat: bool = False

    def table(self, models: Sequence[Hashable], *, alone: bool) -> pd.DataFrame:
        """Return the figures: a row a round, a column a model, or a model and metric, or if flat a metric."""
        index: pd.Index[Any] = pd.RangeIndex(len(self.rounds), name="fold")
        if self.scheme.repeats > 1:
            index = pd.MultiIndex.from_tuples(self.rounds, names=["repeat", "fold"])
        columns: pd.Index[Any] = pd.Index(models, tupleize_cols=False)
        if alone and self.flat:
            columns = pd.Index(self.metrics)
        elif self.several:
            columns = pd.MultiIndex.from_product([models, self.metrics], names=["model", "metric"])
        return pd.DataFrame(self.figures.reshape(len(index), -1), index, columns)


@singledispatch
def judge(first: Model, trial: Trial) -> Verdict:
    """Judge models by cross-validation; a kind registers here, of the first, if it has not one class."""
    if own := getattr(type(first), "_judge", None):
        return cast("Verdict", own(first, trial))
    metrics = as_metrics(trial.metric)
    data = prepare_rows(trial.models, trial.dataset, trial.dag)
    rounds = deal_rounds(data, k=trial.k, repeats=trial.repeats, folds=trial.folds, rng=trial.rng)

    def judged(data: TrainingData, fold: Round) -> Iterator[list[float]]:
        for outcome in run_round(trial.models, data, fold, dag=trial.dag):
            yield [measure(metric, outcome) for metric in metrics]

    return Verdict(
        trial.run(rounds, data, judged, len(metrics)),
        [metric.name for metric in metrics],
        [(fold.repeat, fold.fold) for fold in rounds],
        describe_rounds(rounds, data, judge_shares(metrics, data, rounds)),
        isinstance(trial.metric, list | tuple),
    )


def describe_rounds(rounds: Sequence[Round], data: Dataset, baselines: Mapping[str, float | None]) -> Scheme:
    """Describe how the rows of data were dealt into rounds."""
    repeats = range(1 + max(fold.repeat for fold in rounds))
    tests = [[fold.test for fold in rounds if fold.repeat == repeat] for repeat in repeats]
    weights = np.ones(len(data)) if data.weights is None else data.weights
    return describe_folds(tests, weights, baselines)


def as_metrics(metric: object) -> list[Metric | OwnMetric]:
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


def name_models(x: object) -> dict[Any, Model]:
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
            f"x: expected models of one class, got {listed([name for names in targets for name in names])}"
        )
    return models


def check_same_columns(
    models: Mapping[Any, Model], dataset: object, columns: object, dag: bool, besides: Sequence[Hashable] = ()
) -> None:
    """Raise if data has other columns than a model was learned from, and some besides, unless any will do."""
    if check_choice("columns", columns, ("same", "any")) == "any" or not dag:
        return
    present = [name for name in column_names(dataset) if name not in besides]
    for name, model in models.items():
        seen = model.recipe.seen if model.recipe is not None else None
        if seen is None or set(seen) == set(present):
            continue
        missing, added = set(seen) - set(present), set(present) - set(seen)
        differing = [
            f"{difference} {listed([column for column in order if column in names])}"
            for difference, order, names in (("it lacks", seen, missing), ("it has besides", present, added))
            if names
        ]
        raise ValueError(
            f"dataset: model {shown(name)} was learned from other columns: {' and '.join(differing)}. Pass "
            "the columns that it was learned from; or say columns='any', to learn from what is there, "
            "another model then; or dag=False, which keeps the structure"
        )


def prepare_rows(models: Mapping[Any, Model], dataset: pd.DataFrame | Dataset, dag: bool) -> TrainingData:
    """Return the data that models need; no row lacks the class."""
    target = class_var(next(iter(models.values())))
    data = _encode_needed(models, dataset, dag, target)
    check_columns([target], data.columns, "dataset")
    check_levels(data, data.columns)
    order = data.columns
    data = take_columns(data, (*(name for name in order if name != target), target))
    scoring_classes(data, target, data.levels[-1])
    is_raw = any(model.preparation is not None for model in models.values())
    frame = dataset if is_raw and isinstance(dataset, pd.DataFrame) else None
    rows = TrainingData(data.schema, data.codes, data.index, data.weights, (target,), order, frame=frame)
    if len(rows) and not rows.size:
        raise ValueError("dataset: no rows to learn from, for all have weight 0")
    return rows


def _encode_needed(
    models: Mapping[Any, Model], dataset: pd.DataFrame | Dataset, dag: bool, target: Hashable
) -> Dataset:
    """Encode the columns that models need, but those that they make categories of themselves."""
    plain = [model for model in models.values() if model.preparation is None]
    needed = [columns_needed(model, dag=dag) for model in plain]
    return encode_columns(dataset, None if None in needed else {target}.union(*filter(None, needed)))


def warn_of_undefined(verdict: Verdict) -> None:
    """Warn of metrics that some folds leave undefined."""
    absent = np.isnan(verdict.figures).any(axis=1).sum(axis=0)
    for metric, folds in zip(verdict.metrics, absent.tolist(), strict=True):
        if folds:
            warn(
                f"{metric} is not defined in {folds} of {len(verdict.figures)} folds, which are left out of "
                "the mean; mean=False shows them"
            )
