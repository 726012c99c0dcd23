"""Tests of conditional independence."""

import itertools
import json
from math import lgamma, log

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

import bnclassify as bn
from bnclassify.counts import log_chi_square_p

from .conftest import REFERENCE
from .test_uncertainty import frame

FIGURES = json.loads((REFERENCE / "networks" / "uncertainty.json").read_text())


@pytest.mark.parametrize("name", ["car", "breast"])
def test_statistic_degrees_of_freedom_and_p(name):
    for x, y, z, *expected in FIGURES[name]["tests"]:
        for test, (statistic, df, p) in zip(("g2", "x2"), expected, strict=True):
            found = bn.ci_test(x, y, frame(name), z=z or None, test=test)
            assert found["statistic"] == pytest.approx(statistic, rel=1e-10, abs=1e-9)
            assert found["df"] == df
            assert found["p"] == pytest.approx(p, rel=1e-10, abs=1e-300)
            assert found.index.tolist() == ["statistic", "df", "p"]


@pytest.mark.parametrize("test", ["g2", "x2"])
def test_permutations_against_all_of_them(test):
    """Six rows in two strata: every permutation of y within the strata."""
    data = pd.DataFrame({"x": list("aabbab"), "y": list("ppqqqp"), "z": list("uuuuvv")})
    observed = bn.ci_test("x", "y", data, z="z", test=test)["statistic"]
    as_large = []
    for first in itertools.permutations(range(4)):
        for second in itertools.permutations((4, 5)):
            permuted = data.assign(y=data["y"].to_numpy()[[*first, *second]])
            statistic = bn.ci_test("x", "y", permuted, z="z", test=test)["statistic"]
            as_large.append(statistic >= observed - 1e-9)
    found = bn.ci_test("x", "y", data, z="z", test=test, permutations=4000, rng=0)
    assert found["statistic"] == observed
    assert found["p"] == pytest.approx(np.mean(as_large), abs=0.03)


def test_permuted_tables_have_the_distribution_of_scipy():
    """Of a 2 x 2 table, X² of all tables with its margins is Fisher's test by |deviation|."""
    data = pd.DataFrame({"x": list("a" * 9 + "b" * 7), "y": list("p" * 7 + "q" * 2 + "p" * 2 + "q" * 5)})
    found = bn.ci_test("x", "y", data, test="x2", permutations=20_000, rng=1)["p"]
    law = stats.hypergeom(16, 9, 9)
    values = np.arange(2, 10)
    distance = abs(values - law.mean())
    assert found == pytest.approx(law.pmf(values[distance >= abs(7 - law.mean()) - 1e-9]).sum(), abs=0.012)


@pytest.mark.slow
def test_permutation_p_is_uniform_where_chi_square_is_not():
    """Given z, x and y are independent; with 30 rows and 32 cells, G² rejects at random."""
    rng, exact, approximate = np.random.default_rng(2), [], []
    for seed in range(200):
        z = rng.integers(2, size=30)
        columns = {v: (rng.integers(4, size=30) + z * rng.integers(2, size=30)) % 4 for v in "xy"}
        data = pd.DataFrame({**columns, "z": z}).astype(str)
        approximate.append(bn.ci_test("x", "y", data, z="z")["p"] < 0.2)
        exact.append(bn.ci_test("x", "y", data, z="z", permutations=99, rng=seed)["p"] <= 0.2)
    assert 0.13 < np.mean(exact) < 0.27
    assert abs(np.mean(approximate) - 0.2) > 0.15


def test_incomplete_rows_weights_and_parts():
    voting = bn.load_voting()
    names = ["mx_missile", "crime", "Class"]
    complete = voting.dropna(subset=names)
    expected = bn.ci_test(*names[:2], complete, z="Class")
    pd.testing.assert_series_equal(bn.ci_test(*names[:2], voting, z=["Class"]), expected)
    chunks = [voting.iloc[:200], voting.iloc[200:]]
    in_parts = bn.ci_test(*names[:2], bn.encode(chunks, in_memory=False), z="Class", permutations=50, rng=0)
    assert in_parts["statistic"] == pytest.approx(expected["statistic"])
    assert in_parts["p"] == bn.ci_test(*names[:2], voting, z="Class", permutations=50, rng=0)["p"]
    weighted = bn.encode(complete.assign(w=3), weights="w")
    repeated = pd.concat([complete] * 3)
    pd.testing.assert_series_equal(
        bn.ci_test(*names[:2], weighted, z="Class"), bn.ci_test(*names[:2], repeated, z="Class")
    )
    one = pd.DataFrame({"x": ["a", "a"], "y": ["p", "q"]})
    assert bn.ci_test("x", "y", one).tolist() == [0, 0, 1]


def test_the_p_of_permutations_is_never_0():
    """The observed table is one of the permutations, so the smallest p of n is 1 / (1 + n)."""
    data = pd.DataFrame({"x": [*"ab"] * 40, "y": [*"cd"] * 40})
    assert bn.ci_test("x", "y", data, permutations=9, rng=0)["p"] == 1 / 10
    assert bn.ci_test("x", "y", data.assign(y="c"), permutations=9, rng=0)["p"] == 1


@pytest.mark.parametrize(("test", "n"), [("g2", 1000), ("g2", 1060), ("x2", 700), ("x2", 740)])
def test_the_smallest_p_that_floats_hold(test, n):
    """If x has four levels that decide y, of two, G² is 2 n ln 2 and X² is n; of six strata, 18 degrees."""
    data = pd.DataFrame({"x": [*"abcd"], "y": [*"uuvv"]}).merge(pd.DataFrame({"z": [*"pqrstk"]}), how="cross")
    n, ratio = (n, 2 * log(2)) if test == "g2" else (2 * n, 1)
    found = bn.ci_test("x", "y", bn.encode(data.assign(n=n / 24), weights="n"), z="z", test=test)
    assert found["statistic"] == pytest.approx(ratio * n, rel=1e-12)
    assert found["df"] == 18
    terms = [j * log(ratio * n / 2) - lgamma(j + 1) for j in range(9)]
    assert log(found["p"]) == pytest.approx(logsumexp(terms) - ratio * n / 2, rel=1e-12)
    assert 1e-308 < found["p"] < 1e-280


@pytest.mark.parametrize("df", [2, 8, 60])
def test_logs_of_p_that_is_too_small_for_a_float(df):
    """If df is even, P(χ² > s) is the sum of exp(−s/2) (s/2)^j / j! over j < df/2."""
    for statistic in (2_000.0, 50_000.0):
        terms = [j * log(statistic / 2) - lgamma(j + 1) for j in range(df // 2)]
        expected = logsumexp(terms) - statistic / 2
        assert log_chi_square_p(statistic, df) == pytest.approx(expected, rel=1e-13)
