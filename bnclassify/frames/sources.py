"""Where frames come from that need not fit into memory together: a Dask DataFrame, or chunks in a row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from inspect import signature
from itertools import chain
from typing import Any, Protocol, TypeVar, runtime_checkable
from weakref import WeakKeyDictionary, finalize

import pandas as pd
from tqdm.auto import tqdm

from ..base.messages import shown
from .schema import Countable

T = TypeVar("T")

Make = Callable[[pd.DataFrame], T]
Merge = Callable[[Sequence[T]], T]

_MERGED = 16  # results that are merged at once, on the way down to one

_GIVEN: MutableMapping[Callable[..., Any], Iterator[Any]] = WeakKeyDictionary()  # by functions, at last

NEEDS_ROWS = (
    "rows are needed in memory here, and these are in parts; take a sample of them, for example "
    "frame.sample(frac=0.01).compute() of a Dask DataFrame, or what counts alone: structures by nb, aode, "
    "ande, anb, tan_cl, chow_liu, kdb_mi, hc, ban, chisq_dn, mbc, maode or chain, and lp with smooth, ess, m "
    "or backoff"
)
"""What is said where rows are asked for that need not be in memory together."""


@runtime_checkable
class Source(Protocol):
    """Frames with the same columns, which are looked at one by one, wherever they are."""

    @property
    def once(self) -> bool:
        """Whether they can be gone through no more than once."""

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns."""

    @property
    def declared(self) -> Mapping[Hashable, tuple[Any, ...]]:
        """The categories of columns of which they are known beforehand, the same in all frames."""

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Make something of each frame, or of some of its columns, and merge that, in the order of frames.

        A source can also have a method ``count(families, required, weights)``, which is asked before rows are
        fetched. It returns for each family (a tuple of column names) a dict of the number of rows by tuple of
        labels, only for rows in which no column of the family and not the ``required`` column is missing;
        ``weights`` names a column whose sum replaces the number of rows. It can return None.
        """


class Chunks:
    """Frames one after the other, of which one is in memory at a time.

    Parameters
    ----------
    frames : iterator, iterable or function
        An iterator can be gone through once; a function gives one anew for each pass. The first frame
        tells the columns: others must have them, and what else they have is left out.
    argument : str
        What errors call it.
    """

    def __init__(self, frames: Iterable[Any] | Callable[[], Iterable[Any]], argument: str) -> None:
        self.argument = argument
        self.once = isinstance(frames, Iterator)
        self._frames = frames
        self._spent = False
        self._opened: tuple[pd.DataFrame, Iterator[Any], Callable[[], object]] | None = None
        self._names: Sequence[Hashable] | None = None
        self._rows: int | None = None

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns of the first frame."""
        if self._names is None:
            self._names = self._peek().columns.tolist()
        return self._names

    @property
    def declared(self) -> Mapping[Hashable, tuple[Any, ...]]:
        """The categories of the first frame, if there is one pass only, for then they are those of all."""
        return _categories(self._peek()) if self.once else {}

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Go through the frames; see `Source`."""
        total: list[T] = []
        # A bar where somebody watches, none in files and tests.
        for frame in tqdm(self._walk(columns or ()), desc="chunks", unit=" chunks", disable=None):
            total = [merge([*total, make(frame if columns is None else frame[list(columns)])])]
        return total[0]

    def _peek(self) -> pd.DataFrame:
        """Return the first frame, which is kept, with what gives the others, for the pass that follows."""
        if self._opened is None:
            frames = self._open()
            # What a function made is closed with this, should no pass follow.
            close = finalize(self, _close, frames) if callable(self._frames) else partial(_close, frames)
            others = iter(frames)
            first = next(others, None)
            if first is None:
                raise ValueError(
                    f"{self.argument}: expected data frames one after the other, none came; an iterator that "
                    "was gone through before has none left, a function that gives one anew always has"
                )
            self._opened = _as_pandas(first, self.argument), others, close
        return self._opened[0]

    def _walk(self, columns: Sequence[Hashable]) -> Iterator[pd.DataFrame]:
        """Go through the frames, each of which must have some columns."""
        if self._spent:
            raise ValueError(
                f"{self.argument}: an iterator can be gone through once, and this goes through the data "
                "again; pass a function that gives one anew, such as "
                "lambda: pd.read_csv(path, chunksize=100_000)"
            )
        self._peek()
        assert self._opened is not None
        (first, others, close), self._opened = self._opened, None
        self._spent = self.once
        rows = 0
        try:
            for number, frame in enumerate(chain([first], others)):
                made = _as_pandas(frame, self.argument)
                _check_has(made, columns, number, self.argument)
                rows += len(made)
                yield made
        finally:
            close()
        self._check_rows(rows)

    def _check_rows(self, rows: int) -> None:
        """Raise a ValueError if a pass saw another number of rows than the first."""
        if self._rows is None:
            self._rows = rows
        if rows != self._rows:
            raise ValueError(
                f"{self.argument}: {self._rows} rows came at the first pass and {rows} at a later one; a "
                "function must give the same frames whenever it is called"
            )

    def _open(self) -> Iterable[Any]:
        if callable(self._frames):
            _check_call(self._frames, self.argument)
        frames = self._frames() if callable(self._frames) else self._frames
        if isinstance(frames, pd.DataFrame | str | Mapping) or not isinstance(frames, Iterable):
            raise TypeError(
                f"{self.argument}: expected a function that gives data frames one after the other, such as "
                f"lambda: pd.read_csv(path, chunksize=100_000), but it gave a {type(frames).__name__}"
            )
        if callable(self._frames):
            _check_new(self._frames, frames, self.argument)
        return frames


def _check_new(function: Callable[..., Any], frames: Iterable[Any], argument: str) -> None:
    """Raise a ValueError if a function gives an iterator that it gave before, to this or to another verb."""
    if not isinstance(frames, Iterator):
        return
    try:
        before, _GIVEN[function] = _GIVEN.get(function), frames
    except TypeError:  # no hash, or no weak references
        return
    if before is frames:
        raise ValueError(
            f"{argument}: the function gives the same iterator again, of which frames were taken already; "
            "make a new one in each call, such as lambda: pd.read_csv(path, chunksize=100_000)"
        )


def _check_call(function: Callable[..., Any], argument: str) -> None:
    """Raise a TypeError for a function that cannot be called without arguments."""
    try:
        signature(function).bind()
    except TypeError:
        raise TypeError(
            f"{argument}: expected a DataFrame, or a function without arguments that gives data frames one "
            f"after the other, got {shown(function)}"
        ) from None
    except ValueError:  # written in C, and does not tell what it takes
        pass


def _close(frames: object) -> None:
    """Close what reads a file, so that this does not stay open."""
    close = getattr(frames, "close", None)
    if close is not None:
        close()


class LargeFrame:
    """A data frame in memory that is read in blocks, because a copy as codes would take much memory."""

    once = False

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns."""
        return self.frame.columns.tolist()

    @property
    def declared(self) -> Mapping[Hashable, tuple[Any, ...]]:
        """The categories of columns that have some."""
        return _categories(self.frame)

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Look at the frame; see `Source`."""
        return make(self.frame if columns is None else self.frame[list(columns)])


def _categories(frame: pd.DataFrame) -> dict[Hashable, tuple[Any, ...]]:
    return {
        name: tuple(column.cat.categories)
        for name, column in frame.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }


class DaskFrame:
    """The partitions of a Dask DataFrame, looked at where they lie; what is made of them meets in a tree.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    argument : str
        What errors call it.
    """

    once = False

    def __init__(self, frame: Any, argument: str) -> None:
        self.frame, self.argument = frame, argument

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the columns."""
        return list(self.frame.columns)

    @property
    def declared(self) -> Mapping[Hashable, tuple[Any, ...]]:
        """The categories that Dask knows."""
        dtypes = zip(self.frame.columns, self.frame.dtypes, strict=True)
        categorical = [name for name, dtype in dtypes if isinstance(dtype, pd.CategoricalDtype)]
        known = [name for name in categorical if self.frame[name].cat.known]
        return {name: tuple(self.frame[name].cat.categories) for name in known}

    def reduce(self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None) -> T:
        """Look at the partitions by the scheduler that Dask has; see `Source`."""
        from dask.delayed import delayed

        frame = self.frame if columns is None else self.frame[list(columns)]
        together = delayed(merge, pure=False)
        # Mapped, not delayed, so that a partition is read and looked at in one task, and never kept or sent.
        nothing = pd.Series([], dtype=object)
        results = frame.map_partitions(make, meta=nothing, enforce_metadata=False).to_delayed()
        while len(results) > 1:
            results = [together(results[i : i + _MERGED]) for i in range(0, len(results), _MERGED)]
        made: T = results[0].compute()
        return made


