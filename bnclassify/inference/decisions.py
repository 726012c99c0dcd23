"""Costs of decisions, and the class probabilities of another population."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, Mask, Positions, log, log_normalize
from ..base.checks import Instance, Real
from ..base.messages import listed, shown
from ..frames.records import is_missing

_FEW = 3
"""Number of classes in an example."""

ClassPrior: TypeAlias = "Mapping[Any, float] | pd.Series[Any]"


def check_costs(
    costs: pd.DataFrame, classes: Sequence[Hashable]
) -> tuple[Array, tuple[Hashable, ...]]:
    """Return costs, (classes, decisions), and decisions, which may be classes in their order."""
    remedy = "An example is pd.DataFrame([[0, 1], [5, 0]], index=names, columns=names)."
    expected = "a DataFrame with one row per actual class and one column per decision"
    Instance(pd.DataFrame, expected, remedy).check("costs", costs)
    _check_classes(list(costs.index), classes, "costs must have the actual classes as its rows")
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


def check_class_prior(prior: ClassPrior, classes: Sequence[Hashable]) -> Array:
    """Return a probability of each class, in the order of classes, or raise."""
    expected = "a dict or Series with the probability of each class"
    shares_of = ", ".join(f"{shown(name)}: {1 / len(classes):.3g}" for name in classes[:_FEW])
    example = f"An example is {{{shares_of}{', ...' * (len(classes) > _FEW)}}}."
    Instance(Mapping | pd.Series, expected, example).check("prior", prior)
    _check_classes(list(prior.keys()), classes, "prior must have the classes as its names")
    given: dict[Hashable, object] = dict(prior.items())
    shares = np.array(
        [Real(least=0).check(f"prior[{shown(name)}]", given[name]) for name in classes]
    )
    total = float(shares.sum())
    if abs(total - 1) > 1e-6:
        raise ValueError(f"prior must be probabilities that sum to 1; got a sum of {total:g}.")
    return shares / total


def log_prior_ratio(learned: Array, prior: Array, classes: Sequence[Hashable]) -> Array:
    """Return the log of a prior divided by the learned probabilities of the classes, or raise."""
    lacking: list[int] = np.flatnonzero((learned == 0) & (prior > 0)).tolist()
    unknown = [classes[i] for i in lacking]
    if unknown:
        raise ValueError(
            "prior must be 0 for classes that are impossible in the model; got a positive value of "
            f"{listed(unknown, most=8)}. Fit the model with smooth above 0."
        )
    return log(np.where(prior > 0, prior / np.where(learned > 0, learned, 1.0), 0.0))


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


def _check_classes(
    names: Sequence[Hashable], classes: Sequence[Hashable], requirement: str
) -> None:
    if set(names) != set(classes) or len(names) > len(classes):
        absent = [name for name in classes if name not in names]
        advice = f" Add {listed(absent)}." if absent else ""
        raise ValueError(f"{requirement}, {listed(classes)}; got {listed(names)}.{advice}")
