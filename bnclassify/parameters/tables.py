"""Probability tables of structures: counted, and made by a prior."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch
from typing import Any

from ..base.arrays import Array
from ..frames.counting import contingency_tables
from ..frames.schema import Dataset
from ..model.ensembles import Ensemble
from ..model.kinds import Model, renewed
from ..model.networks import BNC, Family, Graph
from ..model.weighted import concentrations_of
from .prefixes import prefix_table
from .priors import PrefixPrior, Prior

_BLOCK_CELLS = 2**18


@singledispatch
def estimate(x: Model, data: Dataset, prior: Prior) -> Any:
    """Give a structure its tables, each from the rows in which its family is observed.

    A kind of model registers here how its parameters are estimated.

    Parameters
    ----------
    x : Model
        A structure; tables that it has already are replaced.
    data : Dataset
        The model's variables in its order, coded by the levels to be taken.
    prior : Prior
    """
    raise TypeError(f"x: nothing is known of how to learn the parameters of a {type(x).__name__}")


@estimate.register
def _(x: Graph, data: Dataset, prior: Prior) -> Graph:
    if isinstance(prior, PrefixPrior) and prior.nested:
        return _estimate_nested(x, data, prior)
    tables = estimate_tables(data, x.families, prior)
    return renewed(x, levels=data.levels, cpts=tuple([tables[family] for family in x.families]))


@estimate.register
def _(x: Ensemble, data: Dataset, prior: Prior) -> Ensemble:
    return replace(x, members=tuple([estimate(member, data, prior) for member in x.members]))


def _estimate_nested(x: Graph, data: Dataset, prior: PrefixPrior) -> BNC:
    """Estimate tables that need the counts of shorter families, and keep how far they back off."""
    if not isinstance(x, BNC):
        raise TypeError(f"backoff: {x.no_joint or 'is defined for networks with one class variable'}")
    tables = [prefix_table(data, scope, prior) for scope in x.scopes]
    cpts = [table.conditional(family) for table, family in zip(tables, x.families, strict=True)]
    learned = {**x.learned, **concentrations_of(tables)}
    return replace(x, levels=data.levels, cpts=tuple(cpts), learned=learned)


def estimate_tables(data: Dataset, families: Iterable[Family], prior: Prior) -> dict[Family, Array]:
    """Estimate the table of each distinct family.

    Families with equal numbers of levels are counted together.
    """
    alike: dict[tuple[int, ...], dict[Family, list[int]]] = {}
    for family in families:
        columns = [data.positions[variable] for variable in family]
        alike.setdefault(tuple([data.cards[column] for column in columns]), {})[family] = columns
    tables: dict[Family, Array] = {}
    for group in alike.values():
        stack = contingency_tables(data, list(group.values()))
        size = max(1, _BLOCK_CELLS // stack[0].size)
        for block in (slice(i, i + size) for i in range(0, len(stack), size)):
            stack[block] = prior(stack[block], axis=1)
        tables.update(zip(group, stack, strict=True))
    return tables
