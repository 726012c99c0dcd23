"""Unknown values, which are no evidence, beside missing ones, which are evidence as far as training says."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.explanations.explain import explain_row
from bnclassify.scores import UnknownEffects, mean_pairwise_variance


@pytest.fixture(scope="module")
def people():
    """Return rows with a rare gap, a frequent one that is evidence, and features without one."""
    rng, n = np.random.default_rng(0), 500
    ill = rng.random(n) < 0.3
    frame = pd.DataFrame(
        {
            "age": (rng.normal(50 + 12 * ill, 10)).round(),
            "sex": np.where(rng.random(n) < 0.5, "f", "m"),
            "size": (rng.normal(2 * ill, 1)).round(2),
            "test": np.where(rng.random(n) < 0.2 + 0.5 * ill, "high", "low"),
            "rare": np.where(rng.random(n) < 0.5, "a", "b"),
            "often": np.where(rng.random(n) < 0.4 + 0.2 * ill, "x", "y"),
            "class": np.where(ill, "ill", "well"),
        }
    )
    frame.loc[frame.index[ill][:3], "rare"] = None
    frame["often"] = frame["often"].mask(rng.random(n) < 0.1 + 0.3 * ill)
    return frame


@pytest.fixture(scope="module")
def total(people):
    return bn.bnc(class_var="class", dataset=people, pairs=0)


@pytest.fixture(scope="module")
def default(people):
    return bn.bnc(class_var="class", dataset=people)


@pytest.fixture(scope="module")
def ignores(people):
    return bn.bnc(class_var="class", dataset=people, pairs=0, missing_level=False)


def log_odds(x, rows, **options):
    [[first, last]] = np.log(bn.predict(x, rows, prob=True, **options).to_numpy())
    return float(last - first)


def all_but(x, *names):
    return [name for name in bn.features(x) if name not in names]


@pytest.mark.parametrize("kind", ["sum", "card", "monotone", "from a file", "four classes"])
def test_nothing_known_gives_the_class_shares(kind, total, people):
    x = total
    if kind == "four classes":
        people = bn.load_car().sample(600, random_state=0)
        x = bn.bnc(class_var="class", dataset=people, pairs=0)
    if kind == "card":
        x = bn.scorecard(total, pdo=20)
    if kind == "monotone":
        x = bn.monotonize(total, {"age": "increasing"}, people, target="ill")
    if kind == "from a file":
        x = bn.from_effects(bn.effects(total, people), dataset=people)
    found = bn.predict(x, people[[]].head(2), prob=True, unknown=bn.features(x))
    shares = people["class"].value_counts(normalize=True)[found.columns]
    np.testing.assert_allclose(found, [shares, shares], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["sum", "default", "card", "tree"])
def test_omitted_values_are_those_of_unknown_columns(kind, total, default, people):
    x = {
        "sum": lambda: total,
        "default": lambda: default,
        "card": lambda: bn.scorecard(total),
        "tree": lambda: bn.bnc("tan_cl", "class", people, smooth=1, discretize="mdlp", missing_level=True),
    }[kind]()
    known = ["age", "often"]
    rows = people[known].tail(20).astype(object).where(people[known].tail(20).notna(), None)
    expected = bn.predict(x, rows.to_dict("records"), prob=True)
    unknown = all_but(x, *known)
    np.testing.assert_allclose(bn.predict(x, rows, prob=True, unknown=unknown), expected, atol=1e-12)
    polars = pytest.importorskip("polars", reason="polars is not installed; the extra test has it")
    frame = polars.from_pandas(people[known].tail(20))
    np.testing.assert_allclose(bn.predict(x, frame, prob=True, unknown=unknown), expected, atol=1e-12)


def test_missing_values_are_evidence_and_unknown_ones_are_not(total, default):
    for x in (total, default):
        assert log_odds(x, {"age": 50, "often": None}) < log_odds(x, {"age": 50}) - 0.3
    tree = bn.explain(total, {"age": 50, "often": None})
    assert tree.loc["often", "log_odds"] < -0.3
    assert bn.explain(total, {"age": 50}).loc["often", "log_odds"] == 0


def test_effects_of_missing_values_in_few_rows_are_shrunk(total, people):
    table = bn.effects(total, people)
    rare = table[(table["feature"] == "rare") & (table["value"] == "(missing)")]
    # Three rows, all of them ill: with half a row more of both, counts say ln(.5 / 3.5) less the log odds.
    by_counts = np.log(0.5 / 3.5) - np.log(
        (people["class"] == "well").mean() / (people["class"] == "ill").mean()
    )
    assert by_counts / 5 < rare["well"].item() < 0


def test_missing_values_do_not_add_up_without_limit(people, tmp_path):
    """As many count as five rows lack, or one: what one row without any value shows of so many is little."""
    rng = np.random.default_rng(1)
    names = [f"v{i}" for i in range(12)]
    ill = (people["class"] == "ill").to_numpy()
    lacks = rng.random((len(people), 12)) < 0.02 + 0.06 * ill[:, None]
    lacks[np.flatnonzero(ill)[:4]] = True
    frame = people[["age", "class"]].assign(**dict(zip(names, np.where(lacks, None, "a").T, strict=True)))
    most = max(n for n in range(13) if (lacks.sum(axis=1) >= n).sum() >= 5)
    assert 1 < most < 6
    x = bn.bnc(class_var="class", dataset=frame, pairs=0)
    few, many = ({"age": 50} | dict.fromkeys(names[:n], None) for n in (most, most + 1))
    weighted = frame.groupby(list(frame), dropna=False).size().rename("w").reset_index()
    bn.save(x, tmp_path / "x.json")
    of_data = [people[["age", "class"]].assign(v=np.where(ill & (lacks.sum(axis=1) == 12), None, "a"))]
    for again in (
        x,
        bn.bnc(class_var="class", dataset=bn.encode(weighted, weights="w"), pairs=0),
        bn.from_effects(bn.effects(x), dataset=frame),
        bn.monotonize(x, {}, frame),
        bn.scorecard(x, largest=1000),
        bn.load(tmp_path / "x.json"),
    ):
        assert log_odds(again, few) < log_odds(again, {"age": 50}) - 0.3
        assert log_odds(again, many) == pytest.approx(log_odds(again, {"age": 50}))
        text = " ".join(str(bn.summary(again)).split())
        assert f"in rows with more than {most} missing values" in text
    one = bn.bnc(class_var="class", dataset=of_data[0], pairs=0)  # four rows lack the only one
    assert log_odds(one, {"age": 50, "v": None}) < log_odds(one, {"age": 50}) - 0.3


def test_votes_that_are_hidden_are_no_evidence():
    """Of half of the members, one without any vote does not make new rows without votes his party's."""
    voting = bn.load_voting()
    rows = np.random.default_rng(5).permutation(len(voting))
    train, test = voting.iloc[rows[:217]], voting.iloc[rows[217:]]
    x = bn.bnc(class_var="Class", dataset=train, pairs=0)
    known = test[[*bn.features(x)]].mask(np.random.default_rng(6).random((len(test), 16)) < 0.9)
    found = bn.predict(x, known, prob=True)
    shares = train["Class"].value_counts(normalize=True)[found.columns].to_numpy()
    truth = test["Class"].cat.codes.to_numpy()
    gain = np.log(found.to_numpy()[np.arange(len(test)), truth] / shares[truth]).mean()
    assert gain > 0.1


