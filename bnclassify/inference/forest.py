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


def add_missing(total: Array, factors: Sequence[Factor], codes: Codes) -> None:
    """Add what features contribute that are missing, to the log joint of the rows.

    Parameters
    ----------
    total : (rows, classes) array
        Holds the sum of the families that are observed.
    factors : sequence of Factor
        A factor a feature in the order of ``codes``, each with at most one parent.
    codes : (features, rows) array of integers
        -1 where missing.
    """
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
        heard = _hear(v, rows, children[v], factors, codes, messages)
        p = parent[v]
        table = factors[v].table
        if p is None:
            total[rows] += _sum_out(table + heard)
            continue
        known = codes[p, rows] >= 0
        given = np.moveaxis(table, 0, 1)  # parent, variable, class
        seen = rows[known]
        total[seen] += _sum_out(given[codes[p, seen]] + heard[known])
        messages[v] = rows[~known], _sum_out(given + heard[~known][:, None])


def _hear(
    v: int,
    rows: Rows,
    children: Sequence[int],
    factors: Sequence[Factor],
    codes: Codes,
    messages: Mapping[int, tuple[Rows, Array]],
) -> Array:
    """Sum what children say about each value of a missing feature, (rows, levels, classes)."""
    levels, n_classes = factors[v].table.shape[0], factors[v].table.shape[-1]
    heard = np.zeros((len(rows), levels, n_classes))
    for child in children:
        # A child that is missing says nothing by itself: its padding is 0.
        heard += factors[child].padded[:, :-1].take(codes[child, rows], axis=0, mode="wrap")
        told, message = messages.get(child, (rows[:0], heard[:0]))
        heard[np.searchsorted(rows, told)] += message
    return heard


def _sum_out(logs: Array) -> Array:
    """Log of the sum of exponentials over the last axis but one."""
    return log_sum_exp(np.moveaxis(logs, -2, -1))
