"""Sources of data: chunks, Dask DataFrames, frames of other libraries, and registered types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
import pandas as pd

from ..base.arrays import ArrayOf
from ..base.calls import with_bar
from ..base.immutable import cached_property
from ..base.messages import listed

_OWN = (pd.DataFrame, pd.Series, Mapping, np.ndarray, list, tuple, str)

_MODULES = ("polars", "pyarrow", "duckdb", "_duckdb", "ibis", "pyspark", "sqlframe", "modin", "cudf")
"""Libraries with frames, of which some do not have the interface of Arrow."""


class AnyFrame(Protocol):
    """A data frame of any library, as type checkers see it."""

    @property
    def columns(self) -> Any:
        """The columns or their names."""


class Foreign(Protocol):
    """An object of another library, such as a column of ibis or narwhals; its methods return others."""

    def __getattr__(self, name: str, /) -> Foreign: ...
    def __call__(self, *arguments: object, **named: object) -> Foreign: ...
    def __getitem__(self, at: object, /) -> Foreign: ...
    def __iter__(self) -> Iterator[Foreign]: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __mul__(self, other: object, /) -> Foreign: ...
    def __sub__(self, other: object, /) -> Foreign: ...
    def __and__(self, other: object, /) -> Foreign: ...
    def __ge__(self, other: object, /) -> Foreign: ...
    def __gt__(self, other: object, /) -> Foreign: ...
    def __le__(self, other: object, /) -> Foreign: ...
    def __lt__(self, other: object, /) -> Foreign: ...


def converted(data: object) -> object:
    """Return a data frame or Series of another library as one of pandas, and all other data unchanged."""
    if not _is_foreign(data):
        return data
    opened = _opened_by_narwhals(data)
    if not hasattr(opened, "implementation"):  # such as an array of Arrow
        return data
    if hasattr(opened, "collect"):
        opened = opened.collect()
    if hasattr(opened, "columns"):
        columns = {str(name): _column_for_pandas(opened[name]) for name in opened.columns}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(opened)))
    return pd.Series(cast("ArrayOf[Any]", _column_for_pandas(opened)), name=str(opened.name))


def in_kind_of(given: object, answer: pd.Series[Any] | pd.DataFrame) -> Any:
    """Return a Series or data frame of pandas in the library of the data that were given."""
    if not _is_foreign(given):
        return answer
    import narwhals.stable.v2 as nw

    implementation = _opened_by_narwhals(given).implementation
    is_lazy = implementation.is_spark_like() or implementation.is_duckdb() or implementation.is_ibis()
    backend: Foreign = nw.Implementation.PYARROW if is_lazy else implementation
    if isinstance(answer, pd.Series):
        return nw.new_series(str(answer.name), *_values_and_type(answer), backend=backend).to_native()
    names = ["_".join(map(str, name if isinstance(name, tuple) else (name,))) for name in answer.columns]
    if len(set(names)) < len(names):
        raise ValueError(
            f"newdata must be a pandas DataFrame if columns of the result have the same name as text; got "
            f"{type(given).__name__} and the names {listed(names)}. Convert it with .to_pandas()."
        )
    values, types = zip(*[_values_and_type(column) for _, column in answer.items()], strict=True)
    schema = dict(zip(names, types, strict=True))
    return nw.from_dict(dict(zip(names, values, strict=True)), schema, backend=backend).to_native()


def _is_foreign(data: object) -> bool:
    if isinstance(data, _OWN):
        return False
    return hasattr(data, "__arrow_c_stream__") or type(data).__module__.partition(".")[0] in _MODULES


def _opened_by_narwhals(data: object) -> Foreign:
    """Return a frame or Series as narwhals wraps it, from any object with the interface of Arrow."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        name = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise ImportError(
            f"Data of type {name} require narwhals, which is not installed. Run pip install "
            "'pybnclassify[frames]', or convert them to a pandas DataFrame."
        ) from None
    opened: Foreign = nw.from_native(data, allow_series=True, pass_through=True)
    if opened is data and hasattr(data, "__arrow_c_stream__"):
        opened = nw.from_arrow(data, backend="pyarrow")
    return opened


def _column_for_pandas(series: Foreign) -> object:
    """Return a column as pandas would have it: integers and bools with missing values are nullable."""
    dtype, implementation = series.dtype, series.implementation
    if implementation.is_pandas_like():
        return series.to_pandas().array
    if implementation.is_pyarrow() and str(dtype) == "Categorical":
        return categories_of_arrow(series.to_native())
    if dtype.is_float():
        return series.to_numpy()
    if not (dtype.is_integer() or str(dtype) == "Boolean") or str(dtype) in _WIDE:
        values, categories = (
            pd.Series(list(series.to_list()), dtype=object),
            getattr(dtype, "categories", None),
        )
        return values.array if categories is None else pd.Categorical(values, list(categories))
    filled = np.array(series.fill_null(0 if dtype.is_integer() else False).to_numpy())
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if not missing.any():
        return filled
    return (pd.arrays.IntegerArray if dtype.is_integer() else pd.arrays.BooleanArray)(filled, missing)


