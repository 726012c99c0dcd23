"""Write the chapters of the reference: one page for each task in the table of `reference/index.md`."""

from __future__ import annotations

import re
from pathlib import Path

import bnclassify
from bnclassify import sklearn
from sphinx.application import Sphinx
from sphinx.config import Config

PAGE = """# {title}

{table}
```{{eval-rst}}
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
TABLE, TYPES = "## Functions by task", "## Types"


def public() -> dict[str, str]:
    """Return the places of the functions and classes with pages, by name."""
    modules = (bnclassify.models, bnclassify, sklearn)
    return {
        name: f"{module.__name__}.{name}"
        for module in modules
        for name in (ESTIMATORS if module is sklearn else module.__all__)
    }


def read_tasks(text: str) -> dict[str, list[list[str]]]:
    """Return the rows of the table by task: what to do, the calls, and whether the default does it."""
    tasks: dict[str, list[list[str]]] = {}
    for line in text.partition(TABLE)[2].partition(TYPES)[0].splitlines():
        cells = [cell.strip() for cell in line.split(" |")]
        if title := re.fullmatch(r"\| \*\*(.+)\*\*", cells[0]):
            rows = tasks.setdefault(title[1][0].upper() + title[1][1:], [])
        elif tasks and line.startswith("| "):
            rows.append([cells[0].removeprefix("| "), cells[1], cells[-2]])
    return tasks


def task_of(name: str, tasks: dict[str, list[list[str]]]) -> str:
    """Return the task that mentions a function most often; charts are drawn, even to explain.

    The functions of a complete job are those of the first task.
    """
    if name in bnclassify._COMPLETE_JOB:
        return next(iter(tasks))
    if name.startswith("plot"):
        return "Draw"
    calls = rf"\b{name}\(|`{name}`"
    return max(
        tasks,
        key=lambda task: sum(len(re.findall(calls, row[1])) for row in tasks[task]),
    )


def place_of(name: str) -> tuple[int, str]:
    """Return a key that sorts a complete job by the order of work, and other names by the alphabet."""
    job = bnclassify._COMPLETE_JOB
    return job.index(name) if name in job else len(job), name.lower()


def write_pages(app: Sphinx, config: Config) -> None:
    """Write a page for each task, for the estimators, and for the types."""
    folder = Path(app.srcdir) / "reference"
    text = (folder / "index.md").read_text(encoding="utf-8")
    tasks = read_tasks(text)
    chapters: dict[str, list[str]] = {task: [] for task in tasks}
    chapters |= {"Estimators for scikit-learn": ESTIMATORS, "Types": []}
    for name in {*public()} - {*ESTIMATORS}:
        is_class = isinstance(getattr(bnclassify, name, None), type | None)
        chapters["Types" if is_class else task_of(name, tasks)].append(name)
    for title, names in chapters.items():
        rows = [f"| {' | '.join(row)} |" for row in tasks.get(title, [])]
        table = ["| task | call | default |", "|---|---|---|", *rows, ""]
        page = PAGE.format(
            title=title,
            table="\n".join(
                table if rows else [text.partition(TYPES)[2]] * (title == "Types")
            ),
            names="\n   ".join(
                f"~{public()[name]}" for name in sorted(names, key=place_of)
            ),
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
