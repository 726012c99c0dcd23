"""Tables of the one-dependence estimators of an AODE, from the counts of all pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.arrays import Array
from ..frames.counting import all_pair_counts, check_all_pairs
from ..frames.schema import Dataset
from ..model.ensembles import AODE
from ..model.networks import BNC
from .maximisation import EM, maximise
from .priors import PrefixPrior, Prior, PseudoCounts
from .tables import estimate, estimate_tables

_FEW_LEVELS = 8  # a feature, on average, up to which counting all pairs at once wins


@estimate.register
def _(x: AODE, data: Dataset, prior: Prior) -> AODE:
    check_all_pairs(data, range(len(x.features)), len(x.features))
    if isinstance(prior, PrefixPrior) and prior.nested:
        return stack_estimators(x, data, [estimate(member, data, prior) for member in x.members])
    fitted = replace(x, levels=data.levels)
    c = x.class_var
    tables = estimate_tables(data, [*((f, c) for f in x.features), (c,)], prior)
    few_levels = fitted.spans[-1].stop <= _FEW_LEVELS * len(x.features)
    if isinstance(prior, PseudoCounts) and few_levels:
        children = _children_at_once(fitted, data, prior)
    else:
        children = _children(fitted, data, prior)
    return replace(
        fitted,
        priors=np.repeat(tables[(c,)][None], len(x.features), axis=0),
        superparents=np.concatenate([tables[f, c] for f in x.features]),
        children=children,
    )


def _children_at_once(x: AODE, data: Dataset, prior: PseudoCounts) -> tuple[Array, ...]:
    """Estimate the tables of the children from the counts of all pairs, a superparent at a time."""
    columns = [data.positions[feature] for feature in x.features]
    counts = all_pair_counts(data, columns, data.positions[x.class_var])
    cards = np.array([data.cards[column] for column in columns])
    feature = np.repeat(np.arange(len(cards)), cards)
    children = []
    for span, card in zip(x.spans, cards.tolist(), strict=True):
        cpts = prior.side_by_side(counts[span], feature, cards, card * data.cards[-1])
        children.append(np.delete(cpts, span, axis=-1).transpose(2, 0, 1).copy())
    return tuple(children)


def _children(x: AODE, data: Dataset, prior: Prior) -> tuple[Array, ...]:
    """Estimate the same family by family."""
    stacked = []
    for superparent in x.features:
        families = [(f, superparent, x.class_var) for f in x.features if f != superparent]
        tables = estimate_tables(data, families, prior)
        stacked.append(np.concatenate([tables[family] for family in families]))
    return tuple(stacked)


def stack_estimators(x: AODE, data: Dataset, members: Sequence[BNC]) -> AODE:
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
