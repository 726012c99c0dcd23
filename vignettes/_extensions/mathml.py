"""Write formulas as MathML, which browsers typeset themselves: without a script, and without a network."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import ziamath
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from fontTools import subset
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# Not every system has a font whose roots and brackets grow. The package ziamath carries one.
FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
CHARACTERS = [
    *range(0x20, 0x180),  # Latin
    *range(0x370, 0x400),  # Greek
    *range(0x2000, 0x2070),  # punctuation
    *range(0x2100, 0x2300),  # letterlike symbols, arrows, operators
    *range(0x1D400, 0x1D7CB),  # mathematical alphabets, the italic one first of all
]
# Formulas of docstrings are also readable as text: they contain signs, and words and ln without markup.
SIGNS = {
    "·": r"\cdot ",
    "−": "-",  # noqa: RUF001
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "∝": r"\propto ",
    "≠": r"\ne ",
    "½": r"\frac{1}{2} ",
}


def from_plain(formula: str) -> str:
    """Return a formula that has no markup as TeX."""
    formula = re.sub(
        r"(?<!{)[A-Za-z]{3,}( [A-Za-z]{2,})*", r"\\text{\g<0>}", formula
    )
    return (
        re.sub(r"\bln\b", r"\\ln ", formula)
        .replace("text{exp}", "exp")
        .replace(" | ", r" \mid ")
    )


def mathml(tex: str, *, as_block: bool = False) -> str:
    """Return a formula as MathML, with the thin space after ln that TeX puts there."""
    tex = tex if "\\" in tex else from_plain(tex)
    html = tex2mathml(
        "".join(SIGNS.get(sign, sign) for sign in tex), as_block=as_block
    )
    return html.replace(
        "<mo>&ApplyFunction;", '<mo rspace="0.167em">&ApplyFunction;'
    )


logging.getLogger("fontTools").setLevel(logging.ERROR)  # it reports every glyph


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula, which scrolls if it is wider than the page."""
    self.body.append(
        f'<div class="formula">{mathml(node.astext(), as_block=True)}</div>'
    )
    raise nodes.SkipNode


def write_font(app: Sphinx) -> None:
    """Write the subset of the font that formulas need."""
    options = subset.Options(flavor="woff")
    font = subset.load_font(str(FONT), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    folder = app.outdir / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(folder / "math.woff"), options)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make it the renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("builder-inited", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
