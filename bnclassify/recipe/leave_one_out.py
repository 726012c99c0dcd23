"""Powers of tables, numbers of parents and powers of posteriors, chosen by leave-one-out.

Tables of counts are exact for each held-out row; structure, cut points and concentrations are learned from
all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, Codes, Positions, one_thread
from ..base.checks import Flag, OneOf
from ..base.immutable import POWER, bounded, cached_property, record
from ..frames.dataset import Dataset
from ..model.derived import Derived, forwarding
from ..model.formulas import Formula, Raised
from ..model.model import Model, renewed
from ..model.recipes import A_NETWORK, Recipe
from ..network.classifiers import BNC
from ..network.methods import Method
from ..network.priors import Prior, check_positive
from .cases import in_order, row_keys
from .incomplete import Fading, learn_exponent, marginalize, missing_shares
from .log_linear import LogLinear
from .powers import COMMON_PRECISION, Powers, best_powers, common_power, log_likelihood, odds
from .prior import check_prefix_prior
from .refined import ADDITIVE, TERMS
from .refinement import Fit, HeldOutTerms, Refinement
from .tables import LeftOut
from .weighted import Stacked, Weighted

_ALMOST = 1 - 1e-9  # largest share of rows in which a feature is known that some rows lack
_BLOCK_CELLS = 2**16  # number of log probabilities of a family, which stay in cache
_MOST_CELLS = 2**25  # maximum number of odds of all terms, 256 MiB
_LEAST_CASES = 5  # with several rows
_FOLDS = 10  # of cases with several rows, which are held out in turn
_TABLE_CELLS = 2**20  # maximum number of cells of the tables of a family, one per incomplete row


@record
@dataclass(frozen=True)
class LeaveOneOutSummary:
    """The results of leave-one-out.

    ``power`` is the best common power of all tables, ``objective`` the maximum of the objective,
    ``log_likelihood`` the log-likelihood of the classes of held-out rows, ``parents`` the largest number of
    feature parents kept, ``rows`` the number of held-out rows, and ``ridges`` the precision of the weights of
    additional terms. ``fold_power`` is the power by folds of the rows, or None, and ``fold_rows``
    the number of rows in these folds.
    """

    power: float
    objective: float
    log_likelihood: float
    parents: int
    rows: int
    ridges: Mapping[str, float] = field(default_factory=dict)
    fold_power: float | None = None
    fold_rows: int = 0
    regression_power: float | None = None


@record
@forwarding(
    "members", "members_note", "feature_weights", "feature_shares", "curve", "training_points", "is_average"
)
@dataclass(frozen=True, eq=False, repr=False)
class Powered(Derived):
    """A model whose posterior is raised to a power and normalized: P(c | x) ∝ P₀(c | x)^τ, P₀ of ``base``.

    If a share h of the features is missing, the power is τ + (1 − τ) h.
    """

    bounds = bounded(power=POWER)

    base: Model
    power: float
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    called = "a model with a power"

    estimate = Derived.estimate_base

    no_joint = (
        "a model with a power provides P(class | features), but does not define a joint distribution. Use "
        f"predict, explain, cloglik or cv, or fit a network, which defines one: {A_NETWORK}."
    )

    def __post_init__(self) -> None:
        """Raise a ValueError unless the power is the learned one."""
        super().__post_init__()
        if getattr(self.learned.get("leave_one_out"), "power", self.power) != self.power:
            raise ValueError(f"the power must be that of leave-one-out; got {self.power}")

    def _power_at(self, codes: Codes) -> Array:
        """Return the power at rows, (rows, 1), which approaches 1 as more features are missing."""
        shares = missing_shares(codes[: len(self.features)])
        return (self.power + (1 - self.power) * shares)[:, None]

    def log_joint(self, codes: Codes) -> Array:
        return self._power_at(codes) * self.base.log_joint(codes)

    def formula(self) -> Formula:
        return Raised(self.base.formula(), self.power)

    def unadjusted(self, codes: Codes) -> Array:
        return self.power * self.base.unadjusted(codes)

    def log_joints_in_sequence(self, codes: Codes, order: Sequence[int]) -> Array:
        return self._power_at(codes) * self.base.log_joints_in_sequence(codes, order)

    def value_formulas(self) -> tuple[Formula, ...] | None:
        return self.base.value_formulas()

    def term_scopes(self) -> list[tuple[int, ...]] | None:
        return self.base.term_scopes()

    @cached_property
    def marginals(self) -> tuple[Array, ...]:
        """The log tables of features alone, raised to the power."""
        return tuple([self.power * table for table in self.base.marginals])


@record
@dataclass(frozen=True)
class LeaveOneOut(Method):
    """Choose weights of tables and of additional terms, the number of feature parents, or both.

    The first member, if requested, is the logistic regression of the class on the same features. The
    precisions of weights by kind of term, ``ridges``, are searched if none are given.
    """

    weights: bool = True
    parents: bool = False
    terms: tuple[str, ...] = ()
    ridges: Mapping[str, float] = field(default_factory=dict)

    argument = "held_out"

    def __post_init__(self) -> None:
        Flag().check("weights", self.weights)
        Flag().check("parents in held_out_args", self.parents)
        for name in self.terms:
            OneOf(TERMS).check("terms in held_out_args", name)

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the model has one structure, and the prior leaves no probability at 0."""
        name = f"held_out={'weights' if self.weights else 'parents'!r}"
        if not isinstance(x.graph, BNC):
            raise TypeError(
                f"{name} is defined for a single Bayesian network; got {x.called}. For an "
                "ensemble, use held_out='power'."
            )
        check_positive(prior, name)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with the chosen weights and feature parents."""
        data = in_order(data)
        return self.finish(self.members(x, data, prior), (1.0,), data)

    def finish(self, members: Sequence[Any], powers: Sequence[float], data: Dataset) -> Model:
        """Return the sum of members raised to powers; those with more feature parents stand last."""
        result = members[0] if powers[0] == 1 else members[0]._raised(powers[0])
        for member, power in zip(members[1:], powers[1:], strict=True):
            result = result.plus(member._raised(power))
        if self.weights:
            exponent = learn_exponent(result, data)
            result = renewed(result, fading=replace(result.fading, exponent=exponent))
        learned, result = members[0].learned, result.split()
        if self.weights:
            learned = {**result.learned, **learned}
        finished: Model = renewed(result if self.weights else result.unweighted(), learned=learned)
        return finished

    @property
    def regresses(self) -> bool:
        """Whether logistic regression can be a member, which has the same terms."""
        return {"slopes", "shifts"} <= {*self.terms}

    def members(
        self,
        x: Any,
        data: Dataset,
        prior: Prior,
        depths: Sequence[int | None] = (None,),
        *,
        regression: bool = False,
    ) -> list[Any]:
        """Return maybe logistic regression, and the model with weights for each maximum number of parents.

        None is that of the structure. Precisions of weights that were found first are used for all.
        """
        with one_thread:
            held = self._hold_out(x, data, prior, all_depths=len(depths) > 1)
            regresses = regression and self.regresses and data.cards[-1] > 1
            result: list[Any] = [held.regress()] if regresses else []
            method = self
            for depth in depths:
                model = method._fit(held if depth is None else held.up_to(depth))
                result.append(model)
                method = replace(method, ridges=model.learned["leave_one_out"].ridges)
        return result

    def _hold_out(self, x: Any, data: Dataset, prior: Prior, *, all_depths: bool = False) -> HeldOutTerms:
        """Count the tables, fit the terms, and compute the odds by each table at held-out rows."""
        network: Any = x.graph
        stack = (x if isinstance(x, LogLinear) else Weighted(network, recipe=x.recipe))._stacked
        stacked = stack(data, prior)
        asked = self.terms if data.cards[-1] > 1 else ()
        depth = stacked.most_parents
        all_depths |= self.parents or bool({"depths", "gaps"} & {*asked})
        depths = range(0 if all_depths else depth, depth + 1)
        terms = Refinement.learn(x, stacked, data, asked)
        if data.cases is not None and len(np.unique(data.cases)) < len(data):
            return _hold_out_groups(stack, stacked, terms, depths, prior)
        cells = len(depths) * len(stacked.powers) * (1 + stacked.apart)
        cells += len(terms.numbers) * len(terms.of_numbers)
        rows, counts, left_out, n = _judged(data, cells, distinct=not terms.numbers)
        by_depth, of_codings = left_out_odds(stacked, rows, left_out, depths)
        of_numbers = terms.held_out(rows, left_out)
        fading = _fading(data, by_depth[0], left_out.classes, counts, asked)
        return HeldOutTerms(
            data, stacked, terms, depths, rows, counts, left_out, n, by_depth, of_codings, of_numbers, fading
        ).faded()

    def _weigh(self, held: HeldOutTerms) -> dict[int, Powers]:
        """Return the best powers of the tables with each number of parents that can be chosen."""
        found: dict[int, Powers] = {}
        n = len(held.depths)
        for i in range(0 if self.parents else n - 1, n):
            if self.weights:
                found[i] = best_powers(
                    held.by_depth[i], held.left_out.classes, held.counts, found.get(i - 1), held.offset
                )
            else:
                total = held.offset + held.by_depth[i].sum(axis=0)
                value = log_likelihood(total, held.left_out.classes, held.counts)
                found[i] = Powers(1.0, np.ones(held.by_depth.shape[1]), value, value)
        return found

    def _fit(self, held: HeldOutTerms) -> Any:
        """Return the model with the best weights and number of parents."""
        found, asked = self._weigh(held), held.terms.asked
        fits = {i: each.log_likelihood if asked else each.objective for i, each in found.items()}
        best = min(i for i, fit in fits.items() if fit >= max(fits.values()) - TOLERANCE)
        powers, depth = found[best], held.depths[best]
        if asked:
            fit = held.weigh(best, powers.single, self.ridges)
        else:
            single = tuple(powers.single.tolist())
            model: Any = renewed(held.stacked, powers=single, most_parents=depth, fading=held.fading)
            fit = Fit(model, powers.objective, powers.log_likelihood)
        summary = LeaveOneOutSummary(
            powers.common, fit.objective, fit.log_likelihood, depth, held.represented, fit.ridges
        )
        return renewed(fit.model, learned={**fit.model.learned, "leave_one_out": summary})


def _fading(data: Dataset, terms: Array, classes: Codes, counts: Array, asked: Sequence[str]) -> Fading:
    """Return the rule for incomplete rows, given the odds of the tables without feature parents.

    If all terms depend on one feature, missing values only have their shifts, so that the sum remains one.
    """
    if asked and set(asked) <= {*ADDITIVE}:
        return Fading(np.zeros(len(data.codes) - 1), 1.0, gaps=max(1.0, len(data.codes) - 1))
    weights = np.ones(len(data)) if data.weights is None else data.weights
    known = data.codes[:-1] >= 0
    usual = np.where(
        known.all(axis=1), 1.0, np.minimum(known @ weights / max(weights.sum(), 1e-300), _ALMOST)
    )
    power = common_power(terms.sum(axis=0), classes, counts) if data.cards[-1] > 1 else 1.0
    lacking = np.count_nonzero(~known, axis=0)
    gaps = float(lacking**2 @ weights / max(lacking @ weights, 1e-300))  # in the row of a mean missing value
    return Fading(usual, power, gaps=max(1.0, gaps))


def _hold_out_groups(
    stack: Callable[..., Stacked], stacked: Stacked, terms: Refinement, depths: range, prior: Prior
) -> HeldOutTerms:
    """Return the odds at all rows by tables and terms of the other cases, in ten folds of the cases."""
    data = terms.data
    weights = np.ones(len(data)) if data.weights is None else data.weights
    assert data.cases is not None
    case, cases = pd.factorize(data.cases)
    if len(cases) < _LEAST_CASES:
        raise ValueError(
            f"groups must contain at least {_LEAST_CASES} groups of rows with a class; got {len(cases)}. "
            "Rows of a group are held out together."
        )
    rows = np.arange(len(data))
    nothing = LeftOut(data.codes[-1], np.zeros(len(data)))
    found: list[Array] = []
    families: list[Positions] = []
    for fold in range(min(_FOLDS, int(case.max()) + 1)):
        own = rows[case % _FOLDS == fold]
        train = replace(data, weights=np.where(case % _FOLDS == fold, 0.0, weights))
        other = stack(train, prior)
        by_depth, of_codings = left_out_odds(other, own, nothing.take(own), depths)
        learned = Refinement.learn(other, other, train, terms.asked)
        same = [learned.numbers.index(number) for number in terms.numbers]
        of_numbers = [odds[same] for odds in learned.held_out(own, nothing.take(own))]
        arrays = [by_depth, *[odds for _, odds in of_codings], *of_numbers]
        found = found or [np.zeros((*array.shape[:-1], len(data))) for array in arrays]
        families = [place for place, _ in of_codings]
        for array, part_of in zip(found, arrays, strict=True):
            array[..., own] = part_of
    left_out = JudgedRows(data.codes[-1], np.zeros(len(data)))
    by_depth, *others = found
    n = len(families)
    fading = _fading(data, by_depth[0], left_out.classes, weights, terms.asked)
    codings = list(zip(families, others[:n], strict=True))
    return HeldOutTerms(
        data,
        stacked,
        terms,
        depths,
        rows,
        weights,
        left_out,
        len(data),
        by_depth,
        codings,
        others[n:],
        fading,
    ).faded()


@record
@dataclass(frozen=True)
class LeaveOneOutPower(Method):
    """Raise the posterior to the power that maximizes the likelihood of the classes of held-out rows."""

    argument = "held_out"

    def check(self, x: Model, prior: Prior) -> None:
        """Raise if the prior leaves probabilities of 0."""
        check_positive(prior, "held_out='power'")
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with the power."""
        fitted = x.estimate(data, prior)
        rows, weights, left_out, n = _judged(data, 1)
        logs = fitted.log_joint_left_out(data, prior, rows, left_out)
        total = odds(logs)
        power = common_power(total, left_out.classes, weights)
        value = log_likelihood(power * total, left_out.classes, weights)
        objective = value - COMMON_PRECISION / 2 * (power - 1) ** 2
        depth = max(0 if member.graph is None else member.graph.depth for member in fitted.members)
        summary = LeaveOneOutSummary(power, objective, value, depth, n)
        return Powered(fitted, power, x.recipe, {"leave_one_out": summary})


