"""What a type checker finds in a user's script, and what an editor offers."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

import bnclassify as bn
from bnclassify.metrics import LABEL_METRICS, METRICS
from bnclassify.numbers import CUTTINGS, METHODS
from bnclassify.structure import LEARNERS, SCORE_NAMES
from bnclassify.tools import checks

SCRIPT = """
from typing import Any, assert_type
import pandas as pd
import polars as pl
import bnclassify as bn

car = bn.load_car()
x = bn.lp(bn.tan_cl("class", car, score="aic"), car, smooth=1)
assert_type(bn.predict(x, car), "pd.Series[Any]")
assert_type(bn.predict(x, car, prob=True), pd.DataFrame)
assert_type(bn.predict(x, car, prob=True, interval=0.9), pd.DataFrame)
assert_type(bn.cv(x, car, k=5, rng=0), float)
assert_type(bn.cv(x, car, metric=["accuracy", "auc"]), "pd.Series[Any]")
assert_type(bn.cv({"tan": x}, car), "pd.Series[Any]")
assert_type(bn.cv([x, x], car, mean=False, repeats=2), pd.DataFrame)
assert_type(bn.cv_predict(x, car), pd.DataFrame)
assert_type(bn.cv_predict(x, car, prob=False), "pd.Series[Any]")
parts = [car.head(900), car.tail(828)]
assert_type(bn.encode(lambda: iter(parts)), bn.models.Dataset)
assert_type(bn.cv(bn.lp(bn.tan_hc("class", parts, k=2), lambda: parts, smooth=1), parts), float)
bn.lp(bn.nb("class", stay := bn.encode(parts, in_memory=False)), stay, smooth=1)
assert_type(bn.explain(x, car.iloc[0]), pd.DataFrame)
assert_type(bn.query(x, "class", {"safety": "low"}), "pd.Series[float]")
assert_type(bn.query(x, "class", interval=0.9), pd.DataFrame)
both = bn.lp(bn.mbc(["class", "safety"], car), car, smooth=1)
assert_type(bn.predict(both, car), pd.DataFrame)
assert_type(bn.cv(both, car), "pd.Series[Any]")
bn.predict(x, car, prob=True).idxmax(axis=1)
cars = pl.from_pandas(car)
for rows in (cars, cars.lazy(), cars.to_arrow()):
    polars = bn.lp(bn.tan_hc("class", rows, k=2, smooth=1), rows, smooth=1)
    assert_type(bn.predict(polars, rows), Any)
    assert_type(bn.cv(polars, rows), float)
bn.bnc("tan_cl", "class", car, discretize="averaged", smooth=1)
metrics = ["accuracy", "auc"]
bn.cv(x, car, metric=metrics)
bn.compare_ranks(car).wilcoxon
bn.cv(x, car, metric="acuracy")  # wrong
bn.cv(x, car, columns="all")  # wrong
bn.predict(x, car, unseen="ignore")  # wrong
bn.predict(x, car, proba=True)  # wrong
bn.bnc("tan", "class", car, smooth=1)  # wrong
bn.bnc("nb", "class", car, discretize="mdlpp")  # wrong
bn.tan_cl("class", car, score="AIC")  # wrong
bn.compare(car, test="t")  # wrong
"""


@pytest.mark.slow
def test_mypy_finds_the_errors_of_a_script_and_none_in_the_package(tmp_path, monkeypatch):
    """In one run, as both read the types of all libraries."""
    api = pytest.importorskip("mypy.api", reason="mypy is not installed; the extra test has it")
    script, root = tmp_path / "script.py", Path(__file__).parents[1]
    script.write_text(SCRIPT)
    monkeypatch.chdir(root)
    report, errors, _ = api.run([str(script), str(root / "bnclassify"), "--no-error-summary"])
    assert not errors
    found = {tuple(line.split(":")[:2]) for line in report.splitlines() if ": error:" in line}
    wrong = {i for i, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# wrong")}
    assert found == {(str(script), str(i)) for i in wrong}, report


def test_types_of_options_are_what_functions_accept():
    assert set(get_args(checks.Learner)) == set(LEARNERS)
    assert set(get_args(checks.ScoreName)) == set(SCORE_NAMES)
    assert set(get_args(checks.Cutting)) == set(METHODS)
    averaged = set(get_args(get_args(checks.AnyCutting)[1]))
    assert averaged == set(CUTTINGS)
    searchable = {
        n
        for n, metric in METRICS.items()
        if not (metric.needs_rows or metric.needs_joint or metric.needs_order)
    }
    assert {name for part in get_args(checks.SearchMetric) for name in get_args(part)} == searchable
    names = {name for part in get_args(checks.MetricName) for name in get_args(part)}
    assert names == {*METRICS, *LABEL_METRICS}


def test_an_editor_offers_what_docstrings_explain(car):
    for learner in ("nb", "aode", "ande"):
        x = bn.bnc(learner, "class", car, smooth=1)
        assert {"class_var", "features", "recipe", "members"} <= set(dir(x))
        assert not {"cards", "scopes", "no_joint", "targets"} & set(dir(x))
        assert all(hasattr(x, name) for name in dir(x))
        explained = str(inspect.getdoc(type(x)))
        for name in set(dir(x)) - {"members", "preparation"}:
            assert re.search(rf"^(.*, )?{name}(, .*)? :", explained, re.MULTILINE) or name == "features"
    several = bn.mbc(["class", "safety"], car)
    assert all(hasattr(several, name) for name in dir(several))
    assert "class_vars" in dir(several)
