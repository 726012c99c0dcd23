"""Cases, which are held out as a whole: weights, copies of rows, groups; and the order of rows."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.networks import weighted

from .estimators import BNCClassifier
from .test_recipe import patients


def measured(n, seed=0):
    """Return patients with precise measurements, so that equal rows are copies."""
    rng = np.random.default_rng(seed)
    frame = patients(n, seed)
    return frame.assign(fever=frame["fever"] + rng.normal(size=n) / 100, pulse=rng.normal(70, 9, n))


def posteriors(model, frame):
    return bn.predict(model, frame.drop(columns="sick"), prob=True).to_numpy()


def test_equal_weights_change_nothing_unless_they_are_numbers_of_rows():
    frame = patients(80)
    X, y = frame.drop(columns="sick"), frame["sick"]
    plain = BNCClassifier().fit(X, y).predict_proba(X)
    for weight in (2.5, 1e-3):
        weighted = BNCClassifier().fit(X, y, sample_weight=np.full(80, weight)).predict_proba(X)
        np.testing.assert_allclose(weighted, plain, atol=1e-9)
    with_number = X.assign(pulse=measured(80)["pulse"])
    plain = BNCClassifier().fit(with_number, y).predict_proba(with_number)
    weighted = BNCClassifier().fit(with_number, y, sample_weight=np.full(80, 5)).predict_proba(with_number)
    np.testing.assert_allclose(weighted, plain, atol=1e-9)


def test_whole_weights_are_numbers_of_rows_also_if_they_are_equal():
    """Two rows of weight 250 are 500 rows; so are those of weights 250 and 249, but for one."""
    X, y = pd.DataFrame({"a": ["p", "q"]}), np.array(["u", "v"])
    rows = np.tile([0, 1], 250)
    repeated = BNCClassifier().fit(X.iloc[rows], y[rows]).predict_proba(X)
    equal = BNCClassifier().fit(X, y, sample_weight=[250, 250]).predict_proba(X)
    other = BNCClassifier().fit(X, y, sample_weight=[250, 249]).predict_proba(X)
    np.testing.assert_allclose(equal, repeated, atol=1e-9)
    np.testing.assert_allclose(equal, other, atol=1e-4)
    assert equal[0, 0] > 0.999


def table_of_counts():
    rng = np.random.default_rng(0)
    cells = pd.MultiIndex.from_product([["f", "m"], ["1st", "2nd", "3rd"], ["child", "adult"], ["no", "yes"]])
    frame = cells.to_frame(index=False, name=["sex", "class", "age", "sick"])
    return frame.assign(n=rng.integers(1, 60, len(frame)))


def test_natural_repetitions_stay_frequencies():
    counted = table_of_counts()
    rows = counted.loc[counted.index.repeat(counted["n"])].drop(columns="n").reset_index(drop=True)
    from_rows = bn.bnc(class_var="sick", dataset=rows)
    cells = counted.drop(columns="n")
    assert bn.summary(from_rows).set_index("item")["value"]["rows"] == counted["n"].sum()
    shares = counted.groupby(["sex", "class", "age"])["n"].transform("sum")
    loss = -np.sum(
        counted["n"]
        * np.log(posteriors(from_rows, cells)[np.arange(24), (cells["sick"] == "yes").astype(int)])
    )
    best = -np.sum(counted["n"] * np.log(counted["n"] / shares))
    assert (loss - best) / counted["n"].sum() < 0.02


@pytest.mark.slow
def test_rows_that_are_probably_copies_are_told():
    frame = measured(60)
    copied = pd.concat([frame, frame.head(20)], ignore_index=True)
    with pytest.warns(UserWarning, match=r"20 of 80 rows equal an earlier row.*'fever', 'pulse'.*groups="):
        model = bn.bnc("sick", copied)
    assert "(rows)" in bn.check_data(copied, "sick")["column"].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bn.cv(model, copied, k=3)  # no warning for each training fold
        bn.bnc("sick", copied.drop_duplicates())
        bn.bnc("sick", copied, groups=[*range(60), *range(20)])
        bn.bnc("sick", pd.concat([frame[["cough", "town", "sick"]]] * 2, ignore_index=True))


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(i, marks=pytest.mark.slow) for i in range(3, 8))])
def test_rows_that_are_equal_by_chance_are_not_told(seed):
    rng = np.random.default_rng(seed)
    weight = rng.normal(70, 12, 60).round(1)
    frame = pd.DataFrame({"weight": weight, "sick": np.where(weight + rng.normal(0, 10, 60) > 70, "y", "n")})
    tests = pd.DataFrame({"test": rng.choice(["neg", "pos"], 60), "level": rng.random(60).round(2)})
    for table in (frame, tests.assign(sick=frame["sick"])):
        assert not len(bn.check_data(table, "sick"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bn.bnc("sick", table)


@pytest.mark.parametrize("as_numbers", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_frequencies_are_rows(as_numbers):
    """A table of counts, its rows, and whole sample weights are the same."""
    counted = table_of_counts()
    if as_numbers:
        counted = counted.assign(age=np.where(counted["age"] == "child", 7.5, 41.25), day=np.arange(24) % 5)
    rows = counted.loc[counted.index.repeat(counted["n"])].drop(columns="n").reset_index(drop=True)
    cells = counted.drop(columns="n")
    expected = posteriors(bn.bnc(class_var="sick", dataset=rows), cells)
    X, y, n = cells.drop(columns="sick"), cells["sick"], counted["n"]
    estimator = BNCClassifier(weights_are="frequencies" if as_numbers else None)
    np.testing.assert_allclose(estimator.fit(X, y, sample_weight=n).predict_proba(X), expected, atol=1e-6)
    if not as_numbers:
        counts = bn.encode(counted, weights="n", weights_are="frequencies")
        np.testing.assert_allclose(
            posteriors(bn.bnc(class_var="sick", dataset=counts), cells), expected, atol=1e-6
        )


def visits(patients_, times, seed, columns=4):
    rng = np.random.default_rng(seed)
    sick = rng.random(patients_) < 0.4
    means = rng.normal(size=(patients_, columns))
    means[:, 0] += sick
    numbers = np.repeat(means, times, axis=0) + 0.1 * rng.normal(size=(patients_ * times, columns))
    frame = pd.DataFrame(numbers, columns=list("abcdefgh")[:columns])
    label = np.where(sick, "yes", "no").repeat(times)
    return frame.assign(sick=label, person=np.arange(patients_).repeat(times))


@pytest.mark.slow
def test_groups_are_held_out_together():
    """Six visits of a person predict about as well as one, in the mean of two samples; as rows, worse."""
    losses = []
    for seed in range(2):
        frame, test = visits(80, 6, seed), visits(2000, 1, seed + 1)
        alone = frame.drop(columns="person")
        grouped = bn.bnc("sick", frame, groups="person")
        models = [bn.bnc("sick", alone.iloc[::6]), grouped, bn.bnc("sick", alone)]
        own = np.arange(len(test)), (test["sick"] == "yes").astype(int)
        losses.append([-np.log(bn.predict(x, test, prob=True).to_numpy()[own]).mean() for x in models])
        assert "person" not in bn.features(grouped)
        assert bn.summary(grouped).set_index("item")["value"]["rows"] == "480 (in 80 groups)"
    once, together, apart = np.mean(losses, axis=0)
    assert together < once + 0.06
    assert apart > once + 0.15


def test_groups_of_each_class_begin_in_another_fold():
    """So folds of few groups of many classes have about equal sizes."""
    frame = pd.DataFrame({"x": list("aabbabab"), "y": list("uuvvvvww"), "g": np.arange(8) // 2})
    x = bn.bnc("nb", "y", frame.drop(columns="g"), smooth=1)
    found = bn.cv(x, frame, k=3, groups="g", mean=False, metric=lambda p, actual: float(len(actual)))
    assert sorted(found.iloc[:, 0]) == [2, 2, 4]


def test_groups_stay_in_one_fold():
    frame = visits(60, 4, seed=0)
    rows, person = frame.drop(columns="person"), frame["person"]
    model = bn.bnc("nb", "sick", rows, smooth=1, discretize="mdlp")
    honest = bn.cv(model, frame, k=5, rng=0, groups="person", metric="log_loss")
    same = bn.cv(model, rows, k=5, rng=0, groups=person, metric="log_loss")
    assert honest == same > bn.cv(model, rows, k=5, rng=0, metric="log_loss")
    found = bn.cv_predict(model, frame, k=5, rng=0, groups="person")
    assert found.notna().all(axis=None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.room.. 40 values in 200 rows:UserWarning")
def test_wrappers_score_by_folds_of_groups():
    """The room is that of one person, so it predicts further visits, and says nothing about others."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 5)
    sick = np.repeat(rng.permutation(40) % 2, 5)
    cough = np.where(rng.random(200) < 0.7, sick, 1 - sick)
    frame = pd.DataFrame({"room": person, "cough": cough, "person": person, "sick": sick}).astype(str)
    grouped = bn.bnc("fssj", "sick", frame, groups="person", dag_args={"k": 5, "rng": 0})
    assert bn.features(grouped) == ("cough",)
    alone = bn.bnc("fssj", "sick", frame.drop(columns="person"), dag_args={"k": 5, "rng": 0})
    assert bn.features(alone) == ("room",)
    whole, divided = person % 5, np.arange(200) % 5
    given = bn.bnc("fssj", "sick", frame, groups="person", dag_args={"k": 5, "rng": 0, "folds": whole})
    assert bn.features(given) == ("cough",)
    with pytest.raises(ValueError, match=r"must keep .*number 0, counted from 0\) that divides 40 groups\."):
        bn.bnc("fssj", "sick", frame, groups="person", dag_args={"k": 5, "folds": divided})


