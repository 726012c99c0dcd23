"""Data frames: what data is taken, how it is coded, and what is said when it is refused."""

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify import frames as columns

from .strategies import frames


def frame(**columns):
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("column", "levels", "codes"),
    [
        (pd.Series(["b", "a", None, "b"]), ("a", "b"), [1, 0, -1, 1]),
        (pd.Series(["b", "a", np.nan, "b"], dtype=object), ("a", "b"), [1, 0, -1, 1]),
        (pd.Series(["b", "a", pd.NA, "b"], dtype="string"), ("a", "b"), [1, 0, -1, 1]),
        (pd.Series([True, False, True]), (False, True), [1, 0, 1]),
        (pd.Series([True, None, False], dtype=object), (False, True), [1, -1, 0]),
        (pd.Series([True, None, False], dtype="boolean"), (False, True), [1, -1, 0]),
        (pd.Series([10, -3, 10], dtype="int16"), (-3, 10), [1, 0, 1]),
        (pd.Series([10, None, 3], dtype="Int64"), (3, 10), [1, -1, 0]),
        (pd.Series(pd.Categorical(["b", None], ["c", "b", "a"])), ("c", "b", "a"), [1, -1]),
        (pd.Series(pd.Categorical([2.5, 1.5])), (1.5, 2.5), [1, 0]),
        (pd.Series(["ä b", "", "ß|:[x]"]), ("", "ß|:[x]", "ä b"), None),
        (pd.Series([None, None], dtype=object), (), [-1, -1]),
        (pd.Series([np.nan, np.nan]), (), [-1, -1]),
    ],
)
def test_columns_become_codes(column, levels, codes):
    data = bn.encode(column.to_frame("x"))
    assert data.levels == (levels,)
    decoded = [None if code < 0 else levels[code] for code in data.codes[0]]
    assert decoded == [None if pd.isna(value) else value for value in column]
    assert codes is None or data.codes[0].tolist() == codes


def test_codes_are_small_and_read_only():
    data = bn.encode(frame(a=range(100), b=["x"] * 100))
    assert data.codes.dtype == np.int8
    assert bn.encode(frame(a=range(1000))).codes.dtype == np.int16
    for same in (data, pickle.loads(pickle.dumps(data))):
        with pytest.raises(ValueError, match="read-only"):
            same.codes[0, 0] = 1
    assert bn.encode(data) is data


def test_encoding_does_not_follow_later_changes_of_the_frame():
    original = frame(a=pd.Categorical(["x", "y"]))
    data = bn.encode(original)
    original.loc[0, "a"] = "y"
    assert data.codes.tolist() == [[0, 1]]


@pytest.mark.parametrize("levels", [("p", "q"), (1, 2), (0.5, 1.5), (False, True)])
def test_missing_values_of_any_form_and_sparse_columns(levels):
    """NaT in a column of other values, too."""
    values = [levels[i % 2] for i in range(40)]
    y = ["a", "b", "b", "a"] * 10
    plain = pd.Series([None] * 4 + values[4:], dtype=object)
    expected = bn.predict(bn.bnc(class_var="y", dataset=frame(x=plain, y=y)), frame(x=plain), prob=True)
    for column in (
        pd.Series([None, np.nan, pd.NA, pd.NaT, *values[4:]], dtype=object),
        pd.Series(pd.arrays.SparseArray(np.array([None] * 4 + values[4:], dtype=object))),
    ):
        x = bn.bnc(class_var="y", dataset=frame(x=column, y=y))
        np.testing.assert_array_equal(bn.predict(x, frame(x=column), prob=True), expected)


@pytest.mark.parametrize("learn", [lambda d: bn.tan_cl("c", d), lambda d: bn.lp(bn.nb("c", d), d, smooth=1)])
def test_rows_without_a_class_are_left_out_with_a_warning(learn):
    whole = frame(a=list("xyxyx"), b=list("uuvvu"), c=["p", "q", None, "q", "p"])
    with pytest.warns(UserWarning, match="1 of 5 rows have no class 'c' and are ignored") as record:
        x = learn(whole)
    assert record[0].filename == __file__
    y = learn(whole.dropna())
    assert bn.families(x) == bn.families(y)
    for a, b in zip(x.cpts or (), y.cpts or (), strict=True):
        np.testing.assert_array_equal(a, b)


