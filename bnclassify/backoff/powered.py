"""Models whose posterior is raised to a power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base.records import record
from ..model.model import BuiltOn, Model
from ..model.recipes import Recipe


@record
@dataclass(frozen=True, eq=False, repr=False)
class Powered(BuiltOn):
    """A model whose posterior is raised to a power and normalised again: P(c | x) ∝ P₀(c | x)^τ.

    Attributes
    ----------
    base : Model
        The model that says P₀.
    power : float
    recipe : Recipe or None
        How it was learned; `cv` runs it again.
    learned : mapping
        What a method of `lp` left behind, by name.
    """

    base: Model
    power: float
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = (
        "a model with a power knows P(class | features) alone, no joint distribution; cloglik and cv judge "
        "that, and lp without leave-one-out gives one with a joint distribution"
    )

    @property
    def basis(self) -> Model:
        """The model that says P₀."""
        return self.base

    @property
    def members(self) -> tuple[Model, ...]:
        """The members of the model."""
        return self.base.members

    @property
    def fitted(self) -> bool:
        """Whether the model has parameters."""
        return self.base.fitted

    def facts(self) -> dict[str, object]:
        """Return what the model tells, and the power."""
        return self.base.facts() | {"leave-one-out": self.learned.get("leave_one_out")}
