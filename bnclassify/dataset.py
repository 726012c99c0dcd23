"""Data to learn from: codes, numbers, levels and weights, whatever they were read from.

A variable has a name and levels, which are its labels in order. A row has one
code per variable: the position of its label among the levels, or -1 if its
value is missing. Numeric columns also keep their numbers, and weights count
rows that are alike. `Schema` and `Columns` say which columns are read and with
which levels. `Dataset` holds the codes, (variables, rows), and everything after
this chapter works on codes; labels return only in results. `Countable` states
the questions that data of any source answer, so that rows that stay in a
database can be counted where they are. Labels of new data are matched by label,
never by code.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    cast,
)

import numpy as np
import pandas as pd

from .tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    Slice,
    code_type,
    slices,
    sum_nested,
    weights_at,
)
from .tools.checks import OneOf, check_columns
from .tools.immutable import EMPTY, Immutable, cached_property, make_read_only
from .tools.messages import (
    USUAL_SHARE,
    listed,
    needs_rows_error,
    share_of_known_values,
    shown,
    similar_names,
    warn,
)

# The names of columns and their levels, and which columns to read.


Levels = tuple[tuple[Hashable, ...], ...]

Known: TypeAlias = Mapping[Hashable, tuple[Hashable, ...]]
"""Levels by column."""


MISSING = "(missing)"
"""The last level of a column whose missing values are a level."""


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
        return tuple([len(labels) for labels in self.levels])

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        return {column: i for i, column in enumerate(self.columns)}

    @cached_property
    def levels_of(self) -> Known:
        return dict(zip(self.columns, self.levels, strict=True))

    @cached_property
    def numeric(self) -> dict[Hashable, bool]:
        """The columns of numbers, which have no levels, in the form of `Frame.encode_columns`."""
        return {name: True for name, labels in self.levels_of.items() if not labels}

    def select(self, columns: Sequence[Hashable]) -> Schema:
        """Return the schema of some columns, in their order."""
        if tuple(columns) == self.columns:
            return self
        levels = tuple([self.levels_of[column] for column in columns])
        return Schema(tuple(columns), levels, self.ordered)

    def with_levels(self, levels: Known) -> Schema:
        known = {**self.levels_of, **levels}
        return Schema(self.columns, tuple([known[name] for name in self.columns]), self.ordered)

    def with_missing_level(self, columns: Collection[Hashable]) -> Schema:
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

Numeric: TypeAlias = bool | tuple[Hashable, ...]
"""Columns to keep as numbers, or True for those that `discretize` discretizes by default."""


MOST_CODES = 10
"""Maximum number of distinct whole numbers in a column of codes, which stay categories."""


def are_categories(labels: tuple[Any, ...]) -> bool:
    """Whether numbers are categories: at most two values, or ``MOST_CODES`` whole numbers."""
    return len(labels) <= 2 or (
        len(labels) <= MOST_CODES and all(isinstance(x, int) for x in labels)
    )


# Codes of a column in terms of other levels, matched by label; messages about unseen labels.


_UNSEEN = -2
"""Code of a label that is not among the levels; a missing value has -1."""


_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
)
_SPACES_IN_RANGES = re.compile(r"(?<=\d) ?([-.,;:/]) ?(?=\d)")
_ZEROS = re.compile(r"(?<![\w.,])0+(?=\d)|(?<![\w.,])(\d+)\.0+(?![\w.])")
_OVERLOOKED = re.compile(
    r"""(?<!\d)[ ;:/\\]|[ ;:/\\](?!\d)"""  # not in 1 2, 1:2 or 1/2
    r"""|[.,](?!\d)|(?<=[^\W\d])[.,]"""  # not in 1.5 or .5
    r"""|-(?= ?[^\W\d])|(?<=[^\W\d])-(?=\d)"""  # not in -5, 1-2 or A-
    r"""|(?<!\d)[()\[\]{}](?!\d)|[!'"`]"""  # not in (5) or (1, 2]
)
_CHARACTERS = dict.fromkeys(("Zs", "Zl", "Zp", "Cc", "Pc"), " ") | {
    "Pd": "-",
    "Pi": "'",
    "Pf": "'",
    "Cf": "",
}
"""What a character of a category of Unicode, such as a dash or a joiner without width, is for a
reader."""


