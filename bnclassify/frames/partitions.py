"""Partitioned data, which provide only sums over their parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, added
from ..base.messages import listed, shown, warn
from .encoding import check_weights, encode_columns
from .schema import MISSING, Dataset, Learnable, Schema, recode
from .sources import NEEDS_ROWS, Make, Merge, Source, find_source, is_dask

T = TypeVar("T")
D = TypeVar("D", bound=Dataset)


class Prepare(Protocol):
    """Converts raw columns to categories."""

    def encode(self, frame: Any, known: Mapping[Hashable, tuple[Any, ...]], argument: str, /) -> Dataset:
        """Encode the columns of raw data that a model has, with its levels."""

    def code(self, data: D, /) -> D:
        """Prepare encoded data, unless they are prepared."""

    def of_source(self, source: Source, /) -> Source | None:
        """Return the source with prepared columns if it prepares them itself."""


_BLOCK_ROWS = 2**18


class Keep(Protocol):
    """Selects rows of a frame, or parts of their weights, by some of its columns."""

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The required columns."""

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.bool_] | Array:
        """Return whether each row is selected, or the part of its weight that is."""


class Draw(Protocol):
    """Draws rows of a frame with replacement, as weights."""

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The required columns."""

    def __call__(self, frame: pd.DataFrame, data: Dataset) -> Dataset:
        """Return a sample of the encoded rows."""


class Facts(NamedTuple):
    """Facts that a pass over rows collects: their number, and the number of rows kept, which have a class.

    Of these, ``size`` is the weight, ``gaps`` has the number of missing values by column, ``positive`` have
    a weight above 0, and ``fractional`` a weight that is not whole. ``hidden`` has the number of values by
    column that are treated as missing, because they are not among the levels, and ``labels`` the weight of
    each label of the targets.
    """

    rows: int
    kept: int
    size: float
    gaps: NDArray[np.int64]
    positive: int = 0
    fractional: int = 0
    hidden: Any = 0
    labels: Any = ()


def with_class(data: Dataset, class_var: Hashable) -> tuple[Dataset, Facts]:
    """Return the rows with a class (all rows if no column is required), and their facts."""
    rows = len(data)
    if class_var is not None:
        known = data.codes[data.positions[class_var]] >= 0
        data = data if known.all() else data.taken(known)
    gaps = np.zeros(len(data.columns), dtype=np.int64)
    gaps[data.incomplete] = np.count_nonzero(data.codes[data.incomplete] < 0, axis=1)
    weights = np.empty(0) if data.weights is None else data.weights
    fractional = int(np.count_nonzero(weights != np.round(weights)))
    return data, Facts(rows, len(data), data.size, gaps, int(np.count_nonzero(weights)), fractional)


@dataclass(frozen=True)
class Reading:
    """A function that encodes a frame, called by workers.

    Rows that lack the ``required`` column are dropped, ``weights`` names a column, ``prepare`` converts
    raw columns to categories, ``keep`` selects rows, ``draw`` draws from them, and unseen values of
    the ``lenient`` columns are missing.
    """

    schema: Schema
    required: Hashable = None
    weights: Hashable = None
    prepare: Prepare | None = None
    keep: Keep | None = None
    lenient: tuple[Hashable, ...] = ()
    draw: Draw | None = None

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns of frames that are read."""
        besides = [name for part in (self.keep, self.draw) if part is not None for name in part.columns]
        weights = () if self.weights is None else (self.weights,)
        return tuple(dict.fromkeys((*self.schema.columns, *weights, *besides)))

    def __call__(self, frame: pd.DataFrame) -> tuple[Dataset, Facts]:
        """Return the rows of a frame, and their facts."""
        weights = None if self.weights is None else check_weights(frame[self.weights].array, frame.index)
        if self.keep is not None:
            kept = self.keep(frame)
            rows = np.flatnonzero(kept)
            frame = frame.iloc[rows]
            if weights is not None:
                weights = weights[rows] if kept.dtype == bool else np.asarray(kept[rows], dtype=np.float64)
        if self.prepare is None:
            raw = encode_columns(frame, self.schema.columns, whole_floats=True, numeric=self.schema.numeric)
        else:
            known = dict(zip(self.schema.columns, self.schema.levels, strict=True))
            raw = self.prepare.encode(frame, known, "dataset")
        coded, hidden = raw, np.zeros(len(self.schema.columns), dtype=np.int64)
        for name in self.lenient:
            i, new = raw.positions[name], self.schema.levels[self.schema.positions[name]]
            codes = recode(raw.codes[i], raw.levels[i], new, name, -1)
            hidden[self.schema.positions[name]] = np.count_nonzero((codes < 0) & (raw.codes[i] >= 0))
            coded = coded.recoded({name: (new, codes)})
        data, facts = with_class(replace(coded.coded(self.schema), weights=weights), self.required)
        if self.draw is not None:
            data, facts = with_class(self.draw(frame, data), None)
        return data, facts._replace(hidden=hidden)


