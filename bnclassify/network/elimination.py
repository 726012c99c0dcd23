"""Marginalization in any network: variable elimination for groups of rows with the same missing features.

The missing features of a row form unconnected parts. The sum over all missing features is the
product of the sums over the parts, so each part is eliminated once for all rows that have it. A second pass
in reverse order gives the posteriors of the missing values. With the maximum in place of the sum, it finds
their most probable values; an average of networks does not factorize, so all combinations are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, log_normalize, log_sum_exp, share_out
from ..base.graphs import layers
from ..counts.contingency import MAX_CELLS
from .densities import tabulate_numbers
from .factors import Batch, Belief, Factor, Rows, sum_terms

_BLOCK_CELLS = 2**22

Part = tuple[int, ...]


class Run(NamedTuple):
    """Features to eliminate in this order, the positions of the factors over them, and the rows."""

    order: list[int]
    factors: list[int]
    rows: Rows


class Table(NamedTuple):
    """A log table per row, (rows, levels…, classes), over features in ascending order."""

    scope: tuple[int, ...]
    logs: Array


def add_missing(total: Array, factors: Sequence[Factor], codes: Codes, context: Codes) -> None:
    """Add the terms of families with missing features, marginalized over, to the log joint of the rows.

    ``total`` is (rows, classes) with the terms of observed families, ``codes`` are (features, rows) with
    -1 where missing, and ``context`` is (rows,). The factor of the class is the last one.
    """
    for run in runs(factors, codes):
        total[run.rows] += eliminate(run, factors, codes, context)[1]


def beliefs(factors: Sequence[Factor], codes: Codes, context: Codes) -> Iterator[Belief]:
    """Yield the posteriors of the missing members of each family; arguments are as in `add_missing`."""
    for run in runs(factors, codes, everywhere=True):
        posteriors = distribute(run.order, eliminate(run, factors, codes, context)[0])
        position = {u: i for i, u in enumerate(run.order)}
        for i in run.factors:
            free = tuple(sorted(position.keys() & factors[i].scope))
            shares = sum_to(posteriors[min(position[u] for u in free)], free).logs
            yield Belief(i, run.rows, free, shares)


def runs(factors: Sequence[Factor], codes: Codes, *, everywhere: bool = False) -> Iterator[Run]:
    """Yield blocks of rows with missing features to eliminate; unless ``everywhere``, only relevant ones."""
    *of_features, of_class = factors
    parents = {v: list(factor.scope[1:]) for v, factor in enumerate(of_features)}
    matters = np.full(codes.shape, True) if everywhere else _matters(parents, of_class.scope, codes)
    parents[len(codes)] = list(of_class.scope)
    for part, rows in _parts(parents, matters, codes).items():
        touching = [i for i, factor in enumerate(factors) if not set(factor.scope).isdisjoint(part)]
        tables = [factors[i] for i in touching]
        card = {u: f.table.shape[f.scope.index(u)] for u in part for f in tables if u in f.scope}
        order, cells = plan_scopes(part, [set(f.scope) & set(part) for f in tables], card)
        cells *= max(f.table.shape[-1] for f in tables)
        check_plan(part, cells)
        rows_per_block = max(1, _BLOCK_CELLS // cells)
        for start in range(0, len(rows), rows_per_block):
            yield Run(order, touching, rows[start : start + rows_per_block])


def check_plan(part: Collection[int], cells: int) -> None:
    """Raise a ValueError if the elimination of these variables needs a table of too many cells."""
    if cells > MAX_CELLS:
        raise ValueError(
            f"data: {len(part)} variables are missing together in a row, and marginalization would need "
            f"a table of {cells:,} cells, more than {MAX_CELLS:,}. Use a structure with fewer parents."
        )


def _matters(
    parents: Mapping[int, Sequence[int]], of_class: Sequence[int], codes: Codes
) -> NDArray[np.bool_]:
    """Return, per feature and row, whether the feature or a descendant (the class included) is observed."""
    matters = codes >= 0
    matters[list(of_class)] = True
    for v in (v for layer in reversed(layers(parents)) for v in layer):
        for p in parents[v]:
            matters[p] |= matters[v]
    return matters


def _parts(
    parents: Mapping[int, Sequence[int]], matters: NDArray[np.bool_], codes: Codes
) -> dict[Part, Rows]:
    """Map each part of connected missing features to its rows."""
    hidden = matters & (codes < 0)
    label = _labels(parents, matters, hidden)
    rows_of: dict[Part, list[Rows]] = {}
    for first in range(len(codes)):
        rows = np.nonzero(hidden[first] & (label[first] == first))[0]
        if len(rows):
            for part, alike in equal_columns(label[:, rows] == first):
                rows_of.setdefault(part, []).append(rows[alike])
    return {part: np.concatenate(rows) for part, rows in rows_of.items()}


def equal_columns(mask: NDArray[np.bool_]) -> Iterator[tuple[Part, Rows]]:
    """Yield the true positions of each distinct column, and the numbers of the columns equal to it."""
    packed = np.ascontiguousarray(np.packbits(mask, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, example, group = np.unique(keys, return_index=True, return_inverse=True)
    ends = np.cumsum(np.bincount(group))
    for column, columns in zip(example, np.split(np.argsort(group, kind="stable"), ends), strict=False):
        yield tuple(np.nonzero(mask[:, column])[0].tolist()), columns


def _labels(
    parents: Mapping[int, Sequence[int]], matters: NDArray[np.bool_], hidden: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Label each hidden feature in each row with the first feature of its part, until no label changes."""
    n = len(hidden)
    label = np.where(hidden, np.arange(n)[:, None], n)
    # The class is always relevant and never hidden.
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


