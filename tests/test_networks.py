"""Figures of networks learned from counts, from other programs; moves of searches, step by step."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

from .conftest import REFERENCE

NAMES = ["car", "voting", "breast", "tic-tac-toe"]
FOLDER = REFERENCE / "networks"
SEARCHES = ["hc_empty", "hc_ban", "addonly_empty", "addonly_ban"]


@cache
def figures(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


@cache
def frame(name):
    reference = figures(name)
    if name == "car":
        data = bn.load_car()
    elif name == "voting":
        data = bn.load_voting().dropna().reset_index(drop=True)
    else:
        data = pd.read_csv(REFERENCE / "data" / f"{name}.csv", dtype=str, keep_default_na=False)
    levels = reference["levels"]
    return pd.DataFrame({v: pd.Categorical(data[v], levels[v]) for v in reference["columns"]})


def class_of(name):
    return figures(name)["class"]


def arcs(x):
    return {(parent, v) for v, *above in bn.families(x).values() for parent in above}


def score_of(key):
    base = key.removesuffix("_maxp2")
    return {"bde1": {"score": "bde"}, "bde10": {"score": "bde", "ess": 10}}.get(base, {"score": base})


@pytest.mark.parametrize("name", NAMES)
def test_trees_over_all_variables(name):
    expected, data = figures(name)["chow_liu"], frame(name)
    x = bn.chow_liu(class_of(name), data)
    edges = {frozenset(arc) for arc in arcs(x)}
    assert sum(bn.cmi(*edge, data) for edge in edges) == pytest.approx(expected["total_mi"], rel=1e-9)
    assert len(edges) == len(data.columns) - 1
    if not expected["tied"]:
        assert edges == {frozenset((edge["x"], edge["y"])) for edge in expected["edges"]}
    rooted = bn.chow_liu(class_of(name), data, root=data.columns[2])
    assert {frozenset(arc) for arc in arcs(rooted)} == edges
    assert bn.families(rooted)[data.columns[2]] == (data.columns[2],)
    assert bn.families(x)[class_of(name)] == (class_of(name),)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_fixed_networks(name):
    expected, data = figures(name)["network_scores"], frame(name)
    naive = bn.nb(class_of(name), data)
    empty = bn.BNC(class_of(name), tuple((v,) for v in data.columns))
    for label, x in (("naive_bayes", naive), ("empty", empty)):
        for key, value in expected[label].items():
            assert bn.network_score(x, data, **score_of(key)) == pytest.approx(value, rel=1e-12)
        assert bn.network_score(x, data, score="loglik") == pytest.approx(
            expected["loglik"][label], rel=1e-12
        )
    assert bn.nparams(naive) == expected["nparams"]["naive_bayes"]


def learned(name, search, key):
    limits = {"max_parents": 2} if key.endswith("_maxp2") else {}
    if search.startswith("addonly"):
        limits["moves"] = ("add",)
    else:
        limits["moves"] = ("add", "delete", "reverse")
    learn = bn.ban if search.endswith("ban") else bn.hc
    return learn(class_of(name), frame(name), **score_of(key), **limits)


RUNS = [(name, search, key) for name in NAMES for search in SEARCHES for key in figures(name)[search]]


@pytest.mark.parametrize(
    ("name", "search", "key"),
    [*RUNS[::2], *(pytest.param(*run, marks=pytest.mark.slow) for run in RUNS[1::2])],
)
def test_searches_take_the_same_steps(name, search, key):
    expected, data = figures(name)[search][key], frame(name)
    x = learned(name, search, key)
    steps = bn.search_steps(x)
    moves = pd.DataFrame(expected["moves"], columns=steps.columns)
    pd.testing.assert_frame_equal(steps[["operation", "from", "to"]], moves.iloc[:, :3], check_dtype=False)
    np.testing.assert_allclose(steps["gain"], moves["gain"].astype(float), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(steps["score"], moves["score"].astype(float), rtol=1e-12)
    if len(steps):
        assert steps["score"][0] - steps["gain"][0] == pytest.approx(expected["start_score"], rel=1e-12)
    assert arcs(x) == {tuple(arc) for arc in expected["arcs"]}
    assert bn.network_score(x, data, **score_of(key)) == pytest.approx(expected["score"], rel=1e-12)


@pytest.mark.filterwarnings("ignore:the network has")  # tables wider than there are rows are meant
@pytest.mark.parametrize("k", ["0", "1", "2", "3"])
@pytest.mark.parametrize("name", NAMES)
def test_k_dependence(name, k):
    reference, data = figures(name)["kdb"], frame(name)
    expected = reference["k"][k]
    x = bn.kdb_mi(class_of(name), data, kdbk=int(k))
    above = {v: f[1:-1] for v, f in bn.feature_families(x).items()}
    if not reference["order_ties"]:
        total = sum(bn.cmi(v, p, data, z=class_of(name)) for v, parents in above.items() for p in parents)
        assert total == pytest.approx(expected["total_cmi"], rel=1e-9, abs=1e-12)
    assert {v: list(parents) for v, parents in above.items()} == expected["parents"]
    assert bn.network_score(x, data, score="loglik") == pytest.approx(expected["loglik"], rel=1e-12)
    posterior = bn.predict(bn.lp(x, data, smooth=1), data.head(20), prob=True)
    np.testing.assert_allclose(posterior, expected["posterior_laplace_first_20_rows"], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_equivalent_sample_sizes(name):
    """Tables by ess, and by the same number within each class, which is ess times the classes."""
    expected, data = figures(name)["tan"], frame(name)
    parents = {target: [source] for source, target in expected["arcs"]}
    structure = bn.anb(class_of(name), parents, data)
    classes = len(data[class_of(name)].cat.categories)
    for size, posterior in expected["posteriors"]["bnlearn"].items():
        x = bn.lp(structure, data, ess=int(size))
        np.testing.assert_allclose(bn.predict(x, data.head(20), prob=True), posterior, rtol=1e-9, atol=1e-13)
        by_class = bn.lp(structure, data, ess=int(size) * classes)
        for variable, value, given, _, _, plain, within in expected["cells"]:
            where = tuple(
                bn.values(x)[v].index({variable: value, **given}[v]) for v in bn.families(x)[variable]
            )
            assert bn.params(x)[variable][where] == pytest.approx(plain[size], rel=1e-12)
            if variable != class_of(name):
                assert bn.params(by_class)[variable][where] == pytest.approx(within[size], rel=1e-12)


def test_a_table_of_more_parameters_than_half_of_the_rows_causes_a_warning():
    """With 26 levels and two classes, a table has 50 free parameters."""
    rows = np.arange(100)
    half = pd.DataFrame({"a": rows % 26, "b": rows // 2 % 26, "class": rows % 3 > 0})
    bn.bnc("nb", "class", half, smooth=1)
    with pytest.warns(UserWarning, match=r"103 free parameters, more than the 100 rows; 52 are in .* 'a'"):
        bn.bnc("nb", "class", half.assign(a=rows % 27), smooth=1)
