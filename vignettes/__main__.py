"""Render the vignettes to HTML pages with their prose, code, output and pictures, and an index of the pages.

Run it from the folder of the project::

    python -m vignettes                        # all, to vignettes/html
    python -m vignettes -o pages usage compare  # these two, to pages

A vignette is a plain script in cells, ``# %%`` for code and ``# %% [markdown]`` for prose. Its cells run
one after the other in one namespace. A page shows what a cell prints, the value of its last expression,
its matplotlib figures, and SVG files that it writes; it needs no other file and no network.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import os
import re
import sys
import tempfile
import traceback
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
READING_ORDER = [
    "quickstart",
    "usage",
    "overview",
    "networks",
    "methods",
    "numeric",
    "accuracy",
    "incomplete",
    "judging",
    "compare",
]

try:
    from markdown import Markdown
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer
except ImportError as missing:
    raise SystemExit(f"{missing}; pages need: pip install 'pybnclassify[vignettes]'") from None

START = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">"""

CSS = """
body { max-width: 60rem; margin: 2rem auto 4rem; padding: 0 1.2rem; color: #1f2933; background: #fff;
       font: 1.05rem/1.6 Georgia, "DejaVu Serif", serif; }
h1, h2, h3, nav, table { font-family: Helvetica, Arial, sans-serif; line-height: 1.3; }
h1, h2, h3, a { color: #1f4e79; }
h2 { margin-top: 2.2rem; }
p, ul { max-width: 48rem; }
pre, code { font: 0.82rem/1.45 "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { margin: 0.8rem 0; padding: 0.6rem 0.9rem; overflow-x: auto; }
code, .code pre, .prose pre { background: #f3f5f7; border-radius: 4px; }
.output { margin: 0.8rem 0; padding: 0.2rem 0 0.2rem 0.9rem; border-left: 3px solid #c3cbd3; }
.output pre { margin: 0; padding: 0; white-space: pre-wrap; }
.output svg, .output img { max-width: 100%; height: auto; display: block; margin: 0.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.8rem 0.25rem 0; text-align: left; border-bottom: 1px solid #dde3e9; }
"""


class Cell(NamedTuple):
    """A cell of a vignette: whether it is prose, its text, and the number of its first line."""

    prose: bool
    text: str
    line: int


def read_cells(source: str) -> list[Cell]:
    """Part a script into its cells; prose loses its comment signs."""
    cells: list[tuple[bool, int, list[str]]] = [(False, 1, [])]
    for number, line in enumerate(source.splitlines(), start=1):
        if re.match(r"# %%(\s|$)", line):
            cells.append(("[markdown]" in line, number + 1, []))
        else:
            prose, _, lines = cells[-1]
            lines.append(re.sub(r"^# ?", "", line) if prose else line)
    return [Cell(prose, "\n".join(lines), line) for prose, line, lines in cells if "".join(lines).strip()]


def title_of(path: Path) -> tuple[str, str]:
    """Return the heading of a vignette and its first paragraph; of a mere script, its name and docstring."""
    source = path.read_text(encoding="utf-8")
    prose = "".join(f"{cell.text}\n\n" for cell in read_cells(source) if cell.prose)
    heading = re.search(r"^# +(.+)\s+((?:.+\n)*)", prose, flags=re.MULTILINE)
    if heading is None:
        return path.stem, ast.get_docstring(ast.parse(source)) or ""
    return heading[1], heading[2]


def run(cell: Cell, path: Path, namespace: dict[str, Any]) -> tuple[str, Any]:
    """Run code; return what it prints and the value of its last expression. Errors name file and line."""
    printed, value = io.StringIO(), None
    try:
        # Blank lines before it, so that tracebacks number lines as the file does.
        tree = ast.parse("\n" * (cell.line - 1) + cell.text, str(path))
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, str(path), "exec"), namespace)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), str(path), "eval"), namespace)
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame.lineno for frame in frames if frame.filename == str(path)]
        line = own[-1] if own else getattr(error, "lineno", cell.line)  # code that cannot be parsed
        raise RuntimeError(f"{path.name}, line {line}: {type(error).__name__}: {error}") from error
    return printed.getvalue(), value


def picture(svg: str) -> str:
    """Return an SVG file as a part of a page; its texts tell those who cannot see it what it shows."""
    drawing = svg[svg.index("<svg") :]
    texts = re.findall(r"<text[^>]*>(.+?)</text>", drawing)
    return drawing.replace("<svg", f'<svg role="img" aria-label="Network: {", ".join(texts)}"', 1)


