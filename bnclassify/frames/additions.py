"""Counts of levels that occur together, of some rows and of others, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .cooccurrence import Cooccurrence, Counts, PairCounts, Plan, WithinLevel, plan_triples
from .counting import narrow
from .partitions import added


def add_cooccurrence(some: Cooccurrence, others: Cooccurrence) -> Cooccurrence:
    """Add what was counted of the same levels in different rows.

    Which triples are counted depends on what occurs, so those are laid out anew.
    """
    both = Cooccurrence(
        some.cards,
        np.asarray(some.classes + others.classes),
        np.asarray(some.single + others.single),
        tuple(
            replace(one, counts=narrow(added([one.counts, other.counts])))
            for one, other in zip(some.pairs, others.pairs, strict=True)
        ),
    )
    if not some.triples and not others.triples:
        return both
    known = [{within.level: within for within in counts.triples} for counts in (some, others)]
    triples = []
    for plan in plan_triples(both):
        parts = [own[plan[0].level] for own in known if plan[0].level in own]
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
            there = feature != feature[owner]
            there[owner] = True
            row[:, columns[there]] = total[within.levels[owner]][:, within.levels[there]]
        pairs.append(PairCounts(owners, columns, narrow(counts)))
    return replace(within, pairs=tuple(pairs))


def _spread(within: WithinLevel, shape: tuple[int, int, int]) -> Counts:
    """Return counts within a level by the numbers of all levels."""
    total: Any = None
    for pairs in within.pairs:
        wide = added([pairs.counts])
        total = np.zeros(shape, dtype=wide.dtype) if total is None else total.astype(wide.dtype)
        owners = within.levels[pairs.owners]
        total[owners[:, None], :, within.levels[pairs.levels]] = wide.transpose(0, 2, 1)
        total[owners, :, owners] = wide[np.arange(len(owners)), :, pairs.own]
    return np.zeros(shape, dtype=np.int64) if total is None else total
