"""What a search or a method of `lp` left behind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from .model import Model, check_fitted, check_model, check_single, check_tables


def greedy_scores(x: Model) -> tuple[float, ...]:
    """Return the scores of the steps that a greedy search took.

    Parameters
    ----------
    x : BNC
        A structure, with or without parameters.

    Returns
    -------
    tuple of float
        The cross-validated metric of the initial structure, accuracy unless the search was guided by
        another, then after each step; of a loss, its negative.

    Raises
    ------
    ValueError
        If the structure was not found by greedy search.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import greedy_scores, load_car, tan_hc
    >>> [round(s, 2) for s in greedy_scores(tan_hc("class", load_car(), k=5, smooth=1, rng=0))]
    [0.85, 0.9, 0.94]
    """
    return tuple(
        _left_behind(
            check_single(x, "greedy_scores"),
            "scores",
            "its structure was not found by greedy search; fssj, bsej, tan_hc, tan_hcsp and kdb are",
        )
    )


def search_steps(x: Model) -> pd.DataFrame:
    """Return the steps that a search for the structure took.

    Parameters
    ----------
    x : BNC
        Learned by `hc` or `ban`, or by a greedy search.

    Returns
    -------
    pandas.DataFrame
        A row a step: ``operation``, ``from`` and ``to``, what the step gained, ``gain``, and the
        ``score`` after it. `hc` and `ban` "add", "delete" and "reverse" an arc, which is given as it was
        before the step. `tan_hc`, `tan_hcsp` and `kdb` add an "arc". `fssj` and `bsej` "add" the feature in
        ``to``, "remove" the one in ``from``, or "join" two groups: the features in ``from`` become parents
        of those in ``to``, both given as tuples.

    Raises
    ------
    TypeError
        If ``x`` is no model.
    ValueError
        If the structure was not found by a search.

    Examples
    --------
    >>> from bnclassify import hc, load_car, search_steps
    >>> search_steps(hc("class", load_car())).round(1).head(3)
      operation     from      to   gain    score
    0       add   safety   class  291.7 -14101.4
    1       add  persons   class  251.2 -13850.1
    2       add    class  buying   82.0 -13768.1
    """
    steps = _left_behind(
        check_model(x),
        "steps",
        "its structure was not found by a search; those of hc, ban, fssj, bsej, tan_hc, tan_hcsp and kdb are",
    )
    columns = ["operation", "from", "to", "gain", "score"]
    return pd.DataFrame(list(steps), columns=columns).astype({"gain": float, "score": float})


def em_objectives(x: Model) -> tuple[float, ...]:
    """Return what expectation maximisation maximised, at the start and after each iteration.

    Parameters
    ----------
    x : BNC
        A network fitted by ``lp(..., missing="em")``; of an ensemble, one of ``members(x)``.

    Returns
    -------
    tuple of float
        Σ ln P(row) + smooth Σ ln θ, in nats, which never falls.

    Raises
    ------
    ValueError
        If the model was not fitted by ``lp(..., missing="em")``.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import em_objectives, load_voting, lp, nb
    >>> voting = load_voting()
    >>> model = lp(nb("Class", voting), voting, smooth=1, missing="em")
    >>> len(em_objectives(model))
    2
    """
    model = check_single(x, "em_objectives")
    advice = 'was not fitted by EM; lp(x, dataset, smooth=..., missing="em") does that'
    return tuple(_left_behind(model, "em", advice).objectives)


def manb_arc_posterior(x: Model) -> pd.Series[float]:
    """Return the posterior probability of each arc from the class to a feature.

    Parameters
    ----------
    x : BNC
        A naive Bayes fitted by ``lp(..., manb_prior=...)``.

    Returns
    -------
    pandas.Series
        A probability by feature.

    Raises
    ------
    ValueError
        If the model was not fitted so.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import load_car, lp, manb_arc_posterior, nb
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1, manb_prior=0.5)
    >>> manb_arc_posterior(model).round(3).to_dict()
    {'buying': 1.0, 'maint': 1.0, 'doors': 0.0, 'persons': 1.0, 'lug_boot': 1.0, 'safety': 1.0}
    """
    model = check_single(x, "manb_arc_posterior")
    advice = "has no posteriors of arcs; lp(x, dataset, smooth=..., manb_prior=...) makes them"
    posteriors = _left_behind(model, "arc_posteriors", advice)
    return pd.Series(posteriors, index=_index(model.features), name="arc_posterior", dtype=float)


def feature_weights(x: Model) -> pd.Series[float]:
    """Return the weight of each feature.

    Parameters
    ----------
    x : BNC or another model
        A model fitted by ``lp(..., awnb_trees=...)``, ``lp(..., wanbia=True)`` or
        ``lp(..., loo_weights=True)``, one that averages over cuttings, or ``ande(..., weights="mi")``.

    Returns
    -------
    pandas.Series
        A weight by feature: 0 for a feature that the model ignores, 1 for one that it takes as the
        data has it. Those of AWNB and WANBIA lie in between. Those by leave-one-out can be any number,
        and the class has one too, which stands first under its name. Of `ande`, the share that a feature
        has in the votes as a superparent, where all vote; the shares sum to 1.

    Raises
    ------
    ValueError
        If the model was not fitted so.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import feature_weights, load_car, load_voting, lp, nb
    >>> votes = load_voting().dropna()
    >>> model = lp(nb("Class", votes), votes, smooth=1, wanbia=True)
    >>> feature_weights(model).round(2).loc[["crime", "physician_fee_freeze"]].to_dict()
    {'crime': 0.05, 'physician_fee_freeze': 0.96}
    >>> car = load_car()
    >>> feature_weights(lp(nb("class", car), car, smooth=1, loo_weights=True)).round(2).head(2)
    class     1.89
    buying    3.06
    Name: weight, dtype: float64
    """
    powers = getattr(check_model(x), "powers", None)
    if powers:
        *of_features, of_class = powers
        index = _index([x.class_var, *x.features])
        return pd.Series([of_class, *of_features], index=index, name="weight", dtype=float)
    shares = x._superparent_weights()
    if shares is not None:
        return pd.Series(shares, index=_index(x.features), name="weight", dtype=float)
    advice = "has no weights; lp(x, dataset, ...) with loo_weights=True, wanbia=True or awnb_trees makes them"
    weights = _left_behind(x, "weights", advice)
    return pd.Series(weights, index=_index(x.features), name="weight", dtype=float)


def concentrations(x: Model) -> pd.Series[float]:
    """Return how far each table was shrunk towards the one with a parent less.

    Parameters
    ----------
    x : BNC or another model of a single network
        A model fitted by ``lp(..., backoff=True)``.

    Returns
    -------
    pandas.Series
        The concentration m by variable and level: at level 0 the variable alone is shrunk towards the
        uniform distribution, at level 1 the variable given the class, then that given the feature parents
        one after the other, in family order. m counts as so many rows in every configuration of the
        parents, from 0.5, where the data says all, to 5000, where it has little to say.

    Raises
    ------
    ValueError
        If the model was not fitted so.
    TypeError
        If the model is an ensemble or averages over cuttings; ask each of its `members`.

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
    network = check_tables(x, "concentrations")
    advice = "has tables that do not back off; lp(x, dataset, backoff=True) makes some that do"
    by_variable = _left_behind(x, "concentrations", advice)
    by_level = {
        (variable, level): m
        for variable, masses in zip(network.variables, by_variable, strict=True)
        for level, m in enumerate(masses)
        if level > 0 or variable != x.class_var
    }
    index = pd.MultiIndex.from_tuples(list(by_level), names=["variable", "level"])
    return pd.Series(list(by_level.values()), index=index, name="concentration", dtype=float)


