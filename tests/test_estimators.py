"""Every function that accepts a model accepts a fitted estimator."""

import inspect

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")

from bnclassify.sklearn import BNCClassifier, BNCMultiClassifier

CAR = bn.load_car().sample(576, random_state=0).reset_index(drop=True)
FEATURES, LABELS = CAR.drop(columns="class"), CAR["class"]
WOMEN = bn.load_pima().head(200)

REQUIRED = {
    "dataset": CAR, "newdata": CAR.head(3), "row": FEATURES.iloc[0], "frame": FEATURES.head(3),
    "variable": "safety", "feature": "safety", "target": "acc", "variables": ["safety"], "table": "t",
    "a": "safety", "b": "doors", "n": 5,
}  # fmt: skip
"""Values of required arguments, by name."""


def functions_of_models():
    """Return the public functions whose first argument is a model."""
    found = {name: getattr(bn, name) for name in bn.__all__ if inspect.isfunction(getattr(bn, name))}
    first = {name: next(iter(inspect.signature(f).parameters), "") for name, f in found.items()}
    return [name for name, argument in first.items() if argument == "x" and name not in ("cmi", "ci_test")]


@pytest.fixture(scope="module")
def fitted():
    return BNCClassifier("tan_cl", smooth=1).fit(FEATURES, LABELS)


def outcome(call):
    """Return what a call returns, or the error, as text."""
    try:
        result = call()
    except (KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(result, pd.DataFrame | pd.Series):
        return result.to_csv()
    return repr(result) if isinstance(result, bool | float | str | tuple | dict) else type(result).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", functions_of_models())
def test_a_fitted_estimator_stands_for_its_model(name, fitted, tmp_path):
    function = getattr(bn, name)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    named = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]

    def call(x):
        given = {p.name: x if p.name in ("y", "other") else REQUIRED.get(p.name) for p in named}
        given |= {"path": tmp_path / "x.out"} if "path" in given else {}
        given |= {"smooth": 1} if name == "lp" else {}
        given |= {"rng": 0} if "rng" in inspect.signature(function).parameters else {}
        return function(x, **given)

    assert outcome(lambda: call(fitted)) == outcome(lambda: call(fitted.model_))
    with pytest.raises(ValueError, match=r"be fitted; got BNCClassifier before fit\. Call its method fit"):
        call(BNCClassifier())


@pytest.mark.filterwarnings("ignore")
def test_models_and_estimators_are_compared_in_one_call(fitted):
    model = bn.lp(bn.nb("class", CAR), CAR, smooth=1)
    results = bn.cv({"tan": fitted, "nb": model}, CAR, k=3, rng=0, mean=False)
    assert results["tan"].mean() == pytest.approx(bn.cv(fitted.model_, CAR, k=3, rng=0))
    assert bn.cv([fitted], CAR, k=3, rng=0)[0] == bn.cv(fitted, CAR, k=3, rng=0)
    assert len(bn.compare(results)) == 1
    assert bn.cv_predict(fitted, CAR, k=3, rng=0).equals(bn.cv_predict(fitted.model_, CAR, k=3, rng=0))
    half = [
        BNCClassifier("nb", smooth=1).fit(FEATURES[rows], LABELS[rows])
        for rows in (LABELS.index < 288, LABELS.index >= 288)
    ]
    pooled, whole = (bn.cpt(x, "class")["probability"] for x in (bn.pool(half), model))
    pd.testing.assert_series_equal(pooled.sort_index(), whole.sort_index(), check_index_type=False)
    assert len(bn.arc_strength(fitted, CAR, replicates=2, rng=0)) == 42


@pytest.mark.filterwarnings("ignore")
def test_the_default_and_its_sum_are_explained_and_written(tmp_path):
    X, y = WOMEN.drop(columns="diabetes"), WOMEN["diabetes"]
    row = X.iloc[0].to_dict()
    for clf in (BNCClassifier().fit(X, y), BNCClassifier(pairs=0).fit(X, y)):
        np.testing.assert_allclose(bn.predict(clf, X, prob=True), clf.predict_proba(X))
        assert bn.explain(clf, row).equals(bn.explain(clf.model_, row))
        assert bn.to_sql(clf, table="t") == bn.to_sql(clf.model_, table="t")
        bn.write_page(clf, tmp_path / "x.html")
        bn.save(clf, tmp_path / "x.json")
        assert bn.predict(bn.load(tmp_path / "x.json"), X).equals(bn.predict(clf, X))
    assert bn.effects(clf).equals(bn.effects(clf.model_))
    assert len(bn.scorecard(clf).points)


def test_an_estimator_of_several_classes_stands_for_its_model():
    frame = bn.load_solar_flare()
    targets = ["c-class-flares", "m-class-flares"]
    X = frame.drop(columns=[*targets, "x-class-flares", "largest-spot-area"])
    clf = BNCMultiClassifier().fit(X, frame[targets])
    assert bn.predict(clf, X).equals(bn.predict(clf.model_, X))
    assert bn.class_var(clf) == tuple(targets)
    with pytest.raises(ValueError, match="got BNCMultiClassifier before fit"):
        bn.predict(BNCMultiClassifier(), X)


def test_prior_and_costs_of_an_estimator_are_not_ignored():
    for option in (
        {"prior": {"unacc": 0.25, "acc": 0.25, "good": 0.25, "vgood": 0.25}},
        {"costs": pd.DataFrame(1 - np.eye(4), *[list(LABELS.cat.categories)] * 2)},
    ):
        clf = BNCClassifier("nb", smooth=1, **option).fit(FEATURES, LABELS)
        if "costs" in option:
            with pytest.raises(ValueError, match="costs"):
                bn.predict(clf, CAR)
            continue
        expected = bn.predict(clf.model_, CAR, prob=True, **option)
        np.testing.assert_allclose(bn.predict(clf, CAR, prob=True), expected, rtol=1e-9)


def test_estimators_of_others_are_no_models():
    from sklearn.naive_bayes import CategoricalNB

    with pytest.raises(TypeError, match=r"x must be a model .*; got CategoricalNB"):
        bn.predict(CategoricalNB(), CAR)
