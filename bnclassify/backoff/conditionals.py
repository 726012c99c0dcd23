"""What prefix tables say: of rows, these counted or left out, and of all there can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from .counts import Places, PrefixCounts, walk
from .tables import PrefixTable, shrunk


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that are among those counted, each to be judged by what the others say.

    Attributes
    ----------
    classes : (rows,) array of int
        None missing.
    shares : (rows,) array
        How much of each to take off the counts.
    """

    classes: NDArray[Any]
    shares: Array

    def take(self, rows: NDArray[Any]) -> LeftOut:
        """Return some of the rows, by position or by a mask."""
        return LeftOut(self.classes[rows], self.shares[rows])


@dataclass(frozen=True, eq=False)
class _Deduction:
    """What to take off counts at rows: in which column, off a value's count, off that of all values."""

    columns: NDArray[Any]
    cells: Array
    totals: Array


def feature_probabilities(
    table: PrefixTable, codes: Sequence[NDArray[Any]], left_out: LeftOut | None = None
) -> Iterator[Array]:
    """Yield P(feature | class, first parents) at rows, for 0 feature parents and more.

    Where a parent is missing, the parents before it say all; where the feature itself is, the
    probability is 1.

    Parameters
    ----------
    table : PrefixTable
    codes : sequence of (rows,) arrays of int
        The feature, then its feature parents; -1 where missing.
    left_out : LeftOut, optional

    Yields
    ------
    (rows, classes) array
        One column where the class is no parent.
    """
    missing = codes[0] < 0
    deduction = None
    if left_out is not None:
        shares = np.where(missing, 0.0, left_out.shares)
        deduction = _Deduction(left_out.classes, shares, shares)
    for value in _probabilities(table, codes, deduction):
        yield np.where(missing[:, None], 1.0, value) if missing.any() else value


def class_probabilities(
    table: PrefixTable, codes: Sequence[NDArray[Any]], rows: int, left_out: LeftOut | None = None
) -> Iterator[Array]:
    """Yield P(class | first parents) at rows, for 0 parents of the class and more, as (rows, classes).

    ``codes`` are those of the parents alone.
    """
    columns = []
    for c in range(table.cards[0]):
        deduction = None
        if left_out is not None:
            cells = np.where(left_out.classes == c, left_out.shares, 0.0)
            deduction = _Deduction(left_out.classes, cells, left_out.shares)
        columns.append(_probabilities(table, [np.full(rows, c), *codes], deduction))
    for values in zip(*columns, strict=True):
        yield np.concatenate([np.broadcast_to(value, (rows, 1)) for value in values], axis=1)


def _probabilities(
    table: PrefixTable, codes: Sequence[NDArray[Any]], deduction: _Deduction | None
) -> Iterator[Array]:
    root = len(table.prefixes) - len(codes)  # the prefix without feature parents
    uniform = np.full((1, 1), 1 / table.cards[0])
    value = uniform
    unknown = np.zeros(len(codes[0]), dtype=bool)
    walked = walk(table.prefixes, codes, table.cards)
    for i, (prefix, mass, places) in enumerate(zip(table.prefixes, table.masses, walked, strict=True)):
        estimate = _estimate(prefix, mass, value if table.nested else uniform, places, deduction)
        if i > root:
            unknown |= codes[i - root] < 0
        value = np.where(unknown[:, None], value, estimate) if unknown.any() else estimate
        if i >= root:
            yield value


def _estimate(
    prefix: PrefixCounts,
    mass: float,
    base: Array,
    places: tuple[Places, Places],
    deduction: _Deduction | None,
) -> Array:
    parents, cells = places
    counts, totals = _look_up(prefix.counts, cells), _look_up(prefix.totals, parents)
    if deduction is not None:
        rows = np.nonzero(parents >= 0)[0]
        columns = deduction.columns[rows] if counts.shape[1] > 1 else 0
        counts[rows, columns] -= deduction.cells[rows]
        totals[rows, columns] -= deduction.totals[rows]
    return shrunk(counts, totals, mass, base)


def _look_up(rows: Array, places: Places) -> Array:
    """Return the rows at places, zeros where these are -1."""
    if not len(rows):
        return np.zeros((len(places), rows.shape[1]))
    entries = rows.take(places, axis=0, mode="wrap")
    absent = places < 0
    if absent.any():
        entries[absent] = 0
    return entries
