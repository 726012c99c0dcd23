"""The fit of the default: contrasts, their variances, the strongest pairs, one regression.

1. Each feature becomes groups of values, and contrasts of these (`contrasts`).
2. Prior variances of the contrasts maximize the likelihood of held-out rows,
   first of single effects and then of pairs, which are ranked without the
   held-out rows (`variances`).
3. A regression with these variances gives the weights of all contrasts
   (`regression`), and the contrasts times their weights are the tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Array, Codes, Positions, softmax
from ..base.immutable import cached_property, record
from ..base.messages import listed, warn
from ..frames.dataset import Dataset
from ..learners.networks import network
from ..model.model import Model
from ..model.recipes import Step, TrainingRows
from ..network.classifiers import BNC
from ..numbers.discretizer import Discretizer
from ..scores.unknown import UnknownEffects
from .cells import Cells, possible_tables, tables_that_gain
from .contrasts import Feature, read_feature
from .effect_table import EffectTable, PairEffects, build_effect_table, logs_less_reference
from .regression import Regression, Term, sum_of_products
from .variances import (
    CENTER,
    ENOUGH,
    OF_CONSTANT,
    VarianceSearch,
    fit_scores,
    order_by_contents,
    sample_in_folds,
)

_MOST_PAIRS = 128
_FEW_PAIRS = 16
_CANDIDATES = 64  # number of features whose pairs are ranked
_CELLS = 2**15  # maximum number of cells of all pairs
_WEIGHTS = 2**20  # maximum number of products of contrasts of all pairs, times classes
_BASE = 1000
_RANKED_ROWS, _TABLE_ROWS = 2**16, 2**14  # rows by which pairs, and tables of cells, are chosen
_SHAPE = 0.3  # prior of a factor of a variance, in degrees of freedom
_CLEAR = 0.9  # share of the held-out loss below which few pairs are preferred to many
_LEAST_EFFECT = 0.003  # mean effect of a pair, in nats, below which it is left out
_DIGITS = 6  # of effects, so that files and pages are small
_MOMENT_ROWS = 10_000  # rows from which the moments of effects are computed

Pair = tuple[int, int]  # positions of two features, ascending


@record
def sum_of_effects(class_var: Hashable, dataset: Dataset, **settings: Any) -> BNC:
    """Return the features of a sum of effects: those that differ between rows, if any do."""
    data = _with_class_last(dataset, class_var)
    incomplete = data.incomplete.tolist()
    features = []
    for k, name in enumerate(data.columns[:-1]):
        values = data.numbers.get(name, data.codes[k])
        known = values[~np.isnan(values)] if name in data.numbers else values[values >= 0]
        lacks = len(known) < len(values) if name in data.numbers else incomplete[k]
        if len(known) and (lacks or (known != known[0]).any()):
            features.append(name)
    none = dict.fromkeys(features or data.columns[:-1], ())
    return network(class_var, none, data.schema, Step("sum_of_effects", sum_of_effects, settings))


@record
def fit_effects(
    x: Model,
    dataset: Dataset,
    *,
    pairs: Any = "auto",
    missing_level: Any = True,
    min_count: int | None = None,
    draws: int = 0,
) -> EffectTable:
    """Fit the effects of the features of a structure, or the single effects and pairs of a sum."""
    data = _with_class_last(dataset.with_positive_weights(), x.class_var).select(x.variables)
    if isinstance(x, EffectTable):
        pairs = tuple([tuple([x.features[i] for i in pair.features]) for pair in x.pairs])
    features = []
    for name in x.features:
        counts = missing_level if isinstance(missing_level, bool) else name in missing_level
        features.append(read_feature(data, name, counts_missing=counts, min_count=min_count))
    rows = _Rows.from_data(data, features)
    named: list[Pair] | None = None
    if not isinstance(pairs, str | int):
        kept = [pair for pair in pairs if set(pair) <= set(x.features)]
        if lost := [name for pair in pairs for name in pair if name not in x.features]:
            warn(f"pairs of {listed(lost)} have no effect, because all rows have the same value.")
        named = [(x.features.index(a), x.features.index(b)) for a, b in kept]
    fitted = _fit(rows, named, pairs)
    table = _as_table(fitted, data, x.class_var)
    settings = {
        "pairs": pairs,
        "missing_level": missing_level,
        "min_count": min_count,
        "draws": draws,
    }
    recipe = x.recipe and replace(
        x.recipe,
        parameters=Step("default settings", fit_effects, settings),
        preparation=table.preparation,
        rows=TrainingRows.from_data(data, (x.class_var,)),
    )
    table = replace(table, recipe=recipe)
    if draws:
        weights = fitted.regression.draw(fitted.weights, draws)
        drawn = [_as_table(replace(fitted, weights=own), data, x.class_var) for own in weights]
        table = replace(table, learned={**table.learned, "draws": tuple(drawn)})
    return table


def _with_class_last(data: Dataset, class_var: Hashable) -> Dataset:
    return data.select([*[name for name in data.columns if name != class_var], class_var])


@dataclass(frozen=True, eq=False)
class _Rows:
    """Training rows: features, classes, weights and cases, an order, and the sample in folds.

    No share of a class is 0.
    """

    features: Sequence[Feature]
    classes: Positions
    labels: tuple[Hashable, ...]
    weights: Array
    cases: Positions | None
    shares: Array
    order: Positions
    sample: Positions
    folds: Positions

    @classmethod
    def from_data(cls, data: Dataset, features: Sequence[Feature]) -> _Rows:
        """Return coded rows with the class in the last column."""
        weights, classes = data.row_weights, data.codes[-1].astype(np.intp)
        counts = np.maximum(np.bincount(classes, weights, len(data.levels[-1])), 0.5)
        shares: Array = counts / counts.sum()
        order = order_by_contents(features, classes, shares, weights)
        sample, folds = sample_in_folds(order, classes, shares, weights, data.cases)
        return cls(
            features, classes, data.levels[-1], weights, data.cases, shares, order, sample, folds
        )

    def some(self, most: int) -> Positions:
        """Return at most so many rows, at equal distances in the order by contents."""
        return np.sort(self.order[:: max(-(-len(self.order) // most), 1)])

    @cached_property
    def candidates(self) -> list[int]:
        """The features whose pairs are ranked: those with the largest single effects."""
        found = [i for i, f in enumerate(self.features) if f.contrasts.shape[1]]
        if len(found) <= _CANDIDATES:
            return found
        residuals = np.eye(len(self.labels))[self.classes] - self.shares
        residuals *= self.weights[:, None]
        sizes = []
        for i in found:
            z = self.features[i].principal_contrasts(3)
            sums = np.zeros((len(z), len(self.labels)))
            np.add.at(sums, self.features[i].groups, residuals)
            variance = float(self.features[i].mass @ (z**2).sum(axis=1))
            sizes.append(float(((z.T @ sums) ** 2).sum()) / max(variance, 1e-9))
        best = np.argsort(-np.round(sizes, 9), kind="stable")[:_CANDIDATES]
        return sorted([found[k] for k in best.tolist()])

    def rank_pairs(self, rows: Positions, residuals: Array) -> list[Pair]:
        """Return pairs of candidates, first those whose products raise the likelihood most.

        ``residuals`` are w (y − p) of some rows, (rows, classes). The slope of the
        likelihood along a product z_i z_j of contrasts is G = Σ w z_i z_j (y −
        p), whose square is E = Σ w² z_i² z_j² (y − p)² on average by chance. A
        step along it gains about (G² − E) / (E + 1/τ).
        """
        sides = [
            self.features[i].principal_contrasts(3)[self.features[i].groups[rows]]
            for i in self.candidates
        ]
        owner = np.repeat(np.arange(len(sides)), [z.shape[1] for z in sides])
        z = np.hstack(sides)
        slopes = np.zeros((len(owner), len(owner)))
        for of_class in residuals.T:
            slopes += (z.T @ (of_class[:, None] * z)) ** 2
        chance = (z**2).T @ ((residuals**2).sum(axis=1)[:, None] * z**2)
        gains = (slopes - chance) / (chance + 1 / CENTER["pair"])
        marks = np.eye(len(sides))[:, owner]
        gains = (marks @ gains @ marks.T).round(9)
        order = sorted(combinations(range(len(sides)), 2), key=lambda pair: -gains[pair])
        return [(self.candidates[i], self.candidates[j]) for i, j in order]


class _Variances(NamedTuple):
    """Prior variances by type of contrast, factors of these by feature, and the number of pairs.

    ``alone`` are the variances without pairs.
    """

    alone: dict[str, float]
    all: dict[str, float]
    factors: dict[str, Array]
    number: int
    relevance: Any = None


class _Side(NamedTuple):
    """A feature in pairs: the coarser group of each of its groups and rows, and contrasts."""

    groups: Positions
    of_rows: Positions
    contrasts: Array


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A regression with its weights, pairs with their sides, and tables of its last terms."""

    rows: _Rows
    regression: Regression
    weights: Array
    pairs: Sequence[Pair]
    sides: dict[Pair, list[_Side]]
    tables: Sequence[Cells]
    variances: dict[str, float]


