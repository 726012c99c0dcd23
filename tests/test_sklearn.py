"""The estimator for scikit-learn: its own checks, its tools around ours, and data of all kinds."""

import pickle
import sys
import warnings
from copy import copy
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import bnclassify as bn

from .conftest import informative_gaps
from .strategies import frames, smooths

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")

from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from bnclassify.sklearn import BNCClassifier, BNCMultiClassifier, MDLPDiscretizer, RareLevelMerger


def plain(learner="tan_cl", smooth=1, **options):
    """A classifier of categories alone, one network with plain tables."""
    return BNCClassifier(learner, smooth, **{"discretize": None, "handle_unknown": "error", **options})


# What fails among scikit-learn's checks, and why it shall.
EXPECTED = {
    "check_positive_only_tag_during_fit": "makes categories negative by taking their mean off, which leaves "
    "fractions; that negative whole numbers are taken is tested below",
    "check_sample_weight_equivalence_on_dense_data": "weighs rows of fractions; categories are tested below",
    "check_classifiers_one_label_sample_weights": "does, too",
}
CASES = {
    "check_sample_weight_equivalence_on_dense_data": "weighs rows of numbers, each of which is a case "
    "of any weight, unless weights are frequencies"
}
GREEDY = {"check_fit2d_1sample": "says that k is out of range, for one row cannot be dealt into folds"}


@pytest.fixture
def X(car):
    return car.drop(columns="class")


@pytest.fixture
def y(car):
    return car["class"]


@pytest.mark.filterwarnings("ignore:classes with fewer rows than k")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        pytest.param(BNCClassifier(), CASES, marks=pytest.mark.slow),
        pytest.param(plain(), EXPECTED, marks=pytest.mark.slow),
        pytest.param(plain("nb", smooth=0), EXPECTED, marks=pytest.mark.slow),
        pytest.param(plain("aode", handle_unknown="missing"), EXPECTED, marks=pytest.mark.slow),
        pytest.param(
            plain("tan_hc", dag_args={"k": 2}, random_state=0), EXPECTED | GREEDY, marks=pytest.mark.slow
        ),
        (plain("nb", discretize="mdlp", weights_are="frequencies"), {}),
    ],
    ids=lambda value: value.learner if isinstance(value, BNCClassifier) else "",
)
def test_scikit_learn_checks(estimator, expected):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert len(results) > 50
    assert set(failed) == set(expected), failed


@informative_gaps
@given(st.data(), st.sampled_from(["nb", "tan_cl", "aode"]), smooths)
def test_figures_are_those_of_the_functions(data, learner, smooth):
    frame = data.draw(frames(missing=0.2))
    features, labels = frame.drop(columns="class"), frame["class"]
    clf = plain(learner, smooth).fit(features, labels)
    assert clf.classes_.tolist() == sorted(labels.unique())
    present = frame.assign(**{"class": labels.cat.set_categories(clf.classes_)})
    x = bn.bnc(learner, "class", present, smooth=smooth)
    posterior = bn.predict(x, frame, prob=True).to_numpy()
    np.testing.assert_array_equal(clf.predict_proba(features), posterior)
    np.testing.assert_allclose(clf.predict_log_proba(features), np.log(posterior))
    assert clf.predict(features).tolist() == bn.predict(x, frame).tolist()
    assert clf.score(features, labels) == bn.accuracy(bn.predict(x, frame), labels)
    if learner != "aode":
        assert bn.modelstring(clf.model_) == bn.modelstring(x)


@pytest.mark.filterwarnings("ignore:No feature improves")
@pytest.mark.parametrize(
    ("options", "lp_args", "rng"),
    [
        ({"learner": bn.tan_cl, "dag_args": {"score": "aic"}}, {}, None),
        ({"learner": "nb"}, {"manb_prior": 0.4}, None),
        ({"learner": "nb"}, {"awnb_trees": 3, "awnb_bootstrap": 0.7}, 7),
        ({"learner": "tan_hc", "dag_args": {"k": 2, "smooth": 0.1}}, {}, 7),
        ({"learner": "fssj", "dag_args": {"k": 2, "rng": 3}}, {}, 3),
    ],
)
def test_arguments_reach_learner_and_lp(X, y, options, lp_args, rng):
    clf = plain(**options, smooth=0.5, lp_args=lp_args, random_state=rng).fit(X, y.astype(str))
    learner, dag_args = options["learner"], dict(options.get("dag_args", {}))
    if learner in ("tan_hc", "fssj"):
        dag_args["rng"] = rng
    frame = X.assign(**{"class": y.astype(str)})
    x = bn.bnc(learner, "class", frame, smooth=0.5, dag_args=dag_args, rng=rng, **lp_args)
    np.testing.assert_array_equal(clf.predict_proba(X), bn.predict(x, X, prob=True))
    assert bn.modelstring(clf.model_) == bn.modelstring(x)


def test_random_state_of_every_kind(X, y):
    def fitted(random_state):
        clf = plain("nb", lp_args={"awnb_trees": 2}, random_state=random_state)
        return clf.fit(X, y).predict_proba(X)

    for make in (np.random.default_rng, np.random.RandomState):
        np.testing.assert_array_equal(fitted(make(5)), fitted(make(5)))
    assert not np.array_equal(fitted(np.random.RandomState(1)), fitted(np.random.RandomState(2)))


@pytest.mark.parametrize("learner", ["nb", "tan_cl"])
def test_cross_validation_agrees_with_cv(car, X, y, learner):
    folds = bn.stratified_folds(y, 5, rng=1)
    x = bn.bnc(learner, "class", car, smooth=1)
    ours = bn.cv(x, car, folds=folds, mean=False)[0]
    theirs = cross_val_score(plain(learner), X, y, cv=PredefinedSplit(folds))
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)


