"""Comparing models: pairs on one data set, ranks over several, against published and recomputed figures."""

import itertools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import bnclassify as bn

from .conftest import REFERENCE

FIGURES = json.loads((REFERENCE / "comparisons.json").read_text())
BAYES_T = json.loads((REFERENCE / "networks" / "uncertainty.json").read_text())["bayes_t"]
GRID = pd.MultiIndex.from_product([range(5), range(2)], names=["repeat", "fold"])


def table(case, index=None):
    return pd.DataFrame({"a": np.ravel(case["acc_a"]), "b": np.ravel(case["acc_b"])}, index=index)


@pytest.fixture(scope="module")
def models(car):
    return {
        "nb": bn.lp(bn.nb("class", car), car, smooth=1),
        "tan": bn.lp(bn.tan_cl("class", car), car, smooth=1),
    }


@pytest.mark.parametrize("case", FIGURES["five_by_two"])
def test_five_by_two(case):
    t = bn.compare(table(case, GRID), test="5x2cv_t").loc[("a", "b")]
    assert t["statistic"] == pytest.approx(case["t"], abs=1e-8)
    assert t["p"] == t["p_holm"] == pytest.approx(case["t_p"], abs=1e-8)
    assert t["df"] == 5
    f = bn.compare(table(case, GRID), test="5x2cv_f").loc[("a", "b")]
    assert f["statistic"] == pytest.approx(case["f"], abs=1e-8)
    assert f["p"] == pytest.approx(case["f_p"], abs=1e-8)
    assert f["df"] == (10, 5)


@pytest.mark.parametrize("case", FIGURES["corrected_resampled"])
def test_corrected_t(case):
    found = bn.compare(table(case), train_size=case["n_train"], test_size=case["n_test"])
    assert list(found.columns) == ["difference", "statistic", "df", "p", "p_holm", "lower", "upper"]
    assert found.index.tolist() == [("a", "b")]
    assert found.index.names == ["first", "second"]
    reach = stats.t.ppf(0.975, case["df"]) * case["mean"] / case["t"]
    ends = [case["mean"] - reach, case["mean"] + reach]
    assert found.loc[("a", "b")].tolist() == pytest.approx(
        [case["mean"], case["t"], case["df"], case["p"], case["p"], *ends], abs=1e-8
    )


@pytest.mark.parametrize("name", BAYES_T)
def test_bayes_t(name):
    case = BAYES_T[name]
    a, b = (pd.Series(np.ravel(case[model])) for model in "ab")
    frame = pd.DataFrame({"a": a, "b": b})
    sizes = {"train_size": case["folds"] - 1, "test_size": 1}
    for rope, expected in case["rope"].items():
        found = bn.compare(frame, test="bayes_t", rope=float(rope), **sizes)
        assert list(found.columns) == ["difference", "better", "equivalent", "worse", "lower", "upper"]
        regions = [expected["right"], expected["rope"], expected["left"]]
        assert found.loc[("a", "b")].tolist() == pytest.approx(
            [case["mean"], *regions, *case["density_interval_95"]], abs=1e-12
        )


def test_bayes_t_of_losses_and_of_equal_differences(car):
    models = {
        name: bn.lp(make("class", car), car, smooth=1)
        for name, make in {"nb": bn.nb, "tan": bn.tan_cl}.items()
    }
    results = bn.cv(models, car, k=4, rng=0, mean=False, metric=["accuracy", "log_loss"])
    losses = bn.compare(results, test="bayes_t", metric="log_loss").iloc[0]
    assert losses["difference"] > 0.01
    assert losses["worse"] > 0.9
    frame = pd.DataFrame({"a": [0.5, 0.6, 0.7], "b": [0.49, 0.59, 0.69]})
    for rope, region in {0.01: "equivalent", 0.009: "better"}.items():
        found = bn.compare(frame, test="bayes_t", rope=rope, train_size=9, test_size=1).iloc[0]
        assert found[region] == 1
        assert found[["lower", "upper"]].tolist() == pytest.approx([0.01, 0.01])


