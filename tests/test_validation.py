"""Cross-validation: metrics, repeats, out-of-fold predictions, and the record in the results."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.metrics import METRICS as ALL_METRICS

METRICS = {name: metric for name, metric in ALL_METRICS.items() if not metric.needs_order}
"""The metrics of classes without an order."""


@pytest.fixture(scope="module")
def models(car):
    return {
        "nb": bn.lp(bn.nb("class", car), car, smooth=1),
        "tan": bn.lp(bn.tan_cl("class", car), car, smooth=1),
        "aode": bn.lp(bn.aode("class", car), car, smooth=1),
    }


@pytest.fixture(scope="module")
def judged(models, car):
    return bn.cv(models, car, k=2, repeats=5, metric=["accuracy", "auc"], mean=False, rng=0)


def rare(n=60):
    """Two classes, one of three rows."""
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.choice(list("xyz"), n), "k": ["yes"] * 3 + ["no"] * (n - 3)})


def test_shapes_of_what_comes_back(models, car):
    one, names = models["nb"], ["log_loss", "brier"]
    assert isinstance(bn.cv(one, car, k=3, metric="log_loss", rng=0), float)
    by_metric = bn.cv(one, car, k=3, metric=names, rng=0)
    assert by_metric.index.tolist() == [(0, "log_loss"), (0, "brier")]
    assert by_metric.index.names == ["model", "metric"]
    both = bn.cv(models, car, k=3, metric=names, rng=0)
    assert both.index.tolist() == [(model, metric) for model in models for metric in names]
    folds = bn.cv(models, car, k=3, metric=names, rng=0, mean=False)
    assert folds.columns.tolist() == both.index.tolist()
    assert folds.index.tolist() == [0, 1, 2]
    assert folds.index.name == "fold"
    pd.testing.assert_series_equal(folds.mean(), both)
    again = bn.cv(models, car, k=3, repeats=2, mean=False, rng=0)
    assert again.columns.tolist() == list(models)
    assert again.index.tolist() == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert again.index.names == ["repeat", "fold"]
    assert bn.cv(one, car, k=3, repeats=2, rng=0) == pytest.approx(again["nb"].mean())


def test_repeats_go_on_from_the_first(models, car):
    once = bn.cv(models, car, k=3, mean=False, rng=5)
    thrice = bn.cv(models, car, k=3, repeats=3, mean=False, rng=5)
    pd.testing.assert_frame_equal(thrice.loc[0], once)
    assert not np.allclose(thrice.loc[1], once)


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if not metric.needs_joint])
def test_metrics_are_those_of_posteriors_out_of_fold(name, models, car):
    folds = bn.stratified_folds(car["class"], 4, rng=1)
    found = bn.cv(models["tan"], car, folds=folds, metric=name, mean=False)[0]
    posteriors = bn.cv_predict(models["tan"], car, folds=folds).to_numpy()
    codes = car["class"].cat.codes.to_numpy()
    for fold in range(4):
        rows = folds == fold
        expected = METRICS[name].metric_of_rows(np.log(posteriors[rows]), codes[rows])
        assert found[fold] == pytest.approx(expected, abs=1e-9)


def test_any_metric_of_scikit_learn_works(models, car):
    sk = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")

    def auc(posteriors, actual):
        order = sorted(posteriors.columns)
        return sk.roc_auc_score(
            actual, posteriors[order], multi_class="ovr", average="weighted", labels=order
        )

    def log_loss(posteriors, actual):
        order = sorted(posteriors.columns)
        return sk.log_loss(actual, posteriors[order], labels=order)

    def balanced(posteriors, actual):
        return sk.balanced_accuracy_score(actual, posteriors.idxmax(axis=1))

    metric = ["auc", auc, log_loss, "balanced_accuracy", balanced]
    with pytest.raises(ValueError, match="must contain metrics with different names; got 'auc', 'log_loss'"):
        bn.cv(models, car, metric=[*metric, "log_loss"])
    found = bn.cv(models["nb"], car, k=5, metric=["balanced_accuracy", balanced], rng=0)
    assert found[0, "balanced_accuracy"] == pytest.approx(found[0, "balanced"], abs=1e-12)
    for ours, theirs in (("auc", auc), ("log_loss", log_loss)):
        theirs.__name__ = "theirs"
        found = bn.cv(models["nb"], car, k=5, metric=[ours, theirs], rng=0)
        assert found[0, ours] == pytest.approx(found[0, "theirs"], abs=1e-9)


def test_predictions_out_of_fold_are_those_of_models_learned_by_hand(car):
    frame = car.sample(300, random_state=1)
    x = bn.lp(bn.tan_cl("class", frame), frame, smooth=1)
    folds = bn.stratified_folds(frame["class"], 3, rng=2)
    found = bn.cv_predict(x, frame, folds=folds)
    labels = bn.cv_predict(x, frame, folds=folds, prob=False)
    assert found.index.equals(frame.index)
    assert labels.index.equals(frame.index)
    for fold in range(3):
        train, test = frame[folds != fold], frame[folds == fold]
        learned = bn.lp(bn.tan_cl("class", train), train, smooth=1)
        pd.testing.assert_frame_equal(found[folds == fold], bn.predict(learned, test, prob=True))
        pd.testing.assert_series_equal(labels[folds == fold], bn.predict(learned, test))


@pytest.mark.parametrize("learner", [bn.nb, bn.aode, bn.tan_hc])
def test_one_seed_gives_the_folds_and_models_of_cv(learner, car):
    frame = car.sample(200, random_state=0)
    options = {"k": 2, "rng": 0} if learner is bn.tan_hc else {}
    x = bn.lp(learner("class", frame, **options), frame, smooth=1)
    labels = bn.cv_predict(x, frame, k=4, rng=7, prob=False)
    accuracies = bn.cv(x, frame, k=4, rng=7, mean=False)[0]
    folds = bn.stratified_folds(frame["class"], 4, rng=7)
    expected = [bn.accuracy(labels[folds == i], frame["class"][folds == i]) for i in range(4)]
    assert accuracies.tolist() == pytest.approx(expected)


def test_every_round_has_a_seed_of_its_own(car):
    drawn, few = [], car.iloc[::8]

    def drawing(class_var, dataset, *, rng=None):
        drawn.append(rng is not None and int(rng.integers(2**40)))
        return bn.nb(class_var, dataset)

    x, seeds = bn.bnc(drawing, "class", few, smooth=1), []
    for seed in (0, 0, 1):
        drawn.clear()
        bn.cv(x, few, k=3, repeats=2, rng=seed)
        seeds.append([*drawn])
    assert seeds[0] == seeds[1]
    assert len({*seeds[0], *seeds[2]}) == 12


def test_folds_are_stratified_in_every_repeat(car):
    """The numbers of rows that the folds have of a class differ by one at most."""
    x = bn.lp(bn.nb("class", car), car, smooth=1)

    def rare(posteriors, actual):
        return float((actual == "vgood").sum())

    counts = bn.cv(x, car, k=5, repeats=4, metric=rare, mean=False, rng=0)[0].to_numpy().reshape(4, 5)
    assert (counts.sum(axis=1) == (car["class"] == "vgood").sum()).all()
    assert (np.ptp(counts, axis=1) <= 1).all()


def test_predictions_are_matched_by_label(models, car):
    """Text has its labels sorted; a model that keeps its structure keeps its order of levels."""
    text = car.astype(str)
    for dag in (True, False):
        found = bn.cv_predict(models["tan"], text, dag=dag, rng=0)
        assert found.columns.tolist() == sorted(bn.classes(models["tan"]))
        right = bn.accuracy(bn.cv_predict(models["tan"], text, dag=dag, rng=0, prob=False), text["class"])
        assert right == bn.accuracy(found.idxmax(axis=1), text["class"])
        assert right > 0.9


def test_what_the_largest_class_alone_would_score(models, car):
    folds = bn.stratified_folds(car["class"], 5, rng=0)

    def my_recall(posteriors, actual):
        if posteriors.nunique().max() == 1:
            raise ZeroDivisionError("nothing is predicted")
        return 0.5

    names = [*METRICS, "my_recall"]
    results = bn.cv(models, car, folds=folds, metric=[*METRICS, my_recall], mean=False)
    alone = results.attrs["cv"]["baselines"]
    assert list(alone) == names
    expected = {name: [] for name in METRICS}
    bins = []
    for fold in range(5):
        train, test = car["class"][folds != fold], car["class"][folds == fold]
        shares = train.value_counts(normalize=True, sort=False).to_numpy()
        logs = np.log(np.tile(shares, (len(test), 1)))
        for name, metric in METRICS.items():
            expected[name].append(metric.metric_of_rows(logs, test.cat.codes.to_numpy()))
        bins.append(METRICS["calibration_error"].sums(logs, test.cat.codes.to_numpy(), np.ones(len(test))))
    expected["calibration_error"] = [METRICS["calibration_error"].value_from_sums(sum(bins))]  # pooled
    for name in METRICS:
        assert alone[name] == (None if name == "loglik" else pytest.approx(np.mean(expected[name])))
    assert alone["accuracy"] == pytest.approx(1210 / 1728, abs=1e-3)
    assert alone["auc"] == 0.5
    assert alone["balanced_accuracy"] == 0.25
    assert alone["my_recall"] is None
    means = bn.cv(models, car, folds=folds, metric=[*METRICS, my_recall])
    assert means.attrs["cv"] == results.attrs["cv"]


def test_the_order_of_columns_does_not_matter():
    """Equal posteriors that differ by rounding are tied, and those at the end of a bin stay in one bin."""
    metric = ["auc", "calibration_error"]
    for seed in (299, 0, 1, 2):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({f: rng.choice(list("ab"), 20) for f in "pqrs"}).assign(
            c=rng.choice(["u", "v"], 20)
        )
        found = [
            bn.cv(bn.bnc("nb", "c", data, smooth=1), data, folds=np.arange(20) % 2, metric=metric)
            for data in (frame, frame[["s", "r", "q", "p", "c"]], frame[["q", "s", "p", "r", "c"]])
        ]
        assert found[0].to_numpy() == pytest.approx(found[1].to_numpy(), abs=1e-12)
        assert found[0].to_numpy() == pytest.approx(found[2].to_numpy(), abs=1e-12)


@pytest.mark.slow
def test_calibration_error_is_that_of_all_held_out_rows(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    p, actual = bn.cv_predict(x, car, k=50, rng=0).to_numpy(), car["class"].cat.codes.to_numpy()
    pooled = METRICS["calibration_error"].metric_of_rows(np.log(p), actual)
    assert bn.cv(x, car, k=50, rng=0, metric="calibration_error") == pytest.approx(pooled)
    numbered = car.assign(fold=np.arange(len(car)) % 50)
    in_parts = bn.cv(x, [numbered.iloc[:900], numbered.iloc[900:]], folds="fold", metric="calibration_error")
    folds = numbered["fold"].to_numpy()
    assert in_parts == pytest.approx(bn.cv(x, car, folds=folds, metric="calibration_error"))
    assert in_parts < bn.cv(x, car, folds=folds, metric=["calibration_error"], mean=False).mean().item() * 0.7
    repeated = bn.cv(x, car, k=50, repeats=2, rng=0, metric=["calibration_error", "brier"])
    assert repeated[0, "calibration_error"] == pytest.approx(pooled, rel=0.1)
    assert list(repeated.attrs["standard_errors"]) == [(0, "calibration_error"), (0, "brier")]
    assert 0 < repeated.attrs["calibrated"][0, "calibration_error"] < pooled


def people():
    """A rare town, a rare whole number, a column of text with two values, and a rare class."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 200), "town": rng.choice(["Aden", "Bari", "Cork"], 200)})
    frame["months"] = rng.choice(np.arange(6, 66, 6), 200)
    frame["note"] = pd.Series(np.where(np.isin(np.arange(200), [5, 6]), "x", None), dtype=object)
    frame["buys"] = np.where(frame["age"] + rng.normal(0, 9, 200) > 40, "yes", "no")
    frame.loc[0, ["town", "months"]] = "Dover", 72
    frame.loc[:2, "buys"] = "maybe"
    return frame


