"""The project around the code: layout, style, signatures, documents, vignettes."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import bnclassify as bn
from bnclassify.parameters import METHODS

from .oracles import has_cycle

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bnclassify"

# The map in the docstring of the package: chapters, each of which imports those above it, then annexes.
_MAPS = (inspect.getdoc(bn) or "").split("The annexes are packages")
CHAPTERS, ANNEXES = (re.findall(r"^    (\w+)  ", text, re.MULTILINE) for text in _MAPS)
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

FUNCTIONS = {name: f for name in bn.__all__ if inspect.isfunction(f := getattr(bn, name))}


@cache
def tree_of(name):
    return ast.parse(MODULES[name].read_text())


@cache
def imported(name, *, types=False):
    """The modules of the package that a module imports, in any form, with or without those for types."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    targets = []
    body = tree_of(name).body
    if not types:
        body = [
            part
            for part in body
            if not (isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING")
        ]
    for node in chain.from_iterable(map(ast.walk, body)):
        if isinstance(node, ast.Import):
            targets += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            targets += [f"{start}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            constants = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            texts = [value for value in constants if isinstance(value, str)]
            if texts and "import" in str(getattr(node.func, "id", getattr(node.func, "attr", ""))):
                targets += texts
    found = {target if target in MODULES else target.rpartition(".")[0] for target in targets}
    return {target for target in found if target in MODULES} - {name}


def room_of(name):
    return name.split(".")[1]


def arrows():
    """Pairs of a chapter or annex and another that it imports, also for types only."""
    files = [name for name in MODULES if name not in ("bnclassify", "bnclassify.models")]
    pairs = {(name, target) for name in files for target in imported(name, types=True)}
    assert not [pair for pair in pairs if pair[1] == "bnclassify"]
    rooms = {(room_of(name), room_of(target)) for name, target in pairs}
    return {(room, other) for room, other in rooms if room != other}


def test_the_map_tells_every_room():
    rooms = {room_of(name) for name in MODULES if name != "bnclassify"}
    assert sorted(CHAPTERS + ANNEXES) == sorted(rooms)
    assert all(MODULES[f"bnclassify.{name}"].parent == PACKAGE for name in CHAPTERS if name != "tools")


def test_chapters_import_earlier_chapters_only():
    """So they can be read in order, and without any annex."""
    place = {name: i for i, name in enumerate(CHAPTERS)}
    found = [(room, other) for room, other in arrows() if room in place]
    assert not [pair for pair in found if place.get(pair[1], len(place)) > place[pair[0]]]


def test_annexes_name_the_annexes_that_they_import():
    """In their docstrings; sklearn may import all, because it repeats every function as an estimator."""
    for room, other in arrows():
        if room in ANNEXES and other in ANNEXES and room != "sklearn":
            text = ast.get_docstring(tree_of(f"bnclassify.{room}")) or ""
            assert f"`{other}`" in text, f"{room} imports {other}"


def test_lp_imports_no_method():
    """Methods register themselves, so that tables of counts are understood without them."""
    assert len(METHODS) == 8
    assert not imported("bnclassify.parameters") & {method.__module__ for method in METHODS}


def test_no_module_imports_itself_by_others():
    """Not even for types: to understand a module, one reads those that it imports, and never itself."""
    files = [name for name in MODULES if name != "bnclassify"]
    assert not has_cycle({name: sorted(imported(name, types=True)) for name in files})


def test_modules_are_named_apart():
    """Few module names stand in several packages, and none hides a public function."""
    names = [name.rpartition(".")[2] for name in MODULES if MODULES[name].name != "__init__.py"]
    assert len({name for name in names if names.count(name) > 1}) <= 8
    assert "data" not in names
    assert not [name for name in bn.__all__ if inspect.ismodule(getattr(bn, name))]


def test_functions_have_names():
    """No function is called ``_``, so a traceback names the computation."""
    unnamed = [
        name
        for name in MODULES
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef) and node.name == "_"
    ]
    assert not unnamed


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("logLik", r"loglik\(x"), ("clogLik", r"cloglik\(x"), ("compute_joint", "by_row=True"),
        ("awnb_weights", "feature_weights"), ("weights", "feature_weights"),
        ("as_graphNEL", "to_networkx"), ("saveRDS", r"save\(x"), ("readRDS", r"load\(path"),
        ("data", "load_car"), ("voting", "load_voting"), ("is_tan", "is_ode"),
        ("is_aode", "bnclassify.models"), ("AODE", "bnclassify.models"),
        ("plot_roc", r"RocCurveDisplay\.from_estimator"),
        ("log_loss", r"cv\(x, dataset, metric='log_loss'\)"), ("auc", r"cv\(x, dataset, metric='auc'\)"),
        ("predict_proba", r"predict\(x, newdata, prob=True\)"),
    ],
)  # fmt: skip
def test_names_of_r_are_answered(there, here):
    with pytest.raises(AttributeError, match=here):
        getattr(bn, there)
    assert not hasattr(bn, there)
    for names in (there, f"lp, {there}", f"{there} as other"):
        with pytest.raises(ImportError, match=here):
            exec(f"from bnclassify import {names}")


