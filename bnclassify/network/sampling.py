"""Functions in place of the methods of models, until all families have these."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..base.arrays import Codes
from ..model.model import Model


@singledispatch
def draw(x: Model, n: int, rng: np.random.Generator) -> Codes:
    """Call the method."""
    return x._draw(n, rng)
