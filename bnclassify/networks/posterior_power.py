"""Models whose posterior is raised to a power, which leave-one-out chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..classifiers import Prior, check_positive_prior
from ..dataset import Dataset
from ..model import NO_JOINT, CountedModel, Derived, Model, Recipe, forward_to_basis
from ..parameters import Method, method_of_lp
from ..scores import Formula, Raised
from ..tools.immutable import POWER, cached_property, field_bounds, record
from .backoff_prior import check_prefix_prior
from .conditional_likelihood import (
    COMMON_PRECISION,
    best_common_power,
    log_likelihood,
    log_odds_of_scores,
)
from .leave_one_out import LeaveOneOutSummary, rows_to_hold_out


@record
@forward_to_basis("members", "picture_notes", "feature_weights", "is_average")
@dataclass(frozen=True, eq=False, repr=False)
class Powered(Derived):
    """A model whose posterior has a power and is normalized: P(c | x) ∝ P₀(c | x)^τ of ``base``.

    If a share h of the features is missing, the power is τ + (1 − τ) h.
    """

    bounds = field_bounds(power=POWER)

    base: Model
    power: float
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    type_in_words = "a model with a power"

    estimate = Derived.estimate_base

    no_joint = f"{type_in_words} {NO_JOINT}"

    def __post_init__(self) -> None:
        """Raise a ValueError unless the power is the learned one."""
        super().__post_init__()
        if getattr(self.learned.get("leave_one_out"), "power", self.power) != self.power:
            raise ValueError(f"the power must be that of leave-one-out; got {self.power}")

    def check_type_of_refit(self, fitted: Model) -> None:
        """Accept any model: its base is the recipe's result if the held-out power is 1."""

    @cached_property
    def formula(self) -> Formula:
        return Raised(self.base.score, self.power)


@method_of_lp
@record
@dataclass(frozen=True)
class LeaveOneOutPower(Method):
    """Raise the posterior to the power that maximizes the likelihood of held-out classes."""

    argument = "held_out"

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> LeaveOneOutPower | None:
        return cls() if given.get("held_out") == "power" else None

    def check(self, x: Model, prior: Prior) -> None:
        """Raise if the prior leaves probabilities of 0."""
        check_positive_prior(prior, "held_out='power'")
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with the power."""
        fitted = x.estimate(data, prior)
        if not isinstance(fitted, CountedModel):
            raise TypeError(
                f"held_out must be None for {x.type_in_words}, for which 'power' is not defined."
            )
        rows, weights, left_out, n = rows_to_hold_out(data, 1)
        logs = fitted.log_joint_left_out(data, prior, rows, left_out)
        total = log_odds_of_scores(logs)
        power = best_common_power(total, left_out.classes, weights)
        value = log_likelihood(power * total, left_out.classes, weights)
        objective = value - COMMON_PRECISION / 2 * (power - 1) ** 2
        depth = max(0 if member.graph is None else member.graph.depth for member in fitted.members)
        summary = LeaveOneOutSummary(power, objective, value, depth, n)
        return Powered(fitted, power, x.recipe, {"leave_one_out": summary})
