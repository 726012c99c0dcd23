"""Probability tables as heat maps, by matplotlib."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..accessors import check_single_fitted_graph, cpt, encode_for_model, families, values
from ..classifiers import Family
from ..counts import contingency_table
from ..dataset import Dataset, Levels, Schema, codes_by_levels
from ..explanations.explain import value_in_words
from ..frames import AnyTable
from ..model import Model
from ..tools.arrays import Array, ArrayOf, Mask, Slice, T
from ..tools.messages import shown
from .canvas import (
    HATCHED,
    LINE,
    Axes,
    add_title_and_legend,
    column_labels,
    draw_cells_of_shares,
    filled_rectangle,
    in_chart_style,
    label_in_lines,
    max_lines,
    prepare_axes,
    probability_text,
    text_width,
)

# Maximum number of rows or columns of a picture, and of its cells.
_LONGEST, _MOST_CELLS = (100, 1000)


@in_chart_style
def plot_cpt(
    x: Model,
    variable: Hashable,
    *,
    dataset: AnyTable | None = None,
    interval: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a conditional probability table as a heat map.

    If the variable has feature parents, the picture has one block per
    configuration of the parents. Each column of a block is a distribution.

    Parameters
    ----------
    x : BNC or another model of one network
        Fitted model.
    variable : str
        A feature or the class.
    dataset : pandas.DataFrame or Dataset, optional
        Training data. Columns are hatched if no row has their configuration of
        parents, so that their probabilities depend on the prior only.
    interval : float, optional
        Probability of a credible interval that is written below each
        probability, such as 0.9; see `cpt`.
    {ax, returns, raises}
    KeyError, TypeError, ValueError
        If the model is an ensemble (draw a network of ``members(x)``), or the
        picture would have more than 100 rows or columns or 1,000 cells.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot_cpt, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, smooth=1)
    >>> ax = plot_cpt(model, "safety", dataset=car)
    """
    x = check_single_fitted_graph(x, "cpt")
    frame = cpt(x, variable)
    if not values(x)[variable]:
        raise TypeError(
            f"variable must have levels; got the number {shown(variable)}. Use plot_effect."
        )
    family = families(x)[variable]
    written, downs = tuple(map(x.written_levels, family)), range(max(len(family) - 2, 0), -1, -1)
    layouts = [_HeatMapLayout(family, written, down, interval is not None) for down in downs]
    # the shortest longer side, and then the fewest blocks side by side
    layout = min(layouts, key=lambda layout: max(layout.size_in_inches))
    shares = layout.arranged_cells(frame.to_numpy())
    rows, columns = shares.shape
    if max(rows, columns) > _LONGEST or shares.size > _MOST_CELLS:
        expected = (
            f"a variable whose table has at most {_LONGEST} rows and columns and "
            f"{_MOST_CELLS:,} cells"
        )
        got = f"{shown(variable)} with {rows:,} rows and {columns:,} columns. Use cpt(x, variable)"
        raise ValueError(f"variable must be {expected}; got {got}.")
    width, height = layout.size_in_inches
    axes = prepare_axes(ax, height, width)
    unseen = np.zeros(shares.shape, dtype=bool)
    if dataset is not None:
        data = encode_for_model(x, dataset, layout.family, "dataset")
        levels = tuple([values(x)[member] for member in layout.family])
        family_data = Dataset(
            Schema(layout.family, levels), codes_by_levels(data, layout.family, levels), data.index
        )
        counts: Array = contingency_table(family_data, range(len(layout.family)))
        absent: Mask = counts.sum(axis=0) == 0
        unseen = layout.arranged_cells(np.broadcast_to(absent, counts.shape))
    texts = list(map(probability_text, shares.ravel()))
    if interval is not None:
        bounded = cpt(x, variable, interval=interval)
        lower, upper = (bounded.xs(name, axis=1, level=-1) for name in ("lower", "upper"))
        lows = layout.arranged_cells(lower.to_numpy()).ravel()
        highs = layout.arranged_cells(upper.to_numpy()).ravel()
        for cell, (low, high) in enumerate(zip(lows, highs, strict=True)):
            texts[cell] += f"\n{low:.2f} to {high:.2f}"
    draw_cells_of_shares(axes, shares, texts, unseen)
    layout.write_labels(axes)
    across = f"; columns: {family[-1]}" if len(family) > 1 else ""
    add_title_and_legend(axes, ax, layout.title, f"rows: {variable}{across}")
    axes.xaxis.set_label_position("top")
    if unseen.any():
        below: dict[str, Any] = {"loc": "upper right", "bbox_to_anchor": (1, 0)}
        hatched = [filled_rectangle("white", **HATCHED)]
        axes.legend(hatched, ["no row has these parents' values"], handlelength=1.4, **below)
    return axes


