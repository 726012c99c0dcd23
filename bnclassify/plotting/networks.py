"""Pictures of networks, drawn by Graphviz."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from numbers import Real
from pathlib import Path
from threading import RLock
from typing import Any

import graphviz
import pandas as pd
from graphviz.backend import dot_command

from ..base.acyclicity import ChangingDag
from ..base.graphs import layers
from ..evaluation.explanation import Evidence, describe, weigh_evidence
from ..frames.reading import is_missing
from ..frames.schema import Dataset
from ..model.kinds import Model
from ..model.networks import Network, check_single
from .marks import BLUE, GREY, ORANGE, blend, ink, signed

_CLASS_NODE = {"style": "filled", "fillcolor": BLUE, "color": BLUE, "fontcolor": "white"}
_CLASS_ARC = {"color": "#c3cbd3", "penwidth": "0.7", "arrowsize": "0.5"}
_FEATURE_ARC = {"color": ORANGE, "penwidth": "1.6", "arrowsize": "0.8", "weight": "8"}
_EXPLAINED_ARC = _FEATURE_ARC | {"color": "#4a545e"}  # orange is what speaks against the class

_MOST_ABREAST = 8

_LOCK = RLock()
"""One thread at a time draws: which program graphviz calls is the same for all."""

_NO_PROGRAM = (
    "drawing needs the program dot of Graphviz, which is not installed. Either install it "
    "(Debian, Ubuntu: apt install graphviz; macOS: brew install graphviz; "
    "conda: conda install graphviz; Windows: winget install graphviz), or run "
    "pip install 'pybnclassify[plot]'. The picture's text is in its attribute source."
)


class Picture(graphviz.Digraph):
    """A `graphviz.Digraph` that is also drawn where only the extra ``plot`` is installed.

    The program ``dot`` draws it, or where there is none, ``graphviz-pure``. With neither,
    ``render`` and ``pipe`` raise a RuntimeError that says what to install, and a notebook
    shows that text.
    """

    def pipe(self, *args: Any, **kwargs: Any) -> Any:
        """Return the drawing as bytes, or text with ``encoding=``; see `graphviz.Digraph.pipe`."""
        with _program():
            return super().pipe(*args, **kwargs)

    def render(self, *args: Any, **kwargs: Any) -> str:
        """Write source and drawing to files; see `graphviz.Digraph.render`."""
        with _program():
            return super().render(*args, **kwargs)

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if _find_program() is None:
            return {"text/plain": _NO_PROGRAM}
        return super()._repr_mimebundle_(*args, **kwargs)


def _find_program() -> Path | None:
    """Find the program that draws: dot, or graphviz-pure on the path or beside this Python."""
    scripts = sysconfig.get_path("scripts")
    found = (
        shutil.which("dot") or shutil.which("graphviz-pure") or shutil.which("graphviz-pure", path=scripts)
    )
    return Path(found) if found else None


@contextmanager
def _program() -> Iterator[None]:
    """Have graphviz call the program that is there."""
    program = _find_program()
    if program is None:
        raise RuntimeError(_NO_PROGRAM)
    with _LOCK:
        usual, dot_command.DOT_BINARY = dot_command.DOT_BINARY, program
        try:
            yield
        finally:
            dot_command.DOT_BINARY = usual


def _direction(x: Network) -> str:
    """Draw downwards, or to the right where a layer has more names than fit side by side.

    Graphviz turns arcs round that close a cycle, to lay the network out; here they are left out.
    """
    position = {feature: i for i, feature in enumerate(x.features)}
    graph = ChangingDag(len(position))
    above: dict[int, list[int]] = {v: [] for v in position.values()}
    for feature, parents in x.feature_parents.items():
        for arc in ((position[parent], position[feature]) for parent in parents):
            if not graph.closes_cycle[arc]:
                graph.add(*arc)
                above[arc[1]].append(arc[0])
    widest = max(map(len, layers(above)), default=0)
    return "LR" if widest > _MOST_ABREAST else "TB"


def plot(
    x: Model,
    *,
    row: pd.DataFrame | pd.Series[Any] | Mapping[Any, Any] | Dataset | None = None,
    target: Any = None,
    against: Any = None,
    unseen: str = "error",
    engine: str = "dot",
    fontsize: float | None = None,
    format: str = "svg",
) -> graphviz.Digraph:
    """Draw the structure: the class dark, its arcs pale, arcs between features strong.

    Parameters
    ----------
    x : BNC
        A model, with or without parameters.
    row, target, against, unseen : optional
        A row whose prediction the picture shall explain, the class, those it is compared with,
        and what becomes of values that the model does not know, as in `explain`. Features are
        labelled with what they add to the log odds, and coloured blue where that speaks for the
        class and orange where it speaks against it.
    engine : str, default "dot"
        Graphviz layout: "dot" draws layers; "neato", "fdp", "sfdp", "circo", "twopi" draw
        more compactly where there are many features.
    fontsize : float, optional
        Size of names, in points; Graphviz takes 14.
    format : str, default "svg"
        File format that ``render()`` writes: "svg", "png", "pdf" and others. Without ``dot``,
        graphviz-pure writes svg and png.

    Returns
    -------
    graphviz.Digraph
        Shows itself in a notebook. ``.render(outfile="name.png", cleanup=True)`` writes a
        file; ``.source`` is its text in the DOT language.

    Raises
    ------
    TypeError
        If ``x`` is an ensemble; plot one of ``members(x)``.
    ValueError
        If the engine or format is unknown, ``fontsize`` is not positive, or there are classes to
        compare but no row; with a row, as `explain`.

    Examples
    --------
    >>> from bnclassify import load_car, plot, tan_cl
    >>> print(plot(tan_cl("class", load_car(), score="bic"), fontsize=11).source[:9])
    digraph {
    """
    model = check_single(x, "plot")
    if not isinstance(engine, str) or engine not in graphviz.ENGINES:
        raise ValueError(f"engine: expected one of {', '.join(sorted(graphviz.ENGINES))}, got {engine!r}")
    if not isinstance(format, str) or format not in graphviz.FORMATS:
        raise ValueError(f"format: expected svg, png, pdf or another that Graphviz writes, got {format!r}")
    if fontsize is not None and not (isinstance(fontsize, Real) and 0 < fontsize < inf):
        raise ValueError(f"fontsize: expected a positive number of points, got {fontsize!r}")
    if row is None and not (target is None and against is None):
        raise ValueError("row: give the row whose prediction target and against are about")
    evidence = None if row is None else weigh_evidence(model, row, target, against, unseen)
    picture = Picture(
        engine=engine,
        format=format,
        graph_attr={
            "rankdir": _direction(model), "nodesep": "0.15", "overlap": "false", "splines": "true",
            **({} if evidence is None else {"label": _caption(evidence), "fontname": "Helvetica"}),
        },
        node_attr={
            "shape": "box", "style": "rounded", "color": GREY, "fontname": "Helvetica",
            "margin": "0.1,0.04" if evidence is None else "0.1,0.08", "height": "0.3",
            **({"fontsize": str(fontsize)} if fontsize is not None else {}),
        },
    )  # fmt: skip
    # Nodes go by number, so that any label is safe: odd signs, or 1 beside "1".
    number = {family[0]: str(i) for i, family in enumerate(model.families)}
    labels, styles = _explained(evidence) if evidence else ({v: str(v) for v in number}, {})
    for variable, node in number.items():
        attributes = _CLASS_NODE if variable == model.class_var else styles.get(variable, {})
        picture.node(node, label=_escape(labels[variable]), **attributes)
    between = _EXPLAINED_ARC if evidence else _FEATURE_ARC
    arcs = {(parent, variable): None for variable, *parents in model.families for parent in parents}
    for parent, variable in arcs:
        style = _CLASS_ARC if parent == model.class_var else between
        if (variable, parent) not in arcs:
            picture.edge(number[parent], number[variable], **style)
        elif int(number[parent]) < int(number[variable]):  # two opposite arcs are one with two heads
            picture.edge(number[parent], number[variable], dir="both", **style)
    return picture


def _escape(text: str) -> str:
    """Write text so that Graphviz draws it as it is, line by line."""
    return graphviz.nohtml("\\n".join(graphviz.escape(line) for line in text.split("\n")))


def _caption(evidence: Evidence) -> str:
    total = signed(float(evidence.log_odds.sum()))
    return _escape(
        f"log odds of {evidence.target} against {evidence.rival}: {total}\n"
        f"blue speaks for {evidence.target}, orange against it"
    )


def _explained(evidence: Evidence) -> tuple[dict[Hashable, str], dict[Hashable, dict[str, str]]]:
    """Return the label of each variable, and the style of each feature by what it adds."""
    weights = dict(zip(evidence.known, evidence.log_odds.tolist(), strict=True))
    labels = {v: f"{describe(v, value)}\n{signed(weights[v])}" for v, value in evidence.known.items()}
    class_var, *features = evidence.known
    labels[class_var] = (
        f"{class_var} = {evidence.target}: {evidence.posterior:.2f}\nprior {signed(weights[class_var])}"
    )
    largest = max((abs(weights[v]) for v in features if abs(weights[v]) < inf), default=0.0) or 1.0
    styles = {v: _style(max(-1.25, min(weights[v] / largest, 1.25))) for v in features}
    for v in features:
        if is_missing(evidence.known[v]):
            styles[v] = {"style": "rounded,dashed"}
    return labels, styles


def _style(strength: float) -> dict[str, str]:
    """Colour a node by how strongly it speaks for the target, up to 1, or against it, down to −1.

    What is infinite has 1.25, the full colour.
    """
    colour = blend(BLUE if strength > 0 else ORANGE, 0.8 * abs(strength))
    return {"style": "rounded,filled", "fillcolor": colour, "fontcolor": ink(colour)}
