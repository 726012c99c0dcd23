"""Columns of a data frame: which are categorical, their levels and codes, and warnings about their levels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, Codes
from ..base.messages import listed, plain, shown, warn
from .numeric import CATEGORICAL, FLOATS, ArrayLike, advice_on, as_floats, value_type
from .schema import Schema

_FEWEST_ROWS = 20
"""With fewer rows, all values of a column can differ by chance."""

_LONGEST = 300
"""Number of characters of the longest list of columns in code."""

_ROW_NAMES = ("rownames", "row.names", "rowname", "row", "rowid", "row_id", "index", "unnamed: 0", "level_0")
"""Names that R and pandas give to numbers of rows in files."""

_MOST_NUMBERS = 20
"""Number of labels from which a numeric class is probably a measurement."""


def column_arrays(frame: pd.DataFrame) -> list[ArrayLike]:
    """Return the arrays of columns, without a Series per column if pandas allows that."""
    arrays = getattr(frame, "_iter_column_arrays", None)
    return [column.array for _, column in frame.items()] if arrays is None else list(arrays())


def encode_column(array: ArrayLike) -> tuple[tuple[Any, ...], NDArray[Any]]:
    """Return the levels and codes of one categorical column."""
    if isinstance(array, pd.Categorical):
        return _as_levels(array.categories), array.codes
    codes, labels = pd.factorize(pd.Series(array, dtype=array.dtype), sort=True)
    levels = _as_levels(labels)
    if array.dtype.kind in "fO":  # whole numbers are written and compared as integers
        levels = tuple(int(x) if isinstance(x, float) and x.is_integer() else x for x in levels)
    return levels, codes


def _as_levels(labels: pd.Index[Any]) -> tuple[Any, ...]:
    dtype = labels.dtype
    if isinstance(dtype, pd.StringDtype):
        arrow = dtype.storage == "pyarrow"  # with a slow tolist
        return tuple(labels.array.__arrow_array__().to_pylist() if arrow else labels.tolist())
    return tuple(map(plain, labels)) if dtype.kind == "O" else tuple(labels.tolist())


def check_categorical(
    columns: Mapping[Hashable, ArrayLike],
    known: Mapping[Hashable, tuple[Any, ...]] | None,
    *,
    whole_floats: bool = False,
) -> None:
    """Raise a TypeError that names the columns that are not categorical; in new data, floats can be."""
    rejected: dict[str, list[Hashable]] = {}
    for name, array in columns.items():
        if not isinstance(array, pd.Categorical):
            kind = _kind_of_floats(name, pd.Series(array, dtype=array.dtype))
            accepted = kind == _WHOLE and (whole_floats or known)
            if known and not accepted:
                accepted = any(isinstance(level, float | Decimal) for level in known[name])
            if kind and not accepted:
                rejected.setdefault(kind, []).append(name)
    for kind, remedy in (_REMEDIES if known is None else _REMEDIES_OF_NEW).items():
        if kind in rejected:
            what = "column" if len(rejected[kind]) == 1 else "columns"
            raise TypeError(f"{what} {listed(rejected[kind])} must be categorical; got {kind}. {remedy}")


_INFINITE, _FRACTIONS, _WHOLE = "infinite numbers", "numbers with fractions", "whole numbers of type float"

_REMEDIES = {
    _INFINITE: "Replace them with missing values, with .replace([np.inf, -np.inf], np.nan).",
    _FRACTIONS: (
        "Discretize them: training data with discretize(dataset, class_var=...), new data with the returned "
        "discretizer. bnc(..., discretize='averaged') and BNCClassifier() do so within the model."
    ),
    _WHOLE: (
        "pandas uses this type for whole numbers if some are missing. If they are codes, convert them with "
        ".astype('Int64'); if they are measurements, discretize them with discretize(dataset, class_var=...)."
    ),
}
"""Remedies for floats in training data, the most serious case first."""

NUMBERS_ADVICE = f"{_FRACTIONS}. {_REMEDIES[_FRACTIONS]}"

_REMEDIES_OF_NEW = {
    _INFINITE: _REMEDIES[_INFINITE],
    _FRACTIONS: (
        "If the training data were discretized, apply the discretizer that discretize returned for them."
    ),
}


def _kind_of_floats(name: Hashable, column: pd.Series[Any]) -> str:
    """Return the type of floats in a column, "" if it is categorical, or raise."""
    kind = value_type(column)
    if kind in ("string", "boolean", "integer") or column.isna().all():
        return ""
    if kind not in FLOATS:
        raise TypeError(
            f"column {shown(name)} must be categorical: category, text, bool or integer; got {kind} values. "
            f"{advice_on(kind, CATEGORICAL)}"
        )
    try:
        numbers = column.dropna().to_numpy(dtype=float)
    except OverflowError:
        return _INFINITE
    if np.isinf(numbers).any():
        return _INFINITE
    return _WHOLE if (numbers == numbers.round()).all() else _FRACTIONS


def warn_of_wide_columns(
    schema: Schema, codes: Iterable[Codes], weights: Array | None, class_var: Hashable
) -> None:
    """Warn of columns with more levels than half of their rows, if there are enough rows."""
    identifiers: list[Hashable] = []
    wide: list[Hashable] = []
    labels = schema.levels[schema.positions[class_var]] if class_var in schema.positions else ()
    is_number = len(labels) > _MOST_NUMBERS and all(isinstance(label, int | float) for label in labels)
    if is_number:
        warn(
            f"the class {shown(class_var)} has {len(labels):,} numbers as labels, each of which is a class. "
            "If they are measurements, divide them into a few classes with pd.cut."
        )
    for name, column, card in zip(schema.columns, codes, schema.cards, strict=True):
        rows, levels = _rows_and_levels(column, card, weights)
        if rows < _FEWEST_ROWS or 2 * levels <= rows:
            continue
        if name != class_var:
            (identifiers if levels == rows else wide).append(name)
        elif not is_number:
            warn(
                f"the class {shown(class_var)} has {levels:,} labels in {rows:,g} rows. If it identifies "
                "rows, use another column."
            )
    if identifiers:
        warn(
            f"all values of {listed(identifiers)} differ, as in a column of identifiers. Drop such columns, "
            f"with {_without(identifiers)}."
        )
    if wide:
        warn(
            f"{listed(wide)}: more levels than half of the known values. Convert text that contains numbers "
            "or dates, merge rare levels, with frame, merger = merge_rare(dataset, columns="
            f"[{listed(wide)}]), or drop such columns, with {_without(wide)}."
        )


def warn_of_row_numbers(numbers: Mapping[Hashable, NDArray[Any]]) -> None:
    """Warn of columns of distinct whole numbers that number the rows, or are called like those of files."""
    found = []
    for name, column in numbers.items():
        values = as_floats(column)
        n = len(values)
        if n < _FEWEST_ROWS or np.isnan(values).any() or len(np.unique(values)) < n or (values % 1).any():
            continue
        if np.ptp(values) == n - 1 or str(name).casefold() in _ROW_NAMES:
            found.append(name)
    if found:
        warn(
            f"{listed(found)}: numbers of the rows. They tell the class only if the rows are sorted. Drop "
            f"such columns, with {_without(found)}."
        )


def _rows_and_levels(codes: Codes, card: int, weights: Array | None) -> tuple[float, int]:
    """Return the known rows of a column and the levels that occur in them; 0 for a narrow column."""
    if card < _FEWEST_ROWS // 2:
        return 0, 0
    is_known = codes >= 0
    known, known_weights = codes[is_known], None if weights is None else weights[is_known]
    rows = len(known) if known_weights is None else float(known_weights.sum())
    if 2 * card <= rows:
        return 0, 0
    return rows, int(np.count_nonzero(np.bincount(known, known_weights)))


def _without(names: Sequence[Hashable]) -> str:
    """Return code that drops columns, which names all of them unless it would be long."""
    text = ", ".join(map(repr, names))
    return f"dataset.drop(columns=[{text if len(text) <= _LONGEST else '...'}])"


def warn_of_no_features(class_var: Hashable) -> None:
    """Warn that a model has no features."""
    warn(
        f"no feature remains, so {shown(class_var)} is always predicted as its most frequent label. Check "
        "whether a previous step dropped too many columns."
    )
