"""Tables that back off, and powers, parents and a common power by leave-one-out."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, log_softmax

import bnclassify as bn
from bnclassify.model import replace_unchecked
from bnclassify.networks import weighted
from bnclassify.networks.backoff_prior import LEAST, MOST, best_concentrations
from bnclassify.networks.weighted import best_common_power, best_powers

from .conftest import REFERENCE, read_reference
from .strategies import examples, frames, networks

NAMES = ["car", "voting", "breast", "tic-tac-toe"]
CASES = [(name, k) for name in NAMES for k in ("1", "3")]
PRIORS = [{"backoff": True}, {"smooth": 0.5}, {"ess": 2}, {"m": 1}]


@cache
def text_frame(name):
    """The data of the reference figures: all columns text, labels sorted."""
    if name in ("car", "voting"):
        frame = bn.load_car() if name == "car" else bn.load_voting().dropna().reset_index(drop=True)
    else:
        frame = pd.read_csv(REFERENCE / "data" / f"{name}.csv", dtype=str, keep_default_na=False)
    return pd.DataFrame({c: pd.Categorical(frame[c], sorted(frame[c].unique())) for c in frame})


def structure(name, k, parents=None):
    frame = text_frame(name)
    reference = read_reference("leave_one_out")[name]["kdb_backoff"][k]
    above = {v: reference["parents"][v][:parents] for v in frame.columns[:-1]}
    return bn.anb(frame.columns[-1], above, frame), frame, reference


@pytest.mark.parametrize(("name", "k"), CASES)
def test_tables_that_back_off(name, k):
    x, frame, reference = structure(name, k)
    model = bn.lp(x, frame, backoff=True)
    for variable, m in reference["m"].items():
        np.testing.assert_allclose(bn.concentrations(model)[variable], m, rtol=1e-4)
    posterior = bn.predict(model, frame.head(12), prob=True)
    np.testing.assert_allclose(posterior, reference["posterior_head"], atol=1e-6)
    counts = frame[x.class_var].value_counts(sort=False).to_numpy()
    n_classes = len(counts)
    np.testing.assert_allclose(bn.params(model)[x.class_var], (counts + 1 / n_classes) / (len(frame) + 1))


def test_a_number_of_pseudo_counts_per_level_replaces_searched_ones(car):
    x = bn.anb("class", {"maint": ["buying", "safety"], "doors": ["lug_boot"]}, car)
    searched, fixed = [bn.concentrations(bn.lp(x, car, backoff=amount)) for amount in (True, 2)]
    level = searched.index.get_level_values("level")
    pd.testing.assert_series_equal(fixed[level < 2], searched[level < 2])
    parents = {"maint": ["buying"], "maint ": ["buying", "safety"], "doors": ["lug_boot"]}
    means = [car.groupby([*of, "class"])[v.strip()].nunique().mean() for v, of in parents.items()]
    assert fixed[level >= 2].tolist() == pytest.approx(2 * np.array(means))
    table = bn.params(bn.lp(x, car, backoff=2))["doors"][:, 0, 0]  # axes: doors, lug_boot, class
    shorter = bn.params(bn.lp(bn.nb("class", car), car, backoff=2))["doors"][:, 0]
    doors, boot, label = (list(bn.values(bn.lp(x, car, smooth=1))[v]) for v in ("doors", "lug_boot", "class"))
    rows = car[(car["lug_boot"] == boot[0]) & (car["class"] == label[0])]
    counts = rows["doors"].value_counts()[doors].to_numpy()
    amount = 2 * means[-1]
    np.testing.assert_allclose(table, (counts + amount * shorter) / (len(rows) + amount))


def test_only_levels_that_occur_with_a_configuration_add_pseudo_counts():
    """40 levels occur with each of 12 levels in one class or the other, so about 20 in a configuration."""
    rng = np.random.default_rng(0)
    long, other = rng.integers(40, size=2000), rng.integers(12, size=2000)
    kind = np.where(rng.integers(2, size=(40, 12)) > 0, "u", "v")[long, other]
    frame = pd.DataFrame({"long": long, "other": other, "y": kind}).astype(str)
    x = bn.anb("y", {"long": ["other"]}, frame)
    mean = frame.groupby(["other", "y"])["long"].nunique().mean()
    for amount in (2, 0.5):
        found = bn.concentrations(bn.lp(x, frame, backoff=amount))["long"].iloc[-1]
        assert found == pytest.approx(amount * mean)
    assert bn.accuracy(bn.predict(bn.lp(x, frame, backoff=2), frame), frame["y"]) > 0.99


@pytest.mark.filterwarnings("ignore")
@given(st.data())
@examples(12)
def test_tables_that_back_off_ignore_rows_that_lack_their_variable(data):
    frame = data.draw(frames(min_rows=8, missing=0.2).filter(lambda f: f.notna().any().all()))
    structure = data.draw(networks(frame))
    for name in structure.features:
        known = frame.dropna(subset=[name])
        if known.notna().any().all():
            tables = [bn.params(bn.lp(structure, rows, backoff=True))[name] for rows in (frame, known)]
            np.testing.assert_allclose(*tables, rtol=1e-6)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_weights_by_leave_one_out(name, k):
    for depth, reference in structure(name, k)[2]["weighted_by_depth"].items():
        x, frame, _ = structure(name, k, int(depth))
        model = bn.lp(x, frame, backoff=True, held_out="weights")
        summary = bn.loo_summary(model)
        assert summary["power"] == pytest.approx(reference["tau"], abs=1e-5)
        assert summary["objective"] == pytest.approx(reference["objective"], rel=1e-6)
        assert summary["log_likelihood"] == pytest.approx(reference["loo_cloglik"], rel=1e-5)
        assert summary["rows"] == len(frame)
        weights = bn.feature_weights(model)
        assert weights.index.tolist() == [x.class_var, *x.features]
        expected = [reference["weights"][v] for v in weights.index]
        np.testing.assert_allclose(weights, expected, atol=1e-3)
        posterior = bn.predict(model, frame.head(12), prob=True)
        np.testing.assert_allclose(posterior, reference["posterior_head"], atol=1e-4)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_parents_by_leave_one_out(name, k):
    x, frame, reference = structure(name, k)
    model = bn.lp(x, frame, backoff=True, held_out="weights", held_out_args={"parents": True})
    best = reference["best_depth"]
    assert bn.loo_summary(model)["parents"] == best
    shorter = structure(name, k, best)[0]
    assert bn.families(model) == bn.families(shorter)
    same = bn.lp(shorter, frame, backoff=True, held_out="weights")
    pd.testing.assert_series_equal(bn.feature_weights(model), bn.feature_weights(same))
    pd.testing.assert_series_equal(bn.concentrations(model), bn.concentrations(same))


def test_parents_alone(car):
    x = bn.anb("class", {"maint": ["buying", "safety"], "doors": ["lug_boot", "persons"]}, car)
    model = bn.lp(x, car, backoff=True, held_out="parents")
    kept = bn.loo_summary(model)["parents"]
    parents = {v: family[1:-1][:kept] for v, family in bn.feature_families(x).items()}
    same = bn.lp(bn.anb("class", parents, car), car, backoff=True)
    assert bn.families(model) == bn.families(same)
    assert bn.loglik(model, car) == bn.loglik(same, car)
    assert "lp(backoff=True, held_out='parents')" in repr(model)


def log_posteriors(structure, frame, **prior):
    """The log posteriors of rows, each by a model learned from all the others."""
    rows = []
    for i in frame.index:
        model = bn.lp(structure, frame.drop(i), **prior)
        rows.append(np.log(bn.predict(model, frame.loc[[i]], prob=True).to_numpy()[0]))
    return np.array(rows)


@pytest.mark.parametrize("prior", [{"smooth": 1}, {"ess": 2}, {"m": 0.5}])
def test_left_out_rows_are_those_of_refits(car, prior):
    sample = car.sample(30, random_state=0).reset_index(drop=True)
    x = bn.anb("class", {"maint": ["buying", "safety"], "doors": ["lug_boot"]}, sample)
    summary = bn.loo_summary(bn.lp(x, sample, **prior, held_out="parents"))
    own = sample["class"].cat.codes.to_numpy()
    by_depth = []
    for depth in range(3):
        parents = {v: family[1:-1][:depth] for v, family in bn.feature_families(x).items()}
        posteriors = log_posteriors(bn.anb("class", parents, sample), sample, **prior)
        by_depth.append(posteriors[np.arange(len(sample)), own].sum())
    assert summary["log_likelihood"] == pytest.approx(max(by_depth), rel=1e-9)
    assert summary["parents"] == int(np.argmax(by_depth))


@pytest.mark.parametrize("seed", range(4, 9))
def test_a_parent_that_changes_nothing_is_omitted(seed):
    """A parent with one level leaves all tables and powers as they are, up to rounding."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.choice(list("st"), 19), "y": rng.choice(list("pq"), 19), "one": "z"})
    frame["c"] = rng.choice(list("uvw"), 19)
    x = bn.anb("y", {"a": ["one"], "c": ["one"]}, frame)
    model = bn.lp(x, frame, smooth=1, held_out="weights", held_out_args={"parents": True})
    assert bn.loo_summary(model)["parents"] == 0


