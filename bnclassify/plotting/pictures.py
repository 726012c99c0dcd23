"""Pictures by Graphviz, or by graphviz-pure where Graphviz is not installed."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import graphviz

Name: TypeAlias = "str | PathLike[str] | None"

_NO_PROGRAM = (
    "Drawing requires the program dot of Graphviz, which is not installed. Run pip install "
    "'pybnclassify[plot]', or install Graphviz, for example with apt install graphviz."
)


class Picture(graphviz.Digraph):
    """A `graphviz.Digraph` that ``graphviz-pure`` of the extra ``plot`` draws if ``dot`` is not installed.

    Without both, ``render``, ``view`` and ``pipe`` raise a RuntimeError, and a notebook shows its text.
    """

    def __repr__(self) -> str:
        return (
            "Picture: a notebook shows it; elsewhere .view() opens it, and "
            '.render(outfile="network.svg", cleanup=True) writes it to a file'
        )

    def pipe(self, *args: Any, **kwargs: Any) -> Any:
        """Return the drawing as bytes, or text with ``encoding=``; see `graphviz.Digraph.pipe`."""
        return super().pipe(*args, **kwargs) if _has_dot() else self._draw(*args, **kwargs)

    def render(self, *args: Any, **kwargs: Any) -> str:
        """Write source and drawing to files; see `graphviz.Digraph.render`."""
        return super().render(*args, **kwargs) if _has_dot() else self._write(*args, **kwargs)

    def view(self, filename: Name = None, directory: Name = None, **kwargs: Any) -> str:
        """Open the drawing in a viewer; by default, its files are in a temporary folder."""
        if filename is None and directory is None:
            directory = tempfile.mkdtemp(prefix="bnclassify-")
        return str(super().view(filename, directory=directory, **kwargs))

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if not _has_dot() and _find_substitute() is None:
            return {"text/plain": _NO_PROGRAM}
        return super()._repr_mimebundle_(*args, **kwargs)

    def _draw(
        self,
        format: str | None = None,
        *,
        engine: str | None = None,
        encoding: str | None = None,
        quiet: bool = False,
    ) -> Any:
        """Draw without dot; the text on standard error is shown only if drawing fails."""
        program = _find_substitute()
        if program is None:
            raise RuntimeError(_NO_PROGRAM)
        kind = format or self.format
        command = [program, f"-K{engine or self.engine}", f"-T{kind}"]
        ran = subprocess.run(command, input=self.source.encode(), capture_output=True, check=False)
        if ran.returncode:
            raise RuntimeError(
                f"graphviz-pure did not draw the picture as {kind!r}: {ran.stderr.decode().strip()}. It "
                "writes svg and png; install Graphviz for other formats."
            )
        return ran.stdout if encoding is None else ran.stdout.decode(encoding)

    def _write(
        self,
        filename: Name = None,
        directory: Name = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        quiet: bool = False,
        quiet_view: bool = False,
        *,
        outfile: Name = None,
        engine: str | None = None,
    ) -> str:
        """Write the files of `graphviz.Digraph.render` without dot."""
        named = None if outfile is None else Path(self.directory if directory is None else "", outfile)
        kind = format or (named.suffix[1:] if named else "") or self.format
        drawing = self._draw(kind, engine=engine)
        if named and filename is None:
            filename = named.with_suffix(".gv")
        source = Path(self.save(filename, directory=directory))
        drawn = named or source.with_name(f"{source.name}.{kind}")
        drawn.write_bytes(drawing)
        if cleanup:
            source.unlink()
        if view or quiet_view:
            graphviz.view(str(drawn), quiet=quiet_view)
        return str(drawn)


def _has_dot() -> bool:
    return shutil.which("dot") is not None


def _find_substitute() -> str | None:
    """Find graphviz-pure on the path or beside this Python."""
    scripts = sysconfig.get_path("scripts")
    return shutil.which("graphviz-pure") or shutil.which("graphviz-pure", path=scripts)