@pytest.mark.parametrize("test", ["corrected_t", "5x2cv_t", "5x2cv_f"])
def test_intervals_contain_the_differences_that_are_not_rejected(test):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(0.8, 0.02, (10, 2)), index=GRID, columns=["a", "b"])
    sizes = {"train_size": 100, "test_size": 100} if test == "corrected_t" else {}
    found = bn.compare(frame, test=test, **sizes).iloc[0]
    for end in ("lower", "upper"):
        moved = frame.assign(a=frame["a"] - found[end])
        assert bn.compare(moved, test=test, **sizes)["p"].item() == pytest.approx(0.05, abs=1e-9)
    assert found["lower"] < found["difference"] < found["upper"]
    far = frame.assign(a=frame["a"] + np.repeat(np.arange(5.0), 2))
    if test == "5x2cv_f":
        assert bn.compare(far, test=test)[["lower", "upper"]].isna().all(axis=None)


def test_bayesian_signed_ranks():
    """Against plain loops over draws and pairs."""
    table = pd.DataFrame({"a": [0.8, 0.75, 0.91, 0.6, 0.7], "b": [0.78, 0.76, 0.86, 0.6, 0.66]})
    found = bn.compare_ranks(table, test="bayes", rope=0.01).loc[("a", "b")]
    rng, z = np.random.default_rng(8), [0.0, 0.02, -0.01, 0.05, 0.0, 0.04]
    wins = np.zeros(3)
    for w in rng.dirichlet([0.5] + 5 * [1], 2000):
        mass = np.zeros(3)
        for i, j in itertools.product(range(6), repeat=2):
            mean = round((z[i] + z[j]) / 2, 12)
            mass[0 if mean > 0.01 else 2 if mean < -0.01 else 1] += w[i] * w[j]
        wins[mass.argmax()] += 1 / 2000
    assert found[["better", "equivalent", "worse"]].tolist() == pytest.approx(wins.tolist(), abs=0.04)
    assert found["difference"] == pytest.approx(0.02)
    assert found["lower"] < 0.02 < found["upper"]
    pd.testing.assert_series_equal(found, bn.compare_ranks(table, test="bayes").loc[("a", "b")])
    turned = bn.compare_ranks(table, test="bayes", lower_is_better=True).loc[("a", "b")]
    assert turned[["better", "worse"]].tolist() == found[["worse", "better"]].tolist()
    same = bn.compare_ranks(table.assign(b=table["a"]), test="bayes", rope=0).iloc[0]
    assert same["equivalent"] == 1


@pytest.mark.parametrize("case", FIGURES["wilcoxon"])
def test_wilcoxon(case):
    found = bn.compare_ranks(pd.DataFrame({"a": case["a"], "b": case["b"]})).wilcoxon.loc[("a", "b")]
    expected = [case["w_plus"], case["w_minus"], case["z"]]
    assert found[["w_plus", "w_minus", "z"]].tolist() == pytest.approx(expected, abs=1e-8)
    assert 2 * stats.norm.sf(abs(found["z"])) == pytest.approx(case["p"], abs=1e-8)
    n = np.count_nonzero(np.array(case["a"]) - np.array(case["b"]))
    assert found["p"] == found["p_holm"]
    assert (found["p"] == pytest.approx(case["p"], abs=1e-8)) == (n > 25)


@pytest.mark.parametrize("case", FIGURES["wilcoxon_exact"])
def test_wilcoxon_is_exact_for_few_data_sets(case):
    found = bn.compare_ranks(pd.DataFrame({"a": case["d"], "b": 0.0})).wilcoxon.loc[("a", "b")]
    expected = [case["w_plus"], case["w_minus"], case["p"]]
    assert found[["w_plus", "w_minus", "p"]].tolist() == pytest.approx(expected, rel=1e-14)


def test_smallest_p_values_of_wilcoxon():
    for n, p in {4: 0.125, 5: 0.0625, 6: 0.03125, 8: 2**-7, 10: 2**-9, 25: 2**-24}.items():
        frame = pd.DataFrame({"a": range(1, n + 1), "b": 0})
        assert bn.compare_ranks(frame).wilcoxon["p"].item() == p


