"""Posteriors of class variables and their most probable labels: class variables are missing variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, first_best, log, log_sum_exp
from ..network import elimination
from ..network.elimination import Table, eliminate_tables, multiply, plan_scopes, restrict
from ..network.factors import Factor
from ..network.log_joints import BLOCK_ROWS, joint_in_blocks, network_joint

MOST_COMBINATIONS = 2**16
"""Largest number of combinations of labels that are enumerated."""

Terms = Sequence[Factor]


class MostProbable(NamedTuple):
    """Jointly most probable labels, (class variables, rows), and ln P(labels | features), (rows,)."""

    codes: NDArray[np.intp]
    logs: Array


def terms_of(network: Any) -> Terms:
    """Return the log tables of a network (`MBC`), and the empty table of a class with a single label."""
    pairs = zip(network.scopes, network.cpts or (), strict=True)
    return [
        *[Factor(scope, log(table)[..., None, None]) for scope, table in pairs],
        Factor((), np.zeros((1, 1))),
    ]


def log_joint_at(members: Sequence[Terms], codes: Codes, labels: Codes) -> Array:
    """Return ln P(labels, observed features), (rows,)."""
    return joint_in_blocks(members, np.concatenate([codes, labels]))[:, 0]


def log_marginals(members: Sequence[Terms], codes: Codes, cards: Sequence[int]) -> list[Array]:
    """Return for each class variable ln P(label, observed features), (rows, labels)."""
    found = [_marginals(terms, codes, cards) for terms in members]
    return [reduce(np.logaddexp, logs) - np.log(len(members)) for logs in zip(*found, strict=True)]


def _marginals(terms: Terms, codes: Codes, cards: Sequence[int]) -> list[Array]:
    results = [np.empty((codes.shape[1], card)) for card in cards]
    for start in range(0, codes.shape[1], BLOCK_ROWS):
        block = _with_unknown(codes[:, start : start + BLOCK_ROWS], cards)
        evidence = network_joint(terms, block)
        for i, rows, free, shares in elimination.beliefs(
            terms, block, np.zeros(block.shape[1], dtype=np.intp)
        ):
            if i >= len(codes):
                others = tuple([1 + axis for axis, v in enumerate(free) if v != i])
                results[i - len(codes)][start + rows] = log(shares.sum(axis=others)[..., 0]) + evidence[rows]
    return results


def _with_unknown(codes: Codes, cards: Sequence[int]) -> Codes:
    return np.concatenate([codes, np.full((len(cards), codes.shape[1]), -1, dtype=codes.dtype)])


def most_probable(members: Sequence[Terms], codes: Codes, cards: Sequence[int]) -> MostProbable:
    """Return the most probable combination of labels: of one network by max-product elimination."""
    if len(members) > 1:
        return _most_probable_by_trying(members, codes, cards)
    [terms] = members
    labels, logs = np.empty((len(cards), codes.shape[1]), dtype=np.intp), np.zeros(codes.shape[1])
    for start in range(0, codes.shape[1], BLOCK_ROWS):
        block = _with_unknown(codes[:, start : start + BLOCK_ROWS], cards)
        for run in elimination.runs(terms, block, everywhere=True):
            classes = [u for u in sorted(run.order) if u >= len(codes)]
            if classes:
                at = start + run.rows
                found, shares = _most_probable_of(terms, run, block, classes)
                labels[np.ix_(np.array(classes) - len(codes), at)] = found
                logs[at] += shares
        impossible = start + np.flatnonzero(network_joint(terms, block)[:, 0] == -np.inf)
        labels[:, impossible], logs[impossible] = 0, -np.log(prod(cards))
    return MostProbable(labels, logs)


def _most_probable_of(
    terms: Terms, run: elimination.Run, codes: Codes, classes: Sequence[int]
) -> tuple[NDArray[np.intp], Array]:
    """Return the best labels of connected class variables and the log of their share: sum, then maximum."""
    context = np.zeros(len(run.rows), dtype=np.intp)
    tables = [restrict(terms[i], set(run.order), codes[:, run.rows], context) for i in run.factors]
    card = {u: f.table.shape[f.scope.index(u)] for f in terms for u in f.scope if u in run.order}
    hidden = [u for u in run.order if u not in classes]
    for u in _plan(hidden, tables, card):
        scope, logs = multiply([table for table in tables if u in table.scope])
        rest = tuple([w for w in scope if w != u])
        summed = Table(rest, log_sum_exp(logs, axis=1 + scope.index(u)))
        tables = [*[table for table in tables if u not in table.scope], summed]
    order = _plan(classes, tables, card)
    total = eliminate_tables(order, tables)[1].logs[:, 0]
    found, best = _decode(order, tables, len(run.rows))
    return found, log_share(best, total, prod(card[u] for u in classes))


def _plan(part: Sequence[int], tables: Sequence[Table], card: Mapping[int, int]) -> list[int]:
    order, cells = plan_scopes(part, [table.scope for table in tables], card)
    elimination.check_plan(part, cells)
    return order


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


def _most_probable_by_trying(members: Sequence[Terms], codes: Codes, cards: Sequence[int]) -> MostProbable:
    n, rows = prod(cards), codes.shape[1]
    if n > MOST_COMBINATIONS:
        raise ValueError(
            f"joint must be False for more than {MOST_COMBINATIONS:,} combinations of labels; got {n:,}. "
            "Use joint=False, or mbc, which does not enumerate them."
        )
    labels, logs, every = (
        np.empty((len(cards), rows), dtype=np.intp),
        np.empty(rows),
        np.indices(cards).reshape(len(cards), n),
    )
    at_once = max(1, MOST_COMBINATIONS // n)
    for block in (slice(start, start + at_once) for start in range(0, rows, at_once)):
        some = codes[:, block]
        tried = np.tile(every, some.shape[1]).astype(np.int64)
        joint = log_joint_at(members, np.repeat(some, n, axis=1), tried).reshape(-1, n)
        best, logs[block] = best_of(joint)
        labels[:, block] = np.unravel_index(best, cards)
    return MostProbable(labels, logs)


def best_of(logs: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the first best of many columns in each row, and the log of its share."""
    top = logs.max(axis=1, keepdims=True)
    best = (logs >= top - TOLERANCE).argmax(axis=1)
    shifted = logs - np.where(top > -np.inf, top, 0.0)
    best_logs = np.take_along_axis(shifted, best[:, None], axis=1)[:, 0]
    return best, log_share(best_logs, log(np.exp(shifted).sum(axis=1)), logs.shape[1])