@pytest.mark.slow
def test_lp_accepts_groups():
    frame = visits(60, 4, seed=0)
    rows, person = frame.drop(columns="person"), frame["person"]
    structure = bn.bnc("nb", "sick", rows, smooth=1, discretize="averaged")
    options = {"backoff": True, "held_out": "weights"}
    grouped = bn.lp(structure, frame, groups="person", **options)
    assert bn.loo_summary(grouped)["power"] < 0.9 * bn.loo_summary(bn.lp(structure, rows, **options))["power"]
    one_each = bn.lp(structure, rows, groups=np.arange(len(rows)), **options)
    np.testing.assert_allclose(
        bn.feature_weights(one_each), bn.feature_weights(bn.lp(structure, rows, **options)), atol=1e-9
    )
    clf = BNCClassifier().fit(rows.drop(columns="sick"), rows["sick"], groups=person)
    expected = bn.bnc(class_var="sick", dataset=frame, groups="person")
    np.testing.assert_allclose(
        clf.predict_proba(rows.drop(columns="sick")), bn.predict(expected, rows, prob=True), atol=1e-9
    )


# Survey weights


@pytest.mark.filterwarnings("ignore:the weights of:UserWarning")
def test_survey_weights_are_scaled_to_the_effective_number_of_rows():
    frame = patients(50).drop(columns=["fever", "pulse"]).assign(w=np.linspace(0.5, 4, 50))
    data = bn.encode(frame, weights="w", weights_are="cases")
    w = frame["w"]
    size = w.sum() ** 2 / (w**2).sum()
    assert data.size == pytest.approx(size)
    assert bn.encode(frame.assign(w=1e9 * w), weights="w", weights_are="cases").size == pytest.approx(size)
    model = bn.lp(bn.nb("sick", data), data, smooth=1)
    share = w[frame["sick"] == "yes"].sum() / w.sum()
    assert np.asarray(bn.cpt(model, "sick")).ravel()[1] == pytest.approx((share * size + 1) / (size + 2))
    by_hand = bn.encode(frame.assign(w=w * size / w.sum()), weights="w", weights_are="frequencies")
    assert bn.BIC(model, data) == pytest.approx(
        bn.BIC(bn.lp(bn.nb("sick", by_hand), by_hand, smooth=1), by_hand)
    )


