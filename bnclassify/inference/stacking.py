"""The log joint of an AODE: all its estimators at once, by a product of matrices.

A row's codes as zeros and ones, times the logs of all tables P(child | superparent, class),
is for every level a superparent might have the sum over the observed children. So a superparent
that is observed takes the sum at its level, and one that is missing adds up all of its levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Array, Codes, log_sum_exp
from ..model.ensembles import AODE

_BLOCK_CELLS = 2**19
_BLOCK_ROWS = 96  # or a multiple, which fills the registers of matrix products without a remainder
_IMPOSSIBLE = -1e300  # stands for log 0 in products, where 0 · -inf is not a number


_FEW_LEVELS = 8  # a feature, on average


def few_levels(x: AODE) -> bool:
    """Whether products of matrices with a row or column a level beat looking features up."""
    return x.spans[-1].stop <= _FEW_LEVELS * len(x.features)


def stacked_joint(x: AODE, codes: Codes) -> Array:
    """Return the log of the mean joint of the estimators, (rows, classes).

    Products always have the same shape, so that a row gets the same figures to the last bit
    whatever rows stand beside it.

    Parameters
    ----------
    x : AODE
        With parameters.
    codes : (features, rows) array of integers
        -1 where missing.
    """
    priors, superparents = np.asarray(x.priors), np.asarray(x.superparents)
    n_levels, n_classes = superparents.shape
    spans = x.spans
    cards = [span.stop - span.start for span in spans]
    feature = np.repeat(np.arange(len(cards)), cards)
    level = np.concatenate([np.arange(card) for card in cards]).astype(codes.dtype)[:, None]
    # The last axis has the levels of the children, and at its end the superparents' own tables.
    weights = np.ones((n_levels, n_classes, n_levels + 1))
    for span, table in zip(spans, x.children or (), strict=True):
        by_child = table.transpose(1, 2, 0)
        weights[span, :, : span.start] = by_child[..., : span.start]
        weights[span, :, span.stop : -1] = by_child[..., span.start :]
    weights[..., -1] = superparents * priors[feature]
    with np.errstate(divide="ignore"):
        np.log(weights, out=weights)
    np.maximum(weights, _IMPOSSIBLE, out=weights)
    weights = weights.reshape(-1, n_levels + 1).T
    rows = codes.shape[1]
    size = _BLOCK_ROWS * max(1, _BLOCK_CELLS // (n_levels * n_classes * _BLOCK_ROWS))
    hot = np.ones((n_levels + 1, size))
    joint = np.empty((size, n_levels, n_classes))
    result = np.empty((rows, n_classes))
    for start in range(0, rows, size):
        some = codes[:, start : start + size]
        hot[:-1, : some.shape[1]] = some[feature] == level
        np.matmul(hot.T, weights, out=joint.reshape(size, -1))
        result[start : start + size] = _mean_of_estimators(spans, joint, some)
    return result


def _mean_of_estimators(spans: Sequence[slice], joint: Array, codes: Codes) -> Array:
    """Return the log of the mean over estimators, (rows, classes).

    Parameters
    ----------
    spans : sequence of slice
        Where the levels of each feature lie.
    joint : (rows or more, levels, classes) array
        ln P(observed children, level of the superparent, class).
    codes : (features, rows) array of integers
    """
    _, n_levels, n_classes = joint.shape
    level = codes + np.array([[span.start] for span in spans])
    level += n_levels * np.arange(codes.shape[1])
    each = _restore(joint.reshape(-1, n_classes).take(level, axis=0, mode="clip"))
    for i in np.nonzero((codes < 0).any(axis=1))[0].tolist():
        missing = np.nonzero(codes[i] < 0)[0]
        each[i, missing] = log_sum_exp(_restore(joint[missing, spans[i]]), axis=1)
    return log_sum_exp(each, axis=0) - np.log(len(each))


def _restore(sums: Array) -> Array:
    """Make -inf again, in place, of sums with a log 0 among them."""
    np.copyto(sums, -np.inf, where=sums < _IMPOSSIBLE / 2)
    return sums