def label_as_read(label: Hashable) -> Hashable:
    """Return the number that a label is, or its text without what a person overlooks.

    Labels of which this is equal are one label for a person: they differ only
    in white space, case, punctuation, characters without width, the form or
    encoding of Unicode, or zeros that do not change a number. Signs that change
    the meaning, such as those of ``A-``, ``-5``, ``1-5``, ``<5`` and ``5 %``, are kept.

    >>> label_as_read("Self-employed "), label_as_read("self_employed.")
    ('selfemployed', 'selfemployed')
    >>> label_as_read("007") == label_as_read(7.0), label_as_read("A-"), label_as_read("A")
    (True, 'a-', 'a')
    """
    text = str(label).casefold()
    if text.isascii() and text.isalpha():
        return text
    if not text.isascii():
        with suppress(UnicodeError):  # UTF-8 that was read as Latin-1 has two letters for one
            text = str(label).encode("cp1252").decode().casefold()
        text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
        text = "".join([_CHARACTERS.get(unicodedata.category(c), c) for c in text])
    text = " ".join(text.replace("_", " ").split())
    text = _ZEROS.sub(r"\1", _SPACES_IN_RANGES.sub(r"\1", text))
    read = _OVERLOOKED.sub("", text) or text
    return Decimal(read.replace(",", "")) if _NUMBER.fullmatch(read) else read


def check_unseen(unseen: object) -> None:
    OneOf(("error", "missing")).check("unseen", unseen)


REFIT = (
    "Correct such values, drop their rows, refit the model to all rows, or add levels with "
    "update(..., levels='grow'). A column that is categorical before the data are "
    "split keeps all levels."
)
"""The remedy for unseen labels."""

TREAT_AS_MISSING = (
    "With unseen='missing', or in methods of BNCClassifier handle_unknown='missing', such values "
    "are treated as missing. A column that is categorical before the data are split keeps all "
    "levels."
)
"""The remedy if unseen labels can be treated as missing."""


def recode_column(
    codes: Codes,
    old: tuple[Hashable, ...],
    new: tuple[Hashable, ...],
    name: Hashable,
    unseen: int | None,
    advice: str = REFIT,
) -> Positions:
    """Return a column's codes for ``new`` levels; ``unseen`` is the code of others, or None."""
    position: dict[Hashable, int] = {label: code for code, label in enumerate(new)}
    missing = len(new) - 1 if new and new[-1] == MISSING else -1
    # The last entry is the code of a missing value, -1.
    places = [position.get(label, _UNSEEN) for label in old]
    if new and isinstance(new[0], pd.Interval):
        for code, label in enumerate(old):
            if places[code] == _UNSEEN:
                places[code] = _position_of_interval(label, new)
    floats = [c for c, x in enumerate(old) if places[c] == _UNSEEN and isinstance(x, float)]
    for code, place in zip(
        floats, _positions_but_for_rounding([old[c] for c in floats], new), strict=True
    ):
        places[code] = place
    matched: Positions = np.array([*places, missing])[codes]
    is_unseen: Mask = matched == _UNSEEN
    if is_unseen.any():
        strange = [old[code] for code in np.unique(codes[is_unseen])]
        none_known = not ((matched >= 0) & (codes >= 0)).any()
        # A label that is treated as missing can be a mistake by itself, so all must differ from
        # known ones only in type. Of labels merged with rare ones, most are unknown in any case.
        alike = [_differ_only_in_type([label], new) for label in strange]
        has_other_type = _are_numbers_for_text(strange, new) or any(alike)
        if unseen is not None and unseen < 0:
            has_other_type = _are_numbers_for_text(strange, new) or all(alike)
        if unseen is None or (none_known and has_other_type):
            message = _unknown_labels_message(strange, new, advice)
            raise ValueError(f"column {shown(name)}: {message}")
        matched[is_unseen] = unseen
    return matched


def _position_of_interval(label: Hashable, intervals: Sequence[Hashable]) -> int:
    """Return the position of the interval that contains a number, or is written as a text."""
    number: Any = label if isinstance(label, Real) and not isinstance(label, bool) else None
    for code, interval in enumerate(intervals):
        if isinstance(label, str) and label.strip() == str(interval):
            return code
        if number is not None and isinstance(interval, pd.Interval) and number in interval:
            return code
    return _UNSEEN


