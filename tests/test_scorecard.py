"""Scorecards: tables of points by the formulas, what can be done with them, and nomograms."""

import re
import sqlite3
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.models import Scorecard

from .strategies import frames, smooths
from .test_sql import check, has_answer, in_duckdb, in_sqlite
from .zoo import case


@pytest.fixture(scope="module")
def tree(pima):
    return bn.bnc("tan_cl", "diabetes", pima, smooth=1, discretize="mdlp")


@pytest.fixture(params=[in_sqlite, in_duckdb], ids=["sqlite", "duckdb"])
def run(request):
    return request.param


def contribution(x, target, name, value, given):
    """The log odds of a value by queries: given its parent, or given the class alone."""
    other = next(label for label in bn.classes(x) if label != target)
    if value == "(missing)":
        return 0.0
    parent = next((v for v in bn.families(x)[name][1:] if v != "class"), None)
    known = {parent: given} if parent is not None and given != "(missing)" else {}
    shares = [bn.query(x, name, {"class": label, **known})[value] for label in (target, other)]
    return float(np.log(shares[0]) - np.log(shares[1]))


def cells(x, frame, name):
    """The name, the values of a feature, and those of its parent; missing ones if they occur."""
    scope = [v for v in bn.families(x)[name] if v != "class"]
    known = [[*bn.values(x)[v], *["(missing)"] * bool(frame[v].isna().any())] for v in scope]
    return [(name, *values, *[""] * (2 - len(scope))) for values in product(*known)]


@pytest.mark.slow
@given(frames(max_features=4), st.data())
def test_points_are_rounded_contributions(frame, data):
    assume(len(frame["class"].cat.categories) == 2)
    structure = bn.nb("class", frame) if data.draw(st.booleans()) else bn.tan_cl("class", frame)
    x = bn.lp(structure, frame, smooth=data.draw(smooths))
    target, largest = data.draw(st.sampled_from(bn.classes(x))), data.draw(st.integers(1, 100))
    card = bn.scorecard(x, target=target, largest=largest)
    table = card.points
    assert list(table) == ["variable", "value", "given", "points"]
    exact = [contribution(x, target, *row[:3]) for row in table.itertuples(index=False)]
    table = table.assign(exact=exact)
    low = table.groupby("variable")["exact"].min()
    unit = (table.groupby("variable")["exact"].max() - low).max() / largest
    unit = unit if unit * largest > 1e-9 else 1.0
    points = ((table["exact"] - table["variable"].map(low)) / unit).to_numpy()
    assert (np.abs(points - table["points"]) <= 0.5 + 1e-9).all()
    prior = bn.query(x, "class")
    other = next(label for label in bn.classes(x) if label != target)
    idle = [v for v in bn.features(x) if v not in set(table["variable"])]  # has no points, but a constant
    lowest = [min(contribution(x, target, *cell) for cell in cells(x, frame, v)) for v in idle]
    base = np.log(prior[target] / prior[other]) + low.sum() + sum(lowest)
    totals = card.probabilities
    np.testing.assert_allclose(totals["probability"], 1 / (1 + np.exp(-(base + unit * totals["total"]))))
    found = {row[:3]: row[3] for row in table.drop(columns="exact").itertuples(index=False)}
    values = [table["value"][table["variable"] == v].unique() for v in bn.features(card)]
    sums = set()
    for row in product(*values):
        record = dict(zip(bn.features(card), row, strict=True))
        total = 0
        for name, value in record.items():
            parent = next((v for v in bn.families(x)[name][1:] if v != "class"), None)
            total += found[name, value, "" if parent is None else record[parent]]
        sums.add(total)
        raw = pd.DataFrame([{k: None if v == "(missing)" else v for k, v in record.items()}], index=[0])
        p = totals.set_index("total")["probability"][total]
        assert bn.predict(card, raw, prob=True)[target].iloc[0] == pytest.approx(p)
    assert sums <= set(totals["total"])  # others only with unknown values of features that are never missing


