"""The nodes of pictures of networks: names, weights of evidence, or distributions as bars."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from html import escape
from math import isfinite

from ..explanations.explain import Explanation, value_in_words
from ..frames import is_missing
from ..model import Model
from ..prediction import effect_ranges
from ..tools.messages import shorten_text
from .canvas import (
    BLUE,
    ORANGE,
    PALE,
    mix_with_white,
    probability_text,
    signed_weight,
    text_color_on,
)

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
        nodes[v] = _node_of_contribution(value_in_words(v, value), weights[v], largest)
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


def _node_of_contribution(text: str, weight: float, largest: float) -> Node:
    """Color a node by its contribution to the log odds; an infinite one has the full color."""
    depth = 0.8 * min(abs(weight / largest), 1.25)
    color = mix_with_white(BLUE if weight > 0 else ORANGE, depth)
    return {
        "label": escaped_for_graphviz(f"{text}\n{signed_weight(weight)}"),
        **_style_filled_with(color),
    }


def _style_filled_with(color: str) -> Node:
    return {"style": "rounded,filled", "fillcolor": color, "fontcolor": text_color_on(color)}


def node_of_observed_value(variable: Hashable, value: Hashable) -> Node:
    """Draw a variable with an observed value."""
    text = f"{value_in_words(variable, value)}\nobserved"
    return {"label": escaped_for_graphviz(text), "style": "rounded,filled", "fillcolor": PALE}


def node_of_distribution(
    variable: Hashable, labels: Sequence[Hashable], shares: Sequence[float], *, is_class: bool
) -> Node:
    """Draw a variable with one bar per value, in proportion to its probability."""
    name = f"<B>{_text_in_html_table(shorten_text(str(variable), _LONGEST_LINE))}</B>"
    heading = f'BGCOLOR="{BLUE}"><FONT COLOR="white">{name}</FONT>' if is_class else f">{name}"
    rows = ""
    for label, share in _most_probable_values(labels, shares):
        short = _text_in_html_table(shorten_text(str(label), _LONGEST))
        figure = _text_in_html_table(probability_text(share))
        rows += f'<TR><TD ALIGN="RIGHT">{short}</TD><TD>{_bar_of_share(share)}</TD>'
        rows += f'<TD ALIGN="RIGHT">{figure}</TD></TR>'
    table = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">'
    style = {"style": "solid", "color": BLUE} if is_class else {}
    return {"label": f'<{table}<TR><TD COLSPAN="3" {heading}</TD></TR>{rows}</TABLE>>', **style}


def _most_probable_values(
    labels: Sequence[Hashable], shares: Sequence[float]
) -> list[tuple[Hashable, float]]:
    """Return values with their probabilities; of many, the least probable are added up."""
    pairs = list(zip(labels, shares, strict=True))
    if len(pairs) <= _MOST_LEVELS:
        return pairs
    largest = sorted(range(len(pairs)), key=lambda i: -shares[i])[: _MOST_LEVELS - 1]
    shown = [pairs[i] for i in sorted(largest)]
    rest = max(0.0, 1.0 - sum(share for _, share in shown))
    return [*shown, (f"{len(pairs) - len(shown)} others", rest)]


def _bar_of_share(share: float) -> str:
    """Draw a bar as two cells of fixed width; Graphviz does not accept cells of width 0."""
    filled = round(_BAR * share)
    cells = ""
    for color, width in ((BLUE, filled), (PALE, _BAR - filled)):
        if width:
            cells += f'<TD BGCOLOR="{color}" FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="9"></TD>'
    style = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'
    size = f'FIXEDSIZE="TRUE" WIDTH="{_BAR}" HEIGHT="9"'
    return f"<TABLE {style} {size}><TR>{cells}</TR></TABLE>"


def _text_in_html_table(text: object) -> str:
    """Escape text for a table, including backslashes."""
    return text_as_html(text).replace("\\", "\\\\")
