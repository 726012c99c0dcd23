"""Cut points of numeric columns: by class (MDLP), quantiles or equal width."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
import pandas as pd

from ..counts import MAX_CELLS, flat_index
from ..dataset import as_floats, check_class_type
from ..frames import encode_frame, warn_of_columns
from ..tools.arrays import (
    TOLERANCE,
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    slices,
    weights_at,
    xlogx,
)
from ..tools.checks import check_columns
from ..tools.messages import no_labels_error

_LARGEST, _MOST_DIGITS = 1e300, 18  # size and digits of numbers that are shortened
MOST_BINS = 10_000


def cut_points(
    numbers: ArrayOf[Any],
    classes: Codes | None,
    method: str,
    bins: int,
    weights: Array | None = None,
) -> tuple[float, ...]:
    """Choose cut points of a column, with values on both sides, by (rows,) class codes."""
    values, weights, order = _observed_in_order(numbers, weights)
    if not len(values):
        return ()
    points = METHODS[method](values, classes if classes is None else classes[order], weights, bins)
    inside = points[(points >= values[0]) & (points < values[-1])]
    return tuple(np.unique(inside).tolist())


def _observed_in_order(
    numbers: ArrayOf[Any], weights: Array | None
) -> tuple[Array, Array | None, Positions]:
    """Return observed values of rows with positive weight, ascending, with weights, positions."""
    values = as_floats(numbers)
    rows = np.flatnonzero(_are_known_with_weight(values, weights))
    order = rows[np.argsort(values[rows])]
    return values[order], weights_at(weights, order), order


def _are_known_with_weight(values: Array, weights: Array | None) -> Mask:
    is_known: Mask = ~np.isnan(values)
    return is_known if weights is None else is_known & (weights > 0)


def _mdlp_cuts(values: Array, classes: Codes | None, weights: Array | None, bins: int) -> Array:
    """Divide ascending values while the description length decreases; see `discretize`."""
    assert classes is not None
    known = classes >= 0
    if not known.any():
        return np.empty(0)
    values, classes, weights = values[known], classes[known], weights_at(weights, known)
    last = np.append(np.nonzero(values[1:] > values[:-1])[0], len(values) - 1)
    distinct: Array = values[last]
    n_classes = int(classes.max()) + 1
    if n_classes * len(last) > MAX_CELLS:
        raise ValueError(
            f"class_var: {n_classes:,} classes are too many to discretize {len(last):,} different "
            "values; if the class is a number, bin it first"
        )
    # below[c, i]: the weight of the rows of class c that have one of the first i distinct values
    below = np.zeros((n_classes, len(last) + 1))
    position = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
    cells = flat_index([classes, position], below[:, 1:].shape)
    counts = np.bincount(cells, weights, minlength=below[:, 1:].size)
    np.cumsum(counts.reshape(n_classes, -1), axis=1, out=below[:, 1:])
    firsts, parts = [], [(0, len(distinct))]
    while parts:
        start, stop = parts.pop()
        length = _best_mdlp_cut(below[:, start : stop + 1])
        if length:
            firsts.append(start + length)
            parts += [(start, start + length), (start + length, stop)]
    cuts = np.array(firsts, dtype=np.intp)
    return points_between(distinct[cuts - 1], distinct[cuts])


def _n_log2_n(rows: Array) -> Array:
    return xlogx(rows) / float(np.log(2))


def _best_mdlp_cut(below: Array) -> int:
    """Return the number of distinct values below the best cut point; 0 if none is accepted."""
    whole = _weights_above_rounding(below[:, -1] - below[:, 0])
    n, k = sum(whole), len(whole)
    if below.shape[1] <= 2 or k < 2 or n <= 1:
        return 0
    rows: Array = below.sum(axis=0)
    left, right = rows[1:-1] - rows[0], rows[-1] - rows[1:-1]
    # N times the entropy of N rows is N log2 N minus the same of each class.
    after = _n_log2_n(left) + _n_log2_n(right)
    for classes in slices(len(below), below.shape[1]):
        first, inner, last = np.split(below[classes], [1, -1], axis=1)
        after -= (_n_log2_n(inner - first) + _n_log2_n(last - inner)).sum(axis=0)
    gain: Array = _entropy_times_rows(whole) - after
    best = int((gain >= float(gain.max()) - n * TOLERANCE).argmax())
    low = _weights_above_rounding(below[:, best + 1] - below[:, 0])
    high = _weights_above_rounding(below[:, -1] - below[:, best + 1])
    # The values 1, 2, 3, 4 with the classes a, a, b, b have 4 bits, and a cut at 2.5 leaves 0. It
    # costs log2 3 + log2 7 − 2 = 2.39 bits, because the class has 1 bit per row and two labels, so
    # it is accepted.
    cost = log2(n - 1) + log2(3**k - 2)
    for part, sign in ((low, 1), (high, 1), (whole, -1)):
        if part:  # more than a rounding error
            cost += sign * len(part) * _entropy_times_rows(part) / sum(part)
    return best + 1 if gain[best] > cost else 0


def _weights_above_rounding(weights: Array) -> list[float]:
    """Return the positive ones of differences of sums of weights, without rounding errors."""
    least = float(weights.sum()) * 1e-12
    return [weight for weight in weights.tolist() if weight > least]


def _entropy_times_rows(weights: Sequence[float]) -> float:
    """Return the entropy of N rows, in bits, times N, for the weight of each class."""
    n = sum(weights)
    return n * log2(n) - sum([weight * log2(weight) for weight in weights])


def points_between(lower: Array, upper: Array) -> Array:
    """Return the middle between values, or the lower value if no float lies between them.

    It has 15 digits if they suffice: .3 in place of .30000000000000004.
    """
    middle = lower / 2 + upper / 2  # halved first, because the sum can overflow
    middle = np.where((lower <= middle) & (middle < upper), middle, lower)
    short = _with_15_digits(middle)
    return np.where((lower <= short) & (short < upper), short, middle) + 0.0  # -0.0 becomes 0.0


def _with_15_digits(points: Array) -> Array:
    return np.array([float(f"{point:.15g}") for point in points.tolist()], dtype=np.float64)


def _quantile_cuts(values: Array, classes: Codes | None, weights: Array | None, bins: int) -> Array:
    """Return the points above the quantiles of ascending values below the largest value."""
    numerators = np.arange(1, bins)
    if weights is None:
        below = (-(-numerators * len(values) // bins)).astype(np.float64)
    else:
        below = numerators / bins * float(weights.sum()) * (1 - 1e-12)
    return _points_above_weights(values, weights, below)


def _points_above_weights(values: Array, weights: Array | None, below: Array) -> Array:
    """Return the points above the smallest values up to which the weight is at least ``below``.

    The values are ascending. A point is halfway to the next larger value. The largest value has
    none; if no other is left, the point is below it.
    """
    if weights is None:
        places = np.maximum(np.ceil(below).astype(np.intp), 1) - 1
    else:
        places = np.minimum(np.searchsorted(np.cumsum(weights), below), len(values) - 1)
    lower: Array = np.unique(values[places])
    lower = lower[lower < values[-1]]
    if not len(lower):
        first = int(np.searchsorted(values, values[-1]))
        lower = values[max(first - 1, 0) : first]
    return points_between(lower, values[np.searchsorted(values, lower, side="right")])


def _width_cuts(values: Array, classes: Codes | None, weights: Array | None, bins: int) -> Array:
    """Return points that divide the range of ascending values evenly.

    A point that rounding does not distinguish from a value next to it is
    halfway between the two values around it.
    """
    share = np.arange(1, bins) / bins
    points: Array = values[0] * (1 - share) + values[-1] * share
    above = np.searchsorted(values, points, side="right").clip(1, len(values) - 1)
    lower, upper = values[above - 1], values[above]
    middles, short = points_between(lower, upper), _with_15_digits(points)
    rounding = float(np.abs(values[[0, -1]]).max()) * 2.0**-23  # as of numbers of type float32
    is_near = np.minimum(points - lower, upper - points) <= rounding
    points = np.where((lower <= short) & (short < upper), short, points)
    return np.where(is_near, middles, points) + 0.0  # -0.0 becomes 0.0


def _mdlp_or_quantile_cuts(
    values: Array, classes: Codes | None, weights: Array | None, bins: int
) -> Array:
    """Return the cuts by class if there are many, and quantiles if not."""
    points = _mdlp_cuts(values, classes, weights, bins)
    # 4: minimum number of cut points by MDLP that "mixed" keeps
    return points if len(points) >= 4 else _quantile_cuts(values, classes, weights, bins)


METHODS = {
    "mdlp": _mdlp_cuts,
    "quantile": _quantile_cuts,
    "width": _width_cuts,
    "mixed": _mdlp_or_quantile_cuts,
}
BY_CLASS = ("mdlp", "mixed")
"""The methods that look at the class."""


CUTTINGS = {"averaged": (4, 5, 6) * 3, "averaged5": (5,) * 5}
"""How many intervals each discretization at quantiles has, by the method that users name."""


def quantile_cuts_at_shifts(
    numbers: ArrayOf[Any], intervals: Sequence[int], weights: Array | None = None
) -> list[tuple[float, ...]]:
    """Discretize numbers at quantiles several times, each time moved a little.

    Discretization q of Q has b intervals, moved by t = (q + ½)/Q − ½ of one:
    its cut points are at the quantiles (i + t)/b, for whole i, that lie inside
    (0, 1): halfway between the value of the inverted distribution function and
    the next larger value. The largest value would have nothing above it and is
    omitted; if no other is left, the cut point is below it. There are none if
    all known numbers are equal.
    """
    values, weights, _ = _observed_in_order(numbers, weights)
    if not len(values) or values[0] == values[-1]:
        return [()] * len(intervals)
    total = float(len(values)) if weights is None else float(weights.sum())
    cuts = []
    for q, b in enumerate(intervals):
        move = (q + 0.5) / len(intervals) - 0.5
        shares = (np.arange(b + 1) + move) / b  # rounded as for numpy.quantile
        inside = shares[(shares > 0) & (shares < 1)]
        cuts.append(tuple(_points_above_weights(values, weights, inside * total).tolist()))
    return cuts


def shortest_cuts(points: Sequence[float], numbers: ArrayOf[Any]) -> tuple[float, ...]:
    """Return cut points of the fewest digits that separate the same neighboring values."""
    values = np.unique(_observed_in_order(numbers, None)[0])
    at = np.searchsorted(values, points, side="right")
    short = list(map(float, points))
    for i, above in enumerate(map(int, at)):
        if 0 < above < len(values):
            short[i] = shortest_number_between(
                float(values[above - 1]), float(values[above]), short[i]
            )
    return tuple(short) if len(set(at.tolist())) == len(short) else tuple(points)


def shortest_number_between(low: float, high: float, otherwise: float) -> float:
    """Return the number with the fewest digits between two numbers, nearest to their middle.

    Of two that are equally near, as 0.2 and 0.3 between 0 and 0.5, the middle
    is returned. If there is not a number between them, or they are beyond
    1e300, ``otherwise`` is returned.

    >>> pairs = (43.9, 44.3), (0, 0.5), (0.9, 1), (2951, 3051), (3, 4)
    >>> [shortest_number_between(*ends, 0.0) for ends in pairs]
    [44.0, 0.25, 0.95, 3000.0, 3.5]
    """
    wide, middle = high - low, low / 2 + high / 2
    if not 0 < wide < _LARGEST or max(abs(low), abs(high)) > _LARGEST:
        return otherwise
    if low < 0 < high:
        return 0.0
    first = -int(np.floor(np.log10(max(abs(low), abs(high))))) - 1
    for places in range(first, first + _MOST_DIGITS):
        point = round(middle, places)
        if low < point < high:
            # 1e-9: share of a gap by which numbers differ because of rounding errors
            is_tied = abs(abs(point - middle) - 0.5 * 10.0**-places) < 1e-9 * wide
            return round(middle, places + 1) if is_tied else point
    return otherwise


def range_and_means_of_intervals(
    values: Array, points: tuple[float, ...], weights: Array | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the range of numbers, and their mean in each interval; empty if all are missing."""
    is_observed = _are_known_with_weight(values, weights)
    known = values[is_observed]
    if not len(known):
        return (), ()
    mass = np.ones(len(known)) if weights is None else weights[is_observed]
    intervals = np.searchsorted(points, known, side="left")
    low, high = float(known.min()), float(known.max())
    edges = np.array([low, *points, high])
    middles = edges[:-1] / 2 + edges[1:] / 2  # for intervals without training values
    total = np.bincount(intervals, mass, minlength=len(middles))
    # Weights are divided first, because sums of numbers near the largest float overflow.
    averages = np.bincount(intervals, mass / total[intervals] * known, len(middles))
    means = np.where(total > 0, averages, middles)
    return (low, high), tuple(means.tolist())


