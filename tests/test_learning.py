"""Structure and parameters in one call, and again in each fold."""

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

from .conftest import read_reference, reference_frame, scores_of


@pytest.mark.parametrize("name", ["car_search", "voting_complete_search"])
def test_cv_in_every_fold(name):
    reference, frame = read_reference(name), reference_frame(name)
    class_var, smooth = reference["class"], reference["smooth"]
    models = {
        "nb": bn.lp(bn.nb(class_var, frame), frame, smooth=smooth),
        "tan_cl_aic": bn.lp(bn.tan_cl(class_var, frame, score="aic"), frame, smooth=smooth),
        "aode": bn.lp(bn.aode(class_var, frame), frame, smooth=smooth),
    }
    table = bn.cv(models, frame, folds=reference["folds"], mean=False)
    for column in models:
        np.testing.assert_allclose(table[column], reference["cv"][column], rtol=0, atol=1e-12)
    fixed = bn.cv(models["tan_cl_aic"], frame, folds=reference["folds"], dag=False, mean=False)
    np.testing.assert_allclose(fixed[0], reference["cv"]["tan_cl_aic_fixed"], rtol=0, atol=1e-12)


def test_cv_returns_what_was_given(car):
    x, y = (bn.lp(learn("class", car), car, smooth=1) for learn in (bn.nb, bn.tan_cl))
    one = bn.cv(x, car, k=4, rng=3)
    several = bn.cv([x, y], car, k=4, rng=3)
    named = bn.cv({"a": x, "b": y}, car, k=4, rng=3, mean=False)
    assert isinstance(one, float)
    assert several.index.tolist() == [0, 1]
    assert several[0] == one
    assert named.shape == (4, 2)
    assert named["a"].mean() == pytest.approx(one)
    assert bn.cv(x, bn.encode(car), k=4, rng=3) == one


def test_cv_runs_recipes_again(car):
    """Learners and parameters again in each fold; greedy inner folds are fixed by the seed of cv."""
    x = bn.lp(bn.tan_hc("class", car, k=3, smooth=1), car, smooth=1)
    assert bn.cv(x, car, k=3, rng=5) == bn.cv(x, car, k=3, rng=5)
    numbers = bn.stratified_folds(car["class"], 3, rng=1)
    folds = [np.flatnonzero(numbers == i) for i in range(3)]
    y = bn.lp(bn.tan_hcsp("class", car, k=3, smooth=1, rng=2), car, smooth=1)
    by_hand = []
    for test in folds:
        trained, tested = car.drop(index=test), car.iloc[test]
        again = bn.lp(bn.tan_hcsp("class", trained, k=3, smooth=1, rng=2), trained, smooth=1)
        by_hand.append(bn.accuracy(bn.predict(again, tested), tested["class"]))
    np.testing.assert_array_equal(bn.cv(y, car, folds=folds, mean=False)[0], by_hand)
    parents = {"maint": ["buying"]}
    z = bn.lp(bn.anb("class", parents, car), car, smooth=1)
    parents["maint"].append("doors")
    fixed = bn.lp(bn.anb("class", {"maint": ["buying"]}, car), car, smooth=1)
    assert bn.cv(z, car, k=3, rng=0) == bn.cv(fixed, car, k=3, rng=0, dag=False)
    alone = bn.lp(bn.nb("class"), car, smooth=1)
    assert bn.cv(alone, car, k=3, rng=0) == pytest.approx(1210 / 1728, abs=0.01)


@pytest.mark.parametrize("discretize", [None, "mdlp"])
def test_rows_without_a_class_are_ignored_with_one_warning(car, discretize):
    frame = car.assign(size=np.random.default_rng(0).normal(size=len(car)).round(2))
    frame = frame if discretize else frame.drop(columns="size")
    x = bn.bnc("nb", "class", frame, smooth=1, discretize=discretize)
    frame.loc[[5, 900], "class"] = None
    known = frame["class"].notna()
    rest, numbers = frame[known], np.arange(len(frame)) % 3
    pairs = [(np.nonzero(numbers != i)[0], np.nonzero(numbers == i)[0]) for i in range(3)]
    of_rest = [(np.nonzero(numbers[known] != i)[0], np.nonzero(numbers[known] == i)[0]) for i in range(3)]
    metrics = {"metric": ["accuracy", "log_loss"], "mean": False, "rng": 0}
    for folds, same in [(None, None), (numbers, numbers[known]), (pairs, of_rest)]:
        with pytest.warns(UserWarning, match="of 1728 rows have no class 'class' and are ignored") as caught:
            found = bn.cv(x, frame, folds=folds, **metrics)
        assert len(caught) == 1
        pd.testing.assert_frame_equal(found, bn.cv(x, rest, folds=same, **metrics))
    with pytest.warns(UserWarning, match="2 of 1728 rows"):
        found = bn.summary(x, frame, k=3, rng=0).attrs["metrics"]
    assert found == bn.summary(x, rest, k=3, rng=0).attrs["metrics"]
    for prob in (True, False):
        with pytest.warns(UserWarning, match="2 of 1728 rows"):
            predicted = bn.cv_predict(x, frame, prob=prob, folds=numbers)
        assert predicted.index.equals(frame.index)
        assert predicted[~known].isna().to_numpy().all()
        assert predicted[known].equals(bn.cv_predict(x, rest, prob=prob, folds=numbers[known]))


