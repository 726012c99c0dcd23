"""Structures under prior knowledge: required and forbidden arcs, tabu search, and incomplete data."""

import json
from functools import cache
from itertools import combinations, permutations
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import DisjointSet
from scipy.stats import chi2

import bnclassify as bn
from bnclassify.counts import contingency_table
from bnclassify.networks.em import Completions
from bnclassify.search import feature_and_ancestors, superparent_additions, tree_arc_additions

from .conftest import REFERENCE, scores_of
from .strategies import examples, frames
from .test_networks import NAMES, arcs, class_of, frame

CASES = ["free", "required_one", "forbidden_two", "both", "forbidden_many"]


@cache
def known(name):
    return json.loads((REFERENCE / "networks" / "known.json").read_text())[name]


# --- trees


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NAMES)
def test_best_trees_with_and_without_some_edges(name, case):
    data, own = frame(name), class_of(name)
    for learn, kind, z in ((bn.tan_cl, "tan", own), (bn.chow_liu, "chow_liu", None)):
        expected = known(name)["trees"][kind][case]
        rules = {rule: expected[rule] for rule in ("required", "forbidden")}
        turned = {rule: [edge[::-1] for edge in edges] for rule, edges in rules.items()}
        x = learn(own, data, **rules)
        assert bn.families(learn(own, data, **turned)) == bn.families(x)
        edges = {frozenset(arc) for arc in arcs(x) if z not in arc}
        total = sum(bn.cmi(*edge, data, z=z) for edge in edges)
        assert total == pytest.approx(expected["total"], rel=1e-9)
        assert edges >= {frozenset(edge) for edge in rules["required"]}
        assert not edges & {frozenset(edge) for edge in rules["forbidden"]}
        if not expected["tied"]:
            assert edges == {frozenset(edge) for edge in expected["edges"]}


# --- tabu search

OPERATIONS = {"set": "add", "drop": "delete", "reverse": "reverse"}


