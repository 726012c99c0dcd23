"""From posteriors to decisions: another prior of the classes, and costs of mistakes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array, first_best, log, log_normalize
from ..base.checks import Real
from ..base.messages import listed, shown

_ROUNDED = 1e-6


def check_costs(costs: object, classes: Sequence[Hashable]) -> Array:
    """Return costs as an array, actual classes down and predicted across, or raise."""
    if not isinstance(costs, pd.DataFrame):
        raise TypeError(
            "costs: expected a DataFrame, actual classes down and predicted across, such as "
            f"pd.DataFrame([[0, 1], [5, 0]], index=names, columns=names), got {type(costs).__name__}"
        )
    _check_classes(list(costs.index), classes, "costs: its rows, what a row is,")
    _check_classes(list(costs.columns), classes, "costs: its columns, what is predicted,")
    ordered = costs.loc[list(classes), list(classes)]
    if not all(map(pd.api.types.is_any_real_numeric_dtype, ordered.dtypes)):
        raise TypeError("costs: expected numbers in every cell")
    table = ordered.to_numpy(dtype=float)
    if not np.isfinite(table).all():
        raise ValueError("costs: expected a finite number in every cell; being right usually costs 0")
    return table


def check_prior(prior: object, classes: Sequence[Hashable]) -> Array:
    """Return a probability of each class, in the order of classes, or raise."""
    if not isinstance(prior, Mapping | pd.Series):
        raise TypeError(
            f"prior: expected a dict or Series with a probability for each class, got {type(prior).__name__}"
        )
    probabilities: dict[Any, Any] = dict(prior)
    if len(probabilities) < len(prior):
        raise ValueError("prior: a class is named more than once")
    _check_classes(list(probabilities), classes, "prior: its names")
    shares = np.array(
        [Real(least=0).check(f"prior[{shown(name)}]", probabilities[name]) for name in classes], dtype=float
    )
    if abs(shares.sum() - 1) > _ROUNDED:
        raise ValueError(f"prior: expected probabilities that sum to 1, got a sum of {shares.sum():g}")
    return shares / shares.sum()


def exchange_prior(logs: Array, learned: Array, prior: Array, classes: Sequence[Hashable]) -> Array:
    """Return log posteriors as they are under another prior than the one learned, by Bayes' rule."""
    unknown = [name for name, old, new in zip(classes, learned, prior, strict=True) if old == 0 < new]
    if unknown:
        raise ValueError(
            f"prior: the model holds {listed(unknown)} for impossible, whatever else there is; learn it with "
            "smooth above 0"
        )
    ratio = np.where(prior > 0, prior / np.where(learned > 0, learned, 1.0), 0.0)
    return log_normalize(log_normalize(logs) + log(ratio))


def least_costly(logs: Array, costs: Array) -> NDArray[np.intp]:
    """Return the class of least expected cost in each row, the first of those that tie."""
    scale = np.ptp(costs) or 1.0  # ties are to be the same in whatever currency
    return first_best(-(np.exp(log_normalize(logs)) @ (costs / scale)))


def _check_classes(names: Sequence[Hashable], classes: Sequence[Hashable], subject: str) -> None:
    absent = [name for name in classes if name not in names]
    strange = [name for name in names if name not in classes]
    if absent or strange or len(set(names)) < len(names):
        faults = [
            f"{word} {listed(labels)}"
            for word, labels in (("lacking", absent), ("unknown", strange))
            if labels
        ]
        raise ValueError(
            f"{subject} must be the classes, {listed(classes, most=20)}; "
            + (", ".join(faults) or "one is there more than once")
        )
