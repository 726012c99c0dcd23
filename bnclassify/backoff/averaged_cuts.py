"""Models that average over several cuttings of numbers: one structure, tables for each cutting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes
from ..base.records import record
from ..frames.schema import Dataset
from ..model.model import Model
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..network.log_joints import BLOCK_ROWS
from ..numbers.coarsening import Coarsening
from ..numbers.discretization import MovedCuts
from .weighted import LogLinear, Stacks, Term, Weighted, stack_families

_MOST_CELLS = 2**12
"""Largest number of combinations of values of a family, with missing ones, for one table of all cuttings."""


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
        "a model that averages over discretizations provides P(class | features), but does not "
        "define a joint distribution. Use cloglik or cv, or another discretization."
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

    def _log_joint(self, codes: Codes) -> Array:
        """Return Σ w ln P, (rows, classes), by one look-up per family unless its table would be large."""
        tables, others = self.derived("fine_terms", _make_fine_terms)
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for features, cards, logs in tables:
            cells = np.zeros(codes.shape[1], dtype=np.intp)
            for i, card in zip(features, cards, strict=True):
                cells *= card
                cells += codes[i]
                cells += 1
            total += logs.take(cells, axis=0)
        for start in range(0, codes.shape[1] if others else 0, BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            views = [view_codes for _, view_codes in self.in_codes(codes[:, block])]
            for view, term in others:
                term.add_to(total[block], views[view])
        return total

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
        result: AveragedCuts = self._stacks(data, prior).model([1.0] * len(data.columns), self.depth)
        return result

    def _stacks(self, data: Dataset, prior: Any) -> Stacks:
        """Return the tables of all prefixes of the families in each cutting."""
        structures = [replace(self.in_cutting(i), cpts=None) for i in range(len(self.coarsenings))]
        codes = [np.concatenate([coarsen(data.codes[:-1]), data.codes[-1:]]) for coarsen in self.coarsenings]
        return stack_families(
            structures, codes, data, prior, self._with_networks, self.coarsenings[0].changes
        )

    def _with_networks(self, networks: tuple[Weighted, ...]) -> AveragedCuts:
        structure = replace(self.structure, families=networks[0].structure.families, cpts=None)
        return replace(self, structure=structure, networks=networks, learned={})


def _make_fine_terms(x: AveragedCuts) -> tuple[list[tuple[Any, ...]], list[tuple[int, Term]]]:
    """Return tables of the sums of the terms of families, and the terms of families with too many values.

    A table comes with the numbers of its features, and their numbers of values. It has one row for each
    combination of their fine codes, with missing values first, and one column per class.
    """
    families: dict[tuple[int, ...], list[tuple[int, Term]]] = {}
    for view, term in x.terms:
        families.setdefault(term.features, []).append((view, term))
    tables: list[tuple[Any, ...]] = []
    others: list[tuple[int, Term]] = []
    for features, terms in families.items():
        cards = tuple([len(x.known_levels[i]) + 1 for i in features])
        if prod(cards) > _MOST_CELLS:
            others += terms
            continue
        grid = np.indices(cards).reshape(len(cards), prod(cards)) - 1
        logs = np.zeros((prod(cards), len(x.known_levels[-1])))
        for view, term in terms:
            maps = [x.coarsenings[view].maps[i] for i in features]
            coarse = [row if places is None else places[row] for row, places in zip(grid, maps, strict=True)]
            term.add_to(logs, dict(zip(features, coarse, strict=True)))
        tables.append((features, cards, logs))
    return tables, others
