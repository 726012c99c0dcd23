"""Learners of structure."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

import bnclassify as bn
from bnclassify.counts import arc_scores
from bnclassify.frames import prepare_training_data
from bnclassify.structure import LocalScores
from bnclassify.tools.graphs import descending_order, max_forest_parents

from .strategies import frames, networks


def test_nb_and_aode_with_and_without_data(car):
    assert bn.features(bn.nb("class", car, features=["safety", "doors"])) == ("doors", "safety")
    assert bn.features(bn.nb("class", features=["safety", "doors"])) == ("safety", "doors")
    assert bn.nb("class").variables == ("class",)
    assert bn.aode("class").variables == ("class",)
    assert bn.is_nb(bn.aode("class", car, features=["doors"]))
    assert len(bn.members(bn.aode("class", car))) == 6
    for i, member in enumerate(bn.members(bn.aode("class", car))):
        parent = car.columns[i]
        assert bn.families(member)[parent] == (parent, "class")
        assert all(f[1:] == (parent, "class") for v, f in bn.feature_families(member).items() if v != parent)


def test_nb_of_an_empty_frame_keeps_its_levels(car):
    assert bn.classes(bn.nb("class", car.iloc[:0])) == ("unacc", "acc", "good", "vgood")


def test_anb():
    x = bn.anb("c", {"b": ["a"], "d": ["a", "b"]})
    assert bn.families(x) == {"b": ("b", "a", "c"), "a": ("a", "c"), "d": ("d", "a", "b", "c"), "c": ("c",)}
    assert bn.families(bn.anb("c", {"b": "ab"}))["b"] == ("b", "ab", "c")
    assert bn.families(bn.anb("c", {}, features=["a"])) == {"a": ("a", "c"), "c": ("c",)}


@given(st.data())
def test_modelstring_reads_back(data):
    frame = data.draw(frames(max_features=5))
    x = data.draw(networks(frame))
    for text in (bn.modelstring(x), bn.modelstring(x).replace(" ", "")):
        assert bn.families(bn.from_modelstring(text, "class")) == bn.families(x)


@pytest.mark.parametrize("root", ["buying", "safety", "doors"])
def test_root_is_honoured(car, root):
    x, y = bn.tan_cl("class", car), bn.tan_cl("class", car, root=root)
    assert bn.families(y)[root] == (root, "class")
    edges = [{frozenset(f[:2]) for f in bn.feature_families(z).values() if len(f) == 3} for z in (x, y)]
    assert edges[0] == edges[1]


def test_features_never_observed_together_have_no_edge():
    rng = np.random.default_rng(0)
    answers = pd.DataFrame({"c": rng.choice(["u", "v"], 400), "form": rng.choice(["a", "b"], 400)})
    noise = [rng.random(400) < 0.2 for _ in range(3)]
    for name, lost, wrong in zip(["q1", "q2", "q3"], ["b", "a", None], noise, strict=True):
        told = np.where((answers["c"] == "u") ^ wrong, "yes", "no")
        answers[name] = pd.Series(told).mask(answers["form"] == lost)
    data = answers.drop(columns="form")
    for score in ("aic", "bic"):
        assert bn.is_nb(bn.tan_cl("c", data, score=score))


@pytest.mark.parametrize("levels", [3, 40, 400])  # counted by products, in tables and in rows
@pytest.mark.parametrize(("score", "ess"), [("loglik", 1), ("aic", 1), ("bde", 1), ("bde", 2000)])
def test_scores_of_arcs_are_gains_of_families(score, ess, levels):
    rng = np.random.default_rng(levels)
    codes = rng.integers(0, [levels, 3, 2, 4], (1000, 4)).astype(float)
    codes[rng.random((1000, 4)) < [0.1, 0.2, 0, 0]] = np.nan
    frame = pd.DataFrame(codes, columns=list("abdc")).astype("Int64")
    for weights in (None, rng.integers(0, 4, 1000)):
        data = prepare_training_data(bn.encode(frame, weights=weights), ("c",))
        scores = LocalScores(data, score, ess)
        expected = np.array([scores.gains_by_added_parent(child, (3,))[:3] for child in range(3)])
        found, is_pair = arc_scores(data, score, ess).gains, ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(found[is_pair], expected[is_pair], rtol=1e-10, atol=1e-10)


def test_tied_edges_take_the_lower_columns():
    column = list("xyxy") * 5
    frame = pd.DataFrame({"a": column, "b": column, "d": column, "c": list("pqqp") * 5})
    assert bn.modelstring(bn.tan_cl("c", frame)) == "[c] [a|c] [b|a:c] [d|a:c]"


@given(frames(min_rows=5, max_features=4, missing=0.1), st.sampled_from(["loglik", "aic", "bic"]))
def test_tan_cl_finds_the_best_forest(frame, score):
    """Compare with all forests over the features, by their summed contributions."""
    frame = frame.dropna(axis=1, how="all")
    features = [name for name in frame.columns if name != "class"]
    levels = {name: len(frame[name].cat.categories) for name in frame}

    @cache
    def gain(x, y):
        information = bn.cmi(x, y, frame, z="class")
        if score == "loglik":
            return information
        n = len(frame[[x, y, "class"]].dropna())
        arcs = (levels[x] - 1) * (levels[y] - 1) * levels["class"]
        return n * information - arcs * (1 if score == "aic" else 0.5 * np.log(max(n, 1)))

    def is_forest(edges):
        groups = {name: {name} for name in features}
        for x, y in edges:
            if groups[x] is groups[y]:
                return False
            groups[x] |= groups[y]
            for name in groups[y]:
                groups[name] = groups[x]
        return True

    pairs = list(combinations(features, 2))
    best = max(
        sum(gain(x, y) for x, y in edges)
        for size in range(len(features))
        for edges in combinations(pairs, size)
        if is_forest(edges)
    )
    x = bn.tan_cl("class", frame, score=score)
    found = sum(gain(*f[:2]) for f in bn.feature_families(x).values() if len(f) == 3)
    assert found == pytest.approx(best, abs=1e-8)
    assert bn.is_ode(x)
    assert score != "loglik" or bn.narcs(x) == 2 * len(features) - 1


@given(st.integers(1, 9), st.integers(0, 3), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_a_forest_has_the_edges_that_kruskal_adds_one_by_one(n, digits, share, seed):
    """With few digits, many edges are tied; some differ by a rounding error."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(size=(n, n)).round(digits) + rng.normal(scale=1e-13, size=(n, n)), 1)
    keep = np.triu(rng.random((n, n)) < share, 1)
    weights, keep = weights + weights.T, keep | keep.T
    joined = [{v} for v in range(n)]
    expected = set()
    for _, i, j in sorted((-weights[i, j].round(9), i, j) for i, j in np.argwhere(np.triu(keep)).tolist()):
        if j not in joined[i]:
            expected.add((i, j))
            union = joined[i] | joined[j]
            for v in union:
                joined[v] = union
    parents = max_forest_parents(weights, keep, range(n))
    assert {(min(v, p), max(v, p)) for v, p in enumerate(parents) if p >= 0} == expected


