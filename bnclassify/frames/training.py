"""Data prepared to learn from, once a call: checked, encoded, every row with a class."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.messages import shown, warn
from .encoding import check_class_name, check_columns, check_frame, check_levels, check_names, encode_columns
from .parting import InFull, InParts, Known, prepare_parts
from .partitions import Partitions
from .schema import Dataset, Schema, take_columns, take_rows
from .wide_columns import warn_of_no_features, warn_of_wide_columns


@dataclass(frozen=True, eq=False, repr=False)
class TrainingData(Dataset):
    """Rows to learn from: the features, then the class, which no row lacks.

    What is learned from it looks at no column that is not there, and checks nothing again.

    Attributes
    ----------
    class_var : str
    with_unknown : Dataset or None
        The same columns with all rows, also those without a class; None if no row lacks it.
    class_position : int
        Where the class stood among the columns; None is at the end.
    """

    class_var: Hashable = None
    with_unknown: Dataset | None = None
    class_position: int | None = None

    @property
    def features(self) -> tuple[Hashable, ...]:
        """All columns but the class, which is the last."""
        return self.columns[:-1]

    @property
    def as_given(self) -> Dataset:
        """The same rows, the class where it stood among the columns."""
        names = list(self.features)
        names.insert(len(names) if self.class_position is None else self.class_position, self.class_var)
        codes = self.codes[[self.positions[name] for name in names]]
        return Dataset(self.schema.select(names), codes, self.index, self.weights)

    @property
    def views(self) -> Iterable[TrainingData]:
        """The codings of the rows over which what is learned of pairs is averaged: this one."""
        return (self,)

    @property
    def all_rows(self) -> Dataset:
        """The data with rows that lack the class."""
        return self if self.with_unknown is None else self.with_unknown

    @property
    def has_class(self) -> NDArray[np.bool_]:
        """Which of the rows that were given have a class."""
        return np.asarray(self.all_rows.codes[-1] >= 0)


def prepare(
    dataset: pd.DataFrame | Dataset,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
    *,
    known: Known | None = None,
    warns: bool = True,
) -> TrainingData:
    """Prepare data to learn from, or raise; every public verb that learns does this once.

    Parameters
    ----------
    dataset : pandas.DataFrame or Dataset
        What is prepared already, for the same class, is returned as it is.
    class_var : str
    features : iterable, optional
        The columns to learn from; all by default.
    known : mapping, optional
        Levels of these columns, as a model has them: no value of one need be in the data, and whole numbers
        may be of type float.
    warns : bool
        Whether to warn of rows that have no class.
    """
    if isinstance(dataset, TrainingData) and dataset.class_var == class_var:
        return dataset if features is None else _select(dataset, tuple(features))
    schema_only = select_columns(dataset, class_var, features, known=known)
    if not schema_only.size:
        count = ", for all have weight 0" if len(schema_only) else ""
        raise ValueError(f"dataset: no rows to learn from{count}")
    names = tuple(name for name in schema_only.columns if name != class_var)
    data = take_columns(schema_only, (*names, class_var))
    has_class = data.codes[-1] >= 0
    lost = len(data) - int(np.count_nonzero(has_class))
    if lost == len(data):
        raise ValueError(f"dataset: the class {shown(class_var)} is missing in every row")
    if lost and warns:
        warn(f"{lost} of {len(data)} rows have no class {shown(class_var)} and are left out")
    kept = take_rows(data, has_class) if lost else data
    if not kept.size:
        raise ValueError(f"dataset: the class {shown(class_var)} is missing in every row that counts")
    with_unknown = data if lost else None
    position = schema_only.columns.index(class_var)
    return TrainingData(kept.schema, kept.codes, kept.index, kept.weights, class_var, with_unknown, position)


Learnable: TypeAlias = TrainingData | Partitions
"""Data to learn from, in memory or in parts: what counts alone is asked of both in the same words."""


def prepare_to_count(
    dataset: InFull | InParts,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
    *,
    known: Known | None = None,
    warns: bool = True,
) -> Learnable:
    """Prepare data to learn from by counting alone, so that its rows need not be in memory.

    Parameters
    ----------
    dataset, class_var, features, warns
        As in `prepare`.
    known : mapping, optional
        Levels that need not be looked for.
    """
    parts = prepare_parts(dataset, class_var, features, known=known)
    return prepare(dataset, class_var, features, warns=warns) if parts is None else parts  # type: ignore[arg-type]


def _select(data: TrainingData, features: tuple[Hashable, ...]) -> TrainingData:
    """Return prepared data with some of its features."""
    check_columns(features, data.columns, "features")
    names = (*features, data.class_var)
    with_unknown = data.with_unknown and take_columns(data.with_unknown, names)
    position = sum(name in features for name in data.features[: data.class_position])  # None takes all
    return replace(take_columns(data, names), with_unknown=with_unknown, class_position=position)


def select_columns(
    dataset: pd.DataFrame | Dataset,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
    *,
    known: Known | None = None,
) -> Dataset:
    """Encode the class and the features, in the order of the data, if something can be learned of each.

    Features that were not chosen by name are looked over for too many levels. Nothing need be learned of
    levels that are ``known``, as `prepare` says.
    """
    check_class_name(class_var)
    if features is None:
        data = encode_columns(dataset)
        check_columns([class_var], data.columns, "class_var")
        warn_of_wide_columns(data, class_var)
        if len(data.columns) == 1:
            warn_of_no_features(class_var)
    else:
        names = check_names(features, class_var)
        if not isinstance(dataset, Dataset):
            check_frame(dataset, "dataset")
        check_columns([class_var], dataset.columns, "class_var")
        data = encode_columns(dataset, [*names, class_var], named_by="features", known=known)
        chosen = {*names, class_var}
        data = take_columns(data, tuple(column for column in data.columns if column in chosen))
    check_levels(data, [name for name in data.columns if known is None or name not in known])
    return data


def describe_columns(
    dataset: InFull | InParts | None, class_var: Hashable, features: Iterable[Hashable] | None
) -> tuple[Schema | None, tuple[Hashable, ...]]:
    """Return the schema of data, if there is any, and the features: all that a fixed structure looks at."""
    check_class_name(class_var)
    names = None if features is None else check_names(features, class_var)
    if dataset is None:
        return None, names or ()
    parts = prepare_parts(dataset, class_var, names)
    if parts is not None:
        return parts.as_given.schema, parts.features
    prepared = isinstance(dataset, TrainingData) and dataset.class_var == class_var and names is None
    data = dataset if isinstance(dataset, Dataset) and prepared else select_columns(dataset, class_var, names)  # type: ignore[arg-type]
    return data.schema, tuple(column for column in data.columns if column != class_var)
