"""Rounds of cross-validation: models refitted without the rows of a fold, and evaluated on them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..accessors import check_fitted, unwrap_estimator
from ..dataset import Columns, Dataset, Opened, OpenedData, check_unseen, recode_column
from ..frames import (
    NoRowsError,
    TrainingData,
    check_have_levels,
    open_data,
    read_training,
    split_off_groups,
)
from ..metrics.folds import Folds, drawn_or_given_folds
from ..model import Derived, Model, Recipe, contains_given
from ..numbers import check_can_discretize
from ..recipe.row_folds import RowFold
from ..tools.arrays import Mask, Positions
from ..tools.calls import Bar
from ..tools.checks import Flag, OneOf, Seed, check_columns, check_rng
from ..tools.messages import listed, shown, warn
from ..tools.parallel import run_tasks

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Round:
    """One fold of one repeat, and the seed of learners, which all models share."""

    repeat: int
    number: int
    fold: RowFold
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows, and their assignment to folds.

    ``folds`` is a digest of the folds, which are a partition if each repeat
    tests every row once; ``unseen`` has the numbers of unseen values that are
    treated as missing, by column. ``index`` are the labels of all rows, and
    ``known`` is whether they have a class.
    """

    data: TrainingData
    rounds: list[Round]
    folds: str
    is_partition: bool
    unseen: Mapping[Hashable, int] = field(default_factory=dict)
    index: Any = None
    known: Any = None

    @property
    def n_repeats(self) -> int:
        """The number of repeats of cross-validation."""
        return self.rounds[-1].repeat + 1

    def map_rounds(
        self,
        models: Mapping[Hashable, Model],
        function: Callable[[Round, Any, Any, list[Model]], R],
        *,
        dag: bool,
        bar: Bar,
    ) -> Iterator[R]:
        """Yield a function of each round, its training and test rows, and refitted models.

        A round without training rows has no models.
        """

        def run_round(rnd: Round) -> tuple[R, bool]:
            train, test = rnd.fold.split(self.data)
            learned: list[Model] = []
            try:
                if not train.size:
                    raise NoRowsError("dataset must have rows; got none.")
                learned = [
                    _refit_without_fold(name, model, rnd, train, dag)
                    for name, model in models.items()
                ]
            except NoRowsError:
                pass
            return function(rnd, train, test, learned), bool(learned)

        empty: list[int] = []
        results = run_tasks(run_round, self.rounds)
        for rnd, (result, has_models) in zip(self.rounds, results, strict=True):
            empty += [] if has_models else [rnd.number]
            bar.update(len(models))
            yield result
        if empty:
            warn(
                "No training row has a positive weight if fold "
                f"{listed(empty, most=8)} is tested, so its results are NaN. Use other folds."
            )


def _refit_without_fold(name: Any, model: Model, rnd: Round, train: Dataset, dag: bool) -> Model:
    """Return a model, refitted to the training rows of a round, or raise."""
    recipe, rng = check_recipe(model), None if rnd.seed is None else check_rng(rnd.seed)
    try:
        fitted: Model = recipe.fit(train, rng) if dag else recipe.refit(model, train, rng)
        if isinstance(model, Derived):
            model.check_type_of_refit(fitted)
        return fitted
    except NoRowsError:
        raise
    except ValueError as error:
        raise ValueError(
            f"x must be models that can be refitted; model {shown(name)} cannot in fold "
            f"{rnd.number}: "
            f"{str(error).removesuffix('.')}.{' With dag=False, it keeps its structure.' * dag}"
        ) from error


def models_by_name(x: object) -> dict[Hashable, Model]:
    """Return models by name or number, all fitted and with the same targets, or raise."""
    x = unwrap_estimator(x)
    if isinstance(x, Model):
        models: dict[Any, Any] = {0: x}
    elif isinstance(x, Mapping | list | tuple):
        named = x.items() if isinstance(x, Mapping) else enumerate(x)
        models = {name: unwrap_estimator(one) for name, one in named}
    else:
        raise TypeError(
            f"x must be a model, or a list or dict of models; got {type(x).__name__}. The models "
            "are the first argument, the data the second."
        )
    if not models:
        raise ValueError("x must contain at least one model; got none.")
    for model in models.values():
        check_recipe(model)
    targets = {model.targets for model in models.values()}
    if len(targets) > 1:
        names = listed([name for each in targets for name in each])
        raise ValueError(f"x must be models of the same class; got models of {names}.")
    return models


def check_recipe(x: Model, *, fitted: bool = True) -> Recipe:
    """Return the recipe of a model; raise if it has none, or has no tables although ``fitted``."""
    if fitted:
        check_fitted(x)
    if x.recipe is None or (fitted and x.recipe.parameters is None):
        raise ValueError(
            "x must record its recipe to be refitted. Learn it with functions of this package, or "
            "evaluate it as it is, with summary(x, rows, k=0)."
        )
    return x.recipe


