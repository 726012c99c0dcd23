"""Moments of numbers in the cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import add
from typing import NamedTuple

import numpy as np

from ..dataset import Dataset, as_floats
from ..tools.arrays import Array, Mask, Positions, weights_at
from ..tools.immutable import ANY_NUMBER, COUNT, Immutable, field_bounds, record
from ..tools.messages import shown
from .contingency import Recoding, flat_index, recode_counts

_LARGEST = 1e150


@record
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Immutable):
    """The moments of a number in each cell, arrays of cells.

    These are the weight, the mean, Σ w (x − mean)², the minimum and the
    maximum. ``rest`` is what the rounding of the mean leaves: near 10^15, where
    floats are .125 apart, that of 1, 2 and 4 is 2.375 − .042.
    """

    bounds = field_bounds(n=COUNT, mean=ANY_NUMBER, squares=COUNT, rest=ANY_NUMBER)

    n: Array
    mean: Array
    squares: Array
    low: Array
    high: Array
    rest: Array

    def __add__(self, other: Moments) -> Moments:
        # 1 and 3 have the mean 2 and the squares 2. With 5, a step of 3, the mean is 2 + 3 · 1/3,
        # and the squares are 2 + 0 + 3² · 2 · 1/3 = 8.
        n, is_first = self.n + other.n, self.n == 0
        share = other.n / np.where(n > 0, n, 1.0)
        step = (other.mean - self.mean) + (other.rest - self.rest)
        squares = self.squares + other.squares + step**2 * self.n * share
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        mean: Array = np.where(is_first, other.mean, self.mean + step * share)
        rest = np.where(is_first, other.rest, self.rest + ((self.mean - mean) + step * share))
        return Moments(n, mean, squares, low, high, rest)

    def recoded(self, recodings: Sequence[Recoding]) -> Moments:
        """Return the moments for other levels of the coded columns."""
        fills = {"low": np.inf, "high": -np.inf}
        arrays = ((getattr(self, name), fills.get(name, 0)) for name in self.__dataclass_fields__)
        return Moments(*[recode_counts(array, recodings, fill) for array, fill in arrays])

    @property
    def variance(self) -> Array:
        """The variance, with 1/n; exactly 0 without distinct values."""
        return np.where(self.low < self.high, self.squares / np.where(self.n > 0, self.n, 1.0), 0.0)

    def pooled_over(self, axis: int) -> Moments:
        """Return the pooled moments of the cells along an axis."""
        arrays = [np.moveaxis(getattr(self, name), axis, 0) for name in self.__dataclass_fields__]
        return reduce(add, [Moments(*cells) for cells in zip(*arrays, strict=True)])


class Observed(NamedTuple):
    """The rows in which a number is observed: its values, the cell and the weight of each."""

    values: Array
    cells: Positions
    weights: Array | None


def observed_numbers(data: Dataset, number: int, condition: Sequence[int]) -> Observed:
    """Return the values of a number where the columns are observed, and their configurations."""
    codes = [data.codes[column] for column in condition]
    name = data.columns[number]
    values = numbers_of_column(data, number)
    known: Mask = np.logical_and.reduce([~np.isnan(values), *[code >= 0 for code in codes]])
    if np.abs(values[known]).max(initial=0.0) > _LARGEST:
        raise ValueError(
            f"numbers: the column {shown(name)} must have numbers up to {_LARGEST:g}, because "
            f"larger squares overflow; got {np.abs(values[known]).max():g}. "
            "Divide them by a number."
        )
    if data.weights is not None:
        known &= data.weights > 0
    cells: Positions = np.zeros(np.count_nonzero(known), dtype=np.intp)
    if codes:
        cards = [data.cards[column] for column in condition]
        cells = flat_index([code[known] for code in codes], cards).astype(np.intp)
    return Observed(values[known], cells, weights_at(data.weights, known))


def numbers_of_column(data: Dataset, column: int) -> Array:
    """Return the values of a column without levels, NaN if none are observed."""
    values = data.numbers.get(data.columns[column])
    return np.full(len(data), np.nan) if values is None else as_floats(values)


def moments_of_cells(rows: Observed, shape: Sequence[int]) -> Moments:
    """Return the moments of values in cells of this shape."""
    values, cells, weights = rows
    size = prod(shape)
    n = np.bincount(cells, weights, size).astype(np.float64)
    total = np.where(n > 0, n, 1.0)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, cells, values)
    np.maximum.at(high, cells, values)
    mean: Array = np.bincount(cells, values if weights is None else weights * values, size) / total
    mean = np.where(low < high, mean, np.where(n > 0, low, 0.0))
    deviations = values - mean[cells]
    weighted = deviations if weights is None else weights * deviations
    rest: Array = np.bincount(cells, weighted, size) / total
    squares = np.maximum(np.bincount(cells, weighted * deviations, size) - n * rest**2, 0.0)
    sums = n, mean, squares, low, high, rest
    return Moments(*[array.reshape(shape) for array in sums])


def moments_by_configuration(data: Dataset, number: int, condition: Sequence[int]) -> Moments:
    """Return the moments of a number per configuration of coded columns, an axis for each."""
    shape = [data.cards[column] for column in condition]
    return moments_of_cells(observed_numbers(data, number, condition), shape)
