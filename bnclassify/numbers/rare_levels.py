"""Rare levels are merged into one, as learned from training data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..counts import contingency_table
from ..dataset import (
    MISSING,
    Columns,
    Data,
    Dataset,
    is_categorical,
    recode_column,
    value_type,
    warn_of_unseen_labels,
)
from ..frames import AnyFrame, Frame, Row, encode_frame, frame_of
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, Whole, check_columns, check_feature_names
from ..tools.immutable import COUNT, Immutable, field_bounds, record
from ..tools.messages import shown


@record
@dataclass(frozen=True, repr=False)
class Merger(Immutable):
    """The levels of columns to keep; the object merges all others if called. From `merge_rare`.

    Attributes
    ----------
    min_count : int
        Minimum number of rows of a level that is kept.
    label : str
        Label of the merged levels.
    columns : tuple
        Names of the columns with merged levels, in the order of the training
        data.
    levels : tuple of tuple
        The kept levels of each column, in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import merge_rare
    >>> frame, merger = merge_rare(pd.DataFrame({"town": ["Aden"] * 3 + ["Bari"]}), min_count=2)
    >>> merger(pd.DataFrame({"town": ["Aden", "Cork"]}))["town"].tolist()
    ['Aden', 'other']
    """

    bounds = field_bounds(min_count=COUNT)

    min_count: int
    label: Hashable
    columns: tuple[Hashable, ...]
    levels: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.columns) != len(self.levels):
            raise ValueError("levels must have the levels of each column.")

    @property
    def kept(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The kept levels by column, without columns that have no rare level."""
        return dict(zip(self.columns, self.levels, strict=True))

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Merge all levels except the kept ones.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            Must have the columns to merge. Other columns, such as the class,
            are copied.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns. Merged columns are
            categorical: the kept levels, then ``label``, which also replaces
            unseen levels. Missing values stay missing.
        """
        original = frame_of(newdata, "newdata", or_row=True)
        check_columns(self.columns, original.columns, "newdata")
        data = encode_frame(original, self.columns, argument="newdata", known=self.kept)
        merged = self.prepared_data(data)
        self.warn_of_labels_like_kept(data)
        return with_encoded_columns(original, merged)

    def warn_of_labels_like_kept(self, data: Dataset) -> None:
        """Warn of columns of new data with merged labels that read like a label that is kept."""
        for name, i, kept in self._columns_to_merge(data):
            codes, labels = data.codes[i], data.levels[i]
            is_kept = np.array([*[label in kept for label in labels], True])  # or missing
            if not is_kept[codes].all():
                merged = self.label
                warn_of_unseen_labels(name, codes, labels, ~is_kept[codes], kept, merged=merged)

    def prepared_data(self, data: Data) -> Data:
        """Return data in which all levels of these columns except the kept ones are merged."""
        coded = {}
        for name, i, levels in self._columns_to_merge(data):
            codes = recode_column(data.codes[i], data.levels[i], levels, name, len(levels))
            coded[name] = (*levels, self.label), codes
        return data.with_codes(coded)

    def _columns_to_merge(
        self, data: Dataset
    ) -> Iterator[tuple[Hashable, int, tuple[Hashable, ...]]]:
        """Yield the names, positions and kept levels of columns that are not merged already."""
        for name, levels in self.kept.items():
            merged, i = (*levels, self.label), data.positions.get(name)
            if i is not None and data.levels[i] not in (merged, (*merged, MISSING)):
                yield name, i, levels

    def __repr__(self) -> str:
        label = shown(self.label)
        lines = [
            f"  {name}: {len(levels):,} kept, others {label}" for name, levels in self.kept.items()
        ]
        head = f"Merger (levels with fewer than {self.min_count:,} rows), columns merged"
        return "\n".join([head, *(lines or ["  (no column)"])])


def with_encoded_columns(frame: pd.DataFrame, data: Dataset) -> pd.DataFrame:
    """Return a copy of a frame in which the columns of encoded data are categorical."""
    result = frame.copy()
    for i, name in enumerate(frame.columns):
        if name in data.positions:
            column = data.positions[name]
            categories: pd.Index[Any] = pd.Index(data.levels[column], tupleize_cols=False)
            result.isetitem(i, pd.Categorical.from_codes(data.codes[column], categories=categories))
    return result


@with_call_advice("Pass the class by name: merge_rare(dataset, class_var=name).")
def merge_rare(
    dataset: pd.DataFrame | AnyFrame,
    *,
    min_count: int = 10,
    class_var: Hashable | None = None,
    columns: Iterable[Hashable] | None = None,
    label: str = "other",
) -> tuple[pd.DataFrame, Merger]:
    """Merge rare levels of columns, and return a function for new data.

    A model overfits to levels in few rows, such as postcodes and names. Merged
    levels share one estimate.

    Parameters
    ----------
    dataset : pandas.DataFrame
        Training data. Missing values stay missing.
    min_count : int, default 10
        Levels in fewer rows are merged. At least 1.
    class_var : str, optional
        Name of the class. Its levels are never merged.
    columns : list, optional
        Columns with levels to merge. By default, all columns of text, bools,
        integers or unordered categories except the class. Discretize
        measurements first: most of their values are rare.
    label : str, default "other"
        Label of the merged levels. An existing level of this name is merged
        with them.

    Returns
    -------
    pandas.DataFrame
        A copy of ``dataset``, see `Merger`. Columns without rare levels are
        copied.
    Merger
        Merges the levels of other data frames.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `columns` or `class_var` are not columns of `dataset`, or `min_count`
        is below 1.

    Notes
    -----
    For cross-validation, use `bnc` with ``min_count=``, which merges in each
    training set.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import merge_rare
    >>> visits = pd.DataFrame({"town": ["Aden"] * 4 + ["Bari"] * 3 + ["Cork", "Dover", None]})
    >>> frame, merger = merge_rare(visits, min_count=3)
    >>> merger
    Merger (levels with fewer than 3 rows), columns merged
      town: 2 kept, others 'other'
    >>> merger(pd.DataFrame({"town": ["Bari", "Elba"]}))["town"].tolist()
    ['Bari', 'other']
    """
    dataset = frame_of(dataset, "dataset")
    Instance(str, "text").check("label", label)
    if class_var is not None:
        check_columns([class_var], dataset.columns, "class_var")
    if columns is None:
        chosen = [name for name in dataset if name != class_var and _is_nominal(dataset[name])]
    else:
        chosen = list(check_feature_names(columns, (class_var,), "columns"))
    data = Frame(dataset, "dataset").encode(Columns(chosen, named_by="columns"))
    merger = learn_merger(data, data.columns, min_count, label)
    return merger(dataset), merger


def _is_nominal(column: pd.Series[Any]) -> bool:
    if is_categorical(column.dtype):
        dtype: Any = column.dtype
        return not getattr(dtype, "pyarrow_dtype", dtype).ordered
    return value_type(column) in ("string", "boolean", "integer")


def learn_merger(
    data: Dataset, columns: Iterable[Hashable], min_count: int, label: str = "other"
) -> Merger:
    """Learn which levels of columns to keep."""
    min_count = Whole(least=1).check("min_count", min_count)
    if not len(data):
        raise ValueError("dataset must have rows; got none.")
    kept: dict[Hashable, tuple[Hashable, ...]] = {}
    for name in columns:
        i = data.positions[name]
        counts = contingency_table(data, (i,)).tolist() if data.cards[i] else []
        if min(counts, default=min_count) < min_count:
            pairs = zip(data.levels[i], counts, strict=True)
            frequent = [level for level, count in pairs if count >= min_count]
            kept[name] = tuple([level for level in frequent if level != label])
    return Merger(min_count, label, tuple(kept), tuple(kept.values()))
