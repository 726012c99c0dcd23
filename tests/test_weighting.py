"""MANB, AWNB and WANBIA."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln, xlogy

import bnclassify as bn
from bnclassify.frames import prepare_training_rows
from bnclassify.networks import weighting
from bnclassify.networks.weighting import ConditionalLikelihood, depth_weights, with_weighted_tables
from bnclassify.networks.weighting import smallest_depths_in_trees as depths_of_trees

from .conftest import read_reference, reference_frame
from .oracles import as_array, close
from .strategies import examples, frames, networks, smooths

NAMES = ["car", "voting_complete", "voting"]


def depths_in_tree(frame):
    """The smallest depth at which a tree on many copies of all rows tests each feature that it tests."""
    many = pd.concat([frame] * 300)
    x = bn.lp(bn.nb("class", many), many, smooth=1, awnb_trees=1, rng=0)
    return {name: round(1 / weight**2) for name, weight in bn.feature_weights(x).items() if weight}


def naive(name, **options):
    frame, class_var = reference_frame(name), read_reference(name)["class"]
    return bn.lp(bn.nb(class_var, frame), frame, **options)


@pytest.mark.parametrize("name", NAMES)
def test_manb_reference(name):
    for expected in read_reference(name)["manb"]:
        x = naive(name, smooth=expected["smooth"], manb_prior=expected["prior"])
        posterior = bn.manb_arc_posterior(x)
        close(posterior, [expected["arc_posterior"][v] for v in posterior.index])
        table = expected["cpt_first"]
        close(bn.params(x)[table["family"][0]], as_array(table))


@pytest.mark.parametrize("name", ["car_search", "voting_complete_search"])
def test_manb_in_cross_validation(name):
    reference, frame = read_reference(name), reference_frame(name)
    first = read_reference(name.removesuffix("_search"))["manb"]
    x = bn.lp(
        bn.nb(reference["class"], frame), frame, smooth=reference["smooth"], manb_prior=first[1]["prior"]
    )
    table = bn.cv(x, frame, folds=reference["folds"], mean=False)
    np.testing.assert_allclose(table[0], reference["cv"]["manb"], rtol=0, atol=1e-12)


@given(frames(min_rows=3, max_rows=15, max_features=4), smooths, st.sampled_from([0.1, 0.5, 0.9]))
@examples(30)
def test_manb_equals_the_average_over_all_structures(frame, smooth, prior):
    """Enumerate the 2^n naive Bayes structures, with the marginal likelihood of each."""
    x = bn.lp(bn.nb("class", frame), frame, smooth=smooth, manb_prior=prior)
    data = bn.encode(frame)
    features, classes = data.codes[:-1], data.codes[-1]
    logs, joints = [], []
    for arcs in product([False, True], repeat=len(features)):
        weight = 0.0
        predictive = np.log(bn.params(x)["class"])[None, :].repeat(len(frame), axis=0)
        for code, r, arc in zip(features, data.cards, arcs, strict=False):
            groups = classes if arc else np.zeros_like(classes)
            n = np.zeros((r, data.cards[-1]))
            np.add.at(n, (code, groups), 1)
            n = n if arc else n[:, :1]
            weight += np.log(prior if arc else 1 - prior)
            weight += (gammaln(r * smooth) - gammaln(n.sum(axis=0) + r * smooth)).sum()
            weight += (gammaln(n + smooth) - gammaln(smooth)).sum()
            theta = (n + smooth) / (n.sum(axis=0) + r * smooth)
            predictive = predictive + np.log(theta[code])
        logs.append(weight)
        joints.append(np.exp(predictive))
    weights = np.exp(np.array(logs) - max(logs))
    average = np.tensordot(weights / weights.sum(), np.array(joints), axes=1)
    np.testing.assert_allclose(
        bn.predict(x, frame, prob=True), average / average.sum(axis=1, keepdims=True), rtol=1e-9
    )


def test_manb_needs_a_naive_bayes_and_a_prior(car):
    x = bn.nb("class", car)
    for prior in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match="greater than 0 and less than 1"):
            bn.lp(x, car, smooth=1, manb_prior=prior)


@pytest.mark.parametrize("name", NAMES)
def test_awnb_reference(name):
    reference = read_reference(name)
    data, awnb = prepare_training_rows(reference_frame(name), reference["class"]), reference["awnb"]
    samples = [np.array(rows) for rows in awnb["rows"]]
    expected = [[tree.get(v, 0) for v in data.features] for tree in awnb["min_depths"]]
    np.testing.assert_array_equal(depths_of_trees(data, samples), expected)
    close(depth_weights(data, samples), [awnb["weights"][v] for v in data.features])


def test_tables_are_powers_renormalised(car):
    for learn in (bn.nb, bn.tan_cl):
        plain = bn.lp(learn("class", car), car, smooth=0)
        x = bn.lp(plain, car, smooth=0, awnb_trees=3, rng=1)
        weights = bn.feature_weights(x)
        assert weights.between(0, 1).all()
        for feature, w in weights.items():
            power = bn.params(plain)[feature] ** w
            np.testing.assert_allclose(bn.params(x)[feature], power / power.sum(axis=0), rtol=1e-12)
        np.testing.assert_array_equal(bn.params(x)["class"], bn.params(plain)["class"])


def test_awnb_is_fixed_by_a_seed_and_repeated_in_cv(car):
    x, y = (bn.lp(bn.nb("class", car), car, smooth=1, awnb_trees=3, rng=4) for _ in range(2))
    pd.testing.assert_series_equal(bn.feature_weights(x), bn.feature_weights(y))
    folds = bn.stratified_folds(car["class"], 3, rng=0)
    by_hand = []
    for fold in range(3):
        trained, tested = car[folds != fold], car[folds == fold]
        again = bn.lp(bn.nb("class", trained), trained, smooth=1, awnb_trees=3, rng=4)
        by_hand.append(bn.accuracy(bn.predict(again, tested), tested["class"]))
    np.testing.assert_array_equal(bn.cv(x, car, folds=folds, mean=False)[0], by_hand)
    assert bn.cv(x, car, k=3, rng=9) == bn.cv(x, car, k=3, rng=9)


def test_depths_of_a_tree_by_hand():
    """The class is a XOR-like function: c first, then a within c = 1."""
    frame = pd.DataFrame(
        {"a": [0, 1, 0, 1, 0, 1], "b": [0] * 6, "c": [0, 0, 0, 0, 1, 1], "class": list("ppppqp")}
    )
    assert depths_in_tree(frame) == {"a": 2, "c": 1}


@pytest.mark.parametrize("name", ["car", "voting_complete"])
def test_wanbia_reference(name):
    reference, frame = read_reference(name)["wanbia"], reference_frame(name)
    x = naive(name, smooth=1)
    objective = ConditionalLikelihood(x, bn.encode(frame))
    close(objective(np.ones(len(bn.features(x))))[0], reference["at_ones"]["negative_cll"])
    ramp = np.array([reference["at_ramp"]["weights"][v] for v in bn.features(x)])
    close(objective(ramp)[0], reference["at_ramp"]["negative_cll"])
    y = naive(name, smooth=1, wanbia=True)
    assert -bn.cloglik(y, frame) <= reference["negative_cll"] * (1 + 1e-9)
    assert bn.feature_weights(y).between(0, 1).all()


@given(st.data())
@examples(40)
def test_wanbia_objective_is_that_of_the_model_and_its_gradient_exact(data):
    missing = data.draw(st.sampled_from([0, 0.2]))
    frame = data.draw(frames(min_rows=4, missing=missing))
    smooth = data.draw(st.sampled_from([0.5, 1.0]))
    x = bn.lp(data.draw(networks(frame, max_parents=0 if missing else 1)), frame, smooth=smooth)
    objective = ConditionalLikelihood(x, bn.encode(frame))
    n = len(bn.features(x))
    weights = np.random.default_rng(data.draw(st.integers(0, 999))).uniform(0.1, 0.9, n)
    value, gradient = objective(weights)
    step = 1e-5 * np.eye(n)
    central = [(objective(weights + h)[0] - objective(weights - h)[0]) / 2e-5 for h in step]
    np.testing.assert_allclose(gradient, central, rtol=1e-5, atol=1e-7)
    assert -bn.cloglik(with_weighted_tables(x, weights), frame) == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_wanbia_needs_complete_data_for_arcs_between_features(voting):
    plain, weighted = (bn.lp(bn.nb("Class", voting), voting, smooth=1, wanbia=w) for w in (False, True))
    assert bn.cloglik(weighted, voting) > bn.cloglik(plain, voting) + 1


def test_wanbia_is_at_least_as_good_as_no_weights(votes):
    for learn in (bn.nb, bn.tan_cl):
        plain = bn.lp(learn("Class", votes), votes, smooth=1)
        assert bn.cloglik(bn.lp(plain, votes, smooth=1, wanbia=True), votes) >= bn.cloglik(plain, votes)


def test_questions_say_which_argument_makes_the_answer(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    weighted = bn.lp(x, car, smooth=1, awnb_trees=2, rng=0)
    assert set(bn.lp(weighted, car, smooth=1).learned) == {"counts"}


def test_the_class_alone():
    frame = pd.DataFrame({"class": list("ppq")})
    for option in ({"manb_prior": 0.5}, {"wanbia": True}):
        x = bn.lp(bn.nb("class"), frame, smooth=1, **option)
        assert bn.predict(x, frame).tolist() == ["p", "p", "p"]


def test_manb_with_a_prior_so_strong_that_data_does_not_count(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1e16, manb_prior=0.5)
    np.testing.assert_allclose(bn.manb_arc_posterior(x), 0.5, atol=1e-9)


def noisy_copies(seed):
    """Four features that copy a class of three labels, but for noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=120)
    noise = [(rng.random(120) < 0.2) * rng.integers(3, size=120) for _ in range(4)]
    return pd.DataFrame({f"x{i}": (label + shift) % 3 for i, shift in enumerate(noise)} | {"class": label})


