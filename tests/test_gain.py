"""k-dependence classifiers by gain, against plain loops over rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn


def gain_by_hand(frame: pd.DataFrame, child: str, parent: str, w: float) -> float:
    """Compute the gain of a pair row by row, with counts of all other rows."""
    features = [name for name in frame.columns if name != "y"]
    labels = sorted(frame["y"].unique())
    g = h = 0.0
    for i in range(len(frame)):
        row, others = frame.iloc[i], frame.drop(index=i)
        shares = {f: (frame[f] == row[f]).sum() / frame[f].notna().sum() for f in features}

        def table(f: str, c: str, row: pd.Series, others: pd.DataFrame, shares: dict[str, float]) -> float:
            if pd.isna(row[f]):
                return 1.0
            same = others[(others["y"] == c) & others[f].notna()]
            return float(((same[f] == row[f]).sum() + 2 * shares[f]) / (len(same) + 2))

        scores, terms = [], []
        for c in labels:
            score = np.log(((others["y"] == c).sum() + 1) / (len(others) + len(labels)))
            score += w * sum(np.log(table(f, c, row, others, shares)) for f in features)
            scores.append(score)
            if pd.isna(row[child]) or pd.isna(row[parent]):
                terms.append(0.0)
                continue
            same = others[(others["y"] == c) & (others[parent] == row[parent]) & others[child].notna()]
            own = table(child, c, row, others, shares)
            pair = ((same[child] == row[child]).sum() + 2 * own) / (len(same) + 2)
            terms.append(np.log(pair / own))
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


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_gains_are_those_of_a_loop_over_rows(gaps: float) -> None:
    from bnclassify.learners.k_dependence import _Scores

    frame = data(24, gaps=gaps)
    scores = _Scores(bn.encode(frame))
    for child, name in enumerate("abcd"):
        others = [i for i in range(4) if i != child]
        found = [scores.gain(child, i) for i in others]
        expected = [gain_by_hand(frame, name, "abcd"[i], min(1, 3 / np.sqrt(4))) for i in others]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_weighted_rows_equal_repeated_rows_but_for_rows_held_out() -> None:
    frame = data(40).assign(n=1)
    plain = bn.families(bn.kdb_gain("y", frame.drop(columns="n"), kdbk=2))
    weighted = bn.families(bn.kdb_gain("y", bn.encode(frame, weights="n"), kdbk=2))
    assert plain == weighted


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
        bn.kdb_gain("y", lambda: iter([frame]))  # type: ignore[arg-type]
