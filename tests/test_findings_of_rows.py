"""Findings about tables of frequencies, persons with several rows, labelled numbers and codes of surveys."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import bnclassify as bn
from bnclassify.check.check_data import _log_chance_of_hits

COUNTED = pd.DataFrame(
    [
        ("old", "f", "ill", 30), ("old", "f", "well", 70), ("old", "m", "ill", 120),
        ("old", "m", "well", 80), ("young", "f", "ill", 5), ("young", "f", "well", 395),
        ("young", "m", "ill", 20), ("young", "m", "well", 280),
    ],
    columns=["age", "sex", "state", "Freq"],
)  # fmt: skip


def findings(dataset, class_var=None):
    found = bn.check_data(dataset, class_var)
    return dict(zip(found["column"], found["finding"], strict=True))


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(("name", "dtype"), [("Freq", int), ("n", float), ("count", int), (0, float)])
def test_a_table_of_frequencies_is_found_and_the_remedy_counts_persons(name, dtype):
    table = COUNTED.rename(columns={"Freq": name}).astype({name: dtype})
    [(column, finding, remedy)] = bn.check_data(table, "state").to_numpy()
    assert (column, finding[:22]) == (name, "numbers of equal rows,")
    assert name in findings(table.assign(row=list("abcdefgh")), "state")
    scope = {"dataset": table, "encode": bn.encode}
    exec(remedy.partition("use ")[2], scope)
    assert bn.check_data(scope["dataset"], "state").empty
    x = bn.bnc(class_var="state", dataset=scope["dataset"])
    ill = bn.predict(x, {"age": "young", "sex": "f"}, prob=True)["ill"].item()
    assert ill == pytest.approx(5 / 400, abs=0.01)


@pytest.mark.filterwarnings("ignore:numbers of equal rows")
def test_a_table_of_frequencies_is_told_once_and_nothing_advises_to_merge_or_drop_the_counts():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({name: rng.choice(list("abcdef"), 5000) for name in ("u", "v", "w")})
    people["y"] = np.where(rng.random(5000) < 0.2 + 0.5 * people["u"].isin(["a", "b"]), "p", "q")
    table = people.groupby(["u", "v", "w", "y"]).size().reset_index(name="n")
    assert list(findings(table, "y")) == ["n"]
    assert not findings(people, "y")
    for call in (
        lambda: bn.bnc("nb", "y", table, smooth=1),
        lambda: bn.lp(bn.tan_cl("y", table), table, smooth=1),
        lambda: bn.bnc("nb", "y", table, smooth=1, discretize="mdlp"),
    ):
        told = warned(call)
        assert [text for text in told if "numbers of equal rows" in text] == told[:1]
        assert not any("merge" in text.lower() or "drop" in text for text in told)
        assert all("encode(dataset, weights='n', weights_are='frequencies')" in text for text in told)


def test_tables_without_counts_are_not_tables_of_frequencies():
    rng = np.random.default_rng(1)
    assert not findings(bn.load_car(), "class")
    found = findings(bn.load_solar_flare(), "x-class-flares")
    assert found.pop("x-class-flares") == "the class has a single row with the label '2'"
    assert list(found) == ["largest-spot-area"]  # is constant
    # a design with a response, two columns of labels that are not crossed, and numbers that differ anyway
    trial = COUNTED.assign(Freq=rng.integers(0, 9, 8))
    assert not findings(trial, "state")
    visits = pd.DataFrame({"n": rng.integers(0, 50, 300), "size": rng.normal(size=300)})
    visits["y"] = rng.choice(["a", "b"], 300)
    assert not findings(visits, "y")
    assert not findings(visits.assign(size=rng.integers(0, 100, 300)), "y")


@pytest.mark.slow
@pytest.mark.parametrize(("named", "kind"), [("patient_id", str), ("bed", int)])
def test_persons_with_several_rows_are_found_and_told(named, kind):
    rng = np.random.default_rng(0)
    patient = np.repeat(rng.permutation(60), 5)
    ill = np.repeat(rng.random(60) < 0.4, 5) ^ (rng.random(300) < 0.05)
    week = np.tile([0, 2, 4, 6, 8], 60) + np.repeat(np.arange(60) % 2, 5)
    visits = pd.DataFrame({named: [kind(p) for p in patient], "week": week})
    visits[named] = ("P" + visits[named]) if kind is str else visits[named] + 100
    visits["ill"] = np.where(ill, "yes", "no")
    for dataset in (visits, visits.sample(frac=1, random_state=0)):
        [(column, finding, remedy)] = bn.check_data(dataset, "ill").to_numpy()
        assert column == named
        assert finding.startswith("60 values in 300 rows, as of persons with several rows each")
        assert f"groups='{named}'" in remedy
        [told] = warned(lambda dataset=dataset: bn.bnc("nb", "ill", dataset, smooth=1, discretize="mdlp"))
        assert told.startswith(f"'{named}': 60 values in 300 rows, as of persons")
    assert not warned(lambda: bn.bnc(class_var="ill", dataset=visits, groups=named))
    constant = visits.assign(ill=visits.groupby(named)["ill"].transform("first"))
    [(_, finding, _)] = bn.check_data(constant, "ill").to_numpy()  # not also to drop it
    assert "persons" in finding
    by_chance = visits.assign(ill=rng.permutation(visits["ill"]))
    assert "persons" not in str(findings(by_chance, "ill"))


def test_measurements_and_places_are_not_persons():
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, 600)
    towns = rng.choice([f"town {i}" for i in range(80)], 600, p=(w := 1 / np.arange(1, 81)) / w.sum())
    risk = (age / 90 + np.unique(towns, return_inverse=True)[1] % 3) / 3
    frame = pd.DataFrame({"age": age, "town": towns, "y": np.where(rng.random(600) < risk, "a", "b")})
    assert "persons" not in str(findings(frame, "y"))
    frame["age"] = np.repeat(np.arange(18, 78), 10)  # equally often
    frame["y"] = np.where(rng.random(600) < frame["age"] / 90, "a", "b")
    assert "persons" not in str(findings(frame, "y"))


def test_numbers_of_type_category_are_found_with_the_labels_that_are_lost():
    rng = np.random.default_rng(2)
    age = rng.integers(18, 98, 1500)
    y = np.where(rng.random(1500) < 1 / (1 + np.exp(-0.08 * (age - 55))), "yes", "no")
    number = pd.DataFrame({"age": age, "y": y})
    labels = number.assign(age=pd.Categorical(["97 or more" if a == 97 else a for a in age]))
    ordered = number.assign(age=pd.Categorical(age, ordered=True))
    for dataset, but in ((labels, ", but for '97 or more'"), (ordered, "")):
        [(column, finding, remedy)] = bn.check_data(dataset, "y").to_numpy()
        assert (column, finding) == ("age", f"numbers in a column of type category{but}")
        assert ("which makes '97 or more' missing" in remedy) == bool(but)
        exec(remedy.partition(", with ")[2].partition(", which")[0], {"dataset": dataset, "pd": pd})
        assert pd.api.types.is_numeric_dtype(dataset["age"])
        assert dataset["age"].isna().sum() == (age == 97).sum() * bool(but)
        assert not findings(dataset, "y")
    labels["age"] = pd.Categorical(["97 or more" if a == 97 else a for a in age])
    with pytest.warns(UserWarning, match="'age': numbers in a column of type category, but for '97 or more'"):
        bn.bnc("nb", "y", labels, smooth=1)
    few = number.assign(age=pd.Categorical(["never", "often", *range(1, 8)] * 100 + ["never"] * 600))
    assert not findings(few, "y")  # a scale with labels at its ends


@pytest.mark.parametrize(
    ("codes", "low", "high"),
    [
        *(([code], 8, 21) for code in (-9, -8, -1, 97, 98, 99, 998, 999)),
        ([77], 1, 8),
        ([97, 98, 99], 1, 46),
        ([-9, -8], 1, 6),
        ([-9, 97], 8, 21),
        ([1_000_000], 0, 9000),
    ],
)
def test_codes_of_surveys_are_found_by_their_distance(codes, low, high):
    rng = np.random.default_rng(0)
    values = rng.integers(low, high, 600)
    frame = pd.DataFrame({"years": values, "y": rng.choice(["a", "b"], 600)})
    assert all("can be codes or counts" in text for text in findings(frame, "y").values())
    coded = rng.random(600) < 0.08
    frame["years"] = np.where(coded, rng.choice(codes, 600), values)
    [(column, finding, remedy)] = bn.check_data(frame, "y").to_numpy()
    number = "the number " if len(codes) == 1 else "the numbers "
    told = ", ".join(map(str, codes))
    assert (column, finding) == ("years", f"{number}{told}, which can stand for a missing value")
    exec(remedy.partition(", with ")[2], {"dataset": frame})
    assert frame["years"].isna().equals(pd.Series(coded, name="years"))


def test_outliers_doses_and_zeros_are_not_codes():
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b"], 400)
    for values in (
        np.r_[rng.integers(0, 20, 397), 500, 700, 900],  # outliers
        rng.choice([0, 1, 10, 100], 400),
        rng.choice([0, 60, 61, 62, 63, 64], 400),  # none, and some
        rng.choice([*range(21), 70], 400),  # less than three times the range away
        rng.integers(-1, 10, 400),
        rng.normal(size=400),
        np.round(rng.lognormal(3, 2, 400), 1),
    ):
        found = findings(pd.DataFrame({"v": values, "y": y}), "y")
        assert found == ({"v": "4 whole numbers, which can be codes or counts"} if max(values) == 100 else {})


def test_values_missing_in_the_same_rows_are_found():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde")).assign(
        f=rng.choice(["u", "v"], 200)
    )
    frame["y"] = rng.choice(["k", "l"], 200)
    apart = frame.copy()
    for name in "abf":
        apart.loc[rng.random(200) < 0.3, name] = None
    assert not findings(apart, "y")
    frame.loc[rng.random(200) < 0.3, ["a", "c", "f"]] = None
    frame.loc[7, "c"] = None  # and one more
    [(column, finding, remedy)] = bn.check_data(frame, "y").to_numpy()
    rows = frame["a"].isna().sum()
    assert (column, finding) == ("a", f"missing in the same {rows} rows as 'c', 'f'")
    left = eval(remedy.rpartition("use ")[2], {"dataset": frame})
    assert len(left) == 200 - rows
    assert not findings(left, "y")


@pytest.mark.slow
def test_copies_of_the_class_are_told_with_groups_and_densities_too():
    rng = np.random.default_rng(5)
    y = rng.choice(["no", "yes"], 300)
    frame = pd.DataFrame({"fee": np.where(y == "yes", rng.integers(1, 20, 300) * 1.5, 0), "y": y})
    frame["other"], frame["g"] = rng.normal(size=300), np.arange(300) // 3
    plain = frame.drop(columns="g")
    for call in (
        lambda: bn.bnc(class_var="y", dataset=plain),
        lambda: bn.bnc(class_var="y", dataset=frame, groups="g"),
        lambda: bn.bnc("nb", "y", plain, smooth=1, numbers="gaussian"),
    ):
        assert any(text.startswith("'fee': alone predicts the class") for text in warned(call))


def test_rows_without_a_class_do_not_stop_a_fit():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"size": rng.normal(size=120), "n": rng.integers(0, 40, 120), "text": rng.choice(["u", "v"], 120)}
    )
    frame["y"] = np.where(rng.random(120) < 0.1, None, rng.choice(["a", "b"], 120))
    told = warned(lambda: bn.bnc(class_var="y", dataset=frame))
    assert all("have no class" in text for text in told)
    assert not findings(frame, "y")


@pytest.mark.parametrize(("hits", "rows", "share"), [(9, 10, 0.5), (40, 40, 0.3), (60, 200, 0.2)])
def test_the_chance_of_agreement_is_bounded_tightly(hits, rows, share):
    """The bound of Chernoff is at most rows + 1 times the probability of so many hits or more."""
    exact = binom.logsf(hits - 1, rows, share)
    assert exact <= _log_chance_of_hits(hits, rows, share) <= exact + np.log(rows + 1)


def test_groups_of_one_size_are_too_even_from_34_groups_on():
    """The variance is 0, and the standard deviation of its ratio to that of draws √(2 / 33) < 1/4."""
    rng = np.random.default_rng(0)
    for groups, is_found in ((33, False), (34, True)):
        frame = pd.DataFrame({"bed": np.repeat(rng.permutation(groups) + 100, 5)})
        frame["y"] = np.repeat(rng.choice(["u", "v"], groups), 5)
        assert ("persons" in findings(frame, "y").get("bed", "")) == is_found


def test_whole_numbers_identify_rows_if_chance_does_not_make_them_differ():
    """Of 100 numbers in a range of r, all differ with a probability of at most Π (1 − k / r)."""
    chances = {span: np.log1p(-np.arange(1, 100) / span).sum() for span in range(200, 500)}
    largest = max(span for span, chance in chances.items() if chance < -14)
    for span, is_found in ((largest, True), (largest + 1, False)):
        numbers = np.append(np.random.default_rng(0).permutation(span - 1)[:99], span - 1)
        numbers[numbers == numbers[:-1].min()] = 0
        frame = pd.DataFrame({"x": numbers, "y": ["u", "v", "u", "u"] * 25})
        assert ("whole numbers that all differ" in findings(frame, "y").get("x", "")) == is_found


@pytest.mark.parametrize(("rows", "is_found"), [(19, True), (18, False)])
def test_one_row_in_twenty_may_have_a_value_that_does_not_repeat(rows, is_found):
    frame = pd.DataFrame({"x": [*"a" * rows, *"b" * 19, "c", "d"], "y": [*"u" * rows, *"v" * 19, "u", "v"]})
    assert ("x" in findings(frame, "y")) == is_found
