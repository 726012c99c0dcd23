"""Forms of structures: what a network is by its arcs."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ..base import graphs
from .model import Model, check_model


def is_nb(x: Model) -> bool:
    """Whether the model is a naive Bayes: no feature has a feature parent.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import is_nb, nb
    >>> is_nb(nb("class", features=["doors"]))
    True
    """
    return _every_feature(x, lambda parents: not parents)


def is_ode(x: Model) -> bool:
    """Whether the model is a one-dependence estimator: no feature has two feature parents.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import is_ode, load_car, tan_cl
    >>> is_ode(tan_cl("class", load_car()))
    True
    """
    return _every_feature(x, lambda parents: len(parents) <= 1)


def is_semi_naive(x: Model) -> bool:
    """Whether the model is semi-naive: features in groups, within a group every two joined.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import anb, is_semi_naive
    >>> is_semi_naive(anb("class", {"b": ["a"], "c": ["a", "b"]}))
    True
    >>> is_semi_naive(anb("class", {"b": ["a"], "c": ["b"]}))
    False
    """
    if not is_anb(x):
        return False
    parents = x.feature_parents
    return all(
        sum(len(parents[v]) for v in group) == len(group) * (len(group) - 1) // 2
        for group in graphs.components(parents)
    )


def is_anb(x: Model) -> bool:
    """Whether the model is an augmented naive Bayes: the class is a parent of every feature, and has none.

    False of networks learned without regard to the class, and of ensembles.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import is_anb, nb
    >>> is_anb(nb("class", features=["doors"]))
    True
    """
    graph = check_model(x).graph
    return graph is not None and graph.is_augmented and not graph.no_joint


def is_aode(x: Model) -> bool:
    """Whether the model is an AODE ensemble.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import aode, is_aode, load_car
    >>> is_aode(aode("class", load_car()))
    True
    """
    return check_model(x).is_aode


def _every_feature(x: Model, condition: Callable[[tuple[Hashable, ...]], bool]) -> bool:
    return is_anb(x) and all(map(condition, x.feature_parents.values()))
