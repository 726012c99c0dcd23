"""Networks as pictures, with explanations, distributions and the strength of arcs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ..accessors import check_has_joint_distribution, check_model, values
from ..dataset import check_unseen, codes_by_levels
from ..explanations.explain import explain_row, read_one_row
from ..frames import InFull, Row
from ..judge.arc_strength import check_strength
from ..model import WRITERS, Model
from ..questions.facts import facts_as_html
from ..questions.query import query
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, OneOf, Optional, Real, Unseen
from ..tools.graphs import find_cycle, topological_layers
from ..tools.messages import listed, shown
from .canvas import BLUE, GREY, mix_with_white
from .nodes import (
    Node,
    escaped_for_graphviz,
    labels_of_interactions,
    node_of_distribution,
    node_of_observed_value,
    nodes_with_contributions,
    nodes_with_names,
)

if TYPE_CHECKING:
    import graphviz

    from .pictures import Picture

_CLASS_ARC = {"color": "#87919b", "penwidth": "0.7", "arrowsize": "0.5"}
_FEATURE_ARC = {"color": "#4a545e", "penwidth": "1.6", "arrowsize": "0.8", "weight": "8"}
_CLASSES_ARC = _FEATURE_ARC | {"color": BLUE}
_FONT = 12

_Arcs = dict[tuple[Hashable, Hashable], float]


@with_call_advice("Pass the row by name: plot(x, row=row).")
def plot(
    x: Model,
    *,
    row: InFull | Row | None = None,
    target: Hashable | None = None,
    against: Any = None,
    unseen: Unseen = "error",
    interactions: bool = False,
    distributions: bool = False,
    strength: pd.DataFrame | None = None,
    class_arcs: bool = True,
    engine: str = "dot",
    fontsize: float | None = None,
    format: str = "svg",
) -> graphviz.Digraph:
    """Draw a structure, an explanation of a row, or distributions.

    Class variables are dark. Arcs from them to features are gray, arcs between
    them blue.

    Parameters
    ----------
    x : Model
        A model with or without parameters. The picture of an average has the
        arcs of more than half of its members, by weight.
    row : pandas.DataFrame, Series or dict, optional
        Row to explain. The label of each feature contains its weight of
        evidence, and the label of the class its posterior and prior. Blue is
        evidence for the class, orange against it.
    target, against, unseen, interactions : optional
        As in `explain`. With interactions, nodes have main effects, and arcs
        the interaction of the pair.
    distributions : bool, default False
        If True, draw the distribution of each variable as bars, given the
        observed values of `row`, if given.
    strength : pandas.DataFrame, optional
        A result of `arc_strength`. Strong arcs are wide and dark.
    class_arcs : bool, default True
        If False, omit the arcs from the class, which must be a parent of every
        feature.
    engine : str, default "dot"
        Graphviz layout: "dot" draws layers; "neato", "fdp", "sfdp", "circo" and
        "twopi" are more compact.
    fontsize : float, optional
        Size of all texts, in points; 12 by default.
    format : str, default "svg"
        File format of ``render()``: "svg", "png", "pdf" and others. Without
        ``dot``, graphviz-pure writes svg and png.

    Returns
    -------
    graphviz.Digraph
        A picture. A notebook shows it, ``plot(x).view()`` opens it, and
        ``plot(x).render(outfile="name.png", cleanup=True)`` writes it to a
        file. These methods require the program ``dot`` of Graphviz or the extra
        ``plot``.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` is a chain, `strength` lacks an arc of the model, `class_arcs` is
        False and the class is not a parent of every feature, or `row` or
        `distributions` is given and the model does not define them.

    Examples
    --------
    >>> from bnclassify import load_car, lp, plot, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> plot(model, row=car.iloc[-1])  # an explained car
    Picture: a notebook shows it; elsewhere .view() opens it, and
    .render(outfile="network.svg", cleanup=True) writes it to a file
    """
    import graphviz  # slow to import

    from .pictures import Picture

    model = check_model(x)
    OneOf(sorted(graphviz.ENGINES)).check("engine", engine)
    OneOf(sorted(graphviz.FORMATS)).check("format", format)
    Optional(Real(above=0)).check("fontsize", fontsize)
    Flag().check("class_arcs", class_arcs)
    compares = not (target is None and against is None)
    if (Flag().check("distributions", distributions) or row is None) and compares:
        raise ValueError("row must be given, and distributions False, with target or against.")
    drawn = choose_arcs_to_draw(model, class_arcs, note_colors=row is None or distributions)
    if strength is not None:
        drawn = _arcs_with_strength(drawn, check_strength(strength))
    labels: dict[tuple[Hashable, Hashable], Node] = {}
    if distributions:
        nodes, lines = _nodes_with_distributions(model, row, unseen)
        lines = [*lines, *drawn.notes]
    elif row is not None:
        explanation = explain_row(model, row, target, against, unseen, interactions)
        nodes, lines = nodes_with_contributions(explanation)
        labels, notes = labels_of_interactions(explanation, drawn.arcs)
        lines += [*notes, *drawn.notes]
    else:
        nodes, lines = nodes_with_names(model)
        lines = ["; ".join([*lines, *drawn.notes])]
    if not class_arcs and not distributions:
        of_class = nodes[model.class_var]
        text = f"{of_class['label']}\\nparent of all features"
        nodes[model.class_var] = of_class | {"label": text, "style": "dashed", "fontcolor": BLUE}
    picture = Picture(
        engine=engine, format=format, **_picture_attributes(model, drawn.arcs, lines, fontsize)
    )
    if labels:
        picture.edge_attr.update(fontname="Helvetica", fontsize=str(fontsize or _FONT))
    _add_nodes_and_arcs(picture, model, nodes, drawn, labels)
    return picture


def _svg_for_notebook(x: Model) -> str:
    """Draw a model as SVG for a notebook; nothing if it is large or cannot be drawn."""
    if len(x.variables) > 60:
        return ""
    import graphviz

    with suppress(RuntimeError, TypeError, ValueError, graphviz.CalledProcessError):
        svg: str = plot(x).pipe(format="svg", encoding="utf-8")
        return svg[svg.find("<svg") :]
    return ""


WRITERS["html"] = lambda x: facts_as_html(x, _svg_for_notebook(x))


class DrawnArcs(NamedTuple):
    """Shares of the members with an arc, by (from, to), or ``shaded`` strengths; notes."""

    arcs: _Arcs
    mutual: set[tuple[Hashable, Hashable]]
    notes: list[str]
    shaded: bool = False


def _direction_of_layers(arcs: _Arcs, features: tuple[Hashable, ...]) -> str:
    """Return downwards, or to the right if a layer has more features than fit side by side."""
    parents, earlier = dict[Hashable, list[Hashable]](), dict[Hashable, list[Hashable]]()
    for i, head in enumerate(features):
        parents[head] = [tail for tail in features if (tail, head) in arcs]
        earlier[head] = [tail for tail in features[:i] if (tail, head) in arcs]
    if find_cycle(parents):  # without arcs from later to earlier features, cycles are impossible
        parents = earlier
    return "LR" if max(map(len, topological_layers(parents)), default=0) > 8 else "TB"


def choose_arcs_to_draw(x: Model, class_arcs: bool, *, note_colors: bool = True) -> DrawnArcs:
    """Choose the arcs to draw: the arcs of more than half of the members of an average."""
    shares = x.arc_shares()
    position = {variable: i for i, variable in enumerate(x.variables)}
    arcs: _Arcs = {}
    mutual = set()
    for (tail, head), share in shares.items():
        back = shares.get((head, tail), 0.0)
        forward = share > back or (share == back and position[tail] < position[head])
        if forward and share + back > 0.5:
            arcs[tail, head] = share + back
            if back:
                mutual.add((tail, head))
    notes = _notes_on_members(x, arcs, len({frozenset(arc) for arc in shares}) - len(arcs))
    if not class_arcs:
        unlinked = [feature for feature in x.features if (x.class_var, feature) not in arcs]
        if unlinked:
            raise ValueError(
                "class_arcs must be True unless the class is a parent of every feature; it is not "
                f"a parent of {shown(unlinked[0])}."
            )
        arcs = {arc: share for arc, share in arcs.items() if arc[0] != x.class_var}
        notes.append(f"{x.class_var} is a parent of every feature")
    elif note_colors:
        notes += _notes_on_colors(x, arcs)
    return DrawnArcs(arcs, mutual, notes)


def _arcs_with_strength(drawn: DrawnArcs, strength: pd.DataFrame) -> DrawnArcs:
    arcs = list[tuple[Hashable, Hashable]](zip(strength["from"], strength["to"], strict=True))
    known = dict(zip(arcs, list[float](strength["strength"]), strict=True))
    absent = [f"{tail} -> {head}" for tail, head in drawn.arcs if (tail, head) not in known]
    if absent:
        raise ValueError(f"strength must have the arcs of x; it lacks {listed(absent)}.")
    notes = [*drawn.notes, "strong arcs are wide and dark"]
    return drawn._replace(arcs={arc: known[arc] for arc in drawn.arcs}, notes=notes, shaded=True)


def _notes_on_members(x: Model, arcs: _Arcs, omitted: int) -> list[str]:
    """Return notes on the members of an average, and on the arcs that its picture omits."""
    notes = list(filter(None, [x.picture_notes.members]))
    if omitted:
        notes.append(f"{omitted:,} arcs of half of the networks or fewer are omitted")
    if len(set(arcs.values())) > 1:
        notes.append("wide arcs occur in more networks")
    return notes


def _notes_on_colors(x: Model, arcs: _Arcs) -> list[str]:
    if len(x.targets) == 1:
        return []
    heads = {head in x.targets for tail, head in arcs if tail in x.targets}
    blue = ["arcs between class variables are blue"] if True in heads else []
    return blue + (["arcs from class variables to features are gray"] if False in heads else [])


def _picture_attributes(
    x: Model, arcs: _Arcs, lines: list[str], fontsize: float | None
) -> dict[str, dict[str, str]]:
    caption = "\n".join(fill(line, 90, break_long_words=False) for line in lines)
    return {
        "graph_attr": {
            "rankdir": _direction_of_layers(arcs, x.features),
            "nodesep": "0.15", "overlap": "false", "splines": "true",
            "label": escaped_for_graphviz(caption),
            "fontname": "Helvetica", "fontsize": str(fontsize or _FONT),
        },
        "node_attr": {
            "shape": "box", "style": "rounded", "color": GREY, "fontname": "Helvetica",
            "margin": "0.1,0.06", "height": "0.3", "fontsize": str(fontsize or _FONT),
        },
    }  # fmt: skip


def _add_nodes_and_arcs(
    picture: Picture,
    x: Model,
    nodes: Mapping[Hashable, Node],
    drawn: DrawnArcs,
    labels: Mapping[tuple[Hashable, Hashable], Node],
) -> None:
    """Add nodes and arcs. Nodes are named by positions, so that 1 and "1" are different nodes."""
    name_of, targets = {variable: str(i) for i, variable in enumerate(x.variables)}, x.targets
    for variable, name in name_of.items():
        picture.node(name, **nodes[variable])
    for (tail, head), share in drawn.arcs.items():
        of_class = _CLASSES_ARC if head in targets else _CLASS_ARC
        style = dict(of_class if tail in targets else _FEATURE_ARC)
        if drawn.shaded:
            wide = 0.3 + 0.7 * share if tail in targets else 0.4 + 2.6 * share
            style["penwidth"] = f"{wide:.2f}"
            style["color"] = mix_with_white(style["color"], 0.25 + 0.75 * share)
        elif share < 1:
            style["penwidth"] = f"{float(style['penwidth']) * share:.2f}"
        if (tail, head) in drawn.mutual:
            style["dir"] = "both"
        picture.edge(name_of[tail], name_of[head], **style | labels.get((tail, head), {}))


def _nodes_with_distributions(
    x: Model, row: InFull | Row | None, unseen: str
) -> tuple[dict[Hashable, Node], list[str]]:
    labels = values(check_has_joint_distribution(x, "distributions"))
    if x.numeric_features:
        raise TypeError(
            "distributions requires a model of categories; got the numbers "
            f"{listed(x.numeric_features)}."
        )
    check_unseen(unseen)
    known: dict[Hashable, int] = {}
    if row is not None:
        levels = tuple([labels[v] for v in x.features])
        codes = codes_by_levels(read_one_row(x, row)[1], x.features, levels, unseen=unseen)
        pairs = zip(x.features, codes.ravel().tolist(), strict=True)
        known = {v: code for v, code in pairs if code >= 0}
    evidence, nodes = {v: labels[v][code] for v, code in known.items()}, dict[Hashable, Node]()
    for v in x.variables:
        written = x.written_levels(v)
        if v in known:
            nodes[v] = node_of_observed_value(v, written[known[v]])
        else:
            shares: list[float] = query(x, v, evidence).to_list()
            nodes[v] = node_of_distribution(v, written, shares, is_class=v == x.class_var)
    condition = "" if row is None else " given the observed ones"
    return nodes, [f"probability of each value{condition}"]
