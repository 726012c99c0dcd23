"""Data in parts that stay where they are: what is known of it are sums over its parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.messages import shown, warn
from .encoding import encode_columns
from .matching import match
from .schema import Countable, Dataset, Schema, take_rows
from .sources import NEEDS_ROWS, DaskFrame, Make, Merge, Source
from .weights import check_weights

T = TypeVar("T")

Prepare = Callable[[pd.DataFrame], pd.DataFrame]

_BLOCK_ROWS = 2**18


class Keep(Protocol):
    """Tells which rows of a frame to take, from some of its columns."""

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that it looks at."""

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return whether to take each row."""


class Facts(NamedTuple):
    """What counting finds out of rows by the way.

    Attributes
    ----------
    rows : int
        How many there are.
    kept : int
        Of these, how many have a class; all, if there is none.
    size : float
        The weights of those that are kept.
    gaps : (columns,) array of int
        In how many of those that are kept each column has no value.
    """

    rows: int
    kept: int
    size: float
    gaps: NDArray[np.int64]


def with_class(data: Dataset, class_var: Hashable) -> tuple[Dataset, Facts]:
    """Return the rows that have a class, all if there is none, and what there is to know of them."""
    rows = len(data)
    if class_var is not None:
        known = data.codes[data.positions[class_var]] >= 0
        data = data if known.all() else take_rows(data, known)
    gaps = np.zeros(len(data.columns), dtype=np.int64)
    gaps[data.incomplete] = np.count_nonzero(data.codes[data.incomplete] < 0, axis=1)
    return data, Facts(rows, len(data), data.size, gaps)


@dataclass(frozen=True)
class Reading:
    """How a frame becomes rows in codes; workers call it.

    Attributes
    ----------
    schema : Schema
        The columns to take, and what their codes shall stand for.
    class_var : str or None
        Rows without it are left out.
    weights : str or None
        The column that tells how often rows count.
    prepare : callable or None
        Makes categories of raw columns.
    keep : callable or None
        Tells which rows to take.
    """

    schema: Schema
    class_var: Hashable = None
    weights: Hashable = None
    prepare: Prepare | None = None
    keep: Keep | None = None

    @property
    def columns(self) -> tuple[Hashable, ...] | None:
        """The columns of frames that are looked at; None for all."""
        if self.prepare is not None:
            return None
        besides = () if self.keep is None else self.keep.columns
        weights = () if self.weights is None else (self.weights,)
        return tuple(dict.fromkeys((*self.schema.columns, *weights, *besides)))

    def __call__(self, frame: pd.DataFrame) -> tuple[Dataset, Facts]:
        """Return the rows of a frame, and what there is to know of them."""
        if self.keep is not None:
            frame = frame[self.keep(frame)]
        weights = None if self.weights is None else check_weights(frame[self.weights].array, frame.index)
        raw = encode_columns(frame if self.prepare is None else self.prepare(frame), self.schema.columns)
        codes = match(raw, self.schema.columns, self.schema.levels)
        return with_class(Dataset(self.schema, codes, raw.index, weights), self.class_var)


@dataclass(frozen=True)
class _Counting:
    """What workers do with a frame."""

    reading: Reading
    count: Callable[[Dataset], Any] | None

    def __call__(self, frame: pd.DataFrame) -> tuple[Any, Facts]:
        return in_blocks(self._of_block, _merge, frame)

    def _of_block(self, frame: pd.DataFrame) -> tuple[Any, Facts]:
        data, facts = self.reading(frame)
        return (None if self.count is None else self.count(data)), facts


class Memo:
    """Keeps what is found out by the way, for all views of the same rows.

    Parameters
    ----------
    warns : bool
        Whether to warn of rows that have no class.
    """

    def __init__(self, *, warns: bool = True) -> None:
        self.warns = warns
        self.counted: Facts | None = None
        self.gaps: dict[Hashable, int] = {}

    def keep(self, facts: Facts, columns: Sequence[Hashable]) -> bool:
        """Keep facts of some columns; return whether they are the first."""
        is_first, self.counted = self.counted is None, facts
        self.gaps.update(zip(columns, facts.gaps.tolist(), strict=True))
        return is_first


@dataclass(frozen=True, eq=False, repr=False)
class Partitions(Countable):
    """Categorical data in parts, which are encoded and counted where they lie.

    It has names and levels as a `Dataset` has, and no codes: what it tells of its rows are sums over
    parts. With a class it is data to learn from, and stands for the rows that have one.

    Attributes
    ----------
    source : Source
        Where frames come from.
    reading : Reading
        How they are encoded.
    class_position : int or None
        Where the class stood among the columns; None is at the end.
    memo : object
        Keeps what is found out by the way.
    """

    source: Source
    reading: Reading
    class_position: int | None = None
    memo: Memo = field(default_factory=Memo)

    def __repr__(self) -> str:
        rows = "" if self.memo.counted is None else f"{self.memo.counted.kept} rows, "
        return f"Partitions: {rows}{len(self.columns)} columns"

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        """Names and levels of the columns."""
        return self.reading.schema

    @property
    def class_var(self) -> Hashable:
        """The name of the class, None if the data is not to be learned from."""
        return self.reading.class_var

    @property
    def features(self) -> tuple[Hashable, ...]:
        """All columns but the class."""
        return tuple(name for name in self.columns if name != self.class_var)

    @property
    def as_given(self) -> Partitions:
        """The same rows, the class where it stood among the columns."""
        names = list(self.features)
        names.insert(len(names) if self.class_position is None else self.class_position, self.class_var)
        return self.coded(self.schema.select(names))

    @property
    def views(self) -> tuple[Partitions, ...]:
        """The codings of the rows over which what is learned of pairs is averaged: this one."""
        return (self,)

    @property
    def is_weighted(self) -> bool:
        """Whether rows may count otherwise than once, so that counts may be fractions."""
        return self.reading.weights is not None

    def __len__(self) -> int:
        return self._counted.kept

    @property
    def size(self) -> float:
        """The sum of the weights: the number of rows, where each counts once."""
        return self._counted.size

    @property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which columns have a missing value."""
        if not self.memo.gaps.keys() >= set(self.columns):
            self.add_up(None)
        return np.array([self.memo.gaps[name] > 0 for name in self.columns], dtype=bool)

    @property
    def _counted(self) -> Facts:
        """What is known of all rows; a pass, unless one has told already."""
        if self.memo.counted is None:
            self.add_up(None)
        assert self.memo.counted is not None
        return self.memo.counted

    @property
    def dask_frame(self) -> Any:
        """The Dask DataFrame that the parts are of, None if they are of another kind."""
        return self.source.frame if isinstance(self.source, DaskFrame) else None

    @property
    def codes(self) -> NDArray[Any]:
        """Raise a TypeError: there are none."""
        raise TypeError(f"dataset: {NEEDS_ROWS}")

    def coded(self, schema: Schema) -> Partitions:
        """Return some of the columns, or all, their codes those of a schema."""
        return replace(self, reading=replace(self.reading, schema=schema))

    def of_class(self, class_var: Hashable) -> Partitions:
        """Return the rows that have a class; raise if an earlier pass has told that there are none."""
        if class_var == self.class_var:
            return self
        memo = self.memo if self.memo.gaps.get(class_var) == 0 else Memo()
        data = replace(self, reading=replace(self.reading, class_var=class_var), memo=memo)
        data.tell()
        return data

    def keeping(self, keep: Keep) -> Partitions:
        """Return the rows that a function of frames tells to keep."""
        return replace(self, reading=replace(self.reading, keep=keep), memo=Memo())

    def add_up(self, count: Callable[[Dataset], T] | None) -> T:
        """Sum what a function returns of the rows of each part: arrays and numbers, in whatever holds them.

        It is called where the part lies, so it can be pickled. Rows without a class, if there is one, are
        told of at the first pass, as is that there are no others.
        """
        counting, columns = _Counting(self.reading, count), self.reading.columns
        total, facts = self.source.reduce(counting, _merge, columns)
        if self.memo.keep(facts, self.columns):
            self.tell()
        return total

    def tell(self) -> None:
        """Raise if there is nothing to learn from, and warn of rows without a class."""
        facts = self.memo.counted
        if self.class_var is None or facts is None:
            return
        if not facts.rows:
            raise ValueError("dataset: no rows to learn from")
        if not facts.kept:
            raise ValueError(f"dataset: the class {shown(self.class_var)} is missing in every row")
        if not facts.size:
            raise ValueError("dataset: no rows to learn from, for all have weight 0")
        if facts.kept < facts.rows and self.memo.warns:
            lost = facts.rows - facts.kept
            warn(f"{lost} of {facts.rows} rows have no class {shown(self.class_var)} and are left out")


