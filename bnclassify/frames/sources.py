"""Sources of data: chunks, Dask DataFrames, frames of other libraries, and registered types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import pandas as pd

from ..base.calls import open_bar
from ..base.immutable import cached_property
from ..base.messages import listed
from .dataset import Countable

_OWN = (pd.DataFrame, pd.Series, Mapping, np.ndarray, list, tuple, str)

_MODULES = ("polars", "pyarrow", "duckdb", "_duckdb", "ibis", "pyspark", "sqlframe", "modin", "cudf")
"""Libraries with frames, of which some do not have the interface of Arrow."""


class AnyFrame(Protocol):
    """A data frame of any library, as type checkers see it."""

    @property
    def columns(self) -> Any:
        """The columns or their names."""


def converted(data: Any) -> Any:
    """Return a data frame or Series of another library as one of pandas, and all other data unchanged."""
    if not _is_foreign(data):
        return data
    opened = _opened(data)
    if not hasattr(opened, "implementation"):  # such as an array of Arrow
        return data
    if hasattr(opened, "collect"):
        opened = opened.collect()
    if hasattr(opened, "columns"):
        columns = {name: _column(opened[name]) for name in opened.columns}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(opened)))
    return pd.Series(_column(opened), name=opened.name)


def in_kind_of(given: Any, answer: pd.Series[Any] | pd.DataFrame) -> Any:
    """Return a Series or data frame of pandas in the library of the data that were given."""
    if not _is_foreign(given):
        return answer
    import narwhals.stable.v2 as nw

    implementation = _opened(given).implementation
    is_lazy = implementation.is_spark_like() or implementation.is_duckdb() or implementation.is_ibis()
    backend: Any = nw.Implementation.PYARROW if is_lazy else implementation
    if isinstance(answer, pd.Series):
        values, dtype = _values(answer)
        return nw.new_series(str(answer.name), values, dtype, backend=backend).to_native()
    names = ["_".join(map(str, name if isinstance(name, tuple) else (name,))) for name in answer.columns]
    if len(set(names)) < len(names):
        raise ValueError(
            f"newdata must be a pandas DataFrame if columns of the result have the same name as text; got "
            f"{type(given).__name__} and the names {listed(names)}. Convert it with .to_pandas()."
        )
    columns = {name: _values(column) for name, (_, column) in zip(names, answer.items(), strict=True)}
    schema = {name: dtype for name, (_, dtype) in columns.items()}
    return nw.from_dict(
        {name: values for name, (values, _) in columns.items()}, schema, backend=backend
    ).to_native()


def _is_foreign(data: Any) -> bool:
    if isinstance(data, _OWN):
        return False
    return hasattr(data, "__arrow_c_stream__") or type(data).__module__.partition(".")[0] in _MODULES


def _opened(data: Any) -> Any:
    """Return a frame or Series as narwhals wraps it, from any object with the interface of Arrow."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        name = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise ImportError(
            f"Data of type {name} require narwhals, which is not installed. Run pip install "
            "'pybnclassify[frames]', or convert them to a pandas DataFrame."
        ) from None
    opened = nw.from_native(data, allow_series=True, pass_through=True)
    if opened is data and hasattr(data, "__arrow_c_stream__"):
        return nw.from_arrow(data, backend="pyarrow")
    return opened


def _column(series: Any) -> Any:
    """Return a column as pandas would have it: integers and bools with missing values are nullable."""
    dtype, implementation = series.dtype, series.implementation
    if implementation.is_pandas_like():
        return series.to_pandas().array
    if implementation.is_pyarrow() and str(dtype) == "Categorical":
        return categories_of_arrow(series.to_native())
    categories = getattr(dtype, "categories", None)
    if categories is not None:
        return pd.Categorical(series.to_list(), categories=list(categories))
    if dtype.is_float():
        return series.to_numpy()
    if not (dtype.is_integer() or str(dtype) == "Boolean") or str(dtype) in _WIDE:
        return pd.Series(series.to_list(), dtype=object).array
    filled, missing = series.fill_null(0 if dtype.is_integer() else False), series.is_null().to_numpy()
    if not missing.any():
        return filled.to_numpy()
    nullable = pd.arrays.IntegerArray if dtype.is_integer() else pd.arrays.BooleanArray
    return nullable(filled.to_numpy().copy(), missing.astype(bool))


def categories_of_arrow(chunked: Any) -> pd.Categorical:
    """Return categories of Arrow, whose dictionary may repeat a label, as those of pandas."""
    labels = chunked.unify_dictionaries().combine_chunks().dictionary.to_pylist()
    known = dict.fromkeys(label for label in labels if label is not None)
    return pd.Categorical(chunked.to_pylist(), categories=list(known), ordered=chunked.type.ordered)


