"""Log joints of estimators that differ in their superparents, all at once.

The log joint of a row is a sum over its features of ln P(level | superparent's level, class). For features
with few levels, a product of matrices gives it for every level that a superparent might have: the levels of
the rows as zeros and ones, times the logs of all tables. For features with many levels, looking up the
levels of each row is less work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, one_thread

IMPOSSIBLE = -1e300
"""Represents log 0 in sums, where 0 · -inf is not a number."""

KEPT_CELLS = 2**24
"""Cells of log tables up to which a model keeps them for the next prediction."""

_ROWS = 2**14
_FEW_LEVELS = 4  # average number of levels up to which products are faster
_BLOCK_CELLS = 2**16
_BLOCK_ROWS = 96  # or a multiple, which fills the registers of matrix products without a remainder

Numbers = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows, padded to one shape, so that a row has the same result to the last bit among any others.

    `levels` is (features, rows), `picks` (estimators, rows) has the position of each estimator's superparent
    in the stack. `sums_at(rows, picks)` returns sums, (…, classes), for arrays that broadcast.
    """

    rows: slice
    levels: Numbers
    picks: Numbers
    sums_at: Callable[[Numbers, Numbers], Array]

    def sums(self) -> Array:
        """Return the sums of each estimator, (estimators, rows, classes); arbitrary if a pick is -1."""
        return self.sums_at(np.arange(self.picks.shape[1]), self.picks)


@dataclass(frozen=True, eq=False)
class Stack:
    """Log tables of estimators, one for each level that a superparent may have.

    `logs`, (superparents, classes, levels), has ln P(level | superparent, class), and at the superparent's
    own level ln P(superparent, class); `IMPOSSIBLE` instead of -inf. `feature` has the feature of each
    level, and `own_level` the level of each superparent.
    """

    logs: Array
    feature: NDArray[np.intp]
    own_level: NDArray[np.intp]

    @cached_property
    def joint(self) -> Array:
        """Ln P(superparent, class), (superparents, classes)."""
        return np.asarray(self.logs[np.arange(len(self.own_level)), :, self.own_level])

    def blocks(self, levels: Numbers, picks: Numbers) -> Iterator[Block]:
        """Yield blocks of rows, whose sums are valid until the next; levels are -1 where missing."""
        n_superparents, n_classes, n_levels = self.logs.shape
        products = n_levels <= _FEW_LEVELS * len(levels)
        width = (n_superparents if products else len(levels)) * n_classes
        n = _BLOCK_ROWS * max(1, _BLOCK_CELLS // (width * _BLOCK_ROWS))
        sums_of = self._multiply(n) if products else self._look_up
        with one_thread:
            for rows in _slices(levels.shape[1], n):
                padded, some = _padded(levels[:, rows], n), _padded(picks[:, rows], n)
                yield Block(rows, padded, some, sums_of(padded))

    def _multiply(self, n: int) -> Callable[[Numbers], Callable[[Numbers, Numbers], Array]]:
        """Return a function that multiplies n rows of levels with all tables, in separate memory."""
        n_superparents, n_classes, n_levels = self.logs.shape
        matrix = self.logs.reshape(-1, n_levels).T
        hot, sums = np.empty((n_levels, n)), np.empty((n, n_superparents * n_classes))
        number = np.arange(n_levels)[:, None]

        def sums_of(levels: Numbers) -> Callable[[Numbers, Numbers], Array]:
            np.equal(levels[self.feature], number.astype(levels.dtype), out=hot)
            np.matmul(hot.T, matrix, out=sums)
            by_superparent = sums.reshape(-1, n_classes)
            return lambda rows, picks: by_superparent.take(rows * n_superparents + picks, axis=0, mode="clip")

        return sums_of

    def _look_up(self, levels: Numbers) -> Callable[[Numbers, Numbers], Array]:
        """Return a function that adds up the entries of a table at the levels of rows."""
        _, width, n_classes = self._by_superparent.shape
        table = self._by_superparent.reshape(-1, n_classes)
        places = np.where(levels < 0, width - 1, levels)

        def sums_at(rows: Numbers, picks: Numbers) -> Array:
            base_index, sums = picks.astype(np.intp) * width, np.zeros((*picks.shape, n_classes))
            buffer = np.empty_like(sums)
            for places_of_feature in places[:, rows]:
                sums += table.take(base_index + places_of_feature, axis=0, mode="clip", out=buffer)
            return sums

        return sums_at

    @cached_property
    def _by_superparent(self) -> Array:
        """The logs as (superparents, levels + 1, classes), with zeros for missing levels."""
        n_superparents, n_classes, n_levels = self.logs.shape
        table = np.zeros((n_superparents, n_levels + 1, n_classes))
        table[:, :-1] = self.logs.transpose(0, 2, 1)
        return table


def _padded(values: Numbers, n: int) -> Numbers:
    """Append columns of zeros up to n."""
    if values.shape[1] == n:
        return values
    padded = np.zeros((len(values), n), dtype=values.dtype)
    padded[:, : values.shape[1]] = values
    return padded


def joint_by_rows(joint: Callable[[Codes], Array], codes: Codes, n_classes: int) -> Array:
    """Compute a log joint, (rows, classes), in blocks of rows that bound memory."""
    result = np.empty((codes.shape[1], n_classes))
    for rows in _slices(codes.shape[1], _ROWS):
        result[rows] = joint(codes[:, rows])
    return result


def number_levels(codes: Codes, cards: Sequence[int]) -> Numbers:
    """Number the levels of rows among the levels of all features; -1 stays."""
    starts = np.cumsum([0, *cards], dtype=np.int32)[:-1]
    levels = codes + starts[:, None]
    np.copyto(levels, -1, where=codes < 0)
    return levels


def _slices(rows: int, n: int) -> Iterator[slice]:
    return (slice(start, min(start + n, rows)) for start in range(0, rows, n))


def log_total(logs: Array) -> Array:
    """Return the log of the sum of exponentials over the first axis, which is overwritten.

    The order in which NumPy adds depends on the shape, so pass arrays of one shape.
    """
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = np.log(logs.sum(axis=0)) + top
    np.copyto(total, -np.inf, where=top < IMPOSSIBLE / 2)
    return total


def finite_log(probabilities: Array) -> Array:
    """Compute logs in place, `IMPOSSIBLE` for a probability of 0."""
    with np.errstate(divide="ignore"):
        np.log(probabilities, out=probabilities)
    return np.maximum(probabilities, IMPOSSIBLE, out=probabilities)
