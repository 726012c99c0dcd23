"""What several tests share: the reference figures and the data they belong to."""

from __future__ import annotations

import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import settings

import bnclassify as bn

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# The examples of functions that hand a model to an optional library need it.
_OPTIONAL = {f"bnclassify.exchange.libraries.to_{name}": name for name in ("networkx", "pgmpy", "pyagrum")}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        library = _OPTIONAL.get(item.name)
        if library is not None and importlib.util.find_spec(library) is None:
            item.add_marker(pytest.mark.skip(f"{library} is not installed; the extra exchange has it"))


REFERENCE = Path(__file__).parent / "reference"


@cache
def read_reference(name: str) -> dict[str, Any]:
    """Read a file of reference figures."""
    return json.loads((REFERENCE / f"{name}.json").read_text())


@cache
def reference_frame(name: str) -> pd.DataFrame:
    """Return the data of a reference file, with the levels in the file's order."""
    reference = read_reference(name)
    frame = bn.load_car() if name.startswith("car") else bn.load_voting()
    if name.startswith("voting_complete"):
        frame = frame.dropna().reset_index(drop=True)
    if "levels" not in reference:
        reference = read_reference("voting_complete" if name.startswith("voting") else "car")
    return pd.DataFrame({v: pd.Categorical(frame[v], labels) for v, labels in reference["levels"].items()})


@pytest.fixture(scope="session")
def car() -> pd.DataFrame:
    """The car data."""
    return bn.load_car()


@pytest.fixture(scope="session")
def voting() -> pd.DataFrame:
    """The voting data, missing values included."""
    return bn.load_voting()


@pytest.fixture(scope="session")
def votes(voting: pd.DataFrame) -> pd.DataFrame:
    """The complete rows of the voting data."""
    return voting.dropna().reset_index(drop=True)
