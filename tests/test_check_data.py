"""What is odd about a table: findings that counting by hand confirms, and none in tables drawn at random."""

import math
import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

CAR = bn.load_car()
DAYS = pd.DatetimeIndex(["2020-01-01", "2021-01-01"] * 10)


def findings(dataset, class_var=None):
    found = bn.check_data(dataset, class_var)
    assert found.columns.tolist() == ["column", "finding", "remedy"]
    assert found["remedy"].str.len().gt(10).all()
    return {str(name): group["finding"].tolist() for name, group in found.groupby("column", sort=False)}


@pytest.mark.parametrize("load", [bn.load_car, bn.load_voting, bn.load_pima])
def test_clean_tables_have_no_findings(load):
    frame = load()
    assert not findings(frame, frame.columns[-1])


def test_all_findings_of_a_table_are_in_the_order_of_its_columns():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 60)
    frame = pd.DataFrame(
        {
            "when": [date(2020, 1, 1 + i % 9) for i in range(60)],
            "nothing": [None] * 60,
            "same": "x",
            "size": np.r_[np.inf, rng.normal(size=59)],
            "area": np.where(y == "a", [-np.inf] * 30 + [1.0] * 30, 2.0),
            "end": np.where(rng.random(60) < 0.5, "u ", "v"),
            "gap": np.where(rng.random(60) < 0.5, "?", "v"),
            "name": [f"n{i % 40}" for i in range(60)],
            "whole": rng.permutation([str(i) for i in range(60)]),
            "y": y,
        }
    )
    assert findings(frame, "y") == {
        "when": ["date values"],
        "nothing": ["all values are missing"],
        "same": ["all known values are equal"],
        "size": ["infinite numbers"],
        "area": ["infinite numbers", "alone predicts the class in all rows"],
        "end": ["labels with white space at an end"],
        "gap": ["the label '?', which can stand for a missing value"],
        "name": ["more levels than half of the known values"],
        "whole": ["numbers written as text, such as '0'", "all values differ, as in a column of identifiers"],
    }
    assert list(findings(frame)) == list(findings(frame, "y"))  # none of them needs the class


