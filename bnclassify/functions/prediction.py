"""Views of the log joint: class labels and posteriors, under another prior or costs if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, first_best
from ..base.checks import check_flag
from ..frames.encoding import Row, check_columns
from ..frames.matching import check_unseen, match
from ..frames.partitions import Partitions
from ..frames.schema import Dataset, code_type
from ..frames.sources import is_dask
from ..metrics.outcomes import Labelling
from ..model.model import Model, check_fitted
from ..model.raw_rows import encode_for, log_joint
from .decisions import check_costs, check_prior, exchange_prior, least_costly

_BLOCK_ROWS = 2**16


def predict(
    x: Model,
    newdata: pd.DataFrame | Dataset | Row,
    *,
    prob: bool = False,
    unseen: str = "error",
    prior: Mapping[Any, float] | pd.Series[Any] | None = None,
    costs: pd.DataFrame | None = None,
    joint: bool = False,
    greedy: bool = False,
) -> pd.Series[Any] | pd.DataFrame:
    """Predict the class of each row, or its posterior probabilities.

    Parameters
    ----------
    x : BNC or AODE
        A model with parameters.
    newdata : pandas.DataFrame, Dataset, Series, dict or Dask DataFrame
        Has a column for each feature of ``x``, matched by name and label; others, the class
        among them, are ignored. May have no rows. A Series or dict is one row. Numbers of type float
        that are whole, as pandas makes of integers with gaps, are those integers.
        Networks, averages of networks (`aode`) and models of several class variables marginalize
        exactly over missing features; if all are missing, the posterior is the prior. In models with
        feature weights, or averaged over discretizations, and in `ande`, missing features are skipped.
    prob : bool, default False
        Whether to return posteriors instead of labels.
    unseen : {"error", "missing"}, default "error"
        What to do about a value that was not among the levels in training: raise, or take it
        as missing. A column that is written in another way, as numbers where the levels are text or
        intervals, raises in either case.
    prior : dict or pandas.Series, optional
        The probability of each class where ``newdata`` comes from, if it is another than where the model
        was learned. All classes are in it, and it sums to 1.
    costs : pandas.DataFrame, optional
        What it costs to predict a class, across, of a row that is of a class, down:
        ``costs.loc[actual, predicted]``. Then the label is the one of least expected cost.
    joint : bool, default False
        If True, predict the most probable combination of labels of several class variables; by default,
        the most probable label of each.
    greedy : bool, default False
        If True, predict the class variables of a chain one after the other, each given the labels
        predicted before, instead of enumerating all combinations. Chains with more than 65,536
        combinations are always greedy.

    Returns
    -------
    pandas.Series
        Labels, categorical and unordered, named after the class, on the index of ``newdata``.
        Of tied classes the first in the order of levels.
    pandas.DataFrame
        With ``prob=True``, one row per row of `newdata` and one column per class; rows sum to 1. A row
        that is impossible under every class has the uniform posterior.

        With several class variables, one column of labels per class variable; with ``prob=True``, one
        column per class variable and label, where the posteriors of each class variable sum to 1. With
        ``joint=True``, the labels of the most probable combination, of tied ones the first; with
        ``prob=True`` also a column ``probability``.
    dask.dataframe.Series, dask.dataframe.DataFrame
        The same, computed lazily per partition, if `newdata` is a Dask DataFrame.

    Raises
    ------
    KeyError
        If a feature is not a column of ``newdata``.
    TypeError
        If ``x`` is no model, ``newdata`` no data frame or row, a column holds no categories, ``prob`` is
        neither True nor False, ``prior`` or ``costs`` are of another type, or an argument is not defined
        for the kind of model.
    ValueError
        If a value was not among the levels in training and ``unseen`` is "error", the model has no
        parameters, ``prior`` or ``costs`` do not fit its classes, or ``costs`` are given with ``prob=True``:
        they change labels, not probabilities. If combinations of labels are too many, or summing over class
        variables would need too large a table (1,048,576 cells a row).

    Notes
    -----
    With Q the new prior and P what the model learned, Q(c | row) ∝ P(c | row) · Q(c) / P(c): what the
    features tell of a class stays, how common it is does not. The expected cost of label k is
    Σ_c P(c | row) costs(c, k).

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001.
    .. [2] Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to
       new a priori probabilities: a simple procedure. Neural Computation 14.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import load_car, lp, nb, predict
    >>> car = load_car()
    >>> model = lp(nb("class", car), car, smooth=1)
    >>> predict(model, car.tail(2)).tolist()
    ['good', 'vgood']
    >>> predict(model, car.tail(2), prob=True).round(3)
    class  unacc    acc   good  vgood
    1726   0.217  0.316  0.452  0.014
    1727   0.093  0.198  0.194  0.514

    Where good cars are as common as others:

    >>> even = {"unacc": 0.25, "acc": 0.25, "good": 0.25, "vgood": 0.25}
    >>> predict(model, car.tail(2), prob=True, prior=even).round(3)
    class  unacc    acc   good  vgood
    1726   0.023  0.107  0.842  0.028
    1727   0.007  0.046  0.249  0.698

    Where it is ten times worse to take an unacceptable car for a better one:

    >>> names = ["unacc", "acc", "good", "vgood"]
    >>> costs = pd.DataFrame([[0, 10, 10, 10], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]], names, names)
    >>> predict(model, car.tail(2), costs=costs).tolist()
    ['unacc', 'unacc']

    Two votes at once, with the probability of both together:

    >>> from bnclassify import load_voting, mbc
    >>> voting = load_voting()
    >>> two = lp(mbc(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> predict(two, voting.tail(2), joint=True, prob=True).round(2)
        mx_missile crime  probability
    433          n     y         0.96
    434          n     y         1.00
    """
    model = check_fitted(x)
    for name, flag in {"prob": prob, "joint": joint, "greedy": greedy}.items():
        check_flag(name, flag)
    check_unseen(unseen)
    predict_rows = _predicting(model, prob, unseen, prior, costs, joint, greedy)
    frame: Any = newdata.dask_frame if isinstance(newdata, Partitions) else newdata
    if not is_dask(frame):
        return predict_rows(frame)
    check_columns(model.features, list(frame.columns), "newdata")
    needed = frame[list(model.features)]
    return needed.map_partitions(predict_rows, meta=predict_rows(needed._meta.iloc[:0]))


def _predicting(
    x: Any, prob: bool, unseen: str, prior: object, costs: object, joint: bool, greedy: bool
) -> Callable[[Any], Any]:
    """Return a function that predicts rows in memory, and that workers can be sent."""
    options: dict[str, Any] = {"prob": prob, "unseen": unseen, "prior": prior, "costs": costs}
    if not x.one_class:
        return partial(x._predict, **options, joint=joint, greedy=greedy)
    if joint or greedy:
        raise TypeError(
            f"{'joint' if joint else 'greedy'}: is defined for models of several class variables, which mbc, "
            "maode and chain learn"
        )
    if prob and costs is not None:
        raise ValueError("costs must be None if prob is True. Costs decide only which label is predicted.")
    return partial(_predict_class, x, **options)


def _predict_class(
    x: Model, newdata: pd.DataFrame | Dataset | Row, *, prob: bool, unseen: str, prior: object, costs: object
) -> pd.Series[Any] | pd.DataFrame:
    """Predict the class of rows, for labels a block at a time."""
    names = x.known_levels[-1]
    table = None if costs is None else check_costs(costs, names)
    labelling = partial(Labelling, names, x.class_var, made=x.derived("class_labels", _class_labels))
    if prob:
        logs, index = weigh_classes(x, newdata, unseen=unseen, prior=prior)
        return labelling(index).posteriors(logs)
    reweigh = _reweighing(x, prior)
    data = encode_for(x, newdata, x.features)
    codes = match(data, x.features, x.known_levels[:-1], unseen=unseen)
    best = np.empty(len(data), dtype=code_type(len(names)))
    for start in range(0, len(data), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        logs = reweigh(x._log_joint(codes[:, block]))
        best[block] = first_best(logs) if table is None else least_costly(logs, table)
    return labelling(data.index).labels(best)


def weigh_classes(
    x: Model, newdata: pd.DataFrame | Dataset | Row, *, unseen: str = "error", prior: object = None
) -> tuple[Array, pd.Index[Any]]:
    """Return logs that are posteriors once normalized, (rows, classes), and the index of the rows."""
    reweigh = _reweighing(x, prior)
    data = encode_for(x, newdata, x.features)
    return reweigh(log_joint(x, data, unseen=unseen)), data.index


def _reweighing(x: Model, prior: object) -> Callable[[Array], Array]:
    """Return a function of log joints that replaces the learned P(class) by a prior, if one is given."""
    names = x.known_levels[-1]
    if prior is None:
        return lambda logs: logs
    learned, shares = x._class_prior(), check_prior(prior, names)
    return lambda logs: exchange_prior(logs, learned, shares, names)


def _class_labels(x: Model) -> pd.CategoricalDtype:
    """Return the classes as pandas has them, made once a model: that costs as much as many rows do."""
    return pd.CategoricalDtype(pd.Index(list(x.known_levels[-1]), tupleize_cols=False))
