"""Models with other class proportions, of every type: exact, and kept wherever models go."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.export.scorer import scorer_of_model

from .test_scorer import posteriors
from .zoo import CASES, case, skewed

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")

from bnclassify.sklearn import BNCClassifier


@pytest.mark.parametrize("name", [name for name in CASES if name != "impossible"])
def test_any_type_predicts_as_with_the_argument_prior(name, tmp_path):
    x, frame = case(name)
    q = skewed(x)
    model = bn.with_prior(x, q)
    assert type(model) is type(x)
    options = {"prob": True, "unseen": "missing"}
    expected = bn.predict(x, frame, prior=q, **options)
    found = bn.predict(model, frame, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    some = posteriors(scorer_of_model(model), frame.head(12))
    np.testing.assert_allclose(some, found.head(12), rtol=0, atol=1e-9)
    bn.save(model, tmp_path / "x.json")
    pd.testing.assert_frame_equal(bn.predict(bn.load(tmp_path / "x.json"), frame, **options), found)
    other = {label: share / 2 for label, share in q.items()}
    other[bn.classes(x)[0]] += 0.5
    np.testing.assert_allclose(
        bn.predict(bn.with_prior(model, other), frame, **options),
        bn.predict(x, frame, prior=other, **options),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        bn.predict(model, frame, prior=other, **options),
        bn.predict(x, frame, prior=other, **options),
        atol=1e-12,
    )


def frame_of_claims(n=300):
    """Rows of which 40 % are of the class "fraud", with missing values and numbers."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("pqr"), n), "x": rng.normal(size=n).round(1)})
    score = (frame["a"] == "p") + frame["x"] + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, "a"] = None
    frame["claim"] = np.where(score > 0.7, "fraud", "honest")
    return frame


Q = {"fraud": 0.02, "honest": 0.98}
CLAIMS = frame_of_claims()
NB = bn.bnc("nb", "claim", CLAIMS, smooth=1, discretize="quantile", bins=3)
SUM = bn.from_effects(bn.effects(NB), dataset=CLAIMS)
CODED = CLAIMS.dropna().reset_index(drop=True).assign(x=lambda d: np.where(d["x"] > 0, "high", "low"))
TREE = bn.from_modelstring("[a][claim|a][x|claim:a]", class_var="claim")  # the class has a parent
LEAVES = bn.lp(bn.nb("claim", CODED), CODED, smooth=1)
MODELS = {
    "nb": NB,
    "sum": SUM,
    "table": bn.from_effects(bn.effects(NB)),
    "card": bn.scorecard(SUM),
    "class with a parent": bn.lp(TREE, CODED, smooth=1),
    "aode": bn.lp(bn.aode("claim", CODED), CODED, smooth=1),
    "ensemble": bn.Ensemble((LEAVES, bn.lp(TREE, CODED, smooth=1))),
}


def rows_of(x, n=20):
    return (CODED if not x.discretizer.columns else CLAIMS).head(n)


@pytest.mark.parametrize("name", MODELS)
def test_nothing_known_gives_the_proportions_and_reasons_add_up(name):
    x = bn.with_prior(MODELS[name], Q)
    empty = pd.DataFrame(index=range(1))
    shares = bn.predict(x, empty, unknown=list(x.features), prob=True).iloc[0]
    assert shares.to_dict() == pytest.approx(Q)
    rows = rows_of(x)
    some = bn.predict(x, rows.drop(columns="a"), unknown=["a"], prob=True)
    direct = bn.predict(MODELS[name], rows.drop(columns="a"), unknown=["a"], prob=True, prior=Q)
    np.testing.assert_allclose(some, direct, atol=1e-14)
    reasons = bn.explain(x, rows, target="fraud")["log_odds"].groupby(level=0).sum()
    posterior = bn.predict(x, rows, prob=True)
    np.testing.assert_allclose(reasons, np.log(posterior["fraud"] / posterior["honest"]), atol=1e-9)


@pytest.mark.parametrize("name", ["nb", "class with a parent", "aode", "ensemble"])
def test_joint_distributions_have_the_proportions(name):
    x, y = MODELS[name], bn.with_prior(MODELS[name], Q)
    by_hand = sum(share * bn.query(x, "a", evidence={"claim": label}) for label, share in Q.items())
    np.testing.assert_allclose(bn.query(y, "a"), by_hand, atol=1e-12)
    drawn = bn.sample(y, 4_000, rng=0)
    assert (drawn["claim"] == "fraud").mean() == pytest.approx(0.02, abs=0.006)
    np.testing.assert_allclose(
        drawn["a"].value_counts(normalize=True)[list("pqr")], by_hand[list("pqr")], atol=0.03
    )
    rows = rows_of(x).assign(claim=pd.Series(dtype=object))
    filled = bn.impute(y, rows, draws=100, rng=0)
    expected = bn.predict(y, rows, prob=True)["fraud"].mean()
    assert (filled["claim"] == "fraud").mean() == pytest.approx(expected, abs=0.02)
    gained = bn.loglik(y, CODED) - bn.loglik(x, CODED) if not x.discretizer.columns else 0.0
    ratio = np.log(pd.Series(Q) / pd.Series(x.class_prior(), bn.classes(x)))
    assert x.discretizer.columns or gained == pytest.approx(ratio[CODED["claim"]].sum())


