"""What a search or a method of `lp` left behind."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .kinds import Model, check_model
from .networks import BNC, check_single


def greedy_scores(x: BNC) -> tuple[float, ...]:
    """Return the scores of the steps that a greedy search took.

    Parameters
    ----------
    x : BNC
        A structure, with or without parameters.

    Returns
    -------
    tuple of float
        The cross-validated accuracy of the initial structure, then after each step.

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
        Learned by `hc` or `ban`, or by another search.

    Returns
    -------
    pandas.DataFrame
        A row a step: ``operation`` ("add", "delete" or "reverse"), the arc as it was before the step,
        ``from`` and ``to``, what the step gained, ``gain``, and the ``score`` of the network after it.

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
        check_model(x), "steps", "its structure was not found by a search that keeps its steps; hc and ban do"
    )
    columns = ["operation", "from", "to", "gain", "score"]
    return pd.DataFrame(list(steps), columns=columns).astype({"gain": float, "score": float})


def em_objectives(x: BNC) -> tuple[float, ...]:
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
    how = 'was not fitted by EM; lp(x, dataset, smooth=..., missing="em") does that'
    return tuple(_left_behind(model, "em", how).objectives)


def manb_arc_posterior(x: BNC) -> pd.Series[float]:
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
    how = "has no posteriors of arcs; lp(x, dataset, smooth=..., manb_prior=...) makes them"
    posteriors = _left_behind(model, "arc_posteriors", how)
    return pd.Series(posteriors, index=_feature_index(model), name="arc_posterior", dtype=float)


def feature_weights(x: BNC) -> pd.Series[float]:
    """Return the weight of each feature.

    Parameters
    ----------
    x : BNC
        A model fitted by ``lp(..., awnb_trees=...)`` or ``lp(..., wanbia=True)``.

    Returns
    -------
    pandas.Series
        A weight from 0 to 1 by feature: 0 for a feature that the model ignores, 1 for one that
        it takes as the data has it.

    Raises
    ------
    ValueError
        If the model was not fitted so.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import feature_weights, load_voting, lp, nb
    >>> votes = load_voting().dropna()
    >>> model = lp(nb("Class", votes), votes, smooth=1, wanbia=True)
    >>> feature_weights(model).round(2).loc[["crime", "physician_fee_freeze"]].to_dict()
    {'crime': 0.05, 'physician_fee_freeze': 0.96}
    """
    model = check_single(x, "feature_weights")
    how = "has no weights; lp(x, dataset, smooth=..., awnb_trees=...) or lp(..., wanbia=True) makes them"
    return pd.Series(
        _left_behind(model, "weights", how), index=_feature_index(model), name="weight", dtype=float
    )


def _left_behind(x: Model, name: str, otherwise: str) -> Any:
    """Return what learning left behind under a name, or raise if there is nothing."""
    left = {**getattr(x, "trace", {}), **x.learned}
    if name not in left:
        raise ValueError(f"x: {otherwise}")
    return left[name]


def _feature_index(x: Model) -> pd.Index[Any]:
    return pd.Index(list(x.features), tupleize_cols=False, dtype=None if x.features else object)