def figures() -> Iterator[str]:
    """Yield the open figures of matplotlib, and close them."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return
    for number in plt.get_fignums():
        figure, file = plt.figure(number), io.BytesIO()
        figure.savefig(file, dpi=192, bbox_inches="tight")
        data = base64.b64encode(file.getvalue()).decode()
        width = int.from_bytes(file.getvalue()[16:20], "big") // 2  # PNG has it there
        texts = [part.get_text() for part in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
        shown = html.escape(", ".join(text for text in texts if text.strip()))
        yield f'<img src="data:image/png;base64,{data}" width="{width}" alt="Chart: {shown}">'
        plt.close(figure)


def show(value: Any) -> str:
    """Return a value as a notebook shows it: its picture, its table or its text."""
    if value is None or type(value).__module__.startswith("matplotlib."):  # its figure is shown
        return ""
    forms = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {}
    if "image/svg+xml" in forms:
        return picture(forms["image/svg+xml"])
    if hasattr(value, "_repr_html_"):
        return f"<div>{value._repr_html_()}</div>"
    return f"<pre>{html.escape(forms.get('text/plain', repr(value)))}</pre>"


def body(path: Path) -> Iterator[str]:
    """Run a vignette in the folder that is the current one, and yield the parts of its page."""
    markdown = Markdown(extensions=["tables", "fenced_code", "sane_lists", "toc"])
    formatter = HtmlFormatter(nowrap=True)
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    seen: set[str] = set()
    for cell in read_cells(path.read_text(encoding="utf-8")):
        if cell.prose:
            yield f'<div class="prose">{markdown.convert(cell.text)}</div>'
            continue
        printed, value = run(cell, path, namespace)
        code = re.sub(r" +# noqa\b.*$", "", cell.text, flags=re.MULTILINE).strip("\n")
        yield f'<div class="code"><pre>{highlight(code, PythonLexer(), formatter)}</pre></div>'
        files = [picture(file.read_text(encoding="utf-8")) for file in sorted(Path.cwd().glob("*.svg"))]
        text = f"<pre>{html.escape(printed)}</pre>" if printed else ""
        parts = [part for part in (text, show(value), *files, *figures()) if part and part not in seen]
        seen.update(part for part in parts if part != text)  # a picture is shown once
        if parts:
            yield f'<div class="output">{"".join(parts)}</div>'


def write_page(file: Path, title: str, content: str) -> None:
    """Write a page of HTML that needs nothing else."""
    head = (
        f"<title>{html.escape(title)}</title>\n<style>{CSS}{HtmlFormatter().get_style_defs('.code')}</style>"
    )
    file.write_text(f"{START}\n{head}\n</head>\n<body>\n{content}\n</body>\n</html>\n", encoding="utf-8")


def render(path: Path, folder: Path) -> None:
    """Write the page of a vignette. It runs in a folder of its own, where the files it writes go."""
    path, folder = path.resolve(), folder.resolve()
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        content = "\n".join(['<nav><a href="index.html">All vignettes</a></nav>', *body(path)])
    write_page(folder / f"{path.stem}.html", title_of(path)[0], content)


def write_index(paths: list[Path], folder: Path) -> None:
    """Write the index of those vignettes that have a page in the folder."""
    pages = {f"{path.stem}.html": title_of(path) for path in paths}
    parts = [
        f"## [{title}]({page})\n\n{text}" for page, (title, text) in pages.items() if (folder / page).exists()
    ]
    content = Markdown().convert("\n\n".join(["# Vignettes of bnclassify", *parts]))
    write_page(folder / "index.html", "Vignettes of bnclassify", content)


def main(arguments: list[str] | None = None) -> None:
    """Render the vignettes that are named, or all."""
    place = {name: i for i, name in enumerate(READING_ORDER)}
    paths = sorted(FOLDER.glob("[!_]*.py"), key=lambda path: (place.get(path.stem, len(place)), path.stem))
    names = [path.stem for path in paths]
    parser = ArgumentParser(prog="python -m vignettes", description="Render the vignettes to HTML pages.")
    parser.add_argument("names", nargs="*", metavar="vignette", help=f"one of {', '.join(names)}; else all")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER / "html", metavar="FOLDER")
    options = parser.parse_args(arguments)
    chosen = [Path(name).stem for name in options.names] or names
    if unknown := set(chosen) - set(names):
        parser.error(f"no vignette called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    os.environ.setdefault("MPLBACKEND", "agg")  # draws without a display
    options.output.mkdir(parents=True, exist_ok=True)
    for path in paths:
        if path.stem in chosen:
            render(path, options.output)
            print(options.output / f"{path.stem}.html")
    write_index(paths, options.output)


if __name__ == "__main__":
    main()
