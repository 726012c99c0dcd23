"""Scores of families, and searches over general networks, against the plainest way to do them."""

from dataclasses import replace
from itertools import permutations
from math import lgamma, log, prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.counts import FamilyCounts
from bnclassify.structure import LocalScores

from .oracles import has_cycle
from .strategies import examples, frames, graphs

SCORE_NAMES = ("loglik", "aic", "bic", "bde", "k2")
scores = st.sampled_from(SCORE_NAMES)
sizes = st.sampled_from([0.5, 1.0, 10.0])


def family_score(frame, variable, parents, score, ess):
    """Score a family by its definition, configuration by configuration."""
    levels = {v: list(frame[v].cat.categories) for v in frame}
    r, q = len(levels[variable]), prod(len(levels[p]) for p in parents)
    groups = [group for _, group in frame.groupby(parents, observed=True)] if parents else [frame]
    counts = [[int((group[variable] == k).sum()) for k in levels[variable]] for group in groups]
    if score in ("bde", "k2"):
        a = ess / (r * q) if score == "bde" else 1.0
        return sum(
            lgamma(r * a) - lgamma(r * a + sum(row)) + sum(lgamma(a + n) - lgamma(a) for n in row)
            for row in counts
        )
    fit = sum(n * log(n / sum(row)) for row in counts for n in row if n)
    penalty = {"loglik": 0.0, "aic": 1.0}.get(score) if score != "bic" else 0.5 * log(len(frame))
    return fit - penalty * (r - 1) * q


@given(st.data(), scores, sizes)
@examples(60)
def test_scores_follow_their_definition(data, score, ess):
    frame = data.draw(frames())
    x = data.draw(graphs(frame))
    expected = sum(family_score(frame, v, list(f[1:]), score, ess) for v, f in bn.families(x).items())
    assert bn.network_score(x, frame, score=score, ess=ess) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.data(), st.sampled_from(["loglik", "aic", "bde", "k2"]), sizes)  # BIC charges by all rows
@examples(60)
def test_gains_are_differences_on_the_rows_that_are_observed(data, score, ess):
    frame = data.draw(frames(missing=0.2)).dropna(axis=1, how="all")
    columns = list(frame)
    variable, *parents = data.draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True))
    number = {v: i for i, v in enumerate(columns)}
    gains = LocalScores(bn.encode(frame), score, ess).gains_by_added_parent(
        number[variable], [number[p] for p in parents]
    )
    for other in set(columns) - {variable, *parents}:
        known = frame[[variable, *parents, other]].dropna()
        with_it, without = (
            family_score(known, variable, above, score, ess) for above in ([*parents, other], parents)
        )
        assert gains[number[other]] == pytest.approx(with_it - without, abs=1e-9)


def climb_by_hand(frame, score, ess, most, moves):
    """Score every neighbor as a whole, in the order in which ties are decided."""
    columns = list(frame)
    parents = {v: [] for v in columns}

    def total(some):
        return sum(family_score(frame, v, above, score, ess) for v, above in some.items())

    def neighbor(move, s, t):
        if (move == "add") == (s in parents[t]):
            return None
        changed = {v: list(above) for v, above in parents.items()}
        if move == "add":
            changed[t].append(s)
        else:
            changed[t].remove(s)
        if move == "reverse":
            changed[s].append(t)
        crowded = any(len(above) > most for above in changed.values())
        return None if crowded or has_cycle(changed) else changed

    steps = []
    while True:
        now = total(parents)
        tolerance = max(1e-9, 1e-12 * abs(now))
        options = [
            (move, s, t, changed, total(changed) - now)
            for move in ("add", "delete", "reverse")
            if move in moves
            for s, t in permutations(columns, 2)
            if (changed := neighbor(move, s, t)) is not None
        ]
        best = max((option[-1] for option in options), default=0.0)
        if best <= tolerance:
            return steps
        move, s, t, parents, gain = next(o for o in options if o[-1] >= best - tolerance)
        steps.append((move, s, t, gain, now + gain))


