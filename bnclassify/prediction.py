"""Scores become posteriors, labels and decisions.

The scores of a row are normalized over the classes by log-sum-exp, and the label
with the highest posterior is predicted; the first one wins a tie. Other
proportions of classes are applied by Bayes' rule, and with costs, the label with
the lowest expected cost is predicted. Rows can have missing and unknown values.
The contribution of each feature to the log odds, the evidence, is found by
taking features away from the formula; explanations and charts are made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from .accessors import (
    MOST_DRAWN,
    bounds_from_posterior_draws,
    check_draws,
    check_fitted,
    check_interval,
    check_not_dropped,
    check_ordered,
    check_size_of_scores,
    encode_for_model,
    with_interval_columns,
)
from .counts import Scope
from .dataset import Dataset, Levels, check_unseen, codes_by_levels
from .frames import AnyTable, Row, dask_frame_of, in_library_of, is_missing, open_rows
from .model import (
    ClassPrior,
    Model,
    SeveralClasses,
    check_class_prior,
    check_names_of_classes,
    log_prior_ratio,
)
from .scores import (
    Completed,
    Formula,
    Rows,
    effects_at,
    mask_of_values_without_effect,
    scores_at,
    scores_in_sequence,
)
from .tools import graphs, special
from .tools.arrays import (
    BLOCK_CELLS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    code_type,
    first_best,
    log,
    log_normalize,
    log_sum_exp,
    second_best,
    slices,
    weights_at,
)
from .tools.calls import with_call_advice
from .tools.checks import (
    Flag,
    Instance,
    Names,
    OneOf,
    Seed,
    Unseen,
    check_columns,
    check_rng,
    is_among,
    must_be,
)
from .tools.immutable import cached_property
from .tools.messages import listed, shown

# Predictions for rows with observed classes, with the labels and the index of the data.


@lru_cache(maxsize=64)
def _categorical_type(labels: tuple[Hashable, ...], kinds: tuple[type, ...]) -> pd.CategoricalDtype:
    """Return classes as a pandas type that is slow to make; ``kinds`` are the types of labels."""
    return pd.CategoricalDtype(pd.Index(list(labels), tupleize_cols=False))


@dataclass(frozen=True, eq=False)
class Labelling:
    """The names of an array of rows and classes: column labels, class name, row labels."""

    classes: tuple[Hashable, ...]
    name: Hashable
    index: pd.Index[Any]

    def posterior_frame(self, logs: Array) -> pd.DataFrame:
        """Return the posteriors of a log joint, (rows, classes), with one column per class."""
        columns = self._category_type.categories.rename(self.name)
        return pd.DataFrame(np.exp(log_normalize(logs)), index=self.index, columns=columns)

    def labels_of_codes(self, codes: Codes) -> pd.Series[Any]:
        values = pd.Categorical.from_codes(codes, dtype=self._category_type, validate=False)
        return pd.Series(values, index=self.index, name=self.name)

    @property
    def _category_type(self) -> pd.CategoricalDtype:
        return _categorical_type(self.classes, tuple(map(type, self.classes)))


@dataclass(frozen=True, eq=False)
class Outcome:
    """Log joint, (rows, classes), codes of actual classes, (rows,), weights, (rows,), if any."""

    logs: Array
    actual: Codes
    labelling: Labelling
    weights: Array | None = None

    def log_joint_of_classes(self, classes: tuple[Hashable, ...]) -> Array:
        """Return the log joint with these columns; a class unknown to the model is impossible."""
        if classes == self.labelling.classes:
            return self.logs
        own = dict(zip(self.labelling.classes, self.logs.T, strict=True))
        impossible = np.full(len(self.logs), -np.inf)
        return np.column_stack([own.get(label, impossible) for label in classes])

    @cached_property
    def posteriors(self) -> pd.DataFrame:
        return self.labelling.posterior_frame(self.logs)

    @cached_property
    def actual_labels(self) -> pd.Series[Any]:
        return self.labelling.labels_of_codes(self.actual)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The predictions of a model for each of its target variables.

    ``logs`` has the log posterior of each target, up to a constant per row,
    (rows, labels). ``actual`` has the codes of the actual labels, (targets,
    rows), -1 if missing. ``most_probable`` returns the codes of the most
    probable combinations of labels, (targets, rows).
    """

    logs: Sequence[Array]
    actual: Codes
    targets: tuple[Hashable, ...]
    levels: Levels
    index: pd.Index[Any]
    weights: Array | None
    most_probable: Callable[[], Codes]

    def outcome_of_target(self, position: int = 0) -> Outcome:
        """Return the outcome of one target variable, in the rows in which it is observed."""
        actual = self.actual[position, :]
        known = slice(None) if (actual >= 0).all() else np.flatnonzero(actual >= 0)
        labelling = Labelling(self.levels[position], self.targets[position], self.index[known])
        weights = weights_at(self.weights, known)
        return Outcome(self.logs[position][known], actual[known], labelling, weights)