def _fit(rows: _Rows, named: Sequence[Pair] | None, pairs: Any) -> _Fitted:
    """Choose variances and pairs (named ones, a number, or "auto"), and fit all terms."""
    possible = list(combinations(rows.candidates, 2)) if named is None else list(named)
    most = _MOST_PAIRS if pairs == "auto" else pairs if isinstance(pairs, int) else len(possible)
    possible = possible[:most] if named is None and not most else possible
    variances = _choose_variances(rows, possible, most, is_fixed=pairs != "auto")
    constant, base = np.log(rows.shares), rows.some(_BASE)
    chosen = possible if variances.all.get("pair") else []
    if len(chosen) > variances.number:
        alone = Regression(
            _single_terms(rows, variances.alone, variances.factors),
            rows.classes,
            rows.weights,
            constant,
            base,
        )
        some, scores = rows.some(_RANKED_ROWS), alone.scores(alone.fit(tolerance=1.0))
        residuals = np.eye(len(rows.labels))[rows.classes[some]] - np.exp(scores[some])
        ranked = rows.rank_pairs(some, rows.weights[some][:, None] * residuals)
        chosen = ranked[: variances.number]
    of_pairs = np.ones(len(chosen))
    if chosen and variances.relevance:
        types = [name for name in ("smooth", "line") if name in variances.relevance.search.kernels]
        of_pairs = variances.relevance.of_chosen(types, chosen)
    sides, terms = _terms(rows, chosen, variances, of_pairs)
    regression = Regression(terms, rows.classes, rows.weights, constant, base)
    power = variances.all["power"]
    weights = power * regression.fit()
    some = rows.some(_TABLE_ROWS)
    of_some = float(rows.weights[some].sum())
    tables = possible_tables(rows.features, chosen or possible[:_MOST_PAIRS], some, of_some)
    if tables and len(rows.labels) > 1:
        cases = None if rows.cases is None else rows.cases[some]
        left_out = regression.left_out_scores(weights, some)
        own = left_out, rows.classes[some], rows.weights[some], cases
        tables = tables_that_gain(tables, some, *own, len(rows.features))
    return _Fitted(rows, regression, weights, chosen, sides, tables, variances.all)


