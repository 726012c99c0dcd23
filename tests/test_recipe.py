"""The default recipe: its arguments, the power by parts of the rows, and incomplete rows."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

import bnclassify as bn
from bnclassify.fitting.lp import rows_to_learn_from
from bnclassify.frames.opening import open_data
from bnclassify.model.arguments import encode_for_model
from bnclassify.recipe import blend, default
from bnclassify.recipe.backoff_prior import BackOff
from bnclassify.recipe.conditional_likelihood import log_odds_of_scores
from bnclassify.recipe.content_order import rows_in_content_order
from bnclassify.recipe.held_out_terms import HeldOutTerms, Regression
from bnclassify.recipe.leave_one_out import LeaveOneOut
from bnclassify.recipe.row_folds import split_rows_into_folds
from bnclassify.recipe.weighted import without_feature_parents
from bnclassify.scores.evaluate import scores_at
from bnclassify.scores.rows import Rows

from .conftest import read_reference
from .estimators import BNCClassifier
from .oracles import with_holes
from .test_seams import TwoFeatures

WEIGHTS: dict[str, Any] = {"backoff": True, "held_out": "weights", "held_out_args": {"parents": True}}


def weights(**args: Any) -> dict[str, Any]:
    return WEIGHTS | {"held_out_args": {"parents": True, **args}}


TERMS = ("gaussians", "zscores", "slopes", "shifts", "depths")


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
    terms = () if kind == "weights" else TERMS
    learner = "tan_cl" if kind == "voting" else "kdb_mi"
    discretize = None if kind == "voting" else "averaged"
    options = {"discretize": discretize, "missing_level": False}
    model = bn.bnc(learner, "sick", frame, **options, **weights(terms=terms))
    return model, frame.drop(columns="sick")


def log_loss(model: Any, frame: pd.DataFrame, class_var: str) -> float:
    return -bn.cloglik(model, frame) / len(frame.dropna(subset=[class_var]))


# The power by parts of the rows


def test_units_of_a_class_go_to_parts_in_turn() -> None:
    frame = pd.DataFrame({"x": list("uvuvuvuv"), "y": list("abbabbab"), "n": [1, 2, 1, 3, 1, 1, 2, 1]})
    data = bn.encode(frame, weights="n").select(["x", "y"])
    found = np.zeros((8, 3), dtype=int)
    for part, fold in enumerate(split_rows_into_folds(data, 3, by_content=False)):
        found[fold.rows, part] = fold.units
    units = frame.loc[frame.index.repeat(frame["n"])]
    number = units.groupby("y").cumcount() + (units["y"] == "b")
    expected = pd.crosstab(units.index, number % 3)
    assert (found == expected).all(axis=None)
    found[:] = 0
    for part, fold in enumerate(split_rows_into_folds(data, 3)):
        found[fold.rows, part] = fold.units
    assert (found.sum(axis=1) == frame["n"]).all()
    by_class = pd.DataFrame(found).groupby(frame["y"]).sum()
    assert (by_class.max(axis=1) - by_class.min(axis=1)).max() <= 1
    assert by_class.sum().max() - by_class.sum().min() <= 1


def test_power_is_best_for_rows_of_which_nothing_was_learned() -> None:
    frame = patients().drop(columns=["fever", "pulse"]).astype("category")
    model = bn.bnc("kdb_mi", "sick", frame, **weights(folds=5))
    codes = (frame["sick"] == "yes").to_numpy().astype(int)
    part = (frame.groupby("sick", observed=True).cumcount().to_numpy() + codes) % 5
    logs = np.empty((len(frame), 2))
    for number in range(5):
        train = frame[part != number].reset_index(drop=True)
        other = bn.bnc("kdb_mi", "sick", train, **WEIGHTS)
        logs[part == number] = np.log(bn.predict(other, frame[part == number], prob=True))

    def loss(power: float) -> float:
        own = log_softmax(power * logs, axis=1)[np.arange(len(codes)), codes]
        return float((power - 1) ** 2 / 2 - own.sum())

    summary = bn.loo_summary(model)
    power = minimize_scalar(loss, bounds=(0.01, 10), method="bounded", options={"xatol": 1e-9}).x
    assert summary["fold_power"] == pytest.approx(power, abs=1e-5)
    assert summary["fold_rows"] == len(frame)
    alone = bn.predict(bn.bnc("kdb_mi", "sick", frame, **WEIGHTS), frame, prob=True)
    expected = softmax(summary["fold_power"] * np.log(alone), axis=1)
    np.testing.assert_allclose(bn.predict(model, frame, prob=True), expected, atol=1e-9)


def test_power_of_the_refined_recipe() -> None:
    reference = read_reference("recipe")["iris"]
    sets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    numbers, classes = sets.load_iris(return_X_y=True)
    frame = pd.DataFrame(numbers, columns=list("abcd")).assign(y=classes.astype(str))
    terms = ("gaussians", "slopes", "shifts", "depths")
    options = {"discretize": "averaged", "dag_args": {"kdbk": 4}, **weights(terms=terms, folds=5)}
    model = bn.bnc("kdb_mi", "y", frame.iloc[::2], **options)
    assert bn.loo_summary(model)["fold_power"] == pytest.approx(reference["honest_power"], abs=0.05)


@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize(("n", "d"), [(200, 30), pytest.param(150, 80, marks=pytest.mark.slow), (3000, 10)])
def test_noise_leaves_the_default_uncertain(n: int, d: int, numbers: bool) -> None:
    frame = noise(n + 2000, d, numbers=numbers)
    model = bn.bnc(class_var="y", dataset=frame.iloc[:n])
    assert log_loss(model, frame.iloc[n:], "y") < (0.71 if n > 150 else 0.73)
    assert bn.is_nb(model)  # the step to parents has no power, and 150 rows of 80 features have no step


def parity(n: int, seed: int = 0) -> pd.DataFrame:
    """Two flags whose equality is the class, one useful feature, and noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (n, 4)), columns=list("abcd"))
    same = frame["a"] == frame["b"]
    frame["c"] = np.where(rng.random(n) < 0.3, frame["c"], same)
    return frame.assign(y=np.where(rng.random(n) < 0.9, same, ~same)).astype(int).astype(str)


