"""Rare levels become one: which are kept is learned on training data, and new data merged alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..base.checks import Whole
from ..base.immutable import Immutable
from ..base.messages import shown
from ..base.records import record
from ..counts.contingency import contingency_tables
from ..frames.encoding import Row, as_frame, check_columns, check_frame, check_names, encode_columns
from ..frames.matching import recode
from ..frames.numeric import value_type
from ..frames.schema import Data, Dataset


@record
@dataclass(frozen=True, repr=False)
class Merger(Immutable):
    """The levels of columns that are kept, and the function that merges all others. Made by `merge_rare`.

    Attributes
    ----------
    min_count : int
        How many rows a level had to have to be kept.
    label : str
        What all other levels are called.
    columns : tuple
        Names of the columns in which levels are merged, in the order of the data they were
        learned from.
    levels : tuple of tuple
        The levels of each that are kept, in their order.
    """

    min_count: int
    label: Hashable
    columns: tuple[Hashable, ...]
    levels: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.columns) != len(self.levels):
            raise ValueError("Merger: expected the levels of each column")

    @property
    def kept(self) -> dict[Hashable, tuple[Any, ...]]:
        """The levels that are kept by column; columns without a rare level are not among them."""
        return dict(zip(self.columns, self.levels, strict=True))

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Merge all levels but those that are kept.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            Has the columns to merge; others, such as the class, pass as they are. A Series or
            dict is one row.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns. Those merged are categories: the levels that
            are kept, then ``label``, which levels that the training data did not have become too.
            Missing stays missing.

        Raises
        ------
        KeyError
            If a column to merge is not there.
        TypeError
            If ``newdata`` is no data frame or row, or a column to merge holds no categories.
        ValueError
            If a column is written in another way than in the training data, such as numbers
            where text was.
        """
        return self.apply(newdata, "newdata")

    def apply(self, newdata: pd.DataFrame | Row, argument: str) -> pd.DataFrame:
        """Merge all levels but those that are kept; errors call the data by the name of an argument."""
        original = as_frame(newdata, argument)
        check_columns(self.columns, original.columns, argument)
        data = self.code(encode_columns(original, self.columns, argument=argument, known=self.kept))
        frame = original.copy()
        for i, name in enumerate(original.columns):
            if name in self.kept:
                column = data.positions[name]
                categories: pd.Index[Any] = pd.Index(data.levels[column], tupleize_cols=False)
                frame.isetitem(i, pd.Categorical.from_codes(data.codes[column], categories=categories))
        return frame

    def code(self, data: Data) -> Data:
        """Return data in which all levels of these columns but those that are kept are one."""
        coded = {}
        for name, levels in self.kept.items():
            merged = (*levels, self.label)
            i = data.positions.get(name)
            if i is not None and data.levels[i] != merged:
                coded[name] = merged, recode(data.codes[i], data.levels[i], levels, name, len(levels))
        return data.recoded(coded)

    def __repr__(self) -> str:
        label = shown(self.label)
        lines = [f"  {name}: {len(levels):,} kept, others {label}" for name, levels in self.kept.items()]
        head = f"Merger (levels with fewer than {self.min_count:,} rows), columns merged"
        return "\n".join([head, *(lines or ["  (no column)"])])


def merge_rare(
    dataset: pd.DataFrame,
    *,
    min_count: int = 10,
    class_var: Hashable | None = None,
    columns: Iterable[Hashable] | None = None,
    label: str = "other",
) -> tuple[pd.DataFrame, Merger]:
    """Merge the rare levels of columns into one, and remember which, to merge new data alike.

    Parameters
    ----------
    dataset : pandas.DataFrame
        The training data. Values may be missing; they stay so, and are no level.
    min_count : int, default 10
        Levels that fewer rows have are merged. 1 or more.
    class_var : str, optional
        Name of the class, which is never merged; without it, it is a column like any other.
    columns : list, optional
        The columns in which to merge. By default all that hold text, bool, integers or categories
        without an order, but the class. Ordered categories, intervals among them, and numbers with
        fractions pass as they are.
    label : str, default "other"
        What the merged levels are called. A level that is called so already is merged with them.

    Returns
    -------
    pandas.DataFrame
        A copy of ``dataset``, see `Merger`. Columns without a rare level are as they were.
    Merger
        A function that merges other data frames alike.

    Raises
    ------
    KeyError
        If the class or one of ``columns`` is not there.
    TypeError
        If ``dataset`` is no data frame, one of ``columns`` holds no categories, ``min_count`` is
        no whole number, or ``label`` no text.
    ValueError
        If there are no rows, ``min_count`` is below 1, or the class is among ``columns``.

    Notes
    -----
    A table has a row for each level, and what is learned of a level in few rows is mostly chance.
    Of an identifier, a postcode or a name nearly all levels are rare: a model learns them by heart, and
    fails on rows that it has not seen. Merged, they tell what rows with a rare level have in common.

    What is rare is learned without the class, but from the rows that are counted. Honest figures come
    from merging anew in each training part, as `discretize` shows for cut points. Cut numbers first,
    or name ``columns``: a column of integers has few rows a level.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import merge_rare
    >>> visits = pd.DataFrame({"town": ["Aden"] * 4 + ["Bari"] * 3 + ["Cork", "Dover", None]})
    >>> frame, merger = merge_rare(visits, min_count=3)
    >>> merger
    Merger (levels with fewer than 3 rows), columns merged
      town: 2 kept, others 'other'
    >>> frame["town"].tail(3).tolist()
    ['other', 'other', nan]
    >>> merger(pd.DataFrame({"town": ["Bari", "Elba"]}))["town"].tolist()
    ['Bari', 'other']
    """
    check_frame(dataset, "dataset")
    if not isinstance(label, str):
        raise TypeError(f"label: expected a text, got {shown(label)}")
    if class_var is not None:
        check_columns([class_var], dataset.columns, "class_var")
    if columns is None:
        chosen = [name for name, column in dataset.items() if name != class_var and _is_nominal(column)]
    else:
        chosen = list(check_names(columns, (class_var,), "columns"))
    data = encode_columns(dataset, chosen, named_by="columns")
    merger = learn_merger(data, data.columns, min_count, label)
    return merger.apply(dataset, "dataset"), merger


def _is_nominal(column: pd.Series[Any]) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return not column.dtype.ordered
    return value_type(column) in ("string", "boolean", "integer")


def learn_merger(data: Dataset, columns: Iterable[Hashable], min_count: int, label: str = "other") -> Merger:
    """Learn which levels of columns to keep."""
    min_count = Whole(least=1).check("min_count", min_count)
    if not len(data):
        raise ValueError("dataset: no rows to count levels in")
    kept: dict[Hashable, tuple[Any, ...]] = {}
    for name in columns:
        i = data.positions[name]
        counts = contingency_tables(data, [(i,)])[0].tolist() if data.cards[i] else []
        pairs = list(zip(data.levels[i], counts, strict=True))
        if min(counts, default=min_count) < min_count:
            kept[name] = tuple(level for level, count in pairs if count >= min_count and level != label)
    return Merger(min_count, label, tuple(kept), tuple(kept.values()))
