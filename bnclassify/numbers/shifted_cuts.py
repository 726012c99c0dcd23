"""Several cuttings of columns at moved quantiles, so that what is averaged over them has fine steps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.messages import listed
from ..base.records import record
from .discretization import Discretizer, check_class, columns_of_numbers, numbers_to_cut

CUTTINGS = {"averaged": (4, 5, 6) * 3, "averaged5": (5,) * 5}
"""How many intervals each cutting has, by the method that users name."""


def moved_cuts(numbers: Array, intervals: Sequence[int]) -> list[tuple[float, ...]]:
    """Cut numbers at quantiles, several times, each time moved a little.

    Cutting q of Q has b intervals, moved by t = (q + ½)/Q − ½ of one: its cuts are the quantiles
    (i + t)/b, for whole i, that lie inside (0, 1), as values of the inverted empirical distribution.
    A cut at the greatest value would have nothing above it and is left out; if no other is left,
    the cut is the value below.

    Parameters
    ----------
    numbers : (rows,) array
        NaN where missing.
    intervals : sequence of int
        b of each cutting.

    Returns
    -------
    list of tuple of float
        The cuts of each cutting, ascending; none where all known numbers are equal.

    Examples
    --------
    >>> moved_cuts(np.arange(10.0), (2, 2))
    [(3.0, 8.0), (1.0, 6.0)]
    """
    known = numbers[~np.isnan(numbers)]
    highest = known.max(initial=-np.inf)
    below = known[known < highest]
    if not len(below):
        return [()] * len(intervals)
    shares = [_shares(q, b, len(intervals)) for q, b in enumerate(intervals)]
    points = np.quantile(known, np.concatenate(shares), method="inverted_cdf") + 0.0
    parts = np.split(points, np.cumsum([len(share) for share in shares])[:-1])
    cuts = [np.unique(part[part < highest]) for part in parts]
    return [tuple(cut.tolist()) if len(cut) else (float(below.max()),) for cut in cuts]


def _shares(q: int, intervals: int, cuttings: int) -> Array:
    """Return the shares of the rows that lie below the cuts of a cutting."""
    move = (q + 0.5) / cuttings - 0.5
    shares = np.array([(i + move) / intervals for i in range(intervals + 1)])
    return shares[(shares > 0) & (shares < 1)]


@record
@dataclass(frozen=True, repr=False)
class MovedCuts(Discretizer):
    """Several cuttings of the same columns, and the function that cuts data at the points of all of them.

    At time s, the j-th column that is cut takes its cutting (s + j) mod the number of cuttings.

    Attributes
    ----------
    cuttings : tuple of tuple of tuple of float
        At each time the cut points of each column, as ``points`` has those of all times.
    """

    cuttings: tuple[tuple[tuple[float, ...], ...], ...] = ()

    @property
    def at_times(self) -> tuple[Discretizer, ...]:
        """The discretizer of each time."""
        return tuple([Discretizer(self.method, self.columns, cut, self.labels) for cut in self.cuttings])

    def __repr__(self) -> str:
        summary = f"cut {len(self.cuttings)} times, at {{}} points in all"
        points = {name: summary.format(len(points)) for name, points in self.cuts.items()}
        points |= {name: f"stays {listed(labels, most=10)}" for name, labels in self.kept.items()}
        lines = [f"  {name}: {points[name]}" for name in self.columns]
        return "\n".join([f"Discretizer ({self.method}), columns", *(lines or ["  (no column)"])])


def learn_moved(dataset: pd.DataFrame, class_var: Hashable, method: str) -> tuple[pd.DataFrame, MovedCuts]:
    """Choose the cuts of several cuttings of all columns of numbers, and cut the data at all of them.

    ``method`` is one of `CUTTINGS`; the columns are those that `discretize` would cut.
    """
    check_class(dataset[class_var])
    labels = columns_of_numbers(dataset, class_var)
    if not len(dataset):
        raise ValueError("dataset: no rows to choose cut points from")
    numbers = numbers_to_cut(dataset, labels)
    intervals = CUTTINGS[method]
    several = {name: moved_cuts(values, intervals) for name, values in numbers.items()}
    times = [
        {name: cuts[(time + j) % len(intervals)] for j, (name, cuts) in enumerate(several.items())}
        for time in range(len(intervals))
    ]
    all_points = {name: tuple(sorted(set().union(*cuts))) for name, cuts in several.items()}

    def aligned(points: Mapping[Hashable, tuple[float, ...]]) -> tuple[tuple[float, ...], ...]:
        return tuple([points.get(name, ()) for name in labels])

    discretizer = MovedCuts(
        method,
        tuple(labels),
        aligned(all_points),
        tuple(labels.values()),
        tuple([aligned(points) for points in times]),
    )
    return discretizer(dataset), discretizer
