"""Structural EM (Friedman, 1997): each incomplete row is replaced by its weighted completions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Generic, TypeVar

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, log
from ..base.checks import OneOf
from ..counts.contingency import count_families, flat_index
from ..frames.schema import Dataset
from ..network.priors import Dirichlet
from .local_scores import LocalScores

Structure = Sequence[Sequence[int]]
Scope = tuple[int, ...]
D = TypeVar("D", bound=Dataset)

_MOST_COMPLETIONS = 2**22
_SCORES = ("bic", "aic", "loglik")
_LIKELIHOOD = Dirichlet(0)
_TOLERANCE = 1e-6  # minimum gain of an iteration in nats per row, as in `lp`


def check_missing(missing: object, usual: str, score: str) -> None:
    """Raise unless `missing` is a valid option for the score."""
    if OneOf((usual, "em")).check("missing", missing) == "em":
        OneOf(_SCORES).check("score", score)


class Completions(Generic[D]):
    """All completions of the rows of data, row by row.

    `rows` are the numbers of the rows, (completions,), and `data` has the completed codes.
    """

    def __init__(self, data: D) -> None:
        n_completions = np.where(data.codes < 0, np.array(data.cards)[:, None], 1).astype(float).prod(axis=0)
        if n_completions.sum() > _MOST_COMPLETIONS:
            raise ValueError(
                f"missing must not be 'em' if incomplete rows have more than {_MOST_COMPLETIONS:,} "
                f"completions; got {n_completions.sum():,.0f}. Drop rows or columns with many missing values."
            )
        self.rows = np.repeat(np.arange(len(data)), n_completions.astype(np.intp))
        self.starts = np.cumsum(n_completions.astype(np.intp)) - n_completions.astype(np.intp)
        codes = data.codes.take(self.rows, axis=1)
        patterns, pattern = np.unique(data.codes < 0, axis=1, return_inverse=True)
        for number, hidden in enumerate(patterns.T):
            levels = [range(data.cards[column]) for column in np.flatnonzero(hidden)]
            if levels:
                alike = np.flatnonzero(pattern.ravel() == number)
                grid = np.array(list(product(*levels)), dtype=codes.dtype).T
                at = self.starts[alike][:, None] + np.arange(grid.shape[1])
                codes[np.ix_(np.flatnonzero(hidden), at.ravel())] = np.tile(grid, len(alike))
        self.weights = np.ones(len(data)) if data.weights is None else data.weights
        self.data = replace(
            data, codes=codes, index=pd.RangeIndex(len(self.rows)), weights=self.weights[self.rows]
        )

    def expect(self, scopes: Sequence[Scope], tables: Sequence[Array]) -> tuple[D, float]:
        """Return the completions, weighted by their probability given their row, and Σ ln P(row)."""
        logs = np.zeros(len(self.rows))
        for scope, table in zip(scopes, tables, strict=True):
            cells = flat_index([self.data.codes[column] for column in scope], table.shape)
            logs += log(table).ravel().take(cells)
        highest = np.maximum.reduceat(logs, self.starts)
        shares = np.exp(logs - highest[self.rows])
        totals = np.add.reduceat(shares, self.starts)
        shares *= (self.weights / totals)[self.rows]
        return replace(self.data, weights=shares), float(self.weights @ (highest + np.log(totals)))

    def maximize(self, scopes: Sequence[Scope], counts: Sequence[Array]) -> tuple[D, float]:
        """Return the result of `expect` at maximum-likelihood tables, by EM that starts from some counts."""
        evidence = -np.inf
        while True:
            expected, further = self.expect(scopes, [_LIKELIHOOD(table) for table in counts])
            if further - evidence <= _TOLERANCE * self.weights.sum():
                return expected, further
            counts, evidence = count_families(expected, scopes), further


def structural_em(
    data: D, start: Structure, learn: Callable[[D, Structure], list[list[int]]], score: str
) -> tuple[list[list[int]], list[float]]:
    """Return the parents of each column in the structure found, and the scores of the observed data.

    `learn` returns the best structure for complete data, from a start, without lowering its score.
    """
    complete = data.codes.min(axis=0) >= 0
    found = [list(parents) for parents in start]
    if complete.any():
        found = learn(data.taken(complete), found)
    completions, observed = Completions(data), list[float]()
    scopes = [(v, *parents) for v, parents in enumerate(found)]
    counts = [table + 1 for table in count_families(data, scopes)]  # EM would keep zeros
    while True:
        expected, evidence = completions.maximize(scopes, counts)
        scores = LocalScores(expected, score)
        n_parameters = sum(
            (data.cards[v] - 1) * prod([data.cards[p] for p in parents]) for v, *parents in scopes
        )
        observed.append(evidence - scores.score.penalty * n_parameters)
        further = learn(expected, found)
        if scores.network(further) <= scores.network(found) + TOLERANCE:
            return found, observed
        found, scopes = further, [(v, *parents) for v, parents in enumerate(further)]
        counts = count_families(expected, scopes)
