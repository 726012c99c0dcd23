"""Tables so simple that counting gives the answer: the default recipe does not lose to it."""

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import bnclassify as bn

from .estimators import BNCClassifier
from .strategies import examples

CLASSES = ("no", "yes", "maybe")


@st.composite
def cells_of_tables(draw):
    """Draw the numbers of rows ``n`` of all cells of one to four columns and the class.

    They are multiples of a small number, so that tables with exact symmetries and empty cells are drawn too.
    """
    cards = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    classes = CLASSES[: draw(st.integers(2, 3))]
    levels = [list("uvw")[:card] for card in cards]
    names = [f"x{i}" for i in range(len(cards))]
    cells = pd.MultiIndex.from_product([*levels, classes]).to_frame(index=False, name=[*names, "y"])
    counts = st.sampled_from([0, 0, 1, 2, 3, 10, 30])
    n = draw(st.lists(counts, min_size=len(cells), max_size=len(cells)))
    return cells.assign(n=np.multiply(n, draw(st.sampled_from([1, 5]))))


def rows_of(cells):
    return cells.loc[cells.index.repeat(cells["n"])].drop(columns="n").reset_index(drop=True)


def of_own_class(model, cells):
    p = bn.predict(model, cells.drop(columns=["y", "n"]), prob=True, unseen="missing")
    return p.to_numpy()[np.arange(len(cells)), [list(p.columns).index(label) for label in cells["y"]]]


@pytest.mark.filterwarnings("ignore")
@given(cells_of_tables())
@examples(25)
def test_the_default_does_not_lose_to_counting(cells):
    """A sum of effects and pairs can have the probabilities that are counted by any two columns.

    It cannot have those that are counted by three or more columns together, so these are no bound. On the
    rows, 2 (ln P̂ − ln P) of counting is χ² with as many degrees of freedom as it has parameters: half of its
    99.99 % quantile is what counting gains by its choice of the parameters, and is no loss on other rows.
    """
    cells = cells[cells["n"] > 0]
    if cells["y"].nunique() < 2 or cells["n"].sum() < 40:  # effects of n rows are multiplied by n / (n + 20)
        return
    features = [name for name in cells if name not in ("y", "n")]
    model = bn.bnc(class_var="y", dataset=rows_of(cells))
    loss = -float(cells["n"] @ np.log(of_own_class(model, cells)))
    for some in combinations(features, min(2, len(features))):
        n = cells.groupby([*some, "y"])["n"].sum()
        totals = n.groupby(level=some)
        best = -float(n @ np.log(n / totals.transform("sum")))
        assert loss - best < chi2.ppf(0.9999, totals.ngroups * (cells["y"].nunique() - 1)) / 2


@pytest.mark.filterwarnings("ignore")
def test_the_default_sees_a_cell_of_one_class():
    """All five rows of (u, u) are "yes". The first fold has one of them, too few for a power of parents."""
    counts = {"uun": 0, "uuy": 5, "uvn": 150, "uvy": 10, "uwn": 5, "uwy": 10, "vvn": 150, "vwn": 50}
    counts |= {"vwy": 5, "wun": 50, "wuy": 15, "wvn": 150, "wvy": 150}
    cells = pd.DataFrame([[*cell, n] for cell, n in counts.items()], columns=["x0", "x1", "y", "n"])
    model = bn.bnc(class_var="y", dataset=rows_of(cells))
    assert bn.predict(model, pd.DataFrame({"x0": ["u"], "x1": ["u"]}), prob=True)["y"].item() > 0.3


def test_a_good_test_of_a_rare_disease():
    disease = ["ill", "ill", "well", "well"]
    cells = pd.DataFrame({"test": ["pos", "neg"] * 2, "disease": disease, "n": [90, 10, 20, 880]})
    rows = cells.loc[cells.index.repeat(cells["n"]), ["test", "disease"]]
    new = pd.DataFrame({"test": ["pos", "neg"]})
    by_counting = np.array([90 / 110, 10 / 890])
    n = np.array([110, 890])
    models = [
        bn.bnc(class_var="disease", dataset=rows),
        bn.bnc(class_var="disease", dataset=bn.encode(cells, weights="n", weights_are="frequencies")),
        BNCClassifier().fit(cells[["test"]], cells["disease"], sample_weight=cells["n"]).model_,
    ]
    for model in models:
        p = bn.predict(model, new, prob=True)["ill"].to_numpy()
        assert (np.abs(p - by_counting) < 2 * np.sqrt(by_counting * (1 - by_counting) / n)).all()
    facts = bn.summary(models[0]).set_index("item")["value"]
    assert facts["rows"] == 1000


