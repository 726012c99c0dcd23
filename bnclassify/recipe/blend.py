"""The default model: a sum of logistic regression and of models without and with feature parents.

Each has a power by held-out folds of the training rows. Leave-one-out alone is
overconfident, because weights and arcs are learned from the rows that they are
evaluated on. Here, each fold is predicted by arcs, tables and weights of the
other folds; only the quantiles of numbers are those of all rows. Arcs of
learners that do not rank parents, such as `tan_cl`, are those of all rows, too.
Powers leave ln P(y) as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, Positions, one_thread
from ..base.immutable import EMPTY, cached_property
from ..base.messages import silencing_warnings
from ..base.parallel import number_of_jobs, run_tasks
from ..frames.dataset import Dataset
from ..model.model import Model
from .backoff_prior import find_prior
from .conditional_likelihood import LogisticProblem, best_common_power, best_weights, log_likelihood
from .content_order import fractional_weights_as_cases, rows_in_content_order
from .held_out_terms import RIDGE, HeldOutTerms, Regression, WeightedFit
from .leave_one_out import LeaveOneOut, LeaveOneOutSummary, distinct_rows, summarize_fit
from .log_linear import LogLinear
from .row_folds import split_rows_into_folds
from .weighted import Weighted, with_mdlp_cuts_of, without_feature_parents

_LEAST_POWER = 0.01  # of tables, which keeps the order of the classes, and of the step to parents
_MEANS = (0.25, 0.5)
"""The means of the powers of regression and of tables, a priori, for many rows."""
_ENOUGH_ROWS = 600  # number of held-out rows from which no more folds are used
_MOST_ROWS = 5000  # number of rows of a fold that are predicted


@dataclass(frozen=True, eq=False)
class FoldLogOdds:
    """The odds of rows by members learned without their fold, (members, classes − 1, rows).

    ``offset`` are the odds that rows have in addition to those of the members.
    """

    odds: Array
    offset: Array
    classes: Codes
    counts: Array

    @classmethod
    def from_folds(cls, folds: Sequence[FoldLogOdds]) -> FoldLogOdds:
        """Return the rows of all folds."""
        joined = []
        for name in cls.__dataclass_fields__:
            joined.append(np.concatenate([getattr(fold, name) for fold in folds], axis=-1))
        return cls(*joined)

    @property
    def size(self) -> int:
        """Number of rows, or sum of their weights."""
        return int(self.counts.sum())

    def best_power_of_only_member(self) -> float:
        power = best_common_power(self.odds[0], self.classes, self.counts, offset=self.offset)
        return max(power, _LEAST_POWER)

    def best_member_powers(self, mean: Sequence[float]) -> Array:
        """Return the best powers of members, around the means of the first and of a parent step.

        No member counts negatively, so the step from the model without parents
        to the one with parents has at most the power of the model without.
        """
        n, steps = len(mean), len(self.odds) - len(mean)
        # The power of the step has the mean −3 and the precision 2, so that a unit of it must gain
        # 2 · 3 = 6 nats to be above 0.
        means = np.array([*mean, *[-3.0] * steps])
        ridges = np.array([*[15.0] * n, *[2.0] * steps])
        found = self._best_powers_above_minimum(means, ridges, n - 1)
        if not steps or found[-1] <= found[-2]:
            return found
        # The model with parents alone, which has both priors: precisions 15 and 2 around 0.5 and
        # −3 are a precision of 17 around (15 · 0.5 − 2 · 3) / 17 = 0.09.
        joined = replace(self, odds=np.append(self.odds[:-2], self.odds[-2:].sum(axis=0)[None], 0))
        means[-2] = ridges[-2:] @ means[-2:] / ridges[-2:].sum()
        ridges[-2] = ridges[-2:].sum()
        found = joined._best_powers_above_minimum(means[:-1], ridges[:-1], n - 1)
        return np.append(found, found[-1])

    def _best_powers_above_minimum(self, means: Array, ridges: Array, tables: int) -> Array:
        """Return the best powers, none below its minimum; that of the tables is above 0.

        Example: with powers (0.4, 0.7, −0.1), the step is fixed at its least
        value 0, and the others are searched again; one at a time, because
        another can then rise above its minimum.
        """
        least = np.zeros(len(means))
        least[tables] = _LEAST_POWER
        found: Array = np.maximum(means, least)
        free = np.ones(len(means), dtype=bool)
        while free.any():
            offset = self.offset + np.tensordot(found[~free], self.odds[~free], 1)
            problem = LogisticProblem([self.odds[free]], self.classes, self.counts, offset=offset)
            found[free], *_ = best_weights(problem, means[free], ridges[free], found[free])
            lowest = int(np.argmin(found - least))
            if found[lowest] >= least[lowest]:
                break
            free[lowest] = False
            found = np.maximum(found, least)
        return found

    def needs_parents(self, mean: Sequence[float], size: float) -> bool:
        """Whether the last member, the step to parents, has a power above 0.01 for so many rows.

        These rows stand for all of them: 150 rows that gain 3 nats by the step
        promise 12 nats in 600 rows, more than the 6 nats that a unit of its
        power must gain.
        """
        share = min(1.0, self.size / size)
        of_all = replace(self, counts=self.counts / share).best_member_powers(mean)
        return bool(of_all[-1] > _LEAST_POWER)

    def without_parent_step(self) -> FoldLogOdds:
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

    With powers r, a and b, the score is ln P(y) + r·regression + (a −
    b)·without + b·with, each of them without ln P(y): b moves from the one to
    the other, and is 0 unless held-out rows require parents.
    """
    data = rows_in_content_order(fractional_weights_as_cases(rows))
    data = data if data.cases is not None else distinct_rows(data)
    has_folds = number_of_cases(data) >= 2 * number and np.ptp(data.codes[-1]) > 0
    # 5: fewest rows per feature from which features can have parents
    enough = data.size >= 5 * (len(data.codes) - 1)
    deepens = method.parents and has_folds and enough and x.graph is not None and x.graph.depth > 0
    learn = partial(BlendMembers.learn, method=method, prior=prior, deepens=deepens)
    with one_thread:
        members = learn(x, data)
        powers, size = [*members.mean], 0
        if has_folds:
            learn_fold = partial(learn, ridges=members.fit_without_parents.ridges)
            of_fold = partial(_log_odds_of_fold, x, data, learn_structure, learn_fold)
            folds = _weights_by_fold(data, number, rng)
            odds = _log_odds_of_enough_folds(of_fold, folds, members.mean, deepens=deepens)
            powers, size = odds.best_member_powers(members.mean).tolist(), odds.size
        has_parents = len(powers) > len(members.mean)
        fit = members.fit_with_parents if has_parents else members.fit_without_parents
        summary = replace(
            summarize_fit(fit),
            fold_power=powers[len(members.mean) - 1],
            fold_rows=size,
            regression_power=None if members.regression is None else powers[0],
        )
        return method.with_summary(members.sum_with_powers(powers), summary, data)


