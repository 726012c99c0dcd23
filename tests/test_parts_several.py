"""Several class variables learned from partitioned data: the same models as in memory, and updates."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import examples, frames
from .test_parts import FORMS, by_dask, chunks, where_they_are, with_unknown_categories

CLASSES = ["mx_missile", "crime", "immigration"]

LEARNERS = {
    "bridge": lambda data: bn.mbc(CLASSES, data, max_parents=2),
    "trees": lambda data: bn.mbc(CLASSES, data, features="tree", score="bde"),
    "no arcs between classes": lambda data: bn.mbc(CLASSES, data, classes="empty", score="loglik"),
    "maode": lambda data: bn.maode(CLASSES, data, score="aic"),
    "chain": lambda data: bn.chain(CLASSES, data, learner="tan_cl", order=CLASSES[::-1]),
}

TYPES = ["bridge", "maode", "chain"]
"""A learner for each type of model."""


def same(mine, other, frame):
    """The same structure, levels and posteriors, to the last digit: sums of whole counts are exact."""
    assert mine.variables == other.variables
    assert mine.levels == other.levels
    for x, y in zip(bn.members(mine), bn.members(other), strict=True):
        assert x.families == y.families
    pd.testing.assert_frame_equal(
        bn.predict(mine, frame, prob=True), bn.predict(other, frame, prob=True), rtol=0, atol=0
    )
    assert repr(mine) == repr(other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "form"), [("bridge", FORMS["5 partitions"]), *product(LEARNERS, [FORMS["chunks"]])]
)
def test_models_are_those_of_memory(learner, form):
    votes = bn.load_voting()
    x, y = (LEARNERS[learner](data) for data in (form(votes), votes))
    others = ({"ess": 2}, {"m": 1}) if learner == "bridge" else ()  # priors are added to equal counts
    for prior in ({"smooth": 1}, *others):
        same(bn.lp(x, form(votes), **prior), bn.lp(y, votes, **prior), votes)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["bridge", "chain"])
def test_unknown_categories_and_parts_without_rows(learner):
    votes = bn.load_voting()
    text, data = votes.astype(object), where_they_are(with_unknown_categories(votes, 5))
    x, y = (bn.lp(LEARNERS[learner](d), d, smooth=1) for d in (data, text))
    same(x, y, text)


@given(st.data())
@examples(25)
def test_any_parts_of_any_rows(data):
    frame = data.draw(frames(missing=0.2))
    names, size = ["class", "x0"], data.draw(st.integers(1, len(frame)))
    for learn in (bn.mbc, bn.maode):
        parts = where_they_are(chunks(frame, size))
        x, y = (bn.lp(learn(names, d), d, smooth=0.5) for d in (parts, frame))
        same(x, y, frame)


@pytest.mark.slow
@pytest.mark.parametrize("learner", TYPES)
def test_scores_and_lazy_predictions(learner):
    votes = bn.load_voting().dropna(subset=CLASSES)
    x = bn.lp(LEARNERS[learner](votes), votes, smooth=1)
    for score in (bn.cloglik,) if learner == "chain" else (bn.loglik, bn.cloglik):
        assert score(x, where_they_are(chunks(votes))) == pytest.approx(score(x, votes), rel=1e-13)
    lazy = by_dask(votes, 5)
    for wish in ({}, {"prob": True}, {"joint": True}, {"joint": True, "prob": True}):
        pd.testing.assert_frame_equal(bn.predict(x, lazy, **wish).compute(), bn.predict(x, votes, **wish))


@pytest.mark.slow
def test_weights_in_a_column():
    votes = bn.load_voting()
    weighed = votes.assign(times=np.random.default_rng(0).integers(0, 3, len(votes)))
    parts = where_they_are(chunks(weighed), weights="times")
    repeated = votes.loc[votes.index.repeat(weighed["times"])].reset_index(drop=True)
    for learn in LEARNERS.values():
        x, y = (bn.lp(learn(data), data, smooth=1) for data in (parts, repeated))
        pd.testing.assert_frame_equal(
            bn.predict(x, votes, prob=True), bn.predict(y, votes, prob=True), rtol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "options"),
    [
        *((learner, {"smooth": 1}) for learner in LEARNERS),
        ("bridge", {"ess": 3}),
        ("maode", {"m": 1}),
        ("chain", {"backoff": True}),
    ],
)
def test_rows_in_turn_are_rows_at_once(learner, options, tmp_path):
    votes = bn.load_voting()
    x = LEARNERS[learner](votes)
    bn.save(bn.lp(x, votes.iloc[::2], **options), tmp_path / "x.json")
    y, more = bn.lp(x, votes, **options), votes.iloc[1::2]
    for rows in (more, where_they_are(chunks(more)), by_dask(more, 3)):
        same(bn.update(bn.load(tmp_path / "x.json"), rows), y, votes)
    strange = more.assign(crime=more["crime"].astype(object).where(more["crime"] != "n", "nay"))
    with pytest.raises(ValueError, match="'crime': 'nay' not among the levels of the model"):
        bn.update(y, strange)


@pytest.mark.parametrize("learn", [bn.mbc, bn.maode])
def test_no_row_that_counts_is_told_of_in_any_form(learn):
    votes = bn.load_voting()
    x = learn(CLASSES, votes)
    gaps = votes.assign(**{name: votes[name].where(votes[name].isna()) for name in CLASSES})
    for data in (gaps, [gaps], where_they_are([gaps]), where_they_are(by_dask(gaps, 2))):
        with pytest.raises(ValueError, match=r"all of .* are missing in every row"):
            bn.lp(x, data, smooth=1)
    weighed = votes.assign(w=0.0)
    for data in (weighed, chunks(weighed), by_dask(weighed, 2)):
        with pytest.raises(ValueError, match="all weights are 0"):
            bn.lp(x, where_they_are(data, weights="w"), smooth=1)