@pytest.mark.parametrize("rule", ["column", "three", "xor", "exact xor"])
@pytest.mark.filterwarnings("ignore:.* alone predicts the class")
def test_a_class_that_follows_from_columns(rule):
    rng = np.random.default_rng(0)
    a, b = rng.choice(["u", "v"], 1000), rng.choice(["p", "q"], 1000)
    if rule == "exact xor":
        a, b = np.repeat(["u", "v"], 500), np.tile(["p", "q"], 500)
    frame = {
        "column": lambda: pd.DataFrame({"a": a, "y": np.where(a == "u", "yes", "no")}),
        "three": lambda: pd.DataFrame({"a": (c := rng.choice(list("klm"), 1000)), "y": c}),
    }.get(rule, lambda: pd.DataFrame({"a": a, "b": b, "y": np.where((a == "u") ^ (b == "p"), "yes", "no")}))()
    model = bn.bnc(class_var="y", dataset=frame)
    assert (bn.predict(model, frame) == frame["y"]).all()
    assert -bn.cloglik(model, frame) / 1000 < 0.02


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["text", "numbers", "weights"])
def test_columns_that_are_never_known_together(seed, kind):
    rng = np.random.default_rng(seed)
    first = np.arange(200) < 100
    answers = rng.normal(size=200) if kind == "numbers" else rng.choice(["yes", "no"], 200)
    answers = pd.Series(answers)
    frame = pd.DataFrame({
        "sex": np.where(first, "f", "m"), "pregnant": answers.where(first), "prostate": answers.where(~first),
        "y": rng.choice(["no", "yes"], 200),
    })  # fmt: skip
    features = frame.drop(columns="y")
    weights = np.linspace(0.5, 2, 200) if kind == "weights" else None
    p = BNCClassifier().fit(features, frame["y"], sample_weight=weights).predict_proba(features)
    loss = -np.log(p[np.arange(200), (frame["y"] == "yes").astype(int)]).mean()
    assert loss < np.log(2) + 0.02  # nothing is learned, and nothing made up


@pytest.mark.filterwarnings("ignore:no feature:UserWarning")
def test_an_empty_column_beside_a_constant_one():
    rng = np.random.default_rng(0)
    useful = rng.choice(["a", "b"], 100)
    frame = pd.DataFrame(
        {"empty": None, "constant": "k", "useful": useful, "y": np.where(useful == "a", "s", "t")}
    )
    frame = frame.astype({"empty": object})
    for columns in (["empty", "constant", "useful", "y"], ["empty", "constant", "y"]):
        rows = frame[columns]
        model = bn.bnc(class_var="y", dataset=rows)
        p = bn.predict(model, rows.drop(columns="y"), prob=True)
        assert np.isfinite(p.to_numpy()).all()
        assert ("useful" in columns) == ((bn.predict(model, rows) == rows["y"]).mean() == 1)


# What is fitted is what predicts


@pytest.mark.filterwarnings("ignore:Missingness of")
def test_informative_gaps_are_predicted_as_they_were_fitted():
    r = np.random.default_rng(0)
    n = 2000
    y = r.random(n) < 0.25
    size = r.choice(["a", "b"], n).astype(object)
    size[r.random(n) < np.where(y, 0.8, 0.2)] = None
    frame = pd.DataFrame({"size": size, "y": np.where(y, "yes", "no")})
    gap = frame["size"].isna()
    model = bn.bnc(class_var="y", dataset=frame)
    p = bn.predict(model, frame, prob=True)["yes"]
    for rows in (gap, ~gap):
        error = np.sqrt(y[rows].mean() * (1 - y[rows].mean()) / rows.sum())
        assert p[rows].mean() == pytest.approx(y[rows].mean(), abs=2 * error)
    with_level = bn.bnc(class_var="y", dataset=frame, missing_level=True)
    assert -bn.cloglik(model, frame) / n < -bn.cloglik(with_level, frame) / n + 0.001


