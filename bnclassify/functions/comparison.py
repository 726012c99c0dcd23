"""Tests of whether two models differ, for every pair of those that cross-validation has judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from math import nan, sqrt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import stats

from ..base.arrays import TOLERANCE, Array
from ..base.checks import check_choice, check_real
from ..base.messages import listed, shown, warn
from .schemes import Scheme, choose_metric, scheme_of

Verdict: TypeAlias = tuple[float, Any, float]
"""Statistic, degrees of freedom and p-value; two NaN where the statistic is not defined."""


def compare(
    results: pd.DataFrame | Sequence[pd.DataFrame],
    *,
    test: str = "corrected_t",
    metric: str | None = None,
    train_size: float | None = None,
    test_size: float | None = None,
) -> pd.DataFrame:
    """Test for every pair of models whether they differ on one data set.

    Parameters
    ----------
    results : pandas.DataFrame or list of them
        What ``cv(..., mean=False)`` returns for two models or more; several of them, if they are of the
        same folds, are put side by side. Or figures made elsewhere: a row a fold, indexed by fold or by
        (repeat, fold), a column a model or columns (model, metric).
    test : {"corrected_t", "5x2cv_t", "5x2cv_f"}, default "corrected_t"
        The corrected resampled t-test, for cross-validation of any kind; Dietterich's t-test or
        Alpaydın's F-test, for five repeats of two folds.
    metric : str, optional
        Which, if ``results`` has several.
    train_size, test_size : float, optional
        Of results made elsewhere, how many rows a fold learned from and was tested on, for the
        corrected test; those of `cv` know.

    Returns
    -------
    pandas.DataFrame
        A row a pair, indexed by first and second in the order of columns: the mean
        ``difference``, first minus second, ``statistic``, its degrees of freedom ``df``, the
        two-sided ``p``, and ``p_holm``, which pays by Holm's method for asking once for every pair.

    Raises
    ------
    TypeError
        If ``results`` is no such frame or holds no numbers.
    ValueError
        If there is only one model or one fold, values are missing, several results are of
        different folds, the test does not fit how they were made, or sizes are needed and not given.

    Warns
    -----
    UserWarning
        If the differences of two models do not vary, so that there is no statistic.

    Notes
    -----
    Folds share rows they learned from, so their differences d are not independent, and the usual
    t-test finds too much. With J folds in all, n rows tested and m learned from in each,

    - ``corrected_t``: t = d̄ / √((1/J + n/m) s²), s² their variance, J − 1 degrees of freedom;
    - ``5x2cv_t``: t = d₁₁ / √(Σᵢ sᵢ² / 5), sᵢ² = (dᵢ₁ − d̄ᵢ)² + (dᵢ₂ − d̄ᵢ)² in repeat i, 5 degrees of freedom;
    - ``5x2cv_f``: F = Σᵢⱼ dᵢⱼ² / (2 Σᵢ sᵢ²), 10 and 5 degrees of freedom.

    Where all differences are 0 the statistic is 0 and p is 1.

    References
    ----------
    .. [1] Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.
    .. [2] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10.
    .. [3] Alpaydın, E. (1999). Combined 5 × 2 cv F test for comparing supervised classification
       learning algorithms. Neural Computation 11.
    .. [4] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
       Journal of Statistics 6.

    Examples
    --------
    >>> from bnclassify import aode, compare, cv, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> learners = {"nb": nb, "tan": tan_cl, "aode": aode}
    >>> models = {name: lp(learner("class", car), car, smooth=1) for name, learner in learners.items()}
    >>> compare(cv(models, car, k=5, rng=0, mean=False)).round(3)
    corrected_t of accuracy  difference  statistic  df      p  p_holm
    first second
    nb    tan                    -0.094     -9.374   4  0.001   0.001
          aode                   -0.057    -17.545   4  0.000   0.000
    tan   aode                    0.037      4.400   4  0.012   0.012
    """
    check_choice("test", test, _TESTS)
    frame = _side_by_side(results)
    scheme = scheme_of(frame)
    chosen, name = choose_metric(frame, metric, scheme)
    table = check_table(chosen, "results", "figures, a row a fold and a column a model")
    decide = _TESTS[test](table, scheme, (train_size, test_size))
    differences = {pair: (table[pair[0]] - table[pair[1]]).to_numpy() for pair in pairs_of(table)}
    verdicts = [decide(d) for d in differences.values()]
    tests = pd.DataFrame(verdicts, index=pairs_of(table), columns=["statistic", "df", "p"])
    tests.insert(0, "difference", [d.mean() for d in differences.values()])
    tests["p_holm"] = holm(tests["p"].to_numpy())
    _warn_of_undecided(tests)
    return tests.rename_axis(columns=test if name is None else f"{test} of {name}")


def pairs_of(table: pd.DataFrame) -> pd.MultiIndex:
    """Return every pair of columns, in their order."""
    return pd.MultiIndex.from_tuples(list(combinations(table.columns, 2)), names=["first", "second"])


def holm(p: Array) -> Array:
    """Adjust p-values for their number by Holm's step-down method; those that are NaN stay so.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p), nan)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]  # NaN are sorted last
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def check_table(table: object, argument: str, contents: str) -> pd.DataFrame:
    """Return a table of numbers with two columns or more, as floats, or raise."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"{argument}: expected a DataFrame of {contents}, got {type(table).__name__}")
    if table.shape[1] < 2:
        raise ValueError(f"{argument}: expected two models or more to compare, got {table.shape[1]}")
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()].unique()
        raise ValueError(f"{argument}: there are two models of the same name, {listed(twice)}; rename one")
    kinds = zip(table.columns, table.dtypes, strict=True)
    wrong = [name for name, kind in kinds if not pd.api.types.is_any_real_numeric_dtype(kind)]
    if wrong:
        raise TypeError(
            f"{argument}: expected {contents}, but there are no numbers in column {listed(wrong)}"
        )
    numbers = table.astype(float)
    absent = ~np.isfinite(numbers.to_numpy())
    if absent.any():
        raise ValueError(
            f"{argument}: {np.count_nonzero(absent)} figures are missing or infinite, in column "
            f"{listed(table.columns[absent.any(axis=0)])}; leave out those columns or, with .dropna(), rows"
        )
    return numbers


def _side_by_side(results: object) -> pd.DataFrame:
    """Return results as one table; several must be of the same folds."""
    tables: list[pd.DataFrame] = []
    for table in results if isinstance(results, list | tuple) and results else [results]:
        if not isinstance(table, pd.DataFrame):
            raise TypeError(
                "results: expected what cv(..., mean=False) returns, a DataFrame with a row a fold and a "
                f"column a model, or a list of such, got {type(table).__name__}"
            )
        tables.append(table)
    schemes = [scheme_of(table) for table in tables]
    same_rows = all(table.index.equals(tables[0].index) for table in tables)
    if any(scheme != schemes[0] for scheme in schemes) or not same_rows:
        raise ValueError(
            "results: these are not of the same folds and metrics, so models cannot be compared fold by "
            "fold; judge all in one call, cv({...}, dataset, mean=False), or give each call the same seed"
        )
    return pd.concat(tables, axis=1) if len(tables) > 1 else tables[0]


def _warn_of_undecided(tests: pd.DataFrame) -> None:
    constant = tests.index[tests["p"].isna()]
    if len(constant):
        warn(
            "results: where the difference does not vary from fold to fold there is no statistic: "
            f"{listed([f'{first} and {second}' for first, second in constant])}"
        )


def _t_verdict(effect: float, error: float, df: int) -> Verdict:
    statistic = effect / error
    return statistic, df, 2 * float(stats.t.sf(abs(statistic), df))


def _constant(d: Array, df: Any) -> Verdict:
    """Decide on differences that do not vary: none at all are no evidence, others have no statistic."""
    return (0.0, df, 1.0) if np.abs(d).max() <= TOLERANCE else (nan, df, nan)


def _corrected_t(
    table: pd.DataFrame, scheme: Scheme | None, sizes: tuple[float | None, float | None]
) -> Callable[[Array], Verdict]:
    """Return the corrected resampled t-test for differences in the rows of a table."""
    if len(table) < 2:
        raise ValueError("results: one fold tells of no spread, so no test fits; cv with k=10 gives ten")
    scheme_sizes = (scheme.train_size, scheme.test_size) if scheme else (None, None)
    trained, tested = (
        size if size is not None else scheme_size
        for size, scheme_size in zip(sizes, scheme_sizes, strict=True)
    )
    if trained is None or tested is None:
        raise ValueError(
            "train_size, test_size: results do not tell how they were made (those that cv returns do, also "
            "beside others of the same folds); say how many rows a fold learned from and was tested on"
        )
    for name, size in {"train_size": trained, "test_size": tested}.items():
        if check_real(name, size, 0, kind="a number of rows") == 0:
            raise ValueError(f"{name}: expected a number of rows above 0, got {shown(size)}")
    return partial(_corrected_t_of, ratio=tested / trained)


def _corrected_t_of(d: Array, ratio: float) -> Verdict:
    if np.ptp(d) <= TOLERANCE:
        return _constant(d, len(d) - 1)
    return _t_verdict(float(d.mean()), sqrt((1 / len(d) + ratio) * d.var(ddof=1)), len(d) - 1)


def _five_by_two(
    table: pd.DataFrame,
    scheme: Scheme | None,
    _: tuple[float | None, float | None],
    *,
    decide: Callable[[Array], Verdict],
) -> Callable[[Array], Verdict]:
    """Return a test for differences in five repeats of two folds."""
    repeats = [row[0] if isinstance(row, tuple) else None for row in table.index]
    is_grid = len(repeats) == 10 and repeats[::2] == repeats[1::2] and len(set(repeats)) == 5
    if not is_grid or not (scheme is None or (scheme.repeats, scheme.k, scheme.is_partition) == (5, 2, True)):
        sizes = "" if scheme else ", with train_size= and test_size="
        origin = f"{len(table)} rows"
        if scheme:
            origin = str(scheme) if len(table) == scheme.repeats * scheme.k else f"{origin} out of {scheme}"
        raise ValueError(
            "test: this one is for five repeats of two folds, rows indexed by (repeat, fold), as cv(..., "
            f"k=2, repeats=5, mean=False) gives, and results are of {origin}; "
            f"test='corrected_t' fits these{sizes}"
        )
    return lambda differences: decide(differences.reshape(5, 2))


def _variance_within(d: Array) -> float:
    """Sum over the repeats of the squared deviations of their two differences from their mean."""
    return float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())


def _dietterich(d: Array) -> Verdict:
    if np.ptp(d, axis=1).max() <= TOLERANCE:
        return _constant(d, 5)
    return _t_verdict(float(d[0, 0]), sqrt(_variance_within(d) / 5), 5)


def _alpaydin(d: Array) -> Verdict:
    if np.ptp(d, axis=1).max() <= TOLERANCE:
        return _constant(d, (10, 5))
    statistic = float((d**2).sum()) / (2 * _variance_within(d))
    return statistic, (10, 5), float(stats.f.sf(statistic, 10, 5))


_TESTS: dict[str, Callable[..., Callable[[Array], Verdict]]] = {
    "corrected_t": _corrected_t,
    "5x2cv_t": partial(_five_by_two, decide=_dietterich),
    "5x2cv_f": partial(_five_by_two, decide=_alpaydin),
}
"""By name, what checks that a test fits a table and returns the test of differences in its rows."""
