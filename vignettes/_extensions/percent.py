"""Read scripts in cells as notebooks, and link public names in code to the reference."""

from __future__ import annotations

import ast
import html
import re
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import jupytext
from chapters import public
from docutils import nodes
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

# Number of characters of a line of code.
WIDTH = 84

# Where the reference has each public name.
PLACES = public()

# Pictures of more points than this are too wide for a telephone.
WIDE = 600

# Networks of more points would have labels of less than 9 pixels on a page; they scroll.
LARGE = 980
SMALLEST = 0.75  # pixels per point

# Setup of a page: figures are shown when they are drawn. Printed tables scroll, so they are not split into
# parts. Printed text is sent once per cell, because lines would break where it is split.
SETUP = """%matplotlib inline
%config InlineBackend.figure_formats = ["svg"]
__import__("pandas").set_option("display.width", 250)
__import__("sys").stdout.flush_interval = 3600"""


def read(text: str) -> NotebookNode:
    """Read a script in cells, with imports on few lines and without notes to linters."""
    notebook = jupytext.reads(text, "py:percent")
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    cells = [new_code_cell(SETUP, metadata={"tags": ["remove-cell"]})]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            source = re.sub(r" +# noqa\b.*$", "", cell.source, flags=re.MULTILINE)
            removed = "remove-input" in cell.metadata.get("tags", [])
            cell.source = source if removed else show_imports(source)
        if cell.source.strip():
            cells.append(cell)
    notebook.cells = cells
    return notebook


def show_imports(source: str) -> str:
    """Write the imports that a cell starts with on few lines, and without what is done if they fail."""
    imports, last = [], 0
    for statement in ast.parse(source).body:
        tried = statement.body if isinstance(statement, ast.Try) else [statement]
        if not all(isinstance(each, ast.Import | ast.ImportFrom) for each in tried):
            break
        imports += [written(each) for each in tried]
        last = statement.end_lineno or 0
    return "\n".join([*imports, *source.splitlines()[last:]])


def written(statement: ast.stmt) -> str:
    """Return an import on one line, or on a few lines in parentheses."""
    line = ast.unparse(statement)
    if len(line) <= WIDTH:
        return line
    start, names = line.split(" import ")
    lines = textwrap.wrap(names, WIDTH - 4)
    return f"{start} import (\n    " + "\n    ".join(lines) + ",\n)"


