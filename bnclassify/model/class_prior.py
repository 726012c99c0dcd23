"""The class proportions of another population, which a model can have in place of learned ones."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..tools.arrays import Array, log
from ..tools.checks import Instance, Real
from ..tools.immutable import PROBABILITY, Immutable, field_bounds, record
from ..tools.messages import listed, shown
from .recipes import Step

PROPORTIONS = "class_proportions"
"""The name of given `ClassProportions` among the results of learning."""

_FEW = 3
"""Number of classes in an example."""

ClassPrior: TypeAlias = "Mapping[Any, float] | pd.Series[Any]"


@record
@dataclass(frozen=True)
class ClassProportions(Immutable):
    """The proportions of the classes that `with_prior` gave to a model, in their order."""

    shares: tuple[float, ...]

    bounds = field_bounds(shares=PROBABILITY)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not abs(sum(self.shares) - 1) <= 1e-6:
            raise ValueError("class proportions must sum to 1")


@record
def with_proportions_again(
    x: Any,
    data: object,
    *,
    parameters: Step,
    proportions: ClassProportions,
    rng: np.random.Generator | None = None,
) -> Any:
    """Estimate the parameters of a structure, and replace the class proportions again."""
    return parameters(x, data, rng=rng).with_class_proportions(proportions)


def check_class_prior(prior: ClassPrior, classes: Sequence[Hashable]) -> Array:
    """Return a probability of each class, in the order of classes, or raise."""
    expected = "a dict or Series with the probability of each class"
    shares_of = ", ".join(f"{shown(name)}: {1 / len(classes):.3g}" for name in classes[:_FEW])
    example = f"An example is {{{shares_of}{', ...' * (len(classes) > _FEW)}}}."
    Instance(Mapping | pd.Series, expected, example).check("prior", prior)
    check_names_of_classes(list(prior.keys()), classes, "prior must have the classes as its names")
    given: dict[Hashable, object] = dict(prior.items())
    shares = np.array(
        [Real(least=0).check(f"prior[{shown(name)}]", given[name]) for name in classes]
    )
    total = float(shares.sum())
    if abs(total - 1) > 1e-6:
        raise ValueError(f"prior must be probabilities that sum to 1; got a sum of {total:g}.")
    return shares / total


def log_prior_ratio(learned: Array, prior: Array, classes: Sequence[Hashable]) -> Array:
    """Return the log of a prior divided by the learned probabilities of the classes, or raise."""
    lacking: list[int] = np.flatnonzero((learned == 0) & (prior > 0)).tolist()
    unknown = [classes[i] for i in lacking]
    if unknown:
        raise ValueError(
            "prior must be 0 for classes that are impossible in the model; got a positive value of "
            f"{listed(unknown, most=8)}. Fit the model with smooth above 0."
        )
    return log(np.where(prior > 0, prior / np.where(learned > 0, learned, 1.0), 0.0))


def check_names_of_classes(
    names: Sequence[Hashable], classes: Sequence[Hashable], requirement: str
) -> None:
    """Raise a ValueError unless names are those of the classes, each once."""
    if set(names) != set(classes) or len(names) > len(classes):
        absent = [name for name in classes if name not in names]
        advice = f" Add {listed(absent)}." if absent else ""
        raise ValueError(f"{requirement}, {listed(classes)}; got {listed(names)}.{advice}")
