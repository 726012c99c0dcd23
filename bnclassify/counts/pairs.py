"""Tables and mutual information of all pairs of columns, by matrix products for few levels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Countable, Dataset
from ..tools.arrays import Array, ArrayOf, Mask, Positions, Slice, one_thread, slices, xlogx
from .contingency import check_number_of_cells, count_extended_families, to_narrowest_type
from .information import Term, bde_term, n_log_n, pair_gains

_BLOCK_ROWS = 2**11  # number of rows that are multiplied at once
_FEW_LEVELS = 8  # average number of levels up to which products are faster


def products_are_faster(data: Countable, columns: Sequence[int]) -> bool:
    """Whether columns have so few levels that products of matrices count fastest."""
    cards = [data.cards[column] for column in columns]
    are_few = all(cards) and sum(cards) <= _FEW_LEVELS * len(cards)
    return are_few and data.tables_from_source([]) is None


def count_pairs(data: Countable, owners: Positions | Slice = slice(None)) -> ArrayOf[Any]:
    """Count the pairs of levels in each class, the last column, (owners, classes, levels)."""
    features = range(len(data.cards) - 1)
    return to_narrowest_type(pair_tables(data, features, len(features), owners))


def pair_tables(
    data: Countable,
    columns: Sequence[int],
    given: int | None,
    owners: Positions | Slice = slice(None),
) -> ArrayOf[Any]:
    """Count the pairs of levels of columns, (owners, levels of the given column, levels).

    The levels of all columns are numbered consecutively. An owner, the first of
    a pair, is by default any level.
    """
    if products_are_faster(data, columns):
        return data.sum_over_parts(partial(_count_pairs_by_products, columns, given, owners))
    families = [(column,) if given is None else (column, given) for column in columns]
    _, tables = count_extended_families(data, families, columns)
    counts = np.concatenate([table.reshape(len(table), -1, table.shape[-1]) for table in tables])
    return counts[owners]


def _count_pairs_by_products(
    columns: Sequence[int], given: int | None, owners: Positions | Slice, data: Dataset
) -> ArrayOf[Any]:
    """Count pairs of levels by products of their rows, as zeros and ones, with each other."""
    of_given = np.zeros(len(data), dtype=np.intp) if given is None else data.codes[given]
    weights, n_levels = data.weights, sum(data.cards[column] for column in columns)
    # A block has so few rows that these are exact.
    exact = np.dtype("f8" if weights is not None else "f4")
    smallest = exact if weights is not None else np.min_scalar_type(len(data))
    shape = len(np.arange(n_levels)[owners]), 1 if given is None else data.cards[given], n_levels
    counts = np.zeros(shape, smallest)
    # Blocks use the same memory, because new memory would take as long as the products.
    most = min(_BLOCK_ROWS, len(data))
    is_one, one = (np.empty((n_levels, most), dtype) for dtype in (bool, exact))
    with one_thread:
        for c in range(counts.shape[1]):
            rows = np.flatnonzero(of_given == c)
            for block in slices(len(rows), most=_BLOCK_ROWS):
                n = block.stop - block.start
                ones = one[:, :n]
                np.copyto(ones, level_mask_of_rows(data, columns, rows[block], out=is_one[:, :n]))
                # Entry (i, j) of the product counts the rows in which levels i and j are both 1:
                # [[1 0 1], [0 1 1]] times its transpose is [[2 1], [1 2]].
                owned = ones[owners] if weights is None else ones[owners] * weights[rows[block]]
                np.add(counts[:, c], owned @ ones.T, out=counts[:, c], casting="unsafe")
    return counts


def level_mask_of_rows(
    data: Dataset, columns: Sequence[int], rows: Positions, out: Mask | None = None
) -> Mask:
    """Return which rows have each level of columns, (levels, rows), in ``out`` if it is given."""
    pairs = [(column, level) for column in columns for level in range(data.cards[column])]
    of_column, level = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    codes, level = data.codes.take(rows, axis=1), level[:, None].astype(data.codes.dtype)
    return np.asarray(np.equal(codes[of_column], level, out=out))


def check_cells_of_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs would have more than ``MAX_CELLS`` cells."""
    cards = list(map(data.cards.__getitem__, features))
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    check_number_of_cells(data, features, cells, "use fewer features")


class PairStatistics(NamedTuple):
    """For all pairs of features: ``gains`` of a score by their arc, and ``rows``, (n, n) arrays."""

    gains: Array
    rows: Array

    @property
    def information(self) -> Array:
        """I(X;Y|C) in nats per row, if the gains are those of the likelihood."""
        return np.maximum(self.gains, 0.0) / np.where(self.rows > 0, self.rows, 1.0)


def arc_scores(
    data: Countable, score: str, ess: float = 1, *, size: float | None = None
) -> PairStatistics:
    """Return what an arc between two features, given the class, contributes to a score.

    The penalty of "bic" is that of ``size`` rows, by default of the rows with
    both features.
    """
    n = len(data.features)
    term = bde_term(ess, data.cards[n]) if score == "bde" else n_log_n
    gains, rows = pair_statistics(data, range(n), n, term)
    # parameters that an arc adds, (n, n): with 2 and 3 levels and 4 classes, 1 · 2 · 4 = 8
    freedom = np.array(data.cards[:n], dtype=float) - 1
    n_parameters = np.outer(freedom, freedom) * data.cards[n]
    penalties = {"aic": 1.0, "bic": 0.5 * np.log(np.maximum(size or rows, 1))}
    return PairStatistics(gains - penalties.get(score, 0.0) * n_parameters, rows)


