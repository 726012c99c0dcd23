"""Marginalization in networks: sums and maxima over the missing variables of rows.

The missing features of a row form unconnected components. The sum over all
missing features is the product of the sums over the components, so each is
eliminated once for all rows that have it. A second pass in reverse order gives
the posteriors of the missing values. With the maximum in place of the sum, it
finds their most probable values; an average of networks does not factorize, so
all combinations are scored. If no variable has two feature parents, the sums
are messages between the features (`forests`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import combinations
from math import prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ..counts import MAX_CELLS
from ..tools.arrays import (
    BLOCK_ROWS,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    first_best,
    log_normalize,
    log_sum_exp,
    slices,
    softmax,
)
from ..tools.graphs import topological_layers
from . import forests
from .factors import Belief, Factor, NetworkTerm, as_factors_and_codes, sum_terms

_CLASS = -1  # the class in a plan, where it stays an axis of tables
_LARGE_CELLS = 2**14  # of a table, from which another order is tried


Met: TypeAlias = Mapping[int, set[int]]
"""The variables that each variable is together with in a table, and itself."""
T = TypeVar("T", bound=tuple[tuple[int, ...], ArrayOf[Any]])
Over: TypeAlias = Callable[..., Array]
"""How a variable is eliminated from logs, along ``axis``: by the log of the sum, or the maximum."""


class LogTable(NamedTuple):
    """A log table per row, (rows, levels…, classes), over features in ascending order."""

    scope: tuple[int, ...]
    logs: Array


class Component(NamedTuple):
    """Features that are missing together in some rows, in an order to eliminate them.

    ``factors`` are the positions of the factors over them, and ``tables`` these
    factors in the rows.
    """

    order: list[int]
    factors: list[int]
    rows: Positions
    tables: list[LogTable]


def log_joint_of_network(
    terms: Sequence[NetworkTerm],
    codes: Codes,
    context: Codes | None = None,
    *,
    cyclic: bool = False,
) -> Array:
    """Return the log joint of a network, (rows, classes), from terms of features and class.

    If arcs can form cycles, it is the log of the product of terms, summed over
    all missing features.
    """
    total = sum_terms(terms, codes, context)
    if codes.min(initial=0) < 0:
        context = np.zeros(len(total), dtype=np.intp) if context is None else context
        add_marginalized_terms(total, terms, codes, context, cyclic=cyclic)
    return total


def log_mean_joint_of_networks(networks: Sequence[Sequence[NetworkTerm]], codes: Codes) -> Array:
    """Return the log of the mean joint of networks, (rows, classes), a block of rows at a time."""
    result = np.empty((codes.shape[1], networks[0][-1].n_classes))
    for block in slices(len(result), most=BLOCK_ROWS):
        joints = [log_joint_of_network(terms, codes[:, block]) for terms in networks]
        if len(joints) == 1:
            result[block] = joints[0]
        else:
            result[block] = log_sum_exp(np.stack(joints), axis=0) - np.log(len(joints))
    return result


def add_marginalized_terms(
    total: Array,
    terms: Sequence[NetworkTerm],
    codes: Codes,
    context: Codes,
    *,
    cyclic: bool = False,
) -> None:
    """Add terms of families with missing features, marginalized over, to rows' log joint.

    ``total`` is (rows, classes) with the terms of observed families, ``codes``
    are (features, rows) with -1 where missing, and ``context`` is (rows,). The
    term of the class is the last one.
    """
    factors, codes = as_factors_and_codes(terms, codes)
    if forests.is_forest(factors) and not cyclic:
        forests.add_terms_by_messages(total, factors, codes, context)
    else:
        add_terms_by_elimination(total, factors, codes, context, everywhere=cyclic)


def add_terms_by_elimination(
    total: Array,
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes | None = None,
    *,
    everywhere: bool = False,
    over: Over = log_sum_exp,
) -> None:
    """Add terms as `add_marginalized_terms` for any graph; if ``everywhere``, also sums of 1."""
    for component in components_of_missing(factors, codes, context, everywhere=everywhere):
        _, remaining = eliminate_log_tables(component.order, component.tables, over)
        total[component.rows] += multiply_tables(remaining).logs


def posteriors_of_families(
    factors: Sequence[Factor], codes: Codes, context: Codes | None = None
) -> Iterator[Belief]:
    """Yield posteriors of missing members of each family of rows as in `add_marginalized_terms`."""
    for component in components_of_missing(factors, codes, context, everywhere=True):
        joined, _ = eliminate_log_tables(component.order, component.tables)
        posteriors = posteriors_by_reverse_elimination(component.order, joined)
        position = {u: i for i, u in enumerate(component.order)}
        for i in component.factors:
            free = tuple(sorted(position.keys() & factors[i].scope))
            shares = marginalize_to_scope(posteriors[min(position[u] for u in free)], free).logs
            yield Belief(i, component.rows, free, shares)


def components_of_missing(
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes | None = None,
    *,
    everywhere: bool = False,
) -> Iterator[Component]:
    """Yield connected missing features in blocks of rows: relevant ones, or ``everywhere`` all."""
    *of_features, of_class = factors
    context = np.zeros(codes.shape[1], dtype=np.intp) if context is None else context
    parents = {v: list(factor.scope[1:]) for v, factor in enumerate(of_features)}
    matters = np.full(codes.shape, True)
    if not everywhere:
        matters = _mask_of_observed_descendants(parents, of_class.scope, codes)
    parents[len(codes)] = list(of_class.scope)
    for component, all_rows in _connected_components(parents, matters, codes).items():
        free = set(component)
        touching = [i for i, factor in enumerate(factors) if not free.isdisjoint(factor.scope)]
        tables = [factors[i] for i in touching]
        card = {_CLASS: max(factor.n_classes for factor in tables)}
        scopes = []
        for factor in tables:
            card |= dict(zip(factor.scope, factor.table.shape, strict=False))
            class_axis = {_CLASS} if factor.n_classes > 1 else set()
            scopes.append((free & set(factor.scope)) | class_axis)
        order, cells = plan_elimination(component, scopes, card)
        check_elimination_size(component, cells)
        for block in slices(len(all_rows), cells):
            rows = all_rows[block]
            of_rows = codes[:, rows], context[rows]
            restricted = [_restrict_factor(factor, free, *of_rows) for factor in tables]
            yield Component(order, touching, rows, restricted)


def check_elimination_size(component: Collection[int], cells: int) -> None:
    """Raise a ValueError if the elimination of these variables needs a table of too many cells."""
    if cells > MAX_CELLS:
        raise ValueError(
            f"data: {len(component)} variables are missing together in a row, and marginalization "
            f"would need a table of {cells:,} cells, more than {MAX_CELLS:,}. Use a structure "
            "with fewer parents."
        )


def _mask_of_observed_descendants(
    parents: Mapping[int, Sequence[int]], of_class: Sequence[int], codes: Codes
) -> Mask:
    """Return, by feature and row, if it or a descendant (the class included) is observed."""
    matters = codes >= 0
    matters[list(of_class)] = True
    for v in (v for layer in reversed(topological_layers(parents)) for v in layer):
        for p in parents[v]:
            matters[p] |= matters[v]
    return matters


def _connected_components(
    parents: Mapping[int, Sequence[int]], matters: Mask, codes: Codes
) -> dict[tuple[int, ...], Positions]:
    """Map each component of connected missing features to its rows."""
    hidden = matters & (codes < 0)
    label = _component_labels(parents, matters, hidden)
    rows_of: dict[tuple[int, ...], list[Positions]] = {}
    for first in range(len(codes)):
        rows = np.nonzero(hidden[first] & (label[first] == first))[0]
        if len(rows):
            for component, alike in groups_of_equal_columns(label[:, rows] == first):
                rows_of.setdefault(component, []).append(rows[alike])
    return {component: np.concatenate(rows) for component, rows in rows_of.items()}


def groups_of_equal_columns(mask: Mask) -> Iterator[tuple[tuple[int, ...], Positions]]:
    """Yield true positions of each distinct column, and positions of the columns equal to it."""
    packed = np.ascontiguousarray(np.packbits(mask, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, example, group = np.unique(keys, return_index=True, return_inverse=True)
    ends = np.cumsum(np.bincount(group))
    for column, columns in zip(
        example, np.split(np.argsort(group, kind="stable"), ends), strict=False
    ):
        yield tuple(np.nonzero(mask[:, column])[0].tolist()), columns


def _component_labels(
    parents: Mapping[int, Sequence[int]], matters: Mask, hidden: Mask
) -> Positions:
    """Label each hidden feature in each row with the first feature of its component."""
    n = len(hidden)
    label = np.where(hidden, np.arange(n)[:, None], n)
    # The class is always relevant and never hidden.
    families = [([v, *ps] if v < n else list(ps), v) for v, ps in parents.items() if ps]
    changed = True
    while changed:
        previous = label.copy()
        for members, v in families:
            linked = hidden[members] & (matters[v] if v < n else True)
            lowest: Positions = np.where(linked, label[members], n).min(axis=0)
            label[members] = np.where(linked, lowest, label[members])
        changed = not np.array_equal(previous, label)
    return label


def plan_elimination(
    component: Collection[int], scopes: Iterable[Collection[int]], card: Mapping[int, int]
) -> tuple[list[int], int]:
    """Order an elimination of scopes; return the order and the cells of the largest table.

    Of two greedy orders, the one with fewer cells in all tables: the smallest
    table first [1]_ and, if that needs large tables, the fewest cells of new
    pairs first.

    .. [1] Kjaerulff, U. (1992). Optimal decomposition of probabilistic networks
       by simulated annealing.
    """
    met = {u: {u} for u in component}
    for scope in {frozenset(scope) for scope in scopes}:  # often equal
        for u in scope & met.keys():
            met[u] |= scope
    order, cells = _greedy_elimination_order(met, card, _cells_of_joined_table)
    if max(cells) > _LARGE_CELLS:
        other, other_cells = _greedy_elimination_order(met, card, _cells_of_new_pairs)
        if sum(other_cells) < sum(cells):
            order, cells = other, other_cells
    return order, max(cells)


def _cells_of_joined_table(met: Met, card: Mapping[int, int], u: int) -> int:
    return prod([card[w] for w in met[u]])


def _cells_of_new_pairs(met: Met, card: Mapping[int, int], u: int) -> int:
    """Return the cells of the pairs that meet for the first time if ``u`` is eliminated."""
    near = sorted(met[u] & met.keys() - {u})
    return sum([card[v] * card[w] for v, w in combinations(near, 2) if w not in met[v]])


def _greedy_elimination_order(
    met: Met, card: Mapping[int, int], cost: Callable[[Met, Mapping[int, int], int], int]
) -> tuple[list[int], list[int]]:
    """Eliminate the variable of lowest cost in turn; return the order and the tables' cells."""
    met = {u: set(others) for u, others in met.items()}
    costs = {u: cost(met, card, u) for u in sorted(met)}
    order, cells = list[int](), [1]
    while costs:
        best = min(costs, key=costs.__getitem__)
        del costs[best]
        order.append(best)
        joined = met.pop(best)
        cells.append(prod([card[w] for w in joined]))
        joined.discard(best)
        for u in joined & met.keys():
            met[u] = (met[u] | joined) - {best}
        for u in joined & met.keys():
            costs[u] = cost(met, card, u)
    return order, cells


