"""Predictions by SQL, in SQLite and DuckDB, beside `predict`."""

import sqlite3
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.export.scorer import scorer_of_model
from bnclassify.models import Scorecard
from bnclassify.networks import weighted as weighted_module
from bnclassify.networks.weighted import RaisedTable

from .oracles import with_holes
from .strategies import examples, frames, graphs, networks
from .zoo import CASES, case


def in_sqlite(statement, frame, table):
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql(table, database, index=False)
        return database.execute(statement).fetchall()


def in_duckdb(statement, frame, table):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed; the extra test has it")
    with duckdb.connect() as database:
        database.register("given", frame)
        quoted = table.replace('"', '""')
        database.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM given')
        return database.execute(statement).fetchall()


@pytest.fixture(params=[in_sqlite, pytest.param(in_duckdb, marks=pytest.mark.slow)], ids=["sqlite", "duckdb"])
def run(request):
    return request.param


def has_answer(model, rows):
    """Return whether SQL scores each row: whether all missing values of a sum are evidence."""
    told = getattr(model, "unknown", None)
    if told is None:
        return np.ones(len(rows), dtype=bool)
    lacks = rows[list(bn.features(model))].isna().to_numpy()
    return ~lacks[:, told.always].any(axis=1) & (lacks[:, told.gaps].sum(axis=1) <= told.most)


