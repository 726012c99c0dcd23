"""Tables counted together, and the ensemble's products, against what is counted one by one."""

from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import xlogy

import bnclassify as bn
from bnclassify import counts as counting
from bnclassify.counts import FamilyCounts, count_pairs, pair_tables

from .strategies import examples, frames


def by_hand(data, columns):
    """Add up the weights of the rows in each cell, one by one."""
    table = np.zeros([data.cards[c] for c in columns])
    for row, weight in zip(data.codes[columns].T, data.row_weights, strict=True):
        if (row >= 0).all():
            table[tuple(row)] += weight
    return table


def some_data(missing, more_levels=0):
    rng = np.random.default_rng(0)
    columns = {}
    for i in range(13):
        levels = 3 if i == 12 else 1 + i % 4 + more_levels
        codes = rng.integers(levels, size=60)
        codes[rng.random(60) < (missing if i < 12 else 0)] = -1
        columns[f"x{i}"] = pd.Categorical.from_codes(codes, [str(k) for k in range(levels)])
    return bn.encode(pd.DataFrame(columns))


def information(data, i, j, *given):
    """I(i; j | given) in nats, from the rows in which all are known."""
    codes, cards = data.codes[[i, j, *given]], [data.cards[v] for v in (i, j, *given)]
    table = np.zeros(cards)
    np.add.at(table, tuple(codes[:, (codes >= 0).all(axis=0)]), 1)
    margins = table.sum(axis=0, keepdims=True) * table.sum(axis=1, keepdims=True)
    ratios = np.divide(table * table.sum(axis=(0, 1)), margins, out=np.ones(cards), where=table > 0)
    return float((table * np.log(ratios)).sum()) / max(1.0, table.sum())


@pytest.mark.parametrize("more_levels", [0, 12])  # few levels are counted by products, many by tables
@pytest.mark.parametrize("missing", [0, 0.3])
def test_information_of_all_pairs_ranks_parents(missing, more_levels):
    """The parents of a feature are those with more information on the class, best first."""
    data = some_data(missing, more_levels)
    of_class = [information(data, i, 12) for i in range(12)]
    x = bn.kdb_mi("x12", data, kdbk=11)
    for f in range(12):
        first = [p for p in range(12) if (-of_class[p], p) < (-of_class[f], f)]
        first.sort(key=lambda p: (-round(information(data, f, p, 12), 9), p))
        assert bn.families(x)[f"x{f}"] == (f"x{f}", *[f"x{p}" for p in first], "x12")


def test_too_many_pairs_are_refused_by_their_number(car, monkeypatch):
    monkeypatch.setattr(counting, "MAX_CELLS", 1463)
    with pytest.raises(ValueError, match=r"1,463 cells; got 1,464 .*'buying' .4 levels., with .*merge_rare"):
        bn.lp(bn.aode("class", car), car, smooth=1)


@given(frames(missing=0.2), st.sampled_from([0.0, 0.5, 1.0]))
@examples(40)
def test_tables_of_estimators_are_those_of_networks(frame, smooth):
    x = bn.lp(bn.aode("class", frame), frame, smooth=smooth)
    for member in bn.members(x):
        parents = {v: family[1:-1] for v, family in bn.feature_families(member).items()}
        alone = bn.lp(bn.anb("class", parents, frame), frame, smooth=smooth)
        for variable, table in bn.params(alone).items():
            np.testing.assert_allclose(bn.params(member)[variable], table, rtol=1e-15)


def test_an_ensemble_with_one_feature_of_many_levels():
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(card, size=3_000) for name, card in {"long": 800, "a": 3, "k": 2}.items()}
    frame = pd.DataFrame(columns).astype("Int64").mask(rng.random((3_000, 3)) < 0.1).dropna(subset="k")
    x = bn.lp(bn.aode("k", frame), frame, smooth=1)
    networks = bn.predict(bn.Ensemble(bn.members(x)), frame, prob=True)
    pd.testing.assert_frame_equal(bn.predict(x, frame, prob=True), networks, rtol=1e-12)


def test_a_row_impossible_under_all_classes():
    column = ["x", "x", "v", "v", "m", "m"]
    frame = pd.DataFrame({"a": column, "b": column, "c": column, "y": column})
    x = bn.lp(bn.aode("y", frame), frame, smooth=0)
    row = pd.DataFrame({"a": ["x"], "b": ["v"], "c": ["m"], "y": ["x"]})
    assert bn.loglik(x, row) == -np.inf
    assert bn.predict(x, row, prob=True).to_numpy() == pytest.approx(np.full((1, 3), 1 / 3))


