"""Offer each page that is a script as a script and as a notebook, both without links to other pages."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import nbformat
from docutils import nodes
from sphinx.application import Sphinx

FOLDER = "_downloads"
LINK = re.compile(
    r"\[([^\[\]]+)\]\((?!https?:)(?:[\w/]+\.(?:py|md))?(?:#[\w-]+)?\)"
)


INDEX = re.compile(r"# ```\{index\} .+\n# ```\n#?\n?")


def plain(text: str) -> str:
    """Replace links to pages of the site by their text, and remove index entries and notes to linters."""
    text = INDEX.sub("", text)
    text = LINK.sub(r"\1", text)
    return re.sub(r" +# noqa\b.*$", "", text, flags=re.MULTILINE)


def notebook(text: str) -> str:
    """Return a script in cells as a notebook; equal scripts give equal notebooks."""
    read = jupytext.reads(text, "py:percent")
    read.metadata = {
        "kernelspec": {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
    }
    for number, cell in enumerate(read.cells):
        cell["id"] = f"cell-{number}"
    return str(nbformat.writes(read))


def write_downloads(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, object],
    document: nodes.document | None,
) -> None:
    """Write both files, and name them for the template."""
    if document is None:
        return
    source = Path(app.env.doc2path(page))
    if source.suffix != ".py" or page == app.config.root_doc:
        return
    text = plain(source.read_text(encoding="utf-8"))
    if "__file__" in text:  # which reads data of the repository
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    (folder / f"{page}.py").write_text(text, encoding="utf-8")
    (folder / f"{page}.ipynb").write_text(notebook(text), encoding="utf-8")
    context["downloads"] = [
        ("script", f"{FOLDER}/{page}.py"),
        ("notebook", f"{FOLDER}/{page}.ipynb"),
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
