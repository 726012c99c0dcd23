"""Networks whose log tables are multiplied by powers, and averaged over their discretizations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from ..base.arrays import BLOCK_ROWS, Array, Codes, Positions, slices
from ..base.immutable import POWER, cached_property, field_bounds, record
from ..frames.dataset import Dataset
from ..model.model import Model, replace_unchecked
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..numbers.discretizer import MovedCuts
from ..scores.fading import Fading
from ..scores.rows import Rows
from .backoff_prior import concentrations_of
from .codings import Coarsening, codes_in_codings
from .log_linear import LogLinear, limit_parents
from .prefix_tables import LeftOutRows, PrefixTable, class_shares
from .stacked_families import StackedFamilies, learn_tables_in_stacks


@record
@dataclass(frozen=True, eq=False, repr=False)
class Weighted(LogLinear):
    """A network whose log tables are multiplied by powers, and averaged over its discretizations.

    Without ``coarsenings``, there is one table per family: P(c | x) ∝ P(c)^w₀
    Π_i P(x_i | parents, c)^w_i. If not, the levels of ``structure`` are the
    intervals between the cut points of all discretizations. ``tables`` are
    empty until `lp` estimates them. A missing feature is ignored, and a family
    with a missing parent backs off to the previous parents, unless ``fading``
    is given.
    """

    bounds = field_bounds(powers=POWER)

    structure: BNC
    coarsenings: tuple[Coarsening, ...] = ()
    tables: tuple[tuple[PrefixTable, ...], ...] = ()
    powers: tuple[float, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._fits_structure():
            raise ValueError(
                "tables must have one table, and one power, per family, of the size of its levels "
                "in each of the coarsenings, which must have one map per feature."
            )

    def _fits_structure(self) -> bool:
        """Whether there is one map per feature, and one table and one power per family."""
        codings = len(self.coarsenings) or 1
        if any(len(coarsen.maps) != len(self.features) for coarsen in self.coarsenings):
            return False
        if len(self.tables) not in (0, codings):
            return False
        return all(self._fits_coding(i, tables) for i, tables in enumerate(self.tables))

    def _fits_coding(self, coding: int, tables: Sequence[PrefixTable]) -> bool:
        """Whether tables have the levels of a discretization, and one power each."""
        scopes, cards = self.structure.scopes, self.structure_in_coding(coding).cards
        if not len(tables) == len(self.powers) == len(scopes):
            return False
        for scope, table in zip(scopes, tables, strict=True):
            of_table = (*table.cards, cards[-1]) if table.prefix_without_parents else table.cards
            if of_table != tuple([cards[v] for v in scope]):
                return False
        return True

    @property
    def type_in_words(self) -> str:
        averages = "a model that averages over discretizations"
        return averages if self.coarsenings else super().type_in_words

    @property
    def fitted(self) -> bool:
        return bool(self.tables)

    @cached_property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization, which its recipe applies to raw data."""
        if not self.coarsenings:
            return (self,)
        return tuple(map(self._network_of_coding, range(len(self.coarsenings))))

    def _network_of_coding(self, number: int) -> Model:
        """Return the network in a discretization, with the recipe that discretizes raw data."""
        recipe, preparation = self.recipe, self.preparation
        moved = None if preparation is None else preparation.discretizer
        if recipe is not None and preparation is not None and isinstance(moved, MovedCuts):
            coarse = replace(preparation, discretizer=moved.discretizers_by_time[number])
            recipe = replace(recipe, preparation=coarse)
        structure = replace(self.structure_in_coding(number), recipe=recipe)
        if not self.tables:
            return structure
        tables = self.tables[number]
        return Weighted(structure, (), (tables,), self.powers, recipe, concentrations_of(tables))

    @cached_property
    def network(self) -> BNC | None:
        """The network with its tables, without the powers, if there is a single one."""
        if self.coarsenings:
            return None
        cpts = []
        for table, family in zip(self.tables[0], self.structure.families, strict=True):
            cpts.append(table.cpt_of_family(family))
        return replace(self.structure, cpts=tuple(cpts))

    @cached_property
    def model_without_parents(self) -> LogLinear:
        short = [tuple([table.without_parents for table in tables]) for tables in self.tables]
        powers = (1.0,) * len(self.features) + (0.0,)
        structure = limit_parents(self.structure, 0)
        return replace_unchecked(
            self, structure=structure, tables=tuple(short), powers=powers, fading=None
        )

    def estimate(self, data: Any, prior: Any) -> Any:
        if not self.coarsenings:
            return replace(self.structure, recipe=self.recipe).estimate(data, prior)
        return self.learn_tables(data, prior).unstacked()

    def learn_tables(self, data: Dataset, prior: Any) -> StackedModel:
        return StackedModel.learn(self, data, prior)


