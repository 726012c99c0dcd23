"""Effects of pairs of features in a sum of effects: chosen by held-out rows, pure, and exact everywhere."""

import io

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.additive import fit

PAIR = "a \N{MULTIPLICATION SIGN} b"


def crossed(n, rng, share=0.95):
    """Return rows whose class depends on two features together, and on a third one alone."""
    a, b = rng.normal(size=n), rng.choice(["u", "v", "w"], n)
    c, d = rng.normal(size=n), rng.choice(["x", "y"], n)
    together = (a > 0) == (b == "u")
    y = np.where(rng.random(n) < share, together, rng.random(n) < 0.3) | (c > 1.5)
    return pd.DataFrame({"a": a.round(2), "b": b, "c": c.round(2), "d": d, "class": np.where(y, "yes", "no")})


@pytest.fixture(scope="module")
def frame():
    found = crossed(400, np.random.default_rng(0))
    found.loc[:30, "c"] = np.nan
    return found


@pytest.fixture(scope="module")
def model(frame):
    return bn.bnc(class_var="class", dataset=frame, pairs="auto")


@pytest.fixture(scope="module")
def plain(frame):
    return bn.bnc(class_var="class", dataset=frame, pairs=0)


def test_a_pair_that_matters_is_found(model, plain):
    assert model.pairs[0].features == (0, 1)
    new = crossed(300, np.random.default_rng(1))
    truth = (new["class"] == "yes").to_numpy().astype(int)

    def log_loss(x):
        found = bn.predict(x, new.drop(columns="class"), prob=True).to_numpy()
        return float(-np.log(found[np.arange(len(new)), truth]).mean())

    assert log_loss(model) < log_loss(plain) - 0.2


def test_pairs_without_effect_cost_little():
    rng = np.random.default_rng(2)
    y = rng.random(1200) < 0.5
    frame = pd.DataFrame({f"v{i}": rng.normal(size=1200) + y for i in range(4)}).assign(y=y)
    train, test = frame[:200], frame[200:]
    auto, zero, none = (bn.bnc(class_var="y", dataset=train, pairs=pairs) for pairs in ("auto", 0, ()))
    assert -bn.cloglik(auto, test) / 1000 < -bn.cloglik(zero, test) / 1000 + 0.01
    assert not zero.pairs
    pd.testing.assert_frame_equal(bn.predict(zero, frame, prob=True), bn.predict(none, frame, prob=True))


@pytest.mark.parametrize("pairs", [2, [("a", "b"), ("d", "c")]])
def test_a_number_and_names_of_pairs(frame, pairs):
    x = bn.bnc(class_var="class", dataset=frame.tail(150), pairs=pairs)
    assert len(x.pairs) == 2
    if pairs != 2:
        assert [pair.features for pair in x.pairs] == [(0, 1), (2, 3)]


def test_pairs_have_the_mean_0_along_each_side(model):
    """By the shares of the values in training rows, which the model keeps with half a row more per value."""
    size = model.recipe.rows.size
    for pair in model.pairs:
        shares = []
        for i, groups in zip(pair.features, pair.groups, strict=True):
            counts = model.shares[i] * (size + 0.5 * len(model.shares[i])) - 0.5
            known = groups >= 0
            shares.append(np.bincount(groups[known], counts[known] / size))
        table = pair.table[:-1, :-1]
        for axis in (0, 1):
            means = np.tensordot(shares[axis], table, (0, axis))
            np.testing.assert_allclose(means, 0, atol=1e-6)  # effects have six digits
        assert not pair.table[-1].any()
        assert not pair.table[:, -1].any()


def test_contributions_add_up_with_one_row_per_pair(model, frame):
    rows = frame.drop(columns="class")
    for row in (
        rows.iloc[100].to_dict(),
        rows.iloc[3].to_dict(),
        {"a": 1.0},
        {"b": "u", "d": "x", "c": None},
    ):
        [[no, yes]] = bn.predict(model, row, prob=True).to_numpy()
        table = bn.explain(model, row)
        assert PAIR in table.index
        assert table["log_odds"].sum() == pytest.approx(np.log(yes / no), abs=1e-9)
        if "a" not in row or "b" not in row:
            assert table.loc[PAIR, "log_odds"] == pytest.approx(0, abs=1e-15)
        split = bn.explain(model, row, interactions=True)
        assert split["log_odds"].tolist() == pytest.approx(table["log_odds"].tolist())
        assert split.index[5] == ("a", "b")
    reasons = bn.explain(model, rows.iloc[100], sentences=True)
    start = f"a = {rows['a'][100]:g}, b = {rows['b'][100]}: the odds of 'yes' are"
    assert any(reason.startswith(start) for reason in reasons)
    several = bn.explain(model, rows.head(3))
    assert len(several) == 3 * len(bn.explain(model, rows.iloc[0]))