def categories_of_arrow(chunked: Foreign) -> pd.Categorical:
    """Return categories of Arrow, whose dictionary may repeat a label, as those of pandas."""
    labels = chunked.unify_dictionaries().combine_chunks().dictionary.to_pylist()
    known = dict.fromkeys(label for label in labels if label is not None)
    return pd.Categorical(list(chunked.to_pylist()), list(known), ordered=bool(chunked.type.ordered))


def _values_and_type(column: pd.Series[Any]) -> tuple[object, Foreign]:
    """Return numbers or labels and their type; labels of other types as text, missing ones as None."""
    import narwhals.stable.v2 as nw

    if column.dtype.kind == "f":
        return column.to_numpy(), nw.Float64()
    labels = column.astype(object).where(column.notna(), None)
    types: dict[str, Foreign] = {"integer": nw.Int64(), "boolean": nw.Boolean()}
    kind = pd.api.types.infer_dtype(column.cat.categories)
    if kind in types:
        return labels.tolist(), types[kind]
    return [None if label is None else str(label) for label in labels], nw.String()


_WIDE = ("Int128", "UInt128")
"""Types of integers that NumPy does not know."""

T = TypeVar("T")

Make = Callable[[pd.DataFrame], T]
Merge = Callable[[Sequence[T]], T]

_MERGED = 16  # number of results that are merged at once

NEEDS_FUNCTION = (
    "must be a function that returns a new iterator at each call, such as "
    "lambda: pd.read_csv(path, chunksize=100_000)"
)


