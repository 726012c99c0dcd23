"""Structures from counts: which classes each feature depends on, and trees of classes and of features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..base.arborescences import maximum_arborescence
from ..base.arrays import TOLERANCE, Array
from ..base.graphs import maximum_forest
from ..counts.family_counts import Counts
from ..counts.information import pair_statistics
from ..frames.schema import Learnable
from ..learners.local_scores import LocalScores

Parents = tuple[int, ...]


def choose_class_parents(data: Learnable, score: str, ess: float, max_parents: int) -> list[Parents]:
    """Choose for each feature the classes that are worth most as its parents, by column number.

    Every set of at most ``max_parents`` classes is tried, for all features at once. Sets are compared
    by what they gain over no parent, in the rows in which feature and classes are known.
    """
    n, m = len(data.features), len(data.targets)
    scores = LocalScores(data, score, ess)
    best = np.zeros(n)
    chosen: list[Parents] = [()] * n
    for n_parents in range(1, min(max_parents, m) + 1):
        sets = list(combinations(range(n, n + m), n_parents))
        scores.counts.expect(sets)
        for classes in sets:
            gains = _gains(scores, classes)[:n]
            for v in np.nonzero(gains > best + TOLERANCE)[0].tolist():
                best[v], chosen[v] = gains[v], classes
    return chosen


def _gains(scores: LocalScores, classes: Sequence[int]) -> Array:
    """Return what each column's family gains if classes become the only parents."""
    cards, result = scores.counts.cards, []
    q = float(prod(cards[list(classes)].tolist()))
    for columns, table in scores.counts.extended(classes):
        counts = table.reshape(-1, table.shape[-1])
        marginal = counts.sum(axis=0, keepdims=True)
        column_cards = cards[columns]
        result.append(_fits(scores, counts, column_cards, q) - _fits(scores, marginal, column_cards, 1.0))
    return np.concatenate(result)


def _fits(scores: LocalScores, counts: Counts, cards: NDArray[np.intp], q: float) -> Array:
    """Return the score of each column's family, from (configurations, levels of all columns) counts."""
    term, pseudo_counts = scores.score.term, scores.score.pseudo_counts
    a = np.broadcast_to(np.asarray(pseudo_counts(cards, q), dtype=np.float64), cards.shape)
    starts = np.cumsum(cards) - cards
    cells = np.add.reduceat(term(counts, np.repeat(a, cards)).sum(axis=0), starts)
    configurations = np.add.reduceat(counts, starts, axis=1)
    fit: Array = cells - term(configurations, a * cards).sum(axis=0)
    return fit - scores.score.penalty * (cards - 1) * q


def class_tree(data: Learnable) -> list[Parents]:
    """Return the parent of each class variable in the tree of most mutual information, the first its root."""
    n, m = len(data.features), len(data.targets)
    pairs = pair_statistics(data, range(n, n + m), None)
    parent = maximum_forest(pairs.information, pairs.rows > 0, roots=range(m))
    return [(n + p,) if p >= 0 else () for p in parent]


def feature_tree(data: Learnable, class_parents: Sequence[Parents]) -> list[Parents]:
    """Return the parent of each feature in the best arborescence, given the features' class parents.

    An arc p → v is worth N I(v; p | class parents of v), which v's likelihood gains.
    """
    n = len(class_parents)
    scores = LocalScores(data, "loglik")
    scores.expect([(v, *classes) for v, classes in enumerate(class_parents)])
    gains = [np.maximum(scores.gains(v, classes)[:n], 0.0) for v, classes in enumerate(class_parents)]
    parent = maximum_arborescence(np.array(gains).T) if n else []
    return [(p,) if p >= 0 else () for p in parent]