@pytest.mark.parametrize("case", FIGURES["friedman"])
def test_friedman_and_nemenyi(case):
    frame = pd.DataFrame(case["table"])
    found = bn.compare_ranks(frame)
    assert found.ranks.tolist() == pytest.approx(case["average_ranks"], abs=1e-8)
    assert [found.chi2, found.p, found.f, found.p_f] == pytest.approx(
        [case["chi2"], case["chi2_p"], case["iman_davenport_f"], case["iman_davenport_p"]], abs=1e-8
    )
    for level, difference in case["nemenyi_cd"].items():
        at_level = bn.compare_ranks(frame, alpha=float(level))
        assert at_level.critical_difference == pytest.approx(difference, abs=1e-6)
    pairs = {tuple(map(int, pair.split(","))): p for pair, p in case["nemenyi_p"].items()}
    assert set(found.nemenyi.index) == set(pairs)
    assert [found.nemenyi[pair] for pair in pairs] == pytest.approx(list(pairs.values()), abs=1e-8)
    assert found.nemenyi.index.equals(found.wilcoxon.index)


def test_the_example_of_demsar():
    published = FIGURES["demsar_published"]
    found = bn.compare_ranks(pd.DataFrame(FIGURES["friedman"][-1]["table"]))
    assert found.ranks.round(3).tolist() == published["average_ranks"]
    assert round(found.chi2, 2) == published["chi2"]
    assert round(found.f, 2) == published["iman_davenport_f"]
    assert round(found.critical_difference, 2) == published["cd_0_05"]


def test_wilcoxon_of_a_published_table():
    paper = FIGURES["dependency_networks"]
    found = bn.compare_ranks(pd.DataFrame(paper["accuracy"]).T).wilcoxon
    for other, p in paper["wilcoxon_p"].items():
        z = found.loc[(other, "ChiSqDN"), "z"]  # the paper uses the normal approximation
        assert round(2 * stats.norm.sf(abs(z)), 4) == p


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 12), st.booleans())
def test_ranks_ask_for_order_only(seed, k, n, lower):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (n, k)) / 10, columns=[f"m{i}" for i in range(k)])
    found = bn.compare_ranks(frame, lower_is_better=lower)
    assert found.ranks.sum() == pytest.approx(k * (k + 1) / 2)
    assert 0 <= found.p <= 1
    assert 0 <= found.p_f <= 1
    turned = bn.compare_ranks(-frame, lower_is_better=not lower)
    assert turned.ranks.tolist() == pytest.approx(found.ranks.tolist())
    assert turned.chi2 == pytest.approx(found.chi2, abs=1e-9)
    shuffled = bn.compare_ranks(frame.sample(frac=1, random_state=seed % 2**31)[frame.columns[::-1]])
    if not lower:
        assert shuffled.ranks[frame.columns].tolist() == pytest.approx(found.ranks.tolist())
        first, second = frame.columns[:2]
        assert shuffled.nemenyi[(second, first)] == pytest.approx(found.nemenyi[(first, second)])
        assert shuffled.wilcoxon.loc[(second, first), "z"] == pytest.approx(
            -found.wilcoxon.loc[(first, second), "z"]
        )
        assert (
            shuffled.wilcoxon.loc[(second, first), "w_plus"] == found.wilcoxon.loc[(first, second), "w_minus"]
        )


@pytest.mark.filterwarnings("ignore:Sample size too small for normal approximation")
@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_wilcoxon_is_that_of_scipy(seed, n):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 9, (n, 2)).astype(float), columns=["a", "b"])
    d = (frame["a"] - frame["b"]).to_numpy()
    found = bn.compare_ranks(frame).wilcoxon.loc[("a", "b")]
    if not d.any():
        assert found[["z", "p"]].tolist() == [0, 1]
        return
    normal = stats.wilcoxon(d, zero_method="wilcox", correction=True, method="approx")
    assert 2 * stats.norm.sf(abs(found["z"])) == pytest.approx(normal.pvalue, abs=1e-12)
    assert min(found["w_plus"], found["w_minus"]) == normal.statistic
    if np.count_nonzero(d) > 25:
        assert found["p"] == pytest.approx(normal.pvalue, abs=1e-12)
    elif 1 < np.count_nonzero(d) <= 9:  # SciPy enumerates all signs of so few differences
        expected = stats.permutation_test(
            (d[d != 0],),
            lambda x: stats.rankdata(np.abs(x))[x > 0].sum(),
            permutation_type="samples",
            vectorized=False,
            n_resamples=np.inf,
        )
        assert found["p"] == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("scale", [1, 5])
