"""Picture of the effects of a pair of features in a sum of effects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..additive.effect_table import EffectTable
from ..additive.effects import table_rows_of_pair
from ..base.messages import listed, shown
from ..inference.evidence import target_position
from ..model.model import Model
from .canvas import (
    BLUE,
    ORANGE,
    add_title_and_legend,
    estimate_width,
    label_in_lines,
    prepare_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_effects_of_pair(
    x: Model, pair: Sequence[Hashable], target: Hashable | None, ax: Axes | None
) -> Axes:
    """Draw the effects of a pair of features beyond those of each, one cell per two values."""
    from matplotlib.colors import LinearSegmentedColormap

    pairs = {tuple([x.features[i] for i in of.features]): of for of in x.pairs}
    chosen = (
        tuple(sorted(pair, key=list(x.features).index)) if {*pair} <= {*x.features} else tuple(pair)
    )
    if not isinstance(x, EffectTable) or chosen not in pairs:
        found = f"the pairs are {listed(list(pairs))}" if pairs else "it has no pairs"
        raise KeyError(
            f"feature must be a pair with effects in the model; got {shown(pair)}, but {found}."
        )
    labels = x.known_levels[-1]
    c = target_position(labels, target)
    if c is None:
        raise ValueError(f"target must be one of {listed(labels)} to draw a pair; got None.")
    rows, logs = table_rows_of_pair(x, pairs[chosen])
    values = (
        list(dict.fromkeys(row[1] for row in rows)),
        list(dict.fromkeys(row[3] for row in rows)),
    )
    odds = (logs[..., c] - np.delete(logs, c, axis=-1).mean(axis=-1)).reshape(
        len(values[0]), len(values[1])
    )
    texts = [[label_in_lines(str(value), 14) for value in of_feature] for of_feature in values]
    cell = max(0.6, estimate_width(texts[1]) + 0.1)
    width = 1.0 + estimate_width(texts[0]) + cell * len(texts[1])
    axes = prepare_axes(ax, 1.0 + 0.32 * len(texts[0]), max(width, 3.0))
    most = float(np.abs(odds).max()) or 1.0
    colors = LinearSegmentedColormap.from_list("effects", [ORANGE, "white", BLUE])
    axes.imshow(odds, cmap=colors, vmin=-most, vmax=most, aspect="auto")
    axes.set_xticks(range(len(texts[1])), texts[1])
    axes.set_yticks(range(len(texts[0])), texts[0])
    axes.set_xlabel(str(chosen[1]))
    axes.set_ylabel(str(chosen[0]))
    if odds.size <= 200:  # cells with a number
        for (i, j), value in np.ndenumerate(odds):
            axes.text(j, i, f"{value:+.2f}", ha="center", va="center", fontsize=8)
    title = f"Effect of {chosen[0]} and {chosen[1]} together on {x.class_var} = {labels[c]}"
    add_title_and_legend(axes, ax, title, "log odds beyond the effects of each")
    return axes