def eliminate_variables(
    order: Iterable[int], tables: Iterable[T], combine: Callable[[int, list[T]], T]
) -> list[T]:
    """Eliminate variables from tables, which begin with their variables; return those left.

    ``combine`` returns the table that replaces the tables over a variable.
    """
    remaining = list(tables)
    for u in order:
        touching = [table for table in remaining if u in table[0]]
        remaining = [table for table in remaining if u not in table[0]]
        remaining.append(combine(u, touching))
    return remaining


def eliminate_log_tables(
    order: Iterable[int], tables: Iterable[LogTable], over: Over = log_sum_exp
) -> tuple[list[LogTable], list[LogTable]]:
    """Eliminate variables by sum or maximum; return each product, and the other tables."""
    joined: list[LogTable] = []

    def multiply_and_eliminate(u: int, touching: list[LogTable]) -> LogTable:
        scope, logs = multiply_tables(touching)
        joined.append(LogTable(scope, logs))
        return LogTable(tuple([w for w in scope if w != u]), over(logs, axis=1 + scope.index(u)))

    return joined, eliminate_variables(order, tables, multiply_and_eliminate)


def posteriors_by_reverse_elimination(
    order: Sequence[int], joined: Sequence[LogTable]
) -> list[LogTable]:
    """Return the posteriors of the joined tables of an elimination, in reverse, which sum to 1."""
    position = {u: i for i, u in enumerate(order)}
    beliefs: list[LogTable] = [*joined]
    for i, u in reversed(list(enumerate(order))):
        scope, logs = joined[i]
        shares = softmax(logs, axis=1 + scope.index(u))
        remaining = tuple([w for w in scope if w != u])
        if remaining:
            summed_into = beliefs[min(position[w] for w in remaining)]
            shares = shares * _spread_over_axes(
                *marginalize_to_scope(summed_into, remaining), scope
            )
        beliefs[i] = LogTable(scope, shares)
    return beliefs


