"""The compared classifiers, each a function of training and test rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from sklearn.base import ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import bnclassify as bn
from bnclassify.sklearn import BNCClassifier

Fitted = Callable[[pd.DataFrame], Any]
"""Returns posteriors, (rows, classes)."""


def ours(X: pd.DataFrame, y: pd.Series[Any], **arguments: Any) -> Fitted:
    return BNCClassifier(**arguments).fit(X, y).predict_proba


def on_cuts(X: pd.DataFrame, y: pd.Series[Any], model: ClassifierMixin, *, one_hot: bool) -> Fitted:
    """Pass numbers discretized by MDLP to scikit-learn, as codes or one column per level."""
    cut, discretizer = bn.discretize(X.assign(**{"class": y}), class_var="class")
    levels = _as_text(cut.drop(columns="class"))
    names = [sorted({*levels[c], "missing"}) for c in levels]
    if one_hot:
        encoder: Any = OneHotEncoder(categories=names)
    else:
        model.set_params(min_categories=[len(labels) for labels in names])
        encoder = OrdinalEncoder(categories=names)
    pipeline = make_pipeline(encoder, model).fit(levels, y)

    def posteriors(new: pd.DataFrame) -> Any:
        known = _as_text(discretizer(new))
        for column, labels in zip(known, names, strict=True):
            known[column] = known[column].where(known[column].isin(labels), "missing")
        return pipeline.predict_proba(known)

    return posteriors


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    objects = frame.astype(object)
    return objects.where(objects.notna(), "missing").astype(str)


def raw(X: pd.DataFrame, y: pd.Series[Any], model: ClassifierMixin, *, power: bool = False) -> Fitted:
    """Pass numbers and codes of categories to trees."""
    encoder = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            make_column_selector(dtype_include="category"),
        ),
        remainder="passthrough",
    )
    pipeline = make_pipeline(encoder, model).fit(X, y)
    if not power:
        return pipeline.predict_proba
    tau = best_power(model.oob_decision_function_, np.searchsorted(model.classes_, y), model.n_estimators)
    return lambda new: raised(pipeline.predict_proba(new), tau, model.n_estimators)


def raised(posteriors: Any, tau: float, trees: int) -> Any:
    logs = tau * np.log(np.maximum(posteriors, 1 / (2 * trees)))
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return mass / mass.sum(axis=1, keepdims=True)


def best_power(posteriors: Any, classes: Any, trees: int) -> float:
    """Return the power of out-of-bag posteriors that maximizes their likelihood."""
    known = np.isfinite(posteriors).all(axis=1)

    def loss(tau: float) -> float:
        p = raised(posteriors[known], tau, trees)
        return -float(np.log(p[np.arange(len(p)), classes[known]]).mean())

    return float(minimize_scalar(loss, bounds=(0.1, 10), method="bounded").x)


def boosting(X: pd.DataFrame, y: pd.Series[Any], **arguments: Any) -> Fitted:
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0, **arguments)
    return model.fit(X, y).predict_proba


def explainable(X: pd.DataFrame, y: pd.Series[Any], **arguments: Any) -> Fitted:
    """Fit an explainable boosting machine, by default with interactions."""
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(random_state=0, n_jobs=1, **arguments)
    categories = {c: X[c].astype(object) for c in X.select_dtypes("category")}
    model.fit(X.assign(**categories), y)
    return lambda new: model.predict_proba(new.assign(**{c: new[c].astype(object) for c in categories}))


def piecewise(X: pd.DataFrame, y: pd.Series[Any]) -> Fitted:
    """Fit automatic piecewise linear regression (APLR) with its default settings."""
    from aplr import APLRClassifier

    read = _with_text(list(X.select_dtypes("category")))
    model = APLRClassifier(random_state=0, n_jobs=1)
    model.fit(read(X), y)
    order = np.argsort(model.get_categories())
    return lambda new: model.predict_class_probabilities(read(new))[:, order]


def khiops(X: pd.DataFrame, y: pd.Series[Any]) -> Fitted:
    """Fit Khiops with its default settings; its program has to be on the path."""
    from khiops.sklearn import KhiopsClassifier

    read = _with_text(list(X.select_dtypes("category")))
    model = KhiopsClassifier().fit(read(X), y)
    order = np.argsort([str(label) for label in model.classes_])
    return lambda new: model.predict_proba(read(new))[:, order]


def lightgbm(X: pd.DataFrame, y: pd.Series[Any]) -> Fitted:
    """Fit LightGBM with its default settings, which uses the category type of pandas."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1).fit(X, y).predict_proba


def catboost(X: pd.DataFrame, y: pd.Series[Any]) -> Fitted:
    """Fit CatBoost with its default settings; missing categories are a level."""
    from catboost import CatBoostClassifier

    names = list(X.select_dtypes("category"))
    read = _with_text(names)
    model = CatBoostClassifier(
        cat_features=names, random_seed=0, thread_count=1, verbose=False, allow_writing_files=False
    )
    model.fit(read(X), y)
    order = np.argsort([str(label) for label in model.classes_])  # it orders "10" after "9"
    return lambda new: model.predict_proba(read(new))[:, order]


def realmlp(X: pd.DataFrame, y: pd.Series[Any]) -> Fitted:
    """Fit RealMLP (package pytabkit) with tuned defaults, stopped by cross entropy."""
    from pytabkit import RealMLP_TD_S_Classifier

    names = list(X.select_dtypes("category"))
    read = _with_text(names)
    model = RealMLP_TD_S_Classifier(random_state=0, val_metric_name="cross_entropy", n_threads=1)
    model.fit(read(X), y, cat_col_names=names)
    return lambda new: model.predict_proba(read(new))


def _with_text(names: list[str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that writes the categories of these columns as text."""
    return lambda frame: frame.assign(**_as_text(frame[names]))


RIVALS: dict[str, Callable[[pd.DataFrame, pd.Series[Any]], Fitted]] = {
    "BNCClassifier()": ours,
    "sum": partial(ours, pairs=0),
    "averaged5": partial(ours, discretize="averaged5"),
    "one cutting": partial(ours, discretize="mdlp"),
    "tan_cl, mdlp": partial(ours, learner="tan_cl", smooth=1, discretize="mdlp"),
    "nb, mdlp": partial(ours, learner="nb", smooth=1, discretize="mdlp"),
    "nb, averaged": partial(ours, learner="nb", smooth=1, discretize="averaged"),
    "nb, gaussian": partial(ours, learner="nb", smooth=1, discretize=None, lp_args={"numbers": "gaussian"}),
    "nb, kernel": partial(ours, learner="nb", smooth=1, discretize=None, lp_args={"numbers": "kernel"}),
    "CategoricalNB": lambda X, y: on_cuts(X, y, CategoricalNB(), one_hot=False),
    "logistic regression": lambda X, y: on_cuts(X, y, LogisticRegression(max_iter=1000), one_hot=True),
    "forest": lambda X, y: raw(X, y, RandomForestClassifier(random_state=0)),
    "forest, calibrated": lambda X, y: raw(
        X, y, RandomForestClassifier(200, oob_score=True, random_state=0), power=True
    ),
    "boosting": boosting,
    "boosting, stopped": partial(boosting, early_stopping=True, max_iter=500),
    "EBM": explainable,
    "EBM, sum": partial(explainable, interactions=0),
    "APLR": piecewise,
    "Khiops": khiops,
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "RealMLP": realmlp,
}
