"""Tests on ranks, of whether models differ over many data sets."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arrays import TOLERANCE, Array
from ..base.checks import check_flag, check_real
from ..base.messages import shown
from .comparison import check_table, holm, pairs_of
from .schemes import scheme_of

_DECIMALS = 10  # 0.75 − 0.73 and 0.58 − 0.56 are the same difference


@dataclass(frozen=True, eq=False, repr=False)
class RankComparison:
    """What `compare_ranks` found.

    Attributes
    ----------
    ranks : pandas.Series
        The average rank of each model; 1 is best.
    chi2, p : float
        Friedman's statistic, without a correction for ties, and its p-value.
    f, p_f : float
        The statistic of Iman and Davenport, which follows from it, and its p-value.
    critical_difference : float
        By which average ranks of two models must differ, after Nemenyi.
    nemenyi : pandas.Series
        The p-value of each pair's difference of average ranks.
    wilcoxon : pandas.DataFrame
        Wilcoxon's signed-rank test of each pair: ``w_plus`` and ``w_minus``, the sums of the ranks
        of positive and negative differences, first minus second, ``z``, ``p`` and ``p_holm``.
    alpha : float
        The level of ``critical_difference``.
    datasets : int
        Their number.
    """

    ranks: pd.Series[Any]
    chi2: float
    p: float
    f: float
    p_f: float
    critical_difference: float
    nemenyi: pd.Series[Any]
    wilcoxon: pd.DataFrame
    alpha: float
    data_sets: int

    def __repr__(self) -> str:
        k, n = len(self.ranks), self.data_sets
        p = {
            "nemenyi": self.nemenyi,
            "wilcoxon": self.wilcoxon["p"],
            "wilcoxon, holm": self.wilcoxon["p_holm"],
        }
        return "\n".join(
            [
                f"Average ranks of {k} models over {n} data sets, 1 is best",
                self.ranks.sort_values(kind="stable").round(3).to_string(),
                "",
                f"Friedman        chi2({k - 1}) = {self.chi2:.4g}, p = {self.p:.3g}",
                f"Iman-Davenport  F({k - 1}, {(k - 1) * (n - 1)}) = {self.f:.4g}, p = {self.p_f:.3g}",
                f"Nemenyi         critical difference {self.critical_difference:.4g} at {self.alpha:g}",
                "",
                pd.DataFrame(p).rename_axis(columns="p of pairs").round(4).to_string(),
            ]
        )


def compare_ranks(
    table: pd.DataFrame, *, alpha: float = 0.05, lower_is_better: bool = False
) -> RankComparison:
    """Test whether models differ in general, by their ranks on many data sets.

    Parameters
    ----------
    table : pandas.DataFrame
        A row a data set, a column a model; one figure of each model on each data set, such as the
        mean accuracy of its cross-validation.
    alpha : float, default 0.05
        The level of the critical difference.
    lower_is_better : bool, default False
        Whether figures are losses.

    Returns
    -------
    RankComparison
        Prints itself. Its fields: ``ranks``, the average ranks; Friedman's ``chi2`` and ``p``, Iman and
        Davenport's ``f`` and ``p_f``, of all models at once; ``critical_difference`` and ``nemenyi``, a
        Series of p-values by pair, for every pair; ``wilcoxon``, a DataFrame by pair, for a pair on its own
        or, with ``p_holm``, for all. Pairs are indexed by first and second in the order of columns.

    Raises
    ------
    TypeError
        If ``table`` is no DataFrame of numbers.
    ValueError
        If there is only one model or one data set, a figure is missing, rows are folds of one data
        set, or ``alpha`` is not between 0 and 1.

    Notes
    -----
    On each of N data sets the best of k models has rank 1, and tied ones share the mean of their
    ranks; figures that agree in ten decimals are tied. With R̄ⱼ the average ranks,

    - Friedman: χ² = 12N / (k(k+1)) · [Σⱼ R̄ⱼ² − k(k+1)²/4], k − 1 degrees of freedom, without a
      correction for ties;
    - Iman and Davenport: F = (N−1)χ² / (N(k−1) − χ²), k − 1 and (k−1)(N−1) degrees of freedom;
    - Nemenyi: two models differ if their average ranks do by q √(k(k+1) / 6N) or more, √2 q the
      quantile of the studentized range of k at infinitely many degrees of freedom;
    - Wilcoxon: of the differences that are not 0, z = (W₊ − μ − ½ sign(W₊ − μ)) / σ, μ = n(n+1)/4,
      σ² = n(n+1)(2n+1)/24 − Σ(t³ − t)/48 over groups of t that are tied, and p by the normal distribution.
      Without any such difference z is 0 and p is 1.

    The data sets are the sample: folds of one data set tell nothing of others. For those see `compare`.

    References
    ----------
    .. [1] Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal
       of Machine Learning Research 7.
    .. [2] Iman, R. L., Davenport, J. M. (1980). Approximations of the critical region of the Friedman
       statistic. Communications in Statistics 9.
    .. [3] Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import compare_ranks
    >>> accuracy = pd.DataFrame({"nb": [0.87, 0.90, 0.73, 0.78, 0.94], "tan": [0.94, 0.94, 0.75, 0.78, 0.95],
    ...                          "aode": [0.92, 0.94, 0.76, 0.79, 0.96]})
    >>> compare_ranks(accuracy)
    Average ranks of 3 models over 5 data sets, 1 is best
    aode    1.3
    tan     1.8
    nb      2.9
    <BLANKLINE>
    Friedman        chi2(2) = 6.7, p = 0.0351
    Iman-Davenport  F(2, 8) = 8.121, p = 0.0119
    Nemenyi         critical difference 1.482 at 0.05
    <BLANKLINE>
    p of pairs    nemenyi  wilcoxon  wilcoxon, holm
    first second
    nb    tan      0.1906    0.1003          0.2007
          aode     0.0307    0.0591          0.1772
    tan   aode     0.7088    0.8501          0.8501
    """
    figures = check_table(table, "table", "figures, a row a data set and a column a model")
    check_flag("lower_is_better", lower_is_better)
    if not 0 < check_real("alpha", alpha, 0) < 1:
        raise ValueError(f"alpha: expected a level between 0 and 1, got {shown(alpha)}")
    _check_data_sets(table)
    values = figures.round(_DECIMALS).to_numpy()
    n, k = values.shape
    ranks = stats.rankdata(values if lower_is_better else -values, axis=1).mean(axis=0)
    chi2 = max(12 * n / (k * (k + 1)) * (float((ranks**2).sum()) - k * (k + 1) ** 2 / 4), 0.0)
    residual = n * (k - 1) - chi2
    f = (n - 1) * chi2 / residual if residual > TOLERANCE else inf  # all data sets rank the models alike
    pairs = pairs_of(figures)
    ranked = pd.Series(ranks, index=figures.columns, name="rank")
    unit = sqrt(k * (k + 1) / (6 * n))
    distances = np.array([abs(ranked[first] - ranked[second]) for first, second in pairs])
    return RankComparison(
        ranks=ranked,
        chi2=chi2,
        p=float(stats.chi2.sf(chi2, k - 1)),
        f=f,
        p_f=float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        critical_difference=float(stats.studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2) * unit,
        nemenyi=pd.Series(_range_sf(distances / unit * sqrt(2), k), index=pairs, name="p"),
        wilcoxon=_signed_ranks(figures, pairs),
        alpha=float(alpha),
        data_sets=n,
    )


def _check_data_sets(table: pd.DataFrame) -> None:
    if len(table) < 2:
        raise ValueError(f"table: expected two data sets or more, a row each, got {len(table)}")
    if table.columns.nlevels > 1:
        raise ValueError("table: expected a column a model; of several metrics compare one at a time")
    if scheme_of(table) is not None and "fold" in table.index.names:
        raise ValueError(
            "table: rows are folds of one data set, not data sets; compare(results) is for those. For "
            "several, make a row of each data set's cv(models, dataset)"
        )


def _range_sf(statistic: Array, k: int) -> Array:
    """Upper tail of the studentized range of k, at infinitely many degrees of freedom."""
    return np.clip(stats.studentized_range.sf(statistic, k, inf), 0.0, 1.0)


def _signed_ranks(figures: pd.DataFrame, pairs: pd.MultiIndex) -> pd.DataFrame:
    """Return Wilcoxon's test of each pair."""
    rows = [_wilcoxon((figures[a] - figures[b]).round(_DECIMALS).to_numpy()) for a, b in pairs]
    tests = pd.DataFrame(rows, index=pairs, columns=["w_plus", "w_minus", "z", "p"])
    return tests.assign(p_holm=holm(tests["p"].to_numpy()))


def _wilcoxon(differences: Array) -> tuple[float, float, float, float]:
    """Return the sums of ranks of positive and of negative differences, z and its two-sided p."""
    d = differences[differences != 0]
    n = len(d)
    ranks = stats.rankdata(np.abs(d))
    plus, minus = float(ranks[d > 0].sum()), float(ranks[d < 0].sum())
    if not n:
        return plus, minus, 0.0, 1.0
    ties = np.unique(ranks, return_counts=True)[1].astype(float)
    sigma = sqrt(n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48)
    excess = plus - n * (n + 1) / 4
    z = (excess - 0.5 * np.sign(excess)) / sigma
    return plus, minus, float(z), 2 * float(stats.norm.sf(abs(z)))
