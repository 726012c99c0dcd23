"""Posteriors of each class variable, and the likeliest labels of all together, row by row.

A kind of model registers here how it finds them. Where it has tables over classes, each class variable's
posterior follows from one elimination of the others, and the likeliest labels from one with maxima in place
of sums, a class variable at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce, singledispatch
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, first_best, log, log_sum_exp
from ..network.elimination import Table, distribute, eliminate_tables, multiply, plan_scopes, sum_to
from .maode import MAODE
from .mbc import MBC, MultiModel
from .reduction import MOST_CELLS, Parts, parts_of, reduce_rows

MOST_COMBINATIONS = 2**16
"""Combinations of labels that are tried, where all must be."""


class Likeliest(NamedTuple):
    """The likeliest labels of all class variables together.

    Attributes
    ----------
    codes : (class variables, rows) array of int
    logs : (rows,) array
        The log of their posterior probability.
    """

    codes: NDArray[np.intp]
    logs: Array


@singledispatch
def log_marginals(x: MultiModel, codes: Codes) -> list[Array]:
    """Return for each class variable ln P(label, known features), (rows, labels), from codes of features.

    Of a chain, which gives features no probability, ln P(label | known features).
    """
    return x._log_marginals(codes)


@singledispatch
def likeliest(x: MultiModel, codes: Codes) -> Likeliest:
    """Return the likeliest combination of labels, from codes of features; of tied ones the first."""
    return x._most_probable(codes)


@singledispatch
def log_joint_at(x: MultiModel, codes: Codes, labels: Codes) -> Array:
    """Return ln P(labels, known features), (rows,), from codes of features and of class variables."""
    return x._log_joint_at(codes, labels)


def log_evidence(x: MultiModel, codes: Codes) -> Array:
    """Return ln P(known features), (rows,); of a chain 0."""
    return log_sum_exp(log_marginals(x, codes)[0])


@log_marginals.register(MBC)
@log_marginals.register(MAODE)
def _(x: MBC | MAODE, codes: Codes) -> list[Array]:
    parts = parts_of(x)
    results = [np.empty((codes.shape[1], card)) for card in x.class_cards]
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


def _marginals(parts: Parts, order: Sequence[int], tables: Sequence[Table], rows: int) -> list[Array]:
    """Return the log joint of each class variable and the known features, all else summed out."""
    joined, remainder = eliminate_tables(order, tables)
    beliefs = distribute(order, joined)
    evidence = np.broadcast_to(remainder.logs, (rows, 1))
    by_class = {u: sum_to(beliefs[i], (u,)).logs[..., 0] for i, u in enumerate(order) if u >= parts.n}
    return [log(by_class[u]) + evidence for u in sorted(by_class)]


def _plan(parts: Parts, tables: Sequence[Table], extra: int = 1) -> tuple[list[int], int]:
    """Order the elimination of all variables; raise if ``extra`` times a table would be too large."""
    scopes = [table.scope for table in tables]
    hidden = {v for scope in scopes for v in scope if v < parts.n}
    variables = [*sorted(hidden), *range(parts.n, len(parts.cards))]
    order, cells = plan_scopes(variables, scopes, dict(enumerate(parts.cards)))
    if cells * extra > MOST_CELLS:
        raise ValueError(
            "x: to sum over class variables that are parents of the same features would need a table of "
            f"{cells * extra:,} cells for each row, more than {MOST_CELLS:,}; learn with a lower "
            "max_parents, with classes='empty' or features='empty', or take fewer class variables"
        )
    return order, cells * extra


@likeliest.register
def _(x: MBC, codes: Codes) -> Likeliest:
    parts = parts_of(x)
    [graph] = parts.graphs
    labels = np.empty((len(x.class_vars), codes.shape[1]), dtype=np.intp)
    logs = np.empty(codes.shape[1])
    for evidence in reduce_rows(parts, codes, closed=True):
        # A class variable that is kept to the end is in all tables on the way.
        order, cells = _plan(parts, [*evidence.tables, *graph], extra=max(x.class_cards))
        for rows, evidence_tables in evidence.blocks(cells):
            tables = [*evidence_tables, *graph]
            total = eliminate_tables(order, tables)[1].logs[:, 0]
            labels[:, rows], best = _decode(order, tables, len(rows))
            logs[rows] = _share(best, total, prod(x.class_cards))
    return Likeliest(labels, logs)


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


@likeliest.register
def _(x: MAODE, codes: Codes) -> Likeliest:
    cards = x.class_cards
    n = check_combinations(cards)
    parts = parts_of(x)
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
    return Likeliest(labels, logs)


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
            "try all; joint=False gives the likeliest label of each class variable, and mbc finds the "
            "likeliest combination without trying all"
        )
    return n


@log_joint_at.register(MBC)
@log_joint_at.register(MAODE)
def _(x: MBC | MAODE, codes: Codes, labels: Codes) -> Array:
    parts = parts_of(x)
    logs = np.empty(codes.shape[1])
    for rows, tables in reduce_rows(parts, codes):
        block_labels = labels[:, rows].astype(np.intp)
        bridge = _at(parts, tables, block_labels)
        graphs = [_at(parts, graph, block_labels) for graph in parts.graphs]
        logs[rows] = bridge + reduce(np.logaddexp, graphs) - np.log(len(graphs))
    return logs


def _at(parts: Parts, tables: Sequence[Table], labels: NDArray[np.intp]) -> Array:
    """Multiply what tables say of known labels, row by row, summing over missing features."""
    tables = [*tables, Table((), np.zeros((1, 1)))]  # there may be no other
    for number, label in enumerate(labels):
        tables = [_fix(table, parts.n + number, label) for table in tables]
    hidden = [v for v in _plan(parts, tables)[0] if v < parts.n]
    total = eliminate_tables(hidden, tables)[1].logs[:, 0]
    return np.broadcast_to(total, labels.shape[1])
