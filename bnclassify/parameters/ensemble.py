"""Tables of the one-dependence estimators of an AODE, all at once from the counts of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..counts import all_pair_counts
from ..dataset import Dataset
from ..model import AODE, BNC
from .cpts import dirichlet_cpt, estimate_cpts


def estimate_ensemble(x: AODE, data: Dataset, smooth: float) -> AODE:
    """Estimate each table from the rows in which its family is observed."""
    fitted = replace(x, levels=data.levels)
    columns = [data.positions[feature] for feature in x.features]
    children = all_pair_counts(data, columns, data.positions[x.class_var])
    for span in fitted.spans:
        children[span] = dirichlet_cpt(children[span], smooth)
        children[span, span] = 1.0
    tables = estimate_cpts(data, [*((f, x.class_var) for f in x.features), (x.class_var,)], smooth)
    return replace(
        fitted,
        priors=np.tile(tables[(x.class_var,)], (len(x.features), 1)),
        superparents=np.concatenate([tables[(f, x.class_var)] for f in x.features]),
        children=children,
    )


def stack_estimators(x: AODE, data: Dataset, members: Sequence[BNC]) -> AODE:
    """Put the tables of estimators that were learned one by one into an ensemble."""
    fitted = replace(x, levels=data.levels)
    tables = [member.cpts or () for member in members]
    n, n_classes = fitted.spans[-1].stop, data.cards[-1]
    children = np.ones((n, n, n_classes))
    for i, own in enumerate(fitted.spans):
        for j, span in enumerate(fitted.spans):
            if i != j:
                children[span, own] = tables[i][j]
    return replace(
        fitted,
        priors=np.stack([own[-1] for own in tables]),
        superparents=np.concatenate([own[i] for i, own in enumerate(tables)]),
        children=children,
        em=tuple(member.em for member in members if member.em is not None),
    )