@dataclass(frozen=True)
class _Counting:
    """The function that workers apply to a frame."""

    reading: Reading
    count: Callable[[Dataset], Any]
    targets: tuple[Hashable, ...] = ()

    def __call__(self, frame: pd.DataFrame) -> tuple[Any, Facts]:
        return in_blocks(self._of_block, added, frame)

    def _of_block(self, frame: pd.DataFrame) -> tuple[Any, Facts]:
        data, facts = self.reading(frame)
        return self.count(data), facts._replace(labels=tuple(map(data.label_counts, self.targets)))


class Memo:
    """Results of passes over the data, shared by all selections of columns of the same rows."""

    def __init__(self) -> None:
        self.counted: Facts | None = None
        self.gaps: dict[Hashable, int] = {}
        self.hidden: dict[Hashable, int] = {}
        self.labels: dict[tuple[Hashable, tuple[Any, ...]], Array] = {}

    def keep(self, facts: Facts, columns: Sequence[Hashable]) -> bool:
        """Keep facts about some columns; return whether they are the first."""
        is_first, self.counted = self.counted is None, facts
        self.gaps.update(zip(columns, facts.gaps.tolist(), strict=True))
        self.hidden.update(zip(columns, np.broadcast_to(facts.hidden, len(columns)).tolist(), strict=True))
        return is_first


class RowsNeededError(TypeError):
    """Raised for partitioned data by functions that need rows in memory."""


class NoRowsError(ValueError):
    """Raised if no rows or labels remain."""


