"""Counts near powers of two, which are never added up in a type that is too narrow."""

import sys
from functools import cache
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import examples

SIZES = (128, 255, 256, 65_535, 65_536)
LIMITS = st.sampled_from((127, *SIZES)).flatmap(lambda size: st.integers(size - 2, size + 2))

PRIORS = ({"smooth": 1}, {"ess": 1}, {"m": 600})
PRIORS_OF = {bn.models.BNC: (*PRIORS, {"backoff": True}), bn.models.ANDE: ({"smooth": 1}, {"m": 600})}
METHODS = ({"manb_prior": 0.5}, {"subsumption": 200})

LEARNERS = {
    "nb": lambda data: bn.nb("y", data), "tan_cl": lambda data: bn.tan_cl("y", data, score="aic"),
    "spode": lambda data: bn.spode("y", data), "kdb_mi": lambda data: bn.kdb_mi("y", data),
    "chow_liu": lambda data: bn.chow_liu("y", data), "chisq_dn": lambda data: bn.chisq_dn("y", data),
    "ban": lambda data: bn.ban("y", data, score="bde"), "hc": lambda data: bn.hc("y", data, score="bic"),
    "aode": lambda data: bn.aode("y", data), "maode": lambda data: bn.maode(["y", "a"], data),
    "ande 0": lambda data: bn.ande("y", data, n=0), "ande 1": lambda data: bn.ande("y", data, n=1),
    "ande 2": lambda data: bn.ande("y", data, n=2), "waode": lambda data: bn.ande("y", data, weights="mi"),
}  # fmt: skip


def weighted_cells(size):
    """Distinct rows with weights; the class u has ``size`` rows, and the largest cells nearly as many."""
    cells = [("p", "s", "i", "u", size - 9), ("p", "t", "j", "u", 6), ("q", "t", "i", "u", 3)]
    cells += [("p", "s", "k", "v", 30), ("q", "s", "i", "v", 40), ("q", "t", "j", "v", size)]
    return pd.DataFrame(cells, columns=["a", "b", "d", "y", "weight"])


def as_rows(cells):
    """Each distinct row as often as its weight says."""
    levels = {name: pd.CategoricalDtype(sorted(set(cells[name]))) for name in cells.columns[:-1]}
    return cells.astype(levels).loc[cells.index.repeat(cells["weight"]), :"y"].reset_index(drop=True)


def in_chunks(cells):
    frame = as_rows(cells)
    return lambda: (frame.iloc[start : start + 40_000] for start in range(0, len(frame), 40_000))


FORMS = {"rows": as_rows, "chunks": in_chunks, "weights": lambda cells: bn.encode(cells, weights="weight")}


def answers(x, rows):
    """Tables of members, posteriors of rows, and intervals where the model has them."""
    for member in bn.members(x):
        yield from bn.params(member).values()
    posteriors = bn.predict(x, rows, prob=True)
    yield from [
        table.to_numpy() for table in (posteriors.values() if isinstance(posteriors, dict) else [posteriors])
    ]
    if isinstance(x, bn.models.AODE):
        yield bn.predict(x, rows, prob=True, interval=0.9, draws=10, rng=0).to_numpy()
    if type(x) is bn.models.BNC and "backoff" not in str(x.recipe.parameters):
        yield from [bn.cpt(x, name, interval=0.9).to_numpy() for name in ("a", "y")]


def all_answers(data, rows):
    """The answers of every learner with every prior, and of every method with one."""
    found = {}
    for learner, learn in LEARNERS.items():
        x = learn(data)
        for prior in PRIORS_OF.get(type(x), PRIORS):
            found[f"{learner} {prior}"] = list(answers(bn.lp(x, data, **prior), rows))
    for method in METHODS:
        x = bn.lp(bn.nb("y", data), data, smooth=1, **method)
        found[str(method)] = [bn.predict(x, rows, prob=True).to_numpy()]
    return found


@cache
def answers_of_floats(size):
    """The answers of weighted cells whose counts are all floats."""
    cells = weighted_cells(size)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("bnclassify") and hasattr(module, "to_narrowest_type"):
                patch.setattr(module, "to_narrowest_type", lambda counts: counts.astype(np.float64))
        return all_answers(FORMS["weights"](cells), cells.drop(columns="weight"))