R_EXPORTS = (
    "accuracy aode as_grain as_igraph as_mlr awnb_weights bnc bsej cLogLik class_var classes cmi cv families "
    "feature_families features fssj is_anb is_nb is_ode is_semi_naive kdb lp manb_arc_posterior modelstring "
    "narcs nb nparams params tan_cl tan_hc tan_hcsp values vars "
    "AIC BIC logLik plot predict print"
)
"""The functions that the R package exports, and the generics for which it has methods."""


@pytest.mark.parametrize("name", R_EXPORTS.split())
def test_every_export_of_r_is_here_or_the_error_names_its_equivalent(name):
    page = (ROOT / "vignettes" / "coming_from_r.py").read_text()
    assert f"`{name}`" in page
    if name in bn.__all__:
        assert getattr(bn, name).__name__ == name
        return
    with pytest.raises(AttributeError, match=f"no '{name}'. The equivalent .* is ") as answer:
        getattr(bn, name)
    equivalent = re.search(r" is (\w+)", str(answer.value))[1]
    assert equivalent in {*bn.__all__, "BNCClassifier", "print"}


def test_names_that_nobody_has_are_unknown():
    assert not hasattr(bn, "load_cars")


def test_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert bn.__version__ == project["version"]


FIRST = """x class_var class_vars dataset text path predicted frame y results table counts card comparison
    posteriors strength models"""
SECOND_ARGUMENTS = "dataset newdata tables variable row class_var path actual k feature n frame y prior"


def test_signatures_follow_one_law():
    """At most two positional arguments, data or a file second; the rest by keyword."""
    for name in FUNCTIONS:
        check_signature(name)


