"""What a message about data advises is done, on the data that cause it, and then the call works.

Remedies without code of the message itself follow their errors in messages.txt.
"""

import datetime
import re
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

N = 40
LABELS = np.random.default_rng(0).choice(["a", "b"], N)
COLOURS = pd.DataFrame({"x": ["r", "g", "g", "r", "b"] * 8, "y": LABELS})
NUMBERS = pd.DataFrame(
    {"x": np.r_[np.linspace(1, 4, 20), np.linspace(5, 9, 20)], "y": ["a"] * 21 + ["b"] * 19}
)
BY_COLOURS = bn.bnc("nb", "y", COLOURS, smooth=1)
BY_NUMBERS = bn.bnc("nb", "y", NUMBERS, smooth=1, discretize="mdlp")


def plain_nb(dataset):
    return bn.bnc("nb", "y", dataset, smooth=1)


def default(dataset):
    return bn.bnc(class_var="y", dataset=dataset)


def code_in(message):
    """Return the code that a message contains, up to the end of its sentence, with balanced brackets."""
    start = re.search(r"\b(dataset|newdata)(\[|, merger|\.drop| = )|\b(column|groups|pd)\.", message)
    assert start is not None, message
    text = message[start.start() :]
    depth, quoted, end = 0, "", len(text)
    for i, character in enumerate(text):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "'\"":
            quoted = character
        else:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
            if depth == 0 and re.match(r"\.?$|\. |, |; ", text[i:]) and not text.startswith(", merger", i):
                end = i
                break
    return text[:end]


def run(message, dataset, name="dataset"):
    """Run the code of a message, and return the data that it changes or makes."""
    code = code_in(message)
    scope = {name: dataset.copy(), "pd": pd, "np": np, "merge_rare": bn.merge_rare}
    if re.match(r"\w+(\[.*?\]|, merger)? = ", code):
        exec(code, scope)
        return scope[name]
    return eval(code, scope)


DAYS = [datetime.date(2020, 1 + i % 12, 1) for i in range(N)]
STAMPS = pd.date_range("2020", periods=N, freq="15D")
TIMES = [datetime.time(i % 12) for i in range(N)]
OTHER_TYPES = {
    "times of day": (TIMES, tuple(range(12))),
    "times of day, one missing": ([None, *TIMES[1:], datetime.time(0)][:N], tuple(range(12))),
    "spans": (pd.to_timedelta(np.arange(N) % 5, unit="h"), ()),
    "spans of Python": (pd.Series([datetime.timedelta(hours=i % 5) for i in range(N)], dtype=object), ()),
    "lists": ([[i % 2] for i in range(N)], ("[0]", "[1]")),
    "text and numbers": (["x", 1, None, 2] * 10, ("1", "2", "x")),
    "bytes": ([b"x", None] * 20, ("x",)),
    "bytes of Arrow": (pd.array([b"x", None] * 20, dtype="binary[pyarrow]"), ("x",)),
    "complex": ([1j, 2j] * 20, ("1j", "2j")),
    "flags and numbers": (pd.Series([True, 0, 1, False] * 10, dtype=object), (0, 1)),
    "whole fractions": ([Fraction(4, 2), None, Fraction(3)] * 13 + [None], (2, 3)),
    "intervals of dates": (pd.cut(pd.Series(pd.date_range("2020", periods=N)), 5), ()),
    "categories of bytes": (pd.Categorical([b"x", b"y"] * 20), ("x", "y")),
}


