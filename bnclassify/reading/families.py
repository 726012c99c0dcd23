"""Accessors of models: names, levels, arcs, and the type of the structure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ..model.arguments import (
    check_bnc,
    check_model,
    check_not_dropped,
    check_single_graph,
    check_single_network,
)
from ..model.model import Model
from ..numbers import Preparation
from ..tools import graphs
from ..tools.checks import OneOf
from ..tools.messages import Function, listed, shown, with_shared_text

_SECTIONS = """\
Parameters
----------
x : {0}
    With or without parameters.

Returns
-------
{2}
    {3}

Raises
------
TypeError
    If `x` is not {1}"""


def _add_sections(kind: str, returned: str) -> Callable[[Function], Function]:
    """Return a decorator that adds the sections of an accessor for any model, or one network."""
    marks = {
        "{any model}": ("BNC, AODE or another model", "a model."),
        "{one network}": (
            "BNC or DN",
            "a single network; call it on each of ``members(x)``.",
        ),
    }
    return with_shared_text(
        {mark: _SECTIONS.format(*texts, kind, returned) for mark, texts in marks.items()}
    )


@_add_sections("tuple of models", "One model per member.")
def members(x: Model) -> tuple[Model, ...]:
    """Return the models that a model averages, or a single model itself.

    {any model}

    Examples
    --------
    >>> from bnclassify import aode, load_car, members, nb
    >>> car = load_car()
    >>> len(members(nb("class", car))), len(members(aode("class", car)))
    (1, 6)
    """
    return check_model(x).members


@_add_sections("str or tuple of str", "The name, or one name per class variable.")
def class_var(x: Model) -> Hashable:
    """Return the name of the class, or the names of several class variables.

    {any model}

    Examples
    --------
    >>> from bnclassify import class_var, load_car, nb
    >>> class_var(nb("class", load_car()))
    'class'
    """
    model = check_model(x)
    return model.targets[0] if model.one_class else model.targets


@_add_sections("tuple of str", "One name per feature.")
def features(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the features, in the order of the training data.

    {any model}

    Examples
    --------
    >>> from bnclassify import features, nb
    >>> features(nb("class", features=["doors", "safety"]))
    ('doors', 'safety')
    """
    return check_model(x).features


@_add_sections("tuple of str", "One name per variable.")
def vars(x: Model) -> tuple[Hashable, ...]:
    """Return the names of the features, then of the class or classes.

    {any model}

    Examples
    --------
    >>> import bnclassify as bn  # `from bnclassify import vars` would hide the function of Python
    >>> bn.vars(bn.nb("class", features=["doors", "safety"]))
    ('doors', 'safety', 'class')
    """
    return check_model(x).variables


@_add_sections(
    "dict of tuple of str",
    "One family per variable: itself, its feature parents, and the class.",
)
def families(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the family of each variable: the variable and its parents.

    {one network}

    Examples
    --------
    >>> from bnclassify import families, load_car, tan_cl
    >>> families(tan_cl("class", load_car()))["maint"]
    ('maint', 'buying', 'class')
    """
    return {family[0]: family for family in check_single_graph(x, "families").families}


@_add_sections(
    "dict of tuple of str",
    "One family per feature: the feature, its feature parents, and the class.",
)
def feature_families(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the family of each feature.

    {one network}

    Examples
    --------
    >>> from bnclassify import feature_families, nb
    >>> feature_families(nb("class", features=["doors"]))
    {'doors': ('doors', 'class')}
    """
    model = check_single_graph(x, "feature_families")
    return {family[0]: family for family in model.families[: len(model.features)]}


@_add_sections(
    "dict of tuple", "A tuple of levels per variable, in table order; empty for a number."
)
def values(x: Model) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the levels of each variable.

    {any model}
    ValueError
        If the levels are unknown, because no data were given.

    Examples
    --------
    >>> from bnclassify import load_car, nb, values
    >>> values(nb("class", load_car()))["safety"]
    ('low', 'med', 'high')
    """
    return check_model(x).levels_by_name


@_add_sections("tuple", "One label per class.")
def classes(x: Model) -> tuple[Any, ...]:
    """Return the levels of the class, in the order of posterior columns.

    {any model}
    ValueError
        If the levels are unknown, because no data were given.

    Examples
    --------
    >>> from bnclassify import classes, load_car, nb
    >>> classes(nb("class", load_car()))
    ('unacc', 'acc', 'good', 'vgood')
    """
    model = check_model(x)
    return model.levels_by_name[model.class_var]


@_add_sections("int", "The number of parameters.")
def nparams(x: Model) -> int:
    """Return the number of free parameters of the tables.

    It is Σ (levels − 1) · Π levels of the parents, over the variables.

    The number follows from structure and levels, so the model need not be
    fitted. A number has a mean and a variance per configuration of its parents.

    {one network}
    ValueError
        If the levels are unknown, because no data were given.
    TypeError
        If the density of a number is a kernel density.

    Examples
    --------
    >>> from bnclassify import load_car, nb, nparams
    >>> nparams(nb("class", load_car()))
    63
    """
    graph = check_single_graph(x, "nparams", sized=True)
    kernels = [name for name, density in graph.densities.items() if not density.is_parametric]
    if kernels:
        got = f"got kernels of {listed(kernels)}. Use numbers='gaussian'."
        raise TypeError(f"nparams is not defined for kernel densities; {got}")
    n: int = graph.n_parameters
    return n


@_add_sections("int", "The number of arcs.")
def narcs(x: Model) -> int:
    """Return the number of arcs, including arcs from the class.

    {one network}

    Examples
    --------
    >>> from bnclassify import load_car, narcs, nb
    >>> narcs(nb("class", load_car()))
    6
    """
    return sum(len(family) - 1 for family in check_single_graph(x, "narcs").families)


@_add_sections("str", "One bracket per variable, with its parents after ``|``.")
def modelstring(x: Model) -> str:
    """Write the structure in bnlearn's notation, parents before children.

    {one network}
    ValueError
        If a name contains a character of ``[ ] | :`` of the notation.

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
                f"modelstring: the name {shown(name)} contains a character of the notation ([ ] | "
                ":). Rename the column, or call families(x)."
            )
    parents = model.parents
    order = [variable for layer in graphs.topological_layers(parents) for variable in layer]
    texts = {v: f"{v}|{':'.join(map(str, parents[v]))}" if parents[v] else str(v) for v in order}
    return " ".join(f"[{texts[variable]}]" for variable in order)