def loo_summary(x: Model) -> pd.Series[Any]:
    """Return how leave-one-out chose weights, a power or the number of parents.

    Parameters
    ----------
    x : model
        Fitted by `lp` with ``loo_weights``, ``loo_parents`` or ``loo_power``.

    Returns
    -------
    pandas.Series
        - ``power``: the best common power of all terms; 1 if none was sought
        - ``objective``: what was maximised: the log-likelihood less what priors of the powers take off
        - ``log_likelihood``: Σ ln P(class | features) over rows, each left out of what judges it, in nats
        - ``parents``: the most feature parents that a feature has kept
        - ``rows``: how many rows were left out, one after the other

    Raises
    ------
    TypeError
        If ``x`` is no model.
    ValueError
        If the model was not fitted so.

    Examples
    --------
    >>> from bnclassify import load_car, loo_summary, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car), car, backoff=True, loo_weights=True, loo_parents=True)
    >>> summary = loo_summary(model)
    >>> round(summary["power"], 2), round(summary["objective"], 1), summary["parents"], summary["rows"]
    (2.15, -264.2, 1, 1728)
    """
    advice = "knows of no rows left out; lp(..., loo_weights=True), loo_parents or loo_power leave them out"
    return pd.Series(asdict(_left_behind(check_fitted(x), "leave_one_out", advice)), dtype=object)


def _left_behind(x: Model, name: str, advice: str) -> Any:
    """Return what learning left behind under a name, or raise if there is nothing."""
    traces = {**getattr(x.graph, "trace", {}), **x.learned}
    if name not in traces:
        raise ValueError(f"x: {advice}")
    return traces[name]


def _index(names: Sequence[Hashable]) -> pd.Index[Any]:
    return pd.Index(list(names), tupleize_cols=False, dtype=None if names else object)