def people(n=300, seed=0):
    """Make numbers, whole numbers that repeat, categories and gaps."""
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=n)
    frame = pd.DataFrame({
        "income": rng.lognormal(label / 3, 1, n),
        "age": rng.normal(40 + 6 * label, 12, n).round(),
        "rooms": rng.integers(1, 5, n) + (label == 1),
        "city": np.array(["Bonn", "Köln", "Ulm", "Kiel"])[(label + rng.integers(3, size=n)) % 4],
        "flag": rng.choice(["on", "off"], n),
    })  # fmt: skip
    frame["city"] = frame["city"].mask(rng.random(n) < 0.1)
    frame["income"] = frame["income"].mask(rng.random(n) < 0.15 * (1 + label))
    return frame.assign(y=np.array(["low", "mid", "top"])[label])


CHANGES = {
    "columns": lambda f: f.rename(
        columns={"income": "zz", "age": "a1", "rooms": "Räume", "city": "m", "y": "aa"}
    ),
    "classes": lambda f: f.assign(y=f["y"].map({"low": "z", "mid": "a", "top": "m"})),
    "levels": lambda f: f.assign(
        city=f["city"].map({"Bonn": "z", "Köln": "y", "Ulm": "x", "Kiel": "w"}), flag=f["flag"] == "on"
    ),
    "rows": lambda f: f.sample(frac=1, random_state=1),
    "order of columns": lambda f: f[list(reversed(f.columns))],
    "units": lambda f: f.assign(income=f["income"] / 1024, age=f["age"] * 1024),
}


