"""The tests start without the libraries that are optional."""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from .conftest import GUARDED_FUNCTIONS, GUARDED_MODULES

ABSENT = "matplotlib,networkx,pgmpy,pyagrum,sklearn"
"""Libraries that few tests of a file need, so that the rest of the file runs without them."""

WITHOUT = """
import sys
from importlib.machinery import PathFinder

absent, of_path = set(sys.argv[1].split(",")), PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda cls, name, *rest: None if name in absent else of_path(name, *rest))

import pytest

sys.exit(pytest.main(["--collect-only", "-qq", "-m", "", "-p", "no:cacheprovider", "--assert=plain"]))
"""
"""Collect all tests as if the libraries that the first argument names were not installed."""


@pytest.mark.parametrize("module", GUARDED_MODULES)
def test_guarded_modules_exist(module):
    assert find_spec(module) is not None
    if find_spec(GUARDED_MODULES[module]):
        import_module(module)


@pytest.mark.parametrize("function", GUARDED_FUNCTIONS)
def test_guarded_functions_exist(function):
    module, _, name = function.rpartition(".")
    assert callable(getattr(import_module(module), name))


@pytest.mark.slow
def test_tests_start_without_optional_libraries():
    command, root = [sys.executable, "-c", WITHOUT, ABSENT], Path(__file__).parents[1]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]
