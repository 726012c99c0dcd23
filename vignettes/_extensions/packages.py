"""Write the pages of the reference: one for each package, in the order of the map in its docstring."""

from __future__ import annotations

import inspect
import re

import bnclassify
from sphinx.application import Sphinx
from sphinx.config import Config

PAGE = """{title}
{line}

.. currentmodule:: {module}

.. autosummary::
   :toctree: functions

   {names}
"""


def public_names(package: str) -> list[str]:
    """List the public names of one of the packages."""
    if (
        package == "sklearn"
    ):  # which is imported from there, as scikit-learn is optional
        return [
            "BNCClassifier",
            "BNCMultiClassifier",
            "MDLPDiscretizer",
            "RareLevelMerger",
        ]
    if package == "models":
        return bnclassify.models.__all__
    origin = {
        name: getattr(bnclassify, name).__module__.split(".")[1]
        for name in bnclassify.__all__
    }
    return [name for name, where in origin.items() if where == package]


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the page of each package that exports something."""
    rows = re.findall(
        r"^    (\w+) +(.+?)(?:   .*)?$",
        inspect.getdoc(bnclassify) or "",
        re.MULTILINE,
    )
    for package, purpose in rows:
        if names := public_names(package):
            page = PAGE.format(
                title=(title := f"{package}: {purpose}"),
                line="=" * len(title),
                module=f"bnclassify.{package}"
                if package in ("models", "sklearn")
                else "bnclassify",
                names="\n   ".join(names),
            )
            (app.srcdir / "reference" / f"{package}.rst").write_text(
                page, encoding="utf-8"
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Write them before the pages are looked for."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
