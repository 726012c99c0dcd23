"""Tables of the one-dependence estimators of an AODE, from the counts of all pairs of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ..base.arrays import Array
from ..counts.contingency import contingency_tables, count_families
from ..counts.pairs import all_pair_counts, check_all_pairs
from ..frames.schema import Dataset
from ..model.sufficient_statistics import Tally
from ..network.bnc import BNC
from ..network.em import EM, maximise
from ..network.ensemble import AODE
from ..network.estimation import count, make_tables, tabulate, with_tally
from ..network.priors import Prior, PseudoCounts, is_nested

_FEW_LEVELS = 8  # a feature, on average, up to which counting all pairs at once wins


@count.register
def _(x: AODE, data: Dataset, prior: Prior) -> tuple[Any, ...]:
    """Return the rows of each class, and what `_count_at_once` or `_count_one_by_one` make of pairs."""
    check_all_pairs(data, range(len(x.features)), len(x.features))
    if is_nested(prior):
        return tuple([count(member, data, prior) for member in x.members])
    return _count_at_once(data) if _has_few_levels(x) else _count_one_by_one(data)


def _has_few_levels(x: AODE) -> bool:
    return x.spans[-1].stop <= _FEW_LEVELS * len(x.features)


@tabulate.register
def _(x: AODE, tally: Tally) -> AODE:
    if is_nested(tally.prior):
        members = zip(x.members, tally.counts, strict=True)
        stacked = stack_estimators(
            x, [tabulate(member, Tally(counts, tally.prior)) for member, counts in members]
        )
        return replace(stacked, learned=with_tally(stacked, tally))
    return _tabulate_pairs(x, tally)


def _count_at_once(data: Dataset) -> tuple[Array, ...]:
    """Count classes, and pairs of levels: (levels of all features, classes, levels of all features).

    On the diagonal stand the rows of each level.
    """
    n = len(data.columns) - 1
    return contingency_tables(data, [(n,)])[0], all_pair_counts(data, range(n), n)


def _count_one_by_one(data: Dataset) -> tuple[Array, ...]:
    """Count classes, then each feature and class, then each pair of features and class."""
    n = len(data.columns) - 1
    singles = [(f, n) for f in range(n)]
    return tuple(count_families(data, [(n,), *singles, *[(f, g, n) for f, g in combinations(range(n), 2)]]))


def _tabulate_pairs(x: AODE, tally: Tally) -> AODE:
    prior, n = tally.prior, len(x.features)
    classes, *counts = tally.counts
    if _has_few_levels(x):
        square = np.asarray(counts[0], dtype=np.float64)
        diagonal = square[np.arange(len(square)), :, np.arange(len(square))]
        singles = [diagonal[span] for span in x.spans]
        if isinstance(prior, PseudoCounts):
            children = _children_at_once(x, square, prior)
        else:
            children = _children(x, lambda f, g: square[x.spans[g], :, x.spans[f]].transpose(2, 0, 1), prior)
    else:
        singles, pairs = counts[:n], dict(zip(combinations(range(n), 2), counts[n:], strict=True))
        children = _children(x, lambda f, g: pairs[f, g] if f < g else pairs[g, f].transpose(1, 0, 2), prior)
    [class_prior] = make_tables([classes], prior)
    return replace(
        x,
        priors=np.repeat(class_prior[None], n, axis=0),
        superparents=np.concatenate(make_tables(singles, prior)),
        children=children,
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


def _children(x: AODE, pair: Callable[[int, int], Array], prior: Prior) -> tuple[Array, ...]:
    """Make the same family by family, of the counts of a child, a superparent and the class."""
    n = len(x.features)
    return tuple(
        [
            np.concatenate(make_tables([pair(child, parent) for child in range(n) if child != parent], prior))
            for parent in range(n)
        ]
    )


def stack_estimators(x: AODE, members: Sequence[BNC]) -> AODE:
    """Put the tables of estimators that were learned one by one into an ensemble."""
    tables = [member.cpts or () for member in members]
    return replace(
        x,
        levels=members[0].levels,
        priors=np.stack([cpts[-1] for cpts in tables]),
        superparents=np.concatenate([cpts[i] for i, cpts in enumerate(tables)]),
        children=tuple(np.concatenate([*cpts[:i], *cpts[i + 1 : -1]]) for i, cpts in enumerate(tables)),
        learned={name: tuple(member.learned[name] for member in members) for name in members[0].learned},
    )


@maximise.register
def _(x: AODE, data: Dataset, prior: PseudoCounts, em: EM) -> AODE:
    check_all_pairs(data, range(len(x.features)), len(x.features))
    return stack_estimators(x, [maximise(member, data, prior, em) for member in x.members])
