"""Folds: drawn at random by class, or given in any form."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=60), st.integers(2, 4), st.integers(0, 99))
def test_stratified_folds_are_even(y: list[str], k: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folds = bn.stratified_folds(y, k, rng=seed)
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1
    for label in set(y):
        assert np.ptp(np.bincount(folds[np.array(y) == label], minlength=k)) <= 1


def test_stratified_folds_refuse_missing_classes() -> None:
    with pytest.raises(ValueError, match="1 rows have no class"):
        bn.stratified_folds(["a", None, "b"], 2)


def test_folds_in_any_form_are_the_same(car: pd.DataFrame) -> None:
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


def test_seeded_cv_draws_the_folds_of_stratified_folds(car: pd.DataFrame) -> None:
    x = bn.lp(bn.nb("class", car), car, smooth=1)
    assert bn.cv(x, car, k=5, rng=0) == bn.cv(x, car, folds=bn.stratified_folds(car["class"], 5, rng=0))
