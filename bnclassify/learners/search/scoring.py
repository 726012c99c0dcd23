"""Cross-validated scores of structures; for an edit, only the families that it changes are looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array
from ...base.messages import shown
from ...metrics.metrics import ACCURACY, Metric
from ...network.priors import Prior, PseudoCounts
from .folded import FoldedData
from .incomplete import IncompleteRows
from .neighbours import Edit, Parents, Structure
from .planes import LogOddsPlanes
from .tables import FamilyTables

_FEW = 4  # maximum number of edits of a family that are scored in all rows


class CrossValidatedScore:
    """Score structures by the mean over folds of a metric, with tables of the other folds.

    The score of a loss is its negative. Structures contain the numbers of features.
    """

    def __init__(self, data: FoldedData, prior: Prior, metric: Metric = ACCURACY) -> None:
        if not isinstance(prior, PseudoCounts):
            raise TypeError(
                f"prior must be one of smooth, ess and m for a search; got {shown(prior)}. Search with one "
                "of them, then estimate the parameters with another prior by lp."
            )
        self.data, self.metric = data, metric
        n_variables = len(data.cards) + 1
        self.planes = LogOddsPlanes(data.n_classes, n_variables, data.lowest, positive=prior.is_positive)
        self.tables = FamilyTables(data, prior, self.planes)
        self.incomplete = IncompleteRows(self.tables) if data.partial else None
        self._structure: Structure | None = None

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        if structure != self._structure:
            self._structure = structure
            self.tables.turn()
        total = self.tables.of_class.copy()
        for v, parents in structure.items():
            total += self.tables.added((v, *parents))
        if self.incomplete is not None:
            self.incomplete.infer(structure, total)
        scores = np.empty(len(edits))
        # edits of the same families are adjacent, so that the other families are summed once
        order = sorted(range(len(edits)), key=lambda number: tuple(edits[number]))
        for changed, numbers in groupby(order, key=lambda number: tuple(edits[number])):
            rest = total
            for v in set(changed).intersection(structure):
                rest = rest - self.tables.added((v, *structure[v]))
            alike = list(numbers)
            scores[alike] = self._score([edits[number] for number in alike], rest)
        return scores

    def _score(self, edits: Sequence[Edit], rest: Array) -> list[float]:
        """Score edits of the same families from the log joint of the others, (planes, tested rows)."""
        families = [(v, *parents) for edit in edits for v, parents in edit.items() if parents is not None]
        is_single = len(families) == len(edits) >= _FEW and len(edits[0]) == 1
        if self.metric == ACCURACY and is_single and self.data.partial.isdisjoint(chain(*families)):
            values = self._accuracies_of(families, rest)
        else:
            values = (self._values(self._after(edit, rest)) for edit in edits)
        return [float(np.mean(by_fold)) * (-1 if self.metric.is_loss else 1) for by_fold in values]

    def _after(self, edit: Edit, rest: Array) -> Array:
        """Return the log joint after an edit, (planes, tested rows), from the other families."""
        logs = rest
        for v, parents in edit.items():
            if parents is not None:
                logs = logs + self.tables.added((v, *parents))
        if self.incomplete is not None:
            logs = logs.copy() if logs is rest else logs
            self.incomplete.amend(edit, logs)
        return logs

    def _values(self, logs: Array) -> list[float]:
        """Return the metric in each fold."""
        data, weights = self.data, self.data.weights
        if self.metric == ACCURACY:
            return self._accuracies(self.planes.best(logs) == data.truth)
        return [
            self.metric.of_rows(
                self.planes.joint(logs[:, fold]), data.truth[fold], None if weights is None else weights[fold]
            )
            for fold in data.folds
        ]

    def _accuracies(self, right: NDArray[np.bool_]) -> list[float]:
        """Return the accuracy in each fold, without posteriors."""
        weights = self.data.weights
        if weights is None:
            return [np.count_nonzero(right[fold]) / len(right[fold]) for fold in self.data.folds]
        return [float(weights[fold] @ right[fold] / weights[fold].sum()) for fold in self.data.folds]

    def _accuracies_of(self, families: Sequence[Parents], rest: Array) -> Iterator[list[float]]:
        """Yield the accuracy in each fold with each of these families of one variable.

        In most rows, the margin of the best class is too large for any of the families to change it.
        """
        low, high = self.tables.bounds(families)
        low += rest
        high += rest
        right = self.planes.best(low) == self.data.truth
        rows = np.flatnonzero(~self.planes.are_settled(low, high))
        truth, rest = self.data.truth[rows], rest[:, rows]
        for family in families:
            right[rows] = self.planes.best(rest + self.tables.added_in(family, rows)) == truth
            yield self._accuracies(right)
