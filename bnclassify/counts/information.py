"""Mutual information of columns and pairs, moments of numbers for it, and tests of independence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from math import inf, lgamma, prod
from math import log as ln
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, xlogy

from ..base.arrays import Array, ArrayOf, Positions, blocks, xlogx
from ..base.immutable import ANY_NUMBER, COUNT, Immutable, bounded, record
from ..base.messages import shown
from ..frames.numeric import as_floats, check_finite
from ..frames.schema import Countable, Dataset
from .contingency import Recoding, by_products, count_alike, flat_index, pair_tables, recoded

_LARGEST = 1e150


@record
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Immutable):
    """The weight, mean, Σ w (x − mean)², minimum and maximum of a number in each cell, arrays of cells."""

    bounds = bounded(n=COUNT, mean=ANY_NUMBER, squares=COUNT)

    n: Array
    mean: Array
    squares: Array
    low: Array
    high: Array

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        share, step = other.n / np.where(n > 0, n, 1.0), other.mean - self.mean
        squares = self.squares + other.squares + step**2 * self.n * share
        bounds = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Moments(n, self.mean + step * share, squares, *bounds)

    def recoded(self, recodings: Sequence[Recoding]) -> Moments:
        """Return the moments for other levels of the coded columns."""
        fills = {"low": np.inf, "high": -np.inf}
        arrays = ((getattr(self, name), fills.get(name, 0)) for name in self.__dataclass_fields__)
        return Moments(*[recoded(array, recodings, fill) for array, fill in arrays])

    @property
    def variance(self) -> Array:
        """The variance, with 1/n; exactly 0 without distinct values."""
        return np.where(self.low < self.high, self.squares / np.where(self.n > 0, self.n, 1.0), 0.0)

    def over(self, axis: int) -> Moments:
        """Return the pooled moments of the cells along an axis."""
        arrays = [np.moveaxis(getattr(self, name), axis, 0) for name in self.__dataclass_fields__]
        return reduce(add, [Moments(*cells) for cells in zip(*arrays, strict=True)])


class Known(NamedTuple):
    """The rows in which a number is observed: its values, the cell and the weight of each."""

    values: Array
    cells: Positions
    weights: Array | None


def known_values(data: Dataset, number: int, condition: Sequence[int]) -> Known:
    """Return the values of a number where the columns are observed, and their configurations."""
    codes = [data.codes[column] for column in condition]
    name = data.columns[number]
    values = _numbers(data, number)
    check_finite({name: values})
    known = np.logical_and.reduce([~np.isnan(values), *[code >= 0 for code in codes]])
    if np.abs(values[known]).max(initial=0.0) > _LARGEST:
        raise ValueError(
            f"numbers: the column {shown(name)} must have numbers up to {_LARGEST:g}, because larger squares "
            f"overflow; got {np.abs(values[known]).max():g}. Divide them by a number."
        )
    if data.weights is not None:
        known &= data.weights > 0
    cards = [data.cards[column] for column in condition]
    observed = [code[known] for code in codes]
    cells = flat_index(observed, cards).astype(np.intp) if codes else np.zeros(known.sum(), dtype=np.intp)
    return Known(values[known], cells, None if data.weights is None else data.weights[known])


def _numbers(data: Dataset, column: int) -> Array:
    """Return the values of a column without levels, NaN if none are observed."""
    values = data.numbers.get(data.columns[column])
    return np.full(len(data), np.nan) if values is None else as_floats(values)


def moments_of(rows: Known, shape: Sequence[int]) -> Moments:
    """Return the moments of values in cells of this shape."""
    values, cells, weights = rows
    size = prod(shape)
    n = np.bincount(cells, weights, size).astype(np.float64)
    total = np.where(n > 0, n, 1.0)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, cells, values)
    np.maximum.at(high, cells, values)
    mean: Array = np.bincount(cells, values if weights is None else weights * values, size) / total
    mean = np.where(low < high, mean, np.where(n > 0, low, 0.0))
    deviations = (values - mean[cells]) ** 2
    squares = np.bincount(cells, deviations if weights is None else weights * deviations, size)
    sums = n, mean, squares.astype(np.float64), low, high
    return Moments(*[array.reshape(shape) for array in sums])


def number_moments(data: Dataset, number: int, condition: Sequence[int]) -> Moments:
    """Return the moments of a number per configuration of coded columns, an axis for each."""
    return moments_of(known_values(data, number, condition), [data.cards[column] for column in condition])


def informations_of_numbers(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int] = ()
) -> list[tuple[float, float]]:
    """Return the information of (number, coded column) pairs under Gaussian models, and the rows."""
    if not pairs:
        return []
    families = [(number, (column, *condition)) for number, column in pairs]
    return list(map(_information, data.add_up(partial(_all_moments, families))))


def _all_moments(families: Sequence[tuple[int, Sequence[int]]], data: Dataset) -> list[Moments]:
    return [number_moments(data, number, columns) for number, columns in families]


def _information(cells: Moments) -> tuple[float, float]:
    """Return ½ Σ_z P(z) [ln σ²_z − Σ_x P(x | z) ln σ²_xz], x along the first axis, and the rows."""
    total, variance = float(cells.n.sum()), cells.variance
    given = cells.over(0).variance
    logs = np.log(np.where(given > 0, given, 1.0)) - np.log(np.where(variance > 0, variance, 1.0))
    gains = np.where(variance > 0, cells.n * logs, 0.0)
    return (0.5 * float(gains.sum()) / total if total else 0.0), total


def information_of_two_numbers(
    data: Countable, x: int, y: int, condition: Sequence[int] = ()
) -> tuple[float, float]:
    """Return −½ Σ_z P(z) ln(1 − ρ²_z) of two numbers that are normal given coded columns, and the rows."""
    first, second = data.add_up(partial(_moments_of_two, x, y, condition))
    products = data.add_up(partial(_products, x, y, condition, first.mean, second.mean))
    squares = np.where((first.variance > 0) & (second.variance > 0), first.squares * second.squares, 0.0)
    share = np.divide(products**2, squares, out=np.zeros(np.shape(squares)), where=squares > 0)
    n = float(first.n.sum())
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(share, 1.0))
    return (-0.5 * float((first.n * logs)[first.n > 0].sum()) / n if n else 0.0), n


def _both_known(data: Dataset, x: int, y: int, condition: Sequence[int]) -> tuple[Known, Known]:
    """Return the values of two numbers in the rows in which both are observed."""
    rows = data.taken(~(np.isnan(_numbers(data, x)) | np.isnan(_numbers(data, y))))
    return known_values(rows, x, condition), known_values(rows, y, condition)


def _moments_of_two(x: int, y: int, condition: Sequence[int], data: Dataset) -> list[Moments]:
    shape = [data.cards[column] for column in condition]
    return [moments_of(rows, shape) for rows in _both_known(data, x, y, condition)]


def _products(
    x: int, y: int, condition: Sequence[int], x_mean: Array, y_mean: Array, data: Dataset
) -> ArrayOf[Any]:
    """Return Σ w (x − mean) (y − mean) per configuration."""
    first, second = _both_known(data, x, y, condition)
    products = (first.values - x_mean.ravel()[first.cells]) * (second.values - y_mean.ravel()[second.cells])
    weighted = products if first.weights is None else first.weights * products
    return np.bincount(first.cells, weighted, x_mean.size).reshape(x_mean.shape)


NLogN = Callable[[ArrayOf[Any]], Array]

_LONGEST_LOOKED_UP = 2**20  # largest number whose n·ln n is looked up, in 8 MiB
_PASS_CELLS = 2**22  # number of cells of tables that are counted in one pass over the data
_PRODUCT_CELLS = 2**24  # number of cells of tables of pairs of levels that are counted at once
_CACHED_CELLS = 2**17  # number of them whose logs are added up at once
_FEW_CELLS, _CELLS_PER_ROW = 2**15, 16  # number of cells above which counting rows one by one is faster


def _observed(data: Dataset, columns: Sequence[int]) -> tuple[list[ArrayOf[Any]], Array | None]:
    """Return the codes of columns, and the weights, of the rows in which all of them are observed."""
    rows = [data.codes[column] for column in columns]
    partial = [row for row, column in zip(rows, columns, strict=True) if data.incomplete[column]]
    if not partial:
        return rows, data.weights
    observed = np.logical_and.reduce([row >= 0 for row in partial])
    weights = None if data.weights is None else data.weights[observed]
    return [row[observed] for row in rows], weights


def _entropy_sum(codes: Sequence[ArrayOf[Any]], cards: Sequence[int], weights: Array | None) -> float:
    """Sum n·ln n over the joint values of variables that occur; large domains stay sparse."""
    index = flat_index(codes, cards)
    if prod(cards) > max(4 * len(index), 2**16):
        index = np.unique(index, return_inverse=True)[1]
    return float(xlogx(np.bincount(index, weights)).sum())


def mutual_information(data: Countable, x: int, y: int, condition: Sequence[int] = ()) -> tuple[float, float]:
    """Return the (conditional) information of two columns, numbers as normal, in nats, and the rows."""
    if not (data.cards[x] or data.cards[y]):
        return information_of_two_numbers(data, x, y, condition)
    return next(informations(data, [(x, y)], condition))


def _information_of_rows(data: Dataset, columns: Sequence[int]) -> tuple[float, float]:
    """Return the information of the first two columns given the others, and the rows, from joint values.

    The joint values that occur are at most as many as rows.
    """
    codes, weights = _observed(data, columns)
    cards, condition = [data.cards[column] for column in columns], columns[2:]
    if prod(cards) > np.iinfo(np.int64).max:
        raise ValueError("x, y, z: too many joint values; condition on fewer variables")
    n = len(codes[0]) if weights is None else float(weights.sum())
    if not n:
        return 0.0, 0
    total = (
        _entropy_sum(codes, cards, weights)
        - _entropy_sum([codes[0], *codes[2:]], [cards[0], *cards[2:]], weights)
        - _entropy_sum(codes[1:], cards[1:], weights)
        + (_entropy_sum(codes[2:], cards[2:], weights) if condition else float(xlogy(n, n)))
    )
    return max(total / n, 0.0), n


def _table_informations(tables: ArrayOf[Any]) -> list[tuple[float, float]]:
    """Return the information of x and y given the others, and the rows, from (families, x, y, …) tables."""
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
    """Yield the mutual information of coded pairs, by tables or, if these would be nearly empty, by rows."""
    families = [(*pair, *condition) for pair in pairs]
    cells = [prod([data.cards[column] for column in family]) for family in families]
    most = max(_FEW_CELLS, _CELLS_PER_ROW * len(data)) if isinstance(data, Dataset) else inf
    by_table = _informations_in_batches(data, [f for f, n in zip(families, cells, strict=True) if n <= most])
    for family, n in zip(families, cells, strict=True):
        if n > most and isinstance(data, Dataset):
            yield _information_of_rows(data, family)
        else:
            yield next(by_table)


def _informations_in_batches(
    data: Countable, families: Sequence[tuple[int, ...]]
) -> Iterator[tuple[float, float]]:
    """Yield the mutual information of the first two columns of families, counted in batches that fit."""
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
    a parent, are omitted. The diagonal is 0.
    """
    if by_products(data, features):
        return _product_statistics(data, features, class_column)
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    condition = () if class_column is None else (class_column,)
    pairs = [(i, j) for i in range(n) for j in range(i) if data.cards[features[i]] or data.cards[features[j]]]
    values = informations(data, [(features[i], features[j]) for i, j in pairs], condition)
    for (i, j), (value, count) in zip(pairs, values, strict=True):
        information[i, j] = information[j, i] = value
        rows[i, j] = rows[j, i] = count
    return PairStatistics(information, rows)


