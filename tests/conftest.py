"""What several tests share: reference figures and their data, and what running the examples needs."""

import gc
import json
import os
import sys
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings

import bnclassify as bn

from .forms import by_dask, chunks, in_duckdb, in_parquet, in_postgres, server_of_postgres
from .strategies import USUAL

settings.register_profile("default", deadline=None, max_examples=USUAL // 4)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("long", deadline=None, max_examples=4 * USUAL)
settings.load_profile("ci" if os.environ.get("CI") else "default")

REFERENCE = Path(__file__).parent / "reference"
PACKAGE = Path(__file__).parents[1] / "bnclassify"

informative_gaps = pytest.mark.filterwarnings("ignore:Missingness of .* is associated with the class")
"""For tests of data in which missing values depend on the class, but which are not about that."""

os.environ.setdefault("MPLBACKEND", "agg")  # no display

GUARDED_MODULES = {
    "bnclassify.sklearn": "sklearn",
    "bnclassify.draw.canvas": "matplotlib",
    "bnclassify.draw.charts": "matplotlib",
}
"""The modules whose examples need a library that may not be installed, and the library."""

GUARDED_FUNCTIONS = {
    "bnclassify.export.libraries.to_networkx": "networkx",
    "bnclassify.export.libraries.to_pgmpy": "pgmpy",
    "bnclassify.export.libraries.to_pyagrum": "pyagrum",
}
"""The functions whose examples need such a library."""


def pytest_configure(config):
    """Pass over the examples of modules whose library is not there."""
    for module, library in GUARDED_MODULES.items():
        if find_spec(library) is None:
            path = PACKAGE.parent.joinpath(*module.split("."))
            config.option.ignore = [*(config.option.ignore or []), str(path), f"{path}.py"]


def pytest_make_parametrize_id(val):
    """Name functions by their names, which are the same in every process, unlike where they lie."""
    if isinstance(val, partial):
        return "-".join([val.func.__name__, *(f"{name}={value}" for name, value in val.keywords.items())])
    return getattr(val, "__name__", None)


def pytest_collection_modifyitems(items):
    """Skip the examples of functions whose library is not there."""
    for item in items:
        library = GUARDED_FUNCTIONS.get(item.name)
        if library is not None and find_spec(library) is None:
            item.add_marker(pytest.mark.skip(f"{library} is not installed; the extra exchange has it"))


def pytest_collection_finish():
    """Take what was imported out of what the collector looks at, a tenth of the time of tests."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown():
    """Close the figures of a test: pyplot warns of more than 20, whichever test opened them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:  # as in tests without the library
        pyplot.close("all")


@cache
def read_reference(name):
    """Read a file of reference figures."""
    return json.loads((REFERENCE / f"{name}.json").read_text())


@cache
def reference_frame(name):
    """Return the data of a reference file, with the levels in the file's order."""
    reference = read_reference(name)
    frame = bn.load_car() if name.startswith("car") else bn.load_voting()
    if name.startswith("voting_complete"):
        frame = frame.dropna().reset_index(drop=True)
    if "levels" not in reference:
        reference = read_reference("voting_complete" if name.startswith("voting") else "car")
    return pd.DataFrame({v: pd.Categorical(frame[v], labels) for v, labels in reference["levels"].items()})


@pytest.fixture(scope="session")
def car():
    return bn.load_car()


@pytest.fixture(scope="session")
def pima():
    return bn.load_pima()


@pytest.fixture(scope="session")
def single(pima):
    """A sum of single effects of the Pima data."""
    return bn.bnc(class_var="diabetes", dataset=pima, pairs=0)


@pytest.fixture(scope="session")
def voting():
    return bn.load_voting()


@pytest.fixture(scope="session")
def votes(voting):
    """The complete rows of the voting data."""
    return voting.dropna().reset_index(drop=True)


@pytest.fixture(scope="session")
def duck():
    return pytest.importorskip("ibis", reason="the extra databases has ibis").duckdb.connect()


@pytest.fixture(scope="session")
def postgres():
    with server_of_postgres() as server:
        yield server


@pytest.fixture
def forms(request, tmp_path):
    """Functions that put a frame into a form of data in which rows can stay where they are."""
    return {
        "chunks": lambda frame: chunks(frame, 300),
        "partitions": lambda frame: by_dask(frame, 5),
        "duckdb": lambda frame: in_duckdb(request.getfixturevalue("duck"), frame),
        "parquet": lambda frame: in_parquet(request.getfixturevalue("duck"), frame, tmp_path),
        "postgres": lambda frame: in_postgres(request.getfixturevalue("postgres"), frame),
    }


@pytest.fixture(
    params=["duckdb", *[pytest.param(s, marks=pytest.mark.slow) for s in ("parquet", "postgres")]]
)
def store(request, forms):
    """A function that puts a frame into a database and returns its table."""
    return forms[request.param]


def scores_of(x):
    """The scores of the steps of a greedy search."""
    return bn.search_steps(x).attrs["scores"]
