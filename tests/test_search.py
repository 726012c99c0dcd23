"""Greedy search: neighbors, scores, and the five learners."""

import pickle
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify import counts as family_counts
from bnclassify import search
from bnclassify.search import CrossValidatedScore, apply_edit

from .conftest import read_reference, reference_frame, scores_of
from .strategies import examples, frames

LOSSES = ["log_loss", "brier", "rmse"]
SEARCHED = [*LOSSES, *["accuracy", "balanced_accuracy", "f1", "precision", "recall", "kappa", "mcc"]]
"""Metrics whose score is the mean over the folds, unlike the calibration error."""

LEARNERS = {"fssj": bn.fssj, "bsej": bn.bsej, "tan_hc": bn.tan_hc, "tan_hcsp": bn.tan_hcsp, "kdb": bn.kdb}

FILES = ["car_search", "car_search_eps0", "car_search_smooth0", "voting_complete_search"]

# Ways to the same scores that depend on the size of the data, taken on little data.
WAYS = {
    "as it is": [],
    "numbering the cells that occur": [(family_counts, "_FEW_CONFIGURATIONS", 0)],
    "without keeping": [(search, "_KEPT_BYTES", 0)],
}


@contextmanager
def going(way):
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in WAYS[way]:
            patch.setattr(module, name, value)
        yield


# --- figures of R


@pytest.mark.filterwarnings(
    "ignore:No step improves", "ignore:No feature improves"
)  # some searches have no step
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", FILES)
def test_every_candidate_of_every_step(name, learner, monkeypatch):
    reference, frame = read_reference(name), reference_frame(name)
    asked = []

    class Spy(CrossValidatedScore):
        def __call__(self, structure, edits):
            asked.append((structure, edits, super().__call__(structure, edits)))
            return asked[-1][2]

    monkeypatch.setattr(search, "CrossValidatedScore", Spy)
    options = {key: reference[key] for key in ("k", "epsilon", "smooth", "folds")}
    x = LEARNERS[learner](reference["class"], frame, **options)
    if learner == "tan_hcsp":  # which asks for superparents before each step
        asked = [asked[0], *asked[2::2]]
    class_var, number = reference["class"], {column: i for i, column in enumerate(frame.columns)}
    for (structure, edits, scores), step in zip(asked, reference[learner]["steps"], strict=True):
        expected = [
            {number[v]: tuple(number[p] for p in f[1:-1]) for v, f in c["families"].items() if v != class_var}
            for c in step["candidates"]
        ]
        assert [apply_edit(structure, edit) for edit in edits] == expected
        np.testing.assert_allclose(scores, [c["score"] for c in step["candidates"]], rtol=0, atol=1e-12)
    assert bn.families(x) == {v: tuple(f) for v, f in reference[learner]["final"].items()}
    assert scores_of(x)[-1] == pytest.approx(reference[learner]["final_score"], abs=1e-12)
    accepted = [s["best_score"] for s in reference[learner]["steps"] if s["accepted"]]
    np.testing.assert_allclose(scores_of(x), accepted, rtol=0, atol=1e-12)


# --- scores


