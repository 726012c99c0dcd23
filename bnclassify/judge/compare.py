"""Tests of whether models differ, by the folds of one data set, or by ranks on many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import copysign, inf, nan, sqrt
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import pandas as pd

from ..metrics import METRICS
from ..tools import special
from ..tools.arrays import TOLERANCE, Array, Mask, normalize
from ..tools.calls import with_call_advice
from ..tools.checks import Flag, Instance, OneOf, Real, Seed, check_rng
from ..tools.messages import listed, warn
from ..tools.parallel import run_tasks, using_jobs
from ..validation import NOT_REFITTED, Scheme, recorded_scheme, values_of_metric

Df: TypeAlias = float | tuple[int, int]
TestResult: TypeAlias = tuple[float, Df, float, float, float]
"""Statistic, degrees of freedom and p (or NaN), or three probabilities; the ends of an interval."""

_LEVEL = 0.95  # of intervals


@with_call_advice("Cross-validate the models first: compare(cv(models, dataset, mean=False)).")
def compare(
    results: pd.DataFrame | Sequence[pd.DataFrame],
    *,
    test: Literal["corrected_t", "5x2cv_t", "5x2cv_f", "bayes_t"] = "corrected_t",
    metric: str | None = None,
    train_size: float | None = None,
    test_size: float | None = None,
    rope: float = 0.01,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Test if models differ on a data set, and estimate the differences.

    Parameters
    ----------
    results : pandas.DataFrame or list of them
        Results of ``cv(..., mean=False)`` for two or more models. Several
        results of the same folds are joined. Results of other programs need one
        row per fold and one column per model.
    test : {"corrected_t", "5x2cv_t", "5x2cv_f", "bayes_t"}, default "corrected_t"
        The corrected resampled t-test, for any cross-validation; Dietterich's
        t-test or Alpaydın's F-test, for five repeats of two folds; or the
        correlated Bayesian t-test, for any cross-validation, which can also
        show that two models are practically equivalent.
    metric : str, optional
        Metric to compare. Required if `results` has several.
    train_size, test_size : float, optional
        Numbers of rows of the training set and of the test set of a fold, for
        "corrected_t" and "bayes_t". Results of `cv` contain them.
    rope : float, default 0.01
        For "bayes_t": two models are practically equivalent if the metric
        differs by at most this much (the region of practical equivalence), 0 or
        more.
    n_jobs : int, optional
        Number of pairs that are tested at the same time, as in `cv`. A test
        takes less than a millisecond, so more than one is useful only for
        thousands of pairs.

    Returns
    -------
    pandas.DataFrame
        One row per pair: the mean ``difference``, first minus second,
        ``statistic``, its degrees of freedom ``df``, the two-sided ``p``,
        ``p_holm``, adjusted for the number of pairs by Holm's method, and
        ``lower`` and ``upper``, the ends of a 95 % interval of the difference,
        without adjustment. With "bayes_t", the posterior probabilities that the
        first model is ``better``, practically ``equivalent`` and ``worse`` are
        in place of the statistic.

    Raises
    ------
    KeyError, TypeError, ValueError
        If several results are of different folds, or the folds do not fit the
        test.

    Notes
    -----
    Training sets of different folds overlap, so the differences are not
    independent, and the usual t-test rejects too often. The page
    :doc:`Formulas </methods>` defines the tests [1]_ [2]_.

    References
    ----------
    .. [1] Nadeau, C., Bengio, Y. (2003). Inference for the generalization
       error. Machine Learning 52.
    .. [2] Corani, G., Benavoli, A. (2015). A Bayesian approach for comparing
       cross-validated algorithms on multiple data sets. Machine Learning 100.

    Examples
    --------
    >>> from bnclassify import aode, compare, cv, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> learners = {"nb": nb, "tan": tan_cl, "aode": aode}
    >>> models = {name: lp(f("class", car), car, smooth=1) for name, f in learners.items()}
    >>> results = cv(models, car, k=5, rng=0, mean=False)
    >>> compare(results).round(3)
    corrected_t of accuracy  difference  statistic  df      p  p_holm  lower  upper
    first second
    nb    tan                    -0.094     -9.374   4  0.001   0.001 -0.122 -0.066
          aode                   -0.057    -17.545   4  0.000   0.000 -0.066 -0.048
    tan   aode                    0.037      4.400   4  0.012   0.012  0.014  0.060
    """
    OneOf(("corrected_t", "5x2cv_t", "5x2cv_f", "bayes_t")).check("test", test)
    Real(least=0).check("rope", rope)
    expected = "a DataFrame of cv(..., mean=False), with one row per fold, or a list of them"
    remedy = "Compare models by compare(cv(models, dataset, mean=False))."
    given = results if isinstance(results, list | tuple) and results else [results]
    check = Instance(pd.DataFrame, expected, remedy).check
    tables: list[pd.DataFrame] = [check("results", table) for table in given]
    schemes = [recorded_scheme(table) for table in tables]
    same_rows = all(table.index.equals(tables[0].index) for table in tables)
    if any(scheme != schemes[0] for scheme in schemes) or not same_rows:
        raise ValueError(
            "results must be of the same folds and metrics; got different ones. Evaluate all "
            "models in one call, cv({...}, dataset, mean=False), or pass the same rng to each call."
        )
    frame = pd.concat(tables, axis=1) if len(tables) > 1 else tables[0]
    kept = {name for table in tables for name in table.attrs.get(NOT_REFITTED, [])}
    if found := [name for name in frame.columns.unique(0) if name in kept]:
        warn(
            f"Model {listed(found)} was not fitted again, and folds can have tested rows with "
            "which it was made, so its results can be too good. Compare it on other rows."
        )
    scheme = recorded_scheme(frame)
    chosen, name = values_of_metric(frame, metric, scheme)
    table = check_results(
        chosen, "results", "numbers with one row per fold and one column per model"
    )
    columns = ["statistic", "df", "p", "lower", "upper"]
    if test in ("5x2cv_t", "5x2cv_f"):
        repeats = [row[0] if isinstance(row, tuple) else None for row in table.index]
        is_grid = len(repeats) == 10 and repeats[::2] == repeats[1::2] and len(set(repeats)) == 5
        if not is_grid or not (
            scheme is None or (scheme.repeats, scheme.k, scheme.is_partition) == (5, 2, True)
        ):
            raise ValueError(
                "test must be 'corrected_t' unless results are of five repeats of two folds, "
                "indexed by (repeat, fold), as from cv(..., k=2, repeats=5, mean=False); got "
                f"results of {scheme or 'other folds'}."
            )
        decide = partial(_five_by_two_test, is_t=test == "5x2cv_t")
    else:
        ratio = ratio_of_test_to_training_rows(len(table), scheme, train_size, test_size)
        decide = partial(_corrected_t_test, ratio=ratio)
    if test == "bayes_t":
        is_loss = name in METRICS and METRICS[str(name)].is_loss
        decide = partial(_bayesian_t_test, ratio=ratio, rope=rope, is_loss=is_loss)
        columns = ["better", "equivalent", "worse", "lower", "upper"]
    pairs, differences = pairwise_differences(table)
    with using_jobs(n_jobs):
        verdicts = [*run_tasks(decide, differences)]
    tests = pd.DataFrame(verdicts, index=pairs, columns=columns)
    tests.insert(0, "difference", [float(d.mean()) for d in differences])
    if test != "bayes_t":
        tests.insert(4, "p_holm", holm_adjusted(tests["p"].to_numpy()).ravel())
        constant = tests.index[tests["p"].isna()]
        if len(constant):
            warn(
                "The statistic is undefined if the difference is the same in all folds: "
                f"{listed([f'{first} and {second}' for first, second in constant])}."
            )
    return tests.rename_axis(columns=test if name is None else f"{test} of {name}")