def _product_statistics(data: Countable, features: Sequence[int], class_column: int | None) -> PairStatistics:
    """Compute the same from the tables of all pairs of levels, of each feature with itself and later ones."""
    n, starts = len(features), np.cumsum([0, *[data.cards[feature] for feature in features]])
    n_log_n = xlogx if data.is_weighted else looking_up(data.size)
    given = [] if class_column is None else [class_column]
    complete = not data.incomplete[[*features, *given]].any()
    cells = int(starts[-1] * np.diff(starts).max(initial=0)) * prod([data.cards[column] for column in given])
    sums, rows = np.zeros((2, n, n))
    for block in blocks(n, _PRODUCT_CELLS, cells):
        first, last = starts[[block.start, block.stop]]
        tables = pair_tables(data, features, class_column, slice(first, last))
        for part in blocks(block.stop - block.start, _CACHED_CELLS, cells):
            at = slice(block.start + part.start, block.start + part.stop)
            own = starts[at.start : at.stop + 1]
            later = tables[own[0] - first : own[-1] - first, :, own[0] :]
            found = _sum_tables(later, own - own[0], starts[at.start :] - own[0], n_log_n, complete)
            sums[at, at.start :], rows[at, at.start :] = found
    sums, rows = np.triu(sums, 1), np.triu(rows, 1)
    sums, rows = sums + sums.T, rows + rows.T
    return PairStatistics(np.maximum(sums, 0.0) / np.where(rows > 0, rows, 1.0), rows)