def test_grid_search(X, y):
    grid = [
        {"learner": ["nb", bn.aode], "smooth": [0.1, 1]},
        {"learner": ["tan_cl"], "dag_args": [None, {"score": "bic"}], "lp_args": [None, {"missing": "em"}]},
    ]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(plain(), grid, cv=folds, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    best = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(best.predict_proba(X), search.predict_proba(X))
    assert search.best_score_ > cross_val_score(plain("nb"), X, y, cv=folds).mean()


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_measurements_go_through_a_discretizer(output):
    measured, species = load_iris(return_X_y=True, as_frame=True)
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="uniform")
    pipe = make_pipeline(bins, plain(dag_args={"score": "bic"})).set_output(transform=output)
    assert cross_val_score(pipe, measured, species, error_score="raise").mean() > 0.9
    clf = pipe.fit(measured, species)[-1]
    with pytest.raises(TypeError, match=r"pipeline\[-1\], and transformed rows, pipeline\[:-1\]\.transform"):
        bn.explain(pipe, measured.head(2))
    rows = pd.DataFrame(pipe[:-1].transform(measured.head(2))).set_axis(bn.features(clf.model_), axis=1)
    assert len(bn.explain(pipe[-1], rows)) == 10
    assert bn.class_var(clf.model_) == "target"
    assert bn.features(clf.model_) == (
        tuple(measured.columns) if output == "pandas" else ("x0", "x1", "x2", "x3")
    )


@informative_gaps
def test_codes_of_an_encoder_say_the_same_as_the_labels(voting):
    features, labels = voting.drop(columns="Class"), voting["Class"]
    assert features.isna().any(axis=None)
    usual = plain().fit(features, labels).predict_proba(features)
    encoded = make_pipeline(OrdinalEncoder(), plain()).fit(features, labels)
    np.testing.assert_allclose(encoded.predict_proba(features), usual)


def test_codes_of_unknown_labels():
    train = pd.DataFrame({"a": ["u", "v", "u", "v"], "b": ["r", "r", "s", "s"]})
    strange = pd.DataFrame({"a": ["w", "u"], "b": ["s", None]})
    missing = strange.replace("w", None)
    y = [0, 1, 1, 1]
    for code in (-1, np.nan):
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=code)
        pipe = make_pipeline(encoder, plain(handle_unknown="missing")).fit(train, y)
        np.testing.assert_array_equal(pipe.predict_proba(strange), pipe.predict_proba(missing))
    strict = make_pipeline(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), plain()).fit(
        train, y
    )
    with pytest.raises(ValueError, match=r"column 'x0': -1 not among the levels"):
        strict.predict(strange)


def test_unseen_values(X, y):
    text = X.astype(str)
    seen = text["safety"] != "low"
    clf = plain().fit(text[seen], y[seen])
    for method in (clf.predict, clf.predict_proba, clf.predict_log_proba):
        with pytest.raises(ValueError, match="column 'safety': 'low' not among"):
            method(text)
    clf.set_params(handle_unknown="missing")
    expected = clf.predict_proba(text.assign(safety=None)[~seen])
    np.testing.assert_array_equal(clf.predict_proba(text)[~seen], expected)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(text)[~seen]), expected)
    declared = plain().fit(X[seen], y[seen])  # of type category, so that "low" is a level
    assert bn.values(declared.model_)["safety"] == ("low", "med", "high")
    assert declared.predict(X).shape == (len(X),)
    clf.set_params(handle_unknown="ignore")
    with pytest.raises(ValueError, match="handle_unknown must be one of 'error', 'missing'; got 'ignore'"):
        clf.predict_log_proba(text)


N = None
COLUMNS = {
    "int": np.array([[0, 1], [1, 1], [2, 0]]),
    "negative": np.array([[-1, 1], [0, 1], [-7, 0]]),
    "bool": np.array([[False, True], [True, True], [True, False]]),
    "float": np.array([[0, 1], [1, np.nan], [2, 0.0]]),
    "float32": np.array([[0, 1], [1, np.nan], [2, 0.0]], dtype=np.float32),
    "text": np.array([["a", "nan"], ["a", "b"], ["c", "b"]]),
    "object": np.array([["a", 1], [N, 2], [np.nan, pd.NA]], dtype=object),
    "objects of floats": np.array([[1.0, True], [N, N], [2, False]], dtype=object),
    "lists": [["a", 1.0], ["b", np.nan], [N, 0.0]],
    "lists of text": [["a", float("nan")], ["b", "x"], ["a", "y"]],
    "category": pd.DataFrame({"v": pd.Categorical(["b", "a", N], ["c", "b", "a"]), "w": ["ü ü", "", N]}),
    "Int64": pd.DataFrame({"v": [1, N, 2], "w": [0, 0, 1]}, dtype="Int64"),
    "Float64": pd.DataFrame({"v": [1, N, 2], "w": [0, 0, 1]}, dtype="Float64"),
    "boolean": pd.DataFrame({"v": [True, N, False], "w": [N, True, False]}, dtype="boolean"),
    "string": pd.DataFrame({"v": ["a", N, "b"], "w": ["a", "b", N]}, dtype="string"),
    "floats for gaps": pd.DataFrame({"v": [3, np.nan, 1], "w": ["a", "b", N]}),
    "index": pd.DataFrame({"v": [3.0, np.nan, 1], "w": ["a", "b", N]}, index=["i", "i", "j"]),
    "numbered": pd.DataFrame([["a", "b"], ["a", N], ["c", "d"]], columns=[7, 3]),
    "intervals": pd.DataFrame({"v": pd.cut([1, 2, 9], [0, 3, 10]), "w": [1, 1, 0]}),
}


@informative_gaps
@pytest.mark.filterwarnings("ignore:column '(size|count)'. .* not among the levels")
@given(st.data(), st.sampled_from(["mdlp", "quantile", "width", "mixed"]), st.integers(2, 4))
def test_numbers_are_cut_by_what_fit_sees(data, method, bins):
    frame = data.draw(frames(missing=0.2))
    rng = np.random.default_rng(len(frame))
    frame.insert(0, "size", rng.normal(size=len(frame)).round(1))
    frame.insert(1, "count", pd.array(rng.integers(0, 5, len(frame)), dtype="Int64"))
    clf = plain("nb", discretize=method, bins=bins, handle_unknown="missing")
    clf.fit(frame.drop(columns="class"), frame["class"])
    cut, discretizer = bn.discretize(frame, class_var="class", method=method, bins=bins)
    cut["class"] = cut["class"].cat.set_categories(clf.classes_)
    assert clf.discretizer_ == discretizer
    x = bn.lp(bn.nb("class", cut), cut, smooth=1)
    new = frame.assign(size=frame["size"] * 9, count=frame["count"] - 7).drop(columns="class")
    np.testing.assert_array_equal(
        clf.predict_proba(new), bn.predict(x, discretizer(new), prob=True, unseen="missing").to_numpy()
    )


