"""How predicted labels agree with actual ones: the share that is right, and counts class by class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..base.messages import plain
from ..model.model import Model

Objects = NDArray[np.object_]


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
    guesses, truth = paired_labels(predicted, actual)
    return float(np.mean([not pd.isna(g) and g == t for g, t in zip(guesses, truth, strict=True)]))


def confusion(predicted: ArrayLike, actual: ArrayLike) -> pd.DataFrame:
    """Count the rows of each class that were given each label.

    Parameters
    ----------
    predicted, actual : (n,) array-like
        Labels, compared one by one in order.

    Returns
    -------
    (classes, classes) pandas.DataFrame of int
        Actual classes down, predicted across: ``counts.loc["no", "yes"]`` are the rows of class
        "no" that were predicted to be "yes". All classes are on both: the categories of
        ``predicted``, then those of ``actual``, then other labels that occur, sorted.

    Raises
    ------
    TypeError, ValueError
        As `accuracy`, or if a predicted label is missing.

    Examples
    --------
    >>> from bnclassify import confusion, cv_predict, load_car, lp, nb
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> confusion(cv_predict(model, car, prob=False, k=5, rng=0), car["class"])
    predicted  unacc  acc  good  vgood
    actual
    unacc       1157   52     1      0
    acc          104  271     9      0
    good           0   53    15      1
    vgood          0   39     1     25
    """
    guesses, truth = paired_labels(predicted, actual)
    if pd.isna(guesses).any():
        raise ValueError("predicted: labels are missing; compare the rows that have one")
    classes = _all_classes(predicted, actual)
    names = pd.Index(classes, dtype=object, tupleize_cols=False)
    down, across = (names.get_indexer(pd.Index(labels, dtype=object)) for labels in (truth, guesses))
    cells = down.astype(np.intp) * len(classes) + across
    counts = np.bincount(cells, minlength=len(classes) ** 2).reshape(len(classes), -1)
    return pd.DataFrame(counts, index=names.rename("actual"), columns=names.rename("predicted"))


def paired_labels(predicted: ArrayLike, actual: ArrayLike) -> tuple[Objects, Objects]:
    """Return two series of labels as arrays of objects, or raise if they cannot be compared."""
    if isinstance(predicted, pd.DataFrame):
        raise TypeError(
            "predicted: expected labels, got a DataFrame; predict(x, df) gives labels, and so does "
            "cv_predict(x, df, prob=False)"
        )
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
        kinds = [" and ".join(sorted(t.__name__ for t in label_types)) or "nothing" for label_types in types]
        raise ValueError(
            f"predicted, actual: labels of type {kinds[0]} and {kinds[1]} are never equal; "
            "convert one, for example with .astype(str)"
        )
    return guesses, truth


def _all_classes(*columns: ArrayLike) -> list[Any]:
    """Return the categories of columns that have some, in their order, and then whatever else occurs."""
    classes: dict[Any, None] = {}
    arrays = [column.array if isinstance(column, pd.Series | pd.Index) else column for column in columns]
    for array in arrays:
        if isinstance(array, pd.Categorical):
            classes |= dict.fromkeys(map(plain, array.categories))
    others = {plain(label) for array in arrays for label in np.asarray(array, dtype=object)} - classes.keys()
    return [*classes, *_in_order(others)]


def _in_order(labels: Iterable[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # of several types
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))
