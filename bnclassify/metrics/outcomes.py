"""What a model says of rows, with the labels and the index that users know."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, log_normalize


@dataclass(frozen=True, eq=False)
class Labelling:
    """The names that belong to an array of rows and classes.

    Attributes
    ----------
    classes : tuple
        The labels of the classes, in the order of columns.
    name : hashable
        Of the class.
    index : pandas.Index
        Of the rows.
    made : pandas.CategoricalDtype, optional
        The classes as pandas has them, if that was made before.
    """

    classes: tuple[Any, ...]
    name: Hashable
    index: pd.Index[Any]
    made: pd.CategoricalDtype | None = None

    def posteriors(self, logs: Array) -> pd.DataFrame:
        """Return the posteriors that follow from logs, (rows, classes), a column a class."""
        columns = self._labels.categories.rename(self.name)
        return pd.DataFrame(np.exp(log_normalize(logs)), index=self.index, columns=columns)

    def labels(self, codes: Codes) -> pd.Series[Any]:
        """Return the labels of codes, (rows,), categorical."""
        values = pd.Categorical.from_codes(codes, dtype=self._labels, validate=False)
        return pd.Series(values, index=self.index, name=self.name)

    @property
    def _labels(self) -> pd.CategoricalDtype:
        return self.made or pd.CategoricalDtype(pd.Index(list(self.classes), tupleize_cols=False))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a model says of rows, and what they are.

    Attributes
    ----------
    logs : (rows, classes) array
        The log joint.
    actual : (rows,) array of integers
        The codes of the true classes.
    labelling : Labelling
    weights : (rows,) array or None
        How often each row counts; None if once.
    """

    logs: Array
    actual: Codes
    labelling: Labelling
    weights: Array | None = None

    def logs_of(self, classes: tuple[Any, ...]) -> Array:
        """Return the logs with these columns; a class that the model does not know is impossible."""
        if classes == self.labelling.classes:
            return self.logs
        logs = np.full((len(self.logs), len(classes)), -np.inf)
        columns = {label: i for i, label in enumerate(classes)}
        for label, label_logs in zip(self.labelling.classes, self.logs.T, strict=True):
            if label in columns:
                logs[:, columns[label]] = label_logs
        return logs

    @cached_property
    def posteriors(self) -> pd.DataFrame:
        """The posteriors, a column a class."""
        return self.labelling.posteriors(self.logs)

    @cached_property
    def truth(self) -> pd.Series[Any]:
        """The true classes, categorical."""
        return self.labelling.labels(self.actual)
