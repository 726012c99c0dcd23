"""Mend what tools write that HTML does not have: tables in paragraphs, paragraphs in summaries, old attributes."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

# Data frames bring a style sheet each, which HTML has in the head only; `site.css` has the like.
OLD = [
    (r"<style scoped>.*?</style>\n?", ""),
    (r'<table border="1"', "<table"),
    (r' valign="top"', ""),
    (r'<p class="(collapsed|expanded) admonition-title">(.*?)</p>', r'<span class="\1">\2</span>'),
]


def unwrap_tables(app: Sphinx, document: nodes.document, name: str) -> None:
    """Take tables of the pages that use a function out of the paragraph they are put in."""
    for table in list(document.findall(nodes.table)):
        if isinstance(table.parent, nodes.paragraph):
            table.parent.replace_self(table)


def mend(app: Sphinx, page: str, template: str, context: dict[str, str], document: nodes.document) -> None:
    """Write what is old-fashioned as HTML has it now."""
    for old, new in OLD:
        context["body"] = re.sub(old, new, context.get("body", ""), flags=re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it, after those who write such things."""
    app.connect("doctree-resolved", unwrap_tables, priority=900)
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
