"""Credible intervals of tables, of posteriors and of queries."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bnclassify as bn

from .conftest import REFERENCE

FIGURES = json.loads((REFERENCE / "networks" / "uncertainty.json").read_text())
NAMES = ["car", "breast"]


@cache
def frame(name):
    reference = FIGURES[name]
    path = REFERENCE / "data" / f"{name}.csv"
    data = bn.load_car() if name == "car" else pd.read_csv(path, dtype=str, keep_default_na=False)
    return pd.DataFrame({v: pd.Categorical(data[v], labels) for v, labels in reference["levels"].items()})


def network(name, parents, rows=None):
    class_var, data = FIGURES[name]["class"], frame(name).iloc[:rows]
    arcs = {f: [] if parent is None else [parent] for f, parent in parents.items()}
    return bn.lp(bn.anb(class_var, arcs, data[[*parents, class_var]]), data, smooth=1)


@pytest.mark.parametrize("name", NAMES)
def test_table_intervals_are_those_of_beta_distributions(name):
    expected = FIGURES[name]["tables"]
    x = network(name, expected["structure"])
    for number, interval in enumerate([0.9, 0.95]):
        tables = {v: bn.cpt(x, v, interval=interval) for v in x.variables}
        for variable, value, given, mean, *bounds in expected["cells"]:
            parents = bn.families(x)[variable][1:]
            column = tuple([given[p] for p in parents]) or ("probability",)
            found = [tables[variable].loc[value, (*column, b)] for b in ("lower", "estimate", "upper")]
            low, high = bounds[number]
            assert found == pytest.approx([low, mean, high], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_posterior_intervals_are_quantiles_over_drawn_tables(name):
    reference, draws, distances = FIGURES[name], 400, []
    for case in reference["posteriors"]:
        features = list(reference["tan"])
        parents = reference["tan"] if case["structure"] == "tan" else dict.fromkeys(features)
        x = network(name, parents, case["rows"])
        rows = pd.DataFrame([known["row"] for known in case["known"]], columns=features)
        found = bn.predict(x, rows, prob=True, interval=0.9, draws=draws, rng=0)
        estimates = found.xs("estimate", axis=1, level=1)
        np.testing.assert_array_equal(estimates, bn.predict(x, rows, prob=True))
        for bound, q, se in (("lower", "q05", "se05"), ("upper", "q95", "se95")):
            errors = np.array([known[se] for known in case["known"]])
            expected = np.array([known[q] for known in case["known"]])
            own = errors * np.sqrt(200_000 / draws)
            classes = sorted(bn.classes(x))
            difference = found.xs(bound, axis=1, level=1)[classes].to_numpy() - expected
            distances.append(difference / np.hypot(errors, own))
    scaled = np.concatenate(distances)
    assert np.abs(scaled).max() < 5
    assert 0.8 < np.sqrt((scaled**2).mean()) < 1.25


def small():
    rng = np.random.default_rng(1)
    k = rng.integers(2, size=40)
    columns = {f: np.where(rng.random(40) < 0.3, 1 - k, k) for f in "abd"}
    return pd.DataFrame({**columns, "k": k}).astype(str).astype("category")


@pytest.mark.slow
def test_missing_features_are_summed_out_within_each_draw():
    """By tables drawn here, and sums over all completions of a row."""
    data = small()
    x = bn.lp(bn.anb("k", {"b": ["a"], "d": ["b"]}, data), data, ess=2)
    row, rng, n = {"a": "1", "d": "0"}, np.random.default_rng(5), 100_000
    tables = {}
    for v, family in bn.families(x).items():
        counts = data.groupby(list(family), observed=False).size().to_numpy().reshape([2] * len(family))
        masses = rng.gamma(counts + 2 / counts.size, size=(n, *counts.shape))
        tables[v] = masses / masses.sum(axis=1, keepdims=True)
    a, b, d = (
        tables["a"][:, 1],
        tables["b"][:, :, 1],
        tables["d"][:, 0],
    )  # P(a=1 | k), P(b | a=1, k), P(d=0 | b, k)
    joint = tables["k"] * a * np.einsum("sbk,sbk->sk", b, d)
    drawn = joint[:, 1] / joint.sum(axis=1)
    low, high = np.quantile(drawn, [0.1, 0.9])
    found = bn.predict(x, row, prob=True, interval=0.8, draws=1500, rng=0).iloc[0]["1"]
    assert found["lower"] == pytest.approx(low, abs=0.015)
    assert found["upper"] == pytest.approx(high, abs=0.015)
    asked = bn.query(x, "k", row, interval=0.8, draws=1500, rng=0).loc["1"]
    assert asked.tolist() == pytest.approx(found.tolist(), abs=1e-12)


def test_rows_do_not_depend_on_the_rows_beside_them(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    many = bn.predict(x, car.head(7), prob=True, interval=0.5, draws=30, rng=0)
    few = bn.predict(x, car.iloc[2:5], prob=True, interval=0.5, draws=30, rng=0)
    pd.testing.assert_frame_equal(many.iloc[2:5], few)
    assert many.columns.names == ["class", None]


def test_averages_draw_the_tables_of_each_member(car):
    """The average of a network and itself is less uncertain, because its members are drawn separately."""
    rows = car.sample(300, random_state=0)
    x = bn.lp(bn.nb("class", car), rows, smooth=1)
    twice = bn.lp(bn.Ensemble((x, x)), rows, smooth=1)
    widths = []
    for model in (x, twice, bn.lp(bn.aode("class", car), rows, smooth=1)):
        found = bn.predict(model, car.tail(40), prob=True, interval=0.9, draws=100, rng=0)
        low, middle, high = (found.xs(b, axis=1, level=1) for b in ("lower", "estimate", "upper"))
        assert (low < high).all(axis=None)
        np.testing.assert_allclose(middle, bn.predict(model, car.tail(40), prob=True))
        widths.append(float((high - low).mean(axis=None)))
    assert widths[1] < 0.9 * widths[0]


def test_estimates_are_inside_unless_pseudo_counts_are_small(car):
    farthest = {}
    for prior in ({"smooth": 1}, {"smooth": 0.5}, {"ess": 1}):
        x = bn.lp(bn.tan_cl("class", car), car, **prior)
        found = bn.predict(x, car[::100], prob=True, interval=0.9, draws=200, rng=0)
        lower, estimate, upper = (found.xs(name, axis=1, level=-1) for name in ("lower", "estimate", "upper"))
        farthest[str(prior)] = np.maximum(lower - estimate, estimate - upper).to_numpy().max()
    assert [distance > 0 for distance in farthest.values()] == [False, False, True]
    assert max(farthest.values()) < 0.01


@pytest.mark.slow
def test_a_new_prior_applies_to_each_draw():
    """With P(class) replaced, the table of the class does not matter, as if it had been certain."""
    data = small()
    prior = {"0": 0.3, "1": 0.7}
    x = bn.lp(bn.nb("k", data), data, smooth=1)
    found = bn.predict(x, {"a": "1"}, prob=True, interval=0.9, draws=1000, rng=0, prior=prior).iloc[0]["1"]
    counts = data.groupby(["a", "k"], observed=False).size().to_numpy().reshape(2, 2) + 1
    rng = np.random.default_rng(9)
    p = [rng.beta(counts[1, c], counts[0, c], 100_000) for c in (0, 1)]
    low, high = np.quantile(0.7 * p[1] / (0.3 * p[0] + 0.7 * p[1]), [0.05, 0.95])
    assert [found["lower"], found["upper"]] == pytest.approx([low, high], abs=0.015)
    nothing = bn.predict(x, {"a": None}, prob=True, interval=0.9, draws=20, rng=0, prior=prior).iloc[0]["1"]
    assert nothing.tolist() == pytest.approx([0.7, 0.7, 0.7])


def test_plot_cpt_writes_the_interval_below_the_probability(car):
    pytest.importorskip("matplotlib")
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    axes = bn.plot_cpt(x, "safety", interval=0.9)
    entry = bn.cpt(x, "safety", interval=0.9).loc["med", "good"]
    assert axes.texts[6].get_text() == f"0.56\n{entry['lower']:.2f} to {entry['upper']:.2f}"


def test_models_of_several_class_variables():
    votes = bn.load_voting().dropna()
    names = ["mx_missile", "crime"]
    for learner in (bn.mbc, bn.maode, bn.chain):
        x = bn.lp(learner(names, votes), votes, smooth=1)
        found = bn.predict(x, votes.head(3), prob=True, interval=0.9, draws=50, rng=0)
        assert found.columns.nlevels == 3
        estimates = found.xs("estimate", axis=1, level=2)
        pd.testing.assert_frame_equal(estimates, bn.predict(x, votes.head(3), prob=True))
        inside = found.xs("upper", axis=1, level=2) - found.xs("lower", axis=1, level=2)
        assert (inside > 0).all(axis=None)


def test_tiny_pseudo_counts_and_variables_of_one_level():
    """A Dirichlet draw with parameters of 1e-9 is nearly always a corner, not 0 / 0."""
    data = pd.DataFrame({"a": ["x"] * 4, "b": list("pqpq"), "k": list("uuvv")}).astype("category")
    x = bn.lp(bn.nb("k", data), data, ess=1e-8)
    assert bn.cpt(x, "a", interval=0.9).to_numpy().tolist() == [[1.0] * 6]
    found = bn.predict(x, data, prob=True, interval=0.9, draws=50, rng=0)
    assert found.notna().all(axis=None)
    assert found.to_numpy().min() >= 0


@pytest.mark.slow
def test_one_dependence_estimators_are_an_average_of_networks(car):
    rows = car.sample(200, random_state=1)
    x = bn.lp(bn.aode("class", car), rows, smooth=1)
    names = bn.features(x)
    networks = [bn.anb("class", {f: [s] for f in names if f != s}, car) for s in names]
    average = bn.lp(bn.Ensemble(tuple(networks)), rows, smooth=1)
    ours, theirs = (
        bn.predict(model, car.iloc[[100, 900, 1700]], prob=True, interval=0.9, draws=300, rng=seed)
        for seed, model in enumerate([x, average])
    )
    np.testing.assert_allclose(ours, theirs, atol=0.06)
    assert (theirs.xs("upper", axis=1, level=1) - theirs.xs("lower", axis=1, level=1)).max(axis=None) > 0.3


def test_plot_cv_draws_intervals_of_the_means(car):
    pytest.importorskip("matplotlib")
    models = [bn.lp(make("class", car), car, smooth=1) for make in (bn.nb, bn.tan_cl)]
    results = bn.cv(models, car, k=4, rng=0, mean=False)
    axes = bn.plot_cv(results, interval=0.9)
    assert "90 % interval of the mean" in [text.get_text() for text in axes.get_legend().get_texts()]
    segments = axes.containers[0].lines[2][0].get_segments()
    for column, segment in zip(results.to_numpy().T, segments, strict=True):
        error = np.sqrt((1 / 4 + 432 / 1296) * column.var(ddof=1))
        expected = column.mean() + error * stats.t.ppf([0.05, 0.95], 3)
        np.testing.assert_allclose([segment[0][0], segment[1][0]], expected)
    with pytest.raises(ValueError, match="interval must be a finite number greater than 0 and less than 1"):
        bn.plot_cv(results, interval=95)
    other = pd.DataFrame(results.to_numpy())
    with pytest.raises(ValueError, match=r"interval must be None for results of other .*; got 0\.9\. Use"):
        bn.plot_cv(other, interval=0.9)
    assert len(bn.compare(other, train_size=1296, test_size=432)) == 1  # what the error advises
