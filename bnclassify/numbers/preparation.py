"""What is done to raw data before it is encoded: rare levels merged, numbers cut, as one value."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pandas as pd

from ..base.immutable import Immutable
from ..base.records import record
from ..frames.rows import Row, as_frame
from .discretization import Discretizer, columns_of_numbers, discretize
from .rare_levels import Merger, columns_to_merge, merge_rare
from .shifted_cuts import CUTTINGS, learn_moved


@record
@dataclass(frozen=True, repr=False)
class Preparation(Immutable):
    """A function that turns raw data into the categories that a model knows. Made by ``learn_preparation``.

    Attributes
    ----------
    merger : Merger or None
        Merges rare levels.
    discretizer : Discretizer or None
        Cuts numbers; of other columns than those that are merged.
    """

    merger: Merger | None = None
    discretizer: Discretizer | None = None

    def __call__(self, newdata: pd.DataFrame | Row) -> pd.DataFrame:
        """Merge, then cut.

        Parameters
        ----------
        newdata : pandas.DataFrame, Series or dict
            As `Merger` and `Discretizer` take it.

        Returns
        -------
        pandas.DataFrame
            A copy with the same rows and columns.

        Raises
        ------
        KeyError, TypeError, ValueError
            As they do.
        """
        return self.apply(newdata, "newdata")

    def apply(self, newdata: pd.DataFrame | Row, argument: str) -> pd.DataFrame:
        """Merge, then cut; errors call the data by the name of an argument."""
        frame = as_frame(newdata, argument)
        for step in (self.merger, self.discretizer):
            if step is not None:
                frame = step.apply(frame, argument)
        return frame

    def __repr__(self) -> str:
        return (
            "\n".join(repr(step) for step in (self.merger, self.discretizer) if step is not None)
            or "Preparation"
        )


def learn_preparation(
    dataset: pd.DataFrame,
    class_var: Hashable,
    *,
    method: str | None = None,
    bins: int = 5,
    min_count: int | None = None,
) -> tuple[pd.DataFrame, Preparation]:
    """Learn how raw training data becomes categories, and do it.

    Parameters
    ----------
    dataset : pandas.DataFrame
    class_var : str
        Name of the class, which is neither merged nor cut.
    method : str, optional
        As in `discretize`, or one of `CUTTINGS`; None cuts nothing.
    bins : int, default 5
        As in `discretize`.
    min_count : int, optional
        As in `merge_rare`; None merges nothing. Columns that are cut are not merged.

    Returns
    -------
    pandas.DataFrame
        A copy of ``dataset``, merged and cut.
    Preparation
    """
    merger: Merger | None = None
    discretizer: Discretizer | None = None
    frame = dataset
    if min_count is not None:
        numbers = {} if method is None else columns_of_numbers(dataset, class_var)
        cut = {name for name, labels in numbers.items() if not labels}
        chosen = [name for name in columns_to_merge(dataset, class_var) if name not in cut]
        frame, merger = merge_rare(frame, class_var=class_var, min_count=min_count, columns=chosen)
    if method in CUTTINGS:
        frame, discretizer = learn_moved(frame, class_var, method)
    elif method is not None:
        frame, discretizer = discretize(frame, class_var=class_var, method=method, bins=bins)
    return frame, Preparation(merger, discretizer)
