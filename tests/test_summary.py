"""What a model reports of itself: printed, as a table, in a notebook, and how it prepares raw data."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.draw import pictures
from bnclassify.models import Discretizer

from .conftest import informative_gaps


def facts(x):
    """What printing shows, by name, with wrapped lines joined."""
    found = {}
    for line in repr(x).splitlines()[3:]:
        name, colon, text = line.partition(": ")
        if line[2] != " " and colon:
            found[name.strip()] = text.strip()
            last = name.strip()
        else:
            found[last] += " " + line.strip()
    return found


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.uniform(18, 80, 300), "noise": rng.normal(size=300), "flat": 2.5})
    frame["town"] = ["Aden", "Bari", "Cork"] * 99 + ["Dover", None, None]
    frame["buys"] = np.where(frame["age"] > 45, "yes", "no")
    return frame


@pytest.mark.parametrize(
    ("learner", "options", "joint", "missing"),
    [
        ("nb", {"smooth": 1}, "yes", "marginalized over"),
        ("hc", {"ess": 1}, "yes", "marginalized over"),
        ("aode", {"smooth": 1}, "yes", "marginalized over"),
        ("ande", {"smooth": 1}, "no", "ignored"),
        ("chisq_dn", {"smooth": 1}, "no", "marginalized over"),
        ("nb", {"smooth": 1, "wanbia": True}, "yes", "marginalized over"),
        ("nb", {"smooth": 1, "subsumption": 30}, "no", "marginalized over"),
        ("aode", {"smooth": 1, "held_out": "power"}, "no", "marginalized over"),
        (
            "tan_cl",
            {"smooth": 1, "held_out": "weights"},
            "no",
            "the fewer values a row has, the more it is predicted by naive Bayes",
        ),
    ],
)
def test_models_of_all_types_introduce_themselves(car, learner, options, joint, missing):
    found = facts(bn.bnc(learner, "class", car, **options))
    assert found["rows"] == "1,728"
    assert found["class proportions"] == "unacc 0.700, acc 0.222, good 0.040, vgood 0.038"
    where = "" if missing.startswith("the ") else "in new rows "
    assert found["missing values"] == f"none in training; {where}{missing}"
    assert found["joint distribution"] == joint
    assert not {"discretized", "merged", "dropped"} & set(found)
    assert len(repr(bn.bnc(learner, "class", car, **options)).splitlines()) <= 17


def test_rows_are_told_with_their_groups_and_weights():
    frame = pd.DataFrame({"a": list("uuvv") * 15, "y": list("ppqp") * 15, "who": [*range(20)] * 3})
    weighted = bn.encode(frame[["a", "y"]].assign(w=[0.5, 1.5, 1, 3] * 15), weights="w", weights_are="cases")
    effective = round((6 * 15) ** 2 / (12.5 * 15))  # Kish's number, of weights with these sums of squares
    for data, groups, expected in (
        (frame, "who", "60 (in 20 groups)"),
        (weighted, frame["who"], f"60 (in 20 groups, weights of {effective} rows)"),
        (weighted, None, f"60 (weights of {effective} rows)"),
    ):
        x = bn.bnc("nb", "y", data, smooth=1, held_out="weights", groups=groups)
        assert facts(x)["rows"] == expected


def test_a_structure_shows_no_facts_of_rows(car):
    assert set(facts(bn.nb("class", car))) == {
        "class variable", "num. features", "arcs", "learning algorithm",
    }  # fmt: skip
    fitted = bn.lp(bn.nb("class", car), car, smooth=1)
    by_hand = bn.from_tables("class", {name: bn.cpt(fitted, name) for name in fitted.variables})
    assert "rows" not in facts(by_hand)
    assert facts(by_hand)["joint distribution"] == "yes"


def test_rows_follow_the_data(car, voting, tmp_path):
    whole = bn.lp(bn.nb("class", car), car, smooth=1)
    added = bn.update(bn.lp(bn.nb("class", car), car.iloc[:1000], smooth=1), car.iloc[1000:])
    assert repr(added) == repr(whole)
    parts = bn.lp(bn.nb("class", car), lambda: [car.iloc[:9], car.iloc[9:]], smooth=0)
    assert facts(parts)["class proportions"] == facts(whole)["class proportions"]
    pooled = bn.pool([bn.lp(bn.nb("class", car), car.iloc[start::3], smooth=1) for start in range(3)])
    assert repr(pooled) == repr(whole)
    few = car[car["class"] != "acc"].astype(str)
    grown = bn.update(bn.bnc("nb", "class", few, smooth=1), car.astype(str), levels="grow")
    shares = pd.concat([few, car])["class"].value_counts(normalize=True)
    expected = ", ".join(f"{label} {shares[label]:.3f}" for label in ["good", "unacc", "vgood", "acc"])
    assert facts(grown)["class proportions"] == expected
    trees = bn.Ensemble([bn.nb("class", car), bn.tan_cl("class", car)])
    again = bn.update(bn.lp(trees, car.iloc[:100], smooth=1), car.iloc[100:])
    assert facts(again)["rows"] == "1,728"
    both = bn.lp(bn.Ensemble([bn.nb("class", car), bn.tan_cl("class", car)]), car, smooth=1)
    assert facts(both)["rows"] == "1,728"
    weighted = bn.encode(car.head(4).assign(w=[0.5, 1, 1, 1]), weights="w", weights_are="frequencies")
    assert facts(bn.lp(bn.nb("class", weighted), weighted, smooth=1))["rows"] == "3.5 (sum of weights)"
    some = facts(bn.lp(bn.nb("Class", voting), voting.fillna({"crime": "y"}), smooth=1))
    assert some["missing values"] == "in 15 features (available cases); in new rows marginalized over"
    em = bn.lp(bn.nb("Class", voting), voting, smooth=1, missing="em")
    assert facts(em)["missing values"].startswith("in 16 features (EM)")
    bn.save(em, tmp_path / "em.json")
    assert repr(bn.load(tmp_path / "em.json")) == repr(em)


def test_several_and_latent_classes(voting):
    votes, names = voting.dropna(), ["crime", "mx_missile"]
    shares = {name: (votes[name] == "y").mean() for name in names}
    expected = "; ".join(f"{name}: n {1 - y:.3f}, y {y:.3f}" for name, y in shares.items())
    for learn in (bn.mbc, bn.maode, bn.chain):
        found = facts(bn.lp(learn(names, votes), votes, smooth=1))
        assert found["class proportions"] == expected
        assert found["rows"] == str(len(votes))
    latent = bn.lca("group", votes.drop(columns="Class"), k=2, rng=0)
    assert facts(latent)["class variable"] == "group (latent)"
    share = bn.cpt(latent, "group")["probability"]
    assert facts(latent)["class proportions"] == f"1 {share[1]:.3f}, 2 {share[2]:.3f}"


@informative_gaps
def test_preparation_and_dropped_columns(people):
    options = {"smooth": 1, "discretize": "mdlp"}
    x = bn.bnc("nb", "buys", people, **options, min_count=5, missing_level=["town"])
    found = facts(x)
    assert found["discretized"] == "age (mdlp)"
    assert found["dropped"] == "noise, flat (no cut point)"
    default = bn.bnc(class_var="buys", dataset=people)
    assert facts(default)["dropped"] == "flat (at most one value or interval)"
    assert found["merged"] == "levels in fewer than 5 rows of town"
    assert found["missing values"] == "a level of town; others in new rows marginalized over"
    steps = bn.preparation(x)
    assert steps.discretizer.cuts["age"] == x.preparation.discretizer.cuts["age"]
    [point] = steps.discretizer.cuts["age"]
    row = steps.cut_points.loc["age"]
    assert row.tolist() == ["mdlp", "2", f"{round(point, 2):g}"]
    assert steps.cut_points.loc["noise"].tolist() == ["mdlp", "1", ""]
    assert steps.merger.columns == ("town",)
    plain = bn.preparation(bn.nb("class", features=["a"]))
    assert (plain.discretizer, plain.merger, len(plain.cut_points)) == (None, None, 0)
    card = bn.scorecard(bn.lp(bn.nb("buys", people[["town", "buys"]]), people, smooth=1))
    assert bn.preparation(card) == plain
    averaged = bn.bnc("nb", "buys", people, smooth=1, discretize="averaged")
    assert facts(averaged)["discretized"] == "age, noise (averaged)"
    kept = bn.bnc("nb", "buys", people.drop(columns="flat"), smooth=1, numbers="gaussian")
    assert facts(kept)["kept as numbers"] == "age, noise (Gaussian)"
    with pytest.warns(UserWarning, match="No feature improves"):
        searched = bn.bnc("fssj", "buys", people[["town", "buys"]], smooth=1, dag_args={"k": 2, "rng": 0})
    assert facts(searched)["dropped"] == "town (not selected)"


@informative_gaps
def test_the_default_model_prints_what_matters(people):
    x = bn.bnc(class_var="buys", dataset=people.drop(columns="flat"), pairs=2)
    assert repr(x).splitlines() == [
        "",
        "  Sum of effects",
        "",
        "  class variable:     buys",
        "  rows:               300",
        f"  class proportions:  no {(people['buys'] == 'no').mean():.3f}, "
        f"yes {(people['buys'] == 'yes').mean():.3f}",
        "  num. features:      3",
        "  form:               sum of one effect per feature, and of 1 pair",
        "  learning algorithm: sum_of_effects",
        "  parameters:         default settings but pairs=2",
        "  discretized:        age, noise in steps",
        "  missing values:     in 1 feature (available cases, and evidence); in new rows given",
        "                      the effect of (missing), but unknown in features that no training",
        "                      row lacks",
        "  joint distribution: no",
    ]
    sums = bn.bnc(class_var="buys", dataset=people.drop(columns="flat"), pairs=0)
    assert facts(sums)["form"] == "sum of one effect per feature"
    card = bn.summary(bn.scorecard(bn.monotonize(sums, {"age": "increasing"}, people))).set_index("item")
    assert card["value"]["parameters"] == "default settings but pairs=0, then monotonize, then scorecard"
    numbers = people[["age"]].assign(
        a=people["age"] ** 2, b=-people["age"], c=people["noise"] + people["age"]
    )
    four = bn.bnc("nb", "buys", numbers.assign(buys=people["buys"]), smooth=1, discretize="quantile")
    assert facts(four)["discretized"] == "4 numeric columns (quantile)"


@pytest.mark.parametrize(
    ("points", "texts"),
    [
        ((9.568582617828516, 9.755873576205284), ["9.569", "9.756"]),
        ((-2.0, 0.00012345678, 154.5, 123456.789), ["-2", "0.0001235", "154.5", "123457"]),
        ((1.0000001, 1.0000002), ["1.0000001", "1.0000002"]),
        ((0.1 + 0.2,), ["0.3"]),
    ],
)
def test_readable_digits(points, texts):
    labels = Discretizer("width", ("x",), (points,)).short_interval_labels["x"]
    ends = pairwise(["-inf", *texts, "inf"])
    assert labels == tuple(f"({low}, {high}{')' if high == 'inf' else ']'}" for low, high in ends)


def test_summary_has_the_facts_and_the_performance(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    table = bn.summary(x)
    assert table.columns.tolist() == ["item", "value"]
    by_item = table.set_index("item")["value"]
    assert by_item["rows"] == 1728
    assert {name: str(value) for name, value in by_item.items()} == {
        name: text.replace("1,728", "1728") for name, text in facts(x).items()
    }
    found = bn.summary(x, car, k=5, rng=3)
    metrics = ["accuracy", "log_loss", "calibration_error"]
    direct = bn.cv([x], car, k=5, rng=3, metric=metrics)
    baselines = direct.attrs["cv"]["baselines"]
    assert found.attrs["metrics"] == {name: (direct[0, name], baselines[name]) for name in metrics}
    values = found.set_index("item")["value"]
    assert values["accuracy"] == f"{direct[0, 'accuracy']:.3f}, baseline 0.700"
    strengths = bn.explain(x, car.iloc[np.linspace(0, 1727, 1000).astype(int)])["log_odds"].abs()
    means = strengths.groupby(level="variable").mean().drop("class").sort_values(ascending=False)
    assert values["strongest features"] == ", ".join(f"{n} {v:.2f}" for n, v in means[:3].items())


def test_a_model_without_features_has_no_missing_values(car):
    with pytest.warns(UserWarning, match="no feature remains"):
        x = bn.bnc("nb", "class", car[["class"]], smooth=1)
    assert "missing values" not in facts(x)


def test_summary_of_other_models(car):
    votes = car[["persons", "safety", "class"]]
    several = bn.lp(bn.mbc(["class", "safety"], car), car, smooth=1)
    values = bn.summary(several, car, k=2, rng=0).set_index("item")["value"]
    accuracies = [float(values[f"accuracy({name})"].partition(",")[0]) for name in ("class", "safety")]
    assert np.mean(accuracies) == pytest.approx(bn.cv(several, car, k=2, rng=0)["hamming"], abs=1e-3)
    assert "; safety: persons 0.23" in values["strongest features"]
    for target, proportion in [("class", 0.700), ("safety", 0.333)]:
        _, alone = values[f"accuracy({target})"].split(", baseline ")
        assert float(alone) == pytest.approx(proportion, abs=0.04)  # folds are not stratified
    alone = bn.cv([several], car, rng=0, metric=["hamming", "exact_match"]).attrs["cv"]["baselines"]
    # the most frequent labels are unacc and, with equal frequencies, any level of safety
    assert alone["hamming"] == pytest.approx((0.700 + 1 / 3) / 2, abs=0.03)
    assert alone["exact_match"] < 1 / 3
    latent = bn.lca("group", votes, k=2, rng=0)
    assert bn.summary(latent, votes).attrs["metrics"] == {}


def test_a_notebook_shows_picture_and_facts(monkeypatch):
    frame = pd.DataFrame({"<b>&": ["u", "v"] * 5, "y": ["<i>", "n"] * 5})
    x = bn.bnc("nb", "y", frame, smooth=1)
    if pictures._has_dot() or pictures._path_of_graphviz_pure():
        assert "<svg" in x._repr_html_()
        assert "<?xml" not in x._repr_html_()
    monkeypatch.setattr(pictures, "_has_dot", lambda: False)
    monkeypatch.setattr(pictures, "_path_of_graphviz_pure", lambda: None)
    shown = x._repr_html_()
    assert "<svg" not in shown
    assert "&lt;i&gt; 0.500, n 0.500" in shown
    assert "<i>" not in shown
    assert shown.count("<tr>") == len(facts(x))
    assert shown.count("background:#fff;color:#111") == 1 + 2 * len(facts(x))
    wide = bn.nb("y", features=[f"f{i}" for i in range(100)])
    assert "<svg" not in wide._repr_html_()


def test_a_summary_prints_whole_sentences(people):
    model = bn.bnc(class_var="buys", dataset=people)
    table = bn.summary(model)
    assert repr(table).split() == repr(model).split()[3:]
    longest = max(map(str, table["value"]), key=len)
    assert len(longest) > 50
    assert longest in table._repr_html_()
    assert type(table[["item"]]) is type(table.set_index("item")) is pd.DataFrame