@pytest.mark.parametrize(
    ("weights", "told"),
    [([1.5, 1, 1, 1], "have fractions"), ([10, 10, 10, 11], "sum to 41 in 4 rows"), ([10, 10, 10, 10], None)],
)
def test_weights_without_a_meaning_are_told(weights, told):
    frame = pd.DataFrame({"x": list("abcd"), "y": list("uvuv"), "w": weights})
    if told is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bn.encode(frame, weights="w")
    else:
        with pytest.warns(UserWarning, match=f"weights {told}.*weights_are='cases'"):
            bn.encode(frame, weights="w")
    bn.encode(frame, weights="w", weights_are="frequencies")


# The order of rows


def test_weights_by_held_out_rows_have_no_order(monkeypatch):
    """Also if only some of the rows are held out."""
    frame = patients(300).drop(columns=["fever", "pulse"])
    monkeypatch.setattr(weighted, "_MOST_ODDS", 500)
    other = frame.sample(frac=1, random_state=0)[frame.columns[::-1]]
    weights = []
    for rows in (frame, other):
        fitted = bn.lp(bn.nb("sick", rows), rows, smooth=1, held_out="weights")
        weights.append(bn.feature_weights(fitted)[list(frame.columns)])
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-12)


@pytest.mark.parametrize("unit", [1.0, *(pytest.param(unit, marks=pytest.mark.slow) for unit in (3.7, -2.0))])
def test_columns_with_the_same_ranks_are_not_in_the_order_given(unit):
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"log": x, "price": np.exp(x), "cube": x**3, "other": rng.normal(size=200)}) * unit
    frame["y"] = np.where(rng.random(200) < 1 / (1 + np.exp(-2 * x - frame["other"])), "u", "v")
    expected = bn.predict(bn.bnc(class_var="y", dataset=frame), frame, prob=True)
    turned = frame[["cube", "price", "y", "other", "log"]]
    found = bn.predict(bn.bnc(class_var="y", dataset=turned), turned, prob=True)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.slow
