"""Partitioned data, which provide only sums over their parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..base.arrays import Array, ArrayOf, Mask, Positions, added
from ..base.messages import needs_rows, shown, warn, without_labels
from .dataset import Dataset, Learnable, Prepare
from .labels import recode
from .reading import Facts, Reading
from .schema import ALL, MISSING, Columns, Known, Schema
from .sources import Source, is_dask

T = TypeVar("T")


@dataclass(frozen=True)
class _Counting:
    """The function that workers apply to a frame."""

    reading: Reading
    count: Callable[[Dataset], Any]
    targets: tuple[Hashable, ...] = ()

    def __call__(self, frame: pd.DataFrame) -> tuple[Any, Facts]:
        data, facts = self.reading(frame)
        return self.count(data), facts._replace(labels=tuple(map(data.label_counts, self.targets)))


class Memo:
    """Results of passes over the data, shared by all selections of columns of the same rows."""

    def __init__(self) -> None:
        self.counted: Facts | None = None
        self.gaps: dict[Hashable, int] = {}
        self.hidden: dict[Hashable, int] = {}
        self.labels: dict[tuple[Hashable, tuple[Any, ...]], Array] = {}
        self.checks: dict[tuple[Hashable, tuple[Any, ...]], tuple[int, int, int]] = {}

    def compare(self, facts: Facts, schema: Schema) -> None:
        """Raise a ValueError if rows or the values of a column differ from those of a former pass."""
        found = zip(facts.checks.tolist(), facts.gaps.tolist(), strict=True)
        for key, (check, gaps) in zip(zip(schema.columns, schema.levels, strict=True), found, strict=True):
            if self.checks.setdefault(key, (facts.kept, check, gaps)) != (facts.kept, check, gaps):
                raise ValueError(
                    "dataset must not change between passes over its parts; got different values of "
                    f"{shown(key[0])}. Copy the data, and use the copy."
                )

    def keep(self, facts: Facts, columns: Sequence[Hashable]) -> bool:
        """Keep facts about some columns; return whether they are the first."""
        is_first, self.counted = self.counted is None, facts
        self.gaps.update(zip(columns, facts.gaps.tolist(), strict=True))
        self.hidden.update(zip(columns, np.broadcast_to(facts.hidden, len(columns)).tolist(), strict=True))
        return is_first


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

    Examples
    --------
    >>> from bnclassify import encode, load_car, lp, tan_cl
    >>> car = load_car()
    >>> parts = encode(lambda: (car.iloc[start : start + 500] for start in range(0, 1728, 500)))
    >>> model = lp(tan_cl("class", parts), parts, smooth=1)
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
    def fractions(self) -> tuple[int, int]:
        """Number of positive weights, and of weights that are not whole numbers."""
        return self._counted.positive, self._counted.fractional

    def __len__(self) -> int:
        return self._counted.kept

    @property
    def size(self) -> float:
        """Sum of the weights; without weights, the number of rows."""
        return self._counted.size

    @property
    def incomplete(self) -> Mask:
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
    def codes(self) -> ArrayOf[Any]:
        """Raise a TypeError, because rows in parts are not kept."""
        raise needs_rows("dataset")

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

    def read(self, wanted: Columns = ALL) -> Partitions:
        """Return columns in the given order; see `Opened`."""
        chosen = wanted.among(self.columns)
        levels = dict(zip(self.columns, self.levels, strict=True)) | {**(wanted.known or {})}
        levels |= dict.fromkeys(wanted.numeric, ())
        schema = Schema(chosen, tuple([levels[name] for name in chosen]))
        return self.coded(schema).requiring(wanted.required)

    def prepared(self, preparation: Prepare, known: Known) -> Partitions:
        """Return the same, because the frames are prepared when they are read."""
        return self

    def find_numbers(
        self, features: Sequence[Hashable], targets: Sequence[Hashable]
    ) -> tuple[Partitions, tuple[Hashable, ...]]:
        """Return the data, and the features that are numbers."""
        return self, tuple([name for name in features if name in self.schema.numeric])

    def weighed(self, weights: Any) -> Partitions:
        """Raise a TypeError, because the data are encoded without these weights."""
        raise TypeError("weights must be None for encoded partitioned data. Pass the source to encode.")

    def reread(self, **changes: Any) -> Partitions:
        """Return rows that are read in another way, with fields of `reading` changed."""
        return replace(self, reading=replace(self.reading, **changes), memo=Memo())

    def hiding(self, known: Mapping[Hashable, tuple[Hashable, ...]]) -> Partitions:
        """Return the data with the ``known`` levels of some columns; other values are missing."""
        levels = [known.get(name, old) for name, old in zip(self.columns, self.levels, strict=True)]
        schema = Schema(self.columns, tuple(levels), self.schema.ordered)
        return self.reread(schema=schema, lenient=tuple(known))

    @property
    def hidden(self) -> dict[Hashable, int]:
        """The number of unseen values by column, which are treated as missing."""
        if self.memo.counted is None:
            self._look()
        return {name: n for name in self.columns if (n := self.memo.hidden.get(name, 0))}

    def count_all(self, count: Callable[[Any], T]) -> T:
        """Return the counts of all rows, by a function of the source that counts them, or of each part."""
        if self.counts_of_source([]) is None:
            return self.add_up(count)
        if self.memo.counted is None:
            self._look()
        return count(self)

    def add_up(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of the results of a function for each part of the rows; see `Dataset.add_up`.

        Workers call the function, so it must be picklable. The first pass warns of rows
        without a class, and raises if no row is left.
        """
        total: T
        targets = tuple([name for name in self.targets if name in self.schema.positions])
        counting = _Counting(self.reading, count, targets)
        total, facts = self.source.reduce(counting, added, self.reading.columns)
        self.memo.labels.update(zip([self._key(name) for name in targets], facts.labels, strict=True))
        if self.reading.draw is None:
            self.memo.compare(facts, self.schema)
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

    def cells(self, families: Sequence[Sequence[int]]) -> Iterable[tuple[Positions, Array]]:
        """Yield codes of joint values of families, (columns, cells), and how many rows have them."""
        counted = self._cells(families)
        if counted is None:
            raise needs_rows("dataset")
        return counted

    def _cells(self, families: Sequence[Sequence[int]]) -> Iterator[tuple[Positions, Array]] | None:
        names = [tuple([self.columns[i] for i in family]) for family in families]
        counted = ask_source(self.source, names, self.reading)
        return None if counted is None else map(self._coded_counts, families, counted)

    def _coded_counts(self, family: Sequence[int], counts: LabelCounts) -> tuple[Positions, Array]:
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


