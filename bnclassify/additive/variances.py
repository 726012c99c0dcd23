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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..tools.arrays import Array, Mask, Positions, log_normalize, slices, softmax
from .rows import Pair, Rows

_FEW_ROWS = 20  # number of rows with which effects are halved
OF_CONSTANT = 10.0  # prior variance of the constant
_LEAST_CURVATURE = 0.02
_CONVERGED = 0.03  # mean change of scores
_MOST_STEPS = 20
_REFRESHED = (0, 1, 3, 6, 10, 15)  # steps with new curvatures
_POWERS = np.exp(np.linspace(-0.8, 0.4, 13))
_PRIOR_OF_POWERS = (np.log(_POWERS) / 0.3) ** 2 / 2  # with the standard deviation .3 of ln power
_SPREAD = 2.0  # standard deviation of the prior of ln τ
_ENOUGH = 1e-4  # fall of the loss for which a climb goes on
_SCALES = (1.0, 10.0, 100.0)  # factors of the variance of pairs that many rows may choose
_SHAPE = 0.3  # prior of a factor of a variance, in degrees of freedom

_GRID = {
    "smooth": (0.003, 0.03, 0.3, 3.0, 30.0),
    "line": (0.0, 0.03, 0.3, 3.0, 30.0),
    "pair": (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0),
}
"""The prior variances that are tried, by type of contrast."""