@pytest.mark.parametrize("options", [{"discretize": "mdlp"}, {"discretize": "averaged"}, {"min_count": 5}])
def test_levels_that_a_training_fold_lacks_are_known(options):
    frame = people() if "discretize" in options else people().drop(columns="age")
    folds = np.arange(200) // 40
    x = bn.bnc("nb", "buys", frame, smooth=1, **options)
    found = bn.cv(x, frame, folds=folds, metric=["accuracy", "log_loss"], mean=False)
    assert found.notna().all(axis=None)
    posteriors = bn.cv_predict(x, frame, folds=folds)
    assert posteriors.columns.tolist() == ["maybe", "no", "yes"]
    declared = frame.astype(dict.fromkeys(["town", "note", "buys"], "category"))
    y = bn.bnc("nb", "buys", declared, smooth=1, **options)
    pd.testing.assert_frame_equal(
        bn.cv_predict(y, declared, folds=folds), posteriors, check_column_type=False
    )


def test_values_that_a_fixed_model_does_not_know_are_missing():
    frame, folds = people().drop(columns="note"), np.arange(200) % 4
    for options in ({"discretize": "mdlp"}, {}):
        known = frame if options else frame.drop(columns="age")
        x = bn.bnc("nb", "buys", known.iloc[1:], smooth=1, **options)
        hidden = known.assign(town=known["town"].where(known.index > 0))
        hidden["months"] = hidden["months"].where(hidden.index > 0).astype("Int64")
        expected = bn.cv_predict(x, hidden, folds=folds, dag=False)
        with pytest.warns(UserWarning, match="treated as missing: "):
            found = bn.cv_predict(x, known, folds=folds, dag=False)
        pd.testing.assert_frame_equal(found, expected)
        assert found.attrs["unseen"] == {"town": 1, "months": 1}
        with pytest.warns(UserWarning, match="treated as missing"):
            means = bn.cv([x, x], known, folds=folds, dag=False)
        assert means.attrs["unseen"] == found.attrs["unseen"]
        with pytest.raises(ValueError, match=r"(72|'Dover') not among the levels"):
            bn.cv(x, known, folds=folds, dag=False, unseen="error")
    with pytest.raises(ValueError, match="unseen must be one of"):
        bn.cv(x, known, unseen="ignore")