@pytest.mark.parametrize("name", ["nb", "class with a parent", "aode", "ensemble"])
def test_more_rows_and_refits_keep_the_proportions(name):
    x, y = MODELS[name], bn.with_prior(MODELS[name], Q)
    rows = rows_of(x, 80)
    expected = bn.predict(bn.update(x, rows), rows, prob=True, prior=Q)
    np.testing.assert_allclose(bn.predict(bn.update(y, rows), rows, prob=True), expected, atol=1e-14)
    folds = np.arange(len(rows)) % 2
    for dag in (True, False):
        expected = bn.cv_predict(x, rows, folds=folds, dag=dag)
        found = bn.cv_predict(y, rows, folds=folds, dag=dag)
        odds = [np.log(frame["fraud"] / frame["honest"]) for frame in (found, expected)]
        for fold in (0, 1):  # one shift per fold, of the proportions in its training rows
            shift = (odds[0] - odds[1])[folds == fold]
            learned = (rows["claim"][folds != fold] == "fraud").mean()
            assert np.ptp(shift) < 1e-9
            expected_shift = np.log(0.02 / 0.98) - np.log(learned / (1 - learned))
            assert shift.mean() == pytest.approx(expected_shift, abs=0.2)
    with pytest.raises(ValueError, match="models must have the same class proportions"):
        bn.pool([y, x])
    more = rows.assign(claim="other")
    with pytest.raises(ValueError, match="x must have the class proportions of its rows to get more classes"):
        bn.update(y, more, levels="grow")


def test_tables_and_cards_have_the_proportions():
    for x in (NB, SUM, MODELS["table"]):
        y = bn.with_prior(x, Q)
        rows = CLAIMS.dropna()
        expected = bn.predict(x, rows, prob=True, prior=Q)
        np.testing.assert_allclose(
            bn.predict(bn.from_effects(bn.effects(y)), rows, prob=True), expected, atol=1e-14
        )
        both = bn.scorecard(y), bn.with_prior(bn.scorecard(x), Q)
        if x is SUM:
            pd.testing.assert_frame_equal(both[0].probabilities, both[1].probabilities)
        card = both[0]
        assert card.points.equals(bn.scorecard(x).points)
        totals = bn.predict(card, rows, points=True)
        table = card.probabilities.set_index("total")["probability"]
        np.testing.assert_allclose(table[totals], bn.predict(card, rows, prob=True)["honest"], atol=1e-14)
        scaled = bn.scorecard(y, target="fraud", pdo=20, score=600, odds=50).probabilities
        odds = 50 * 2 ** ((scaled["total"] - 600) / 20)
        np.testing.assert_allclose(scaled["probability"], odds / (1 + odds))


def test_intervals_have_the_proportions():
    y = bn.with_prior(NB, Q)
    found = bn.predict(y, CLAIMS.head(5), prob=True, interval=0.9, rng=0, draws=50)
    expected = bn.predict(NB, CLAIMS.head(5), prob=True, prior=Q, interval=0.9, rng=0, draws=50)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert bn.cpt(y, "claim", interval=0.9).loc["fraud"].tolist() == [0.02] * 3
    assert "fraud 0.020, honest 0.980 (given); in training fraud" in repr(y)


def test_estimators_with_a_prior_are_models_with_it(tmp_path):
    features = CLAIMS.drop(columns="claim")
    classifier = BNCClassifier("nb", 1, prior=Q).fit(features, CLAIMS["claim"])
    expected = classifier.predict_proba(features)
    np.testing.assert_allclose(bn.predict(classifier, features, prob=True), expected, atol=1e-14)
    bn.save(classifier, tmp_path / "x.json")
    loaded = bn.load(tmp_path / "x.json")
    np.testing.assert_allclose(bn.predict(loaded, features, prob=True), expected, atol=1e-14)
    again = BNCClassifier.from_model(loaded)
    assert again.prior == Q
    np.testing.assert_allclose(again.predict_proba(features), expected, atol=1e-14)
    np.testing.assert_allclose(
        again.fit(features, CLAIMS["claim"]).predict_proba(features), expected, atol=1e-14
    )
    base = bn.effects(classifier, target="fraud")["fraud"][0]
    assert base == pytest.approx(np.log(0.02 / 0.98), abs=0.01)
    bn.write_page(classifier, tmp_path / "x.html")
    assert "given" in repr(bn.summary(classifier, CLAIMS, k=2, rng=0))
    for function in (lambda: bn.drift(classifier, features, CLAIMS), lambda: bn.scorecard(classifier)):
        function()


@pytest.mark.parametrize("prior", [None, Q])
def test_costs_of_an_estimator_are_decisions_in_sql(prior):
    features = CLAIMS.drop(columns="claim")
    names = ["fraud", "honest"]
    costs = pd.DataFrame([[0.0, 9], [1, 0]], names, names)
    classifier = BNCClassifier("nb", 1, prior=prior, costs=costs).fit(features, CLAIMS["claim"])
    database = sqlite3.connect(":memory:")
    features.to_sql("t", database, index_label="k")
    found = pd.read_sql(bn.to_sql(classifier, table="t", key="k"), database).sort_values("k")
    database.close()
    assert list(found)[-1] == "decision"
    assert found["decision"].nunique() == 2
    assert found["decision"].tolist() == classifier.predict(features).tolist()
    model = "x.model_" if prior is None else r"with_prior\(x.model_, x.prior\)"
    with pytest.raises(ValueError, match=f"an estimator without 'costs'; .* pass its model, {model}"):
        bn.explain(classifier, features.head(1))
    with pytest.raises(ValueError, match="key and the classes must have distinct names"):
        bn.to_sql(classifier, table="t", key="decision")