def test_points_that_double_the_odds(tree, pima):
    card = bn.scorecard(tree, pdo=20, score=600, odds=50)
    totals = card.probabilities
    odds = totals["probability"] / (1 - totals["probability"])
    np.testing.assert_allclose(odds, 50 * 2 ** ((totals["total"] - 600) / 20))
    assert card.target == "yes"
    assert card.unit == pytest.approx(np.log(2) / 20)
    assert (card.points.groupby("variable")["points"].min().drop("start") == 0).all()
    exact, rounded = (np.log(bn.predict(x, pima.dropna(), prob=True)) for x in (tree, card))
    gaps = (exact["yes"] - exact["no"]) - (rounded["yes"] - rounded["no"])
    assert gaps.abs().max() <= 0.5 * card.unit * (len(bn.features(tree)) + 1)
    assert "Start with" in repr(card)


def test_cv_repeats_the_recipe_and_the_rounding(pima):
    x = bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp")
    card = bn.scorecard(x, target="no", largest=3)
    folds = bn.stratified_folds(pima["diabetes"], 4, rng=0)
    for dag in (True, False):
        found = bn.cv(card, pima, folds=folds, metric="log_loss", mean=False, dag=dag).to_numpy().ravel()
        for fold, value in enumerate(found):
            train, test = pima[folds != fold], pima[folds == fold]
            again = (
                bn.bnc("nb", "diabetes", train, smooth=1, discretize="mdlp")
                if dag
                else bn.lp(x, train, smooth=1)
            )
            p = bn.predict(bn.scorecard(again, target="no", largest=3), test, prob=True)
            own = [p.loc[i, label] for i, label in test["diabetes"].items()]
            assert value == pytest.approx(-np.mean(np.log(own)))


def test_printed_cards_have_the_cut_points_that_count(pima):
    """Scoring by the printed table gives the points of the model at each cut point."""
    pima = pima.assign(glucose=pima["glucose"] + 0.1234)[["glucose", "age", "bmi", "diabetes"]]
    card = bn.scorecard(bn.bnc(class_var="diabetes", dataset=pima, pairs=0))
    for name, cuts in card.discretizer.cuts.items():
        _, text = re.split(rf"\b{name} ", repr(card))
        lines = re.findall(r"\(\S+, (\S+)[])] +(\d+)$", text.split("(missing)")[0], re.MULTILINE)
        for number in (*cuts, *np.nextafter(cuts, np.inf)):
            points = next(int(n) for high, n in lines if number <= float(high))
            assert points == bn.explain(card, {name: number})["points"][name]
    assert "With unknown values, use predict, not these totals." in repr(card)


@cache
def women_with_noise():
    """Women with a column that is independent of the class, and their effects."""
    frame = bn.load_pima()
    frame["noise"] = frame.groupby("diabetes").cumcount() % 3
    return frame, bn.bnc(class_var="diabetes", dataset=frame, pairs=0)


def test_cards_are_short(run):
    frame, x = women_with_noise()
    card = bn.scorecard(x, largest=5)
    table = card.points
    assert "noise" not in table["variable"].tolist()
    known = table[table["value"] != "(missing)"]
    assert not (known["points"].diff().eq(0) & known["variable"].eq(known["variable"].shift())).any()
    assert "noise" not in bn.features(card)
    assert "noise" not in repr(card) + bn.to_sql(card, table="t")
    told = f"probabilities has all {len(card.probabilities)} totals." in repr(card)
    assert told == (len(card.probabilities) > 12)
    check(run, card, frame)
    table = pd.DataFrame({"feature": ["y", "x", "x"], "value": ["no", "a", "b"], "yes": 0.0})
    nothing = bn.scorecard(bn.from_effects(table))
    assert " ".join(repr(nothing).split()) == (
        "Add the points of y = yes: variable value points x a 0 b 0 (missing) 0 total probability 0 0.5"
    )
    check(run, nothing, pd.DataFrame({"x": ["a", "b", None], "y": "no"}))