def test_leaks_are_found_with_and_without_missing_values():
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b", "c"], 90)
    other = rng.choice(["u", "v"], 90)
    codes = {"a": ["1", "4"], "b": ["2"], "c": [None]}
    frame = pd.DataFrame({"other": other, "code": [rng.choice(codes[label]) for label in y], "y": y})
    assert findings(frame, "y") == {"code": ["alone predicts the class in all rows"]}
    with pytest.warns(UserWarning, match="'code': alone predicts the class in all rows") as told:
        bn.tan_cl("y", frame)
    assert len(told) == 1
    frame.loc[frame.index[frame["code"].eq("2")][0], "y"] = "a"  # one exception
    assert findings(frame, "y") == {"code": ["alone separates the classes with an AUC of 0.987"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bn.tan_cl("y", frame)


def test_copies_of_the_class_are_told_and_dropped_together():
    frame = pd.DataFrame({"a": ["p", "q"] * 40, "b": ["r", "s"] * 40, "y": ["k", "l"] * 40, "z": range(80)})
    with pytest.warns(UserWarning, match="'a', 'b': each alone predicts the class in all rows") as told:
        bn.nb("y", frame[["a", "b", "y"]])
    remedy = str(told[0].message).partition("drop them, with ")[2]
    assert list(eval(remedy.rstrip("."), {"dataset": frame})) == ["y", "z"]


def test_days_that_are_made_of_dates_are_not_numbers_of_rows():
    frame = pd.DataFrame({"when": pd.date_range("2020", periods=90), "y": ["k", "l", "l"] * 30})
    [remedy] = bn.check_data(frame, "y")["remedy"]
    scope = {"dataset": frame, "pd": pd}
    exec("\n".join(remedy.splitlines()[1:3]), scope)
    assert "when_days" in scope["dataset"]
    assert not findings(scope["dataset"], "y")
    assert findings(scope["dataset"].rename(columns={"when_days": "when"}), "y")


def test_a_number_known_for_one_class_only_does_not_predict_it():
    rng = np.random.default_rng(2)
    y = rng.random(300) < 0.4
    fee = np.where(y & (rng.random(300) < 0.6), np.nan, rng.normal(size=300))  # missing: always this class
    frame = pd.DataFrame({"fee": fee, "y": y})
    assert not findings(frame, "y")
    frame["fee"] = np.where(y, rng.random(300), 0)
    assert findings(frame, "y") == {"fee": ["alone predicts the class in all rows"]}
    with pytest.warns(UserWarning, match="'fee': alone predicts the class"):
        bn.bnc(class_var="y", dataset=frame)
    frame["fee"] = y + rng.random(300)  # separates the classes, as a measurement can
    assert findings(frame, "y") == {"fee": ["alone predicts the class in all rows"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bn.bnc("nb", "y", frame, smooth=1, discretize="quantile")


@pytest.mark.parametrize(("rows", "is_told"), [(11, False), (12, True)])  # per class, of two
def test_copies_of_the_class_have_a_chance_below_one_in_a_million(rows, is_told):
    frame = pd.DataFrame({"text": ["p", "q"], "size": [0.5, 1.5], "y": ["a", "b"]})
    frame = frame.loc[[0] * rows + [1] * rows].reset_index(drop=True)
    frame["size"] += np.arange(2 * rows) / 100  # no two are equal
    chances = 2.0 ** -(2 * rows - 2), 2 / math.comb(2 * rows, rows)
    assert [chance < math.exp(-14) for chance in chances] == [is_told] * 2
    told = ["alone predicts the class in all rows"]
    assert findings(frame, "y") == ({"text": told, "size": told} if is_told else {})


def test_numbers_that_separate_few_rows_are_chance():
    frame = pd.DataFrame({"size": np.arange(23) / 7, "y": ["a"] * 11 + ["b"] * 12})
    orders = math.comb(23, 11)  # two of which separate the classes
    assert 1 / orders < math.exp(-14) < 2 / orders
    assert not findings(frame, "y")


@pytest.mark.parametrize(("rows", "copies", "is_found"), [(24, 16, True), (25, 15, False)])
def test_copied_rows_are_found_below_a_chance_of_one_in_a_million(rows, copies, is_found):
    """If no two rows have equal numbers, fewer than one of their r (r - 1) / 2 pairs is equal.

    These numbers do not lie on a grid, and all rows have one class.
    """
    expected = math.comb(rows + copies, 2) / math.comb(rows, 2)
    bound = copies - expected + copies * math.log(expected / copies)  # of Chernoff
    assert (bound <= -14) == is_found
    frame = pd.DataFrame({"size": np.random.default_rng(0).normal(size=rows), "y": "a"})
    found = bn.check_data(pd.concat([frame, frame.head(copies)]), "y")
    assert ("(rows)" in found["column"].tolist()) == is_found


def test_equal_rows_are_found_if_numbers_would_differ():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"size": rng.normal(size=200), "y": rng.choice(["a", "b"], 200)})
    copied = pd.concat([frame, frame.head(20)])
    found = bn.check_data(copied, "y")
    assert found["column"].tolist() == ["(rows)"]
    assert found["finding"][0].startswith("20 rows equal an earlier row")
    assert "dataset.drop_duplicates()" in found["remedy"][0]
    assert "groups=" in found["remedy"][0]
    assert not findings(copied.drop_duplicates(), "y")
    assert not findings(pd.concat([CAR, CAR]), "class")  # categories repeat
    assert not findings(frame.round(0), "y")  # and so do rounded numbers


@given(st.integers(0, 10**6), st.integers(20, 300), st.integers(2, 4), st.booleans())
def test_tables_drawn_at_random_have_no_findings(seed, rows, classes, gaps):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=rows),
            "whole": rng.integers(0, 100, rows),
            "wide": rng.integers(0, 10**7, rows),
            "flag": rng.random(rows) < rng.random(),
            "text": rng.choice(["red", "green", "blue"], rows),
        }
    )
    if gaps:
        frame = frame.mask(rng.random(frame.shape) < 0.2)
    frame["y"] = rng.choice(["k", "l", "m", "n"][:classes], rows)
    rare = ["y"] * bool((frame["y"].value_counts() == 1).any())  # a label of a single row
    assert set(findings(frame, "y")) <= {"flag", *rare}  # which can have one value only


