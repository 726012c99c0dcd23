"""Charts of features: weights of evidence, importance, weights and effects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.checks import Optional, Whole, must_be
from ..base.messages import shown
from ..base.options import Unseen
from ..frames.encoding import Row
from ..frames.opening import InFull
from ..functions.arc_strengths import check_strength, threshold_of
from ..functions.explanation import describe, encode_rows, explain_row, write_rivals
from ..functions.odds import Effect, measure_effect, weigh_evidence
from ..model.model import Model, check_model
from ..model.questions import classes
from ..model.traces import feature_weights, manb_arc_posterior
from .canvas import (
    BLUE,
    GREY,
    ORANGE,
    blend,
    broken,
    chart,
    horizontal_axes,
    letters_across,
    name_colors,
    prepare_axes,
    signed,
    write_below,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEYOND = 1.25  # ratio of infinite bars to the longest finite one
_MOST_LEVELS = 300
_MOST_PAIRS = 40
_MARGIN = 0.08  # of the range of the cut points, drawn on either side
_TOP = Optional(Whole(least=1))


@chart
def plot_explanation(
    x: Model,
    row: InFull | Row,
    *,
    target: Any = None,
    against: Any = None,
    unseen: Unseen = "error",
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the weight of evidence of each feature of a row for a class as bars, the longest first.

    Parameters
    ----------
    x : Model
        A model of any type with parameters.
    row, target, against, unseen
        As in `explain`.
    top : int, optional
        Maximum number of bars; one more bar shows the sum of the others. None draws all.
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
    'log odds of vgood against acc: +0.95'
    """
    _TOP.check("top", top)
    explanation = explain_row(x, row, target, against, unseen)
    pairs = zip(explanation.known.items(), explanation.log_odds, strict=True)
    bars = [(describe(variable, value), weight) for (variable, value), weight in pairs]
    bars[0] = f"prior of {explanation.target}", bars[0][1]
    bars = _longest(bars, top)
    weights = [weight for _, weight in bars]
    texts = [signed(weight) for weight in weights]
    axes, lengths = _draw_bars(ax, [label for label, _ in bars], weights, texts)
    low, high = lengths.min(initial=0.0), lengths.max(initial=0.0)
    margin = _text_share(axes) * ((high - low) or 1.0)
    left = any(text.startswith("\N{MINUS SIGN}") for text in texts)
    right = not all(text.startswith("\N{MINUS SIGN}") for text in texts)
    axes.set_xlim(low - margin * left, high + margin * right)
    axes.axvline(0, color=GREY, linewidth=0.8)
    total = signed(sum(explanation.log_odds))
    write_below(axes, f"log odds of {explanation.target} against {explanation.rival}: {total}")
    name_colors(axes, {BLUE: f"evidence for {explanation.target}", ORANGE: f"for {explanation.rival}"})
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
        As in `explain`. By default, the predicted class of each row is compared with the most probable other.
    top : int, optional
        Maximum number of features. None draws all.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        As `explain`, or if there are no rows, or `top` is not a whole number of at least 1.

    Notes
    -----
    The bar of a feature is the mean, over rows, of the absolute value of the log odds that it adds in
    `explain`, in nats; a missing value adds 0. It measures how much the model relies on the feature: if a
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
    data = encode_rows(x, dataset, "dataset")
    if not len(data):
        raise ValueError(must_be("dataset", "a table with rows to explain", dataset))
    evidence = weigh_evidence(x, data, target, against, unseen, argument="dataset")
    means = evidence.strengths
    axes, shown = _draw_largest(ax, list(map(str, means)), list(means.values()), top)
    caption = f"mean absolute weight of evidence in {len(data):,} rows{shown}"
    target_name = "the class predicted" if target is None else target
    rivals = np.asarray(evidence.rivals.any(axis=0))
    rival = "the most probable other class" if against is None else write_rivals(classes(x), rivals)
    write_below(axes, caption, f"for {target_name} against {rival}")
    return axes


