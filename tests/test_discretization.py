"""Numbers to intervals: where is cut, what becomes of the data, and what is refused."""

import pickle
from decimal import Decimal
from itertools import pairwise
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.models import Discretizer

INF = float("inf")


def cuts(x, y=None, **options):
    """Return the cut points of one column, which is named, by the class if there is one."""
    frame = pd.DataFrame({"x": x} if y is None else {"x": x, "y": list(y)})
    target = None if y is None else "y"
    _, discretizer = bn.discretize(frame, class_var=target, **{"columns": ["x"], **options})
    return discretizer.cuts["x"]


# -- MDLP ----------------------------------------------------------------------------------------


def entropy(classes):
    shares = [classes.count(c) / len(classes) for c in set(classes)]
    return -sum(p * log2(p) for p in shares)


def mdlp(rows):
    """Fayyad and Irani's method, word for word: try every cut, keep the best, go on in both parts."""
    values = sorted({x for x, _ in rows})
    classes = [y for _, y in rows]
    n, best = len(rows), (1e-9, None, [], [])
    for low, high in pairwise(values):
        below, above = [r for r in rows if r[0] <= low], [r for r in rows if r[0] > low]
        after = sum(len(part) / n * entropy([y for _, y in part]) for part in (below, above))
        if entropy(classes) - after > best[0] + 1e-9:
            best = entropy(classes) - after, (low + high) / 2, below, above
    gain, cut, *parts = best
    if cut is None:
        return []
    k, *ks = (len({y for _, y in part}) for part in (rows, *parts))
    h, *hs = (entropy([y for _, y in part]) for part in (rows, *parts))
    delta = log2(3**k - 2) - (k * h - ks[0] * hs[0] - ks[1] * hs[1])
    if gain <= (log2(n - 1) + delta) / n:
        return []
    return [*mdlp(parts[0]), cut, *mdlp(parts[1])]


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        # 8 rows, one bit each, gained whole: 8 > log2 7 + log2 7 - 2·1 + 0 + 0 = 3.61
        (range(8), "aaaabbbb", (3.5,)),
        # Best after the first: 4 - 3·0.918 = 1.245 < log2 3 + log2 7 - 2·1 + 0 + 2·0.918 = 4.23
        (range(4), "abab", ()),
        # Two rows of two classes: 2 > log2 1 + log2 7 - 2·1 = 0.81
        ([1, 3], "ab", (2,)),
        # Both cuts gain 12·1.585 - 8 = 11.02; the lower is made first, then the other: 8 > log2 7 + 0.81
        (range(12), "aaaabbbbcccc", (3.5, 7.5)),
        # A value with both classes stays whole. First 60 - 40·0.811 = 27.5 > log2 59 + log2 7 - 2 + 2·0.811
        # = 8.3, and above it 40·0.811 - 20 = 12.5 > log2 39 + log2 7 - 2·0.811 + 2 = 8.5
        (np.repeat([1, 2, 3], 20), "a" * 20 + "ab" * 10 + "b" * 20, (1.5, 2.5)),
        # 5·0.722 = 3.61 > log2 4 + log2 7 - 2·0.722 = 3.36
        (range(5), "abbbb", (0.5,)),
        # Best after the seventh: 11·0.845 - 4·0.811 = 6.054 < log2 10 + log2 7 - 2·0.845 + 2·0.811 = 6.061
        (range(11), "aaaaaaabbba", ()),
        # After the fifth and the eleventh the gain is the same but for rounding: the lower is made first
        (range(16), "aaaaacbbbbaccccc", (4.5, 5.5, 9.5, 10.5)),
        # Equal rows at all values: no gain, no cut
        ([1, 1, 2, 2], "abab", ()),
        # One class alone
        (range(9), "a" * 9, ()),
        # A constant column
        ([5, 5, 5], "aab", ()),
        # One row
        ([5], "a", ()),
        # A missing value or class has no say
        ([0, 1, 2, 3, None, 4, 5, 6, 7], "aaaaabbbb", (3.5,)),
        ([0, 1, 2, 3, 3.9, 4, 5, 6, 7], [*"aaaa", None, *"bbbb"], (3.5,)),
        # No value is known, or only where the class is not
        ([np.nan, np.nan], "ab", ()),
        ([1, 2, np.nan, np.nan], [None, None, "a", "b"], ()),
    ],
)
def test_mdlp_by_hand(x, y, expected):
    assert cuts(x, y) == expected
    rows = [(a, b) for a, b in zip(x, y, strict=True) if not (pd.isna(a) or pd.isna(b))]
    assert not rows or tuple(mdlp(rows)) == expected


