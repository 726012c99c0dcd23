"""Methods of `lp` that weight or ignore features: AWNB, MANB, WANBIA, and lazy elimination.

AWNB weights features by the depth at which unpruned trees on bootstrap samples test them.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..accessors import check_augmented, check_size_of_scores
from ..classifiers import BNC, Prior, PseudoCounts, check_positive_prior
from ..counts import (
    check_number_of_cells,
    count_families,
    count_pairs,
    flat_index,
    log_rising_factorial,
)
from ..dataset import Countable, Dataset
from ..model import Derived, Model, Recipe, forward_to_basis
from ..parameters import Method, method_of_lp
from ..scores import Formula, Recoded
from ..tools import special
from ..tools.arrays import (
    TOLERANCE,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    first_best,
    last_axis_first,
    log,
    log_normalize,
    slices,
    xlogx,
)
from ..tools.calls import advance_bar
from ..tools.checks import Flag, Real, Whole
from ..tools.immutable import cached_property, record
from ..tools.messages import warn

MAX_DEPTH = 30

_Counts: TypeAlias = ArrayOf[np.intp]

_FLAT = 1e-6  # nats per row and weight; smaller slopes count as 0
_OPTIONS = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-7}


@method_of_lp
@record
@dataclass(frozen=True)
class AWNB(Method):
    """Weight features by the depth at which trees on samples of the rows test them."""

    awnb_trees: int = 10
    awnb_bootstrap: float = 0.5

    argument = "awnb_trees"
    draws = True

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> AWNB | None:
        own = {name: given[name] for name in ("awnb_trees", "awnb_bootstrap") if name in given}
        return cls(**own) if own else None

    def __post_init__(self) -> None:
        Whole(least=1, most=100_000).check("awnb_trees", self.awnb_trees)
        Real(above=0, most=1).check("awnb_bootstrap", self.awnb_bootstrap)

    def check(self, x: Model, prior: Prior) -> None:
        check_augmented(x, self.argument)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> BNC:
        fitted = check_augmented(x, self.argument).estimate(data, prior)
        samples = _bootstrap_samples(data, self.awnb_trees, self.awnb_bootstrap, rng)
        return with_weighted_tables(fitted, depth_weights(data, samples))


def _bootstrap_samples(
    data: Dataset, trees: int, share: float, rng: np.random.Generator
) -> Iterator[Positions]:
    """Draw rows for each tree with replacement, sample by sample, in proportion to weights."""
    n_rows = max(1, int(len(data) * float(share)))
    shares = None if data.weights is None else data.weights / data.size
    for _ in range(trees):
        yield rng.choice(len(data), size=n_rows, p=shares)


def depth_weights(data: Dataset, samples: Iterable[Positions]) -> Array:
    """Return features' weights: the mean over trees of 1/√depth, 0 if not tested (Hall, 2007)."""
    depths = smallest_depths_in_trees(data, samples)
    if not depths.any():
        raise ValueError(
            "awnb_trees: no tree has a split, so no weights can be estimated. Increase awnb_trees "
            "or awnb_bootstrap, unless no feature depends on the class."
        )
    return np.asarray(np.where(depths > 0, 1 / np.sqrt(np.maximum(depths, 1)), 0.0).mean(axis=0))


def smallest_depths_in_trees(data: Dataset, samples: Iterable[Positions]) -> Positions:
    """Return the smallest depth of each feature in each sample's tree, (samples, features)."""
    at_once, depths = list[Positions](), list[Positions]()
    for sample in samples:
        # 2**18: number of codes of the rows of trees that grow together
        if at_once and (len(at_once) + 1) * len(sample) * len(data.columns) > 2**18:
            depths.append(_Trees(data, at_once).smallest_depths())
            at_once = []
        at_once.append(sample)
    return np.concatenate([*depths, _Trees(data, at_once).smallest_depths()])


@dataclass
class _Layer:
    """The nodes of one depth: parent, number of misclassified rows, tested feature or -1."""

    parent: Positions
    errors: _Counts
    feature: Positions


