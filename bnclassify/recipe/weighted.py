"""Networks whose log tables are multiplied by powers, and averaged over their discretizations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes
from ..base.immutable import POWER, bounded, cached_property, record
from ..frames.schema import Dataset
from ..model.model import Model, renewed
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..numbers.discretization import MovedCuts
from .codings import Coarsening, recode
from .incomplete import Fading
from .log_linear import LogLinear, shortened
from .prior import concentrations_of
from .stacked import Stacked
from .tables import PrefixTable
from .terms import Power, by_depth, make_fine_terms, make_terms


@record
@dataclass(frozen=True, eq=False, repr=False)
class Weighted(LogLinear):
    """A network whose log tables are multiplied by powers, and averaged over its discretizations.

    Without ``coarsenings``, there is one table per family: P(c | x) ∝ P(c)^w₀ Π_i P(x_i | parents, c)^w_i. If
    not, the levels of ``structure`` are the intervals between the cut points of all discretizations.
    ``tables`` are empty until `lp` estimates them. A missing feature is ignored, and a family with a missing
    parent backs off to the previous parents, unless ``fading`` is given. The last discretizations, ``apart``
    in number, do not belong to the average, but may have powers of their own, ``further``.
    """

    bounds = bounded(powers=POWER, further=POWER)

    structure: BNC
    coarsenings: tuple[Coarsening, ...] = ()
    tables: tuple[tuple[PrefixTable, ...], ...] = ()
    powers: tuple[Power, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None
    apart: int = 0
    further: tuple[tuple[Power, ...], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        codings = len(self.coarsenings) or 1
        fits = all(len(coarsen.maps) == len(self.features) for coarsen in self.coarsenings)
        fits &= len(self.tables) in (0, codings) and len(self.further) in (0, self.apart)
        fits &= 0 <= self.apart < codings
        for i, tables in enumerate(self.tables if fits else ()):
            cards, scopes = self._in_coding(i).cards, self.structure.scopes
            expected = [tuple([cards[v] for v in scope]) for scope in scopes]
            fits &= expected == [(*t.cards, cards[-1]) if t.root else t.cards for t in tables]
            lengths = [len(by_depth(p, len(t.cards))) for p, t in zip(self.powers, tables, strict=False)]
            fits &= lengths == [len(table.cards) for table in tables]
        if not fits:
            raise ValueError(
                "tables must have one table, and one power, per family, of the size of its levels in each of "
                "the coarsenings, which must have one map per feature."
            )

    @property
    def called(self) -> str:  # type: ignore[override]
        """What messages call the model."""
        return "a model that averages over discretizations" if self.coarsenings else LogLinear.called

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return bool(self.tables)

    @cached_property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization, which its recipe applies to raw data."""
        return tuple(map(self._member, range(len(self.coarsenings)))) or (self,)

    def _member(self, number: int) -> Model:
        recipe, preparation = self.recipe, self.preparation
        if recipe is not None and preparation is not None and isinstance(preparation.discretizer, MovedCuts):
            coarse = replace(preparation, discretizer=preparation.discretizer.at_times[number])
            recipe = replace(recipe, preparation=coarse)
        structure = replace(self._in_coding(number), recipe=recipe)
        if not self.tables:
            return structure
        tables = self.tables[number]
        return Weighted(structure, (), (tables,), self.powers, recipe, concentrations_of(tables))

    @cached_property
    def network(self) -> BNC | None:
        """The network with its tables, without the powers, if there is a single one."""
        if self.coarsenings:
            return None
        families = zip(self.tables[0], self.structure.families, strict=True)
        return replace(self.structure, cpts=tuple([table.conditional(family) for table, family in families]))

    @cached_property
    def _terms(self) -> Any:
        """The tables of sums over discretizations, and the terms for which they would be large."""
        return make_fine_terms(self) if self.coarsenings else ([], make_terms(self))

    def _logs(self, codes: Codes) -> Iterator[tuple[int, Array]]:
        tables, others = self._terms
        for family, features, cards, logs in tables:
            cells = np.zeros(codes.shape[1], dtype=np.intp)
            for i, card in zip(features, cards, strict=True):
                cells *= card
                cells += codes[i]
                cells += 1
            yield family, logs.take(cells, axis=0)
        views = recode(codes[: len(self.features)], self.coarsenings) if others else codes[None]
        for family, view, term in others:
            yield family, term.logs(views[view])

    def unweighted(self) -> Model:
        """Return the network without powers; with several discretizations, whose powers are 1, the model."""
        if self.network is None:
            return self
        return replace(self.network, recipe=self.recipe, learned=self.learned)

    def _estimate(self, data: Any, prior: Any) -> Any:
        """Return the structure with tables, without powers."""
        if not self.coarsenings:
            return replace(self.structure, recipe=self.recipe)._estimate(data, prior)
        return self._stacked(data, prior).split()

    def _stacked(self, data: Dataset, prior: Any) -> Stacked:
        """Return the structure with the tables of all prefixes of the families in each discretization."""
        return Stacked.learn(self, data, prior)


def with_at_most(x: Model, parents: int) -> Any:
    """Return a structure without tables, with at most this number of feature parents per family."""
    network: Any = x.graph
    short = shortened(network, parents)
    averages = isinstance(x, Weighted) and x.coarsenings
    return renewed(x, structure=short) if averages else renewed(short, recipe=x.recipe)
