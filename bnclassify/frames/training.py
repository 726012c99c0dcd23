"""Preparation of training data, once per call: checks, encoding, choice of columns, numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, TypeGuard, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.immutable import EMPTY
from . import databases as databases  # which registers its source
from .columns import column_arrays, warn_of_no_features, warn_of_wide_columns
from .encoding import (
    check_columns,
    check_frame,
    check_levels,
    check_name,
    check_names,
    read_columns,
    read_raw,
)
from .numeric import FLOATS, are_categories, labels_to_keep, read_numbers, value_type
from .opening import InFull, InParts, Known, column_names, open_columns
from .partitions import Partitions, check_rows
from .reading import Prepare
from .schema import MISSING, Countable, Dataset, Learnable, Schema
from .sources import NEEDS_ROWS, LargeFrame, Source, find_source, in_pandas

Numeric: TypeAlias = bool | tuple[Hashable, ...]
"""Columns to keep as numbers, or True for those that `discretize` discretizes by default."""


def find_numbers(
    dataset: Any, features: Sequence[Hashable], targets: Sequence[Hashable], numeric: Numeric
) -> tuple[Any, tuple[Hashable, ...]]:
    """Return data, encoded if necessary, and the features that are numbers."""
    if not isinstance(numeric, bool):
        check_columns(numeric, features, "numbers")
        return dataset, numeric
    if not numeric:
        return dataset, ()
    source = find_source(dataset, "dataset")
    if isinstance(dataset, Countable) and not isinstance(dataset, Dataset):
        return dataset, tuple([name for name in features if name in dataset.schema.numeric])
    if source is not None:
        return dataset, _numbers_in(source, features)
    if not isinstance(dataset, Dataset):
        target = targets[0] if targets else None
        dataset = read_raw(check_frame(dataset, "dataset"), target, {*features, *targets}, coded=targets)
    levels = dict(zip(dataset.columns, dataset.levels, strict=True))
    numbers = [name for name in features if name in dataset.numbers]
    return dataset, tuple([name for name in numbers if not (levels[name] and are_categories(levels[name]))])


def _numbers_in(source: Source, columns: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return which columns of partitioned data are numbers, after a pass over them."""
    found = source.reduce(_kinds, lambda parts: list(map(_joined, zip(*parts, strict=True))), list(columns))
    return tuple([name for name, kind in zip(columns, found, strict=True) if kind is True])


def _kinds(frame: pd.DataFrame) -> list[Any]:
    """Return for each column of a part True for numbers, the labels of codes, and None for other values."""
    kinds: list[Any] = []
    for name, array in zip(frame.columns, column_arrays(frame), strict=True):
        values = read_numbers(array, name, "dataset", must=False)
        labels = () if values is None else labels_to_keep(values)
        kinds.append(None if values is None else labels or not pd.isna(values).all() or ())
    return kinds


def _joined(parts: Sequence[Any]) -> Any:
    if any(part is None or part is True for part in parts):
        return None if None in parts else True
    labels = tuple({label for part in parts for label in part})
    return labels if are_categories(labels) else True


_MOST_ROWS = 2**20
"""A frame with more rows is counted in blocks, without a full copy of its codes."""


@dataclass(frozen=True, eq=False, repr=False)
class TrainingData(Learnable, Dataset):
    """Training rows: the features, then the targets. A single target is observed in all rows.

    ``order`` lists the columns in their original order, ``with_unknown`` has all rows if some lack the only
    target, and ``raw`` has the rows before preparation, for a refit.
    """

    targets: tuple[Hashable, ...] = ()
    order: tuple[Hashable, ...] = ()
    with_unknown: Dataset | None = None
    raw: Dataset | None = None

    @property
    def all_rows(self) -> Dataset:
        """The data, including rows without a class."""
        return self if self.with_unknown is None else self.with_unknown

    @property
    def has_class(self) -> NDArray[np.bool_]:
        """Which of the given rows have a class."""
        return np.asarray(self.all_rows.codes[-1] >= 0)

    def select(self, columns: Sequence[Hashable]) -> Self:
        """Return some of the columns, in this order."""
        with_unknown = self.with_unknown and self.with_unknown.select(columns)
        return replace(super().select(columns), with_unknown=with_unknown)


