"""Discretization: the choice of cut points on training data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from ..dataset import (
    as_floats,
    check_exact_integers,
    check_weights,
    is_column_name,
    labels_if_categories,
    read_numbers,
)
from ..frames import AnyFrame, frame_of
from ..tools.arrays import Array, ArrayOf, Codes
from ..tools.calls import with_call_advice
from ..tools.checks import Cutting, OneOf, Whole, check_columns, check_feature_names
from ..tools.messages import shown
from .cut_points import (
    BY_CLASS,
    CUTTINGS,
    METHODS,
    MOST_BINS,
    class_codes,
    cut_points,
    quantile_cuts_at_shifts,
    range_and_means_of_intervals,
)
from .discretizer import Discretizer, MovedCuts


@with_call_advice("Pass the class by name: discretize(dataset, class_var=name).")
def discretize(
    dataset: pd.DataFrame | AnyFrame,
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
    check_exact_integers(to_cut)
    labels = tuple([kept.get(name, ()) for name in numbers])
    if method in CUTTINGS:
        cuttings = _cuts_of_several_discretizations(to_cut, method, weights)
        times = tuple([_in_column_order(points, numbers) for points in cuttings])
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
    """Return the values of all columns, which are none where a column has no entry."""
    return tuple([by_column.get(name, ()) for name in names])


def _cuts_of_several_discretizations(
    numbers: Mapping[Hashable, ArrayOf[Any]], method: str, weights: Array | None
) -> list[dict[Hashable, tuple[float, ...]]]:
    """Return the cut points of each discretization, by column."""
    several, n_times = dict[Hashable, Any](), len(CUTTINGS[method])
    for name, values in numbers.items():
        several[name] = quantile_cuts_at_shifts(values, CUTTINGS[method], weights)
    # Column j begins with its j-th discretization, so that the discretizations of different columns
    # are combined.
    return [
        {name: cuts[(time + j) % n_times] for j, (name, cuts) in enumerate(several.items())}
        for time in range(n_times)
    ]
