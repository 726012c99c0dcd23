"""The terms of a log joint: log tables of families, padded so that a missing value adds nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes
from ..counts.contingency import flat_index

Rows = NDArray[np.intp]


class Batch:
    """Rows at which terms are added up together.

    ``codes`` are those of the features, (features, rows), -1 where missing. ``context`` says of each row
    which of several tables applies, such as those of its fold.
    """

    def __init__(self, codes: Codes, context: Codes | None = None, *, complete: bool | None = None) -> None:
        self.codes = codes
        self.context = context
        self.complete = bool(codes.min(initial=0) >= 0) if complete is None else complete
        self._buffers: dict[int, Array] = {}

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def buffer(self, width: int) -> Array:
        """Return an array of (rows, width) to write into, the same at every call."""
        if width not in self._buffers:
            self._buffers[width] = np.empty((len(self), width))
        return self._buffers[width]


@dataclass(frozen=True, eq=False)
class Factor:
    """The term of one family whose variables all have levels: its table in logs, ln θ.

    Attributes
    ----------
    scope : tuple of int
        Numbers of the features of the family: of the variable, if it is one, and of its feature
        parents.
    table : (levels of each member of the scope…, contexts, classes) array
        If the class is not in the family, the last axis has length 1.
    """

    scope: tuple[int, ...]
    table: Array

    @cached_property
    def padded(self) -> Array:
        """The table with a further level 0 for "missing" at the end of each feature's axis.

        The code of a missing value is -1. In a flat index that wraps round, it leads to one
        of these zeros whatever the other codes are.
        """
        n = len(self.scope)
        padded = np.zeros((*(r + 1 for r in self.table.shape[:n]), *self.table.shape[n:]))
        padded[(slice(-1),) * n] = self.table
        return padded

    def add_to(self, total: Array, rows: Batch) -> None:
        """Add the term to (rows, classes) sums; a row in which a member of the family is missing adds 0."""
        table = self.table if rows.complete else self.padded
        coordinates = [rows.codes[i] for i in self.scope]
        if rows.context is not None:
            coordinates.append(rows.context)
        if not coordinates:
            total += table
            return
        index = flat_index(coordinates, table.shape[: len(coordinates)])
        looked_up = rows.buffer(table.shape[-1])
        # With a mode, take writes into the buffer; only "wrap" ever moves an index.
        mode: Literal["clip", "wrap"] = "clip" if rows.complete else "wrap"
        np.take(table.reshape(-1, table.shape[-1]), index, axis=0, out=looked_up, mode=mode)
        total += looked_up


class Belief(NamedTuple):
    """How likely the values are that some members of a family have in rows that lack them.

    Attributes
    ----------
    factor : int
        The family: the number of its variable.
    rows : (some,) array of int
    free : tuple of int
        The members that are missing in these rows.
    shares : (some, levels of each of them…, classes) array
        P(values | row, class), which sum to 1 over the values; to 0 where row and class are impossible.
    """

    factor: int
    rows: Rows
    free: tuple[int, ...]
    shares: Array


def sum_terms(terms: Sequence[Factor], rows: Batch) -> Array:
    """Return the sum of terms at each row, (rows, classes)."""
    total = np.zeros((len(rows), max(term.table.shape[-1] for term in terms)))
    for term in terms:
        term.add_to(total, rows)
    return total
