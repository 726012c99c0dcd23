"""The weights of all terms, with each row held out, by plain loops over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

import bnclassify as bn
from bnclassify.model.arguments import encode_for_model
from bnclassify.recipe import default
from bnclassify.recipe.number_terms import fit_gaussian_terms
from bnclassify.recipe.prefix_tables import LeftOutRows

from .test_refined import log_density

Array = NDArray[Any]

RIDGES = {
    "tables": 3.0,
    "depths": 10.0,
    "codings": 10.0,
    "zscores": 30.0,
    "slopes": 10.0,
    "shifts": 10.0,
    "gaps": 10.0,
}


def walks(gaps: float, n: int = 70) -> pd.DataFrame:
    """Make a number, a whole number that repeats, and two categories."""
    rng = np.random.default_rng(2)
    label = rng.integers(3, size=n)
    frame = pd.DataFrame({
        "distance": rng.normal(label, 1.0),
        "stops": rng.integers(0, 11, n) + 4 * (label == 1),
        "weather": np.array(["dry", "rain", "snow"])[(label + rng.integers(2, size=n)) % 3],
        "bag": rng.choice(["yes", "no"], n),
    })  # fmt: skip
    hidden = rng.random(frame.shape) < gaps * np.where(label == 2, 2, 1)[:, None]
    hidden[:, 3] = False
    return frame.mask(hidden).assign(**{"class": np.array(["bus", "car", "walk"])[label]})


def log_without(
    codes: Array, classes: Array, table: Any, members: list[int], row: int, c: int, parents: int
) -> float:
    """ln P(value | class c, first parents) from the counts of all other rows; 0 if the value is missing."""
    variable = codes[members[0]]
    if variable[row] < 0:
        return 0.0
    seen = (np.arange(len(classes)) != row) & (variable >= 0)
    p = 1 / table.cards[0]
    for i, mass in enumerate(table.masses[: 2 + parents]):
        if i == 1:
            seen = seen & (classes == c)
        if i > 1:
            parent = codes[members[i - 1]]
            if parent[row] < 0:
                break
            seen = seen & (parent == parent[row])
        p = (np.count_nonzero(seen & (variable == variable[row])) + mass * p) / (
            np.count_nonzero(seen) + mass
        )
    return float(np.log(p))


def newton(design: Array, offset: Array, own: Array, mean: Array, ridges: Array) -> tuple[Array, Array]:
    """The weights with the largest Σ ln P(own class) − ½ Σ λ (w − mean)², and the Hessian without ridges."""
    rows, w = np.arange(len(own)), mean.copy()
    for _ in range(100):
        p = softmax(offset + design @ w, axis=1)
        middle = np.einsum("rc,rcw->rw", p, design)
        slope = (design[rows, own] - middle).sum(axis=0) - ridges * (w - mean)
        hessian = np.einsum("rc,rcv,rcw->vw", p, design, design) - middle.T @ middle
        step = np.linalg.solve(hessian + np.diag(ridges), slope)
        w = w + step * min(1.0, 2 / max(np.abs(step).max(), 1e-9))
        if np.abs(step).max() < 1e-11:
            break
    return w, hessian


def with_evidence(
    design: Array, offset: Array, own: Array, mean: Array, kinds: list[str]
) -> tuple[Array, dict[str, float]]:
    """The weights with ridges that are moved four times to where the evidence is largest."""
    amounts = {kind: RIDGES[kind] for kind in RIDGES if kind in kinds}
    is_kind = {kind: np.array([k == kind for k in kinds]) for kind in amounts}
    for _ in range(4):
        ridges = np.array([amounts[kind] for kind in kinds])
        w, hessian = newton(design, offset, own, mean, ridges)
        effective = 1 - ridges * np.diag(np.linalg.inv(hessian + np.diag(ridges)))
        for kind in list(amounts)[1:]:
            at = is_kind[kind]
            wanted = effective[at].sum() / max(((w - mean)[at] ** 2).sum(), 1e-9)
            amounts[kind] = float(np.clip(np.clip(wanted, amounts[kind] / 5, amounts[kind] * 5), 1, 3000))
    ridges = np.array([amounts[kind] for kind in kinds])
    return newton(design, offset, own, mean, ridges)[0], amounts


@pytest.mark.parametrize("gaps", [0.0, 0.12])
def test_weights_of_all_terms_are_those_of_plain_loops(gaps: float) -> None:
    """Tables by depth and coding, regressions, slopes, shifts, gaps, and the rule for incomplete rows."""
    frame = walks(gaps)
    model: Any = bn.bnc(
        "kdb_mi", "class", frame, discretize="averaged_mdlp", dag_args={"kdbk": 2},
        backoff=True, held_out="weights", held_out_args={"terms": default.TERMS},
    )  # fmt: skip
    base, [z] = model.base, model.of_numbers
    n, names = len(frame), list(model.features)
    rows = model.rows_to_score(encode_for_model(model, frame, model.features))
    own = frame["class"].map({"bus": 0, "car": 1, "walk": 2}).to_numpy()
    coded = [coarsen(rows.codes) for coarsen in base.coarsenings]
    families = [
        [names.index(v) for v in family[:-1]] for family in base.structure.families if family[0] != "class"
    ]
    families.sort()
    assert [members[0] for members in families] == list(range(len(names)))
    assert max(map(len, families)) == 3
    assert base.apart == 3
    averaged = len(coded) - 3

    def logs(f: int, coding: int, parents: int) -> Array:
        own_parents = min(parents, len(families[f]) - 1)
        table = base.tables[coding][f]
        return np.array([
            [log_without(coded[coding], own, table, families[f], i, c, own_parents) for c in range(3)]
            for i in range(n)
        ])  # fmt: skip

    counts = np.array([[np.count_nonzero(np.delete(own, i) == c) for c in range(3)] for i in range(n)])
    prior = np.log((counts + 1 / 3) / n)
    by_depth = [
        [np.mean([logs(f, s, depth) for s in range(averaged)], axis=0) for f in range(len(names))]
        for depth in range(3)
    ]

    # The rule for incomplete rows
    missing = frame[names].isna().to_numpy()
    usual = 1 - missing.mean(axis=0)
    h = (missing @ usual / usual.sum())[:, None]
    evidence = np.sum(by_depth[0], axis=0)
    [power], _ = newton((evidence + prior)[:, :, None], np.zeros((n, 3)), own, np.ones(1), np.ones(1))
    assert model.fading.power == pytest.approx(power, rel=1e-7)
    np.testing.assert_allclose(model.fading.usual, usual)
    offset = h * (prior + (power + (1 - power) * h) * evidence)

    # The common power of tables with most parents, and single powers around it
    tables = np.stack([*by_depth[2], prior], axis=-1) * (1 - h)[:, :, None]
    [common], _ = newton(tables.sum(axis=-1, keepdims=True), offset, own, np.ones(1), np.ones(1))
    single, _ = newton(tables, offset, own, np.full(5, common), np.full(5, 3.0))
    assert bn.loo_summary(model)["power"] == pytest.approx(common, rel=1e-7)

    # All terms
    parts: list[tuple[str, Array]] = [("tables", term) for term in np.moveaxis(tables, -1, 0)]
    parts += [("depths", term * (1 - h)) for depth in range(2) for term in by_depth[depth]]
    cut = {f for f in range(len(names)) if base.coarsenings[0].maps[f] is not None}
    cards = [[base.tables[averaged + k][f].cards[0] for f in range(len(names))] for k in range(3)]
    varying = [
        [f for f, own_family in enumerate(families) if cut & {*own_family} and of[f] > 1] for of in cards
    ]
    parts += [("codings", logs(f, averaged + k, 2) * (1 - h)) for k in range(3) for f in varying[k]]
    numbers = np.array([rows.numbers[i] for i in model.numbers], dtype=float)
    scores = np.array([scale(number) for scale, number in zip(z.scales, numbers, strict=True)]).T
    known = np.isnan(numbers)
    given = [list(term.parents) for term in z.gaussians]
    for number in range(len(given)):
        term = np.empty((n, 3))
        for i in range(n):
            others = LeftOutRows(own, (np.arange(n) != i).astype(float))
            refitted = fit_gaussian_terms(scores, known, given, others, 3)[number]
            row = np.where(known[:, i], np.nan, scores[i])[None]
            known_row = np.where(np.isnan(row), 0, row)
            term[i] = 0.0 if known[number, i] else log_density(refitted, known_row, number)[0]
        parts.append(("zscores", term * (1 - h)))
    kept = 1 - h[:, 0]
    columns = [("slopes", scores[:, i] * kept) for i in range(len(given))]
    categories = [names.index("weather"), names.index("bag")]
    columns += [
        ("shifts", (rows.codes[f] == level) * kept)
        for f in categories
        for level in range(base.tables[0][f].cards[0])
    ]
    lacking = missing.sum(axis=1).astype(float)  # each feature is missing in some row, if any is
    most = np.sum(lacking**2) / max(lacking.sum(), 1)  # of the features that the row of a mean gap lacks
    share = np.array([min(1.0, most / count) if count else 1.0 for count in lacking])
    columns += [("gaps", missing[:, f] * share) for f in range(len(names)) if missing[:, f].any()]
    parts += [(kind, column[:, None] * np.eye(3)[c]) for kind, column in columns for c in range(3)]
    kinds, design = [kind for kind, _ in parts], np.stack([part for _, part in parts], axis=-1)
    mean = np.concatenate([single, np.zeros(len(kinds) - 5)])
    w, ridges = with_evidence(design, offset, own, mean, kinds)

    summary = bn.loo_summary(model)
    assert summary["ridges"] == pytest.approx(ridges, rel=1e-4)
    likelihood = log_softmax(offset + design @ w, axis=1)[np.arange(n), own].sum()
    assert summary["log_likelihood"] == pytest.approx(likelihood, rel=1e-6)
    penalty = sum(ridges[kind] * (v - m) ** 2 for kind, v, m in zip(kinds, w, mean, strict=True)) / 2
    assert summary["objective"] == pytest.approx(likelihood - penalty, rel=1e-6)

    of_kind = {kind: w[[k == kind for k in kinds]] for kind in ridges}
    for f, members in enumerate(families):
        powers = np.zeros(len(members))
        for depth, weight in [
            (0, of_kind["depths"][f]),
            (1, of_kind["depths"][4 + f]),
            (2, of_kind["tables"][f]),
        ]:
            powers[min(depth, len(powers) - 1)] += weight
        np.testing.assert_allclose(base.powers[f], powers, atol=1e-4)
    assert np.sum(base.powers[-1]) == pytest.approx(of_kind["tables"][4], abs=1e-4)
    found = [np.sum(base.further[k][f]) for k in range(3) for f in varying[k]]
    np.testing.assert_allclose(found, of_kind["codings"], atol=1e-4)
    np.testing.assert_allclose(z.powers, of_kind["zscores"], atol=1e-4)
    np.testing.assert_allclose(z.slopes.ravel(), of_kind["slopes"], atol=1e-4)
    np.testing.assert_allclose(
        np.concatenate([model.shifts[f][:-1] for f in categories]).ravel(), of_kind["shifts"], atol=1e-4
    )
    assert ("gaps" in of_kind) == (gaps > 0)
    if gaps:
        shifts = np.concatenate([shift for shift in model.gaps if shift is not None])
        np.testing.assert_allclose(shifts, of_kind["gaps"], atol=1e-4)
