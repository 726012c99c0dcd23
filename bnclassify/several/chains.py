"""Chains: each class variable has an ordinary model, to which those before it are features."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..base.messages import listed, shown
from ..base.records import record
from ..frames.schema import Levels
from ..model.model import Model
from ..model.recipes import Recipe
from .mbc import MultiModel


@record
@dataclass(frozen=True, eq=False, repr=False)
class Chain(MultiModel):
    """A probabilistic classifier chain: P(classes | features) = Π P(class | features, classes before it).

    Learned by `chain`; its parameters by `lp`. It says nothing of how probable features are.

    Attributes
    ----------
    class_vars : tuple of str
        The class variables, in the order in which they are predicted in columns.
    members : tuple of models
        A model for each class variable, in the order of the chain; the class variables before it may be
        among its features.
    recipe : Recipe or None
        How it was learned; `cv` runs it again.
    learned : mapping
        What learning left behind, by name.

    Raises
    ------
    TypeError
        If a member is no model of one class.
    ValueError
        If the members are not one for each class variable, look at one that comes later, or differ in
        levels.
    """

    no_joint = (
        "a chain has no joint distribution with the features, as each of its members has one of its own; it "
        "has predict, cloglik and cv"
    )

    class_vars: tuple[Hashable, ...]
    members: tuple[Model, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        object.__setattr__(self, "members", tuple(self.members))
        _check_links(self.class_vars, self.members)
        super().__post_init__()

    @cached_property
    def order(self) -> tuple[Hashable, ...]:
        """The class variables in the order of the chain."""
        return tuple([member.class_var for member in self.members])

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The features of any member that are no class variables."""
        named = dict.fromkeys(name for member in self.members for name in member.features)
        return tuple([name for name in named if name not in self.class_vars])

    @cached_property
    def levels(self) -> Levels | None:
        """The labels of the features, then of the class variables."""
        known: dict[Hashable, tuple[Any, ...]] = {}
        for member in self.members:
            if member.levels is None:
                return None
            known |= dict(zip(member.variables, member.levels, strict=True))
        return tuple([known[name] for name in self.variables])

    @property
    def fitted(self) -> bool:
        """Whether all members have parameters."""
        return all(member.fitted for member in self.members)

    def _arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        raise TypeError(
            f"plot: a chain is {len(self.members):,} networks, one for each class variable; plot each of "
            "members(x)"
        )

    def facts(self) -> dict[str, object]:
        """Return the number of features and the order of the chain."""
        order = None if self.order == self.class_vars else ", ".join(map(str, self.order))
        return {"num. features": len(self.features), "order": order}


def _check_links(class_vars: tuple[Hashable, ...], members: tuple[Model, ...]) -> None:
    """Raise unless there is a model for each class variable that looks at none that comes later."""
    strange = [type(m).__name__ for m in members if not isinstance(m, Model) or isinstance(m, MultiModel)]
    if strange:
        raise TypeError(f"members: expected models of one class each, got {listed(strange)}")
    order = [member.class_var for member in members]
    if len(set(class_vars)) < len(class_vars) or sorted(map(hash, order)) != sorted(map(hash, class_vars)):
        raise ValueError(f"members: expected a model of each of {listed(class_vars)}, got {listed(order)}")
    known: dict[Hashable, tuple[Any, ...]] = {}
    for i, member in enumerate(members):
        ahead = [name for name in member.features if name in order[i:]]
        if ahead:
            raise ValueError(
                f"members: that of {shown(order[i])} looks at {listed(ahead)}, which comes later in the chain"
            )
        for name, labels in zip(member.variables, member.levels or (), strict=False):
            if known.setdefault(name, labels) != labels:
                raise ValueError(f"members: expected models that agree in the levels of {shown(name)}")
