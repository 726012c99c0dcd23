"""Scores of a fitted model on data; of two models the larger is the better."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from math import log, prod
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from ..base.arrays import Array, log_sum_exp
from ..base.calls import guided
from ..base.checks import Flag, OneOf, Seed, Whole, check_rng
from ..counts.contingency import contingency_tables
from ..counts.information import STATISTICS, independence, mutual_information, permutation_p
from ..frames.opening import InFull, InParts, open_columns
from ..frames.partitions import is_partitioned
from ..frames.schema import Countable, Dataset, scoring_classes
from ..frames.sources import NEEDS_ROWS
from ..frames.training import Numeric, find_numbers
from ..learners.local_scores import warn_of_fractions
from ..model.arguments import check_fitted, check_graph, check_joint, check_size, encode_for, rows_for
from ..model.model import Model
from ..model.questions import nparams
from ..network.classifiers import BNC, Graph
from ..network.number_families import Numbers, columns_of


def _add_up(x: Model, dataset: InFull | InParts, *, joint: bool) -> float:
    """Return the sum over rows of ln P(row), if ``joint``, or of ln P(class variables | features)."""
    rows = rows_for(x, dataset, x.observed if joint else None)
    total = rows.add_up(partial(_sum_at_labels, x, joint))
    if not rows.size:  # known after partitions were read
        raise ValueError("dataset must have at least one row with a weight above 0; got none.")
    return total


def _sum_at_labels(x: Model, joint: bool, data: Dataset) -> float:
    """Return this sum for a part of the rows, or from their counts if a database has them."""
    if joint and (total := x._log_joint_of_counts(data)) is not None:
        return total
    logs = _logs_at_labels(x, joint, data)
    if data.weights is None:
        return float(logs.sum())
    return float(logs[data.weights > 0] @ data.weights[data.weights > 0])


def _logs_at_labels(x: Model, joint: bool, data: Dataset) -> Array:
    """Return ln P(row), if ``joint``, or ln P(class variables | features), (rows,)."""
    levels, n = x.known_levels, len(x.features)
    check_size(len(data), len(levels[-1]))
    x, codes = x._place(data)
    if joint and x.observed == x.features:
        return log_sum_exp(x._log_joint(codes))
    named = zip(x.targets, levels[n:], strict=True)
    labels = np.array([scoring_classes(data, name, known) for name, known in named], dtype=np.intp)
    return x._log_joint_at(codes, labels) if joint else x._log_posterior_at(codes, labels)


@overload
def loglik(x: Model, dataset: InFull | InParts, *, by_row: Literal[False] = False) -> float: ...
@overload
def loglik(x: Model, dataset: InFull, *, by_row: Literal[True]) -> pd.Series[float]: ...
def loglik(x: Model, dataset: Any, *, by_row: bool = False) -> float | pd.Series[float]:
    """Return the log-likelihood of the data, Σ ln P(row, class), in nats.

    Parameters
    ----------
    x : BNC, AODE or another model
        With parameters and a joint distribution.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Has all variables of the model, the class in every row. The model marginalizes over missing
        features exactly. Data for a model of `lca` need no class.
    by_row : bool, default False
        If True, return the log-likelihood of each row, for example to find unusual rows. The data are then
        in memory.

    Returns
    -------
    float
        -inf if a row is impossible.
    pandas.Series
        With `by_row`, one value per row, with the index of the data. Weights are not used.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` does not define a joint distribution, or the class is missing in a row.

    Examples
    --------
    >>> from bnclassify import load_car, loglik, lp, nb
    >>> car = load_car()
    >>> round(loglik(lp(nb("class", car), car, smooth=0), car), 3)
    -13503.688
    """
    model = check_joint(x, "loglik")
    if not Flag().check("by_row", by_row):
        return _add_up(model, dataset, joint=True)
    if is_partitioned(dataset):
        raise TypeError(f"dataset {NEEDS_ROWS}")
    data = encode_for(model, dataset, model.observed, "dataset")
    return pd.Series(_logs_at_labels(model, True, data), index=data.index, name="loglik")


def AIC(x: BNC, dataset: InFull | InParts) -> float:
    """Return Akaike's information criterion, loglik − nparams, as in the R package.

    Larger is better. This is −½ of the usual definition.

    Parameters
    ----------
    x : BNC
        A single network with parameters.
    dataset
        As in `loglik`.

    Returns
    -------
    float

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `loglik`, or if ``x`` is not a single network.

    References
    ----------
    .. [1] Akaike, H. (1974). A new look at the statistical model identification. IEEE
       Transactions on Automatic Control 19.

    Examples
    --------
    >>> from bnclassify import AIC, load_car, lp, nb
    >>> car = load_car()
    >>> round(AIC(lp(nb("class", car), car, smooth=0), car), 3)
    -13566.688
    """
    model, total, _ = _of_network(x, dataset, "AIC")
    return total - nparams(model)


def BIC(x: BNC, dataset: InFull | InParts) -> float:
    """Return the Bayesian information criterion: loglik − ½ ln(N) · nparams.

    Larger is better. This is −½ of the usual definition; N is the number of rows.

    Parameters
    ----------
    x : BNC
        A single network with parameters.
    dataset
        As in `loglik`.

    Returns
    -------
    float

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `loglik`, or if ``x`` is not a single network.

    References
    ----------
    .. [1] Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics 6.

    Examples
    --------
    >>> from bnclassify import BIC, load_car, lp, nb
    >>> car = load_car()
    >>> round(BIC(lp(nb("class", car), car, smooth=0), car), 3)
    -13738.512
    """
    model, total, rows = _of_network(x, dataset, "BIC")
    return total - 0.5 * log(rows) * nparams(model)


def _of_network(x: Model, dataset: InFull | InParts, score: str) -> tuple[Graph, float, float]:
    """Return a single network with parameters, its log-likelihood and the number of rows, or raise."""
    model = check_graph(check_joint(x, score), score)
    nparams(model)  # which raises if there are densities without a number of parameters
    data = rows_for(model, dataset, model.observed)
    warn_of_fractions(data, score)
    return model, _add_up(model, data, joint=True), data.size


def cloglik(x: Model, dataset: InFull | InParts) -> float:
    """Return the conditional log-likelihood of the classes, Σ ln P(class | features), in nats.

    Parameters
    ----------
    x : BNC, AODE or another model
        A model with parameters.
    dataset
        As in `loglik`.

    Returns
    -------
    float
        At most 0.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `loglik`.

    Examples
    --------
    >>> from bnclassify import cloglik, load_car, lp, nb
    >>> car = load_car()
    >>> round(cloglik(lp(nb("class", car), car, smooth=0), car), 3)
    -528.535
    """
    return _add_up(check_fitted(x), dataset, joint=False)


_MOST_CELLS = 2**24  # of the table of a test
_MOST_PERMUTATIONS = 1_000_000
_UNITS = {"log": 1.0, "log2": log(2), "log10": log(10)}


@guided("Pass the condition by name: cmi(x, y, dataset, z=name).")
def cmi(
    x: Hashable,
    y: Hashable,
    dataset: InFull | InParts,
    *,
    z: Hashable | Sequence[Hashable] | None = None,
    unit: Literal["log", "log2", "log10"] = "log",
    numbers: Numbers = None,
) -> float:
    """Return the mutual information of two variables, conditional on others if given.

    Parameters
    ----------
    x, y : str
        Names of columns.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Rows in which all variables involved are observed are counted.
    z : str or list of str, optional
        Names of the columns to condition on.
    unit : {"log", "log2", "log10"}, default "log"
        Logarithm: natural gives nats, base 2 bits.
    numbers : "gaussian" or dict, optional
        Numeric columns among `x` and `y` that are kept as numbers: "gaussian" selects the columns that
        `discretize` discretizes by default, a dict names columns. They are normally distributed given the
        other variables.

    Returns
    -------
    float
        .. math:: I(X;Y | Z) = Σ p(x,y,z) ln [p(x,y | z) / (p(x | z) p(y | z))]

        0 or more; 0 if no row is observed.

        If `x` is a number and `y` is not, it is ½ Σ p(z) [ln σ²(z) − Σ p(y | z) ln σ²(y, z)], with maximum
        likelihood variances of `x`; if both are, −½ Σ p(z) ln(1 − ρ²(z)) with their correlations. A term
        with variance 0 is 0.

    Raises
    ------
    KeyError
        If a name is not a column.
    ValueError
        If the unit is unknown or the data has no rows.

    References
    ----------
    .. [1] Cover, T. M., Thomas, J. A. (2006). Elements of Information Theory. Wiley.

    Examples
    --------
    >>> from bnclassify import cmi, load_car
    >>> car = load_car()
    >>> round(cmi("persons", "safety", car, z="class"), 6)
    0.031963
    """
    OneOf(_UNITS).check("unit", unit)
    data, (first, second, *others) = _open_tested(x, y, z, dataset, columns_of(numbers))
    information, _ = mutual_information(data, first, second, others)
    if not len(data):  # known after partitions were read
        raise ValueError("dataset must have at least one row; got none.")
    return information / _UNITS[unit]


def _open_tested(
    x: Hashable, y: Hashable, z: Any, dataset: Any, numeric: Numeric = ()
) -> tuple[Countable, list[int]]:
    """Return the columns x, y and z, and their positions; x and y may be numbers."""
    # A tuple can be the name of one column.
    is_name = isinstance(z, tuple) and z in list(getattr(dataset, "columns", ()))
    several = isinstance(z, list | tuple) and not is_name
    names: list[Any] = [x, y] if z is None else [x, y, *(z if several else [z])]
    kept: tuple[Hashable, ...] = ()
    if numeric:
        pair = list(dict.fromkeys(names[:2]))
        chosen = numeric if isinstance(numeric, bool) else tuple([name for name in pair if name in numeric])
        dataset, kept = find_numbers(dataset, pair, names[2:], chosen)
    data = open_columns(dataset, names, named_by="x, y, z", numeric=kept)
    return data, [data.positions[name] for name in names]


def ci_test(
    x: Hashable,
    y: Hashable,
    dataset: InFull | InParts,
    *,
    z: Hashable | Sequence[Hashable] | None = None,
    test: Literal["g2", "x2"] = "g2",
    permutations: int = 0,
    rng: Seed = None,
) -> pd.Series[float]:
    """Test the independence of two variables, conditional on others if given.

    Parameters
    ----------
    x, y : str
        Names of columns.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Rows in which all variables involved are observed are counted.
    z : str or list of str, optional
        Names of the columns to condition on.
    test : {"g2", "x2"}, default "g2"
        The statistic: G² of the likelihood-ratio test, or Pearson's X².
    permutations : int, default 0
        Number of permutations of a permutation test, which does not need large counts. By default, p is
        computed from the chi-square distribution.
    rng : int or numpy.random.Generator, optional
        Seed of the permutations.

    Returns
    -------
    pandas.Series
        The ``statistic``, its degrees of freedom ``df``, and ``p``.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the table has too many cells, or rows have fractional weights and are to be permuted.

    Warns
    -----
    UserWarning
        If weights are fractions whose sum is less than the number of rows.

    See Also
    --------
    cmi : The mutual information, which is G² / 2N.

    Notes
    -----
    With e = N_xz N_yz / N_z,

    .. math:: G² = 2 Σ N_{xyz} ln(N_{xyz} / e),  X² = Σ (N_{xyz} − e)² / e

    and (r_x − 1)(r_y − 1) Π r_z degrees of freedom, which count all levels and all configurations of z. With
    small counts, the chi-square distribution is a poor approximation of the distribution of G². A permutation
    test does not use it: it permutes y among the rows with the same values of z, and p is (1 + the number of
    permuted tables whose statistic is at least as large) / (1 + `permutations`) [2]_.

    References
    ----------
    .. [1] Agresti, A. (2013). Categorical Data Analysis. Wiley.
    .. [2] Tsamardinos, I., Borboudakis, G. (2010). Permutation testing improves Bayesian network learning.
       ECML PKDD 2010.

    Examples
    --------
    >>> from bnclassify import ci_test, load_car
    >>> car = load_car()
    >>> ci_test("safety", "class", car).round(3)
    statistic    628.067
    df             6.000
    p              0.000
    dtype: float64

    Of 65 very good cars, the chi-square distribution gives a larger p than permutations:

    >>> best = car[car["class"] == "vgood"]
    >>> [round(float(ci_test("doors", "lug_boot", best, permutations=n, rng=0)["p"]), 2) for n in (0, 999)]
    [0.06, 0.01]
    """
    OneOf(STATISTICS).check("test", test)
    count = Whole(most=_MOST_PERMUTATIONS).check("permutations", permutations)
    data, columns = _open_tested(x, y, z, dataset)
    if len(set(columns)) < len(columns):
        raise ValueError("x, y and z must be different columns; got one of them twice.")
    cells = prod(data.cards[column] for column in columns)
    if cells > _MOST_CELLS:
        raise ValueError(
            f"x, y and z must have a joint table of at most {_MOST_CELLS:,} cells; got {cells:,}. Condition "
            "on fewer variables, or merge rare levels."
        )
    warn_of_fractions(data, test)
    table = contingency_tables(data, [columns])[0].astype(float)
    if not table.any():
        raise ValueError("dataset must have a row with values of x, y and z; got none.")
    statistic, df, p = independence(table, test)
    if count:
        if (table % 1).any():
            raise ValueError("permutations must be 0 if rows have fractional weights. Use whole weights.")
        p = permutation_p(table, test, count, check_rng(rng))
    return pd.Series({"statistic": statistic, "df": df, "p": p})
