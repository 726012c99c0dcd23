"""AWNB: features weighted by the depth at which unpruned trees on bootstrap samples test them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, ArrayOf, Mask, Positions, blocks, xlogx
from ..base.calls import advance
from ..base.checks import Real, Whole
from ..base.immutable import record
from ..frames.dataset import Dataset
from ..frames.opening import InFull
from ..frames.training import prepare_rows
from ..model.model import Model
from .classifiers import BNC
from .priors import Method, Prior, check_augmented
from .weighting import with_weights

MAX_DEPTH = 30
_MOST_TREES = 100_000
_ALL_SUBSETS = 10  # maximum number of levels for a search of all splits with more than two classes
_BLOCK_CELLS = 2**22


@record
@dataclass(frozen=True)
class AWNB(Method):
    """Weight features by the depth at which trees on samples of the rows test them."""

    awnb_trees: int = 10
    awnb_bootstrap: float = 0.5

    argument = "awnb_trees"
    draws = True

    def __post_init__(self) -> None:
        Whole(least=1, most=_MOST_TREES).check("awnb_trees", self.awnb_trees)
        Real(above=0, most=1).check("awnb_bootstrap", self.awnb_bootstrap)

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the class is a parent of every feature."""
        check_augmented(x, self.argument)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> BNC:
        """Return the network with its tables weighted."""
        fitted = check_augmented(x, self.argument).estimate(data, prior)
        samples = _bootstrap(data, self.awnb_trees, self.awnb_bootstrap, rng)
        unweighted = replace(data, weights=None)  # larger weights increase the probability to be drawn
        return with_weights(fitted, depth_weights(unweighted, x.features, x.class_var, samples))


def _bootstrap(data: Dataset, trees: int, share: float, rng: np.random.Generator) -> Iterator[Positions]:
    """Draw a sample of rows with replacement for each tree, one at a time; weights are probabilities."""
    n_rows = max(1, int(len(data) * share))
    shares = None if data.weights is None else data.weights / data.size
    for _ in range(trees):
        if shares is None:
            yield rng.integers(len(data), size=n_rows)
        else:
            yield rng.choice(len(data), size=n_rows, p=shares)


def depth_weights(
    data: Dataset, features: Sequence[Hashable], class_var: Hashable, samples: Iterable[Positions]
) -> Array:
    """Return the weight of each feature: the mean over trees of 1/√depth, 0 if not tested (Hall, 2007)."""
    depths = testing_depths(data, features, class_var, samples)
    if not depths.any():
        raise ValueError(
            "awnb_trees: no tree has a split, so no weights can be estimated. Increase awnb_trees or "
            "awnb_bootstrap, unless no feature depends on the class."
        )
    return np.asarray(np.where(depths > 0, 1 / np.sqrt(np.maximum(depths, 1)), 0.0).mean(axis=0))


def min_testing_depths(class_var: Hashable, dataset: InFull) -> pd.Series[Any]:
    """Return the smallest depth at which an unpruned classification tree tests each feature.

    Features that are never tested are omitted; the depth of the root is 1.

    Raises
    ------
    KeyError, TypeError
        If the class is not a column, or a column contains numbers with fractions.

    Notes
    -----
    Each node is split in two by the subset of the levels of a feature that gains the most information, until
    all of its rows have the same class or no split gains information, and at most 30 levels deep. With two
    classes, or more than 10 levels, the levels are ordered and divided; if not, all subsets are considered.
    Rows in which the tested feature is missing stay at the node. A split is removed only if its subtree has
    as many errors as the node alone, as in rpart with a complexity parameter of 0.

    References
    ----------
    .. [1] Breiman, L., Friedman, J., Olshen, R., Stone, C. (1984). Classification and
       Regression Trees.
    .. [2] Coppersmith, D., Hong, S. J., Hosking, J. R. M. (1999). Partitioning nominal
       attributes in decision trees. Data Mining and Knowledge Discovery 3.
    """
    data = prepare_rows(dataset, class_var)
    depths: Positions = testing_depths(data, data.features, class_var, [np.arange(len(data))])[0]
    tested: Mask = depths > 0
    return pd.Series(depths[tested], index=pd.Index(data.features, tupleize_cols=False)[tested], name="depth")


def testing_depths(
    data: Dataset, features: Sequence[Hashable], class_var: Hashable, samples: Iterable[Positions]
) -> ArrayOf[np.int64]:
    """Return the smallest depth of each feature in the tree of each sample, (samples, features), or 0."""
    columns, of_class = [data.positions[feature] for feature in features], data.positions[class_var]
    return np.array([_Tree(data, columns, of_class, sample).depths() for sample in samples])