def test_standard_errors(car):
    models = {"nb": bn.bnc("nb", "class", car, smooth=1), "tan": bn.bnc("tan_cl", "class", car, smooth=1)}
    folds = bn.cv(models, car, rng=0, mean=False)
    found = bn.cv(models, car, rng=0)
    assert found.attrs["standard_errors"] == pytest.approx((folds.std() / np.sqrt(10)).to_dict())
    again = bn.cv(models, car, rng=0, repeats=3)
    by_repeat = bn.cv(models, car, rng=0, repeats=3, mean=False).groupby("repeat").std() / np.sqrt(10)
    assert again.attrs["standard_errors"] == pytest.approx(by_repeat.mean().to_dict())


def test_the_standard_error_of_a_pooled_metric_is_that_of_the_jackknife_over_folds(car):
    x, folds = bn.bnc("nb", "class", car, smooth=1), np.arange(len(car)) % 7
    logs = np.log(bn.cv_predict(x, car, folds=folds).to_numpy())
    actual, metric = car["class"].cat.codes.to_numpy(), METRICS["calibration_error"]
    without = np.array(
        [metric.metric_of_rows(logs[folds != fold], actual[folds != fold]) for fold in range(7)]
    )
    error = np.sqrt(6 / 7 * ((without - without.mean()) ** 2).sum())
    for data, given in ((car, folds), ([car.assign(fold=folds)], "fold")):
        found = bn.cv([x], data, folds=given, metric="calibration_error")
        assert found.attrs["standard_errors"] == {0: pytest.approx(error)}


