"""More rows later: the same model as from all rows at once."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.models import Chain

from .strategies import examples, frames, graphs


def same(mine, other, frame):
    for x, y in zip(bn.members(mine), bn.members(other), strict=True):
        if isinstance(x, Chain):
            same(x, y, frame)
            continue
        for name, table in bn.params(y).items():
            np.testing.assert_allclose(bn.params(x)[name], table, rtol=1e-14)
    pd.testing.assert_frame_equal(
        bn.predict(mine, frame, prob=True), bn.predict(other, frame, prob=True), rtol=1e-13
    )


def in_turn(structure, frame, parts=3, **options):
    first, *more = (frame.iloc[i::parts] for i in range(parts))
    x = bn.lp(structure, first, **options)
    for rows in more:
        x = bn.update(x, rows)
    return x


PRIORS = ({"smooth": 0}, {"smooth": 1}, {"ess": 3}, {"m": 2}, {"backoff": True})
STRUCTURES = {
    "nb": lambda data: bn.nb("Class", data),
    "kdb_mi": lambda data: bn.kdb_mi("Class", data),
    "chow_liu": lambda data: bn.chow_liu("Class", data),
    "chisq_dn": lambda data: bn.chisq_dn("Class", data),
    "aode": lambda data: bn.aode("Class", data),
    "an ensemble": lambda data: bn.Ensemble([bn.nb("Class", data), bn.tan_cl("Class", data)]),
}


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_rows_in_turn_are_rows_at_once(structure, prior):
    if structure == "chisq_dn" and "backoff" in prior:
        prior = {"smooth": 2}  # a dependency network has no tables that back off
    votes = bn.load_voting().iloc[:, -7:]
    x = STRUCTURES[structure](votes)
    mine, other = in_turn(x, votes, **prior), bn.lp(x, votes, **prior)
    same(mine, other, votes.dropna())
    assert repr(mine) == repr(other)
    if "backoff" in prior and isinstance(mine, bn.BNC):
        pd.testing.assert_series_equal(bn.concentrations(mine), bn.concentrations(other))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_averaged_estimators(n):
    votes = bn.load_voting().iloc[:, -8:]
    x = bn.ande("Class", votes, n=n, subsumption=20, weights="mi" if n == 1 else None)
    same(in_turn(x, votes, smooth=1), bn.lp(x, votes, smooth=1), votes)


def test_averaged_estimators_with_a_long_feature():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"long": rng.integers(0, 40, 300), **{f"x{i}": rng.integers(0, 2, 300) for i in range(3)}}
    ).assign(c=rng.integers(0, 2, 300))
    x = bn.ande("c", frame, n=2)
    same(in_turn(x, frame, parts=7, smooth=1), bn.lp(x, frame, smooth=1), frame)


@given(st.data())
@examples(40)
def test_any_network_and_rows(data):
    frame = data.draw(frames(missing=0.2, min_rows=2))
    x = data.draw(graphs(frame))
    prior = data.draw(st.sampled_from(PRIORS))
    same(in_turn(x, frame, parts=2, **prior), bn.lp(x, frame, **prior), frame)


def test_weights_and_parts(car):
    x = bn.tan_cl("class", car)
    first, more = car.iloc[::2], car.iloc[1::2]
    weights = np.random.default_rng(0).random(len(more))
    mine = bn.update(bn.lp(x, first, smooth=1), bn.encode(more, weights=weights))
    both = bn.encode(pd.concat([first, more]), weights=np.r_[np.ones(len(first)), weights])
    same(mine, bn.lp(x, both, smooth=1), car)
    parts = bn.encode([more.iloc[:100], more.iloc[100:]], in_memory=False)
    same(bn.update(bn.lp(x, first, smooth=1), parts), bn.lp(x, car, smooth=1), car)


@pytest.mark.parametrize("options", [{"smooth": 1}, {"backoff": True}], ids=str)
@pytest.mark.parametrize("learner", ["tan_cl", "aode"])
def test_files_hold_the_counts(car, tmp_path, learner, options):
    x = bn.bnc(learner, "class", car.iloc[::2], **options)
    bn.save(x, tmp_path / "x.json")
    again = bn.load(tmp_path / "x.json")
    same(bn.update(again, car.iloc[1::2]), bn.update(x, car.iloc[1::2]), car)


def test_what_is_kept(car):
    x = bn.bnc("tan_cl", "class", car.iloc[:900], smooth=1)
    before = {name: table.copy() for name, table in bn.params(x).items()}
    mine = bn.update(x, car.iloc[900:])
    assert bn.families(mine) == bn.families(x)
    assert bn.values(mine) == bn.values(x)
    for name, table in before.items():
        np.testing.assert_array_equal(bn.params(x)[name], table)
    assert mine.recipe == x.recipe


def test_a_value_that_is_new_is_told(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    new = car.astype(object).assign(doors="7")
    verbs = [
        lambda: bn.update(x, new),
        lambda: bn.update(x, [new.iloc[:9], new.iloc[9:]]),
        lambda: bn.lp(x, new, smooth=1),
        lambda: bn.loglik(x, new),
        lambda: bn.query(x, ["class"], evidence={"doors": "7"}),
        lambda: bn.impute(x, new),
    ]
    for verb in verbs:
        with pytest.raises(ValueError, match=r"levels of the model.*refit the model to all rows") as e:
            verb()
        assert "unseen" not in str(e.value)
    with pytest.raises(ValueError, match=r"'doors': '7' not among the levels of the model.*unseen='missing'"):
        bn.predict(x, new)


MORE_THAN_COUNTS = {
    "weights": {"smooth": 1, "wanbia": True},
    "arc_posteriors": {"smooth": 1, "manb_prior": 0.5},
    "em": {"smooth": 1, "missing": "em"},
    "leave_one_out": {"smooth": 1, "held_out": "weights"},
}


@pytest.mark.parametrize("left", MORE_THAN_COUNTS)
def test_what_is_more_than_counts_is_refused(car, left):
    x = bn.lp(bn.nb("class", car), car, **MORE_THAN_COUNTS[left])
    with pytest.raises(ValueError, match=f"do not follow from counts.*{left}.*Refit it to all rows"):
        bn.update(x, car)


def test_models_without_counts(car, tmp_path):
    bn.write_bif(bn.bnc("nb", "class", car, smooth=1), tmp_path / "x.bif")
    with pytest.raises(ValueError, match="tables were given by hand or read from a file"):
        bn.update(bn.read_bif(tmp_path / "x.bif", "class"), car)


MODELS = {
    "nb": lambda frame: bn.nb("class", frame),
    "aode": lambda frame: bn.aode("class", frame),
    "ande": lambda frame: bn.ande("class", frame),
    "an ensemble": lambda frame: bn.Ensemble([bn.nb("class", frame), bn.tan_cl("class", frame)]),
    "mbc": lambda frame: bn.mbc(["class", "doors"], frame),
    "chain": lambda frame: bn.chain(["class", "safety"], frame),
    "chains": lambda frame: bn.chain(["class", "safety"], frame, orders=2, rng=0),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_batch_may_lack_all_values_of_a_column_and_hold_whole_floats(car, kind):
    codes = car.assign(doors=car["doors"].cat.codes.astype(int), buying=car["buying"].cat.codes.astype(int))
    structure = MODELS[kind](codes)
    x = bn.lp(structure, codes, smooth=1)
    batch = codes.iloc[:50].assign(maint=None, buying=codes["buying"].astype(float).mask(codes.index == 3))
    in_parts = [batch.iloc[:20], batch.iloc[20:]]
    same(bn.update(x, batch), bn.update(x, [part.convert_dtypes() for part in in_parts]), codes)
    alone = bn.lp(structure, batch, smooth=1)
    same(alone, bn.lp(structure, batch.convert_dtypes(), smooth=1), codes)
    assert bn.values(alone) == bn.values(x)


@pytest.mark.parametrize("kind", MODELS)
def test_an_empty_batch_is_told(car, kind):
    structure = MODELS[kind](car)
    x = bn.lp(structure, car, smooth=1)
    for empty in (car.iloc[:0], car.iloc[:0].astype(object)):
        with pytest.raises(ValueError, match="dataset must have rows; got none"):
            bn.update(x, empty)
        with pytest.raises(ValueError, match="dataset must have rows; got none"):
            bn.lp(structure, empty, smooth=1)
    with pytest.raises(ValueError, match="dataset must have rows; got none"):
        MODELS[kind](car.iloc[:0].astype(object))


def test_cases_are_added_if_all_rows_are_cases():
    frame = pd.DataFrame({"a": list("uvuvuv"), "y": list("ppqqpq")})
    cases = bn.encode(frame, weights=[0.5, 1, 1.5] * 2, weights_are="cases")
    x = bn.lp(bn.nb("y", cases), cases, smooth=1)
    size = cases.size  # the effective number of rows
    for more, told in (
        (cases, f"12 (weights of {2 * size:,.0f} rows)"),
        (frame, f"{size + 6:,g} (sum of weights)"),
    ):
        assert bn.summary(bn.update(x, more)).set_index("item").loc["rows", "value"] == told


def test_numbers_near_1e15_are_added_exactly():
    """Near 10^15, floats are .125 apart, so the rounding of means is kept for later rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": 10.0**15 + rng.integers(0, 9, 60), "y": rng.choice(["p", "q"], 60)})
    whole, half = (
        bn.bnc("nb", "y", rows, smooth=1, numbers={"a": "gaussian"}) for rows in (frame, frame.iloc[:25])
    )
    parts = bn.update(half, frame.iloc[25:])
    pd.testing.assert_frame_equal(bn.cpt(parts, "a"), bn.cpt(whole, "a"), rtol=1e-12)
    found = [bn.predict(x, frame, prob=True) for x in (parts, whole)]
    pd.testing.assert_frame_equal(*found, rtol=1e-9)
