"""Tables in DuckDB and PostgreSQL: the models of memory, from GROUP BY queries alone."""

import re
import warnings
from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bnclassify as bn

from . import test_sql
from .forms import as_text, in_duckdb, in_postgres, where_they_are
from .strategies import examples, frames
from .test_parts import numbers_frame, same_data, same_model
from .test_sql import check
from .zoo import case

ibis = pytest.importorskip("ibis", reason="ibis is not installed; the extra databases has it")

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # by ibis


def odd_frame():
    """Odd names and labels, types other than text, and missing values, also of the class."""
    rng, n = np.random.default_rng(1), 400
    frame = pd.DataFrame(
        {
            'na"me; --': rng.choice(["it's", 'a "b"', "é", "", "NULL", " ", "Z", "a"], n),
            "whole": pd.array(rng.integers(-3, 12, n), dtype="Int64"),
            "flag": pd.array(rng.random(n) < 0.3, dtype="boolean"),
            "select": rng.choice(["x", "y"], n),
        }
    )
    frame["the class"] = np.where(frame["flag"] ^ (rng.random(n) < 0.3), "yes", "no")
    for i, name in enumerate(frame.columns):
        frame.loc[frame.index % 11 == i, name] = None
    return frame


@pytest.mark.filterwarnings("ignore:the network has", "ignore:.*white space or case")
def test_odd_names_labels_and_types(store):
    frame = odd_frame()
    read, table = bn.encode(store(frame)), where_they_are(store(frame))
    same_data(read, bn.encode(frame))
    for learner in ("tan_cl", "aode"):
        with pytest.warns(UserWarning, match="36 of 400 rows have no class 'the class'") as caught:
            x = bn.bnc(learner, "the class", table, smooth=1, missing_level=False)
        assert ["36 of 400" in str(warning.message) for warning in caught].count(True) == 1
        with pytest.warns(UserWarning, match="36 of 400 rows"):
            same_model(x, bn.bnc(learner, "the class", frame, smooth=1, missing_level=False))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "36 of 400")
        filled = [
            encode(data, missing_level=["whole", "select"])
            for encode, data in ((where_they_are, store(frame)), (bn.encode, frame))
        ]
        same_model(*(bn.bnc("tan_cl", "the class", data, smooth=1) for data in filled))
    strange = frame.assign(select="new").dropna()
    for data in (store(strange), where_they_are(store(strange))):
        with pytest.raises(ValueError, match="'select': 'new' not among the levels of the model, 'x', 'y'"):
            bn.update(x, data)


@pytest.mark.filterwarnings("ignore:'key'. all values differ")
def test_tables_are_read(store):
    """Numbers, identifiers and missing values, which are cut and weighed as in memory."""
    frame = numbers_frame().assign(key=[f"row {i}" for i in range(300)])
    table = store(frame)
    named = {"class_var": "class", "method": "mdlp"}
    (mine, a), (other, b) = (bn.discretize(data, **named) for data in (table, frame))
    assert (a.points, a.labels) == (b.points, b.labels)
    x, y = (bn.encode(data, weights="whole") for data in (table.drop("key"), frame.drop(columns="key")))
    np.testing.assert_array_equal(x.weights, y.weights)
    same_data(x, y)
    models = [
        bn.bnc("tan_cl", "class", data, smooth=1, discretize="mdlp")
        for data in (mine.drop(columns="key"), other.drop(columns="key"))
    ]
    same_model(*models)


def test_enums_keep_their_order(duck, car):
    labels = ["vhigh", "it's", "med", "low", "high"]
    enum = "ENUM (" + ", ".join("'" + label.replace("'", "''") + "'" for label in labels) + ")"
    car = car[["maint", "doors", "safety", "class"]]
    frame = car.assign(maint=pd.Categorical(car["maint"].astype(str), labels))
    expected = bn.bnc("tan_cl", "class", as_text(car).assign(maint=frame["maint"]), smooth=1)
    table = in_duckdb(duck, frame, f"* REPLACE (maint::{enum} AS maint)")
    for data in (table, where_they_are(table)):
        same_model(bn.bnc("tan_cl", "class", data, smooth=1), expected)
    assert bn.values(bn.nb("class", table))["maint"] == tuple(labels)


