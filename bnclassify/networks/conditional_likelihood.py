"""Powers of tables that maximize the likelihood of the classes of held-out rows.

The score of a class is linear in the powers, and ln P(y) = score(y) − ln Σ_k exp score(k), so the
problems are concave and have one optimum each, which a truncated Newton method finds. Scores are
given as log odds, called odds below: those of the other classes minus that of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..tools.arrays import Array, Codes, Mask, log_sum_exp

COMMON_PRECISION = 1.0
"""Precision of the normal prior of the common power, whose mean is 1."""

PRECISION = 3.0
"""Precision of the normal priors of the powers of single terms, whose mean is the common power."""


def log_odds_of_scores(logs: Array) -> Array:
    """Return the scores of the other classes minus that of the first, (…, classes − 1, rows).

    ``logs`` are (…, rows, classes).
    """
    by_class = logs.swapaxes(-1, -2)
    return np.subtract(by_class[..., 1:, :], by_class[..., :1, :], order="C")


def log_likelihood(total: Array, classes: Codes, weights: Array) -> float:
    """Return Σ v ln P(y) for the odds of rows, (classes − 1, rows), and their classes."""
    own = np.zeros(len(classes))  # the odds of the class of each row, 0 for the first class
    if len(total):
        at = np.maximum(classes, 1) - 1, np.arange(len(classes))
        own = np.where(classes == 0, 0.0, total[at])
    return float(weights @ (own - _log_sum_of_odds(total)))


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
    first = mean if start is None else start.single
    single = _best_powers(terms, classes, weights, mean, PRECISION, first)
    likelihood = log_likelihood(np.tensordot(single, terms, 1), classes, weights)
    penalty = PRECISION / 2 * float(((single - common) ** 2).sum())
    return Powers(common, single, likelihood - penalty, likelihood)


def best_common_power(total: Array, classes: Codes, weights: Array, start: float = 1.0) -> float:
    """Return the best power of the sum of all terms, (classes − 1, rows) odds."""
    [power] = _best_powers(
        total[None], classes, weights, np.ones(1), COMMON_PRECISION, np.array([start])
    )
    return float(power)


def _best_powers(
    terms: Array, classes: Codes, weights: Array, mean: Array, precision: float, start: Array
) -> Array:
    """Return the powers w that maximize Σ v ln P(y) − ½ λ Σ (w − mean)², (terms,).

    Newton's method, with steps by conjugate gradients that are halved until the
    objective rises.
    """
    flat = terms.reshape(len(terms), -1)
    is_own: Mask = classes == np.arange(1, terms.shape[1] + 1)[:, None]

    def objective(powers: Array) -> float:
        likelihood = log_likelihood(np.tensordot(powers, terms, 1), classes, weights)
        return likelihood - precision / 2 * float(((powers - mean) ** 2).sum())

    powers, value = start, objective(start)
    for _ in range(200):
        odds = np.tensordot(powers, terms, 1)
        p = np.exp(odds - _log_sum_of_odds(odds))
        slope = flat @ ((is_own - p) * weights).ravel() - precision * (powers - mean)

        def curvature_times(direction: Array, p: Array = p) -> Array:
            spread = np.tensordot(direction, terms, 1)
            spread = (spread - (p * spread).sum(axis=0)) * p * weights
            return np.asarray(flat @ spread.ravel() + precision * direction)

        step = _solve_by_conjugate_gradients(curvature_times, slope)
        gain = float(slope @ step)
        # 1e-13: rounding error of the objective, as a share of it or of the weight of the rows
        slack = 1e-13 * max(abs(value), float(weights.sum()))
        for _ in range(40):
            reached = objective(powers + step)
            if reached >= value - slack:
                break
            step = step / 2
        else:
            break
        powers, value = powers + step, reached
        if gain <= 1e-14 * max(1.0, abs(value)):
            break
    return powers


def _solve_by_conjugate_gradients(times: Callable[[Array], Array], right: Array) -> Array:
    """Return x with A x = right, up to 1 % of ``right``, if A is positive definite."""
    result, residual, direction = np.zeros_like(right), right, right
    size = first = float(right @ right)
    for _ in range(2 * len(right)):
        if size <= 1e-4 * first or size <= 1e-300:
            break
        product = times(direction)
        length = size / float(direction @ product)
        result, residual = result + length * direction, residual - length * product
        size, before = float(residual @ residual), size
        direction = residual + size / before * direction
    return result
