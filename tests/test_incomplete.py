"""Rows with missing features: exact marginalisation, against enumeration."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify import elimination

from .conftest import informative_gaps, read_reference, reference_frame
from .oracles import joint_by_enumeration, posterior_by_enumeration, with_holes
from .strategies import examples, frames, graphs, networks


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nb", "tan", "any", "aode", "general", "ensemble"])
@given(st.data())
@examples(25)
def test_posteriors_equal_enumeration(kind, data):
    frame = data.draw(frames(max_rows=15, max_features=5, missing=0.1))
    structure = {
        "nb": lambda: bn.nb("class", frame),
        "tan": lambda: data.draw(networks(frame, max_parents=1)),
        "any": lambda: data.draw(networks(frame)),
        "aode": lambda: bn.aode("class", frame),
        "general": lambda: data.draw(graphs(frame)),
        "ensemble": lambda: bn.Ensemble((data.draw(graphs(frame)), data.draw(networks(frame))), (3, 1)),
    }[kind]()
    x = bn.lp(structure, frame, smooth=data.draw(st.sampled_from([0.1, 1.0])))
    new = with_holes(frame, data.draw(st.sampled_from([0.2, 0.6, 1.0])), data.draw(st.integers(0, 999)))
    np.testing.assert_allclose(bn.predict(x, new, prob=True), posterior_by_enumeration(x, new), rtol=1e-9)
    if kind not in ("aode", "ensemble"):
        joint = [joint_by_enumeration(x, row, row["class"]) for _, row in new.iterrows()]
        assert bn.loglik(x, new) == pytest.approx(np.log(joint).sum(), rel=1e-9, abs=1e-12)


@given(st.data())
@examples(25)
def test_impossible_values_are_summed_out_too(data):
    frame = data.draw(frames(max_rows=8, max_features=4))
    x = bn.lp(data.draw(st.one_of(networks(frame), graphs(frame))), frame, smooth=0)
    new = with_holes(frame, 0.5, 1)
    np.testing.assert_allclose(bn.predict(x, new, prob=True), posterior_by_enumeration(x, new), atol=1e-9)


def test_a_missing_feature_with_four_hundred_children():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 10, (200, 401)), columns=[f"x{i}" for i in range(401)])
    frame = frame.assign(x0=rng.integers(0, 2, 200), label=rng.integers(0, 2, 200)).astype("category")
    x = bn.lp(bn.anb("label", {f"x{i}": ["x0"] for i in range(1, 401)}, frame), frame, smooth=1)
    some, values = frame[:20], frame["x0"].cat.categories
    each = [some.assign(x0=pd.Categorical([value] * 20, values)) for value in values]
    expected = np.logaddexp(*[bn.loglik(x, rows, by_row=True) for rows in each])
    actual = bn.loglik(x, some.assign(x0=pd.Categorical([None] * 20, values)), by_row=True)
    assert expected.max() < np.log(1e-308)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["nb", "tan_cl_loglik", "tan_cl_aic", "aode"])
def test_reference_posteriors(name):
    reference, frame = read_reference("voting_incomplete"), reference_frame("voting")
    structure = {
        "nb": bn.nb("Class", frame),
        "tan_cl_loglik": bn.tan_cl("Class", frame),
        "tan_cl_aic": bn.tan_cl("Class", frame, score="aic"),
        "aode": bn.aode("Class", frame),
    }[name]
    x = bn.lp(structure, frame, smooth=reference["smooth"])
    rows = frame.iloc[reference["rows"]]
    np.testing.assert_allclose(bn.predict(x, rows, prob=True), reference[name]["posterior"], rtol=1e-9)
    if name != "aode":
        assert bn.loglik(x, rows) == pytest.approx(reference[name]["loglik_rows"], rel=1e-9)
        assert bn.cloglik(x, rows) == pytest.approx(reference[name]["cloglik_rows"], rel=1e-9)


def test_complete_rows_do_not_change_beside_incomplete_ones(voting):
    structures = [
        bn.nb("Class", voting),
        bn.tan_cl("Class", voting),
        bn.aode("Class", voting),
        bn.anb("Class", {"crime": ["immigration", "mx_missile"]}, voting),
    ]
    complete = voting.notna().all(axis=1)
    for structure in structures:
        x = bn.lp(structure, voting, smooth=1)
        together = bn.predict(x, voting, prob=True)[complete]
        alone = bn.predict(x, voting[complete], prob=True)
        pd.testing.assert_frame_equal(together, alone, check_exact=True)


def test_all_missing_gives_the_prior(voting):
    nothing = pd.DataFrame({v: pd.Categorical([None] * 3) for v in voting.columns[:-1]})
    for structure in (bn.nb("Class", voting), bn.tan_cl("Class", voting)):
        x = bn.lp(structure, voting, smooth=1)
        prior = np.tile(bn.params(x)["Class"], (3, 1))
        np.testing.assert_allclose(bn.predict(x, nothing, prob=True), prior, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_thousand_features_do_not_underflow(share):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (40, 1000)), columns=[f"x{i}" for i in range(1000)])
    frame["class"] = rng.integers(0, 2, 40)
    frame = frame.astype("category")
    x = bn.lp(bn.tan_cl("class", frame), frame, smooth=1)
    new = with_holes(frame, share, 1)
    assert np.isfinite(bn.loglik(x, new))
    np.testing.assert_allclose(bn.predict(x, new, prob=True).sum(axis=1), 1)


def test_a_chain_of_missing_features_is_summed_exactly():
    """P(last | first) is a product of matrices."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 6)), columns=list("abcdef")).assign(**{"class": "k"})
    frame = frame.astype("category")
    x = bn.lp(
        bn.anb("class", {b: [a] for a, b in zip("abcde", "bcdef", strict=True)}, frame), frame, smooth=1
    )
    row = frame.iloc[[0]].copy()
    row[list("bcde")] = np.nan
    step = [bn.params(x)[v][:, :, 0] for v in "bcdef"]
    chain = step[4] @ step[3] @ step[2] @ step[1] @ step[0]
    first, last = int(frame["a"].iloc[0]), int(frame["f"].iloc[0])
    expected = np.log(bn.params(x)["a"][first, 0] * chain[last, first])
    assert bn.loglik(x, row) == pytest.approx(expected, rel=1e-12)


