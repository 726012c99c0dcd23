"""Charts of features: weights of evidence, importance, weights and effects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.checks import Optional, Unseen, Whole, must_be
from ..base.messages import shown
from ..evaluation.arc_strength import check_strength, threshold_of
from ..frames.encoding import Row
from ..frames.opening import InFull
from ..frames.schema import Dataset, match
from ..inference.evidence import Effect, measure_effect, weigh_evidence
from ..inference.explain import describe, encode_rows, explain_row, write_rivals
from ..model.arguments import check_model, encode_for, read_for
from ..model.model import Model
from ..model.questions import classes
from ..model.traces import feature_weights, manb_arc_posterior
from .canvas import (
    BLUE,
    GREY,
    LINES,
    ORANGE,
    broken,
    chance,
    chart,
    entitle,
    horizontal_axes,
    letters_across,
    note,
    patch,
    prepare_axes,
    signed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEYOND = 1.25  # ratio of infinite bars to the longest finite one
_MOST_LEVELS = 300
_MOST_PAIRS = 25
_LEAST = 0.005  # from which a number is not written as 0.00
_MARGIN = 0.08  # share of the range of the cut points, drawn on both sides
_MOST_MARKS = 500  # of values
_TOP = Optional(Whole(least=1))


@chart
def plot_explanation(
    x: Model,
    row: InFull | Row,
    *,
    target: Any = None,
    against: Any = None,
    unseen: Unseen = "error",
    interactions: bool = False,
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the contribution of each feature of a row to the log odds of a class as bars, the longest first.

    Parameters
    ----------
    x : Model
        A model of any type with parameters.
    row, target, against, unseen, interactions
        As in `explain`.
    top : int, optional
        Maximum number of bars; an additional bar shows the sum of the others. None draws all.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        As `explain`, or if `top` is not a whole number of at least 1.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_explanation, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> ax = plot_explanation(model, car.iloc[1727])
    >>> ax.get_xlabel()
    'weight of evidence (log odds, nats)'
    """
    _TOP.check("top", top)
    explanation = explain_row(x, row, target, against, unseen, interactions)
    pairs = zip(explanation.known.items(), explanation.log_odds, strict=True)
    bars = [(describe(variable, value), weight) for (variable, value), weight in pairs]
    bars[0] = f"prior of {explanation.target}", bars[0][1]
    total = sum(explanation.log_odds)
    labels, weights = zip(*_longest(bars, top), ("sum", total), strict=True)
    axes = _draw_bars(ax, labels, weights, [*map(signed, weights)])
    axes.patches[-1].set_facecolor(GREY)
    target, rival = explanation.target, explanation.rival
    odds = f"log odds of {target} against {rival}: {signed(total)}"
    names = {f"evidence for {target}": patch(BLUE), f"evidence for {rival}": patch(ORANGE)}
    title = f"{x.class_var} = {target}: probability {chance(explanation.probability)}\n{odds}"
    entitle(axes, ax, title, "weight of evidence (log odds, nats)", names)
    return axes


