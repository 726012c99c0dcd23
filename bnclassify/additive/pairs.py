"""Effects of pairs of features in a sum: which, how many, and how strong, by held-out rows.

The sum of single effects is fitted first. Pairs are ranked by how much a table of each would add to
the likelihood (FAST: Lou, Caruana, Gehrke, Hooker, 2013, Accurate intelligible models with pairwise
interactions, KDD). Ridge regressions with and without the first k pairs are fitted to the class,
with the sum as a term. Their difference, times a share, is added to the sum. k, unless it is given,
the precision of the effects and the share are those with the largest likelihood of rows in five
folds. With "auto", no pair is added without a clear gain; a number of pairs, or pairs that are
named, are added anyway.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..base.arrays import Array, ArrayOf, Codes, Positions, log_normalize
from ..base.checks import OneOf, Whole, must_be
from ..base.messages import listed, shown, silently
from ..frames.dataset import Dataset, match
from ..frames.opening import InFull
from ..model.arguments import encode_for
from ..model.model import Model
from ..recipe.blend import number_of_cases
from ..recipe.cases import as_cases, in_order
from ..recipe.row_folds import RowFold, split_rows
from ..scores.evaluate import scores_at
from .effect_table import EffectTable, PairEffects, training_rows

Pairs: TypeAlias = "int | Literal['auto'] | Iterable[tuple[Hashable, Hashable]] | None"

_GROUPS = 8  # of the values of a feature in pairs
_FEATURES = 64  # with the largest effects, of which pairs are candidates
_PRECISIONS = (0.3, 1.5, 6.0, 25.0)  # of the effects of pairs
_USUAL = 1.5
_OF_SINGLE = 50.0  # precision of changes of single effects
_OF_SUM = 30.0  # precision of the power of the sum
_OF_CLASSES = 1e-3
_OF_CELLS = 8.0  # precision of the effects in the search
_SHARES = (0.25, 0.5, 0.75, 1.0)
_CLEAR = 2.0  # standard errors by which the likelihood of held-out rows must rise


class _Choice(NamedTuple):
    """How many pairs, with which precision and share, and their gain in nats per held-out row."""

    number: int
    precision: float
    share: float
    gain: float = 0.0
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows: scores of the sum, (rows, classes), value groups, (features, rows), classes, weights.

    A row of whole weight has one entry in each fold that tests some of its units.
    """

    scores: Array
    groups: Positions
    classes: Positions
    weights: Array
    sizes: Positions

    def take(self, at: ArrayOf[Any]) -> _Rows:
        return _Rows(
            self.scores[at], self.groups[:, at], self.classes[at], self.weights[at], self.sizes
        )

    def losses(self, scores: Array) -> Array:
        """Return minus the log-likelihood of each row."""
        return -log_normalize(scores)[np.arange(len(scores)), self.classes]


def check_pairs(pairs: Pairs, features: Sequence[Hashable], class_var: Hashable) -> Any:
    """Return None, "auto", a number of pairs or a tuple of pairs of names, or raise."""
    if pairs is None or (isinstance(pairs, str) and pairs == "auto"):
        return pairs
    most = len(features) * (len(features) - 1) // 2
    if isinstance(pairs, int | np.integer) and not isinstance(pairs, bool):
        return int(Whole(least=0, most=most).check("pairs", pairs))
    if isinstance(pairs, str | bool) or not isinstance(pairs, Iterable):
        raise TypeError(
            must_be("pairs", "None, a number, 'auto' or a list of pairs of features", pairs)
        )
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


def with_pairs(x: EffectTable, dataset: InFull, pairs: Any, learned_from: Model) -> EffectTable:
    """Return a sum of effects with pairs: so many, those that held-out rows favor, or these.

    The scores of held-out rows are those of the model that the sum is of, fitted without them.
    """
    if pairs in (None, 0, ()) or len(x.known_levels[-1]) < 2 or len(x.features) < 2:
        return x
    rows, groups, folds = _rows_of(x, dataset, learned_from)
    given = pairs if isinstance(pairs, tuple) else ()
    named = [
        (x.features.index(a), x.features.index(b)) for a, b in given if {a, b} <= {*x.features}
    ]
    numbers = (1, 2, 4, 8, 16, 32) if isinstance(pairs, str) else (len(named) if given else pairs,)
    choice = _chosen(rows, folds, numbers, named)
    order = named or _ranked(rows)
    if isinstance(pairs, str) and choice.gain <= _CLEAR * choice.error:
        return x
    chosen = order[: choice.number]
    if not chosen:
        return x
    change = _change(rows, chosen, choice.precision)
    return _added(x, chosen, groups, rows.sizes, change, choice.share)


