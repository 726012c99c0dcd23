"""More rows for a model whose parameters are counts: the verb update."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TypeVar, cast

from ..base.messages import listed
from ..frames.parting import InFull, InParts
from ..model.model import Model, check_fitted
from ..model.sufficient_statistics import Tally
from ..network.ensemble import Ensemble
from ..network.estimation import add_rows
from ..superparents.n_dependence import ANDE
from .parameters import rows_to_learn_from

M = TypeVar("M", bound=Model)


def update(x: M, dataset: InFull | InParts) -> M:
    """Add rows to what the parameters of a model were learned from.

    The model is the same as from all rows at once, if its structure and levels are given: `lp` keeps
    the counts that tables are made of, and the prior.

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters that `lp` made of counts: with smooth, ess, m or backoff.
    dataset : pandas.DataFrame, Dataset, or data in parts
        The rows to add, whose values are among the levels that ``x`` knows. Weights count.

    Returns
    -------
    BNC, AODE or another model
        Like ``x``, with the same structure and levels.

    Raises
    ------
    KeyError
        If a variable of ``x`` is not a column of ``dataset``.
    TypeError
        If ``x`` is no model.
    ValueError
        If parameters are more than counts, as weights, averages over arcs or cuttings and those of EM are,
        a value is not among the levels that ``x`` knows, or there are no rows.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out.

    Notes
    -----
    What back-off shrinks by is learned anew from all counts. Levels do not grow: a value that is new is an
    error, and tells that it is time to learn structure and parameters again.

    Examples
    --------
    >>> from bnclassify import load_car, lp, params, tan_cl, update
    >>> car = load_car()
    >>> first, more = car.iloc[::2], car.iloc[1::2]
    >>> structure = tan_cl("class", car)
    >>> model = update(lp(structure, first, smooth=1), more)
    >>> bool((params(model)["doors"] == params(lp(structure, car, smooth=1))["doors"]).all())
    True
    """
    model = check_fitted(x)
    return cast("M", update_kind(model, dataset))


@singledispatch
def update_kind(x: Model, dataset: InFull | InParts) -> Model:
    """Add rows to a model; a kind registers here if its data is prepared otherwise, or its counts kept."""
    if own := getattr(type(x), "_update", None):
        return cast("Model", own(x, dataset))
    tally = check_tally(x)
    updated: Model = add_rows(x, rows_to_learn_from(x, dataset), tally)
    return updated


def check_tally(x: Model) -> Tally:
    """Return what the tables of a model were made of, or raise."""
    tally = x.learned.get("counts")
    if isinstance(tally, Tally) and tally.prior is not None:
        return tally
    adjusted = [name for name in x.learned if name != "counts"]
    reason = "does not keep the counts that its parameters were made of"
    if adjusted:
        reason = f"has parameters that are more than counts: {listed(adjusted)}"
    raise ValueError(f"x: {reason}; learn them again from all rows, with lp(x, dataset, ...)")


@update_kind.register
def _(x: Ensemble, dataset: InFull | InParts) -> Ensemble:
    rows = rows_to_learn_from(x, dataset)
    return replace(x, members=tuple([update_kind(member, rows) for member in x.members]))


@update_kind.register
def _(x: ANDE, dataset: InFull | InParts) -> ANDE:
    if x.counts is None or x.learned:
        check_tally(x)
    return x._add_rows(rows_to_learn_from(x, dataset))
