"""Probability tables: as arrays, and as people read them."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd

from ..base.arrays import Array
from .model import Model, check_tables
from .questions import variable_number


def params(x: Model) -> dict[Hashable, Array]:
    """Return the conditional probability table of each variable, as arrays; `cpt` has them with labels.

    Parameters
    ----------
    x : BNC or DN
        A model with parameters.

    Returns
    -------
    dict
        Variable to a read-only array. Axis i is member i of the variable's family
        (`families`), its positions the levels of that member (`values`); the table sums to 1
        over axis 0.

    Raises
    ------
    ValueError
        If the model is a structure without parameters.
    TypeError
        If the model is an ensemble.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, params
    >>> car = load_car()
    >>> params(lp(nb("class", car), car, smooth=1))["safety"].round(3)
    array([[0.476, 0.003, 0.014, 0.015],
           [0.295, 0.468, 0.556, 0.015],
           [0.229, 0.53 , 0.431, 0.971]])
    """
    network = check_tables(x, "params")
    return dict(zip(network.variables, network.cpts or (), strict=True))


def cpt(x: Model, variable: Hashable) -> pd.DataFrame:
    """Return one conditional probability table as people read it.

    Parameters
    ----------
    x : BNC or DN
        A model with parameters.
    variable : str
        A feature or the class.

    Returns
    -------
    pandas.DataFrame
        A row a level of the variable; columns a MultiIndex named by its parents and the class
        (a plain Index where the class is the only parent), each column a distribution. The
        class, which has no parents, has the one column ``probability``.

    Raises
    ------
    KeyError
        If the model has no such variable.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.
    ValueError
        If the model has no parameters.

    Examples
    --------
    >>> from bnclassify import cpt, load_car, lp, nb
    >>> car = load_car()
    >>> cpt(lp(nb("class", car), car, smooth=1), "safety").round(3)
    class   unacc    acc   good  vgood
    safety
    low     0.476  0.003  0.014  0.015
    med     0.295  0.468  0.556  0.015
    high    0.229  0.530  0.431  0.971
    """
    network = check_tables(x, "cpt")
    table = params(network)
    family = network.families[variable_number(network, variable)]
    labels = x.levels_by_name
    index = pd.Index(list(labels[variable]), name=variable, tupleize_cols=False)
    if len(family) == 1:
        return pd.DataFrame({"probability": table[variable]}, index=index)
    headers = [pd.Index(list(labels[v]), name=v, tupleize_cols=False) for v in family[1:]]
    columns = headers[0] if len(headers) == 1 else pd.MultiIndex.from_product(headers, names=family[1:])
    return pd.DataFrame(table[variable].reshape(len(index), -1), index=index, columns=columns)