def test_unknown_values_have_no_effect_of_a_pair_and_nothing_known_the_shares(model, frame):
    found = bn.predict(model, frame[[]].head(1), prob=True, unknown=bn.features(model))
    shares = frame["class"].value_counts(normalize=True)[found.columns]
    np.testing.assert_allclose(found.iloc[0], shares, atol=1e-12)
    records = frame[["a", "c"]].tail(5).to_dict("records")
    known = bn.predict(model, frame[["a", "c"]].tail(5), prob=True, unknown=["b", "d"])
    np.testing.assert_allclose(bn.predict(model, records, prob=True), known, atol=1e-12)


def test_shares_of_a_pair_are_those_of_rows_with_both_values(model, frame):
    at = np.arange(len(frame))
    rows = frame.assign(a=frame["a"].where(at % 5 > 0), b=frame["b"].where(at % 7 > 0))
    table, known = bn.effects(model, rows), rows.dropna(subset=["a", "b"])
    lines = table[(table["feature"] == "a") & (table["given"] == "b")]
    for line in lines.to_dict("records"):
        both = known["a"].map(lambda value, line=line: value in line["value"])
        both &= known["b"] == line["given_value"]
        assert line["share"] == pytest.approx(both.mean())
    assert lines["share"].sum() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_tables_files_and_edits_are_exact(several, tmp_path):
    if several:
        frame, name = bn.load_car(), "class"
        frame = frame.sample(600, random_state=0).reset_index(drop=True)
    else:
        frame, name = crossed(300, np.random.default_rng(3)), "class"
    x = bn.bnc(class_var=name, dataset=frame, pairs=3)
    rows = frame.drop(columns=name)
    expected = bn.predict(x, rows, prob=True)
    table = bn.effects(x, frame)
    pairs = table[table["given"] != ""]
    assert list(table.columns[:4]) == ["feature", "value", "given", "given_value"]
    for _, own in pairs.groupby(["feature", "given"], sort=False):
        assert own["share"].sum() == pytest.approx(1)
    text = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    bn.save(x, tmp_path / "x.json")
    for again in (bn.from_effects(table), bn.from_effects(text, dataset=frame), bn.load(tmp_path / "x.json")):
        np.testing.assert_allclose(bn.predict(again, rows, prob=True), expected, rtol=0, atol=1e-12)
    edited = table.copy()
    last = edited.columns[4] if not several else "unacc"
    edited.loc[pairs.index, last] += 1.0  # of all cells of three pairs
    changed = bn.predict(bn.from_effects(edited), rows, prob=True)
    odds = [np.log(p / (1 - p)) for p in (changed["yes"], expected["yes"])] if not several else None
    if odds is not None:
        np.testing.assert_allclose(odds[0] - odds[1], 3.0, atol=1e-6)  # of some, p is nearly 1


def test_cut_points_of_a_pair_can_be_edited():
    single = pd.DataFrame(
        [("class", "no", "", "", 0.0), ("a", "(-inf, 0.0]", "", "", -1.0), ("a", "(0.0, inf]", "", "", 1.0)]
        + [("b", label, "", "", 0.0) for label in "uvw"]
        + [
            ("a", interval, "b", label, float(label == "u" and interval == "(1.0, inf]"))
            for interval in ("(-inf, 1.0]", "(1.0, inf]")
            for label in "uvw"
        ],
        columns=["feature", "value", "given", "given_value", "yes"],
    )
    names = {"feature": "given", "value": "given_value", "given": "feature", "given_value": "value"}
    is_pair = single["given"] == "b"
    turned = pd.concat([single[~is_pair], single[is_pair].rename(columns=names)])  # the later feature first
    for table in (single, turned):
        x = bn.from_effects(table, class_var="class")
        found = bn.predict(x, [{"a": 2.0, "b": "u"}, {"a": 0.5, "b": "u"}, {"a": 2.0, "b": "v"}], prob=True)
        np.testing.assert_allclose(np.log(found["yes"] / found["no"]), [2.0, 1.0, 1.0])


