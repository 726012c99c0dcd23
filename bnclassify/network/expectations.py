"""What is to be expected of rows in which values are missing, the class among them, by exact inference.

Messages go through a network twice, up and down again, whatever the number of families: the expected
counts of all tables and the posteriors of all missing values come from the same two passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..base.arrays import Array, Codes, log, log_sum_exp, share_out
from . import elimination, forests
from .factors import Belief, Factor, Rows, sum_factors

Scope = tuple[int, ...]

_BLOCK_ROWS = 2**13
_BLOCK_CELLS = 2**22


class Cases(NamedTuple):
    """Rows with a class each. A row without one is as many cases as there are classes.

    Attributes
    ----------
    rows : (rows,) array of int
    labelled : bool
        Whether these rows have a class.
    copies : int
        The number of cases that each row makes, one after the other.
    codes : (features, cases) array
        -1 where missing.
    classes : (cases,) array
    """

    rows: Rows
    labelled: bool
    copies: int
    codes: Codes
    classes: Codes


def lay_out(codes: Codes, cards: Sequence[int]) -> list[Cases]:
    """Lay rows out for `expect`, in blocks that keep memory bounded.

    Parameters
    ----------
    codes : (variables, rows) array of integers
        The features, and the class last; -1 where missing.
    cards : sequence of int
        Their numbers of levels.
    """
    *features, n_classes = cards
    is_labelled = codes[-1] >= 0
    cases_per_block = min(_BLOCK_ROWS, _BLOCK_CELLS // max(1, sum(features)))
    blocks = []
    for labelled, copies in ((True, 1), (False, n_classes)):
        positions = np.nonzero(is_labelled == labelled)[0]
        rows_per_block = max(1, cases_per_block // copies)
        for rows in (positions[i : i + rows_per_block] for i in range(0, len(positions), rows_per_block)):
            block = codes.take(rows, axis=1)
            classes = block[-1].astype(np.intp) if labelled else np.tile(np.arange(copies), len(rows))
            blocks.append(Cases(rows, labelled, copies, block[:-1].repeat(copies, axis=1), classes))
    return blocks


def expect(
    scopes: Sequence[Scope],
    tables: Sequence[Array],
    cases: Sequence[Cases],
    weights: Array | None = None,
) -> tuple[list[Array], float]:
    """Return how many rows are to be expected in each cell of each table, and the log-likelihood.

    Parameters
    ----------
    scopes : sequence of tuple of int
        The families by number, as ``BNC.scopes``.
    tables : sequence of arrays
        Their tables, axes in family order.
    cases : sequence of Cases
        Rows laid out.
    weights : (rows,) array, optional
        How often each row counts.

    Returns
    -------
    list of arrays
        Shapes as of ``tables``. Rows in which nothing of a family is missing are not counted in its table:
        those counts do not depend on the tables.
    float
        Σ ln P(what the row shows), in nats.

    Notes
    -----
    The expected count of a cell is the sum over rows of P(cell | what the row shows).
    """
    of_class = len(scopes) - 1
    factors = _given_class(scopes, tables)
    counts = [np.zeros(factor.table.shape[:-1]) for factor in factors]
    evidence = 0.0
    for block in cases:
        log_joints, beliefs = _sweep(factors, block)
        logs_by_row = log_joints.reshape(-1, block.copies)
        times = np.ones(len(logs_by_row)) if weights is None else weights[block.rows]
        evidence += float(times[times > 0] @ log_sum_exp(logs_by_row)[times > 0])
        shares = (share_out(logs_by_row, axis=1) * times[:, None]).ravel()
        for belief in beliefs:
            _add(counts[belief.factor], factors[belief.factor].scope, belief, block, shares)
        if not block.labelled:
            for i, factor in [(i, factors[i]) for i, scope in enumerate(scopes) if of_class in scope]:
                rows = np.nonzero((block.codes[list(factor.scope)] >= 0).all(axis=0))[0]
                _add(counts[i], factor.scope, Belief(i, rows, (), np.ones(len(rows))), block, shares)
    return [_by_family(scope, table, of_class) for scope, table in zip(scopes, counts, strict=True)], evidence


def marginals(scopes: Sequence[Scope], tables: Sequence[Array], codes: Codes) -> list[Array]:
    """Return the posterior of each variable in each row, P(value | what the row shows).

    Parameters
    ----------
    scopes, tables
        As in `expect`.
    codes : (variables, rows) array of integers
        The features, and the class last; -1 where missing.

    Returns
    -------
    list of (rows, levels) arrays
        Of each variable. What the row shows has probability 1. A row that is impossible has 0 throughout
        where it shows nothing.
    """
    cards = [len(table) for table in tables]
    posteriors = [
        (column[:, None] == np.arange(card)).astype(float) for column, card in zip(codes, cards, strict=True)
    ]
    factors = _given_class(scopes, tables)
    for block in lay_out(codes, cards):
        log_joints, beliefs = _sweep(factors, block)
        shares = share_out(log_joints.reshape(-1, block.copies), axis=1)
        if not block.labelled:
            posteriors[-1][block.rows] = shares
        rows, by_case = block.rows.repeat(block.copies), shares.ravel()
        for v, cases, free, posterior in beliefs:
            if v in free:
                axes = tuple(1 + i for i, u in enumerate(free) if u != v)
                mass = posterior[..., 0].sum(axis=axes) * by_case[cases, None]
                np.add.at(posteriors[v], rows[cases], mass)
    return posteriors


def _sweep(factors: Sequence[Factor], cases: Cases) -> tuple[Array, Iterator[Belief]]:
    """Return the log joint of each case, and what is then known of missing values, to be taken once."""
    log_joints = sum_factors(factors, cases.codes, cases.classes, complete=False)
    if forests.is_forest(factors):
        evidence = list(forests.ascend(log_joints, factors, cases.codes, cases.classes, leaves=True))
        return log_joints, forests.descend(evidence, factors, cases.codes, cases.classes)
    elimination.add_missing(log_joints, factors, cases.codes, cases.classes)
    return log_joints, elimination.beliefs(factors, cases.codes, cases.classes)


def _given_class(scopes: Sequence[Scope], tables: Sequence[Array]) -> list[Factor]:
    """Turn tables into factors whose context is the class, which is observed in every case."""
    of_class, n_classes = len(scopes) - 1, len(tables[-1])
    factors = []
    for scope, table in zip(scopes, tables, strict=True):
        logs = log(table)
        if scope[0] == of_class:
            logs = np.moveaxis(logs, 0, -1)
        elif scope[-1] != of_class:
            logs = np.repeat(logs[..., None], n_classes, axis=-1)
        factors.append(Factor(tuple([v for v in scope if v != of_class]), logs[..., None]))
    return factors


def _by_family(scope: Scope, counts: Array, of_class: int) -> Array:
    """Give counts by features and class the axes of their family."""
    if scope[0] == of_class:
        return np.moveaxis(counts, -1, 0)
    return counts if scope[-1] == of_class else counts.sum(axis=-1)


def _add(counts: Array, scope: Scope, belief: Belief, cases: Cases, shares: Array) -> None:
    """Add the posteriors of a family's missing members, at the values that the others have."""
    strides = dict(zip(scope, np.cumprod(counts.shape[:0:-1])[::-1].tolist(), strict=True))
    base_index = cases.classes[belief.rows]
    for v in set(scope) - set(belief.free):
        # Codes come in a small type, which the product would not fit in.
        base_index = base_index + strides[v] * cases.codes[v, belief.rows].astype(np.intp)
    steps = np.zeros(1, dtype=np.intp)
    for v in belief.free:
        steps = np.add.outer(steps, strides[v] * np.arange(counts.shape[scope.index(v)])).ravel()
    mass = belief.shares.reshape(len(base_index), len(steps)) * shares[belief.rows, None]
    cells = np.bincount((base_index[:, None] + steps).ravel(), mass.ravel(), minlength=counts.size)
    counts += cells.reshape(counts.shape)
