"""Any question to a joint distribution, against enumeration."""

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify import elimination

from .oracles import joint_by_hand
from .strategies import examples, frames, graphs, networks
from .zoo import some_car

KINDS = ["general", "augmented", "aode", "ensemble"]


def fitted(kind, data, frame):
    structure = {
        "general": lambda: data.draw(graphs(frame)),
        "augmented": lambda: data.draw(networks(frame)),
        "aode": lambda: bn.aode("class", frame),
        "ensemble": lambda: bn.Ensemble((data.draw(graphs(frame)), data.draw(networks(frame))), (3, 1)),
    }[kind]()
    return bn.lp(structure, frame, smooth=data.draw(st.sampled_from([0.1, 1.0])))


def whole_table(x):
    """P of every combination of all variables."""
    names = x.variables
    index = pd.MultiIndex.from_product([bn.values(x)[v] for v in names], names=names)
    members = bn.members(x)
    weights = np.asarray(getattr(x, "weights", None) or np.ones(len(members)), dtype=float)
    weights /= weights.sum()
    rows = [pd.Series(values, index=names) for values in index]
    joint = [weights @ [joint_by_hand(m, row, row["class"]) for m in members] for row in rows]
    return pd.Series(joint, index=index)


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@examples(25)
def test_queries_equal_enumeration(kind, data):
    frame = data.draw(frames(max_rows=15, max_features=3))
    x = fitted(kind, data, frame)
    names = data.draw(st.permutations(x.variables))
    asked = names[: data.draw(st.integers(1, len(names)))]
    given_ = names[len(asked) : data.draw(st.integers(len(asked), len(names)))]
    evidence = {v: data.draw(st.sampled_from(bn.values(x)[v])) for v in given_}
    table = whole_table(x)
    for v, label in evidence.items():
        table = table[table.index.get_level_values(v) == label]
    expected = table.groupby(level=list(asked), sort=False, observed=True).sum()
    found = bn.query(x, list(asked), evidence or None)
    assert list(found.index.names) == list(asked)
    assert found.sum() == pytest.approx(1)
    labels = list(product(*(bn.values(x)[v] for v in asked)))
    assert list(found.index) == ([label for (label,) in labels] if len(asked) == 1 else labels)
    np.testing.assert_allclose(found, (expected / expected.sum()).reindex(found.index), rtol=1e-9)


def test_queries_agree_with_predictions(car):
    x = bn.lp(bn.hc("class", car), car, smooth=1)
    row = car.iloc[5, :-1]
    np.testing.assert_allclose(bn.query(x, "class", row), bn.predict(x, car.iloc[[5]], prob=True).iloc[0])
    told = row.to_dict() | {"doors": None}
    by_dict = bn.query(x, "class", told)
    unknown = car.iloc[[5]].assign(doors=pd.NA)
    np.testing.assert_allclose(by_dict, bn.predict(x, unknown, prob=True).iloc[0])
    assert by_dict.name == "probability"
    shares = car["safety"].value_counts(normalize=True)
    np.testing.assert_allclose(bn.query(x, "safety"), shares[list(bn.values(x)["safety"])], atol=1e-2)
    tables = bn.query(x, "lug_boot", {"class": "good"})
    np.testing.assert_allclose(tables, bn.cpt(x, "lug_boot")["good"])


def test_queries_of_wide_networks():
    """The model marginalizes over more features than an array may have dimensions."""
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(90)]
    frame = pd.DataFrame(rng.integers(0, 2, (60, 90)), columns=names).assign(
        **{"class": rng.integers(0, 2, 60)}
    )
    frame = frame.astype("category")
    parents = {names[i]: [names[i - 1], names[i - 2]] for i in range(2, 90)}
    x = bn.lp(bn.anb("class", parents, frame), frame, smooth=1)
    tables = bn.params(x)
    pair = tables["x0"][:, None, :] * tables["x1"][None, :, :]  # x0, x1, class
    for name in names[2:]:
        pair = np.einsum("abc,dbac->bdc", pair, tables[name])
    expected = np.einsum("bdc,c->d", pair, tables["class"])
    np.testing.assert_allclose(bn.query(x, "x89"), expected, rtol=1e-9)
    assert bn.impute(x, frame.head(2).assign(**dict.fromkeys(names, pd.NA))).notna().all(axis=None)