@pytest.mark.slow
def test_other_functions_accept_pairs_or_refuse_them(model, frame):
    with pytest.raises(ValueError, match="pairs, which have no points"):
        bn.scorecard(model)
    with pytest.raises(ValueError, match="features without effects of pairs; got 'a'"):
        bn.monotonize(model, {"a": "increasing"}, frame)
    with pytest.raises(ValueError, match="steps must be None"):
        bn.effects(model, steps=4)
    if len(model.pairs) == 1:
        ordered = bn.monotonize(model, {"c": "increasing"}, frame)
        assert len(ordered.pairs) == 1
    assert len(bn.counterfactual(model, frame.iloc[100])) > 0
    assert (bn.value_of_information(model, {"a": 1.0})["gain"] >= 0).all()
    found = bn.cv(model, frame, k=2, rng=0, metric="log_loss")
    assert found < bn.cv(
        bn.bnc(class_var="class", dataset=frame, pairs=0), frame, k=2, rng=0, metric="log_loss"
    )


def test_pairs_in_the_estimator(frame):
    sklearn = pytest.importorskip("bnclassify.sklearn", reason="scikit-learn is not installed")
    y = frame["class"]
    fitted = sklearn.BNCClassifier(pairs=1).fit(frame.drop(columns="class")[::4], y[::4])
    assert len(fitted.model_.pairs) == 1


@pytest.mark.slow
def test_order_of_rows_and_columns_does_not_matter(frame):
    one, other = (
        bn.bnc(class_var="class", dataset=rows, pairs=1)
        for rows in (frame, frame.sample(frac=1, random_state=1)[["d", "c", "class", "b", "a"]])
    )
    rows = frame.head(50).drop(columns="class")
    expected = bn.predict(one, rows, prob=True)
    np.testing.assert_allclose(bn.predict(other, rows, prob=True), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["one feature", "one level", "few rows", "missing column"])
def test_degenerate_data(kind):
    rng = np.random.default_rng(4)
    frame = crossed(60, rng)
    if kind == "one feature":
        frame = frame[["a", "class"]]
    if kind == "one level":
        frame = frame.assign(b="u")
    if kind == "few rows":
        frame = frame.groupby("class").head(2)
    if kind == "missing column":
        frame = frame.assign(a=np.nan, d=frame["d"].where(frame.index > 50))
    x = bn.bnc(class_var="class", dataset=frame, pairs="auto")
    assert np.isfinite(bn.predict(x, frame, prob=True)).all(axis=None)


@pytest.mark.filterwarnings("ignore:all training rows")
@pytest.mark.parametrize("pairs", [1, [("a", "b")]])
def test_pairs_of_rows_of_one_class(frame, pairs):
    x = bn.bnc(class_var="class", dataset=frame[frame["class"] == "yes"], pairs=pairs)
    assert (bn.predict(x, frame.head(), prob=True) == 1).all(axis=None)


@pytest.mark.filterwarnings("ignore:The log-loss rises", "ignore:learner is a table that is not fitted")
@pytest.mark.parametrize("kind", ["sum", "pairs", "card", "monotone", "given"])
def test_estimators_of_sums_and_cards_predict_and_repeat_their_recipe(kind, frame, model, plain):
    sklearn = pytest.importorskip("bnclassify.sklearn", reason="scikit-learn is not installed")
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    x = {
        "sum": lambda: plain,
        "pairs": lambda: model,
        "card": lambda: bn.scorecard(plain, pdo=20),
        "monotone": lambda: bn.monotonize(plain, {"c": "increasing"}, frame),
        "given": lambda: bn.from_effects(bn.effects(plain)),
    }[kind]()
    rows, half = frame.drop(columns="class"), frame.head(100)
    made = sklearn.BNCClassifier.from_model(x)
    np.testing.assert_allclose(made.predict_proba(rows), bn.predict(x, rows, prob=True))
    fitted = base.clone(made).fit(half.drop(columns="class"), half["class"])
    assert type(fitted.model_) is type(x)
    if kind == "given":
        np.testing.assert_allclose(fitted.predict_proba(rows), bn.predict(x, rows, prob=True))
    else:
        assert not np.allclose(fitted.predict_proba(rows), made.predict_proba(rows))


