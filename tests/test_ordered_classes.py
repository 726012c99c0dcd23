"""Classes with an order: it is kept, probabilities of at least a class, and metrics of ranks."""

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

STAGES = ["low", "medium", "high", "top"]  # not in alphabetical order


def staged(rows=400, *, ordered=True):
    rng = np.random.default_rng(0)
    size, shape = rng.normal(size=rows), rng.choice(["p", "q"], rows)
    score = size + 0.7 * (shape == "q") + rng.logistic(size=rows)
    codes = np.digitize(score, [-1, 0.5, 2])
    return pd.DataFrame(
        {"size": size, "shape": shape, "stage": pd.Categorical.from_codes(codes, STAGES, ordered=ordered)}
    )


DATA = staged()


@pytest.fixture(params=["default", "nb", "sum", "estimator", "weights", "loaded", "text levels"])
def fitted(request, tmp_path):
    options = {"smooth": 1, "discretize": "mdlp"}
    match request.param:
        case "default":
            return bn.bnc(class_var="stage", dataset=DATA)
        case "sum":
            return bn.bnc(class_var="stage", dataset=DATA, pairs=0)
        case "estimator":
            pytest.importorskip("sklearn", "1.6")
            from bnclassify.sklearn import BNCClassifier

            return BNCClassifier().fit(DATA.drop(columns="stage"), DATA["stage"])
        case "weights":
            return bn.bnc(
                class_var="stage",
                dataset=bn.encode(
                    DATA.drop(columns="size"), weights=np.full(len(DATA), 2), weights_are="frequencies"
                ),
            )
        case "loaded":
            bn.save(bn.bnc("nb", "stage", DATA, **options), tmp_path / "x.json")
            return bn.load(tmp_path / "x.json")
        case "text levels":
            return bn.update(bn.bnc("nb", "stage", DATA.head(300), **options), DATA.tail(100))
    return bn.bnc("nb", "stage", DATA, **options)


def test_the_order_is_kept_and_probabilities_add_up(fitted):
    assert bn.classes(fitted) == tuple(STAGES)
    posteriors = bn.predict(fitted, DATA, prob=True)
    assert posteriors.columns.tolist() == STAGES
    for i, stage in enumerate(STAGES):
        found = bn.predict(fitted, DATA, prob=True, at_least=stage)
        assert found.name == f"stage >= {stage}"
        np.testing.assert_allclose(found, posteriors.iloc[:, i:].sum(axis=1))
    assert (bn.predict(fitted, DATA, prob=True, at_least="low") <= 1).all()
    assert bn.predict(fitted, {"shape": "q"}, prob=True, at_least="high").shape == (1,)


def test_estimators_keep_sorted_classes_and_predict_by_label():
    pytest.importorskip("sklearn", "1.6")
    from bnclassify.sklearn import BNCClassifier

    X, y = DATA.drop(columns="stage"), DATA["stage"]
    clf = BNCClassifier("nb", smooth=1).fit(X, y)
    text = BNCClassifier("nb", smooth=1).fit(X, y.astype(str))
    assert clf.classes_.tolist() == text.classes_.tolist() == sorted(STAGES)
    assert bn.classes(text) == tuple(sorted(STAGES))
    np.testing.assert_allclose(clf.predict_proba(X), text.predict_proba(X))
    assert clf.predict(X).tolist() == text.predict(X).tolist() == bn.predict(clf, X).tolist()
    same = BNCClassifier("nb", smooth=1).fit(X, pd.Categorical(y, ordered=True))
    assert bn.classes(same) == tuple(STAGES)
    few = BNCClassifier("nb", smooth=1).fit(X[y != "high"], y[y != "high"])
    assert bn.classes(few) == ("low", "medium", "top")