@pytest.mark.slow
def test_enums_of_postgres(postgres, car):
    postgres.con.execute("""CREATE TYPE "Amount" AS ENUM ('vhigh', 'it''s', 'med', 'low', 'high')""")
    frame = car.assign(maint=pd.Categorical(car["maint"], ["vhigh", "it's", "med", "low", "high"]))
    table = in_postgres(postgres, car, maint='"Amount"')
    expected = bn.bnc("tan_cl", "class", as_text(car).assign(maint=frame["maint"]), smooth=1)
    for data in (table, where_they_are(table)):
        same_model(bn.bnc("tan_cl", "class", data, smooth=1), expected)


@pytest.mark.slow
def test_weights_with_fractions(store, car):
    weighed = as_text(car).assign(share=np.random.default_rng(0).random(len(car)))
    table = store(weighed)
    mine, other = (
        bn.bnc("tan_cl", "class", encode(data, weights="share"), smooth=1)
        for encode, data in ((where_they_are, table), (bn.encode, weighed))
    )
    assert mine.families == other.families
    for name, cpt in bn.params(other).items():
        np.testing.assert_allclose(bn.params(mine)[name], cpt, rtol=1e-12)
    small = table.mutate(share=table.share / 1000)
    with pytest.warns(UserWarning, match="less than the number of its rows, 1,728"):
        bn.hc("class", where_they_are(small, weights="share"))
    wrong = table.mutate(share=(table.share > 0.5).ifelse(-1.5, ibis.null("float64")))
    with pytest.raises(ValueError, match=r"weights must be finite numbers of 0 or more; got 1,728 others"):
        bn.nb("class", where_they_are(wrong, weights="share"))
    for name, error in (("doors", TypeError), ("tims", KeyError)):
        with pytest.raises(error, match=f"weights.*'{name}'"):
            where_they_are(table, weights=name)


@pytest.mark.slow
@given(st.data())
@examples(10)
def test_any_rows(duck, data):
    frame = as_text(data.draw(frames(missing=0.2)))
    assume(frame.notna().any().all())
    table = in_duckdb(duck, frame)
    same_data(bn.encode(table), bn.encode(frame))
    both = where_they_are(table), frame
    same_model(*(bn.bnc("tan_cl", "class", rows, smooth=1, missing_level=False) for rows in both))
    same_model(*(bn.bnc("nb", "class", rows, backoff=True, missing_level=False) for rows in both))


def test_few_queries_and_no_rows(duck, car, monkeypatch):
    sizes = []
    fetch = ibis.expr.types.Table.to_pyarrow

    def counted(self, *args, **options):
        result = fetch(self, *args, **options)
        sizes.append(len(result))
        return result

    monkeypatch.setattr(ibis.expr.types.Table, "to_pyarrow", counted)
    table = in_duckdb(duck, pd.concat([car.iloc[:, 2:]] * 20))
    for learner, most in {"nb": 3, "tan_cl": 3, "kdb_mi": 3, "aode": 3, "hc": 2}.items():
        sizes.clear()
        x = bn.bnc(learner, "class", where_they_are(table), smooth=1)
        steps = len(bn.search_steps(x)) if learner == "hc" else 0
        assert len(sizes) <= most + steps
        assert max(sizes) < 2 * len(car)


def test_identifiers(duck, monkeypatch):
    monkeypatch.setattr("bnclassify.parts.databases.MAX_LEVELS", 50)
    table = in_duckdb(duck, pd.DataFrame({"key": np.arange(100), "y": ["a", "b"] * 50}))
    with pytest.raises(ValueError, match="frame: 'key' has more than 50 levels"):
        where_they_are(table)


