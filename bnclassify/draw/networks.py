"""Networks as pictures, with explanations, distributions as bars, and the strength of arcs."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from contextlib import suppress
from html import escape
from math import isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ..accessors import check_has_joint_distribution, check_model, values
from ..dataset import check_unseen, codes_by_levels
from ..explanations.explain import Explanation, explain_row, read_one_row, value_in_words
from ..frames import AnyTable, Row, is_missing
from ..judge.structures import check_strength
from ..model import WRITERS, Model
from ..prediction import effect_ranges
from ..questions.facts import facts_as_html
from ..questions.query import query
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, OneOf, Optional, Real, Unseen
from ..tools.graphs import find_cycle, topological_layers
from ..tools.messages import listed, shorten_text, shown
from .canvas import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    mix_with_white,
    probability_text,
    signed_weight,
    text_color_on,
)

if TYPE_CHECKING:
    import graphviz


Node = dict[str, str]

_MOST_LEVELS = 8
_LONGEST = 32  # maximum number of letters of a label beside a bar
_LONGEST_LINE = 500  # letters; some versions of Graphviz read 16,384 bytes of a text
_BAR = 60  # points
_RANGES = "numbers: range of the effect on the log odds"
_DARK = {"style": "filled", "fillcolor": BLUE, "color": BLUE, "fontcolor": "white"}


def nodes_with_names(x: Model) -> tuple[dict[Hashable, Node], list[str]]:
    """Draw variables' names and features' weights, colored if learned; add a caption."""
    nodes = {v: {"label": escaped_for_graphviz(str(v))} for v in x.variables}
    for target in x.targets:
        nodes[target] |= _DARK
    _, shares, note = x.picture_notes
    is_sum = not shares and x.fitted and x.one_class and bool(x.no_joint)
    if is_sum and set(x.arc_shares()) == {(x.class_var, name) for name in x.features}:
        shares = dict(zip(x.features, effect_ranges(x).tolist(), strict=True))
        note = f"{note}; {_RANGES}" if note else _RANGES
    is_weighted = x.facts().get("weights") is not None or note.endswith(_RANGES)
    for feature, share in shares.items():
        nodes[feature] = {"label": escaped_for_graphviz(f"{feature}\n{share:.2f}")}
        if is_weighted:
            depth = 0.8 * share / max(shares.values())
            nodes[feature] |= _style_filled_with(mix_with_white(BLUE, depth))
    learner = "" if x.recipe is None else f", learned by {x.recipe.structure.name}"
    predicted = x.class_var if len(x.targets) == 1 else f"{len(x.targets):,} class variables"
    return nodes, [f"{predicted} and {len(x.features):,} features{learner}", *filter(None, [note])]


def escaped_for_graphviz(text: str) -> str:
    """Escape text for Graphviz, line by line, and shorten lines that some versions cannot read."""
    import graphviz  # slow to import

    lines = (
        replace_control_characters(shorten_text(line, _LONGEST_LINE)) for line in text.split("\n")
    )
    escaped: str = graphviz.nohtml("\\n".join(map(graphviz.escape, lines)))  # no plain text
    return escaped


def replace_control_characters(text: str) -> str:
    """Replace characters that an SVG must not contain by symbols such as ␀."""
    signs = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {0x7F: 0x2421}
    return re.sub("[\x80-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text.translate(signs))


def text_as_html(text: object) -> str:
    """Return text as HTML and SVG show it."""
    return escape(replace_control_characters(str(text)))


def nodes_with_contributions(explanation: Explanation) -> tuple[dict[Hashable, Node], list[str]]:
    """Draw each variable in the color of its effect on the log odds; return the caption."""
    weights, class_var = explanation.log_odds, next(iter(explanation.row_values))
    finite = [abs(weight) for weight in weights.values() if isfinite(weight)]
    largest = max(finite, default=0.0) or 1.0
    nodes = {}
    for v, value in explanation.row_values.items():
        weight = weights[v]
        depth = 0.8 * min(abs(weight / largest), 1.25)  # an infinite weight has the full color
        color = mix_with_white(BLUE if weight > 0 else ORANGE, depth)
        nodes[v] = {
            "label": escaped_for_graphviz(f"{value_in_words(v, value)}\n{signed_weight(weight)}"),
            **_style_filled_with(color),
        }
        if is_missing(value):
            nodes[v]["style"] = "rounded,dashed"
    label = f"{class_var} = {explanation.target}: {probability_text(explanation.probability)}"
    text = f"{label}\nprior {signed_weight(weights[class_var])}"
    nodes[class_var] = {"label": escaped_for_graphviz(text), **_DARK}
    return nodes, [
        f"log odds of {explanation.target} against {explanation.rival}: "
        f"{signed_weight(sum(weights.values()))}",
        f"blue: evidence for {explanation.target}, orange: against it (nats)",
    ]


def labels_of_interactions(
    explanation: Explanation, arcs: Collection[tuple[Hashable, Hashable]]
) -> tuple[dict[tuple[Hashable, Hashable], Node], list[str]]:
    """Return the labels of arcs between interacting features, and notes on other interactions."""
    labels, notes = dict[tuple[Hashable, Hashable], Node](), list[str]()
    for scope, weight in explanation.interactions.items():
        features = scope if isinstance(scope, tuple) else ()  # none for the rest of an average
        color = {"fontcolor": BLUE if weight > 0 else ORANGE}
        ends = [arc for arc in arcs if set(arc) == set(features)]
        labels |= {
            arc: {"label": escaped_for_graphviz(signed_weight(weight)), **color} for arc in ends
        }
        if not ends:
            name = f"interaction of {', '.join(map(str, features))}" if features else "the rest"
            notes.append(f"{name}: {signed_weight(weight)}")
    return labels, notes


def _style_filled_with(color: str) -> Node:
    return {"style": "rounded,filled", "fillcolor": color, "fontcolor": text_color_on(color)}


def node_of_distribution(
    variable: Hashable, labels: Sequence[Hashable], shares: Sequence[float], *, is_class: bool
) -> Node:
    """Draw a variable with one bar per value, in proportion to its probability."""
    name = f"<B>{_text_in_html_table(shorten_text(str(variable), _LONGEST_LINE))}</B>"
    heading = f'BGCOLOR="{BLUE}"><FONT COLOR="white">{name}</FONT>' if is_class else f">{name}"
    rows = ""
    pairs = list(zip(labels, shares, strict=True))
    if len(pairs) > _MOST_LEVELS:  # the least probable are added up
        largest = sorted(range(len(pairs)), key=lambda i: -shares[i])[: _MOST_LEVELS - 1]
        kept = [pairs[i] for i in sorted(largest)]
        rest = max(0.0, 1.0 - sum(share for _, share in kept))
        pairs = [*kept, (f"{len(pairs) - len(kept)} others", rest)]
    for label, share in pairs:
        short = _text_in_html_table(shorten_text(str(label), _LONGEST))
        figure = _text_in_html_table(probability_text(share))
        # a bar of two cells of fixed width; Graphviz does not accept cells of width 0
        filled, cells = round(_BAR * share), ""
        for color, width in ((BLUE, filled), (PALE, _BAR - filled)):
            if width:
                cells += f'<TD BGCOLOR="{color}" FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="9"></TD>'
        spaces = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'
        size = f'FIXEDSIZE="TRUE" WIDTH="{_BAR}" HEIGHT="9"'
        bar = f"<TABLE {spaces} {size}><TR>{cells}</TR></TABLE>"
        rows += f'<TR><TD ALIGN="RIGHT">{short}</TD><TD>{bar}</TD>'
        rows += f'<TD ALIGN="RIGHT">{figure}</TD></TR>'
    table = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">'
    style = {"style": "solid", "color": BLUE} if is_class else {}
    return {"label": f'<{table}<TR><TD COLSPAN="3" {heading}</TD></TR>{rows}</TABLE>>', **style}


def _text_in_html_table(text: object) -> str:
    """Escape text for a table, including backslashes."""
    return text_as_html(text).replace("\\", "\\\\")


_CLASS_ARC = {"color": "#87919b", "penwidth": "0.7", "arrowsize": "0.5"}
_FEATURE_ARC = {"color": "#4a545e", "penwidth": "1.6", "arrowsize": "0.8", "weight": "8"}
_CLASSES_ARC = _FEATURE_ARC | {"color": BLUE}
_FONT = 12

_Arcs = dict[tuple[Hashable, Hashable], float]


@with_call_advice("Pass the row by name: plot(x, row=row).")
def plot(
    x: Model,
    *,
    row: AnyTable | Row | None = None,
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
        table = check_strength(strength)
        ends = list[tuple[Hashable, Hashable]](zip(table["from"], table["to"], strict=True))
        known = dict(zip(ends, list[float](table["strength"]), strict=True))
        absent = [f"{tail} -> {head}" for tail, head in drawn.arcs if (tail, head) not in known]
        if absent:
            raise ValueError(f"strength must have the arcs of x; it lacks {listed(absent)}.")
        strengths = {arc: known[arc] for arc in drawn.arcs}
        drawn.notes.append("strong arcs are wide and dark")
        drawn = drawn._replace(arcs=strengths, shaded=True)
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
    # downwards, or to the right if a layer has more features than fit side by side
    features, arcs = model.features, drawn.arcs
    parents = {v: [tail for tail in features if (tail, v) in arcs] for v in features}
    if find_cycle(parents):  # without arcs from later to earlier features, cycles are impossible
        parents = {v: [p for p in parents[v] if p in features[:i]] for i, v in enumerate(features)}
    widest = max(map(len, topological_layers(parents)), default=0)
    caption = "\n".join(fill(line, 90, break_long_words=False) for line in lines)
    font = {"fontname": "Helvetica", "fontsize": str(fontsize or _FONT)}
    picture = Picture(engine=engine, format=format)
    picture.graph_attr.update(
        rankdir="LR" if widest > 8 else "TB", nodesep="0.15", overlap="false",
        splines="true", label=escaped_for_graphviz(caption), **font,
    )  # fmt: skip
    picture.node_attr.update(
        shape="box", style="rounded", color=GREY, margin="0.1,0.06", height="0.3", **font
    )
    picture.edge_attr.update(font if labels else {})
    # Nodes are named by positions, so that 1 and "1" are different nodes.
    name_of, targets = {v: str(i) for i, v in enumerate(model.variables)}, model.targets
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
    omitted = len({frozenset(arc) for arc in shares}) - len(arcs)
    notes = list(filter(None, [x.picture_notes.members]))
    if omitted:
        notes.append(f"{omitted:,} arcs of half of the networks or fewer are omitted")
    if len(set(arcs.values())) > 1:
        notes.append("wide arcs occur in more networks")
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
        heads = {head in x.targets for tail, head in arcs if tail in x.targets}
        if len(x.targets) > 1 and True in heads:
            notes.append("arcs between class variables are blue")
        if len(x.targets) > 1 and False in heads:
            notes.append("arcs from class variables to features are gray")
    return DrawnArcs(arcs, mutual, notes)


def _nodes_with_distributions(
    x: Model, row: AnyTable | Row | None, unseen: str
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
            label = escaped_for_graphviz(f"{value_in_words(v, written[known[v]])}\nobserved")
            nodes[v] = {"label": label, "style": "rounded,filled", "fillcolor": PALE}
        else:
            shares: list[float] = query(x, v, evidence).to_list()
            nodes[v] = node_of_distribution(v, written, shares, is_class=v == x.class_var)
    condition = "" if row is None else " given the observed ones"
    return nodes, [f"probability of each value{condition}"]
