"""Probability tables of structures: counted, and made by a prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np

from ..base.arrays import Array
from ..frames.counting import count_families
from ..frames.schema import Countable
from ..model.ensembles import Ensemble
from ..model.kinds import Model, renewed
from ..model.networks import BNC, Family, Graph
from ..model.weighted import concentrations_of
from .prefixes import prefix_tables
from .priors import PrefixPrior, Prior

_BLOCK_CELLS = 2**18


@singledispatch
def estimate(x: Model, data: Countable, prior: Prior) -> Any:
    """Give a structure its tables, each from the rows in which its family is observed.

    A kind of model registers here how its parameters are estimated.

    Parameters
    ----------
    x : Model
        A structure; tables that it has already are replaced.
    data : Dataset or Partitions
        The model's variables in its order, coded by the levels to be taken.
    prior : Prior
    """
    raise TypeError(f"x: nothing is known of how to learn the parameters of a {type(x).__name__}")


@estimate.register
def _(x: Graph, data: Countable, prior: Prior) -> Graph:
    if isinstance(prior, PrefixPrior) and prior.nested:
        return _estimate_nested(x, data, prior)
    tables = estimate_tables(data, x.families, prior)
    return renewed(x, levels=data.levels, cpts=tuple([tables[family] for family in x.families]))


@estimate.register
def _(x: Ensemble, data: Countable, prior: Prior) -> Ensemble:
    return replace(x, members=tuple([estimate(member, data, prior) for member in x.members]))


def _estimate_nested(x: Graph, data: Countable, prior: PrefixPrior) -> BNC:
    """Estimate tables that need the counts of shorter families, and keep how far they back off."""
    if not isinstance(x, BNC):
        raise TypeError(f"backoff: {x.no_joint or 'is defined for networks with one class variable'}")
    tables = prefix_tables(data, x.scopes, prior)
    cpts = [table.conditional(family) for table, family in zip(tables, x.families, strict=True)]
    learned = {**x.learned, **concentrations_of(tables)}
    return replace(x, levels=data.levels, cpts=tuple(cpts), learned=learned)


def estimate_tables(data: Countable, families: Iterable[Family], prior: Prior) -> dict[Family, Array]:
    """Estimate the table of each distinct family; data in parts is gone through once.

    Families with equal numbers of levels are counted together.
    """
    distinct = list(dict.fromkeys(families))
    counts = count_families(data, [[data.positions[v] for v in family] for family in distinct])
    return dict(zip(distinct, tabulate(counts, prior), strict=True))


def tabulate(counts: Sequence[Array], prior: Prior) -> list[Array]:
    """Make tables of counts, of those that have the same shape together."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, table in enumerate(counts):
        alike.setdefault(table.shape, []).append(number)
    tables: list[Any] = [None] * len(counts)
    for shape, group in alike.items():
        size = max(1, _BLOCK_CELLS // max(1, prod(shape)))
        for some in (group[i : i + size] for i in range(0, len(group), size)):
            made = prior(np.stack([counts[number] for number in some]), axis=1)
            for number, table in zip(some, made, strict=True):
                tables[number] = table
    return tables
