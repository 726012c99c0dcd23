"""Tests of the independence of two variables given others."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, prod
from math import log as ln

import numpy as np
from scipy.special import chdtrc

from ..base.arrays import Array, xlogx

_SMALL = 1e-280

_TERMS = 500


def _g2(tables: Array) -> Array:
    """Return 2 Σ n ln(n / e) of the tables in the last two axes."""
    parts = [tables, tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))]
    both, rows, columns, total = map(xlogx, parts)
    half: Array = both.sum(axis=(-2, -1)) - rows.sum(axis=-1) - columns.sum(axis=-1) + total
    return np.maximum(2 * half, np.zeros(()))


def _x2(tables: Array) -> Array:
    """Return Σ (n − e)² / e of the tables in the last two axes, over the cells with e > 0."""
    rows: Array = tables.sum(axis=-1, keepdims=True, dtype=np.float64)
    columns: Array = tables.sum(axis=-2, keepdims=True, dtype=np.float64)
    total: Array = tables.sum(axis=(-2, -1), keepdims=True, dtype=np.float64)
    expected: Array = rows * columns / np.where(total > 0, total, 1)
    squares: Array = (tables - expected) ** 2
    cells: Array = np.divide(squares, expected, out=np.zeros(squares.shape), where=expected > 0)
    return np.asarray(cells.sum(axis=(-2, -1)))


STATISTICS: dict[str, Callable[[Array], Array]] = {"g2": _g2, "x2": _x2}
"""The statistics of independence by name, each of tables in the last two axes."""


def independence(table: Array, test: str) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom (of all levels) and p of x ⊥ y | z from the (x, y, z…) table."""
    levels_x, levels_y, *levels_z = table.shape
    statistic = float(STATISTICS[test](_tables_by_stratum(table)).sum())
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
