"""A pass over partitioned data that finds the levels of columns, or which columns are numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import is_float_dtype

from ..base.arrays import sum_nested
from ..base.messages import listed, shown
from .columns import arrays_and_types, check_categorical
from .frame import encode_frame
from .numeric import (
    MOST_CODES,
    are_categories,
    is_categorical,
    number_as_label,
    read_numbers,
)
from .partitions import label_counts_from_source, row_facts_from_source
from .reading import Facts, Reading, known_rows_and_facts, weights_from_column
from .schema import Levels, Schema
from .sources import Source

Labels = frozenset[int | float]


def find_numeric_columns(source: Source, columns: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the columns that are numbers, and not a few labels, after a pass over the data."""
    look, join = _distinct_numbers_by_column, _join_numbers_by_column
    found: list[Labels | None] = source.reduce(look, join, list(columns))
    numbers = {name: own for name, own in zip(columns, found, strict=True) if own is not None}
    return tuple([name for name, own in numbers.items() if not are_categories(tuple(own))])


def _distinct_numbers_by_column(frame: pd.DataFrame) -> list[Labels | None]:
    """Return distinct numbers of each column of a part, as many as decide; None for text."""
    found = list[Labels | None]()
    for name, array, kind in zip(frame.columns, *arrays_and_types(frame), strict=True):
        numbers = read_numbers(array, name, "dataset", must=False, kind=kind)
        if numbers is None:
            found.append(None)
        else:
            distinct = pd.Series(numbers).dropna().unique()
            found.append(frozenset(map(number_as_label, distinct[: MOST_CODES + 1])))
    return found


def _join_numbers_by_column(parts: Sequence[Sequence[Labels | None]]) -> list[Labels | None]:
    columns = zip(*parts, strict=True)
    return [None if None in own else frozenset().union(*filter(None, own)) for own in columns]


MAX_LEVELS = 2**20
"""Maximum number of levels; a column with more of them is regarded as an identifier."""


class ColumnLevels(NamedTuple):
    """Levels of a column in some parts: ``declared`` in this order by all, or all ``floats``."""

    labels: tuple[Hashable, ...]
    declared: bool
    floats: bool = False


LevelsAndFacts = tuple[tuple[ColumnLevels, ...], Facts]


def _levels_and_facts_of_frame(
    columns: Sequence[Hashable], class_var: Hashable, weights: Hashable, frame: pd.DataFrame
) -> LevelsAndFacts:
    """Return the levels of columns in a frame, and facts about its rows; workers call this."""
    data = encode_frame(frame, columns, whole_floats=True)
    data = replace(data, weights=weights_from_column(frame, weights))
    found = list[ColumnLevels]()
    for name, labels in zip(columns, data.levels, strict=True):
        dtype = frame[name].dtype
        found.append(ColumnLevels(labels, is_categorical(dtype), is_float_dtype(dtype)))
    return tuple(found), known_rows_and_facts(data, class_var)[1]


def _merge_levels_and_facts(
    columns: Sequence[Hashable], results: Sequence[LevelsAndFacts]
) -> LevelsAndFacts:
    levels_by_part, facts = zip(*results, strict=True)
    levels_by_column = zip(*levels_by_part, strict=True)
    return tuple(map(_levels_of_all_parts, columns, levels_by_column)), sum_nested(facts)


def surveyed_levels_and_facts(
    source: Source, columns: Sequence[Hashable], class_var: Hashable, weights: Hashable
) -> tuple[Levels, Facts]:
    """Return the levels of columns, sorted unless all parts declare the same, and row facts."""
    of_all_rows = Reading(Schema((), ()))
    of_known = replace(of_all_rows, required=class_var, weights=weights)
    facts = row_facts_from_source(source, columns, of_known)
    if facts is not None:
        found = []
        for counts in label_counts_from_source(source, [(name,) for name in columns], of_all_rows):
            labels = tuple([label for (label,) in counts if label is not None])
            found.append(ColumnLevels(labels, declared=False))
        return tuple(map(_sorted_levels, columns, found)), facts
    look = partial(_levels_and_facts_of_frame, columns, class_var, weights)
    wanted = [*columns, *([] if weights is None else [weights])]
    column_levels, facts = source.reduce(look, partial(_merge_levels_and_facts, columns), wanted)
    return tuple(map(_sorted_levels, columns, column_levels)), facts


def _levels_of_all_parts(name: Hashable, parts: Sequence[ColumnLevels]) -> ColumnLevels:
    filled = [part for part in parts if part.labels]
    # True equals 1, so both would be one level, whose label would depend on the order.
    if len({any(isinstance(label, bool) for label in part.labels) for part in filled}) > 1:
        raise _two_types_error(name, [label for part in filled for label in part.labels])
    if all(part == filled[0] for part in filled[1:]):
        return filled[0] if filled else parts[0]
    labels = tuple(dict.fromkeys(label for part in filled for label in part.labels))
    if len(labels) > MAX_LEVELS:
        raise ValueError(
            f"dataset: {shown(name)} has more than {MAX_LEVELS:,} levels, like a column of "
            "identifiers. Drop it, or merge rare levels in the same way in each frame."
        )
    return ColumnLevels(labels, declared=False, floats=all(part.floats for part in filled))


def _sorted_levels(name: Hashable, levels: ColumnLevels) -> tuple[Any, ...]:
    if levels.declared:
        return levels.labels
    if levels.floats and levels.labels:
        numbers = pd.Series(levels.labels, dtype=float)
        check_categorical({name: (numbers, "floating")}, None)
    try:
        return tuple(sorted(levels.labels))
    except TypeError:
        raise _two_types_error(name, levels.labels) from None


def _two_types_error(name: Hashable, labels: Sequence[Hashable]) -> TypeError:
    kinds = dict.fromkeys(type(label).__name__ for label in labels)
    return TypeError(
        f"column {shown(name)} must have one type in all parts of the data; got {listed(kinds)}. "
        f"Read it as one, for example with dtype={{{shown(name)}: str}}."
    )