def many_levels(cards, arcs):
    """A network with random tables, whose last variable is the class."""
    rng, names = np.random.default_rng(0), [f"v{i}" for i in range(len(cards))]
    parents = [[a for a, b in arcs if b == i] for i in range(len(cards))]
    families = tuple([(names[i], *[names[p] for p in ps]) for i, ps in enumerate(parents)])
    tables = [
        rng.dirichlet(np.ones(card), [cards[p] for p in ps]) for card, ps in zip(cards, parents, strict=True)
    ]
    cpts = tuple([np.moveaxis(table, -1, 0) for table in tables])
    return bn.BNC(names[-1], families, tuple([tuple(map(str, range(card))) for card in cards]), cpts)


def test_queries_need_only_what_they_depend_on(monkeypatch):
    """What the variables and the evidence do not descend from sums to 1, the class included."""
    x = many_levels([9, 8, 7, 6, 5], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    first, second = x.cpts[0], x.cpts[1]
    monkeypatch.setattr(elimination, "MAX_CELLS", 9 * 8)
    np.testing.assert_allclose(bn.query(x, "v1"), second @ first, rtol=1e-12)
    given_first = bn.query(x, ["v1", "v2"], {"v0": "3"}).to_numpy().reshape(8, 7)
    np.testing.assert_allclose(given_first, np.outer(second[:, 3], x.cpts[2][:, 3]), rtol=1e-12)
    with pytest.raises(ValueError, match="cells, more than 72"):
        bn.query(x, "v4")


def test_a_variable_takes_the_place_of_the_class():
    """The joint distribution stays, with the class as a feature, and the way back gives the same model."""
    x = many_levels([2, 3, 4, 5], [(0, 1), (0, 3), (1, 3), (3, 2)])
    for v in range(3):
        other = x.with_class_exchanged(v)
        assert (other.class_var, other.features[v]) == (f"v{v}", "v3")
        back = other.with_class_exchanged(v)
        assert (back.families, back.levels) == (x.families, x.levels)
        assert all(map(np.array_equal, back.cpts, x.cpts))
    assert bn.lp(bn.aode("class", some_car()), some_car(), smooth=1).with_class_exchanged(0) is None


def test_queries_without_an_answer(car, monkeypatch):
    x = bn.lp(bn.nb("class", car), car, smooth=0)
    monkeypatch.setattr("bnclassify.questions.query._MOST_CELLS", 100)
    with pytest.raises(ValueError, match="joint distribution of fewer cells; got 192"):
        bn.query(x, ["buying", "maint", "persons", "class"])
    monkeypatch.setattr("bnclassify.tools.arrays.BLOCK_CELLS", 10)
    in_blocks = bn.query(x, ["doors", "safety"])
    monkeypatch.undo()
    pd.testing.assert_series_equal(in_blocks, bn.query(x, ["doors", "safety"]))


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_distribution(kind):
    x, n = small_model(kind), 200_000
    drawn = bn.sample(x, n, rng=0)
    assert list(drawn) == list(x.variables)
    assert all(tuple(drawn[v].cat.categories) == bn.values(x)[v] for v in drawn)
    assert drawn.equals(bn.sample(x, n, rng=0))
    check_shares(drawn, bn.query(x, list(x.variables)))


def small_model(kind):
    """A model of three features and the class whose joint distribution has 48 cells."""
    rng = np.random.default_rng(3)
    labels = [["u", "v"], ["r", "s", "t"], ["x", "y"], ["p", "q"]]
    columns = zip(["a", "b", "d", "class"], labels, strict=True)
    frame = pd.DataFrame({name: pd.Categorical(rng.choice(own, 30), own) for name, own in columns})
    structure = {
        "general": lambda: bn.from_modelstring("[a][class|a][b|a:class][d|b]", "class"),
        "augmented": lambda: bn.tan_cl("class", frame),
        "aode": lambda: bn.aode("class", frame),
        "ensemble": lambda: bn.Ensemble((bn.nb("class", frame), bn.tan_cl("class", frame)), (3, 1)),
    }[kind]()
    return bn.lp(structure, frame, smooth=1)


def check_shares(drawn, expected):
    """Shares of rows are within five standard errors of their probabilities, and impossible ones absent."""
    shares = drawn.value_counts(normalize=True)
    assert set(shares[shares > 0].index) <= set(expected.index)
    error = np.sqrt(expected * (1 - expected) / len(drawn))
    assert (np.abs(shares.reindex(expected.index, fill_value=0) - expected) <= 5 * error).all()


EVIDENCE = [
    {"d": "x"},
    {"class": "q", "b": "s"},
    {"b": ["r", "t"], "a": "u"},
    {"b": {"r": 0.2, "t": 3.0}, "class": {"p": 1, "q": 5}, "d": None},
]


def given_evidence(x, evidence):
    """The joint distribution of all variables given evidence: a label, some labels, or likelihoods."""
    joint = bn.query(x, list(x.variables))
    for name, value in evidence.items():
        likelihoods = value if isinstance(value, dict) else dict.fromkeys(value or bn.values(x)[name], 1.0)
        own = [likelihoods.get(label, 0.0) for label in joint.index.get_level_values(name)]
        joint = joint * own
    return joint / joint.sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("evidence", EVIDENCE, ids=["feature", "class", "set", "likelihoods"])
def test_queries_given_evidence_are_conditional(kind, evidence):
    x = small_model(kind)
    others = [name for name in x.variables if evidence.get(name) is None]
    found = bn.query(x, others, evidence)
    expected = given_evidence(x, evidence).groupby(level=others, sort=False).sum()
    np.testing.assert_allclose(found, expected.reindex(found.index), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("evidence", EVIDENCE, ids=["feature", "class", "set", "likelihoods"])
def test_samples_given_evidence_have_its_distribution(kind, evidence):
    x = small_model(kind)
    expected = given_evidence(x, evidence)
    drawn = bn.sample(x, 100_000, evidence=evidence, rng=0)
    assert all(tuple(drawn[v].cat.categories) == bn.values(x)[v] for v in drawn)
    check_shares(drawn, expected)
    assert drawn.head(5).equals(bn.sample(x, 100_000, evidence=pd.Series(evidence), rng=0).head(5))


def test_evidence_on_numbers_and_odd_evidence(car):
    pima = bn.load_pima()
    for settings in ({"discretize": "mdlp"}, {"numbers": "gaussian"}):
        x = bn.bnc("tan_cl", "diabetes", pima, smooth=1, **settings)
        drawn = bn.sample(x, 40_000, evidence={"glucose": 160, "age": 33.5}, rng=0)
        assert (drawn["glucose"] == 160).all()
        assert (drawn["age"] == 33.5).all()
        share = bn.query(x, "diabetes", {"glucose": 160, "age": 33.5})["yes"]
        assert (drawn["diabetes"] == "yes").mean() == pytest.approx(share, abs=0.013)
        assert drawn["bmi"].nunique() > 1000
    y = bn.lp(bn.nb("class", car), car, smooth=0)
    assert bn.sample(y, 0, evidence={"class": "acc"}).shape == (0, 7)


def test_completions_have_a_limit_and_a_name(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    rows = car.assign(doors=None)
    with pytest.raises(ValueError, match=r"draws must be a whole number from 1 to 22,192; got 1000000"):
        bn.impute(x, rows, draws=1_000_000)
    named = rows.head(2).rename_axis("draw")
    with pytest.raises(ValueError, match=r"an index named 'draw'.* \.rename_axis"):
        bn.impute(x, named, draws=2, rng=0)
    assert bn.impute(x, named.rename_axis("row"), draws=2, rng=0).index.names == ["draw", "row"]
    assert bn.impute(x, named).index.name == "draw"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_completions_are_drawn_from_the_posterior_of_each_row(kind):
    x, n = small_model(kind), 100
    rows = pd.DataFrame(
        {"a": ["u", None, None], "b": [None, "s", None], "d": [None, None, "y"], "class": ["p", None, None]},
        index=["k", "l", "m"],
    )
    drawn = bn.impute(x, rows, draws=n, rng=0)
    assert drawn.index.names == ["draw", None]
    assert drawn.index[:4].tolist() == [(0, "k"), (0, "l"), (0, "m"), (1, "k")]
    few = [bn.impute(x, rows, draws=5, rng=0) for _ in range(2)]
    assert few[0].equals(few[1])
    without = bn.impute(x, rows[["b", "a", "d"]], draws=n, rng=1)
    assert list(without) == ["b", "a", "d"]
    for label, row in rows.iterrows():
        known = {name: value for name, value in row.items() if pd.notna(value)}
        unknown = [name for name in rows if name not in known]
        expected = bn.query(x, unknown, known)
        own = drawn.xs(label, level=1)
        assert (own[list(known)] == pd.Series(known)).all(axis=None)
        if len(unknown) == 1:
            expected.index = pd.MultiIndex.from_arrays([expected.index], names=unknown)
        check_shares(own[unknown], expected)
        known.pop("class", None)
        expected = bn.query(x, [name for name in "abd" if name not in known], known)
        if expected.index.nlevels > 1:
            check_shares(without.xs(label, level=1)[list(expected.index.names)], expected)


def test_draws_of_numbers_categories_and_bad_draws(voting):
    pima = bn.load_pima()
    for settings in ({"discretize": "mdlp"}, {"numbers": "gaussian"}):
        x = bn.bnc("nb", "diabetes", pima, smooth=1, **settings)
        drawn = bn.impute(x, pima, draws=3, rng=0)
        assert len(drawn) == 3 * len(pima)
        assert not drawn.isna().any(axis=None)
        known = pima["insulin"].notna()
        for draw in range(3):
            pd.testing.assert_series_equal(
                drawn.loc[draw, "insulin"][known], pima["insulin"][known], check_dtype=False
            )
        first, second = (drawn.loc[i, "insulin"][~known] for i in range(2))
        assert (first != second).mean() > 0.9
    y = bn.bnc("nb", "Class", voting, smooth=1, missing_level=False)
    drawn = bn.impute(y, voting, draws=2, rng=0)
    assert (drawn.dtypes == voting.dtypes).all()
    assert bn.impute(y, voting.iloc[:0], draws=2).empty


def test_samples_of_no_rows_and_refusals(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    assert bn.sample(x, 0).shape == (0, 7)
    zero = bn.lp(bn.nb("class", car), car, smooth=0)
    drawn = bn.sample(zero, 5_000, rng=1)
    assert np.isfinite(bn.loglik(zero, drawn))


def likeliest(x, row):
    """The probability of the best way to fill in a row."""
    missing = [v for v in x.variables if pd.isna(row[v])]
    choices = product(*(bn.values(x)[v] for v in missing))
    return max(probability(x, row, dict(zip(missing, filled, strict=True))) for filled in choices)


def probability(x, row, filled):
    whole = pd.Series({v: filled.get(v, row[v]) for v in x.variables}, dtype=object)
    members = bn.members(x)
    weights = np.asarray(getattr(x, "weights", None) or np.ones(len(members)), dtype=float)
    joints = [joint_by_hand(m, whole, whole["class"]) for m in members]
    return float(weights @ joints / weights.sum())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
@examples(25)
def test_what_is_filled_in_is_likeliest(kind, data):
    frame = data.draw(frames(max_rows=12, max_features=4))
    x = fitted(kind, data, frame)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    holes = frame.mask(rng.random(frame.shape) < data.draw(st.sampled_from([0.3, 1.0])))
    whole = bn.impute(x, holes)
    assert whole.notna().all(axis=None)
    pd.testing.assert_frame_equal(whole.where(holes.notna()), holes)
    for i in range(len(frame)):
        found = probability(x, whole.iloc[i], {})
        assert found == pytest.approx(likeliest(x, holes.iloc[i]), rel=1e-9)


def test_both_ways_to_fill_in_agree(voting, monkeypatch):
    x = bn.lp(bn.ban("Class", voting.dropna()), voting, smooth=1)
    few = voting[voting.isna().sum(axis=1).between(1, 4)].head(40)
    expected = bn.impute(x, few)
    monkeypatch.setattr("bnclassify.tools.arrays.BLOCK_CELLS", 16)
    pd.testing.assert_frame_equal(bn.impute(x, few), expected)
    alone = bn.Ensemble((x,))
    pd.testing.assert_frame_equal(bn.impute(alone, few), expected)
    without = bn.impute(x, few.drop(columns="Class"))
    assert "Class" not in without
    monkeypatch.setattr(elimination, "_MOST_COMBINATIONS", 2)
    with pytest.raises(ValueError, match="more than 2 combinations"):
        bn.impute(alone, few)


def test_ties_of_completed_rows_are_not_broken_by_rounding_errors():
    """The products .1 · .3 · .15 in two orders differ by a rounding error; the first value is chosen."""
    tables = [[0.5, 0.5], [[0.1, 0.15], [0.9, 0.85]], [[0.3, 0.3], [0.7, 0.7]], [[0.15, 0.1], [0.85, 0.9]]]
    levels = (("p", "q"), ("yes", "no"), ("yes", "no"), ("yes", "no"), ("only",))
    families = (("a",), ("b", "a"), ("c", "a"), ("d", "a"), ("class",))
    x = bn.BNC("class", families, levels, (*map(np.array, tables), np.ones(1)))
    first, second = (np.log(0.5) + np.log(b) + np.log(0.3) + np.log(d) for b, d in [(0.1, 0.15), (0.15, 0.1)])
    assert 0 <= second - first < 1e-14  # above 0 in most versions of NumPy
    row = pd.DataFrame({"a": [None], "b": ["yes"], "c": ["yes"], "d": ["yes"], "class": ["only"]})
    for model in (x, bn.Ensemble((x, x))):
        assert bn.impute(model, row)["a"].tolist() == ["p"]


def test_columns_keep_their_type_and_others_stay():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, 2, None, 1, 2, 1], dtype="Int64"),
            "t": ["a", "b", None, "a", "b", "a"],
            "o": np.array([True, False, None, True, False, True], dtype=object),
            "k": pd.Categorical(["x", "y", None, "x", "y", "x"], ["y", "x"], ordered=True),
            "date": pd.date_range("2020-01-01", periods=6),
            "c": ["p", "q", "p", "p", "q", "p"],
        },
        index=list("uvwxyz"),
    )
    levels = {"n": (1, 2), "t": ("a", "b"), "o": (False, True), "k": ("y", "x"), "c": ("p", "q")}
    x = bn.nb("c", features=["n", "t", "o", "k"])
    x = bn.lp(replace(x, levels=tuple(levels[v] for v in x.variables)), frame.dropna(), smooth=1)
    whole = bn.impute(x, frame)
    assert whole.dtypes.to_dict() == frame.dtypes.to_dict()
    assert whole.loc["w"].to_dict() == {
        "n": 1, "t": "a", "o": True, "k": "x", "date": frame.loc["w", "date"], "c": "p",
    }  # fmt: skip
    narrow = frame.assign(k=frame["k"].cat.remove_categories("x"))
    assert list(bn.impute(x, narrow)["k"].cat.categories) == ["y", "x"]
    assert frame.isna().sum().sum() == 4
    with pytest.raises(KeyError, match="frame"):
        bn.impute(x, frame.drop(columns="n"))
    with pytest.raises(TypeError, match="frame must be a pandas DataFrame"):
        bn.impute(x, frame.loc["u"])