def pairwise_differences(table: pd.DataFrame) -> tuple[pd.MultiIndex, list[Array]]:
    """Return every pair of columns, in their order, and the differences of the two, (rows,)."""
    index = pd.MultiIndex.from_tuples(
        list(combinations(table.columns, 2)), names=["first", "second"]
    )
    columns = combinations(table.to_numpy(dtype=np.float64).T, 2)
    return index, [np.subtract(first, second) for first, second in columns]


def holm_adjusted(p: Array) -> Array:
    """Adjust p-values for their number by Holm's step-down method; NaN stays NaN.

    >>> holm_adjusted(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p), nan)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]  # NaN are sorted last
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def check_results(results: object, argument: str, contents: str) -> pd.DataFrame:
    """Return a table of numbers with two columns or more, as floats, or raise."""
    table: pd.DataFrame = Instance(pd.DataFrame, f"a DataFrame of {contents}").check(
        argument, results
    )
    if table.shape[1] < 2:
        raise ValueError(
            f"{argument} must have at least two models to compare; got {table.shape[1]}."
        )
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()].unique()
        raise ValueError(
            f"{argument} must name each model once; got {listed(twice)} twice. Rename one."
        )
    wrong, table = [], table.infer_objects()
    for name, column in table.items():
        is_number = pd.api.types.is_any_real_numeric_dtype(column)
        if not is_number or not np.isfinite(column.astype(float)).all():
            wrong.append(name)
    if wrong:
        raise ValueError(
            f"{argument} must be a DataFrame of {contents}, all finite; got other values in "
            f"{listed(wrong, most=8)}. Drop missing values with dropna()."
        )
    return table.astype(float)


def _result_of_t_test(effect: float, error: float, df: int) -> TestResult:
    statistic, reach = effect / error, error * t_half_width(df, _LEVEL)
    p = 2 * float(special.stdtr(df, -abs(statistic)))
    return statistic, df, p, effect - reach, effect + reach


def t_half_width(df: int, level: float) -> float:
    """Return the half width, in standard errors, of an interval by Student's t."""
    return float(special.stdtrit(df, (1 + level) / 2))