@chart
def plot_weights(x: Model, *, top: int | None = 50, ax: Axes | None = None) -> Axes:
    """Draw the weight of each feature, or the posterior of its arc from the class in a MANB.

    Parameters
    ----------
    x : BNC or another model
        A model with weights or arc posteriors; see `feature_weights` and `manb_arc_posterior`. If the
        class has a weight, it has a bar too.
    top : int, optional
        Maximum number of features. None draws all.
    {ax, returns, raises}
    TypeError
        If `x` is of a type without either, such as an ensemble, or `top` is not a whole number.
    ValueError
        If the model has neither, or `top` is less than 1.

    Notes
    -----
    If features have several terms (``loo_terms``), the bars are the sums of the weights of their tables.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_weights
    >>> car = load_car()
    >>> ax = plot_weights(lp(nb("class", car), car, smooth=1, manb_prior=0.5))
    >>> ax.get_xlabel()
    'posterior of the arc from class'
    """
    _TOP.check("top", top)
    arcs = "arc_posteriors" in check_model(x).learned
    numbers = manb_arc_posterior(x) if arcs else feature_weights(x)
    quantity = f"posterior of the arc from {x.class_var}" if arcs else "weight"
    if isinstance(numbers, pd.DataFrame):
        tables = [name for name in numbers if str(name).startswith(("tables", "level"))]
        numbers, quantity = numbers[tables].sum(axis=1), "weight of the tables"
    axes, shown = _draw_largest(ax, list(map(str, numbers.index)), numbers.tolist(), top)
    axes.set_xlim(min(0.0, 1.2 * numbers.min()), max(1.0, axes.get_xlim()[1]))
    write_below(axes, f"{quantity}{shown}")
    return axes


@chart
def plot_strength(strength: pd.DataFrame, *, threshold: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the strengths of arcs as bars, and the threshold above which they are included.

    Parameters
    ----------
    strength : pandas.DataFrame
        A result of `arc_strength`.
    threshold : float, optional
        Threshold from 0 to 1. By default, that of `strength`.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        One bar per pair of variables, the strongest first, in the direction that is more frequent. Bars above
        the threshold are blue. If there are many, only the 40 strongest below 1 are drawn, with a note.
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
    'strength; threshold 0.10'
    """
    limit = threshold_of(check_strength(strength), threshold)
    position = {name: i for i, name in enumerate(dict.fromkeys(strength["from"]))}
    rows = strength[strength["strength"] > 0].sort_values("strength", ascending=False, kind="stable")
    bars = []
    for tail, head, share, direction in rows.itertuples(index=False):
        if position[tail] < position[head]:
            ends = (tail, head) if direction >= 0.5 else (head, tail)
            sign = "\N{EN DASH}" if direction == 0.5 else "→"
            bars.append((f" {sign} ".join(map(str, ends)), share))
    certain = [bar for bar in bars if bar[1] >= 1] if len(bars) > _MOST_PAIRS else []
    drawn = bars[len(certain) :][:_MOST_PAIRS]
    axes = horizontal_axes(ax, [label for label, _ in drawn], height=0.22)
    shares = np.array([share for _, share in drawn])
    axes.barh(np.arange(len(drawn)), shares, color=np.where(shares > limit, BLUE, GREY), height=0.72)
    axes.axvline(limit, color=ORANGE, linewidth=1, linestyle="--")
    axes.set_xlim(0, 1)
    omitted = {"of strength 1": len(certain), "weaker": len(bars) - len(certain) - len(drawn)}
    notes = [f"omitted: {n:,} pairs {which}" for which, n in omitted.items() if n]
    write_below(axes, f"strength; threshold {limit:.2f}", *notes)
    return axes


def _draw_bars(
    ax: Axes | None, labels: Sequence[str], numbers: Sequence[float], texts: Sequence[str]
) -> tuple[Axes, Array]:
    """Draw bars with texts at their ends, negative ones in orange; return the axes and the lengths."""
    sizes = np.array(numbers)
    reach = np.abs(sizes[np.isfinite(sizes)]).max(initial=0.0) or 1.0
    lengths = np.clip(sizes, -_BEYOND * reach, _BEYOND * reach)
    axes = horizontal_axes(ax, labels)
    colors = np.where(sizes < 0, ORANGE, BLUE)
    bars = axes.barh(np.arange(len(sizes)), lengths, color=colors, height=0.72)
    axes.bar_label(bars, texts, padding=3, fontsize="small")
    return axes, lengths


def _draw_largest(
    ax: Axes | None, labels: Sequence[str], numbers: Sequence[float], top: int | None
) -> tuple[Axes, str]:
    """Draw the largest of some numbers of at least 0; return the axes and, unless all are drawn, a note."""
    bars = sorted(zip(labels, numbers, strict=True), key=lambda bar: -bar[1])[:top]
    texts = [f"{number:.2f}".replace("inf", "∞") for _, number in bars]
    axes, lengths = _draw_bars(ax, [label for label, _ in bars], [number for _, number in bars], texts)
    axes.set_xlim(0, (1 + _text_share(axes)) * (lengths.max(initial=0.0) or 1.0))
    return axes, "" if len(bars) == len(numbers) else f", the {len(bars)} largest"


def _text_share(axes: Axes) -> float:
    """Return the share of the axes that is needed for the text at the end of a bar."""
    return max(0.14, 10 / letters_across(axes))


def _longest(bars: list[tuple[str, float]], top: int | None) -> list[tuple[str, float]]:
    """Order bars by length, and add up those beyond the first `top`."""
    ordered = sorted(bars, key=lambda bar: -abs(bar[1]))
    if top is None or len(ordered) <= top + 1:
        return ordered
    rest = ordered[top:]
    return [*ordered[:top], (f"the {len(rest)} others", float(sum(weight for _, weight in rest)))]


@chart
def plot_effect(x: Model, feature: Hashable, *, target: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the contribution of a feature to the log odds of a class over its range.

    A feature that the model discretizes is drawn as a curve with steps, a number with a density as a smooth
    curve, another one as bars. If the feature has feature parents, there is one line or bar for each of at
    most five levels of the first parent.

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters.
    feature : str
        Feature of the model.
    target : optional
        Class to explain. By default, the rarest class, which is the last of those that are equally rare.
    {ax, returns, raises}
    TypeError
        If `x` is not a model.
    KeyError
        If `feature` is not a feature of the model.
    ValueError
        If the model has no parameters or no class `target`, or the feature has more than 300 levels and is
        not discretized by the model.

    Notes
    -----
    The contribution is ln O(target | v, u) − ln O(target | u), where v is a level of the feature, u a level
    of its first parent, and O the odds against all other classes; all other features are unknown. In a
    model with feature weights, it is computed from the table of the feature, times its weight; in one with
    ``loo_terms``, from all terms of the feature, and that of a number is a curve over the range of the
    training data.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_effect
    >>> car = load_car()
    >>> ax = plot_effect(lp(nb("class", car), car, smooth=1), "safety", target="acc")
    >>> ax.get_xlabel()
    'adds to the log odds of acc'
    """
    effect = measure_effect(x, feature, target)
    cuts = _cuts_of(x, feature)
    if not cuts and len(effect.levels) > _MOST_LEVELS:
        expected = f"a feature with at most {_MOST_LEVELS} levels"
        got = f"{len(effect.levels):,} levels. Merge rare levels with merge_rare"
        raise ValueError(f"feature must be {expected}; got {shown(feature)} with {got}.")
    numeric = cuts or effect.points is not None
    axes = _draw_steps(effect, cuts, ax) if numeric else _draw_levels(effect, ax)
    if effect.parent is not None:
        beside: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (1, 1),
            "frameon": False,
            "fontsize": "small",
        }
        axes.legend(title=broken(effect.parent), **beside)
    return axes


