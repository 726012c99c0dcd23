"""New data as users have it: a data frame, or one row as a dict or a Series."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.immutable import EMPTY
from ..base.messages import shown
from .encoding import check_columns, check_frame, encode_columns
from .numeric import read_numbers
from .schema import Dataset, Schema

Row: TypeAlias = "pd.Series[Any] | Mapping[Any, Any]"


def as_frame(newdata: object, argument: str = "newdata") -> pd.DataFrame:
    """Return a data frame as it is, and one row as a frame of one row; raise for all else."""
    if not isinstance(newdata, pd.Series | Mapping):
        return check_frame(newdata, argument, or_row=True)
    values = _values_by_name(newdata, argument)
    _check_single(values, values, argument)
    frame = pd.DataFrame({i: [value] for i, value in enumerate(values.values())}, index=_index(newdata))
    frame.columns = pd.Index(list(values), tupleize_cols=False)
    return frame


def encode_new(
    newdata: pd.DataFrame | Dataset | Row,
    known: Mapping[Hashable, tuple[Any, ...]],
    argument: str = "newdata",
    numeric: Mapping[Hashable, bool] = EMPTY,
) -> Dataset:
    """Encode new data: a data frame, one row, or what is encoded already.

    Parameters
    ----------
    newdata : pandas.DataFrame, Dataset, Series or dict
        Has the columns that are known; what others hold does not matter.
    known : mapping
        The columns to encode, in order, with the labels that are known of each: numbers of type
        float may be among them.
    argument : str
        What errors call ``newdata``.
    numeric : mapping
        As in `encode_columns`.
    """
    if isinstance(newdata, pd.Series | Mapping):
        return encode_row(newdata, tuple(known), argument, numeric)
    return encode_columns(newdata, known, argument=argument, known=known, numeric=numeric)


def encode_row(
    row: Row, names: Sequence[Hashable], argument: str, numeric: Mapping[Hashable, bool] = EMPTY
) -> Dataset:
    """Encode one row whose values are labels: each is the only level of its column, but where it is missing.

    So no column is guessed a type: a Series of several types holds objects, or floats for integers.
    """
    values = _values_by_name(row, argument)
    check_columns(names, values, argument)
    _check_single(values, names, argument)
    numbers = {}
    for name in [name for name in names if name in numeric]:
        read = read_numbers(_alone(values[name]), name, argument, must=numeric[name])
        if read is not None:
            numbers[name] = read
    levels = tuple(() if name in numbers or is_missing(values[name]) else (values[name],) for name in names)
    codes = np.array([len(labels) - 1 for labels in levels], dtype=np.int8)[:, None]
    return Dataset(Schema(tuple(names), levels), codes, _index(row), numbers=numbers)


def _alone(value: Any) -> NDArray[Any]:
    """Return an array of one value, of floats if it is a number."""
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        return np.array([value])
    array = np.empty(1, dtype=object)
    array[0] = value
    return array


def _values_by_name(row: Row, argument: str) -> dict[Hashable, Any]:
    if isinstance(row, pd.Series) and not row.index.is_unique:
        raise ValueError(
            f"{argument}: expected one value a column, but labels of its index occur more than once"
        )
    return dict(row.items())


def _check_single(values: Mapping[Hashable, Any], names: Iterable[Hashable], argument: str) -> None:
    """Raise a TypeError where a row has something else than one value."""
    for name in names:
        if not isinstance(values[name], Hashable):
            raise TypeError(
                f"{argument}: expected one value of {shown(name)}, got {shown(values[name])}; a dict or "
                "Series is one row, columns make a pd.DataFrame(...)"
            )


def is_missing(value: Any) -> bool:
    """Whether a value, of whatever type, stands for a missing one."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _index(row: Row) -> pd.Index[Any]:
    """Return the label of a row that was taken out of a frame, or else 0."""
    name = row.name if isinstance(row, pd.Series) else None
    return pd.RangeIndex(1) if name is None else pd.Index([name], tupleize_cols=False)