def plan_scopes(
    part: Collection[int], scopes: Iterable[Collection[int]], card: Mapping[int, int]
) -> tuple[list[int], int]:
    """Order an elimination of scopes, smallest table first; return it and the cells of the largest table."""
    met = {u: {u} for u in part}
    for scope in {frozenset(scope) for scope in scopes}:  # often equal
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
    run: Run,
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes,
    collect: Callable[..., Array] = log_sum_exp,
) -> tuple[list[Table], Array]:
    """Eliminate features; return the joined tables, as in `eliminate_tables`, and (rows, classes) logs."""
    codes, context, free = codes[:, run.rows], context[run.rows], set(run.order)
    tables = [restrict(factors[i], free, codes, context) for i in run.factors]
    joined, product = eliminate_tables(run.order, tables, collect)
    return joined, product.logs


def eliminate_tables(
    order: Sequence[int], tables: Sequence[Table], collect: Callable[..., Array] = log_sum_exp
) -> tuple[list[Table], Table]:
    """Eliminate variables in order by a reduction; return the product of each, and the remaining table."""
    tables, joined = list(tables), []
    for u in order:
        scope, logs = multiply([table for table in tables if u in table.scope])
        joined.append(Table(scope, logs))
        tables = [table for table in tables if u not in table.scope]
        remaining = tuple([w for w in scope if w != u])
        tables.append(Table(remaining, collect(logs, axis=1 + scope.index(u))))
    return joined, multiply(tables)


def distribute(order: Sequence[int], joined: Sequence[Table]) -> list[Table]:
    """Return the posteriors of the joined tables of an elimination, in reverse, which sum to 1."""
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
    """Sum posteriors over all features except some, which are in ascending order."""
    axes = tuple([1 + i for i, w in enumerate(belief.scope) if w not in scope])
    return Table(scope, belief.logs.sum(axis=axes))


def multiply(tables: Sequence[tuple[tuple[int, ...], Array]]) -> Table:
    """Return the product of tables, over the features of all of them."""
    scope = tuple(sorted({u for members, _ in tables for u in members}))
    return Table(scope, reduce(np.add, [_spread(members, logs, scope) for members, logs in tables]))


def _spread(members: tuple[int, ...], logs: Array, scope: tuple[int, ...]) -> Array:
    """Reshape a table to have an axis per feature of a scope, of length 1 for absent features."""
    if members == scope:
        return logs
    rows, *lengths, classes = logs.shape
    length = dict(zip(members, lengths, strict=True))
    return logs.reshape(rows, *[length.get(u, 1) for u in scope], classes)


def restrict(factor: Factor, free: Collection[int], codes: Codes, context: Codes) -> Table:
    """Look up the observed members of a factor; missing members keep their axes, in ascending order."""
    axis = {u: i for i, u in enumerate(factor.scope)}
    free_members = sorted(u for u in factor.scope if u in free)
    fixed = [u for u in factor.scope if u not in free]
    table = factor.padded[tuple(slice(-1) if u in free else slice(None) for u in factor.scope)]
    n = len(axis)
    table = np.transpose(table, [axis[u] for u in fixed] + [n] + [axis[u] for u in free_members] + [n + 1])
    # The context is observed in every row; a missing code, -1, selects the padding.
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for u in fixed:
        index = index * factor.padded.shape[axis[u]] + codes[u]
    index = index * factor.table.shape[-2] + context
    shape = table.shape[len(fixed) + 1 :]
    flat = table.reshape(-1, prod(shape))
    return Table(tuple(free_members), flat.take(index, axis=0, mode="wrap").reshape(-1, *shape))


