"""Tests of whether models differ over many data sets, by their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import copysign, inf, sqrt
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from ..tools import special
from ..tools.arrays import TOLERANCE, Array, Mask, normalize
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, OneOf, Real, Seed, check_rng
from ..validation import recorded_scheme
from .compare import check_results, holm_adjusted, pairwise_differences

_DECIMALS = 10  # 0.75 − 0.73 and 0.58 − 0.56 are the same difference


@dataclass(frozen=True, eq=False, repr=False)
class RankComparison:
    """Result of `compare_ranks`; see there for the fields."""

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
                f"Iman-Davenport  F({k - 1}, {(k - 1) * (n - 1)}) = {self.f:.4g}, "
                f"p = {self.p_f:.3g}",
                "Nemenyi         critical difference "
                f"{self.critical_difference:.4g} at {self.alpha:g}",
                "",
                pd.DataFrame(p).rename_axis(columns="p of pairs").round(4).to_string(),
            ]
        )


@overload
def compare_ranks(
    table: pd.DataFrame,
    *,
    test: Literal["friedman"] = "friedman",
    alpha: float = 0.05,
    lower_is_better: bool = False,
) -> RankComparison: ...
@overload
def compare_ranks(
    table: pd.DataFrame,
    *,
    test: Literal["bayes"],
    lower_is_better: bool = False,
    rope: float = 0.01,
    rng: Seed = 0,
) -> pd.DataFrame: ...
@with_call_advice("Pass one table, with one row per data set and one column per model.")
def compare_ranks(
    table: pd.DataFrame,
    *,
    test: Literal["friedman", "bayes"] = "friedman",
    alpha: float = 0.05,
    lower_is_better: bool = False,
    rope: float = 0.01,
    rng: Seed = 0,
) -> RankComparison | pd.DataFrame:
    """Test whether models differ in general, by their ranks on many data sets.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per data set and one column per model, with the performance of
        the model on the data set, such as its mean cross-validated accuracy.
    test : {"friedman", "bayes"}, default "friedman"
        Friedman's test of all models and the tests of pairs that follow it, or
        the Bayesian signed-rank test of each pair, which can also show that two
        models are practically equivalent.
    alpha : float, default 0.05
        Significance level of the critical difference.
    lower_is_better : bool, default False
        If True, `table` contains losses.
    rope : float, default 0.01
        For "bayes": two models are practically equivalent on a data set if they
        differ by at most this much, 0 or more.
    rng : int or numpy.random.Generator, default 0
        Seed of the draws of "bayes".

    Returns
    -------
    RankComparison
        Its fields are ``ranks``, the average ranks; Friedman's ``chi2`` and
        ``p`` and Iman and Davenport's ``f`` and ``p_f``, which test all models
        together; ``critical_difference`` and ``nemenyi``, with one p-value per
        pair; and ``wilcoxon``, with one row per pair and ``p_holm``, adjusted
        for their number.
    pandas.DataFrame
        With "bayes", one row per pair: the mean ``difference``, first minus
        second, the posterior probabilities that the first model is ``better``,
        practically ``equivalent`` and ``worse`` on data sets like these, and
        ``lower`` and ``upper``, the ends of a 95 % credible interval of the
        mean.

    Raises
    ------
    TypeError, ValueError
        If a value of `table` is missing, there is only one model or one data
        set, or rows are folds of one data set, which `compare` tests.

    Notes
    -----
    On each data set, the best model has rank 1, and tied models share the mean
    of their ranks. The page :doc:`Formulas </methods>` defines the tests [1]_
    [2]_.

    References
    ----------
    .. [1] Demšar, J. (2006). Statistical comparisons of classifiers over
       multiple data sets. Journal of Machine Learning Research 7.
    .. [2] Benavoli, A., Corani, G., Demšar, J., Zaffalon, M. (2017). Time for a
       change: a tutorial for comparing multiple classifiers through Bayesian
       analysis. Journal of Machine Learning Research 18.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnclassify import compare_ranks
    >>> accuracy = pd.DataFrame({"nb": [0.87, 0.90, 0.73, 0.78, 0.94],
    ...                          "tan": [0.94, 0.94, 0.75, 0.78, 0.95],
    ...                          "aode": [0.92, 0.94, 0.76, 0.79, 0.96]})
    >>> found = compare_ranks(accuracy)
    >>> found.ranks.to_dict(), round(found.p, 4)
    ({'nb': 2.9, 'tan': 1.8, 'aode': 1.3}, 0.0351)
    >>> compare_ranks(accuracy, test="bayes").loc[[("tan", "aode")]].round(2)
                  difference  better  equivalent  worse  lower  upper
    first second
    tan   aode          -0.0     0.0         1.0    0.0  -0.01   0.01
    """
    OneOf(("friedman", "bayes")).check("test", test)
    Real(least=0).check("rope", rope)
    figures = check_results(
        table, "table", "numbers with one row per data set and one column per model"
    )
    Flag().check("lower_is_better", lower_is_better)
    Real(above=0, below=1).check("alpha", alpha)
    if len(table) < 2:
        raise ValueError(f"table must have at least two data sets, one per row; got {len(table)}.")
    if table.columns.nlevels > 1 or (
        recorded_scheme(table) is not None and "fold" in table.index.names
    ):
        raise ValueError(
            "table must have one row per data set and one column per model; got several metrics, "
            "or the folds of one data set, which compare(results) compares."
        )
    if test == "bayes":
        return _compare_signed_ranks(figures, lower_is_better, rope, check_rng(rng))
    from scipy.stats import studentized_range  # slow to import

    n, k = figures.shape
    ranks_by_table = figures.round(_DECIMALS).rank(axis=1, ascending=lower_is_better)
    ranks: Array = ranks_by_table.to_numpy().mean(axis=0)
    chi2 = max(12 * n / (k * (k + 1)) * (float((ranks**2).sum()) - k * (k + 1) ** 2 / 4), 0.0)
    residual = n * (k - 1) - chi2
    # All data sets have the same ranks.
    f = (n - 1) * chi2 / residual if residual > TOLERANCE else inf
    pairs, differences = pairwise_differences(figures)
    unit = sqrt(k * (k + 1) / (6 * n))
    distances = np.array([abs(first - second) for first, second in combinations(ranks.tolist(), 2)])
    tests = pd.DataFrame(
        [*map(_wilcoxon_test, differences)], index=pairs, columns=["w_plus", "w_minus", "z", "p"]
    )
    tails = studentized_range.sf(distances / unit * sqrt(2), k, inf)
    return RankComparison(
        ranks=pd.Series(ranks, index=figures.columns, name="rank"),
        chi2=chi2,
        p=float(special.chdtrc(k - 1, chi2)),
        f=f,
        p_f=float(special.fdtrc(k - 1, (k - 1) * (n - 1), f)),
        critical_difference=float(studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2) * unit,
        nemenyi=pd.Series(np.clip(tails, 0.0, 1.0), index=pairs, name="p"),
        wilcoxon=tests.assign(p_holm=holm_adjusted(tests["p"].to_numpy())),
        alpha=float(alpha),
        data_sets=n,
    )


def _compare_signed_ranks(
    figures: pd.DataFrame, lower_is_better: bool, rope: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the probabilities of the Bayesian signed-rank test of each pair, by shared weights."""
    # 0.5: strength of the pseudo-observation of the Bayesian test
    weights = rng.dirichlet([0.5, *np.ones(len(figures))], 20_000)
    pairs, differences = pairwise_differences(figures)
    rows = []
    for d in differences:
        z = np.array([0.0, *d.round(_DECIMALS)])
        sums: Array = z[:, None] + z
        limit = 2 * rope + TOLERANCE
        regions: list[Mask] = [sums > limit, np.abs(sums) <= limit, sums < -limit]
        mass = np.stack([np.einsum("si,si->s", weights @ region, weights) for region in regions])
        largest: Mask = mass >= mass.max(axis=0) - TOLERANCE
        shares: list[float] = normalize(largest.astype(np.float64)).mean(axis=1).tolist()
        above, between, below = shares
        better, worse = (below, above) if lower_is_better else (above, below)
        ends: list[float] = np.quantile(weights @ z, [0.025, 0.975]).tolist()
        rows.append((float(z[1:].mean()), better, between, worse, *ends))
    columns = ["difference", "better", "equivalent", "worse", "lower", "upper"]
    return pd.DataFrame(rows, index=pairs, columns=columns)