def test_a_class_that_a_fold_lacks():
    frame = rare()
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    folds = np.arange(60) % 2
    folds[:3] = 0
    found = bn.cv(x, frame, folds=folds, metric=["auc", "balanced_accuracy"], mean=False)
    assert found[0, "auc"].isna().tolist() == [False, True]
    assert found[0, "balanced_accuracy"].notna().all()
    with pytest.warns(UserWarning, match="is not defined in 1 of 2 folds, which are excluded from the mean"):
        mean = bn.cv(x, frame, folds=folds, metric="auc")
    assert mean == found[0, "auc"][0]
    with pytest.raises(ValueError, match="all finite; got other values in "):
        bn.compare(bn.cv({"a": x, "b": x}, frame, folds=folds, metric="auc", mean=False))


def test_small_classes_are_told_once():
    frame = rare()
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bn.cv(x, frame, k=5, repeats=4, rng=0)
    assert [str(w.message)[:28] for w in told] == ["classes with fewer rows than"]


def test_results_know_how_they_were_made(judged, models, car):
    scheme = judged.attrs["cv"]
    assert (scheme["repeats"], scheme["k"], scheme["is_partition"]) == (5, 2, True)
    assert (scheme["train_size"], scheme["test_size"]) == (864, 864)
    assert list(scheme["baselines"]) == ["accuracy", "auc"]
    for part in (
        judged.loc[:, ["nb", "tan"]],
        judged.iloc[:4],
        judged.xs("auc", axis=1, level=1),
        judged.mean(),
    ):
        assert part.attrs["cv"] == scheme
    ten = bn.cv(models, car, rng=0, mean=False)
    assert (ten.attrs["cv"]["train_size"], ten.attrs["cv"]["test_size"]) == pytest.approx((1555.2, 172.8))
    some = bn.cv(models, car, folds=[range(100), range(50, 150), range(300, 400)], mean=False)
    assert not some.attrs["cv"]["is_partition"]
    assert some.attrs["cv"]["train_size"] == 1628


