"""New data, encoded by the levels of a model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import pandas as pd

from ..base.arrays import Array
from ..frames.encoding import Row, encode_new
from ..frames.opening import open_columns
from ..frames.partitions import Partitions
from ..frames.schema import Dataset
from ..frames.sources import find_source
from .model import Model

_MOST_CELLS = 2**28  # maximum number of cells of a log joint, 2 GiB


def rows_for(x: Model, dataset: object, names: Sequence[Hashable] | None = None) -> Dataset | Partitions:
    """Return encoded variables of a model from data of any source."""
    names = x.variables if names is None else names
    if isinstance(dataset, Partitions) or find_source(dataset, "dataset") is not None:
        return open_columns(
            dataset, names, known=x.levels_by_name, preparation=x.preparation, numeric=x.densities
        )
    return encode_for(x, dataset, names, argument="dataset")  # type: ignore[arg-type]


def encode_for(
    x: Model,
    newdata: pd.DataFrame | Dataset | Row | Sequence[Row],
    names: Iterable[Hashable] | None = None,
    argument: str = "newdata",
) -> Dataset:
    """Encode new data for a model, by default all its variables; errors name ``argument``."""
    data = read_for(x, newdata, names, argument)
    return data if x.preparation is None else x.preparation.code(data)


def read_for(
    x: Model,
    newdata: pd.DataFrame | Dataset | Row | Sequence[Row],
    names: Iterable[Hashable] | None = None,
    argument: str = "newdata",
) -> Dataset:
    """Encode new data without discretization and merging."""
    levels = x.levels_by_name
    wanted = {name: levels[name] for name in (levels if names is None else names)}
    if x.preparation is None:
        return encode_new(newdata, wanted, argument, {name: True for name in wanted if name in x.densities})
    return x.preparation.read(newdata, wanted, argument)


def log_joint(x: Model, data: Dataset, *, unseen: str | None = None) -> Array:
    """Return ln P(observed features, class), (rows, classes), of rows with a column per feature."""
    check_size(len(data), len(x.known_levels[-1]))
    placed, codes = x._place(data, unseen)
    logs: Array = placed._log_joint(codes)
    return logs


def check_size(rows: int, n_classes: int) -> None:
    """Raise a ValueError if an array of rows and classes would need too much memory."""
    if rows * n_classes > _MOST_CELLS:
        raise ValueError(
            f"{rows:,} rows and {n_classes:,} classes would need {rows * n_classes:,} numbers, more than "
            f"{_MOST_CELLS:,}. Pass fewer rows at a time, or merge rare classes."
        )
