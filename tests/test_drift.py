"""After deployment: how far new rows differ from training, and results by group."""

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn


def test_the_index_is_that_of_the_formula():
    """Shares of .5, .3, .2 then and .2, .3, .5 now, by hand."""
    before = pd.DataFrame({"a": ["p"] * 500 + ["q"] * 300 + ["r"] * 200, "y": ["u", "v"] * 500})
    before.loc[:300, "y"] = "u"
    after = pd.DataFrame({"a": ["p"] * 200 + ["q"] * 300 + ["r"] * 500})
    x = bn.bnc("nb", "y", before, smooth=1)
    p, q = np.array([500, 300, 200]) + 0.5, np.array([200, 300, 500]) + 0.5
    p, q = p / p.sum(), q / q.sum()
    expected = ((q - p) * np.log(q / p)).sum()
    for dataset in (before, None):  # a network contains its counts
        assert bn.drift(x, after, dataset)["psi"]["a"] == pytest.approx(expected)
    odds = bn.effects(x).set_index("value")["v"]
    change = sum((q - p) * odds[["p", "q", "r"]])
    assert bn.drift(x, after, before)["log_odds"]["a"] == pytest.approx(change, abs=1e-3)


def test_nothing_has_changed_in_the_training_data(pima, single):
    for x in (single, bn.scorecard(single), bn.bnc("nb", "diabetes", pima, smooth=1, numbers="gaussian")):
        table = bn.drift(x, pima, pima)
        assert table["psi"].abs().max() < 1e-12
        assert table["log_odds"].abs().max() < 1e-9
        assert table.index[-1] == "(score)"
        assert set(table.index[:-1]) == {*pima.columns} - {"diabetes"}  # also without points
        assert table.attrs["target"] == "yes"
    own = bn.drift(single, pima)  # the shares in the table have half a row more of each value
    assert own["psi"].max() < 0.01
    assert np.isnan(own["psi"]["(score)"])


