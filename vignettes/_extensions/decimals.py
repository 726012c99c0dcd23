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
    "start": "6.1 0.69 1.82 0.931 0.971",
    "accuracy": "0.693 0.06 0.0395 0.0398 0.0403 0.0417 0.0427 0.0428 0.0435 0.0468 0.0846 "
    "0.1859 0.1866 0.1868 0.1880 0.1885 0.1896 0.1900 0.1903 0.1930 0.1976 0.4252 0.4260 "
    "0.4280 0.4310 0.4311 0.4333 0.4354 0.4504 0.4557 0.4875",
    "arguments": "0.018",
    "case_credit": "0.364",
    "case_medical": "0.125 0.667",
    "coming_from_sklearn": "",
    "compare": "",
    "deploying": "",
    "faq": "",
    "judging": "0.28 1.5",
    "overview": "0.001 0.032 0.055 0.089 0.092 0.183 0.402 0.412 0.443 0.112 0.194 "
    "0.084 0.240 0.255 0.257 0.278 0.201 0.182 0.294 0.478 0.485 0.501 "
    "0.512 0.527 0.618 0.624 1.149 0.01",
    "pitfalls": "",
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
