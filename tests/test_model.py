"""The values BNC and AODE, and the questions that can be asked of them."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.models import AODE


@pytest.fixture(scope="module")
def tan(car):
    return bn.lp(bn.tan_cl("class", car, score="aic"), car, smooth=1)


@pytest.fixture(scope="module")
def ensemble(car):
    return bn.lp(bn.aode("class", car), car, smooth=1)


def test_summary(car, tan, ensemble):
    assert "free parameters:    131" in repr(tan)
    assert "free parameters" not in repr(bn.nb("class", car))
    assert "(only structure, no parameters)" in repr(bn.nb("class", car))
    assert "only structure" not in repr(tan) + repr(ensemble)
    assert "num. members:       6" in repr(ensemble)
    assert "\n  parameters:         lp(smooth=1)\n" in repr(ensemble)
    assert repr(bn.aode("class", car)).endswith("aode")
    averaged = bn.lp(bn.nb("class", car), car, smooth=0.5, manb_prior=0.2)
    assert "\n  parameters:         lp(smooth=0.5, manb_prior=0.2)\n" in repr(averaged)
    expected = bn.lp(bn.nb("class", car), car, smooth=1, missing="em")
    assert "\n  parameters:         lp(smooth=1, missing='em')\n" in repr(expected)


def test_models_have_no_methods(tan):
    assert not hasattr(tan, "fit")
    assert not hasattr(tan, "__array__")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_models_cannot_be_changed(tan, ensemble, car, again):
    for x in (tan, again(tan), *bn.members(again(ensemble))):
        with pytest.raises(dataclasses.FrozenInstanceError):
            x.class_var = "other"
        for table in bn.params(x).values():
            with pytest.raises(ValueError, match="read-only"):
                table[...] = 0
        bn.params(x).clear()
        bn.families(x).clear()
        assert len(bn.params(x)) == 7
    pd.testing.assert_frame_equal(bn.predict(again(tan), car, prob=True), bn.predict(tan, car, prob=True))
    assert repr(again(tan)) == repr(tan)


def test_questions(tan, car):
    assert bn.class_var(tan) == "class"
    assert bn.features(tan) == tuple(car.columns[:-1])
    assert bn.vars(tan) == tuple(car.columns)
    assert bn.classes(tan) == ("unacc", "acc", "good", "vgood")
    assert bn.families(tan)["maint"] == ("maint", "buying", "class")
    assert bn.families(tan)["class"] == ("class",)
    assert "class" not in bn.feature_families(tan)
    assert bn.values(tan)["safety"] == ("low", "med", "high")
    assert bn.narcs(tan) == 9
    assert (bn.is_nb(tan), bn.is_ode(tan), bn.is_semi_naive(tan), bn.is_anb(tan)) == (
        False, True, False, True,
    )  # fmt: skip


def test_vars_are_the_features_and_then_the_class(car):
    front = car[["class", "safety", "doors"]]
    for x in (bn.nb("class", front), bn.aode("class", front), bn.chow_liu("class", front)):
        assert bn.vars(x) == ("safety", "doors", "class")
    assert bn.vars(bn.bnc(class_var="class", dataset=front)) == ("safety", "doors", "class")
    assert bn.vars(bn.mbc(["class", "safety"], front)) == ("doors", "class", "safety")
    assert bn.vars(bn.nb("class", features=[])) == ("class",)


def test_tables_as_people_read_them(tan, car):
    table = bn.cpt(tan, "maint")
    assert table.index.name == "maint"
    assert table.columns.names == ["buying", "class"]
    group = car[(car["buying"] == "low") & (car["class"] == "good")]["maint"]
    for level, count in group.value_counts().items():
        assert table.loc[level, ("low", "good")] == pytest.approx((count + 1) / (len(group) + 4))
    assert bn.cpt(tan, "buying").loc["low", "good"] == bn.params(tan)["buying"][3, 2]
    assert bn.cpt(tan, "class")["probability"].sum() == pytest.approx(1)


@pytest.mark.parametrize("question", [bn.params, bn.loglik, bn.cloglik, bn.AIC, bn.BIC, bn.predict])
def test_a_structure_has_no_parameters(question, car):
    x = bn.nb("class", car)
    with pytest.raises(ValueError, match=r"the model has no parameters. Pass the result of lp\("):
        question(x) if question is bn.params else question(x, car)


@pytest.mark.parametrize(
    "question", [bn.params, bn.nparams, bn.narcs, bn.modelstring, bn.families, bn.feature_families]
)
def test_an_ensemble_points_to_its_members(question, ensemble):
    with pytest.raises(TypeError, match=r"of 6 networks \(an AODE\). Call it on each of members\(x\)"):
        question(ensemble)
    for member in bn.members(ensemble):
        question(member)


def test_questions_an_ensemble_answers(ensemble, car):
    assert bn.features(ensemble) == tuple(car.columns[:-1])
    assert bn.classes(ensemble) == ("unacc", "acc", "good", "vgood")
    assert isinstance(ensemble, AODE)
    assert not any(q(ensemble) for q in (bn.is_nb, bn.is_ode, bn.is_semi_naive, bn.is_anb))


def test_odd_names_and_labels():
    frame = pd.DataFrame(
        {
            0: [1, 2, 1, 2],
            "ein Wort": ["ä", "b c", "ä", "ä"],
            True: [True, False, True, True],
            "k": list("ppqq"),
        }
    )
    x = bn.lp(bn.tan_cl("k", frame), frame, smooth=1)
    assert bn.features(x) == (0, "ein Wort", True)
    assert bn.cpt(x, "ein Wort").index.tolist() == ["b c", "ä"]
    assert bn.values(x)[0] == (1, 2)
    assert list(bn.predict(x, frame).index) == [0, 1, 2, 3]
    assert 'label="ein Wort"' in bn.plot(x).source
    numeric = frame.assign(k=[0, 1, 1, 0])
    assert bn.predict(bn.lp(bn.nb("k", numeric), numeric, smooth=1), numeric, prob=True).columns.tolist() == [
        0,
        1,
    ]


def test_what_a_table_is_a_view_of_cannot_be_changed_either(ensemble, car):
    fitted = bn.lp(ensemble, car, smooth=1)
    arrays = [fitted.priors, fitted.superparents, *(fitted.children or ()), bn.encode(car).incomplete]
    arrays += [table for member in bn.members(fitted) for table in member.cpts or ()]
    arrays += bn.lp(bn.nb("class", car), car, smooth=1).cpts or ()
    for array in arrays:
        while isinstance(array, np.ndarray):
            assert not array.flags.writeable
            array = array.base
