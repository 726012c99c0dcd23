"""Posteriors of each class variable, and the most probable labels of all together, row by row.

The posterior of each class variable follows from one elimination of the others, the most probable labels of a
network from one with maxima in place of sums, one class variable at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, first_best, log
from ..network.elimination import Table, distribute, eliminate_tables, multiply, plan_scopes, sum_to
from .class_tables import MOST_CELLS, ClassFactors, reduce_rows

MOST_COMBINATIONS = 2**16
"""Largest number of combinations of labels that are all tried."""


class MostProbable(NamedTuple):
    """The most probable labels of all class variables together.

    `codes` is (class variables, rows), and `logs` (rows,) has the log of their posterior probability.
    """

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
            "x: marginalizing over class variables that are parents of the same features would need a "
            f"table of {cells * extra:,} cells for each row, more than {MOST_CELLS:,}; learn with a lower "
            "max_parents, with classes='empty' or features='empty', or with fewer class variables"
        )
    return order, cells * extra


def most_probable(parts: ClassFactors, codes: Codes) -> MostProbable:
    """Return the most probable combination of labels of one network, by max-product elimination."""
    [graph] = parts.graphs
    cards = parts.cards[parts.n :]
    labels = np.empty((len(cards), codes.shape[1]), dtype=np.intp)
    logs = np.empty(codes.shape[1])
    for evidence in reduce_rows(parts, codes, closed=True):
        # A class variable that is kept to the end is in all tables on the way.
        order, cells = _plan(parts, [*evidence.tables, *graph], extra=max(cards))
        for rows, evidence_tables in evidence.blocks(cells):
            tables = [*evidence_tables, *graph]
            total = eliminate_tables(order, tables)[1].logs[:, 0]
            labels[:, rows], best = _decode(order, tables, len(rows))
            logs[rows] = _share(best, total, prod(cards))
    return MostProbable(labels, logs)


def _decode(order: Sequence[int], tables: Sequence[Table], rows: int) -> tuple[NDArray[np.intp], Array]:
    """Choose a label of one class variable after the other, each the first that leads to the maximum."""
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
    """Take from each row's table the part at a label of a class variable."""
    if u not in table.scope:
        return table
    axis = 1 + table.scope.index(u)
    index = label.reshape(-1, *[1] * (table.logs.ndim - 1))
    logs = np.take_along_axis(table.logs, index, axis=axis).squeeze(axis)
    return Table(tuple([w for w in table.scope if w != u]), logs)


def _share(logs: Array, evidence: Array, combinations: int) -> Array:
    """Return log posteriors; in rows that are impossible all combinations are alike."""
    possible = evidence > -np.inf
    return np.where(possible, logs - np.where(possible, evidence, 0.0), -np.log(combinations))


def most_probable_by_trying(parts: ClassFactors, codes: Codes) -> MostProbable:
    """Return the most probable combination of labels of an average of networks, by trying all."""
    cards = parts.cards[parts.n :]
    n = check_combinations(cards)
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
    """Return the first of the best of many columns in each row, and its share of all in logs."""
    top = logs.max(axis=1, keepdims=True)
    best = (logs >= top - TOLERANCE).argmax(axis=1)
    shifted = logs - np.where(top > -np.inf, top, 0.0)
    best_logs = np.take_along_axis(shifted, best[:, None], axis=1)[:, 0]
    total = np.exp(shifted).sum(axis=1)
    return best, np.where(total > 0, best_logs - log(total), -np.log(logs.shape[1]))


def check_combinations(cards: Sequence[int]) -> int:
    """Return the number of combinations of labels, or raise if they are too many to try."""
    n = prod(cards)
    if n > MOST_COMBINATIONS:
        raise ValueError(
            f"joint: there are {n:,} combinations of labels, more than {MOST_COMBINATIONS:,}, too many to "
            "try all; joint=False returns the most probable label of each class variable, and mbc finds "
            "the most probable combination without trying all"
        )
    return n


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
    tables = [*tables, Table((), np.zeros((1, 1)))]  # there may be no other
    for number, label in enumerate(labels):
        tables = [_fix(table, parts.n + number, label) for table in tables]
    hidden = [v for v in _plan(parts, tables)[0] if v < parts.n]
    total = eliminate_tables(hidden, tables)[1].logs[:, 0]
    return np.broadcast_to(total, labels.shape[1])