def predict_outcomes(x: Model, rows: Dataset) -> Outcomes:
    """Return the predictions of a model for rows, and the labels of the rows."""
    n, levels = len(x.features), x.levels or ()
    check_size_of_scores(len(rows), max(map(len, levels[n:])))
    data = encode_for_model(x, rows, x.features, "dataset")
    placed = x.rows_to_score(data)
    several: Any = x  # only models of several class variables are asked for combinations
    given = (
        codes_by_levels(rows, x.targets, levels[n:]),
        x.targets,
        levels[n:],
        rows.index,
        rows.weights,
    )
    return Outcomes(x.log_marginals(placed), *given, lambda: several.most_probable(placed))


# Costs of decisions.


def check_costs(
    costs: pd.DataFrame, classes: Sequence[Hashable]
) -> tuple[Array, tuple[Hashable, ...]]:
    """Return costs, (classes, decisions), and decisions, which may be classes in their order."""
    remedy = "An example is pd.DataFrame([[0, 1], [5, 0]], index=names, columns=names)."
    expected = "a DataFrame with one row per actual class and one column per decision"
    Instance(pd.DataFrame, expected, remedy).check("costs", costs)
    check_names_of_classes(
        list(costs.index), classes, "costs must have the actual classes as its rows"
    )
    rows, columns = list[Hashable](costs.index), list[Hashable](costs.columns)
    decisions = columns
    if not decisions or len(set(decisions)) < len(decisions) or any(map(is_missing, decisions)):
        raise ValueError(
            "costs must have one column per decision, each with its own name; got "
            f"{listed(decisions)}."
        )
    if set(decisions) <= set(classes):
        decisions = [name for name in classes if name in decisions]
    order = [rows.index(name) for name in classes], [columns.index(name) for name in decisions]
    ordered: pd.DataFrame = costs.iloc[order].infer_objects()
    if not all(map(pd.api.types.is_any_real_numeric_dtype, ordered.dtypes)):
        raise TypeError("costs must have numbers in every cell.")
    table: Array = ordered.to_numpy(dtype=float)
    if not np.isfinite(table).all():
        raise ValueError(
            "costs must have a finite number in every cell. A correct label usually costs 0."
        )
    return table, tuple(decisions)


def least_costly(logs: Array, costs: Array) -> Positions:
    """Return the decision of minimum expected cost in each row, the first if tied.

    Two decisions are tied if their costs differ by at most 1e-9 of the larger
    of their sums Σ_c P(c | row) |cost|, so that a large cost of a third
    decision does not make them equal.
    """
    posteriors = np.exp(log_normalize(logs))
    costs = costs / 4  # so that no sum or difference overflows
    expected, sizes = posteriors @ costs, posteriors @ np.abs(costs)  # (rows, decisions)
    least: Positions = expected.argmin(axis=1)[:, None]
    lowest = np.take_along_axis(expected, least, axis=1)
    size_of_lowest = np.take_along_axis(sizes, least, axis=1)
    tied: Mask = expected - lowest <= np.maximum(sizes, size_of_lowest) * TOLERANCE
    first: Positions = tied.argmax(axis=1)
    return first