@pytest.mark.parametrize("name", NAMES)
def test_tabu_search_takes_the_same_steps(name):
    expected, data = known(name)["tabu"], frame(name)
    x = bn.hc(class_of(name), data, tabu=10)
    steps = bn.search_steps(x)
    assert list(steps.columns) == ["operation", "from", "to", "gain", "score"]
    moves = [(OPERATIONS[operation], *arc) for operation, *arc in expected["moves"]]
    assert [tuple(step) for step in steps.iloc[:, :3].itertuples(index=False)] == [m[:3] for m in moves]
    np.testing.assert_allclose(steps["gain"], [m[3] for m in moves], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(steps["score"], [m[4] for m in moves], rtol=1e-12)
    assert arcs(x) == {tuple(arc) for arc in expected["arcs"]}
    assert bn.network_score(x, data) == pytest.approx(expected["score"], rel=1e-12)
    assert bn.network_score(bn.hc(class_of(name), data), data) == pytest.approx(known(name)["hc_score"])


def test_restarts_return_the_best_network_seen():
    data, own = frame("voting"), class_of("voting")
    plain, restarted = (bn.hc(own, data, restarts=n, rng=0) for n in (0, 4))
    steps = bn.search_steps(restarted)
    assert list(steps.columns)[-1] == "run"
    assert set(steps["run"]) == {0, 1, 2, 3, 4}
    assert bn.network_score(restarted, data) == pytest.approx(steps["score"].max(), rel=1e-12)
    assert bn.network_score(restarted, data) > bn.network_score(plain, data) + 2
    inside = (steps["run"] > 0) & (steps["run"] == steps["run"].shift())
    np.testing.assert_allclose(steps["gain"][inside], steps["score"].diff()[inside], rtol=1e-9)
    assert {*steps["operation"][inside]} == {"add", "delete", "reverse"}
    first = steps[steps["run"] == 0].iloc[:, :-1]
    np.testing.assert_allclose(first["score"], bn.search_steps(plain)["score"], rtol=1e-12)
    assert bn.families(bn.hc(own, data, restarts=4, rng=0)) == bn.families(restarted)
    again = restarted.recipe.fit(bn.encode(data))
    assert bn.families(again) == bn.families(restarted)


def test_a_restart_climbs_from_a_better_network_among_its_random_moves():
    """The third random move leads to a better network than the first search found."""
    labels = {
        "x0": "0" * 22,
        "x1": "1011110111010100111100",
        "x2": "1100111000001110110001",
        "class": "2110020202211210021001",
    }
    rows = pd.DataFrame({name: list(text) for name, text in labels.items()})
    rules = {"required": [("x0", "class")], "forbidden": [("x1", "x0"), ("x2", "x0"), ("class", "x0")]}
    x = bn.hc("class", rows, score="aic", max_parents=2, restarts=1, rng=1, **rules)
    assert bn.search_steps(x)["score"].argmax() == 2
    assert bn.network_score(x, rows, score="aic") == pytest.approx(bn.search_steps(x)["score"].max())


@given(st.data())
@examples(25)
def test_rules_are_kept_by_every_search(data):
    rows = data.draw(frames(min_rows=8, max_features=4))
    required, forbidden = [("x0", "class")], [(v, "x0") for v in rows if v not in ("x0", "class")]
    x = bn.hc(
        "class", rows, score="aic", required=required, forbidden=[*forbidden, ("class", "x0")], max_parents=2,
        tabu=data.draw(st.integers(0, 4)), restarts=data.draw(st.integers(0, 2)), rng=1,
    )  # fmt: skip
    assert arcs(x) >= set(required)
    assert bn.families(x)["x0"] == ("x0",)
    assert max(map(len, bn.families(x).values())) <= 3
    steps = bn.search_steps(x)
    plain = bn.hc("class", rows, score="aic", required=required, moves=["delete"])
    highest = max([bn.network_score(plain, rows, score="aic"), *steps["score"]])
    assert bn.network_score(x, rows, score="aic") == pytest.approx(highest, rel=1e-9, abs=1e-7)


# --- required and forbidden arcs elsewhere


def joined(x):
    return {frozenset(arc) for arc in arcs(x) if x.class_var not in arc}


def forests(names):
    """All forests over at most four features."""
    pairs = [frozenset(pair) for pair in combinations(names, 2)]
    found = []
    for n in range(len(names)):
        for some in combinations(pairs, n):
            trees = DisjointSet(names)
            if all(trees.merge(*pair) for pair in some):
                found.append(set(some))
    return found


@given(st.data(), st.sampled_from(["loglik", "aic", "bde"]))
@examples(40)
def test_constrained_forests_are_the_best(data, score):
    """Compare with all forests over up to four features."""
    rows = data.draw(frames(min_rows=5, max_features=4))
    names = bn.features(bn.nb("class", rows))
    everything = forests(names)
    own = data.draw(st.sampled_from(everything))
    required = {pair for pair in own if data.draw(st.booleans())}
    pairs = {frozenset(pair) for pair in combinations(names, 2)}
    forbidden = {pair for pair in pairs - own if data.draw(st.booleans())}
    allowed = [forest for forest in everything if forest >= required and not forest & forbidden]
    if score == "loglik":  # which needs a tree
        allowed = [forest for forest in allowed if len(forest) == len(names) - 1]

    def learn(score, required, forbidden):
        rules = {"required": [tuple(p) for p in required], "forbidden": [tuple(p) for p in forbidden]}
        return bn.tan_cl("class", rows, score=score, **rules)

    if not allowed:
        with pytest.raises(ValueError, match="forbidden must leave a tree over all variables"):
            learn(score, required, forbidden)
        return
    x = learn(score, required, forbidden)
    assert joined(x) in allowed
    given_edges = [learn("aic", forest, pairs - forest) for forest in allowed]
    assert [joined(y) for y in given_edges] == allowed
    best = max(bn.network_score(y, rows, score=score) for y in given_edges)
    assert bn.network_score(x, rows, score=score) == pytest.approx(best, rel=1e-9, abs=1e-7)


@given(st.data())
@examples(40)
def test_k_dependence_with_required_and_forbidden_arcs(data):
    rows = data.draw(frames(min_rows=5, max_features=5))
    names = data.draw(st.permutations(bn.features(bn.nb("class", rows))))
    forward = list(combinations(names, 2))
    required = [arc for arc in forward if data.draw(st.booleans())][:3]
    forbidden = [arc for arc in permutations(names, 2) if arc not in required and data.draw(st.booleans())]
    k = data.draw(st.integers(3, 4))
    x = bn.kdb_mi("class", rows, kdbk=k, required=required, forbidden=forbidden)
    inner = {(p, v) for p, v in arcs(x) if p != "class"}
    assert inner >= set(required)
    assert not inner & set(forbidden)
    above = {v: f[1:-1] for v, f in bn.feature_families(x).items()}
    relevance = {v: bn.cmi(v, "class", rows) for v in names}
    placed = []
    for _ in names:
        ready = [v for v in rows if v in names and v not in placed]
        ready = [v for v in ready if all(p in placed for p, child in required if child == v)]
        best = max(relevance[v] for v in ready)
        placed.append(next(v for v in ready if relevance[v] >= best - 1e-9))
    for number, v in enumerate(placed):
        first = [p for p in rows if (p, v) in required]
        others = [p for p in placed[:number] if p not in first and (p, v) not in forbidden]
        assert above[v][: len(first)] == tuple(first)
        assert len(above[v]) == min(k, len(first) + len(others))
        chosen = sorted((bn.cmi(p, v, rows, z="class") for p in above[v][len(first) :]), reverse=True)
        ranked = sorted((bn.cmi(p, v, rows, z="class") for p in others), reverse=True)
        assert chosen == pytest.approx(ranked[: len(chosen)], abs=1e-8)


@pytest.mark.parametrize("learn", [bn.tan_cl, bn.chow_liu, bn.hc, bn.ban, bn.kdb_mi, bn.chisq_dn])
def test_some_features_are_those_columns(learn):
    data = frame("car")
    x = learn("class", data, features=["safety", "buying", "persons"])
    y = learn("class", data[["buying", "persons", "safety", "class"]])
    assert bn.features(x) == ("buying", "persons", "safety")
    assert bn.families(x) == bn.families(y)
    assert bn.families(x.recipe.fit(bn.encode(data))) == bn.families(x)
    assert bn.accuracy(bn.predict(bn.lp(x, data, smooth=1), data), data["class"]) > 0.7


def test_a_start_stays_where_nothing_is_deleted():
    data = frame("car")
    start = bn.anb("class", {"maint": ["doors"]}, data)
    x = bn.ban("class", data, score="bde", start=start)
    assert arcs(x) > arcs(start)
    assert bn.families(x.recipe.fit(bn.encode(data))) == bn.families(x)
    assert arcs(bn.ban("class", data, score="bde")).isdisjoint({("doors", "maint")})


@given(st.data())
@examples(40)
def test_dependency_networks_with_required_and_forbidden_arcs(data):
    """Required arcs come first, and the others are selected as from the features that are not forbidden."""
    rows = data.draw(frames(min_rows=10, max_rows=60, max_features=4))
    names = [v for v in rows if v != "class"]
    pairs = list(permutations(names, 2))
    forbidden = [arc for arc in pairs if data.draw(st.booleans())]
    x = bn.chisq_dn("class", rows, alpha=0.3, forbidden=forbidden)
    for v in names:
        others = [u for u in names if u == v or (u, v) not in forbidden]
        alone = bn.chisq_dn("class", rows[[*others, "class"]], alpha=0.3)
        assert bn.families(x)[v] == bn.families(alone)[v]
    required = [arc for arc in pairs if arc not in forbidden and data.draw(st.booleans())]
    y = bn.chisq_dn("class", rows, alpha=0.3, required=required, forbidden=forbidden)
    assert not arcs(y) & set(forbidden)
    for v, family in bn.feature_families(y).items():
        first = tuple(u for u in names if (u, v) in required)
        assert family[1 : 1 + len(first)] == first
        for i, parent in enumerate(family[1 + len(first) : -1], start=1 + len(first)):
            given_above = [*family[1:i], "class"]
            levels = [rows[u].nunique() - 1 for u in (v, parent)]
            strata = [rows[u].nunique() for u in given_above[:-1]]
            threshold = rows["class"].nunique() * chi2.isf(0.3, prod(levels) * prod(strata))
            assert 2 * len(rows) * bn.cmi(v, parent, rows, z=given_above) > threshold


# --- structural EM


def observed_score(x, rows, score):
    """The score of a structure on observed values, at tables that maximize their likelihood."""
    fitted = bn.lp(x, rows, smooth=0, missing={"iterations": 1000})
    penalty = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * np.log(len(rows))}[score]
    return bn.em_objectives(fitted)[-1] - penalty * bn.nparams(fitted)


