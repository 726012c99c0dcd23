"""Methods of `lp` that weight or ignore features: MANB, WANBIA, and lazy elimination.

MANB averages a naive Bayes over the presence of each arc from the class. The
posterior of an arc depends only on its feature, because the prior of structures
and the likelihood are products over features. Therefore, the exact average over
2^n structures needs n terms.

WANBIA weights features to maximize the conditional log-likelihood. The tables
of the returned model are θ^w, normalized, and the objective and its gradient
refer to this model.

Lazy elimination treats values of features that other values of the row imply as
missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..accessors import check_augmented, check_size_of_scores
from ..classifiers import BNC, Prior, PseudoCounts, check_positive_prior
from ..counts import check_number_of_cells, count_families, count_pairs, flat_index
from ..dataset import Countable, Dataset
from ..model import Derived, Model, Recipe, forward_to_basis
from ..parameters import Method, method_of_lp
from ..scores import Formula, Recoded
from ..tools import special
from ..tools.arrays import TOLERANCE, Array, Codes, Mask, Positions, log, log_normalize
from ..tools.calls import advance_bar
from ..tools.checks import Flag, Real, Whole
from ..tools.immutable import cached_property, record
from ..tools.messages import warn

_FLAT = 1e-6  # nats per row and weight; smaller slopes count as 0
_OPTIONS = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-7}


@method_of_lp
@record
@dataclass(frozen=True)
class MANB(Method):
    """Average a naive Bayes over the presence of each arc, given its prior probability."""

    probability: float

    argument = "manb_prior"
    counts_alone = True

    def __post_init__(self) -> None:
        Real(above=0, below=1).check("manb_prior", self.probability)

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the structure is a naive Bayes and the prior adds pseudo-counts."""
        if any(check_augmented(x, self.argument).feature_parents.values()):
            raise ValueError("manb_prior requires a naive Bayes. Learn the structure with nb.")
        check_positive_prior(prior, self.argument)
        if not isinstance(prior, PseudoCounts):
            raise ValueError("manb_prior requires smooth, ess or m.")

    def __call__(self, x: Model, data: Countable, prior: Any, rng: np.random.Generator) -> BNC:
        fitted, of_class = check_augmented(x, self.argument).estimate(data, prior), len(x.features)
        tables, posteriors = list[Array](), list[float]()
        for counts in count_families(data, [(i, of_class) for i in range(of_class)]):
            # θ P(arc | D) + θ₀ (1 − P(arc | D)), where θ is given the class and θ₀ without it
            merged: Array = counts.sum(axis=1, keepdims=True)
            evidence = _log_evidence_of_counts(counts, prior)
            evidence -= _log_evidence_of_counts(merged, prior)
            posterior = float(special.expit(evidence + special.logit(self.probability)))
            tables.append(prior(counts) * posterior + prior(merged) * (1 - posterior))
            posteriors.append(posterior)
        learned = {**fitted.learned, "arc_posteriors": tuple(posteriors)}
        return replace(fitted, cpts=(*tables, *(fitted.cpts or ())[-1:]), learned=learned)


def _log_evidence_of_counts(counts: Array, prior: PseudoCounts) -> float:
    """Return Σ_j [ln Γ(rα) − ln Γ(N_j + rα) + Σ_k (ln Γ(N_jk + α) − ln Γ(α))], k on axis 0."""
    levels, configurations = counts.shape
    pseudo = prior.pseudo_count_per_cell(float(levels), configurations)
    of_cells = _log_gamma_ratio(pseudo, counts)
    of_columns = _log_gamma_ratio(pseudo * levels, counts.sum(axis=0))
    return float(of_cells.sum() - of_columns.sum())


def _log_gamma_ratio(start: float, steps: Array) -> Array:
    """Return ln Γ(start + steps) − ln Γ(start); for large starts, ln Γ(n) − ln B(start, n)."""
    n = np.where(steps > 0, steps, 1.0)
    return np.where(steps > 0, special.gammaln(n) - special.betaln(start, n), 0.0)