def test_rows_of_groups_have_no_order():
    voting = bn.load_voting()[["crime", "immigration", "religious_groups_in_schools", "Class"]]
    groups, order = np.arange(len(voting)) // 3, np.random.default_rng(0).permutation(len(voting))
    expected = bn.predict(bn.bnc(class_var="Class", dataset=voting, groups=groups), voting, prob=True)
    shuffled = voting.iloc[order]
    found = bn.predict(bn.bnc(class_var="Class", dataset=shuffled, groups=groups[order]), voting, prob=True)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_folds_that_divide_groups_are_refused():
    frame = patients(100)
    frame = frame.drop(columns=["fever", "pulse"])
    x, person = bn.lp(bn.nb("sick", frame), frame, smooth=1), np.arange(100) // 4
    whole = person % 5
    told = bn.cv(x, frame, folds=whole, groups=person)
    assert told == bn.cv(x, frame, folds=whole)
    with pytest.raises(ValueError, match="folds must keep the rows of a group together"):
        bn.cv(x, frame, folds=np.arange(100) % 5, groups=person)
    with pytest.raises(ValueError, match="one for each fold; got 3"):
        bn.cv(x, frame, groups=person % 3)


@pytest.mark.slow
def test_groups_of_encoded_data_are_a_column():
    frame = patients(100).drop(columns=["fever", "pulse"]).assign(person=(np.arange(100) // 4).astype(str))
    one = bn.bnc("sick", bn.encode(frame), pairs=0, groups="person")
    other = bn.bnc("sick", frame, pairs=0, groups="person")
    assert bn.features(one) == bn.features(other)
    folds = {"k": 2, "rng": 0, "groups": "person"}
    assert bn.cv(one, bn.encode(frame), **folds) == bn.cv(other, frame, **folds)


@pytest.mark.slow
def test_labels_of_groups_keep_their_types_and_follow_the_index():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(list("abc"), 60), "y": rng.choice(["u", "v"], 60)})
    ten = [1, "1", "2", 2, 3, "3", "4", 4, 5, "5"] * 6
    options = {"dataset": frame, "smooth": 1, "held_out": "weights"}
    mine, other = (bn.bnc("nb", "y", groups=g, **options) for g in (ten, np.arange(60) % 10))
    pd.testing.assert_series_equal(bn.loo_summary(mine), bn.loo_summary(other))
    assert "60 (in 10 groups)" in repr(mine)
    missing = [f"p{i % 10}" if i % 3 else float("nan") for i in range(60)]
    for labels in (missing, pd.Series(missing), np.array(missing, dtype=object)):
        with pytest.raises(ValueError, match="groups must have a label for each row; got 20 missing values"):
            bn.bnc(class_var="y", dataset=frame, groups=labels)
    shuffled = frame.sample(frac=1, random_state=1)
    groups = pd.Series(np.arange(60) // 6, index=frame.index)
    model = bn.bnc("nb", "y", shuffled, smooth=1)
    for call in (
        lambda g: bn.cv(model, shuffled, k=5, rng=0, groups=g),
        lambda g: bn.bnc(class_var="y", dataset=shuffled, groups=g),
        lambda g: BNCClassifier().fit(shuffled[["c"]], shuffled["y"], groups=g),
    ):
        with pytest.raises(ValueError, match="groups must have the index of the data"):
            call(groups)
        call(groups.loc[shuffled.index])
    aligned = bn.cv(model, shuffled, k=5, rng=0, groups=groups.loc[shuffled.index])
    assert aligned == bn.cv(model, shuffled.assign(g=groups), k=5, rng=0, groups="g", columns="any")
    BNCClassifier().fit(shuffled[["c"]].to_numpy(), shuffled["y"].to_numpy(), groups=groups)  # by position


@pytest.mark.slow
def test_models_of_groups_are_evaluated_with_groups():
    person = np.repeat(np.arange(30), 4)
    frame = pd.DataFrame(
        {"person": [f"p{i}" for i in person], "x": person % 3, "y": (person % 7 > 2).astype(str)}
    )
    model = bn.bnc("nb", "y", frame, groups="person", backoff=True, held_out="weights")
    with pytest.raises(ValueError, match="pass groups='person' to cv or cv_predict"):
        bn.cv(model, frame, k=3, rng=0)
    assert bn.cv(model, frame, k=3, rng=0, groups="person") > 0
    with pytest.warns(UserWarning, match="learned from groups of rows.* Pass groups"):
        bn.cv(model, frame.drop(columns="person"), k=3, rng=0)
    assert bn.summary(model, frame, k=3, rng=0, groups="person").attrs["metrics"]["accuracy"][0] > 0
    frame["sex"] = np.where(person % 2, "f", "m")
    by_sex = [bn.summary(model, frame, by="sex", k=3, rng=0, groups=g) for g in ("person", frame["person"])]
    assert by_sex[0].equals(by_sex[1])


@pytest.mark.slow
def test_groups_do_not_make_the_order_of_columns_matter():
    frame = visits(30, 3, seed=3)
    expected = bn.predict(bn.bnc(class_var="sick", dataset=frame, groups="person"), frame, prob=True)
    for changed in (frame[frame.columns[::-1]], frame.sample(frac=1, random_state=0)):
        model = bn.bnc(class_var="sick", dataset=changed, groups="person")
        np.testing.assert_allclose(bn.predict(model, frame, prob=True), expected, atol=1e-9)


@pytest.mark.parametrize("cases", [[0] * 800, [0] * 790 + [*range(10)], [0, 1] * 400])
def test_few_cases_of_many_rows_choose_no_large_effects(cases):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1800, 2)), columns=["u", "v"]).assign(
        y=rng.choice(["a", "b"], 1800)
    )
    train, new = frame.head(800), frame.tail(1000)
    model = bn.bnc(class_var="y", dataset=train, groups=np.array(cases), pairs=[("u", "v")])
    assert -bn.cloglik(model, new) / 1000 < np.log(2) + 0.02


