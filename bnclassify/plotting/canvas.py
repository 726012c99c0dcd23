"""Common parts of pictures: colors, written numbers, axes, labels in lines, notes and legends."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from math import isinf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.checks import must_be
from ..base.docstrings import sharing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#1f4e79", "#b3470f", "#7f8b97"
"""Colors of evidence for and against the class, and of the rest, which color-blind people can distinguish."""

PALE = "#dfe5eb"
"""Color of the background of bars, and of observed values."""

_HATCH = "#b9c2ca"


def blend(color: str, share: float) -> str:
    """Mix a color with white."""
    channels = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + share * (channel - 255)):02x}" for channel in channels)


def ink(color: str) -> str:
    """Return black or white, by the relative luminance of the background."""
    red, green, blue = ((int(color[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5))
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "white"


def signed(weight: float) -> str:
    """Write a weight with its sign, or without a sign if it rounds to 0.

    >>> signed(1.25), signed(-0.5), signed(0.001), signed(float("-inf"))
    ('+1.25', '−0.50', '0.00', '−∞')
    """
    text = f"{weight:+.2f}" if not isinf(weight) else f"{weight:+}".replace("inf", "∞")
    return text[1:] if text[1:] == "0.00" else text.replace("-", "\N{MINUS SIGN}")


def chance(probability: float) -> str:
    """Write a probability with two digits; only 0 and 1 are written as such.

    >>> chance(0.734), chance(0.99998), chance(0.001), chance(1.0)
    ('0.73', '>0.99', '<0.01', '1.00')
    """
    text = f"{probability:.2f}"
    if text == "1.00" and probability < 1:
        return ">0.99"
    return "<0.01" if text == "0.00" and probability > 0 else text


_LINE = 36  # the letters of a label's line
_LETTER = 0.09  # inches

_AX = """ax : matplotlib.axes.Axes, optional
    Axes to draw in. By default, a new figure of a suitable size."""
_RETURNS = """Returns
-------
matplotlib.axes.Axes
    ``ax.figure.savefig("name.png")`` writes a file."""
_RAISES = """Raises
------
ImportError
    If matplotlib is not installed."""

chart = sharing(
    {"{ax, returns, raises}": f"{_AX}\n\n{_RETURNS}\n\n{_RAISES}", "{ax}": _AX, "{raises}": _RAISES}
)
"""Put the common parts of the docstrings of charts into one."""


def prepare_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this size in inches."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(
            "Charts require matplotlib, which is not installed. Run pip install 'pybnclassify[plot]'."
        ) from error
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(must_be("ax", "axes of matplotlib", ax, "plt.subplots() returns axes."))
    return ax


def horizontal_axes(ax: Axes | None, labels: Sequence[str], *, height: float = 0.3) -> Axes:
    """Prepare axes for horizontal marks, one per label, the first at the top."""
    line = _LINE if ax is None else min(_LINE, letters_across(prepare_axes(ax, 0, 0)) // 2)
    texts = [broken(label, line) for label in labels]
    height = max(height, 0.17 * count_lines(texts) + 0.05)
    axes = prepare_axes(ax, 7, 1.2 + height * len(texts))
    axes.set_yticks(range(len(texts)), texts)
    axes.set_ylim(len(texts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return axes


def letters_across(axes: Axes) -> int:
    """Estimate how many letters fit into the width of the axes."""
    return max(20, int(axes.bbox.width / axes.figure.dpi / _LETTER))


def write_below(axes: Axes, *lines: str, loc: Literal["left", "center"] = "center") -> None:
    """Write lines below the axes; on the left there is more room, to the edge of the figure."""
    width = int((1.1 if loc == "left" else 0.9) * letters_across(axes))
    axes.set_xlabel("\n".join(broken(line, width) for line in lines), loc=loc)


def note(axes: Axes, text: str, x: float, y: float, rise: float, **style: Any) -> None:
    """Write a text some points above a place."""
    axes.annotate(text, (x, y), (0, rise), textcoords="offset points", ha="center", **style)


ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
"""The place of a legend."""


def name_colors(axes: Axes, names: Mapping[str, str]) -> None:
    """Write a legend of colors above the axes."""
    from matplotlib.patches import Patch

    texts = [broken(name) for name in names.values()]
    columns = 1 if len("".join(texts)) > min(_LINE, letters_across(axes) - 12) else len(texts)
    patches = [Patch(color=color) for color in names]
    axes.legend(patches, texts, ncols=columns, frameon=False, **ABOVE)


def broken(label: object, width: int = _LINE) -> str:
    """Break a label into at most three lines, and keep matplotlib from reading dollars as mathematics.

    Lines are not broken within intervals such as ``(0.5, inf]``.
    """
    text = re.sub(r"[(\[][^()\[\]]*[)\]]", lambda match: match[0].replace(" ", "\xa0"), str(label))
    lines: list[str] = []
    for line in textwrap.wrap(text, width, break_long_words=False):
        lines += textwrap.wrap(line, width) if len(line) > 1.5 * width else [line]
    if len(lines) > 3:
        lines = [*lines[:2], lines[2][: width - 1] + "…"]
    return "\n".join(lines).replace("\xa0", " ").replace("$", r"\$")


def count_lines(texts: Sequence[str]) -> int:
    """Return the number of lines of the text that has most."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def estimate_width(texts: Sequence[str]) -> float:
    """Estimate the width of the widest text in inches."""
    return _LETTER * max((len(line) for text in texts for line in text.split("\n")), default=0)


def draw_shares(
    axes: Axes, shares: Array, texts: Sequence[str] = (), hatched: NDArray[np.bool_] | None = None
) -> None:
    """Draw shares as cells from white to blue or hatched, with their texts row by row."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    white_to_blue = LinearSegmentedColormap.from_list("white to blue", ["white", BLUE])
    axes.imshow(shares, cmap=white_to_blue, vmin=0, vmax=1, aspect="auto")
    for (i, j), text in zip(np.ndindex(shares.shape), texts, strict=False):
        color = ink(blend(BLUE, float(shares[i, j])))
        if hatched is not None and hatched[i, j]:
            color = "black"
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc="white", ec=_HATCH, hatch="////", lw=0))
        axes.text(j, i, text, ha="center", va="center", color=color)
