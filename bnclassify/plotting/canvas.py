"""What charts share: axes of a size that fits, labels that are broken into lines, notes and legends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .marks import BLUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

_LINE = 36  # the letters of a label's line
# Where a label may be broken: after a word or a part of a name, but not before "= value".
_PIECE = r"[^\s_/-]+ = [^\s_/-]*[\s_/-]?|[^\s_/-]*[\s_/-]?"


def prepare_axes(ax: Axes | None, width: float, height: float) -> Axes:
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


def horizontal_axes(ax: Axes | None, labels: Sequence[str], *, height: float = 0.3) -> Axes:
    """Prepare axes for horizontal marks, the first at the top, one a label."""
    texts = [broken(label) for label in labels]
    height = max(height, 0.17 * count_lines(texts) + 0.05)
    axes = prepare_axes(ax, 7, 1.2 + height * len(texts))
    axes.set_yticks(range(len(texts)), texts)
    axes.set_ylim(len(texts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return axes


def write_at_ends(axes: Axes, bars: BarContainer, texts: Sequence[str]) -> None:
    """Write a text at the end of each bar."""
    axes.bar_label(bars, texts, padding=3, fontsize="small")


def note(axes: Axes, text: str, x: float, y: float, rise: float, **style: Any) -> None:
    """Write a text some points above a place."""
    axes.annotate(text, (x, y), (0, rise), textcoords="offset points", ha="center", **style)


ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
"""Where a legend stands."""


def name_colours(axes: Axes, names: Mapping[str, str]) -> None:
    """Say above the axes what colours mean."""
    from matplotlib.patches import Patch

    texts = [broken(name) for name in names.values()]
    columns = 1 if len("".join(texts)) > _LINE else len(texts)
    patches = [Patch(color=colour) for colour in names]
    axes.legend(patches, texts, ncols=columns, frameon=False, **ABOVE)


def broken(label: object, width: int = _LINE) -> str:
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


def count_lines(texts: Sequence[str]) -> int:
    """Return the number of lines of the text that has most."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def estimate_width(texts: Sequence[str]) -> float:
    """Estimate the width of the widest text in inches."""
    return 0.09 * max((len(line) for text in texts for line in text.split("\n")), default=0)


def white_to_blue() -> Any:
    """Return a colour map for shares."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("white to blue", ["white", BLUE])