@pytest.mark.parametrize("pairs", [0, 2])
def test_tables_of_effects_read_missing_values_as_their_models(pairs):
    pima = bn.load_pima().head(300)
    x = bn.bnc(class_var="diabetes", dataset=pima, pairs=pairs)
    hidden = np.random.default_rng(0).random((len(pima), 8)) < 0.4
    rows = pd.concat([pima, pima.assign(**pima.iloc[:, :8].mask(hidden))])
    expected = bn.predict(x, rows, prob=True)
    for again in (bn.from_effects(bn.effects(x), dataset=pima), bn.monotonize(x, {}, pima)):
        np.testing.assert_allclose(bn.predict(again, rows, prob=True), expected, rtol=0, atol=1e-12)


def test_missing_level_false_makes_missing_values_no_evidence(people, ignores):
    for x in (ignores, bn.bnc(class_var="class", dataset=people[::3], missing_level=False)):
        missing = {"age": 50, "often": None, "test": "high"}
        assert log_odds(x, missing) == pytest.approx(log_odds(x, {"age": 50, "test": "high"}), abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_unknown_effects_are_those_of_a_joint_normal_distribution(n_classes):
    """Mean and variance are those of the definition, in rows of four features of which two are known."""
    rng = np.random.default_rng(2)
    effects = rng.normal(size=(4, 200, n_classes)) + rng.normal(size=(1, 200, n_classes))
    effects[..., 0] = 0
    shares = np.arange(1.0, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    nothing = np.zeros((4, 200), dtype=bool)
    x = UnknownEffects.from_rows(effects, nothing, np.ones(200), shares)
    q, constant = n_classes - 1, rng.normal(size=n_classes)
    states = np.array([[0], [-2], [0], [-2]])
    start, parts = x.scores_of_class_and_effects(constant, effects[:, :1], states)
    found = (start + parts.sum(axis=0))[0]
    rows = np.moveaxis(effects[..., 1:], 1, 0).reshape(200, -1)
    s, m = np.cov(rows.T, bias=True) + 1e-4 * np.eye(4 * q), rows.mean(axis=0)
    k = [i * q + c for i in (0, 2) for c in range(q)]
    u = [i * q + c for i in (1, 3) for c in range(q)]
    gain = s[np.ix_(u, k)] @ np.linalg.inv(s[np.ix_(k, k)])
    mean = m[u] + gain @ (rows[0, k] - m[k])
    add = np.tile(np.eye(q), 2)

    def spread(covariance):
        full = np.zeros((q + 1, q + 1))
        full[1:, 1:] = covariance
        pairs = [(a, b) for a, b in product(range(q + 1), repeat=2) if a != b]
        return float(np.mean([full[a, a] + full[b, b] - 2 * full[a, b] for a, b in pairs]))

    v = spread(add @ (s[np.ix_(u, u)] - gain @ s[np.ix_(k, u)]) @ add.T)
    every = np.tile(np.eye(q), 4)
    whole = spread(every @ s @ every.T)
    start = constant[1:] - constant[0]
    at_nothing = (start + every @ m) / np.sqrt(1 + np.pi / 8 * whole)
    lacks = np.log(shares[1:] / shares[0]) - at_nothing
    total = (start + np.tile(np.eye(q), 2) @ rows[0, k] + add @ mean) / np.sqrt(1 + np.pi / 8 * v)
    np.testing.assert_allclose(found[1:] - found[0], total + lacks * v / whole, atol=1e-4)
    assert mean_pairwise_variance(add @ s[np.ix_(u, u)] @ add.T) == pytest.approx(
        spread(add @ s[np.ix_(u, u)] @ add.T)
    )


def test_the_least_variance_does_not_depend_on_which_class_is_first():
    """Of equal effects, the log odds of each pair of classes have variance 1e-4."""
    one, rows = np.ones((1, 5), dtype=bool), np.ones(5)
    x = UnknownEffects.from_rows(np.zeros((1, 5, 3)), ~one, rows, np.full(3, 1 / 3))
    (second, both), (_, third) = x.covariances
    assert [second, third, second + third - 2 * both] == pytest.approx([1e-4] * 3)


@pytest.mark.parametrize("kind", ["sum", "default", "card"])
def test_contributions_add_up_to_the_log_odds(kind, total, default, people):
    x = {"sum": total, "default": default, "card": bn.scorecard(total)}[kind]
    records = [{"age": 40}, {"age": 40, "often": None}, {"test": "low", "rare": None}]
    for record in [*records, people.iloc[0].to_dict()]:
        for interactions in (False, True):
            table = bn.explain(x, record, target="well", interactions=interactions)
            assert table["log_odds"].sum() == pytest.approx(log_odds(x, record), abs=1e-9)


def test_one_known_value_is_better_than_the_shares(total, people):
    shares = people["class"].value_counts(normalize=True)
    truth = people["class"].map({"ill": 0, "well": 1}).to_numpy()
    base = -np.log(shares[["ill", "well"]].to_numpy()[truth]).mean()
    for name in bn.features(total):
        found = bn.predict(total, people[[name]], prob=True, unknown=all_but(total, str(name))).to_numpy()
        assert -np.log(found[np.arange(len(truth)), truth]).mean() < base + 0.01


def test_unknown_features_of_networks_are_marginalized_over():
    car = bn.load_car()
    x = bn.lp(bn.tan_cl("class", car, score="aic"), car, smooth=1)
    row = {"safety": "high", "persons": "4"}
    found = bn.predict(x, pd.DataFrame([row]), prob=True, unknown=all_but(x, *row)).to_numpy()[0]
    names = all_but(x, *row)
    combinations = [
        row | dict(zip(names, values, strict=True)) for values in product(*map(bn.values(x).get, names))
    ]
    frame = pd.DataFrame(combinations)
    joint = np.zeros(4)
    for label in range(4):
        rows = frame.assign(**{"class": bn.classes(x)[label]})
        joint[label] = np.exp(bn.loglik(x, rows, by_row=True)).sum()
    np.testing.assert_allclose(found, joint / joint.sum(), atol=1e-12)


def test_unknown_columns_that_are_wrong_are_errors(total, people):
    with pytest.raises(KeyError, match=r"must be a feature of the model; got 'agee'. Did you mean 'age'"):
        bn.predict(total, people[["age"]], unknown=["agee"])
    with pytest.raises(ValueError, match="unknown must name features without values in newdata; got 'age'"):
        bn.predict(total, people[["age", "sex"]], unknown=all_but(total, "sex"))
    with pytest.raises(TypeError, match="unknown must be a list of names"):
        bn.predict(total, people, unknown="age")
    with pytest.raises(KeyError, match=r"no column 'rare'.*pass unknown=\['rare'\]"):
        bn.predict(total, people.drop(columns="rare"))
    nothing = people.assign(rare=None)
    np.testing.assert_allclose(
        bn.predict(total, nothing, prob=True, unknown=["rare"]),
        bn.predict(total, people.drop(columns="rare"), prob=True, unknown=["rare"]),
    )


def test_saved_sums_read_unknown_values_alike(total, tmp_path):
    bn.save(total, tmp_path / "sum.json")
    again = bn.load(tmp_path / "sum.json")
    assert log_odds(again, {"age": 40, "often": None}) == log_odds(total, {"age": 40, "often": None})


def test_value_of_information_is_not_negative(total, default):
    for x in (total, default):
        for record in ({"age": 40}, {"test": "high", "often": None}, {"sex": "m"}):
            table = bn.value_of_information(x, record)
            assert (table["gain"] >= 0).all()
            assert set(table.index) >= {"often", "rare"} - set(record)
        assert bn.value_of_information(x, {}).equals(bn.value_of_information(x, {"sex": None}))
        assert bn.counterfactual(x, {}).empty
        assert explain_row(x, {}, None, None, "error", False).unknown == {*bn.features(x)}


def test_degenerate_sums_have_unknown_values():
    one = pd.DataFrame({"a": ["x"] * 20, "class": ["p", "q"] * 10})
    x = bn.bnc(class_var="class", dataset=one, pairs=0)
    for record in ({"a": "x"}, {"a": None}):
        np.testing.assert_allclose(bn.predict(x, record, prob=True), 0.5, atol=1e-6)
    np.testing.assert_allclose(bn.predict(x, one[[]].head(1), prob=True, unknown=["a"]), 0.5, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*have no class")
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_without_a_class_or_weight_change_nothing(weighted):
    rng, n = np.random.default_rng(0), 150
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), n), "z": rng.normal(size=n).round(3)})
    frame["y"] = np.where((frame["z"] + rng.normal(size=n) > 0) == (frame["a"] == "u"), "yes", "no")
    lacks = rng.random(n) < 0.4
    clean, z = frame[~lacks], (frame["z"] + 1.0001).round(4)
    some = frame.assign(z=frame["z"].mask(lacks, z), a=frame["a"].mask(lacks))
    given = some.assign(y=some["y"].mask(lacks))
    if weighted:
        given = bn.encode(some.assign(w=np.where(lacks, 0, 1)), weights="w")
    full, found = (bn.bnc(class_var="y", dataset=x, pairs=0) for x in (clean, given))
    table = bn.effects(full)
    pd.testing.assert_frame_equal(bn.effects(found), table)
    pairs = [(full, found), tuple(bn.from_effects(table, dataset=x) for x in (clean, given))]
    pairs += [tuple(bn.monotonize(full, {"z": "decreasing"}, x) for x in (clean, given))]
    for expected, x in pairs:
        for one, other in zip(x.shares, expected.shares, strict=True):
            np.testing.assert_array_equal(one, other)
        for row in ({"a": "u"}, {"z": 0.3}, {"a": None, "z": 0.1}):
            np.testing.assert_array_equal(bn.predict(x, row, prob=True), bn.predict(expected, row, prob=True))


