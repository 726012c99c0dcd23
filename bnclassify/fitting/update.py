"""More rows for a model, whose parameters follow from counts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, TypeVar, cast

from ..base.calls import guided
from ..base.checks import OneOf
from ..frames.opening import InFull, InParts, is_partitioned, open_data
from ..frames.schema import Columns
from ..model.arguments import check_fitted
from ..model.model import Model
from ..model.recipes import Rows
from .lp import rows_to_learn_from
from .pool import of_rows, pooled, unite, with_levels

M = TypeVar("M", bound=Model)


@guided("The class is a column of the data: update(x, dataset).")
def update(x: M, dataset: InFull | InParts, *, levels: Literal["same", "grow"] = "same") -> M:
    """Add rows to the data from which the parameters of a model were estimated.

    The result is the same as from all rows at once, given the structure and its levels, because `lp` keeps
    the counts and the prior.

    Parameters
    ----------
    x : BNC, AODE or another model
        Its parameters were estimated by `lp` from counts: with smooth, ess, m or backoff.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Rows to add, weighted if they have weights.
    levels : {"same", "grow"}, default "same"
        Levels of the result: those of ``x``, or with "grow" also those that only the new rows have, after the
        known ones.

    Returns
    -------
    BNC, AODE or another model
        Like ``x``, with the same structure.

    Raises
    ------
    KeyError, TypeError, ValueError
        If parameters do not follow from counts alone, such as those of weights, averages and EM, or a value
        is not among the levels of ``x`` and ``levels`` is "same".

    Notes
    -----
    The concentrations of back-off are estimated again from all counts, structure and cut points are not.

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
    OneOf(("same", "grow")).check("levels", levels)
    model, rows = check_fitted(x), open_data(dataset)
    if levels == "grow":
        model = with_levels(model, unite([model.levels_by_name, _levels_of(model, rows)]))
    return cast("M", model._update(rows, _add_rows))


def _add_rows(x: Model, dataset: Any) -> Any:
    rows = rows_to_learn_from(x, dataset)

    def add_to(part: Any) -> Any:
        tally = part._tally()
        grown = pooled(part, [tally.counts, part._count_all(rows, tally.prior)])
        return of_rows(grown, part, Rows.of(rows, part.targets))

    return of_rows(x._each(add_to), x, Rows.of(rows, x.targets))


def _levels_of(x: Model, dataset: Any) -> dict[Hashable, tuple[Any, ...]]:
    """Return the levels of variables in data, and those of a model if it discretizes or merges a column."""
    fixed = set() if x.preparation is None else x.preparation.fixed
    names = [name for name in x.variables if name not in fixed]
    known = None if is_partitioned(dataset) else x.levels_by_name
    numeric = [name for name in names if name in x.densities]
    data = open_data(dataset).read(Columns(names, known, numeric))
    return x.levels_by_name | dict(zip(data.columns, data.levels, strict=True))