def check_rows(targets: Sequence[Hashable], rows: int, kept: int, size: float, warns: bool) -> None:
    """Raise if no rows remain, and warn of rows that were dropped because they have no class."""
    if not rows:
        raise NoRowsError("dataset must have rows; got none.")
    if not kept:
        raise without_labels(targets)
    if not size:
        raise NoRowsError("dataset must have rows with a positive weight; all weights are 0.")
    if kept < rows and warns:
        warn(f"{rows - kept} of {rows} rows have no class {shown(targets[0])} and are ignored")


LabelCounts = Mapping[tuple[Any, ...], float]


def ask_source(
    source: Source, families: Sequence[tuple[Hashable, ...]], reading: Reading
) -> Sequence[LabelCounts] | None:
    """Return the counts of families by label if the source counts these rows itself; see `Source`."""
    count = getattr(source, "count", None)
    changes = reading.keep, reading.draw, reading.prepare
    if count is None or reading.lenient or any(change is not None for change in changes):
        return None
    answer: Sequence[LabelCounts] | None = count(families, reading.required, reading.weights)
    return answer


def facts_of_source(source: Source, columns: Sequence[Hashable], reading: Reading) -> Facts | None:
    """Return the facts about rows that the source counts itself."""
    unweighted = replace(reading, weights=None)
    kept = ask_source(source, [(), *((name,) for name in columns)], unweighted)
    if kept is None:
        return None
    check = getattr(source, "check_weights", None)
    positive, fractional = (
        check(reading.required, reading.weights) if check and reading.weights is not None else (0, 0)
    )
    everything = replace(unweighted, required=None)
    [rows], [size] = (ask_source(source, [()], asked) or ({},) for asked in (everything, reading))
    n, *known = [int(sum(v for k, v in counts.items() if None not in k)) for counts in kept]
    gaps = n - np.array(known, dtype=np.int64)
    facts = Facts(int(sum(rows.values())), n, float(sum(size.values())), gaps, positive, fractional)
    pairs = zip(reading.schema.columns, reading.schema.levels, strict=True)
    filled = {name for name, labels in pairs if labels[-1:] == (MISSING,)}
    return facts._replace(gaps=np.where([name in filled for name in columns], 0, facts.gaps))
