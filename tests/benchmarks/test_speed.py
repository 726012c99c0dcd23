"""Learning and prediction beside scikit-learn's CategoricalNB, on the same rows.

Run on demand: ``pip install -e '.[bench]'``, then
``python -m pytest tests/benchmarks --benchmark-group-by=group,param:size``.
CategoricalNB is given integer codes that were made before the clock started; ours starts from a
data frame of categorical columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB

import bnclassify as bn

from .data import tree_augmented

SIZES = {
    "3,000 x 36": (3_000, 36, 2, 2),
    "100,000 x 30": (100_000, 30, 4, 4),
    "2,000 x 1,000": (2_000, 1_000, 2, 2),
}


@pytest.fixture(scope="module", params=SIZES)
def frame(request: pytest.FixtureRequest) -> pd.DataFrame:
    return tree_augmented(*SIZES[request.param])


@pytest.fixture(scope="module")
def peer(frame: pd.DataFrame) -> tuple[CategoricalNB, np.ndarray, np.ndarray]:
    """CategoricalNB, fitted, with its codes."""
    codes = frame.apply(lambda column: column.cat.codes).to_numpy().astype(np.int64)
    model = CategoricalNB(alpha=1, min_categories=[len(frame[c].cat.categories) for c in frame.columns[:-1]])
    return model.fit(codes[:, :-1], codes[:, -1]), codes[:, :-1], codes[:, -1]


def learn(frame: pd.DataFrame, learner: Callable) -> bn.BNC:
    return bn.lp(learner("class", frame), frame, smooth=1)


def test_both_learn_the_same(frame: pd.DataFrame, peer: tuple) -> None:
    model, codes, _ = peer
    ours = bn.params(learn(frame, bn.nb))
    np.testing.assert_allclose(np.log(ours["x0"]).T, model.feature_log_prob_[0], rtol=1e-9)
    # CategoricalNB does not smooth the class, so posteriors are compared without its prior.
    theirs = np.exp(model.predict_joint_log_proba(codes) - model.class_log_prior_ + np.log(ours["class"]))
    posterior = theirs / theirs.sum(axis=1, keepdims=True)
    if codes.shape[1] < 100:  # the products of 1,000 features underflow
        np.testing.assert_allclose(
            bn.predict(learn(frame, bn.nb), frame, prob=True), posterior, rtol=1e-6, atol=1e-9
        )


@pytest.mark.benchmark(group="learn")
def test_nb_learn(benchmark: Callable, frame: pd.DataFrame) -> None:
    benchmark(learn, frame, bn.nb)


@pytest.mark.benchmark(group="learn")
def test_categorical_nb_learn(benchmark: Callable, peer: tuple) -> None:
    model, codes, label = peer
    benchmark(model.fit, codes, label)


@pytest.mark.benchmark(group="learn")
def test_tan_cl_learn(benchmark: Callable, frame: pd.DataFrame) -> None:
    benchmark(learn, frame, bn.tan_cl)


@pytest.mark.benchmark(group="predict")
def test_nb_predict(benchmark: Callable, frame: pd.DataFrame) -> None:
    benchmark(bn.predict, learn(frame, bn.nb), frame)


@pytest.mark.benchmark(group="predict")
def test_categorical_nb_predict(benchmark: Callable, peer: tuple) -> None:
    model, codes, _ = peer
    benchmark(model.predict, codes)


@pytest.mark.benchmark(group="predict")
def test_tan_cl_predict(benchmark: Callable, frame: pd.DataFrame) -> None:
    benchmark(bn.predict, learn(frame, bn.tan_cl), frame)
