"""Threads and forked processes: the filters of warnings stay as they are, and nothing waits for a lock."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.base.messages import silently, warn

JOBS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "default": lambda car: bn.bnc("nb", "class", car.head(150)),
    "wide": lambda car: bn.bnc("nb", "class", car.iloc[:12, 1:]),
    "cv": lambda car: bn.cv(bn.bnc("nb", "class", car, smooth=1), car, k=2, rng=0),
    "cv_predict": lambda car: bn.cv_predict(bn.bnc("nb", "class", car, smooth=1), car, k=2, rng=0),
    "search": lambda car: bn.fssj("class", car.head(200), k=2, smooth=1, rng=0),
}


@pytest.mark.parametrize("job", JOBS)
def test_the_filters_of_warnings_are_not_touched(
    job: str, car: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread replaces them even for a moment, because another could then restore the wrong ones."""

    original = warnings.catch_warnings

    def replace(*arguments: Any, **settings: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("bnclassify"):  # pandas does it, too
            raise AssertionError("the filters are replaced")
        return original(*arguments, **settings)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        JOBS[job](car)  # SciPy adds a filter when it is imported
        before = list(warnings.filters)
        monkeypatch.setattr(warnings, "catch_warnings", replace)
        try:
            with ThreadPoolExecutor(3) as pool:
                list(pool.map(JOBS[job], [car] * 3))
            assert warnings.filters == before
        finally:
            monkeypatch.undo()


def test_silence_is_of_one_thread() -> None:
    with silently(), ThreadPoolExecutor(1) as pool:
        warn("nobody hears this")
        with pytest.warns(UserWarning, match="somebody hears this"):
            pool.submit(warn, "somebody hears this").result()
    with pytest.warns(UserWarning, match="everybody"):
        warn("everybody hears this")


def test_no_property_waits_for_a_lock() -> None:
    """Before Python 3.12, the cached properties of functools have one, which a forked process may inherit."""
    if sys.version_info >= (3, 12):
        pytest.skip("cached properties have no lock")
    classes = [
        cls
        for name, module in list(sys.modules.items())
        if name.startswith("bnclassify")
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__.startswith("bnclassify")
    ]
    locked = [
        f"{cls.__name__}.{name}" for cls in classes for name in vars(cls) if _is_locked(vars(cls)[name])
    ]
    assert classes
    assert not locked


def _is_locked(value: object) -> bool:
    return isinstance(value, functools.cached_property)


FORK = """
import os, threading
from bnclassify.base.immutable import cached_property

class Value:
    def __init__(self, wait): self.wait = wait
    @cached_property
    def half(self):
        started.set()
        self.wait.wait(30)
        return 0.5

started, go = threading.Event(), threading.Event()
thread = threading.Thread(target=lambda: Value(go).half)
thread.start()
started.wait(30)
child = os.fork()
if not child:
    free = threading.Event()
    free.set()
    os._exit(0 if Value(free).half == 0.5 else 1)
status = os.waitpid(child, 0)[1]
go.set()
thread.join()
raise SystemExit(status)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_process_that_is_forked_during_a_fit_does_not_hang() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], check=True, timeout=120)