def _positions_but_for_rounding(numbers: Sequence[Any], levels: Sequence[Any]) -> Sequence[int]:
    """Return the positions of the levels that numbers equal but for rounding."""
    position = {
        float(level): code
        for code, level in enumerate(levels)
        if isinstance(level, float) or (type(level) is int and abs(level) < 2**53)
    }
    if not position or not numbers:
        return [_UNSEEN] * len(numbers)
    known = pd.Index(sorted(position), dtype=np.float64)
    nearest = known.get_indexer(
        pd.Index(numbers), method="nearest", tolerance=rounding_of_numbers(known)
    )
    return [position[known[place]] if place >= 0 else _UNSEEN for place in nearest.tolist()]


def rounding_of_numbers(levels: Iterable[float]) -> float:
    """Return by how much a number may differ from one of these levels because of its type.

    It is the rounding of float32, but at most a thousandth of the smallest gap.
    """
    known = np.unique(list(levels))
    gap = float(np.diff(known).min(initial=np.inf))
    return min(gap / 1000, float(np.abs(known).max()) * 2.0**-23)


def united_levels(
    name: Hashable, known: tuple[Hashable, ...], more: Iterable[Hashable]
) -> tuple[Hashable, ...]:
    """Return the levels of a column, then further ones of other data; "(missing)" stays last."""
    strange = [label for label in more if label not in known]
    in_other_type = [label for label in strange if _differ_only_in_type([label], known)]
    if in_other_type or (strange and _are_numbers_for_text(strange, known)):
        message = _unknown_labels_message(in_other_type or strange, known, REFIT)
        raise ValueError(f"column {shown(name)}: {message}")
    return tuple(sorted((*known, *strange), key=lambda label: label == MISSING))


def _differ_only_in_type(strange: Iterable[Hashable], known: Iterable[Hashable]) -> bool:
    """Whether all labels differ from known ones only in type, or by the .0 of whole floats."""
    known_texts = {str(label).removesuffix(".0") for label in known}
    return all(str(label).removesuffix(".0") in known_texts for label in strange)


def _are_numbers_for_text(strange: Iterable[Hashable], known: Sequence[Hashable]) -> bool:
    """Whether labels are numbers, but text in training, as the intervals of a discretizer are."""
    is_text = len(known) > 0 and all(isinstance(label, str) for label in known)
    return is_text and all(isinstance(label, Real) for label in strange)


def _unknown_labels_message(
    strange: Sequence[Hashable], known: tuple[Hashable, ...], remedy: str
) -> str:
    if _differ_only_in_type(strange, known):
        without_zero = [str(label).removesuffix(".0") for label in strange]
        code = "column.map(str, na_action='ignore')"
        if isinstance(known[0], bool):
            code = "column.map({'True': True, 'False': False})"
        elif not isinstance(known[0], str):
            code = "pd.to_numeric(column)"
        elif all(map(str.isdecimal, without_zero)):
            code = "pd.to_numeric(column).astype('Int64').astype('string')"
            code += "" if set(without_zero) <= set(known) else " + '.0'"
        remedy = f"{_difference_in_words(strange, known)} Convert the column, with {code}."
    elif _are_numbers_for_text(strange, known):
        remedy = f"{_difference_in_words(strange, known)} Convert the column."
        if any(str(label).startswith("(") for label in known):  # intervals
            remedy = "Apply the discretizer that discretize returned in training, or convert it."
    else:
        read = [label_as_read(label) for label in strange]
        if alike := [level for level in known if label_as_read(level) in read]:
            remedy = f"Did you mean {listed(alike)}? {remedy}"
    return f"{listed(strange, most=8)} not among the levels of the model, {listed(known)}. {remedy}"


def _difference_in_words(strange: Sequence[Hashable], known: Sequence[Hashable]) -> str:
    here, there = type(strange[0]).__name__, type(known[0]).__name__
    if here != there:
        return f"They are of type {here} here and {there} in the model."
    return "They differ only by .0, as in a column with missing values."


