"""What else one may ask of a model: tables to be read, notation, kind, what learners left behind."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from ..base import graphs as graph
from ..base.messages import suggestion
from .networks import (
    AODE,
    BNC,
    Family,
    Model,
    augmenting_parents,
    check_model,
    check_single,
    features,
    params,
    values,
    vars,
)


def _check_variable(x: BNC, variable: Hashable) -> int:
    names = vars(x)
    if variable not in names:
        raise KeyError(f"variable: the model has no {variable!r}; {suggestion(variable, names)}")
    return names.index(variable)


def feature_families(x: BNC) -> dict[Hashable, Family]:
    """Return the family of each feature, that of the class left out.

    Examples
    --------
    >>> from bnclassify import feature_families, nb
    >>> feature_families(nb("class", features=["doors"]))
    {'doors': ('doors', 'class')}
    """
    return {family[0]: family for family in check_single(x, "feature_families").families[:-1]}


def cpt(x: BNC, variable: Hashable) -> pd.DataFrame:
    """Return one conditional probability table as people read it.

    Parameters
    ----------
    x : BNC
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
    table = params(check_single(x, "cpt"))
    family = x.families[_check_variable(x, variable)]
    labels = values(x)
    index = pd.Index(list(labels[variable]), name=variable, tupleize_cols=False)
    if len(family) == 1:
        return pd.DataFrame({"probability": table[variable]}, index=index)
    above = [pd.Index(list(labels[v]), name=v, tupleize_cols=False) for v in family[1:]]
    columns = above[0] if len(above) == 1 else pd.MultiIndex.from_product(above, names=family[1:])
    return pd.DataFrame(table[variable].reshape(len(index), -1), index=index, columns=columns)


def greedy_scores(x: BNC) -> tuple[float, ...]:
    """Return the scores of the steps that a greedy search took.

    Returns
    -------
    tuple of float
        The cross-validated accuracy of the initial structure, then after each step.

    Raises
    ------
    ValueError
        If the structure was not found by greedy search.

    Examples
    --------
    >>> from bnclassify import greedy_scores, load_car, tan_hc
    >>> [round(s, 2) for s in greedy_scores(tan_hc("class", load_car(), k=5, smooth=1, rng=0))]
    [0.85, 0.9, 0.94]
    """
    model = check_single(x, "greedy_scores")
    if model.scores is None:
        raise ValueError(
            "x: its structure was not found by greedy search; fssj, bsej, tan_hc, tan_hcsp and kdb are"
        )
    return model.scores


def em_objectives(x: BNC) -> tuple[float, ...]:
    """Return what expectation maximisation maximised, at the start and after each iteration.

    Returns
    -------
    tuple of float
        Σ ln P(row) + smooth Σ ln θ, in nats, which never falls.

    Raises
    ------
    ValueError
        If the model was not fitted by ``lp(..., missing="em")``.

    Examples
    --------
    >>> from bnclassify import em_objectives, load_voting, lp, nb
    >>> voting = load_voting()
    >>> model = lp(nb("Class", voting), voting, smooth=1, missing="em")
    >>> len(em_objectives(model))
    2
    """
    model = check_single(x, "em_objectives")
    if model.em is None:
        raise ValueError('x: was not fitted by EM; lp(x, dataset, smooth=..., missing="em") does that')
    return model.em.objectives


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

    Examples
    --------
    >>> from bnclassify import load_car, lp, manb_arc_posterior, nb
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1, manb_prior=0.5)
    >>> manb_arc_posterior(model).round(3).to_dict()
    {'buying': 1.0, 'maint': 1.0, 'doors': 0.0, 'persons': 1.0, 'lug_boot': 1.0, 'safety': 1.0}
    """
    model = check_single(x, "manb_arc_posterior")
    if model.arc_posteriors is None:
        raise ValueError(
            "x: has no posteriors of arcs; lp(x, dataset, smooth=..., manb_prior=...) makes them"
        )
    return pd.Series(model.arc_posteriors, index=_feature_index(model), name="arc_posterior", dtype=float)


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

    Examples
    --------
    >>> from bnclassify import feature_weights, load_voting, lp, nb
    >>> votes = load_voting().dropna()
    >>> model = lp(nb("Class", votes), votes, smooth=1, wanbia=True)
    >>> feature_weights(model).round(2).loc[["crime", "physician_fee_freeze"]].to_dict()
    {'crime': 0.05, 'physician_fee_freeze': 0.96}
    """
    model = check_single(x, "feature_weights")
    if model.weights is None:
        raise ValueError(
            "x: has no weights; lp(x, dataset, smooth=..., awnb_trees=...) or lp(..., wanbia=True) makes them"
        )
    return pd.Series(model.weights, index=_feature_index(model), name="weight", dtype=float)


