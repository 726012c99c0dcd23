"""The levels of data in parts, found in one pass over it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from ..base.arrays import added
from ..base.messages import listed, shown
from .encoding import encode_columns
from .partitions import Facts, Reading, ask_source, facts_of_source, in_blocks, with_class
from .schema import Dataset, Levels, Schema
from .sources import Source
from .weights import check_weights

MAX_LEVELS = 2**20
"""A column may have this many levels before it is taken for what identifies rows."""


class ColumnLevels(NamedTuple):
    """Levels of a column, from some of the parts.

    Attributes
    ----------
    labels : tuple
    declared : bool
        Whether they are the categories of all these parts, in their order; else they are to be sorted.
    """

    labels: tuple[Any, ...]
    declared: bool


@dataclass(frozen=True)
class Survey:
    """What workers do with a frame to find levels.

    Attributes
    ----------
    columns : tuple
    class_var, weights : str or None
        As in `Reading`.
    """

    columns: tuple[Hashable, ...]
    class_var: Hashable = None
    weights: Hashable = None

    def __call__(self, frame: pd.DataFrame) -> tuple[tuple[ColumnLevels, ...], Facts]:
        """Return the levels of columns in a frame, and what else there is to know of its rows."""
        return in_blocks(self._of_block, self.merge, frame)

    def _of_block(self, frame: pd.DataFrame) -> tuple[tuple[ColumnLevels, ...], Facts]:
        weights = None if self.weights is None else check_weights(frame[self.weights].array, frame.index)
        data = encode_columns(frame, self.columns)
        where = [data.positions[name] for name in self.columns]
        data = Dataset(data.schema.select(self.columns), data.codes[where], data.index, weights)
        column_levels = tuple(
            ColumnLevels(labels, isinstance(frame[name].dtype, pd.CategoricalDtype))
            for name, labels in zip(self.columns, data.levels, strict=True)
        )
        return column_levels, with_class(data, self.class_var)[1]

    def merge(self, results: Sequence[tuple[tuple[ColumnLevels, ...], Facts]]) -> Any:
        """Unite the levels of parts."""
        column_levels, facts = zip(*results, strict=True)
        united = [_unite(name, parts) for name, *parts in zip(self.columns, *column_levels, strict=True)]
        return tuple(united), added(facts)


def survey(
    source: Source, columns: Sequence[Hashable], class_var: Hashable = None, weights: Hashable = None
) -> tuple[Levels, Facts]:
    """Return the levels of columns, and what else there is to know of the rows, in one pass.

    Categories that are the same in all parts stay as they are; what differs from part to part is sorted.
    """
    reading = Reading(Schema((), ()), class_var, weights)
    counted = ask_source(source, [(name,) for name in columns], replace(reading, required=None, weights=None))
    facts = facts_of_source(source, columns, reading)
    if counted is not None and facts is not None:
        labels = [ColumnLevels(tuple([label for (label,) in counts]), False) for counts in counted]
        return tuple(map(_in_order, columns, labels)), facts
    look = Survey(tuple(columns), class_var, weights)
    wanted = [*columns, *([] if weights is None else [weights])]
    column_levels, facts = source.reduce(look, look.merge, wanted)
    return tuple(
        [_in_order(name, levels) for name, levels in zip(columns, column_levels, strict=True)]
    ), facts


def _unite(name: Hashable, parts: Sequence[ColumnLevels]) -> ColumnLevels:
    filled = [part for part in parts if part.labels]
    # True equals 1, so these would be one level, and which of them is shown would depend on the order.
    if len({any(isinstance(label, bool) for label in part.labels) for part in filled}) > 1:
        raise _of_two_types(name, [label for part in filled for label in part.labels])
    if all(part == filled[0] for part in filled[1:]):
        return filled[0] if filled else parts[0]
    labels = tuple(dict.fromkeys(label for part in filled for label in part.labels))
    if len(labels) > MAX_LEVELS:
        raise ValueError(
            f"dataset: {shown(name)} has more than {MAX_LEVELS:,} levels, as a column of identifiers has; "
            "leave it out, or merge rare levels of each frame alike"
        )
    return ColumnLevels(labels, declared=False)


def _in_order(name: Hashable, levels: ColumnLevels) -> tuple[Any, ...]:
    if levels.declared:
        return levels.labels
    try:
        return tuple(sorted(levels.labels))
    except TypeError:
        raise _of_two_types(name, levels.labels) from None


def _of_two_types(name: Hashable, labels: Sequence[Any]) -> TypeError:
    kinds = dict.fromkeys(type(label).__name__ for label in labels)
    return TypeError(
        f"column {shown(name)}: expected one type of categories in all parts of the data, got "
        f"{listed(kinds)}; read it as one, for example with dtype={{{shown(name)}: str}}"
    )
