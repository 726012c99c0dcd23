"""Views of the log joint: class labels, posteriors, and the share of labels that are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..base.arrays import first_best, log_normalize
from ..base.checks import check_flag
from ..frames.matching import check_unseen
from ..frames.reading import Row, encode_new
from ..frames.schema import Dataset
from ..inference.joint import log_joint
from ..model.kinds import Model, check_fitted
from ..model.questions import class_var, classes, values


def predict(
    x: Model, newdata: pd.DataFrame | Dataset | Row, *, prob: bool = False, unseen: str = "error"
) -> pd.Series[Any] | pd.DataFrame:
    """Predict the class of each row, or its posterior probabilities.

    Parameters
    ----------
    x : BNC or AODE
        A model with parameters.
    newdata : pandas.DataFrame, Dataset, Series or dict
        Has a column for each feature of ``x``, matched by name and label; others, the class
        among them, are ignored. May have no rows. A Series or dict is one row. Numbers of type float
        that are whole, as pandas makes of integers with gaps, are those integers.
        Missing features are summed out exactly; if all are, the posterior is the prior.
    prob : bool, default False
        Whether to return posteriors instead of labels.
    unseen : {"error", "missing"}, default "error"
        What to do about a value that was not among the levels in training: raise, or take it
        as missing. A column that is written in another way, as numbers where the levels are text or
        intervals, raises in either case.

    Returns
    -------
    pandas.Series
        Labels, categorical and unordered, named after the class, on the index of ``newdata``.
        Of tied classes the first in the order of levels.
    pandas.DataFrame
        With ``prob=True``, a row a row and a column a class, rows summing to 1. A row that
        is impossible under every class has the uniform posterior.

    Raises
    ------
    KeyError
        If a feature is not a column of ``newdata``.
    TypeError
        If ``x`` is no model, ``newdata`` no data frame or row, a column holds no categories, or ``prob``
        is neither True nor False.
    ValueError
        If a value was not among the levels in training and ``unseen`` is "error", or the model
        has no parameters.

    Examples
    --------
    >>> from bnclassify import load_car, lp, nb, predict
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> predict(model, car.tail(2)).tolist()
    ['good', 'vgood']
    >>> predict(model, car.tail(2), prob=True).round(3)
    class  unacc    acc   good  vgood
    1726   0.217  0.316  0.452  0.014
    1727   0.093  0.198  0.194  0.514
    """
    model = check_fitted(x)
    check_flag("prob", prob)
    check_unseen(unseen)
    known = values(model)
    data = encode_new(newdata, {name: known[name] for name in model.features})
    logs = log_joint(model, data, unseen=unseen)
    # Made once a model: text of few labels costs pandas as much as the prediction of many rows
    labels = model.derived("class_labels", _class_labels)
    if prob:
        columns = labels.categories.rename(class_var(x))
        return pd.DataFrame(np.exp(log_normalize(logs)), index=data.index, columns=columns)
    best = pd.Categorical.from_codes(first_best(logs), dtype=labels, validate=False)
    return pd.Series(best, index=data.index, name=class_var(x))


def _class_labels(x: Model) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(list(classes(x)), tupleize_cols=False))


def accuracy(predicted: ArrayLike, actual: ArrayLike) -> float:
    """Return the share of labels that are right.

    Parameters
    ----------
    predicted, actual : (n,) array-like
        Labels, compared one by one in order.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If the lengths differ, there are no labels, an actual label is missing, two Series
        have different indexes, or labels of different types can never be equal.

    Examples
    --------
    >>> from bnclassify import accuracy, load_car, lp, nb, predict
    >>> car = load_car()
    >>> accuracy(predict(lp(nb("class", car), car, smooth=1), car), car["class"])
    0.8709490740740741
    """
    if isinstance(predicted, Model) or isinstance(actual, pd.DataFrame):
        raise TypeError(
            "predicted, actual: expected labels; write accuracy(predict(x, df), df[class_var(x)])"
        )
    if (
        isinstance(predicted, pd.Series)
        and isinstance(actual, pd.Series)
        and not predicted.index.equals(actual.index)
    ):
        raise ValueError(
            "predicted, actual: the indexes of the two Series differ; align them, or pass .to_numpy()"
        )
    guesses, truth = (np.asarray(labels, dtype=object) for labels in (predicted, actual))
    if guesses.ndim != 1 or guesses.shape != truth.shape:
        raise ValueError(
            "predicted, actual: expected as many labels in both, "
            f"got shapes {guesses.shape} and {truth.shape}"
        )
    if not len(truth):
        raise ValueError("predicted, actual: no labels to compare")
    if pd.isna(truth).any():
        raise ValueError("actual: labels are missing; compare the rows that have one")
    types = [{type(label) for label in labels if not pd.isna(label)} for labels in (guesses, truth)]
    if types[0].isdisjoint(types[1]) and not set(truth) & {g for g in guesses if not pd.isna(g)}:
        kinds = [" and ".join(sorted(t.__name__ for t in some)) or "nothing" for some in types]
        raise ValueError(
            f"predicted, actual: labels of type {kinds[0]} and {kinds[1]} are never equal; "
            "convert one, for example with .astype(str)"
        )
    return float(np.mean([not pd.isna(g) and g == t for g, t in zip(guesses, truth, strict=True)]))
