"""Conversion of models to objects of other libraries, which are imported on demand."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..accessors import check_categorical_network, check_single_network, cpt, params, values
from ..classifiers import BNC
from ..frames import Foreign
from ..tools.messages import listed, repeated_items, shown

if TYPE_CHECKING:
    import networkx
    import pgmpy.models
    import pyagrum


def to_networkx(x: BNC) -> networkx.DiGraph:
    """Convert a model with or without parameters to a graph of NetworkX.

    Parameters
    ----------
    x : BNC
        A model with or without parameters.

    Returns
    -------
    networkx.DiGraph
        One node per variable, the class last, and an arc from each parent to
        its child. Nodes have the attributes ``kind``, "class" or "feature";
        ``levels``, a tuple of labels, if the model has levels; and ``cpt``, the
        result of ``cpt(x, node)``, if the model has parameters. The graph has
        the attribute ``class_var``.

    Raises
    ------
    ImportError, TypeError, ValueError
        If NetworkX is not installed, or `x` is an ensemble; convert each of
        ``members(x)``.

    Examples
    --------
    >>> from bnclassify import load_car, tan_cl, to_networkx
    >>> graph = to_networkx(tan_cl("class", load_car(), score="aic"))
    >>> sorted(graph.predecessors("lug_boot"))
    ['class', 'safety']
    >>> graph.nodes["safety"]
    {'kind': 'feature', 'levels': ('low', 'med', 'high')}
    """
    model = check_single_network(x, "to_networkx")
    if None in model.variables:
        raise ValueError(
            "x must not have a variable called None, which networkx refuses. Rename it."
        )
    graph = _load_from_library("networkx", "DiGraph")(class_var=model.class_var)
    for variable in model.variables:
        graph.add_node(variable, kind="class" if variable == model.class_var else "feature")
        if model.levels is not None:
            graph.nodes[variable]["levels"] = values(model)[variable]
        if model.cpts is not None:
            graph.nodes[variable]["cpt"] = cpt(model, variable)
    for child, *parents in model.families:
        graph.add_edges_from((parent, child) for parent in parents)
    return graph


def to_pgmpy(x: BNC) -> pgmpy.models.DiscreteBayesianNetwork:
    """Convert a model to a Bayesian network of pgmpy.

    Parameters
    ----------
    x : BNC
        A model with parameters.

    Returns
    -------
    pgmpy.models.DiscreteBayesianNetwork
        Nodes and states are the variables and labels, with their types. The
        evidence variables of a table are the parents, in order.

    Raises
    ------
    ImportError, TypeError, ValueError
        If pgmpy 1.0 or later is not installed, `x` is an ensemble, or it has no
        parameters.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, to_pgmpy
    >>> car = load_car()
    >>> network = to_pgmpy(lp(nb("class", car), car, smooth=1))
    >>> network.check_model()
    True
    >>> network.get_cpds("safety").state_names["safety"]
    ['low', 'med', 'high']
    """
    model = check_categorical_network(x, "to_pgmpy")
    tables, labels = params(model), values(model)
    network = _load_from_library("pgmpy.models", "DiscreteBayesianNetwork")()
    table_of = _load_from_library("pgmpy.factors.discrete", "TabularCPD")
    for variable in model.variables:  # a tuple in a list would be a node and its attributes
        network.add_node(variable)
    for variable, *parents in model.families:
        network.add_edges_from((parent, variable) for parent in parents)
        card, *evidence_card = tables[variable].shape
        table = tables[variable].reshape(card, -1)
        states = {member: list(labels[member]) for member in (variable, *parents)}
        network.add_cpds(table_of(variable, card, table, parents, evidence_card, states))
    return network


def to_pyagrum(x: BNC) -> pyagrum.BayesNet:
    """Convert a model to a Bayesian network of pyAgrum.

    Parameters
    ----------
    x : BNC
        A model with parameters.

    Returns
    -------
    pyagrum.BayesNet
        A LabelizedVariable and a table for each variable. Names and labels are
        text, so 1 becomes "1".

    Raises
    ------
    ImportError, TypeError, ValueError
        If pyAgrum 2.0 or later is not installed, `x` is an ensemble, it has no
        parameters, or two names or two labels of a variable have the same text.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, to_pyagrum
    >>> car = load_car()
    >>> network = to_pyagrum(lp(nb("class", car), car, smooth=1))
    >>> network.size(), network.variable("safety").labels()
    (7, ('low', 'med', 'high'))
    """
    model = check_categorical_network(x, "to_pyagrum")
    tables, labels = params(model), values(model)
    check_distinct_texts(model.variables, "names")
    for variable, own in labels.items():
        check_distinct_texts(own, f"labels of {shown(variable)}")
    network = _load_from_library("pyagrum", "BayesNet")()
    variable_of = _load_from_library("pyagrum", "LabelizedVariable")
    for variable in model.variables:
        network.add(variable_of(str(variable), str(variable), list(map(str, labels[variable]))))
    for variable, *parents in model.families:
        for parent in parents:
            network.addArc(str(parent), str(variable))
        # The first axis of pyAgrum's tables changes fastest.
        network.cpt(str(variable)).fillWith(tables[variable].ravel(order="F").tolist())
    return network


def check_distinct_texts(items: Iterable[Any], noun: str) -> list[str]:
    """Return names or labels as text, or raise a ValueError if two are the same."""
    texts = list(map(str, items))
    if twice := repeated_items(texts):
        raise ValueError(
            f"x must have {noun} that differ as text; got {listed(twice)} twice. Rename one."
        )
    return texts


def _load_from_library(module: str, name: str) -> Foreign:
    """Return an object of an optional library, or raise an error with the command to install it."""
    try:
        # Modules made by SWIG, such as pyAgrum, crash the interpreter if their warnings are errors.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            found: Foreign = getattr(import_module(module), name)
            return found
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"{module} must be installed in a version with {name}; got: {error}. Run pip install "
            f"--upgrade {module.partition('.')[0].lower()}."
        ) from error