def test_a_chain_of_missing_features_above_the_class_is_summed_exactly(car):
    families = (("buying",), ("safety", "buying"), ("class", "safety"))
    frame = car[["buying", "safety", "class"]]
    x = bn.lp(bn.BNC("class", families), frame, smooth=1)
    nothing = frame.head(1).assign(buying=None, safety=None)
    np.testing.assert_allclose(
        bn.predict(x, nothing, prob=True), posterior_by_enumeration(x, nothing), rtol=1e-9
    )


def test_a_sum_too_large_is_refused_by_its_size(monkeypatch):
    monkeypatch.setattr(elimination, "MAX_CELLS", 600)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 5, (50, 5)), columns=list("abcde")).assign(
        **{"class": list("kl") * 25}
    )
    frame = frame.astype("category")
    x = bn.lp(bn.anb("class", {"e": list("abcd")}, frame), frame, smooth=1)
    row = frame.iloc[[0]].copy()
    row[list("abcd")] = np.nan
    with pytest.raises(ValueError, match=r"are missing together in a row, .* 1,250 cells, more than 600"):
        bn.predict(x, row)


def test_unseen_levels_can_be_taken_as_missing(car):
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    strange = car.astype(str).assign(safety="extreme").head(20)
    missing = car.head(20).assign(safety=pd.Categorical([None] * 20))
    with pytest.warns(UserWarning, match="all of the known values, such as 'extreme', are not among"):
        predicted = bn.predict(x, strange, prob=True, unseen="missing")
    pd.testing.assert_frame_equal(predicted, bn.predict(x, missing, prob=True))
    with pytest.raises(ValueError, match="unseen must be one of 'error', 'missing'"):
        bn.predict(x, strange, unseen="ignore")


@informative_gaps
def test_numbers_that_are_all_unseen_are_not_reported():
    """A few measurements need not occur among others that are so few that they are categories."""
    frame = pd.DataFrame({"age": [19, 24, 27, 35, 41, 52], "y": [*"aabbab"]})
    x = bn.bnc("nb", "y", frame, smooth=1, discretize="mdlp")
    posteriors = bn.predict(x, pd.DataFrame({"age": [23, 31]}), prob=True, unseen="missing")
    np.testing.assert_allclose(posteriors, 0.5)


def test_accuracy_and_cv_take_incomplete_rows(voting):
    x = bn.lp(bn.tan_cl("Class", voting), voting, smooth=1)
    assert bn.accuracy(bn.predict(x, voting), voting["Class"]) > 0.93
    folds = bn.stratified_folds(voting["Class"], 5, rng=0)
    by_hand = []
    for fold in range(5):
        trained, tested = voting[folds != fold], voting[folds == fold]
        again = bn.lp(bn.tan_cl("Class", trained), trained, smooth=1)
        by_hand.append(bn.accuracy(bn.predict(again, tested), tested["Class"]))
    np.testing.assert_array_equal(bn.cv(x, voting, folds=folds, mean=False)[0], by_hand)


def table_of_models():
    """The rows of the table of the page on missing values, by their first cell."""
    page = Path(__file__).parents[1] / "vignettes" / "incomplete.py"
    lines = [line[4:-2].split(" | ") for line in page.read_text().splitlines() if line.startswith("# | ")]
    start = next(i for i, cells in enumerate(lines) if cells[1] == "missing at fit")
    return {cells[0]: cells[1:] for cells in lines[start + 1 :] if len(cells) == 6}


