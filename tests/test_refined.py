"""Refined models: tables with Gaussian terms, slopes and shifts, weighted by leave-one-out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import gammaln, log_softmax, ndtri
from scipy.stats import t as student

import bnclassify as bn
from bnclassify.base.arrays import Array
from bnclassify.inference.evidence import effect_on_log_odds
from bnclassify.model.arguments import encode_for_model
from bnclassify.model.model import replace_unchecked
from bnclassify.network.classifiers import BNC
from bnclassify.recipe import additional_terms, backoff_prior
from bnclassify.recipe import conditional_likelihood as cll
from bnclassify.recipe.additional_terms import _order_and_parents_of_numbers
from bnclassify.recipe.design_matrix import DesignMatrix
from bnclassify.recipe.number_terms import (
    GaussianTerm,
    _StackedGaussians,
    fit_gaussian_terms,
    normal_scores,
    z_score_scale,
)
from bnclassify.recipe.prefix_tables import LeftOutRows, class_probabilities, feature_probabilities
from bnclassify.recipe.refined import KNOWN_TERMS, Refined
from bnclassify.scores.evaluate import term_values_at
from bnclassify.scores.formulas import Slope, Student

from .conftest import read_reference

ARGS: dict[str, Any] = {"parents": True, "terms": KNOWN_TERMS}
BEST: dict[str, Any] = {"backoff": True, "held_out": "weights", "held_out_args": ARGS}


def learn(frame: pd.DataFrame, **options: Any) -> Any:
    """Learn a model; options that are arguments of `held_out` replace those of ARGS."""
    args = {name: options.pop(name, value) for name, value in ARGS.items()}
    options = {"discretize": "averaged", "dag_args": {"kdbk": 4}, **BEST, "held_out_args": args, **options}
    return bn.bnc("kdb_mi", "class", frame, **options)


def trips(n: int = 240, seed: int = 1, gaps: float = 0.0) -> pd.DataFrame:
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


def grid_concentrations(counts: Array, bases: Array, sizes: Any, totals: Array, total_sizes: Any) -> Array:
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


def reference_data(name: str) -> pd.DataFrame:
    """The rows of the reference figures: all of iris; three numbers and two flags of wine."""
    sets = pytest.importorskip("sklearn.datasets")
    loaded = sets.load_iris() if name == "iris" else sets.load_wine()
    frame = pd.DataFrame(loaded.data)
    if name == "wine":
        flags = [(loaded.data[:, j] > least).astype(int) for j, least in ((4, 100), (1, 2))]
        frame = pd.DataFrame(dict(enumerate([*loaded.data[:, [0, 6, 9]].T, *flags])))
    return frame.rename(columns=str).assign(**{"class": pd.Categorical(loaded.target)})


def _at_training_values(test: pd.DataFrame, train: pd.DataFrame) -> pd.DataFrame:
    """Numbers between two of the training rows become the larger one.

    The cut points of the reference are at the smaller one, and those of the package between them.
    """
    moved = test.copy()
    for name in test.columns.drop("class"):
        values = np.unique(train[name])
        moved[name] = values[np.searchsorted(values, test[name]).clip(max=len(values) - 1)]
    return moved


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_recipe_is_that_of_plain_loops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference searches concentrations on a grid."""
    monkeypatch.setattr(backoff_prior, "best_concentrations", grid_concentrations)
    monkeypatch.setattr(BNC, "depth", 4)  # the tables of level 4 are those of level 3 if there are 4 features
    frame, reference = reference_data(name), read_reference("recipe")[name]
    train, test = frame[::2], frame[1::2]
    actual = test["class"].cat.codes
    plain = learn(train, terms=())
    weights = bn.feature_weights(plain)
    order = ["class", *[str(i) for i in reference["order"]]]
    np.testing.assert_allclose(weights[order], reference["base_weights"], atol=1e-7)
    of_plain = bn.predict(plain, _at_training_values(test, train), prob=True).to_numpy()
    loss = -np.log(of_plain[np.arange(len(test)), actual]).mean()
    assert loss == pytest.approx(reference["base_log_loss"], abs=1e-8)

    model = learn(train, terms=("gaussians", "slopes", "shifts", "depths"))
    summary = bn.loo_summary(model)
    assert summary["parents"] == reference["parents"]
    assert summary["power"] == pytest.approx(reference["power"], abs=1e-8)
    assert summary["log_likelihood"] / -len(train) == pytest.approx(reference["log_loss_left_out"], abs=1e-8)
    names = ["tables", "depths", "gaussians", "slopes", "shifts"]
    expected = dict(zip(names, reference["ridges"], strict=True))
    assert summary["ridges"] == pytest.approx({k: expected[k] for k in summary["ridges"]}, rel=1e-5)
    if name == "iris":  # the other figures of test rows are of cut points at values
        posteriors = bn.predict(model, test.head(3), prob=True).to_numpy()
        np.testing.assert_allclose(posteriors.ravel(), reference["posteriors"], atol=1e-7)


