"""What families add to the log joint, counted row by row: for those with more joint values than rows.

The numbers that a table would hold are looked at only where a row asks for them. How often its values
occur in all rows, less how often in those of its own fold, is what the fold learns of them.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np

from ...base.arrays import Array
from ...base.caches import Cache
from ...network.priors import PseudoCounts
from .contrasts import Contrasts
from .folded import FoldedData, Index
from .neighbours import Parents
from .occurrences import JointValues, renumber

_KEPT_BYTES = 2**27
_LOOSE = 2**15  # numbers that are told apart whether they occur or not


class RowwiseTables:
    """Count families at each tested row, and give what they add there.

    Parameters
    ----------
    data : FoldedData
    prior : PseudoCounts
        Makes probabilities of counts.
    contrasts : Contrasts
        How logs of classes are held.
    """

    def __init__(self, data: FoldedData, prior: PseudoCounts, contrasts: Contrasts) -> None:
        self.data, self.prior, self.contrasts = data, prior, contrasts
        self._joint = JointValues(data.grouped)
        self._trained: Cache[Array] = Cache(_KEPT_BYTES)

    def turn(self) -> None:
        """Begin a step of the search: what the one before the last asked for need not be kept."""
        self._joint.turn()
        self._trained.turn()

    def added(self, variable: int, parents: Parents) -> Array:
        """Return what a family adds, (planes, tested rows); where a member is missing, any number."""
        card = self.data.cards[variable]
        extra = self.prior.per_cell(card, prod(self.data.cards[p] for p in parents) * self.data.n_classes)
        partial = self.data.partial.intersection((variable, *parents))
        logs = self._trained_at(frozenset((variable, *parents)), partial) + extra
        total = self._trained_at(frozenset(parents), partial) + card * extra
        if not self.prior.is_positive:  # where nothing is counted, all levels are as likely
            nothing = total == 0
            logs[nothing], total[nothing] = 1, card
        with np.errstate(divide="ignore"):
            np.log(logs, out=logs)
            logs -= np.log(total, out=total)
        del total  # both are as long as the rows
        return self.contrasts.planes(logs, axis=0)

    def _trained_at(self, columns: frozenset[int], partial: frozenset[int]) -> Array:
        """Count what each tested row's fold learns of its values in these columns, (classes, tested rows).

        Only rows in which ``partial`` is observed are counted.
        """
        kept = self._trained.get((columns, partial))
        if kept is not None:
            return kept
        data, n_tested = self.data, self.data.n_tested
        numbers, bound = self._joint.number(columns)
        most = max(n_tested, _LOOSE)
        in_fold, n_in_fold = renumber(
            numbers[:n_tested] * data.n_folds + data.fold, bound * data.n_folds, most
        )
        trained = np.empty((data.n_classes, n_tested))
        for of_class, (rows, tested) in zip(trained, self._rows_of_classes, strict=True):
            rows, tested = data.showing(partial, rows), data.showing(partial, tested)
            total = np.bincount(numbers.take(rows), data.weights_of(rows), minlength=bound)
            fold = np.bincount(in_fold.take(tested), data.weights_of(tested), minlength=n_in_fold)
            np.subtract(total.take(numbers[:n_tested]), fold.take(in_fold), out=of_class)
        return self._trained.put((columns, partial), trained, trained.nbytes)

    @cached_property
    def _rows_of_classes(self) -> list[tuple[Index, Index]]:
        """For each class, its rows among those that count all, and its tested rows."""
        every = np.arange(len(self.data.grouped))
        if not self.data.partition:
            every = every[self.data.n_tested :]
        of_class = self.data.grouped.codes[-1] % self.data.n_classes
        return [
            (every[of_class[every] == c], np.nonzero(of_class[: self.data.n_tested] == c)[0])
            for c in range(self.data.n_classes)
        ]
