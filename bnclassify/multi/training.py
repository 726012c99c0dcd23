"""Data prepared to learn several class variables from, once a call."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from ..base.messages import listed
from ..frames.encoding import check_class_name, check_columns
from ..frames.schema import Dataset, take_columns
from ..frames.training import select_columns


@dataclass(frozen=True, eq=False, repr=False)
class MultiTrainingData(Dataset):
    """Rows to learn from: the features, then the class variables, any of them missing or not.

    Attributes
    ----------
    class_vars : tuple
    """

    class_vars: tuple[Hashable, ...] = ()

    @property
    def features(self) -> tuple[Hashable, ...]:
        """All columns but the class variables, which are the last."""
        return self.columns[: len(self.columns) - len(self.class_vars)]


def check_class_vars(class_vars: object) -> tuple[Hashable, ...]:
    """Return names of class variables as a tuple; raise unless they are at least one, and distinct."""
    if isinstance(class_vars, str) or not isinstance(class_vars, Iterable):
        raise TypeError(
            f"class_vars: expected a list of names, got {class_vars!r}; write [{class_vars!r}], or take a "
            "learner of one class, such as tan_cl"
        )
    if isinstance(class_vars, pd.DataFrame):
        raise TypeError("class_vars: expected a list of names; they go first, the data second")
    names = tuple(class_vars)
    if not names:
        raise ValueError("class_vars: expected at least one name, got none")
    for name in names:
        check_class_name(name)
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"class_vars: each may be named once, but these are named again: {listed(twice)}")
    return names


def prepare_classes(
    dataset: pd.DataFrame | Dataset,
    class_vars: Sequence[Hashable],
    features: Sequence[Hashable] | None = None,
) -> MultiTrainingData:
    """Prepare data to learn from, or raise; what is prepared already is returned as it is.

    Parameters
    ----------
    dataset : pandas.DataFrame or Dataset
    class_vars : sequence
    features : sequence, optional
        The columns to learn from; all by default.
    """
    names = tuple(class_vars)
    if isinstance(dataset, MultiTrainingData) and dataset.class_vars == names and features is None:
        return dataset
    columns = None if features is None else [*features, *names[1:]]
    data = select_columns(dataset, names[0], columns)
    check_columns(names, data.columns, "class_vars")
    chosen = [name for name in data.columns if name not in names] if features is None else list(features)
    data = take_columns(data, (*chosen, *names))
    if not len(data):
        raise ValueError("dataset: no rows to learn from")
    if (data.codes[len(chosen) :] < 0).all():
        raise ValueError(f"dataset: all of {listed(names)} are missing in every row")
    return MultiTrainingData(data.schema, data.codes, data.index, data.weights, names)