LEARN = pytest.mark.parametrize(
    "learn", [bn.nb, bn.tan_cl, bn.aode, lambda y, d: bn.bnc("nb", y, d, smooth=1)]
)


@LEARN
def test_identifiers_are_told(learn):
    data = pd.DataFrame({"id": range(20), "x": ["a", "b"] * 10, "y": ["u", "v", "u", "u"] * 5})
    data["name"] = data["id"].map("n{}".format).mask(data["id"] < 0)
    with pytest.warns(UserWarning, match="'id', 'name': all values differ, as in") as told:
        learn("y", data)
    assert [warning.filename for warning in told] == [__file__]
    learn("y", data.head(19))  # too few rows to tell
    learn("y", data.assign(id=3, name=data["id"] % 10))
    with pytest.warns(UserWarning, match="'id': the class has 20 labels in 20 rows"):
        learn("id", data.drop(columns="name"))


@LEARN
def test_columns_with_more_levels_than_half_their_rows_are_told(learn):
    data = pd.DataFrame(
        {"id": range(40), "half": np.arange(40) % 20, "more": np.arange(40) % 21, "y": ["u", "v"] * 20}
    )
    data["holes"] = data["half"].mask(data["id"] >= 39).astype("Int64")  # 20 levels in 39 rows
    data["half"] = data["half"].astype("category")
    with pytest.warns(UserWarning, match="all values differ|'more', 'holes': more levels than half") as told:
        learn("y", data)
    assert len(told) == 2
    assert "For 'more': If they are amounts, measurements or dates, convert" in str(told[1].message)
    frame, _ = bn.merge_rare(data, min_count=3, class_var="y", columns=["more", "holes", "id"])
    learn("y", frame)
    with pytest.warns(UserWarning, match="21 numbers as labels, each of which is a class.*pd.cut") as told:
        learn("more", data[["half", "more"]])
    assert len(told) == 1
    with pytest.warns(UserWarning, match="'more': the class has 21 labels in 40 rows. If it identifies rows"):
        learn("more", data[["half", "more"]].assign(more=data["more"].map("town {}".format)))
    for labels in (data["id"] % 20, data["id"].astype(str)):
        frame = pd.DataFrame({"half": ["a", "b"] * 120, "more": [*labels] * 6})
        learn("more", frame)  # few numbers, or text


def test_a_learner_without_features_is_told():
    data = pd.DataFrame({"y": ["u", "v", "v"]})
    with pytest.warns(UserWarning, match="no feature remains, so 'y' is always predicted"):
        x = bn.nb("y", data)
    assert bn.predict(bn.lp(x, data, smooth=1), data).tolist() == ["v"] * 3
    bn.nb("y", data, features=[])  # as it was wanted


def test_levels_that_do_not_occur_make_no_identifiers():
    few = pd.Categorical(
        ["a", "b", "c", None] + [None] * 26, categories=[f"l{i}" for i in range(27)] + list("abc")
    )
    bn.nb("y", pd.DataFrame({"x": few, "y": ["u", "v"] * 15}))


def test_cv_and_folds_say_nothing_again():
    data = pd.DataFrame({"id": range(40), "y": ["u", "v"] * 20})
    with pytest.warns(UserWarning, match="'id': all values differ"):
        x = bn.bnc("nb", "y", data, smooth=1)
    bn.cv(x, data, k=4, rng=0)


def test_labels_are_plain_values():
    labels = [np.int64(1), np.int64(2), np.int64(1)]
    frame = pd.DataFrame(
        {"x": pd.Series(labels, dtype=object), "y": [np.True_, np.False_, np.True_]}, dtype=object
    )
    assert [[type(label) for label in some] for some in bn.encode(frame).levels] == [[int] * 2, [bool] * 2]
    frame = frame.astype("category")
    assert [[type(label) for label in some] for some in bn.encode(frame).levels] == [[int] * 2, [bool] * 2]


