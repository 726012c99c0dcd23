"""Dependency networks: results of another program, single tests of independence, errors."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import bnclassify as bn
from bnclassify.models import DN

from .conftest import REFERENCE, reference_frame
from .oracles import joint_by_hand, posterior_by_enumeration, with_holes
from .strategies import examples, frames, networks

FIGURES = json.loads((REFERENCE / "networks" / "chisqdn.json").read_text())
PIMA = Path(__file__).parents[1] / "data" / "pima_clean.csv"
SETS = ["car", "vote", "tic-tac-toe", "pima_clean"]


def frame(name):
    if name == "pima_clean":
        table = pd.read_csv(PIMA)
        numbers = [column for column in table if column != "class"]
        return bn.discretize(table, class_var="class", columns=numbers)[0]
    if name == "tic-tac-toe":
        return pd.read_csv(REFERENCE / "data" / "tic-tac-toe.csv", dtype=str)
    if name == "car":
        return reference_frame("car")
    votes = bn.load_voting().rename(columns={"Class": "class"})
    return votes.dropna().reset_index(drop=True) if name == "vote" else votes


def feature_parents(x):
    return {v: list(family[1:-1]) for v, family in bn.feature_families(x).items()}


@pytest.mark.parametrize("name", [*SETS, "vote_available_cases"])
def test_graphs(name):
    expected, data = FIGURES[name], frame(name)
    x = bn.chisq_dn("class", data)
    assert feature_parents(x) == expected["parents"]
    assert bn.narcs(x) == expected["arcs"] + len(data.columns) - 1
    for alpha in (0.05, 0.001):
        key = f"parents_alpha_{alpha}"
        if key in expected:
            assert feature_parents(bn.chisq_dn("class", data, alpha=alpha)) == expected[key]


@pytest.mark.parametrize("name", SETS)
def test_predictions(name):
    expected, data = FIGURES[name], frame(name)
    x = bn.lp(bn.chisq_dn("class", data), data, smooth=1)
    posterior = bn.predict(x, data.iloc[expected["posterior_rows"]], prob=True)[expected["classes"]]
    np.testing.assert_allclose(posterior, expected["posterior_smooth1"], atol=6e-11)
    accuracy = bn.accuracy(bn.predict(x, data), data["class"])
    assert accuracy == pytest.approx(expected["training_accuracy_smooth1"], abs=1e-10)


def test_tables_of_the_paper():
    """Blankets by BIC are reproduced exactly, and all links by tests except one."""
    data = frame("pima_clean")
    numbers = [column for column in data if column != "class"]
    # The first arcs gain the same both ways; which comes first leads to the paper's network.
    x = bn.ban("class", data[data.columns[::-1]])
    blankets = {v: set(bn.markov_blanket(x, v)) - {"class"} for v in numbers}
    printed = FIGURES["paper"]["table3_BAN_blankets_without_class"]
    assert blankets == {v: set(names) for v, names in printed.items()}
    parents = feature_parents(bn.chisq_dn("class", data))
    links = {frozenset((v, p)) for v, above in parents.items() for p in above}
    table4 = FIGURES["paper"]["table4_ChiSqDN_blankets_without_class"]
    printed_links = {frozenset((v, other)) for v, others in table4.items() for other in others}
    assert links - printed_links == {frozenset(("plas", "pres"))}
    assert printed_links - links == {frozenset(("preg", "pres"))}


def choose_by_hand(data, feature, alpha, df):
    """One test after the other, in the words of the docstring."""
    occurring = {v: data[v].nunique() for v in data}
    left = [v for v in data if v not in (feature, "class")]
    parents = []
    while True:
        worth = {}
        for other in left:
            known = data[[feature, other, "class", *parents]].dropna()
            g = 2 * len(known) * bn.cmi(feature, other, known, z=["class", *parents]) if len(known) else 0.0
            freedom = (occurring[feature] - 1) * (occurring[other] - 1)
            freedom *= int(np.prod([occurring[p] for p in parents]))
            k = occurring["class"]
            of_all = chi2.ppf(1 - alpha, k * freedom) if freedom else 0.0
            by_class = k * chi2.ppf(1 - alpha, freedom) if freedom else 0.0
            by_table = threshold_by_hand(known, feature, other, parents, alpha)
            thresholds = {"class": by_class, "all": of_all, "deterministic": by_table}
            worth[other] = g - thresholds[df] if freedom else 0.0
        left = [v for v in left if worth[v] > 1e-8]
        if not left:
            return parents
        best = max(worth[v] for v in left)
        parents.append(next(v for v in left if worth[v] >= best - 1e-8))
        left.remove(parents[-1])


def threshold_by_hand(rows, x, y, parents, alpha):
    """Sum the quantiles of the classes, with the degrees of freedom of the tables of their configurations."""
    total = 0.0
    for _, own in rows.groupby("class", observed=True):
        df = 0
        for _, table in own.groupby(parents, observed=True) if parents else [(None, own)]:
            df += max(table[x].nunique() - 1, 0) * max(table[y].nunique() - 1, 0)
        total += chi2.ppf(1 - alpha, df) if df else 0.0
    return total


@pytest.mark.slow
@given(st.data(), st.sampled_from([0.01, 0.3, 0.9]), st.sampled_from(["class", "all", "deterministic"]))
@examples(60)
def test_every_test_by_hand(data, alpha, df):
    table = data.draw(frames(min_rows=8, max_features=4, missing=0.15)).dropna(axis=1, how="all")
    found = feature_parents(bn.chisq_dn("class", table, alpha=alpha, df=df))
    assert found == {v: choose_by_hand(table, v, alpha, df) for v in found}


def test_table_of_the_paper_has_no_degrees_of_freedom():
    """In class q, two rows and one column of the 3 x 3 table are 0: (3 - 2 - 1) (3 - 1 - 1) = 0, not 4."""
    cells = {("a", "u", "p"): 12, ("a", "v", "p"): 4, ("b", "u", "p"): 4, ("b", "v", "p"): 12}
    cells |= {("c", "u", "q"): 3, ("c", "w", "q"): 4}
    table = pd.DataFrame([key for key, n in cells.items() for _ in range(n)], columns=["x", "y", "class"])
    g = 2 * (24 * np.log(12 / 8) + 8 * np.log(4 / 8))  # of class p, where all expected counts are 8
    tail = chi2.sf(g, 1)  # 1 degree of freedom in class p, none in class q
    for alpha, expected in {tail * 1.01: ["y"], tail * 0.99: []}.items():
        found = bn.chisq_dn("class", table, alpha=alpha, df="deterministic")
        assert feature_parents(found)["x"] == expected
        assert feature_parents(bn.chisq_dn("class", table, alpha=alpha)) == {"x": [], "y": []}


def test_parts_and_rows_agree(car):
    def chunks():
        return (car.iloc[start : start + 500] for start in range(0, len(car), 500))

    for df in ("class", "deterministic"):
        parts = bn.encode(chunks, in_memory=False)
        assert bn.chisq_dn("class", parts, df=df).families == bn.chisq_dn("class", car, df=df).families


def test_weights_are_counts(car):
    some = car.sample(400, random_state=0)
    table = some.value_counts().reset_index(name="n")
    weighted = bn.encode(table, weights="n")
    found = [bn.chisq_dn("class", data, df="deterministic", alpha=0.3) for data in (weighted, some)]
    assert found[0].families == found[1].families


def test_levels_of_the_tests():
    """Of pairs of independent features, "all" joins at most alpha, and "class" .0005 with 4 classes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (2_000, 60)).astype(str)).add_prefix("x")
    table["class"] = rng.integers(0, 4, len(table)).astype(str)
    joined = {df: (bn.narcs(bn.chisq_dn("class", table, df=df)) - 60) / (60 * 59) for df in ("class", "all")}
    assert joined["class"] < 0.002
    assert 0.012 < joined["all"] < 0.025
    again = bn.bnc("chisq_dn", "class", table, smooth=1, dag_args={"df": "all"})
    assert again.recipe.structure.settings["df"] == "all"


