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
_POWERS = (-1.0, -0.5, 0.5, 1.0)
_SIZES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_LEAST_GAIN = 0.001  # nats per row
_REPEATED = 0.9  # cells per row from which they do not repeat


class Cells(NamedTuple):
    """A table of exact values: features, the cell of each row, and effects, (cells, classes)."""

    features: tuple[int, ...]
    cells: Positions
    size: int
    effects: Any = None
    is_exact: bool = True


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
    for j, feature in enumerate(features):  # sharp steps
        if feature.numbers is not None and len(feature.mass) - 1 > COSINES and feature.n_exact + 1 > len(feature.mass):
            found.append(Cells((j,), feature.groups, len(feature.mass), is_exact=False))
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
    With the observed number O of rows of a class in a cell, and the number E =
    Σ p that is expected, the effect is ln (O + s) / (E + s), as in a
    gamma-Poisson model; or minus that, if a class that was seen becomes less
    probable, as where each person has one row of each class. A row has the
    effect without its own case. In turn, the table with the largest gain is
    added. The gain must be clear: some standard errors, more with more possible
    tables.
    """
    scores, every = log_normalize(left_out), np.arange(len(rows))
    p, marks = np.exp(scores), np.zeros(scores.shape)
    marks[every, classes] = 1
    added, cells_left = list[Cells](), _MOST_CELLS
    clear = float(np.sqrt(2 * np.log(n_features * (n_features + 1) * len(_POWERS) * len(_SIZES))))
    left = []
    for table in tables:
        table = table._replace(cells=table.cells[rows])
        others = [np.maximum(_sums_of_others(table, x, weights, cases), 0) for x in (marks, p)]
        left.append((table, *others))

    def gain(table: Cells, observed: Array, expected: Array, size: float, power: float) -> Any:
        new = log_normalize(scores + power * np.log((observed + size) / (expected + size)))
        gains = new[every, classes] - scores[every, classes]
        mean = float(np.average(gains, weights=weights))
        spread = float(np.average((gains - mean) ** 2, weights=weights))
        return mean, np.sqrt(spread / weights.sum()), table, size, power, new

    kinds: Sequence[tuple[float, float]] = [(1.0, 1.0), (1.0, -1.0)]
    for turn in range(_MOST_TABLES + 1):
        tried = [gain(*one, *kind) for one in left for kind in kinds]
        tried.sort(key=lambda one: -one[0])
        if turn == 0:  # a first look
            kept = [*dict.fromkeys(id(one[2]) for one in tried)][:_KEPT]
            left = [one for one in left if id(one[0]) in kept]
            kinds = [(size, power) for size in _SIZES for power in _POWERS]
            continue
        if not tried:
            break
        mean, error, best, size, power, scores_with_it = tried[0]
        if mean < max(_LEAST_GAIN, clear * error):
            break
        observed, expected = [_sums(best, x, weights) for x in (marks, p)]
        effects = power * np.log((observed + size) / (expected + size))
        added.append(best._replace(effects=effects))
        cells_left -= best.size
        scores = scores_with_it
        left = [one for one in left if one[0] is not best and one[0].size <= cells_left]
    return added


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
