"""Rows that count as often as they say: the same as rows repeated."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.frames.counting import pair_statistics

from .strategies import frames, networks


def weighted_and_repeated(frame: pd.DataFrame, weights: Any) -> tuple[bn.Dataset, bn.Dataset]:
    """The same data twice: with weights, and with rows as often as these say."""
    weights = np.asarray(weights)
    return (
        replace(bn.encode(frame), weights=weights.astype(float)),
        bn.encode(frame.loc[frame.index.repeat(weights)].reset_index(drop=True)),
    )


@st.composite
def pairs(draw: st.DrawFn, **options: Any) -> tuple[pd.DataFrame, bn.Dataset, bn.Dataset]:
    frame = draw(frames(missing=0.2, **options))
    weights = draw(st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame)))
    weights[draw(st.integers(0, len(frame) - 1))] = 1
    return frame, *weighted_and_repeated(frame, weights)


@given(st.data())
@settings(max_examples=60)
def test_models_and_scores(data: st.DataObject) -> None:
    frame, weighted, repeated = data.draw(pairs())
    structures = [bn.aode("class", frame), data.draw(networks(frame))]
    for structure in structures:
        x, y = (bn.lp(structure, rows, smooth=0.5) for rows in (weighted, repeated))
        for mine, other in zip(bn.members(x), bn.members(y), strict=True):
            for name, table in bn.params(other).items():
                np.testing.assert_allclose(bn.params(mine)[name], table, rtol=1e-12)
        for score in (bn.loglik, bn.cloglik):
            assert score(x, weighted) == pytest.approx(score(y, repeated), rel=1e-12, abs=1e-12)
    assert bn.BIC(x, weighted) == pytest.approx(bn.BIC(y, repeated), rel=1e-12)
    for given_ in ([], ["class"]):
        mine, other = (bn.cmi("x0", "class", rows, z=given_) for rows in (weighted, repeated))
        assert mine == pytest.approx(other, abs=1e-12)


@given(st.data())
@settings(max_examples=40)
def test_expectation_maximisation(data: st.DataObject) -> None:
    frame, weighted, repeated = data.draw(pairs(max_features=3))
    structure = data.draw(networks(frame))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two iterations do not converge
        x, y = (
            bn.lp(structure, rows, smooth=0.5, missing="em", em_iterations=2) for rows in (weighted, repeated)
        )
    assert bn.em_objectives(x) == pytest.approx(bn.em_objectives(y), rel=1e-12)
    for name, table in bn.params(y).items():
        np.testing.assert_allclose(bn.params(x)[name], table, rtol=1e-9)


@given(st.data())
@settings(max_examples=40)
def test_trees(data: st.DataObject) -> None:
    frame, weighted, repeated = data.draw(pairs(max_features=5))
    n = frame.shape[1] - 1
    mine, other = (pair_statistics(rows, range(n), n) for rows in (weighted, repeated))
    np.testing.assert_allclose(mine.information, other.information, atol=1e-12)
    np.testing.assert_allclose(mine.rows, other.rows)
    for score in ("loglik", "aic", "bic"):
        assert bn.families(bn.tan_cl("class", weighted, score=score)) == bn.families(
            bn.tan_cl("class", repeated, score=score)
        )
    depths = [bn.min_testing_depths("class", rows) for rows in (weighted, repeated)]
    pd.testing.assert_series_equal(*depths)


def test_methods_of_lp(votes: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    weighted, repeated = weighted_and_repeated(votes, rng.integers(0, 4, len(votes)))
    for options in ({"wanbia": True}, {"manb_prior": 0.5}):
        x, y = (bn.lp(bn.nb("Class", votes), rows, smooth=1, **options) for rows in (weighted, repeated))
        for name, table in bn.params(y).items():
            np.testing.assert_allclose(bn.params(x)[name], table, rtol=1e-5 if "wanbia" in options else 1e-12)
    x = bn.lp(bn.nb("Class", votes), weighted, smooth=1, awnb_trees=5, rng=0)
    assert 0 < bn.feature_weights(x).max() <= 1


def test_any_number_is_a_weight(car: pd.DataFrame) -> None:
    """All weights alike give the tables that they give with one each, but for the prior."""
    data = bn.encode(car)
    third = replace(data, weights=np.full(len(car), 1 / 3))
    x, y = bn.lp(bn.nb("class", car), third, smooth=1 / 3), bn.lp(bn.nb("class", car), data, smooth=1)
    np.testing.assert_allclose(bn.params(x)["safety"], bn.params(y)["safety"], rtol=1e-12)
    manb = [bn.lp(bn.nb("class", car), rows, smooth=1, manb_prior=0.5) for rows in (data, third)]
    assert bn.manb_arc_posterior(manb[1])["doors"] != bn.manb_arc_posterior(manb[0])["doors"]
