"""Entrance of data of any source: its type is recognized, its columns are checked, its levels are found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from ..base.arrays import Positions, added
from ..base.calls import guided
from ..base.checks import Names, OneOf, check_columns
from ..base.immutable import cached_property
from ..base.messages import cut, listed, shown, warn
from .columns import check_categorical, column_arrays
from .encoding import Facts, Frame, Reading, Records, check_unique, encode_frame, with_class
from .numeric import (
    are_categories,
    check_index,
    check_weights,
    is_categorical,
    labels_to_keep,
    names_column,
    read_numbers,
)
from .partitions import Memo, Partitions, ask_source, facts_of_source
from .schema import (
    ALL,
    MISSING,
    Columns,
    Countable,
    Dataset,
    InMemory,
    Known,
    Learnable,
    Levels,
    Opened,
    Prepare,
    Schema,
)
from .sources import AnyFrame, Source, converted, find_source

Rows: TypeAlias = pd.DataFrame | Dataset
InFull: TypeAlias = Rows | AnyFrame
"""Data with rows in memory."""

InParts: TypeAlias = Learnable | Callable[[], Iterable[Any]] | Sequence[pd.DataFrame]
"""Partitioned data, including a Dask DataFrame, which has no type annotation."""

Meaning: TypeAlias = Literal["frequencies", "cases"]
Data = TypeVar("Data", bound=Dataset)


@overload
def encode(
    frame: InFull, *, weights: Any = None, weights_are: Meaning | None = None, missing_level: Any = False
) -> Dataset: ...
@overload
def encode(
    frame: InParts, *, weights: Any = None, weights_are: Meaning | None = None, missing_level: Any = False
) -> Partitions: ...
@guided("Pass weights by name: encode(frame, weights=name).")
def encode(
    frame: Any, *, weights: Any = None, weights_are: Meaning | None = None, missing_level: Any = False
) -> Dataset | Partitions:
    """Encode categorical data as integers, once for many calls.

    Every function of the package accepts a data frame or the result of this function. Encoding first saves
    time if several functions use the same data, and can assign weights to rows, as in a table of frequencies.

    Parameters
    ----------
    frame : pandas.DataFrame or another frame, Dataset, or partitioned data
        Columns of type category (levels in the order of the categories, including unobserved
        ones), text, bool or integer (levels sorted). Missing values are NaN, None or pd.NA.
    weights : str or array-like of numbers, optional
        Weight of each row, 0 or more: the name of a column, which is then not a feature, or one number per
        row. All counts are sums of weights, so whole weights are equivalent to repeated rows.
    weights_are : {"frequencies", "cases"}, default "frequencies"
        Meaning of the weights. Frequencies are numbers of equal rows. "cases" are survey or importance
        weights: each row is one case, which is held out as a whole, and weights are scaled to sum to the
        effective number of rows, (Σw)² / Σw² (Kish). Penalties, tests and intervals use this number.
    missing_level : bool or list of str, default False
        If True, missing values become a level "(missing)" in each column that has missing values, also in new
        data; a list names exactly the columns. Name the features if the class has missing values.

    Returns
    -------
    Dataset or Partitions
        Codes, levels and weights; Partitions if ``frame`` is partitioned, of which the rows are not copied.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column contains numbers with fractions, dates, or values of several types, a weight is missing,
        infinite or below 0, or a column has a level "(missing)" already.

    Notes
    -----
    With the extra ``frames``, data frames of other libraries are accepted, too: a polars DataFrame or
    LazyFrame, an Arrow table, a DuckDB relation, and all that narwhals or the interface of Arrow supports.
    `predict` and `cv_predict` return the type of the data, all other functions return pandas.

    Partitioned data need not fit in memory. They are a Dask DataFrame, a function that returns a new iterator
    of data frames at each call, such as ``lambda: pd.read_csv(path, chunksize=100_000)``, a list of data
    frames, or a table of ibis, which its database counts by GROUP BY queries. All functions that only count
    accept them, and their results are the same as in memory. Weights are the name of a column.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import encode
    >>> counted = pd.DataFrame({"sex": ["f", "f", "m", "m"], "survived": ["no", "yes", "no", "yes"],
    ...                         "people": [126, 344, 1364, 367]})
    >>> data = encode(counted, weights="people", weights_are="frequencies")
    >>> data
    Dataset: 4 rows that count 2,201, 2 columns, 0 missing values
    """
    if weights_are is not None:
        OneOf(("frequencies", "cases")).check("weights_are", weights_are)
        if weights is None:
            raise ValueError("weights must be given if weights_are is given; got None.")
    opened = open_data(frame, "frame")
    if weights is not None:
        opened = opened.weighed(weights)
    data: Any = opened if isinstance(opened, Countable) else opened.read()
    if isinstance(data, Dataset) and weights is not None:
        data = each_a_case(data) if weights_are == "cases" else data
        if weights_are is None:
            _warn_of_weights(data)
    elif weights_are == "cases":
        raise TypeError("weights_are must be 'frequencies' if data are partitioned; got 'cases'.")
    return data if missing_level is False else add_missing_level(data, missing_level)


def each_a_case(data: Data) -> Data:
    """Return data in which each row is a case, with weights that sum to the effective number of rows."""
    assert data.weights is not None
    size = data.weights.max(initial=0.0) or 1.0
    weights = data.weights / size
    scale = weights.sum() / max(np.square(weights).sum(), 1e-300)
    return replace(data, weights=weights * scale, cases=np.arange(len(data)))


def group_labels(dataset: Any, groups: Any, targets: Collection[Hashable] = ()) -> tuple[InMemory, Positions]:
    """Return data without the column of groups, and the number of the group of each row, or raise.

    ``groups`` is the name of a column, but not of a target, or one label per row.
    """
    rows, labels = open_data(dataset), converted(groups)
    if not isinstance(rows, Frame | Dataset):
        raise TypeError("groups must be None if data are partitioned; got groups. Use rows in memory.")
    if names_column(groups):
        check_columns([groups], rows.columns, "groups")
        if groups in targets:
            raise ValueError(f"groups must not be the class; got {shown(groups)}.")
        others = [name for name in rows.columns if name != groups]
        if isinstance(rows, Frame):
            labels, rows = rows.frame[groups].array, Frame(rows.frame[others], rows.argument)
        else:
            codes = rows.codes[rows.positions[groups]]
            labels = rows.numbers.get(groups, np.where(codes < 0, np.nan, codes))
            rows = rows.select(others)
    elif isinstance(labels, list | tuple) and all(isinstance(label, Hashable) for label in labels):
        labels = pd.Series(labels, dtype=object)  # as an array, 1 and "1" would be the same, and NaN a label
    else:
        check_index(labels, rows.frame.index if isinstance(rows, Frame) else rows.index, "groups")
    if np.ndim(labels) != 1:
        raise TypeError(f"groups must be the name of a column or one label per row; got {shown(groups)}.")
    if len(labels) != len(rows):
        raise ValueError(f"groups must have one label for each of the {len(rows)} rows; got {len(labels)}.")
    numbers, _ = pd.factorize(pd.Series(labels))
    if (numbers < 0).any():
        raise ValueError(
            f"groups must have a label for each row; got {int((numbers < 0).sum())} missing values. Give "
            "each of these rows a label of its own."
        )
    return rows, numbers


_MANY = 10  # weight per row from which weights are probably not frequencies


def _warn_of_weights(data: Dataset) -> None:
    """Warn of weights that are probably not frequencies."""
    weights = data.counting().weights
    assert weights is not None
    fractions = bool((weights % 1).any())
    many = weights.sum() > _MANY * len(weights)
    if fractions or (many and not pd.DataFrame(data.codes.T).duplicated().any()):
        found = "have fractions" if fractions else f"sum to {weights.sum():,.0f} in {len(weights):,} rows"
        warn(
            f"weights {found}, and are used as frequencies, that is, numbers of equal rows. Use "
            "weights_are='cases' for survey weights, or weights_are='frequencies' for frequencies."
        )


def add_missing_level(data: Dataset | Partitions, columns: Any = True) -> Dataset | Partitions:
    """Return data in which missing values of the chosen columns (True: all) are their last level."""
    if columns is True:
        chosen = [name for name, gaps in zip(data.columns, data.incomplete, strict=True) if gaps]
    else:
        chosen = list(Names().check("missing_level", columns))
        check_columns(chosen, data.columns, "missing_level")
    check_new_level(data, chosen, data.numbers if isinstance(data, Dataset) else ())
    return data.with_missing_level(chosen)


def check_new_level(data: Countable, chosen: Collection[Hashable], numbers: Collection[Hashable]) -> None:
    """Raise if missing values of the chosen columns cannot be a level, because they are numbers or one."""
    if numeric := [name for name in chosen if name in numbers]:
        raise TypeError(
            f"missing_level must name categorical columns; got {listed(numeric)}. Discretize it first."
        )
    if twice := [name for name in chosen if MISSING in data.levels[data.positions[name]]]:
        raise ValueError(
            f"missing_level must not name columns with a level {MISSING!r}; got {listed(twice)}. Rename it."
        )


def open_data(data: Any, argument: str = "dataset", *, or_rows: bool = False) -> Opened:
    """Open data of any source, the only entrance; opened data are returned, and errors name the argument.

    If ``or_rows``, data can also be one or several records.
    """
    if isinstance(data, Opened):
        return data
    if isinstance(data, pd.DataFrame):
        return Frame(data, argument)
    records = [data] if isinstance(data, pd.Series | Mapping) else data
    may_be = or_rows and isinstance(records, list) and (records or argument != "dataset")
    if may_be and all(isinstance(row, pd.Series | Mapping) for row in records):
        return Records(records, argument)
    source = find_source(data, argument)
    if source is not None:
        return Parts(source, argument)
    frame = converted(data)
    if isinstance(frame, pd.DataFrame):
        return Frame(frame, argument)
    expected = "a pandas DataFrame" + (
        ", one row as a Series or a dict, or a list of rows" if or_rows else ""
    )
    raise TypeError(f"{argument} must be {expected}; got {type(data).__name__}.{_remedy(data)}")


def open_rows(newdata: Any, argument: str = "newdata") -> InMemory:
    """Open rows in memory, which can also be records; errors name the argument."""
    return open_data(newdata, argument, or_rows=True).in_memory(argument)


def is_partitioned(data: Any) -> bool:
    """Whether the rows of data need not be in memory together."""
    return not isinstance(open_data(data, or_rows=True), InMemory)


def frame_of(data: Any, argument: str, *, or_row: bool = False) -> pd.DataFrame:
    """Return data, or one row, as a data frame of pandas; raise for other data."""
    rows = open_data(data, argument, or_rows=or_row).in_memory(argument)
    if isinstance(rows, Dataset):
        raise TypeError(
            f"{argument} must be a pandas DataFrame; got Dataset. Its columns are categories already; pass "
            "the data frame that it was encoded from."
        )
    assert isinstance(rows, Frame | Records)
    return rows.frame


_LONGEST_PATH = 200

_READERS = {"parquet": "read_parquet", "feather": "read_feather", "json": "read_json", "xlsx": "read_excel"}
"""The functions of pandas that read files, by the ending of the name; others are text in columns."""


def _remedy(data: object) -> str:
    """Return how to convert other data to a data frame."""
    for method in ("compute", "to_pandas", "to_frame"):
        if hasattr(data, method):
            return f" Call its {method}()."
    if isinstance(data, str | PathLike):
        ending = str(data).rpartition(".")[2].lower()
        reader = _READERS.get(ending, "read_csv")
        return f" Read the file first, with pd.{reader}({cut(str(data), _LONGEST_PATH)!r})."
    if isinstance(data, Hashable) and not isinstance(data, tuple):
        return ""
    return " Make one with pd.DataFrame(data, columns=names)."


@dataclass(frozen=True)
class Parts(Opened):
    """Partitioned data that are not encoded yet; ``preparation`` converts the columns of their frames."""

    source: Source
    argument: str
    preparation: Prepare | None = None

    @cached_property
    def columns(self) -> Sequence[Hashable]:
        """Names of the columns."""
        names = list(self.source.names)
        check_unique(names, self.argument)
        return names

    def read(self, wanted: Columns = ALL) -> Partitions:
        """Return columns in the given order, after a pass for levels if some are unknown; see `Opened`."""
        required, weights = wanted.required, wanted.weights
        names = [name for name in wanted.among(self.columns) if name != weights]
        source, preparation = self.source, self.preparation
        of_source = None if preparation is None else preparation.of_source(source)
        if of_source is not None:
            source, preparation = of_source, None
        levels = {**source.declared, **(wanted.known or {}), **dict.fromkeys(wanted.numeric, ())}
        memo = Memo()
        if not levels.keys() >= set(names):
            coded = [name for name in names if levels.get(name) != ()]
            surveyed, facts = survey(source, coded, required, weights)
            levels = dict(zip(coded, surveyed, strict=True)) | levels
            memo.keep(facts, coded)
        schema = Schema(tuple(names), tuple([levels[name] for name in names]))
        return Partitions(source, Reading(schema, required, weights, preparation), memo=memo)

    def prepared(self, preparation: Prepare, known: Known) -> Parts:
        """Return data of which each frame is prepared when it is read."""
        return replace(self, preparation=preparation)

    def find_numbers(
        self, features: Sequence[Hashable], targets: Sequence[Hashable]
    ) -> tuple[Parts, tuple[Hashable, ...]]:
        """Return the data, and which columns are numbers, after a pass over them."""
        kinds = self.source.reduce(_kinds, _joined, list(features))
        return self, tuple([name for name, kind in zip(features, kinds, strict=True) if kind is True])

    def weighed(self, weights: Any) -> Partitions:
        """Return the encoded data, with the weights of a column."""
        if not names_column(weights):
            raise TypeError(
                f"weights must be the name of a column if data are partitioned; got {shown(weights)}."
            )
        check_columns([weights], self.columns, "weights")
        return self.read(Columns(weights=weights))


def _kinds(frame: pd.DataFrame) -> list[Any]:
    """Return for each column of a part True for numbers, the labels of codes, and None for other values."""
    kinds: list[Any] = []
    for name, array in zip(frame.columns, column_arrays(frame), strict=True):
        values = read_numbers(array, name, "dataset", must=False)
        labels = () if values is None else labels_to_keep(values)
        kinds.append(None if values is None else labels or not pd.isna(values).all() or ())
    return kinds


def _joined(parts: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the kinds of columns, given those in some parts."""
    joined: list[Any] = []
    for kinds in zip(*parts, strict=True):
        labels = tuple({label for kind in kinds if isinstance(kind, tuple) for label in kind})
        are_numbers = True in kinds or not are_categories(labels)
        joined.append(None if None in kinds else are_numbers or labels)
    return joined


