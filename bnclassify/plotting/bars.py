"""Charts of features: weights of evidence, importance, weights and effects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.arrays import Array
from ..base.messages import shown
from ..frames.encoding import Row
from ..frames.schema import Dataset
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
    name_colours,
    prepare_axes,
    signed,
    write_at_ends,
    write_below,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEYOND = 1.25  # ratio of infinite bars to the longest finite one

_MOST_LEVELS = 300

_MARGIN = 0.08  # of the range of the cut points, drawn on either side

_BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)}


@chart
def plot_explanation(
    x: Model,
    row: pd.DataFrame | Dataset | Row,
    *,
    target: Any = None,
    against: Any = None,
    unseen: str = "error",
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw what each feature of a row adds to the log odds of a class, as bars, the longest first.

    Parameters
    ----------
    x : Model
        With parameters, of whatever kind.
    row, target, against, unseen
        The row, the class to explain, those it is compared with, and what becomes of values that
        the model does not know, as in `explain`.
    top : int, optional
        How many bars to draw; the others are added up in one more. None draws all.
    {ax}

    Returns
    -------
    {axes}

    Raises
    ------
    {errors}
    KeyError, TypeError, ValueError
        As `explain`, or if ``top`` is not a positive whole number.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_explanation, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> ax = plot_explanation(model, car.iloc[1727])
    >>> ax.get_xlabel()
    'log odds of vgood against acc: +0.95'
    """
    _check_top(top)
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
    name_colours(axes, {BLUE: f"speaks for {explanation.target}", ORANGE: f"for {explanation.rival}"})
    return axes


