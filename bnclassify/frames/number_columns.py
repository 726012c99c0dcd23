"""Columns that are kept as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import pandas as pd

from .columns import column_arrays
from .encoding import check_columns, check_frame, read_raw
from .numeric import are_categories, labels_to_keep, read_numbers
from .schema import Countable, Dataset
from .sources import NEEDS_FUNCTION, Source, find_source

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
    if source.once:
        raise ValueError(
            f"dataset {NEEDS_FUNCTION}; got an iterator. Alternatively, name the numbers in a dict."
        )
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