DATES = {
    "dates of Python": (DAYS, "days month"),
    "dates, one missing": ([None, *DAYS[1:]], "days month"),
    "datetimes of Python": (
        pd.Series([d.to_pydatetime() for d in STAMPS], dtype=object),
        "days month weekday",
    ),
    "datetimes": (STAMPS, "days month weekday"),
    "datetimes with a zone, one missing": (
        pd.Series([pd.NaT, *STAMPS[1:].tz_localize("UTC")]),
        "days month weekday",
    ),
    "categories of dates": (pd.Categorical([None, *DAYS[1:]]), "days month"),
    "categories of datetimes": (pd.Categorical(STAMPS), "days month weekday"),
    "categories of periods": (pd.Categorical(pd.period_range("2020", periods=N, freq="M")), "days month"),
    "periods": (pd.period_range("2020", periods=N, freq="M"), "days month"),
    "periods of Python": (
        pd.Series([*pd.period_range("2020", periods=N, freq="M")], dtype=object),
        "days month",
    ),
    "hours": (pd.date_range("2020", periods=N, freq="7h"), "days weekday hour"),
    "years": (pd.to_datetime([f"{2000 + i % 5}-01-01" for i in range(N)]), "days"),
}


def in_two_lines(message, dataset):
    """Run the two lines of a message that make features of dates."""
    first, second = message.splitlines()[1:3]
    scope = {"dataset": dataset.copy(), "pd": pd}
    exec(f"{first}\n{second}", scope)
    return scope["dataset"]


@pytest.mark.parametrize("case", DATES)
def test_features_are_made_of_dates(case):
    values, parts = DATES[case]
    dataset = pd.DataFrame({"x": values, "y": LABELS})
    with pytest.raises(TypeError, match=r"'x' must be categorical: .* Make features of them") as raised:
        plain_nb(dataset)
    made = in_two_lines(str(raised.value), dataset)
    assert set(made) - {"y"} <= {f"x_{part}" for part in parts.split()}
    kept = [f"x_{part}" for part in parts.split() if part in ("month", "weekday")]
    assert not kept or plain_nb(made[[*kept, "y"]]).features == tuple(kept)
    with pytest.raises(TypeError, match=r"'x' must be numeric; got .* values\. Make features") as raised:
        bn.discretize(dataset, method="width", bins=3, columns=["x"])
    made = in_two_lines(str(raised.value), dataset)
    assert made["x_days"].min() in (0, 15)  # the first may be missing
    assert made["x_days"].isna().equals(dataset["x"].isna())
    # a date of new data counts from the same day
    later = in_two_lines(str(raised.value), dataset.tail(3))
    assert later["x_days"].tolist() == made["x_days"].tail(3).tolist()
    [(_, finding, remedy)] = bn.check_data(dataset, "y").to_numpy().tolist()
    assert finding.endswith("values")
    assert set(in_two_lines(remedy, dataset)) == set(made)


def test_features_of_dates_are_called_after_their_columns():
    """Two names with spaces gave one column, called days."""
    dates = pd.date_range("2020", periods=N)
    dataset = pd.DataFrame({"first day": dates, 'it\'s "last"': dates + pd.Timedelta(days=400), "y": LABELS})
    for remedy in bn.check_data(dataset, "y")["remedy"]:
        dataset = in_two_lines(remedy, dataset)
    for name in ("first day", 'it\'s "last"'):
        assert dataset[f"{name}_days"].tolist() == [*range(N)]
        assert f"{name}_weekday" in dataset


@pytest.mark.parametrize("case", OTHER_TYPES)
def test_columns_of_other_types_become_categories(case):
    values, levels = OTHER_TYPES[case]
    dataset = pd.DataFrame({"x": values, "y": LABELS})
    with pytest.raises(TypeError, match=r"column 'x' must be categorical: .*; got") as raised:
        plain_nb(dataset)
    model = plain_nb(run(str(raised.value), dataset))
    found = bn.values(model)["x"]
    assert set(found) <= set(levels) if levels else len(found) == 5
    assert len(found) == len(levels) or levels in ((), tuple(range(12)))
    [(_, finding, remedy)] = bn.check_data(dataset, "y").to_numpy().tolist()
    assert finding.endswith("values")
    with pytest.raises(TypeError, match=r"or categorical: number, category, text or bool; got") as raised:
        default(dataset)
    assert remedy + "." in str(raised.value)  # without a reason to be categories
    checked = run(remedy, dataset)
    if "time" in case or "span" in case:
        assert checked["x"].nunique() == (12 if "time" in case else 5)
        assert pd.api.types.is_numeric_dtype(checked["x"])
        default(checked)
    else:
        assert bn.values(plain_nb(checked))["x"] == found


