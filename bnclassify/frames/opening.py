"""Entrance of data of any source: recognizes its type, checks its columns and finds its levels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from ..base.arrays import Positions
from ..base.checks import check_columns
from ..base.immutable import cached_property
from ..base.messages import listed, shorten_text, shown
from .dataset import Dataset, Opened, Prepare
from .foreign import AnyFrame, foreign_to_pandas
from .frame import Frame, check_unique
from .numeric import check_same_index, is_column_name
from .partitions import Memo, OpenedData, Partitions
from .reading import Reading
from .records import Records
from .schema import ALL, Columns, Known, Schema
from .sources import Source, as_pandas, find_source
from .survey import find_numeric_columns, surveyed_levels_and_facts

InPandas: TypeAlias = pd.DataFrame | Dataset

InFull: TypeAlias = InPandas | AnyFrame
"""Data with rows in memory."""

InParts: TypeAlias = Partitions | Callable[[], Iterable[Any]] | Sequence[pd.DataFrame]
"""Partitioned data, including a Dask DataFrame, which has no type annotation."""

Meaning: TypeAlias = Literal["frequencies", "cases"]


def split_off_groups(
    dataset: Any, groups: Any, targets: Collection[Hashable] = ()
) -> tuple[Opened[Dataset], Positions]:
    """Return data without the column of groups, and the group position of each row, or raise.

    ``groups`` is the name of a column, but not of a target, or one label per
    row.
    """
    rows, labels = open_data(dataset), as_pandas(groups)
    if not isinstance(rows, Frame | Dataset):
        raise TypeError(
            "groups must be None if data are partitioned; got groups. Use rows in memory."
        )
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


def open_data(data: Any, argument: str = "dataset", *, or_rows: bool = False) -> OpenedData:
    """Open data of any source, or return opened ones: the only entrance; errors name the argument.

    If ``or_rows``, data can also be one or several records.
    """
    if isinstance(data, Opened):
        return data
    if isinstance(data, pd.DataFrame):
        return Frame(data, argument)
    records = [data] if isinstance(data, pd.Series | Mapping) else data
    may_be = or_rows and isinstance(records, list) and (records or argument != "dataset")
    if may_be and all(isinstance(row, pd.Series | Mapping) for row in records):
        return Records(records, argument)
    source = find_source(data, argument)
    if source is not None:
        return Parts(source, argument)
    frame = foreign_to_pandas(data)
    if isinstance(frame, pd.DataFrame):
        return Frame(frame, argument)
    rows = ", one row as a Series or a dict, or a list of rows" if or_rows else ""
    expected = f"{argument} must be a pandas DataFrame{rows}"
    raise TypeError(f"{expected}; got {type(data).__name__}.{_how_to_convert(data)}")


def open_rows(newdata: Any, argument: str = "newdata") -> Opened[Dataset]:
    """Open rows in memory, which can also be records; errors name the argument."""
    return open_data(newdata, argument, or_rows=True).check_in_memory(argument)


def is_partitioned(data: Any) -> bool:
    """Whether the rows of data need not be in memory together."""
    return open_data(data, or_rows=True).in_parts


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


@dataclass(frozen=True)
class Parts(Opened[Partitions]):
    """Partitioned data before encoding; ``preparation`` converts the columns of their frames."""

    source: Source
    argument: str
    preparation: Prepare | None = None

    in_parts = True

    @cached_property
    def columns(self) -> Sequence[Hashable]:
        names = list(self.source.names)
        check_unique(names, self.argument)
        return names

    def encode(self, wanted: Columns = ALL) -> Partitions:
        """Return columns in the given order, after a pass for levels if some are unknown."""
        required, weights = wanted.required, wanted.weights
        names = [name for name in wanted.check_names_of_columns(self.columns) if name != weights]
        source, preparation = self.source, self.preparation
        of_source = None if preparation is None else preparation.prepared_source(source)
        if of_source is not None:
            source, preparation = of_source, None
        levels = {**source.declared, **(wanted.known or {}), **dict.fromkeys(wanted.numeric, ())}
        memo = Memo()
        if not levels.keys() >= set(names):
            coded = [name for name in names if levels.get(name) != ()]
            surveyed, facts = surveyed_levels_and_facts(source, coded, required, weights)
            levels = dict(zip(coded, surveyed, strict=True)) | levels
            memo.keep_facts(facts, coded)
        declared: Known = getattr(self.source, "ordered_categories", {})
        ordered = frozenset(name for name in names if declared.get(name) == levels[name])
        schema = Schema(tuple(names), tuple([levels[name] for name in names]), ordered)
        schema.check_without_mark(wanted.known or {}, self.argument)
        return Partitions(source, Reading(schema, required, weights, preparation), memo=memo)

    def prepared(self, preparation: Prepare, known: Known) -> Parts:
        return replace(self, preparation=preparation)

    def data_and_default_numeric_features(
        self, features: Sequence[Hashable], targets: Sequence[Hashable]
    ) -> tuple[Parts, tuple[Hashable, ...]]:
        return self, find_numeric_columns(self.source, features)

    def with_weights(self, weights: object) -> Partitions:
        if not is_column_name(weights):
            raise TypeError(
                "weights must be the name of a column if data are partitioned; "
                f"got {shown(weights)}."
            )
        check_columns([weights], self.columns, "weights")
        return self.encode(Columns(weights=weights))


def read_parts_into_memory(data: Any) -> Frame:
    """Return the rows of partitioned data as one frame; categories of parts are united."""
    if isinstance(data, Partitions) and data.is_weighted:
        raise TypeError(
            "dataset must be in memory if rows have weights; got encoded parts with weights. Read "
            "them into one data frame, and call encode(frame, weights=...)."
        )
    frames = data.source.reduce(lambda frame: [frame], lambda parts: [*chain.from_iterable(parts)])
    for name in data.columns:
        columns = [frame[name] for frame in frames]
        if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
            united = union_categoricals(columns, ignore_order=True).categories
            frames = [f.assign(**{name: f[name].cat.set_categories(united)}) for f in frames]
    return Frame(pd.concat(frames, ignore_index=True)[[*data.columns]], "dataset")
