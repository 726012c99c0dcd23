"""Powers of a model's terms that make the classes of left-out rows as likely as can be.

Both problems are concave in the powers, and have one optimum each. They know a term only by what it
says of each other class against the row's own, as nothing else enters a posterior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Array, Codes, log_sum_exp

COMMON_PRECISION = 1.0
"""Of the normal prior of the common power, whose mean is 1."""

PRECISION = 3.0
"""Of the normal priors of the powers of single terms, whose mean is the common power."""

_ITERATIONS = 100
_NO_STEP = 1e-12
_HALVINGS = 40
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Powers:
    """The best powers of terms, and how good they are.

    Attributes
    ----------
    common : float
        The best single power of all terms.
    single : (terms,) array
    objective : float
        Log-likelihood of the classes of left-out rows, less what the prior of the powers takes off.
    log_likelihood : float
    """

    common: float
    single: Array
    objective: float
    log_likelihood: float


def contrasts(terms: Array, classes: Codes) -> Array:
    """Return what terms say of each other class against the row's own.

    Parameters
    ----------
    terms : (…, rows, classes) array
        Logs.
    classes : (rows,) array of int
        The class of each row.

    Returns
    -------
    (…, rows, classes − 1) array
    """
    own_class = classes.astype(np.intp)[:, None]
    other_classes = np.arange(terms.shape[-1] - 1)
    other_classes = other_classes + (other_classes >= own_class)
    shape = (*terms.shape[:-2], *other_classes.shape)
    other_logs = np.take_along_axis(terms, np.broadcast_to(other_classes, shape), axis=-1)
    return other_logs - np.take_along_axis(terms, np.broadcast_to(own_class, (*shape[:-1], 1)), axis=-1)


def best_powers(terms: Array, weights: Array) -> Powers:
    """Find the best common power of terms, then the best powers around it.

    The common power τ maximises Σ v ln P(y) − ½ (τ − 1)², with all powers τ. The powers w of single terms
    maximise Σ v ln P(y) − (3/2) Σ (w − τ)². P(y) ∝ exp Σ w·term(y), and y is the row's own class.

    Parameters
    ----------
    terms : (terms, rows, classes − 1) array
        As `contrasts` returns them.
    weights : (rows,) array
        How often each row counts, v.
    """
    common = common_power(terms.sum(axis=0), weights)
    single = _maximise(terms, weights, np.full(len(terms), common), PRECISION)
    likelihood = log_likelihood(np.tensordot(single, terms, 1), weights)
    penalty = PRECISION / 2 * float(((single - common) ** 2).sum())
    return Powers(common, single, likelihood - penalty, likelihood)


def common_power(total: Array, weights: Array) -> float:
    """Return the best power of the sum of all terms, a (rows, classes − 1) array of contrasts."""
    return float(_maximise(total[None], weights, np.ones(1), COMMON_PRECISION)[0])


def log_likelihood(total: Array, weights: Array) -> float:
    """Return Σ v ln P(y) for the sum of all terms, a (rows, classes − 1) array of contrasts."""
    return -float(weights @ _surprise(total))


def _surprise(total: Array) -> Array:
    """Return −ln P(y) of each row: ln(1 + Σ exp contrast)."""
    return log_sum_exp(np.concatenate([np.zeros((len(total), 1)), total], axis=1))


def _maximise(terms: Array, weights: Array, mean: Array, precision: float) -> Array:
    """Climb from the mean of the prior by Newton's method, with steps halved until they go up."""
    powers: Array = mean
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
        slope, curvature = _derivatives(terms, weights, np.exp(total - surprise[:, None]))
        slope = slope - precision * (powers - mean)
        step = np.asarray(np.linalg.solve(curvature + precision * np.eye(len(mean)), slope))
        if np.abs(step).max() <= _NO_STEP * max(1.0, np.abs(powers).max()):
            break
    return powers


def _derivatives(terms: Array, weights: Array, posteriors: Array) -> tuple[Array, Array]:
    """Return the gradient of the log-likelihood and minus its Hessian.

    ``posteriors`` has the posterior of each other class, (rows, classes − 1).
    """
    expected = (terms * posteriors).sum(axis=2)
    spread = (terms * np.sqrt(posteriors * weights[:, None])).reshape(len(terms), -1)
    return -expected @ weights, spread @ spread.T - (expected * weights) @ expected.T