def _feature_index(x: BNC) -> pd.Index[Any]:
    return pd.Index(list(features(x)), tupleize_cols=False, dtype=None if features(x) else object)


def modelstring(x: BNC) -> str:
    """Write the structure in bnlearn's notation, parents before children.

    Raises
    ------
    ValueError
        If a name contains one of the signs ``[ ] | :`` that the notation uses.

    Examples
    --------
    >>> from bnclassify import anb, modelstring
    >>> modelstring(anb("class", {"maint": ["buying"]}, features=["maint", "buying"]))
    '[class] [buying|class] [maint|buying:class]'
    """
    model = check_single(x, "modelstring")
    for name in vars(model):
        if set(str(name)) & set("[]|:"):
            raise ValueError(
                f"modelstring: the name {name!r} contains a sign of the notation ([ ] | :); "
                "rename the column, or read families(x) instead"
            )
    parents = {family[0]: family[1:] for family in model.families}
    order = (variable for layer in graph.layers(parents) for variable in layer)
    return " ".join(
        f"[{variable}|{':'.join(map(str, parents[variable]))}]" if parents[variable] else f"[{variable}]"
        for variable in order
    )


def is_nb(x: Model) -> bool:
    """Whether the model is a naive Bayes: no feature has a feature parent.

    Examples
    --------
    >>> from bnclassify import is_nb, nb
    >>> is_nb(nb("class", features=["doors"]))
    True
    """
    return _every_feature(x, lambda parents: not parents)


def is_ode(x: Model) -> bool:
    """Whether the model is a one-dependence estimator: no feature has two feature parents.

    Examples
    --------
    >>> from bnclassify import is_ode, load_car, tan_cl
    >>> is_ode(tan_cl("class", load_car()))
    True
    """
    return _every_feature(x, lambda parents: len(parents) <= 1)


def is_semi_naive(x: Model) -> bool:
    """Whether the model is semi-naive: features in groups, within a group every two joined.

    Examples
    --------
    >>> from bnclassify import anb, is_semi_naive
    >>> is_semi_naive(anb("class", {"b": ["a"], "c": ["a", "b"]}))
    True
    >>> is_semi_naive(anb("class", {"b": ["a"], "c": ["b"]}))
    False
    """
    model = check_model(x)
    if isinstance(model, AODE):
        return False
    parents = augmenting_parents(model)
    return all(
        sum(len(parents[v]) for v in group) == len(group) * (len(group) - 1) // 2
        for group in graph.components(parents)
    )


def is_anb(x: Model) -> bool:
    """Whether the model is an augmented naive Bayes: the class is a parent of every feature.

    True of every single network of this package, and False of an ensemble.

    Examples
    --------
    >>> from bnclassify import is_anb, nb
    >>> is_anb(nb("class", features=["doors"]))
    True
    """
    return _every_feature(x, lambda parents: True)


def is_aode(x: Model) -> bool:
    """Whether the model is an AODE ensemble.

    Examples
    --------
    >>> from bnclassify import aode, is_aode, load_car
    >>> is_aode(aode("class", load_car()))
    True
    """
    return isinstance(check_model(x), AODE)


def _every_feature(x: Model, condition: Callable[[Family], bool]) -> bool:
    model = check_model(x)
    return isinstance(model, BNC) and all(map(condition, augmenting_parents(model).values()))
