"""Networks whose tables have powers of their own: they know posteriors, but no joint distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..base.arrays import Codes
from ..base.records import record
from ..model.model import BuiltOn
from ..model.recipes import Recipe
from ..network.bnc import BNC
from .tables import PrefixTable


@record
@dataclass(frozen=True)
class LeaveOneOutSummary:
    """How leave-one-out went.

    Attributes
    ----------
    power : float
        The best common power of all tables.
    objective : float
        What was maximised, at its maximum.
    log_likelihood : float
        Of the classes of left-out rows.
    parents : int
        How many feature parents were kept, at most.
    rows : int
        How many rows were left out, one after the other.
    """

    power: float
    objective: float
    log_likelihood: float
    parents: int
    rows: int

    def __str__(self) -> str:
        return f"power {self.power:.3g}, up to {self.parents} parents, {self.rows:,} rows"


@record
@dataclass(frozen=True, eq=False, repr=False)
class Weighted(BuiltOn):
    """A network whose tables are raised to powers: P(c | x) ∝ P(c)^w₀ Π P(x_i | parents of i, c)^w_i.

    A feature that is missing drops out, and a family whose parent is missing backs off to the
    parents before it.

    Attributes
    ----------
    structure : BNC
        The graph, with levels and without tables.
    tables : tuple of PrefixTable
        Those of its families.
    powers : tuple of float
        Those of its families: of each feature, and of the class at the end.
    recipe : Recipe or None
        How it was learned; `cv` runs it again.
    learned : mapping
        What a method of `lp` left behind, by name.
    """

    structure: BNC
    tables: tuple[PrefixTable, ...]
    powers: tuple[float, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "a model with weights knows P(class | features) alone, no joint distribution; cloglik and cv judge "
        "that, and lp without leave-one-out gives one with a joint distribution"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        cards = self.structure.cards
        expected = [tuple([cards[v] for v in scope]) for scope in self.structure.scopes]
        actual = [table.cards if not table.by_class else (*table.cards, cards[-1]) for table in self.tables]
        if actual != expected or len(self.powers) != len(self.tables):
            raise ValueError("tables: expected one, and a power, for each family, of the size of its levels")

    @property
    def basis(self) -> BNC:
        """The network without tables."""
        return self.structure

    @property
    def networks(self) -> tuple[Weighted, ...]:
        """The networks whose terms are averaged: this one."""
        return (self,)

    @property
    def members(self) -> tuple[Weighted, ...]:
        """The model itself."""
        return (self,)

    @property
    def fitted(self) -> bool:
        """Whether it has tables, which it always has."""
        return True

    @cached_property
    def network(self) -> BNC:
        """The network with its tables, without the powers."""
        families = zip(self.tables, self.structure.families, strict=True)
        return replace(self.structure, cpts=tuple([table.conditional(family) for table, family in families]))

    @property
    def depth(self) -> int:
        """The most feature parents of a family."""
        return self.structure.depth

    def in_codes(self, codes: Codes) -> list[tuple[Weighted, Codes]]:
        """Return the networks whose terms are averaged, each with rows in its own codes: this one."""
        return [(self, codes)]

    def unweighted(self) -> BNC:
        """Return the network without powers."""
        return replace(self.network, recipe=self.recipe, learned=self.learned)

    def facts(self) -> dict[str, object]:
        """Return the size of the network, and what leave-one-out found."""
        return self.structure.facts() | {"leave-one-out": self.learned.get("leave_one_out")}

    def with_powers(self, powers: Sequence[float], parents: int) -> Weighted:
        """Return the model with other powers and at most so many feature parents."""
        tables = tuple([table.shortened(parents) for table in self.tables])
        return replace(
            self,
            structure=shortened(self.structure, parents),
            tables=tables,
            powers=tuple(powers),
            learned={**self.learned, **concentrations_of(tables)},
        )


def concentrations_of(tables: Sequence[PrefixTable]) -> dict[str, Any]:
    """Return the concentrations of tables that back off, to be left on a model; else nothing."""
    return {"concentrations": tuple([table.masses for table in tables])} if tables[0].nested else {}


def shortened(x: BNC, parents: int) -> BNC:
    """Return a structure with the first feature parents of each family, at most so many."""
    families = []
    for variable, *ps in x.families:
        class_parent = ps[-1:] if ps[-1:] == [x.class_var] else []
        families.append((variable, *ps[: len(ps) - len(class_parent)][:parents], *class_parent))
    return replace(x, families=tuple(families), cpts=None)