def test_explanations_are_in_points(tree, pima):
    card = bn.scorecard(tree, pdo=20)
    rows = pima.sample(30, random_state=1)
    for target in ("yes", "no"):
        found = bn.explain(card, rows, target=target)
        sums = found.groupby("row")[["points", "log_odds"]].sum().loc[rows.index]
        p = bn.predict(card, rows, prob=True)[target]
        np.testing.assert_allclose(sums["log_odds"], np.log(p / (1 - p)))
        chances = card.probabilities.set_index("total")["probability"][sums["points"]]
        np.testing.assert_allclose(chances, p if target == "yes" else 1 - p)
    one = bn.explain(card, {"glucose": 160, "insulin": 50})
    assert list(one.columns) == ["value", "parents", "points", "lost", "log_odds", "odds_ratio"]
    sums = [bn.explain(card, rows, interactions=i)["log_odds"].groupby("row").sum() for i in (True, False)]
    np.testing.assert_allclose(sums[0], sums[1])


def test_reasons_of_cards_are_against_the_average(pima):
    """The points less their mean over the training data, so that reasons for a class speak for it."""
    data = pima[["glucose", "age", "diabetes"]].dropna()
    card = bn.scorecard(bn.bnc(class_var="diabetes", dataset=data, pairs=0), pdo=20)
    row = {"glucose": 90, "age": 50}
    table = bn.explain(card, row)
    all_rows = bn.explain(card, data)
    for name in ("glucose", "age"):
        mean = all_rows["points"].xs(name, level="variable").mean()
        own = table["points"][name]
        assert table["log_odds"][name] == pytest.approx(card.unit * (own - mean), abs=0.05)
        best = card.points.set_index("variable")["points"][name].max()
        assert table["lost"][name] == best - own
        assert all_rows["log_odds"].xs(name, level="variable").mean() == pytest.approx(0, abs=0.05)
    assert table["lost"]["diabetes"] == 0
    against, towards = bn.explain(card, row, sentences=True)
    assert against.startswith("glucose = 90: the odds of 'yes' are divided by")
    assert against.endswith(", compared with an average value")
    assert towards.startswith("age = 50: the odds of 'yes' are")
    assert towards.endswith("times as high as with an average value")


