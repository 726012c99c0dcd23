"""The one evaluation of formulas: plain values, sequences, unknown values, and parts of the scores."""

from dataclasses import replace

import numpy as np
import pytest

import bnclassify as bn
from bnclassify.accessors import encode_for_model
from bnclassify.scores import (
    Computed,
    Mixture,
    Rows,
    Sum,
    Table,
    as_plain_formula,
    averaged_formulas,
    effects_at,
    scopes_of_terms,
    scores_at,
    term_values_at,
)

LABELS = ["class", "safety", "persons", "buying"]


def learn(car, name):
    """Models of each type of formula, of three features."""
    car = car[[*LABELS[1:], "class"]]
    if name == "default":
        return bn.bnc(class_var="class", dataset=car.sample(300, random_state=1))
    if name == "sum":
        return bn.bnc(class_var="class", dataset=car.sample(300, random_state=1), pairs=0)
    if name == "weights":
        return bn.lp(bn.kdb_mi("class", car), car, backoff=True, held_out="weights")
    if name == "power":
        return bn.lp(bn.aode("class", car), car, smooth=1, held_out="power")
    learner = {"tan": bn.tan_cl, "aode": bn.aode, "ande": bn.ande, "hc": bn.hc, "dn": bn.chisq_dn}[name]
    return bn.lp(learner("class", car), car, smooth=1)


NAMES = ["tan", "hc", "dn", "aode", "ande", "power", "weights", "default", "sum"]


def rows_of(x, car, share):
    """Some rows, in which a share of the values is missing."""
    frame = car[list(x.features)].sample(60, random_state=0)
    holes = np.random.default_rng(2).random(frame.shape) < share
    return x.rows_to_score(encode_for_model(x, frame.mask(holes), x.features))


def odds_of(logs):
    return logs - logs[..., -1:]


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_of_plain_values_has_the_same_scores(car, name):
    x = learn(car, name)
    plain = as_plain_formula(x.score)
    assert not isinstance(plain, Computed)
    for share in (0.0, 0.4):
        rows = rows_of(x, car, share)
        np.testing.assert_allclose(
            odds_of(scores_at(plain, rows)), odds_of(scores_at(x.score, rows)), atol=1e-9
        )


@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_depend_on_each_other(car, name):
    x = learn(car, name)
    rows = rows_of(x, car, 0.3)
    alone = np.concatenate([scores_at(x.score, rows.subset([i])) for i in range(len(rows))])
    np.testing.assert_allclose(scores_at(x.score, rows), alone, rtol=1e-12)
    assert scores_at(x.score, rows.subset([])).shape == (0, 4)


def test_a_sum_of_tables_by_hand():
    of_a = Table(0, (0,), np.array([[1.0, 2.0], [3.0, 4.0], [0.5, -0.5]]))  # the last is of a missing value
    of_b = Table(1, (1, 0), np.arange(18.0).reshape(3, 3, 2))
    x = Sum((Table(-1, (), np.array([0.1, 0.2])), of_a, of_b), marginalizes=False)
    rows = Rows(np.array([[0, 1, -1, -1], [1, -1, 0, -1]]))
    expected = [[0.1 + 1 + 6, 0.2 + 2 + 7], [0.1 + 3 + 14, 0.2 + 4 + 15], [0.1 + 0.5 + 4, 0.2 - 0.5 + 5]]
    expected.append([0.1 + 0.5 + 16, 0.2 - 0.5 + 17])
    np.testing.assert_allclose(scores_at(x, rows), expected)
    unknown = replace(rows, unknown=np.array([[False, False, True, True], [False, False, False, True]]))
    np.testing.assert_allclose(scores_at(x, unknown)[2], [0.1 + 4, 0.2 + 5])  # as if the parent is missing
    np.testing.assert_allclose(scores_at(x, unknown)[3], [0.1, 0.2])
    assert scopes_of_terms(x) == [(), (0,), (1, 0)]
    assert [owner for owner, _ in term_values_at(x, rows)] == [-1, 0, 1]
    found = {(owner, scope): logs[0].tolist() for owner, scope, logs in effects_at(x, rows, [2, 2])}
    assert found == {(0, (0,)): [1.0, 2.0], (1, (1,)): [10.0, 11.0]}  # of b alone, the parent is missing


def test_a_mixture_leaves_out_what_does_not_apply():
    logs = np.array([[0.0, 0.0], [np.nan, np.nan], [0.0, 0.0]])
    rare = Sum((Table(0, (0,), logs),), marginalizes=False)
    always = Sum((Table(0, (0,), np.log([[1.0, 3.0], [2.0, 5.0], [1.0, 1.0]])),), marginalizes=False)
    x = Mixture((rare, always), np.log([0.5, 0.5]))
    scores = np.exp(scores_at(x, Rows(np.array([[0, 1]]))))
    np.testing.assert_allclose(scores, [[1.0, 2.0], [1.0, 2.5]])
    nothing = Mixture((rare,), np.zeros(1))
    assert np.isnan(scores_at(nothing, Rows(np.array([[1]])))).all()
    assert averaged_formulas(x) == (rare, always)
