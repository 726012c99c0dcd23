"""Cross-validation of models on data in parts: folds by a hash of each row, figures from sums over rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, cast

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..base.arrays import Array, log, normalize
from ..base.checks import check_whole
from ..base.messages import listed, shown
from ..base.randomness import Seed, check_rng
from ..frames.encoding import check_columns, check_levels
from ..frames.matching import scoring_classes
from ..frames.parting import column_names, open_columns
from ..frames.partitions import Partitions
from ..frames.schema import Dataset
from ..frames.sources import NEEDS_ROWS, check_not_once, is_dask
from ..frames.training import TrainingData
from ..metrics.folds import FoldRows, GivenFolds, HashedFolds
from ..metrics.metrics import METRICS, AnyMetric, measure
from ..metrics.outcomes import Labelling, Outcome
from ..model.model import Model
from ..model.questions import class_var, classes, values
from ..model.raw_rows import log_joint
from ..numbers.preparation import Preparation
from .prediction import Wish, predict_kind
from .repetition import columns_needed, relearn
from .schemes import Scheme
from .trials import Verdict, as_metrics

AnyFolds = HashedFolds | GivenFolds


@dataclass(frozen=True, eq=False)
class Plan:
    """Data in parts, and how it is dealt into folds.

    Attributes
    ----------
    data : Partitions
        The features, then the class, which no row lacks.
    repeats : tuple of folds
    """

    data: Partitions
    repeats: tuple[AnyFolds, ...]

    @property
    def class_var(self) -> Hashable:
        """The name of the class."""
        return self.data.columns[-1]

    def tested(self, folds: AnyFolds, number: int) -> Partitions:
        """Return the rows that a fold tests, of which there may be none."""
        return self.data.keeping(FoldRows(folds, number, tested=True))

    def learn(self, x: Model, folds: AnyFolds, number: int, dag: bool) -> Model:
        """Learn a model again on the rows that a fold does not test."""
        rows = self.data.keeping(FoldRows(folds, number, tested=False))
        rows = replace(rows.requiring(self.class_var), targets=(self.class_var,))
        try:
            learned: Model = relearn(x, cast("TrainingData", rows), dag=dag)
        except ValueError as error:
            raise ValueError(f"x: cannot be learned again in fold {number}: {error}") from error
        return learned


def plan_folds(
    models: Mapping[Any, Model], dataset: object, *, k: int, repeats: int, folds: object, dag: bool, rng: Seed
) -> Plan:
    """Deal data in parts into folds, by the values of rows or by a column that is named."""
    first = next(iter(models.values()))
    if len(first.targets) > 1:
        raise TypeError(f"dataset: to judge models of several class variables, {NEEDS_ROWS}")
    target = class_var(first)
    check_not_once(dataset)
    columns = column_names(dataset)
    fold_column = None if folds is None else _check_name(folds, columns)
    data = _select_needed(models, dataset, target, [name for name in columns if name != fold_column], dag)
    check_levels(data, data.columns)
    if data.incomplete[-1]:
        raise ValueError(
            f"dataset: rows have no class {shown(target)}; leave them out, for example with "
            f".dropna(subset=[{shown(target)}])"
        )
    if fold_column is not None:
        return Plan(data, (_given_folds(fold_column, dataset),))
    generator = check_rng(0 if rng is None else rng)
    check_whole("k", k, 2)
    seeds = [int(generator.integers(2**63)) for _ in range(repeats)]
    # All columns, so that folds are the same whatever models need, and so comparable.
    hashed = tuple([name for name in data.source.names if name != data.reading.weights])
    return Plan(data, tuple([HashedFolds(hashed, k, seed) for seed in seeds]))


def _select_needed(
    models: Mapping[Any, Model], dataset: object, target: Hashable, columns: Sequence[Hashable], dag: bool
) -> Partitions:
    """Return those of the columns that models need, the class last, as categories."""
    needed = [columns_needed(model, dag=dag) for model in models.values()]
    names = set(columns) if None in needed else {target}.union(*filter(None, needed))
    check_columns(names, columns, "dataset")
    chosen = [name for name in columns if name in names]
    prepare = None if isinstance(dataset, Partitions) else _preparation(models, dag)
    known = {} if prepare is None else {k: v for model in models.values() for k, v in values(model).items()}
    parts = cast("Partitions", open_columns(dataset, chosen, known=known, preparation=prepare))
    schema = parts.schema.select([*(name for name in chosen if name != target), target])
    return replace(parts.coded(schema), order=tuple(chosen))


def _preparation(models: Mapping[Any, Model], dag: bool) -> Preparation | None:
    """Return how models make categories of raw data, all in the same way; None if they take categories."""
    first, *others = [model.preparation for model in models.values()]
    if any(other != first for other in others):
        raise TypeError(
            "x: these models make categories of raw data in different ways, and data in parts is prepared in "
            "one; judge them one by one, with dag=False, or on a sample in memory"
        )
    if first is not None and dag:
        raise TypeError(
            "x: the model makes categories of raw data, and to learn these again its rows are needed in "
            "memory; say dag=False, which keeps the categories and the structure, or judge a sample in memory"
        )
    return first


def _check_name(folds: object, columns: Sequence[Hashable]) -> Hashable:
    if not isinstance(folds, Hashable) or (isinstance(folds, tuple) and folds not in columns):
        raise TypeError(
            "folds: of data in parts, expected the name of a column that holds the fold of each row, got "
            f"{shown(folds)}"
        )
    check_columns([folds], columns, "folds")
    return folds


def _given_folds(column: Hashable, dataset: object) -> GivenFolds:
    """Return the folds that occur in a column."""
    data = cast("Partitions", open_columns(dataset, [column]))
    counts = data.add_up(_count_rows)
    labels = tuple([label for label, count in zip(data.levels[0], counts, strict=True) if count])
    if len(labels) < 2:
        raise ValueError(f"folds: expected at least 2 folds in {shown(column)}, got {len(labels)}")
    return GivenFolds(column, labels)


def _count_rows(data: Dataset) -> Array:
    """Count the rows of each level of the only column."""
    [codes], [card] = data.codes, data.cards
    return np.bincount(codes[codes >= 0], minlength=card).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Judging:
    """What models say of tested rows, as sums that metrics are made of; workers make it."""

    models: tuple[Model, ...]
    metrics: tuple[AnyMetric, ...]
    class_var: Hashable

    def __call__(self, data: Dataset) -> tuple[list[list[Any]], Array]:
        column = data.positions[self.class_var]
        tested = np.bincount(data.codes[column], data.weights, data.cards[column])
        sums = []
        for model in self.models:
            actual = scoring_classes(data, self.class_var, classes(model))
            labelling = Labelling(classes(model), self.class_var, data.index)
            outcome = Outcome(log_joint(model, data), actual, labelling, data.weights)
            sums.append([metric.sums_of(outcome) for metric in self.metrics])
        return sums, tested.astype(np.float64)


def judge_in_parts(
    models: Mapping[Any, Model], metric: Any, plan: Plan, *, dag: bool, progress: bool
) -> Verdict:
    """Judge models, learned again in each fold, on the rows that it tests."""
    metrics = as_metrics(metric)
    _check_sums(metrics)
    figures, tested = [], []
    rounds = [(repeat, fold) for repeat, folds in enumerate(plan.repeats) for fold in range(folds.k)]
    for repeat, fold in tqdm(rounds, disable=not progress, desc="cv", unit=" folds"):
        folds = plan.repeats[repeat]
        learned = tuple([plan.learn(model, folds, fold, dag) for model in models.values()])
        sums, counts = plan.tested(folds, fold).add_up(_Judging(learned, tuple(metrics), plan.class_var))
        figures.append([[m.value_of(one) for m, one in zip(metrics, each, strict=True)] for each in sums])
        tested.append(counts)
    scheme = _describe(plan, metrics, np.array(tested))
    return Verdict(
        np.array(figures), [m.name for m in metrics], rounds, scheme, isinstance(metric, list | tuple)
    )


def _check_sums(metrics: Sequence[AnyMetric]) -> None:
    unfit = [metric.name for metric in metrics if metric.needs_rows]
    if unfit:
        raise TypeError(
            f"metric: {listed(unfit)} is no sum over rows, which is all that data in parts has; take "
            f"{listed([m.name for m in METRICS.values() if not m.needs_rows])}, or judge a sample in memory"
        )


def _describe(plan: Plan, metrics: Sequence[AnyMetric], tested: Array) -> Scheme:
    """Describe how rows were dealt; how many of each class each round tests is (rounds, classes)."""
    sizes, repeats = tested.sum(axis=1), len(plan.repeats)
    digest = blake2b(repr(plan.repeats).encode(), digest_size=12)
    rows, test_size = float(sizes.sum() / repeats), float(sizes.mean())
    baselines = _judge_shares(plan, metrics, tested)
    return Scheme(
        repeats, plan.repeats[0].k, rows - test_size, test_size, True, digest.hexdigest(), baselines
    )


def _judge_shares(plan: Plan, metrics: Sequence[AnyMetric], tested: Array) -> dict[str, float | None]:
    """Return what the shares of classes in the rows that are not tested would score."""
    labels, k = plan.data.levels[-1], plan.repeats[0].k
    actual = np.arange(len(labels))
    labelling = Labelling(labels, plan.class_var, pd.RangeIndex(len(labels)))
    figures: dict[str, list[float]] = {metric.name: [] for metric in metrics}
    for number, counts in enumerate(tested):
        trained = tested[number // k * k : (number // k + 1) * k].sum(axis=0) - counts
        logs = np.broadcast_to(log(normalize(trained)), (len(labels), len(labels)))
        outcome = Outcome(logs, actual, labelling, counts)
        for metric in metrics:
            figures[metric.name].append(measure(metric, outcome))
    means = {name: pd.Series(values).mean() for name, values in figures.items()}
    return {name: None if np.isnan(mean) else float(mean) for name, mean in means.items()}


@dataclass(frozen=True, eq=False)
class _OutOfFold:
    """Predicts each row by the model that was learned without it; workers call it."""

    models: tuple[Model, ...]
    folds: AnyFolds
    wish: Wish

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame | pd.Series[Any]:
        numbers = self.folds(frame)
        parts = [frame[numbers == number] for number in range(len(self.models))]
        predictions = [
            predict_kind(model, part, self.wish) for model, part in zip(self.models, parts, strict=True)
        ]
        order = np.argsort(np.concatenate([np.flatnonzero(numbers == i) for i in range(len(parts))]))
        return pd.concat(predictions).iloc[order]


def predict_in_parts(x: Model, dataset: object, plan: Plan, *, prob: bool, dag: bool, progress: bool) -> Any:
    """Predict each row of a Dask DataFrame by a model that was learned without it, when it is asked for."""
    frame: Any = dataset.dask_frame if isinstance(dataset, Partitions) else dataset
    if not is_dask(frame):
        raise TypeError(
            "dataset: predictions of chunks would be as long as they are; take a Dask DataFrame, whose come "
            "back lazily, or cv, which adds figures up"
        )
    [folds] = plan.repeats
    numbers = tqdm(range(folds.k), disable=not progress, desc="cv_predict", unit=" folds")
    learned = tuple([plan.learn(x, folds, number, dag) for number in numbers])
    wish = Wish(prob=prob, unseen="error", prior=None, costs=None, joint=False, greedy=False)
    tell = _OutOfFold(learned, folds, wish)
    meta = predict_kind(learned[0], frame._meta.iloc[:0], wish)
    return frame.map_partitions(tell, meta=meta)
