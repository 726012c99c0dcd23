"""Describe each page for search engines, and for the cards that messengers show for links."""

from __future__ import annotations

import html
import textwrap

from docutils import nodes
from sphinx.application import Sphinx

# Number of characters of a description that search engines show.
WIDTH = 200


def first_paragraph(document: nodes.document) -> str:
    """Return the text of the first paragraph that is not in a list or table."""
    for paragraph in document.findall(nodes.paragraph):
        inner = type(paragraph) is not nodes.paragraph or isinstance(
            paragraph.parent, nodes.list_item | nodes.entry
        )
        if not inner and (text := paragraph.astext().strip()):
            return textwrap.shorten(text, WIDTH, placeholder=" …")
    return ""


def describe(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, str],
    document: nodes.document | None,
) -> None:
    """Add the title and the first paragraph of a page to its head."""
    if document is None:
        return
    title = document.next_node(nodes.title)
    values = {
        ("property", "og:title"): title.astext() if title else app.config.project,
        ("property", "og:type"): "website"
        if page == app.config.root_doc
        else "article",
        ("property", "og:site_name"): app.config.project,
        ("name", "twitter:card"): "summary",
    }
    if text := first_paragraph(document):
        values["name", "description"] = values["property", "og:description"] = text
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n<meta {key}="{name}" content="{html.escape(value)}">'
        for (key, name), value in values.items()
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