# Weights of evidence: contributions of features and of interactions to the log odds of a class.
#
# Main effects and interactions do not depend on the direction of arcs.


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
    chosen, rivals_of_all = target_position(names, target), None
    if against is not None:
        # A tuple can be a label.
        is_label = is_among(against, names) or not pd.api.types.is_list_like(against)
        labels: list[Hashable] = [against] if is_label else list(against)
        others = {names.index(OneOf(names).check("against", label)) for label in labels}
        if target is None and others == {chosen}:  # of two classes, the other one
            chosen = 1 - others.pop()
            others = {1 - chosen}
        rivals_of_all = sorted(others - {chosen})
        if not rivals_of_all:
            raise ValueError(
                must_be("against", f"another class than the target {shown(target)}", against)
            )
    check_unseen(unseen)
    rows, order = x.rows_to_score(data, unseen), positions_parents_first(x)
    # In a sum of tables, each table is looked up once; others are evaluated once per feature.
    width = len(names) if isinstance(x.score, Completed) else max(len(order), len(names))
    cells_per_row = (len(order) + 1) * width
    weighed = []
    for block in slices(max(1, len(data)), cells_per_row, 16 * BLOCK_CELLS):
        some = rows.subset(block)
        weighed.append(_contributions_of_block(x.score, some, order, chosen, rivals_of_all))
    log_odds, targets, rivals, posteriors = map(np.concatenate, zip(*weighed, strict=True))
    unrivalled: list[int] = targets[~rivals.any(axis=1)].tolist()
    if unrivalled:
        raise ValueError(
            f"against must differ from the explained class; got {shown(names[unrivalled[0]])}, "
            f"which is predicted in {len(unrivalled):,} of {len(targets):,} rows. Set target to "
            "the class to explain."
        )
    without = np.isnan(log_odds[:, 0])
    if without.any():
        raise ValueError(
            f"{argument} must be possible under a compared class, so that the odds are defined; "
            f"got impossible rows {listed(data.index[without], most=8)}. Fit the model with "
            "smooth above 0."
        )
    weights = data.row_weights
    return Evidence(x, tuple(order), rows, log_odds, targets, rivals, posteriors, weights)


def _contributions_of_block(
    x: Formula, rows: Rows, order: Sequence[int], target: int | None, against: list[int] | None
) -> tuple[Array, Positions, Mask, Array]:
    """Return log odds of `Evidence`, NaN if undefined, ``targets``, ``rivals``, ``posteriors``."""
    # (1 + features, rows, classes): of the prior, of the prior and the first feature, …, of all
    logs, at = scores_in_sequence(x, rows, order), np.arange(len(rows))
    of_all: Array = logs[-1, :]
    targets = first_best(of_all) if target is None else np.full(len(rows), target)
    rivals = np.zeros(of_all.shape, dtype=bool)
    if against is None:
        rivals[at, second_best(of_all, targets)] = True
    else:
        rivals[:, against] = True
        rivals[at, targets] = False
    with np.errstate(invalid="ignore"):
        odds = logs[:, at, targets] - log_sum_exp(np.where(rivals, logs, -np.inf))
        # In an average, odds can be infinite or undefined after some features, but not after all:
        # such features add 0. Odds that are infinite after all stay so, so that inf − inf is 0.
        last = odds[-1, :].copy()
        for before, now in pairwise(() if np.isfinite(odds).all() else list[Array](odds)):
            stays: Mask = np.isnan(now) | (np.isinf(before) & (before == last))
            kept: Mask = np.where(np.isinf(now), now != last, stays) & ~np.isnan(last)
            now[:] = np.where(kept, before, now)
        steps = np.where(np.equal(odds[1:], odds[:-1]), 0.0, np.diff(odds, axis=0))
    steps = np.where(mask_of_values_without_effect(x, rows)[list(order)], 0.0, steps)
    posteriors = np.exp(log_normalize(logs[-1, :]))[at, targets]
    weights = np.concatenate([odds[:1], steps]).T
    weights[np.isnan(odds[-1, :])] = np.nan
    return weights, targets, rivals, posteriors