@pytest.mark.parametrize("n", [150, 1000])
def test_an_interaction_gets_an_arc(n: int) -> None:
    model = bn.bnc(class_var="y", dataset=parity(n))
    families = bn.families(model.structure)  # type: ignore[attr-defined]
    assert "b" in families["a"] or "a" in families["b"]
    assert bn.loo_summary(model)["parents"] > 0
    test = parity(1000, seed=1)
    assert (bn.predict(model, test) == test["y"]).mean() > 0.85


def test_two_features_can_get_an_arc() -> None:
    model = bn.bnc(class_var="y", dataset=parity(1000)[["a", "b", "y"]])
    assert bn.loo_summary(model)["parents"] == 1


def test_few_rows_have_no_parents() -> None:
    model = bn.bnc(class_var="y", dataset=parity(8))
    assert bn.is_nb(model)
    assert bn.loo_summary(model)["fold_rows"] in (0, 8)


def test_a_copy_of_a_feature_is_not_its_parent() -> None:
    frame = parity(1000)
    copied = frame.assign(copy=frame["a"])[["copy", *frame.columns]]
    first = bn.families(bn.kdb_gain("y", copied, kdbk=1))
    assert "copy" not in first["a"]
    by_information = bn.families(bn.kdb_mi("y", copied, kdbk=1))
    assert "copy" in by_information["a"]


