"""Pictures of what single features add to the log odds of a class."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..functions.effects import Effect, measure_effect
from ..model.model import Model
from .canvas import broken, chart, horizontal_axes, prepare_axes
from .marks import BLUE, GREY, blend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.08  # of the range of the cuts, drawn on either side


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
        If the model is a structure without parameters, or has no such class.

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
    axes = _draw_steps(effect, cuts, ax) if cuts else _draw_bars(effect, ax)
    if effect.parent is not None:
        axes.legend(title=broken(effect.parent), frameon=False, fontsize="small", **_BESIDE)
    return axes


_BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)}


def _cuts_of(x: Model, feature: Hashable) -> tuple[float, ...]:
    """Return where the model cuts a number; nothing for a category."""
    discretizer = x.preparation.discretizer if x.preparation is not None else None
    return discretizer.cuts.get(feature, ()) if discretizer is not None else ()


def _label(effect: Effect, i: int) -> str | None:
    return None if effect.parent is None else broken(effect.parent_levels[i])


def _draw_steps(effect: Effect, cuts: tuple[float, ...], ax: Axes | None) -> Axes:
    axes = prepare_axes(ax, 7, 3.2)
    margin = _MARGIN * (cuts[-1] - cuts[0]) or abs(cuts[0]) * _MARGIN or 1.0
    edges = [cuts[0] - margin, *cuts, cuts[-1] + margin]
    axes.axhline(0, color=GREY, linewidth=0.8)
    for i, line in enumerate(effect.log_odds):
        axes.stairs(
            line, edges, baseline=None, color=_shade(effect, i), linewidth=1.6, label=_label(effect, i)
        )
    axes.set_xlabel(broken(effect.feature))
    axes.set_ylabel(broken(f"adds to the log odds of {effect.target}"))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _draw_bars(effect: Effect, ax: Axes | None) -> Axes:
    axes = horizontal_axes(
        ax, [str(level) for level in effect.levels], height=0.3 + 0.1 * len(effect.parent_levels)
    )
    height = 0.72 / len(effect.parent_levels)
    positions = np.arange(len(effect.levels))
    for i, line in enumerate(effect.log_odds):
        middle = positions + (i - (len(effect.parent_levels) - 1) / 2) * height
        axes.barh(middle, line, height=height, color=_shade(effect, i), label=_label(effect, i))
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_xlabel(broken(f"adds to the log odds of {effect.target}", 48))
    axes.set_ylabel(broken(effect.feature))
    return axes


def _shade(effect: Effect, i: int) -> Any:
    """Return a blue, the darker the later the level of the parent."""
    return BLUE if effect.parent is None else blend(BLUE, 0.3 + 0.7 * (i + 1) / len(effect.parent_levels))
