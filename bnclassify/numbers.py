"""Numeric columns become categorical: cut points, rare levels, and how new rows are treated alike.

Cut points divide the numbers of a column into intervals, whose number and
places follow from the class, from quantiles or from equal widths. A
`Discretizer` holds the cut points and applies them to new rows. A `Merger` does
the same for rare levels, which become one level. A `Preparation` holds both and
belongs to a model, so that `predict` accepts raw rows and `cv` chooses cut
points again in each training set. A reader who has categorical data can skip
this chapter.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import log2
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from .counts import MAX_CELLS, contingency_table, flat_index
from .dataset import (
    MISSING,
    Columns,
    Countable,
    Data,
    Dataset,
    Known,
    Numeric,
    Opened,
    OpenedData,
    are_categories,
    as_floats,
    recode_column,
    warn_of_unseen_labels,
)
from .frames import (
    FLOATS,
    TIMES,
    AnyTable,
    ArrayLike,
    Frame,
    Row,
    check_can_add_missing_level,
    check_weights,
    frame_of,
    is_arrow_dictionary,
    is_column_name,
    labels_and_codes_of_numbers,
    labels_if_categories,
    number_as_label,
    read_numbers,
    value_type,
    warn_of_columns,
)
from .tools.arrays import (
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
from .tools.calls import with_call_advice
from .tools.checks import Cutting, Instance, OneOf, Whole, check_columns, check_feature_names
from .tools.immutable import ANY_NUMBER, COUNT, Immutable, cached_property, field_bounds, record
from .tools.messages import USUAL_SHARE, listed, no_labels_error, share_of_known_values, shown, warn

# Cut points of numeric columns: by class (MDLP), quantiles or equal width.


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


def check_class_type(column: pd.Series[Any]) -> None:
    """Raise a TypeError if the class consists of dates or times, or of numbers of type float."""
    got = f"class_var must be categorical; got {shown(column.name)}, which has"
    kind = value_type(column)
    if kind in TIMES:
        raise TypeError(f"{got} {kind} values. {how_to_label(column.name)}.")
    if kind in FLOATS and column.notna().any():
        to = label_dtype(column.dropna())
        raise TypeError(
            f"{got} numbers of type float. If they are codes, use .astype('{to}'); if they are "
            "measurements, bin them with pd.cut."
        )


def how_to_label(name: Hashable) -> str:
    column = f"dataset[{name!r}]"
    return f"Make them labels, with {column} = {column}.astype('string')"


def label_dtype(numbers: Iterable[Any]) -> str:
    """Return the type of pandas for labels that are written as numbers of type float."""
    return "string" if any(number % 1 > 0 for number in numbers) else "Int64"


def class_codes(frame: pd.DataFrame, class_var: Hashable, method: str) -> Codes | None:
    """Return the codes of the class, or None if the method does not need them."""
    check_columns([class_var], frame.columns, "class_var")
    check_class_type(dict(frame.items())[class_var])
    if method not in BY_CLASS:
        return None
    data = Frame(frame, "dataset").encode_columns([class_var])
    if data.codes.max() < 0:
        raise no_labels_error([class_var])
    warn_of_columns(data, class_var)
    return data.codes[:1].ravel()


def interval_labels(points: Iterable[str]) -> tuple[str, ...]:
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
        texts = []
        for point in points:  # all digits before the point are kept
            size = int(np.floor(np.log10(abs(point) or 1))) if np.isfinite(point) else 0
            short = round(point, max(0, digits - 1 - size)) if np.isfinite(point) else point
            texts.append(cut_point_as_text(short))
        if len(set(texts)) == len(set(points)):
            break
    return texts


def cut_point_as_text(point: float) -> str:
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


# Cut points as a value, which discretizes data when it is called.


Cuts = tuple[tuple[float, ...], ...]
"""Cut points of each column."""


def warn_of_distant_numbers(
    numbers: Mapping[Hashable, ArrayOf[Any]], ranges: Mapping[Hashable, tuple[float, float]]
) -> None:
    """Warn of columns in which many numbers are far from those of the training data.

    A number is far if it lies outside the range of training by more than the
    width of this range; a column of a single number has no width.
    """
    names = [name for name in numbers if name in ranges]
    if not names:
        return
    lows, highs = np.array([ranges[name] for name in names]).T
    with np.errstate(over="ignore"):
        widths = highs - lows
        least, most = lows - widths, highs + widths
    for block in slices(len(names), max(len(numbers[names[0]]), 1)):
        values = np.stack([as_floats(numbers[name]) for name in names[block]])
        are_far = (values < least[block, None]) | (values > most[block, None])
        far: Positions = np.count_nonzero(are_far, axis=1)
        for i in np.flatnonzero((far > 0) & (widths[block] > 0)).tolist():
            n_far, n_known = int(far[i]), int(np.count_nonzero(~np.isnan(values[i])))
            if n_far <= USUAL_SHARE * n_known:
                continue
            name, value = names[block][i], float(values[i, are_far[i].argmax()])
            low, high = ranges[name]
            example = number_as_label(value) if abs(value) < 1e15 else value
            warn(
                f"column {shown(name)}: {share_of_known_values(n_far, n_known)}, such as "
                f"{shown(example)}, are far outside of the range of the training data, "
                f"{low:.6g} to {high:.6g}. Check their unit."
            )


@record
@dataclass(frozen=True, repr=False)
class Discretizer(Immutable):
    """Cut points of numeric columns, which the object applies to data if called. From `discretize`.

    Attributes
    ----------
    method : str
        How the cut points were chosen.
    columns : tuple
        Names of the numeric columns, in the order of the training data.
    points : tuple of tuple of float
        Cut points of each column, ascending. Intervals are closed on the right:
        a value equal to a cut point belongs to the interval below it.
    labels : tuple of tuple
        Distinct numbers, ascending, of each column that stays categorical;
        empty for the others.
    ranges, means : tuple of tuple of float
        The smallest and the largest training value of each column with
        intervals, and the weighted mean of the training values in each
        interval; empty for other columns.

    Examples
    --------
    >>> from bnclassify import discretize, load_pima
    >>> women = load_pima()[["age", "bmi", "diabetes"]]
    >>> frame, discretizer = discretize(women, class_var="diabetes")
    >>> discretizer.cuts
    {'age': (28.5,), 'bmi': (27.35,)}
    >>> discretizer({"age": 51, "bmi": None})
               age  bmi
    0  (28.5, inf)  NaN
    """

    bounds = field_bounds(points=ANY_NUMBER, ranges=ANY_NUMBER, means=ANY_NUMBER)

    method: str
    columns: tuple[Hashable, ...]
    points: tuple[tuple[float, ...], ...]
    labels: tuple[tuple[Any, ...], ...] = ()
    ranges: tuple[tuple[float, ...], ...] = ()
    means: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        alike = len(self.columns) == len(self.points) == len(self.labels or self.points)
        are_tuples = all(isinstance(labels, tuple) for labels in self.labels)
        if not (alike and are_tuples and all(map(_are_ascending, self.points))):
            raise ValueError("points must have the cut points of each column, in ascending order.")
        n_intervals = [len(points) + 1 for points in self.points]
        for name, lengths in {"ranges": [2] * len(self.points), "means": n_intervals}.items():
            values: tuple[tuple[float, ...], ...] = getattr(self, name)
            found = [len(own) or most for own, most in zip(values, lengths, strict=False)]
            are_nested = any(tuple in map(type, own) for own in values)
            if values and (found != lengths or are_nested):
                raise ValueError(f"{name} must fit the cut points of each column.")

    @property
    def cuts(self) -> dict[Hashable, tuple[float, ...]]:
        """The cut points by column, without columns that stay categorical."""
        return {name: points for name, points, labels in self._cut_points_and_labels if not labels}

    @property
    def kept(self) -> dict[Hashable, tuple[Hashable, ...]]:
        return {name: labels for name, _, labels in self._cut_points_and_labels if labels}

    @property
    def uncut(self) -> tuple[Hashable, ...]:
        """The numeric columns with one level: no cut point was found, or all values are equal."""
        columns = self._cut_points_and_labels
        return tuple(
            [name for name, cuts, labels in columns if (len(labels) or len(cuts) + 1) == 1]
        )

    @property
    def training_ranges(self) -> dict[Hashable, tuple[float, float]]:
        """The smallest and the largest training value of each column, as far as known."""
        columns = self._cut_points_and_labels
        kept = {name: (float(own[0]), float(own[-1])) for name, _, own in columns if own}
        pairs = zip(self.columns, self.ranges, strict=False)
        return kept | {name: (own[0], own[1]) for name, own in pairs if own}

    @property
    def cut_points(self) -> pd.DataFrame:
        """The method, the number of intervals, and readable cut points, by column."""
        times, found = len(self._points_of_each_discretization), {}
        method = self.method if times == 1 else f"{self.method}, {times} times"
        for i, (name, points, labels) in enumerate(self._cut_points_and_labels):
            if not labels:
                sizes = [len(cutting[i]) + 1 for cutting in self._points_of_each_discretization]
                intervals = "-".join(map(str, sorted({min(sizes), max(sizes)})))
                found[name] = method, intervals, ", ".join(short_point_texts(points))
        columns = ["method", "intervals", "cut_points"]
        index = pd.Index(list(found), tupleize_cols=False)
        return pd.DataFrame(list(found.values()), index.rename("column"), columns)

    @property
    def _points_of_each_discretization(self) -> tuple[Cuts, ...]:
        """The cut points of each column in each of several discretizations, or in the only one."""
        return (self.points,)

    @property
    def _cut_points_and_labels(self) -> list[tuple[Hashable, tuple[float, ...], tuple[Any, ...]]]:
        labels = self.labels or ((),) * len(self.columns)
        return list(zip(self.columns, self.points, labels, strict=True))

    @cached_property
    def numeric(self) -> dict[Hashable, bool]:
        """The columns to read as numbers, and whether they must be numeric."""
        return {name: not labels for name, _, labels in self._cut_points_and_labels}

    @cached_property
    def intervals(self) -> dict[Hashable, tuple[str, ...]]:
        """The labels of the intervals of each column with cut points."""
        return {
            name: interval_labels(map(cut_point_as_text, points))
            for name, points in self.cuts.items()
        }

    @cached_property
    def short_interval_labels(self) -> dict[Hashable, tuple[str, ...]]:
        return {
            name: interval_labels(short_point_texts(points)) for name, points in self.cuts.items()
        }

    @cached_property
    def _cuts_as_arrays(self) -> dict[Hashable, Array]:
        return {name: np.array(points) for name, points in self.cuts.items()}

    def interval_means(self, name: Hashable, codes: ArrayOf[Any]) -> Array:
        """Return the mean of the training values in intervals, given by their codes."""
        return np.array(self._training_values_of_column(name, self.means)).take(codes)

    def draw_numbers(self, name: Hashable, codes: ArrayOf[Any], rng: np.random.Generator) -> Array:
        """Draw a number from each interval, uniformly, within the range of the training values."""
        low, high = self._training_values_of_column(name, self.ranges)
        edges = np.array([low, *self.cuts[name], high])
        intervals: Positions = np.minimum(codes, len(edges) - 2)
        drawn = rng.uniform(edges[intervals], edges[intervals + 1])
        # An additional level stands for missing values.
        return np.where(codes == intervals, drawn, np.nan)

    def _training_values_of_column(
        self, name: Hashable, by_column: tuple[tuple[float, ...], ...]
    ) -> tuple[float, ...]:
        if values := by_column[self.columns.index(name)] if by_column else ():
            return values
        raise ValueError(
            f"x must have training values of {shown(name)}; got none, because all are missing or "
            "the model is from an earlier version. Drop the column, or fit the model again."
        )

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Discretize data at these cut points.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            Must have the columns with cut points. Other columns, such as the
            class, are copied.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns. Discretized columns are
            ordered categorical columns with all intervals as categories,
            written as ``(-inf, 5.1]``. Values beyond the training data belong
            to the first or the last interval, and missing values stay missing.
            The categories of numbers that stay categorical are the training
            categories, followed by new ones.
        """
        original = frame_of(newdata, "newdata", or_row=True)
        required = [name for name, points in self.cuts.items() if points]
        check_columns(required, original.columns, "newdata")
        frame, read = original.copy(), dict[Hashable, ArrayOf[Any]]()
        for i, name in enumerate(original.columns):
            if name not in self.numeric:
                continue
            column: ArrayLike = original.iloc[:, i].array
            numbers = read_numbers(column, name, "newdata", must=self.numeric[name])
            if numbers is None and pd.isna(column).all():
                numbers = np.full(len(column), np.nan)
            if numbers is not None:
                read |= {name: numbers} if name in self.intervals else {}
                levels, codes = self._levels_and_codes(name, numbers)
                is_cut, categories = name in self.intervals, pd.Index(levels)
                frame.isetitem(i, pd.Categorical.from_codes(codes, categories, ordered=is_cut))
        warn_of_distant_numbers(read, self.training_ranges)
        return frame

    def prepared_data(self, data: Data) -> Data:
        """Return data with codes for the numbers of the columns of this discretizer."""
        coded = {}
        for name in self.numeric.keys() & data.numbers.keys():
            if data.schema.levels_of[name] != self.intervals.get(name):
                coded[name] = self._levels_and_codes(name, data.numbers[name])
        return data.with_codes(coded)

    def _levels_and_codes(
        self, name: Hashable, numbers: ArrayOf[Any]
    ) -> tuple[tuple[Any, ...], ArrayOf[Any]]:
        if name not in self.intervals:
            return labels_and_codes_of_numbers(numbers, self.kept[name])
        values = as_floats(numbers)
        codes = self._cuts_as_arrays[name].searchsorted(values, side="left")
        codes[np.isnan(values)] = -1
        return self.intervals[name], codes

    def __repr__(self) -> str:
        times, lines = len(self._points_of_each_discretization), []
        for name, points, labels in self._cut_points_and_labels:
            note = ", ".join(short_point_texts(points)) or "no cut"
            if labels:
                note = f"stays {listed(labels)}"
            elif times > 1:
                note = f"cut {times} times, at {len(points)} points in all"
            lines.append(f"  {name}: {note}")
        head = f"Discretizer ({self.method}), columns{' cut at' if times == 1 else ''}"
        return "\n".join([head, *(lines or ["  (no column)"])])


