"""Data frames before encoding, and their encoding."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import code_type
from ..base.checks import check_columns
from ..base.immutable import EMPTY, cached_property
from ..base.messages import listed, repeated, without_labels
from .columns import NUMBERS_ADVICE, check_categorical, column_arrays, encode_column
from .dataset import Countable, Dataset, Opened
from .numeric import (
    ArrayLike,
    check_weights,
    code_labels,
    labels_to_keep,
    names_column,
    read_numbers,
    value_type,
)
from .schema import ALL, Columns, Known, Schema


@dataclass(frozen=True)
class Frame(Opened[Dataset]):
    """A data frame with unique names of columns; errors about its values name the ``argument``."""

    frame: pd.DataFrame
    argument: str

    def __post_init__(self) -> None:
        if not self.frame.columns.is_unique:
            check_unique(self.frame.columns.tolist(), self.argument)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def index(self) -> pd.Index[Any]:
        """Row labels."""
        return self.frame.index

    @cached_property
    def columns(self) -> Sequence[Hashable]:
        return self.frame.columns.tolist()

    @cached_property
    def arrays(self) -> dict[Hashable, ArrayLike]:
        """The values of columns."""
        return dict(zip(self.columns, column_arrays(self.frame), strict=True))

    @cached_property
    def types(self) -> Mapping[Hashable, str]:
        return {
            name: "categorical" if type(array) is pd.Categorical else value_type(array)
            for name, array in self.arrays.items()
        }

    has_numbers = True

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns in the order of the frame."""
        chosen = set(wanted.among(self.columns))
        names = [name for name in self.columns if name in chosen]
        numeric = wanted.as_numbers()
        arrays = {name: self.arrays[name] for name in names}
        return encode_arrays(
            arrays, self.index, argument=self.argument, known=wanted.known, numeric=numeric
        )

    def read_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Dataset:
        data = self.encode(
            Columns(columns, raw={name: False for name in columns if name != class_var})
        )
        kept = {
            name: labels_to_keep(values)
            for name, values in data.numbers.items()
            if name not in coded
        }
        codes = {
            name: code_labels(data.numbers[name], labels) for name, labels in kept.items() if labels
        }
        arrays = {name: self.arrays[name] for name in data.numbers if name in coded}
        both = encode_arrays(arrays, self.index)
        codes |= dict(zip(both.columns, zip(both.levels, both.codes, strict=True), strict=True))
        return data.recoded(codes)

    def split_off(self, column: Hashable) -> tuple[Frame, ArrayLike]:
        """Return the frame without a column, and the values of the column."""
        return Frame(self.frame.drop(columns=[column]), self.argument), self.frame[column].array

    def weighed(self, weights: object) -> Dataset:
        rows = self
        if names_column(weights):
            check_columns([weights], self.columns, "weights")
            rows, weights = self.split_off(weights)
        coded = [name for name, kind in rows.types.items() if kind == "integer"]
        return replace(
            rows.read_raw(None, rows.columns, coded), weights=check_weights(weights, rows.index)
        )


def check_unique(names: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if a column name is repeated."""
    if twice := repeated(names):
        raise ValueError(
            f"{argument} must have unique column names; got {listed(twice)} more than once."
        )


def encode_frame(frame: pd.DataFrame, columns: Sequence[Hashable], **how: Any) -> Dataset:
    """Encode columns of a data frame, in the given order, as `encode_arrays` does."""
    names: Sequence[Hashable] = frame.columns.tolist()
    arrays = dict(zip(names, column_arrays(frame), strict=True))
    return encode_arrays({name: arrays[name] for name in columns}, frame.index, **how)


def encode_arrays(
    arrays: Mapping[Hashable, ArrayLike],
    index: pd.Index[Any],
    *,
    argument: str = "dataset",
    known: Known | None = None,
    numeric: Mapping[Hashable, bool] = EMPTY,
    whole_floats: bool = False,
) -> Dataset:
    """Encode columns of a data frame, as returned by `column_arrays`, in the given order.

    In new data, with ``known`` levels, floats can be categories. The columns in ``numeric`` are
    read as numbers, without codes; columns that map to True must be numeric. With ``whole_floats``,
    whole numbers can be of type float, as in a chunk with missing values.
    """
    read = {
        name: read_numbers(array, name, argument, must=numeric[name])
        for name, array in arrays.items()
        if name in numeric
    }
    numbers = {name: values for name, values in read.items() if values is not None}
    coded = {name: array for name, array in arrays.items() if name not in numbers}
    check_categorical(coded, known, whole_floats=whole_floats, argument=argument)
    encoded = {name: encode_column(array) for name, array in coded.items()}
    ordered = [name for name, (_, _, is_ordered) in encoded.items() if is_ordered]
    absent: tuple[Any, ...] = (), np.full(len(index), -1, dtype=np.int8)
    by_column = [encoded.get(name, absent) for name in arrays]
    levels = tuple([column[0] for column in by_column])
    narrow = code_type(max(map(len, levels), default=0))
    codes = np.concatenate([absent[1][:0], *(column[1] for column in by_column)], dtype=narrow)
    schema = Schema(tuple(arrays), levels, frozenset(ordered))
    return Dataset(schema, codes.reshape(len(arrays), len(index)), index, numbers=numbers)


def check_levels(
    data: Countable | Schema, columns: Iterable[Hashable], targets: Sequence[Hashable] = ()
) -> None:
    """Raise a ValueError for columns without a level; a single target is the class."""
    cards, positions = data.cards, data.positions
    empty = [name for name in columns if not cards[positions[name]]]
    if empty and isinstance(data, Dataset) and not len(data):
        raise ValueError("dataset must have rows; got none.")
    numeric = [name for name in empty if isinstance(data, Dataset) and name in data.numbers]
    if numeric:
        raise TypeError(f"column {listed(numeric)} must be categorical; got {NUMBERS_ADVICE}")
    if empty and len(targets) == 1 and targets[0] in empty:
        raise without_labels(targets)
    if empty:
        raise ValueError(
            f"dataset: all values are missing in {listed(empty)}. Drop these columns or, if this "
            "is a subset of the data, make them categorical before splitting."
        )
