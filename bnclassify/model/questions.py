"""Names, levels and arcs: what one may ask of every model, and of every network."""

from __future__ import annotations

from collections.abc import Hashable
from math import prod
from typing import Any

from ..base import graphs
from ..base.checks import is_among
from ..base.messages import shown, suggestion
from .model import Model, check_bnc, check_graph, check_model, check_single


def members(x: Model) -> tuple[Model, ...]:
    """Return the models that a model averages: itself, or the members of an ensemble.

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
    >>> from bnclassify import aode, load_car, members, nb
    >>> car = load_car()
    >>> len(members(nb("class", car))), len(members(aode("class", car)))
    (1, 6)
    """
    return check_model(x).members


def class_var(x: Model) -> Hashable:
    """Return the name of the class.

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
    >>> from bnclassify import class_var, load_car, nb
    >>> class_var(nb("class", load_car()))
    'class'
    """
    return check_model(x).class_var


def class_vars(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the class variables; of an ordinary model, that of its class.

    Parameters
    ----------
    x : MBC, MAODE, Chain or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import class_vars, load_car, mbc, nb
    >>> car = load_car()
    >>> class_vars(mbc(["class", "safety"], car)), class_vars(nb("class", car))
    (('class', 'safety'), ('class',))
    """
    return check_model(x).targets


def vars(x: Model) -> tuple[Hashable, ...]:
    """Return the names of all variables: the features, then the class.

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
    >>> from bnclassify import nb, vars
    >>> vars(nb("class", features=["doors", "safety"]))
    ('doors', 'safety', 'class')
    """
    return check_model(x).variables


def features(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the features: in the order of the data, or as they were named without data.

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
    >>> from bnclassify import features, nb
    >>> features(nb("class", features=["doors", "safety"]))
    ('doors', 'safety')
    """
    return check_model(x).features


def families(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the family of each variable: the variable, its feature parents, the class if it is one.

    Parameters
    ----------
    x : BNC
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import families, load_car, tan_cl
    >>> families(tan_cl("class", load_car()))["maint"]
    ('maint', 'buying', 'class')
    """
    return {family[0]: family for family in check_graph(x, "families").families}


def feature_families(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the family of each feature, that of the class left out.

    Parameters
    ----------
    x : BNC
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import feature_families, nb
    >>> feature_families(nb("class", features=["doors"]))
    {'doors': ('doors', 'class')}
    """
    model = check_graph(x, "feature_families")
    return {family[0]: family for family in model.families[: len(model.features)]}


def values(x: Model) -> dict[Hashable, tuple[Any, ...]]:
    """Return the levels of each variable, in the order of the axes of its table.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    ValueError
        If the model has seen no data yet.
    TypeError
        If ``x`` is no model.

    Examples
    --------
    >>> from bnclassify import load_car, nb, values
    >>> values(nb("class", load_car()))["safety"]
    ('low', 'med', 'high')
    """
    return check_model(x).levels_by_name


def classes(x: Model) -> tuple[Any, ...]:
    """Return the levels of the class, in the order of the columns of posteriors.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no model.
    ValueError
        If the model has seen no data yet, so that it knows no levels.

    Examples
    --------
    >>> from bnclassify import classes, load_car, nb
    >>> classes(nb("class", load_car()))
    ('unacc', 'acc', 'good', 'vgood')
    """
    model = check_model(x)
    return model.levels_by_name[model.class_var]


def nparams(x: Model) -> int:
    """Return the number of free parameters: Σ (levels − 1) · Π levels of the parents.

    It follows from structure and levels, so a model need not be fitted, but must have seen data.

    Parameters
    ----------
    x : BNC
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.
    ValueError
        If the model has seen no data yet, so that it knows no levels.

    Examples
    --------
    >>> from bnclassify import load_car, nb, nparams
    >>> nparams(nb("class", load_car()))
    63
    """
    model = check_graph(x, "nparams", sized=True)
    cards = [len(labels) for labels in model.known_levels]
    return sum((cards[v] - 1) * prod([cards[p] for p in parents]) for v, *parents in model.scopes)


def narcs(x: Model) -> int:
    """Return the number of arcs, those from the class included.

    Parameters
    ----------
    x : BNC
        With or without parameters.

    Raises
    ------
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import load_car, narcs, nb
    >>> narcs(nb("class", load_car()))
    6
    """
    return sum(len(family) - 1 for family in check_graph(x, "narcs").families)


def modelstring(x: Model) -> str:
    """Write the structure in bnlearn's notation, parents before children.

    Parameters
    ----------
    x : BNC
        With or without parameters.

    Raises
    ------
    ValueError
        If a name contains one of the signs ``[ ] | :`` that the notation uses.
    TypeError
        If ``x`` is no single network; ask each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import anb, modelstring
    >>> modelstring(anb("class", {"maint": ["buying"]}, features=["maint", "buying"]))
    '[class] [buying|class] [maint|buying:class]'
    """
    model = check_bnc(x, "modelstring")
    for name in model.variables:
        if set(str(name)) & set("[]|:"):
            raise ValueError(
                f"modelstring: the name {shown(name)} contains a sign of the notation ([ ] | :); "
                "rename the column, or read families(x) instead"
            )
    parents = {family[0]: family[1:] for family in model.families}
    order = (variable for layer in graphs.layers(parents) for variable in layer)
    return " ".join(
        f"[{variable}|{':'.join(map(str, parents[variable]))}]" if parents[variable] else f"[{variable}]"
        for variable in order
    )


def markov_blanket(x: Model, variable: Hashable) -> tuple[Hashable, ...]:
    """Return the variables that a variable depends on directly: known these, no other says more of it.

    Parameters
    ----------
    x : BNC or DN
        A structure.
    variable : str
        A feature or the class.

    Returns
    -------
    tuple
        Its parents, its children, and their other parents; of a feature in a dependency network its
        parents alone, which it chose as its blanket. In the order of the features, the class last.

    Raises
    ------
    KeyError
        If the model has no such variable.
    TypeError
        If ``x`` is an ensemble.

    References
    ----------
    .. [1] Pearl, J. (1988). Probabilistic Reasoning in Intelligent Systems. Morgan Kaufmann.

    Examples
    --------
    >>> from bnclassify import hc, load_car, markov_blanket
    >>> network = hc("class", load_car())
    >>> markov_blanket(network, "class")
    ('buying', 'maint', 'persons', 'lug_boot', 'safety')
    >>> markov_blanket(network, "safety")
    ('persons', 'class')
    """
    model = check_single(x, "markov_blanket")
    number = variable_number(model, variable)
    blanket = set(model.scopes[number])
    if not model.no_joint or variable == model.class_var:
        blanket.update(*(scope for scope in model.scopes if number in scope))
    return tuple([name for i, name in enumerate(model.variables) if i in blanket - {number}])


def variable_number(x: Model, variable: Hashable) -> int:
    """Return the position of a variable of a model, or raise a KeyError."""
    if not is_among(variable, x.variables):
        raise KeyError(f"variable: the model has no {shown(variable)}; {suggestion(variable, x.variables)}")
    return x.variables.index(variable)
