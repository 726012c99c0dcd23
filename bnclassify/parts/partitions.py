"""Partitioned data that stay where they are, which provide only sums over their parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from ..dataset import (
    ALL,
    MISSING,
    Columns,
    Countable,
    Dataset,
    Known,
    Opened,
    Prepare,
    Schema,
    recode_column,
)
from ..frames import Frame, check_rows_remain, check_weights, dask_frame_of
from ..tools.arrays import Array, ArrayOf, Mask, Positions, sum_nested
from ..tools.messages import needs_rows_error, shown
from .sources import LabelCounts, Source

T = TypeVar("T")


class Facts(NamedTuple):
    """Facts that a pass over rows collects: their number, and how many are kept, with a class.

    Of these, ``size`` is the weight, ``gaps`` has the number of missing values
    by column, ``positive`` have a weight above 0, and ``fractional`` a weight
    that is not whole. ``labels`` has the weight of each label of the targets,
    and ``checks`` are the sums of the codes by column.
    """

    rows: int
    kept: int
    size: float
    gaps: ArrayOf[np.int64]
    positive: int = 0
    fractional: int = 0
    labels: Any = ()
    checks: Any = 0


def known_rows_and_facts(data: Dataset, class_var: Hashable) -> tuple[Dataset, Facts]:
    """Return the rows with a class (all rows if no column is required), and their facts."""
    rows, data = len(data), data.rows_with_known(class_var)
    gaps = np.zeros(len(data.columns), dtype=np.int64)
    gaps[data.incomplete] = np.count_nonzero(data.codes[data.incomplete] < 0, axis=1)
    weights = np.empty(0) if data.weights is None else data.weights
    fractional = int(np.count_nonzero(weights != np.round(weights)))
    facts = Facts(rows, len(data), data.size, gaps, int(np.count_nonzero(weights)), fractional)
    return data, facts._replace(checks=data.codes.sum(axis=1, dtype=np.int64))


def weights_from_column(frame: pd.DataFrame, name: Hashable) -> Array | None:
    """Return the weights in a column of a frame; None without a name."""
    return None if name is None else check_weights(frame[name].array, frame.index)


@dataclass(frozen=True)
class Reading:
    """A function that encodes a frame, called by workers.

    Rows that lack the ``required`` column are dropped, ``weights`` names a
    column, and ``prepare`` converts raw columns to categories.
    """

    schema: Schema
    required: Hashable = None
    weights: Hashable = None
    prepare: Prepare | None = None

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns of frames that are read."""
        return (*self.schema.columns, *([] if self.weights is None else [self.weights]))

    def __call__(self, frame: pd.DataFrame) -> tuple[Dataset, Facts]:
        """Return the rows of a frame, and their facts."""
        schema, opened = self.schema, Frame(frame, "dataset")
        if self.prepare is None:
            raw = opened.encode_columns(schema.columns, numeric=schema.numeric, whole_floats=True)
        else:
            raw = self.prepare.prepared_data(self.prepare.read(opened, schema.levels_of))
        weights = weights_from_column(frame, self.weights)
        data = replace(raw.coded_by_schema(schema), weights=weights)
        return known_rows_and_facts(data, self.required)


Key = tuple[Hashable, tuple[Hashable, ...]]
"""A column and its levels."""


class Memo:
    """Results of passes over the data, shared by all selections of columns of the same rows.

    ``counted`` are the facts of the last pass, ``gaps`` the numbers of missing
    values by column, and ``labels`` the counts of the levels of targets, by
    column and levels. ``checks`` has the number of rows, a check sum and the
    gaps of each column, which must be the same in every pass.
    """

    def __init__(self) -> None:
        self.counted: Facts | None = None
        self.gaps: dict[Hashable, int] = {}
        self.labels: dict[Key, Array] = {}
        self.checks: dict[Key, tuple[int, int, int]] = {}

    def check_same_as_first_pass(self, facts: Facts, schema: Schema) -> None:
        """Raise a ValueError if rows or values of a column differ from those of a former pass."""
        for i, name in enumerate(schema.columns):
            seen = facts.kept, int(facts.checks[i]), int(facts.gaps[i])
            if self.checks.setdefault((name, schema.levels[i]), seen) != seen:
                raise ValueError(
                    "dataset must not change between passes over its parts; got different values "
                    f"of {shown(name)}. Copy the data, and use the copy."
                )

    def keep_facts(self, facts: Facts, columns: Sequence[Hashable]) -> bool:
        """Keep facts about some columns; return whether they are the first."""
        is_first = self.counted is None
        self.counted = facts
        for i, name in enumerate(columns):
            self.gaps[name] = int(facts.gaps[i])
        return is_first