def check(run, model, frame):
    """Compare labels and posteriors with `predict`."""
    rows = frame.reset_index(drop=True)
    rows.insert(0, "row id", range(len(rows)))
    table = 'my "odd" table'
    found = sorted(run(bn.to_sql(model, table=table, key="row id"), rows, table))
    assert [row[0] for row in found] == list(range(len(rows)))
    rows = rows[has_answer(model, rows)]
    assert len(rows)
    assert {value for row in found if row[0] not in rows.index for value in row[1:]} <= {None}
    found = [row for row in found if row[0] in rows.index]
    assert [row[1] for row in found] == bn.predict(model, rows, unseen="missing").tolist()
    if isinstance(model, Scorecard):
        points = [row[2] for row in found]
        assert points == bn.predict(model, rows, points=True, unseen="missing").tolist()
        assert all(type(total) is int for total in points)
    posteriors = np.array([row[2 + isinstance(model, Scorecard) :] for row in found], dtype=float)
    expected = bn.predict(model, rows, prob=True, unseen="missing").to_numpy()
    np.testing.assert_allclose(posteriors, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_predictions_are_those_of_predict(name, run):
    check(run, *case(name))


@pytest.mark.parametrize("name", ["sum", "women default"])
def test_sums_have_no_answer_if_a_value_is_missing_of_which_training_says_nothing(name, run):
    model, rows = case(name)
    always = rows[["pregnancies", "pedigree", "age"]].notna().all(axis=1).to_numpy()
    others = rows[["glucose", "pressure", "skin", "insulin", "bmi"]].isna().sum(axis=1).to_numpy()
    train = bn.load_pima().head(200).drop(columns="diabetes").isna().sum(axis=1)
    most = max(n for n in range(6) if (train >= n).sum() >= 5)
    np.testing.assert_array_equal(has_answer(model, rows), always & (others <= most))
    assert len({*(others > most)}) == 2
    for x in (
        model,
        *([] if model.pairs else [bn.scorecard(model)]),
    ):  # more values are missing than in five training rows
        nothing = rows.head(1).assign(**dict.fromkeys(bn.features(x), float("nan")))
        assert set(run(bn.to_sql(x, table="t"), nothing, "t")[0]) == {None}


@examples(12)
@given(st.data())
def test_networks_of_any_shape(data):
    frame = data.draw(frames(min_rows=5, max_features=5))
    structure = data.draw(st.one_of(networks(frame), graphs(frame)))
    model = bn.lp(structure, frame, smooth=data.draw(st.sampled_from([0, 1])))
    rows = with_holes(frame.astype(object), 0.4, 1)
    for run in (in_sqlite, in_duckdb):
        check(run, model, rows)


@examples(8)
@given(st.data())
def test_weights_of_any_network(data):
    frame = data.draw(frames(min_rows=20, max_features=4, missing=0.1))
    model = bn.lp(data.draw(networks(frame)), frame, backoff=True, held_out="weights")
    check(in_sqlite, model, with_holes(frame.astype(object), 0.4, 1))


@pytest.mark.parametrize(
    ("labels", "stored"),
    [
        (["it's", "100 %"], ["it's", "100 %"]),
        ([2, 10], [2, 10]),
        ([0.5, 1e-7], [0.5, 1e-7]),
        ([False, True], [False, True]),
        ([1, "b"], ["1", "b"]),
    ],
)
def test_labels_are_of_their_type(labels, stored, run):
    frame = pd.DataFrame({"a": ["x", "y"] * 20, "class": pd.Categorical(labels * 20, categories=labels)})
    model = bn.lp(bn.nb("class", frame), frame, smooth=1)
    found = run(bn.to_sql(model, table="t", key=["a"]), frame[["a"]].head(2), "t")
    assert sorted(row[:2] for row in found) == [("x", stored[0]), ("y", stored[1])]


def test_first_of_tied_classes_is_predicted(run):
    frame = pd.DataFrame({"a": ["x", "y"] * 2, "class": pd.Categorical(list("ppqq"), categories=["q", "p"])})
    model = bn.lp(bn.nb("class", frame), frame, smooth=1)
    assert run(bn.to_sql(model, table="t"), frame, "t") == [("q", 0.5, 0.5)] * 4


def test_rare_superparents_of_many_levels_have_no_score(run):
    values = pd.Series(range(20)).repeat([1, *[3] * 19])
    frame = pd.DataFrame({"a": values, "b": values % 3, "class": values % 2}).astype(str)
    model = bn.bnc("ande", "class", frame, m=1, dag_args={"min_count": 2})
    check(run, model, with_holes(frame, 0.2, 1))


def test_rows_that_are_impossible_are_uniform(run):
    model, frame = case("impossible")
    posteriors = bn.predict(model, frame, prob=True)
    assert (np.ptp(posteriors.to_numpy(), axis=1) == 0).any()
    check(run, model, frame)


def test_values_stored_as_another_type(run):
    frame = pd.DataFrame(
        {"code": [1, 2, 3] * 30, "digit": ["1", "2"] * 45, "flag": [True, False, True] * 30}, dtype=object
    ).astype({"code": int, "flag": bool})
    frame["bit"] = frame["digit"].astype(int) - 1
    frame["class"] = np.where(frame["code"] + frame["flag"] > 2, "p", "q")
    model = bn.lp(bn.nb("class", frame), frame, smooth=1)
    stored = frame.astype({"code": str, "digit": int, "flag": float}).astype({"flag": int, "bit": bool})
    statement = bn.to_sql(model, table="t")
    assert sorted(run(statement, frame, "t")) == sorted(run(statement, stored, "t"))


TEXTS = [
    *["", " ", "  ", ".", "..", "...", "-", "--", "---", "- -", "+", "++", "+-5", "--5", "-5-", "5+"],
    *["5-", "+ 5", "E", "e", "e5", ".e5", "1e", "1e+", "1e-", "1e 5", "1e1e1", "1e5.5", "1d5", "1.e5"],
    *["1.5e3", "1.5E+03", "1e5", "1E5", "1e+5", "1e-5", "1e005", "1e+005", "1e115", "1e-150", "1e308"],
    *["1e400", "-1e400", "1e-400", "5e-324", "-1e309", "0.0", "00", "-0", "007", ".5", "5.", "-.5"],
    *["+.5", "+5", "-5", " 5 ", "\t7", "7\n", "5 6", "1..2", "..5", "5..", "1.2.3", "192.168.0.1"],
    *["2024-01-01", "12:30", "1-2", "555-1234", "12-", "inf", "-inf", "+inf", "Infinity", "-Infinity"],
    *["INF", "inff", "nan", "NaN", "NA", "N/A", "#N/A", "null", "None", "missing", "?", "*", "abc"],
    *["2 kg", "5 %", "<5", "1,5", "1.000,5", "$5", "0x1F", "1_000", "1/2", "\xbd", "\uff11\uff12"],
    *["\xa07", "true", "%", "_", "0%", "0_", "12h", "5f", "'"],
    *["1" * 120, "0." + "3" * 120],
]
"""Text in columns of numbers: what databases, or some of them, might read as numbers."""


def as_number(text):
    """Return a text of ASCII characters as the nearest finite float, and NaN for other text."""
    try:
        number = float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan
    return np.nan if "inf" in text.casefold() else np.clip(number, -sys.float_info.max, sys.float_info.max)


def check_texts(kind, run):
    """Compare what a model predicts for texts, in a database, and for the numbers that they represent."""
    rng, n = np.random.default_rng(0), 400
    x = rng.normal(0, 3, n)
    frame = pd.DataFrame({"x": x, "z": rng.choice(["a", "b"], n)})
    frame["y"] = np.where(x + rng.normal(size=n) > 0, "p", "q")
    rows = pd.DataFrame({"x": [as_number(text) for text in TEXTS], "z": "a"})
    if kind == "levels":
        frame["x"] = rng.choice([-5, 0, 5, 7, 12], n)
        rows["x"] = rows["x"].where(rows["x"].isna() | (rows["x"] % 1 == 0), 999.0)
        model = bn.bnc("nb", "y", frame, smooth=1)
    elif kind == "card":
        model = bn.scorecard(bn.bnc("nb", "y", frame, smooth=1, discretize="quantile"))
    elif kind == "gaussian":
        model = bn.bnc("tan_cl", "y", frame, smooth=1, numbers="gaussian")
    else:
        model = bn.bnc(class_var="y", dataset=frame.assign(x=frame["x"].where(frame.index % 10 > 0)))
    stored = rows.assign(x=TEXTS, id=range(len(rows)))
    found = sorted(run(bn.to_sql(model, table="t", key="id"), stored, "t"))
    expected = bn.predict(model, rows, prob=True, unseen="missing").to_numpy()
    np.testing.assert_allclose([row[-2:] for row in found], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["default", "gaussian", "levels", "card"])
def test_text_is_the_number_that_it_represents_or_missing(kind, run):
    check_texts(kind, run)


def test_booleans_may_be_stored_as_any_number(run):
    frame = pd.DataFrame({"a": [True, False, True] * 20, "y": list("ppqqpq") * 10})
    model = bn.lp(bn.nb("y", frame), frame, smooth=1)
    expected = bn.predict(model, frame.head(2), prob=True).to_numpy()
    stored = [[1.0, 0.0], [1, 0], ["1.00", "0.00"], ["true", "false"], [True, False]]
    for values in stored:
        found = run(bn.to_sql(model, table="t"), pd.DataFrame({"a": values}), "t")
        posteriors = sorted(row[1:] for row in found)
        np.testing.assert_allclose(posteriors, sorted(expected.tolist()), atol=1e-9)


def test_characters_that_databases_refuse(car):
    for odd in ("a\0b", "\ud800"):
        marks = [odd] if "\0" in odd else []  # text of Arrow cannot contain lone surrogates
        frames = [car.rename(columns={"doors": mark}) for mark in marks]
        for frame in [*frames, *[car.assign(doors=car["doors"].astype(str) + mark) for mark in marks]]:
            with pytest.raises(ValueError, match="must not contain NUL characters or lone surrogates"):
                bn.to_sql(bn.lp(bn.nb("class", frame), frame, smooth=1), table="t")
        with pytest.raises(ValueError, match="must not contain NUL"):
            bn.to_sql(bn.lp(bn.nb("class", car), car, smooth=1), table=odd)


@pytest.mark.slow
def test_the_remedy_for_many_features_is_fewer_features():
    frame = (
        pd.DataFrame(np.arange(4_000).reshape(2, 2_000) // 2_000)
        .add_prefix("f")
        .astype(str)
        .assign(y=["a", "b"])
    )
    with pytest.raises(ValueError, match=r"Its largest table is that of .*or features"):
        bn.to_sql(bn.lp(bn.nb("y", frame), frame, smooth=1), table="t")


@pytest.mark.parametrize("shift", [0, 10**15])
def test_means_of_large_whole_numbers_are_not_rounded(shift, run):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"y": rng.choice(list("uv"), 60)})
    frame["x"] = shift + rng.integers(12, size=60) + (frame["y"] == "u")  # floats are .125 apart
    model = bn.bnc("nb", "y", frame, smooth=1, numbers="gaussian")
    rows = frame.assign(id=range(len(frame)))
    found = sorted(run(bn.to_sql(model, table="t", key="id"), rows, "t"))
    expected = bn.predict(model, frame, prob=True).to_numpy()
    np.testing.assert_allclose([row[-2:] for row in found], expected, rtol=0, atol=1e-12)