@given(
    st.lists(st.decimals(-99999, 99999, places=2), min_size=12, max_size=30, unique=True),
    st.sampled_from(
        [
            "{:.2f}",
            "{:,.2f}",
            "{:.2f} mg",
            "{:,.2f}kg/m²",
            "{:.2f}%",
            "${:,.2f}",
            "€ {:.2f}",
            "comma",
            "points",
        ]
    ),
    st.sampled_from(["", "?", "n/a", "unknown"]),
)
def test_numbers_are_read_from_text_as_they_were_written(numbers, form, marker):
    if form == "comma":
        texts = [f"{x:.2f}".replace(".", ",") for x in numbers]
    elif form == "points":
        texts = [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in numbers]
    else:
        texts = [form.format(x).replace("$-", "-$").replace("€ -", "-€ ") for x in numbers]
    dataset = pd.DataFrame({"v": [*texts, marker]})
    [remedy] = bn.check_data(dataset)["remedy"]
    exec(remedy.removeprefix("Convert them, with "), {"dataset": dataset, "pd": pd})
    found = dataset["v"].astype(float).tolist()
    assert found == pytest.approx([*map(float, numbers), np.nan], nan_ok=True)


def test_codes_of_digits_are_not_taken_for_measurements():
    rng = np.random.default_rng(4)
    y = rng.choice(["a", "b"], 200)
    zips = pd.DataFrame({"zip": [f"0{rng.integers(10, 40)}" for _ in y], "y": y})
    assert not findings(zips, "y")
    zips["zip"] = zips["zip"].str.replace("0", "1", n=1)
    assert findings(zips, "y") == {
        "zip": ["numbers written as text, such as '" + sorted(set(zips["zip"]))[0] + "'"]
    }
    bn.bnc("nb", "y", zips, smooth=1)  # without a warning, because text can be meant


def test_identifiers_that_repeat_or_have_a_wide_range_are_measurements():
    rng = np.random.default_rng(5)
    y = rng.choice(["a", "b"], 500)
    ids = rng.permutation(5_000)[:500]
    for column, is_found in (
        (ids, True),
        (ids * 100, False),  # amounts of money up to half a million differ
        (np.append(ids[1:], ids[2]), False),
        (np.sort(ids) + 0.5, False),
    ):
        found = findings(pd.DataFrame({"k": column, "y": y}), "y")
        assert found == (
            {"k": ["whole numbers that all differ, as in a column of identifiers"]} if is_found else {}
        )