def test_it_is_a_model_like_others(car):
    x = bn.lp(bn.chisq_dn("class", car), car, smooth=1)
    assert isinstance(x, DN)
    assert not bn.is_anb(x)
    assert bn.families(x)["maint"] == ("maint", "buying", "class")
    assert bn.params(x)["maint"].shape == (4, 4, 4)
    assert bn.cpt(x, "maint").sum().to_numpy() == pytest.approx(1)
    assert bn.nparams(x) == sum(t.size - t.size // len(t) for t in bn.params(x).values())
    row = car.iloc[[1000]]
    joint = np.array([joint_by_hand(x, row.iloc[0], label) for label in bn.classes(x)])
    np.testing.assert_allclose(bn.predict(x, row, prob=True).iloc[0], joint / joint.sum())
    told = bn.explain(x, row)
    assert list(told.index) == ["class", *car.columns[:-1]]
    first, second = np.sort(joint)[::-1][:2]
    assert told["log_odds"].sum() == pytest.approx(np.log(first / second))
    assert told["parents"]["buying"].startswith("maint = ")
    assert bn.cloglik(x, car) == pytest.approx(
        np.log(bn.predict(x, car, prob=True).to_numpy()[np.arange(len(car)), car["class"].cat.codes]).sum()
    )
    assert 0.8 < bn.cv(x, car, k=5, rng=0) < 1
    for prior in ({"ess": 2}, {"m": 3}):
        assert bn.lp(x, car, **prior).fitted


def test_blankets(car):
    x = bn.chisq_dn("class", car)
    assert bn.markov_blanket(x, "class") == tuple(car.columns[:-1])
    assert bn.markov_blanket(x, "safety") == ("persons", "lug_boot", "class")
    assert bn.markov_blanket(x, "persons") == ("safety", "class")
    general = bn.from_modelstring("[a][b][class|a:b][d|class:e][e]", "class")
    assert bn.markov_blanket(general, "class") == ("a", "b", "d", "e")
    assert bn.markov_blanket(general, "a") == ("b", "class")
    assert bn.markov_blanket(general, "e") == ("d", "class")


def test_pictures_show_cycles(car):
    source = bn.plot(bn.chisq_dn("class", car)).source
    assert source.count("dir=both") == 3
    assert "0 -> 1" in source
    assert "1 -> 0" not in source
    ring = DN("c", (("x", "y", "c"), ("y", "z", "c"), ("z", "x", "c"), ("c",)))
    source = bn.plot(ring).source
    assert "dir=both" not in source
    assert all(arc in source for arc in ("1 -> 0", "2 -> 1", "0 -> 2"))


@pytest.mark.parametrize("alpha", [0, 1, -0.1])
def test_alpha_is_a_level(car, alpha):
    with pytest.raises(ValueError, match="alpha must be a finite number greater than 0 and less than 1"):
        bn.chisq_dn("class", car, alpha=alpha)
    with pytest.raises(TypeError, match="alpha must be a finite number"):
        bn.chisq_dn("class", car, alpha="0.05")


def test_odd_columns_have_no_parents():
    table = pd.DataFrame({"a": list("xyxyxyxyxy") * 4, "k": "z", "c": list("pqpqpqpqqp") * 4})
    table = table.assign(b=table["a"])
    assert feature_parents(bn.chisq_dn("c", table)) == {"a": ["b"], "k": [], "b": ["a"]}
    assert feature_parents(bn.chisq_dn("c", table[["a", "c"]])) == {"a": []}
    with pytest.warns(UserWarning, match="no feature remains"):
        assert bn.chisq_dn("c", table[["c"]]).variables == ("c",)


def test_features_that_repeat_each_other_break_it():
    """Four noisy copies of one cause and three weak features: arcs in both directions count twice."""
    rng = np.random.default_rng(0)
    label = rng.random(4_000) < 0.5
    cause = label ^ (rng.random(4_000) < 0.1)
    copies = {f"copy{i}": cause ^ (rng.random(4_000) < 0.1) for i in range(4)}
    weak = {f"weak{i}": label ^ (rng.random(4_000) < 0.4) for i in range(3)}
    table = pd.DataFrame({**copies, **weak, "class": label}).astype(str)
    train, test = table.iloc[:2_000], table.iloc[2_000:]
    rates = {
        learn: bn.accuracy(bn.predict(bn.bnc(learn, "class", train, smooth=1), test), test["class"])
        for learn in ("chisq_dn", "nb")
    }
    assert rates == pytest.approx({"chisq_dn": 0.72, "nb": 0.88}, abs=0.01)


def test_another_prior_replaces_the_table_of_the_class(car):
    x = bn.lp(bn.chisq_dn("class", car), car, smooth=1)
    even = dict.fromkeys(bn.classes(x), 0.25)
    learned = bn.predict(x, car, prob=True).to_numpy()
    expected = learned / bn.params(x)["class"]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(bn.predict(x, car, prob=True, prior=even), expected, rtol=1e-9)


def as_dependency_network(x):
    return DN(x.class_var, x.families, x.levels, x.cpts)


@pytest.mark.slow
def test_incomplete_rows_by_enumeration(car):
    """The graph has cycles: P(class) times the tables of the features is summed over what is missing."""
    x = bn.lp(bn.chisq_dn("class", car, alpha=0.9), car, smooth=1)
    assert bn.markov_blanket(x, "doors") == ("lug_boot", "class")
    assert "safety" in feature_parents(x)["persons"]
    assert "persons" in feature_parents(x)["safety"]
    rows = with_holes(car.sample(3, random_state=0), 0.5, 1)
    np.testing.assert_allclose(bn.predict(x, rows, prob=True), posterior_by_enumeration(x, rows), atol=1e-12)
    told = bn.explain(x, rows, target="acc", against="unacc")["log_odds"].groupby(level=0, sort=False).sum()
    p = bn.predict(x, rows, prob=True)
    np.testing.assert_allclose(told, np.log(p["acc"] / p["unacc"]), atol=1e-9)


@examples(20)
@given(st.data())
def test_without_cycles_it_is_a_network(data):
    table = data.draw(frames(min_rows=5, max_features=5))
    x = bn.lp(data.draw(networks(table)), table, smooth=data.draw(st.sampled_from([0.5, 1])))
    y, rows = as_dependency_network(x), with_holes(table.astype(object), 0.5, 1)
    pd.testing.assert_frame_equal(bn.predict(y, rows, prob=True), bn.predict(x, rows, prob=True), atol=1e-12)
    pd.testing.assert_frame_equal(bn.impute(y, rows), bn.impute(x, rows))


def near(share, expected, draws):
    """Differ by at most 5 standard errors."""
    errors = np.sqrt(expected * (1 - expected) / draws)
    assert (np.abs(share - expected) <= 5 * errors + 1e-9).all()


@pytest.mark.slow
def test_draws_without_cycles_are_those_of_a_network(car):
    """Evidence on a child changes the distribution of its parents; parents follow in column order."""
    parents = {"buying": ["maint", "safety"], "maint": ["safety"], "persons": ["safety"]}
    x = bn.lp(bn.anb("class", parents, car), car, smooth=1)
    y, n = as_dependency_network(x), 2_000
    asked = ["maint", "persons"]
    for evidence in (None, {"buying": "low"}, {"buying": "low", "class": "acc", "doors": {"2": 0.5, "3": 1}}):
        expected = bn.query(x, asked, evidence)
        found = bn.query(y, asked, evidence, draws=n, rng=0)
        near(found, expected, n)
        assert found.attrs["log_evidence"] == pytest.approx(expected.attrs["log_evidence"])
        drawn = bn.sample(y, n, evidence=evidence, rng=1)
        near(drawn.value_counts(asked, normalize=True).reindex(expected.index, fill_value=0), expected, n)
    pd.testing.assert_series_equal(
        bn.query(y, "class", {"buying": "low"}), bn.query(x, "class", {"buying": "low"})
    )
    row = car.head(1).assign(safety=None, maint=None, **{"class": None})
    filled = bn.impute(y, row, draws=n, rng=0)
    known = {name: row[name].iloc[0] for name in ("buying", "doors", "persons", "lug_boot")}
    pair = ["safety", "class"]
    expected = bn.query(x, pair, known)
    near(filled.value_counts(pair, normalize=True).reindex(expected.index, fill_value=0), expected, n)
    assert bn.sample(y, 9, rng=3).equals(bn.sample(y, 9, rng=3))


def test_arcs_in_both_directions_count_once_in_draws():
    """P(x | y, class) and P(y | x, class) from the same counts: the sampler returns these counts."""
    cells = {("a", "u"): 6, ("a", "v"): 2, ("b", "u"): 1, ("b", "v"): 11}
    rows = [(x, y, c) for (x, y), n in cells.items() for c in "pq" for _ in range(n)]
    table = pd.DataFrame(rows, columns=["x", "y", "c"])
    both = bn.lp(DN("c", (("x", "y", "c"), ("y", "x", "c"), ("c",))), table, smooth=0)
    found = bn.query(both, ["x", "y"], {"c": "p"}, draws=20_000, rng=0)
    near(found, pd.Series(cells) / 20, 20_000)


def test_features_are_selected_by_several_processes_alike(car):
    found = [bn.chisq_dn("class", car, alpha=0.9, n_jobs=n_jobs) for n_jobs in (None, 2)]
    assert found[0].families == found[1].families
