"""The log joint of an AODE: all its estimators at once, and those whose superparent is missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log_sum_exp
from ..network.ensemble import AODE
from .products import KEPT_CELLS, Block, Stack, finite_log, joint_by_rows, log_total, number_levels

_SMALL = 2**20


def is_lopsided(x: AODE) -> bool:
    """Whether a table of all pairs of levels would be mostly empty, as those of one feature never meet."""
    *cards, n_classes = map(len, x.levels or ())
    cells = sum(cards) ** 2 * n_classes
    return cells > max(_SMALL, 2 * sum(table.size for table in x.children or ()))


def stacked_joint(x: AODE, codes: Codes) -> Array:
    """Return the log of the mean joint of the estimators, (rows, classes).

    A superparent that is missing is summed over all its levels.

    Parameters
    ----------
    x : AODE
        With parameters, and not lopsided.
    codes : (features, rows) array of integers
        -1 where missing.
    """
    small = sum(table.size for table in x.children or ()) <= KEPT_CELLS
    stack: Stack = x.derived("stack", _make_stack) if small else _make_stack(x)
    return joint_by_rows(lambda block: _joint_of_rows(x, stack, block), codes, stack.logs.shape[1])


def _joint_of_rows(x: AODE, stack: Stack, codes: Codes) -> Array:
    levels = number_levels(codes, [span.stop - span.start for span in x.spans])
    result = np.empty((codes.shape[1], stack.logs.shape[1]))
    for block in stack.blocks(levels):
        block_levels = levels[:, block.rows]
        logs = block.sums_at(block_levels)
        if block_levels.min() < 0:
            _sum_out(logs, stack, block, block_levels < 0)
        result[block.rows] = log_total(logs)[: block_levels.shape[1]] - np.log(len(logs))
    return result


def _sum_out(logs: Array, stack: Stack, block: Block, missing: NDArray[np.bool_]) -> None:
    """Give the estimators whose superparent is missing the log of the sum over its levels.

    Features with equally many levels go together.

    Parameters
    ----------
    logs : (features, rows per block, classes) array
    stack : Stack
    block : Block
    missing : (features, rows) array of bool
        Of the rows in the block.
    """
    cards = np.bincount(stack.feature)
    starts = np.cumsum(cards) - cards
    for card in np.unique(cards[missing.any(axis=1)]).tolist():
        feature, row = np.nonzero(missing & (cards == card)[:, None])
        levels = starts[feature] + np.arange(card)[:, None]
        logs[feature, row] = log_sum_exp(block.sums_at_rows(row, levels) + stack.joint[levels], axis=0)


def _make_stack(x: AODE) -> Stack:
    """Make log tables, (levels of the superparent, classes, levels of the children)."""
    priors, superparents = np.asarray(x.priors), np.asarray(x.superparents)
    n_levels, n_classes = superparents.shape
    feature = np.repeat(np.arange(len(x.features)), [span.stop - span.start for span in x.spans])
    tables = np.ones((n_levels, n_classes, n_levels))
    for span, table in zip(x.spans, x.children or (), strict=True):
        by_child = table.transpose(1, 2, 0)
        tables[span, :, : span.start] = by_child[..., : span.start]
        tables[span, :, span.stop :] = by_child[..., span.start :]
    every = np.arange(n_levels)
    tables[every, :, every] = superparents * priors[feature]
    return Stack(finite_log(tables), feature, every)
