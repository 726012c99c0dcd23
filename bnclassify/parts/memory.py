"""Partitioned data that fit in memory: the columns of each part are made narrow, and joined."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..dataset import OpenedData
from ..frames import Frame, arrays_and_types, check_unique, encode_column
from ..tools.arrays import ArrayOf, code_type
from ..tools.messages import warn
from .sources import find_source
from .survey import Parts, joined_levels, two_types_error

MOST_BYTES = 2**30
"""Size of narrow data up to which they are read into memory: a billion labels."""

_BYTES_PER_LEVEL = 100
"""Approximate size of the text of a level, so that columns of identifiers are not narrow."""


def open_source(data: object, argument: str, in_memory: bool | None) -> OpenedData | None:
    """Open partitioned data, in memory if they fit (None) or must (True); None for other data."""
    source = find_source(data, argument)
    if source is None:
        return None
    names = list(source.names)
    check_unique(names, argument)
    most = MOST_BYTES if in_memory is None else np.inf
    if in_memory is False or getattr(source, "n_cells", 0) > most:
        return Parts(source, argument)
    try:
        if hasattr(source, "read"):
            parts = _narrow_columns(source.read())
        else:
            parts = source.reduce(_narrow_columns, partial(_join_parts, most=most), names)
    except _TooLargeError:
        warn(
            f"{argument} needs more than {MOST_BYTES / 2**30:.3g} GiB as codes, so it is counted "
            f"part by part. To save this attempt to read it, use encode({argument}, "
            f"in_memory=False); to read it nevertheless, use encode({argument}, in_memory=True)."
        )
        return Parts(source, argument)
    # Each column of the parts is freed when it is joined.
    columns = [_join_column(name, [own.pop(0) for own in parts.columns]) for name in names]
    index = parts.indexes[0].append(list(parts.indexes[1:]))
    frame = pd.DataFrame(dict(enumerate(columns)), index=index, copy=False)
    return Frame(frame.set_axis(pd.Index(names, tupleize_cols=False), axis="columns"), argument)


class _TooLargeError(Exception):
    """Raised if narrow data exceed the size that is allowed."""


class _Narrow(NamedTuple):
    """The columns and row labels of parts, and the number of bytes of the values."""

    columns: list[list[Any]]
    indexes: list[pd.Index[Any]]
    size: float


def _narrow_columns(frame: pd.DataFrame) -> _Narrow:
    """Return the columns of a part, with the codes of labels; workers call this.

    Whole numbers have as few bytes as they need, and integers and bools with
    missing values are nullable.
    """
    columns, size = list[Any](), 0.0
    for array, kind in zip(*arrays_and_types(frame), strict=True):
        narrow: Any = array
        if isinstance(array, pd.Categorical) or kind == "string":
            narrow = _Labels(*encode_column(array))
            size += narrow.codes.nbytes + _BYTES_PER_LEVEL * len(narrow.levels)
        else:
            if array.dtype == object and kind in _NULLABLE:
                with suppress(OverflowError):  # integers beyond 64 bits stay as they are
                    narrow = pd.array(array, dtype=_NULLABLE[kind])
            elif isinstance(array, np.ndarray) and array.dtype.kind in "iu":
                narrow = pd.to_numeric(array, downcast="integer")
            size += narrow.nbytes
        columns.append(narrow)
    return _Narrow([columns], [frame.index], size)


class _Labels(NamedTuple):
    """A column of labels: its levels, the code of each row, and whether levels are in order."""

    levels: tuple[Any, ...]
    codes: ArrayOf[Any]
    is_ordered: bool


_NULLABLE: dict[str, Any] = {"boolean": "boolean", "integer": "Int64"}


def _join_parts(parts: Sequence[_Narrow], *, most: float) -> _Narrow:
    """Return several parts as one, or raise if they need more than ``most`` bytes."""
    columns, indexes, sizes = zip(*parts, strict=True)
    if sum(sizes) > most:
        raise _TooLargeError
    return _Narrow([*chain.from_iterable(columns)], [*chain.from_iterable(indexes)], sum(sizes))


def _join_column(name: Hashable, parts: Sequence[Any]) -> Any:
    """Return the values of a column in all parts, as if they had been read at once.

    A part without values can have any type. If all values of some parts are
    integers, whole numbers of type float are integers, too, because missing
    values make them floats.
    """
    values = [part.codes if isinstance(part, _Labels) else part for part in parts]
    are_empty = [
        bool((own < 0).all() if isinstance(part, _Labels) else pd.isna(own).all())
        for part, own in zip(parts, values, strict=True)
    ]
    filled = [part for part, is_empty in zip(parts, are_empty, strict=True) if not is_empty]
    if any(isinstance(part, _Labels) for part in filled or parts):
        own = [
            part if isinstance(part, _Labels) else _Labels(*encode_column(part)) for part in parts
        ]
        return _join_labels(name, own)
    kinds = {part.dtype.kind for part in filled}
    if "b" in kinds and len(kinds) > 1:
        raise two_types_error(name, [pd.Series(part).dropna().tolist()[0] for part in filled])
    typed = filled or [part for part in parts if len(part)]
    type_of_missing: Any = object if any(part.dtype == object for part in typed) else "float64"
    if kinds and kinds <= {"i", "u"}:
        type_of_missing = "Int64"
    elif kinds == {"b"}:
        type_of_missing = "boolean"
    elif kinds == {"i", "f"}:
        floats = [pd.Series(part).dropna() for part in filled if part.dtype.kind == "f"]
        if all((own % 1 == 0).all() for own in floats):
            type_of_missing = "Int64"
    series = []
    for part, is_empty in zip(values, are_empty, strict=True):
        if is_empty:
            series.append(pd.Series(np.nan, range(len(part)), dtype=type_of_missing))
        else:
            is_whole = type_of_missing == "Int64" and part.dtype.kind == "f"
            series.append(pd.Series(part, dtype="Int64" if is_whole else None, copy=False))
    return pd.concat([own for own in series if len(own)] or series[:1], ignore_index=True).array


def _join_labels(name: Hashable, parts: Sequence[_Labels]) -> pd.Categorical:
    """Return the labels of all parts, in the order that all declare or, if they differ, sorted."""
    labels = joined_levels(name, [part.levels for part in parts])
    is_ordered = all(part.is_ordered for part in parts if part.levels)
    is_ordered = is_ordered and all(part.levels in ((), labels) for part in parts)
    place = {label: code for code, label in enumerate(labels)}
    codes = []
    for part in parts:
        new = np.array([*map(place.__getitem__, part.levels), -1], dtype=code_type(len(labels)))
        codes.append(new[part.codes])
    dtype: Any = pd.CategoricalDtype(pd.Index(labels, tupleize_cols=False), is_ordered)
    return pd.Categorical.from_codes(np.concatenate(codes), dtype=dtype, validate=False)
