"""Greedy search, weighting and incomplete rows, beside a plain unit of work.

The unit is one structure scored the plain way: ``lp`` on the training part and ``predict`` on the
test part of each of five folds. Run on demand, as ``test_speed.py`` says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.dataset import take_rows

from .data import tree_augmented

SIZES = {"3,196 x 36": (3_196, 36, 2, 2), "3,190 x 60": (3_190, 60, 4, 3)}
FOLDS = 5


@pytest.fixture(scope="module", params=SIZES)
def frame(request: pytest.FixtureRequest) -> pd.DataFrame:
    return tree_augmented(*SIZES[request.param])


def numbers(frame: pd.DataFrame) -> np.ndarray:
    return np.arange(len(frame)) % FOLDS


@pytest.mark.benchmark(group="search")
def test_unit(benchmark: Callable, frame: pd.DataFrame) -> None:
    data, fold = bn.encode(frame), numbers(frame)
    parts = [(take_rows(data, fold != i), take_rows(data, fold == i)) for i in range(FOLDS)]
    x = bn.tan_cl("class", data)
    benchmark(lambda: [bn.predict(bn.lp(x, trained, smooth=1), tested) for trained, tested in parts])


@pytest.mark.benchmark(group="search")
@pytest.mark.parametrize("learner", ["fssj", "bsej", "tan_hc", "tan_hcsp", "kdb"])
def test_search(benchmark: Callable, frame: pd.DataFrame, learner: str) -> None:
    data, fold = bn.encode(frame), numbers(frame)
    benchmark(getattr(bn, learner), "class", data, k=FOLDS, folds=fold, smooth=1)


@pytest.mark.benchmark(group="weighting")
@pytest.mark.parametrize(
    "option", [{"manb_prior": 0.5}, {"awnb_trees": 10, "rng": 0}, {"wanbia": True}], ids=str
)
def test_weighting(benchmark: Callable, frame: pd.DataFrame, option: dict) -> None:
    benchmark(bn.lp, bn.nb("class", frame), bn.encode(frame), smooth=1, **option)


@pytest.mark.benchmark(group="missing")
@pytest.mark.parametrize("share", [0, 0.1])
@pytest.mark.parametrize("learner", ["nb", "tan_cl"])
def test_predict(benchmark: Callable, frame: pd.DataFrame, learner: str, share: float) -> None:
    x = bn.lp(getattr(bn, learner)("class", frame), frame, smooth=1)
    holes = np.random.default_rng(0).random(frame.shape) < share
    benchmark(bn.predict, x, bn.encode(frame.mask(holes)))
