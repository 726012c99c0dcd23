"""Results of search and estimation: moves, weights, and summaries of leave-one-out and EM."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from ..accessors import (
    check_fitted,
    check_model,
    check_single_fitted_graph,
    check_single_network,
)
from ..model import Model
from ..tools.messages import with_shared_text

_raising = with_shared_text(
    {
        "{single}": """\
Raises
------
ValueError
    If the model was not learned in this way.
TypeError
    If `x` is not a single network; call the function on each of
    ``members(x)``.""",
        "{any}": """\
Raises
------
TypeError
    If `x` is not a model.
ValueError
    If the model was not learned in this way.""",
    }
)


@_raising
def search_steps(x: Model) -> pd.DataFrame:
    """Return the steps of a search for the structure.

    Parameters
    ----------
    x : BNC
        Learned by `hc` or `ban`, by a greedy search, by `lca`, or by `tan_cl`
        with ``missing="em"``.

    Returns
    -------
    pandas.DataFrame
        One row per step: ``operation``, ``from`` and ``to`` before it, the
        ``gain``, and the ``score`` after it. `fssj` and `bsej` "add" the
        feature in ``to``, "remove" that in ``from``, or "join" two groups: the
        tuple of features in ``from`` become parents of the tuple in ``to``.
        ``run`` is the number of the restart, or of the search if
        ``missing="em"``, the first on complete rows. For `lca`, one row per
        number of classes ``k``, with ``loglik``, ``nparams`` and ``bic``. For a
        greedy search, ``attrs["scores"]`` has the cross-validated metric of the
        initial structure and after each step, with losses negated; with
        ``missing="em"``, it has the score of the observed data for each
        structure.

    {any}

    Examples
    --------
    >>> from bnclassify import hc, load_car, search_steps
    >>> search_steps(hc("class", load_car())).round(1).head(3)
      operation     from      to   gain    score
    0       add   safety   class  291.7 -14101.4
    1       add  persons   class  251.2 -13850.1
    2       add    class  buying   82.0 -13768.1
    """
    trace = (x := check_model(x)).trace
    if classes := trace.get("classes"):
        return pd.DataFrame(list(classes), columns=["k", "loglik", "nparams", "bic"])
    learners = "hc, ban, fssj, bsej, tan_hc, tan_hcsp, kdb and lca"
    advice = f"its structure was not found by a search, as by {learners}"
    steps: Sequence[Sequence[object]] = _learned_result(x, "steps", advice)
    columns = ["operation", "from", "to", "gain", "score", "run"][: len(steps[0]) if steps else 5]
    table = pd.DataFrame(list(steps), columns=columns).astype({"gain": float, "score": float})
    table.attrs |= {"scores": tuple(trace["scores"])} if "scores" in trace else {}
    return table


@_raising
def em_objectives(x: Model) -> tuple[float, ...]:
    """Return the objective of EM, at the start and after each iteration.

    Parameters
    ----------
    x : BNC
        A network fitted by ``lp(..., missing="em")``, or a member of an
        ensemble (``members(x)``).

    Returns
    -------
    tuple of float
        Σ ln P(row) + smooth Σ ln θ, in nats, which never decreases.

    {single}

    Examples
    --------
    >>> from bnclassify import em_objectives, load_voting, lp, tan_cl
    >>> voting = load_voting()
    >>> model = lp(tan_cl("Class", voting), voting, smooth=1, missing="em")
    >>> [round(value, 1) for value in em_objectives(model)]
    [-3108.3, -3107.0, -3107.0, -3107.0]
    """
    advice = 'was not fitted by EM; lp(x, dataset, smooth=..., missing="em") does that'
    run = _learned_result(check_single_network(x, "em_objectives"), "em", advice)
    return tuple(run.objectives)


@_raising
def manb_arc_posterior(x: Model) -> pd.Series[float]:
    """Return the posterior probability of each arc from the class to a feature.

    Parameters
    ----------
    x : BNC
        A naive Bayes fitted by ``lp(..., manb_prior=...)``.

    Returns
    -------
    pandas.Series
        One probability per feature.

    {single}

    Examples
    --------
    >>> from bnclassify import load_car, lp, manb_arc_posterior, nb
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1, manb_prior=0.5)
    >>> manb_arc_posterior(model).round(3).to_dict()
    {'buying': 1.0, 'maint': 1.0, 'doors': 0.0, 'persons': 1.0, 'lug_boot': 1.0, 'safety': 1.0}
    """
    model = check_single_network(x, "manb_arc_posterior")
    advice = "has no posteriors of arcs; lp(x, dataset, smooth=..., manb_prior=...) computes them"
    posteriors: tuple[float, ...] = _learned_result(model, "arc_posteriors", advice)
    return _series_by_feature(dict(zip(model.features, posteriors, strict=True)), "arc_posterior")


@_raising
def feature_weights(x: Model) -> pd.Series[float]:
    """Return the weight of each feature.

    Parameters
    ----------
    x : BNC or another model
        A model fitted by `lp` with ``awnb_trees``, ``wanbia`` or
        ``held_out="weights"``, one that averages over discretizations, or
        ``ande(..., weights="mi")``.

    Returns
    -------
    pandas.Series
        One weight per feature: 0 for a feature that the model ignores, 1 for a
        feature with an unchanged table. Weights by leave-one-out can be any
        number, and the first row is the class. Weights of `ande` belong to
        superparents.

    {single}

    Examples
    --------
    >>> from bnclassify import feature_weights, load_car, lp, nb
    >>> car = load_car()
    >>> feature_weights(lp(nb("class", car), car, smooth=1, held_out="weights")).round(2).head(2)
    class     1.89
    buying    3.06
    Name: weight, dtype: float64
    """
    model = check_model(x)
    weights: Any = model.learned.get("weights")
    if own := getattr(model, "feature_weights", None):  # of types that define them
        weights = own()
    elif weights is not None:
        weights = dict(zip(model.features, weights, strict=True))
    if weights is None:
        raise ValueError(
            "x: has no weights; lp estimates them with held_out='weights', "
            "wanbia=True or awnb_trees=10"
        )
    return _series_by_feature(weights, "weight")


@_raising
def concentrations(x: Model) -> pd.Series[float]:
    """Return how much each table was shrunk to that with one parent fewer.

    Parameters
    ----------
    x : BNC or another model of a single network
        A model fitted by ``lp(..., backoff=True)``.

    Returns
    -------
    pandas.Series
        The concentration m by variable and level: the variable alone (level 0),
        given the class (level 1), and given more and more feature parents, in
        family order. m is a number of pseudo-counts per configuration of the
        parents, from 0.5 (the data determine the table) to 5000 (almost
        complete shrinkage).

    {single}

    Examples
    --------
    >>> from bnclassify import concentrations, load_car, lp, tan_cl
    >>> car = load_car()
    >>> concentrations(lp(tan_cl("class", car), car, backoff=True)).round(2).head(5)
    variable  level
    buying    0        5000.00
              1           1.84
    maint     0        5000.00
              1           2.93
              2           6.10
    Name: concentration, dtype: float64
    """
    network = check_single_fitted_graph(x := check_model(x), "concentrations")
    advice = (
        "has tables without back-off; lp(x, dataset, backoff=True) estimates tables with back-off"
    )
    by_variable: tuple[tuple[float, ...], ...] = _learned_result(x, "concentrations", advice)
    coded = [name for name in network.variables if name not in network.densities]
    by_level: dict[tuple[Hashable, int], float] = {}
    for variable, masses in zip(coded, by_variable, strict=True):
        for level, m in enumerate(masses):
            if level > 0 or variable != x.class_var:
                by_level[variable, level] = m
    index = pd.MultiIndex.from_tuples(list(by_level), names=["variable", "level"])
    return pd.Series(list(by_level.values()), index=index, name="concentration", dtype=float)


@_raising
def loo_summary(x: Model) -> pd.Series[Any]:
    """Summarize the weights or powers estimated from held-out rows.

    Parameters
    ----------
    x : model
        Fitted by `lp` with ``held_out``.

    Returns
    -------
    pandas.Series
        - ``power``: the best common power of all terms; 1 if it was not
          estimated
        - ``objective``: ``log_likelihood`` minus the penalty of the powers
        - ``log_likelihood``: Σ ln P(class | features), each row excluded from
          the counts in turn, in nats
        - ``parents``: the largest number of feature parents of a feature
        - ``rows``: the number of rows that were excluded, one at a time

    {any}

    Notes
    -----
    This is not an estimate of performance on new rows, because structure, cut
    points and concentrations were learned from all rows; use `cv`.

    Examples
    --------
    >>> from bnclassify import load_car, loo_summary, lp, tan_cl
    >>> car = load_car()
    >>> options = {"held_out": "weights", "held_out_args": {"parents": True}}
    >>> model = lp(tan_cl("class", car), car, backoff=True, **options)
    >>> found = loo_summary(model)
    >>> round(found["power"], 2), round(found["objective"], 1), found["parents"], found["rows"]
    (2.15, -264.2, 1, 1728)
    """
    advice = "was not fitted by leave-one-out; lp with held_out='weights', 'parents' or 'power' is"
    summary = _learned_result(check_fitted(x), "leave_one_out", advice)
    return pd.Series(asdict(summary), dtype=object)


def _learned_result(x: Model, name: str, advice: str) -> Any:
    traces = {**x.trace, **x.learned}
    if name not in traces:
        raise ValueError(f"x: {advice}")
    return traces[name]


def _series_by_feature(values: Mapping[Hashable, float], name: str) -> pd.Series[float]:
    """Return numbers by feature as a Series, with an index of the names, which can be tuples."""
    index = pd.Index(list(values), tupleize_cols=False, dtype=None if values else object)
    return pd.Series(list(values.values()), index=index, name=name, dtype=float)
