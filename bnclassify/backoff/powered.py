"""Models whose posterior is raised to a power."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base.arrays import Array, Codes
from ..base.records import record
from ..model.model import BuiltOn, Model, renewed
from ..model.recipes import Recipe


@record
@dataclass(frozen=True, eq=False, repr=False)
class Powered(BuiltOn):
    """A model whose posterior is raised to a power and normalized: P(c | x) ∝ P₀(c | x)^τ, P₀ of ``base``."""

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
        """The model whose posterior is P₀."""
        return self.base

    @property
    def members(self) -> tuple[Model, ...]:
        """The members of the model."""
        return self.base.members

    @property
    def fitted(self) -> bool:
        """Whether the model has parameters."""
        return self.base.fitted

    def _arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        return self.base._arc_shares()

    def _members_note(self) -> str:
        return self.base._members_note()

    def _weights(self) -> dict[Hashable, float] | None:
        return self.base._weights()

    def _feature_shares(self) -> tuple[dict[Hashable, float], str]:
        return self.base._feature_shares()

    def facts(self) -> dict[str, object]:
        """Return the facts of the model, and what leave-one-out found."""
        return self.base.facts() | {"leave-one-out": self.learned.get("leave_one_out")}

    def _log_joint(self, codes: Codes) -> Array:
        return self.power * self.base._log_joint(codes)

    def _class_prior(self) -> Array:
        return self.base._class_prior()

    def _estimate(self, data: Any, prior: Any) -> Any:
        """Return the model without a power, with tables."""
        return renewed(self.base, recipe=self.recipe)._estimate(data, prior)
