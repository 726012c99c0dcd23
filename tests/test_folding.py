"""Folds: drawn at random by class, or given in any form."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=60), st.integers(2, 4), st.integers(0, 99))
def test_stratified_folds_are_even(y, k, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = bn.stratified_folds(y, k, rng=seed)
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1
    for label in set(y):
        assert np.ptp(np.bincount(folds[np.array(y) == label], minlength=k)) <= 1


def test_folds_in_any_form_are_the_same(car):
    numbers = bn.stratified_folds(car["class"], 3, rng=0)
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    rows = [np.nonzero(numbers == fold)[0] for fold in range(3)]
    forms = [
        numbers,
        pd.Series(numbers),
        numbers.tolist(),
        rows,
        (r for r in rows),
        [numbers == f for f in range(3)],
    ]
    results = [bn.cv(x, car, folds=form, mean=False) for form in forms]
    for other in results[1:]:
        pd.testing.assert_frame_equal(other, results[0])
    pairs = [(np.nonzero(numbers != fold)[0], test) for fold, test in enumerate(rows)]
    pd.testing.assert_frame_equal(bn.cv(x, car, folds=pairs, mean=False), results[0])
    with pytest.raises(ValueError, match=r"Pass \[test for _, test in folds\]"):
        bn.tan_hc("class", car, k=3, smooth=1, folds=pairs)


def test_seeded_cv_draws_the_folds_of_stratified_folds(car):
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    assert bn.cv(x, car, k=5, rng=0) == bn.cv(x, car, folds=bn.stratified_folds(car["class"], 5, rng=0))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("rejection", [0, 2, 2, 1, 0, 3, 1, 2, 0, 3, 1, 1, 2, 1, 3, 0, 0, 2, 0, 1, 2, 3, 1]),
        ("rounding", [1, 3, 0, 2, 3, 0, 1, 0, 3, 0, 2, 1, 1, 2, 0, 3, 1, 1, 3, 0, 0, 2, 2]),
    ],
)
def test_folds_of_r(kind, expected):
    """R 4.2.2 after set.seed(7), by the steps of make_stratified_folds in the R package."""
    assert bn.r_folds(["a"] * 7 + ["b"] * 5 + ["c"] * 11, 4, seed=7, sample_kind=kind).tolist() == expected


def test_folds_of_r_draw_more_than_sixteen_bits():
    """R 4.2.2 after set.seed(2147483647)."""
    folds = bn.r_folds(["x"] * 70_000 + ["z"] * 300, 10, seed=2**31 - 1)
    assert folds[:10].tolist() == [8, 2, 7, 2, 9, 2, 3, 6, 2, 9]
    assert (folds * (np.arange(1, 70_301) % 1000)).sum() == 157_050_939


def test_the_cross_validation_of_the_paper_on_the_r_package(car):
    """It prints 0.8582303 and 0.9345913, made with RNGversion("3.5.0") and set.seed(0)."""
    models = {
        "nb": bn.bnc("nb", "class", car, smooth=0.01),
        "ode_cl_aic": bn.bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"}),
    }
    folds = bn.r_folds(car["class"], 5, seed=0, sample_kind="rounding")
    assert bn.cv(models, car, folds=folds).round(7).tolist() == [0.8582303, 0.9345913]


def test_figures_of_the_paper_on_the_r_package(car):
    naive = bn.bnc("nb", "class", car, smooth=0.01)
    tan = bn.bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})
    assert (bn.narcs(naive), bn.narcs(tan), bn.nparams(tan)) == (6, 9, 131)
    assert round(bn.loglik(tan, car), 2) == -13307.59
    assert round(bn.AIC(tan, car), 2) == -13438.59
    first = bn.predict(naive, car, prob=True)[["unacc", "acc", "good", "vgood"]].iloc[0]
    np.testing.assert_allclose(first, [1, 2.171346e-10, 8.267214e-16, 3.536615e-19], rtol=3e-7)
    folds = bn.r_folds(car["class"], 5, seed=3, sample_kind="rounding")
    assert len(bn.features(bn.fssj("class", car, k=5, epsilon=0, folds=folds))) == 5
