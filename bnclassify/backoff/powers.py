"""Powers of a model's terms that maximize the likelihood of the classes of left-out rows.

Both problems are concave in the powers, and have one optimum each. They depend on a term only by its log odds
of each other class against the row's own, as nothing else enters a posterior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log_sum_exp

COMMON_PRECISION = 1.0
"""Precision of the normal prior of the common power, whose mean is 1."""

PRECISION = 3.0
"""Precision of the normal priors of the powers of single terms, whose mean is the common power."""

_ITERATIONS = 100
_NO_STEP = 1e-8  # after such a Newton step the error is of the order of its square
_HALVINGS = 40
_ROUNDING = 1e-13
_BLOCK_CELLS = 2**17


@dataclass(frozen=True)
class Powers:
    """The best powers of terms: one for all, then one for each (terms,), with the value of the objective.

    The objective is the log-likelihood of the classes of left-out rows less the penalty of the priors.
    """

    common: float
    single: Array
    objective: float
    log_likelihood: float


def other_classes(classes: Codes, n_classes: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of each row's own class, and of its other classes, in (rows, classes) arrays."""
    starts = np.arange(len(classes)) * n_classes
    others = np.arange(n_classes - 1)
    return starts + classes, starts[:, None] + others + (others >= classes[:, None])


def contrasts(logs: Array, places: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Array:
    """Return the log odds of each other class against a row's own, (rows, classes − 1)."""
    flat = logs.ravel()
    result = flat.take(places[1])
    result -= flat.take(places[0])[:, None]
    return result


def best_powers(terms: Array, weights: Array, start: Powers | None = None) -> Powers:
    """Return the best common power of terms, and the best powers around it.

    The common power τ maximizes Σ v ln P(y) − ½ (τ − 1)², with all powers τ. The powers w of single terms
    maximize Σ v ln P(y) − (3/2) Σ (w − τ)². P(y) ∝ exp Σ w·term(y), and y is the row's own class. ``terms``
    are (terms, rows, classes − 1) `contrasts`, and ``weights`` count the rows. The search may start from
    the powers of similar terms.
    """
    common = common_power(terms.sum(axis=0), weights, 1.0 if start is None else start.common)
    mean = np.full(len(terms), common)
    single = _maximize(terms, weights, mean, PRECISION, mean if start is None else start.single)
    likelihood = log_likelihood(np.tensordot(single, terms, 1), weights)
    penalty = PRECISION / 2 * float(((single - common) ** 2).sum())
    return Powers(common, single, likelihood - penalty, likelihood)


def common_power(total: Array, weights: Array, start: float = 1.0) -> float:
    """Return the best power of the sum of all terms, (rows, classes − 1) contrasts."""
    return float(_maximize(total[None], weights, np.ones(1), COMMON_PRECISION, np.array([start]))[0])


def log_likelihood(total: Array, weights: Array) -> float:
    """Return Σ v ln P(y) for the sum of all terms, (rows, classes − 1) contrasts."""
    return -float(weights @ _surprise(total))


def _surprise(total: Array) -> Array:
    """Return −ln P(y) of each row: ln(1 + Σ exp contrast)."""
    if total.shape[1] == 1:
        return np.logaddexp(0.0, total[:, 0])
    return log_sum_exp(np.concatenate([np.zeros((len(total), 1)), total], axis=1))


def _maximize(terms: Array, weights: Array, mean: Array, precision: float, start: Array) -> Array:
    """Climb by Newton's method, with steps halved until they go up; the prior of the powers has a mean."""
    powers: Array = start
    step: Array = np.zeros_like(mean)
    value = -np.inf
    for _ in range(_ITERATIONS):
        for _ in range(_HALVINGS):
            total = np.tensordot(powers + step, terms, 1)
            surprise = _surprise(total)
            reached = -float(weights @ surprise) - precision / 2 * float(((powers + step - mean) ** 2).sum())
            if reached >= value - _ROUNDING * abs(value):
                break
            step = step / 2
        else:
            break
        powers, value = powers + step, reached
        posteriors = np.exp(total - surprise[:, None])
        expected = terms.reshape(len(mean), -1) @ (posteriors * weights[:, None]).ravel()
        step = _newton_step(terms, weights, posteriors, -expected - precision * (powers - mean), precision)
        if np.abs(step).max() <= _NO_STEP * max(1.0, np.abs(powers).max()):
            return powers + step
    return powers


def _newton_step(terms: Array, weights: Array, posteriors: Array, slope: Array, precision: float) -> Array:
    """Return the solution x of (A Aᵀ + precision) x = slope, A Aᵀ being minus the Hessian of the likelihood.

    ``posteriors`` are those of each other class, (rows, classes − 1). If A has fewer columns than there are
    terms, the smaller system with Aᵀ A is solved instead.
    """
    n, rows, others = terms.shape
    if n > rows * others:
        root = _root_of_curvature(terms, weights, posteriors)
        inner = np.linalg.solve(root.T @ root + precision * np.eye(root.shape[1]), root.T @ slope)
        return np.asarray((slope - root @ inner) / precision)
    curvature = precision * np.eye(n)
    rows_per_block = max(1, _BLOCK_CELLS // max(1, n * others), n // max(1, others))
    for start in range(0, rows, rows_per_block):
        block = slice(start, start + rows_per_block)
        root = _root_of_curvature(terms[:, block], weights[block], posteriors[block])
        curvature += root @ root.T
    return np.asarray(np.linalg.solve(curvature, slope))


def _root_of_curvature(terms: Array, weights: Array, posteriors: Array) -> Array:
    """Return A with A Aᵀ = Σ v (Σ_k p_k x_k x_kᵀ − x̄ x̄ᵀ), (terms, rows · (classes − 1)).

    A row has the columns √(v p_k) (x_k − α x̄), where x̄ = Σ p_k x_k, s = Σ p_k and α s = 1 − √(1 − s).
    """
    total = posteriors.sum(axis=1)
    share = (1 - np.sqrt(np.maximum(1 - total, 0.0))) / np.where(total > 0, total, 1.0)
    mean = np.einsum("trk,rk->tr", terms, posteriors * share[:, None])
    root = terms - mean[:, :, None]
    root *= np.sqrt(posteriors * weights[:, None])
    return root.reshape(len(terms), -1)
