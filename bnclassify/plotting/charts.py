"""Charts drawn by matplotlib, which the extra ``plot`` installs: each returns its axes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..evaluation.explanation import describe, weigh_evidence
from ..evaluation.schemes import choose_metric, scheme_of
from ..frames.schema import Dataset
from ..inference.metrics import METRICS
from ..model.kinds import Model
from ..model.networks import BNC, check_single
from ..model.questions import families, features, values
from ..model.tables import cpt
from ..model.traces import greedy_scores
from .canvas import (
    ABOVE,
    broken,
    count_lines,
    estimate_width,
    horizontal_axes,
    name_colours,
    note,
    prepare_axes,
    white_to_blue,
    write_at_ends,
)
from .marks import BLUE, GREY, ORANGE, blend, ink, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 300  # of a table, a picture of 90 inches
_FEW_FOLDS = 30  # whose dots do not lie over one another


def plot_explanation(
    x: Model,
    row: pd.DataFrame | pd.Series[Any] | Mapping[Any, Any] | Dataset,
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
    x : BNC or AODE
        A model with parameters.
    row, target, against, unseen
        The row, the class to explain, those it is compared with, and what becomes of values that
        the model does not know, as in `explain`.
    top : int, optional
        How many bars to draw; the others are added up in one more. None draws all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of a size that fits.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
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
    evidence = weigh_evidence(x, row, target, against, unseen)
    pairs = zip(evidence.known.items(), evidence.log_odds.tolist(), strict=True)
    bars = [(describe(variable, value), weight) for (variable, value), weight in pairs]
    bars[0] = f"prior of {evidence.target}", bars[0][1]
    bars = _longest(bars, top)
    weights = np.array([weight for _, weight in bars])
    finite = np.abs(weights[np.isfinite(weights)])
    reach = finite.max(initial=0.0) or 1.0
    lengths = np.clip(weights, -1.25 * reach, 1.25 * reach)
    axes = horizontal_axes(ax, [label for label, _ in bars])
    drawn = axes.barh(np.arange(len(bars)), lengths, color=np.where(weights < 0, ORANGE, BLUE), height=0.72)
    write_at_ends(axes, drawn, [signed(weight) for weight in weights])
    low, high = lengths.min(initial=0.0), lengths.max(initial=0.0)
    room = 0.14 * ((high - low) or 1.0)  # for the figures at the ends
    axes.set_xlim(low - room * (low < 0), high + room * (high > 0 or low == 0))
    axes.axvline(0, color=GREY, linewidth=0.8)
    total = signed(float(evidence.log_odds.sum()))
    axes.set_xlabel(broken(f"log odds of {evidence.target} against {evidence.rival}: {total}", 48))
    name_colours(axes, {BLUE: f"speaks for {evidence.target}", ORANGE: f"for {evidence.rival}"})
    return axes


def plot_cpt(x: BNC, variable: Hashable, *, ax: Axes | None = None) -> Axes:
    """Draw one conditional probability table as a heat map: a column a class, a row a level.

    With feature parents there is a block of rows for each configuration of them. Each column of a
    block is a distribution; along a row one sees which classes a value speaks for.

    Parameters
    ----------
    x : BNC
        A model with parameters.
    variable : str
        A feature or the class.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of a size that fits.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    KeyError
        If the model has no such variable.
    TypeError
        If the model is an ensemble; draw one of ``members(x)``.
    ValueError
        If the model has no parameters, or the table more than 300 rows.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, plot_cpt
    >>> car = load_car()
    >>> ax = plot_cpt(lp(nb("class", car), car, smooth=1), "safety")
    >>> ax.get_title("left")
    'P(safety | class)'
    """
    frame = cpt(x, variable)
    family, labels = families(x)[variable], values(x)
    parents, levels = family[1:-1], labels[variable]
    classes = labels[family[-1]] if len(family) > 1 else ("",)
    # From a level a row and parents and class along the columns, to a block a configuration.
    blocks = frame.to_numpy().reshape(len(levels), -1, len(classes)).swapaxes(0, 1)
    table = blocks.reshape(-1, len(classes))
    if len(table) > _MOST_ROWS:
        raise ValueError(
            f"variable: the table of {variable!r} has {len(table):,} rows, more than the {_MOST_ROWS:,} that "
            "a picture holds; read cpt(x, variable) instead"
        )
    names = [broken(label, 14) for label in classes]
    rows = [broken(level) for level in levels] * len(blocks)
    states = list(np.ndindex(*(len(labels[v]) for v in parents))) if parents else []
    given = [
        broken(", ".join(describe(v, labels[v][k]) for v, k in zip(parents, state, strict=True)))
        for state in states
    ]
    condition = f" | {', '.join(map(str, family[1:]))}" if len(family) > 1 else ""
    title = broken(f"P({variable}{condition})", 60)
    cells = len(classes) * max(0.6, estimate_width(names) + 0.1)
    width = 0.3 + estimate_width(rows) + max(estimate_width([title]), cells + estimate_width(given))
    axes = prepare_axes(ax, width, 0.6 + 0.17 * (count_lines([title]) + count_lines(names)) + 0.3 * len(rows))
    axes.imshow(table, cmap=white_to_blue(), vmin=0, vmax=1, aspect="auto")
    for (i, j), share in np.ndenumerate(table):
        axes.text(j, i, f"{share:.2f}", ha="center", va="center", color=ink(blend(BLUE, share)))
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for i, text in enumerate(given):
        axes.text(len(classes) - 0.4, (i + 0.5) * len(levels) - 0.5, text, ha="left", va="center")
        axes.axhline((i + 1) * len(levels) - 0.5, color="white", linewidth=4)
    axes.set_title(title, fontsize="medium", loc="left")
    return axes


def plot_weights(x: BNC, *, top: int | None = 50, ax: Axes | None = None) -> Axes:
    """Draw the weight that AWNB or WANBIA gave each feature, or the posterior that MANB gave its arc.

    Parameters
    ----------
    x : BNC
        A model with weights or arc posteriors; see `feature_weights` and `manb_arc_posterior`.
    top : int, optional
        How many features to draw, those of the largest weights. None draws all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of a size that fits.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If the model is an ensemble, which has neither.
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
    model = check_single(x, "plot_weights")
    _check_top(top)
    posteriors = model.learned.get("arc_posteriors")
    numbers = model.learned.get("weights") if posteriors is None else posteriors
    if numbers is None:
        raise ValueError(
            "x: has neither weights nor arc posteriors; lp(x, dataset, smooth=..., awnb_trees=...), "
            "lp(..., wanbia=True) or lp(..., manb_prior=...) makes them"
        )
    bars = sorted(zip(map(str, features(model)), numbers, strict=True), key=lambda bar: -bar[1])[:top]
    axes = horizontal_axes(ax, [label for label, _ in bars])
    drawn = axes.barh(np.arange(len(bars)), [number for _, number in bars], color=BLUE, height=0.72)
    write_at_ends(axes, drawn, [f"{number:.2f}" for _, number in bars])
    axes.set_xlim(0, 1)
    what = "weight" if posteriors is None else f"posterior of the arc from {model.class_var}"
    axes.set_xlabel(broken(what if len(bars) == len(numbers) else f"{what}, the {len(bars)} largest", 48))
    return axes