def _terms(
    rows: _Rows, chosen: Sequence[Pair], variances: _Variances, of_pairs: Array
) -> tuple[dict[Pair, list[_Side]], list[Term]]:
    """Return the sides of pairs, and the terms of single effects and of pairs."""
    terms = _single_terms(rows, variances.all, variances.factors)
    sides, cached = dict[Pair, list[_Side]](), dict[tuple[int, int, int], _Side]()
    sizes = [[len(f.mass) - 1, f.contrasts.shape[1]] for f in rows.features]
    most = np.array([_CELLS, _WEIGHTS / len(rows.labels)])
    most = [_most_each([sizes[i][k] * sizes[j][k] for i, j in chosen], most[k]) for k in (0, 1)]
    for pair, factor in zip(chosen, of_pairs, strict=True):
        of_sides = [_within([sizes[i][k] for i in pair], most[k]) for k in (0, 1)]
        for key in zip(pair, *of_sides, strict=True):
            if key not in cached:
                cached[key] = _side(rows.features[key[0]], *key[1:])
            sides.setdefault(pair, []).append(cached[key])
        groups, contrasts = [tuple([getattr(side, name) for side in sides[pair]]) for name in ("of_rows", "contrasts")]
        terms.append(Term(groups, contrasts, 1 / (variances.all["pair"] * factor)))
    return sides, terms