def positions_parents_first(x: Model) -> list[int]:
    """Return the positions of the features, parents before children unless arcs form a cycle."""
    parents = x.feature_parents
    if not any(parents.values()) or graphs.find_cycle(parents):
        return list(range(len(x.features)))
    position = {name: i for i, name in enumerate(x.features)}
    return [position[name] for layer in graphs.topological_layers(parents) for name in layer]


def target_position(labels: tuple[Hashable, ...], target: Hashable | None) -> int | None:
    """Return the position of the class to explain: by default the last of two, None of more."""
    if len(labels) < 2:
        raise ValueError(f"x must have at least two classes to compare; got {listed(labels)}.")
    if target is None:
        return 1 if len(labels) == 2 else None
    return labels.index(OneOf(labels).check("target", target))


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
    prior, at = log(x.class_prior()), np.arange(len(total))
    before = log_sum_exp(np.where(evidence.rivals, prior, -np.inf))
    for owner, scope, logs in effects_at(x.score, evidence.rows, cards_of_features(x)):
        with np.errstate(invalid="ignore"):
            after = log_sum_exp(np.where(evidence.rivals, prior + logs, -np.inf))
            log_odds = logs[at, evidence.targets] - (after - before)
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
    return list(map(len, x.known_levels[: len(x.features)]))


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
    # The rows of a parent's level have nothing but this level and a value of the feature: one in
    # which the feature is missing, too, then one per level or point of the feature.
    given = np.arange(len(model.levels_by_name[feature]))
    if points is not None:
        given = np.searchsorted(model.discretizer.cuts.get(feature, ()), points, side="left")
    codes = np.full((len(model.features), len(lines), 1 + len(given)), -1)
    codes[model.features.index(feature), :, 1:] = given
    if parent is not None:
        codes[model.features.index(parent)] = lines[:, None]
    numbers = {} if points is None else {feature: np.tile([np.nan, *points], len(lines))}
    rows = model.rows_from_codes(codes.reshape(len(codes), -1), numbers)
    logs = scores_at(model.score, replace(rows, unknown=rows.codes < 0), adjusted=False)
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


# Prediction: class labels and posteriors from the log joint, also under another prior or costs.


_BLOCK_ROWS = 2**16
_ROUNDING = float(np.finfo(np.float64).eps)


NewData: TypeAlias = "pd.DataFrame | Dataset | Row | Sequence[Row]"


class _PredictOptions(TypedDict, total=False):
    unseen: Unseen
    unknown: Sequence[Hashable]
    prior: ClassPrior | None
    costs: pd.DataFrame | None
    points: bool
    joint: bool
    greedy: bool
    at_least: Hashable
    interval: float | None
    draws: int
    rng: Seed


