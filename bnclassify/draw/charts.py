"""Charts by matplotlib.

Those of models show evidence, importance, weights, effects, nomograms, tables
and strengths of arcs; those of results show searches, folds, confusion
matrices, calibration and ranks.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..accessors import (
    check_fitted,
    check_has_rows,
    check_interval,
    check_model,
    check_single_fitted_graph,
    classes,
    cpt,
    encode_for_model,
    families,
    read_for_model,
    values,
)
from ..additive.effect_table import EffectTable
from ..additive.effects import rows_and_effects_of_pair
from ..additive.scorecard import Scorecard
from ..classifiers import BNC, Family
from ..counts import contingency_table
from ..dataset import MISSING, Dataset, Levels, Schema, as_floats, codes_by_levels
from ..explanations.explain import explain_row, read_one_row, rivals_in_words, value_in_words
from ..frames import AnyTable, Row
from ..judge.agreement import check_posteriors, ends_of_bins
from ..judge.compare import (
    RankComparison,
    corrected_error,
    ratio_of_test_to_training_rows,
    t_half_width,
)
from ..judge.structures import check_strength, chosen_threshold
from ..metrics import METRICS, bin_means, bin_sums, calibration_error
from ..model import Model
from ..prediction import Effect, effect_on_log_odds, target_position, weigh_evidence
from ..questions.learned import feature_weights, manb_arc_posterior, search_steps
from ..scores import Rows
from ..tools import special
from ..tools.arrays import TOLERANCE, Array, ArrayOf, Mask, Positions, Slice, T, first_best
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, OneOf, Optional, Unseen, Whole, must_be
from ..tools.messages import listed, shown
from ..validation import recorded_scheme, values_of_metric
from .canvas import (
    BLUE,
    GREY,
    HATCHED,
    LINE,
    LINES,
    ORANGE,
    PALE,
    Axes,
    add_title_and_legend,
    column_labels,
    draw_cells,
    filled_rectangle,
    horizontal_axes,
    in_chart_style,
    ink,
    label_in_lines,
    letters_per_line,
    max_lines,
    prepare_axes,
    probability_text,
    rows_in_words,
    signed_weight,
    text_width,
    write_beside,
)

_BEYOND = 1.25  # ratio of infinite bars to the longest finite one
_MOST_PAIRS = 25
_TOP = Optional(Whole(least=1))

Strength: TypeAlias = tuple[Hashable, Hashable, float, float]
"""A row of `arc_strength`: from, to, strength and direction."""


@in_chart_style
def plot_explanation(
    x: Model,
    row: AnyTable | Row,
    *,
    target: Hashable | None = None,
    against: Any = None,
    unseen: Unseen = "error",
    interactions: bool = False,
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw what each feature of a row adds to the log odds of a class.

    The longest bar is first.

    Parameters
    ----------
    x : Model
        A model of any type with parameters.
    row, target, against, unseen, interactions
        As in `explain`.
    top : int, optional
        Maximum number of bars; an additional bar shows the sum of the others.
        None draws all.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        As `explain`.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_explanation, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> ax = plot_explanation(model, car.iloc[1727])
    """
    _TOP.check("top", top)
    x = check_model(x)
    explanation = explain_row(x, row, target, against, unseen, interactions)
    known = {
        v: value
        for v, value in explanation.row_values.items()
        if explanation.unknown.isdisjoint((v, *v) if isinstance(v, tuple) else (v,))
    }
    bars = [(value_in_words(v, value), explanation.log_odds[v]) for v, value in known.items()]
    bars[0] = "start" if x.no_joint else f"prior of {explanation.target}", bars[0][1]
    total = sum(explanation.log_odds.values())
    bars.sort(key=lambda bar: -abs(bar[1]))
    if top is not None and len(bars) > top + 1:
        bars = [*bars[:top], (f"the {len(bars) - top} others", sum(w for _, w in bars[top:]))]
    bars.append(("sum", total))
    weights = [weight for _, weight in bars]
    axes = _draw_bars(ax, [label for label, _ in bars], weights, [*map(signed_weight, weights)])
    axes.patches[-1].set_facecolor(GREY)
    chosen, rival = explanation.target, explanation.rival
    odds = f"log odds of {chosen} against {rival}: {signed_weight(total)}"
    names = {
        f"evidence for {chosen}": filled_rectangle(BLUE),
        f"evidence for {rival}": filled_rectangle(ORANGE),
    }
    title = (
        f"{x.class_var} = {chosen}: probability {probability_text(explanation.probability)}\n{odds}"
    )
    below = f"log odds: pushes towards {rival}\xa0← →\xa0{chosen}"  # arrows stay beside the labels
    add_title_and_legend(axes, ax, title, below, names)
    return axes