@pytest.mark.slow
def test_what_needs_rows_says_so(duck):
    frame = numbers_frame()
    table = in_duckdb(duck, frame)
    labels = where_they_are(table.select("z", "flag", "class"))
    x = bn.bnc("nb", "class", labels, smooth=1)
    sample = r"must be in memory; got partitioned data.* table\.sample\(0\.01\)\.to_pandas\(\)"
    calls = {
        sample: lambda: bn.lp(x, labels, smooth=1, missing="em"),
        f"{sample} ": lambda: bn.cloglik(x, labels),
        f"^dataset {sample}": lambda: bn.tan_hc("class", labels, k=2, smooth=1),
        "newdata must be in memory": lambda: bn.predict(x, labels),
        "dataset must be in memory": lambda: bn.cv(x, labels),
        "column 'x' must be categorical: text, bool or integer; got float64 values. Cut it": lambda: (
            where_they_are(table)
        ),
        "column 'day' must be categorical.*got date values. Cast it": lambda: where_they_are(
            table.select("class", day=ibis.date("2020-01-01"))
        ),
    }
    for message, call in calls.items():
        with pytest.raises(TypeError, match=message.strip()):
            call()
    with pytest.raises(ValueError, match="must have rows; got none"):
        bn.nb("class", where_they_are(table.select("class", "flag").limit(0)))
    with pytest.raises(ValueError, match="must have rows; got none"):
        bn.lp(
            bn.nb("class", frame[["class", "flag"]]),
            where_they_are(table.select("class", "flag").limit(0)),
            smooth=1,
        )


def test_large_tables_stay_where_they_are(duck, car, monkeypatch):
    monkeypatch.setattr("bnclassify.parts.memory.MOST_BYTES", 1_000)
    table, frame = in_duckdb(duck, car.iloc[:, 3:]), as_text(car.iloc[:, 3:])
    assert isinstance(bn.encode(table), bn.models.Partitions)
    same_model(*(bn.bnc("tan_cl", "class", data, smooth=1) for data in (table, frame)))
    assert isinstance(bn.encode(table, in_memory=True), bn.models.Dataset)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "class with parents", "ensemble", "waode", "votes weights", "women gaussian", "odd recipe",
        "odd names", "card", "card of a tree", "effects", "card of extreme odds",
    ],
)  # fmt: skip
def test_statements_predict_in_postgresql(postgres, name):
    def run(statement, frame, table):
        stored = in_postgres(postgres, frame).get_name()
        quoted = table.replace('"', '""')
        with postgres.con.cursor() as cursor:
            cursor.execute(f'DROP TABLE IF EXISTS "{quoted}"')
            cursor.execute(f'ALTER TABLE {stored} RENAME TO "{quoted}"')
            rows = cursor.execute(statement).fetchall()
        postgres.con.commit()
        return rows

    check(run, *case(name))


def in_table(postgres):
    """Return how to run a statement on a table of PostgreSQL in place of the one that it names."""

    def run(statement, frame, table):
        name = in_postgres(postgres, frame).get_name()
        with postgres.con.cursor() as cursor:
            return cursor.execute(statement.replace(f'FROM "{table}"', f"FROM {name}")).fetchall()

    return run


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["default", "gaussian", "levels", "card"])
def test_text_is_a_number_or_missing_in_postgres(kind, postgres):
    test_sql.check_texts(kind, in_table(postgres))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["text", "typed"])
def test_long_numbers_and_booleans_in_postgres(numbers, postgres):
    for name in test_sql.LONG:
        test_sql.check_long_numbers(name, in_table(postgres), numbers)
    for words in test_sql.WORDS:
        test_sql.check_booleans_for_words(words, in_table(postgres), numbers)
    test_sql.test_numbers_up_to_1e300_differ(1, numbers, in_table(postgres))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"numbers": "gaussian"}, {"discretize": "quantile"}], ids=str)