def test_two_classes_have_missing_predictions_too(votes):
    x = bn.bnc("nb", "Class", votes, smooth=1)
    with pytest.warns(UserWarning, match="1 of 232 rows") as caught:
        found = bn.cv_predict(x, votes.assign(Class=votes["Class"].where(np.arange(len(votes)) != 3)), rng=0)
    assert len(caught) == 1
    assert np.nonzero(found.isna().any(axis=1))[0].tolist() == [3]


@pytest.mark.slow
def test_a_model_does_not_depend_on_what_stands_beside_it_in_cv(votes):
    """The folds that a search draws decide what it finds here, so they must not depend on the others."""
    x, y = (bn.lp(bn.tan_hc("Class", votes, k=3, smooth=1, epsilon=0), votes, smooth=1) for _ in range(2))
    alone = bn.cv(x, votes, k=3, rng=1, mean=False)
    beside = bn.cv([y, x], votes, k=3, rng=1, mean=False)
    assert alone[0].tolist() == beside[1].tolist()


calls = []


def learner_with_selection(class_var, dataset, **options):
    calls.append(len(dataset))
    return bn.nb(class_var, dataset, features=["safety"], **options)


def test_cv_runs_the_users_own_learner_again(car):
    calls.clear()
    x = bn.bnc(learner_with_selection, "class", car, smooth=1)
    bn.cv(x, car, k=3, rng=0)
    assert calls == [1728, 1152, 1152, 1152]
    assert "learning algorithm: learner_with_selection\n" in repr(x)


def test_columns_that_no_model_uses_may_hold_anything(car):
    wide = car.assign(price=np.linspace(0, 1, len(car)))
    x = bn.lp(bn.nb("class", wide, features=["safety", "persons"]), wide, smooth=1)
    y = bn.lp(bn.from_modelstring(bn.modelstring(bn.tan_cl("class", car)), "class"), car, smooth=1)
    for model, options in ((x, {}), (y, {}), (bn.lp(bn.tan_cl("class", car), car, smooth=1), {"dag": False})):
        expected = bn.cv(model, car, k=3, rng=0, **options)
        assert bn.cv(model, wide, k=3, rng=0, **options) == expected


def test_a_model_of_given_arcs_by_bnc_goes_on(car):
    arcs = {"maint": ["buying"]}
    x = bn.bnc(
        bn.anb, "class", car, smooth=1, dag_args={"parents": arcs, "features": iter(["maint", "buying"])}
    )
    y = bn.lp(bn.anb("class", arcs, car, features=["maint", "buying"]), car, smooth=1)
    arcs["maint"].clear()
    assert bn.modelstring(x) == bn.modelstring(y)
    assert bn.cv(x, car, k=3, rng=0) == bn.cv(y, car, k=3, rng=0)


def test_what_a_learner_was_given_cannot_be_changed_later(car):
    def learner(target, dataset, chosen):
        return bn.nb(target, dataset, features=chosen)

    chosen = ["safety", "doors"]
    x = bn.bnc(learner, "class", car, smooth=1, dag_args={"chosen": chosen})
    expected = bn.cv(x, car, k=3, rng=0)
    chosen.append("wheels")
    assert bn.cv(x, car, k=3, rng=0) == expected


def test_features_for_the_learner_of_bnc(car):
    x = bn.bnc("nb", "class", car, smooth=1, dag_args={"features": map(str, ["safety", "doors"])})
    assert bn.features(x) == ("doors", "safety")


def test_bnc_hands_all_rows_to_its_learner(car):
    holes = car.copy()
    holes.loc[[0, 1], "class"] = np.nan
    numbers = np.arange(1728) % 3
    with pytest.warns(UserWarning, match="have no class"):
        x = bn.bnc("tan_hc", "class", holes, smooth=1, dag_args={"k": 3, "folds": numbers, "smooth": 1})
    assert len(scores_of(x)) > 1


def test_cv_names_the_model_and_fold_that_cannot_be_learned(car):
    """Search finds a naive Bayes on all rows, but not in every fold, and MANB is for naive Bayes."""

    def structure(class_var, dataset):
        parents = {} if len(dataset) == len(car) else {"maint": ["buying"]}
        return bn.anb(class_var, parents, dataset)

    x = bn.bnc(structure, "class", car, smooth=1, manb_prior=0.5)
    with pytest.raises(ValueError, match=r"model 'm' cannot in fold 0: manb_prior.*dag=False"):
        bn.cv({"m": x}, car, k=3, rng=0)
    assert 0 < bn.cv({"m": x}, car, k=3, rng=0, dag=False)["m"] < 1
