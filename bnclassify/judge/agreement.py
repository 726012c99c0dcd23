"""Agreement of predicted with actual labels, of one or several classes, and calibration."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..dataset import Dataset
from ..frames import check_unique, check_weights, foreign_to_pandas
from ..metrics import bin_means, bin_sums, calibration_error, calibration_noise, ends_of_equal_width
from ..model import Model
from ..tools import special
from ..tools.arrays import Array, ArrayOf, Codes, Mask
from ..tools.calls import with_call_advice
from ..tools.checks import Instance, OneOf, Whole, check_columns
from ..tools.messages import listed, shown, to_python_scalar

Objects = ArrayOf[np.object_]


@with_call_advice("Pass weights by name: accuracy(predicted, actual, weights=weights).")
def accuracy(predicted: ArrayLike, actual: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the proportion of labels that are correct.

    Parameters
    ----------
    predicted, actual : (n,) array-like
        Labels, with the rows in the same order.
    weights : (n,) array-like of numbers, optional
        Weight of each row, 0 or more; whole weights are numbers of rows. By
        default, all rows count once.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If `predicted` and `actual` have different rows, or labels are missing.

    Examples
    --------
    The model that predicts a row is fitted without it:

    >>> from bnclassify import accuracy, bnc, cv_predict, load_car
    >>> car = load_car()
    >>> labels = cv_predict(bnc("nb", "class", car, smooth=1), car, rng=0, prob=False)
    >>> round(accuracy(labels, car["class"]), 3)
    0.855
    """
    weights = _weights_of_labels(predicted, actual, weights)
    return _mean_correct(_is_correct(predicted, actual), weights)


def hamming(
    predicted: pd.DataFrame, actual: pd.DataFrame, *, weights: ArrayLike | None = None
) -> float:
    """Return the share of correct labels (Hamming accuracy).

    All rows and all class variables count equally, but for the weights of rows.

    Parameters
    ----------
    predicted : pandas.DataFrame
        One column of labels for each class variable, as `predict` returns them.
    actual : pandas.DataFrame
        Actual labels of the same rows. Contains the columns of ``predicted``;
        other columns are ignored.
    weights : (n,) array-like of numbers, optional
        As in `accuracy`.

    Returns
    -------
    float
        1 minus the Hamming loss.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `predicted` and `actual` have different rows or class variables.

    References
    ----------
    .. [1] Dembczyński, K., Waegeman, W., Cheng, W., Hüllermeier, E. (2012). On
       label dependence and loss minimization in multi-label classification.
       Machine Learning 88.

    Examples
    --------
    >>> from bnclassify import hamming, load_voting, lp, mbc, predict
    >>> votes = load_voting().dropna()
    >>> names = ["handicapped_infants", "mx_missile", "superfund_right_to_sue"]
    >>> model = lp(mbc(names, votes), votes, smooth=1)
    >>> round(hamming(predict(model, votes), votes), 3)
    0.787
    """
    weights = _weights_of_labels(predicted, actual, weights)
    return _mean_correct(_are_labels_correct(predicted, actual).mean(axis=0), weights)


def exact_match(
    predicted: pd.DataFrame, actual: pd.DataFrame, *, weights: ArrayLike | None = None
) -> float:
    """Return the proportion of rows with correct labels of all class variables.

    Parameters
    ----------
    predicted, actual, weights
        As in `hamming`.

    Returns
    -------
    float
        1 minus the subset 0/1 loss.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `predicted` and `actual` have different rows or class variables.

    Examples
    --------
    >>> from bnclassify import exact_match, load_voting, lp, mbc, predict
    >>> votes = load_voting().dropna()
    >>> names = ["handicapped_infants", "mx_missile", "superfund_right_to_sue"]
    >>> model = lp(mbc(names, votes), votes, smooth=1)
    >>> round(exact_match(predict(model, votes, joint=True), votes), 3)
    0.56
    """
    weights = _weights_of_labels(predicted, actual, weights)
    return _mean_correct(np.all(_are_labels_correct(predicted, actual), axis=0), weights)


