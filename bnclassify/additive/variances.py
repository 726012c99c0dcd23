"""Prior variances of the contrasts, which maximize the likelihood of held-out rows.

Scores with normal weights are a Gaussian process: the covariance of the scores
of two rows is K = 10 + Σ τ_type K_type, where K_type sums the products of the
contrasts of one type at the rows. So a sample of 500 rows is enough, regardless
of the number of contrasts, and a step needs one factor of a matrix per fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from ..base.arrays import Array, Positions, log_normalize, softmax
from .contrasts import Feature

SAMPLE = 400  # number of rows
FOLDS = 5
_MOST_CLASSES = 20
OF_CONSTANT = 10.0  # prior variance of the constant
_LEAST_CURVATURE = 0.02
_CONVERGED = 0.03  # mean change of scores
_MOST_STEPS = 20
_POWERS = np.exp(np.linspace(-0.8, 0.4, 13)).tolist()
_SPREAD_OF_POWER = 0.3  # standard deviation of its logarithm
_SPREAD = 2.0  # standard deviation of half the prior of ln τ
ENOUGH = 1e-4  # fall of the loss for which a climb goes on

GRID = {
    "smooth": (0.003, 0.03, 0.3, 3.0, 30.0),
    "line": (0.0, 0.03, 0.3, 3.0, 30.0),
    "pair": (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0),
}
"""The prior variances that are tried, by type of contrast."""

CENTER = {"smooth": 0.3, "line": 0.3, "pair": 0.01}
"""The mode of the prior of each variance."""

Kernel = Array | Sequence[Array]  # of all rows of the sample, or one per fold


def order_by_contents(
    features: Sequence[Feature], classes: Positions, share: Array, weights: Array
) -> Positions:
    """Return an order of the rows, by classes, that follows their contents alone.

    It does not depend on the order of rows and columns, or on the names of
    columns, levels and classes, so that no sample of rows does.
    """
    color = classes * 0
    # Rows have the same color if their values are as frequent, in each class; then, if these occur
    # in rows of the same colors, and so on. Colors are whole numbers, so that sums are exact.
    for _ in range(3):
        marks = np.empty((len(features), len(classes)))
        for feature, of_rows in zip(features, marks, strict=True):
            totals = np.bincount(feature.groups, weights * (color + 1.0) ** 2, len(feature.mass))
            mark = 2 + feature.mass + totals / float(weights.sum()) ** 3
            if feature.values.cuts is not None:
                mark += feature.mass.cumsum()
            of_rows[:] = np.sqrt(mark)[feature.groups]
        mixed = np.sort(marks, axis=0).sum(axis=0) + np.sqrt(2 + share)[classes]
        color = np.unique(mixed * 1e4 % 1, return_inverse=True)[1].ravel()
    # Rows of one color can be exchanged, if all rows are: the order of levels decides for all.
    for feature, of_rows in zip(features, marks, strict=True):
        column = float(feature.mass @ np.bincount(feature.groups, of_rows, len(feature.mass)))
        of_rows[:] = np.sqrt(column + feature.groups)
    exchangeable = np.sort(marks, axis=0).sum(axis=0)
    return np.lexsort((exchangeable, color, np.argsort(np.argsort(share, kind="stable"))[classes]))


def sample_in_folds(
    order: Positions, classes: Positions, share: Array, weights: Array, cases: Positions | None
) -> tuple[Positions, Positions]:
    """Return rows in proportion to their weights, and the fold of each.

    They are of the most frequent classes, so that each of many has several rows
    as among all rows. The rows of a case are in one fold.
    """
    frequent = np.argsort(-share, kind="stable")[:_MOST_CLASSES]
    order = order[np.isin(classes[order], frequent)]
    ends = weights[order].cumsum()
    size = int(min(SAMPLE, max(round(float(ends[-1])), 1)))
    # At equal distances of weight: a row of weight 2 is as two rows.
    points = (np.arange(size) + 0.5) * (ends[-1] / size)
    rows = order[np.minimum(np.searchsorted(ends, points), len(order) - 1)]
    place = np.arange(size)
    if cases is not None:
        _, first, place = np.unique(cases[rows], return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[place.ravel()]
    return rows, place % FOLDS


class _Try(NamedTuple):
    """A loss, the variances, the power of the scores, and the scores of the rows of each fold."""

    loss: float
    variances: dict[str, float]
    state: list[Array]
    power: float = 1.0


class VarianceSearch:
    """A climb along each variance in turn, to the largest held-out likelihood."""

    def __init__(self, marks: Array, constant: Array, folds: Positions, n_features: int):
        self.marks, self.constant, self.folds = marks, constant, folds
        # Many features share the variance of a score.
        self.start = 1.0 if n_features <= 30 else 0.1
        self.kernels: dict[str, Kernel] = {}
        self.tried = list[_Try]()
        zeros = [np.zeros((np.count_nonzero(folds != v), len(constant))) for v in self.numbers]
        self.best = _Try(np.inf, {}, zeros)

    @property
    def numbers(self) -> range:
        return range(int(self.folds.max()) + 1)

    def add(self, **kernels: Kernel) -> None:
        """Add types of contrasts, with kernels at the rows of the sample."""
        self.kernels |= kernels
        variances = dict(self.best.variances)
        for name in kernels:
            variances.setdefault(name, CENTER[name] * (1.0 if name == "pair" else self.start))
        self.tried = []
        self.best = self._try(variances)

    def copy(self) -> VarianceSearch:
        """Return a search that goes on from the best variances so far."""
        other = copy(self)
        other.kernels = dict(self.kernels)
        return other

    def climb(self, names: Sequence[str]) -> None:
        for name in names:
            for direction in (1, -1):
                moved = False
                while True:
                    grid = GRID[name]
                    i = grid.index(self.best.variances[name]) + direction
                    if not 0 <= i < len(grid):
                        break
                    new = self._try(self.best.variances | {name: grid[i]})
                    if new.loss > self.best.loss - ENOUGH:
                        break
                    self.best, moved = new, True
                if moved:
                    break

    def mean(self) -> dict[str, float]:
        """Return each variance, averaged on the scale of logarithms over those that were tried.

        The weights are posterior probabilities, proportional to exp(−n loss).
        The power is averaged in the same way.
        """
        losses = np.array([one.loss for one in self.tried])
        weights = np.exp((losses.min() - losses) * len(self.folds))
        weights /= weights.sum()
        found = {"power": float(np.exp(weights @ np.log([one.power for one in self.tried])))}
        for name in self.best.variances:
            logs = [_log_variance(name, one.variances[name]) for one in self.tried]
            value = float(np.exp(weights @ logs))
            found[name] = value if name == "smooth" or value > GRID[name][1] / 5 else 0.0
        return found

    def kernel_of_fold(self, variances: dict[str, float], v: int) -> Array:
        """Return the covariances of the scores of all rows of the sample."""
        total = np.full((len(self.folds), len(self.folds)), OF_CONSTANT)
        for name, value in variances.items():
            kernel = self.kernels[name]
            if value:
                total += value * (kernel if isinstance(kernel, np.ndarray) else kernel[v])
        return total

    def _try(self, variances: dict[str, float]) -> _Try:
        state, changes = list[Array](), np.empty(self.marks.shape)
        for v, before in enumerate(self.best.state):
            train, test = np.flatnonzero(self.folds != v), np.flatnonzero(self.folds == v)
            kernel = self.kernel_of_fold(variances, v)
            own = kernel[np.ix_(train, train)]
            fitted = fit_scores(own, self.marks[train], self.constant, before)
            state.append(fitted.scores)
            changes[test] = kernel[np.ix_(test, train)] @ fitted.coefficients
        losses = []
        for power in _POWERS:
            logs = log_normalize(self.constant + power * changes)
            penalty = (np.log(power) / _SPREAD_OF_POWER) ** 2 / 2
            losses.append((float(penalty - (logs * self.marks).sum()), power))
        loss, power = min(losses)
        prior = sum(
            ((_log_variance(name, value) - np.log(CENTER[name])) / _SPREAD) ** 2 / 2
            for name, value in variances.items()
        )
        found = _Try((loss + prior) / len(changes), variances, state, power)
        self.tried.append(found)
        return found


def _log_variance(name: str, value: float) -> float:
    """Return the logarithm of a variance; 0 counts as a tenth of the smallest other one."""
    return float(np.log(max(value, GRID[name][1] / 10)))


class Posterior(NamedTuple):
    """The scores K α of rows, their coefficients α, and (K + 1/d)⁻¹, (rows, rows), if inverted."""

    scores: Array
    coefficients: Array
    inverse: Array | None = None


def fit_scores(
    kernel: Array, marks: Array, constant: Array, scores: Array, *, inverts: bool = False
) -> Posterior:
    """Return the scores with the largest posterior density, (rows, classes), from given ones.

    Each step solves a weighted ridge regression: with the curvature d of each
    row and the residuals y − p, the scores are K α, α = (K + 1/d)⁻¹ (f + (y −
    p) / d). The curvature is that of the steepest class, so that steps do not
    overshoot; momentum makes up for that. ``marks`` are 1 in the class.
    """
    from scipy.linalg.lapack import dpotrf, dpotri, dpotrs  # slow to import

    ahead = scores
    for turn in range(_MOST_STEPS):
        p = softmax(constant + ahead, axis=1)
        if turn in (0, 1, 3, 6, 10, 15):
            root = np.sqrt(np.maximum((2 * p * (1 - p)).max(axis=1), _LEAST_CURVATURE))[:, None]
            system = root * kernel * root.T
            system[np.diag_indices(len(kernel))] += 1
            factor, _ = dpotrf(system, lower=1, overwrite_a=1)
        coefficients = root * dpotrs(factor, root * ahead + (marks - p) / root, lower=1)[0]
        before, scores = scores, kernel @ coefficients
        if float(np.abs(scores - before).mean()) < _CONVERGED:
            break
        ahead = scores + turn / (turn + 3) * (scores - before)
    if not inverts:
        return Posterior(scores, coefficients)
    lower = np.tril(dpotri(factor, lower=1)[0])
    inverse = root * (lower + np.tril(lower, -1).T) * root.T
    return Posterior(scores, coefficients, inverse)