def test_a_table_of_frequencies_has_the_pairs_of_its_rows():
    rng, n = np.random.default_rng(0), 150
    frame = pd.DataFrame({"a": rng.integers(0, 2, n), "b": rng.integers(0, 2, n), "c": rng.integers(0, 3, n)})
    frame = frame.astype(str)
    frame["y"] = np.where(rng.random(n) < 0.05, rng.random(n) < 0.5, frame["a"] != frame["b"])
    table = bn.encode(frame.value_counts().reset_index(name="w"), weights="w")
    rows, weighted = (bn.bnc(class_var="y", dataset=x, pairs=1) for x in (frame, table))
    assert rows.pairs[0].features == (0, 1)
    assert [pair.features for pair in weighted.pairs] == [pair.features for pair in rows.pairs]
    found, expected = (bn.predict(x, frame, prob=True) for x in (weighted, rows))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_pairs_and_unknown_values_do_not_depend_on_names_of_classes():
    car = bn.load_car().sample(150, random_state=0).reset_index(drop=True)
    names = {"unacc": "z", "acc": "a", "good": "m", "vgood": "b"}
    renamed = car.assign(**{"class": car["class"].astype(str).map(names)})
    models = [bn.bnc(class_var="class", dataset=x, pairs=1) for x in (car, renamed)]
    for unknown in ([], ["safety", "persons"]):
        rows = car.drop(columns=["class", *unknown])
        expected, found = (bn.predict(x, rows, prob=True, unknown=unknown) for x in models)
        expected = expected.rename(columns=names)[found.columns]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_five_groups_are_enough(frame):
    grouped = frame.assign(clinic=np.arange(len(frame)) % 5)
    x = bn.bnc(class_var="class", dataset=grouped, pairs=1, groups="clinic")
    assert [pair.features for pair in x.pairs] == [(0, 1)]


@pytest.mark.slow
def test_a_pair_with_a_constant_feature_is_ignored_with_a_warning(frame):
    constant = frame[["a", "b", "class"]].assign(site="here")
    with pytest.warns(UserWarning, match="pairs of 'site' have no effect"):
        x = bn.bnc(class_var="class", dataset=constant, pairs=[("a", "site"), ("b", "site"), ("a", "b")])
    assert [pair.features for pair in x.pairs] == [(0, 1)]
    assert len(bn.bnc(class_var="class", dataset=constant, pairs=3).pairs) == 1


@pytest.mark.slow
def test_pairs_of_several_classes_and_numbers_gain_most():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(600, 3)).round(2), columns=list("abc"))
    place = (frame["a"] > 0) * 2 + (frame["b"] > 0)
    frame["y"] = np.array(list("pqqp"))[place]
    frame.loc[frame["c"] > 1, "y"] = "r"
    train, test = frame[:400], frame[400:]
    x = bn.bnc(class_var="y", dataset=train, pairs="auto")
    found = bn.predict(x, test.drop(columns="y"), prob=True)
    own = found.to_numpy()[np.arange(len(test)), [list(found).index(y) for y in test["y"]]]
    assert -np.log(own).mean() < 0.25  # the sum alone has 0.58
    assert (0, 1) in [pair.features for pair in x.pairs]


def test_a_value_can_make_a_rare_class_frequent():
    """90 ill of 110 positive, and 10 of 890 negative: by counting, P(ill | positive) is 0.818."""
    test = ["positive"] * 110 + ["negative"] * 890
    state = ["ill"] * 90 + ["well"] * 20 + ["ill"] * 10 + ["well"] * 880
    x = bn.bnc(class_var="state", dataset=pd.DataFrame({"test": test, "state": state}), pairs=0)
    found = bn.predict(x, pd.DataFrame({"test": ["positive", "negative"]}), prob=True)["ill"]
    np.testing.assert_allclose(found, [90 / 110, 10 / 890], atol=0.02)


