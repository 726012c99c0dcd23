"""More rows for a model whose parameters are counts: the verb update."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from ..frames.opening import InFull, InParts
from ..model.model import Model, check_fitted
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
    return cast("M", model._update(dataset, _add_rows))


def _add_rows(x: Model, dataset: InFull | InParts) -> Any:
    return x._add_rows(rows_to_learn_from(x, dataset))
