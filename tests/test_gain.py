"""k-dependence classifiers by gain, against plain loops over rows."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.learners import k_dependence
from bnclassify.learners.parent_gains import LeftOutScores, interacting_pairs_by_child


def probability(others: list[dict[str, Any]], row: dict[str, Any], f: str, base: float) -> float:
    """Return P(value of a row) from other rows, with 2 pseudo-counts distributed like ``base``."""
    known = [other[f] for other in others if other[f] is not None]
    return (known.count(row[f]) + 2 * base) / (len(known) + 2)


def gain_by_hand(frame: pd.DataFrame, child: str, parents: str, w: float) -> float:
    """Compute the gain of a child with parents row by row, with counts of all other rows."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    features, labels = list(frame.columns[:-1]), sorted(frame["y"].unique())
    known = {f: [row[f] for row in rows if row[f] is not None] for f in features}
    g = h = 0.0
    for i, row in enumerate(rows):
        others = rows[:i] + rows[i + 1 :]
        scores, terms = [], []
        for label in labels:
            of_class = [other for other in others if other["y"] == label]
            score = np.log((len(of_class) + 1) / (len(others) + len(labels)))
            alone = {}
            for f in features:
                share = known[f].count(row[f]) / len(known[f])
                alone[f] = 1.0 if row[f] is None else probability(of_class, row, f, share)
                score += w * np.log(alone[f])
            scores.append(score)
            is_complete = None not in [row[v] for v in (child, *parents)]
            pair = alone[child]
            if is_complete:
                alike = [other for other in of_class if all(other[v] == row[v] for v in parents)]
                pair = probability(alike, row, child, alone[child])
            terms.append(np.log(pair / alone[child]))
        p = np.exp(np.array(scores) - max(scores))
        p /= p.sum()
        t = np.array(terms)
        g += t[labels.index(row["y"])] - p @ t
        h += p @ t**2 - (p @ t) ** 2
    return max(g, 0.0) ** 2 / 2 / (h + 10)


def data(n: int = 60, gaps: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("uvw"), n) for name in "abcd"})
    agree = frame["a"] == frame["b"]
    frame["c"] = np.where(rng.random(n) < 0.5, frame["a"], frame["c"])
    frame = frame.mask(rng.random(frame.shape) < gaps)
    return frame.assign(y=np.where(rng.random(n) < 0.8, agree, ~agree)).astype({"y": str})


@pytest.mark.parametrize("n_features", [4, 12])
def test_gains_are_those_of_a_loop_over_rows(n_features: int) -> None:
    frame = data(36, gaps=0.1)
    for name in "efghijkl"[: n_features - 4]:
        frame.insert(4, name, frame["a"])
    scores = LeftOutScores(bn.encode(frame))
    for child, name in ((0, "a"), (2, "c")):
        others = [i for i in range(4) if i != child]
        for parents in [*combinations(others, 1), *combinations(others, 2)]:
            letters = "".join("abcd"[i] for i in parents)
            expected = gain_by_hand(frame, name, letters, min(1, 3 / np.sqrt(n_features)))
            [gain] = scores.gains_of_parent_sets(child, np.array([parents]))
            assert gain == pytest.approx(expected, abs=1e-9)


def test_weighted_rows_equal_repeated_rows() -> None:
    frame = data(40)
    times = np.arange(40) % 3 + 1
    repeated = bn.families(bn.kdb_gain("y", frame.loc[np.repeat(frame.index, times)], kdbk=2))
    weighted = bn.encode(frame.assign(n=times), weights="n", weights_are="frequencies")
    assert bn.families(bn.kdb_gain("y", weighted, kdbk=2)) == repeated
    assert bn.narcs(bn.kdb_gain("y", weighted, kdbk=2)) > 4


def test_parents_are_nested_and_ranked() -> None:
    frame = data(200)
    longest = bn.families(bn.kdb_gain("y", frame, kdbk=3))
    for k in range(3):
        shorter = bn.families(bn.kdb_gain("y", frame, kdbk=k))
        for name in "abcd":
            *parents, _ = longest[name][1:]
            assert shorter[name][1:-1] == tuple(parents[:k])
    order = list(frame.columns[::-1])
    again = bn.families(bn.kdb_gain("y", frame[order], kdbk=3))
    assert {name: again[name] for name in "abcd"} == {name: longest[name] for name in "abcd"}