@dataclass(frozen=True, eq=False, repr=False)
class Partitions(Countable, Opened["Partitions"]):
    """Categorical data that stay where they are, from ``encode(source, in_memory=False)``.

    Rows are encoded and counted part by part, or counted by their database.

    The object has the names and levels of the columns, but no codes.

    Attributes
    ----------
    source : Source
        The frames.
    reading : Reading
        How the frames are encoded.
    targets, order : tuple
        The class variables, and the columns in the given order, if the data are
        prepared for a learner.
    warns : bool
        Whether to warn of rows that lack the only target.
    memo : object
        Results of passes over the data.

    Examples
    --------
    >>> from bnclassify import encode, load_car, lp, tan_cl
    >>> car = load_car()
    >>> chunks = [car.iloc[start : start + 500] for start in range(0, 1728, 500)]
    >>> parts = encode(chunks, in_memory=False)
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
    def dask_frame(self) -> Any:
        """The Dask DataFrame that the data are, or None."""
        return dask_frame_of(getattr(self.source, "frame", None))

    @property
    def counted_by_source(self) -> bool:  # type: ignore[override]
        return source_counts_rows(self.source, self.reading)

    @property
    def is_weighted(self) -> bool:
        return self.reading.weights is not None

    @property
    def n_positive_and_fractional(self) -> tuple[int, int]:
        return self._row_facts.positive, self._row_facts.fractional

    def __len__(self) -> int:
        return self._row_facts.kept

    @property
    def size(self) -> float:
        return self._row_facts.size

    @property
    def incomplete(self) -> Mask:
        if not self.memo.gaps.keys() >= set(self.columns):
            self._keep_row_facts()
        return np.array([self.memo.gaps[name] for name in self.columns], dtype=bool)

    @property
    def _row_facts(self) -> Facts:
        """Facts about all rows, from an earlier pass over the data or a new one."""
        if self.memo.counted is None:
            self._keep_row_facts()
        assert self.memo.counted is not None  # `_keep_row_facts` keeps them
        return self.memo.counted

    def _keep_row_facts(self) -> None:
        """Keep the facts about all rows, from counts of the source or a pass over its frames."""
        facts = row_facts_from_source(self.source, self.columns, self.reading)
        if facts is None:
            self.sum_over_parts(len)  # every pass keeps the facts
        elif self.memo.keep_facts(facts, self.columns):
            self.check_rows_remain()

    @property
    def codes(self) -> ArrayOf[Any]:
        """Raise a TypeError, because rows in parts are not kept."""
        raise needs_rows_error("dataset")

    def coded_by_schema(self, schema: Schema) -> Partitions:
        return replace(self, reading=replace(self.reading, schema=schema))

    def select(self, columns: Sequence[Hashable]) -> Partitions:
        return self.coded_by_schema(self.schema.select(columns))

    def with_missing_level(self, columns: Collection[Hashable]) -> Partitions:
        return replace(self.coded_by_schema(self.schema.with_missing_level(columns)), memo=Memo())

    def rows_with_known(self, column: Hashable) -> Partitions:
        if column == self.reading.required:
            return self
        drops_rows = self.memo.gaps.get(column) != 0  # or it is not known
        memo = Memo() if drops_rows else self.memo
        return replace(self, reading=replace(self.reading, required=column), memo=memo)

    def encode(self, wanted: Columns = ALL) -> Partitions:
        chosen = wanted.check_names_of_columns(self.columns)
        numeric: Known = dict.fromkeys(wanted.numeric, ())
        levels = {**self.schema.levels_of, **(wanted.known or {}), **numeric}
        schema = Schema(chosen, tuple([levels[name] for name in chosen]), self.schema.ordered)
        return self.coded_by_schema(schema).rows_with_known(wanted.required)

    def prepared(self, preparation: Prepare, known: Known) -> Partitions:
        return self  # the frames are prepared when they are read

    def sum_from_source_or_parts(self, count: Callable[[Any], T]) -> T:
        if not self.counted_by_source:
            return self.sum_over_parts(count)
        if self.memo.counted is None:
            self._keep_row_facts()
        return count(self)

    def sum_over_parts(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of a function's results for each part of the rows.

        Workers call the function, so it must be picklable. The first pass warns
        of rows without a class, and raises if no row is left.
        """
        targets = tuple([name for name in self.targets if name in self.schema.positions])
        counting = partial(_count_frame, self.reading, count, targets)
        total, facts = self.source.reduce(counting, sum_nested, self.reading.columns)
        for name, counts in zip(targets, facts.labels, strict=True):
            self.memo.labels[name, self.schema.levels_of[name]] = counts
        self.memo.check_same_as_first_pass(facts, self.schema)
        if self.memo.keep_facts(facts, self.columns):
            self.check_rows_remain()
        return total

    def level_weights(self, name: Hashable) -> Array:
        known = self.memo.labels.get((name, self.schema.levels_of[name]))
        if known is not None:
            return known
        tables = self.tables_from_source([[self.positions[name]]])
        if tables is not None:
            return tables[0]
        return self.sum_over_parts(methodcaller("level_weights", name))

    def tables_from_source(self, families: Sequence[Sequence[int]]) -> list[Array] | None:
        if not self.counted_by_source:
            return None
        tables = []
        cells = self.family_codes_and_weights(families)
        for family, (codes, totals) in zip(families, cells, strict=True):
            table = np.zeros([self.cards[i] for i in family])
            observed = (codes >= 0).all(axis=0)
            np.add.at(table, tuple(codes[:, observed]), totals[observed])
            tables.append(table)
        return tables

    def family_codes_and_weights(
        self, families: Sequence[Sequence[int]]
    ) -> Iterator[tuple[Positions, Array]]:
        names = [tuple([self.columns[i] for i in family]) for family in families]
        if not self.counted_by_source:
            raise needs_rows_error("dataset")
        counted = label_counts_from_source(self.source, names, self.reading)
        return map(self._coded_counts, families, counted)

    def _coded_counts(self, family: Sequence[int], counts: LabelCounts) -> tuple[Positions, Array]:
        """Return the codes of counted labels, (members of the family, cells), and their counts.

        Example: {("a", "no"): 3, ("b", "no"): 1} with the levels (a, b) and
        (no, yes) has the codes [[0, 1], [0, 0]] and the counts [3, 1].
        """
        codes = np.empty((len(family), len(counts)), dtype=np.intp)
        for member, i in enumerate(family):
            labels = [cell[member] for cell in counts]
            coded, found = pd.factorize(pd.Series(labels, dtype=object))
            old, new = tuple(found), self.levels[i]
            codes[member] = recode_column(coded, old, new, self.columns[i], None)
        return codes, np.array(list(counts.values()), dtype=np.float64)

    def prepared_for(
        self, targets: tuple[Hashable, ...], order: tuple[Hashable, ...], warns: bool
    ) -> Partitions:
        """Return training data for targets, with the columns in the original order, or raise."""
        prepared = replace(self, targets=targets, order=order, warns=warns)
        prepared.check_rows_remain()
        return prepared

    def check_rows_remain(self) -> None:
        """Raise if no rows remain, and warn of rows without a class."""
        facts = self.memo.counted
        if not self.targets or facts is None:
            return
        unlabeled = all(self.memo.gaps.get(name) == facts.kept for name in self.targets)
        kept = 0 if unlabeled else facts.kept
        check_rows_remain(self.targets, facts.rows, kept, facts.size, self.warns)


