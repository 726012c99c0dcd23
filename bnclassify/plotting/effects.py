"""The chart of the effect of a feature: a curve of a number, or points of levels."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.messages import shown
from ..frames.opening import InFull
from ..frames.schema import Dataset, match
from ..inference.evidence import Effect, measure_effect
from ..inference.explain import describe
from ..model.arguments import encode_for, read_for
from ..model.model import Model
from .canvas import (
    GREY,
    LINES,
    broken,
    chart,
    entitle,
    horizontal_axes,
    prepare_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LEVELS = 300
_MARGIN = 0.08  # share of the range of the cut points, drawn on both sides
_MOST_MARKS = 500  # of values


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
    cuts = () if x.discretizer is None else x.discretizer.cuts.get(feature, ())
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
    if x.discretizer is not None and x.discretizer.ranges:
        found += x.discretizer.ranges[x.discretizer.columns.index(feature)]
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
