"""Posteriors of each class variable in networks, and jointly most probable labels.

Families whose features are observed in a row become tables over their class parents. Tables over the same
classes are added up, and looked up for all rows at once, with joint labels in place of a class. Relevant
missing features form unconnected components; each component is marginalized over for all rows that have it,
which leaves a table over its classes. If that table would be large, its features are eliminated together
with the classes.

The posterior of each class variable follows from one elimination of the others, the most probable labels of a
network from one with maxima in place of sums, one class variable at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, first_best, log
from ..network.elimination import (
    Part,
    Table,
    distribute,
    eliminate_tables,
    hidden_parts,
    multiply,
    plan_scopes,
    restrict,
    sum_to,
)
from ..network.factors import Batch, Factor, Rows, sum_terms

MOST_COMBINATIONS = 2**16
"""Largest number of combinations of labels that are enumerated."""

MOST_CELLS = 2**20
"""Largest number of cells of a table of one row, 8 MiB."""

_SMALL_CELLS = 2**8  # number of cells of tables that result from eliminating missing features first
_BLOCK_ROWS = 2**13
_BLOCK_CELLS = 2**22

Scope = tuple[int, ...]


class ClassTables(NamedTuple):
    """Tables whose product is P(observed features | classes), over classes and missing features."""

    rows: Rows
    tables: list[Table]

    def blocks(self, cells: int) -> Iterator[ClassTables]:
        """Yield blocks of rows, so that tables with this number of cells per row fit in memory."""
        rows_per_block = max(1, _BLOCK_CELLS // cells)
        for block in (slice(i, i + rows_per_block) for i in range(0, len(self.rows), rows_per_block)):
            yield ClassTables(self.rows[block], [Table(scope, logs[block]) for scope, logs in self.tables])


@dataclass(frozen=True, eq=False)
class ClassFactors:
    """The log tables of a model with `n` features, then class variables.

    `by_classes` maps class variables to the families that have features and these, as factors, with the joint
    labels of the class variables in place of the class. `feature_factors` has the same families with class
    variables as ordinary members, and `parents` the parents of each variable in them. `graphs` has
    the tables of class variables alone, for each network that is averaged.
    """

    n: int
    cards: tuple[int, ...]
    by_classes: Mapping[Scope, list[Factor]]
    feature_factors: list[Factor]
    parents: Mapping[int, Scope]
    graphs: list[list[Table]]


def sort_tables(networks: Sequence[Any]) -> ClassFactors:
    """Sort the tables of networks (`MBC`), which differ at most in the tables of class variables alone."""
    n, cards = len(networks[0].features), networks[0].cards
    tables = [list(zip(network.scopes, network.cpts or (), strict=True)) for network in networks]
    by_classes: dict[Scope, list[Factor]] = {}
    feature_factors = []
    parents: dict[int, Scope] = dict.fromkeys(range(len(cards)), ())
    for scope, table in tables[0]:
        if min(scope) < n:
            order = sorted(range(len(scope)), key=lambda i: (scope[i] >= n, scope[i] if scope[i] >= n else i))
            logs = np.ascontiguousarray(np.transpose(log(table), order))
            members = tuple([scope[i] for i in order])
            n_features = sum(v < n for v in members)
            feature_factors.append(Factor(members, logs[..., None, None]))
            factor = Factor(members[:n_features], logs.reshape(*logs.shape[:n_features], 1, -1))
            by_classes.setdefault(members[n_features:], []).append(factor)
            parents[scope[0]] = scope[1:]
    graphs = [
        [
            Table(tuple(sorted(scope)), np.transpose(log(table), np.argsort(scope))[None, ..., None])
            for scope, table in own_tables
            if min(scope) >= n
        ]
        for own_tables in tables
    ]
    return ClassFactors(n, cards, by_classes, feature_factors, parents, graphs)


def reduce_rows(parts: ClassFactors, codes: Codes, *, closed: bool = False) -> Iterator[ClassTables]:
    """Yield tables over classes for groups of rows with tables over the same variables.

    `codes` are (features, rows), -1 where missing. If `closed`, all missing features are marginalized over.
    If not, features that would join many class variables stay in the tables. Raise a ValueError if
    marginalization would need too large a table.
    """
    cells = sum(prod(parts.cards[c] for c in classes) for classes in parts.by_classes) + 1
    rows_per_block = max(1, min(_BLOCK_ROWS, _BLOCK_CELLS // cells))
    for start in range(0, codes.shape[1], rows_per_block):
        rows = np.arange(start, min(start + rows_per_block, codes.shape[1]))
        yield from _reduce_block(parts, codes, rows, closed)


def _reduce_block(parts: ClassFactors, codes: Codes, rows: Rows, closed: bool) -> Iterator[ClassTables]:
    block_codes = codes[:, rows]
    runs = _plan_parts(parts, block_codes, closed)
    if sum(len(run.rows) * run.cells for run in runs) > 4 * _BLOCK_CELLS and len(rows) > 1:
        for half in np.array_split(rows, 2):
            yield from _reduce_block(parts, codes, half, closed)
        return
    tables = _look_up(parts, block_codes)
    added: dict[Scope, list[tuple[Rows, Array]]] = {}
    for run in runs:
        for table in _sum_out(run, block_codes):
            wider = next((t for t in tables if set(table.scope) <= set(t.scope)), None)
            if wider is None:
                added.setdefault(table.scope, []).append((run.rows, table.logs))
            else:  # without an additional table, so that there are fewer groups of rows
                wider.logs[run.rows] = multiply([Table(wider.scope, wider.logs[run.rows]), table]).logs
    for group, extra in _group(added, len(rows)):
        yield ClassTables(rows[group], [*(Table(scope, logs[group]) for scope, logs in tables), *extra])


def _look_up(parts: ClassFactors, codes: Codes) -> list[Table]:
    """Return the tables of families whose features are observed; others are 0 throughout."""
    rows = codes.shape[1]
    complete = codes.min(initial=0) >= 0
    tables = [Table((), np.zeros((rows, 1)))]
    for classes, factors in parts.by_classes.items():
        logs = sum_terms(factors, Batch(codes, complete=complete))
        tables.append(Table(classes, logs.reshape(rows, *[parts.cards[c] for c in classes], 1)))
    return tables


class Elimination(NamedTuple):
    """Features to eliminate in order, of a `part`, their factors, `cells` of the largest table, and rows."""

    part: Part
    order: list[int]
    factors: list[Factor]
    rows: Rows
    cells: int


def _plan_parts(parts: ClassFactors, codes: Codes, closed: bool) -> list[Elimination]:
    """Plan the elimination of the relevant missing features."""
    if not any(v < parts.n for scope in parts.parents.values() for v in scope) or codes.min(initial=0) >= 0:
        return []  # a missing feature that is not a parent sums to 1
    class_codes = np.zeros((len(parts.cards) - parts.n, codes.shape[1]), dtype=codes.dtype)
    runs: list[Elimination] = []
    for part, rows in hidden_parts(parts.parents, np.vstack([codes, class_codes])).items():
        factors = [factor for factor in parts.feature_factors if not set(factor.scope).isdisjoint(part)]
        order, cells = plan_scopes(part, [factor.scope for factor in factors], dict(enumerate(parts.cards)))
        if not closed and cells > _SMALL_CELLS:
            order, cells = [], 1
        if cells > MOST_CELLS:
            raise ValueError(
                f"newdata must have fewer missing values per row; marginalizing over {len(part)} features "
                f"needs a table of {cells:,} cells, more than {MOST_CELLS:,}. Use joint=False, or learn with "
                "features='empty' or a lower max_parents."
            )
        runs.append(Elimination(part, order, factors, rows, cells))
    return runs


def _sum_out(run: Elimination, codes: Codes) -> list[Table]:
    """Marginalize over features of their families; return tables over classes and features that stay."""
    row_codes = codes[:, run.rows]
    context = np.zeros(row_codes.shape[1], dtype=np.intp)
    free = {v for factor in run.factors for v in factor.scope if v in run.part or v >= len(codes)}
    tables = [restrict(factor, free, row_codes, context) for factor in run.factors]
    return [eliminate_tables(run.order, tables)[1]] if run.order else tables


def _group(
    added: Mapping[Scope, list[tuple[Rows, Array]]], n_rows: int
) -> Iterator[tuple[Rows, list[Table]]]:
    """Yield rows that have further tables over the same classes, with these."""
    if not added:
        yield np.arange(n_rows), []
        return
    scopes = list(added)
    positions = np.full((len(scopes), n_rows), -1, dtype=np.intp)
    summed = []
    for position, scope in zip(positions, scopes, strict=True):
        rows = np.concatenate([rows for rows, _ in added[scope]])
        logs = np.concatenate([np.broadcast_to(t, (len(r), *t.shape[1:])) for r, t in added[scope]])
        distinct, inverse = np.unique(rows, return_inverse=True)
        total = np.zeros((len(distinct), *logs.shape[1:]))
        np.add.at(total, inverse, logs)
        position[distinct] = np.arange(len(distinct))
        summed.append(total)
    patterns, pattern_numbers = np.unique(positions >= 0, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        group = np.nonzero(pattern_numbers.reshape(-1) == number)[0]
        yield group, [Table(scopes[i], summed[i][positions[i, group]]) for i in np.nonzero(pattern)[0]]


class MostProbable(NamedTuple):
    """Jointly most probable labels, (class variables, rows), and ln P(labels | features), (rows,)."""

    codes: NDArray[np.intp]
    logs: Array


def log_marginals(parts: ClassFactors, codes: Codes) -> list[Array]:
    """Return for each class variable ln P(label, observed features), (rows, labels)."""
    results = [np.empty((codes.shape[1], card)) for card in parts.cards[parts.n :]]
    for evidence in reduce_rows(parts, codes):
        plans = [_plan(parts, [*evidence.tables, *graph]) for graph in parts.graphs]
        for rows, tables in evidence.blocks(max(cells for _, cells in plans)):
            members = [
                _marginals(parts, order, [*tables, *graph], len(rows))
                for (order, _), graph in zip(plans, parts.graphs, strict=True)
            ]
            for result, *member_logs in zip(results, *members, strict=True):
                result[rows] = reduce(np.logaddexp, member_logs) - np.log(len(members))
    return results


def _marginals(parts: ClassFactors, order: Sequence[int], tables: Sequence[Table], rows: int) -> list[Array]:
    """Return ln P(label, observed features) of each class variable, marginalized over all others."""
    joined, remainder = eliminate_tables(order, tables)
    beliefs = distribute(order, joined)
    evidence = np.broadcast_to(remainder.logs, (rows, 1))
    by_class = {u: sum_to(beliefs[i], (u,)).logs[..., 0] for i, u in enumerate(order) if u >= parts.n}
    return [log(by_class[u]) + evidence for u in sorted(by_class)]


def _plan(parts: ClassFactors, tables: Sequence[Table], extra: int = 1) -> tuple[list[int], int]:
    """Order the elimination of all variables; raise if ``extra`` times a table would be too large."""
    scopes = [table.scope for table in tables]
    hidden = {v for scope in scopes for v in scope if v < parts.n}
    variables = [*sorted(hidden), *range(parts.n, len(parts.cards))]
    order, cells = plan_scopes(variables, scopes, dict(enumerate(parts.cards)))
    if cells * extra > MOST_CELLS:
        raise ValueError(
            "x must have fewer class variables that are parents of the same features; marginalizing needs a "
            f"table of {cells * extra:,} cells per row, more than {MOST_CELLS:,}. Learn with a lower "
            "max_parents, with classes='empty' or features='empty', or with fewer class variables."
        )
    return order, cells * extra


def most_probable(parts: ClassFactors, codes: Codes) -> MostProbable:
    """Return the most probable combination of labels: of one network by max-product elimination."""
    if len(parts.graphs) > 1:
        return _most_probable_by_trying(parts, codes)
    [graph] = parts.graphs
    cards = parts.cards[parts.n :]
    labels = np.empty((len(cards), codes.shape[1]), dtype=np.intp)
    logs = np.empty(codes.shape[1])
    for evidence in reduce_rows(parts, codes, closed=True):
        # A class variable that is kept to the end is in all intermediate tables.
        order, cells = _plan(parts, [*evidence.tables, *graph], extra=max(cards))
        for rows, evidence_tables in evidence.blocks(cells):
            tables = [*evidence_tables, *graph]
            total = eliminate_tables(order, tables)[1].logs[:, 0]
            labels[:, rows], best = _decode(order, tables, len(rows))
            logs[rows] = log_share(best, total, prod(cards))
    return MostProbable(labels, logs)


def _decode(order: Sequence[int], tables: Sequence[Table], rows: int) -> tuple[NDArray[np.intp], Array]:
    """Choose labels of the class variables one by one, each the first that leads to the maximum."""
    labels = []
    remaining = list(order)
    for u in sorted(order):
        remaining.remove(u)
        best = eliminate_tables(remaining, tables, np.max)[1].logs
        label = first_best(np.broadcast_to(best[..., 0], (rows, best.shape[1])))
        labels.append(label)
        tables = [_fix(table, u, label) for table in tables]
    return np.array(labels), np.broadcast_to(multiply(tables).logs[:, 0], rows)


def _fix(table: Table, u: int, label: NDArray[np.intp]) -> Table:
    """Select the part of each row's table at a label of a class variable."""
    if u not in table.scope:
        return table
    axis = 1 + table.scope.index(u)
    index = label.reshape(-1, *[1] * (table.logs.ndim - 1))
    logs = np.take_along_axis(table.logs, index, axis=axis).squeeze(axis)
    return Table(tuple([w for w in table.scope if w != u]), logs)