def test_compare_takes_what_cv_gives(judged):
    for test in ("corrected_t", "5x2cv_t", "5x2cv_f"):
        found = bn.compare(judged, test=test, metric="auc")
        bare = judged.xs("auc", axis=1, level=1)
        bare.attrs.clear()
        by_hand = bn.compare(bare, test=test, train_size=864, test_size=864)
        assert found.to_numpy().tolist() == by_hand.to_numpy().tolist()
        assert found.columns.name == f"{test} of auc"
        assert by_hand.columns.name == test
    selected = bn.compare(judged.xs("auc", axis=1, level=1), metric="auc")
    assert selected.equals(bn.compare(judged, metric="auc"))


def test_compare_refuses_what_does_not_fit(models, car, judged):
    ten = bn.cv(models, car, rng=0, mean=False)
    for test in ("5x2cv_t", "5x2cv_f"):
        for results, words in (
            (ten, "of 10 folds"),
            (bn.cv(models, car, k=5, repeats=2, rng=0, mean=False), "of 2 repeats of 5 folds"),
            (judged.iloc[:8].xs("auc", axis=1, level=1), "of 5 repeats of 2 folds"),
        ):
            with pytest.raises(ValueError, match=rf"test must be 'corrected_t' .*got results {words}.$"):
                bn.compare(results, test=test)