@dataclass
class _Level:
    """The nodes of one depth: parent, weight of misclassified rows, tested feature or -1."""

    parent: Positions
    errors: ArrayOf[Any]
    feature: Positions = field(default_factory=lambda: np.empty(0, dtype=np.intp))


class _Tree:
    """A tree that grows on some rows level by level: one table counts all nodes of a level."""

    def __init__(self, data: Dataset, columns: Sequence[int], class_column: int, rows: Positions) -> None:
        self.n_classes = data.cards[class_column]
        self.classes = data.codes[class_column].take(rows).astype(np.intp)
        self.codes = data.codes[list(columns)].take(rows, axis=1)
        self.weights = None if data.weights is None else data.weights[rows]
        cards = [data.cards[column] for column in columns]
        self.by_card = {r: [j for j, card in enumerate(cards) if card == r] for r in set(cards) if r > 1}
        self.node = np.zeros(len(rows), dtype=np.intp)
        self.levels = [self._open(np.array([-1]))]
        while self._grow():
            advance()

    def _open(self, parent: Positions) -> _Level:
        """Open nodes, to which rows are assigned."""
        cells = self.node * self.n_classes + self.classes
        counts = np.bincount(cells, self.weights, minlength=len(parent) * self.n_classes)
        counts = counts.reshape(-1, self.n_classes)
        return _Level(parent, errors=counts.sum(axis=1) - counts.max(axis=1))

    def _grow(self) -> bool:
        """Split the nodes of the deepest level; return whether any was split."""
        level = self.levels[-1]
        n_nodes, width = len(level.parent), max(self.by_card, default=1)
        level.feature, goes_left = np.full(n_nodes, -1), np.zeros((n_nodes, width), dtype=bool)
        impure = level.errors > 0
        if impure.any() and self.by_card and len(self.levels) <= MAX_DEPTH:
            self._keep(impure[self.node])
            gains, sides = self._best_splits(n_nodes, width)
            largest: Array = gains.max(axis=0)
            best: Positions = (gains >= largest - TOLERANCE).argmax(axis=0)
            nodes = np.flatnonzero(impure & (largest > TOLERANCE))
            level.feature[nodes], goes_left[nodes] = best[nodes], sides[best[nodes], nodes]
        split = np.flatnonzero(level.feature >= 0)
        if len(split):
            self._send_down(level, goes_left)
            self.levels.append(self._open(np.repeat(split, 2)))
        return len(split) > 0

    def _keep(self, rows: Mask) -> None:
        """Drop all other rows, which are in leaves."""
        self.node, self.classes, self.codes = self.node[rows], self.classes[rows], self.codes[:, rows]
        self.weights = None if self.weights is None else self.weights[rows]

    def _send_down(self, level: _Level, goes_left: Mask) -> None:
        """Send rows to the children, two per split node; other rows are dropped."""
        rank = np.cumsum(level.feature >= 0) - 1
        feature = level.feature[self.node]
        code = self.codes[feature, np.arange(len(feature))]
        self.node = 2 * rank[self.node] + ~goes_left[self.node, np.maximum(code, 0)]
        self._keep((feature >= 0) & (code >= 0))

    def _best_splits(self, n_nodes: int, width: int) -> tuple[Array, Mask]:
        """Return the gains, (features, nodes), and the left levels of the best split by each feature."""
        gains = np.full((len(self.codes), n_nodes), -np.inf)
        sides = np.zeros((*gains.shape, width), dtype=bool)
        for r, features in self.by_card.items():
            best = _best_cut if self.n_classes <= 2 or r > _ALL_SUBSETS else _best_subset
            for some in blocks(len(features), _BLOCK_CELLS, n_nodes * r * self.n_classes):
                gain, left = best(self._counts(r, features[some], n_nodes))
                gains[features[some]] = gain.reshape(-1, n_nodes)
                sides[features[some], :, :r] = left.reshape(-1, n_nodes, r)
        return gains, sides

    def _counts(self, r: int, features: Sequence[int], n_nodes: int) -> ArrayOf[Any]:
        """Count levels and classes in every node, (features · nodes, levels, classes)."""
        codes = self.codes.take(features, axis=0)
        cells = codes.astype(np.intp) * self.n_classes
        cells += self.node * (r * self.n_classes) + self.classes
        cells += np.arange(len(features))[:, None] * (n_nodes * r * self.n_classes)
        weights = None if self.weights is None else np.broadcast_to(self.weights, cells.shape)
        if codes.min(initial=0) < 0:
            cells = cells[codes >= 0]
            weights = None if weights is None else weights[codes >= 0]
        flat = None if weights is None else weights.ravel()
        counts = np.bincount(cells.ravel(), flat, minlength=len(features) * n_nodes * r * self.n_classes)
        return counts.reshape(-1, r, self.n_classes)

    def depths(self) -> ArrayOf[np.int64]:
        """Prune upwards, and return the smallest depth of each feature."""
        errors = self.levels[-1].errors  # errors of the pruned subtree at each node
        for upper, lower in zip(self.levels[-2::-1], self.levels[:0:-1], strict=True):
            errors_below = np.bincount(lower.parent, weights=errors, minlength=len(upper.parent))
            # sums of weights in another order can differ by rounding
            upper.feature[(upper.feature >= 0) & (errors_below >= upper.errors * (1 - TOLERANCE))] = -1
            errors = np.where(upper.feature >= 0, errors_below, upper.errors)
        result = np.zeros(len(self.codes), dtype=np.int64)
        splits = np.array([True])
        for depth, level in enumerate(self.levels, start=1):
            splits = splits[level.parent] & (level.feature >= 0)  # parent -1, the last, is the only one
            tested = np.unique(level.feature[splits])
            result[tested[result[tested] == 0]] = depth
        return result