class _Trees:
    """Unpruned classification trees, one per sample of rows, which grow together layer by layer.

    Each node is split in two by the subset of the levels of a feature that
    gains the most information, until all of its rows have the same class or no
    split gains information, and at most 30 levels deep. With two classes, or
    more than 10 levels, the levels are ordered and divided [2]_; if not, all
    subsets are tried. Rows in which the tested feature is missing stay at the
    node. A split is removed only if its subtree has as many errors as the node
    alone [1]_, as in rpart with a complexity parameter of 0.

    .. [1] Breiman, L., Friedman, J., Olshen, R., Stone, C. (1984).
       Classification and Regression Trees.
    .. [2] Coppersmith, D., Hong, S. J., Hosking, J. R. M. (1999). Partitioning
       nominal attributes in decision trees. Data Mining and Knowledge
       Discovery 3.
    """

    def __init__(self, data: Dataset, samples: Sequence[Positions]) -> None:
        *cards, self.n_classes = data.cards
        rows = np.concatenate(samples)
        self.classes = data.codes[-1:].ravel().take(rows).astype(np.intp)
        self.codes: Codes = data.codes[:-1].take(rows, axis=1)
        self.by_card = dict[int, list[int]]()  # features by numbers of levels
        for feature, card in enumerate(cards):
            if card > 1:
                self.by_card.setdefault(card, []).append(feature)
        self.node = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
        self.layers = [self._layer_of_open_nodes(np.full(len(samples), -1))]
        while self._split_deepest_layer():
            advance_bar()

    def _layer_of_open_nodes(self, parent: Positions) -> _Layer:
        """Open nodes, to which rows are assigned."""
        cells = self.node * self.n_classes + self.classes
        counts = np.bincount(cells, minlength=len(parent) * self.n_classes)
        counts = counts.reshape(-1, self.n_classes)
        errors: _Counts = counts.sum(axis=1) - counts.max(axis=1)
        return _Layer(parent, errors, feature=np.full(len(parent), -1))

    def _split_deepest_layer(self) -> bool:
        """Split the nodes of the deepest layer; return whether any was split."""
        layer = self.layers[-1]
        n_nodes, width = len(layer.parent), max(self.by_card, default=1)
        goes_left = np.zeros((n_nodes, width), dtype=bool)
        impure = layer.errors > 0
        if impure.any() and self.by_card and len(self.layers) <= MAX_DEPTH:
            self._keep_rows(impure[self.node])
            gains, sides = self._gains_and_sides_of_best_splits(n_nodes, width)
            best = first_best(gains.T)
            nodes = np.flatnonzero(impure & (gains.max(axis=0) > TOLERANCE))
            layer.feature[nodes], goes_left[nodes] = best[nodes], sides[best[nodes], nodes]
        split = np.flatnonzero(layer.feature >= 0)
        if len(split):
            self._send_rows_to_children(layer, goes_left)
            self.layers.append(self._layer_of_open_nodes(np.repeat(split, 2)))
        return len(split) > 0

    def _keep_rows(self, rows: Mask) -> None:
        self.node = self.node[rows]
        self.classes = self.classes[rows]
        self.codes = self.codes[:, rows]

    def _send_rows_to_children(self, layer: _Layer, goes_left: Mask) -> None:
        """Send rows to the children, two per split node; other rows are dropped."""
        rank = np.cumsum(layer.feature >= 0) - 1
        feature = layer.feature[self.node]
        code = self.codes[feature, np.arange(len(feature))]
        self.node = 2 * rank[self.node] + ~goes_left[self.node, np.maximum(code, 0)]
        self._keep_rows((feature >= 0) & (code >= 0))

    def _gains_and_sides_of_best_splits(self, n_nodes: int, width: int) -> tuple[Array, Mask]:
        """Return the gains, (features, nodes), and the left levels of each feature's best split."""
        gains = np.full((len(self.codes), n_nodes), -np.inf)
        sides = np.zeros((*gains.shape, width), dtype=bool)
        for r, features in self.by_card.items():
            # 10: maximum number of levels for a search of all splits with more than two classes
            best = _best_ordered_split if self.n_classes <= 2 or r > 10 else _best_split_of_all
            for some in slices(len(features), n_nodes * r * self.n_classes):
                own = features[some]
                codes = self.codes.take(own, axis=0)
                of_node = (np.arange(len(own))[:, None] * n_nodes + self.node) * r
                cells = ((of_node + codes) * self.n_classes + self.classes)[codes >= 0]
                counts = np.bincount(cells, minlength=len(own) * n_nodes * r * self.n_classes)
                # (features · nodes, levels, classes)
                gain, left = best(counts.reshape(-1, r, self.n_classes))
                gains[own] = gain.reshape(-1, n_nodes)
                sides[own, :, :r] = left.reshape(-1, n_nodes, r)
        return gains, sides

    def smallest_depths(self) -> Positions:
        """Prune, and return the smallest depth of features in trees, (trees, features), or 0."""
        errors = self.layers[-1].errors  # of the pruned subtree below each node
        for upper, lower in zip(self.layers[-2::-1], self.layers[:0:-1], strict=True):
            errors_below = np.bincount(lower.parent, errors, len(upper.parent)).astype(np.intp)
            upper.feature[(upper.feature >= 0) & (errors_below >= upper.errors)] = -1
            errors = np.where(upper.feature >= 0, errors_below, upper.errors)
        trees = len(self.layers[0].parent)
        result = np.zeros((trees, len(self.codes)), dtype=np.intp)
        # of each node of a layer: its tree, and whether the pruned tree splits it
        tree, is_split = np.arange(trees), np.ones(trees, dtype=bool)
        for depth, layer in enumerate(self.layers, start=1):
            if depth > 1:
                tree, is_split = tree[layer.parent], is_split[layer.parent]
            is_split = is_split & (layer.feature >= 0)
            tested = tree[is_split], layer.feature[is_split]
            result[tested] = np.where(result[tested] > 0, result[tested], depth)
        return result


