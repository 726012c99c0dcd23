"""The verb lp: learn the parameters of a structure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real

import pandas as pd

from ..dataset import Dataset, Levels, check_levels, match, training_data
from ..model import AODE, BNC, Model, Recipe, check_model, members, vars
from .cpts import estimate_cpts


def lp(x: Model, dataset: pd.DataFrame | Dataset, *, smooth: float) -> Model:
    """Learn the parameters of a structure: its conditional probability tables.

    Parameters
    ----------
    x : BNC or AODE
        A structure. Parameters that it has already are learned again.
    dataset : pandas.DataFrame or Dataset
        Has a column for each variable of ``x``; others are ignored.
    smooth : float
        Dirichlet hyperparameter added to every count, 0 or more. 0 gives maximum-likelihood
        estimates, 1 the Laplace correction.

    Returns
    -------
    BNC or AODE
        Like ``x``, with parameters.

    Raises
    ------
    KeyError
        If a variable of ``x`` is not a column of ``dataset``.
    ValueError
        If ``smooth`` is negative or not finite, the data has no rows, or a value is not among
        the levels of the structure.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out.

    Notes
    -----
    θ_ijk = (N_ijk + smooth) / (N_ij· + r_i smooth) for level i of a variable with r_i levels. A
    configuration of parents without mass gives the uniform distribution. With missing values,
    each table is counted over the rows in which its whole family is observed. Levels are those
    that the structure knows, else those of the data.

    References
    ----------
    .. [1] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning Bayesian networks: the
       combination of knowledge and statistical data. Machine Learning 20.

    Examples
    --------
    >>> from bnclassify import load_car, lp, tan_cl
    >>> car = load_car()
    >>> lp(tan_cl("class", car, score="aic"), car, smooth=1)
    <BLANKLINE>
      Bayesian network classifier
    <BLANKLINE>
      class variable:      class
      num. features:       6
      num. arcs:           9
      free parameters:     131
      learning algorithm:  tan_cl
    """
    model = check_model(x)
    check_smooth(smooth)
    data = _matched(training_data(dataset, model.class_var, vars(model)), model)
    tables = estimate_cpts(data, (f for m in members(model) for f in m.families), smooth)
    recipe = _recipe(model, partial(lp, smooth=smooth))
    fitted = tuple(
        replace(m, levels=data.levels, cpts=tuple(tables[f] for f in m.families)) for m in members(model)
    )
    if isinstance(model, BNC):
        return replace(fitted[0], recipe=recipe)
    return AODE(model.class_var, fitted, recipe)


def _recipe(model: Model, parameters: partial[Model]) -> Recipe | None:
    return model.recipe and replace(model.recipe, parameters=parameters)


def check_smooth(smooth: object) -> None:
    """Raise if ``smooth`` is not a finite number of 0 or more."""
    if isinstance(smooth, bool) or not isinstance(smooth, Real):
        raise TypeError(f"smooth: expected a number, got {smooth!r}")
    if not 0 <= smooth <= 1e100:  # type: ignore[operator]
        raise ValueError(f"smooth: expected a finite number, 0 or more (at most 1e100), got {smooth!r}")


def _matched(data: Dataset, model: Model) -> Dataset:
    """Return the model's columns of the data, coded by the model's levels where it has them."""
    variables = vars(model)
    levels: Levels | None = members(model)[0].levels
    if levels is None:
        levels = tuple(data.levels[data.positions[v]] for v in variables)
    matched = Dataset(variables, levels, match(data, variables, levels), data.index)
    check_levels(matched, variables)
    return matched
