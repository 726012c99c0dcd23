"""Cross-validated accuracy of many structures that differ in a few families.

The log joint of a test row is a sum over families. What a family adds to it at every test row,
its table counted on the rest of the data in each fold, is here called its contribution. A
structure that is one edit away costs only the contributions of the families that changed.

Families that share all but their last parent, their *head*, are counted together, and their
tables kept for the steps to come. All this is for complete test rows; the others are left to
`IncompleteRows`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import log as ln
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ...base.arrays import TOLERANCE, Array, log, normalize
from ...frames.counting import MAX_CELLS
from ...frames.folding import Rows
from ...frames.schema import Dataset
from .incomplete import IncompleteRows
from .neighbours import Edit, Parents, Structure

KEPT_BYTES = 2**28
"""Tables, and contributions, are each kept from step to step as long as they fit in here."""

_BLOCK_VALUES = 2**17  # log joints that are compared at once, within the cache
_HOT_BYTES = 2**28
_PAIR_CELLS = 2**24
_TABLE_CELLS = 2**20  # tables of one head that are made at once
_FEW = 4  # families with one head, up to where each is better treated on its own

Family = tuple[int, ...]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Tables:
    """Logs of families with one head, in every fold.

    Attributes
    ----------
    planes : (planes, states, width) array
        A state is a fold with values of the head; the levels of all last parents lie side by side.
    states : (test rows,) array
    start : array
        Where the levels of a last parent begin, by its number.
    low, high : (planes, states) arrays
        The range over all levels.
    """

    planes: Array
    states: Index
    start: Index
    low: Array
    high: Array

    @property
    def nbytes(self) -> int:
        return self.planes.nbytes + self.states.nbytes


class FoldScorer:
    """Score structures by the mean over folds of the accuracy in the fold.

    Logs of a class are kept relative to the first class, which leaves one plane of values a
    further class. With one class, and without smoothing, where a probability may be 0, there is
    a plane for every class, and log 0 is a number so low that no possible row comes near half
    of it.

    Parameters
    ----------
    data : Dataset
        The features, then the class, which no row lacks. Structures name features by their number.
    tests : list of arrays
        The rows that each fold tests; it trains on the others.
    smooth : float
        As in `lp`.
    """

    def __init__(self, data: Dataset, tests: Sequence[Rows], smooth: float) -> None:
        rows = np.concatenate(tests)
        fold = np.repeat(np.arange(len(tests)), [len(test) for test in tests])
        n_tested, self.n_folds, self.n_classes = len(rows), len(tests), data.cards[-1]
        self.partition = np.array_equal(np.sort(rows), np.arange(len(data)))
        if not self.partition:  # one more fold that holds every row counts the totals
            rows = np.concatenate([rows, np.arange(len(data))])
            fold = np.concatenate([fold, np.full(len(data), len(tests))])
        self.smooth, self.relative = smooth, smooth > 0 and self.n_classes > 1
        self.floor = -8.0 * len(data.columns) * ln(len(data) + 2)
        self.fold, self.classes = fold, data.codes[-1, rows].astype(np.intp)
        # A variable of one level in place of the class stands for "no further parent".
        self.nothing, self.cards = len(data.columns) - 1, (*data.cards[:-1], 1)
        self.codes = data.codes.take(rows, axis=1).astype(np.intp)
        self.codes[-1] = 0
        self.incomplete = data.incomplete
        complete = (self.codes[:, :n_tested] >= 0).all(axis=0)
        self.tests = np.nonzero(complete)[0]
        self.every_test = np.arange(len(self.tests))
        self.test_codes = self.codes.take(self.tests, axis=1)
        self.truth = self.classes[self.tests].astype(data.codes.dtype)
        sizes = np.array([len(test) for test in tests])
        self.weights = 1 / (sizes * len(sizes))
        self.bounds = np.searchsorted(fold[self.tests], np.arange(self.n_folds + 1))
        self.offsets = np.cumsum([0, *self.cards])
        self.hot = self._one_hot()
        self.tables: dict[Family, _Tables] = {}
        self.table_room = KEPT_BYTES
        self.contributions: dict[Family, Array] = {}
        self.contribution_room = KEPT_BYTES
        self.prior = self._prior()
        self.n_planes = len(self.prior)
        self.rest: IncompleteRows | None = None
        if not complete.all():
            self.rest = IncompleteRows(
                self.codes[:-1],
                self.classes,
                fold,
                np.nonzero(~complete)[0],
                data.cards[:-1],
                self.n_classes,
                self.n_folds,
                self.partition,
                smooth,
            )

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        current = {v: self._contribution(v, parents) for v, parents in structure.items()}
        total = sum(current.values(), self.prior)
        scores = np.empty(len(edits))
        self._prepare([edit for edit in edits if len(edit) > 1])
        heads: dict[Family, dict[int, int]] = {}
        for i, edit in enumerate(edits):
            (v, parents), *more = [*edit.items()] or [(-1, None)]
            if parents is not None and not more:
                head, last = self._split(v, parents)
                heads.setdefault(head, {})[last] = i
            else:
                scores[i] = self._accuracies(self._log_joint(edit, current, total)[None], self.every_test)[0]
        for head, wanted in heads.items():
            base = total - current[head[0]] if head[0] in current else total
            for lasts, result in self._score_head(head, list(wanted), base):
                scores[[wanted[last] for last in lasts]] = result
        if self.rest is not None:
            scores += self.rest.hits(structure, edits) @ self.weights
        return scores

    def _log_joint(self, edit: Edit, current: dict[Any, Array], total: Array) -> Array:
        """Return the log joint after an edit of several families, (planes, test rows)."""
        logs = total.copy()
        for v, parents in edit.items():
            if v in current:
                logs -= current[v]
            if parents is not None:
                logs += self._contribution(v, parents)
        return logs

    def _score_head(
        self, head: Family, lasts: Sequence[int], base: Array
    ) -> Iterator[tuple[list[int], Array]]:
        """Score families that differ in their last parent, where the others add up to ``base``.

        Rows that none of them can turn to another class are counted once for all.
        """
        for tables, some in self._tables_of(head, lasts):
            rows, sure = self.every_test, np.zeros(self.n_folds, dtype=np.int64)
            if len(some) >= _FEW:
                low = base + tables.low.take(tables.states, axis=1)
                high = base + tables.high.take(tables.states, axis=1)
                settled = self._settled(low, high)
                right = settled & (self._predict(low[None])[0] == self.truth)
                sure = np.bincount(self.fold[self.tests[right]], minlength=self.n_folds)
                rows = np.nonzero(~settled)[0]
            states = tables.states.take(rows) * tables.planes.shape[2]
            base_there = base.take(rows, axis=1)
            size = max(1, _BLOCK_VALUES // max(1, base_there.size))
            for block in (some[i : i + size] for i in range(0, len(some), size)):
                index = self.test_codes.take(block, axis=0).take(rows, axis=1)
                index += states
                index += tables.start[block][:, None]
                logs = tables.planes.reshape(self.n_planes, -1).take(index, axis=1)
                logs += base_there[:, None]
                yield block, self._accuracies(np.moveaxis(logs, 0, 1), rows, sure)

    def _settled(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Tell in which rows one class wins whatever values within the bounds are added."""
        if self.relative and self.n_classes == 2:
            return (low[0] > TOLERANCE) | (high[0] <= TOLERANCE)
        low, high = self._all_planes(low), self._all_planes(high)
        best = low.max(axis=0)
        contenders = np.count_nonzero(high >= best - TOLERANCE, axis=0)
        return (contenders == 1) & (best > self.floor / 2)

    def _accuracies(self, logs: Array, rows: Index, sure: NDArray[Any] | int = 0) -> Array:
        """Turn log joints into scores.

        Parameters
        ----------
        logs : (structures, planes, rows) array
        rows : (rows,) array
            Test rows, ascending.
        sure : (folds,) array
            Right answers in the other test rows.
        """
        hits = self._hits(self._predict(logs) == self.truth[rows], rows)
        return (sure + hits) @ self.weights

    def _hits(self, correct: NDArray[np.bool_], rows: Index) -> NDArray[Any]:
        """Count what is right in each fold, (structures, rows) to (structures, folds); rows ascend."""
        running = np.zeros((len(correct), len(rows) + 1), dtype=np.int32)
        np.cumsum(correct, axis=1, out=running[:, 1:])
        until = running[:, np.searchsorted(rows, self.bounds)]
        return until[:, 1:] - until[:, :-1]

    def _all_planes(self, logs: Array) -> Array:
        """Add the plane of the first class where the others are relative to it."""
        return np.concatenate([np.zeros_like(logs[:1]), logs]) if self.relative else logs

    def _predict(self, logs: Array) -> NDArray[Any]:
        """Return the first class that ties with the best, (structures, test rows)."""
        if self.relative and self.n_classes == 2:
            return logs[:, 0] > TOLERANCE
        if self.relative:
            planes = [np.float64(0), *np.moveaxis(logs, 1, 0)]
            best = np.maximum(logs.max(axis=1, initial=0), 0) - TOLERANCE
        else:
            planes = [*np.moveaxis(np.where(logs < self.floor / 2, -np.inf, logs), 1, 0)]
            best = np.max(planes, axis=0) - TOLERANCE
        predicted = np.full(best.shape, self.n_classes - 1, dtype=self.truth.dtype)
        for c in reversed(range(self.n_classes - 1)):
            np.putmask(predicted, planes[c] >= best, c)
        return predicted

    def _split(self, v: int, parents: Parents) -> tuple[Family, int]:
        return ((v, *parents[:-1]), parents[-1]) if parents else ((v,), self.nothing)

    def _contribution(self, v: int, parents: Parents) -> Array:
        """Return what one family adds, (planes, test rows), kept from step to step if there is room."""
        kept = self.contributions.get((v, *parents))
        if kept is None:
            head, last = self._split(v, parents)
            tables = self.tables.get((*head, last)) or self._tables_of(head, [last])[0][0]
            index = self.test_codes[last] + int(tables.start[last])
            index += tables.states * tables.planes.shape[2]
            kept = tables.planes.reshape(self.n_planes, -1).take(index, axis=1)
            if kept.nbytes <= self.contribution_room:
                self.contribution_room -= kept.nbytes
                self.contributions[v, *parents] = kept
        return kept

    def _prepare(self, edits: Sequence[Edit]) -> None:
        """Count the families that edits ask for, those of one head together."""
        heads: dict[Family, dict[int, None]] = {}
        for edit in edits:
            for v, parents in edit.items():
                if parents is not None:
                    head, last = self._split(v, parents)
                    heads.setdefault(head, {})[last] = None
        for head, lasts in heads.items():
            self._tables_of(head, list(lasts))

    def _tables_of(self, head: Family, lasts: Sequence[int]) -> list[tuple[_Tables, list[int]]]:
        """Return tables that together hold the families of a head with these last parents."""
        found: dict[int, tuple[_Tables, list[int]]] = {}
        missing = []
        for last in lasts:
            tables = self.tables.get((*head, last))
            if tables is None:
                missing.append(last)
            else:
                found.setdefault(id(tables), (tables, []))[1].append(last)
        result = list(found.values())
        # As many families at once as fit; large ones are counted one by one.
        cells = (self.n_folds + 1) * self.n_classes * prod(self.cards[u] for u in head)
        while missing:
            widths = accumulate(self.cards[q] for q in missing)
            fit = sum(1 for width in widths if cells * width <= _TABLE_CELLS)
            some, missing = missing[: max(1, fit)], missing[max(1, fit) :]
            result.append(
                (self._make_tables(head, some, every=cells * self.offsets[-1] <= _TABLE_CELLS), some)
            )
        return result

    def _make_tables(self, head: Family, lasts: Sequence[int], every: bool) -> _Tables:
        """Count the families of a head with these last parents, and keep their logs if there is room.

        If ``every``, all last parents may be counted at once.
        """
        if every and self.hot is not None and (len(lasts) >= _FEW or len(head) == 1):
            # One product counts all; heads of one variable will be asked for them soon.
            lasts = [q for q in range(len(self.cards)) if q not in head]
        v, *parents = head
        configuration, n_configurations = self._joint(parents)
        n_states = self.cards[v] * n_configurations
        observed = self._observed(head)
        state = np.where(observed, self.codes[v] * n_configurations + configuration, 0)
        starts = list(accumulate((self.cards[q] for q in lasts), initial=0))
        if self.pairs is not None and not parents:
            own = slice(self.offsets[v], self.offsets[v + 1])
            columns = self._columns(lasts)
            counts = self.pairs[:, :, own, columns]
        else:
            counts = self._count(state, observed, n_states, lasts, starts)
        logs = self._log_table(
            counts.reshape(-1, self.n_classes, self.cards[v], n_configurations, starts[-1]), 2
        )
        planes = logs.reshape(len(logs), -1, starts[-1])
        start = np.zeros(len(self.cards), dtype=np.intp)
        start[list(lasts)] = starts[:-1]
        tables = _Tables(
            planes=planes,
            states=(self.fold * n_states + state)[self.tests],
            start=start,
            low=planes.min(axis=2),
            high=planes.max(axis=2),
        )
        if tables.nbytes <= self.table_room:
            self.table_room -= tables.nbytes
            self.tables.update({(*head, last): tables for last in lasts})
        return tables

    def _observed(self, features: Sequence[int]) -> NDArray[np.bool_]:
        """Tell in which items all of these features are observed."""
        return np.logical_and.reduce([self.codes[feature] >= 0 for feature in features])

    def _joint(self, features: Sequence[int]) -> tuple[Index | int, int]:
        """Number the joint values of features, only those that occur where there could be many."""
        joint: Index | int = 0
        card = 1
        for feature in features:
            joint = joint * self.cards[feature] + np.maximum(self.codes[feature], 0)
            card *= self.cards[feature]
            if card > len(self.fold):
                occurring, joint = np.unique(joint, return_inverse=True)
                card = len(occurring)
        return joint, card

    def _count(
        self,
        state: Index,
        observed: NDArray[np.bool_],
        n_states: int,
        lasts: Sequence[int],
        starts: Sequence[int],
    ) -> Array:
        """Count fold, class and state with the levels of features, one after the other; flat."""
        cell = (self.fold * self.n_classes + self.classes) * n_states + state
        n_cells = (self.n_folds + (not self.partition)) * self.n_classes * n_states
        if n_cells * starts[-1] > MAX_CELLS:
            raise ValueError(
                f"dataset: a candidate's tables would have {n_cells * starts[-1]:,} cells, more than "
                f"{MAX_CELLS:,}; merge rare levels"
            )
        if self.hot is not None and len(lasts) >= _FEW:
            member = csc_array(
                (observed.astype(np.float32), cell, np.arange(len(cell) + 1)), shape=(n_cells, len(cell))
            )
            return (member @ self.hot)[:, self._columns(lasts)].astype(np.float64)
        counts = np.zeros(n_cells * starts[-1])
        for q, start in zip(lasts, starts, strict=False):
            index = cell * starts[-1] + start + self.codes[q]
            if self.incomplete.any():
                index = index[observed & (self.codes[q] >= 0)]
            counts += np.bincount(index, minlength=len(counts))
        return counts

    def _columns(self, features: Sequence[int]) -> Index:
        """Return where the levels of features stand among those of all."""
        chosen = np.zeros(len(self.cards), dtype=bool)
        chosen[list(features)] = True
        if list(features) == np.nonzero(chosen)[0].tolist():
            return np.nonzero(np.repeat(chosen, self.cards))[0]
        return np.concatenate([np.arange(self.offsets[q], self.offsets[q + 1]) for q in features])

    @cached_property
    def pairs(self) -> Array | None:
        """Counts of all pairs of levels by fold and class, or None if they would be many.

        (folds, classes, levels of all features, levels of all features)
        """
        n_slots, n_levels = self.n_folds + (not self.partition), self.offsets[-1]
        shape = (n_slots, self.n_classes, n_levels, n_levels)
        if self.hot is None or prod(shape) > _PAIR_CELLS:
            return None
        group = (self.fold * self.n_classes + self.classes) * n_levels
        cells = np.where(self.codes >= 0, group + self.offsets[:-1, None] + self.codes, 0)
        each = np.arange(0, cells.size + 1, len(cells))
        ones = (self.codes >= 0).T.astype(np.float32).ravel()
        member = csc_array((ones, cells.T.ravel(), each), shape=(prod(shape[:-1]), len(group)))
        return (member @ self.hot).reshape(shape).astype(np.float64)

    def _one_hot(self) -> NDArray[np.float32] | None:
        """Return zeros and ones, (rows, levels of all features), or None if that would be large."""
        if self.offsets[-1] * len(self.fold) * 4 > _HOT_BYTES:
            return None
        hot = np.zeros((len(self.fold), self.offsets[-1]), dtype=np.float32)
        for code, offset in zip(self.codes, self.offsets, strict=False):
            rows = np.nonzero(code >= 0)[0]
            hot[rows, offset + code[rows]] = 1
        return hot

    def _log_table(self, counts: Array, variable_axis: int) -> Array:
        """Turn counts of tested rows, (folds, classes, …), into logs trained on the others, planes first."""
        total = counts.sum(axis=0) if self.partition else counts[-1]
        logs = log(normalize(total - counts[: self.n_folds] + self.smooth, axis=variable_axis))
        planes = logs[:, 1:] - logs[:, :1] if self.relative else np.maximum(logs, self.floor)
        return np.ascontiguousarray(np.moveaxis(planes, 1, 0))

    def _prior(self) -> Array:
        """Return what the class itself adds, (planes, test rows)."""
        cells = self.fold * self.n_classes + self.classes
        size = (self.n_folds + (not self.partition)) * self.n_classes
        counts = np.bincount(cells, minlength=size).reshape(-1, self.n_classes).astype(np.float64)
        return self._log_table(counts, variable_axis=1)[:, self.fold[self.tests]]
