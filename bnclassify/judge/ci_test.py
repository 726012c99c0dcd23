"""Dependence of two columns of data: mutual information and tests of independence."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log, prod
from typing import Literal

import pandas as pd

from ..counts import (
    STATISTICS,
    contingency_table,
    independence_test,
    mutual_information,
    permutation_p,
)
from ..dataset import Columns, Countable, Numeric
from ..elimination import Numbers, numeric_columns_of
from ..frames import AnyTable, open_data
from ..structure import warn_of_fractional_weights
from ..tools.arrays import Array
from ..tools.calls import with_call_advice
from ..tools.checks import OneOf, Seed, Whole, check_column_name, check_rng

_MOST_CELLS = 2**24  # of the table of a test
_UNITS = {"log": 1.0, "log2": log(2), "log10": log(10)}


@with_call_advice("Pass the condition by name: cmi(x, y, dataset, z=name).")
def cmi(
    x: Hashable,
    y: Hashable,
    dataset: AnyTable | Countable,
    *,
    z: Hashable | Sequence[Hashable] | None = None,
    unit: Literal["log", "log2", "log10"] = "log",
    numbers: Numbers = None,
) -> float:
    """Return the (conditional) mutual information of two variables.

    Parameters
    ----------
    x, y : str
        Names of columns.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Only rows with values of all these variables are counted.
    z : str or list of str, optional
        Names of the columns to condition on.
    unit : {"log", "log2", "log10"}, default "log"
        Logarithm: natural gives nats, base 2 bits.
    numbers : "gaussian" or dict, optional
        Numeric columns among `x` and `y` that are kept as numbers: "gaussian"
        selects the columns that `discretize` discretizes by default, a dict
        names columns. They are normally distributed given the other variables.

    Returns
    -------
    float
        .. math:: I(X;Y | Z) = Σ p(x,y,z) ln [p(x,y | z) / (p(x | z) p(y | z))]

        0 or more; 0 if no row is observed.

        If `x` is a number and `y` is not, it is ½ Σ p(z) [ln σ²(z) − Σ p(y | z)
        ln σ²(y, z)], with maximum likelihood variances of `x`; if both are
        numbers, −½ Σ p(z) ln(1 − ρ²(z)) with their correlations. A term with
        variance 0 is 0.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a name is not a column or is given twice, or a column contains
        numbers with fractions.

    Examples
    --------
    >>> from bnclassify import cmi, load_car
    >>> car = load_car()
    >>> round(cmi("persons", "safety", car, z="class"), 6)
    0.031963
    """
    OneOf(_UNITS).check("unit", unit)
    data, (first, second, *others) = _open_columns_to_test(
        x, y, z, dataset, numeric_columns_of(numbers)
    )
    information, _ = mutual_information(data, first, second, others)
    if not len(data):  # known after parts were read
        raise ValueError("dataset must have at least one row; got none.")
    return information / _UNITS[unit]


def _open_columns_to_test(
    x: Hashable,
    y: Hashable,
    z: Hashable | Sequence[Hashable],
    dataset: AnyTable | Countable,
    numeric: Numeric = (),
) -> tuple[Countable, list[int]]:
    """Return the columns x, y and z, and their positions; x and y may be numbers."""
    opened = open_data(dataset)
    for argument, name in {"x": x, "y": y}.items():
        check_column_name(name, argument)
    is_name = isinstance(z, tuple) and z in opened.columns  # a tuple can be the name of one column
    given: Sequence[Hashable] = z if isinstance(z, list | tuple) and not is_name else [z]
    names: list[Hashable] = [x, y] if z is None else [x, y, *given]
    pair = list(dict.fromkeys(names[:2]))
    if isinstance(numeric, tuple):
        numeric = tuple([name for name in pair if name in numeric])
    opened, kept = opened.data_and_numeric_features(numeric, pair, names[2:])
    data = opened.read(Columns(names, numeric=kept, named_by="x, y, z"))
    return data, [data.positions[name] for name in names]


def ci_test(
    x: Hashable,
    y: Hashable,
    dataset: AnyTable | Countable,
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
        Only rows with values of all these variables are counted.
    z : str or list of str, optional
        Names of the columns to condition on.
    test : {"g2", "x2"}, default "g2"
        The statistic: G² of the likelihood-ratio test, or Pearson's X².
    permutations : int, default 0
        Number of permutations of a permutation test, which does not need large
        counts. By default, p is computed from the chi-square distribution.
    rng : int or numpy.random.Generator, optional
        Seed of the permutations.

    Returns
    -------
    pandas.Series
        The ``statistic``, its degrees of freedom ``df``, and ``p``.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a name is not a column or is given twice, or a column contains
        numbers with fractions.

    Notes
    -----
    With e = N_xz N_yz / N_z,

    .. math:: G² = 2 Σ N_{xyz} ln(N_{xyz} / e),  X² = Σ (N_{xyz} − e)² / e

    and (r_x − 1)(r_y − 1) Π r_z degrees of freedom, which count all levels and
    all configurations of z. With small counts, the chi-square distribution is a
    poor approximation. A permutation test permutes y among the rows with the
    same values of z, and p is (1 + the number of permuted tables with a
    statistic at least as large) / (1 + `permutations`) [1]_.

    References
    ----------
    .. [1] Tsamardinos, I., Borboudakis, G. (2010). Permutation testing improves
       Bayesian network learning. ECML PKDD 2010.

    Examples
    --------
    >>> from bnclassify import ci_test, load_car
    >>> car = load_car()
    >>> ci_test("safety", "class", car).round(3)
    statistic    628.067
    df             6.000
    p              0.000
    dtype: float64
    """
    OneOf(STATISTICS).check("test", test)
    count = Whole(most=1_000_000).check("permutations", permutations)
    data, columns = _open_columns_to_test(x, y, z, dataset)
    if len(set(columns)) < len(columns):
        raise ValueError("x, y and z must be different columns; got one of them twice.")
    cells = prod(data.cards[column] for column in columns)
    if cells > _MOST_CELLS:
        raise ValueError(
            f"x, y and z must have a joint table of at most {_MOST_CELLS:,} cells; got {cells:,}. "
            "Condition on fewer variables, or merge rare levels."
        )
    warn_of_fractional_weights(data, test)
    table: Array = contingency_table(data, columns).astype(float)
    if not table.any():
        raise ValueError("dataset must have a row with values of x, y and z; got none.")
    statistic, df, p = independence_test(table, test)
    if count:
        if (table % 1).any():
            raise ValueError(
                "permutations must be 0 if rows have fractional weights. Use whole weights."
            )
        p = permutation_p(table, test, count, check_rng(rng))
    return pd.Series({"statistic": statistic, "df": df, "p": p})