def _most_each(sizes: Sequence[int], most: float) -> float:
    """Return the largest size of each that keeps the sum of all, at most this size each, in bounds.

    Example: of the sizes 2, 9 and 20 with at most 20 in all, each has at most 9.
    """
    for k, size in enumerate(sorted(sizes)):
        share = most / (len(sizes) - k)
        if size > share:
            return share
        most -= size
    return np.inf


def _within(sizes: Sequence[int], most: float) -> list[int]:
    """Return two sizes with a product of at most so many: the larger one is reduced first."""
    if sizes[0] * sizes[1] <= most:
        return [*sizes]
    root = int(np.sqrt(most).clip(2))
    return [
        min(one, max(root, int(most / other))) for one, other in zip(sizes, sizes[::-1], strict=True)
    ]


def _choose_variances(
    rows: _Rows, possible: Sequence[Pair], most: int, *, is_fixed: bool
) -> _Variances:
    """Return the variances, and the number of pairs, with the largest held-out likelihood."""
    types = {name: _Stack.from_rows(rows, name) for name in ("smooth", "line")}
    types = {name: stack for name, stack in types.items() if len(stack.owners)}
    equal: dict[str, Array] = {name: np.ones(len(rows.features)) for name in ("smooth", "line")}
    if not types or len(rows.labels) < 2 or rows.folds.max() < 1:
        pair = CENTER["pair"] if is_fixed and possible else 0.0
        return _Variances(CENTER, {**CENTER, "pair": pair, "power": 1.0}, equal, most)
    present, sampled = np.unique(rows.classes[rows.sample], return_inverse=True)
    marks, constant = np.eye(len(present))[sampled.ravel()], np.log(rows.shares[present])
    search = VarianceSearch(marks, constant, rows.folds, len(rows.features))
    search.add(**{name: stack.kernel() for name, stack in types.items()})
    search.climb([*types])
    factors, alike = equal, search.copy()
    if len(rows.features) > 1:
        of_folds = []
        for v, before in enumerate(search.best.state):
            train = np.flatnonzero(rows.folds != v)
            of_folds.append(_factors(types, search.best.variances, marks, constant, train, before))
        kernels = {}
        for name, stack in types.items():
            kernels[name] = [stack.kernel(of_fold[name]) for of_fold in of_folds]
        search.add(**kernels)
        search.climb([*types])
        if search.best.loss < alike.best.loss - ENOUGH:
            common, everywhere = alike.best.variances, np.arange(len(marks))
            start = np.zeros(marks.shape)
            factors = equal | _factors(types, common, marks, constant, everywhere, start)
        else:
            search = alike
    alone, number = search.mean(), most
    pairs = None
    if possible:
        is_ranked = len(possible) > most
        pairs = _PairKernels.from_rows(rows, {*np.ravel(possible).tolist()})
        of_folds = [possible] * len(search.best.state)
        if is_ranked:
            of_folds = []
            for v, own in enumerate(search.best.state):
                train = np.flatnonzero(rows.folds != v)
                residuals = marks[train] - softmax(constant + own, axis=1)
                of_folds.append(rows.rank_pairs(rows.sample[train], residuals)[:most])
            search.add(pair=[pairs.sum(own) for own in of_folds])
        else:
            search.add(pair=pairs.sum(possible))
        for _ in range(2):
            search.climb(["pair", *types])
        if is_ranked and not is_fixed and len(of_folds[0]) > _FEW_PAIRS:
            with_few = search.copy()
            with_few.add(pair=[pairs.sum(own[:_FEW_PAIRS]) for own in of_folds])
            with_few.climb(["pair", "smooth"])
            if with_few.best.loss < _CLEAR * search.best.loss:
                search, number = with_few, _FEW_PAIRS
                of_folds = [own[:_FEW_PAIRS] for own in of_folds]
        if search.best.variances["pair"] and len(possible) > 1:
            alike, kernels = search.copy(), []
            for v, own in enumerate(of_folds):
                train = np.flatnonzero(rows.folds != v)
                kernel = search.kernel_of_fold(search.best.variances, v)[np.ix_(train, train)]
                factors_v = pairs.factors(own, search.best.variances["pair"], kernel, marks, constant, train, search.best.state[v])
                kernels.append(pairs.sum(own, factors_v))
            search.add(pair=kernels)
            if search.best.loss < alike.best.loss - ENOUGH:
                pairs = replace(pairs, search=alike, factors_of=factors)
            else:
                search = alike
    variances = search.mean()
    if possible and is_fixed and not variances["pair"]:
        variances["pair"] = CENTER["pair"]
    return _Variances(alone, variances, factors, number, pairs if pairs and pairs.search else None)


