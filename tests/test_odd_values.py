"""Any value of any argument gives a result, or a ValueError, TypeError or KeyError with a short message."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

CAR = bn.load_car()[["buying", "safety", "persons", "class"]].sample(150, random_state=0)
NUMBERS = pd.DataFrame({"a": np.arange(30) / 7, "c": list("abc") * 10})
NETWORK = bn.lp(bn.tan_cl("class", CAR), CAR, smooth=1)
WEIGHTED = bn.bnc("kdb_mi", "class", CAR, backoff=True, loo_weights=True)
SEARCHED = bn.tan_hc("class", CAR, k=3, smooth=1, epsilon=0, rng=0)
RANKS = pd.DataFrame(np.random.default_rng(0).random((6, 3)), columns=list("abc"))
CLASSES = CAR[["class", "safety"]]
CALIBRATED = {"posteriors": bn.predict(NETWORK, CAR, prob=True), "actual": CAR["class"]}
PREDICTED = {"predicted": bn.predict(NETWORK, CAR), "actual": CAR["class"]}
HOLES = CAR.mask(np.random.default_rng(1).random(CAR.shape) < 0.1).assign(**{"class": CAR["class"]})
BY_EM = bn.lp(NETWORK, HOLES, smooth=1, missing="em")
BY_MANB = bn.bnc("nb", "class", CAR, smooth=1, manb_prior=0.5)
STRENGTH = {"strength": bn.arc_strength(NETWORK, CAR, replicates=2, rng=0)}
RESULTS = bn.cv({"a": NETWORK, "b": WEIGHTED}, CAR, k=4, rng=0, mean=False)

VALUES: Mapping[str, Any] = {
    "nothing": None,
    "not available": pd.NA,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "a huge number": 10**30,
    "a negative number": -1,
    "an array": np.arange(3),
    "an array of names": np.array(["buying", "safety"]),
    "an array without an axis": np.array(3),
    "an array of two axes": np.ones((2, 2)),
    "a Series": CAR["buying"],
    "an empty Series": pd.Series([], dtype=object),
    "a frame": CAR,
    "a frame without rows": CAR.head(0),
    "a frame without columns": CAR[[]],
    "a frame with a column twice": pd.concat([CAR, CAR[["buying"]]], axis=1),
    "a frame with a column without values": CAR.assign(buying=pd.Categorical([None] * len(CAR))),
    "an Index": CAR.columns,
    "a long text": "x" * 100_000,
    "a list of lists": [["buying"]],
    "a dict": {"buying": [1]},
    "a set": {"buying"},
    "a type": int,
    "a model": NETWORK,
    "a discretizer": bn.discretize(NUMBERS, class_var="c")[1],
}

COMMON: Mapping[str, Any] = {
    "x": NETWORK,
    "class_var": "class",
    "class_vars": ["class", "safety"],
    "dataset": CAR,
    "feature": "buying",
    "frame": CAR,
    "k": 2,
    "n": 5,
    "newdata": CAR,
    "row": CAR.head(1),
    "variable": "buying",
    "y": CAR["class"],
}

OWN: Mapping[str, Mapping[str, Any]] = {
    "accuracy": PREDICTED,
    "anb": {"parents": {"buying": ["safety"]}},
    "arc_strength": {"replicates": 2},
    "averaged_network": STRENGTH,
    "bnc": {"dag_learner": "tan_cl", "class_var": "class", "smooth": 1},
    "ci_test": {"x": "buying", "y": "safety", "z": "class"},
    "cmi": {"x": "buying", "y": "safety", "z": "class"},
    "compare": {"results": RESULTS},
    "compare_ranks": {"table": RANKS},
    "concentrations": {"x": WEIGHTED},
    "confusion": PREDICTED,
    "discretize": {"dataset": NUMBERS, "class_var": "c"},
    "em_objectives": {"x": BY_EM},
    "exact_match": {"predicted": CLASSES, "actual": CLASSES},
    "feature_weights": {"x": WEIGHTED},
    "from_modelstring": {"text": "[class] [buying|class]"},
    "from_tables": {"tables": {name: bn.cpt(NETWORK, name) for name in CAR}},
    "greedy_scores": {"x": SEARCHED},
    "hamming": {"predicted": CLASSES, "actual": CLASSES},
    "kl_divergence": {"y": NETWORK},
    "lca": {"class_var": "group", "k": 2},
    "loo_summary": {"x": WEIGHTED},
    "lp": {"smooth": 1},
    "manb_arc_posterior": {"x": BY_MANB},
    "calibration": CALIBRATED,
    "plot_calibration": CALIBRATED,
    "plot_confusion": {"counts": bn.confusion(**PREDICTED)},
    "plot_cv": {"results": RESULTS},
    "plot_ranks": {"comparison": bn.compare_ranks(RANKS)},
    "plot_scores": {"x": SEARCHED},
    "plot_strength": STRENGTH,
    "plot_weights": {"x": WEIGHTED},
    "pool": {"models": [NETWORK, NETWORK]},
    "query": {"variables": ["buying"], "evidence": {"safety": "low"}},
    "search_steps": {"x": SEARCHED},
    "to_sql": {"table": "cars"},
    "shd": {"y": NETWORK},
    "with_table": {"frame": bn.cpt(NETWORK, "buying")},
}

FUNCTIONS = {
    name: list(inspect.signature(function).parameters)
    for name in bn.__all__
    if inspect.isfunction(function := getattr(bn, name))
    if "path" not in inspect.signature(function).parameters
}
OPTIONAL = {f"to_{module}": module for module in ("networkx", "pgmpy", "pyagrum")}


def usual(name: str) -> dict[str, Any]:
    """Return arguments that a function accepts."""
    parameters = inspect.signature(getattr(bn, name)).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty or p.name in ("dataset", "k")]
    return {p: COMMON[p] for p in needed if p in COMMON} | dict(OWN.get(name, {}))


def is_installed(name: str) -> bool:
    """Whether the library that a function needs is installed."""
    module = "matplotlib" if name.startswith("plot") else OPTIONAL.get(name)
    return module is None or importlib.util.find_spec(module) is not None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_usual_values_are_accepted() -> None:
    for name in filter(is_installed, FUNCTIONS):
        getattr(bn, name)(**usual(name))


def problem(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the error that a call raises: its type, or a message of many lines."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            function(**arguments)
    except (ValueError, TypeError, KeyError, ImportError) as error:
        message = str(error)
        return None if 5 < len(message) < 700 and message.count("\n") < 3 else repr(error)[:1000]
    except Exception as error:
        return repr(error)[:1000]
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    return None


@pytest.mark.parametrize("odd", VALUES)
def test_odd_values_give_a_result_or_a_short_error(odd: str) -> None:
    problems = {}
    for name, arguments in FUNCTIONS.items():
        for argument in arguments:
            if argument != "lp_args" and not (argument == "metric" and callable(VALUES[odd])):
                told = problem(getattr(bn, name), {**usual(name), argument: VALUES[odd]})
                if told:
                    problems[f"{name}, {argument}"] = told
    assert not problems