def test_logistic_regression_is_a_part_of_the_sum() -> None:
    frame = patients(200)
    model: Any = bn.bnc("nb", "sick", frame)
    summary = bn.loo_summary(model)
    assert summary["regression_power"] > 0
    told = bn.explain(model, frame.head(20), target="yes")
    p = bn.predict(model, frame.head(20), prob=True)["yes"]
    np.testing.assert_allclose(told["log_odds"].groupby(level=0).sum(), np.log(p / (1 - p)), atol=1e-9)
    structure = bn.bnc("nb", "sick", frame, backoff=True, discretize="averaged_mdlp")
    held = held_out(structure, frame)
    tables = LeaveOneOut(terms=default.TERMS).fit(held.with_class_in_offset())
    members = Regression.fit(held).build_model(0), tables.build_model()
    scores = np.array([scores_at(member.score, rows_of(member, frame)) for member in members])
    powers = np.array([summary["regression_power"], summary["fold_power"]])
    counts = frame["sick"].value_counts()[list(bn.classes(model))].to_numpy()
    prior = np.log((counts + 0.5) / (len(frame) + 1))
    expected = softmax((1 - powers.sum()) * prior + np.tensordot(powers, scores, 1), axis=1)
    np.testing.assert_allclose(bn.predict(model, frame, prob=True), expected, atol=1e-9)


def held_out(structure: Any, frame: pd.DataFrame) -> HeldOutTerms:
    """The terms of the default at rows that are held out, without feature parents."""
    rows = rows_in_content_order(rows_to_learn_from(structure, open_data(frame)))
    return LeaveOneOut(terms=default.TERMS).held_out_terms(
        without_feature_parents(structure), rows, BackOff(2.0)
    )


def rows_of(x: Any, frame: pd.DataFrame) -> Any:
    return x.rows_to_score(encode_for_model(x, frame, x.variables))


@pytest.fixture(scope="module")
def linear() -> Any:
    """The linear models of scikit-learn."""
    return pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")


@pytest.mark.parametrize(("classes", "atol"), [(2, 2e-3), (3, 5e-4)])
def test_logistic_regression_is_that_of_scikit_learn(linear: Any, classes: int, atol: float) -> None:
    frame = patients(100 * classes)
    if classes == 3:
        ill = np.where(frame["fever"] > 38, "b", "a")
        frame = frame.assign(sick=np.where(frame["sick"] == "no", "no", ill))
    structure = bn.bnc("nb", "sick", frame, backoff=True, discretize="averaged_mdlp")
    regression = Regression.fit(held_out(structure, frame)).build_model(0)
    numbers = frame[["fever", "pulse"]]
    design = pd.get_dummies(frame[["cough", "town"]]).assign(
        **((numbers - numbers.mean()) / numbers.std(ddof=0))
    )
    # two weights per column, one per class, sum to 0 and have half the penalty of their difference
    penalty = 2.0 if classes == 2 else 1.0
    expected = linear.LogisticRegression(C=penalty, tol=1e-10, max_iter=10_000).fit(design, frame["sick"])
    logs = scores_at(regression.score, rows_of(regression, frame))
    actual = expected.decision_function(design)
    odds = actual[:, None] if classes == 2 else (actual - actual[:, :1])[:, 1:]
    np.testing.assert_allclose((logs - logs[:, :1])[:, 1:], odds, atol=atol)


@pytest.mark.parametrize("backoff", [True, False])
def test_tables_of_all_configurations_are_those_of_their_rows(backoff: bool) -> None:
    car = bn.load_car().iloc[::7]
    for parents in ({"buying": ["safety", "doors"]}, {"class": ["safety", "maint"], "doors": ["class"]}):
        if "class" in parents:
            x: Any = bn.from_modelstring("[safety][maint][class|safety:maint][doors|class:safety]", "class")
        else:
            x = bn.anb("class", parents, car)
        prior = {"backoff": True} if backoff else {"smooth": 1, "held_out": "weights"}
        columns = [name for name in car if name in x.variables]
        fitted: Any = bn.lp(x, car[columns], **{"held_out": "weights", **prior})
        for table in fitted.tables[0]:
            levels, *cards = table.cards
            *given, variable = np.indices((*cards, levels)).reshape(len(table.cards), -1)
            for grid, value in zip(
                table.full_tables_by_depth(),
                table.as_stack.probabilities_at_rows([variable, *given]),
                strict=True,
            ):
                full = np.broadcast_to(grid, (*cards, *grid.shape[-2:]))
                np.testing.assert_allclose(full.reshape(value.shape), value, rtol=1e-14)