@pytest.mark.slow
def test_cutting_is_no_leak_and_can_be_searched_for():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 500)), np.repeat(["ill", "well"], 30)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    fair = cross_val_score(plain("nb", discretize="mdlp"), X, y, cv=folds).mean()
    cut, _ = bn.discretize(pd.DataFrame(X).add_prefix("x").assign(y=y), class_var="y")
    leaky = cross_val_score(plain("nb"), cut.drop(columns="y"), y, cv=folds).mean()
    assert fair < 0.7 < leaky
    grid = {"discretize": ["mdlp", "quantile"], "bins": [2, 3]}
    search = GridSearchCV(plain("nb"), grid, cv=folds, error_score="raise").fit(X[:, :3], y)
    assert search.best_estimator_.discretizer_.method == search.best_params_["discretize"]


def test_columns_without_a_cut_are_left_out(car, X, y):
    noise = X.assign(noise=np.random.default_rng(0).normal(size=len(X)), empty=np.nan)
    clf = plain(discretize="mdlp").fit(noise, y)
    assert clf.discretizer_.uncut == ("noise", "empty")
    assert bn.features(clf.model_) == tuple(X.columns)
    np.testing.assert_array_equal(clf.predict_proba(noise), plain().fit(X, y).predict_proba(X))
    alone = plain(discretize="mdlp").fit(noise[["noise", "empty"]], y)
    assert bn.features(alone.model_) == ("noise", "empty")
    assert set(alone.predict(noise[["noise", "empty"]])) == {"unacc"}


def test_a_class_among_the_features_is_told(car):
    other = car.assign(**{"class": car["doors"]})
    assert plain("nb").fit(other, car["class"]).model_.class_var == "class_"


def test_without_cutting_there_is_no_discretizer(X, y):
    clf = plain("nb", discretize="mdlp").fit(X.assign(age=np.arange(len(X)) / 2), y)
    assert clf.discretizer_.columns == ("age",)
    clf.set_params(discretize=None).fit(X, y)
    assert clf.discretizer_ is None
    assert len(clf.predict(X)) == len(X)


@pytest.mark.parametrize("data", COLUMNS.values(), ids=COLUMNS)
def test_kinds_of_columns(data):
    """Each holds what the same values give as text in a data frame."""
    labels = ["yes", "no", "yes"]
    rows = data.to_numpy(dtype=object) if isinstance(data, pd.DataFrame) else data
    text = pd.DataFrame([[N if pd.isna(v) else str(v).removesuffix(".0") for v in row] for row in rows])
    before = data.copy() if isinstance(data, pd.DataFrame) else None
    clf = plain("nb", lp_args={"missing": "available"}).fit(data, labels)
    if before is not None:
        pd.testing.assert_frame_equal(data, before)
    frame = text.set_axis(bn.features(clf.model_), axis=1)
    levels = bn.values(clf.model_)
    for name in frame:
        frame[name] = pd.Categorical(frame[name], [str(v).removesuffix(".0") for v in levels[name]])
    x = bn.bnc("nb", "class", frame.assign(**{"class": labels}), smooth=1)
    np.testing.assert_allclose(clf.predict_proba(data), bn.predict(x, frame, prob=True))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([1, 0, 1], [0, 1]),
        ([True, False, True], [False, True]),
        ([1.0, 0.0, 1.0], [0.0, 1.0]),
        (["b", "a ü", "b"], ["a ü", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        (pd.Series(pd.Categorical(["b", "a", "b"], ["b", "z", "a"])), ["a", "b"]),
        (pd.Series([2, 1, 2], dtype="category"), [1, 2]),
        (pd.Series(["b", "a", "b"], dtype="string"), ["a", "b"]),
        (pd.Series([2, 1, 2], dtype="Int64"), [1, 2]),
        (pd.Series([True, False, True], dtype="boolean", index=[5, 5, 6]), [False, True]),
        (["only"] * 3, ["only"]),
    ],
    ids=str,
)
def test_kinds_of_labels(labels, classes):
    clf = plain(smooth=0.01).fit([["u"], ["v"], ["u"]], labels)
    assert clf.classes_.tolist() == classes
    assert [type(c) for c in clf.classes_.tolist()] == [type(c) for c in classes]
    assert bn.classes(clf.model_) == tuple(classes)
    assert clf.predict([["u"], ["v"], ["u"]]).tolist() == list(labels)
    assert clf.predict([["v"]]).dtype == clf.classes_.dtype
    assert clf.predict_proba([["v"]]).shape == (1, len(classes))


@pytest.mark.parametrize(
    ("columns", "name", "expected"),
    [
        (["a", "b"], "outcome", "outcome"),
        (["a", "outcome"], "outcome", "class"),
        (["class", "class_"], "class", "class__"),
        (["self", "y"], None, "class"),
        (["a", "b"], 0, "class"),
    ],
)
def test_class_gets_a_name_that_no_feature_has(columns, name, expected):
    data = pd.DataFrame([["u", 1.0], ["v", 0.0], ["u", 0.0]], columns=columns)
    clf = plain().fit(data, pd.Series([1, 0, 1], name=name, index=[9, 8, 7]))
    assert clf.model_.variables == (*columns, expected)
    assert clf.predict(data).tolist() == [1, 0, 1]


@pytest.mark.parametrize("container", [pd.array, pd.Series, pd.Index])
@pytest.mark.parametrize(
    ("labels", "dtype", "kind"),
    [([1, 2], "Int64", "i"), ([True, False], "boolean", "b"), ([2, 1], "category", "i")],
)
def test_classes_of_nullable_types_keep_their_type(container, labels, dtype, kind):
    clf = plain("nb").fit([["a"], ["b"]] * 3, container(labels * 3, dtype=dtype))
    assert clf.classes_.dtype.kind == kind
    assert clf.classes_.tolist() == sorted(labels)
    assert clf.predict([["a"]]).tolist() == labels[:1]
    with pytest.raises(ValueError, match="y must have no missing values; got 1"):
        plain("nb").fit([["a"], ["b"]], container([labels[0], None], dtype=dtype))