@pytest.mark.parametrize("fit", [{"dag_learner": "nb", "smooth": 1, "discretize": "mdlp"}, {"pairs": 0}])
def test_a_record_can_name_unknown_features_only(people, fit):
    x = bn.bnc(class_var="class", dataset=people.head(200), **fit)
    shares = bn.predict(x, pd.DataFrame(index=[0]), unknown=list(bn.features(x)), prob=True)
    for name in ("age", "often"):
        some = bn.predict(x, {name: None}, unknown=[name], prob=True)
        np.testing.assert_allclose(some, shares)
        both = bn.predict(x, [{name: None}, {"test": "low"}], unknown=[name], prob=True)
        np.testing.assert_allclose(both.iloc[0], shares.iloc[0])
        np.testing.assert_allclose(both.iloc[1], bn.predict(x, {"test": "low"}, prob=True).iloc[0])
    with pytest.raises(KeyError, match="at least one variable of the model; got 'agee'"):
        bn.predict(x, {"agee": None}, unknown=["age"])


def test_unknown_features_have_no_values_in_frames_of_dask_either(people):
    dd = pytest.importorskip("dask.dataframe")
    x = bn.bnc("nb", "class", people, smooth=1, discretize="mdlp")
    lazy = dd.from_pandas(people, npartitions=2)
    with pytest.raises(ValueError, match="unknown must name features without values in newdata; got 'age'"):
        bn.predict(x, lazy, unknown=["age"]).compute()
    expected = bn.predict(x, people.assign(age=np.nan), unknown=["age"], prob=True)
    for rows in (lazy.drop(columns="age"), lazy.assign(age=np.nan)):
        pd.testing.assert_frame_equal(bn.predict(x, rows, unknown=["age"], prob=True).compute(), expected)


