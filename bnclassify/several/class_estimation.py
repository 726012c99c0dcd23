"""Parameters of models with several class variables: the verbs `lp` and `update` on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..counts.contingency import count_families
from ..frames.parting import InFull, InParts
from ..frames.schema import Dataset, Learnable
from ..frames.training import one_target, prepare
from ..functions.parameters import Call, fit, fit_kind, rows_to_learn_from
from ..functions.updates import check_tally, update_kind
from ..model.model import Model, renewed
from ..model.sufficient_statistics import Tally
from ..network.bnc import Family
from ..network.estimation import add_rows, count, estimate, make_tables, tabulate, with_tally
from ..network.methods import PLAIN
from ..network.priors import Prior, is_nested
from .chains import Chain
from .maode import MAODE
from .mbc import MBC, MultiModel


@fit_kind.register(MBC)
@fit_kind.register(MAODE)
def _(x: MBC | MAODE, call: Call) -> MultiModel:
    refused = [] if call.method is PLAIN else [call.method.argument or type(call.method).__name__]
    refused += ["backoff"] if is_nested(call.prior) else []
    if refused:
        raise TypeError(
            f"{refused[0]}: is defined for one class variable; chain(class_vars, dataset) is made of models "
            "that take it"
        )
    recipe = x.recipe and replace(x.recipe, parameters=call.step)
    rows = rows_to_learn_from(x, call.dataset)
    fitted: MultiModel = estimate(renewed(x, recipe=recipe, learned={}), rows, call.prior)
    return fitted


@update_kind.register(MBC)
@update_kind.register(MAODE)
def _(x: MBC | MAODE, dataset: InFull | InParts) -> MultiModel:
    tally = check_tally(x)
    updated: MultiModel = add_rows(x, rows_to_learn_from(x, dataset), tally)
    return updated


@count.register
def _(x: MAODE, data: Dataset, prior: Prior) -> tuple[Any, ...]:
    return tuple(count_families(data, [[data.positions[v] for v in family] for family in _distinct(x)]))


@tabulate.register
def _(x: MAODE, tally: Tally) -> MAODE:
    tables = dict(zip(_distinct(x), make_tables(tally.counts, tally.prior), strict=True))
    return replace(
        x,
        cpts=tuple([tables[family] for family in x.families]),
        class_cpts=tuple([tables[family] for family in x.class_families]),
        learned=with_tally(x, tally),
    )


def _distinct(x: MAODE) -> tuple[Family, ...]:
    """Return the families of all members, each once."""
    return tuple(dict.fromkeys((*x.families, *x.class_families)))


@fit_kind.register
def _(x: Chain, call: Call) -> Chain:
    links = []
    for member, rows in _link_rows(x, call.dataset):
        links.append(fit(member, rows, call.prior, call.method, rng=call.rng, step=call.step))
    recipe = x.recipe and replace(x.recipe, parameters=call.step)
    return replace(x, members=tuple(links), recipe=recipe)


@update_kind.register
def _(x: Chain, dataset: InFull | InParts) -> Chain:
    links = [update_kind(member, rows) for member, rows in _link_rows(x, dataset)]
    return replace(x, members=tuple(links))


def _link_rows(x: Chain, dataset: InFull | InParts) -> Iterator[tuple[Model, Learnable]]:
    """Yield each model of a chain with the rows that have its class."""
    known = None if x.levels is None else dict(zip(x.variables, x.levels, strict=True))
    data = prepare(dataset, x.class_vars, x.features, known=known)
    for member in x.members:
        yield member, one_target(data, member.class_var, member.features)
