"""The argument ``rng`` of what draws at random."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from .messages import shown

Seed = int | np.random.Generator | None


def check_rng(rng: Seed) -> np.random.Generator:
    """Turn a seed, a Generator or None, which draws a fresh seed, into a Generator."""
    if isinstance(rng, bool) or not isinstance(rng, Integral | np.random.Generator | None):
        raise TypeError(f"rng: expected a seed or a numpy.random.Generator, got {shown(rng)}")
    if isinstance(rng, Integral) and int(rng) < 0:
        raise ValueError(f"rng: expected a seed of 0 or more, got {shown(rng)}")
    return np.random.default_rng(rng)
