"""Common parts of pictures: one style, colors, numbers, axes, labels in lines, titles, legends."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import isinf
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..tools.arrays import Array, Mask
from ..tools.checks import Instance, Optional
from ..tools.messages import shorten_text, with_shared_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any  # matplotlib is optional, and slow to import

Function = TypeVar("Function", bound=Callable[..., Any])

BLUE, ORANGE, GREY = "#1f4e79", "#b3470f", "#6b7680"
"""Colors of evidence for and against the class, and a neutral one, for color-blind readers."""

PALE = "#dfe5eb"
"""Color of the background of bars, and of observed values."""

LINES: tuple[tuple[str, str | tuple[int, tuple[int, ...]]], ...] = (
    (BLUE, "-"),
    ("#d98c00", "--"),
    ("#008a63", "-."),
    ("#c0659a", ":"),
    ("#56b4e9", (0, (5, 1, 1, 1))),
)
"""Colors and dashes of lines for values of a parent, which differ for color-blind readers."""

HATCHED: dict[str, Any] = {"edgecolor": "#b9c2ca", "hatch": "////"}


def mix_with_white(color: str, share: float) -> str:
    """Mix a color with white."""
    channels = [255 + share * (channel - 255) for channel in bytes.fromhex(color[1:])]
    return "#" + bytes(map(round, channels)).hex()


def text_color_on(color: str) -> str:
    """Return black or white, by the relative luminance of the background."""
    linear: list[float] = [(channel / 255) ** 2.2 for channel in bytes.fromhex(color[1:])]
    red, green, blue = linear
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if luminance > 0.18 else "white"


def signed_weight(weight: float) -> str:
    """Write a weight with its sign, or without a sign if it rounds to 0.

    >>> [signed_weight(each) for each in (1.25, -0.5, 0.001, float("-inf"))]
    ['+1.25', '−0.50', '0.00', '−∞']
    """
    text = f"{weight:+.2f}" if not isinf(weight) else f"{weight:+}".replace("inf", "∞")
    return text[1:] if text[1:] == "0.00" else text.replace("-", "\N{MINUS SIGN}")


def probability_text(probability: float) -> str:
    """Write a probability with two digits; only exact values are written as 0 and 1.

    >>> [probability_text(each) for each in (0.734, 0.99998, 0.001, 1.0)]
    ['0.73', '>0.99', '<0.01', '1.00']
    """
    text = f"{probability:.2f}"
    if text == "1.00" and probability < 1:
        return ">0.99"
    return "<0.01" if text == "0.00" and probability > 0 else text


def rows_in_words(n: float) -> str:
    """Write a number of rows.

    >>> rows_in_words(1), rows_in_words(1728.0)
    ('1 row', '1,728 rows')
    """
    text = f"{n:,.0f}"
    return f"{text} row{'s' * (text != '1')}"


_SIZE = 8  # points of all texts, so that they can be read in a column of a journal and on a phone
_STYLE: Any = {
    "font.size": _SIZE,
    "axes.titlesize": _SIZE + 1,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}
_WIDTH = 4.6  # inches of a picture
_LINE = 26  # letters of a line of a label
_LETTER, LINE = 0.072, 0.14  # width of a letter, height of a line in inches

_AX = """ax : matplotlib.axes.Axes, optional
    Axes of matplotlib, which must be installed. By default, a new figure
    of a suitable size."""
_RETURNS = """Returns
-------
matplotlib.axes.Axes
    ``ax.figure.savefig("name.png")`` writes a file."""

_share = with_shared_text(
    {"{ax, returns, raises}": f"{_AX}\n\n{_RETURNS}\n\nRaises\n------", "{ax}": _AX}
)


def in_chart_style(function: Function) -> Function:
    """Draw a chart in the common style, and put the common parts of docstrings into its own."""

    @wraps(function)
    def draw_in_style(*arguments: Any, **named: Any) -> Any:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                "Charts require matplotlib, which is not installed. Run pip install matplotlib."
            ) from error
        plt.install_repl_displayhook()  # outside the context: if not, notebooks show one chart
        with plt.rc_context(_STYLE):
            return function(*arguments, **named)

    return _share(cast(Function, draw_in_style))


def prepare_axes(ax: Axes | None, height: float, width: float = _WIDTH) -> Axes:
    """Return the given axes, or axes of a new figure of this size in inches."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    Optional(Instance(Axes, "axes of matplotlib", "plt.subplots() returns axes.")).check("ax", ax)
    axes = plt.subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax
    axes.tick_params(which="both", labelsize=_SIZE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(_SIZE)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def horizontal_axes(ax: Axes | None, labels: Sequence[str], *, height: float = 0.24) -> Axes:
    """Prepare axes for horizontal marks, one per label, the first at the top."""
    line = _LINE if ax is None else min(_LINE, letters_per_line(prepare_axes(ax, 0)) // 2)
    texts = [label_in_lines(label, line) for label in labels]
    height = max(height, LINE * max_lines(texts) + 0.05)
    axes = prepare_axes(ax, 0.7 + height * len(texts))
    axes.set_yticks(range(len(texts)), texts)
    axes.set_ylim(len(texts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return axes


def letters_per_line(axes: Axes) -> int:
    """Estimate how many letters fit into the width of the axes, beside the labels of their rows."""
    # 0.775: share of a figure that its axes have before they are laid out
    width = axes.bbox.width / axes.figure.dpi / 0.775 - 0.4
    return max(12, int((width - text_width(_y_tick_labels(axes))) / _LETTER))


def _y_tick_labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def add_title_and_legend(
    axes: Axes, ax: Axes | None, title: str, below: str = "", names: Mapping[str, Any] | None = None
) -> None:
    """Write a title, a text below the axes and a legend; the package's own figures grow."""
    from matplotlib.figure import Figure
    from matplotlib.transforms import ScaledTranslation

    figure = axes.figure
    labels, beside = text_width(_y_tick_labels(axes)), letters_per_line(axes)
    width = beside + int(labels / _LETTER)
    title = "\n".join([label_in_lines(line, int(0.85 * width)) for line in title.split("\n")])
    below = "\n".join([label_in_lines(line, beside) for line in below.split("\n")])
    left = ScaledTranslation(-0.65 * labels, 0, figure.dpi_scale_trans)
    written = axes.set_title(title)
    written.set_transform(written.get_transform() + left)
    if below:
        axes.set_xlabel(below)
    n_lines = max_lines([title]) + below.count("\n")
    if names:
        texts = [label_in_lines(name, width - 6) for name in names]
        columns = len(texts) if len("".join(texts)) + 6 * len(texts) <= width else 1
        depth = 0.26 + LINE * max_lines([axes.get_xlabel()])
        down = ScaledTranslation(0, -depth, figure.dpi_scale_trans)
        style: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 0}
        style |= {"ncols": columns, "columnspacing": 1, "handlelength": 1.6}
        style["bbox_transform"] = axes.transAxes + left + down
        axes.legend(list(names.values()), texts, **style)
        n_lines += len(texts) // columns + sum(text.count("\n") for text in texts)
    if ax is None and isinstance(figure, Figure):
        figure.set_figheight(figure.get_figheight() + 1.2 * LINE * n_lines)


def filled_rectangle(color: str, corner: tuple[float, float] = (0, 0), **style: Any) -> Any:
    """Return a rectangle, for a legend or a cell."""
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 1, 1, facecolor=color, linewidth=0, **style)


def write_beside(
    axes: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **style: Any
) -> None:
    """Write a text some points from a place."""
    axes.annotate(text, at, offset, textcoords="offset points", **style)


def label_in_lines(label: object, width: int = _LINE) -> str:
    """Break a label between words into at most three lines, without formulas in dollars.

    Intervals stay on a line, long words are broken after underscores only, and
    what is still too long ends with an ellipsis.
    """
    interval = r"[(\[]\S+, \S+[)\]]"
    text = re.sub(interval, lambda match: match[0].replace(" ", "\xa0"), str(label))
    most = int(1.5 * width) if width <= _LINE else width  # letters of a line with one word
    lines: list[str] = []
    for line in textwrap.wrap(text, width, break_long_words=False):
        parts = [line]
        if len(line) > most:
            parts = textwrap.wrap(line.replace("_", "_ "), width, break_long_words=False)
        lines += [shorten_text(part.replace("_ ", "_"), most) for part in parts]
    if len(lines) > 3:
        lines = [*lines[:2], lines[2][: width - 1] + "…"]
    return "\n".join(lines).replace("\xa0", " ").replace("$", r"\$")


_WIDEST = 8.0  # inches of columns whose labels are horizontal


def column_labels(
    labels: Sequence[object], least: float, columns: int
) -> tuple[list[str], float, float, bool]:
    """Return labels in lines, the width of a cell, the height of labels, and if they are vertical.

    They are vertical if ``columns`` cells, each of at least so many inches,
    would be too wide.
    """
    for line in (14, 20, _LINE):  # letters, more if labels would be cut and there is room
        texts = [label_in_lines(label, line) for label in labels]
        cell = max(least, text_width(texts) + 0.1)
        if cell * columns <= _WIDEST and (line == _LINE or "…" not in "".join(texts)):
            return texts, cell, LINE * max_lines(texts), False
    texts = [label_in_lines(label) for label in labels]
    return texts, max(least, LINE * max_lines(texts) + 0.1), text_width(texts), True


def ink() -> Any:
    """Return the color of texts and lines, which is white in a dark style."""
    import matplotlib.pyplot as plt

    return plt.rcParams["text.color"]


def max_lines(texts: Sequence[str]) -> int:
    """Return the largest number of lines of a text."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def text_width(texts: Sequence[str]) -> float:
    """Estimate the width of the widest text in inches."""
    return _LETTER * max((len(line) for text in texts for line in text.split("\n")), default=0)


def draw_cells(
    axes: Axes,
    numbers: Array,
    colors: Sequence[str],
    ends: tuple[float, float],
    texts: Sequence[str] = (),
    hatched: Mask | None = None,
) -> None:
    """Draw numbers as cells in colors between two ends, or hatched, with texts row by row."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    low, high = ends
    color_map = LinearSegmentedColormap.from_list("cells", colors)
    axes.imshow(numbers, cmap=color_map, vmin=low, vmax=high, aspect="auto")
    for cell, text in enumerate(texts):
        i, j = divmod(cell, numbers.shape[1])
        color = text_color_on(to_hex(color_map((numbers[i, j] - low) / (high - low))))
        if hatched is not None and hatched[i, j]:
            color = "black"
            axes.add_patch(filled_rectangle("white", (j - 0.5, i - 0.5), **HATCHED))
        axes.text(j, i, text, ha="center", va="center", color=color)