@pytest.mark.parametrize("learner", ["tan_hc", "bsej"])
def test_scores_of_incomplete_rows_in_folds_that_overlap_are_those_of_cv(learner, voting):
    """Two folds have as many rows as the data, but half of the rows are in both or in none."""
    frame, rows = voting.iloc[:160, -5:], np.arange(160)
    folds = [rows[:80], rows[40:120]]
    x = LEARNERS[learner]("Class", frame, k=2, folds=folds, metric="log_loss", epsilon=0, smooth=1)
    expected = bn.cv(bn.lp(x, frame, smooth=1), frame, folds=folds, metric="log_loss", dag=False)
    assert scores_of(x)[-1] == pytest.approx(-expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
@given(st.data())
@examples(25)
def test_scores_are_those_of_cross_validation(way, data):
    """With any prior, metric, weights, folds and gaps, a score is that of refits without the fold."""
    frame = data.draw(frames(min_rows=6, max_rows=40, missing=data.draw(st.sampled_from([0, 0.15, 0.4]))))
    prior = data.draw(st.sampled_from([{"smooth": 0.0}, {"smooth": 1.0}, {"ess": 2.5}, {"m": 0.7}]))
    metric, learner = data.draw(st.sampled_from(SEARCHED)), data.draw(st.sampled_from(list(LEARNERS)))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    weights = data.draw(
        st.sampled_from([None, [0.5, 1, 1.5], [0.1, 0.2, 0.3, 0.7]])
    )  # exact in binary or not
    rows = bn.encode(frame)
    rows = rows if weights is None else replace(rows, weights=rng.choice(weights, len(frame)))
    order = rng.permutation(len(frame))  # folds that overlap and leave rows out, or a partition
    folds = data.draw(st.sampled_from([[order[: len(frame) // 2], order[1:4], order[:1]], order % 3]))
    with going(way):
        x = LEARNERS[learner]("class", rows, k=3, folds=folds, metric=metric, epsilon=0, **prior)
    expected = bn.cv(bn.lp(x, rows, **prior), rows, folds=folds, metric=metric, dag=False)
    sign = -1 if metric in LOSSES else 1
    assert scores_of(x)[-1] == pytest.approx(sign * expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("weights", [(200_000, 1), (1, 1e-9), (1e150, 1e144)])
def test_a_heavy_row_does_not_make_light_ones_impossible(weights):
    """How improbable a possible row can be depends on the weights, not on how many rows there are."""
    codes = [[0, 0, 0, 0, 1, 1]] * 8 + [[0, 1, 0, 1, 1, 1]]
    frame = pd.DataFrame(np.transpose(codes), columns=[*"abcdefgh", "class"]).astype("category")
    rows = replace(bn.encode(frame), weights=np.repeat(weights, (4, 2)).astype(float))
    folds = np.array([0, 0, 1, 1, 2, 3])
    x = bn.tan_hc("class", rows, k=4, folds=folds, epsilon=0, smooth=0)
    naive = bn.lp(bn.nb("class", rows), rows, smooth=0)
    assert scores_of(x)[0] == bn.cv(naive, rows, folds=folds, dag=False) == 0.75


@pytest.mark.parametrize("way", ["as it is", "numbering the cells that occur"])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_fractions_leave_nothing_where_no_row_is_learned_from(way, n_folds):
    """What a fold learns is a difference, which for weights such as 0.1 is easily a little off 0."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        frame = pd.DataFrame(rng.integers(0, 4, (60, 5)), columns=[*"abcd", "class"]).astype("category")
        rows = replace(bn.encode(frame), weights=rng.choice([0.1, 0.2, 0.3, 0.7], 60))
        folds = [rng.permutation(60)[:40] for _ in range(n_folds)]
        with going(way):
            x = bn.bsej("class", rows, k=2, folds=folds, smooth=0, epsilon=0)
        for structure, i in ((bn.nb("class", rows), 0), (x, -1)):
            expected = bn.cv(bn.lp(structure, rows, smooth=0), rows, folds=folds, dag=False)
            assert scores_of(x)[i] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_counts_of_many_rows_are_exact():
    """A sum of ones in single precision ends at 2**24; here that would turn the label of a value."""
    counts = {(0, 0): 2**24 + 700_000, (1, 0): 1_000, (1, 1): 1_020, (0, 1): 50}  # by value, then class
    tested = {(1, 0): 90, (1, 1): 110}
    codes = np.concatenate(
        [
            np.repeat(np.array(list(some), np.int8).T, list(some.values()), axis=1)
            for some in (tested, counts)
        ],
        axis=1,
    )
    schema = bn.encode(pd.DataFrame({"a": [0, 1], "class": [0, 1]})).schema
    data = bn.Dataset(schema, codes, pd.RangeIndex(codes.shape[1]))
    x = bn.tan_hc("class", data, k=2, folds=[np.arange(200)], smooth=1)
    assert scores_of(x) == (110 / 200,)


# --- learners


@pytest.mark.parametrize("learner", LEARNERS)
def test_steps_lead_to_the_structure(learner, votes):
    x = LEARNERS[learner]("Class", votes, k=5, smooth=1, epsilon=0, folds=np.arange(len(votes)) % 5)
    steps, scores = bn.search_steps(x), scores_of(x)
    np.testing.assert_array_equal(steps["score"], scores[1:])
    np.testing.assert_allclose(steps["gain"], np.diff(scores), atol=1e-15)
    parents = {} if learner == "fssj" else {v: set() for v in votes if v != "Class"}
    groups = [{v} for v in parents]
    for operation, source, target in steps[["operation", "from", "to"]].itertuples(index=False):
        if operation == "add":
            assert source is None
            parents[target] = set()
            groups.append({target})
        elif operation == "remove":
            assert target is None
            parents.pop(source)
            parents = {v: above - {source} for v, above in parents.items()}
            groups = [group - {source} for group in groups]
        elif operation == "arc":
            parents[target].add(source)
        else:
            assert set(source) in groups
            for v in target:
                parents.setdefault(v, set()).update(source)
            groups = [g for g in groups if g not in (set(source), set(target))] + [{*source, *target}]
    assert parents == {v: set(f[1:-1]) for v, f in bn.feature_families(x).items()}
    operations = {"fssj": {"add", "join"}, "bsej": {"remove", "join"}}.get(learner, {"arc"})
    assert set(steps["operation"]) <= operations


@pytest.mark.parametrize("learner", LEARNERS)
def test_structures_satisfy_their_own_predicate(learner, votes):
    x = LEARNERS[learner]("Class", votes, k=5, smooth=1, epsilon=0, rng=0)
    predicate = {"fssj": bn.is_semi_naive, "bsej": bn.is_semi_naive}.get(learner, bn.is_ode)
    if learner == "kdb":
        assert max(len(f) for f in bn.families(x).values()) <= 4
    else:
        assert predicate(x)
    scores = scores_of(x)
    assert all(b >= a - 1e-9 for a, b in pairwise(scores))
    assert repr(pickle.loads(pickle.dumps(x))) == repr(x)
    again = LEARNERS[learner]("Class", votes, k=5, smooth=1, epsilon=0, rng=0)
    assert (bn.families(again), scores_of(again)) == (bn.families(x), scores)


def test_a_generator_is_not_kept(car):
    """The recipe of a model learned with a generator uses the seed of the call."""
    x = bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 3, "rng": np.random.default_rng(0)})
    y = bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 3})
    assert x.recipe.structure.settings == y.recipe.structure.settings == {"k": 3, "smooth": 1}


def test_the_recipe_keeps_what_was_asked_for(car):
    options = {"k": 3, "kdbk": 1, "epsilon": 0.02, "m": 2, "metric": "log_loss", "rng": 5}
    x = bn.kdb("class", car, **options)
    assert x.recipe.structure.settings == options
    assert "search:" in repr(x)


def test_the_summary_tells_of_the_search(car):
    x = bn.tan_hc("class", car, k=5, smooth=1, rng=0)
    assert "  search:             2 steps, accuracy 0.9364, epsilon 0.01\n" in repr(x)
    y = bn.lp(bn.tan_hc("class", car, k=5, smooth=1, rng=0, metric="log_loss", epsilon=0.07), car, smooth=1)
    assert f"1 step, log_loss {-scores_of(y)[-1]:.4g}, epsilon 0.07" in repr(y)
    assert "search" not in repr(bn.nb("class", car))


def test_a_search_that_ends_for_want_of_epsilon_says_so_once(car, recwarn):
    with pytest.warns(UserWarning, match=r"improves the accuracy by `epsilon` = 0.2.*by 0.0\d+") as record:
        x = bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 5, "epsilon": 0.2, "rng": 0})
    assert len(record) == 1
    assert record[0].filename == __file__
    assert bn.is_nb(x)
    recwarn.clear()
    bn.cv(x, car, k=3, rng=0)
    bn.tan_hc("class", car, k=5, smooth=1, epsilon=0.04, rng=0)  # takes a step before it ends
    constant = pd.DataFrame({"a": ["u"] * 20, "b": ["v"] * 20, "class": list("pq") * 10})
    bn.tan_hc("class", constant, k=2, smooth=1, epsilon=0.2)  # no step would raise the score
    assert not recwarn.list


def test_other_metrics_find_what_accuracy_does_not():
    """Where one class has nearly all rows, no feature changes a label, but posteriors get better."""
    rng = np.random.default_rng(0)
    rare = rng.random(600) < 0.06
    frame = pd.DataFrame({"class": np.where(rare, "yes", "no")})
    frame["a"] = np.where((rng.random(600) < 0.75) == rare, "u", "v")
    frame["b"] = rng.choice(list("xyz"), 600)
    with pytest.warns(UserWarning, match="No feature improves the accuracy .* metric='log_loss'"):
        assert bn.features(bn.fssj("class", frame, k=5, smooth=1, rng=0)) == ()
    assert bn.features(bn.fssj("class", frame, k=5, smooth=1, rng=0, metric="log_loss")) == ("a",)


@pytest.mark.filterwarnings("ignore:No feature improves")
def test_fssj_without_a_useful_feature_is_the_class_alone():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 60), "b": "same", "class": ["p"] * 50 + ["q"] * 10})
    x = bn.lp(bn.fssj("class", frame, k=5, rng=0), frame, smooth=1)
    assert bn.features(x) == ()
    assert set(bn.predict(x, frame)) == {"p"}
    assert bn.predict(x, frame[[]], prob=True).shape == (60, 2)
    assert bn.cv(x, frame, k=5, rng=0) == pytest.approx(50 / 60)
    assert bn.plot(x).source.count("\t0 [label=class ") == 1
    assert "class and 0 features, learned by fssj" in bn.plot(x).source
    for score in (bn.loglik, bn.AIC, bn.BIC, bn.cloglik):
        assert score(x, frame) < 0


@pytest.mark.filterwarnings("ignore:No feature improves")
def test_class_constant_in_a_fold_and_smaller_than_k():
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "class": list("ppppppqr")})
    folds = [[0, 1, 2, 6], [3, 4, 5, 7]]
    for smooth in (0, 1):
        x = bn.tan_hc("class", frame, k=2, folds=folds, smooth=smooth)
        assert scores_of(x)[0] == pytest.approx(0.75)
    with pytest.warns(UserWarning, match="fewer rows than k=3.*'q', 'r'") as record:
        bn.fssj("class", frame, k=3, rng=0)
    assert record[0].filename == __file__


def test_search_stops_at_a_perfect_score():
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "b": list("uvuvuvuv"), "class": list("pqpqpqpq")})
    assert scores_of(bn.tan_hc("class", frame, k=2, epsilon=0, smooth=1, rng=0)) == (1.0,)
    assert bn.features(bn.fssj("class", frame, k=2, epsilon=0, smooth=1)) == ("a",)
    sure = bn.tan_hc("class", frame, k=2, epsilon=0, smooth=0, rng=0, metric="log_loss")
    assert scores_of(sure) == pytest.approx((0.0,))


def test_rows_without_a_class_do_not_shift_folds():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 40), "b": rng.integers(0, 3, 40)})
    frame["class"] = np.where(rng.random(40) < 0.8, frame["a"].astype(str), None)
    numbers = np.arange(40) % 4
    known = frame["class"].notna().to_numpy()
    with pytest.warns(UserWarning, match="have no class"):
        x = bn.fssj("class", frame, k=4, folds=numbers, smooth=1)
    y = bn.fssj("class", frame[known], k=4, folds=numbers[known], smooth=1)
    assert scores_of(x) == scores_of(y)


def test_a_fold_needs_rows_with_a_class(car):
    gaps = car.copy()
    gaps.loc[[0, 1], "class"] = np.nan
    folds = [[0, 1], range(2, 1000), range(1000, 1728)]
    with (
        pytest.warns(UserWarning, match="have no class"),
        pytest.raises(ValueError, match=r"one of the 1726 rows with a class.* fold 0 tests 0"),
    ):
        bn.tan_hc("class", gaps, k=3, smooth=1, folds=folds)


def test_progress_shows_a_bar(car, capsys):
    bn.tan_hc("class", car, k=3, smooth=1, rng=0, progress=True)
    shown = capsys.readouterr().err
    assert "search: 2 steps" in shown
    assert "best=0.9" in shown
    assert "candidates=12" in shown


@pytest.mark.filterwarnings("ignore:No feature improves")
@pytest.mark.parametrize("learner", LEARNERS)
def test_search_with_nothing_to_choose_from(learner):
    """No features, one feature, one class, and features that are missing throughout."""
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "class": list("ppqqppqq")})
    learn = LEARNERS[learner]
    with pytest.warns(UserWarning, match="no feature remains, so 'class'"):
        assert bn.features(learn("class", frame[["class"]], k=2, smooth=1, rng=0)) == ()
    assert bn.is_nb(learn("class", frame, k=2, smooth=0, rng=0))
    assert scores_of(learn("class", frame.assign(**{"class": "p"}), k=2, rng=0)) == (1.0,)
    hidden = frame.assign(a=pd.Categorical([None] * 8, ["x", "y"]))
    prior = learn("class", hidden, k=2, smooth=1, rng=0, epsilon=0)
    assert scores_of(prior) == pytest.approx((0.5,) * len(scores_of(prior)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the network has")
def test_families_of_more_values_than_any_table_holds():
    """Their joint values are counted where they occur; elsewhere, such tables are refused."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 600, (1_400, 4)), columns=list("abcd"))
    frame["class"] = (frame["a"] > 300).astype(int)
    options = {"k": 3, "folds": np.arange(1_400) % 3, "epsilon": 0}
    x = bn.kdb("class", frame, kdbk=3, smooth=1, **options)
    assert scores_of(x)[-1] > 0.75
    one = bn.tan_hc("class", frame, smooth=1, **options)
    expected = bn.cv(bn.lp(one, frame, smooth=1), frame, folds=options["folds"], dag=False)
    assert scores_of(one)[-1] == pytest.approx(expected, abs=1e-12)