def test_holm_over_all_pairs(scale):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal([0, 1, 2, 3], scale, size=(10, 4)), columns=list("wxyz"))
    found = bn.compare(frame, train_size=9, test_size=1)
    assert found.index.tolist() == [("w", "x"), ("w", "y"), ("w", "z"), ("x", "y"), ("x", "z"), ("y", "z")]
    ascending = sorted(found["p"])
    for p, adjusted in zip(found["p"], found["p_holm"], strict=True):
        steps = [(6 - i) * other for i, other in enumerate(ascending) if other <= p]
        assert adjusted == pytest.approx(min(1, max(steps)))
    assert (found["p_holm"] >= found["p"]).all()
    two = bn.compare(frame[["y", "w"]], train_size=9, test_size=1).iloc[0]
    other = found.loc[("w", "y")]
    assert two[["difference", "statistic"]].tolist() == (-other[["difference", "statistic"]]).tolist()
    assert two["p"] == other["p"]


@pytest.mark.parametrize(("test", "df"), [("corrected_t", 9), ("5x2cv_t", 5), ("5x2cv_f", (10, 5))])
def test_differences_that_do_not_vary(test, df):
    frame = pd.DataFrame({"a": np.linspace(0.5, 0.9, 10)}, index=GRID)
    frame = frame.assign(same=frame["a"] + 1e-12, other=frame["a"] - 0.1)
    with pytest.warns(UserWarning, match="same in all folds: 'a and other', 'same and other'"):
        found = bn.compare(frame, test=test, train_size=1, test_size=1)
    varying = frame.assign(z=frame["a"] + np.random.default_rng(0).normal(0.1, 0.02, 10))
    with pytest.warns(UserWarning, match="same in all folds"):
        known = bn.compare(varying, test=test, train_size=1, test_size=1).dropna()
    assert len(known) == 4  # for which Holm's method adjusts
    assert known["p_holm"].min() == pytest.approx(4 * known["p"].min())
    assert found.loc[("a", "same"), ["statistic", "df", "p", "p_holm"]].tolist() == [0, df, 1, 1]
    assert found.loc[("a", "other"), ["statistic", "p", "p_holm"]].isna().all()
    assert found.loc[("a", "other"), "difference"] == pytest.approx(0.1)


def test_ranks_where_all_agree_or_all_are_tied():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreed = bn.compare_ranks(pd.DataFrame({"a": [3, 3], "b": [2, 2], "c": [1, 1]}))
        tied = bn.compare_ranks(pd.DataFrame({"a": [0.3, 0.1], "b": [0.1 + 0.2, 0.1]}))
    assert agreed.f == np.inf
    assert agreed.p_f == 0
    assert tied.ranks.tolist() == [1.5, 1.5]
    assert [tied.chi2, tied.p, tied.f, tied.p_f] == [0, 1, 0, 1]
    assert tied.nemenyi.tolist() == pytest.approx([1])
    assert tied.wilcoxon.loc[("a", "b")].tolist() == [0, 0, 0, 1, 1]


def test_ranks_print_themselves_and_can_be_kept():
    found = bn.compare_ranks(pd.DataFrame(FIGURES["friedman"][0]["table"], columns=["x", "y", "z"]))
    assert repr(found).startswith("Average ranks of 3 models over 10 data sets, 1 is best\nz    1.15\n")
    assert "chi2(2) = 15.35, p = 0.000464" in repr(found)
    assert "F(2, 18) = 29.71" in repr(found)
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    with pytest.raises(AttributeError):
        found.chi2 = 0.0


BAD_TABLES = {
    "one model": (pd.DataFrame({"a": [0.1, 0.2]}), ValueError, "at least two models to compare; got 1"),
    "missing": (
        pd.DataFrame({"a": [0.1, np.nan], "b": [1.0, np.inf]}),
        ValueError,
        "got other values in 'a', 'b'",
    ),
    "text": (pd.DataFrame({"a": [0.1, 0.2], "b": ["x", "y"]}), ValueError, "got other values in 'b'"),
    "series": (pd.Series([0.1, 0.2]), TypeError, "DataFrame.*got a value of type Series"),
    "same name": (
        pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=["a", "a"]),
        ValueError,
        "each model once; got 'a' twice",
    ),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(case):
    frame, error, message = BAD_TABLES[case]
    with pytest.raises(error, match=f"results must .*{message}"):
        bn.compare(frame, train_size=9, test_size=1)
    with pytest.raises(error, match=f"table must .*{message}"):
        bn.compare_ranks(frame)
