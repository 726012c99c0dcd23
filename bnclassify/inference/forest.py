"""Marginalisation where no feature has two feature parents: messages from leaves to roots.

A family all of whose members are observed adds its looked-up value and needs nothing here. What
is left are the features that are missing in a row: each sums out its own values, given what its
children say about them, and tells its parent. All rows in which a feature is missing are treated
at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..graph import layers
from ..probs import Array, Codes, log_sum_exp
from .factors import Factor

Rows = NDArray[np.intp]


def add_missing(total: Array, factors: Sequence[Factor], codes: Codes, context: Codes | None = None) -> None:
    """Add what features contribute that are missing, to the log joint of the rows.

    Parameters
    ----------
    total : (rows, classes) array
        Holds the sum of the families that are observed.
    factors : sequence of Factor
        A factor a feature in the order of ``codes``, each with at most one parent.
    codes : (features, rows) array of integers
        -1 where missing.
    context : (rows,) array of integers, optional
        The context of each row, if there are several.
    """
    at = np.zeros(codes.shape[1], dtype=np.intp) if context is None else context
    parent = [factor.scope[1] if len(factor.scope) > 1 else None for factor in factors]
    children: dict[int, list[int]] = {}
    for v, p in enumerate(parent):
        if p is not None:
            children.setdefault(p, []).append(v)
    # What missing features tell missing parents: the rows, and for each the parent's values.
    messages: dict[int, tuple[Rows, Array]] = {}
    above = {v: [] if p is None else [p] for v, p in enumerate(parent)}
    for v in (v for layer in reversed(layers(above)) for v in layer):
        rows = np.nonzero(codes[v] < 0)[0]
        if v not in children or not len(rows):
            continue  # an unobserved leaf sums to 1
        heard = _hear(v, rows, children[v], factors, codes, at, messages)
        p = parent[v]
        table = np.moveaxis(factors[v].table, -2, 0)  # context, variable, parent, class
        if p is None:
            total[rows] += _sum_out(table[at[rows]] + heard)
            continue
        known = codes[p, rows] >= 0
        seen, unseen = rows[known], rows[~known]
        total[seen] += _sum_out(table[at[seen], :, codes[p, seen]] + heard[known])
        values_of_parent = np.moveaxis(table[at[unseen]], 2, 1)
        messages[v] = unseen, _sum_out(values_of_parent + heard[~known][:, None])


def _hear(
    v: int,
    rows: Rows,
    children: Sequence[int],
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes,
    messages: Mapping[int, tuple[Rows, Array]],
) -> Array:
    """Sum what children say about each value of a missing feature, (rows, levels, classes)."""
    levels, n_classes = factors[v].table.shape[0], factors[v].table.shape[-1]
    heard = np.zeros((len(rows), levels, n_classes))
    for child in children:
        # A child that is missing says nothing by itself: its code leads to the padding, 0.
        heard += factors[child].padded[codes[child, rows], :-1, context[rows]]
        told, message = messages.get(child, (rows[:0], heard[:0]))
        heard[np.searchsorted(rows, told)] += message
    return heard


def _sum_out(logs: Array) -> Array:
    """Log of the sum of exponentials over the last axis but one."""
    return log_sum_exp(np.moveaxis(logs, -2, -1))