def is_dask(data: object) -> bool:
    """Whether data is a Dask DataFrame, which is told without importing Dask."""
    return type(data).__module__.partition(".")[0] == "dask" and type(data).__name__ == "DataFrame"


def is_delayed(data: object) -> bool:
    """Whether data is what Dask has yet to compute, which can be called, but gives no frames."""
    return type(data).__module__ == "dask.delayed"


MakeSource = Callable[[Any, str], Source]

_SOURCES: list[tuple[Callable[[Any], bool], MakeSource]] = []


def register_source(test: Callable[[Any], bool], make: MakeSource) -> None:
    """Accept data of a new type wherever partitioned data are accepted.

    ``make(data, argument)`` returns the `Source` of data for which ``test(data)`` is true; errors call the
    data by the name of the argument. The source that was registered last is asked first.
    """
    _SOURCES.insert(0, (test, make))


def find_source(data: object, argument: str) -> Source | None:
    """Return the source of data that need not be in memory together, or None."""
    if isinstance(data, pd.DataFrame | Countable) or is_delayed(data):  # which has any attribute
        return None
    if isinstance(data, Source):
        return data
    return next((make(data, argument) for test, make in _SOURCES if test(data)), None)


def check_not_once(data: object) -> None:
    """Raise a ValueError for data that can be read only once, if several passes are needed."""
    if isinstance(data, Iterator):
        raise ValueError(
            "dataset: an iterator can be gone through once, and this goes through the data several times; "
            "pass a function that gives one anew, such as lambda: pd.read_csv(path, chunksize=100_000)"
        )


def _is_chunks(data: Any) -> bool:
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(one, pd.DataFrame) for one in data)
    return (callable(data) and not is_delayed(data)) or isinstance(data, Iterator)


register_source(_is_chunks, Chunks)
register_source(is_dask, DaskFrame)


def _check_has(frame: pd.DataFrame, columns: Sequence[Hashable], number: int, argument: str) -> None:
    """Raise a KeyError if one of several frames lacks columns, which the first has."""
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise KeyError(f"{argument}: frame {number} has no column {shown(absent[0])}, which frame 0 has")


def _as_pandas(frame: Any, argument: str) -> pd.DataFrame:
    """Return one of several frames, or batches of Arrow, as a data frame of pandas."""
    made = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    if not isinstance(made, pd.DataFrame):
        raise TypeError(
            f"{argument}: expected data frames one after the other, got {type(frame).__name__} among them"
        )
    return made
