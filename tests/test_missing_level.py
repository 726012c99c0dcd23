"""Missing values as a separate level, and the warnings that recommend it."""

import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn


def flights(seed=0, rows=600):
    """A number and a text that are mostly missing if a flight is cancelled."""
    rng = np.random.default_rng(seed)
    cancelled = rng.random(rows) < 0.3
    frame = pd.DataFrame({"delay": rng.normal(size=rows), "tail": rng.choice(["a", "b"], rows)})
    for name in frame.columns:
        frame.loc[cancelled & (rng.random(rows) < 0.6), name] = None
    frame["hour"] = rng.integers(0, 24, rows)
    frame["cancelled"] = np.where(cancelled, "yes", "no")
    return frame


@pytest.mark.parametrize("discretize", ["averaged", "mdlp", "quantile"])
@pytest.mark.parametrize("levels", [True, ["delay", "tail"]], ids=str)
def test_missing_values_are_the_last_level(discretize, levels, tmp_path):
    frame = flights()
    x = bn.bnc("nb", "cancelled", frame, discretize=discretize, smooth=1, missing_level=levels)
    assert bn.values(x)["tail"] == ("a", "b", "(missing)")
    assert bn.values(x)["delay"][-1] == "(missing)"
    assert "(missing)" not in bn.values(x).get("hour", ())
    assert bn.accuracy(bn.predict(x, frame), frame["cancelled"]) > 0.9
    assert frame["cancelled"].eq("no").mean() < 0.8
    row = {"delay": None, "tail": None, "hour": 3}
    posterior = bn.predict(x, row, prob=True)
    assert posterior["yes"].item() > 0.95
    pd.testing.assert_frame_equal(bn.predict(x, pd.DataFrame([row]), prob=True), posterior)
    bn.save(x, tmp_path / "x.json")
    pd.testing.assert_frame_equal(bn.predict(bn.load(tmp_path / "x.json"), row, prob=True), posterior)
    prepared = x.preparation(frame)
    assert prepared["tail"].eq("(missing)").tolist() == frame["tail"].isna().tolist()
    assert prepared["delay"].eq("(missing)").tolist() == frame["delay"].isna().tolist()


@pytest.mark.parametrize("discretize", [None, "mdlp", "averaged"])
def test_merged_levels_do_not_contain_missing_values(discretize):
    frame = flights().astype({"hour": str})
    frame = frame if discretize else frame.drop(columns="delay")
    frame.loc[:4, "tail"] = "z"
    x = bn.bnc("nb", "cancelled", frame, smooth=0, min_count=6, missing_level=True, discretize=discretize)
    assert bn.values(x)["tail"] == ("a", "b", "other", "(missing)")
    level = frame["tail"].replace("z", "other").fillna("(missing)")
    expected = pd.crosstab(level, frame["cancelled"], normalize="columns").loc[list(bn.values(x)["tail"])]
    for member in bn.members(x):
        np.testing.assert_allclose(bn.cpt(member, "tail"), expected)


def test_a_value_that_was_not_seen_is_not_a_missing_level():
    x = bn.bnc("nb", "cancelled", flights()[["tail", "hour", "cancelled"]], smooth=1, missing_level=["tail"])
    unknown = bn.predict(x, {"tail": "z", "hour": 3}, prob=True, unseen="missing")
    expected = bn.predict(
        bn.bnc("nb", "cancelled", flights()[["hour", "cancelled"]], smooth=1), {"hour": 3}, prob=True
    )
    pd.testing.assert_frame_equal(unknown, expected)


def test_missing_levels_are_learned_in_each_training_set():
    frame = flights()
    folds = bn.stratified_folds(frame["cancelled"], 3, rng=0)
    x = bn.bnc("tan_cl", "cancelled", frame, discretize="mdlp", smooth=1, missing_level=True)
    expected = []
    for fold in range(3):
        train, test = frame[folds != fold], frame[folds == fold]
        again = bn.bnc("tan_cl", "cancelled", train, discretize="mdlp", smooth=1, missing_level=True)
        expected.append(bn.accuracy(bn.predict(again, test), test["cancelled"]))
    assert bn.cv(x, frame, folds=folds) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    "kind", ["text", "category", "declared category", "parts", "no value missing", "class"]
)
def test_a_label_of_this_name_is_refused(kind):
    """It would be the level of missing values if it is the last one, which depends on other labels."""
    y = np.array(["u", "v"] * 20)
    frame = pd.DataFrame({"x": ["(missing)", "a", "(missing)", None] * 10, "y": y})
    if kind == "no value missing":
        frame["x"] = frame["x"].fillna("(missing)")
    elif kind == "class":
        frame["y"] = frame["y"].replace("v", "(missing)")
        frame["x"] = "a"
    elif "category" in kind:
        values = frame["x"].where(frame["x"] != "(missing)") if "declared" in kind else frame["x"]
        frame["x"] = pd.Categorical(values, ["a", "(missing)"])
    data = [frame.head(20), frame.tail(20)] if kind == "parts" else frame
    calls = [
        bn.encode,
        lambda d: bn.tan_cl("y", d),
        lambda d: bn.bnc("nb", "y", d, smooth=1),
        lambda d: bn.bnc(class_var="y", dataset=d),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"not have the label '\(missing\)', .* Make it missing") as told:
            call(data)
    dataset = frame.copy()
    [code] = re.findall(r"dataset\['[xy]'\] = .*(?=, or rename)", str(told.value))
    found = bn.check_data(dataset, "y").query("finding.str.contains('call missing')")
    assert code in found["remedy"].item()
    exec(code)
    assert not dataset.isin(["(missing)"]).any(axis=None)
    bn.encode(dataset)


