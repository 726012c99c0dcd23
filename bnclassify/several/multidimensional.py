"""Multidimensional Bayesian network classifiers, and averages of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..base.arrays import Array, Codes
from ..base.messages import listed, shown
from ..base.records import record
from ..counts.contingency import count_families
from ..frames.schema import Dataset, Levels
from ..model.recipes import Recipe, Tally
from ..network.classifiers import Graph
from ..network.ensemble import Arcs, mean_arcs
from ..network.estimates import Family, check_families, tabulate
from ..network.priors import Prior
from . import class_inference
from .class_inference import ClassFactors, MostProbable, sort_tables
from .multi_model import MultiModel


class Bridged(MultiModel):
    """Base of models with tables over features and classes, whose `members` are networks."""

    @property
    def _factors(self) -> ClassFactors:
        factors: ClassFactors = self.derived("factors", lambda x: sort_tables(x.members))
        return factors

    def _log_marginals(self, codes: Codes, *, greedy: bool = False) -> list[Array]:
        return class_inference.log_marginals(self._factors, codes)

    def _log_joint_at(self, codes: Codes, labels: Codes) -> Array:
        return class_inference.log_joint_at(self._factors, codes, labels)

    def _most_probable(self, codes: Codes, *, greedy: bool = False) -> MostProbable:
        return class_inference.most_probable(self._factors, codes)


@record
@dataclass(frozen=True, eq=False, repr=False)
class MBC(Bridged, Graph):
    """A multidimensional Bayesian network classifier: a directed acyclic graph over features and classes.

    It has class variables as parents of features (the bridge), a graph among the class variables, and a
    graph among the features, but any acyclic graph is accepted. `mbc` learns the structure, `lp` the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables.
    families : tuple of tuple
        ``(variable, feature parents…, class parents…)`` of each feature and then of each class variable,
        with class parents in the order of ``class_vars``.
    levels : tuple of tuple, or None
        Labels of each variable in the order of ``families``; None without data.
    cpts : tuple of read-only arrays, or None
        Conditional probability tables in the order of ``families``; axis i of a table is member
        i of its family. None without parameters.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Raises
    ------
    ValueError
        If the families are not an acyclic graph over all variables with the class variables at the end, or
        levels or tables do not fit them.

    Examples
    --------
    >>> from bnclassify import MBC
    >>> MBC(("rain", "wind"), (("sky", "rain", "wind"), ("rain",), ("wind", "rain")))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variables: rain, wind
      num. features:   1
      num. arcs:       3
    """

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def _check_graph(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        _check_bridged(self.class_vars, self.families)

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features in the order of ``families``."""
        return tuple([family[0] for family in self.families[: len(self.families) - len(self.class_vars)]])


def _check_bridged(class_vars: tuple[Hashable, ...], families: tuple[Family, ...]) -> None:
    """Raise a ValueError unless families are an acyclic graph, with class variables last."""
    m = len(class_vars)
    if not m or tuple([family[0] for family in families[-m:] if family]) != class_vars:
        raise ValueError(
            f"families must have one family per variable, with families of {listed(class_vars)} at the end."
        )
    check_families(class_vars[-1], tuple(families))
    position = {name: i for i, name in enumerate(class_vars)}
    for variable, *parents in families:
        order = [position.get(name, -1) for name in parents]
        if order != sorted(order):
            raise ValueError(
                "families must list feature parents, then class parents in the order of the class variables; "
                f"got {listed(parents)} as the parents of {shown(variable)}."
            )


@record
@dataclass(frozen=True, eq=False, repr=False)
class MAODE(Bridged):
    """An average of networks, one for each class variable as the parent of all other class variables.

    The features have the same parents and the same tables in all networks, which are stored once.
    `members` returns the networks. `maode` builds the structure, `lp` estimates the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables. Each is the parent of the others in one member.
    families : tuple of tuple
        ``(feature, feature parents…, class parents…)`` of each feature.
    levels : tuple of tuple, or None
        Labels of each feature, then of each class variable; None without data.
    cpts : tuple of read-only arrays, or None
        Tables of the features in the order of ``families``; None without parameters.
    class_cpts : tuple of read-only arrays, or None
        Tables of all class variables in the first member, then in the second, and so on.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Raises
    ------
    ValueError
        If the families are not an acyclic graph, or levels or tables do not fit them.
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
        if (self.cpts is None) != (self.class_cpts is None):
            raise ValueError("cpts and class_cpts must be given together.")
        m = len(self.class_vars)
        if self.class_cpts is not None and len(self.class_cpts) != m * m:
            raise ValueError(f"class_cpts must be {m * m} tables; got {len(self.class_cpts)}.")
        super().__post_init__()
        self.members  # noqa: B018  # each member checks its families and tables

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
        m, members = len(self.class_vars), []
        for start in range(0, m * m, m):
            families = (*self.families, *self.class_families[start : start + m])
            cpts = None if self.cpts is None else (*self.cpts, *(self.class_cpts or ())[start : start + m])
            members.append(MBC(self.class_vars, families, self.levels, cpts, self.recipe))
        return tuple(members)

    @property
    def class_families(self) -> tuple[Family, ...]:
        """The families of all class variables in the first member, then in the second, and so on."""
        names = self.class_vars
        return tuple([(c,) if c == parent else (c, parent) for parent in names for c in names])

    def _arc_shares(self) -> Arcs:
        return mean_arcs(self.members, [1 / len(self.members)] * len(self.members))

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and members."""
        return {"num. features": len(self.features), "num. members": len(self.class_vars)}

    @property
    def _counted_families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys((*self.families, *self.class_families)))

    def _count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        families = [[data.positions[v] for v in family] for family in self._counted_families]
        return tuple(count_families(data, families))

    def _tabulate(self, tally: Tally) -> MAODE:
        tables = tabulate(tally.counts, tally.prior)
        by_family = dict(zip(self._counted_families, tables, strict=True))
        return replace(
            self,
            cpts=tuple([by_family[family] for family in self.families]),
            class_cpts=tuple([by_family[family] for family in self.class_families]),
            learned={"counts": tally.narrowed()},
        )
