"""Posteriors of class variables and their most probable labels: class variables are missing variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, Positions, blocks, first_best, log
from ..network.elimination import (
    BLOCK_ROWS,
    LogTable,
    Part,
    beliefs,
    check_plan,
    collect,
    first_of_many,
    hidden_parts,
    joint_in_blocks,
    multiply,
    network_joint,
    plan_scopes,
    score_all,
)
from ..network.factors import Factor

MOST_COMBINATIONS = 2**16
"""Largest number of combinations of labels that are enumerated."""


def terms_of(network: Any) -> Sequence[Factor]:
    """Return the log tables of a network (`MBC`), and the empty table of a class with a single label."""
    pairs = zip(network.scopes, network.cpts or (), strict=True)
    return [
        *[Factor(scope, log(table)[..., None, None]) for scope, table in pairs],
        Factor((), np.zeros((1, 1))),
    ]


def log_joint_at(members: Sequence[Sequence[Factor]], codes: Codes, labels: Codes) -> Array:
    """Return ln P(labels, observed features), (rows,); a label of -1 is unknown."""
    return joint_in_blocks(members, np.concatenate([codes, labels]))[:, 0]


def unknown(codes: Codes, cards: Sequence[int]) -> Codes:
    """Return unknown labels for rows."""
    return np.full((len(cards), codes.shape[1]), -1, dtype=codes.dtype)


def log_marginals(members: Sequence[Sequence[Factor]], codes: Codes, cards: Sequence[int]) -> list[Array]:
    """Return for each class variable ln P(label, observed features), (rows, labels)."""
    found = [_marginals(terms, codes, cards) for terms in members]
    return [reduce(np.logaddexp, logs) - np.log(len(members)) for logs in zip(*found, strict=True)]


def _marginals(terms: Sequence[Factor], codes: Codes, cards: Sequence[int]) -> list[Array]:
    results = [np.empty((codes.shape[1], card)) for card in cards]
    variables = np.concatenate([codes, unknown(codes, cards)])
    for block in blocks(codes.shape[1], BLOCK_ROWS):
        evidence = network_joint(terms, variables[:, block])
        for i, rows, free, shares in beliefs(terms, variables[:, block]):
            if i >= len(codes):
                others = tuple([1 + axis for axis, v in enumerate(free) if v != i])
                results[i - len(codes)][block][rows] = log(shares.sum(axis=others)[..., 0]) + evidence[rows]
    return results


def most_probable(members: Sequence[Sequence[Factor]], codes: Codes, cards: Sequence[int]) -> Positions:
    """Return the most probable combination of labels, (class variables, rows), the first if tied."""
    if len(members) > 1:
        return _best_of_all(members, codes, cards)
    [terms] = members
    labels = np.zeros((len(cards), codes.shape[1]), dtype=np.intp)
    variables = np.concatenate([codes, unknown(codes, cards)])
    for block in blocks(codes.shape[1], BLOCK_ROWS):
        for part in hidden_parts(terms, variables[:, block], everywhere=True):
            for u, chosen in _best_labels(part, len(codes)).items():
                labels[u - len(codes), block][part.rows] = chosen
        labels[:, block][:, network_joint(terms, variables[:, block])[:, 0] == -np.inf] = 0
    return labels


def _best_labels(part: Part, first_class: int) -> dict[int, Positions]:
    """Return the best labels of connected class variables: a sum over features, a maximum over classes."""
    card = {u: r for scope, logs in part.tables for u, r in zip(scope, logs.shape[1:], strict=False)}
    _, tables = collect(_plan([u for u in part.order if u < first_class], part.tables, card), part.tables)
    order = _plan([u for u in part.order if u >= first_class], tables, card)
    chosen: dict[int, Positions] = {}
    for u in sorted(order):  # one by one, each the first label that leads to the maximum
        order.remove(u)
        best = multiply(collect(order, tables, np.max)[1]).logs[..., 0]
        chosen[u] = first_best(np.broadcast_to(best, (len(part.rows), best.shape[1])))
        tables = [_fix(table, u, chosen[u]) for table in tables]
    return chosen


def _plan(part: Sequence[int], tables: Sequence[LogTable], card: Mapping[int, int]) -> list[int]:
    order, cells = plan_scopes(part, [table.scope for table in tables], card)
    check_plan(part, cells)
    return order


def _fix(table: LogTable, u: int, label: Positions) -> LogTable:
    """Select the part of each row's table at a label of a class variable."""
    if u not in table.scope:
        return table
    axis = 1 + table.scope.index(u)
    index = label.reshape(-1, *[1] * (table.logs.ndim - 1))
    logs = np.take_along_axis(table.logs, index, axis=axis).squeeze(axis)
    return LogTable(tuple([w for w in table.scope if w != u]), logs)


def _best_of_all(members: Sequence[Sequence[Factor]], codes: Codes, cards: Sequence[int]) -> Positions:
    n = prod(cards)
    if n > MOST_COMBINATIONS:
        raise ValueError(
            f"joint must be False for more than {MOST_COMBINATIONS:,} combinations of labels; got {n:,}. "
            "Use joint=False, or mbc, which does not enumerate them."
        )
    variables = np.concatenate([codes, unknown(codes, cards)])
    hidden, best = range(len(codes), len(variables)), np.empty(codes.shape[1], dtype=np.intp)
    for block in blocks(len(best), MOST_COMBINATIONS, n):
        logs = score_all(lambda tried: joint_in_blocks(members, tried), variables[:, block], hidden, cards)
        best[block] = first_of_many(logs[..., 0])
    return np.array(np.unravel_index(best, cards))