class LinkNames(SphinxPostTransform):
    """Make a link to the reference of every `name` in code that the package exports, and `name(...)`."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs: object) -> None:
        """Wrap them in references."""
        for literal in list(self.document.findall(nodes.literal)):
            name = re.match(r"(\w+)(\(.*\))?$", literal.astext())
            if name is None or name[1] not in PLACES or within_link(literal):
                continue
            target = PLACES[name[1]]
            reference = pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=target,
                refdoc=self.env.docname,
                refexplicit=True,
            )
            literal.replace_self(reference)
            reference += literal


def within_link(node: nodes.Node) -> bool:
    """Return whether a node lies at any depth within a link, where HTML allows no other link."""
    parent = node.parent
    while parent is not None and not isinstance(
        parent, nodes.reference | pending_xref
    ):
        parent = parent.parent
    return parent is not None


def find_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Element
) -> nodes.Element | None:
    """Resolve public names in docstrings; other names in backticks are arguments."""
    if node["reftarget"] not in PLACES:
        is_argument = node["reftype"] == "obj" and re.fullmatch(
            r"[a-zA-Z_]\w*", node["reftarget"]
        )
        return text if is_argument else None
    target = PLACES[node["reftarget"]]
    return env.domains["py"].resolve_xref(
        env, node["refdoc"], app.builder, "obj", target, node, text
    )


class TidyOutputs(SphinxPostTransform):
    """Remove the text of axes that charts return, and describe pictures."""

    default_priority = 6

    def run(self, **kwargs: object) -> None:
        """Remove the text of axes, and describe pictures."""
        for block in list(self.document.findall(nodes.literal_block)):
            if re.match(r"<(Axes|Figure|Text)\b|array\(\[<Axes", block.astext()):
                block.parent.remove(block)
        for image in self.document.findall(nodes.image):
            file = Path(self.env.srcdir, image["uri"])
            if file.suffix == ".svg" and file.exists():
                svg = file.read_text(encoding="utf-8")
                image["alt"] = image.get("alt") or description_of(svg)
                width = width_of(svg)
                if width > WIDE:
                    image["classes"].append("wide")
                if 'class="graph"' in svg and width > LARGE:
                    image["width"] = f"{SMALLEST * width:.0f}px"


def width_of(svg: str) -> float:
    """Return the width of a picture in points."""
    width = re.search(r'<svg width="([\d.]+)pt"', svg)
    return float(width[1]) if width else 0.0


def description_of(svg: str) -> str:
    """Describe a picture: the arcs of a network, or the texts of a chart."""
    if 'class="graph"' not in svg:
        return description_of_chart(svg)
    text = r"<text[^>]*>([^<]+)</text>"
    nodes = {
        number: " ".join(re.findall(text, rest))
        for number, rest in re.findall(
            r'class="node">\s*<title>(.+?)</title>(.*?)</g>\s*(?=<!--|</g>)',
            svg,
            re.S,
        )
    }
    arcs: dict[str, list[str]] = {}
    for tail, head in re.findall(r"<title>(\d+)&#45;&gt;(\d+)</title>", svg):
        arcs.setdefault(nodes[tail], []).append(nodes[head])
    listed = [
        f"{tail} → {', '.join(to) if len(to) < len(nodes) - 1 else 'all others'}"
        for tail, to in arcs.items()
    ]
    caption = re.findall(text, svg.split('class="node"')[0])[:1]
    parts = ["Network", *caption, f"Arcs: {'; '.join(listed) or 'none'}"]
    return html.unescape(". ".join(parts))[:800]


def description_of_chart(svg: str) -> str:
    """Describe a chart by its title, axes with values, and legend, from comments."""
    found: dict[str, list[str]] = {}
    parser = ElementTree.XMLParser(
        target=ElementTree.TreeBuilder(insert_comments=True)
    )
    for frame in ElementTree.fromstring(svg, parser).iter():
        if not re.match("(axes|figure)_", frame.get("id", "")):
            continue
        for part in frame:
            axis = part.get("id", "").startswith("matplotlib.axis")
            for piece in part if axis else [part]:
                words = [str(note.text) for note in piece.iter(ElementTree.Comment)]
                kind = part.get("id", "")[-1:] * axis + re.sub(
                    r"_\d+$", "", piece.get("id", "")
                )
                found.setdefault(kind, []).append(" ".join(" ".join(words).split()))
    *values, title = found.get("text") or [""]
    rows = [row for row in found.get("2ytick", []) if re.search(r"[^\W\d]", row)]
    if len(values) == len(rows):
        rows = [f"{row}: {value}" for row, value in zip(rows, values, strict=True)]
    else:
        rows += values
    parts = [*found.get("1text", []), *found.get("2text", []), "; ".join(rows)]
    parts = ["Chart", title, *parts, *found.get("legend", [])]
    return html.unescape(". ".join(filter(None, parts)))[:800]


def spread_pages(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Put pages with code between the others, so that all processes run some of them.

    Each process reads documents that are next to each other. The first and
    last names come first, because these pages take longest.
    """
    pages = [name for name in docnames if env.doc2path(name).suffix == ".py"]
    others = [name for name in docnames if name not in pages]
    ends = [name for pair in zip(pages, pages[::-1], strict=True) for name in pair]
    places = {
        name: (k + 0.5) / len(names)
        for names in (list(dict.fromkeys(ends)), others)
        for k, name in enumerate(names)
    }
    docnames.sort(key=places.__getitem__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("env-before-read-docs", spread_pages)
    app.connect("missing-reference", find_name)
    app.add_post_transform(LinkNames)
    app.add_post_transform(TidyOutputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
