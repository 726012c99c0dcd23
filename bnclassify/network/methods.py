"""Methods of `lp`: what it does to estimate parameters, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from ..classifiers import Prior
from ..model import Model, replace_unchecked
from ..tools.immutable import record


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

    holds_out_rows = False
    """Whether rows are held out, so that groups of rows stay together."""

    progress = "lp", " steps"
    """The title and the unit of a progress bar."""

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> Method | None:
        """Return the method if the arguments of `lp` that are given request it, or raise."""
        made: Any = cls
        return made(given[cls.argument]) if cls.argument in given else None

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

AnyMethod = TypeVar("AnyMethod", bound=type[Method])

METHODS: list[type[Method]] = []
"""The methods that `lp` can be asked for."""


def method_of_lp(method: AnyMethod) -> AnyMethod:
    """Register a method, so that `lp` asks it whether it is requested."""
    METHODS.append(method)
    return method


def find_method(given: Mapping[str, Any]) -> Method:
    """Return the method that the given arguments of `lp` request, or none; several raise."""
    found = [method for kind in METHODS if (method := kind.requested(given)) is not None]
    if len(found) > 1:
        names = [name for name in given if name in [method.argument for method in found]]
        raise ValueError(
            f"Only one of {', '.join(names)} must be given, because each defines the tables."
        )
    return found[0] if found else PLAIN