def test_sums_of_no_rows_no_features_and_one_class(people, total, tmp_path):
    for rows in (people.head(0), []):
        assert bn.explain(total, rows).empty
    only = people[["class"]]
    for pairs in (None, "auto"):
        with pytest.warns(UserWarning, match="no feature remains"):
            x = bn.bnc(class_var="class", dataset=only, pairs=pairs)
        table = bn.explain(x, only.head(1))
        assert len(table) == 1
        assert len(bn.drift(x, only, dataset=only)) <= 1
        assert "num. features" in str(bn.summary(x))
    one = people[["test", "size"]].assign(y="yes")
    with pytest.warns(UserWarning, match="all rows have the class"):
        x = bn.bnc(class_var="y", dataset=one, pairs=0)
    bn.write_page(x, tmp_path / "one.html")
    assert bn.predict(x, {"test": "low"}, prob=True).to_numpy().tolist() == [[1.0]]


def test_the_fact_of_missing_values_is_true(people, total, ignores):
    known = bn.bnc(class_var="class", dataset=people[["sex", "test", "class"]], pairs=0)
    assert "in new rows unknown, which is not evidence" in " ".join(str(known).split())
    assert "but unknown in features that no training row lacks" in " ".join(str(total).split())
    assert "and evidence" in str(total)
    listed = ["sex", "rare", "often", "age"]
    order = bn.bnc(class_var="class", dataset=people, missing_level=listed).recipe.parameters.settings
    assert order["missing_level"] == tuple([name for name in people if name in listed])
    some = bn.bnc(class_var="class", dataset=people, missing_level=["often"], min_count=2)
    text = " ".join(str(some).split())
    assert "but unknown in features that no training row lacks or missing_level omits" in text
    assert "parameters: default settings but missing_level=('often',), min_count=2" in text
    assert "and evidence" not in str(ignores)