def pair_statistics(
    data: Countable, features: Sequence[int], class_column: int | None, term: Term = n_log_n
) -> PairStatistics:
    """Compute the gain of an arc between each two features, given the class if it has a column.

    Pairs of two numbers, neither of which can be a parent, are omitted. The
    diagonal is 0.
    """
    if products_are_faster(data, features):
        return _pair_statistics_by_products(data, features, class_column, term)
    n = len(features)
    gains, rows = np.zeros((2, n, n))
    condition = () if class_column is None else (class_column,)
    has_levels = [data.cards[feature] > 0 for feature in features]
    pairs = [(i, j) for i in range(n) for j in range(i) if has_levels[i] or has_levels[j]]
    found = pair_gains(data, [(features[i], features[j]) for i, j in pairs], condition, term)
    for (i, j), (gain, count) in zip(pairs, found, strict=True):
        gains[i, j] = gains[j, i] = gain
        rows[i, j] = rows[j, i] = count
    return PairStatistics(gains, rows)


def _pair_statistics_by_products(
    data: Countable, features: Sequence[int], class_column: int | None, term: Term
) -> PairStatistics:
    """Compute the statistics of `pair_statistics` from tables of all pairs of levels.

    A feature is paired with itself and with later features, whose levels follow
    its own.
    """
    n, cards = len(features), [data.cards[feature] for feature in features]
    given = [] if class_column is None else [class_column]
    term = n_log_n_function(data) if term is n_log_n else term
    is_complete = not data.incomplete[[*features, *given]].any()
    n_classes = prod([data.cards[column] for column in given])
    starts = np.cumsum([0, *cards])  # of the levels of features; 2, 3 and 2 levels: [0, 2, 5, 7]
    cells = int(starts[-1]) * max(cards, default=0) * n_classes  # most of all pairs of a feature
    sums, rows = np.zeros((2, n, n))  # of pairs, above the diagonal
    # 2**24: number of cells of tables of pairs of levels that are counted at once
    for block in slices(n, cells, 2**24):
        first, last = starts[[block.start, block.stop]]
        tables = pair_tables(data, features, class_column, slice(first, last))
        for part in slices(block.stop - block.start, cells):  # whose logs need little memory
            at = slice(block.start + part.start, block.start + part.stop)
            own, others = starts[at.start : at.stop + 1], starts[at.start :]
            later = tables[own[0] - first : own[-1] - first, :, own[0] :]
            found = _gains_from_pair_tables(later, own - own[0], others - own[0], term, is_complete)
            sums[at, at.start :], rows[at, at.start :] = found
    sums, rows = np.triu(sums, 1), np.triu(rows, 1)
    sums, rows = sums + sums.T, rows + rows.T
    return PairStatistics(sums, rows)


def _gains_from_pair_tables(
    tables: ArrayOf[Any], own: Positions, others: Positions, term: Term, is_complete: bool
) -> tuple[Array, Array]:
    """Return the gains and N of pairs, from (owners, classes, levels) tables and ends of features.

    The ends [0, 2, 5] are those of features with the levels 0 and 1, and 2 to
    4. If all values are observed, the margins of a feature are the same in all its
    tables.
    """
    of_others: ArrayOf[Any]
    of_owners: ArrayOf[Any]
    if is_complete:
        of_others = tables[: own[1]].sum(axis=0, keepdims=True)
        of_owners = tables[..., : others[1]].sum(axis=2)[..., None]
    else:
        of_others = np.add.reduceat(tables, own[:-1], axis=0)
        of_owners = np.add.reduceat(tables, others[:-1], axis=2)
    # Of a pair of binary features with the table [[3, 1], [0, 2]], Σ n ln n of the cells is 3 ln 3
    # + 2 ln 2, of the rows 4 ln 4 + 2 ln 2, of the columns 3 ln 3 + 3 ln 3, and of all 6 ln 6. So
    # N·I, which is cells − rows − columns + all, is 6 ln 6 − 4 ln 4 − 3 ln 3.
    n: ArrayOf[Any] = np.add.reduceat(of_others, others[:-1], axis=2)
    n_own, n_other = np.diff(own), np.diff(others)  # levels of the features of each level
    x, y = np.repeat(n_own, n_own)[:, None, None], np.repeat(n_other, n_other)
    by_other: Array = np.add.reduceat(term(tables, x, y), others[:-1], axis=2)
    both: Array = np.add.reduceat(by_other, own[:-1], axis=0)
    both -= np.add.reduceat(term(of_others, y), others[:-1], axis=2)
    both -= np.add.reduceat(term(of_owners, x), own[:-1], axis=0)
    return (both + term(n)).sum(axis=1), n.sum(axis=1)


def n_log_n_function(data: Countable) -> Term:
    """Return the term n·ln n for counts of data, which looks up whole numbers in a small table."""
    if data.is_weighted or data.size > 2**20:  # of which a table has 8 MiB
        return n_log_n
    logs = xlogx(np.arange(int(data.size) + 1))
    return lambda counts, *levels: logs[counts.astype(np.intp, copy=False)]