LEARN_INCOMPLETE = {
    "hc": lambda rows, score, **options: bn.hc("class", rows, score=score, max_parents=2, **options),
    "ban": lambda rows, score, **options: bn.ban("class", rows, score=score, max_parents=2, **options),
    "tan_cl": lambda rows, score, **options: bn.tan_cl("class", rows, score=score, **options),
}


@pytest.mark.parametrize("learner", LEARN_INCOMPLETE)
@given(st.data())
@examples(25)
def test_the_score_of_observed_data_never_falls(learner, data):
    rows = data.draw(frames(min_rows=8, max_features=4, missing=data.draw(st.sampled_from([0.1, 0.3]))))
    rows["class"] = rows["class"].fillna(rows["class"].cat.categories[0])
    score = data.draw(st.sampled_from(["loglik", "aic", "bic"]))
    learn = LEARN_INCOMPLETE[learner]
    x = learn(rows, score, missing="em")
    if rows.isna().any(axis=None):
        scores = np.array(scores_of(x))
        assert (np.diff(scores) >= -1e-9).all()
        # Both runs of EM stop when an iteration gains 1e-6 nats per row.
        tolerance = 1e-4 * len(rows)
        complete = rows.dropna()
        starts = [learn(complete, score)] if len(complete) else []
        starts += [bn.tan_cl("class", rows, score=score)] if learner == "tan_cl" else []
        if starts and not (learner == "tan_cl" and len(starts) == 1):
            best = max(observed_score(start, rows, score) for start in starts)
            assert scores[0] == pytest.approx(best, abs=tolerance)
    else:
        assert bn.families(x) == bn.families(learn(rows, score))
    assert bn.families(x.recipe.fit(bn.encode(rows))) == bn.families(x)


