"""The benchmarks run, and what they measure beside ours gives the same results."""

from time import process_time, sleep

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed; the extra bench has it")
pytest.importorskip("pyagrum", "3.0", reason="pyAgrum 3.0 is not installed; the extra bench has it")

from .benchmarks import figures
from .benchmarks.data import tree_augmented
from .benchmarks.growth import growth_jobs
from .benchmarks.jobs import jobs
from .benchmarks.measure import peak_memory, time_alone, time_apart, time_pairs

FRAME = tree_augmented(400, 5, [2, 3], 2)


@pytest.mark.parametrize("page", figures.PAGES)
def test_pages_have_the_figures_that_are_stored(page):
    """Apart from tests on ranks, which take seconds."""
    text = (figures.ROOT / page).read_text(encoding="utf-8")
    parts = [part for part in figures.PAGES[page] if part != "tests"]
    assert figures.with_figures(page, text, figures.read(), parts) == text


@pytest.mark.slow
def test_peers_do_the_same():
    compared = 0
    for job in jobs(FRAME):
        ours = job.ours()
        if job.theirs is not None and job.same is not None:
            assert job.same(ours, job.theirs())
            compared += 1
    assert compared == 10


def test_growth_jobs_run():
    for job in growth_jobs(rows=50, features=4, levels=2, classes=2).values():
        job()


def busy(seconds):
    """Use the processor for some seconds."""
    end = process_time() + seconds
    while process_time() < end:
        pass


def test_times_are_of_the_processor_and_memory_is_the_maximum():
    calls = []
    timing = time_pairs(lambda: calls.append(1), lambda: calls.append(2) or busy(0.02), 0.1)
    assert calls[::2].count(1) == calls[1::2].count(2) == len(calls) / 2
    assert timing.ours < 0.02 <= (timing.theirs or 0)
    assert (timing.ratio or 1) < 1
    assert time_alone(lambda: busy(0.01), 0).ours >= 0.01
    assert time_alone(lambda: sleep(0.05), 0).ours < 0.05
    assert peak_memory(lambda: bytearray(1_000_000)) >= 1_000_000


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # from Python 3.12 on
def test_a_peer_apart_is_ended_when_patience_is():
    timing, result = time_apart(lambda: None, lambda: "done", 0.01, patience=60)
    assert (timing.ended, result) == (True, "done")
    timing, result = time_apart(lambda: None, lambda: sleep(60), 0.01, patience=0.1)
    assert (timing.ended, timing.theirs, result) == (False, 0.1, None)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_peer_apart_that_fails_is_not_taken_for_a_slow_one():
    with pytest.raises(RuntimeError, match="the peer failed"):
        time_apart(lambda: None, lambda: 1 / 0, 0.01, patience=60)


@pytest.mark.slow
@pytest.mark.filterwarnings("default::DeprecationWarning")  # of pandas in Dask's reader, of DuckDB in ibis
def test_ways_to_learn_from_a_file_give_one_model(tmp_path, monkeypatch):
    scale = pytest.importorskip(
        "tests.benchmarks.scale", reason="Dask is not installed; the extra bench has it"
    )
    monkeypatch.setattr(scale, "GROUP", 300)
    path = tmp_path / "rows.parquet"
    scale.write(path, 1000)
    pytest.importorskip("ibis", reason="ibis is not installed; the extra bench has it")
    ways = ("in memory", "in chunks", "in a database", "Dask, two threads")
    runs = [scale.WAYS[way](path) for way in ways]
    assert all(scale.same(run.model, runs[0].model) for run in runs)
    assert all(run.peak > 2**20 and run.cores > 0 and run.seconds > 0 for run in runs)
    pairs, tables = scale.table_bytes(path)
    assert pairs > 8 * 4 * 4**2  # at least the table of one pair for each class
    assert tables > 8 * (4 + 4**2 + 29 * 4**3)