class ConditionalLikelihood:
    """Minus the conditional log-likelihood as a function of weights, with its gradient.

    Rows with the same features are counted together. The distinct values of a
    feature and its parents are the columns of a sparse matrix, in which a
    distinct row has a 1 for every family that is observed in it. A product with
    this matrix sums the log tables.
    """

    def __init__(self, x: BNC, data: Dataset) -> None:
        from scipy.sparse import csr_array

        *cpts, prior = x.cpts or ()
        distinct, row = np.unique(data.codes[:-1].T, axis=0, return_inverse=True)
        n_classes = len(prior)
        check_size_of_scores(len(distinct), n_classes)
        cells: Positions = row.ravel() * n_classes + data.codes[-1]
        counts = np.bincount(cells, data.weights, minlength=len(distinct) * n_classes)
        self.counts = counts.reshape(len(distinct), n_classes).astype(np.float64)
        self.log_prior = log(prior)
        # Cells are ordered by family, configuration of feature parents, and level: a family of 3
        # levels whose feature parent has 2 has 6 cells, of ``sizes`` 6 and ``levels`` 3, 3.
        logs, levels, start = list[Array](), list[int](), 0
        rows, cells_of_rows = list[Codes](), list[Codes]()  # at which the matrix is 1
        for (v, *parents, _), cpt in zip(x.scopes[:-1], cpts, strict=True):
            members = distinct.T[[*parents, v]]
            known = np.flatnonzero((members >= 0).all(axis=0))
            rows.append(known.astype(np.int32))
            at = flat_index(list(members[:, known]), (*cpt.shape[1:-1], len(cpt)))
            cells_of_rows.append(start + at.astype(np.int32))
            logs.append(np.moveaxis(log(cpt), 0, -2).reshape(-1, n_classes))
            levels += [len(cpt)] * (cpt[0].size // n_classes)
            start += len(logs[-1])
        self.logs, self.levels = np.concatenate(logs), np.array(levels)
        self.sizes = np.array([len(cells) for cells in logs])
        places = np.concatenate(rows), np.concatenate(cells_of_rows)
        shape = len(distinct), start
        self.member: Any = csr_array((np.ones(len(places[0])), places), shape=shape)
        self.observed: Array = self.member.T @ self.counts

    def __call__(self, weights: Array) -> tuple[float, Array]:
        """Return the value and the gradient at weights.

        d/dw [w ln θ_k − ln Σ_l θ_l^w] = ln θ_k − Σ_l θ_l^w ln θ_l / Σ_l θ_l^w.
        """
        advance_bar()
        weighted = self.logs * np.repeat(weights, self.sizes)[:, None]
        weighted -= np.log(self._sum_over_levels(np.exp(weighted)))
        slopes = self.logs - self._sum_over_levels(np.exp(weighted) * self.logs)
        logs: Array = self.member @ weighted + self.log_prior
        posterior = log_normalize(logs)
        value = -float((self.counts * posterior).sum())
        n_rows: Array = self.counts.sum(axis=1, keepdims=True)
        expected: Array = self.member.T @ (n_rows * np.exp(posterior))
        per_cell = ((expected - self.observed) * slopes).sum(axis=1)
        return value, np.add.reduceat(per_cell, np.cumsum(self.sizes) - self.sizes)

    def _sum_over_levels(self, cells: Array) -> Array:
        """Return the sum over the levels of each configuration, at each of its cells."""
        sums = np.add.reduceat(cells, np.cumsum(self.levels) - self.levels, axis=0)
        return np.repeat(sums, self.levels, axis=0)


@method_of_lp
@record
@dataclass(frozen=True)
class WANBIA(Method):
    """Weight the features of a network to maximize the conditional log-likelihood."""

    argument = "wanbia"

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> WANBIA | None:
        return cls() if Flag().check("wanbia", given.get("wanbia", False)) else None

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the class is a parent of every feature and no probability can be 0."""
        check_augmented(x, self.argument)
        check_positive_prior(prior, self.argument)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> BNC:
        """Return the network with weighted tables, by L-BFGS-B from all ones and all halves."""
        if any(x.feature_parents.values()) and data.incomplete[:-1].any():
            raise ValueError(
                "wanbia must be False if values are missing and features have feature parents. "
                "Drop incomplete rows with .dropna(), or learn the structure with nb."
            )
        from scipy.optimize import minimize

        fitted, n = check_augmented(x, self.argument).estimate(data, prior), len(x.features)
        if not n:
            return with_weighted_tables(fitted, np.empty(0))
        objective = ConditionalLikelihood(fitted, data)
        options: dict[str, Any] = {"method": "L-BFGS-B", "jac": True, "options": _OPTIONS}
        bounds = [(0, 1)] * n
        from_ones = minimize(objective, np.full(n, 1.0), bounds=bounds, **options)
        from_halves = minimize(objective, np.full(n, 0.5), bounds=bounds, **options)
        best = min(from_ones, from_halves, key=lambda run: run.fun)
        weights: Array = np.clip(best.x, 0, 1)
        # at an optimum, the line search can fail because of rounding
        downhill: Array = np.abs(np.clip(weights - objective(weights)[1], 0, 1) - weights)
        if not best.success and downhill.max() > _FLAT * data.size:
            warn(
                "wanbia: the weights may not be optimal, as the optimizer stopped "
                f"early ({best.message})"
            )
        return with_weighted_tables(fitted, weights * (np.array(fitted.cards[:-1]) > 1))


def with_weighted_tables(x: BNC, weights: Array) -> BNC:
    """Return a fitted network with the table of each feature raised to its weight."""
    *tables, prior = x.cpts or ()
    powers = list[float](weights.tolist())
    raised = [raised_table(*pair) for pair in zip(tables, powers, strict=True)]
    return replace(x, cpts=(*raised, prior), learned={**x.learned, "weights": tuple(powers)})


def raised_table(cpt: Array, weight: float) -> Array:
    """Return θ^weight, normalized over the values of the variable; 0⁰ is 1.

    >>> import numpy as np
    >>> raised_table(np.array([[0.8], [0.2]]), 0.5).round(3).tolist()
    [[0.667], [0.333]]
    >>> raised_table(np.array([[1.0], [0.0]]), 0).tolist()
    [[0.5], [0.5]]
    """
    if weight == 1:
        return cpt
    logs = log(cpt) * weight if weight else np.zeros_like(cpt)
    return np.exp(np.moveaxis(log_normalize(np.moveaxis(logs, 0, -1)), -1, 0))


@record
@forward_to_basis("members", "network")
@dataclass(frozen=True, eq=False, repr=False)
class Lazy(Derived):
    """A network that ignores a row's first value if the second of a pair implies it."""

    base: Model
    implications: Positions
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    type_in_words = "a model with subsumption"

    estimate = Derived.estimate_base

    no_joint = (
        "a model with subsumption resolution ignores values row by row, so it does not define a "
        "joint distribution. Use cloglik or cv, or refit the model with lp without subsumption."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs, n = self.implications, sum(self._feature_cards)
        are_pairs = pairs.ndim == 2 and pairs.shape[1] == 2
        if not are_pairs or not ((pairs >= 0) & (pairs < n)).all():
            raise ValueError(f"the implications must be pairs of values from 0 to {n - 1}")

    def facts(self) -> dict[str, object]:
        return self.base.facts() | {"num. implications": len(self.implications)}

    @property
    def _feature_cards(self) -> list[int]:
        return [len(labels) for labels in self.known_levels[:-1]]

    @cached_property
    def formula(self) -> Formula:
        """The score of the network at rows without implied values."""
        hide = partial(
            codes_without_implied, cards=self._feature_cards, implications=self.implications
        )
        return Recoded(self.base.score, hide, self.type_in_words)


@method_of_lp
@record
@dataclass(frozen=True)
class Subsumption(Method):
    """Finds implied values, in at least ``rows`` rows."""

    rows: int

    argument = "subsumption"
    counts_alone = True

    def __post_init__(self) -> None:
        Whole(least=1).check("subsumption", self.rows)

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the model is an augmented naive Bayes."""
        check_augmented(x if x.graph is None else x.graph, self.argument)

    def __call__(self, x: Model, data: Any, prior: Prior, rng: np.random.Generator) -> Model:
        fitted = x.estimate(data, prior)
        *cards, n_classes = data.cards
        cells = sum(cards) ** 2 * n_classes
        check_number_of_cells(data, range(len(cards)), cells, "omit subsumption")
        both: Array = count_pairs(data).sum(axis=1, dtype=np.float64)
        feature = _features_and_codes_of_values(cards)[0]
        is_frequent: Mask = np.diagonal(both) >= self.rows - TOLERANCE
        return Lazy(fitted, implications_between_values(both, feature, is_frequent), fitted.recipe)


def implications_between_values(both: Array, feature: Positions, is_frequent: Mask) -> Positions:
    """Return pairs of values, (pairs, 2), the second of which is frequent and implies the first.

    ``both`` has the number of rows with two values. Of two values with the same
    rows, that of the earlier feature is kept.
    """
    counts = np.diagonal(both)
    # implied[i, j]: all rows with value j have value i. If all 40 rows with "pregnant" have
    # "female", pregnant implies female.
    implied = is_frequent & (both >= counts - TOLERANCE * np.maximum(counts, 1))
    same_rows = implied & implied.T
    is_earlier = feature[:, None] < feature
    return np.argwhere(implied & (feature[:, None] != feature) & ~(same_rows & is_earlier))


def codes_without_implied(codes: Codes, cards: Sequence[int], implications: Positions) -> Codes:
    """Return the codes of rows, (features, rows), with -1 for implied values."""
    feature, level = _features_and_codes_of_values(cards)
    hidden = codes.copy()
    for value in map(int, np.unique(implications[:, 0])):
        others: Positions = implications[implications[:, 0] == value, 1]
        present: Mask = (codes[feature[others]] == level[others, None]).any(axis=0)
        own, code = int(feature[value]), int(level[value])
        hidden[own, present & (codes[own] == code)] = -1
    return hidden


def _features_and_codes_of_values(cards: Sequence[int]) -> tuple[Positions, Positions]:
    """Return the feature and code of each value of all features, numbered consecutively."""
    feature = np.repeat(np.arange(len(cards)), cards)
    return feature, np.arange(len(feature)) - np.repeat(np.cumsum(cards) - cards, cards)
