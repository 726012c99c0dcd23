"""The default recipe: its arguments, the power by parts of the rows, and incomplete rows."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

import bnclassify as bn
from bnclassify.fitting import parts
from bnclassify.fitting.parts import _folds
from bnclassify.learners import k_dependence
from bnclassify.sklearn import BNCClassifier

from .conftest import read_reference

WEIGHTS: dict[str, Any] = {"backoff": True, "loo_weights": True, "loo_parents": True}
TERMS = ("gaussians", "zscores", "slopes", "shifts", "levels")


def patients(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "fever": rng.normal(37 + sick, 0.8, n).round(2),
            "pulse": rng.normal(70, 9, n).round(),
            "cough": np.where(rng.random(n) < np.where(sick, 0.7, 0.3), "yes", "no"),
            "town": rng.choice(["a", "b", "c"], n),
        }
    )
    return frame.assign(sick=np.where(sick, "yes", "no"))


def noise(n: int, d: int, *, numbers: bool) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n, d)) if numbers else rng.integers(0, 4, (n, d)).astype(str)
    return pd.DataFrame(values, columns=[f"x{i}" for i in range(d)]).assign(y=rng.choice(["a", "b"], n))


@cache
def fitted(kind: str) -> tuple[bn.BNC, pd.DataFrame]:
    frame = patients() if kind != "voting" else bn.load_voting().rename(columns={"Class": "sick"})
    terms = {} if kind == "weights" else {"loo_terms": TERMS}
    learner = "tan_cl" if kind == "voting" else "kdb_mi"
    discretize = None if kind == "voting" else "averaged"
    options = {"discretize": discretize, "missing_level": False}
    model = bn.bnc(learner, "sick", frame, **options, **WEIGHTS, **terms)
    return model, frame.drop(columns="sick")


def log_loss(model: Any, frame: pd.DataFrame, class_var: str) -> float:
    return -bn.cloglik(model, frame) / len(frame.dropna(subset=[class_var]))


# The power by parts of the rows


def test_units_of_a_class_go_to_parts_in_turn() -> None:
    frame = pd.DataFrame({"x": list("uvuvuvuv"), "y": list("abbabbab"), "n": [1, 2, 1, 3, 1, 1, 2, 1]})
    data = bn.encode(frame, weights="n").select(["x", "y"])
    found = np.zeros((8, 3), dtype=int)
    for part, fold in enumerate(_folds(data, 3)):
        found[fold.rows, part] = fold.units
    units = frame.loc[frame.index.repeat(frame["n"])]
    number = units.groupby("y").cumcount() + (units["y"] == "b")
    expected = pd.crosstab(units.index, number % 3)
    assert (found == expected).all(axis=None)


@pytest.mark.parametrize("terms", [(), ("slopes", "shifts")])
def test_power_is_best_for_rows_of_which_nothing_was_learned(terms: tuple[str, ...]) -> None:
    frame = patients().astype({"cough": "category", "town": "category", "sick": "category"})
    recipe = {**WEIGHTS, "discretize": "averaged", "loo_terms": terms}
    model = bn.bnc("kdb_mi", "sick", frame, honest_power=5, **recipe)
    codes = (frame["sick"] == "yes").to_numpy().astype(int)
    part = (frame.groupby("sick", observed=True).cumcount().to_numpy() + codes) % 5
    logs = np.empty((len(frame), 2))
    for number in range(5):
        train = frame[part != number].reset_index(drop=True)
        other = bn.bnc("kdb_mi", "sick", train, **recipe)
        logs[part == number] = np.log(bn.predict(other, frame[part == number], prob=True))

    def loss(power: float) -> float:
        own = log_softmax(power * logs, axis=1)[np.arange(len(codes)), codes]
        return float((power - 1) ** 2 / 2 - own.sum())

    summary = bn.loo_summary(model)
    power = minimize_scalar(loss, bounds=(0.01, 10), method="bounded", options={"xatol": 1e-9}).x
    assert summary["honest_power"] == pytest.approx(power, abs=1e-5)
    assert summary["honest_rows"] == len(frame)
    alone = bn.predict(bn.bnc("kdb_mi", "sick", frame, **recipe), frame, prob=True)
    expected = softmax(summary["honest_power"] * np.log(alone), axis=1)
    np.testing.assert_allclose(bn.predict(model, frame, prob=True), expected, atol=1e-9)


def test_power_of_the_refined_recipe() -> None:
    reference = read_reference("recipe")["iris"]
    from sklearn.datasets import load_iris

    numbers, classes = load_iris(return_X_y=True)
    frame = pd.DataFrame(numbers, columns=list("abcd")).assign(y=classes.astype(str))
    terms = ("gaussians", "slopes", "shifts", "levels")
    model = bn.bnc(class_var="y", dataset=frame.iloc[::2], loo_terms=terms, discretize="averaged")
    assert bn.loo_summary(model)["honest_power"] == pytest.approx(reference["honest_power"], abs=0.05)
    loss = log_loss(model, frame.iloc[1::2], "y")
    assert loss == pytest.approx(reference["honest_log_loss"], abs=0.005)


@pytest.mark.parametrize("numbers", [True, False])
def test_useless_features_do_not_mislead(numbers: bool) -> None:
    frame = noise(1200, 30, numbers=numbers)
    train, test = frame.iloc[:200], frame.iloc[200:]
    assert log_loss(bn.bnc(class_var="y", dataset=train), test, "y") < 0.74
    assert log_loss(bn.bnc(class_var="y", dataset=train, honest_power=None), test, "y") > 0.85


def test_wide_data_choose_parents_and_terms_by_parts() -> None:
    frame = noise(60, 40, numbers=False)
    model = bn.bnc(class_var="y", dataset=frame)
    assert bn.loo_summary(model)["parents"] in (0, 1)
    assert bn.loo_summary(model)["honest_rows"] == 60
    deep = bn.bnc(class_var="y", dataset=frame, honest_power=None)
    assert bn.loo_summary(deep)["parents"] > 1


def test_large_data_do_without_parts() -> None:
    frame = pd.concat([patients(2000, seed) for seed in range(6)], ignore_index=True)
    summary = bn.loo_summary(bn.bnc("nb", "sick", frame, loo_terms=()))
    assert summary["honest_power"] == 1
    assert summary["honest_rows"] == 0


def test_power_of_other_models() -> None:
    car = bn.load_car().iloc[::4]
    plain = bn.lp(bn.aode("class", car), car, smooth=1)
    model = bn.lp(bn.aode("class", car), car, smooth=1, honest_power=3)
    power = bn.loo_summary(model)["honest_power"]
    assert power != 1
    expected = softmax(power * np.log(bn.predict(plain, car, prob=True)), axis=1)
    np.testing.assert_allclose(bn.predict(model, car, prob=True), expected, atol=1e-9)
    fixed = bn.anb("class", {"doors": ["safety"]}, car)
    by_hand = bn.lp(bn.BNC(fixed.class_var, fixed.families), car, **WEIGHTS, honest_power=3)
    assert bn.loo_summary(by_hand)["honest_rows"] == len(car)


def test_power_arguments() -> None:
    car = bn.load_car()
    with pytest.raises(ValueError, match="loo_power"):
        bn.lp(bn.nb("class", car), car, smooth=1, loo_power=True, honest_power=5)
    for wrong in (1, 2.5, True):
        with pytest.raises((TypeError, ValueError), match="honest_power"):
            bn.lp(bn.nb("class", car), car, smooth=1, honest_power=wrong)  # type: ignore[arg-type]


# Narrow intervals


def test_narrow_intervals_are_found_by_a_tenth_discretization() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((4000, 3)), columns=list("abc"))
    frame["y"] = np.where((frame["a"] > 0.4) & (frame["a"] < 0.44), "in", "out")
    train, test = frame.iloc[:2000], frame.iloc[2000:]
    options = {**WEIGHTS, "loo_terms": TERMS}
    error = {
        method: (bn.predict(bn.bnc("nb", "y", train, discretize=method, **options), test) != test["y"]).mean()
        for method in ("averaged", "averaged_mdlp")
    }
    assert error["averaged_mdlp"] < 0.002 < error["averaged"]
    model = bn.bnc("nb", "y", train, discretize="averaged_mdlp", smooth=1)
    alone = bn.bnc("nb", "y", train, discretize="mdlp", smooth=1)
    *_, last = bn.members(model)
    np.testing.assert_allclose(bn.params(last)["a"], bn.params(alone)["a"])
    nine = bn.members(bn.bnc("nb", "y", train, discretize="averaged", smooth=1))
    for one, other in zip(nine, bn.members(model), strict=False):
        np.testing.assert_allclose(bn.params(one)["c"], bn.params(other)["c"])


# Incomplete rows


@pytest.mark.parametrize("kind", ["weights", "terms", "voting"])
def test_nothing_observed_gives_the_class_distribution(kind: str) -> None:
    model, frame = fitted(kind)
    nothing = pd.DataFrame(np.nan, index=[0], columns=frame.columns)
    classes = bn.load_voting()["Class"] if kind == "voting" else patients()["sick"]
    shares = (classes.value_counts(sort=False).sort_index() + 0.5) / (len(classes) + 1)
    np.testing.assert_allclose(bn.predict(model, nothing, prob=True)[shares.index].iloc[0], shares)


def test_incomplete_rows_are_blended_with_a_tree() -> None:
    car = bn.load_car()
    model = bn.lp(bn.kdb_mi("class", car, kdbk=2), car, **WEIGHTS)
    fading: Any = model.fading  # type: ignore[attr-defined]
    table = model.network  # type: ignore[attr-defined]
    families = tuple([(v, *ps[:1], "class") if len(ps) > 1 else (v, *ps) for v, *ps in table.families])
    tree = bn.lp(bn.BNC("class", families), car, backoff=True)
    row = {"buying": "low", "persons": "4", "safety": "high"}
    hidden = [name for name in car.columns[:-1] if name not in row]
    values = [bn.values(model)[name] for name in hidden]
    rows = pd.DataFrame([row | dict(zip(hidden, labels, strict=True)) for labels in product(*values)])
    every = np.array([[bn.values(model)[v].index(label) for label in rows[v]] for v in model.features])
    densities = np.exp(tree._log_joint(every)).T
    prior = np.log(np.asarray(bn.params(tree)["class"]))
    evidence = np.log(densities.sum(axis=1)) - prior
    share = len(hidden) / 6
    kept = (1 - share) ** fading.exponent
    terms = model._unadjusted(_codes(model, row))[0]
    score = kept * terms + (1 - kept) * (prior + (fading.base + fading.slope * share) * evidence)
    expected = softmax(score)
    np.testing.assert_allclose(bn.predict(model, row, prob=True).iloc[0], expected, atol=1e-9)


def _codes(model: Any, row: dict[str, str]) -> Any:
    levels = bn.values(model)
    return np.array([[levels[v].index(row[v]) if v in row else -1] for v in model.features])


@pytest.mark.parametrize("kind", ["weights", "terms", "voting"])
def test_explanations_of_incomplete_rows_sum_to_the_odds(kind: str, tmp_path: Path) -> None:
    model, frame = fitted(kind)
    some = frame.head(12).copy()
    hidden = np.random.default_rng(3).random(some.shape) < 0.5
    some = some.mask(hidden)
    told = bn.explain(model, some, target="yes" if kind != "voting" else "democrat")
    odds = told["log_odds"].groupby(level=0).sum()
    posterior = bn.predict(model, some, prob=True)
    p = posterior["yes" if kind != "voting" else "democrat"]
    np.testing.assert_allclose(odds.loc[some.index], np.log(p / (1 - p)), atol=1e-9)
    for column in some:
        missing = told.xs(column, level=1)["log_odds"][some[column].isna()]
        assert (missing == 0).all()
    bn.save(model, tmp_path / "model.json")
    again = bn.predict(bn.load(tmp_path / "model.json"), some, prob=True)
    pd.testing.assert_frame_equal(again, posterior, check_exact=True)


@pytest.mark.parametrize(("hidden", "most"), [(0.5, 1.1), (0.9, 1.1)])
def test_incomplete_votes(hidden: float, most: float) -> None:
    votes = bn.load_voting()
    train, test = votes.iloc[::2], votes.iloc[1::2]
    rng = np.random.default_rng(5)
    features = votes.columns.drop("Class")
    test = test.assign(**{name: test[name].mask(rng.random(len(test)) < hidden) for name in features})
    model = bn.bnc("kdb_mi", "Class", train, honest_power=None, missing_level=False)
    tree = bn.lp(bn.tan_cl("Class", train, score="aic"), train, smooth=1)
    assert log_loss(model, test, "Class") < most * log_loss(tree, test, "Class")


def test_power_of_an_ensemble_fades() -> None:
    car = bn.load_car()
    model = bn.lp(bn.aode("class", car), car, smooth=1, loo_power=True)
    plain = bn.lp(bn.aode("class", car), car, smooth=1)
    row = {"safety": "high", "persons": "4"}
    power = bn.loo_summary(model)["power"]
    at_row = power + (1 - power) * 4 / 6
    expected = softmax(at_row * np.log(bn.predict(plain, row, prob=True)), axis=1)
    np.testing.assert_allclose(bn.predict(model, row, prob=True), expected, atol=1e-12)
    told = bn.explain(model, row, target="acc", against="unacc")["log_odds"].sum()
    p = bn.predict(model, row, prob=True).iloc[0]
    assert told == pytest.approx(np.log(p["acc"] / p["unacc"]))


# The default


def settings(model: Any) -> dict[str, Any]:
    return dict(model.recipe.parameters.settings)


def test_recipe_of_each_model_type() -> None:
    car = bn.load_car()
    full = {"backoff": True, "loo_weights": True, "loo_parents": True, "loo_terms": TERMS, "honest_power": 5}
    assert settings(bn.bnc("nb", "class", car)) == full
    assert settings(bn.bnc("hc", "class", car)) == full
    assert settings(bn.bnc("aode", "class", car)) == {"backoff": True, "loo_power": True}
    assert settings(bn.bnc("ande", "class", car)) == {"smooth": 1, "loo_power": True}
    assert settings(bn.bnc("chisq_dn", "class", car)) == {"smooth": 1}
    assert settings(bn.bnc("nb", "class", car, wanbia=True)) == {"smooth": 1, "wanbia": True}
    parts = bn.bnc("nb", "class", lambda: iter([car.iloc[::2], car.iloc[1::2]]))
    assert settings(parts) == {"backoff": True}


def test_arguments_replace_those_of_the_recipe() -> None:
    frame = patients()
    model = bn.bnc(class_var="sick", dataset=frame, loo_parents=False, dag_args={"kdbk": 1})
    assert bn.loo_summary(model)["parents"] == 1
    assert settings(model)["loo_terms"] == TERMS
    assert len(bn.members(model)) == 10
    without = bn.bnc("nb", "sick", frame, loo_weights=False)
    assert settings(without) == {"backoff": True, "loo_parents": True, "honest_power": 5}
    assert len(bn.members(bn.bnc("tan_hc", "sick", frame, dag_args={"k": 2, "smooth": 1}))) == 1
    assert len(bn.members(bn.bnc("nb", "sick", frame, discretize="mdlp"))) == 1
    codes = frame.drop(columns=["fever", "pulse"])
    plain = bn.bnc("nb", "sick", codes, smooth=1)
    assert plain.recipe is not None
    assert plain.recipe.preparation is None


def test_estimator_uses_the_same_recipe() -> None:
    frame = patients()
    features = frame.drop(columns="sick")
    model = BNCClassifier(random_state=0).fit(features, frame["sick"]).model_
    expected = bn.predict(bn.bnc(class_var="sick", dataset=frame), features, prob=True)
    np.testing.assert_allclose(bn.predict(model, features, prob=True), expected)


def test_class_and_data_are_required() -> None:
    with pytest.raises(TypeError, match="'class_var', 'dataset'"):
        bn.bnc("nb")
    with pytest.raises(TypeError, match="called with 'dataset'"):
        bn.bnc("nb", "class")


def test_wide_data_are_learned_without_pairs_of_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of the rows would choose no feature parents, so that pairs need not be counted."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(24, 14))).rename(columns="x{}".format)
    frame["class"] = rng.choice(["a", "b"], 24)
    monkeypatch.setattr(parts, "_MOST_PAIRS", 100)
    expected = bn.predict(bn.bnc("kdb_mi", "class", frame, dag_args={"kdbk": 4}), frame, prob=True)
    monkeypatch.delattr(k_dependence, "pair_statistics")
    model = bn.bnc("kdb_mi", "class", frame)
    assert bn.is_nb(model)
    pd.testing.assert_frame_equal(bn.predict(model, frame, prob=True), expected)
