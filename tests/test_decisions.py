"""Predictions under another prior and under costs, and how labels agree."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import frames, networks, smooths


def draw_prior(data, x):
    parts = data.draw(st.lists(st.integers(0, 9), min_size=len(bn.classes(x)), max_size=len(bn.classes(x))))
    shares = np.array(parts, float) if sum(parts) else np.ones(len(parts))
    return dict(zip(bn.classes(x), shares / shares.sum(), strict=True))


def draw_model(data, frame):
    structure = bn.aode("class", frame) if data.draw(st.booleans()) else data.draw(networks(frame))
    return bn.lp(structure, frame, smooth=data.draw(smooths))


@given(st.data())
def test_another_prior_is_bayes_rule(data):
    frame = data.draw(frames(max_rows=12, missing=0.2))
    x = draw_model(data, frame)
    prior = draw_prior(data, x)
    learned = bn.cpt(bn.members(x)[0], "class").to_numpy().ravel()
    expected = bn.predict(x, frame, prob=True) * np.array(list(prior.values())) / learned
    expected = expected.div(expected.sum(axis=1), axis=0)
    found = bn.predict(x, frame, prob=True, prior=prior)
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(bn.predict(x, frame, prob=True, prior=pd.Series(prior)[::-1]), found)
    nothing = pd.DataFrame(np.nan, index=[0], columns=list(bn.features(x)), dtype=object)
    assert bn.predict(x, nothing, prob=True, prior=prior).iloc[0].to_dict() == pytest.approx(prior)
    same = dict(zip(bn.classes(x), learned, strict=True))
    pd.testing.assert_frame_equal(
        bn.predict(x, frame, prob=True, prior=same), bn.predict(x, frame, prob=True)
    )


@given(st.data())
def test_decisions_that_are_not_classes(data):
    frame = data.draw(frames(max_rows=12, missing=0.2))
    x = draw_model(data, frame)
    names = bn.classes(x)
    pool = [*names, "refer", "wait"]
    decisions = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=len(pool), unique=True))
    cells = data.draw(st.lists(st.integers(-3, 9), min_size=(n := len(names) * len(decisions)), max_size=n))
    costs = pd.DataFrame(np.reshape(cells, (len(names), -1)), list(names), decisions)
    found = bn.predict(x, frame, costs=costs.iloc[::-1])
    expected = bn.predict(x, frame, prob=True).to_numpy() @ costs.to_numpy()
    of_classes = set(decisions) <= set(names)
    order = [name for name in names if name in decisions] if of_classes else decisions
    assert found.cat.categories.tolist() == list(names if of_classes else decisions)
    assert found.name == "class"
    for label, row in zip(found, expected, strict=True):
        least = [name for name in order if row[decisions.index(name)] <= row.min() + 1e-9]
        assert label == least[0]
    pd.testing.assert_series_equal(bn.predict(x, frame, costs=costs * 1e-15), found)
    usual = pd.DataFrame(1 - np.eye(len(names)), list(names), list(names))
    pd.testing.assert_series_equal(bn.predict(x, frame, costs=usual), bn.predict(x, frame))


def test_estimators_decide_on_classes_only(car):
    sklearn = pytest.importorskip("bnclassify.sklearn")
    clf = sklearn.BNCClassifier("nb", smooth=1, costs=COSTS.assign(refer=0.2))
    with pytest.raises(ValueError, match=r"costs must have classes as its columns.*; got 'refer'"):
        clf.fit(car.drop(columns="class"), car["class"])
    clf = sklearn.BNCClassifier("nb", smooth=1, costs=COSTS[["good", "acc"]]).fit(
        car.drop(columns="class"), car["class"]
    )
    assert set(clf.predict(car.drop(columns="class"))) == {"acc", "good"}


@given(frames(max_features=3), st.data())
def test_one_large_cost_does_not_make_others_equal(frame, data):
    x = bn.lp(bn.nb("class", frame), frame, smooth=1)
    names = list(bn.classes(x))
    cells = data.draw(st.lists(st.integers(0, 9), min_size=2 * len(names), max_size=2 * len(names)))
    costs = pd.DataFrame(np.reshape(cells, (-1, 2)), names, ["go", "wait"])
    large = data.draw(st.sampled_from([1e3, 1e9, 1e12, 1e100, 1.7e308]))
    decided = bn.predict(x, frame, costs=costs)
    for place in (0, 2):
        wider = costs.astype(float)
        wider.insert(place, "stop", large)
        assert bn.predict(x, frame, costs=wider).tolist() == decided.tolist()


def test_costs_of_all_sizes_are_compared_by_what_each_row_expects():
    frame = pd.DataFrame({"a": [*"xxyyx"] * 8, "y": [*"uvvvu"] * 8})
    x = bn.bnc("nb", "y", frame, smooth=1)
    largest = pd.DataFrame([[-1.7e308, 1.7e308], [1.7e308, -1.7e308]], ["u", "v"], ["u", "v"])
    assert bn.predict(x, frame, costs=largest).tolist() == bn.predict(x, frame).tolist()
    fine = 1e6 * (1 - np.eye(2)) + [[0, 0], [1e-3, 0]]  # far below 1e-9 of no cost that competes
    posteriors = bn.predict(x, frame, prob=True).to_numpy()
    expected = (posteriors @ fine).argmin(axis=1)
    found = bn.predict(x, frame, costs=pd.DataFrame(fine, ["u", "v"], ["u", "v"]))
    assert (found.cat.codes == expected).all()
    tied = pd.DataFrame([[1.0, 1.0 + 1e-12], [1.0, 1.0 - 2e-12]], ["u", "v"], ["first", "second"])
    assert set(bn.predict(x, frame, costs=tied)) == {"first"}


def test_numbers_among_objects_are_numbers():
    frame = pd.DataFrame({"f": "x", "y": [*"uv"] * 8})
    costs = pd.DataFrame([[0, 1], [5, 0.5]], [*"uv"], [*"uv"], dtype=object)
    assert bn.predict(bn.bnc("nb", "y", frame, smooth=1), {"f": "x"}, costs=costs).tolist() == ["v"]
    shares = pd.DataFrame({"a": [0.5, 0.75, 1], "b": [0.25, 0.5, 0.5]}, dtype=object)
    assert bn.compare_ranks(shares).ranks.to_dict() == {"a": 1, "b": 2}


def test_ties_count_the_sizes_of_costs_that_cancel():
    """The costs of "b" sum to 0 ± 1e-7, so that .001 is not certainly more."""
    frame = pd.DataFrame({"f": "x", "y": [*"uv"] * 8})
    x = bn.bnc("nb", "y", frame, smooth=1)
    costs = pd.DataFrame([[0.001, 1e9], [0.001, -1e9]], [*"uv"], [*"ab"])
    assert bn.predict(x, {"f": "x"}, costs=costs).tolist() == ["a"]
    assert bn.predict(x, {"f": "x"}, costs=costs[["b", "a"]]).tolist() == ["b"]
    assert bn.predict(x, {"f": "x"}, costs=costs, prior={"u": 0.4, "v": 0.6}).tolist() == ["b"]


@pytest.mark.filterwarnings("ignore:.*the class has 40 numbers")
@pytest.mark.parametrize(("n", "first"), [(2, 0), (3, 0), (40, 30)])
def test_the_first_of_classes_that_differ_by_rounding_is_predicted(n, first):
    """The logs of neighbors differ by 1.1e-10, so nine of them are tied with the last."""
    frame = pd.DataFrame({"a": ["x"] * n, "y": range(n)})
    data = bn.encode(frame, weights=1 + 1.1e-10 * np.arange(n))
    assert bn.predict(bn.lp(bn.nb("y", data), data, smooth=0), {"a": "x"}).item() == first


def test_costs_and_prior_together(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    names = list(bn.classes(x))
    prior = dict.fromkeys(names, 0.25)
    costs = pd.DataFrame(1 - np.eye(4), index=names, columns=names)
    costs.loc["vgood"] *= 20
    posteriors = bn.predict(x, car, prob=True, prior=prior)
    expected = (posteriors.to_numpy() @ costs.to_numpy()).argmin(axis=1)
    found = bn.predict(x, car, prior=prior, costs=costs)
    assert found.cat.codes.tolist() == expected.tolist()
    assert (found == "vgood").sum() > (bn.predict(x, car, prior=prior) == "vgood").sum() > 65
    assert found.cat.categories.tolist() == names
    assert bn.predict(x, car.iloc[:0], prior=prior, costs=costs).empty


EVEN = {"unacc": 0.25, "acc": 0.25, "good": 0.25, "vgood": 0.25}
COSTS = pd.DataFrame(1.0 - np.eye(4), index=list(EVEN), columns=list(EVEN))


def test_a_class_held_for_impossible_has_no_new_prior():
    frame = pd.DataFrame({"a": list("xxyy"), "k": pd.Categorical(list("ppqq"), ["p", "q", "r"])})
    x = bn.lp(bn.nb("k", frame), frame, smooth=0)
    with pytest.raises(ValueError, match="that are impossible in the model; got a positive value of 'r'"):
        bn.predict(x, frame, prior={"p": 0.4, "q": 0.4, "r": 0.2})
    found = bn.predict(x, frame, prob=True, prior={"p": 1.0, "q": 0.0, "r": 0.0})
    assert found["r"].iloc[:2].tolist() == [0, 0]
    assert found["p"].iloc[:2].tolist() == [1, 1]


@given(st.data())
def test_confusion_counts_every_row(data):
    frame = data.draw(frames(max_rows=20))
    rng = np.random.default_rng(0)
    actual = frame["class"]
    predicted = pd.Series(
        pd.Categorical(rng.choice(actual.cat.categories, len(actual)), actual.cat.categories[::-1]),
        index=actual.index,
    )
    counts = bn.confusion(predicted, actual)
    assert counts.index.tolist() == counts.columns.tolist() == list(actual.cat.categories[::-1])
    assert (counts.index.name, counts.columns.name) == ("actual", "predicted")
    for a in counts.index:
        for p in counts.columns:
            assert counts.loc[a, p] == sum((actual == a) & (predicted == p))
    assert np.trace(counts) / len(actual) == pytest.approx(bn.accuracy(predicted, actual))


def test_confusion_has_all_classes_on_both():
    counts = bn.confusion([2, 1, 2], np.array([1, 1, 3]))
    assert counts.index.tolist() == counts.columns.tolist() == [1, 2, 3]
    assert counts.to_numpy().tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 0]]
    actual = pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["b", "a", "never"]))
    assert bn.confusion(["a", "z"], actual).index.tolist() == ["b", "a", "never", "z"]
    assert bn.confusion(["a", 1], [1, "a"]).index.tolist() == [1, "a"]


def test_the_prior_of_a_class_with_parents_is_its_margin():
    rng = np.random.default_rng(0)
    levels = {"a": "xyz", "b": "pq", "k": "uv"}
    frame = pd.DataFrame({name: rng.choice(list(labels), 60) for name, labels in levels.items()})
    x = bn.lp(bn.from_modelstring("[a][k|a][b|k:a]", "k"), frame, smooth=1)
    learned = bn.cpt(x, "k").to_numpy() @ bn.cpt(x, "a").to_numpy().ravel()
    prior = {"u": 0.9, "v": 0.1}
    expected = bn.predict(x, frame, prob=True) * np.array([0.9, 0.1]) / learned
    expected = expected.div(expected.sum(axis=1), axis=0)
    pd.testing.assert_frame_equal(bn.predict(x, frame, prob=True, prior=prior), expected)
