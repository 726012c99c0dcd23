"""Structures learned from raw data, together with what makes categories of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from typing import Any, NamedTuple

import pandas as pd

from ..backoff.averaged_cuts import AveragedCuts
from ..base.checks import check_choice
from ..base.messages import listed, shown
from ..frames.encoding import check_class_name, check_columns, check_frame
from ..frames.schema import Dataset, Schema
from ..frames.training import TrainingData, prepare
from ..frames.wide_columns import warn_of_wide_columns
from ..model.model import Model, renewed
from ..model.recipes import Recipe, Step
from ..network.bnc import check_bnc
from ..numbers.coarsening import FineData, coarsenings
from ..numbers.mdlp import METHODS
from ..numbers.preparation import Preparation, learn_preparation
from ..numbers.shifted_cuts import CUTTINGS, MovedCuts

AVERAGING = ("nb", "tan_cl", "kdb_mi", "anb")
"""The learners that average what they learn of pairs over several cuttings, or learn nothing of pairs."""


class Preparing(NamedTuple):
    """How raw data is to be prepared.

    Attributes
    ----------
    discretize : str or None
        How numbers are cut.
    bins : int
        Into how many intervals, where the method does not say.
    min_count : int or None
        What is rarer is merged.
    """

    discretize: str | None
    bins: int
    min_count: int | None

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be done."""
        return self.discretize is not None or self.min_count is not None

    def learn(self, frame: pd.DataFrame, class_var: Hashable) -> Any:
        """Learn it, and return the data prepared and the preparation."""
        if self.discretize is not None:
            check_choice("discretize", self.discretize, (*METHODS, *CUTTINGS))
        return learn_preparation(
            frame, class_var, method=self.discretize, bins=self.bins, min_count=self.min_count
        )


def learn_raw(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    learner: Callable[..., Model],
    names: tuple[Hashable, ...] | None,
    preparing: Preparing,
    step: Step,
    *,
    keep: bool = False,
) -> tuple[Model, TrainingData]:
    """Learn a structure from raw data, and return it with the data prepared.

    Parameters
    ----------
    class_var : str
    dataset : pandas.DataFrame or RawData
    learner : callable
        Takes prepared data.
    names : tuple, optional
        The features to take; all by default.
    preparing : Preparing
    step : Step
        What learns the structure again from raw data.
    keep : bool
        Whether to keep columns of numbers that are left with one level, and tell nothing.
    """
    check_class_name(class_var)
    if isinstance(dataset, TrainingData) and dataset.frame is not None:
        dataset = dataset.frame
    raw = check_frame(dataset, "dataset")
    check_columns([class_var], raw.columns, "class_var")
    if names is not None:
        chosen = {*check_columns(names, raw.columns, "features"), class_var}
        raw = raw[[column for column in raw.columns if column in chosen]]
    frame, preparation = preparing.learn(raw, class_var)
    if names is None and not keep:
        frame = without_uncut(frame, preparation)
    data = _prepare(frame, class_var, names, preparation)
    seen = tuple(raw.columns) if names is None else None
    recipe = Recipe(class_var, step, names, preparation=preparation, seen=seen)
    cuts = preparation.discretizer
    if not (isinstance(cuts, MovedCuts) and any(cuts.cuts.values())):
        return renewed(learner(data), recipe=recipe), data
    if step.name not in AVERAGING:
        raise ValueError(
            f"discretize: {shown(cuts.method)} goes with {listed(AVERAGING)}, whose structures come from "
            f"several cuttings at once; with {step.name}, take 'mdlp' or 'mixed'"
        )
    fine = _fine_data(data, cuts)
    network = check_bnc(learner(fine), "discretize")
    return AveragedCuts(renewed(network, recipe=recipe), fine.cuttings, recipe=recipe), fine


def without_uncut(frame: pd.DataFrame, preparation: Preparation) -> pd.DataFrame:
    """Leave out columns of numbers with one level, which tell nothing, unless there would be no others."""
    uncut = () if preparation.discretizer is None else preparation.discretizer.uncut
    return frame.drop(columns=list(uncut)) if len(uncut) < frame.shape[1] - 1 else frame


def _prepare(
    frame: pd.DataFrame, class_var: Hashable, names: tuple[Hashable, ...] | None, preparation: Preparation
) -> TrainingData:
    """Prepare data as `prepare` does, but take fine intervals for what they are, and no identifiers."""
    cuts = preparation.discretizer
    if names is not None or not isinstance(cuts, MovedCuts):
        return prepare(frame, (class_var,), names, rows_needed=True)
    data = prepare(
        frame, (class_var,), [name for name in frame.columns if name != class_var], rows_needed=True
    )
    uncut = data.select([name for name in data.columns if name not in cuts.cuts])
    warn_of_wide_columns(uncut.schema, uncut.codes, uncut.weights, class_var)
    return data


def _fine_data(data: TrainingData, cuts: MovedCuts) -> FineData:
    cuttings = coarsenings(cuts, Schema(data.features, data.levels[:-1]))
    content = {field.name: getattr(data, field.name) for field in fields(data)}
    return FineData(**content, cuttings=cuttings)
