"""Rare levels merged into one, on training data and on new; and all that is done to raw data as one value."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import frames


def sample():
    """20 rows: columns of all kinds, the class ``y`` among them."""
    return pd.DataFrame(
        {
            "town": ["Aden"] * 8 + ["Bari"] * 6 + ["Cork", "Cork", "Dover", None, None, None],
            "zip": pd.array([10] * 12 + [20] * 5 + [30, None, None], "Int64"),
            "flag": [True] * 18 + [False] * 2,
            "kind": pd.Categorical(["b", "a"] * 9 + ["c", "d"], categories=list("edcba")),
            "grade": pd.Categorical(["low"] * 19 + ["top"], categories=["low", "top"], ordered=True),
            "size": np.arange(20) / 7,
            "when": pd.date_range("2020-01-01", periods=20),
            "y": ["u"] * 18 + ["v"] * 2,
        },
        index=[1, *range(1, 20)],
    )


def test_levels_that_few_rows_have_become_one():
    data = sample()
    before = data.copy()
    frame, merger = bn.merge_rare(data, min_count=3, class_var="y")
    pd.testing.assert_frame_equal(data, before)
    assert merger.kept == {"town": ("Aden", "Bari"), "zip": (10, 20), "flag": (True,), "kind": ("b", "a")}
    assert frame["town"].tolist()[:17] == ["Aden"] * 8 + ["Bari"] * 6 + ["other"] * 3
    assert frame["town"].isna().tolist() == data["town"].isna().tolist()
    assert frame["zip"].cat.categories.tolist() == [10, 20, "other"]
    assert frame["flag"].tolist() == [True] * 18 + ["other"] * 2
    assert frame["kind"].cat.categories.tolist() == ["b", "a", "other"]
    whole = ["grade", "size", "when", "y"]
    pd.testing.assert_frame_equal(frame[whole], data[whole])
    assert frame.index.equals(data.index)
    assert frame.columns.tolist() == data.columns.tolist()
    pd.testing.assert_frame_equal(merger(data), frame)
    frame.iloc[0, 0] = "Bari"
    pd.testing.assert_frame_equal(data, before)


def test_how_many_rows_are_few():
    data = pd.DataFrame({"x": list("aaabbc")})
    for least, kept in ((1, "abc"), (2, "ab"), (3, "a"), (4, "")):
        frame, merger = bn.merge_rare(data, min_count=least)
        assert merger.kept == ({} if least == 1 else {"x": tuple(kept)})
        assert frame["x"].tolist() == [x if x in kept else "other" for x in data["x"]]
    declared = pd.DataFrame({"x": pd.Categorical(["a"], categories=["b", "a"])})
    assert bn.merge_rare(declared, min_count=1)[0]["x"].cat.categories.tolist() == ["a", "other"]


def test_the_columns_that_are_merged():
    data = sample()
    _, merger = bn.merge_rare(data.drop(columns="when"), min_count=3)
    assert "y" in merger.columns
    _, merger = bn.merge_rare(data, min_count=3, columns=["grade", "town"])
    assert merger.columns == ("town", "grade")
    _, merger = bn.merge_rare(data, min_count=1)
    assert merger.columns == ("kind",)  # whose category "e" never occurs
    with pytest.raises(KeyError, match="newdata: no column 'kind'"):
        merger(data[["town"]])


def test_a_level_of_the_same_name_joins():
    data = pd.DataFrame({"x": ["other"] * 5 + ["a"] * 4 + ["b"], "z": ["other"] * 9 + ["c"]})
    frame, merger = bn.merge_rare(data, min_count=3)
    assert merger.kept == {"x": ("a",), "z": ()}
    assert frame["x"].tolist() == ["other"] * 5 + ["a"] * 4 + ["other"]
    assert frame["z"].cat.categories.tolist() == ["other"]
    frame, _ = bn.merge_rare(data, min_count=3, label="rest")
    assert frame["x"].cat.categories.tolist() == ["a", "other", "rest"]


def test_new_data_are_merged_alike():
    data = sample()
    frame, merger = bn.merge_rare(data, min_count=3, class_var="y")
    new = merger(
        pd.DataFrame(
            {
                "kind": ["a", "z", None],
                "zip": [10.0, 40.0, None],
                "town": ["Elba", "Bari", None],
                "flag": [None, False, True],
                "more": [1.5, 2, 3],
            }
        )
    )
    assert new["kind"].tolist()[:2] == ["a", "other"]
    assert new["zip"].tolist()[:2] == [10, "other"]
    assert new["town"].tolist()[:2] == ["other", "Bari"]
    assert new["flag"].tolist()[1:] == ["other", True]
    assert new["more"].tolist() == [1.5, 2, 3]
    assert new.isna().sum().tolist() == [1, 1, 1, 1, 0]
    model = bn.lp(bn.nb("y", frame, features=["town", "kind", "zip"]), frame, smooth=1)
    assert bn.values(model)["town"] == ("Aden", "Bari", "other")
    assert len(bn.predict(model, new)) == 3
    for i in range(3):
        row = data.iloc[i + 15]
        for one in (row, row.to_dict()):
            cut = merger(one)
            assert (
                cut[["kind", "zip", "town"]].iloc[0].tolist()
                == frame[["kind", "zip", "town"]].iloc[i + 15].tolist()
            )


@given(frames(missing=0.2, max_levels=6), st.integers(1, 12), st.randoms())
def test_what_is_kept_is_what_enough_rows_have(frame, least, random):
    merged, merger = bn.merge_rare(frame, min_count=least, class_var="class")
    for name in frame.columns.drop("class"):
        counts = frame[name].value_counts()
        kept = [level for level in frame[name].cat.categories if counts[level] >= least]
        assert merger.kept.get(name, tuple(frame[name].cat.categories)) == tuple(kept)
        expected = [None if pd.isna(x) else x if x in kept else "other" for x in frame[name]]
        assert [None if pd.isna(x) else x for x in merged[name]] == expected
    order = list(range(len(frame)))
    random.shuffle(order)
    assert bn.merge_rare(frame.iloc[order], min_count=least, class_var="class")[1] == merger
    again, nothing = bn.merge_rare(merged, min_count=least, class_var="class", columns=[])
    pd.testing.assert_frame_equal(again, merged)
    assert repr(nothing).splitlines()[1:] == ["  (no column)"]


# -- All that is done to raw data ----------------------------------------------------------------


def learn_preparation(data, class_var, *, method=None, min_count=None):
    x = bn.bnc("nb", class_var, data, smooth=1, discretize=method, min_count=min_count)
    return bn.preparation(x)(data), bn.preparation(x), x


def raw():
    """300 rows of numbers, codes and a column of mostly rare levels, which depend on the class."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"y": rng.choice(["u", "v"], 300), "age": rng.integers(18, 70, 300)})
    data["town"] = [f"t{i}" for i in rng.geometric(0.15, 300)]
    data["rooms"] = rng.integers(1, 6, 300).astype(float)
    data["size"] = rng.normal(size=300) + (data["y"] == "u")
    data.loc[::9, ["rooms", "size", "town"]] = np.nan
    return data


