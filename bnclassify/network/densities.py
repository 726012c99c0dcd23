"""The method of `lp` that estimates densities of features that are numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from ..base.checks import OneOf
from ..base.immutable import record
from ..base.messages import listed, shown
from ..frames.dataset import OpenedData
from ..frames.training import Numeric, data_and_numeric_features
from ..model.model import Model, replace_unchecked
from ..scores.densities import FAMILIES
from .methods import Numbers as Numbers
from .methods import Plain, method_of_lp
from .priors import Prior


def numeric_columns_of(numbers: Numbers) -> Numeric:
    """Return the columns to keep as numbers, or True for the default columns, or raise."""
    if numbers is None:
        return ()
    if isinstance(numbers, Mapping):
        for name, family in numbers.items():
            OneOf(FAMILIES).check(f"numbers[{shown(name)}]", family)
        return tuple(numbers)
    OneOf(FAMILIES).check("numbers", numbers)
    return True


def numbers_as_setting(numbers: Numbers) -> dict[str, Any]:
    """Return the argument as a setting of a step, without it if it is None."""
    if numbers is None:
        return {}
    return {"numbers": dict(numbers) if isinstance(numbers, Mapping) else numbers}


@method_of_lp
@record
@dataclass(frozen=True)
class Densities(Plain):
    """Estimates tables, and densities of features that are numbers."""

    numbers: str | Mapping[Any, str]

    argument = "numbers"

    def __post_init__(self) -> None:
        numeric_columns_of(self.numbers)

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the structure is a Bayesian network that does not discretize numbers."""
        if x.graph is not x or x.no_joint:
            raise TypeError(
                f"numbers is defined for a Bayesian network (BNC); got {x.type_in_words}."
            )
        if x.discretizer is not None:
            raise ValueError(
                "numbers must be None for a model that discretizes. Use only one of the two."
            )

    def prepare(self, x: Model, dataset: OpenedData) -> tuple[Model, OpenedData]:
        """Return the structure with densities to estimate, and the data."""
        found: tuple[Hashable, ...] = x.numeric_features
        if x.preparation is None:
            columns = [name for name in x.features if name in dataset.columns]
            dataset, found = data_and_numeric_features(
                dataset, columns, x.targets, numeric_columns_of(self.numbers)
            )
        chosen = [name for name in x.features if name in found or name in x.numeric_features]
        families = (
            dict.fromkeys(chosen, self.numbers) if isinstance(self.numbers, str) else self.numbers
        )
        lacking = [name for name in chosen if name not in families]
        if lacking:
            raise ValueError(
                f"numbers must name every numeric column; got none for {listed(lacking)}."
            )
        if x.levels is not None:
            named = zip(x.variables, x.levels, strict=True)
            x = replace_unchecked(
                x, levels=tuple([() if name in chosen else labels for name, labels in named])
            )
        return replace_unchecked(
            x, cpts=None, densities={name: FAMILIES[families[name]] for name in chosen}
        ), dataset
