"""Subsumption resolution: values of a row that follow from others, which it is better to leave out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE
from .ande import ANDE
from .cooccurrence import PairCounts, Positions
from .products import Numbers


def without_subsumed(x: ANDE, levels: Numbers) -> Numbers:
    """Make -1 of the levels that follow from others of the same row.

    Parameters
    ----------
    x : ANDE
    levels : (features, rows) array of int
        The number of each row's level among those of all features, -1 where missing.
    """
    if x.subsumption is None:
        return levels
    feature = x.tables.counts.feature
    remaining = levels.copy()
    for pairs, general, implied in x.derived("subsumption", _find_subsumption):
        if len(general):
            places = np.append(pairs.columns, -1)[levels]
            has = places[feature[pairs.levels]] == np.arange(len(pairs.levels))[:, None]
            follows = implied @ has.astype(np.float32) > 0
            implied_numbers, rows = np.nonzero(follows & (levels[feature[general]] == general[:, None]))
            remaining[feature[general[implied_numbers]], rows] = -1
    return remaining


def _find_subsumption(x: ANDE) -> list[tuple[PairCounts, Positions, NDArray[np.float32]]]:
    """Return, of each table of pairs, the owners that others imply, and which imply each, as 0 and 1.

    Of two that imply each other, that of the earlier feature is kept.
    """
    counts = x.tables.counts
    support = counts.single.sum(axis=1)
    implications = []
    for pairs in counts.pairs:
        owner, level = pairs.owners[:, None], pairs.levels
        is_later = counts.feature[owner] > counts.feature[level]
        is_other = counts.feature[owner] != counts.feature[level]
        is_wider = is_other & (support[owner] > support[level] + TOLERANCE)
        joint = pairs.counts.sum(axis=1, dtype=np.float64)
        implied = (support[level] > (x.subsumption or 0) + TOLERANCE) & (joint >= support[level] - TOLERANCE)
        implied &= is_later | is_wider
        is_implied = implied.any(axis=1)
        implications.append((pairs, pairs.owners[is_implied], implied[is_implied].astype(np.float32)))
    return implications
