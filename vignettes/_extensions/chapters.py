"""Write the chapters of the reference: one page for each task in the table of `reference/index.md`."""

from __future__ import annotations

import re
from pathlib import Path

import bnclassify
from sphinx.application import Sphinx
from sphinx.config import Config

PAGE = """# {title}

{table}
```{{eval-rst}}
.. currentmodule:: {module}

.. autosummary::
   :toctree: functions

   {names}
```
"""
ESTIMATORS = [
    "BNCClassifier",
    "BNCMultiClassifier",
    "MDLPDiscretizer",
    "RareLevelMerger",
]
TABLE = "## Functions by task"
CLASSES = "bnclassify.models" if hasattr(bnclassify, "models") else "bnclassify"


def public() -> dict[str, object]:
    """Return the functions and classes with pages, besides estimators, by name."""
    found = {name: getattr(bnclassify, name) for name in bnclassify.__all__}
    models = getattr(bnclassify, "models", None)
    return found | {
        name: getattr(models, name) for name in getattr(models, "__all__", ())
    }


def read_tasks(text: str) -> dict[str, list[list[str]]]:
    """Return the rows of the table by task: what to do, the calls, and whether the default does it."""
    tasks: dict[str, list[list[str]]] = {}
    for line in text.partition(TABLE)[2].splitlines():
        cells = [cell.strip() for cell in line.split(" |")]
        if title := re.fullmatch(r"\| \*\*(.+)\*\*", cells[0]):
            rows = tasks.setdefault(title[1].capitalize(), [])
        elif tasks and line.startswith("| "):
            rows.append([cells[0].removeprefix("| "), cells[1], cells[-2]])
    return tasks


def task_of(name: str, tasks: dict[str, list[list[str]]]) -> str:
    """Return the task that mentions a function most often; charts are drawn, even to explain."""
    if name.startswith("plot"):
        return "Draw"
    calls = rf"\b{name}\(|`{name}`"
    return max(
        tasks,
        key=lambda task: sum(len(re.findall(calls, row[1])) for row in tasks[task]),
    )


def write_pages(app: Sphinx, config: Config) -> None:
    """Write a page for each task, and for the estimators and the other classes."""
    folder = Path(app.srcdir) / "reference"
    tasks = read_tasks((folder / "index.md").read_text(encoding="utf-8"))
    chapters: dict[str, list[str]] = {task: [] for task in tasks}
    chapters |= {"Estimators for scikit-learn": ESTIMATORS, "Classes": []}
    for name, documented in public().items():
        chapters[
            "Classes" if isinstance(documented, type) else task_of(name, tasks)
        ].append(name)
    for title, names in chapters.items():
        rows = [f"| {' | '.join(row)} |" for row in tasks.get(title, [])]
        module = "bnclassify.sklearn" if names is ESTIMATORS else "bnclassify"
        page = PAGE.format(
            title=title,
            table="\n".join(
                ["| task | call | default |", "|---|---|---|", *rows, ""]
            )
            if rows
            else "",
            module=CLASSES if title == "Classes" else module,
            names="\n   ".join(names),
        )
        file = folder / f"{title.lower().replace(' ', '_')}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != page:
            file.write_text(page, encoding="utf-8")


def split_table(app: Sphinx, name: str, content: list[str]) -> None:
    """Leave out the table where its parts are pages of the site."""
    if name == "reference/index":
        content[0] = content[0].partition(TABLE)[0]


def setup(app: Sphinx) -> dict[str, bool]:
    """Write them before the pages are looked for."""
    app.connect("config-inited", write_pages)
    app.connect("source-read", split_table)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
