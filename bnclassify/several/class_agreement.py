"""How predicted labels of several class variables agree with actual ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.messages import listed
from ..functions.agreement import paired_labels


def hamming(predicted: pd.DataFrame, actual: pd.DataFrame) -> float:
    """Return the share of labels that are right, over all rows and class variables (Hamming accuracy).

    Parameters
    ----------
    predicted : pandas.DataFrame
        A column of labels for each class variable, as `predict` gives them.
    actual : pandas.DataFrame
        Has the same columns among others, and the same rows.

    Returns
    -------
    float
        Between 0 and 1; 1 minus what is called the Hamming loss.

    Raises
    ------
    KeyError
        If ``actual`` lacks a column.
    TypeError
        If they are no data frames.
    ValueError
        If their rows differ, there are none, or an actual label is missing.

    References
    ----------
    .. [1] Dembczyński, K., Waegeman, W., Cheng, W., Hüllermeier, E. (2012). On label dependence and loss
       minimization in multi-label classification. Machine Learning 88.

    Examples
    --------
    >>> from bnclassify import hamming, load_voting, lp, mbc, predict
    >>> votes = load_voting().dropna()
    >>> names = ["handicapped_infants", "mx_missile", "superfund_right_to_sue"]
    >>> model = lp(mbc(names, votes), votes, smooth=1)
    >>> round(hamming(predict(model, votes), votes), 3)
    0.787
    """
    return float(_right(predicted, actual).mean())


def exact_match(predicted: pd.DataFrame, actual: pd.DataFrame) -> float:
    """Return the share of rows in which the labels of all class variables are right.

    ``predict(x, df, joint=True)`` gives the labels that are most likely to be right together.

    Parameters
    ----------
    predicted : pandas.DataFrame
        A column of labels for each class variable, as `predict` gives them.
    actual : pandas.DataFrame
        Has the same columns among others, and the same rows.

    Returns
    -------
    float
        Between 0 and 1, at most as large as `hamming`; 1 minus what is called the subset 0/1 loss.

    Raises
    ------
    KeyError, TypeError, ValueError
        As `hamming`.

    Examples
    --------
    >>> from bnclassify import exact_match, load_voting, lp, mbc, predict
    >>> votes = load_voting().dropna()
    >>> names = ["handicapped_infants", "mx_missile", "superfund_right_to_sue"]
    >>> model = lp(mbc(names, votes), votes, smooth=1)
    >>> round(exact_match(predict(model, votes), votes), 3)
    0.491
    >>> round(exact_match(predict(model, votes, joint=True), votes), 3)
    0.56
    """
    return float(_right(predicted, actual).all(axis=0).mean())


def _right(predicted: object, actual: object) -> NDArray[np.bool_]:
    """Tell which labels are right, (class variables, rows)."""
    for name, frame in {"predicted": predicted, "actual": actual}.items():
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(
                f"{name}: expected a DataFrame with a column of labels for each class variable, got "
                f"{type(frame).__name__}"
            )
    assert isinstance(predicted, pd.DataFrame)
    assert isinstance(actual, pd.DataFrame)
    if not predicted.shape[1]:
        raise ValueError("predicted: expected a column of labels for each class variable, got none")
    absent = [name for name in predicted.columns if name not in actual.columns]
    if absent:
        raise KeyError(
            f"actual: no column {listed(absent)}; predicted has a column for each class variable alone"
        )
    return np.array([_right_column(predicted[name], actual[name]) for name in predicted.columns])


def _right_column(predicted: pd.Series[Any], actual: pd.Series[Any]) -> list[bool]:
    guesses, truth = paired_labels(predicted, actual)
    return [not pd.isna(g) and bool(g == t) for g, t in zip(guesses, truth, strict=True)]
