"""Show on the pages of functions the picture that their example draws, or the structure that it shows."""

from __future__ import annotations

import inspect
import os
from contextlib import redirect_stdout
from doctest import DocTestParser
from pathlib import Path
from typing import Any

import bnclassify
from sphinx.application import Sphinx

FOLDER = "reference/functions"


def run_example(documented: object) -> tuple[dict[str, Any], list[Any]]:
    """Run the example of a docstring; return its names, and the structures whose model string it shows."""
    names: dict[str, Any] = {}
    structures: list[Any] = []

    def keep(x: Any) -> None:
        structures.append(x)

    text = inspect.getdoc(documented) or ""
    for example in DocTestParser().get_doctest(text, {}, "", "", 0).examples:
        if "modelstring" in names:
            names["modelstring"] = keep
        exec(example.source, names)
    return names, structures


def draw_pictures(app: Sphinx) -> None:
    """Write the last picture that the example of a function draws, or the structure that it shows."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in bnclassify.__all__:
        documented = getattr(bnclassify, name)
        is_chart = name.startswith("plot")
        if not is_chart and " modelstring(" not in (
            inspect.getdoc(documented) or ""
        ):
            continue
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            names, structures = run_example(documented)
        if name == "plot":
            picture = bnclassify.plot(names["model"], row=names["car"].iloc[-1])
            picture.render(outfile=folder / "plot.svg", cleanup=True)
        elif is_chart:
            plt.gcf().savefig(folder / f"{name}.svg", bbox_inches="tight")
            plt.close("all")
        elif structures:
            picture = bnclassify.plot(structures[-1])
            picture.render(outfile=folder / f"{name}.svg", cleanup=True)


def add_picture(
    app: Sphinx,
    what: str,
    path: str,
    documented: object,
    options: object,
    lines: list[str],
) -> None:
    """Add the picture at the end of the docstring, under its example."""
    name = path.rpartition(".")[2]
    if what == "function" and Path(app.srcdir, FOLDER, f"{name}.svg").exists():
        summary = (inspect.getdoc(documented) or "").split("\n")[0]
        file = f"/{FOLDER}/{name}.svg"
        lines += [
            "",
            f".. image:: {file}",
            f"   :alt: Result of the example. {summary}",
            "",
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw the pictures before the pages are read."""
    app.connect("builder-inited", draw_pictures)
    app.connect(
        "autodoc-process-docstring", add_picture, priority=900
    )  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