def test_explanations_of_frames_name_unknown_columns(total, people):
    rows = people[["age", "test"]].head(3)
    unknown = all_but(total, "age", "test")
    found = bn.explain(total, rows, unknown=unknown)
    expected = bn.explain(total, rows.to_dict("records"))
    np.testing.assert_allclose(found["log_odds"], expected["log_odds"], rtol=0, atol=1e-12)
    reasons = bn.explain(total, rows, unknown=unknown, sentences=True)
    assert list(reasons) == list(bn.explain(total, rows.to_dict("records"), sentences=True))
    with pytest.raises(KeyError, match=f"pass unknown=.{unknown[0]!r}.* to explain, or a dict"):
        bn.explain(total, rows)
    with pytest.raises(ValueError, match="unknown must name features without values in row"):
        bn.explain(total, rows, unknown=["age", *unknown])


def test_rare_levels_of_sums_are_printed_without_a_number(people):
    frame = people.assign(job=["rare", *["a", "b"] * len(people)][: len(people)])
    x = bn.bnc(class_var="class", dataset=frame, pairs=0, min_count=3)
    assert "merged:             rare and new levels of job" in str(x)


def test_an_edited_effect_of_a_missing_value_is_used(people, tmp_path):
    frame = people[["sex", "test", "class"]]
    table = bn.effects(bn.bnc(class_var="class", dataset=frame, pairs=0))
    at = (table["feature"] == "test") & (table["value"] == "(missing)")
    plain = bn.from_effects(table, dataset=frame)
    table.loc[at, "well"] = 1.5
    bn.save(bn.from_effects(table, dataset=frame), tmp_path / "x.json")
    edited = bn.from_effects(table, dataset=frame)
    ordered = bn.monotonize(edited, {}, frame)
    for x in (edited, ordered, bn.load(tmp_path / "x.json")):
        lacks = bn.explain(x, {"sex": "f", "test": None})
        assert lacks.loc["test", "log_odds"] == pytest.approx(1.5)
    assert bn.explain(plain, {"sex": "f", "test": None}).loc["test", "log_odds"] == 0
    for x in (plain, edited):
        assert bn.explain(x, {"sex": "f"}).loc["test", "log_odds"] == 0


