"""Greedy search: neighbours, the scorer, the five learners, and cross-validation."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.frames.encoding import encode
from bnclassify.frames.folding import fold_rows
from bnclassify.parameters.priors import Dirichlet
from bnclassify.structure.search.ascents import Climber, picker
from bnclassify.structure.search.folded import FoldedData
from bnclassify.structure.search.learners import BACKWARD, FORWARD, SUPERPARENT, TREE
from bnclassify.structure.search.neighbours import apply, dependence_arcs
from bnclassify.structure.search.scoring import CrossValidatedScore

from .conftest import read_reference, reference_frame
from .strategies import frames, networks

LEARNERS = {"fssj": bn.fssj, "bsej": bn.bsej, "tan_hc": bn.tan_hc, "tan_hcsp": bn.tan_hcsp, "kdb": bn.kdb}
FILES = ["car_search", "car_search_eps0", "car_search_smooth0", "voting_complete_search"]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", FILES)
def test_every_candidate_of_every_step(name: str, learner: str) -> None:
    reference, frame = read_reference(name), reference_frame(name)
    data, class_var = encode(frame), reference["class"]
    number = {column: i for i, column in enumerate(data.columns)}
    folded = FoldedData.deal(data, [np.array(t) for t in reference["folds"]])
    score, pick = CrossValidatedScore(folded, Dirichlet(reference["smooth"])), picker(None)
    n = len(data.columns) - 1
    climber = Climber(range(n), score, pick)
    moves = {"fssj": FORWARD, "bsej": BACKWARD, "tan_hc": TREE, "tan_hcsp": SUPERPARENT}.get(learner)

    def neighbours(structure: Any) -> Any:
        return dependence_arcs(structure, 2) if moves is None else moves.neighbours(structure, climber)

    current: Any = {} if learner == "fssj" else dict.fromkeys(range(n), ())
    for i, step in enumerate(reference[learner]["steps"]):
        edits = neighbours(current) if i else [{}]
        expected = [
            {number[v]: tuple(number[p] for p in f[1:-1]) for v, f in c["families"].items() if v != class_var}
            for c in step["candidates"]
        ]
        assert [apply(current, edit) for edit in edits] == expected
        scores = score(current, edits)
        np.testing.assert_allclose(scores, [c["score"] for c in step["candidates"]], rtol=0, atol=1e-12)
        assert pick(scores) == step["best"]
        if step["accepted"]:
            current = apply(current, edits[step["best"]])


@pytest.mark.filterwarnings("ignore:epsilon. no step raises")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", FILES)
def test_final_structures(name: str, learner: str) -> None:
    reference, frame = read_reference(name), reference_frame(name)
    settings = {key: reference[key] for key in ("k", "epsilon", "smooth", "folds")}
    x = LEARNERS[learner](reference["class"], frame, **settings)
    assert bn.families(x) == {v: tuple(f) for v, f in reference[learner]["final"].items()}
    assert bn.greedy_scores(x)[-1] == pytest.approx(reference[learner]["final_score"], abs=1e-12)
    accepted = [s["best_score"] for s in reference[learner]["steps"] if s["accepted"]]
    np.testing.assert_allclose(bn.greedy_scores(x), accepted, rtol=0, atol=1e-12)


def plain_score(x: bn.BNC, frame: pd.DataFrame, tests: list[np.ndarray], smooth: float) -> float:
    """Fit on each training part and predict its test part, with the public verbs."""
    shares = []
    for test in tests:
        trained, tested = frame.drop(index=frame.index[test]), frame.iloc[test]
        fitted = bn.lp(x, trained, smooth=smooth)
        shares.append(bn.accuracy(bn.predict(fitted, tested), tested["class"]))
    return float(np.mean(shares))


@given(st.data())
@settings(max_examples=60)
def test_scorer_equals_fitting_and_predicting(data: st.DataObject) -> None:
    missing = data.draw(st.sampled_from([0, 0, 0.15]))
    frame = data.draw(frames(min_rows=6, max_rows=30, max_features=5, missing=missing))
    smooth = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    x = data.draw(networks(frame))
    n = frame.shape[1] - 1
    if data.draw(st.booleans()):
        numbers = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(frame), max_size=len(frame))))
        numbers[:2] = [0, 1]
        tests = fold_rows(numbers, len(frame))
    else:  # folds that overlap and leave rows out
        tests = fold_rows([[0, 1, 4], [1, 3], [5]], len(frame))
    score = CrossValidatedScore(FoldedData.deal(encode(frame), tests), Dirichlet(smooth))
    number = {name: i for i, name in enumerate(frame.columns)}
    structure = {number[v]: tuple(number[p] for p in f[1:-1]) for v, f in bn.feature_families(x).items()}
    edits = [{}, *dependence_arcs(structure, 3), *[{v: None} for v in range(n)]]
    edits = [
        e
        for e in edits
        if not any(None is p for p in e.values()) or not any(next(iter(e)) in ps for ps in structure.values())
    ]
    for edit, result in zip(edits, score(structure, edits), strict=True):
        candidate = apply(structure, edit)
        names = {frame.columns[v]: [frame.columns[p] for p in ps] for v, ps in candidate.items()}
        y = bn.anb("class", names, frame, features=list(names))
        assert result == pytest.approx(plain_score(y, frame, tests, smooth), abs=1e-12)


def test_scorer_without_room_gives_the_same(car: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = bn.stratified_folds(car["class"], 4, rng=0)
    scores = []
    for place, value in [
        ("tables._KEPT_BYTES", 2**27),
        ("tables._KEPT_BYTES", 0),
        ("heads._BLOCK_VALUES", 100),
    ]:
        monkeypatch.setattr(f"bnclassify.structure.search.{place}", value)
        scores.append(bn.greedy_scores(bn.kdb("class", car, k=4, folds=numbers, smooth=1, epsilon=0)))
    for other in scores[1:]:
        assert other == pytest.approx(scores[0], abs=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_structures_satisfy_their_own_predicate(learner: str, votes: pd.DataFrame) -> None:
    x = LEARNERS[learner]("Class", votes, k=5, smooth=1, epsilon=0, rng=0)
    predicate: Callable = {"fssj": bn.is_semi_naive, "bsej": bn.is_semi_naive}.get(learner, bn.is_ode)
    if learner == "kdb":
        assert max(len(f) for f in bn.families(x).values()) <= 4
    else:
        assert predicate(x)
    scores = bn.greedy_scores(x)
    assert all(b >= a - 1e-9 for a, b in pairwise(scores))
    assert repr(pickle.loads(pickle.dumps(x))) == repr(x)


def test_a_seed_fixes_everything(car: pd.DataFrame) -> None:
    a, b = (bn.tan_hc("class", car, k=3, smooth=1, rng=7) for _ in range(2))
    assert bn.families(a) == bn.families(b)
    assert bn.greedy_scores(a) == bn.greedy_scores(b)


def test_fssj_without_a_useful_feature_is_the_class_alone() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 60), "b": "same", "class": ["p"] * 50 + ["q"] * 10})
    x = bn.lp(bn.fssj("class", frame, k=5, rng=0), frame, smooth=1)
    assert bn.features(x) == ()
    assert set(bn.predict(x, frame)) == {"p"}
    assert bn.predict(x, frame[[]], prob=True).shape == (60, 2)
    assert bn.cv(x, frame, k=5, rng=0) == pytest.approx(50 / 60)
    assert bn.plot(x).source.count("\t0 [label=class ") == 1
    assert "class and 0 features, by fssj" in bn.plot(x).source
    for score in (bn.loglik, bn.AIC, bn.BIC, bn.cloglik):
        assert score(x, frame) < 0


def test_class_constant_in_a_fold_and_smaller_than_k() -> None:
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "class": list("ppppppqr")})
    folds = [[0, 1, 2, 6], [3, 4, 5, 7]]
    for smooth in (0, 1):
        x = bn.tan_hc("class", frame, k=2, folds=folds, smooth=smooth)
        assert bn.greedy_scores(x)[0] == pytest.approx(0.75)
    with pytest.warns(UserWarning, match="fewer rows than k=3.*'q', 'r'") as record:
        bn.fssj("class", frame, k=3, rng=0)
    assert record[0].filename == __file__


def test_search_stops_at_a_perfect_score() -> None:
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "b": list("uvuvuvuv"), "class": list("pqpqpqpq")})
    assert bn.greedy_scores(bn.tan_hc("class", frame, k=2, epsilon=0, smooth=1, rng=0)) == (1.0,)
    assert bn.features(bn.fssj("class", frame, k=2, epsilon=0, smooth=1)) == ("a",)


def test_rows_without_a_class_do_not_shift_folds() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 40), "b": rng.integers(0, 3, 40)})
    frame["class"] = np.where(rng.random(40) < 0.8, frame["a"].astype(str), None)
    numbers = np.arange(40) % 4
    known = frame["class"].notna().to_numpy()
    with pytest.warns(UserWarning, match="have no class"):
        x = bn.fssj("class", frame, k=4, folds=numbers, smooth=1)
    y = bn.fssj("class", frame[known], k=4, folds=numbers[known], smooth=1)
    assert bn.greedy_scores(x) == bn.greedy_scores(y)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"k": 1}, ValueError, "k: expected a whole number of folds, at least 2, got 1"),
        ({"k": 2.5}, TypeError, "k: expected a whole number"),
        ({"k": 5000}, ValueError, "k: expected a number of folds"),
        ({"k": 5, "epsilon": -1}, ValueError, "epsilon: expected a finite number"),
        ({"k": 5, "epsilon": "a"}, TypeError, "epsilon: expected a finite number"),
        ({"k": 5, "smooth": -1}, ValueError, "smooth"),
        ({"k": 5, "rng": "seed"}, TypeError, "rng: expected a seed"),
        ({"k": 5, "folds": [[0, 1], [1, 9999]]}, ValueError, "row positions go from 0 to 1727"),
        ({"k": 5, "folds": [[], [1]]}, ValueError, "at least one of the 1728 rows"),
        ({"k": 5, "folds": [[0, 0], [1]]}, ValueError, "tested twice"),
        ({"k": 5, "folds": np.zeros(3, dtype=int)}, ValueError, "a fold number for each of 1728 rows"),
        ({"k": 5, "folds": np.zeros(1728, dtype=int)}, ValueError, "at least 2 folds"),
        ({"k": 5, "folds": 3}, TypeError, "folds: expected"),
    ],
)
def test_bad_arguments(car: pd.DataFrame, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        bn.tan_hc("class", car, **options)


def test_kdbk_out_of_range(car: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="kdbk: expected a whole number of feature parents, at least 1"):
        bn.kdb("class", car, k=5, kdbk=0)
    with pytest.raises(TypeError, match="kdbk: expected a whole number"):
        bn.kdb("class", car, k=5, kdbk=1.5)


def test_greedy_scores_of_other_models(car: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="not found by greedy search"):
        bn.greedy_scores(bn.nb("class", car))


def test_progress_shows_a_bar(car: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    x = bn.lp(bn.tan_hc("class", car, k=3, smooth=1, rng=0, progress=True), car, smooth=1)
    shown = capsys.readouterr().err
    assert "search: 2 steps" in shown
    assert "best=0.9" in shown
    assert "candidates=12" in shown
    bn.cv(x, car, k=3, dag=False, rng=0, progress=True)
    assert "3/3" in capsys.readouterr().err


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=60), st.integers(2, 4), st.integers(0, 99))
def test_stratified_folds_are_even(y: list[str], k: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = bn.stratified_folds(y, k, rng=seed)
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1
    for label in set(y):
        assert np.ptp(np.bincount(folds[np.array(y) == label], minlength=k)) <= 1


def test_stratified_folds_refuse_missing_classes() -> None:
    with pytest.raises(ValueError, match="y: 1 rows have no class"):
        bn.stratified_folds(["a", None, "b"], 2)


@pytest.mark.parametrize("name", FILES[::3])
def test_cv_in_every_fold(name: str) -> None:
    reference, frame = read_reference(name), reference_frame(name)
    class_var, smooth = reference["class"], reference["smooth"]
    models = {
        "nb": bn.lp(bn.nb(class_var, frame), frame, smooth=smooth),
        "tan_cl_aic": bn.lp(bn.tan_cl(class_var, frame, score="aic"), frame, smooth=smooth),
        "aode": bn.lp(bn.aode(class_var, frame), frame, smooth=smooth),
    }
    table = bn.cv(models, frame, folds=reference["folds"], mean=False)
    for column in models:
        np.testing.assert_allclose(table[column], reference["cv"][column], rtol=0, atol=1e-12)
    fixed = bn.cv(models["tan_cl_aic"], frame, folds=reference["folds"], dag=False, mean=False)
    np.testing.assert_allclose(fixed[0], reference["cv"]["tan_cl_aic_fixed"], rtol=0, atol=1e-12)


def test_cv_returns_what_was_given(car: pd.DataFrame) -> None:
    x, y = (bn.lp(learn("class", car), car, smooth=1) for learn in (bn.nb, bn.tan_cl))
    one = bn.cv(x, car, k=4, rng=3)
    several = bn.cv([x, y], car, k=4, rng=3)
    named = bn.cv({"a": x, "b": y}, car, k=4, rng=3, mean=False)
    assert isinstance(one, float)
    assert several.index.tolist() == [0, 1]
    assert several[0] == one
    assert named.shape == (4, 2)
    assert named["a"].mean() == pytest.approx(one)
    assert bn.cv(x, bn.encode(car), k=4, rng=3) == one


def test_cv_runs_recipes_again(car: pd.DataFrame) -> None:
    """Learners and parameters again in each fold; greedy inner folds are fixed by the seed of cv."""
    x = bn.lp(bn.tan_hc("class", car, k=3, smooth=1), car, smooth=1)
    assert bn.cv(x, car, k=3, rng=5) == bn.cv(x, car, k=3, rng=5)
    folds = fold_rows(bn.stratified_folds(car["class"], 3, rng=1), len(car))
    y = bn.lp(bn.tan_hcsp("class", car, k=3, smooth=1, rng=2), car, smooth=1)
    by_hand = []
    for test in folds:
        trained, tested = car.drop(index=test), car.iloc[test]
        again = bn.lp(bn.tan_hcsp("class", trained, k=3, smooth=1, rng=2), trained, smooth=1)
        by_hand.append(bn.accuracy(bn.predict(again, tested), tested["class"]))
    np.testing.assert_array_equal(bn.cv(y, car, folds=folds, mean=False)[0], by_hand)
    parents = {"maint": ["buying"]}
    z = bn.lp(bn.anb("class", parents, car), car, smooth=1)
    parents["maint"].append("doors")
    fixed = bn.lp(bn.anb("class", {"maint": ["buying"]}, car), car, smooth=1)
    assert bn.cv(z, car, k=3, rng=0) == bn.cv(fixed, car, k=3, rng=0, dag=False)
    alone = bn.lp(bn.nb("class"), car, smooth=1)
    assert bn.cv(alone, car, k=3, rng=0) == pytest.approx(1210 / 1728, abs=0.01)


def test_cv_refuses(car: pd.DataFrame, votes: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    other = bn.lp(bn.nb("Class", votes), votes, smooth=1)
    with pytest.raises(ValueError, match="structure only"):
        bn.cv(bn.nb("class", car), car)
    with pytest.raises(ValueError, match="models of one class, got"):
        bn.cv([x, other], car)
    with pytest.raises(ValueError, match="at least one model"):
        bn.cv({}, car)
    for wrong in ("nb", [x, "nb"]):
        with pytest.raises(TypeError, match="x: expected"):
            bn.cv(wrong, car)
    holes = car.copy()
    holes.loc[0, "class"] = np.nan
    with pytest.raises(ValueError, match="1 of 1728 rows have no class"):
        bn.cv(x, holes)
    with pytest.raises(ValueError, match="does not know how it was learned"):
        bn.cv(bn.BNC(x.class_var, x.families, x.levels, x.cpts), car)


@pytest.mark.filterwarnings("ignore:epsilon. no step raises")
def test_search_on_incomplete_data(voting: pd.DataFrame) -> None:
    folds = bn.stratified_folds(voting["Class"], 5, rng=0)
    for learner in LEARNERS.values():
        x = learner("Class", voting, k=5, smooth=1, folds=folds)
        fitted = bn.lp(x, voting, smooth=1)
        shares = bn.cv(fitted, voting, folds=folds, dag=False)
        assert bn.greedy_scores(x)[-1] == pytest.approx(shares, abs=1e-12)


@pytest.mark.filterwarnings("ignore:the network has")
def test_many_levels_are_counted_in_portions() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 120, (300, 6)), columns=list("abcdef"))
    frame["class"] = (frame["a"] > 60).astype(int)
    numbers = np.arange(300) % 3
    x = bn.kdb("class", frame, k=3, folds=numbers, smooth=1, epsilon=0)
    fitted = bn.lp(x, frame, smooth=1)
    assert bn.cv(fitted, frame, folds=numbers, dag=False) == pytest.approx(bn.greedy_scores(x)[-1], abs=1e-12)


def test_folds_in_any_form_are_the_same(car: pd.DataFrame) -> None:
    numbers = bn.stratified_folds(car["class"], 3, rng=0)
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    rows = [np.nonzero(numbers == fold)[0] for fold in range(3)]
    forms = [
        numbers,
        pd.Series(numbers),
        numbers.tolist(),
        rows,
        (r for r in rows),
        [numbers == f for f in range(3)],
    ]
    results = [bn.cv(x, car, folds=form, mean=False) for form in forms]
    for other in results[1:]:
        pd.testing.assert_frame_equal(other, results[0])
    with pytest.raises(ValueError, match=r"pass \[test for _, test in folds\]"):
        bn.cv(x, car, folds=[(np.arange(5, 1728), np.arange(5)), (np.arange(5), np.arange(5, 1728))])


def test_seeded_cv_draws_the_folds_of_stratified_folds(car: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    assert bn.cv(x, car, k=5, rng=0) == bn.cv(x, car, folds=bn.stratified_folds(car["class"], 5, rng=0))


def test_a_fold_needs_rows_with_a_class(car: pd.DataFrame) -> None:
    holes = car.copy()
    holes.loc[[0, 1], "class"] = np.nan
    folds = [[0, 1], range(2, 1000), range(1000, 1728)]
    with (
        pytest.warns(UserWarning, match="have no class"),
        pytest.raises(ValueError, match="fold 0 tests 0 of the 1726 rows"),
    ):
        bn.tan_hc("class", holes, k=3, smooth=1, folds=folds)


def test_a_model_does_not_depend_on_what_stands_beside_it_in_cv(car: pd.DataFrame) -> None:
    x, y = (bn.lp(bn.tan_hc("class", car, k=3, smooth=1), car, smooth=1) for _ in range(2))
    alone = bn.cv(x, car, k=3, rng=1, mean=False)
    beside = bn.cv([y, x], car, k=3, rng=1, mean=False)
    assert alone[0].tolist() == beside[1].tolist()


calls: list[int] = []


def learner_with_selection(class_var: str, dataset: Any, **options: Any) -> bn.BNC:
    calls.append(len(dataset))
    return bn.nb(class_var, dataset, features=["safety"], **options)


def test_cv_runs_the_users_own_learner_again(car: pd.DataFrame) -> None:
    calls.clear()
    x = bn.bnc(learner_with_selection, "class", car, smooth=1)
    bn.cv(x, car, k=3, rng=0)
    assert calls == [1728, 1152, 1152, 1152]
    assert "learning algorithm: learner_with_selection\n" in repr(x)


def test_columns_that_no_model_uses_may_hold_anything(car: pd.DataFrame) -> None:
    wide = car.assign(price=np.linspace(0, 1, len(car)))
    x = bn.lp(bn.nb("class", wide, features=["safety", "persons"]), wide, smooth=1)
    y = bn.lp(bn.from_modelstring(bn.modelstring(bn.tan_cl("class", car)), "class"), car, smooth=1)
    for model, options in ((x, {}), (y, {}), (bn.lp(bn.tan_cl("class", car), car, smooth=1), {"dag": False})):
        expected = bn.cv(model, car, k=3, rng=0, **options)
        assert bn.cv(model, wide, k=3, rng=0, **options) == expected
    with pytest.raises(TypeError, match="column 'price'"):
        bn.cv(bn.lp(bn.tan_cl("class", car), car, smooth=1), wide, k=3, columns="any")


def test_a_model_of_given_arcs_by_bnc_goes_on(car: pd.DataFrame) -> None:
    arcs = {"maint": ["buying"]}
    x = bn.bnc(
        bn.anb, "class", car, smooth=1, dag_args={"parents": arcs, "features": iter(["maint", "buying"])}
    )
    y = bn.lp(bn.anb("class", arcs, car, features=["maint", "buying"]), car, smooth=1)
    arcs["maint"].clear()
    assert bn.modelstring(x) == bn.modelstring(y)
    assert bn.cv(x, car, k=3, rng=0) == bn.cv(y, car, k=3, rng=0)


def test_what_a_learner_was_given_cannot_be_changed_later(car: pd.DataFrame) -> None:
    def learner(target: str, dataset: Any, chosen: list[str]) -> bn.BNC:
        return bn.nb(target, dataset, features=chosen)

    chosen = ["safety", "doors"]
    x = bn.bnc(learner, "class", car, smooth=1, dag_args={"chosen": chosen})
    expected = bn.cv(x, car, k=3, rng=0)
    chosen.append("wheels")
    assert bn.cv(x, car, k=3, rng=0) == expected


def test_features_for_the_learner_of_bnc(car: pd.DataFrame) -> None:
    x = bn.bnc("nb", "class", car, smooth=1, dag_args={"features": map(str, ["safety", "doors"])})
    assert bn.features(x) == ("doors", "safety")
    for features, error, message in (
        ("safety", TypeError, r"features: expected a list of names, got 'safety'; write \['safety'\]"),
        (3, TypeError, "features: expected a list of names, got 3"),
        (["safty"], KeyError, "features: no column 'safty'.*did you mean 'safety'"),
    ):
        with pytest.raises(error, match=message):
            bn.bnc("nb", "class", car, smooth=1, dag_args={"features": features})


def test_learners_that_are_none(car: pd.DataFrame) -> None:
    with pytest.raises(
        TypeError, match="dag_learner: expected a function that returns a structure, got None"
    ):
        bn.bnc(lambda class_var, dataset: None, "class", car, smooth=1)
    with pytest.raises(
        TypeError, match=r"dag_learner: expected a function that returns a structure, got \{'data"
    ):
        bn.bnc(lambda *given, **named: named, "class", car, smooth=1)


def test_bnc_hands_all_rows_to_its_learner(car: pd.DataFrame) -> None:
    holes = car.copy()
    holes.loc[[0, 1], "class"] = np.nan
    numbers = np.arange(1728) % 3
    with pytest.warns(UserWarning, match="have no class"):
        x = bn.bnc("tan_hc", "class", holes, smooth=1, dag_args={"k": 3, "folds": numbers, "smooth": 1})
    assert len(bn.greedy_scores(x)) > 1


@pytest.mark.parametrize("option", ["dag", "mean", "progress"])
def test_cv_switches_are_true_or_false(car: pd.DataFrame, option: str) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    with pytest.raises(TypeError, match=f"{option}: expected True or False, got 'no'"):
        bn.cv(x, car, **{option: "no"})


def test_cv_names_the_model_and_fold_that_cannot_be_learned(car: pd.DataFrame) -> None:
    """Search finds a naive Bayes on all rows, but not in every fold, and MANB is for naive Bayes."""

    def structure(class_var: str, dataset: Any) -> bn.BNC:
        parents = {} if len(dataset) == len(car) else {"maint": ["buying"]}
        return bn.anb(class_var, parents, dataset)

    x = bn.bnc(structure, "class", car, smooth=1, manb_prior=0.5)
    with pytest.raises(
        ValueError, match=r"model 'm' cannot be learned again in fold 0: manb_prior.*dag=False"
    ):
        bn.cv({"m": x}, car, k=3, rng=0)
    assert 0 < bn.cv({"m": x}, car, k=3, rng=0, dag=False)["m"] < 1


@pytest.mark.parametrize("learner", LEARNERS)
def test_search_with_nothing_to_choose_from(learner: str) -> None:
    """No features, one feature, one class, and features that are missing throughout."""
    frame = pd.DataFrame({"a": list("xyxyxyxy"), "class": list("ppqqppqq")})
    search = LEARNERS[learner]
    with pytest.warns(UserWarning, match="no feature is left to predict 'class' by"):
        assert bn.features(search("class", frame[["class"]], k=2, smooth=1, rng=0)) == ()
    assert bn.is_nb(search("class", frame, k=2, smooth=0, rng=0))
    assert bn.greedy_scores(search("class", frame.assign(**{"class": "p"}), k=2, rng=0)) == (1.0,)
    hidden = frame.assign(a=pd.Categorical([None] * 8, ["x", "y"]))
    prior = search("class", hidden, k=2, smooth=1, rng=0, epsilon=0)
    assert bn.greedy_scores(prior) == pytest.approx((0.5,) * len(bn.greedy_scores(prior)))


@pytest.mark.filterwarnings("ignore:the network has")
@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "log_loss"])
@pytest.mark.parametrize("learner", ["fssj", "bsej", "tan_hc"])
def test_a_search_climbs_what_cv_measures(car: pd.DataFrame, metric: str, learner: str) -> None:
    folds = bn.stratified_folds(car["class"], 4, rng=0)
    x = LEARNERS[learner]("class", car, k=4, folds=folds, smooth=1, epsilon=0, metric=metric)
    fitted = bn.lp(x, car, smooth=1)
    measured = bn.cv(fitted, car, folds=folds, metric=metric, dag=False)
    sign = -1 if metric == "log_loss" else 1
    assert bn.greedy_scores(x)[-1] == pytest.approx(sign * measured, rel=1e-9)
    assert bn.search_steps(x)["score"].iloc[-1] == pytest.approx(bn.greedy_scores(x)[-1])


def test_a_search_that_stays_where_it_began_says_so(votes: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="no step raises the accuracy by 0.5.*epsilon=0") as told:
        x = bn.tan_hc("Class", votes, k=5, smooth=1, epsilon=0.5, rng=0)
    assert len(told) == 1
    assert bn.is_nb(x)
