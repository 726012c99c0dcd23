"""Tables of weighted networks and of averages over cuttings: those of every prefix, all powers 1."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ..frames.schema import Dataset, Schema
from ..model.model import M, Model, renewed
from ..network.bnc import BNC
from ..network.estimation import estimate
from ..network.priors import PrefixPrior, Prior, check_prefix_prior
from .averaged_cuts import AveragedCuts
from .joint import write_out
from .powered import Powered
from .prefix_estimation import prefix_table
from .tables import PrefixTable
from .weighted import Weighted, concentrations_of


@singledispatch
def with_prefixes(x: Model, data: Dataset, prior: PrefixPrior) -> Any:
    """Learn the prefix tables of a structure; all powers are 1.

    A kind of model that leave-one-out is defined for registers here.
    """
    return x._with_prefixes(data, prior)


@with_prefixes.register
def _(x: BNC, data: Dataset, prior: PrefixPrior) -> Weighted:
    return _with_tables(x, data, [prefix_table(data, scope, prior) for scope in x.scopes])


@with_prefixes.register
def _(x: Weighted, data: Dataset, prior: PrefixPrior) -> Weighted:
    return with_prefixes(replace(x.structure, recipe=x.recipe), data, prior)


@with_prefixes.register
def _(x: AveragedCuts, data: Dataset, prior: PrefixPrior) -> AveragedCuts:
    networks: list[Weighted] = []
    for cutting, coarsen in enumerate(x.coarsenings):
        structure = x.in_cutting(cutting)
        codes = np.concatenate([coarsen(data.codes[:-1]), data.codes[-1:]])
        coarse = replace(data, schema=Schema(data.columns, structure.levels or ()), codes=codes)
        tables = [
            networks[0].tables[i]
            if networks and not coarsen.changes(scope)
            else prefix_table(coarse, scope, prior)
            for i, scope in enumerate(structure.scopes)
        ]
        networks.append(_with_tables(structure, coarse, tables))
    return replace(x, networks=tuple(networks), learned={})


def ready(x: M) -> M:
    """Return a model with its tables written out, as predictions need them."""
    if isinstance(x, Weighted | AveragedCuts):
        write_out(x)
    return x


def _with_tables(x: BNC, data: Dataset, tables: list[PrefixTable]) -> Weighted:
    structure = replace(x, levels=data.levels, cpts=None, learned={})
    return Weighted(structure, tuple(tables), (1.0,) * len(tables), x.recipe, concentrations_of(tables))


@estimate.register
def _(x: Weighted, data: Dataset, prior: Prior) -> Any:
    return estimate(replace(x.structure, recipe=x.recipe), data, prior)


@estimate.register
def _(x: AveragedCuts, data: Dataset, prior: Prior) -> Any:
    return ready(with_prefixes(x, data, check_prefix_prior(prior)))


@estimate.register
def _(x: Powered, data: Dataset, prior: Prior) -> Any:
    return estimate(renewed(x.base, recipe=x.recipe), data, prior)
