"""Raw data that stay where they are, and the pass over them that finds the levels of columns."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from ..dataset import ALL, Columns, Known, Levels, Opened, Prepare, Schema
from ..frames import Frame, check_categorical, check_without_mark
from ..tools.arrays import Mask, sum_nested
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


Survey = tuple[Levels, Mask, Facts]
"""The levels of columns, which of them are floats, and facts about the rows."""


def _survey_of_frame(
    columns: Sequence[Hashable], class_var: Hashable, weights: Hashable, frame: pd.DataFrame
) -> Survey:
    """Return the survey of a frame; workers call this."""
    data = Frame(frame, "dataset").encode_columns(columns, whole_floats=True)
    data = replace(data, weights=weights_from_column(frame, weights))
    pairs = zip(columns, data.levels, strict=True)
    floats = [not labels or is_float_dtype(frame[name].dtype) for name, labels in pairs]
    return data.levels, np.array(floats, dtype=bool), known_rows_and_facts(data, class_var)[1]


def _joined_surveys(columns: Sequence[Hashable], surveys: Sequence[Survey]) -> Survey:
    levels_by_part, floats, facts = zip(*surveys, strict=True)
    levels = tuple(map(joined_levels, columns, zip(*levels_by_part, strict=True)))
    for name, labels in zip(columns, levels, strict=True):
        if len(labels) > MAX_LEVELS:
            raise ValueError(
                f"dataset: {shown(name)} has more than {MAX_LEVELS:,} levels, like a column of "
                "identifiers. Drop it, or merge rare levels in the same way in each frame."
            )
    return levels, np.all(floats, axis=0), sum_nested(facts)


def surveyed_levels_and_facts(
    source: Source, columns: Sequence[Hashable], class_var: Hashable, weights: Hashable
) -> tuple[Levels, Facts]:
    """Return the levels of columns, sorted unless all parts declare the same, and row facts."""
    of_all_rows = Reading(Schema((), ()))
    of_known = replace(of_all_rows, required=class_var, weights=weights)
    facts = row_facts_from_source(source, columns, of_known)
    if facts is not None:
        found = []
        families = [(name,) for name in columns]
        for counts in label_counts_from_source(source, families, of_all_rows):
            found.append([label for (label,) in counts if label is not None])
        return tuple(map(_sorted_levels, columns, found)), facts
    look = partial(_survey_of_frame, columns, class_var, weights)
    wanted = [*columns, *([] if weights is None else [weights])]
    levels, floats, facts = source.reduce(look, partial(_joined_surveys, columns), wanted)
    for name, labels in compress(zip(columns, levels, strict=True), floats):
        if labels:
            check_categorical({name: (pd.Series(labels, dtype=float), "floating")}, None)
    return levels, facts


def joined_levels(name: Hashable, parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the levels of a column in all parts: those of each or, if they differ, sorted."""
    filled = [labels for labels in parts if labels]
    # True equals 1, so both would be one level, whose label would depend on the order.
    if len({any(isinstance(label, bool) for label in labels) for labels in filled}) > 1:
        raise two_types_error(name, [*chain.from_iterable(filled)])
    if all(labels == filled[0] for labels in filled[1:]):
        return filled[0] if filled else ()
    return _sorted_levels(name, dict.fromkeys(chain.from_iterable(filled)))


def _sorted_levels(name: Hashable, labels: Collection[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:
        raise two_types_error(name, labels) from None


def two_types_error(name: Hashable, labels: Iterable[Hashable]) -> TypeError:
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
