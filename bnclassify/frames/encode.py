"""Encoding of data once for many calls: weights, cases and a level for missing values."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

import numpy as np
import pandas as pd

from ..tools.arrays import Array
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, Names, OneOf, Optional, check_columns
from ..tools.messages import listed, warn
from .dataset import Countable, Dataset
from .opening import InFull, InParts, Meaning, open_data
from .schema import MISSING

Data = TypeVar("Data", bound=Dataset)


@overload
def encode(
    frame: InFull | InParts,
    *,
    weights: Any = None,
    weights_are: Meaning | None = None,
    missing_level: Any = False,
    in_memory: Literal[False],
) -> Any: ...
@overload
def encode(
    frame: InFull,
    *,
    weights: Any = None,
    weights_are: Meaning | None = None,
    missing_level: Any = False,
    in_memory: bool | None = None,
) -> Dataset: ...
@with_call_advice("Pass weights by name: encode(frame, weights=name).")
def encode(
    frame: Any,
    *,
    weights: Any = None,
    weights_are: Meaning | None = None,
    missing_level: Any = False,
    in_memory: bool | None = None,
) -> Any:
    """Encode categorical data as integers, once for many calls.

    Every function of the package accepts a data frame or the result of this
    function. Encoding first saves time if several functions use the same data,
    and can assign weights to rows, as in a table of frequencies.

    Parameters
    ----------
    frame : pandas.DataFrame or another frame, Dataset, or partitioned data
        Columns of type category (levels in the order of the categories,
        including unobserved ones), text, bool or integer (levels sorted).
        Missing values are NaN, None or pd.NA.
    weights : str or array-like of numbers, optional
        Weight of each row, 0 or more: one number per row, or the name of a
        column, which is not used as a feature. All counts are sums of weights,
        so whole weights are equivalent to repeated rows.
    weights_are : {"frequencies", "cases"}, default "frequencies"
        Meaning of the weights. Frequencies are numbers of equal rows. "cases"
        are survey or importance weights: each row is a case that is held out as
        a whole, and weights are scaled to sum to the effective number of rows,
        (Σw)² / Σw² (Kish). Penalties, tests and intervals use this number.
    missing_level : bool or list of str, default False
        If True, missing values become a level "(missing)" in each column with
        missing values, in these data and in new data; a list names exactly the
        columns. Name the features if the class has missing values.
    in_memory : bool, optional
        Whether partitioned data are read into memory. By default, they are if
        their codes need at most 1 GiB. If False, the rows stay where they are.

    Returns
    -------
    Dataset or Partitions
        Codes, levels and weights, in memory. For partitioned data that stay
        where they are, Partitions, which has no rows.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column contains numbers with fractions, dates, or values of several
        types, a weight is missing, infinite or below 0, or a column has a level
        "(missing)" already.

    Notes
    -----
    With the extra ``frames``, data frames of other libraries are also accepted:
    a polars DataFrame or LazyFrame, an Arrow table, a DuckDB relation, and all
    that narwhals or the interface of Arrow supports. `predict` and `cv_predict`
    return the type of the data, all other functions return pandas.

    Partitioned data are a Dask DataFrame, a function that returns a new
    iterator of data frames at each call, such as ``lambda: pd.read_csv(path,
    chunksize=100_000)``, a list of data frames, or a table of ibis. Their rows
    are read once, part by part, and kept as codes, with one byte per label and
    eight per number with fractions. Weights are the name of a column, or one
    number per row.

    Data that do not fit in memory, and with ``in_memory=False`` all partitioned
    data, stay where they are: chunks are counted in turn, partitions of Dask by
    their workers, and tables by GROUP BY queries. Functions that only count
    accept them, with the same results: `nb`, `tan_cl`, `chow_liu`, `kdb_mi`,
    `hc`, `aode`, `lp`, `update`, and scores such as `BIC`. Weights are then the
    name of a column. All other functions raise an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import encode
    >>> counted = pd.DataFrame({"sex": ["f", "f", "m", "m"], "survived": ["no", "yes", "no", "yes"],
    ...                         "people": [126, 344, 1364, 367]})
    >>> data = encode(counted, weights="people", weights_are="frequencies")
    >>> data
    Dataset: 4 rows that count 2,201, 2 columns, 0 missing values
    """
    if weights_are is not None:
        OneOf(("frequencies", "cases")).check("weights_are", weights_are)
        if weights is None:
            raise ValueError("weights must be given if weights_are is given; got None.")
    opened: Any = open_data(
        frame, "frame", in_memory=Optional(Flag()).check("in_memory", in_memory)
    )
    if weights is not None:
        opened = opened.with_weights(weights)
    data = opened if isinstance(opened, Countable) else opened.read()
    if isinstance(data, Dataset) and weights is not None:
        data = rows_as_cases(data) if weights_are == "cases" else data
        if weights_are is None:
            _warn_of_weights(data)
    elif weights_are == "cases":
        raise TypeError(
            "weights_are must be 'frequencies' if rows stay where they are; got 'cases'. Use "
            "in_memory=True."
        )
    return data if missing_level is False else add_missing_level(data, missing_level)


def rows_as_cases(data: Data) -> Data:
    """Return data in which each row is a case, of weights that sum to the effective row number."""
    assert data.weights is not None
    size = data.weights.max(initial=0.0) or 1.0
    weights: Array = data.weights / size
    scale = float(weights.sum()) / max(float(np.square(weights).sum()), 1e-300)
    return replace(data, weights=weights * scale, cases=np.arange(len(data)))


def _warn_of_weights(data: Dataset) -> None:
    """Warn of weights that are probably not frequencies."""
    weights = data.with_positive_weights().weights
    assert weights is not None
    fractions = bool((weights % 1).any())
    # 10: weight per row from which weights are probably not frequencies
    many = float(weights.sum()) > 10 * len(weights)
    if fractions or (many and not pd.DataFrame(data.codes.T).duplicated().any()):
        found = (
            "have fractions"
            if fractions
            else f"sum to {weights.sum():,.0f} in {len(weights):,} rows"
        )
        warn(
            f"weights {found}, and are used as frequencies, that is, numbers of equal rows. Use "
            "weights_are='cases' for survey weights, or weights_are='frequencies' for frequencies."
        )


def add_missing_level(data: Countable, columns: Any = True) -> Countable:
    """Return data in which missing values of chosen columns (True: all) are their last level."""
    if columns is True:
        chosen = [name for name, gaps in zip(data.columns, data.incomplete, strict=True) if gaps]
    else:
        chosen = list(Names().check("missing_level", columns))
        check_columns(chosen, data.columns, "missing_level")
    check_can_add_missing_level(data, chosen)
    return data.with_missing_level(chosen)


def check_can_add_missing_level(data: Countable, chosen: Collection[Hashable]) -> None:
    """Raise if missing values of chosen columns cannot be a level: they are numbers, or have it."""
    levels_of = data.schema.levels_of
    if numeric := [name for name in chosen if name in data.numbers and not levels_of[name]]:
        raise TypeError(
            f"missing_level must name categorical columns; got {listed(numeric)}. "
            "Discretize it first."
        )
    if twice := [name for name in chosen if MISSING in levels_of[name]]:
        raise ValueError(
            f"missing_level must not name columns with a level {MISSING!r}; got "
            f"{listed(twice)}. Rename it."
        )
