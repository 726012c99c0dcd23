"""Powers of tables and numbers of parents, chosen by leave-one-out.

Tables of counts are exact for each held-out row; structure, cut points and
concentrations are learned from all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from ..classifiers import BNC, Prior, check_positive_prior
from ..dataset import Dataset
from ..model import Model, replace_unchecked
from ..parameters import Method, method_of_lp
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    one_thread,
    slices,
)
from ..tools.checks import Flag, Instance, OneOf, Optional
from ..tools.immutable import record
from ..tools.messages import shown
from .backoff_prior import check_prefix_prior
from .conditional_likelihood import Powers, best_powers, log_likelihood
from .content_order import hash_rows, rows_in_content_order
from .incomplete_rows import learn_fading, log_joint_of_incomplete_rows
from .prefix_tables import LeftOutRows
from .weighted import Weighted

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


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """The odds of rows by each table, (depths, families, classes − 1, rows), without the row.

    ``counts`` are the weights of the rows, and ``represented`` is how many
    training rows they stand for.
    """

    depths: range
    odds: Array
    classes: Codes
    counts: Array
    represented: int


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
        """Raise unless the model has one structure, and the prior leaves no probability at 0."""
        name = f"held_out={'weights' if self.weights else 'parents'!r}"
        if not isinstance(x.graph, BNC):
            raise TypeError(
                f"{name} is defined for a single Bayesian network; got {x.type_in_words}. For an "
                "ensemble, use held_out='power'."
            )
        check_positive_prior(prior, name)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with its powers, and a suitable rule for incomplete rows."""
        data = rows_in_content_order(data)
        with one_thread:
            model = (
                x if isinstance(x, Weighted) else Weighted(cast("BNC", x.graph), recipe=x.recipe)
            )
            model = model.learn_tables(data, prior)
            held = self._held_out_odds(model, data, prior)
            found = self._best_powers_by_depth(held)
            value = {i: powers.objective for i, powers in found.items()}
            # the fewest parents of those that are tied
            best = min(i for i in value if value[i] >= max(value.values()) - TOLERANCE)
            powers, depth = found[best], held.depths[best]
            kept = replace_unchecked(
                model.with_first_parents(depth), powers=tuple(powers.single.tolist())
            )
            if self.weights:
                fading = learn_fading(data, held.odds[0], held.classes, held.counts)
                kept = replace_unchecked(kept, fading=fading)
            summary = LeaveOneOutSummary(
                powers.common, powers.objective, powers.log_likelihood, depth, held.represented
            )
            return self._with_summary(kept, summary)

    def _with_summary(self, x: Weighted, summary: LeaveOneOutSummary) -> Model:
        if self.weights:
            return replace_unchecked(x, learned={**x.learned, "leave_one_out": summary})
        learned = {"leave_one_out": summary}
        if x.network is None:
            return replace_unchecked(x, learned=learned)
        return replace(x.network, recipe=x.recipe, learned=learned)

    def _held_out_odds(self, x: Weighted, data: Dataset, prior: Prior) -> _HeldOut:
        """Return odds at held-out rows, or at all rows, held out by folds of cases."""
        depth = x.depth
        depths = range(0 if self.parents else depth, depth + 1)
        if data.cases is not None and len(np.unique(data.cases)) < len(data):
            odds = _log_odds_by_folds_of_cases(x, data, depths, prior)
            return _HeldOut(depths, odds, data.codes[-1], data.row_weights, len(data))
        rows, counts, left_out, n = rows_to_hold_out(data, len(depths) * len(x.powers))
        odds = x.left_out_log_odds(data.codes[:-1, rows], left_out, depths)
        return _HeldOut(depths, odds, left_out.classes, counts, n)

    def _best_powers_by_depth(self, held: _HeldOut) -> dict[int, Powers]:
        """Return the best powers of the tables with each number of parents that can be chosen."""
        found: dict[int, Powers] = {}
        for i, terms in enumerate(held.odds):
            if self.weights:
                found[i] = best_powers(terms, held.classes, held.counts, found.get(i - 1))
            else:
                value = log_likelihood(terms.sum(axis=0), held.classes, held.counts)
                found[i] = Powers(1.0, np.ones(len(terms)), value, value)
        return found


def _log_odds_by_folds_of_cases(x: Weighted, data: Dataset, depths: range, prior: Prior) -> Array:
    """Return odds at all rows by tables of other cases, in ten folds of cases."""
    assert data.cases is not None
    case, cases = pd.factorize(data.cases)
    if len(cases) < 5:
        raise ValueError(
            f"groups must contain at least 5 groups of rows with a class; got "
            f"{len(cases)}. Rows of a group are held out together."
        )
    found, rows, fold_of_rows = [], [], case % 10
    for fold in range(min(10, len(cases))):
        own = np.flatnonzero(fold_of_rows == fold)
        train = replace(data, weights=np.where(fold_of_rows == fold, 0.0, data.row_weights))
        others = LeftOutRows(data.codes[-1, own], np.zeros(len(own)))
        model = x.learn_tables(train, prior)
        found.append(model.left_out_log_odds(data.codes[:-1, own], others, depths))
        rows.append(own)
    order = np.argsort(np.concatenate(rows))
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
        incomplete = np.nonzero(~complete)[0]
        # 2**20: maximum number of cells of the tables of a family, one per incomplete row
        rows_per_block = max(1, 2**20 // max(table.n_cells for table in tables))
        for start in range(0, len(incomplete), rows_per_block):
            block = incomplete[start : start + rows_per_block]
            result[block] = log_joint_of_incomplete_rows(
                x.scopes, tables, codes[:, block], self.take(block)
            )
        return result


def rows_to_hold_out(data: Dataset, terms: int) -> tuple[Positions, Array, HeldOutRows, int]:
    """Return the rows to hold out (spread, or equal ones together), their weights and total."""
    limit = max(1, _MOST_CELLS // max(1, terms * (data.cards[-1] - 1)))
    n, counts = len(data), data.row_weights
    rows: Positions = np.arange(n)
    if data.cases is None:
        rows, counts = _distinct_rows_and_weights(data)
    rows, counts = rows[counts > 0], counts[counts > 0]
    if len(rows) > limit:
        n = limit
        spread = np.linspace(0, len(rows) - 1, n).astype(np.intp)
        rows, counts = rows[spread], counts[spread]
    return rows, counts, HeldOutRows(data.codes[-1, rows], data.held_out_weights[rows]), n


def _distinct_rows_and_weights(data: Dataset) -> tuple[Positions, Array]:
    """Return the first of equal rows and sums of weights, or all rows if a weight is below 1."""
    every, weights = np.arange(len(data)), data.row_weights
    if weights.min(initial=1.0) < 1:
        return every, weights
    _, first, group = np.unique(hash_rows(data), return_index=True, return_inverse=True)
    if len(first) == len(data) or any((codes[first][group] != codes).any() for codes in data.codes):
        return every, weights
    in_turn = np.argsort(first)
    return first[in_turn], np.bincount(group, weights)[in_turn].astype(np.float64)