class JudgedRows(LeftOut):
    """Rows that are held out in turn."""

    def log_joint(self, x: BNC, data: Dataset, prior: Prior, rows: Positions) -> Array:
        """Return ln P(features, class) of rows, each under the network of all other rows, (rows, classes)."""
        stacked = Weighted(x)._stacked(data, prior)
        [tables] = stacked.tables
        codes = data.codes[:, rows]
        complete = codes.min(axis=0) >= 0
        result = np.empty((len(rows), data.cards[-1]))
        known = self.take(complete)
        result[complete] = stacked.left_out(codes[:-1, complete], known)
        incomplete = np.nonzero(~complete)[0]
        rows_per_block = max(1, _TABLE_CELLS // max(table.cells for table in tables))
        for start in range(0, len(incomplete), rows_per_block):
            block = incomplete[start : start + rows_per_block]
            result[block] = marginalize(x.scopes, tables, codes[:, block], self.take(block))
        return result


def _judged(data: Dataset, terms: int, *, distinct: bool = True) -> tuple[Positions, Array, JudgedRows, int]:
    """Return the rows to hold out (evenly spread, or equal ones together), their weights and total."""
    limit = max(1, _MOST_CELLS // max(1, terms * (data.cards[-1] - 1)))
    n, weights = len(data), np.ones(len(data)) if data.weights is None else data.weights
    rows, counts = _distinct_rows(data, weights) if distinct else (np.arange(n), weights)
    represented = n
    if len(rows) > limit:
        represented = min(n, limit)
        rows = np.linspace(0, n - 1, represented).astype(np.intp)
        counts = weights[rows]
    return rows, counts, JudgedRows(data.codes[-1, rows], data.units[rows]), represented


def _distinct_rows(data: Dataset, weights: Array) -> tuple[Positions, Array]:
    """Return the first of equal rows and the sums of their weights, or all rows if a weight is below 1."""
    every = np.arange(len(data))
    if weights.min(initial=1.0) < 1:
        return every, weights
    _, first, group = np.unique(row_keys(data), return_index=True, return_inverse=True)
    if len(first) == len(data) or any((codes[first][group] != codes).any() for codes in data.codes):
        return every, weights
    in_turn = np.argsort(first)
    return first[in_turn], np.bincount(group, weights)[in_turn].astype(np.float64)


def left_out_odds(
    x: Stacked, rows: Positions, left_out: LeftOut, depths: Sequence[int]
) -> tuple[Array, list[tuple[Positions, Array]]]:
    """Return the `odds` by each family, with each row held out: (depths, families, classes − 1, rows).

    In each discretization that is apart, they are returned with the families that vary and have levels there.
    """
    n_classes = x.structure.cards[-1]
    varying = np.array([f for group in x.groups if group.codings > 1 for f in group.families], dtype=np.intp)
    place = np.full(len(x.powers), -1)
    place[varying] = np.arange(len(varying))
    result = np.zeros((len(depths), len(x.powers), n_classes - 1, len(rows)))
    apart = np.zeros((x.apart, len(depths), len(varying), n_classes - 1, len(rows)))
    for group in x.groups:
        rows_per_block = max(1, _BLOCK_CELLS // (n_classes * len(group.stack.cards)))
        for start in range(0, len(rows), rows_per_block):
            block = slice(start, start + rows_per_block)
            by_depth = list(group.logs(x.codes, left_out.take(block), rows[block], x.apart))
            for i, depth in enumerate(depths):
                mean, *others = by_depth[min(depth, len(by_depth) - 1)]
                if mean.shape[2] > 1:
                    result[i, group.families, :, block] = odds(mean)
                    for array, logs in zip(apart, others, strict=False):
                        array[i, place[group.families], :, block] = odds(logs)
    cards = [x.origin._in_coding(number).cards for number in range(len(x.codes) - x.apart, len(x.codes))]
    chosen = [np.flatnonzero(np.array(card)[varying] > 1) for card in cards]
    return result, [(varying[at], odds_of[:, at]) for at, odds_of in zip(chosen, apart, strict=True)]