def test_reasons_for_a_rejection_speak_against_the_applicant():
    """Of the values that a rejected applicant has, those that are worse than the average come first."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 4, 800) for name in ("job", "home", "records")})
    odds = frame["job"] + frame["home"] - 2 * frame["records"] + rng.logistic(size=800)
    frame["status"] = np.where(odds > -0.5, "good", "bad")
    card = bn.scorecard(bn.bnc("nb", "status", frame, smooth=1), target="good", pdo=20)
    rejected = {"job": 3, "home": 1, "records": 3}
    assert bn.predict(card, rejected).item() == "bad"
    first = bn.explain(card, rejected, target="bad", sentences=True)[0]
    odds = r"the odds of 'bad' are \S+ times as high as with an average value"
    assert re.fullmatch(f"records = 3: {odds}", first)


def test_points_of_rows_are_totals_of_the_table(tree, pima):
    for card in (bn.scorecard(tree), bn.scorecard(tree, pdo=20)):
        rows = pima.sample(30, random_state=1)
        totals = bn.predict(card, rows, points=True)
        assert totals.index.equals(rows.index)
        assert totals.name == "points"
        assert totals.tolist() == bn.explain(card, rows)["points"].groupby("row").sum()[rows.index].tolist()
        assert (card.points["variable"][0] == "start") == (card.start != 0)
    assert bn.predict(card, {"glucose": 160}, points=True).shape == (1,)
    with pytest.raises(ValueError, match="points must be False with 'interval'"):
        bn.predict(card, pima, points=True, prob=True, interval=0.9)


def test_tables_of_a_card_suffice(pima):
    """Totals and probabilities by hand, from the two tables alone, with a start and without one."""
    pima = pima[["glucose", "age", "pregnancies", "diabetes"]]
    for settings in ({}, {"pdo": 20}):
        card = bn.scorecard(bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp"), **settings)
        points, chances = card.points, card.probabilities.set_index("total")["probability"]
        for _, row in pima.head(20).iterrows():
            total = points["points"][points["variable"] == "start"].sum()
            for name in ("glucose", "age", "pregnancies"):
                lines = points[points["variable"] == name]
                ends = [re.findall(r"[^(\], ]+", value) for value in lines["value"]]
                known = [
                    len(pair) == 2 and float(pair[0]) < row[name] <= float(pair[1].strip(")"))
                    for pair in ends
                ]
                is_gap = lines["value"] == "(missing)"
                total += lines["points"][is_gap if pd.isna(row[name]) else known].item()
            p = bn.predict(card, row, prob=True)["yes"].item()
            assert chances[total] == pytest.approx(p, abs=1e-9)


def test_values_that_were_never_missing_have_no_row(pima):
    card = bn.scorecard(bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp"))
    gaps = card.points["variable"][card.points["value"] == "(missing)"].tolist()
    assert gaps == [name for name in bn.features(card) if pima[name].isna().any()]
    assert "age" not in gaps
    assert "glucose" in gaps
    assert bn.predict(card, {"glucose": 150}).shape == (1,)  # the age is unknown


def test_saved_cards_are_equal(tree, pima, tmp_path):
    card = bn.scorecard(tree, pdo=30, score=500)
    bn.save(card, tmp_path / "card.json")
    again = bn.load(tmp_path / "card.json")
    assert isinstance(again, Scorecard)
    pd.testing.assert_frame_equal(again.points, card.points)
    pd.testing.assert_frame_equal(again.probabilities, card.probabilities)
    assert bn.predict(again, pima).equals(bn.predict(card, pima))
    assert bn.cv(again, pima, k=3, rng=0) == bn.cv(card, pima, k=3, rng=0)


def test_other_functions_accept_cards(tree, pima):
    card = bn.scorecard(tree)
    assert bn.features(card) == bn.features(tree)
    assert bn.families(card) == bn.families(tree)
    assert bn.class_var(card) == "diabetes"
    assert "points" in bn.summary(card)["item"].tolist()
    found = bn.value_of_information(card, {"glucose": 160})
    assert set(found.index) == set(bn.features(card)) - {"glucose"}
    assert len(bn.counterfactual(card, pima.dropna().iloc[0]))
    fixed = [name for name in bn.features(card) if name != "pedigree"]
    assert bn.counterfactual(card, pima.dropna().iloc[0], fixed=fixed).empty
    assert bn.predict(card, pima.iloc[:0]).empty
    with pytest.raises(ValueError, match="x must have tables that follow from counts"):
        bn.update(card, pima)
    with pytest.raises(TypeError, match="a scorecard provides"):
        bn.sample(card, 3)


def test_a_query_that_a_person_can_read(car):
    frame = car.assign(**{"class": np.where(car["class"] == "unacc", "no", "yes")})
    x = bn.lp(bn.nb("class", frame, features=["safety", "persons"]), frame, smooth=1)
    statement = bn.to_sql(bn.scorecard(x, target="yes"), table="cars", key="id")
    safety = """CAST(r."safety" AS VARCHAR)||'' AS v3"""
    assert (
        re.sub(r"EXP\([^)]*\)", "EXP(…)", statement).replace(safety, "…")
        == """SELECT
  k0 AS "id",
  CASE WHEN total >= 19 THEN 'yes' ELSE 'no' END AS "predicted",
  CAST(total AS BIGINT) AS "points",
  1e0 / (1e0 + EXP(…)) AS "prob_no",
  1e0 / (1e0 + EXP(…))) AS "prob_yes"
