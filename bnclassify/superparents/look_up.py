"""Log joints of networks in which the level of a superparent selects the tables of all features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ..tools.arrays import (
    BLOCK_CELLS,
    Array,
    Codes,
    Mask,
    Positions,
    Slice,
    log,
    log_sum_exp,
    one_thread,
    slices,
)
from ..tools.immutable import cached_property

_BLOCK_ROWS = 96  # number of rows that are multiplied at once, or a multiple
_PRODUCTS_PER_LOOK_UP = 60  # number of multiplications in the time of a look-up


def spans_of_levels(cards: Iterable[int]) -> tuple[Slice, ...]:
    """Return the slice of the levels of each feature among the levels of all features."""
    return tuple([slice(start, end) for start, end in pairwise(accumulate((0, *cards)))])


def level_positions(codes: Codes, spans: Sequence[Slice]) -> Codes:
    """Number the levels of rows among the levels of all features; -1 stays."""
    starts = np.array([[span.start] for span in spans], dtype=np.int32).reshape(-1, 1)
    return np.where(codes < 0, -1, codes + starts)


def log_joint_by_blocks(joint: Callable[[Codes], Array], codes: Codes, n_classes: int) -> Array:
    """Compute a log joint, (rows, classes), a block of rows at a time, which bounds memory."""
    result = np.empty((codes.shape[1], n_classes))
    for rows in slices(len(result), most=2**14):
        result[rows] = joint(codes[:, rows])
    return result


@dataclass(frozen=True, eq=False)
class LookUp:
    """Log tables by superparent, (superparents, levels + 1, classes), missing values last.

    `spans` are the levels of each feature. The entries at the levels of a row
    are looked up for its superparents and added up or, if levels are few, added
    up for all superparents by a product of matrices.
    """

    logs: Array
    spans: tuple[Slice, ...]

    def log_joint_of_rows(
        self, levels: Codes, superparents: Codes, log_weights: Array, *, marginalizes: bool = False
    ) -> Array:
        """Return the log of the weighted sum over members of the joints of rows, (rows, classes).

        `levels` are (features, rows), -1 if missing, `superparents` is
        (members, rows), -1 if a member is not used, and `log_weights` is
        (members,). If it ``marginalizes``, each superparent is the level of a
        feature, and if it is missing, the member is the sum over the levels of
        the feature.
        """
        if self._is_product_faster(len(superparents)):
            return self._log_joint_by_product(levels, superparents, log_weights, marginalizes)
        places = self._places_in_tables(levels)
        total = self._log_joint_by_look_up(places, superparents, log_weights)
        for i, span in enumerate(self.spans if marginalizes else ()):
            if len(rows := np.flatnonzero(levels[i] < 0)):
                over_levels = self._log_joint_over_levels(places[:, rows], span) + log_weights[i]
                total[rows] = np.logaddexp(total[rows], over_levels)
        return total

    def _is_product_faster(self, members: int) -> bool:
        """Whether a product is faster than look-ups of members, and all entries are finite."""
        look_ups = members * len(self._group_starts_and_strides[0])
        # 2**22: number of cells of tables up to which a product for a single row is fast
        fast = self.logs.size <= min(_PRODUCTS_PER_LOOK_UP * look_ups, 2**22)
        return fast and self._all_logs_are_finite

    @cached_property
    def _all_logs_are_finite(self) -> bool:
        """Whether no entry is -inf, whose product with 0 is not a number."""
        return bool(np.isfinite(self.logs).all())

    @cached_property
    def _group_starts_and_strides(self) -> tuple[list[int], list[int]]:
        """The first feature of each group looked up in one table, and strides of features."""
        # Two features with 3 levels have 4 · 4 joint levels, counting the missing ones: one table
        # with 16 entries per superparent is looked up, at first + 4 · second, in place of two
        # tables with 4.
        # 16: maximum number of joint levels of features that are looked up together,
        # 2**16: or more, if their table has no more cells than these
        most = max(16, 2**16 // max(1, self.logs.shape[0] * self.logs.shape[2]))
        firsts, strides, joint = list[int](), list[int](), most + 1
        for feature, span in enumerate(self.spans):
            size = span.stop - span.start + 1
            if joint * size > most:
                firsts.append(feature)
                joint = 1
            strides.append(joint)
            joint *= size
        return firsts, strides

    @cached_property
    def _joint_log_tables(self) -> list[Array]:
        """The joint table of each group of features, (joint levels, superparents, classes)."""
        tables = list[Array]()
        firsts = set(self._group_starts_and_strides[0])
        for feature, span in enumerate(self.spans):
            table = self.logs.transpose(1, 0, 2)[[*range(span.start, span.stop), -1]]
            if feature in firsts:
                tables.append(table.copy())
            else:
                joint: Array = table[:, None] + tables[-1]
                tables[-1] = joint.reshape(-1, *table.shape[1:])
        return tables

    def _places_in_tables(self, levels: Codes) -> Positions:
        """Return the position of each row in each joint table, (tables, rows)."""
        starts = np.array([[span.start] for span in self.spans])
        ends = np.array([[span.stop] for span in self.spans])
        codes: Positions = np.where(levels < 0, ends, levels) - starts
        firsts, strides = self._group_starts_and_strides
        return np.asarray(np.add.reduceat(codes * np.array(strides)[:, None], firsts, axis=0))

    def _log_joint_by_look_up(
        self, places: Positions, superparents: Codes, log_weights: Array
    ) -> Array:
        _, n_superparents, n_classes = self._joint_log_tables[0].shape
        result = np.empty((places.shape[1], n_classes))
        for rows in slices(len(result), len(superparents) * n_classes):
            index = superparents[:, rows].astype(np.intp)
            logs = np.zeros((*index.shape, n_classes)) + log_weights[:, None, None]
            buffer = np.empty_like(logs)
            for table, of_rows in zip(self._joint_log_tables, places[:, rows], strict=True):
                entries, at = table.reshape(-1, n_classes), index + of_rows * n_superparents
                logs += entries.take(at, axis=0, mode="clip", out=buffer)
            np.copyto(logs, -np.inf, where=(index < 0)[..., None])
            result[rows] = _log_sum_exp_in_place(logs)
        return result

    def _log_joint_over_levels(self, places: Positions, span: Slice) -> Array:
        """Return the log of the sum over superparents with some levels, of which rows lack some."""
        own = np.arange(span.start, span.stop)
        joint: Array = self.logs[own, own]
        result = np.empty((places.shape[1], joint.shape[1]))
        for rows in slices(len(result), joint.size):
            logs = np.tile(joint.ravel(), (rows.stop - rows.start, 1))
            for table, of_rows in zip(self._joint_log_tables, places[:, rows], strict=True):
                logs += table[:, span].reshape(len(table), -1).take(of_rows, axis=0)
            result[rows] = log_sum_exp(logs.reshape(-1, *joint.shape), axis=1)
        return result

    def _log_joint_by_product(
        self, levels: Codes, superparents: Codes, log_weights: Array, marginalizes: bool
    ) -> Array:
        """Return the log joint by products of full registers, so that rows affect no other row."""
        cells = self.logs.shape[0] * self.logs.shape[2]
        size = _BLOCK_ROWS * max(1, BLOCK_CELLS // (_BLOCK_ROWS * cells))
        result = np.empty((levels.shape[1], self.logs.shape[2]))
        complete: Mask = np.asarray((levels >= 0).all(axis=0))
        with one_thread:
            for has_all in (True, False):
                some = np.flatnonzero(complete == has_all)
                for part in slices(len(some), most=size):
                    own = some[part]
                    # 16: BLAS adds up each row of a multiple in the same order
                    rows = np.resize(own, -(-len(own) // 16) * 16)
                    if marginalizes and not has_all:
                        total = self._log_joint_of_incomplete_rows(levels[:, rows], log_weights)
                    else:
                        sums = self._sums_of_superparents(levels[:, rows], has_all)
                        used = superparents[:, rows]
                        at: Positions = np.arange(len(rows)) * sums.shape[1] + used
                        logs = sums.reshape(-1, sums.shape[2]).take(at, axis=0, mode="clip")
                        logs += log_weights[:, None, None]
                        np.copyto(logs, -np.inf, where=(used < 0)[..., None])
                        total = _log_sum_exp_in_place(logs)
                    result[own] = total[: len(own)]
        return result

    def _sums_of_superparents(self, levels: Codes, complete: bool) -> Array:
        """Return all superparents' sums, (rows, superparents, classes), by a product of matrices.

        The levels of rows, as zeros and ones, are multiplied with the tables.
        """
        if complete:
            numbers, matrix = self._differences_to_first_levels
            ones: Array = np.ones((1 + len(numbers), levels.shape[1]))
            np.equal(levels[self._feature_of_level[numbers]], numbers[:, None], out=ones[1:])
        else:
            ones, matrix = self._indicators_of_levels(levels), self._logs_by_level
        return np.asarray(ones.T @ matrix).reshape(levels.shape[1], *self.logs.shape[::2])

    def _indicators_of_levels(self, levels: Codes) -> Array:
        """Return 1 for the levels that rows have, and 0 for others, (levels, rows)."""
        ones = np.empty((len(self._feature_of_level), levels.shape[1]))
        np.equal(levels[self._feature_of_level], np.arange(len(ones))[:, None], out=ones)
        return ones

    def _log_joint_of_incomplete_rows(self, levels: Codes, log_weights: Array) -> Array:
        """Return the log of the sum over the superparents that are levels of rows, or may be."""
        n, _, n_classes = self.logs.shape
        own, matrix = self._entries_of_own_levels_and_matrix
        sums = (self._indicators_of_levels(levels).T @ matrix).reshape(-1, n_classes, n)
        missing: Array = (levels[self._feature_of_level] < 0).T.astype(np.float64)
        sums += missing[:, None] * own
        sums += log_weights[self._feature_of_level]
        top: Array = sums.max(axis=2)
        sums -= top[..., None]
        np.exp(sums, out=sums)
        return np.asarray(np.log(sums.sum(axis=2)) + top)

    @cached_property
    def _entries_of_own_levels_and_matrix(self) -> tuple[Array, Array]:
        """The entries of superparents at their own level, and tables without other levels.

        The first is (classes, superparents), the second (levels, classes ·
        superparents). If a row has another level of the feature of a
        superparent, its sum is so small that its exponential is 0.
        """
        every = np.arange(len(self._feature_of_level))
        matrix = self.logs[:, :-1].transpose(1, 2, 0).copy()
        own = matrix[every, :, every]
        # -1e200: log of 0 in a product, where -inf · 0 is not a number
        is_same_feature: Mask = self._feature_of_level[:, None] == self._feature_of_level
        np.copyto(matrix, -1e200, where=is_same_feature[:, None])
        matrix[every, :, every] = own
        return own.T.copy(), matrix.reshape(len(every), -1)

    @cached_property
    def _feature_of_level(self) -> Positions:
        cards = [span.stop - span.start for span in self.spans]
        return np.repeat(np.arange(len(cards)), cards)

    @cached_property
    def _logs_by_level(self) -> Array:
        """The tables as (levels, superparents · classes)."""
        return self.logs[:, :-1].transpose(1, 0, 2).reshape(self.logs.shape[1] - 1, -1)

    @cached_property
    def _differences_to_first_levels(self) -> tuple[Positions, Array]:
        """The levels but the first of each feature, and a matrix for rows without missing values.

        Its first row is the sum of the entries at all first levels; each other
        row is the difference between the entries at a level and at the first
        level of its feature.
        """
        firsts = np.unique(self._feature_of_level, return_index=True)[1]
        others = np.delete(np.arange(len(self._feature_of_level)), firsts)
        table, first = self._logs_by_level, firsts[self._feature_of_level[others]]
        return others, np.vstack([table[firsts].sum(axis=0), table[others] - table[first]])


def _log_sum_exp_in_place(logs: Array) -> Array:
    """Return the log of the sum of exponentials over the first axis; it overwrites logs."""
    top: Array = logs.max(axis=0)
    logs -= np.where(top == -np.inf, 0.0, top)
    np.exp(logs, out=logs)
    return log(logs.sum(axis=0)) + top