@pytest.mark.parametrize(
    ("form", "size"),
    [
        ("weights", 256),
        ("rows", 256),
        *(pytest.param("weights", size, marks=pytest.mark.slow) for size in (128, 255, 65_535, 65_536)),
        *(pytest.param("rows", size, marks=pytest.mark.slow) for size in (128, 255, 65_535)),
        pytest.param("chunks", 65_535, marks=pytest.mark.slow),
    ],
)
def test_models_are_those_of_counts_that_are_floats(form, size):
    """A single chunk is counted as rows are."""
    cells = weighted_cells(size)
    found = all_answers(FORMS[form](cells), cells.drop(columns="weight"))
    for model, expected in answers_of_floats(size).items():
        for pair in zip(found[model], expected, strict=True):
            np.testing.assert_allclose(*pair, rtol=1e-12, err_msg=model)


def by_hand(x, cells, prior):
    """(N + a) / (N· + r a) of each family, from sums of weights in floats."""
    result = {}
    for variable, *parents in bn.families(x).values():
        levels = [bn.values(x)[v] for v in (variable, *parents)]
        table = np.zeros([len(labels) for labels in levels])
        for _, row in cells.iterrows():
            cell = [labels.index(row[v]) for v, labels in zip((variable, *parents), levels, strict=True)]
            table[tuple(cell)] += float(row["weight"])
        r, q = len(table), prod(table.shape[1:])
        a = {"smooth": 1.0, "ess": 1 / (r * q), "m": 1 / r}
        name, amount = next(iter(prior.items()))
        table += a[name] * amount
        result[variable] = table / table.sum(axis=0)
    return result


@examples(20)
@given(
    LIMITS,
    st.sampled_from(["nb", "tan_cl", "spode", "kdb_mi", "hc", "aode"]),
    st.sampled_from(PRIORS),
    st.data(),
)
def test_tables_are_those_by_hand(size, learner, prior, draw):
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32 - 1)))
    names = ["a", "b", "d", "y"]
    cells = pd.DataFrame({v: rng.choice(list("pqr")[: rng.integers(1, 4)], 8) for v in names})
    cells = cells.drop_duplicates().reset_index(drop=True)
    few = min(3, len(cells))
    cells["weight"] = np.append(rng.multinomial(size // 2, [1 / few] * few), [0] * (len(cells) - few))
    cells.loc[0, "weight"] += size - cells["weight"].sum()
    form = draw.draw(st.sampled_from(list(FORMS) if size < 1_000 else ["weights"]))
    data = FORMS[form](cells)
    x = bn.lp(LEARNERS[learner](data), data, **prior)
    for member in bn.members(x):
        expected = by_hand(member, cells, prior)
        for name, table in bn.params(member).items():
            np.testing.assert_allclose(table, expected[name], rtol=1e-12)
            np.testing.assert_allclose(table.sum(axis=0), 1)


@examples(10)
@given(LIMITS, st.integers(0, 2**32 - 1))
def test_parts_add_up_to_the_whole(size, seed):
    cells = weighted_cells(size)
    share = np.random.default_rng(seed).binomial(cells["weight"], 0.5)
    parts = [
        bn.encode(cells.assign(weight=own), weights="weight") for own in (share, cells["weight"] - share)
    ]
    whole = bn.encode(cells, weights="weight")
    for learn in (LEARNERS["nb"], LEARNERS["aode"], LEARNERS["ande 2"]):
        x = bn.lp(learn(whole), whole, m=1)
        for found in (
            bn.update(bn.lp(x, parts[0], m=1), parts[1]),
            bn.pool([bn.lp(x, p, m=1) for p in parts]),
        ):
            rows = cells.drop(columns="weight")
            expected = bn.predict(x, rows, prob=True)
            np.testing.assert_allclose(bn.predict(found, rows, prob=True), expected, rtol=1e-12)


def test_statistics_of_large_whole_numbers():
    cells = pd.DataFrame({"a": [*"ppqq"], "b": [*"stst"], "n": [3, 1, 2, 5]})
    for test in ("g2", "x2"):
        small, large = (
            bn.ci_test("a", "b", bn.encode(cells.assign(n=times * cells["n"]), weights="n"), test=test)
            for times in (1, 2**32)
        )
        assert large["statistic"] == pytest.approx(small["statistic"] * 2**32)
