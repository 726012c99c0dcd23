"""Models that are evaluated as they are: warnings of tables that folds do not fit again, and k=0."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.metrics import METRICS

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")

from bnclassify.sklearn import BNCClassifier

AGAIN = "Model 0 is not fitted again, and folds can test rows with which it was made. Evaluate it on other"


def frame_of(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.choice(list("pqr"), n), "x": rng.choice([1.5, 2.5, 3.5, 4.5], n)})
    frame["y"] = np.where((frame["a"] == "p") + frame["x"] + rng.normal(size=n) > 3.3, "yes", "no")
    return frame


ROWS, OTHERS = frame_of(200, 0), frame_of(100, 1)
FITTED = bn.bnc("nb", "y", ROWS, smooth=1, discretize="quantile", bins=4)
TABLE = bn.from_effects(bn.effects(FITTED))
GIVEN = {
    "table": TABLE,
    "card": bn.scorecard(TABLE),
    "monotone": bn.monotonize(TABLE, {"x": "increasing"}, ROWS),
    "card of a monotone one": bn.scorecard(bn.monotonize(TABLE, {"x": "increasing"}, ROWS)),
    "other proportions": bn.with_prior(TABLE, {"no": 0.9, "yes": 0.1}),
    "given table": bn.with_table(FITTED, "a", bn.cpt(FITTED, "a")),
}
AGAIN_FITTED = {
    "network": FITTED,
    "card": bn.scorecard(FITTED),
    "monotone": bn.monotonize(FITTED, {"x": "increasing"}, ROWS),
    "other proportions": bn.with_prior(FITTED, {"no": 0.9, "yes": 0.1}),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_table_that_folds_do_not_fit_gives_a_warning(name):
    x, folds = GIVEN[name], np.arange(len(ROWS)) % 2
    for function in (bn.cv, bn.cv_predict):
        with pytest.warns(UserWarning, match=AGAIN):
            function(x, ROWS, folds=folds)
    with pytest.warns(UserWarning, match=AGAIN):
        bn.summary(x, ROWS, k=2, rng=0)
    with pytest.warns(UserWarning, match=AGAIN):
        bn.summary(x, ROWS, k=2, rng=0, by="a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bn.summary(x, OTHERS, k=0)
        bn.summary(x, OTHERS, k=0, by="a")


@pytest.mark.parametrize("name", AGAIN_FITTED)
def test_models_that_folds_fit_again_give_none(name):
    results = bn.cv([AGAIN_FITTED[name]], ROWS, k=2, rng=0, mean=False)
    assert "not_refitted" not in results.attrs


def test_results_record_these_models_and_comparisons_warn():
    models = {"fitted": FITTED, "table": TABLE, "card": bn.scorecard(FITTED)}
    with pytest.warns(UserWarning, match="Model 'table' is not fitted again"):
        results = bn.cv(models, ROWS, k=3, rng=0, mean=False)
    assert results.attrs["not_refitted"] == ["table"]
    with pytest.warns(UserWarning, match="Model 'table' was not fitted again, .* Compare it on other rows"):
        bn.compare(results)
    bn.compare(results[["fitted", "card"]])  # without a warning
    with pytest.warns(UserWarning, match="Model 'table' is not fitted again"):
        by_metric = bn.cv(models, ROWS, k=3, rng=0, mean=False, metric=["log_loss", "auc"])
    with pytest.warns(UserWarning, match="Model 'table' was not fitted again"):
        bn.compare(by_metric, metric="log_loss")
    with pytest.warns(UserWarning, match="Model 'table' was not fitted again"):
        bn.compare([results[["fitted"]], results[["table"]]])


def test_an_estimator_of_a_given_table_warns_when_it_is_fitted():
    features, classes = ROWS.drop(columns="y"), ROWS["y"]
    estimator = BNCClassifier.from_model(TABLE)
    with pytest.warns(UserWarning, match="is a table that is not fitted, so the estimator predicts by it"):
        estimator.fit(features, classes)
    BNCClassifier.from_model(AGAIN_FITTED["card"]).fit(features, classes)


@pytest.mark.parametrize("name", ["table", "given table", "other proportions"])
def test_summary_without_folds_evaluates_the_model_as_it_is(name):
    x = GIVEN[name]
    found = bn.summary(x, OTHERS, k=0)
    p = bn.predict(x, OTHERS, prob=True)
    own = p.to_numpy()[np.arange(len(p)), (OTHERS["y"] == "yes").astype(int)]
    shares = OTHERS["y"].map(OTHERS["y"].value_counts(normalize=True))
    metrics = found.attrs["metrics"]
    assert metrics["log_loss"] == pytest.approx((-np.log(own).mean(), -np.log(shares).mean()))
    assert metrics["accuracy"][0] == pytest.approx((p.idxmax(axis=1) == OTHERS["y"]).mean())
    assert metrics["accuracy"][1] == pytest.approx(OTHERS["y"].value_counts(normalize=True).max())
    actual = (OTHERS["y"] == "yes").to_numpy().astype(int)
    error = METRICS["calibration_error"].metric_of_rows(np.log(p.to_numpy()), actual)
    assert metrics["calibration_error"][0] == pytest.approx(error)
    by_group = bn.summary(x, OTHERS, k=0, by="a")
    assert by_group.loc["(all)", "log_loss"] == pytest.approx(metrics["log_loss"][0])
    assert f"{metrics['log_loss'][0]:.3f}, baseline" in repr(found)


def test_summary_without_folds_of_other_models_and_data(car):
    network = bn.lp(bn.nb("class", car), car, smooth=1)
    tables = {name: bn.cpt(network, name) for name in bn.families(network)}
    x = bn.from_tables("class", tables)  # without a recipe of its parameters
    with pytest.raises(ValueError, match=r"record its recipe .* as it is, with summary\(x, rows, k=0\)"):
        bn.cv(x, car)
    expected = -bn.cloglik(x, car) / len(car)
    assert bn.summary(x, car, k=0).attrs["metrics"]["log_loss"][0] == pytest.approx(expected)
    chunks = [car.iloc[:900], car.iloc[900:]]
    assert bn.summary(x, chunks, k=0).attrs["metrics"]["log_loss"][0] == pytest.approx(expected)
    half = bn.encode(car.assign(w=0.5), weights="w")
    assert bn.summary(x, half, k=0).attrs["metrics"]["log_loss"][0] == pytest.approx(expected)
    several = bn.lp(bn.mbc(["class", "safety"], car), car, smooth=1)
    metrics = bn.summary(several, car, k=0).attrs["metrics"]
    assert {"accuracy(class)", "log_loss(class)", "log_loss(safety)"} <= metrics.keys()
    with pytest.raises(ValueError, match="k must be a whole number of at least 2; got 1"):
        bn.summary(network, car, k=1)
