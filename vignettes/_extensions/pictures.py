"""Show on the page of each plotting function the picture that its example draws."""

from __future__ import annotations

import inspect
import os
from contextlib import redirect_stdout
from doctest import DocTestParser
from pathlib import Path

import bnclassify
from sphinx.application import Sphinx

FOLDER = "reference/functions"


def draw_pictures(app: Sphinx) -> None:
    """Run the example of each plotting function, and write its last picture to a file."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in bnclassify.__all__:
        if name.startswith("plot"):
            names: dict[str, object] = {}
            test = DocTestParser().get_doctest(
                inspect.getdoc(getattr(bnclassify, name)) or "", {}, name, "", 0
            )
            with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
                for example in test.examples:
                    exec(example.source, names)
            if name == "plot":
                picture = bnclassify.plot(names["model"], row=names["car"].iloc[-1])
                picture.render(outfile=folder / "plot.svg", cleanup=True)
            else:
                plt.gcf().savefig(folder / f"{name}.svg", bbox_inches="tight")
                plt.close("all")


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
    if name.startswith("plot") and what == "function":
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