def test_classes_without_an_order_are_refused_with_the_remedy():
    plain = staged(ordered=False)
    x = bn.bnc("nb", "stage", plain, smooth=1, discretize="mdlp")
    calls = [lambda: bn.predict(x, plain, prob=True, at_least="high")]
    calls += [lambda name=name: bn.cv(x, plain, k=2, metric=name) for name in ("rps", "mean_absolute_error")]
    for call in calls:
        with pytest.raises(ValueError, match=r"requires a class with an order; got 'stage' .*ordered=True\)"):
            call()
    numbers = plain.assign(stage=plain["stage"].cat.codes + 1)
    y = bn.bnc("nb", "stage", numbers, smooth=1, discretize="mdlp")
    expected = bn.predict(x, plain, prob=True)[["high", "top"]].sum(axis=1)
    np.testing.assert_allclose(bn.predict(y, plain, prob=True, at_least=3), expected)
    with pytest.raises(ValueError, match="at_least must be one of 1, 2, 3, 4; got 5"):
        bn.predict(y, plain, prob=True, at_least=5)
    with pytest.raises(ValueError, match=r"must be None unless prob is True; got 3\. Pass prob=True"):
        bn.predict(y, plain, at_least=3)
    with pytest.raises(ValueError, match="at_least must be None with points or interval; got 3"):
        bn.predict(y, plain, at_least=3, prob=True, interval=0.9)


def test_metrics_of_ranks_are_those_of_their_formulas():
    x = bn.bnc("nb", "stage", DATA, smooth=1, discretize="mdlp")
    folds = np.arange(len(DATA)) % 4
    posteriors = bn.cv_predict(x, DATA, folds=folds)
    below, rank = posteriors.to_numpy().cumsum(axis=1)[:, :-1], DATA["stage"].cat.codes.to_numpy()
    rps = ((below - (rank[:, None] <= np.arange(3))) ** 2).sum(axis=1) / 3
    errors = np.abs(posteriors.to_numpy().argmax(axis=1) - rank)
    found = bn.cv(x, DATA, folds=folds, metric=["rps", "mean_absolute_error"]).droplevel(0)
    assert found["rps"] == pytest.approx(rps.mean())
    assert found["mean_absolute_error"] == pytest.approx(errors.mean())
    # with two classes, the Brier score
    two = DATA.assign(stage=(DATA["stage"] >= "high").astype(int))
    y = bn.bnc("nb", "stage", two, smooth=1, discretize="mdlp")
    both = bn.cv(y, two, folds=folds, metric=["rps", "brier"]).droplevel(0)
    assert both["rps"] == pytest.approx(both["brier"])


def test_a_better_rank_has_a_better_score_although_the_log_loss_is_equal():
    from bnclassify.metrics import METRICS

    p = np.array([[0.4, 0.5, 0.1], [0.4, 0.1, 0.5]])
    near, far = (METRICS["rps"].metric_of_rows(np.log(row[None]), np.array([0])) for row in p)
    assert near < far
    assert near == pytest.approx((0.6**2 + 0.1**2) / 2)
    near, far = (METRICS["mean_absolute_error"].metric_of_rows(np.log(row[None]), np.array([0])) for row in p)
    assert (near, far) == (1, 2)


def test_compare_and_summary_know_that_lower_is_better():
    models = {
        learner: bn.bnc(learner, "stage", DATA, smooth=1, discretize="mdlp") for learner in ("nb", "tan_cl")
    }
    results = bn.cv(models, DATA, k=4, rng=0, metric=["rps"], mean=False)
    assert results.shape == (4, 2)
    assert bn.compare(results, metric="rps")["difference"].notna().all()
    facts = bn.summary(models["nb"], DATA, k=3, rng=0).set_index("item")["value"]
    assert ", baseline " in facts["ranked probability score"]
    plain = bn.summary(
        bn.bnc("nb", "stage", staged(ordered=False), smooth=1, discretize="mdlp"),
        staged(ordered=False),
        k=3,
        rng=0,
    )
    assert "ranked probability score" not in plain["item"].tolist()


def test_the_order_of_partitioned_data_is_kept():
    coded = DATA.drop(columns="size")
    parts = [coded.head(150), coded.tail(250)]
    whole = bn.lp(bn.nb("stage", coded), coded, smooth=1)
    expected = bn.predict(whole, coded, prob=True, at_least="high")
    for dataset in (parts, lambda: iter(parts)):
        x = bn.lp(bn.nb("stage", dataset), dataset, smooth=1)
        pd.testing.assert_series_equal(bn.predict(x, coded, prob=True, at_least="high"), expected)
        scores = bn.cv(x, dataset, k=2, metric=["rps", "mean_absolute_error"])
        assert scores.between(0, 3).all()
    differ = [parts[0].assign(stage=parts[0]["stage"].cat.reorder_categories(STAGES[::-1])), parts[1]]
    y = bn.lp(bn.nb("stage", differ), differ, smooth=1)
    with pytest.raises(ValueError, match="at_least requires a class with an order"):
        bn.predict(y, coded, prob=True, at_least="high")
