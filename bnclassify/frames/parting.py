"""Data in parts at the entrance: recognised, checked by its columns, its levels looked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pandas as pd

from ..base.messages import listed
from .encoding import check_class_name, check_columns, check_levels, check_names
from .partitions import Memo, Partitions, Prepare, Reading
from .schema import Dataset, Schema
from .sources import Source, find_source
from .surveys import survey
from .weights import names_column
from .wide_columns import warn_of_no_features

InFull: TypeAlias = pd.DataFrame | Dataset
"""Data whose rows are in memory."""

InParts: TypeAlias = Partitions | Callable[[], Iterable[Any]] | Iterator[Any] | Sequence[pd.DataFrame]
"""Data whose rows need not be; a Dask DataFrame, which has no type of its own for checkers, is such, too."""

Known: TypeAlias = Mapping[Hashable, tuple[Any, ...]]

Choose: TypeAlias = Callable[[Sequence[Hashable]], Sequence[Hashable]]
"""Tells which columns to take of those that are there, or raises."""


def is_parted(dataset: object) -> bool:
    """Whether data is in parts."""
    return isinstance(dataset, Partitions) or find_source(dataset, "dataset") is not None


def columns_of(dataset: object) -> Sequence[Hashable]:
    """Return the names of the columns of data in parts that can be gone through again, or raise."""
    if isinstance(dataset, Partitions):
        return dataset.columns
    source = find_source(dataset, "dataset")
    if source is None:
        raise TypeError(f"dataset: expected data in parts, got {type(dataset).__name__}")
    if source.once:
        raise ValueError(
            "dataset: an iterator can be gone through once, and this goes through the data several times; "
            "pass a function that gives one anew, such as lambda: pd.read_csv(path, chunksize=100_000)"
        )
    return _names_of(source, "dataset")


def as_parts(
    dataset: object,
    argument: str = "dataset",
    *,
    columns: Sequence[Hashable] | Choose | None = None,
    known: Known | None = None,
    weights: Hashable = None,
    prepare: Prepare | None = None,
) -> Partitions | None:
    """Return data in parts with the levels of its columns; None for data that is in memory.

    Parameters
    ----------
    dataset : object
    argument : str
        What errors call it.
    columns : sequence or callable, optional
        The columns to take, or what tells them from those that are there; all by default.
    known : mapping, optional
        Levels that need not be looked for.
    weights : str, optional
        The column that tells how often rows count.
    prepare : callable, optional
        Makes categories of raw columns; then all levels are known.
    """
    if isinstance(dataset, Partitions):
        if weights is not None:
            raise TypeError("weights: name their column where data in parts is encoded first")
        return _coded(dataset, _chosen(columns, dataset.columns, argument), known)
    source = find_source(dataset, argument)
    if source is None:
        return None
    names = _names_of(source, argument)
    if weights is not None and not names_column(weights):
        raise TypeError("weights: data in parts has them in a column; pass its name")
    check_columns([] if weights is None else [weights], names, "weights")
    wanted = _chosen(columns, [name for name in names if name != weights], argument)
    return _open(source, Reading(Schema((), ()), None, weights, prepare), wanted, known, argument)


def prepare_parts(
    dataset: object,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
    *,
    known: Known | None = None,
    prepare: Prepare | None = None,
) -> Partitions | None:
    """Prepare data in parts to learn from: the features, then the class; None for data that is in memory.

    Levels that are ``known``, as those of a model, are not looked for. What is wrong with rows is told
    where they are counted first.
    """
    parts = dataset if isinstance(dataset, Partitions) else find_source(dataset, "dataset")
    if parts is None:
        return None
    check_class_name(class_var)
    available = list(parts.columns) if isinstance(parts, Partitions) else _names_of(parts, "dataset")
    check_columns([class_var], available, "class_var")
    if features is None:
        if isinstance(parts, Partitions) and parts.class_var == class_var:
            return parts
        chosen = [name for name in available if name != class_var]
        if not chosen:
            warn_of_no_features(class_var)
    else:
        names = check_names(features, class_var)
        check_columns(names, available, "features")
        chosen = [name for name in available if name in names]
    before = available[: available.index(class_var)]
    position = sum(name in before for name in chosen)
    wanted = (*chosen, class_var)
    if isinstance(parts, Partitions):
        data = _coded(parts, wanted, known).of_class(class_var)
    else:
        data = _open(parts, Reading(Schema((), ()), class_var, None, prepare), wanted, known, "dataset")
    check_levels(data, data.columns)
    return replace(data, class_position=position)


def _chosen(
    columns: Sequence[Hashable] | Choose | None, available: Sequence[Hashable], argument: str
) -> Sequence[Hashable]:
    """Return the columns to take, all of which are there."""
    if columns is None:
        return available
    if callable(columns):
        return columns(available)
    check_columns(columns, available, argument)
    return columns


def _names_of(source: Source, argument: str) -> Sequence[Hashable]:
    names = list(source.names)
    if len(set(names)) < len(names):
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        raise ValueError(f"{argument}: column names must be unique, but these occur again: {listed(twice)}")
    return names


def _open(
    source: Source, reading: Reading, columns: Sequence[Hashable], known: Known | None, argument: str
) -> Partitions:
    """Return columns of frames in parts, after a pass for levels if some are unknown."""
    levels: dict[Hashable, tuple[Any, ...]] = {**source.declared, **(known or {})}
    unknown = [name for name in columns if name not in levels]
    memo = Memo()
    if unknown:
        _check_again(source, unknown, argument)
        surveyed, facts = survey(source, columns, reading.class_var, reading.weights)
        levels = dict(zip(columns, surveyed, strict=True)) | levels
        memo.keep(facts, columns)
    schema = Schema(tuple(columns), tuple([levels[name] for name in columns]))
    data = Partitions(source, replace(reading, schema=schema), memo=memo)
    if unknown:
        data.tell()
    return data


def _check_again(source: Source, unknown: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if a pass for levels would leave nothing to count."""
    if source.once:
        raise ValueError(
            f"{argument}: an iterator can be gone through once, but the levels of {listed(unknown)} must be "
            "looked for first; pass a function that gives one anew, such as "
            "lambda: pd.read_csv(path, chunksize=100_000), or make these columns categories"
        )


def _coded(data: Partitions, columns: Sequence[Hashable], known: Known | None) -> Partitions:
    levels = dict(zip(data.columns, data.levels, strict=True)) | dict(known or {})
    return data.coded(Schema(tuple(columns), tuple([levels[name] for name in columns])))
