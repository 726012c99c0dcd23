"""The value of finding out a missing value, by enumeration of its values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.scores import Rows, scores_at

from .conftest import informative_gaps
from .oracles import posterior_by_enumeration
from .strategies import KINDS, fitted_models, frames
from .zoo import case, some_women


def entropy(p):
    return float(-sum(share * np.log(share) for share in p if share > 0))


def by_enumeration(x, row, costs):
    """Compute both values of each missing feature from posteriors that are sums over all complete rows."""
    now = posterior_by_enumeration(x, row.to_frame().T)[0]
    rows = {}
    for name in [name for name in bn.features(x) if pd.isna(row[name])]:
        evidence = {v: row[v] for v in bn.features(x) if not pd.isna(row[v])}
        chances = bn.query(x, name, evidence)
        filled = pd.DataFrame([row.astype(object).where(row.index != name, value) for value in chances.index])
        then = posterior_by_enumeration(x, filled)
        gain = entropy(now) - sum(p * entropy(q) for p, q in zip(chances, then, strict=True))
        least = (then @ costs.to_numpy()).min(axis=1)
        rows[name] = gain, (now @ costs.to_numpy()).min() - chances.to_numpy() @ least
    return pd.DataFrame.from_dict(rows, orient="index", columns=["gain", "cost_reduction"]).astype(float)


@informative_gaps
@given(frames(missing=0.5, max_features=4), st.data())
def test_values_are_those_of_enumeration(frame, data):
    assume(len(frame["class"].cat.categories) > 1)
    x = data.draw(fitted_models(frame, KINDS[:-1]))
    names = bn.classes(x)
    cells = data.draw(st.lists(st.integers(0, 9), min_size=2 * len(names), max_size=2 * len(names)))
    costs = pd.DataFrame(np.reshape(cells, (-1, 2)), list(names), [names[0], "refer"])
    row = frame.iloc[0].astype(object)
    expected = by_enumeration(x, row, costs)
    found = bn.value_of_information(x, row.to_frame().T)
    assert list(found.columns) == ["gain"]
    assert found.index.name == "feature"
    with_costs = bn.value_of_information(x, row.to_frame().T, costs=costs)
    assert list(with_costs.columns) == ["gain", "cost_reduction"]
    assert sorted(found.index) == sorted(expected.index)
    np.testing.assert_allclose(found["gain"], expected.loc[found.index, "gain"], atol=1e-9)
    np.testing.assert_allclose(with_costs, expected.loc[with_costs.index], atol=1e-9)
    assert (with_costs >= 0).all(axis=None)
    for table in (found, with_costs):
        pairs = zip(table.iloc[:, -1], table.iloc[1:, -1], strict=False)
        assert all(first >= second - 1e-9 for first, second in pairs)


def test_ties_are_in_column_order():
    frame = pd.DataFrame({"b": list("xyxy") * 5, "a": list("xyxy") * 5, "k": list("pqqp") * 5})
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    assert bn.value_of_information(x, {"b": None}).index.tolist() == ["b", "a"]
    assert bn.value_of_information(x, frame.iloc[0]).shape == (0, 1)


def test_models_without_a_joint_distribution_use_their_own_posteriors(car):
    x = bn.lp(bn.kdb_mi("class", car), car, backoff=True, held_out="weights")
    row = {"safety": "high", "buying": "low", "doors": "4"}
    found = bn.value_of_information(x, row)
    [tree] = x.value_formulas
    names, codes = bn.features(x), np.full((6, 3), -1)
    for name, value in row.items():
        codes[names.index(name)] = bn.values(x)[name].index(value)
    codes[names.index("persons")] = range(3)
    joint = np.exp(scores_at(tree, Rows(codes)))
    now = bn.predict(x, row, prob=True).to_numpy()[0]
    chances = (joint / joint.sum(axis=0)) @ now
    then = bn.predict(x, [row | {"persons": v} for v in bn.values(x)["persons"]], prob=True).to_numpy()
    gain = entropy(chances @ then) - sum(p * entropy(q) for p, q in zip(chances, then, strict=True))
    assert found["gain"]["persons"] == pytest.approx(gain)


@pytest.mark.slow
def test_numbers():
    pima = bn.load_pima()
    x = bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp")
    y = bn.bnc("nb", "diabetes", bn.preparation(x)(pima), smooth=1)
    row = {"age": 31.0, "bmi": 28.0}
    coded = bn.preparation(x)(pima.head(1).assign(**row)).iloc[0][list(row)].to_dict()
    pd.testing.assert_frame_equal(bn.value_of_information(x, row), bn.value_of_information(y, coded))
    z = bn.bnc("nb", "diabetes", pima, smooth=1, numbers="gaussian")
    found = bn.value_of_information(z, row)["gain"]
    grid = np.linspace(-100, 400, 2001)
    posterior = bn.predict(z, [row | {"glucose": v} for v in grid], prob=True).to_numpy()
    table, now = bn.cpt(z, "glucose"), bn.predict(z, row, prob=True).to_numpy()[0]
    shares = np.array(
        [np.exp(-((grid - m) ** 2) / s**2 / 2) / s for m, s in zip(table["mean"], table["sd"], strict=True)]
    )
    chances = now @ shares / np.sum(now @ shares)
    gain = entropy(now) - sum(p * entropy(q) for p, q in zip(chances, posterior, strict=True))
    assert found["glucose"] == pytest.approx(gain, abs=1e-5)
    default = bn.bnc("kdb_mi", "diabetes", pima.head(300), dag_args={"kdbk": 1})
    table = bn.value_of_information(default, some_women().iloc[0])
    assert sorted(table.index) == sorted(bn.features(default))
    assert (table["gain"] > -0.01).all()


def test_numbers_whose_spread_depends_on_the_class():
    """The points are closer together around 0, where both classes have some."""
    rng = np.random.default_rng(0)
    numbers = np.append(rng.normal(0, 1, 200), rng.normal(0, 10, 200))
    frame = pd.DataFrame({"y": ["a"] * 200 + ["b"] * 200, "v": numbers, "w": list("st") * 200})
    x = bn.bnc("nb", "y", frame, smooth=1, numbers="gaussian")
    table, now = bn.cpt(x, "v"), bn.predict(x, {"w": "s"}, prob=True).to_numpy()[0]
    z = (np.linspace(-100, 100, 20_001)[:, None] - table["mean"].to_numpy()) / table["sd"].to_numpy()
    joint = now * np.exp(-(z**2) / 2) / table["sd"].to_numpy()
    chances = joint.sum(axis=1) / joint.sum()
    then = [entropy(p) for p in joint / joint.sum(axis=1, keepdims=True)]
    found = bn.value_of_information(x, {"w": "s"})["gain"]["v"]
    assert found == pytest.approx(entropy(now) - chances @ then, abs=1e-4)


def test_a_missing_value_is_unknown_even_if_it_is_a_level(voting):
    x = bn.bnc("nb", "Class", voting, smooth=1, missing_level=True)
    row = voting.iloc[0].astype(object)
    lacking = [name for name in bn.features(x) if pd.isna(row[name])]
    assert lacking == bn.value_of_information(x, row).index.tolist()
    first, second, *_ = bn.features(x)
    assert bn.values(x)[second] == ("n", "y", "(missing)")
    answers = {first: "y"}, {first: "y", second: "n"}, {first: "y", second: "y"}
    now, *then = [bn.predict(x, known, prob=True).to_numpy()[0] for known in answers]
    answered = x.cpts[1][:2]
    chances = answered / answered.sum(axis=0) @ now
    gain = entropy(chances @ then) - chances @ list(map(entropy, then))
    assert bn.value_of_information(x, {first: "y"})["gain"][second] == pytest.approx(gain, abs=1e-12)


@pytest.mark.parametrize("name", ["kdb", "women averaged", "women weights", "women gaussian"])
def test_features_are_computed_in_groups(monkeypatch, name):
    x, frame = case(name)
    row = frame[list(bn.features(x))].iloc[0].to_dict() | dict.fromkeys(bn.features(x)[1:])
    found = bn.value_of_information(x, row)
    monkeypatch.setattr("bnclassify.tools.arrays.BLOCK_CELLS", 1)
    pd.testing.assert_frame_equal(bn.value_of_information(x, row), found, atol=1e-12)


def test_values_that_a_coding_joins_share_its_probability():
    """Each of n joined values has a share of 1/n of their probability."""
    rng = np.random.default_rng(0)
    is_q = rng.random(300) < 0.3
    frame = pd.DataFrame({"a": rng.normal(size=300) + is_q, "b": rng.normal(size=300)})
    frame = frame.assign(y=np.where(is_q, "q", "p"))
    x = bn.bnc("nb", "y", frame, smooth=1, discretize="averaged")
    values = [*x.discretizer.cuts["a"], x.discretizer.cuts["a"][-1] + 1]  # one in each interval
    codes, joint = np.stack([np.arange(len(values)), np.full(len(values), -1)]), 0.0
    for formula in x.value_formulas:
        group = formula.codings_by_feature[0][:-1]
        joint += np.exp(scores_at(formula, Rows(codes))) / np.bincount(group)[group, None]
    now = bn.predict(x, {"a": None}, prob=True).to_numpy()[0]
    chances = (joint / joint.sum(axis=0)) @ now
    then = bn.predict(x, [{"a": value} for value in values], prob=True).to_numpy()
    gain = entropy(chances @ then) - sum(p * entropy(q) for p, q in zip(chances, then, strict=True))
    assert bn.value_of_information(x, {"a": None})["gain"]["a"] == pytest.approx(gain)
