"""Effects of pairs of features as rows of a table: written, counted, and read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Array, Mask, Positions
from ..base.messages import shown
from ..frames.dataset import Dataset
from .effect_table import EffectTable, PairEffects, Values, intervals_between_cuts


class _PairAxis(NamedTuple):
    """The values of a feature in a pair's table, the group of each, and the value of each code."""

    values: list[Hashable]
    groups: Positions
    places: Positions


def _pair_axis(x: EffectTable, i: int, groups: Positions) -> _PairAxis:
    """Return the values of a feature in a pair: the intervals of its groups, or its labels."""
    name = x.features[i]
    if name not in x.cuts:
        labels = list(x.known_levels[i])
        return _PairAxis(labels, groups[:-1], np.append(np.arange(len(labels)), -1))
    ends = np.flatnonzero(np.diff(groups[:-1]))
    values = intervals_between_cuts([x.cuts[name][end] for end in ends.tolist()])
    return _PairAxis(values, np.arange(len(values)), groups)


def _pair_axes(x: EffectTable, pair: PairEffects) -> list[_PairAxis]:
    return [_pair_axis(x, i, groups) for i, groups in zip(pair.features, pair.groups, strict=True)]


def table_rows_of_pair(
    x: EffectTable, pair: PairEffects
) -> tuple[list[tuple[Hashable, ...]], Array]:
    """Return feature, value, given and given value of the rows of a pair, and each effect."""
    first, second = _pair_axes(x, pair)
    names = [x.features[i] for i in pair.features]
    rows: list[tuple[Hashable, ...]] = [
        (names[0], value, names[1], other) for value, other in product(first.values, second.values)
    ]
    return rows, pair.table[np.ix_(first.groups, second.groups)]


def row_weights_of_pair(
    x: EffectTable, pair: PairEffects, data: Dataset, rows: Mask | None = None
) -> Array:
    """Return the weight of the rows, or of some of them, in each row of the table of a pair."""
    codes = x.rows_to_score(data, "missing").codes
    weights = data.row_weights if rows is None else data.row_weights * rows
    first, second = _pair_axes(x, pair)
    at = [side.places[codes[i]] for side, i in zip((first, second), pair.features, strict=True)]
    known = (at[0] >= 0) & (at[1] >= 0)
    shape = len(first.values), len(second.values)
    cells = at[0][known] * shape[1] + at[1][known]
    return np.bincount(cells, weights[known], shape[0] * shape[1]).astype(np.float64)


def read_pair_effects(
    names: tuple[Hashable, Hashable],
    rows: Sequence[tuple[Hashable, ...]],
    numbers: Array,
    axes: Sequence[Mapping[Hashable, int]],
    values: Sequence[Values],
    owns: Sequence[Values],
) -> tuple[tuple[Positions, Positions], Array]:
    """Return the groups of the values of two features, and the effects of a pair, from a table.

    ``rows`` are pairs of values, ``axes`` have the positions of the values in the rows, ``values``
    are these values, and ``owns`` those of the features. Raise if a row is repeated or absent.
    """
    sizes = [len(axis) for axis in axes]
    table = np.full((sizes[0] + 1, sizes[1] + 1, numbers.shape[1]), np.nan)
    table[-1, :], table[:, -1] = 0.0, 0.0
    for row, found in enumerate(rows):
        at = tuple([axis.get(value, -1) for axis, value in zip(axes, found, strict=True)])
        if -1 in at or not np.isnan(table[at]).any():
            problem = "two rows" if -1 not in at else "an unknown value"
            raise ValueError(
                f"table must have one row per combination of values of {shown(names[0])} and "
                f"{shown(names[1])}; got {problem}: {found[0]} given {found[1]}."
            )
        table[at] = numbers[row]
    for i, j in list[Any](np.argwhere(np.isnan(table[..., 0])).tolist()):
        labels = [list(axis)[at] for axis, at in zip(axes, (i, j), strict=True)]
        raise ValueError(
            f"table must have a row for every combination of values of {shown(names[0])} and "
            f"{shown(names[1])}; got none for {labels[0]} given {labels[1]}."
        )
    groups = [_groups_of_fine_values(*pair) for pair in zip(values, owns, strict=True)]
    return (groups[0], groups[1]), table


def _groups_of_fine_values(values: Values, own: Values) -> Positions:
    """Return the group of each value of a feature, and -1 for a missing one."""
    if own.cuts is not None:
        ends = np.array([*own.cuts, np.inf])
        return np.append(np.searchsorted(np.array(values.cuts or ()), ends, side="left"), -1)
    position = {label: i for i, label in enumerate(values.labels)}
    return np.array([*[position[label] for label in own.labels], -1], dtype=np.intp)