def columns_for_refits(models: Mapping[Hashable, Model], *, dag: bool) -> set[Hashable] | None:
    """Return the columns that are needed to refit models; None for all."""
    if dag and any(check_recipe(x, fitted=False).columns is None for x in models.values()):
        return None
    return {name for model in models.values() for name in model.variables}


def plan_rounds(
    models: Mapping[Hashable, Model],
    dataset: Any,
    *,
    k: int,
    repeats: int = 1,
    folds: Any = None,
    dag: bool = True,
    unseen: str = "missing",
    rng: Seed,
    groups: Any,
    columns: object = "same",
) -> Plan:
    """Prepare the data that models need, and assign its rows to folds."""
    check_unseen(unseen)
    Flag().check("dag", dag)
    opened, cases = open_data(dataset).check_in_memory("dataset"), None
    if groups is not None:
        opened, cases = split_off_groups(opened, groups, next(iter(models.values())).targets)
    if isinstance(folds, str):
        opened, folds = _split_off_folds(opened, folds)
    check_training_columns(models, opened, columns, dag)
    if groups is None and folds is None:
        _warn_of_divided_groups(models)
    if given := names_of_given_models(models):
        warn(
            f"Model {listed(given)} is not fitted again, and folds can test rows with which it was "
            "made. Evaluate it on other rows, with summary(x, rows, k=0)."
        )
    data = training_data_of_models(models, opened, [*opened.columns], dag=dag)
    counts: Mapping[Hashable, int] = {}
    if unseen == "missing" and not dag:
        data, counts = hide_unseen_levels(models, data)
    if cases is not None:
        rows = data.is_row_labeled if len(data.targets) == 1 else slice(None)
        data = replace(data, cases=cases[rows])
    plan = _plan_folds(data, k, repeats, folds, rng)
    warn_of_unseen_values(counts)
    return replace(plan, unseen=counts)


def _split_off_folds(data: Any, column: str) -> tuple[Opened[Dataset], Positions]:
    """Return data without a column, and the position of its label in each row, or raise."""
    check_columns([column], data.columns, "folds")
    data, labels = data.split_off_column(column)
    number, _ = pd.factorize(pd.Series(labels), sort=True)
    if missing := np.count_nonzero(number < 0):
        raise ValueError(f"folds must have a fold in every row; {missing} rows have none.")
    return data, number


def warn_of_unseen_values(counts: Mapping[Hashable, int]) -> None:
    """Warn of values that are treated as missing, whose numbers are given by column."""
    if counts:
        hidden = listed([f"{count} in {shown(name)}" for name, count in counts.items()])
        warn(
            f"Values that are not among the levels of the models are treated as missing: {hidden}."
        )


def check_training_columns(
    models: Mapping[Hashable, Model], data: OpenedData, columns: object, dag: bool
) -> None:
    """Raise unless the data have exactly the training columns, or ``columns`` is "any"."""
    if OneOf(("same", "any")).check("columns", columns) == "any" or not dag:
        return
    present = data.columns
    for name, model in models.items():
        recipe = check_recipe(model, fitted=False)
        seen = recipe.seen
        if seen is None or set(seen) == set(present):
            continue
        missing = [c for c in seen if c not in present]
        added = [c for c in present if c not in seen]
        parts = {"it lacks": missing, "it also has": added}
        differing = [f"{part} {listed(names)}" for part, names in parts.items() if names]
        remedy = (
            "Pass these columns. In cv, columns='any' learns from the columns present, which gives "
            "a different model, and dag=False keeps the structure."
        )
        if added and not missing and _used_groups(recipe):
            remedy = (
                f"If {shown(added[0])} names the groups of its rows, pass groups={added[0]!r} to "
                "cv or cv_predict."
            )
        raise ValueError(
            f"dataset must have the columns that model {shown(name)} was learned from; "
            f"{' and '.join(differing)}. {remedy}"
        )


def _used_groups(recipe: Recipe) -> bool:
    """Whether a model was learned from groups of rows."""
    return recipe.rows is not None and 0 < recipe.rows.cases < recipe.rows.given


def _warn_of_divided_groups(models: Mapping[Hashable, Model]) -> None:
    """Warn if a model was learned from groups of rows, which folds would divide."""
    divided = [name for name, model in models.items() if _used_groups(check_recipe(model))]
    if divided:
        warn(
            f"Model {listed(divided)} was learned from groups of rows, and folds of single rows "
            "can test a group with which it was learned. Pass groups to cv or cv_predict."
        )


def names_of_given_models(models: Mapping[Hashable, Model]) -> list[Hashable]:
    """Return the names of models that recipes do not fit again, or only in part."""
    return [name for name, model in models.items() if contains_given(model.recipe)]


def training_data_of_model(x: Model, dataset: OpenedData) -> TrainingData:
    """Return the rows with a class, prepared for the recipe of a model."""
    return training_data_of_models({0: x}, dataset, dataset.columns, dag=True, warns=False)


