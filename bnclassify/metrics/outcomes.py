"""Predictions for rows with observed classes, with the labels and the index of the data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_size_of_scores, encode_opened_rows
from ..dataset import Dataset, Levels, codes_by_levels
from ..model import Model
from ..tools.arrays import Array, Codes, log_normalize, weights_at
from ..tools.immutable import cached_property


@lru_cache(maxsize=64)
def categorical_type(labels: tuple[Hashable, ...], kinds: tuple[type, ...]) -> pd.CategoricalDtype:
    """Return classes as a pandas type that is slow to make; ``kinds`` are the types of labels."""
    return pd.CategoricalDtype(pd.Index(list(labels), tupleize_cols=False))


@dataclass(frozen=True, eq=False)
class Labelling:
    """The names of an array of rows and classes: column labels, class name, row labels."""

    classes: tuple[Hashable, ...]
    name: Hashable
    index: pd.Index[Any]
    made: pd.CategoricalDtype | None = None

    def posterior_frame(self, logs: Array) -> pd.DataFrame:
        """Return the posteriors of a log joint, (rows, classes), with one column per class."""
        columns = self._category_type.categories.rename(self.name)
        return pd.DataFrame(np.exp(log_normalize(logs)), index=self.index, columns=columns)

    def labels_of_codes(self, codes: Codes) -> pd.Series[Any]:
        """Return the labels of codes, (rows,), categorical."""
        values = pd.Categorical.from_codes(codes, dtype=self._category_type, validate=False)
        return pd.Series(values, index=self.index, name=self.name)

    @property
    def _category_type(self) -> pd.CategoricalDtype:
        return self.made or pd.CategoricalDtype(pd.Index(list(self.classes), tupleize_cols=False))


@dataclass(frozen=True, eq=False)
class Outcome:
    """Log joint, (rows, classes), codes of actual classes, (rows,), weights, (rows,), if any."""

    logs: Array
    actual: Codes
    labelling: Labelling
    weights: Array | None = None

    def log_joint_of_classes(self, classes: tuple[Hashable, ...]) -> Array:
        """Return the log joint with these columns; a class unknown to the model is impossible."""
        if classes == self.labelling.classes:
            return self.logs
        own = dict(zip(self.labelling.classes, self.logs.T, strict=True))
        impossible = np.full(len(self.logs), -np.inf)
        return np.column_stack([own.get(label, impossible) for label in classes])

    @cached_property
    def posteriors(self) -> pd.DataFrame:
        """The posteriors, with one column per class."""
        return self.labelling.posterior_frame(self.logs)

    @cached_property
    def actual_labels(self) -> pd.Series[Any]:
        """The actual classes, categorical."""
        return self.labelling.labels_of_codes(self.actual)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The predictions of a model for each of its target variables.

    ``logs`` has the log posterior of each target, up to a constant per row,
    (rows, labels). ``actual`` has the codes of the actual labels, (targets,
    rows), -1 if missing. ``most_probable`` returns the codes of the most
    probable combinations of labels, (targets, rows).
    """

    logs: Sequence[Array]
    actual: Codes
    targets: tuple[Hashable, ...]
    levels: Levels
    index: pd.Index[Any]
    weights: Array | None
    most_probable: Callable[[], Codes]

    def outcome_of_target(self, position: int = 0) -> Outcome:
        """Return the outcome of one target variable, in the rows in which it is observed."""
        actual = self.actual[position, :]
        known = slice(None) if (actual >= 0).all() else np.flatnonzero(actual >= 0)
        labelling = Labelling(self.levels[position], self.targets[position], self.index[known])
        weights = weights_at(self.weights, known)
        return Outcome(self.logs[position][known], actual[known], labelling, weights)


def predict_outcomes(x: Model, rows: Dataset) -> Outcomes:
    """Return the predictions of a model for rows, and the labels of the rows."""
    n, levels = len(x.features), x.levels or ()
    check_size_of_scores(len(rows), max(map(len, levels[n:])))
    data = encode_opened_rows(x, rows, x.features)
    placed = x.rows_to_score(data)
    several: Any = x  # only models of several class variables are asked for combinations
    given = (
        codes_by_levels(rows, x.targets, levels[n:]),
        x.targets,
        levels[n:],
        rows.index,
        rows.weights,
    )
    return Outcomes(x.log_marginals(placed), *given, lambda: several.most_probable(placed))
