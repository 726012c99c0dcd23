"""Structural EM, which scores structures on weighted completions of incomplete rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic

import numpy as np
import pandas as pd

from ..classifiers import Dirichlet, count_parameters
from ..counts import Scope, count_families, flat_index
from ..dataset import Data
from ..elimination import groups_of_equal_columns
from ..structure import WITH_MISSING_VALUES, LocalScores
from ..tools.arrays import TOLERANCE, Array, Mask, log
from .em import run_em

ParentLists = Sequence[Sequence[int]]

_MOST_COMPLETIONS = 2**22
_LIKELIHOOD = Dirichlet(0)


class Completions(Generic[Data]):
    """All completions of the rows of data, in order, with the row numbers, (completions,)."""

    def __init__(self, data: Data) -> None:
        is_missing: Mask = data.codes < 0
        n_completions: Array = np.where(is_missing, np.array(data.cards)[:, None], 1.0).prod(axis=0)
        if n_completions.sum() > _MOST_COMPLETIONS:
            raise ValueError(
                f"missing must not be 'em' if incomplete rows have more than {_MOST_COMPLETIONS:,} "
                f"completions; got {n_completions.sum():,.0f}. Drop rows or columns with "
                "many missing values."
            )
        # Of a row with 2 · 3 completions and a complete row, rows are [0, 0, 0, 0, 0, 0, 1] and
        # starts [0, 6].
        numbers = n_completions.astype(np.intp)
        self.rows = np.repeat(np.arange(len(data)), numbers)
        self.starts = np.cumsum(numbers) - numbers
        codes = data.codes.take(self.rows, axis=1)
        for hidden, alike in groups_of_equal_columns(is_missing):
            if hidden:
                # all values of the hidden columns, (columns, completions), in each of these rows
                values = np.indices([data.cards[column] for column in hidden])
                values = values.reshape(len(hidden), -1)
                places = self.starts[alike][:, None] + np.arange(values.shape[1])
                codes[np.array(hidden)[:, None], places.ravel()] = np.tile(values, len(alike))
        self.rows_given = data
        self.weights = data.row_weights
        self.data = replace(
            data, codes=codes, index=pd.RangeIndex(len(self.rows)), weights=self.weights[self.rows]
        )

    def weighted_completions(
        self, scopes: Sequence[Scope], tables: Sequence[Array]
    ) -> tuple[Data, float]:
        """Return completions, weighted by their probability given their row, and Σ ln P(row)."""
        logs = np.zeros(len(self.rows))
        for scope, table in zip(scopes, tables, strict=True):
            cells = flat_index([self.data.codes[column] for column in scope], table.shape)
            logs += log(table).ravel().take(cells)
        highest = np.maximum.reduceat(logs, self.starts)
        shares = np.exp(logs - highest[self.rows])
        totals = np.add.reduceat(shares, self.starts)
        shares *= (self.weights / totals)[self.rows]
        return replace(self.data, weights=shares), float(self.weights @ (highest + np.log(totals)))


def structural_em(
    data: Data,
    start: ParentLists,
    learn: Callable[[Data, ParentLists], list[list[int]]],
    score: str,
    others: Sequence[ParentLists] = (),
) -> tuple[list[list[int]], list[float]]:
    """Return the parents in the structure that `learn` finds step by step, and scores of the data.

    The first structure is the best one of those of the complete rows and
    ``others``.
    """
    data = data.with_positive_weights()
    complete: Mask = data.codes.min(axis=0) >= 0
    first = [list(parents) for parents in start]
    if complete.any():
        first = learn(data.take_rows(complete), first)
    completions, observed = Completions(data), list[float]()
    further = [[list(parents) for parents in other] for other in others]
    starts = [first, *[structure for structure in further if structure != first]]
    fits = [_expected_completions_and_score(completions, found, None, score) for found in starts]
    best = int(np.argmax([value for _, value in fits]))
    found, (expected, value) = starts[best], fits[best]
    while True:
        observed.append(value)
        learned, scores = learn(expected, found), LocalScores(expected, score)
        if scores.score_of_network(learned) <= scores.score_of_network(found) + TOLERANCE:
            return found, observed
        found = learned
        expected, value = _expected_completions_and_score(completions, found, expected, score)


def _expected_completions_and_score(
    completions: Completions[Data], found: ParentLists, expected: Data | None, score: str
) -> tuple[Data, float]:
    """Return the weighted completions and the score of a structure at the tables that EM finds."""
    scopes, data = [(v, *parents) for v, parents in enumerate(found)], completions.rows_given
    counts: Sequence[Array] = count_families(data if expected is None else expected, scopes)
    if expected is None:
        counts = [table + 1 for table in counts]  # EM would keep zeros
    _, weighted, run = run_em(
        lambda tables: completions.weighted_completions(scopes, tables),
        lambda weighted: list(map(_LIKELIHOOD, count_families(weighted, scopes))),
        list(map(_LIKELIHOOD, counts)),
        iterations=np.inf,
        # 1e-6: minimum gain of an iteration in nats per row, as in `lp`
        tolerance=1e-6 * float(completions.weights.sum()),
    )
    penalty = LocalScores(weighted, score).score.penalty
    return weighted, run.objectives[-1] - penalty * count_parameters(scopes, data.cards)


WITH_MISSING_VALUES["em"] = structural_em