@dataclass(frozen=True, eq=False)
class _PairKernels:
    """The products of the contrasts of each feature at the rows of the sample."""

    kernels: Array
    places: dict[int, int]
    rows: _Rows
    search: VarianceSearch | None = None
    factors_of: dict[str, Array] | None = None

    @classmethod
    def from_rows(cls, rows: _Rows, features) -> _PairKernels:
        some = sorted(features)
        z = [rows.features[i].contrasts[rows.features[i].groups[rows.sample]] for i in some]
        return cls(np.array([own @ own.T for own in z]), {i: k for k, i in enumerate(some)}, rows)

    def sum(self, pairs: Sequence[Pair], factors: Array | float = 1.0) -> Array:
        """Return Σ r k_i k_j over pairs."""
        weights = np.zeros((len(self.kernels), len(self.kernels)))
        weights[self.at(pairs)] = factors
        return sum_of_products(self.kernels, weights)

    def at(self, pairs: Sequence[Pair]) -> tuple[Positions, Positions]:
        first, second = np.array([[self.places[i] for i in pair] for pair in pairs]).T
        return first, second

    def factors(self, pairs, variance, kernel, marks, constant, rows, scores):
        fitted = fit_scores(kernel, marks[rows], constant, scores, inverts=True)
        flat = self.kernels[:, rows[:, None], rows].reshape(len(self.kernels), -1)
        used, expected = [
            variance * ((flat * of_rows.ravel()) @ flat.T)[self.at(pairs)]
            for of_rows in (fitted.coefficients @ fitted.coefficients.T, fitted.inverse)
        ]
        ratio = expected.sum() / max(used.sum(), 1e-12)
        return (_SHAPE + ratio * used) / (_SHAPE + expected)

    def of_chosen(self, types, pairs: Sequence[Pair]) -> Array:
        """Factors of pairs from all rows of the sample."""
        rows, search = self.rows, self.search
        now = search.best.variances
        kernel = np.full((len(rows.sample),) * 2, OF_CONSTANT)
        for name in types:
            kernel += now[name] * _Stack.from_rows(rows, name).kernel(self.factors_of[name])
        kernel += now["pair"] * self.sum(pairs)
        every = np.arange(len(kernel))
        return self.factors(pairs, now["pair"], kernel, search.marks, search.constant, every, np.zeros(search.marks.shape))


@dataclass(frozen=True, eq=False)
class _Stack:
    """The contrasts of one type of all features at the rows of the sample, and their owners."""

    contrasts: Array
    owners: Positions

    @classmethod
    def from_rows(cls, rows: _Rows, name: str) -> _Stack:
        own = [getattr(f, name)[f.groups[rows.sample]] for f in rows.features]
        owners = np.repeat(np.arange(len(own)), [z.shape[1] for z in own])
        return cls(np.hstack([np.zeros((len(rows.sample), 0)), *own]), owners)

    def kernel(self, factors: Array | None = None) -> Array:
        """Return the products of the contrasts of rows, (rows, rows), with factors of features."""
        scale = 1.0 if factors is None else factors[self.owners]
        return np.asarray((self.contrasts * scale) @ self.contrasts.T)