@pytest.mark.parametrize(
    "levels", [[3, 1, 2], [True, False], pd.Categorical([2, 1]), pd.array([2, None, 3], "Int64")]
)
@pytest.mark.parametrize("dtype", [float, "Float64", object])
def test_whole_numbers_of_type_float_are_the_levels_that_are_known(levels, dtype):
    codes = pd.Series(levels)
    frame = pd.DataFrame({"x": codes, "y": ["u", "v", "v"][: len(codes)]})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    gaps = pd.DataFrame({"x": [*codes.dropna().astype(int), None]}, dtype=dtype)
    assert gaps["x"].dtype == dtype
    plain = pd.DataFrame({"x": pd.array([*codes.dropna().astype(int), None], "Int64")})
    for unseen in ("error", "missing"):
        pd.testing.assert_frame_equal(
            bn.predict(x, gaps, prob=True, unseen=unseen), bn.predict(x, plain, prob=True, unseen=unseen)
        )
    pd.testing.assert_frame_equal(bn.explain(x, gaps.iloc[[0]]), bn.explain(x, plain.iloc[[0]]))
    assert bn.loglik(x, gaps.assign(y="u")) == bn.loglik(x, plain.assign(y="u"))


def test_other_numbers_of_type_float_are_told():
    frame = pd.DataFrame({"x": [1, 2, 3], "y": ["u", "v", "v"]})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    strange = pd.DataFrame({"x": [1.0, 7.0, None]})
    assert bn.predict(x, strange, prob=True, unseen="missing").iloc[1].tolist() == pytest.approx([0.4, 0.6])


def test_numbers_with_fractions_match_levels_with_fractions():
    frame = pd.DataFrame({"x": pd.Categorical([0.5, 1, 2.5]), "y": ["u", "v", "v"]})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    numbers = frame.astype({"x": float})
    pd.testing.assert_frame_equal(bn.predict(x, numbers, prob=True), bn.predict(x, frame, prob=True))
    with pytest.raises(ValueError, match=r"column 'x': 1\.5 not among the levels of the model, 0\.5, 1"):
        bn.predict(x, numbers.assign(x=1.5))


@pytest.mark.slow
@given(frames(missing=0.3), st.sampled_from([bn.nb, bn.tan_cl, bn.aode]))
def test_a_row_is_predicted_alike_whatever_holds_it(frame, learn):
    frame = frame.set_axis(range(5, 5 + len(frame))).assign(count=np.arange(len(frame)) % 3, flag=True)
    x = bn.lp(learn("class", frame), frame, smooth=1)
    every = bn.predict(x, frame, prob=True)
    row = frame.iloc[-1]
    for one, label in ((row, row.name), (row.to_dict(), 0), (row.drop("class")[::-1], row.name)):
        expected = every.iloc[[-1]].set_axis([label])
        pd.testing.assert_frame_equal(bn.predict(x, one, prob=True), expected)
        assert bn.predict(x, one).tolist() == bn.predict(x, frame.iloc[[-1]]).tolist()
    holes = {name: None if name == "count" else value for name, value in row.items()}
    expected = bn.predict(x, frame.tail(1).astype({"count": "Int64"}).assign(count=pd.NA), prob=True)
    pd.testing.assert_frame_equal(bn.predict(x, holes, prob=True), expected.set_axis([0]))


