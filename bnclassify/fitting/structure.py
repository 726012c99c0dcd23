"""Structures learned from raw data, which are first prepared, and learned again from other rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

from ..dataset import Countable, Dataset, OpenedData
from ..frames import (
    Frame,
    TrainingData,
    prepare_training_data,
    prepare_training_rows,
    warn_of_columns,
    warn_of_no_features,
)
from ..model import Model, Recipe, Step, replace_unchecked
from ..networks.weighted import FineData, Weighted
from ..numbers import MovedCuts, Preparing, check_can_discretize
from ..structure import LEARNERS, anb, find_learner, nb
from ..tools.calls import parameters_of
from ..tools.checks import check_columns
from ..tools.immutable import RECORDS, is_record, record
from ..tools.messages import is_named_as_count, listed, shown, warn

_MANY_CODES = 50
"""Maximum number of levels of a column of codes; more whole numbers are probably measurements."""


def learn_structure(
    learner: Callable[..., Model],
    class_var: Hashable,
    dataset: OpenedData,
    options: Mapping[str, Any],
    preparing: Preparing,
) -> tuple[Model, Countable]:
    """Learn a structure, and return it with the data prepared for it."""
    if preparing.wants_preparation:
        return _structure_from_raw(class_var, dataset, learner, options, preparing)
    data = prepare_training_data(
        dataset, (class_var,), _chosen_features(options), numeric=preparing.numeric
    )
    if isinstance(dataset, Frame):
        wide = [
            name
            for name, column in dataset.frame.items()
            if name in data.features
            and name not in data.schema.numeric
            and column.dtype.kind in "iu"
            and column.nunique() > _MANY_CODES
            and not is_named_as_count(name)
        ]
        if wide:
            warn(
                f"The whole numbers in {listed(wide)} are treated as categories with more than "
                f"{_MANY_CODES} levels. If they are measurements, use discretize='mdlp'. If they "
                "are codes, make the column a category, with .astype('category')."
            )
    structure = _checked_structure(learner(class_var, dataset=data, **options))
    if learner not in LEARNERS.values():
        # a user's function is repeated with the present settings
        structure = replace_unchecked(
            structure, recipe=Recipe(class_var, _learner_step(learner, options), seen=data.columns)
        )
    return structure, data


def _structure_from_raw(
    class_var: Hashable,
    dataset: OpenedData,
    learner: Callable[..., Model],
    options: Mapping[str, Any],
    preparing: Preparing,
    rng: np.random.Generator | None = None,
) -> tuple[Model, TrainingData]:
    """Learn a structure from raw data, with its recipe."""
    step = _learner_step(learner, options)
    if step.draws and rng is not None:
        options = {**options, "rng": rng}
    named = step.name if is_record(learner) else learner
    settings = {"learner": named, "dag_args": dict(step.settings), **preparing._asdict()}
    names, columns = _chosen_features(options), dataset.columns
    if preparing.discretize is not None and not isinstance(dataset, TrainingData):
        check_can_discretize(dataset)
    check_columns([class_var], columns, "class_var")
    chosen = columns if names is None else {*check_columns(names, columns, "features"), class_var}
    raw = preparing.read(dataset, class_var, [name for name in columns if name in chosen])
    preparation, prepared = preparing.learn(raw, class_var)
    cuts = preparation.discretizer
    numbers = prepared.numbers
    found = [name for name in prepared.schema.numeric if name in numbers]
    numeric = tuple([name for name in found if not pd.isna(numbers[name]).all()])
    features = names
    if features is None:
        uncut = () if cuts is None else cuts.uncut
        features = tuple([name for name in prepared.columns if name != class_var])
        drop = {*uncut, *prepared.schema.numeric} - {*numeric, *preparation.missing, class_var}
        if "parents" not in options and len(drop) < len(features):  # if not, none would remain
            features = tuple([name for name in features if name not in drop])
    data = prepare_training_rows(prepared, class_var, features, numeric=numeric)
    if names is None and raw is not dataset:
        # With intentionally narrow intervals.
        fine = cuts.cuts if isinstance(cuts, MovedCuts) else ()
        others = data.select([name for name in data.columns if name not in fine])
        warn_of_columns(others, class_var, raw.rows_with_known(class_var))
        if not features:
            warn_of_no_features(class_var)
    again = Step(step.name, relearn_raw, settings, draws=step.draws)
    seen = tuple(columns) if names is None else None
    recipe = Recipe(class_var, again, names, preparation=preparation, seen=seen)
    if not (isinstance(cuts, MovedCuts) and any(cuts.cuts.values())):
        structure = _checked_structure(learner(class_var, dataset=data, **options))
        return replace_unchecked(structure, recipe=recipe), data
    expected = "discretize must be 'mdlp', 'mixed' or another single discretization"
    check_learner_is_able(
        learner,
        lambda learner: getattr(learner, "averages_codings", False) is True,
        expected,
        cuts.method,
        "learn from several discretizations at once",
    )
    fine_data = FineData.from_cuts(data, cuts)
    network: Any = _checked_structure(learner(class_var, dataset=fine_data, **options))
    structure = replace_unchecked(network, recipe=recipe)
    return Weighted(structure, fine_data.cuttings, recipe=recipe), fine_data


@record
def relearn_raw(
    class_var: Hashable,
    dataset: Dataset,
    *,
    learner: str | Callable[..., Model],
    dag_args: Mapping[str, Any],
    rng: np.random.Generator | None = None,
    **preparing: Any,
) -> Model:
    """Learn a structure from raw data like `bnc`, including the preparation of the data."""
    named = RECORDS.get(learner, learner) if isinstance(learner, str) else learner
    function = find_learner(named, "learner")
    return _structure_from_raw(class_var, dataset, function, dag_args, Preparing(**preparing), rng)[
        0
    ]


def _learner_step(learner: Callable[..., Model], options: Mapping[str, Any]) -> Step:
    """Return the call of a user's function, with a copy of its settings."""
    name = str(getattr(learner, "__name__", learner))
    return Step(name, learner, deepcopy(dict(options)), draws="rng" in parameters_of(learner))


def _chosen_features(options: Mapping[str, Any]) -> tuple[Hashable, ...] | None:
    """Return the features that the learner must use, or None."""
    names = options.get("features")
    return tuple(names) if isinstance(names, list | tuple) else None


def _checked_structure(structure: object) -> Model:
    if not isinstance(structure, Model):
        raise TypeError(f"dag_learner must return a structure; it returned {shown(structure)}.")
    return structure


def check_learner_is_able(
    learner: Callable[..., Model],
    able: Callable[[Any], bool],
    expected: str,
    value: object,
    ability: str,
) -> None:
    """Raise a ValueError if an argument requires a learner with an ability."""
    if not able(learner):
        names = listed([name for name, function in LEARNERS.items() if able(function)])
        name = getattr(learner, "__name__", learner)
        raise ValueError(
            f"{expected} with {name}; got {shown(value)}. The learners {names} {ability}."
        )


def accepts_numbers(learner: Any) -> bool:
    """Whether a learner accepts data with numbers."""
    return learner in (nb, anb) or "numbers" in parameters_of(learner)
