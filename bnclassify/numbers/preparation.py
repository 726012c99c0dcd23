"""Preparation of raw data: numbers discretized, rare levels merged, missing values a level."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from ..dataset import (
    Columns,
    Countable,
    Data,
    Dataset,
    Known,
    Opened,
    OpenedData,
    are_categories,
    check_class_type,
)
from ..frames import (
    Frame,
    Numeric,
    Row,
    check_can_add_missing_level,
    data_and_numeric_features,
    encode_frame,
    frame_of,
)
from ..tools.checks import OneOf, check_columns, check_feature_names
from ..tools.immutable import Immutable, record
from ..tools.messages import listed
from .cut_points import CUTTINGS, METHODS
from .discretization import learn_cuts
from .discretizer import Discretizer
from .rare_levels import Merger, learn_merger, with_encoded_columns


@record
@dataclass(frozen=True, repr=False)
class Preparation(Immutable):
    """Converts raw data to the categories of a model if called. From `bnc`.

    Attributes
    ----------
    merger : Merger or None
        Merges rare levels.
    discretizer : Discretizer or None
        Discretizes numeric columns.
    missing : tuple
        Names of the columns whose missing values are a level.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, preparation
    >>> women = load_pima()[["age", "bmi", "diabetes"]]
    >>> prepare = preparation(bnc("nb", "diabetes", women, smooth=1, discretize="mdlp"))
    >>> prepare({"age": 51, "bmi": 24})
               age             bmi
    0  (28.5, inf)  (-inf, 27.35]
    """

    merger: Merger | None = None
    discretizer: Discretizer | None = None
    missing: tuple[Hashable, ...] = ()

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Discretize numbers, merge rare levels, and make missing values a level.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            As for `Merger` and `Discretizer`.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns.
        """
        frame = frame_of(newdata, "newdata", or_row=True)
        for step in self._discretizer_and_merger:
            frame = step(frame)
        present = [name for name in self.missing if name in frame.columns]
        if present:
            known: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(present, ())
            data = encode_frame(frame, present, known=known).with_missing_level(present)
            frame = with_encoded_columns(frame, data)
        return frame

    @property
    def columns_with_fixed_levels(self) -> set[Hashable]:
        """The columns of which all data have the same levels: discretized or merged ones."""
        cuts = {} if self.discretizer is None else self.discretizer.cuts
        return {*cuts, *(() if self.merger is None else self.merger.columns)}

    @property
    def cut_points(self) -> pd.DataFrame:
        """One row per discretized column: ``method``, ``intervals``, readable ``cut_points``."""
        discretizer = Discretizer("", (), ()) if self.discretizer is None else self.discretizer
        return discretizer.cut_points

    @property
    def _discretizer_and_merger(self) -> list[Discretizer | Merger]:
        return [step for step in (self.discretizer, self.merger) if step is not None]

    def read(self, rows: Opened[Dataset], known: Known, named_by: str = "dataset") -> Dataset:
        """Encode raw data with ``known`` levels, without discretization and merging."""
        numeric = [name for name, labels in known.items() if not labels]
        raw = {} if self.discretizer is None else self.discretizer.numeric
        return rows.encode(Columns(known, known, numeric, named_by, raw))

    def prepared_data(self, data: Data) -> Data:
        """Return encoded data with the categories of the model; prepared columns do not change."""
        for step in self._discretizer_and_merger:
            data = step.prepared_data(data)
        return data.with_missing_level(self.missing)

    def __repr__(self) -> str:
        lines = [repr(step) for step in (self.merger, self.discretizer) if step is not None]
        if self.missing:
            lines.append(f"Missing values are a level of {listed(self.missing)}")
        return "\n".join(lines) or "Preparation without a step: the model accepts categories"


class Preparing(NamedTuple):
    """The arguments of `bnc` on the preparation of raw data."""

    discretize: str | None
    bins: int
    min_count: int | None
    missing_level: Any = None
    numeric: Numeric = ()

    @property
    def wants_preparation(self) -> bool:
        """Whether any step is requested."""
        wants_level = self.missing_level not in (None, False, (), [])
        return self.discretize is not None or self.min_count is not None or wants_level

    def read(self, data: OpenedData, class_var: Hashable, columns: Collection[Hashable]) -> Dataset:
        """Encode columns of raw data; columns to discretize stay numbers."""
        rows = data.check_in_memory("dataset")
        if self.discretize is None:
            features = [name for name in columns if name != class_var]
            opened, numeric = data_and_numeric_features(rows, features, (class_var,), self.numeric)
            return opened.check_in_memory("dataset").encode(Columns(columns, numeric=numeric))
        if isinstance(rows, Frame):
            check_class_type(rows.frame[class_var])
        return rows.encode_raw(class_var, columns)

    def learn(self, data: Dataset, class_var: Hashable) -> Preparation:
        """Learn the preparation from encoded data."""
        discretizer: Discretizer | None = None
        merger: Merger | None = None
        if self.discretize is not None:
            OneOf((*METHODS, *CUTTINGS)).check("discretize", self.discretize)
            levels = {name: data.schema.levels_of[name] for name in data.numbers}
            kept = {name: labels for name, labels in levels.items() if are_categories(labels)}
            classes = data.codes[data.positions[class_var]]
            discretizer = learn_cuts(
                data.numbers, kept, classes, self.discretize, self.bins, data.weights
            )
        if self.min_count is not None:
            cut = () if discretizer is None else discretizer.cuts
            excluded = {class_var, *data.schema.ordered, *cut, *data.schema.numeric}
            nominal = [name for name in data.columns if name not in excluded]
            merger = learn_merger(data, nominal, self.min_count)
        missing = self.columns_with_missing_level(
            Preparation(merger, discretizer).prepared_data(data), class_var
        )
        return Preparation(merger, discretizer, missing)

    def columns_with_missing_level(
        self, data: Countable, class_var: Hashable
    ) -> tuple[Hashable, ...]:
        """Return the columns whose missing values become a level: named, or all incomplete ones."""
        if self.missing_level in (None, False):
            return ()
        if self.missing_level is True:
            rows = data.with_positive_weights().rows_with_known(class_var)
            pairs = zip(data.columns, rows.incomplete.tolist(), data.cards, strict=True)
            chosen = [name for name, lacks, card in pairs if lacks and card and name != class_var]
        else:
            named = check_feature_names(self.missing_level, (class_var,), "missing_level")
            check_columns(named, data.columns, "missing_level")
            chosen = [name for name in data.columns if name in named]
        check_can_add_missing_level(data, chosen)
        return tuple(chosen)


def check_can_discretize(dataset: object) -> None:
    """Raise a TypeError for an encoded dataset without numbers, which cannot be discretized."""
    if isinstance(dataset, Dataset) and not dataset.numbers and dataset.weights is None:
        frame_of(dataset, "dataset")
