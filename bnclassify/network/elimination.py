"""Marginalisation in any network: variable elimination, rows grouped by what they share.

In each row, the missing features that matter fall into parts that no family connects. Parts
are eliminated by themselves, each for all rows that have it, because the sum over all missing
features is the product of the sums over the parts. Going back through the features eliminated gives
the posteriors of their values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log_sum_exp, share_out
from ..base.graphs import layers
from ..counts.contingency import MAX_CELLS
from .factors import Belief, Factor, Rows

_BLOCK_CELLS = 2**22

Part = tuple[int, ...]


class Run(NamedTuple):
    """Features to be eliminated in this order, the factors that have any of them, and some rows."""

    order: list[int]
    factors: list[int]
    rows: Rows


class Table(NamedTuple):
    """A log table over features in ascending order, row by row: (rows, levels…, classes)."""

    scope: tuple[int, ...]
    logs: Array


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
    contexts = np.zeros(codes.shape[1], dtype=np.intp) if context is None else context
    *of_features, of_class = factors
    parents = {v: list(factor.scope[1:]) for v, factor in enumerate(of_features)}
    for run in runs(factors, codes, _matters(parents, of_class.scope, codes)):
        touching = [factors[i] for i in run.factors]
        total[run.rows] += eliminate(run.order, touching, codes[:, run.rows], contexts[run.rows])[1]


def beliefs(factors: Sequence[Factor], codes: Codes, context: Codes | None = None) -> Iterator[Belief]:
    """Yield how likely the values are that are missing in each family, given row and class.

    Takes and raises the same as `add_missing`.
    """
    contexts = np.zeros(codes.shape[1], dtype=np.intp) if context is None else context
    for run in runs(factors, codes, np.full(codes.shape, True)):
        touching = [factors[i] for i in run.factors]
        joined, _ = eliminate(run.order, touching, codes[:, run.rows], contexts[run.rows])
        posteriors = distribute(run.order, joined)
        position = {u: i for i, u in enumerate(run.order)}
        for i, factor in zip(run.factors, touching, strict=True):
            free = tuple(sorted(position.keys() & factor.scope))
            shares = sum_to(posteriors[min(position[u] for u in free)], free).logs
            yield Belief(i, run.rows, free, shares)


def runs(factors: Sequence[Factor], codes: Codes, matters: NDArray[np.bool_]) -> Iterator[Run]:
    """Yield which missing features that matter are to be eliminated, a block of rows at a time."""
    parents = {v: list(factor.scope[1:]) for v, factor in enumerate(factors[:-1])}
    parents[len(codes)] = list(factors[-1].scope)  # the class, which stands in no row
    for part, rows in _parts(parents, matters, codes).items():
        touching = [i for i, factor in enumerate(factors) if not set(factor.scope).isdisjoint(part)]
        order, cells = plan(part, [factors[i] for i in touching])
        if cells > MAX_CELLS:
            raise ValueError(
                f"data: {len(part)} features are missing together in a row, and summing over them would need "
                f"a table of {cells:,} cells, more than {MAX_CELLS:,}; use a structure with fewer parents"
            )
        rows_per_block = max(1, _BLOCK_CELLS // cells)
        for start in range(0, len(rows), rows_per_block):
            yield Run(order, touching, rows[start : start + rows_per_block])


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
        for column, rows_alike in zip(
            example, np.split(rows[order], np.cumsum(np.bincount(kind))[:-1]), strict=True
        ):
            part = tuple(np.nonzero(belongs[:, column])[0].tolist())
            rows_of.setdefault(part, []).append(rows_alike)
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
    families = [([v, *ps] if v < n else list(ps), v) for v, ps in parents.items() if ps]
    changed = True
    while changed:
        previous = label.copy()
        for members, v in families:
            linked = hidden[members] & (matters[v] if v < n else True)
            lowest = np.where(linked, label[members], n).min(axis=0)
            label[members] = np.where(linked, lowest, label[members])
        changed = not np.array_equal(previous, label)
    return label


def hidden_parts(parents: Mapping[int, Sequence[int]], codes: Codes) -> dict[Part, Rows]:
    """Map each part of connected variables that are missing, and matter, to the rows that have it.

    Parameters
    ----------
    parents : mapping
        The parents of each variable, by number.
    codes : (variables, rows) array
        -1 where missing.
    """
    return _parts(parents, _matters(parents, (), codes), codes)


def plan(part: Part, factors: Sequence[Factor]) -> tuple[list[int], int]:
    """Order the elimination, smallest table first; return the order and the cells of the largest table."""
    card = {u: f.table.shape[f.scope.index(u)] for u in part for f in factors if u in f.scope}
    n_classes = max(factor.table.shape[-1] for factor in factors)
    order, cells = plan_scopes(part, [set(factor.scope) & set(part) for factor in factors], card)
    return order, cells * n_classes if part else 1


def plan_scopes(
    part: Collection[int], scopes: Iterable[Collection[int]], card: Mapping[int, int]
) -> tuple[list[int], int]:
    """Do the same from the scopes of tables, which may have variables that stay, and all levels."""
    met = {u: {u} for u in part}
    for scope in {frozenset(scope) for scope in scopes}:  # often many are alike
        for u in scope & met.keys():
            met[u] |= scope
    cells = {u: prod([card[w] for w in met[u]]) for u in sorted(met)}
    order: list[int] = []
    largest = 1
    while cells:
        best = min(cells, key=cells.__getitem__)
        largest = max(largest, cells.pop(best))
        order.append(best)
        joined = met.pop(best) - {best}
        for u in joined & met.keys():
            met[u] = (met[u] | joined) - {best}
            cells[u] = prod([card[w] for w in met[u]])
    return order, largest


def eliminate(
    order: Sequence[int],
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes,
    collect: Callable[..., Array] = log_sum_exp,
) -> tuple[list[Table], Array]:
    """Sum features out of factors at rows, in this order; see `eliminate_tables`.

    Returns
    -------
    list of Table
    (rows, classes) array
        What is left.
    """
    tables = [restrict(factor, set(order), codes, context) for factor in factors]
    joined, product = eliminate_tables(order, tables, collect)
    return joined, product.logs


def eliminate_tables(
    order: Sequence[int], tables: Sequence[Table], collect: Callable[..., Array] = log_sum_exp
) -> tuple[list[Table], Table]:
    """Sum variables out of a product of tables in this order, or collect them otherwise.

    Parameters
    ----------
    order : sequence of int
    tables : sequence of Table
        At least one.
    collect : callable
        `log_sum_exp` or `numpy.max`: ``collect(logs, axis=...)``.

    Returns
    -------
    list of Table
        For each variable, the product of the tables that it is in, when its turn comes.
    Table
        What is left, over the variables that stay.
    """
    tables, joined = list(tables), []
    for u in order:
        scope, logs = multiply([table for table in tables if u in table.scope])
        joined.append(Table(scope, logs))
        tables = [table for table in tables if u not in table.scope]
        remaining = tuple([w for w in scope if w != u])
        tables.append(Table(remaining, collect(logs, axis=1 + scope.index(u))))
    return joined, multiply(tables)


def distribute(order: Sequence[int], joined: Sequence[Table]) -> list[Table]:
    """Return the posteriors of what stands in each of the joined tables, in plain, as shares of 1.

    What is eliminated last is known first. A feature is shared out given what it was summed into.
    """
    position = {u: i for i, u in enumerate(order)}
    beliefs: list[Table] = [*joined]
    for i, u in reversed(list(enumerate(order))):
        scope, logs = joined[i]
        shares = share_out(logs, axis=1 + scope.index(u))
        remaining = tuple([w for w in scope if w != u])
        if remaining:
            summed_into = beliefs[min(position[w] for w in remaining)]
            shares = shares * _spread(*sum_to(summed_into, remaining), scope)
        beliefs[i] = Table(scope, shares)
    return beliefs


def sum_to(belief: Table, scope: tuple[int, ...]) -> Table:
    """Sum posteriors over all but some of their features, which must be in ascending order."""
    axes = tuple([1 + i for i, w in enumerate(belief.scope) if w not in scope])
    return Table(scope, belief.logs.sum(axis=axes))


def multiply(tables: Sequence[tuple[tuple[int, ...], Array]]) -> Table:
    """Return the product of tables, over all features that any of them has."""
    scope = tuple(sorted({u for members, _ in tables for u in members}))
    return Table(scope, reduce(np.add, [_spread(members, logs, scope) for members, logs in tables]))


def _spread(members: tuple[int, ...], logs: Array, scope: tuple[int, ...]) -> Array:
    """Give a table an axis for each feature of a scope, of length 1 for those that it lacks."""
    if members == scope:
        return logs
    rows, *lengths, classes = logs.shape
    length = dict(zip(members, lengths, strict=True))
    return logs.reshape(rows, *[length.get(u, 1) for u in scope], classes)


def restrict(factor: Factor, free: Collection[int], codes: Codes, context: Codes) -> Table:
    """Look up the observed members of a factor; the free ones keep their axes, in ascending order."""
    axis = {u: i for i, u in enumerate(factor.scope)}
    free_members = sorted(u for u in factor.scope if u in free)
    fixed = [u for u in factor.scope if u not in free]
    table = factor.padded[tuple(slice(-1) if u in free else slice(None) for u in factor.scope)]
    n = len(axis)
    table = np.transpose(table, [axis[u] for u in fixed] + [n] + [axis[u] for u in free_members] + [n + 1])
    # The context is observed in every row; missing codes lead to the padding.
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for u in fixed:
        index = index * factor.padded.shape[axis[u]] + codes[u]
    index = index * factor.table.shape[-2] + context
    shape = table.shape[len(fixed) + 1 :]
    flat = table.reshape(-1, prod(shape))
    return Table(tuple(free_members), flat.take(index, axis=0, mode="wrap").reshape(-1, *shape))
