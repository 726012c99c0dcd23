"""Exact values of features, and cells of two, whose effects are not smooth, such as names.

A number or a category with many values can be a name: of a person, team or
product. The effects of exact values, of cells of two features, or of the groups
of a number with sharp steps, are then a table of their own, of which most
entries come from few rows and are shrunk to 0. A table is added if it raises
the likelihood of rows that are held out one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..tools.arrays import Array, Codes, Positions
from .contrasts import COSINES, Feature

_FEWEST = 4  # values of the larger side of a pair; with fewer, contrasts have all cells
_MOST_CELLS = 2**15
_KEPT = 16  # tables that are tried with all shapes
_SHAPES = tuple(product((0.03, 0.3, 3.0, 30.0), (1.0, 0.5, -0.5, -1.0)))
_REPEATED = 0.9  # cells per row from which they do not repeat


class Cells(NamedTuple):
    """Exact values or groups of features: the cell of each row, and effects, (cells, classes)."""

    features: tuple[int, ...]
    cells: Codes
    size: int
    is_exact: bool = True
    effects: Any = None


def possible_tables(
    features: Sequence[Feature], pairs: Sequence[tuple[int, int]], rows: Positions, n: float
) -> list[Cells]:
    """Return the tables of exact values, cells of pairs, and groups, of which enough repeat.

    ``n`` is the weight of the rows.
    """
    found = list[Cells]()
    if n < 2:
        return found
    for scope in [*[(j,) for j in range(len(features))], *pairs]:
        if any(features[j].mass[-1] > 0 and not features[j].counts_missing for j in scope):
            continue
        sizes = [features[j].n_exact + 1 for j in scope]  # the last is that of missing values
        least = COSINES if len(scope) == 1 else _FEWEST
        if max(sizes) - 1 <= least or np.prod(sizes) > _MOST_CELLS:
            continue
        cells = np.ravel_multi_index([features[j].exact for j in scope], sizes)
        if len(np.unique(cells[rows])) <= _REPEATED * n:
            found.append(Cells(scope, cells, int(np.prod(sizes))))
    for j, feature in enumerate(features):
        is_known = feature.counts_missing or not feature.mass[-1]
        if is_known and COSINES < len(feature.mass) - 1 < feature.n_exact:
            found.append(Cells((j,), feature.groups, len(feature.mass), is_exact=False))
    return found


def tables_that_gain(
    tables: Sequence[Cells],
    rows: Positions,
    posteriors: Array,
    shares: tuple[Any, Array],
    classes: Positions,
    weights: Array,
    cases: Positions | None,
    n_features: int,
) -> list[Cells]:
    """Return the tables that raise the likelihood of rows that are held out, with effects.

    ``posteriors``, (rows, classes), are those of each of the ``rows`` without this
    row and without tables, p; ``classes``, ``weights`` and ``cases`` are theirs. If
    O rows of a cell have a class, and E = Σ p are expected, its effect is r ln
    (O + s) / (E + s): the mean of a gamma-Poisson model, to a power r. With r
    below 0, a class that was seen becomes less probable, as where each person
    has one row per class. A row has the effect of the others in its cell,
    without its own case, and E without what the fit adds to others for the row
    (``shares``), because both would show its class.

    In turn, from the table with the largest gain with s = 1, each has the shape
    (s, r) with the largest mean gain beside those added before, and is added if
    this gain divided by its standard error is above √(2 ln m), about the
    largest of m normal numbers, for as many tables and shapes as are possible.

    Example: of a cell with the classes a, a, and of two classes with p = .5 each,
    s = .1 and r = 1, the effects are ln (2.1 / 1.1) = .65 and ln (.1 / 1.1) = −2.4.
    """
    marks, p = np.zeros(posteriors.shape), np.maximum(posteriors, 1e-300)
    own_class = np.arange(len(rows)), classes
    marks[own_class] = 1
    n_tries = n_features * (n_features + 1) / 2 * len(_SHAPES)
    clear = float(np.sqrt(2 * np.log(n_tries)))

    def ratios(counts: Sequence[Array], shape: tuple[float, float]) -> Array:
        """Return the exponentials of the effects of a table."""
        observed, expected = counts
        return np.asarray(((observed + shape[0]) / (expected + shape[0])) ** shape[1])

    def gain(now: Array, of_classes: Array) -> tuple[float, float]:
        """Return the mean of the gains of rows in log-likelihood, and its standard error."""
        gains = np.log(of_classes[own_class] / np.einsum("ij,ij->i", now, of_classes))
        mean = float(np.average(gains, weights=weights))
        squares = weights @ (gains - mean) ** 2
        if cases is not None:  # whose rows are not independent
            squares = (np.bincount(cases, weights * (gains - mean)) ** 2).sum()
        return mean, float(np.sqrt(squares)) / float(weights.sum())

    def others(table: Cells) -> list[Array]:
        return [np.maximum(_sums_of_others(table, x, weights, cases), 0.0) for x in (marks, p)]

    def absorbed(table: Cells) -> Array:
        """Return the residual of each row that the fit adds to the others in its cell."""
        vectors, curvatures = shares
        sums = _sums_of_others(table, curvatures[:, None] * vectors, weights, cases)
        return np.asarray(np.einsum("ij,ij->i", sums, vectors)[:, None] * (marks - p))

    def best_shape(of_others: Sequence[Array]) -> tuple[float, float, tuple[float, float]]:
        """Return the mean gain, its error, and the shape, with the largest mean gain."""
        return max([(*gain(now, ratios(of_others, shape)), shape) for shape in _SHAPES])

    of_rows = [table._replace(cells=table.cells[rows]) for table in tables]
    first = [
        max(gain(p, ratios(own, (1.0, r)))[0] for r in (1, -1)) for own in map(others, of_rows)
    ]
    now, added, cells_left = p, list[Cells](), _MOST_CELLS
    for k in np.argsort(-np.round(first, 9), kind="stable")[:_KEPT].tolist():
        table, of_others = of_rows[k], others(of_rows[k])
        mean, error, shape = best_shape(of_others)
        if mean > clear * error:
            of_others[1] = np.maximum(of_others[1] - absorbed(table), 0.0)
            mean, error, shape = best_shape(of_others)
        if mean > clear * error and table.size <= cells_left:
            totals = [
                np.array(
                    [np.bincount(table.cells, weights * own, table.size) for own in values.T]
                ).T
                for values in (marks, p)
            ]
            added.append(table._replace(effects=np.log(ratios(totals, shape))))
            now = now * ratios(of_others, shape)
            now = np.maximum(now / now.sum(axis=1, keepdims=True), 1e-300)
            cells_left -= table.size
    return added


def _sums_of_others(table: Cells, values: Array, weights: Array, cases: Positions | None) -> Array:
    """Return the weighted sums of values in the cell of each row, without the row's own case."""
    from scipy.sparse import csr_array  # slow to import

    own, kept = np.arange(len(weights)), np.minimum(weights, 1.0)
    if cases is not None:
        _, own = np.unique(np.stack([table.cells, cases]), axis=1, return_inverse=True)
        own, kept = own.ravel(), weights

    def sums(groups: Codes, of_rows: Array) -> Array:
        by_row: Any = csr_array((of_rows, groups, np.arange(len(groups) + 1)))
        return np.asarray((by_row.T @ values)[groups])

    return sums(table.cells, weights) - sums(own, kept)
