"""Powers of tables, numbers of parents and powers of posteriors, chosen by leave-one-out.

Tables of counts are exact for each held-out row; structure, cut points and
concentrations are learned from all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, Mask, Positions, log, one_thread
from ..base.checks import Flag, OneOf
from ..base.immutable import EMPTY, record
from ..frames.dataset import Dataset
from ..model.model import Model, replace_unchecked
from ..network.classifiers import BNC
from ..network.methods import Method
from ..network.priors import Prior, check_positive_prior
from ..scores.fading import MOST_EXPONENT, Fading
from ..scores.rows import Rows
from .additional_terms import AdditionalTerms
from .backoff_prior import check_prefix_prior
from .conditional_likelihood import Powers, best_powers, log_likelihood, log_odds_of_scores
from .content_order import ContentHashes, hash_rows, rows_in_content_order
from .held_out_terms import HeldOutLogOdds, HeldOutTerms, WeightedFit
from .incomplete_rows import log_joint_of_incomplete_rows
from .log_linear import LogLinear
from .prefix_tables import LeftOutRows
from .refined import KNOWN_TERMS
from .weighted import StackedModel, Weighted

_MOST_CELLS = 2**25  # maximum number of odds of all terms, 256 MiB


@record
@dataclass(frozen=True)
class LeaveOneOutSummary:
    """The results of leave-one-out.

    ``power`` is the best common power of all tables, ``objective`` the maximum
    of the objective, ``log_likelihood`` the log-likelihood of the classes of
    held-out rows, ``parents`` the largest number of feature parents kept,
    ``rows`` the number of held-out rows, and ``ridges`` the precision of the
    weights of additional terms.
    """

    power: float
    objective: float
    log_likelihood: float
    parents: int
    rows: int
    ridges: Mapping[str, float] = field(default_factory=dict)


@record
@dataclass(frozen=True)
class LeaveOneOut(Method):
    """Choose weights of tables and of additional terms, the number of feature parents, or both."""

    weights: bool = True
    parents: bool = False
    terms: tuple[str, ...] = ()

    argument = "held_out"

    def __post_init__(self) -> None:
        Flag().check("weights", self.weights)
        Flag().check("parents in held_out_args", self.parents)
        for name in self.terms:
            OneOf(KNOWN_TERMS).check("terms in held_out_args", name)

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
        data = rows_in_content_order(data)
        with one_thread:
            fit = self.fit(self.held_out_terms(x, data, prior))
            return self.with_summary(fit.build_model(), summarize_fit(fit), data)

    def with_summary(self, x: LogLinear, summary: LeaveOneOutSummary, data: Dataset) -> Model:
        """Return a model for long use, with a suitable rule for incomplete rows, and a summary."""
        if self.weights:
            assert x.fading is not None
            x = replace_unchecked(x, fading=fading_with_best_exponent(x.fading, x, data))
        x, learned = x.unstacked(), {"leave_one_out": summary}
        if self.weights:
            return replace_unchecked(x, learned={**x.learned, **learned})
        if x.network is None:
            return replace_unchecked(x, learned=learned)
        network: Model = replace(x.network, recipe=x.recipe, learned=learned)
        return network

    def held_out_terms(
        self, x: Model, data: Dataset, prior: Prior, *, all_depths: bool = False
    ) -> HeldOutTerms:
        """Count the tables, fit the terms, and compute odds by each of them at held-out rows."""
        model = x if isinstance(x, LogLinear) else Weighted(cast("BNC", x.graph), recipe=x.recipe)
        stacked: StackedModel = model.learn_tables(data, prior)
        requested, depth = self.terms if data.cards[-1] > 1 else (), stacked.most_parents
        all_depths |= self.parents or bool({"depths", "gaps"} & {*requested})
        depths = range(0 if all_depths else depth, depth + 1)
        terms = AdditionalTerms.learn(stacked, data, requested)
        if data.cases is not None and len(np.unique(data.cases)) < len(data):
            rows: Positions = np.arange(len(data))
            counts, n = data.row_weights, len(data)
            odds = _log_odds_by_folds_of_cases(model, terms, depths, prior)
        else:
            cells = len(depths) * len(stacked.powers) * (1 + stacked.apart)
            cells += len(terms.numbers) * len(terms.of_numbers)
            rows, counts, left_out, n = rows_to_hold_out(data, cells, distinct=not terms.numbers)
            odds = HeldOutLogOdds.from_terms(terms, rows, left_out, depths)
        return HeldOutTerms.with_learned_fading(terms, depths, rows, counts, n, odds)

    def _best_powers_by_depth(self, held: HeldOutTerms) -> dict[int, Powers]:
        """Return the best powers of the tables with each number of parents that can be chosen."""
        found: dict[int, Powers] = {}
        n = len(held.depths)
        for i in range(0 if self.parents else n - 1, n):
            if self.weights:
                terms, start = held.odds.by_depth[i], found.get(i - 1)
                found[i] = best_powers(terms, held.classes, held.counts, start, held.offset)
            else:
                total: Array = held.offset + held.odds.by_depth[i].sum(axis=0)
                value = log_likelihood(total, held.classes, held.counts)
                found[i] = Powers(1.0, np.ones(held.odds.by_depth.shape[1]), value, value)
        return found

    def fit(self, held: HeldOutTerms, ridges: Mapping[str, float] = EMPTY) -> WeightedFit:
        """Return the best weights and number of parents."""
        found, requested = self._best_powers_by_depth(held), held.terms.requested
        values = {i: p.log_likelihood if requested else p.objective for i, p in found.items()}
        # the fewest parents of those that are tied
        best = min(i for i, value in values.items() if value >= max(values.values()) - TOLERANCE)
        chosen = held if requested else held.limited_to_depth(held.depths[best])
        return WeightedFit.fit(chosen, best, found[best], ridges)


def summarize_fit(fit: WeightedFit) -> LeaveOneOutSummary:
    """Return the results of the weights."""
    held, powers = fit.held, fit.powers
    objective, likelihood = powers.objective, powers.log_likelihood
    if held.terms.requested:
        likelihood = log_likelihood(fit.total, held.classes, held.counts)
        objective = likelihood - fit.penalty
    depth, n = held.depths[fit.best], held.represented
    return LeaveOneOutSummary(powers.common, objective, likelihood, depth, n, fit.ridges)


def fading_with_best_exponent(fading: Fading, x: LogLinear, data: Dataset) -> Fading:
    """Return a model's rule with the exponent that is best for training rows with hidden features.

    Of each row, a random share of the features that no training row lacks is
    hidden.
    """
    from scipy.optimize import minimize_scalar  # slow to import

    always = np.flatnonzero(fading.usual >= 1)
    if data.cards[-1] < 2 or not len(always):
        return fading
    copies, hidden = _copies_with_hidden_features(data, always)
    codes = np.where(hidden, -1, data.codes[:-1, copies])
    numbers = {}
    for name, values in data.numbers.items():
        if name in x.features:
            numbers[name] = np.where(hidden[data.positions[name]], np.nan, values[copies])
    rest = (
        log(x.learned_class_prior()),
        x.model_without_parents.scores_of_complete_rows(Rows(codes)),
    )
    terms = x.scores_of_complete_rows(x.rows_from_codes(codes, numbers))
    shifts = x.shifts_of_missing_values(codes)
    classes, counts = data.codes[-1, copies], data.row_weights[copies]

    def loss(exponent: float) -> float:
        tried = replace(fading, exponent=float(exponent))
        kept, added = tried.kept_share_and_added_scores(codes, *rest)
        scores = kept[:, None] * terms + added + shifts
        return -log_likelihood(log_odds_of_scores(scores), classes, counts)

    best = minimize_scalar(loss, bounds=(1.0, MOST_EXPONENT), method="bounded").x
    return replace(fading, exponent=float(best))


def _copies_with_hidden_features(data: Dataset, can_hide: Positions) -> tuple[Positions, Mask]:
    """Return rows, three times each, and which features are hidden in them, (features, copies)."""
    rows = np.unique(np.linspace(0, len(data) - 1, min(len(data), 200)).astype(np.intp))
    copies, d = np.tile(rows, 3), len(data.codes) - 1
    rng, ranks = np.random.default_rng(0), np.argsort(ContentHashes(data).column_order)
    # In a copy with the share 0.3, about 3 of 10 features are hidden.
    numbers, share = rng.random((d, len(copies)))[ranks], rng.random(len(copies))
    return copies, (numbers < share) & np.isin(np.arange(d), can_hide)[:, None]


def _log_odds_by_folds_of_cases(
    x: LogLinear, terms: AdditionalTerms, depths: range, prior: Prior
) -> HeldOutLogOdds:
    """Return odds at all rows by tables and terms of other cases, in ten folds of cases."""
    data = terms.data
    assert data.cases is not None
    weights = data.row_weights
    case, cases = pd.factorize(data.cases)
    if len(cases) < 5:
        raise ValueError(
            f"groups must contain at least 5 groups of rows with a class; got "
            f"{len(cases)}. Rows of a group are held out together."
        )
    nothing = LeftOutRows(data.codes[-1], np.zeros(len(data)))
    found, rows = [], []
    fold_of_rows = case % 10
    for fold in range(min(10, len(cases))):
        own = np.flatnonzero(fold_of_rows == fold)
        train = replace(data, weights=np.where(fold_of_rows == fold, 0.0, weights))
        learned = AdditionalTerms.learn(x.learn_tables(train, prior), train, terms.requested)
        odds = HeldOutLogOdds.from_terms(learned, own, nothing.take(own), depths)
        same = [learned.numbers.index(number) for number in terms.numbers]
        found.append(odds._replace(of_numbers=[of_scale[same] for of_scale in odds.of_numbers]))
        rows.append(own)
    return HeldOutLogOdds.from_folds(found, rows)


class HeldOutRows(LeftOutRows):
    """Rows that are held out in turn."""

    def log_joint(self, x: BNC, data: Dataset, prior: Prior, rows: Positions) -> Array:
        """Return ln P(features, class) of rows, each by a network of the rest, (rows, classes)."""
        stacked = Weighted(x).learn_tables(data, prior)
        [tables] = stacked.tables
        codes = data.codes[:, rows]
        complete: Mask = codes.min(axis=0) >= 0
        result = np.empty((len(rows), data.cards[-1]))
        known = self.take(complete)
        result[complete] = stacked.scores_left_out(codes[:-1, complete], known)
        incomplete = np.nonzero(~complete)[0]
        # 2**20: maximum number of cells of the tables of a family, one per incomplete row
        rows_per_block = max(1, 2**20 // max(table.n_cells for table in tables))
        for start in range(0, len(incomplete), rows_per_block):
            block = incomplete[start : start + rows_per_block]
            result[block] = log_joint_of_incomplete_rows(
                x.scopes, tables, codes[:, block], self.take(block)
            )
        return result


def rows_to_hold_out(
    data: Dataset, terms: int, *, distinct: bool = True
) -> tuple[Positions, Array, HeldOutRows, int]:
    """Return the rows to hold out (spread, or equal ones together), their weights and total."""
    limit = max(1, _MOST_CELLS // max(1, terms * (data.cards[-1] - 1)))
    n, counts = len(data), data.row_weights
    rows: Positions = np.arange(n)
    if distinct and data.cases is None:
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