MAX_LEVELS = 2**20
"""Maximum number of levels; a column with more of them is regarded as an identifier."""


class ColumnLevels(NamedTuple):
    """Levels of a column in some parts: ``declared`` in this order by all of them, or all ``floats``."""

    labels: tuple[Hashable, ...]
    declared: bool
    floats: bool = False


@dataclass(frozen=True)
class Survey:
    """A function that finds the levels of a frame, called by workers; arguments as in `Reading`."""

    columns: tuple[Hashable, ...]
    class_var: Hashable = None
    weights: Hashable = None

    def __call__(self, frame: pd.DataFrame) -> tuple[tuple[ColumnLevels, ...], Facts]:
        """Return the levels of columns in a frame, and facts about its rows."""
        weights = None if self.weights is None else check_weights(frame[self.weights].array, frame.index)
        data = replace(encode_frame(frame, self.columns, whole_floats=True), weights=weights)
        dtypes = [frame[name].dtype for name in self.columns]
        column_levels = tuple(
            ColumnLevels(labels, is_categorical(dtype), is_float_dtype(dtype))
            for dtype, labels in zip(dtypes, data.levels, strict=True)
        )
        return column_levels, with_class(data, self.class_var)[1]

    def merge(self, results: Sequence[tuple[tuple[ColumnLevels, ...], Facts]]) -> Any:
        """Unite the levels of parts."""
        column_levels, facts = zip(*results, strict=True)
        united = [_unite(name, parts) for name, *parts in zip(self.columns, *column_levels, strict=True)]
        return tuple(united), added(facts)