def test_rows_that_do_not_fit_are_told(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    row = car.iloc[0].to_dict()
    assert bn.predict(x, row | {"doors": "9", "wheels": [4]}, unseen="missing").tolist() == ["unacc"]
    for prob in ("no", [1], float("nan"), pd.Series([True])):
        with pytest.raises(TypeError, match="prob must be True or False; got"):
            bn.predict(x, car, prob=prob)


def test_messages_stay_short():
    long = "x" * 100_000
    frame = pd.DataFrame({"y": ["u", "v"], long: ["a", "b"], "z": [long, "c"]})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    for call in (
        lambda: bn.nb(long + "y", frame),
        lambda: bn.nb("y", frame, features=long),
        lambda: bn.nb("y", frame, features=[long, long]),
        lambda: bn.tan_cl("y", frame.assign(**{long: [1.5, 2.5]})),
        lambda: bn.predict(x, frame.assign(z=[long + "1", "c"])),
        lambda: bn.predict(x, frame.assign(**{long: "c"})),
        lambda: bn.predict(x, {"z": [long]}),
        lambda: bn.predict(x, frame, prob=long),
        lambda: bn.predict(x, frame, unseen=long),
        lambda: bn.discretize(frame, class_var="y", method=long),
        lambda: bn.merge_rare(frame, columns=[long + "1"]),
        lambda: bn.stratified_folds(list("ab"), k=long),
        lambda: bn.cv(x, frame, folds=long),
    ):
        with pytest.raises((KeyError, TypeError, ValueError)) as told:
            call()
        assert len(str(told.value)) < 600


class Broken:
    def __repr__(self):
        raise RuntimeError


def test_what_cannot_be_written_is_told_by_its_type(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    for value in (Broken(), 10**5000, pd.DataFrame({"a": range(99), "b": range(99)})):
        with pytest.raises(TypeError, match=f"True or False; got a value of type {type(value).__name__}"):
            bn.predict(x, car, prob=value)


def test_text_in_arrows_memory_is_text():
    """Where pyarrow is installed, pandas keeps text there; asked for, so do numbers and truth values."""
    pa = pytest.importorskip("pyarrow")
    plain = pd.DataFrame(
        {
            "text": ["b", "a", None, "b"],
            "code": pd.array([3, None, 1, 3], "Int64"),
            "flag": pd.array([True, False, None, True], "boolean"),
            "y": ["u", "v", "v", "u"],
        }
    )
    types = {"text": pa.string(), "code": pa.int32(), "flag": pa.bool_(), "y": pa.large_string()}
    arrow = plain.astype({name: pd.ArrowDtype(kind) for name, kind in types.items()})
    arrow.columns = arrow.columns.astype("string[pyarrow]")
    for other in (arrow, arrow.astype("category"), plain.astype("category")):
        encoded = bn.encode(other)
        assert encoded.levels == bn.encode(plain).levels
        assert encoded.columns == bn.encode(plain).columns
        assert [[type(x) for x in labels] for labels in encoded.levels] == [
            [str] * 2,
            [int] * 2,
            [bool] * 2,
            [str] * 2,
        ]
        np.testing.assert_array_equal(encoded.codes, bn.encode(plain).codes)
    numbers = pd.DataFrame(
        {"x": pd.array([0.5, None, 2.0, 3.5], pd.ArrowDtype(pa.float32())), "y": plain["y"]}
    )
    frame, discretizer = bn.discretize(numbers, class_var="y", method="width", bins=3)
    assert discretizer.cuts["x"] == pytest.approx((1.5, 2.5))
    assert bn.encode(frame).codes.tolist() == [[0, -1, 1, 2], [0, 1, 1, 0]]
    words = pd.Series(
        pd.array(
            pa.array(["a", "b"]).dictionary_encode(), pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
        )
    )
    assert bn.encode(words.to_frame("x")).levels == (("a", "b"),)


def test_data_frames_of_other_libraries_are_told():
    class DataFrame:
        __module__ = "polars.dataframe.frame"

        def to_pandas(self): ...

    for call in (bn.encode, lambda d: bn.nb("y", d), bn.merge_rare, bn.discretize):
        with pytest.raises(TypeError, match=r"must be a pandas DataFrame; got DataFrame. Call its to_"):
            call(DataFrame())


def test_codes_written_in_another_way_are_told():
    frame = pd.DataFrame({"code": ["101", "102"] * 5, "y": ["u", "v"] * 5})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    remedy = r"Convert the column, with pd\.to_numeric\(column\)\.astype\('Int64'\)\.astype\('string'\)"
    for codes, what in (
        (["101.0", None], "They differ only by .0"),
        (pd.array([101, None], "Int64"), "They are of type int here and str in the model"),
        ([101.0, None], "They are of type int here and str in the model"),
    ):
        new = pd.DataFrame({"code": codes})
        for unseen in ("error", "missing"):
            with pytest.raises(ValueError, match=f"column 'code': .*{what}.*{remedy}"):
                bn.predict(x, new, unseen=unseen)
        again = pd.to_numeric(new["code"]).astype("Int64").astype("string")
        assert bn.predict(x, new.assign(code=again)).tolist() == ["u", "u"]


def test_identifiers_with_holes_are_told_and_features_chosen_by_name_are_not():
    data = pd.DataFrame({"id": pd.array([*range(20), None, None], "Int64"), "y": ["u", "v"] * 11})
    assert bn.features(bn.nb("y", data, features=["id"])) == ("id",)


@pytest.mark.parametrize("name", ["k", "rownames"])
def test_numbers_of_rows_are_told(name):
    pima = bn.load_pima().astype({"diabetes": str})
    pima.insert(0, name, np.arange(1, len(pima) + 1))
    told = rf"'{name}': numbers of the rows, .* dataset\.drop\(columns=\['{name}'\]\)"
    frames = [pima, pima.sample(frac=1, random_state=0)] if name == "k" else [pima.iloc[::3]]
    for data in frames:
        with pytest.warns(UserWarning, match=told):
            bn.bnc("nb", "diabetes", data, smooth=1, discretize="mdlp")
    some = pima.rename(columns={name: "years"}).iloc[::3]
    with pytest.warns(UserWarning, match="'years': whole numbers that all differ, as in a column of ident"):
        bn.bnc("nb", "diabetes", some, smooth=1, discretize="mdlp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # measurements in a wide range seldom repeat
        some["years"] = np.random.default_rng(0).choice(10**6, len(some), replace=False)
        bn.bnc("nb", "diabetes", some, smooth=1, discretize="mdlp")


def test_columns_are_read_with_and_without_the_shortcut_of_pandas(monkeypatch, car):
    frame = car.assign(
        text=car["doors"].astype(object), number=car["safety"].cat.codes.astype("int64"),
        flag=car["class"] == "acc", whole=car["maint"].cat.codes.astype("Int8"),
    )  # fmt: skip
    frame.loc[::9, ["text", "whole"]] = None
    first = bn.encode(frame)
    monkeypatch.setattr(columns, "_arrays_in_blocks", columns._arrays_one_by_one)
    second = bn.encode(frame)
    assert first.schema == second.schema
    np.testing.assert_array_equal(first.codes, second.codes)


@pytest.mark.slow
def test_rows_above_a_number_are_counted_in_slices():
    voting = bn.encode(bn.load_voting())
    times = 2**20 // len(voting) + 1  # more rows than a slice has
    codes, index = np.tile(voting.codes, times), pd.RangeIndex(times * len(voting))
    many = bn.Dataset(voting.schema, codes, index)
    weighted = bn.Dataset(voting.schema, voting.codes, voting.index, np.full(len(voting), float(times)))
    models = [bn.lp(bn.tan_cl("Class", data), data, smooth=1) for data in (many, weighted)]
    assert models[0].families == models[1].families
    for name, table in bn.params(models[1]).items():
        np.testing.assert_array_equal(bn.params(models[0])[name], table)


def test_records_may_omit_features(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    frame = car.tail(3).astype(object)
    frame.iloc[0, 2], frame.iloc[2, [0, 4]] = None, None
    records = [{k: v for k, v in row.items() if v is not None} for row in frame.to_dict("records")]
    expected = bn.predict(x, frame, prob=True).set_axis(range(3))
    pd.testing.assert_frame_equal(bn.predict(x, records, prob=True), expected)
    pd.testing.assert_frame_equal(bn.predict(x, records[2], prob=True).set_axis([2]), expected.tail(1))
    by_label = [pd.Series(row, name=i) for i, row in enumerate(records)]
    pd.testing.assert_frame_equal(bn.predict(x, by_label, prob=True), expected)
    weights = bn.explain(x, records, target="vgood")["log_odds"]
    assert weights.loc[(0, "doors")] == 0
    assert bn.explain(x, records[0], target="vgood")["log_odds"]["doors"] == 0


@pytest.mark.filterwarnings("error")
def test_a_column_whose_values_are_all_unseen_is_told(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    odd = car.assign(safety="hoch")
    with pytest.warns(UserWarning, match="column 'safety': all of the known values, such as 'hoch', are not"):
        told = bn.predict(x, odd, unseen="missing", prob=True)
    pd.testing.assert_frame_equal(told, bn.predict(x, car.assign(safety=np.nan), prob=True))
    tenth = car.assign(safety=np.where(np.arange(1728) < 172, "hoch", "low"))  # 172 / 1728 < 0.1
    bn.predict(x, tenth, unseen="missing")
    more = car.assign(safety=np.where(np.arange(1728) < 173, "hoch", "low"))
    with pytest.warns(UserWarning, match="'safety': 10 % of the known values, such as 'hoch', are not among"):
        bn.predict(x, more, unseen="missing")
    rooms = pd.DataFrame({"rooms": [1, 2, 3] * 2, "y": ["a", "b"] * 3})
    y = bn.lp(bn.nb("y", rooms), rooms, smooth=1)
    bn.predict(y, pd.DataFrame({"rooms": [7, 8]}), unseen="missing")  # fewer numbers than levels
    with pytest.warns(UserWarning, match="all of the known values, such as 8, .* nearest level is 3"):
        bn.predict(y, pd.DataFrame({"rooms": [8, 7, 8]}), unseen="missing")


@pytest.mark.parametrize("form", [lambda frame: frame, lambda frame: [frame.head(200), frame.tail(-200)]])
def test_missing_values_are_a_level(form):
    frame = bn.load_voting()
    filled = frame.copy()
    for name in frame.columns[frame.isna().any()]:
        filled[name] = frame[name].cat.add_categories("none").fillna("none")
    data = bn.encode(form(frame), missing_level=True)
    x = bn.bnc("tan_cl", "Class", data, smooth=1)
    expected = bn.bnc("tan_cl", "Class", filled, smooth=1)
    assert x.families == expected.families
    for name, table in bn.params(expected).items():
        np.testing.assert_array_equal(bn.params(x)[name], table)
    assert bn.loglik(x, form(frame)) == pytest.approx(bn.loglik(expected, filled))
    np.testing.assert_array_equal(bn.predict(x, frame, prob=True), bn.predict(expected, filled, prob=True))
    row, full = frame.iloc[0].to_dict() | {"crime": None}, filled.iloc[0].to_dict()
    asked = bn.predict(x, row, prob=True)
    np.testing.assert_array_equal(asked, bn.predict(expected, full | {"crime": "none"}, prob=True))
    # An unseen value is marginalized over, not such a level.
    odd = bn.predict(x, row | {"crime": "?"}, prob=True, unseen="missing")
    np.testing.assert_array_equal(odd, bn.predict(expected, full | {"crime": None}, prob=True))
    assert not np.allclose(odd, asked)


def test_missing_levels_of_chosen_columns():
    frame = bn.load_voting()
    data = bn.encode(frame, missing_level=["crime", "Class"])
    assert [name for name, labels in zip(data.columns, data.levels, strict=True) if len(labels) == 3] == [
        "crime",
        "Class",
    ]


# Codes at the ends of their types


def _wide_frame(levels, wide):
    """Rows with a column of so many levels, called ``wide``, another of two, and two more."""
    rng, n = np.random.default_rng(levels), levels + 40
    codes = np.concatenate([np.arange(levels), rng.integers(levels, size=n - levels)])
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), n), "b": rng.choice(list("xy"), n)})
    frame["number"] = rng.normal(size=n)
    other = "y" if wide == "wide" else "wide"
    return frame.assign(**{other: rng.choice(list("pq"), n), wide: [f"l{code:05}" for code in codes]})


def _answers(learner, frame, **settings):
    """Posteriors of rows, some of them incomplete, and what joint distributions fill in and draw."""
    x = bn.bnc(learner, "y", frame, **settings)
    rows = pd.concat([frame.head(30), frame.tail(30)], ignore_index=True).drop(columns="y")
    holes = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.3)
    found = [bn.predict(x, data, prob=True) for data in (rows, holes)]
    found += [bn.explain(x, rows.iloc[-1])[["log_odds"]]]
    if not x.no_joint:
        found += [bn.impute(x, holes), bn.impute(x, holes.assign(y=None)), bn.sample(x, 50, rng=0)]
    return found


