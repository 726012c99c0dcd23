"""Independent tasks on several cores: `using_jobs` sets their number, `run_tasks` runs them.

On Linux, tasks run in forked processes, which share the memory of the caller,
so that neither functions nor data need be pickled. On other systems, they run
in threads.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, TypeVar

from .arrays import one_thread
from .checks import must_be
from .messages import collecting_warnings, setting_variable, to_python_scalar, warn

T = TypeVar("T")
R = TypeVar("R")

_N_JOBS: ContextVar[int | None] = ContextVar("n_jobs", default=None)


def check_jobs(n_jobs: object) -> int | None:
    """Return a number of jobs, or raise."""
    number = to_python_scalar(n_jobs)
    if number is not None and (type(number) is not int or number == 0):
        raise ValueError(
            must_be("n_jobs", "None, a number of processes from 1, or -1 for all cores", n_jobs)
        )
    return number


def using_jobs(n_jobs: int | None) -> AbstractContextManager[int | None]:
    """Run the tasks of all calls within in so many processes; None keeps the caller's number."""
    return setting_variable(_N_JOBS, _N_JOBS.get() if check_jobs(n_jobs) is None else n_jobs)


def run_tasks(function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    """Yield the results of a function of each task, in order; draws must not depend on the order.

    BLAS has one thread, whatever the number of jobs, so that results are the
    same bit by bit. Tasks within tasks run one after the other.
    """
    todo = list(tasks)
    n = min(number_of_jobs(), len(todo))
    with one_thread:
        if n <= 1:
            yield from map(function, todo)
            return
        pool: Executor
        if sys.platform == "linux":
            context, shared = multiprocessing.get_context("fork"), (function, todo)
            pool = ProcessPoolExecutor(n, context, initializer=_keep_in_fork, initargs=shared)
            futures = [pool.submit(_run_inherited_task, i) for i in range(len(todo))]
        else:
            pool = ThreadPoolExecutor(n)
            run = [partial(copy_context().run, _run_in_worker, function, task) for task in todo]
            futures = list(map(pool.submit, run))
        is_complete = False
        try:
            for future in futures:
                result, messages = future.result()
                for message in messages:
                    warn(message)
                yield result
            is_complete = True
        except BrokenExecutor as error:
            raise RuntimeError(
                f"one of {n} processes was ended from outside, probably because memory ran out. "
                "Use a smaller n_jobs, or None, which needs the least memory."
            ) from error
        finally:
            # after Ctrl-C or an error, nobody waits for tasks that run; threads cannot be ended
            if not is_complete:
                for process in list((getattr(pool, "_processes", None) or {}).values()):
                    process.kill()
            pool.shutdown(wait=isinstance(pool, ProcessPoolExecutor), cancel_futures=True)


def number_of_jobs() -> int:
    """Return the number of processes, 1 in a process that cannot start others."""
    n = _N_JOBS.get() or 1
    if multiprocessing.current_process().daemon:
        return 1
    if n > 0:
        return n
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, cores + 1 + n)


def _run_in_worker(function: Callable[[Any], R], task: Any) -> tuple[R, list[str]]:
    with using_jobs(1), collecting_warnings() as messages:
        return function(task), messages


_inherited: list[Any] = []


def _keep_in_fork(function: Callable[[Any], Any], todo: Sequence[Any]) -> None:
    _inherited[:] = [function, todo]


def _run_inherited_task(position: int) -> tuple[Any, list[str]]:
    function, todo = _inherited
    return _run_in_worker(function, todo[position])
