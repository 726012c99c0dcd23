"""The argument ``rng`` of functions that draw at random."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from .checks import must_be

Seed = int | np.random.Generator | None


def check_rng(rng: Seed) -> np.random.Generator:
    """Turn a seed, a Generator or None, which draws a fresh seed, into a Generator."""
    if isinstance(rng, bool) or not isinstance(rng, Integral | np.random.Generator | None):
        raise TypeError(must_be("rng", "a seed or a numpy.random.Generator", rng))
    if isinstance(rng, Integral) and int(rng) < 0:
        raise ValueError(must_be("rng", "a seed of at least 0", rng))
    return np.random.default_rng(rng)
