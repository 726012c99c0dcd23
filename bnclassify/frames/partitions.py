"""Partitioned data, which provide only sums over their parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..base.arrays import Array, ArrayOf, Mask, Positions, added
from ..base.messages import needs_rows, shown, warn, without_labels
from .dataset import Countable, Dataset, Opened, Prepare
from .labels import recode
from .reading import Facts, Reading
from .schema import ALL, MISSING, Columns, Known, Schema
from .sources import LabelCounts, Source, is_dask

T = TypeVar("T")


Key = tuple[Hashable, tuple[Hashable, ...]]
"""A column and its levels."""


class Memo:
    """Results of passes over the data, shared by all selections of columns of the same rows.

    ``counted`` are the facts of the last pass, ``gaps`` and ``hidden`` the numbers of missing and
    of unseen values by column, and ``labels`` the counts of the levels of targets, by column and
    levels. ``checks`` has the number of rows, a check sum and the gaps of each column, which must
    be the same in every pass.
    """

    def __init__(self) -> None:
        self.counted: Facts | None = None
        self.gaps: dict[Hashable, int] = {}
        self.hidden: dict[Hashable, int] = {}
        self.labels: dict[Key, Array] = {}
        self.checks: dict[Key, tuple[int, int, int]] = {}

    def compare(self, facts: Facts, schema: Schema) -> None:
        """Raise a ValueError if rows or values of a column differ from those of a former pass."""
        found = zip(facts.checks.tolist(), facts.gaps.tolist(), strict=True)
        for key, (check, gaps) in zip(
            zip(schema.columns, schema.levels, strict=True), found, strict=True
        ):
            if self.checks.setdefault(key, (facts.kept, check, gaps)) != (facts.kept, check, gaps):
                raise ValueError(
                    "dataset must not change between passes over its parts; got different values "
                    f"of {shown(key[0])}. Copy the data, and use the copy."
                )

    def keep(self, facts: Facts, columns: Sequence[Hashable]) -> bool:
        """Keep facts about some columns; return whether they are the first."""
        is_first, self.counted = self.counted is None, facts
        self.gaps.update(zip(columns, facts.gaps.tolist(), strict=True))
        self.hidden.update(
            zip(columns, np.broadcast_to(facts.hidden, len(columns)).tolist(), strict=True)
        )
        return is_first


class NoRowsError(ValueError):
    """Raised if no rows or labels remain."""


@dataclass(frozen=True, eq=False, repr=False)
class Partitions(Countable, Opened["Partitions"]):
    """Partitioned categorical data, from `encode`. Rows are encoded and counted part by part.

    The object has the names and levels of the columns, but no codes.

    Attributes
    ----------
    source : Source
        The frames.
    reading : Reading
        How the frames are encoded.
    targets, order : tuple
        The class variables, and the columns in the given order, if the data are prepared for a
        learner.
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

    in_parts = True

    def __repr__(self) -> str:
        rows = "" if self.memo.counted is None else f"{self.memo.counted.kept} rows, "
        return f"Partitions: {rows}{len(self.columns)} columns"

    @property
    def schema(self) -> Schema:
        return self.reading.schema

    @property
    def is_weighted(self) -> bool:
        return self.reading.weights is not None or self.reading.draw is not None

    @property
    def weight_counts(self) -> tuple[int, int]:
        return self._counted.positive, self._counted.fractional

    def __len__(self) -> int:
        return self._counted.kept

    @property
    def size(self) -> float:
        return self._counted.size

    @property
    def incomplete(self) -> Mask:
        if not self.memo.gaps.keys() >= set(self.columns):
            self._find_facts()
        return np.array([self.memo.gaps[name] > 0 for name in self.columns], dtype=bool)

    @property
    def _counted(self) -> Facts:
        """Facts about all rows, from an earlier pass over the data or a new one."""
        if self.memo.counted is None:
            self._find_facts()
        assert self.memo.counted is not None
        return self.memo.counted

    def _find_facts(self) -> None:
        """Make a pass over the data if no facts are known."""
        facts = facts_of_source(self.source, self.columns, self.reading)
        if facts is None:
            self.add_up(len)
        elif self.memo.keep(facts, self.columns):
            self.report_rows()

    @property
    def codes(self) -> ArrayOf[Any]:
        """Raise a TypeError, because rows in parts are not kept."""
        raise needs_rows("dataset")

    def coded(self, schema: Schema) -> Partitions:
        lenient = tuple([name for name in self.reading.lenient if name in schema.columns])
        return replace(self, reading=replace(self.reading, schema=schema, lenient=lenient))

    def select(self, columns: Sequence[Hashable]) -> Partitions:
        return self.coded(self.schema.select(columns))

    def with_missing_level(self, columns: Collection[Hashable]) -> Partitions:
        return replace(self.coded(self.schema.with_missing_level(columns)), memo=Memo())

    def requiring(self, column: Hashable) -> Partitions:
        if column == self.reading.required:
            return self
        memo = self.memo if self.memo.gaps.get(column) == 0 else Memo()
        return replace(self, reading=replace(self.reading, required=column), memo=memo)

    def encode(self, wanted: Columns = ALL) -> Partitions:
        chosen = wanted.among(self.columns)
        levels = {**self.schema.known, **(wanted.known or {}), **dict.fromkeys(wanted.numeric, ())}
        schema = Schema(chosen, tuple([levels[name] for name in chosen]), self.schema.ordered)
        return self.coded(schema).requiring(wanted.required)

    def prepared(self, preparation: Prepare, known: Known) -> Partitions:
        return self  # the frames are prepared when they are read

    def find_numbers(
        self, features: Sequence[Hashable], targets: Sequence[Hashable]
    ) -> tuple[Partitions, tuple[Hashable, ...]]:
        return self, tuple([name for name in features if name in self.schema.numeric])

    def weighed(self, weights: object) -> Partitions:
        raise TypeError(
            "weights must be None for encoded partitioned data. Pass the source to encode."
        )

    def reread(self, **changes: Any) -> Partitions:
        """Return rows that are read in another way, with fields of `reading` changed."""
        return replace(self, reading=replace(self.reading, **changes), memo=Memo())

    def hiding(self, known: Mapping[Hashable, tuple[Hashable, ...]]) -> Partitions:
        """Return the data with the ``known`` levels of some columns; other values are missing."""
        return self.reread(schema=self.schema.with_levels(known), lenient=tuple(known))

    @property
    def hidden(self) -> dict[Hashable, int]:
        """The number of unseen values by column, which are treated as missing."""
        if self.memo.counted is None:
            self._find_facts()
        return {name: n for name in self.columns if (n := self.memo.hidden.get(name, 0))}

    def count_all(self, count: Callable[[Any], T]) -> T:
        if self.counts_of_source([]) is None:
            return self.add_up(count)
        if self.memo.counted is None:
            self._find_facts()
        return count(self)

    def add_up(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of a function's results for each part of the rows; see `Dataset.add_up`.

        Workers call the function, so it must be picklable. The first pass warns of rows without a
        class, and raises if no row is left.
        """
        targets = tuple([name for name in self.targets if name in self.schema.positions])
        counting = partial(_count_frame, self.reading, count, targets)
        total, facts = self.source.reduce(counting, added, self.reading.columns)
        self.memo.labels.update(
            zip([self._key(name) for name in targets], facts.labels, strict=True)
        )
        if self.reading.draw is None:
            self.memo.compare(facts, self.schema)
        if self.memo.keep(facts, self.columns):
            self.report_rows()
        return total

    def _key(self, name: Hashable) -> Key:
        return name, self.levels[self.positions[name]]

    def label_counts(self, name: Hashable) -> Array:
        if self._key(name) in self.memo.labels:
            return self.memo.labels[self._key(name)]
        tables = self.counts_of_source([[self.positions[name]]])
        return self.add_up(lambda rows: rows.label_counts(name)) if tables is None else tables[0]

    def counts_of_source(self, families: Sequence[Sequence[int]]) -> list[Array] | None:
        counted = self._cells(families)
        if counted is None:
            return None
        tables = [np.zeros([self.cards[i] for i in family]) for family in families]
        for table, (codes, totals) in zip(tables, counted, strict=True):
            observed = (codes >= 0).all(axis=0)
            np.add.at(table, tuple(codes[:, observed]), totals[observed])
        return tables

    def cells(self, families: Sequence[Sequence[int]]) -> Iterable[tuple[Positions, Array]]:
        counted = self._cells(families)
        if counted is None:
            raise needs_rows("dataset")
        return counted

    def _cells(self, families: Sequence[Sequence[int]]) -> Iterator[tuple[Positions, Array]] | None:
        names = [tuple([self.columns[i] for i in family]) for family in families]
        counted = counts_from_source(self.source, names, self.reading)
        return None if counted is None else map(self._coded_counts, families, counted)

    def _coded_counts(self, family: Sequence[int], counts: LabelCounts) -> tuple[Positions, Array]:
        """Return the codes of counted labels, and their counts."""
        codes = np.empty((len(family), len(counts)), dtype=np.intp)
        for row, i, labels in zip(codes, family, zip(*counts, strict=True), strict=bool(counts)):
            coded, found = pd.factorize(pd.Series(labels, dtype=object))
            row[:] = recode(coded, tuple(found), self.levels[i], self.columns[i], None)
        return codes, np.array(list(counts.values()), dtype=np.float64)

    def report_rows(self) -> None:
        """Raise if no rows remain, and warn of rows without a class."""
        facts = self.memo.counted
        if not self.targets or facts is None:
            return
        unlabeled = all(self.memo.gaps.get(name) == facts.kept for name in self.targets)
        check_rows(self.targets, facts.rows, 0 if unlabeled else facts.kept, facts.size, self.warns)


def _count_frame(
    reading: Reading,
    count: Callable[[Dataset], T],
    targets: Sequence[Hashable],
    frame: pd.DataFrame,
) -> tuple[T, Facts]:
    """Count the rows of a frame, also by the labels of the targets; workers call this."""
    data, facts = reading(frame)
    return count(data), facts._replace(labels=tuple(map(data.label_counts, targets)))


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


def counts_from_source(
    source: Source, families: Sequence[tuple[Hashable, ...]], reading: Reading
) -> Sequence[LabelCounts] | None:
    """Return counts of families by label if the source counts these rows; see `Source`."""
    changes = reading.keep, reading.draw, reading.prepare, reading.lenient or None
    count: Callable[..., Sequence[LabelCounts] | None] | None = getattr(source, "count", None)
    if count is None or any(change is not None for change in changes):
        return None
    return count(families, reading.required, reading.weights)


def facts_of_source(source: Source, columns: Sequence[Hashable], reading: Reading) -> Facts | None:
    """Return the facts about rows that the source counts itself."""
    unweighted = replace(reading, weights=None)
    kept = counts_from_source(source, [(), *((name,) for name in columns)], unweighted)
    if kept is None:
        return None
    check = getattr(source, "check_weights", None)
    weighed = (0, 0)
    if check is not None and reading.weights is not None:
        weighed = check(reading.required, reading.weights)
    everything = replace(unweighted, required=None)
    rows, size = [
        counts_from_source(source, [()], asked) or [{}] for asked in (everything, reading)
    ]
    n, *known = [int(sum(v for k, v in counts.items() if None not in k)) for counts in kept]
    filled = [reading.schema.known.get(name, ())[-1:] == (MISSING,) for name in columns]
    gaps = np.where(filled, 0, n - np.array(known, dtype=np.int64))
    n_rows, total = int(sum(rows[0].values())), float(sum(size[0].values()))
    return Facts(n_rows, n, total, gaps, *weighed)
