"""Cut points of a table in a database, from quantiles that the database computes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np

from ..base.checks import Whole
from ..base.messages import listed, shown
from ..frames.databases import DatabaseTable, Spread
from ..frames.encoding import check_columns
from ..frames.numeric import MOST_CODES, are_categories, as_label, check_exact, check_finite
from ..frames.sources import find_source
from .cut_points import MOST_BINS

Cuts = tuple[tuple[float, ...], ...]


def table_of(data: object) -> DatabaseTable | None:
    """Return the table in a database that data are, or None."""
    source = find_source(data, "dataset")
    return source if isinstance(source, DatabaseTable) else None


def table_cuts(
    source: DatabaseTable,
    class_var: Hashable | None,
    method: str,
    bins: int,
    columns: Collection[Hashable] | None = None,
    weights: Hashable = None,
) -> tuple[tuple[Hashable, ...], Cuts, tuple[tuple[Any, ...], ...], Cuts, Cuts]:
    """Choose cut points; return columns, points, labels, ranges and means as `Discretizer` has them."""
    if method != "quantile":
        raise ValueError(
            f"method must be 'quantile' if dataset is a table in a database; got {shown(method)}. The other "
            "methods accept a sample, such as table.sample(0.01).to_pandas()."
        )
    bins = Whole(least=2, most=MOST_BINS).check("bins", bins)
    check_columns([name for name in (class_var, weights) if name is not None], source.names, "dataset")
    numeric = [name for name in source.numeric if name not in (class_var, weights)]
    if columns is not None:
        check_columns(columns, source.names, "columns")
        if text := [name for name in columns if name not in numeric]:
            raise TypeError(f"columns must name columns of numbers; got {listed(text)}. Cast them first.")
        numeric = [name for name in numeric if name in columns]
    spreads = source.spreads(numeric, bins, weights)
    few = [name for name, s in spreads.items() if columns is None and s.distinct <= MOST_CODES]
    counted = source.cut({}, dict.fromkeys(few, ())).count([(name,) for name in few])
    found = {
        n: sorted({as_label(x) for (x,) in c if x is not None}) for n, c in zip(few, counted, strict=True)
    }
    kept = {name: tuple(labels) for name, labels in found.items() if are_categories(tuple(labels))}
    ends = {name: np.array([spread.low, spread.high]) for name, spread in spreads.items()}
    check_finite(ends)
    ranges = {name: (spread.low, spread.high) for name, spread in spreads.items() if name not in kept}
    large = [n for n in ranges if np.abs(ends[n]).max() >= 2**53 and source.types[n].is_integer()]
    check_exact({name: ends[name].astype(object) for name in large})
    points = {name: _points(spreads[name]) for name in ranges}
    means = {}
    for name, sums in source.sums(points, weights).items():
        edges = np.array([ranges[name][0], *points[name], ranges[name][1]])
        of_intervals = edges[:-1] / 2 + edges[1:] / 2
        for interval, (total, moment) in sums.items():
            of_intervals[interval] = moment / total if total else of_intervals[interval]
        means[name] = tuple(of_intervals.tolist())

    def aligned(by_column: Mapping[Hashable, tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
        return tuple([by_column.get(name, ()) for name in numeric])

    return tuple(numeric), aligned(points), aligned(kept), aligned(ranges), aligned(means)


def _points(spread: Spread) -> tuple[float, ...]:
    """Return the distinct quantiles below the largest value or, without one, the second largest value."""
    inside = sorted({point + 0.0 for point in spread.quantiles if point < spread.high})
    return tuple(inside) or (() if spread.second is None else (spread.second + 0.0,))
