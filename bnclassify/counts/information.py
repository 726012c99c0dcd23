"""Mutual information of two columns given others, and tests of their independence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from math import inf, lgamma, prod
from math import log as ln
from typing import Any

import numpy as np

from ..dataset import Countable, Dataset
from ..tools import special
from ..tools.arrays import Array, ArrayOf, Mask, weights_at, xlogx
from .contingency import count_families_by_shape, flat_index
from .moments import (
    Moments,
    Observed,
    moments_by_configuration,
    moments_of_cells,
    numbers_of_column,
    observed_numbers,
)

_PASS_CELLS = 2**22  # number of cells of tables that are counted in one pass over the data

Term = Callable[..., Array]
"""A function of counts, 0 for 0, and of the numbers of levels of those of a pair in the table."""


def n_log_n(counts: ArrayOf[Any], *levels: Any) -> Array:
    """Return n ln n, the term of the likelihood, whose gain by an arc is N·I."""
    return xlogx(counts)


def bde_term(ess: float, n_given: int) -> Term:
    """Return the term of BDeu, whose pseudo-counts are ``ess`` divided by the cells of a table.

    ``n_given`` is the number of configurations of the given columns.
    """
    return lambda counts, *levels: log_rising_factorial(counts, ess / prod(levels, start=n_given))


_STIRLING = 16.0  # above this, four terms of the series are exact to 1e-14


def log_rising_factorial(n: ArrayOf[Any], amount: Any) -> Array:
    """Return ln Γ(a + n) − ln Γ(a) for an amount a, by a difference of Stirling series if large."""
    a: Array = np.asarray(amount, dtype=np.float64)
    is_large: Mask = np.asarray(a >= _STIRLING)
    if not is_large.any():
        return np.asarray(special.gammaln(n + a) - special.gammaln(a))
    large: Array = np.maximum(a, _STIRLING)
    # For a = 10⁶ and n = 1, the two values of ln Γ are near 1.28e7, and 6 of their 16 digits
    # cancel. The difference of the series is ln 10⁶ = 13.8 to all digits.
    total: Array = large + n
    stirling: Array = (large - 0.5) * np.log1p(n / large) + n * (np.log(total) - 1)
    stirling = stirling + _rest_of_stirling_series(total) - _rest_of_stirling_series(large)
    small: Array = np.minimum(a, _STIRLING)
    return np.asarray(
        np.where(is_large, stirling, special.gammaln(n + small) - special.gammaln(small))
    )


def _rest_of_stirling_series(x: Array) -> Array:
    """Return ln Γ(x) − (x − 1/2) ln x + x − ln(2π)/2, for large x."""
    square: Array = x * x
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / x


def _moments_of_families(
    families: Sequence[tuple[int, Sequence[int]]], data: Dataset
) -> list[Moments]:
    return [moments_by_configuration(data, number, columns) for number, columns in families]


def _gain_of_normals(cells: Moments) -> tuple[float, float]:
    """Return ½ Σ_z n_z [ln σ²_z − Σ_x P(x | z) ln σ²_xz], x along the first axis, and the rows.

    If half of the rows have the numbers 0 and 2 and half 4 and 6, the variance
    is 5 in all and 1 within each half, so the gain per row is ½ ln 5 = .80.
    """
    variance = cells.variance
    given = cells.pooled_over(0).variance
    logs = np.log(np.where(given > 0, given, 1.0)) - np.log(np.where(variance > 0, variance, 1.0))
    gains = np.where(variance > 0, cells.n * logs, 0.0)
    return 0.5 * float(gains.sum()), float(cells.n.sum())


def _information_of_two_numbers(
    data: Countable, x: int, y: int, condition: Sequence[int] = ()
) -> tuple[float, float]:
    """Return −½ Σ_z P(z) ln(1 − ρ²_z) of two numbers, normal given coded columns, and the rows."""
    first, second = data.sum_over_parts(partial(_moments_of_both_numbers, x, y, condition))
    cross_products = partial(_cross_products, x, y, condition, first.mean, second.mean)
    products = data.sum_over_parts(cross_products) - first.n * first.rest * second.rest
    varies: Mask = (first.variance > 0) & (second.variance > 0)
    squares = np.where(varies, first.squares * second.squares, 0.0)
    share = np.divide(products**2, squares, out=np.zeros(np.shape(squares)), where=squares > 0)
    n = float(first.n.sum())
    with np.errstate(divide="ignore"):
        logs: Array = np.log1p(-np.minimum(share, 1.0))
    return (-0.5 * float((first.n * logs)[first.n > 0].sum()) / n if n else 0.0), n


def _values_observed_in_both(
    data: Dataset, x: int, y: int, condition: Sequence[int]
) -> list[Observed]:
    missing = np.isnan(numbers_of_column(data, x)) | np.isnan(numbers_of_column(data, y))
    rows = data.take_rows(~missing)
    return [observed_numbers(rows, column, condition) for column in (x, y)]


def _moments_of_both_numbers(
    x: int, y: int, condition: Sequence[int], data: Dataset
) -> list[Moments]:
    shape = [data.cards[column] for column in condition]
    both = _values_observed_in_both(data, x, y, condition)
    return [moments_of_cells(observed, shape) for observed in both]


def _cross_products(
    x: int, y: int, condition: Sequence[int], x_mean: Array, y_mean: Array, data: Dataset
) -> ArrayOf[Any]:
    """Return Σ w (x − mean) (y − mean) per configuration."""
    (values, cells, weights), (others, *_) = _values_observed_in_both(data, x, y, condition)
    products = (values - x_mean.ravel()[cells]) * (others - y_mean.ravel()[cells])
    weighted = products if weights is None else weights * products
    return np.bincount(cells, weighted, x_mean.size).reshape(x_mean.shape)


def mutual_information(
    data: Countable, x: int, y: int, condition: Sequence[int] = ()
) -> tuple[float, float]:
    """Return the (conditional) information of two columns in nats, numbers normal, and the rows."""
    if not (data.cards[x] or data.cards[y]):
        return _information_of_two_numbers(data, x, y, condition)
    return next(pair_informations(data, [(x, y)], condition))


def _gain_from_rows(data: Countable, columns: Sequence[int], term: Term) -> tuple[float, float]:
    """Return the gain of two columns given the others, from joint values, and the rows.

    The joint values that occur are at most as many as rows.
    """
    [(codes, weights)] = data.family_codes_and_weights([columns])
    observed: Mask = codes.min(axis=0) >= 0
    rows, weights = codes[:, observed], weights_at(weights, observed)
    if prod([data.cards[column] for column in columns]) > np.iinfo(np.int64).max:
        raise ValueError("x, y, z: too many joint values; condition on fewer variables")
    n = rows.shape[1] if weights is None else float(weights.sum())
    if not n:
        return 0.0, 0

    def sum_of_terms(*members: int) -> float:
        """Sum the term over the joint values that occur; large domains stay sparse."""
        cards = [data.cards[columns[member]] for member in members]
        index = flat_index([rows[member] for member in members], cards)
        if prod(cards) > max(4 * len(index), 2**16):
            index = np.unique(index, return_inverse=True)[1]
        levels = cards[: sum(member < 2 for member in members)]
        return float(term(np.bincount(index, weights), *levels).sum())

    given = range(2, len(columns))
    of_given = sum_of_terms(*given) if given else float(term(np.array(n)))
    without_one = sum_of_terms(0, *given) + sum_of_terms(1, *given)
    return sum_of_terms(0, 1, *given) - without_one + of_given, n


def _gains_from_tables(tables: ArrayOf[Any], term: Term) -> list[tuple[float, float]]:
    """Return the gain of x, y given the others, and rows, by tables (families, x, y, …)."""
    given: ArrayOf[Any] = tables.sum(axis=(1, 2))
    _, x, y, *_ = tables.shape
    # of the cells, and of those of the tables without x, without y and without both
    terms = [term(tables, x, y), -term(tables.sum(axis=1), y), -term(tables.sum(axis=2), x)]
    terms.append(term(given))
    gain: Array = sum(own.reshape(len(tables), -1).sum(axis=1) for own in terms)
    n: Array = given.reshape(len(tables), -1).sum(axis=1, dtype=np.float64)
    return list(zip(gain.tolist(), n.tolist(), strict=True))


def pair_informations(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int] = ()
) -> Iterator[tuple[float, float]]:
    """Yield the mutual information of pairs, with at most one number, and the number of rows."""
    for gain, n in pair_gains(data, pairs, condition):
        yield max(gain, 0.0) / (n or 1.0), n


def pair_gains(
    data: Countable,
    pairs: Sequence[tuple[int, int]],
    condition: Sequence[int] = (),
    term: Term = n_log_n,
) -> Iterator[tuple[float, float]]:
    """Yield by how much an arc between two columns raises a score, and the number of rows.

    It is Σ f of the cells of both columns, minus Σ f of those of each, plus Σ f
    of those of neither, all given the others; with n ln n as the `Term` f, this
    is N·I, also of pairs with a number, which is normal.
    """
    families: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}  # of pairs with a number
    for x, y in pairs:
        if not (data.cards[x] and data.cards[y]):
            number, column = (x, y) if data.cards[y] else (y, x)
            families[x, y] = number, (column, *condition)
    counting = partial(_moments_of_families, list(families.values()))
    moments = data.sum_over_parts(counting) if families else []
    of_numbers = dict(zip(families, map(_gain_of_normals, moments), strict=True))
    coded = [pair for pair in pairs if pair not in families]
    of_coded = _gains_of_coded_pairs(data, coded, condition, term)
    for pair in pairs:
        yield of_numbers[pair] if pair in families else next(of_coded)


def _gains_of_coded_pairs(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int], term: Term
) -> Iterator[tuple[float, float]]:
    """Yield the gains of coded pairs, by tables or, if nearly empty, by rows."""
    families = [(*pair, *condition) for pair in pairs]
    cells = [prod([data.cards[column] for column in family]) for family in families]
    # 16: with more cells of a table, the values that occur in rows are counted
    most = inf if data.in_parts else max(2**15, 16 * len(data))
    small = [family for family, n in zip(families, cells, strict=True) if n <= most]
    by_table = _gains_in_batches(data, small, term)
    for family, n in zip(families, cells, strict=True):
        yield _gain_from_rows(data, family, term) if n > most else next(by_table)


def _gains_in_batches(
    data: Countable, families: Sequence[tuple[int, ...]], term: Term
) -> Iterator[tuple[float, float]]:
    """Yield the gains of the first two columns of families, counted in batches."""
    while families:
        cells = accumulate(prod([data.cards[column] for column in family]) for family in families)
        fitting = max(1, sum(1 for total in cells if total <= _PASS_CELLS))
        found: list[tuple[float, float]] = [(0.0, 0)] * fitting
        for positions, tables in count_families_by_shape(data, families[:fitting]):
            for position, value in zip(positions, _gains_from_tables(tables, term), strict=True):
                found[position] = value
        yield from found
        families = families[fitting:]


def _g_statistic(tables: Array) -> Array:
    """Return 2 Σ n ln(n / e) of the tables in the last two axes."""
    # Σ n ln(n / e) is Σ n ln n of the cells − of the rows − of the columns + n ln n of all.
    cells: Array = xlogx(tables).sum(axis=(-2, -1))
    rows: Array = xlogx(tables.sum(axis=-1)).sum(axis=-1)
    columns: Array = xlogx(tables.sum(axis=-2)).sum(axis=-1)
    total = xlogx(tables.sum(axis=(-2, -1)))
    return np.maximum(2 * (cells - rows - columns + total), 0.0)


def _chi_square_statistic(tables: Array) -> Array:
    """Return Σ (n − e)² / e of the tables in the last two axes, over the cells with e > 0."""
    rows: Array = tables.sum(axis=-1, keepdims=True, dtype=np.float64)
    columns: Array = tables.sum(axis=-2, keepdims=True, dtype=np.float64)
    total: Array = tables.sum(axis=(-2, -1), keepdims=True, dtype=np.float64)
    expected: Array = rows * columns / np.where(total > 0, total, 1)
    squares: Array = (tables - expected) ** 2
    cells: Array = np.divide(squares, expected, out=np.zeros(squares.shape), where=expected > 0)
    return np.asarray(cells.sum(axis=(-2, -1)))


STATISTICS: dict[str, Callable[[Array], Array]] = {"g2": _g_statistic, "x2": _chi_square_statistic}
"""The statistics of independence by name, each of tables in the last two axes."""


def independence_test(table: Array, test: str) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom (all levels) and p of x ⊥ y | z by (x, y, z…) counts."""
    levels_x, levels_y, *levels_z = table.shape
    statistic = float(STATISTICS[test](_tables_by_stratum(table)).sum())
    df = (levels_x - 1) * (levels_y - 1) * prod(levels_z)
    return statistic, df, float(special.chdtrc(df, statistic)) if df else 1.0


