"""Columns of a data frame: which are categorical, their levels and codes, warnings about levels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from operator import attrgetter
from typing import Any, cast
from weakref import ref

import numpy as np
import pandas as pd
from pandas.api.types import is_extension_array_dtype

from ..tools.arrays import ArrayOf
from ..tools.messages import listed, shown, to_python_scalar, warn
from .dataset import Dataset
from .foreign import categories_of_arrow
from .numeric import (
    CATEGORICAL,
    EITHER,
    FLOATS,
    ArrayLike,
    categories_without_decimals,
    column_and_type,
    conversion_advice,
    is_arrow_dictionary,
    type_of_categories,
)
from .schema import Schema


def arrays_and_types(frame: pd.DataFrame) -> tuple[list[ArrayLike], list[str]]:
    """Return the values of columns, and their types as `value_type` infers them.

    Categories of Arrow become a Categorical, and decimals numbers of Python.
    """
    try:
        arrays = _arrays_in_blocks(frame)
    except AttributeError:
        arrays = _arrays_one_by_one(frame)
    types = ["categorical"] * len(arrays)
    for i, array in enumerate(arrays):
        if type(array) is pd.Categorical:
            if id(array.dtype) not in _kept_levels:
                types[i] = type_of_categories(array.categories)
        elif is_arrow_dictionary(array.dtype):
            arrays[i] = categories_of_arrow(array.__arrow_array__())
        else:
            arrays[i], types[i] = column_and_type(array)
    return arrays, types


def _arrays_in_blocks(frame: pd.DataFrame) -> list[Any]:
    """Return the arrays of columns from the blocks of pandas, which are not documented."""
    manager: Any = cast("Any", frame)._mgr
    blocks = list(map(attrgetter("values"), manager.blocks))
    places = zip(manager.blknos.tolist(), manager.blklocs.tolist(), strict=True)
    return [blocks[i] if blocks[i].ndim == 1 else blocks[i][row] for i, row in places]


def _arrays_one_by_one(frame: pd.DataFrame) -> list[Any]:
    """Return the arrays of columns from a Series per column, in five times the time."""
    columns = [column for _, column in frame.items()]
    return [c.array if is_extension_array_dtype(c) else c.to_numpy() for c in columns]


def encode_column(array: Any) -> tuple[tuple[Any, ...], ArrayOf[Any], bool]:
    """Return the levels and codes of one categorical column, and whether its levels are ordered.

    Codes can be those of the column itself: they must not be changed.
    """
    if isinstance(array, pd.Categorical):
        dtype = array.dtype
        kept = _kept_levels.get(id(dtype))
        if kept is None or kept[0]() is not dtype:
            return _encode_category(array)
        return kept[1], _codes_of(array), kept[2]
    if isinstance(array, pd.arrays.ArrowStringArray):  # which pandas sorts slowly
        codes, labels = pd.factorize(cast("Any", array))
        texts = _labels_as_tuple(labels)
        order = sorted(range(len(texts)), key=texts.__getitem__)
        place = np.full(len(order) + 1, -1)  # the last one is the code of missing values
        place[order] = np.arange(len(order))
        return tuple([texts[i] for i in order]), place[codes], False
    codes, labels = pd.factorize(array, sort=True)
    levels = _labels_as_tuple(labels)
    if array.dtype.kind in "fO":  # whole numbers are written and compared as integers
        levels = tuple([int(x) if isinstance(x, float) and x.is_integer() else x for x in levels])
    return levels, codes, False


_kept_levels: dict[int, tuple[ref[pd.CategoricalDtype], tuple[Any, ...], bool]] = {}

# The property `codes` makes a view that cannot be written at each access.
_codes_of: Callable[[Any], ArrayOf[Any]] = attrgetter(
    "_ndarray" if hasattr(pd.Categorical, "_ndarray") else "codes"
)


def _encode_category(array: pd.Categorical) -> tuple[tuple[Any, ...], ArrayOf[Any], bool]:
    """Return levels, codes and order, and keep those of a type, which never change."""
    own, dtype, key = categories_without_decimals(array), array.dtype, id(array.dtype)
    levels, ordered = _labels_as_tuple(own.categories), bool(own.ordered)
    # 100: number of levels up to which they are kept as long as the categories
    if own is array and len(levels) <= 100:
        _kept_levels[key] = ref(dtype, lambda _: _kept_levels.pop(key, None)), levels, ordered
    return levels, _codes_of(own), ordered


def _labels_as_tuple(labels: Any) -> tuple[Any, ...]:
    """Return the labels of an index or an array as a tuple."""
    array = getattr(labels, "array", labels)
    if isinstance(array, pd.arrays.ArrowStringArray):  # with a slow tolist
        return tuple(array.__arrow_array__().to_pylist())
    is_text = isinstance(labels.dtype, pd.StringDtype)
    if labels.dtype.kind == "O" and not is_text:
        return tuple(map(to_python_scalar, labels))
    return tuple(labels.tolist())


CATEGORIES = ("categorical", "string", "boolean", "integer")
"""Types of columns that are categorical without a check of their values."""


def check_categorical(
    columns: Mapping[Hashable, tuple[pd.Series[Any], str]],
    known: Mapping[Hashable, tuple[Hashable, ...]] | None,
    *,
    whole_floats: bool = False,
    argument: str = "dataset",
    numeric: Collection[Hashable] = (),
) -> None:
    """Raise a TypeError that names columns that are not categorical; new data can have floats.

    The ``columns``, with their types, are those whose type is not among
    `CATEGORIES`. Those that are ``numeric`` could have been numbers, too.
    """
    rejected: dict[str, list[Hashable]] = {}
    for name, (column, inferred) in columns.items():
        kind = _kind_of_floats(name, column, inferred, argument, either=name in numeric)
        accepted = kind == _WHOLE and (whole_floats or known)
        if known and not accepted:
            accepted = any(isinstance(level, float | pd.Interval) for level in known[name])
        if kind and not accepted:
            rejected.setdefault(kind, []).append(name)
    for kind, remedy in (_REMEDIES if known is None else _REMEDIES_OF_NEW).items():
        if kind in rejected:
            what = "column" if len(rejected[kind]) == 1 else "columns"
            raise TypeError(
                f"{what} {listed(rejected[kind])} must be categorical; got {kind}. {remedy}"
            )


_INFINITE = "infinite numbers"
_FRACTIONS = "numbers with fractions"
_WHOLE = "whole numbers of type float"

_REMEDIES = {
    _INFINITE: "Replace them with missing values, with .replace([np.inf, -np.inf], np.nan).",
    _FRACTIONS: (
        "Discretize them: training data with discretize(dataset, class_var=...), new data with the "
        "returned discretizer. bnc(..., smooth=1, discretize='mdlp') and BNCClassifier() do "
        "so within the model."
    ),
    _WHOLE: (
        "pandas uses this type for whole numbers if some are missing. If they are codes, convert "
        "them with .astype('Int64'); if they are measurements, discretize them with "
        "discretize(dataset, class_var=...) or bnc(..., smooth=1, discretize='mdlp')."
    ),
}
"""Remedies for floats in training data, the most serious case first."""

NUMBERS_ADVICE = f"{_FRACTIONS}. {_REMEDIES[_FRACTIONS]}"

_REMEDIES_OF_NEW = {
    _INFINITE: _REMEDIES[_INFINITE],
    _FRACTIONS: (
        "If the training data were discretized, apply the discretizer that discretize "
        "returned for them."
    ),
}


def _kind_of_floats(
    name: Hashable, column: pd.Series[Any], kind: str, argument: str, *, either: bool
) -> str:
    """Return the type of floats in a column, "" if it is missing in all rows, or raise."""
    if column.isna().all():
        return ""
    if kind not in FLOATS:
        expected, types = CATEGORICAL, "categorical: category, text, bool or integer"
        if either:
            expected, types = EITHER, "numeric or categorical: number, category, text or bool"
        raise TypeError(
            f"column {shown(name)} must be {types}; got {kind} values. "
            f"{conversion_advice(kind, expected, name, column.array, argument)}"
        )
    try:
        numbers = column.dropna().to_numpy(dtype=float)
    except OverflowError:
        return _INFINITE
    if np.isinf(numbers).any():
        return _INFINITE
    return _WHOLE if (numbers == numbers.round()).all() else _FRACTIONS


COLUMN_WARNINGS: dict[str, Callable[..., None]] = {}
"""What warns of "columns" and of "labels"; the annex that checks data adds it."""


def warn_of_columns(data: Dataset, class_var: Hashable, raw: Dataset | None = None) -> None:
    """Warn of serious findings about columns; numbers of ``raw`` data are read unprepared."""
    COLUMN_WARNINGS["columns"](data, class_var, raw)


def warn_of_labels(schema: Schema) -> None:
    """Warn of serious findings about labels of data that stay where they are."""
    COLUMN_WARNINGS["labels"](schema)


def warn_of_no_features(class_var: Hashable) -> None:
    """Warn that a model has no features."""
    warn(
        f"no feature remains, so {shown(class_var)} is always predicted as its most frequent "
        "label. Check whether a previous step dropped too many columns."
    )
