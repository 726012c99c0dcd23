"""Markov blankets by tests, and the best superparent."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import chdtrc
from scipy.stats import chi2

import bnclassify as bn
from bnclassify.counts import log_chi_square_p

from .test_arc_strength import figures
from .test_networks import NAMES, class_of, frame

TESTS = {"mi": "g2", "x2": "x2"}


@pytest.mark.parametrize("name", NAMES)
def test_blankets_are_those_of_bnlearn(name):
    data, class_var = frame(name), class_of(name)
    for case in figures()[name]["markov_blanket"].values():
        found = bn.learn_blanket(class_var, data, alpha=case["alpha"], test=TESTS[case["test"]])
        assert set(found) == set(case["twin_by_log_p"])
        assert list(found) == [column for column in data if column in found]


@pytest.mark.parametrize("name", NAMES)
def test_blankets_of_features_are_those_of_bnlearn(name):
    for target, expected in figures()[name]["markov_blanket_other_targets"].items():
        assert set(bn.learn_blanket(target, frame(name))) == set(expected), target


@pytest.mark.parametrize("df", [1, 2, 7, 60, 501, 20_000])
def test_logs_of_small_p(df):
    for z in (-1, 0.5, 3, 20):
        statistic = float(df * (1 - 2 / (9 * df) + z * np.sqrt(2 / (9 * df))) ** 3)
        expected = float(chdtrc(df, statistic))
        if expected > 1e-280:
            assert log_chi_square_p(statistic, df) == pytest.approx(np.log(expected), rel=1e-12)
    # Where p is a float, the continued fraction agrees with it; below, it falls smoothly.
    edge = float(chi2.isf(1e-279, df))
    logs = [log_chi_square_p(edge * (1 + 1e-3 * i), df) for i in range(9)]
    assert logs[0] == pytest.approx(np.log(1e-279), rel=1e-9)
    slopes = np.diff(logs)
    assert (slopes < 0).all()
    assert np.abs(np.diff(slopes)).max() < 0.01 * np.abs(slopes).max()
    assert log_chi_square_p(5.0, 0) == 0


def test_p_values_that_underflow_are_compared_by_their_logs():
    """Column order would choose the weaker of two features, whose p are both 0 as floats."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=20_000)
    weak, strong = [np.where(rng.random(20_000) < p, y, 1 - y) for p in (0.85, 0.95)]
    weak = np.where(rng.random(20_000) < 0.9, strong, rng.integers(2, size=20_000))
    data = pd.DataFrame({"weak": weak, "strong": strong, "y": y})
    assert bn.ci_test("weak", "y", data)["p"] == bn.ci_test("strong", "y", data)["p"] == 0
    assert bn.learn_blanket("y", data) == ("strong",)


def test_blankets_from_parts_weights_and_incomplete_rows(car, voting):
    expected = bn.learn_blanket("class", car)
    assert expected == ("buying", "maint", "persons", "safety")
    assert bn.learn_blanket("class", [car.iloc[:500], car.iloc[500:]]) == expected
    counted = car.groupby(list(car.columns), observed=True).size().reset_index(name="n")
    assert bn.learn_blanket("class", bn.encode(counted, weights="n")) == expected
    assert "physician_fee_freeze" in bn.learn_blanket("Class", voting)
    assert bn.learn_blanket("class", car[["doors", "class"]], alpha=0.001) == ()
    chosen = bn.nb("class", car, features=expected)
    assert bn.features(chosen) == expected


@pytest.mark.parametrize("score", ["loglik", "aic", "bic", "bde", "k2"])
@pytest.mark.parametrize("name", NAMES)
def test_the_best_superparent(name, score):
    data, class_var = frame(name), class_of(name)
    features = [column for column in data if column != class_var]
    x = bn.spode(class_var, data, score=score)
    assert bn.is_ode(x)
    every = {
        s: bn.network_score(bn.anb(class_var, {f: [s] for f in features if f != s}, data), data, score=score)
        for s in features
    }
    found = bn.network_score(x, data, score=score)
    assert found == pytest.approx(max(every.values()), abs=1e-6)
    reference = figures()[name]["superparent_by_score"]
    if score in ("loglik", "bic"):
        [best] = {family[1] for family in bn.families(x).values() if len(family) == 3}
        assert best == reference[f"best_by_{score}"]
        expected = max(network[score] for network in reference["networks"])
        assert found == pytest.approx(expected, rel=1e-12)


def test_superparents_of_few_features_parts_and_choices(car, voting):
    assert bn.is_nb(bn.spode("class", car[["doors", "class"]]))
    x = bn.spode("class", car, features=["doors", "persons", "maint"])
    assert bn.features(x) == ("maint", "doors", "persons")
    in_parts = bn.spode("class", [car.iloc[:500], car.iloc[500:]])
    assert bn.modelstring(in_parts) == bn.modelstring(bn.spode("class", car))
    incomplete = bn.spode("Class", voting)
    assert bn.is_ode(incomplete)
    assert bn.cv(bn.bnc("spode", "class", car, smooth=1), car, k=5, rng=0) > 0.85


def test_holm_counts_the_variables_that_are_tested(car):
    """Of 6 features, 5 are tested for the second place: p is multiplied by 5."""
    others = [v for v in car.columns if v not in ("safety", "class")]
    p = min(bn.ci_test(v, "class", car, z="safety")["p"] for v in others)
    for factor, n in ((4.5, 1), (5.5, 2)):
        found = bn.learn_blanket("class", car, alpha=p * factor, adjust="holm")
        assert len(found) == n
        assert "safety" in found


@pytest.mark.slow
def test_holm_bounds_the_share_of_wrong_blankets():
    """Of data sets without any dependence, about 5 % and not half have a blanket that is not empty."""
    rng, sets = np.random.default_rng(0), 60
    found = {"none": 0, "holm": 0}
    for _ in range(sets):
        noise = pd.DataFrame(rng.integers(2, size=(300, 17))).add_prefix("x").astype(str)
        for adjust in found:
            found[adjust] += bool(bn.learn_blanket("x16", noise, adjust=adjust))
    assert found["holm"] <= 8  # more has probability .002 at a share of .05
    assert found["none"] >= 20
    car = bn.load_car()
    assert set(bn.learn_blanket("class", car, adjust="holm")) <= set(bn.learn_blanket("class", car))
    with pytest.raises(ValueError, match="adjust must be one of 'none', 'holm'"):
        bn.learn_blanket("class", car, adjust="fdr")