def _factors(
    types: dict[str, _Stack],
    variances: dict[str, float],
    marks: Array,
    constant: Array,
    rows: Positions,
    scores: Array,
) -> dict[str, Array]:
    """Return factors of the variances by type of contrast and feature, from two turns.

    The effects of a feature have the squares τ |Zᵀ α|², of which τ tr (K +
    1/d)⁻¹ Z Zᵀ is what its variance τ expects (MacKay 1992). With more, its
    variance is too small. The mean of both is the same over all features.
    """
    n = max(int(stack.owners.max()) for stack in types.values()) + 1
    factors: dict[str, Array] = {name: np.ones(n) for name in types}
    for _ in range(2):
        kernel = np.full((len(rows), len(rows)), OF_CONSTANT)
        for name, stack in types.items():
            kernel += variances[name] * stack.kernel(factors[name])[np.ix_(rows, rows)]
        fitted = fit_scores(kernel, marks[rows], constant, scores, inverts=True)
        scores, inverse = fitted.scores, np.asarray(fitted.inverse)
        used, expected = dict[str, Array](), dict[str, Array]()
        for name, stack in types.items():
            z, scale = stack.contrasts[rows], variances[name] * factors[name]
            squares = ((z.T @ fitted.coefficients) ** 2).sum(axis=1)
            used[name] = scale * np.bincount(stack.owners, squares, n)
            traces = (z * (inverse @ z)).sum(axis=0)
            expected[name] = scale * np.bincount(stack.owners, traces, n)
        total = sum(float(own.sum()) for own in used.values())
        ratio = sum(float(own.sum()) for own in expected.values()) / max(total, 1e-12)
        for name in types:
            factors[name] = factors[name] * (
                (_SHAPE + ratio * used[name]) / (_SHAPE + expected[name])
            )
    return factors


def _single_terms(
    rows: _Rows, variances: dict[str, float], factors: dict[str, Array]
) -> list[Term]:
    """Return the terms of single effects: of each feature, its line and its smooth contrasts."""
    terms = []
    for i, feature in enumerate(rows.features):
        for name in ("line", "smooth"):
            contrasts = getattr(feature, name)
            if contrasts.shape[1]:
                variance = max(variances[name] * float(factors[name][i]), 1e-6)
                terms.append(Term((feature.groups,), (contrasts,), 1 / variance))
    return terms


def _side(feature: Feature, most_groups: int, most_contrasts: int) -> _Side:
    """Return the coarser groups of a feature in pairs, the last of missing values, and contrasts."""
    known = feature.mass[:-1] / max(float(feature.mass[:-1].sum()), 1e-300)
    n = len(known)
    if n <= most_groups:
        groups = np.arange(n)
    elif feature.values.cuts is not None:
        middles = known.cumsum() - known / 2
        _, groups = np.unique((middles * most_groups).astype(int), return_inverse=True)
    else:  # the rarer levels are one group
        groups = np.full(n, most_groups - 1)
        frequent = np.argsort(-known, kind="stable")[: most_groups - 1]
        groups[frequent] = np.arange(most_groups - 1)
    groups = np.append(groups, groups.max(initial=0) + 1)
    mass = np.bincount(groups, feature.mass)
    contrasts = np.zeros((len(mass), feature.contrasts.shape[1]))
    np.add.at(contrasts, groups, feature.mass[:, None] * feature.contrasts)
    contrasts /= np.maximum(mass, 1e-300)[:, None]
    _, sizes, directions = np.linalg.svd(np.sqrt(mass)[:, None] * contrasts, full_matrices=False)
    k = int(np.count_nonzero(sizes[:most_contrasts] > 1e-9 * sizes.max(initial=1e-300)))
    return _Side(groups, groups[feature.groups], contrasts @ directions[:k].T)


