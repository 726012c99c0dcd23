"""Weights of evidence: what each feature adds to the log odds of a class when it becomes known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base import graphs
from ..base.arrays import Array, Codes, first_best
from ..base.checks import is_among
from ..base.messages import listed, shown
from ..frames.matching import check_unseen, match
from ..frames.schema import Dataset
from ..model.model import Model, check_fitted
from ..model.questions import classes, values

_BLOCK_CELLS = 2**22

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the class's prior and the features of rows say, one after the other.

    Attributes
    ----------
    order : tuple of int
        The features by number, in the order in which they become known.
    codes : (features, rows) array of integers
        What each row has, as the model numbers it; -1 where missing.
    log_odds : (rows, 1 + features) array
        What the prior adds to the log odds, and what each feature in order.
    targets : (rows,) array of integers
        The class that is explained, by number.
    rivals : (rows, classes) array of bool
        Those that it is compared with.
    posteriors : (rows,) array
        The probability of the target, all features known.
    """

    order: tuple[int, ...]
    codes: Codes
    log_odds: Array
    targets: Rows
    rivals: NDArray[np.bool_]
    posteriors: Array


def weigh_evidence(
    x: Model,
    data: Dataset,
    target: Any = None,
    against: Any = None,
    unseen: str = "error",
    *,
    argument: str = "row",
) -> Evidence:
    """Weigh what the prior and each feature add to the log odds of a class in each row.

    Parameters
    ----------
    x : Model
    data : Dataset
        Has a column for each feature of the model.
    target, against, unseen
        As in `explain`.
    argument : str
        What errors call the data.
    """
    comparison = _compare(classes(check_fitted(x)), target, against)
    check_unseen(unseen)
    labels = values(x)
    codes = match(data, x.features, tuple([labels[v] for v in x.features]), unseen=unseen)
    order = _order(x)
    rows_per_block = max(1, _BLOCK_CELLS // ((len(order) + 1) * max(len(order), len(classes(x)))))
    blocks = [codes[:, i : i + rows_per_block] for i in range(0, max(len(data), 1), rows_per_block)]
    weighed = [x._weigh_evidence(block, order, comparison.choose) for block in blocks]
    log_odds, targets, rivals, posteriors = (np.concatenate(parts) for parts in zip(*weighed, strict=True))
    _check_rivals(targets, rivals, classes(x))
    _check_possible(log_odds, data.index, argument)
    return Evidence(tuple(order), codes, log_odds, targets, rivals, posteriors)


@dataclass(frozen=True)
class _Comparison:
    """The classes to compare, by number; None is what is likeliest in a row."""

    target: int | None
    against: tuple[int, ...] | None

    def choose(self, logs: Array) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the class to explain in each row, and which it is compared with, (rows, classes)."""
        at = np.arange(len(logs))
        targets = first_best(logs) if self.target is None else np.full(len(logs), self.target)
        rivals = np.zeros(logs.shape, dtype=bool)
        if self.against is None:
            other_logs = logs.copy()
            other_logs[at, targets] = -np.inf
            likeliest = first_best(other_logs)
            likeliest[likeliest == targets] = 1  # all are impossible, so the first, 0, was taken
            rivals[at, likeliest] = True
        else:
            rivals[:, list(self.against)] = True
            rivals[at, targets] = False
        return targets, rivals


def _order(x: Model) -> list[int]:
    """Order the numbers of the features, parents before children if they can be, else as in the data."""
    parents = x.feature_parents
    if not graphs.is_acyclic(parents):
        return list(range(len(x.features)))
    position = {name: i for i, name in enumerate(x.features)}
    return [position[name] for layer in graphs.layers(parents) for name in layer]


def _compare(labels: tuple[Any, ...], target: Any, against: Any) -> _Comparison:
    """Return which classes to compare, by number, or raise for what is no class."""
    if len(labels) < 2:
        raise ValueError(f"x: has the one class {listed(labels)}, so there is nothing to compare it with")
    chosen = None if target is None else _class_number("target", labels, target)
    if against is None:
        return _Comparison(chosen, None)
    is_label = is_among(against, labels) or not pd.api.types.is_list_like(against)  # a tuple may be a label
    rivals = {_class_number("against", labels, label) for label in ([against] if is_label else against)}
    if not rivals - {chosen}:
        raise ValueError(
            f"against: expected another class than the target {shown(target)}, got {shown(against)}"
        )
    return _Comparison(chosen, tuple(sorted(rivals - {chosen})))


def _class_number(argument: str, labels: tuple[Any, ...], label: Any) -> int:
    if not is_among(label, labels):
        raise ValueError(f"{argument}: expected one of the classes {listed(labels)}, got {shown(label)}")
    return labels.index(label)


def _check_rivals(targets: Rows, rivals: NDArray[np.bool_], labels: tuple[Any, ...]) -> None:
    """Raise a ValueError where the only class to compare with is the one predicted."""
    unrivalled = ~rivals.any(axis=1)
    if unrivalled.any():
        label = labels[targets[unrivalled.argmax()]]
        count = f"{np.count_nonzero(unrivalled):,} of {len(targets):,} rows"
        raise ValueError(
            f"against: {shown(label)} is the class predicted in {count}, which cannot be compared with "
            "itself; say which class to explain, with target=..."
        )


def _check_possible(log_odds: Array, index: pd.Index[Any], argument: str) -> None:
    """Raise a ValueError if there are no odds in a row."""
    without = np.isnan(log_odds[:, 0])
    if without.any():
        phrase = "is" if len(index) == 1 else f"has rows that are ({listed(index[without])})"
        raise ValueError(
            f"{argument}: {phrase} impossible under every class compared, so there are no odds to explain; "
            "learn with smooth above 0, which makes nothing impossible"
        )