@pytest.mark.parametrize("seed", [18, 44])
def test_wanbia_does_not_warn_of_an_optimum_that_was_reached(seed):
    # In these the line search fails for want of digits, where the slope is 1e-7 or less.
    frame = noisy_copies(seed)
    bn.lp(bn.nb("class", frame), frame, smooth=1, wanbia=True)


def test_wanbia_warns_if_it_stopped_early(monkeypatch):
    monkeypatch.setitem(weighting._OPTIONS, "maxiter", 1)
    frame = noisy_copies(0)
    with pytest.warns(UserWarning, match="the optimizer stopped early"):
        bn.lp(bn.nb("class", frame), frame, smooth=1, wanbia=True)


def redundant_features(seed):
    """Few rows of noisy copies of the class and of one another, on which weights have local optima."""
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(12, 40)), int(rng.integers(3, 9)), int(rng.integers(2, 5))
    labels = rng.integers(k, size=n)
    columns = {}
    for i in range(m):
        kind = rng.random()
        source = rng.integers(4, size=n) if kind >= 0.4 and not (columns and kind < 0.7) else labels
        if columns and 0.4 <= kind < 0.7:
            source = list(columns.values())[rng.integers(len(columns))]
        noisy = rng.random(n) < rng.random() * 0.6
        columns[f"x{i}"] = np.where(noisy, rng.integers(4, size=n), source)
    return pd.DataFrame({**columns, "class": labels}).astype("category")