L = TypeVar("L", bound=Callable[..., Any])
Trained = TypeVar("Trained", bound=Learnable)


def prepare(
    dataset: InFull | InParts | Source,
    targets: tuple[Hashable, ...],
    features: Iterable[Hashable] | None = None,
    *,
    rows_needed: bool = False,
    known: Known | None = None,
    preparation: Prepare | None = None,
    numeric: Numeric = (),
    warns: bool = True,
    named_by: str = "class_var",
) -> TrainingData | Partitions:
    """Prepare training data, or raise; every public function that learns calls this once.

    The columns are the ``features`` (by default, all) in the order of the data, then the ``targets``. Data
    prepared for the same targets is returned unchanged. Partitioned data raises an error if ``rows_needed``.
    The ``known`` levels, for example of a model, need not occur in the data. A ``preparation`` converts raw
    columns to categories, and ``numeric`` columns are kept as numbers. If ``warns`` is False, rows without
    a class and wide columns cause no warning.
    """
    dataset = in_pandas(dataset)
    if rows_needed and isinstance(dataset, Partitions):
        if not isinstance(dataset.source, LargeFrame):
            raise TypeError(f"dataset {NEEDS_ROWS}")
        dataset = dataset.source.frame[list(dataset.columns)]
    if isinstance(dataset, Dataset) and preparation is not None:
        dataset = preparation.code(dataset)
    numbers: tuple[Hashable, ...] = ()
    if numeric:
        allowed = None if features is None else set(check_names(features, targets))
        present = [name for name in column_names(dataset) if name not in targets]
        columns = [name for name in present if allowed is None or name in allowed]
        dataset, numbers = find_numbers(dataset, columns, targets, numeric)
        dataset = dataset.with_numbers(numbers) if isinstance(dataset, Dataset) else dataset
    if isinstance(dataset, TrainingData | Partitions) and dataset.targets == targets:
        return dataset if features is None else some_features(dataset, tuple(features))
    if not rows_needed:
        source = find_source(dataset, "dataset")
        dataset = dataset if source is None else source
    if isinstance(dataset, pd.DataFrame) and preparation is not None:
        dataset = preparation.encode(dataset, known or {}, "dataset")
    chosen, order = _choose(dataset, targets, features, warns, named_by)
    if not rows_needed and _is_large(dataset, (*chosen, *targets)):
        dataset = LargeFrame(dataset)
    required = targets[0] if len(targets) == 1 else None
    data = open_columns(
        dataset, (*chosen, *targets), known=known, preparation=preparation, required=required,
        numeric=numbers, rows_needed=rows_needed,
    )  # fmt: skip
    _check_no_missing_level(data.schema, targets, named_by)
    if not isinstance(dataset, Learnable):  # with checked levels
        given = {*(known or ()), *numbers}
        check_levels(data, [name for name in data.columns if name not in given])
    if isinstance(data, Partitions):
        data = replace(data, targets=targets, order=order, warns=warns)
        data.tell()
        return data
    if features is None and warns:
        warn_of_wide_columns(data.schema, data.codes, data.weights, targets[0])
    return _rows_with_targets(data, targets, order, warns)


def prepare_rows(
    dataset: InFull | InParts,
    class_var: Hashable,
    features: Iterable[Hashable] | None = None,
    numeric: Numeric = (),
) -> TrainingData:
    """Prepare data with their rows in memory, or raise; see `prepare`."""
    data = prepare(dataset, (class_var,), features, rows_needed=True, numeric=numeric)
    assert isinstance(data, TrainingData)
    return data


