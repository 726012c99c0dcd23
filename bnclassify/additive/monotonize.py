"""Tables of effects that rise or fall with a feature, by isotonic regression."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from ..base.arrays import log_normalize
from ..base.checks import Instance, OneOf
from ..base.immutable import record
from ..base.messages import listed, shown
from ..frames.dataset import Dataset, match
from ..frames.opening import InFull
from ..model.arguments import check_fitted, check_not_dropped, encode_for
from ..model.model import Model
from ..model.recipes import Step
from .effect_table import UNSEEN, EffectTable, counts_in, with_unknown
from .tabulate import estimate, tabulate

Direction: TypeAlias = Literal["increasing", "decreasing"]

_LEAST_WEIGHT = 1e-9  # of a value without rows


def monotonize(x: Model, directions: Mapping[Hashable, Direction], dataset: InFull) -> EffectTable:
    """Make the effects of features rise or fall with their values, with the least change of the table.

    Parameters
    ----------
    x : BNC or another model
        A model of two classes as for `effects`, or a table of effects.
    directions : dict
        "increasing" or "decreasing" by feature, for the log odds of the last class, whose column `effects`
        has. Values are ordered as numbers, or as the levels of the model.
    dataset : pandas.DataFrame, Dataset or another frame
        Training data, with the class: the weights of the values, and the rows of the log-loss.

    Returns
    -------
    EffectTable
        The table in which the effects of these features never go in the other direction. ``print`` and
        `summary` show what was asked, and the log-loss on `dataset` with it and before.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` has more than two classes or is not a sum of effects, or a feature is not one of the model.

    Notes
    -----
    For each feature, Σ share(v) (e(v) − e'(v))² is minimal for the effects e' in the order, with the shares
    of the rows of `dataset`: isotonic regression [1]_. If a feature has a feature parent, there is one for
    each value of the parent. Effects of missing and of unseen values do not change. Continuous effects are
    cut into 32 steps; to choose their number, pass ``from_effects(effects(x, steps=...))``. Of a model
    with a recipe, `cv` fits each training set and makes the result monotone.

    References
    ----------
    .. [1] Barlow, R. E., Bartholomew, D. J., Bremner, J. M., Brunk, H. D. (1972). Statistical inference under
       order restrictions. Wiley.

    Examples
    --------
    >>> from bnclassify import bnc, effects, load_pima, monotonize
    >>> pima = load_pima()
    >>> model = bnc("nb", "diabetes", pima, smooth=1, discretize="quantile")
    >>> rising = monotonize(model, {"pregnancies": "increasing"}, pima)
    >>> table = effects(model).assign(rising=effects(rising)["yes"])
    >>> table[table["feature"] == "pregnancies"].round(2)
           feature        value   yes  rising
    1  pregnancies  (-inf, 1.0] -0.36   -0.50
    2  pregnancies   (1.0, 2.0] -0.83   -0.50
    3  pregnancies   (2.0, 4.0]  0.00    0.00
    4  pregnancies   (4.0, 7.0]  0.25    0.25
    5  pregnancies   (7.0, inf]  0.87    0.87
    6  pregnancies    (missing)  0.00    0.00
    """
    model = check_fitted(x)
    table = tabulate(model, dataset=dataset)
    names = table.known_levels[-1]
    if len(names) != 2:
        raise ValueError(f"x must have two classes; got {listed(names)}. Merge the others into one.")
    Instance(Mapping, "a dict of directions by feature").check("directions", directions)
    check_not_dropped(model, "directions", directions)
    for name, direction in directions.items():
        OneOf(table.features, "a feature of the model").check("directions", name)
        OneOf(("increasing", "decreasing")).check(f"directions[{name!r}]", direction)
        if children := [child for child, parents in table.feature_parents.items() if name in parents]:
            raise ValueError(
                "directions must name features on which no other effect depends; got "
                f"{shown(name)}, a parent of {listed(children)}. Fit a model without such pairs, for example "
                "with additive=True."
            )
    data, recipe = encode_for(table, dataset, argument="dataset"), model.recipe
    result, learned = _closest_ordered_table(table, data, directions), dict(table.learned)
    learned["monotone"] = {**learned.get("monotone", {}), **directions}
    learned["log_loss"] = (_log_loss(table, data), _log_loss(result, data))
    if "refits" in learned:
        refits: tuple[EffectTable, ...] = learned["refits"]
        coded = [encode_for(refit, dataset, argument="dataset") for refit in refits]
        learned["refits"] = tuple(
            [_closest_ordered_table(*pair, directions) for pair in zip(refits, coded, strict=True)]
        )
    if recipe is not None and recipe.parameters is not None:
        settings = {"directions": dict(directions), "parameters": recipe.parameters}
        recipe = replace(recipe, parameters=Step("monotonize", fit_monotone, settings, draws=True))
    return replace(result, recipe=recipe, learned=learned)


def _closest_ordered_table(
    x: EffectTable, data: Dataset, directions: Mapping[Hashable, Direction]
) -> EffectTable:
    """Return the closest table with the effects of features in order; a refit may lack some of these."""
    from scipy.optimize import isotonic_regression  # slow to import

    counts, tables = counts_in(x, data), list(x.tables)
    for name in [name for name in directions if name in x.features]:
        i = x.features.index(name)
        n = len(x.shown_values(name)) - 1 - (UNSEEN in x.known_levels[i])
        sign = 1.0 if directions[name] == "increasing" else -1.0
        odds = sign * (tables[i][:n, ..., 1] - tables[i][:n, ..., 0]).reshape(n, -1)
        weights = np.maximum(counts[i][:n].reshape(n, -1), _LEAST_WEIGHT)
        for j in range(odds.shape[1]):  # one column per value of the parent
            odds[:, j] = isotonic_regression(odds[:, j], weights=weights[:, j]).x
        rising = sign * odds.reshape(tables[i][:n, ..., 1].shape)
        tables[i] = np.concatenate([np.stack([np.zeros(rising.shape), rising], axis=-1), tables[i][n:]])
    result = EffectTable(**{**x.table_fields(), "tables": tuple(tables)})
    return result if x.unknown is None else with_unknown(result, data)


@record
def fit_monotone(
    x: Model,
    data: Dataset,
    *,
    directions: Mapping[Hashable, Direction],
    parameters: Step,
    rng: np.random.Generator | None = None,
) -> EffectTable:
    """Estimate the parameters of a structure, and make its effects monotone."""
    return monotonize(estimate(parameters, x, data, rng), directions, data)


def _log_loss(x: EffectTable, data: Dataset) -> float:
    """Return the mean of -ln P(class | features), weighted, in the rows with a class."""
    classes = match(data, (x.class_var,), x.known_levels[-1:], unseen="missing").ravel()
    known = np.flatnonzero(classes >= 0)
    logs = log_normalize(x.log_joint(x.place(data, "missing")[1][:, known]))
    weights = None if data.weights is None else data.weights[known]
    return float(-np.average(logs[np.arange(len(known)), classes[known]], weights=weights))