@pytest.mark.parametrize("name", ["id", "ID", "enrollee_id", "CustomerId", "Patient ID", "id.1"])
def test_names_of_identifiers_are_recognized(name):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({name: rng.permutation(10**6)[:100], "y": rng.choice(["a", "b"], 100)})
    assert findings(frame, "y") == {name: ["whole numbers that all differ, as in a column of identifiers"]}
    for other in ("humid", "width", "idle", "paid", "Madrid", 3):
        assert not findings(frame.set_axis([other, "y"], axis="columns"), "y")
    assert not findings(frame.assign(**{name: frame[name] // 10**4}), "y")  # numbers of groups


def test_frames_of_any_kind_are_checked():
    pl = pytest.importorskip("polars", reason="polars is not installed; the extra test has it")
    frame = pd.DataFrame({"v": [f"{i},5" for i in range(30)], "y": ["a", "b", "b"] * 10})
    found = bn.check_data(frame, "y")
    assert len(found) == 1
    for other in (pl.from_pandas(frame), pl.from_pandas(frame).to_arrow(), bn.encode(frame)):
        pd.testing.assert_frame_equal(bn.check_data(other, "y"), found)
    pd.testing.assert_frame_equal(bn.check_data([frame.head(9), frame.tail(21)], "y"), found)
    assert not len(bn.check_data(frame[[]]))


def test_partitioned_data_cause_warnings_about_labels_only():
    frame = pd.DataFrame({"v": [f"{i},5" for i in range(30)], "y": ["a", "b", "b"] * 10})
    with pytest.warns(UserWarning, match="'v': numbers written as text, such as") as told:
        bn.tan_cl("y", bn.encode([frame.head(20), frame.tail(10)], in_memory=False))
    assert len(told) == 1


def test_one_warning_names_all_columns_with_the_same_finding():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(100, 20)).round(2).astype(str)).rename(columns="v{}".format)
    frame = frame.mask(rng.random(frame.shape) < 0.1, "?").assign(y=rng.choice(["a", "b", "?"], 100))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bn.nb("y", frame)
    assert [str(one.message).partition(":")[0] for one in told] == [
        ", ".join(f"'v{i}'" for i in range(20)),
        "'y'",
    ]
    assert "but for '?'. For 'v0': Convert them, with dataset['v0'] = " in str(told[0].message)


@pytest.mark.parametrize("labels", [[None] * 10, [np.nan] * 10, pd.Categorical([None] * 10)])
def test_a_class_without_labels_is_told(labels):
    frame = pd.DataFrame({"f": ["a", "b"] * 5, "y": labels})
    assert findings(frame, "y") == {"y": ["the class has no label"]}
    for dataset in (frame, [frame]):
        with pytest.raises(ValueError, match=r"class 'y' is missing in every row\. A class must have labels"):
            bn.bnc("nb", "y", dataset, smooth=1)
    frame["y"] = "x"
    assert findings(frame, "y") == {"y": ["the class has one label"]}


def test_a_class_of_fractions_is_told():
    dataset = pd.DataFrame({"f": ["a", "b"] * 5, "y": np.arange(10) / 7})
    with pytest.raises(TypeError, match="class_var must be categorical"):
        bn.bnc(class_var="y", dataset=dataset)
    [(column, finding, remedy)] = bn.check_data(dataset, "y").to_numpy()
    assert (column, finding) == ("y", "the class has numbers of type float, which are not labels")
    exec(remedy.partition(", with ")[2], {"dataset": dataset, "pd": pd})
    assert not findings(dataset, "y")
    bn.bnc(class_var="y", dataset=dataset)
    for zero, one, kind, labels in ((0.0, 1.0, "Int64", [0, 1]), (0.5, 1.5, "string", ["0.5", "1.5"])):
        dataset = pd.DataFrame({"f": ["a", "b"] * 5, "y": [zero, one, one, zero, np.nan] * 2})
        with pytest.raises(TypeError, match=rf"If they are codes, use \.astype\('{kind}'\)"):
            bn.bnc(class_var="y", dataset=dataset)
        [remedy] = bn.check_data(dataset, "y")["remedy"]
        exec(remedy.partition("use ")[2].partition(";")[0], {"dataset": dataset})
        assert dataset["y"].dropna().unique().tolist() == labels
        assert not findings(dataset, "y")


@pytest.mark.parametrize("labels", [DAYS, DAYS.date, DAYS.to_period("Y")])
def test_a_class_of_dates_becomes_labels(labels):
    dataset = pd.DataFrame({"f": ["a", "b"] * 10, "y": labels}).iloc[1:]
    dataset.loc[5, "y"] = None
    with pytest.raises(TypeError, match=r"must be categorical; got 'y', .* Make them labels") as told:
        bn.bnc(class_var="y", dataset=dataset)
    remedy = bn.check_data(dataset, "y").set_index("column")["remedy"]["y"]
    assert str(told.value).endswith(f"{remedy}.")
    exec(remedy.partition(", with ")[2], {"dataset": dataset})
    assert dataset["y"].nunique() == 2
    assert dataset["y"].isna().sum() == 1
    with pytest.warns(UserWarning, match="no class|alone predicts"):
        assert len(bn.classes(bn.bnc(class_var="y", dataset=dataset))) == 2


@pytest.mark.parametrize("marker", [-999, 9999, -99])
def test_numbers_that_stand_for_missing_values_are_found(marker):
    rng = np.random.default_rng(9)
    dataset = pd.DataFrame({"size": rng.normal(5, 1, 200), "y": rng.choice(["a", "b"], 200)})
    assert not findings(dataset, "y")
    dataset.loc[::10, "size"] = marker
    [(column, finding, remedy)] = bn.check_data(dataset, "y").to_numpy()
    assert (column, finding) == ("size", f"the number {marker}, which can stand for a missing value")
    exec(remedy.partition(", with ")[2], {"dataset": dataset})
    assert dataset["size"].isna().sum() == 20
    assert not findings(dataset, "y")
    near = pd.DataFrame({"size": rng.integers(0, 100, 200), "y": dataset["y"]})
    assert not findings(near, "y")  # 99 is one of the numbers


def test_identifiers_of_digits_are_told_although_they_are_text():
    frame = pd.DataFrame({"id": [str(500 + i) for i in range(40)], "y": ["a", "b", "b", "b"] * 10})
    assert [text[:23] for text in findings(frame, "y")["id"]] == [
        "numbers written as text",
        "all values differ, as in"[:23],
    ]


def test_all_labels_that_a_remedy_makes_missing_are_named():
    frame = pd.DataFrame({"x": ["u", "v"] * 30, "y": ["NA", "a", "b", "None", "a", "b"] * 10})
    [(_, finding, remedy)] = bn.check_data(frame, "y").to_numpy()
    assert finding == "the labels 'NA', 'None', which can stand for a missing value"
    exec(remedy.partition(", with ")[2], {"dataset": frame})
    assert frame["y"].dropna().unique().tolist() == ["a", "b"]


def test_a_marker_of_the_class_is_told_also_if_a_feature_has_the_same_labels():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({name: rng.choice(["?", "a", "b"], 60) for name in ("v", "w", "y")})
    with pytest.warns(UserWarning, match=r"'y': the label '\?', which can stand for a missing value") as told:
        bn.nb("y", frame)
    assert len(told) == 1


def are_read_alike(*labels):
    """Whether some labels of a column are told to differ in what a person overlooks."""
    values = [*labels, "another"] * 8
    frame = pd.DataFrame({"x": pd.Categorical(values), "y": np.arange(len(values)) % 3 > 0})
    return any(text.startswith("labels that differ only") for text in findings(frame, "y").get("x", []))


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("over 50", "over 50."), ("1", "1.0"), (1, "1"), (1.0, "1"), ("007", "7"), ("'5.00", "5"),
        ("1,000", "1000"), ("1 mg", "1.0 mg"), ("Zürich", "Zu\u0308rich"), ("ZÃ¼rich", "Zürich"),
        ("a\u200bb", "ab"), ("\ufeffyes", "Yes"), ("x\xadray", "x-ray"), ("a\xa0b", "a b"),
        ("\uff21\uff22", "ab"), ("straße", "STRASSE"), ("self-employed", "self employed"),
        ("self_employed", "Self-Employed "), ("O'Brien", "O\u2019Brien"), ("“yes”", "yes"),
        ("St. Louis", "St Louis"), ("U.S.", "US"), ("<=50K", "<= 50k."), ("5-10", "5 \u2013 10"),
        ("\u22125", "-5"), ("Group 01", "Group 1"), ("A-1", "A 1"), ("2020-01-05", "2020-1-5"),
        ("yes,no", "yes, no"), (True, "true"),
    ],
)  # fmt: skip
def test_labels_that_a_person_reads_alike(label, other):
    assert are_read_alike(label, other)


