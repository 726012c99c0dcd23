"""What a parent of a feature would add to the likelihood of the class, for `kdb_gain`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np

from ..base.arrays import BLOCK_CELLS, Array, Codes, Mask, Positions, xlogx
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
    """The probabilities of the classes at rows by naive Bayes, each without the row.

    With n the counts of all other rows, d features and C classes,

        P(y)     = (n(y) + 1) / (n + C)
        P(x | y) = (n(x, y) + 2 P(x)) / (n(y) + 2)
        posterior(y) ∝ P(y) Π_i P(x_i | y)^w, with w = min(1, 3 / √d),

    because d features may depend on each other. P(x) is a share of all rows.
    ``terms`` has one (rows, classes) array P(x_i | y) per feature, and
    ``posterior`` is (rows, classes).

    Example: 3 of 4 rows of class a and 4 of 10 in all have x. Of a row of class
    a with x, P(x | a) is (3 − 1 + 2 · 0.4) / (4 − 1 + 2) = 0.56.
    """

    def __init__(self, data: Dataset) -> None:
        d, n_classes = len(data.columns) - 1, data.cards[-1]
        weights = np.ones(len(data)) if data.weights is None else data.weights
        step = max(1, len(data) * d * d * n_classes // _MOST_TERMS)
        self.data, self.all_weights = data, weights
        self.rows = np.arange(0, len(data), step)
        self.weights, self.classes = weights[self.rows], data.codes[-1, self.rows]
        # of (rows, classes) arrays, the entries at the rows' own classes, and what counts there
        # lose if the row is excluded
        self.own_cells = np.arange(len(self.rows)), self.classes
        self.own_weights = data.held_out_weights[self.rows]
        counts = np.bincount(data.codes[-1], weights, n_classes)
        of_classes = self._subtract_own_rows(np.tile(counts, (len(self.rows), 1)))
        scores = np.log(of_classes + 1)
        scores -= np.log(of_classes.sum(axis=1, keepdims=True) + n_classes)
        self.terms = [self._probabilities_of_feature(i) for i in range(d)]
        power: float = min(1.0, 3 / np.sqrt(max(d, 1)))
        for term in self.terms:
            scores += power * np.log(term)
        scores -= scores.max(axis=1, keepdims=True)  # so that no exponential overflows
        self.posterior = np.exp(scores)
        self.posterior /= self.posterior.sum(axis=1, keepdims=True)

    def _subtract_own_rows(self, counts: Array) -> Array:
        """Subtract each row from counts at rows, (…, rows, classes), in the column of its class."""
        counts[..., *self.own_cells] -= self.own_weights
        return np.maximum(counts, 0.0, out=counts)

    def _probabilities_of_feature(self, feature: int) -> Array:
        """Return P(x | class) of a feature at rows, (rows, classes), 1 if it is missing."""
        codes: Codes = self.data.codes[feature]
        card, n_classes = self.data.cards[feature], self.data.cards[-1]
        known = codes >= 0
        cells: Positions = codes[known].astype(np.intp) * n_classes + self.data.codes[-1, known]
        counted = np.bincount(cells, self.all_weights[known], card * n_classes)
        # (levels, classes); floats also if no row is known
        table = counted.reshape(card, n_classes).astype(np.float64)
        shares: Array = table.sum(axis=1, keepdims=True) / max(table.sum(), 1e-300)
        own = codes[self.rows]
        of_value = self._subtract_own_rows(table[own])
        of_class = self._subtract_own_rows(np.tile(table.sum(axis=0), (len(own), 1)))
        values = (of_value + _PSEUDO_COUNTS * shares[own]) / (of_class + _PSEUDO_COUNTS)
        return np.where((own >= 0)[:, None] & (values > 0), values, 1.0)

    def gains_of_parent_sets(self, child: int, parents: Positions) -> Array:
        """Return the increase of the class's log-likelihood by a child's term with each parent set.

        ``parents`` are (sets, size). The term t is the log of the child's table
        given the parents over that without. With w its weight, the increase is
        that of one step of Newton's method from w = 0: slope² / 2 / curvature,
        with the sums over rows

            slope = Σ (t_own class − E t),  curvature = Σ Var t + 10,

        E and Var over the classes by the ``posterior``. It is 0 if the slope is
        negative. Example: slope 8 and variances 6 give 8² / 2 / 16 = 2 nats.
        """
        cards = np.array(self.data.cards)
        found = np.zeros(len(parents))
        useful = np.flatnonzero((cards[parents].min(axis=1, initial=2) > 1) & (cards[child] > 1))
        largest = int(cards[parents].prod(axis=1).max(initial=0) * cards[child])
        at_once = max(1, BLOCK_CELLS // max(1, max(len(self.data), largest) * int(cards[-1])))
        for start in range(0, len(useful), at_once):
            block = useful[start : start + at_once]
            found[block] = self._gains_of_some_parent_sets(child, parents[block])
        return found

    def _gains_of_some_parent_sets(self, child: int, parents: Positions) -> Array:
        """Return the gains of some parent sets, (sets,)."""
        terms = self._terms_of_parent_sets(child, parents)
        # E t and E t² of each set and row, (sets, rows): the sums over classes
        mean: Array = np.einsum("src,rc->sr", terms, self.posterior)
        square: Array = np.einsum("src,src,rc->sr", terms, terms, self.posterior)
        slope = (terms[:, *self.own_cells] - mean) @ self.weights
        curvature = (square - mean**2) @ self.weights + _CURVATURE
        return np.asarray(np.maximum(slope, 0.0) ** 2 / 2 / curvature)

    def _terms_of_parent_sets(self, child: int, parents: Positions) -> Array:
        """Return the terms that parent sets would add to the child's, (sets, rows, classes).

        With u the configuration of the parents, and counts without the row, the
        term is

            t(y) = ln((n(u, x, y) + 2 P(x | y)) / (n(u, y) + 2)) − ln P(x | y),

        and 0 if x or a parent is missing. Example: P(x | y) = 0.5, and of the 6
        other rows of class y with u, 5 have x: ln(6 / 8) − ln 0.5 = 0.41.

        The tables of all sets are counted in one array: with parents of 6 and
        of 4 configurations, the second set begins at 6, and its configuration 1
        is number 7.
        """
        data, cards = self.data, np.array(self.data.cards)
        codes: Positions = data.codes[parents].astype(np.intp)
        own: Positions = data.codes[child].astype(np.intp)
        known: Mask = (codes.min(axis=1) >= 0) & (own >= 0)  # (sets, rows)
        sizes: Positions = cards[parents].prod(axis=1)
        configurations = np.repeat((sizes.cumsum() - sizes)[:, None], len(own), axis=1)
        for i, members in enumerate(parents):
            numbers = flat_index(codes[i], cards[members].tolist())
            configurations[i] += np.where(known[i], numbers, 0)
        cells: Positions = configurations * cards[child] + np.maximum(own, 0)
        # n(u, x, y) and n(u, y), (sets, rows, classes)
        terms = self._counts_without_own(cells, known, int(sizes.sum() * cards[child]))
        total = self._counts_without_own(configurations, known, int(sizes.sum()))
        # the formula above in place, because the arrays are large
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

        ``cells`` are (sets, rows) numbers below ``size``; the result is (sets,
        rows, classes).
        """
        n_classes = self.data.cards[-1]
        keys: Positions = cells * n_classes + self.data.codes[-1]
        weights = (self.all_weights * known).ravel()
        counted = np.bincount(keys.ravel(), weights, size * n_classes).astype(np.float64)
        table = counted.reshape(size, n_classes)
        return self._subtract_own_rows(table.take(cells[:, self.rows], axis=0))