@overload  # type checkers regard a Model as a model of a single class variable
def predict(  # type: ignore[overload-overlap]
    x: SeveralClasses, newdata: NewData, *, prob: bool = False, **options: Unpack[_PredictOptions]
) -> pd.DataFrame: ...
@overload
def predict(
    x: Model, newdata: NewData, *, prob: Literal[False] = False, **options: Unpack[_PredictOptions]
) -> pd.Series[Any]: ...
@overload
def predict(
    x: Model, newdata: NewData, *, prob: Literal[True], **options: Unpack[_PredictOptions]
) -> pd.DataFrame: ...
@overload
def predict(
    x: Model, newdata: NewData, *, prob: bool, **options: Unpack[_PredictOptions]
) -> pd.Series[Any] | pd.DataFrame: ...
@overload
def predict(
    x: Model, newdata: AnyTable, *, prob: bool = False, **options: Unpack[_PredictOptions]
) -> Any: ...
@with_call_advice("Pass options by name: predict(x, newdata, prob=True).")
def predict(
    x: Model,
    newdata: NewData | AnyTable,
    *,
    prob: bool = False,
    unseen: Unseen = "error",
    unknown: Sequence[Hashable] = (),
    prior: ClassPrior | None = None,
    costs: pd.DataFrame | None = None,
    points: bool = False,
    joint: bool = False,
    greedy: bool = False,
    at_least: Hashable = None,
    interval: float | None = None,
    draws: int = 1000,
    rng: Seed = None,
) -> pd.Series[Any] | pd.DataFrame:
    """Predict the class of each row, or its posterior probabilities.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    newdata : DataFrame, Dataset, Series, dict, list of dict or Dask DataFrame
        Rows with a column for each feature of `x`. A Series or dict is one row;
        features that it omits are unknown. None, NaN and pandas.NA are missing.
    prob : bool, default False
        If True, return one probability per class, in place of the most probable
        class.
    unseen : {"error", "missing"}, default "error"
        What to do with a value that did not occur in training. The default
        raises an error, which shows mistakes early; "missing" treats the value
        as missing, as a service needs. A column of another type, such as the
        text "1.0" for the number 1, is an error in any case. A warning names
        the columns in which more than a tenth of the known values did not
        occur, or some of them read like a level, as "Nurse" like "nurse".
    unknown : sequence of str, optional
        Features that are unknown in all rows, so that `newdata` needs no column
        for them. Unknown values are not evidence. Missing values are evidence
        if they were in training.
    prior : dict or pandas.Series, optional
        Probability of each class in the population of `newdata`. Give it if the
        classes are more or less frequent there than in training; by default,
        they are as frequent.
    costs : pandas.DataFrame, optional
        Costs of decisions, ``costs.loc[actual, decision]``. The result is then
        the decision with the lowest expected cost. Decisions are classes or
        other labels, such as "refer". By default, all errors cost the same.
    points : bool, default False
        If True, return the total points of each row, for a `Scorecard`; with
        ``prob=True``, a column ``points`` before those of the probabilities.
    joint : bool, default False
        With several class variables: if True, predict the most probable
        combination of labels; if False, the most probable label of each.
    greedy : bool, default False
        For a `chain`: if True, predict the class variables in order, each given
        the labels that were predicted before. This is faster with many class
        variables.
    at_least : label, optional
        With ``prob=True``, return the probability of this class or a higher
        one. The class must have been an ordered categorical in training, or
        have numbers as labels.
    interval : float, optional
        With ``prob=True``, return an interval for each probability, which
        contains it with this probability, such as 0.9. The tables must be
        estimated with ``smooth``, ``ess`` or ``m`` above 0 (a credible
        interval), or the model be a sum of effects that ``bnc(...,
        interval=True)`` fitted (the normal approximation of its posterior).
    draws : int, default 1000
        Number of draws of the tables for a credible interval. More draws give
        more exact ends.
    rng : int or numpy.random.Generator, optional
        Seed of the draws.

    Returns
    -------
    pandas.Series
        Categorical labels with the index of `newdata`. Ties go to the first
        class. With `costs`, the categories are the decisions, unless all
        decisions are classes. With ``points=True``, whole numbers; with
        `at_least`, probabilities.
    pandas.DataFrame
        With ``prob=True``, one column per class. A row that is impossible under
        every class has equal probabilities. With `interval`, a second level of
        the columns has lower, estimate and upper. With several class variables,
        one column per class variable, or per class variable and label; with
        ``joint=True`` and ``prob=True``, the labels and a column
        ``probability``.
    frame of another library
        The same in the library of `newdata`: lazy for Dask, and Arrow for rows
        of a database.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a value did not occur in training and `unseen` is "error", a number
        is infinite, a column of a DataFrame is missing, or the model has no
        intervals.

    Warns
    -----
    UserWarning
        If more than a tenth of the known values of a column did not occur in
        training, or are numbers that lie outside the range of training by more
        than its width, as in another unit; or if values read like a level.

    Notes
    -----
    Networks, averages of networks and models of several class variables
    marginalize over missing and unknown features exactly. A model with
    leave-one-out weights mixes in a second model that does. In a sum of
    effects, an unknown effect has its mean and variance given the known
    effects, from the training rows. With all features unknown, a sum returns
    the class proportions. `ande` skips missing features.

    With the new prior Q and the probabilities P of the model, Q(c | row) ∝
    P(c | row) · Q(c) / P(c) [2]_. The expected cost of decision d is Σ_c P(c |
    row) costs(c, d) [1]_. Intervals assume that the structure is correct. The
    page :doc:`Formulas </methods>` has the details.

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning.
       IJCAI 2001.
    .. [2] Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the
       outputs of a classifier to new a priori probabilities: a simple
       procedure. Neural Computation 14.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from bnclassify import load_car, lp, nb, predict
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> predict(model, car.tail(2), prob=True).round(3)
    class  unacc    acc   good  vgood
    1726   0.217  0.316  0.452  0.014
    1727   0.093  0.198  0.194  0.514

    >>> names = ["unacc", "acc", "good", "vgood"]
    >>> refer = pd.DataFrame(1 - np.eye(4), names, names).assign(refer=0.3)
    >>> predict(model, car.iloc[[0, -2, -1]], costs=refer).tolist()
    ['unacc', 'refer', 'refer']
    """
    model = check_fitted(x)
    for name, flag in {"prob": prob, "points": points, "joint": joint, "greedy": greedy}.items():
        Flag().check(name, flag)
    check_unseen(unseen)
    unknown = Names().check("unknown", unknown)
    if not isinstance(model, SeveralClasses):
        if joint or greedy:
            raise TypeError(
                f"{'joint' if joint else 'greedy'} must be False for a model of one class "
                "variable. mbc, maode and chain learn models of several."
            )
        if prob and costs is not None:
            raise ValueError("costs must be None if prob is True. Costs change only labels.")
    if points:
        no_rows = Rows(np.zeros((len(model.features), 0), dtype=np.int8))
        if not model.points_gained_and_lost(no_rows, ()):
            raise TypeError(
                f"points must be False unless x is a scorecard; got {model.type_in_words}. Make "
                "one with scorecard(x)."
            )
        excluded = {"costs": costs, "interval": interval} | ({} if prob else {"prior": prior})
        given = [name for name, value in excluded.items() if value is not None]
        if given:
            raise ValueError(
                must_be("points", f"False with {listed(given)}", True, "Call predict twice.")
            )
        if prob and "points" in model.known_levels[-1]:
            raise ValueError(
                "points must be False if 'points' is a class, because it is the name of a column "
                "of the result. Rename the class."
            )
    if at_least is not None:
        if not prob:
            raise ValueError(
                must_be("at_least", "None unless prob is True", at_least, "Pass prob=True.")
            )
        if points or interval is not None:
            raise ValueError(must_be("at_least", "None with points or interval", at_least))
        if len(model.targets) > 1:
            raise TypeError(
                f"at_least must be None for a model of several class variables; got "
                f"{shown(at_least)}."
            )
        OneOf(model.known_levels[-1]).check("at_least", at_least)
        check_ordered(model, "at_least")
    seed = 0
    if check_interval(interval) is not None:
        if not prob or joint:
            raise ValueError("interval must be None unless prob is True and joint is False.")
        seed, draws = int(check_rng(rng).integers(2**63)), check_draws(draws)
    predict_rows = _Prediction(
        model, prob, unseen, unknown, prior, costs, points, joint, greedy, at_least, interval,
        draws, seed,
    )  # fmt: skip
    frame = dask_frame_of(newdata)
    if frame is None:
        rows: Any = open_rows(newdata)
        answer: pd.Series[Any] | pd.DataFrame = in_library_of(newdata, predict_rows(rows))
    else:
        columns = list(frame.columns)
        check_columns([name for name in model.features if name not in unknown], columns, "newdata")
        needed = frame[[name for name in model.features if name in columns]]
        answer = needed.map_partitions(predict_rows, meta=predict_rows(needed._meta.iloc[:0]))
    return answer