@pytest.mark.parametrize(
    "labels",
    [
        ("A+", "A-", "A"),
        ("<=50K", ">50K", "50K"),
        ("5-10", "510", "5 10", "5.10", "5:10", "5/10", "(5)-10"),
        ("1.5", "15", "1-5"),
        ("(1, 2]", "[1, 2)"),
        ("grade 1, 2", "grade 12", "grade 1.2"),
        ("c", "c#", "c++", "c*"),
        ("10 %", "10", "$10", "€10", "-10", "(10)", "10-"),
        ("below -5", "below 5", "below .5"),
        ("cancer?", "cancer"),
        ("E11", "E11.0", "E11.1", "E11.10"),
        ("A01", "A1"),
        ("é", "e"),
        ("-", "--", "+", "?", ".", "*", ""),
        (10**17, 10**17 + 1),
    ],
)
def test_labels_that_a_person_reads_differently(labels):
    assert not are_read_alike(*labels)


def converted(remedy, dataset):
    """Run the code of a remedy, and return its variables."""
    scope = {"dataset": dataset.copy(), "pd": pd}
    exec(remedy.split("\nor, in")[0].partition(" with")[2].strip(), scope)
    return scope


AMOUNTS = {
    "brackets": (["(12.50)", "300.00", "(1,000.00)"], [-12.5, 300, -1000]),
    "brackets and a currency": (["($12.50)", "$300.00", "$(1,000.00)"], [-12.5, 300, -1000]),
    "sign behind": (["5.00-", "1,234.50-", "7"], [-5, -1234.5, 7]),
    "sign behind, comma": (["5,00-", "1.234,50", "7,00"], [-5, 1234.5, 7]),
    "minus of Unicode": (["\u22125.00", "\u20137", "3"], [-5, -7, 3]),
    "currency before the sign": (["$-5.00", "-$7.00", "- $3"], [-5, -7, -3]),
    "code before": (["EUR 5", "EUR 1,200", "-EUR 3"], [5, 1200, -3]),
    "code behind": (["5,10 EUR", "1.200,50 EUR", "-3,00 EUR"], [5.1, 1200.5, -3]),
    "rupees": (["\u20b912,34,567.50", "\u20b91,23,456", "Rs. 5"], [1234567.5, 123456, 5]),
    "lakh": (["12,34,567", "1,234", "5"], [1234567, 1234, 5]),
    "apostrophe before": (["'5.00", "'7.50", "'3"], [5, 7.5, 3]),
    "apostrophes": (["5'000.50", "1\u2019234\u2019567", "CHF 3"], [5000.5, 1234567, 3]),
    "thin spaces": (["1\u202f234,5", "12\xa0345,0", "5,5"], [1234.5, 12345, 5.5]),
    "about": (["~5", "ca. 7.5", "\u22488"], [5, 7.5, 8]),
    "powers": (["0.5M", "300K", "7"], [500_000, 300_000, 7]),
    "powers of money": (["$1.2bn", "-$300M", "$5"], [1.2e9, -3e8, 5]),
    "percent": (["10 %", "12.5%", "-3%"], [10, 12.5, -3]),
}


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_in_every_usual_notation(name, few):
    texts, values = AMOUNTS[name]
    if not few:  # twenty more numbers
        texts, values = [*texts, *[f"{x}" for x in range(20, 40)]], [*values, *range(20, 40)]
    frame = pd.DataFrame({"x": [*texts, "?"] * 4, "y": list("uv") * (2 * len(texts) + 2)})
    found = bn.check_data(frame, "y")
    assert found["finding"].iloc[0].startswith("numbers written as text")
    scope = converted(found["remedy"].iloc[0], frame)
    np.testing.assert_allclose(
        scope["dataset"]["x"].to_numpy(dtype=float, na_value=np.nan), [*values, np.nan] * 4
    )