def _as_table(fitted: _Fitted, data: Dataset, class_var: Hashable) -> EffectTable:
    """Return the tables of a regression as a model."""
    rows, regression, features = fitted.rows, fitted.regression, [*fitted.rows.features]
    of_terms = iter([t @ regression.class_contrasts.T for t in regression.tables(fitted.weights)])
    tables, pairs = list[Array](), list[PairEffects]()
    for feature in features:
        table = np.zeros((len(feature.mass), len(rows.labels)))
        for contrasts in (feature.line, feature.smooth):
            if contrasts.shape[1]:
                table += next(of_terms)
        tables.append(table)
    of_pairs: dict[Pair, tuple[list[Positions], Array]] = {}
    for pair in fitted.pairs:
        first, second = fitted.sides[pair]
        smooth = next(of_terms).reshape(len(first.contrasts), len(second.contrasts), -1)
        of_pairs[pair] = [first.groups, second.groups], smooth
    groups_before = [np.arange(len(table)) for table in tables]
    for i in {i for table in fitted.tables for i in table.features}:
        features[i], groups_before[i] = features[i].by_exact_value(rows.weights)
        tables[i] = tables[i][groups_before[i]]
    rows = replace(rows, features=features)
    for pair, (groups, cells) in of_pairs.items():
        of_pairs[pair] = [own[groups_before[i]] for i, own in zip(pair, groups)], cells
    for own in fitted.tables:
        places = [np.asarray(features[i].places) for i in own.features]
        exact = own.effects.reshape(*map(len, places), -1)
        if len(own.features) == 1:
            tables[own.features[0]][places[0]] += exact
            continue
        pair = i, j = own.features
        cells: Array = np.zeros((len(tables[i]), len(tables[j]), len(rows.labels)))
        if pair in of_pairs:
            groups, of_smooth = of_pairs[pair]
            cells += of_smooth[np.ix_(*groups)]
        cells[np.ix_(*places)] += exact
        of_pairs[pair] = [np.arange(size) for size in cells.shape[:2]], cells
    some = rows.some(_MOMENT_ROWS)
    for pair, (groups, of_cells) in of_pairs.items():
        at = [own[features[i].groups[some]] for i, own in zip(pair, groups, strict=True)]
        squares = np.square(of_cells[at[0], at[1]]).mean(axis=1)
        if float(np.average(squares, weights=rows.weights[some])) < _LEAST_EFFECT**2:
            continue
        effects = logs_less_reference(of_cells).round(_DIGITS)
        if effects.any():
            effects = np.pad(effects, ((0, 1), (0, 1), (0, 0)))  # of unknown values
            pairs.append(PairEffects(pair, (groups[0], groups[1]), effects))
    tables = [logs_less_reference(table).round(_DIGITS) for table in tables]
    constant = np.log(rows.shares) + regression.class_contrasts @ fitted.weights[0]
    return build_effect_table(
        class_var,
        rows.labels,
        {feature.name: feature.values for feature in features},
        {feature.name: () for feature in features},
        _discretizer(features, data),
        tables=tuple(tables),
        constant=logs_less_reference(constant).round(_DIGITS),
        shares=tuple([_smoothed(feature.mass, float(rows.weights.sum())) for feature in features]),
        pairs=tuple(pairs),
        unknown=_moments(rows, tables, pairs) if len(rows.labels) > 1 else None,
        learned={"variances": fitted.variances},
    )


def _smoothed(mass: Array, size: float) -> Array:
    """Return shares with half a row more per value, so that none is 0."""
    counts = mass * size + 0.5
    return np.asarray(counts / counts.sum())


def _moments(rows: _Rows, tables: Sequence[Array], pairs: Sequence[PairEffects]) -> UnknownEffects:
    """Return the means and covariances of effects in at most 10,000 rows, for unknown values."""
    some = rows.some(_MOMENT_ROWS)
    groups: Codes = np.array([f.groups[some] for f in rows.features]).reshape(
        len(tables), len(some)
    )
    entries = [table[own] for table, own in zip(tables, groups, strict=True)]
    for pair in pairs:
        down, across = [own[groups[i]] for i, own in zip(pair.features, pair.groups, strict=True)]
        entries.append(pair.table[down, across])
    effects = np.array(entries).reshape(len(entries), len(some), len(rows.labels))
    missing = np.array(
        [own == len(f.mass) - 1 for f, own in zip(rows.features, groups, strict=True)]
    )
    is_evidence = np.array([bool(table[-1].any()) for table in tables], dtype=bool)
    missing = missing.reshape(groups.shape).astype(bool) & is_evidence[:, None]
    moments = UnknownEffects.from_rows(effects, missing, rows.weights[some], rows.shares)
    # Values that are missing in some row, even if not among these rows, are evidence.
    return replace(moments, always=~is_evidence, gaps=is_evidence)


def _discretizer(features: Sequence[Feature], data: Dataset) -> Discretizer:
    """Return the cut points and ranges of numbers, and the labels of numbers with two values."""
    own = [feature for feature in features if feature.name in data.numbers]
    points = tuple([feature.values.cuts or () for feature in own])
    labels = tuple([() if f.values.cuts is not None else f.values.labels for f in own])
    ranges = tuple([feature.range for feature in own])
    return Discretizer("steps", tuple([f.name for f in own]), points, labels, ranges)
