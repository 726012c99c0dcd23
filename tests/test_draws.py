"""Intervals of posteriors by draws of the effects of a sum."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import bnclassify as bn
from bnclassify.models import EffectTable


def log_odds(p):
    return np.log(p) - np.log1p(-p)


def test_bounds_are_those_of_the_formula(votes):
    x = bn.bnc(class_var="Class", dataset=votes, interval=True, draws=6)
    rows = votes.head(9)
    draws = [log_odds(bn.predict(draw, rows, prob=True)["democrat"]) for draw in x.learned["draws"]]
    half = student.ppf(0.9, 5) * np.std(draws, axis=0, ddof=1)
    found = bn.predict(x, rows, prob=True, interval=0.8)["democrat"].map(log_odds)
    np.testing.assert_allclose(found["lower"], found["estimate"] - half)
    np.testing.assert_allclose(found["upper"], found["estimate"] + half)


def test_bounds_of_equal_and_of_extreme_draws():
    effects = pd.DataFrame({"feature": ["y", *"xxxx"], "value": ["n", *"abcd"], "p": [0, -800, 800, 1, -460]})
    x, rows = bn.from_effects(effects), pd.DataFrame({"x": [*"abcd"]})
    other = bn.from_effects(effects.assign(p=-effects["p"]))
    for draws in ([x] * 5, [other, x, x]):
        found = bn.predict(replace(x, learned={"draws": draws}), rows, prob=True, interval=0.9)
        low, estimate, high = (found.xs(p, axis=1, level=1) for p in ("lower", "estimate", "upper"))
        assert np.isfinite(found).all(axis=None)
        assert ((low <= estimate) & (estimate <= high)).all(axis=None)
        is_exact = np.allclose(low, high, rtol=1e-9, atol=1e-300)
        assert is_exact == (other not in draws)


@pytest.fixture(scope="module")
def votes():
    return bn.load_voting()[["crime", "immigration", "physician_fee_freeze", "Class"]]


def test_sums_with_draws_give_intervals(votes, tmp_path):
    x = bn.bnc(class_var="Class", dataset=votes)
    with pytest.raises(ValueError, match="interval must be None"):
        bn.predict(x, votes, prob=True, interval=0.9)
    kept = bn.bnc(class_var="Class", dataset=votes, interval=True, draws=5)
    assert bn.predict(kept, votes, prob=True).equals(bn.predict(x, votes, prob=True))
    found = bn.predict(kept, votes, prob=True, interval=0.9)
    wider = bn.predict(kept, votes, prob=True, interval=0.99)
    by = [found.xs(part, axis=1, level=1) for part in ("lower", "estimate", "upper")]
    assert (by[0] <= by[1]).all().all()
    assert (by[1] <= by[2]).all().all()
    is_known = votes.drop(columns="Class").notna().any(axis=1)  # other rows have the class shares
    assert (by[0] < by[2])[is_known].all().all()
    assert (wider.xs("lower", axis=1, level=1) <= by[0]).all().all()
    np.testing.assert_allclose(by[0]["democrat"], 1 - by[2]["republican"], atol=1e-9)
    prior = bn.predict(kept, votes, prob=True, interval=0.9, prior={"democrat": 0.1, "republican": 0.9})
    assert (prior["republican"]["lower"] >= by[0]["republican"] - 1e-12).all()
    bn.save(kept, tmp_path / "kept.json")
    assert bn.predict(bn.load(tmp_path / "kept.json"), votes, prob=True, interval=0.9).equals(found)
    assert "5 draws" in " ".join(repr(kept).split())
    again = bn.bnc(class_var="Class", dataset=votes, interval=True, draws=5)
    assert bn.predict(again, votes, prob=True, interval=0.9).equals(found)


@pytest.mark.filterwarnings("ignore:The log-loss rises")
def test_tables_and_cards_keep_the_draws(tmp_path):
    pima = bn.load_pima()[["glucose", "pressure", "age", "diabetes"]]
    x = bn.bnc(class_var="diabetes", dataset=pima, pairs=0, interval=True, draws=6)
    assert all(isinstance(draw, EffectTable) for draw in x.learned["draws"])
    known = bn.predict(x, pima, prob=True, interval=0.9)["yes"]
    width = (known["upper"] - known["lower"]).mean()
    rising = bn.monotonize(x, {"age": "increasing", "glucose": "increasing"}, pima)
    for draw in rising.learned["draws"]:
        effects = bn.effects(draw)
        assert effects["yes"][
            (effects["feature"] == "age") & (effects["value"] != "(missing)")
        ].is_monotonic_increasing
    for one in (rising, bn.scorecard(rising, most_intervals=6), bn.scorecard(x, pdo=20)):
        found = bn.predict(one, pima, prob=True, interval=0.9)["yes"]
        assert found["estimate"].tolist() == bn.predict(one, pima, prob=True)["yes"].tolist()
        assert 0.5 * width < (found["upper"] - found["lower"]).mean() < 1.5 * width
        bn.save(one, tmp_path / "one.json")
        assert bn.predict(bn.load(tmp_path / "one.json"), pima, prob=True, interval=0.9)["yes"].equals(found)
    with pytest.raises(ValueError, match=r"as in bnc\(class_var=\.\.\., dataset=\.\.\., interval=True\)"):
        bn.predict(bn.from_effects(bn.effects(x)), pima, prob=True, interval=0.9)


def test_intervals_of_cards_need_only_the_features_of_the_card():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, size=(300, 3)), columns=["noise", "a", "b"]).astype(str)
    frame["y"] = np.where((frame["a"] == "1") ^ (rng.random(300) < 0.2), "yes", "no")
    x = bn.bnc(class_var="y", dataset=frame, pairs=0, interval=True, draws=4)
    card = bn.scorecard(x, largest=2)
    assert bn.features(card) == ("a",)
    draws = [log_odds(bn.predict(draw, frame[["a"]], prob=True)["yes"]) for draw in card.learned["draws"]]
    found = bn.predict(card, frame, prob=True, interval=0.9)["yes"].map(log_odds)
    half = student.ppf(0.95, 3) * np.std(draws, axis=0, ddof=1)
    np.testing.assert_allclose(found["upper"], found["estimate"] + half)


@pytest.mark.slow
def test_intervals_of_a_sum_cover_the_truth():
    """Of 90 % intervals, about 90 % contain the probability with which the class was drawn."""
    covered = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(400, 3))).add_prefix("x")
        truth = 1 / (1 + np.exp(-frame["x0"] - np.sin(2 * frame["x1"])))
        frame["y"] = np.where(rng.random(400) < truth, "yes", "no")
        x = bn.bnc(class_var="y", dataset=frame, pairs=0, interval=True, draws=50)
        found = bn.predict(x, frame, prob=True, interval=0.9)["yes"]
        covered.append(((found["lower"] <= truth) & (truth <= found["upper"])).mean())
    assert 0.85 <= np.mean(covered) <= 0.97


@pytest.mark.filterwarnings("ignore:all rows have the class", "ignore:no feature remains")
@pytest.mark.parametrize("frame", [{"y": [*"ab"] * 5}, {"x": [1.0, 2.0, 3.0] * 4, "y": ["a"] * 12}])
def test_without_features_or_with_one_class_intervals_have_no_width(frame):
    frame = pd.DataFrame(frame)
    found = bn.predict(bn.bnc(class_var="y", dataset=frame, interval=True), frame, prob=True, interval=0.9)
    lower, estimate, upper = (found.xs(part, axis=1, level=1) for part in ("lower", "estimate", "upper"))
    np.testing.assert_allclose(lower, estimate, rtol=0, atol=1e-12)
    np.testing.assert_allclose(upper, estimate, rtol=0, atol=1e-12)