def class_codes(frame: pd.DataFrame, class_var: Hashable, method: str) -> Codes | None:
    """Return the codes of the class, or None if the method does not need them."""
    check_columns([class_var], frame.columns, "class_var")
    check_class_type(dict(frame.items())[class_var])
    if method not in BY_CLASS:
        return None
    data = encode_frame(frame, [class_var])
    if data.codes.max() < 0:
        raise no_labels_error([class_var])
    warn_of_columns(data, class_var)
    return data.codes[:1].ravel()


def interval_labels(points: Iterable[str]) -> tuple[str, ...]:
    """Return the intervals between cut points, which are written already, as text."""
    ends = ["-inf", *points, "inf"]
    return tuple([f"({low}, {high}{')' if high == 'inf' else ']'}" for low, high in pairwise(ends)])


def short_point_texts(points: Sequence[float]) -> list[str]:
    """Write cut points with four significant digits, or as many as distinguish them.

    >>> short_point_texts((9.568582617828516, 154.5, 12345.678))
    ['9.569', '154.5', '12346']
    >>> short_point_texts((1.00001, 1.00002))
    ['1.00001', '1.00002']
    """
    for digits in range(4, 17):
        texts = [_rounded_as_text(point, digits) for point in points]
        if len(set(texts)) == len(set(points)):
            break
    return texts