FROM (
SELECT
  k0,
  CAST(0 +
    CASE WHEN "persons_1" = '2' THEN 0
      WHEN "persons_1" = '4' THEN 10
      WHEN "persons_1" = 'more' THEN 10
      ELSE 9 END +
    CASE WHEN "safety_2" = 'low' THEN 0
      WHEN "safety_2" = 'med' THEN 9
      WHEN "safety_2" = 'high' THEN 10
      ELSE 9 END AS DOUBLE PRECISION) AS total
FROM (
WITH step1 AS MATERIALIZED (
SELECT r."id" AS k0, CAST(r."persons" AS VARCHAR)||'' AS v2, … FROM "cars" AS r
)
SELECT
  k0,
  v2 AS "persons_1",
  v3 AS "safety_2"
FROM step1
) AS cleaned
) AS scored
"""
    )


def in_typed_table(statement, frame, table):
    """Run a statement in DuckDB on a table with the types of the frame."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as database:
        database.register("rows", frame)
        database.execute(f'CREATE TABLE "{table}" AS SELECT * FROM rows')
        return list(database.execute(statement).fetchall())


def test_typed_columns_need_no_checks(pima):
    """Totals, labels and posteriors of numbers, levels, flags and missing values."""
    frame = pima.assign(total=pima["age"], k0=pima["bmi"] > 30, group=np.where(pima["skin"] > 20, "a", "b"))
    models = {
        "card": bn.scorecard(bn.bnc("nb", "diabetes", frame, smooth=1, discretize="mdlp"), pdo=20),
        "sum": bn.bnc(class_var="diabetes", dataset=frame, pairs=0),
        "numbers": bn.bnc("nb", "diabetes", pima, smooth=1, numbers="gaussian"),
    }
    plain = frame.drop(columns="k0")
    short = bn.scorecard(bn.bnc("nb", "diabetes", plain, smooth=1, discretize="mdlp"), pdo=20)
    for name, x in {**models, "plain": short}.items():
        statement = bn.to_sql(x, table="t", key="id", numbers="typed")
        assert len(statement) < len(bn.to_sql(x, table="t", key="id"))
        found = sorted(in_typed_table(statement, frame.assign(id=range(len(frame))), "t"))
        rows = frame[has_answer(x, frame)]
        assert len(frame) - len(rows) < 10
        found = [row for row in found if row[0] in rows.index]
        np.testing.assert_allclose([row[-2:] for row in found], bn.predict(x, rows, prob=True), atol=1e-9)
        assert [row[1] for row in found] == bn.predict(x, rows).tolist()
        if isinstance(x, Scorecard):
            assert [row[2] for row in found] == bn.predict(x, rows, points=True).tolist()
        assert ("REPLACE" in statement) == (name in ("card", "sum") and "k0" in bn.features(x))
    statement = bn.to_sql(short, table="t", numbers="typed")
    assert "step1" not in statement
    assert 'CASE WHEN "glucose" <= ' in statement
    assert len(statement) < 4000
    with pytest.raises(ValueError, match="numbers must be one of 'text', 'typed'; got 'float'"):
        bn.to_sql(short, table="t", numbers="float")


