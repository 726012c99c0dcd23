"""The log joint of classes at many rows, held so that as few numbers as possible are added up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import TOLERANCE, Array


class Contrasts:
    """Log joints as planes: an array of rows, or of the cells of tables, for each class but the first.

    Only differences between classes matter, so all are taken to the first class. Where a
    probability may be 0, they cannot be: then there is a plane for every class, and log 0 is a number
    so low that no possible row comes near half of it, from which sums of others can be told.

    Parameters
    ----------
    n_classes : int
    variables : int
    lowest : float
        What no log of a probability is below, but that of 0; so it depends on the data how low a
        possible row can be.
    positive : bool
        Whether no probability is 0.
    """

    def __init__(self, n_classes: int, variables: int, lowest: float, *, positive: bool) -> None:
        self.n_classes = n_classes
        self.relative = positive and n_classes > 1
        self.floor = 8 * variables * lowest
        self.n_planes = n_classes - self.relative

    def planes(self, logs: Array, axis: int) -> Array:
        """Turn log probabilities with an axis of classes into planes, that axis first."""
        by_class = np.moveaxis(logs, axis, 0)
        planes = by_class[1:] - by_class[:1] if self.relative else np.maximum(by_class, self.floor)
        return np.ascontiguousarray(planes)

    def joint(self, planes: Array) -> Array:
        """Turn planes of rows back into log joints, (rows, classes), up to a number for each row."""
        return np.ascontiguousarray(self._classes(self._possible(planes)).T)

    def best(self, planes: Array) -> NDArray[Any]:
        """Return the first class that ties with the best, (…, planes, rows) to (…, rows)."""
        if self.relative and self.n_classes == 2:
            return planes[..., 0, :] > TOLERANCE
        by_class = np.moveaxis(self._possible(planes), -2, 0)
        enough = by_class.max(axis=0, initial=0.0 if self.relative else -np.inf)
        enough -= TOLERANCE
        # The number of classes that stand before the first one that is good enough
        behind = np.ones(enough.shape, dtype=bool)
        best = np.zeros(enough.shape, dtype=np.min_scalar_type(-self.n_classes))
        first = [np.float64(0)] if self.relative else []
        for plane in [*first, *by_class][:-1]:
            behind &= enough > plane
            best += behind
        return best

    def settled(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Tell in which rows one class is best whatever the planes are between these."""
        if self.relative and self.n_classes == 2:
            return (low[0] > TOLERANCE) | (high[0] <= TOLERANCE)
        low, high = self._classes(low), self._classes(high)
        best = low.max(axis=0)
        contenders = np.count_nonzero(high >= best - TOLERANCE, axis=0)
        settled: NDArray[np.bool_] = contenders == 1
        # Of a class that is impossible at its lowest the order to other such classes is not known.
        return settled if self.relative else settled & (best > self.floor / 2)

    def _possible(self, planes: Array) -> Array:
        """Make what is below half of the floor impossible, -inf."""
        return planes if self.relative else np.where(planes < self.floor / 2, -np.inf, planes)

    def _classes(self, planes: Array) -> Array:
        """Add the plane of the first class where the others are relative to it."""
        return np.concatenate([np.zeros_like(planes[:1]), planes]) if self.relative else planes
