"""Weights of tables by held-out rows, also with several discretizations, and incomplete rows."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, softmax

import bnclassify as bn
from bnclassify.classifiers import BNC
from bnclassify.networks import backoff_prior
from bnclassify.scores import Rows, scores_at

from .conftest import read_reference
from .test_seams import TwoFeatures

WEIGHTS = {"backoff": True, "held_out": "weights", "held_out_args": {"parents": True}}


def learn(frame, **options):
    """Learn a model of several discretizations with weights by held-out rows."""
    options = {"discretize": "averaged", "dag_args": {"kdbk": 4}, **WEIGHTS, **options}
    return bn.bnc("kdb_mi", "class", frame, **options)


def trips(n=240, seed=1, gaps=0.0):
    """Make three numbers and two categories, of which some values are missing."""
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=n)
    distance = rng.normal(label, 1.5)
    hills = distance * rng.choice([-1, 1], 3)[label] + rng.normal(size=n)
    frame = pd.DataFrame({
        "distance": distance,
        "weather": np.array(["dry", "rain", "snow"])[(label + rng.integers(2, size=n)) % 3],
        "hills": hills,
        "cost": rng.exponential(1 + (label == 2), n),
        "flag": rng.integers(2, size=n),
    })  # fmt: skip
    frame = frame.mask(rng.random(frame.shape) < gaps) if gaps else frame
    frame["flag"] = frame["flag"].astype("Int64")
    return frame.assign(**{"class": np.array(["bus", "car", "walk"])[label]})


def patients(n=60, seed=0):
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "fever": rng.normal(37 + sick, 0.8, n).round(2),
            "pulse": rng.normal(70, 9, n).round(),
            "cough": np.where(rng.random(n) < np.where(sick, 0.7, 0.3), "yes", "no"),
            "town": rng.choice(["a", "b", "c"], n),
        }
    )
    return frame.assign(sick=np.where(sick, "yes", "no"))


@cache
def fitted(kind):
    frame = patients() if kind != "voting" else bn.load_voting().rename(columns={"Class": "sick"})
    learner = "tan_cl" if kind == "voting" else "kdb_mi"
    discretize = None if kind == "voting" else "averaged"
    model = bn.bnc(learner, "sick", frame, discretize=discretize, **WEIGHTS)
    return model, frame.drop(columns="sick")


def log_loss(model, frame, class_var):
    return -bn.cloglik(model, frame) / len(frame.dropna(subset=[class_var]))


def grid_concentrations(counts, bases, sizes, totals, total_sizes):
    """Choose among 14 concentrations, and go to the top of the parabola through the best three."""
    grid = np.exp(np.linspace(np.log(0.5), np.log(5000), 14))
    found = []
    ends, total_ends = sizes.cumsum()[:-1], total_sizes.cumsum()[:-1]
    parts = np.split(counts, ends), np.split(bases, ends), np.split(totals, total_ends)
    for n, base, total in zip(*parts, strict=True):
        of_cells = gammaln(np.multiply.outer(grid, base) + n) - gammaln(np.multiply.outer(grid, base))
        rows = total[total > 0]
        of_rows = gammaln(grid)[:, None] - gammaln(grid[:, None] + rows)
        value = of_cells.reshape(14, -1).sum(axis=1) + of_rows.sum(axis=1)
        i, shift = int(value.argmax()), 0.0
        if 0 < i < 13:
            low, middle, high = value[i - 1 : i + 2]
            bend = low - 2 * middle + high
            shift = 0.5 * (low - high) / bend if bend < 0 else 0.0
        found.append(grid[i] * (grid[1] / grid[0]) ** shift)
    return np.array(found)


def reference_data(name):
    """The rows of the reference figures: all of iris; three numbers and two flags of wine."""
    sets = pytest.importorskip("sklearn.datasets")
    loaded = sets.load_iris() if name == "iris" else sets.load_wine()
    frame = pd.DataFrame(loaded.data)
    if name == "wine":
        flags = [(loaded.data[:, j] > least).astype(int) for j, least in ((4, 100), (1, 2))]
        frame = pd.DataFrame(dict(enumerate([*loaded.data[:, [0, 6, 9]].T, *flags])))
    return frame.rename(columns=str).assign(**{"class": pd.Categorical(loaded.target)})


@pytest.mark.parametrize("name", [pytest.param("iris", marks=pytest.mark.slow), "wine"])
def test_weights_are_those_of_plain_loops(name, monkeypatch):
    """The reference searches concentrations on a grid."""
    monkeypatch.setattr(backoff_prior, "best_concentrations", grid_concentrations)
    monkeypatch.setattr(BNC, "depth", 4)  # the tables of level 4 are those of level 3 if there are 4 features
    frame, reference = reference_data(name), read_reference("recipe")[name]
    model = learn(frame[::2])
    order = ["class", *[str(i) for i in reference["order"]]]
    np.testing.assert_allclose(bn.feature_weights(model)[order], reference["base_weights"], atol=1e-7)
    summary = bn.loo_summary(model)
    assert summary["parents"] == reference["parents"]
    assert summary["power"] == pytest.approx(reference["power"], abs=1e-8)


def test_the_penalty_of_the_weights_counts_in_the_choice_of_parents():
    rng = np.random.default_rng(30)
    label = rng.integers(3, size=30)
    frame = pd.DataFrame({f"x{j}": (label + rng.integers(2, size=30)) % 3 for j in range(3)})
    frame = frame.assign(**{"class": label}).astype("category")
    summaries = []
    for k in range(3):
        options = {"discretize": None, "dag_args": {"kdbk": k}, "held_out_args": {}}
        summaries.append(bn.loo_summary(learn(frame, **options)))
    assert np.argmax([summary["log_likelihood"] for summary in summaries]) == 1
    assert np.argmax([summary["objective"] for summary in summaries]) == 2
    assert bn.loo_summary(learn(frame, discretize=None))["parents"] == 2


def test_contributions_sum_to_the_log_odds():
    frame = trips(gaps=0.1)
    model = learn(frame)
    logs = np.log(bn.predict(model, frame, prob=True).to_numpy())
    found = bn.explain(model, frame, target="car", against="bus")["log_odds"].unstack()  # noqa: PD010
    assert found.shape == (len(frame), 1 + len(model.features))
    np.testing.assert_allclose(found.sum(axis=1), logs[:, 1] - logs[:, 0], atol=1e-9)
    against_all = bn.explain(model, frame, target="car", against=["bus", "walk"])["log_odds"].unstack()  # noqa: PD010
    odds = logs[:, 1] - np.logaddexp(logs[:, 0], logs[:, 2])
    np.testing.assert_allclose(against_all.sum(axis=1), odds, atol=1e-9)


@pytest.mark.parametrize("backoff", [True, False])
def test_tables_of_all_configurations_are_those_of_their_rows(backoff):
    car = bn.load_car().iloc[::7]
    for parents in ({"buying": ["safety", "doors"]}, {"class": ["safety", "maint"], "doors": ["class"]}):
        if "class" in parents:
            x = bn.from_modelstring("[safety][maint][class|safety:maint][doors|class:safety]", "class")
        else:
            x = bn.anb("class", parents, car)
        prior = {"backoff": True} if backoff else {"smooth": 1, "held_out": "weights"}
        columns = [name for name in car if name in x.variables]
        fitted = bn.lp(x, car[columns], **{"held_out": "weights", **prior})
        for table in fitted.tables[0]:
            levels, *cards = table.cards
            *given, variable = np.indices((*cards, levels)).reshape(len(table.cards), -1)
            for grid, value in zip(
                table.full_tables_by_depth(), table.probabilities_at_rows([variable, *given]), strict=True
            ):
                full = np.broadcast_to(grid, (*cards, *grid.shape[-2:]))
                np.testing.assert_allclose(full.reshape(value.shape), value, rtol=1e-14)


@pytest.mark.parametrize("kind", ["weights", "voting"])
def test_nothing_observed_gives_the_class_distribution(kind):
    model, frame = fitted(kind)
    nothing = pd.DataFrame(np.nan, index=[0], columns=frame.columns)
    classes = bn.load_voting()["Class"] if kind == "voting" else patients()["sick"]
    shares = classes.value_counts(sort=False, normalize=True).sort_index()
    found = bn.predict(model, nothing, prob=True)[shares.index].iloc[0]
    np.testing.assert_allclose(found, shares, rtol=1e-12)


def test_incomplete_rows_are_blended_with_a_tree():
    car = bn.load_car()
    model = bn.lp(bn.kdb_mi("class", car, kdbk=2), car, **WEIGHTS)
    fading = model.fading
    table = model.network
    families = tuple([(v, *ps[:1], "class") if len(ps) > 1 else (v, *ps) for v, *ps in table.families])
    tree = bn.lp(bn.BNC("class", families), car, backoff=True)
    row = {"buying": "low", "persons": "4", "safety": "high"}
    hidden = [name for name in car.columns[:-1] if name not in row]
    values = [bn.values(model)[name] for name in hidden]
    rows = pd.DataFrame([row | dict(zip(hidden, labels, strict=True)) for labels in product(*values)])
    every = np.array([[bn.values(model)[v].index(label) for label in rows[v]] for v in model.features])
    densities = np.exp(scores_at(tree.score, Rows(every))).T
    prior = np.log(np.asarray(bn.params(tree)["class"]))
    evidence = np.log(densities.sum(axis=1)) - prior
    share = len(hidden) / 6  # no training row lacks a value
    levels = bn.values(model)
    codes = np.array([[levels[v].index(row[v]) if v in row else -1] for v in model.features])
    terms = scores_at(model.sum_of_terms, Rows(codes))[0]
    power = fading.power + (1 - fading.power) * share
    kept = 1 - share
    shares = car["class"].value_counts(normalize=True)[list(bn.classes(model))]
    score = kept * terms + (1 - kept) * (np.log(shares.to_numpy()) + power * evidence)
    expected = softmax(score)
    np.testing.assert_allclose(bn.predict(model, row, prob=True).iloc[0], expected, atol=1e-9)


@pytest.mark.parametrize(("hidden", "most"), [(0.5, 1.1), (0.9, 1.1)])
def test_incomplete_votes(hidden, most):
    votes = bn.load_voting()
    train, test = votes.iloc[::2], votes.iloc[1::2]
    rng = np.random.default_rng(5)
    features = votes.columns.drop("Class")
    test = test.assign(**{name: test[name].mask(rng.random(len(test)) < hidden) for name in features})
    model = bn.bnc("kdb_mi", "Class", train, **WEIGHTS)
    tree = bn.lp(bn.tan_cl("Class", train, score="aic"), train, smooth=1)
    assert log_loss(model, test, "Class") < most * log_loss(tree, test, "Class")


def test_power_of_an_ensemble_fades():
    car = bn.load_car()
    model = bn.lp(bn.aode("class", car), car, smooth=1, held_out="power")
    plain = bn.lp(bn.aode("class", car), car, smooth=1)
    row = {"safety": "high", "persons": "4"}
    power = bn.loo_summary(model)["power"]
    at_row = power + (1 - power) * 4 / 6
    expected = softmax(at_row * np.log(bn.predict(plain, row, prob=True)), axis=1)
    np.testing.assert_allclose(bn.predict(model, row, prob=True), expected, atol=1e-12)
    told = bn.explain(model, row, target="acc", against="unacc")["log_odds"].sum()
    p = bn.predict(model, row, prob=True).iloc[0]
    assert told == pytest.approx(np.log(p["acc"] / p["unacc"]))


def test_one_class_or_few_rows():
    """Columns may be constant, or missing in most rows, and classes may have one row."""
    frame = trips(12, gaps=0.5).assign(same=1.5, huge=np.linspace(-1, 1, 12) * 1e300)
    for rows in (frame, frame.iloc[:3], frame.assign(**{"class": "bus"})):
        for discretize in ("averaged", "mdlp"):
            posteriors = bn.predict(learn(rows, discretize=discretize), frame, prob=True, unseen="missing")
            np.testing.assert_allclose(posteriors.sum(axis=1), 1)


def test_whole_weights_equal_repeated_rows():
    frame = trips(80, gaps=0.05)
    n = np.random.default_rng(4).integers(0, 4, len(frame))
    repeated = frame.loc[frame.index.repeat(n)].reset_index(drop=True)
    levels = {
        c: pd.CategoricalDtype(sorted(frame[c].dropna().unique())) for c in ("weather", "flag", "class")
    }
    weighted = learn(bn.encode(frame.astype(levels), weights=n))
    again = learn(repeated.astype(levels))
    new = trips(50, seed=9)
    pd.testing.assert_frame_equal(
        bn.predict(weighted, new, prob=True), bn.predict(again, new, prob=True), rtol=1e-5, atol=1e-7
    )
    for item in ("objective", "log_likelihood"):
        assert bn.loo_summary(weighted)[item] == pytest.approx(bn.loo_summary(again)[item], rel=1e-8)


def test_files_and_other_functions(tmp_path):
    frame = trips(100)
    model = learn(frame)
    bn.save(model, tmp_path / "model.json")
    loaded = bn.load(tmp_path / "model.json")
    pd.testing.assert_frame_equal(bn.predict(loaded, frame, prob=True), bn.predict(model, frame, prob=True))
    pd.testing.assert_series_equal(bn.feature_weights(loaded), bn.feature_weights(model))
    assert len(bn.members(model)) == 9
    for function in (lambda: bn.sample(model, 3), lambda: bn.loglik(model, frame)):
        with pytest.raises(TypeError, match="does not define a joint distribution"):
            function()
    again = bn.lp(model, frame, **WEIGHTS)
    pd.testing.assert_frame_equal(bn.predict(again, frame, prob=True), bn.predict(model, frame, prob=True))


@pytest.mark.slow
def test_cross_validation_and_scikit_learn():
    frame = trips()
    model = learn(frame)
    folds = bn.stratified_folds(frame["class"], 3, rng=0)
    found = bn.cv_predict(model, frame, folds=folds)
    for fold in range(3):
        own = learn(frame[folds != fold])
        expected = bn.predict(own, frame[folds == fold], prob=True)
        pd.testing.assert_frame_equal(found[folds == fold], expected, check_names=False, rtol=1e-6)
    pytest.importorskip("sklearn")
    settings = {name: value for name, value in WEIGHTS.items() if name != "backoff"}
    from bnclassify.sklearn import BNCClassifier

    classifier = BNCClassifier(
        "kdb_mi", discretize="averaged", dag_args={"kdbk": 4}, lp_args={"backoff": True, **settings}
    )
    classifier.fit(frame.drop(columns="class"), frame["class"])
    np.testing.assert_allclose(
        classifier.predict_proba(frame.drop(columns="class")), bn.predict(model, frame, prob=True), rtol=1e-6
    )


def test_tables_that_are_written_later_give_the_same_to_the_last_bit(monkeypatch):
    monkeypatch.setattr("bnclassify.networks.weighted._CALL", 0)
    frame = trips(400)
    model = learn(frame)
    first = bn.predict(model, frame.head(3), prob=True)
    found = [bn.predict(model, frame, prob=True) for _ in range(30)]
    assert all(each.equals(found[0]) for each in found)
    assert found[0].head(3).equals(first)


def test_subsumption_needs_no_prior_in_bnc(car):
    x = bn.bnc("tan_cl", "class", car, subsumption=30)
    expected = bn.lp(bn.tan_cl("class", car), car, smooth=1, subsumption=30)
    pd.testing.assert_frame_equal(bn.predict(x, car, prob=True), bn.predict(expected, car, prob=True))


def test_updated_rows_of_cases_are_counted_as_before(car):
    weights = np.linspace(0.5, 2, len(car))
    data = bn.encode(car, weights=weights, weights_are="cases")
    x = bn.lp(bn.nb("class", data), data, smooth=1)
    rows = [bn.summary(one).set_index("item")["value"]["rows"] for one in (x, bn.update(x, data))]
    assert rows[0].startswith("1,728 (")
    assert rows[1].startswith("3,456 (")


def settings(model):
    return dict(model.recipe.parameters.settings)


def test_priors_of_each_model_type_without_a_prior():
    car = bn.load_car()
    for learner in ("nb", "tan_cl", "kdb_mi", "hc", "aode"):
        assert settings(bn.bnc(learner, "class", car)) == {"backoff": True}
    assert settings(bn.bnc("ande", "class", car)) == {"smooth": 1}
    assert settings(bn.bnc("chisq_dn", "class", car)) == {"smooth": 1}
    assert settings(bn.bnc("nb", "class", car, wanbia=True)) == {"smooth": 1, "wanbia": True}
    parts = bn.bnc("nb", "class", lambda: iter([car.iloc[::2], car.iloc[1::2]]))
    assert settings(parts) == {"backoff": True}


def test_a_family_of_ones_own_is_fitted_as_itself():
    car = bn.load_car()

    def learner(class_var, dataset):
        return TwoFeatures(bn.nb(class_var, dataset))

    model = bn.bnc(learner, "class", car)
    assert isinstance(model, TwoFeatures)
    assert settings(model) == {"smooth": 1}