@pytest.mark.parametrize("case", [*list(OTHER_TYPES)[:4], "bytes", "category", "decimals", "fractions"])
def test_columns_of_other_types_become_numbers(case):
    values = {
        "bytes": [b"5", b"7"] * 20,
        "category": pd.Categorical(["5.5", "7"] * 20),
        "decimals": pd.Categorical([Decimal("5.5"), Decimal(7)] * 20),
        "fractions": [Fraction(1, 2), None] * 20,
    }.get(case)
    dataset = pd.DataFrame({"x": OTHER_TYPES[case][0] if values is None else values})
    with pytest.raises(TypeError, match="dataset: column 'x' must be numeric") as raised:
        bn.discretize(dataset, method="width", bins=3, columns=["x"])
    converted = run(str(raised.value), dataset)
    assert pd.api.types.is_numeric_dtype(converted["x"])
    assert converted["x"].isna().equals(dataset["x"].isna())
    assert len(bn.discretize(converted, method="width", bins=3, columns=["x"])[1].cuts["x"]) in (0, 2)


@pytest.mark.parametrize("kind", ["date32[pyarrow]", "time64[us][pyarrow]", "timestamp[ns][pyarrow]"])
def test_dates_and_times_of_arrow_become_categories(kind):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; the extra test has it")
    values = {"d": DAYS, "t": TIMES}.get(kind[0], []) if not kind.startswith("timestamp") else list(STAMPS)
    dataset = pd.DataFrame({"x": pd.array(values, dtype=kind), "y": LABELS})
    with pytest.raises(TypeError, match="column 'x' must be categorical") as raised:
        plain_nb(dataset)
    made = (run if kind.startswith("time64") else in_two_lines)(str(raised.value), dataset)
    [part] = [name for name in made if name in ("x", "x_month")]
    assert set(bn.values(plain_nb(made[[part, "y"]]))[part]) <= set(range(13))