@pytest.mark.parametrize(
    "texts",
    [
        ["192.168.0.1", "10.0.0.1"], ["A5", "A6"], ["007", "008"], ["5-10", "11-20"], ["5 6", "7 8"],
        ["1/2", "3/4"], ["customer 1", "customer 2"], ["B+", "B-"], ["2", "4", "5more"],
        ["1,2,3", "4,5,6"], ["4wd", "2wd"], ["1", "2", "3"],
    ],
)  # fmt: skip
def test_labels_that_are_not_amounts(texts):
    y = np.random.default_rng(0).choice(["u", "v"], 60)
    assert not findings(pd.DataFrame({"x": np.resize(texts, 60), "y": y}), "y")


@pytest.mark.parametrize("form", ["{:.2f}|", "{:.1f}+-2", "#{:.2f}", "{:.0f}/{:.0f}"])
def test_columns_of_digits_are_never_to_be_dropped(form):
    x = np.random.default_rng(0).normal(300, 40, 400)
    frame = pd.DataFrame(
        {"x": [form.format(a, b) for a, b in zip(x, x[::-1], strict=True)], "y": list("uv") * 200}
    )
    found = bn.check_data(frame, "y")
    assert len(found)
    assert found["remedy"].str.contains("convert them to numbers").all()
    assert not found["remedy"].str.contains("(?i:drop)|min_count").any()