@pytest.mark.slow
@given(st.data(), st.sampled_from(["aic", "bic", "bde", "k2"]))
@examples(40)
def test_climbs_as_if_every_neighbor_were_scored(data, score):
    frame = data.draw(frames(min_rows=5, max_features=3))
    frame = frame[data.draw(st.permutations(list(frame)))]
    most = data.draw(st.integers(0, 3))
    moves = data.draw(st.sampled_from([("add",), ("add", "delete"), ("add", "delete", "reverse")]))
    x = bn.hc("class", frame, score=score, ess=10, max_parents=most, moves=moves)
    steps = [tuple(step) for step in bn.search_steps(x).itertuples(index=False)]
    expected = climb_by_hand(frame, score, 10, most, moves)
    assert [step[:3] for step in steps] == [step[:3] for step in expected]
    np.testing.assert_allclose(
        [step[3:] for step in steps], [step[3:] for step in expected], rtol=1e-9, atol=1e-8
    )
    found = bn.network_score(x, frame, score=score, ess=10)
    empty = bn.BNC("class", tuple((v,) for v in x.variables))
    start = bn.network_score(empty, frame, score=score, ess=10)
    assert found == pytest.approx(start + sum(step[3] for step in steps), rel=1e-9, abs=1e-8)


def arcs_of(x):
    return {(parent, v) for v, *above in bn.families(x).values() for parent in above}


@given(st.data())
@examples(40)
def test_rules_are_kept(data):
    frame = data.draw(frames(min_rows=10, max_features=4))
    pairs = list(permutations(frame, 2))
    order = data.draw(st.permutations(list(frame)))
    forward = [(s, t) for s, t in pairs if order.index(s) < order.index(t)]
    required = data.draw(st.lists(st.sampled_from(forward), unique=True, max_size=3))
    forbidden = data.draw(st.lists(st.sampled_from([p for p in pairs if p not in required]), max_size=4))
    x = bn.hc("class", frame, score="aic", required=required, forbidden=forbidden)
    assert set(required) <= arcs_of(x)
    assert not set(forbidden) & arcs_of(x)
    inner = [(s, t) for s, t in required if "class" not in (s, t)]
    outer = [(s, t) for s, t in forbidden if "class" not in (s, t)]
    y = bn.ban("class", frame, score="aic", required=inner, forbidden=outer, moves=("add", "reverse"))
    assert bn.is_anb(y)
    assert set(inner) <= arcs_of(y)
    assert not set(outer) & arcs_of(y)
    assert (
        max(len(f) for f in bn.families(bn.ban("class", frame, score="loglik", max_parents=2)).values()) <= 3
    )
    assert bn.is_nb(bn.ban("class", frame, score="loglik", max_parents=1))


@given(st.data(), scores)
@examples(30)
def test_rows_that_weigh_are_rows_repeated(data, score):
    frame = data.draw(frames(min_rows=3))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(frame), max_size=len(frame))))
    weighted = replace(bn.encode(frame), weights=weights.astype(float))
    repeated = bn.encode(frame.loc[frame.index.repeat(weights)].reset_index(drop=True))
    x, y = (bn.hc("class", rows, score=score, max_parents=2) for rows in (weighted, repeated))
    assert bn.families(x) == bn.families(y)
    np.testing.assert_allclose(bn.search_steps(x)["score"], bn.search_steps(y)["score"], rtol=1e-9, atol=1e-8)
    for learn in (bn.chow_liu, bn.kdb_mi, bn.chisq_dn):
        assert bn.families(learn("class", weighted)) == bn.families(learn("class", repeated))
    by_bde = [bn.families(bn.tan_cl("class", rows, score="bde")) for rows in (weighted, repeated)]
    assert by_bde[0] == by_bde[1]


