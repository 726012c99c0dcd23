"""Metrics: how good the posteriors of rows are whose classes are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.arrays import Array, Codes, first_best


@dataclass(frozen=True)
class Metric:
    """A function of what a model says of rows and of what they are.

    Attributes
    ----------
    name : str
    measure : callable
        Takes the log joint of the rows and classes, (rows, classes), and the codes of the true
        classes, (rows,), and returns a number.
    is_loss : bool
        Whether less is better.
    """

    name: str
    measure: Callable[[Array, Codes], float]
    is_loss: bool = False


def _accuracy(logs: Array, actual: Codes) -> float:
    return float(np.mean(first_best(logs) == actual))


ACCURACY = Metric("accuracy", _accuracy)