@dataclass(frozen=True, eq=False)
class _ScreenedRows:
    """Some rows, with a missing value as level 0 of its feature: ``cards`` count this level, too.

    ``codes`` are (features, rows), ``classes`` and ``weights`` are (rows,).
    """

    codes: Positions
    cards: Positions
    classes: Positions
    weights: Array | None

    def information_of_sets(self, sets: Positions) -> Array:
        """Return N · I(features; class) of sets of features, (sets, size), with N the weight."""
        n_blocks = 1 + len(sets) * len(self.classes) // BLOCK_CELLS
        blocks = np.array_split(sets, n_blocks)
        return np.concatenate([self._information_of_some_sets(block) for block in blocks])

    def _information_of_some_sets(self, sets: Positions) -> Array:
        """Return N · I = Σ n(u, y) ln n(u, y) − Σ n(u) ln n(u) − Σ n(y) ln n(y) + N ln N of sets.

        Example: u is y in 4 rows, 2 of each value: 4 ln 2 − 4 ln 2 − 4 ln 2 + 4
        ln 4 = 4 ln 2.
        """
        n_classes, cells = int(self.classes.max(initial=0)) + 1, self.codes[sets[:, 0]]
        for column in sets.T[1:]:
            cells = cells * self.cards[column, None] + self.codes[column]
        sizes: Positions = self.cards[sets].prod(axis=1)
        starts: Positions = sizes.cumsum() - sizes
        # one (classes, cells) table, in which the cells of a set follow those of the previous one
        keys = (cells + starts[:, None] + self.classes * sizes.sum()).ravel()
        of_rows = None if self.weights is None else np.tile(self.weights, len(sets))
        table = np.bincount(keys, of_rows, n_classes * int(sizes.sum())).reshape(n_classes, -1)
        totals = np.bincount(self.classes, self.weights, n_classes)
        # x ln x of numbers of rows is looked up
        n_log_n = (
            xlogx if self.weights is not None else xlogx(np.arange(len(self.classes) + 1)).take
        )
        within = reduce(np.add, map(n_log_n, table)) - n_log_n(reduce(np.add, table))
        of_class = float(n_log_n(totals).sum() - n_log_n(totals.sum()))
        return np.asarray(np.add.reduceat(within, starts) - of_class)