def test_a_start_is_kept_where_nothing_is_gained(car):
    naive = bn.nb("class", car)
    assert bn.families(bn.hc("class", car, start=naive, moves=("add",))) == bn.families(naive)
    there = bn.hc("class", car)
    again = bn.hc("class", car, start=there)
    assert bn.families(again) == bn.families(there)
    assert bn.search_steps(again).empty
    assert list(bn.search_steps(again).columns) == ["operation", "from", "to", "gain", "score"]
    partial = bn.nb("class", car, features=["doors"])
    assert ("class", "doors") in arcs_of(bn.hc("class", car, start=partial, moves=["add"]))


def test_a_tabu_search_does_not_return_to_its_start(car):
    best = bn.hc("class", car)
    steps = bn.search_steps(bn.hc("class", car, start=best, tabu=3))[["operation", "from", "to"]]
    arcs = arcs_of(best)
    for operation, source, target in steps.head(3).itertuples(index=False):
        arcs ^= {(source, target)} | ({(target, source)} if operation == "reverse" else set())
        assert arcs != arcs_of(best)
    assert len(steps) >= 3


def test_models_are_learned_again_as_they_were(car):
    first = car[["class", *car.columns[:-1]]]  # the class decides ties where it stands
    dag_args = {"score": "bde", "ess": 3, "max_parents": 2, "forbidden": [("class", "doors")]}
    x = bn.bnc("hc", "class", first, smooth=1, dag_args=dag_args)
    assert bn.families(x) == bn.families(bn.hc("class", first, **dag_args))
    folds = bn.stratified_folds(first["class"], 3, rng=0)
    by_hand = []
    for fold in range(3):
        train, test = first[folds != fold], first[folds == fold]
        model = bn.lp(bn.hc("class", train, **dag_args), train, smooth=1)
        by_hand.append(bn.accuracy(bn.predict(model, test), test["class"]))
    assert bn.cv(x, first, folds=folds) == pytest.approx(np.mean(by_hand))
    turned = {"moves": ("add", "delete", "reverse"), "required": [("doors", "safety")]}
    by_moves = bn.ban("class", car, **turned)
    again = by_moves.recipe.fit(bn.encode(car))
    assert bn.search_steps(again).equals(bn.search_steps(by_moves))
    assert by_moves.recipe.structure.settings["moves"] == turned["moves"]
    for name in ("ban", "kdb_mi", "chow_liu", "chisq_dn"):
        assert bn.cv(bn.bnc(name, "class", car, smooth=1), car, k=2, rng=0) > 0.7


def frame_of(**columns):
    return pd.DataFrame({name: list(text) for name, text in columns.items()})


@pytest.mark.parametrize("score", SCORE_NAMES)
def test_odd_columns(score):
    twins = frame_of(a="xyxyxyxyxy" * 4, b="xyxyxyxyxy" * 4, k="zzzzzzzzzz" * 4, c="pqpqpqpqqp" * 4)
    x = bn.hc("c", twins, score=score, max_parents=2)
    assert not {arc for arc in arcs_of(x) if "k" in arc}
    assert {frozenset(arc) for arc in arcs_of(x)} >= {frozenset("ab")}
    one = bn.hc("c", twins[["a", "c"]], score=score)
    assert {frozenset(arc) for arc in arcs_of(one)} == {frozenset("ac")}
    with pytest.warns(UserWarning, match="no feature remains"):
        assert bn.hc("c", twins[["c"]], score=score).variables == ("c",)
    for model in (x, one):
        assert bn.accuracy(bn.predict(bn.lp(model, twins, smooth=1), twins), twins["c"]) == 0.8
    single = bn.hc("c", twins.iloc[:1], score=score)
    assert not arcs_of(single)


