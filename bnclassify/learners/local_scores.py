"""Decomposable scores of families and of structures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log as ln
from math import prod
from typing import Any

import numpy as np

from ..accessors import check_bnc
from ..classifiers import BNC, LEAST_AMOUNT, MOST_ESS, Dirichlet, EquivalentSize, Scope
from ..counts import Counts, FamilyCounts, log_rising_factorial, n_log_n_function
from ..dataset import Columns, Countable, Schema
from ..frames import InFull, InParts, open_data
from ..model import is_recipe_running
from ..tools.arrays import Array, Slice
from ..tools.checks import OneOf, Real, ScoreName
from ..tools.messages import listed, warn

Amount = float | Array


@dataclass(frozen=True, eq=False)
class DecomposableScore:
    """A score of a family: Σ_jk f(N_jk, a) − Σ_j f(N_j, r a) − penalty · (r − 1) q.

    k are the r levels of the variable, j the q configurations of its parents,
    `term` is f, which is 0 where a count is 0, and `pseudo_counts` returns a
    from r and q.
    """

    term: Callable[[Counts, Amount], Array]
    pseudo_counts: Callable[..., Amount]
    penalty: float


SCORE_NAMES = ("loglik", "aic", "bic", "bde", "k2")


SCORES_OF_EM = ("bic", "aic", "loglik")

WITH_MISSING_VALUES: dict[str, Callable[..., Any]] = {}
"""Searches in incomplete rows by the value of `missing`; structural EM adds itself."""


def _make_decomposable_score(score: str, data: Countable, ess: float) -> DecomposableScore:
    """Return a score: a log marginal likelihood, or Σ N_jk ln(N_jk / N_j) minus a penalty."""
    if score in ("bde", "k2"):
        prior = EquivalentSize(ess) if score == "bde" else Dirichlet(1)
        return DecomposableScore(log_rising_factorial, prior.pseudo_count_per_cell, 0.0)
    penalties = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * ln(data.size or 1)}
    n_log_n = n_log_n_function(data)
    return DecomposableScore(lambda n, _: n_log_n(n), lambda r, q: 0, penalties[score])


def check_missing_option(missing: object, usual: str, score: str) -> None:
    """Raise unless `missing` is a valid option for the score."""
    if OneOf((usual, "em")).check("missing", missing) == "em":
        OneOf(SCORES_OF_EM).check("score", score)


def check_score_and_ess(score: object, ess: object) -> float:
    """Return `ess`; raise an error if a score is unknown or `ess` is out of range."""
    OneOf(SCORE_NAMES).check("score", score)
    size: float = Real(LEAST_AMOUNT, MOST_ESS).check("ess", ess)
    return size


def check_no_missing_values(data: Countable) -> None:
    """Raise a ValueError that names the incomplete columns."""
    partial = [name for name, lacks in zip(data.columns, data.incomplete, strict=True) if lacks]
    if partial:
        raise ValueError(
            "dataset must have no missing values, because all families are scored on the same "
            f"rows; got missing values in {listed(partial)}. Exclude incomplete rows with "
            ".dropna(), make missing a level with .fillna('missing') or bnc(..., "
            "missing_level=True), or learn by hc, ban or tan_cl with missing='em', in bnc with "
            "dag_args={'missing': 'em'}."
        )


def warn_of_fractional_weights(data: Countable, score: str) -> None:
    """Warn if a score depends on the number of rows and weights cannot be frequencies."""
    if (
        score == "loglik"
        or not data.is_weighted
        or is_recipe_running()
        or getattr(data, "cases", None) is not None
    ):
        return
    rows, fractions = data.n_positive_and_fractional
    if fractions and data.size < rows:
        warn(
            f"the weights of `dataset` sum to {data.size:g}, less than the number of its rows, "
            f"{rows:,}. {score} treats weights as frequencies, so it finds too many arcs or too "
            "few. For survey weights, use encode(..., weights_are='cases')."
        )


class LocalScores:
    """Cached scores of families of the columns of data; `ess` is for "bde"."""

    def __init__(self, data: Countable, score: str, ess: float = 1) -> None:
        self.counts = FamilyCounts(data)
        self.score = _make_decomposable_score(score, data, ess)
        self._families: dict[tuple[int, frozenset[int]], float] = {}
        self._gains: dict[tuple[int, frozenset[int]], Array] = {}

    def count_families_ahead(self, families: Iterable[Scope], others: Iterable[Scope] = ()) -> None:
        """Count families to be scored, with or without gains, in one pass over partitioned data."""
        wanted = [
            family for family in families if (family[0], frozenset(family[1:])) not in self._gains
        ]
        alone = [
            family for family in others if (family[0], frozenset(family[1:])) not in self._families
        ]
        self.counts.prefetch(wanted, alone)

    def score_of_family(self, variable: int, parents: Sequence[int]) -> float:
        """Return the score of a family."""
        key = variable, frozenset(parents)
        if key not in self._families:
            r, q = self._levels_and_configurations(variable, parents)
            fit = self._unpenalized_score(self.counts.count_family((variable, *parents)), r, q)
            self._families[key] = float(fit) - self.score.penalty * (r - 1) * q
        return self._families[key]

    def gains_by_added_parent(self, variable: int, parents: Sequence[int]) -> Array:
        """Return the gain of each column as a further parent, (columns,), over complete rows."""
        key = variable, frozenset(parents)
        if key not in self._gains:
            r, q = self._levels_and_configurations(variable, parents)
            penalty = self.score.penalty * (r - 1) * q
            result = np.asarray(penalty * (1.0 - self.counts.cards), dtype=np.float64)
            family, fit = (variable, *parents), np.array(np.nan)
            if self.counts.is_sparse(family):
                for column, both, alone in self.counts.count_occurring_extensions(family):
                    fit = self._sum_of_terms(alone, r, q)
                    result[column] += self._sum_of_terms(both, r, q * self.counts.cards[column])
                    result[column] -= fit
            else:
                for columns, table in self.counts.count_extensions(family):
                    gains, fit = self._unpenalized_gains_and_score(table, columns, r, q)
                    result[columns] += gains
            self._gains[key] = result
            if self.counts.is_complete and not np.isnan(fit):  # spares counting the family alone
                self._families[key] = float(fit) - penalty
        return self._gains[key]

    def gain_over_no_parents(self, variable: int, parents: Sequence[int]) -> float:
        """Return the gain of a variable by these parents instead of none, over complete rows."""
        r, q = self._levels_and_configurations(variable, parents)
        table = self.counts.count_family((variable, *parents))
        alone = self._unpenalized_score(table.sum(axis=1, keepdims=True), r, 1.0)
        n_added = (r - 1) * (q - 1)  # parameters
        return float(self._unpenalized_score(table, r, q) - alone) - self.score.penalty * n_added

    def score_of_network(self, parents: Sequence[Sequence[int]]) -> float:
        """Return the score of a network from the parents of each column."""
        self.count_families_ahead([], [(variable, *ps) for variable, ps in enumerate(parents)])
        return sum(self.score_of_family(variable, ps) for variable, ps in enumerate(parents))

    def _levels_and_configurations(
        self, variable: int, parents: Sequence[int]
    ) -> tuple[int, float]:
        cards = self.counts.data.cards
        return cards[variable], float(prod([cards[parent] for parent in parents]))

    def _unpenalized_score(self, table: Counts, r: int, q: Amount) -> Array:
        """Return Σ_jk f(N_jk, a) − Σ_j f(N_j, r a) for levels k, configurations j.

        Example: the log-likelihood, where f is n ln n, of levels and
        configurations with the counts [[3, 1], [0, 2]] is 3 ln 3 + 2 ln 2 − 3
        ln 3 − 3 ln 3 = −1.9.
        """
        term, a = self.score.term, self.score.pseudo_counts(r, q)
        return np.asarray(
            term(table, a).sum(axis=(0, 1)) - term(table.sum(axis=0), r * a).sum(axis=0)
        )

    def _sum_of_terms(self, counts: Sequence[Counts], r: int, q: Amount) -> Array:
        """Return the same from the counts of cells and of configurations that are not 0."""
        (cells, configurations), a = counts, self.score.pseudo_counts(r, q)
        return np.asarray(
            self.score.term(cells, a).sum() - self.score.term(configurations, r * a).sum()
        )

    def _unpenalized_gains_and_score(
        self, table: Counts, columns: Slice, r: int, q: float
    ) -> tuple[Array, Array]:
        """Return what each of some columns adds to the fit as a further parent, and the fit."""
        cards = self.counts.cards[columns]
        starts = np.cumsum(cards) - cards
        by_level = self._unpenalized_score(table, r, q * np.repeat(cards, cards).astype(np.float64))
        known: Array = table[..., : cards[0]].sum(axis=2)
        if not self.counts.is_complete:
            known = np.add.reduceat(table, starts, axis=2)
        fit = self._unpenalized_score(known, r, q)
        return np.add.reduceat(by_level, starts) - fit, fit


def network_score(
    x: BNC, dataset: InFull | InParts, *, score: ScoreName = "bic", ess: float = 1
) -> float:
    """Return the score of a structure on data, which `hc` and `ban` maximize.

    Parameters
    ----------
    x : BNC
        Structure. Its parameters are not used.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Data with all variables of `x` and without missing values.
    score : {"bic", "aic", "bde", "k2", "loglik"}, default "bic"
        Name of the score.
    ess : float, default 1
        Equivalent sample size of "bde", from 1e-100 to 1e12.

    Returns
    -------
    float
        Score in nats. Of two structures over the same variables, the larger
        score is better.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` is not a single network, or values are missing or are not levels
        of `x`.

    Warns
    -----
    UserWarning
        If weights are not whole numbers and sum to less than the number of
        rows.

    Notes
    -----
    Each score is a sum over the families, with k parameters in all:

    - loglik = Σ N_jk ln(N_jk / N_j), the likelihood at its maximum; aic =
      loglik − k; bic = loglik − ½ ln(N) k. They are not multiplied by −2.
    - bde is the log marginal likelihood under a uniform prior with equivalent
      sample size `ess` (BDeu), and k2 that with pseudo-counts of 1. The class
      is a parent like any other.

    Networks with the same conditional independences have the same score, except
    for k2. The page
    :doc:`Formulas </methods>` defines all symbols.

    References
    ----------
    .. [1] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning
       Bayesian networks: the combination of knowledge and statistical data.
       Machine Learning 20.
    .. [2] Cooper, G. F., Herskovits, E. (1992). A Bayesian method for the
       induction of probabilistic networks from data. Machine Learning 9.

    Examples
    --------
    >>> from bnclassify import load_car, nb, network_score
    >>> car = load_car()
    >>> x = nb("class", car)
    >>> [round(network_score(x, car, score=name), 1) for name in ("bic", "bde", "k2")]
    [-13738.5, -13722.6, -13677.2]
    """
    ess = check_score_and_ess(score, ess)
    model = check_bnc(x, "network_score")
    known = None if model.levels is None else dict(zip(model.variables, model.levels, strict=True))
    data = open_data(dataset).read(Columns(model.variables, known))
    rows: Countable = data
    if model.levels is not None:
        rows = data.coded_by_schema(Schema(model.variables, model.levels))
    if not len(rows):
        raise ValueError("dataset must have rows; got none.")
    check_no_missing_values(rows)
    warn_of_fractional_weights(rows, score)
    return LocalScores(rows, score, ess).score_of_network([ps for _, *ps in model.scopes])
