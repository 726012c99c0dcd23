"""Likelihoods of data under a fitted model, and the criteria AIC and BIC; larger is better."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from ..accessors import (
    check_fitted,
    check_has_joint_distribution,
    check_single_graph,
    check_size_of_scores,
    encode_for_model,
    nparams,
    variables_of_new_data,
)
from ..classifiers import BNC, Graph
from ..dataset import Columns, Countable, Dataset, codes_of_class
from ..frames import AnyTable, open_data
from ..model import Model
from ..scores import scores_at
from ..structure import warn_of_fractional_weights
from ..tools import special
from ..tools.arrays import Array, log_normalize, log_sum_exp
from ..tools.checks import Flag


def _log_likelihood(x: Model, dataset: AnyTable | Countable, *, joint: bool) -> float:
    """Return Σ over rows of ln P(row), if ``joint``, or of ln P(class variables | features)."""
    rows = _encode_any_source(x, dataset, variables_of_new_data(x) if joint else x.variables)

    def sum_of_part(data: Dataset) -> float:
        """Return this sum for some rows, or from their counts if a database has them."""
        network: Graph | None = x.network
        has_columns = set(x.variables) <= set(data.columns)
        if joint and network is x and not network.densities and has_columns:
            counts = None
            if not data.incomplete.any():
                counts = data.select(x.variables).tables_from_source(network.scopes)
            if counts is not None:
                pairs = zip(counts, network.cpts or (), strict=True)
                return sum(float(special.xlogy(n, cpt).sum()) for n, cpt in pairs)
        logs = _log_probability_per_row(x, joint, data)
        if data.weights is None:
            return float(logs.sum())
        counted = data.weights > 0
        return float(logs[counted] @ data.weights[counted])

    total = (rows.sum_from_source_or_parts if joint else rows.sum_over_parts)(sum_of_part)
    if not rows.size:  # known after parts were read
        raise ValueError("dataset must have at least one row with a weight above 0; got none.")
    return total


def _encode_any_source(x: Model, dataset: Any, names: Sequence[Hashable]) -> Countable:
    """Return encoded variables of a model from data of any source."""
    data = open_data(dataset, or_rows=True)
    if not data.in_parts:
        return encode_for_model(x, data, names, argument="dataset")
    rows = data.prepared(x.preparation, x.levels_by_name) if x.preparation else data
    return rows.read(Columns(names, x.levels_by_name, x.densities))


def _log_probability_per_row(x: Model, joint: bool, data: Dataset) -> Array:
    """Return ln P(row), if ``joint``, or ln P(class variables | features), (rows,)."""
    levels, n = x.known_levels, len(x.features)
    check_size_of_scores(len(data), len(levels[-1]))
    rows = x.rows_to_score(data)
    if joint and variables_of_new_data(x) == x.features:
        return log_sum_exp(scores_at(x.score, rows))
    named = zip(x.targets, levels[n:], strict=True)
    labels = np.array([codes_of_class(data, name, known) for name, known in named], dtype=np.intp)
    if not x.one_class:
        several: Any = x
        logs: Array = (
            several.log_joint_at(rows, labels) if joint else several.log_posterior_at(rows, labels)
        )
        return logs
    scores = scores_at(x.score, rows)
    return np.take_along_axis(scores if joint else log_normalize(scores), labels.T, axis=1)[:, 0]


@overload
def loglik(x: Model, dataset: AnyTable | Countable, *, by_row: Literal[False] = False) -> float: ...
@overload
def loglik(x: Model, dataset: AnyTable, *, by_row: Literal[True]) -> pd.Series[float]: ...
def loglik(x: Model, dataset: Any, *, by_row: bool = False) -> float | pd.Series[float]:
    """Return the log-likelihood of the data, Σ ln P(row, class), in nats.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model with a joint distribution.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with all variables of the model, and the class in every row, except
        for a model of `lca`. Missing features are marginalized over exactly.
    by_row : bool, default False
        If True, return the log-likelihood of each row, for example to find
        unusual rows among rows that lack the same values. The data must be in
        memory.

    Returns
    -------
    float, or pandas.Series with `by_row`
        -inf if a row is impossible.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` does not define a joint distribution, or the class is missing in
        a row.

    Examples
    --------
    >>> from bnclassify import load_car, loglik, lp, nb
    >>> car = load_car()
    >>> round(loglik(lp(nb("class", car), car, smooth=0), car), 3)
    -13503.688
    """
    model = check_has_joint_distribution(x, "loglik")
    if not Flag().check("by_row", by_row):
        return _log_likelihood(model, dataset, joint=True)
    data = encode_for_model(model, dataset, variables_of_new_data(model), "dataset")
    return pd.Series(_log_probability_per_row(model, True, data), index=data.index, name="loglik")


def AIC(x: BNC, dataset: AnyTable | Countable) -> float:
    """Return Akaike's information criterion, loglik − nparams, as in R.

    Larger is better, for models of the same variables. This is −½ of the usual
    definition.

    Parameters
    ----------
    x : BNC
        A single network with parameters.
    dataset
        As in `loglik`.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `loglik`, or if ``x`` is not a single network.

    References
    ----------
    .. [1] Akaike, H. (1974). A new look at the statistical model
       identification. IEEE Transactions on Automatic Control 19.

    Examples
    --------
    >>> from bnclassify import AIC, load_car, lp, nb
    >>> car = load_car()
    >>> round(AIC(lp(nb("class", car), car, smooth=0), car), 3)
    -13566.688
    """
    model, total, _ = _network_loglik_and_rows(x, dataset, "AIC")
    return total - nparams(model)


def BIC(x: BNC, dataset: AnyTable | Countable) -> float:
    """Return the Bayesian information criterion: loglik − ½ ln(N) · nparams.

    Larger is better. This is −½ of the usual definition; N is the number of
    rows.

    Parameters
    ----------
    x : BNC
        A single network with parameters.
    dataset
        As in `loglik`.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `loglik`, or if ``x`` is not a single network.

    References
    ----------
    .. [1] Schwarz, G. (1978). Estimating the dimension of a model. Annals of
       Statistics 6.

    Examples
    --------
    >>> from bnclassify import BIC, load_car, lp, nb
    >>> car = load_car()
    >>> round(BIC(lp(nb("class", car), car, smooth=0), car), 3)
    -13738.512
    """
    model, total, rows = _network_loglik_and_rows(x, dataset, "BIC")
    return total - 0.5 * log(rows) * nparams(model)


def _network_loglik_and_rows(
    x: Model, dataset: AnyTable | Countable, score: str
) -> tuple[Graph, float, float]:
    """Return a single network with parameters, its log-likelihood and the rows, or raise."""
    model = check_single_graph(check_has_joint_distribution(x, score), score)
    nparams(model)  # which raises if there are densities without a number of parameters
    data = _encode_any_source(model, dataset, variables_of_new_data(model))
    warn_of_fractional_weights(data, score)
    return model, _log_likelihood(model, data, joint=True), data.size


def cloglik(x: Model, dataset: AnyTable | Countable) -> float:
    """Return the conditional log-likelihood, Σ ln P(class | features).

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters.
    dataset
        As in `loglik`.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `loglik`.

    Examples
    --------
    >>> from bnclassify import cloglik, load_car, lp, nb
    >>> car = load_car()
    >>> round(cloglik(lp(nb("class", car), car, smooth=0), car), 3)
    -528.535
    """
    return _log_likelihood(check_fitted(x), dataset, joint=False)
