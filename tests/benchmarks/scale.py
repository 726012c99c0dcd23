"""Growth of seconds and peak memory with rows, in memory, in chunks, in a database and on two workers.

A file of rows from a random tree-augmented network is written once. Each way of learning a tree and its
tables runs in a separate process, whose peak memory is read from the system, so Linux is needed.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import bnclassify as bn
from bnclassify.parts.sources import Chunks

from .data import tree_augmented

GROUP = 250_000
"""Number of rows of a chunk."""

MOST_IN_MEMORY = 30_000_000
"""Maximum number of rows that are also read into memory."""

ROWS = (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)

HEAD = ("rows", "way", "file, MB", "reading, s", "all, s", "ratio", "core s", "main, MB", "workers, MB")


def write(path: Path, rows: int) -> None:
    """Write a file of 30 features and a class, of 4 levels each, unless it is there."""
    if path.exists():
        return
    model = bn.bnc("tan_cl", "class", tree_augmented(100_000, 30, 4, 4), smooth=1)
    rng = np.random.default_rng(0)
    schema = pa.Schema.from_pandas(bn.sample(model, 1, rng=rng), preserve_index=False)
    with pq.ParquetWriter(path.with_suffix(".part"), schema) as writer:
        for start in range(0, rows, GROUP):
            frame = bn.sample(model, min(GROUP, rows - start), rng=rng)
            writer.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))
    path.with_suffix(".part").rename(path)


def chunks(path: Path) -> Callable[[], Iterator[pa.Table]]:
    """Return a function that reads a file in chunks.

    The chunks are groups of rows, because the memory of ``iter_batches`` grows with the file.
    """

    def read() -> Iterator[pa.Table]:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)

    return read


def partitions(path: Path) -> Any:
    """Return a file as a Dask DataFrame with a million rows per partition."""
    import dask.dataframe as dd

    return dd.read_parquet(path, split_row_groups=4)


def learn(data: Any) -> bn.BNC:
    """Learn a tree by `tan_cl`, and its tables; chunks, partitions and tables are not read at once."""
    data = data if isinstance(data, pd.DataFrame) else bn.encode(data, in_memory=False)
    model = bn.bnc("tan_cl", "class", data, smooth=1)
    assert isinstance(model, bn.BNC)
    return model


@dataclass(frozen=True)
class Run:
    """Seconds, core seconds, and peak bytes of each process."""

    model: bn.BNC
    seconds: float
    cores: float
    peak: int
    reading: float | None = None
    workers: tuple[int, ...] = ()


def peak() -> int:
    """Return the peak bytes of this process, without its parent."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def warm() -> None:
    """Import the modules that a worker needs."""
    import dask.dataframe as dd

    learn(dd.from_pandas(tree_augmented(100, 2, 2, 2), npartitions=1).compute())


def in_memory(path: Path) -> Run:
    start, cores = perf_counter(), process_time()
    frame = pd.read_parquet(path)
    reading = perf_counter() - start
    return Run(learn(frame), perf_counter() - start, process_time() - cores, peak(), reading)


def in_chunks(path: Path) -> Run:
    start, cores = perf_counter(), process_time()
    return Run(learn(chunks(path)), perf_counter() - start, process_time() - cores, peak())


def in_database(path: Path) -> Run:
    """Learn from counts by DuckDB, which runs in this process."""
    import ibis

    table = ibis.duckdb.connect().read_parquet(path)
    start, cores = perf_counter(), process_time()
    return Run(learn(table), perf_counter() - start, process_time() - cores, peak())


def on_threads(path: Path) -> Run:
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        start, cores = perf_counter(), process_time()
        return Run(learn(partitions(path)), perf_counter() - start, process_time() - cores, peak())


def on_two_workers(path: Path) -> Run:
    """Learn on a cluster of two processes; starting these and importing libraries are not measured."""
    from distributed import Client, LocalCluster

    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, local_directory=folder, **options) as cluster,
        Client(cluster) as client,
    ):
        client.run(warm)
        before = sum(client.run(process_time).values())
        start, cores = perf_counter(), process_time()
        model = learn(partitions(path))
        seconds, own = perf_counter() - start, process_time() - cores
        theirs = sum(client.run(process_time).values()) - before
        return Run(model, seconds, own + theirs, peak(), None, tuple(client.run(peak).values()))


WAYS: dict[str, Callable[[Path], Run]] = {
    "in memory": in_memory,
    "in chunks": in_chunks,
    "in a database": in_database,
    "Dask, two threads": on_threads,
    "Dask, two workers": on_two_workers,
}


def apart(way: str, path: Path) -> Run:
    """Run a way in a separate process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(WAYS[way], path).result()


def same(mine: bn.BNC, other: bn.BNC) -> bool:
    """Whether two models have the same arcs and, to the last digit, the same tables."""
    tables = bn.params(other)
    return mine.families == other.families and all(
        np.array_equal(table, tables[name]) for name, table in bn.params(mine).items()
    )


def lines(path: Path, rows: int, ways: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table for one number of rows; the ratio is to the first way."""
    first: Run | None = None
    for way in ways:
        run = apart(way, path)
        first = first or run
        if not same(run.model, first.model):
            raise RuntimeError(f"{way}: not the model of {ways[0]}")
        yield (
            f"{rows:,}",
            way,
            f"{path.stat().st_size / 1e6:.0f}",
            "" if run.reading is None else f"{run.reading:.2f}",
            f"{run.seconds:.2f}",
            f"{run.seconds / first.seconds:.2f}",
            f"{run.cores:.1f}",
            f"{run.peak / 1e6:.0f}",
            " + ".join(f"{own / 1e6:.0f}" for own in run.workers),
        )


class Weighed(Chunks):
    """Chunks that record the number of bytes of the tables that a worker would send, in each pass."""

    def __init__(self, frames: Callable[[], Iterator[Any]]) -> None:
        super().__init__(frames, "dataset")
        self.passes: list[int] = []

    def reduce(self, make: Any, merge: Any, columns: Any = None) -> Any:
        self.passes.append(0)

        def weighed(frame: pd.DataFrame) -> Any:
            made = make(frame)
            self.passes[-1] = max(self.passes[-1], len(pickle.dumps(made)))
            return made

        return super().reduce(weighed, merge, columns)


def table_bytes(path: Path) -> list[int]:
    """Return the bytes of the tables of one part, in each pass over the data."""
    parts = bn.encode([next(chunks(path)()).to_pandas()], in_memory=False)
    source = Weighed(chunks(path))
    object.__setattr__(parts, "source", source)
    learn(parts)
    return source.passes


def print_scale(folder: str, sizes: Sequence[int], ways: Sequence[str] = tuple(WAYS)) -> None:
    """Write absent files, and print the table, without cases that exceed the memory."""
    os.makedirs(folder, exist_ok=True)
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for rows in sizes:
        path = Path(folder) / f"{rows}.parquet"
        write(path, rows)
        fitting = [way for way in ways if way != "in memory" or rows <= MOST_IN_MEMORY]
        for line in lines(path, rows, fitting):
            print(f"| {' | '.join(line)} |", flush=True)
    sent = ", ".join(f"{size:,}" for size in table_bytes(Path(folder) / f"{min(sizes)}.parquet"))
    print(f"\nBytes of the tables of one part, in each pass after that for levels: {sent}")