@chart
def plot_importance(
    x: Model,
    dataset: pd.DataFrame | Dataset,
    *,
    target: Any = None,
    against: Any = None,
    unseen: str = "error",
    top: int | None = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw how much each feature tells of the class: its mean absolute weight of evidence, as bars.

    Parameters
    ----------
    x : Model
        With parameters, of whatever kind.
    dataset : pandas.DataFrame or Dataset
        The rows to explain; the class may be missing.
    target, against, unseen
        The class to explain, those it is compared with, and what becomes of values that the model does
        not know, as in `explain`: by default, in each row the class predicted and the likeliest other.
    top : int, optional
        How many features to draw, those that tell most. None draws all.
    {ax}

    Returns
    -------
    {axes}

    Raises
    ------
    {errors}
    KeyError, TypeError, ValueError
        As `explain`, or if there are no rows, or ``top`` is not a positive whole number.

    Notes
    -----
    The bar of a feature is the mean, over rows, of the absolute value of the log odds that it adds, in
    nats, as `explain` has them; where it is missing it adds 0. It says how much the model relies on the
    feature, not what there is in the data: a feature may tell little because another, known before it,
    has told the same.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_importance, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> ax = plot_importance(model, car)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['safety', 'persons']
    """
    _check_top(top)
    data = encode_rows(x, dataset, "dataset")
    if not len(data):
        raise ValueError("dataset: expected rows to explain, got none")
    evidence = weigh_evidence(x, data, target, against, unseen, argument="dataset")
    means = np.abs(evidence.log_odds[:, 1:]).mean(axis=0).tolist()
    axes, shown = _draw_largest(ax, [str(x.features[i]) for i in evidence.order], means, top)
    caption = f"mean absolute weight of evidence in {len(data):,} rows{shown}"
    target_name = "the class predicted" if target is None else target
    rivals = np.asarray(evidence.rivals.any(axis=0))
    rival = "the likeliest other" if against is None else write_rivals(classes(x), rivals)
    write_below(axes, caption, f"for {target_name} against {rival}")
    return axes


@chart
def plot_weights(x: Model, *, top: int | None = 50, ax: Axes | None = None) -> Axes:
    """Draw the weight of each feature, or the posterior that MANB gave its arc from the class.

    Parameters
    ----------
    x : BNC or another model
        A model with weights or arc posteriors; see `feature_weights` and `manb_arc_posterior`. Where the
        class has a weight, it has a bar too.
    top : int, optional
        How many features to draw, those of the largest weights. None draws all.
    {ax}

    Returns
    -------
    {axes}

    Raises
    ------
    {errors}
    TypeError
        If ``x`` is a model that has neither whatever its parameters, such as an ensemble.
    ValueError
        If the model has neither, or ``top`` is not a positive whole number.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_weights
    >>> car = load_car()
    >>> ax = plot_weights(lp(nb("class", car), car, smooth=1, manb_prior=0.5))
    >>> ax.get_xlabel()
    'posterior of the arc from class'
    """
    _check_top(top)
    arcs = "arc_posteriors" in check_model(x).learned
    numbers = manb_arc_posterior(x) if arcs else feature_weights(x)
    axes, shown = _draw_largest(ax, list(map(str, numbers.index)), numbers.tolist(), top)
    axes.set_xlim(min(0.0, 1.2 * numbers.min()), max(1.0, axes.get_xlim()[1]))
    quantity = f"posterior of the arc from {x.class_var}" if arcs else "weight"
    write_below(axes, f"{quantity}{shown}")
    return axes


def _draw_bars(
    ax: Axes | None, labels: Sequence[str], numbers: Sequence[float], texts: Sequence[str]
) -> tuple[Axes, Array]:
    """Draw bars with a text at their ends, orange where negative; return the axes and the lengths."""
    sizes = np.array(numbers)
    reach = np.abs(sizes[np.isfinite(sizes)]).max(initial=0.0) or 1.0
    lengths = np.clip(sizes, -_BEYOND * reach, _BEYOND * reach)
    axes = horizontal_axes(ax, labels)
    colours = np.where(sizes < 0, ORANGE, BLUE)
    write_at_ends(axes, axes.barh(np.arange(len(sizes)), lengths, color=colours, height=0.72), texts)
    return axes, lengths


def _draw_largest(
    ax: Axes | None, labels: Sequence[str], numbers: Sequence[float], top: int | None
) -> tuple[Axes, str]:
    """Draw the largest of some numbers, none below 0; return the axes, and which they are if not all."""
    bars = sorted(zip(labels, numbers, strict=True), key=lambda bar: -bar[1])[:top]
    texts = [f"{number:.2f}".replace("inf", "∞") for _, number in bars]
    axes, lengths = _draw_bars(ax, [label for label, _ in bars], [number for _, number in bars], texts)
    axes.set_xlim(0, (1 + _text_share(axes)) * (lengths.max(initial=0.0) or 1.0))
    return axes, "" if len(bars) == len(numbers) else f", the {len(bars)} largest"


def _text_share(axes: Axes) -> float:
    """Return the share of the axes that a figure at the end of a bar takes."""
    return max(0.14, 10 / letters_across(axes))


def _longest(bars: list[tuple[str, float]], top: int | None) -> list[tuple[str, float]]:
    """Order bars by length and add up those that are too many."""
    ordered = sorted(bars, key=lambda bar: -abs(bar[1]))
    if top is None or len(ordered) <= top + 1:
        return ordered
    rest = ordered[top:]
    return [*ordered[:top], (f"the {len(rest)} others", float(sum(weight for _, weight in rest)))]


def _check_top(top: object) -> None:
    if top is not None and (isinstance(top, bool) or not isinstance(top, Integral) or int(top) < 1):
        raise ValueError(f"top: expected a number of bars, at least 1, or None for all, got {shown(top)}")


@chart
def plot_effect(x: Model, feature: Hashable, *, target: Any = None, ax: Axes | None = None) -> Axes:
    """Draw what a feature adds to the log odds of a class over its range.

    That of a number that the model cuts is a curve with steps, that of a category bars. If the feature
    has feature parents, there is a line or bar for levels of the first one, five at most. This is how
    to read a model that averages over cuttings: a prediction is the sum of such curves.

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters.
    feature : str
        One of the model.
    target : optional
        The class; by default the likeliest where nothing is known.
    {ax}

    Returns
    -------
    {axes}

    Raises
    ------
    {errors}
    TypeError
        If ``x`` is no model.
    KeyError
        If the model has no such feature.
    ValueError
        If the model is a structure without parameters, or has no such class, or the feature has more than
        300 levels and is not a number that the model discretizes.

    Notes
    -----
    Drawn is ln O(target | v, u) − ln O(target | u), with v a level of the feature, u that of its first
    parent, all other features unknown, and O the odds against all other classes. Of a model with weights
    that is what its own table says, times its weight: further parents, being unknown, are backed off from.

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
    axes = _draw_steps(effect, cuts, ax) if cuts else _draw_levels(effect, ax)
    if effect.parent is not None:
        axes.legend(title=broken(effect.parent), frameon=False, fontsize="small", **_BESIDE)
    return axes


def _cuts_of(x: Model, feature: Hashable) -> tuple[float, ...]:
    """Return where the model cuts a number; nothing for a category."""
    discretizer = x.preparation.discretizer if x.preparation is not None else None
    return discretizer.cuts.get(feature, ()) if discretizer is not None else ()


def _parent_label(effect: Effect, i: int) -> str | None:
    return None if effect.parent is None else broken(effect.parent_levels[i])


def _draw_steps(effect: Effect, cuts: tuple[float, ...], ax: Axes | None) -> Axes:
    axes = prepare_axes(ax, 7, 3.2)
    margin = _MARGIN * (cuts[-1] - cuts[0]) or abs(cuts[0]) * _MARGIN or 1.0
    edges = [cuts[0] - margin, *cuts, cuts[-1] + margin]
    axes.axhline(0, color=GREY, linewidth=0.8)
    for i, line in enumerate(effect.log_odds):
        axes.stairs(
            line[: len(cuts) + 1],
            edges,
            baseline=None,
            color=_shade(effect, i),
            linewidth=1.6,
            label=_parent_label(effect, i),
        )
    axes.set_xlabel(broken(effect.feature))
    axes.set_ylabel(broken(f"adds to the log odds of {effect.target}"))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _draw_levels(effect: Effect, ax: Axes | None) -> Axes:
    axes = horizontal_axes(
        ax, [str(level) for level in effect.levels], height=0.3 + 0.1 * len(effect.parent_levels)
    )
    height = 0.72 / len(effect.parent_levels)
    positions = np.arange(len(effect.levels))
    for i, line in enumerate(effect.log_odds):
        middle = positions + (i - (len(effect.parent_levels) - 1) / 2) * height
        axes.barh(middle, line, height=height, color=_shade(effect, i), label=_parent_label(effect, i))
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel(broken(f"adds to the log odds of {effect.target}", 48))
    axes.set_ylabel(broken(effect.feature))
    return axes


def _shade(effect: Effect, i: int) -> Any:
    """Return a blue, the darker the later the level of the parent."""
    return BLUE if effect.parent is None else blend(BLUE, 0.3 + 0.7 * (i + 1) / len(effect.parent_levels))
