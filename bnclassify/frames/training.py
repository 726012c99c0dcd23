"""Preparation of training data, once per call: checks, encoding, choice of columns, numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from ..tools.arrays import Mask
from ..tools.checks import check_column_name, check_columns, check_feature_names
from ..tools.messages import no_labels_error, shown, warn
from .columns import warn_of_columns, warn_of_labels, warn_of_no_features
from .dataset import Countable, Dataset, OpenedData, Prepare
from .frame import check_have_levels
from .numeric import FLOATS
from .opening import InFull, InParts, open_data
from .schema import MISSING, Columns, Known, Schema

Numeric: TypeAlias = bool | tuple[Hashable, ...]
"""Columns to keep as numbers, or True for those that `discretize` discretizes by default."""


def data_and_numeric_features(
    data: OpenedData, features: Sequence[Hashable], targets: Sequence[Hashable], numeric: Numeric
) -> tuple[OpenedData, tuple[Hashable, ...]]:
    """Return data, encoded if necessary, and the features that are kept as numbers."""
    if not isinstance(numeric, bool):
        check_columns(numeric, features, "numbers")
        return data, numeric
    return data.data_and_default_numeric_features(features, targets) if numeric else (data, ())


class NoRowsError(ValueError):
    """Raised if no rows or labels remain."""


@dataclass(frozen=True, eq=False, repr=False)
class TrainingData(Dataset):
    """Training rows: the features, then the targets. A single target is observed in all rows.

    ``order`` lists the columns in their original order, and ``with_unknown``
    has all rows if some lack the only target.
    """

    targets: tuple[Hashable, ...] = ()
    order: tuple[Hashable, ...] = ()
    with_unknown: Dataset | None = None

    @property
    def with_unlabeled_rows(self) -> Dataset:
        """The data, including rows without a class."""
        return self if self.with_unknown is None else self.with_unknown

    @property
    def is_row_labeled(self) -> Mask:
        """Which of the given rows have a class."""
        return np.asarray(self.with_unlabeled_rows.codes[-1] >= 0)

    def select(self, columns: Sequence[Hashable]) -> Self:
        with_unknown = self.with_unknown and self.with_unknown.select(columns)
        return replace(super().select(columns), with_unknown=with_unknown)


L = TypeVar("L", bound=Callable[..., Any])
Trained = TypeVar("Trained", bound=Countable)


def prepare_training_data(
    dataset: InFull | InParts,
    targets: tuple[Hashable, ...],
    features: Iterable[Hashable] | None = None,
    *,
    rows_needed: bool = False,
    numeric: Numeric = (),
    named_by: str = "class_var",
) -> Countable:
    """Open and prepare training data, or raise: the first line of functions that learn structures.

    Data that are prepared for the targets are returned, with the ``features``.
    See `read_training`.
    """
    for target in targets:
        check_column_name(target, named_by)
    if isinstance(dataset, TrainingData) and dataset.targets == targets and not numeric:
        if features is None:
            return dataset
        return with_features(dataset, check_feature_names(features, targets))
    return read_training(
        open_data(dataset),
        targets,
        features,
        rows_needed=rows_needed,
        numeric=numeric,
        named_by=named_by,
    )


def read_training(
    opened: OpenedData,
    targets: tuple[Hashable, ...],
    features: Iterable[Hashable] | None = None,
    *,
    rows_needed: bool = False,
    known: Known | None = None,
    preparation: Prepare | None = None,
    numeric: Numeric = (),
    warns: bool = True,
    named_by: str = "class_var",
) -> Countable:
    """Read opened data to learn from them, or raise.

    The columns are the ``features`` (by default, all) in the order of the data,
    then the ``targets``. Data prepared for the same targets is returned
    unchanged. Data that stay where they are raise an error if ``rows_needed``. The
    ``known`` levels, for example of a model, need not occur in the data. A
    ``preparation`` converts raw columns to categories, and ``numeric`` columns
    are kept as numbers. If ``warns`` is False, rows without a class and wide
    columns cause no warning.
    """
    if rows_needed:
        opened = opened.check_in_memory("dataset")
    if preparation is not None:
        opened = opened.prepared(preparation, known or {})
    numbers: tuple[Hashable, ...] = ()
    if numeric:
        named = opened.columns if features is None else check_feature_names(features, targets)
        allowed = set(named).difference(targets)
        candidates = [name for name in opened.columns if name in allowed]
        opened, numbers = data_and_numeric_features(opened, candidates, targets, numeric)
    if isinstance(opened, Countable) and opened.targets == targets:
        kept = opened.columns_as_numbers(numbers) if isinstance(opened, TrainingData) else opened
        return kept if features is None else with_features(kept, tuple(features))
    chosen, order = _features_and_column_order(opened, targets, features, warns, named_by)
    columns = (*chosen, *targets)
    required = targets[0] if len(targets) == 1 else None
    data = opened.read(Columns(columns, known, numbers, required=required))
    _check_no_missing_level(data.schema, targets, named_by)
    has_checked_levels = opened.in_parts and isinstance(opened, Countable)
    if not (has_checked_levels or isinstance(opened, TrainingData)):
        given = {*(known or ()), *numbers}
        check_have_levels(data, [name for name in data.columns if name not in given], targets)
    if not isinstance(data, Dataset):
        if features is None and warns:
            warn_of_labels(data.schema)
        counted: Any = data  # where it is
        prepared: Countable = counted.prepared_for(targets, order, warns)
        return prepared
    if features is None and warns:
        warn_of_columns(data, targets[0] if len(targets) == 1 else None)
    return _rows_with_targets(data, targets, order, warns)


def prepare_training_rows(
    dataset: InFull | InParts,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
) -> TrainingData:
    """Prepare data with their rows in memory, or raise; see `prepare_training_data`."""
    data = prepare_training_data(dataset, (class_var,), features, rows_needed=True)
    assert isinstance(data, TrainingData)
    return data


def _features_and_column_order(
    data: OpenedData,
    targets: Sequence[Hashable],
    features: Iterable[Hashable] | None,
    warns: bool,
    named_by: str,
) -> tuple[list[Hashable], tuple[Hashable, ...]]:
    """Return the features, and the features and targets in the order of the data, or raise."""
    wanted = None if features is None else check_feature_names(features, targets)
    names = data.columns
    check_columns(targets, names, named_by)
    chosen = names if wanted is None else check_columns(wanted, names, "features")
    if wanted is None and len(names) == 1 and warns:
        warn_of_no_features(targets[0])
    kept = {*chosen, *targets}
    order = tuple([name for name in names if name in kept])
    return [name for name in order if name not in targets], order


def _check_no_missing_level(schema: Schema, targets: Sequence[Hashable], argument: str) -> None:
    """Raise a ValueError if missing values of a target were encoded as a level."""
    for target in targets:
        if schema.levels_of[target][-1:] == (MISSING,):
            raise ValueError(
                f"{argument} must not have the level {MISSING!r}. Name only "
                "features in missing_level."
            )


def with_features(data: Trained, features: Sequence[Hashable]) -> Trained:
    """Return prepared data with some of its features."""
    names = (*features, *data.targets)
    if names == data.columns:
        return data
    check_columns(features, data.columns, "features")
    order = tuple(filter(set(names).__contains__, data.order))
    return replace(data.select(names), order=order)


def _rows_with_targets(
    data: Dataset, targets: tuple[Hashable, ...], order: tuple[Hashable, ...], warns: bool
) -> TrainingData:
    """Drop the rows that lack the only target, and raise if no rows remain."""
    kept = data if len(targets) > 1 else data.rows_with_known(targets[0])
    unlabeled = len(targets) > 1 and bool((data.codes[-len(targets) :] < 0).all())
    check_rows_remain(targets, len(data), 0 if unlabeled else len(kept), kept.size, warns)
    with_unknown = None if kept is data else data
    content = {field.name: getattr(kept, field.name) for field in fields(Dataset)}
    return TrainingData(**content, targets=targets, order=order, with_unknown=with_unknown)


def check_rows_remain(
    targets: Sequence[Hashable], rows: int, kept: int, size: float, warns: bool
) -> None:
    """Raise if no rows remain, and warn of rows that were dropped because they have no class."""
    if not rows:
        raise NoRowsError("dataset must have rows; got none.")
    if not kept:
        raise no_labels_error(targets)
    if not size:
        raise NoRowsError("dataset must have rows with a positive weight; all weights are 0.")
    if kept < rows and warns:
        warn(f"{rows - kept} of {rows} rows have no class {shown(targets[0])} and are ignored")


def mark_as_averaging(learner: L) -> L:
    """Mark a learner that averages over `Countable.codings`, or does not depend on the data."""
    vars(learner)["averages_codings"] = True
    return learner


def schema_and_features(
    dataset: InFull | InParts | None,
    class_var: Hashable,
    features: Iterable[Hashable] | None,
    *,
    numeric: bool = False,
) -> tuple[Schema | None, tuple[Hashable, ...]]:
    """Return the schema of data, if data are given, and the features, for a fixed structure."""
    check_column_name(class_var)
    if dataset is None:
        return None, () if features is None else check_feature_names(features, (class_var,))
    data = open_data(dataset)
    if isinstance(data, Countable) and data.targets == (class_var,) and features is None:
        return data.schema.select(data.order), data.features
    chosen, columns = _features_and_column_order(data, (class_var,), features, True, "class_var")
    if data.in_parts:
        learnable = read_training(data, (class_var,), features)
        return learnable.schema.select(learnable.order), learnable.features
    types, data = data.types if numeric else {}, data.check_in_memory("dataset")
    floats = {name for name in chosen if types.get(name) in FLOATS}
    if floats:
        found = data.encode_raw(class_var, columns, {*columns} - floats).select(columns)
    else:
        found = data.read(Columns(columns)).select(columns)
    numbers = found.numbers if numeric else {}
    coded = [name for name in columns if name not in numbers or pd.isna(numbers[name]).all()]
    check_have_levels(found, coded, (class_var,))
    _check_no_missing_level(found.schema, (class_var,), "class_var")
    if features is None:
        warn_of_columns(found, class_var)
    return found.schema, tuple(chosen)