@pytest.mark.parametrize("n", [10, 40])
def test_effects_of_one_case_are_no_larger_than_those_of_many(n):
    """No rows can be held out, and effects are multiplied by n / (n + 20)."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3))).add_prefix("x").assign(y=["a", "b"] * (n // 2))
    model = bn.bnc(class_var="y", dataset=frame, groups=np.zeros(n))
    assert model.learned["variances"]["power"] == round(n / (n + 20), 2)


@pytest.mark.parametrize("seed", [0, 8])
def test_the_order_of_columns_does_not_matter_to_rows_that_differ_in_exact_numbers(seed):
    """Rows with other numbers of the same groups have other weights, by which the sample is drawn."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 100, 900) * 1.0, "b": rng.integers(0, 80, 900) * 1.0})
    odds = np.exp((frame["a"] - 50) / 15 * np.where(frame["b"] > 40, 1, -1))
    frame["y"] = np.where(rng.random(900) < odds / (1 + odds), "u", "v")
    found, expected = (
        bn.predict(bn.bnc(class_var="y", dataset=rows), frame, prob=True)
        for rows in (frame[["b", "a", "y"]], frame)
    )
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*rows with equal values")
def test_names_of_levels_do_not_matter_to_rows_that_differ_in_exact_numbers():
    rng = np.random.default_rng(9)
    code = pd.Series(np.tile(np.arange(257), 2))
    frame = pd.DataFrame({"code": (code + 1000).astype(str).mask(rng.random(514) < 0.1)})
    frame["y"] = np.where((code % 2 == 0) ^ (rng.random(514) < 0.1), "a", "b")
    frame["x"] = rng.normal(size=514)
    renamed = frame.assign(code=(code * 7919 % 65537 + 100_000).astype(str).where(frame["code"].notna()))
    found, expected = (
        bn.predict(bn.bnc(class_var="y", dataset=rows), rows, prob=True) for rows in (renamed, frame)
    )
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_order_of_columns_does_not_matter_to_the_variance_of_pairs_by_more_rows():
    """Sums in single precision, in the order of columns, changed a rounded factor in 2 of 60 tables."""
    rng = np.random.default_rng(27)
    n, p = int(rng.choice([1700, 3000, 6000])), int(rng.integers(3, 7))
    x, k = rng.normal(size=(n, p)), int(rng.integers(2, 4))
    scores = np.stack(
        [x[:, 0] * x[:, 1] * rng.normal() + np.sin(2 * x[:, 2]) * rng.normal() * 2 for _ in range(k)]
    )
    frame = pd.DataFrame(x).add_prefix("x")
    scores += rng.gumbel(size=(n, k)).T
    frame["c"] = pd.Categorical(rng.integers(0, 5, n).astype(str))
    frame["x1"] = frame["x1"].round(1)
    frame["y"] = scores.argmax(axis=0).astype(str)
    other = frame[["x2", "x1", "c", "x3", "x4", "x0", "y"]]
    found, expected = [
        bn.predict(bn.bnc(class_var="y", dataset=of), of[:300], prob=True) for of in (other, frame)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)
