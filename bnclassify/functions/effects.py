"""What a feature adds to the log odds of a class, at each of its levels."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array, log_sum_exp
from ..base.checks import is_among
from ..base.messages import listed, shown, suggestion
from ..model.model import Model, check_fitted
from ..model.questions import classes, values

_MOST_LINES = 5


@dataclass(frozen=True)
class Effect:
    """What a feature adds to the log odds of a class against all others.

    Attributes
    ----------
    feature : hashable
    target : Any
        The class.
    levels : tuple
        The levels of the feature.
    parent : hashable
        Its first feature parent; None if it has none.
    parent_levels : tuple
        The levels of the parent that were looked at; ``(None,)`` without one.
    log_odds : (parent_levels, levels) array
        What each level adds, in nats, where the parent alone is known beside.
    """

    feature: Hashable
    target: Any
    levels: tuple[Any, ...]
    parent: Hashable
    parent_levels: tuple[Any, ...]
    log_odds: Array


def measure_effect(x: Model, feature: Hashable, target: Any = None) -> Effect:
    """Measure what a feature adds to the log odds of a class, all else but one parent unknown."""
    model = check_fitted(x)
    if not is_among(feature, model.features):
        raise KeyError(f"feature: the model has no {shown(feature)}; {suggestion(feature, model.features)}")
    labels = classes(model)
    if len(labels) < 2:
        raise ValueError(f"x: has the one class {listed(labels)}, so there is nothing to compare it with")
    if target is not None and not is_among(target, labels):
        raise ValueError(f"target: expected one of the classes {listed(labels)}, got {shown(target)}")
    levels = values(model)
    number = model.features.index(feature)
    parents = model.feature_parents[feature]
    parent = parents[0] if parents else None
    shown_levels = _spread(len(levels[parent])) if parent is not None else [-1]
    codes = np.full((len(model.features), len(shown_levels), len(levels[feature]) + 1), -1)
    codes[number, :, 1:] = np.arange(len(levels[feature]))
    if parent is not None:
        codes[model.features.index(parent)] = np.array(shown_levels)[:, None]
    logs = model._log_joint(codes.reshape(len(codes), -1)).reshape(*codes.shape[1:], -1)
    nothing_known = model._log_joint(np.full((len(codes), 1), -1))[0]
    c = int(nothing_known.argmax()) if target is None else labels.index(target)
    odds = logs[..., c] - log_sum_exp(np.delete(logs, c, axis=-1))
    parent_levels = tuple([None if parent is None else levels[parent][i] for i in shown_levels])
    return Effect(feature, labels[c], levels[feature], parent, parent_levels, odds[:, 1:] - odds[:, :1])


def _spread(levels: int) -> list[int]:
    """Return all levels, or some from the first to the last where they are many."""
    positions = np.linspace(0, levels - 1, min(levels, _MOST_LINES))
    return positions.round().astype(int).tolist()