def test_arguments() -> None:
    frame = data(30)
    assert bn.is_nb(bn.kdb_gain("y", frame, kdbk=0))
    assert bn.features(bn.kdb_gain("y", frame, features=["b", "a"])) == ("a", "b")
    with pytest.raises(ValueError, match="kdbk"):
        bn.kdb_gain("y", frame, kdbk=-1)
    with pytest.raises(TypeError, match="must be in memory"):
        bn.kdb_gain("y", bn.encode([frame], in_memory=False))


def interacting(columns: int, parity: int, useful: int = 0, n: int = 1000) -> pd.DataFrame:
    """Make binary columns: the parity of the last ones determines the class, and the first ones change it."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 2, (n, columns))).rename(columns="x{}".format)
    score = 4 * (frame.iloc[:, columns - parity :].sum(axis=1) % 2) - 2
    score += 0.5 * (frame.iloc[:, :useful].sum(axis=1) - useful / 2)
    return frame.astype(str).assign(y=np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "odd", "even"))


@pytest.mark.parametrize(("columns", "parity", "useful"), [(7, 3, 0), (20, 3, 0), (15, 3, 12), (140, 2, 0)])
def test_parents_of_a_parity_are_found(columns: int, parity: int, useful: int) -> None:
    """No column alone, and of three no two, say anything about the class."""
    frame = interacting(columns, parity, useful)
    families = bn.families(bn.kdb_gain("y", frame, kdbk=4))
    expected = {f"x{i}" for i in range(columns - parity, columns)}
    assert any({child, *parents} >= expected for child, (_, *parents) in families.items())


def test_gains_are_computed_of_the_most_informative_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair a, c has the largest information and no gain; with one pair, that of a, b is not found."""
    frame = data(200)
    assert {"a", "b", "y"} in map(set, bn.families(bn.kdb_gain("y", frame, kdbk=1)).values())
    monkeypatch.setattr(k_dependence, "_MOST_PAIRS", 1)
    assert bn.is_nb(bn.kdb_gain("y", frame, kdbk=1))


def test_at_most_128_features_have_parents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(k_dependence, "_LEAST_GAIN", 0.0)
    families = bn.families(bn.kdb_gain("y", interacting(150, 2, n=200), kdbk=2))
    assert sum(len(family) > 2 for family in families.values()) == 128


def test_columns_that_are_never_observed_together_have_no_gain() -> None:
    frame = data(40)
    frame.loc[:19, "a"] = None
    frame.loc[20:, "b"] = None
    for weights in (None, np.ones(40), np.linspace(0.5, 2, 40)):
        scores = LeftOutScores(bn.encode(frame, weights=weights))
        for child, parents in ((0, [[1]]), (1, [[0]]), (2, [[0, 1]])):
            assert scores.gains_of_parent_sets(child, np.array(parents)).tolist() == [0]


@pytest.mark.parametrize(("weighted", "gaps", "n_kept"), [(False, 0, 31), (True, 0.05, 32)])
def test_interactions_follow_their_definition(weighted: bool, gaps: float, n_kept: int) -> None:
    """Of 56 triples of columns of 2 to 4 levels, those with an interaction are kept, at most 32."""
    rng = np.random.default_rng(1)
    cards = np.array([2, 2, 2, 3, 3, 3, 4, 4])
    codes = rng.integers(0, cards, (900, 8))
    labels = (codes[:, :3].sum(axis=1) + (rng.random(900) < 0.8)) % 3
    codes[rng.random(codes.shape) < gaps] = 9
    weights = rng.uniform(0.5, 1.5, 900) if weighted else np.ones(900)

    def negative_entropy(*columns: np.ndarray) -> float:
        joint = sum(10**i * column for i, column in enumerate(columns))
        mass = np.bincount(joint, weights)
        return float((mass * np.log(np.maximum(mass, 1e-300) / weights.sum())).sum())

    def information(*features: int) -> float:
        columns = [codes[:, f] for f in features]
        return negative_entropy(*columns, labels) - negative_entropy(*columns) - negative_entropy(labels)

    found = {}
    for a, b, c in combinations(range(8), 3):
        known = [information(*pair) + information(rest) for *pair, rest in [(a, b, c), (a, c, b), (b, c, a)]]
        n_free = (cards[a] - 1) * (cards[b] - 1) * (cards[c] - 1) * (3 - 1)
        found[a, b, c] = information(a, b, c) - max(known) - n_free
    best = sorted((triple for triple in found if found[triple] > 0), key=lambda triple: -found[triple])[:32]
    assert len(best) == n_kept
    expected: dict[int, list[list[int]]] = {}
    for a, b, c in best:
        expected.setdefault(c, []).append([a, b])
    frame = pd.DataFrame(codes).astype(str).replace("9", None).add_prefix("x").assign(y=labels.astype(str))
    data = bn.encode(frame, weights=weights if weighted else None)
    assert interacting_pairs_by_child(data, np.arange(8)) == expected


