"""Charts of searches and of folds, by matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..functions.schemes import choose_metric, scheme_of
from ..metrics.metrics import METRICS
from ..model.traces import greedy_scores
from ..network.classifiers import BNC
from .canvas import ABOVE, BLUE, GREY, ORANGE, broken, chart, horizontal_axes, note, prepare_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW_FOLDS = 30  # whose dots do not lie over one another


@chart
def plot_scores(x: BNC, *, ax: Axes | None = None) -> Axes:
    """Draw the score that a greedy search reached step by step.

    Parameters
    ----------
    x : BNC
        A structure found by greedy search; see `greedy_scores`.
    {ax}

    Returns
    -------
    {axes}

    Raises
    ------
    {errors}
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
    scores, metric = greedy_scores(x), METRICS[x.trace["metric"]]
    axes = prepare_axes(ax, 6, 3.5)
    axes.plot(scores, color=BLUE, marker="o")
    ylabel = f"cross-validated {metric.name}{', negative' if metric.is_loss else ''}"
    axes.set(xlabel="steps from the initial structure", ylabel=ylabel)
    axes.set_xticks(range(0, len(scores), 1 + len(scores) // 20))
    axes.margins(y=0.15)
    axes.set_xlim(-0.5, len(scores) - 0.5)
    for step, rise in {0: -15, len(scores) - 1: 6}.items():
        note(axes, f"{scores[step]:.3f}", step, scores[step], rise)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


@chart
def plot_cv(results: pd.DataFrame, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw how good several models are in each fold, their means, and what the largest class alone scores.

    Parameters
    ----------
    results : pandas.DataFrame
        What ``cv(..., mean=False)`` returns: a row a fold, a column a model.
    metric : str, optional
        Which, if ``results`` has several.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        A line a model, in it a dot a fold, the first fold at the top, so that the folds of two
        models can be compared. A dashed line marks what the largest class alone scores, unless the
        figures were not made by `cv`. ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    {errors}
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
    baseline = scheme.baselines.get(str(name)) if scheme else None
    if baseline is not None:
        marks["largest class alone"] = axes.axvline(
            baseline, color=BLUE, linewidth=1, linestyle="--", zorder=0
        )
    axes.legend(marks.values(), marks.keys(), ncols=2, columnspacing=1, frameon=False, **ABOVE)
    loss = ", less is better" if name in METRICS and METRICS[str(name)].is_loss else ""
    axes.set_xlabel(broken(f"{str(name or 'figure').replace('_', ' ')} in the fold{loss}", 48))
    return axes


def _draw_folds(axes: Axes, figures: pd.DataFrame) -> dict[str, Any]:
    """Draw dots for the folds of each model and a line at their mean; return both by what they are."""
    n = len(figures)
    spread = np.linspace(-0.22, 0.22, n) if n > 1 else np.zeros(1)
    dot_size, opacity = (4, 1.0) if n <= _FEW_FOLDS else (3, 0.5)
    means = figures.mean().to_numpy()
    for model, column in enumerate(figures.to_numpy().T):
        dots = axes.plot(column, model + spread, "o", color=GREY, markersize=dot_size, alpha=opacity)[0]
    places = np.arange(len(means))
    line = axes.vlines(means, places - 0.3, places + 0.3, color=ORANGE, linewidth=2)
    for model, mean in enumerate(means):
        note(axes, f"{mean:.3f}", mean, model - 0.3, 2, color=ORANGE)
    return {"a fold": dots, "mean": line}
