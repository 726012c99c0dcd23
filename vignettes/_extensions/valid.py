"""Correct the HTML that tools write: tables in paragraphs, paragraphs in summaries, obsolete attributes."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

# Each DataFrame has a style sheet, which HTML allows only in the head; `site.css` has similar rules.
OLD = [
    (r"<style scoped>.*?</style>\n?", ""),
    (r'<table border="1"', "<table"),
    (r' valign="top"', ""),
    (
        r'<p class="(collapsed|expanded) admonition-title">(.*?)</p>',
        r'<span class="\1">\2</span>',
    ),
]


def mend(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, str],
    document: nodes.document,
) -> None:
    """Replace obsolete HTML."""
    for old, new in OLD:
        context["body"] = re.sub(old, new, context.get("body", ""), flags=re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension after those that write such HTML."""
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
