"""lp and bnc: from a structure and data to tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .conftest import scores_of
from .strategies import frames, networks, smooths


@given(st.data())
def test_tables_are_dirichlet_means_of_available_cases(data):
    frame = data.draw(frames(missing=0.2))
    smooth = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    x = bn.lp(data.draw(networks(frame)), frame, smooth=smooth)
    for variable, table in bn.params(x).items():
        family = bn.families(x)[variable]
        observed = frame[list(family)].dropna()
        counts = observed.value_counts().to_dict()
        assert table.shape == tuple(len(bn.values(x)[v]) for v in family)
        np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)
        labels = [bn.values(x)[v] for v in family]
        for cell in product(*(range(len(ls)) for ls in labels)):
            column = [
                tuple(ls[i] for ls, i in zip(labels, (k, *cell[1:]), strict=True))
                for k in range(len(labels[0]))
            ]
            n = [counts.get(key, 0) + smooth for key in column]
            expected = n[cell[0]] / sum(n) if sum(n) else 1 / len(n)
            assert table[cell] == pytest.approx(expected, rel=1e-12)


@given(frames(), smooths, st.randoms(use_true_random=False))
def test_order_of_rows_columns_and_categories_does_not_matter(frame, smooth, random):
    x = bn.lp(bn.tan_cl("class", frame), frame, smooth=smooth)
    shuffled = frame.sample(frac=1, random_state=random.randrange(2**31))[
        random.sample(list(frame.columns), frame.shape[1])
    ]
    relabelled = shuffled.apply(
        lambda s: s.cat.reorder_categories(random.sample(list(s.cat.categories), len(s.cat.categories)))
    )
    y = bn.lp(x, relabelled, smooth=smooth)
    for a, b in zip(x.cpts, y.cpts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(
        bn.predict(x, frame, prob=True), bn.predict(y, relabelled.loc[frame.index], prob=True)
    )


@pytest.mark.parametrize("smooth", [-1, np.nan, np.inf, "1", True])
def test_smooth_is_a_finite_number_of_at_least_0(car, smooth):
    error = TypeError if type(smooth) in (str, bool) else ValueError
    with pytest.raises(error, match=r"smooth must be a finite number .*0"):
        bn.lp(bn.nb("class", car), car, smooth=smooth)


def test_levels_of_the_structure_come_first(car):
    fewer = car[car["doors"] != "2"].astype(str)
    with_levels = bn.lp(bn.nb("class", car), fewer, smooth=1)
    without = bn.lp(bn.nb("class", features=["doors"]), fewer, smooth=1)
    assert bn.values(with_levels)["doors"] == ("2", "3", "4", "5more")
    assert bn.values(without)["doors"] == ("3", "4", "5more")
    with pytest.raises(ValueError, match="column 'doors': '2' not among the levels"):
        bn.lp(without, car, smooth=1)


def test_lp_on_a_fitted_model_fits_again(car):
    first = bn.lp(bn.nb("class", car), car, smooth=5)
    again, fresh = bn.lp(first, car, smooth=1), bn.lp(bn.nb("class", car), car, smooth=1)
    assert all(map(np.array_equal, again.cpts, fresh.cpts))


def test_bnc_is_learner_then_lp(car):
    x = bn.bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})
    y = bn.bnc(bn.tan_cl, "class", car, smooth=1, dag_args={"score": "aic"})
    z = bn.lp(bn.tan_cl("class", car, score="aic"), car, smooth=1)
    for other in (x, y):
        assert bn.families(other) == bn.families(z)
        assert all(map(np.array_equal, other.cpts, z.cpts))


def test_bnc_hands_any_argument_to_a_learner_that_takes_any(car):
    def learner(class_var, dataset, **options):
        return bn.nb(class_var, dataset, **options)

    x = bn.bnc(learner, "class", car, smooth=1, dag_args={"features": ["doors"]})
    assert bn.features(x) == ("doors",)


@pytest.mark.parametrize("number", [np.float32(1), np.float16(1), np.float64(1), np.int8(1), 1])
def test_smooth_of_any_type_is_a_number(car, number):
    x = bn.lp(bn.nb("class", car), car, smooth=number)
    assert str(x.recipe.parameters) in ("lp(smooth=1)", "lp(smooth=1.0)")
    assert np.array_equal(
        bn.params(x)["doors"], bn.params(bn.lp(bn.nb("class", car), car, smooth=1))["doors"]
    )


def test_wide_tables_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 40, (300, 2)).astype(str), columns=["town", "street"])
    frame["class"] = rng.choice(["a", "b"], 300)
    expected = r"3,040 are in the table of 'street'.* 'town' \(40 levels\)"
    with pytest.warns(UserWarning, match=expected) as told:
        bn.bnc("tan_cl", "class", frame, smooth=1)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="more than the 300 rows"):
        x = bn.lp(bn.tan_cl("class", frame), frame, smooth=1)
    bn.cv(x, frame, k=3, rng=0)  # says nothing again


def test_many_small_tables_are_not_told():
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (120, 200)).astype(str)).rename(columns=str)
    bn.lp(bn.nb("0", frame), frame, smooth=1)


@pytest.mark.parametrize("name", ["ess", "m", "smooth"])
@pytest.mark.parametrize("learner", [bn.tan_cl, bn.aode])
def test_pseudo_counts_by_the_formula(car, learner, name):
    x = bn.lp(learner("class", car), car, **{name: 4})
    for member in bn.members(x):
        for variable, *above in bn.families(member).values():
            counts = car.groupby([variable, *above], observed=False).size().to_numpy()
            counts = counts.reshape([car[v].cat.categories.size for v in (variable, *above)]).astype(float)
            r, q = len(counts), counts[0].size
            a = {"ess": 4 / (r * q), "m": 4 / r, "smooth": 4}[name]
            expected = (counts + a) / (counts.sum(axis=0) + r * a)
            np.testing.assert_allclose(bn.params(member)[variable], expected, rtol=1e-12)
    assert f"lp({name}=4)" in repr(x)


def test_the_search_scores_what_will_be_fitted(car):
    settings = {"k": 5, "rng": 0, "epsilon": 0}
    handed = bn.bnc("tan_hc", "class", car, smooth=5, dag_args=settings)
    assert scores_of(handed) == scores_of(bn.tan_hc("class", car, smooth=5, **settings))
    own = bn.bnc("tan_hc", "class", car, smooth=5, dag_args={**settings, "smooth": 0.01})
    assert scores_of(own) == scores_of(bn.tan_hc("class", car, smooth=0.01, **settings))
    assert scores_of(own) != scores_of(handed)


def test_weights_below_one_in_all_have_their_proportions():
    frame = pd.DataFrame({"a": ["u", "v", None], "c": list("yyn")})
    x = bn.lp(bn.nb("c", frame), bn.encode(frame, weights=[0.1, 0.3, 0.2]), smooth=0)
    assert bn.cpt(x, "a")["y"].tolist() == pytest.approx([0.25, 0.75])
    assert bn.cpt(x, "a")["n"].tolist() == [0.5, 0.5]
