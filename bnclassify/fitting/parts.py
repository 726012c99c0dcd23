"""Decisions by held-out parts of the training rows: the number of parents, and the powers of a model.

Leave-one-out evaluates a model on rows from which structure, cut points and concentrations were learned.
Therefore, models are overconfident for few rows or many features. Here, each part of the rows is predicted by
models for which everything was learned from the other parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import xlogy

from ..base.arrays import Array, Codes, Positions, log_normalize
from ..base.immutable import cached_property
from ..base.messages import silently
from ..frames.schema import Dataset
from ..frames.training import TrainingData
from ..model.arguments import encode_for
from ..model.model import Model, renewed
from ..model.recipes import Recipe
from ..recipe.cases import class_ranks, find_cases, row_order
from ..recipe.default import ROWS_OF_PARENTS
from ..recipe.leave_one_out import LeaveOneOut, LeaveOneOutSummary, Powered
from ..recipe.powers import COMMON_PRECISION, Terms, common_power, maximize, odds, row_logs
from ..recipe.weighted import with_at_most
from .rounds import RowFold, raw_rows, split_cases

_DEPTHS = (2, 4)
"""The numbers of feature parents that are tried after none, as long as they are better."""

_LEAST_POWER = 0.01  # the minimum power, which keeps the order of the classes
_MEANS = np.array([0.75, 0.25])  # of the powers of the model and of logistic regression, a priori
_PRECISION = 10.0  # of these powers
_MANY_ROWS = 100  # number of rows per feature from which parts are not needed
_PER_ARC_OF_MANY = 0.1  # penalty of leave-one-out, per root of the number of arcs per row
_PER_ARC = 0.05  # the same, for fewer rows, of which parts can try the network
_FEW_ROWS = 20  # the same, if leave-one-out explains half of the entropy of the class in large data
_LARGE = 50_000  # number of rows x features x classes of large data, for which parts take long
_ENOUGH_ROWS = 600  # number of held-out rows from which no more parts are used

Members = Callable[..., list[tuple[Model, ...]]]
"""Learns members from a structure, data, maximum numbers of parents, and maybe a model of all rows."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The odds of rows by models that were learned without them, (members, classes − 1, rows).

    ``cases`` are the numbers of the cases of rows, or None if rows of weight w are w cases.
    """

    scores: Array
    classes: Codes
    counts: Array
    cases: Positions | None

    @property
    def powers(self) -> Array:
        """The best powers of the members."""
        if len(self.scores) == 1:
            return np.array([max(common_power(self.scores[0], self.classes, self.counts), _LEAST_POWER)])
        problem = Terms([self.scores], self.classes, self.counts)
        found, *_ = maximize(problem, _MEANS, np.full(2, _PRECISION), _MEANS)
        return np.maximum(found, [_LEAST_POWER, 0.0])

    @property
    def logs(self) -> Array:
        """The log posterior of the class of each row, with the best powers, (rows,)."""
        return row_logs(np.tensordot(self.powers, self.scores, 1), self.classes)

    @classmethod
    def of(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """Return the rows of all parts."""
        scores = np.concatenate([part.scores for part in parts], axis=2)
        classes = np.concatenate([part.classes for part in parts])
        counts = np.concatenate([part.counts for part in parts])
        cases = [part.cases for part in parts if part.cases is not None]
        return cls(scores, classes, counts, np.concatenate(cases) if cases else None)

    def first(self, like: HeldOut) -> HeldOut:
        """Return the first rows, as many as another has."""
        n = len(like.classes)
        return HeldOut(
            self.scores[..., :n],
            self.classes[:n],
            self.counts[:n],
            None if self.cases is None else self.cases[:n],
        )

    def is_near(self, other: HeldOut) -> bool:
        """Whether the likelihood is not lower than that of other models by a standard error or more."""
        return self.exceeds(other.first(self), errors=-1)

    def exceeds(self, other: HeldOut, errors: float = 1.0) -> bool:
        """Whether the likelihood is larger than that of other models by a number of standard errors."""
        gain, n = self.logs - other.logs, self.counts.sum()
        mean = self.counts @ gain / n
        if self.cases is None:
            squares = self.counts @ (gain - mean) ** 2
        else:
            _, case = np.unique(self.cases, return_inverse=True)
            squares = np.square(np.bincount(case, self.counts * (gain - mean))).sum()
        return bool(mean > errors * sqrt(squares) / n)


def fit_by_parts(
    x: Model, dataset: Any, rows: Dataset, method: Any, parts: int, learn: Members, *, chooses: bool
) -> Model:
    """Return the model with powers by parts and, if it ``chooses``, the number of feature parents.

    If there are many rows per feature, a penalized leave-one-out likelihood chooses, and the power is 1.
    """
    rows = find_cases(rows) if chooses else rows
    n, n_classes = rows.size, rows.cards[-1]
    if rows.cases is not None:
        n = min(n, len(np.unique(rows.cases)))
    chooses &= isinstance(method, LeaveOneOut) and method.weights and n_classes > 1
    trial = _Trial(x, dataset, rows, learn, parts, chooses)
    few = chooses and method.parents and n < 2 * parts  # rows to choose parents, which are omitted
    if not chooses or n < 2 * parts:
        [fitted] = learn(with_at_most(x, 0) if few else x, rows)
        enough = min(n / 2, len(rows)) >= parts and n_classes > 1
        found = trial.run(fitted[0], [0 if few else None]) if enough else [None]
        return _finish(method, fitted, found[0], rows)
    if not method.parents:
        [fitted] = learn(x, rows)
        found = trial.run(fitted[0], [None]) if _needs_parts(fitted[0], rows, n) else [None]
        return _finish(method, fitted, found[0], rows)
    return _finish(method, *_Choice(x, rows, n, learn, trial).best(), rows)


def _needs_parts(x: Model, rows: Dataset, n: float) -> bool:
    """Whether leave-one-out can be too optimistic for the number of rows per feature."""
    d, n_classes = len(x.features), rows.cards[-1]
    if n < _FEW_ROWS * d or n * d * n_classes < _LARGE:
        return n < _MANY_ROWS * d
    shares = np.bincount(rows.codes[-1], rows.weights, n_classes) / rows.size
    return n < _MANY_ROWS * d and _per_row(x, rows) < xlogy(shares, shares).sum() / 2


def _per_row(x: Model, rows: Dataset) -> float:
    """Return the leave-one-out log-likelihood per row."""
    summary: LeaveOneOutSummary = x.learned["leave_one_out"]
    return summary.log_likelihood / rows.size * len(rows) / summary.rows


@dataclass(frozen=True, eq=False)
class _Choice:
    """The choice of the number of feature parents, by parts or, if they are not needed, by leave-one-out."""

    x: Any
    rows: Dataset
    size: float
    learn: Members
    trial: _Trial

    def best(self) -> tuple[tuple[Any, ...], HeldOut | None]:
        """Return the members with the best number of parents, and their predictions of parts."""
        few = self.size < ROWS_OF_PARENTS * len(self.x.features)
        depths = [0] if few else sorted({min(depth, self.x.graph.depth) for depth in (0, *_DEPTHS)})
        at_once = depths[:2]  # which share tables
        fitted = self.learn(with_at_most(self.x, at_once[-1]), self.rows, at_once)
        members, held_out, trial = fitted[0], None, self.trial
        uses_parts = _needs_parts(members[0], self.rows, self.size)
        many = self.size >= _MANY_ROWS * len(self.x.features)
        per_arc = _PER_ARC_OF_MANY if many else _PER_ARC
        for depth, found in zip_longest(depths[1:], fitted[1:]):
            [deeper] = (
                [found] if found else self.learn(with_at_most(self.x, depth), self.rows, [depth], members[0])
            )
            if self._penalized(deeper[0], per_arc) <= self._penalized(members[0], per_arc):
                break
            if not uses_parts:
                members = deeper
                continue
            before = [0] if held_out is None else []
            *first, tried = trial.run(members[0], [*before, depth], held_out)
            held_out = first[0] if first else held_out
            if tried is None or held_out is None or not tried.exceeds(held_out):
                break
            members, rival, held_out = deeper, held_out, tried
            if not tried.exceeds(rival, errors=2):  # more parents are not promising
                break
        if uses_parts and held_out is None:
            [held_out] = trial.run(members[0], [0])
        return members, held_out

    def _penalized(self, x: Any, per_arc: float) -> float:
        """Return the penalized leave-one-out log-likelihood per row."""
        arcs = sum(len(scope) - 2 for scope in x.structure.scopes[:-1])
        return _per_row(x, self.rows) - per_arc * sqrt(arcs / self.size)


def _finish(method: Any, members: Sequence[Any], found: HeldOut | None, rows: Dataset) -> Model:
    """Return the sum of the members raised to their powers, or the first member."""
    powers = np.ones(1) if found is None else found.powers
    size = 0 if found is None else int(found.counts.sum())
    if isinstance(method, LeaveOneOut):
        summary = members[0].learned["leave_one_out"]
    else:
        depth = getattr(members[0].graph, "depth", 0)
        value = 0.0 if found is None else float(found.counts @ found.logs)
        penalty = COMMON_PRECISION / 2 * float((powers[0] - 1) ** 2)
        summary = LeaveOneOutSummary(1.0, value - penalty, value, depth, size)
    regression = float(powers[1]) if len(powers) > 1 else None
    summary = replace(summary, honest_power=float(powers[0]), honest_rows=size, regression_power=regression)
    if isinstance(method, LeaveOneOut) and method.weights:
        fitted = method.finish(members[: len(powers)], powers.tolist(), rows)
    elif powers[0] == 1:
        fitted = members[0]
    else:
        summary = replace(summary, power=float(powers[0]))
        return Powered(members[0], summary.power, members[0].recipe, {"leave_one_out": summary})
    return renewed(fitted, learned={**fitted.learned, "leave_one_out": summary})


@dataclass(frozen=True, eq=False)
class _Trial:
    """Training data in parts, and the structures that were learned without each part."""

    x: Model
    dataset: Any
    rows: Dataset
    learn: Members
    parts: int
    chooses: bool
    learned: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def folds(self) -> list[tuple[Any, Dataset]]:
        """The training rows and the held-out rows of each part."""
        data: Any = self.rows
        if self.x.recipe is not None:
            given = self.dataset
            raw = given.raw if isinstance(given, TrainingData) and given.raw is not None else given
            data = raw_rows(self.x, raw).counting()
            data = find_cases(data) if self.chooses else data
        return [fold.split(data) for fold in split(data, self.parts, by_content=self.chooses)]

    @cached_property
    def recipe(self) -> Recipe | None:
        """The recipe of structures, with the treatment of missing values that was chosen for all rows."""
        recipe = self.x.recipe
        if recipe is None:
            return None
        step, preparation = recipe.structure, recipe.preparation
        if step.settings.get("missing_level") == "auto":
            chosen = () if preparation is None else preparation.missing
            step = replace(step, settings={**step.settings, "missing_level": chosen})
        return replace(recipe, structure=step, parameters=None)

    def structure(self, number: int, depths: Sequence[int | None]) -> Any:
        """Return the structure that the recipe learns without a part, maybe with fewer parents."""
        train, depth = self.folds[number][0], depths[-1]
        if self.recipe is None:
            return self.x if depth is None else with_at_most(self.x, depth)
        if depth == 0 and number not in self.learned:
            return _without_parents(self.recipe).fit(train)
        if number not in self.learned:
            self.learned[number] = self.recipe.fit(train)
        return self.learned[number] if depth is None else with_at_most(self.learned[number], depth)

    def run(
        self, like: Model, depths: Sequence[int | None], rival: HeldOut | None = None
    ) -> list[HeldOut | None]:
        """Predict parts by models of the other parts, with maximum numbers of parents.

        To choose, parts are used until they have 600 rows. A result is None if its predictions are worse
        than those of a ``rival``, by default the first number, by a standard error after a part.
        """
        found: dict[int | None, list[HeldOut]] = {depth: [] for depth in depths}
        kept = list(depths)
        with silently():  # settings for all rows
            for number in range(len(self.folds)):
                for depth, of_part in zip(kept, self._predict(number, kept, like), strict=True):
                    found[depth].append(of_part)
                together = {depth: HeldOut.of(found[depth]) for depth in kept}
                first = rival or together[depths[0]]
                kept = [depth for depth, each in together.items() if each is first or each.is_near(first)]
                rows = HeldOut.of(found[depths[0]]).counts.sum()
                if not kept or (self.chooses and rows >= _ENOUGH_ROWS):
                    break
        return [together[depth] if depth in kept else None for depth in depths]

    def _predict(self, number: int, depths: Sequence[int | None], like: Any) -> list[HeldOut]:
        train, test = self.folds[number]
        fitted = self.learn(self.structure(number, depths), train, depths, like)
        encoded = encode_for(fitted[0][0], test, fitted[0][0].variables)
        codes = fitted[0][0]._code(encoded, unseen="missing")
        own = encoded.codes[encoded.positions[fitted[0][0].class_var]]
        weights = np.ones(len(test)) if test.weights is None else test.weights
        odds_of = cache(lambda model: odds(log_normalize(model._log_joint(codes))))
        return [
            HeldOut(np.array([odds_of(x) for x in members]), own, weights, test.cases) for members in fitted
        ]


def _without_parents(recipe: Recipe) -> Recipe:
    """Return the recipe with a learner that does not search for feature parents."""
    settings = dict(recipe.structure.settings)
    if "kdbk" in settings:
        settings["kdbk"] = 0
    elif "dag_args" in settings:
        settings["dag_args"] = {**settings["dag_args"], "kdbk": 0}
    return replace(recipe, structure=replace(recipe.structure, settings=settings))


def split(data: Any, parts: int, *, by_content: bool = True) -> list[RowFold]:
    """Return the rows, or the units of whole weights, of each part: unit i of class c is in (i + c) mod V.

    Units and classes are in the given order or, ``by_content``, in that of `row_order` and by frequency. Rows
    of a case, which has the class of its first row, stay together.
    """
    order, classes, weights = np.arange(len(data)), data.codes[-1], data.weights
    if by_content:
        order = row_order(data)
        classes = class_ranks(data, order)[classes]
    if data.cases is not None:
        return split_cases(data.cases[order], classes[order], order, parts)
    whole = weights is not None and not (weights % 1).any()
    units = weights.astype(np.int64) if whole else np.ones(len(data), dtype=np.int64)
    order = order[np.argsort(classes[order], kind="stable")]
    ends = np.cumsum(units[order])
    first = np.searchsorted(classes[order], classes[order])
    starts = np.empty(len(data), dtype=np.int64)
    starts[order] = ends - units[order] - (ends - units[order])[first]
    result = []
    for part in range(parts):
        before = [(end - (part - classes) % parts + parts - 1) // parts for end in (starts, starts + units)]
        counts = before[1] - before[0]
        rows = np.flatnonzero(counts)
        if len(rows):
            result.append(RowFold(rows, counts[rows].astype(np.float64) if whole else None))
    return result