def test_the_number_of_parents_has_the_largest_likelihood() -> None:
    """Without additional terms, the penalty of the weights counts, too."""
    rng = np.random.default_rng(30)
    label = rng.integers(3, size=30)
    frame = pd.DataFrame({f"x{j}": (label + rng.integers(2, size=30)) % 3 for j in range(3)})
    frame = frame.assign(**{"class": label}).astype("category")
    plain = {"discretize": None, "terms": ()}
    of_each = [bn.loo_summary(learn(frame, dag_args={"kdbk": k}, parents=False, **plain)) for k in range(3)]
    assert np.argmax([summary["log_likelihood"] for summary in of_each]) == 1
    assert np.argmax([summary["objective"] for summary in of_each]) == 2
    assert bn.loo_summary(learn(frame, **plain))["parents"] == 2
    assert bn.loo_summary(learn(frame, discretize=None, terms=("depths",)))["parents"] == 1


def regression(scores: Array, number: int, parents: list[int], classes: Any, weights: Array) -> GaussianTerm:
    """The term of one of the numbers, the others having no parents."""
    of_all = [parents if i == number else [] for i in range(scores.shape[1])]
    rows = LeftOutRows(classes, weights)
    return fit_gaussian_terms(scores, np.isnan(scores.T), of_all, rows, classes.max() + 1)[number]


def log_density(term: GaussianTerm, scores: Array, number: int, left_out: LeftOutRows | None = None) -> Any:
    """The logs of predictive densities, (rows, classes), without the ``left_out`` rows."""
    [logs] = _StackedGaussians.from_terms([number], [term]).log_densities(
        scores, np.isnan(scores).T, left_out
    )
    return logs


def test_gaussian_terms_leave_rows_out_as_if_refitted() -> None:
    rng = np.random.default_rng(0)
    scores, classes = rng.normal(size=(25, 4)), rng.integers(3, size=25)
    weights = rng.choice([0.5, 1.0, 2.0], 25)
    term = regression(scores, 3, [0, 2], classes, weights)
    shares = np.minimum(weights, 1.0)
    found = log_density(term, scores, 3, LeftOutRows(classes, shares))
    for i in range(25):
        rest = weights.copy()
        rest[i] -= shares[i]
        refitted = regression(scores, 3, [0, 2], classes, rest)
        np.testing.assert_allclose(found[i], log_density(refitted, scores[[i]], 3)[0], rtol=1e-9)


def test_gaussian_terms_are_predictive_densities_of_a_regression() -> None:
    rng = np.random.default_rng(1)
    scores, classes = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    term = regression(scores, 1, [0], classes, np.ones(40))
    new = rng.normal(size=(5, 2))
    for c in range(2):
        design = np.column_stack([np.ones(40), scores[:, 0]])[classes == c]
        x = scores[classes == c, 1]
        precision = np.diag([0.01, 1.0]) + design.T @ design
        mean = np.linalg.solve(precision, design.T @ x)
        shape, rate = 2 + len(x) / 2, 0.5 + (x @ x - mean @ precision @ mean) / 2
        for row, density in zip(new, log_density(term, new, 1)[:, c], strict=True):
            u = np.array([1, row[0]])
            scale = np.sqrt(rate / shape * (1 + u @ np.linalg.solve(precision, u)))
            assert density == pytest.approx(student.logpdf(row[1], 2 * shape, u @ mean, scale), rel=1e-9)


