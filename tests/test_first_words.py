"""What newcomers type from the habits of other libraries: it works, or the error names the call to type."""

import pickle

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

CAR = bn.load_car().sample(200, random_state=0).reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_default_needs_the_class_and_the_data_in_any_order():
    expected = bn.predict(bn.bnc(class_var="class", dataset=CAR), CAR, prob=True)
    bnc = bn.bnc
    calls = (
        lambda: bnc("class", CAR),
        lambda: bnc("class", dataset=CAR),
        lambda: bnc(CAR, "class"),
        lambda: bnc(CAR, class_var="class"),
    )
    for call in calls:
        assert bn.predict(call(), CAR, prob=True).equals(expected)
    for arguments in (("nb", CAR), ("nb",), (CAR,), ()):
        with pytest.raises(TypeError, match=r"bnc must be called with"):
            bnc(*arguments)
    named = CAR.rename(columns={"class": "nb"})
    assert bn.class_var(bnc("nb", named)) == "nb"


def test_features_by_position_are_answered():
    assert bn.bnc("nb", "class", CAR, smooth=1).recipe.structure.name == "nb"
    assert pickle.loads(pickle.dumps(bn.nb)) is bn.nb


def test_estimators_are_imported_from_the_package_and_answer_parameters_and_methods_of_others():
    pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")
    from sklearn.base import clone

    from bnclassify import BNCClassifier, BNCMultiClassifier

    assert BNCClassifier.__module__.startswith("bnclassify.sklearn")
    with pytest.raises(TypeError, match=r"has no parameter 'class_weight'. Did you mean 'prior' or 'costs'"):
        BNCClassifier(class_weight="balanced")
    with pytest.raises(TypeError, match=r"no parameter 'seed'. Did you mean 'random_state'"):
        BNCMultiClassifier(seed=1)
    clf = clone(BNCClassifier("nb", smooth=1)).fit(CAR.drop(columns="class"), CAR["class"])
    assert clone(pickle.loads(pickle.dumps(clf))).get_params() == clf.get_params()
    for name in ("explain", "to_sql"):
        assert not hasattr(clf, name)
        with pytest.raises(AttributeError, match=rf"'{name}'\. Call bnclassify\.{name}\(x, \.\.\.\)"):
            getattr(clf, name)
    with pytest.raises(AttributeError, match=r"no attribute 'hue'\.$"):
        print(clf.hue)


def test_numbers_and_texts_stand_for_intervals_of_columns_that_were_cut_before():
    women = bn.load_pima()
    cut = pd.DataFrame({"age": pd.cut(women["age"], [20, 30, 40, 90]), "diabetes": women["diabetes"]})
    x = bn.lp(bn.nb("diabetes", cut), cut, smooth=1)
    expected = bn.predict(x, cut, prob=True)
    assert bn.predict(x, women, prob=True).equals(expected)
    young = bn.predict(x, {"age": pd.Interval(20, 30)}, prob=True)
    for value in (30, 20.5, np.float32(25), "(20, 30]", " (20, 30] "):
        assert bn.predict(x, {"age": value}, prob=True).equals(young)
    assert bn.query(x, "diabetes", {"age": "(20, 30]"}).to_numpy() == pytest.approx(young.to_numpy()[0])
    for value in (20, 95, "(20, 31]", True):
        with pytest.raises(ValueError, match=r"column 'age': .* not among the levels of the model"):
            bn.predict(x, {"age": value})


def test_a_feature_that_was_dropped_is_named():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    data["y"] = np.where(data["a"] > 0, "u", "v")
    x = bn.bnc("nb", "y", data, smooth=1, discretize="mdlp")
    for rows in ({"b": 0.3}, data[["b"]]):
        with pytest.raises(KeyError, match=r"'b'. This column was dropped in training, because no cut point"):
            bn.predict(x, rows)
    assert bn.predict(x, {"a": 1.0, "b": 0.3}).tolist() == ["u"]
