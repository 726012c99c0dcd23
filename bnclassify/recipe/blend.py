"""The default model: a sum of logistic regression and of models without and with feature parents.

Each has a power by held-out folds of the training rows. Leave-one-out alone is overconfident,
because weights and arcs are learned from the rows that they are evaluated on. Here, each fold is
predicted by arcs, tables and weights of the other folds; only the quantiles of numbers are those of
all rows. Arcs of learners that do not rank parents, such as `tan_cl`, are those of all rows, too.
Powers leave ln P(y) as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, Positions, one_thread
from ..base.immutable import EMPTY, cached_property
from ..base.messages import silencing_warnings
from ..base.parallel import number_of_jobs, run_tasks
from ..frames.dataset import Dataset
from ..model.model import Model
from .backoff_prior import find_prior
from .conditional_likelihood import Problem, common_power, log_likelihood, maximize
from .content_order import as_cases, in_order
from .held_out_terms import RIDGE, HeldOutTerms, Regression, WeightedFit
from .leave_one_out import LeaveOneOut, distinct_rows, summary_of
from .log_linear import LogLinear
from .row_folds import split_rows
from .weighted import Weighted, with_own_cuts, without_feature_parents

_LEAST_POWER = 0.01  # of tables, which keeps the order of the classes, and of the step to parents
_MEANS = (0.25, 0.5)
"""The means of the powers of regression and of tables, a priori, for many rows."""
_FEW = 20.0  # number of cases for which these means are halved
_PRECISION = 15.0  # of these powers
_STEP_PRECISION = 2.0  # of the power of the step to parents
_STEP_MEAN = -3.0  # so that each unit of its power must gain 6 nats to be above 0
_SOME_ROWS = 150  # number of held-out rows from which the step to parents can be dropped
_ENOUGH_ROWS = 600  # number of held-out rows from which no more folds are used
_MOST_ROWS = 5000  # number of rows of a fold that are predicted
_ROWS_PER_FEATURE = 5  # fewest rows per feature from which features can have parents


@dataclass(frozen=True, eq=False)
class FoldOdds:
    """The odds of rows by members learned without their fold, (members, classes − 1, rows).

    ``offset`` are the odds that rows have in addition to those of the members.
    """

    odds: Array
    offset: Array
    classes: Codes
    counts: Array

    @classmethod
    def of_folds(cls, folds: Sequence[FoldOdds]) -> FoldOdds:
        """Return the rows of all folds."""
        arrays = [[getattr(fold, name) for fold in folds] for name in cls.__dataclass_fields__]
        return cls(*[np.concatenate(each, axis=-1) for each in arrays])

    @property
    def size(self) -> int:
        """Number of rows, or sum of their weights."""
        return int(self.counts.sum())

    def power(self) -> float:
        """Return the best power of the only member."""
        return max(
            common_power(self.odds[0], self.classes, self.counts, offset=self.offset), _LEAST_POWER
        )

    def powers(self, mean: Sequence[float]) -> Array:
        """Return the best powers of members, around the means of the first and of a parent step.

        No member counts negatively, so the step from the model without parents to the one with
        parents has at most the power of the model without.
        """
        n, steps = len(mean), len(self.odds) - len(mean)
        means = np.array([*mean, *[_STEP_MEAN] * steps])
        ridges = np.array([*[_PRECISION] * n, *[_STEP_PRECISION] * steps])
        found = self._maximize(means, ridges, n - 1)
        if not steps or found[-1] <= found[-2]:
            return found
        # The model with parents alone, which has both priors: precisions 15 and 2 around 0.5 and
        # −3 are a precision of 17 around (15 · 0.5 − 2 · 3) / 17 = 0.09.
        joined = replace(self, odds=np.append(self.odds[:-2], self.odds[-2:].sum(axis=0)[None], 0))
        means[-2] = ridges[-2:] @ means[-2:] / ridges[-2:].sum()
        ridges[-2] = ridges[-2:].sum()
        found = joined._maximize(means[:-1], ridges[:-1], n - 1)
        return np.append(found, found[-1])

    def _maximize(self, means: Array, ridges: Array, tables: int) -> Array:
        """Return the best powers, none below its minimum; that of the tables is above 0.

        Example: with powers (0.4, 0.7, −0.1), the step is fixed at its least value 0, and the
        others are searched again; one at a time, because another can then rise above its minimum.
        """
        least = np.zeros(len(means))
        least[tables] = _LEAST_POWER
        found: Array = np.maximum(means, least)
        free = np.ones(len(means), dtype=bool)
        while free.any():
            offset = self.offset + np.tensordot(found[~free], self.odds[~free], 1)
            problem = Problem([self.odds[free]], self.classes, self.counts, offset=offset)
            found[free], *_ = maximize(problem, means[free], ridges[free], found[free])
            lowest = int(np.argmin(found - least))
            if found[lowest] >= least[lowest]:
                break
            free[lowest] = False
            found = np.maximum(found, least)
        return found

    def requires_step(self, mean: Sequence[float], size: float) -> bool:
        """Whether the last member, the step to parents, has a power above 0.01 for so many rows.

        These rows stand for all of them: 150 rows that gain 3 nats by the step promise 12 nats in
        600 rows, more than the 6 nats that a unit of its power must gain.
        """
        share = min(1.0, self.size / size)
        return bool(replace(self, counts=self.counts / share).powers(mean)[-1] > _LEAST_POWER)

    def without_step(self) -> FoldOdds:
        """Return the members without the last one."""
        return replace(self, odds=self.odds[:-1])

    def log_likelihood(self, power: float) -> float:
        """Return the log-likelihood of the classes by the only member, raised to a power."""
        return log_likelihood(self.offset + power * self.odds[0], self.classes, self.counts)


def fit_blend(
    x: Model,
    rows: Dataset,
    method: LeaveOneOut,
    prior: Any,
    number: int,
    learn_structure: Callable[[Model, Dataset], Model],
    rng: np.random.Generator | None,
) -> Model:
    """Return the sum of logistic regression and of the models without and with feature parents.

    With powers r, a and b, the score is ln P(y) + r·regression + (a − b)·without + b·with, each of
    them without ln P(y): b moves from the one to the other, and is 0 unless held-out rows require
    parents.
    """
    data = in_order(as_cases(rows))
    data = data if data.cases is not None else distinct_rows(data)
    has_folds = number_of_cases(data) >= 2 * number and np.ptp(data.codes[-1]) > 0
    enough = data.size >= _ROWS_PER_FEATURE * (len(data.codes) - 1)
    deepens = method.parents and has_folds and enough and x.graph is not None and x.graph.depth > 0
    learn = partial(_Members.learn, method=method, prior=prior, deepens=deepens)
    with one_thread:
        members = learn(x, data)
        powers, size = [*members.mean], 0
        if has_folds:
            learn_fold = partial(learn, ridges=members.plain.ridges)
            of_fold = partial(_odds_of_fold, x, data, learn_structure, learn_fold)
            odds = _predict(of_fold, _folds(data, number, rng), members.mean, deepens=deepens)
            powers, size = odds.powers(members.mean).tolist(), odds.size
        summary = replace(
            summary_of(members.deep if len(powers) > len(members.mean) else members.plain),
            fold_power=powers[len(members.mean) - 1],
            fold_rows=size,
            regression_power=None if members.regression is None else powers[0],
        )
        return method.finish(members.total(powers), summary, data)


def number_of_cases(data: Dataset) -> float:
    """Return the sum of weights of rows or, if smaller, the number of groups; at least 1."""
    return max(1.0, data.size if data.cases is None else min(data.size, len(np.unique(data.cases))))


class _Members:
    """Logistic regression, if the method has its terms; models without and with parents."""

    def __init__(
        self, held: HeldOutTerms, method: LeaveOneOut, ridges: Mapping[str, float]
    ) -> None:
        self.held, self.method = held, replace(method, parents=False)
        regresses = method.regresses and held.terms.data.cards[-1] > 1
        self.depth = held.depths[0 if method.parents else -1]
        self.plain = self.method.fit(held.up_to(self.depth).given_class(), ridges)
        gaps = self.plain.ridges.get("gaps", RIDGE)
        self.regression = Regression.fit(held, gaps) if regresses else None
        share = 1 / (1 + _FEW / number_of_cases(held.terms.data))
        self.mean = [share * mean for mean in (_MEANS if regresses else (sum(_MEANS),))]

    @classmethod
    def learn(
        cls,
        x: Model,
        data: Dataset,
        ridges: Mapping[str, float] = EMPTY,
        *,
        method: LeaveOneOut,
        prior: Any,
        deepens: bool,
    ) -> _Members:
        """Learn the members of a structure."""
        x = without_feature_parents(x) if method.parents and not deepens else x
        return cls(method.hold_out(x, data, prior, all_depths=deepens), method, ridges)

    @cached_property
    def deep(self) -> WeightedFit:
        """The model with feature parents."""
        return self.method.fit(self.held.given_class(), self.plain.ridges)

    def odds_at(self, rows: Positions, counts: Array, *, deepens: bool) -> FoldOdds:
        """Return the odds of other rows by the members."""
        held = self.held.at(rows, counts)
        found = [] if self.regression is None else [self.regression.odds_at(held) - held.of_class]
        found += [
            self._without_class(member, held)
            for member in (self.plain, *([self.deep] if deepens else []))
        ]
        if deepens:
            found[-1] = found[-1] - found[-2]
        offset = np.broadcast_to(held.offset + held.of_class, found[0].shape)
        return FoldOdds(np.array(found), offset, held.classes, counts)

    @staticmethod
    def _without_class(member: WeightedFit, held: HeldOutTerms) -> Array:
        """Return the odds of rows by a model, without those of the class alone."""
        found = member.odds_at(held)
        return found - held.of_class if member.held.has_class else found

    def total(self, powers: Sequence[float]) -> LogLinear:
        """Return the sum of the members with powers."""
        n = len(self.mean)
        steps, depth = powers[n:], self.held.depths[-1] if len(powers) > n else self.depth
        result: LogLinear = self.held.of_prior(depth).raised(1 - sum(powers[:n]))
        if self.regression is not None:
            result = result.plus(self.regression.model(depth).raised(powers[0]))
        result = result.plus(self.plain.model().raised(powers[n - 1] - sum(steps)))
        return result.plus(self.deep.model().raised(steps[0])) if steps else result


def scores_by_folds(x: Any, data: Dataset, number: int) -> Array:
    """Return the scores of the rows of each fold, one after the other, by models of the other rows.

    The models have the terms, precisions of weights and powers of ``x``, learned by `fit_blend`.
    """
    settings, summary = x.recipe.parameters.settings, x.learned["leave_one_out"]
    method = LeaveOneOut(terms=settings["held_out_args"].get("terms", ()))
    prior = find_prior(backoff=settings["backoff"])
    learn = partial(_Members.learn, ridges=summary.ridges, method=method, prior=prior)
    structure = Weighted(x.structure, coarsenings=x.coarsenings, apart=x.apart, recipe=x.recipe)
    of_fold = partial(_odds_of_fold, structure, data, None, learn, deepens=False, most=len(data))
    with silencing_warnings(), one_thread:
        folds = FoldOdds.of_folds([of_fold(taken) for taken in _folds(data, number, None)])
    powers = [p for p in (summary.regression_power, summary.fold_power) if p is not None]
    scores = folds.offset + np.tensordot(powers, folds.odds, 1)
    return np.vstack([np.zeros(scores.shape[1]), scores]).T


def _folds(data: Dataset, number: int, rng: np.random.Generator | None) -> list[Array]:
    """Return the weights of the rows in each fold."""
    order = np.arange(len(data)) if rng is None else rng.permutation(len(data))
    weights = data.row_weights
    result: list[Array] = []
    for fold in split_rows(data.take_rows(order), number):
        taken, rows = np.zeros(len(data)), order[fold.rows]
        taken[rows] = weights[rows] if fold.units is None else fold.units
        result.append(taken)
    return result


def _odds_of_fold(
    x: Model,
    data: Dataset,
    learn_structure: Any,
    learn: Any,
    taken: Array,
    *,
    deepens: bool,
    most: int = _MOST_ROWS,
) -> FoldOdds:
    """Return the odds of the rows of a fold by members that were learned from the other rows."""
    weights = data.row_weights
    others = replace(data, weights=weights - taken)
    x = with_own_cuts(x, others)
    structure = learn_structure(x, others.with_positive_weights()) if deepens else x
    rows = np.flatnonzero(taken)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.intp)]
    members: _Members = learn(structure, others, deepens=deepens)
    return members.odds_at(rows, taken[rows], deepens=deepens)


def _predict(
    of_fold: Any, folds: Sequence[Array], mean: Sequence[float], *, deepens: bool
) -> FoldOdds:
    """Return the odds of the first folds that have enough rows together.

    The step to parents is dropped once the folds so far, if they were that many rows, give it a
    power of at most 0.01.
    """
    rows = min(_ENOUGH_ROWS, sum(float(fold.sum()) for fold in folds))
    found: list[FoldOdds] = []
    at_once: list[FoldOdds] = []  # folds that were predicted in parallel
    with silencing_warnings():  # settings for all rows
        for number in range(len(folds)):
            if not at_once:
                batch = folds[number : number + number_of_jobs()]
                at_once = list(run_tasks(partial(of_fold, deepens=deepens), batch))
            found.append(at_once.pop(0))
            together = FoldOdds.of_folds(found)
            if deepens and together.size >= _SOME_ROWS and not together.requires_step(mean, rows):
                deepens, found, at_once = False, [fold.without_step() for fold in found], []
            # Folds of equal size can differ by a row of each class: 299 and 300 rows are enough.
            classes = together.odds.shape[1] + 1
            if together.size > _ENOUGH_ROWS - classes:
                break
    together = FoldOdds.of_folds(found)
    if deepens and not together.requires_step(mean, together.size):
        return together.without_step()
    return together
