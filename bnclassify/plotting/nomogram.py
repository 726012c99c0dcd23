"""Nomograms: scorecards as scales from which a reader takes points and the probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base.arrays import Codes
from ..base.checks import Instance
from ..frames.encoding import Row
from ..frames.opening import InFull
from ..frames.schema import MISSING
from ..inference.explain import read_one
from ..inference.scorecard import Scorecard
from .canvas import BLUE, broken, chance, chart, letters_across, prepare_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99, 0.999)
_TICKS = 8  # of a scale of numbers, about
_NAME = 0.34  # share of the width that names take
_LEVELS = (-1, 1, -2, 2)  # places of labels: below the line, above it, and farther away


class _Scale(NamedTuple):
    """A line of the chart: its name, places from 0 to 1 with labels, and the place of the row, or None."""

    name: str
    places: list[float]
    labels: list[str]
    mark: float | None = None
    ends: tuple[float, float] | None = None


@chart
def plot_nomogram(card: Scorecard, *, row: InFull | Row | None = None, ax: Axes | None = None) -> Axes:
    """Draw a scorecard as a nomogram: a scale of points per feature, and one of the probability.

    Parameters
    ----------
    card : Scorecard
        A result of `scorecard`.
    row : pandas.DataFrame, Series or dict, optional
        A row to mark on all scales.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        The first scale measures the points of the values below it. The last two translate the total into the
        probability. A feature with a parent has one scale per value of the parent. Missing values
        are not drawn; see ``card.points``. ``ax.figure.savefig("name.pdf")`` writes a file.

    {raises}
    KeyError
        If a feature is not a column of `row`, or a dict has none of the features.
    TypeError
        If `card` is not a scorecard, or `row` is of another type.
    ValueError
        If `row` is not one row, or has a value that is not among the levels of the model.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, plot_nomogram, scorecard
    >>> pima = load_pima()
    >>> card = scorecard(bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp"))
    >>> ax = plot_nomogram(card, row=pima.iloc[0])
    >>> ax.get_title("left")
    'diabetes = yes: total 28, probability 0.94'
    """
    Instance(Scorecard, "a Scorecard", "Make one of a model with scorecard(model).").check("card", card)
    codes = None
    if row is not None:
        codes = card._place(read_one(card, row)[1])[1]
    scales, title = _scales(card, codes)
    axes = prepare_axes(ax, 0.4 + 0.46 * len(scales), 6.2)
    axes.set_axis_off()
    axes.set_xlim(-_NAME / (1 - _NAME), 1.04)
    axes.set_ylim(len(scales) - 0.4, -0.7)
    for i, scale in enumerate(scales):
        _draw(axes, i, scale)
    axes.set_title(title)
    return axes


def _scales(x: Scorecard, codes: Codes | None) -> tuple[list[_Scale], str]:
    """Return all scales, and the title."""
    most, table = int(x.points["points"].max()) or 1, x._written
    hidden = table["value"].eq(MISSING) | table["given"].astype(str).str.endswith(f" = {MISSING}")
    numbers, known = _round_numbers(0, most), dict[Any, str]()
    scales = [_Scale("points", [n / most for n in numbers], list(map(str, numbers)), None, (0, 1))]
    if codes is not None:
        pairs = zip(x.features, codes[:, 0], strict=True)
        written = [(*x._written_levels(name), MISSING)[code] for name, code in pairs]
        known = {i: f"{x.features[j]} = {written[j]}" for i, j in enumerate(x.givens) if j is not None}
    for (name, given), rows in table[~hidden].groupby(["variable", "given"], sort=False):
        i, texts = (
            x.features.index(name),
            rows.astype({"value": str}).groupby("points")["value"].agg(", ".join),
        )
        mark = None if codes is None or given != known.get(i, "") else int(x._points_at(codes)[i, 0]) / most
        title = f"{name} if {given}" if given else str(name)
        scales.append(_Scale(title, (texts.index / most).tolist(), texts.tolist(), mark))
    totals, title = x.probabilities["total"].to_numpy(), f"points for {x.class_var} = {x.target}"
    low, wide, at = int(totals[0]), float(np.ptp(totals)) or 1.0, None
    if codes is not None:
        total = x.start + int(x._points_at(codes).sum())
        share = x.probabilities["probability"][int(np.searchsorted(totals, total))]
        title = f"{x.class_var} = {x.target}: total {total:,}, probability {chance(float(share))}"
        at = (total - low) / wide
    numbers, logits = _round_numbers(low, int(totals[-1])), np.log(_SHARES) - np.log1p(-np.array(_SHARES))
    places = ((logits - x.intercept) / x.unit + x.start - low) / wide
    inside = [(float(p), f"{n:g}") for p, n in zip(places, _SHARES, strict=True) if 0 <= p <= 1]
    shares, texts_of_shares = [p for p, _ in inside], [text for _, text in inside]
    scales.append(_Scale("total", [(n - low) / wide for n in numbers], list(map(str, numbers)), at, (0, 1)))
    return [*scales, _Scale(f"probability of {x.target}", shares, texts_of_shares, at, (0, 1))], title


def _round_numbers(low: int, high: int) -> list[int]:
    """Return whole numbers at even distances of 1, 2, 5, 10 …, from low to high."""
    wide = max(high - low, 1)
    step = next(s * 10**k for k in range(12) for s in (1, 2, 5) if wide / (s * 10**k) <= _TICKS)
    return list(range(-(-low // step) * step, high + 1, step))


def _draw(axes: Axes, i: int, scale: _Scale) -> None:
    """Draw a scale at height i, with labels where they do not touch the ones before."""
    letter = (1.04 + _NAME / (1 - _NAME)) / max(letters_across(axes), 1)
    axes.text(-0.07, i, broken(scale.name, 28), ha="right", va="center")
    ends_of_line = scale.ends or (min(scale.places, default=0), max(scale.places, default=0))
    axes.plot(ends_of_line, [i, i], color="black", linewidth=0.8)
    ends = dict.fromkeys(_LEVELS, -1.0)
    for place, label in zip(scale.places, scale.labels, strict=True):
        half = letter * (len(label) + 1) / 2
        level = next((level for level in _LEVELS if ends[level] <= place - half), None)
        axes.plot([place, place], [i - 0.08, i + 0.08], color="black", linewidth=0.8)
        if level is not None:
            ends[level] = place + half
            axes.text(place, i - 0.12 * np.sign(level) - 0.2 * (level - np.sign(level)), label,
                      ha="center", va="bottom" if level > 0 else "top")  # fmt: skip
    if scale.mark is not None:
        axes.plot(scale.mark, i, "o", color=BLUE, markeredgecolor="black", markersize=6, zorder=3)