_CENTER = {name: values[len(values) // 2] for name, values in _GRID.items()}
"""The mode of the prior of each variance: .3, and .01 for pairs."""


class Variances(NamedTuple):
    """Prior variances by type of contrast, and factors of these by type and feature.

    Those without pairs are ``alone``, ``power`` multiplies all effects, and
    ``factors_of_pairs`` is a function of pairs.
    """

    alone: dict[str, float]
    of_types: dict[str, float]
    power: float
    factors: dict[tuple[str, int], float]
    factors_of_pairs: Callable[[Sequence[Pair]], Array]


def choose_variances(
    rows: Rows, possible: Sequence[Pair], most: int, *, is_fixed: bool
) -> Variances:
    """Return the variances, of at most so many pairs, with the largest held-out likelihood."""
    parts = _Parts.from_rows(rows)
    if not parts.keys or len(rows.labels) < 2 or not np.ptp(rows.folds):
        pair = _CENTER["pair"] if is_fixed and possible else 0.0
        power = power_of_all(rows, 1.0, len(rows.sample))
        return Variances(_CENTER, {**_CENTER, "pair": pair}, power, {}, _equal_factors)
    search = _Search(rows)
    factors: Array = np.ones(len(parts.keys))
    search.add([parts.kernels(factors)] * len(search.folds))
    search.climb(parts.types)
    if len(parts.keys) > 1:
        other = copy(search)
        single = search.best.variances
        other.add(
            [
                parts.kernels(parts.factors(single, fold, scores))
                for fold, scores in zip(search.folds, search.best.state, strict=True)
            ]
        )
        other.climb(parts.types)
        if other.best.loss < search.best.loss - _ENOUGH:
            search, factors = other, parts.factors(single, search.all, search.all.start)
    alone, factors_of_pairs = search.mean(), _equal_factors
    if possible:
        in_pairs = {*np.ravel(possible).tolist()}
        products = _Products.from_rows(rows, [i for i in rows.order_of_features if i in in_pairs])
        pairs_of_folds = [possible] * len(search.folds)
        if len(possible) > most:
            pairs_of_folds = []
            for fold, scores in zip(search.folds, search.best.state, strict=True):
                n, sampled = fold.n_train, rows.sample[fold.train]
                residuals = fold.marks[:n] - softmax(fold.constant + scores, axis=1)
                ranked = rows.rank_pairs(sampled, np.ones(n), residuals)
                pairs_of_folds.append(ranked[:most])
        search.add([{"pair": products.sum(pairs)} for pairs in pairs_of_folds])
        search.climb(["pair", *parts.types])
        if search.best.variances["pair"] and len(possible) > 1:
            other = copy(search)
            variances, added = search.best.variances, list[dict[str, Array]]()
            for fold, scores, kernels, pairs in zip(
                search.folds, search.best.state, search.kernels, pairs_of_folds, strict=True
            ):
                own = products.factors(pairs, variances, fold, _kernel(kernels, variances), scores)
                added.append({"pair": products.sum(pairs, own)})
            other.add(added)
            if other.best.loss < search.best.loss - _ENOUGH:
                search = other

                def factors_of_pairs(pairs: Sequence[Pair]) -> Array:
                    kernels = parts.kernels(factors) | {"pair": products.sum(pairs)}
                    kernel, fold = _kernel(kernels, variances), search.all
                    return products.factors(pairs, variances, fold, kernel, fold.start)

    means, power = search.mean(), power_of_all(rows, search.mean_power(), len(rows.sample))
    if possible and is_fixed and not means["pair"]:
        means["pair"] = _CENTER["pair"]
    found = dict(zip(parts.keys, factors.tolist(), strict=True))
    return Variances(alone, means, power, found, factors_of_pairs)


def power_of_all(rows: Rows, power: float, n_sample: int) -> float:
    """Return the power of the effects of all rows, from that of a sample.

    Variances that few rows choose make effects too large, and many rows need
    less of a power.
    """
    n = float(rows.weights.sum())
    power **= min((n_sample / n) ** 0.5, 1.0)
    return round(power * n / (n + _FEW_ROWS), 2)


def _equal_factors(pairs: Sequence[Pair]) -> Array:
    return np.ones(len(pairs))


class _Try(NamedTuple):
    """A loss, the variances, the power of the scores, and the scores of the rows of each fold."""

    loss: float
    variances: dict[str, float]
    state: list[Array]
    power: float = 1.0


@dataclass(frozen=True, eq=False)
class _Fold:
    """The positions of rows that train, then of rows that are held out, and 1 in their class."""

    rows: Positions
    n_train: int
    marks: Array
    constant: Array

    @classmethod
    def of_rows(cls, classes: Positions, shares: Array, is_held_out: Mask) -> _Fold:
        present, of_rows = np.unique(classes, return_inverse=True)
        rows = np.argsort(is_held_out, kind="stable")
        marks = np.eye(len(present))[of_rows.ravel()[rows]]
        return cls(rows, int(np.count_nonzero(~is_held_out)), marks, np.log(shares[present]))

    @property
    def train(self) -> Positions:
        return self.rows[: self.n_train]

    @property
    def start(self) -> Array:
        """Scores of 0 of the rows that train."""
        return np.zeros(self.marks[: self.n_train].shape)

    def fit(self, kernel: Array, scores: Array, *, inverts: bool = False) -> _Posterior:
        """Return the scores of rows that train, from given ones."""
        n = self.n_train
        return _fit_scores(kernel[:n], self.marks[:n], self.constant, scores, inverts=inverts)

    def losses(self, kernel: Array, fitted: _Posterior) -> Array:
        """Return the loss of rows that are held out, by power of the effects."""
        n = self.n_train
        changes = kernel[n:] @ fitted.coefficients
        logs = log_normalize(self.constant + _POWERS[:, None, None] * changes)
        return np.asarray(-(logs * self.marks[n:]).sum(axis=(1, 2)))


class _Search:
    """A climb along each variance in turn, to the largest held-out likelihood."""

    def __init__(self, rows: Rows):
        classes, folds = rows.classes[rows.sample], range(int(rows.folds.max()) + 1)
        self.folds = [_Fold.of_rows(classes, rows.shares, rows.folds == v) for v in folds]
        self.all = _Fold.of_rows(classes, rows.shares, np.zeros(len(classes), dtype=bool))
        self.n_held_out = int(np.count_nonzero(rows.folds >= 0))
        self.kernels: list[dict[str, Array]] = [{} for _ in self.folds]
        self.tried = list[_Try]()
        self.best = _Try(np.inf, {}, [fold.start for fold in self.folds])

    def add(self, of_folds: Sequence[dict[str, Array]]) -> None:
        """Add types of contrasts, with kernels at the rows of the sample, or replace them.

        The search keeps the covariances of rows that train, then of others, with the former.
        """
        self.kernels = [
            before | {name: kernel[np.ix_(fold.rows, fold.train)] for name, kernel in own.items()}
            for fold, before, own in zip(self.folds, self.kernels, of_folds, strict=True)
        ]
        self.tried = []
        self.best = self._try(
            {name: _CENTER[name] for name in self.kernels[0]} | self.best.variances
        )

    def climb(self, names: Sequence[str]) -> None:
        for name in names:
            before = self.best
            for direction in (1, -1):
                if self.best is before:
                    while (new := self._step(name, direction)) is not None:
                        self.best = new

    def _step(self, name: str, direction: int) -> _Try | None:
        """Try the next value of a variance, and return it if it is better."""
        i = _GRID[name].index(self.best.variances[name]) + direction
        if not 0 <= i < len(_GRID[name]):
            return None
        new = self._try(self.best.variances | {name: _GRID[name][i]})
        return new if new.loss <= self.best.loss - _ENOUGH else None

    def mean(self) -> dict[str, float]:
        """Return each variance, averaged on the scale of logarithms over those that were tried."""
        found = dict[str, float]()
        for name in self.best.variances:
            logs = [_log_variance(name, one.variances[name]) for one in self.tried]
            value = _rounded(np.exp(self._posterior @ logs))
            found[name] = value if name == "smooth" or value > _GRID[name][1] / 5 else 0.0
        return found

    def mean_power(self) -> float:
        """Return the power, averaged in the same way."""
        return float(np.exp(self._posterior @ np.log([one.power for one in self.tried])))

    @property
    def _posterior(self) -> Array:
        """The posterior probabilities of the variances tried, proportional to exp(−n loss)."""
        return softmax(-self.n_held_out * np.array([one.loss for one in self.tried]), axis=0)

    def _try(self, variances: dict[str, float]) -> _Try:
        for one in self.tried:
            if one.variances == variances:
                return one
        state = list[Array]()
        losses: Array = _PRIOR_OF_POWERS
        for fold, kernels, before in zip(self.folds, self.kernels, self.best.state, strict=True):
            kernel = _kernel(kernels, variances)
            fitted = fold.fit(kernel, before)
            state.append(fitted.scores)
            losses = losses + fold.losses(kernel, fitted)
        prior = sum(
            ((_log_variance(name, value) - np.log(_CENTER[name])) / _SPREAD) ** 2 / 2
            for name, value in variances.items()
        )
        loss = float(losses.min() + prior) / self.n_held_out
        found = _Try(loss, variances, state, float(_POWERS[losses.argmin()]))
        self.tried.append(found)
        return found


def scale_of_pairs(
    kernels: tuple[Array, Array], classes: Positions, shares: Array
) -> tuple[float, float]:
    """Return a factor of the variance of pairs, and a power, from more rows than the search has.

    Many rows often favor larger effects of pairs than the 400 of the search.
    The ``kernels`` of single effects and of pairs, (rows, n), are those of rows
    with the first n, of which the others are predicted; ``classes`` are those of
    rows. The factor is the mean of 1, 10 and 100 by their posterior
    probabilities, on the scale of logarithms, as is the power.
    """
    n = kernels[0].shape[1]
    fold = _Fold.of_rows(classes, shares, np.arange(len(classes)) >= n)
    scores: Array = np.zeros(fold.marks[:n].shape)
    losses, powers = list[float](), list[float]()
    for factor in _SCALES:
        kernel = OF_CONSTANT + kernels[0] + np.float32(factor) * kernels[1]
        fitted = fold.fit(kernel, scores)
        scores, by_power = fitted.scores, _PRIOR_OF_POWERS + fold.losses(kernel, fitted)
        losses.append(float(by_power.min()) + (np.log(factor) / _SPREAD) ** 2 / 2)
        powers.append(float(_POWERS[by_power.argmin()]))
    scale, power = np.exp(np.log([_SCALES, powers]) @ softmax(-np.array(losses), axis=0))
    return _rounded(scale), float(power)


def _kernel(kernels: dict[str, Array], variances: dict[str, float]) -> Array:
    """Return the covariances of rows, the sum of variances times products of contrasts."""
    total = np.full_like(kernels["smooth"], OF_CONSTANT)
    for name, kernel in kernels.items():
        if variances[name]:
            total += np.float32(variances[name]) * kernel
    return total


def _rounded(value: Any) -> float:
    """Return a number with two digits, which do not change with the order of rows and columns."""
    return float(f"{value:.2g}")


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
            for i in rows.order_of_features:
                feature = rows.features[i]
                z = getattr(feature, name)
                if z.shape[1]:
                    keys.append((name, i))
                    z = z[feature.groups[rows.sample]]
                    # If contrasts outnumber rows, as those of names do, R has the same products.
                    own.append(z if z.shape[1] <= len(z) else np.linalg.qr(z.T)[1].T)
        owners = np.repeat(np.arange(len(keys)), [z.shape[1] for z in own[1:]])
        return cls(keys, np.hstack(own).astype("f"), owners)

    @property
    def types(self) -> list[str]:
        return [*dict.fromkeys(name for name, _ in self.keys)]

    def kernels(self, factors: Array) -> dict[str, Array]:
        """Return the products of the contrasts of rows, (rows, rows), by type."""
        types, found = np.array([name for name, _ in self.keys])[self.owners], {}
        for name in self.types:
            z = self.contrasts[:, types == name]
            found[name] = (z * factors[self.owners[types == name]].astype("f")) @ z.T
        return found

    def factors(self, variances: dict[str, float], fold: _Fold, scores: Array) -> Array:
        """Return factors of the variances of parts, in two turns with the rows that train.

        The effects of a part have the squares τ |Zᵀ α|², and τ tr (K + 1/d)⁻¹ Z Zᵀ is what its
        variance τ expects.
        """
        z = self.contrasts[fold.train]
        of_keys = np.array([variances[name] for name, _ in self.keys])
        factors: Array = np.ones(len(self.keys))
        for _ in range(2):
            kernel = _kernel(replace(self, contrasts=z).kernels(factors), variances)
            fitted = fold.fit(kernel, scores, inverts=True)
            scores = fitted.scores
            squares = ((z.T @ fitted.coefficients) ** 2).sum(axis=1)
            traces = (z * (fitted.inverse @ z)).sum(axis=0)
            used, expected = [
                factors * of_keys * np.bincount(self.owners, own, len(factors))
                for own in (squares, traces)
            ]
            factors = factors * _relevances(used, expected)
        return factors


def _relevances(used: Array, expected: Array) -> Array:
    """Return the ratio of squares of effects to those that a common variance expects.

    The mean of both is made the same, and ratios are shrunk to 1.
    """
    ratio = float(expected.sum()) / max(float(used.sum()), 1e-12)
    return np.array([*map(_rounded, (_SHAPE + ratio * used) / (_SHAPE + expected))])


@dataclass(frozen=True, eq=False)
class _Products:
    """The products of the contrasts of each feature at the sample, (features, rows, rows)."""

    kernels: Array
    places: dict[int, int]

    @classmethod
    def from_rows(cls, rows: Rows, features: Sequence[int]) -> _Products:
        kernels = np.empty((len(features), len(rows.sample), len(rows.sample)), dtype="f")
        for i, kernel in zip(features, kernels, strict=True):
            z = rows.features[i].contrasts[rows.features[i].groups[rows.sample]].astype("f")
            np.matmul(z, z.T, out=kernel)
        return cls(kernels, {i: k for k, i in enumerate(features)})

    def _at(self, pairs: Sequence[Pair]) -> tuple[Positions, Positions]:
        first, second = np.sort([[self.places[i] for i in pair] for pair in pairs], axis=1).T
        return first, second

    def sum(self, pairs: Sequence[Pair], factors: Array | float = 1.0) -> Array:
        """Return Σ r k_i k_j over pairs, (rows, rows)."""
        weights = np.zeros((len(self.kernels), len(self.kernels)))
        weights[self._at(pairs)] = factors
        return sum_of_products(self.kernels, weights)

    def factors(
        self,
        pairs: Sequence[Pair],
        variances: dict[str, float],
        fold: _Fold,
        kernel: Array,
        scores: Array,
    ) -> Array:
        """Return factors of the variances of pairs, as those of parts, in one turn."""
        rows, fitted = fold.train, fold.fit(kernel, scores, inverts=True)
        found = list[Array]()
        for own in (fitted.coefficients @ fitted.coefficients.T, fitted.inverse):
            of_all = np.zeros((len(self.kernels),) * 2)
            weights = np.zeros(self.kernels.shape[1:], dtype="f")
            weights[np.ix_(rows, rows)] = 2 * np.tril(own, -1) + np.diag(own.diagonal())
            for i in rows.tolist():  # products are symmetric
                z = self.kernels[:, i, : i + 1]
                of_all += (z * weights[i, : i + 1]) @ z.T
            found.append(variances["pair"] * of_all[self._at(pairs)])
        return _relevances(*found)


def sum_of_products(kernels: Array, weights: Array) -> Array:
    """Return Σ_ij w_ij K_i ∘ K_j, elementwise, for kernels (n, …) and weights (n, n)."""
    from scipy.sparse import csr_array  # slow to import

    first, second = [np.flatnonzero(weights.any(axis=axis)) for axis in (1, 0)]
    flat = kernels.reshape(len(kernels), -1)
    own_weights = weights[np.ix_(first, second)].astype(kernels.dtype)
    times: Any = own_weights
    if own_weights.size > 4 * np.count_nonzero(own_weights):
        times = csr_array(own_weights)
    total = np.empty(flat.shape[1], dtype=kernels.dtype)
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
    from scipy.linalg.lapack import spotrf, spotri, spotrs  # slow to import

    ahead = scores
    for turn in range(_MOST_STEPS):
        p = posteriors_of(constant + ahead, axis=1)
        if turn in _REFRESHED:
            d = 2 * p * (1 - p)
            if is_safe:
                odds = np.abs(np.log(np.maximum(p, 1e-12) / np.maximum(1 - p, 1e-12))) + 1e-3
                d = np.tanh(odds / 2) / odds
            root = np.sqrt(np.maximum(d.max(axis=1), _LEAST_CURVATURE))[:, None]
            system = kernel * root.astype("f")
            system *= root.T.astype("f")
            system.flat[:: len(kernel) + 1] += 1
            factor, _ = spotrf(system.T, lower=1, overwrite_a=1, clean=0)
        residuals = marks - p
        coefficients = root * spotrs(factor, root * ahead + residuals / root, lower=1)[0]
        before, scores = scores, ahead + (residuals - coefficients) / root**2
        step = scores - before
        if float(np.abs(step).sum()) < _CONVERGED * step.size:
            break
        ahead = scores + turn / (turn + 3) * step
    own = (marks * posteriors_of(constant + scores, axis=1)).sum(axis=1)
    loss = (coefficients * scores).sum() / 2 - np.log(np.maximum(own, 1e-300)).sum()
    if loss > -(marks * log_normalize(constant)).sum() and not is_safe:
        zeros = np.zeros(scores.shape)
        return _fit_scores(kernel, marks, constant, zeros, inverts=inverts, is_safe=True)
    if not inverts:
        return _Posterior(scores, coefficients)
    # From the lower triangle, OpenBLAS crashes on processors that it does not know.
    upper = np.triu(spotri(factor.T, lower=0)[0])
    inverse = root * (upper + np.triu(upper, 1).T) * root.T
    return _Posterior(scores, coefficients, inverse)