def survey(
    source: Source, columns: Sequence[Hashable], class_var: Hashable = None, weights: Hashable = None
) -> tuple[Levels, Facts]:
    """Return the levels of columns, sorted unless all parts declare the same, and facts about the rows."""
    reading = Reading(Schema((), ()), class_var, weights)
    counted = ask_source(source, [(name,) for name in columns], replace(reading, required=None, weights=None))
    facts = facts_of_source(source, columns, reading)
    if counted is not None and facts is not None:
        labels = [ColumnLevels(tuple([x for (x,) in counts if x is not None]), False) for counts in counted]
        return tuple(map(_in_order, columns, labels)), facts
    look = Survey(tuple(columns), class_var, weights)
    wanted = [*columns, *([] if weights is None else [weights])]
    column_levels, facts = source.reduce(look, look.merge, wanted)
    return tuple(map(_in_order, columns, column_levels)), facts


def _unite(name: Hashable, parts: Sequence[ColumnLevels]) -> ColumnLevels:
    filled = [part for part in parts if part.labels]
    # True equals 1, so both would be one level, whose label would depend on the order.
    if len({any(isinstance(label, bool) for label in part.labels) for part in filled}) > 1:
        raise _of_two_types(name, [label for part in filled for label in part.labels])
    if all(part[:2] == filled[0][:2] for part in filled[1:]) and len({part.floats for part in filled}) < 2:
        return filled[0] if filled else parts[0]
    labels = tuple(dict.fromkeys(label for part in filled for label in part.labels))
    if len(labels) > MAX_LEVELS:
        raise ValueError(
            f"dataset: {shown(name)} has more than {MAX_LEVELS:,} levels, like a column of identifiers. "
            "Drop it, or merge rare levels in the same way in each frame."
        )
    return ColumnLevels(labels, declared=False, floats=all(part.floats for part in filled))


def _in_order(name: Hashable, levels: ColumnLevels) -> tuple[Any, ...]:
    if levels.declared:
        return levels.labels
    if levels.floats and levels.labels:
        check_categorical({name: np.array(levels.labels, dtype=float)}, None)
    try:
        return tuple(sorted(levels.labels))
    except TypeError:
        raise _of_two_types(name, levels.labels) from None


def _of_two_types(name: Hashable, labels: Sequence[Hashable]) -> TypeError:
    kinds = dict.fromkeys(type(label).__name__ for label in labels)
    return TypeError(
        f"column {shown(name)} must have one type in all parts of the data; got {listed(kinds)}. Read it as "
        f"one, for example with dtype={{{shown(name)}: str}}."
    )
