"""Raw data that stay where they are, and the pass over them that finds the levels of columns."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import is_float_dtype

from ..dataset import ALL, Columns, Known, Levels, Opened, Prepare, Schema
from ..frames import Frame, check_categorical, check_without_mark, is_categorical
from ..tools.arrays import sum_nested
from ..tools.immutable import cached_property
from ..tools.messages import listed, shown
from .partitions import (
    Facts,
    Memo,
    Partitions,
    Reading,
    known_rows_and_facts,
    label_counts_from_source,
    row_facts_from_source,
    weights_from_column,
)
from .sources import Source

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
    data = Frame(frame, "dataset").encode_columns(columns, whole_floats=True)
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
        raise two_types_error(name, [label for part in filled for label in part.labels])
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
        raise two_types_error(name, levels.labels) from None


def two_types_error(name: Hashable, labels: Sequence[Hashable]) -> TypeError:
    """Return the error about a column whose labels have several types."""
    kinds = dict.fromkeys(type(label).__name__ for label in labels)
    return TypeError(
        f"column {shown(name)} must have one type in all parts of the data; got {listed(kinds)}. "
        f"Read it as one, for example with dtype={{{shown(name)}: str}}."
    )


@dataclass(frozen=True)
class Parts(Opened[Partitions]):
    """Data that stay where they are, before encoding; ``preparation`` converts their columns."""

    source: Source
    argument: str
    preparation: Prepare | None = None

    in_parts = True

    @cached_property
    def columns(self) -> Sequence[Hashable]:
        return list(self.source.names)

    def encode(self, wanted: Columns = ALL) -> Partitions:
        """Return columns in the given order, after a pass for levels if some are unknown."""
        required, weights = wanted.required, wanted.weights
        names = [name for name in wanted.check_names_of_columns(self.columns) if name != weights]
        source = self.source
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
        check_without_mark(schema, wanted.known or {}, self.argument)
        return Partitions(source, Reading(schema, required, weights, self.preparation), memo=memo)

    def prepared(self, preparation: Prepare, known: Known) -> Parts:
        return replace(self, preparation=preparation)

    def encode_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Partitions:
        raise TypeError(
            "numbers must be a dict {column: method} if data are counted part by part; got "
            "text. Name the numeric columns."
        )