def test_results_of_the_same_folds_go_side_by_side(models, car):
    parts = [bn.cv({name: models[name]}, car, k=5, rng=0, mean=False) for name in models]
    together = bn.compare(bn.cv(models, car, k=5, rng=0, mean=False))
    assert bn.compare(parts).equals(together)
    assert bn.compare(pd.concat(parts, axis=1)).equals(together)
    other = bn.cv({"other": models["nb"]}, car, k=5, rng=1, mean=False)
    with pytest.raises(ValueError, match="results must be of the same folds"):
        bn.compare([parts[0], other])
    with pytest.raises(ValueError, match="train_size and test_size must be given"):
        bn.compare(pd.concat([parts[0], other], axis=1))  # pandas drops a record that is not of both
    with pytest.raises(ValueError, match="results must name each model once; got 'nb'"):
        bn.compare([parts[0], parts[0]])


def test_rows_count_as_often_as_they_weigh(car):
    """Whole weights equal repeated rows, in training and in evaluation, on the same folds."""
    frame = car.sample(120, random_state=0)
    x = bn.lp(bn.nb("class", frame), frame, smooth=1)
    times = np.random.default_rng(0).integers(1, 4, len(frame))
    folds = np.arange(len(frame)) % 3
    weighted = replace(bn.encode(frame), weights=times.astype(float))
    found = bn.cv(x, weighted, folds=folds, metric=list(METRICS), mean=False)
    rows = np.repeat(np.arange(len(frame)), times)
    expected = bn.cv(x, frame.iloc[rows], folds=folds[rows], metric=list(METRICS), mean=False)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    alone = [results.attrs["cv"]["baselines"] for results in (found, expected)]
    assert alone[0] == pytest.approx(alone[1])


def test_other_columns_are_told_unless_any_will_do(car):
    x = bn.bnc("tan_cl", "class", car, smooth=1)
    other = car.drop(columns="doors").assign(leak=car["class"])
    for judge in (bn.cv, bn.cv_predict):
        with pytest.raises(ValueError, match=r"it lacks 'doors' and it also has 'leak'.*columns='any'"):
            judge(x, other, k=3, rng=0)
    assert bn.cv(x, other, k=3, rng=0, columns="any") > 0.99
    assert bn.cv(x, car.assign(leak=1), k=3, rng=0, dag=False) == bn.cv(x, car, k=3, rng=0, dag=False)
    # In whatever order they stand, and where features were named, others do not matter.
    bn.cv(x, car[car.columns[::-1]], k=3, rng=0)
    named = bn.lp(bn.nb("class", car, features=["doors"]), car, smooth=1)
    bn.cv(named, car.drop(columns="safety"), k=3, rng=0)


@pytest.mark.filterwarnings("ignore:No feature improves")
def test_features_that_a_search_left_out_are_columns_too(car):
    x = bn.bnc("fssj", "class", car, smooth=1, dag_args={"k": 3, "rng": 0})
    assert len(bn.features(x)) < 6
    assert 0 < bn.cv(x, car, k=3, rng=0) < 1


def test_held_out_log_likelihood(car):
    models = {"nb": bn.bnc("nb", "class", car, smooth=1), "aode": bn.bnc("aode", "class", car, smooth=1)}
    folds = np.arange(len(car)) % 3
    found = bn.cv(models, car, folds=folds, metric=["loglik", "kappa"], mean=False)
    for fold in range(3):
        train, test = car[folds != fold], car[folds == fold]
        for name in models:
            x = bn.bnc(name, "class", train, smooth=1)
            assert found.loc[fold, (name, "loglik")] == pytest.approx(bn.loglik(x, test) / len(test))
    assert "loglik" not in {k for k, v in found.attrs["cv"]["baselines"].items() if v is not None}
