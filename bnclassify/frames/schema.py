"""The names of columns and their levels, and which columns to read."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..tools.checks import check_columns
from ..tools.immutable import EMPTY, cached_property
from ..tools.messages import listed

Levels = tuple[tuple[Hashable, ...], ...]

Known: TypeAlias = Mapping[Hashable, tuple[Hashable, ...]]
"""Levels by column."""


MISSING = "(missing)"
"""The last level of a column whose missing values are a level."""


def make_mark_missing(column: str) -> str:
    """Return how to make a label missing that is the name of missing values."""
    text = f"{column}.astype('string')"
    return f"Make it missing, with {column} = {text}.mask({column} == {MISSING!r}), or rename it"


@dataclass(frozen=True)
class Schema:
    """The names of columns and their levels, without rows.

    ``levels[i]`` is the tuple of labels of a coded column: code ``k`` stands
    for label ``k``. A column of numbers has none. ``ordered`` holds the names
    of columns whose levels are declared to have an order.
    """

    columns: tuple[Hashable, ...]
    levels: Levels
    ordered: frozenset[Hashable] = frozenset()

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple([len(labels) for labels in self.levels])

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Position of each column by name."""
        return {column: i for i, column in enumerate(self.columns)}

    @cached_property
    def levels_of(self) -> Known:
        """The levels by column."""
        return dict(zip(self.columns, self.levels, strict=True))

    @cached_property
    def numeric(self) -> dict[Hashable, bool]:
        """The columns of numbers, which have no levels, in the form of `encode_frame`."""
        return {name: True for name, labels in self.levels_of.items() if not labels}

    def check_without_mark(self, known: Known, argument: str) -> None:
        """Raise a ValueError for a label that is the name of missing values, if it is not known."""
        marked = [n for n, own in self.levels_of.items() if n not in known and MISSING in own]
        if marked:
            raise ValueError(
                f"{argument} must not have the label {MISSING!r}, by which models call missing "
                f"values; got it in {listed(marked)}. "
                f"{make_mark_missing(f'{argument}[{marked[0]!r}]')}. With missing_level, models "
                "learn from missing values as a level."
            )

    def select(self, columns: Sequence[Hashable]) -> Schema:
        """Return the schema of some columns, in their order."""
        if tuple(columns) == self.columns:
            return self
        levels = tuple([self.levels_of[column] for column in columns])
        return Schema(tuple(columns), levels, self.ordered)

    def with_levels(self, levels: Known) -> Schema:
        """Return the schema with other levels of some columns."""
        known = {**self.levels_of, **levels}
        return Schema(self.columns, tuple([known[name] for name in self.columns]), self.ordered)

    def with_missing_level(self, columns: Collection[Hashable]) -> Schema:
        """Return the schema with a last level for the missing values of some columns."""
        chosen = {name: self.levels_of[name] for name in self.columns if name in columns}
        lacking = {name: levels for name, levels in chosen.items() if MISSING not in levels}
        return self.with_levels({name: (*levels, MISSING) for name, levels in lacking.items()})


class Columns(NamedTuple):
    """Columns to read: their names (None for all), and which of them are ``numeric``.

    The ``known`` levels need not occur. Columns in ``raw`` are numbers unless
    they are encoded; those that map to True must be numbers. Of data that
    stay where they are, rows that lack the ``required`` column are dropped, and ``weights``
    names the column of weights. A KeyError for absent columns names the
    argument ``named_by``.
    """

    names: Collection[Hashable] | None = None
    known: Known | None = None
    numeric: Collection[Hashable] = ()
    named_by: str = "dataset"
    raw: Mapping[Hashable, bool] = EMPTY
    required: Hashable = None
    weights: Hashable = None

    def check_names_of_columns(self, columns: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """Return the names, each once, or raise a KeyError for names that are not columns."""
        if self.names is None:
            return tuple(columns)
        names = list(self.names)
        check_columns(names, columns, self.named_by)
        return tuple(dict.fromkeys(names))

    def numeric_by_name(self) -> dict[Hashable, bool]:
        """Return the columns of a frame that are read as numbers, and if they must be numbers."""
        return {**self.raw, **dict.fromkeys(self.numeric, True)}


ALL = Columns()
