"""Costs of decisions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from ..frames import is_missing
from ..model import check_names_of_classes
from ..tools.arrays import TOLERANCE, Array, Mask, Positions, log_normalize
from ..tools.checks import Instance
from ..tools.messages import listed


def check_costs(
    costs: pd.DataFrame, classes: Sequence[Hashable]
) -> tuple[Array, tuple[Hashable, ...]]:
    """Return costs, (classes, decisions), and decisions, which may be classes in their order."""
    remedy = "An example is pd.DataFrame([[0, 1], [5, 0]], index=names, columns=names)."
    expected = "a DataFrame with one row per actual class and one column per decision"
    Instance(pd.DataFrame, expected, remedy).check("costs", costs)
    check_names_of_classes(
        list(costs.index), classes, "costs must have the actual classes as its rows"
    )
    rows, columns = list[Hashable](costs.index), list[Hashable](costs.columns)
    decisions = columns
    if not decisions or len(set(decisions)) < len(decisions) or any(map(is_missing, decisions)):
        raise ValueError(
            "costs must have one column per decision, each with its own name; got "
            f"{listed(decisions)}."
        )
    if set(decisions) <= set(classes):
        decisions = [name for name in classes if name in decisions]
    order = [rows.index(name) for name in classes], [columns.index(name) for name in decisions]
    ordered: pd.DataFrame = costs.iloc[order]
    if not all(map(pd.api.types.is_any_real_numeric_dtype, ordered.dtypes)):
        raise TypeError("costs must have numbers in every cell.")
    table: Array = ordered.to_numpy(dtype=float)
    if not np.isfinite(table).all():
        raise ValueError(
            "costs must have a finite number in every cell. A correct label usually costs 0."
        )
    return table, tuple(decisions)


def least_costly(logs: Array, costs: Array) -> Positions:
    """Return the decision of minimum expected cost in each row, the first if tied.

    Two decisions are tied if their costs differ by at most 1e-9 of the larger
    of their sums Σ_c P(c | row) |cost|, so that a large cost of a third
    decision does not make them equal.
    """
    posteriors = np.exp(log_normalize(logs))
    costs = costs / 4  # so that no sum or difference overflows
    expected, sizes = posteriors @ costs, posteriors @ np.abs(costs)  # (rows, decisions)
    least: Positions = expected.argmin(axis=1)[:, None]
    lowest = np.take_along_axis(expected, least, axis=1)
    size_of_lowest = np.take_along_axis(sizes, least, axis=1)
    tied: Mask = expected - lowest <= np.maximum(sizes, size_of_lowest) * TOLERANCE
    first: Positions = tied.argmax(axis=1)
    return first
