"""Probability tables of structures: counted, and made by a prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

import numpy as np

from ..base.arrays import Array, added
from ..counts.contingency import count_families, narrow
from ..frames.schema import Countable, Dataset
from ..model.model import Model, renewed
from ..model.sufficient_statistics import Tally
from .bnc import BNC, Graph
from .ensemble import Ensemble
from .priors import Prior, is_nested

_BLOCK_CELLS = 2**18


@singledispatch
def estimate(x: Model, data: Countable, prior: Prior) -> Any:
    """Give a structure its tables, each from the rows in which its family is observed.

    They are made of counts, which the model keeps. A kind of model registers with `count` and `tabulate`
    what these are, or here, how its parameters are estimated otherwise.

    Parameters
    ----------
    x : Model
        A structure; tables that it has already are replaced.
    data : Dataset or Partitions
        The model's variables in its order, coded by the levels to be taken.
    prior : Prior
    """
    return x._estimate(data, prior)


def add_rows(x: Model, data: Countable, tally: Tally) -> Any:
    """Give a model the tables of the rows in its tally and of more; the rest as in `estimate`."""
    counts = added([tally.counts, data.add_up(partial(_count, x, tally.prior))])
    return tabulate(x, Tally(counts, tally.prior))


def _count(x: Model, prior: Prior, data: Dataset) -> tuple[Any, ...]:
    return count(x, data, prior)


@singledispatch
def count(x: Model, data: Dataset, prior: Prior) -> tuple[Any, ...]:
    """Return what the tables of a structure are made of by a prior; counts of different rows add up."""
    return x._count(data, prior)


@singledispatch
def tabulate(x: Model, tally: Tally) -> Any:
    """Return a structure that knows its levels with tables, and with what these were made of."""
    return x._tabulate(tally)


def with_tally(x: Model, tally: Tally, **learned: Any) -> dict[str, Any]:
    """Return what a model has learned, its tally in as little memory as holds it."""
    counts = [*tally.counts]
    for group in _group_by_shape(counts):
        alone = len(group) == 1
        stacked = narrow(counts[group[0]] if alone else np.stack([counts[number] for number in group]))
        for number, table in zip(group, [stacked] if alone else stacked, strict=True):
            counts[number] = table
    return {**x.learned, **learned, "counts": replace(tally, counts=tuple(counts))}


@count.register
def _(x: Graph, data: Dataset, prior: Prior) -> tuple[Any, ...]:
    if is_nested(prior):
        nested: Any = prior
        return nested.count(data, x.scopes)
    return tuple(count_families(data, x.scopes))


@tabulate.register
def _(x: Graph, tally: Tally) -> Graph:
    if is_nested(tally.prior):
        return _tabulate_nested(x, tally)
    tables = make_tables(tally.counts, tally.prior)
    return renewed(x, cpts=tuple(tables), learned=with_tally(x, tally))


def _tabulate_nested(x: Graph, tally: Tally) -> BNC:
    """Make tables that need the counts of shorter families, and keep how far they back off."""
    if not isinstance(x, BNC):
        raise TypeError(f"backoff: {x.no_joint or 'is defined for networks with one class variable'}")
    cpts, learned = tally.prior.tabulate(tally.counts, x.scopes, x.families)
    return replace(x, cpts=tuple(cpts), learned=with_tally(x, tally, **learned))


@estimate.register
def _(x: Ensemble, data: Countable, prior: Prior) -> Ensemble:
    return replace(x, members=tuple([estimate(member, data, prior) for member in x.members]))


def make_tables(counts: Sequence[Array], prior: Prior) -> list[Array]:
    """Make tables of counts, of those that have the same shape together."""
    tables: list[Any] = [None] * len(counts)
    for group in _group_by_shape(counts):
        tables_per_block = max(1, _BLOCK_CELLS // max(1, counts[group[0]].size))
        for block in (group[i : i + tables_per_block] for i in range(0, len(group), tables_per_block)):
            stacked = prior(np.stack([counts[number] for number in block], dtype=np.float64), axis=1)
            for number, table in zip(block, stacked, strict=True):
                tables[number] = table
    return tables


def _group_by_shape(tables: Sequence[Any]) -> list[list[int]]:
    """Return the numbers of arrays, those of one shape together; what is no array is left out."""
    numbers_by_shape: dict[tuple[int, ...], list[int]] = {}
    for number, table in enumerate(tables):
        if isinstance(table, np.ndarray):
            numbers_by_shape.setdefault(table.shape, []).append(number)
    return list(numbers_by_shape.values())
