"""Log joints of estimators that differ in their superparents, all at once.

The log joint of a row is a sum over its features of ln P(level | superparent's level, class). For features
with few levels a product of matrices gives it for every level that a superparent might have: the levels of
the rows as zeros and ones, times the logs of all tables. With many levels, looking up what the row has is
less work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes
from ..base.blas import one_thread

IMPOSSIBLE = -1e300
"""Stands for log 0 in sums, where 0 · -inf is not a number."""

KEPT_CELLS = 2**24
"""Cells of log tables up to which a model keeps them for the next prediction."""

_ROWS = 2**14
_FEW_LEVELS = 4  # a feature, on average, up to which products win
_BLOCK_CELLS = 2**16
_BLOCK_ROWS = 96  # or a multiple, which fills the registers of matrix products without a remainder

Numbers = NDArray[np.signedinteger[Any]]


class Block(Protocol):
    """Some rows, to be asked for sums at levels that superparents have."""

    @property
    def rows(self) -> slice:
        """Which rows."""

    def sums_at(self, picks: Numbers) -> Array:
        """Return the sums of each row at the levels of some superparents.

        Parameters
        ----------
        picks : (estimators, rows) array of int
            Any where a row has none.

        Returns
        -------
        (estimators, rows per block, classes) array
            Always as many rows as a full block has.
        """

    def sums_at_rows(self, rows: Numbers, picks: Numbers) -> Array:
        """Return the same, (estimators, n, classes), of n rows of the block, which may come again."""


@dataclass(frozen=True, eq=False)
class Stack:
    """Log tables of estimators, one for each level that a superparent may have.

    Attributes
    ----------
    logs : (superparents, classes, levels) array
        ln P(level | superparent, class), and ln P(superparent, class) at the superparent's own level.
        `IMPOSSIBLE` instead of -inf.
    feature : (levels,) array of int
        The feature that has each level.
    own_level : (superparents,) array of int
        That of each superparent.
    """

    logs: Array
    feature: NDArray[np.intp]
    own_level: NDArray[np.intp]

    @cached_property
    def joint(self) -> Array:
        """The logs of P(superparent, class), (superparents, classes)."""
        return np.asarray(self.logs[np.arange(len(self.own_level)), :, self.own_level])

    def blocks(self, levels: Numbers) -> Iterator[Block]:
        """Yield blocks of rows; one is to be done with before the next is asked for.

        Parameters
        ----------
        levels : (features, rows) array of int
            The number of each row's level, -1 where missing.
        """
        products = self.logs.shape[2] <= _FEW_LEVELS * len(levels)
        return self._products(levels) if products else self._lookups(levels)

    def _products(self, levels: Numbers) -> Iterator[Block]:
        # Always of the same shape, so that a row gets the same figures to the last bit whatever rows
        # stand beside it.
        n_superparents, n_classes, n_levels = self.logs.shape
        matrix = self.logs.reshape(-1, n_levels).T
        rows_per_block = _rows_per_block(matrix.shape[1])
        hot = np.zeros((n_levels, rows_per_block))
        sums = np.empty((rows_per_block, n_superparents, n_classes))
        number = np.arange(n_levels, dtype=levels.dtype)[:, None]
        for rows in _slices(levels.shape[1], rows_per_block):
            np.equal(levels[:, rows][self.feature], number, out=hot[:, : rows.stop - rows.start])
            with one_thread:
                np.matmul(hot.T, matrix, out=sums.reshape(rows_per_block, -1))
            yield _Product(rows, sums)

    def _lookups(self, levels: Numbers) -> Iterator[Block]:
        rows_per_block = _rows_per_block(len(levels) * self.logs.shape[1])
        for rows in _slices(levels.shape[1], rows_per_block):
            yield _Lookup(rows, levels[:, rows], self._by_superparent, rows_per_block)

    @cached_property
    def _by_superparent(self) -> Array:
        """The logs as (superparents, levels + 1, classes), with zeros for what is missing."""
        n_superparents, n_classes, n_levels = self.logs.shape
        table = np.zeros((n_superparents, n_levels + 1, n_classes))
        table[:, :-1] = self.logs.transpose(0, 2, 1)
        return table


@dataclass(frozen=True, eq=False)
class _Product:
    """A block whose sums are there, (rows per block, superparents, classes)."""

    rows: slice
    sums: Array

    def sums_at(self, picks: Numbers) -> Array:
        rows_per_block, n_superparents, n_classes = self.sums.shape
        index = np.zeros((len(picks), rows_per_block), dtype=np.intp)
        np.add(picks, n_superparents * np.arange(picks.shape[1]), out=index[:, : picks.shape[1]])
        return self.sums.reshape(-1, n_classes).take(index, axis=0, mode="clip")

    def sums_at_rows(self, rows: Numbers, picks: Numbers) -> Array:
        return np.asarray(self.sums[rows, picks])


@dataclass(frozen=True, eq=False)
class _Lookup:
    """A block of rows whose sums are looked up in a table, (superparents, levels + 1, classes)."""

    rows: slice
    levels: Numbers
    table: Array
    rows_per_block: int

    def sums_at(self, picks: Numbers) -> Array:
        sums = np.zeros((len(picks), self.rows_per_block, self.table.shape[2]))
        self._add_up(sums, picks, self.levels)
        return sums

    def sums_at_rows(self, rows: Numbers, picks: Numbers) -> Array:
        sums = np.zeros((*picks.shape, self.table.shape[2]))
        self._add_up(sums, picks, self.levels[:, rows])
        return sums

    def _add_up(self, sums: Array, picks: Numbers, levels: Numbers) -> None:
        _, width, n_classes = self.table.shape
        base_index = np.zeros(sums.shape[:2], dtype=np.intp)
        np.multiply(picks, width, out=base_index[:, : picks.shape[1]])
        padded = np.full((len(levels), sums.shape[1]), width - 1)
        np.copyto(padded[:, : levels.shape[1]], levels, where=levels >= 0)
        buffer = np.empty_like(sums)
        for feature_levels in padded:
            index = base_index + feature_levels
            sums += self.table.reshape(-1, n_classes).take(index, axis=0, mode="clip", out=buffer)


def joint_by_rows(joint: Callable[[Codes], Array], codes: Codes, n_classes: int) -> Array:
    """Compute a log joint, (rows, classes), from so many rows at once that memory stays small."""
    result = np.empty((codes.shape[1], n_classes))
    for rows in _slices(codes.shape[1], _ROWS):
        result[rows] = joint(codes[:, rows])
    return result


def number_levels(codes: Codes, cards: Sequence[int]) -> Numbers:
    """Number the levels of rows among those of all features, one feature after the other; -1 stays."""
    starts = np.cumsum([0, *cards], dtype=np.int32)[:-1]
    levels = codes + starts[:, None]
    np.copyto(levels, -1, where=codes < 0)
    return levels


def _rows_per_block(width: int) -> int:
    """Return how many rows of so many numbers to work on at once."""
    return _BLOCK_ROWS * max(1, _BLOCK_CELLS // (width * _BLOCK_ROWS))


def _slices(rows: int, rows_per_block: int) -> Iterator[slice]:
    return (slice(start, min(start + rows_per_block, rows)) for start in range(0, rows, rows_per_block))


def log_total(logs: Array) -> Array:
    """Return the log of the sum of exponentials over the first axis, which is written over.

    What is `IMPOSSIBLE` counts as log 0. For arrays of always the same shape, on which the order depends
    in which NumPy adds up.
    """
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = np.log(logs.sum(axis=0)) + top
    np.copyto(total, -np.inf, where=top < IMPOSSIBLE / 2)
    return total


def finite_log(probabilities: Array) -> Array:
    """Take logs in place, `IMPOSSIBLE` where a probability is 0."""
    with np.errstate(divide="ignore"):
        np.log(probabilities, out=probabilities)
    return np.maximum(probabilities, IMPOSSIBLE, out=probabilities)