def test_power_of_other_models() -> None:
    car = bn.load_car().iloc[::4]
    plain = bn.lp(bn.aode("class", car), car, smooth=1)
    model = bn.lp(bn.aode("class", car), car, smooth=1, held_out="power", held_out_args={"folds": 3})
    summary = bn.loo_summary(model)
    power = summary["fold_power"]
    assert power != 1
    assert summary["objective"] == pytest.approx(summary["log_likelihood"] - (power - 1) ** 2 / 2, rel=1e-12)
    expected = softmax(power * np.log(bn.predict(plain, car, prob=True)), axis=1)
    np.testing.assert_allclose(bn.predict(model, car, prob=True), expected, atol=1e-9)
    fixed = bn.anb("class", {"doors": ["safety"]}, car)
    by_hand = bn.lp(bn.BNC(fixed.class_var, fixed.families), car, **weights(folds=3))
    assert bn.loo_summary(by_hand)["fold_rows"] == len(car)


def test_power_arguments() -> None:
    car = bn.load_car()
    for wrong in (1, 2.5, True):
        with pytest.raises((TypeError, ValueError), match="folds in held_out_args must be a whole number"):
            bn.lp(bn.nb("class", car), car, smooth=1, held_out="power", held_out_args={"folds": wrong})


# Narrow intervals


def test_narrow_intervals_are_found_by_a_further_discretization() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((4000, 3)), columns=list("abc"))
    frame["y"] = np.where((frame["a"] > 0.4) & (frame["a"] < 0.44), "in", "out")
    train, test = frame.iloc[:2000], frame.iloc[2000:]
    options = weights(terms=(*TERMS, "codings"))
    error = {
        method: (bn.predict(bn.bnc("nb", "y", train, discretize=method, **options), test) != test["y"]).mean()
        for method in ("averaged", "averaged_mdlp")
    }
    assert error["averaged_mdlp"] < 0.002 < error["averaged"]
    model = bn.bnc("nb", "y", train, discretize="averaged_mdlp", smooth=1)
    alone = bn.bnc("nb", "y", train, discretize="mdlp", smooth=1)
    *_, last, _ = bn.members(model)
    np.testing.assert_allclose(bn.params(last)["a"], bn.params(alone)["a"])
    assert [len(values["a"]) for values in map(bn.values, bn.members(model))] == [5, 9, 4, 9, 3, 17]


# Incomplete rows


@pytest.mark.parametrize("kind", ["weights", "terms", "voting"])
def test_nothing_observed_gives_the_class_distribution(kind: str) -> None:
    model, frame = fitted(kind)
    nothing = pd.DataFrame(np.nan, index=[0], columns=frame.columns)
    classes = bn.load_voting()["Class"] if kind == "voting" else patients()["sick"]
    shares = classes.value_counts(sort=False, normalize=True).sort_index()
    found = bn.predict(model, nothing, prob=True)[shares.index].iloc[0]
    np.testing.assert_allclose(found, shares, rtol=1e-12)


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
    densities = np.exp(scores_at(tree.score, Rows(every))).T
    prior = np.log(np.asarray(bn.params(tree)["class"]))
    evidence = np.log(densities.sum(axis=1)) - prior
    share = len(hidden) / 6  # no training row lacks a value
    terms = model.scores_of_complete_rows(Rows(_codes(model, row)))[0]
    power = fading.power + (1 - fading.power) * share
    kept = (1 - share) ** fading.exponent
    shares = car["class"].value_counts(normalize=True)[list(bn.classes(model))]
    score = kept * terms + (1 - kept) * (np.log(shares.to_numpy()) + power * evidence)
    expected = softmax(score)
    np.testing.assert_allclose(bn.predict(model, row, prob=True).iloc[0], expected, atol=1e-9)


