"""New data that differ from the training data: ranges of numbers, unseen values, other indexes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Return rows with a number, with a number without a cut point, with codes and with text."""
    rng = np.random.default_rng(0)
    weight = rng.normal(70, 10, 200).round(1)
    frame = pd.DataFrame({"weight": weight, "noise": rng.integers(18, 90, 200)})
    frame["code"], frame["sex"] = rng.integers(0, 4, 200), rng.choice(["f", "m"], 200)
    frame["ill"] = np.where(weight + 5 * rng.normal(size=200) > 70, "yes", "no")
    return frame


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"smooth": 1, "discretize": "mdlp"},
        {"smooth": 1, "discretize": "averaged"},
        {"smooth": 1, "numbers": "gaussian"},
        {"smooth": 1, "numbers": "kernel"},
    ],
    ids=str,
)
def test_a_model_knows_the_ranges_of_training_values(
    people: pd.DataFrame, how: dict[str, Any], tmp_path: Path
) -> None:
    """They include a column that the model dropped, because no cut point was found."""
    model = bn.bnc("nb", "ill", people, **how)
    ends = people[["weight", "noise", "code"]].agg(["min", "max"]).astype(float)
    expected = {name: (low, high) for name, (low, high) in ends.items()}
    assert dict(model.training_ranges) == expected
    bn.save(model, tmp_path / "model.json")
    assert dict(bn.load(tmp_path / "model.json").training_ranges) == expected


def test_ranges_follow_the_rows_of_a_model(people: pd.DataFrame) -> None:
    """An update widens them, a table of effects keeps them, and a row of weight 0 does not count."""
    model = bn.bnc("nb", "ill", people, smooth=1, discretize="mdlp")
    grown = bn.update(model, people.assign(weight=people["weight"] + 100))
    low, high = model.training_ranges["weight"]
    assert grown.training_ranges["weight"] == (low, high + 100)
    assert bn.scorecard(model).training_ranges["weight"] == (low, high)
    far = pd.concat([people, people.head(1).assign(weight=400)], ignore_index=True)
    weights = np.append(np.ones(len(people)), 0.0)
    rows = bn.encode(far, weights=weights)
    assert bn.bnc("nb", "ill", rows, smooth=1, numbers="gaussian").training_ranges["weight"] == (
        low,
        high,
    )