def test_whole_weights_are_equal_rows_of_a_sum():
    rng = np.random.default_rng(4)
    cells = pd.DataFrame(
        {"a": [*"uvw"] * 8, "b": np.repeat(np.arange(4.0), 6), "y": [*"nnnyyy", *"nyn"] * 2 + [*"nynyny"]}
    )
    counts = rng.integers(1, 20, len(cells))
    weighted = bn.encode(cells.assign(n=counts), weights="n")
    x = bn.bnc(class_var="y", dataset=weighted, pairs="auto")
    repeated = cells.loc[np.repeat(cells.index, counts)].sample(frac=1, random_state=0)
    other = bn.bnc(class_var="y", dataset=repeated.reset_index(drop=True), pairs="auto")
    expected = bn.predict(x, cells, prob=True)
    np.testing.assert_allclose(bn.predict(other, cells, prob=True), expected, atol=1e-9)


def test_missing_values_have_effects_in_pairs():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice([*"uv"], 200)})
    frame["a"] = frame["a"].where(rng.random(200) < 0.6)
    frame["y"] = np.where(frame["a"].isna() == (frame["b"] == "u"), "yes", "no")
    x = bn.bnc(class_var="y", dataset=frame, pairs=[("a", "b")])
    assert (bn.predict(x, frame) == frame["y"]).mean() > 0.99
    table = bn.effects(x, frame)
    lines = table[(table["given"] == "b") & (table["value"] == "(missing)")]
    assert lines["given_value"].tolist() == ["u", "v"]
    assert lines["share"].sum() == pytest.approx(frame["a"].isna().mean())
    text = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    expected = bn.predict(x, frame, prob=True)
    for again in (bn.from_effects(table), bn.from_effects(text, dataset=frame)):
        np.testing.assert_allclose(bn.predict(again, frame, prob=True), expected, atol=1e-12)
    ignores = bn.bnc(class_var="y", dataset=frame, pairs=[("a", "b")], missing_level=False)
    assert "(missing)" not in bn.effects(ignores).query("given == 'b'")["value"].tolist()


def test_rows_of_cases_have_no_order():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.integers(2, size=(200, 3)), columns=[*"abc"]).astype(str)
    frame["y"] = np.where((frame["a"] == frame["b"]) ^ (rng.random(200) < 0.2), "yes", "no")
    frame["who"] = [f"p{i}" for i in rng.integers(0, 40, 200)]
    x = bn.bnc(class_var="y", dataset=frame, groups="who", pairs="auto")
    mixed = frame.sample(frac=1, random_state=2).reset_index(drop=True)
    other = bn.bnc(class_var="y", dataset=mixed, groups="who", pairs="auto")
    rows = frame[[*"abc"]]
    np.testing.assert_allclose(bn.predict(other, rows, prob=True), bn.predict(x, rows, prob=True), atol=1e-6)


def test_many_rows_show_pairs_that_few_rows_miss():
    """400 rows make the effect of this pair smaller, with a loss of .12 nats above that of the truth."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(5000, 4))
    score = 3 * np.sin(5 * x[:, 0]) * np.sin(5 * x[:, 1])
    frame = (
        pd.DataFrame(x)
        .add_prefix("x")
        .assign(y=np.where(rng.random(5000) < 1 / (1 + np.exp(-score)), "a", "b"))
    )
    model = bn.bnc(class_var="y", dataset=frame.iloc[:3000])
    least = np.log1p(np.exp(np.where(frame["y"] == "a", -score, score)))[3000:].mean()
    assert -bn.cloglik(model, frame.iloc[3000:]) / 2000 < least + 0.06


@pytest.mark.parametrize("last", [True, False])
def test_cells_of_pairs_without_smooth_effects_are_found_in_any_column(monkeypatch, last):
    """Of 17 features, 136 pairs are possible, and 128 are tried."""
    choose = fit.choose_variances

    def without_smooth_effects(*args, **options):
        found = choose(*args, **options)
        return found._replace(of_types=found.of_types | {"pair": 0.0})

    monkeypatch.setattr(fit, "choose_variances", without_smooth_effects)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (1500, 17))).add_prefix("x")
    frame["x15"], frame["x16"] = rng.integers(0, 10, (2, 1500))
    frame = frame.astype(str)
    odds = np.exp(3 * rng.normal(size=(10, 10))[frame["x15"].astype(int), frame["x16"].astype(int)])
    frame["y"] = np.where(rng.random(1500) < odds / (1 + odds), "a", "b")
    x = bn.bnc(class_var="y", dataset=frame if last else frame[frame.columns[::-1]])
    assert {x.features[i] for i in x.pairs[0].features} == {"x15", "x16"}
