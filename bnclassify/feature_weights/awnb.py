"""AWNB: features weighted by the depth at which unpruned trees on bootstrap samples test them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.arrays import Array
from ..base.checks import Real, Whole
from ..base.records import record
from ..frames.schema import Dataset
from ..model.model import Model
from ..network.classifiers import BNC
from ..network.methods import Method, check_augmented
from ..network.priors import Prior
from .trees import Rows, testing_depths
from .wanbia import with_weights

_MOST_TREES = 100_000


@record
@dataclass(frozen=True)
class AWNB(Method):
    """Weight the features of a network by the depth at which trees on bootstrap samples test them.

    ``share`` is the size of a sample, as a proportion of the rows.
    """

    trees: int = 10
    share: float = 0.5

    argument = "awnb_trees"
    draws = True

    def __post_init__(self) -> None:
        Whole(least=1, most=_MOST_TREES).check("awnb_trees", self.trees)
        Real(above=0, most=1).check("awnb_bootstrap", self.share)

    def settings(self) -> Mapping[str, Any]:
        """Return the arguments of `lp` that request this."""
        return {"awnb_trees": self.trees} | ({} if self.share == 0.5 else {"awnb_bootstrap": self.share})

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the class is a parent of every feature."""
        check_augmented(x, self.argument)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> BNC:
        """Return the network with its tables weighted."""
        fitted = check_augmented(x, self.argument)._estimate(data, prior)
        samples = bootstrap(data, int(self.trees), float(self.share), rng)
        unweighted = replace(data, weights=None)  # rows with larger weights are drawn more often instead
        return with_weights(fitted, depth_weights(unweighted, x.features, x.class_var, samples))


def bootstrap(data: Dataset, trees: int, fraction: float, rng: np.random.Generator) -> Iterator[Rows]:
    """Draw a sample of rows with replacement for each tree, one at a time."""
    n_rows = max(1, int(data.size * fraction))
    if data.weights is None:
        return (rng.integers(len(data), size=n_rows) for _ in range(trees))
    shares = data.weights / data.size
    return (rng.choice(len(data), size=n_rows, p=shares) for _ in range(trees))


def depth_weights(
    data: Dataset, features: Sequence[Hashable], class_var: Hashable, samples: Iterable[Rows]
) -> Array:
    """Return the weight of each feature: the mean over trees of 1/√depth, or 0 if it is not tested.

    References
    ----------
    .. [1] Hall, M. (2007). A decision tree-based attribute weighting filter for naive Bayes.
       Knowledge-Based Systems 20.
    """
    depths = testing_depths(data, features, class_var, samples)
    if not depths.any():
        raise ValueError(
            "awnb_trees: no tree has a split, so that no weights can be learned. Increase awnb_trees or "
            "awnb_bootstrap, unless no feature depends on the class"
        )
    return np.where(depths > 0, 1 / np.sqrt(np.maximum(depths, 1)), 0.0).mean(axis=0)
