"""Mutual information of columns and of all pairs of features, and tests of independence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import lgamma, prod
from math import log as ln
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from ..base.arrays import Array, xlogx
from ..frames.schema import Countable, Dataset
from .contingency import (
    contingency_tables,
    count_alike,
    flat_index,
    information_of_two_numbers,
    informations_of_numbers,
    pair_tables,
    part_by_levels,
)

NLogN = Callable[[NDArray[Any]], Array]

_BLOCK_CELLS = 2**22  # number of cells of tables of pairs
_LOOKED_UP = 2**15  # number of cells that are looked up at once
_LONGEST_LOOKED_UP = 2**20  # largest number whose n·ln n is looked up, in 8 MiB
_PASS_CELLS = 2**22  # number of cells of tables that are counted in one pass over the data
_DENSE_CELLS = 2**22  # number of cells above which a table is sparse


def _observed(data: Dataset, columns: Sequence[int]) -> tuple[list[NDArray[Any]], Array | None]:
    """Return the codes of columns, and the weights, of the rows in which all of them are observed."""
    rows = [data.codes[column] for column in columns]
    partial = [row for row, column in zip(rows, columns, strict=True) if data.incomplete[column]]
    if not partial:
        return rows, data.weights
    observed = np.logical_and.reduce([row >= 0 for row in partial])
    weights = None if data.weights is None else data.weights[observed]
    return [row[observed] for row in rows], weights


def _entropy_sum(codes: Sequence[NDArray[Any]], cards: Sequence[int], weights: Array | None) -> float:
    """Sum n·ln n over the joint values of variables that occur; large domains stay sparse."""
    index = flat_index(codes, cards)
    if prod(cards) > max(4 * len(index), 2**16):
        index = np.unique(index, return_inverse=True)[1]
    return float(xlogx(np.bincount(index, weights)).sum())


def mutual_information(data: Countable, x: int, y: int, condition: Sequence[int] = ()) -> tuple[float, float]:
    """Return the (conditional) information of two columns, numbers as normal, in nats, and the rows."""
    if not (data.cards[x] or data.cards[y]):
        return information_of_two_numbers(data, x, y, condition)
    if not (data.cards[x] and data.cards[y]):
        return next(informations(data, [(x, y)], condition))
    columns = (x, y, *condition)
    cards = [data.cards[column] for column in columns]
    if prod(cards) <= _DENSE_CELLS or not isinstance(data, Dataset):
        return _table_informations(np.asarray(contingency_tables(data, [columns])[0])[None])[0]
    codes, weights = _observed(data, columns)
    n = len(codes[0]) if weights is None else float(weights.sum())
    if not n:
        return 0.0, 0
    if prod(cards) > np.iinfo(np.int64).max:
        raise ValueError("x, y, z: too many joint values; condition on fewer variables")
    total = (
        _entropy_sum(codes, cards, weights)
        - _entropy_sum([codes[0], *codes[2:]], [cards[0], *cards[2:]], weights)
        - _entropy_sum(codes[1:], cards[1:], weights)
        + (_entropy_sum(codes[2:], cards[2:], weights) if condition else float(xlogy(n, n)))
    )
    return max(total / n, 0.0), n


def _table_informations(tables: NDArray[Any]) -> list[tuple[float, float]]:
    """Return the same from (families, x, y, condition…) tables."""
    margins = [tables, tables.sum(axis=1), tables.sum(axis=2), tables.sum(axis=(1, 2))]
    cells, x, y, both = [xlogx(margin).reshape(len(tables), -1).sum(axis=1) for margin in margins]
    n = margins[3].reshape(len(tables), -1).sum(axis=1, dtype=np.float64)
    per_row = np.maximum(cells - x - y + both, 0.0) / np.where(n > 0, n, 1.0)
    return list(zip(per_row.tolist(), n.tolist(), strict=True))


def informations(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int] = ()
) -> Iterator[tuple[float, float]]:
    """Yield the mutual information of pairs, with at most one number, and the number of rows."""
    numeric = [pair for pair in pairs if not all(data.cards[column] for column in pair)]
    by_number = [(x, y) if data.cards[y] else (y, x) for x, y in numeric]
    of_numbers = dict(zip(numeric, informations_of_numbers(data, by_number, condition), strict=True))
    of_others = _informations_of_tables(data, [pair for pair in pairs if pair not in of_numbers], condition)
    for pair in pairs:
        yield of_numbers[pair] if pair in of_numbers else next(of_others)


def _informations_of_tables(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int]
) -> Iterator[tuple[float, float]]:
    """Yield the mutual information of coded pairs, counted in batches that fit in memory."""
    families = [(*pair, *condition) for pair in pairs]
    while families:
        cells = accumulate(prod([data.cards[column] for column in family]) for family in families)
        fitting = max(1, sum(1 for total in cells if total <= _PASS_CELLS))
        found: list[tuple[float, float]] = [(0.0, 0)] * fitting
        for numbers, tables in count_alike(data, families[:fitting]):
            for number, value in zip(numbers, _table_informations(tables), strict=True):
                found[number] = value
        yield from found
        families = families[fitting:]


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """For all pairs of features: ``information`` I(X;Y|C) in nats and ``rows``, (n, n) arrays."""

    information: Array
    rows: Array


def pair_statistics(data: Countable, features: Sequence[int], class_column: int | None) -> PairStatistics:
    """Compute the class-conditional mutual information of all pairs of features.

    Without a column of classes, this is mutual information. Pairs of two numbers, neither of which can be
    a parent, are omitted.

    Pairs of features with few levels are counted all at once by products of one-hot
    matrices, the others one by one. The diagonal is 0.
    """
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    small, large = part_by_levels(data, features)
    if small:
        of_small = _product_statistics(data, np.array(features)[small], class_column)
        information[np.ix_(small, small)] = of_small.information
        rows[np.ix_(small, small)] = of_small.rows
    condition = () if class_column is None else (class_column,)
    pairs = [(i, j) for done, i in enumerate(large) for j in small + large[:done]]
    pairs = [pair for pair in pairs if any(data.cards[features[i]] for i in pair)]
    values = informations(data, [(features[i], features[j]) for i, j in pairs], condition)
    for (i, j), (value, count) in zip(pairs, values, strict=True):
        information[i, j] = information[j, i] = value
        rows[i, j] = rows[j, i] = count
    np.fill_diagonal(information, 0.0)
    return PairStatistics(information, rows)


def _product_statistics(
    data: Countable, features: NDArray[np.intp], class_column: int | None
) -> PairStatistics:
    """Compute sums of n·ln n over the pair tables of each class, one block of features at a time.

    Features are sorted by descending number of levels, and their levels by code: the first
    level of all, the second of all that have one, and so on. So a sum over the levels of every
    feature needs one slice per level of the longest feature.
    """
    cards = np.array(data.cards)[features]
    order = np.argsort(-cards, kind="stable")
    has = np.arange(cards.max()) < cards[order, None]
    levels, feature = np.nonzero(has.T)
    widths = has.sum(axis=0)
    columns = features[order][feature]
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    n_classes = 1 if class_column is None else data.cards[class_column]
    at_once = max(1, int(_BLOCK_CELLS / cards.sum() / cards.mean() / n_classes))
    for block in (slice(i, min(i + at_once, n)) for i in range(0, n, at_once)):
        in_block = None if at_once >= n else (block.start <= feature) & (feature < block.stop)
        for table in pair_tables(data, columns, levels, class_column, in_block):
            # Called after counting, because a pass over partitioned data also finds missing values.
            sum_pairs = _available_sums if data.incomplete[features].any() else _complete_sums
            sums, totals = sum_pairs(table, widths, block, not data.is_weighted)
            information[block] += sums
            rows[block] += totals
    as_given = np.ix_(np.argsort(order), np.argsort(order))
    per_row = np.maximum(information / np.where(rows > 0, rows, 1), 0.0)
    return PairStatistics(per_row[as_given], rows[as_given])


def _complete_sums(
    table: NDArray[Any], widths: NDArray[np.intp], block: slice, whole: bool
) -> tuple[Array, float | NDArray[Any]]:
    """Return Σ n_xy ln n_xy − Σ n_x ln n_x − Σ n_y ln n_y + n ln n for pairs in one class, and n."""
    heights = _widths_of(block, widths)
    counts = table[np.cumsum(heights) - heights].sum(axis=0)  # sums over the levels of one feature
    n = float(counts[np.cumsum(widths) - widths].sum())
    n_log_n = looking_up(n) if whole else xlogx
    margins = _sum_levels(n_log_n(counts), widths)
    total = float(xlogy(n, n))
    return _sum_cells(n_log_n, table, heights, widths) - margins[block, None] - margins + total, n


def _available_sums(
    table: NDArray[Any], widths: NDArray[np.intp], block: slice, whole: bool
) -> tuple[Array, float | NDArray[Any]]:
    """Return the same for pairs that are observed in different rows."""
    heights = _widths_of(block, widths)
    by_y = _sum_levels(table, heights)
    by_x = _sum_levels(table.T, widths).T
    n = _sum_levels(by_x, heights)
    n_log_n = looking_up(n.max(initial=0)) if whole else xlogx
    x, y, total = (n_log_n(counts) for counts in (by_x, by_y, n))
    cells = _sum_cells(n_log_n, table, heights, widths)
    return cells - _sum_levels(x, heights) - _sum_levels(y.T, widths).T + total, n


def _sum_cells(
    n_log_n: NLogN, table: NDArray[Any], heights: NDArray[np.intp], widths: NDArray[np.intp]
) -> Array:
    """Sum n ln n of the cells of all pairs over the levels of both, (features of the block, features)."""
    starts = np.cumsum(heights) - heights
    sums = np.empty((heights[0], widths[0]))
    at_once = max(1, _LOOKED_UP // table.shape[1])
    for first in range(0, heights[0], at_once):
        rows = [
            slice(s + first, s + min(first + at_once, w))
            for s, w in zip(starts, heights, strict=True)
            if w > first
        ]
        by_level = n_log_n(table[rows[0]])
        for more in rows[1:]:
            by_level[: more.stop - more.start] += n_log_n(table[more])
        sums[first : first + at_once] = _sum_levels(by_level.T, widths).T
    return sums


def _widths_of(block: slice, widths: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of features of a block with a first level, a second level, and so on."""
    heights = np.clip(widths - block.start, 0, block.stop - block.start)
    return heights[heights > 0]


