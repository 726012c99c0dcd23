"""Charts drawn by matplotlib, which the extra ``plot`` installs: each returns its axes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..evaluation.explanation import describe, weigh_evidence
from ..frames.schema import Dataset
from ..model.kinds import Model
from ..model.networks import BNC, check_single
from ..model.questions import families, features, values
from ..model.tables import cpt
from ..model.traces import greedy_scores
from .marks import BLUE, GREY, ORANGE, blend, ink, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

_LINE = 36  # the letters of a label's line
_MOST_ROWS = 300  # of a table, a picture of 90 inches
# Where a label may be broken: after a word or a part of a name, but not before "= value".
_PIECE = r"[^\s_/-]+ = [^\s_/-]*[\s_/-]?|[^\s_/-]*[\s_/-]?"


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
    axes = _horizontal(ax, [label for label, _ in bars])
    drawn = axes.barh(np.arange(len(bars)), lengths, color=np.where(weights < 0, ORANGE, BLUE), height=0.72)
    _write(axes, drawn, [signed(weight) for weight in weights])
    low, high = lengths.min(initial=0.0), lengths.max(initial=0.0)
    room = 0.14 * ((high - low) or 1.0)  # for the figures at the ends
    axes.set_xlim(low - room * (low < 0), high + room * (high > 0 or low == 0))
    axes.axvline(0, color=GREY, linewidth=0.8)
    total = signed(float(evidence.log_odds.sum()))
    axes.set_xlabel(_text(f"log odds of {evidence.target} against {evidence.rival}: {total}", 48))
    _legend(axes, {BLUE: f"speaks for {evidence.target}", ORANGE: f"for {evidence.rival}"})
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
    names = [_text(label, 14) for label in classes]
    rows = [_text(level) for level in levels] * len(blocks)
    states = list(np.ndindex(*(len(labels[v]) for v in parents))) if parents else []
    given = [
        _text(", ".join(describe(v, labels[v][k]) for v, k in zip(parents, state, strict=True)))
        for state in states
    ]
    condition = f" | {', '.join(map(str, family[1:]))}" if len(family) > 1 else ""
    title = _text(f"P({variable}{condition})", 60)
    cells = len(classes) * max(0.6, _width(names) + 0.1)
    width = 0.3 + _width(rows) + max(_width([title]), cells + _width(given))
    axes = _axes(ax, width, 0.6 + 0.17 * (_lines([title]) + _lines(names)) + 0.3 * len(rows))
    axes.imshow(table, cmap=_white_to_blue(), vmin=0, vmax=1, aspect="auto")
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
    axes = _horizontal(ax, [label for label, _ in bars])
    drawn = axes.barh(np.arange(len(bars)), [number for _, number in bars], color=BLUE, height=0.72)
    _write(axes, drawn, [f"{number:.2f}" for _, number in bars])
    axes.set_xlim(0, 1)
    what = "weight" if posteriors is None else f"posterior of the arc from {model.class_var}"
    axes.set_xlabel(_text(what if len(bars) == len(numbers) else f"{what}, the {len(bars)} largest", 48))
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
    axes = _axes(ax, 6, 3.5)
    axes.plot(scores, color=BLUE, marker="o")
    axes.set(xlabel="steps from the initial structure", ylabel="cross-validated accuracy")
    axes.set_xticks(range(0, len(scores), 1 + len(scores) // 20))
    axes.margins(y=0.15)
    axes.set_xlim(-0.5, len(scores) - 0.5)
    for step, rise in {0: -15, len(scores) - 1: 6}.items():
        _note(axes, f"{scores[step]:.3f}", step, scores[step], rise)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def plot_cv(accuracies: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of several models in each fold, and their means.

    Parameters
    ----------
    accuracies : pandas.DataFrame
        What ``cv(..., mean=False)`` returns: a row a fold, a column a model.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure of a size that fits.

    Returns
    -------
    matplotlib.axes.Axes
        A line a model, in it a dot a fold, the first fold at the top, so that the folds of two
        models can be compared. ``ax.figure.savefig("name.png")`` writes a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If ``accuracies`` is no such DataFrame.

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
    if not isinstance(accuracies, pd.DataFrame):
        raise TypeError(
            f"accuracies: expected what cv(..., mean=False) returns, got {type(accuracies).__name__}"
        )
    if accuracies.empty or not all(map(pd.api.types.is_numeric_dtype, accuracies.dtypes)):
        raise TypeError("accuracies: expected numbers, a row a fold and a column a model")
    axes = _horizontal(ax, list(map(str, accuracies.columns)), height=0.7)
    folds = len(accuracies)
    spread = np.linspace(-0.22, 0.22, folds) if folds > 1 else np.zeros(1)
    means = accuracies.mean().to_numpy()
    for model, column in enumerate(accuracies.to_numpy().T):
        dots = axes.plot(column, model + spread, "o", color=GREY, markersize=4)[0]
    places = np.arange(len(means))
    line = axes.vlines(means, places - 0.3, places + 0.3, color=ORANGE, linewidth=2)
    for model, mean in enumerate(means):
        _note(axes, f"{mean:.3f}", mean, model - 0.3, 2, color=ORANGE)
    axes.legend([dots, line], ["a fold", "mean"], ncols=2, frameon=False, **_ABOVE)
    axes.set_xlabel("accuracy in the fold")
    return axes


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this size in inches."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(
            "charts are drawn by matplotlib, which is not installed: pip install 'pybnclassify[plot]'"
        ) from error
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax: expected matplotlib axes, got {type(ax).__name__}; plt.subplots() makes them")
    return ax


def _horizontal(ax: Axes | None, labels: Sequence[str], *, height: float = 0.3) -> Axes:
    """Prepare axes for horizontal marks, the first at the top, one a label."""
    texts = [_text(label) for label in labels]
    height = max(height, 0.17 * _lines(texts) + 0.05)
    axes = _axes(ax, 7, 1.2 + height * len(texts))
    axes.set_yticks(range(len(texts)), texts)
    axes.set_ylim(len(texts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return axes


def _write(axes: Axes, bars: BarContainer, texts: Sequence[str]) -> None:
    """Write a text at the end of each bar."""
    axes.bar_label(bars, texts, padding=3, fontsize="small")


def _note(axes: Axes, text: str, x: float, y: float, rise: float, **style: Any) -> None:
    """Write a text some points above a place."""
    axes.annotate(text, (x, y), (0, rise), textcoords="offset points", ha="center", **style)


_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}


def _legend(axes: Axes, names: Mapping[str, str]) -> None:
    """Say above the axes what colours mean."""
    from matplotlib.patches import Patch

    texts = [_text(name) for name in names.values()]
    columns = 1 if len("".join(texts)) > _LINE else len(texts)
    patches = [Patch(color=colour) for colour in names]
    axes.legend(patches, texts, ncols=columns, frameon=False, **_ABOVE)


def _text(label: object, width: int = _LINE) -> str:
    """Break a label into three lines at most, and keep matplotlib from reading dollars as mathematics."""
    lines = [""]
    for piece in re.findall(_PIECE, str(label)):
        for start in range(0, len(piece), width):
            part = piece[start : start + width]
            if lines[-1] and len(lines[-1] + part.rstrip()) > width:
                lines.append("")
            lines[-1] += part
    if len(lines) > 3:
        lines = [*lines[:2], lines[2][: width - 1] + "…"]
    return "\n".join(line.strip() for line in lines).replace("$", r"\$")


def _lines(texts: Sequence[str]) -> int:
    """Return the number of lines of the text that has most."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def _width(texts: Sequence[str]) -> float:
    """Estimate the width of the widest text in inches."""
    return 0.09 * max((len(line) for text in texts for line in text.split("\n")), default=0)


def _white_to_blue() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("white to blue", ["white", BLUE])


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
