"""Exact values of features, and cells of two, whose effects are not smooth, such as names.

A number or a category with many values can be a name: of a person, team or
product. The effect of each exact value, or of each cell of two, is then a table
of its own, of which most entries come from few rows and are shrunk to 0. A
table is added if it raises the likelihood of rows that are left out one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Array, Positions, log_normalize
from .contrasts import COSINES, Feature

_FEWEST = 4  # values of the larger side of a pair; with fewer, contrasts have all cells
_MOST_CELLS = 2**15
_MOST_TABLES = 12
_KEPT = 16  # tables that are tried with all variances
_VARIANCES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_LEAST_GAIN = 0.001  # nats per row
_REPEATED = 0.9  # cells per row from which they do not repeat


class Cells(NamedTuple):
    """A table of exact values: features, the cell of each row, and effects, (cells, classes)."""

    features: tuple[int, ...]
    cells: Positions
    size: int
    effects: Any = None


def possible_tables(
    features: Sequence[Feature], pairs: Sequence[tuple[int, int]], rows: Positions, n: float
) -> list[Cells]:
    """Return the tables of exact values, and of cells of pairs, of which enough repeat in rows.

    ``n`` is the weight of the rows.
    """
    found = list[Cells]()
    for scope in [*[(j,) for j in range(len(features))], *pairs]:
        sizes = [features[j].n_exact + 1 for j in scope]  # the last is that of missing values
        least = COSINES if len(scope) == 1 else _FEWEST
        if max(sizes) - 1 <= least or np.prod(sizes) > _MOST_CELLS or n < 2:
            continue
        cells = np.ravel_multi_index([features[j].exact for j in scope], sizes)
        if len(np.unique(cells[rows])) <= _REPEATED * n:
            found.append(Cells(scope, cells, int(np.prod(sizes))))
    return found


def tables_that_gain(
    tables: Sequence[Cells],
    rows: Positions,
    left_out: Array,
    classes: Positions,
    weights: Array,
    cases: Positions | None,
    n_features: int,
) -> list[Cells]:
    """Return the tables that raise the likelihood of rows that are left out, with effects.

    Of the ``rows`` by which they are chosen, the classes, weights and cases are
    given; ``left_out`` are the log odds of rows without themselves, (rows, classes).
    In turn, the table and variance v with the largest gain is added. With the
    residuals r = y − p and curvatures d of rows, an effect is Σ r / (Σ d + 1/v)
    over the rows of a cell; a row has it without its own case. The gain must be
    clear: some standard errors, more with more possible tables.
    """
    n_classes = left_out.shape[1]
    scores, every = log_normalize(left_out), np.arange(len(rows))
    added, cells_left = dict[tuple[int, ...], Cells](), _MOST_CELLS
    left = [t._replace(cells=t.cells[rows], effects=np.zeros((t.size, n_classes))) for t in tables]
    variances: Sequence[float] = (1.0,)
    clear = max(2.0, float(np.sqrt(2 * np.log(n_features * (n_features + 1) / 2 + 1))))
    for turn in range(_MOST_TABLES + 1):
        p = np.exp(scores)
        residuals = -p
        residuals[every, classes] += 1
        curvatures = p * (1 - p) * n_classes / (n_classes - 1)
        tried = []
        for table in left:
            slopes, bends = [
                _sums_of_others(table, own, weights, cases) for own in (residuals, curvatures)
            ]
            for variance in variances:
                new = log_normalize(scores + slopes / (bends + 1 / variance))
                gains = new[every, classes] - scores[every, classes]
                mean = float(np.average(gains, weights=weights))
                spread = float(np.average((gains - mean) ** 2, weights=weights))
                tried.append((mean, np.sqrt(spread / weights.sum()), table, variance, new))
        if turn == 0:  # a first look
            tried.sort(key=lambda one: -one[0])
            left = [table for mean, _, table, *_ in tried[:_KEPT] if mean > 0]
            variances = _VARIANCES
            continue
        if not tried:
            break
        mean, error, best, variance, scores_with_it = max(tried, key=lambda one: one[0])
        least = max(clear, 3.0 * (2 * len(np.unique(best.cells)) > weights.sum()))
        if mean < max(_LEAST_GAIN, least * error):
            break
        slopes, bends = [_sums(best, own, weights) for own in (residuals, curvatures)]
        new = best._replace(effects=best.effects + slopes / (bends + 1 / variance))
        cells_left -= best.size * (best.features not in added)
        added[best.features], scores = new, scores_with_it
        left = [
            new if t is best else t for t in left if t.features in added or t.size <= cells_left
        ]
    return [*added.values()]


def _sums(table: Cells, values: Array, weights: Array) -> Array:
    """Return the weighted sums of values in each cell, (cells, classes)."""
    return np.array([np.bincount(table.cells, weights * own, table.size) for own in values.T]).T


def _sums_of_others(table: Cells, values: Array, weights: Array, cases: Positions | None) -> Array:
    """Return the weighted sums of values in the cell of each row, without the row's own case."""
    sums = np.empty(values.shape)
    for c, own in enumerate(values.T):
        total = np.bincount(table.cells, weights * own, table.size)[table.cells]
        if cases is None:
            sums[:, c] = total - np.minimum(weights, 1.0) * own
        else:
            _, both = np.unique(np.stack([table.cells, cases]), axis=1, return_inverse=True)
            sums[:, c] = total - np.bincount(both.ravel(), weights * own)[both.ravel()]
    return sums