def optimum_from(start, x, frame):
    """The conditional log-likelihood at the optimum of weights that is found from one start."""
    n = len(bn.features(x))
    objective = ConditionalLikelihood(x, bn.encode(frame))
    options = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-7}
    run = minimize(objective, np.full(n, start), jac=True, bounds=[(0, 1)] * n, options=options)
    return -float(run.fun)


@pytest.mark.parametrize(("better", "seed"), [(1.0, 14), (0.5, 42)])
def test_wanbia_takes_the_better_of_two_optima(better, seed):
    frame = redundant_features(seed)
    x = bn.lp(bn.nb("class", frame), frame, smooth=0.01)
    best, worse = (optimum_from(start, x, frame) for start in (better, 1.5 - better))
    assert best > worse + 1e-3
    weighted = bn.lp(x, frame, smooth=0.01, wanbia=True)
    assert bn.cloglik(weighted, frame) == pytest.approx(best, abs=1e-6)


def test_trees_are_thirty_levels_deep():
    """Every feature separates one row from the others, so that each is tested at another depth."""
    frame = pd.DataFrame(np.vstack([np.zeros((1, 40), int), np.eye(40, dtype=int)])).add_prefix("x")
    frame["class"] = [f"k{i}" for i in range(41)]
    assert sorted(depths_in_tree(frame).values()) == [*range(1, 31)]


@pytest.mark.parametrize("seed", [0, 1, 2, 23])
def test_all_subsets_of_few_levels_are_tried(seed):
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.integers(5, size=30) for i in range(3)}
    frame = pd.DataFrame({**columns, "class": rng.integers(4, size=30)}).astype("category")
    depths = depths_in_tree(frame)

    def information(counts):
        return float(xlogy(counts, counts).sum() - xlogy(counts.sum(), counts.sum()))

    def gain(feature):
        table = pd.crosstab(frame[feature], frame["class"]).to_numpy()
        sides = [np.array(side, bool) for side in product([False, True], repeat=len(table) - 1)][1:]
        lefts = [table[:-1][side].sum(axis=0) for side in sides] + [table[:-1].sum(axis=0)]
        return max(information(left) + information(table.sum(axis=0) - left) for left in lefts)

    gains = {feature: gain(feature) for feature in columns}
    assert depths[max(gains, key=gains.__getitem__)] == 1


@pytest.mark.filterwarnings("ignore:.*more levels than half")
def test_many_levels_have_the_best_order_also_if_a_class_never_occurs():
    """Levels in the order of the share of a class, or on the first principal component of all shares."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 14, (300, 3)), columns=list("abc"))
    labels = np.where((frame["a"] % 5 + frame["b"] % 3 + rng.integers(0, 3, 300)) > 4, "p", "q")
    weights = []
    for levels in (["p", "q"], ["p", "q", "never"]):
        own = frame.assign(y=pd.Categorical(labels, levels))
        x = bn.lp(bn.nb("y", own), own, smooth=1, awnb_trees=5, awnb_bootstrap=0.3, rng=0)
        weights.append(bn.feature_weights(x))
    pd.testing.assert_series_equal(*weights)


def test_bootstrap_samples_are_drawn_in_proportion_to_weights():
    data = bn.encode(pd.DataFrame({"a": list("xyzu")}), weights=[3, 0, 1, 0])
    [rows] = weighting._bootstrap_samples(data, 1, 1.0, np.random.default_rng(0))
    assert set(rows) <= {0, 2}
    [many] = weighting._bootstrap_samples(data, 1, 1000.0, np.random.default_rng(0))
    assert (many == 0).mean() == pytest.approx(0.75, abs=0.03)
