"""Numbers kept as numbers: Gaussian and kernel densities in structures in which a number is a leaf."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import bnclassify as bn

from .conftest import read_reference
from .oracles import close
from .strategies import examples

ROOT = Path(__file__).parents[1]
CUTS = {"preg": [0.5, 2.5, 6.5], "insu": [87.5, 156], "age": [24.5, 28.5, 40.5]}
METHODS = ["gaussian", "kernel"]

pytestmark = pytest.mark.filterwarnings("ignore:the network has .* free parameters")


def reference(kind, name):
    figures = read_reference("numbers")[kind][name]
    folder = ROOT / "data" if name.startswith("pima") else ROOT / "tests" / "reference" / "data"
    frame = pd.read_csv(folder / f"{name.replace('mixed', 'clean') if 'pima' in name else name}.csv")
    if name == "pima_mixed":
        for column, cuts in CUTS.items():
            frame[column] = [f"c{k}" for k in np.searchsorted(cuts, frame[column])]
    for column, labels in figures.get("levels", {}).items():
        frame[column] = pd.Categorical(frame[column], labels)
    return figures, frame


def log_joint(x, frame):
    """Return ln of the joint density of the known values of each row with each class, (rows, classes)."""
    labelled = [frame.assign(**{x.class_var: label}) for label in bn.classes(x)]
    return np.transpose([bn.loglik(x, rows, by_row=True) for rows in labelled])


def log_evidence(x, frame):
    """Return ln of the joint density of the known values of each row."""
    return logsumexp(log_joint(x, frame), axis=1)


def hidden_rows(figures, frame):
    """Return the rows of the figures without the values that these hide."""
    rows = frame.iloc[figures["rows"]].copy()
    for i, names in enumerate(figures["hidden"]):
        rows.iloc[i, [rows.columns.get_loc(name) for name in names]] = np.nan
    return rows


def check_rows(x, rows, figures, suffix=""):
    close(bn.predict(x, rows, prob=True), figures[f"posterior{suffix}"])
    close(log_evidence(x, rows), figures[f"log_evidence{suffix}"])


@pytest.mark.parametrize(
    ("kind", "name"), [("gaussian_nb", "pima_clean"), ("mixed_nb", "pima_mixed"), ("mixed_nb", "made_mixed")]
)
def test_gaussian_naive_bayes(kind, name):
    figures, frame = reference(kind, name)
    numbers = dict.fromkeys(figures.get("numbers", frame.columns[:-1]), "gaussian")
    x = bn.lp(bn.nb("class", frame), frame, smooth=figures.get("smooth", 0), numbers=numbers)
    close(bn.params(x)["class"], figures["prior"])
    for column in numbers:
        table = bn.cpt(x, column)
        close(table["mean"], figures["mean"][column])
        close(table["sd"] ** 2, figures["variance"][column])
    check_rows(x, frame.iloc[figures["rows"]], figures)
    check_rows(x, hidden_rows(figures, frame), figures, "_hidden")
    assert bn.accuracy(bn.predict(x, frame), frame["class"]) == pytest.approx(figures["training_accuracy"])
    if "loglik" in figures:
        close(bn.loglik(x, frame), figures["loglik"])


@pytest.mark.parametrize("name", ["pima_mixed", "made_mixed"])
def test_numbers_with_coded_parents(name):
    figures, frame = reference("leaf_networks", name)
    parents = {f: [p for p in family if p != "class"] for f, family in figures["families"].items()}
    numbers = dict.fromkeys(figures["numbers"], "gaussian")
    x = bn.lp(bn.anb("class", parents, frame), frame, smooth=1, numbers=numbers)
    assert figures["rows_with_categories_summed_out"] > 10
    for column, means in figures["mean"].items():
        table = bn.cpt(x, column)
        assert table.index.names == [*parents[column], "class"]
        close(table["mean"], np.transpose(means).ravel())
        close(table["sd"] ** 2, np.transpose(figures["variance"][column]).ravel())
    check_rows(x, hidden_rows(figures, frame), figures)


@pytest.mark.parametrize("name", ["pima_clean", "made_mixed"])
def test_kernels(name):
    figures, frame = reference("kernel_nb", name)
    numbers = dict.fromkeys(figures["numbers"], "kernel")
    x = bn.lp(bn.nb("class", frame), frame, smooth=1, numbers=numbers)
    for column, widths in figures["silverman"]["bandwidth"].items():
        close(bn.cpt(x, column)["bandwidth"], widths)
    check_rows(x, frame.iloc[figures["rows"]], figures["silverman"])


@pytest.mark.parametrize("name", ["pima_mixed", "made_mixed", "pima_clean"])
def test_information(name):
    figures, frame = reference("information", name)
    for x, value in figures["mi_class"].items():
        close(bn.cmi(x, "class", frame, numbers={x: "gaussian"}), value)
    for pair in figures["category_number"]:
        x, y = pair["category"], pair["number"]
        close(bn.cmi(x, y, frame, z="class", numbers={y: "gaussian"}), pair["cmi"])
        close(bn.cmi(y, x, frame, z="class", numbers={y: "gaussian"}), pair["cmi"])
    for pair in figures["number_number"]:
        x, y = pair["x"], pair["y"]
        close(bn.cmi(x, y, frame, z="class", numbers={x: "gaussian", y: "gaussian"}), pair["cmi"])
        parts = [frame.iloc[:100], frame.iloc[100:]]
        in_parts = bn.cmi(x, y, lambda parts=parts: parts, z="class", numbers={x: "gaussian", y: "gaussian"})
        close(in_parts, pair["cmi"])


@pytest.fixture(scope="module")
def mixed():
    """Rows of two categories, four numbers with fractions and a code, with missing values everywhere."""
    return reference("mixed_nb", "made_mixed")[1].astype({"z": "Int64"})


@pytest.fixture(scope="module", params=["nb", pytest.param("tan_cl", marks=pytest.mark.slow), "kdb_mi"])
def learner(request):
    return request.param


@pytest.fixture(scope="module", params=METHODS)
def fitted(request, mixed, learner):
    return bn.bnc(learner, "class", mixed, smooth=1, numbers=request.param)


def test_numbers_are_leaves(mixed):
    numbers = ["u", "v", "w", "q"]
    tree = bn.bnc("tan_cl", "class", mixed, smooth=1, numbers="gaussian")
    k2 = bn.bnc("kdb_mi", "class", mixed, smooth=1, numbers="gaussian")
    for x, most in ((tree, 1), (k2, 2)):
        for variable, (_, *parents) in bn.families(x).items():
            assert not set(parents) & set(numbers), variable
            assert len(parents) <= most + 1
    information = {c: bn.cmi("w", c, mixed, z="class", numbers={"w": "gaussian"}) for c in "abz"}
    assert bn.families(tree)["w"] == ("w", max(information, key=information.__getitem__), "class")
    coded = bn.tan_cl("class", mixed.drop(columns=numbers))
    assert {v: bn.families(tree)[v] for v in "abz"} == {v: bn.families(coded)[v] for v in "abz"}
    assert [bn.values(tree)[v] for v in "uz"] == [(), (0, 1, 2, 3, 5)]
    assert bn.families(k2) == bn.families(bn.kdb_mi("class", mixed, numbers=dict.fromkeys(numbers, "kernel")))


def test_kdb_ranks_numbers_with_the_others(mixed):
    numbers = dict.fromkeys("uvwq", "gaussian")
    x = bn.kdb_mi("class", mixed, kdbk=1, numbers=numbers)
    rank = {v: bn.cmi(v, "class", mixed, numbers=numbers) for v in "abzuvwq"}
    for variable in rank:
        earlier = [c for c in "abz" if rank[c] > rank[variable]]
        values = {c: bn.cmi(variable, c, mixed, z="class", numbers=numbers) for c in earlier}
        expected = (max(values, key=values.__getitem__),) if values else ()
        assert bn.families(x)[variable] == (variable, *expected, "class")


def test_without_smoothing_it_is_scikit_learns_classifier():
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    frame = pd.read_csv(ROOT / "tests" / "reference" / "data" / "iris.csv")
    *columns, target = frame.columns
    x = bn.bnc("nb", target, frame, smooth=0, numbers="gaussian")
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(frame[columns], frame[target])
    close(bn.predict(x, frame, prob=True)[theirs.classes_], theirs.predict_proba(frame[columns]))
    weights = np.arange(len(frame)) % 4
    weighted = bn.bnc("nb", target, bn.encode(frame, weights=weights), smooth=0, numbers="gaussian")
    theirs.fit(frame[columns], frame[target], sample_weight=weights)
    close(bn.predict(weighted, frame, prob=True)[theirs.classes_], theirs.predict_proba(frame[columns]))


def test_a_kernel_density_is_that_of_scikit_learn(mixed):
    neighbors = pytest.importorskip("sklearn.neighbors")
    x = bn.bnc("nb", "class", mixed[["w", "class"]], smooth=1, numbers="kernel")
    grid = np.linspace(-50, 150, 40)
    rows = pd.DataFrame({"w": grid})
    joint = np.log(bn.predict(x, rows, prob=True)).add(log_evidence(x, rows), axis=0)
    for label, width in bn.cpt(x, "w")["bandwidth"].items():
        values = mixed.loc[mixed["class"] == label, ["w"]].dropna().to_numpy()
        density = neighbors.KernelDensity(bandwidth=width).fit(values)
        expected = density.score_samples(grid[:, None]) + np.log(
            bn.params(x)["class"][bn.classes(x).index(label)]
        )
        np.testing.assert_allclose(joint[label], expected, rtol=1e-9)


def test_rows_added_later_are_as_good_as_all_at_once(mixed, learner):
    parts = [mixed.iloc[:50], mixed.iloc[50:110], mixed.iloc[110:]]
    for method in METHODS:
        whole = bn.bnc(learner, "class", mixed, smooth=1, numbers=method)
        first = bn.lp(whole, mixed.iloc[:60], smooth=1, numbers=method)
        close(bn.loglik(bn.update(first, mixed.iloc[60:]), mixed), bn.loglik(whole, mixed))
        in_parts = bn.bnc(learner, "class", lambda: parts, smooth=1, numbers=method)
        assert bn.families(in_parts) == bn.families(whole)
        close(bn.loglik(in_parts, lambda: parts), bn.loglik(whole, mixed))


def test_whole_weights_are_repeated_rows(mixed, learner):
    weights = np.arange(len(mixed)) % 3
    repeated = mixed.loc[mixed.index.repeat(weights)].reset_index(drop=True)
    for method in METHODS:
        x = bn.bnc(learner, "class", bn.encode(mixed, weights=weights), smooth=1, numbers=method)
        y = bn.bnc(learner, "class", repeated, smooth=1, numbers=method)
        assert bn.families(x) == bn.families(y)
        for variable, table in bn.params(y).items():
            close(bn.params(x)[variable], table)
        close(bn.loglik(x, bn.encode(mixed, weights=weights)), bn.loglik(y, repeated))
        halves = bn.lp(x, bn.encode(mixed, weights=weights / 2), smooth=0.5, numbers=method)
        close(bn.cpt(halves, "u")[["mean", "sd"]], bn.cpt(x, "u")[["mean", "sd"]])


def test_cross_validation_is_fitting_to_the_other_folds(mixed, learner):
    folds = bn.stratified_folds(mixed["class"], 3, rng=0)
    for method in METHODS:
        x = bn.bnc(learner, "class", mixed, smooth=1, numbers=method)
        posteriors, kept = [], []
        for fold in range(3):
            train, test = mixed[folds != fold], mixed[folds == fold]
            posteriors.append(
                bn.predict(bn.bnc(learner, "class", train, smooth=1, numbers=method), test, prob=True)
            )
            kept.append(bn.predict(bn.lp(x, train, smooth=1, numbers=method), test, prob=True))
        found = bn.cv_predict(x, mixed, folds=folds)
        np.testing.assert_allclose(found, pd.concat(posteriors).sort_index(), atol=1e-12)
        found = bn.cv_predict(x, mixed, folds=folds, dag=False)
        np.testing.assert_allclose(found, pd.concat(kept).sort_index(), atol=1e-12)


def test_models_that_discretize_and_keep_numbers_are_compared(mixed):
    settings = {
        "cuts": {"discretize": "mdlp"},
        "gaussian": {"numbers": "gaussian"},
        "codes": {"numbers": dict.fromkeys("uvwzq", "kernel")},
    }
    models = {name: bn.bnc("nb", "class", mixed, smooth=1, **more) for name, more in settings.items()}
    together = bn.cv(models, mixed, k=3, rng=0)
    assert together.to_dict() == {name: bn.cv(x, mixed, k=3, rng=0) for name, x in models.items()}
    chunks = [mixed.iloc[:80], mixed.iloc[80:]]
    assert 0.7 < bn.cv(models["gaussian"], chunks, k=3, rng=0) < 1


@pytest.mark.slow
@examples(25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(METHODS), st.integers(0, 2))
def test_missing_categories_are_summed_over_with_the_densities(seed, method, k):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.choice(list("xyz"), 40),
            "b": rng.choice(list("xy"), 40),
            "class": rng.choice(list("uvw"), 40),
        }
    )
    frame["n"] = rng.normal(frame["a"].map({"x": 0, "y": 1, "z": 3}), 1)
    frame["o"] = rng.exponential(1 + (frame["b"] == "x") + (frame["class"] == "u"))
    x = bn.bnc("kdb_mi", "class", frame, smooth=1, numbers=method, dag_args={"kdbk": k})
    rows = frame.drop(columns="class").where(rng.random((40, 4)) < 0.6)
    choices = {name: bn.values(x)[name] for name in "ab"}
    filled = pd.DataFrame(
        [
            {"row": i, **row, "a": a, "b": b}
            for i, row in rows.iterrows()
            for a in ([row["a"]] if pd.notna(row["a"]) else choices["a"])
            for b in ([row["b"]] if pd.notna(row["b"]) else choices["b"])
        ]
    )
    terms = log_joint(x, filled.astype({"n": float, "o": float}))
    expected = [logsumexp(terms[filled["row"] == i], axis=0) for i in rows.index]
    found = log_joint(x, rows)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_curve_of_a_number_is_its_contribution(mixed):
    pytest.importorskip("matplotlib")
    for method in METHODS:
        x = bn.bnc("nb", "class", mixed, smooth=1, numbers=method)
        axes = bn.plot_effect(x, "u", target="k1")
        numbers, log_odds = axes.lines[-1].get_data()
        value = float(numbers[100])
        explained = bn.explain(x, {"u": value}, target="k1", against=["k2", "k3"])
        assert log_odds[100] == pytest.approx(explained.loc["u", "log_odds"])
        y = bn.bnc("tan_cl", "class", mixed, smooth=1, numbers=method)
        assert len(bn.plot_effect(y, "u", target="k1").lines) == 1 + len(bn.values(y)[bn.families(y)["u"][1]])


@pytest.mark.slow
def test_samples_have_the_moments_of_the_model(fitted, mixed):
    drawn = bn.sample(fitted, 20_000, rng=0)
    pd.testing.assert_frame_equal(*(bn.sample(fitted, 100, rng=0) for _ in range(2)))
    assert list(drawn.columns) == [*bn.features(fitted), "class"]
    frequencies = drawn["class"].value_counts(normalize=True)
    assert frequencies["k1"] == pytest.approx(bn.params(fitted)["class"][0], abs=0.02)
    table = bn.cpt(fitted, "u")
    key = table.index[0]
    names = table.index.names
    wanted = dict(zip(names, key if len(names) > 1 else [key], strict=True))
    cell = drawn.loc[np.logical_and.reduce([drawn[name] == label for name, label in wanted.items()]), "u"]
    spread = np.hypot(table["sd"].iloc[0], table.get("bandwidth", pd.Series([0.0])).iloc[0])
    assert cell.mean() == pytest.approx(table["mean"].iloc[0], abs=4 * spread / len(cell) ** 0.5)
    assert cell.std() == pytest.approx(spread, rel=0.1)


def test_imputed_numbers_are_conditional_means(fitted, mixed):
    filled = bn.impute(fitted, mixed)
    assert not filled.isna().any(axis=None)
    assert filled["u"].dtype == float
    known = mixed.notna()
    pd.testing.assert_frame_equal(filled.where(known), mixed, check_dtype=False)
    without = bn.impute(fitted, mixed.assign(u=np.nan))
    table, names = bn.cpt(fitted, "u"), bn.cpt(fitted, "u").index.names
    for _, row in without.head(20).iterrows():
        assert (
            row["u"]
            == table.loc[tuple(row[name] for name in names) if len(names) > 1 else row[names[0]], "mean"]
        )
    alone = pd.DataFrame({v: mixed[v] if v in "abz" else np.nan for v in mixed.columns[:-1]})
    categories = bn.impute(fitted, mixed.assign(u=np.nan, v=np.nan, w=np.nan, q=np.nan))[["a", "b"]]
    completed = bn.impute(fitted, alone.assign(**{"class": mixed["class"]}))[["a", "b"]]
    pd.testing.assert_frame_equal(categories, completed, check_dtype=False)


def test_queries_use_numbers_as_evidence_only(mixed):
    x = bn.bnc("tan_cl", "class", mixed, smooth=1, numbers="gaussian")
    close(
        bn.query(x, "class", {"u": 1.5, "a": "a1"}), bn.predict(x, {"u": 1.5, "a": "a1"}, prob=True).iloc[0]
    )
    close(bn.query(x, "class"), bn.params(x)["class"])
    with pytest.raises(TypeError, match="variables must have levels; got the numbers 'u'"):
        bn.query(x, ["u", "class"])


def test_parameters_are_counted(mixed):
    x = bn.bnc("nb", "class", mixed, smooth=1, numbers="gaussian")
    assert bn.nparams(x) == 2 + 3 * (3 + 1 + 4) + 4 * 3 * 2
    close(bn.AIC(x, mixed), bn.loglik(x, mixed) - bn.nparams(x))
    kernels = bn.bnc(
        "nb", "class", mixed, smooth=1, numbers={**dict.fromkeys("uvw", "gaussian"), "q": "kernel"}
    )
    assert "free parameters" not in repr(kernels)


def test_tables_back_off_beside_numbers(mixed):
    x = bn.bnc("tan_cl", "class", mixed, backoff=True, numbers="gaussian")
    coded = bn.lp(
        bn.anb("class", {v: bn.families(x)[v][1:-1] for v in "abz"}, mixed[[*"abz", "class"]]),
        mixed,
        backoff=True,
    )
    close(bn.concentrations(x), bn.concentrations(coded))
    for variable in "abz":
        close(bn.params(x)[variable], bn.params(coded)[variable])


def test_levels_are_merged_and_missing_beside_numbers(mixed):
    x = bn.bnc("nb", "class", mixed, smooth=1, numbers="gaussian", min_count=5, missing_level=["b"])
    assert bn.values(x)["b"][-1] == "(missing)"
    assert "other" in bn.values(x)["a"]
    assert bn.cpt(x, "u").equals(bn.cpt(bn.bnc("nb", "class", mixed, smooth=1, numbers="gaussian"), "u"))
    assert 0.7 < bn.cv(x, mixed, k=3, rng=0) < 1


def test_the_estimator_of_scikit_learn(mixed):
    estimators = pytest.importorskip("bnclassify.sklearn")
    clf = estimators.BNCClassifier("nb", discretize=None, smooth=1, lp_args={"numbers": "gaussian"})
    features, labels = mixed.drop(columns="class"), mixed["class"].astype(str)
    x = bn.bnc("nb", "class", mixed.astype({"class": str}), smooth=1, numbers="gaussian")
    close(clf.fit(features, labels).predict_proba(features), bn.predict(x, mixed, prob=True))
    weights = np.arange(len(mixed)) % 3
    for meaning in ("frequencies", "cases"):
        data = bn.encode(mixed.astype({"class": str}), weights=weights, weights_are=meaning)
        weighted = bn.bnc("nb", "class", data, smooth=1, numbers="gaussian")
        clf.set_params(weights_are=meaning).fit(features, labels, sample_weight=weights)
        close(clf.predict_proba(features), bn.predict(weighted, mixed, prob=True))
    shares = clf.predict_proba(features)
    np.testing.assert_array_equal(
        clf.set_params(weights_are=None).fit(features, labels, weights).predict_proba(features), shares
    )


def test_constant_values_do_not_divide_by_zero():
    frame = pd.DataFrame({"x": [1e9 + i for i in range(8)] + [0.3] * 5, "y": ["a"] * 8 + ["b"] * 5})
    for method in METHODS:
        x = bn.bnc("nb", "y", frame, smooth=1, numbers={"x": method})
        assert bn.predict(x, frame).tolist() == frame["y"].tolist()
        assert bn.cpt(x, "x").loc["b", "sd"] == pytest.approx(
            1e-9**0.5 * np.arange(8).std() if method == "gaussian" else 0
        )
        close(bn.cpt(x, "x").loc["a", "mean"], 1e9 + 3.5)
        close(bn.cpt(x, "x").loc["a", "sd"], np.arange(8).std())


def test_columns_that_are_named_are_numbers_whatever_they_hold():
    frame = pd.DataFrame({"x": [1, 2, 2, 3, 1, 3], "y": list("aaabbb")})
    coded, number = (
        bn.bnc("nb", "y", frame, smooth=1, numbers="gaussian"),
        bn.bnc("nb", "y", frame, smooth=1, numbers={"x": "gaussian"}),
    )
    assert (bn.values(coded)["x"], bn.values(number)["x"]) == ((1, 2, 3), ())
    later = bn.lp(bn.nb("y", frame), frame, smooth=1, numbers={"x": "gaussian"})
    close(bn.predict(later, frame, prob=True), bn.predict(number, frame, prob=True))
    encoded = bn.bnc("nb", "y", bn.encode(frame), smooth=1, numbers={"x": "gaussian"})
    close(bn.predict(encoded, bn.encode(frame), prob=True), bn.predict(number, frame, prob=True))
    without = bn.lp(bn.nb("y", features=["x"]), frame, smooth=1, numbers={"x": "gaussian"})
    close(bn.predict(without, frame, prob=True), bn.predict(number, frame, prob=True))


def test_what_a_number_is_not(mixed, tmp_path):
    x = bn.bnc("nb", "class", mixed, smooth=1, numbers="gaussian")
    for convert in (
        lambda: bn.write_bif(x, tmp_path / "x.bif"),
        lambda: bn.to_pgmpy(x),
        lambda: bn.to_pyagrum(x),
        lambda: bn.kl_divergence(x, x),
    ):
        with pytest.raises(TypeError, match="a network of categories; got the numbers 'u', 'v', 'w', 'q'"):
            convert()
    assert bn.predict(x, mixed.assign(u=np.nan), prob=True).notna().all(axis=None)


@pytest.mark.parametrize("numbers", ["gaussian", "kernel"])
def test_numbers_that_are_too_far_away_are_impossible(mixed, numbers):
    x = bn.lp(bn.nb("class", mixed), mixed, smooth=1, numbers=numbers)
    for number in (1e200, -1e308):
        posteriors = bn.predict(x, mixed.head(3).assign(u=number), prob=True)
        np.testing.assert_allclose(posteriors, 1 / posteriors.shape[1], rtol=1e-15)


def test_the_columns_that_text_selects(mixed):
    named = dict.fromkeys("uvwq", "gaussian")
    for x, y, z in (
        ("u", "class", None),
        ("class", "u", None),
        ("u", "v", "class"),
        ("z", "u", "class"),
        ("a", "z", None),
    ):
        expected = bn.cmi(x, y, mixed, z=z, numbers=named)
        assert bn.cmi(x, y, mixed, z=z, numbers="gaussian") == pytest.approx(expected, rel=1e-12)
        chunks = [mixed.iloc[:70], mixed.iloc[70:]]
        close(bn.cmi(x, y, lambda chunks=chunks: chunks, z=z, numbers="gaussian"), expected)
    wide = mixed.assign(wide=np.arange(len(mixed)) % 12)
    assert bn.cmi("u", "a", wide, z="wide", numbers="gaussian") > 0
    assert bn.values(bn.bnc("nb", "class", wide, smooth=1, numbers="gaussian"))["wide"] == ()
    assert len(bn.values(bn.nb("class", wide))["wide"]) == 12


def test_rules_of_arcs_hold_for_numbers(mixed):
    numbers = dict.fromkeys("uvwq", "gaussian")
    free = bn.families(bn.tan_cl("class", mixed, numbers=numbers))
    assert free["w"][1] == "b"
    rules = {"required": [("z", "w")], "forbidden": [("u", free["u"][1])]}
    tree = bn.families(bn.tan_cl("class", mixed, numbers=numbers, **rules))
    assert tree["w"] == ("w", "z", "class")
    assert tree["u"][1] != free["u"][1]
    assert {v: tree[v] for v in "abz"} == {v: free[v] for v in "abz"}
    ranked = bn.families(bn.kdb_mi("class", mixed, kdbk=1, numbers=numbers, **rules))
    assert ranked["w"] == ("w", "z", "class")


@pytest.mark.parametrize("numbers", ["gaussian", "kernel"])
@pytest.mark.parametrize("parts", [False, True])
def test_numbers_near_the_limit_of_floats(numbers, parts):
    """At 10^15, floats are .125 apart; the same constant added to all numbers changes nothing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.choice(list("uv"), 200), "k": rng.choice(list("ab"), 200)})
    frame["t"] = rng.integers(8, size=200) + (frame["y"] == "u") + 0.25
    frame["s"] = frame["t"] // 2 + rng.integers(3, size=200) + 0.25

    def posteriors(learner, shift):
        shifted = frame.assign(t=frame["t"] + shift, s=frame["s"] + shift)
        data = [shifted.iloc[:2], shifted.iloc[2:90], shifted.iloc[90:]] if parts else shifted
        x = bn.bnc(learner, "y", data, smooth=1, numbers=numbers)
        return bn.predict(x, shifted, prob=True).to_numpy()

    for learner in ("nb", "tan_cl"):
        near = posteriors(learner, 0)
        for shift in (1e9, 1e15, -1e15):
            np.testing.assert_allclose(posteriors(learner, shift), near, rtol=1e-9)
