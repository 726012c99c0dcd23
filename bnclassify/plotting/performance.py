"""Charts of how good models are: confusions, calibration, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array
from ..base.checks import Whole
from ..functions.calibration import weigh_calibration
from ..functions.ranking import RankComparison
from .canvas import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    blend,
    broken,
    chart,
    count_lines,
    estimate_width,
    ink,
    prepare_axes,
    white_to_blue,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BINS = 10_000
_BAND = "95 % of calibrated models"
_MOST_FIGURES = 60  # classes


@chart
def plot_confusion(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw which classes were taken for which: actual classes down, predicted across.

    Parameters
    ----------
    counts : pandas.DataFrame
        What `confusion` returns.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        Each cell contains its count, and is darker if its share of the row is larger. With more than 60
        classes, cells have no numbers, and some of the classes have a label.
        ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    {errors}
    TypeError, ValueError
        If ``counts`` is no table of counts with the same classes down and across.

    Examples
    --------
    >>> from bnclassify import confusion, load_car, lp, nb, plot_confusion, predict
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> ax = plot_confusion(confusion(predict(model, car), car["class"]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted', 'actual')
    """
    table = _check_counts(counts)
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.zeros(table.shape), where=totals > 0)
    axes = (
        _draw_few(counts, table, shares, ax)
        if len(table) <= _MOST_FIGURES
        else _draw_many(counts, shares, ax)
    )
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="predicted", ylabel="actual")
    return axes


def _draw_many(counts: pd.DataFrame, shares: Array, ax: Axes | None) -> Axes:
    """Draw the shares of many classes without numbers, and the labels of some."""
    axes = prepare_axes(ax, 9, 9)
    axes.imshow(shares, cmap=white_to_blue(), vmin=0, vmax=1, aspect="auto")
    places = np.linspace(0, len(shares) - 1, 15).astype(int)
    labels = [broken(label, 14) for label in counts.index[places]]
    axes.set_xticks(places, labels, rotation=90)
    axes.set_yticks(places, labels)
    return axes


def _draw_few(counts: pd.DataFrame, table: Array, shares: Array, ax: Axes | None) -> Axes:
    """Draw shares with the count in each cell, and the labels of all classes."""
    rows = [broken(label) for label in counts.index]
    columns = [broken(label, 14) for label in counts.columns]
    texts = [f"{count:,.0f}" for count in table.ravel()]
    cell = max(0.6, estimate_width(columns), estimate_width(texts)) + 0.1
    width = 0.7 + estimate_width(rows) + cell * len(columns)
    height = 0.7 + 0.17 * count_lines(columns) + max(0.35, 0.17 * count_lines(rows) + 0.1) * len(rows)
    axes = prepare_axes(ax, width, height)
    axes.imshow(shares, cmap=white_to_blue(), vmin=0, vmax=1, aspect="auto")
    for (i, j), count in np.ndenumerate(table):
        axes.text(
            j, i, f"{count:,.0f}", ha="center", va="center", color=ink(blend(BLUE, float(shares[i, j])))
        )
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    return axes


