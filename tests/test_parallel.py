"""Several cores: equal results bit by bit, warnings and errors as with one, numbers of jobs."""

import multiprocessing
import os
import signal
import sys
import time
from threading import Timer

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.tools import parallel
from bnclassify.tools.messages import warn
from bnclassify.tools.parallel import run_tasks, using_jobs

from .estimators import BNCClassifier, BNCMultiClassifier


@pytest.fixture(params=["processes", "threads"], autouse=True)
def _kind(request, monkeypatch):
    if request.param == "threads":
        monkeypatch.setattr(sys, "platform", "darwin")
    elif sys.platform != "linux":
        pytest.skip("processes are forked on Linux only")


METRICS = ["accuracy", "log_loss", "auc", "calibration_error"]

CALLS = {
    "cv of the default": lambda car, n: bn.cv(
        bn.bnc(class_var="class", dataset=car), car, k=2, rng=0, metric=METRICS, mean=False, n_jobs=n
    ),
    "cv of several": lambda car, n: bn.cv(
        {learner: bn.bnc(learner, "class", car, smooth=1) for learner in ("nb", "tan_cl")},
        car,
        k=4,
        repeats=2,
        rng=0,
        metric=METRICS,
        mean=False,
        n_jobs=n,
    ),
    "cv of a user's learner and metric": lambda car, n: bn.cv(
        bn.bnc(lambda class_var, dataset: bn.nb(class_var, dataset), "class", car, smooth=1),
        car,
        k=3,
        rng=0,
        metric=[lambda p, y: float(p.to_numpy().max() + len(y))],
        mean=False,
        n_jobs=n,
    ),
    "cv of draws": lambda car, n: bn.cv(
        bn.lp(bn.tan_cl("class", car), car, smooth=1, awnb_trees=3, rng=1),
        car,
        k=3,
        rng=0,
        metric=["log_loss"],
        mean=False,
        n_jobs=n,
    ),
    "cv_predict": lambda car, n: bn.cv_predict(
        bn.bnc("tan_cl", "class", car, smooth=1), car, k=2, rng=0, n_jobs=n
    ),
    "cv of several classes": lambda car, n: bn.cv(
        bn.lp(bn.chain(["class", "safety"], car, orders=2, rng=0), car, smooth=1),
        car,
        k=3,
        rng=0,
        mean=False,
        n_jobs=n,
    ),
    "compare": lambda car, n: bn.compare(
        pd.DataFrame(np.random.default_rng(0).random((10, 4))), train_size=90, test_size=10, n_jobs=n
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param("cv of the default", marks=pytest.mark.slow), *(n for n in CALLS if "default" not in n)],
)
def test_results_are_the_same_bit_by_bit(name, car):
    some = car.sample(200, random_state=0)[["buying", "persons", "safety", "class"]]
    one, two = (CALLS[name](some, n) for n in (None, 2))
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    assert one.attrs == two.attrs


def test_estimators(car):
    X, y = car.drop(columns="class").head(300), car["class"].head(300)
    found = [
        BNCClassifier("chisq_dn", smooth=1, discretize=None, n_jobs=n).fit(X, y).predict_proba(X)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*found)
    both, dag_args = y.to_frame().assign(safety=X["safety"]), {"learner": "chisq_dn"}
    several = [
        BNCMultiClassifier(dag_args=dag_args, discretize=None, n_jobs=n)
        .fit(X[["doors", "maint"]], both)
        .predict(X[["doors", "maint"]])
        for n in (None, 2)
    ]
    np.testing.assert_array_equal(*several)


def test_warnings_are_issued_in_order_and_where_the_call_is():
    def tell(task):
        warn(f"this is task {task}")
        return task * task

    with using_jobs(2), pytest.warns(UserWarning, match="this is task") as caught:
        assert list(run_tasks(tell, range(5))) == [0, 1, 4, 9, 16]
    assert [str(w.message) for w in caught] == [f"this is task {i}" for i in range(5)]
    assert {w.filename for w in caught} == {__file__}


def test_errors_are_raised_as_with_one_job(car):
    def learner(class_var, dataset):
        if len(dataset) < len(car):
            raise ValueError("too few rows")
        return bn.nb(class_var, dataset)

    x = bn.bnc(learner, "class", car, smooth=1)
    for n_jobs in (None, 2):
        with pytest.raises(ValueError, match=r"model 0 cannot in fold 0: too few rows\. With dag=False"):
            bn.cv(x, car, k=3, rng=0, n_jobs=n_jobs)


def test_fold_without_training_rows(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    weighted = bn.encode(car.assign(w=np.repeat([1, 0], [100, len(car) - 100])), weights="w")
    folds = (np.arange(len(car)) >= 100).astype(int)
    for n_jobs in (None, 2):
        with pytest.warns(UserWarning, match="No training row has a positive weight if fold 0 is tested"):
            found = bn.cv(x, weighted, folds=folds, mean=False, n_jobs=n_jobs)
        assert found[0].isna().tolist()[0]


def test_tasks_of_tasks_run_one_after_the_other():
    def own(_):
        return os.getpid(), list(run_tasks(lambda _: os.getpid(), range(3)))

    with using_jobs(2):
        for process, inner in run_tasks(own, range(4)):
            assert set(inner) == {process}


def test_a_daemon_starts_no_processes(monkeypatch):
    """Python does not allow it, for example in a pool of multiprocessing."""
    monkeypatch.setattr(type(multiprocessing.current_process()), "daemon", property(lambda _: True))
    with using_jobs(2):
        assert set(run_tasks(lambda _: os.getpid(), range(3))) == {os.getpid()}


def test_negative_numbers_count_from_all_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for n_jobs, expected in {None: 1, 1: 1, 3: 3, -1: 8, -2: 7, -8: 1, -20: 1}.items():
        with using_jobs(n_jobs):
            assert parallel.number_of_jobs() == expected


def test_calls_within_keep_the_number_of_jobs():
    with using_jobs(3), using_jobs(None):
        assert parallel.number_of_jobs() == 3


def _end_the_process(position):
    if position and multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return position


@pytest.mark.parametrize("_kind", ["processes"], indirect=True)
def test_a_process_that_is_ended_is_reported():
    with using_jobs(2):
        with pytest.raises(RuntimeError, match=r"one of 2 processes was ended .*memory.*smaller n_jobs"):
            list(run_tasks(_end_the_process, range(4)))
        assert list(run_tasks(abs, [-1, -2])) == [1, 2]


@pytest.fixture
def _interruptible():
    """A process in the background of a script ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_ends_tasks_that_run_and_cancels_those_that_wait():
    Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    start = time.monotonic()
    with using_jobs(2), pytest.raises(KeyboardInterrupt):
        list(run_tasks(time.sleep, [2] * 6))
    assert time.monotonic() - start < 1.5
    assert not multiprocessing.active_children()
    with using_jobs(2):
        assert list(run_tasks(abs, [-1, -2])) == [1, 2]