def test_names_and_number_of_features(X, y):
    clf = plain()
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.fit(X, y)
    assert clf.n_features_in_ == 6
    assert clf.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(ValueError, match="same order"):
        clf.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="now missing:\n- doors"):
        clf.predict(X.drop(columns="doors"))
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (clf.predict(X.to_numpy()) == clf.predict(X)).all()
    clf.fit(X.to_numpy(), y)  # once more, without names
    assert not hasattr(clf, "feature_names_in_")
    assert bn.features(clf.model_) == ("x0", "x1", "x2", "x3", "x4", "x5")
    with pytest.raises(ValueError, match="X has 5 features, but BNCClassifier is expecting 6"):
        clf.predict(X.to_numpy()[:, :5])


def test_no_rows_have_no_predictions(X, y):
    for data in (X, X.to_numpy()):
        clf = plain().fit(data, y)
        assert clf.predict(data[:0]).shape == (0,)
        assert clf.predict_proba(data[:0]).shape == clf.predict_log_proba(data[:0]).shape == (0, 4)


def test_log_probabilities_too_small_for_a_float():
    data = np.repeat([[0], [1]], 800, axis=1)
    log = plain("nb", smooth=1e-3).fit(data, ["a", "b"]).predict_log_proba(data)
    # Each feature is θ = 1.001/1.002 under the right class and 0.001/1.002 under the other.
    assert log[0] == pytest.approx([0, -800 * np.log(1.001 / 0.001)])


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("bnclassify.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    needed = r"^bnclassify.sklearn requires scikit-learn 1.6 or later. Run pip install 'scikit-learn>=1.6'.$"
    with pytest.raises(ImportError, match=needed):
        import_module("bnclassify.sklearn")


def test_prior_and_costs_are_those_of_predict(X, y):
    names = sorted(y.unique())
    prior = dict.fromkeys(names, 0.25)
    costs = pd.DataFrame(1 - np.eye(4), index=names, columns=names)
    costs.loc["unacc"] *= 9
    clf = plain("nb", prior=prior, costs=costs).fit(X, y)
    labels = bn.predict(clf.model_, X, prior=prior, costs=costs)
    assert clf.predict(X).tolist() == labels.tolist()
    posteriors = bn.predict(clf.model_, X, prob=True, prior=prior)
    np.testing.assert_allclose(clf.predict_proba(X), posteriors)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), posteriors)
    usual = plain("nb").fit(X, y)
    assert (usual.predict(X) != clf.predict(X)).any()
    tried = [plain("nb", costs=table) for table in (None, costs, costs.T)]
    assert len({cross_val_score(one, X, y, cv=3).mean() for one in tried}) == 3
    again = clone(clf)
    assert again.costs.equals(costs)
    assert again.fit(X, y).predict(X).tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("learner", "dag_args"), [("anb", {"parents": {}}), ("tan_hc", {"k": 2}), ("ande", {}), ("chisq_dn", {})]
)
def test_learners_that_require_more_accept_numbers(learner, dag_args):
    measured = load_iris(as_frame=True).frame.iloc[::3]
    features, labels = measured.drop(columns="target"), measured["target"].astype(str)
    clf = BNCClassifier(learner, 1, dag_args=dag_args, random_state=0).fit(features, labels)
    assert clf.score(features, labels) > 0.85


def test_without_arguments_it_is_the_most_accurate():
    measured = load_iris(as_frame=True).frame
    features, labels = measured.drop(columns="target"), measured["target"].astype(str)
    clf = BNCClassifier().fit(features, labels)
    frame = features.assign(**{"class": labels.astype("category")})
    same = bn.bnc(class_var="class", dataset=frame)
    np.testing.assert_allclose(clf.predict_proba(features), bn.predict(same, features, prob=True))
    np.testing.assert_array_equal(bn.predict(clf.model_, features, prob=True), clf.predict_proba(features))
    assert len(clf.discretizer_.cuts) == 4
    strange = features.head(1).assign(**{features.columns[0]: [1e9]})
    assert clf.predict(strange).tolist() == ["0"]
    assert not BNCClassifier(pairs=0).fit(features, labels).model_.pairs


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, "default settings"),
        ({"learner": "tan_cl", "random_state": 3}, "lp(backoff=True)"),
        ({"learner": "aode"}, "lp(backoff=True)"),
        ({"learner": "ande"}, "lp(smooth=1)"),
        ({"learner": "chisq_dn"}, "lp(smooth=1)"),
        ({"learner": "tan_cl", "smooth": 2}, "lp(smooth=2)"),
        ({"learner": "nb", "lp_args": {"m": 1, "held_out": "weights"}}, "lp(m=1, held_out='weights')"),
        ({"learner": "nb", "lp_args": {"wanbia": True}}, "lp(smooth=1, wanbia=True)"),
    ],
)
def test_parameters_by_kind(X, y, options, parameters):
    model = BNCClassifier(**options).fit(X[::9], y[::9]).model_
    step = model.recipe.parameters
    assert str(step) == parameters


# Several class variables.


@pytest.mark.slow
def test_scikit_learn_checks_of_several_outputs():
    results = check_estimator(BNCMultiClassifier("mbc"), on_fail=None, on_skip=None)
    assert len(results) > 50
    assert not {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}


def test_several_outputs_are_those_of_predict(votes):
    names = ["crime", "Class"]
    X, y = votes.drop(columns=names), votes[names]
    model = bn.lp(bn.mbc(names, votes), votes, smooth=2)
    for joint in (False, True):
        clf = BNCMultiClassifier("mbc", smooth=2, joint=joint).fit(X, y)
        expected = bn.predict(model, votes, joint=joint)
        assert (clf.predict(X) == expected.to_numpy()).all()
        assert clf.score(X, y) == pytest.approx(bn.exact_match(expected, votes))
        for own, name in zip(clf.predict_proba(X), names, strict=True):
            np.testing.assert_allclose(own, bn.predict(model, votes, prob=True)[name], rtol=1e-9)
    weights = np.arange(len(X))
    right = (clf.predict(X) == y.to_numpy()).all(axis=1)
    assert clf.score(X, y, sample_weight=weights) == pytest.approx(np.average(right, weights=weights))


