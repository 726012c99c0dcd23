"""Rendering vignettes to pages: what a page shows, what stops it, and which pages there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("markdown", reason="Markdown is not installed; the extra vignettes has it")
pytest.importorskip("pygments", reason="Pygments is not installed; the extra vignettes has it")

from vignettes.__main__ import main, render

VIGNETTE = """# %% [markdown]
# # Cars & a title
#
# The *first* paragraph
# has two lines.
#
# - an item with `code`

# %%
from pathlib import Path

from bnclassify import load_car, nb, plot

car = load_car()
print("rows <", len(car))
car.head(2)

# %%
structure = nb("class", car)
plot(structure)  # noqa: B018

# %%
plot(structure).render(outfile="again.svg", cleanup=True)
name = "no value"

# %%
1 + 1
"""


def rendered(source: str, folder: Path) -> str:
    path = folder / "sample.py"
    path.write_text(source, encoding="utf-8")
    render(path, folder)
    return (folder / "sample.html").read_text(encoding="utf-8")


def outputs(page: str) -> list[str]:
    return re.findall(
        r'<div class="output">(.*?)</div>\n(?=<div class="(?:code|prose)|</body)', page, re.DOTALL
    )


def test_a_page_has_prose_code_output_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = rendered(VIGNETTE, tmp_path)
    assert "<title>Cars &amp; a title</title>" in page
    assert "<p>The <em>first</em> paragraph\nhas two lines.</p>" in page
    assert "<li>an item with <code>code</code></li>" in page
    assert '<span class="kn">from</span>' in page
    assert "noqa" not in page
    table, network, number = outputs(page)
    assert table.startswith("<pre>rows &lt; 1728\n</pre>")
    assert "<td>vhigh</td>" in table
    assert network.count("<svg") == 1  # the same picture in a file is not shown again
    assert re.search(r'role="img" aria-label="Network: [^"]*\blug_boot\b', network)
    assert number == "<pre>2</pre>"
    assert not list(tmp_path.glob("*.svg"))  # what a vignette writes stays in a folder of its own
    assert not re.search(r'(src|href)="(?!data:|index\.html|#)', page)  # needs nothing else


def test_figures_are_shown_and_closed(tmp_path: Path) -> None:
    plt = pytest.importorskip(
        "matplotlib.pyplot", reason="matplotlib is not installed; the extra plot has it"
    )
    plt.close("all")
    page = rendered('import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.xlabel("a < b")\n', tmp_path)
    (output,) = outputs(page)
    assert re.fullmatch(
        r'<img src="data:image/png;base64,[^"]+" width="\d+" alt="Chart: [^"]*a &lt; b[^"]*">', output
    )
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("\n1 / 0", "sample.py, line 4: ZeroDivisionError: division by zero"),
        ("def f():\n    raise KeyError('a')\n\n\nf()", "sample.py, line 4: KeyError: 'a'"),
        ("x = 1\ny = (", r"sample.py, line 4: SyntaxError: '\(' was never closed"),
        ("raise SystemExit('install it')", "sample.py, line 3: SystemExit: install it"),
        ("import json\njson.loads('[')", "sample.py, line 4: JSONDecodeError: "),
    ],
    ids=["last expression", "function", "syntax", "exit", "in a library"],
)
def test_errors_name_vignette_and_line(code: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=f"^{message}"):
        rendered(f"a = 1\n# %%\n{code}\n", tmp_path)
    assert not (tmp_path / "sample.html").exists()


def test_vignettes_are_chosen_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pages"
    main(["quickstart", "-o", str(folder)])
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "quickstart.html"]
    index = (folder / "index.html").read_text()
    assert '<a href="quickstart.html">quickstart</a>' in index
    assert "usage.html" not in index
    page = (folder / "quickstart.html").read_text()
    assert "learning algorithm: tan_cl" in page
    assert "<svg" in page
    assert str(folder / "quickstart.html") in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["quickest", "-o", str(folder)])
    assert "no vignette called quickest; there are quickstart, usage" in capsys.readouterr().err