@dataclass(frozen=True, eq=False, repr=False)
class Partitions(Learnable):
    """Partitioned categorical data, from `encode`. Rows are encoded and counted part by part.

    The object has the names and levels of the columns, but no codes.

    Attributes
    ----------
    source : Source
        The frames.
    reading : Reading
        How the frames are encoded.
    targets, order : tuple
        The class variables, and the columns in the given order, if the data are prepared for a learner.
    warns : bool
        Whether to warn of rows that lack the only target.
    memo : object
        Results of passes over the data.
    """

    source: Source
    reading: Reading
    targets: tuple[Hashable, ...] = ()
    order: tuple[Hashable, ...] = ()
    warns: bool = True
    memo: Memo = field(default_factory=Memo)

    def __repr__(self) -> str:
        rows = "" if self.memo.counted is None else f"{self.memo.counted.kept} rows, "
        return f"Partitions: {rows}{len(self.columns)} columns"

    @property
    def schema(self) -> Schema:
        """Names and levels of the columns."""
        return self.reading.schema

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights, so that counts may be fractions."""
        return self.reading.weights is not None or self.reading.draw is not None

    @property
    def has_whole_weights(self) -> bool:
        """Whether all weights are whole numbers."""
        return not self._counted.fractional

    @property
    def fractions(self) -> tuple[int, int]:
        """Number of positive weights, and of weights that are not whole numbers."""
        return self._counted.positive, self._counted.fractional

    def __len__(self) -> int:
        return self._counted.kept

    @property
    def size(self) -> float:
        """Sum of the weights; the number of rows if there are no weights."""
        return self._counted.size

    @property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which columns have a missing value."""
        if not self.memo.gaps.keys() >= set(self.columns):
            self._look()
        return np.array([self.memo.gaps[name] > 0 for name in self.columns], dtype=bool)

    @property
    def _counted(self) -> Facts:
        """Facts about all rows, from an earlier pass over the data or a new one."""
        if self.memo.counted is None:
            self._look()
        assert self.memo.counted is not None
        return self.memo.counted

    def _look(self) -> None:
        """Make a pass over the data if no facts are known."""
        facts = facts_of_source(self.source, self.columns, self.reading)
        if facts is None:
            self.add_up(len)
        elif self.memo.keep(facts, self.columns):
            self.tell()

    @property
    def codes(self) -> NDArray[Any]:
        """Raise a TypeError, because rows in parts are not kept."""
        raise RowsNeededError(f"dataset {NEEDS_ROWS}")

    taken = with_values = codes

    def coded(self, schema: Schema) -> Partitions:
        """Return the columns of a schema, coded by its levels."""
        lenient = tuple([name for name in self.reading.lenient if name in schema.columns])
        return replace(self, reading=replace(self.reading, schema=schema, lenient=lenient))

    def select(self, columns: Sequence[Hashable]) -> Partitions:
        """Return some of the columns, in this order."""
        return self.coded(self.schema.select(columns))

    def with_missing_level(self, columns: Collection[Hashable]) -> Partitions:
        """Return the data with missing values of some columns as their last level."""
        return replace(self.coded(self.schema.with_missing_level(columns)), memo=Memo())

    def requiring(self, column: Hashable) -> Partitions:
        """Return the rows in which a column is known; all rows if it is None."""
        if column == self.reading.required:
            return self
        memo = self.memo if self.memo.gaps.get(column) == 0 else Memo()
        return replace(self, reading=replace(self.reading, required=column), memo=memo)

    def counting(self) -> Partitions:
        """Return the same, because rows of weight 0 add nothing to a sum."""
        return self

    def keeping(self, keep: Keep) -> Partitions:
        """Return the rows that a function of frames selects."""
        return replace(self, reading=replace(self.reading, keep=keep), memo=Memo())

    def hiding(self, known: Mapping[Hashable, tuple[Any, ...]]) -> Partitions:
        """Return the data with the ``known`` levels of some columns; other values are missing."""
        levels = [known.get(name, old) for name, old in zip(self.columns, self.levels, strict=True)]
        schema = Schema(self.columns, tuple(levels), self.schema.ordered)
        return replace(self, reading=replace(self.reading, schema=schema, lenient=tuple(known)), memo=Memo())

    @property
    def hidden(self) -> dict[Hashable, int]:
        """The number of unseen values by column, which are treated as missing."""
        if self.memo.counted is None:
            self._look()
        return {name: n for name in self.columns if (n := self.memo.hidden.get(name, 0))}

    def drawing(self, draw: Draw) -> Partitions:
        """Return rows that are drawn with replacement."""
        return replace(self, reading=replace(self.reading, draw=draw), memo=Memo())

    def add_up(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of the results of a function for each part of the rows; see `Dataset.add_up`.

        Workers call the function, so it must be picklable. The first pass warns of rows
        without a class, and raises if no row is left.
        """
        if self.counts_of_source([]) is not None:
            if self.memo.counted is None:
                self._look()
            try:
                return count(self)  # type: ignore[arg-type]
            except RowsNeededError:  # the function reads codes
                pass
        total: T
        targets = tuple([name for name in self.targets if name in self.schema.positions])
        counting = _Counting(self.reading, count, targets)
        total, facts = self.source.reduce(counting, added, self.reading.columns)
        self.memo.labels.update(zip([self._key(name) for name in targets], facts.labels, strict=True))
        if self.memo.keep(facts, self.columns):
            self.tell()
        return total

    def _key(self, name: Hashable) -> tuple[Hashable, tuple[Any, ...]]:
        return name, self.levels[self.positions[name]]

    def label_counts(self, name: Hashable) -> Array:
        """Return the weight of each label of a column; of a target, without a pass if there was one."""
        if self._key(name) in self.memo.labels:
            return self.memo.labels[self._key(name)]
        tables = self.counts_of_source([[self.positions[name]]])
        return self.add_up(lambda rows: rows.label_counts(name)) if tables is None else tables[0]

    def counts_of_source(self, families: Sequence[Sequence[int]]) -> list[Array] | None:
        """Return the tables of families if the source of the rows counts them itself, as a database can."""
        counted = self._cells(families)
        if counted is None:
            return None
        tables = [np.zeros([len(self.levels[i]) for i in family]) for family in families]
        for table, (codes, totals) in zip(tables, counted, strict=True):
            observed = (codes >= 0).all(axis=0)
            np.add.at(table, tuple(codes[:, observed]), totals[observed])
        return tables

    def cells(self, families: Sequence[Sequence[int]]) -> Iterable[tuple[NDArray[np.intp], Array]]:
        """Yield codes of joint values of families, (columns, cells), and how many rows have them."""
        counted = self._cells(families)
        if counted is None:
            raise RowsNeededError(f"dataset {NEEDS_ROWS}")
        return counted

    def _cells(self, families: Sequence[Sequence[int]]) -> Iterator[tuple[NDArray[np.intp], Array]] | None:
        names = [tuple([self.columns[i] for i in family]) for family in families]
        counted = ask_source(self.source, names, self.reading)
        return None if counted is None else map(self._coded_counts, families, counted)

    def _coded_counts(self, family: Sequence[int], counts: Counts) -> tuple[NDArray[np.intp], Array]:
        """Return the codes of counted labels, and their counts."""
        codes = np.empty((len(family), len(counts)), dtype=np.intp)
        for row, i, labels in zip(codes, family, zip(*counts, strict=True), strict=bool(counts)):
            found = tuple([label for label in dict.fromkeys(labels) if label is not None])
            position = {label: k for k, label in enumerate(found)}
            coded = np.array([position.get(label, -1) for label in labels])
            row[:] = recode(coded, found, self.levels[i], self.columns[i], None)
        return codes, np.array(list(counts.values()), dtype=np.float64)

    def tell(self) -> None:
        """Raise if no rows remain, and warn of rows without a class."""
        facts = self.memo.counted
        if not self.targets or facts is None:
            return
        unlabeled = all(self.memo.gaps.get(name) == facts.kept for name in self.targets)
        check_rows(self.targets, facts.rows, 0 if unlabeled else facts.kept, facts.size, self.warns)


def dask_frame_of(data: object) -> Any:
    """Return the Dask DataFrame, also if it is encoded; None for other data."""
    frame = getattr(data.source, "frame", None) if isinstance(data, Partitions) else data
    return frame if is_dask(frame) else None


def is_partitioned(data: object) -> bool:
    """Whether the rows of data need not be in memory together."""
    return isinstance(data, Partitions) or find_source(data, "dataset") is not None


def check_rows(targets: Sequence[Hashable], rows: int, kept: int, size: float, warns: bool) -> None:
    """Raise if no rows remain, and warn of rows that were dropped because they have no class."""
    if not rows:
        raise NoRowsError("dataset must have rows; got none.")
    if not kept:
        names = f"all of {listed(targets)} are" if len(targets) > 1 else f"the class {shown(targets[0])} is"
        raise ValueError(f"dataset: {names} missing in every row")
    if not size:
        raise NoRowsError("dataset must have rows with a positive weight; all weights are 0.")
    if kept < rows and warns:
        warn(f"{rows - kept} of {rows} rows have no class {shown(targets[0])} and are ignored")


Counts = Mapping[tuple[Any, ...], float]


def ask_source(
    source: Source, families: Sequence[tuple[Hashable, ...]], reading: Reading
) -> Sequence[Counts] | None:
    """Return the counts of families by label if the source counts these rows itself; see `Source`."""
    count = getattr(source, "count", None)
    changes = reading.keep, reading.draw, reading.prepare
    if count is None or reading.lenient or any(change is not None for change in changes):
        return None
    answer: Sequence[Counts] | None = count(families, reading.required, reading.weights)
    return answer


def facts_of_source(source: Source, columns: Sequence[Hashable], reading: Reading) -> Facts | None:
    """Return the facts about rows that the source counts itself."""
    ask = getattr(source, "facts", None)
    families = [(), *((name,) for name in columns)]
    kept = ask_source(source, [] if ask else families, replace(reading, weights=None))
    if kept is None:
        return None
    if ask:
        facts: Facts = ask(columns, reading.required, reading.weights)
    else:
        [rows], [size] = (
            ask_source(source, [()], r) or ({},) for r in (replace(reading, required=None), reading)
        )
        n, *known = [int(sum(v for k, v in counts.items() if None not in k)) for counts in kept]
        facts = Facts(
            int(sum(rows.values())), n, float(sum(size.values())), n - np.array(known, dtype=np.int64)
        )
    pairs = zip(reading.schema.columns, reading.schema.levels, strict=True)
    filled = {name for name, labels in pairs if labels[-1:] == (MISSING,)}
    return facts._replace(gaps=np.where([name in filled for name in columns], 0, facts.gaps))


def in_blocks(make: Make[T], merge: Merge[T], frame: pd.DataFrame) -> T:
    """Apply a function to blocks of rows of a frame, so that no frame is copied as a whole."""
    made = make(frame.iloc[:_BLOCK_ROWS])
    for start in range(_BLOCK_ROWS, len(frame), _BLOCK_ROWS):
        made = merge([made, make(frame.iloc[start : start + _BLOCK_ROWS])])
    return made