def log_share(logs: Array, evidence: Array, combinations: int) -> Array:
    """Return the log posteriors of combinations of labels, uniform in impossible rows."""
    possible = evidence > -np.inf
    return np.where(possible, logs - np.where(possible, evidence, 0.0), -np.log(combinations))


def _most_probable_by_trying(parts: ClassFactors, codes: Codes) -> MostProbable:
    cards = parts.cards[parts.n :]
    n = prod(cards)
    if n > MOST_COMBINATIONS:
        raise ValueError(
            f"joint must be False for more than {MOST_COMBINATIONS:,} combinations of labels; got {n:,}. "
            "Use joint=False, or mbc, which does not enumerate them."
        )
    classes = tuple(range(parts.n, len(parts.cards)))
    full_table = Table(classes, np.zeros((1, *cards, 1)))
    members = [multiply([full_table, *graph]).logs for graph in parts.graphs]
    prior = Table(classes, reduce(np.logaddexp, members) - np.log(len(members)))
    labels = np.empty((len(cards), codes.shape[1]), dtype=np.intp)
    logs = np.empty(codes.shape[1])
    for evidence in reduce_rows(parts, codes, closed=True):
        for rows, tables in evidence.blocks(n):
            joint = multiply([*tables, prior]).logs.reshape(-1, n)
            best, logs[rows] = best_of(joint)
            labels[:, rows] = np.unravel_index(best, cards)
    return MostProbable(labels, logs)


