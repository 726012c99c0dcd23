"""The method of `lp` that estimates densities of features that are numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from ..classifiers import Prior
from ..dataset import OpenedData
from ..elimination import FAMILIES, numeric_columns_of
from ..model import Model, replace_unchecked
from ..parameters import Plain, method_of_lp
from ..tools.immutable import record
from ..tools.messages import listed


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
        if x.discretizer.columns:
            raise ValueError(
                "numbers must be None for a model that discretizes. Use only one of the two."
            )

    def prepare(self, x: Model, dataset: OpenedData) -> tuple[Model, OpenedData]:
        """Return the structure with densities to estimate, and the data."""
        found: tuple[Hashable, ...] = x.numeric_features
        if not x.preparation:
            columns = [name for name in x.features if name in dataset.columns]
            numeric = numeric_columns_of(self.numbers)
            dataset, found = dataset.data_and_numeric_features(numeric, columns, x.targets)
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