def _is_large(dataset: object, columns: Sequence[Hashable]) -> TypeGuard[pd.DataFrame]:
    """Whether data are a long frame with declared levels, which is counted in blocks."""
    if not isinstance(dataset, pd.DataFrame) or len(dataset) <= _MOST_ROWS:
        return False
    dtypes = dict(dataset.dtypes.items())
    kinds = [dtypes[name] for name in columns]
    return all(isinstance(kind, pd.CategoricalDtype) and len(kind.categories) < 2**16 for kind in kinds)


def _choose(
    dataset: InFull | InParts | Source,
    targets: Sequence[Hashable],
    features: Iterable[Hashable] | None,
    warns: bool,
    named_by: str,
) -> tuple[list[Hashable], tuple[Hashable, ...]]:
    """Return the features, and the features and targets in the order of the data, or raise."""
    for target in targets:
        check_name(target, named_by)
    wanted = None if features is None else check_names(features, targets)
    names = column_names(dataset)
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
        if schema.levels[schema.positions[target]][-1:] == (MISSING,):
            raise ValueError(
                f"{argument} must not have the level {MISSING!r}. Name only features in missing_level."
            )


def some_features(data: Trained, features: Sequence[Hashable]) -> Trained:
    """Return prepared data with some of its features."""
    check_columns(features, data.columns, "features")
    names = (*features, *data.targets)
    order = tuple([name for name in data.order if name in names])
    return replace(data.select(names), order=order)


def _rows_with_targets(
    data: Dataset, targets: tuple[Hashable, ...], order: tuple[Hashable, ...], warns: bool
) -> TrainingData:
    """Drop the rows that lack the only target, and raise if no rows remain."""
    has_class = data.codes[-1] >= 0
    kept = data if len(targets) > 1 or has_class.all() else data.taken(has_class)
    unlabeled = len(targets) > 1 and bool((data.codes[-len(targets) :] < 0).all())
    check_rows(targets, len(data), 0 if unlabeled else len(kept), kept.size, warns)
    with_unknown = None if kept is data else data
    content = kept.schema, kept.codes, kept.index, kept.weights, kept.numbers, kept.cases, kept.given
    return TrainingData(*content, targets, order, with_unknown)


def averages_views(learner: L) -> L:
    """Mark a learner that averages over the `views` of its data, or does not depend on the data."""
    learner.averages_views = True  # type: ignore[attr-defined]
    return learner


def describe(
    dataset: InFull | InParts | None,
    class_var: Hashable,
    features: Iterable[Hashable] | None,
    *,
    numeric: bool = False,
) -> tuple[Schema | None, tuple[Hashable, ...]]:
    """Return the schema of data, if data are given, and the features, for a fixed structure."""
    if dataset is None:
        check_name(class_var)
        return None, () if features is None else check_names(features, (class_var,))
    dataset = in_pandas(dataset)
    if isinstance(dataset, Learnable) and dataset.targets == (class_var,) and features is None:
        return dataset.schema.select(dataset.order), dataset.features
    if not isinstance(dataset, pd.DataFrame | Dataset):
        data = prepare(dataset, (class_var,), features)
        return data.schema.select(data.order), data.features
    chosen, columns = _choose(dataset, (class_var,), features, True, "class_var")
    if numeric and isinstance(dataset, pd.DataFrame):
        arrays = zip(dataset.columns, column_arrays(dataset), strict=True)
        floats = {name for name, array in arrays if name in chosen and value_type(array) in FLOATS}
        dataset = read_raw(dataset, class_var, columns, {*columns} - floats) if floats else dataset
    schema, codes, weights = read_columns(dataset, columns)
    numbers = dataset.numbers if numeric and isinstance(dataset, Dataset) else EMPTY
    coded = [name for name in columns if name not in numbers or pd.isna(numbers[name]).all()]
    check_levels(dataset if isinstance(dataset, Dataset) else schema, coded, len(dataset))
    _check_no_missing_level(schema, (class_var,), "class_var")
    if features is None:
        warn_of_wide_columns(schema, codes, weights, class_var)
    return schema, tuple(chosen)