def _rows_of(
    x: EffectTable, dataset: InFull, learned_from: Model
) -> tuple[_Rows, list[Positions], Positions]:
    """Return training rows, the group of each value of each feature, and the fold of each row."""
    raw = in_order(as_cases(training_rows(learned_from, dataset)))
    data = encode_for(x, raw, argument="dataset")
    codes = x.place(data, "missing").codes
    weights = np.ones(len(data)) if data.weights is None else data.weights
    groups = [_groups_of(x, i, codes[i], weights) for i in range(len(x.features))]
    coded = np.array([of[own] for of, own in zip(groups, codes, strict=True)], dtype=np.intp)
    sizes = np.array([int(of.max()) + 1 for of in groups], dtype=np.intp)
    classes = match(data, (x.class_var,), x.known_levels[-1:])[0].astype(np.intp)
    split = split_rows(raw, int(min(5, number_of_cases(raw))))
    at = np.concatenate([fold.rows for fold in split])
    units = [weights[fold.rows] if fold.units is None else fold.units for fold in split]
    scores = _held_out_scores(learned_from, raw, split)
    scores = scores - scores.mean(axis=1, keepdims=True)
    rows = _Rows(scores, coded[:, at], classes[at], np.concatenate(units), sizes)
    return rows, groups, np.repeat(np.arange(len(split)), [len(fold.rows) for fold in split])


def _held_out_scores(x: Model, raw: Dataset, split: Sequence[RowFold]) -> Array:
    """Return the scores of each fold's rows by a model without its units, or by that of all."""
    step = None if x.recipe is None else x.recipe.parameters
    if step is not None:
        args = {**step.settings.get("held_out_args", {}), "folds": None}
        step = replace(step, settings={**step.settings, "held_out_args": args})
    scores = list[Array]()
    with silently():
        for fold in split:
            (train, test), y = fold.split(raw), x
            if step is not None and len(np.unique(train.codes[-1])) > 1:
                y = step(x, train)
            rows = y.place(encode_for(y, test, argument="dataset"), "missing")
            scores.append(scores_at(y.score, rows))
    return np.concatenate(scores)


def _groups_of(x: EffectTable, i: int, codes: Codes, weights: Array) -> Positions:
    """Return the group of each value of a feature, -1 if missing: intervals of similar weight."""
    n = len(x.known_levels[i])
    mass = np.bincount(codes[codes >= 0], weights[codes >= 0], n)
    if n <= _GROUPS:
        groups = np.arange(n)
    elif x.features[i] in x.cuts:
        middles = (mass.cumsum() - mass / 2) / max(mass.sum(), 1e-300)
        groups = np.unique(
            (middles * _GROUPS).astype(np.intp).clip(0, _GROUPS - 1), return_inverse=True
        )[1]
    else:  # the rarest levels together
        groups = np.full(n, _GROUPS - 1)
        groups[np.argsort(-mass, kind="stable")[: _GROUPS - 1]] = np.arange(_GROUPS - 1)
    return np.append(groups, -1)


def _chosen(
    rows: _Rows, folds: Positions, numbers: Sequence[int], named: Sequence[tuple[int, int]]
) -> _Choice:
    """Return the number of pairs, precision and share with the largest held-out likelihood."""
    parts = [(rows.take(folds != v), rows.take(folds == v)) for v in np.unique(folds).tolist()]
    parts = [(train, test) for train, test in parts if len(np.unique(train.classes)) > 1]
    if len(parts) < 2:
        return _Choice(numbers[0], _USUAL, _SHARES[0])
    orders = [named or _ranked(train) for train, _ in parts]
    plain = [_regression(train, (), _USUAL) for train, _ in parts]
    weights = np.concatenate([test.weights for _, test in parts])

    def best(number: int, precision: float) -> _Choice:
        changes = []
        for (train, test), order, without in zip(parts, orders, plain, strict=True):
            change = _regression(train, order[:number], precision).minus(without)
            changes.append(change.at(test, order[:number]))
        choices = []
        for share in _SHARES:
            gains = [
                test.losses(test.scores) - test.losses(test.scores + share * change)
                for (_, test), change in zip(parts, changes, strict=True)
            ]
            choices.append(
                _Choice(number, precision, share, *_mean_and_error(np.concatenate(gains), weights))
            )
        return max(choices, key=lambda choice: choice.gain)

    tried = list[_Choice]()
    for number in numbers:
        tried.append(best(number, _USUAL))
        top = max(range(len(tried)), key=lambda i: tried[i].gain)
        if len(tried) - top >= 3:  # numbers of pairs after which the search ends without a gain
            break
    found = max(tried, key=lambda choice: choice.gain)
    if found.gain > 0 or len(numbers) == 1:
        tried += [best(found.number, precision) for precision in _PRECISIONS if precision != _USUAL]
    return max(tried, key=lambda choice: choice.gain)