@dataclass(frozen=True)
class _Prediction:
    """Predicts rows in memory by the arguments of `predict`; it can be pickled for workers."""

    model: Model
    prob: bool
    unseen: str
    unknown: Sequence[Hashable]
    prior: ClassPrior | None
    costs: pd.DataFrame | None
    points: bool
    joint: bool
    greedy: bool
    at_least: Hashable
    interval: float | None
    draws: int
    seed: int

    def __call__(self, newdata: NewData) -> pd.Series[Any] | pd.DataFrame:
        found: pd.DataFrame
        x = self.model
        reading: dict[str, Any] = {"unseen": self.unseen, "unknown": self.unknown}
        if isinstance(x, SeveralClasses):
            reading |= {"prior": self.prior, "costs": self.costs}
            found = x.predict(newdata, self.prob, **reading, joint=self.joint, greedy=self.greedy)
        elif not self.prob:
            return self._points_of_rows(newdata) if self.points else self._labels_of_rows(newdata)
        else:
            logs, index = unnormalized_log_posteriors(x, newdata, **reading, prior=self.prior)
            found = Labelling(x.known_levels[-1], x.class_var, index).posterior_frame(logs)
        if self.points:
            found.insert(0, "points", self._points_of_rows(newdata).to_numpy())
        if self.at_least is not None:
            first = x.known_levels[-1].index(self.at_least)
            total = found.iloc[:, first:].sum(axis=1).clip(upper=1.0)
            return total.rename(f"{x.class_var} >= {found.columns[first]}")
        if self.interval is None:
            return found
        return with_interval_columns(found, self._bounds_of_posteriors(newdata, found.to_numpy()))

    def _rows_and_index(self, newdata: NewData) -> tuple[Rows, pd.Index[Any]]:
        x = self.model
        data = encode_for_model(x, newdata, x.features, unknown=self.unknown)
        return x.rows_to_score(data, self.unseen), data.index

    def _labels_of_rows(self, newdata: NewData) -> pd.Series[Any]:
        """Return the most probable classes or the decisions of least cost, block by block."""
        x, names = self.model, self.model.known_levels[-1]
        table, decisions = (None, names) if self.costs is None else check_costs(self.costs, names)
        reweigh = _replacer_of_class_prior(x, self.prior)
        rows, index = self._rows_and_index(newdata)
        best = np.empty(len(rows), dtype=code_type(max(len(names), len(decisions))))
        for block in slices(len(rows), most=_BLOCK_ROWS):
            logs = reweigh(scores_at(x.score, rows.subset(block)))
            best[block] = first_best(logs) if table is None else least_costly(logs, table)
        # Labels keep all classes as their categories.
        if table is not None and set(decisions) <= set(names):
            best = np.array([names.index(decision) for decision in decisions])[best]
            decisions = names
        return Labelling(decisions, x.class_var, index).labels_of_codes(best)

    def _points_of_rows(self, newdata: NewData) -> pd.Series[Any]:
        rows, index = self._rows_and_index(newdata)
        points = self.model.points_gained_and_lost(rows, range(len(rows.codes)))["points"]
        return pd.Series(points.sum(axis=1), index, name="points")

    def _bounds_of_posteriors(self, newdata: NewData, estimate: Array) -> Array:
        """Return interval ends, (2, rows, columns), by the same draws in all blocks of rows."""
        x, prior, interval = self.model, self.prior, self.interval or 0.0
        kept: tuple[Model, ...] = x.learned.get("draws", ())  # of the effects of a sum
        rows, _ = self._rows_and_index(newdata)
        if kept:
            if prior is None and x.class_proportions is not None:
                prior = dict(zip(x.known_levels[-1], x.class_proportions.shares, strict=True))
            drawn, read_as = [], (x.features, x.levels, x.discretizer.cuts)
            for own in kept:
                of_draw = rows
                if read_as != (own.features, own.levels, own.discretizer.cuts):  # as of cards
                    of_draw, _ = replace(self, model=own)._rows_and_index(newdata)
                drawn.append(_posteriors_of_targets(own, of_draw, prior))
            return bounds_of_draws(estimate, np.stack(drawn), interval)
        bounds = np.empty((2, *estimate.shape))
        for block in slices(len(estimate), self.draws * estimate.shape[1], MOST_DRAWN):
            posteriors = partial(_posteriors_of_targets, rows=rows.subset(block), prior=prior)
            bounds[:, block] = bounds_from_posterior_draws(
                x, posteriors, interval, self.draws, self.seed
            )
        return bounds


