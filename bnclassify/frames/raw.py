"""Raw data where some columns are no categories yet, because a model makes such of them itself."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from .training import TrainingData


@dataclass(frozen=True, eq=False, repr=False)
class RawData(TrainingData):
    """Rows to learn from with the frame that they came from, for what is still to be learned of raw columns.

    Attributes
    ----------
    frame : pandas.DataFrame
        The same rows, with all columns; those that are encoded may be some.
    """

    frame: pd.DataFrame = field(default_factory=pd.DataFrame)

    def taken(self, positions: NDArray[Any]) -> RawData:
        """Return the rows at positions."""
        return replace(super().taken(positions), frame=self.frame.iloc[positions])


def with_frame(data: TrainingData, frame: pd.DataFrame) -> RawData:
    """Return rows with the frame that they came from."""
    return RawData(**{field.name: getattr(data, field.name) for field in fields(data)}, frame=frame)