CODED = {
    "nb": {"smooth": 1, "discretize": "quantile"},
    "tan_cl": {"ess": 1, "discretize": "quantile"},
    "kdb_mi": {"backoff": True, "held_out": "weights", "discretize": "quantile"},
    "hc": {"m": 1, "discretize": "quantile"},
    "aode": {"smooth": 1, "discretize": "quantile"},
    "ande": {"smooth": 1, "discretize": "quantile"},
    "spode": {"smooth": 1, "discretize": "averaged"},
    "anb": {"smooth": 1, "numbers": "gaussian", "dag_args": {"parents": {"b": ["a"]}}},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wide", ["wide", "y"])
@pytest.mark.parametrize("levels", [127, 128])
@pytest.mark.parametrize("learner", CODED)
def test_results_do_not_depend_on_the_type_of_codes(learner, levels, wide, monkeypatch):
    frame = _wide_frame(levels, wide)
    narrow = _answers(learner, frame, **CODED[learner])
    for name, module in list(sys.modules.items()):
        if name.startswith("bnclassify") and hasattr(module, "code_type"):
            monkeypatch.setattr(module, "code_type", lambda bound: np.dtype(np.int64))
    for found, expected in zip(narrow, _answers(learner, frame, **CODED[learner]), strict=True):
        pd.testing.assert_frame_equal(found, expected, check_categorical=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("levels", [32_767, 32_768])
def test_results_do_not_depend_on_the_type_of_many_codes(levels, monkeypatch):
    test_results_do_not_depend_on_the_type_of_codes("tan_cl", levels, "wide", monkeypatch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("levels", [126, 128, 130])
def test_the_default_recipe_accepts_any_number_of_levels(levels):
    frame = _wide_frame(levels, "wide")
    posteriors = bn.predict(bn.bnc(class_var="y", dataset=frame), frame, prob=True)
    assert posteriors.to_numpy().sum(axis=1) == pytest.approx(1)


def test_a_column_may_have_more_than_125_cut_points():
    rng, n = np.random.default_rng(0), 6_000
    x = rng.random(n)
    frame = pd.DataFrame({"x": x, "y": np.where(np.sin(30 * np.pi * x) > 0, "a", "b")})
    model = bn.bnc("nb", "y", frame, discretize="quantile", bins=300, smooth=1)
    assert int(bn.preparation(model).cut_points["intervals"].iloc[0].split("-")[-1]) > 126
    assert bn.accuracy(bn.predict(model, frame), frame["y"]) > 0.95


def test_one_odd_label_among_known_ones_is_treated_as_missing():
    frame = pd.DataFrame({"c": ["1", "2", "3"] * 10, "y": ["u", "v", "u", "v", "v"] * 6})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    for labels in (["1", "1.0", "junk"], ["2", "1.0"], ["1.0", "junk"]):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="column 'c': .* are not among the levels")
            found = bn.predict(x, pd.DataFrame({"c": labels}), prob=True, unseen="missing").to_numpy()
        known = [label if label in ("1", "2") else None for label in labels]
        expected = [bn.predict(x, {"c": label}, prob=True).to_numpy() for label in known]
        np.testing.assert_array_equal(found, np.concatenate(expected))
    with pytest.raises(ValueError, match=r"column 'c': '1\.0', '3\.0' not among .* They differ only by \.0"):
        bn.predict(x, pd.DataFrame({"c": ["1.0", "3.0"]}), unseen="missing")
    with pytest.raises(ValueError, match=r"column 'c': '1\.0' not among .* They differ only by \.0"):
        bn.update(x, pd.DataFrame({"c": ["1.0", "new"], "y": ["u", "v"]}), levels="grow")