@chart
def plot_calibration(
    posteriors: pd.DataFrame,
    actual: pd.Series[Any],
    *,
    bins: int = 10,
    target: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of rows of a class against its posterior probability: a reliability diagram.

    Parameters
    ----------
    posteriors : pandas.DataFrame
        Posterior probabilities with one column per class, such as those of `cv_predict`. Posteriors of
        the rows from which a model was learned are too optimistic.
    actual : pandas.Series
        Class of each row.
    bins : int, default 10
        Number of intervals of equal width.
    target : label, optional
        Class whose probabilities are drawn. By default, it is the rarer of two classes, or in each row the
        most probable of several.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        One dot per interval that has rows, larger with more rows: the share of rows of the class against
        the mean probability, with Wilson's interval of 95 % confidence. On the diagonal they are equal;
        below it, the model is overconfident. A gray bar on the diagonal contains the share in 95 % of
        samples if the posteriors are calibrated, so dots outside of it are evidence that they are not.
        ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    {errors}
    TypeError, ValueError
        If `posteriors` are not probabilities, `actual` is not of their rows and classes, or `bins` is not
        a number of intervals.

    References
    ----------
    .. [1] Niculescu-Mizil, A., Caruana, R. (2005). Predicting good probabilities with supervised
       learning. ICML 2005.
    .. [2] Bröcker, J., Smith, L. A. (2007). Increasing the reliability of reliability diagrams. Weather
       and Forecasting 22.

    Examples
    --------
    >>> from bnclassify import cv_predict, load_voting, lp, nb, plot_calibration
    >>> voting = load_voting()
    >>> model = lp(nb("Class", voting), voting, smooth=1)
    >>> ax = plot_calibration(cv_predict(model, voting, rng=0), voting["Class"])
    >>> ax.get_xlabel()
    'probability given to republican'
    """
    calibration = weigh_calibration(
        posteriors, actual, bins=Whole(least=1, most=_MOST_BINS).check("bins", bins), target=target
    )
    axes = prepare_axes(ax, 5, 5)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=1)
    axes.vlines(calibration.predicted, calibration.low, calibration.high, color=BLUE, linewidth=1, zorder=2)
    sizes = 12 + 140 * calibration.rows / calibration.rows.max()
    axes.scatter(calibration.predicted, calibration.actual, s=sizes, color=BLUE, zorder=3)
    axes.vlines(calibration.predicted, *calibration.band, color=PALE, linewidth=9, zorder=0, label=_BAND)
    axes.legend(loc="upper left", frameon=False, fontsize="small")
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    chosen = "the most probable class" if calibration.target is None else calibration.target
    right = (
        "share of rows in which it is right"
        if calibration.target is None
        else f"share of rows of class {calibration.target}"
    )
    axes.set_xlabel(broken(f"probability given to {chosen}", 44))
    axes.set_ylabel(broken(right, 44))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


@chart
def plot_ranks(comparison: RankComparison, *, ax: Axes | None = None) -> Axes:
    """Draw average ranks and which of them are too close to be told apart: a critical difference diagram.

    Parameters
    ----------
    comparison : RankComparison
        What `compare_ranks` returns.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        A line from each model to its average rank, the best on the left. A bar joins models no two of
        which differ by the critical difference, after Nemenyi; how long that is stands at the bottom.
        ``ax.figure.savefig("name.pdf")`` writes a file, for print too.

    Raises
    ------
    {errors}
    TypeError
        If ``comparison`` is nothing that `compare_ranks` returns.

    References
    ----------
    .. [1] Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal
       of Machine Learning Research 7.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import compare_ranks, plot_ranks
    >>> accuracy = pd.DataFrame({"nb": [0.87, 0.90, 0.73, 0.78, 0.94], "tan": [0.94, 0.94, 0.75, 0.78, 0.95],
    ...                          "aode": [0.92, 0.94, 0.76, 0.79, 0.96]})
    >>> ax = plot_ranks(compare_ranks(accuracy))
    >>> [text.get_text() for text in ax.texts]
    ['aode  1.30', 'tan  1.80', 'nb  2.90', 'critical difference 1.48 at 0.05']
    """
    if not isinstance(comparison, RankComparison):
        raise TypeError(
            f"comparison: expected what compare_ranks(table) returns, got {type(comparison).__name__}"
        )
    ranks = comparison.ranks.sort_values(kind="stable")
    names = [broken(name, 24) for name in ranks.index]
    ranks = ranks.set_axis(names)
    groups = _indistinct(ranks.to_numpy(), comparison.critical_difference)
    # Heights are in inches, from the axis downwards: bars, then names, then the critical difference.
    step = 0.12 + 0.17 * count_lines(names)
    top = 0.25 + 0.16 * len(groups) + step / 2
    bottom = top + step * ((len(ranks) + 1) // 2) + 0.1
    axes = prepare_axes(ax, max(7.0, 4.7 + 2 * estimate_width(names)), bottom + 1)
    margin = 0.03 * (len(ranks) - 1)
    _draw_models(axes, ranks, top, step, margin)
    for i, ends in enumerate(groups):
        low, high = ranks.iloc[list(ends)]
        y = 0.2 + 0.16 * i
        bar = [low - margin / 2, high + margin / 2]
        axes.plot(bar, [y, y], color=ORANGE, linewidth=4, solid_capstyle="round")
    _draw_difference(axes, comparison, bottom)
    axes.set(xlim=(1 - margin, len(ranks) + margin), ylim=(bottom + 0.3, 0))
    axes.set_xticks(range(1, len(ranks) + 1))
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("average rank, 1 is best")
    axes.set_yticks([])
    axes.spines[["left", "right", "bottom"]].set_visible(False)
    return axes


def _draw_models(axes: Axes, ranks: pd.Series[Any], top: float, step: float, margin: float) -> None:
    """Draw a line from each rank to the name of its model, the better half on the left, the best on top."""
    k = len(ranks)
    for i, (name, rank) in enumerate(ranks.items()):
        best = i < (k + 1) // 2
        y = top + step * (i if best else k - 1 - i)
        side = 1 - margin if best else k + margin
        axes.plot([rank, rank, side], [0, y, y], color=BLUE, linewidth=1, clip_on=False)
        style: dict[str, Any] = {"ha": "right", "xytext": (-4, 0)} if best else {"xytext": (4, 0)}
        axes.annotate(f"{name}  {rank:.2f}", (side, y), va="center", textcoords="offset points", **style)


def _draw_difference(axes: Axes, comparison: RankComparison, y: float) -> None:
    """Draw how long the critical difference is, in the middle, where what is written has room."""
    difference = comparison.critical_difference
    middle = (1 + len(comparison.ranks)) / 2
    ends = [middle - difference / 2, middle + difference / 2]
    axes.plot(ends, [y, y], color=GREY, linewidth=2, marker="|", markersize=8, clip_on=False)
    text = f"critical difference {difference:.2f} at {comparison.alpha:g}"
    style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "top"}
    axes.annotate(text, (middle, y), (0, -7), color=GREY, **style)


def _indistinct(ranks: Array, difference: float) -> list[tuple[int, int]]:
    """Return first and last of the largest groups of sorted ranks that lie within less than a difference."""
    ends = np.searchsorted(ranks, ranks + difference - TOLERANCE, side="left") - 1
    return [(i, int(end)) for i, end in enumerate(ends) if end > i and (i == 0 or end > ends[i - 1])]


def _check_counts(counts: object) -> Array:
    if not isinstance(counts, pd.DataFrame):
        raise TypeError(
            f"counts: expected what confusion(predicted, actual) returns, got {type(counts).__name__}"
        )
    if counts.empty or not counts.index.equals(counts.columns):
        raise ValueError(
            "counts: expected the same classes down and across, in the same order, as confusion returns them"
        )
    if not all(map(pd.api.types.is_any_real_numeric_dtype, counts.dtypes)) or not (counts >= 0).all(
        axis=None
    ):
        raise TypeError("counts: expected numbers of rows, 0 or more")
    return counts.to_numpy(dtype=float)
