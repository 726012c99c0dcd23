"""Threads and forked processes: the filters of warnings stay as they are, and nothing waits for a lock."""

import functools
import importlib
import inspect
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from platform import machine
from socketserver import ThreadingMixIn
from threading import Thread
from urllib.request import urlopen
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import bnclassify as bn
from bnclassify.tools.arrays import one_thread
from bnclassify.tools.messages import silencing_warnings, warn

JOBS = {
    "default": lambda car: bn.bnc("nb", "class", car.head(150)),
    "wide": lambda car: bn.bnc("nb", "class", car.iloc[:12, 1:]),
    "cv": lambda car: bn.cv(bn.bnc("nb", "class", car, smooth=1), car, k=2, rng=0),
    "cv_predict": lambda car: bn.cv_predict(bn.bnc("nb", "class", car, smooth=1), car, k=2, rng=0),
    "search": lambda car: bn.fssj("class", car.head(200), k=2, smooth=1, rng=0),
}


@pytest.mark.parametrize("job", JOBS)
def test_the_filters_of_warnings_are_not_touched(job, car, monkeypatch):
    """No thread replaces them even for a moment, because another could then restore the wrong ones."""

    original = warnings.catch_warnings

    def replace(*arguments, **settings):
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


def test_silence_is_of_one_thread():
    with silencing_warnings(), ThreadPoolExecutor(1) as pool:
        warn("nobody hears this")
        with pytest.warns(UserWarning, match="somebody hears this"):
            pool.submit(warn, "somebody hears this").result()


def test_no_property_waits_for_a_lock():
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
    values = [(f"{cls.__name__}.{name}", value) for cls in classes for name, value in vars(cls).items()]
    locked = [name for name, value in values if isinstance(value, functools.cached_property)]
    assert classes
    assert not locked


FORK = """
import os, threading
from bnclassify.tools.immutable import cached_property

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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_process_that_is_forked_during_a_fit_does_not_hang():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], check=True, timeout=120)


FIT = """
import numpy as np, pandas as pd, bnclassify as bn
frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2))).add_prefix("x")
bn.bnc(class_var="y", dataset=frame.assign(y=frame["x0"] > 0))
"""


@pytest.mark.slow
@pytest.mark.skipif(machine() not in ("x86_64", "AMD64"), reason="Other processors have no such kernels")
def test_a_processor_that_openblas_does_not_know_fits_the_default():
    """OpenBLAS then uses its kernels for Prescott, of which one crashes in SciPy 1.12.0 and 1.17.1."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Prescott"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FIT], check=True, timeout=120, env=environment)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 32


class _Quiet(WSGIRequestHandler):
    def log_message(self, format, *arguments):
        """Print nothing."""


def test_a_server_answers_right_while_its_model_is_replaced(car):
    """Each answer is that of one of the models, whichever it was that the request began with."""
    versions = [bn.bnc("tan_cl", "class", car.iloc[::4], smooth=1)]
    for start in (1, 2, 3):
        versions.append(bn.update(versions[-1], car.iloc[start::4]))
    rows = car.sample(24, random_state=0)
    expected = [bn.predict(x, rows, prob=True).to_numpy() for x in versions]
    current = {"number": 0, "model": versions[0]}

    def application(environ, start_response):
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        of_request = current
        number, model = of_request["number"], of_request["model"]
        posterior = bn.predict(model, json.loads(body), prob=True).iloc[0].tolist()
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps([number, posterior]).encode()]

    def ask(position):
        body = rows.iloc[position % len(rows)].drop("class").to_json().encode()
        with urlopen(f"http://localhost:{server.server_port}", data=body, timeout=60) as response:
            return tuple(json.loads(response.read()))

    with make_server("localhost", 0, application, _Server, _Quiet) as server:
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        with ThreadPoolExecutor(8) as clients:
            answers = []
            for number in range(len(versions)):
                asked = clients.map(ask, range(2 * number, 2 * number + 20))
                if number:
                    model = bn.update(versions[number - 1], car.iloc[number::4])
                    current = {"number": number, "model": model}
                answers += list(zip(range(2 * number, 2 * number + 20), asked, strict=True))
        server.shutdown()
    for position, (number, posterior) in answers:
        assert posterior == pytest.approx(expected[number][position % len(rows)].tolist(), abs=1e-12)
    assert {number for _, (number, _) in answers} > {len(versions) - 1}


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_products_use_one_thread_and_restore_the_number():
    with threadpool_limits(2, user_api="blas"):
        former = blas_threads()
        with one_thread:
            with one_thread:
                assert blas_threads() <= {1}
            assert blas_threads() <= {1}
        assert blas_threads() == former
        bn.tan_cl("class", bn.load_car())
        assert blas_threads() == former


def test_sums_are_fitted_with_one_thread(car, monkeypatch):
    """Draws, too; then the former number is restored."""
    importlib.import_module("scipy.linalg")  # which has a BLAS of its own
    found, svd = [], np.linalg.svd

    def recording(*arguments, **settings):
        found.append(blas_threads())
        return svd(*arguments, **settings)

    monkeypatch.setattr(np.linalg, "svd", recording)
    with threadpool_limits(2, user_api="blas"):
        former = blas_threads()
        bn.bnc(class_var="class", dataset=car.iloc[::20], interval=True)
        assert blas_threads() == former
    assert found
    assert all(threads <= {1} for threads in found)
