"""What a structure gets right among test rows with missing features, by exact inference.

The tables of all folds stand side by side in one factor, so one call covers every fold. After an
edit, rows in which the changed families are observed need looked-up differences only; the
others are inferred again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Array, Codes, first_best, log
from ...frames.counting import flat_index
from ...inference.factors import Factor, sum_factors
from ...inference.log_joints import network_joint
from ...parameters.priors import Dirichlet
from .neighbours import Edit, Parents, Structure, apply


class IncompleteRows:
    """Count right answers in each fold, for the test rows that are not complete.

    Parameters
    ----------
    codes : (features, items) array of int
        -1 where missing. The items are rows as tested in a fold, and where folds do not
        partition the rows, all rows once more.
    classes, fold : (items,) arrays of int
    tests : (rows,) array of int
        The items to be predicted.
    cards : sequence of int
        Numbers of levels of the features.
    n_classes, n_folds : int
    partition : bool
        Whether the folds partition the rows.
    smooth : float
        As in `lp`.
    """

    def __init__(
        self,
        codes: Codes,
        classes: Codes,
        fold: Codes,
        tests: NDArray[np.intp],
        cards: Sequence[int],
        n_classes: int,
        n_folds: int,
        partition: bool,
        smooth: float,
    ) -> None:
        self.codes, self.classes, self.fold, self.cards = codes, classes, fold, cards
        self.n_classes, self.n_folds, self.partition, self.smooth = n_classes, n_folds, partition, smooth
        self.test_codes, self.test_fold = codes.take(tests, axis=1), fold[tests]
        self.truth = classes[tests]
        self.hidden = self.test_codes < 0
        self.tables: dict[tuple[int, ...], Factor] = {}
        self.prior = Factor((), self._logs([]))

    def hits(self, structure: Structure, edits: Sequence[Edit]) -> NDArray[np.intp]:
        """Return the right answers after each edit, (edits, folds)."""
        current = self._joint(structure, np.arange(len(self.truth)))
        result = np.empty((len(edits), self.n_folds), dtype=np.intp)
        for i, edit in enumerate(edits):
            right = first_best(self._after(structure, edit, current)) == self.truth
            result[i] = np.bincount(self.test_fold[right], minlength=self.n_folds)
        return result

    def _after(self, structure: Structure, edit: Edit, current: Array) -> Array:
        """Return the log joint after an edit, (rows, classes), from the current one."""
        changed = apply(structure, edit)
        if self.smooth == 0:  # differences of -inf are not defined
            return self._joint(changed, np.arange(len(self.truth)))
        old = [self._factor(v, structure[v]) for v in edit if v in structure]
        new = [self._factor(v, parents) for v, parents in edit.items() if parents is not None]
        members = sorted({u for factor in old + new for u in factor.scope})
        affected = self.hidden[members].any(axis=0) if members else np.zeros(len(self.truth), dtype=bool)
        again, kept = np.nonzero(affected)[0], np.nonzero(~affected)[0]
        result = current.copy()
        for factors, sign in ((old, -1), (new, 1)):
            if factors and len(kept):
                result[kept] += sign * sum_factors(
                    factors, self.test_codes[:, kept], self.test_fold[kept], complete=True
                )
        result[again] = self._joint(changed, again)
        return result

    def _joint(self, structure: Structure, rows: NDArray[np.intp]) -> Array:
        """Return the log joint at test rows, (rows, classes)."""
        number = {v: i for i, v in enumerate(structure)}
        factors = [self._factor(v, parents) for v, parents in structure.items()]
        local = [Factor(tuple(number[u] for u in f.scope), f.table) for f in factors]
        codes = self.test_codes[list(structure)][:, rows]
        return network_joint([*local, self.prior], codes, self.test_fold[rows])

    def _factor(self, v: int, parents: Parents) -> Factor:
        scope = (v, *parents)
        if scope not in self.tables:
            self.tables[scope] = Factor(scope, self._logs(scope))
        return self.tables[scope]

    def _logs(self, scope: Sequence[int]) -> Array:
        """Return ln θ of a family in every fold, (levels of its features…, folds, classes)."""
        observed = (self.codes[list(scope)] >= 0).all(axis=0)
        where = [*(self.codes[u] for u in scope), self.fold, self.classes]
        n_slots = self.n_folds + (not self.partition)
        shape = (*(self.cards[u] for u in scope), n_slots, self.n_classes)
        index = flat_index([code[observed] for code in where], shape)
        counts = np.bincount(index, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
        total = counts.sum(axis=-2, keepdims=True) if self.partition else counts[..., -1:, :]
        trained = total - counts[..., : self.n_folds, :]
        if scope:
            return log(Dirichlet(self.smooth)(trained))
        return log(np.moveaxis(Dirichlet(self.smooth)(np.moveaxis(trained, -1, 0)), 0, -1))
