"""What a parent of a feature would add to the likelihood of the class, for `kdb_gain`."""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import numpy as np

from ..base.arrays import BLOCK_CELLS, Array, Codes, Mask, Positions, weights_at, xlogx
from ..counts.contingency import flat_index
from ..frames.dataset import Dataset

_PSEUDO_COUNTS = 2.0  # of the table of a pair, distributed like the table of its child
_CURVATURE = 10.0  # added to the curvature of the likelihood
_MOST_TERMS = 2**29  # number of rows x pairs x classes; beyond it, a subset of rows is used
_SCREENED_ROWS = 1000  # number of rows in which interactions of three features are searched
_SCREENED_CELLS = 2**21  # number of these rows x triples of features of the highest rank
# with the largest interaction, of which the gain of a pair of parents is computed
_MOST_TRIPLES = 32


class LeftOutScores:
    """The scores of the classes at rows by naive Bayes, each without the row.

    A term is P(x | class) with 2 pseudo-counts. ``terms`` has one (rows, classes) array per
    feature, and ``posterior``, (rows, classes), is that of naive Bayes, whose terms have the power
    min(1, 3 / √d) because d features may depend on each other. ``own``, (rows,), is the weight of
    a row that is subtracted from the counts of its own class, and ``at`` the positions of these.
    Example: 3 of 4 rows of class a and 4 of 10 in all have x. Of a row of class a with x, the
    term for a is (3 − 1 + 2 · 0.4) / (4 − 1 + 2) = 0.56.
    """

    def __init__(self, data: Dataset) -> None:
        d, n_classes = len(data.columns) - 1, data.cards[-1]
        weights = data.row_weights
        step = max(1, len(data) * d * d * n_classes // _MOST_TERMS)
        self.data, self.all_weights = data, weights
        self.rows = np.arange(0, len(data), step)
        self.weights, self.classes = weights[self.rows], data.codes[-1, self.rows]
        self.at = np.arange(len(self.rows)), self.classes
        self.own = data.units[self.rows]
        # ln P(class) of each row without the row, (rows, classes)
        counts = np.bincount(data.codes[-1], weights, n_classes)
        of_classes = self._subtract_own_rows(np.tile(counts, (len(self.rows), 1)))
        scores = np.log(of_classes + 1)
        scores -= np.log(of_classes.sum(axis=1, keepdims=True) + n_classes)
        self.terms = [self._probabilities_of_feature(i) for i in range(d)]
        power = min(1.0, 3 / np.sqrt(max(d, 1)))
        for term in self.terms:
            scores += power * np.log(term)
        scores -= scores.max(axis=1, keepdims=True)  # so that no exponential overflows
        self.posterior = np.exp(scores)
        self.posterior /= self.posterior.sum(axis=1, keepdims=True)

    def _subtract_own_rows(self, counts: Array) -> Array:
        """Subtract each row from counts at rows, (…, rows, classes), in the column of its class."""
        counts[..., *self.at] -= self.own
        return np.maximum(counts, 0.0, out=counts)

    def _probabilities_of_feature(self, feature: int) -> Array:
        """Return P(x | class) of a feature at rows, (rows, classes), 1 if it is missing.

        Without the row, it is (n(x, class) + 2 · P(x)) / (n(class) + 2); see the class.
        """
        codes: Codes = self.data.codes[feature]
        card, n_classes = self.data.cards[feature], self.data.cards[-1]
        known = codes >= 0
        cells = codes[known].astype(np.intp) * n_classes + self.data.codes[-1, known]
        counted = np.bincount(cells, self.all_weights[known], card * n_classes)
        # (levels, classes); floats also if no row is known
        table = counted.reshape(card, n_classes).astype(np.float64)
        base: Array = table.sum(axis=1, keepdims=True) / max(table.sum(), 1e-300)
        own = codes[self.rows]
        of_value = self._subtract_own_rows(table[own])
        of_class = self._subtract_own_rows(np.tile(table.sum(axis=0), (len(own), 1)))
        values = (of_value + _PSEUDO_COUNTS * base[own]) / (of_class + _PSEUDO_COUNTS)
        return np.where((own >= 0)[:, None] & (values > 0), values, 1.0)

    def gains_of_parent_sets(self, child: int, parents: Positions) -> Array:
        """Return the increase of the class's log-likelihood by a child's term with each parent set.

        ``parents`` are (sets, size). The term t is the log of the child's table given the parents
        over that without. With w its weight, the increase is that of one step of Newton's method
        from w = 0: slope² / 2 / curvature, with the sums over rows

            slope = Σ (t_own class − E t),  curvature = Σ Var t + 10,

        E and Var over the classes by the ``posterior``. It is 0 if the slope is negative. Example:
        slope 8 and variances 6 give 8² / 2 / 16 = 2 nats.
        """
        cards = np.array(self.data.cards)
        found = np.zeros(len(parents))
        useful = np.flatnonzero((cards[parents].min(axis=1, initial=2) > 1) & (cards[child] > 1))
        largest = int(cards[parents].prod(axis=1).max(initial=0) * cards[child])
        at_once = max(1, BLOCK_CELLS // max(1, max(len(self.data), largest) * int(cards[-1])))
        for start in range(0, len(useful), at_once):
            block = useful[start : start + at_once]
            found[block] = self._gains_of_block(child, parents[block])
        return found

    def _gains_of_block(self, child: int, parents: Positions) -> Array:
        """Return the gains of some parent sets, (sets,)."""
        terms = self._terms_of_block(child, parents)
        mean: Array = np.einsum("src,rc->sr", terms, self.posterior)
        square: Array = np.einsum("src,src,rc->sr", terms, terms, self.posterior)
        slope = (terms[:, *self.at] - mean) @ self.weights
        curvature = (square - mean**2) @ self.weights + _CURVATURE
        return np.asarray(np.maximum(slope, 0.0) ** 2 / 2 / curvature)

    def _terms_of_block(self, child: int, parents: Positions) -> Array:
        """Return the terms that parent sets would add to the child's, (sets, rows, classes).

        The tables of all sets are counted in one array: with parents of 6 and of 4 configurations,
        the second set begins at 6, and its configuration 1 is number 7.
        """
        data, cards = self.data, np.array(self.data.cards)
        codes, own = data.codes[parents].astype(np.intp), data.codes[[child]][0].astype(np.intp)
        known: Mask = (codes.min(axis=1) >= 0) & (own >= 0)  # (sets, rows)
        sizes: Positions = cards[parents].prod(axis=1)
        given = np.repeat((sizes.cumsum() - sizes)[:, None], len(own), axis=1)
        for i, of in enumerate(parents):
            given[i] += np.where(known[i], flat_index(codes[i], cards[of].tolist()), 0)
        cells = given * cards[child] + np.maximum(own, 0)
        # n(u, x, class) and n(u, class) of each set's parents u, (sets, rows, classes)
        terms = self._counts_without_own(cells, known, int(sizes.sum() * cards[child]))
        total = self._counts_without_own(given, known, int(sizes.sum()))
        # ln of (n(u, x) + 2 · alone) / (n(u) + 2) / alone, in place because arrays are large
        alone = self.terms[child]
        terms += _PSEUDO_COUNTS * alone
        total += _PSEUDO_COUNTS
        total *= alone
        terms /= total
        terms = np.log(np.maximum(terms, 1e-300, out=terms), out=terms)
        terms[~known[:, self.rows]] = 0.0
        return terms

    def _counts_without_own(self, cells: Positions, known: Mask, size: int) -> Array:
        """Return the weights of known rows by class in the cells of rows, without each row.

        ``cells`` are (sets, rows) numbers below ``size``; the result is (sets, rows, classes).
        """
        n_classes = self.data.cards[-1]
        keys = cells * n_classes + self.data.codes[-1]
        weights = (self.all_weights * known).ravel()
        counted = np.bincount(keys.ravel(), weights, size * n_classes).astype(np.float64)
        table = counted.reshape(size, n_classes)
        return self._subtract_own_rows(table.take(cells[:, self.rows], axis=0))


def interacting_pairs_by_child(data: Dataset, rank: Positions) -> dict[int, list[Positions]]:
    """Map features of low rank to pairs with which they interact: the best ones of all triples."""
    step = max(1, len(data) // _SCREENED_ROWS)
    codes = data.codes[:-1, ::step].astype(np.intp) + 1
    classes = data.codes[-1, ::step].astype(np.intp)
    weights = weights_at(data.weights, slice(None, None, step))
    cards = np.array(data.cards[:-1]) + 1  # a missing value is a level
    some = rank[: int((6 * _SCREENED_CELLS / max(1, len(classes))) ** (1 / 3))]
    some = some[(cards[some] > 2) & (cards[some] ** 3 * data.cards[-1] < 16 * len(classes))]

    def information_of_sets(sets: Positions) -> Array:
        """Return the information of sets of features on the class, times the number of rows."""
        blocks = np.array_split(sets, 1 + len(sets) * len(classes) // BLOCK_CELLS)
        return np.concatenate(
            [_joint_information(codes, cards, classes, weights, each) for each in blocks]
        )

    n = len(some)
    if n < 3:
        return {}
    alone, of_pairs = information_of_sets(some[:, None]), np.zeros((n, n))
    first, second = np.triu_indices(n, 1)
    of_pairs[first, second] = information_of_sets(some[np.column_stack([first, second])])
    triples = np.array([*combinations(range(n), 3)])
    a, b, c = triples.T
    parts = [of_pairs[a, b] + alone[c], of_pairs[a, c] + alone[b], of_pairs[b, c] + alone[a]]
    free = (cards[some] - 2)[triples].prod(axis=1) * (data.cards[-1] - 1)
    gains = information_of_sets(some[triples]) - np.max(parts, axis=0) - free
    best = triples[order_by_rounded_value(gains)][: np.count_nonzero(gains > 0)][:_MOST_TRIPLES]
    result: dict[int, list[Positions]] = {}
    for *parents, child in some[best].tolist():
        result.setdefault(child, []).append(parents)
    return result


def _joint_information(
    codes: Codes, cards: Positions, classes: Codes, weights: Array | None, sets: Positions
) -> Array:
    """Return the mutual information of each feature set and the class, times the row weight."""
    n_classes, cells = int(classes.max(initial=0)) + 1, codes[sets[:, 0]]
    for column in sets.T[1:]:
        cells = cells * cards[column, None] + codes[column]
    sizes = cards[sets].prod(axis=1)
    starts: Positions = sizes.cumsum() - sizes
    keys = (cells + starts[:, None] + classes * sizes.sum()).ravel()
    of_rows = None if weights is None else np.tile(weights, len(sets))
    table = np.bincount(keys, of_rows, n_classes * int(sizes.sum())).reshape(n_classes, -1)
    totals = np.bincount(classes, weights, n_classes)
    # x ln x of numbers of rows is looked up
    found = xlogx if weights is not None else xlogx(np.arange(len(classes) + 1)).take
    inner = reduce(np.add, map(found, table)) - found(reduce(np.add, table))
    of_class = float(found(totals).sum() - found(totals.sum()))
    return np.asarray(np.add.reduceat(inner, starts) - of_class)


def order_by_rounded_value(values: Array) -> Positions:
    """Order positions by value, the largest first, where rounding errors do not matter."""
    return np.argsort(-values.round(9), kind="stable")