MONTHS = pd.date_range("1950-01-01", periods=240, freq="MS")
QUARTERS = pd.date_range("2000-01-01", periods=90, freq="QS")
WEEKS = pd.date_range("2013-01-07", periods=200, freq="W-MON")
PERIODS = {
    **{
        f: (MONTHS, MONTHS.strftime(f).tolist())
        for f in ("%b-%y", "%y-%b", "%b %Y", "%B, %Y", "%b'%y", "%Y %b")
    },
    **{
        f: (MONTHS, MONTHS.strftime(f).tolist())
        for f in ("%Y-%m", "%m/%Y", "%m.%Y", "%Y.%m", "%YM%m", "%Y%m")
    },
    "%Y%m%d": (MONTHS, MONTHS.strftime("%Y%m%d").tolist()),
    "month, integer": (MONTHS, MONTHS.strftime("%Y%m").astype(int).tolist()),
    "month, float": (MONTHS, MONTHS.strftime("%Y%m").astype(float).tolist()),
    "day, integer": (MONTHS, MONTHS.strftime("%Y%m%d").astype(int).tolist()),
    "month without zeros": (MONTHS, [f"{d.month}/{d.year}" for d in MONTHS]),
    "few": (MONTHS[:4], MONTHS[:4].strftime("%b-%y").tolist()),
    "few, integer": (MONTHS[:5], MONTHS[:5].strftime("%Y%m").astype(int).tolist()),
    "Q1 2020": (QUARTERS, [f"Q{d.quarter} {d.year}" for d in QUARTERS]),
    "2020-Q1": (QUARTERS, [f"{d.year}-Q{d.quarter}" for d in QUARTERS]),
    "2020q1": (QUARTERS, [f"{d.year}q{d.quarter}" for d in QUARTERS]),
    "1Q20": (QUARTERS, [f"{d.quarter}Q{d.year % 100:02}" for d in QUARTERS]),
    "2013-W05": (WEEKS, WEEKS.strftime("%G-W%V").tolist()),
    "W05 2013": (WEEKS, WEEKS.strftime("W%V %G").tolist()),
    "week 5, 2013": (WEEKS, WEEKS.strftime("week %V, %G").tolist()),
    "201305": (WEEKS, WEEKS.strftime("%G%V").astype(int).tolist()),
}


@pytest.mark.parametrize("form", PERIODS)
def test_months_quarters_and_weeks_are_dates(form):
    dates, written = PERIODS[form]
    times = 1 if len(dates) > 10 else 30
    y = np.random.default_rng(0).choice(["u", "v"], times * len(dates))
    frame = pd.DataFrame({"x": written * times, "y": y})
    [(_, finding, remedy)] = bn.check_data(frame, "y").to_numpy()
    assert finding.startswith(("dates or times written as text", "dates written as numbers"))
    scope = converted(remedy, frame)
    assert scope["when"].tolist() == dates.tolist() * times
    assert {"x_days", "x_month"} <= set(scope["dataset"])
    if len(dates) > 10:
        with pytest.warns(UserWarning, match="'x': dates"):
            bn.nb("y", frame.astype({"x": "Int64"}) if form.endswith("float") else frame)


@pytest.mark.parametrize(
    "labels",
    [
        ["1", "1.0", "x"],
        ["self-employed", "self employed", "nurse"],
        ["Zürich", "Zu\u0308rich", "Bern"],
        ["a\u200bb", "ab", "c"],
        ["over 50.", "over 50", "under 50"],
    ],
)
def test_labels_that_are_one_for_a_person(labels):
    y = np.random.default_rng(0).choice(["u", "v"], 120)
    for class_var in ("y", "x"):
        frame = pd.DataFrame({"x": labels * 40, "y": y})
        [(column, finding, remedy)] = bn.check_data(frame, class_var).to_numpy()
        assert (column, finding[:23]) == ("x", "labels that differ only")
        assert converted(remedy, frame)["dataset"]["x"].nunique() == 2
        with pytest.warns(UserWarning, match="'x': labels that differ only in punctuation"):
            bn.nb(class_var, frame)