def test_several_outputs_of_numbers_in_a_grid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0]).astype(int)
    search = GridSearchCV(BNCMultiClassifier(), {"learner": ["chain", "maode"], "bins": [2, 6]}, cv=4)
    assert search.fit(X, y).best_score_ > 0.7
    assert search.best_params_["bins"] == 6
    assert search.predict(X).dtype == y.dtype
    assert pickle.loads(pickle.dumps(search.best_estimator_)).score(X, y) == search.score(X, y)


def test_weights_are_rows_repeated(car):
    weights = np.random.default_rng(0).integers(0, 4, len(car))
    features, labels = car.drop(columns="class"), car["class"].astype(str)
    repeated = np.repeat(np.arange(len(car)), weights)
    for learner in ("nb", "tan_cl", "aode"):
        mine = plain(learner).fit(features, labels, sample_weight=weights)
        other = plain(learner).fit(features.iloc[repeated], labels.iloc[repeated])
        np.testing.assert_allclose(mine.predict_proba(features), other.predict_proba(features), rtol=1e-12)


@pytest.mark.slow
def test_any_weights_are_taken_where_nothing_is_cut(car):
    weights = np.random.default_rng(0).uniform(0, 3, len(car))
    labels, features = car["class"].astype(str), car.drop(columns="class")
    codes = features.assign(doors=features["doors"].cat.codes + 1, same=7)
    backoff = {"backoff": True, "held_out": "weights"}  # the default reads codes as numbers
    for some, lp_args in ((features.astype(str), None), (codes, backoff)):
        settings = {"learner": "nb", "lp_args": lp_args}
        mine = BNCClassifier(discretize="mdlp", **settings).fit(some, labels, sample_weight=weights)
        twice = clone(mine).fit(some, labels, sample_weight=weights * 2**40)
        cut = some.drop(columns="same", errors="ignore")
        other = BNCClassifier(discretize=None, **settings).fit(cut, labels, sample_weight=weights)
        assert mine.model_.features == other.model_.features == twice.model_.features
        # the order of rows in sums depends on the contents of all columns
        np.testing.assert_allclose(mine.predict_proba(some), other.predict_proba(cut), rtol=1e-9)


@pytest.mark.parametrize(
    "discretize", ["averaged", "mdlp", "quantile", pytest.param("auto", marks=pytest.mark.slow)]
)
def test_weighted_numbers_are_rows_repeated(discretize):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, weights = X.iloc[:, :4], np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    network = {"learner": "kdb_mi", "smooth": 1, "dag_args": {"kdbk": 1}}
    options = {"discretize": discretize, **network} if discretize != "auto" else {}
    mine = BNCClassifier(**options, weights_are="frequencies").fit(X, y, sample_weight=weights)
    other = BNCClassifier(**options).fit(X.iloc[repeated], y.iloc[repeated])
    assert mine.discretizer_.points == other.discretizer_.points
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-9)


def test_weights_with_fractions_are_cases_in_any_unit(car):
    X, y = car.drop(columns="class"), car["class"].astype(str)
    weights = np.random.default_rng(0).uniform(0.5, 1, len(car)) / len(car)
    size = weights.sum() ** 2 / np.square(weights).sum()  # the effective number of rows
    counts = weights * size / weights.sum()
    expected = plain("nb", weights_are="frequencies").fit(X, y, sample_weight=counts).predict_proba(X)
    for unit in (1, 2**40):
        found = plain("nb").fit(X, y, sample_weight=unit * weights)
        np.testing.assert_allclose(found.predict_proba(X), expected, rtol=1e-9)
    for constant in (0.3, 1):
        weighted = plain("nb").fit(X, y, sample_weight=np.full(len(car), constant))
        np.testing.assert_array_equal(weighted.predict_proba(X), plain("nb").fit(X, y).predict_proba(X))


def test_whole_weights_of_numbers_are_cases():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, weights = X.iloc[:, :4], np.random.default_rng(1).integers(1, 4, len(y))
    options = {"learner": "kdb_mi", "smooth": 1, "discretize": "mdlp"}
    mine = BNCClassifier(**options).fit(X, y, sample_weight=weights).predict_proba(X)
    cases = BNCClassifier(**options, weights_are="cases").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(mine, cases.predict_proba(X))
    scaled = BNCClassifier(**options).fit(X, y, sample_weight=10 * weights)
    np.testing.assert_allclose(mine, scaled.predict_proba(X), rtol=1e-12)


def test_rows_of_weight_0_are_ignored_with_their_groups():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2, :2], y[::2]
    groups, used = np.arange(len(y)) // 4, np.arange(len(y)) % 3 > 0
    found = BNCClassifier().fit(X, y, sample_weight=used.astype(float), groups=groups)
    expected = BNCClassifier().fit(X[used], y[used], groups=groups[used])
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    apart = BNCClassifier().fit(X[used], y[used])
    assert not np.array_equal(found.predict_proba(X), apart.predict_proba(X))
    with pytest.raises(ValueError, match="groups must be None unless held_out is"):
        BNCClassifier("nb").fit(X, y, groups=groups)