def check_signature(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    exceptions = {
        "anb": ["class_var", "parents", "dataset"], "bnc": ["dag_learner", "class_var", "dataset"],
        "ci_test": ["x", "y", "dataset"], "cmi": ["x", "y", "dataset"],
        "counterfactual": ["x", "row", "target"], "d_separated": ["x", "a", "b", "given"],
        "drift": ["x", "newdata", "dataset"], "monotonize": ["x", "directions", "dataset"],
        "query": ["x", "variables", "evidence"], "with_table": ["x", "variable", "frame"],
    }  # fmt: skip
    if name in exceptions:
        assert positional == exceptions[name]
    else:
        assert len(positional) <= 2
        assert {*positional[:1]} <= {*FIRST.split()}
        assert {*positional[1:]} <= {*SECOND_ARGUMENTS.split()}


def section(function, title):
    """One section of a docstring in the form of numpydoc."""
    text = inspect.getdoc(function) or ""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^[A-Z][a-z ]+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def entries(text):
    """The entries of a section: the names at the start of its lines."""
    lines = [line for line in text.splitlines() if line and not line.startswith(" ")]
    return [name.strip(" *") for line in lines for name in line.split(" : ")[0].split(",")]


def test_docstrings_describe_every_parameter():
    for name, function in FUNCTIONS.items():
        assert ">>> " in section(function, "Examples"), name
        described = entries(section(function, "Parameters"))
        assert sorted(described) == sorted(inspect.signature(function).parameters), name


def test_help_fits_into_80_columns():
    """All of it but the table of `lp`, formulas, examples, and the lines of See Also, which are joined."""
    table = re.compile(r"={4}|.* {4,}``|\.\. math::")
    for name, function in FUNCTIONS.items():
        text = inspect.getdoc(function) or ""
        for title in ("Examples", "See Also"):
            text = text.replace(section(function, title) or "\0", "")
        wide = [line for line in text.splitlines() if len(line) > 76 and not table.match(line)]
        assert not [line for line in wide if " : {" not in line], name


def test_docstrings_say_what_functions_raise():
    """Of all functions with arguments; learners share the sections on errors and warnings."""
    assert not [
        name for name, f in FUNCTIONS.items() if inspect.signature(f).parameters and not section(f, "Raises")
    ]
    learners = [name for name, f in FUNCTIONS.items() if "class_var" in entries(section(f, "Parameters"))[:1]]
    others = {"anb", "from_tables"}
    assert not [name for name in learners if name not in others and not section(FUNCTIONS[name], "Warns")]


def test_docstrings_refer_to_other_names():
    """Each public name has a section See Also of other public names."""
    for name in bn.__all__:
        text = section(getattr(bn, name), "See Also")
        others = {other.split(".")[-1] for other in entries(text)}
        assert others, name
        assert others <= {*bn.__all__, "BNCClassifier"} - {name}, name


ODD_MODELS = {
    "nothing": None,
    "a structure without data": bn.nb("class", features=["doors"]),
    "a structure": bn.nb("class", bn.load_car()),
    "an ensemble": bn.bnc("aode", "class", bn.load_car(), smooth=1),
    "several classes": bn.lp(bn.mbc(["class", "safety"], bn.load_car()), bn.load_car(), smooth=1),
    "a chain": bn.lp(bn.chain(["class", "safety"], bn.load_car()), bn.load_car(), smooth=1),
}
ASKED = [
    name
    for name, f in FUNCTIONS.items()
    if list(inspect.signature(f).parameters)[:1] == ["x"]
    and not {"path", "y"} & set(inspect.signature(f).parameters)
]
CAR = bn.load_car()
SECOND = {"dataset": CAR, "newdata": None, "variable": "wheels", "row": None}
SECOND |= {"frame": CAR, "feature": "wheels", "variables": ["wheels"], "n": -1, "table": ""}
SECOND |= {"prior": {"wheels": 1.0}}
SECOND |= {"directions": {"wheels": "increasing"}, "a": "wheels", "b": "doors"}


def needs(name, parameter):
    return inspect.signature(FUNCTIONS[name]).parameters[parameter].default is inspect.Parameter.empty


@pytest.mark.parametrize("model", ODD_MODELS)
def test_docstrings_list_errors(model):
    """The errors that functions raise for an odd model or second argument are listed under Raises."""
    missing = []
    for name in ASKED:
        parameters = list(inspect.signature(FUNCTIONS[name]).parameters)
        arguments = {
            p: SECOND[p] for p in parameters[1:3] if needs(name, p) or (p in parameters[1:2] and p in SECOND)
        }
        try:
            FUNCTIONS[name](ODD_MODELS[model], **arguments)
        except Exception as error:
            if type(error).__name__ not in entries(section(FUNCTIONS[name], "Raises")):
                missing.append((name, repr(error)))
    assert not missing


def test_the_table_of_verbs_names_every_function():
    """Each name is a separate word in code; the pages of the functions are generated."""
    table = (ROOT / "vignettes" / "reference" / "index.md").read_text()
    words = {word for code in re.findall(r"`([^`\n]+)`", table) for word in re.findall(r"\w+", code)}
    absent = {*FUNCTIONS, *bn.models.__all__} - words
    assert not absent, f"add {absent} to vignettes/reference/index.md"


def test_every_function_names_a_page_of_the_guide():
    pages = tomllib.loads((ROOT / "vignettes" / "reference" / "guide.toml").read_text())
    assert not [page for page in pages if not (ROOT / "vignettes" / f"{page}.py").exists()]
    named = [name for names in pages.values() for name in names.split()]
    absent = set(FUNCTIONS) - set(named)
    assert not absent, f"add {absent} to vignettes/reference/guide.toml"
    assert len(named) == len(set(named))


def test_a_complete_job_comes_first():
    """In the list of names, in the help of the package, in the reference, and in its search."""
    job = bn._COMPLETE_JOB
    assert bn.__all__[: len(job)] == job
    about = (inspect.getdoc(bn) or "").partition("Then there are")[0].partition("in the order of work")[2]
    assert [name for name in re.findall(r"\w+", about) if name in job] == job
    table = (ROOT / "vignettes" / "reference" / "index.md").read_text().partition("| **prepare data**")[0]
    assert {name for name in job if f"{name}(" not in table} == set()
    scorer = (ROOT / "vignettes" / "_static" / "scorer.js").read_text()
    assert re.findall(r"\w+", "".join(re.findall(r'"([\w ]+)"', scorer))) == job


def test_r_users_are_led_to_their_page():
    assert "coming_from_r" in (inspect.getdoc(bn) or "")
    page = (ROOT / "vignettes" / "coming_from_r.py").read_text()
    assert all(f"`{name}" in page for name in bn._IN_R if name != "data")


def test_oldest_versions_are_those_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    tested = (extras[name] for name in ("plot", "sklearn", "exchange", "dask", "frames", "vignettes"))
    asked = chain(project["dependencies"], *tested)
    others = (requirement for requirement in asked if not requirement.startswith("pybnclassify"))
    bounds = {re.sub(r"\[.*]", "", requirement).replace(">=", "==") for requirement in others}
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    oldest = {line for line in lines if not line.startswith("#")}
    assert bounds - oldest == {"pgmpy==1.1"}
    tools = {"duckdb", "hypothesis", "polars", "pytest", "pytest-xdist", "pyparsing"}
    assert {line.split("==")[0] for line in oldest - bounds} == tools


def test_importing_loads_no_statistics():
    """These parts of SciPy are slow to import, and few functions need them."""
    found = run(
        "-c",
        # Old versions of scipy.special load scipy.sparse themselves.
        "import sys, scipy.special; before = set(sys.modules); import bnclassify; "
        "print({'scipy.stats', 'scipy.optimize', 'scipy.sparse', 'matplotlib'} & set(sys.modules) - before)",
    )
    assert found.stdout.strip() == "set()"


def run(*command, **options):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    "command", [("ruff", "check", "."), ("ruff", "format", "--check", ".")], ids=" ".join
)
def test_style(command):
    if importlib.util.find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed; the extra test has it")
    result = run("-m", *command, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


VIGNETTES = sorted(path for path in (ROOT / "vignettes").glob("*.py") if path.name != "conf.py")


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda path: path.name)
def test_vignettes_are_pages(path):
    """They begin with a title and an introduction before any code."""
    title, about = re.match(r"# %% \[markdown\]\n# # (.+)\n#\n((?:# .+\n)+)", path.read_text()).groups()
    assert len(title) < 60 < len(about)


