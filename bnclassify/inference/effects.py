"""Main effects and interactions: contributions to log odds that do not depend on the direction of arcs."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Array, log, log_sum_exp
from .evidence import Evidence

REST = "(rest)"
"""The name of what an average of networks adds to the main effects."""

Scope = tuple[int, ...]


def split_evidence(evidence: Evidence) -> tuple[list[Scope], Array]:
    """Split contributions into those of single features and of several; return the latter, and log odds.

    Several features are their numbers in ascending order, or none for the rest of an average. The log odds
    are (rows, 1 + features + scopes): of the prior, the main effects in the order of the features, and the
    interactions. A main effect that is not finite keeps the contribution, so that the sum is the same.
    """
    x, total = evidence.model, evidence.log_odds
    at = {feature: 1 + i for i, feature in enumerate(evidence.order)}
    mains, others, owners = np.zeros_like(total), dict[Scope, Array](), dict[int, Scope]()
    joint = total.copy()  # the rest of the contribution of each feature
    for owner, scope, weights in _weighed_effects(evidence):
        if scope == (owner,):
            mains[:, at[owner]] += weights
        else:
            others[scope] = others.get(scope, 0.0) + weights
            owners.setdefault(owner, scope)
            joint[:, at[owner]] -= weights
    mains = np.where(np.isfinite(mains), mains, joint)
    if x.is_average:
        mains[:, 0] = total[:, 0]
        with np.errstate(invalid="ignore"):
            rest = np.nan_to_num(joint - mains, nan=0.0, posinf=np.inf, neginf=-np.inf).sum(axis=1)
        return [()], np.column_stack([mains, rest])
    number = {name: i for i, name in enumerate(x.features)}
    for name, parents in x.feature_parents.items():
        if parents:
            owners[number[name]] = tuple(sorted(number[v] for v in (name, *parents)))
    split: dict[Scope, Array] = {}
    for feature in (feature for feature in evidence.order if feature in owners):
        column = at[feature]
        rest = np.where(joint[:, column] == mains[:, column], 0.0, joint[:, column] - mains[:, column])
        split[owners[feature]] = split.get(owners[feature], 0.0) + rest
        joint[:, column] = mains[:, column]
    for scope, weights in others.items():
        split[scope] = split.get(scope, 0.0) + weights
    return list(split), np.column_stack([joint, *split.values()])


def _weighed_effects(evidence: Evidence) -> list[tuple[int, Scope, Array]]:
    """Return the log odds of each effect at rows, (rows,), with its owner and its features."""
    x, at, rivals = evidence.model, np.arange(len(evidence.targets)), evidence.rivals
    prior = log(x._class_prior())
    before = log_sum_exp(np.where(rivals, prior, -np.inf))
    found = []
    with np.errstate(invalid="ignore"):
        for owner, scope, logs in x._effects(evidence.codes):
            after = log_sum_exp(np.where(rivals, prior + logs, -np.inf))
            found.append((owner, scope, logs[at, evidence.targets] - (after - before)))
    return found