@pytest.mark.parametrize(
    ("method", "least"), [(None, 10), *product(["mdlp", "quantile", "mixed"], [None, 10])]
)
def test_a_preparation_is_a_value_that_does_both(method, least, tmp_path):
    data = raw() if method else raw().drop(columns=["rooms", "size"])
    frame, preparation, x = learn_preparation(data, "y", method=method, min_count=least)
    bn.save(x, tmp_path / "x.json")
    for function in (
        preparation,
        pickle.loads(pickle.dumps(preparation)),
        bn.preparation(bn.load(tmp_path / "x.json")),
    ):
        assert function == preparation
        assert hash(function) == hash(preparation)
        assert repr(function) == repr(preparation)
        pd.testing.assert_frame_equal(function(data), frame)
        new = data.assign(town="elsewhere", age=20).head(9)
        pd.testing.assert_frame_equal(function(new), preparation(new))
    if method and least:
        assert preparation.merger.columns == ("town",)
        assert preparation.discretizer.columns == ("age", "rooms", "size")
        assert preparation.discretizer.kept == {"rooms": (1, 2, 3, 4, 5)}
        model = bn.lp(bn.tan_cl("y", frame), frame, smooth=1)
        row = data.iloc[5].to_dict() | {"town": "elsewhere"}
        assert (
            bn.predict(model, preparation(row)).tolist()
            == bn.predict(model, preparation(row).iloc[[0]]).tolist()
        )
        assert preparation(row)["town"].tolist() == ["other"]


def test_rare_codes_are_merged_and_numbers_that_are_cut_are_not():
    data = raw().assign(rooms=lambda d: d["rooms"].fillna(9).astype(int).where(d.index != 5, 7))
    _, preparation, _ = learn_preparation(data, "y", method="quantile", min_count=10)
    assert preparation.merger.kept["rooms"] == (1, 2, 3, 4, 5, 9)
    assert list(preparation.discretizer.cuts) == ["age", "size"]
    assert preparation(data.iloc[[5]])["rooms"].tolist() == ["other"]
    _, preparation, _ = learn_preparation(data.drop(columns="size"), "y", min_count=10)
    assert preparation.discretizer is None
    assert "age" in preparation.merger.columns  # without cutting, integers are categories


def test_merging_by_fold_is_no_leak_and_helps():
    """Each rare level depends on the class by chance, so it fails on new rows unless it is merged."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"id": [f"n{i}" for i in rng.integers(0, 250, 400)], "y": rng.random(400) < 0.8})
    train, test = data.iloc[:200], data.iloc[200:]
    with pytest.warns(UserWarning, match="'id': more levels than half of|more than the 200 rows"):
        wide = bn.bnc("nb", "y", train, smooth=0.01)
    frame, merger = bn.merge_rare(train, class_var="y", min_count=3)
    narrow = bn.bnc("nb", "y", frame, smooth=0.01)
    right = [
        bn.accuracy(bn.predict(wide, test, unseen="missing"), test["y"]),
        bn.accuracy(bn.predict(narrow, merger(test)), test["y"]),
    ]
    assert right[1] > right[0] + 0.03


def test_merged_levels_of_numbers_are_imputed():
    codes = [*range(9), *[20] * 6, np.nan]
    frame = pd.DataFrame({"code": codes, "size": np.arange(16.0), "class": ["u"] * 9 + ["v"] * 6 + ["u"]})
    x = bn.bnc("nb", "class", frame, smooth=1, min_count=3, discretize="quantile")
    assert bn.impute(x, frame)["code"].tolist() == [*range(9), *[20] * 6, "other"]


def test_two_numbers_of_which_one_is_rare_are_not_merged():
    frame = pd.DataFrame({"h": [0.0, 1.0] + [0.0] * 38, "x": [*"uv"] * 20, "y": [*"ab"] * 20})
    kept, alone = [bn.bnc(class_var="y", dataset=frame, min_count=n) for n in (4, None)]
    assert bn.predict(kept, frame, prob=True).equals(bn.predict(alone, frame, prob=True))
