"""Measurement of processor time and memory, in alternation, so that noise affects both sides of a ratio."""

from __future__ import annotations

import multiprocessing
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Median seconds of the processor of this package and of another library, and the median ratio of pairs.

    ``theirs`` is None without another library, and ``ratio`` if it did not end in time.
    """

    ours: float
    theirs: float | None = None
    ratio: float | None = None
    ended: bool = True


def seconds(job: Callable[[], Any]) -> float:
    start = process_time()
    job()
    return process_time() - start


def time_alone(ours: Callable[[], Any], budget: float) -> Timing:
    """Run until the budget of seconds is spent, at least three times unless one run exceeds it."""
    times = [seconds(ours)]
    while (sum(times) < budget and len(times) < 50) or (len(times) < 3 and times[0] < budget):
        times.append(seconds(ours))
    return Timing(median(times))


def time_pairs(ours: Callable[[], Any], theirs: Callable[[], Any], budget: float) -> Timing:
    """Run both in turn in this process, after one run of each to warm up."""
    pairs = [(seconds(ours), seconds(theirs))]
    first = sum(pairs[0])
    while first < budget and (len(pairs) < 4 or sum(map(sum, pairs)) < budget) and len(pairs) < 50:
        pairs.append((seconds(ours), seconds(theirs)))
    pairs = pairs[1:] or pairs
    return Timing(median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs))


def time_apart(
    ours: Callable[[], Any], theirs: Callable[[], Any], budget: float, patience: float
) -> tuple[Timing, Any]:
    """Run another library in a separate process, and this package before and after.

    If a run is shorter than the budget, it is repeated, and the first run is ignored; a slower one runs once
    and is ended after ``patience`` seconds of the clock. Returns the timing and the other library's result.
    """
    before = time_alone(ours, budget / 2).ours
    answer = apart(partial(_timed, theirs, budget), patience)
    mine = median([before, time_alone(ours, budget / 2).ours])
    if answer is None:
        return Timing(mine, patience, ended=False), None
    took, result = answer
    return Timing(mine, took, mine / took), result


def _timed(job: Callable[[], Any], budget: float) -> tuple[float, Any]:
    start = process_time()
    result = job()
    first = process_time() - start
    return (time_alone(job, budget).ours if first < budget else first), result


def apart(job: Callable[[], Any], patience: float) -> Any:
    """Return the result of a job in a separate process, or None if it takes more than these seconds."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=lambda: send.send(job()))
    process.start()
    send.close()  # so that only the peer holds it, and its end is heard
    try:
        return receive.recv() if receive.poll(patience) else None
    except EOFError:
        raise RuntimeError("the peer failed; its own error is above") from None
    finally:
        process.kill()
        process.join()


def peak_memory(job: Callable[[], Any]) -> int:
    """Return the maximum number of additional bytes of a run, including arrays."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = job()
        _, peak = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return peak - before
