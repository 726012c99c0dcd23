"""Data prepared to learn several class variables from, once a call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd

from ..base.checks import check_list
from ..base.messages import listed, shown
from ..frames.encoding import check_class_name, check_columns, check_levels
from ..frames.parting import InFull, InParts, Known, as_parts
from ..frames.partitions import Memo, Partitions
from ..frames.schema import Countable, Dataset, take_columns
from ..frames.training import TrainingData, prepare, select_columns


class _OfSeveral(Countable):
    """Data whose last columns are class variables."""

    class_vars: tuple[Hashable, ...]

    @property
    def features(self) -> tuple[Hashable, ...]:
        """All columns but the class variables, which are the last."""
        return self.columns[: len(self.columns) - len(self.class_vars)]


@dataclass(frozen=True, eq=False, repr=False)
class MultiTrainingData(_OfSeveral, Dataset):
    """Rows to learn from: the features, then the class variables, any of them missing or not.

    Attributes
    ----------
    class_vars : tuple
    """

    class_vars: tuple[Hashable, ...] = ()

    def of_one(self, class_var: Hashable, features: Sequence[Hashable]) -> TrainingData:
        """Return the rows that have one of the classes, with columns to learn it from."""
        names = (*features, class_var)
        rows = take_columns(Dataset(self.schema, self.codes, self.index, self.weights), names)
        known = dict(zip(names, rows.levels, strict=True))  # which is checked already
        return prepare(rows, class_var, features, known=known, warns=False)


@dataclass(frozen=True, eq=False, repr=False)
class MultiPartitions(_OfSeveral, Partitions):
    """The same in parts.

    Attributes
    ----------
    class_vars : tuple
    """

    class_vars: tuple[Hashable, ...] = ()

    def of_one(self, class_var: Hashable, features: Sequence[Hashable]) -> Partitions:
        """Return the rows that have one of the classes, with columns to learn it from."""
        schema = self.schema.select((*features, class_var))
        reading = replace(self.reading, schema=schema, class_var=class_var)
        return Partitions(self.source, reading, memo=Memo(warns=False))

    def tell(self) -> None:
        """Raise if there is nothing to learn from."""
        facts, gaps = self.memo.counted, self.memo.gaps
        if facts is not None:
            _check_rows(facts.rows, facts.size)
            _check_classes(self.class_vars, all(gaps.get(name) == facts.rows for name in self.class_vars))


def _check_rows(rows: int, size: float) -> None:
    """Raise a ValueError if no row counts."""
    if not size:
        raise ValueError(f"dataset: no rows to learn from{', for all have weight 0' if rows else ''}")


def _check_classes(class_vars: Sequence[Hashable], are_missing: bool) -> None:
    """Raise a ValueError if no row has a class."""
    if are_missing:
        raise ValueError(f"dataset: all of {listed(class_vars)} are missing in every row")


MultiLearnable: TypeAlias = MultiTrainingData | MultiPartitions
"""Data to learn from, in memory or in parts."""


def check_class_vars(class_vars: object) -> tuple[Hashable, ...]:
    """Return names of class variables as a tuple; raise unless they are at least one, and distinct."""
    if isinstance(class_vars, str):
        raise TypeError(
            f"class_vars: expected a list of names, got {shown(class_vars)}; write [{shown(class_vars)}], or "
            "take a learner of one class, such as tan_cl"
        )
    if isinstance(class_vars, pd.DataFrame):
        raise TypeError("class_vars: expected a list of names; they go first, the data second")
    names = tuple(check_list("class_vars", class_vars, "a list of names"))
    if not names:
        raise ValueError("class_vars: expected at least one name, got none")
    for name in names:
        check_class_name(name, "class_vars")
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"class_vars: each may be named once, but these are named again: {listed(twice)}")
    return names


def prepare_classes(
    dataset: InFull | InParts,
    class_vars: Sequence[Hashable],
    features: Sequence[Hashable] | None = None,
    *,
    known: Known | None = None,
) -> MultiLearnable:
    """Prepare data to learn from, or raise; what is prepared already is returned as it is.

    Parameters
    ----------
    dataset : pandas.DataFrame, Dataset, or data in parts
    class_vars : sequence
    features : sequence, optional
        The columns to learn from; all by default.
    known : mapping, optional
        Levels that need not be looked for, as in `prepare`.
    """
    names = tuple(class_vars)
    if features is None and isinstance(dataset, MultiLearnable) and dataset.class_vars == names:
        return dataset

    def choose(present: Sequence[Hashable]) -> tuple[Hashable, ...]:
        check_columns(names, present, "class_vars")
        check_columns(features or (), present, "features")
        chosen = [name for name in present if name not in names] if features is None else features
        return (*chosen, *names)

    parts = as_parts(dataset, columns=choose, known=known)
    if parts is None:
        return _prepare_rows(dataset, names, features, known)  # type: ignore[arg-type]
    check_levels(parts, parts.columns)
    data = MultiPartitions(parts.source, parts.reading, None, parts.memo, names)
    data.tell()
    return data


def _prepare_rows(
    dataset: pd.DataFrame | Dataset,
    names: tuple[Hashable, ...],
    features: Sequence[Hashable] | None,
    known: Known | None,
) -> MultiTrainingData:
    columns = None if features is None else [*features, *names[1:]]
    if isinstance(dataset, pd.DataFrame | Dataset):
        check_columns(names, tuple(dataset.columns), "class_vars")
    data = select_columns(dataset, names[0], columns, known=known)
    chosen = [name for name in data.columns if name not in names] if features is None else list(features)
    data = take_columns(data, (*chosen, *names))
    _check_rows(len(data), data.size)
    _check_classes(names, bool((data.codes[len(chosen) :] < 0).all()))
    return MultiTrainingData(data.schema, data.codes, data.index, data.weights, names)