def in_blocks(make: Make[T], merge: Merge[T], frame: pd.DataFrame) -> T:
    """Make something of a few rows of a frame at a time, so that no frame is copied as a whole."""
    made = make(frame.iloc[:_BLOCK_ROWS])
    for start in range(_BLOCK_ROWS, len(frame), _BLOCK_ROWS):
        made = merge([made, make(frame.iloc[start : start + _BLOCK_ROWS])])
    return made


def _merge(results: Sequence[tuple[Any, Facts]]) -> tuple[Any, Facts]:
    counts, facts = zip(*results, strict=True)
    return added(counts), Facts(*map(added, zip(*facts, strict=True)))


def added(values: Sequence[Any]) -> Any:
    """Add values of the same form: numbers, arrays, None, and tuples, lists and dicts of them.

    >>> added([(1, [2.0]), (3, [4.0])])
    (4, [6.0])
    """
    first = values[0]
    if first is None:
        return None
    if isinstance(first, dict):
        return {key: added([value[key] for value in values]) for key in first}
    if isinstance(first, tuple | list):
        items = [added(parts) for parts in zip(*values, strict=True)]
        return type(first)(items)
    if isinstance(first, np.ndarray):  # parts may have counts in types too narrow for the sum
        wide = np.float64 if any(value.dtype.kind == "f" for value in values) else np.int64
        return reduce(np.add, values[1:], first.astype(wide))
    return sum(values[1:], first)