def test_a_class_with_parents_and_features_without_the_class(car):
    sample = car.sample(40, random_state=2).reset_index(drop=True)
    names = list(car.columns)
    above = {"safety": ("class",), "class": ("buying", "doors"), "maint": ("buying",), "doors": ("maint",)}
    families = tuple((name, *above.get(name, ())) for name in names)
    x = bn.lp(bn.BNC("class", families), sample, smooth=1)  # which tells the levels
    summary = bn.loo_summary(bn.lp(x, sample, smooth=1, held_out="parents"))
    own = sample["class"].cat.codes.to_numpy() if hasattr(sample["class"], "cat") else None
    own = pd.Categorical(sample["class"], bn.classes(x)).codes if own is None else own
    by_depth = []
    for depth in range(3):
        shorter = tuple((v, *(above.get(v, ())[:depth] if v != "safety" else ("class",))) for v in names)
        logs = log_posteriors(bn.BNC("class", shorter, x.levels), sample, smooth=1)
        by_depth.append(logs[np.arange(len(sample)), own].sum())
    assert summary["log_likelihood"] == pytest.approx(max(by_depth), rel=1e-9)
    backed = bn.lp(x, sample, backoff=True)
    counts = pd.Series(pd.Categorical(sample["class"], bn.classes(x))).value_counts(sort=False).to_numpy()
    start = (counts + 1 / len(counts)) / (len(sample) + 1)
    m = bn.concentrations(backed)["class"]
    assert m.index.tolist() == [1, 2]
    buying = list(bn.values(x)["buying"])
    one = sample["buying"] == buying[0]
    with_parent = [(sample["class"][one] == c).sum() for c in bn.classes(x)]
    expected = (np.array(with_parent) + m[1] * start) / (one.sum() + m[1])
    doors = sample["doors"].astype(str)
    unseen = [d for d in bn.values(x)["doors"] if not ((doors == str(d)) & one).any()]
    table = bn.cpt(backed, "class")
    for d in unseen:
        np.testing.assert_allclose(table[buying[0], d], expected)


