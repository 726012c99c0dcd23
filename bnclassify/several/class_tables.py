"""Log tables over few class variables from the features of rows, from which posteriors follow.

Families whose features are observed in a row become tables over their class parents. Those over the same
classes are added up, and looked up for all rows at once as if their joint labels were one class. Missing
features that matter form components that no family connects; each component is marginalized over for all
rows that have it, which leaves a table over the classes that it touches. If that would be large, its tables
stay as they are, and its features are eliminated among the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from ..base.arrays import Array, Codes, log
from ..network.elimination import (
    Part,
    Table,
    eliminate_tables,
    hidden_parts,
    multiply,
    plan_scopes,
    restrict,
)
from ..network.factors import Batch, Factor, Rows, sum_terms

MOST_CELLS = 2**20
"""Largest number of cells of a table of one row, 8 MiB."""

_SMALL_CELLS = 2**8  # of tables that missing features are eliminated into before anything else
_BLOCK_ROWS = 2**13
_BLOCK_CELLS = 2**22

Scope = tuple[int, ...]


class ClassTables(NamedTuple):
    """Tables whose product is P(observed features | classes) in some rows.

    They are over class variables, which are numbered after the features, and over missing features that
    are still to be marginalized over.
    """

    rows: Rows
    tables: list[Table]

    def blocks(self, cells: int) -> Iterator[ClassTables]:
        """Yield the same for few rows at a time, so that tables of so many cells per row fit in memory."""
        rows_per_block = max(1, _BLOCK_CELLS // cells)
        for block in (slice(i, i + rows_per_block) for i in range(0, len(self.rows), rows_per_block)):
            yield ClassTables(self.rows[block], [Table(scope, logs[block]) for scope, logs in self.tables])


@dataclass(frozen=True, eq=False)
class ClassFactors:
    """The log tables of a model: `n` features, and `cards` levels of features, then class variables.

    `by_classes` maps class variables to the families that have features and these, as factors: the joint
    labels of the class variables take the place of the class. `feature_factors` has the same families with
    class variables as members like others, and `parents` the parents of each variable in them. `graphs` has
    the tables of class variables alone, for each network that is averaged.
    """

    n: int
    cards: tuple[int, ...]
    by_classes: Mapping[Scope, list[Factor]]
    feature_factors: list[Factor]
    parents: Mapping[int, Scope]
    graphs: list[list[Table]]


def sort_tables(
    n: int,
    cards: tuple[int, ...],
    with_features: Sequence[tuple[Scope, Array]],
    class_tables: Sequence[Sequence[tuple[Scope, Array]]],
) -> ClassFactors:
    """Sort the tables of families with features, and those of class variables alone of each network."""
    by_classes: dict[Scope, list[Factor]] = {}
    feature_factors = []
    for scope, table in with_features:
        order = sorted(range(len(scope)), key=lambda i: (scope[i] >= n, scope[i] if scope[i] >= n else i))
        logs = np.ascontiguousarray(np.transpose(log(table), order))
        members = tuple([scope[i] for i in order])
        n_features = sum(v < n for v in members)
        feature_factors.append(Factor(members, logs[..., None, None]))
        factor = Factor(members[:n_features], logs.reshape(*logs.shape[:n_features], 1, -1))
        by_classes.setdefault(members[n_features:], []).append(factor)
    parents = dict.fromkeys(range(len(cards)), ()) | {scope[0]: scope[1:] for scope, _ in with_features}
    graphs = [[_class_table(scope, table) for scope, table in graph] for graph in class_tables]
    return ClassFactors(n, cards, by_classes, feature_factors, parents, graphs)


def _class_table(scope: Scope, table: Array) -> Table:
    """Return the table of a family of class variables in logs, the same for all rows."""
    order = np.argsort(scope)
    return Table(tuple(sorted(scope)), np.transpose(log(table), order)[None, ..., None])


def reduce_rows(parts: ClassFactors, codes: Codes, *, closed: bool = False) -> Iterator[ClassTables]:
    """Yield tables over classes for rows, those with tables over the same variables together.

    `codes` are (features, rows), -1 where missing. If `closed`, all missing features are marginalized over.
    If not, those stay in the tables that would join many class variables. Raise a ValueError if features
    are missing together in a row that would need too large a table.
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
            else:  # no table more, so that fewer kinds of rows must be told apart
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
    """Features to be eliminated in this order, if any, the factors that have any of them, and the rows.

    `part` has all features that are missing together, `cells` is the size of the largest table of a row.
    """

    part: Part
    order: list[int]
    factors: list[Factor]
    rows: Rows
    cells: int


def _plan_parts(parts: ClassFactors, codes: Codes, closed: bool) -> list[Elimination]:
    """Plan the elimination of the missing features that matter."""
    if not any(v < parts.n for scope in parts.parents.values() for v in scope) or codes.min(initial=0) >= 0:
        return []  # a missing feature that is not a parent sums to 1
    class_codes = np.zeros((len(parts.cards) - parts.n, codes.shape[1]), dtype=codes.dtype)
    runs: list[Elimination] = []
    for part, rows in hidden_parts(parts.parents, np.vstack([codes, class_codes])).items():
        factors = _touching(parts, part)
        order, cells = plan_scopes(part, [factor.scope for factor in factors], dict(enumerate(parts.cards)))
        if not closed and cells > _SMALL_CELLS:
            order, cells = [], 1
        if cells > MOST_CELLS:
            raise ValueError(
                f"newdata: {len(part)} features are missing together in a row, and marginalizing over them "
                f"would need a table of {cells:,} cells, more than {MOST_CELLS:,}; use joint=False, or learn "
                "with features='empty' or a lower max_parents"
            )
        runs.append(Elimination(part, order, factors, rows, cells))
    return runs


def _touching(parts: ClassFactors, part: Part) -> list[Factor]:
    return [factor for factor in parts.feature_factors if not set(factor.scope).isdisjoint(part)]


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