def _count_frame(
    reading: Reading,
    count: Callable[[Dataset], T],
    targets: Sequence[Hashable],
    frame: pd.DataFrame,
) -> tuple[T, Facts]:
    """Count the rows of a frame, also by the labels of the targets; workers call this."""
    data, facts = reading(frame)
    return count(data), facts._replace(labels=tuple(map(data.level_weights, targets)))


def source_counts_rows(source: Source, reading: Reading) -> bool:
    """Whether the source can count the rows, so that no frame is needed to prepare them."""
    return hasattr(source, "count") and reading.prepare is None


def label_counts_from_source(
    source: Source, families: Sequence[tuple[Hashable, ...]], reading: Reading
) -> Sequence[LabelCounts]:
    """Return the counts of families by label of a source that counts the rows itself."""
    counting: Any = source
    counts: Sequence[LabelCounts] = counting.count(families, reading.required, reading.weights)
    return counts


def row_facts_from_source(
    source: Source, columns: Sequence[Hashable], reading: Reading
) -> Facts | None:
    """Return the facts about rows that the source counts itself."""
    if not source_counts_rows(source, reading):
        return None
    positive, fractional = 0, 0  # numbers of rows with such a weight
    check = getattr(source, "n_positive_and_fractional", None)
    if check is not None and reading.weights is not None:
        # before weights are added up, because their errors name the weight
        positive, fractional = check(reading.required, reading.weights)
    of_rows = replace(reading, weights=None)
    of_all_rows = replace(of_rows, required=None)
    families = [(), *[(name,) for name in columns]]
    kept, *known = map(_n_complete_rows, label_counts_from_source(source, families, of_rows))
    rows = _n_complete_rows(label_counts_from_source(source, [()], of_all_rows)[0])
    size = _n_complete_rows(label_counts_from_source(source, [()], reading)[0])
    # A column whose last level is that of missing values has no missing values.
    filled = [reading.schema.levels_of.get(name, ())[-1:] == (MISSING,) for name in columns]
    gaps = np.where(filled, 0, kept - np.array(known)).astype(np.int64)
    return Facts(int(rows), int(kept), size, gaps, positive, fractional)


def _n_complete_rows(counts: LabelCounts) -> float:
    """Return the number of rows without a missing value, whose label is None."""
    return float(sum(n for labels, n in counts.items() if None not in labels))