@cache
def people_and_posteriors():
    frame = people()
    return frame, bn.predict(bn.bnc(class_var="y", dataset=frame), frame, prob=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Missingness of")
@pytest.mark.parametrize("change", CHANGES)
def test_names_units_and_order_do_not_matter(change):
    frame, expected = people_and_posteriors()
    other = CHANGES[change](frame)
    names = {"z": "low", "a": "mid", "m": "top"} if change == "classes" else {}
    model = bn.bnc(class_var="aa" if change == "columns" else "y", dataset=other)
    found = bn.predict(model, other.loc[frame.index], prob=True).rename(columns=names)
    np.testing.assert_allclose(found[["low", "mid", "top"]], expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_names_of_classes_and_levels_that_can_be_exchanged_together_do_not_matter():
    """The first class occurs with both levels, and each other class with one."""
    frame = pd.DataFrame({"x": [*"uuuvvv"], "y": ["no", "maybe", "maybe", "no", "yes", "yes"]})
    found = []
    for names in ({"u": "k", "v": "l"}, {"u": "l", "v": "k"}):
        for labels in ({"no": "c", "maybe": "d", "yes": "e"}, {"no": "c", "maybe": "e", "yes": "d"}):
            other = pd.DataFrame({"x": frame["x"].map(names), "y": frame["y"].map(labels)})
            posteriors = bn.predict(bn.bnc(class_var="y", dataset=other), other, prob=True)
            found.append(posteriors[[*labels.values()]].to_numpy())
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@given(cells_of_tables(), st.randoms())
@examples(15)
def test_names_and_order_of_simple_tables_do_not_matter(cells, rng):
    cells = cells[cells["n"] > 0]
    if cells["y"].nunique() < 2:
        return
    rows = rows_of(cells)
    features = rng.sample(list(rows.columns[:-1]), len(rows.columns) - 1)
    places = rng.sample(range(len(rows)), len(rows))
    names = dict(zip("uvw", rng.sample("klm", 3), strict=True))
    labels = dict(zip(CLASSES, rng.sample(["c", "d", "e"], 3), strict=True))
    other = rows.iloc[places][["y", *features]]
    other = other.assign(y=other["y"].map(labels), **{name: other[name].map(names) for name in features})
    expected = bn.predict(bn.bnc(class_var="y", dataset=rows), rows, prob=True).rename(columns=labels)
    found = bn.predict(bn.bnc(class_var="y", dataset=other), other.sort_index(), prob=True)
    np.testing.assert_allclose(found[expected.columns], expected, atol=1e-6)


def test_a_few_repeated_rows_do_not_discount_others():
    def make(n, seed):
        r = np.random.default_rng(seed)
        X = pd.DataFrame({f"x{i}": r.normal(size=n) for i in range(6)})
        return X.assign(y=np.where(X["x0"] + X["x1"] * X["x2"] + 0.5 * r.normal(size=n) > 0, "a", "b"))

    train, test = make(600, 0), make(2000, 1)
    repeated = pd.concat([train, *[train.iloc[:5]] * 20], ignore_index=True)
    with pytest.warns(UserWarning, match="100 of 700 rows equal an earlier row"):
        model = bn.bnc(class_var="y", dataset=repeated)
    plain = bn.bnc(class_var="y", dataset=train)
    assert bn.summary(model).set_index("item")["value"]["rows"] == 700
    assert -bn.cloglik(model, test) / 2000 < -bn.cloglik(plain, test) / 2000 + 0.03


def test_a_whole_number_that_did_not_occur_is_read_as_the_nearest():
    r = np.random.default_rng(0)
    X = pd.DataFrame({"rooms": r.choice([1, 2, 3, 4, 6], 2000), "area": r.normal(size=2000)})
    y = np.where(2 * X["rooms"] + X["area"] + r.normal(size=2000) > 7, "hi", "lo")
    model = BNCClassifier().fit(X, y)
    p = model.predict_proba(pd.DataFrame({"rooms": [6, 7, 12, 5.4, 1, 0, -3, 2, 2.4], "area": 0.0}))[:, 0]
    assert p[0] > 0.95
    assert p[5] < 0.1
    assert (np.diff(p[[0, 1, 2]]) > -1e-3).all()
    codes = model.discretizer_(pd.DataFrame({"rooms": [6, 7, 12, 5.4, 1, 0, -3, 2, 2.4], "area": 0.0}))[
        "rooms"
    ]
    assert codes.cat.codes.tolist() == [4, 4, 4, 4, 0, 0, 0, 1, 1]


def test_weights_that_sum_to_one_are_told():
    car = bn.load_car()
    X, y = car.drop(columns="class"), car["class"]
    constant = BNCClassifier("nb", smooth=1).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    plain = BNCClassifier("nb", smooth=1).fit(X, y)
    np.testing.assert_allclose(constant.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("weights", "numbers"),
    [
        ("1 to 20", False),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [("5", False), ("lognormal", True)]),
    ],
)
def test_sample_weights_do_not_make_a_model_overconfident(weights, numbers):
    """The units of a row do not predict each other: a row with a number is one case."""
    rng = np.random.default_rng(0)

    def draw(n):
        Z = rng.normal(size=(n, 4)) if numbers else rng.integers(0, 3, (n, 4))
        slope = Z[:, 0] if numbers else Z[:, 0] - 1
        X = pd.DataFrame(Z if numbers else Z.astype(str)).rename(columns="x{}".format)
        return X, 1 / (1 + np.exp(-slope))

    (X, p), (test, truth) = draw(500), draw(2000)
    y = (rng.random(500) < p).astype(int)
    w = {
        "1 to 20": rng.integers(1, 21, 500), "5": np.full(500, 5),
        "lognormal": rng.lognormal(size=500),
    }[weights]  # fmt: skip

    def excess(model):
        q = model.predict_proba(test)[:, 1]
        return float((truth * np.log(truth / q) + (1 - truth) * np.log((1 - truth) / (1 - q))).mean())

    plain = BNCClassifier().fit(X, y)
    meaning = None if numbers or weights == "lognormal" else "cases"
    weighted = BNCClassifier(weights_are=meaning).fit(X, y, sample_weight=w)
    if np.ptp(w) == 0:
        np.testing.assert_allclose(weighted.predict_proba(test), plain.predict_proba(test), atol=1e-9)
    size = w.sum() ** 2 / (w**2).sum()
    assert excess(weighted) < excess(plain) * 500 / size + 0.01


@pytest.mark.slow
def test_the_seed_changes_nothing_in_the_default():
    frame = people(200)
    X, y = frame.drop(columns="y"), frame["y"]
    first, *others = [BNCClassifier(random_state=seed).fit(X, y).predict_proba(X) for seed in (None, 0, 1)]
    for p in others:
        np.testing.assert_array_equal(first, p)


def scales(n, seed):
    """Make series of different scales, each with its values from 0 to 1 beside it."""
    rng = np.random.default_rng(seed)
    label = rng.integers(4, size=n)
    share = rng.random(n)
    low, width = np.array([500, 2e5, 2, 2700])[label], np.array([12000, 1e5, 15, 12000])[label]
    names = np.array(["spent", "people", "saved", "jobs"])[label]
    return pd.DataFrame({"value": low + width * share, "share": share, "series": names})


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_member_counts_negatively(seed):
    """A density of small variance has log odds of thousands far away, whose negative part is no evidence."""
    model = bn.bnc(class_var="series", dataset=scales(500, seed))
    new = scales(1000, seed + 10)
    assert -bn.cloglik(model, new) / 1000 < 0.25
    people = new[new["series"] == "people"]
    assert (bn.predict(model, people) == "people").all()
