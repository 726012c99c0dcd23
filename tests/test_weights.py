"""Rows that count as often as they say: the same as rows repeated."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify import folds as folding
from bnclassify.frames import prepare_training_rows
from bnclassify.judge.summary import mean_contributions

from .conftest import REFERENCE, read_reference, scores_of
from .oracles import halfway_above
from .strategies import examples, frames, networks


def weighted_and_repeated(frame, weights):
    """The same data twice: with weights, and with rows as often as these say."""
    weights = np.asarray(weights)
    return (
        replace(bn.encode(frame), weights=weights.astype(float)),
        bn.encode(frame.loc[frame.index.repeat(weights)].reset_index(drop=True)),
    )


@st.composite
def pairs(draw, unlabeled=False, **options):
    """A frame, with weights and with repeated rows; every third row can lack the class."""
    frame = draw(frames(missing=0.2, min_rows=1 + unlabeled, **options))
    if unlabeled:
        frame["class"] = frame["class"].where(frame.index % 3 > 0)
    weights = draw(st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame)))
    weights[1 if unlabeled else draw(st.integers(0, len(frame) - 1))] = 1
    return frame, *weighted_and_repeated(frame, weights)


@given(st.data())
@examples(60)
def test_models_and_scores(data):
    frame, weighted, repeated = data.draw(pairs())
    structures = [bn.aode("class", frame), data.draw(networks(frame))]
    for structure in structures:
        x, y = (bn.lp(structure, rows, smooth=0.5) for rows in (weighted, repeated))
        for mine, other in zip(bn.members(x), bn.members(y), strict=True):
            for name, table in bn.params(other).items():
                np.testing.assert_allclose(bn.params(mine)[name], table, rtol=1e-12)
        for score in (bn.loglik, bn.cloglik):
            assert score(x, weighted) == pytest.approx(score(y, repeated), rel=1e-12, abs=1e-12)
    assert bn.BIC(x, weighted) == pytest.approx(bn.BIC(y, repeated), rel=1e-12)
    for given_ in ([], ["class"]):
        mine, other = (bn.cmi("x0", "class", rows, z=given_) for rows in (weighted, repeated))
        assert mine == pytest.approx(other, abs=1e-12)


@given(st.data())
@examples(40)
def test_expectation_maximisation(data):
    frame, weighted, repeated = data.draw(pairs(unlabeled=data.draw(st.booleans()), max_features=3))
    structure = data.draw(networks(frame))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two iterations do not converge
        x, y = (
            bn.lp(structure, rows, smooth=0.5, missing={"iterations": 2}) for rows in (weighted, repeated)
        )
    assert bn.em_objectives(x) == pytest.approx(bn.em_objectives(y), rel=1e-12)
    for name, table in bn.params(y).items():
        np.testing.assert_allclose(bn.params(x)[name], table, rtol=1e-9)


@given(st.data())
@examples(40)
def test_trees(data):
    _, weighted, repeated = data.draw(pairs(max_features=5))
    for score in ("loglik", "aic", "bic"):
        assert bn.families(bn.tan_cl("class", weighted, score=score)) == bn.families(
            bn.tan_cl("class", repeated, score=score)
        )


def test_methods_of_lp(votes):
    rng = np.random.default_rng(0)
    weighted, repeated = weighted_and_repeated(votes, rng.integers(0, 4, len(votes)))
    for options in ({"wanbia": True}, {"manb_prior": 0.5}):
        x, y = (bn.lp(bn.nb("Class", votes), rows, smooth=1, **options) for rows in (weighted, repeated))
        for name, table in bn.params(y).items():
            np.testing.assert_allclose(bn.params(x)[name], table, rtol=1e-5 if "wanbia" in options else 1e-12)
    x = bn.lp(bn.nb("Class", votes), weighted, smooth=1, awnb_trees=5, rng=0)
    assert 0 < bn.feature_weights(x).max() <= 1


def test_any_number_is_a_weight(car):
    """All weights alike give the tables that they give with one each, but for the prior."""
    data = bn.encode(car)
    third = replace(data, weights=np.full(len(car), 1 / 3))
    x, y = bn.lp(bn.nb("class", car), third, smooth=1 / 3), bn.lp(bn.nb("class", car), data, smooth=1)
    np.testing.assert_allclose(bn.params(x)["safety"], bn.params(y)["safety"], rtol=1e-12)
    manb = [bn.lp(bn.nb("class", car), rows, smooth=1, manb_prior=0.5) for rows in (data, third)]
    assert bn.manb_arc_posterior(manb[1])["doors"] != bn.manb_arc_posterior(manb[0])["doors"]


# Aboard the Titanic: class, sex, age, survived, and how many people. Dawson (1995), The "unusual episode"
# data revisited, Journal of Statistics Education 3.
TITANIC = pd.DataFrame(
    [
        (cabin, sex, age, survived, people)
        for (age, survived), counts in {
            ("child", "no"): (0, 0, 35, 0, 0, 0, 17, 0),
            ("adult", "no"): (118, 154, 387, 670, 4, 13, 89, 3),
            ("child", "yes"): (5, 11, 13, 0, 1, 13, 14, 0),
            ("adult", "yes"): (57, 14, 75, 192, 140, 80, 76, 20),
        }.items()
        for (sex, cabin), people in zip(
            [(sex, cabin) for sex in ("male", "female") for cabin in ("1st", "2nd", "3rd", "crew")],
            counts,
            strict=True,
        )
    ],
    columns=["cabin", "sex", "age", "survived", "people"],
)


def titanic():
    rows = TITANIC.loc[TITANIC.index.repeat(TITANIC["people"])].drop(columns="people").reset_index(drop=True)
    assert len(TITANIC) == 32
    assert len(rows) == 2201
    return bn.encode(TITANIC, weights="people"), bn.encode(rows)


COUNTING = {
    "nb": {}, "tan_cl": {"score": "bic"}, "chow_liu": {}, "kdb_mi": {"kdbk": 2}, "hc": {},
    "ban": {"score": "bde"}, "chisq_dn": {}, "aode": {},
}  # fmt: skip


@pytest.mark.parametrize("learner", COUNTING)
def test_a_table_of_frequencies_is_as_good_as_its_rows(learner):
    weighted, repeated = titanic()
    x, y = (
        bn.bnc(learner, "survived", data, dag_args=COUNTING[learner], smooth=1)
        for data in (weighted, repeated)
    )
    assert [bn.modelstring(m) if isinstance(m, bn.BNC) else m.families for m in bn.members(x)] == [
        bn.modelstring(m) if isinstance(m, bn.BNC) else m.families for m in bn.members(y)
    ]
    for mine, other in zip(bn.members(x), bn.members(y), strict=True):
        for name, table in bn.params(other).items():
            np.testing.assert_allclose(bn.params(mine)[name], table, rtol=1e-12)
    assert bn.cloglik(x, weighted) == pytest.approx(bn.cloglik(y, repeated), rel=1e-12)
    if isinstance(x, bn.BNC):
        for score in (bn.AIC, bn.BIC, bn.network_score):
            assert score(x, weighted) == pytest.approx(score(y, repeated), rel=1e-12)


def test_cross_validation_of_a_frequency_table_is_that_of_its_rows():
    weighted, repeated = titanic()
    people = np.repeat(np.arange(32), TITANIC["people"])
    metric = ["accuracy", "log_loss", "auc", "calibration_error"]
    for learner in ("nb", "tan_cl"):
        x, y = (bn.bnc(learner, "survived", data, smooth=1) for data in (weighted, repeated))
        for options in ({"rng": 0, "k": 4}, {"rng": 1, "repeats": 2, "k": 3}):
            mine, other = (
                bn.cv(z, data, metric=metric, mean=False, **options)
                for z, data in ((x, weighted), (y, repeated))
            )
            pd.testing.assert_frame_equal(mine, other, rtol=1e-12)
            assert mine.attrs["cv"]["train_size"] == other.attrs["cv"]["train_size"]
        mine, other = bn.cv_predict(x, weighted, rng=0), bn.cv_predict(y, repeated, rng=0)
        pd.testing.assert_frame_equal(mine.loc[np.unique(people)], other.groupby(people).mean(), rtol=1e-12)
        assert np.allclose(mine.sum(axis=1), 1)  # those of weight 0, too
        labels = bn.cv_predict(x, weighted, rng=0, prob=False)
        assert labels.tolist() == mine.idxmax(axis=1).tolist()


def test_agreement_of_weighted_rows_is_that_of_repeated_rows():
    weighted, _ = titanic()
    people, actual = np.repeat(np.arange(32), TITANIC["people"]), TITANIC["survived"]
    labels = bn.cv_predict(bn.bnc("nb", "survived", weighted, smooth=1), weighted, prob=False, rng=0)
    for weights in (TITANIC["people"], TITANIC["people"].tolist()):
        right = bn.accuracy(labels, actual, weights=weights)
        assert right == pytest.approx(bn.accuracy(labels[people], actual[people]))
        counts = bn.confusion(labels, actual, weights=weights)
        assert counts.to_numpy().tolist() == bn.confusion(labels[people], actual[people]).to_numpy().tolist()
    both = pd.DataFrame({"survived": labels, "sex": TITANIC["sex"][::-1].to_numpy()})
    for agreement in (bn.hamming, bn.exact_match):
        expected = agreement(both.loc[people], TITANIC.loc[people])
        assert agreement(both, TITANIC, weights=TITANIC["people"]) == pytest.approx(expected)
    with pytest.raises(ValueError, match="weights must contain a positive number"):
        bn.accuracy(labels, actual, weights=np.zeros(32))
    with pytest.raises(ValueError, match="weights"):
        bn.confusion(labels, actual, weights=[1])


def test_a_function_with_weights_is_a_metric_of_weighted_rows():
    weighted, repeated = titanic()

    def surprise(posteriors, actual, weights=None):
        p = [posteriors.loc[row, label] for row, label in actual.items()]
        return -np.average(np.log(p), weights=weights)

    x, y = (bn.bnc("nb", "survived", data, smooth=1) for data in (weighted, repeated))
    mine, other = (bn.cv(z, data, metric=surprise, rng=0) for z, data in ((x, weighted), (y, repeated)))
    assert mine == pytest.approx(other)
    assert mine == pytest.approx(bn.cv(x, weighted, metric="log_loss", rng=0))


def test_units_of_large_weights_are_split_as_those_of_repeated_rows():
    codes, units = np.array([0, 1, 0, 1, 0, 2]), np.array([5, 3, 0, 8, 9, 1])
    repeated = np.array([folding.split_weights_into_folds(codes, units, 4, rng(seed)) for seed in range(400)])
    drawn = np.array(
        [folding.split_weights_into_folds(codes, units, 4, rng(seed), most_repeated=0) for seed in range(400)]
    )
    assert (drawn.sum(axis=2) == units).all()
    for code in range(3):  # as many rows of each class in each fold
        mine, other = (splits[:, codes == code].sum(axis=1) for splits in (drawn, repeated))
        np.testing.assert_array_equal(mine, other)
    for moment in (np.mean, np.var):
        np.testing.assert_allclose(moment(drawn, axis=0), moment(repeated, axis=0), atol=0.2)


def test_a_row_of_weight_0_is_tested_in_one_fold():
    codes, weights = np.arange(12) % 2, np.array([2.0, 0, 1, 3, 0, 2, 1, 0, 0, 2, 2, 0])
    data = prepare_training_rows(
        bn.encode(pd.DataFrame({"x": list("uv") * 6, "y": np.where(codes, "b", "a")}), weights=weights), "y"
    )
    drawn = [(fold.rows, fold.units) for fold in folding.draw_folds(data, 3, rng(0))]
    times = np.bincount(np.concatenate([rows for rows, _ in drawn]), minlength=12)
    assert (times[weights == 0] == 1).all()
    turns = [fold for fold, (rows, _) in enumerate(drawn) for row in rows if weights[row] == 0]
    assert turns == [1, 1, 1, 2, 2]  # of the rows 1, 4, 7 and 8, 11
    assert sum(0 if units is None else units.sum() for _, units in drawn) == weights.sum()


def rng(seed):
    return np.random.default_rng(seed)


def test_rows_of_fractional_weights_are_tested_as_a_whole(car):
    data = bn.encode(car, weights=np.arange(len(car)) % 3 + 0.5)
    x = bn.bnc("nb", "class", data, smooth=1)
    given = bn.cv(x, data, folds=bn.stratified_folds(car["class"], 10, rng=0), mean=False)
    pd.testing.assert_frame_equal(bn.cv(x, data, rng=0, mean=False), given)


def test_a_fold_without_rows_to_learn_from_is_nan(car):
    fold = np.arange(len(car)) % 4
    data = bn.encode(car, weights=(fold == 0).astype(float))
    x = bn.lp(bn.nb("class", data), data, smooth=1)
    uneven = bn.encode(car, weights=(fold != 0) * 0.5)
    with pytest.warns(UserWarning, match="No training row has a positive weight if fold 0 is tested"):
        found = bn.cv([x, x], data, folds=np.where(fold > 1, 1, fold), mean=False)
    assert found.loc[0].isna().all()
    assert np.isnan(found.loc[1]).all()  # no row that is tested has a weight
    assert bn.cv(x, uneven, folds=fold, mean=False)[0].isna().tolist() == [True, False, False, False]
    with pytest.warns(UserWarning, match="if fold 0 is tested"):
        posteriors = bn.cv_predict(x, data, folds=fold)
    assert posteriors.isna().any(axis=1).tolist() == (fold == 0).tolist()
    with pytest.warns(UserWarning, match="if fold 0 is tested"):
        labels = bn.cv_predict(x, data, folds=fold, prob=False)
    assert labels.isna().tolist() == (fold == 0).tolist()


def test_weights_come_as_a_column_or_an_array():
    by_name = bn.encode(TITANIC, weights="people")
    features = TITANIC.drop(columns="people")
    for weights in (TITANIC["people"], TITANIC["people"].tolist(), TITANIC["people"].astype("Int64")):
        np.testing.assert_array_equal(bn.encode(features, weights=weights).weights, by_name.weights)
    again = bn.encode(bn.encode(features), weights=TITANIC["people"].to_numpy())
    assert again.columns == by_name.columns
    assert again.size == 2201
    assert "32 rows that count 2,201" in repr(again)
    halves = TITANIC["people"].to_numpy() / 2
    assert bn.encode(features, weights=halves).size == 1100.5
    kept = bn.encode(features, weights=halves)
    halves[:] = 0
    assert kept.size == 1100.5


def test_missing_numbers_are_counted():
    frame = pd.DataFrame({"age": [1.5, None, 2.5], "town": ["Aden", None, None], "people": [1, 2, 3]})
    assert repr(bn.encode(frame, weights="people")).endswith("2 columns, 3 missing values")


def test_a_weight_of_0_keeps_its_level():
    frame = pd.DataFrame({"x": ["a", "b", "c"], "y": ["n", "n", "m"], "w": [1, 2, 0]})
    x = bn.lp(bn.nb("y", data := bn.encode(frame, weights="w")), data, smooth=1)
    assert bn.values(x) == {"x": ("a", "b", "c"), "y": ("m", "n")}
    assert bn.params(x)["y"].tolist() == [1 / 5, 4 / 5]


@pytest.mark.parametrize("learner", ["fssj", "bsej", "tan_hc", "tan_hcsp", "kdb"])
@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_search_counts_by_weight(learner, metric):
    weighted, repeated = titanic()
    rows = np.arange(32) % 4
    given = [{"folds": rows}, {"folds": np.repeat(rows, TITANIC["people"])}]
    for options in (given, [{"rng": 1}, {"rng": 1}]):
        x, y = (
            getattr(bn, learner)("survived", data, k=4, metric=metric, smooth=1, epsilon=0, **how)
            for data, how in zip((weighted, repeated), options, strict=True)
        )
        assert x.families == y.families
        np.testing.assert_allclose(scores_of(x), scores_of(y), rtol=1e-12)


def test_levels_are_merged_by_weight():
    df = pd.DataFrame({"x": list("aabbbcd") * 2, "y": list("uv") * 7, "w": [2.0, 1, 0.5, 0.5, 0.5, 4, 1] * 2})
    x = bn.bnc("nb", "y", bn.encode(df, weights="w"), smooth=1, min_count=4)
    assert bn.values(x)["x"] == ("a", "c", "other")
    assert bn.predict(x, {"x": "b"}, prob=True).equals(bn.predict(x, {"x": "z"}, prob=True))


@pytest.mark.parametrize("name", ["pima_clean", "made_mixed"])
@pytest.mark.parametrize("kind", ["whole", "fraction", "whole_eighth"])
def test_cut_points_by_weight_are_those_of_the_reference(name, kind):
    reference = read_reference("weighted")[name]
    folder = REFERENCE / "data" if name == "made_mixed" else REFERENCE.parents[1] / "data"
    frame = pd.read_csv(folder / f"{name}.csv")[[*reference["numbers"], reference["class"]]]
    weights = np.array(reference["weights"][kind.removesuffix("_eighth")], dtype=float)
    weights = weights / 8 if kind == "whole_eighth" else weights
    quantiles = reference["quantile"].get(kind, {})
    cases = [("mdlp", 5, reference["mdlp"][kind])]
    cases += [("quantile", int(bins), expected) for bins, expected in quantiles.items()]
    for method, bins, expected in cases:
        options = {"method": method, "bins": bins, "columns": reference["numbers"]}
        _, discretizer = bn.discretize(frame, class_var=reference["class"], weights=weights, **options)
        for column, points in expected.items():
            if method == "quantile":
                points = halfway_above(points, frame[column][weights > 0])
            assert discretizer.cuts[column] == pytest.approx(points, rel=1e-12), (method, bins, column)
        _, again = bn.discretize(
            frame.assign(weight=weights), class_var=reference["class"], weights="weight", **options
        )
        assert again == discretizer


def test_numbers_with_weights_are_encoded_and_have_to_be_discretized():
    df = pd.DataFrame({"x": np.arange(40) / 3, "y": list("ab") * 20, "w": np.linspace(0.5, 2, 40)})
    data = bn.encode(df, weights="w")
    with pytest.raises(TypeError, match=r"column 'x' must be categorical; got numbers with fractions"):
        bn.tan_cl("y", data)
    x = bn.bnc("nb", "y", data, smooth=1, discretize="averaged")
    again = bn.bnc(
        "nb", "y", bn.encode(df.drop(columns="w"), weights=df["w"]), smooth=1, discretize="averaged"
    )
    pd.testing.assert_frame_equal(bn.predict(x, df, prob=True), bn.predict(again, df, prob=True))
    assert 0 <= bn.cv(x, data, k=2, rng=0) <= 1


def test_weights_with_an_infinite_sum_are_refused():
    frame = pd.DataFrame({"a": list("xyxyxyxyxx"), "c": list("uvuvuvuvuv")})
    message = "weights must have a finite sum; got weights up to 1e\\+308"
    with pytest.raises(ValueError, match=message):
        bn.encode(frame, weights=[1e308] * 10)
    with pytest.raises(ValueError, match=message):
        bn.tan_cl("c", bn.encode([frame.assign(w=1e308)], weights="w"))
    assert bn.encode(frame, weights=[1e300] * 10).size == pytest.approx(1e301)


@pytest.mark.slow
def test_too_many_rows_are_refused_by_weights_that_are_numbers_of_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.normal(size=30), "y": rng.choice(list("uv"), 30)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for weight in (1e300, 2.0**53, 2.0**40):
            data = bn.encode(frame, weights=np.full(30, weight), weights_are="frequencies")
            with pytest.raises(ValueError, match=r"weights must sum to at most 1e\+12 .*'cases'"):
                bn.bnc(class_var="y", dataset=data)
        for weights_are, weights in (
            ("frequencies", np.full(30, 2.0**34)),
            ("cases", np.full(30, 1e300)),
            ("cases", np.where(np.arange(30) == 3, 1e300, 1.0)),
        ):
            fitting = bn.encode(frame, weights=weights, weights_are=weights_are)
            assert bn.bnc(class_var="y", dataset=fitting).fitted


@pytest.mark.parametrize("total", [10**9 - 3, 10**9, 10**12 + 1, 2**53 - 1])
def test_units_of_large_weights_are_split_evenly(total):
    units = np.array([total // 3, 5, total - total // 3 - 5, 0], dtype=np.int64)
    tested = folding.split_weights_into_folds(np.array([0, 0, 1, 1]), units, 3, np.random.default_rng(0))
    assert tested.sum(axis=1).tolist() == units.tolist()
    assert (tested >= 0).all()
    assert np.ptp(tested.sum(axis=0)) <= 1


@pytest.mark.parametrize(
    ("weights", "normalized"),
    [(1 / 1728, True), (0.5, True), (1.5, False), (1, False), ([0.25, 0] * 864, True), ([1, 0] * 864, False)],
)
def test_weights_that_are_normalized_are_recognized(car, weights, normalized):
    weighted = car.assign(w=weights)
    for rows in (weighted, [weighted.head(500), weighted.tail(-500)]):
        data = bn.encode(rows, weights="w")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bn.BIC(bn.lp(bn.nb("class", data), data, smooth=1), data)
        assert any("BIC treats weights as frequencies" in str(w.message) for w in caught) == normalized


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e12, 1e100, 1e300, None])
def test_weights_of_any_size_are_accepted(size):
    """The posteriors are numbers that sum to 1, without warnings of NumPy; None is a mixture of sizes."""
    rng = np.random.default_rng(0)
    cars = bn.load_car().sample(300, random_state=0)
    weights = 10 ** rng.uniform(-300, 300, len(cars)) if size is None else np.full(len(cars), size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        data = bn.encode(cars, weights=weights)
        settings = [{"backoff": True}, {"smooth": 1, "wanbia": True}]
        settings += [{"smooth": 1, "manb_prior": 0.5}, {"smooth": 1, "awnb_trees": 2, "rng": 0}]
        for how in settings:
            posteriors = bn.predict(bn.lp(bn.nb("class", data), data, **how), cars, prob=True)
            assert posteriors.to_numpy().sum(axis=1) == pytest.approx(1)
        bn.lp(bn.tan_cl("class", data, score="bic"), data, smooth=1)
        assert len(bn.stratified_folds(cars["class"], 2, rng=0)) == len(cars)
        numbers = bn.encode(bn.load_pima().dropna().head(len(cars)), weights=weights[: len(cars)])
        assert bn.bnc("nb", "diabetes", numbers, smooth=1, discretize="mdlp").fitted


@pytest.mark.parametrize("learner", ["nb", "kdb_mi"])
def test_weighted_rows_with_a_class_of_integers_get_the_default_recipe(learner):
    cars = bn.load_car()
    cars["class"] = (cars["class"] == "acc").astype(int)
    plain = bn.bnc(learner, "class", cars)
    model = bn.bnc(learner, "class", bn.encode(cars, weights=np.ones(len(cars))))
    expected, found = (bn.predict(x, cars, prob=True) for x in (plain, model))
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("most", [1000, 10_000])
def test_strengths_of_a_frequency_table_are_those_of_its_rows(most):
    weighted, repeated = titanic()
    x = bn.bnc("nb", "survived", weighted, smooth=1)
    mine, other = (mean_contributions(x, data, most) for data in (weighted, repeated))
    assert mine == pytest.approx(other, rel=1e-12)
    fractions = replace(weighted, weights=np.asarray(weighted.weights) / 2201)
    exact = mean_contributions(x, repeated, 10_000)
    assert mean_contributions(x, fractions, most) == pytest.approx(exact, rel=1e-12)
    axes = [bn.plot_importance(x, data) for data in (weighted, repeated)]
    texts = [[text.get_text() for text in ax.texts] + [ax.get_title("left")] for ax in axes]
    assert texts[0] == texts[1]
    ends = [np.concatenate([c.get_segments() for c in ax.collections]) for ax in axes]
    np.testing.assert_allclose(*ends, rtol=1e-12)
    none = replace(weighted, weights=np.zeros(32))
    with pytest.raises(ValueError, match="dataset must contain a row with a positive weight"):
        bn.plot_importance(x, none)
