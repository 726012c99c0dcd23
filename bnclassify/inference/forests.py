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

from ..base.arrays import Array, Codes, log_sum_exp
from ..base.graphs import layers
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
        heard = _hear(v, rows, children[v], factors, codes, at, messages, total.shape[1])
        p = parent[v]
        table = factors[v].table
        if p is None:
            total[rows] += log_sum_exp(_every(table, at[rows]) + heard, axis=1)
            continue
        known = codes[p, rows] >= 0
        seen, unseen = rows[known], rows[~known]
        given = _look_up(table.swapaxes(0, 1), codes[p, seen], at[seen])
        total[seen] += log_sum_exp(given + heard[known], axis=1)
        each = _every(table, at[unseen]) + heard[~known][:, :, None]
        messages[v] = unseen, log_sum_exp(each, axis=1)


def _look_up(table: Array, code: Codes, context: Codes) -> Array:
    """Take the part of a table at a code of its first axis and a context, row by row.

    (levels, …, contexts, classes) becomes (rows, …, classes); a missing code, -1, leads to the end.
    """
    contexts = table.shape[-2]
    flat = np.moveaxis(table, -2, 1).reshape(-1, *table.shape[1:-2], table.shape[-1])
    index = code if contexts == 1 else code.astype(np.intp) * contexts + context
    return flat.take(index, axis=0, mode="wrap")


def _every(table: Array, context: Codes) -> Array:
    """Take the whole table at a context, row by row: (rows or 1, …, classes)."""
    if table.shape[-2] == 1:
        return table[None, ..., 0, :]
    return np.moveaxis(table, -2, 0).take(context, axis=0)


def _hear(
    v: int,
    rows: Rows,
    children: Sequence[int],
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes,
    messages: Mapping[int, tuple[Rows, Array]],
    n_classes: int,
) -> Array:
    """Sum what children say about each value of a missing feature, (rows, levels, classes)."""
    heard = np.zeros((len(rows), factors[v].table.shape[0], n_classes))
    for child in children:
        # A child that is missing says nothing by itself: its code leads to the padding, 0.
        heard += _look_up(factors[child].padded[:, :-1], codes[child, rows], context[rows])
        if child in messages:
            told, message = messages[child]
            heard[np.searchsorted(rows, told)] += message
    return heard