def marginalize_to_scope(belief: LogTable, scope: tuple[int, ...]) -> LogTable:
    """Sum posteriors over all features except some, which are in ascending order."""
    axes = tuple([1 + i for i, w in enumerate(belief.scope) if w not in scope])
    return LogTable(scope, belief.logs.sum(axis=axes))


def multiply_tables(tables: Sequence[LogTable]) -> LogTable:
    """Return the product of tables, over the features of all of them."""
    scope = tuple(sorted(set().union(*[table.scope for table in tables])))
    smallest_first = sorted(tables, key=lambda table: table.logs.size)
    spread = [_spread_over_axes(*table, scope) for table in smallest_first]
    return LogTable(scope, reduce(np.add, spread))


def _spread_over_axes(members: tuple[int, ...], logs: Array, scope: tuple[int, ...]) -> Array:
    """Reshape a table to have an axis per feature of a scope, of length 1 for absent features."""
    if members == scope:
        return logs
    rows, *lengths, classes = logs.shape
    length = dict(zip(members, lengths, strict=True))
    return logs.reshape(rows, *[length.get(u, 1) for u in scope], classes)


def _restrict_factor(
    factor: Factor, free: Collection[int], codes: Codes, context: Codes
) -> LogTable:
    """Look up a factor's observed members; missing ones keep their axes, in ascending order."""
    # A table over (0, 1, 2), in which 1 is missing, becomes an array (levels of 0, of 2, contexts,
    # levels of 1, classes), of which a row selects the entry of its codes: (levels of 1, classes).
    axis = {u: i for i, u in enumerate(factor.scope)}
    free_members = sorted(u for u in factor.scope if u in free)
    fixed = [u for u in factor.scope if u not in free]
    table = factor.padded_table[
        tuple(slice(-1) if u in free else slice(None) for u in factor.scope)
    ]
    n = len(axis)
    table = np.transpose(
        table, [axis[u] for u in fixed] + [n] + [axis[u] for u in free_members] + [n + 1]
    )
    # The context is observed in every row; a missing code, -1, selects the padding.
    index = np.zeros(codes.shape[1], dtype=np.intp)
    for u in fixed:
        index = index * factor.padded_table.shape[axis[u]] + codes[u]
    index = index * factor.table.shape[-2] + context
    shape = table.shape[len(fixed) + 1 :]
    flat = table.reshape(-1, prod(shape))
    return LogTable(tuple(free_members), flat.take(index, axis=0, mode="wrap").reshape(-1, *shape))


