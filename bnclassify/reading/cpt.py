"""Tables of conditional probabilities, as arrays and with labels."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from ..model.arguments import check_model, check_single_fitted_graph
from ..model.model import Model
from ..tools.arrays import Array
from ..tools.messages import with_shared_text
from .families import position_of_variable
from .intervals import (
    bounds_of_table_entries,
    check_interval,
    dirichlet_counts_of,
    with_interval_columns,
)

_raising = with_shared_text(
    {
        "{fitted}": """\
Raises
------
ValueError
    If the model has no parameters.
TypeError
    If `x` is not a single network; call the function on each of
    ``members(x)``."""
    }
)


@_raising
def params(x: Model) -> dict[Hashable, Array]:
    """Return the conditional probability table of each variable as an array.

    Parameters
    ----------
    x : BNC or DN
        Fitted model.

    Returns
    -------
    dict
        A read-only array by variable. Axis i is member i of the variable's
        family (`families`), its positions are the levels of that member
        (`values`), and the table sums to 1 over axis 0. For a number, axis 0
        has the mean, the standard deviation and, for a kernel density, the
        bandwidth.

    {fitted}

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, params
    >>> car = load_car()
    >>> params(lp(nb("class", car), car, smooth=1))["safety"].round(3)
    array([[0.476, 0.003, 0.014, 0.015],
           [0.295, 0.468, 0.556, 0.015],
           [0.229, 0.53 , 0.431, 0.971]])
    """
    network = check_single_fitted_graph(x, "params")
    tables = dict(zip(network.variables, network.cpts or (), strict=True))
    for name, density in network.densities.items():
        tables[name] = np.stack([*density.parameters_by_name().values()])
    return tables


@_raising
def cpt(x: Model, variable: Hashable, *, interval: float | None = None) -> pd.DataFrame:
    """Return one conditional probability table with labels.

    Parameters
    ----------
    x : BNC or DN
        Fitted model.
    variable : str
        A feature or the class.
    interval : float, optional
        Probability of a credible interval of each entry, between 0 and 1, such
        as 0.9. Requires tables estimated with ``smooth``, ``ess`` or ``m``
        above 0, and rows that are a sample.

    Returns
    -------
    pandas.DataFrame
        One row per level of the variable, and one column per configuration of
        its parents, which is a distribution. A variable without parents has one
        column, ``probability``. With `interval`, each column is divided into
        lower, estimate and upper, an additional level. For a number, one row
        per configuration of its parents, with columns ``mean``, ``sd`` and, for
        a kernel density, ``bandwidth``.

    {fitted}
    KeyError
        If the model has no such variable.

    Notes
    -----
    A column with counts N_k and pseudo-count a has a Dirichlet posterior, so an
    entry is distributed as Beta(N_k + a, Σ_l (N_l + a) − N_k − a). The interval
    has equal tails. It assumes that the structure is correct, and does not
    measure the uncertainty of arcs.

    Examples
    --------
    >>> from bnclassify import cpt, load_car, lp, nb
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> cpt(model, "safety").round(3)
    class   unacc    acc   good  vgood
    safety
    low     0.476  0.003  0.014  0.015
    med     0.295  0.468  0.556  0.015
    high    0.229  0.530  0.431  0.971

    Few cars are good, so the intervals of their probabilities are wide:

    >>> cpt(model, "safety", interval=0.9)[["acc", "good"]].round(2)
    class    acc                 good
           lower estimate upper lower estimate upper
    safety
    low     0.00     0.00  0.01  0.00     0.01  0.04
    med     0.43     0.47  0.51  0.46     0.56  0.65
    high    0.49     0.53  0.57  0.34     0.43  0.53
    """
    probability = check_interval(interval)
    network = check_single_fitted_graph(x := check_model(x), "cpt")
    if probability is not None:
        frame, tally = cpt(x, variable), dirichlet_counts_of(network)
        counts = tally.counts[network.variables.index(variable)]
        bounds = bounds_of_table_entries(counts, tally.prior, probability)
        if variable == x.class_var and network.class_proportions is not None:
            bounds = np.stack([frame.to_numpy()] * 2)  # given, and hence certain
        return with_interval_columns(frame, bounds.reshape(2, *frame.shape))
    table = params(network)
    family = network.families[position_of_variable(network, variable)]
    labels = x.levels_by_name
    index = pd.Index(list(labels[variable]), name=variable, tupleize_cols=False)
    if len(family) == 1:
        return pd.DataFrame({"probability": table[variable]}, index=index)
    headers = [pd.Index(list(labels[v]), name=v, tupleize_cols=False) for v in family[1:]]
    columns = (
        headers[0] if len(headers) == 1 else pd.MultiIndex.from_product(headers, names=family[1:])
    )
    if variable in network.densities:
        figures = network.densities[variable].parameters_by_name().items()
        return pd.DataFrame({name: figure.ravel() for name, figure in figures}, index=columns)
    return pd.DataFrame(table[variable].reshape(len(index), -1), index=index, columns=columns)