def number_of_cases(data: Dataset) -> float:
    """Return the sum of weights of rows or, if smaller, the number of groups; at least 1."""
    groups = data.size if data.cases is None else len(np.unique(data.cases))
    return max(1.0, min(data.size, groups))


class BlendMembers:
    """Logistic regression, if the method has its terms; models without and with parents."""

    def __init__(
        self, held: HeldOutTerms, method: LeaveOneOut, ridges: Mapping[str, float]
    ) -> None:
        self.held, self.method = held, replace(method, parents=False)
        has_regression = method.allows_regression and held.terms.data.cards[-1] > 1
        self.depth = held.depths[0 if method.parents else -1]
        without_parents = held.limited_to_depth(self.depth).with_class_in_offset()
        self.fit_without_parents = self.method.fit(without_parents, ridges)
        gaps = self.fit_without_parents.ridges.get("gaps", RIDGE)
        self.regression = Regression.fit(held, gaps) if has_regression else None
        # 20 cases halve the means, and 60 multiply them by 60 / 80
        share = 1 / (1 + 20 / number_of_cases(held.terms.data))
        means = _MEANS if has_regression else (sum(_MEANS),)
        self.mean = [share * mean for mean in means]

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
    ) -> BlendMembers:
        x = without_feature_parents(x) if method.parents and not deepens else x
        return cls(method.held_out_terms(x, data, prior, all_depths=deepens), method, ridges)

    @cached_property
    def fit_with_parents(self) -> WeightedFit:
        return self.method.fit(self.held.with_class_in_offset(), self.fit_without_parents.ridges)

    def log_odds_at(self, rows: Positions, counts: Array, *, deepens: bool) -> FoldLogOdds:
        """Return the odds of other rows by the members."""
        held, found = self.held.at_other_rows(rows, counts), []
        if self.regression is not None:
            found.append(self.regression.log_odds_at(held) - held.log_odds_of_class)
        found.append(self._log_odds_without_class(self.fit_without_parents, held))
        if deepens:
            found.append(self._log_odds_without_class(self.fit_with_parents, held) - found[-1])
        offset = np.broadcast_to(held.offset + held.log_odds_of_class, found[0].shape)
        return FoldLogOdds(np.array(found), offset, held.classes, counts)

    @staticmethod
    def _log_odds_without_class(member: WeightedFit, held: HeldOutTerms) -> Array:
        """Return the odds of rows by a model, without those of the class alone."""
        found = member.log_odds_at(held)
        return found - held.log_odds_of_class if member.held.has_class else found

    def sum_with_powers(self, powers: Sequence[float]) -> LogLinear:
        n = len(self.mean)
        steps = powers[n:]  # of the model with parents, if it is a member
        depth = self.held.depths[-1] if steps else self.depth
        members = [(self.held.model_of_class_alone(depth), 1 - sum(powers[:n]))]
        if self.regression is not None:
            members.append((self.regression.build_model(depth), powers[0]))
        members.append((self.fit_without_parents.build_model(), powers[n - 1] - sum(steps)))
        if steps:
            members.append((self.fit_with_parents.build_model(), steps[0]))
        raised = [model.raised_to(power) for model, power in members]
        total: LogLinear = reduce(lambda total, model: total.sum_with(model), raised)
        return total