_MOST_COMBINATIONS = 2**16
_COMPLETED_CELLS = 2**20


def try_all(log_joint: Callable[[Codes], Array], cards: Sequence[int], codes: Codes) -> Codes:
    """Return (variables, rows) codes with the most probable values for -1, scoring all combinations."""
    result = codes.copy()
    incomplete = np.nonzero((codes < 0).any(axis=0))[0]
    for hidden, alike in equal_columns(codes[:, incomplete] < 0):
        rows = incomplete[alike]
        choices = [range(cards[v]) for v in hidden if v < len(cards) - 1]
        n = prod(len(choice) for choice in choices)
        if n > _MOST_COMBINATIONS:
            raise ValueError(
                f"frame: {len(hidden)} values are missing together in a row and have more than "
                f"{_MOST_COMBINATIONS:,} combinations, all of which an average of networks has to score. "
                "Use a single network (BNC)."
            )
        values = np.indices([len(choice) for choice in choices]).reshape(len(choices), n)
        rows_per_block = max(1, _COMPLETED_CELLS // (n * len(cards)))
        for block in (rows[i : i + rows_per_block] for i in range(0, len(rows), rows_per_block)):
            result[:, block] = _try_rows(log_joint, codes[:, block], hidden, values)
    return result


def _try_rows(
    log_joint: Callable[[Codes], Array], codes: Codes, hidden: Sequence[int], values: NDArray[np.intp]
) -> Codes:
    """Return rows with the first of the most probable combinations of missing values and the class."""
    n = values.shape[1]
    tried = np.repeat(codes, n, axis=1)
    features = [v for v in hidden if v < len(codes) - 1]
    tried[features] = np.tile(values, codes.shape[1])
    logs = log_joint(tried[:-1])
    if hidden[-1] != len(codes) - 1:  # the class is observed
        logs = np.where(tried[-1][:, None] == np.arange(logs.shape[1]), logs, -np.inf)
    best = _first_best(logs.reshape(codes.shape[1], -1))
    result = codes.copy()
    result[features] = values[:, best // logs.shape[1]]
    result[-1] = best % logs.shape[1]
    return result


def _first_best(logs: Array) -> NDArray[np.intp]:
    """Return the first of many columns that ties with the maximum, (rows,)."""
    return np.asarray((logs >= logs.max(axis=1, keepdims=True) - TOLERANCE).argmax(axis=1))


def complete(terms: Sequence[Factor], codes: Codes, rng: np.random.Generator | None = None) -> Codes:
    """Return codes with the most probable values of a single network, or values drawn from the posterior."""
    collect: Callable[..., Array] = np.max if rng is None else log_sum_exp
    choose = _first_best if rng is None else partial(draw_columns, rng=rng)
    terms, coded = tabulate_numbers(terms, codes[:-1])
    result = np.vstack([coded, codes[-1:]])
    unknown = np.nonzero(codes[-1] < 0)[0]
    if len(unknown):
        features = coded[:, unknown]
        by_class = sum_terms(terms, Batch(features, complete=False))
        for run, _, collected in _eliminated(terms, features, collect):
            by_class[run.rows] += collected
        result[-1, unknown] = choose(by_class)
    for run, joined, _ in _eliminated(terms, coded, collect):
        _read_back(run, joined, result, choose)
    return result


def draw_columns(logs: Array, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a column in each row, in proportion to the exponentials."""
    thresholds = np.exp(log_normalize(logs)).cumsum(axis=1)[:, :-1]
    return np.asarray(np.count_nonzero(rng.random(len(logs))[:, None] >= thresholds, axis=1))


def _eliminated(
    factors: Sequence[Factor], codes: Codes, collect: Callable[..., Array]
) -> Iterator[tuple[Run, list[Table], Array]]:
    """Yield features that are missing together, their joined tables, and what remains, (rows, classes)."""
    context = np.zeros(codes.shape[1], dtype=np.intp)
    for run in runs(factors, codes, everywhere=True):
        yield run, *eliminate(run, factors, codes, context, collect)


def _read_back(run: Run, joined: Sequence[Table], result: Codes, choose: Callable[[Array], Codes]) -> None:
    """Fill in values by the joined tables, in reverse order of elimination; the class is given."""
    rows, levels = np.arange(len(run.rows)), slice(None)
    for u, (scope, logs) in zip(reversed(run.order), reversed(joined), strict=True):
        class_codes = np.minimum(result[-1, run.rows], logs.shape[-1] - 1)  # one for all rows
        index = (rows, *[levels if w == u else result[w, run.rows] for w in scope], class_codes)
        result[u, run.rows] = choose(logs[index])
