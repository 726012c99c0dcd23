"""The project around the code: layout, style, signatures, documents, vignettes."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import bnclassify as bn
from bnclassify.base import graphs

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bnclassify"

# The map in the docstring of the package: a package imports from those above it.
ROOMS = re.findall(r"^    (\w+)  ", inspect.getdoc(bn) or "", re.MULTILINE)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

FUNCTIONS = {name: f for name in bn.__all__ if inspect.isfunction(f := getattr(bn, name))}


def imported(name: str) -> set[str]:
    """The modules of the package that a module imports, wherever and in whatever way it does."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    targets = []
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            targets += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            targets += [f"{start}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            constants = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            targets += [value for value in constants if isinstance(value, str)]
    found = {target if target in MODULES else target.rpartition(".")[0] for target in targets}
    return {target for target in found if target in MODULES} - {name}


def room(name: str) -> str:
    return name.split(".")[1]


def test_the_map_tells_every_package() -> None:
    assert sorted(ROOMS) == sorted({room(name) for name in MODULES if name != "bnclassify"})
    assert len(ROOMS) <= 14


@pytest.mark.parametrize("name", [name for name in MODULES if name != "bnclassify"])
def test_imports_go_one_way(name: str) -> None:
    for target in imported(name):
        assert target != "bnclassify", f"{name} imports the whole package"
        assert ROOMS.index(room(target)) <= ROOMS.index(room(name)), f"{name} imports from {target}"


def test_no_module_imports_itself_by_others() -> None:
    cycle = graphs.find_cycle({name: sorted(imported(name)) for name in MODULES if name != "bnclassify"})
    assert not cycle


def test_modules_have_names_of_their_own() -> None:
    """No module is called as a public function, an argument of one, or what R calls something."""
    arguments = {p for f in FUNCTIONS.values() for p in inspect.signature(f).parameters}
    taken = {*bn.__all__, *arguments, "data"}
    assert not taken & {name.rpartition(".")[2] for name in MODULES}


@pytest.mark.parametrize(
    ("there", "here"), [("logLik", r"loglik\(x"), ("awnb_weights", "feature_weights"), ("data", "load_car")]
)
def test_names_of_r_are_answered(there: str, here: str) -> None:
    with pytest.raises(AttributeError, match=here):
        getattr(bn, there)
    assert not hasattr(bn, "load_cars")


def test_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert bn.__version__ == project["version"]


def test_everything_public_is_listed_and_sorted() -> None:
    assert sorted(bn.__all__) == bn.__all__
    assert all(hasattr(bn, name) for name in bn.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_follow_one_law(name: str) -> None:
    """At most two positional arguments, data or a file second; the rest by keyword."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    exceptions = {
        "anb": ["class_var", "parents", "dataset"],
        "bnc": ["dag_learner", "class_var", "dataset"],
        "cmi": ["x", "y", "dataset"],
    }
    if name in exceptions:
        assert positional == exceptions[name]
    else:
        assert len(positional) <= 2
        assert positional[:1] in (
            [],
            ["x"],
            ["class_var"],
            ["dataset"],
            ["text"],
            ["path"],
            ["predicted"],
            ["frame"],
            ["y"],
            ["accuracies"],
        )
        assert positional[1:] in (
            [],
            ["dataset"],
            ["newdata"],
            ["variable"],
            ["row"],
            ["class_var"],
            ["path"],
            ["actual"],
            ["k"],
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_have_an_example(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    assert ">>> " in text
    for parameter in inspect.signature(FUNCTIONS[name]).parameters:
        one_line_question = list(inspect.signature(FUNCTIONS[name]).parameters) == ["x"]
        assert one_line_question or parameter in text, f"{name} does not tell of {parameter}"


def test_readme_names_every_function() -> None:
    readme = (ROOT / "README.md").read_text()
    missing = [name for name in FUNCTIONS if not re.search(rf"`[^`]*\b{name}\b", readme)]
    assert not missing


def test_oldest_versions_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    tested = (extras[name] for name in ("plot", "sklearn", "exchange", "vignettes"))
    asked = chain(project["dependencies"], *tested)
    bounds = {requirement.replace(">=", "==") for requirement in asked if "[" not in requirement}
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    oldest = {line for line in lines if not line.startswith("#")}
    assert bounds - oldest == {"pgmpy==1.1"}
    assert {line.split("==")[0] for line in oldest - bounds} == {"hypothesis", "pytest", "pyparsing"}


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    "command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)], ids=" ".join
)
def test_style(command: tuple[str, ...]) -> None:
    if importlib.util.find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed; the extra test has it")
    result = run("-m", *command, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "vignettes").glob("[!_]*.py")), ids=lambda p: p.name)
def test_vignettes_run(path: Path, tmp_path: Path) -> None:
    if "sklearn" in path.read_text():
        pytest.importorskip(
            "sklearn", "1.6", reason="scikit-learn is not installed; the extra vignettes has it"
        )
    environment = {**os.environ, "MPLBACKEND": "agg"}
    result = run("-W", "error", str(path), cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout


def test_what_the_readme_shows_without_results_runs() -> None:
    pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        examples = doctest.DocTestParser().get_examples(block)
        exec("".join(example.source for example in examples) or block, names)
    assert any(">>>" not in block for block in blocks)


def test_data_is_what_the_scripts_make(tmp_path: Path) -> None:
    script = tmp_path / "make_car.py"
    script.write_text((ROOT / "data" / "make_car.py").read_text())
    run(str(script))
    assert (tmp_path / "car.csv").read_bytes() == (ROOT / "data" / "car.csv").read_bytes()
    assert bn.load_car()["class"].value_counts().to_dict() == {
        "unacc": 1210, "acc": 384, "good": 69, "vgood": 65,
    }  # fmt: skip
    assert not bn.load_car().isna().any(axis=None)
    assert bn.load_voting().isna().sum().sum() == 392