LEARNERS = [
    bn.nb,
    bn.tan_cl,
    bn.aode,
    partial(bn.ande, subsumption=5),
    partial(bn.ande, weights="mi", min_count=9),
]
LEARNERS += [partial(bn.ande, n=2), partial(bn.ande, n=2, weights="mi", min_count=4)]


def rows_of(data, rows):
    return bn.Dataset(data.schema, data.codes[:, rows], data.index[rows])


@pytest.mark.filterwarnings("ignore:the network has")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("classes", [2, 20])
def test_a_posterior_does_not_depend_on_the_other_rows(learner, classes):
    rng, n = np.random.default_rng(classes), 7_000 if classes == 2 else 700  # more than fit in a block
    columns = {f"x{i}": rng.integers(3 + 17 * (i == 0), size=n).astype("int8") for i in range(5)}
    frame = pd.DataFrame(columns).astype("Int64").mask(rng.random((n, 5)) < 0.1)
    data = bn.encode(frame.assign(k=rng.integers(classes, size=n)))
    x = bn.lp(learner("k", data), data, smooth=1)
    whole = bn.predict(x, data, prob=True)
    for rows in (np.arange(1), np.arange(7), np.arange(50, 151), np.arange(299, 200, -3), np.arange(3, 297)):
        part = bn.predict(x, rows_of(data, rows), prob=True)
        pd.testing.assert_frame_equal(part, whole.iloc[rows], check_exact=True)


def test_a_long_feature_makes_no_ensemble_large():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "long": np.arange(18_000) % 9_000,
            "a": rng.integers(2, size=18_000),
            "k": rng.integers(2, size=18_000),
        }
    )
    x = bn.lp(bn.aode("k", frame), frame, smooth=1)
    assert sum(table.size for table in x.children or ()) == 2 * 9_000 * 2 * 2


def test_information_is_never_negative():
    """Sums that cancel leave digits below 0 for independent features."""
    for levels in range(2, 12):
        design = product(range(levels), range(3), range(5), "p")
        frame = pd.DataFrame(list(design), columns=["a", "b", "d", "class"]).astype("category")
        assert all(0 <= bn.cmi(*pair, frame) < 1e-14 for pair in combinations("abd", 2))


