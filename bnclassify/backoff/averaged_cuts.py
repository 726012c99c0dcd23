"""Models that average over several cuttings of numbers: one structure, tables for each cutting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..base.arrays import Codes
from ..base.records import record
from ..frames.schema import Dataset, Schema
from ..model.model import Model
from ..model.recipes import Recipe
from ..network.bnc import BNC
from ..numbers.coarsening import Coarsening
from ..numbers.discretization import MovedCuts
from .counts import count_nested
from .prior import prefix_tables
from .weighted import LogLinear, Weighted, are_of_class, shortened, with_tables


@record
@dataclass(frozen=True, eq=False, repr=False)
class AveragedCuts(LogLinear):
    """A network whose numbers are cut several times: the log of each table is averaged over the cuttings.

        P(c | x) ∝ P(c)^w₀ Π_i exp(w_i mean_s ln P_s(x_i | parents of i, c))

    Attributes
    ----------
    structure : BNC
        The graph; a level of a number is an interval between neighbouring cuts of all cuttings.
    coarsenings : tuple of Coarsening
        The cuttings.
    networks : tuple of Weighted
        The network in each cutting; empty until `lp`.
    recipe : Recipe or None
        How it was learned; `cv` runs it again.
    learned : mapping
        What a method of `lp` left behind, by name.
    """

    structure: BNC
    coarsenings: tuple[Coarsening, ...]
    networks: tuple[Weighted, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "a model that averages over cuttings knows P(class | features) alone, no joint distribution; cloglik "
        "and cv judge that"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.features)
        sizes = {len(coarsen.maps) for coarsen in self.coarsenings}
        if sizes != {n} or (self.networks and len(self.networks) != len(self.coarsenings)):
            raise ValueError("coarsenings: expected one a network, each with a map a feature")

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return bool(self.networks)

    @cached_property
    def members(self) -> tuple[Model, ...]:
        """The network in each cutting."""
        return self.networks or tuple([self.in_cutting(i) for i in range(len(self.coarsenings))])

    def in_cutting(self, i: int) -> BNC:
        """Return the structure with the levels of a cutting, and what cuts raw data so."""
        *_, classes = self.levels or ((),)
        recipe, preparation = self.recipe, self.preparation
        if recipe is not None and preparation is not None and isinstance(preparation.discretizer, MovedCuts):
            coarse = replace(preparation, discretizer=preparation.discretizer.at_times[i])
            recipe = replace(recipe, preparation=coarse)
        return replace(self.structure, levels=(*self.coarsenings[i].levels, classes), recipe=recipe)

    @property
    def powers(self) -> tuple[float, ...]:
        """The powers of the terms, in the order of the families: of each feature, then of the class."""
        return self.networks[0].powers if self.networks else ()

    def in_codes(self, codes: Codes) -> list[tuple[Weighted, Codes]]:
        """Return the networks whose terms are averaged, each with rows in its own codes."""
        return [(x, coarsen(codes)) for x, coarsen in zip(self.networks, self.coarsenings, strict=True)]

    def with_powers(self, powers: Sequence[float], parents: int) -> AveragedCuts:
        """Return the model with other powers and at most so many feature parents."""
        networks = tuple([x.with_powers(powers, parents) for x in self.networks])
        return replace(self, structure=shortened(self.structure, parents), networks=networks)

    def unweighted(self) -> AveragedCuts:
        """Return the model without powers other than 1, which this is if it has none."""
        return self

    def facts(self) -> dict[str, object]:
        """Return the size of the network and the number of cuttings, and what leave-one-out found."""
        return self.structure.facts() | {
            "num. cuttings": len(self.coarsenings),
            "leave-one-out": self.learned.get("leave_one_out"),
        }

    def _estimate(self, data: Any, prior: Any) -> AveragedCuts:
        """Return the structure with the tables of each cutting, all powers 1."""
        result = self._with_prefixes(data, prior)
        _ = result.terms  # which predictions need
        return result

    def _with_prefixes(self, data: Dataset, prior: Any) -> AveragedCuts:
        """Return the structure with the tables of each cutting, all powers 1; those not cut are shared."""
        structures = [self.in_cutting(i) for i in range(len(self.coarsenings))]
        coarse = []
        for structure, coarsen in zip(structures, self.coarsenings, strict=True):
            codes = np.concatenate([coarsen(data.codes[:-1]), data.codes[-1:]])
            coarse.append(replace(data, schema=Schema(data.columns, structure.levels or ()), codes=codes))
        scopes, of_class = self.structure.scopes, are_of_class(self.structure)
        places, counts = [], []
        for i, coarsen in enumerate(self.coarsenings):
            for family, scope in enumerate(scopes):
                if i == 0 or coarsen.changes(scope):
                    places.append((i, family))
                    counts.append(count_nested(coarse[i], scope))
        made = prefix_tables(counts, [of_class[family] for _, family in places], prior)
        tables = dict(zip(places, made, strict=True))
        networks = [
            with_tables(x, rows, [tables.get((i, f)) or tables[0, f] for f in range(len(scopes))])
            for i, (x, rows) in enumerate(zip(structures, coarse, strict=True))
        ]
        return replace(self, networks=tuple(networks), learned={})