def _sum_levels(cells: NDArray[Any], widths: NDArray[np.intp]) -> NDArray[Any]:
    """Sum over the levels of each feature along the first axis; ``widths[k]`` features have a level k."""
    total = cells[: widths[0]].copy("K")
    start = widths[0]
    for width in widths[1:]:
        total[:width] += cells[start : start + width]
        start += width
    return total


def looking_up(most: float) -> NLogN:
    """Return a function that looks up n·ln n of whole numbers in a table."""
    if most > _LONGEST_LOOKED_UP:
        return xlogx
    logs = xlogx(np.arange(int(most) + 1))
    return lambda counts: logs.take(counts.astype(np.intp, copy=False))


_SMALL = 1e-280
_TERMS = 500


def _g2(tables: Array) -> Array:
    """Return 2 Σ n ln(n / e) of the tables in the last two axes."""
    parts = [tables, tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))]
    both, rows, columns, total = map(xlogx, parts)
    return np.maximum(2 * (both.sum(axis=(-2, -1)) - rows.sum(axis=-1) - columns.sum(axis=-1) + total), 0.0)


def _x2(tables: Array) -> Array:
    """Return Σ (n − e)² / e of the tables in the last two axes, over the cells with e > 0."""
    rows, columns = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    total = tables.sum(axis=(-2, -1), keepdims=True)
    expected = rows * columns / np.where(total > 0, total, 1)
    squares = (tables - expected) ** 2
    return np.divide(squares, expected, out=np.zeros(squares.shape), where=expected > 0).sum(axis=(-2, -1))


