"""Methods of `lp`: what it does to estimate parameters, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..base.immutable import record
from ..base.messages import shown
from ..model.model import Model, renewed
from .priors import Prior

if TYPE_CHECKING:
    from .classifiers import BNC


@record
class Method:
    """Estimates each table from rows with its family; other methods, dataclasses of options, extend this."""

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
        return (renewed(x, densities={}) if x.densities else x), dataset

    def __call__(self, x: Model, data: Any, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the structure with parameters, from data with its variables in its order."""
        return x.estimate(data, prior)


@record
class Plain(Method):
    """The estimates themselves."""

    counts_alone = True
    keeps_counts = True


PLAIN = Plain()


def check_augmented(x: Model, argument: str) -> BNC:
    """Return a network in which the class is a parent of every feature and has no parents, or raise."""
    graph = x.graph
    if graph is not x or x.no_joint:
        kind = "a dependency network" if graph is x else x.called
        raise TypeError(f"{argument} is defined for a single Bayesian network (BNC); got {kind}.")
    if not graph.is_augmented:
        raise ValueError(
            f"{argument} is defined for an augmented naive Bayes, in which the class {shown(x.class_var)} "
            "is a parent of every feature and has no parents. Learn the structure with nb or tan_cl, for "
            "example."
        )
    return cast("BNC", x)