WRITTEN = {
    "decimal commas": (["2,5", "7,5"], [2.5, 7.5]),
    "thousands": (["1,163", "-12,000.5"], [1163, -12000.5]),
    "thousands with points": (["1.163,5", "7"], [1163.5, 7]),
    "percent": (["45%", "7.5 %"], [45, 7.5]),
    "currency": (["$7", "$1,200"], [7, 1200]),
    "blanks in numbers": (["1 163", "12\u00a0000"], [1163, 12000]),
    "plain": ([" 2.5", "7"], [2.5, 7]),
    "markers": (["2.5", "?", "7.5"], [2.5, None, 7.5]),
    "numbers and markers": ([2.5, "n/a", 7], [2.5, None, 7]),
    "bools": ([True, False, None], [1, 0, None]),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_text_in_new_data_becomes_numbers(case):
    values, numbers = WRITTEN[case]
    expected = [np.nan if number is None else number for number in numbers]
    newdata = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    right = bn.predict(BY_NUMBERS, pd.DataFrame({"x": pd.Series(numbers, dtype=float)}), prob=True)
    with pytest.raises(TypeError, match="newdata: column 'x' must be numeric; got ") as raised:
        bn.predict(BY_NUMBERS, newdata)
    converted = run(str(raised.value), newdata, "newdata")
    assert converted["x"].astype(float).tolist() == pytest.approx([*map(float, expected)], nan_ok=True)
    pd.testing.assert_frame_equal(bn.predict(BY_NUMBERS, converted, prob=True), right)
    with pytest.raises(TypeError, match="dataset: column 'x' must be numeric") as raised:
        bn.discretize(newdata, method="width", columns=["x"])
    pd.testing.assert_frame_equal(run(str(raised.value), newdata), converted)


def test_text_that_is_not_a_number_is_named_before_it_is_lost():
    newdata = pd.DataFrame({"x": ["2.5", "low", "high", "low", "medium"]})
    with pytest.raises(TypeError, match="which makes 'low', 'high', 'medium' missing") as raised:
        bn.predict(BY_NUMBERS, newdata)
    assert run(str(raised.value), newdata, "newdata")["x"].notna().tolist() == [True] + [False] * 4
    assert bn.predict(BY_NUMBERS, {"x": 2.5}).tolist() == ["a"]
    text = pd.DataFrame({"x": ["2.5", "7"]})
    assert bn.predict(BY_NUMBERS, text.assign(x=pd.to_numeric(text["x"])).iloc[0]).tolist() == ["a"]


def _chunks(*frames):
    return lambda: iter(frames)


def _floats(*numbers):
    return COLOURS.assign(x=[numbers[i % len(numbers)] for i in range(N)])


INFINITE = _floats(0.5, 1.5, np.inf, 3.5, 4.5)
GAPS = _floats(1, 2, np.nan)
LARGE = COLOURS.assign(x=[2**60 + i for i in range(N)])
PARTS = [COLOURS.head(20), COLOURS.tail(20)[["y"]]]
MIXED = [COLOURS.assign(x=1), COLOURS.assign(x="1")]
INCOMPLETE = COLOURS.assign(y=COLOURS["y"].mask(COLOURS.index < 3))
GROUPS = pd.Series(np.arange(N) // 4, index=COLOURS.index[::-1])
AGAIN = pd.DataFrame({"x": ["r", "new"], "y": ["a", "b"]})
CODES = pd.DataFrame({"x": ["1", "2", "3", "1"] * 10, "y": LABELS})
FLOAT_CODES = CODES.assign(x=[f"{x}.0" for x in CODES["x"]])
FLAGS = CODES.assign(x=[True, False, True, True] * 10)

CASES = {
    **{
        f"infinite {name}": (
            partial(bn.predict, BY_NUMBERS, new),
            "newdata: column 'x' must have finite numbers; .* Make them missing",
            lambda m: bn.predict(BY_NUMBERS, {"x": None}),
        )
        for name, new in {
            "row": INFINITE,
            "record": {"x": -np.inf},
            "decimal": [{"x": Decimal("inf")}],
        }.items()
    },
    "text as a number of a density": (
        lambda: bn.bnc("nb", "y", COLOURS, smooth=1, numbers={"x": "gaussian"}),
        "column 'x' must be numeric; got text such as 'r'. Convert it, with .* which makes 'r', 'g', 'b' mis",
        lambda m: run(m, COLOURS),
    ),
    "whole numbers as text": (
        lambda: bn.predict(plain_nb(CODES), FLOAT_CODES, unseen="missing"),
        r"They differ only by \.0, .* pd\.to_numeric\(column\)\.astype\('Int64'\)\.astype\('string'\)\.$",
        lambda m: _equal(plain_nb(CODES), CODES, FLOAT_CODES, m),
    ),
    "text without .0": (
        lambda: bn.predict(plain_nb(FLOAT_CODES), CODES, unseen="missing"),
        r"They differ only by \.0, .*astype\('string'\) \+ '\.0'\.$",
        lambda m: _equal(plain_nb(FLOAT_CODES), FLOAT_CODES, CODES, m),
    ),
    "numbers in place of text": (
        lambda: bn.predict(plain_nb(CODES), CODES.astype({"x": int})),
        "They are of type int here and str in the model",
        lambda m: _equal(plain_nb(CODES), CODES, CODES.astype({"x": int}), m),
    ),
    "text in place of numbers": (
        lambda: bn.predict(plain_nb(CODES.astype({"x": int})), CODES),
        r"They are of type str here and int in the model\. Convert the column, with pd\.to_numeric\(column\)",
        lambda m: _equal(plain_nb(CODES.astype({"x": int})), CODES.astype({"x": int}), CODES, m),
    ),
    "text in place of flags": (
        lambda: bn.predict(plain_nb(FLAGS), FLAGS.astype({"x": str})),
        r"column\.map\(\{'True': True, 'False': False\}\)",
        lambda m: _equal(plain_nb(FLAGS), FLAGS, FLAGS.astype({"x": str}), m),
    ),
    "flags in place of text": (
        lambda: bn.predict(plain_nb(FLAGS.astype({"x": str})), FLAGS),
        r"column\.map\(str, na_action='ignore'\)",
        lambda m: _equal(plain_nb(FLAGS.astype({"x": str})), FLAGS.astype({"x": str}), FLAGS, m),
    ),
}


def _equal(model, right, new, message):
    column = eval(code_in(message), {"pd": pd, "column": new["x"]})
    assert bn.predict(model, new.assign(x=column)).tolist() == bn.predict(model, right).tolist()


@pytest.mark.parametrize("case", CASES)
def test_remedies_of_errors(case):
    call, message, remedied = CASES[case]
    with pytest.raises((KeyError, TypeError, ValueError), match=message) as raised:
        call()
    remedied(str(raised.value))


RNG = np.random.default_rng(0)
CLASSES = RNG.choice(["no", "yes"], 400)
NUMBER = np.round(50 + 10 * RNG.normal(size=400) + 12 * (CLASSES == "yes"), 1)
SHOPS = RNG.choice([f"s{i}" for i in range(300)], 400)
ON = pd.date_range("2020", periods=400)
WARNED = {
    "a marker": (
        np.where(np.arange(400) == 5, "?", NUMBER.astype(str)),
        r"numbers written as text, but for '\?",
    ),
    "two lines of a header": (np.r_[["number", "cm"], NUMBER.astype(str)[2:]], "but for 'cm', 'number'"),
    "decimal commas": (np.char.replace(NUMBER.astype(str), ".", ","), "numbers written as text, such as '"),
    "percent": ([f"{x}%" for x in NUMBER], "numbers written as text"),
    "dates": (ON.strftime("%d.%m.%Y"), "dates or times written as text"),
    "dates of the United States": (ON.strftime("%m/%d/%Y"), "dates or times"),
    "dates in English": (ON.strftime("%d-%b-%Y"), "dates or times"),
    "dates, year first": (ON.astype(str), "dates or times written as text"),
    "stamps of two zones": (
        [f"{day}T0{1 + i % 9}:00+0{i % 2}:00" for i, day in enumerate(ON.astype(str))],
        "dates or times",
    ),
    "dates and a marker": (np.where(np.arange(400) == 5, "?", ON.astype(str)), "dates or times .*but for"),
    "times": ([f"{i % 24}:{i % 60:02d}" for i in range(400)], "dates or times written as text, such as"),
    "spans": ([f"{i % 50}:{i % 60:02d}" for i in range(400)], "dates or times"),
    "spans with seconds": ([f"{i % 50}:{i % 60:02d}:30" for i in range(400)], "dates or times"),
    "times with seconds": ([f"{i % 12 + 1}:05:{i % 60:02d} PM" for i in range(400)], "dates or times"),
    "white space": (
        np.where(CLASSES == "yes", RNG.choice(["m", "f", "m "], 400), "f"),
        "white space or case",
    ),
    "case": (RNG.choice(["Paris", "paris", "Rome"], 400), "labels that differ only in white space or case"),
    "a copy of the class": (np.where(CLASSES == "yes", 1, 0), "alone predicts the class in all rows"),
    "an amount of one class": (
        np.where(CLASSES == "yes", np.abs(NUMBER) + 1, -5.0),
        "alone predicts the class in all rows",
    ),
    "numbers of rows": (np.arange(400), "numbers of the rows"),
    "identifiers": (1000 + 3 * RNG.permutation(400), "whole numbers that all differ"),
    "text identifiers": ([f"id{i}" for i in range(400)], "all values differ, as in a column of identifiers"),
    "many labels": (
        [f"s{i}" if i < 300 else "top" for i in range(400)],
        "more levels than half of the known values",
    ),
}


@pytest.mark.filterwarnings("ignore:the network has .* free parameters")
@pytest.mark.parametrize("case", WARNED)
def test_remedies_of_warnings(case):
    values, told = WARNED[case]
    dataset = pd.DataFrame({"v": values, "other": SHOPS[:400] > "s2", "y": CLASSES})
    with pytest.warns(UserWarning, match=rf"'v': .*{told}") as caught:
        bn.bnc("nb", "y", dataset, smooth=1, discretize="mdlp")
    [message] = [text for one in caught if "free parameters" not in (text := str(one.message))]
    found = bn.check_data(dataset, "y")
    texts = ["'{}': {}. {}.".format(*row) for row in found.itertuples(index=False)]
    place = [text.replace("Drop it, with", "Drop such columns, with") for text in texts].index(message)
    remedied = (in_two_lines if "\nwhen" in texts[place] else run)(found["remedy"].iloc[place], dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = bn.bnc("nb", "y", remedied, smooth=1, discretize="mdlp")
    assert not {"v", "v_days"} & set(bn.check_data(remedied, "y")["column"])
    if "v_days" in remedied:
        known = remedied["v_days"].notna()
        assert known.sum() >= 399
        assert remedied["v_days"][known].tolist() == np.arange(400)[known].tolist()
        assert {"v_month", "v_weekday"} < set(remedied)
    elif case == "times":
        assert remedied["v"].tolist() == [60 * (i % 24) + i % 60 for i in range(400)]
    elif case == "times with seconds":
        expected = [60 * (12 + (i % 12 + 1) % 12) + 5 + i % 60 / 60 for i in range(400)]
        assert remedied["v"].tolist() == pytest.approx(expected)
    elif case.startswith("spans"):
        seconds = 30 * ("seconds" in case)
        expected = [3600 * (i % 50) + 60 * (i % 60) + seconds for i in range(400)]
        assert remedied["v"].tolist() == expected
    elif "numbers written" in told or "but for" in told:
        assert pd.api.types.is_numeric_dtype(remedied["v"])
        assert (
            np.nanmax(np.abs(remedied["v"].to_numpy() - np.where(remedied["v"].isna(), np.nan, NUMBER)))
            < 1e-9
        )
        assert bn.accuracy(bn.predict(model, remedied), remedied["y"]) > 0.65


def test_the_class_can_have_markers_spaces_and_too_many_labels():
    for labels, told in (
        (np.where(np.arange(400) == 7, "?", CLASSES), r"the label '\?', which can stand for a missing value"),
        (np.where(np.arange(400) == 7, "yes\t", CLASSES), "labels that differ only in white space or case"),
        (np.round(NUMBER).astype(int), "the class has .* numbers as labels"),
    ):
        dataset = pd.DataFrame({"x": SHOPS > "s2", "y": labels})
        with pytest.warns(UserWarning, match=f"'y': {told}"):
            plain_nb(dataset)
        found = bn.check_data(dataset, "y")
        remedied = run(found["remedy"].iloc[0], dataset)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="1 of 400 rows have no class")
            model = plain_nb(remedied)
        assert len(bn.classes(model)) in (2, 3)
        assert not len(bn.check_data(remedied, "y"))


def test_merging_is_advised_for_categories_with_many_levels_only():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 300)
    dataset = pd.DataFrame({"shop": rng.choice([f"s{i}" for i in range(60)], 300), "y": y})
    dataset["price"] = rng.normal(size=300) + 2 * (y == "a")
    options = {"smooth": 1, "discretize": "mdlp", "dag_args": {"score": "loglik"}}
    with pytest.warns(UserWarning, match="rare levels of 'shop' .60 levels., with dataset, merger") as told:
        bn.bnc("tan_cl", "y", dataset, **options)
    assert "'y'" not in str(told[0].message)
    assert bn.is_ode(bn.bnc("tan_cl", "y", run(str(told[0].message), dataset), **options))
    assert bn.is_nb(bn.bnc("nb", "y", dataset, smooth=1, discretize="mdlp"))