STATISTICS: dict[str, Callable[[Array], Array]] = {"g2": _g2, "x2": _x2}
"""The statistics of independence by name, each of tables in the last two axes."""


def independence(table: Array, test: str) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom (of all levels) and p of x ⊥ y | z from the (x, y, z…) table."""
    levels_x, levels_y, *levels_z = table.shape
    statistic = float(STATISTICS[test](_strata(table)).sum())
    df = (levels_x - 1) * (levels_y - 1) * prod(levels_z)
    return statistic, df, float(chdtrc(df, statistic)) if df else 1.0


def log_tail(statistic: float, df: int) -> float:
    """Return ln p of a chi-square statistic, also if p is too small for a float.

    >>> round(log_tail(10.0, 1), 2), round(log_tail(5_000.0, 10), 2)
    (-6.46, -2471.88)
    """
    tail = float(chdtrc(df, statistic)) if df else 1.0
    if tail > _SMALL:
        return ln(tail)
    a, x = df / 2, statistic / 2  # the continued fraction of the incomplete gamma function, from its end
    fraction = 0.0
    for k in range(_TERMS, 0, -1):
        fraction = k * (a - k) / (x + 2 * k + 1 - a + fraction)
    return a * ln(x) - x - lgamma(a) - ln(x + 1 - a + fraction)


def permutation_p(table: Array, test: str, permutations: int, rng: np.random.Generator) -> float:
    """Return the p of the statistic by permutations of y within each stratum, drawn as tables."""
    from scipy.stats import random_table  # slow to import

    observed, drawn = 0.0, np.zeros(permutations)
    for stratum in _strata(table).astype(np.int64):
        rows, columns = stratum.sum(axis=1), stratum.sum(axis=0)
        observed += float(STATISTICS[test](stratum))
        if np.count_nonzero(rows) > 1 and np.count_nonzero(columns) > 1:
            tables = random_table.rvs(rows, columns, size=permutations, random_state=rng)
            drawn += STATISTICS[test](tables.reshape(permutations, *stratum.shape))
        else:  # the margins determine the table
            drawn += float(STATISTICS[test](stratum))
    as_large = np.count_nonzero(drawn >= observed - 1e-9 * max(observed, 1.0))
    return (1 + as_large) / (1 + permutations)


def _strata(table: Array) -> Array:
    """Return the (x, y) table of each configuration of z, (configurations, x, y)."""
    return np.moveaxis(table.reshape(*table.shape[:2], -1), -1, 0)
