"""Explanations of predictions: weights of evidence."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bnclassify as bn

from .conftest import informative_gaps
from .strategies import KINDS, fitted_models, frames
from .zoo import CASES, case


@st.composite
def fitted(draw, missing=0.3, kinds=KINDS):
    """A fitted network, augmented or any, or an ensemble, with two classes or more, and data for it."""
    frame = draw(frames(missing=missing))
    assume(len(frame["class"].cat.categories) > 1)
    return draw(fitted_models(frame, kinds)), frame


def log_odds(x, row, target, against):
    posterior = bn.predict(x, row, prob=True).iloc[0]
    return float(np.log(posterior[target]) - np.log(posterior[against].sum()))


@informative_gaps
@given(fitted(), st.data())
def test_weights_sum_to_the_log_odds_of_the_posterior(model, data):
    x, frame = model
    row = frame.iloc[[data.draw(st.integers(0, len(frame) - 1))]]
    target, *against = data.draw(st.permutations(bn.classes(x)))
    against = against[: data.draw(st.integers(1, len(against)))]
    found = bn.explain(x, row, target=target, against=against)
    assert found["log_odds"].sum() == pytest.approx(log_odds(x, row, target, against), abs=1e-8)
    assert (found["log_odds"][found["value"].isna()] == 0).all()
    assert found.index[0] == "class"
    assert sorted(found.index[1:]) == sorted(bn.features(x))


@informative_gaps
@given(fitted())
def test_the_predicted_class_of_several_is_explained_against_the_likeliest_other(model):
    x, frame = model
    row, names = frame.iloc[[0]], bn.classes(x)
    target = bn.predict(x, row).iloc[0] if len(names) > 2 else names[-1]
    rival = bn.predict(x, row, prob=True).iloc[0].round(9).drop(target).idxmax()
    pd.testing.assert_frame_equal(bn.explain(x, row), bn.explain(x, row, target=target, against=rival))


@informative_gaps
@given(fitted(missing=0.0, kinds=("augmented",)), st.data())
def test_of_two_classes_and_a_complete_row_weights_are_ratios_of_parameters(model, data):
    x, frame = model
    a, b = data.draw(st.permutations(bn.classes(x)))[:2]
    weights = bn.explain(x, frame.iloc[[0]], target=a, against=b)["log_odds"]
    values = bn.values(x)
    at = {name: values[name].index(frame[name].iloc[0]) for name in bn.features(x)}
    for variable, table in bn.params(x).items():
        family = bn.families(x)[variable]
        theta = table[tuple(at[name] for name in family[:-1])]
        i, j = values["class"].index(a), values["class"].index(b)
        assert weights[variable] == pytest.approx(np.log(theta[i] / theta[j]), abs=1e-9)


@informative_gaps
@given(fitted(missing=0.0, kinds=("augmented",)), st.data())
def test_the_order_of_columns_does_not_matter_to_two_classes(model, data):
    x, frame = model
    shuffled = frame[data.draw(st.permutations(list(frame.columns)))]
    parents = {v: list(family[1:-1]) for v, family in bn.feature_families(x).items()}
    y = bn.lp(bn.anb("class", parents, shuffled), shuffled, smooth=1)
    x = bn.lp(x, frame, smooth=1)
    a, b = bn.classes(x)[:2]
    before, after = (
        bn.explain(z, f.iloc[[0]], target=a, against=b)["log_odds"] for z, f in ((x, frame), (y, shuffled))
    )
    pd.testing.assert_series_equal(before.sort_index(), after.sort_index())


def test_weights_are_those_of_good(votes):
    """ln O(c | e_1 … e_i) − ln O(c | e_1 … e_i−1), summed by hand for all possible rows."""
    names = ["crime", "mx_missile", "immigration"]
    x = bn.lp(bn.aode("Class", votes, features=names), votes, smooth=1)
    cells = pd.DataFrame(list(product("ny", repeat=3)), columns=bn.features(x))
    joint = [
        sum(np.exp(bn.loglik(m, cells.iloc[[i]].assign(Class=c))) for m in bn.members(x))
        for i in range(8)
        for c in bn.classes(x)
    ]
    table, row = np.reshape(joint, (8, 2)), votes.iloc[7]
    odds = []
    for known in range(4):
        first = list(bn.features(x)[:known])
        agree = (cells[first] == row[first].to_numpy()).all(axis=1).to_numpy()
        odds.append(np.log(table[agree, 0].sum() / table[agree, 1].sum()))
    weights = bn.explain(x, row, target=bn.classes(x)[0])["log_odds"]
    assert weights.to_numpy() == pytest.approx([odds[0], *np.diff(odds)])


def test_what_the_frame_holds(car):
    x = bn.lp(bn.anb("class", {"safety": ["persons", "doors"]}, car), car, smooth=1)
    row = car.iloc[0].astype(object)
    row["doors"] = None
    found = bn.explain(x, row)
    assert list(found.index) == ["class", "buying", "maint", "doors", "persons", "lug_boot", "safety"]
    assert found.loc["safety", "parents"] == "persons = 2, doors missing"
    assert found.loc["safety", "value"] == "low"
    assert found.loc["class", "value"] == "unacc"
    assert pd.isna(found.loc["doors", "value"])
    assert list(found.columns) == ["value", "parents", "log_odds", "odds_ratio"]
    assert found.columns.name == "unacc against acc"
    assert bn.explain(x, row, against=bn.classes(x)).columns.name == "unacc against the others"
    assert bn.explain(x, row, against=["good", "acc"]).columns.name == "unacc against acc or good"
    assert set(bn.explain(bn.lp(bn.aode("class", car), car, smooth=1), row)["parents"]) == {""}


TYPES = pd.DataFrame(
    {
        "text": ["a", "b", "a", "b"],
        "category": pd.Categorical([1, 2, 2, 1]),
        "bool": [True, False, True, True],
        "int": [3, 4, 4, 3],
        "nullable": pd.array([1, None, 0, 1], dtype="Int64"),
        "interval": pd.cut(np.array([0.5, 1.5, 0.2, 1.2]), [0, 1, 2]),
        ("a", "tuple"): ["x", "y", "y", "x"],
        "measure": [0.1, 0.2, 0.3, 0.4],
        "class": ["yes", "no", "no", "yes"],
    },
    index=["same"] * 4,
)


@pytest.mark.parametrize("columns", [list(TYPES), ["int", "measure", "class"], ["category", "class"]])
@pytest.mark.parametrize("i", range(4))
def test_a_row_may_be_held_by_anything(columns, i):
    learned = TYPES[columns].drop(columns="measure", errors="ignore")
    x = bn.lp(bn.nb("class", learned), learned, smooth=1)
    expected = bn.explain(x, learned.iloc[[i]])
    frame = TYPES[columns].drop(columns="class")
    for row in (frame.iloc[[i]], frame.iloc[i], dict(frame.iloc[i]), bn.encode(learned.iloc[[i]])):
        pd.testing.assert_frame_equal(bn.explain(x, row), expected)
    assert expected["value"].isna().any() == (i == 1 and "nullable" in columns)


def test_integers_that_pandas_made_floats_are_matched():
    learned = TYPES[["int", "class"]]
    x = bn.lp(bn.nb("class", learned), learned, smooth=1)
    row = TYPES[["int", "measure"]].iloc[0]
    assert row.dtype == float
    assert bn.explain(x, row).loc["int", "value"] == 3


def test_the_class_in_the_row_does_not_matter(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    row = car.iloc[5].to_dict()
    for label in ("vgood", None, "never seen", ["no label"]):
        pd.testing.assert_frame_equal(bn.explain(x, row | {"class": label}), bn.explain(x, car.iloc[[5]]))


def test_unseen_values(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    row = car.iloc[5].to_dict() | {"doors": "seven"}
    with pytest.raises(ValueError, match="'seven' not among the levels"):
        bn.explain(x, row)
    pd.testing.assert_frame_equal(bn.explain(x, row, unseen="missing"), bn.explain(x, row | {"doors": None}))
    known = bn.plot(x, row=row | {"doors": None}).source
    assert bn.plot(x, row=row, unseen="missing").source == known


def test_what_is_impossible_without_smoothing(car):
    x = bn.lp(bn.nb("class", car), car, smooth=0)
    found = bn.explain(x, car.iloc[0])["log_odds"]  # two persons: only ever unacceptable
    assert found["persons"] == np.inf
    assert found.sum() == np.inf
    assert (found[["lug_boot", "safety"]] == 0).all()
    assert bn.explain(x, car.iloc[0], target="acc")["log_odds"].sum() == -np.inf


def test_no_features(car):
    x = bn.lp(bn.nb("class", car, features=[]), car, smooth=1)
    assert bn.explain(x, {})["log_odds"].tolist() == pytest.approx([np.log(1211 / 385)])


@pytest.mark.parametrize("several", [tuple, set, np.array, pd.Series, pd.Index, pd.Categorical])
def test_several_classes_may_be_held_by_anything(car, several):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    expected = bn.explain(x, car.iloc[0], against=["good", "vgood"])
    found = bn.explain(x, car.iloc[0], against=several(["good", "vgood"]))
    pd.testing.assert_frame_equal(found, expected)


def test_labels_of_classes_may_be_anything():
    """Numbers, and tuples, which are then no lists of classes."""
    frame = pd.DataFrame({"f": list("xxyyx"), "k": [1, 2, 3, 1, 2]})
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    assert bn.explain(x, {"f": "x"}, target=3, against=1).columns.name == "3 against 1"
    frame["k"] = pd.Categorical([(0, 1), (0, 1), (1, 2), (1, 2), (0, 1)], categories=[(0, 1), (1, 2)])
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    assert bn.explain(x, {"f": "x"}, target=(1, 2), against=(0, 1)).loc["k", "value"] == (1, 2)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"impossible", "card of extreme odds"}))
def test_contributions_of_every_type_of_model_sum_to_the_log_odds(name):
    x, rows = case(name)
    rows, (target, *others) = rows.head(30), bn.classes(x)
    p = bn.predict(x, rows, prob=True, unseen="missing").to_numpy()
    possible = (p[:, :2] > 1e-200).all(axis=1) & (np.ptp(p, axis=1) > 0)  # impossible rows are uniform
    assert possible.any()
    for against, rivals in ((others[0], p[possible, 1]), (others, p[possible, 1:].sum(axis=1))):
        found = bn.explain(x, rows[possible], target=target, against=against, unseen="missing")["log_odds"]
        expected = np.log(p[possible, 0]) - np.log(rivals)
        np.testing.assert_allclose(found.groupby(level=0, sort=False).sum(), expected, rtol=1e-9, atol=1e-8)


@pytest.mark.slow
@informative_gaps
@given(fitted())
def test_many_rows_are_those_of_each_row(model):
    x, frame = model
    assume(len(frame) > 1)
    found = bn.explain(x, frame)
    assert list(found.index.names) == ["row", "variable"]
    for i in range(0, len(frame), len(frame) // 6 + 1):
        alone = bn.explain(x, frame.iloc[[i]])
        own = found.loc[i]
        assert list(own.index) == list(alone.index)
        pd.testing.assert_series_equal(own["log_odds"], alone["log_odds"], check_names=False, atol=1e-9)
        assert own[["value", "parents"]].fillna("").equals(alone[["value", "parents"]].fillna(""))
        assert {" against ".join(pair) for pair in zip(own["target"], own["against"], strict=True)} == {
            alone.columns.name
        }


def check_steps(x, rows):
    """The quicker way of networks is the way of all: the odds of the features known so far."""
    target, *others = bn.classes(x)
    found = bn.explain(x, rows, target=target, against=others)["log_odds"]
    names = found.index.get_level_values(-1)[: 1 + len(bn.features(x))]
    sums = found.to_numpy().reshape(len(rows), -1).cumsum(axis=1)
    for step in range(len(names)):
        some = rows.astype(object).assign(**dict.fromkeys(names[step + 1 :], None))
        p = bn.predict(x, some, prob=True)
        np.testing.assert_allclose(sums[:, step], np.log(p[target] / p[others].sum(axis=1)), atol=1e-8)


@informative_gaps
@given(fitted())
def test_contributions_are_changes_as_features_become_known_step_by_step(model):
    check_steps(*model)


@pytest.mark.parametrize("name", ["class with parents", "kdb"])
def test_contributions_step_by_step_in_complete_and_incomplete_rows(name):
    check_steps(*case(name))


def test_no_row_and_labels_of_rows(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    columns = ["target", "against", "value", "parents", "log_odds", "odds_ratio"]
    empty = bn.explain(x, car.iloc[:0])
    assert len(empty) == 0
    assert list(empty.columns) == columns
    twice = bn.explain(x, car.iloc[[5, 5]].set_index(pd.Index(["a", "a"], name="offer")))
    assert twice.index.names == ["offer", "variable"]
    assert len(twice.loc["a"]) == 14
    pairs = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 2)], names=["shop", None])
    by_pair = bn.explain(x, car.iloc[:3].set_index(pairs))
    assert by_pair.index.names == ["shop", None, "variable"]
    assert by_pair.xs(("a", 2))["log_odds"].tolist() == bn.explain(x, car.iloc[1])["log_odds"].tolist()
    tuples = bn.explain(x, car.iloc[:2].set_index(pd.Index([(0, "x"), (1, "y")], tupleize_cols=False)))
    assert tuples.index.get_level_values(0)[7] == (1, "y")
    assert list(bn.explain(x, bn.encode(car.head(2))).columns) == columns


def test_unstacked_rows_keep_the_order_of_variables(car):
    x = bn.lp(bn.tan_cl("class", car, score="aic"), car, smooth=1)
    table = bn.explain(x, car, target="acc", against=bn.classes(x))["log_odds"].unstack()  # noqa: PD010
    assert list(table.columns) == list(bn.explain(x, car.iloc[0]).index)
    p = bn.predict(x, car, prob=True)["acc"]
    np.testing.assert_allclose(table.sum(axis=1), np.log(p / (1 - p)), atol=1e-9)


def test_rows_whose_predicted_class_is_the_one_to_compare_with(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    n = (bn.predict(x, car) == "good").sum()
    with pytest.raises(ValueError, match=f"got 'good', which is predicted in {n} of 1,728 rows"):
        bn.explain(x, car, against="good")
    assert set(bn.explain(x, car, target="acc", against="good")["against"]) == {"good"}
    several = bn.explain(x, car, against=["good", "unacc"])
    assert set(several["against"]) == {"unacc", "good", "unacc or good"}


def test_many_rows_of_a_dependency_network(car):
    """The tables of a complete row are multiplied one at a time; an incomplete row is marginalized over."""
    x = bn.lp(bn.chisq_dn("class", car), car, smooth=1)
    rows = car.sample(20, random_state=0)
    rows["doors"] = rows["doors"].where(np.arange(20) >= 7)
    found = bn.explain(x, rows, target="acc", against="unacc")
    p = bn.predict(x, rows, prob=True)
    for i in rows.index:
        alone = bn.explain(x, rows.loc[i], target="acc", against="unacc")
        assert found.loc[i]["log_odds"].tolist() == alone["log_odds"].tolist()
        assert found.loc[i]["parents"].tolist() == alone["parents"].tolist()
        assert alone["log_odds"].sum() == pytest.approx(np.log(p.loc[i, "acc"] / p.loc[i, "unacc"]))
        factors = bn.cpt(x, "buying").loc[rows.loc[i, "buying"]]
        if not rows.loc[i].isna().any():
            own = factors[rows.loc[i, "maint"]]
            assert alone.loc["buying", "log_odds"] == pytest.approx(np.log(own["acc"] / own["unacc"]))


@pytest.mark.parametrize("discretize", ["mdlp", "averaged"])
def test_values_are_those_of_the_row_before_it_is_prepared(discretize):
    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"size": rng.normal(size=150), "town": rng.choice(["Aden", "Bari"], 150)})
    raw["class"] = np.where(raw["size"] > 0, "yes", "no")
    raw.loc[:2, "town"] = ["Cork", "Dover", None]
    x = bn.bnc(
        "tan_cl", "class", raw, smooth=1, discretize=discretize, min_count=5, missing_level=["size", "town"]
    )
    found = bn.explain(x, raw.assign(size=[4, np.nan, *raw["size"][2:]]))["value"]
    assert found.loc[0, "size":"town"].tolist() == [4, "Cork"]
    assert isinstance(found.loc[0, "size"], int)
    assert found.loc[1, "size":"town"].tolist() == ["(missing)", "Dover"]
    assert found.loc[2, "size":"town"].tolist() == [raw["size"][2], "(missing)"]
    unseen = bn.explain(x, {"size": 0.5, "town": "Elba"}, unseen="missing")
    assert unseen.loc[["size", "town"], "value"].tolist() == [0.5, "Elba"]
    plain = bn.bnc("nb", "class", raw.iloc[3:], smooth=1, discretize=discretize)
    assert bn.explain(plain, {"town": "Elba"}, unseen="missing").loc["town", "value"] is np.nan


def test_rows_are_sorted_by_strength_and_have_odds_ratios(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    table = bn.explain(x, car.iloc[1727])
    np.testing.assert_allclose(table["odds_ratio"], np.exp(table["log_odds"]))
    ordered = bn.explain(x, car.iloc[1727], sort=True)
    assert ordered.index.tolist() == table["log_odds"].abs().sort_values(ascending=False).index.tolist()
    pd.testing.assert_frame_equal(ordered.loc[table.index], table)
    many = bn.explain(x, car.iloc[[5, 1727]], sort=True)
    assert many.loc[1727].index.tolist() == ordered.index.tolist()
    assert many.index.get_level_values(0).tolist() == [5] * 7 + [1727] * 7


@pytest.mark.filterwarnings("ignore:'time'. whole numbers that all differ")
@pytest.mark.parametrize("options", [{"numbers": "gaussian"}, {"numbers": "kernel"}, {"discretize": "mdlp"}])
def test_numbers_are_shown_as_they_were_given(options):
    frame = pd.DataFrame({"time": np.arange(100, 400, 3), "size": np.linspace(0, 1, 100) ** 2})
    frame["late"] = np.where(frame["time"] > 250, "yes", "no")
    x = bn.bnc("nb", "late", frame, smooth=1, **options)
    row = {"time": 400, "size": 0.30988614451583}
    assert list(map(repr, bn.explain(x, row)["value"])) == ["'yes'", "400", "0.30988614451583"]
    texts = [text.partition(":")[0] for text in bn.explain(x, row, sentences=True)]
    assert sorted(texts) == ["size = 0.309886", "time = 400"]
    x = bn.bnc("nb", "late", frame.assign(late=pd.cut(frame["time"], [0, 250, 400])), smooth=1, **options)
    assert {text.partition(": ")[2][:24] for text in bn.explain(x, row, sentences=True)} == {
        "the odds of (250, 400] a"
    }


def test_reasons_in_words():
    frame = pd.DataFrame({"records": ["no"] * 60 + ["yes"] * 40, "noise": ["a", "b"] * 50})
    frame["status"] = ["good"] * 48 + ["bad"] * 12 + ["good"] * 20 + ["bad"] * 20
    x = bn.lp(bn.nb("status", frame), frame, smooth=0)
    # P(no | good) / P(no | bad) = (48 / 68) / (12 / 32) = 1.88
    [reason] = bn.explain(x, {"records": "no", "noise": "a"}, target="good", sentences=True)
    assert reason == "records = no: the odds of 'good' are 1.9 times as high"
    [reason] = bn.explain(x, {"records": "no"}, target="bad", sentences=True)
    assert reason == "records = no: the odds of 'bad' are divided by 1.9"
    [none] = bn.explain(x, {"records": None, "noise": None}, sentences=True)
    assert none == "no value alone changes the odds of 'good' by a factor of 1.05 or more"
    several = bn.explain(x, frame.iloc[[0, 99]], target="good", sentences=True)
    assert several.index.tolist() == [0, 99]
    # P(yes | bad) / P(yes | good) = (20 / 32) / (20 / 68) = 2.125
    assert several[99] == ["records = yes: the odds of 'good' are divided by 2.1"]
    certain = frame.assign(status=np.where(frame["records"] == "no", "good", "bad"))
    x = bn.lp(bn.nb("status", certain), certain, smooth=0)
    [reason] = bn.explain(x, {"records": "no"}, target="bad", sentences=True)
    assert reason == "records = no: the odds of 'bad' are 0"
    with pytest.raises(TypeError, match="sentences must be True or False"):
        bn.explain(x, {"records": "no"}, sentences=3)


@pytest.mark.parametrize("labels", [[0, 1], [1, 0], [False, True], ["no", "yes"], ["bad", "good"]])
def test_the_last_of_two_classes_is_explained(labels):
    """Whatever is predicted, and in all that explains: tables, sentences, effects, cards and pictures."""
    frame = pd.DataFrame({"old": ["no"] * 50 + ["yes"] * 50, "stroke": [labels[0]] * 45 + [labels[1]] * 55})
    frame["stroke"] = pd.Categorical(frame["stroke"], categories=labels)
    x, last = bn.lp(bn.nb("stroke", frame), frame, smooth=1), labels[1]
    quoted = repr(last) if isinstance(last, str) else str(last)
    for old, words in (("no", "divided by"), ("yes", "times as high")):
        [reason] = bn.explain(x, {"old": old}, sentences=True)
        assert reason.startswith(f"old = {old}: the odds of {quoted} are")
        assert words in reason
        table = bn.explain(x, {"old": old})
        assert table.columns.name == f"{last} against {labels[0]}"
        pd.testing.assert_frame_equal(bn.explain(x, {"old": old}, against=labels[0]), table)
        other = bn.explain(x, {"old": old}, against=last)
        pd.testing.assert_frame_equal(other, bn.explain(x, {"old": old}, target=labels[0]))
    assert list(bn.effects(x)) == ["feature", "value", last]
    assert bn.scorecard(x).target == last


def test_effects_of_the_other_class(car):
    frame = car.assign(**{"class": np.where(car["class"] == "unacc", "bad", "good")})
    x = bn.lp(bn.nb("class", frame), frame, smooth=1)
    good, bad = bn.effects(x), bn.effects(x, target="bad")
    np.testing.assert_allclose(bad["bad"], -good["good"])
    assert (good["value"][0], bad["value"][0]) == ("bad", "good")
    again = bn.from_effects(bad)
    np.testing.assert_allclose(
        bn.predict(again, car, prob=True)["bad"], bn.predict(x, car, prob=True)["bad"], atol=1e-12
    )
    with pytest.raises(ValueError, match="target must be one of 'bad', 'good'; got 'worst'"):
        bn.effects(x, target="worst")
    with pytest.raises(ValueError, match="target must be None for more than two classes"):
        bn.effects(bn.lp(bn.nb("class", car), car, smooth=1), target="acc")


def test_reasons_for_one_of_several_classes(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    row = car.iloc[1727]
    table = bn.explain(x, row, target="vgood", against="acc", sort=True).drop("class")
    reasons = bn.explain(x, row, target="vgood", against="acc", sentences=True)
    assert reasons == [
        f"{name} = {row[name]}: the odds of 'vgood' against 'acc' are {round(ratio, 9):.2g} times as high"
        for name, ratio in table["odds_ratio"].head(3).items()
    ]
    pair = bn.explain(x, row, target="vgood", against=["acc", "good"], sentences=True)
    assert "odds of 'vgood' against acc or good are" in pair[0]
    alone = bn.explain(x, row, target="vgood", against=bn.classes(x), sentences=True)
    assert "the odds of 'vgood' are" in alone[0]


def test_cut_points_of_parents_have_readable_digits():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"size": rng.normal(size=200)})
    frame["mass"] = frame["size"] + rng.normal(0, 0.1, 200)
    frame["class"] = np.where(frame["size"] > 0.1, "yes", "no")
    x = bn.bnc("tan_cl", "class", frame, smooth=1, discretize="quantile", bins=3)
    [parents] = set(bn.explain(x, frame.iloc[0])["parents"]) - {""}
    [(child, parent)] = [(f, p) for f, (p,) in ((f, p) for f, p in x.feature_parents.items() if p)]
    points = x.preparation.discretizer.cuts[parent]
    ends = ["-inf", *(f"{round(point, 4):g}" for point in points), "inf"]
    code = int(np.searchsorted(points, frame[parent].iloc[0]))
    assert parents.startswith(f"{parent} = ({ends[code]}, {ends[code + 1]}")
    axes = bn.plot_effect(x, child)
    legend = {text.get_text() for text in axes.get_legend().get_texts()}
    assert {f"{parent} = {label}" for label in x.written_levels(parent)} <= legend
    assert "yes" in axes.get_ylabel()


@pytest.mark.slow
@informative_gaps
@given(fitted(), st.data())
def test_main_effects_are_those_of_marginal_distributions(model, data):
    x, frame = model
    row = frame.iloc[[data.draw(st.integers(0, len(frame) - 1))]]
    target, *others = data.draw(st.permutations(bn.classes(x)))
    against = others[: data.draw(st.integers(1, len(others)))]
    found = bn.explain(x, row, target=target, against=against, interactions=True)["log_odds"]
    before = bn.explain(x, row, target=target, against=against)["log_odds"]
    assert found.sum() == pytest.approx(before.sum(), abs=1e-9)
    assert found["class"] == before["class"]
    parents = {} if len(bn.members(x)) > 1 else bn.feature_families(x)
    prior = bn.query(x, "class")
    for name in bn.features(x):
        if parents and not any(v in bn.features(x) for v in parents[name][1:]):
            assert found[name] == before[name]
        elif pd.isna(row[name].iloc[0]):
            assert found[name] == 0
        else:
            joint = bn.query(x, ["class", name])[:, row[name].iloc[0]]
            odds = joint[target] / joint[against].sum() / (prior[target] / prior[against].sum())
            assert found[name] == pytest.approx(np.log(odds), abs=1e-9)
    scopes = [label for label in found.index if isinstance(label, tuple)]
    families = [[v for v in bn.features(x) if v in family] for family in parents.values()]
    assert sorted(map(list, scopes)) == sorted(f for f in families if len(f) > 1)
    assert ("(rest)" in found.index) == (len(bn.members(x)) > 1)


def test_two_roots_of_a_tree_have_one_explanation(car):
    trees = [bn.lp(bn.tan_cl("class", car, root=root), car, ess=1) for root in car.columns[:-1]]
    first, *others = [bn.explain(tree, car.iloc[::50], interactions=True)["log_odds"] for tree in trees]
    as_arcs = [bn.explain(tree, car.iloc[::50])["log_odds"] for tree in trees]
    assert max(abs(table - as_arcs[0]).max() for table in as_arcs) > 1
    for table in others:
        assert len(table) == len(first)
        np.testing.assert_allclose(table.loc[first.index], first, rtol=0, atol=1e-12)
    pair = ("persons", "safety")  # the difference of the pointwise mutual information
    query = [bn.query(trees[0], list(pair), {"class": c})["more", "high"] for c in ("vgood", "acc")]
    alone = [
        bn.query(trees[0], v, {"class": c})[value]
        for c in ("vgood", "acc")
        for v, value in zip(pair, ("more", "high"), strict=True)
    ]
    ratios = np.log(query) - np.log([alone[0] * alone[1], alone[2] * alone[3]])
    found = bn.explain(trees[0], car.iloc[1727], target="vgood", against="acc", interactions=True)
    assert found.index.name == "variable"
    assert found["log_odds"].to_dict()[pair] == pytest.approx(ratios[0] - ratios[1])
    assert found["value"].to_dict()[pair] == ("more", "high")
    assert "parents" not in found


def by_variable(x, rows, **options):
    """Return the contributions of rows, one column per variable and interaction."""
    found = bn.explain(x, rows, **options)["log_odds"]
    labels = pd.Index(found.loc[rows.index[0]].index.tolist(), tupleize_cols=False)
    return pd.DataFrame(found.to_numpy().reshape(len(rows), -1), rows.index, labels)


def test_weights_apply_to_the_table_without_parents(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1, held_out="weights")
    y = bn.lp(bn.nb("class", car), car, smooth=1)
    weights = bn.feature_weights(x)
    rows = car.iloc[::100]
    found = by_variable(x, rows, target="vgood", against="acc", interactions=True)
    alone = by_variable(y, rows, target="vgood", against="acc")
    names = list(bn.features(x))
    np.testing.assert_allclose(found[names], alone[names] * weights[names], atol=1e-9)
    gaps = rows.assign(safety=None, doors=None)
    table = by_variable(x, gaps, target="vgood", against="acc", interactions=True)
    assert (table[["safety", "doors"]] == 0).all(axis=None)
    parents = [name for name in names if len(bn.families(x)[name]) > 2 and name not in ("safety", "doors")]
    np.testing.assert_allclose(table[parents], found[parents], atol=1e-9)


def test_interactions_of_the_default_belong_to_the_features_on_which_they_depend():
    pima = bn.load_pima().head(400)
    x = bn.bnc(class_var="diabetes", dataset=pima, pairs=[("glucose", "bmi"), ("age", "bmi")])
    rows = pima.dropna().sample(40, random_state=0)
    found = by_variable(x, rows, target="yes", interactions=True)
    changed = rows.assign(glucose=rows["glucose"] + 40)
    other = by_variable(x, changed, target="yes", interactions=True)
    for label in found:
        is_same = np.allclose(found[label], other[label], atol=1e-9)
        assert is_same == ("glucose" not in (label if isinstance(label, tuple) else (label,))), label
    p = bn.predict(x, rows, prob=True)
    np.testing.assert_allclose(found.sum(axis=1), np.log(p["yes"] / p["no"]), atol=1e-9)


def test_interactions_of_an_average_leave_the_prior(car):
    x, rows = bn.lp(bn.aode("class", car), car, smooth=1), car.iloc[::300]
    found = by_variable(x, rows, target="vgood", against="acc", interactions=True)
    whole = by_variable(x, rows, target="vgood", against="acc")
    np.testing.assert_allclose(found["class"], whole["class"], atol=1e-12)


def test_interactions_of_other_models(car):
    dn = bn.lp(bn.chisq_dn("class", car, alpha=0.9), car, smooth=1)
    parts = bn.explain(dn, car.head(), interactions=True)["log_odds"].groupby(level=0).sum()
    whole = bn.explain(dn, car.head())["log_odds"].groupby(level=0).sum()
    np.testing.assert_allclose(parts, whole, atol=1e-9)
    some = bn.lp(bn.mbc(["class", "safety"], car), car, smooth=1)
    found = bn.explain(some, car.head(), class_var="class", interactions=True)["log_odds"]
    sums = bn.explain(some, car.head(), class_var="class")["log_odds"].groupby("row").sum()
    np.testing.assert_allclose(found.groupby("row").sum(), sums)
    text = bn.explain(
        bn.lp(bn.kdb_mi("class", car), car, smooth=1), car.iloc[1727], interactions=True, sentences=True
    )
    assert any(reason.startswith("buying = low, persons = more, safety = high: the odds") for reason in text)


def test_features_add_nothing_where_both_classes_are_impossible_without_later_ones():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.integers(0, 9, 60).astype(str) for name in "abc"})
    frame["class"] = np.where(frame["a"] < "4", rng.choice(list("pq"), 60), "r")
    x = bn.bnc("ande", "class", frame, smooth=0, dag_args={"min_count": 1})
    row = {"a": "2", "b": "4", "c": "5"}
    assert bn.predict(x, row, prob=True).iloc[0].tolist() == [0, 1, 0]
    assert bn.explain(x, row)["log_odds"].tolist()[2:] == [0, np.inf]