def test_joint_log_probabilities(X, y):
    clf = plain("tan_cl").fit(X, y)
    joint = clf.predict_joint_log_proba(X.assign(safety=None))
    total = logsumexp(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(joint - total, clf.predict_log_proba(X.assign(safety=None)), atol=1e-12)
    rows = X.assign(**{clf.model_.class_var: y})
    at = np.searchsorted(clf.classes_, y)
    found = clf.predict_joint_log_proba(X)[np.arange(len(X)), at]
    np.testing.assert_allclose(found, bn.loglik(clf.model_, rows, by_row=True), rtol=1e-12)
    prior = dict(zip(clf.classes_, [0.4, 0.3, 0.2, 0.1], strict=True))
    other = plain("nb", prior=prior).fit(X, y)
    codes = OrdinalEncoder().fit_transform(X)
    theirs = CategoricalNB(alpha=1, class_prior=[0.4, 0.3, 0.2, 0.1]).fit(codes, y)
    np.testing.assert_allclose(
        other.predict_joint_log_proba(X), theirs.predict_joint_log_proba(codes), rtol=1e-12
    )
    with pytest.raises(TypeError, match=r"predict_joint_log_proba: .* does not define a joint"):
        BNCClassifier().fit(X[::40], y[::40]).predict_joint_log_proba(X)


def test_libraries_change_names_and_try_out_a_row_of_zeros(X, y):
    """A copy without names accepts arrays; numbers in columns of text are missing values."""
    wine, cultivar = load_wine(return_X_y=True, as_frame=True)
    clf = BNCClassifier("nb").fit(wine, cultivar)
    unnamed = copy(clf)
    unnamed.feature_names_in_ = None
    np.testing.assert_array_equal(unnamed.predict_proba(wine.to_numpy()), clf.predict_proba(wine))
    text = plain("nb", handle_unknown="missing").fit(X.astype(str), y)
    zeros = np.zeros((1, X.shape[1]))
    proportions = bn.predict(text.model_, dict.fromkeys(X), prob=True)
    unnamed = copy(text)
    unnamed.feature_names_in_ = None
    np.testing.assert_array_equal(unnamed.predict_proba(zeros), proportions)
    with pytest.warns(UserWarning, match="X has numbers in 'safety', and text in training, .* missing"):
        text.predict(X.astype(str).head(2).assign(safety=[1, 2]))
    with pytest.raises(ValueError, match="column 'safety': 1, 2 not among the levels"):
        text.set_params(handle_unknown="error").predict(X.astype(str).head(2).assign(safety=[1, 2]))


def test_attributes_can_be_saved_by_other_libraries(X, y):
    """Formats that trust arrays and plain values have none of pandas."""
    odd = X.assign(n=pd.array([1, None] * (len(X) // 2) + [1] * (len(X) % 2), dtype="Int64"), x=0.5)
    clf = BNCClassifier("nb", smooth=1).fit(odd, y)
    kinds = {type(value).__module__.partition(".")[0] for value in vars(clf).values()}
    assert "pandas" not in kinds
    assert clf.feature_importances_[-1] == 0


MESSAGE = {"check_dtype_object"}  # expects other words for a dict in a column of numbers
NAMELESS = pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")


@pytest.mark.slow
@NAMELESS
@pytest.mark.parametrize(
    ("transformer", "expected"),
    [(MDLPDiscretizer(), MESSAGE), (RareLevelMerger(1), set())],
    ids=["mdlp", "nothing rare"],
)
def test_scikit_learn_checks_of_transformers(transformer, expected):
    results = check_estimator(transformer, on_fail=None, on_skip=None)
    assert {r["check_name"] for r in results if r["status"] == "failed"} == expected
    assert "check_n_features_in" in {r["check_name"] for r in results if r["status"] == "passed"}
    estimator_checks.check_set_output_transform_pandas(type(transformer).__name__, transformer)
    estimator_checks.check_get_feature_names_out_error(type(transformer).__name__, transformer)


@NAMELESS
def test_discretizer_in_a_pipeline():
    wines, cultivar = load_wine(return_X_y=True, as_frame=True)
    transformer = MDLPDiscretizer().fit(wines, cultivar)
    assert transformer.get_feature_names_out().tolist() == wines.columns.tolist()
    expected, discretizer = bn.discretize(
        wines.assign(cultivar=cultivar), class_var="cultivar", columns=list(wines.columns)
    )
    assert transformer.discretizer_ == discretizer
    codes = expected[list(wines.columns)].apply(lambda column: column.cat.codes)
    np.testing.assert_array_equal(transformer.transform(wines.to_numpy()), codes)
    shuffled = wines.sample(frac=1, random_state=0)
    shown = transformer.set_output(transform="pandas").transform(shuffled.assign(hue=np.nan))
    assert shown.index.equals(shuffled.index)
    assert shown["hue"].isna().all()
    intervals = MDLPDiscretizer(encode="interval").fit(wines, cultivar).transform(wines)
    pd.testing.assert_frame_equal(intervals, expected[list(wines.columns)])
    pipe = make_pipeline(MDLPDiscretizer(), CategoricalNB(min_categories=9))
    assert cross_val_score(pipe, wines, cultivar, cv=5, error_score="raise").mean() > 0.95


def test_merger_in_a_pipeline():
    visits = pd.DataFrame({"town": ["Aden"] * 4 + ["Bari"] * 3 + ["Cork", "Dover", None], "km": 0.5})
    merger = RareLevelMerger(3).fit(visits)
    frame, expected = bn.merge_rare(visits, min_count=3)
    assert merger.merger_ == expected
    assert merger.get_feature_names_out().tolist() == ["town", "km"]
    pd.testing.assert_frame_equal(merger.transform(visits), frame)
    array = merger.set_output(transform="default").transform(visits.iloc[6:])
    assert array["town"].tolist()[:3] == ["Bari", "other", "other"]
    plain = RareLevelMerger(3).fit(visits.to_numpy())
    assert plain.transform(visits.to_numpy())[6:9, 0].tolist() == ["Bari", "other", "other"]
    pipe = make_pipeline(RareLevelMerger(3), BNCClassifier("nb", smooth=1)).set_output(transform="pandas")
    pipe.fit(visits[["town"]], [1, 0] * 5)
    assert bn.values(pipe[-1].model_)["town"] == ("Aden", "Bari", "other")


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
@pytest.mark.parametrize("form", [pd.DataFrame, np.asarray])
def test_merged_whole_numbers_are_text(form, output):
    if output == "polars":
        pytest.importorskip("polars", reason="polars is not installed; the extra test has it")
    X, y = form(pd.DataFrame({"code": [1, 2, 3] * 9 + [4], "on": [True] * 27 + [False]})), list("pq") * 14
    for last in (BNCClassifier("nb", smooth=1), OneHotEncoder()):
        pipe = make_pipeline(RareLevelMerger(9).set_output(transform=output), last).fit(X, y)
    merged = pipe[0].transform(X)
    labels = merged.iloc[:, 0] if isinstance(merged, pd.DataFrame) else merged[:, 0]
    assert list(labels) == ["1", "2", "3"] * 9 + ["other"]


@pytest.mark.parametrize("learner", ["nb", "ande"])
def test_importances_are_mean_contributions(car, learner):
    some = car.sample(190, random_state=0).reset_index(drop=True)
    X, y = some.drop(columns="class"), some["class"].astype(str)
    clf = plain(learner).fit(X, y)
    table = bn.explain(clf.model_, X)["log_odds"].abs().groupby(level="variable").mean()
    expected = table[X.columns] / table[X.columns].sum()
    np.testing.assert_allclose(clf.feature_importances_, expected, atol=1e-12)
    assert clf.feature_importances_.sum() == pytest.approx(1)


def test_importances_of_columns_that_are_dropped(X, y):
    noise = X.assign(noise=np.random.default_rng(0).normal(size=len(X)))
    clf = plain("nb", discretize="mdlp").fit(noise, y)
    assert clf.feature_importances_[-1] == 0
    assert clf.feature_importances_.argmax() == list(X.columns).index("safety")
    selected = SelectFromModel(clone(clf), threshold=0.2).fit(noise, y).get_feature_names_out()
    assert selected.tolist() == ["persons", "safety"]
    alone = plain("nb").fit(X, ["a"] * len(X))
    assert alone.feature_importances_.tolist() == [0] * 6
    assert not hasattr(plain("nb"), "feature_importances_")


def test_arguments_of_the_learner_in_grids(X, y):
    base = plain("tan_cl", dag_args={"root": "safety"})
    assert base.get_params()["dag_args__root"] == "safety"
    assert "dag_args__root" not in base.get_params(deep=False)
    changed = clone(base).set_params(dag_args__score="bic", lp_args__missing="em", smooth=2)
    assert changed.dag_args == {"root": "safety", "score": "bic"}
    assert (changed.lp_args, changed.smooth) == ({"missing": "em"}, 2)
    assert base.dag_args == {"root": "safety"}
    grid = {"dag_args__score": ["loglik", "aic", "bic"]}
    search = GridSearchCV(plain("tan_cl"), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_estimator_.dag_args == {"score": search.best_params_["dag_args__score"]}
    scores = search.cv_results_["mean_test_score"]
    for score, found in zip(grid["dag_args__score"], scores, strict=True):
        direct = cross_val_score(plain("tan_cl", dag_args={"score": score}), X, y, cv=3)
        assert found == direct.mean()
    with pytest.raises(ValueError, match="Invalid parameter 'dag_arg'"):
        base.set_params(dag_arg__score="bic")
    with pytest.raises(TypeError, match="scor"):
        plain("tan_cl").set_params(dag_args__scor="bic").fit(X, y)


def test_objects_that_are_all_bools_are_bools(X, y):
    good = (y != "unacc").astype(object)
    clf = plain("nb").fit(X, good)
    assert clf.classes_.dtype == bool
    np.testing.assert_array_equal(clf.predict(X), plain("nb").fit(X, good.astype(bool)).predict(X))
    assert plain("nb").fit(X, np.arange(len(X)).astype(object) % 2).classes_.tolist() == [0, 1]
    both = BNCMultiClassifier("mbc").fit(
        X, pd.DataFrame({"good": good, "bad": ~good.astype(bool)}, dtype=object)
    )
    assert [classes.dtype for classes in both.classes_] == [bool, bool]


def test_warnings_are_given_once_and_not_per_fold():
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(60)], "b": ["u", "v"] * 30})
    labels = np.repeat(["n", "y"], 30)
    clf = BNCClassifier("nb", smooth=1, missing_level=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_score(clf, frame, labels, cv=5)
        line = sys._getframe().f_lineno - 1
    subjects = [str(warning.message).partition(",")[0] for warning in caught]
    assert subjects.count("'id': all values differ") == 1
    assert subjects.count("column 'id': all of the known values") == 1
    assert {(warning.filename, warning.lineno) for warning in caught} == {(__file__, line)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_val_score(clf, frame, labels, cv=5)
    assert sum("'id': all values differ" in str(warning.message) for warning in caught) == 5


def test_labels_that_scikit_learn_does_not_accept_are_named():
    numbers = pd.Series(range(40))
    X = pd.DataFrame({"a": numbers % 5})
    for y, name in [(pd.cut(numbers, 3), "Interval"), (pd.Series([1, "b"] * 20), "'int', 'str'")]:
        with pytest.raises(ValueError, match=f"y must be text, integers or bools; got '?{name}.* y.astype"):
            BNCClassifier().fit(X, y)
        assert set(plain("nb").fit(X, y.astype(str)).predict(X)) <= set(y.astype(str))


def test_groups_and_time_splits_are_folds(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    groups = np.repeat(np.arange(12), 144)
    by_group = GroupKFold(4).split(car, groups=groups)
    theirs = cross_val_score(
        plain("nb"), car.drop(columns="class"), car["class"], groups=groups, cv=GroupKFold(4)
    )
    np.testing.assert_allclose(bn.cv(x, car, folds=by_group, mean=False)[0], theirs)
    rows = car.sample(frac=1, random_state=0).reset_index(drop=True)
    judged = bn.cv(x, rows, folds=TimeSeriesSplit(3).split(rows), mean=False)
    found, sizes = judged[0], judged.attrs["cv"]
    assert (sizes["train_size"], sizes["test_size"]) == (864, 432)
    for accuracy, (train, test) in zip(found, TimeSeriesSplit(3).split(rows), strict=True):
        model = bn.bnc("nb", "class", rows.iloc[train], smooth=1)
        assert accuracy == bn.accuracy(bn.predict(model, rows.iloc[test]), rows["class"].iloc[test])
    out = bn.cv_predict(x, car, folds=GroupKFold(4).split(car, groups=groups))
    assert out.shape == (len(car), 4)
    with pytest.raises(ValueError, match="folds must test every row once; 432 of 1728 rows are never tested"):
        bn.cv_predict(x, rows, folds=TimeSeriesSplit(3).split(rows))
    with pytest.raises(ValueError, match="must not learn from rows that they test"):
        bn.cv(x, car, folds=[([0, 1], [1, 2]), ([0], [5])])


RECIPES = {
    "nb": lambda car: bn.lp(bn.nb("class", car), car, smooth=2),
    "tan": lambda car: bn.lp(bn.tan_cl("class", car, score="bic", root="doors"), car, ess=3),
    "anb": lambda car: bn.lp(bn.anb("class", {"maint": ["buying", "safety"]}, car), car, smooth=1),
    "features": lambda car: bn.lp(bn.nb("class", car, features=["safety", "doors"]), car, smooth=1),
    "search": lambda car: bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 2, "rng": 3}),
    "manb": lambda car: bn.lp(bn.nb("class", car), car, smooth=1, manb_prior=0.3),
    "weights": lambda car: bn.lp(bn.kdb_mi("class", car, kdbk=3), car, backoff=True, held_out="weights"),
    "aode": lambda car: bn.bnc("aode", "class", car),
    "structure": lambda car: bn.kdb_mi("class", car, kdbk=1),
    "learner": lambda car: bn.bnc(alone, "class", car, smooth=1),
}


def alone(class_var, dataset):
    """A learner of the user's own."""
    return bn.nb(class_var, dataset, features=["safety"])


@pytest.mark.parametrize("name", RECIPES)
def test_an_estimator_repeats_the_recipe_of_a_model(car, name):
    x = RECIPES[name](car)
    clf = BNCClassifier.from_model(x)
    assert hasattr(clf, "model_") == x.fitted
    labels = car["class"].astype(str)
    fitted = clone(clf).fit(car.drop(columns="class"), labels)
    if not x.fitted:
        assert bn.families(fitted.model_) == bn.families(x)
        return
    rows = car.drop(columns="class").head(50)
    expected = bn.predict(x, rows, prob=True)[list(fitted.classes_)]
    np.testing.assert_allclose(fitted.predict_proba(rows), expected, atol=1e-9)


@pytest.mark.slow
def test_an_estimator_repeats_the_preparation_of_a_model():
    pima = bn.load_pima()
    for settings in (
        {"dag_learner": "nb", "smooth": 1, "discretize": "quantile", "bins": 3, "missing_level": True},
        {"dag_learner": "tan_cl", "smooth": 1, "numbers": "gaussian"},
        {"dag_learner": "kdb_mi", "backoff": True, "discretize": "mdlp", "dag_args": {"kdbk": 1}},
        {},
        {"dag_learner": "aode"},
    ):
        x = bn.bnc(class_var="diabetes", dataset=pima, **settings)
        fitted = BNCClassifier.from_model(x).fit(pima.drop(columns="diabetes"), pima["diabetes"])
        found = fitted.predict_proba(pima.drop(columns="diabetes"))
        np.testing.assert_allclose(found, bn.predict(x, pima, prob=True), atol=1e-9)


@pytest.mark.parametrize(
    "name", [pytest.param("the default", marks=pytest.mark.slow), "numbers", "text", "subset"]
)
def test_an_estimator_predicts_by_a_loaded_model(car, tmp_path, name):
    frame, target = (car, "class") if name in ("text", "subset") else (bn.load_pima(), "diabetes")
    settings = {
        "the default": {},
        "numbers": {"dag_learner": "nb", "smooth": 1, "numbers": "gaussian"},
        "text": {"dag_learner": "tan_cl", "smooth": 1},
        "subset": {"dag_learner": "nb", "smooth": 1, "dag_args": {"features": ["safety", "persons"]}},
    }[name]
    bn.save(bn.bnc(class_var=target, dataset=frame, **settings), tmp_path / "x.json")
    x = bn.load(tmp_path / "x.json")
    clf = BNCClassifier.from_model(x)
    X = frame[clf.feature_names_in_]
    assert set(X) == ({"safety", "persons"} if name == "subset" else {*frame} - {target})
    assert clf.classes_.tolist() == sorted(bn.classes(x))
    expected = bn.predict(x, frame, prob=True)[clf.classes_.tolist()]
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    np.testing.assert_allclose(clf.predict_log_proba(X), np.log(expected), rtol=1e-9)
    assert clf.predict(X).tolist() == bn.predict(x, frame).tolist()
    assert clf.score(X, frame[target].astype(str)) == bn.accuracy(bn.predict(x, frame), frame[target])
    assert not hasattr(clf, "feature_importances_")
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame)
    assert len(clf.fit(X, frame[target].astype(str)).feature_importances_) == X.shape[1]


@pytest.mark.filterwarnings("ignore")
def test_the_default_of_several_outputs_is_not_worse_than_no_label():
    """Flares are rare: the share of correct labels of plain naive Bayes is below that of the majority."""
    flares = bn.load_solar_flare()
    names = [name for name in flares if name.endswith("flares")]
    train, test = flares.iloc[::2], flares.iloc[1::2]
    for name in names:
        test = test[test[name].isin(set(train[name]))]
    X, y, rows, actual = train.drop(columns=names), train[names], test.drop(columns=names), test[names]
    majority = float((actual.astype(str) == y.astype(str).mode().iloc[0]).to_numpy().mean())
    losses, shares = {}, {}
    for name, settings in {"default": {}, "mbc": {"learner": "mbc"}, "plain": {"lp_args": {}}}.items():
        clf = BNCMultiClassifier(**settings).fit(X, y)
        shares[name] = float((clf.predict(rows) == actual.to_numpy()).mean())
        posteriors = clf.predict_proba(rows)
        at = [np.searchsorted(labels, actual[c]) for labels, c in zip(clf.classes_, names, strict=True)]
        n = np.arange(len(rows))
        losses[name] = -np.mean([np.log(p[n, i]) for p, i in zip(posteriors, at, strict=True)])
    assert losses["default"] < min(losses["mbc"], losses["plain"])
    assert shares["plain"] < majority - 0.03
    assert shares["default"] > majority - 0.01


def test_functions_read_frames_with_integer_names_as_the_estimator_does():
    y = pd.Series(["a", "b"] * 30)
    frame = pd.DataFrame({0: ["u", "v", "v"] * 20, 1: ["p", "q"] * 29 + ["q", "p"]})
    clf = BNCClassifier("nb", smooth=1).fit(frame, y)
    assert bn.features(clf.model_) == (0, 1)
    posteriors = clf.predict_proba(frame)
    np.testing.assert_array_equal(bn.predict(clf, frame, prob=True), posteriors)
    named = BNCClassifier("nb", smooth=1).fit(frame.rename(columns="f{}".format), y)
    np.testing.assert_array_equal(named.predict_proba(frame.rename(columns="f{}".format)), posteriors)
    assert list(bn.explain(clf, frame.iloc[0]).index) == ["class", 0, 1]
    assert list(bn.drift(clf, frame).index) == [0, 1, "(score)"]
    np.testing.assert_array_equal(clf.predict_proba(frame.to_numpy()), posteriors)
    with pytest.raises(ValueError, match=r"columns in the order of fit, 0, 1; got \[1, 0\]"):
        clf.predict(frame[[1, 0]])