def test_data_is_what_the_scripts_make(tmp_path):
    script = tmp_path / "make_car.py"
    script.write_text((ROOT / "data" / "make_car.py").read_text())
    run(str(script))
    assert (tmp_path / "car.csv").read_bytes() == (ROOT / "data" / "car.csv").read_bytes()
    assert bn.load_car()["class"].value_counts().to_dict() == {
        "unacc": 1210, "acc": 384, "good": 69, "vgood": 65,
    }  # fmt: skip
    assert not bn.load_car().isna().any(axis=None)
    assert bn.load_voting().isna().sum().sum() == 392


def test_one_command_writes_the_address(tmp_path):
    """Twice, so that the second address replaces the first."""
    names = ["README.md", "pyproject.toml", "CITATION.cff", "vignettes/about.md", ".ci/conda/meta.yaml"]
    for name in [*names, ".ci/set_address.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    for url in ("https://example.org/a/b", "https://example.org/c/d/"):
        found = run(str(tmp_path / ".ci" / "set_address.py"), url)
        assert found.returncode == 0, found.stderr
    for name in names:
        text = (tmp_path / name).read_text()
        assert "example.org/c/d" in text
        assert "example.org/a/b" not in text
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Issues"] == "https://example.org/c/d/issues"
    assert {**project, "urls": None} == {
        **tomllib.loads((ROOT / "pyproject.toml").read_text())["project"],
        "urls": None,
    }


def test_the_conda_recipe_has_the_requirements_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / ".ci" / "conda" / "meta.yaml").read_text()
    assert f'version = "{project["version"]}"' in recipe
    for requirement in project["dependencies"]:
        name, bound = requirement.split(">=")
        assert re.search(rf"- (python-)?{name} >={re.escape(bound)}\n", recipe), requirement
