"""Tables of the one-dependence estimators of an AODE, from the counts of all pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.arrays import Array
from ..frames.counting import all_pair_counts
from ..frames.encoding import Dataset
from ..model.networks import AODE, BNC
from .tables import estimate_cpts


def estimate_ensemble(x: AODE, data: Dataset, smooth: float) -> AODE:
    """Estimate each table from the rows in which its family is observed."""
    fitted = replace(x, levels=data.levels)
    c = x.class_var
    tables = estimate_cpts(data, [*((f, c) for f in x.features), (c,)], smooth)
    return replace(
        fitted,
        priors=np.repeat(tables[(c,)][None], len(x.features), axis=0),
        superparents=np.concatenate([tables[f, c] for f in x.features]),
        children=(_children_at_once if fitted.has_few_levels else _children)(fitted, data, smooth),
    )


def _children_at_once(x: AODE, data: Dataset, smooth: float) -> tuple[Array, ...]:
    """Estimate the tables of the children from the counts of all pairs, a superparent at a time."""
    columns = [data.positions[feature] for feature in x.features]
    counts = all_pair_counts(data, columns, data.positions[x.class_var])
    cards = np.array([data.cards[column] for column in columns])
    starts = np.cumsum(cards) - cards
    children = []
    for span in x.spans:
        mass = counts[span] + smooth  # of each level of the superparent and class, by level of all features
        total = np.repeat(np.add.reduceat(mass, starts, axis=-1), cards, axis=-1)
        uniform = np.repeat(1.0 / cards, cards)
        cpts = np.where(total > 0, mass / np.where(total > 0, total, 1.0), uniform)
        children.append(np.delete(cpts, span, axis=-1).transpose(2, 0, 1).copy())
    return tuple(children)


def _children(x: AODE, data: Dataset, smooth: float) -> tuple[Array, ...]:
    """Estimate the same family by family."""
    stacked = []
    for superparent in x.features:
        families = [(f, superparent, x.class_var) for f in x.features if f != superparent]
        tables = estimate_cpts(data, families, smooth)
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
        em=tuple(member.em for member in members if member.em is not None),
    )