def test_terms_that_need_each_other_fade_fast() -> None:
    """The parity of three columns says nothing once one of them is missing."""
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (600, 4))
    frame = pd.DataFrame({f"c{j}": np.where(z, "u", "v") for j, z in enumerate(Z.T)})
    frame["y"] = np.where(Z[:, :3].sum(axis=1) % 2, "odd", "even")
    model = bn.bnc(class_var="y", dataset=frame)
    assert (bn.predict(model, frame) == frame["y"]).mean() > 0.99
    p = bn.predict(model, {"c0": "u", "c1": "v", "c3": "u"}, prob=True).to_numpy()
    assert p.max() < 0.7


def _codes(model: Any, row: dict[str, str]) -> Any:
    levels = bn.values(model)
    return np.array([[levels[v].index(row[v]) if v in row else -1] for v in model.features])


@pytest.mark.parametrize(("hidden", "most"), [(0.5, 1.1), (0.9, 1.1)])
def test_incomplete_votes(hidden: float, most: float) -> None:
    votes = bn.load_voting()
    train, test = votes.iloc[::2], votes.iloc[1::2]
    rng = np.random.default_rng(5)
    features = votes.columns.drop("Class")
    test = test.assign(**{name: test[name].mask(rng.random(len(test)) < hidden) for name in features})
    terms = [name for name in default.TERMS if name != "gaps"]  # whose values are not missing at random
    model = bn.bnc("kdb_mi", "Class", train, held_out_args={"terms": terms})
    tree = bn.lp(bn.tan_cl("Class", train, score="aic"), train, smooth=1)
    assert log_loss(model, test, "Class") < most * log_loss(tree, test, "Class")


def test_power_of_an_ensemble_fades() -> None:
    car = bn.load_car()
    model = bn.lp(bn.aode("class", car), car, smooth=1, held_out="power")
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


@pytest.mark.slow
def test_recipe_of_each_model_type() -> None:
    car = bn.load_car()
    args = {"terms": default.TERMS, "folds": 5, "blend": True}
    full = {"backoff": 2.0, "held_out": "weights", "held_out_args": args}
    assert settings(bn.bnc("nb", "class", car)) == full
    assert settings(bn.bnc("hc", "class", car)) == full
    ranked = {**full, "held_out_args": {**args, "parents": True}}
    assert settings(bn.bnc(class_var="class", dataset=car)) == ranked
    assert settings(bn.bnc("kdb_mi", "class", car)) == ranked
    assert settings(bn.bnc("kdb_mi", "class", car, dag_args={"kdbk": 1})) == full
    assert settings(bn.bnc("aode", "class", car)) == {"backoff": True, "held_out": "power"}
    assert settings(bn.bnc("ande", "class", car)) == {"smooth": 1, "held_out": "power"}
    assert settings(bn.bnc("chisq_dn", "class", car)) == {"smooth": 1}
    assert settings(bn.bnc("nb", "class", car, wanbia=True)) == {"smooth": 1, "wanbia": True}
    grouped = default.lp_arguments(bn.aode("class", car), {}, ranked=False, in_memory=True, grouped=True)
    assert grouped == {"backoff": True, "held_out": "power", "held_out_args": {"folds": 5}}
    parts = bn.bnc("nb", "class", lambda: iter([car.iloc[::2], car.iloc[1::2]]))
    assert settings(parts) == full  # they are read into memory


def test_a_family_of_ones_own_is_fitted_as_itself() -> None:
    car = bn.load_car()

    def learner(class_var: str, dataset: Any) -> TwoFeatures:
        return TwoFeatures(bn.nb(class_var, dataset))

    model = bn.bnc(learner, "class", car)
    assert isinstance(model, TwoFeatures)
    assert settings(model) == {"smooth": 1}