@pytest.mark.parametrize("n_levels", [16, 24])
def test_interactions_of_features_with_many_levels_are_not_tried(n_levels: int) -> None:
    """With a level for missing values, 17³ · 2 classes is less than 16 · 900 rows, and 25³ · 2 is not."""
    codes = np.random.default_rng(0).integers(0, [2, 2, n_levels], (900, 3))
    frame = pd.DataFrame(codes).assign(y=codes.sum(axis=1) % 2).astype(str)
    pairs = interacting_pairs_by_child(bn.encode(frame), np.arange(3))
    assert pairs == ({2: [[0, 1]]} if n_levels == 16 else {})


def test_interactions_are_searched_in_every_row_up_to_two_thousand() -> None:
    """The class is the parity in odd rows, and p in even ones, in which nothing interacts."""
    codes = np.random.default_rng(0).integers(0, 2, (1_998, 3))
    frame = pd.DataFrame(codes).assign(y=codes.sum(axis=1) % 2 * (np.arange(1_998) % 2)).astype(str)
    assert interacting_pairs_by_child(bn.encode(frame), np.arange(3)) == {2: [[0, 1]]}


def test_interactions_do_not_depend_on_the_order_of_rows() -> None:
    frame = pd.DataFrame(product("01", repeat=12), columns=[f"x{i}" for i in range(12)])
    odd = frame[["x9", "x10", "x11"]].astype(int).sum(axis=1) % 2
    frame["y"] = (odd ^ (np.random.default_rng(0).random(len(frame)) < 0.1)).astype(str)
    for rows in (frame, frame.sample(frac=1, random_state=0)):
        families = map(set, bn.families(bn.kdb_gain("y", rows, kdbk=2)).values())
        assert {"x9", "x10", "x11", "y"} in families  # both parents of a pair, with kdbk=2


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_has_parents_if_a_gain_exceeds_one_nat(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (150, 7)).astype(str), columns=[*"abcdefy"])
    data = bn.encode(frame)
    scores, names = LeftOutScores(data), list("abcdef")
    families = bn.families(bn.kdb_gain("y", data, kdbk=1))
    for child, family in families.items():
        if child != "y" and len(family) > 2:
            [parent] = set(family[1:]) - {"y"}
            [gain] = scores.gains_of_parent_sets(names.index(child), np.array([[names.index(parent)]]))
            assert gain > 1
    pairs = [[0, 1]]
    found = k_dependence._gains_of_parents([scores], 2, np.array([0, 1, 3]), 0, pairs)
    half = scores.gains_of_parent_sets(2, np.array(pairs))[0] / 2
    assert found.tolist() == [half, half, 0]


def test_gains_of_intervals_are_computed_however_many_cells_they_have() -> None:
    """70 · 70 levels are more than 2¹² cells, and the class is whether both columns agree."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 70, 400)
    b = np.where(np.arange(400) % 2, a, rng.integers(0, 70, 400))
    frame = pd.DataFrame({"a": a, "b": b}).astype(str).assign(y=np.where(a == b, "same", "other"))
    assert bn.narcs(bn.kdb_gain("y", frame, kdbk=1)) == 3  # from the class, and between them
