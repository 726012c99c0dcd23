"""Effects as tables: their entries, models made of them, edits, monotone effects, and what accepts them."""

import io
import re
from functools import cache
from itertools import pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.special import expit

import bnclassify as bn
from bnclassify.models import EffectTable

from .oracles import with_holes
from .strategies import examples, frames, smooths
from .test_sql import check as check_sql
from .test_sql import in_duckdb, in_sqlite

OPTIONS = {
    "nb": {"dag_learner": "nb", "smooth": 1, "discretize": "mdlp"},
    "tree": {"dag_learner": "tan_cl", "smooth": 1, "discretize": "quantile", "bins": 3},
    "power": {"dag_learner": "tan_cl", "smooth": 1, "discretize": "mdlp", "held_out": "power"},
    "level": {"dag_learner": "nb", "smooth": 1, "discretize": "mdlp", "missing_level": True},
    "wanbia": {"dag_learner": "nb", "smooth": 1, "discretize": "mdlp", "wanbia": True},
    "depth 1": {
        "dag_learner": "kdb_mi", "backoff": True, "held_out": "weights", "discretize": "mdlp",
        "dag_args": {"kdbk": 1},
    },
    "averaged": {"dag_learner": "nb", "backoff": True, "held_out": "weights", "discretize": "averaged"},
}  # fmt: skip


@pytest.fixture(scope="module")
def naive(pima):
    return bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp")


def has(value, row_value):
    """Whether a value of a table contains a value of a row."""
    if pd.isna(row_value):
        return isinstance(value, str) and value == "(missing)"
    return row_value in value if isinstance(value, pd.Interval) else bool(value == row_value)


def add_up(table, row, labels):
    """Add up the entries of a row in plain Python, (classes,)."""
    names = labels if len(labels) > 2 else labels[1:]
    total = table[names].iloc[0].to_numpy(dtype=float)
    for line in table.iloc[1:].to_dict("records"):
        is_given = line.get("given", "") == "" or has(line["given_value"], row[line["given"]])
        if has(line["value"], row[line["feature"]]) and is_given:
            total = total + np.array([line[name] for name in names])
    return total if len(labels) > 2 else np.array([0.0, *total])


@examples(30)
@given(frames(max_features=4, max_levels=3), st.data())
def test_entries_are_the_contributions_of_explain(frame, data):
    labels = list(frame["class"].cat.categories)
    structure = bn.nb("class", frame) if data.draw(st.booleans()) else bn.tan_cl("class", frame)
    x = bn.lp(structure, frame, smooth=data.draw(smooths))
    if len(labels) == 1:
        with pytest.raises(ValueError, match="at least two classes"):
            bn.effects(x)
        return
    table = bn.effects(x)
    columns = table.assign(**{labels[0]: 0.0}) if len(labels) == 2 else table
    columns = columns if "given" in table else columns.assign(given="", given_value="")
    lines = columns.set_index(["feature", "value", "given_value"])[labels].to_dict("index")
    assert len(lines) == len(table)
    given = dict(zip(columns["feature"], columns["given"], strict=True))
    features = bn.features(x)
    cells = list(product(*[bn.values(x)[f] for f in features]))
    base = {"class": columns["value"][0], "": ""}
    rows = [base | dict(zip(features, cell, strict=True)) for cell in [*cells, cells[0]]]
    frame = pd.DataFrame(rows)[list(features)]
    for target, against in permutations(labels, 2):
        weights = bn.explain(x, frame, target=target, against=against)["log_odds"]
        keys = [(name, rows[i][name], rows[i][given[name]]) for i, name in weights.index]
        found = [lines[key][target] - lines[key][against] for key in keys]
        np.testing.assert_allclose(found, weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", OPTIONS)
def test_tables_predict_as_the_model_and_go_around(pima, name):
    pima = pima.head(400)
    x = bn.bnc(class_var="diabetes", dataset=pima, **OPTIONS[name])
    table = bn.effects(x, pima, steps=1000)
    again = bn.from_effects(table)
    complete = pima.dropna()
    exact, found = (bn.predict(one, complete, prob=True) for one in (x, again))
    np.testing.assert_allclose(np.log(found), np.log(exact), rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(bn.effects(again, pima), table)
    shuffled = table.sample(frac=1, random_state=0)
    by_text = pd.read_csv(io.StringIO(shuffled.to_csv(index=False)))
    other = bn.from_effects(by_text, class_var="diabetes")
    found = bn.predict(other, pima, prob=True)
    np.testing.assert_allclose(found, bn.predict(again, pima, prob=True), rtol=0, atol=1e-12)
    shares = table[table["feature"] != "diabetes"].groupby("feature")["share"].sum()
    np.testing.assert_allclose(shares, 1)
    for row, p in zip(pima.head(20).to_dict("records"), found.to_numpy()[:20], strict=True):
        odds = add_up(table, row, ["no", "yes"])
        assert np.log(p[1] / p[0]) == pytest.approx(odds[1], abs=1e-12)


@pytest.mark.parametrize("level", [True, False])
def test_merged_and_missing_levels(level):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["a", "b", "c", "d"], 300, p=[0.5, 0.45, 0.03, 0.02]),
            "rooms": rng.integers(1, 4, 300),
            "floor": rng.choice(["low", "high"], 300),
        }
    )
    frame["y"] = rng.choice(["u", "v", "w"], 300)
    frame = frame.astype({"rooms": "Int64"})
    frame.loc[::7, ["town", "rooms"]] = None
    x = bn.bnc("nb", "y", frame, smooth=1, min_count=20, missing_level=level)
    again = bn.from_effects(bn.effects(x))
    expected = bn.predict(x, frame, prob=True)
    np.testing.assert_allclose(bn.predict(again, frame, prob=True), expected, rtol=0, atol=1e-12)
    floats = frame.astype({"rooms": float})
    np.testing.assert_allclose(bn.predict(again, floats, prob=True), expected, rtol=0, atol=1e-12)
    unseen = frame.copy()
    unseen.loc[::3, ["town", "floor"]] = ["elsewhere", "cellar"]
    expected = bn.predict(x, unseen, prob=True, unseen="missing")
    np.testing.assert_allclose(bn.predict(again, unseen, prob=True, unseen="missing"), expected, atol=1e-12)
    with pytest.raises(ValueError, match="'cellar' not among the levels"):
        bn.predict(again, unseen)


