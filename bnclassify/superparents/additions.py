"""Counts of levels that occur together, of some rows and of others, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arrays import added
from ..counts.contingency import narrow
from .cooccurrence import Cooccurrence, Counts, PairCounts, Plan, WithinLevel, plan_triples


def add_cooccurrence(first: Cooccurrence, second: Cooccurrence) -> Cooccurrence:
    """Add what was counted of the same levels in different rows.

    Which triples are counted depends on what occurs, so those are laid out anew.
    """
    both = Cooccurrence(
        first.cards,
        np.asarray(first.classes + second.classes),
        np.asarray(first.single + second.single),
        tuple(
            replace(ours, counts=narrow(added([ours.counts, theirs.counts])))
            for ours, theirs in zip(first.pairs, second.pairs, strict=True)
        ),
    )
    if not first.triples and not second.triples:
        return both
    by_level = [{within.level: within for within in counts.triples} for counts in (first, second)]
    triples = []
    for plan in plan_triples(both):
        parts = [levels[plan[0].level] for levels in by_level if plan[0].level in levels]
        triples.append(_lay_out_again(both, plan, parts))
    return replace(both, triples=tuple(triples))


def _lay_out_again(both: Cooccurrence, plan: Plan, parts: Sequence[WithinLevel]) -> WithinLevel:
    """Return the sum of counts within a level, laid out as planned."""
    within, _, layouts = plan
    shape = (len(both.feature), len(both.classes), len(both.feature))
    total = sum((_spread(part, shape) for part in parts), np.zeros(shape, dtype=np.int64))
    feature, pairs = both.feature[within.levels], []
    for owners, columns in layouts:
        counts: Any = np.zeros((len(owners), shape[1], columns[-1] + 1), dtype=total.dtype)
        for row, owner in zip(counts, owners.tolist(), strict=True):
            counted = feature != feature[owner]
            counted[owner] = True
            row[:, columns[counted]] = total[within.levels[owner]][:, within.levels[counted]]
        pairs.append(PairCounts(owners, columns, narrow(counts)))
    return replace(within, pairs=tuple(pairs))


def _spread(within: WithinLevel, shape: tuple[int, int, int]) -> Counts:
    """Return counts within a level by the numbers of all levels."""
    total: Any = None
    for pairs in within.pairs:
        wide = pairs.counts.astype(np.float64 if pairs.counts.dtype.kind == "f" else np.int64)
        total = np.zeros(shape, dtype=wide.dtype) if total is None else total.astype(wide.dtype)
        owners = within.levels[pairs.owners]
        total[owners[:, None], :, within.levels[pairs.levels]] = wide.transpose(0, 2, 1)
        total[owners, :, owners] = wide[np.arange(len(owners)), :, pairs.owner_columns]
    return np.zeros(shape, dtype=np.int64) if total is None else total
