"""Progress bars: in an interactive session, after 3 seconds, one at a time; by a clock that the tests set."""

import re
import sys

import numpy as np
import pytest

import bnclassify as bn
from bnclassify.explanations.counterfactual import Changes

from .estimators import BNCClassifier, BNCMultiClassifier


class Clock:
    """Seconds that pass only when a test adds them."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("tqdm.std.time", clock)
    return clock


@pytest.fixture(params=["terminal", "prompt"])
def _watched(request, monkeypatch, capsys):
    if request.param == "terminal":
        monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: True)
    else:
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)


@pytest.fixture
def slow(car, clock):
    """A model whose structure takes 1.6 seconds to learn."""

    def learner(class_var, dataset):
        clock.now += 1.6
        return bn.hc(class_var, dataset)

    x = bn.bnc(learner, "class", car, smooth=1)
    clock.now = 0
    return x


@pytest.mark.usefixtures("_watched")
@pytest.mark.parametrize(
    ("run", "name"),
    [
        (lambda x, car, **more: bn.cv(x, car, k=3, rng=0, **more), "cv: "),
        (lambda x, car, **more: bn.cv_predict(x, car, k=3, rng=0, **more), "cv_predict: "),
        (lambda x, car, **more: bn.summary(x, car, k=3, rng=0, **more), "cv: "),
        (lambda x, car, **more: bn.arc_strength(x, car, replicates=3, rng=0, **more), "arc_strength: "),
    ],
)
def test_a_bar_appears_after_three_seconds(run, name, slow, car, capsys):
    run(slow, car)
    shown = capsys.readouterr().err
    assert name in shown
    assert "search" not in shown  # the bars of what is called
    assert "lp" not in shown
    run(slow, car, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("_watched")
def test_a_long_search_for_changes_shows_a_bar(car, clock, capsys, monkeypatch):
    x, compute = bn.bnc("ande", "class", car, smooth=1), Changes.log_joint_after

    def logs(changes, sets):
        clock.now += 1.6
        return compute(changes, sets)

    bn.counterfactual(x, car.iloc[0], "vgood")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Changes, "log_joint_after", logs)
    bn.counterfactual(x, car.iloc[0], "vgood")
    assert "counterfactual: " in capsys.readouterr().err


@pytest.mark.usefixtures("_watched")
def test_what_is_quick_shows_no_bar(car, clock, capsys):
    x = bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 3})
    bn.cv(x, car, k=3, dag=False)
    assert capsys.readouterr().err == ""


def test_nobody_watches_a_file(slow, car, capsys):
    bn.cv(slow, car, k=3)
    assert capsys.readouterr().err == ""


STEPS = {
    "cv of two models: 6/6": lambda x, car: bn.cv({"a": x, "b": x}, car, k=3, progress=True),
    "cv_predict: 3/3": lambda x, car: bn.cv_predict(x, car, k=3, progress=True),
    "arc_strength: 4/4": lambda x, car: bn.arc_strength(x, car, replicates=4, rng=0, progress=True),
    "class parents: 3/3": lambda x, car: bn.mbc(["class", "safety"], car, max_parents=2, progress=True),
    "search: 5 steps": lambda x, car: bn.hc("class", car, progress=True),
}


@pytest.mark.parametrize("steps", STEPS)
def test_every_step_of_a_bar_is_counted_once(steps, car, capsys):
    STEPS[steps](bn.bnc("nb", "class", car, smooth=1), car)
    last = capsys.readouterr().err.rstrip().split("\r")[-1]
    assert re.search(rf"\b{steps.partition(': ')[2]}\b", last), last


def test_a_choice_applies_to_all_that_is_called(car, capsys):
    for progress, names in ((True, {"search", "lp"}), (False, set()), (None, set())):
        bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 3, "rng": 0}, progress=progress)
        shown = capsys.readouterr().err
        assert {name for name in ("search", "lp") if f"{name}: " in shown} == names
    bn.bnc("tan_hc", "class", car, smooth=1, dag_args={"k": 3, "rng": 0, "progress": True}, progress=False)
    assert "search: " in capsys.readouterr().err


def test_steps_of_back_off_are_counted(capsys):
    bn.bnc("nb", "diabetes", bn.load_pima(), discretize="mdlp", progress=True)
    assert (
        int(capsys.readouterr().err.split("lp: ")[-1].split(" steps")[0]) >= 17
    )  # two per feature, one more


def test_weights_are_counted(voting, capsys):
    for option in ({"wanbia": True}, {"awnb_trees": 2, "rng": 0}):
        bn.lp(bn.nb("Class", voting.dropna()), voting.dropna(), smooth=1, progress=True, **option)
        assert int(capsys.readouterr().err.split("lp: ")[-1].split(" steps")[0]) > 2


@pytest.mark.parametrize("classifier", [BNCClassifier, BNCMultiClassifier])
def test_the_estimators_have_verbose(classifier, car, capsys):
    learner = {"learner": "nb"} if classifier is BNCClassifier else {}
    features, labels = car.drop(columns="class"), car[["class"]]
    labels = labels if learner == {} else labels["class"]
    for verbose in (None, False, True):
        classifier(**learner, smooth=1, verbose=verbose).fit(features, labels)
        assert ("lp: " in capsys.readouterr().err) == bool(verbose)
    with pytest.raises(TypeError, match="verbose must be True or False; got 2"):
        classifier(verbose=2).fit(features, labels)


@pytest.mark.usefixtures("_watched")
def test_bars_within_another_are_hidden_and_do_not_move_it(votes, capsys):
    frame = votes.iloc[:40, -3:].mask(np.random.default_rng(0).random((40, 3)) < 0.2)
    frame = frame.assign(Class=votes["Class"].iloc[:40])
    x = bn.lp(bn.nb("Class", frame), frame, smooth=1, missing="em")
    capsys.readouterr()
    bn.cv(x, frame, k=2, progress=True)
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "EM" not in shown
    assert max(map(int, re.findall(r"(\d+)/2", shown))) == 2