def markov_blanket(x: Model, variable: Hashable) -> tuple[Hashable, ...]:
    """Return the Markov blanket of a variable.

    Given the blanket, the variable is independent of all other variables.

    Parameters
    ----------
    x : BNC or DN
        A structure.
    variable : str
        A feature or the class.

    Returns
    -------
    tuple
        The parents, the children, and the other parents of the children, in
        column order, the class last. The blanket of a feature in a dependency
        network is its parents.

    Raises
    ------
    KeyError
        If the model has no such variable.
    TypeError
        If `x` is not a single network.

    Examples
    --------
    >>> from bnclassify import hc, load_car, markov_blanket
    >>> markov_blanket(hc("class", load_car()), "class")
    ('buying', 'maint', 'persons', 'lug_boot', 'safety')
    """
    model = check_single_network(x, "markov_blanket")
    position = position_of_variable(model, variable)
    blanket = set(model.scopes[position])
    if not model.no_joint or variable == model.class_var:
        blanket.update(*(scope for scope in model.scopes if position in scope))
    return tuple([name for i, name in enumerate(model.variables) if i in blanket - {position}])


def position_of_variable(x: Model, variable: Hashable) -> int:
    """Return the position of a variable of a model, or raise a KeyError."""
    check_not_dropped(x, "variable", [variable])
    OneOf(x.variables, "a variable of the model").check("variable", variable)
    return x.variables.index(variable)


def preparation(x: Model) -> Preparation:
    """Return the function that turns raw data into categories of the model.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.

    Returns
    -------
    Preparation
        Its ``discretizer`` and ``merger`` are None if the model does not
        discretize numbers or merge rare levels. ``cut_points`` is a DataFrame
        with readable digits; ``discretizer.cuts`` has the exact numbers.

    Raises
    ------
    TypeError
        If `x` is not a model.

    Examples
    --------
    >>> from bnclassify import bnc, load_pima, preparation
    >>> model = bnc("nb", "diabetes", load_pima(), smooth=1, discretize="mdlp", missing_level=False)
    >>> preparation(model).cut_points.loc[["glucose", "bmi"]]
            method intervals          cut_points
    column
    glucose   mdlp         4  99.5, 127.5, 154.5
    bmi       mdlp         2               27.35
    """
    return check_model(x).preparation or Preparation()


@_add_sections("bool", "True if no feature has a feature parent.")
def is_nb(x: Model) -> bool:
    """Return whether no feature has a feature parent (naive Bayes).

    {any model}

    Examples
    --------
    >>> from bnclassify import is_nb, nb
    >>> is_nb(nb("class", features=["doors"]))
    True
    """
    return is_anb(x) and not any(check_model(x).feature_parents.values())


@_add_sections("bool", "True if no feature has more than one feature parent.")
def is_ode(x: Model) -> bool:
    """Return whether no feature has two feature parents (one-dependence).

    {any model}

    Examples
    --------
    >>> from bnclassify import is_ode, load_car, tan_cl
    >>> is_ode(tan_cl("class", load_car()))
    True
    """
    return is_anb(x) and all(
        len(parents) <= 1 for parents in check_model(x).feature_parents.values()
    )


@_add_sections("bool", "True if the features form such groups.")
def is_semi_naive(x: Model) -> bool:
    """Return whether features form groups with all arcs (semi-naive Bayes).

    {any model}

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
    parents = check_model(x).feature_parents
    for group in graphs.connected_components(parents):
        arcs = sum(len(parents[v]) for v in group)
        if arcs != len(group) * (len(group) - 1) // 2:  # that of all pairs
            return False
    return True


@_add_sections("bool", "True if the class is a parent of every feature and has no parents.")
def is_anb(x: Model) -> bool:
    """Return whether the model is an augmented naive Bayes.

    In an augmented naive Bayes, the class is a parent of every feature and has
    no parents. An ensemble is not an augmented naive Bayes.

    {any model}

    Examples
    --------
    >>> from bnclassify import is_anb, nb
    >>> is_anb(nb("class", features=["doors"]))
    True
    """
    graph = check_model(x).graph
    return graph is not None and graph.is_augmented and not graph.no_joint