def _rounded_as_text(point: float, digits: int) -> str:
    """Return a cut point with so many significant digits, but all digits before the point."""
    if not np.isfinite(point):
        return cut_point_as_text(point)
    size = int(np.floor(np.log10(abs(point) or 1)))
    return cut_point_as_text(round(point, max(0, digits - 1 - size)))


def cut_point_as_text(point: float) -> str:
    """Return a cut point as text, with as few digits as identify it."""
    return repr(point).removesuffix(".0")


def number_of_decimals(cuts: Sequence[float], before: float = 0.0) -> int | None:
    """Return the decimals that values of a column have, by its cut points; None if they have many.

    >>> [number_of_decimals(cuts) for cuts in ((115.5, 127.5), (21.35, 29.05), (1.23456789,))]
    [0, 1, None]
    """
    texts = [format(Decimal(repr(float(cut))), "f").rstrip("0") for cut in cuts]
    parts = [text.partition(".")[2] for text in texts]
    most = max(map(len, parts), default=0)
    if most and all(part.endswith("5") for part in parts if len(part) == most):
        most -= 1  # the middle between two values
    most = max(most, len(format(Decimal(repr(before)), "f").rstrip("0").partition(".")[2]))
    return most if most <= 6 else None  # decimals of numbers that are rounded