def bounds_of_draws(estimate: Array, draws: Array, interval: float) -> Array:
    """Return interval ends of probabilities, (2, …), from those of draws, (draws, …).

    The log odds of draws are normal with the mean of the estimate, so that with
    their standard deviation s in G draws the ends are L ± t s, with the quantile
    t of Student's distribution with G − 1 degrees of freedom.
    """
    least, most = np.finfo(np.float64).tiny, 1 - _ROUNDING
    odds = np.asarray(special.logit(np.clip(draws, least, most)))
    estimated = np.asarray(special.logit(np.clip(estimate, least, most)))
    width: Array = special.stdtrit(len(draws) - 1, (1 + interval) / 2) * odds.std(axis=0, ddof=1)
    low, high = special.expit(estimated - width), special.expit(estimated + width)
    return np.stack([np.minimum(low, estimate), np.maximum(high, estimate)])


def _posteriors_of_targets(x: Model, rows: Rows, prior: ClassPrior | None) -> Array:
    marginals = map(_replacer_of_class_prior(x, prior), x.log_marginals(rows))
    return np.hstack([np.exp(log_normalize(logs)) for logs in marginals])


def unnormalized_log_posteriors(
    x: Model,
    newdata: NewData,
    *,
    unseen: str = "error",
    unknown: Sequence[Hashable] = (),
    prior: ClassPrior | None = None,
) -> tuple[Array, pd.Index[Any]]:
    """Return logs that, normalized, are posteriors, (rows, classes), and the index of the rows."""
    reweigh = _replacer_of_class_prior(x, prior)
    data = encode_for_model(x, newdata, x.features, unknown=unknown)
    check_size_of_scores(len(data), len(x.known_levels[-1]))
    return reweigh(scores_at(x.score, x.rows_to_score(data, unseen))), data.index


def _replacer_of_class_prior(x: Model, prior: ClassPrior | None) -> Callable[[Array], Array]:
    """Return a function of log joints that replaces the learned P(class) by a prior, if given."""
    if prior is None:
        return lambda logs: logs
    names = x.known_levels[-1]
    shares = check_class_prior(prior, names)
    ratio = log_prior_ratio(x.class_prior(), shares, names)

    def by_rule_of_bayes(logs: Array) -> Array:
        logs = logs + ratio
        is_impossible: Mask = np.less_equal(logs.max(axis=1), -np.inf)
        logs[is_impossible] = log((shares > 0).astype(np.float64))  # equal probabilities
        return logs

    return by_rule_of_bayes
