"""Data frames before encoding, and their encoding."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from ..tools.arrays import ArrayOf, code_type
from ..tools.checks import check_columns
from ..tools.immutable import EMPTY, cached_property
from ..tools.messages import listed, no_labels_error, repeated_items
from .columns import (
    CATEGORIES,
    NUMBERS_ADVICE,
    arrays_and_types,
    check_categorical,
    encode_column,
)
from .dataset import Countable, Dataset, Opened
from .numeric import (
    ArrayLike,
    check_weights,
    is_column_name,
    labels_and_codes_of_numbers,
    labels_if_categories,
    read_numbers,
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
    def _arrays_and_types(self) -> tuple[dict[Hashable, ArrayLike], dict[Hashable, str]]:
        arrays, types = arrays_and_types(self.frame)
        arrays_by_name = dict(zip(self.columns, arrays, strict=True))
        return arrays_by_name, dict(zip(self.columns, types, strict=True))

    @property
    def types(self) -> Mapping[Hashable, str]:
        return self._arrays_and_types[1]

    has_numbers = True

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns in the order of the frame."""
        chosen = set(wanted.check_names_of_columns(self.columns))
        return self._encode([name for name in self.columns if name in chosen], wanted)

    def read(self, wanted: Columns = ALL) -> Dataset:
        return self._encode(wanted.check_names_of_columns(self.columns), wanted)

    def _encode(self, names: Sequence[Hashable], wanted: Columns) -> Dataset:
        data = self.encode_columns(names, known=wanted.known, numeric=wanted.numeric_by_name())
        data.schema.check_without_mark(wanted.known or {}, self.argument)
        return data

    def encode_columns(
        self,
        columns: Sequence[Hashable],
        *,
        known: Known | None = None,
        numeric: Mapping[Hashable, bool] = EMPTY,
        whole_floats: bool = False,
    ) -> Dataset:
        """Encode columns in the given order.

        In new data, with ``known`` levels, floats can be categories. The
        columns in ``numeric`` are read as numbers, without codes; columns that
        map to True must be numeric. With ``whole_floats``, whole numbers can be
        of type float, as in a chunk with missing values.
        """
        arrays, types = self._arrays_and_types
        numbers = dict[Hashable, ArrayOf[Any]]()
        for name in filter(numeric.__contains__, columns if numeric else ()):
            must, kind = numeric[name], types[name]
            read = read_numbers(arrays[name], name, self.argument, must=must, kind=kind)
            if read is not None:
                numbers[name] = read
        tested = {
            name: (pd.Series(arrays[name], dtype=arrays[name].dtype), types[name])
            for name in columns
            if types[name] not in CATEGORIES and name not in numbers
        }
        open_to = () if known else numeric
        check_categorical(
            tested, known, whole_floats=whole_floats, argument=self.argument, numeric=open_to
        )
        no_codes = np.full(len(self), -1, dtype=np.int8)
        of_number: tuple[Any, ...] = (), no_codes, False
        encoded = [of_number if n in numbers else encode_column(arrays[n]) for n in columns]
        levels, by_column, are_ordered = zip(*encoded, strict=True) if encoded else ((), (), ())
        narrow = code_type(max(map(len, levels), default=0))
        codes = np.concatenate([no_codes[:0], *by_column], dtype=narrow)
        schema = Schema(tuple(columns), levels, frozenset(compress(columns, are_ordered)))
        return Dataset(schema, codes.reshape(len(columns), len(self)), self.index, numbers=numbers)

    def encode_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Dataset:
        maybe_numbers = {name: False for name in columns if name != class_var}
        data = self.encode(Columns(columns, raw=maybe_numbers))
        codes: dict[Hashable, tuple[tuple[Any, ...], ArrayOf[Any]]] = {}
        for name, values in data.numbers.items():
            labels = () if name in coded else labels_if_categories(values)
            if labels:
                codes[name] = labels_and_codes_of_numbers(values, labels)
        both = self.encode_columns([name for name in data.numbers if name in coded])
        for name, levels, of_column in zip(both.columns, both.levels, both.codes, strict=True):
            codes[name] = levels, of_column
        return data.with_codes(codes)

    def split_off_column(self, column: Hashable) -> tuple[Frame, ArrayLike]:
        """Return the frame without a column, and the values of the column."""
        return Frame(self.frame.drop(columns=[column]), self.argument), self.frame[column].array

    def with_weights(self, weights: object) -> Dataset:
        rows = self
        if is_column_name(weights):
            check_columns([weights], self.columns, "weights")
            rows, weights = self.split_off_column(weights)
        coded = [name for name, kind in rows.types.items() if kind == "integer"]
        data = rows.encode_raw(None, rows.columns, coded)
        return replace(data, weights=check_weights(weights, rows.index))


def check_unique(names: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if a column name is repeated."""
    if twice := repeated_items(names):
        raise ValueError(
            f"{argument} must have unique column names; got {listed(twice)} more than once."
        )


def encode_frame(
    frame: pd.DataFrame, columns: Sequence[Hashable], *, argument: str = "dataset", **how: Any
) -> Dataset:
    """Encode columns of a data frame, as `Frame.encode_columns` does."""
    return Frame(frame, argument).encode_columns(columns, **how)


def check_have_levels(
    data: Countable | Schema, columns: Iterable[Hashable], targets: Sequence[Hashable] = ()
) -> None:
    """Raise a ValueError for columns without a level; a single target is the class."""
    if all(data.levels):
        return
    cards, positions = data.cards, data.positions
    empty = [name for name in columns if not cards[positions[name]]]
    if empty and isinstance(data, Dataset) and not len(data):
        raise ValueError("dataset must have rows; got none.")
    numeric = [name for name in empty if isinstance(data, Dataset) and name in data.numbers]
    if numeric:
        raise TypeError(f"column {listed(numeric)} must be categorical; got {NUMBERS_ADVICE}")
    if empty and len(targets) == 1 and targets[0] in empty:
        raise no_labels_error(targets)
    if empty:
        raise ValueError(
            f"dataset: all values are missing in {listed(empty)}. Drop these columns or, if this "
            "is a subset of the data, make them categorical before splitting."
        )