def best_of(logs: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the first best of many columns in each row, and the log of its share."""
    top = logs.max(axis=1, keepdims=True)
    best = (logs >= top - TOLERANCE).argmax(axis=1)
    shifted = logs - np.where(top > -np.inf, top, 0.0)
    best_logs = np.take_along_axis(shifted, best[:, None], axis=1)[:, 0]
    return best, log_share(best_logs, log(np.exp(shifted).sum(axis=1)), logs.shape[1])


def log_joint_at(parts: ClassFactors, codes: Codes, labels: Codes) -> Array:
    """Return ln P(labels, observed features), (rows,)."""
    logs = np.empty(codes.shape[1])
    for rows, tables in reduce_rows(parts, codes):
        block_labels = labels[:, rows].astype(np.intp)
        bridge = _at(parts, tables, block_labels)
        graphs = [_at(parts, graph, block_labels) for graph in parts.graphs]
        logs[rows] = bridge + reduce(np.logaddexp, graphs) - np.log(len(graphs))
    return logs


def _at(parts: ClassFactors, tables: Sequence[Table], labels: NDArray[np.intp]) -> Array:
    """Return the log of the product of tables at labels, row by row, marginalized over missing features."""
    tables = [*tables, Table((), np.zeros((1, 1)))]  # possibly without other variables
    for number, label in enumerate(labels):
        tables = [_fix(table, parts.n + number, label) for table in tables]
    hidden = [v for v in _plan(parts, tables)[0] if v < parts.n]
    total = eliminate_tables(hidden, tables)[1].logs[:, 0]
    return np.broadcast_to(total, labels.shape[1])
