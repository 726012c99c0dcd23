"""Weights of evidence: contributions of features and of interactions to the log odds of a class.

Main effects and interactions do not depend on the direction of arcs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import check_fitted, check_not_dropped
from ..classifiers import Scope
from ..dataset import Dataset, check_unseen
from ..model import Model
from ..scores import (
    Formula,
    Rows,
    effects_at,
    mask_of_values_without_effect,
    scores_at,
    scores_in_sequence,
)
from ..tools import graphs
from ..tools.arrays import (
    BLOCK_CELLS,
    Array,
    Mask,
    Positions,
    first_best,
    log,
    log_normalize,
    log_sum_exp,
    second_best,
    slices,
)
from ..tools.checks import OneOf, is_among, must_be
from ..tools.messages import listed, shown

_MOST_LINES = 5  # of levels of a parent, or of classes
# Standard deviations beyond the means of a curve, and its number of points.
_DEVIATIONS, _POINTS = (2.5, 201)

REST = "(rest)"
"""The row of an average of networks beside those of the main effects."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Contributions to the log odds of rows: of the prior, then of the features in order.

    ``log_odds`` are (rows, 1 + features), ``targets``, their ``posteriors`` and
    the ``weights`` of rows (rows,), and ``rivals``, the classes to compare
    with, (rows, classes).
    """

    model: Model
    order: tuple[int, ...]
    rows: Rows
    log_odds: Array
    targets: Positions
    rivals: Mask
    posteriors: Array
    weights: Array

    @property
    def mean_contributions(self) -> dict[Hashable, float]:
        """The mean absolute contribution of each feature, in rows with a positive weight."""
        at = np.flatnonzero(self.weights > 0)
        sizes = np.abs(self.log_odds[at, 1:])
        means: list[float] = np.average(sizes, axis=0, weights=self.weights[at]).tolist()
        return {self.model.features[i]: mean for i, mean in zip(self.order, means, strict=True)}


def weigh_evidence(
    x: Model,
    data: Dataset,
    target: Hashable | None = None,
    against: Any = None,
    unseen: str = "error",
    *,
    argument: str = "row",
) -> Evidence:
    """Compute the contributions of prior and features to the log odds of a class in each row."""
    names = check_fitted(x).known_levels[-1]
    compared = _compared_positions(names, target, against)
    check_unseen(unseen)
    rows, order = x.rows_to_score(data, unseen), positions_parents_first(x)
    cells_per_row = (len(order) + 1) * max(len(order), len(names))
    weighed = []
    for block in slices(max(1, len(data)), cells_per_row, 16 * BLOCK_CELLS):
        weighed.append(_contributions_of_block(x.score, rows.subset(block), order, *compared))
    log_odds, targets, rivals, posteriors = map(np.concatenate, zip(*weighed, strict=True))
    _check_odds(log_odds, targets, rivals, names, data.index, argument)
    weights = data.row_weights
    return Evidence(x, tuple(order), rows, log_odds, targets, rivals, posteriors, weights)


def _contributions_of_block(
    x: Formula, rows: Rows, order: Sequence[int], target: int | None, against: list[int] | None
) -> tuple[Array, Positions, Mask, Array]:
    """Return log odds of `Evidence`, NaN if undefined, ``targets``, ``rivals``, ``posteriors``."""
    # (1 + features, rows, classes): of the prior, of the prior and the first feature, …, of all
    logs = scores_in_sequence(x, rows, order)
    targets, rivals = _choose_compared_classes(logs[-1, :], target, against)
    at = np.arange(len(rows))
    with np.errstate(invalid="ignore"):
        odds = logs[:, at, targets] - log_sum_exp(np.where(rivals, logs, -np.inf))
        # In an average, odds can be infinite after some features and finite after all: such
        # features add 0. Odds that are infinite after all stay infinite, so that inf − inf is 0.
        last = odds[-1, :].copy()
        for before, now in pairwise(list[Array](odds)):
            kept: Mask = np.where(np.isinf(now), now != last, np.isinf(before) & (before == last))
            now[:] = np.where(kept, before, now)
        steps = np.where(np.equal(odds[1:], odds[:-1]), 0.0, np.diff(odds, axis=0))
    steps = np.where(mask_of_values_without_effect(x, rows)[list(order)], 0.0, steps)
    posteriors = np.exp(log_normalize(logs[-1, :]))[at, targets]
    weights = np.concatenate([odds[:1], steps]).T
    weights[np.isnan(odds[-1, :])] = np.nan
    return weights, targets, rivals, posteriors


def _choose_compared_classes(
    logs: Array, target: int | None, against: list[int] | None
) -> tuple[Positions, Mask]:
    """Return the class to explain in each row, and the classes to compare with, (rows, classes)."""
    at = np.arange(len(logs))
    targets = first_best(logs) if target is None else np.full(len(logs), target)
    rivals = np.zeros(logs.shape, dtype=bool)
    if against is None:
        rivals[at, second_best(logs, targets)] = True
    else:
        rivals[:, against] = True
        rivals[at, targets] = False
    return targets, rivals


def positions_parents_first(x: Model) -> list[int]:
    """Return the positions of the features, parents before children unless arcs form a cycle."""
    parents = x.feature_parents
    if graphs.find_cycle(parents):
        return list(range(len(x.features)))
    position = {name: i for i, name in enumerate(x.features)}
    return [position[name] for layer in graphs.topological_layers(parents) for name in layer]


def _compared_positions(
    labels: tuple[Hashable, ...], target: Hashable | None, against: Any
) -> tuple[int | None, list[int] | None]:
    """Return the positions of the classes to compare, or raise."""
    chosen = target_position(labels, target)
    if against is None:
        return chosen, None
    # A tuple can be a label.
    is_label = is_among(against, labels) or not pd.api.types.is_list_like(against)
    others: list[Hashable] = [against] if is_label else list(against)
    rivals = {labels.index(OneOf(labels).check("against", label)) for label in others}
    if target is None and rivals == {chosen}:  # of two classes, the other one
        chosen = 1 - rivals.pop()
        return chosen, [1 - chosen]
    if not rivals - {chosen}:
        raise ValueError(
            must_be("against", f"another class than the target {shown(target)}", against)
        )
    return chosen, sorted(rivals - {chosen})


def target_position(labels: tuple[Hashable, ...], target: Hashable | None) -> int | None:
    """Return the position of the class to explain: by default the last of two, None of more."""
    if len(labels) < 2:
        raise ValueError(f"x must have at least two classes to compare; got {listed(labels)}.")
    if target is None:
        return 1 if len(labels) == 2 else None
    return labels.index(OneOf(labels).check("target", target))


def _check_odds(
    log_odds: Array,
    targets: Positions,
    rivals: Mask,
    labels: tuple[Hashable, ...],
    index: pd.Index[Any],
    argument: str,
) -> None:
    """Raise a ValueError if a class would be compared with itself, or a row has no odds."""
    unrivalled: list[int] = targets[~rivals.any(axis=1)].tolist()
    if unrivalled:
        raise ValueError(
            f"against must differ from the explained class; got {shown(labels[unrivalled[0]])}, "
            f"which is predicted in {len(unrivalled):,} of {len(targets):,} rows. Set target to "
            "the class to explain."
        )
    without = np.isnan(log_odds[:, 0])
    if without.any():
        raise ValueError(
            f"{argument} must be possible under a compared class, so that the odds are defined; "
            f"got impossible rows {listed(index[without], most=8)}. Fit the model with "
            "smooth above 0."
        )


def split_off_interactions(evidence: Evidence) -> tuple[list[Scope], Array]:
    """Split contributions into main effects and interactions; return their scopes, and log odds.

    A scope has the positions of its features in ascending order, or none for
    the rest of an average. The log odds are (rows, 1 + features + scopes): of
    the prior, the main effects in the order of the features, and the
    interactions. A main effect that is not finite is the whole contribution, so
    that the sum is the same.
    """
    x, total = evidence.model, evidence.log_odds
    column = {feature: 1 + i for i, feature in enumerate(evidence.order)}
    mains, rest = np.zeros_like(total), total.copy()  # rest: without effects of several features
    joint, scope_of_rest = dict[Scope, Array](), dict[int, Scope]()
    for owner, scope, log_odds in _log_odds_of_effects(evidence):
        if scope == (owner,):
            mains[:, column[owner]] += log_odds
        else:
            joint[scope] = joint.get(scope, 0.0) + log_odds
            rest[:, column[owner]] -= log_odds
            scope_of_rest.setdefault(owner, scope)
    mains = np.where(np.isfinite(mains), mains, rest)
    if x.is_average:
        mains[:, 0] = total[:, 0]
        with np.errstate(invalid="ignore"):
            others = np.nan_to_num(rest - mains, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return [()], np.column_stack([mains, others.sum(axis=1)])
    position = {name: i for i, name in enumerate(x.features)}
    for name, parents in x.feature_parents.items():
        if parents:
            scope_of_rest[position[name]] = tuple(sorted(position[v] for v in (name, *parents)))
    split: dict[Scope, Array] = {}
    for feature in [feature for feature in evidence.order if feature in scope_of_rest]:
        i, scope = column[feature], scope_of_rest[feature]
        beyond = np.where(np.equal(rest[:, i], mains[:, i]), 0.0, rest[:, i] - mains[:, i])
        split[scope] = split.get(scope, 0.0) + beyond
        rest[:, i] = mains[:, i]
    for scope, log_odds in joint.items():
        split[scope] = split.get(scope, 0.0) + log_odds
    return list(split), np.column_stack([rest, *split.values()])


def cards_of_features(x: Model) -> list[int]:
    """Return the numbers of levels of the features."""
    return list(map(len, x.known_levels[: len(x.features)]))


def _log_odds_of_effects(evidence: Evidence) -> list[tuple[int, Scope, Array]]:
    """Return the log odds of each effect at rows, (rows,), with its owner and its features."""
    x, at, rivals = evidence.model, np.arange(len(evidence.targets)), evidence.rivals
    prior = log(x.class_prior())
    before = log_sum_exp(np.where(rivals, prior, -np.inf))
    found = []
    with np.errstate(invalid="ignore"):
        for owner, scope, logs in effects_at(x.score, evidence.rows, cards_of_features(x)):
            after = log_sum_exp(np.where(rivals, prior + logs, -np.inf))
            found.append((owner, scope, logs[at, evidence.targets] - (after - before)))
    return found


@dataclass(frozen=True)
class Effect:
    """The contribution of a feature to log odds, (parent_levels, levels or points), and its parent.

    If ``target`` is None, the class takes the place of the parent: there is one
    line per class.
    """

    feature: Hashable
    target: Hashable | None
    levels: tuple[Hashable, ...]
    parent: Hashable
    parent_levels: tuple[Hashable, ...]
    log_odds: Array
    points: Array | None = None


def effect_on_log_odds(x: Model, feature: Hashable, target: Hashable | None = None) -> Effect:
    """Return the contribution of a feature if only it and one of its parents are observed.

    Without a target, that to each class, or to the most frequent of many, if
    only the feature is observed.
    """
    model = check_fitted(x)
    check_not_dropped(model, "feature", [feature])
    OneOf(model.features, "a feature of the model").check("feature", feature)
    labels = model.known_levels[-1]
    c = target_position(labels, target)
    points = points_of_effect_curve(model, feature)
    parents, names_of_lines = model.feature_parents[feature], tuple[Hashable, ...]([None])
    parent = parents[0] if parents and c is not None else None
    lines = np.array([-1])  # the codes of the parent
    if parent is not None:  # some evenly spaced levels
        names = model.written_levels(parent)
        lines = np.linspace(0, len(names) - 1, min(len(names), _MOST_LINES)).round().astype(np.intp)
        names_of_lines = tuple([names[line] for line in lines])
    rows = _rows_of_effect(model, feature, points, parent, lines)
    logs = scores_at(model.score, rows, adjusted=False)
    frequent: list[int] = graphs.descending_order(model.class_prior())[:_MOST_LINES].tolist()
    classes = sorted(frequent) if c is None else [c]
    if c is None:
        parent, names_of_lines = model.class_var, tuple([labels[k] for k in classes])
    odds = [logs[:, k] - log_sum_exp(np.delete(logs, k, axis=1)) for k in classes]
    by_line = np.reshape(odds, (len(names_of_lines), -1))  # a missing value, then the others
    levels = model.levels_by_name[feature] or tuple([] if points is None else points.tolist())
    chosen = None if c is None else labels[c]
    effect = by_line[:, 1:] - by_line[:, :1]
    return Effect(feature, chosen, levels, parent, names_of_lines, effect, points)


def _rows_of_effect(
    x: Model, feature: Hashable, points: Array | None, parent: Hashable | None, lines: Positions
) -> Rows:
    """Return rows with nothing but a value of a feature and a level of its parent, or without it.

    The rows of a parent's level follow each other: one in which the feature is
    missing, too, then one per level or point of the feature.
    """
    values = np.arange(len(x.levels_by_name[feature]))
    if points is not None:
        values = np.searchsorted(x.cuts.get(feature, ()), points, side="left")
    codes = np.full((len(x.features), len(lines), 1 + len(values)), -1)
    codes[x.features.index(feature), :, 1:] = values
    numbers = {} if points is None else {feature: np.tile([np.nan, *points], len(lines))}
    if parent is not None:
        codes[x.features.index(parent)] = lines[:, None]
    rows = x.rows_from_codes(codes.reshape(len(codes), -1), numbers)
    return replace(rows, unknown=rows.codes < 0)


def effect_ranges(x: Model) -> Array:
    """Return the range of each feature's own effect on the log odds; 1 if it is not defined."""
    ranges = np.ones(len(x.features))
    # 200: maximum number of features whose effects are compared
    for i, name in enumerate(x.features if len(x.features) <= 200 else ()):
        with suppress(TypeError, ValueError), np.errstate(invalid="ignore"):
            odds = effect_on_log_odds(x, name).log_odds
            ranges[i] = np.ptp(odds) if np.isfinite(odds).all() else 1.0
    return ranges


def points_of_effect_curve(x: Model, feature: Hashable) -> Array | None:
    """Return the numbers at which an effect is drawn; None if it depends on codes alone."""
    if feature not in x.densities:
        return None
    cells = x.densities[feature].parameters_by_name()
    width = _DEVIATIONS * cells["sd"]
    return np.linspace((cells["mean"] - width).min(), (cells["mean"] + width).max(), _POINTS)
