"""Powers of tables, of a posterior, and numbers of parents, chosen by leave-one-out.

Tables of counts are exact for each held-out row; structure, cut points and
concentrations are learned from all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..classifiers import BNC, Prior, check_positive_prior
from ..dataset import Dataset
from ..model import (
    NO_JOINT,
    CountedModel,
    Derived,
    Model,
    Recipe,
    forward_to_basis,
    replace_unchecked,
)
from ..parameters import Method, method_of_lp
from ..scores import Formula, Raised
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Mask,
    Positions,
    one_thread,
    slices,
)
from ..tools.checks import Flag, Instance, OneOf, Optional
from ..tools.immutable import POWER, cached_property, field_bounds, record
from ..tools.messages import shown
from .backoff_prior import LeftOutRows, check_prefix_prior
from .weighted import (
    COMMON_PRECISION,
    Powers,
    Weighted,
    best_common_power,
    best_powers,
    learn_fading,
    log_joint_of_incomplete_rows,
    log_likelihood,
    log_odds_of_scores,
)

_MOST_CELLS = 2**25  # maximum number of odds of all terms, 256 MiB


@record
@dataclass(frozen=True)
class LeaveOneOutSummary:
    """The results of leave-one-out.

    ``power`` is the best common power of all tables, ``objective`` the maximum
    of the objective, ``log_likelihood`` the log-likelihood of the classes of
    held-out rows, ``parents`` the largest number of feature parents kept, and
    ``rows`` the number of held-out rows.
    """

    power: float
    objective: float
    log_likelihood: float
    parents: int
    rows: int


@method_of_lp
@record
@dataclass(frozen=True)
class LeaveOneOut(Method):
    """Choose powers of tables, the number of feature parents, or both."""

    weights: bool = True
    parents: bool = False

    argument = "held_out"
    holds_out_rows = True

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> LeaveOneOut | None:
        how = Optional(OneOf(("weights", "parents", "power"))).check(
            "held_out", given.get("held_out")
        )
        is_dict = Instance(Mapping | None, "a dict of arguments")
        args = is_dict.check("held_out_args", given.get("held_out_args")) or {}
        if args and how != "weights":
            raise ValueError(f"held_out must be 'weights' with held_out_args; got {shown(how)}.")
        for name in args:
            OneOf(("parents",)).check("each key of held_out_args", name)
        if how in (None, "power"):
            return None
        return cls(how == "weights", how == "parents" or args.get("parents", False))

    def __post_init__(self) -> None:
        Flag().check("weights", self.weights)
        Flag().check("parents in held_out_args", self.parents)

    def check(self, x: Model, prior: Prior) -> None:
        name = f"held_out={'weights' if self.weights else 'parents'!r}"
        if not isinstance(x.graph, BNC):
            raise TypeError(
                f"{name} is defined for a single Bayesian network; got {x.type_in_words}. For an "
                "ensemble, use held_out='power'."
            )
        check_positive_prior(prior, name)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        by_name = np.argsort(list(map(repr, data.columns[:-1])))  # whatever the order of columns
        columns = [data.codes[i] for i in by_name]
        data = data.take_rows(np.lexsort((data.row_weights, *columns, data.codes[-1])))
        with one_thread:
            model = x if isinstance(x, Weighted) else Weighted(x.graph, recipe=x.recipe)
            model = model.learn_tables(data, prior)
            depths = range(0 if self.parents else model.depth, model.depth + 1)
            if data.cases is not None and len(np.unique(data.cases)) < len(data):
                odds = _log_odds_by_folds(model, data, data.cases, prior, depths)
                classes, counts, n = data.codes[-1], data.row_weights, len(data)
            else:
                n_terms = len(depths) * len(model.powers)
                rows, counts, left_out, n = rows_to_hold_out(data, n_terms)
                odds = model.left_out_log_odds(data.codes[:-1, rows], left_out, depths)
                classes = left_out.classes
            found: list[Powers] = []  # of the tables with each number of parents
            for terms in odds:
                if self.weights:
                    found.append(best_powers(terms, classes, counts, found[-1] if found else None))
                else:
                    likelihood = log_likelihood(terms.sum(axis=0), classes, counts)
                    found.append(Powers(1.0, np.ones(len(terms)), likelihood, likelihood))
            values = [powers.objective for powers in found]
            # the fewest parents of those that are tied
            best = next(i for i, value in enumerate(values) if value >= max(values) - TOLERANCE)
            powers, depth = found[best], depths[best]
            summary = LeaveOneOutSummary(
                powers.common, powers.objective, powers.log_likelihood, depth, n
            )
            learned = {"leave_one_out": summary}
            kept = replace_unchecked(
                model.with_first_parents(depth), powers=tuple(powers.single.tolist())
            )
            if self.weights:
                fading = learn_fading(data, odds[0], classes, counts)
                return replace_unchecked(kept, fading=fading, learned={**kept.learned, **learned})
            if kept.network is None:
                return replace_unchecked(kept, learned=learned)
            return replace(kept.network, recipe=kept.recipe, learned=learned)


def _log_odds_by_folds(
    x: Weighted, data: Dataset, case_of_rows: Positions, prior: Prior, depths: range
) -> Array:
    """Return odds at all rows by tables of other cases, in ten folds of cases."""
    case, cases = pd.factorize(case_of_rows)
    if len(cases) < 5:
        raise ValueError(
            "groups must contain at least 5 groups of rows with a class; got "
            f"{len(cases)}. Rows of a group are held out together."
        )
    found, held, fold_of_rows = [], [], case % 10
    for fold in range(min(10, len(cases))):
        own = np.flatnonzero(fold_of_rows == fold)
        train = replace(data, weights=np.where(fold_of_rows == fold, 0.0, data.row_weights))
        others = LeftOutRows(data.codes[-1, own], np.zeros(len(own)))
        model = x.learn_tables(train, prior)
        found.append(model.left_out_log_odds(data.codes[:-1, own], others, depths))
        held.append(own)
    order = np.argsort(np.concatenate(held))
    return np.ascontiguousarray(np.concatenate(found, axis=-1)[..., order])


class HeldOutRows(LeftOutRows):
    """Rows that are held out in turn."""

    def log_joint(self, x: BNC, data: Dataset, prior: Prior, rows: Positions) -> Array:
        """Return ln P(features, class) of rows, each by a network of the rest, (rows, classes)."""
        model = Weighted(x).learn_tables(data, prior)
        [tables] = model.tables
        codes = data.codes[:, rows]
        complete: Mask = codes.min(axis=0) >= 0
        result = np.empty((len(rows), data.cards[-1]))
        known = np.flatnonzero(complete)
        for part in slices(len(known), most=BLOCK_ROWS):
            at = known[part]
            by_family = model.left_out_logs([codes[:-1, at]], self.take(at))
            result[at] = sum(by_depth[-1] for by_depth in by_family)
        incomplete = np.flatnonzero(~complete)
        # 2**20: maximum number of cells of the tables of a family, one per incomplete row
        most = max(1, 2**20 // max(table.n_cells for table in tables))
        for part in slices(len(incomplete), most=most):
            block = incomplete[part]
            result[block] = log_joint_of_incomplete_rows(
                x.scopes, tables, codes[:, block], self.take(block)
            )
        return result


def rows_to_hold_out(data: Dataset, terms: int) -> tuple[Positions, Array, HeldOutRows, int]:
    """Return the rows to hold out (spread, or equal ones together), their weights and total."""
    limit = max(1, _MOST_CELLS // max(1, terms * (data.cards[-1] - 1)))
    n, counts = len(data), data.row_weights
    rows: Positions = np.arange(n)
    if data.cases is None and counts.min(initial=1.0) >= 1:  # the first of equal rows, weighted
        order = np.lexsort(data.codes)
        ordered = data.codes[:, order]
        is_first: Mask = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
        group = np.empty(n, dtype=np.intp)
        group[order] = np.cumsum(is_first) - 1
        first = order[is_first]
        in_turn = np.argsort(first)
        rows, counts = first[in_turn], np.bincount(group, counts)[in_turn].astype(np.float64)
    rows, counts = rows[counts > 0], counts[counts > 0]
    if len(rows) > limit:
        n = limit
        spread = np.linspace(0, len(rows) - 1, n).astype(np.intp)
        rows, counts = rows[spread], counts[spread]
    return rows, counts, HeldOutRows(data.codes[-1, rows], data.held_out_weights[rows]), n


@record
@forward_to_basis("members", "picture_notes", "feature_weights", "is_average")
@dataclass(frozen=True, eq=False, repr=False)
class Powered(Derived):
    """A model whose posterior has a power and is normalized: P(c | x) ∝ P₀(c | x)^τ of ``base``.

    If a share h of the features is missing, the power is τ + (1 − τ) h.
    """

    bounds = field_bounds(power=POWER)

    base: Model
    power: float
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    type_in_words = "a model with a power"

    estimate = Derived.estimate_base

    no_joint = f"{type_in_words} {NO_JOINT}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if getattr(self.learned.get("leave_one_out"), "power", self.power) != self.power:
            raise ValueError(f"the power must be that of leave-one-out; got {self.power}")

    def check_type_of_refit(self, fitted: Model) -> None:
        """Accept any model: its base is the recipe's result if the held-out power is 1."""

    @cached_property
    def formula(self) -> Formula:
        return Raised(self.base.score, self.power)


@method_of_lp
@record
@dataclass(frozen=True)
class LeaveOneOutPower(Method):
    """Raise the posterior to the power that maximizes the likelihood of held-out classes."""

    argument = "held_out"

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> LeaveOneOutPower | None:
        return cls() if given.get("held_out") == "power" else None

    def check(self, x: Model, prior: Prior) -> None:
        check_positive_prior(prior, "held_out='power'")
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        fitted = x.estimate(data, prior)
        if not isinstance(fitted, CountedModel):
            raise TypeError(
                f"held_out must be None for {x.type_in_words}, for which 'power' is not defined."
            )
        rows, weights, left_out, n = rows_to_hold_out(data, 1)
        logs = fitted.log_joint_left_out(data, prior, rows, left_out)
        total = log_odds_of_scores(logs)
        power = best_common_power(total, left_out.classes, weights)
        value = log_likelihood(power * total, left_out.classes, weights)
        objective = value - COMMON_PRECISION / 2 * (power - 1) ** 2
        depth = max(0 if member.graph is None else member.graph.depth for member in fitted.members)
        summary = LeaveOneOutSummary(power, objective, value, depth, n)
        return Powered(fitted, power, x.recipe, {"leave_one_out": summary})
