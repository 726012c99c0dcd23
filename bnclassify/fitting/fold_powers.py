"""Powers of models by held-out folds of the training rows, for which everything is learned again.

Leave-one-out evaluates a model on rows from which structure, cut points and concentrations were learned.
Therefore, models are overconfident for few rows or many features. Here, each fold of the rows is predicted by
models for which everything was learned from the other folds. Nothing is chosen: the model without feature
parents, the model with them and logistic regression are added up, each with a power.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes
from ..base.immutable import EMPTY, cached_property
from ..base.messages import silently
from ..base.parallel import number_of_jobs, run_tasks
from ..frames.dataset import Dataset
from ..frames.training import TrainingData
from ..model.arguments import code_rows
from ..model.model import Model, renewed
from ..model.recipes import Recipe
from ..network.methods import Method
from ..recipe.cases import as_cases, class_ranks, in_order
from ..recipe.leave_one_out import LeaveOneOut, LeaveOneOutSummary
from ..recipe.log_linear import LogLinear
from ..recipe.powered import Powered
from ..recipe.powers import COMMON_PRECISION, Problem, common_power, log_likelihood, maximize, odds
from ..recipe.weighted import with_at_most
from ..scores.evaluate import scores_at
from ..scores.rows import Rows
from .rounds import RowFold, raw_rows, split_cases

_LEAST_POWER = 0.01  # minimum power of the tables, which keeps the order of the classes
_MEANS = (0.25, 0.5)
"""The means of the powers of regression and of tables, a priori."""
_PRECISION = 15.0  # of these powers
_STEP_PRECISION = 2.0  # of the power of the step to parents
_STEP_MEAN = -3.0  # so that each unit of its power must gain 6 nats to be above 0
_SOME_ROWS = 150  # number of held-out rows from which the step to parents can be dropped
_ENOUGH_ROWS = 600  # number of held-out rows from which no more folds are used

Learn = Callable[..., list[Model]]
"""Learns members from a structure, data, maximum numbers of parents, and precisions of weights, if known."""


@dataclass(frozen=True, eq=False)
class FoldOdds:
    """The odds of rows by members that were learned without their fold, (members, classes − 1, rows).

    ``offset`` are the odds that incomplete rows have in addition to those of the members.
    """

    odds: Array
    offset: Array
    classes: Codes
    counts: Array

    @classmethod
    def of(cls, folds: Sequence[FoldOdds]) -> FoldOdds:
        """Return the rows of all folds."""
        arrays = [[getattr(fold, name) for fold in folds] for name in cls.__dataclass_fields__]
        return cls(*[np.concatenate(each, axis=-1) for each in arrays])

    @property
    def size(self) -> int:
        """Number of rows, or sum of their weights."""
        return int(self.counts.sum())

    def power(self) -> float:
        """Return the best power of the only member."""
        return max(common_power(self.odds[0], self.classes, self.counts, offset=self.offset), _LEAST_POWER)

    def powers(self, mean: Sequence[float]) -> Array:
        """Return the best powers of the members, around the means of the first ones and of a step to parents.

        No power is below its minimum. Example: with powers (0.4, 0.7, −0.1), the step is fixed at its least
        value 0, and the others are searched again.
        """
        means = np.array([*mean, _STEP_MEAN][: len(self.odds)])
        least = np.zeros(len(means))
        least[len(mean) - 1] = _LEAST_POWER
        found: Array = np.maximum(means, least)
        free = np.ones(len(means), dtype=bool)
        while free.any():
            offset = self.offset + np.tensordot(found[~free], self.odds[~free], 1)
            problem = Problem([self.odds[free]], self.classes, self.counts, offset=offset)
            ridges = np.array([*[_PRECISION] * len(mean), _STEP_PRECISION])[: len(means)][free]
            found[free], *_ = maximize(problem, means[free], ridges, found[free])
            low = free & (found < least)
            found[low] = least[low]
            if not low.any():
                break
            free &= ~low
        return found

    def requires_step(self, mean: Sequence[float]) -> bool:
        """Whether the last member, the step to parents, has a positive power."""
        return bool(self.powers(mean)[-1] > 0)

    def without_step(self) -> FoldOdds:
        """Return the members without the last one."""
        return replace(self, odds=self.odds[:-1])

    def log_likelihood(self, power: float) -> float:
        """Return the log-likelihood of the classes by the only member, raised to a power."""
        return log_likelihood(self.offset + power * self.odds[0], self.classes, self.counts)


def fit_by_folds(
    x: Model,
    dataset: Any,
    rows: Dataset,
    method: Method,
    number: int,
    learn: Learn,
    *,
    weighs: bool,
    rng: np.random.Generator | None = None,
) -> Model:
    """Return the model with a power by folds or, if it ``weighs``, the sum of several models with powers."""
    rows = in_order(as_cases(rows)) if weighs else rows
    cases = rows.size if rows.cases is None else min(rows.size, len(np.unique(rows.cases)))
    several_classes = len(rows) > 0 and np.ptp(rows.codes[-1]) > 0
    folds = _LeftOutFolds(x, dataset, rows, learn, number, weighs, rng)
    if weighs and isinstance(method, LeaveOneOut) and method.weights:
        return _fit_weighed_sum(x, rows, method, folds, has_folds=cases >= 2 * number and several_classes)
    [fitted] = learn(x, rows)
    enough = min(cases / 2, len(rows)) >= number and several_classes
    return _with_power(method, fitted, folds.predict([None]) if enough else None, rows)


def _with_power(method: Method, x: Model, found: FoldOdds | None, rows: Dataset) -> Model:
    """Return a model raised to the power that is best for held-out rows."""
    power, size = (1.0, 0) if found is None else (found.power(), found.size)
    if isinstance(method, LeaveOneOut):
        summary = _summary_of(x)
        x = method.finish([x], [power if method.weights else 1.0], rows)
    else:
        value = 0.0 if found is None else found.log_likelihood(power)
        depth = max(0 if member.graph is None else member.graph.depth for member in x.members)
        penalty = COMMON_PRECISION / 2 * (power - 1) ** 2
        summary = LeaveOneOutSummary(power, value - penalty, value, depth, size)
    summary = replace(summary, fold_power=power, fold_rows=size)
    if power == 1 or (isinstance(method, LeaveOneOut) and method.weights):
        return renewed(x, learned={**x.learned, "leave_one_out": summary})
    return Powered(x, power, x.recipe, {"leave_one_out": replace(summary, power=power)})


def _fit_weighed_sum(
    x: Model, rows: Dataset, method: LeaveOneOut, folds: _LeftOutFolds, *, has_folds: bool
) -> Model:
    """Return the sum of logistic regression and of the models without and with feature parents.

    With powers r, a and b, the score is r·regression + (a − b)·without + b·with: b moves from the one to the
    other, and is 0 unless held-out rows require parents.
    """
    most = 0 if x.graph is None else x.graph.depth
    depths = [0, most] if method.parents and has_folds and most else [0 if method.parents else most]
    method = replace(method, parents=False)
    members = folds.learn(with_at_most(x, depths[0]), rows, depths[:1])
    mean = _MEANS if len(members) > 1 else (sum(_MEANS),)
    powers, size = [*mean], 0
    ridges = _summary_of(members[-1]).ridges
    if has_folds:
        held = folds.predict(depths, mean, ridges)
        powers, size = held.powers(mean).tolist(), held.size
    of_members = powers
    if len(powers) > len(mean):
        members = folds.learn(x, rows, depths, ridges)
        *first, plain, deep = powers
        of_members = [*first, plain - deep, deep]
    fitted = method.finish(members, of_members, rows)
    summary = replace(
        _summary_of(members[-1]),
        fold_power=powers[len(mean) - 1],
        fold_rows=size,
        regression_power=powers[0] if len(mean) > 1 else None,
    )
    return renewed(fitted, learned={**fitted.learned, "leave_one_out": summary})


def _summary_of(x: Model) -> LeaveOneOutSummary:
    summary: LeaveOneOutSummary = x.learned["leave_one_out"]
    return summary


@dataclass(frozen=True, eq=False)
class _LeftOutFolds:
    """Training data in folds, and the models that are learned without each fold."""

    x: Model
    dataset: Any
    rows: Dataset
    learn: Learn
    number: int
    weighs: bool
    rng: np.random.Generator | None

    @cached_property
    def pairs(self) -> list[tuple[Dataset, Dataset]]:
        """The training rows and the held-out rows of each fold."""
        data: Dataset = self.rows
        if self.x.recipe is not None:
            given = self.dataset
            raw = given.raw if isinstance(given, TrainingData) and given.raw is not None else given
            data = raw_rows(self.x, raw).counting()
            data = as_cases(data) if self.weighs else data
        data = in_order(data) if self.weighs else data
        if self.rng is not None:
            data = data.taken(self.rng.permutation(len(data)))
        return [fold.split(data) for fold in split(data, self.number, by_content=self.weighs)]

    @cached_property
    def recipe(self) -> Recipe | None:
        """The recipe of structures."""
        return self.x.recipe and replace(self.x.recipe, parameters=None)

    def structure(self, train: Dataset, depth: int | None) -> Model:
        """Return the structure that the recipe learns from rows, maybe with fewer parents."""
        if self.recipe is None:
            return self.x if depth is None else with_at_most(self.x, depth)
        recipe = _without_parents(self.recipe) if depth == 0 else self.recipe
        learned: Model = recipe.fit(train)
        return with_at_most(learned, depth) if depth else learned

    def predict(
        self, depths: Sequence[int | None], mean: Sequence[float] = (), ridges: Mapping[str, float] = EMPTY
    ) -> FoldOdds:
        """Predict folds by models of the other folds, to weigh the members until there are enough rows.

        The step to parents is dropped once some rows give it the power 0.
        """
        found: list[FoldOdds] = []
        at_once: list[FoldOdds] = []  # folds that were predicted in parallel
        with silently():  # settings for all rows
            for number in range(len(self.pairs)):
                if not at_once:
                    batch = range(number, min(number + number_of_jobs(), len(self.pairs)))
                    at_once = list(run_tasks(partial(self._of_fold, depths=depths, ridges=ridges), batch))
                found.append(at_once.pop(0))
                together = FoldOdds.of(found)
                if len(depths) > 1 and together.size >= _SOME_ROWS and not together.requires_step(mean):
                    depths, found, at_once = depths[:1], [fold.without_step() for fold in found], []
                if self.weighs and together.size >= _ENOUGH_ROWS:
                    break
        together = FoldOdds.of(found)
        return together if len(depths) < 2 or together.requires_step(mean) else together.without_step()

    def _of_fold(self, number: int, depths: Sequence[int | None], ridges: Mapping[str, float]) -> FoldOdds:
        """Return the odds of a fold, the last ones as a step from the model before if there are several."""
        train, test = self.pairs[number]
        members = self.learn(self.structure(train, depths[-1]), train, depths, ridges)
        first = members[0]
        encoded = code_rows(first, test, first.variables)
        rows = first.place(encoded, unseen="missing")
        own: Codes = encoded.codes[encoded.positions[first.class_var]]
        weights = np.ones(len(test)) if test.weights is None else test.weights
        scores, offsets = zip(*[_score_and_offset(x, rows) for x in members], strict=True)
        by_member = np.array([odds(score) for score in scores])
        if len(depths) > 1:
            by_member[-1] -= by_member[-2]
        return FoldOdds(by_member, odds(offsets[-1]), own, weights)


def _score_and_offset(x: Model, rows: Rows) -> tuple[Array, Array]:
    """Return what a power of the model raises of its scores, and the rest, (rows, classes)."""
    if isinstance(x, LogLinear):
        return x.score_and_offset(rows)
    score = scores_at(x.score, rows)
    return score, np.zeros(score.shape)


def _without_parents(recipe: Recipe) -> Recipe:
    """Return the recipe with a learner that does not search for feature parents."""
    settings = dict(recipe.structure.settings)
    if "kdbk" in settings:
        settings["kdbk"] = 0
    elif "kdbk" in settings.get("dag_args", {}):
        settings["dag_args"] = {**settings["dag_args"], "kdbk": 0}
    return replace(recipe, structure=replace(recipe.structure, settings=settings))


def split(data: Dataset, folds: int, *, by_content: bool = True) -> list[RowFold]:
    """Return the rows, or the units of whole weights, of each fold: unit i of class c is in (i + c) mod V.

    Units are in the given order, and classes, ``by_content``, by frequency. Rows of a case, which has the
    class of its first row, stay together.
    """
    rows, weights = np.arange(len(data)), data.weights
    classes: Codes = class_ranks(data, rows)[data.codes[-1]] if by_content else data.codes[-1]
    if data.cases is not None:
        return split_cases(data.cases, classes, rows, folds)
    whole = weights is not None and not (weights % 1).any()
    units = weights.astype(np.int64) if weights is not None and whole else np.ones(len(data), dtype=np.int64)
    starts = np.empty(len(data), dtype=np.int64)  # the number of the first unit of a row, within its class
    for of_class in (np.flatnonzero(classes == c) for c in range(data.cards[-1])):
        starts[of_class] = units[of_class].cumsum() - units[of_class]
    result = []
    for fold in range(folds):
        # The units of class c in this fold are (fold − c) mod V, and then each V-th. In fold 0 of 5, those
        # of class 0 are 0, 5, 10, …, so a row with the units 7 to 11 has one of them.
        first = (fold - classes.astype(np.intp)) % folds
        before, until = [-((first - end) // folds) for end in (starts, starts + units)]  # rounded up
        some = np.flatnonzero(until > before)
        if len(some):
            result.append(RowFold(some, (until - before)[some].astype(np.float64) if whole else None))
    return result
