"""AWNB: features weighted by the depth at which unpruned trees on bootstrap samples test them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..accessors import check_augmented
from ..classifiers import BNC, Prior
from ..dataset import Dataset
from ..model import Model
from ..parameters import Method, method_of_lp
from ..tools.arrays import (
    TOLERANCE,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    first_best,
    last_axis_first,
    slices,
    xlogx,
)
from ..tools.calls import advance_bar
from ..tools.checks import Real, Whole
from ..tools.immutable import record
from .weighting import with_weighted_tables

MAX_DEPTH = 30

_Counts: TypeAlias = ArrayOf[np.intp]


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
        """Raise unless the class is a parent of every feature."""
        check_augmented(x, self.argument)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> BNC:
        fitted = check_augmented(x, self.argument).estimate(data, prior)
        samples = _bootstrap_samples(data, self.awnb_trees, self.awnb_bootstrap, rng)
        return with_weighted_tables(fitted, depth_weights(data, samples))


def _bootstrap_samples(
    data: Dataset, trees: int, share: float, rng: np.random.Generator
) -> Iterator[Positions]:
    """Draw rows for each tree with replacement, sample by sample, in proportion to weights."""
    n_rows = max(1, int(len(data) * share))
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
                gain, left = best(self._counts_by_node(r, features[some], n_nodes))
                gains[features[some]] = gain.reshape(-1, n_nodes)
                sides[features[some], :, :r] = left.reshape(-1, n_nodes, r)
        return gains, sides

    def _counts_by_node(self, r: int, features: Sequence[int], n_nodes: int) -> _Counts:
        """Count levels and classes in every node, (features · nodes, levels, classes)."""
        codes = self.codes.take(features, axis=0)
        of_node = (np.arange(len(features))[:, None] * n_nodes + self.node) * r
        cells = ((of_node + codes) * self.n_classes + self.classes)[codes >= 0]
        counts = np.bincount(cells, minlength=len(features) * n_nodes * r * self.n_classes)
        return counts.reshape(-1, r, self.n_classes)

    def smallest_depths(self) -> Positions:
        """Prune, and return the smallest depth of features in trees, (trees, features), or 0."""
        self._prune_upwards()
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

    def _prune_upwards(self) -> None:
        errors = self.layers[-1].errors  # of the pruned subtree below each node
        for upper, lower in zip(self.layers[-2::-1], self.layers[:0:-1], strict=True):
            errors_below = np.bincount(lower.parent, errors, len(upper.parent)).astype(np.intp)
            upper.feature[(upper.feature >= 0) & (errors_below >= upper.errors)] = -1
            errors = np.where(upper.feature >= 0, errors_below, upper.errors)


def _negative_entropy_of_splits(counts: ArrayOf[Any]) -> Array:
    """Return minus the entropy of class counts over the last axis times their sum, in nats."""
    by_class = last_axis_first(counts)
    information: Array = reduce(np.add, xlogx(by_class)) - xlogx(reduce(np.add, by_class))
    return information


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
    gain = (
        _negative_entropy_of_splits(left)
        + _negative_entropy_of_splits(right)
        - _negative_entropy_of_splits(total)[:, None]
    )
    splits: Mask = (left.sum(axis=2) > 0) & (right.sum(axis=2) > 0)
    best = first_best(np.where(splits, gain, -np.inf))
    at = np.arange(len(gain)), best
    return np.where(splits[at], gain[at], -np.inf), best
