"""Raw data in terms of what a model knows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import pandas as pd

from ..frames.parting import as_parts
from ..frames.partitions import Partitions
from ..frames.raw import RawData
from ..frames.rows import Row, encode_new
from ..frames.schema import Dataset
from .model import Model
from .questions import values

Given = TypeVar("Given", bound="pd.DataFrame | Dataset | Row")


def prepared(x: Model, dataset: Given, argument: str = "dataset") -> Given | pd.DataFrame:
    """Return data as categories, if the model makes these itself; what is encoded is taken for such."""
    if x.preparation is None or (isinstance(dataset, Dataset) and not isinstance(dataset, RawData)):
        return dataset
    return x.preparation.apply(dataset.frame if isinstance(dataset, RawData) else dataset, argument)


def parts_for(x: Model, dataset: object) -> Partitions | None:
    """Return the variables of data in parts as a model codes them; None for data that is in memory."""
    return as_parts(dataset, columns=x.variables, known=values(x), prepare=x.preparation)


def encode_for(
    x: Model,
    newdata: pd.DataFrame | Dataset | Row,
    names: Iterable[Hashable] | None = None,
    argument: str = "newdata",
) -> Dataset:
    """Encode new data for a model: raw data that it prepares itself, or categories.

    Parameters
    ----------
    x : Model
    newdata : pandas.DataFrame, Dataset, Series or dict
    names : iterable, optional
        The variables to encode; by default all of the model.
    argument : str
        What errors call ``newdata``.
    """
    levels = values(x)
    wanted = {name: levels[name] for name in (levels if names is None else names)}
    return encode_new(prepared(x, newdata, argument), wanted, argument)