def test_a_gaussian_term_has_the_eight_most_correlated_parents() -> None:
    """Of ten copies of a number with more and more noise, the last one depends on the clearest eight."""
    rng = np.random.default_rng(0)
    n = 3_000
    signal = rng.normal(size=n)
    names = [f"x{i}" for i in range(11)]
    # The less a column tells about the class, the later it comes; column 10 comes last.
    label = rng.integers(2, size=n)
    spreads = [0.2 + 0.1 * i for i in range(10)]
    values = np.array([signal + rng.normal(0, s, n) + (3 - 0.2 * i) * label for i, s in enumerate(spreads)])
    values = np.vstack([values, signal + rng.normal(0, 0.1, n)])
    frame = pd.DataFrame(values.T, columns=names).assign(c=np.where(label, "u", "v"))
    data = bn.encode(frame.assign(**dict.fromkeys(names, "a")))
    order, parents = _order_and_parents_of_numbers(values, data, range(11))
    assert order[-1] == 10
    assert [len(each) for each in parents] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]
    assert {order[i] for i in parents[-1]} == set(range(8))


def test_scales() -> None:
    scales = (normal_scores, z_score_scale)
    numbers, weights = np.array([3.0, 1.0, np.nan, 3.0, 8.0]), np.array([1.0, 2.0, 5.0, 1.0, 1.0])
    repeated = np.array([3.0, 1.0, 1.0, 3.0, 8.0])
    for make in scales:
        scale = make(numbers, weights)
        new = np.array([-1e6, 1.0, 2.0, 3.0, 7.5, 1e6, np.nan])
        np.testing.assert_allclose(scale(new), make(repeated, np.ones(5))(new), atol=1e-12)
        assert scale(new)[-1] == 0
    assert normal_scores(numbers, weights)(np.array([3.0]))[0] == pytest.approx(0.2533471)  # quantile of 3/5
    np.testing.assert_allclose(z_score_scale(repeated, np.ones(5))(np.array([1e9, 3.2])), [5, 0], atol=1e-9)
    many = np.random.default_rng(0).normal(size=20_000)
    exact = (many.argsort().argsort() + 0.5) / 20_000
    thinned = normal_scores(many, np.ones(20_000))
    assert len(thinned.knots) <= 1024
    np.testing.assert_allclose(thinned(many), ndtri(exact), atol=0.02)
    for constant in (np.full(3, 7.0), np.full(3, np.nan)):
        assert not any(make(constant, np.ones(3))(np.array([0.0, 9.0])).any() for make in scales)
    tiny, huge = [z_score_scale(np.array([-size, size]), np.ones(2)) for size in (1e-300, 1.7e308)]
    assert tiny(np.array([1e-300]))[0] == pytest.approx(1, rel=1e-9)
    assert np.abs(huge(np.array([-1.7e308, 0.0, 1.7e308]))).max() <= 5


