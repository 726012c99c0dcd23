"""Moments of numbers per configuration of coded columns; moments of different rows add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..base.records import record
from ..frames.numeric import as_floats, check_finite
from ..frames.schema import Countable, Dataset
from .contingency import Recoding, flat_index, recoded


@record
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Immutable):
    """The weight, mean, Σ w (x − mean)², minimum and maximum of a number in each cell, arrays of cells."""

    n: Array
    mean: Array
    squares: Array
    low: Array
    high: Array

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        share, step = other.n / np.where(n > 0, n, 1.0), other.mean - self.mean
        squares = self.squares + other.squares + step**2 * self.n * share
        bounds = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Moments(n, self.mean + step * share, squares, *bounds)

    def recoded(self, recodings: Sequence[Recoding]) -> Moments:
        """Return the moments for other levels of the coded columns."""
        fills = {"low": np.inf, "high": -np.inf}
        arrays = ((getattr(self, name), fills.get(name, 0)) for name in self.__dataclass_fields__)
        return Moments(*[recoded(array, recodings, fill) for array, fill in arrays])

    @property
    def variance(self) -> Array:
        """The variance, with 1/n; exactly 0 without distinct values."""
        return np.where(self.low < self.high, self.squares / np.where(self.n > 0, self.n, 1.0), 0.0)

    def over(self, axis: int) -> Moments:
        """Return the pooled moments of the cells along an axis."""
        arrays = [np.moveaxis(getattr(self, name), axis, 0) for name in self.__dataclass_fields__]
        return reduce(add, [Moments(*cells) for cells in zip(*arrays, strict=True)])


class Known(NamedTuple):
    """The rows in which a number is observed: its values, the cell and the weight of each."""

    values: Array
    cells: NDArray[np.intp]
    weights: Array | None


def known_values(data: Dataset, number: int, condition: Sequence[int]) -> Known:
    """Return the values of a number in the rows in which the coded columns are observed.

    Configurations of the columns are numbered, the last column varying fastest.
    """
    codes = [data.codes[column] for column in condition]
    name = data.columns[number]
    values = _numbers(data, number)
    check_finite({name: values})
    known = np.logical_and.reduce([~np.isnan(values), *[code >= 0 for code in codes]])
    if data.weights is not None:
        known &= data.weights > 0
    cards = [data.cards[column] for column in condition]
    observed = [code[known] for code in codes]
    cells = flat_index(observed, cards).astype(np.intp) if codes else np.zeros(known.sum(), dtype=np.intp)
    return Known(values[known], cells, None if data.weights is None else data.weights[known])


def _numbers(data: Dataset, column: int) -> Array:
    """Return the values of a column without levels, NaN if none are observed."""
    values = data.numbers.get(data.columns[column])
    return np.full(len(data), np.nan) if values is None else as_floats(values)


def moments_of(rows: Known, shape: Sequence[int]) -> Moments:
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
    deviations = (values - mean[cells]) ** 2
    squares = np.bincount(cells, deviations if weights is None else weights * deviations, size)
    sums = n, mean, squares.astype(np.float64), low, high
    return Moments(*[array.reshape(shape) for array in sums])


def number_moments(data: Dataset, number: int, condition: Sequence[int]) -> Moments:
    """Return the moments of a number per configuration of coded columns, an axis for each."""
    return moments_of(known_values(data, number, condition), [data.cards[column] for column in condition])


def informations_of_numbers(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int] = ()
) -> list[tuple[float, float]]:
    """Return the mutual information of numbers and coded columns under Gaussian models, and the rows.

    ``pairs`` are (number, coded column); the number is normal given the columns and the condition.
    """
    if not pairs:
        return []
    families = [(number, (column, *condition)) for number, column in pairs]
    return list(map(_information, data.add_up(partial(_all_moments, families))))


def _all_moments(families: Sequence[tuple[int, Sequence[int]]], data: Dataset) -> list[Moments]:
    return [number_moments(data, number, columns) for number, columns in families]


def _information(cells: Moments) -> tuple[float, float]:
    """Return ½ Σ_z P(z) [ln σ²_z − Σ_x P(x | z) ln σ²_xz], with x along the first axis, and the rows.

    A cell without variance has the variance given z, so its term is 0.
    """
    total, variance = float(cells.n.sum()), cells.variance
    given = cells.over(0).variance
    logs = np.log(np.where(given > 0, given, 1.0)) - np.log(np.where(variance > 0, variance, 1.0))
    gains = np.where(variance > 0, cells.n * logs, 0.0)
    return (0.5 * float(gains.sum()) / total if total else 0.0), total


def information_of_two_numbers(
    data: Countable, x: int, y: int, condition: Sequence[int] = ()
) -> tuple[float, float]:
    """Return −½ Σ_z P(z) ln(1 − ρ²_z) of two numbers that are normal given coded columns, and the rows."""
    first, second = data.add_up(partial(_moments_of_two, x, y, condition))
    products = data.add_up(partial(_products, x, y, condition, first.mean, second.mean))
    squares = np.where((first.variance > 0) & (second.variance > 0), first.squares * second.squares, 0.0)
    share = np.divide(products**2, squares, out=np.zeros(np.shape(squares)), where=squares > 0)
    n = float(first.n.sum())
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(share, 1.0))
    return (-0.5 * float((first.n * logs)[first.n > 0].sum()) / n if n else 0.0), n


def _both_known(data: Dataset, x: int, y: int, condition: Sequence[int]) -> tuple[Known, Known]:
    """Return the values of two numbers in the rows in which both are observed."""
    rows = data.taken(~(np.isnan(_numbers(data, x)) | np.isnan(_numbers(data, y))))
    return known_values(rows, x, condition), known_values(rows, y, condition)


def _moments_of_two(x: int, y: int, condition: Sequence[int], data: Dataset) -> list[Moments]:
    shape = [data.cards[column] for column in condition]
    return [moments_of(rows, shape) for rows in _both_known(data, x, y, condition)]


def _products(
    x: int, y: int, condition: Sequence[int], x_mean: Array, y_mean: Array, data: Dataset
) -> NDArray[Any]:
    """Return Σ w (x − mean) (y − mean) per configuration."""
    first, second = _both_known(data, x, y, condition)
    products = (first.values - x_mean.ravel()[first.cells]) * (second.values - y_mean.ravel()[second.cells])
    weighted = products if first.weights is None else first.weights * products
    return np.bincount(first.cells, weighted, x_mean.size).reshape(x_mean.shape)