@in_chart_style
def plot_importance(
    x: Model,
    dataset: AnyTable,
    *,
    target: Hashable | None = None,
    against: Any = None,
    unseen: Unseen = "error",
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean absolute weight of evidence of each feature.

    The longest bar is first.

    Parameters
    ----------
    x : Model
        A model of any type with parameters.
    dataset : pandas.DataFrame or Dataset
        Rows to explain, weighted if a Dataset has weights. The class may be
        missing.
    target, against, unseen
        As in `explain`. By default, the last of two classes is explained. With
        more classes, the predicted class of each row is explained, against the
        second most probable class.
    top : int, optional
        Maximum number of features. None draws all.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        As `explain`, or if `dataset` has no rows.

    Notes
    -----
    It measures how much the model relies on the feature: if a feature is
    redundant given the features before it, its bar is short.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_importance, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> ax = plot_importance(model, car)
    """
    _TOP.check("top", top)
    data = encode_for_model(x := check_fitted(x), dataset, x.features, "dataset")
    check_has_rows(data, "dataset", " to explain")
    evidence = weigh_evidence(x, data, target, against, unseen, argument="dataset")
    sizes, means = np.abs(evidence.log_odds[:, 1:]), evidence.mean_contributions
    order, columns, quartiles = sizes.argsort(axis=0, kind="stable"), np.arange(sizes.shape[1]), []
    cumulative = evidence.weights[order].cumsum(axis=0)
    for share in (0.25, 0.75):  # values of rows; whole weights count as rows
        unit = max(0.0, float(np.rint(share * (float(evidence.weights.sum()) - 1))))
        at: Positions = np.less_equal(cumulative, unit).sum(axis=0)
        quartiles.append(sizes[order[at, columns], columns])
    spread = np.stack(quartiles)
    axes, more = _draw_largest_bars(
        ax, list(map(str, means)), np.array([*means.values()]), top, spread
    )
    labels, rivals = classes(x), np.asarray(evidence.rivals.any(axis=0))
    is_one, is_named = (given is not None or len(labels) == 2 for given in (target, against))
    target_name = labels[evidence.targets[0]] if is_one else "the predicted class"
    rival = rivals_in_words(labels, rivals) if is_named else "the second most probable class"
    n_rows = len(data) if data.n_positive_and_fractional[1] else round(data.size)
    title = f"Importance in {rows_in_words(n_rows)}\nfor {target_name} against {rival}"
    legend = {"mean": filled_rectangle(BLUE), "middle half of the rows": axes.collections[1]}
    add_title_and_legend(axes, ax, title, f"absolute weight of evidence (nats){more}", legend)
    return axes


@in_chart_style
def plot_weights(x: Model, *, top: int | None = 50, ax: Axes | None = None) -> Axes:
    """Draw the weight of each feature, or the posterior of its arc (MANB).

    Parameters
    ----------
    x : BNC or another model
        A model with weights or arc posteriors; see `feature_weights` and
        `manb_arc_posterior`. If the class has a weight, it also has a bar.
    top : int, optional
        Maximum number of features. None draws all.
    {ax, returns, raises}
    TypeError, ValueError
        If the model has no weights and no arc posteriors.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_weights
    >>> car = load_car()
    >>> ax = plot_weights(lp(nb("class", car), car, smooth=1, manb_prior=0.5))
    """
    _TOP.check("top", top)
    arcs = "arc_posteriors" in check_model(x).learned
    numbers = manb_arc_posterior(x) if arcs else feature_weights(x)
    quantity = f"posterior of the arc from {x.class_var}" if arcs else "weight"
    axes, more = _draw_largest_bars(
        ax, list(map(str, numbers.index)), np.asarray(numbers, dtype=float), top
    )
    add_title_and_legend(axes, ax, f"Features of {x.class_var}", f"{quantity}{more}")
    return axes


@in_chart_style
def plot_strength(
    strength: pd.DataFrame, *, threshold: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the strengths of arcs, and the threshold of inclusion.

    Parameters
    ----------
    strength : pandas.DataFrame
        A result of `arc_strength`.
    threshold : float, optional
        Threshold from 0 to 1. By default, the threshold of `strength`.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        One bar per pair of variables, the strongest first, in the more frequent
        direction. Bars above the threshold are blue. If there are many, only
        the 25 strongest below 1 are drawn, with a note.

    Raises
    ------
    TypeError
        If `strength` is not a result of `arc_strength`.

    Examples
    --------
    >>> from bnclassify import arc_strength, load_car, plot_strength, tan_cl
    >>> car = load_car()
    >>> ax = plot_strength(arc_strength(tan_cl("class", car), car, replicates=50, rng=0))
    """
    limit = chosen_threshold(check_strength(strength), threshold)
    position = {name: i for i, name in enumerate(list[Hashable](strength["from"].unique()))}
    rows = strength[strength["strength"] > 0].sort_values(
        "strength", ascending=False, kind="stable"
    )
    bars: list[tuple[str, float]] = []
    for tail, head, share, direction in list[Strength](rows.itertuples(index=False, name=None)):
        if position[tail] < position[head]:
            ends = (tail, head) if direction >= 0.5 else (head, tail)
            sign = "\N{EN DASH}" if direction == 0.5 else "→"
            bars.append((f"\xa0{sign} ".join(map(str, ends)), share))
    certain = [bar for bar in bars if bar[1] >= 1] if len(bars) > _MOST_PAIRS else []
    drawn = bars[len(certain) :][:_MOST_PAIRS]
    labels, shares = [label for label, _ in drawn], [share for _, share in drawn]
    axes = _draw_bars(ax, labels, shares, [probability_text(share) for share in shares])
    axes.set_xticks(np.linspace(0, 1, 5))
    for bar, share in zip(axes.patches, shares, strict=True):
        bar.set_facecolor(BLUE if share > limit else GREY)
    for text in axes.texts:  # which the threshold would cross
        text.set_bbox({"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 0.5})
    line = axes.axvline(limit, color=ink(), linewidth=1, linestyle="--", zorder=1.5)
    omitted = {"of strength 1": len(certain), "weaker": len(bars) - len(certain) - len(drawn)}
    notes = [f"\nomitted: {n:,} pair{'s' * (n > 1)} {which}" for which, n in omitted.items() if n]
    names = {
        "included": filled_rectangle(BLUE),
        "excluded": filled_rectangle(GREY),
        f"threshold {limit:.2f}": line,
    }
    add_title_and_legend(
        axes, ax, "Strength of arcs", f"strength (share of samples){''.join(notes)}", names
    )
    return axes


def _without_rounding(numbers: Sequence[float] | Array) -> Array:
    """Return numbers, and 0 for rounding errors, which would fill an axis if all are so small."""
    return np.where(np.abs(numbers) < TOLERANCE, 0.0, numbers)


def _draw_bars(
    ax: Axes | None,
    labels: Sequence[str],
    numbers: Sequence[float] | Array,
    texts: Sequence[str],
    ends: Sequence[float] | Array | None = None,
) -> Axes:
    """Draw bars, negative ones in orange, with texts at their ends or at other places."""
    sizes = _without_rounding(numbers)
    reach: float = np.abs(sizes[np.isfinite(sizes)]).max(initial=0.0) or 1.0
    lengths: Array = np.clip(sizes, -_BEYOND * reach, _BEYOND * reach)
    places = lengths
    if ends is not None:
        places = np.clip(_without_rounding(ends), lengths, 2 * _BEYOND * reach)
    axes = horizontal_axes(ax, labels)
    axes.barh(np.arange(len(sizes)), lengths, color=np.where(sizes < 0, ORANGE, BLUE), height=0.72)
    low, high = float(places.min(initial=0.0)), float(places.max(initial=0.0))
    margin = max(0.14, 7 / letters_per_line(axes)) * ((high - low) or 1.0)
    axes.set_xlim(low - margin * bool((sizes < 0).any()), high + margin * bool((sizes >= 0).any()))
    axes.axvline(0, color=GREY, linewidth=0.8)
    for i, text in enumerate(texts):
        away, side = (3, "left") if sizes[i] >= 0 else (-3, "right")
        write_beside(axes, text, (float(places[i]), i), (away, 0), ha=side, va="center")
    return axes


def _draw_largest_bars(
    ax: Axes | None,
    labels: Sequence[str],
    numbers: Array,
    top: int | None,
    spread: Array | None = None,
) -> tuple[Axes, str]:
    """Draw the largest numbers, with lines over ``spread``; return axes and a note on others."""
    order = np.argsort(-np.abs(numbers), kind="stable")
    ordered: list[float] = numbers[order].tolist()
    n = len(ordered)
    if top is not None:
        # 0.005: smaller numbers are written as 0.00
        n = min(top, sum(abs(number) >= 0.005 for number in ordered) or n)
    shown, texts = order[:n], [signed_weight(number).removeprefix("+") for number in ordered[:n]]
    ends = None if spread is None else spread[1, shown]
    axes = _draw_bars(ax, [labels[i] for i in shown], ordered[:n], texts, ends)
    if spread is not None:
        middle: Array = np.minimum(spread[:, shown], axes.get_xlim()[1])
        for color, width in ((axes.get_facecolor(), 3), (ink(), 1)):
            axes.hlines(np.arange(n), middle[0, :], middle[1, :], color=color, linewidth=width)
    more = len(ordered) - n
    return axes, f"; {more:,} more, at most {abs(ordered[n]):.2f}" if more else ""


_MOST_LEVELS = 300


@in_chart_style
def plot_effect(
    x: Model,
    feature: Hashable,
    *,
    target: Hashable | None = None,
    dataset: AnyTable | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the contribution of a feature to the log odds over its range.

    A feature that the model discretizes is drawn as a curve with steps and
    marks at its cut points, a number with a density as a smooth curve, and
    other features as bars. If the feature has feature parents, there is one
    line or bar for each of at most five levels of the first parent, or a single
    one if they are equal. A sum of effects that was fitted with
    ``interval=True`` has a band, its 90 % interval.

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters.
    feature : str or pair of str
        Feature of the model, or a pair that has effects in a sum of effects,
        which is drawn as a heat map.
    target : optional
        Class to explain. By default, the last of two classes. With more
        classes, one line or bar for each of the five most frequent classes,
        against all others; the legend has the number of the other classes.
    dataset : pandas.DataFrame or Dataset, optional
        Rows with values of the feature to draw as marks below the curve, or
        counted next to the levels.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        If the feature has more than 300 levels and is not discretized by the
        model.

    Notes
    -----
    The contribution is ln O(target | v, u) − ln O(target | u), where v is a
    level of the feature, u a level of its first parent, and O the odds against
    all other classes; all other features are missing.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_effect
    >>> car = load_car()
    >>> ax = plot_effect(lp(nb("class", car), car, smooth=1), "safety", target="acc")
    """
    x = check_model(x)
    if isinstance(feature, tuple) and feature not in x.features:
        return _draw_effects_of_pair(x, feature, target, ax)
    effect, cuts = effect_on_log_odds(x, feature, target), x.discretizer.cuts.get(feature, ())
    if not cuts and len(effect.levels) > _MOST_LEVELS:
        expected = f"a feature with at most {_MOST_LEVELS} levels"
        got = f"{len(effect.levels):,} levels. Merge rare levels with merge_rare"
        raise ValueError(f"feature must be {expected}; got {shown(feature)} with {got}.")
    data = None if dataset is None else read_for_model(x, dataset, [feature], "dataset")
    lines = _without_rounding(effect.log_odds)
    effect = replace(effect, log_odds=lines)
    is_alike = effect.parent is not None and np.allclose(lines, lines[:1], rtol=0, atol=1e-9)
    if is_alike and effect.target is not None:
        effect = replace(
            effect, parent=None, parent_levels=effect.parent_levels[:1], log_odds=lines[:1]
        )
    if cuts or effect.points is not None:
        ends = 0.0, 0.0
        if cuts:  # of training data, or of a margin around cut points, and of the data
            # 0.08: share of the range of the cut points, drawn on both sides
            margin = 0.08 * (cuts[-1] - cuts[0]) or abs(cuts[0]) * 0.08 or 1.0
            found = max(cuts[0] - margin, min(cuts[0], 0.0)), cuts[-1] + margin
            known = [*x.training_ranges.get(feature, found)]
            known += [] if data is None else as_floats(data.numbers[feature]).tolist()
            finite = np.array(known)[np.isfinite(known)]
            ends = float(finite.min()), float(finite.max())
        axes, names = _draw_curves(x, effect, cuts, ends, data, ax)
    else:
        axes, names = _draw_bars_of_levels(x, effect, data, ax)
    if effect.parent is not None:
        kind = "levels" if effect.target is not None else "classes"
        if more := len(x.written_levels(effect.parent)) - len(effect.parent_levels):
            names[f"{more:,} more {kind} are not drawn"] = axes.plot([], [], " ")[0]
    on = x.class_var if effect.target is None else f"{x.class_var} = {effect.target}"
    add_title_and_legend(axes, ax, f"Effect of {effect.feature} on {on}", names=names)
    return axes


def _draw_curves(
    x: Model,
    effect: Effect,
    cuts: tuple[float, ...],
    ends: tuple[float, float],
    data: Dataset | None,
    ax: Axes | None,
) -> tuple[Axes, dict[str, Any]]:
    """Draw a line per parent level, cut points on top and values below; return names."""
    axes = prepare_axes(ax, 2.4)
    axes.axhline(0, color=GREY, linewidth=0.8)
    names: dict[str, Any] = {}
    points, lines = effect.points, effect.log_odds
    if points is None:  # steps, from each cut point to the next
        points = np.repeat([ends[0], *cuts, ends[1]], 2)[1:-1]
        lines = np.repeat(lines[:, : len(cuts) + 1], 2, axis=1)
    band = _band_of_draws(x, effect, points) if effect.parent is None and len(lines) == 1 else None
    if band is not None:
        names["90 % interval"] = axes.fill_between(
            points, *band, color=BLUE, alpha=0.15, linewidth=0
        )
    for i, (color, dashes) in enumerate(LINES[: len(lines)]):
        (drawn,) = axes.plot(points, lines[i, :], color=color, linestyle=dashes, linewidth=1.6)
        names |= {_parent_in_words(effect, i): drawn} if effect.parent is not None else {}
    marks = {"cut points": (np.array(cuts), 0.98, GREY)} if cuts else {}
    if data is not None:
        values = np.sort(as_floats(data.numbers[effect.feature]))
        values = values[: np.count_nonzero(~np.isnan(values))]  # NaN come last
        # 500 values
        marks["values in the data"] = values[:: 1 + len(values) // 500], 0.02, ink()
    for name, (places, height, color) in marks.items():
        at: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        (names[name],) = axes.plot(
            places, np.full(len(places), height), "|", color=color, markersize=6, **at
        )
    axes.set_xlabel(label_in_lines(effect.feature))
    axes.set_ylabel(label_in_lines(_log_odds_label(effect).replace("←", "↓").replace("→", "↑"), 30))
    return axes, names


def _band_of_draws(x: Model, effect: Effect, points: Array) -> Array | None:
    """Return interval ends of a step function, (2, points), if draws of it are kept."""
    draws: tuple[Model, ...] = x.learned.get("draws", ())
    if (
        effect.points is not None
        or not draws
        or any(effect.feature not in one.features for one in draws)
    ):
        return None
    inside = (points[:-1] + points[1:]) / 2  # of each step; each step has two points
    inside = np.repeat(inside[::2], 2)
    lines = []
    for one in (x, *draws):
        odds: Array = effect_on_log_odds(one, effect.feature, effect.target).log_odds[0]
        lines.append(
            odds[np.searchsorted(one.discretizer.cuts.get(effect.feature, ()), inside, side="left")]
        )
    own, others = lines[0], np.array(lines[1:])
    width: Array = special.stdtrit(len(others) - 1, 0.95) * others.std(axis=0, ddof=1)
    return np.stack([own - width, own + width])


def _draw_bars_of_levels(
    x: Model, effect: Effect, data: Dataset | None, ax: Axes | None
) -> tuple[Axes, dict[str, Any]]:
    """Draw bars of levels, one per parent level, and count rows; return the names of bars."""
    labels = list(map(str, effect.levels))
    if data is not None:
        codes = codes_by_levels(
            encode_for_model(x, data, [effect.feature]), (effect.feature,), (effect.levels,)
        ).ravel()
        counts = np.bincount(codes + 1, minlength=len(labels) + 1)[1:]
        rows = map(rows_in_words, counts.tolist())
        labels = [f"{label} ({text})" for label, text in zip(labels, rows, strict=True)]
    n_lines = len(effect.parent_levels)
    axes = horizontal_axes(ax, labels, height=0.2 + 0.08 * n_lines)
    height, names = 0.72 / n_lines, dict[str, Any]()
    for i in range(n_lines):
        middle = np.arange(len(labels)) + (i - (n_lines - 1) / 2) * height
        bars = axes.barh(middle, effect.log_odds[i, :], height=height, color=LINES[i][0])
        names |= {_parent_in_words(effect, i): bars} if effect.parent is not None else {}
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel(label_in_lines(_log_odds_label(effect), 48))
    axes.set_ylabel(label_in_lines(effect.feature))
    return axes, names


def _log_odds_label(effect: Effect) -> str:
    if effect.target is None:
        return "adds to the log odds of the class (nats)"
    return f"log odds: away from {effect.target}\xa0← →\xa0towards it"


def _parent_in_words(effect: Effect, i: int) -> str:
    return value_in_words(effect.parent, effect.parent_levels[i])


def _draw_effects_of_pair(
    x: Model, pair: Sequence[Hashable], target: Hashable | None, ax: Axes | None
) -> Axes:
    """Draw the effects of a pair of features beyond those of each, one cell per two values."""
    pairs = {tuple([x.features[i] for i in of.features]): of for of in x.pairs}
    chosen = tuple(pair)
    if {*pair} <= {*x.features}:
        chosen = tuple(sorted(pair, key=list(x.features).index))
    if not isinstance(x, EffectTable) or chosen not in pairs:
        found = f"the pairs are {listed(list(pairs))}" if pairs else "it has no pairs"
        raise KeyError(
            f"feature must be a pair with effects in the model; got {shown(pair)}, but {found}."
        )
    labels = x.known_levels[-1]
    c = target_position(labels, target)
    if c is None:
        raise ValueError(f"target must be one of {listed(labels)} to draw a pair; got None.")
    rows, logs = rows_and_effects_of_pair(x, pairs[chosen])
    down = [label_in_lines(value) for value in dict.fromkeys(row[1] for row in rows)]
    values = list(dict.fromkeys(row[3] for row in rows))
    across, cell, depth, is_vertical = column_labels(values, 0.6, len(values))
    # against the mean of the other classes
    log_odds: Array = logs[..., c] - np.delete(logs, c, axis=-1).mean(axis=-1)
    odds = log_odds.reshape(len(down), len(across))
    width = 1.0 + text_width(down) + cell * len(across)
    row = max(0.32, LINE * max_lines(down) + 0.1)
    axes = prepare_axes(ax, 0.86 + depth + row * len(down), max(width, 3.0))
    most = float(np.abs(odds).max()) or 1.0
    texts = list(map(signed_weight, odds.ravel())) if odds.size <= 200 else []
    draw_cells(axes, odds, [ORANGE, "white", BLUE], (-most, most), texts)
    axes.set_xticks(range(len(across)), across, rotation=90 if is_vertical else 0)
    axes.set_yticks(range(len(down)), down)
    axes.set_xlabel(label_in_lines(chosen[1]))
    axes.set_ylabel(label_in_lines(chosen[0]))
    title = f"Effect of {chosen[0]} and {chosen[1]} together on {x.class_var} = {labels[c]}"
    add_title_and_legend(axes, ax, title, "log odds beyond the effects of each")
    return axes


_SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 0.999)
_TICKS = 8  # of a scale of numbers, about
_NAME = 0.34  # share of the width that names take


class _NomogramScale(NamedTuple):
    """A line, from 0 to 1 if ``is_whole``, its places with labels, and that of the row, or None."""

    name: str
    places: list[float]
    labels: list[str]
    mark: float | None = None
    is_whole: bool = True


@in_chart_style
def plot_nomogram(
    card: Scorecard, *, row: AnyTable | Row | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a scorecard as a nomogram, with scales of points and probability.

    Parameters
    ----------
    card : Scorecard
        A result of `scorecard`.
    row : pandas.DataFrame, Series or dict, optional
        A row to mark on all scales.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        The first scale measures the points of the values below it. The last two
        translate the total into the probability. A feature with a parent has
        one scale per value of the parent. Missing values are not drawn; see
        ``card.points``.

    Raises
    ------
    TypeError
        If `card` is not a result of `scorecard`.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, plot_nomogram, scorecard
    >>> pima = load_pima()
    >>> card = scorecard(bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp"))
    >>> ax = plot_nomogram(card, row=pima.iloc[0])
    """
    from matplotlib.figure import Figure

    Instance(Scorecard, "a Scorecard", "Make one of a model with scorecard(model).").check(
        "card", card
    )
    shown_row = None if row is None else card.rows_to_score(read_one_row(card, row)[1])
    most = int(max([points.max() for points in card.feature_points], default=0)) or 1
    ticks = _round_ticks_between(0, most)
    scales = [_NomogramScale("points", [n / most for n in ticks], list(map(str, ticks)))]
    scales += _nomogram_scales_of_features(card, shown_row, most)
    totals = card.probabilities["total"].to_numpy(dtype=int)
    low, wide = int(totals.min()), float(np.ptp(totals)) or 1.0
    title, at = f"points for {card.class_var} = {card.target}", None
    if shown_row is not None:
        total = card.start + int(card.points_at_rows(shown_row).sum())
        chances: list[float] = card.probabilities["probability"].tolist()
        chance = probability_text(chances[int(np.searchsorted(totals, total))])
        title = f"{card.class_var} = {card.target}: total {total:,}, probability {chance}"
        at = (total - low) / wide
    ticks = _round_ticks_between(low, int(totals.max()))
    places = [(n - low) / wide for n in ticks]
    scales.append(_NomogramScale("total", places, list(map(str, ticks)), at))
    # log odds = intercept + unit · (total - start), solved for the total of each probability
    of_shares = (special.logit(_SHARES) - card.intercept) / card.unit + card.start
    inside = (low <= of_shares) & (of_shares <= low + wide)
    places = ((of_shares[inside] - low) / wide).tolist()
    texts = [f"{share:g}" for share in np.array(_SHARES)[inside].tolist()]
    scales.append(_NomogramScale(f"probability of {card.target}", places, texts, at))
    axes = prepare_axes(ax, 1.0, 6.2)
    axes.set_axis_off()
    axes.set_xlim(-_NAME / (1 - _NAME), 1.04)
    letter = (1.04 + _NAME / (1 - _NAME)) / max(letters_per_line(axes), 1)
    y = 0.0  # in inches, downwards
    for scale in scales:
        y = _draw_scale(axes, y, scale, letter)
    axes.set_ylim(y, 0)
    if ax is None and isinstance(axes.figure, Figure):
        axes.figure.set_figheight(0.4 + y)
    axes.set_title(title)
    return axes


def _nomogram_scales_of_features(
    x: Scorecard, shown_row: Rows | None, most: int
) -> list[_NomogramScale]:
    """Return a scale per feature and level of its parent, with a mark at the values of the row."""
    row_parents = dict[int, str]()  # of each feature with a parent, as in the column ``given``
    row_points: list[int] = []
    if shown_row is not None:
        row_points = x.points_at_rows(shown_row)[:, 0].tolist()
        for i, parent in enumerate(x.parent_of_each_feature):
            if parent is not None:
                name, code = x.features[parent], shown_row.codes[parent, 0]
                row_parents[i] = f"{name} = {(*x.written_levels(name), MISSING)[code]}"
    table = x.points_with_parent_names
    hidden = table["value"].eq(MISSING) | table["given"].astype(str).str.endswith(f" = {MISSING}")
    scales = []
    for (name, given), rows in table[~hidden].groupby(["variable", "given"], sort=False):
        i = x.features.index(name)
        texts = rows["value"].map(_short_interval).groupby(rows["points"]).agg("; ".join)
        texts = texts.map(partial(label_in_lines, width=22))
        is_marked = shown_row is not None and given == row_parents.get(i, "")
        mark = row_points[i] / most if is_marked else None
        title = f"{name} if {given}" if given else str(name)
        places: list[float] = (texts.index / most).tolist()
        scales.append(_NomogramScale(title, places, texts.tolist(), mark, is_whole=False))
    return scales


def _short_interval(value: object) -> str:
    """Write an interval with few letters.

    >>> [_short_interval(each) for each in ("(-inf, 72.5]", "(72.5, 99.5]", "(154.5, inf)", "high")]
    ['≤ 72.5', '72.5–99.5', '> 154.5', 'high']
    """
    found = re.fullmatch(r"\((\S+), (\S+)[\])]", str(value))
    if found is None:
        return str(value)
    low, high = found.groups()
    if low == "-inf":
        return f"≤ {high}"
    return f"> {low}" if high == "inf" else f"{low}\N{EN DASH}{high}"


def _round_ticks_between(low: int, high: int) -> list[int]:
    """Return whole numbers at even distances of 1, 2, 5, 10 …, from low to high.

    >>> _round_ticks_between(3, 20), _round_ticks_between(0, 100)
    ([5, 10, 15, 20], [0, 20, 40, 60, 80, 100])
    """
    steps = [digit * 10**k for k in range(12) for digit in (1, 2, 5)]
    step: int = next(step for step in steps if max(high - low, 1) <= _TICKS * step)
    return list(range(-(-low // step) * step, high + 1, step))


def _draw_scale(axes: Axes, top: float, scale: _NomogramScale, letter: float) -> float:
    """Draw a scale below a place, with labels that do not touch each other; return its end."""
    # Rows of labels are below the scale, above it, farther below and farther above. A label that
    # would touch others in all of them has none.
    ends = [-1.0] * 4
    placed: list[tuple[float, str, int | None]] = []
    for place, label in zip(scale.places, scale.labels, strict=True):
        wide = letter * (max(map(len, label.split("\n"))) + 1) / 2
        middle = min(max(place, wide - 0.06), max(1.04 - wide, wide - 0.06))  # beside the names
        row = next((row for row, end in enumerate(ends) if end <= middle - wide), None)
        if row is not None:
            ends[row] = middle + wide
        placed.append((middle, label, row))
    name = label_in_lines(scale.name, 28)
    used, line = {row for _, _, row in placed}, LINE * max_lines(scale.labels)
    half = LINE * max_lines([name]) / 2
    y = top + 0.1 + max(half, 0.05 + line * ((1 in used) + (3 in used)))
    end = y + 0.1 + max(half, 0.05 + line * ((0 in used) + (2 in used)))
    axes.text(-0.07, y, name, ha="right", va="center")
    places = [0.0, 1.0] if scale.is_whole else scale.places
    axes.plot([min(places, default=0), max(places, default=0)], [y, y], color=ink(), linewidth=0.8)
    for place in scale.places:
        axes.plot([place, place], [y - 0.05, y + 0.05], color=ink(), linewidth=0.8)
    for middle, label, row in placed:
        if row is not None:
            away, (sign, side) = 0.07 + line * (row // 2), ((1, "top"), (-1, "bottom"))[row % 2]
            axes.text(middle, y + sign * away, label, ha="center", va=side)
    if scale.mark is not None:
        axes.plot(scale.mark, y, "o", color=BLUE, markeredgecolor=ink(), markersize=6, zorder=3)
    return end


# Maximum number of rows or columns of a picture, and of its cells.
_LONGEST, _MOST_CELLS = (100, 1000)


@in_chart_style
def plot_cpt(
    x: Model,
    variable: Hashable,
    *,
    dataset: AnyTable | None = None,
    interval: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a conditional probability table as a heat map.

    If the variable has feature parents, the picture has one block per
    configuration of the parents. Each column of a block is a distribution.

    Parameters
    ----------
    x : BNC or another model of one network
        Fitted model.
    variable : str
        A feature or the class.
    dataset : pandas.DataFrame or Dataset, optional
        Training data. Columns are hatched if no row has their configuration of
        parents, so that their probabilities depend on the prior only.
    interval : float, optional
        Probability of a credible interval that is written below each
        probability, such as 0.9; see `cpt`.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        If the model is an ensemble (draw a network of ``members(x)``), or the
        picture would have more than 100 rows or columns or 1,000 cells.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_cpt, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, smooth=1)
    >>> ax = plot_cpt(model, "safety", dataset=car)
    """
    x = check_single_fitted_graph(x, "cpt")
    frame = cpt(x, variable)
    if not values(x)[variable]:
        raise TypeError(
            f"variable must have levels; got the number {shown(variable)}. Use plot_effect."
        )
    family = families(x)[variable]
    written, downs = tuple(map(x.written_levels, family)), range(max(len(family) - 2, 0), -1, -1)
    layouts = [_HeatMapLayout(family, written, down, interval is not None) for down in downs]
    # the shortest longer side, and then the fewest blocks side by side
    layout = min(layouts, key=lambda layout: max(layout.size_in_inches))
    shares = layout.arranged_cells(frame.to_numpy())
    rows, columns = shares.shape
    if max(rows, columns) > _LONGEST or shares.size > _MOST_CELLS:
        expected = (
            f"a variable whose table has at most {_LONGEST} rows and columns and "
            f"{_MOST_CELLS:,} cells"
        )
        got = f"{shown(variable)} with {rows:,} rows and {columns:,} columns. Use cpt(x, variable)"
        raise ValueError(f"variable must be {expected}; got {got}.")
    width, height = layout.size_in_inches
    axes = prepare_axes(ax, height, width)
    unseen = np.zeros(shares.shape, dtype=bool)
    if dataset is not None:
        data = encode_for_model(x, dataset, layout.family, "dataset")
        levels = tuple([values(x)[member] for member in layout.family])
        family_data = Dataset(
            Schema(layout.family, levels), codes_by_levels(data, layout.family, levels), data.index
        )
        counts: Array = contingency_table(family_data, range(len(layout.family)))
        absent: Mask = counts.sum(axis=0) == 0
        unseen = layout.arranged_cells(np.broadcast_to(absent, counts.shape))
    texts = list(map(probability_text, shares.ravel()))
    if interval is not None:
        bounded = cpt(x, variable, interval=interval)
        lower, upper = (bounded.xs(name, axis=1, level=-1) for name in ("lower", "upper"))
        lows = layout.arranged_cells(lower.to_numpy()).ravel()
        highs = layout.arranged_cells(upper.to_numpy()).ravel()
        for cell, (low, high) in enumerate(zip(lows, highs, strict=True)):
            texts[cell] += f"\n{low:.2f} to {high:.2f}"
    draw_cells(axes, shares, ["white", BLUE], (0, 1), texts, unseen)
    layout.write_labels(axes)
    across = f"; columns: {family[-1]}" if len(family) > 1 else ""
    add_title_and_legend(axes, ax, layout.title, f"rows: {variable}{across}")
    axes.xaxis.set_label_position("top")
    if unseen.any():
        below: dict[str, Any] = {"loc": "upper right", "bbox_to_anchor": (1, 0)}
        hatched = [filled_rectangle("white", **HATCHED)]
        axes.legend(hatched, ["no row has these parents' values"], handlelength=1.4, **below)
    return axes


@dataclass(frozen=True)
class _HeatMapLayout:
    """The last parent forms a block's columns; blocks of `down` other parents are stacked."""

    family: Family
    levels: Levels
    down: int
    bounded: bool = False

    def arranged_cells(self, table: ArrayOf[T]) -> ArrayOf[T]:
        """Return a table, whose first axis is the variable, as rows and columns of a picture."""
        shaped = table.reshape([len(labels) for labels in self.levels])
        moved = np.moveaxis(shaped, 0, self.down)
        return moved.reshape(prod(moved.shape[: self.down + 1]), -1)

    @property
    def columns(self) -> tuple[list[str], float, float, bool]:
        """The labels of columns of a block, the width of a cell, their height, if vertical."""
        labels = self.levels[-1] if len(self.family) > 1 else [""]
        blocks = prod(map(len, self.levels[1 + self.down : -1]))
        return column_labels(labels, 0.95 if self.bounded else 0.5, len(labels) * blocks)

    @property
    def block_titles(self) -> tuple[list[str], list[str]]:
        """The configurations of parents of vertically and of horizontally arranged blocks."""
        vertical, horizontal = slice(1, 1 + self.down), slice(1 + self.down, -1)
        titles = self._configurations_in_words(vertical, 36)
        return titles, self._configurations_in_words(horizontal, 24)

    def _configurations_in_words(self, members: Slice, width: int) -> list[str]:
        names, configurations = self.family[members], product(*self.levels[members])
        texts = [", ".join(map(value_in_words, names, labels)) for labels in configurations]
        return [label_in_lines(text, width) for text in texts]

    @property
    def title(self) -> str:
        """The notation of the distribution."""
        condition = f" | {', '.join(map(str, self.family[1:]))}" if len(self.family) > 1 else ""
        return f"P({self.family[0]}{condition})"

    @property
    def size_in_inches(self) -> tuple[float, float]:
        """The width and height of the picture in inches."""
        rows = list(map(label_in_lines, self.levels[0]))
        row_blocks, column_blocks = self.block_titles
        columns, cell, depth, _ = self.columns
        block = max(len(columns) * cell, text_width(column_blocks) + 0.1)
        table = len(column_blocks) * block + text_width(row_blocks)
        lines = 1 + (max_lines(column_blocks) if len(column_blocks) > 1 else 0)
        least = 0.38 if self.bounded else 0.24
        cells = max(least, LINE * max_lines(rows) + 0.06) * len(rows)
        row = max(cells, LINE * max_lines(row_blocks) + 0.1) * len(row_blocks)
        title = min(0.6 * text_width([self.title]), 6.0)
        width = 0.6 + text_width(rows) + max(title, table)
        return max(width, 2.5), 0.4 + LINE * lines + depth + row

    def write_labels(self, axes: Axes) -> None:
        """Write the labels of rows, columns and blocks, and draw lines between blocks."""
        rows = list(map(label_in_lines, self.levels[0]))
        row_blocks, column_blocks = self.block_titles
        columns, _, depth, is_vertical = self.columns
        width = len(columns) * len(column_blocks)
        turned = 90 if is_vertical else 0
        axes.set_xticks(range(width), columns * len(column_blocks), rotation=turned)
        axes.set_yticks(range(len(rows) * len(row_blocks)), rows * len(row_blocks))
        axes.xaxis.tick_top()
        if len(column_blocks) > 1:
            axes.xaxis.remove_overlapping_locs = False
            middles = [(i + 0.5) * len(columns) - 0.5 for i in range(len(column_blocks))]
            axes.set_xticks(middles, column_blocks, minor=True)
            axes.tick_params(axis="x", which="minor", pad=5 + 72 * depth)
        if len(row_blocks) > 1:
            axes.yaxis.remove_overlapping_locs = False
            axes.set_yticks(
                [(i + 0.5) * len(rows) - 0.5 for i in range(len(row_blocks))],
                row_blocks,
                minor=True,
            )
            axes.tick_params(axis="y", which="minor", pad=8 + 72 * text_width(rows))
        for i in range(1, len(row_blocks)):
            axes.axhline(i * len(rows) - 0.5, color="white", linewidth=4)
        for j in range(1, len(column_blocks)):
            axes.axvline(j * len(columns) - 0.5, color="white", linewidth=6)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)


_MOST_FIGURES = 30  # classes
_LEAST = 1e-300  # divisor in place of 0
_NORMAL_95 = 1.959963984540054


@in_chart_style
def plot_scores(x: BNC, *, ax: Axes | None = None) -> Axes:
    """Draw the score of a greedy search after each step, from top to bottom.

    Parameters
    ----------
    x : BNC
        A structure found by greedy search; see `search_steps`.
    {ax, returns, raises}
    TypeError, ValueError
        If the structure was not found by greedy search.

    Examples
    --------
    >>> from bnclassify import load_car, plot_scores, tan_hc
    >>> ax = plot_scores(tan_hc("class", load_car(), k=5, smooth=1, rng=0))
    """
    steps = search_steps(x)
    if "metric" not in x.trace:
        raise ValueError(
            "x must be found by greedy search, as by fssj, bsej, tan_hc, tan_hcsp or kdb."
        )
    scores, metric = list[float](steps.attrs["scores"]), METRICS[str(x.trace["metric"])]
    made = steps[["operation", "from", "to"]].itertuples(index=False, name=None)
    labels = ["initial structure"]
    for operation, tail, head in made:  # an arc, a feature added or removed, or joined groups
        if operation == "arc":
            labels.append(f"+ {tail} → {head}")
        elif isinstance(tail, tuple) and isinstance(head, tuple):
            labels.append(f"join {', '.join(map(str, (*tail, *head)))}")
        else:
            labels.append(f"{operation} {head if tail is None else tail}")
    axes = horizontal_axes(ax, labels)
    axes.plot(scores, range(len(scores)), color=BLUE, marker="o", markersize=4)
    write_beside(axes, f"{scores[0]:.3f}", (scores[0], 0), (0, 4), ha="center")
    if len(scores) > 1:
        write_beside(axes, f"{scores[-1]:.3f}", (scores[-1], len(scores) - 1), (6, 0), va="center")
    axes.margins(x=0.15)
    below = f"cross-validated {metric.name}{', negative' if metric.is_loss else ''}"
    add_title_and_legend(
        axes, ax, f"Search by {x.recipe.structure.name}" if x.recipe else "Search", below
    )
    return axes


@in_chart_style
@with_call_advice("Cross-validate the models first: plot_cv(cv(models, dataset, mean=False)).")
def plot_cv(
    results: pd.DataFrame,
    *,
    metric: str | None = None,
    interval: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the performance of models in each fold, with their means.

    Lines mark the means of the models and that of the majority class.

    Parameters
    ----------
    results : pandas.DataFrame
        A result of ``cv(..., mean=False)``, with one row per fold and one
        column per model.
    metric : str, optional
        Metric to draw; required if `results` has several.
    interval : float, optional
        Probability of a confidence interval of each mean, such as 0.95, by the
        corrected standard error of `compare`. Requires results of `cv`.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        One line per model with one mark per fold. If `results` are of `cv`, a
        dashed line marks the value of the majority class alone.

    Raises
    ------
    TypeError
        If `results` is not a result of `cv` with ``mean=False``.

    Examples
    --------
    >>> from bnclassify import cv, load_car, lp, nb, plot_cv, tan_cl
    >>> car = load_car()
    >>> models = {"nb": lp(nb("class", car), car, smooth=1),
    ...           "tan": lp(tan_cl("class", car), car, smooth=1)}
    >>> ax = plot_cv(cv(models, car, k=5, rng=0, mean=False))
    """
    Instance(pd.DataFrame, "a result of cv(..., mean=False)").check("results", results)
    scheme = recorded_scheme(results)
    figures, name_of = values_of_metric(results, metric, scheme)
    if figures.empty or not all(map(pd.api.types.is_numeric_dtype, figures.dtypes)):
        raise TypeError(
            must_be("results", "numbers with one row per fold and one column per model", results)
        )
    means: list[float] = figures.mean().to_list()
    axes = horizontal_axes(ax, list(map(str, figures.columns)), height=0.5)
    places = np.arange(len(means))
    for model, column in enumerate(figures.to_numpy().T):
        (folds,) = axes.plot(
            column, np.full(len(column), model), "|", color=GREY, markersize=9, alpha=0.8
        )
    marks: dict[str, Any] = {"fold": folds}
    (marks["mean"],) = axes.plot(means, places, "D", color=ORANGE, markersize=4)
    for model, mean in enumerate(means):
        write_beside(axes, f"{mean:.3f}", (mean, model), (0, 6), ha="center", color=ORANGE)
    level = check_interval(interval)
    if level is not None:
        if scheme is None:
            expected = "None for results of other programs, which lack the numbers of rows of folds"
            remedy = "Use compare(results, train_size=..., test_size=...)."
            raise ValueError(must_be("interval", expected, interval, remedy))
        ratio = ratio_of_test_to_training_rows(len(figures), scheme, None, None)
        reach = t_half_width(len(figures) - 1, level)
        errors = [reach * corrected_error(column, ratio) for column in figures.to_numpy().T]
        name = f"{100 * level:g} % interval of the mean"
        marks[name] = axes.errorbar(
            means, places, xerr=errors, fmt="none", ecolor=ORANGE, capsize=3
        )
    baseline = scheme.baselines.get(str(name_of)) if scheme else None
    if baseline is not None:
        marks["majority class"] = axes.axvline(
            baseline, color=BLUE, linewidth=1, linestyle="--", zorder=0
        )
    loss = ", lower is better" if name_of in METRICS and METRICS[str(name_of)].is_loss else ""
    below = f"{str(name_of or 'figure').replace('_', ' ')} in the fold{loss}"
    add_title_and_legend(
        axes, ax, f"Cross-validation, {scheme or f'{len(figures)} folds'}", below, marks
    )
    return axes


@in_chart_style
@with_call_advice("Count first: plot_confusion(confusion(predicted, actual)).")
def plot_confusion(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix: actual classes by predicted classes.

    Parameters
    ----------
    counts : pandas.DataFrame
        A result of `confusion`.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        Each cell contains its count and its share of the row, and is darker if
        the share is larger. With more than 30 classes, cells have no numbers,
        and some of the classes have a label.

    Raises
    ------
    TypeError
        If `counts` is not a result of `confusion`.

    Examples
    --------
    >>> from bnclassify import bnc, confusion, cv_predict, load_car, plot_confusion
    >>> car = load_car()
    >>> labels = cv_predict(bnc("nb", "class", car, smooth=1), car, rng=0, prob=False)
    >>> ax = plot_confusion(confusion(labels, car["class"]))
    """
    Instance(pd.DataFrame, "a result of confusion").check("counts", counts)
    if counts.empty or not counts.index.equals(counts.columns):
        raise ValueError(
            must_be("counts", "a table with the same classes as rows and columns", counts)
        )
    are_numbers = all(map(pd.api.types.is_any_real_numeric_dtype, counts.dtypes))
    if not are_numbers or not (counts >= 0).all(axis=None):
        raise TypeError(must_be("counts", "a table of numbers of rows", counts))
    table = np.asarray(counts, dtype=float)
    totals: Array = table.sum(axis=1, keepdims=True)
    shares = table / np.maximum(totals, _LEAST)
    n, texts, width, height = len(shares), list[str](), 6.0, 6.0
    places = np.linspace(0, n - 1, 15).astype(int) if n > _MOST_FIGURES else np.arange(n)
    labels: list[Hashable] = counts.index[places].to_list()
    rows = [label_in_lines(label, 26) for label in labels]
    columns, is_vertical = [label_in_lines(label, 14) for label in labels], n > _MOST_FIGURES
    if n <= _MOST_FIGURES:
        pairs = zip(table.ravel(), shares.ravel(), strict=True)
        texts = [f"{count:,.0f}\n{share:.0%}" for count, share in pairs]
        least = max(0.5, text_width(texts)) + 0.1
        columns, cell, depth, is_vertical = column_labels(labels, least, n)
        width = max(3.0, 0.7 + text_width(rows) + cell * n)
        height = 0.6 + depth + max(0.36, LINE * max_lines(rows) + 0.1) * n
    axes = prepare_axes(ax, height, width)
    draw_cells(axes, shares, ["white", BLUE], (0, 1), texts)
    axes.set_xticks(places, columns, rotation=90 if is_vertical else 0)
    axes.set_yticks(places, rows)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="predicted", ylabel="actual")
    total, right = float(table.sum()), float(np.diagonal(table).sum())
    correct = right / max(total, _LEAST)
    title = f"{rows_in_words(total)}, {correct:.1%} correct\n% and shade: share of the actual class"
    add_title_and_legend(axes, ax, title)
    return axes


@in_chart_style
@with_call_advice("Pass options by name: plot_calibration(posteriors, actual, bins=10).")
def plot_calibration(
    posteriors: pd.DataFrame,
    actual: pd.Series[Any],
    *,
    bins: int = 10,
    strategy: Literal["width", "quantile"] = "width",
    target: Hashable | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a reliability diagram: the share of a class by its probability.

    Parameters
    ----------
    posteriors, actual, bins, strategy
        As in `calibration`.
    target : label, optional
        Class to draw. By default, the last of two classes, or the most probable
        class of each row if there are several.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        One dot per interval that has rows, larger with more rows: the share of
        rows of the class against the mean probability, with Wilson's interval
        of 95 % confidence. On the diagonal they are equal; below it, the model
        is overconfident. A gray bar on the diagonal contains the share in 95 %
        of samples if the posteriors are calibrated.

    Raises
    ------
    TypeError, ValueError
        If `posteriors` does not have one column per class, or `actual` has
        other rows or classes.

    References
    ----------
    .. [1] Bröcker, J., Smith, L. A. (2007). Increasing the reliability of
       reliability diagrams. Weather and Forecasting 22.

    Examples
    --------
    >>> from bnclassify import cv_predict, load_voting, lp, nb, plot_calibration
    >>> voting = load_voting()
    >>> model = lp(nb("Class", voting), voting, smooth=1)
    >>> ax = plot_calibration(cv_predict(model, voting, rng=0), voting["Class"])
    """
    p, codes, columns = check_posteriors(posteriors, actual)
    classes: list[Hashable] = list(columns)
    if target is not None:
        OneOf(classes).check("target", target)
    elif len(classes) == 2:
        target = classes[1]
    best = first_best(p) if target is None else np.full(len(p), classes.index(target))
    chosen, right = p[np.arange(len(p)), best], best == codes
    ends = ends_of_bins(chosen, bins, strategy)
    sums = bin_sums(chosen, right, ends, np.ones(len(p)))
    rows, at, shares = bin_means(sums)
    variances = bin_means(bin_sums(chosen, chosen * (1 - chosen), ends, np.ones(len(p))))[2]
    spread: Array = _NORMAL_95 * np.sqrt(variances / rows)
    # Wilson's limits of 5 in 10 rows: 0.237 and 0.763
    extra = _NORMAL_95**2 / rows
    middle: Array = (shares + extra / 2) / (1 + extra)
    reach: Array = np.sqrt(extra * shares * (1 - shares) + extra**2 / 4) / (1 + extra)
    axes, names = prepare_axes(ax, 3.4, 3.6), dict[str, Any]()
    low, high = float(rows.min()), float(rows.max())
    area, sizes = f"share in {low:,.0f} to {high:,.0f} rows (area)", 8 + 90 * rows / high
    names[area] = axes.scatter(at, shares, s=sizes, zorder=3, linewidth=0, color=BLUE)
    limits, band = (middle - reach, middle + reach), np.clip([at - spread, at + spread], 0, 1)
    names["95 % interval of the share"] = axes.vlines(
        at, *limits, linewidth=1, zorder=2, color=BLUE
    )
    names["95 % of calibrated models"] = axes.vlines(at, *band, color=PALE, linewidth=7, zorder=0)
    (names["perfect calibration"],) = axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=1)
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    share = "in which it is right" if target is None else f"of class {target}"
    axes.set_ylabel(label_in_lines(f"share of rows {share}", 40))
    title = f"{rows_in_words(rows.sum())}, calibration error {calibration_error(sums):.3f}"
    given = "the most probable class" if target is None else target
    add_title_and_legend(axes, ax, title, f"probability given to {given}", names)
    return axes


@in_chart_style
def plot_ranks(comparison: RankComparison, *, ax: Axes | None = None) -> Axes:
    """Draw average ranks in a critical difference diagram.

    Parameters
    ----------
    comparison : RankComparison
        A result of `compare_ranks`.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        A line from each model to its average rank, the best on the left. A bar
        joins models with ranks that differ by less than Nemenyi's critical
        difference, which is drawn from rank 1.

    Raises
    ------
    TypeError
        If `comparison` is not a result of `compare_ranks`.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import compare_ranks, plot_ranks
    >>> accuracy = pd.DataFrame({"nb": [0.87, 0.90, 0.73, 0.78, 0.94],
    ...                          "tan": [0.94, 0.94, 0.75, 0.78, 0.95],
    ...                          "aode": [0.92, 0.94, 0.76, 0.79, 0.96]})
    >>> ax = plot_ranks(compare_ranks(accuracy))
    """
    Instance(RankComparison, "a result of compare_ranks").check("comparison", comparison)
    ranks, difference = comparison.ranks.sort_values(kind="stable"), comparison.critical_difference
    names = [label_in_lines(name, 24) for name in list[Hashable](ranks.index)]
    # the first and last rank of the largest groups within the critical difference
    of_models = ranks.to_numpy()
    ends = np.searchsorted(of_models, of_models + difference - TOLERANCE, side="left") - 1
    first = [i for i, end in enumerate(ends) if end > i and (i == 0 or end > ends[i - 1])]
    groups = [(float(of_models[i]), float(of_models[ends[i]])) for i in first]
    # Heights are in inches, from the axis downwards: bars, names, critical difference.
    step = 0.1 + LINE * max_lines(names)
    top = 0.2 + 0.12 * len(groups) + step / 2
    bottom = top + step * ((len(ranks) + 1) // 2) + 0.06
    axes = prepare_axes(ax, bottom + 0.9, max(4.6, 2.6 + 2 * text_width(names)))
    margin = 0.03 * (len(ranks) - 1)
    k = len(ranks)
    for i, (name, rank) in enumerate(zip(names, ranks.to_list(), strict=True)):
        best = i < (k + 1) // 2  # the better half is on the left, the best on top
        y = top + step * (i if best else k - 1 - i)
        side = 1 - margin if best else k + margin
        axes.plot([rank, rank, side], [0, y, y], color=BLUE, linewidth=1, clip_on=False)
        text, away = f"{name}  {rank:.2f}", -4 if best else 4
        write_beside(axes, text, (side, y), (away, 0), va="center", ha="right" if best else "left")
    for i, (low, high) in enumerate(groups):
        bar = [low - margin / 2, high + margin / 2]
        axes.plot(bar, [0.16 + 0.12 * i] * 2, color=ORANGE, linewidth=4, solid_capstyle="round")
    style: Any = {"color": GREY, "linewidth": 1.5, "markersize": 7, "clip_on": False}
    axes.plot([1, 1 + difference], [bottom] * 2, "|-", **style)
    text = f"critical difference {difference:.2f} at {comparison.alpha:g}"
    write_beside(axes, text, (1, bottom), (0, -6), va="top", color=GREY)
    axes.set(xlim=(1 - margin, len(ranks) + margin), ylim=(bottom + 0.22, 0))
    axes.set_xticks(range(1, k + 1, 1 + (k - 1) // 12))  # at most 12 numbers side by side
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(f"average rank on {comparison.data_sets:,} data sets, 1 is best")
    axes.set_yticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.spines["top"].set_visible(True)
    return axes