def warn_of_unseen_labels(
    name: Hashable,
    codes: Codes,
    old: tuple[Hashable, ...],
    is_unseen: Mask,
    levels: tuple[Hashable, ...],
    *,
    merged: Hashable = None,
) -> None:
    """Warn if more than a tenth of the known values are not among the levels, or some are alike.

    The ``codes`` of the rows refer to the ``old`` labels. Of labels that are
    ``merged`` into one, which include rare ones, only those that read like a
    level matter. Measurements in a few rows need not occur among a few numbers.
    """
    levels = levels[:-1] if levels[-1:] == (MISSING,) else levels
    counts = np.bincount(codes[is_unseen], minlength=len(old))
    strange = {old[code]: int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    read = _levels_by_reading(levels, tuple(map(type, levels)))
    alike = [label for label in strange if label_as_read(label) in read]
    n_known, n_unseen = int(np.count_nonzero(codes >= 0)), sum(strange.values())
    if not alike:
        are_numbers = all(isinstance(label, int | float) for label in (*strange, *levels))
        is_usual = n_unseen <= USUAL_SHARE * n_known or (are_numbers and n_known < len(levels))
        if merged is not None or is_usual:
            return
    n_told = sum(strange[label] for label in alike) if merged is not None else n_unseen
    example = max(alike or strange, key=strange.__getitem__)
    fate = "treated as missing" if merged is None else f"merged into {shown(merged)}"
    if alike:
        level = shown(read[label_as_read(example)])
        hint = f"{shown(example)} reads like the level {level}. Write both in the same way."
    else:
        nearest: list[Any] = similar_names(example, levels)[:1]
        numbers: list[Any] = [level for level in levels if isinstance(level, Real)]
        if isinstance(example, Real) and numbers:
            value: Any = example
            nearest = [min(numbers, key=lambda level: abs(level - value))]
        hint = f"The nearest level is {shown(nearest[0])}." if nearest else ""
        hint = f"{hint} The levels are {listed(levels)}.".lstrip()
    warn(
        f"column {shown(name)}: {share_of_known_values(n_told, n_known)}, such as "
        f"{shown(example)}, are not among the levels of the model and are {fate}. {hint}"
    )


@lru_cache(maxsize=64)
def _levels_by_reading(
    levels: tuple[Hashable, ...], types: tuple[type, ...]
) -> dict[Hashable, Hashable]:
    """Return the first of the levels that are read in the same way; equal levels differ in type."""
    return {label_as_read(level): level for level in reversed(levels)}


# Data to learn from, of any source, and rows in memory as integer codes and numbers.


_PART_ROWS = 2**20
"""Rows in memory are counted in parts of this size, so that temporary arrays stay small."""

T = TypeVar("T")
Data = TypeVar("Data", bound="Dataset")
Read = TypeVar("Read", bound="Countable", covariant=True)


class Prepare(Protocol):
    """Converts raw columns to categories."""

    def read(self, rows: Opened[Dataset], known: Known, named_by: str = "dataset", /) -> Dataset:
        """Encode the raw columns of a model, which has the ``known`` levels."""

    def prepared_data(self, data: Data, /) -> Data:
        """Prepare encoded data, unless they are prepared."""


class Opened(ABC, Generic[Read]):
    """Rows to read, of any source, encoded or not: what `open_data` returns.

    Each class reads its own type of data, so that functions need not ask for
    the type. Rows of an ``Opened[Dataset]`` are in memory, for which the
    methods are written here; ``OpenedData`` can be partitioned, too.
    """

    in_parts: ClassVar[bool] = False
    """Whether rows are partitioned, so that they need not be in memory together."""

    @property
    @abstractmethod
    def columns(self) -> Sequence[Hashable]:
        """Names of the columns."""

    @property
    def types(self) -> Mapping[Hashable, str]:
        """The types of values by column, as pandas infers them, if the data are a frame."""
        return EMPTY

    @abstractmethod
    def encode(self, wanted: Columns = ALL) -> Read:
        """Return at least the given columns, in any order; see `read`."""

    def read(self, wanted: Columns = ALL) -> Read:
        """Return columns (by default, all) in the given order, coded or as numbers."""
        data = self.encode(wanted)
        return data if wanted.names is None else data.select(tuple(dict.fromkeys(wanted.names)))

    def encode_raw(
        self, class_var: Hashable, columns: Collection[Hashable], coded: Collection[Hashable] = ()
    ) -> Read:
        """Encode columns; numeric ones have codes if they have few values or are ``coded``."""
        return self.encode(Columns(columns))

    def data_and_numeric_features(
        self, numeric: Numeric, features: Sequence[Hashable], targets: Sequence[Hashable]
    ) -> tuple[Any, tuple[Hashable, ...]]:
        """Return the data, and the features to keep as numbers: those named, or raise.

        If ``numeric`` is True, the data are encoded, and numbers are the features
        whose numbers are not categories.
        """
        if numeric is not True:
            named = check_columns(numeric or (), features, "numbers")
            return self, tuple([name for name in features if name in named])
        if self.in_parts and not isinstance(self, Countable):
            raise TypeError(
                "numbers must be a dict {column: method} if data are counted part by part; got "
                "text. Name the numeric columns."
            )
        wanted = (*features, *targets)
        check_columns(wanted, self.columns, "dataset")
        data: Any = self.encode_raw(targets[0] if targets else None, wanted, targets)
        levels = data.schema.levels_of
        numbers = [name for name in features if name in data.numbers]
        numbers = [name for name in numbers if not (levels[name] and are_categories(levels[name]))]
        return data, tuple(numbers)

    def prepared(self, preparation: Prepare, known: Known) -> Opened[Read]:
        """Return the data with the categories of a model, which has the ``known`` levels."""
        raw = preparation.read(self.check_in_memory("dataset"), known)
        return cast("Opened[Read]", preparation.prepared_data(raw))

    def check_in_memory(self, argument: str) -> Opened[Dataset]:
        """Return data whose rows are in memory; for others, raise a TypeError with the argument."""
        if self.in_parts:
            raise needs_rows_error(argument)
        return cast("Opened[Dataset]", self)


class Countable(Immutable):
    """Data ready to learn from: coded, in memory or counted where they are, as by a database.

    `Dataset` describes the members.

    Prepared training data have features, then the target variables.
    """

    in_parts: ClassVar[bool] = False

    if TYPE_CHECKING:  # read-only for callers; fields or properties of subclasses

        @property
        def schema(self) -> Schema: ...
        @property
        def size(self) -> float: ...
        @property
        def incomplete(self) -> Mask: ...
        @property
        def is_weighted(self) -> bool: ...
        @property
        def n_positive_and_fractional(self) -> tuple[int, int]: ...
        def __len__(self) -> int: ...
        def sum_over_parts(self, count: Callable[[Dataset], T]) -> T: ...
        def sum_from_source_or_parts(self, count: Callable[[Any], T]) -> T: ...
        def select(self, columns: Sequence[Hashable]) -> Self: ...
        def family_codes_and_weights(
            self, families: Sequence[Sequence[int]]
        ) -> Iterable[tuple[ArrayOf[Any], Array | None]]: ...
        def coded_by_schema(self, schema: Schema) -> Countable: ...
        def rows_with_known(self, column: Hashable) -> Self: ...
        def with_missing_level(self, columns: Collection[Hashable]) -> Self: ...
        def level_weights(self, name: Hashable) -> Array: ...

    counted_by_source: ClassVar[bool] = False
    """Whether the source of the rows counts families, as a database can."""

    numbers: Mapping[Hashable, ArrayOf[Any]] = EMPTY
    cases: Positions | None = None
    given: int = 0
    targets: tuple[Hashable, ...] = ()
    order: tuple[Hashable, ...] = ()
    """The columns in their original order, if the data are prepared."""

    def with_positive_weights(self) -> Self:
        """Return the rows of positive weight; others add nothing to sums over partitioned data."""
        return self

    def tables_from_source(self, families: Sequence[Sequence[int]]) -> list[Array] | None:
        """Return the tables of families if they are ``counted_by_source``."""
        return None

    @cached_property
    def columns(self) -> tuple[Hashable, ...]:
        return self.schema.columns

    @cached_property
    def levels(self) -> Levels:
        """The labels of each column; code ``k`` stands for label ``k``."""
        return self.schema.levels

    @cached_property
    def cards(self) -> tuple[int, ...]:
        return self.schema.cards

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        return self.schema.positions

    @property
    def class_var(self) -> Hashable:
        """The name of the only target."""
        [name] = self.targets
        return name

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """All columns but the targets, which are the last."""
        return self.columns[: len(self.columns) - len(self.targets)]

    @property
    def in_original_column_order(self) -> Countable:
        return self.select(self.order)

    @property
    def codings(self) -> Iterable[Countable]:
        """The codings over whose rows statistics of pairs are averaged; a Dataset has one."""
        return (self,)


OpenedData: TypeAlias = Opened[Countable]
"""Opened data of any source, with rows in memory or partitioned."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Countable, Opened["Dataset"]):
    """Categorical data as integer codes, from `encode`, accepted like a frame.

    Attributes
    ----------
    schema : Schema
        Names and levels of the columns.
    codes : (columns, rows) array of signed integers
        In the smallest type for the numbers of levels; -1 is missing.
    index : pandas.Index
        Row labels of the data frame.
    weights : (rows,) array or None
        Weight of each row, 0 or more; None if each row counts once.
    numbers : mapping
        The values of numeric columns, NaN if missing. They have no levels, and
        codes of -1, unless they are coded.
    cases : (rows,) array of integers or None
        The number of the case of each row, which is held out as a whole. If
        None, each unit of weight is a case.
    given : int
        The number of rows if each row is a case because weights have fractions;
        if not, 0.
    unsaid : (columns, rows) array of bool or None
        Which of the missing values are unknown, because a record omits them.

    Examples
    --------
    >>> from bnclassify import encode, load_car
    >>> data = encode(load_car())
    >>> data
    Dataset: 1728 rows, 7 columns, 0 missing values
    >>> data.schema.levels[-1], data.codes[-1, :3].tolist()
    (('unacc', 'acc', 'good', 'vgood'), [0, 0, 0])
    """

    schema: Schema
    codes: Codes
    index: pd.Index[Any]
    weights: Array | None = None
    numbers: Mapping[Hashable, ArrayOf[Any]] = field(default_factory=dict)
    cases: Positions | None = None
    given: int = 0
    unsaid: Mask | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    def encode(self, wanted: Columns = ALL) -> Self:
        wanted.check_names_of_columns(self.columns)
        return self.columns_as_numbers([name for name in wanted.numeric if name in self.positions])

    def __repr__(self) -> str:
        raw = {name for name in self.numbers if not self.levels[self.positions[name]]}
        missing = int(np.count_nonzero(self.codes < 0)) - len(raw) * len(self)
        missing += sum(int(np.isnan(as_floats(self.numbers[name])).sum()) for name in raw)
        counted = f"{self.size:,.0f}" if self.size == round(self.size) else f"{self.size:,g}"
        weighed = f" that count {counted}" if self.is_weighted else ""
        return (
            f"Dataset: {len(self)} rows{weighed}, {len(self.columns)} columns, "
            f"{missing} missing values"
        )

    @property
    def is_weighted(self) -> bool:
        return self.weights is not None

    @property
    def row_weights(self) -> Array:
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def n_positive_and_fractional(self) -> tuple[int, int]:
        """Number of positive weights, and of weights that are not whole numbers."""
        weights = self.row_weights
        return int(np.count_nonzero(weights)), int(np.count_nonzero(weights % 1))

    @cached_property
    def size(self) -> float:
        """Sum of the weights; without weights, the number of rows."""
        return len(self) if self.weights is None else float(self.weights.sum())

    @cached_property
    def incomplete(self) -> Mask:
        incomplete: Mask = self.codes.min(axis=1, initial=0) < 0
        make_read_only(incomplete)
        return incomplete

    @property
    def held_out_weights(self) -> Array:
        """The weight of each row that is held out with it: all if rows have cases, or at most 1."""
        weights = self.row_weights
        return weights if self.cases is not None else np.minimum(weights, 1.0)

    def sum_over_parts(self, count: Callable[[Dataset], T]) -> T:
        """Return the sum of the results of a function for each part of the rows.

        The results are numbers, arrays, or tuples, lists and dicts of them, of
        the same shape for all parts.
        """
        if len(self) <= _PART_ROWS:
            return count(self)
        parts = map(self.take_rows, slices(len(self), most=_PART_ROWS))
        return sum_nested(map(count, parts))

    sum_from_source_or_parts = sum_over_parts

    def level_weights(self, name: Hashable) -> Array:
        codes: Codes = self.codes[self.positions[name]]
        n_codes = len(self.schema.levels_of[name]) + 1
        return np.bincount(codes.astype(np.intp) + 1, self.weights, n_codes)[1:].astype(np.float64)

    def family_codes_and_weights(
        self, families: Sequence[Sequence[int]]
    ) -> Iterable[tuple[ArrayOf[Any], Array | None]]:
        """Yield codes of families, (columns, rows), and weights; a source can merge equal rows."""
        return ((self.codes[list(family)], self.weights) for family in families)

    def take_rows(self, rows: Positions | Mask | Slice) -> Self:
        """Return rows by position, by a mask or by a slice, with the levels unchanged."""
        if isinstance(rows, slice):
            codes = self.codes[:, rows]
        else:
            rows = np.flatnonzero(rows) if rows.dtype == bool else rows
            codes = self.codes.take(rows, axis=1)
        return replace(
            self,
            codes=codes,
            index=self.index[rows],
            weights=weights_at(self.weights, rows),
            numbers={name: values[rows] for name, values in self.numbers.items()},
            cases=None if self.cases is None else self.cases[rows],
            unsaid=None if self.unsaid is None else self.unsaid[:, rows],
        )

    def rows_with_known(self, column: Hashable) -> Self:
        """Return the rows in which a column is known; all rows if it is None."""
        if column is None:
            return self
        known: Mask = self.codes[self.positions[column]] >= 0
        return self if known.all() else self.take_rows(known)

    def select(self, columns: Sequence[Hashable]) -> Self:
        """Return some of the columns in this order, without a copy if they are adjacent."""
        if tuple(columns) == self.columns:
            return self
        where = [self.positions[column] for column in columns]
        return replace(
            self,
            schema=self.schema.select(columns),
            codes=codes_of_columns(self.codes, where),
            numbers={name: values for name, values in self.numbers.items() if name in columns},
            unsaid=None if self.unsaid is None else self.unsaid[where],
        )

    def with_unknown_columns(self, levels: Known) -> Self:
        """Return the data in which the values of these columns are unknown; absent ones are added.

        A column without levels is one of numbers.
        """
        if not levels:
            return self
        added = [name for name in levels if name not in self.positions]
        schema = Schema((*self.columns, *added), (*self.levels, *[()] * len(added)))
        codes = np.full((len(schema.columns), len(self)), -1, dtype=self.codes.dtype)
        codes[: len(self.codes)] = self.codes
        unknown = np.isin(np.arange(len(codes)), [schema.positions[name] for name in levels])
        unsaid = np.repeat(unknown[:, None], len(self), axis=1)
        if self.unsaid is not None:
            unsaid[: len(self.codes)] |= self.unsaid
        numbers = dict(self.numbers)
        numbers |= {name: np.full(len(self), np.nan) for name in added if not levels[name]}
        return replace(self, schema=schema, codes=codes, numbers=numbers, unsaid=unsaid)

    def known_values(self, column: Hashable) -> Mask:
        """Return in which rows a column, coded or of numbers, has a value."""
        known: Mask = self.codes[self.positions[column]] >= 0
        if column in self.numbers:
            known |= ~np.isnan(as_floats(self.numbers[column]))
        return known

    def split_off_column(self, column: Hashable) -> tuple[Self, ArrayOf[Any]]:
        """Return the data without a column, and its numbers or codes, NaN where missing."""
        codes: Codes = self.codes[self.positions[column]]
        values: ArrayOf[Any] = self.numbers.get(column, np.where(codes < 0, np.nan, codes))
        return self.select([name for name in self.columns if name != column]), values

    def with_codes(self, coded: Mapping[Hashable, tuple[tuple[Any, ...], ArrayOf[Any]]]) -> Self:
        """Return the data with these levels and codes of columns, which keep their numbers."""
        if not coded:
            return self
        schema = self.schema.with_levels({name: labels for name, (labels, _) in coded.items()})
        codes = np.empty(self.codes.shape, dtype=code_type(max(schema.cards)))
        for row, name, old in zip(codes, self.columns, self.codes, strict=True):
            row[:] = coded[name][1] if name in coded else old
        return replace(self, schema=schema, codes=codes)

    def columns_as_numbers(self, columns: Iterable[Hashable]) -> Self:
        """Return the data with some columns as numbers, without codes; columns of text raise."""
        levels_of = self.schema.levels_of
        chosen = [name for name in columns if levels_of[name] or name not in self.numbers]
        if not chosen:
            return self
        numbers, no_codes = dict(self.numbers), np.full(len(self), -1)
        for name in chosen:
            if name in numbers:
                numbers[name] = as_floats(numbers[name])
            else:
                labels: tuple[Any, ...] = levels_of[name]
                if any(isinstance(label, bool) or not isinstance(label, Real) for label in labels):
                    raise TypeError(
                        f"column {shown(name)} must hold numbers; got the levels {listed(labels)}. "
                        "Exclude it from numbers, or convert it, for example with pd.to_numeric."
                    )
                floats = np.array([*map(float, labels), np.nan])
                numbers[name] = floats[self.codes[self.positions[name]]]
        data = self.with_codes(dict.fromkeys(chosen, ((), no_codes)))
        return replace(data, numbers=numbers)

    def with_missing_level(self, columns: Collection[Hashable]) -> Self:
        """Return the data with missing values of some columns as their last level."""
        if not columns:
            return self
        chosen = [name for name in self.columns if name in columns]
        levels = self.schema.with_missing_level(columns).select(chosen).levels
        codes = codes_by_levels(self, chosen, levels)
        return self.with_codes(dict(zip(chosen, zip(levels, codes, strict=True), strict=True)))

    def coded_by_schema(self, schema: Schema) -> Dataset:
        codes = codes_by_levels(self, schema.columns, schema.levels)
        numbers = {name: self.numbers[name] for name in schema.columns if name in self.numbers}
        return Dataset(schema, codes, self.index, self.weights, numbers, self.cases, self.given)

    def with_positive_weights(self) -> Self:
        are_positive = self.weights is None or self.weights.all()
        return self if are_positive else self.take_rows(self.row_weights > 0)


def as_floats(numbers: ArrayOf[Any]) -> Array:
    """Return numbers as floats, including integers that floats cannot distinguish."""
    return numbers if numbers.dtype == np.float64 else numbers.astype(np.float64)


def codes_of_columns(codes: Codes, where: list[int]) -> Codes:
    """Select columns by position, without a copy if they are adjacent."""
    first = where[0] if where else 0
    adjacent = slice(first, first + len(where))
    return codes[adjacent] if where == list(range(first, adjacent.stop)) else codes[where]


def codes_of_class(data: Dataset, class_var: Hashable, levels: tuple[Hashable, ...]) -> Codes:
    """Return the codes of the class in data to evaluate a model on; every row must have one."""
    classes: Codes = codes_by_levels(data, (class_var,), (levels,))[0]
    unknown = int(np.count_nonzero(classes < 0))
    if unknown:
        raise ValueError(
            f"dataset: {unknown} of {len(data)} rows have no class {shown(class_var)}. Drop them, "
            f"for example with .dropna(subset=[{shown(class_var)}])."
        )
    return classes


def codes_by_levels(
    data: Dataset, columns: Sequence[Hashable], levels: Levels, *, unseen: str | None = None
) -> Codes:
    """Return (columns, rows) codes by other levels, matched by label; unseen are -1 or raise."""
    positions, old_levels = data.positions, data.levels
    where = [positions[name] for name in columns]
    codes = codes_of_columns(data.codes, where)
    pairs = zip(where, levels, strict=True)
    same = [old_levels[i] == new and new[-1:] != (MISSING,) for i, new in pairs]
    if all(same):
        return codes
    longest = max(len(labels) for labels in levels)
    matched = np.empty(codes.shape, dtype=np.promote_types(codes.dtype, code_type(longest)))
    code = -1 if unseen == "missing" else None
    advice = REFIT if unseen is None else TREAT_AS_MISSING
    old: Codes
    for k, (old, i, labels) in enumerate(zip(codes, where, levels, strict=True)):
        known, name = old_levels[i], columns[k]
        row = old if same[k] else recode_column(old, known, labels, name, code, advice)
        matched[k] = row
        is_unseen: Mask = (row < 0) & (old >= 0)
        if code is not None and is_unseen.any():
            warn_of_unseen_labels(name, old, known, is_unseen, labels)
    return matched