def _negative_entropy_of_splits(counts: ArrayOf[Any]) -> Array:
    """Return minus the entropy of class counts over the last axis times their sum, in nats."""
    by_class = last_axis_first(counts)
    return np.asarray(reduce(np.add, xlogx(by_class)) - xlogx(reduce(np.add, by_class)))


def _best_ordered_split(counts: _Counts) -> tuple[Array, Mask]:
    """Return the gain of the best split of ordered levels, (nodes,), and its left levels."""
    mass: _Counts = counts.sum(axis=2)
    shares = counts / np.maximum(mass, 1)[:, :, None]
    key = shares[:, :, 0] if counts.shape[2] <= 2 else _first_principal_component(shares, mass)
    order = np.argsort(np.where(mass > 0, key, np.inf), axis=1, kind="stable")
    left = np.cumsum(np.take_along_axis(counts, order[:, :, None], axis=1), axis=1)[:, :-1]
    gain, best = _largest_gain_of_splits(left, counts.sum(axis=1))
    rank = np.argsort(order, axis=1)
    return gain, rank <= best[:, None]


def _first_principal_component(shares: Array, mass: _Counts) -> Array:
    """Project class proportions of levels, weighted by size, on their first principal component."""
    weight: Array = mass[:, :, None] / np.maximum(mass.sum(axis=1), 1)[:, None, None]
    mean: Array = (weight * shares).sum(axis=1)
    centered = shares - mean[:, None]
    covariance: Array = (weight * centered).swapaxes(1, 2) @ centered
    component = np.linalg.eigh(covariance)[1][:, :, -1:]
    return np.asarray(centered @ component)[..., 0]


def _best_split_of_all(counts: _Counts) -> tuple[Array, Mask]:
    """Search all splits of the levels in two; see `_best_ordered_split`."""
    _, r, n_classes = counts.shape
    # (splits, levels): of 3 levels, the left ones are 1, or 0, or 0 and 1; the last one is right
    subsets = np.array([(*side, False) for side in product([False, True], repeat=r - 1)][1:])
    gains, best = np.empty(len(counts)), np.empty(len(counts), dtype=np.intp)
    for nodes in slices(len(counts), len(subsets) * n_classes):
        left: Array = subsets.astype(np.float64) @ counts[nodes]
        gains[nodes], best[nodes] = _largest_gain_of_splits(left, counts[nodes].sum(axis=1))
    return gains, subsets[best]


def _largest_gain_of_splits(left: ArrayOf[Any], total: _Counts) -> tuple[Array, Positions]:
    """Return the largest gain of splits, from their (nodes, splits, classes), and where it is."""
    right: ArrayOf[Any] = total[:, None] - left
    of_left, of_right, of_both = map(_negative_entropy_of_splits, (left, right, total))
    splits: Mask = (left.sum(axis=2) > 0) & (right.sum(axis=2) > 0)
    gain = np.where(splits, of_left + of_right - of_both[:, None], -np.inf)
    best = first_best(gain)
    return gain[np.arange(len(gain)), best], best


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
    of_columns = log_rising_factorial(counts.sum(axis=0), pseudo * levels)
    return float(log_rising_factorial(counts, pseudo).sum() - of_columns.sum())


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
        options: dict[str, Any] = {"bounds": [(0, 1)] * n, "jac": True, "options": _OPTIONS}
        runs = [
            minimize(objective, np.full(n, start), method="L-BFGS-B", **options)
            for start in (1.0, 0.5)
        ]
        best = min(runs, key=lambda run: run.fun)
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