def _measured(n=400):
    rng = np.random.default_rng(0)
    length = rng.normal(10, 2, n)
    labels = np.where(length + rng.normal(0, 1, n) > 10, "long", "short")
    return pd.DataFrame({"length": length, "colour": rng.choice(["red", "blue"], n), "y": labels})


def test_models_that_discretize_take_and_give_numbers():
    frame = _measured()
    x = bn.bnc("nb", "y", frame, smooth=1, discretize="quantile", bins=4)
    labels = bn.values(x)["length"]
    assert len(labels) == 4
    by_number = bn.query(x, "y", {"length": 12.5, "colour": "red"})
    pd.testing.assert_series_equal(by_number, bn.query(x, "y", {"length": labels[3], "colour": "red"}))
    posterior = bn.predict(x, {"length": 12.5, "colour": "red"}, prob=True).iloc[0]
    np.testing.assert_allclose(by_number, posterior)
    with pytest.raises(TypeError, match="evidence: column 'length' must be numeric; got text such as 'far'"):
        bn.query(x, "y", {"length": "far"})

    drawn = bn.sample(x, 5_000, rng=0)
    assert drawn["length"].between(frame["length"].min(), frame["length"].max()).all()
    shares = pd.cut(drawn["length"], [-np.inf, *x.preparation.discretizer.cuts["length"], np.inf])
    np.testing.assert_allclose(shares.value_counts(normalize=True, sort=False), 0.25, atol=0.03)
    assert bn.predict(x, drawn, prob=True).notna().all(axis=None)
    again = bn.lp(x, drawn, smooth=1)
    np.testing.assert_allclose(bn.params(again)["length"], bn.params(x)["length"], atol=0.05)

    gaps = frame.head(6).copy()
    gaps.loc[[0, 3], "length"] = np.nan
    gaps.loc[1, "colour"] = None
    filled = bn.impute(x, gaps)
    assert filled.notna().all(axis=None)
    codes = np.searchsorted(x.preparation.discretizer.cuts["length"], frame["length"])
    by_class = bn.cpt(x, "length").to_numpy().argmax(axis=0)
    for row in (0, 3):
        interval = by_class[list(bn.classes(x)).index(gaps.loc[row, "y"])]
        assert filled.loc[row, "length"] == pytest.approx(frame["length"][codes == interval].mean())
    assert filled.loc[[1, 2, 4, 5], "length"].equals(gaps.loc[[1, 2, 4, 5], "length"])