def _read_numbers_for_models(
    models: Mapping[Hashable, Model], dataset: Opened[Dataset], names: Sequence[Hashable], dag: bool
) -> Opened[Dataset]:
    """Encode rows, with numeric columns as numbers if some models need them."""
    cut = {k: m for k, m in models.items() if m.discretizer is not None}
    raw = cut | {k: m for k, m in models.items() if m.densities}
    if not raw:
        return dataset
    others = {k: m for k, m in models.items() if k not in raw}
    sets = [columns_for_refits(some, dag=dag) for some in (models, others)]
    needed, coded = [set(names) if some is None else some for some in sets]
    target = next(iter(models.values())).class_var
    check_columns({target, *needed}, names, "dataset")
    return dataset.encode_raw(target, needed | {target}, coded)


def hide_unseen_levels(
    models: Mapping[Hashable, Model], data: TrainingData
) -> tuple[TrainingData, dict[Hashable, int]]:
    """Return data without the levels that a fixed model lacks, and their numbers by column."""
    unseen: dict[Hashable, Mask] = {}
    for model in models.values():
        coded = data if model.preparation is None else model.preparation.prepared_data(data)
        for name in [name for name in model.features if name not in model.densities]:
            position = coded.positions[name]
            codes, labels = coded.codes[[position]][0], coded.levels[position]
            recoded = recode_column(codes, labels, model.levels_by_name[name], name, -1)
            strange: Mask = (recoded < 0) & (codes >= 0)
            if strange.any():
                unseen[name] = unseen.get(name, np.zeros(len(data), dtype=bool)) | strange
    if not unseen:
        return data, {}
    hidden, numbers = data.codes.copy(), dict(data.numbers)
    for name, rows in unseen.items():
        hidden[data.positions[name], rows] = -1
        if name in numbers:
            numbers[name] = np.where(rows, np.nan, numbers[name])
    counts = {name: int(np.count_nonzero(rows)) for name, rows in unseen.items()}
    return replace(data, codes=hidden, numbers=numbers), counts


def training_data_of_models(
    models: Mapping[Hashable, Model],
    dataset: OpenedData,
    names: Sequence[Hashable],
    *,
    dag: bool,
    warns: bool = True,
) -> TrainingData:
    """Return the columns among names to which models can be refitted, in rows with the only target.

    If ``warns``, dropped rows cause a warning.
    """
    dataset = dataset.check_in_memory("dataset")
    opened = dataset
    if not isinstance(dataset, Dataset):
        opened = _read_numbers_for_models(models, dataset, names, dag)
    elif dag and warns and any(m.discretizer and m.discretizer.columns for m in models.values()):
        check_can_discretize(dataset)
    targets = next(iter(models.values())).targets
    needed = columns_for_refits(models, dag=dag)
    check_columns({*targets, *(needed or ())}, names, "dataset")
    chosen = [name for name in names if needed is None or name in needed or name in targets]
    kept: set[Hashable] = set()
    if not isinstance(opened, Dataset):
        kept = {name for model in models.values() for name in model.densities}
    data = opened.read(Columns(chosen, numeric=kept))
    raw = set(data.numbers)
    if all(model.preparation is not None for model in models.values()):
        raw |= {name for name, card in zip(data.columns, data.cards, strict=True) if not card}
    check_have_levels(
        data, [name for name in data.columns if name not in raw or name in targets], targets
    )
    if warns and len(targets) == 1 and data.incomplete[data.positions[targets[0]]]:
        unknown = np.count_nonzero(data.codes[data.positions[targets[0]]] < 0)
        if unknown < len(data):  # none is left otherwise, which is an error below
            warn(f"{unknown} of {len(data)} rows have no class {shown(targets[0])} and are ignored")
    read = read_training(data, targets, known=dict.fromkeys(raw, ()), warns=False)
    assert isinstance(read, TrainingData)
    return read


def _plan_folds(data: TrainingData, k: int, repeats: int, folds: Folds | None, rng: Seed) -> Plan:
    """Assign rows to folds, stratified by one target; the first repeat never changes.

    Given folds include rows without a class.
    """
    generator, rounds, digest, is_partition = check_rng(rng), [], blake2b(digest_size=12), True
    index, given = data.with_unlabeled_rows.index, data
    known = data.is_row_labeled if len(data.targets) == 1 else np.full(len(data), True)
    data = replace(data, with_unknown=None)
    for repeat in range(repeats):
        tests = drawn_or_given_folds(given, k, folds, generator, quiet=repeat > 0)
        if folds is not None:
            rows = np.sort(np.concatenate([test.rows for test in tests]))
            is_partition = np.array_equal(rows, np.arange(len(data)))
        for number, test in enumerate(tests):
            seed = None if rng is None else int(generator.integers(2**63))
            rounds.append(Round(repeat, number, test, seed))
            learned = () if test.learned is None else np.sort(test.learned)
            units = () if test.units is None else test.units
            numbers = np.array([len(test.rows), *np.sort(test.rows), *units, *learned])
            digest.update(numbers.astype("<i8").tobytes())
    return Plan(data, rounds, digest.hexdigest(), is_partition, index=index, known=known)