@pytest.mark.parametrize("learner", ["aode", "tan_cl"])
@pytest.mark.parametrize("name", ["car", "voting"])
def test_power_by_leave_one_out(learner, name):
    frame = (bn.load_car() if name == "car" else bn.load_voting()).sample(50, random_state=0)
    frame = pd.DataFrame({c: pd.Categorical(frame[c]) for c in frame}).reset_index(drop=True)
    class_var = frame.columns[-1]
    x = getattr(bn, learner)(class_var, frame)
    model = bn.lp(x, frame, smooth=0.5, held_out="power")
    power, objective = bn.loo_summary(model)[["power", "objective"]]
    logs = log_posteriors(x, frame, smooth=0.5)
    own = frame[class_var].cat.codes.to_numpy()

    def value(tau):
        return log_softmax(tau * logs, axis=1)[np.arange(len(logs)), own].sum() - (tau - 1) ** 2 / 2

    assert objective == pytest.approx(value(power), rel=1e-9)
    step = 1e-4
    assert (value(power + step) - value(power - step)) / (2 * step) == pytest.approx(0, abs=1e-5)
    plain = np.log(bn.predict(bn.lp(x, frame, smooth=0.5), frame, prob=True))
    share = frame.drop(columns=class_var).isna().mean(axis=1).to_numpy()[:, None]
    expected = np.exp(log_softmax((power + (1 - power) * share) * plain.to_numpy(), axis=1))
    np.testing.assert_allclose(bn.predict(model, frame, prob=True), expected, atol=1e-12)