def _mean_and_error(values: Array, weights: Array) -> tuple[float, float]:
    """Return the weighted mean of values, and its standard error."""
    mean = float(np.average(values, weights=weights))
    return mean, float(
        np.sqrt(np.average((values - mean) ** 2, weights=weights) / max(weights.sum(), 1.0))
    )


def _ranked(rows: _Rows) -> list[tuple[int, int]]:
    """Return the pairs of features that would add to the likelihood, the best first."""
    d, size = len(rows.groups), int(rows.sizes.max(initial=1))
    features = np.arange(d)
    if d > _FEATURES:
        spread = [_between(rows, i) for i in range(d)]
        features = np.sort(np.argsort(-np.array(spread), kind="stable")[:_FEATURES])
    posteriors = np.exp(log_normalize(rows.scores))
    shape = (len(features), size, len(features), size)
    cells = rows.groups[features] + size * np.arange(len(features))[:, None]
    marks = _indicators(np.where(rows.groups[features] >= 0, cells, -1), size * len(features))
    gains = np.zeros((len(features), len(features)))
    used = (
        range(1, rows.scores.shape[1]) if rows.scores.shape[1] == 2 else range(rows.scores.shape[1])
    )
    for c in used:
        residuals = rows.weights * ((rows.classes == c) - posteriors[:, c])
        spread_at = rows.weights * posteriors[:, c] * (1 - posteriors[:, c])
        slope = (marks.T @ marks.multiply(residuals[:, None])).toarray().reshape(shape)
        curve = (marks.T @ marks.multiply(spread_at[:, None])).toarray().reshape(shape)
        for _ in range(2):  # without what each feature explains alone
            for axis in (1, 3):
                total = np.maximum(curve.sum(axis=axis, keepdims=True), 1e-9)
                slope = slope - curve * slope.sum(axis=axis, keepdims=True) / total
        free = (rows.sizes[features] - 1) / rows.sizes[features]
        by_chance = (curve / (curve + _OF_CELLS)).sum(axis=(1, 3)) * np.outer(free, free)
        gains += 0.5 * ((slope**2 / (curve + _OF_CELLS)).sum(axis=(1, 3)) - by_chance)
    pairs = [(gains[i, j], i, j) for i, j in combinations(range(len(features)), 2)]
    pairs.sort(key=lambda found: (-round(found[0], 9), found[1:]))
    return [(int(features[i]), int(features[j])) for _, i, j in pairs]


def _between(rows: _Rows, i: int) -> float:
    """Return how much the mean scores differ between the groups of a feature."""
    group = rows.groups[i] + 1
    mass = np.bincount(group, rows.weights)
    sums = np.array([np.bincount(group, rows.weights * scores) for scores in rows.scores.T])
    return float((sums**2 / np.maximum(mass, 1e-300)).sum())


