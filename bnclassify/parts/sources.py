"""Sources of data that are read in parts: chunks, Dask DataFrames, and types of your own.

To add one, write a class with the members of `Source`; its values are accepted
as data. A source is surveyed for the levels of its columns, and then read or
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar, runtime_checkable

import pandas as pd

from ..frames import Foreign, foreign_to_pandas, is_dask, is_foreign
from ..tools.calls import with_progress_bar
from ..tools.immutable import cached_property
from ..tools.messages import listed, repeated_items

T = TypeVar("T")

Make = Callable[[pd.DataFrame], T]
Merge = Callable[[Sequence[T]], T]


NEEDS_FUNCTION = (
    "must be a function that returns a new iterator at each call, such as "
    "lambda: pd.read_csv(path, chunksize=100_000)"
)


@runtime_checkable
class Source(Protocol):
    """Frames with the same columns, which are read one at a time.

    A source that can count rows also has the method
    ``count(families, required, weights)``, which is called before rows are
    read. It returns, for each family, a tuple of columns, the number of rows by
    tuple of labels, or None for all. A missing value has the label None. Only
    the rows in which the ``required`` column is known are counted, all of them
    if it is None; ``weights`` names a column whose sum replaces the number of
    rows, or is None.

    It is read into memory if it fits. A source that can do so at once has the
    method ``read()``, which returns a data frame, and ``n_cells``, the number
    of its values, so that rows that do not fit are not read.
    """

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns."""

    @property
    def declared(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The levels of columns with known levels, the same in all frames."""

    def reduce(
        self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None
    ) -> T:
        """Call ``make`` on each frame, or some of its columns, and merge the results in order."""


LabelCounts = Mapping[tuple[Hashable, ...], float]


class Chunks:
    """Frames of which one is in memory at a time; a function makes an iterator for each pass."""

    def __init__(self, frames: Iterable[Any] | Callable[[], Iterable[Any]], argument: str) -> None:
        if isinstance(frames, Iterator):
            raise ValueError(
                f"{argument} {NEEDS_FUNCTION}; got an iterator, which can be read only once."
            )
        self.argument, self._frames = argument, frames
        self.declared: Mapping[Hashable, tuple[Hashable, ...]] = {}
        self._opened: tuple[pd.DataFrame, Iterator[Any]] | None = None
        self._rows: int | None = None

    @cached_property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns of the first frame."""
        return self._first_frame().columns.tolist()

    @property
    def ordered_categories(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories of the first frame that have an order."""
        return ordered_categories_by_column(self._first_frame())

    def reduce(
        self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None
    ) -> T:
        """Iterate over the frames; see `Source`."""
        total: list[T] = []
        for part in with_progress_bar(self._frames_in_turn(columns), desc="chunks", unit=" chunks"):
            total = [merge([*total, make(part)])]
        return total[0]

    def _first_frame(self) -> pd.DataFrame:
        """Return the first frame, which is kept for the next pass."""
        if self._opened is None:
            made = self._frames() if callable(self._frames) else self._frames
            if isinstance(made, pd.DataFrame | str | Mapping) or not isinstance(made, Iterable):
                got = f"got a function that returns {type(made).__name__}."
                raise TypeError(f"{self.argument} {NEEDS_FUNCTION}; {got}")
            frames = iter(made)
            first = next(frames, None)
            if first is None:
                raise ValueError(f"{self.argument} {NEEDS_FUNCTION}; got no data frames.")
            self._opened = _chunk_as_pandas(first, self.argument), frames
        return self._opened[0]

    def _frames_in_turn(self, columns: Sequence[Hashable] | None) -> Iterator[pd.DataFrame]:
        """Iterate over columns of the frames; check that each pass has these and as many rows."""
        first = self._first_frame()
        assert self._opened is not None
        (_, others), self._opened = self._opened, None
        rows = 0
        for part, made in enumerate(chain([first], others), start=1):
            frame = _chunk_as_pandas(made, self.argument)
            if absent := [name for name in columns or () if name not in frame.columns]:
                raise KeyError(
                    f"{self.argument}: part {part} has no column {listed(absent)}. Give each part "
                    "the columns of the first, with part.reindex(columns=first.columns)."
                )
            if twice := [name for name in repeated_items(frame.columns) if name in (columns or ())]:
                raise ValueError(
                    f"{self.argument}: part {part} has column {listed(twice)} more than once. Keep "
                    "the first, with part.loc[:, ~part.columns.duplicated()]."
                )
            rows += len(frame)
            yield frame if columns is None else frame[list(columns)]
        self._rows = rows if self._rows is None else self._rows
        if rows != self._rows:
            found = f"{self._rows} rows in the first pass and {rows} in a later one"
            raise ValueError(f"{self.argument} {NEEDS_FUNCTION}; got {found}.")


class DaskFrame:
    """The partitions of a Dask DataFrame, read by its workers; results are merged in a tree."""

    def __init__(self, frame: Foreign, argument: str) -> None:
        self.frame = frame
        self.names: list[Hashable] = list(frame.columns)

    @property
    def declared(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories that are known to Dask."""
        types = zip(self.names, self.frame.dtypes, strict=True)
        named = [name for name, dtype in types if isinstance(dtype, pd.CategoricalDtype)]
        columns = {name: self.frame[name].cat for name in named}
        return {name: tuple(column.categories) for name, column in columns.items() if column.known}

    @property
    def ordered_categories(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories that have an order and are known to Dask."""
        empty: Any = self.frame._meta
        return ordered_categories_by_column(empty)

    def reduce(
        self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None
    ) -> T:
        """Read the partitions with the scheduler of Dask; see `Source`."""
        from dask.delayed import delayed

        frame = self.frame if columns is None else self.frame[list(columns)]
        together = delayed(merge, pure=False)
        # Mapped, not delayed, so that a partition is read and counted in one task, and never kept
        # or sent.
        nothing = pd.Series([], dtype=object)
        names = list(frame.columns)
        made = frame.map_partitions(
            _make_of_columns, make, names, meta=nothing, enforce_metadata=False
        )
        results: list[Foreign] = list(made.to_delayed())
        while len(results) > 1:
            # 16: number of results that are merged at once
            results = [together(results[i : i + 16]) for i in range(0, len(results), 16)]
        total: T = results[0].compute()
        return total


def _make_of_columns(part: pd.DataFrame, make: Make[T], names: list[Hashable]) -> T:
    """Call ``make`` on a partition, whose columns can be in another order."""
    return make(part if part.columns.tolist() == names else part[names])


def ordered_categories_by_column(frame: pd.DataFrame) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the categories of columns that have an order."""
    return {
        name: tuple(dtype.categories)
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
    }


def is_delayed(data: object) -> bool:
    """Whether data is a delayed value of Dask, which can be called but does not return frames."""
    return type(data).__module__ == "dask.delayed"


SOURCES: list[tuple[Callable[[Any], bool], Callable[[Any, str], Source]]] = []
"""Tests of the type of data, and functions of data and the argument's name that make a `Source`."""


def find_source(data: object, argument: str) -> Source | None:
    """Return the source of partitioned data, or None."""
    if isinstance(data, pd.DataFrame) or is_delayed(data):  # which has every attribute
        return None
    if isinstance(data, Source):
        return data
    return next((make(data, argument) for test, make in SOURCES if test(data)), None)


def _is_chunks(data: object) -> bool:
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, pd.DataFrame) or is_foreign(one) for one in data)
    return (callable(data) and not is_delayed(data)) or isinstance(data, Iterator)


SOURCES += [(is_dask, DaskFrame), (_is_chunks, Chunks)]


def _chunk_as_pandas(frame: Any, argument: str) -> pd.DataFrame:
    """Return one of several frames, or batches of Arrow, as a data frame of pandas."""
    try:
        made = foreign_to_pandas(frame)
    except ImportError:  # without which batches of Arrow can be read, too
        made = frame.to_pandas()
    if not isinstance(made, pd.DataFrame):
        raise TypeError(f"{argument} must contain data frames; got {type(frame).__name__}.")
    return made