_MOST_COMBINATIONS = 2**16

LogJoint = Callable[[Codes], Array]


def score_combinations(
    log_joint: LogJoint, codes: Codes, hidden: Sequence[int], cards: Sequence[int]
) -> Array:
    """Return logs of rows with each combination of hidden values, (rows, n, classes)."""
    n = prod(cards)
    tried = np.repeat(codes, n, axis=1)
    tried[list(hidden)] = np.tile(np.indices(cards).reshape(len(cards), n), codes.shape[1])
    logs = log_joint(tried)
    return logs.reshape(codes.shape[1], n, logs.shape[1])


def fill_in_by_enumeration(log_joint: LogJoint, cards: Sequence[int], codes: Codes) -> Codes:
    """Return (variables, rows) codes with the most probable values for -1, scoring all.

    ``log_joint`` returns (rows, levels of the last variable) from the codes of
    the other variables.
    """
    result = codes.copy()
    incomplete = np.nonzero((codes < 0).any(axis=0))[0]
    for hidden, alike in groups_of_equal_columns(codes[:, incomplete] < 0):
        rows = incomplete[alike]
        features = [v for v in hidden if v < len(cards) - 1]
        shape = [cards[v] for v in features]
        n = prod(shape)
        if n > _MOST_COMBINATIONS:
            raise ValueError(
                f"frame: {len(hidden)} values are missing together in a row and have more than "
                f"{_MOST_COMBINATIONS:,} combinations, all of which an average of networks has to "
                "score. Use a single network (BNC)."
            )
        for some in slices(len(rows), n * len(cards)):
            block = rows[some]
            labels = codes[-1:, block].T
            logs = score_combinations(log_joint, codes[:-1, block], features, shape)
            possible: Mask = (labels == np.arange(cards[-1])) | (labels < 0)
            best = first_best(np.where(possible[:, None], logs, -np.inf).reshape(len(block), -1))
            result[np.ix_(np.array([*features, -1]), block)] = np.unravel_index(
                best, (*shape, cards[-1])
            )
    return result