@chart
def plot_importance(
    x: Model,
    dataset: InFull,
    *,
    target: Any = None,
    against: Any = None,
    unseen: Unseen = "error",
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean absolute weight of evidence of each feature as bars, the longest first.

    Parameters
    ----------
    x : Model
        A model of any type with parameters.
    dataset : pandas.DataFrame or Dataset
        Rows to explain. The class may be missing.
    target, against, unseen
        As in `explain`. By default, the predicted class of each row is compared with the second most probable
        one.
    top : int, optional
        Maximum number of features. None draws all.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        As `explain`, or if there are no rows, or `top` is not a whole number of at least 1.

    Notes
    -----
    The bar of a feature is the mean, over rows, of the absolute value of its contribution in `explain`,
    in nats; a missing value adds 0. It measures how much the model relies on the feature: if a
    feature is redundant given the features before it, its bar is short.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_importance, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> ax = plot_importance(model, car)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['safety', 'persons']
    """
    _TOP.check("top", top)
    data = encode_rows(x, dataset)
    if not len(data):
        raise ValueError(must_be("dataset", "a table with rows to explain", dataset))
    evidence = weigh_evidence(x, data, target, against, unseen, argument="dataset")
    sizes, means = np.abs(evidence.log_odds[:, 1:]), evidence.strengths
    spread = np.quantile(sizes, [0.25, 0.75], axis=0, method="nearest")
    axes, more = _draw_largest(ax, list(map(str, means)), np.array([*means.values()]), top, spread)
    target_name = "the predicted class" if target is None else target
    rivals = np.asarray(evidence.rivals.any(axis=0))
    rival = "the second most probable class" if against is None else write_rivals(classes(x), rivals)
    title = f"Importance in {len(data):,} rows\nfor {target_name} against {rival}"
    legend = {"mean": patch(BLUE), "middle half of the rows": axes.collections[1]}
    entitle(axes, ax, title, f"absolute weight of evidence (nats){more}", legend)
    return axes


@chart
def plot_weights(x: Model, *, top: int | None = 50, ax: Axes | None = None) -> Axes:
    """Draw the weight of each feature, or the posterior of its arc from the class in a MANB.

    Parameters
    ----------
    x : BNC or another model
        A model with weights or arc posteriors; see `feature_weights` and `manb_arc_posterior`. If the
        class has a weight, it has a bar, too.
    top : int, optional
        Maximum number of features. None draws all.
    {ax, returns, raises}
    TypeError
        If `x` is of a type without weights and arc posteriors, such as an ensemble, or `top` is not a whole
        number.
    ValueError
        If the model has no weights and no arc posteriors, or `top` is less than 1.

    Notes
    -----
    If features have several terms (``loo_terms``), the bars are the sums of the weights of their tables.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_weights
    >>> car = load_car()
    >>> ax = plot_weights(lp(nb("class", car), car, smooth=1, manb_prior=0.5))
    >>> ax.get_title("left")
    'Features of class'
    """
    _TOP.check("top", top)
    arcs = "arc_posteriors" in check_model(x).learned
    numbers = manb_arc_posterior(x) if arcs else feature_weights(x)
    quantity = f"posterior of the arc from {x.class_var}" if arcs else "weight"
    if isinstance(numbers, pd.DataFrame):
        tables = [name for name in numbers if str(name).startswith(("tables", "level"))]
        numbers, quantity = numbers[tables].sum(axis=1), "weight of the tables"
    axes, more = _draw_largest(ax, list(map(str, numbers.index)), numbers.to_numpy(), top)
    entitle(axes, ax, f"Features of {x.class_var}", f"{quantity}{more}")
    return axes


@chart
def plot_strength(strength: pd.DataFrame, *, threshold: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the strengths of arcs as bars, and the threshold above which they are included.

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
        One bar per pair of variables, the strongest first, in the more frequent direction. Bars above
        the threshold are blue. If there are many, only the 25 strongest below 1 are drawn, with a note.
        ``ax.figure.savefig("name.png")`` writes a file.

    {raises}
    TypeError
        If `strength` is not a result of `arc_strength`.
    ValueError
        If `threshold` is not a number from 0 to 1.

    Examples
    --------
    >>> from bnclassify import arc_strength, load_car, plot_strength, tan_cl
    >>> car = load_car()
    >>> ax = plot_strength(arc_strength(tan_cl("class", car), car, replicates=50, rng=0))
    >>> ax.get_xlabel()
    'strength (share of samples)'
    """
    limit = threshold_of(check_strength(strength), threshold)
    position = {name: i for i, name in enumerate(dict.fromkeys(strength["from"]))}
    rows = strength[strength["strength"] > 0].sort_values("strength", ascending=False, kind="stable")
    bars = []
    for tail, head, share, direction in rows.itertuples(index=False):
        if position[tail] < position[head]:
            ends = (tail, head) if direction >= 0.5 else (head, tail)
            sign = "\N{EN DASH}" if direction == 0.5 else "→"
            bars.append((f"\xa0{sign} ".join(map(str, ends)), share))
    certain = [bar for bar in bars if bar[1] >= 1] if len(bars) > _MOST_PAIRS else []
    drawn = bars[len(certain) :][:_MOST_PAIRS]
    labels, shares = [label for label, _ in drawn], [share for _, share in drawn]
    axes = _draw_bars(ax, labels, shares, [chance(share) for share in shares])
    axes.set_xticks(np.linspace(0, 1, 5))
    for bar, share in zip(axes.patches, shares, strict=True):
        bar.set_facecolor(BLUE if share > limit else GREY)
    for text in axes.texts:  # which the threshold would cross
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    line = axes.axvline(limit, color="black", linewidth=1, linestyle="--", zorder=1.5)
    omitted = {"of strength 1": len(certain), "weaker": len(bars) - len(certain) - len(drawn)}
    notes = [f"\nomitted: {n:,} pair{'s' * (n > 1)} {which}" for which, n in omitted.items() if n]
    names = {"included": patch(BLUE), "excluded": patch(GREY), f"threshold {limit:.2f}": line}
    entitle(axes, ax, "Strength of arcs", f"strength (share of samples){''.join(notes)}", names)
    return axes


def _draw_bars(
    ax: Axes | None,
    labels: Sequence[str],
    numbers: Sequence[float] | Array,
    texts: Sequence[str],
    ends: Sequence[float] | Array | None = None,
) -> Axes:
    """Draw bars, negative ones in orange, with texts at their ends or at other places."""
    sizes = np.array(numbers, dtype=float)
    reach = np.abs(sizes[np.isfinite(sizes)]).max(initial=0.0) or 1.0
    lengths = np.clip(sizes, -_BEYOND * reach, _BEYOND * reach)
    places = lengths if ends is None else np.clip(ends, lengths, 2 * _BEYOND * reach)
    axes = horizontal_axes(ax, labels)
    axes.barh(np.arange(len(sizes)), lengths, color=np.where(sizes < 0, ORANGE, BLUE), height=0.72)
    low, high = min(0.0, places.min(initial=0.0)), max(0.0, places.max(initial=0.0))
    margin = max(0.14, 7 / letters_across(axes)) * ((high - low) or 1.0)
    axes.set_xlim(low - margin * bool((sizes < 0).any()), high + margin * bool((sizes >= 0).any()))
    axes.axvline(0, color=GREY, linewidth=0.8)
    for i, (text, place, size) in enumerate(zip(texts, places, sizes, strict=True)):
        away, side = (3, "left") if size >= 0 else (-3, "right")
        note(axes, text, (place, i), (away, 0), ha=side, va="center")
    return axes


def _draw_largest(
    ax: Axes | None,
    labels: Sequence[str],
    numbers: NDArray[Any],
    top: int | None,
    spread: Array | None = None,
) -> tuple[Axes, str]:
    """Draw the numbers of largest size, with lines over ``spread``; return axes and a note on the others."""
    sizes = np.abs(numbers)
    order = np.argsort(-sizes, kind="stable")
    n = len(order) if top is None else min(top, np.count_nonzero(sizes >= _LEAST) or len(order))
    shown = order[:n]
    texts = [_written(number) for number in numbers[shown]]
    ends = None if spread is None else spread[1, shown]
    axes = _draw_bars(ax, [labels[i] for i in shown], numbers[shown], texts, ends)
    if spread is not None:
        low, high = np.minimum(spread[:, shown], axes.get_xlim()[1])
        axes.hlines(np.arange(n), low, high, color="white", linewidth=3)
        axes.hlines(np.arange(n), low, high, color="black", linewidth=1)
    more = len(order) - n
    return axes, f"; {more:,} more, at most {sizes[order[n]]:.2f}" if more else ""


def _written(number: float) -> str:
    return f"{number:.2f}".replace("inf", "∞").replace("-", "\N{MINUS SIGN}")


def _longest(bars: list[tuple[str, float]], top: int | None) -> list[tuple[str, float]]:
    """Order bars by length, and add up those beyond the first `top`."""
    ordered = sorted(bars, key=lambda bar: -abs(bar[1]))
    if top is None or len(ordered) <= top + 1:
        return ordered
    rest = ordered[top:]
    return [*ordered[:top], (f"the {len(rest)} others", float(sum(weight for _, weight in rest)))]


@chart
def plot_effect(
    x: Model,
    feature: Hashable,
    *,
    target: Any = None,
    dataset: InFull | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the contribution of a feature to the log odds of a class over its range.

    A feature that the model discretizes is drawn as a curve with steps and marks at its cut points, a number
    with a density as a smooth curve, another one as bars. If the feature has feature parents, there is one
    line or bar for each of at most five levels of the first parent, or a single one if they are equal.

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters.
    feature : str
        Feature of the model.
    target : optional
        Class to explain. By default, the rarest class, which is the last of those that are equally rare.
    dataset : pandas.DataFrame or Dataset, optional
        Rows whose values of the feature are drawn as marks below the curve, or counted next to the levels.
    {ax, returns, raises}
    TypeError
        If `x` is not a model.
    KeyError
        If `feature` is not a feature of the model, or not a column of `dataset`.
    ValueError
        If the model has no parameters or no class `target`, or the feature has more than 300 levels and is
        not discretized by the model.

    Notes
    -----
    The contribution is ln O(target | v, u) − ln O(target | u), where v is a level of the feature, u a level
    of its first parent, and O the odds against all other classes; all other features are missing. In a
    model with feature weights, it is computed from the table of the feature, times its weight; in a model
    with ``loo_terms``, from all terms of the feature. The curve of a number covers the range of the training
    data.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_effect
    >>> car = load_car()
    >>> ax = plot_effect(lp(nb("class", car), car, smooth=1), "safety", target="acc")
    >>> ax.get_xlabel()
    'adds to the log odds of acc (nats)'
    """
    effect = measure_effect(x, feature, target)
    cuts = _cuts_of(x, feature)
    if not cuts and len(effect.levels) > _MOST_LEVELS:
        expected = f"a feature with at most {_MOST_LEVELS} levels"
        got = f"{len(effect.levels):,} levels. Merge rare levels with merge_rare"
        raise ValueError(f"feature must be {expected}; got {shown(feature)} with {got}.")
    rows: Any = dataset
    data = None if rows is None else read_for(x, rows, [feature], "dataset")
    effect = _merge_equal(effect)
    if cuts or effect.points is not None:
        axes, names = _draw_curves(effect, cuts, _ends(x, feature, cuts, data), data, ax)
    else:
        axes, names = _draw_levels(x, effect, data, ax)
    entitle(axes, ax, f"Effect of {effect.feature} on {x.class_var} = {effect.target}", names=names)
    return axes


def _cuts_of(x: Model, feature: Hashable) -> tuple[float, ...]:
    """Return the cut points of a feature, if the model discretizes it."""
    discretizer = x.preparation.discretizer if x.preparation is not None else None
    return discretizer.cuts.get(feature, ()) if discretizer is not None else ()


def _merge_equal(effect: Effect) -> Effect:
    """Return one line without a parent if the lines of all its levels are equal."""
    lines = np.asarray(effect.log_odds)
    if effect.parent is None or not np.allclose(lines, lines[0], rtol=0, atol=1e-9):
        return effect
    return replace(effect, parent=None, parent_levels=effect.parent_levels[:1], log_odds=lines[:1])


def _ends(x: Model, feature: Hashable, cuts: tuple[float, ...], data: Dataset | None) -> tuple[float, float]:
    """Return the ends of the training data, of the data, and of a margin around the cut points."""
    if not cuts:
        return 0.0, 0.0
    margin = _MARGIN * (cuts[-1] - cuts[0]) or abs(cuts[0]) * _MARGIN or 1.0
    found = [cuts[0] - margin, cuts[-1] + margin]
    discretizer = x.preparation.discretizer if x.preparation is not None else None
    if discretizer is not None and discretizer.ranges:
        found += discretizer.ranges[discretizer.columns.index(feature)]
    if data is not None:
        found += [*data.numbers[feature]]
    finite = np.array(found, dtype=float)
    finite = finite[np.isfinite(finite)]
    return float(finite.min()), float(finite.max())


def _draw_curves(
    effect: Effect,
    cuts: tuple[float, ...],
    ends: tuple[float, float],
    data: Dataset | None,
    ax: Axes | None,
) -> tuple[Axes, dict[str, Any]]:
    """Draw a line per level of the parent, cut points at the top and values at the bottom; return names."""
    axes = prepare_axes(ax, 2.4)
    axes.axhline(0, color=GREY, linewidth=0.8)
    names: dict[str, Any] = {}
    for i, line in enumerate(effect.log_odds):
        style: dict[str, Any] = {"color": LINES[i][0], "linestyle": LINES[i][1], "linewidth": 1.6}
        if effect.points is not None:
            (drawn,) = axes.plot(effect.points, line, **style)
        else:
            edges = np.repeat([ends[0], *cuts, ends[1]], 2)[1:-1]
            (drawn,) = axes.plot(edges, np.repeat(line[: len(cuts) + 1], 2), **style)
        names |= {_named(effect, i): drawn} if effect.parent is not None else {}
    marks = {"cut points": (np.array(cuts), 0.98, GREY)} if cuts else {}
    if data is not None:
        values = np.sort(data.numbers[effect.feature].astype(float))
        values = values[~np.isnan(values)]
        marks["values in the data"] = values[:: 1 + len(values) // _MOST_MARKS], 0.02, "black"
    for name, (places, height, color) in marks.items():
        at: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        (names[name],) = axes.plot(places, np.full(len(places), height), "|", color=color, markersize=6, **at)
    axes.set_xlabel(broken(effect.feature))
    axes.set_ylabel(broken(f"adds to the log odds of {effect.target} (nats)", 30))
    return axes, names


def _draw_levels(
    x: Model, effect: Effect, data: Dataset | None, ax: Axes | None
) -> tuple[Axes, dict[str, Any]]:
    """Draw bars of levels, one per level of the parent, and count the rows; return the names of bars."""
    labels = list(map(str, effect.levels))
    if data is not None:
        (codes,) = match(encode_for(x, data, [effect.feature]), (effect.feature,), (effect.levels,))
        counts = np.bincount(codes[codes >= 0], minlength=len(labels))
        labels = [f"{label} ({count:,} rows)" for label, count in zip(labels, counts, strict=True)]
    n_lines = len(effect.parent_levels)
    axes = horizontal_axes(ax, labels, height=0.2 + 0.08 * n_lines)
    height, names = 0.72 / n_lines, dict[str, Any]()
    for i, line in enumerate(effect.log_odds):
        middle = np.arange(len(labels)) + (i - (n_lines - 1) / 2) * height
        bars = axes.barh(middle, line, height=height, color=LINES[i][0])
        names |= {_named(effect, i): bars} if effect.parent is not None else {}
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel(broken(f"adds to the log odds of {effect.target} (nats)", 48))
    axes.set_ylabel(broken(effect.feature))
    return axes, names


def _named(effect: Effect, i: int) -> str:
    return describe(effect.parent, effect.parent_levels[i])
