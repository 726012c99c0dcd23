"""Frames of polars, Arrow and DuckDB: everything is as from pandas, and predictions are in their types."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

from .estimators import BNCClassifier, BNCMultiClassifier

nw = pytest.importorskip("narwhals.stable.v2", reason="narwhals is not installed; the extra frames has it")
duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

GRADES = ["low", "mid", "high", "top"]


@pytest.fixture(scope="module")
def people():
    """Categories in their own order, integers, bools, text, numbers and labels, with missing values."""
    rng, n = np.random.default_rng(0), 150
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical(rng.choice(GRADES[:3], n), categories=GRADES),
            "rooms": pd.array(rng.integers(1, 4, n), dtype="Int64"),
            "pet": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "town": rng.choice(["Bari", "Aden", "Cork"], n),
            "size": rng.normal(size=n).round(2),
        }
    )
    buys = (frame["size"].to_numpy() + frame["rooms"].to_numpy(dtype=float) + rng.normal(size=n)).round()
    for i, name in enumerate(frame.columns):
        frame.loc[frame.index % 17 == i, name] = None
    return frame.assign(buys=np.where(buys > 2, "yes", np.where(buys > 1, "maybe", "no")))


def as_polars(frame):
    enums = {name: pl.Enum(GRADES) for name in frame.columns if name == "grade"}
    return pl.from_pandas(frame).cast(enums)


def as_relation(frame):
    table = as_polars(frame).to_arrow()
    columns = f"* replace (grade::enum{tuple(GRADES)} as grade)" if "grade" in frame else "*"
    return duckdb.from_arrow(table).project(columns)


class Stream:
    """Data with only the interface of Arrow."""

    def __init__(self, frame):
        self.table = as_polars(frame).to_arrow()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "polars": as_polars,
    "lazy polars": lambda frame: as_polars(frame).lazy(),
    "arrow": lambda frame: as_polars(frame).to_arrow(),
    "duckdb": as_relation,
    "stream": Stream,
    "narwhals": lambda frame: nw.from_native(as_polars(frame)),
    "lazy narwhals": lambda frame: nw.from_native(as_polars(frame).lazy()),
}
ANSWERS = {kind: pl if "polars" in kind or "narwhals" in kind else pa for kind in KINDS}


def coded(frame):
    return frame.drop(columns="size")


def fitted(frame, **options):
    return bn.lp(bn.nb("buys", frame), frame, **{"smooth": 1, **options})


def posteriors(x, frame):
    return bn.predict(x, frame, prob=True)


WITHOUT_NUMBERS = {
    "nb, lp": lambda given, frame: posteriors(fitted(given), frame),
    "tan_cl": lambda given, frame: bn.modelstring(bn.tan_cl("buys", given, score="aic")),
    "tan_cl em": lambda given, frame: bn.modelstring(bn.tan_cl("buys", given, missing="em")),
    "chow_liu": lambda given, frame: bn.modelstring(bn.chow_liu("buys", given)),
    "kdb_mi": lambda given, frame: bn.modelstring(bn.kdb_mi("buys", given)),
    "hc em": lambda given, frame: bn.modelstring(bn.hc("buys", given, missing="em")),
    "tan_hc": lambda given, frame: bn.modelstring(bn.tan_hc("buys", given, k=2, smooth=1, rng=0)),
    "chisq_dn": lambda given, frame: bn.families(bn.chisq_dn("buys", given)),
    "spode": lambda given, frame: bn.modelstring(bn.spode("buys", given)),
    "learn_blanket": lambda given, frame: bn.learn_blanket("buys", given),
    "anb": lambda given, frame: bn.values(bn.anb("buys", {"pet": ["grade"]}, given)),
    "aode": lambda given, frame: posteriors(bn.lp(bn.aode("buys", given), given, smooth=1), frame),
    "ande": lambda given, frame: posteriors(bn.lp(bn.ande("buys", given), given, smooth=1), frame),
    "mbc": lambda given, frame: posteriors(bn.lp(bn.mbc(["buys", "pet"], given), given, smooth=1), frame),
    "chain": lambda given, frame: posteriors(bn.lp(bn.chain(["buys", "pet"], given), given, smooth=1), frame),
    "maode": lambda given, frame: bn.families(bn.members(bn.maode(["buys", "pet"], given))[1]),
    "lca": lambda given, frame: posteriors(bn.lca("group", given, k=2, restarts=1, rng=0), frame),
    "cmi": lambda given, frame: bn.cmi("grade", "buys", given, z="pet"),
    "ci_test": lambda given, frame: bn.ci_test("grade", "buys", given),
    "encode": lambda given, frame: [bn.encode(given).levels, bn.encode(given).codes.tolist()],
    "merge_rare": lambda given, frame: bn.merge_rare(given, min_count=45, columns=["town"])[0].astype(object),
    "update": lambda given, frame: posteriors(bn.update(fitted(frame), given), frame),
    "lp em": lambda given, frame: posteriors(fitted(given, missing="em"), frame),
    "loglik": lambda given, frame: bn.loglik(fitted(frame), given, by_row=True),
    "AIC, BIC, cloglik": lambda given, frame: [f(fitted(frame), given) for f in (bn.AIC, bn.BIC, bn.cloglik)],
    "explain": lambda given, frame: bn.explain(fitted(frame), given),
    "impute": lambda given, frame: bn.impute(fitted(frame), given).astype(object),
    "cv": lambda given, frame: bn.cv(fitted(frame), given, k=3, rng=0, metric=["accuracy", "log_loss"]),
    "arc_strength": lambda given, frame: bn.arc_strength(
        bn.tan_cl("buys", frame), given, replicates=5, rng=0
    ),
}
WITH_NUMBERS = {
    "bnc": lambda given, frame: posteriors(bn.bnc("kdb_mi", "buys", given), frame),
    "bnc mdlp": lambda given, frame: posteriors(
        bn.bnc("nb", "buys", given, smooth=1, discretize="mdlp"), frame
    ),
    "bnc numbers": lambda given, frame: posteriors(
        bn.bnc("nb", "buys", given, smooth=1, numbers="gaussian"), frame
    ),
    "lp numbers": lambda given, frame: posteriors(fitted(given, numbers="kernel"), frame),
    "discretize": lambda given, frame: bn.discretize(given, class_var="buys")[0].astype(object),
    "preparation": lambda given, frame: (
        bn.bnc("nb", "buys", frame, smooth=1, discretize="mdlp").preparation(given).astype(object)
    ),
    "cv numbers": lambda given, frame: bn.cv(
        bn.bnc("nb", "buys", frame, smooth=1, discretize="mdlp"), given, k=3, rng=0
    ),
}


def check_equal(mine, other):
    if isinstance(other, pd.DataFrame):
        pd.testing.assert_frame_equal(mine, other, rtol=1e-13, check_dtype=False)
    elif isinstance(other, pd.Series):
        pd.testing.assert_series_equal(mine, other, rtol=1e-13)
    else:
        assert mine == other


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_as_in_pandas(people, kind):
    mine, other = bn.encode(KINDS[kind](coded(people))), bn.encode(coded(people))
    assert mine.levels == other.levels
    assert mine.levels[:3] == (tuple(GRADES), (1, 2, 3), (False, True))
    assert [type(label) for label in mine.levels[1]] == [int] * 3
    np.testing.assert_array_equal(mine.codes, other.codes)


@pytest.mark.parametrize("call", WITHOUT_NUMBERS)
def test_functions_of_categories(people, call):
    frame = coded(people)[["pet", "town", "buys"]] if call == "hc em" else coded(people)
    function = WITHOUT_NUMBERS[call]
    expected = function(frame, frame)
    for make in (as_polars, as_relation, Stream):
        check_equal(function(make(frame), frame), expected)


@pytest.mark.slow
@pytest.mark.parametrize("call", WITH_NUMBERS)
def test_functions_of_numbers(people, call):
    function = WITH_NUMBERS[call]
    expected = function(people, people)
    for make in (as_polars, as_relation, Stream):
        check_equal(function(make(people), people), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_in_the_library_of_the_rows(people, kind):
    library, rows = ANSWERS[kind], KINDS[kind](people)
    series = pl.Series if library is pl else pa.ChunkedArray
    table = pl.DataFrame if library is pl else pa.Table
    x = bn.bnc("nb", "buys", people, smooth=1, discretize="mdlp")
    both = bn.lp(bn.mbc(["buys", "pet"], coded(people)), coded(people), smooth=1)
    calls = [
        lambda given: bn.predict(x, given),
        lambda given: bn.cv_predict(x, given, k=3, rng=0, prob=False),
    ]
    for call in calls:
        assert isinstance(call(rows), series)
        assert call(rows).to_pandas().tolist() == call(people).tolist()
    calls = [
        lambda given: bn.predict(x, given, prob=True),
        lambda given: bn.cv_predict(x, given, k=3, rng=0),
        lambda given: bn.predict(both, given),
        lambda given: bn.predict(both, given, prob=True),
    ]
    for call in calls:
        found, expected = call(rows), call(people)
        assert isinstance(found, table)
        np.testing.assert_array_equal(found.to_pandas().to_numpy(), expected.to_numpy())
    assert bn.predict(x, rows, prob=True).to_pandas().columns.tolist() == ["maybe", "no", "yes"]
    assert bn.predict(both, rows, prob=True).to_pandas().columns[-1] == "pet_True"


def test_labels_keep_their_types(people):
    frame = coded(people)
    for name, dtype in {"rooms": pl.Int64, "pet": pl.Boolean}.items():
        x = bn.lp(bn.nb(name, frame.dropna()), frame.dropna(), smooth=1)
        found = bn.predict(x, as_polars(frame))
        assert found.dtype == dtype
        assert found.name == name
        assert bn.predict(x, as_polars(frame[:0])).dtype == dtype
    x = bn.lp(bn.nb("buys", frame), frame, smooth=1)
    assert bn.predict(x, as_polars(frame[:0])).dtype == pl.String
    numbers = frame.assign(buys=pd.cut(people["size"], [-9, 0, 9]))
    x = bn.lp(bn.nb("buys", numbers.dropna()), numbers.dropna(), smooth=1)
    assert set(bn.predict(x, as_polars(frame))) == {"(-9, 0]", "(0, 9]"}


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_labels_and_posteriors_are_compared(people, kind):
    frame = coded(people)
    rows, x = KINDS[kind](frame), fitted(frame)
    predicted, shares, actual = bn.predict(x, rows), bn.predict(x, rows, prob=True), rows["buys"]
    mine, other = bn.predict(x, frame), bn.predict(x, frame, prob=True)
    assert bn.accuracy(predicted, actual) == bn.accuracy(mine, frame["buys"])
    pd.testing.assert_frame_equal(bn.confusion(predicted, actual), bn.confusion(mine, frame["buys"]))
    pd.testing.assert_frame_equal(
        bn.calibration(shares, actual),
        bn.calibration(other, frame["buys"]),
        check_names=False,
        check_index_type=False,
    )
    both = bn.lp(bn.mbc(["buys", "town"], frame), frame, smooth=1)
    known = frame.dropna(subset="town")
    guesses = bn.predict(both, KINDS[kind](known))
    assert bn.hamming(guesses, KINDS[kind](known)) == bn.hamming(bn.predict(both, known), known)
    assert bn.exact_match(guesses, KINDS[kind](known)) == bn.exact_match(bn.predict(both, known), known)
    folds = bn.stratified_folds(actual, k=3, rng=0)
    np.testing.assert_array_equal(folds, bn.stratified_folds(frame["buys"], k=3, rng=0))


def test_posteriors_of_labels_that_are_numbers(people):
    frame = coded(people).dropna()
    x = bn.lp(bn.nb("rooms", frame), frame, smooth=1)
    rows = as_polars(frame)
    found = bn.calibration(bn.predict(x, rows, prob=True), rows["rooms"])
    expected = bn.calibration(bn.predict(x, frame, prob=True), frame["rooms"])
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


@pytest.fixture(scope="module")
def fitted_to_pandas(people):
    features, two = people.drop(columns="buys"), people[["buys", "town"]].fillna("Bari")
    return BNCClassifier("nb").fit(features, people["buys"]), BNCMultiClassifier("mbc").fit(features, two)


@pytest.mark.parametrize("kind", KINDS)
def test_estimators(people, fitted_to_pandas, kind):
    features, labels = people.drop(columns="buys"), people["buys"]
    rows, y = KINDS[kind](features), pl.Series("buys", labels.tolist())
    other, expected = fitted_to_pandas
    mine = BNCClassifier("nb").fit(rows, y)
    assert mine.model_.class_var == "buys"
    np.testing.assert_array_equal(mine.predict_proba(rows), other.predict_proba(features))
    assert mine.predict(rows).tolist() == other.predict(features).tolist()
    assert mine.score(rows, y) == other.score(features, labels)
    ys = pl.from_pandas(people[["buys", "town"]].fillna("Bari"))
    several = BNCMultiClassifier("mbc").fit(rows, ys)
    np.testing.assert_array_equal(several.predict(rows), expected.predict(features))
    assert several.score(rows, ys) == expected.score(features, ys.to_pandas())


def test_categories_of_polars_are_sorted(people):
    frame = as_polars(coded(people)).with_columns(pl.col("grade").cast(pl.String).cast(pl.Categorical))
    assert bn.encode(frame).levels[0] == ("high", "low", "mid")


@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_frames_are_partitioned_data(people, kind):
    frame, make = coded(people), KINDS[kind]
    for parts in ([make(frame[:70]), make(frame[70:])], lambda: iter([make(frame)])):
        check_equal(posteriors(fitted(parts), frame), posteriors(fitted(frame), frame))


def test_answers_with_columns_of_one_name_are_refused(people):
    frame = coded(people).dropna().rename(columns={"town": "buys_yes"}).assign(buys="yes_x", buys_yes="x")
    x = bn.lp(bn.mbc(["buys", "buys_yes"], frame), frame, smooth=1)
    with pytest.raises(ValueError, match=r"newdata must be a pandas DataFrame if columns.*same name as text"):
        bn.predict(x, as_polars(frame), prob=True)


def test_what_is_missing_is_told(monkeypatch, people):
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    with pytest.raises(ImportError, match=r"polars\.DataFrame require narwhals.*pip install narwhals"):
        bn.nb("buys", as_polars(people))


@pytest.mark.slow
def test_narwhals_is_imported_only_for_other_frames():
    code = "import sys, bnclassify as bn; bn.nb('class', bn.load_car()); print('narwhals' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def pieces(people):
    """The frame with categories of Arrow: in one piece, and in pieces with own dictionaries."""
    halves = [pa.Table.from_pandas(part, preserve_index=False) for part in (people[:70], people[70:])]
    one = pa.Table.from_pandas(people, preserve_index=False)
    tables = {"one": one, "two": pa.concat_tables(halves)}
    return {name: table.to_pandas(types_mapper=pd.ArrowDtype) for name, table in tables.items()}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"min_count": 60}, {"missing_level": True}, {"smooth": 1}], ids=str)
def test_categories_of_arrow_in_pandas_are_categories(people, options):
    plain = people.assign(buys=people["buys"].astype("category"))
    if "smooth" in options:
        plain = plain.drop(columns="size")
    expected = bn.predict(bn.bnc("nb", "buys", plain, **options), plain, prob=True)
    for frame in pieces(plain).values():
        assert str(frame["grade"].dtype).startswith("dictionary")
        model = bn.bnc("nb", "buys", frame, **options)
        assert bn.values(model)["grade"][:3] == bn.values(bn.bnc("nb", "buys", plain, **options))["grade"][:3]
        for new in (frame, plain):
            pd.testing.assert_frame_equal(bn.predict(model, new, prob=True), expected, check_dtype=False)


@pytest.mark.slow
def test_categories_of_arrow_are_accepted_everywhere(people):
    plain = people.drop(columns="size").astype({"rooms": "category", "buys": "category"})
    for frame in pieces(plain).values():
        assert bn.encode(frame).schema == bn.encode(plain).schema
        assert bn.merge_rare(frame, min_count=40)[1].kept == bn.merge_rare(plain, min_count=40)[1].kept
        parts = bn.bnc("nb", "buys", [frame[:50], frame[50:]], smooth=1)
        assert bn.values(parts) == bn.values(bn.bnc("nb", "buys", [plain[:50], plain[50:]], smooth=1))
        X, y = plain.drop(columns="buys"), plain["buys"]
        own, usual = BNCClassifier().fit(frame.drop(columns="buys"), frame["buys"]), BNCClassifier().fit(X, y)
        np.testing.assert_array_equal(own.predict_proba(frame.drop(columns="buys")), usual.predict_proba(X))
        pd.testing.assert_frame_equal(bn.check_data(frame, "buys"), bn.check_data(plain, "buys"))


ODD = {
    "struct": lambda n: pl.Series("odd", [{"q": i} for i in range(n)]),
    "list": lambda n: pl.Series("odd", [[i] for i in range(n)]),
    "object": lambda n: pl.Series("odd", [object() for _ in range(n)], dtype=pl.Object),
    "integers of 128 bits": lambda n: pl.Series("odd", range(n), dtype=pl.Int128),
    "span": lambda n: pl.Series("odd", [None] * n, dtype=pl.Duration),
    "binary": lambda n: pl.Series("odd", [b"x"] * n),
}


@pytest.mark.parametrize("case", ODD)
def test_columns_that_are_not_used_can_have_any_type(people, case):
    frame = as_polars(people.drop(columns="size"))
    odd = frame.with_columns(ODD[case](len(people)))
    names = ["grade", "town"]
    expected = bn.lp(bn.nb("buys", frame, features=names), frame, smooth=1)
    model = bn.lp(bn.nb("buys", odd, features=names), odd, smooth=1)
    assert bn.predict(model, odd, prob=True).equals(bn.predict(expected, frame, prob=True))
    assert bn.bnc("nb", "buys", odd, dag_args={"features": names}).features == tuple(names)
    assert bn.check_data(odd, "buys")["column"].tolist() == ["rooms", "odd"]


def test_integers_of_128_bits_and_decimals_without_fractions_are_whole_numbers(people):
    from decimal import Decimal

    plain = people[["rooms", "buys"]]
    expected = bn.bnc("nb", "buys", plain, smooth=1)
    wide = as_polars(plain).with_columns(pl.col("rooms").cast(pl.Int128))
    decimals = as_polars(plain).with_columns(pl.col("rooms").cast(pl.Decimal(10, 0)))
    objects = plain.assign(rooms=[None if pd.isna(x) else Decimal(int(x)) for x in plain["rooms"]])
    for frame in (
        wide,
        decimals,
        decimals.to_arrow(),
        objects,
        objects.convert_dtypes(dtype_backend="pyarrow"),
    ):
        model = bn.bnc("nb", "buys", frame, smooth=1)
        assert bn.values(model) == bn.values(expected)
        assert [type(label) for label in bn.values(model)["rooms"]] == [int] * 3
        np.testing.assert_array_equal(
            bn.predict(model, objects, prob=True), bn.predict(expected, plain, prob=True)
        )
    halves = plain.assign(rooms=[None if pd.isna(x) else Decimal(int(x)) / 2 for x in plain["rooms"]])
    with pytest.raises(TypeError, match="column 'rooms' must be categorical; got numbers with fractions"):
        bn.bnc("nb", "buys", halves, smooth=1)