def test_arguments_replace_those_of_the_recipe() -> None:
    frame = patients()
    options: dict[str, Any] = {"held_out_args": {"parents": False}, "dag_args": {"kdbk": 1}}
    assert bn.loo_summary(bn.bnc(class_var="y", dataset=parity(300), **options))["parents"] == 1
    model = bn.bnc(class_var="sick", dataset=frame, **options)
    assert settings(model)["held_out_args"]["terms"] == default.TERMS
    assert len(bn.members(model)) == 7
    without = bn.bnc("nb", "sick", frame, held_out=None)
    assert settings(without) == {"backoff": 2.0}
    honest = bn.bnc("nb", "sick", frame, held_out_args={"blend": False, "folds": 3})
    assert bn.loo_summary(honest).regression_power is None
    assert len(bn.members(bn.bnc("tan_hc", "sick", frame, dag_args={"k": 2, "smooth": 1}))) == 1
    assert len(bn.members(bn.bnc("nb", "sick", frame, discretize="mdlp"))) == 1
    codes = frame.drop(columns=["fever", "pulse"])
    plain = bn.bnc("nb", "sick", codes, smooth=1)
    assert plain.recipe is not None
    assert plain.recipe.preparation is None


@pytest.mark.slow
def test_estimator_uses_the_same_recipe() -> None:
    frame = patients()
    features = frame.drop(columns="sick")
    found = []
    for seed in (None, 0, 1):
        model = BNCClassifier(random_state=seed).fit(features, frame["sick"]).model_
        found.append(bn.predict(bn.bnc(class_var="sick", dataset=frame, rng=seed), features, prob=True))
        np.testing.assert_allclose(bn.predict(model, features, prob=True), found[-1])
    assert not np.allclose(found[1], found[2], atol=1e-4)  # the seed draws the parts


def test_class_and_data_are_required() -> None:
    with pytest.raises(TypeError, match="'class_var', 'dataset'"):
        bn.bnc("nb")
    with pytest.raises(TypeError, match="called with 'dataset'"):
        bn.bnc("nb", "class")


@pytest.mark.parametrize("how", ["weights", "parents", "power"])
def test_folds_may_be_added_to_every_estimation_by_held_out_rows(how: str, car: pd.DataFrame) -> None:
    for rows in (car, car.iloc[::300], with_holes(car, 0.1, 0)):
        x = bn.lp(bn.kdb_mi("class", rows), rows, backoff=True, held_out=how, held_out_args={"folds": 3})
        assert len(bn.predict(x, rows, prob=True)) == len(rows)
        assert "folds" in repr(x)


def test_other_terms_are_refused_for_a_sum_of_effects(car: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"pairs must be None, and additive False, with 'held_out_args'"):
        bn.bnc(class_var="class", dataset=car, additive=True, held_out_args={"terms": ["zscores"]})
    other = bn.bnc(class_var="class", dataset=car, held_out_args={"terms": ["shifts"]})
    assert bn.predict(other, car.head(2)).notna().all()


def test_subsumption_needs_no_prior_in_bnc(car: pd.DataFrame) -> None:
    x = bn.bnc("tan_cl", "class", car, subsumption=30)
    expected = bn.lp(bn.tan_cl("class", car), car, smooth=1, subsumption=30)
    pd.testing.assert_frame_equal(bn.predict(x, car, prob=True), bn.predict(expected, car, prob=True))


def test_updated_rows_of_cases_are_counted_as_before(car: pd.DataFrame) -> None:
    weights = np.linspace(0.5, 2, len(car))
    data = bn.encode(car, weights=weights, weights_are="cases")
    x = bn.lp(bn.nb("class", data), data, smooth=1)
    rows = [bn.summary(one).set_index("item")["value"]["rows"] for one in (x, bn.update(x, data))]
    assert rows[0].startswith("1,728 (")
    assert rows[1].startswith("3,456 (")


