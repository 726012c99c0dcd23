"""The default at its limits: unequal classes, few rows, rows without a class, rare values and levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore")


def numbers(rng: np.random.Generator, n: int, columns: int) -> pd.DataFrame:
    return pd.DataFrame(rng.normal(size=(n, columns))).add_prefix("x")


def posteriors(frame: pd.DataFrame, new: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return bn.predict(bn.bnc(class_var="y", dataset=frame, **options), new, prob=True)


@pytest.mark.slow
@given(share=st.sampled_from([0.05, 0.1, 0.3]), columns=st.integers(1, 6), seed=st.integers(0, 1000))
@examples(8)
def test_the_mean_posterior_is_the_share_of_a_class_if_features_say_nothing(
    share: float, columns: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(200) < 200 * share, "rare", "usual")
    p = posteriors(numbers(rng, 200, columns).assign(y=labels), numbers(rng, 500, columns))
    assert p["rare"].mean() == pytest.approx(share, rel=0.25)


def test_classes_of_one_row_each_do_not_gain_much() -> None:
    rng = np.random.default_rng(3)
    labels = np.array(["usual"] * 150 + [f"once {i}" for i in range(50)])
    p = posteriors(numbers(rng, 200, 2).assign(y=labels), numbers(rng, 200, 2))
    assert 1 - p["usual"].mean() < 0.4  # their share is 1/4


@pytest.mark.slow
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_a_row_without_class_changes_nothing(far: float) -> None:
    women = bn.load_pima()
    row = women.head(1).assign(diabetes=None)
    row.iloc[:, :8] = far
    more = pd.concat([women, row], ignore_index=True)
    more["diabetes"] = pd.Categorical(more["diabetes"], categories=["no", "yes"])
    first, second = (
        bn.predict(bn.bnc(class_var="diabetes", dataset=rows), women, prob=True) for rows in (women, more)
    )
    pd.testing.assert_frame_equal(first, second, check_exact=True)


def test_one_missing_value_is_hardly_evidence() -> None:
    rng = np.random.default_rng(5)
    frame = numbers(rng, 200, 2)
    labels = np.where(rng.random(200) < 1 / (1 + np.exp(-2 * frame["x0"])), "u", "v")
    frame.loc[0, "x0"] = np.nan
    model: Any = bn.bnc(class_var="y", dataset=frame.assign(y=labels))
    shift, nothing = model.gaps
    assert nothing is None
    assert np.abs(shift).max() < 0.2


@pytest.mark.slow
def test_ten_rows_of_noise_leave_the_default_uncertain() -> None:
    losses = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p = posteriors(numbers(rng, 10, 2).assign(y=["u", "v"] * 5), numbers(rng, 500, 2))
        losses.append(-np.log(p.to_numpy()).mean() - np.log(2))
    assert np.mean(losses) < 0.08


def test_features_have_no_parents_if_rows_are_few() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 20))).add_prefix("x").astype(str)
    model = bn.bnc(class_var="y", dataset=frame.assign(y=(frame["x0"] == frame["x1"]).astype(str)))
    assert bn.is_nb(model)


@pytest.mark.slow
def test_all_levels_have_shifts_if_all_are_equally_frequent() -> None:
    rng = np.random.default_rng(0)
    code = np.repeat(np.arange(1030), 2)
    own = 1 / (1 + np.exp(-2 * rng.normal(size=1030)[code]))
    frame = pd.DataFrame({"code": np.char.add("k", code.astype(str)), "y": rng.random(len(code)) < own})
    model: Any = bn.bnc(class_var="y", dataset=frame.astype(str))
    assert [shift.shape for shift in model.shifts] == [(1031, 2)]
