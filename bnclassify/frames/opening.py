"""Entrance of data of any source: recognizes its type, checks its columns and finds its levels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from ..tools.arrays import Positions
from ..tools.checks import check_columns
from ..tools.messages import listed, shorten_text, shown
from .dataset import Countable, Dataset, Opened, OpenedData
from .foreign import AnyFrame, foreign_to_pandas
from .frame import Frame
from .numeric import check_same_index, is_column_name
from .records import Records

InPandas: TypeAlias = pd.DataFrame | Dataset

InFull: TypeAlias = InPandas | AnyFrame | Callable[[], Iterable[Any]] | Sequence[pd.DataFrame]
"""Data with rows in memory, or that are read into memory, as chunks and Dask DataFrames are."""

InParts: TypeAlias = Countable
"""Data that can stay where they are, which functions that only count accept as well."""

OPENERS: list[Callable[[object, str, bool | None], OpenedData | None]] = []
"""Functions that open types of partitioned data, and return None for others.

Their arguments are the data, the argument's name in errors, and whether the
rows are read into memory: True, False, or None if they fit.
"""

Meaning: TypeAlias = Literal["frequencies", "cases"]


def split_off_groups(
    dataset: Any, groups: Any, targets: Collection[Hashable] = ()
) -> tuple[Opened[Dataset], Positions]:
    """Return data without the column of groups, and the group position of each row, or raise.

    ``groups`` is the name of a column, but not of a target, or one label per
    row.
    """
    rows, labels = open_data(dataset).check_in_memory("dataset"), foreign_to_pandas(groups)
    assert isinstance(rows, Frame | Dataset)
    if is_column_name(groups):
        check_columns([groups], rows.columns, "groups")
        if groups in targets:
            raise ValueError(f"groups must not be the class; got {shown(groups)}.")
        rows, labels = rows.split_off_column(groups)
    elif isinstance(labels, list | tuple) and all(isinstance(label, Hashable) for label in labels):
        # As an array, 1 and "1" would be the same, and NaN a label.
        labels = pd.Series(labels, dtype=object)
    else:
        check_same_index(labels, rows.index, "groups")
    if np.ndim(labels) != 1:
        raise TypeError(
            f"groups must be the name of a column or one label per row; got {shown(groups)}."
        )
    if len(labels) != len(rows):
        raise ValueError(
            f"groups must have one label for each of the {len(rows)} rows; got {len(labels)}."
        )
    group_of_row, _ = pd.factorize(pd.Series(labels))
    if missing := np.count_nonzero(group_of_row < 0):
        raise ValueError(
            f"groups must have a label for each row; got {missing} missing values. Give each of "
            "these rows a label of its own."
        )
    return rows, group_of_row


def with_groups_as_cases(
    dataset: Any,
    groups: Any,
    targets: Collection[Hashable],
    read: Callable[[Opened[Dataset]], Dataset],
) -> Dataset:
    """Return data that ``read`` encodes, with the groups of rows as cases."""
    rows, cases = split_off_groups(dataset, groups, targets)
    return replace(read(rows), cases=cases)


def open_data(
    data: Any,
    argument: str = "dataset",
    *,
    or_rows: bool = False,
    in_memory: bool | None = None,
) -> OpenedData:
    """Open data of any source, or return opened ones: the only entrance; errors name the argument.

    If ``or_rows``, data can also be one or several records. Partitioned data
    are read into memory if ``in_memory`` or, if it is None, if they fit.
    """
    if isinstance(data, Opened):
        return data
    if isinstance(data, pd.DataFrame):
        return Frame(data, argument)
    records = [data] if isinstance(data, pd.Series | Mapping) else data
    may_be = or_rows and isinstance(records, list) and (records or argument != "dataset")
    if may_be and all(isinstance(row, pd.Series | Mapping) for row in records):
        return Records(records, argument)
    for open_parts in OPENERS:
        parts = open_parts(data, argument, in_memory)
        if parts is not None:
            return parts
    frame = foreign_to_pandas(data)
    if isinstance(frame, pd.DataFrame):
        return Frame(frame, argument)
    rows = ", one row as a Series or a dict, or a list of rows" if or_rows else ""
    expected = f"{argument} must be a pandas DataFrame{rows}"
    raise TypeError(f"{expected}; got {type(data).__name__}.{_how_to_convert(data)}")


def open_rows(newdata: Any, argument: str = "newdata") -> Opened[Dataset]:
    """Open rows in memory, which can also be records; errors name the argument."""
    return open_data(newdata, argument, or_rows=True).check_in_memory(argument)


def is_partitioned(data: object) -> bool:
    """Whether data are partitioned, which are not read."""
    return any(open_parts(data, "data", False) is not None for open_parts in OPENERS)


def frame_of(data: Any, argument: str, *, or_row: bool = False) -> pd.DataFrame:
    """Return data, or one row, as a data frame of pandas; raise for other data."""
    rows = open_data(data, argument, or_rows=or_row).check_in_memory(argument)
    if isinstance(rows, Dataset):
        raise TypeError(
            f"{argument} must be a pandas DataFrame; got Dataset. Its columns are categories "
            "already; pass the data frame that it was encoded from."
        )
    assert isinstance(rows, Frame | Records)
    return rows.frame


_READERS = {
    "parquet": "read_parquet",
    "feather": "read_feather",
    "json": "read_json",
    "xlsx": "read_excel",
}
"""The functions of pandas that read files, by ending; others are text in columns."""


def _how_to_convert(data: object) -> str:
    """Return how to convert other data to a data frame."""
    for method in ("compute", "to_pandas", "to_frame"):
        if hasattr(data, method):
            return f" Call its {method}()."
    absent = [name for name in ("names", "declared", "reduce") if not hasattr(data, name)]
    if len(absent) == 1:
        return f" A source of data must also have {listed(absent)}."
    if isinstance(data, str | PathLike):
        ending = str(data).rpartition(".")[2].lower()
        reader = _READERS.get(ending, "read_csv")
        return f" Read the file first, with pd.{reader}({shorten_text(str(data), 200)!r})."
    if isinstance(data, Hashable) and not isinstance(data, tuple):
        return ""
    return " Make one with pd.DataFrame(data, columns=names)."