@dataclass(frozen=True, eq=False, repr=False)
class StackedModel(LogLinear):
    """A network whose tables, in all codings of the rows, are together, as they were learned.

    ``origin`` is the model that `unstacked` gives the tables. ``codes`` are
    those of the training rows, (codings, variables, rows). The tables have at
    most ``most_parents`` feature parents.
    """

    origin: Weighted
    codes: Codes
    groups: Sequence[StackedFamilies]
    powers: tuple[float, ...]
    most_parents: int
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    @classmethod
    def learn(cls, x: Weighted, data: Dataset, prior: Any) -> StackedModel:
        """Count families in codings of the same rows, and learn tables; all powers are 1."""
        structure = replace(x.structure, levels=data.levels, cpts=None, learned={})
        origin = replace_unchecked(
            x, structure=structure, tables=(), powers=(), learned={}, fading=None
        )
        coded = codes_in_codings(data.codes[:-1], x.coarsenings)  # (codings, features, rows)
        classes = np.broadcast_to(data.codes[-1], (len(coded), 1, len(data)))
        codes = np.concatenate([coded, classes], axis=1)
        cards = np.array([origin.structure_in_coding(i).cards for i in range(len(codes))])
        varies = x.coarsenings[0].discretizes_any if x.coarsenings else lambda scope: False
        groups = learn_tables_in_stacks(structure.scopes, cards, codes, data, prior, varies)
        return cls(origin, codes, groups, (1.0,) * len(structure.scopes), structure.depth, x.recipe)

    @cached_property
    def structure(self) -> BNC:
        return limit_parents(self.origin.structure, self.most_parents)

    @property
    def coarsenings(self) -> tuple[Coarsening, ...]:
        return self.origin.coarsenings

    @cached_property
    def tables(self) -> tuple[tuple[PrefixTable, ...], ...]:
        """The table of each family in each coding; some families have one table for all codings.

        Example: in two codings, [[a], [b, c]], the tables of two families, are
        ((a, b), (a, c)).
        """
        found: dict[int, list[PrefixTable]] = {}
        for group in self.groups:
            found.update(group.families_with_tables(self.most_parents))
        in_codings = []
        for coding in range(len(self.codes)):
            of_families = [found[family] for family in range(len(found))]
            in_codings.append(tuple([tables[coding % len(tables)] for tables in of_families]))
        return tuple(in_codings)

    @property
    def model_without_parents(self) -> LogLinear:
        powers = (1.0,) * len(self.features) + (0.0,)
        return replace_unchecked(self, powers=powers, most_parents=0, fading=None)

    def learned_class_prior(self) -> Array:
        class_number = len(self.features)
        stacks = [group.stack for group in self.groups if group.families[0] == class_number]
        return class_shares(stacks[-1])

    def unstacked(self) -> Weighted:
        """Return the same model for long use, with the tables of each coding apart."""
        learned = {} if self.coarsenings else concentrations_of(self.tables[0])
        return replace(
            self.origin,
            structure=self.structure,
            tables=self.tables,
            powers=self.powers,
            learned=learned,
            fading=self.fading,
        )

    def values_at(
        self, rows: Rows, left_out: LeftOutRows | None = None
    ) -> Iterator[tuple[int, Array]]:
        # power · mean over discretizations of ln P(feature | class, parents)
        coded = codes_in_codings(rows.codes, self.coarsenings)
        for group in self.groups:
            powers = np.array([self.powers[family] for family in group.families])
            if powers.any():
                depth = min(self.most_parents, group.stack.cards.shape[1] - 1)
                logs = next(islice(group.logs_of_families(coded, left_out), depth, None))
                yield from zip(group.families, powers[:, None, None] * logs, strict=True)

    def scores_left_out(self, codes: Codes, left_out: LeftOutRows) -> Array:
        """Return the sums of terms at training rows, (rows, classes), each without the row."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for block in slices(codes.shape[1], most=BLOCK_ROWS):
            for _, logs in self.values_at(Rows(codes[:, block]), left_out.take(block)):
                total[block] += logs
        return total

    def left_out_log_odds(
        self, rows: Positions, left_out: LeftOutRows, depths: Sequence[int]
    ) -> Array:
        """Return odds by each family, each row held out: (depths, families, classes − 1, rows)."""
        n_classes = self.structure.cards[-1]
        found = np.zeros((len(depths), len(self.powers), n_classes - 1, len(rows)))
        for group in self.groups:
            tables = group.left_out_tables(left_out)
            columns = 1 if group.is_class_family else n_classes  # which are worked out at once
            for block in slices(len(rows), columns * len(group.stack.cards)):
                at, counted = rows[block], left_out.take(block)
                logs = list(group.logs_of_families(self.codes, counted, at, tables))
                for odds, depth in zip(found, depths, strict=True):
                    # a family with fewer parents has fewer depths
                    of_depth = logs[min(depth, len(logs) - 1)]
                    for family, of_family in zip(group.families, of_depth, strict=True):
                        if of_family.shape[1] > 1:
                            by_class = of_family.T
                            np.subtract(by_class[1:], by_class[:1], out=odds[family, :, block])
        return found