def test_the_model_has_the_odds_of_its_members_times_powers(
    car: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, total = [], blend.BlendMembers.sum_with_powers

    def record(members: Any, powers: Any) -> Any:
        found.append((members, powers, total(members, powers)))
        return found[-1][-1]

    monkeypatch.setattr(blend.BlendMembers, "sum_with_powers", record)
    bn.bnc(class_var="class", dataset=car)
    [(members, powers, model)] = found
    assert len(powers) == len(members.mean) + 1  # there is a step to parents
    rows = np.arange(50)
    of_members = members.log_odds_at(rows, np.ones(50), deepens=True)
    expected = of_members.offset + np.tensordot(powers, of_members.odds, 1)
    codes = members.held.terms.data.codes[:-1, rows]
    np.testing.assert_allclose(
        log_odds_of_scores(model.scores_of_complete_rows(model.rows_from_codes(codes))), expected, atol=1e-9
    )


def test_parents_help_if_they_would_help_all_rows() -> None:
    """The slope at 0 is 0.1 · (100 − 50) / 2 = 2.5 nats in 150 rows and 10 in 600; the prior asks for 6."""
    classes = np.tile([0, 1], 75)
    gain = np.where(np.arange(150) % 3, 0.1, -0.1) * np.where(classes == 1, 1, -1)
    folds = blend.FoldLogOdds(
        np.array([np.zeros(150), gain])[:, None], np.zeros((1, 150)), classes, np.ones(150)
    )
    assert not folds.needs_parents([0.75], 150)
    assert folds.needs_parents([0.75], 600)


def test_steps_and_tables_that_harm_have_the_least_power() -> None:
    classes = np.tile([0, 1], 20)
    signs = np.where(classes == 1, 1.0, -1.0)
    evidence = signs + np.sin(np.arange(40))
    step, tables = [
        blend.FoldLogOdds(np.array([evidence, other])[:, None], np.zeros((1, 40)), classes, np.ones(40))
        for other in (-signs / 2, -evidence)
    ]
    first, last = step.best_member_powers([0.75])
    assert last == 0
    assert first == pytest.approx(step.without_parent_step().best_member_powers([0.75])[0], abs=1e-9)
    assert tables.best_member_powers([0.25, 0.5])[1] == 0.01  # they keep the order of the classes


@pytest.mark.parametrize("seed", range(6))
def test_powers_of_members_are_the_best_with_their_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, mixed = rng.integers(0, 2, 200), rng.normal(size=(3, 3)) @ rng.normal(size=(3, 200))
    odds = mixed + rng.normal(size=(3, 1)) * (2 * classes - 1) * 0.6
    folds = blend.FoldLogOdds(odds[:, None], np.zeros((1, 200)), classes, np.ones(200))
    means, precisions = np.array([0.25, 0.5, -3.0]), np.array([15.0, 15.0, 2.0])

    def objective(powers: Any) -> float:
        signed = np.where(classes == 1, -1, 1) * (powers @ odds)
        return float(np.logaddexp(0, signed).sum() + 0.5 * precisions @ (powers - means) ** 2)

    found = folds.best_member_powers((0.25, 0.5))
    bounds, step = ((0, None), (0.01, None), (0, None)), {"type": "ineq", "fun": lambda w: w[1] - w[2]}
    best = minimize(objective, (0.3, 0.5, 0.1), method="SLSQP", bounds=bounds, constraints=[step])
    assert 0 <= found[2] <= found[1]
    assert objective(found) <= best.fun + 1e-4


def test_the_first_guess_of_powers_is_shrunk_with_few_rows() -> None:
    # 20 rows halve it, and 8 rows have too few for folds: 8 / (8 + 20) of 1/2 and of 1/4
    rows = pd.DataFrame({"x": list("abab") * 2, "y": list("uvuvuvvu")})
    found = bn.loo_summary(bn.bnc(class_var="y", dataset=rows))
    assert found["regression_power"] == pytest.approx(0.25 * 8 / 28)
    assert found["fold_power"] == pytest.approx(0.5 * 8 / 28)
