"""The densities of numbers that users choose, and the method of `lp` that estimates them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..base.checks import OneOf
from ..base.messages import listed, shown
from ..base.records import record
from ..frames.number_columns import Numeric, find_numbers
from ..frames.opening import column_names
from ..model.model import Model, renewed
from .densities import Density
from .gaussians import Gaussian
from .kernels import Kernel
from .methods import Plain
from .priors import Prior

Numbers: TypeAlias = str | Mapping[Any, str] | None
"""Densities of numeric columns: one type for all, or one type per column."""

FAMILIES: dict[str, type[Density]] = {"gaussian": Gaussian, "kernel": Kernel}
"""Types of densities by their names in `lp`."""


def columns_of(numbers: Numbers) -> Numeric:
    """Return the columns to keep as numbers, or True for the default columns, or raise."""
    if numbers is None:
        return ()
    if isinstance(numbers, Mapping):
        for name, family in numbers.items():
            OneOf(FAMILIES).check(f"numbers[{shown(name)}]", family)
        return tuple(numbers)
    OneOf(FAMILIES).check("numbers", numbers)
    return True


def as_setting(numbers: Numbers) -> dict[str, Any]:
    """Return the argument as a setting of a step, without it if it is None."""
    if numbers is None:
        return {}
    return {"numbers": dict(numbers) if isinstance(numbers, Mapping) else numbers}


@record
@dataclass(frozen=True)
class Densities(Plain):
    """Estimates tables, and densities of features that are numbers."""

    numbers: str | Mapping[Any, str]

    argument = "numbers"

    def __post_init__(self) -> None:
        columns_of(self.numbers)

    def settings(self) -> Mapping[str, Any]:
        """Return the argument of `lp`."""
        return as_setting(self.numbers)

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the structure is a Bayesian network that does not discretize numbers itself."""
        if x.graph is not x or x.no_joint:
            raise TypeError(f"numbers is defined for a Bayesian network (BNC); got an {type(x).__name__}.")
        if x.preparation is not None and x.preparation.discretizer is not None:
            raise ValueError("numbers must be None for a model that discretizes. Use only one of the two.")

    def prepare(self, x: Any, dataset: Any) -> tuple[Any, Any]:
        """Return the structure with densities to estimate, and the data."""
        found: tuple[Hashable, ...] = x.numeric
        if x.preparation is None:
            present = set(column_names(dataset))
            columns = [name for name in x.features if name in present]
            dataset, found = find_numbers(dataset, columns, x.targets, columns_of(self.numbers))
        chosen = [name for name in x.features if name in found or name in x.numeric]
        families = dict.fromkeys(chosen, self.numbers) if isinstance(self.numbers, str) else self.numbers
        lacking = [name for name in chosen if name not in families]
        if lacking:
            raise ValueError(f"numbers must name every numeric column; got none for {listed(lacking)}.")
        if x.levels is not None:
            named = zip(x.variables, x.levels, strict=True)
            x = renewed(x, levels=tuple([() if name in chosen else labels for name, labels in named]))
        return renewed(x, cpts=None, densities={name: FAMILIES[families[name]] for name in chosen}), dataset
