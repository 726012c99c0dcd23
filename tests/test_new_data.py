"""New data that differ from the training data: ranges of numbers, unseen values, other indexes."""

import re

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")

from bnclassify.sklearn import BNCClassifier, BNCMultiClassifier, MDLPDiscretizer, RareLevelMerger


@pytest.fixture(scope="module")
def people():
    """Return rows with a number, with a number without a cut point, with codes and with text."""
    rng = np.random.default_rng(0)
    weight = rng.normal(70, 10, 200).round(1)
    frame = pd.DataFrame({"weight": weight, "noise": rng.integers(18, 90, 200)})
    frame["code"], frame["sex"] = rng.integers(0, 4, 200), rng.choice(["f", "m"], 200)
    frame["ill"] = np.where(weight + 5 * rng.normal(size=200) > 70, "yes", "no")
    return frame


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"smooth": 1, "discretize": "mdlp"},
        {"smooth": 1, "discretize": "averaged"},
        {"smooth": 1, "numbers": "gaussian"},
        {"smooth": 1, "numbers": "kernel"},
    ],
    ids=str,
)
def test_a_model_knows_the_ranges_of_training_values(people, how, tmp_path):
    """They include a column that the model dropped, because no cut point was found."""
    model = bn.bnc("nb", "ill", people, **how)
    ends = people[["weight", "noise", "code"]].agg(["min", "max"]).astype(float)
    expected = {name: (low, high) for name, (low, high) in ends.items()}
    assert dict(model.training_ranges) == expected
    bn.save(model, tmp_path / "model.json")
    assert dict(bn.load(tmp_path / "model.json").training_ranges) == expected


def test_ranges_follow_the_rows_of_a_model(people):
    """An update widens them, a table of effects keeps them, and a row of weight 0 does not count."""
    model = bn.bnc("nb", "ill", people, smooth=1, discretize="mdlp")
    grown = bn.update(model, people.assign(weight=people["weight"] + 100))
    low, high = model.training_ranges["weight"]
    assert grown.training_ranges["weight"] == (low, high + 100)
    assert bn.scorecard(model).training_ranges["weight"] == (low, high)
    far = pd.concat([people, people.head(1).assign(weight=400)], ignore_index=True)
    weights = np.append(np.ones(len(people)), 0.0)
    rows = bn.encode(far, weights=weights)
    assert bn.bnc("nb", "ill", rows, smooth=1, numbers="gaussian").training_ranges["weight"] == (low, high)


JOBS = ["007", "12-a", "Zürich", "clerk", "nurse", "true"]
WRONG = ["7", " 12-A", "Zu\u0308rich", "Clerk.", "nurse\xa0", "TRUE"]


@pytest.fixture(scope="module")
def staff():
    """Return rows of which the class depends on the job."""
    jobs = np.repeat(JOBS, 30)
    return pd.DataFrame({"job": jobs, "y": np.where(np.arange(180) % 6 < pd.factorize(jobs)[0], "u", "v")})


@pytest.mark.parametrize("wrong", WRONG)
def test_a_value_that_reads_like_a_level_is_reported(staff, wrong):
    """The warning comes from the estimator and from `predict`, also of one value among many."""
    X = staff[["job"]].assign(number=np.arange(180) % 7)
    new = X.copy()
    new.loc[0, "job"] = wrong
    level = JOBS[WRONG.index(wrong)]
    said = re.escape(f"such as {wrong!r}, are not among the levels of the model") + f".* the level {level!r}"
    classifier = BNCClassifier("nb", smooth=1).fit(X, staff["y"])
    with pytest.warns(UserWarning, match="'job': 0.56 % of the known values, " + said):
        classifier.score(new, staff["y"])
    model = bn.bnc("nb", "y", staff, smooth=1)
    for ask in (bn.predict, bn.explain):
        with pytest.warns(UserWarning, match="'job': all of the known values, " + said):
            ask(model, {"job": wrong}, unseen="missing")


