"""AWNB: features weighted by how deep unpruned trees on bootstrap samples test them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..base.arrays import Array
from ..frames.encoding import Dataset
from ..model.networks import BNC, features
from .trees import Rows, testing_depths
from .weighting import with_weights


def weigh_by_depth(x: BNC, data: Dataset, trees: int, fraction: float, rng: np.random.Generator) -> BNC:
    """Weight the features of a fitted network by trees on bootstrap samples."""
    samples = bootstrap(len(data), trees, fraction, rng)
    return with_weights(x, depth_weights(data, features(x), x.class_var, samples))


def bootstrap(n: int, trees: int, fraction: float, rng: np.random.Generator) -> list[Rows]:
    """Draw a sample of rows with replacement for each tree."""
    size = max(1, int(n * fraction))
    return [rng.integers(n, size=size) for _ in range(trees)]


def depth_weights(
    data: Dataset, features: Sequence[Hashable], class_var: Hashable, samples: Sequence[Rows]
) -> Array:
    """Return the weight of each feature: the mean over trees of 1/√depth, 0 where it is not tested.

    References
    ----------
    .. [1] Hall, M. (2007). A decision tree-based attribute weighting filter for naive Bayes.
       Knowledge-Based Systems 20.
    """
    depths = testing_depths(data, features, class_var, samples)
    if not depths.any():
        raise ValueError(
            "awnb_trees: no tree has a split, so there are no weights to learn; the features tell nothing "
            "about the class, or samples are too small for it: raise awnb_trees or awnb_bootstrap"
        )
    return np.where(depths > 0, 1 / np.sqrt(np.maximum(depths, 1)), 0.0).mean(axis=0)
