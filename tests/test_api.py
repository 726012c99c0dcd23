"""The public names of the package."""

import builtins
import inspect
import re
import typing

import pytest

import bnclassify as bn


def test_everything_public_is_listed_once():
    assert len(set(bn.__all__)) == len(bn.__all__)
    assert dir(bn) == sorted(bn.__all__)
    assert all(hasattr(bn, name) for name in bn.__all__)


def test_everything_public_comes_from_the_package():
    owners = [inspect.getmodule(getattr(bn, name)) for name in bn.__all__]
    assert all(owner is not None and owner.__name__.startswith("bnclassify.") for owner in owners)


def test_help_names_the_types_that_readers_know():
    """No alias of the package, and no quotes."""
    shown = str(inspect.signature(bn.tan_cl))
    assert shown.startswith("(class_var: Hashable, dataset: DataFrame | Dataset | Partitions, *,")
    known = {*dir(builtins), *dir(typing), *bn.models.__all__, "Axes", "BayesNet", "DataFrame"}
    known |= {"DiGraph", "Digraph", "DiscreteBayesianNetwork", "Generator", "Model", "PathLike"}
    known |= {"RankComparison", "Series"}
    known |= {"RandomState"}
    pytest.importorskip("sklearn", reason="the extra sklearn has it")
    from bnclassify import sklearn

    estimators = [getattr(sklearn, name) for name in sklearn.__all__]
    values = [*map(vars(bn).get, bn.__all__), *estimators]
    for estimator in estimators:
        values += [v for name, v in vars(estimator).items() if not name.startswith("_")]
    for function in filter(lambda value: inspect.isfunction(value) or value in estimators, values):
        signature = inspect.signature(function)
        types = [p.annotation for p in signature.parameters.values() if p.name != "self"]
        types.append(signature.return_annotation)
        words = set(re.findall(r"\b[A-Z]\w*", re.sub(r"'\w*'", "", " ".join(map(repr, types)))))
        assert words <= known, (function.__name__, words - known)
