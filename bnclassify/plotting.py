"""Pictures of structures, drawn by Graphviz."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from numbers import Real
from pathlib import Path
from typing import Any

import graphviz
from graphviz.backend import dot_command

from .graph import layers
from .model import BNC, Model, augmenting_parents, check_single

_CLASS_NODE = {"style": "filled", "fillcolor": "#1f4e79", "color": "#1f4e79", "fontcolor": "white"}
_CLASS_ARC = {"color": "#c3cbd3", "penwidth": "0.7", "arrowsize": "0.5"}
_FEATURE_ARC = {"color": "#b3470f", "penwidth": "1.6", "arrowsize": "0.8", "weight": "8"}

_MOST_ABREAST = 8

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
    usual, dot_command.DOT_BINARY = dot_command.DOT_BINARY, program
    try:
        yield
    finally:
        dot_command.DOT_BINARY = usual


def _direction(x: BNC) -> str:
    """Draw downwards, or to the right where a layer has more names than fit side by side."""
    widest = max(map(len, layers(augmenting_parents(x))), default=0)
    return "LR" if widest > _MOST_ABREAST else "TB"


def plot(
    x: Model, *, engine: str = "dot", fontsize: float | None = None, format: str = "svg"
) -> graphviz.Digraph:
    """Draw the structure: the class dark, its arcs pale, arcs between features strong.

    Parameters
    ----------
    x : BNC
        A model, with or without parameters.
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
        If the engine or format is unknown, or ``fontsize`` is not positive.

    Examples
    --------
    >>> from bnclassify import load_car, plot, tan_cl
    >>> print(plot(tan_cl("class", load_car(), score="bic"), fontsize=11).source[:9])
    digraph {
    """
    model = check_single(x, "plot")
    if engine not in graphviz.ENGINES:
        raise ValueError(f"engine: expected one of {', '.join(sorted(graphviz.ENGINES))}, got {engine!r}")
    if format not in graphviz.FORMATS:
        raise ValueError(f"format: expected svg, png, pdf or another that Graphviz writes, got {format!r}")
    if fontsize is not None and not (isinstance(fontsize, Real) and 0 < fontsize < inf):
        raise ValueError(f"fontsize: expected a positive number of points, got {fontsize!r}")
    picture = Picture(
        engine=engine,
        format=format,
        graph_attr={
            "rankdir": _direction(model), "nodesep": "0.15", "overlap": "false", "splines": "true",
        },
        node_attr={
            "shape": "box", "style": "rounded", "color": "#7f8b97", "fontname": "Helvetica",
            "margin": "0.1,0.04", "height": "0.3",
            **({"fontsize": str(fontsize)} if fontsize is not None else {}),
        },
    )  # fmt: skip
    # Nodes go by number, so that any label is safe: odd signs, or 1 beside "1".
    number = {family[0]: str(i) for i, family in enumerate(model.families)}
    for variable, node in number.items():
        attributes = _CLASS_NODE if variable == model.class_var else {}
        picture.node(node, label=graphviz.escape(str(variable)), **attributes)
    for variable, *parents in model.families:
        for parent in parents:
            style = _CLASS_ARC if parent == model.class_var else _FEATURE_ARC
            picture.edge(number[parent], number[variable], **style)
    return picture