def test_a_number_and_its_text_in_one_column():
    values = pd.Series([1, "1", 2] * 20, dtype=object)
    y = np.random.default_rng(0).choice(["u", "v"], 60)
    [(_, finding, remedy)] = bn.check_data(
        pd.DataFrame({"x": pd.Categorical(values), "y": y}), "y"
    ).to_numpy()
    assert finding.endswith("such as 1, '1'")
    frame = pd.DataFrame({"x": pd.Categorical(values), "y": y})
    assert converted(remedy, frame)["dataset"]["x"].nunique() == 2
    assert findings(pd.DataFrame({"x": values, "y": y}), "y") == {"x": ["mixed-integer values"]}


def test_a_class_with_one_row():
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=100), "y": ["n"] * 99 + ["y"]})
    assert findings(frame, "y") == {"y": ["the class has a single row with the label 'y'"]}


@pytest.mark.parametrize("kind", ["number", "missing number", "category"])
def test_a_column_that_nearly_predicts_the_class(kind):
    """As expenditure on a card that was granted or not."""
    rng = np.random.default_rng(0)
    granted = rng.random(1000) < 0.7
    known = np.where(rng.random(1000) < 0.005, ~granted, granted)
    amount = np.where(known, rng.exponential(100, 1000), 0.0)
    frame = pd.DataFrame(
        {"spent": amount, "y": np.where(granted, "yes", "no"), "noise": rng.normal(size=1000)}
    )
    if kind == "missing number":
        frame["spent"] = frame["spent"].mask(~known)
    elif kind == "category":
        frame["spent"] = np.where(known, "some", "zero")
    [(column, finding, _)] = bn.check_data(frame, "y").to_numpy()
    assert (column, finding[:45]) == ("spent", "alone separates the classes with an AUC of 0."[:45])
    assert float(finding[-5:]) > 0.98
    frame["spent"] = frame["spent"].sample(frac=1, random_state=0).to_numpy()
    assert not findings(frame, "y")


def test_whole_numbers_of_few_values_can_be_codes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"race": rng.integers(1, 4, 200), "visits": rng.integers(0, 7, 200)})
    frame["y"] = rng.choice(["u", "v"], 200)
    [(column, finding, remedy)] = bn.check_data(frame, "y").to_numpy()
    assert (column, finding) == ("race", "3 whole numbers, which can be codes or counts")
    exec(remedy.partition(", with ")[2].partition(";")[0], {"dataset": frame})
    assert set(frame["race"]) == {"1", "2", "3"}


@pytest.mark.parametrize("kind", ["cut", "grades", "money", "integers"])
def test_rows_that_are_equal_because_the_class_follows_from_a_number(kind):
    x = np.random.default_rng(0).normal(15, 8, 500)
    x = {"cut": x.round(), "grades": x.round(), "money": (5 * x).round() / 5, "integers": x // 1}[kind]
    y = np.select([x < 10, x < 20], ["C", "B"], "A") if kind == "grades" else np.where(x > 15, "warm", "cold")
    frame = pd.DataFrame({"x": x, "y": y})
    assert set(findings(frame, "y")) == {"x"}
    copies = pd.concat([frame.assign(x=x + 0.1 * np.random.default_rng(1).normal(size=500))] * 2)
    assert set(findings(copies, "y")) == {"x", "(rows)"}


def test_no_finding_is_a_sentence():
    found = bn.check_data(CAR, "class")
    assert repr(found) == str(found) == "check_data found nothing odd about the table."
    assert "nothing odd" in found._repr_html_()
    assert found.columns.tolist() == ["column", "finding", "remedy"]
    assert bn.check_data(CAR.head(0), "class")["finding"].tolist() == ["the table has no rows"]
    odd = bn.check_data(CAR.assign(x=1), "class")
    assert "<table" in odd._repr_html_()
    with pd.option_context("display.width", 80, "display.max_columns", 2):  # as in a narrow terminal
        assert repr(odd) == "x: all known values are equal\n    Drop it, with dataset.drop(columns=['x'])"
    assert type(odd.head(0)) is pd.DataFrame


@pytest.mark.parametrize("groups", [None, [*"ab"] * 30])
def test_the_default_warns_of_a_column_once(groups):
    frame = pd.DataFrame({"name": [f"n{k}" for k in range(60)], "y": ["u", "v", "v"] * 20})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        bn.bnc(class_var="y", dataset=frame, groups=groups)
    assert [str(one.message)[:6] for one in found] == ["'name'"]