def test_labels_of_any_type_go_around():
    rng = np.random.default_rng(0)
    labels = {
        "pair": [("a", 1), ("b", 2)], "flag": [True, False], "code": [1, 2], "share": [0.5, 1e-7],
        "text": ["(0.0, 1.0]", "(1.0, 2.0]"],
    }  # fmt: skip
    columns = {}
    for name, own in labels.items():
        dtype = pd.CategoricalDtype(pd.Index(own, tupleize_cols=False))
        columns[name] = pd.Categorical.from_codes(rng.integers(0, 2, 60), dtype=dtype)
    frame = pd.DataFrame(columns).assign(y=rng.choice([True, False], 60))
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    again = bn.from_effects(bn.effects(x, frame))
    expected = bn.predict(x, frame, prob=True)
    pd.testing.assert_frame_equal(bn.predict(again, frame, prob=True), expected)


def test_neighbors_that_differ_least_are_merged(pima, single):
    gaps = {}
    for steps in (4, 8, 32, 1000):
        table = bn.effects(single, pima, steps=steps)
        sizes = table[table["value"].map(lambda v: isinstance(v, pd.Interval))].groupby("feature")
        assert sizes.size().max() <= steps
        found = bn.predict(bn.from_effects(table), pima, prob=True)
        gaps[steps] = (found - bn.predict(single, pima, prob=True)).abs().to_numpy().mean()
    assert gaps[4] > gaps[8] > gaps[32] > gaps[1000]
    assert gaps[32] < 0.01


@examples(20)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 9)), min_size=3, max_size=6), st.integers(2, 5))
def test_merged_intervals_lose_the_least_variance_step_by_step(pairs, most):
    """Each merge is one of the neighbors that add least to the squared distances from the means."""
    values, times = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    weights = times + 0.5  # half a row more per value

    def lost(ends):
        parts = [slice(*pair) for pair in pairwise([0, *ends])]
        means = [np.average(values[part], weights=weights[part]) for part in parts]
        squares = [
            weights[part] @ np.square(values[part] - mean) for part, mean in zip(parts, means, strict=True)
        ]
        return float(sum(squares) / weights.sum())

    n = len(values)
    ends = [-np.inf, *range(1, n), np.inf]
    x = bn.from_effects(
        pd.DataFrame(
            {
                "feature": ["y", *["x"] * n],
                "value": ["a", *[pd.Interval(*pair) for pair in pairwise(ends)]],
                "b": [0, *values],
            }
        )
    )
    rows = pd.DataFrame({"x": np.repeat(np.arange(n) + 0.5, times.astype(int))})
    before = list(range(1, n + 1))
    for size in reversed(range(most, n)):
        table = bn.effects(x, rows, steps=size)
        found = [int(min(value.right, n)) for value in table["value"] if isinstance(value, pd.Interval)]
        assert set(found) <= set(before)
        assert len(found) <= size
        if found != before:  # equal neighbors are one interval already
            options = [[*before[:i], *before[i + 1 :]] for i in range(len(before) - 1)]
            assert lost(found) == pytest.approx(min(map(lost, options)))
        before = found


def test_merged_intervals_of_a_network_have_the_mean_by_its_own_shares():
    rng = np.random.default_rng(0)
    is_q = rng.random(400) < 0.2
    frame = pd.DataFrame({"a": rng.normal(size=400) + 1.5 * is_q, "y": np.where(is_q, "q", "p")})
    x = bn.bnc("nb", "y", frame, smooth=1, discretize="width", bins=4)
    shares = (bn.cpt(x, "a") @ bn.cpt(x, "y").to_numpy()).to_numpy().ravel()  # Σ P(value | class) P(class)
    before, after = bn.effects(x)["q"].to_numpy(), bn.effects(x, steps=3)["q"].to_numpy()
    assert after[1] == pytest.approx(np.average(before[1:3], weights=shares[:2]))