def confusion(
    predicted: ArrayLike, actual: ArrayLike, *, weights: ArrayLike | None = None
) -> pd.DataFrame:
    """Count the rows by actual and predicted class.

    Parameters
    ----------
    predicted, actual : (n,) array-like
        Labels, with the rows in the same order.
    weights : (n,) array-like of numbers, optional
        As in `accuracy`; counts are then sums of weights.

    Returns
    -------
    (classes, classes) pandas.DataFrame of int, of float if there are weights
        One row per actual class and one column per predicted class:
        ``counts.loc["no", "yes"]`` is the number of rows of class "no" that
        were predicted as "yes". Both axes contain all classes: the categories
        of ``predicted``, then of ``actual``, then other labels that occur,
        sorted.

    Raises
    ------
    TypeError, ValueError
        If `predicted` and `actual` have different rows, or labels are missing.

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
    guesses, truth = _paired_labels(predicted, actual)
    if pd.isna(guesses).any():
        raise ValueError("predicted must have no missing labels. Compare the rows that have one.")
    # the categories of the columns in order, then the other labels, sorted
    declared, labels = dict[Any, None](), set[Any]()
    for column in (foreign_to_pandas(predicted), foreign_to_pandas(actual)):
        array = column.array if isinstance(column, pd.Series | pd.Index) else column
        if isinstance(array, pd.Categorical):
            declared |= dict.fromkeys(map(to_python_scalar, array.categories))
        labels |= set(map(to_python_scalar, np.asarray(array, dtype=object)))
    try:
        others = sorted(labels - declared.keys())
    except TypeError:  # labels of several types
        others = sorted(labels - declared.keys(), key=lambda x: (type(x).__name__, str(x)))
    classes = [*declared, *others]
    names = pd.Index(classes, dtype=object, tupleize_cols=False)
    row = names.get_indexer(pd.Index(truth, dtype=object)).astype(np.intp)
    column = names.get_indexer(pd.Index(guesses, dtype=object))
    n = len(classes)
    cells = np.bincount(row * n + column, _weights_of_labels(predicted, actual, weights), n**2)
    counts = cells.reshape(n, n)
    return pd.DataFrame(counts, index=names.rename("actual"), columns=names.rename("predicted"))


def _paired_labels(predicted: ArrayLike, actual: ArrayLike) -> tuple[Objects, Objects]:
    """Return labels as two arrays of objects, or raise if they cannot be compared."""
    predicted, actual = foreign_to_pandas(predicted), foreign_to_pandas(actual)
    for name, labels in {"predicted": predicted, "actual": actual}.items():
        check_no_dataset(name, labels)
        if isinstance(labels, Model | pd.DataFrame) or np.ndim(labels) != 1:
            raise TypeError(
                f"{name} must be labels; got {type(labels).__name__}. The predicted labels come "
                "first, as predict(x, df) or cv_predict(x, df, prob=False) return them, then the "
                "actual ones. If there are several class variables, call hamming."
            )
    check_same_rows(predicted, actual, "predicted and actual")
    guesses, truth = [np.asarray(labels, dtype=object) for labels in (predicted, actual)]
    if pd.isna(truth).any():
        raise ValueError("actual must have no missing labels. Compare the rows that have one.")
    known: list[set[Hashable]] = [
        set(labels[~pd.isna(labels)].tolist()) for labels in (guesses, truth)
    ]
    types = [set(map(type, labels)) for labels in known]
    if types[0].isdisjoint(types[1]) and known[0].isdisjoint(known[1]):
        raise ValueError(
            f"predicted and actual must have labels of the same type; got {shown(guesses[0])} and "
            f"{shown(truth[0])}. Convert one, for example with .astype(str)."
        )
    return guesses, truth


def check_no_dataset(argument: str, labels: object) -> None:
    """Raise a TypeError for an encoded table in place of labels."""
    if isinstance(labels, Dataset):
        raise TypeError(
            f"{argument} must be labels; got Dataset, a table. Pass the column of the class, such "
            "as df[class_var], of the data frame that it was encoded from."
        )


def check_same_rows(first: Any, second: Any, names: str) -> None:
    """Raise a ValueError unless two arguments have the same rows, at least one."""
    indexes = [rows.index for rows in (first, second) if isinstance(rows, pd.Series | pd.DataFrame)]
    if len(indexes) == 2 and not indexes[0].equals(indexes[1]):
        raise ValueError(f"{names} must have the same index. Align them, or pass .to_numpy().")
    if len(first) != len(second) or not len(first):
        found = f"{len(first)} and {len(second)}"
        raise ValueError(f"{names} must have the same number of rows, at least one; got {found}.")


def _weights_of_labels(
    predicted: ArrayLike | pd.DataFrame,
    actual: ArrayLike | pd.DataFrame,
    weights: ArrayLike | None,
) -> Array | None:
    """Return checked weights, which have the index of the labels if one of the two has one."""
    if weights is None:
        return None
    both: list[Any] = [foreign_to_pandas(actual), foreign_to_pandas(predicted)]
    for labels in both:
        if isinstance(labels, pd.Series | pd.DataFrame):
            return check_weights(weights, labels.index)
    return check_weights(np.asarray(weights), pd.RangeIndex(len(both[0])))


def _mean_correct(right: ArrayOf[Any], weights: Array | None) -> float:
    """Return the weighted mean of the correct labels, (rows,)."""
    if weights is not None and not weights.any():
        raise ValueError("weights must contain a positive number; all weights are 0.")
    return float(np.average(right, weights=weights))


def _is_correct(predicted: ArrayLike, actual: ArrayLike) -> Mask:
    guesses, truth = _paired_labels(predicted, actual)
    known: Mask = ~pd.isna(guesses)
    known[known] = guesses[known] == truth[known]
    return known


def _are_labels_correct(predicted: pd.DataFrame, actual: pd.DataFrame) -> Mask:
    """Return whether each label is correct, (class variables, rows)."""
    predicted, actual = foreign_to_pandas(predicted), foreign_to_pandas(actual)
    expected = "a DataFrame with one column of labels for each class variable"
    for name, frame in {"predicted": predicted, "actual": actual}.items():
        Instance(pd.DataFrame, expected).check(name, frame)
    if not predicted.shape[1]:
        raise ValueError(f"predicted must be {expected}; got none.")
    check_columns(predicted.columns, actual.columns, "actual")
    return np.stack([_is_correct(predicted[name], actual[name]) for name in predicted.columns])


MOST_BINS = 10_000
_LEAST = float(np.finfo(float).eps)  # minimum distance of probabilities from 0 and 1


def ends_of_bins(probabilities: Array, bins: int, strategy: str) -> Array:
    """Return the inner ends of intervals of equal width, or of equally many rows but for ties."""
    shares = ends_of_equal_width(Whole(least=1, most=MOST_BINS).check("bins", bins))
    if OneOf(("width", "quantile")).check("strategy", strategy) == "width":
        return shares
    return np.unique(np.quantile(probabilities, shares, method="inverted_cdf"))


def calibration(
    posteriors: pd.DataFrame, actual: pd.Series[Any], *, bins: int = 10, strategy: str = "width"
) -> pd.DataFrame:
    """Measure the calibration of posteriors, each class against the others.

    Parameters
    ----------
    posteriors : pandas.DataFrame
        Posterior probabilities with one column per class, for example from
        `cv_predict`. Posteriors of training rows are too optimistic.
    actual : pandas.Series
        Class of each row.
    bins : int, default 10
        Number of intervals of the probability.
    strategy : {"width", "quantile"}, default "width"
        Intervals of equal width, or with equal numbers of rows, except for
        ties.

    Returns
    -------
    pandas.DataFrame
        One row per class. Columns:

        - ``intercept`` and ``slope`` of the log odds of the class against the
          log odds of its posterior; 0 and 1 if posteriors are calibrated. A
          slope below 1 means that posteriors are too extreme
        - ``brier``, the mean squared error of the posterior (with two classes,
          "brier" of `cv`), and its parts: it is ``reliability`` −
          ``resolution`` + ``uncertainty`` + ``within_bins``
        - ``calibration_error``, the mean difference between posterior and share
          of the class over the bins, and ``expected_error``, its value for
          calibrated posteriors with the same number of rows

    Raises
    ------
    KeyError, TypeError, ValueError
        If `posteriors` do not sum to 1, or the rows of the two differ.

    Notes
    -----
    With N_b rows in bin b, their mean posterior p_b, the share y_b of the class
    in them and its share y in all rows, the parts of the Brier score [1]_ are Σ
    N_b/N (p_b − y_b)² (reliability, lower is better), Σ N_b/N (y_b − y)²
    (resolution, higher is better) and y(1 − y) (uncertainty); ``within_bins``
    is the remainder, which is 0 if all posteriors in a bin are equal. If a
    threshold of the posterior separates the class from the others, the slope is
    infinite.

    References
    ----------
    .. [1] Murphy, A. H. (1973). A new vector partition of the probability
       score. Journal of Applied Meteorology 12.

    Examples
    --------
    >>> from bnclassify import calibration, cv_predict, load_voting, lp, nb
    >>> voting = load_voting()
    >>> model = lp(nb("Class", voting), voting, smooth=1)
    >>> found = calibration(cv_predict(model, voting, rng=0), voting["Class"]).loc["republican"]
    >>> found[["slope", "reliability", "calibration_error", "expected_error"]].round(2).tolist()
    [0.21, 0.02, 0.09, 0.01]
    """
    p, codes, names = check_posteriors(posteriors, actual)
    rows = []
    for i in range(len(names)):
        probabilities, right = p[:, i], codes == i
        ends = ends_of_bins(probabilities, bins, strategy)
        intercept, slope = _fit_log_odds(probabilities, right)
        sums = bin_sums(probabilities, right, ends, np.ones(len(right)))
        n, means, shares = bin_means(sums)
        share, brier = float(right.mean()), float(np.mean((probabilities - right) ** 2))
        reliability, resolution = [
            float(n @ d**2) / len(right) for d in (means - shares, shares - share)
        ]
        uncertainty = share * (1 - share)
        rows.append(
            {
                "intercept": intercept,
                "slope": slope,
                "brier": brier,
                "reliability": reliability,
                "resolution": resolution,
                "uncertainty": uncertainty,
                "within_bins": brier - reliability + resolution - uncertainty,
                "calibration_error": calibration_error(sums),
                "expected_error": calibration_noise(sums),
            }
        )
    return pd.DataFrame(rows, names)


def _fit_log_odds(probabilities: Array, right: Mask) -> tuple[float, float]:
    """Return intercept and slope of a logistic regression on the log odds of probabilities."""
    from scipy.optimize import minimize  # slow to import

    x = special.logit(np.clip(probabilities, _LEAST, 1 - _LEAST))
    if right.all() or not right.any() or np.ptp(x) == 0:
        return np.nan, np.nan
    for sign in (1.0, -1.0):
        if (sign * x[right]).min() >= (sign * x[~right]).max():
            return np.nan, sign * np.inf
    design = np.column_stack([np.ones(len(x)), x])

    def loss_and_gradient(beta: Array) -> tuple[float, Array]:
        odds = design @ beta
        gradient = design.T @ (special.expit(odds) - right)
        return float(np.logaddexp(0, odds).sum() - odds[right].sum()), gradient

    def hessian(beta: Array) -> Array:
        share = special.expit(design @ beta)
        return (design.T * (share * (1 - share))) @ design

    search: Any = {"jac": True, "hess": hessian, "method": "trust-exact"}
    found = minimize(loss_and_gradient, [0.0, 1.0], options={"gtol": 1e-9}, **search)
    return float(found.x[0]), float(found.x[1])


def check_posteriors(
    posteriors: pd.DataFrame, actual: pd.Series[Any]
) -> tuple[Array, Codes, pd.Index[Any]]:
    """Return posteriors as an array, the codes of the actual classes and the classes, or raise."""
    given, posteriors, actual = posteriors, foreign_to_pandas(posteriors), foreign_to_pandas(actual)
    expected = (
        "a DataFrame with one column per class, as cv_predict(x, df) and predict(x, "
        "df, prob=True) return"
    )
    Instance(pd.DataFrame, expected).check("posteriors", posteriors)
    check_unique(posteriors.columns.tolist(), "posteriors")
    check_no_dataset("actual", actual)
    if isinstance(actual, pd.DataFrame) or np.ndim(actual) != 1:
        raise TypeError(
            f"actual must be labels; got {type(actual).__name__}. Pass the column of the class: "
            "df[class_var]."
        )
    check_same_rows(posteriors, actual, "posteriors and actual")
    labels = pd.Series(np.asarray(actual, dtype=object), dtype=object)
    if given is not posteriors:  # in other libraries, the names of columns are text
        labels = labels.map(str)
    codes = posteriors.columns.get_indexer(pd.Index(labels, dtype=object))
    if (codes < 0).any():
        raise ValueError(
            "actual must be classes among the columns of posteriors, "
            f"{listed(posteriors.columns)}; got {listed(labels[codes < 0].unique(), most=8)}."
        )
    p: Array = posteriors.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    # 0.01: tolerance for rounded posteriors
    if not (p.min() >= 0 and np.allclose(p.sum(axis=1), 1, rtol=0, atol=0.01)):
        raise ValueError("posteriors must be probabilities that sum to 1 in every row.")
    return p, codes, posteriors.columns