def test_cut_points_beyond_the_largest_numbers_are_clipped(run):
    least = -np.finfo(float).max
    frame = pd.DataFrame({"x": [least, 0.0, 1.0, 2.0] * 20, "y": list("aabb") * 20})
    frame.loc[frame["x"] == least, "y"] = "b"
    table = pd.DataFrame({"feature": ["y", "x", "x"], "value": ["a", f"(-inf, {least}]", f"({least}, inf]"]})
    card = bn.scorecard(bn.from_effects(table.assign(b=[0.0, 5.0, -5.0])))
    check(run, card, frame)
    check(run, bn.from_effects(table.assign(b=[0.0, 5.0, -5.0])), frame)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        *[(name, "t") for name in ("true", "FALSE", "null", "k0", "v1", "kind_0_", "a'b\"c", "ß" * 40)],
        ("v2", "texts"),
        ("total", "step1"),
        ("step1", "step1"),
        ("r", "cleaned"),
        ("value_1", "cleaned"),
    ],
)
def test_names_of_the_statement_are_those_of_no_column(name, table, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: list("xxyyx") * 8, "n": rng.normal(size=40), "y": list("uvvvu") * 8})
    frame["n"] += frame["y"] == "u"
    card = bn.scorecard(bn.bnc("nb", "y", frame, smooth=1, discretize="quantile"))
    others = {other: 1 for other in ("kind_0_", "text_0_", "k0", "v2", "total", "true_1") if other != name}
    found = run(bn.to_sql(card, table=table), frame.assign(**others), table)
    expected = bn.predict(card, frame, prob=True).to_numpy()
    np.testing.assert_allclose(sorted(row[2:] for row in found), sorted(expected.tolist()), atol=1e-9)


def test_exponentials_are_within_range(run):
    card, frame = case("card of extreme odds")
    check(run, card, frame)
    bounds = re.findall(r"WHEN total < (-?\d+) THEN \S+ WHEN total > (-?\d+)", bn.to_sql(card, table="t"))
    assert len(bounds) == 2
    totals = card.probabilities["total"]
    for low, high in bounds:
        inside = totals[(totals >= int(low)) & (totals <= int(high))]
        assert (card.intercept + card.unit * inside).abs().max() <= 600
    assert abs(card.intercept) > 700


def test_nomograms(tree, pima):
    pytest.importorskip("matplotlib")
    card = bn.scorecard(tree)
    ax = bn.plot_nomogram(card)
    assert ax.get_title("left") == "points for diabetes = yes"
    texts = [text.get_text() for text in ax.texts]
    assert "points" in texts
    assert any(text.replace("\n", " ") == "glucose if insulin = (-inf, 109]" for text in texts)
    assert "0.5" in texts
    row = pima.dropna().iloc[0]
    marked = bn.plot_nomogram(card, row=row)
    p = bn.predict(card, row, prob=True)["yes"].iloc[0]
    total = int(bn.explain(card, row)["points"].sum())
    assert marked.get_title("left") == f"diabetes = yes: total {total}, probability {p:.2f}"
    dots = [line for line in marked.lines if line.get_marker() == "o"]
    assert len(dots) == len(bn.features(card)) + 2
    unknown = bn.plot_nomogram(card, row=row.astype(object).where(row.index != "insulin", None))
    children = sum(given == card.features.index("insulin") for given in card.parent_of_each_feature)
    dots = [line for line in unknown.lines if line.get_marker() == "o"]
    assert len(dots) == len(bn.features(card)) + 2 - children
    with pytest.raises(TypeError, match="card must be a Scorecard"):
        bn.plot_nomogram(tree)
    with pytest.raises(ValueError, match="row must be one row"):
        bn.plot_nomogram(card, row=pima.head(2))


def test_notebooks_show_the_points(tree):
    card = bn.scorecard(tree, pdo=20)
    text = card._repr_html_()
    assert f"Start with {card.start:,} points. Points of diabetes = yes" in text
    assert text.count("<tr") == len(card.points_with_parent_names) + 1
    assert {"points", "probabilities"} <= set(dir(card))


def test_a_level_of_missing_values_has_points():
    a = [None, "u", "v"] * 30
    frame = pd.DataFrame({"a": a, "y": [str((v is None) ^ (i % 5 == 0)) for i, v in enumerate(a)]})
    card = bn.scorecard(bn.bnc("nb", "y", frame, smooth=1, missing_level=True))
    points = dict(zip(card.points["value"], card.points["points"], strict=True))
    assert points["(missing)"] == 10
    assert 10 in card.probabilities["total"].to_numpy()