@pytest.mark.parametrize("score", ["aic", "bic"])
def test_arcs_are_penalized_for_the_rows_in_which_they_are_observed(score, voting):
    """With 60 % of the values missing, a pair is observed in a sixth of the rows."""
    frame = voting.iloc[:, -9:]
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.6).assign(Class=voting["Class"])
    names, weights = list(frame.columns[:-1]), np.zeros((8, 8))
    for i, j in combinations(range(8), 2):
        n = len(frame[[names[i], names[j]]].dropna())
        penalty = 2 * (1 if score == "aic" else np.log(n) / 2)  # (2 - 1) (2 - 1) 2 parameters
        weights[i, j] = max(0, n * bn.cmi(names[i], names[j], frame, z="Class") - penalty)
    families = bn.feature_families(bn.tan_cl("Class", frame, score=score)).values()
    arcs = [tuple(sorted(map(names.index, family[:2]))) for family in families if family[2:]]
    assert 1 < len(arcs) < (8 if score == "aic" else 7)
    assert min(weights[arc] for arc in arcs) > 0
    found = sum(weights[arc] for arc in arcs)
    assert found == pytest.approx(-minimum_spanning_tree(-weights).sum())


def test_edges_that_differ_by_rounding_are_tied():
    """Rows of a weight of 1e-11 make the edge from a to b lose a little, and it is tied nevertheless."""
    rows = [(*values, y, 6 if len({*values}) == 1 else 1) for *values, y in product((0, 1), repeat=4)]
    rows += [(a, 1 - a, c, y, 1e-11) for a, c, y in product((0, 1), repeat=3)]
    data = bn.encode(pd.DataFrame(rows, columns=["a", "b", "c", "y", "w"]), weights="w")
    weaker, other = bn.cmi("a", "b", data, z="y"), bn.cmi("a", "c", data, z="y")
    assert 0 < other - weaker < 1e-9
    assert bn.feature_families(bn.tan_cl("y", data, root="a"))["b"] == ("b", "a", "y")


def test_large_weights_that_differ_by_rounding_are_tied():
    assert descending_order(np.array([1e6, 1e6 + 1e-4, 1e6 + 1e-2])).tolist() == [2, 0, 1]
    assert descending_order(np.array([1.0, 1 + 1e-10, 1 + 1e-7])).tolist() == [2, 0, 1]


@pytest.mark.parametrize("options", [{}, {"score": "aic"}, {"score": "aic", "missing": "em"}])
def test_trees_over_no_feature_and_over_one(car, options):
    with pytest.warns(UserWarning, match="no feature remains"):
        assert bn.modelstring(bn.tan_cl("class", car[["class"]], **options)) == "[class]"
    one = bn.tan_cl("class", car[["safety", "class"]], **options)
    assert bn.modelstring(one) == "[class] [safety|class]"
