"""Pages as a reader sees them: every visible block of code runs as printed, from a clean session."""

import ast
import builtins
import os
import re
import runpy
import subprocess
import symtable
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import bnclassify as bn

ROOT = Path(__file__).parents[1]
PAGES = [path for path in sorted((ROOT / "vignettes").glob("*.py")) if path.stem != "conf"]
REMOVED = ("remove-cell", "remove-input")

DECIMALS = runpy.run_path(str(ROOT / "vignettes" / "_extensions" / "decimals.py"))
"""The check of decimals, which the site makes too."""


def blocks_of(path):
    """Return the blocks of Python that a reader of a page in Markdown sees."""
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def cells_of(path):
    """Return the cells of code of a page, those that are shown or can be unfolded, and those of text."""
    first, *cells = re.split(r"^# %%", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    code, visible, text = [first], [first], []
    for cell in cells:
        options, _, body = cell.partition("\n")
        if "[markdown]" in options:
            text.append(body)
        else:
            code.append(body)
            visible += [body] * (not any(tag in options for tag in REMOVED))
    return code, visible, text


def showing(code):
    """Return the code of a cell, which prints the value of a last expression, as a notebook shows it."""
    tree = ast.parse(code)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        call = ast.Call(ast.Name("print", ast.Load()), [tree.body[-1].value], [])
        tree.body[-1] = ast.Expr(call)
    return ast.unparse(ast.fix_missing_locations(tree))


def printed(statements, names):
    """Run statements, and return the lines that they print, without spaces at their ends."""
    output = StringIO()
    with redirect_stdout(output):
        exec(compile(ast.Module(statements, []), "<block>", "exec"), names)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def check_block(block, names):
    """Run a block, compare what each statement prints with the comments below it, and count the lines."""
    lines, compared = block.splitlines(), 0
    for statement in ast.parse(block).body:
        end = statement.end_lineno or 0
        expected = []
        while end < len(lines) and lines[end].startswith("#"):
            expected.append(lines[end].removeprefix("#").removeprefix(" "))
            end += 1
        assert printed([statement], names) == expected
        compared += len(expected)
    return compared


@pytest.mark.slow
def test_the_readme_prints_what_it_shows():
    """In one session, as the blocks continue each other."""
    pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")
    names = {}
    compared = [check_block(block, names) for block in blocks_of(ROOT / "README.md")]
    assert len(compared) > 3
    assert min(compared) > 0


def test_a_block_with_a_wrong_output_is_found():
    assert check_block("print(1)\n# 1\n", {}) == 1
    with pytest.raises(AssertionError):
        check_block("print(1)\n# 2\n", {})
    with pytest.raises(AssertionError):
        check_block("print(1)\n", {})


def test_the_pictures_of_the_readme_are_of_its_model():
    women = bn.load_pima()
    model = bn.bnc(class_var="diabetes", dataset=women)
    bea = {"age": 51, "glucose": 171, "bmi": 34.2, "pregnancies": 4}
    explained = (ROOT / "vignettes" / "explained.svg").read_text(encoding="utf-8")
    reasons = bn.explain(model, bea)["log_odds"]
    for value in (reasons["glucose"], reasons["age"], reasons.sum()):
        assert f">{value:+.2f}<" in explained
    best = bn.predict(model, bea, prob=True).iloc[0]
    answer = f"diabetes: {best.idxmax()} ({best.max():.1%})"  # the comment of .ci/draw_readme.py
    assert answer.encode() in (ROOT / "vignettes" / "page.png").read_bytes()
    important = (ROOT / "vignettes" / "importance.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in important for name in bn.features(model))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"which add up to {reasons.sum():+.2f};" in readme
    missing = bn.predict(model, bea | {"pressure": None}, prob=True)["yes"].item()
    assert f"the probability would be {missing:.2f}." in readme


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_visible_code_defines_its_names(path):
    """None of them is defined by a removed cell alone."""
    table = symtable.symtable("\n".join(cells_of(path)[1]), path.name, "exec")
    scopes = [table]
    for scope in scopes:
        scopes.extend(scope.get_children())
    used = {s.get_name() for scope in scopes for s in scope.get_symbols() if s.is_global()}
    used |= {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    defined |= {child.get_name() for child in table.get_children()}
    assert sorted(used - defined - {*dir(builtins)}) == []


def run_cells(path, cells, folder):
    """Run cells as a script, with warnings as errors, and return what it prints, or skip or fail the test."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; the extra plot has it")
    script = folder / path.name
    script.write_text("\n".join(map(showing, cells)), encoding="utf-8")
    where = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    command = [sys.executable, "-W", "error", str(script)]
    found = subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True, check=False)
    absent = re.search(r"this (vignette|page) needs.*|No module named '(sklearn|mapie)", found.stderr)
    if absent:
        pytest.skip(absent[0])
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_run(path, tmp_path):
    """And their outputs contain the decimals of the text; the site, which runs them too, warns of others."""
    code, _, text = cells_of(path)
    output = run_cells(path, code, tmp_path)
    if path.stem in DECIMALS["DERIVED"]:
        assert not DECIMALS["unfounded"](path.stem, "\n".join(text), "\n".join([output, *code]))


def test_a_wrong_decimal_is_found():
    assert DECIMALS["unfounded"]("", "it is 0.12 or 12.3 %", "0.1234") == []
    assert DECIMALS["unfounded"]("", "it is 0.13 or 12.4 %", "0.1234") == ["0.13", "12.4"]


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("feature importance", "interpreting"), ("hyperparameters tuning", "overview"), ("csv", "start"),
        ("NaN", "incomplete"), ("threshold", "judging"), ("survey weights", "scale"),
        ("drift", "deploying"), ("adverse", "case_credit"), ("points", "case_credit"),
        ("unknown", "incomplete"), ("d-separation", "networks"), ("memory error", "scale"),
        ("bins", "numeric"), ("multilabel", "several"), ("GPU", "faq"),
    ],
)  # fmt: skip
def test_the_search_finds_the_right_page_first(words, page):
    """Main entries of the index are the first results of the search of the site."""
    entries = {
        path.stem: re.findall(r"! ([^,\n]+)", "".join(re.findall(r"{index} (.*)", path.read_text("utf-8"))))
        for path in PAGES
    }
    for word in [words] if words in entries[page] else words.split():
        assert [stem for stem, found in entries.items() if word in found] == [page]
