"""Parameters of models with several class variables: the verb `lp` on them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ..frames.parting import InFull
from ..frames.schema import Dataset, take_columns
from ..frames.training import prepare
from ..model.kinds import renewed
from ..parameters.estimation import Call, fit, fit_kind, match_levels
from ..parameters.methods import PLAIN
from ..parameters.priors import PrefixPrior, Prior
from ..parameters.tables import estimate, estimate_tables
from .averages import MAODE
from .chains import Chain
from .kinds import MBC, MultiModel
from .training import prepare_classes


@fit_kind.register(MBC)
@fit_kind.register(MAODE)
def _(x: MBC | MAODE, call: Call) -> MultiModel:
    refused = [] if call.method is PLAIN else [call.method.argument or type(call.method).__name__]
    refused += ["backoff"] if isinstance(call.prior, PrefixPrior) and call.prior.nested else []
    if refused:
        raise TypeError(
            f"{refused[0]}: is defined for one class variable; chain(class_vars, dataset) is made of models "
            "that take it"
        )
    data = prepare_classes(cast("InFull", call.dataset), x.class_vars, x.features)
    recipe = x.recipe and replace(x.recipe, parameters=call.again)
    rows = match_levels(data, x)
    fitted: MultiModel = estimate(renewed(x, recipe=recipe, learned={}), rows, call.prior)
    return fitted


@estimate.register
def _(x: MAODE, data: Dataset, prior: Prior) -> MAODE:
    tables = estimate_tables(data, {*x.families, *x.class_families}, prior)
    return replace(
        x,
        levels=data.levels,
        cpts=tuple([tables[family] for family in x.families]),
        class_cpts=tuple([tables[family] for family in x.class_families]),
    )


@fit_kind.register
def _(x: Chain, call: Call) -> Chain:
    data = prepare_classes(cast("InFull", call.dataset), x.class_vars, x.features)
    links = []
    for member in x.members:
        dataset = Dataset(data.schema, data.codes, data.index, data.weights)
        rows = prepare(take_columns(dataset, member.variables), member.class_var, member.features, told=False)
        links.append(fit(member, rows, call.prior, call.method, rng=call.rng, again=call.again))
    recipe = x.recipe and replace(x.recipe, parameters=call.again)
    return replace(x, members=tuple(links), recipe=recipe)