@dataclass(frozen=True)
class _HeatMapLayout:
    """The last parent forms a block's columns; blocks of `down` other parents are stacked."""

    family: Family
    levels: Levels
    down: int
    bounded: bool = False

    def arranged_cells(self, table: ArrayOf[T]) -> ArrayOf[T]:
        """Return a table, whose first axis is the variable, as rows and columns of a picture."""
        shaped = table.reshape([len(labels) for labels in self.levels])
        moved = np.moveaxis(shaped, 0, self.down)
        return moved.reshape(prod(moved.shape[: self.down + 1]), -1)

    @property
    def columns(self) -> tuple[list[str], float, float, bool]:
        """The labels of columns of a block, the width of a cell, their height, if vertical."""
        labels = self.levels[-1] if len(self.family) > 1 else [""]
        blocks = prod(map(len, self.levels[1 + self.down : -1]))
        return column_labels(labels, 0.95 if self.bounded else 0.5, len(labels) * blocks)

    @property
    def block_titles(self) -> tuple[list[str], list[str]]:
        """The configurations of parents of vertically and of horizontally arranged blocks."""
        vertical, horizontal = slice(1, 1 + self.down), slice(1 + self.down, -1)
        titles = self._configurations_in_words(vertical, 36)
        return titles, self._configurations_in_words(horizontal, 24)

    def _configurations_in_words(self, members: Slice, width: int) -> list[str]:
        names, configurations = self.family[members], product(*self.levels[members])
        texts = [", ".join(map(value_in_words, names, labels)) for labels in configurations]
        return [label_in_lines(text, width) for text in texts]

    @property
    def title(self) -> str:
        """The notation of the distribution."""
        condition = f" | {', '.join(map(str, self.family[1:]))}" if len(self.family) > 1 else ""
        return f"P({self.family[0]}{condition})"

    @property
    def size_in_inches(self) -> tuple[float, float]:
        """The width and height of the picture in inches."""
        rows = list(map(label_in_lines, self.levels[0]))
        row_blocks, column_blocks = self.block_titles
        columns, cell, depth, _ = self.columns
        block = max(len(columns) * cell, text_width(column_blocks) + 0.1)
        table = len(column_blocks) * block + text_width(row_blocks)
        lines = 1 + (max_lines(column_blocks) if len(column_blocks) > 1 else 0)
        least = 0.38 if self.bounded else 0.24
        cells = max(least, LINE * max_lines(rows) + 0.06) * len(rows)
        row = max(cells, LINE * max_lines(row_blocks) + 0.1) * len(row_blocks)
        title = min(0.6 * text_width([self.title]), 6.0)
        width = 0.6 + text_width(rows) + max(title, table)
        return max(width, 2.5), 0.4 + LINE * lines + depth + row

    def write_labels(self, axes: Axes) -> None:
        """Write the labels of rows, columns and blocks, and draw lines between blocks."""
        rows = list(map(label_in_lines, self.levels[0]))
        row_blocks, column_blocks = self.block_titles
        columns, _, depth, is_vertical = self.columns
        width = len(columns) * len(column_blocks)
        turned = 90 if is_vertical else 0
        axes.set_xticks(range(width), columns * len(column_blocks), rotation=turned)
        axes.set_yticks(range(len(rows) * len(row_blocks)), rows * len(row_blocks))
        axes.xaxis.tick_top()
        if len(column_blocks) > 1:
            axes.xaxis.remove_overlapping_locs = False
            middles = [(i + 0.5) * len(columns) - 0.5 for i in range(len(column_blocks))]
            axes.set_xticks(middles, column_blocks, minor=True)
            axes.tick_params(axis="x", which="minor", pad=5 + 72 * depth)
        if len(row_blocks) > 1:
            axes.yaxis.remove_overlapping_locs = False
            axes.set_yticks(
                [(i + 0.5) * len(rows) - 0.5 for i in range(len(row_blocks))],
                row_blocks,
                minor=True,
            )
            axes.tick_params(axis="y", which="minor", pad=8 + 72 * text_width(rows))
        for i in range(1, len(row_blocks)):
            axes.axhline(i * len(rows) - 0.5, color="white", linewidth=4)
        for j in range(1, len(column_blocks)):
            axes.axvline(j * len(columns) - 0.5, color="white", linewidth=6)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
