"""Cross-validated scores of many structures that differ in a few families.

The log joint of a tested row is a sum over families. A structure that is one edit away costs only
what the changed families add. This module puts the parts together: rows by fold (`folded`), what
families add (`tables`), the log joint of classes (`contrasts`), the metric (`goals`), many families
at once (`heads`), and what missing values ask for (`incomplete`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.arrays import Array
from ...base.messages import shown
from ...metrics.metrics import ACCURACY, Metric
from ...network.priors import Prior, PseudoCounts
from .contrasts import Contrasts
from .folded import FoldedData
from .goals import AccuracyGoal, goal_of
from .heads import HeadScores
from .incomplete import IncompleteRows
from .neighbours import Edit, Structure
from .tables import Family, FamilyTables

_FEW = 4  # families of one head that are as well scored one by one


class CrossValidatedScore:
    """Score structures by the mean over folds of a metric in the fold, with tables of the others.

    Parameters
    ----------
    data : FoldedData
        Structures name its features by number.
    prior : Prior
        Makes tables of counts; it must add the same to every cell of a table.
    metric : Metric
    """

    def __init__(self, data: FoldedData, prior: Prior, metric: Metric = ACCURACY) -> None:
        if not isinstance(prior, PseudoCounts):
            raise TypeError(
                f"prior: a search scores tables with pseudo-counts, by smooth, ess or m, got {shown(prior)}; "
                "search with one of them, and learn the parameters with another prior by lp"
            )
        self.data = data
        contrasts = Contrasts(data.n_classes, data.no_parent + 1, data.lowest, positive=prior.is_positive)
        self.tables = FamilyTables(data, prior, contrasts)
        self.goal = goal_of(metric, data, contrasts)
        self.by_head = None
        if isinstance(self.goal, AccuracyGoal):
            self.by_head = HeadScores(data, self.tables, contrasts, self.goal)
        self.incomplete = IncompleteRows(data, prior, contrasts) if data.partial else None

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        self.tables.turn()
        total = self._total(structure)
        known = self._together(structure, edits, total)
        scores = [
            known[i] if i in known else self.goal.score(self._after(structure, edit, total))
            for i, edit in enumerate(edits)
        ]
        return np.array(scores)

    def _together(self, structure: Structure, edits: Sequence[Edit], total: Array) -> dict[int, float]:
        """Return the scores of those edits that are best scored together, by position."""
        scores: dict[int, float] = {}
        if self.by_head is None:
            return scores
        for head, wanted in self._of_heads(edits).items():
            v = head[0]
            base = total - self.tables.added(v, structure[v]) if v in structure else total
            for last, score in self.by_head(head, [*wanted], base).items():
                scores[wanted[last]] = score
        return scores

    def _of_heads(self, edits: Sequence[Edit]) -> dict[Family, dict[int, int]]:
        """Gather edits of single families of complete columns by head; each by its last parent.

        Families without a table, and heads of a few families, are left out.
        """
        heads: dict[Family, dict[int, int]] = {}
        for i, edit in enumerate(edits):
            [(v, parents), *more] = [*edit.items()] or [(-1, None)]
            if parents is None or more or not self.data.partial.isdisjoint((v, *parents)):
                continue
            head, last = self.tables.split(v, parents)
            if self.tables.fits(head, last):
                heads.setdefault(head, {})[last] = i
        return {head: wanted for head, wanted in heads.items() if len(wanted) >= _FEW}

    def _total(self, structure: Structure) -> Array:
        """Return the log joint of a structure, (planes, tested rows)."""
        total = self.tables.of_class()
        for v, parents in structure.items():
            total += self.tables.added(v, parents)
        if self.incomplete is not None:
            self.incomplete.infer(structure, total)
        return total

    def _after(self, structure: Structure, edit: Edit, total: Array) -> Array:
        """Return the log joint after an edit, from that of the structure."""
        logs = total.copy()
        for v, parents in edit.items():
            if v in structure:
                logs -= self.tables.added(v, structure[v])
            if parents is not None:
                logs += self.tables.added(v, parents)
        if self.incomplete is not None:
            self.incomplete.amend(edit, logs, total)
        return logs
