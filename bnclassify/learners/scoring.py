"""Cross-validated scores of structures: one log joint of the tested rows per structure.

A family is a variable and its feature parents; the class is a parent of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import log as ln
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from ..classifiers import Prior, PseudoCounts
from ..counts import check_table_size, flat_index, number_family_states
from ..dataset import Dataset, Schema
from ..elimination import Factor, add_marginalized_terms
from ..metrics import ACCURACY, Metric
from ..tools.arrays import (
    Array,
    ArrayOf,
    Mask,
    Positions,
    code_type,
    first_best,
    log,
    weights_at,
)
from ..tools.messages import shown
from .neighbors import Edit, Parents, Structure, apply_edit

_KEPT_BYTES = 2**28


class FoldedData:
    """Positions in the order in which the folds test them; the class is observed in all rows.

    The counts of a fold are those of all rows minus those of the tested rows.
    If the folds are not a partition of the rows, all rows are appended as an
    additional fold. Positions ascend in each fold, so that a count of fractions
    without training rows is exactly 0.
    """

    def __init__(self, data: Dataset, tests: Sequence[Positions]) -> None:
        rows = np.concatenate([np.sort(test) for test in tests])
        sizes = list(map(len, tests))
        self.n_tested, self.n_folds, self.n_classes = len(rows), len(tests), data.cards[-1]
        self.folds = [slice(start, end) for start, end in pairwise(accumulate([0, *sizes]))]
        self.partition = bool((np.bincount(rows, minlength=len(data)) == 1).all())
        if not self.partition:
            rows, sizes = np.concatenate([rows, np.arange(len(data))]), [*sizes, len(data)]
        # of each row; two folds of 3 and 2 rows, not a partition of 6: 0 0 0 1 1 2 2 2 2 2 2
        self.fold = np.repeat(np.arange(len(sizes)), sizes)
        self.cards, self.n_groups = data.cards[:-1], len(sizes) * self.n_classes
        # The features and, in place of the class, the group of each row: fold · classes + class.
        columns = Schema(
            (*data.columns[:-1], "fold and class"), (*data.levels[:-1], tuple(range(self.n_groups)))
        )
        codes = data.codes.take(rows, axis=1).astype(code_type(max(columns.cards)), copy=False)
        self.truth = codes[-1, : self.n_tested].copy()
        codes[-1] += (self.fold * self.n_classes).astype(codes.dtype)
        weights = weights_at(data.weights, rows)
        self.grouped = Dataset(columns, codes, pd.RangeIndex(len(rows)), weights)
        self.group, self.tested = codes[-1], codes[:-1, : self.n_tested]
        self.weights = weights_at(weights, slice(self.n_tested))
        # the features with missing values
        self.partial = frozenset(np.nonzero(self.grouped.incomplete)[0].tolist())

    @property
    def lowest_log_probability(self) -> float:
        """A lower bound of the log of an estimated probability that is positive."""
        weights = self.grouped.weights
        least = 1.0 if weights is None else float(weights.min(where=weights > 0, initial=np.inf))
        return ln(least) - ln(self.grouped.size) - ln(max(self.cards, default=1) + self.n_classes)

    def rows_observed_in(self, columns: Sequence[int]) -> Mask | None:
        """Whether rows are complete in these columns; None if all rows are."""
        partial = [self.grouped.codes[column] >= 0 for column in columns if column in self.partial]
        return np.logical_and.reduce(partial) if partial else None

    def training_counts(self, counts: ArrayOf[Any]) -> Array:
        """Convert counts by group, the last axis, to those of training: (..., folds, classes).

        Example: two folds with [2, 1] and [3, 0] rows of two classes are
        trained on [3, 0] and [2, 1]: the sum [5, 1] minus those of the fold.
        """
        by_fold = counts.reshape(*counts.shape[:-1], -1, self.n_classes)
        total = by_fold.sum(axis=-2, keepdims=True) if self.partition else by_fold[..., -1:, :]
        trained: Array = total - by_fold[..., : self.n_folds, :]
        return trained


class CrossValidatedScore:
    """Score structures by the mean of a metric (minus a loss) over folds, by others' tables."""

    def __init__(self, data: FoldedData, prior: Prior, metric: Metric = ACCURACY) -> None:
        if not isinstance(prior, PseudoCounts):
            raise TypeError(
                f"prior must be one of smooth, ess and m for a search; got {shown(prior)}. Search "
                "with one of them, then estimate the parameters with another prior by lp."
            )
        self.data, self.prior, self.metric = data, prior, metric
        # Stands for log 0, so that contributions can be subtracted; lower than any possible log
        # joint.
        self._floor = 8 * (len(data.cards) + 1) * data.lowest_log_probability
        kept = max(2, _KEPT_BYTES // max(1, 8 * data.n_tested * data.n_classes))
        self._log_terms = lru_cache(kept)(self._log_terms_of_family)
        counts = np.bincount(data.group, data.grouped.weights, data.n_groups)
        self._starts = [fold.start for fold in data.folds]
        self._weights = data.grouped.row_weights[: data.n_tested]
        self._sizes = np.add.reduceat(self._weights, self._starts)
        of_fold = self._replace_log_zeros(log(prior(data.training_counts(counts), axis=1)))
        self._of_class = of_fold.T.take(data.fold[: data.n_tested], axis=1)

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        total = self._of_class + sum(
            self._log_terms((v, *parents)) for v, parents in structure.items()
        )
        alike: dict[Parents, list[int]] = {}
        for position, edit in enumerate(edits):
            alike.setdefault(tuple(edit), []).append(position)
        scores = np.empty(len(edits))
        for changed, positions in alike.items():
            rest = total - sum(
                self._log_terms((v, *structure[v])) for v in changed if v in structure
            )
            scores[positions] = [
                self._score_of_edit(structure, edits[position], rest) for position in positions
            ]
        return scores

    def _score_of_edit(self, structure: Structure, edit: Edit, rest: Array) -> float:
        """Score an edit, given the log joint of rows, (classes, rows), by unchanged families."""
        added = [
            self._log_terms((v, *parents)) for v, parents in edit.items() if parents is not None
        ]
        total = sum(added, start=rest)
        if self.data.partial:
            total = total + self._logs_of_missing_values(apply_edit(structure, edit))
        logs = total
        if not self.prior.is_positive:
            logs = np.where(total < self._floor / 2, -np.inf, total)
        data, weights = self.data, self.data.weights
        if self.metric == ACCURACY:  # needs no posteriors
            right = np.where(first_best(logs.T) == data.truth, self._weights, 0.0)
            of_folds: Array = np.add.reduceat(right, self._starts) / self._sizes
            return float(of_folds.sum() / data.n_folds)
        values = []
        for fold in data.folds:
            given = weights_at(weights, fold)
            values.append(self.metric.metric_of_rows(logs.T[fold], data.truth[fold], given))
        return float(np.mean(values)) * (-1 if self.metric.is_loss else 1)

    def _replace_log_zeros(self, logs: Array) -> Array:
        return np.maximum(logs, self._floor)

    def _log_terms_of_family(self, family: Parents) -> Array:
        """Return the contribution of a family, (classes, tested rows); 0 if a member is missing."""
        logs, index = self._log_table_and_cells_of_family(family)
        by_class = self._replace_log_zeros(logs).reshape(-1, logs.shape[-1]).T.copy()
        tested = slice(self.data.n_tested)
        added = by_class.take(index[tested] * self.data.n_folds + self.data.fold[tested], axis=1)
        observed = self.data.rows_observed_in(family)
        return added if observed is None else added * observed[tested]

    def _log_table_and_cells_of_family(self, family: Parents) -> tuple[Array, Positions]:
        """Return logs of a table, (levels, configurations, folds, classes), and the rows' cells."""
        data, weights = self.data, self.data.grouped.weights
        index, shape = number_family_states(
            data.grouped, family, numbered=data.partial.isdisjoint(family)
        )
        cells = flat_index([index, data.group], [prod(shape), data.n_groups])
        if (observed := data.rows_observed_in(family)) is not None:
            check_table_size(data.grouped, (*family, -1))
            cells, weights = cells[observed], weights_at(weights, observed)
        counts = np.bincount(cells, weights, prod(shape) * data.n_groups).reshape(*shape, -1)
        trained = data.training_counts(counts)
        card, configurations = shape[0], prod(data.cards[p] for p in family[1:])
        shares = self.prior.smoothed_probabilities(
            trained, trained.sum(axis=0), card, configurations * data.n_classes
        )
        return log(shares), index

    def _logs_of_missing_values(self, structure: Structure) -> Array:
        """Return what missing values add to the log joint of tested rows, (classes, rows)."""
        data, features = self.data, sorted(structure)
        position = {u: i for i, u in enumerate(features)}
        factors = []  # the tables of all families, each given the fold and the class
        for u in features:
            family = (u, *structure[u])
            logs, _ = self._log_table_and_cells_of_family(family)
            table = logs.reshape(*[data.cards[v] for v in family], *logs.shape[-2:])
            factors.append(Factor(tuple([position[v] for v in family]), table))
        factors.append(Factor((), np.zeros((data.n_folds, data.n_classes))))
        codes = data.tested[features]
        rows = np.flatnonzero((codes < 0).any(axis=0))
        logs = np.zeros((len(rows), data.n_classes))
        add_marginalized_terms(logs, factors, codes[:, rows], data.fold[rows])
        added = np.zeros((data.n_classes, data.n_tested))
        added[:, rows] = self._replace_log_zeros(logs).T
        return added