@pytest.mark.parametrize("score", ["loglik", "bic"])
def test_structural_em_is_at_least_as_good_as_available_cases(score):
    votes = bn.load_voting().iloc[:, [*range(8), 16]]
    hidden = np.random.default_rng(2).random((len(votes), 8)) < 0.3
    votes.iloc[:, :8] = votes.iloc[:, :8].mask(hidden)
    found, usual = (bn.tan_cl("Class", votes, score=score, missing=how) for how in ("em", "available"))
    assert observed_score(found, votes, score) >= observed_score(usual, votes, score) - 0.01


def test_structural_em_ignores_rows_of_weight_0():
    """One of them is impossible under the tables of the other rows."""
    frame = pd.DataFrame({"x": list("aabbaa"), "y": list("uvuvuv"), "class": list("pqpqpq")})
    frame.loc[1, "y"] = None
    weights = np.array([2, 1, 2, 0, 1, 1])
    for learn in LEARN_INCOMPLETE.values():
        found = learn(bn.encode(frame, weights=weights), "bic", missing="em")
        kept = bn.encode(frame[weights > 0], weights=weights[weights > 0])
        assert bn.families(found) == bn.families(learn(kept, "bic", missing="em"))
    whole = bn.encode(frame.fillna("u"), weights=weights)
    assert bn.families(bn.tan_cl("class", whole, missing="em"))


def test_completions_are_weighted_by_their_posteriors():
    """The expected counts of two features in incomplete rows are sums of answers to queries."""
    voting = bn.load_voting().iloc[:25]
    x = bn.lp(bn.tan_cl("Class", voting), voting, smooth=1)
    rows = bn.encode(voting[list(x.variables)])
    expected, evidence = Completions(rows).weighted_completions(x.scopes, x.cpts)
    assert evidence == pytest.approx(bn.loglik(x, voting), rel=1e-12)
    assert expected.size == pytest.approx(len(voting))
    pair = ["water_project_cost_sharing", "export_administration_act_south_africa"]
    assert voting[pair].isna().any(axis=None)
    counts = contingency_table(expected, [expected.positions[v] for v in pair])
    answers = np.zeros((2, 2))
    for _, row in voting.iterrows():
        hidden = [v for v in pair if pd.isna(row[v])]
        at = tuple(slice(None) if v in hidden else bn.values(x)[v].index(row[v]) for v in pair)
        if hidden:
            answer = bn.query(x, hidden, row.dropna().to_dict())
            answers[at] += answer.to_numpy().reshape([2] * len(hidden))
        else:
            answers[at] += 1
    np.testing.assert_allclose(counts, answers, rtol=1e-9)