@pytest.mark.filterwarnings("error")
def test_values_merged_as_rare_are_reported_if_they_read_like_a_kept_level(staff):
    rows = pd.concat([staff, pd.DataFrame({"job": ["cook"], "y": ["u"]})], ignore_index=True)
    model = bn.bnc("nb", "y", rows, smooth=1, min_count=5)
    said = "such as 'Nurse', .* merged into 'other'. 'Nurse' reads like the level 'nurse'"
    for ask in (
        lambda frame: bn.predict(model, frame),
        bn.preparation(model),
        RareLevelMerger(min_count=5).fit(rows[["job"]]).transform,
    ):
        with pytest.warns(UserWarning, match=said):
            ask(pd.DataFrame({"job": ["Nurse", "cook", "pilot"]}))
        ask(pd.DataFrame({"job": ["nurse", "cook", "pilot"]}))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", [{}, {"discretize": "mdlp"}, {"numbers": "gaussian"}], ids=str)
def test_numbers_far_from_those_of_training_are_reported(people, how):
    """They lie outside the range by more than its width, in more than a tenth of the rows."""
    model = bn.bnc("nb", "ill", people, smooth=None if not how else 1, **how)
    low, high = people["weight"].min(), people["weight"].max()
    new = people.head(20).copy()
    new.loc[:1, "weight"] = 2 * high - low + 0.1
    bn.predict(model, new)  # a tenth
    new.loc[:2, "weight"] = 2 * high - low
    bn.predict(model, new)  # one more, but by the width
    new.loc[:2, "weight"] = 2 * low - high - 0.1
    said = (
        rf"'weight': 15 % of the known values, such as -?\d+\S*, are far outside .* {low:.6g} to {high:.6g}\."
    )
    with pytest.warns(UserWarning, match=said) as found:
        bn.predict(model, new)
    assert len(found) == 1
    with pytest.warns(UserWarning, match="'weight': all of the known values, such as 5000, are far"):
        bn.explain(model, {"weight": 5000})


def test_a_discretizer_reports_numbers_far_from_those_of_training(people):
    X = people[["weight"]]
    cutter = MDLPDiscretizer().fit(X, people["ill"])
    with pytest.warns(UserWarning, match="'weight': all of the known values, .* are far outside"):
        cutter.transform(X * 1000)


@pytest.mark.parametrize(
    "kind", ["Float64", "Int64", "boolean", "string", "object", "float64", "datetime64[ns]"]
)
def test_an_empty_column_of_any_type_is_missing(people, kind):
    """A file in which a column is empty has another type of this column than a full one."""
    X, y = people.drop(columns="ill"), people["ill"]
    empty = X.head(3).assign(sex=pd.array([None] * 3, dtype=kind))
    for unseen in ("missing", "error"):
        classifier = BNCClassifier("nb", smooth=1, handle_unknown=unseen).fit(X, y)
        expected = classifier.predict_proba(X.head(3).assign(sex=pd.Series([None] * 3, dtype=object)))
        np.testing.assert_array_equal(classifier.predict_proba(empty), expected)
    some = X.head(3).assign(sex=[1.0, np.nan, np.nan])
    with pytest.warns(UserWarning, match="X has numbers in 'sex', and text in training"):
        BNCClassifier("nb", smooth=1).fit(X, y).predict(some)


