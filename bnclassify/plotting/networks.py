"""Pictures of networks, drawn by Graphviz."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf
from numbers import Real
from textwrap import fill
from typing import Any

import graphviz
import numpy as np
import pandas as pd

from ..base.arrays import Codes
from ..base.checks import Flag
from ..base.messages import shown
from ..frames.encoding import Row
from ..frames.matching import check_unseen, match
from ..frames.schema import Dataset
from ..functions.explanation import Explanation, encode_one, explain_row
from ..functions.inferences import query
from ..model.model import Model, check_joint, check_model
from ..model.questions import values
from .arcs import Sketch, sketch
from .canvas import BLUE, GREY, ORANGE, signed
from .nodes import Node, all_named, distributed, explained, observed, written
from .pictures import Picture

_CLASS_ARC = {"color": "#87919b", "penwidth": "0.7", "arrowsize": "0.5"}
_FEATURE_ARC = {"color": ORANGE, "penwidth": "1.6", "arrowsize": "0.8", "weight": "8"}
_EXPLAINED_ARC = _FEATURE_ARC | {"color": "#4a545e"}  # orange is what speaks against the class
_CLASSES_ARC = _FEATURE_ARC | {"color": BLUE}
_CAPTION_LINE = 60


def plot(
    x: Model,
    *,
    row: pd.DataFrame | Dataset | Row | None = None,
    target: Any = None,
    against: Any = None,
    unseen: str = "error",
    distributions: bool = False,
    class_arcs: bool = True,
    engine: str = "dot",
    fontsize: float | None = None,
    format: str = "svg",
) -> graphviz.Digraph:
    """Draw the structure of a model, what it says of a row, or the distributions of its variables.

    The class is dark and the arcs from it are grey; all other arcs are strong. Of several class variables
    all are dark, and arcs between them blue.

    Parameters
    ----------
    x : Model
        With or without parameters. Of an average, arcs are drawn that more than half of its members
        have, by their weights. Of averaged n-dependence estimators (`ande`), features show how much they
        weigh as superparents.
    row : pandas.DataFrame, Series or dict, optional
        A row whose prediction the picture shall explain, as in `explain`. Each feature is labelled
        with what it adds to the log odds, the class with its posterior and what its prior adds; blue
        is what speaks for the class, orange what speaks against it.
    target, against, unseen : optional
        The class, those that it is compared with, and what becomes of values that the model does not
        know, as in `explain`.
    distributions : bool, default False
        Whether to draw the probability of each value as a bar, for each variable: given what is known
        of ``row``, or without one given nothing.
    class_arcs : bool, default True
        Whether to draw the arcs from the class, which take much room where there are many features
        and tell nothing where it is a parent of all. False is for such models only.
    engine : str, default "dot"
        Graphviz layout: "dot" draws layers; "neato", "fdp", "sfdp", "circo", "twopi" draw
        more compactly, but so that trees are harder to follow.
    fontsize : float, optional
        Size of names, in points; Graphviz takes 14.
    format : str, default "svg"
        File format that ``render()`` writes: "svg", "png", "pdf" and others. Without ``dot``,
        graphviz-pure writes svg and png.

    Returns
    -------
    graphviz.Digraph
        A notebook shows it. In a script or at a prompt, ``plot(x).view()`` opens it, and
        ``plot(x).render(outfile="name.png", cleanup=True)`` writes a file; ``.source`` is its text in
        the DOT language. To draw, they need the program ``dot`` of Graphviz or the extra ``plot``,
        and raise a RuntimeError where there is neither.

    Raises
    ------
    TypeError
        If ``x`` is no model or a chain, it is to explain a row and predicts several class variables,
        ``distributions`` or ``class_arcs`` is neither True nor False, or there are
        no distributions because the model is no joint distribution of its variables.
    ValueError
        If the engine or format is unknown, ``fontsize`` is not positive, there are classes to compare
        but no row to explain, ``class_arcs`` is False though the class is not a parent of every feature,
        or there is more than one row; with a row or ``distributions``, if the model has no parameters;
        with a row, as `explain`.
    KeyError
        If the row lacks a feature.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="bic"), car, smooth=1)
    >>> print(plot(model, fontsize=11).source[:9])
    digraph {
    >>> plot(model, distributions=True)
    Picture: a notebook shows it; elsewhere .view() opens it, and
    .render(outfile="network.svg", cleanup=True) writes it to a file
    """
    model = check_model(x)
    _check_style(engine, format, fontsize)
    Flag().check("class_arcs", class_arcs)
    if Flag().check("distributions", distributions) and not (target is None and against is None):
        raise ValueError("distributions: expected False with target or against, which explain a row")
    if row is None and not (target is None and against is None):
        raise ValueError("row: give the row whose prediction target and against are about")
    drawn = sketch(model, class_arcs=class_arcs)
    if distributions:
        nodes, lines = _distributions(model, row, unseen)
    elif row is None:
        nodes, lines = _names(model)
    else:
        nodes, lines = _explanation(explain_row(model, row, target, against, unseen))
    picture = Picture(engine=engine, format=format, **_attributes(model, drawn, lines, fontsize))
    _fill(picture, model, nodes, drawn, _FEATURE_ARC if row is None or distributions else _EXPLAINED_ARC)
    return picture


def _attributes(
    x: Model, drawn: Sketch, lines: list[str], fontsize: float | None
) -> dict[str, dict[str, str]]:
    """Return the attributes of a picture and of its nodes, the caption among them."""
    caption = "\n".join(fill(line, _CAPTION_LINE, break_long_words=False) for line in (*lines, *drawn.notes))
    return {
        "graph_attr": {
            "rankdir": drawn.direction(x.features),
            "nodesep": "0.15", "overlap": "false", "splines": "true",
            "label": written(caption), "fontname": "Helvetica", "fontsize": "11",
        },
        "node_attr": {
            "shape": "box", "style": "rounded", "color": GREY, "fontname": "Helvetica",
            "margin": "0.1,0.06", "height": "0.3",
            **({} if fontsize is None else {"fontsize": str(fontsize)}),
        },
    }  # fmt: skip


def _fill(
    picture: Picture, x: Model, nodes: Mapping[Hashable, Node], drawn: Sketch, between: Mapping[str, str]
) -> None:
    """Put in nodes and arcs. Nodes go by number, so that any label is safe: odd signs, or 1 beside "1"."""
    number, targets = {variable: str(i) for i, variable in enumerate(x.variables)}, x.targets
    for variable, node in number.items():
        picture.node(node, **nodes[variable])
    for (tail, head), share in drawn.arcs.items():
        style = dict(between if tail not in targets else _CLASS_ARC if head not in targets else _CLASSES_ARC)
        if share < 1:
            style["penwidth"] = f"{float(style['penwidth']) * share:.2f}"
        if (tail, head) in drawn.mutual:
            style["dir"] = "both"
        picture.edge(number[tail], number[head], **style)


def _names(x: Model) -> tuple[dict[Hashable, Node], list[str]]:
    """Return the nodes of a picture of the structure, and what is to be said of it."""
    learner = "" if x.recipe is None else f", by {x.recipe.structure.name}"
    predicted = x.class_var if len(x.targets) == 1 else f"{len(x.targets):,} class variables"
    nodes, lines = all_named(x)
    return nodes, [f"{predicted} and {len(x.features):,} features{learner}", *lines]


def _explanation(explanation: Explanation) -> tuple[dict[Hashable, Node], list[str]]:
    """Return the nodes of a picture that explains a row, and what is to be said of it."""
    total = signed(sum(explanation.log_odds))
    return explained(explanation), [
        f"log odds of {explanation.target} against {explanation.rival}: {total}",
        f"blue speaks for {explanation.target}, orange against it",
    ]


def _distributions(x: Model, row: object, unseen: str) -> tuple[dict[Hashable, Node], list[str]]:
    """Return the nodes of a picture of distributions, and what is to be said of it."""
    labels = values(check_joint(x, "distributions"))
    check_unseen(unseen)
    evidence: dict[Hashable, Any] = {}
    if row is not None:
        levels = tuple([labels[v] for v in x.features])
        codes = match(encode_one(x, row), x.features, levels, unseen=unseen)
        _check_possible(x, codes)
        feature_codes = zip(x.features, levels, codes[:, 0].tolist(), strict=True)
        evidence = {v: labels_of[code] for v, labels_of, code in feature_codes if code >= 0}
    nodes = {
        v: observed(v, evidence[v])
        if v in evidence
        else distributed(v, labels[v], query(x, v, evidence).tolist(), is_class=v == x.class_var)
        for v in x.variables
    }
    return nodes, ["probability of each value" + ("" if row is None else ", given those in grey")]


def _check_possible(x: Model, codes: Codes) -> None:
    """Raise a ValueError for a row that nothing follows from."""
    if x._log_joint(codes).max() == -np.inf:
        raise ValueError(
            "row: is impossible under every class, so nothing follows from it; learn with smooth above 0, "
            "which makes nothing impossible"
        )


def _check_style(engine: object, format: object, fontsize: float | None) -> None:
    """Raise a ValueError for what Graphviz does not know."""
    if not isinstance(engine, str) or engine not in graphviz.ENGINES:
        raise ValueError(
            f"engine: expected one of {', '.join(sorted(graphviz.ENGINES))}, got {shown(engine)}"
        )
    if not isinstance(format, str) or format not in graphviz.FORMATS:
        raise ValueError(
            f"format: expected svg, png, pdf or another that Graphviz writes, got {shown(format)}"
        )
    if fontsize is not None and not (isinstance(fontsize, Real) and 0 < fontsize < inf):
        raise ValueError(f"fontsize: expected a positive number of points, got {shown(fontsize)}")