def test_missing_and_unseen_values(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    new = car.sample(500, random_state=0).astype(object).reset_index(drop=True)
    new.loc[:99, "safety"] = "super"
    new.loc[:49, "doors"] = None
    table = bn.drift(x, new, car)
    assert table["unseen_now"]["safety"] == pytest.approx(0.2)
    assert table["missing_now"]["doors"] == pytest.approx(0.1)
    assert (table["missing_before"].iloc[:-1] == 0).all()
    assert list(table.index[:2]) == ["safety", "doors"]
    assert [name for name in table if name.startswith("log_odds")] == [
        f"log_odds {label}" for label in bn.classes(x)
    ]


def test_a_shift_of_one_number(pima, single):
    sicker = pima.assign(glucose=pima["glucose"] + 30)
    table = bn.drift(single, sicker, pima)
    assert table.index[0] == "glucose"
    assert table["psi"]["glucose"] > 0.25
    assert table["psi"].drop(["glucose", "(score)"]).max() < 1e-9
    posteriors = [bn.predict(single, data, prob=True) for data in (sicker, pima)]
    now, then = (np.log(p["yes"] / p["no"]).mean() for p in posteriors)
    assert table["log_odds"]["(score)"] == pytest.approx(now - then)
    assert table["log_odds"]["(score)"] == pytest.approx(table["log_odds"].iloc[:-1].sum())


def test_results_by_group(pima):
    x = bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp")
    frame = pima.assign(old=np.where(pima["age"] > 40, "old", "young"))
    table = bn.summary(x, frame, by="old", k=0)
    p, labels = bn.predict(x, pima, prob=True), bn.predict(x, pima)
    for group in ("old", "young", "(all)"):
        at = np.ones(len(frame), dtype=bool) if group == "(all)" else (frame["old"] == group).to_numpy()
        own, actual = table.loc[group], pima["diabetes"][at]
        assert own["rows"] == at.sum()
        assert own["actual yes"] == pytest.approx((actual == "yes").mean())
        assert own["predicted yes"] == pytest.approx((labels[at] == "yes").mean())
        assert own["probability yes"] == pytest.approx(p["yes"][at].mean())
        assert own["error"] == pytest.approx((labels[at].astype(str) != actual.astype(str)).mean())
        chosen = [p.loc[i, label] for i, label in actual.items()]
        assert own["log_loss"] == pytest.approx(-np.log(chosen).mean())
    held_out = bn.summary(x, frame, by="old", k=3, rng=0)
    whole = bn.cv(x, pima, k=3, rng=0, metric="log_loss")
    assert held_out["log_loss"]["(all)"] == pytest.approx(whole, abs=0.01)
    both = bn.summary(x, frame.assign(sex=["f", None] * 384), by=["old", "sex"], k=0)
    assert both.index.tolist()[-1] == "(all)"
    assert len(both) == 5
    gaps = bn.summary(x, frame.assign(sex=["f", None] * 384), by="sex", k=0)
    assert gaps.index.tolist() == ["f", "(missing)", "(all)"]


def test_a_model_without_data_gives_the_shares_of_its_training_data(pima):
    """Missing values are a level of networks; shares in sums have pseudo-counts, which are no rows."""
    train = pima.assign(glucose=pima["glucose"].astype(float).mask(pima.index % 5 == 0))
    new = train.sample(300, random_state=1)
    x = bn.bnc("nb", "diabetes", train, smooth=1, discretize="mdlp", missing_level=True)
    assert bn.drift(x, train)["psi"].iloc[:-1].max() < 1e-12
    assert bn.drift(x, train)["missing_before"]["glucose"] == pytest.approx(train["glucose"].isna().mean())
    backed = bn.bnc("tan_cl", "diabetes", train, discretize="mdlp", missing_level=True)  # with back-off
    pd.testing.assert_frame_equal(bn.drift(backed, new), bn.drift(x, new))
    single = bn.bnc(class_var="diabetes", dataset=train, pairs=0)
    for model in (x, single):
        own, full = bn.drift(model, new), bn.drift(model, new, train)
        assert bn.drift(model, train)["psi"].max() < 1e-9
        if model is single:
            before = full["missing_before"].reindex(own.index)
            np.testing.assert_allclose(own["missing_before"], before, atol=1e-9)
    np.testing.assert_allclose(own["log_odds"], full["log_odds"].reindex(own.index), atol=3e-4)
    # Of a row that lacks more values than five rows do, they are unknown, also in training rows.
    usual = train[train.isna().sum(axis=1) <= single.unknown.most]
    assert 0 < len(train) - len(usual) < 10
    again = bn.bnc(class_var="diabetes", dataset=usual, pairs=0)
    own, full = bn.drift(again, new), bn.drift(again, new, usual)
    np.testing.assert_allclose(own["log_odds"], full["log_odds"].reindex(own.index), atol=1e-9)


def test_tenths_of_a_number_have_equal_weights():
    """A tenth of the rows has each of ten values, which are the intervals; all new rows have the first."""
    frame = pd.DataFrame({"a": np.tile(np.arange(10) / 4, 20), "y": ["p"] * 100 + ["q"] * 100})
    x = bn.bnc("nb", "y", frame, smooth=1, numbers={"a": "gaussian"})
    p, q = np.full(10, 20.5) / 205, np.array([200.5, *[0.5] * 9]) / 205
    found = bn.drift(x, frame.assign(a=0.0), frame)["psi"]["a"]
    assert found == pytest.approx(((q - p) * np.log(q / p)).sum())


@pytest.mark.filterwarnings("ignore:'a'. .* values")
@pytest.mark.parametrize(
    ("numbers", "weight", "points"),
    [
        (np.arange(20.0), 0.1, np.arange(1.5, 18, 2)),  # 0.1 + 0.1 + 0.1 is above 0.3
        # 10.5 has more than a tenth of the rows, and the other 19 rows are divided into nine parts.
        ([*range(1, 20), *[10.5] * 30], 1, [3.5, 5.5, 7.5, 9.5, 10.25, 10.75, 11.5, 13.5, 15.5, 17.5]),
        ([1.0, 2.0, 4.0], 1, [1.5, 3.0]),
    ],
    ids=["inexact weights", "a frequent number", "few numbers"],
)
def test_tenths_by_hand(numbers, weight, points):
    frame = pd.DataFrame({"a": [*numbers, *numbers], "y": np.repeat(["p", "q"], len(numbers))})
    data = bn.encode(frame, weights=np.full(len(frame), float(weight)))
    x = bn.bnc("nb", "y", data, smooth=1, numbers={"a": "gaussian"})
    new = frame.iloc[:: 2 + len(frame) // 20]
    ends = [-np.inf, *points, np.inf]
    p, q = (np.histogram(rows["a"], ends)[0] * w + 0.5 for rows, w in ((frame, weight), (new, 1)))
    p, q = p / p.sum(), q / q.sum()
    assert bn.drift(x, new, data)["psi"]["a"] == pytest.approx(((q - p) * np.log(q / p)).sum())


def test_more_than_ten_intervals_are_joined_by_the_middles_of_their_shares():
    """Of 12 equal shares, the middles 2.5 / 12 and 3.5 / 12 are in one tenth, as 8.5 / 12 and 9.5 / 12.

    Of rows, a tenth ends at the value up to which there is a tenth: the second
    of the twelve, the third, …, the sixth, the eighth, …
    """
    frame = pd.DataFrame({"a": np.repeat(np.arange(12) / 4, 100), "y": np.resize(["u", "v"], 1200)})
    x = bn.bnc("nb", "y", frame, smooth=1, discretize="width", bins=12)
    for dataset, doubled, changed in ((None, (2, 7), 2), (frame, (0, 5), 2)):
        p, q = np.full(10, 100.5), np.full(10, 0.5)
        p[list(doubled)] += 100
        q[changed] += 1200
        p, q = p / p.sum(), q / q.sum()
        found = bn.drift(x, frame.assign(a=0.75), dataset)["psi"]["a"]
        assert found == pytest.approx(((q - p) * np.log(q / p)).sum())


def units():
    rng = np.random.default_rng(0)
    ill = rng.random(1000) < 0.4
    frame = pd.DataFrame({"weight": rng.normal(70, 10, 1000).round(1)})
    frame["glucose"] = (rng.normal(110, 20, 1000) + 25 * ill).round()
    frame["spent"] = np.where(rng.random(1000) < 0.95, 0, rng.gamma(2, 3, 1000).round(2))
    frame["town"] = rng.choice(
        ["Rome", "Oslo", *(f"t{i}" for i in range(30))], 1000, p=[0.4, 0.3, *[0.01] * 30]
    )
    return frame.assign(ill=np.where(ill, "yes", "no"))


def test_values_are_measured_and_not_intervals_of_the_model():
    """In pounds, limited, times 100, or with one rare label in place of all; by models that drop columns."""
    old = units()
    new = old.head(500).assign(weight=lambda d: (d["weight"] * 2.2046).round(1))
    cuts = old["weight"].quantile(np.arange(1, 10) / 10)
    p, q = (np.bincount(np.searchsorted(cuts, d["weight"]), minlength=10) + 0.5 for d in (old, new))
    p, q = p / p.sum(), q / q.sum()
    other = old.head(500).assign(
        weight=lambda d: d["weight"].clip(upper=75),
        spent=lambda d: d["spent"] * 100,
        town=lambda d: d["town"].where(d["town"].isin(["Rome", "Oslo"]), "t7"),
    )
    by_tree = {"smooth": 1, "discretize": "mdlp", "min_count": 50}
    for x in (bn.bnc("nb", "ill", old, **by_tree), bn.bnc(class_var="ill", dataset=old, pairs=0)):
        table = bn.drift(x, new, old)
        assert table.index[0] == "weight"
        assert table["psi"]["weight"] == pytest.approx(((q - p) * np.log(q / p)).sum(), abs=0.02)
        assert table["outside"]["weight"] > 0.98
        assert table["psi"].drop(["weight", "(score)"]).max() < 0.1
        assert table["measured"].to_dict() == {
            **dict.fromkeys(["weight", "glucose", "spent", "(score)"], "tenths"),
            "town": "labels",
        }
        changed = bn.drift(x, other, old)["psi"]
        assert changed[["weight", "spent", "town"]].min() > 0.2
        assert changed["glucose"] < 0.1
        single = bn.drift(x, old.astype({"weight": "float32", "spent": "float32"}), old)
        assert single["psi"].drop("(score)").max() < 1e-12
        assert (single["outside"].dropna() == 0).all()


def test_a_model_alone_names_what_it_cannot_measure():
    old = units()
    x = bn.bnc("nb", "ill", old, smooth=1, discretize="mdlp", min_count=50)
    lower = old["weight"] < 60
    new = old.assign(weight=old["weight"].where(~lower, 20.0)).drop(columns="spent")
    with pytest.warns(UserWarning, match=r"shares of values of 'weight', 'spent', because it does not"):
        table = bn.drift(x, new)
    assert table["measured"][["weight", "spent", "glucose", "town"]].tolist() == [
        *["range", "nothing", "intervals", "labels"]
    ]
    p = np.array([1000.5, 0.5]) / 1001
    q = (np.array([(~lower).sum(), lower.sum()]) + 0.5) / 1001
    assert table["psi"]["weight"] == pytest.approx(((q - p) * np.log(q / p)).sum())
    assert table["outside"]["weight"] == lower.mean()
    assert np.isnan(table["psi"]["spent"])
    assert table["log_odds"][["weight", "spent"]].tolist() == [0, 0]
    # With intervals, too, numbers outside the range are values of their own
    with pytest.warns(UserWarning, match="does not contain the shares"):
        table = bn.drift(x, old.assign(glucose=old["glucose"] + 1000))
    assert table["outside"]["glucose"] == 1
    with pytest.warns(UserWarning, match="does not contain the shares"):
        highest = bn.drift(x, old.assign(glucose=old["glucose"].max()))
    assert table["psi"]["glucose"] > highest["psi"]["glucose"] + 1
    # New labels and values of dropped columns, and those that cannot be read
    new = old.assign(weight="heavy", town="Bari", spent=pd.Timestamp("2020-01-01"))
    table = bn.drift(x, new, old)
    assert table["unseen_now"]["town"] == 1
    assert table["measured"][["weight", "spent"]].tolist() == ["nothing", "nothing"]


def test_predicted_classes_are_counted():
    """All rows of a rare class become another class: tenths would not see it."""
    frame = pd.DataFrame({"a": ["p"] * 60 + ["q"] * 3 + ["r"] * 37})
    frame["y"] = frame["a"].map({"p": "u", "q": "v", "r": "w"})
    x = bn.bnc("nb", "y", frame, smooth=0.1)
    p, q = np.array([60, 3, 37]) + 0.5, np.array([60, 0, 40]) + 0.5 * np.array([1, 1, 1])
    p, q = p / p.sum(), q / q.sum()
    found = bn.drift(x, frame[["a"]].replace("q", "r"), frame)["psi"]["(score)"]
    assert found == pytest.approx(((q - p) * np.log(q / p)).sum())


@pytest.mark.parametrize("options", [{"numbers": "gaussian"}, {"discretize": "mdlp"}, {"pairs": 0}])
def test_weighted_rows_are_repeated_rows(pima, options):
    dag = () if "pairs" in options else ("nb",)
    x = bn.bnc(*dag, class_var="diabetes", dataset=pima, **options, **({"smooth": 1} if dag else {}))
    times = np.arange(len(pima)) % 4
    repeated = pima.loc[pima.index.repeat(times)].reset_index(drop=True)
    weighted = bn.encode(pima.assign(n=times), weights="n")
    for new in (pima.tail(200), repeated.tail(200)):
        mine, other = bn.drift(x, new, weighted), bn.drift(x, new, repeated)
        pd.testing.assert_frame_equal(mine.loc[other.index], other, atol=1e-9)
    pd.testing.assert_frame_equal(bn.drift(x, weighted, pima), bn.drift(x, repeated, pima), atol=1e-9)
    assert bn.drift(x, weighted, repeated)["psi"].max() < 1e-12


def test_effects_of_pairs_are_not_known_without_data(pima):
    x = bn.bnc(class_var="diabetes", dataset=pima, pairs=[("glucose", "age")])
    assert bn.drift(x, pima)["log_odds"].isna().all()
    assert bn.drift(x, pima, pima)["log_odds"].abs().max() < 1e-9


def test_groups_of_several_columns_stay_apart(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    pairs = [("p, q", "r"), ("p", "q, r"), ("p", None)]
    first, second = (pd.Series([pairs[i % 3][j] for i in range(len(car))]) for j in (0, 1))
    table = bn.summary(x, car.assign(a=first, b=second), by=["a", "b"], k=0)
    assert table.index.tolist() == ["'p', 'q, r'", "'p', '(missing)'", "'p, q', 'r'", "(all)"]
    assert table["rows"].tolist() == [576, 576, 576, 1728]
    numbers = car.assign(a=np.arange(len(car)) % 11, b=0)
    assert bn.summary(x, numbers, by=["a", "b"], k=0).index[1:3].tolist() == ["1, 0", "2, 0"]
    assert bn.summary(x, numbers, by="a", k=0).index.tolist() == [*range(11), "(all)"]
    sizes = pd.Categorical(["small", "big"] * 864, categories=["small", "none", "big"])
    ordered = bn.summary(x, car.assign(a=sizes, b=0), by=["a", "b"], k=0)
    assert ordered.index.tolist() == ["small, 0", "big, 0", "(all)"]
    overlapping = [pd.Interval(3, 8), pd.Interval(0, 5)]
    for values in (pd.Categorical(overlapping * 864), pd.array(overlapping * 864)):
        groups = bn.summary(x, car.assign(a=values), by="a", k=0)
        assert groups.index.tolist() == [*overlapping[::-1], "(all)"]


def test_what_is_wrong_with_groups(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    numbers = car.assign(number=np.arange(len(car)) % 101)
    assert len(bn.summary(x, numbers.assign(number=numbers["number"] % 100), by="number", k=0)) == 101
    frame = car.assign(g=["(all)", "other"] * 864, m=[1, "a"] * 864, n=["(missing)", None] * 864)
    for k in (0, 2):
        with pytest.raises(ValueError, match=r"classes of the model in 'class', 'unacc', .*; got 'no'"):
            bn.summary(x, frame.assign(**{"class": "no"}), by="doors", k=k)


def test_classes_without_rows_have_no_share(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    four = bn.summary(x, car, by="doors", k=0)
    assert [name for name in four if name.startswith("actual")] == [f"actual {c}" for c in bn.classes(x)]
    some = car[car["class"].isin(["unacc", "acc"])]
    some = some.assign(**{"class": some["class"].astype(str)})
    assert bn.summary(x, some, by="doors", k=2, rng=0)["actual good"].tolist() == [0] * 5


def test_rows_of_no_weight_change_nothing():
    """Even if their log odds are infinite."""
    frame = pd.DataFrame({"a": list("ppqqr"), "y": list("uvuvv")})
    x = bn.bnc("nb", "y", frame, smooth=0)
    weighted = bn.encode(frame.assign(n=[2, 1, 1, 1, 0]), weights="n", weights_are="frequencies")
    rows = frame.iloc[[0, 0, 1, 2, 3]]
    pd.testing.assert_frame_equal(bn.drift(x, weighted, rows), bn.drift(x, rows, rows), atol=1e-12)
    pd.testing.assert_frame_equal(bn.drift(x, rows, weighted), bn.drift(x, rows, rows), atol=1e-12)


def test_a_column_without_known_values_has_drifted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["u", "v"], 500), "b": rng.normal(size=500), "y": ["p", "q"] * 250})
    model = bn.bnc("nb", "y", frame, smooth=1, discretize="quantile")
    found = []
    for share in (0.9, 1.0):
        new = frame.astype({"a": "category"})
        new.loc[: int(500 * share) - 1, ["a", "b"]] = np.nan
        found.append(bn.drift(model, new, frame)["psi"])
    assert (found[1] > found[0])[["a", "b"]].all()


def test_labels_of_training_that_are_unseen_in_the_model_have_not_changed():
    """Labels of one row are placed as unseen; they counted as labels and again as unseen."""
    frame = pd.DataFrame({"a": [*"uv"] * 20 + [f"name {i}" for i in range(30)], "y": [*"pq"] * 35})
    x = bn.bnc(class_var="y", dataset=frame, pairs=0)
    row = bn.drift(x, frame, frame).loc["a"]
    assert "(unseen)" in bn.values(x)["a"]
    assert (row["psi"], row["unseen_before"], row["unseen_now"]) == (0, 0, 0)


def test_cards_of_networks_do_not_contain_shares_of_missing_values():
    frame = pd.DataFrame({"a": [*"uuuuuuvv", None, None] * 4, "y": [*"ppqqpqqpqp"] * 4})
    card = bn.scorecard(bn.bnc("nb", "y", frame, smooth=1))
    row = bn.drift(card, frame).loc["a"]
    assert np.isnan(row["missing_before"])
    assert row["psi"] < 0.01  # .59 as if no value had been missing