def _result_of_equal_differences(d: Array, df: Df) -> TestResult:
    """Decide on equal differences: p is 1 if they are 0, and undefined if they are not."""
    mean, are_zero = float(d.mean()), np.abs(d).max() <= TOLERANCE
    statistic, p = (0.0, 1.0) if are_zero else (nan, nan)
    return statistic, df, p, mean, mean


def ratio_of_test_to_training_rows(
    folds: int, scheme: Scheme | None, train_size: float | None, test_size: float | None
) -> float:
    """Return the number of test rows per training row, or raise if it is unknown."""
    if folds < 2:
        raise ValueError("results must be of at least two folds; got 1. Use cv with k=10.")
    trained = scheme.train_size if scheme and train_size is None else train_size
    tested = scheme.test_size if scheme and test_size is None else test_size
    if trained is None or tested is None:
        raise ValueError(
            "train_size and test_size must be given for results of other programs; got None. They "
            "are the numbers of rows of the training set and of the test set of a fold."
        )
    for name, size in {"train_size": trained, "test_size": tested}.items():
        Real(above=0).check(name, size)
    return tested / trained


def _corrected_t_test(d: Array, ratio: float) -> TestResult:
    if np.ptp(d) <= TOLERANCE:
        return _result_of_equal_differences(d, len(d) - 1)
    return _result_of_t_test(float(d.mean()), corrected_error(d, ratio), len(d) - 1)


def corrected_error(values: Array, ratio: float) -> float:
    """Return Nadeau and Bengio's standard error of the mean of values in folds."""
    return sqrt((1 / len(values) + ratio) * float(values.var(ddof=1)))


def _bayesian_t_test(d: Array, ratio: float, rope: float, is_loss: bool) -> TestResult:
    """Return P(better), P(equivalent), P(worse) and a credible interval of the difference."""
    mean, df = float(d.mean()), len(d) - 1
    if np.ptp(d) <= TOLERANCE:  # the posterior is a point mass at the mean
        above, below = float(mean > rope + TOLERANCE), float(mean < -rope - TOLERANCE)
        reach = 0.0
    else:
        error = corrected_error(d, ratio)
        above = float(special.stdtr(df, (mean - rope) / error))
        below = float(special.stdtr(df, (-rope - mean) / error))
        reach = error * t_half_width(df, _LEVEL)
    better, worse = (below, above) if is_loss else (above, below)
    return better, 1 - above - below, worse, mean - reach, mean + reach


def _five_by_two_test(d: Array, *, is_t: bool) -> TestResult:
    """Return Dietterich's t-test, or Alpaydın's F-test, of differences in 5 repeats of 2 folds."""
    # Dietterich: t = d₁ / √(Σ s² / 5), where s² = (d₁ − d₂)² / 2 is the variance of two folds of a
    # repeat.
    spreads: Array = np.abs(d[::2] - d[1::2])
    if spreads.max() <= TOLERANCE:
        return _result_of_equal_differences(d, 5 if is_t else (10, 5))
    within = float(spreads @ spreads) / 2
    if is_t:
        return _result_of_t_test(float(d[0]), sqrt(within / 5), 5)
    statistic, mean = float(d @ d) / (2 * within), float(d.mean())
    room = 2 * within * float(special.fdtri(10, 5, _LEVEL)) - float(d.var() * len(d))
    reach = sqrt(room / 10) if room >= 0 else nan
    return statistic, (10, 5), float(special.fdtrc(10, 5, statistic)), mean - reach, mean + reach


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
        # 0.5: strength of the pseudo-observation of the Bayesian test
        weights = check_rng(rng).dirichlet([0.5, *np.ones(len(figures))], 20_000)
        pairs, differences = pairwise_differences(figures)
        rows = []
        for d in differences:
            z = np.array([0.0, *d.round(_DECIMALS)])
            sums: Array = z[:, None] + z
            limit = 2 * rope + TOLERANCE
            regions: list[Mask] = [sums > limit, np.abs(sums) <= limit, sums < -limit]
            mass = np.stack(
                [np.einsum("si,si->s", weights @ region, weights) for region in regions]
            )
            largest: Mask = mass >= mass.max(axis=0) - TOLERANCE
            shares: list[float] = normalize(largest.astype(np.float64)).mean(axis=1).tolist()
            above, between, below = shares
            better, worse = (below, above) if lower_is_better else (above, below)
            ends: list[float] = np.quantile(weights @ z, [0.025, 0.975]).tolist()
            rows.append((float(z[1:].mean()), better, between, worse, *ends))
        columns = ["difference", "better", "equivalent", "worse", "lower", "upper"]
        return pd.DataFrame(rows, index=pairs, columns=columns)
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
