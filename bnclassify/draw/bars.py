"""Charts of bars: weights of evidence, importance, weights of features and strengths of arcs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..accessors import check_fitted, check_has_rows, check_model, classes, encode_for_model
from ..explanations.explain import explain_row, rivals_in_words, value_in_words
from ..frames import AnyTable, Row
from ..judge.arc_strength import check_strength, chosen_threshold
from ..model import Model
from ..prediction import weigh_evidence
from ..questions.learned import feature_weights, manb_arc_posterior
from ..tools.arrays import Array, Positions
from ..tools.checks import Optional, Unseen, Whole
from .canvas import (
    BLUE,
    GREY,
    ORANGE,
    Axes,
    add_title_and_legend,
    filled_rectangle,
    horizontal_axes,
    in_chart_style,
    ink,
    letters_per_line,
    probability_text,
    signed_weight,
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
    title = f"Importance in {n_rows:,} rows\nfor {target_name} against {rival}"
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


def _draw_bars(
    ax: Axes | None,
    labels: Sequence[str],
    numbers: Sequence[float] | Array,
    texts: Sequence[str],
    ends: Sequence[float] | Array | None = None,
) -> Axes:
    """Draw bars, negative ones in orange, with texts at their ends or at other places."""
    sizes = np.array(numbers, dtype=float)
    reach: float = np.abs(sizes[np.isfinite(sizes)]).max(initial=0.0) or 1.0
    lengths: Array = np.clip(sizes, -_BEYOND * reach, _BEYOND * reach)
    places = lengths if ends is None else np.clip(ends, lengths, 2 * _BEYOND * reach)
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
