"""What running the examples needs: no display, and to pass over those of libraries that are not installed."""

import os
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "agg")

_MODULES = {"bnclassify/plotting/charts.py": "matplotlib", "bnclassify/sklearn.py": "sklearn"}
_FUNCTIONS = {f"bnclassify.exchange.libraries.to_{name}": name for name in ("networkx", "pgmpy", "pyagrum")}

collect_ignore = [path for path, library in _MODULES.items() if find_spec(library) is None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the examples of functions whose library is not there."""
    for item in items:
        library = _FUNCTIONS.get(item.name)
        if library is not None and find_spec(library) is None:
            item.add_marker(pytest.mark.skip(f"{library} is not installed; the extra exchange has it"))