def _sum_tables(
    tables: ArrayOf[Any], own: Positions, others: Positions, n_log_n: NLogN, complete: bool
) -> tuple[Array, Array]:
    """Return N·I and N of pairs from (owners, classes, levels) tables, in which features start at positions.

    If all values are observed, the margins of a feature are the same in all its tables.
    """
    if complete:
        of_others, of_owners = (
            tables[: own[1]].sum(axis=0, keepdims=True),
            tables[..., : others[1]].sum(axis=2)[..., None],
        )
    else:
        of_others, of_owners = (
            np.add.reduceat(tables, own[:-1], axis=0),
            np.add.reduceat(tables, others[:-1], axis=2),
        )
    n = np.add.reduceat(of_others, others[:-1], axis=2)
    both = np.add.reduceat(np.add.reduceat(n_log_n(tables), others[:-1], axis=2), own[:-1], axis=0)
    both -= np.add.reduceat(n_log_n(of_others), others[:-1], axis=2)
    both -= np.add.reduceat(n_log_n(of_owners), own[:-1], axis=0)
    return (both + n_log_n(n)).sum(axis=1), n.sum(axis=1)


def looking_up(most: float) -> NLogN:
    """Return a function that looks up n·ln n of whole numbers in a table."""
    if most > _LONGEST_LOOKED_UP:
        return xlogx
    logs = xlogx(np.arange(int(most) + 1))
    return lambda counts: logs[counts.astype(np.intp, copy=False)]


