"""Tables of the one-dependence estimators of an AODE, from the counts of all pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ..base.arrays import Array
from ..frames.counting import (
    all_pair_counts,
    check_all_pairs,
    contingency_tables,
    count_families,
)
from ..frames.schema import Dataset
from ..model.ensembles import AODE
from ..model.networks import BNC
from ..model.tallies import Tally
from .maximisation import EM, maximise
from .priors import PrefixPrior, Prior, PseudoCounts
from .tables import count, make_tables, tabulate, with_tally

_FEW_LEVELS = 8  # a feature, on average, up to which counting all pairs at once wins


@count.register
def _(x: AODE, data: Dataset, prior: Prior) -> tuple[Any, ...]:
    """Return the rows of each class, and those that have both of two levels; on the diagonal, that have one.

    The second array is (levels of all features, classes, levels of all features).
    """
    check_all_pairs(data, range(len(x.features)), len(x.features))
    if isinstance(prior, PrefixPrior) and prior.nested:
        return tuple([count(member, data, prior) for member in x.members])
    *cards, _ = data.cards
    return _count_at_once(data) if sum(cards) <= _FEW_LEVELS * len(cards) else _count_one_by_one(data)


@tabulate.register
def _(x: AODE, tally: Tally) -> AODE:
    if isinstance(tally.prior, PrefixPrior) and tally.prior.nested:
        members = zip(x.members, tally.counts, strict=True)
        stacked = stack_estimators(x, [tabulate(member, Tally(own, tally.prior)) for member, own in members])
        return replace(stacked, learned=with_tally(stacked, tally))
    return _tabulate_pairs(x, tally)


def _count_at_once(data: Dataset) -> tuple[Array, Array]:
    n = len(data.columns) - 1
    return contingency_tables(data, [(n,)])[0], all_pair_counts(data, range(n), n)


def _count_one_by_one(data: Dataset) -> tuple[Array, Array]:
    *cards, n_classes = data.cards
    n, starts = len(cards), np.cumsum([0, *cards])
    pairs = list(combinations(range(n), 2))
    families = [(n,), *[(f, n) for f in range(n)], *[(f, g, n) for f, g in pairs]]
    classes, *tables = count_families(data, families)
    counts = np.zeros((starts[-1], n_classes, starts[-1]))
    for f, own in enumerate(tables[:n]):
        levels = np.arange(starts[f], starts[f + 1])
        counts[levels, :, levels] = own
    for (f, g), table in zip(pairs, tables[n:], strict=True):
        one, other = slice(starts[f], starts[f + 1]), slice(starts[g], starts[g + 1])
        counts[one, :, other] = table.transpose(0, 2, 1)
        counts[other, :, one] = table.transpose(1, 2, 0)
    return classes, counts


def _tabulate_pairs(x: AODE, tally: Tally) -> AODE:
    (classes, pairs), prior = tally.counts, tally.prior
    pairs = np.asarray(pairs, dtype=np.float64)
    levels = np.arange(len(pairs))
    single = pairs[levels, :, levels]
    [own] = make_tables([classes], prior)
    superparents = make_tables([single[span] for span in x.spans], prior)
    return replace(
        x,
        priors=np.repeat(own[None], len(x.features), axis=0),
        superparents=np.concatenate(superparents),
        children=_children_at_once(x, pairs, prior)
        if isinstance(prior, PseudoCounts)
        else _children(x, pairs, prior),
        learned=with_tally(x, tally),
    )


def _children_at_once(x: AODE, pairs: Array, prior: PseudoCounts) -> tuple[Array, ...]:
    """Make the tables of the children, a superparent at a time."""
    cards = np.array([span.stop - span.start for span in x.spans])
    feature = np.repeat(np.arange(len(cards)), cards)
    children = []
    for span, card in zip(x.spans, cards.tolist(), strict=True):
        cpts = prior.side_by_side(pairs[span], feature, cards, card * pairs.shape[1])
        children.append(np.delete(cpts, span, axis=-1).transpose(2, 0, 1).copy())
    return tuple(children)


def _children(x: AODE, pairs: Array, prior: Prior) -> tuple[Array, ...]:
    """Make the same family by family."""
    children = []
    for own in x.spans:
        others = [span for span in x.spans if span != own]
        children.append(
            np.concatenate(make_tables([pairs[own, :, s].transpose(2, 0, 1) for s in others], prior))
        )
    return tuple(children)


def stack_estimators(x: AODE, members: Sequence[BNC]) -> AODE:
    """Put the tables of estimators that were learned one by one into an ensemble."""
    tables = [member.cpts or () for member in members]
    return replace(
        x,
        levels=members[0].levels,
        priors=np.stack([own[-1] for own in tables]),
        superparents=np.concatenate([own[i] for i, own in enumerate(tables)]),
        children=tuple(np.concatenate([*own[:i], *own[i + 1 : -1]]) for i, own in enumerate(tables)),
        learned={name: tuple(member.learned[name] for member in members) for name in members[0].learned},
    )


@maximise.register
def _(x: AODE, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
    check_all_pairs(data, range(len(x.features)), len(x.features))
    return stack_estimators(x, [maximise(member, data, prior, em) for member in x.members])