def test_the_level_of_missing_values_can_be_named():
    """As `sample` does: `predict`, SQL and records read the label as a missing value."""
    frame = pd.DataFrame({"x": ["b", "a", "b", None] * 10, "y": list("uvuvv") * 8})
    model = bn.bnc("nb", "y", frame, smooth=1, missing_level=True)
    rows = pd.DataFrame({"x": ["(missing)", None]})
    [named, missing] = bn.predict(model, rows, prob=True)["u"]
    assert named == missing
    with closing(sqlite3.connect(":memory:")) as database:
        rows.to_sql("t", database, index=False)
        for found in database.execute(bn.to_sql(model, table="t")):
            assert found[1] == pytest.approx(named, abs=1e-9)


def test_rows_of_weight_0_add_no_level():
    frame = pd.DataFrame({"a": ["u", None, "v", "u"], "b": [None, "p", "q", "q"], "y": list("stst")})
    data = bn.encode(frame, weights=[1, 0, 2, 1])
    x = bn.bnc("nb", "y", data, smooth=1, missing_level=True)
    assert bn.values(x) == {"a": ("u", "v"), "b": ("p", "q", "(missing)"), "y": ("s", "t")}


def test_with_a_prior_missing_values_are_ignored():
    frame = flights()
    assert bn.preparation(bn.bnc("nb", "cancelled", frame, discretize="averaged", smooth=1)).missing == ()


@pytest.mark.slow
def test_shifts_of_missing_values_are_learned_in_each_training_set():
    frame = flights()
    model = bn.bnc("nb", "cancelled", frame)
    folds = bn.stratified_folds(frame["cancelled"], 3, rng=0)
    found = bn.cv_predict(model, frame, folds=folds)
    for fold in range(3):
        own = bn.bnc("nb", "cancelled", frame[folds != fold])
        expected = bn.predict(own, frame[folds == fold], prob=True, unseen="missing")
        pd.testing.assert_frame_equal(found[folds == fold], expected, check_names=False, rtol=1e-9)


def test_whole_numbers_with_many_values_are_told():
    frame = pd.DataFrame({"tenure": np.arange(600) % 73, "churn": ["no", "yes"] * 300})
    bn.bnc("nb", "churn", frame, smooth=1, discretize="mdlp")
    bn.bnc("nb", "churn", frame.astype({"tenure": "category"}), smooth=1)


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_columns_without_a_value_are_dropped(nothing):
    frame = flights().drop(columns=["delay", "tail"]).assign(nothing=nothing)
    x = bn.bnc("nb", "cancelled", frame, discretize="quantile", smooth=1)
    assert x.features == ("hour",)
    assert bn.predict(x, {"hour": 3}).tolist() == ["no"]
    assert 0 <= bn.cv(x, frame, k=2, rng=0) <= 1


def test_a_sample_has_missing_numbers_if_they_are_a_level():
    frame = flights()
    x = bn.bnc("nb", "cancelled", frame, discretize="quantile", smooth=1, missing_level=True)
    drawn = bn.sample(x, 2000, rng=0)
    assert drawn["delay"].isna().mean() == pytest.approx(frame["delay"].isna().mean(), abs=0.05)
    assert drawn["delay"].min() >= frame["delay"].min()


def test_a_number_without_a_cut_point_is_kept_for_its_missing_values():
    frame = flights().fillna({"tail": "a"})
    frame.loc[:1, "cancelled"] = None
    with pytest.warns(UserWarning, match="2 of 600 rows have no class"):
        x = bn.bnc("nb", "cancelled", frame, smooth=1, discretize="mdlp")
    assert "delay" not in bn.features(x)
    y = bn.bnc("nb", "cancelled", frame.iloc[2:], smooth=1, discretize="mdlp", missing_level=True)
    assert "delay" in bn.features(y)


def test_shifts_of_few_gaps_do_not_add_up_in_a_row_of_many():
    """Who missed most votes gets about the class proportions, although some missed votes are evidence."""
    voting = bn.load_voting()
    rows = np.random.default_rng(0).permutation(len(voting))
    train, test = voting.iloc[rows[:217]], voting.iloc[rows[217:]]
    x = bn.bnc(class_var="Class", dataset=train)
    hidden = np.random.default_rng(1).random((len(test), len(x.features))) < 0.9
    known = test[[*x.features]].mask(hidden)
    posterior = bn.predict(x, known.assign(Class=test["Class"]), prob=True)
    loss = -np.log(posterior.to_numpy()[np.arange(len(test)), test["Class"].cat.codes]).mean()
    shares = train["Class"].value_counts(normalize=True).reindex(posterior.columns)
    assert loss < -float(np.log(shares.reindex(test["Class"]).to_numpy()).mean())


def test_whole_numbers_of_weighted_rows_can_have_the_level():
    frame = pd.DataFrame(
        {"k": pd.array([1, 2, None, 2], dtype="Int64"), "y": list("abab"), "w": [1, 2, 3, 4]}
    )
    data = bn.encode(frame, weights="w", weights_are="frequencies", missing_level=True)
    assert data.schema.levels[0] == (1, 2, "(missing)")
    repeated = bn.encode(frame.loc[frame.index.repeat(frame["w"])].drop(columns="w"), missing_level=True)
    models = [bn.lp(bn.nb("y", rows), rows, smooth=1) for rows in (data, repeated)]
    pd.testing.assert_frame_equal(*[bn.predict(x, frame, prob=True) for x in models])