@pytest.mark.parametrize("case", ["plain", "sparse", "wide", "sampled", "large"])
def test_weights_are_at_their_optimum(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    n = 12 if case == "wide" else 400
    if case == "sampled":
        monkeypatch.setattr(cll, "_PRODUCTS", 1.0)
    if case == "large":
        monkeypatch.setattr(cll, "_MOST_CELLS", 1)
        monkeypatch.setattr(cll.LogisticProblem, "information_or_factor", None)  # never computed
    shared, columns = [rng.normal(size=(k, 2, n)) for k in (5, 3)], rng.normal(size=(n, 6))
    kept = sparse.csr_array(columns) if case == "sparse" else columns
    counts, classes = rng.integers(0, 3, n).astype(float), rng.integers(3, size=n)
    problem = cll.LogisticProblem(shared, classes, counts, DesignMatrix(kept))
    ridges, mean = rng.uniform(0.5, 3, problem.n_weights), rng.normal(size=problem.n_weights)

    def objective(of_shared: Array, of_columns: Array) -> float:
        terms = np.concatenate(shared)
        scores = np.concatenate([np.zeros((1, n)), np.tensordot(of_shared, terms, 1)]).T
        logs = log_softmax(scores + columns @ of_columns, axis=1)[np.arange(n), classes]
        distance = np.concatenate([of_shared, of_columns.ravel()])
        means = np.concatenate([mean[:8], problem.column_weights_by_class(mean).ravel()])
        all_ridges = np.concatenate([ridges[:8], np.repeat(column_ridges, 3)])
        return float(counts @ logs - 0.5 * all_ridges @ (distance - means) ** 2)

    column_ridges = np.full(6, 2.0)
    ridges[8:] = 2.0
    weights, total, _ = cll.best_weights(problem, mean, ridges, mean)
    by_class = problem.column_weights_by_class(weights)
    np.testing.assert_allclose(by_class.sum(axis=1), 0, atol=1e-12)
    best = objective(weights[:8], by_class)
    likelihood = cll.log_likelihood(total, classes, counts)
    penalty = 0.5 * ridges @ (weights - mean) ** 2
    assert best == pytest.approx(likelihood - penalty, rel=1e-10)
    for step in rng.normal(scale=1e-3, size=(20, 8 + 18)):
        assert objective(weights[:8] + step[:8], by_class + step[8:].reshape(6, 3)) < best


def test_precisions_of_many_weights_are_found_without_their_curvature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The part of each class, taken apart, gives nearly the same precisions as the whole."""
    rng = np.random.default_rng(5)
    n, classes = 600, rng.integers(4, size=600)
    shared = rng.normal(size=(4, 3, n)) * 0.3 + (np.arange(1, 4)[:, None] == classes) * 0.5
    columns = rng.normal(size=(n, 8))
    columns[:, 0] += classes == 2
    problem = cll.LogisticProblem([shared], classes, np.ones(n), DesignMatrix(columns))
    blocks = np.repeat([0, 1, 2], [2, 2, problem.n_weights - 4])
    weights, _, exact = cll.fit_weights_and_ridges(
        problem, np.zeros(problem.n_weights), blocks, [3.0, 10.0, 10.0]
    )
    monkeypatch.setattr(cll, "_MOST_CELLS", 60)
    again = cll.LogisticProblem([shared], classes, np.ones(n), DesignMatrix(columns))
    assert not again.has_small_information
    close, _, found = cll.fit_weights_and_ridges(
        again, np.zeros(problem.n_weights), blocks, [3.0, 10.0, 10.0]
    )
    np.testing.assert_allclose(found, exact, rtol=0.1)
    np.testing.assert_allclose(close, weights, atol=0.02)


def test_variances_of_a_wide_problem() -> None:
    rng = np.random.default_rng(3)
    root, ridges = rng.normal(size=(9, 4)), rng.uniform(1, 3, 9)
    for curvature, information in ((root, root @ root.T), (root @ root.T,) * 2, (root[:, :0], 0)):
        whole = np.linalg.inv(information + np.diag(ridges))
        solve, variances = cll.solver_and_variances(curvature, ridges)
        np.testing.assert_allclose(solve(np.arange(9.0)), whole @ np.arange(9.0), rtol=1e-9)
        np.testing.assert_allclose(variances(), np.diagonal(whole), rtol=1e-9)


@pytest.mark.parametrize("discretize", ["averaged", "mdlp"])
def test_contributions_sum_to_the_log_odds(discretize: str) -> None:
    frame = trips(gaps=0.1)
    model = learn(frame, discretize=discretize)
    assert isinstance(model, Refined)
    assert [model.features[i] for i in model.numbers]
    logs = np.log(bn.predict(model, frame, prob=True).to_numpy())
    found = bn.explain(model, frame, target="car", against="bus")["log_odds"].unstack()  # noqa: PD010
    assert found.columns.tolist()[0] == "class"
    assert found.shape == (len(frame), 1 + len(model.features))
    np.testing.assert_allclose(found.sum(axis=1), logs[:, 1] - logs[:, 0], atol=1e-9)
    gaps = model.gaps[model.features.index("hills")]
    missing = found["hills"][frame["hills"].isna()]
    assert model.fading is not None
    lacking = frame[[*model.features]].isna().sum(axis=1)[frame["hills"].isna()]
    share = model.fading.gaps / np.maximum(lacking, model.fading.gaps)  # of the shift, and nothing else
    np.testing.assert_allclose(missing, (gaps[1] - gaps[0]) * share, atol=1e-12)
    rivals = ["bus", "walk"]
    against_all = bn.explain(model, frame, target="car", against=rivals)["log_odds"].unstack()  # noqa: PD010
    odds = logs[:, 1] - np.logaddexp(logs[:, 0], logs[:, 2])
    np.testing.assert_allclose(against_all.sum(axis=1), odds, atol=1e-9)


def test_terms_of_a_feature() -> None:
    frame = trips()
    model = learn(frame)
    weights = bn.feature_weights(model)
    assert weights.index.tolist() == ["class", *frame.columns[:-1]]
    depths = [f"depth {i}" for i in range(5)]
    assert weights.columns.tolist() == [*depths, "gaussians", "zscores", "densities", "slopes", "shifts"]
    numeric = weights[["gaussians", "zscores", "slopes"]].notna().all(axis=1)
    assert numeric[numeric].index.tolist() == ["distance", "hills", "cost"]
    assert weights["shifts"].dropna().index.tolist() == ["weather", "flag"]
    row = frame.iloc[[0]]
    rows = model.rows_to_score(_encoded(model, row))
    [total] = model.scores_of_complete_rows(rows)
    assert rows.codes.shape == (len(model.features), 1)
    assert {i: len(values) for i, values in rows.numbers.items()} == dict.fromkeys(model.numbers, 1)
    np.testing.assert_allclose(
        log_softmax(total), np.log(bn.predict(model, row, prob=True))[0:1].to_numpy()[0]
    )


def _encoded(model: Any, frame: pd.DataFrame) -> bn.Dataset:
    return encode_for_model(model, frame, model.features)


def test_left_out_rows_of_a_fitted_model() -> None:
    """The contributions of excluded rows give the log-likelihood that was maximized."""
    frame = trips()
    model = learn(frame)
    rows = model.rows_to_score(_encoded(model, frame))
    numbers = np.array([rows.numbers[i] for i in model.numbers])
    classes = np.searchsorted(["bus", "car", "walk"], frame["class"])
    left_out = LeftOutRows(classes, np.ones(len(frame)))
    total = np.zeros((len(frame), 3))
    parts = [part for term in model.model_of_tables.sum_of_terms.terms for part in term.parts]
    for codings, term in parts:
        pairs = zip(term.features, codings, strict=True)
        members = [rows.codes[i] if coding is None else coding[rows.codes[i]] for i, coding in pairs]
        of_rows = (
            class_probabilities(term.table.as_stack, members, len(frame), left_out)
            if term.of_class
            else feature_probabilities(term.table.as_stack, members, left_out)
        )
        total += sum(power * np.log(values) for power, values in zip(term.powers, of_rows, strict=True))
    for terms in model.of_numbers:
        scores = terms.scores(numbers)
        total += np.tensordot(terms.powers, terms.log_densities(numbers, scores, left_out), 1)
        total += scores @ terms.slopes if len(terms.slopes) else 0
    for i, shifts in enumerate(model.shifts):
        total += 0 if shifts is None else shifts[rows.codes[i]]
    logs = log_softmax(total, axis=1)[np.arange(len(frame)), classes]
    assert logs.sum() == pytest.approx(bn.loo_summary(model)["log_likelihood"], rel=1e-9)


@pytest.mark.parametrize(
    "terms", [("depths",), ("shifts",), ("slopes",), ("zscores",), ("gaussians", "slopes")]
)
def test_some_terms(terms: tuple[str, ...]) -> None:
    frame = trips()
    model, plain = learn(frame, terms=terms), learn(frame, terms=())
    assert set(bn.loo_summary(model)["ridges"]) == {"tables", *terms}
    assert bn.loo_summary(model)["objective"] >= bn.loo_summary(plain)["objective"]
    table = bn.feature_weights(model)
    assert set(terms) - {"depths"} == set(table.columns) - {"tables", *[f"depth {i}" for i in range(5)]}


def test_only_frequent_levels_have_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(additional_terms, "_MOST_SHIFTS", 4)
    codes = [*"aaabbbccddefghij", *"aabbcd"]
    frame = pd.DataFrame({"x": codes, "y": list("pq") * 11, "class": list("uuv") * 7 + ["v"]})
    model = bn.lp(
        bn.nb("class", frame), frame, backoff=True, held_out="weights", held_out_args={"terms": ["shifts"]}
    )
    shifted = [[str(values[i]) for i in np.flatnonzero(table.any(axis=1))]
               for values, table in zip(model.levels, model.shifts, strict=False)]  # fmt: skip
    assert shifted == [["a", "b"], ["p", "q"]]


def test_steps_are_shifts_of_intervals_by_mdlp() -> None:
    """A bump, which neither a slope nor nine tables by quantiles describe as sharply as its own intervals."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=900)
    labels = np.where((x > 0.41) & (x < 0.47), "in", np.where(rng.uniform(size=900) < 0.5, "low", "high"))
    frame = pd.DataFrame({"x": x, "class": labels})
    args = {"backoff": True, "held_out": "weights", "held_out_args": {"terms": ["steps"]}}
    model = bn.bnc("nb", "class", frame, discretize="averaged_mdlp", **args)
    mdlp = bn.bnc("nb", "class", frame, discretize="mdlp", smooth=1)
    [shifts] = model.shifts
    middle = np.array([0.0, *model.preparation.discretizer.cuts["x"]]) + 1e-9
    intervals = bn.preparation(mdlp).discretizer.cuts["x"]
    of_interval = np.searchsorted(intervals, middle)
    assert len(intervals) >= 2
    assert np.abs(shifts[:-1]).max() > 0.1
    for interval in np.unique(of_interval):
        own = shifts[:-1][of_interval == interval]
        np.testing.assert_array_equal(own, np.broadcast_to(own[0], own.shape))


def test_one_class_or_few_rows() -> None:
    """Columns may be constant, or missing in most rows, and classes may have one row."""
    frame = trips(12, gaps=0.5).assign(same=1.5, huge=np.linspace(-1, 1, 12) * 1e300)
    for rows in (frame, frame.iloc[:3], frame.assign(**{"class": "bus"})):
        for discretize in ("averaged", "mdlp"):
            posteriors = bn.predict(learn(rows, discretize=discretize), frame, prob=True, unseen="missing")
            np.testing.assert_allclose(posteriors.sum(axis=1), 1)


def test_numbers_that_are_parents_of_numbers_are_not_effects_of_one_feature() -> None:
    numbers = trips(60)[["distance", "hills", "class"]]
    for terms, is_sum in ((["densities"], True), (["gaussians"], False)):
        model = bn.bnc("nb", "class", numbers, held_out_args={"terms": terms})
        assert ("form" in set(bn.summary(model)["item"])) == is_sum


def test_terms_without_suitable_columns_are_skipped(car: pd.DataFrame) -> None:
    model = bn.lp(bn.kdb_mi("class", car, kdbk=2), car, **BEST)
    assert set(bn.loo_summary(model)["ridges"]) == {"tables", "depths", "shifts"}
    assert bn.loo_summary(model)["rows"] == len(car)
    numbers = trips()[["distance", "hills", "class"]]
    assert "shifts" not in bn.loo_summary(learn(numbers))["ridges"]
    options: dict[str, Any] = {"held_out": "weights", "held_out_args": {"terms": ["slopes", "gaussians"]}}
    bare = bn.lp(bn.nb("class", car), car, backoff=True, **options)
    weights = bn.lp(bn.nb("class", car), car, backoff=True, held_out="weights")
    pd.testing.assert_series_equal(
        bn.feature_weights(bare)["tables"].rename("weight"), bn.feature_weights(weights), rtol=1e-6
    )
    pd.testing.assert_frame_equal(
        bn.predict(bare, car, prob=True), bn.predict(weights, car, prob=True), rtol=1e-6
    )


def test_whole_weights_equal_repeated_rows() -> None:
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


def test_missing_numbers_have_no_gaussian_term_nor_slope() -> None:
    frame = trips(gaps=0.2)
    model = learn(frame)
    nothing = bn.predict(model, {"distance": None}, prob=True)
    assert nothing.notna().all(axis=None)
    rows = model.rows_to_score(_encoded(model, frame.dropna().iloc[[0]].assign(distance=np.nan)))
    parts = dict.fromkeys(range(len(model.features)), 0.0)
    others = [term for term in model.sum_of_terms.terms if isinstance(term, Slope | Student)]
    for owner, logs in term_values_at(replace(model.sum_of_terms, terms=tuple(others)), rows):
        parts[owner] += np.abs(logs).sum()
    assert parts[0] == 0
    assert parts[2] > 0
    one = frame.iloc[:20]
    each = pd.concat([bn.predict(model, one.iloc[[i]], prob=True) for i in range(20)])
    pd.testing.assert_frame_equal(each, bn.predict(model, one, prob=True))


@pytest.mark.slow
def test_files_and_other_functions(tmp_path: Path) -> None:
    frame = trips()
    model = learn(frame)
    bn.save(model, tmp_path / "model.json")
    loaded = bn.load(tmp_path / "model.json")
    pd.testing.assert_frame_equal(bn.predict(loaded, frame, prob=True), bn.predict(model, frame, prob=True))
    pd.testing.assert_frame_equal(bn.feature_weights(loaded), bn.feature_weights(model))
    assert len(bn.members(model)) == 9
    with pytest.raises(ValueError, match=r"follow from counts; .* fit a model with such tables: bnc"):
        bn.update(model, frame)
    for function in (lambda: bn.sample(model, 3), lambda: bn.loglik(model, frame)):
        with pytest.raises(TypeError, match="does not define a joint distribution"):
            function()
    again = bn.lp(model, frame, **BEST)
    pd.testing.assert_frame_equal(bn.predict(again, frame, prob=True), bn.predict(model, frame, prob=True))
    plain = bn.lp(model, frame, smooth=1)
    assert not isinstance(plain, Refined)
    categories = model.preparation.discretizer(frame)
    with pytest.raises(ValueError, match="newdata must contain numbers in"):
        bn.predict(model, bn.encode(categories))
    assert bn.cloglik(model, frame) == pytest.approx(
        sum(np.log(bn.predict(model, frame, prob=True).to_numpy()[i, c])
            for i, c in enumerate(np.searchsorted(["bus", "car", "walk"], frame["class"])))
    )  # fmt: skip


@pytest.mark.slow
def test_cross_validation_and_scikit_learn() -> None:
    frame = trips()
    model = learn(frame)
    folds = bn.stratified_folds(frame["class"], 3, rng=0)
    found = bn.cv_predict(model, frame, folds=folds)
    for fold in range(3):
        own = learn(frame[folds != fold])
        expected = bn.predict(own, frame[folds == fold], prob=True)
        pd.testing.assert_frame_equal(found[folds == fold], expected, check_names=False, rtol=1e-6)
    pytest.importorskip("sklearn")
    settings = {name: value for name, value in BEST.items() if name != "backoff"}
    from bnclassify.sklearn import BNCClassifier

    classifier = BNCClassifier("kdb_mi", discretize="averaged", lp_args={"backoff": True, **settings})
    classifier.fit(frame.drop(columns="class"), frame["class"])
    assert isinstance(classifier.model_, Refined)
    np.testing.assert_allclose(
        classifier.predict_proba(frame.drop(columns="class")), bn.predict(model, frame, prob=True), rtol=1e-6
    )


@pytest.mark.slow
def test_effects_are_curves_of_all_terms() -> None:
    pytest.importorskip("matplotlib")
    frame = trips()
    alone = bn.bnc("nb", "class", frame, discretize="averaged", **BEST)
    effect = effect_on_log_odds(alone, "distance", "car")
    assert effect.points is not None
    for i in (0, 100, len(effect.points) - 1):
        row = {"distance": effect.points[i]}
        told = bn.explain(replace_unchecked(alone, fading=None), row, target="car", against=["bus", "walk"])
        added = told.loc["distance", "log_odds"]
        assert effect.log_odds[0, i] == pytest.approx(added)
    model = learn(frame)
    for feature in frame.columns[:-1]:
        axes = bn.plot_effect(model, feature, target="car")
        lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
        assert bool(lines) == (feature in ("distance", "hills", "cost"))
    assert bn.plot_weights(model).get_xlabel() == "weight of the tables"


def test_arguments() -> None:
    frame = trips(60)
    with pytest.raises(ValueError, match="terms in held_out_args must be one of 'gaussians'"):
        learn(frame, terms=["gaussian"])
    with pytest.raises(TypeError, match="terms in held_out_args must be a list of names"):
        learn(frame, terms="depths")
    with pytest.raises(ValueError, match="that all differ"):
        learn(frame, terms=["depths", "depths"])
    with pytest.raises(TypeError, match="single Bayesian network"):
        bn.lp(bn.aode("class", frame[["weather", "flag", "class"]].astype(str)), frame.astype(str), **BEST)


def test_tables_that_are_written_later_give_the_same_to_the_last_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bnclassify.recipe.family_terms._CALL", 0)
    frame = trips(400)
    model = learn(frame)
    first = bn.predict(model, frame.head(3), prob=True)
    found = [bn.predict(model, frame, prob=True) for _ in range(30)]
    assert all(each.equals(found[0]) for each in found)
    assert found[0].head(3).equals(first)
