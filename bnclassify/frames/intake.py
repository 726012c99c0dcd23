"""The verb encode: data frames, in memory or in parts, become what all verbs take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, overload

import pandas as pd

from .parting import InFull, InParts, open_columns
from .partitions import Partitions
from .schema import Dataset
from .weights import check_weights, names_column, weight_column


@overload
def encode(frame: InFull, *, weights: Any = None) -> Dataset: ...
@overload
def encode(frame: InParts, *, weights: Any = None) -> Partitions: ...
def encode(frame: Any, *, weights: Any = None) -> Dataset | Partitions:
    """Encode a data frame of categorical columns as integers, once for many calls.

    Every verb of the package takes a data frame or what this function returns.
    Encoding first saves time when the same data goes to several verbs, and is the way to say how often
    rows count, as in a table of frequencies.

    Parameters
    ----------
    frame : pandas.DataFrame, Dataset, or data in parts
        Columns of type category (levels in the order of the categories, with those that
        never occur), text, bool or integer (levels sorted). Missing is NaN, None or pd.NA.
        A Dataset is returned as it is, but for its weights. Data in parts stays where it is; only its
        levels are looked for.
    weights : str or array-like of numbers, optional
        How often each row counts, 0 or more: the name of a column, which is no feature then, or a number
        for each row. All that is counted is a sum of weights, so whole weights are the same as rows
        repeated; what WANBIA finds by steps agrees to as many digits as it settles. Levels that occur in
        rows of weight 0 alone stay levels.

    Returns
    -------
    Dataset
        Of data in parts, what knows its names and levels, and counts it where it lies.

    Raises
    ------
    KeyError
        If there is no column of such weights.
    TypeError
        If ``frame`` is no data frame, a column holds numbers with fractions or dates, or values of
        several types, or weights are no numbers.
    ValueError
        If column names are not unique, or a weight is missing, infinite or below 0.

    Notes
    -----
    Data in parts need not fit into memory. It is a Dask DataFrame, a function that gives data frames one
    after the other and can do so again, such as ``lambda: pd.read_csv(path, chunksize=100_000)``, a list of
    them, or where one pass is enough an iterator. Whatever counts alone takes it: parts are encoded and
    counted where they lie, and what is made of the sums is the same as in memory. Its levels are known
    where Dask knows categories, else looked for in a pass of its own; its weights are a column.

    Folds are dealt by rows, however often each counts, and metrics are means by weight. What draws rows
    at random draws them by weight.

    Examples
    --------
    >>> from bnclassify import encode, load_voting
    >>> encode(load_voting())
    Dataset: 435 rows, 17 columns, 392 missing values

    Rows that are alike, with how many there are:

    >>> import pandas as pd
    >>> from bnclassify import cpt, lp, nb
    >>> counted = pd.DataFrame({"sex": ["f", "f", "m", "m"], "survived": ["no", "yes", "no", "yes"],
    ...                         "people": [126, 344, 1364, 367]})
    >>> data = encode(counted, weights="people")
    >>> data
    Dataset: 4 rows that count 2,201, 2 columns, 0 missing values
    >>> cpt(lp(nb("survived", data), data, smooth=0), "sex").round(3)
    survived     no    yes
    sex
    f         0.085  0.484
    m         0.915  0.516
    """
    given = weights
    if isinstance(frame, pd.DataFrame) and weights is not None and names_column(weights):
        given = weight_column(frame, weights).array
        frame = frame.drop(columns=[weights])
    data = open_columns(frame, argument="frame", weights=weights)
    if isinstance(data, Partitions) or weights is None:
        return data
    if isinstance(frame, Dataset) and names_column(weights):
        raise TypeError("weights: a Dataset has no column of numbers; pass a number for each row")
    return replace(data, weights=check_weights(given, data.index))
