"""Subsumption resolution: values of a row that follow from others, which it is better to leave out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE
from ..frames.cooccurrence import PairCounts, Positions
from ..model.superparents import ANDE
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
    kept = levels.copy()
    for pairs, general, implied in x.derived("subsumption", _find_subsumption):
        if len(general):
            places = np.append(pairs.columns, -1)[levels]
            has = places[feature[pairs.levels]] == np.arange(len(pairs.levels))[:, None]
            follows = implied @ has.astype(np.float32) > 0
            which, rows = np.nonzero(follows & (levels[feature[general]] == general[:, None]))
            kept[feature[general[which]], rows] = -1
    return kept


def _find_subsumption(x: ANDE) -> list[tuple[PairCounts, Positions, NDArray[np.float32]]]:
    """Return, of each table of pairs, the owners that others imply, and which imply each, as 0 and 1.

    Of two that imply each other, that of the earlier feature is kept.
    """
    counts = x.tables.counts
    alone = counts.single.sum(axis=1)
    found = []
    for pairs in counts.pairs:
        first, second = pairs.owners[:, None], pairs.levels
        is_later = counts.feature[first] > counts.feature[second]
        is_other = counts.feature[first] != counts.feature[second]
        is_wider = is_other & (alone[first] > alone[second] + TOLERANCE)
        both = pairs.counts.sum(axis=1, dtype=np.float64)
        implied = (alone[second] > (x.subsumption or 0) + TOLERANCE) & (both >= alone[second] - TOLERANCE)
        implied &= is_later | is_wider
        some = implied.any(axis=1)
        found.append((pairs, pairs.owners[some], implied[some].astype(np.float32)))
    return found