def test_effects_of_a_card_of_a_tree_have_the_mean_0_by_shares(tree):
    card = bn.scorecard(tree)
    assert any(j is not None for j in card.parent_of_each_feature)
    for share, table, j in zip(card.shares, card.tables, card.parent_of_each_feature, strict=True):
        means = np.tensordot(share, table, axes=1)
        np.testing.assert_allclose(means if j is None else card.shares[j] @ means, 0, atol=1e-12)


def test_points_lost_are_below_the_best_known_value():
    table = pd.DataFrame(
        {"feature": ["y", "a", "a", "a"], "value": ["no", "u", "v", "(missing)"], "yes": [0.0, 1, 2, 4]}
    )
    card = bn.scorecard(bn.from_effects(table), largest=3)
    assert card.points["points"].tolist() == [0, 1, 3]
    lost = bn.explain(card, pd.DataFrame({"a": ["u", "v", None]}))["lost"]
    assert lost.xs("a", level="variable").tolist() == [1, 0, 0]


def test_a_card_has_a_row_of_missing_values_only_for_features_that_were_missing():
    rng, n = np.random.default_rng(0), 400
    data = pd.DataFrame({"known": rng.choice([1.5, 2.5, 3.5], n), "gaps": rng.choice(list("pq"), n)})
    score = data["known"] + (data["gaps"] == "p") + rng.normal(size=n)
    data["y"] = np.where(score > 3, "yes", "no")
    data.loc[rng.random(n) < 0.2, "gaps"] = None
    table = bn.effects(bn.bnc("nb", "y", data, smooth=1, discretize="quantile", bins=3))
    card = bn.scorecard(bn.from_effects(table, dataset=data))
    is_missing = card.points["value"] == "(missing)"
    assert card.points["variable"][is_missing].tolist() == ["gaps"]
    features = data.drop(columns="y")
    found = bn.predict(card, features, prob=True, points=True)
    assert list(found) == ["points", "no", "yes"]
    assert found.columns.name == "y"
    assert found["points"].equals(bn.predict(card, features, points=True))
    pd.testing.assert_frame_equal(found[["no", "yes"]], bn.predict(card, features, prob=True))
    by_total = card.probabilities.set_index("total")["probability"]
    np.testing.assert_allclose(by_total[found["points"]], found["yes"], atol=1e-14)
    database = sqlite3.connect(":memory:")
    features.to_sql("t", database, index=False)
    by_database = pd.read_sql(bn.to_sql(card, table="t"), database)
    database.close()
    assert by_database["points"].tolist() == found["points"].tolist()
    np.testing.assert_allclose(by_database["prob_yes"], found["yes"], atol=1e-12)


def test_points_and_probabilities_in_one_frame():
    voting = bn.load_voting()[["crime", "immigration", "Class"]]
    card = bn.scorecard(bn.bnc("nb", "Class", voting, smooth=1))
    rows, prior = voting.iloc[[0, 1, 1]], {"democrat": 0.5, "republican": 0.5}
    found = bn.predict(card, rows, prob=True, points=True, prior=prior)
    pd.testing.assert_frame_equal(
        found.drop(columns="points"), bn.predict(card, rows, prob=True, prior=prior)
    )
    with pytest.raises(ValueError, match="points must be False with 'prior'; got True"):
        bn.predict(card, rows, points=True, prior=prior)
    named = voting.assign(Class=voting["Class"].astype(str).replace("democrat", "points"))
    other = bn.scorecard(bn.bnc("nb", "Class", named, smooth=1))
    assert len(bn.predict(other, rows, points=True)) == 3
    with pytest.raises(ValueError, match="points must be False if 'points' is a class"):
        bn.predict(other, rows, points=True, prob=True)
