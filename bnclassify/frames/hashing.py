"""Folds of data in parts: by a hash of each row, or by a column that holds their numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.messages import shown


@dataclass(frozen=True)
class HashedFolds:
    """Deals rows into folds by their values and labels, so that it does not matter where they lie.

    Attributes
    ----------
    columns : tuple
        The columns to hash.
    k : int
        The number of folds.
    seed : int
        Another one deals anew.
    """

    columns: tuple[Hashable, ...]
    k: int
    seed: int

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Return the fold of each row, from 0 to k − 1."""
        rows = frame[list(self.columns)]
        hashed = pd.util.hash_pandas_object(rows, index=True).to_numpy(dtype=np.uint64, copy=True)
        hashed += np.uint64(self.seed % 2**64)
        # SplitMix64, so that neighbouring seeds have nothing to do with each other.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            hashed ^= hashed >> np.uint64(shift)
            hashed *= np.uint64(factor)
        hashed ^= hashed >> np.uint64(31)
        return np.asarray(hashed % np.uint64(self.k), dtype=np.intp)


@dataclass(frozen=True)
class GivenFolds:
    """Takes the fold of each row from a column.

    Attributes
    ----------
    column : str
    labels : tuple
        What stands there, a fold each.
    """

    column: Hashable
    labels: tuple[Any, ...]

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The column."""
        return (self.column,)

    @property
    def k(self) -> int:
        """The number of folds."""
        return len(self.labels)

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Return the fold of each row, from 0 to k − 1; raise where there is none."""
        folds = pd.Index(list(self.labels)).get_indexer(pd.Index(frame[self.column]))
        if (folds < 0).any():
            raise ValueError(f"folds: {np.count_nonzero(folds < 0)} rows have none in {shown(self.column)}")
        return np.asarray(folds, dtype=np.intp)


@dataclass(frozen=True)
class FoldRows:
    """Tells which rows a fold tests, or all others.

    Attributes
    ----------
    folds : HashedFolds or GivenFolds
    number : int
    tested : bool
    """

    folds: HashedFolds | GivenFolds
    number: int
    tested: bool

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that it looks at."""
        return self.folds.columns

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return whether each row is among them."""
        return np.asarray((self.folds(frame) == self.number) == self.tested)
