"""Models as the objects of other libraries, which are imported only where they are asked for."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.messages import listed, shown
from ..model.model import check_bnc, check_single
from ..model.questions import values, vars
from ..model.traces import cpt, params
from ..network.classifiers import BNC

if TYPE_CHECKING:
    import networkx
    import pgmpy.models
    import pyagrum


def to_networkx(x: BNC) -> networkx.DiGraph:
    """Turn a model into a graph of NetworkX, parameters optional.

    Parameters
    ----------
    x : BNC
        A model, with or without parameters.

    Returns
    -------
    networkx.DiGraph
        A node a variable, in the order of ``vars(x)``, and an arc from each parent to its
        child. A node has the attribute ``kind``, "class" or "feature"; ``levels``, the tuple
        of its labels, if the model has seen data; ``cpt``, the data frame that ``cpt(x, node)``
        gives, if the model has parameters. The graph has the attribute ``class_var``.

    Raises
    ------
    ImportError
        If NetworkX is not installed.
    TypeError
        If ``x`` is an ensemble; convert each of ``members(x)``.

    Examples
    --------
    >>> from bnclassify import load_car, tan_cl, to_networkx
    >>> graph = to_networkx(tan_cl("class", load_car(), score="aic"))
    >>> sorted(graph.predecessors("lug_boot"))
    ['class', 'safety']
    >>> graph.nodes["safety"]
    {'kind': 'feature', 'levels': ('low', 'med', 'high')}
    """
    model = check_single(x, "to_networkx")
    graph = _load("networkx", "to_networkx").DiGraph(class_var=model.class_var)
    for variable in vars(model):
        graph.add_node(variable, kind="class" if variable == model.class_var else "feature")
        if model.levels is not None:
            graph.nodes[variable]["levels"] = values(model)[variable]
        if model.cpts is not None:
            graph.nodes[variable]["cpt"] = cpt(model, variable)
    graph.add_edges_from((parent, child) for child, *parents in model.families for parent in parents)
    return graph


def to_pgmpy(x: BNC) -> pgmpy.models.DiscreteBayesianNetwork:
    """Turn a model into a Bayesian network of pgmpy.

    Parameters
    ----------
    x : BNC
        A model with parameters.

    Returns
    -------
    pgmpy.models.DiscreteBayesianNetwork
        Its nodes are the variables, its states their labels, both as they are: numbers stay
        numbers. The evidence of a table is the family's parents, in their order.

    Raises
    ------
    ImportError
        If pgmpy 1.0 or later is not installed.
    TypeError
        If ``x`` is an ensemble; convert each of ``members(x)``.
    ValueError
        If the model has no parameters.

    Notes
    -----
    `write_bif` writes a file in the format BIF.

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
    model = check_bnc(x, "to_pgmpy")
    tables, labels = params(model), values(model)
    network = _load("pgmpy.models", "to_pgmpy", "DiscreteBayesianNetwork").DiscreteBayesianNetwork()
    table_of = _load("pgmpy.factors.discrete", "to_pgmpy").TabularCPD
    # One by one: pgmpy takes a tuple in a list of nodes for a node and its attributes.
    for variable in vars(model):
        network.add_node(variable)
    for variable, *parents in model.families:
        network.add_edges_from((parent, variable) for parent in parents)
        cards = tables[variable].shape
        table = table_of(
            variable,
            cards[0],
            tables[variable].reshape(cards[0], -1),
            evidence=parents,
            evidence_card=cards[1:],
            state_names={member: list(labels[member]) for member in (variable, *parents)},
        )
        network.add_cpds(table)
    return network


def to_pyagrum(x: BNC) -> pyagrum.BayesNet:
    """Turn a model into a Bayesian network of pyAgrum.

    Parameters
    ----------
    x : BNC
        A model with parameters.

    Returns
    -------
    pyagrum.BayesNet
        With a LabelizedVariable and a table for each variable. Names and labels are text
        there, so a number such as 1 becomes "1".

    Raises
    ------
    ImportError
        If pyAgrum 2.0 or later is not installed.
    TypeError
        If ``x`` is an ensemble; convert each of ``members(x)``.
    ValueError
        If the model has no parameters, or two names or two labels of a variable have the
        same text.

    Notes
    -----
    `write_bif` writes a file in the format BIF.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, to_pyagrum
    >>> car = load_car()
    >>> network = to_pyagrum(lp(nb("class", car), car, smooth=1))
    >>> network.size(), network.variable("safety").labels()
    (7, ('low', 'med', 'high'))
    """
    model = check_bnc(x, "to_pyagrum")
    tables, labels = params(model), values(model)
    _check_text("names", vars(model))
    for variable in vars(model):
        _check_text(f"labels of {shown(variable)}", labels[variable])
    library = _load("pyagrum", "to_pyagrum")
    network = library.BayesNet()
    for variable in vars(model):
        texts = [str(label) for label in labels[variable]]
        network.add(library.LabelizedVariable(str(variable), str(variable), texts))
    for variable, *parents in model.families:
        for parent in parents:
            network.addArc(str(parent), str(variable))
        # pyAgrum counts through the variable first, then its parents in the order of the arcs.
        network.cpt(str(variable)).fillWith(tables[variable].ravel(order="F").tolist())
    return network


def _load(module: str, verb: str, needed: str | None = None) -> Any:
    """Import a module of an optional library, or say how to install it."""
    library = module.partition(".")[0]
    try:
        # pyAgrum is made by SWIG, whose modules warn of their own types on import; where
        # warnings are errors, that crashes the interpreter.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            loaded = import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{verb}: needs {library}, which cannot be imported ({error}); "
            "run pip install 'pybnclassify[exchange]'"
        ) from error
    if needed is not None and not hasattr(loaded, needed):
        raise ImportError(
            f"{verb}: the {library} that is installed is too old, it has no {needed}; "
            "run pip install --upgrade 'pybnclassify[exchange]'"
        )
    return loaded


def _check_text(kind: str, labels: Collection[Hashable]) -> None:
    """Raise if two labels would become the same text."""
    by_text: dict[str, Hashable] = {}
    for label in labels:
        other = by_text.setdefault(str(label), label)
        if other is not label:
            raise ValueError(
                f"to_pyagrum: {kind}: {listed([other, label])} become the same text there; rename one of them"
            )
