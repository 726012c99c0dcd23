"""Tables of the one-dependence estimators of an AODE, from the counts of all pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..base.arrays import Array
from ..frames.counting import (
    additive,
    all_pair_counts,
    check_all_pairs,
    contingency_tables,
    count_families,
)
from ..frames.schema import Countable, Dataset
from ..model.ensembles import AODE
from ..model.networks import BNC
from .maximisation import EM, maximise
from .priors import PrefixPrior, Prior, PseudoCounts
from .tables import estimate, tabulate

_FEW_LEVELS = 8  # a feature, on average, up to which counting all pairs at once wins


@estimate.register
def _(x: AODE, data: Countable, prior: Prior) -> AODE:
    check_all_pairs(data, range(len(x.features)), len(x.features))
    if isinstance(prior, PrefixPrior) and prior.nested:
        return stack_estimators(x, data, [estimate(member, data, prior) for member in x.members])
    return tabulate_estimators(replace(x, levels=data.levels), count_estimators(data), prior)


def count_estimators(data: Countable) -> tuple[Array, Array]:
    """Count what the tables of one-dependence estimators are made of.

    Parameters
    ----------
    data : Dataset or Partitions
        The features, then the class.

    Returns
    -------
    (classes,) array
        The rows of each class.
    (levels of all features, classes, levels of all features) array
        The rows of each class that have both of two levels; on the diagonal, that have one.
    """
    *cards, _ = data.cards
    return _count_at_once(data) if sum(cards) <= _FEW_LEVELS * len(cards) else _count_one_by_one(data)


@additive
def _count_at_once(data: Dataset) -> tuple[Array, Array]:
    n = len(data.columns) - 1
    return contingency_tables(data, [(n,)])[0], all_pair_counts(data, range(n), n)


def _count_one_by_one(data: Countable) -> tuple[Array, Array]:
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


def tabulate_estimators(x: AODE, counts: tuple[Array, Array], prior: Prior) -> AODE:
    """Make the tables of an AODE that knows its levels from what `count_estimators` returns."""
    classes, pairs = counts
    levels = np.arange(len(pairs))
    single = pairs[levels, :, levels]
    [own] = tabulate([classes], prior)
    superparents = tabulate([single[span] for span in x.spans], prior)
    return replace(
        x,
        priors=np.repeat(own[None], len(x.features), axis=0),
        superparents=np.concatenate(superparents),
        children=_children_at_once(x, pairs, prior)
        if isinstance(prior, PseudoCounts)
        else _children(x, pairs, prior),
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
            np.concatenate(tabulate([pairs[own, :, s].transpose(2, 0, 1) for s in others], prior))
        )
    return tuple(children)


def stack_estimators(x: AODE, data: Countable, members: Sequence[BNC]) -> AODE:
    """Put the tables of estimators that were learned one by one into an ensemble."""
    tables = [member.cpts or () for member in members]
    return replace(
        x,
        levels=data.levels,
        priors=np.stack([own[-1] for own in tables]),
        superparents=np.concatenate([own[i] for i, own in enumerate(tables)]),
        children=tuple(np.concatenate([*own[:i], *own[i + 1 : -1]]) for i, own in enumerate(tables)),
        learned={name: tuple(member.learned[name] for member in members) for name in members[0].learned},
    )


@maximise.register
def _(x: AODE, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
    check_all_pairs(data, range(len(x.features)), len(x.features))
    return stack_estimators(x, data, [maximise(member, data, prior, em) for member in x.members])