def test_intervals_without_rows_keep_their_effects():
    """Neighbors with rows and nearly equal effects are merged before an interval that has no row."""
    values = ["(-inf, 1]", "(1, 2]", "(2, inf]"]
    table = pd.DataFrame({"feature": ["y", "x", "x", "x"], "value": ["a", *values], "b": [0, 0, 0.1, 5]})
    rows = pd.DataFrame({"x": [0.5, 1.5] * 100})
    found = bn.effects(bn.from_effects(table), rows, steps=2)
    assert found["value"].map(str).tolist()[1:3] == ["(-inf, 2.0]", "(2.0, inf]"]
    assert found["b"].to_numpy()[1:3] == pytest.approx([0.05, 5])


def test_steps_are_the_means_of_the_curve(pima, single):
    table = bn.effects(single, steps=8)
    found = bn.explain(single, pima, target="yes")["log_odds"].xs("pedigree", level="variable")
    numbers = pima["pedigree"]
    for line in table[table["feature"] == "pedigree"].iloc[:-1].to_dict("records"):
        inside = found[[value in line["value"] for value in numbers]]
        assert line["yes"] == pytest.approx(inside.mean(), abs=0.02)


def test_numbers_with_densities():
    rng = np.random.default_rng(0)
    y = rng.choice(["u", "v"], 500)
    frame = pd.DataFrame({"a": rng.normal(y == "u", 1.0), "b": rng.normal(0, 1 + (y == "u"))}).assign(y=y)
    x = bn.bnc("nb", "y", frame, smooth=1, numbers="gaussian")
    rows = frame[frame[["a", "b"]].abs().max(axis=1) < 2]
    gaps = [
        (
            bn.predict(bn.from_effects(bn.effects(x, steps=n)), rows, prob=True)
            - bn.predict(x, rows, prob=True)
        )
        .abs()
        .max()
        .max()
        for n in (8, 32, 128)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.05


@examples(25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans())
def test_predictions_are_sums_of_any_table(seed, n_classes, depends):
    rng = np.random.default_rng(seed)
    labels = [f"c{i}" for i in range(n_classes)]
    names = labels if n_classes > 2 else labels[1:]
    ends = [-np.inf, *np.sort(rng.normal(size=3)), np.inf]
    values = {"x": [pd.Interval(*pair) for pair in pairwise(ends)], "z": ["p", "q", "(missing)"], "w": [1, 2]}
    lines = [("y", labels[0] if n_classes == 2 else "(base)", "", "")]
    lines += [("x", value, "", "") for value in values["x"]] + [("z", value, "", "") for value in values["z"]]
    parent = values["x"] if depends else [""]
    lines += [("w", *pair[:1], "x" if depends else "", pair[1]) for pair in product(values["w"], parent)]
    table = pd.DataFrame(lines, columns=["feature", "value", "given", "given_value"])
    table[names] = rng.normal(size=(len(table), len(names))) * 3
    model = bn.from_effects(table)
    n = 30
    rows = pd.DataFrame(
        {"x": rng.normal(size=n), "z": rng.choice(["p", "q"], n), "w": rng.integers(1, 3, n).astype(object)}
    )
    rows = with_holes(rows.assign(**{"class": 0}), 0.2, seed).drop(columns="class")
    found = bn.predict(model, rows, prob=True)
    assert list(found) == labels
    odds = np.log(found.to_numpy())
    for i, row in enumerate(rows.to_dict("records")):
        expected = add_up(table, row, labels)
        np.testing.assert_allclose(odds[i] - odds[i, 0], expected - expected[0], rtol=0, atol=1e-11)
    weights = bn.explain(model, rows, target=labels[-1], against=labels[0])["log_odds"].groupby("row").sum()
    np.testing.assert_allclose(weights, odds[:, -1] - odds[:, 0], rtol=0, atol=1e-11)


def test_edits_change_the_rows_concerned(pima, naive):
    table = bn.effects(naive)
    at = (table["feature"] == "glucose") & (table["value"] == pd.Interval(127.5, 154.5))
    assert at.sum() == 1
    edited = bn.from_effects(table.assign(yes=table["yes"] + at * 0.7))
    odds = [np.log(p["yes"] / p["no"]) for p in (bn.predict(x, pima, prob=True) for x in (naive, edited))]
    change = (odds[1] - odds[0]).round(9)
    assert (change == 0.7 * pima["glucose"].between(127.5, 154.5)).all()
    missing = (table["feature"] == "insulin") & (table["value"] == "(missing)")
    edited = bn.from_effects(table.assign(yes=table["yes"].mask(missing, -2.0)))
    odds[1] = np.log(bn.predict(edited, pima, prob=True).pipe(lambda p: p["yes"] / p["no"]))
    assert ((odds[1] - odds[0]).round(9) == -2.0 * pima["insulin"].isna()).all()


def some_table(**changes):
    lines = {
        "feature": ["y", "x", "x", "z", "z"],
        "value": ["no", pd.Interval(-np.inf, 1), pd.Interval(1, np.inf), "a", "b"],
        "yes": [0.5, 1.0, 2.0, -1.0, 0.0],
    }
    return pd.DataFrame({**lines, **changes}, dtype=object)


def between(*pairs, closed="right"):
    return ["no", *[pd.Interval(*pair, closed=closed) for pair in pairs], "a", "b"]


def test_the_last_interval_can_be_open():
    values = ["no", "(-inf, 1.5]", "(1.5, inf)", "a", "b"]
    table = some_table(value=values, given=["", "", "", "x", "x"], given_value=["", "", "", *values[1:3]])
    model = bn.from_effects(pd.concat([table, table[3:].assign(given_value=values[2:0:-1])]))
    rows = pd.DataFrame({"x": [1.5, 1.6], "z": "b"})
    odds = bn.predict(model, rows, prob=True).pipe(lambda p: np.log(p["yes"] / p["no"]))
    np.testing.assert_allclose(odds, [1.5, 2.5])


def test_a_single_interval_stays_one():
    table = some_table(value=["no", "(-inf, inf]", "(missing)", "a", "b"])
    rows = pd.DataFrame({"x": [1.5, np.nan], "z": "b"})
    odds = np.log(bn.predict(bn.scorecard(bn.from_effects(table), largest=10_000), rows, prob=True))
    np.testing.assert_allclose(odds["yes"] - odds["no"], [1.5, 2.5], atol=1e-3)


def test_tables_of_other_shapes():
    without = bn.from_effects(some_table().rename(columns={"yes": "u"}).assign(v=0.0).iloc[1:], class_var="y")
    assert bn.predict(without, {}.fromkeys(["x"]) | {"z": "b"}, prob=True).round(6).iloc[0].tolist() == [
        0.5,
        0.5,
    ]


def test_labels_that_look_missing_are_named():
    frame = pd.DataFrame({"x": ["c", "a", "b"] * 9, "y": list("uvvuv") * 5 + ["u", "v"]})
    for remedy in ("unknown", None):
        model = bn.bnc("nb", "y", frame.replace("c", remedy), smooth=1, missing_level=remedy is None)
        bn.from_effects(bn.effects(model))


def test_a_feature_without_a_name_is_refused_where_no_name_is_no_feature():
    frame = pd.DataFrame({"": ["p", "q"] * 40, "b": list("xxyz") * 20, "y": list("uvuu") * 20})
    x = bn.bnc("tan_cl", "y", frame, smooth=1)
    calls = [bn.effects, bn.scorecard, lambda x: bn.to_sql(x, table="t")]
    for call in calls:
        with pytest.raises(ValueError, match=r"names other than '', which .* Rename the column"):
            call(x)
        call(bn.bnc("tan_cl", "y", frame.rename(columns={"": "a"}), smooth=1))


@pytest.mark.slow
def test_additive_models_are_tables(pima, tmp_path):
    with pytest.raises(ValueError, match=r"Use the default, bnc\(class_var=\.\.\., dataset=\.\.\.\)"):
        bn.effects(bn.bnc("kdb_mi", "diabetes", pima, dag_args={"kdbk": 2}))
    votes, car = bn.load_voting(), bn.load_car()
    for name, frame in {"Class": votes, "class": car, "diabetes": pima}.items():
        x = bn.bnc(class_var=name, dataset=frame, pairs=0)
        assert isinstance(x, EffectTable)
        again = bn.from_effects(bn.effects(x), dataset=frame)
        expected = bn.predict(x, frame, prob=True)  # rows with missing values, too
        np.testing.assert_allclose(bn.predict(again, frame, prob=True), expected, rtol=0, atol=1e-12)
    assert len(bn.to_sql(x, table="women")) < 25_000
    bn.write_page(x, tmp_path / "women.html")
    assert (tmp_path / "women.html").stat().st_size < 100_000
    assert bn.cv(x, pima, k=2, rng=0, dag=False) == bn.cv(x, pima, k=2, rng=0)


def degenerate(rows=60):
    """Tables in which some features, or classes, say nothing."""
    rng = np.random.default_rng(0)
    y = rng.choice(["u", "v"], rows)
    number = rng.normal(size=rows) + (y == "u")
    return {
        "no feature": pd.DataFrame({"y": y}),
        "one class": pd.DataFrame({"a": number, "y": "u"}),
        "one value": pd.DataFrame({"a": 1.0, "b": "k", "y": y}),
        "two numbers": pd.DataFrame({"a": np.where(number > 0, 1.5, 2.5), "y": y}),
        "all missing": pd.DataFrame({"a": np.nan, "b": number, "y": y}),
        "codes": pd.DataFrame(
            {"a": rng.integers(0, 40, rows), "b": number > 0, "y": rng.integers(0, 3, rows)}
        ),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", degenerate())
def test_additive_models_of_degenerate_data(name, tmp_path):
    frame = degenerate()[name]
    x = bn.bnc(class_var="y", dataset=frame, pairs=0)
    posteriors = bn.predict(x, frame, prob=True)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1)
    bn.save(x, tmp_path / "x.json")
    assert bn.predict(bn.load(tmp_path / "x.json"), frame, prob=True).equals(posteriors)
    assert 0 <= bn.cv(x, frame, k=2, rng=0) <= 1
    check_sql(in_sqlite, x, frame.drop(columns="y").assign(z=0))
    if name == "one class":
        with pytest.raises(ValueError, match="at least two classes"):
            bn.effects(x)
        return
    again = bn.from_effects(bn.effects(x), class_var="y")
    np.testing.assert_allclose(bn.predict(again, frame, prob=True), posteriors, rtol=0, atol=1e-12)


def test_other_functions_accept_tables(pima, single, tmp_path):
    pytest.importorskip("matplotlib")
    table = bn.effects(single, pima)
    x = bn.from_effects(table)
    bn.save(x, tmp_path / "table.json")
    assert (tmp_path / "table.json").stat().st_size < 60_000
    again = bn.load(tmp_path / "table.json")
    assert isinstance(again, EffectTable)
    assert bn.predict(again, pima, prob=True).equals(bn.predict(x, pima, prob=True))
    folds = bn.stratified_folds(pima["diabetes"], 4, rng=0)
    for dag in (True, False):
        with pytest.warns(UserWarning, match="is not fitted again"):
            found = bn.cv(again, pima, folds=folds, mean=False, dag=dag)[0]
        for fold, value in found.items():
            test = pima[folds == fold]
            assert value == bn.accuracy(bn.predict(x, test), test["diabetes"])
    ax = bn.plot_effect(x, "glucose", target="yes")
    heights = ax.lines[1].get_ydata()
    assert heights[0] == pytest.approx(table.loc[table["feature"] == "glucose", "yes"].iloc[0])
    row = pima.dropna().iloc[0]
    assert len(bn.counterfactual(x, row))
    assert set(bn.value_of_information(x, {"glucose": 160}).index) == set(bn.features(x)) - {"glucose"}
    assert bn.families(x)["age"] == ("age", "diabetes")
    assert "sum of one effect per feature" in repr(x)
    with pytest.raises(TypeError, match="that can estimate its parameters from data; got an EffectTable"):
        bn.lp(x, pima, smooth=1)
    statement = bn.to_sql(x, table="women")
    assert len(statement) < 25_000
    bn.write_page(x, tmp_path / "table.html")
    assert (tmp_path / "table.html").stat().st_size < 100_000
    for run in (in_sqlite, in_duckdb):
        check_sql(run, x, pima.sample(50, random_state=0))
    card = bn.scorecard(x, most_intervals=4)
    with pytest.warns(UserWarning, match="is not fitted again"):
        found = bn.cv(card, pima, folds=folds)
    of_folds = [
        bn.accuracy(bn.predict(card, pima[folds == i]), pima["diabetes"][folds == i]) for i in range(4)
    ]
    assert found == pytest.approx(np.mean(of_folds))


def test_values_of_information_are_those_of_naive_bayes(pima):
    rows = pima.dropna().reset_index(drop=True)
    x = bn.bnc("nb", "diabetes", rows, smooth=1e-9, discretize="quantile", bins=3)
    table = bn.from_effects(bn.effects(x, rows))  # P(value | class) by Bayes' rule from the shares
    row = {"glucose": 140, "age": 30}
    found, exact = (bn.value_of_information(one, row)["gain"] for one in (table, x))
    np.testing.assert_allclose(found[exact.index], exact, rtol=1e-6)


def test_the_effect_given_a_missing_parent_is_that_of_the_class_alone(car):
    x = bn.bnc("tan_cl", "class", car, smooth=1)
    table = bn.effects(x)
    lines = table[(table["given_value"] == "(missing)") & (table["value"] != "(missing)")]
    assert lines["feature"].nunique() == 5
    for line in lines.to_dict("records"):
        joint = bn.query(x, [line["feature"], "class"]).unstack("class")  # noqa: PD010
        logs = np.log(joint / joint.sum()).loc[line["value"]]
        found = [line[label] for label in logs.index]
        np.testing.assert_allclose(found, logs - logs.mean(), atol=1e-9)


def test_isotonic_effects_are_those_of_scipy(pima, single):
    before = bn.effects(single, pima)
    asked = {"glucose": "increasing", "pregnancies": "decreasing"}
    with pytest.warns(UserWarning, match="effect of 'pregnancies' on the log odds of 'yes' goes the other"):
        x = bn.monotonize(single, asked, pima)
    after = bn.effects(x, pima)
    assert after["value"].equals(before["value"])
    for name in bn.features(x):
        at = (before["feature"] == name) & (before["value"] != "(missing)")
        old, new, weights = before["yes"][at], after["yes"][at], before["share"][at]
        if name not in asked:
            assert new.equals(old)
            continue
        increasing = asked[name] == "increasing"
        fitted = isotonic_regression(old, weights=weights, increasing=increasing).x
        np.testing.assert_allclose(new, fitted, atol=1e-9)
        assert np.allclose(new, old, atol=1e-3) == (name == "glucose")
        rest = (before["feature"] == name) & (before["value"] == "(missing)")
        assert after["yes"][rest].equals(before["yes"][rest])
    assert x.learned["monotone"] == {name: (direction, "yes") for name, direction in asked.items()}
    again = bn.from_effects(before, dataset=pima)
    losses = [-bn.cloglik(one, pima) / len(pima) for one in (again, x)]
    np.testing.assert_allclose(x.learned["log_loss"], losses[::1])
    assert f"log-loss {losses[1]:.4f}, before {losses[0]:.4f}" in " ".join(repr(x).split())
    twice = bn.effects(bn.monotonize(x, asked, pima), pima)
    pd.testing.assert_frame_equal(twice, after, rtol=0, atol=1e-12)


def test_monotone_trees_and_levels(car):
    two = car.assign(**{"class": np.where(car["class"] == "unacc", "no", "yes")})
    two["safety"] = pd.Categorical(two["safety"].astype(str), categories=["high", "low", "med"])
    two["persons"] = two["persons"].cat.set_categories(["2", "4", "more"], ordered=True)
    two = two.assign(**{name: two[name].cat.as_ordered() for name in two.columns[:-1]})
    x = bn.bnc("tan_cl", "class", two, smooth=1, dag_args={"root": "persons"})
    parents = {family[1]: name for name, family in bn.families(x).items() if family[1:-1]}
    child = next(name for name in parents.values() if name not in parents)
    parent = next(iter(parents))
    with pytest.raises(ValueError, match=f"no other effect depends; got '{parent}', a parent of"):
        bn.monotonize(x, {parent: "decreasing"}, two)
    with pytest.warns(UserWarning, match=f"Did you mean {{'{child}': 'increasing'}}"):
        falling = bn.monotonize(x, {child: "decreasing"}, two)
    table = bn.effects(falling)
    lines = table[(table["feature"] == child) & (table["value"] != "(missing)")]
    for _, column in lines.groupby(lines["given_value"].astype(str)):
        assert column["yes"].is_monotonic_decreasing
    assert not bn.effects(x)["yes"].equals(table["yes"])


def test_cv_repeats_the_fit_and_the_order(pima):
    asked = {"pregnancies": "increasing", "skin": "increasing"}
    x = bn.monotonize(bn.bnc("nb", "diabetes", pima, smooth=1, discretize="quantile"), asked, pima)
    folds = bn.stratified_folds(pima["diabetes"], 3, rng=0)
    found = bn.cv(x, pima, folds=folds, metric="log_loss", mean=False)[0]
    for fold, value in found.items():
        train, test = pima[folds != fold], pima[folds == fold]
        again = bn.monotonize(bn.bnc("nb", "diabetes", train, smooth=1, discretize="quantile"), asked, train)
        assert value == pytest.approx(-bn.cloglik(again, test) / len(test))
    with pytest.raises(ValueError, match="dag must be True for a table of effects"):
        bn.cv(x, pima, folds=folds, dag=False)


def test_cut_points_of_sums_have_few_digits_and_separate_the_same_rows():
    """Between 0, 0.5 and 1, 0.25 and 0.75; of random numbers, as few digits as separate neighbors."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"third": rng.choice([0, 0.5, 1.0], 400), "x": rng.normal(50, 10, 400)})
    data["grade"] = rng.choice(np.arange(10, 60) / 10, 400)
    odds = 2 * data["third"] + (data["x"] - 50) / 10 - data["grade"] / 3 + rng.logistic(size=400)
    data["y"] = np.where(odds > 0.5, "yes", "no")
    x = bn.bnc(class_var="y", dataset=data, pairs=0)
    assert set(x.discretizer.cuts["third"]) <= {0.25, 0.75}
    assert all(len(f"{cut:.12g}") <= 4 for cut in x.discretizer.cuts["grade"])
    values = np.sort(data["x"])
    assert len(x.discretizer.cuts["x"]) > 1
    for cut in x.discretizer.cuts["x"]:
        low, high = values[values <= cut].max(), values[values > cut].min()
        digits = len(repr(cut).split(".")[1].rstrip("0"))
        shorter = np.round((low + high) / 2, digits - 1)
        assert low < cut < high
        assert digits == 0 or not low < shorter < high or np.round(cut, 9) == np.round((low + high) / 2, 9)


def test_observed_shares_of_the_target(pima, naive):
    for target in ("yes", "no"):
        table = bn.effects(naive, pima, target=target)
        assert table["observed"][0] == pytest.approx((pima["diabetes"] == target).mean())
        for _, line in table[table["feature"] == "age"].iterrows():
            rows = (
                pima["age"].isna()
                if line["value"] == "(missing)"
                else pima["age"].map(line["value"].__contains__)
            )
            share = (pima["diabetes"][rows.to_numpy(dtype=bool)] == target).mean()
            assert line["observed"] == pytest.approx(share, nan_ok=True)
    assert list(bn.effects(naive, pima.drop(columns="diabetes"))) == ["feature", "value", "yes", "share"]
    again = bn.from_effects(bn.effects(naive, pima))
    np.testing.assert_allclose(bn.effects(again)["yes"], bn.effects(naive)["yes"])
    unlabelled = bn.effects(naive, pima.assign(diabetes=None))
    assert unlabelled["observed"].isna().all()


def test_directions_for_the_other_class(pima, naive):
    for_yes = bn.monotonize(naive, {"age": "increasing"}, pima)
    for_no = bn.monotonize(naive, {"age": "decreasing"}, pima, target="no")
    pd.testing.assert_frame_equal(bn.effects(for_no), bn.effects(for_yes))
    assert "age decreasing (log odds of 'no'): log-loss" in repr(for_no)
    both = bn.monotonize(for_no, {"glucose": "increasing"}, pima)
    text = "age decreasing (log odds of 'no'); glucose increasing (log odds of 'yes'):"
    assert text in " ".join(repr(both).split())


def test_text_has_no_order_but_that_of_its_column():
    rng = np.random.default_rng(0)
    rating = rng.choice(["low", "medium", "high"], 600)
    logit = pd.Series(rating).map({"low": -1.5, "medium": 0.0, "high": 1.5})
    data = pd.DataFrame({"rating": rating, "y": np.where(rng.random(600) < expit(logit), "yes", "no")})
    x = bn.bnc("nb", "y", data, smooth=1)
    with pytest.raises(ValueError, match=r"have an order; got 'rating' with .*pd.Categorical\(column"):
        bn.monotonize(x, {"rating": "increasing"}, data)
    few = data.assign(
        rating=pd.Categorical(data["rating"].mask(data["rating"] == "medium"), ["low", "high"], ordered=True)
    )
    with pytest.raises(ValueError, match="got 'rating' with 'medium'"):
        bn.monotonize(x, {"rating": "increasing"}, few)
    levels = pd.Categorical(rating, ["low", "medium", "high"], ordered=True)
    rising = bn.monotonize(x, {"rating": "increasing"}, data.assign(rating=levels))
    pd.testing.assert_frame_equal(bn.effects(rising), bn.effects(x))  # not as text
    bands = data.assign(rating=data["rating"].replace({"low": "under 1,000", "high": "over 5,000"}))
    with pytest.raises(ValueError, match="have an order; got 'rating'"):
        bn.monotonize(bn.bnc("nb", "y", bands, smooth=1), {"rating": "increasing"}, bands)
    flags = data.assign(rating=data["rating"] == "high")
    rising = bn.monotonize(bn.bnc("nb", "y", flags, smooth=1), {"rating": "increasing"}, flags)
    assert bn.effects(rising)["yes"][1] < bn.effects(rising)["yes"][2]


def test_the_log_loss_of_a_monotone_table_is_weighted(pima, naive):
    weighted = bn.encode(pima.assign(w=np.arange(len(pima)) % 3), weights="w")
    repeated = pima.loc[pima.index.repeat(np.arange(len(pima)) % 3)]
    tables = [bn.monotonize(naive, {"age": "increasing"}, rows) for rows in (weighted, repeated)]
    losses = [table.learned["log_loss"] for table in tables]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_directions_that_flatten_effects_warn(pima, naive):
    with pytest.warns(
        UserWarning,
        match="effect of 'glucose' on the log odds of 'no' goes the other way. The log-loss rises from 0.4.* "
        "Did you mean {'glucose': 'decreasing'}, or target='yes'",
    ):
        flat = bn.monotonize(naive, {"glucose": "increasing"}, pima, target="no")
    table = bn.effects(flat)
    assert np.ptp(table["yes"][(table["feature"] == "glucose") & (table["value"] != "(missing)")]) < 1e-9
    bn.monotonize(flat, {"glucose": "increasing"}, pima)  # it is constant already


@pytest.mark.slow
def test_few_intervals_of_a_card(pima, single):
    card = bn.scorecard(single, most_intervals=8)
    points = card.points[card.points["value"] != "(missing)"]
    assert points.groupby("variable").size().max() == 8
    for _, lines in points.groupby("variable"):
        assert (lines["points"].diff().iloc[1:] != 0).all()  # equal neighbors are one interval
    rows = pima.dropna()
    fine = bn.scorecard(single, largest=100_000)
    losses = [-bn.cloglik(x, rows) / len(rows) for x in (single, fine, card)]
    assert losses[1] == pytest.approx(losses[0], abs=0.002)
    assert losses[2] < losses[0] + 0.02
    again = bn.scorecard(bn.from_effects(bn.effects(single, steps=1000)), most_intervals=2, target="yes")
    known = again.points[again.points["value"] != "(missing)"]
    assert known.groupby("variable").size().tolist() == [2] * known["variable"].nunique()
    with pytest.raises(ValueError, match="most_intervals must be a whole number of at least 2; got 1"):
        bn.scorecard(single, most_intervals=1)


QUESTIONS = {
    "cpt": lambda x, frame, name: bn.cpt(x, name),
    "params": lambda x, frame, name: bn.params(x),
    "query": lambda x, frame, name: bn.query(x, name),
    "sample": lambda x, frame, name: bn.sample(x, 3, rng=0),
    "impute": lambda x, frame, name: bn.impute(x, frame.head(3)),
    "loglik": lambda x, frame, name: bn.loglik(x, frame),
    "BIC": lambda x, frame, name: bn.BIC(x, frame.dropna()),
    "cv": lambda x, frame, name: bn.cv(x, frame, k=2, rng=0, metric="loglik"),
    "with_table": lambda x, frame, name: bn.with_table(x, name, bn.cpt(bn.members(x)[0], name)),
    "update": lambda x, frame, name: bn.update(x, frame.head(20)),
    "pool": lambda x, frame, name: bn.pool([x, x]),
    "interval": lambda x, frame, name: bn.predict(x, frame.head(2), prob=True, interval=0.9, draws=20, rng=0),
    "modelstring": lambda x, frame, name: bn.modelstring(x),
    "kl_divergence": lambda x, frame, name: bn.kl_divergence(x, x),
}
"""Calls that need the tables of a network."""


@pytest.fixture(scope="module")
def without_tables(naive, single):
    return [single, bn.from_effects(bn.effects(naive)), bn.scorecard(naive)]


@cache
def advised(call, class_var):
    """The network of a call that an error advises, of 200 rows."""
    frame = bn.load_pima() if class_var == "diabetes" else bn.load_voting()
    return eval(call, {"bnc": bn.bnc, "class_var": class_var, "dataset": frame.head(200)})


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_network_that_errors_advise_answers(pima, without_tables, question):
    ask, found = QUESTIONS[question], set()
    for x in without_tables:
        with pytest.raises((TypeError, ValueError)) as error:
            ask(x, pima, "glucose")
        found |= {*re.findall(r"bnc\('.*\)", str(error.value))}
    [call] = found
    assert ask(advised(call, "diabetes"), pima, "glucose") is not None
    categories = bn.load_voting().head(200)
    assert ask(advised(call, "Class"), categories, "crime") is not None


def test_labels_that_are_intervals_or_booleans_go_around():
    rng, n = np.random.default_rng(0), 80
    frame = pd.DataFrame({"a": rng.random(n) < 0.5, "age": pd.cut(rng.integers(1, 90, n), [0, 30, 60, 90])})
    frame["y"] = np.where(rng.random(n) < 0.2 + 0.5 * frame["a"], "yes", "no")
    model = bn.bnc("nb", "y", frame, smooth=1)
    expected = bn.predict(model, frame, prob=True)
    table = bn.effects(model)
    np.testing.assert_allclose(bn.predict(bn.from_effects(table), frame, prob=True), expected)
    text = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    of_text = frame.assign(age=frame["age"].astype(str))
    np.testing.assert_allclose(bn.predict(bn.from_effects(text), of_text, prob=True), expected)
    all_text = of_text.assign(a=frame["a"].astype(str))
    again = bn.from_effects(text, dataset=all_text)
    assert again.levels_by_name["a"] == ("False", "True")


def test_whole_numbers_that_a_network_keeps_are_made_monotone_if_some_are_missing():
    """pandas makes them floats, which an error said to discretize."""
    rows = {"a": [0, 1, 2, None] * 10, "y": [*"qpqp", *"ppqq", *"pqqp", *"pqpq"] * 2 + [*"pqqp"] * 2}
    frame = pd.DataFrame(rows)
    x = bn.bnc("nb", "y", frame, smooth=1, discretize="quantile")
    assert bn.values(x)["a"] == (0, 1, 2)
    odds = bn.effects(bn.monotonize(x, {"a": "increasing"}, frame)).set_index("value")["q"]
    assert odds[0] <= odds[1] <= odds[2]


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [0, 1, 2]])
@pytest.mark.parametrize("pairs", [0, 1])
def test_labels_that_are_numbers_are_read_from_a_file_as_the_data_have_them(pairs, labels):
    rng, n = np.random.default_rng(0), 80
    frame = pd.DataFrame({"flag": rng.integers(0, 2, n), "code": rng.choice(["1", "2"], n)})
    frame["half"] = rng.choice([0.5, 1.5], n)
    frame["holes"] = rng.choice([0, 1, np.nan], n)
    likely = rng.random(n) < 0.2 + 0.5 * (frame["flag"] == frame["half"] - 0.5)
    frame["y"] = np.where(likely, labels[1], rng.choice([labels[0], labels[-1]], n))
    model = bn.bnc(class_var="y", dataset=frame, pairs=pairs)
    text = pd.read_csv(io.StringIO(bn.effects(model).to_csv(index=False)))
    again = bn.from_effects(text, dataset=frame)
    assert again.levels_by_name == model.levels_by_name
    expected = bn.predict(model, frame, prob=True)
    np.testing.assert_allclose(bn.predict(again, frame, prob=True), expected)