LEARNED = {
    "networks by": lambda d: bn.lp(bn.tan_cl("Class", d), d, smooth=1, missing="em"),
    "`aode`": lambda d: bn.lp(bn.aode("Class", d), d, smooth=1, missing="em"),
    "`lca`": lambda d: bn.lca("group", d.drop(columns="Class"), k=2, restarts=1, rng=0),
    "`wanbia": lambda d: bn.lp(bn.nb("Class", d), d, smooth=1, wanbia=True),
    "the default": lambda d: bn.bnc(class_var="Class", dataset=d),
    '`held_out="weights"': lambda d: bn.bnc("kdb_mi", "Class", d, backoff=True, held_out="weights"),
    '`held_out="power"': lambda d: bn.lp(bn.tan_cl("Class", d), d, smooth=1, held_out="power"),
    "`subsumption": lambda d: bn.lp(bn.nb("Class", d), d, smooth=1, subsumption=30),
    "`ande`": lambda d: bn.lp(bn.ande("Class", d), d, smooth=1),
    "dependency": lambda d: bn.lp(bn.chisq_dn("Class", d), d, smooth=1),
    "`mbc`": lambda d: bn.lp(bn.mbc(["Class", "crime"], d), d, smooth=1),
    "`chain`": lambda d: bn.lp(bn.chain(["Class", "crime"], d), d, smooth=1),
}


@pytest.mark.parametrize("name", LEARNED)
def test_the_page_says_what_models_do(voting, name):
    (cells,) = [cells for row, cells in table_of_models().items() if name in row]
    frame = (
        voting.iloc[:, -4:].join(voting["crime"])
        if "crime" not in voting.columns[-4:]
        else voting.iloc[:, -4:]
    )
    x = LEARNED[name](frame)
    rows = frame.drop(columns=[c for c in x.targets if c in frame])
    rows, several = rows[rows.isna().any(axis=1)].head(3), len(x.targets) > 1
    calls = [
        (cells[1], lambda: bn.predict(x, rows)),
        (cells[2], lambda: bn.loglik(x, frame.dropna())),
        (cells[3], lambda: bn.explain(x, rows, class_var="Class" if several else None)),
        (cells[4], lambda: bn.query(x, rows.columns[0])),
    ]
    for said, call in calls:
        if said in ("no", "error", "complete rows"):
            with pytest.raises((TypeError, ValueError)):
                call()
        else:
            call()


@pytest.mark.parametrize("small", [1e-150, 1e-200])
def test_likelihoods_that_round_to_zero_in_a_product_are_summed_as_logs(small):
    """The only possible value of p is that in which v makes the observed d and e improbable, by small²."""
    half = np.full(2, 0.5)
    tables = {
        "p": np.full((2, 2), 0.5),
        "v": np.stack([np.eye(2)] * 2, axis=-1),
        "d": np.array([[[small, small], [1.0, 1.0]], [[1 - small] * 2, [0.0, 0.0]]]),
        "e": np.array([[[small, 2 * small], [1.0, 1.0]], [[1 - small] * 2, [0.0, 0.0]]]),
        "f": np.array([[[1.0, 0.5], [0.0, 0.0]], [[0.0, 0.5], [1.0, 1.0]]]),
        "y": half,
    }
    structure = bn.anb("y", {"p": [], "v": ["p"], "d": ["v"], "e": ["v"], "f": ["p"]})
    x = replace(structure, levels=((0, 1),) * 6, cpts=tuple(tables[v] for v in structure.variables))
    row = pd.DataFrame({"p": [None], "v": [None], "d": [0], "e": [0], "f": [0]}, dtype="Int64")
    # P(y) P(p = 0) P(d | v = 0) P(e | v = 0) P(f = 0 | p = 0): 1 · 1 and 2 · 1/2 times the same number
    np.testing.assert_allclose(bn.predict(x, row, prob=True), [[0.5, 0.5]])


def test_elimination_equals_messages_on_trees(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (300, 12)), columns=[f"x{i}" for i in range(12)])
    frame["class"] = rng.integers(0, 2, 300)
    x = bn.lp(bn.tan_cl("class", frame.astype("category")), frame.astype("category"), smooth=1)
    new = with_holes(frame.astype("category"), 0.4, 2)
    by_messages = bn.predict(x, new, prob=True)
    for least in (0.01, np.inf):  # for some rows, and for all, logs are added up
        monkeypatch.setattr(elimination, "_LEAST", least)
        np.testing.assert_allclose(bn.predict(x, new, prob=True), by_messages, rtol=1e-10)
    monkeypatch.setattr(elimination, "is_forest", lambda factors: False)
    by_elimination = bn.predict(x, new, prob=True)
    np.testing.assert_allclose(by_messages, by_elimination, rtol=1e-10)
