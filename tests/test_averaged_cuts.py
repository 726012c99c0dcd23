"""Models that average over several cuttings of numbers, and models that take raw data."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax

import bnclassify as bn
from bnclassify.numbers import CUTTINGS, quantile_cuts_at_shifts, shortest_number_between

from .conftest import REFERENCE, read_reference
from .oracles import halfway_above

NAMES = ["pima_clean", "iris"]
BEST = {"backoff": True, "held_out": "weights", "held_out_args": {"parents": True}}


@cache
def numbers_frame(name):
    folder = REFERENCE / "data" if name == "iris" else REFERENCE.parents[1] / "data"
    return pd.read_csv(folder / f"{name}.csv")


@cache
def rides():
    """Numbers, some missing, categories and a flag, of which the class depends."""
    rng = np.random.default_rng(0)
    n = 240
    distance, age = rng.gamma(2, 3, n), rng.normal(40, 12, n).round(1)
    weather = rng.choice(["rain", "sun", "wind"], n)
    flag = rng.integers(0, 2, n)
    late = distance + 3 * (weather == "rain") + 0.1 * (age - 40) * flag + rng.normal(0, 2, n) > 7
    frame = pd.DataFrame({"distance": distance, "weather": weather, "age": age, "flag": flag})
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "weather"] = None
    frame["late"] = np.where(late, "yes", "no")
    return frame.astype({"weather": "category", "late": "category"})


def learn(frame, class_var="late", **arguments):
    parents = {"age": ["distance", "flag"], "weather": ["distance"], "flag": ["weather"]}
    return bn.bnc(
        "anb", class_var, frame, dag_args={"parents": parents}, **{"discretize": "averaged", **arguments}
    )


@pytest.mark.parametrize("name", NAMES)
def test_cuts_are_those_of_the_reference(name):
    reference, frame = read_reference("moved_cuts")[name], numbers_frame(name)
    model = bn.bnc("nb", frame.columns[-1], frame, discretize="averaged", smooth=1)
    assert len(bn.members(model)) == len(reference["cuts"]) == 9
    for member, cuts in zip(bn.members(model), reference["cuts"], strict=True):
        found = member.preparation.discretizer.cuts
        for column, points in zip(reference["columns"], cuts, strict=True):
            assert list(found[column]) == halfway_above(points, frame[column])


@pytest.mark.parametrize("name", NAMES)
def test_structure_from_information_over_all_cuttings(name):
    reference, frame = read_reference("moved_cuts")[name], numbers_frame(name)
    class_var = frame.columns[-1]
    model = bn.bnc("kdb_mi", class_var, frame, discretize="averaged", dag_args={"kdbk": 4}, **BEST)
    best = reference["best_depth"]
    assert bn.loo_summary(model)["parents"] == best
    parents = {v: list(family[1:-1]) for v, family in bn.feature_families(model).items()}
    assert parents == {v: above[:best] for v, above in reference["parents"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_weights_and_posteriors_of_the_reference(name):
    reference, frame = read_reference("moved_cuts")[name], numbers_frame(name)
    class_var = frame.columns[-1]
    for depth, figures in reference["by_depth"].items():
        parents = {v: above[: int(depth)] for v, above in reference["parents"].items()}
        model = bn.bnc(
            "anb",
            class_var,
            frame,
            dag_args={"parents": parents},
            discretize="averaged",
            backoff=True,
            held_out="weights",
        )
        summary, weights = bn.loo_summary(model), bn.feature_weights(model)
        assert summary["power"] == pytest.approx(figures["tau"], abs=1e-5)
        assert summary["objective"] == pytest.approx(figures["objective"], rel=1e-6)
        expected = [figures["weights"][v] for v in weights.index]
        np.testing.assert_allclose(weights, expected, atol=1e-3)
        posterior = bn.predict(model, frame.head(12), prob=True)
        np.testing.assert_allclose(posterior, figures["posterior_head"], atol=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from(list(CUTTINGS)))
def test_moved_cuts(seed, rows, method):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, rng.integers(1, 400), rows).astype(float)
    intervals = CUTTINGS[method]
    cuts = quantile_cuts_at_shifts(np.append(values, np.nan), intervals)
    assert len(cuts) == len(intervals)
    times = rng.integers(1, 4, rows)
    weighted = quantile_cuts_at_shifts(values, intervals, times.astype(float))
    assert weighted == quantile_cuts_at_shifts(np.repeat(values, times), intervals)
    for q, (own, b) in enumerate(zip(cuts, intervals, strict=True)):
        shares = [(i + ((q + 0.5) / len(intervals) - 0.5)) / b for i in range(b + 1)]
        points = {float(np.quantile(values, s, method="inverted_cdf")) for s in shares if 0 < s < 1}
        below = values[values < values.max()]
        expected = sorted(points - {values.max()}) or ([below.max()] if len(below) else [])
        assert list(own) == halfway_above(expected, values)


@pytest.mark.parametrize("prior", [{"backoff": True}, {"smooth": 1}, {"ess": 1}, {"m": 2}], ids=str)
@pytest.mark.parametrize(("method", "n"), [("averaged", 9), ("averaged5", 5)])
def test_terms_are_means_over_the_members(prior, method, n):
    frame = rides()
    model = learn(frame, discretize=method, **prior)
    assert len(bn.members(model)) == n
    assert (bn.feature_weights(model) == 1).all()
    logs = [np.log(bn.predict(member, frame, prob=True).to_numpy()) for member in bn.members(model)]
    expected = np.exp(log_softmax(np.mean(logs, axis=0), axis=1))
    np.testing.assert_allclose(bn.predict(model, frame, prob=True), expected, atol=1e-12)
    assert bn.families(model) == bn.families(bn.members(model)[0])


@pytest.mark.slow
def test_leave_one_out_over_cuttings_is_that_of_refits():
    """With cuts kept, and a prior that learns nothing from the data."""
    frame = rides().head(40)
    model = learn(frame, smooth=1, held_out="parents")
    own = frame["late"].cat.codes.to_numpy()
    by_depth = []
    for depth in range(3):
        parents = {"age": ["distance", "flag"], "weather": ["distance"], "flag": ["weather"]}
        shorter = {v: above[:depth] for v, above in parents.items()}
        whole = bn.bnc("anb", "late", frame, dag_args={"parents": shorter}, discretize="averaged", smooth=1)
        total = 0.0
        for i in range(len(frame)):
            again = bn.lp(whole, frame.drop(frame.index[i]), smooth=1)
            posterior = bn.predict(again, frame.iloc[[i]], prob=True).to_numpy()[0]
            total += np.log(posterior[own[i]])
        by_depth.append(total)
    summary = bn.loo_summary(model)
    assert summary["log_likelihood"] == pytest.approx(max(by_depth), rel=1e-9)
    assert summary["parents"] == int(np.argmax(by_depth))


def test_raw_rows_in_every_form():
    frame = rides()
    model = learn(frame, **BEST)
    labels = bn.predict(model, frame)
    assert bn.accuracy(labels, frame["late"]) > 0.8
    row = frame.iloc[7]
    for one in (frame.iloc[[7]], row, row.drop("late").to_dict()):
        assert bn.predict(model, one).tolist() == [labels[7]]
        told = bn.explain(model, one, target=labels[7])
        p = bn.predict(model, one, prob=True).iloc[0]
        odds = p[labels[7]] / (1 - p[labels[7]])
        assert told["log_odds"].sum() == pytest.approx(np.log(odds))
    assert bn.cloglik(model, frame) < 0
    beyond = row.drop("late").to_dict() | {"distance": 1e9, "weather": "snow"}
    with pytest.raises(ValueError, match="snow"):
        bn.predict(model, beyond)
    known = bn.predict(model, beyond | {"weather": None}, prob=True)
    pd.testing.assert_frame_equal(bn.predict(model, beyond, prob=True, unseen="missing"), known)


@pytest.mark.parametrize("discretize", ["averaged", "mdlp"])
def test_cross_validation_cuts_anew(discretize):
    frame = rides()
    model = learn(frame, discretize=discretize, **BEST)
    folds = bn.stratified_folds(frame["late"], 3, rng=0)
    expected = []
    for fold in range(3):
        again = learn(frame[folds != fold], discretize=discretize, **BEST)
        expected.append(bn.accuracy(bn.predict(again, frame[folds == fold]), frame["late"][folds == fold]))
    assert bn.cv(model, frame, folds=folds) == pytest.approx(np.mean(expected))
    assert 0.5 < bn.cv(model, frame, folds=folds, dag=False) <= 1
    cut, _ = bn.discretize(frame, class_var="late", method="quantile")
    with pytest.raises(TypeError, match="fractions"):
        bn.cv([model, bn.bnc("nb", "late", cut, smooth=1)], frame, k=2)


def test_several_models_on_raw_data():
    """Those that take categories alone are judged on them beside those that take raw data."""
    frame = rides()
    categories = frame[["weather", "late"]]
    plain = bn.bnc("nb", "late", categories, smooth=1, dag_args={"features": ["weather"]})
    folds = bn.stratified_folds(frame["late"], 3, rng=0)
    both = bn.cv({"raw": learn(frame, **BEST), "plain": plain}, frame, folds=folds)
    assert both["raw"] == bn.cv(learn(frame, **BEST), frame, folds=folds)
    assert both["plain"] == bn.cv(plain, categories, folds=folds)


def test_any_structure_over_intervals_takes_raw_data():
    frame = rides()
    model = bn.bnc("tan_cl", "late", frame, discretize="mdlp", smooth=1, dag_args={"score": "aic"})
    cut, discretizer = bn.discretize(frame, class_var="late", method="mdlp")
    assert discretizer.uncut == ("age",)  # which is left out
    cut = cut.drop(columns="age")
    plain = bn.bnc("tan_cl", "late", cut, smooth=1, dag_args={"score": "aic"})
    assert bn.families(model) == bn.families(plain)
    pd.testing.assert_frame_equal(bn.predict(model, frame, prob=True), bn.predict(plain, cut, prob=True))
    assert bn.loglik(model, frame) == bn.loglik(plain, discretizer(frame))
    again = bn.lp(model, frame, smooth=2)
    pd.testing.assert_frame_equal(
        bn.predict(again, frame, prob=True), bn.predict(bn.lp(plain, cut, smooth=2), cut, prob=True)
    )


def test_without_numbers_there_is_nothing_to_average(car):
    model = bn.bnc("nb", "class", car, discretize="averaged", backoff=True)
    assert isinstance(model, bn.BNC)
    plain = bn.bnc("nb", "class", car, backoff=True)
    pd.testing.assert_frame_equal(bn.predict(model, car, prob=True), bn.predict(plain, car, prob=True))
    assert bn.loglik(model, car) == bn.loglik(plain, car)


def test_trees_from_several_cuttings():
    frame = numbers_frame("pima_clean")
    model = bn.bnc("tan_cl", "class", frame, discretize="averaged", smooth=1)
    assert bn.is_ode(model)
    assert not bn.is_nb(model)
    assert len(bn.families(model)) == 9


def test_questions_about_sizes_go_to_the_members():
    model = learn(rides(), **BEST)
    member = bn.members(model)[0]
    assert bn.nparams(member) > 0
    assert bn.cpt(member, "weather").shape[0] == 3
    assert len(bn.concentrations(member)) > 0


def test_what_goes_with_averaging():
    frame = rides()
    assert 0.5 < bn.accuracy(bn.predict(learn(frame, smooth=0), frame), frame["late"]) <= 1


def test_effects_are_what_is_added():
    pytest.importorskip("matplotlib")
    frame = rides()
    model = learn(frame, **BEST)
    axes = bn.plot_effect(model, "distance", target="yes")
    assert axes.get_xlabel() == "distance"
    ends, effects = axes.lines[1].get_data()
    for distance in (0.0, 5.0, 50.0):  # a feature without parents adds the same to every complete row
        row = frame.dropna().drop(columns="late").iloc[0].to_dict() | {"distance": distance}
        added = bn.explain(model, row, target="yes", against="no").loc["distance", "log_odds"]
        assert effects[min(np.searchsorted(ends, distance), len(ends) - 1)] == pytest.approx(added)
    given = bn.plot_effect(model, "weather").get_legend()
    assert given is not None
    texts = [text.get_text() for text in given.get_texts()]
    assert all(text.startswith("distance = ") or "not drawn" in text for text in texts), texts
    with pytest.raises(KeyError, match="Did you mean 'weather'"):
        bn.plot_effect(model, "wether")
    with pytest.raises(ValueError, match="target"):
        bn.plot_effect(model, "weather", target="maybe")


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (2e300, 2.5e300), (-1.5e308, 1.5e308)])
def test_numbers_beyond_1e300_or_without_a_gap_are_not_shortened(low, high):
    assert shortest_number_between(low, high, 7.0) == 7.0
