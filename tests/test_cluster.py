"""Counting on a cluster of processes, one of which dies."""

import os
import signal
import time
from threading import Thread

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder, distributed = tmp_path_factory.mktemp("workers"), pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(folder),
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster) as own,
    ):
        yield own


def data():
    return bn.load_car().sample(4000, replace=True, random_state=0).reset_index(drop=True)


class Part:
    """Makes one partition, slowly, and leaves word of the process that did."""

    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds

    def __call__(self, number):
        with open(self.folder / str(os.getpid()), "a") as file:
            file.write(f"{number}\n")
        time.sleep(self.seconds)
        return data().iloc[number * 200 : (number + 1) * 200]


def parts_of(folder, seconds):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_map(Part(folder, seconds), range(20), meta=data().iloc[:0])


def processes(folder):
    """How many partitions each process made."""
    return {int(path.name): len(path.read_text().split()) for path in folder.iterdir()}


def test_models_are_those_of_memory(client, tmp_path):
    parts = parts_of(tmp_path, 0)
    for learner in ("tan_cl", "aode"):
        z = bn.bnc(learner, "class", parts, smooth=1)  # which reads them
        x, y = (bn.bnc(learner, "class", d, smooth=1) for d in (bn.encode(parts, in_memory=False), data()))
        assert repr(x) == repr(z)
        assert repr(x) == repr(y)
        pd.testing.assert_frame_equal(bn.predict(x, data(), prob=True), bn.predict(y, data(), prob=True))
    assert bn.loglik(x, parts) == pytest.approx(bn.loglik(y, data()), rel=1e-13)
    pd.testing.assert_series_equal(bn.predict(x, parts).compute(), bn.predict(y, data()))
    assert os.getpid() not in processes(tmp_path)


def test_a_worker_that_dies_is_made_up_for(client, tmp_path):
    parts = parts_of(tmp_path, 0.1)
    x = bn.tan_cl("class", data())
    killed = []

    def kill():
        while not killed:
            time.sleep(0.05)
            made = processes(tmp_path)
            busy = [pid for pid, number in made.items() if number >= 3]
            if busy:
                os.kill(busy[0], signal.SIGKILL)
                killed.append(busy[0])

    watch = Thread(target=kill, daemon=True)
    watch.start()
    model = bn.lp(x, parts, smooth=1)
    watch.join(timeout=10)
    made = processes(tmp_path)
    assert len(killed) == 1
    assert sum(made.values()) > 20  # what was lost was made again
    for name, table in bn.params(bn.lp(x, data(), smooth=1)).items():
        np.testing.assert_array_equal(bn.params(model)[name], table)
