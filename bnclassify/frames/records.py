"""Records, rows of which each is a dict or a Series, before encoding."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..tools.arrays import ArrayOf, code_type
from ..tools.checks import must_be
from ..tools.messages import did_you_mean, listed, shown, warn
from .dataset import Dataset, Opened
from .numeric import decimal_as_number, read_numbers, value_type
from .schema import ALL, Columns, Schema

Row: TypeAlias = "pd.Series[Any] | Mapping[Any, Any]"


@dataclass(frozen=True)
class Records(Opened[Dataset]):
    """Rows of which each is a dict or a Series; the values that a record omits are unknown."""

    rows: Sequence[Row]
    argument: str

    @property
    def columns(self) -> Sequence[Hashable]:
        """The names of the values of the records."""
        return list(dict.fromkeys(name for row in self.rows for name, _ in row.items()))

    def encode(self, wanted: Columns = ALL) -> Dataset:
        """Encode columns, whose levels are their values; what a record omits is unknown."""
        names = tuple(self.columns if wanted.names is None else wanted.names)
        rows, argument, numeric = self.rows, self.argument, wanted.numeric_by_name()
        records = [_values_by_name(row, argument) for row in rows]
        for number, (row, record) in enumerate(zip(rows, records, strict=True)):
            is_column = isinstance(row, pd.Series) and row.name in names
            place = argument if len(rows) == 1 else f"{argument}[{number}]"
            _check_record(record, names, place, _IS_COLUMN if is_column else "")
            _warn_of_misspelled(record, names, argument)
        numbers, levels = {}, []
        codes = np.full((len(names), len(rows)), -1, dtype=code_type(len(rows)))
        for column, name in zip(codes, names, strict=True):
            values = [record.get(name) for record in records]
            if numeric.get(name):
                _check_no_text_or_flags(values, name, argument, rows)
            labels = dict.fromkeys(value for value in values if not is_missing(value))
            if name in numeric:
                read = read_numbers(_as_array(values), name, argument, must=numeric[name])
                if read is not None:
                    numbers[name], labels = read, {}
            position = {label: code for code, label in enumerate(labels)}
            column[:] = [position.get(value, -1) for value in values]
            levels.append(tuple(labels))
        absent = [[name not in record for record in records] for name in names]
        is_absent = np.array(absent, dtype=bool).reshape(codes.shape)
        unknown = is_absent if is_absent.any() else None
        schema = Schema(names, tuple(levels))
        return Dataset(schema, codes, _index_of_records(rows), numbers=numbers, unsaid=unknown)

    @property
    def frame(self) -> pd.DataFrame:
        """The records as a data frame."""
        rows = [_values_by_name(row, self.argument) for row in self.rows]
        for row in rows:
            _check_scalar(row, row, self.argument)
        columns = [_values_as_series([row.get(name) for row in rows]) for name in self.columns]
        frame = pd.DataFrame(dict(enumerate(columns))).set_axis(_index_of_records(self.rows))
        return frame.set_axis(pd.Index(self.columns, tupleize_cols=False), axis="columns")


def _check_no_text_or_flags(
    values: Sequence[Any], name: Hashable, argument: str, rows: Sequence[Row]
) -> None:
    """Raise a TypeError if a value that must be a number is a text or a bool."""
    column = f"{argument}: column {shown(name)}"
    text = next((value for value in values if isinstance(value, str)), None)
    if text is not None:
        advice = "Write numbers without quotes, with a decimal point."
        if any(isinstance(row, pd.Series) for row in rows):
            advice = "Convert the column of its table first, with pd.to_numeric."
        raise TypeError(f"{column} must be numeric; got text such as {shown(text)}. {advice}")
    flag = next((value for value in values if isinstance(value, bool | np.bool_)), None)
    if flag is not None:
        raise TypeError(must_be(column, "numeric", flag, "Write it as a number."))


_IS_COLUMN = "A Series is one row. Convert a column, with its to_frame()."


def _check_record(
    record: Mapping[Hashable, Any], names: Sequence[Hashable], argument: str, advice: str
) -> None:
    """Raise unless a record has some of the names, with one value each."""
    absent = [name for name in names if name not in record]
    if absent and len(absent) == len(names):
        hints = [
            advice,
            *(did_you_mean(key, names) for key in record),
            f"The model has {listed(names, most=20)}.",
        ]
        nothing = " If all values are unknown, pass their names as unknown."
        raise KeyError(
            f"{argument} must have a value of at least one variable of the model; got "
            f"{listed(record, most=8)}. {next(filter(None, hints))}"
            f"{nothing if argument in ('newdata', 'row') and not record else ''}"
        )
    _check_scalar(record, [name for name in names if name in record], argument)


def _warn_of_misspelled(
    record: Mapping[Hashable, Any], names: Sequence[Hashable], argument: str
) -> None:
    """Warn of keys of a record that resemble names without a value."""
    absent = [name for name in names if name not in record]
    for key in record if absent else ():
        similar = did_you_mean(key, absent) if key not in names else ""
        if similar:
            warn(
                f"{argument}: {shown(key)} is not a variable of the model and is ignored. {similar}"
            )


def _as_array(values: list[Any]) -> ArrayOf[Any]:
    """Return values as an array, without pandas, whose objects take long for a single record."""
    if len(values) == 1 and isinstance(values[0], float | int | np.number):
        return np.array(values)
    return np.fromiter(values, dtype=object, count=len(values))


def _values_as_series(values: list[Any]) -> pd.Series[Any]:
    """Return values as a column, in which missing ones do not change integers to floats."""
    is_integer = value_type(pd.Series(values, dtype=object)) == "integer"
    return pd.Series(values, dtype="Int64" if is_integer else None)


def _values_by_name(row: Row, argument: str) -> dict[Hashable, Any]:
    if isinstance(row, pd.Series) and not row.index.is_unique:
        raise ValueError(
            f"{argument} must have one value per column; got a Series with repeated labels."
        )
    return {name: decimal_as_number(value) for name, value in row.items()}


def _check_scalar(values: Mapping[Hashable, Any], names: Iterable[Hashable], argument: str) -> None:
    """Raise a TypeError unless a row has one value per column."""
    for name in names:
        if not isinstance(values[name], Hashable):
            remedy = "A dict or Series is one row; for several rows, pass a pd.DataFrame."
            raise TypeError(must_be(argument, f"one value of {shown(name)}", values[name], remedy))


def is_missing(value: Any) -> bool:
    """Whether a value of any type stands for a missing one."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _index_of_records(rows: Sequence[Row]) -> pd.Index[Any]:
    """Return the row labels of a frame or, for other data, row numbers."""
    labels = [row.name if isinstance(row, pd.Series) else None for row in rows]
    if None in labels or not labels:
        return pd.RangeIndex(len(rows))
    return pd.Index(labels, tupleize_cols=False)