_SMALL = 1e-280
_TERMS = 500


def _g2(tables: Array) -> Array:
    """Return 2 Σ n ln(n / e) of the tables in the last two axes."""
    parts = [tables, tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))]
    both, rows, columns, total = map(xlogx, parts)
    statistics: Array = 2 * (both.sum(axis=(-2, -1)) - rows.sum(axis=-1) - columns.sum(axis=-1) + total)
    return np.maximum(statistics, np.zeros(()))


def _x2(tables: Array) -> Array:
    """Return Σ (n − e)² / e of the tables in the last two axes, over the cells with e > 0."""
    rows, columns = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    total = tables.sum(axis=(-2, -1), keepdims=True)
    expected = rows * columns / np.where(total > 0, total, 1)
    squares = (tables - expected) ** 2
    cells = np.divide(squares, expected, out=np.zeros(squares.shape), where=expected > 0)
    return np.asarray(cells.sum(axis=(-2, -1)))


STATISTICS: dict[str, Callable[[Array], Array]] = {"g2": _g2, "x2": _x2}
"""The statistics of independence by name, each of tables in the last two axes."""


def independence(table: Array, test: str) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom (of all levels) and p of x ⊥ y | z from the (x, y, z…) table."""
    levels_x, levels_y, *levels_z = table.shape
    statistic = float(STATISTICS[test](_strata(table)).sum())
    df = (levels_x - 1) * (levels_y - 1) * prod(levels_z)
    return statistic, df, float(chdtrc(df, statistic)) if df else 1.0


def log_tail(statistic: float, df: int) -> float:
    """Return ln p of a chi-square statistic, also if p is too small for a float."""
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