@st.composite
def labelled(draw):
    """Whole numbers whose class mostly goes by their size, in random order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(1, 40))
    x = rng.integers(draw(st.sampled_from([3, 12, 100])), size=rows)
    classes = draw(st.integers(1, 4))
    noise = rng.random(rows) < draw(st.sampled_from([0, 0.1, 0.5, 1]))
    y = np.where(noise, rng.integers(classes, size=rows), x // draw(st.integers(1, 30)) % classes)
    return x.tolist(), y.tolist()


@given(labelled())
def test_mdlp_is_the_method_word_for_word(data):
    assert list(cuts(*data)) == mdlp(list(zip(*data, strict=True)))


@pytest.mark.slow
@given(labelled(), st.integers(-40, 40), st.integers(-1000, 1000), st.randoms())
def test_mdlp_follows_scale_and_shift_and_not_the_order_of_rows(data, power, shift, random):
    x, y = data
    found = cuts(x, y)
    np.testing.assert_allclose(cuts(np.array(x) * 2.0**power, y), np.array(found) * 2.0**power, rtol=1e-14)
    assert cuts(np.array(x) + shift, y) == tuple(np.array(found) + shift)
    order = list(range(len(x)))
    random.shuffle(order)
    assert cuts([x[i] for i in order], [y[i] for i in order]) == found
    assert cuts(x, [f"class {-c}" for c in y]) == found
    mirrored, _ = bn.discretize(
        pd.DataFrame({"x": x, "z": np.exp2(np.array(x) % 100), "y": y}), class_var="y", columns=["x", "z"]
    )
    assert mirrored["x"].cat.codes.tolist() == mirrored["z"].cat.codes.tolist()


@given(labelled())
def test_what_pays_for_some_rows_pays_for_twice_as_many(data):
    x, y = data
    assert set(cuts(x, y)) <= set(cuts(x * 2, y * 2))


@pytest.mark.filterwarnings("ignore:.*the class has")
def test_many_cuts_and_many_classes():
    rows = np.arange(6000)
    assert cuts(rows, rows // 30 % 2) == tuple(np.arange(29.5, 5999, 30))
    x = np.repeat(np.arange(300), 3)
    assert cuts(x, x) == tuple(np.arange(299) + 0.5)


def test_a_number_as_class_is_told(monkeypatch):
    data = pd.DataFrame({"x": np.arange(300) / 2, "y": np.arange(300)})
    with pytest.warns(UserWarning, match="'y': the class has 300 numbers as labels"):
        bn.discretize(data, class_var="y")
    monkeypatch.setattr("bnclassify.numbers.MAX_CELLS", 10_000)
    data["y"] = data["y"].map("town {}".format)
    few = data.assign(y=data["y"].iloc[:33].tolist() * 9 + data["y"].iloc[:3].tolist())
    assert bn.discretize(few, class_var="y")[1].uncut == ("x",)
    with pytest.raises(ValueError, match="34 classes are too many to discretize 300 different values"):
        bn.discretize(few.assign(y=["more", *few["y"][1:]]), class_var="y")


def test_classes_that_do_not_occur_cost_nothing():
    x, y = [1, 2, 3, 4] * 10, ["u", "u", "v", "v"] * 10
    many = pd.Categorical(y, categories=["a", "u", *map(str, range(1000)), "v"])
    frame = pd.DataFrame({"x": x, "y": many})
    assert bn.discretize(frame, class_var="y", columns=["x"])[1].cuts == {"x": (2.5,)}


def test_columns_without_a_cut_are_told():
    data = pd.DataFrame(
        {
            "a": [1, 2.5, 3] * 4,
            "b": [1.5] * 12,
            "none": [np.nan] * 12,
            "d": [0.5, 1, 1.5] * 4,
            "c": list("uvw") * 4,
        }
    )
    assert bn.discretize(data, class_var="c")[1].uncut == ("b", "none")
    assert bn.discretize(data[["a", "c"]], class_var="c")[1].uncut == ()
    frame, discretizer = bn.discretize(data, class_var="c")
    assert list(discretizer(data[["a", "d"]])) == ["a", "d"]
    pd.testing.assert_frame_equal(discretizer(data[["b", "d", "a"]]), frame[["b", "d", "a"]])
    with pytest.raises(KeyError, match="newdata: no column 'a'"):
        discretizer(data[["b", "d"]])


# -- Mixed ---------------------------------------------------------------------------------------


@given(labelled(), st.integers(2, 8))
def test_mixed_is_mdlp_where_that_makes_four_cuts(data, bins):
    x, y = data
    by_class = cuts(x, y)
    expected = by_class if len(by_class) >= 4 else cuts(x, y, method="quantile", bins=bins)
    assert cuts(x, y, method="mixed", bins=bins) == expected


def test_mixed_by_hand():
    # 30 rows a class in turn: each border of six such blocks pays for itself, and so do those of five
    x = np.arange(180)
    assert cuts(x, x // 30 % 2, method="mixed") == (29.5, 59.5, 89.5, 119.5, 149.5)
    assert cuts(x[:150], x[:150] // 30 % 2, method="mixed") == (29.5, 59.5, 89.5, 119.5)
    # Three cuts are too few: the quantiles of 0, 1, …, 119 in quarters
    assert cuts(x[:120], x[:120] // 30 % 2, method="mixed", bins=4) == (29.5, 59.5, 89.5)
    # Rows whose class is not known have no say in MDLP, but are counted for quantiles
    y = ["a", "b", None, None, None] * 4
    assert cuts(range(20), y, method="mixed") == cuts(range(20), y, method="quantile")
    assert cuts([1.0, 2.0, 3.0], [None, None, "a"], method="mixed", bins=2) == (2.5,)


# -- Numbers that stay categories ----------------------------------------------------------------


@pytest.mark.parametrize("method", ["mdlp", "quantile", "width", "mixed"])
@pytest.mark.parametrize(
    ("x", "labels"),
    [
        ([*range(10)] * 3, tuple(range(10))),
        ([float(i) for i in range(10)] * 3, tuple(range(10))),
        ([3.0, -1.0, np.nan] * 10, (-1, 3)),
        (pd.array([5, 3, None] * 10, "Int64"), (3, 5)),
        (pd.array([5, 3.5, None] * 10, "Float64"), (3.5, 5)),
        ([0.25, 7.5, 0.25] * 10, (0.25, 7.5)),
        ([Decimal(1), Decimal(2), None] * 10, (1, 2)),
        (pd.Series([2**60, 2**60 + 1, None] * 10, dtype=object), (2**60, 2**60 + 1)),
        ([4.5] * 30, (4.5,)),
    ],
)
def test_numbers_of_few_values_stay_categories(method, x, labels):
    data = pd.DataFrame({"x": x, "size": np.arange(30) / 7, "y": ["u"] * 15 + ["v"] * 15})
    frame, discretizer = bn.discretize(data, class_var="y", method=method)
    assert discretizer.kept == {"x": labels}
    assert [type(label) for label in discretizer.kept["x"]] == [type(label) for label in labels]
    assert list(discretizer.cuts) == ["size"]
    assert discretizer.columns == ("x", "size")
    assert frame["x"].cat.categories.tolist() == list(labels)
    assert [value for value in frame["x"] if not pd.isna(value)] == [
        value for value in data["x"] if not pd.isna(value)
    ]
    assert bn.encode(frame).levels[0] == labels
    pd.testing.assert_frame_equal(discretizer(data), frame)
    assert discretizer.uncut == (("x",) if len(labels) == 1 else ())


@pytest.mark.parametrize("x", [[*range(11)] * 3, [i / 2 for i in range(3)] * 11, [1, 2, 2.5] * 11])
def test_others_are_cut(x):
    data = pd.DataFrame({"x": x, "y": ["u", "v", "w"] * 11})
    _, discretizer = bn.discretize(data, class_var="y", method="quantile")
    assert list(discretizer.cuts) == ["x"]
    assert discretizer.kept == {}


def test_few_numbers_that_are_named_are_cut_and_the_others_pass():
    data = pd.DataFrame({"flag": [0, 1] * 10, "grade": [1.0, 2, 3, 4] * 5, "y": ["u", "v"] * 10})
    frame, discretizer = bn.discretize(data, class_var="y", columns=["flag"])
    assert discretizer.cuts == {"flag": (0.5,)}
    assert discretizer.kept == {}
    assert frame["grade"].dtype == float


def test_new_numbers_follow_those_that_are_known():
    data = pd.DataFrame({"x": [0, 1] * 10, "half": [0.5, 1.5] * 10, "y": ["u", "v"] * 10})
    frame, discretizer = bn.discretize(data, class_var="y")
    new = discretizer(pd.DataFrame({"x": [1.0, 7.0, None], "half": [9, 0.5, 1.5]}))
    assert new["x"].cat.categories.tolist() == [0, 1, 7]
    assert new["half"].cat.categories.tolist() == [0.5, 1.5, 9]
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    with pytest.raises(ValueError, match="column 'x': 7 not among the levels of the model, 0, 1"):
        bn.predict(x, new)
    assert bn.predict(x, new, unseen="missing").tolist() == ["v", "u", "v"]
    whole = discretizer(pd.DataFrame({"x": pd.array([1, None], "Int64"), "half": [np.nan, 1.5]}))
    pd.testing.assert_frame_equal(
        bn.predict(x, whole, prob=True),
        bn.predict(x, frame.iloc[[1, 1]].assign(half=[None, 1.5], x=[1, None]).set_axis([0, 1]), prob=True),
    )
    assert discretizer(pd.DataFrame({"x": ["1"]}))["x"].tolist() == ["1"]  # which the model refuses, by name
    assert discretizer(pd.DataFrame({"half": [None]}))["half"].cat.categories.tolist() == [0.5, 1.5]


def test_flags_keep_what_they_tell_of_the_class():
    """Numbers that depend on the class but get no cut point by MDLP are kept."""
    rng = np.random.default_rng(5)
    flags = rng.integers(0, 2, (150, 5))
    y = np.where(rng.random(150) < 0.4 + 0.2 * flags[:, 0], "u", "v")
    data = pd.DataFrame(flags).add_prefix("f").assign(y=y)
    assert all(not cuts(data[name], y) for name in data.columns[1:-1])
    frame, discretizer = bn.discretize(data, class_var="y")
    assert discretizer.uncut == ()
    assert bn.cmi("f0", "y", frame) == bn.cmi("f0", "y", data.astype(str)) > 0


# -- Quantiles and equal width -------------------------------------------------------------------


@given(
    # Eighths, so that no two values are so near that rounding decides between them
    st.lists(st.integers(-(2**23), 2**23).map(lambda i: i / 8), min_size=2, max_size=50, unique=True),
    st.integers(2, 8),
)
def test_methods_without_a_class_agree_with_numpy(x, bins):
    values = pd.Series(x)
    frame, discretizer = bn.discretize(values.to_frame("x"), method="quantile", bins=bins, columns=["x"])
    # Above the least value that i of the bins' shares of the rows do not exceed, but the largest value
    ascending = sorted(x)
    below = {-(-i * len(x) // bins) - 1 for i in range(1, bins)} - {len(x) - 1} or {len(x) - 2}
    expected = [(ascending[i] + ascending[i + 1]) / 2 for i in sorted(below)]
    assert list(discretizer.cuts["x"]) == expected
    assert frame["x"].cat.codes.tolist() == np.searchsorted(expected, x).tolist()
    _, discretizer = bn.discretize(values.to_frame("x"), method="width", bins=bins, columns=["x"])
    even = np.linspace(min(x), max(x), bins + 1)[1:-1]
    near = 1e-6 * max(map(abs, x))
    is_near = np.array([np.abs(values - point).min() < near for point in even])
    found = np.array(discretizer.cuts["x"])
    if not is_near.any():
        np.testing.assert_allclose(found, even, rtol=1e-9, atol=1e-9)
    assert all(np.abs(values - point).min() > 1e-8 * max(map(abs, x)) for point in found)


@pytest.mark.parametrize(
    ("x", "options", "expected"),
    [
        # Quantiles of 0, 1, ..., 10 in fifths
        (range(11), {"method": "quantile"}, (2.5, 4.5, 6.5, 8.5)),
        (range(11), {"method": "quantile", "bins": np.int64(2)}, (5.5,)),
        # A range beyond the greatest float
        ([-1e308, -0.9e308, 0.9e308, 1e308], {"method": "quantile", "bins": 2}, (0,)),
        ([-1e308, -0.9e308, 0.9e308, 1e308], {"method": "quantile", "bins": 3}, (0, 0.95e308)),
        # All quantiles are 0: one cut above it
        ([0] * 9 + [1], {"method": "quantile"}, (0.5,)),
        # All are 1, above which is nothing: one cut below it
        ([0] + [1] * 9, {"method": "quantile"}, (0.5,)),
        ([3, 1, 2], {"method": "quantile", "bins": 100}, None),
        ([7, 7, None], {"method": "quantile"}, ()),
        ([None, None], {"method": "quantile"}, ()),
        (range(11), {"method": "width"}, (2.5, 4.5, 6.5, 8.5)),
        ([0, 1], {"method": "width", "bins": 10}, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
        # Empty intervals stay
        ([0, 0, 0, 10], {"method": "width"}, (2, 4, 6, 8)),
        ([-1, 1], {"method": "width", "bins": 2}, (0,)),
        ([7, 7, None], {"method": "width"}, ()),
        ([0.1, 0.1, 0.1], {"method": "width", "bins": 3}, ()),
        ([-1.7e308, 1.7e308], {"method": "width", "bins": 2}, (0,)),
        # No floats lie between these neighbors: the cuts that are left
        ([1.0, np.nextafter(1, 2)], {"method": "width", "bins": 9}, (1,)),
    ],
)
def test_methods_without_a_class_by_hand(x, options, expected):
    found = cuts(x, **options)
    if expected is None:
        assert 1 <= found[0] < found[-1] < 3
        assert len(found) == len(set(found)) <= 99
    else:
        assert found == expected


@pytest.mark.parametrize("weight", [0.1, 0.7, 1e-9])
def test_sums_of_equal_weights_are_rounded_as_numbers_of_rows(weight):
    """The first four of five weights of .1 add up to .4, but the first eight of ten to less than .8."""
    for bins in range(2, 10):
        weighted = cuts(range(10), method="quantile", bins=bins, weights=[weight] * 10)
        assert weighted == cuts(range(10), method="quantile", bins=bins)


def test_the_means_of_intervals_are_those_of_the_training_values():
    _, discretizer = bn.discretize(
        pd.DataFrame({"x": [1, 2, 3.5, 5]}), method="quantile", bins=2, columns=["x"]
    )
    assert discretizer.points == ((2.75,),)
    assert discretizer.means == ((1.5, 4.25),)
    assert discretizer.ranges == ((1, 5),)
    low, high, missing = discretizer.draw_numbers("x", np.array([0, 1, 2]), np.random.default_rng(0))
    assert 1 <= low <= 2.75 <= high <= 5
    assert np.isnan(missing)  # of an additional level


@pytest.mark.parametrize("digits", [2, 3, 10, 17])
def test_rounding_of_new_data_changes_no_probability(digits):
    """Also of two fractions, which are labels, and of cut points by width, one of which is a value."""
    rng = np.random.default_rng(6)
    ill = rng.random(600) < 0.4
    data = pd.DataFrame(
        {
            "share": (rng.random(600) / 2 + 0.2 * ill).round(digits),
            "large": (1e6 * rng.random(600) + 1e5 * ill).round(digits),
            "flag": rng.choice([0.1, 0.7], 600),
            "zero": rng.choice([0, 0.3], 600),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    numbers = data.drop(columns="ill")
    others = [
        numbers.astype("float32"),
        numbers.round(10),
        1 - (1 - numbers),
        numbers.astype("float32").round(6),
    ]
    for method in ("quantile", "width", "mixed", "averaged"):
        model = bn.bnc("nb", "ill", data, smooth=1, discretize=method, bins=10)
        expected = bn.predict(model, data, prob=True)
        for other in others:
            np.testing.assert_allclose(bn.predict(model, other, prob=True), expected, atol=1e-6)
    with pytest.raises(ValueError, match=r"column 'flag': 0\.1001 not among the levels"):
        bn.predict(model, data.assign(flag=0.1001))


def test_neighboring_floats_are_told_apart():
    for a in (1.0, 0.0, -5e-324, 1e308, 2.0**60):
        b = float(np.nextafter(a, INF))
        frame, _ = bn.discretize(pd.DataFrame({"x": [a, b], "y": ["p", "q"]}), class_var="y", columns=["x"])
        assert frame["x"].cat.codes.tolist() == [0, 1]
    assert cuts([-1.7e308, 1.7e308], "ab") == (0,)
    assert cuts([1.5e308, 1.7e308], "ab") == (1.6e308,)


# -- The data that comes back --------------------------------------------------------------------


def sample():
    """Columns of all kinds, with index labels that occur twice."""
    return pd.DataFrame(
        {
            "größe in cm": [1.5, 2.5, np.nan, 10.5, 11.5, 12.5],
            "text": list("uvwuvw"),
            3: [1.0, 2.0, 3.0, 10.0, 11.0, 12.5],
            "flag": [True, False, True, False, True, False],
            "kind": pd.Categorical([1, 2, 1, 2, 1, 2]),
            ("a", "b"): pd.array([1, 2, None, 10, 11, 12], dtype="Int64"),
            "nullable": pd.array([1, 2, None, 10, 11, 12.5], dtype="Float64"),
            "decimal": [Decimal(1), Decimal(2), None, Decimal(10), Decimal(11), Decimal("12.5")],
            "mixed": np.array([1, 2.5, None, 10, 11, pd.NA], dtype=object),
            "class": [0, 0, 0, 1, 1, 1],
        },
        index=[7, 7, 1, 2, 3, 3],
    )


def test_the_frame_keeps_its_shape_and_what_is_not_cut():
    data = sample()
    before = data.copy()
    frame, discretizer = bn.discretize(data, class_var="class")
    pd.testing.assert_frame_equal(data, before)
    assert frame.index.equals(data.index)
    assert frame.columns.tolist() == data.columns.tolist()
    whole = ["text", "flag", "kind", "class"]
    pd.testing.assert_frame_equal(frame[whole], data[whole])
    assert discretizer.columns == tuple(name for name in data if name not in whole)
    assert discretizer.cuts[3] == (6.5,)
    assert discretizer.kept == {("a", "b"): (1, 2, 10, 11, 12)}
    for name, points in discretizer.cuts.items():
        assert points == (6.25 if name == "mixed" else 6.5 if name in ("größe in cm", 3) else 6,)
        assert frame[name].isna().tolist() == data[name].isna().tolist()
        assert frame[name].cat.ordered
    assert frame["größe in cm"].cat.categories.tolist() == ["(-inf, 6.5]", "(6.5, inf)"]
    bn.predict(bn.lp(bn.tan_cl("class", frame), frame, smooth=1), frame)
    frame.loc[7, "text"] = "changed"
    pd.testing.assert_frame_equal(data, before)


def test_only_the_columns_named_are_cut():
    _, discretizer = bn.discretize(sample(), class_var="class", columns=["nullable", 3])
    assert discretizer.columns == (3, "nullable")
    frame, discretizer = bn.discretize(sample(), class_var="class", columns=[])
    assert discretizer.cuts == {}
    pd.testing.assert_frame_equal(frame, sample())
    _, discretizer = bn.discretize(sample().assign(**{"class": [0, 0, 0, 1, 1, 1.5]}), method="quantile")
    assert "class" in discretizer.cuts


def test_a_column_without_a_cut_stays_as_one_level():
    data = pd.DataFrame({"x": [1.0, 2.5, None, 1, 2], "none": [np.nan] * 5, "y": list("ababa")})
    frame, discretizer = bn.discretize(data, class_var="y")
    assert frame["x"].cat.categories.tolist() == frame["none"].cat.categories.tolist() == ["(-inf, inf)"]
    assert frame["x"].isna().tolist() == [False, False, True, False, False]
    assert discretizer(pd.DataFrame({"x": [-9], "none": [9]})).iloc[0].tolist() == ["(-inf, inf)"] * 2
    model = bn.lp(bn.nb("y", frame), frame, smooth=1)
    assert bn.values(model)["none"] == ("(-inf, inf)",)


def test_intervals_are_closed_on_the_right_and_open_at_the_ends():
    _, discretizer = bn.discretize(pd.DataFrame({"x": range(0, 24, 2)}), method="width", bins=2)
    new = discretizer(pd.DataFrame({"x": [11, 11.5, -1e300, -9, 1e300, np.nan]}))
    assert new["x"].tolist()[:5] == ["(-inf, 11]", "(11, inf)", "(-inf, 11]", "(-inf, 11]", "(11, inf)"]
    assert new["x"].isna().tolist() == [False] * 5 + [True]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1), st.integers(2, 9))
def test_labels_are_distinct_and_tell_where_values_lie(x, bins):
    for method in ("mdlp", "quantile", "width"):
        data = pd.DataFrame({"x": x, "y": [f"{value:.0e}"[0] for value in x]})
        frame, discretizer = bn.discretize(data, class_var="y", method=method, bins=bins, columns=["x"])
        labels = frame["x"].cat.categories
        assert labels.is_unique
        ends = [label.strip("(]) ").split(", ") for label in labels]
        assert tuple(float(high) for _, high in ends[:-1]) == discretizer.cuts["x"]
        for value, code in zip(x, frame["x"].cat.codes, strict=True):
            assert float(ends[code][0]) < value <= float(ends[code][1])
        for point in discretizer.cuts["x"]:
            assert min(x) <= point < max(x)


def test_labels_are_short():
    for data, options, labels in (
        ({"x": [-0.0, 1, 1, 1]}, {"method": "quantile", "bins": 2}, ["(-inf, 0.5]", "(0.5, inf)"]),
        ({"x": [0.1, 0.2], "y": ["a", "b"]}, {"class_var": "y"}, ["(-inf, 0.15]", "(0.15, inf)"]),
        ({"x": [100, 101, 7, 7]}, {"method": "width", "bins": 2}, ["(-inf, 54]", "(54, inf)"]),
    ):
        frame, _ = bn.discretize(pd.DataFrame(data), columns=["x"], **options)
        assert frame["x"].cat.categories.tolist() == labels


def test_new_data_are_cut_alike():
    frame, discretizer = bn.discretize(sample(), class_var="class")
    same = discretizer(sample())
    pd.testing.assert_frame_equal(frame, same)
    assert discretizer(sample().iloc[:0]).dtypes["nullable"] == frame.dtypes["nullable"]
    new = sample()[list(sample().columns)[::-1]].drop(columns=["class", "text"]).assign(extra="e")
    new["nullable"] = [1, 2, 3, 4, 5, 99]  # integers where floats were
    new["mixed"] = None
    cut = discretizer(new.iloc[[5]])
    assert cut.columns.tolist() == new.columns.tolist()
    assert cut["nullable"].tolist() == ["(6, inf)"]
    assert cut["mixed"].isna().all()
    model = bn.lp(bn.nb("class", frame, features=["nullable", 3]), frame, smooth=1)
    assert bn.predict(model, cut).tolist() == [1]


def test_a_discretizer_is_a_value():
    _, discretizer = bn.discretize(sample(), class_var="class")
    again = pickle.loads(pickle.dumps(discretizer))
    assert again == discretizer
    assert hash(again) == hash(discretizer)
    pd.testing.assert_frame_equal(again(sample()), discretizer(sample()))
    with pytest.raises(AttributeError, match="cannot assign"):
        discretizer.points = ()
    discretizer.cuts.clear()
    assert len(discretizer.cuts) == 5
    assert discretizer.labels == ((), (), (1, 2, 10, 11, 12), (), (), ())
    assert Discretizer("width", ("x",), ((0.5,),)).cuts == {"x": (0.5,)}  # labels may be left out
    assert discretizer.method == "mdlp"
    assert repr(discretizer).splitlines()[:4] == [
        "Discretizer (mdlp), columns cut at",
        "  größe in cm: 6.5",
        "  3: 6.5",
        "  ('a', 'b'): stays 1, 2, 10, 11, 12",
    ]
    _, nothing = bn.discretize(pd.DataFrame({"a": ["u", "v"]}), method="width")
    assert repr(nothing).splitlines()[1:] == ["  (no column)"]


# -- What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mdlp", "quantile"])
def test_one_row_is_a_frame_of_one_row(method):
    data = (
        sample()
        .drop(columns="mixed")
        .assign(level=[1.0, 0, 0, 1, 1, np.nan], what=None)
        .set_axis([*range(3, 9)])
    )
    _, discretizer = bn.discretize(data, class_var="class", method=method)
    for i in range(len(data)):
        row = data.iloc[i]
        expected = discretizer(data.iloc[[i]])
        for one, label in ((row, i + 3), (row.to_dict(), 0), ({k: row[k] for k in reversed(row.index)}, 0)):
            cut = discretizer(one)
            assert cut.index.tolist() == [label]
            cut = cut[data.columns]
            for name in discretizer.columns:
                pd.testing.assert_series_equal(cut[name], expected[name].set_axis([label]))
            assert cut["text"].tolist() == expected["text"].tolist()
    with pytest.raises(KeyError, match="newdata: no column 'nullable'"):
        discretizer(row.drop("nullable"))


def test_the_refusal_of_numbers_shows_the_way_here():
    data = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "y": list("aabb")})
    with pytest.raises(TypeError, match=r"discretize\(dataset, class_var=\.\.\.\)"):
        bn.tan_cl("y", data)
    with pytest.raises(ValueError, match=r"Use numbers='gaussian', .* bnc\(\.\.\., discretize='mdlp'\)"):
        bn.lp(bn.nb("y", data), data, smooth=1)
    frame, discretizer = bn.discretize(data, class_var="y")
    model = bn.lp(bn.nb("y", frame), frame, smooth=1)
    with pytest.raises(TypeError, match="apply the discretizer"):
        bn.predict(model, data)
    assert bn.predict(model, discretizer(data)).tolist() == list("aabb")


def test_the_greatest_integers_that_are_cut():
    data = pd.DataFrame({"x": np.arange(2**53 - 10, 2**53), "y": list("aaaaabbbbb")})
    frame, discretizer = bn.discretize(data, class_var="y", columns=["x"])
    assert frame["x"].cat.codes.tolist() == [0] * 5 + [1] * 5
    assert discretizer(pd.DataFrame({"x": [2**62, -(2**62)]}))["x"].cat.codes.tolist() == [1, 0]


@pytest.mark.parametrize("unseen", ["error", "missing"])
def test_whole_numbers_that_were_not_cut_are_never_taken_as_missing(unseen):
    data = pd.DataFrame({"x": [1, 2, 3, 4], "y": list("aabb")})
    frame, discretizer = bn.discretize(data, class_var="y", columns=["x"])
    model = bn.lp(bn.nb("y", frame), frame, smooth=1)
    with pytest.raises(ValueError, match=r"column 'x': 1, 2, 3, 4 not among .* Apply the discretizer"):
        bn.predict(model, data, unseen=unseen)
    with pytest.raises(ValueError, match=r"column 'x': 3 not among .* Apply the discretizer"):
        bn.explain(model, {"x": 3}, unseen=unseen)
    assert bn.predict(model, discretizer(data), unseen=unseen).tolist() == list("aabb")