@pytest.mark.filterwarnings("ignore:.*the class has 30 numbers", "ignore:.*more levels than half")
@pytest.mark.parametrize(("n", "missing"), [(16, 0), pytest.param(100, 0.1, marks=pytest.mark.slow)])
def test_trees_have_the_largest_weight_over_pairs_that_are_counted_in_blocks(n, missing):
    rng = np.random.default_rng(0)
    codes = [rng.integers(1 + i % 15, size=300) for i in range(n)]
    frame = pd.DataFrame(dict(enumerate(codes))).astype("Int64").mask(rng.random((300, n)) < missing)
    data = bn.encode(frame.assign(c=rng.integers(30, size=300)))
    weights = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        weights[i, j] = 1 + information(data, i, j, n)  # SciPy has no edges of weight 0
    tree = [sorted(f[:2]) for f in bn.feature_families(bn.tan_cl("c", data)).values() if f[2:]]
    found = sum(weights[tuple(edge)] for edge in tree)
    assert found == pytest.approx(-minimum_spanning_tree(-weights).sum(), abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*more levels than half")
@pytest.mark.parametrize("weighted", [False, True])
def test_information_of_sparse_and_of_small_tables_is_that_of_loops(weighted):
    rng = np.random.default_rng(0)
    cards = [3, 200, 300, 7]  # the table of the longest two and the class has more than 2**15 cells
    columns = {f"x{i}": rng.permutation(np.arange(600) % card) for i, card in enumerate(cards)}
    frame = pd.DataFrame(columns).astype("Int64")
    frame = frame.mask(rng.random(frame.shape) < 0.1).assign(c=rng.choice(["p", "q"], 600))
    weights = rng.integers(4, size=600) if weighted else np.ones(600)
    data, expected = bn.encode(frame, weights=weights if weighted else None), {}
    for i, j in combinations(["x0", "x1", "x2", "x3"], 2):
        known = frame[[i, j, "c"]].assign(w=weights).dropna()
        total, n = 0.0, known["w"].sum()
        for _, rows in known.groupby("c"):
            both = rows.groupby([i, j])["w"].sum() / rows["w"].sum()
            margins = [both.groupby(level=level).transform("sum") for level in (0, 1)]
            ratios = both / np.where(both > 0, margins[0] * margins[1], 1)
            total += float(xlogy(both, ratios).sum()) * rows["w"].sum()
        expected[frozenset((i, j))] = total / n
        assert bn.cmi(i, j, data, z="c") == pytest.approx(total / n, abs=1e-12)
    trees = [tree for tree in combinations(expected, 3) if len(frozenset().union(*tree)) == 4]
    found = sum(
        expected[frozenset(f[:2])] for f in bn.feature_families(bn.tan_cl("c", data)).values() if f[2:]
    )
    assert found == pytest.approx(max(sum(expected[edge] for edge in tree) for tree in trees))


WEIGHTS = {
    "whole": lambda rng, n: rng.integers(0, 5, n),
    "large": lambda rng, n: rng.integers(2**24, 2**40, n) | 1,
    "fractions": lambda rng, n: rng.random(n),
}


def some_rows(frame, weights, in_parts):
    """Return weighted rows in memory, and the same rows in one or three parts."""
    frame = frame.dropna(subset="class")
    drawn = None if not weights else WEIGHTS[weights](np.random.default_rng(len(frame)), len(frame))
    rows = bn.encode(frame, weights=drawn)
    if not in_parts:
        return rows, rows
    given = frame if drawn is None else frame.assign(weight=drawn)
    parts = [given.iloc[start::3] for start in range(min(3, len(given)))]
    return rows, bn.encode(parts, weights=None if drawn is None else "weight", in_memory=False)


@pytest.mark.parametrize("few_levels", [0, 100])
@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("weights", ["", *WEIGHTS])
@given(frames(min_rows=2, missing=0.2, max_levels=5))
@examples(8)
def test_counts_by_products_and_by_tables_are_those_of_loops(weights, in_parts, few_levels, frame):
    rows, data = some_rows(frame, weights, in_parts)
    n = len(rows.cards) - 1
    ends = np.cumsum([0, *rows.cards])
    tolerance = {"rtol": 1e-12 if weights == "fractions" else 0}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "_FEW_LEVELS", few_levels)
        patched.setattr(counting, "_BLOCK_ROWS", 7)
        patched.setattr(counting, "_SHORT_ROWS", 7)
        by_class, scope_without_class = count_pairs(data), pair_tables(data, range(n + 1), None)
        counts = FamilyCounts(data)
        counts.prefetch([(feature, n) for feature in range(n)])
        further = {
            f: np.concatenate([t for _, t in counts.count_extensions(f)], axis=-1)
            for f in [(0,), (0, n), (n - 1, n), (n, 0)]
        }
    for i, j in product(range(n), repeat=2):
        expected = by_hand(rows, [i, n, j]) if i != j else by_hand(rows, [i, n])
        if i == j:
            expected = expected[..., None] * np.eye(rows.cards[i])[:, None]
        own, other = slice(*ends[i : i + 2]), slice(*ends[j : j + 2])
        np.testing.assert_allclose(by_class[own, :, other], expected, **tolerance)
        if i != j:
            np.testing.assert_allclose(scope_without_class[own, 0, other], by_hand(rows, [i, j]), **tolerance)
    for family in further:
        table = by_hand(rows, list(family)).reshape(rows.cards[family[0]], -1)
        np.testing.assert_allclose(counts.count_family(family), table, **tolerance)
    for family, j in product(further, range(n + 1)):
        if j not in family:
            table = by_hand(rows, [*family, j]).reshape(rows.cards[family[0]], -1, rows.cards[j])
            np.testing.assert_allclose(further[family][..., ends[j] : ends[j + 1]], table, **tolerance)


@pytest.mark.filterwarnings("ignore:no feature remains")
@pytest.mark.parametrize("learner", [bn.tan_cl, bn.kdb_mi, bn.chow_liu, bn.chisq_dn, bn.hc, bn.spode])
def test_no_feature_has_no_pairs(learner):
    data = bn.encode(pd.DataFrame({"k": ["p", "q", "q"]}))
    assert bn.features(learner("k", data)) == ()


@examples(100)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=2),
    st.integers(0, 150),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
)
def test_families_counted_by_bits_and_by_cells_have_their_own_counts(cards, rows, families, seed):
    rng = np.random.default_rng(seed)
    cards = [*cards * families, cards[-1]]
    codes = [
        pd.Categorical.from_codes(rng.integers(-1, card, size=rows), list(map(str, range(card))))
        for card in cards
    ]
    data = bn.encode(pd.DataFrame(dict(enumerate(codes))))
    n = (len(cards) - 1) // families
    scopes = [(*range(i * n, (i + 1) * n), len(cards) - 1) for i in range(families)]
    expected = [by_hand(data, list(scope)) for scope in scopes]
    for count in (counting.count_bits, None):  # as with NumPy 2 and with NumPy 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counting, "count_bits", count)
            tables = list(counting.count_families(data, scopes))
        np.testing.assert_array_equal(tables, expected)