def _indicators(cells: Positions, size: int) -> Any:
    """Return a sparse array, (rows, size), with 1 in the cells of a row: (terms, rows), or -1."""
    from scipy import sparse  # slow to import

    known = cells >= 0
    rows = np.broadcast_to(np.arange(cells.shape[1]), cells.shape)[known]
    return sparse.csr_array(
        (np.ones(len(rows)), (rows, cells[known])), shape=(cells.shape[1], size)
    )


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights of a regression: of the sum, the classes, and the cells of features and pairs."""

    power: float
    classes: Array
    cells: Array

    def minus(self, other: _Weights) -> _Weights:
        """Return the difference of two regressions, of which the other has no pairs."""
        cells = self.cells.copy()
        cells[: len(other.cells)] -= other.cells
        return _Weights(self.power - other.power, self.classes - other.classes, cells)

    def at(self, rows: _Rows, pairs: Sequence[tuple[int, int]]) -> Array:
        """Return what the weights add to the scores of rows."""
        return np.asarray(
            self.power * rows.scores + _design(rows, pairs) @ self.cells + self.classes
        )


def _design(rows: _Rows, pairs: Sequence[tuple[int, int]]) -> Any:
    """Return the indicators of the cells of the features, and then of the pairs."""
    starts = rows.sizes.cumsum() - rows.sizes
    cells = list(np.where(rows.groups >= 0, rows.groups + starts[:, None], -1))
    size = int(rows.sizes.sum())
    for i, j in pairs:
        both = (rows.groups[i] >= 0) & (rows.groups[j] >= 0)
        cells.append(np.where(both, rows.groups[i] * rows.sizes[j] + rows.groups[j] + size, -1))
        size += int(rows.sizes[i] * rows.sizes[j])
    return _indicators(np.array(cells, dtype=np.intp).reshape(-1, len(rows.classes)), size)


def _change(rows: _Rows, pairs: Sequence[tuple[int, int]], precision: float) -> _Weights:
    """Return the regression with pairs less that without, so that common changes cancel out."""
    return _regression(rows, pairs, precision).minus(_regression(rows, (), precision))


def _regression(rows: _Rows, pairs: Sequence[tuple[int, int]], precision: float) -> _Weights:
    """Return the weights that maximize the likelihood of the classes, with a ridge."""
    from scipy.optimize import minimize  # slow to import

    design, n_classes = _design(rows, pairs), rows.scores.shape[1]
    transposed, n = design.T.tocsr(), design.shape[1]
    single = int(rows.sizes.sum())
    ridge = np.repeat([_OF_SINGLE, precision], [single, n - single])[:, None]
    own = (rows.classes[:, None] == np.arange(n_classes)).astype(np.float64)

    def loss(flat: Any) -> tuple[float, Any]:
        cells, classes, power = (
            flat[: -n_classes - 1].reshape(n, -1),
            flat[-n_classes - 1 : -1],
            flat[-1],
        )
        logs = log_normalize(power * rows.scores + design @ cells + classes)
        away = rows.weights[:, None] * (np.exp(logs) - own)
        value = -float(rows.weights @ (logs * own).sum(axis=1))
        value += 0.5 * float((ridge * cells**2).sum() + _OF_SUM * (power - 1) ** 2)
        value += 0.5 * _OF_CLASSES * float(classes @ classes)
        slopes = [
            (transposed @ away + ridge * cells).ravel(),
            away.sum(axis=0) + _OF_CLASSES * classes,
        ]
        return value, np.append(
            np.concatenate(slopes), (away * rows.scores).sum() + _OF_SUM * (power - 1)
        )

    start = np.zeros((n + 1) * n_classes + 1)
    start[-1] = 1
    options: Any = {"maxiter": 60, "ftol": 1e-6}
    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    cells = found[: n * n_classes].reshape(n, n_classes)
    return _Weights(float(found[-1]), found[n * n_classes : -1], cells)


def _added(
    x: EffectTable,
    pairs: Sequence[tuple[int, int]],
    groups: Sequence[Positions],
    sizes: Positions,
    change: _Weights,
    share: float,
) -> EffectTable:
    """Return the sum with changed single effects and pairs, whose means along each side are 0."""
    constant = (1 + share * change.power) * x.constant + share * change.classes
    tables = [(1 + share * change.power) * table for table in x.tables]
    ends = sizes.cumsum()
    for i, table in enumerate(tables):
        own = share * change.cells[ends[i] - sizes[i] : ends[i]]
        table[:-1] += own[groups[i][:-1]]
    found, start = list[PairEffects](), int(sizes.sum())
    for i, j in pairs:
        shape = (int(sizes[i]), int(sizes[j]))
        cells = share * change.cells[start : start + shape[0] * shape[1]].reshape(*shape, -1)
        start += shape[0] * shape[1]
        masses = [_masses(x, f, groups[f], int(sizes[f])) for f in (i, j)]
        first, second = (
            np.tensordot(masses[1], cells, (0, 1)),
            np.tensordot(masses[0], cells, (0, 0)),
        )
        mean = masses[0] @ first
        tables[i][:-1] += (first - mean)[groups[i][:-1]]
        tables[j][:-1] += (second - mean)[groups[j][:-1]]
        constant = constant + mean
        pure = cells - first[:, None] - second[None] + mean
        padded = np.pad(pure - _level(pure), ((0, 1), (0, 1), (0, 0)))
        found.append(PairEffects((i, j), (groups[i], groups[j]), padded))
    tables = [table - _level(table) for table in tables]
    return replace(
        x,
        tables=tuple(tables),
        constant=constant - _level(constant),
        pairs=tuple(found),
        unknown=None,
    )


def _level(logs: Array) -> Array:
    """Return what is subtracted of logs of classes: the first of two, or the mean of more."""
    return logs[..., :1] if logs.shape[-1] == 2 else logs.mean(axis=-1, keepdims=True)


def _masses(x: EffectTable, i: int, groups: Positions, size: int) -> Array:
    """Return the shares of the groups of a feature among known values."""
    mass = np.bincount(groups[:-1], x.shares[i][:-1], size)
    return np.asarray(mass / max(float(mass.sum()), 1e-300))
