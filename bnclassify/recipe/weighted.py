"""Networks whose log tables are multiplied by powers, and averaged over their discretizations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
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
from .family_terms import Power, powers_by_depth
from .log_linear import LogLinear, limit_parents
from .prefix_counts import scope_without_class
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
    is given. The last discretizations, ``apart`` in number, do not belong to
    the average, but may have powers of their own, ``further``.
    """

    bounds = field_bounds(powers=POWER, further=POWER)

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
        if not 0 <= self.apart < codings or len(self.further) not in (0, self.apart):
            return False
        if len(self.tables) not in (0, codings):
            return False
        return all(self._fits_coding(i, tables) for i, tables in enumerate(self.tables))

    def _fits_coding(self, coding: int, tables: Sequence[PrefixTable]) -> bool:
        """Whether tables have the levels of a discretization, and powers the depths of tables."""
        scopes, cards = self.structure.scopes, self.structure_in_coding(coding).cards
        if not len(tables) == len(self.powers) == len(scopes):
            return False
        for scope, power, table in zip(scopes, self.powers, tables, strict=True):
            of_table = (*table.cards, cards[-1]) if table.prefix_without_parents else table.cards
            if of_table != tuple([cards[v] for v in scope]):
                return False
            if len(powers_by_depth(power, len(table.cards))) != len(table.cards):
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
    powers: tuple[Power, ...]
    most_parents: int
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None
    further: tuple[tuple[Power, ...], ...] = ()

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
    def apart(self) -> int:
        return self.origin.apart

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
            further=self.further,
        )

    def values_at(
        self, rows: Rows, left_out: LeftOutRows | None = None
    ) -> Iterator[tuple[int, Array]]:
        # Σ over the average and the other discretizations, and over the numbers of parents, of
        # power · ln P(feature | class, first parents); each family is (rows, classes)
        coded = codes_in_codings(rows.codes, self.coarsenings)
        for group in self.groups:
            powers = self._powers_of_group(group)
            if not powers.any():
                continue
            logs = group.logs_of_families(coded, left_out, apart=self.apart)
            total = np.zeros(())
            power: Array
            for power, of_depth in zip(powers, logs, strict=False):  # only as deep as the powers
                if power.any():
                    # (1 + apart, families, 1, 1) times (1 + apart, families, rows, classes)
                    terms = power[:, :, None, None] * of_depth[: len(power)]
                    total = total + terms.sum(axis=0)
            yield from zip(group.families, total, strict=True)

    def _powers_of_group(self, group: StackedFamilies) -> Array:
        """Return powers by number of parents, (depths, 1 + apart, families).

        Example: two features with one parent each, averaged over five
        discretizations, and one more that is apart, have (2, 2, 2) powers.
        """
        depths = min(1 + self.most_parents, group.stack.cards.shape[1])
        of_codings = [self.powers]
        if group.n_codings > 1:
            of_codings.extend(self.further)
        powers = []
        for each in of_codings:
            powers.append([powers_by_depth(each[family], depths) for family in group.families])
        return np.moveaxis(np.array(powers), 2, 0)

    def sum_with(self, other: StackedModel) -> StackedModel:
        """Return the sum of this model and one with the same tables and at least its parents."""
        powers = sums_of_powers(
            self._one_power_per_depth(self.powers), other._one_power_per_depth(other.powers)
        )
        own = [self._one_power_per_depth(each) for each in self.further]
        others = [other._one_power_per_depth(each) for each in other.further]
        further = own or others
        if own and others:
            further = [sums_of_powers(a, b) for a, b in zip(own, others, strict=True)]
        return replace_unchecked(other, powers=powers, further=tuple(further))

    def _one_power_per_depth(self, powers: Sequence[Power]) -> tuple[Power, ...]:
        """Return powers with one number for each number of feature parents.

        Example: the power 0.5 of a feature with two parents is (0, 0, 0.5).
        """
        result = []
        for power, scope in zip(powers, self.structure.scopes, strict=True):
            n = len(scope_without_class(scope, len(self.features)))
            result.append(tuple(powers_by_depth(power, n).tolist()))
        return tuple(result)

    def scores_left_out(self, codes: Codes, left_out: LeftOutRows) -> Array:
        """Return the sums of terms at training rows, (rows, classes), each without the row."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for block in slices(codes.shape[1], most=BLOCK_ROWS):
            for _, logs in self.values_at(Rows(codes[:, block]), left_out.take(block)):
                total[block] += logs
        return total

    @cached_property
    def families_in_separate_codings(self) -> list[Positions]:
        """The families that have levels in each discretization that is apart."""
        varying = [f for group in self.groups if group.n_codings > 1 for f in group.families]
        codings, found = len(self.codes), []
        for i in range(codings - self.apart, codings):
            cards = self.origin.structure_in_coding(i).cards
            found.append(np.array([f for f in varying if cards[f] > 1], dtype=np.intp))
        return found

    def left_out_log_odds(
        self, rows: Positions, left_out: LeftOutRows, depths: Sequence[int]
    ) -> tuple[Array, list[Array]]:
        """Return odds by each family, each row held out: (depths, families, classes − 1, rows).

        In each discretization that is apart, they are those of
        `families_in_separate_codings`.
        """
        n_classes = self.structure.cards[-1]
        families = [np.arange(len(self.powers)), *self.families_in_separate_codings]
        found: list[Array] = [
            np.zeros((len(depths), len(own), n_classes - 1, len(rows))) for own in families
        ]
        for group in self.groups:
            # Example: if a discretization has the families 1 and 3, these have the places 0 and 1.
            places = [
                {family: i for i, family in enumerate(own.tolist()) if family in group.families}
                for own in families
            ]
            tables = group.left_out_tables(left_out)
            columns = 1 if group.is_class_family else n_classes  # which are worked out at once
            for block in slices(len(rows), columns * len(group.stack.cards)):
                at, counted = rows[block], left_out.take(block)
                logs = list(group.logs_of_families(self.codes, counted, at, self.apart, tables))
                for i, depth in enumerate(depths):
                    # a family with fewer parents has fewer depths
                    of_depth = logs[min(depth, len(logs) - 1)]
                    for odds, each, place in zip(found, of_depth, places, strict=False):
                        _write_log_odds_of_families(
                            each, group.families, place, odds[i, ..., block]
                        )
        return found[0], found[1:]


def _write_log_odds_of_families(
    logs: Iterable[Array], families: Sequence[int], place: Mapping[int, int], odds: Array
) -> None:
    """Write the odds of the families that have a place, by their logs, (families, rows, classes).

    ``odds`` are (places, classes − 1, rows).
    """
    for family, of_family in zip(families, logs, strict=True):
        if family in place and of_family.shape[1] > 1:
            by_class = of_family.T
            np.subtract(by_class[1:], by_class[:1], out=odds[place[family]])


def sums_of_powers(first: Sequence[Any], second: Sequence[Any]) -> tuple[Power, ...]:
    """Return the sums of powers by number of feature parents, of which one model can have fewer.

    Example: ((1.0, 0.5),) and ((0.25,),) have the sums ((1.25, 0.5),).
    """
    sums = []
    for a, b in zip(first, second, strict=True):
        pairs = zip_longest(a, b, fillvalue=0.0)
        sums.append(tuple([x + y for x, y in pairs]))
    return tuple(sums)
