"""Log joints of networks in which the level of a superparent selects the tables of all features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ..base.arrays import Array, Codes, Positions, blocks, log_sum_exp
from ..base.immutable import cached_property

_ROWS = 2**14
_BLOCK_CELLS = 2**16
_JOINT_LEVELS = 16  # maximum number of joint levels of features that are looked up together


def spans_of(cards: Iterable[int]) -> tuple[slice, ...]:
    """Return the slice of the levels of each feature among the levels of all features."""
    return tuple([slice(start, end) for start, end in pairwise(accumulate((0, *cards)))])


def number_levels(codes: Codes, spans: Sequence[slice]) -> Codes:
    """Number the levels of rows among the levels of all features; -1 stays."""
    starts = np.array([[span.start] for span in spans], dtype=np.int32).reshape(-1, 1)
    return np.where(codes < 0, -1, codes + starts)


def by_blocks(joint: Callable[[Codes], Array], codes: Codes, n_classes: int) -> Array:
    """Compute a log joint, (rows, classes), a block of rows at a time, which bounds memory."""
    result = np.empty((codes.shape[1], n_classes))
    for rows in blocks(len(result), _ROWS):
        result[rows] = joint(codes[:, rows])
    return result


@dataclass(frozen=True, eq=False)
class LookUp:
    """Log tables by superparent, (superparents, levels + 1, classes), the last level for a missing value.

    `spans` are the levels of each feature. Features with few joint levels are looked up together.
    """

    logs: Array
    spans: tuple[slice, ...]

    @cached_property
    def _tables(self) -> tuple[list[Array], list[int], list[int]]:
        """The joint tables of groups of features, the first feature of each, and the strides of features."""
        # Two features with 3 levels have 4 · 4 joint levels, counting the missing ones: one table with 16
        # entries per superparent is looked up, at first + 4 · second, in place of two tables with 4.
        tables, firsts, strides = list[Array](), list[int](), list[int]()
        for feature, span in enumerate(self.spans):
            table = self.logs.transpose(1, 0, 2)[[*range(span.start, span.stop), -1]]
            stride = len(tables[-1]) if tables else 1
            if tables and stride * len(table) <= _JOINT_LEVELS:
                joint: Array = table[:, None] + tables[-1]
                tables[-1] = joint.reshape(-1, *table.shape[1:])
            else:
                stride = 1
                tables.append(table.copy())
                firsts.append(feature)
            strides.append(stride)
        return tables, firsts, strides

    def columns(self, levels: Codes) -> Positions:
        """Return the position of each row in each joint table; levels are (features, rows), -1 if missing."""
        _, firsts, strides = self._tables
        starts = np.array([[span.start] for span in self.spans])
        ends = np.array([[span.stop] for span in self.spans])
        codes: Positions = np.where(levels < 0, ends, levels) - starts
        return np.asarray(np.add.reduceat(codes * np.array(strides)[:, None], firsts, axis=0))

    def total(self, columns: Positions, superparents: Codes, log_weights: Array) -> Array:
        """Return the log of the weighted sum over members of the joints of rows, (rows, classes).

        `superparents` is (members, rows), -1 if a member is not used, and `log_weights` is (members,).
        """
        _, n_superparents, n_classes = self._tables[0][0].shape
        result = np.empty((columns.shape[1], n_classes))
        for rows in blocks(len(result), _BLOCK_CELLS, len(superparents) * n_classes):
            index = superparents[:, rows].astype(np.intp)
            logs = np.zeros((*index.shape, n_classes)) + log_weights[:, None, None]
            buffer = np.empty_like(logs)
            for group, table in enumerate(self._tables[0]):
                places = index + columns[group, rows] * n_superparents
                logs += table.reshape(-1, n_classes).take(places, axis=0, mode="clip", out=buffer)
            np.copyto(logs, -np.inf, where=(index < 0)[..., None])
            result[rows] = log_sum_exp(logs, axis=0)
        return result

    def total_over(self, columns: Positions, span: slice) -> Array:
        """Return the log of the sum over the superparents with some levels, of which rows have none."""
        own = np.arange(span.start, span.stop)
        joint: Array = self.logs[own, own]
        result = np.empty((columns.shape[1], joint.shape[1]))
        for rows in blocks(len(result), _BLOCK_CELLS, joint.size):
            logs = np.tile(joint.ravel(), (rows.stop - rows.start, 1))
            for group, table in enumerate(self._tables[0]):
                logs += table[:, span].reshape(len(table), -1).take(columns[group, rows], axis=0)
            result[rows] = log_sum_exp(logs.reshape(-1, *joint.shape), axis=1)
        return result
