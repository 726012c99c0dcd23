"""Latent class analysis: a naive Bayes whose class is not observed, by EM from random starts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from math import log as ln
from math import prod

import numpy as np

from ..classifiers import BNC
from ..frames import AnyTable, check_have_levels, open_data
from ..model import Step, TrainingRows, replace_unchecked
from ..structure import network
from ..tools.arrays import Array, Positions, log, log_sum_exp, normalize, one_thread
from ..tools.checks import ListOf, Real, Seed, Whole, check_column_name, check_rng, must_be
from ..tools.immutable import record
from ..tools.messages import warn
from .em import Run, run_em, warn_if_not_converged


@record
def lca(
    class_var: Hashable,
    dataset: AnyTable,
    *,
    k: int | Iterable[int],
    smooth: float = 1,
    restarts: int = 10,
    rng: Seed = None,
) -> BNC:
    """Find groups of rows by latent class analysis.

    The model is a naive Bayes whose class is not observed.

    Parameters
    ----------
    class_var : str
        Name of the new variable, different from the columns of `dataset`. Its
        labels are 1, 2, …, k in descending order of their shares of the rows.
    dataset : pandas.DataFrame or Dataset
        Categorical data. All columns are features. Missing values are
        marginalized over.
    k : int or list of int
        Number of classes, at most 1000, or candidates such as ``range(2, 7)``;
        the number with the largest BIC is chosen.
    smooth : float, default 1
        Dirichlet hyperparameter added to every expected count; 0 gives
        maximum-likelihood estimates.
    restarts : int, default 10
        Number of random starts for each number of classes. The best result is
        returned.
    rng : int or numpy.random.Generator, optional
        Seed of the starts.

    Returns
    -------
    BNC
        A naive Bayes with parameters. `predict` assigns rows to classes,
        `search_steps` returns the numbers of classes that were compared, and
        `loglik` and `BIC` marginalize over the class, so they need no column of
        classes.

    Notes
    -----
    EM finds a local maximum of Σ ln P(row) + smooth Σ ln θ, with θ all
    probabilities of the model, from each start: uniform P(c) and tables drawn
    uniformly. It ends if an iteration gains less than 1e-12. Fit the model with
    several seeds: if the objectives agree but the tables differ, do not
    interpret the classes.

    References
    ----------
    .. [1] Lazarsfeld, P. F., Henry, N. W. (1968). Latent Structure Analysis.
       Houghton Mifflin.
    .. [2] Linzer, D. A., Lewis, J. B. (2011). poLCA: an R package for
       polytomous variable latent class analysis. Journal of Statistical
       Software 42.

    Examples
    --------
    Two groups of members of the US House by their votes alone, which nearly
    coincide with the parties:

    >>> import pandas as pd
    >>> from bnclassify import lca, load_voting, predict
    >>> voting = load_voting()
    >>> votes = voting.drop(columns="Class")
    >>> model = lca("group", votes, k=2, rng=0)
    >>> pd.crosstab(predict(model, votes), voting["Class"])
    Class  democrat  republican
    group
    1           218           8
    2            49         160
    """
    check_column_name(class_var)
    data = open_data(dataset).check_in_memory("dataset").encode()
    if class_var in data.columns:
        raise ValueError(
            must_be("class_var", "the name of a new variable, not of a column", class_var)
        )
    given = (
        [k]
        if isinstance(k, int | np.integer)
        else ListOf("numbers of classes", filled=True).check("k", k)
    )
    sizes = [Whole(least=1, most=1000).check("k", size) for size in given]
    smooth, generator = float(Real(least=0).check("smooth", smooth)), check_rng(rng)
    restarts = Whole(least=1, most=100_000).check("restarts", restarts)
    check_have_levels(data, data.columns)
    if not data.size:
        raise ValueError(
            "dataset must have rows to fit a model to; got none, or only rows of weight 0."
        )
    cards = np.array(data.cards)
    patterns, row_of = np.unique(data.codes, axis=1, return_inverse=True)
    times = np.bincount(row_of.ravel(), data.weights).astype(np.float64)
    feature = np.repeat(np.arange(len(cards)), cards)
    level = np.concatenate([np.arange(n) for n in cards])
    hot: Array = (patterns[feature] == level[:, None]).astype(np.float64)
    fits = []
    for size in sizes:
        masses = [generator.standard_exponential((size, len(level))) for _ in range(restarts)]
        starts = [_normalized_by_feature(mass, cards) for mass in masses]
        of_starts = [_fit_from_start(hot, times, cards, tables, smooth) for tables in starts]
        fits.append(max(of_starts, key=lambda fit: fit[-1].objectives[-1]))
    n_levels = sum(data.cards) - len(data.columns)
    free = [size - 1 + size * n_levels for size in sizes]
    logliks = [loglik for _, loglik, _ in fits]
    bics = [own - ln(data.size) / 2 * n for own, n in zip(logliks, free, strict=True)]
    best = int(np.argmax(bics))
    tables, _, run = fits[best]
    steps = tuple(zip(sizes, logliks, free, bics, strict=True))
    settings = {"k": tuple(sizes) if len(sizes) > 1 else sizes[0], "smooth": smooth}
    step = Step("lca", lca, settings | {"restarts": restarts}, draws=True)
    trace = {"classes": steps, "latent": True}
    structure = network(class_var, dict.fromkeys(data.columns, ()), None, step, trace)
    levels = (*data.levels, tuple(range(1, sizes[best] + 1)))
    if free[best] > (cells := prod(data.cards) - 1):
        warn(
            f"the model of {sizes[best]} classes has {free[best]:,} parameters, but the joint "
            f"table of the features has {cells:,} free cells, so different tables fit equally "
            "well. Use fewer classes."
        )
    elif len(sizes) > 1 and sizes[best] == max(sizes):
        warn(
            f"the largest number of classes, {sizes[best]}, has the best BIC. Pass "
            "larger numbers, too."
        )
    warn_if_not_converged(run, "The result may depend on the start.")
    recipe = structure.recipe and replace(structure.recipe, rows=TrainingRows.from_data(data, ()))
    return replace_unchecked(
        structure, recipe=recipe, levels=levels, cpts=tables, learned={"em": run}
    )


def _fit_from_start(
    hot: Array, times: Array, cards: Positions, tables: Array, smooth: float
) -> tuple[tuple[Array, ...], float, Run]:
    """Return tables that EM finds from a start, the class last, their log-likelihood and the run.

    ``hot`` is (levels, patterns), and ``times`` (patterns,).
    """

    def expect(parameters: tuple[Array, Array]) -> tuple[tuple[Array, float], float]:
        """Return the mass of each class in each pattern, and the log-likelihood."""
        log_tables, log_shares = [log(np.maximum(each, 1e-300)) for each in parameters]
        with one_thread:
            logs = log_tables @ hot + log_shares[:, None]
        totals = log_sum_exp(logs, axis=0)
        loglik = float(totals @ times)
        prior = smooth * float(log_tables.sum() + log_shares.sum()) if smooth else 0.0
        return (np.exp(logs - totals) * times, loglik), loglik + prior

    def maximize(expected: tuple[Array, float]) -> tuple[Array, Array]:
        mass, _ = expected
        with one_thread:
            counts = mass @ hot.T
        return _normalized_by_feature(counts + smooth, cards), normalize(mass.sum(axis=1) + smooth)

    shares: Array = np.full(len(tables), 1 / len(tables))
    start = tables, shares
    last = run_em(expect, maximize, start, iterations=5000, tolerance=1e-12)
    (found, found_shares), (_, loglik), run = last
    # classes in descending order of their shares
    order = np.argsort(-found_shares, kind="stable")
    of_features = np.split(found[order].T, np.cumsum(cards)[:-1])
    return (*[table.copy() for table in of_features], found_shares[order]), loglik, run


def _normalized_by_feature(mass: Array, cards: Positions) -> Array:
    """Divide (…, levels) by sums over the levels of each feature; uniform if a sum is 0."""
    totals = np.repeat(np.add.reduceat(mass, np.cumsum(cards) - cards, axis=-1), cards, axis=-1)
    return np.where(totals > 0, mass, 1.0) / np.where(totals > 0, totals, np.repeat(cards, cards))
