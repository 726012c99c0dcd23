"""Effects of pairs in a sum of effects: which, how many, and how strong, by held-out rows.

The sum of single effects is fitted first. Pairs are ranked by how much a table of each would add to
the likelihood (FAST: Lou, Caruana, Gehrke, Hooker, 2013, Accurate intelligible models with pairwise
interactions, KDD). A ridge regression of the class on the first k pairs has the sum as a term. The
table of a pair is made of products of contrasts, a few along each side: cosines of the ranks of
numbers, of which the short ones are shrunk more, so that neighboring intervals have similar
effects. They have the mean 0 along their side. The precision of their weights and, unless it is
given, k are those with the largest likelihood of rows in folds. With "auto", no pair is added
unless the gain exceeds twice its standard error; a number of pairs, or pairs that are named, are
added anyway.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..base.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    Slice,
    log_normalize,
    one_thread,
    slices,
)
from ..base.checks import OneOf, Whole, must_be
from ..base.immutable import cached_property
from ..base.messages import listed, shown, warn
from ..frames.dataset import codes_by_levels
from ..frames.opening import InFull
from ..model.arguments import encode_for_model
from ..model.model import Model
from ..recipe.blend import number_of_cases, out_of_fold_scores
from ..recipe.content_order import fractional_weights_as_cases, rows_in_content_order
from ..recipe.row_folds import split_rows_into_folds
from ..scores.evaluate import scores_at
from .effect_table import EffectTable, PairEffects, logs_less_reference, training_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Pairs: TypeAlias = "int | Literal['auto'] | Iterable[tuple[Hashable, Hashable]] | None"

GROUPS = 12  # of the values of a feature in pairs
_CONTRASTS = 4  # along numbers
_FEATURES = 64  # with the largest effects, of which pairs are candidates
_FOLDS, _MANY, _FOLDS_OF_MANY = 5, 2_000, 3  # of up to 2,000 rows, and of more
_ENOUGH = 1_000  # held-out rows from which no more folds are used
_CLEAR = 2.0  # standard errors by which the likelihood of held-out rows must rise
_MOST, _FEW = 128, 16  # numbers of pairs that are tried
_PRECISIONS = (256.0, 32.0, 4.0, 0.5)  # of weights, tried until the likelihood falls
_IN_SEARCH = 8.0
_OF_SUM = 30.0  # precision of the power of the sum
_OF_CLASSES = 1e-3
_BLOCK = 2**20  # number of rows × pairs whose indicators are used at once, 12 MiB
_KEPT = 2**24  # number of rows × pairs up to which indicators are kept between passes, 192 MiB


class _Choice(NamedTuple):
    """The gain in nats per held-out row, its standard error, the number of pairs and precision."""

    gain: float
    error: float
    number: int
    precision: float


@dataclass(frozen=True, eq=False)
class _GroupedRows:
    """Rows: scores of the sum, (rows, classes), groups of values, (features, rows), and classes.

    A row of whole weight has one entry in each fold that tests some of its units. The contrasts of
    the groups, (features, groups, contrasts), are 0 beyond those of a feature.
    """

    scores: Array
    groups: ArrayOf[np.int8]
    classes: Positions
    weights: Array
    contrasts: Array

    def subset(self, at: ArrayOf[Any]) -> _GroupedRows:
        scores, groups, classes = self.scores[at], self.groups[:, at], self.classes[at]
        return _GroupedRows(scores, groups, classes, self.weights[at], self.contrasts)

    def losses_after_score_changes(self, change: Array | float) -> Array:
        """Return minus the log-likelihood of each row if its scores change."""
        return -log_normalize(self.scores + change)[np.arange(len(self.classes)), self.classes]


def check_pairs(pairs: Pairs, features: Sequence[Hashable], class_var: Hashable) -> Any:
    """Return None, "auto", a number of pairs or a tuple of pairs of names, or raise."""
    if pairs is None or (isinstance(pairs, str) and pairs == "auto"):
        return pairs
    most = len(features) * (len(features) - 1) // 2
    if isinstance(pairs, int | np.integer) and not isinstance(pairs, bool):
        return int(Whole(least=0, most=most).check("pairs", pairs))
    if isinstance(pairs, str | bool) or not isinstance(pairs, Iterable):
        expected = "None, a number, 'auto' or a list of pairs of features"
        raise TypeError(must_be("pairs", expected, pairs))
    found: list[tuple[Hashable, Hashable]] = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            remedy = "An example is [('age', 'sex')]."
            raise TypeError(must_be("pairs", "pairs of two features", pair, remedy))
        for name in pair:
            if name == class_var:
                raise ValueError(f"pairs must be pairs of features; got the class {shown(name)}.")
            OneOf(features, "features of the data").check("pairs", name)
        first, second = sorted(pair, key=list(features).index)
        if first == second:
            raise ValueError(f"pairs must be of two different features; got {shown(first)} twice.")
        if (first, second) in found:
            raise ValueError(f"pairs must be distinct; got {listed([first, second])} twice.")
        found.append((first, second))
    return tuple(found)


def with_pair_effects(
    x: EffectTable, dataset: InFull, pairs: Any, learned_from: Model
) -> EffectTable:
    """Return a sum with effects of pairs: a number, as many as held-out rows favor, or these.

    The scores of held-out rows are those of the model that the sum is of, fitted without them.
    """
    if pairs in (None, 0, ()) or len(x.known_levels[-1]) < 2 or len(x.features) < 2:
        return x
    with one_thread:  # products of small arrays
        rows, groups, folds = _grouped_training_rows(x, dataset, learned_from)
        named = _positions_of_named_pairs(x, rows, pairs) if isinstance(pairs, tuple) else []
        order = named or _rank_pairs_by_gain(rows)
        if not order or (isinstance(pairs, tuple) and not named):
            return x
        asked = len(order) if named else None if pairs == "auto" else pairs
        choice = _choose_precision_and_number(rows, folds, asked, named)
        if asked is None and choice.gain <= _CLEAR * choice.error:
            return x
        fit = _PairRegression(rows, order[: choice.number]).fit(choice.precision)
    return _add_pairs_to_sum(x, fit, groups)


def _positions_of_named_pairs(
    x: EffectTable, rows: _GroupedRows, pairs: Sequence[tuple[Hashable, Hashable]]
) -> list[tuple[int, int]]:
    """Return the positions of named pairs; warn of features that have a single value."""
    at = {name: i for i, name in enumerate(x.features)}
    constant = {name for pair in pairs for name in pair}
    constant -= {name for name, i in at.items() if rows.contrasts[i].any()}
    if constant:
        warn(
            f"pairs of {listed(sorted(constant, key=str))} have no effect and are ignored, because "
            "these features have a single value in the data."
        )
    return [(at[a], at[b]) for a, b in pairs if not constant & {a, b}]


def _grouped_training_rows(
    x: EffectTable, dataset: InFull, learned_from: Model
) -> tuple[_GroupedRows, list[Positions], Positions]:
    """Return training rows, the group of each value of each feature, and the fold of each row."""
    raw = rows_in_content_order(fractional_weights_as_cases(training_rows(learned_from, dataset)))
    data = encode_for_model(x, raw, argument="dataset")
    placed = x.rows_to_score(data, "missing")
    weights = data.row_weights
    groups = [_group_of_each_value(x, i, own, weights) for i, own in enumerate(placed.codes)]
    coded = np.array([of[own] for of, own in zip(groups, placed.codes, strict=True)], dtype=np.int8)
    classes = codes_by_levels(data, (x.class_var,), x.known_levels[-1:])[0].astype(np.intp)
    n = number_of_cases(raw)
    number = int(min(_FOLDS if n <= _MANY else _FOLDS_OF_MANY, n))
    split = split_rows_into_folds(raw, number)
    at = np.concatenate([fold.rows for fold in split])
    units = [weights[fold.rows] if fold.units is None else fold.units for fold in split]
    scores: Array = scores_at(x.score, placed)[at]
    if n >= 2 * number and "leave_one_out" in learned_from.learned:
        own = encode_for_model(learned_from, raw, argument="dataset").select(learned_from.variables)
        scores = out_of_fold_scores(learned_from, own, number)
    scores = scores - scores.mean(axis=1, keepdims=True)
    contrasts = _orthogonal_contrasts_of_groups(x, groups)
    rows = _GroupedRows(scores, coded[:, at], classes[at], np.concatenate(units), contrasts)
    return rows, groups, np.repeat(np.arange(len(split)), [len(fold.rows) for fold in split])


def _group_of_each_value(x: EffectTable, i: int, codes: Codes, weights: Array) -> Positions:
    """Return the group of each value of a feature, -1 if missing: intervals of similar weight."""
    n = len(x.known_levels[i])
    mass = np.bincount(codes[codes >= 0], weights[codes >= 0], n)
    if n <= GROUPS:
        groups = np.arange(n)
    elif x.features[i] in x.cuts:
        middles = (mass.cumsum() - mass / 2) / max(float(mass.sum()), 1e-300)
        intervals = (middles * GROUPS).astype(np.intp).clip(0, GROUPS - 1)
        groups = np.unique(intervals, return_inverse=True)[1]
    else:  # the rarest levels together
        groups = np.full(n, GROUPS - 1)
        groups[np.argsort(-mass, kind="stable")[: GROUPS - 1]] = np.arange(GROUPS - 1)
    return np.append(groups, -1)


def _orthogonal_contrasts_of_groups(x: EffectTable, groups: Sequence[Positions]) -> Array:
    """Return contrasts of groups, with the mean 0, (features, groups, contrasts).

    Those of numbers are cosines of ranks, of which the k-th is divided by k; the sum of their
    variances is 1. Example: of 3 equal groups, (1, 0, −1) and (1, −2, 1)/2 times 1.10 and 0.63.
    """
    found = list[Array]()
    for i, own in enumerate(groups):
        counts = np.bincount(own[:-1], x.shares[i][:-1], int(own.max()) + 1)
        mass: Array = counts / counts.sum()
        if x.features[i] in x.cuts:
            contrasts = _cosines_of_ranks(mass)
        else:  # all functions with the mean 0
            left, sizes, _ = np.linalg.svd(np.eye(len(mass)) - mass)
            contrasts = (left * sizes)[:, :-1]
        found.append(contrasts / np.sqrt(max(float(mass @ (contrasts**2).sum(axis=1)), 1e-300)))
    shape = [max([own.shape[axis] for own in found], default=0) for axis in (0, 1)]
    result = np.zeros((len(found), *shape))
    for padded, contrasts in zip(result, found, strict=True):
        padded[: len(contrasts), : contrasts.shape[1]] = contrasts
    return result


def _cosines_of_ranks(mass: Array) -> Array:
    """Return cos(π k · rank) / k of groups for k = 1, 2, …, orthogonal by their mass."""
    numbers, root = np.arange(min(len(mass), _CONTRASTS + 1)), np.sqrt(mass)[:, None]
    ranks = mass.cumsum() - mass / 2  # of the middles of groups, between 0 and 1
    orthonormal, _ = np.linalg.qr(root * np.cos(np.pi * ranks[:, None] * numbers))
    return np.asarray(orthonormal[:, 1:] / root / numbers[1:])


def _choose_precision_and_number(
    rows: _GroupedRows, folds: Positions, asked: int | None, named: Sequence[tuple[int, int]]
) -> _Choice:
    """Return the precision, and the number of pairs if none is given, that held-out rows favor."""
    parts, tested = list[tuple[_GroupedRows, _GroupedRows]](), 0.0
    for v in map(int, np.unique(folds)):
        train, test = rows.subset(folds != v), rows.subset(folds == v)
        if tested < _ENOUGH and len(np.unique(train.classes)) > 1:
            parts.append((train, test))
            tested += float(test.weights.sum())
    if not parts:
        return _Choice(0.0, 0.0, asked or _FEW, _PRECISIONS[0])
    orders = [named or _rank_pairs_by_gain(train) for train, _ in parts]
    weights = np.concatenate([test.weights for _, test in parts])
    before = np.concatenate([test.losses_after_score_changes(0.0) for _, test in parts])

    def choice_with_largest_gain(number: int, precisions: Sequence[float]) -> _Choice:
        data_and_orders = zip(parts, orders, strict=True)
        fits = [_PairRegression(train, order[:number]) for (train, _), order in data_and_orders]
        tried = list[_Choice]()
        for precision in precisions:
            fits = [fit.fit(precision) for fit in fits]
            after = []
            for fit, (_, test) in zip(fits, parts, strict=True):
                after.append(test.losses_after_score_changes(fit.score_changes_at(test)))
            gains = before - np.concatenate(after)
            gain = float(np.average(gains, weights=weights))
            variance = float(np.average((gains - gain) ** 2, weights=weights))
            error = np.sqrt(variance / max(float(weights.sum()), 1.0))
            tried.append(_Choice(gain, float(error), number, precision))
            if tried[-1].gain < max(tried).gain:
                break
        return max(tried)

    best = choice_with_largest_gain(asked or _MOST, _PRECISIONS)
    if asked is None and len(orders[0]) > _FEW:
        best = max(best, choice_with_largest_gain(_FEW, [best.precision]))
    return best


def _rank_pairs_by_gain(rows: _GroupedRows) -> list[tuple[int, int]]:
    """Return the pairs of features that would add to the likelihood, the best first."""
    features = np.flatnonzero(rows.contrasts.any(axis=(1, 2)))
    if len(features) > _FEATURES:
        between = np.array([_variation_between_groups(rows, i) for i in features.tolist()])
        features = np.sort(features[np.argsort(-between, kind="stable")[:_FEATURES]])
    gains = _gains_of_pairs(rows, features)
    pairs = [(gains[i, j], i, j) for i, j in combinations(range(len(features)), 2)]
    pairs.sort(key=lambda found: (-round(found[0], 9), found[1:]))
    return [(int(features[i]), int(features[j])) for _, i, j in pairs]


def _gains_of_pairs(rows: _GroupedRows, features: Positions) -> Array:
    """Return by how much a step along each product of contrasts raises the likelihood, less chance.

    The weight w of a product changes it by about s w − (c + p) w² / 2, with its slope s, curvature
    c and precision p, which is at most s² / (2 (c + p)). By chance, s² is c on average.
    """
    n, size, n_classes = len(features), rows.contrasts.shape[1], rows.scores.shape[1]
    contrasts = rows.contrasts[features]
    posteriors = np.exp(log_normalize(rows.scores))
    gains = np.zeros((n, n))
    for c in range(n_classes == 2, n_classes):  # the classes of two are mirror images
        residuals: Array = rows.weights * ((rows.classes == c) - posteriors[:, c])
        spread_at: Array = rows.weights * posteriors[:, c] * (1 - posteriors[:, c])
        slope, curve = np.zeros((2, n, size, n, size))  # by groups of the first and of the second
        for block in slices(len(rows.classes), n, _BLOCK):
            marks = _sparse_indicators_of_cells(rows.groups[features, block], size)
            for total, weights in ((slope, residuals), (curve, spread_at)):
                products = marks.T @ marks.multiply(weights[block, None])
                total += products.toarray().reshape(total.shape)
        slope = _slopes_without_single_effects(slope, curve)
        own: Array = np.einsum("igr,igjh,jhs->ijrs", contrasts, slope, contrasts, optimize=True)
        spread: Array = np.einsum(
            "igr,igjh,jhs->ijrs", contrasts**2, curve, contrasts**2, optimize=True
        )
        gains += 0.5 * ((own**2 - spread) / (spread + _IN_SEARCH)).sum(axis=(2, 3))
    return gains


def _slopes_without_single_effects(slope: Array, curve: Array) -> Array:
    """Return slopes, (features, groups, features, groups), less what each feature explains alone.

    Two rounds of one step per side leave little. Example: of a pair with the curvatures (4, 1) and
    (1, 4), an effect of the first feature alone, (4, 1) and (−1, −4), leaves (−.96, .96) twice
    after one round, and (−.35, .35) after two.
    """
    for axis in (1, 3, 1, 3):
        total: Array = np.maximum(curve.sum(axis=axis, keepdims=True), 1e-9)
        slope = slope - curve * slope.sum(axis=axis, keepdims=True) / total
    return slope


def _variation_between_groups(rows: _GroupedRows, i: int) -> float:
    """Return how much the mean scores differ between the groups of a feature."""
    group: Codes = rows.groups[i] + 1
    mass = np.bincount(group, rows.weights)
    sums = np.array([np.bincount(group, rows.weights * scores) for scores in rows.scores.T])
    return float((sums**2 / np.maximum(mass, 1e-300)).sum())


def _sparse_indicators_of_cells(cells: ArrayOf[Any], size: int) -> csr_array:
    """Return a sparse array, (rows, terms × size), with 1 in the cells of a row: (terms, rows).

    The cells of each term are 0 to size - 1, or below 0 if the row has none.
    """
    from scipy import sparse  # slow to import

    of_rows = cells.T + size * np.arange(len(cells), dtype=np.int32)
    known = cells.T >= 0
    ends = np.concatenate([[0], known.sum(axis=1).cumsum()])
    shape = len(of_rows), len(cells) * size
    return sparse.csr_array((np.ones(ends[-1]), of_rows[known], ends), shape=shape)


@dataclass(frozen=True, eq=False)
class _PairRegression:
    """A ridge regression of the class on the scores of a sum and pairs, and its weights so far.

    The weights are those of products of contrasts that are not 0, (products, classes − 1), of the
    classes and of the sum. Contrasts of classes are orthogonal, so that no class is special.
    """

    rows: _GroupedRows
    pairs: Sequence[tuple[int, int]]
    weights: Array | None = None

    @cached_property
    def _class_contrasts(self) -> Array:
        """Orthonormal contrasts of the classes, (classes, classes − 1)."""
        n = self.rows.scores.shape[1]
        columns = np.hstack([np.ones((n, 1)), np.eye(n)[:, 1:]])
        return np.asarray(np.linalg.qr(columns)[0][:, 1:])

    @cached_property
    def _contrasts_of_sides(self) -> tuple[Array, Array]:
        """The contrasts of the first and second features, (pairs, groups, contrasts)."""
        first, second = np.array(self.pairs).T
        return self.rows.contrasts[first], self.rows.contrasts[second]

    @cached_property
    def _mask_of_nonzero_products(self) -> Mask:
        """Which products of contrasts are not 0, (pairs, contrasts, contrasts)."""
        first, second = [np.any(side, axis=1, keepdims=True) for side in self._contrasts_of_sides]
        return np.asarray(first.transpose(0, 2, 1) & second)

    def _unpack_weights(self, weights: Array) -> tuple[Array, Array, float]:
        """Return weights of contrasts, (pairs, k, k, classes − 1), of classes and of the sum."""
        others = self._class_contrasts.shape[1]
        of_contrasts = np.zeros((*self._mask_of_nonzero_products.shape, others))
        of_contrasts[self._mask_of_nonzero_products] = weights[: -others - 1].reshape(-1, others)
        return of_contrasts, weights[-others - 1 : -1], float(weights[-1])

    @cached_property
    def _unpacked_weights(self) -> tuple[Array, Array, float]:
        assert self.weights is not None
        return self._unpack_weights(self.weights)

    def effects_of_pairs(self) -> Array:
        """Return the tables of the pairs, (pairs, groups, groups, classes)."""
        along_classes = _bilinear_products(self._contrasts_of_sides, self._unpacked_weights[0])
        return np.asarray(along_classes @ self._class_contrasts.T)

    def score_shifts_of_classes(self) -> Array:
        return np.asarray(self._class_contrasts @ self._unpacked_weights[1])

    def factor_of_sum(self) -> float:
        return self._unpacked_weights[2]

    def score_changes_at(self, rows: _GroupedRows) -> Array:
        """Return what is added to the scores of rows."""
        cells = self.effects_of_pairs().reshape(-1, rows.scores.shape[1])
        change: Array = (self.factor_of_sum() - 1) * rows.scores + self.score_shifts_of_classes()
        for block, design, _ in _cell_indicators_by_row_block(rows, self.pairs):
            change[block] += design @ cells
        return change

    def fit(self, precision: float) -> _PairRegression:
        """Return the regression with the weights that maximize the likelihood less a ridge."""
        from scipy.optimize import minimize  # slow to import

        rows, class_contrasts = self.rows, self._class_contrasts
        is_small = len(rows.classes) * len(self.pairs) <= _KEPT
        kept = list(_cell_indicators_by_row_block(rows, self.pairs)) if is_small else None
        others = class_contrasts.shape[1]
        back = [side.transpose(0, 2, 1) for side in self._contrasts_of_sides]
        shape = (len(self.pairs), rows.contrasts.shape[1], rows.contrasts.shape[1], others)
        start = np.zeros((np.count_nonzero(self._mask_of_nonzero_products) + 1) * others + 1)
        start[-1] = 1
        ridge = np.full(len(start), precision)
        ridge[-others - 1 :] = _OF_CLASSES
        ridge[-1] = _OF_SUM

        def loss_and_gradient(weights: Array) -> tuple[float, Array]:
            of_contrasts, of_classes, power = self._unpack_weights(weights)
            cells = _bilinear_products(self._contrasts_of_sides, of_contrasts).reshape(-1, others)
            moved = weights - start
            of_cells, of_others = np.zeros(cells.shape), np.zeros(others + 1)
            value = 0.5 * float(ridge @ moved**2)
            for block, design, transposed in kept or _cell_indicators_by_row_block(
                rows, self.pairs
            ):
                scores, mass = rows.scores[block], rows.weights[block]
                own = np.arange(len(mass)), rows.classes[block]
                change = (design @ cells + of_classes) @ class_contrasts.T
                logs = log_normalize(power * scores + change)
                value -= float(mass @ logs[own])
                away: Array = np.exp(logs)
                away[own] -= 1
                away *= mass[:, None]
                slopes = away @ class_contrasts
                of_cells += transposed @ slopes
                of_others += [*slopes.sum(axis=0), (away * scores).sum()]
            of_contrasts = _bilinear_products((back[0], back[1]), of_cells.reshape(shape))
            of_products = of_contrasts[self._mask_of_nonzero_products].ravel()
            return value, np.concatenate([of_products, of_others]) + ridge * moved

        options: Any = {"maxiter": 40, "ftol": 1e-6}
        begin = start if self.weights is None else self.weights
        found = minimize(loss_and_gradient, begin, jac=True, method="L-BFGS-B", options=options).x
        return replace(self, weights=found)


def _cell_indicators_by_row_block(
    rows: _GroupedRows, pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[Slice, Any, Any]]:
    """Yield blocks of rows, which cells of the pairs they have, and the same transposed.

    The cells are a sparse array, (rows, pairs × groups × groups).
    """
    first, second = np.array(pairs).T
    size = rows.contrasts.shape[1]
    for block in slices(len(rows.classes), len(pairs), _BLOCK):
        left, right = (rows.groups[side, block] for side in (first, second))
        cells = np.where((left < 0) | (right < 0), -1, left.astype(np.int16) * size + right)
        indicators = _sparse_indicators_of_cells(cells, size**2)
        yield block, indicators, indicators.T


def _bilinear_products(sides: tuple[Array, Array], table: Array) -> Array:
    """Return A T Bᵀ of each pair and class; A, B are (pairs, m, k), T is (pairs, k, k, classes)."""
    (n, m, k), others = sides[0].shape, table.shape[-1]
    left = (sides[0] @ table.reshape(n, k, k * others)).reshape(n, m, k, others)
    right = sides[1] @ left.transpose(0, 2, 1, 3).reshape(n, k, m * others)
    return right.reshape(n, m, m, others).transpose(0, 2, 1, 3)


def _add_pairs_to_sum(
    x: EffectTable, fit: _PairRegression, groups: Sequence[Positions]
) -> EffectTable:
    """Return the sum with a power, and with pairs, which have the mean 0 along each side."""
    power, found = fit.factor_of_sum(), list[PairEffects]()
    for (i, j), cells in zip(fit.pairs, fit.effects_of_pairs(), strict=True):
        own = cells[: int(groups[i].max()) + 1, : int(groups[j].max()) + 1]
        table = np.pad(logs_less_reference(own), ((0, 1), (0, 1), (0, 0)))
        found.append(PairEffects((i, j), (groups[i], groups[j]), table))
    return replace(
        x,
        tables=tuple([power * table for table in x.tables]),
        constant=logs_less_reference(power * x.constant + fit.score_shifts_of_classes()),
        pairs=tuple(found),
        unknown=None,
    )
