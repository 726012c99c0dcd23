"""Cut points as a value, which discretizes data when it is called."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..dataset import (
    ArrayLike,
    Data,
    as_floats,
    labels_and_codes_of_numbers,
    read_numbers,
    warn_of_distant_numbers,
)
from ..frames import Row, frame_of
from ..tools.arrays import Array, ArrayOf, Positions
from ..tools.checks import check_columns
from ..tools.immutable import ANY_NUMBER, Immutable, cached_property, field_bounds, record
from ..tools.messages import listed, shown
from .cut_points import cut_point_as_text, interval_labels, short_point_texts

Cuts = tuple[tuple[float, ...], ...]
"""Cut points of each column."""


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
        """The columns that stay categorical, and their labels."""
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
        """The columns to read as numbers, and whether they must be numeric, for `encode_frame`."""
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
        """The labels of the intervals with readable digits."""
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
        codes = np.searchsorted(self._cuts_as_arrays[name], values, side="left")
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
        """The discretizer of each time."""
        each = [Discretizer(self.method, self.columns, cut, self.labels) for cut in self.cuttings]
        return tuple(each)

    @property
    def _points_of_each_discretization(self) -> tuple[Cuts, ...]:
        return self.cuttings
