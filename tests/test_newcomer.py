"""The first lines of a newcomer: each works, or its error names the call to type."""

import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bnclassify

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed; the extra sklearn has it")

bn = bnclassify

WOMEN = bn.load_pima().head(160)
X, Y = WOMEN.drop(columns="diabetes"), WOMEN["diabetes"]
ROW = {"age": 51, "glucose": 171}
GRADES = pd.Categorical(
    np.where(X["glucose"].fillna(0) > 140, "low", np.where(X["age"] > 30, "mid", "top")),
    ["low", "mid", "top"],
    ordered=True,
)


@pytest.fixture(scope="module")
def on(tmp_path_factory):
    """A fitted estimator, its sum of effects, and a folder."""
    from bnclassify import BNCClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        default, whole = BNCClassifier().fit(X, Y), BNCClassifier(pairs=0).fit(X, Y)
    return SimpleNamespace(clf=default, sum=whole, path=tmp_path_factory.mktemp("page"), new=BNCClassifier)


WORKS = {
    "from bnclassify import BNCClassifier": lambda on: on.new,
    "BNCClassifier().fit(X, y).predict(X)": lambda on: on.clf.predict(X),
    "clf.predict_proba(X)": lambda on: on.clf.predict_proba(X),
    "explain(clf, row)": lambda on: bn.explain(on.clf, ROW),
    "explain(clf, X.iloc[0])": lambda on: bn.explain(on.clf, X.iloc[0], sentences=True),
    "predict(clf, row, prob=True)": lambda on: bn.predict(on.clf, ROW, prob=True),
    "plot(clf)": lambda on: bn.plot(on.clf),
    "plot_explanation(clf, row)": lambda on: bn.plot_explanation(on.clf, ROW),
    "plot_importance(clf, df)": lambda on: bn.plot_importance(on.clf, WOMEN),
    "cv(clf, df)": lambda on: bn.cv(on.new("nb", smooth=1).fit(X, Y), WOMEN, k=2, rng=0),
    "to_sql(clf)": lambda on: bn.to_sql(on.clf, table="women"),
    "write_page(clf, path)": lambda on: bn.write_page(on.clf, on.path / "women.html"),
    "save(clf, path)": lambda on: bn.save(on.clf, on.path / "women.json"),
    "summary(clf)": lambda on: bn.summary(on.clf),
    "effects(sum)": lambda on: bn.effects(on.sum),
    "scorecard(sum)": lambda on: bn.scorecard(on.sum),
    "bnc(df, 'y')": lambda on: bn.bnc(WOMEN, "diabetes", pairs=0),
    "bnc(df, class_var='y')": lambda on: bn.bnc(WOMEN, class_var="diabetes", pairs=0),
    "bnc('y', df)": lambda on: bn.bnc("diabetes", WOMEN, pairs=0),
    "an ordered y": lambda on: on.new("nb", smooth=1).fit(X, GRADES),
    "numpy in": lambda on: on.new("nb", smooth=1).fit(X.to_numpy(), Y.to_numpy()).predict(X.to_numpy()),
    "sample_weight": lambda on: on.new("nb", smooth=1).fit(X, Y, sample_weight=np.arange(160) + 0.5),
    "a column of free text": lambda on: on.new("nb", smooth=1).fit(
        X.assign(note=[f"note {i}" for i in range(160)]), Y
    ),
    "repr in a notebook": lambda on: on.clf.model_._repr_html_(),
    "a row without most features": lambda on: on.clf.predict_proba(X.head(1).assign(insulin=None, bmi=None)),
    "predict(x, df[some], unknown=...)": lambda on: bn.predict(
        on.clf, X[["age"]], unknown=X.columns.drop("age").tolist()
    ),
}

ANSWERS = {
    "explain(BNCClassifier(), row)": (
        lambda on: bn.explain(on.new(), ROW),
        ValueError,
        "Call its method fit first",
    ),
    "plot_roc": (lambda on: bn.plot_roc, AttributeError, "RocCurveDisplay"),
    "nb('y', df, [...])": (lambda on: bn.nb("diabetes", WOMEN, ["age"]), TypeError, "features="),
    "numbers with a prior": (
        lambda on: bn.bnc("nb", "diabetes", WOMEN, smooth=1),
        (TypeError, ValueError),
        "discretize=",
    ),
    "query(default)": (lambda on: bn.query(on.clf, "age"), (TypeError, ValueError), "smooth=1"),
    "a column of dates": (
        lambda on: on.new().fit(X.assign(seen=pd.date_range("2024", periods=160)), Y),
        TypeError,
        r"pd\.to_datetime\(dataset\['seen'\]\)",
    ),
    "a missing y": (lambda on: on.new().fit(X, Y.where(X["age"] > 22)), ValueError, "y .*missing"),
    "a frame that lacks a column": (lambda on: bn.predict(on.clf, X[["age"]]), KeyError, "unknown=\\["),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", WORKS)
def test_lines_that_work(line, on):
    WORKS[line](on)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", ANSWERS)
def test_lines_that_are_answered_by_the_call_to_type(line, on):
    call, error, answer = ANSWERS[line]
    with pytest.raises(error, match=answer):
        call(on)


def test_the_page_of_an_estimator_and_its_order(on):
    assert bn.classes(on.new("nb", smooth=1).fit(X, GRADES)) == ("low", "mid", "top")
    bn.write_page(on.sum, on.path / "sum.html")
    assert Path(on.path / "sum.html").stat().st_size > 10_000