LONG = {
    "a float for no data": [1.0, 2.0, 3.0, 1e20],
    "a negative one": [-1e22, 2.0, 3.0, 4.0],
    "2**53": [1.0, 2.0, 3.0, 2.0**53],
    "digits": [1.0, 5.0, 1.2345678901234568e16, 7.654321098765432e77],
    "very large": [1.0, 2.0, 1e205, 4e299],
    "integers that floats merge": [2**53, 2**53 + 1, 2**53 + 2, 5],
    "identifiers": [10**17 + 1, 10**17 + 2, 2**63 - 1, -(10**17)],
    "categories": pd.Categorical([1.5, 2.0, 1e20, 1e-150]),
    "small integers": [1, 2, 3, 4],
}
"""Four levels each, of which floats and integers of databases, and texts, mean the same."""


def check_long_numbers(name, run, numbers="text"):
    """Compare levels with `predict`, also those of integers in a column of floats, as a NULL makes it."""
    frame = pd.DataFrame({"a": LONG[name], "y": list("uuvv")})
    frame = pd.concat([frame] * 10, ignore_index=True)
    model = bn.bnc("nb", "y", frame, smooth=1, discretize="mdlp")
    rows = frame.head(4).assign(id=range(4))
    for stored in (rows, rows.astype({"a": float})):
        found = sorted(run(bn.to_sql(model, table="t", key="id", numbers=numbers), stored, "t"))
        expected = bn.predict(model, stored, prob=True, unseen="missing").to_numpy()
        np.testing.assert_allclose([row[-2:] for row in found], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("numbers", ["text", "typed"])
@pytest.mark.parametrize("name", LONG)
def test_long_numbers_as_levels(name, numbers, run):
    check_long_numbers(name, run, numbers)


@pytest.mark.parametrize("numbers", ["text", "typed"])
def test_long_numbers_of_cards(numbers, run):
    frame = pd.DataFrame({"a": [2**53, 2**53 + 1, 2**53 + 2, 5] * 9, "y": list("uvvvuuvuv") * 4})
    card = bn.scorecard(bn.bnc("nb", "y", frame, smooth=1))
    found = run(bn.to_sql(card, table="t", key="a", numbers=numbers), frame.head(4), "t")
    expected = bn.predict(card, frame.head(4), points=True).tolist()
    assert sorted((row[0], row[2]) for row in found) == sorted(zip(frame["a"].head(4), expected, strict=True))


def test_classes_of_any_number_of_digits(run):
    frame = pd.DataFrame({"a": ["p", "q"] * 20, "y": pd.Series([5, 10**20 + 1] * 20, dtype=object)})
    model = bn.bnc("nb", "y", frame, smooth=1)
    found = run(bn.to_sql(model, table="t"), frame[["a"]].head(2), "t")
    assert sorted(row[0] for row in found) == [str(10**20 + 1), "5"]


@pytest.mark.parametrize("numbers", ["text", "typed"])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_up_to_1e300_differ(sign, numbers, run):
    values = np.r_[1e205 * np.arange(1, 8), 1e299 * np.arange(1, 8)]
    frame = pd.DataFrame({"a": sign * np.tile(values, 20)})
    frame["y"] = np.where((frame["a"] > frame["a"].median()) ^ (np.arange(280) % 7 == 0), "u", "v")
    model = bn.bnc("nb", "y", frame, smooth=1, discretize="quantile")
    rows = frame.head(14).assign(id=range(14))
    for stored in (rows, rows.astype({"a": str})) if numbers == "text" else (rows,):
        found = sorted(run(bn.to_sql(model, table="t", key="id", numbers=numbers), stored, "t"))
        expected = bn.predict(model, rows, prob=True).to_numpy()
        np.testing.assert_allclose([row[-2:] for row in found], expected, rtol=0, atol=1e-9)


WORDS = ["yes no", "Yes No maybe", "y n", "Y N", "true false", "True False", "T F", "F M", "on off"]


def check_booleans_for_words(words, run, numbers="text"):
    """Compare a column of words with one of booleans, which DuckDB makes of yes and no in a file."""
    first, second, *_ = levels = words.split()
    frame = pd.DataFrame({"a": levels, "y": list("uvv")[: len(levels)]})
    model = bn.bnc("nb", "y", pd.concat([frame] * 10), smooth=1)
    rows = pd.DataFrame({"a": [first, second], "id": [0, 1]})
    flags = rows.assign(a=[False, True] if words == "F M" else [True, False])
    pairs = [(model, rows, flags.head(1) if words == "F M" else flags)]
    if len(levels) == 2 and words != "F M":
        of_flags = bn.bnc("nb", "y", pd.concat([frame.assign(a=[True, False])] * 10), smooth=1)
        pairs.append((of_flags, flags, rows))
    for x, own, stored in pairs:
        found = sorted(run(bn.to_sql(x, table="t", key="id", numbers=numbers), stored, "t"))
        expected = bn.predict(x, own.head(len(stored)), prob=True).to_numpy()
        np.testing.assert_allclose([row[-len(expected.T) :] for row in found], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("numbers", ["text", "typed"])
@pytest.mark.parametrize("words", WORDS)
def test_booleans_that_a_database_made_of_words(words, numbers, run):
    check_booleans_for_words(words, run, numbers)


@pytest.mark.parametrize("numbers", ["text", "typed"])
@pytest.mark.parametrize("sentinel", [sys.float_info.max, -sys.float_info.max])
def test_the_largest_float_can_stand_for_no_data(sentinel, numbers, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.where(rng.random(120) < 0.3, sentinel, rng.normal(size=120).round(2))})
    frame["y"] = np.where((frame["x"] == sentinel) ^ (rng.random(120) < 0.1), "p", "q")
    for settings in ({}, {"pairs": 0}, {"smooth": 1, "discretize": "quantile"}):
        x = bn.bnc("nb" if "smooth" in settings else None, "y", frame, **settings)
        statement = bn.to_sql(x, table="t", key="id", numbers=numbers)
        found = sorted(run(statement, frame.assign(id=range(len(frame))), "t"))
        expected = bn.predict(x, frame, prob=True)
        np.testing.assert_allclose([row[-2:] for row in found], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("numbers", ["text", "typed"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_numbers_that_are_not_finite_are_missing(number, numbers):
    """Also in columns of type DOUBLE of DuckDB, in which NaN is above all numbers."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    model, frame = case("women gaussian")
    card = bn.scorecard(bn.bnc("nb", "diabetes", bn.load_pima(), smooth=1, discretize="mdlp"))
    for x in (model, card):
        with duckdb.connect() as database:
            database.register("rows", frame.head(1).drop(columns="glucose"))
            database.execute(f"CREATE TABLE t AS SELECT *, CAST('{number}' AS DOUBLE) glucose FROM rows")
            (found,) = database.execute(bn.to_sql(x, table="t", numbers=numbers)).fetchall()
        expected = bn.predict(x, frame.head(1).assign(glucose=np.nan), prob=True)
        np.testing.assert_allclose([found[-2:]], expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore:'a'. labels that differ only in white space or case")
def test_levels_that_differ_in_case_only():
    frame = pd.DataFrame({"a": list("xXyY") * 10, "class": list("pqpqpppq") * 5})
    model = bn.lp(bn.nb("class", frame), frame, smooth=1)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (a TEXT COLLATE NOCASE)")
        database.executemany("INSERT INTO t VALUES (?)", zip(frame["a"].head(4)))
        rows = database.execute(bn.to_sql(model, table="t")).fetchall()
    expected = bn.predict(model, frame.head(4), prob=True).to_numpy()
    np.testing.assert_allclose([row[1:] for row in rows], expected, rtol=0, atol=1e-9)


def test_levels_that_are_all_merged(run):
    frame = pd.DataFrame({"a": list("xyzxyz"), "b": [1, 2, 3] * 2, "class": list("ppqppp")})
    model = bn.bnc("nb", "class", frame, smooth=1, min_count=4)
    assert bn.values(model)["b"] == ("other",)
    check(run, model, frame.assign(a=["x", "new", None] * 2))


def test_no_key_and_a_schema(run):
    model, frame = case("nb")
    labels = [f"prob_{label}" for label in bn.classes(model)]
    for table in ("t", ("main", "t"), ("main", "step1")):
        rows = run(bn.to_sql(model, table=table), frame, table if isinstance(table, str) else table[1])
        assert len(rows) == len(frame)
        assert {len(row) for row in rows} == {1 + len(labels)}


@pytest.mark.slow
def test_thousand_features(run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (50, 1000)).astype(str)).add_prefix("x")
    frame["class"] = rng.choice(["a", "b"], 50)
    check(run, bn.lp(bn.nb("class", frame), frame, smooth=1), with_holes(frame, 0.1, 1))


@pytest.mark.slow
def test_models_that_are_too_large():
    rng = np.random.default_rng(0)
    frame = (
        pd.DataFrame(rng.integers(0, 8, (200, 12)).astype(str))
        .add_prefix("x")
        .assign(y=rng.integers(0, 3, 200))
    )
    network = bn.lp(bn.kdb_mi("y", frame, kdbk=2), frame, backoff=True)
    with pytest.raises(ValueError, match=r"largest table .* held_out='weights', which need no products"):
        bn.to_sql(network, table="t")
    weighted = bn.lp(bn.kdb_mi("y", frame, kdbk=2), frame, backoff=True, held_out="weights")
    check(in_sqlite, weighted, with_holes(frame.rename(columns={"y": "class"}).head(20), 0.2, 1))
    wider = bn.lp(bn.kdb_mi("y", frame, kdbk=4), frame, smooth=1, held_out="weights")
    with pytest.raises(ValueError, match=r"characters\. Its largest table is that of .*, or fewer parents"):
        bn.to_sql(wider, table="t")


@pytest.mark.slow
def test_the_remedies_for_the_default_model_work():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(214, 2))
    y = pd.qcut(z @ [1, 0.5] + 0.5 * rng.normal(size=214), 6, labels=list("abcdef")).astype(str)
    numbers = {f"x{i}": 0.5 * z @ rng.normal(size=2) + 0.87 * rng.normal(size=214) for i in range(9)}
    frame = pd.DataFrame(numbers).assign(y=y)
    wide = bn.bnc("kdb_mi", "y", frame, dag_args={"kdbk": 4}, discretize="averaged")
    with pytest.raises(ValueError, match="discretize='mdlp', or fewer parents"):
        bn.to_sql(wide, table="t")
    assert len(bn.to_sql(bn.bnc(class_var="y", dataset=frame), table="t")) < 300_000
    single = bn.bnc("kdb_mi", "y", frame, discretize="mdlp", dag_args={"kdbk": 4})
    for remedy in (single, bn.bnc(class_var="y", dataset=frame, pairs=0)):
        assert len(bn.to_sql(remedy, table="t")) < 100_000
    table = bn.from_effects(bn.effects(bn.bnc("nb", "y", frame, smooth=1, discretize="averaged"), frame))
    assert len(bn.to_sql(table, table="t")) < 100_000
    check(in_sqlite, table, frame.rename(columns={"y": "class"}).head(40))


def test_tables_are_not_written_out_if_they_have_too_many_cells(monkeypatch):
    car = bn.load_car()
    x = bn.lp(bn.kdb_mi("class", car, kdbk=2), car, backoff=True, held_out="weights")
    sizes = [term.logs.size for term in scorer_of_model(x).formula.formula.terms]
    monkeypatch.setattr(weighted_module, "MAX_CELLS", 32 * sum(sizes))
    bn.to_sql(x, table="t")
    monkeypatch.setattr(weighted_module, "MAX_CELLS", 32 * (sum(sizes) - 1))
    monkeypatch.delattr(RaisedTable, "written")
    message = rf"got {sum(sizes):,}, of which {max(sizes):,} are for .*\. Use a single"
    with pytest.raises(ValueError, match=message):
        bn.to_sql(x, table="t")
