"""Expectation maximization."""

import warnings
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.networks import em

from .oracles import joint_by_enumeration
from .strategies import examples, frames, graphs, networks

PRIORS = {"smooth": lambda r, q: 0.5, "ess": lambda r, q: 3 / (r * q), "m": lambda r, q: 2 / r}
"""What each prior adds to a cell of a table: r levels, q configurations of the parents."""


def objective(x, frame, prior):
    """Log posterior of the tables, with the likelihood of the rows by enumeration."""
    total = 0.0
    for _, row in frame.iterrows():
        labels = bn.classes(x) if pd.isna(row["class"]) else [row["class"]]
        total += np.log(sum(joint_by_enumeration(x, row, label) for label in labels))
    for table in bn.params(x).values():
        total += PRIORS[prior](len(table), table[0].size) * np.log(table).sum()
    return total


@pytest.mark.parametrize("prior", PRIORS)
@given(st.data())
@examples(25)
def test_what_is_maximised_never_falls_and_is_what_it_says(prior, data):
    frame = data.draw(frames(min_rows=3, max_rows=12, max_features=3, missing=0.3))
    frame.loc[frame.index[1::4], "class"] = np.nan
    structure = data.draw(st.one_of(networks(frame, max_parents=2), graphs(frame, max_parents=2)))
    amount = {"smooth": 0.5, "ess": 3, "m": 2}[prior]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three iterations do not converge
        runs = [
            bn.lp(structure, frame, missing={"iterations": n, "tolerance": 0}, **{prior: amount})
            for n in (1, 2, 3)
        ]
    trace = bn.em_objectives(runs[-1])
    assert all(b >= a - 1e-9 for a, b in pairwise(trace))
    for x in runs:
        assert bn.em_objectives(x)[-1] == pytest.approx(objective(x, frame, prior), rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings("ignore")
@given(st.data())
@examples(40)
def test_one_iteration_adds_expected_counts(data):
    """Each way to complete a row counts with its probability under the tables of complete cases."""
    frame = data.draw(frames(min_rows=3, max_rows=10, missing=0.4))
    frame.loc[frame.index[1::4], "class"] = np.nan
    structure = data.draw(networks(frame))
    start = bn.lp(structure, frame, smooth=0.5)
    found = bn.params(bn.lp(structure, frame, smooth=0.5, missing={"iterations": 1, "tolerance": 0}))
    tables, families = bn.params(start), bn.families(start)
    counts = {v: np.full(table.shape, 0.5) for v, table in tables.items()}
    for codes in frame.apply(lambda column: column.cat.codes).to_numpy():
        known = [
            [code] if code >= 0 else range(len(frame[v].cat.categories))
            for v, code in zip(frame, codes, strict=True)
        ]
        ways = [dict(zip(frame, way, strict=True)) for way in product(*known)]
        cells = [{v: tuple(way[p] for p in family) for v, family in families.items()} for way in ways]
        chances = np.array([np.prod([tables[v][at] for v, at in cell.items()]) for cell in cells])
        for cell, share in zip(cells, chances / chances.sum(), strict=True):
            for v, at in cell.items():
                counts[v][at] += share
    for v, table in counts.items():
        np.testing.assert_allclose(found[v], table / table.sum(axis=0), rtol=1e-9)


def test_complete_data_gives_the_dirichlet_estimate_at_once(car):
    for smooth in (0, 1):
        x = bn.lp(bn.tan_cl("class", car), car, smooth=smooth, missing="em")
        y = bn.lp(bn.tan_cl("class", car), car, smooth=smooth)
        assert all(map(np.array_equal, x.cpts, y.cpts))
        assert len(bn.em_objectives(x)) == 1
        assert "0 iterations, converged" in repr(x)


def test_missing_features_of_a_naive_bayes_add_nothing(voting):
    x = bn.lp(bn.nb("Class", voting), voting, smooth=1, missing="em")
    y = bn.lp(bn.nb("Class", voting), voting, smooth=1)
    for a, b in zip(x.cpts, y.cpts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_fixed_point_by_hand():
    """Two classes told apart by one feature: a row without a class joins the class of its kind."""
    frame = pd.DataFrame({"a": list("xxyyx"), "class": ["p", "p", "q", "q", None]})
    x = bn.lp(bn.nb("class", frame), frame, smooth=0, missing={"tolerance": 1e-14})
    np.testing.assert_allclose(bn.params(x)["class"], [0.6, 0.4], atol=1e-5)


def test_rows_without_a_class_help(car):
    """Semi-supervised: the likelihood of unseen rows rises with unlabelled ones."""
    some = car.sample(frac=1, random_state=0).reset_index(drop=True)
    trained, tested = some[:900].copy(), some[900:]
    trained.loc[60:, "class"] = np.nan
    with pytest.warns(UserWarning, match="840 of 900 rows have no class"):
        few = bn.lp(bn.nb("class", some), trained, smooth=1)
    all_rows = bn.lp(bn.nb("class", some), trained, smooth=1, missing="em")
    assert bn.loglik(all_rows, tested) > bn.loglik(few, tested)


@pytest.mark.slow
def test_ensembles_and_cross_validation(voting):
    x = bn.lp(
        bn.aode("Class", voting[["crime", "immigration", "mx_missile", "Class"]]),
        voting,
        smooth=1,
        missing="em",
    )
    assert all("em" in m.learned for m in bn.members(x))
    assert 0.5 < bn.cv(x, voting, k=3, rng=0, columns="any") < 1


def test_em_sums_over_more_missing_features_than_an_array_has_axes():
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(80)]
    frame = pd.DataFrame(rng.integers(0, 2, (60, 80)), columns=names).assign(y=rng.integers(0, 2, 60))
    above = {names[i]: [names[i - 1], names[i - 2]] for i in range(2, 80)}
    structure = bn.anb("y", above, frame)
    trained = frame.astype("Int64").mask(np.arange(60)[:, None] < np.array([6] * 79 + [0, 0]))
    x = bn.lp(structure, trained, smooth=1, missing="em")
    objectives = bn.em_objectives(x)
    assert objectives == tuple(sorted(objectives))
    assert np.isfinite(objectives).all()


def test_progress_is_shown_where_asked_for(voting, capsys):
    x = bn.tan_cl("Class", voting)
    quiet = bn.lp(x, voting, smooth=1, missing="em")
    assert not capsys.readouterr().err
    shown = bn.lp(x, voting, smooth=1, missing="em", progress=True)
    assert f"{len(bn.em_objectives(shown)) - 1} iterations" in capsys.readouterr().err
    assert all(map(np.array_equal, quiet.cpts, shown.cpts))
    assert repr(shown) == repr(quiet)


def test_without_smoothing_what_was_never_seen_complete_can_be_found():
    """The row that has y lacks a, so counts of complete rows say that y is impossible with any known a."""
    frame = pd.DataFrame({"a": ["u", "u", None, None], "b": list("xxyy"), "class": list("pppq")})
    frame["a"] = pd.Categorical(frame["a"], ["u", "v"])
    x = bn.lp(bn.anb("class", {"b": ["a"]}, frame), frame, smooth=0, missing="em")
    classes = 3 * np.log(3 / 4) + np.log(1 / 4)
    of_p = 2 * np.log(2 / 3) + np.log(1 / 3)  # a is v exactly where b is y, or b has its share of y under u
    assert bn.em_objectives(x)[-1] == pytest.approx(classes + of_p, abs=1e-3)


def test_an_interrupt_gives_back_nothing(voting, monkeypatch):
    x = bn.lp(bn.tan_cl("Class", voting), voting, smooth=1)
    before = bn.predict(x, voting, prob=True)
    passes, counted = iter(range(3)), em.expected_counts

    def interrupted(*arguments):
        if next(passes) == 2:
            raise KeyboardInterrupt
        return counted(*arguments)

    monkeypatch.setattr(em, "expected_counts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bn.lp(x, voting, smooth=1, missing="em")
    pd.testing.assert_frame_equal(bn.predict(x, voting, prob=True), before, check_exact=True)
    assert "em" not in x.learned
