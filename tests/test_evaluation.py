"""Predictions and scores."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify import accessors

from .oracles import joint_by_hand
from .strategies import frames, graphs, networks, smooths


@given(st.data())
def test_posteriors_and_scores_follow_from_the_product(data):
    frame = data.draw(frames(max_rows=12))
    x = bn.lp(data.draw(st.one_of(networks(frame), graphs(frame))), frame, smooth=data.draw(smooths))
    joint = np.array([[joint_by_hand(x, row, c) for c in bn.classes(x)] for _, row in frame.iterrows()])
    posterior = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(bn.predict(x, frame, prob=True), posterior, rtol=1e-9)
    codes = frame["class"].cat.codes.to_numpy()
    rows = np.arange(len(frame))
    assert bn.loglik(x, frame) == pytest.approx(np.log(joint[rows, codes]).sum(), rel=1e-9)
    assert bn.cloglik(x, frame) == pytest.approx(np.log(posterior[rows, codes]).sum(), rel=1e-9, abs=1e-12)
    assert bn.AIC(x, frame) == pytest.approx(bn.loglik(x, frame) - bn.nparams(x))
    assert bn.BIC(x, frame) == pytest.approx(bn.loglik(x, frame) - np.log(len(frame)) / 2 * bn.nparams(x))


@given(frames(max_features=3), smooths)
def test_an_ensemble_averages_the_joints_of_its_members(frame, smooth):
    x = bn.lp(bn.aode("class", frame), frame, smooth=smooth)
    joint = np.array(
        [
            [np.mean([joint_by_hand(m, row, c) for m in bn.members(x)]) for c in bn.classes(x)]
            for _, row in frame.iterrows()
        ]
    )
    np.testing.assert_allclose(
        bn.predict(x, frame, prob=True), joint / joint.sum(axis=1, keepdims=True), rtol=1e-9
    )


@given(frames(max_features=2), smooths)
def test_a_network_is_a_distribution(frame, smooth):
    x = bn.lp(bn.tan_cl("class", frame), frame, smooth=smooth)
    every = pd.DataFrame(product(*(bn.values(x)[v] for v in x.variables)), columns=list(x.variables))
    total = sum(np.exp(bn.loglik(x, every.iloc[[i]])) for i in range(len(every)))
    assert total == pytest.approx(1)


def test_predict_returns_labels_on_the_index(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    rows = car.sample(20, random_state=0)
    labels = bn.predict(x, rows)
    assert labels.index.equals(rows.index)
    assert labels.name == "class"
    assert labels.cat.categories.tolist() == list(bn.classes(x))
    posterior = bn.predict(x, rows, prob=True)
    assert posterior.index.equals(rows.index)
    assert posterior.columns.tolist() == list(bn.classes(x))
    assert posterior.idxmax(axis=1).tolist() == labels.tolist()
    np.testing.assert_allclose(posterior.sum(axis=1), 1)


def test_predict_of_no_rows(car):
    for x in (bn.lp(bn.nb("class", car), car, smooth=1), bn.lp(bn.aode("class", car), car, smooth=1)):
        assert bn.predict(x, car.iloc[:0]).empty
        assert bn.predict(x, car.iloc[:0], prob=True).shape == (0, 4)
        assert bn.predict(x, pd.DataFrame(columns=car.columns)).empty


def test_new_data_is_matched_by_label(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    expected = bn.predict(x, car, prob=True)
    text = car.astype(str)[list(reversed(car.columns))].assign(extra=1.5)
    for same in (text, car.drop(columns="class"), bn.encode(car)):
        pd.testing.assert_frame_equal(bn.predict(x, same, prob=True), expected)
    one = car.iloc[[5]].apply(lambda s: s.cat.remove_unused_categories())
    pd.testing.assert_frame_equal(bn.predict(x, one, prob=True), expected.iloc[[5]])


def test_impossible_rows_are_uniform_and_ties_go_to_the_first_class():
    frame = pd.DataFrame({"a": list("xxyy"), "b": list("xxyy"), "c": list("ppqq")})
    x = bn.lp(bn.nb("c", frame), frame, smooth=0)
    never = pd.DataFrame({"a": ["x"], "b": ["y"], "c": ["q"]})
    assert bn.predict(x, never, prob=True).to_numpy().tolist() == [[0.5, 0.5]]
    assert bn.predict(x, never).tolist() == ["p"]
    assert bn.loglik(x, never) == -np.inf
    assert bn.cloglik(x, never) == pytest.approx(np.log(0.5))


@pytest.mark.slow
def test_many_features_do_not_underflow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (50, 1000)), columns=[f"x{i}" for i in range(1000)])
    frame["class"] = rng.integers(0, 2, 50)
    x = bn.lp(bn.tan_cl("class", frame), frame, smooth=1)
    np.testing.assert_allclose(bn.predict(x, frame, prob=True).sum(axis=1), 1)


def test_scores_of_no_rows(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    for score in (bn.loglik, bn.cloglik, bn.AIC, bn.BIC):
        for rows in (car.iloc[:0], lambda: iter([car.iloc[:0]])):
            with pytest.raises(ValueError, match="dataset must have at least one row"):
                score(x, rows)


def test_accuracy():
    assert bn.accuracy(["a", "b", "a"], np.array(["a", "b", "b"])) == pytest.approx(2 / 3)
    assert bn.accuracy(pd.Series(pd.Categorical(["a"], ["b", "a"])), pd.Series(["a"])) == 1


def test_cmi_of_a_column_without_values_is_0(car):
    empty = car.assign(buying=pd.Categorical([None] * len(car)))
    assert bn.cmi("buying", "safety", empty) == bn.cmi("buying", "safety", empty, z="class") == 0


def test_cmi_conditions_units_and_errors(car, voting):
    nats = bn.cmi("buying", "safety", car, z=["class", "persons"])
    assert bn.cmi("buying", "safety", car, z=("class", "persons"), unit="log2") == pytest.approx(
        nats / np.log(2)
    )
    assert bn.cmi("buying", "buying", car) == pytest.approx(np.log(4))
    observed = voting[["crime", "immigration", "Class"]].dropna()
    assert bn.cmi("crime", "immigration", voting, z="Class") == bn.cmi(
        "crime", "immigration", observed, z="Class"
    )


@pytest.mark.filterwarnings("ignore:the network has")
def test_many_levels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": np.arange(500) % 499, "a": rng.integers(0, 40, 500), "b": rng.integers(0, 3, 500)}
    )
    frame["class"] = rng.integers(0, 2, 500)
    with pytest.warns(UserWarning, match="'id': more levels than half of the known values"):
        x = bn.lp(bn.tan_cl("class", frame), frame, smooth=1)
    assert bn.accuracy(bn.predict(x, frame), frame["class"]) > 0.9


def test_single_rows_levels_and_features():
    frame = pd.DataFrame({"a": ["x"], "b": ["y"], "c": ["p"]})
    for learn in (bn.nb, bn.tan_cl, bn.aode):
        x = bn.lp(learn("c", frame), frame, smooth=1)
        assert bn.predict(x, frame).tolist() == ["p"]
        assert bn.loglik(x, frame) == pytest.approx(0)
    alone = bn.lp(bn.tan_cl("c", frame[["a", "c"]]), frame, smooth=0)
    assert bn.is_nb(alone)
    prior = bn.lp(bn.nb("c"), frame, smooth=0)
    assert bn.predict(prior, frame[[]], prob=True).to_numpy().tolist() == [[1.0]]


@pytest.mark.parametrize(
    "verb",
    [
        lambda x, frame: bn.predict(x, frame, prob=True),
        lambda x, frame: bn.cv(x, frame, k=2, rng=0),
        lambda x, frame: bn.AIC(x, frame),
        lambda x, frame: bn.tan_hc("class", frame, k=2, smooth=1),
        lambda x, frame: bn.lp(x, frame, smooth=1, wanbia=True),
    ],
)
def test_a_number_for_each_row_and_class_must_have_room(verb, car, monkeypatch):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    monkeypatch.setattr(accessors, "_MOST_CELLS", 1_000)
    with pytest.raises(ValueError, match="merge rare classes"):
        verb(x, car)


@pytest.mark.slow
def test_labels_are_the_same_in_blocks_of_rows(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    costs = pd.DataFrame(1 - np.eye(4), bn.classes(x), bn.classes(x))
    prior = dict.fromkeys(bn.classes(x), 0.25)
    whole = [bn.predict(x, car, costs=costs), bn.predict(x, car, prior=prior)]
    rows = np.random.default_rng(0).integers(len(car), size=2**16 + 100)  # more than fit in a block
    many = car.iloc[rows]
    pd.testing.assert_series_equal(bn.predict(x, many, costs=costs), whole[0].iloc[rows])
    pd.testing.assert_series_equal(bn.predict(x, many, prior=prior), whole[1].iloc[rows])