def _cuts_of(x: Model, feature: Hashable) -> tuple[float, ...]:
    """Return the cut points of a feature, if the model discretizes it."""
    discretizer = x.preparation.discretizer if x.preparation is not None else None
    return discretizer.cuts.get(feature, ()) if discretizer is not None else ()


def _draw_steps(effect: Effect, cuts: tuple[float, ...], ax: Axes | None) -> Axes:
    axes = prepare_axes(ax, 7, 3.2)
    axes.axhline(0, color=GREY, linewidth=0.8)
    for i, line in enumerate(effect.log_odds):
        if effect.points is not None:
            axes.plot(effect.points, line, linewidth=1.6, **_style(effect, i))
            continue
        margin = _MARGIN * (cuts[-1] - cuts[0]) or abs(cuts[0]) * _MARGIN or 1.0
        edges = [cuts[0] - margin, *cuts, cuts[-1] + margin]
        axes.stairs(line[: len(cuts) + 1], edges, baseline=None, linewidth=1.6, **_style(effect, i))
    axes.set_xlabel(broken(effect.feature))
    axes.set_ylabel(broken(f"adds to the log odds of {effect.target}"))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _draw_levels(effect: Effect, ax: Axes | None) -> Axes:
    n_lines = len(effect.parent_levels)
    axes = horizontal_axes(ax, list(map(str, effect.levels)), height=0.3 + 0.1 * n_lines)
    height = 0.72 / n_lines
    for i, line in enumerate(effect.log_odds):
        middle = np.arange(len(effect.levels)) + (i - (n_lines - 1) / 2) * height
        axes.barh(middle, line, height=height, **_style(effect, i))
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel(broken(f"adds to the log odds of {effect.target}", 48))
    axes.set_ylabel(broken(effect.feature))
    return axes


def _style(effect: Effect, i: int) -> dict[str, Any]:
    """Return a label and a blue that is darker for later levels of the parent."""
    if effect.parent is None:
        return {"color": BLUE}
    depth = 0.3 + 0.7 * (i + 1) / len(effect.parent_levels)
    return {"color": blend(BLUE, depth), "label": broken(effect.parent_levels[i])}