def test_labels_and_weights_in_another_order_of_rows_are_refused(people):
    X, y = people.drop(columns="ill"), people["ill"]
    shuffled, weights = (
        y.sample(frac=1, random_state=1),
        pd.Series(1.0, X.index).sample(frac=1, random_state=1),
    )
    classes = pd.DataFrame({"ill": shuffled, "sex": X["sex"].reindex(shuffled.index)})
    coded = X[["code", "noise"]]
    classifier = BNCClassifier("nb", smooth=1).fit(X, y)
    several = BNCMultiClassifier("mbc").fit(coded, classes.loc[X.index])
    cutter = MDLPDiscretizer()
    for call, name in (
        (lambda: BNCClassifier("nb", smooth=1).fit(X, shuffled), "y"),
        (lambda: classifier.score(X, shuffled), "y"),
        (lambda: classifier.score(X, y, weights), "sample_weight"),
        (lambda: cutter.fit(X[["weight"]], shuffled), "y"),
        (lambda: cutter.fit_transform(X[["weight"]], shuffled), "y"),
        (lambda: BNCMultiClassifier("mbc").fit(coded, classes), "y"),
        (lambda: several.score(coded, classes), "y"),
        (lambda: several.score(coded, classes.loc[X.index], weights), "sample_weight"),
    ):
        said = rf"{name} must have the index of the data; .* Align it, with {name}\.loc\[X\.index\]"
        with pytest.raises(ValueError, match=said):
            call()
    labels = y.to_numpy()
    with pytest.raises(ValueError, match="weights must have the index of the data"):
        bn.accuracy(pd.Series(labels, X.index), labels, weights=weights)
    model = bn.bnc("nb", "ill", people[["sex", "ill"]], smooth=1)
    groups = pd.Series(np.arange(200) // 4, X.index).sample(frac=1, random_state=1)
    with pytest.raises(ValueError, match="groups must have the index of the data"):
        bn.summary(model, people, k=2, by="sex", groups=groups)
    # Other labels of rows are ignored, as in scikit-learn.
    renamed = shuffled.set_axis(range(200, 400))
    expected = BNCClassifier("nb", smooth=1).fit(X, shuffled.to_numpy()).predict_proba(X)
    np.testing.assert_array_equal(BNCClassifier("nb", smooth=1).fit(X, renamed).predict_proba(X), expected)


@pytest.mark.parametrize("learner", ["hc", "ban"])
def test_networks_that_need_complete_rows_have_a_level_of_missing_values(people, learner):
    X, y = people[["weight", "sex"]], people["ill"]
    gaps = X.assign(weight=X["weight"].mask(np.arange(200) % 7 == 0))
    model = BNCClassifier(learner, smooth=1).fit(gaps, y).model_
    assert bn.values(model)["weight"][-1] == "(missing)"
    with pytest.raises(ValueError, match="dataset must have no missing values"):
        BNCClassifier(learner, smooth=1, missing_level=False).fit(gaps, y)


def test_a_series_is_one_row_for_the_estimator(people):
    X, y = people.drop(columns="ill"), people["ill"]
    classifier = BNCClassifier("nb", smooth=1).fit(X, y)
    expected = classifier.predict_proba(X.iloc[[3]])
    np.testing.assert_array_equal(classifier.predict_proba(X.iloc[3]), expected)
    np.testing.assert_array_equal(classifier.predict_proba(people.iloc[3]), expected)
    with (
        pytest.raises(ValueError, match=r"2-dimensional|2D"),
        pytest.warns(UserWarning, match="feature names"),
    ):
        classifier.predict(X["weight"])


def test_evidence_can_name_a_column_that_is_called_nan(staff):
    plain = bn.bnc("nb", "y", staff, smooth=1)
    model = bn.bnc("nb", "y", staff.rename(columns={"job": np.nan}), smooth=1)
    expected = bn.query(plain, ["y"], {"job": "nurse"})
    pd.testing.assert_series_equal(bn.query(model, ["y"], {np.nan: "nurse"}), expected)


@pytest.mark.parametrize(
    ("zeros", "others", "found"),
    [(20, (18, 91), True), (2, (18, 91), False), (20, (1, 91), False), (20, (5, 500), False)],
)
def test_a_zero_far_below_positive_numbers_can_stand_for_a_missing_value(zeros, others, found):
    rng = np.random.default_rng(0)
    values = np.r_[np.zeros(zeros), rng.integers(*others, 400)]
    table = bn.check_data(pd.DataFrame({"v": values, "y": rng.choice(["a", "b"], len(values))}), "y")
    said = "the number 0, which can stand for a missing value"
    assert (said in table["finding"].tolist()) == found


@pytest.mark.filterwarnings("ignore:'a'. 300 values in 600 rows")
def test_few_new_labels_have_the_codes_of_a_model_with_many():
    """Codes of up to 127 take a byte, in which 200 would be -56."""
    frame = pd.DataFrame({"a": [f"v{i}" for i in range(300)] * 2, "y": list("ppq") * 200})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    every = bn.predict(x, frame, prob=True)
    for i in (5, 199, 299):
        found = bn.predict(x, pd.DataFrame({"a": [f"v{i}"]}), prob=True)
        np.testing.assert_array_equal(found, every.iloc[[i]])
