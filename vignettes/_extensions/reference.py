"""Arrange the pages of the reference: a page of the guide and examples first, and parameters without links."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path

import bnclassify
from bnclassify import sklearn
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

FOLDER = "reference/functions/"
FIELD = re.compile(
    r":(Parameters|Returns|Attributes|Raises|Warns|Yields):|\.\. (rubric|seealso)::"
)
EXAMPLES = ".. rubric:: Examples"
GUIDE = Path(__file__).parents[1] / "reference" / "guide.toml"
PAGES = {
    name: page
    for page, names in tomllib.loads(GUIDE.read_text(encoding="utf-8")).items()
    for name in names.split()
}


def put_examples_first(
    app: Sphinx,
    what: str,
    path: str,
    documented: object,
    options: object,
    lines: list[str],
) -> None:
    """Move the examples, with their picture, before the parameters."""
    first = next((i for i, line in enumerate(lines) if FIELD.match(line)), None)
    start = lines.index(EXAMPLES) if EXAMPLES in lines else None
    if first is None or start is None or start <= first:
        return
    end = next(
        (i for i in range(start + 1, len(lines)) if FIELD.match(lines[i])),
        len(lines),
    )
    block = [*lines[start:end], ""]
    lines[:] = [*lines[:first], *block, *lines[first:start], *lines[end:]]


def name_guide(
    app: Sphinx,
    what: str,
    path: str,
    documented: object,
    options: object,
    lines: list[str],
) -> None:
    """Name the page of the guide that uses a function, below its first sentence."""
    name = path.rpartition(".")[2]
    if what in ("function", "class") and name in PAGES:
        start = next(i for i, line in enumerate(lines) if line)
        end = lines.index("", start) if "" in lines[start:] else len(lines)
        lines[end:end] = ["", f"Read more in :doc:`/{PAGES[name]}`."]


class ParametersWithoutLinks(SphinxPostTransform):
    """On the page of a function, do not link its parameters to functions of the same name."""

    default_priority = 4  # before references are resolved

    def run(self, **kwargs: object) -> None:
        """Replace references to names of parameters by their text."""
        page = self.env.docname
        if not page.startswith(FOLDER):
            return
        name = page.removeprefix(FOLDER).rpartition(".")[2].removesuffix("_class")
        places = (bnclassify, bnclassify.models, sklearn)
        documented = next(
            filter(None, [getattr(place, name, None) for place in places])
        )
        parameters = inspect.signature(documented).parameters
        for reference in list(self.document.findall(pending_xref)):
            target = reference["reftarget"].rpartition(".")[2]
            if reference.get("reftype") == "obj" and target in parameters:
                reference.replace_self(nodes.literal(text=reference.astext()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", put_examples_first, priority=950)
    app.connect("autodoc-process-docstring", name_guide, priority=960)
    app.add_post_transform(ParametersWithoutLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
