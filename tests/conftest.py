"""What several tests share: the reference figures and the data they belong to."""

from __future__ import annotations

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
