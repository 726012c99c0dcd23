"""Prior variances of the contrasts, which maximize the likelihood of held-out rows.

Scores with normal weights are a Gaussian process: the covariance of the scores
of two rows is K = 10 + Σ τ_type K_type, where K_type sums the products of the
contrasts of one type at the rows. So a step needs one factor of a matrix per
fold, regardless of the number of contrasts, and a sample of rows is enough.

A feature, or a pair, whose effects are larger than those of others of its type
has a factor of the variance, by the fixed point of MacKay (1992). Factors are
used if they raise the likelihood of held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..tools.arrays import Array, Positions, log_normalize, slices, softmax
from .rows import Pair, Rows

_FEW_ROWS = 20  # number of rows with which effects are halved
_OF_CONSTANT = 10.0  # prior variance of the constant
_LEAST_CURVATURE = 0.02
_CONVERGED = 0.03  # mean change of scores
_MOST_STEPS = 20
_POWERS = np.exp(np.linspace(-0.8, 0.4, 13))
_SPREAD_OF_POWER = 0.3  # standard deviation of its logarithm
_SPREAD = 2.0  # standard deviation of half the prior of ln τ
_ENOUGH = 1e-4  # fall of the loss for which a climb goes on
_SHAPE = 0.3  # prior of a factor of a variance, in degrees of freedom

_GRID = {
    "smooth": (0.003, 0.03, 0.3, 3.0, 30.0),
    "line": (0.0, 0.03, 0.3, 3.0, 30.0),
    "pair": (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0),
}
"""The prior variances that are tried, by type of contrast."""

_CENTER = {"smooth": 0.3, "line": 0.3, "pair": 0.01}
"""The mode of the prior of each variance."""

Kernel = Array | Sequence[Array]  # of all rows of the sample, or one per fold


class Variances(NamedTuple):
    """Prior variances by type of contrast, and factors of these by type and feature.

    ``alone`` are the variances without pairs, ``power`` multiplies all effects,
    and ``factors_of_pairs`` is a function of pairs.
    """

    alone: dict[str, float]
    all: dict[str, float]
    power: float
    factors: dict[tuple[str, int], float]
    factors_of_pairs: Callable[[Sequence[Pair]], Array]


def choose_variances(
    rows: Rows, possible: Sequence[Pair], most: int, *, is_fixed: bool
) -> Variances:
    """Return the variances, of at most so many pairs, with the largest held-out likelihood."""
    parts = _Parts.from_rows(rows)
    alike: dict[tuple[str, int], float] = dict.fromkeys(parts.keys, 1.0)
    if not parts.keys or len(rows.labels) < 2 or not np.ptp(rows.folds):
        pair = _CENTER["pair"] if is_fixed and possible else 0.0
        return Variances(_CENTER, {**_CENTER, "pair": pair}, 1.0, alike, _equal_factors)
    search = _Search(rows)
    search.add(**parts.kernels())
    search.climb(parts.types)
    factors: Array = np.ones(len(parts.keys))
    if len(parts.keys) > 1:
        own_kernels = [parts.kernels(parts.factors(search, v)) for v in search.numbers]
        other = search.copy()
        other.add(**{name: [own[name] for own in own_kernels] for name in parts.types})
        other.climb(parts.types)
        if other.best.loss < search.best.loss - _ENOUGH:
            search, factors = other, parts.factors(search)
    alone, factors_of_pairs = search.mean(), _equal_factors
    if possible:
        products = _Products.from_rows(rows, sorted({*np.ravel(possible).tolist()}))
        pairs_of_folds = [possible] * len(search.numbers)
        if len(possible) > most:
            pairs_of_folds = []
            for v, scores in enumerate(search.best.state):
                train = search.train(v)
                residuals = search.marks[train] - softmax(search.constant + scores, axis=1)
                pairs_of_folds.append(rows.rank_pairs(rows.sample[train], residuals)[:most])
        search.add(pair=[products.sum(pairs) for pairs in pairs_of_folds])
        for _ in range(2):
            search.climb(["pair", *parts.types])
        if search.best.variances["pair"] and len(possible) > 1:
            other = search.copy()
            of_folds = []
            for v, pairs in enumerate(pairs_of_folds):
                kernel = search.kernel_of_fold(search.best.variances, v)
                kernel = kernel[: kernel.shape[1]]
                of_folds.append(products.sum(pairs, products.factors(search, pairs, kernel, v)))
            other.add(pair=of_folds)
            if other.best.loss < search.best.loss - _ENOUGH:
                kernels, before, search = parts.kernels(factors), search, other

                def factors_of_pairs(pairs: Sequence[Pair]) -> Array:
                    variances = before.best.variances
                    kernel = _OF_CONSTANT + variances["pair"] * products.sum(pairs)
                    kernel += sum(variances[name] * own for name, own in kernels.items())
                    return products.factors(before, pairs, kernel)

    # Variances that few rows choose make effects too large, and many rows need less of a power.
    n = float(rows.weights.sum())
    variances, power = search.mean(), n / (n + _FEW_ROWS)
    power *= search.mean_power() ** min(float(len(rows.sample) / n) ** 0.5, 1.0)
    if possible and is_fixed and not variances["pair"]:
        variances["pair"] = _CENTER["pair"]
    found = dict(zip(parts.keys, factors.tolist(), strict=True))
    return Variances(alone, variances, power, found, factors_of_pairs)


def _equal_factors(pairs: Sequence[Pair]) -> Array:
    return np.ones(len(pairs))


class _Try(NamedTuple):
    """A loss, the variances, the power of the scores, and the scores of the rows of each fold."""

    loss: float
    variances: dict[str, float]
    state: list[Array]
    power: float = 1.0


class _Search:
    """A climb along each variance in turn, to the largest held-out likelihood."""

    def __init__(self, rows: Rows):
        present, sampled = np.unique(rows.classes[rows.sample], return_inverse=True)
        self.marks, self.constant = (
            np.eye(len(present))[sampled.ravel()],
            np.log(rows.shares[present]),
        )
        self.folds, self.is_held_out = rows.folds, rows.folds >= 0
        self.kernels: dict[str, list[Array]] = {}
        self.tried = list[_Try]()
        shapes = [(len(self.train(v)), len(present)) for v in self.numbers]
        state: list[Array] = [np.zeros(shape) for shape in shapes]
        self.best = _Try(np.inf, {}, state)

    @property
    def numbers(self) -> range:
        return range(int(self.folds.max()) + 1)

    def train(self, v: int | None) -> Positions:
        """Return the rows that are not in a fold, or all."""
        return np.flatnonzero(self.folds != v)

    def add(self, **kernels: Kernel) -> None:
        """Add types of contrasts, with kernels at the rows of the sample, or replace them."""
        self.kernels, variances = dict(self.kernels), dict(self.best.variances)
        for name, kernel in kernels.items():
            of_folds = [kernel] * len(self.numbers) if isinstance(kernel, np.ndarray) else kernel
            self.kernels[name] = [
                own[np.ix_(np.argsort(self.folds == v, kind="stable"), self.train(v))]
                for v, own in enumerate(of_folds)
            ]
            variances.setdefault(name, _CENTER[name])
        self.tried = []
        self.best = self._try(variances)

    def copy(self) -> _Search:
        """Return a search that goes on from the best variances so far."""
        return copy(self)

    def climb(self, names: Sequence[str]) -> None:
        for name in names:
            for direction in (1, -1):
                moved = False
                while True:
                    grid = _GRID[name]
                    i = grid.index(self.best.variances[name]) + direction
                    if not 0 <= i < len(grid):
                        break
                    new = self._try(self.best.variances | {name: grid[i]})
                    if new.loss > self.best.loss - _ENOUGH:
                        break
                    self.best, moved = new, True
                if moved:
                    break

    def mean(self) -> dict[str, float]:
        """Return each variance, averaged on the scale of logarithms over those that were tried."""
        found = dict[str, float]()
        for name in self.best.variances:
            logs = [_log_variance(name, one.variances[name]) for one in self.tried]
            value = float(np.exp(self._posterior @ logs))
            found[name] = value if name == "smooth" or value > _GRID[name][1] / 5 else 0.0
        return found

    def mean_power(self) -> float:
        """Return the power, averaged in the same way."""
        return float(np.exp(self._posterior @ np.log([one.power for one in self.tried])))

    @property
    def _posterior(self) -> Array:
        """The posterior probabilities of what was tried, proportional to exp(−n loss)."""
        losses = np.array([one.loss for one in self.tried])
        return softmax(-losses * np.count_nonzero(self.is_held_out), axis=0)

    def kernel_of_fold(self, variances: dict[str, float], v: int) -> Array:
        """Return the covariances of rows outside a fold, then inside, with those outside."""
        own = [value * self.kernels[name][v] for name, value in variances.items() if value]
        return np.asarray(_OF_CONSTANT + sum(own))

    def fit(self, kernel: Array, v: int | None, scores: Array | None = None) -> _Posterior:
        """Return the posterior of the scores of the rows outside a fold, or of all, inverted."""
        marks = self.marks[self.train(v)]
        if scores is None:
            scores = np.zeros(marks.shape) if v is None else self.best.state[v]
        return _fit_scores(kernel, marks, self.constant, scores, inverts=True)

    def _try(self, variances: dict[str, float]) -> _Try:
        for one in self.tried:
            if one.variances == variances:
                return one
        state, changes = list[Array](), np.empty(self.marks.shape)
        for v, before in enumerate(self.best.state):
            kernel, n = self.kernel_of_fold(variances, v), len(before)
            fitted = _fit_scores(kernel[:n], self.marks[self.train(v)], self.constant, before)
            state.append(fitted.scores)
            changes[self.folds == v] = kernel[n:] @ fitted.coefficients
        logs = log_normalize(self.constant + _POWERS[:, None, None] * changes[self.is_held_out])
        losses = (np.log(_POWERS) / _SPREAD_OF_POWER) ** 2 / 2
        losses -= (logs * self.marks[self.is_held_out]).sum(axis=(1, 2))
        prior = sum(
            ((_log_variance(name, value) - np.log(_CENTER[name])) / _SPREAD) ** 2 / 2
            for name, value in variances.items()
        )
        loss = float(losses.min() + prior) / np.count_nonzero(self.is_held_out)
        found = _Try(loss, variances, state, float(_POWERS[losses.argmin()]))
        self.tried.append(found)
        return found


def _log_variance(name: str, value: float) -> float:
    """Return the logarithm of a variance; 0 counts as a tenth of the smallest other one."""
    return float(np.log(max(value, _GRID[name][1] / 10)))


@dataclass(frozen=True, eq=False)
class _Parts:
    """The contrasts of single effects at the rows of the sample, (rows, contrasts), by part.

    A part has the contrasts of a type and feature, its key, and ``owners`` has
    the number of the part of each contrast.
    """

    keys: list[tuple[str, int]]
    contrasts: Array
    owners: Positions

    @classmethod
    def from_rows(cls, rows: Rows) -> _Parts:
        keys, own = list[tuple[str, int]](), [np.zeros((len(rows.sample), 0))]
        for name in ("smooth", "line"):
            for i, feature in enumerate(rows.features):
                z = getattr(feature, name)
                if z.shape[1]:
                    keys.append((name, i))
                    z = z[feature.groups[rows.sample]]
                    # Of many contrasts, as those of names, fewer have the same products.
                    own.append(z if z.shape[1] <= len(z) else np.linalg.qr(z.T)[1].T)
        owners = np.repeat(np.arange(len(keys)), [z.shape[1] for z in own[1:]])
        return cls(keys, np.hstack(own), owners)

    @property
    def types(self) -> list[str]:
        return [*dict.fromkeys(name for name, _ in self.keys)]

    def kernels(self, factors: Array | None = None) -> dict[str, Array]:
        """Return the products of the contrasts of rows, (rows, rows), by type."""
        scale = np.ones(len(self.keys)) if factors is None else factors
        types, found = np.array([name for name, _ in self.keys])[self.owners], {}
        for name in self.types:
            z = self.contrasts[:, types == name]
            found[name] = (z * scale[self.owners[types == name]]) @ z.T
        return found

    def factors(self, search: _Search, v: int | None = None) -> Array:
        """Return factors of the variances of parts, from two turns with the rows outside a fold.

        The effects of a part have the squares τ |Zᵀ α|², and τ tr (K + 1/d)⁻¹ Z Zᵀ
        is what its variance τ expects.
        """
        variances = np.array([search.best.variances[name] for name, _ in self.keys])
        factors, scores, z = np.ones(len(self.keys)), None, self.contrasts[search.train(v)]
        for _ in range(2):
            scale = factors * variances
            kernel = _OF_CONSTANT + (z * scale[self.owners]) @ z.T
            fitted = search.fit(kernel, v, scores)
            scores, n = fitted.scores, len(self.keys)
            squares = np.bincount(self.owners, ((z.T @ fitted.coefficients) ** 2).sum(axis=1), n)
            traces = np.bincount(self.owners, (z * (fitted.inverse @ z)).sum(axis=0), n)
            factors = factors * _relevances(scale * squares, scale * traces)
        return factors


def _relevances(used: Array, expected: Array) -> Array:
    """Return the ratio of squares of effects to those that a common variance expects.

    The mean of both is made the same, and ratios are shrunk to 1.
    """
    ratio = float(expected.sum()) / max(float(used.sum()), 1e-12)
    return np.asarray((_SHAPE + ratio * used) / (_SHAPE + expected))


@dataclass(frozen=True, eq=False)
class _Products:
    """The products of the contrasts of each feature at the rows of the sample.

    They are symmetric. ``kernels`` has their lower triangles, (features, pairs
    of rows), and ``packed`` the position there of each pair of rows.
    """

    kernels: Array
    packed: Positions
    places: dict[int, int]

    @classmethod
    def from_rows(cls, rows: Rows, features: Sequence[int]) -> _Products:
        n, kernels = len(rows.sample), list[Array]()
        lower, packed = np.tril_indices(n), np.empty((n, n), dtype=np.intp)
        packed[lower] = packed.T[lower] = np.arange(len(lower[0]))
        for i in features:
            z = rows.features[i].contrasts[rows.features[i].groups[rows.sample]]
            kernels.append((z @ z.T)[lower])
        return cls(np.array(kernels), packed, {i: k for k, i in enumerate(features)})

    def _at(self, pairs: Sequence[Pair]) -> tuple[Positions, Positions]:
        first, second = np.array([[self.places[i] for i in pair] for pair in pairs]).T
        return first, second

    def sum(self, pairs: Sequence[Pair], factors: Array | float = 1.0) -> Array:
        """Return Σ r k_i k_j over pairs, (rows, rows)."""
        weights = np.zeros((len(self.kernels), len(self.kernels)))
        weights[self._at(pairs)] = factors
        return np.asarray(sum_of_products(self.kernels, weights)[self.packed])

    def factors(
        self, search: _Search, pairs: Sequence[Pair], kernel: Array, v: int | None = None
    ) -> Array:
        """Return factors of the variances of pairs, as those of parts, with the kernel of all."""
        fitted, found = search.fit(kernel, v), list[Array]()
        packed = self.packed[np.ix_(search.train(v), search.train(v))].ravel()
        for own in (fitted.coefficients @ fitted.coefficients.T, fitted.inverse):
            weights = np.bincount(packed, own.ravel(), self.kernels.shape[1])
            of_all = np.zeros((len(self.kernels),) * 2)
            for block in slices(len(weights), most=2**12):
                z = self.kernels[:, block]
                of_all += (z * weights[block]) @ z.T
            found.append(search.best.variances["pair"] * of_all[self._at(pairs)])
        return _relevances(*found)


def sum_of_products(kernels: Array, weights: Array) -> Array:
    """Return Σ_ij w_ij K_i ∘ K_j, elementwise, for kernels (n, …) and weights (n, n)."""
    from scipy.sparse import csr_array  # slow to import

    first, second = [np.flatnonzero(weights.any(axis=axis)) for axis in (1, 0)]
    flat, own_weights = kernels.reshape(len(kernels), -1), weights[np.ix_(first, second)]
    times: Any = own_weights
    if own_weights.size > 4 * np.count_nonzero(own_weights):
        times = csr_array(own_weights)
    total = np.empty(flat.shape[1])
    for block in slices(len(total), most=2**12):
        own = flat[:, block]
        total[block] = np.einsum("ij,ij->j", own[first], times @ own[second])
    return total.reshape(kernels.shape[1:])


def posteriors_of(scores: Array, axis: int) -> Array:
    """Return the posteriors of finite scores, with classes along an axis."""
    found = scores - scores.max(axis=axis, keepdims=True)
    np.exp(found, out=found)
    found /= found.sum(axis=axis, keepdims=True)
    return np.asarray(found)


class _Posterior(NamedTuple):
    """The scores K α of rows, their coefficients α, and (K + 1/d)⁻¹, (rows, rows), if inverted."""

    scores: Array
    coefficients: Array
    inverse: Any = None


def _fit_scores(
    kernel: Array,
    marks: Array,
    constant: Array,
    scores: Array,
    *,
    inverts: bool = False,
    is_safe: bool = False,
) -> _Posterior:
    """Return the scores with the largest posterior density, (rows, classes), from given ones.

    Each step solves a weighted ridge regression: with the curvature d of each
    row and the residuals y − p, α = (K + 1/d)⁻¹ (f + (y − p) / d), and the
    scores are K α = f + (y − p − α) / d. The curvature is that of the steepest
    class, so that steps do not overshoot; momentum makes up for that. If scores
    of 0 are better, as with a rare class that a value makes frequent, the fit
    starts again from 0 and ``is_safe``: the curvature is the bound tanh(o / 2)
    / o of Jaakkola and Jordan (2000) for log odds o. ``marks`` are 1 in the
    class.
    """
    from scipy.linalg.lapack import dpotrf, dpotri, dpotrs  # slow to import

    ahead = scores
    for turn in range(_MOST_STEPS):
        p = posteriors_of(constant + ahead, axis=1)
        if turn in (0, 1, 3, 6, 10, 15):
            d = 2 * p * (1 - p)
            if is_safe:
                odds = np.abs(np.log(np.maximum(p, 1e-12) / np.maximum(1 - p, 1e-12))) + 1e-3
                d = np.tanh(odds / 2) / odds
            root = np.sqrt(np.maximum(d.max(axis=1), _LEAST_CURVATURE))[:, None]
            system = kernel * root
            system *= root.T
            system.flat[:: len(kernel) + 1] += 1
            factor, _ = dpotrf(system.T, lower=1, overwrite_a=1, clean=0)
        residuals = marks - p
        coefficients = root * dpotrs(factor, root * ahead + residuals / root, lower=1)[0]
        before, scores = scores, ahead + (residuals - coefficients) / root**2
        step = scores - before
        if float(np.abs(step).sum()) < _CONVERGED * step.size:
            break
        ahead = scores + turn / (turn + 3) * step
    own = (marks * posteriors_of(constant + scores, axis=1)).sum(axis=1)
    loss = (coefficients * scores).sum() / 2 - np.log(np.maximum(own, 1e-300)).sum()
    if loss > -(marks * constant).sum() and not is_safe:
        zeros = np.zeros(scores.shape)
        return _fit_scores(kernel, marks, constant, zeros, inverts=inverts, is_safe=True)
    if not inverts:
        return _Posterior(scores, coefficients)
    lower = np.tril(dpotri(factor, lower=1)[0])
    inverse = root * (lower + np.tril(lower, -1).T) * root.T
    return _Posterior(scores, coefficients, inverse)