def test_many_rows_are_scored_as_few_rows(default, people):
    """Tables of few rows are looked up together, and those of many one by one."""
    rows = pd.concat([people] * 3, ignore_index=True).drop(columns="class")
    hidden = np.random.default_rng(3).random(rows.shape) < 0.2
    rows = rows.astype(object).mask(hidden)
    parts = [rows.iloc[at : at + 500] for at in range(0, len(rows), 500)]
    expected = np.vstack([bn.predict(default, part, prob=True) for part in parts])
    np.testing.assert_allclose(bn.predict(default, rows, prob=True), expected, rtol=0, atol=1e-12)


def test_tables_read_again_treat_missing_values_that_are_no_evidence_as_unknown():
    """Also if training rows lack some: a row that lacks more than five rows do has the class shares."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 6))).add_prefix("x")
    frame["y"] = np.where(frame.sum(axis=1) + rng.normal(size=400) > 0.3, "a", "b")
    frame.iloc[:, :6] = frame.iloc[:, :6].mask(rng.random((400, 6)) < 0.15)
    x = bn.bnc(class_var="y", dataset=frame, pairs=0, missing_level=False)
    again = bn.from_effects(bn.effects(x), dataset=frame)
    nothing = bn.predict(again, dict.fromkeys(bn.features(x)), prob=True).iloc[0]
    shares = frame["y"].value_counts(normalize=True)
    np.testing.assert_allclose(nothing, shares[nothing.index], atol=1e-9)
