"""The average over networks in each of which one class variable is the parent of the others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..base.arrays import Array
from ..base.records import record
from ..frames.schema import Levels
from ..model.recipes import Recipe
from ..network.bnc import Family
from ..network.ensemble import mean_arcs
from .mbc import MBC, MultiModel, check_levels_of


@record
@dataclass(frozen=True, eq=False, repr=False)
class MAODE(MultiModel):
    """An average of networks, one for each class variable as the parent of all other class variables.

    The features have the same parents and the same tables in all of them, so these are kept once.
    `members` takes them apart into networks. Learned by `maode`; its tables by `lp`.

    Attributes
    ----------
    class_vars : tuple of str
        Each is the parent of the others in one member.
    families : tuple of tuple
        ``(feature, feature parents…, class parents…)`` of each feature.
    levels : tuple of tuple, or None
        The labels of each feature, then of each class variable; None until data was seen.
    cpts : tuple of read-only arrays, or None
        The tables of the features in the order of ``families``; None until `lp`, as the next.
    class_cpts : tuple of read-only arrays, or None
        The tables of all class variables in the first member, then in the second, and so on.
    recipe : Recipe or None
        How it was learned; `cv` runs it again.
    learned : mapping
        What learning left behind, by name.

    Raises
    ------
    ValueError
        If the families are no acyclic graph, or levels or tables do not fit.
    """

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    class_cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        check_levels_of(self.levels, self.variables)
        if (self.cpts is None) != (self.class_cpts is None):
            raise ValueError("cpts, class_cpts: expected both or neither")
        m = len(self.class_vars)
        if self.class_cpts is not None and len(self.class_cpts) != m * m:
            raise ValueError(f"class_cpts: expected {m * m} tables, got {len(self.class_cpts)}")
        super().__post_init__()
        self.members  # noqa: B018  # each member checks its own families and tables

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features."""
        return tuple([family[0] for family in self.families])

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.cpts is not None

    @cached_property
    def members(self) -> tuple[MBC, ...]:
        """The networks, in the order of the class variables."""
        return tuple([self._member(i) for i in range(len(self.class_vars))])

    @property
    def class_families(self) -> tuple[Family, ...]:
        """The families of all class variables in the first member, then in the second, and so on."""
        names = self.class_vars
        return tuple([(c,) if c == parent else (c, parent) for parent in names for c in names])

    def _member(self, i: int) -> MBC:
        m = len(self.class_vars)
        tables = slice(i * m, (i + 1) * m)
        cpts = None if self.cpts is None else (*self.cpts, *(self.class_cpts or ())[tables])
        families = (*self.families, *self.class_families[tables])
        return MBC(self.class_vars, families, self.levels, cpts, self.recipe)

    def _arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        return mean_arcs(self.members, [1 / len(self.members)] * len(self.members))

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and members."""
        return {"num. features": len(self.features), "num. members": len(self.class_vars)}