AVERAGES = {
    "naive Bayes": (lambda y, rows: bn.ande(y, rows, n=0), {"smooth": 0.5}),
    "rare superparents": (lambda y, rows: bn.ande(y, rows, min_count=4), {"m": 1}),
    "subsumption": (lambda y, rows: bn.ande(y, rows, subsumption=16), {"m": 1}),
    "pairs": (lambda y, rows: bn.ande(y, rows, n=2, min_count=3), {"smooth": 0.5}),
    "ensemble": (lambda y, rows: bn.Ensemble([bn.nb(y, rows), bn.tan_cl(y, rows)], weights=[1, 3]), {"m": 1}),
}


@pytest.mark.parametrize("name", AVERAGES)
def test_power_of_averages(voting, name):
    """Superparents and subsumed values are determined without the row."""
    sample = voting.iloc[:40, [0, 2, 3, 4, 8, 16]]
    sample = pd.DataFrame({c: pd.Categorical(sample[c]) for c in sample})
    learn, prior = AVERAGES[name]
    x = learn("Class", sample)
    logs = log_posteriors(x, sample, **prior)
    own = sample["Class"].cat.codes.to_numpy()
    summary = bn.loo_summary(bn.lp(x, sample, **prior, held_out="power"))
    expected = log_softmax(summary["power"] * logs, axis=1)[np.arange(len(logs)), own].sum()
    assert summary["log_likelihood"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("method", ["power", "weights"])
def test_rows_are_spread_over_the_data_if_memory_is_short(car, method, monkeypatch):
    ordered = car.sort_values("class")
    x = bn.nb("class", ordered)
    everything = bn.loo_summary(bn.lp(x, ordered, smooth=1, held_out=method))
    terms = len(ordered.columns) if method == "weights" else 1
    monkeypatch.setattr(weighted, "_MOST_ODDS", 800 * terms * 3)
    some = bn.loo_summary(bn.lp(x, ordered, smooth=1, held_out=method))
    assert (everything["rows"], some["rows"]) == (1728, 800)
    assert some["power"] == pytest.approx(everything["power"], rel=0.1)
    assert some["log_likelihood"] / 800 == pytest.approx(everything["log_likelihood"] / 1728, rel=0.1)


@pytest.mark.parametrize("written", [0, 10])
def test_tables_too_large_to_write_out_are_computed_from_counts(car, written, monkeypatch):
    x = bn.lp(bn.tan_cl("class", car), car, backoff=True, held_out="weights")
    expected = bn.predict(x, car, prob=True)
    monkeypatch.setattr(weighted, "_MOST_CELLS_OF_ALL", written)
    again = bn.lp(bn.tan_cl("class", car), car, backoff=True, held_out="weights")
    found = [term for family in again.sum_of_terms.terms for term in family.parts]
    assert all(term.table.n_cells > term.most_cells for term in found) == (written == 0)
    pd.testing.assert_frame_equal(bn.predict(again, car, prob=True), expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["power", "weights"])
def test_equal_rows_are_left_out_together(method, monkeypatch):
    few = pd.DataFrame({"x": list("aabbab"), "y": list("pqpqpp"), "class": list("uuvvvu")}).astype("category")
    many = pd.concat([few] * 500, ignore_index=True)
    x = bn.nb("class", many)
    expected = bn.lp(x, bn.encode(few.assign(n=500), weights="n"), smooth=1, held_out=method)
    monkeypatch.setattr(weighted, "_MOST_ODDS", 60)
    found = bn.lp(x, many, smooth=1, held_out=method)
    assert bn.loo_summary(found)["rows"] == 3000
    pd.testing.assert_series_equal(bn.loo_summary(found)[:3], bn.loo_summary(expected)[:3], rtol=1e-9)


@pytest.mark.parametrize("held_out", ["power", "parents"])
def test_equal_rows_with_fractions_as_weights_are_left_out_one_by_one(held_out):
    """Each subtracts its own weight, so the order of the weights of equal rows does not matter."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (12, 3))
    frame = pd.DataFrame(codes.repeat(2, axis=0), columns=["a", "b", "y"])
    found = []
    for weights in ([0.2, 0.9], [0.9, 0.2]):
        data = bn.encode(frame, weights=np.tile(weights, 12))
        x = bn.lp(bn.kdb_mi("y", data), data, smooth=1, held_out=held_out)
        found.append(bn.loo_summary(x)["log_likelihood"])
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_leave_one_out_does_not_estimate_performance_on_new_rows():
    """The parents were chosen by the classes of the excluded rows, and all features are noise."""
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.integers(3, size=1200) for i in range(30)}
    frame = pd.DataFrame({**columns, "c": rng.integers(2, size=1200)}).astype("category")
    train, test = frame[:200], frame[200:]
    structure = bn.kdb_mi("c", train, kdbk=4)
    x = bn.lp(structure, train, backoff=True, held_out="weights", held_out_args={"parents": True})
    told, new = (-bn.loo_summary(x)["log_likelihood"] / 200, -bn.cloglik(x, test) / 1000)
    assert told < np.log(2) - 0.1 < np.log(2) + 0.1 < new


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 4))
def test_powers_are_at_their_optimum(seed, classes, terms):
    rng = np.random.default_rng(seed)
    contrasts = rng.normal(size=(terms, classes - 1, 30)) * rng.choice([0.1, 1, 20])
    weights = rng.integers(0, 3, 30).astype(float)
    found = best_powers(contrasts, np.zeros(30, dtype=int), weights)

    def objective(powers, mean, precision):
        total = np.concatenate([np.zeros((1, 30)), np.tensordot(powers, contrasts, 1)])
        return weights @ log_softmax(total, axis=0)[0] - precision / 2 * ((powers - mean) ** 2).sum()

    assert found.objective == pytest.approx(objective(found.single, found.common, 3.0), rel=1e-9, abs=1e-9)
    best = objective(np.full(terms, found.common), 1.0, 1 / terms)
    for step in (1e-3, -1e-3):
        assert objective(np.full(terms, found.common + step), 1.0, 1 / terms) <= best
        for i in range(terms):
            moved = found.single + step * np.eye(terms)[i]
            assert objective(moved, found.common, 3.0) <= found.objective
    assert best_common_power(contrasts.sum(axis=0), np.zeros(30, dtype=int), weights) == found.common


def evidence(m, counts, base):
    """The log evidence of a concentration, (configurations, levels), up to a constant."""
    cells = gammaln(m * base + counts) - gammaln(m * base)
    return float(cells.sum() + (gammaln(m) - gammaln(m + counts.sum(axis=1))).sum())


def best_concentration(counts, base):
    occurs = counts > 0
    sizes = np.array([occurs.sum()]), np.array([len(counts)])
    [found] = best_concentrations(counts[occurs], base[occurs], sizes[0], counts.sum(axis=1), sizes[1])
    return found


@given(st.data())
def test_concentrations_are_the_likeliest(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    scale = data.draw(st.sampled_from([1, 5, 200]))
    counts = rng.poisson(rng.gamma(0.5, scale, size=(data.draw(st.integers(1, 20)), 3))).astype(float)
    if data.draw(st.booleans()):
        counts = counts * 0.7
    base = np.broadcast_to(rng.dirichlet([2, 2, 2]), counts.shape)
    found = best_concentration(counts, base)
    assert LEAST <= found <= MOST
    others = np.geomspace(LEAST, MOST, 200)
    assert evidence(found, counts, base) >= max(evidence(m, counts, base) for m in others) - 1e-6


def test_tables_without_evidence_for_a_concentration_have_the_largest():
    frame = pd.DataFrame({"a": ["u"] * 6, "b": list("uvuuuv"), "y": list("ppqqpq")})
    x = bn.lp(bn.nb("y", frame), frame, backoff=True)
    assert (bn.concentrations(x)["a"] == 5000).all()


@pytest.mark.parametrize(
    ("counts", "base"),
    [
        (
            [[45, 33, 2, 2, 0, 0, 0, 2, 0], [115, 104, 0, 0, 0, 3, 0, 0, 0], [783, 843, 0, 0, 2, 0, 1, 0, 2]],
            [0.0447, 0.1082, 0.8471],
        ),
        (
            [
                [22, 94, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                [59, 243, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 3, 1, 0, 2, 0, 1, 1],
                [15, 55, 0, 0, 0, 0, 0, 0, 1, 0, 3, 1, 0, 0, 2, 0, 0, 0, 0],
                [158, 687, 0, 3, 2, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 1, 0, 0],
            ],
            [0.0887, 0.2505, 0.0625, 0.5983],
        ),
    ],
)
def test_the_largest_of_several_maxima_is_chosen(counts, base):
    """A few large configurations close to the base, and many small ones far from it: two local maxima."""
    n = np.array(counts, dtype=float).T
    p = np.broadcast_to(base, n.shape)
    values = np.array([evidence(m, n, p) for m in np.geomspace(LEAST, MOST, 400)])
    slopes = np.sign(np.diff(values))
    assert np.count_nonzero((slopes[:-1] > 0) & (slopes[1:] < 0)) + (slopes[-1] > 0) == 2
    assert evidence(best_concentration(n, p), n, p) >= values.max() - 1e-9


@pytest.mark.slow
@given(st.data())
def test_every_table_is_a_distribution(data):
    frame = data.draw(frames(min_rows=2, missing=0.2).filter(lambda f: f.notna().any().all()))
    x = data.draw(networks(frame))
    for table in bn.params(bn.lp(x, frame, backoff=True)).values():
        np.testing.assert_allclose(table.sum(axis=0), 1)
        assert table.min() > 0
    weighted = bn.lp(x, frame, backoff=True, held_out="weights")
    for name, table in bn.params(bn.lp(x, frame, backoff=True)).items():
        np.testing.assert_allclose(bn.params(weighted)[name], table)


@pytest.mark.slow
@given(st.data())
def test_terms_ignore_missing_features(data):
    """A missing feature adds nothing to the terms, and a child of a missing parent backs off."""
    frame = data.draw(frames(min_rows=4, missing=0.1).filter(lambda f: f.notna().any().all()))
    prior = data.draw(st.sampled_from(PRIORS))
    x = data.draw(networks(frame))
    model = bn.lp(x, frame, **prior, held_out="weights")
    *powers, of_class = model.powers
    shorter = {
        depth: bn.lp(
            bn.anb("class", {v: f[1:-1][:depth] for v, f in bn.feature_families(x).items()}, frame),
            frame,
            **prior,
        )
        for depth in range(4)
    }
    row = frame.iloc[:1].copy()
    codes = {v: row[v].cat.codes.item() for v in x.features}
    logs = of_class * np.log(bn.params(shorter[0])["class"])
    for v, power in zip(x.features, powers, strict=True):
        if codes[v] >= 0:
            above = bn.families(x)[v][1:-1]
            known = next((i for i, p in enumerate(above) if codes[p] < 0), len(above))
            table = bn.params(shorter[known])[v]
            logs = logs + power * np.log(table[tuple(codes[p] for p in (v, *above[:known]))])
    alone = replace_unchecked(model, fading=None)
    np.testing.assert_allclose(
        bn.predict(alone, row, prob=True).to_numpy()[0], np.exp(log_softmax(logs)), atol=1e-9
    )


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: next(iter(prior)))
def test_weighted_rows_count_as_if_repeated(car, prior):
    sample = car.sample(80, random_state=0).reset_index(drop=True)
    weights = np.arange(80) % 3 + 1.0
    data = bn.encode(sample)
    weighted = type(data)(data.schema, data.codes, data.index, weights)
    repeated = sample.loc[np.repeat(sample.index, weights.astype(int))]
    x = bn.anb("class", {"doors": ["lug_boot"]}, sample)
    for method in ({"held_out": "weights", "held_out_args": {"parents": True}}, {"held_out": "power"}, {}):
        models = [bn.lp(x, rows, **prior, **method) for rows in (weighted, repeated)]
        posteriors = [bn.predict(model, sample, prob=True) for model in models]
        pd.testing.assert_frame_equal(*posteriors, rtol=1e-6)


def test_explanations_of_weighted_models_add_up(car, votes):
    model = bn.lp(bn.tan_cl("class", car), car, backoff=True, held_out="weights")
    row = car.iloc[1727]
    told = bn.explain(model, row, target="vgood", against="acc")
    p = bn.predict(model, car.iloc[[1727]], prob=True).iloc[0]
    assert told["log_odds"].sum() == pytest.approx(np.log(p["vgood"] / p["acc"]))
    v = bn.families(model)["maint"]
    table = bn.cpt(model, "maint")
    given_classes = table.loc[row["maint"], row[v[1]]]
    difference = np.log(given_classes["vgood"] / given_classes["acc"])
    assert told.loc["maint", "log_odds"] == pytest.approx(bn.feature_weights(model)["maint"] * difference)
    powered = bn.lp(bn.aode("Class", votes), votes, smooth=1, held_out="power")
    p = bn.predict(powered, votes.head(1), prob=True).iloc[0]
    odds = bn.explain(powered, votes.head(1), target="democrat", against="republican")["log_odds"].sum()
    assert odds == pytest.approx(np.log(p["democrat"] / p["republican"]))


def test_models_without_a_joint_distribution_say_so(car):
    x = bn.tan_cl("class", car)
    for model in (
        bn.lp(x, car, backoff=True, held_out="weights"),
        bn.lp(bn.aode("class", car), car, smooth=1, held_out="power"),
    ):
        for question in (bn.loglik, bn.AIC, bn.BIC):
            with pytest.raises(TypeError, match="does not define a joint distribution"):
                question(model, car)
        assert bn.cloglik(model, car) < 0
        assert 0.8 < bn.cv(model, car, k=3, rng=0) <= 1
        with pytest.raises(TypeError, match="write_bif"):
            bn.write_bif(model, "never.bif")
        with pytest.raises(TypeError, match="missing"):
            bn.lp(model, car, smooth=1, missing="em")


def test_nothing_known_gives_the_class_shares_and_a_class_without_rows_a_smoothed_one():
    frame = pd.DataFrame(
        {"a": ["u", "v", "v", "v"] * 10, "y": pd.Categorical(list("ppqp") * 10, list("pqr"))}
    )
    x = bn.lp(bn.nb("y", frame), frame, smooth=1, held_out="weights")
    found = bn.predict(x, frame[[]].head(1), prob=True, unknown=["a"])
    expected = np.array([30 / 40, 10 / 40, 1 / 43])  # of r, (0 + 1) / (40 + 3)
    np.testing.assert_allclose(found, [expected / expected.sum()])


def test_learning_again_starts_from_the_structure(car):
    x = bn.tan_cl("class", car)
    plain = bn.lp(x, car, smooth=1)
    for method in ({"held_out": "weights"}, {"held_out": "power"}):
        again = bn.lp(bn.lp(x, car, smooth=2, **method), car, smooth=1)
        assert isinstance(again, bn.BNC)
        pd.testing.assert_frame_equal(bn.predict(again, car, prob=True), bn.predict(plain, car, prob=True))