# --- greedy searches

GREEDY = {"fssj": bn.fssj, "bsej": bn.bsej, "tan_hc": bn.tan_hc, "tan_hcsp": bn.tan_hcsp, "kdb": bn.kdb}
PREDICATES = {"fssj": bn.is_semi_naive, "bsej": bn.is_semi_naive, "tan_hc": bn.is_ode, "tan_hcsp": bn.is_ode}


@pytest.mark.filterwarnings("ignore:No step improves", "ignore:No feature", "ignore:classes with fewer rows")
@pytest.mark.parametrize("learner", GREEDY)
@given(st.data())
@examples(20)
def test_greedy_searches_keep_the_rules(learner, data):
    rows = data.draw(frames(min_rows=12, max_features=4))
    names = [v for v in rows if v != "class"]
    children = data.draw(st.permutations(names))[1:]
    forward = [(names[0], v) for v in children if v != names[0]]
    required = [arc for arc in forward if data.draw(st.booleans())][:2]
    forbidden = [
        arc for arc in permutations(names, 2)
        if not {arc, arc[::-1]} & set(required) and set(arc) - {v for pair in required for v in pair}
        and data.draw(st.booleans())
    ]  # fmt: skip
    options = {"k": 2, "epsilon": 0, "smooth": 1, "folds": np.arange(len(rows)) % 2}
    options["rng"] = data.draw(st.sampled_from([None, 1]))
    x = GREEDY[learner]("class", rows, required=required, forbidden=forbidden, **options)
    inner = {arc for arc in arcs(x) if "class" not in arc}
    if learner in ("fssj", "bsej"):
        assert joined(x) >= {frozenset(arc) for arc in required}
        assert not joined(x) & {frozenset(arc) for arc in forbidden}
    else:
        assert inner >= set(required)
        assert not inner & set(forbidden)
    assert PREDICATES.get(learner, bn.is_anb)(x)
    further = GREEDY[learner]("class", rows, start=x, **options)
    assert scores_of(further)[0] == pytest.approx(scores_of(x)[-1])
    rules = {"required": tuple(required), "forbidden": tuple(forbidden)}
    assert x.recipe.structure.settings.items() >= {k: v for k, v in rules.items() if v}.items()
    if learner not in ("fssj", "bsej"):
        assert arcs(further) >= arcs(x)


@given(st.data())
def test_moves_to_trees_leave_no_allowed_arc_out(data):
    """Each pair that may be joined is a candidate, in one direction if both are equivalent."""
    n = data.draw(st.integers(2, 5))
    structure = {
        v: (data.draw(st.integers(0, v - 1)),) if v and data.draw(st.booleans()) else () for v in range(n)
    }
    forbidden = {arc for arc in permutations(range(n), 2) if data.draw(st.booleans())}
    edits = tree_arc_additions(structure, forbidden)
    offered = {(parents[-1], v) for edit in edits for v, parents in edit.items()}
    assert len(offered) == len(edits)
    assert not offered & forbidden
    for parent, child in permutations(range(n), 2):
        if (
            (parent, child) not in forbidden
            and not structure[child]
            and child not in feature_and_ancestors(structure, parent)
        ):
            is_turned = (child, parent) in offered and not structure[parent]
            assert (parent, child) in offered or is_turned
    for superparent, edit in (
        (next(iter(edit.values()))[0], edit) for edit in superparent_additions(structure, forbidden)
    ):
        assert not {(superparent, child) for child in edit} & forbidden


def test_a_greedy_search_goes_on_from_its_start():
    car = bn.load_car()
    options = {"k": 5, "smooth": 1, "folds": np.arange(len(car)) % 5}
    whole = bn.tan_hc("class", car, **options)
    steps = bn.search_steps(whole)
    assert len(steps) == 2
    half = bn.anb("class", {steps["to"][0]: [steps["from"][0]]}, car)
    rest = bn.tan_hc("class", car, start=half, **options)
    assert bn.families(rest) == bn.families(whole)
    assert scores_of(rest) == scores_of(whole)[1:]
    first = bn.fssj("class", car, start=bn.nb("class", features=["doors"]), epsilon=0, **options)
    assert "doors" in bn.features(first)
    assert bn.search_steps(first)["operation"].iloc[0] in ("add", "join")
