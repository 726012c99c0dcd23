"""Tables raised to the power of a feature's weight, and normalised again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.arrays import Array, log, log_normalize
from ..network.bnc import BNC


def with_weights(x: BNC, weights: Array) -> BNC:
    """Return a fitted network with the table of each feature raised to its weight."""
    *tables, prior = x.cpts or ()
    changed = tuple(powered(table, float(w)) for table, w in zip(tables, weights, strict=True))
    return replace(x, cpts=(*changed, prior), learned={**x.learned, "weights": tuple(map(float, weights))})


def powered(cpt: Array, weight: float) -> Array:
    """Return θ^weight, renormalised over the values of the variable; 0⁰ is 1.

    >>> import numpy as np
    >>> powered(np.array([[0.8], [0.2]]), 0.5).round(3).tolist()
    [[0.667], [0.333]]
    >>> powered(np.array([[1.0], [0.0]]), 0).tolist()
    [[0.5], [0.5]]
    """
    if weight == 1:
        return cpt
    logs = log(cpt) * weight if weight else np.zeros_like(cpt)
    return np.exp(np.moveaxis(log_normalize(np.moveaxis(logs, 0, -1)), -1, 0))