def _values(column: pd.Series[Any]) -> tuple[Any, Any]:
    """Return numbers or labels and their type; labels of other types as text, missing ones as None."""
    import narwhals.stable.v2 as nw

    if column.dtype.kind == "f":
        return column.to_numpy(), nw.Float64()
    labels = column.astype(object).where(column.notna(), None)
    types = {"integer": nw.Int64(), "boolean": nw.Boolean()}
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
        """Call ``make`` on each frame, or on some of its columns, and merge the results in order.

        A source can also have a method ``count(families, required, weights)``, which is called before rows
        are fetched. It returns for each family (a tuple of column names) a dict of the number of rows by
        tuple of labels, None where a value is missing, only for rows in which the ``required`` column is
        known; ``weights`` names a column whose sum replaces the number of rows. It can return None.
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

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Iterate over the frames; see `Source`."""
        total: list[T] = []
        # A progress bar, in interactive sessions only.
        for number, frame in enumerate(
            open_bar(self._walk(), desc="chunks", unit=" chunks", disable=None), 1
        ):
            part = frame if columns is None else self._columns(frame, columns, number)
            total = [merge([*total, make(part)])]
        return total[0]

    def _columns(self, frame: pd.DataFrame, columns: Sequence[Hashable], number: int) -> pd.DataFrame:
        """Return columns of a part, or raise a KeyError for those that it lacks."""
        if absent := [name for name in columns if name not in frame.columns]:
            raise KeyError(
                f"{self.argument}: part {number} has no column {listed(absent)}. Give each part the columns "
                "of the first, with part.reindex(columns=first.columns)."
            )
        return frame[list(columns)]

    def _peek(self) -> pd.DataFrame:
        """Return the first frame, which is kept for the next pass."""
        if self._opened is None:
            frames = iter(self._open())
            first = next(frames, None)
            if first is None:
                raise ValueError(f"{self.argument} {NEEDS_FUNCTION}; got no data frames.")
            self._opened = _as_pandas(first, self.argument), frames
        return self._opened[0]

    def _walk(self) -> Iterator[pd.DataFrame]:
        """Iterate over the frames, and check that each pass has as many rows."""
        first = self._peek()
        assert self._opened is not None
        (_, others), self._opened = self._opened, None
        rows = 0
        for frame in chain([first], others):
            made = _as_pandas(frame, self.argument)
            rows += len(made)
            yield made
        self._rows = rows if self._rows is None else self._rows
        if rows != self._rows:
            found = f"{self._rows} rows in the first pass and {rows} in a later one"
            raise ValueError(f"{self.argument} {NEEDS_FUNCTION}; got {found}.")

    def _open(self) -> Iterable[Any]:
        frames = self._frames
        if callable(frames):
            frames = frames()
        if isinstance(frames, pd.DataFrame | str | Mapping) or not isinstance(frames, Iterable):
            raise TypeError(
                f"{self.argument} {NEEDS_FUNCTION}; got a function that returns {type(frames).__name__}."
            )
        return frames


class DaskFrame:
    """The partitions of a Dask DataFrame, read by its workers; results are merged in a tree."""

    def __init__(self, frame: Any, argument: str) -> None:
        self.frame, self.names = frame, list(frame.columns)

    @property
    def declared(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The categories that are known to Dask."""
        dtypes = zip(self.frame.columns, self.frame.dtypes, strict=True)
        categorical = [name for name, dtype in dtypes if isinstance(dtype, pd.CategoricalDtype)]
        known = [name for name in categorical if self.frame[name].cat.known]
        return {name: tuple(self.frame[name].cat.categories) for name in known}

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Read the partitions with the scheduler of Dask; see `Source`."""
        from dask.delayed import delayed

        frame = self.frame if columns is None else self.frame[list(columns)]
        together = delayed(merge, pure=False)
        # Mapped, not delayed, so that a partition is read and counted in one task, and never kept or sent.
        nothing = pd.Series([], dtype=object)
        results = frame.map_partitions(make, meta=nothing, enforce_metadata=False).to_delayed()
        while len(results) > 1:
            results = [together(results[i : i + _MERGED]) for i in range(0, len(results), _MERGED)]
        made: T = results[0].compute()
        return made


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
    if isinstance(data, pd.DataFrame | Countable) or is_delayed(data):  # which has every attribute
        return None
    if isinstance(data, Source):
        return data
    return next((make(data, argument) for test, make in _SOURCES if test(data)), None)


def in_pandas(data: Any) -> Any:
    """Return a data frame or Series of another library as one of pandas, and all other data unchanged."""
    known = isinstance(data, pd.DataFrame) or find_source(data, "dataset") is not None
    return data if known else converted(data)


def _is_chunks(data: Any) -> bool:
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, pd.DataFrame) or _is_foreign(one) for one in data)
    return (callable(data) and not is_delayed(data)) or isinstance(data, Iterator)


register_source(_is_chunks, Chunks)
register_source(is_dask, DaskFrame)


def _as_pandas(frame: Any, argument: str) -> pd.DataFrame:
    """Return one of several frames, or batches of Arrow, as a data frame of pandas."""
    try:
        made: pd.DataFrame = converted(frame)
    except ImportError:  # without which batches of Arrow can be read, too
        made = frame.to_pandas()
    if not isinstance(made, pd.DataFrame):
        raise TypeError(f"{argument} must contain data frames; got {type(frame).__name__}.")
    return made
