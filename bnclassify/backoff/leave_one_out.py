"""Powers of tables and numbers of parents, chosen by exact leave-one-out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import TOLERANCE, Array
from ..base.checks import check_flag
from ..base.records import record
from ..frames.schema import Dataset
from ..model.model import Model, renewed
from ..network.bnc import BNC, structure_of
from ..network.estimation import estimate
from ..network.methods import Method, check_positive
from ..network.priors import Prior, check_prefix_prior
from .conditionals import LeftOut
from .left_out import left_out_joint
from .omission import judged_rows, left_out_contrasts
from .powered import Powered
from .powers import COMMON_PRECISION, Powers, best_powers, common_power, contrasts, log_likelihood
from .weighted import LeaveOneOutSummary
from .weighted_estimation import ready, with_prefixes


@record
@dataclass(frozen=True)
class LeaveOneOut(Method):
    """Choose powers of tables, the number of feature parents, or both by the classes of left-out rows.

    Attributes
    ----------
    weights, parents : bool
        What to choose.
    """

    weights: bool = True
    parents: bool = False

    argument = "loo_weights, loo_parents"

    def __post_init__(self) -> None:
        check_flag("loo_weights", self.weights)
        check_flag("loo_parents", self.parents)

    def settings(self) -> Mapping[str, Any]:
        """Return the arguments of `lp` that ask for this."""
        flags = {"loo_weights": self.weights, "loo_parents": self.parents}
        return {name: True for name, flag in flags.items() if flag}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the model has one structure, and the prior leaves no probability at 0."""
        name = next(iter(self.settings()))
        if not isinstance(structure_of(x), BNC):
            raise TypeError(
                f"{name}: is defined for a single Bayesian network, not for a {type(x).__name__}; of an "
                "ensemble, loo_power=True learns one power for all"
            )
        check_positive(prior, name)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with what was chosen."""
        fitted = with_prefixes(x, data, check_prefix_prior(prior))
        depths = range(fitted.depth + 1) if self.parents else [fitted.depth]
        rows = judged_rows(len(data), len(depths) * len(fitted.powers), data.cards[-1])
        weights = np.ones(len(rows)) if data.weights is None else data.weights[rows]
        left_out = LeftOut(data.codes[-1, rows], np.minimum(weights, 1.0))
        by_depth = left_out_contrasts(fitted.in_codes(data.codes[:-1, rows]), left_out, depths)
        choose = best_powers if self.weights else plain_powers
        powers_by_depth = [choose(terms, weights) for terms in by_depth]
        objectives = np.array([powers.objective for powers in powers_by_depth])
        best = int(np.nonzero(objectives >= objectives.max() - TOLERANCE)[0][0])
        summary = LeaveOneOutSummary(
            power=powers_by_depth[best].common,
            objective=powers_by_depth[best].objective,
            log_likelihood=powers_by_depth[best].log_likelihood,
            parents=depths[best],
            rows=len(rows),
        )
        result = fitted.with_powers(powers_by_depth[best].single.tolist(), depths[best])
        result = result if self.weights else result.unweighted()
        return ready(renewed(result, learned={**result.learned, "leave_one_out": summary}))


@record
@dataclass(frozen=True)
class LeaveOneOutPower(Method):
    """Raise the posterior of a model to the power that makes the classes of left-out rows likeliest."""

    argument = "loo_power"

    def settings(self) -> Mapping[str, Any]:
        """Return the argument of `lp` that asks for this."""
        return {"loo_power": True}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise if the prior leaves probabilities of 0."""
        check_positive(prior, self.argument)
        check_prefix_prior(prior)

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return the model with the power."""
        base = x.base if isinstance(x, Powered) else x
        fitted = estimate(renewed(base, recipe=x.recipe), data, prior)
        rows = judged_rows(len(data), 1, data.cards[-1])
        weights = np.ones(len(rows)) if data.weights is None else data.weights[rows]
        left_out = LeftOut(data.codes[-1, rows], np.minimum(weights, 1.0))
        joint = left_out_joint(fitted, data, check_prefix_prior(prior), rows, left_out)
        row_contrasts = contrasts(joint, left_out.classes)
        power = common_power(row_contrasts, weights)
        value = log_likelihood(power * row_contrasts, weights)
        summary = LeaveOneOutSummary(
            power, value - COMMON_PRECISION / 2 * (power - 1) ** 2, value, _depth(fitted), len(rows)
        )
        return Powered(fitted, power, x.recipe, {"leave_one_out": summary})


def _depth(x: Model) -> int:
    """Return the most feature parents of a feature in a network or a member."""
    if len(x.members) > 1:
        return max(_depth(member) for member in x.members)
    network = structure_of(x.members[0])
    return 0 if network is None else network.depth


def plain_powers(terms: Array, weights: Array) -> Powers:
    """Return powers of 1, and how good they are; see `best_powers`."""
    value = log_likelihood(terms.sum(axis=0), weights)
    return Powers(1.0, np.ones(len(terms)), value, value)