def plot_scores(x: BNC, *, ax: Axes | None = None) -> Axes:
    """Draw the score that a greedy search reached step by step.

    Parameters
    ----------
    x : BNC
        A structure found by greedy search; see `greedy_scores`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If ``x`` is no single network.
    ValueError
        If the structure was not found by greedy search.

    Examples
    --------
    >>> from bnclassify import load_car, plot_scores, tan_hc
    >>> ax = plot_scores(tan_hc("class", load_car(), k=5, smooth=1, rng=0))
    >>> ax.get_ylabel()
    'cross-validated accuracy'
    """
    scores = greedy_scores(x)
    axes = prepare_axes(ax, 6, 3.5)
    axes.plot(scores, color=BLUE, marker="o")
    axes.set(xlabel="steps from the initial structure", ylabel="cross-validated accuracy")
    axes.set_xticks(range(0, len(scores), 1 + len(scores) // 20))
    axes.margins(y=0.15)
    axes.set_xlim(-0.5, len(scores) - 0.5)
    for step, rise in {0: -15, len(scores) - 1: 6}.items():
        note(axes, f"{scores[step]:.3f}", step, scores[step], rise)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def plot_cv(results: pd.DataFrame, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw how good several models are in each fold, their means, and what the largest class alone scores.

    Parameters
    ----------
    results : pandas.DataFrame
        What ``cv(..., mean=False)`` returns: a row a fold, a column a model.
    metric : str, optional
        Which, if ``results`` has several.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of a size that fits.

    Returns
    -------
    matplotlib.axes.Axes
        A line a model, in it a dot a fold, the first fold at the top, so that the folds of two
        models can be compared. A dashed line marks what the largest class alone scores, unless the
        figures were not made by `cv`. ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If ``results`` is no such DataFrame.
    ValueError
        If ``results`` has several metrics and none is chosen, or not the one that is.

    Examples
    --------
    >>> from bnclassify import cv, load_car, lp, nb, plot_cv, tan_cl
    >>> car = load_car()
    >>> models = {"nb": lp(nb("class", car), car, smooth=1),
    ...           "tan": lp(tan_cl("class", car), car, smooth=1)}
    >>> ax = plot_cv(cv(models, car, k=5, rng=0, mean=False))
    >>> ax.get_xlabel()
    'accuracy in the fold'
    """
    if not isinstance(results, pd.DataFrame):
        raise TypeError(f"results: expected what cv(..., mean=False) returns, got {type(results).__name__}")
    scheme = scheme_of(results)
    figures, name = choose_metric(results, metric, scheme)
    if figures.empty or not all(map(pd.api.types.is_numeric_dtype, figures.dtypes)):
        raise TypeError("results: expected numbers, a row a fold and a column a model")
    axes = horizontal_axes(ax, list(map(str, figures.columns)), height=0.75)
    marks = _draw_folds(axes, figures)
    alone = scheme.baselines.get(str(name)) if scheme else None
    if alone is not None:
        marks["largest class alone"] = axes.axvline(alone, color=BLUE, linewidth=1, linestyle="--", zorder=0)
    axes.legend(marks.values(), marks.keys(), ncols=2, columnspacing=1, frameon=False, **ABOVE)
    loss = ", less is better" if name in METRICS and METRICS[str(name)].is_loss else ""
    axes.set_xlabel(broken(f"{str(name or 'figure').replace('_', ' ')} in the fold{loss}", 48))
    return axes


def _draw_folds(axes: Axes, figures: pd.DataFrame) -> dict[str, Any]:
    """Draw dots for the folds of each model and a line at their mean; return both by what they are."""
    n = len(figures)
    spread = np.linspace(-0.22, 0.22, n) if n > 1 else np.zeros(1)
    size, opacity = (4, 1.0) if n <= _FEW_FOLDS else (3, 0.5)
    means = figures.mean().to_numpy()
    for model, column in enumerate(figures.to_numpy().T):
        dots = axes.plot(column, model + spread, "o", color=GREY, markersize=size, alpha=opacity)[0]
    places = np.arange(len(means))
    line = axes.vlines(means, places - 0.3, places + 0.3, color=ORANGE, linewidth=2)
    for model, mean in enumerate(means):
        note(axes, f"{mean:.3f}", mean, model - 0.3, 2, color=ORANGE)
    return {"a fold": dots, "mean": line}


def _longest(bars: list[tuple[str, float]], top: int | None) -> list[tuple[str, float]]:
    """Order bars by length and add up those that are too many."""
    ordered = sorted(bars, key=lambda bar: -abs(bar[1]))
    if top is None or len(ordered) <= top + 1:
        return ordered
    rest = ordered[top:]
    return [*ordered[:top], (f"the {len(rest)} others", float(sum(weight for _, weight in rest)))]


def _check_top(top: object) -> None:
    if top is not None and (isinstance(top, bool) or not isinstance(top, Integral) or int(top) < 1):
        raise ValueError(f"top: expected a number of bars, at least 1, or None for all, got {top!r}")