def interacting_pairs_by_child(data: Dataset, rank: Positions) -> dict[int, list[list[int]]]:
    """Map features of low rank to pairs with which they interact: the best ones of all triples.

    The interaction of features a, b and c, whose values including the missing
    one are levels, is

        N · I(abc; y) − max over the three ways to divide them, N · (I(ab; y) +
        I(c; y)),

    less the free parameters (r_a − 1)(r_b − 1)(r_c − 1)(C − 1) of a term of
    three features and C classes, with r the numbers of levels that are not
    missing. Example: the class is the parity of three binary columns in 100
    rows. Two of them do not predict it: 100 ln 2 − 0 − 1 = 68.3.
    """
    step = max(1, len(data) // _SCREENED_ROWS)
    n_classes, every = data.cards[-1], np.array(data.cards[:-1])
    weights = None if data.weights is None else data.weights[::step]
    codes = data.codes[:, ::step].astype(np.intp)
    screened = _ScreenedRows(codes[:-1] + 1, every + 1, codes[-1], weights)
    # n features have about n³ / 6 triples
    highest = rank[: int((6 * _SCREENED_CELLS / max(1, codes.shape[1])) ** (1 / 3))]
    cells = (every[highest] + 1) ** 3 * n_classes
    some: Positions = highest[(every[highest] > 1) & (cells < 16 * codes.shape[1])]
    n = len(some)
    if n < 3:
        return {}
    single, of_pairs = screened.information_of_sets(some[:, None]), np.zeros((n, n))
    first, second = np.triu_indices(n, 1)
    of_pairs[first, second] = screened.information_of_sets(some[np.column_stack([first, second])])
    triples = np.array([*combinations(range(n), 3)])
    a, b, c = triples.T
    divided = [
        of_pairs[a, b] + single[c],
        of_pairs[a, c] + single[b],
        of_pairs[b, c] + single[a],
    ]
    n_free: Positions = (every[some] - 1)[triples].prod(axis=1) * (n_classes - 1)
    joint = screened.information_of_sets(some[triples])
    interactions: Array = joint - np.max(divided, axis=0) - n_free
    n_positive = min(_MOST_TRIPLES, np.count_nonzero(interactions > 0))
    best = triples[order_by_rounded_value(interactions)][:n_positive]
    pairs: dict[int, list[list[int]]] = {}
    for *parents, child in some[best].tolist():  # the child has the lowest rank of the three
        pairs.setdefault(child, []).append(parents)
    return pairs


def order_by_rounded_value(values: Array) -> Positions:
    """Order positions by value, the largest first, where rounding errors do not matter."""
    return np.argsort(-values.round(9), kind="stable")
