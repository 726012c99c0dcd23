"""Where to cut a column of numbers: by the classes (MDLP), at quantiles, into equal widths, or mixed."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, xlogx
from ..counts.contingency import MAX_CELLS, flat_index
from ..frames.numeric import as_floats

_BLOCK_CELLS = 2**16
_GREAT = 1e307  # less than half of the greatest float
_MANY_CUTS = 4  # from here on "mixed" takes what MDLP finds


def cut_points(numbers: NDArray[Any], classes: Codes | None, method: str, bins: int) -> tuple[float, ...]:
    """Choose the cut points of one column; each has known values on both sides."""
    numbers = as_floats(numbers)
    known = np.nonzero(~np.isnan(numbers))[0]
    if not len(known):
        return ()
    order = known[np.argsort(numbers[known])]
    values = numbers[order]
    points = METHODS[method](values, classes if classes is None else classes[order], bins)
    inside = points[(points >= values[0]) & (points < values[-1])]
    return tuple(np.unique(_shorten(inside, values)).tolist())


def _mdlp(values: Array, classes: Codes | None, bins: int) -> Array:
    """Cut ascending values where that tells of the class, as long as it pays; see `discretize`."""
    assert classes is not None
    known = classes >= 0
    if not known.any():
        return np.empty(0)
    values, classes = values[known], classes[known]
    last = np.append(np.nonzero(values[1:] > values[:-1])[0], len(values) - 1)
    distinct = values[last]
    present = np.bincount(classes) > 0
    classes, n_classes = (np.cumsum(present) - 1)[classes], int(np.count_nonzero(present))
    if n_classes * len(last) > MAX_CELLS:
        raise ValueError(
            f"class_var: {n_classes:,} classes are too many to cut {len(last):,} different values by; "
            "if the class is a number, cut it into a few intervals first"
        )
    # below[c, i]: how many rows of class c have one of the first i distinct values
    below = np.zeros((n_classes, len(last) + 1), dtype=np.intp)
    position = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
    counts = np.bincount(flat_index([classes, position], below[:, 1:].shape), minlength=below[:, 1:].size)
    np.cumsum(counts.reshape(n_classes, -1), axis=1, out=below[:, 1:])
    bits = xlogx(np.arange(len(values) + 1)) / np.log(2)
    firsts, parts = [], [(0, len(distinct))]
    while parts:
        start, stop = parts.pop()
        length = _best_cut(below[:, start : stop + 1], bits)
        if length:
            firsts.append(start + length)
            parts += [(start, start + length), (start + length, stop)]
    cuts = np.array(firsts, dtype=np.intp)
    return _midpoints(distinct[cuts - 1], distinct[cuts])


def _best_cut(below: NDArray[np.intp], bits: Array) -> int:
    """Return how many distinct values go below the best cut; 0 if it does not pay.

    Parameters
    ----------
    below : (classes, distinct values + 1) array of int
        How many rows of each class come before each value, and before the end.
    bits : array
        ``n log2 n`` for each number of rows n.
    """
    whole = below[:, -1] - below[:, 0]
    if below.shape[1] <= 2 or np.count_nonzero(whole) < 2:
        return 0
    rows = below.sum(axis=0)
    left, right = rows[1:-1] - rows[0], rows[-1] - rows[1:-1]
    # N times the entropy of N rows is N log2 N less the same of each class.
    after = bits[left] + bits[right]
    step = max(1, _BLOCK_CELLS // below.shape[1])
    for block in (below[i : i + step] for i in range(0, len(below), step)):
        after -= (bits[block[:, 1:-1] - block[:, :1]] + bits[block[:, -1:] - block[:, 1:-1]]).sum(axis=0)
    n = int(whole.sum())
    gain = bits[n] - bits[whole].sum() - after
    best = int(np.nonzero(gain >= gain.max() - n * TOLERANCE)[0][0])
    low = below[:, best + 1] - below[:, 0]
    k = int(np.count_nonzero(whole))
    cost = log2(n - 1) + log2(3**k - 2)
    cost += _spread(low, bits) + _spread(whole - low, bits) - _spread(whole, bits)
    return best + 1 if gain[best] > cost else 0


def _spread(counts: NDArray[np.intp], bits: Array) -> float:
    """Return the entropy of class counts times the number of classes that occur."""
    n = counts.sum()
    return float(np.count_nonzero(counts) * (bits[n] - bits[counts].sum()) / n)


def _midpoints(lower: Array, upper: Array) -> Array:
    """Return the middle between values, or the lower where no float lies in between."""
    middle = lower / 2 + upper / 2  # halved first, as the sum of great numbers is infinite
    return np.where((lower <= middle) & (middle < upper), middle, lower)


def _quantiles(values: Array, classes: Codes | None, bins: int) -> Array:
    """Return the quantiles of ascending values; the greatest value gives way to the one before it."""
    scale = 0.5 if max(-values[0], values[-1]) > _GREAT else 1.0  # the range of great numbers is infinite
    points = np.quantile(values * scale, np.arange(1, bins) / bins) / scale
    before = values[np.searchsorted(values, values[-1]) - 1]
    return np.where(points < values[-1], points, before)


def _equal_widths(values: Array, classes: Codes | None, bins: int) -> Array:
    """Return points that part the range of ascending values evenly."""
    share = np.arange(1, bins) / bins
    return values[0] * (1 - share) + values[-1] * share


def _mixed(values: Array, classes: Codes | None, bins: int) -> Array:
    """Return the cuts by class where they are many, else quantiles."""
    points = _mdlp(values, classes, bins)
    return points if len(points) >= _MANY_CUTS else _quantiles(values, classes, bins)


METHODS = {"mdlp": _mdlp, "quantile": _quantiles, "width": _equal_widths, "mixed": _mixed}
BY_CLASS = ("mdlp", "mixed")
"""The methods that look at the class."""


def _shorten(points: Array, values: Array) -> Array:
    """Round cut points to 15 digits, as many as a float keeps for certain, where no value changes sides.

    So what should be 0.3 is not 0.30000000000000004.
    """
    short = np.array([float(f"{point:.15g}") for point in points])
    same = np.searchsorted(values, short, side="right") == np.searchsorted(values, points, side="right")
    return np.where(same, short, points) + 0.0  # which makes -0.0 a plain 0.0


CUTTINGS = {"averaged": (4, 5, 6) * 3, "averaged5": (5,) * 5}
"""How many intervals each cutting has, by the method that users name."""


def averaged_cuts(numbers: NDArray[Any], intervals: Sequence[int]) -> list[tuple[float, ...]]:
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
    >>> averaged_cuts(np.arange(10.0), (2, 2))
    [(3.0, 8.0), (1.0, 6.0)]
    """
    numbers = as_floats(numbers)
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
