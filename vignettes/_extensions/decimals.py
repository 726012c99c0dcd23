"""Compare the decimals in the text of pages with the outputs of their code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

DERIVED = {
    "start": "0.3 0.69",
    "accuracy": "0.693",
    "case_credit": "0.25 0.364",
    "case_medical": "0.125 0.667",
    "coming_from_sklearn": "",
    "compare": "0.031 0.31 0.05",
    "deploying": "",
    "faq": "",
    "judging": "0.28 1.5",
    "overview": "0.01",
}
"""Pages whose decimals are compared, and those that follow from outputs or were measured elsewhere."""


def unfounded(page: str, text: str, output: str) -> list[str]:
    """Return the decimals of a text, also of percentages, that no number rounds to."""
    numbers = [abs(float(n)) for n in re.findall(r"\d+\.?\d*(?:e-?\d+)?", output)]
    numbers += [1 - n for n in numbers if n < 1]
    found = set()
    for match in re.finditer(r"(?<![\w.])(\d+\.(\d+))( %)?", text):
        allowed = [(float(match[1]), len(match[2]))]
        allowed += [(float(match[1]) / 100, len(match[2]) + 2)] if match[3] else []
        near = (
            abs(n - value) <= 0.5 * 10**-d + 1e-9
            for value, d in allowed
            for n in numbers
        )
        if not any(near):
            found.add(match[1])
    return sorted(found - {*DERIVED.get(page, "").split()})


def outputs_of(cell: NotebookNode) -> list[str]:
    """Return what a cell printed and the values that it showed, as text."""
    return [
        each["text"]
        if "text" in each
        else each.get("data", {}).get("text/plain", "")
        for each in cell.get("outputs", ())
    ]


def warn_of_decimals(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each decimal that the outputs of its page do not contain."""
    import percent
    from jupyter_cache import get_cache
    from sphinx.util.logging import getLogger

    cache = get_cache(app.config.nb_execution_cache_path)
    for page in DERIVED:
        path = Path(env.doc2path(page))
        notebook = percent.read(path.read_text(encoding="utf-8"))
        _, executed = cache.merge_match_into_notebook(notebook)
        text = [
            cell.source for cell in executed.cells if cell.cell_type == "markdown"
        ]
        code = [cell for cell in executed.cells if cell.cell_type == "code"]
        known = [part for cell in code for part in (cell.source, *outputs_of(cell))]
        for decimal in unfounded(page, "\n".join(text), "\n".join(known)):
            getLogger(__name__).warning(
                "no output contains %s", decimal, location=page
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("env-check-consistency", warn_of_decimals)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