def fill_in_by_elimination(
    terms: Sequence[NetworkTerm],
    codes: Codes,
    labels: Codes,
    rng: np.random.Generator | None = None,
) -> Codes:
    """Return codes and labels, (variables, rows), with the most probable values or drawn ones."""
    over: Over = np.max if rng is None else log_sum_exp
    choose = first_best if rng is None else partial(draw_column_per_row, rng=rng)
    factors, coded = as_factors_and_codes(terms, codes)
    result = np.vstack([coded, labels])
    unknown = np.nonzero(labels < 0)[0]
    if len(unknown):
        features = coded[:, unknown]
        by_class = sum_terms(factors, features)
        add_terms_by_elimination(by_class, factors, features, everywhere=True, over=over)
        result[-1, unknown] = choose(by_class)
    for component in components_of_missing(factors, coded, everywhere=True):
        joined, _ = eliminate_log_tables(component.order, component.tables, over)
        rows = np.arange(len(component.rows))
        # The last eliminated variable is chosen first; then those before it, given the chosen ones.
        for u, (scope, logs) in zip(reversed(component.order), reversed(joined), strict=True):
            index: list[Any] = [result[w, component.rows] for w in scope]
            index[scope.index(u)] = slice(None)
            classes = result[-1, component.rows] if logs.shape[-1] > 1 else np.zeros_like(rows)
            result[u, component.rows] = choose(logs[(rows, *index, classes)])
    return result


def draw_column_per_row(logs: Array, rng: np.random.Generator) -> Positions:
    """Draw a column in each row, in proportion to the exponentials."""
    thresholds = np.exp(log_normalize(logs)).cumsum(axis=1)[:, :-1]
    return np.asarray(np.count_nonzero(rng.random(len(logs))[:, None] >= thresholds, axis=1))
