"""Charts of performance: searches, folds, confusion matrices, calibration, ranks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..accessors import check_interval
from ..classifiers import BNC
from ..judge.calibration import bin_class_probabilities
from ..judge.compare import (
    RankComparison,
    corrected_error,
    ratio_of_test_to_training_rows,
    t_half_width,
)
from ..metrics import METRICS
from ..questions.learned import search_steps
from ..tools.arrays import TOLERANCE, Array
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, must_be
from ..validation import recorded_scheme, values_of_metric
from .canvas import (
    BLUE,
    GREY,
    LINE,
    ORANGE,
    PALE,
    Axes,
    add_title_and_legend,
    column_labels,
    draw_cells_of_shares,
    horizontal_axes,
    in_chart_style,
    label_in_lines,
    max_lines,
    prepare_axes,
    text_width,
    write_beside,
)

_MOST_FIGURES = 30  # classes
_LEAST = 1e-300  # divisor in place of 0


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
        cells = np.stack([counts.to_numpy(dtype=float).ravel(), shares.ravel()], axis=1)
        texts = [f"{count:,.0f}\n{share:.0%}" for count, share in list[list[float]](cells.tolist())]
        least = max(0.5, text_width(texts)) + 0.1
        columns, cell, depth, is_vertical = column_labels(labels, least, n)
        width = max(3.0, 0.7 + text_width(rows) + cell * n)
        height = 0.6 + depth + max(0.36, LINE * max_lines(rows) + 0.1) * n
    axes = prepare_axes(ax, height, width)
    draw_cells_of_shares(axes, shares, texts)
    axes.set_xticks(places, columns, rotation=90 if is_vertical else 0)
    axes.set_yticks(places, rows)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="predicted", ylabel="actual")
    total, right = float(table.sum()), float(np.diagonal(table).sum())
    correct = right / max(total, _LEAST)
    title = f"{total:,.0f} rows, {correct:.1%} correct\n% and shade: share of the actual class"
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
    calibration = bin_class_probabilities(
        posteriors, actual, bins=bins, strategy=strategy, target=target
    )
    axes = prepare_axes(ax, 3.4, 3.6)
    at, names = calibration.predicted, dict[str, Any]()
    low, high = float(calibration.rows.min()), float(calibration.rows.max())
    area = f"share in {low:,.0f} to {high:,.0f} rows (area)"
    sizes = 8 + 90 * calibration.rows / high
    names[area] = axes.scatter(at, calibration.actual, s=sizes, zorder=3, linewidth=0, color=BLUE)
    ends = calibration.low, calibration.high
    names["95 % interval of the share"] = axes.vlines(at, *ends, linewidth=1, zorder=2, color=BLUE)
    names["95 % of calibrated models"] = axes.vlines(
        at, *calibration.band, color=PALE, linewidth=7, zorder=0
    )
    (names["perfect calibration"],) = axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=1)
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    target = calibration.target
    chosen = "the most probable class" if target is None else target
    share = "in which it is right" if target is None else f"of class {target}"
    axes.set_ylabel(label_in_lines(f"share of rows {share}", 40))
    error = float(np.average(np.abs(at - calibration.actual), weights=calibration.rows))
    title = f"{calibration.rows.sum():,.0f} rows, calibration error {error:.3f}"
    add_title_and_legend(axes, ax, title, f"probability given to {chosen}", names)
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
    axes.set_xticks(range(1, len(ranks) + 1))
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(f"average rank on {comparison.data_sets:,} data sets, 1 is best")
    axes.set_yticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.spines["top"].set_visible(True)
    return axes