def _are_ascending(points: tuple[float, ...]) -> bool:
    return list(points) == sorted(set(points))


@record
@dataclass(frozen=True, repr=False)
class MovedCuts(Discretizer):
    """Several discretizations of the same columns; a call applies the union of cut points.

    At time s, column number j uses its discretization (s + j) modulo their
    number. ``cuttings`` holds the cut points of each column at each time, like
    ``points``.
    """

    cuttings: tuple[Cuts, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for cutting in self.cuttings:
            for points, union in zip(cutting, self.points, strict=True):
                if not (_are_ascending(points) and set(points) <= set(union)):
                    raise ValueError(
                        "cuttings must be cut points in ascending order, all among the points."
                    )

    @cached_property
    def discretizers_by_time(self) -> tuple[Discretizer, ...]:
        each = [Discretizer(self.method, self.columns, cut, self.labels) for cut in self.cuttings]
        return tuple(each)

    @property
    def _points_of_each_discretization(self) -> tuple[Cuts, ...]:
        return self.cuttings


# Discretization: the choice of cut points on training data.


@with_call_advice("Pass the class by name: discretize(dataset, class_var=name).")
def discretize(
    dataset: pd.DataFrame | AnyTable,
    *,
    class_var: Hashable | None = None,
    method: Cutting = "mdlp",
    bins: int = 5,
    columns: Iterable[Hashable] | None = None,
    weights: Any = None,
) -> tuple[pd.DataFrame, Discretizer]:
    """Discretize numeric columns, and return a function for new data.

    Parameters
    ----------
    dataset : pandas.DataFrame, or partitioned data that fit in memory
        Training data. Missing values stay missing.
    class_var : str, optional
        Name of the class, which is never discretized. "mdlp" and "mixed"
        require it.
    method : {"mdlp", "quantile", "width", "mixed"}, default "mdlp"
        Method of choosing cut points. "mdlp": by the class, up to the number
        that the minimum description length principle accepts [1]_, possibly 0.
        "quantile": intervals with about the same number of rows. "width":
        intervals of equal width. "mixed": "mdlp" for a column with at least
        four cut points by "mdlp", and "quantile" for the others.
    bins : int, default 5
        Number of intervals of "quantile" and "width", from 2 to 10,000.
    columns : list, optional
        Columns to discretize. By default, all numeric columns except the class
        and except columns that look categorical: whole numbers with at most 10
        distinct values, such as grades and counts, and any numbers with at most
        two, such as flags. Text, bool and categorical columns are copied.
    weights : str or (n,) array-like of numbers, optional
        Weight of each row, at least 0, or the name of the column of weights,
        which is copied. Sums of weights replace numbers of rows.

    Returns
    -------
    pandas.DataFrame
        A copy of ``dataset`` with categorical columns in place of numeric ones,
        see `Discretizer`. A column without cut points has one level,
        ``(-inf, inf)``.
    Discretizer
        Discretizes other data frames at the same cut points. ``cuts`` contains
        the cut points, ``kept`` the numbers that stay categorical, ``uncut``
        the columns with one level.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column to discretize is not numeric, a number is infinite, an
        integer is 2**53 or larger, or "mdlp" or "mixed" is used without a
        class, or with a class of numbers.

    Notes
    -----
    A column without cut points carries no information for a model. Drop it,
    with ``frame.drop(columns=list(discretizer.uncut))``.

    Cut points chosen on all rows depend on the test rows of cross-validation,
    so ``cv`` of a discretized frame is too optimistic. `bnc` with
    ``discretize=`` chooses cut points in each training set.

    A cut point lies halfway between two values of the training data, so the
    rounding of new data does not move them to another interval (0.85 is
    0.850000024 in type float32). With "quantile", the lower of the two values
    is that of the inverted distribution function, as in ``numpy.quantile`` with
    ``method="inverted_cdf"``. With "width", only cut points that equal a value
    are moved.

    References
    ----------
    .. [1] Fayyad, U. M., Irani, K. B. (1993). Multi-interval discretization of
       continuous-valued attributes for classification learning. IJCAI 93.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import discretize
    >>> people = pd.DataFrame({
    ...     "age": [18, 19, 22, 24, 31, 35, 42, 47, 53, 58, 64],
    ...     "rooms": [1, 2, 2, 1, 3, 2, 3, 3, 1, 2, 3],
    ...     "buys": ["no"] * 4 + ["yes"] * 7})
    >>> frame, discretizer = discretize(people, class_var="buys")
    >>> discretizer
    Discretizer (mdlp), columns cut at
      age: 27.5
      rooms: stays 1, 2, 3
    >>> discretizer(pd.DataFrame({"age": [27, None], "rooms": [3, 1]}))
                age rooms
    0  (-inf, 27.5]     3
    1           NaN     1
    """
    OneOf(METHODS).check("method", method)
    names = None if columns is None else check_feature_names(columns, (class_var,), "columns")
    dataset = frame_of(dataset, "dataset")
    if not len(dataset):
        raise ValueError("dataset must have rows; got none.")
    classes = None if class_var is None else class_codes(dataset, class_var, method)
    chosen = None if names is None else check_columns(names, dataset.columns, "columns")
    others = {class_var}
    if weights is not None:
        if is_column_name(weights):
            others.add(weights)
            check_columns([weights], dataset.columns, "weights")
            weights = dataset[weights].array
        weights = check_weights(weights, dataset.index)
    numbers: dict[Hashable, ArrayOf[Any]] = {}
    for name in dataset.columns:
        if name not in others and (chosen is None or name in chosen):
            read = read_numbers(dataset[name].array, name, "dataset", must=chosen is not None)
            if read is not None:
                numbers[name] = read
    kept: dict[Hashable, tuple[Any, ...]] = {}
    if chosen is None:
        kept = {name: labels_if_categories(values) for name, values in numbers.items()}
    discretizer = learn_cuts(numbers, kept, classes, method, bins, weights)
    return discretizer(dataset), discretizer


def learn_cuts(
    numbers: Mapping[Hashable, ArrayOf[Any]],
    kept: Mapping[Hashable, tuple[Hashable, ...]],
    classes: Codes | None,
    method: str,
    bins: int,
    weights: Array | None = None,
) -> Discretizer:
    """Choose cut points of numeric columns but ``kept`` ones, by a method and class codes."""
    bins = Whole(least=2, most=MOST_BINS).check("bins", bins)
    if classes is None and method in BY_CLASS:
        remedy = "Name the class, or use method='quantile' or 'width'."
        raise ValueError(
            f"class_var must be a column for method={shown(method)}; got None. {remedy}"
        )
    to_cut = {name: values for name, values in numbers.items() if not kept.get(name)}
    large = [name for name, values in to_cut.items() if values.dtype == object]
    if large:
        raise ValueError(
            "dataset must have integers below 2**53, which floats represent; got larger ones in "
            f"{listed(large)}. Subtract a number from them or divide them, or make them "
            "categories if they are codes."
        )
    labels = tuple([kept.get(name, ()) for name in numbers])
    if method in CUTTINGS:
        several = dict[Hashable, list[tuple[float, ...]]]()
        for name, values in to_cut.items():
            several[name] = quantile_cuts_at_shifts(values, CUTTINGS[method], weights)
        # Column j begins with its j-th discretization, so that the discretizations of different
        # columns are combined.
        by_time, n_times = list[dict[Hashable, tuple[float, ...]]](), len(CUTTINGS[method])
        for time in range(n_times):
            moved = enumerate(several.items())
            by_time.append({name: cuts[(time + j) % n_times] for j, (name, cuts) in moved})
        times = tuple([_in_column_order(points, numbers) for points in by_time])
        union = tuple([tuple(sorted(set().union(*points))) for points in zip(*times, strict=True)])
        return MovedCuts(method, tuple(numbers), union, labels, cuttings=times)
    points, ranges, means = dict[Hashable, Any](), dict[Hashable, Any](), dict[Hashable, Any]()
    for name, values in to_cut.items():
        points[name] = cut_points(values, classes, method, bins, weights)
        ranges[name], means[name] = range_and_means_of_intervals(
            as_floats(values), points[name], weights
        )
    learned = [_in_column_order(found, numbers) for found in (points, ranges, means)]
    return Discretizer(method, tuple(numbers), learned[0], labels, *learned[1:])


def _in_column_order(
    by_column: Mapping[Hashable, tuple[Any, ...]], names: Iterable[Hashable]
) -> tuple[tuple[Any, ...], ...]:
    return tuple([by_column.get(name, ()) for name in names])


# Rare levels are merged into one, as learned from training data.


@record
@dataclass(frozen=True, repr=False)
class Merger(Immutable):
    """The levels of columns to keep; the object merges all others if called. From `merge_rare`.

    Attributes
    ----------
    min_count : int
        Minimum number of rows of a level that is kept.
    label : str
        Label of the merged levels.
    columns : tuple
        Names of the columns with merged levels, in the order of the training
        data.
    levels : tuple of tuple
        The kept levels of each column, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import merge_rare
    >>> frame, merger = merge_rare(pd.DataFrame({"town": ["Aden"] * 3 + ["Bari"]}), min_count=2)
    >>> merger(pd.DataFrame({"town": ["Aden", "Cork"]}))["town"].tolist()
    ['Aden', 'other']
    """

    bounds = field_bounds(min_count=COUNT)

    min_count: int
    label: Hashable
    columns: tuple[Hashable, ...]
    levels: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.columns) != len(self.levels):
            raise ValueError("levels must have the levels of each column.")

    @property
    def kept(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The kept levels by column, without columns that have no rare level."""
        return dict(zip(self.columns, self.levels, strict=True))

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Merge all levels except the kept ones.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            Must have the columns to merge. Other columns, such as the class,
            are copied.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns. Merged columns are
            categorical: the kept levels, then ``label``, which also replaces
            unseen levels. Missing values stay missing.
        """
        original = frame_of(newdata, "newdata", or_row=True)
        check_columns(self.columns, original.columns, "newdata")
        data = Frame(original, "newdata").encode_columns(self.columns, known=self.kept)
        merged = self.prepared_data(data)
        self.warn_of_labels_like_kept(data)
        return with_encoded_columns(original, merged)

    def warn_of_labels_like_kept(self, data: Dataset) -> None:
        """Warn of columns of new data with merged labels that read like a label that is kept."""
        for name, i, kept in self._columns_to_merge(data):
            codes, labels = data.codes[i], data.levels[i]
            is_kept = np.array([*[label in kept for label in labels], True])  # or missing
            if not is_kept[codes].all():
                merged = self.label
                warn_of_unseen_labels(name, codes, labels, ~is_kept[codes], kept, merged=merged)

    def prepared_data(self, data: Data) -> Data:
        """Return data in which all levels of these columns except the kept ones are merged."""
        coded = {}
        for name, i, levels in self._columns_to_merge(data):
            codes = recode_column(data.codes[i], data.levels[i], levels, name, len(levels))
            coded[name] = (*levels, self.label), codes
        return data.with_codes(coded)

    def _columns_to_merge(
        self, data: Dataset
    ) -> Iterator[tuple[Hashable, int, tuple[Hashable, ...]]]:
        """Yield the names, positions and kept levels of columns that are not merged already."""
        for name, levels in self.kept.items():
            merged, i = (*levels, self.label), data.positions.get(name)
            if i is not None and data.levels[i] not in (merged, (*merged, MISSING)):
                yield name, i, levels

    def __repr__(self) -> str:
        label = shown(self.label)
        lines = [
            f"  {name}: {len(levels):,} kept, others {label}" for name, levels in self.kept.items()
        ]
        head = f"Merger (levels with fewer than {self.min_count:,} rows), columns merged"
        return "\n".join([head, *(lines or ["  (no column)"])])


def with_encoded_columns(frame: pd.DataFrame, data: Dataset) -> pd.DataFrame:
    """Return a copy of a frame in which the columns of encoded data are categorical."""
    result = frame.copy()
    for i, name in enumerate(frame.columns):
        if name in data.positions:
            column = data.positions[name]
            categories: pd.Index[Any] = pd.Index(data.levels[column], tupleize_cols=False)
            result.isetitem(i, pd.Categorical.from_codes(data.codes[column], categories=categories))
    return result


@with_call_advice("Pass the class by name: merge_rare(dataset, class_var=name).")
def merge_rare(
    dataset: pd.DataFrame | AnyTable,
    *,
    min_count: int = 10,
    class_var: Hashable | None = None,
    columns: Iterable[Hashable] | None = None,
    label: str = "other",
) -> tuple[pd.DataFrame, Merger]:
    """Merge rare levels of columns, and return a function for new data.

    A model overfits to levels in few rows, such as postcodes and names. Merged
    levels share one estimate.

    Parameters
    ----------
    dataset : pandas.DataFrame
        Training data. Missing values stay missing.
    min_count : int, default 10
        Levels in fewer rows are merged. At least 1.
    class_var : str, optional
        Name of the class. Its levels are never merged.
    columns : list, optional
        Columns with levels to merge. By default, all columns of text, bools,
        integers or unordered categories except the class. Discretize
        measurements first: most of their values are rare.
    label : str, default "other"
        Label of the merged levels. An existing level of this name is merged
        with them.

    Returns
    -------
    pandas.DataFrame
        A copy of ``dataset``, see `Merger`. Columns without rare levels are
        copied.
    Merger
        Merges the levels of other data frames.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `columns` or `class_var` are not columns of `dataset`, or `min_count`
        is below 1.

    Notes
    -----
    For cross-validation, use `bnc` with ``min_count=``, which merges in each
    training set.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import merge_rare
    >>> visits = pd.DataFrame({"town": ["Aden"] * 4 + ["Bari"] * 3 + ["Cork", "Dover", None]})
    >>> frame, merger = merge_rare(visits, min_count=3)
    >>> merger
    Merger (levels with fewer than 3 rows), columns merged
      town: 2 kept, others 'other'
    >>> merger(pd.DataFrame({"town": ["Bari", "Elba"]}))["town"].tolist()
    ['Bari', 'other']
    """
    dataset = frame_of(dataset, "dataset")
    Instance(str, "text").check("label", label)
    if class_var is not None:
        check_columns([class_var], dataset.columns, "class_var")
    if columns is None:
        chosen = list[Hashable]()
        for name in dataset:
            dtype: Any = dataset[name].dtype
            is_nominal = value_type(dataset[name]) in ("string", "boolean", "integer")
            if isinstance(dtype, pd.CategoricalDtype) or is_arrow_dictionary(dtype):
                is_nominal = not getattr(dtype, "pyarrow_dtype", dtype).ordered
            chosen += [name] if is_nominal and name != class_var else []
    else:
        named = check_feature_names(columns, (class_var,), "columns")
        check_columns(named, dataset.columns, "columns")
        chosen = [name for name in dataset.columns if name in named]
    data = Frame(dataset, "dataset").encode(Columns(chosen))
    merger = learn_merger(data, data.columns, min_count, label)
    return merger(dataset), merger


def learn_merger(
    data: Dataset, columns: Iterable[Hashable], min_count: int, label: str = "other"
) -> Merger:
    """Learn which levels of columns to keep."""
    min_count = Whole(least=1).check("min_count", min_count)
    if not len(data):
        raise ValueError("dataset must have rows; got none.")
    kept: dict[Hashable, tuple[Hashable, ...]] = {}
    for name in columns:
        i = data.positions[name]
        counts = contingency_table(data, (i,)).tolist() if data.cards[i] else []
        if min(counts, default=min_count) < min_count:
            pairs = zip(data.levels[i], counts, strict=True)
            frequent = [level for level, count in pairs if count >= min_count]
            kept[name] = tuple([level for level in frequent if level != label])
    return Merger(min_count, label, tuple(kept), tuple(kept.values()))


# Preparation of raw data: numbers discretized, rare levels merged, missing values a level.


@record
@dataclass(frozen=True, repr=False)
class Preparation(Immutable):
    """Converts raw data to the categories of a model if called. From `bnc`.

    Attributes
    ----------
    merger : Merger or None
        Merges rare levels.
    discretizer : Discretizer or None
        Discretizes numeric columns.
    missing : tuple
        Names of the columns whose missing values are a level.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, preparation
    >>> women = load_pima()[["age", "bmi", "diabetes"]]
    >>> prepare = preparation(bnc("nb", "diabetes", women, smooth=1, discretize="mdlp"))
    >>> prepare({"age": 51, "bmi": 24})
               age             bmi
    0  (28.5, inf)  (-inf, 27.35]
    """

    merger: Merger | None = None
    discretizer: Discretizer | None = None
    missing: tuple[Hashable, ...] = ()

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Discretize numbers, merge rare levels, and make missing values a level.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            As for `Merger` and `Discretizer`.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns.
        """
        frame = frame_of(newdata, "newdata", or_row=True)
        for step in self._discretizer_and_merger:
            frame = step(frame)
        present = [name for name in self.missing if name in frame.columns]
        if present:
            known: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(present, ())
            data = Frame(frame, "dataset").encode_columns(present, known=known)
            data = data.with_missing_level(present)
            frame = with_encoded_columns(frame, data)
        return frame

    @property
    def cut_points(self) -> pd.DataFrame:
        """One row per discretized column: ``method``, ``intervals``, readable ``cut_points``."""
        return (self.discretizer or NO_CUTS).cut_points

    @property
    def _discretizer_and_merger(self) -> list[Discretizer | Merger]:
        return [step for step in (self.discretizer, self.merger) if step is not None]

    def read(self, rows: Opened[Dataset], known: Known, named_by: str = "dataset") -> Dataset:
        """Encode raw data with ``known`` levels, without discretization and merging."""
        numeric = [name for name, labels in known.items() if not labels]
        raw = (self.discretizer or NO_CUTS).numeric
        return rows.encode(Columns(known, known, numeric, named_by, raw))

    def prepared_data(self, data: Data) -> Data:
        """Return encoded data with the categories of the model; prepared columns do not change."""
        for step in self._discretizer_and_merger:
            data = step.prepared_data(data)
        return data.with_missing_level(self.missing)

    def __bool__(self) -> bool:
        """Whether there is a step."""
        return bool(self._discretizer_and_merger or self.missing)

    def __repr__(self) -> str:
        lines = [repr(step) for step in (self.merger, self.discretizer) if step is not None]
        if self.missing:
            lines.append(f"Missing values are a level of {listed(self.missing)}")
        return "\n".join(lines) or "Preparation without a step: the model accepts categories"


NO_PREPARATION = Preparation()
NO_CUTS = Discretizer("", (), ())
NO_MERGER = Merger(1, "other", (), ())


class Preparing(NamedTuple):
    """The arguments of `bnc` on the preparation of raw data."""

    discretize: str | None
    bins: int
    min_count: int | None
    missing_level: Any = None
    numeric: Numeric = ()

    @property
    def wants_preparation(self) -> bool:
        wants_level = self.missing_level not in (None, False, (), [])
        return self.discretize is not None or self.min_count is not None or wants_level

    def read(self, data: OpenedData, class_var: Hashable, columns: Collection[Hashable]) -> Dataset:
        """Encode columns of raw data; columns to discretize stay numbers."""
        rows = data.check_in_memory("dataset")
        if self.discretize is None:
            features = [name for name in columns if name != class_var]
            data, found = rows.data_and_numeric_features(self.numeric, features, (class_var,))
            return cast("Dataset", data.encode(Columns(columns, numeric=found)))
        if isinstance(rows, Frame):
            check_class_type(rows.frame[class_var])
        return rows.encode_raw(class_var, columns)

    def learn(self, data: Dataset, class_var: Hashable) -> tuple[Preparation, Dataset]:
        """Learn the preparation from encoded data, and return these prepared."""
        discretizer: Discretizer | None = None
        merger: Merger | None = None
        if self.discretize is not None:
            OneOf((*METHODS, *CUTTINGS)).check("discretize", self.discretize)
            levels = {name: data.schema.levels_of[name] for name in data.numbers}
            kept = {name: labels for name, labels in levels.items() if are_categories(labels)}
            classes = data.codes[data.positions[class_var]]
            discretizer = learn_cuts(
                data.numbers, kept, classes, self.discretize, self.bins, data.weights
            )
        if self.min_count is not None:
            cut = () if discretizer is None else discretizer.cuts
            excluded = {class_var, *data.schema.ordered, *cut, *data.schema.numeric}
            nominal = [name for name in data.columns if name not in excluded]
            merger = learn_merger(data, nominal, self.min_count)
        prepared = Preparation(merger, discretizer).prepared_data(data)
        missing = self.columns_with_missing_level(prepared, class_var)
        return Preparation(merger, discretizer, missing), prepared.with_missing_level(missing)

    def columns_with_missing_level(
        self, data: Countable, class_var: Hashable
    ) -> tuple[Hashable, ...]:
        """Return the columns whose missing values become a level: named, or all incomplete ones."""
        if self.missing_level in (None, False):
            return ()
        if self.missing_level is True:
            rows = data.with_positive_weights().rows_with_known(class_var)
            pairs = zip(data.columns, rows.incomplete.tolist(), data.cards, strict=True)
            chosen = [name for name, lacks, card in pairs if lacks and card and name != class_var]
        else:
            named = check_feature_names(self.missing_level, (class_var,), "missing_level")
            check_columns(named, data.columns, "missing_level")
            chosen = [name for name in data.columns if name in named]
        check_can_add_missing_level(data, chosen)
        return tuple(chosen)


def check_can_discretize(dataset: object) -> None:
    """Raise a TypeError for an encoded dataset without numbers, which cannot be discretized."""
    if isinstance(dataset, Dataset) and not dataset.numbers and dataset.weights is None:
        frame_of(dataset, "dataset")