def test_typed_numbers_that_are_not_finite_are_missing(settings, postgres):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200).round(2)})
    frame["y"] = np.where(frame["x"] + rng.normal(size=200) > 0, "p", "q")
    x = bn.bnc("nb", "y", frame, smooth=1, **settings)
    texts = ["NaN", "Infinity", "-Infinity", "0.5", "-1.7976931348623157e+308"]
    name = in_postgres(postgres, pd.DataFrame({"x": texts}), x="double precision").get_name()
    with postgres.con.cursor() as cursor:
        found = cursor.execute(bn.to_sql(x, table=name, numbers="typed")).fetchall()
    expected = bn.predict(x, pd.DataFrame({"x": [*[np.nan] * 3, *map(float, texts[3:])]}), prob=True)
    np.testing.assert_allclose([row[1:] for row in found], expected, rtol=0, atol=1e-9)


CHANGES = {
    "rows": "INSERT INTO changing SELECT a, b, '0' FROM changing",
    "labels": "UPDATE changing SET y = CASE WHEN y = '0' THEN '1' ELSE '0' END WHERE a = '1'",
    "a new label": "UPDATE changing SET b = 'new' WHERE a = '0' AND y = '1'",
    "missing values": "UPDATE changing SET a = NULL WHERE b = '1'",
}


@pytest.mark.slow
@pytest.mark.parametrize("with_gaps", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_changes_between_queries_is_refused(change, with_gaps):
    rows = [(i % 2, i // 2 % 2, i % 2 if i % 5 == 0 else i // 2 % 2) for i in range(1000)]
    frame = pd.DataFrame(rows, columns=["a", "b", "y"]).astype(str)
    if with_gaps:
        frame.loc[frame.index % 50 == 0, "y"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows without a class
        before = bn.bnc("tan_cl", "y", frame, smooth=1)
    outcomes = []
    for last in range(2, 7):  # the table changes before this query
        duck = ibis.duckdb.connect()
        duck.con.register("frame", frame)
        duck.con.execute("CREATE TABLE changing AS SELECT * FROM frame")
        number = count(1)

        def query(*args, old=duck.to_pyarrow, at=(duck, number, last), **options):
            if next(at[1]) == at[2]:
                at[0].con.execute(CHANGES[change])
            return old(*args, **options)

        duck.to_pyarrow = query
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows without a class
            try:
                model = bn.bnc("tan_cl", "y", where_they_are(duck.table("changing")), smooth=1)
            except ValueError as error:
                outcomes.append(str(error))
                model = bn.bnc("tan_cl", "y", duck.create_table("copy", duck.table("changing")), smooth=1)
            after = bn.bnc("tan_cl", "y", duck.table("changing").to_pandas(), smooth=1)
        found = bn.predict(model, {"a": "1", "b": "1"}, prob=True).to_numpy()
        states = [bn.predict(x, {"a": "1", "b": "1"}, prob=True).to_numpy() for x in (before, after)]
        assert any(np.allclose(found, state, atol=1e-12) for state in states)
    told = r"must not change between queries; got different .* con\.create_table\('copy', table\)|not among"
    assert all(re.search(told, outcome) for outcome in outcomes)
    assert outcomes or with_gaps  # if rows lack a class, the counts of a model are of one query


def test_decimals_without_fractions_are_whole_numbers(duck):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": rng.integers(1, 5, 100), "y": rng.choice(["u", "v"], 100)})
    table = in_duckdb(duck, frame, "CAST(k AS DECIMAL(10, 0)) AS k, CAST(k AS HUGEINT) AS h, y")
    expected = bn.bnc("nb", "y", frame.assign(h=frame["k"])[["k", "h", "y"]], smooth=1)
    for data in (table, where_they_are(table)):
        model = bn.bnc("nb", "y", data, smooth=1)
        assert bn.values(model) == bn.values(expected)
        np.testing.assert_array_equal(bn.params(model)["k"], bn.params(expected)["k"])
    with pytest.raises(TypeError, match=r"got decimal\(10, 2\) values\. Cut it"):
        where_they_are(in_duckdb(duck, frame, "CAST(k AS DECIMAL(10, 2)) AS k, y"))