def _wilcoxon_test(differences: Array) -> tuple[float, float, float, float]:
    """Return the sums of ranks of positive and of negative differences, z and its two-sided p."""
    rounded = differences.round(_DECIMALS)
    d: Array = rounded[rounded != 0]
    n = len(d)
    ranks: Array = np.asarray(pd.Series(np.abs(d)).rank(), dtype=np.float64)
    plus, minus = float(ranks[d > 0].sum()), float(ranks[d < 0].sum())
    if not n:
        return plus, minus, 0.0, 1.0
    ties: Array = np.unique(ranks, return_counts=True)[1].astype(np.float64)
    sigma = sqrt(n * (n + 1) * (2 * n + 1) / 24 - float(np.sum(ties**3 - ties)) / 48)
    excess = plus - n * (n + 1) / 4
    z = (excess - copysign(0.5, excess)) / sigma if excess else 0.0
    # 25: number of differences up to which Wilcoxon's test is exact
    p = _exact_wilcoxon_p(ranks, min(plus, minus)) if n <= 25 else 2 * float(special.ndtr(-abs(z)))
    return plus, minus, z, p


def _exact_wilcoxon_p(ranks: Array, smaller: float) -> float:
    """Return the two-sided p of the smaller sum of ranks, over all assignments of signs.

    >>> _exact_wilcoxon_p(np.array([1.0, 2.0, 3.0, 4.5, 4.5]), 0.0)
    0.0625
    """
    doubled = (2 * ranks).astype(int)  # whole numbers, because tied ranks are halves
    assignments = np.zeros(int(doubled.sum()) + 1)  # by doubled sum of ranks
    assignments[0] = 1
    for rank in map(int, doubled):
        assignments[rank:] += assignments[:-rank].copy()
    tail = float(assignments[: int(2 * smaller) + 1].sum()) / 2.0 ** len(ranks)
    return min(1.0, 2 * tail)