def log_chi_square_p(statistic: float, df: int) -> float:
    """Return ln p of a chi-square statistic, also if p is too small for a float."""
    tail = float(special.chdtrc(df, statistic)) if df else 1.0
    if tail > 1e-280:  # below it, SciPy's tail is not precise
        return ln(tail)
    # The continued fraction of the incomplete gamma function, from its end.
    a, x = (df / 2, statistic / 2)
    fraction = 0.0
    for k in range(500, 0, -1):  # terms of the continued fraction
        fraction = k * (a - k) / (x + 2 * k + 1 - a + fraction)
    return a * ln(x) - x - lgamma(a) - ln(x + 1 - a + fraction)


def permutation_p(table: Array, test: str, permutations: int, rng: np.random.Generator) -> float:
    """Return the p of the statistic by permutations of y within each stratum, drawn as tables."""
    from scipy.stats import random_table  # slow to import

    observed, drawn = 0.0, np.zeros(permutations)
    for stratum in map(np.asarray, _tables_by_stratum(table).astype(np.int64)):
        rows, columns = stratum.sum(axis=1), stratum.sum(axis=0)
        observed += float(STATISTICS[test](stratum))
        if np.count_nonzero(rows) > 1 and np.count_nonzero(columns) > 1:
            tables = random_table.rvs(rows, columns, size=permutations, random_state=rng)
            drawn += STATISTICS[test](tables.reshape(permutations, *stratum.shape))
        else:  # the margins determine the table
            drawn += float(STATISTICS[test](stratum))
    as_large = np.count_nonzero(drawn >= observed - 1e-9 * max(observed, 1.0))
    return (1 + as_large) / (1 + permutations)


def _tables_by_stratum(table: Array) -> Array:
    """Return the (x, y) table of each configuration of z, (configurations, x, y)."""
    return np.moveaxis(table.reshape(*table.shape[:2], -1), -1, 0)
