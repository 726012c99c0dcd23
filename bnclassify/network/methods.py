"""Methods of `lp`: what it does to estimate parameters, as values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.immutable import record
from ..model.model import Model, replace_unchecked
from .priors import Prior


@record
class Method:
    """Estimates each table from rows with its family; other methods are dataclasses of options."""

    argument = ""
    """The argument of `lp` that requests the method."""

    takes_rows_without_class = False
    counts_alone = False
    """Whether it needs only counts, and no rows in memory."""

    keeps_counts = False
    """Whether parameters follow from the counts of the model, so that rows can be added."""

    draws = False
    """Whether it draws at random."""

    def check(self, x: Model, prior: Prior) -> None:
        """Raise if the method is not defined for a structure or a prior."""

    def prepare(self, x: Model, dataset: Any) -> tuple[Model, Any]:
        """Return the structure and the data; only `Densities` accepts numbers."""
        return (replace_unchecked(x, densities={}) if x.densities else x), dataset

    def __call__(self, x: Model, data: Any, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the structure with parameters, from data with its variables in its order."""
        return x.estimate(data, prior)


@record
class Plain(Method):
    """The estimates themselves."""

    counts_alone = True
    keeps_counts = True


PLAIN = Plain()
