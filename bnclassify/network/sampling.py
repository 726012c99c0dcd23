"""Rows drawn from the joint distribution of a model."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..base.arrays import Array, Codes
from ..base.graphs import layers
from ..counts.contingency import flat_index
from ..frames.schema import code_type
from ..model.model import Model
from .bnc import BNC


@singledispatch
def draw(x: Model, n: int, rng: np.random.Generator) -> Codes:
    """Draw n rows, (variables, n) codes of the features and of the class at the end.

    A kind of model registers here how it draws.
    """
    return x._draw(n, rng)


@draw.register
def _(x: BNC, n: int, rng: np.random.Generator) -> Codes:
    codes = np.empty((len(x.scopes), n), dtype=code_type(max(x.cards)))
    parents = {scope[0]: scope[1:] for scope in x.scopes}
    for v in (v for layer in layers(parents) for v in layer):
        codes[v] = _draw_column((x.cpts or ())[v], [codes[p] for p in parents[v]], rng.random(n))
    return codes


def _draw_column(table: Array, parents: list[Codes], uniform: Array) -> Codes:
    """Invert the distribution function of a variable given its parents at uniform numbers."""
    levels = table.cumsum(axis=0).reshape(len(table), -1)[:-1]
    thresholds = levels if not parents else levels[:, flat_index(parents, table.shape[1:])]
    return np.asarray(np.count_nonzero(uniform >= thresholds, axis=0))
