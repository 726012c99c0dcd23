"""Cross-validated scores of structures; for an edit, only the families that it changes are looked up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.arrays import Array
from ...base.messages import shown
from ...metrics.metrics import ACCURACY, Metric
from ...network.priors import Prior, PseudoCounts
from .folded import FoldedData
from .incomplete import IncompleteRows
from .neighbours import Edit, Structure
from .planes import LogOddsPlanes
from .tables import FamilyTables


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
        self.incomplete = IncompleteRows(data, prior, self.planes) if data.partial else None
        self._structure: Structure | None = None

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        if structure != self._structure:
            self._structure = structure
            self.tables.turn()
        total = self.tables.of_class.copy()
        for v, parents in structure.items():
            total += self.tables.added(v, parents)
        if self.incomplete is not None:
            self.incomplete.infer(structure, total)
        scores, rest = np.empty(len(edits)), total
        changed: tuple[int, ...] = ()
        # Edits of the same families follow one another, so that what the others add is summed once.
        for number in sorted(range(len(edits)), key=lambda number: tuple(edits[number])):
            edit = edits[number]
            if tuple(edit) != changed:
                changed, rest = tuple(edit), total
                for v in set(edit).intersection(structure):
                    rest = rest - self.tables.added(v, structure[v])
            scores[number] = self._score(self._with(edit, rest))
        return scores

    def _with(self, edit: Edit, rest: Array) -> Array:
        """Return the log joint after an edit, (planes, tested rows), from that of the other families."""
        logs = rest
        for v, parents in edit.items():
            if parents is not None:
                logs = logs + self.tables.added(v, parents)
        if self.incomplete is not None:
            logs = logs.copy() if logs is rest else logs
            self.incomplete.amend(edit, logs)
        return logs

    def _score(self, logs: Array) -> float:
        values = self._accuracies(logs) if self.metric == ACCURACY else self._values(logs)
        return float(np.mean(values)) * (-1 if self.metric.is_loss else 1)

    def _values(self, logs: Array) -> list[float]:
        data, weights = self.data, self.data.weights
        return [
            self.metric.of_rows(
                self.planes.joint(logs[:, fold]), data.truth[fold], None if weights is None else weights[fold]
            )
            for fold in data.folds
        ]

    def _accuracies(self, logs: Array) -> list[float]:
        """Return the accuracy in each fold, without posteriors."""
        right, weights = self.planes.best(logs) == self.data.truth, self.data.weights
        if weights is None:
            return [np.count_nonzero(right[fold]) / len(right[fold]) for fold in self.data.folds]
        return [float(weights[fold] @ right[fold] / weights[fold].sum()) for fold in self.data.folds]