def out_of_fold_scores(x: Any, data: Dataset, number: int) -> Array:
    """Return the scores of the rows of each fold, one after the other, by models of the other rows.

    The models have the terms, precisions of weights and powers of ``x``,
    learned by `fit_blend`.
    """
    settings: Mapping[str, Any] = x.recipe.parameters.settings
    summary: LeaveOneOutSummary = x.learned["leave_one_out"]
    method = LeaveOneOut(terms=settings["held_out_args"].get("terms", ()))
    prior = find_prior(backoff=settings["backoff"])
    learn = partial(BlendMembers.learn, ridges=summary.ridges, method=method, prior=prior)
    structure = Weighted(x.structure, coarsenings=x.coarsenings, apart=x.apart, recipe=x.recipe)
    of_fold = partial(
        _log_odds_of_fold, structure, data, None, learn, deepens=False, most=len(data)
    )
    with silencing_warnings(), one_thread:
        folds = FoldLogOdds.from_folds(
            [of_fold(taken) for taken in _weights_by_fold(data, number, None)]
        )
    powers = [p for p in (summary.regression_power, summary.fold_power) if p is not None]
    scores = folds.offset + np.tensordot(powers, folds.odds, 1)
    return np.vstack([np.zeros(scores.shape[1]), scores]).T


def _weights_by_fold(data: Dataset, number: int, rng: np.random.Generator | None) -> list[Array]:
    order = np.arange(len(data)) if rng is None else rng.permutation(len(data))
    weights = data.row_weights
    result: list[Array] = []
    for fold in split_rows_into_folds(data.take_rows(order), number):
        taken, rows = np.zeros(len(data)), order[fold.rows]
        taken[rows] = weights[rows] if fold.units is None else fold.units
        result.append(taken)
    return result


def _log_odds_of_fold(
    x: Model,
    data: Dataset,
    learn_structure: Any,
    learn: Any,
    taken: Array,
    *,
    deepens: bool,
    most: int = _MOST_ROWS,
) -> FoldLogOdds:
    """Return the odds of the rows of a fold by members that were learned from the other rows."""
    weights = data.row_weights
    others = replace(data, weights=weights - taken)
    x = with_mdlp_cuts_of(x, others)
    structure = learn_structure(x, others.with_positive_weights()) if deepens else x
    rows = np.flatnonzero(taken)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.intp)]
    members: BlendMembers = learn(structure, others, deepens=deepens)
    return members.log_odds_at(rows, taken[rows], deepens=deepens)


def _log_odds_of_enough_folds(
    of_fold: Any, folds: Sequence[Array], mean: Sequence[float], *, deepens: bool
) -> FoldLogOdds:
    """Return the odds of the first folds that have enough rows together.

    The step to parents is dropped once the folds so far, if they were that many
    rows, give it a power of at most 0.01.
    """
    rows = min(_ENOUGH_ROWS, sum(float(fold.sum()) for fold in folds))
    found: list[FoldLogOdds] = []
    at_once: list[FoldLogOdds] = []  # folds that were predicted in parallel
    with silencing_warnings():  # settings for all rows
        for number in range(len(folds)):
            if not at_once:
                batch = folds[number : number + number_of_jobs()]
                at_once = list(run_tasks(partial(of_fold, deepens=deepens), batch))
            found.append(at_once.pop(0))
            together = FoldLogOdds.from_folds(found)
            # 150: number of held-out rows from which the step to parents can be dropped
            if deepens and together.size >= 150 and not together.needs_parents(mean, rows):
                deepens, found, at_once = False, [fold.without_parent_step() for fold in found], []
            # Folds of equal size can differ by a row of each class: 299 and 300 rows are enough.
            classes = together.odds.shape[1] + 1
            if together.size > _ENOUGH_ROWS - classes:
                break
    together = FoldLogOdds.from_folds(found)
    if deepens and not together.needs_parents(mean, together.size):
        return together.without_parent_step()
    return together
