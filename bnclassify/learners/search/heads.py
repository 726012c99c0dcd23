"""Right answers with many families at once: those that differ in their last parent alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array
from .contrasts import Contrasts
from .folded import FoldedData, Index
from .goals import AccuracyGoal
from .tables import Family, FamilyTables, HeadTables

_BLOCK_VALUES = 2**17  # log joints that are compared at once, within the cache
_BLOCK_ROWS = 2**16


class HeadScores:
    """Score by accuracy the families of a head, all at once.

    In most rows the best class is so far ahead that no level of any last parent can change it. These
    are settled by the bounds of the tables, and the others looked at family by family.

    Parameters
    ----------
    data : FoldedData
    tables : FamilyTables
    contrasts : Contrasts
        How log joints are held.
    goal : AccuracyGoal
    """

    def __init__(
        self, data: FoldedData, tables: FamilyTables, contrasts: Contrasts, goal: AccuracyGoal
    ) -> None:
        self.data, self.tables, self.contrasts, self.goal = data, tables, contrasts, goal

    def __call__(self, head: Family, lasts: Sequence[int], base: Array) -> dict[int, float]:
        """Return the score with each last parent, where what the other families add is ``base``."""
        scores: dict[int, float] = {}
        states = self.tables.states(head)
        for tables, covered in self.tables.of_head(head, lasts):
            hits: NDArray[Any] = np.zeros((len(covered), self.data.n_folds))
            for start in range(0, len(states), _BLOCK_ROWS):
                block = slice(start, start + _BLOCK_ROWS)
                rows = np.arange(start, min(start + _BLOCK_ROWS, len(states)))
                right, rows = self._settle(tables, states[block], base[:, block], rows)
                hits += right
                hits += self._hits(tables, covered, states.take(rows), base.take(rows, axis=1), rows)
            scores.update(zip(covered, self.goal.scores(hits).tolist(), strict=True))
        return scores

    def _settle(
        self, tables: HeadTables, states: Index, base: Array, rows: Index
    ) -> tuple[NDArray[Any], Index]:
        """Count right answers by fold in the rows that none of the families can turn to another class.

        Returns them, and the other rows.
        """
        low = base + tables.low.take(states, axis=1)
        high = base + tables.high.take(states, axis=1)
        settled = self.contrasts.settled(low, high)
        right = settled & self.goal.right(low, rows)
        return self.goal.hits(right[None], rows), rows[~settled]

    def _hits(
        self, tables: HeadTables, lasts: Sequence[int], states: Index, base: Array, rows: Index
    ) -> NDArray[Any]:
        """Count right answers by fold in some rows, with each of the families, (families, folds)."""
        cells = states * tables.width
        hits = []
        families_per_block = max(1, _BLOCK_VALUES // max(1, base.size))
        for block in (lasts[i : i + families_per_block] for i in range(0, len(lasts), families_per_block)):
            index = self.data.tested.take(block, axis=0).take(rows, axis=1) + cells
            index += np.array([tables.starts[last] for last in block])[:, None]
            logs = tables.flat.take(index, axis=1)
            logs += base[:, None]
            hits.append(self.goal.hits(self.goal.right(np.moveaxis(logs, 0, 1), rows), rows))
        return np.concatenate(hits)
