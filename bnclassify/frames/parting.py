"""Data of any source at the entrance: recognized, its columns checked, its levels found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pandas as pd

from ..base.messages import listed
from .encoding import check_columns, check_frame, encode_columns
from .partitions import Memo, Partitions, Prepare, Reading
from .schema import Countable, Dataset, Learnable, Schema
from .sources import Source, find_source
from .surveys import survey
from .weights import names_column

InFull: TypeAlias = pd.DataFrame | Dataset
"""Data with its rows in memory."""

InParts: TypeAlias = Learnable | Callable[[], Iterable[Any]] | Iterator[Any] | Sequence[pd.DataFrame]
"""Partitioned data. A Dask DataFrame, which has no type of its own for checkers, is such data, too."""

Known: TypeAlias = Mapping[Hashable, tuple[Any, ...]]


def column_names(dataset: object, argument: str = "dataset") -> Sequence[Hashable]:
    """Return the names of the columns of data of any source, or raise."""
    if isinstance(dataset, Countable):
        return dataset.columns
    source = find_source(dataset, argument)
    names: Sequence[Hashable] = (
        check_frame(dataset, argument).columns.tolist() if source is None else list(source.names)
    )
    if len(set(names)) < len(names):
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        raise ValueError(f"{argument}: column names must be unique, but these occur again: {listed(twice)}")
    return names


def open_columns(
    dataset: object,
    columns: Sequence[Hashable] | None = None,
    *,
    argument: str = "dataset",
    named_by: str | None = None,
    known: Known | None = None,
    weights: Hashable = None,
    required: Hashable = None,
    preparation: Prepare | None = None,
    rows_needed: bool = False,
) -> Dataset | Partitions:
    """Return columns of data of any source (by default, all) in the given order, coded.

    Rows in memory are encoded; of partitioned data, the levels that are not ``known`` are found in a pass
    over it, and rows that lack the ``required`` column are dropped. ``weights`` names a column of
    partitioned data, ``preparation`` turns its raw columns into categories.
    """
    source = None if rows_needed or isinstance(dataset, Countable) else find_source(dataset, argument)
    if source is None and not isinstance(dataset, Partitions):
        data = encode_columns(dataset, columns, argument=argument, named_by=named_by, known=known)  # type: ignore[arg-type]
        return data if columns is None else data.select(list(dict.fromkeys(columns)))
    names = column_names(dataset if source is None else source, argument)
    check_columns(columns or (), names, named_by or argument)
    columns = None if columns is None else list(dict.fromkeys(columns))
    if isinstance(dataset, Partitions):
        if weights is not None:
            raise TypeError("weights: name their column where data in parts is encoded first")
        levels = dict(zip(names, dataset.levels, strict=True)) | dict(known or {})
        chosen = names if columns is None else columns
        schema = Schema(tuple(chosen), tuple([levels[name] for name in chosen]))
        return dataset.coded(schema).requiring(required)
    if weights is not None and not names_column(weights):
        raise TypeError("weights: data in parts has them in a column; pass its name")
    check_columns([] if weights is None else [weights], names, "weights")
    chosen = [name for name in names if name != weights] if columns is None else columns
    assert source is not None
    return _open(source, Reading(Schema((), ()), required, weights, preparation), chosen, known, argument)


def _open(
    source: Source, reading: Reading, columns: Sequence[Hashable], known: Known | None, argument: str
) -> Partitions:
    """Return columns of partitioned frames, after a pass for levels if some are unknown."""
    levels: dict[Hashable, tuple[Any, ...]] = {**source.declared, **(known or {})}
    unknown = [name for name in columns if name not in levels]
    memo = Memo()
    if unknown:
        _check_again(source, unknown, argument)
        surveyed, facts = survey(source, columns, reading.required, reading.weights)
        levels = dict(zip(columns, surveyed, strict=True)) | levels
        memo.keep(facts, columns)
    schema = Schema(tuple(columns), tuple([levels[name] for name in columns]))
    return Partitions(source, replace(reading, schema=schema), memo=memo)


def _check_again(source: Source, unknown: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if a pass for levels would leave nothing to count."""
    if source.once:
        raise ValueError(
            f"{argument}: an iterator can be gone through once, but the levels of {listed(unknown)} must be "
            "looked for first; pass a function that gives one anew, such as "
            "lambda: pd.read_csv(path, chunksize=100_000), or make these columns categories"
        )