def test_tan_by_marginal_likelihood_leaves_out_what_does_not_pay(car):
    x = bn.tan_cl("class", car, score="bde", ess=1)
    assert bn.is_ode(x)
    naive = bn.network_score(bn.nb("class", car), car, score="bde")
    assert bn.network_score(x, car, score="bde") > naive
    # A forest by exact search is at least as good as one that climbs with one feature parent.
    climbed = bn.ban("class", car, score="bde", max_parents=2)
    assert bn.network_score(x, car, score="bde") >= bn.network_score(climbed, car, score="bde") - 1e-9
    assert bn.tan_cl("class", car, score="bde", ess=100).recipe.structure.settings["ess"] == 100


@given(st.data())
@examples(30)
def test_trees_leave_out_pairs_never_seen_together(data):
    frame = data.draw(frames(min_rows=6, max_features=3))
    half = np.arange(len(frame)) % 2 == 0
    frame["x0"] = frame["x0"].where(half)
    frame["y"] = frame["class"].where(~half)
    for learn in (bn.chow_liu, bn.kdb_mi, bn.chisq_dn):
        assert not {("x0", "y"), ("y", "x0")} & arcs_of(learn("class", frame))
    by_bde = bn.tan_cl("class", frame, score="bde")
    assert not {("x0", "y"), ("y", "x0")} & arcs_of(by_bde)


def test_trees_and_ranks_of_odd_columns():
    frame = frame_of(a="xyxyxyxyxy" * 4, b="xyxyxyxyxy" * 4, k="zzzzzzzzzz" * 4, c="pqpqpqpqqp" * 4)
    tree = bn.chow_liu("c", frame)
    assert len(arcs_of(tree)) == 3
    assert bn.families(tree)["c"] == ("c",)
    with pytest.warns(UserWarning, match="no feature remains"):
        assert bn.families(bn.chow_liu("c", frame[["c"]])) == {"c": ("c",)}
    assert bn.families(bn.kdb_mi("c", frame, kdbk=5)) == {
        "a": ("a", "c"), "b": ("b", "a", "c"), "k": ("k", "a", "b", "c"), "c": ("c",),
    }  # fmt: skip
    assert bn.is_nb(bn.kdb_mi("c", frame, kdbk=0))
    assert bn.features(bn.kdb_mi("c", frame, features=["b", "a"])) == ("a", "b")


def test_tolerance_of_ties_grows_with_the_score():
    """One row makes b a better predictor than a by some 3 nats, of a score of some 1e13."""
    rows = [("x", "x", "p"), ("x", "y", "p"), ("y", "x", "p"), ("x", "x", "p")]
    rows += [(*["y" if v == "x" else "x" for v in pair], "q") for *pair, _ in rows]
    frame = pd.DataFrame([*rows, ("y", "x", "p")], columns=["a", "b", "class"])
    heavy = bn.encode(frame, weights=[2e12] * 8 + [1])
    light = bn.encode(frame, weights=[2] * 8 + [1])
    first = [bn.search_steps(bn.hc("class", data, score="loglik", max_parents=1)) for data in (heavy, light)]
    assert [steps["from"][0] for steps in first] == ["a", "b"]


# The log marginal likelihood of naive Bayes on car, by loggamma of mpmath with 60 digits.
BDE = {
    1e-100: -24763.171412045107,
    1e-12: -15037.051979238271,
    1: -13722.624433709869,
    1e3: -14404.685001671575,
    1e6: -15274.506621563255,
    1e9: -15277.269954604007,
    1e12: -15277.272725742245,
}


@pytest.mark.parametrize("ess", BDE)
def test_bde_is_exact_for_any_equivalent_size(ess, car):
    score = bn.network_score(bn.nb("class", car), car, score="bde", ess=ess)
    assert score == pytest.approx(BDE[ess], rel=1e-13)


def test_gains_under_a_large_size_are_no_rounding_errors(car):
    """With a weak signal against the prior, the gain of an arc is inversely proportional to the size."""
    first = [bn.search_steps(bn.ban("class", car, score="bde", ess=s))["gain"][0] for s in (1e9, 1e12)]
    assert first[1] == pytest.approx(first[0] / 1000, rel=1e-3)


