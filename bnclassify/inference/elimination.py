"""Marginalisation in any network: variable elimination, rows grouped by what they share.

In each row, the missing features that matter fall into parts that no family connects. Parts
are eliminated by themselves, each for all rows that have it, because the sum over all missing
features is the product of the sums over the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log_sum_exp
from ..base.graphs import layers
from ..frames.counting import MAX_CELLS
from .factors import Factor

_BLOCK_CELLS = 2**22

Rows = NDArray[np.intp]
Part = tuple[int, ...]


def add_missing(total: Array, factors: Sequence[Factor], codes: Codes, context: Codes | None = None) -> None:
    """Add what features contribute that are missing, to the log joint of the rows.

    Parameters
    ----------
    total : (rows, classes) array
        Holds the sum of the families that are observed.
    factors : sequence of Factor
        A factor a feature in the order of ``codes``, and the class's own last.
    codes : (features, rows) array of integers
        -1 where missing.
    context : (rows,) array of integers, optional
        The context of each row, if there are several.

    Raises
    ------
    ValueError
        If a table along the way would be too large.
    """
    at = np.zeros(codes.shape[1], dtype=np.intp) if context is None else context
    *of_features, of_class = factors
    parents = {v: list(factor.scope[1:]) for v, factor in enumerate(of_features)}
    matters = _matters(parents, of_class.scope, codes)
    parents[len(codes)] = list(of_class.scope)  # the class, which stands in no row
    for part, rows in _parts(parents, matters, codes).items():
        touching = [factor for factor in factors if not set(factor.scope).isdisjoint(part)]
        order, cells = _plan(part, touching)
        if cells > MAX_CELLS:
            raise ValueError(
                f"data: {len(part)} features are missing together in a row, and summing over them would need "
                f"a table of {cells:,} cells, more than {MAX_CELLS:,}; use a structure with fewer parents"
            )
        size = max(1, _BLOCK_CELLS // cells)
        for block in (rows[i : i + size] for i in range(0, len(rows), size)):
            total[block] += _eliminate(order, touching, codes[:, block], at[block])


def _matters(
    parents: Mapping[int, Sequence[int]], of_class: Sequence[int], codes: Codes
) -> NDArray[np.bool_]:
    """Tell which features matter in each row: those that are observed, or have such a descendant.

    The class counts as observed, since there is a value of the joint for each of its levels.
    """
    matters = codes >= 0
    matters[list(of_class)] = True
    for v in (v for layer in reversed(layers(parents)) for v in layer):
        for p in parents[v]:
            matters[p] |= matters[v]
    return matters


def _parts(
    parents: Mapping[int, Sequence[int]], matters: NDArray[np.bool_], codes: Codes
) -> dict[Part, Rows]:
    """Map each part of connected missing features to the rows that have it."""
    hidden = matters & (codes < 0)
    label = _labels(parents, matters, hidden)
    rows_of: dict[Part, list[Rows]] = {}
    for first in range(len(codes)):
        rows = np.nonzero(hidden[first] & (label[first] == first))[0]
        if not len(rows):
            continue
        belongs = label[:, rows] == first
        packed = np.ascontiguousarray(np.packbits(belongs, axis=0).T)
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, example, kind = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(kind, kind="stable")
        for column, same in zip(
            example, np.split(rows[order], np.cumsum(np.bincount(kind))[:-1]), strict=True
        ):
            part = tuple(np.nonzero(belongs[:, column])[0].tolist())
            rows_of.setdefault(part, []).append(same)
    return {part: np.concatenate(rows) for part, rows in rows_of.items()}


def _labels(
    parents: Mapping[int, Sequence[int]], matters: NDArray[np.bool_], hidden: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Label each hidden feature in each row with the first feature of its part.

    Hidden features are connected where they meet in a family whose variable matters. They
    hand each other the smallest label until nothing changes.
    """
    n = len(hidden)
    label = np.where(hidden, np.arange(n)[:, None], n)
    # The class always matters, and is never hidden.
    families = [([v, *above] if v < n else list(above), v) for v, above in parents.items() if above]
    changed = True
    while changed:
        before = label.copy()
        for members, v in families:
            linked = hidden[members] & (matters[v] if v < n else True)
            lowest = np.where(linked, label[members], n).min(axis=0)
            label[members] = np.where(linked, lowest, label[members])
        changed = not np.array_equal(before, label)
    return label


def _plan(part: Part, factors: Sequence[Factor]) -> tuple[list[int], int]:
    """Order the elimination, smallest table first; return the order and the cells of the largest table."""
    card = {u: f.table.shape[f.scope.index(u)] for u in part for f in factors if u in f.scope}
    n_classes = max(factor.table.shape[-1] for factor in factors)
    scopes = [frozenset(factor.scope) & set(part) for factor in factors]
    order: list[int] = []
    largest = 1
    remaining = set(part)
    while remaining:
        met = {u: frozenset().union(*(s for s in scopes if u in s)) for u in sorted(remaining)}
        best = min(met, key=lambda u: prod(card[w] for w in met[u]))
        largest = max(largest, prod(card[w] for w in met[best]) * n_classes)
        scopes = [s for s in scopes if best not in s] + [met[best] - {best}]
        order.append(best)
        remaining.remove(best)
    return order, largest


def _eliminate(order: Sequence[int], factors: Sequence[Factor], codes: Codes, context: Codes) -> Array:
    """Sum out features in this order; return (rows, classes)."""
    axis = {u: i for i, u in enumerate(sorted(order))}
    tables = [_restrict(factor, axis, codes, context) for factor in factors]
    for u in order:
        own = [logs for scope, logs in tables if u in scope]
        scope = frozenset().union(*(s for s, _ in tables if u in s)) - {u}
        joined = sum(own[1:], own[0])
        summed = log_sum_exp(joined, axis=1 + axis[u])
        tables = [(s, logs) for s, logs in tables if u not in s]
        tables.append((scope, np.expand_dims(summed, 1 + axis[u])))
    result = sum((logs for _, logs in tables[1:]), tables[0][1])
    return result.reshape(result.shape[0], result.shape[-1])


def _restrict(
    factor: Factor, axis: Mapping[int, int], codes: Codes, context: Codes
) -> tuple[frozenset[int], Array]:
    """Look up the observed members of a factor, and give each free one its axis.

    Returns
    -------
    frozenset
        The free members.
    (rows, levels or 1 for each feature in ``axis``, classes) array
    """
    where = {u: i for i, u in enumerate(factor.scope)}
    free = sorted((u for u in factor.scope if u in axis), key=axis.__getitem__)
    fixed = [u for u in factor.scope if u not in axis]
    table = factor.padded[tuple(slice(-1) if u in axis else slice(None) for u in factor.scope)]
    n = len(where)
    table = np.transpose(table, [where[u] for u in fixed] + [n] + [where[u] for u in free] + [n + 1])
    shape = [1] * len(axis)
    for u in free:
        shape[axis[u]] = factor.table.shape[where[u]]
    # The context is observed in every row; missing codes lead to the padding.
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for u in fixed:
        index = index * factor.padded.shape[where[u]] + codes[u]
    index = index * factor.table.shape[-2] + context
    flat = table.reshape(-1, prod(shape) * table.shape[-1])
    return frozenset(free), flat.take(index, axis=0, mode="wrap").reshape(-1, *shape, table.shape[-1])