def test_means_of_intervals_are_weighted():
    frame = _measured(40)
    weights = np.arange(40) % 3
    repeated = frame.loc[frame.index.repeat(weights)]
    one = bn.discretize(frame, class_var="y", method="quantile", weights=weights)[1]
    other = bn.discretize(repeated, class_var="y", method="quantile")[1]
    assert one.ranges == other.ranges
    np.testing.assert_allclose(one.means[0], other.means[0])


def test_a_member_is_drawn_by_its_weight_and_its_evidence():
    """P(b | a = u) is the mean over members by weight times P(a = u | member)."""
    frame = pd.DataFrame({"a": list("uuvv"), "b": list("stst"), "c": list("yyyy")})
    weights = ([1, 1, 1, 1], [6, 2, 1, 1])
    structure = bn.nb("c", frame)
    members = [bn.lp(structure, bn.encode(frame, weights=w), smooth=0) for w in weights]
    x = bn.Ensemble(members, (1, 3))
    evidence = [1 * 0.5, 3 * 0.8]
    expected = (evidence[0] * 0.5 + evidence[1] * 0.7) / sum(evidence)
    drawn = bn.sample(x, 20_000, evidence={"a": "u"}, rng=0)
    assert (drawn["b"] == "s").mean() == pytest.approx(expected, abs=0.015)


def test_the_better_of_two_orders_is_chosen(monkeypatch):
    """The order with the smallest tables first is not always the best; compared with all orders."""
    arcs = [(3, 0), (4, 0), (4, 1), (5, 1), (5, 2), (5, 3)]
    card = dict(enumerate([7, 7, 7, 11, 5, 9]))

    def largest(order):
        near = {u: {v for arc in arcs if u in arc for v in arc} for u in card}
        cells = 1
        for u in order:
            joined = near.pop(u)
            cells = max(cells, math.prod(card[v] for v in joined))
            near |= {v: (near[v] | joined) - {u} for v in joined - {u}}
        return cells

    order, cells = elimination.plan_elimination(card, arcs, card)
    assert cells == largest(tuple(order)) == 7 * 11 * 9
    monkeypatch.setattr(elimination, "_LARGE_CELLS", 500)
    order, cells = elimination.plan_elimination(card, arcs, card)
    assert cells == largest(tuple(order)) == min(map(largest, permutations(card))) == 495