def _information(counts: ArrayOf[Any]) -> Array:
    """Return minus the entropy of class counts over the last axis times their sum, in nats."""
    by_class = np.moveaxis(counts, -1, 0)
    information: Array = reduce(np.add, xlogx(by_class)) - xlogx(reduce(np.add, by_class))
    return information


def _best_cut(counts: ArrayOf[Any]) -> tuple[Array, Mask]:
    """Return the gain of the best split of ordered levels, (nodes,), and its left levels, (nodes, levels)."""
    mass: Positions = counts.sum(axis=2)
    shares: Array = counts / np.maximum(mass, 1)[:, :, None]
    key = shares[:, :, 0] if counts.shape[2] <= 2 else _first_component(shares, mass)
    order = np.argsort(np.where(mass > 0, key, np.inf), axis=1, kind="stable")
    left = np.cumsum(np.take_along_axis(counts, order[:, :, None], axis=1), axis=1)[:, :-1]
    gain, best = _best_gain(left, counts.sum(axis=1))
    rank = np.argsort(order, axis=1)
    return gain, rank <= best[:, None]


def _first_component(shares: Array, mass: ArrayOf[Any]) -> Array:
    """Project class proportions of levels, weighted by size, on their first principal component."""
    weight: Array = mass / np.maximum(mass.sum(axis=1, keepdims=True), 1)
    centred: Array = shares - (weight[:, :, None] * shares).sum(axis=1, keepdims=True)
    covariance = np.einsum("nl,nlc,nld->ncd", weight, centred, centred)
    component = np.linalg.eigh(covariance)[1][:, :, -1]
    return np.asarray(np.einsum("nlc,nc->nl", centred, component))


def _best_subset(counts: ArrayOf[Any]) -> tuple[Array, Mask]:
    """Search all splits of the levels in two; see `_best_cut`."""
    r = counts.shape[1]
    subsets = np.array([(*side, False) for side in product([False, True], repeat=r - 1)][1:])
    splits = []
    for nodes in blocks(len(counts), _BLOCK_CELLS, len(subsets) * counts.shape[2]):
        left = np.einsum("sl,nlc->nsc", subsets.astype(np.float64), counts[nodes])
        splits.append(_best_gain(left, counts[nodes].sum(axis=1)))
    gains, best = zip(*splits, strict=True)
    return np.concatenate(gains), subsets[np.concatenate(best)]


def _best_gain(left: ArrayOf[Any], total: ArrayOf[Any]) -> tuple[Array, Positions]:
    """Return the largest gain of splits, (nodes, splits, classes) of (nodes, classes), and the position."""
    right = total[:, None] - left
    gain = _information(left) + _information(right) - _information(total)[:, None]
    gain = np.where((left.sum(axis=2) > 0) & (right.sum(axis=2) > 0), gain, -np.inf)
    best: Positions = np.argmax(gain >= gain.max(axis=1, keepdims=True) - TOLERANCE, axis=1)
    return gain[np.arange(len(gain)), best], best
