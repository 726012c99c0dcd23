"""Intervals of posteriors by refits without each group of the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import bnclassify as bn
from bnclassify.fitting.refits import with_refits
from bnclassify.fitting.rounds import plan_rounds
from bnclassify.inference.predict import jackknife_bounds


def log_odds(p: np.ndarray) -> np.ndarray:
    return np.log(p) - np.log1p(-p)


def test_bounds_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    others, estimate = rng.beta(3, 5, (12, 4, 2)), rng.beta(3, 5, (4, 2))
    low, high = jackknife_bounds(estimate, others, 0.8)
    for row in range(4):
        for label in range(2):
            odds = log_odds(others[:, row, label])
            variance = 11 / 12 * sum((odd - odds.mean()) ** 2 for odd in odds)
            width = student.ppf(0.9, 11) * np.sqrt(variance)
            center = log_odds(estimate[row, label])
            assert log_odds(low[row, label]) == pytest.approx(center - width)
            assert log_odds(high[row, label]) == pytest.approx(center + width)


def test_bounds_of_equal_and_of_extreme_refits() -> None:
    estimate = np.array([[0.0, 1.0, 0.25, 1e-200]])
    bounds = jackknife_bounds(estimate, np.stack([estimate] * 5), 0.9)
    np.testing.assert_allclose(bounds, np.stack([estimate] * 2), rtol=1e-9, atol=1e-300)
    others = np.stack([estimate[:, ::-1], estimate, estimate])
    low, high = jackknife_bounds(estimate, others, 0.9)
    assert np.isfinite([low, high]).all()
    assert (low <= estimate).all()
    assert (estimate <= high).all()


def test_what_occurs_in_no_row_can_be_possible() -> None:
    """Of 200 rows, none has the class: P = 0 in all refits, but a share of 1 of 200 is not excluded."""
    estimate = np.array([[0.001, 0.999]])
    low, high = jackknife_bounds(estimate, np.stack([estimate] * 5), 0.9, 1 / 200)
    np.testing.assert_allclose(low, [[0.0, 0.999 - 1 / 200]])
    np.testing.assert_allclose(high, [[0.001 + 1 / 200, 1.0]])


def test_the_jackknife_of_a_share_is_the_binomial_variance() -> None:
    """Of a logistic model without features: the variance of the log odds is 1 / (n p (1 - p))."""
    n, groups = 2000, 40
    y = np.arange(n) % 10 < 3
    shuffled = np.random.default_rng(1).permutation(y)
    others = [np.delete(shuffled, np.arange(g, n, groups)).mean() for g in range(groups)]
    low, high = jackknife_bounds(np.array([[y.mean()]]), np.array(others)[:, None, None], 0.9)
    width = (log_odds(high) - log_odds(low)).item() / 2
    assert width == pytest.approx(student.ppf(0.95, groups - 1) / np.sqrt(n * 0.3 * 0.7), rel=0.35)


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    return bn.load_voting()[["crime", "immigration", "physician_fee_freeze", "Class"]]


def test_models_with_refits_give_intervals(votes: pd.DataFrame, tmp_path: Path) -> None:
    terms = {"terms": ("slopes", "shifts", "gaps")}
    options = {"held_out": "weights", "held_out_args": terms, "missing_level": False}
    x = bn.bnc("nb", "Class", votes, backoff=True, **options)
    with pytest.raises(ValueError, match="interval must be None"):
        bn.predict(x, votes, prob=True, interval=0.9)
    kept = with_refits(x, votes, draws=8)
    assert bn.predict(kept, votes, prob=True).equals(bn.predict(x, votes, prob=True))
    found = bn.predict(kept, votes, prob=True, interval=0.9)
    wider = bn.predict(kept, votes, prob=True, interval=0.99)
    by = [found.xs(part, axis=1, level=1) for part in ("lower", "estimate", "upper")]
    assert (by[0] <= by[1]).all().all()
    assert (by[1] <= by[2]).all().all()
    assert (by[0] < by[2]).any().any()
    assert (wider.xs("lower", axis=1, level=1) <= by[0]).all().all()
    np.testing.assert_allclose(by[0]["democrat"], 1 - by[2]["republican"], atol=1e-9)
    prior = bn.predict(kept, votes, prob=True, interval=0.9, prior={"democrat": 0.1, "republican": 0.9})
    assert (prior["republican"]["lower"] >= by[0]["republican"] - 1e-12).all()
    bn.save(kept, tmp_path / "kept.json")
    assert bn.predict(bn.load(tmp_path / "kept.json"), votes, prob=True, interval=0.9).equals(found)
    assert "8 refits" in " ".join(repr(kept).split())


@pytest.mark.slow
def test_sums_with_refits_are_cross_validated_as_without() -> None:
    """The refits add no pairs to the recipe."""
    pima = bn.load_pima()[["glucose", "age", "diabetes"]].head(200)
    x, plain = (
        bn.bnc(class_var="diabetes", dataset=pima, additive=True, interval=interval, draws=2)
        for interval in (True, False)
    )
    assert bn.cv(x, pima, k=2, rng=0) == bn.cv(plain, pima, k=2, rng=0)


def test_refits_hold_out_cases_and_follow_the_seed(votes: pd.DataFrame) -> None:
    x = bn.bnc("nb", "Class", votes, smooth=1)
    cases = np.arange(len(votes)) // 5
    kept = with_refits(x, votes, draws=5, groups=cases)
    sizes = [model.recipe.rows.size for model in kept.learned["refits"]]
    assert sum(len(votes) - size for size in sizes) == len(votes)
    seeds = [with_refits(x, votes, draws=5, rng=seed) for seed in (0, 0, 1)]
    found = [bn.predict(one, votes, prob=True, interval=0.9) for one in seeds]
    assert found[0].equals(found[1])
    assert not found[0].equals(found[2])
    with pytest.raises(ValueError, match=r"draws must be a whole number from 2 to \d+; got 1\."):
        with_refits(x, votes, draws=1)
    few = votes.groupby("Class", observed=True).head(8)
    with pytest.raises(ValueError, match=r"draws must be a whole number from 2 to 16; got 20\."):
        bn.bnc("nb", "Class", few, smooth=1, interval=True)
    counts = bn.encode(few, weights=np.full(16, 3.0), weights_are="frequencies")  # 48 rows
    refits = bn.bnc("nb", "Class", counts, smooth=1, interval=True, draws=20).learned["refits"]
    assert {model.recipe.rows.size for model in refits} == {45, 46}
    groups = np.arange(16) % 9
    with pytest.raises(ValueError, match=r"draws must be a whole number from 2 to 9; got 10\."):
        bn.bnc("nb", "Class", few, groups=groups, interval=True, draws=10)


def test_rounds_have_seeds_of_their_own(votes: pd.DataFrame) -> None:
    x = bn.bnc("nb", "Class", votes, smooth=1)
    plans = [plan_rounds({0: x}, votes, k=3, repeats=2, groups=None, rng=seed) for seed in (0, 0, 1)]
    seeds = [[round_.seed for round_ in plan.rounds] for plan in plans]
    assert seeds[0] == seeds[1]
    assert len({*seeds[0], *seeds[2]}) == 12


def test_messages_of_refits_name_their_own_arguments(car: pd.DataFrame) -> None:
    rare = pd.concat([car.head(5)] * 6, ignore_index=True).assign(**{"class": ["a", "b"] * 15})
    rare.loc[0, "class"] = "rare"
    bn.bnc("nb", "class", rare, smooth=1, interval=True)  # no warning of classes with fewer rows than k
    with pytest.raises(ValueError, match="at least 2 rows or groups with interval=True"):
        bn.bnc("nb", "class", car.head(1), smooth=1, interval=True, draws=2)
