"""Powers of tables that maximize the likelihood of the classes of held-out rows.

The score of a class is linear in the powers, and ln P(y) = score(y) − ln Σ_k exp score(k), so the
problems are concave and have one optimum each. Scores are given as log odds, called odds in the
text below: the scores of the other classes minus that of the first, which give the posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.arrays import BLOCK_CELLS, Array, Codes, Mask, log_sum_exp, slices

COMMON_PRECISION = 1.0
"""Precision of the normal prior of the common power, whose mean is 1."""

PRECISION = 3.0
"""Precision of the normal priors of the powers of single terms, whose mean is the common power."""

_CLOSE = 1e-14  # tolerance of the value: twice the gain of the last step of Newton's method
_MOST_ROUNDS = 10  # of conjugate gradients, after which the Hessian is computed again
_PRODUCTS = 3e9  # of the computation of a Hessian; beyond it, a subset of rows is used
_MOST_POWERS = 2**11  # of a Hessian; beyond it, its diagonal is used

Solve = Callable[[Array], Array]


def log_odds_of_scores(logs: Array) -> Array:
    """Return the scores of the other classes minus that of the first, (…, classes − 1, rows).

    ``logs`` are (…, rows, classes).
    """
    by_class = logs.swapaxes(-1, -2)
    return np.subtract(by_class[..., 1:, :], by_class[..., :1, :], order="C")


def log_likelihood(total: Array, classes: Codes, weights: Array) -> float:
    """Return Σ v ln P(y) for the odds of rows, (classes − 1, rows), and their classes."""
    return float(weights @ (_log_odds_of_own_class(total, classes) - _log_sum_of_odds(total)))


def _log_odds_of_own_class(total: Array, classes: Codes) -> Array:
    """Return the odds of the class of each row, which are 0 for the first class."""
    if not len(total):
        return np.zeros(len(classes))
    own: Array = total[np.maximum(classes, 1) - 1, np.arange(len(classes))]
    return np.where(classes == 0, 0.0, own)


def _log_sum_of_odds(total: Array) -> Array:
    """Return ln(1 + Σ exp log odds) of each row."""
    return log_sum_exp(np.concatenate([np.zeros((1, total.shape[1])), total]), axis=0)


@dataclass(frozen=True)
class Powers:
    """The best powers of terms: a common one, one per term, (terms,), and the objective."""

    common: float
    single: Array
    objective: float
    log_likelihood: float


def best_powers(
    terms: Array, classes: Codes, weights: Array, start: Powers | None = None
) -> Powers:
    """Return the best common power of terms, and the best powers around it.

    The common power τ maximizes Σ v ln P(y) − ½ (τ − 1)², with all powers τ. The powers w of single
    terms maximize Σ v ln P(y) − (3/2) Σ (w − τ)². ``terms`` are (terms, classes − 1, rows) odds,
    and ``weights`` count the rows. The search may start from the powers of similar terms.
    """
    begin = 1.0 if start is None else start.common
    common = best_common_power(terms.sum(axis=0), classes, weights, begin)
    mean = np.full(len(terms), common)
    problem = _Problem(terms, classes, weights, mean, PRECISION)
    single, total = problem.best_powers(mean if start is None else start.single)
    likelihood = log_likelihood(total, classes, weights)
    penalty = PRECISION / 2 * float(((single - common) ** 2).sum())
    return Powers(common, single, likelihood - penalty, likelihood)


def best_common_power(total: Array, classes: Codes, weights: Array, start: float = 1.0) -> float:
    """Return the best power of the sum of all terms, (classes − 1, rows) odds."""
    problem = _Problem(total[None], classes, weights, np.ones(1), COMMON_PRECISION)
    [power], _ = problem.best_powers(np.array([start]))
    return float(power)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Terms, (terms, classes − 1, rows), and the prior mean and precision of their powers."""

    terms: Array
    classes: Codes
    counts: Array
    mean: Array
    precision: float

    def best_powers(self, start: Array) -> tuple[Array, Array]:
        """Return powers w that maximize Σ v ln P(y) − ½ Σ λ (w − mean)², and the odds of rows.

        Newton's method with steps halved until the objective increases.
        Conjugate gradients find the steps, with an earlier Hessian, possibly of
        a subset of rows, as preconditioner.
        """
        powers, total = start, self._odds(start)
        value, logs = self._objective(powers, total)
        size = float(self.counts.sum())  # rounding errors of the value grow with it
        solve: Solve | None = None
        for _ in range(200):
            posteriors = np.exp(total - logs)
            slope = self._slope(posteriors, powers)
            if solve is None:
                solve = self._solver(posteriors)
            step, rounds = self._step(posteriors, slope, solve)
            move, gain, length = self._odds(step), float(slope @ step), 1.0
            for _ in range(40):
                reached, logs = self._objective(powers + length * step, total + length * move)
                if reached >= value - 1e-13 * max(abs(value), size):
                    break
                length /= 2
            else:
                break
            powers, total, value = powers + length * step, total + length * move, reached
            if gain <= _CLOSE * max(1.0, abs(value)):
                break
            if length < 1 or rounds > _MOST_ROUNDS:
                solve = None
        return powers, total

    def _odds(self, powers: Array) -> Array:
        return np.tensordot(powers, self.terms, 1)

    def _objective(self, powers: Array, total: Array) -> tuple[float, Array]:
        """Return the objective, and ln Σ exp of the scores of each row."""
        logs = _log_sum_of_odds(total)
        likelihood = self.counts @ (_log_odds_of_own_class(total, self.classes) - logs)
        penalty = self.precision / 2 * float(((powers - self.mean) ** 2).sum())
        return float(likelihood) - penalty, logs

    def _slope(self, posteriors: Array, powers: Array) -> Array:
        """Return the derivative of the objective; posteriors exclude the first class."""
        is_own: Mask = self.classes == np.arange(1, len(posteriors) + 1)[:, None]
        residuals = (is_own - posteriors) * self.counts
        return self._sums(residuals) - self.precision * (powers - self.mean)

    def _sums(self, factors: Array) -> Array:
        """Return the sums over classes and rows of factors times each term, (terms,)."""
        return np.asarray(self.terms.reshape(len(self.terms), factors.size) @ factors.ravel())

    def _solver(self, posteriors: Array) -> Solve:
        """Return a function that solves (H + Λ) x = slope, H being minus the Hessian."""
        from scipy.linalg import cho_factor, cho_solve  # slow to import

        k, others, n = self.terms.shape
        if k > _MOST_POWERS:  # the variance of each term over the classes
            mean: Array = np.einsum("tkr,kr->tr", self.terms, posteriors)
            square: Array = np.einsum("tkr,tkr,kr->tr", self.terms, self.terms, posteriors)
            diagonal = (square - mean**2) @ self.counts + self.precision
            return lambda slope: slope / diagonal
        step = -(-n // max(2 * k, int(_PRODUCTS / max(1, others * k**2))))
        some = self.counts[::step]
        counts = some * float(self.counts.sum() / max(some.sum(), 1e-300))
        information = self.precision * np.eye(k)
        for block in slices(len(counts), k * others, max(BLOCK_CELLS, k * k)):
            shares = posteriors[:, ::step][:, block]
            root = _information_factor(self.terms[..., ::step][..., block], counts[block], shares)
            information += root @ root.T
        jitter = 1e-12 * float(np.diagonal(information).max())  # for weights that differ much
        factor = cho_factor(information + jitter * np.eye(k))
        return lambda slope: np.asarray(cho_solve(factor, slope))

    def _step(self, posteriors: Array, slope: Array, solve: Solve) -> tuple[Array, int]:
        """Return the solution of (H + Λ) x = slope by conjugate gradients, and their number."""
        residual, step = slope, solve(slope)
        direction, result, size = step, np.zeros_like(slope), float(slope @ step)
        first, rounds = size, 0
        # 1e-2: reduction of the squared error of a step by conjugate gradients
        while rounds <= len(slope) and size > 1e-2 * first:
            rounds += 1
            spread = self._odds(direction)
            spread -= (posteriors * spread).sum(axis=0)
            product = self._sums(spread * posteriors * self.counts) + self.precision * direction
            height = float(direction @ product)
            if height <= 1e-200:  # the slope is a rounding error
                break
            length = size / height
            result, residual = result + length * direction, residual - length * product
            step = solve(residual)
            size, before = float(residual @ step), size
            direction = step + size / before * direction
        return result, rounds


def _information_factor(terms: Array, weights: Array, posteriors: Array) -> Array:
    """Return A with A Aᵀ = Σ v (Σ_k p_k x_k x_kᵀ − x̄ x̄ᵀ), (terms, (classes − 1) · rows).

    A row has the columns √(v p_k) (x_k − α x̄) with x̄ = Σ p_k x_k, s = Σ p_k, α s = 1 − √(1 − s).
    """
    total: Array = posteriors.sum(axis=0)
    share: Array = (1 - np.sqrt(np.maximum(1 - total, 0.0))) / np.where(total > 0, total, 1.0)
    root: Array = terms - np.einsum("tkr,kr->tr", terms, posteriors * share)[:, None]
    root *= np.sqrt(posteriors * weights)
    return root.reshape(len(terms), posteriors.size)
