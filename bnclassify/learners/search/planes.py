"""Log joints of the classes in few arrays, for fast sums over many rows and structures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import TOLERANCE, Array


class LogOddsPlanes:
    """Log joints as planes, one array per class: log odds against the first class, which has no plane.

    If probabilities may be 0, there are no finite log odds. Then every class has a plane of log
    probabilities, with log 0 replaced by a floor. The floor is so low that a sum of logs contains it
    if and only if it is below half of the floor; `lowest` is a bound of the logs of positive probabilities.
    """

    def __init__(self, n_classes: int, n_variables: int, lowest: float, *, positive: bool) -> None:
        self.n_classes = n_classes
        self.relative = positive and n_classes > 1
        self.floor = 8 * n_variables * lowest
        self.n_planes = n_classes - self.relative

    def planes(self, logs: Array, axis: int) -> Array:
        """Convert log probabilities with an axis of classes to planes, the first axis."""
        by_class = np.moveaxis(logs, axis, 0)
        planes = by_class[1:] - by_class[:1] if self.relative else np.maximum(by_class, self.floor)
        return np.ascontiguousarray(planes)

    def joint(self, planes: Array) -> Array:
        """Convert the planes of rows to log joints, (rows, classes), up to a constant per row."""
        possible = self._possible(planes)
        if self.relative:
            possible = np.concatenate([np.zeros_like(planes[:1]), possible])
        return np.ascontiguousarray(possible.T)

    def best(self, planes: Array) -> NDArray[Any]:
        """Return the first class of each row that ties with the best."""
        if self.relative and self.n_classes == 2:
            return planes[0] > TOLERANCE
        by_class = self._possible(planes)
        threshold = by_class.max(axis=0, initial=0.0 if self.relative else -np.inf)
        threshold -= TOLERANCE
        # The number of classes before the first one that reaches the threshold
        below = threshold > (0.0 if self.relative else by_class[0])
        best = below.astype(np.min_scalar_type(-self.n_classes))
        for plane in by_class[not self.relative : -1]:
            below &= threshold > plane
            best += below
        return best

    def are_settled(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Whether each row has the same best class for all planes between two bounds."""
        threshold = low.max(axis=0, initial=0.0 if self.relative else -np.inf) - TOLERANCE
        contenders = (threshold <= 0).astype(np.int8) if self.relative else np.zeros(len(threshold), np.int8)
        for plane in high:
            contenders += plane >= threshold
        return (contenders == 1) & (threshold > self.floor / 2)

    def _possible(self, planes: Array) -> Array:
        """Replace sums that contain the floor by -inf."""
        return planes if self.relative else np.where(planes < self.floor / 2, -np.inf, planes)