@runtime_checkable
class Source(Protocol):
    """Frames with the same columns, which are read one at a time."""

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns."""

    @property
    def declared(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The levels of columns with known levels, the same in all frames."""

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Call ``make`` on each frame, or on some of its columns, and merge the results in order."""


LabelCounts = Mapping[tuple[Hashable, ...], float]


class CountingSource(Source, Protocol):
    """A source that can count rows, and is asked for counts before rows are fetched."""

    def count(
        self, families: Sequence[tuple[Hashable, ...]], required: Hashable = None, weights: Hashable = None
    ) -> Sequence[LabelCounts] | None:
        """Return for each family, a tuple of columns, the number of rows by tuple of labels.

        A missing value has the label None. Only the rows in which the ``required`` column is known are
        counted; ``weights`` names a column whose sum replaces the number of rows. It can return None.
        """


class Chunks:
    """Frames of which one is in memory at a time; a function returns a new iterator for each pass."""

    def __init__(self, frames: Iterable[Any] | Callable[[], Iterable[Any]], argument: str) -> None:
        if isinstance(frames, Iterator):
            raise ValueError(f"{argument} {NEEDS_FUNCTION}; got an iterator, which can be read only once.")
        self.argument, self._frames = argument, frames
        self.declared: Mapping[Hashable, tuple[Hashable, ...]] = {}
        self._opened: tuple[pd.DataFrame, Iterator[Any]] | None = None
        self._rows: int | None = None

    @cached_property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns of the first frame."""
        return self._peek().columns.tolist()

    @property
    def ordered(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories of the first frame that have an order."""
        return ordered_categories(self._peek())

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Iterate over the frames; see `Source`."""
        total: list[T] = []
        for part in with_bar(self._walk(columns), desc="chunks", unit=" chunks"):
            total = [merge([*total, make(part)])]
        return total[0]

    def _peek(self) -> pd.DataFrame:
        """Return the first frame, which is kept for the next pass."""
        if self._opened is None:
            frames = iter(self._open())
            first = next(frames, None)
            if first is None:
                raise ValueError(f"{self.argument} {NEEDS_FUNCTION}; got no data frames.")
            self._opened = _as_pandas(first, self.argument), frames
        return self._opened[0]

    def _walk(self, columns: Sequence[Hashable] | None) -> Iterator[pd.DataFrame]:
        """Iterate over columns of the frames, and check that each pass has these and as many rows."""
        first = self._peek()
        assert self._opened is not None
        (_, others), self._opened = self._opened, None
        rows = 0
        for part, made in enumerate(chain([first], others), start=1):
            frame = _as_pandas(made, self.argument)
            if absent := [name for name in columns or () if name not in frame.columns]:
                raise KeyError(
                    f"{self.argument}: part {part} has no column {listed(absent)}. Give each part the "
                    "columns of the first, with part.reindex(columns=first.columns)."
                )
            rows += len(frame)
            yield frame if columns is None else frame[list(columns)]
        self._rows = rows if self._rows is None else self._rows
        if rows != self._rows:
            found = f"{self._rows} rows in the first pass and {rows} in a later one"
            raise ValueError(f"{self.argument} {NEEDS_FUNCTION}; got {found}.")

    def _open(self) -> Iterable[object]:
        frames = self._frames() if callable(self._frames) else self._frames
        if isinstance(frames, pd.DataFrame | str | Mapping) or not isinstance(frames, Iterable):
            raise TypeError(
                f"{self.argument} {NEEDS_FUNCTION}; got a function that returns {type(frames).__name__}."
            )
        return frames


class DaskFrame:
    """The partitions of a Dask DataFrame, read by its workers; results are merged in a tree."""

    def __init__(self, frame: Foreign, argument: str) -> None:
        self.frame = frame
        self.names: list[Hashable] = list(frame.columns)

    @property
    def declared(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories that are known to Dask."""
        dtypes = zip(self.names, self.frame.dtypes, strict=True)
        categories = {n: self.frame[n].cat for n, dtype in dtypes if isinstance(dtype, pd.CategoricalDtype)}
        return {name: tuple(column.categories) for name, column in categories.items() if column.known}

    @property
    def ordered(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories that have an order and are known to Dask."""
        empty: Any = self.frame._meta
        return ordered_categories(empty)

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Read the partitions with the scheduler of Dask; see `Source`."""
        from dask.delayed import delayed

        frame = self.frame if columns is None else self.frame[list(columns)]
        together = delayed(merge, pure=False)
        # Mapped, not delayed, so that a partition is read and counted in one task, and never kept or sent.
        nothing = pd.Series([], dtype=object)
        made = frame.map_partitions(make, meta=nothing, enforce_metadata=False)
        results: list[Foreign] = list(made.to_delayed())
        while len(results) > 1:
            results = [together(results[i : i + _MERGED]) for i in range(0, len(results), _MERGED)]
        return cast("T", results[0].compute())


def ordered_categories(frame: pd.DataFrame) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the categories of columns that have an order."""
    dtypes = {name: frame[name].dtype for name in frame.columns}
    return {
        n: tuple(d.categories) for n, d in dtypes.items() if isinstance(d, pd.CategoricalDtype) and d.ordered
    }


def is_dask(data: object) -> bool:
    """Whether data is a Dask DataFrame, found without importing Dask."""
    return type(data).__module__.partition(".")[0] == "dask" and type(data).__name__ == "DataFrame"


def is_delayed(data: object) -> bool:
    """Whether data is a delayed value of Dask, which can be called but does not return frames."""
    return type(data).__module__ == "dask.delayed"


MakeSource = Callable[[Any, str], Source]

_SOURCES: list[tuple[Callable[[Any], bool], MakeSource]] = []


def register_source(test: Callable[[Any], bool], make: MakeSource) -> None:
    """Accept data of a new type wherever partitioned data are accepted.

    ``make(data, argument)`` returns the `Source` of data for which ``test(data)`` is true; errors call the
    data by the name of the argument. The last registered source has priority.
    """
    _SOURCES.insert(0, (test, make))


def find_source(data: object, argument: str) -> Source | None:
    """Return the source of partitioned data, or None."""
    if isinstance(data, pd.DataFrame) or is_delayed(data):  # which has every attribute
        return None
    if isinstance(data, Source):
        return data
    return next((make(data, argument) for test, make in _SOURCES if test(data)), None)


def in_pandas(data: Any) -> Any:
    """Return a data frame or Series of another library as one of pandas, unless it is a source of parts."""
    return data if find_source(data, "dataset") is not None else converted(data)


def _is_chunks(data: object) -> bool:
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, pd.DataFrame) or _is_foreign(one) for one in data)
    return (callable(data) and not is_delayed(data)) or isinstance(data, Iterator)


register_source(_is_chunks, Chunks)
register_source(is_dask, DaskFrame)


def _as_pandas(frame: object, argument: str) -> pd.DataFrame:
    """Return one of several frames, or batches of Arrow, as a data frame of pandas."""
    try:
        made = converted(frame)
    except ImportError:  # without which batches of Arrow can be read, too
        made = cast("Foreign", frame).to_pandas()
    if not isinstance(made, pd.DataFrame):
        raise TypeError(f"{argument} must contain data frames; got {type(frame).__name__}.")
    return made
