"""The default model: a sum of logistic regression and of models without and with feature parents.

Each has a power by held-out folds of the training rows. Leave-one-out alone is overconfident, because weights
are learned from the rows that they are evaluated on. Here, each fold is predicted by tables and weights of
the other folds; the structure and the cut points are those of all rows. Powers leave ln P(y) as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, Positions, one_thread
from ..base.immutable import cached_property
from ..frames.dataset import Dataset
from ..model.model import Model
from .cases import as_cases, in_order
from .held_out import HeldOutOdds, HeldOutTerms, Regression, WeightedFit
from .leave_one_out import LeaveOneOut, distinct_rows, summary_of
from .log_linear import LogLinear
from .powers import Problem, common_power, log_likelihood, maximize
from .row_folds import RowFold, split_rows
from .tables import LeftOut, LeftOutFolds, RowFolds
from .weighted import with_at_most

_LEAST_POWER = 0.01  # minimum power of the tables, which keeps the order of the classes
_MEANS = (0.25, 0.5)
"""The means of the powers of regression and of tables, a priori."""
_PRECISION = 15.0  # of these powers
_STEP_PRECISION = 2.0  # of the power of the step to parents
_LEAST_STEP, _PER_ARC = 6.0, 0.5
"""What each unit of its power must gain to be above 0, in nats, in all and per arc, which all rows chose."""
_ENOUGH_ROWS = 3000  # number of held-out rows from which no more folds are used


@dataclass(frozen=True, eq=False)
class FoldOdds:
    """The odds of rows by members that were learned without their fold, (members, classes − 1, rows).

    ``offset`` are the odds that rows have in addition to those of the members. The last of these can be the
    step to a model with as many ``arcs`` between features.
    """

    odds: Array
    offset: Array
    classes: Codes
    counts: Array
    arcs: int = 0

    @classmethod
    def of(cls, folds: Sequence[FoldOdds]) -> FoldOdds:
        """Return the rows of all folds."""
        arrays = [[getattr(fold, name) for fold in folds] for name in ("odds", "offset", "classes", "counts")]
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
        bar = _LEAST_STEP + _PER_ARC * self.arcs
        means = np.array([*mean, -bar / _STEP_PRECISION][: len(self.odds)])
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


def fit_blend(
    x: Model, rows: Dataset, method: LeaveOneOut, prior: Any, number: int, rng: np.random.Generator | None
) -> Model:
    """Return the sum of logistic regression and of the models without and with feature parents.

    With powers r, a and b, the score is ln P(y) + r·regression + (a − b)·without + b·with, each of them
    without ln P(y): b moves from the one to the other, and is 0 unless held-out rows require parents.
    """
    data = in_order(as_cases(rows))
    data = data if data.cases is not None else distinct_rows(data)
    cases = data.size if data.cases is None else min(data.size, len(np.unique(data.cases)))
    has_folds = cases >= 2 * number and len(data) > 0 and np.ptp(data.codes[-1]) > 0
    most = 0 if x.graph is None else x.graph.depth
    depths = [0, most] if method.parents and has_folds and most else [0 if method.parents else most]
    method = replace(method, parents=False)
    with one_thread:
        held = method.hold_out(with_at_most(x, depths[-1]), data, prior, all_depths=len(depths) > 1)
        members = _Members.fit(held, method, depths)
        powers, size = members.mean, 0
        if has_folds:
            odds = _Folds(held, prior, number, rng).predict(members)
            powers, size = odds.powers(members.mean).tolist(), odds.size
        summary = replace(
            summary_of(members.plain),
            fold_power=powers[len(members.mean) - 1],
            fold_rows=size,
            regression_power=None if members.regression is None else powers[0],
        )
        return method.finish(members.total(powers), summary, data)


class _Members:
    """Logistic regression, if the method has its terms, and models without and with feature parents."""

    def __init__(self, held: HeldOutTerms, method: LeaveOneOut, depths: Sequence[int]) -> None:
        self.held, self.method, self.depths = held, method, list(depths)
        regresses = method.regresses and held.terms.data.cards[-1] > 1
        self.regression = Regression.fit(held) if regresses else None
        self.plain = method.fit(held.up_to(depths[0]))
        self.mean = list(_MEANS) if regresses else [sum(_MEANS)]

    fit = classmethod(lambda cls, *args: cls(*args))

    @cached_property
    def deep(self) -> WeightedFit:
        """The model with feature parents."""
        return self.method.fit(self.held, self.plain.ridges)

    @property
    def arcs(self) -> int:
        """Number of arcs between features."""
        structure = self.held.terms.stacked.structure
        return sum(len(names) for names in structure.feature_parents.values())

    def at_folds(self, rows: HeldOutTerms, folds: Sequence[Positions]) -> FoldOdds:
        """Return the odds of rows in folds by members, with weights that are best for the other folds."""
        members: list[Any] = [] if self.regression is None else [self.regression]
        found = np.array([member.at_folds(rows, folds) for member in [*members, self.plain]]) - rows.of_class
        if len(self.depths) > 1:
            step = self.deep.at_folds(rows, folds) - rows.of_class - found[-1]
            found = np.concatenate([found, step[None]])
        offset = np.broadcast_to(rows.offset + rows.of_class, found.shape[1:])
        used = np.sort(np.concatenate(folds))
        odds = FoldOdds(found[..., used], offset[:, used], rows.classes[used], rows.counts[used], self.arcs)
        return odds if len(self.depths) < 2 or odds.requires_step(self.mean) else odds.without_step()

    def total(self, powers: Sequence[float]) -> LogLinear:
        """Return the sum of the members with powers."""
        steps, result = len(powers) - len(self.mean), None
        plain = powers[len(self.mean) - 1]
        depth = self.depths[steps]
        rest = 1 - sum(powers[: len(self.mean)])
        result = self.held.of_prior(depth).raised(rest)
        if self.regression is not None:
            result = result.plus(self.regression.model(depth).raised(powers[0]))
        if not steps:
            return result.plus(self.plain.model().raised(plain))
        result = result.plus(self.plain.model().raised(plain - powers[-1]))
        return result.plus(self.deep.model().raised(powers[-1]))


@dataclass(frozen=True, eq=False)
class _Folds:
    """Folds of the training rows."""

    held: HeldOutTerms
    prior: Any
    number: int
    rng: np.random.Generator | None

    @cached_property
    def data(self) -> Dataset:
        """The training rows."""
        return self.held.terms.data

    @cached_property
    def folds(self) -> list[RowFold]:
        """The rows of each fold, and units of their weights."""
        if self.rng is None:
            return split_rows(self.data, self.number)
        order = self.rng.permutation(len(self.data))
        found = split_rows(self.data.taken(order), self.number)
        return [replace(fold, rows=order[fold.rows]) for fold in found]

    def predict(self, members: _Members) -> FoldOdds:
        """Return the odds of rows by members that were learned without their fold."""
        held, data = self.held, self.data
        if data.cases is not None and len(np.unique(data.cases)) < len(data):
            return members.at_folds(held, [fold.rows for fold in self.folds])
        weights = np.ones(len(data)) if data.weights is None else data.weights
        amounts = [weights[fold.rows] if fold.units is None else fold.units for fold in self.folds]
        numbers = np.repeat(np.arange(len(self.folds)), [len(fold.rows) for fold in self.folds])
        of_rows = np.concatenate([fold.rows for fold in self.folds])
        folds = RowFolds(of_rows, numbers, np.concatenate(amounts), len(self.folds))
        at = np.flatnonzero(np.isin(of_rows, held.rows))
        rows, numbers = of_rows[at], numbers[at]
        own = LeftOut(data.codes[-1, rows], data.units[rows])
        odds = HeldOutOdds.without(held.terms, rows, own, held.depths, LeftOutFolds(numbers, folds))
        pairs = held.at_pairs(rows, folds.amounts[at], odds)
        each = [np.flatnonzero(numbers == fold) for fold in range(folds.count)]
        return members.at_folds(pairs, each[: -(-_ENOUGH_ROWS // max(map(len, each)))])
