"""Pictures drawn by Graphviz or, without its programs, by graphviz-pure."""

from __future__ import annotations

import shutil
import sysconfig
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import graphviz
from graphviz.backend import dot_command

Name: TypeAlias = "str | PathLike[str] | None"

_NO_PROGRAM = (
    "Drawing requires the program dot of Graphviz, which is not installed. Run pip install "
    "graphviz-pure, or install Graphviz, for example with apt install graphviz."
)


class Picture(graphviz.Digraph):
    """A `graphviz.Digraph` that, without ``dot``, ``graphviz-pure`` draws or an error explains."""

    def __repr__(self) -> str:
        return (
            "Picture: a notebook shows it; elsewhere .view() opens it, and "
            '.render(outfile="network.svg", cleanup=True) writes it to a file'
        )

    def pipe(self, *args: Any, **kwargs: Any) -> Any:
        """Return the drawing as bytes, or text with ``encoding=``; see `graphviz.Digraph.pipe`."""
        return _run_graphviz(super().pipe, *args, **kwargs)

    def render(self, *args: Any, **kwargs: Any) -> str:
        """Write source and drawing to files; see `graphviz.Digraph.render`."""
        return str(_run_graphviz(super().render, *args, **kwargs))

    def view(self, filename: Name = None, directory: Name = None, **kwargs: Any) -> str:
        """Open the drawing in a viewer; by default, its files are in a temporary folder."""
        if filename is None and directory is None:
            directory = tempfile.mkdtemp(prefix="bnclassify-")
        return str(super().view(filename, directory=directory, **kwargs))

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if not _has_dot() and _path_of_graphviz_pure() is None:
            return {"text/plain": _NO_PROGRAM}
        return dict(super()._repr_mimebundle_(*args, **kwargs))


def _run_graphviz(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method of graphviz, which runs graphviz-pure where dot is not installed."""
    if _has_dot():
        return draw(*args, **kwargs)
    program = _path_of_graphviz_pure()
    if program is None:
        raise RuntimeError(_NO_PROGRAM)
    dot, dot_command.DOT_BINARY = dot_command.DOT_BINARY, Path(program)
    try:
        return draw(*args, **{"quiet": True, **kwargs})
    except graphviz.CalledProcessError as error:
        raise RuntimeError(
            f"graphviz-pure did not draw the picture: {error}. It writes svg and png; install "
            "Graphviz for other formats."
        ) from error
    finally:
        dot_command.DOT_BINARY = dot


def _has_dot() -> bool:
    return shutil.which("dot") is not None


def _path_of_graphviz_pure() -> str | None:
    """Find graphviz-pure on the path or beside this Python."""
    scripts = sysconfig.get_path("scripts")
    return shutil.which("graphviz-pure") or shutil.which("graphviz-pure", path=scripts)