CHANGED_BY_SCALE = "the weights of `dataset` sum to 1, less than the number of its rows, 1,728"


def test_a_score_that_depends_on_the_number_of_rows_warns_of_small_weights(car):
    data = bn.encode(car, weights=[1 / len(car)] * len(car))
    naive = bn.lp(bn.nb("class", car), car, smooth=1)
    calls = [
        lambda: bn.ban("class", data),
        lambda: bn.hc("class", data, score="aic"),
        lambda: bn.tan_cl("class", data, score="bic"),
        lambda: bn.tan_cl("class", data, score="bde"),
        lambda: bn.chisq_dn("class", data),
        lambda: bn.network_score(naive, data, score="k2"),
        lambda: bn.BIC(naive, data),
        lambda: bn.mbc(["class", "safety"], data),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match=CHANGED_BY_SCALE) as record:
            call()
        assert len(record) == 1
    heavy = bn.encode(car, weights=np.where(np.arange(len(car)) % 2, 0.5, 1.5))  # sum to the number of rows
    for weighted in (heavy, bn.encode(car, weights=[2] * len(car)), bn.encode(car, weights=[0, 1] * 864)):
        bn.ban("class", weighted)
    bn.tan_cl("class", data)


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e-3, 1e6, 1e15])
def test_information_does_not_depend_on_the_scale_of_weights(scale, voting):
    scaled = bn.encode(voting, weights=[scale] * len(voting))
    for learner in (bn.tan_cl, bn.kdb_mi, bn.chow_liu):
        assert bn.families(learner("Class", scaled)) == bn.families(learner("Class", voting))


def test_the_start_is_tabu():
    """From a start that is the best network, two steps down do not lead back to it."""
    frame = pd.DataFrame({"a": [*"xxyy"] * 9, "b": [*"xyxy"] * 9, "c": [*"xxxxyyyy"] * 4 + [*"xyyx"]})
    steps = bn.search_steps(bn.hc("c", frame, score="bic", tabu=2))
    assert steps["operation"].tolist()[:2] != ["add", "delete"]
    assert len(steps) >= 2


def test_a_column_of_names_does_not_slow_down_the_search(monkeypatch):
    """Values that occur are counted in place of tables that are nearly empty, with the same result."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (1000, 4)), columns=list("abdc"))
    frame = frame.assign(
        name=rng.integers(0, 300, 1000), b=np.where(rng.random(1000) < 0.7, frame["a"], frame["b"])
    )
    for score in ("bic", "bde"):
        found = []
        for is_sparse in (None, lambda *_: True, lambda *_: False):
            if is_sparse is not None:
                monkeypatch.setattr(FamilyCounts, "is_sparse", is_sparse)
            x = bn.hc("c", bn.encode(frame), score=score, max_parents=2)
            found.append((bn.modelstring(x), bn.search_steps(x)["score"].round(8).tolist()))
        monkeypatch.undo()
        assert found[0] == found[1] == found[2]


def test_configurations_of_many_parents_are_those_that_occur():
    """Of 14 binary parents, the first 13 have 8,192 configurations, of which few occur."""
    codes = np.random.default_rng(0).integers(2, size=(100, 15))
    codes[:, 1:12] = codes[:4, 1:12].repeat(25, axis=0)
    frame = pd.DataFrame(codes).add_prefix("x")
    parents = [f"x{i}" for i in range(1, 15)]
    x = bn.from_modelstring(f"[x0|{':'.join(parents)}]" + "".join(f"[{v}]" for v in parents), "x0")
    counts = [frame.value_counts(names) for names in ([*frame], parents)]
    expected = [float((n * np.log(n)).sum()) for n in counts]
    alone = sum(n * log(n / 100) for v in parents for n in frame[v].value_counts())
    assert bn.network_score(x, frame, score="loglik") == pytest.approx(expected[0] - expected[1] + alone)
