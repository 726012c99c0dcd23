"""Columns of a regression of the class, with one row per case, in full or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """A (rows, columns) array of numbers, of NumPy or sparse."""

    table: Any

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.table.shape
        return rows, columns

    def __getitem__(self, rows: Any) -> DesignMatrix:
        return DesignMatrix(self.table[rows])

    def dense_array(self) -> Array:
        table = self.table
        return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())

    def times_weights(self, weights: Array) -> Array:
        """Return the sums over columns of values times weights, (columns, k), as (rows, k)."""
        return np.asarray(self.table @ weights)

    def sums_over_rows(self, factors: Array) -> Array:
        """Return the sums over rows of values times factors, (rows, k), as (columns, k)."""
        return np.asarray(self.table.T @ factors)

    def square_sums_over_rows(self, factors: Array) -> Array:
        """Return the sums over rows of squared values times factors, (rows,), as (columns,)."""
        return np.asarray((self.table**2).T @ factors)

    def with_scaled_rows(self, factors: Array) -> DesignMatrix:
        """Return the rows times factors, (rows,)."""
        if isinstance(self.table, np.ndarray):
            return DesignMatrix(self.table * factors[:, None])
        return DesignMatrix(self.table.multiply(factors[:, None]).tocsr())

    def gram_matrix(self, factors: Array | None = None) -> Array:
        """Return Σ v x xᵀ over rows x with factors v, (columns, columns)."""
        scaled = self if factors is None else self.with_scaled_rows(factors)
        return DesignMatrix(self.table.T @ scaled.table).dense_array()

    @classmethod
    def side_by_side(cls, designs: Sequence[DesignMatrix]) -> DesignMatrix:
        """Return designs side by side, sparse if one of them is sparse."""
        tables = [design.table for design in designs]
        if all(isinstance(table, np.ndarray) for table in tables):
            return cls(np.hstack(tables))
        from scipy import sparse  # slow to import

        return cls(sparse.hstack(tables).tocsr())
