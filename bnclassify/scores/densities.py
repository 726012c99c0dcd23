"""Densities of numbers per configuration (cell) of coded parents and class: Gaussian, kernels.

A density has arrays (levels of each parent…, classes), sufficient statistics
that add up over rows, the estimate that follows from them, and its
``parameters_by_name``. It ``is_parametric`` if a cell has two parameters, mean
and variance, and no others. Cells are numbered with the class varying fastest.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Self, TypeAlias

import numpy as np

from ..counts import (
    Moments,
    Observed,
    Recoding,
    moments_by_configuration,
    moments_of_cells,
    observed_numbers,
)
from ..dataset import Dataset
from ..frames import Numeric
from ..tools.arrays import Array, Mask, Positions, log, slices
from ..tools.checks import OneOf
from ..tools.immutable import ANY_NUMBER, COUNT, POSITIVE, Immutable, field_bounds, record
from ..tools.messages import shown


def moments_with_fallback(
    name: Hashable, within: Moments | None, by_class: Moments
) -> tuple[Moments, Mask, float]:
    """Return moments per cell (or, without variance, the class), a mask of these, and the floor."""
    if not by_class.n.any():
        raise ValueError(
            f"dataset must have an observed value of {shown(name)}; got none. Drop the column."
        )
    variance = by_class.variance
    # 1e-9: smallest variance, as a share of the largest variance within the classes
    floor = 1e-9 * (float(variance.max()) or 1.0)
    empty: Mask = by_class.n == 0
    if empty.any():
        by_class = choose_moments(empty, by_class.pooled_over(0), by_class)
    if within is None:
        return by_class, np.zeros(empty.shape, dtype=bool), floor
    falls = ~(within.low < within.high)
    return choose_moments(falls, by_class, within), falls, floor


def _parent_sets_of_density(scope: Sequence[int]) -> list[Sequence[int]]:
    """Return a number's parents and, if there are several, also the last alone, the class."""
    parents = scope[1:]
    return [parents, parents[-1:]] if len(parents) > 1 else [parents]


def choose_moments(where: Mask, first: Moments, second: Moments) -> Moments:
    """Return the first moments if a condition holds, and the second if not."""
    names = Moments.__dataclass_fields__
    return Moments(
        *[np.where(where, getattr(first, name), getattr(second, name)) for name in names]
    )


@record
@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Immutable):
    """Normal distributions of a number, with arrays (levels of each parent…, classes).

    ``rest`` is what the rounding of the means leaves, as in `Moments`.
    """

    bounds = field_bounds(mean=ANY_NUMBER, variance=POSITIVE, rest=ANY_NUMBER)

    mean: Array
    variance: Array
    rest: Array | None = None

    is_parametric = True

    def __post_init__(self) -> None:
        super().__post_init__()
        arrays = [self.mean, self.variance, *([] if self.rest is None else [self.rest])]
        if len({array.shape for array in arrays}) > 1:
            raise ValueError("variance and rest must have the shape of mean.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of levels of the parents, then that of classes."""
        return self.mean.shape

    @staticmethod
    def count(data: Dataset, scope: Sequence[int]) -> list[Moments]:
        """Return the moments in each cell, if there are parents, and in each class."""
        conditions = _parent_sets_of_density(scope)
        return [moments_by_configuration(data, scope[0], condition) for condition in conditions]

    @classmethod
    def estimate(cls, counts: Sequence[Moments], name: Hashable) -> Self:
        """Return maximum-likelihood estimates from `moments_with_fallback`."""
        *within, by_class = counts
        moments, _, floor = moments_with_fallback(name, within[0] if within else None, by_class)
        return cls(moments.mean, np.maximum(moments.variance, floor), moments.rest)

    @np.errstate(over="ignore")  # the density of a number that is far away is 0
    def log_density(self, values: Array, parents: Positions) -> Array:
        """Return ln N(value; mean, variance), (rows, classes)."""
        mean, variance = (
            array.reshape(-1, self.shape[-1])[parents] for array in (self.mean, self.variance)
        )
        deviations: Array = values[:, None] - mean
        if self.rest is not None:
            deviations -= self.rest.reshape(-1, self.shape[-1])[parents]
        return -0.5 * (np.log(2 * np.pi * variance) + deviations**2 / variance)

    def draw(self, cells: Positions, rng: np.random.Generator) -> Array:
        """Return a normal number in each of some cells."""
        return rng.normal(self.mean.ravel()[cells], np.sqrt(self.variance.ravel()[cells]))

    def parameters_by_name(self) -> Mapping[str, Array]:
        """Return means and standard deviations."""
        return {"mean": self.mean, "sd": np.sqrt(self.variance)}


@record
@dataclass(frozen=True, eq=False, repr=False)
class Points(Immutable):
    """A number's distinct values in cells, with weights, ascending by cell, value; they add up."""

    bounds = field_bounds(shape=COUNT, values=ANY_NUMBER, cells=COUNT, weights=POSITIVE)

    shape: tuple[int, ...]
    values: Array
    cells: Positions
    weights: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        cells = self.cells
        fits = (
            len(self.values) == len(cells) == len(self.weights) and (cells[1:] >= cells[:-1]).all()
        )
        if not fits or cells.max(initial=-1) >= prod(self.shape):
            raise ValueError(
                "cells must be ascending positions of cells, with as many values and weights."
            )

    def __add__(self, other: Points) -> Points:
        values, cells = np.append(self.values, other.values), np.append(self.cells, other.cells)
        return merge_equal_points(self.shape, values, cells, np.append(self.weights, other.weights))

    def recoded(self, recodings: Sequence[Recoding]) -> Points:
        """Return the values for other levels of the coded columns."""
        shape = tuple([card for _, card in recodings])
        codes = zip(np.unravel_index(self.cells, self.shape), recodings, strict=True)
        cells = np.ravel_multi_index([own.codes[code] for code, own in codes], shape)
        return merge_equal_points(shape, self.values, cells, self.weights)

    @property
    def moments(self) -> Moments:
        """The moments of the values in each cell."""
        return moments_of_cells(Observed(self.values, self.cells, self.weights), self.shape)

    def values_and_weights_in_cell(self, cell: int) -> tuple[Array, Array]:
        """Return the values in a cell and their weights."""
        rows = slice(*np.searchsorted(self.cells, [cell, cell + 1]))
        return self.values[rows], self.weights[rows]


def merge_equal_points(
    shape: tuple[int, ...], values: Array, cells: Positions, weights: Array
) -> Points:
    """Return points with equal values in a cell merged and their weights added."""
    order = np.lexsort((values, cells))
    values, cells = values[order], cells[order]
    is_first = np.ones(len(values), dtype=bool)
    is_first[1:] = (values[1:] != values[:-1]) | (cells[1:] != cells[:-1])
    totals = np.bincount(np.cumsum(is_first) - 1, weights[order], is_first.sum()).astype(np.float64)
    return Points(shape, values[is_first], cells[is_first], totals)


@record
@dataclass(frozen=True, eq=False, repr=False)
class Kernel(Immutable):
    """Means of normals around values, (levels of each parent…, classes), in cells or classes."""

    bounds = field_bounds(mean=ANY_NUMBER, variance=COUNT, bandwidth=POSITIVE)

    within: Points | None
    by_class: Points
    mean: Array
    variance: Array
    bandwidth: Array
    falls: Mask

    is_parametric = False

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {array.shape for array in (self.mean, self.variance, self.bandwidth, self.falls)}
        points = [
            self.by_class.shape == self.shape[-1:],
            self.within is None or self.within.shape == self.shape,
        ]
        if len(shapes) > 1 or not all(points) or not len(self.by_class.values):
            raise ValueError(
                "mean, variance, bandwidth, falls and points must have the shape of the family."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of levels of the parents, then that of classes."""
        return self.bandwidth.shape

    @staticmethod
    def count(data: Dataset, scope: Sequence[int]) -> list[Points]:
        """Return the distinct values in each cell, if there are parents, and in each class."""
        points = []
        for condition in _parent_sets_of_density(scope):
            values, cells, weights = observed_numbers(data, scope[0], condition)
            shape = tuple([data.cards[column] for column in condition])
            counts = np.ones(len(values)) if weights is None else weights
            points.append(merge_equal_points(shape, values, cells, counts))
        return points

    @classmethod
    def estimate(cls, counts: Sequence[Points], name: Hashable) -> Self:
        """Return the density with Silverman's bandwidth, 1.06 s n^(−1/5), and the usual floor."""
        *within, by_class = counts
        moments, falls, floor = moments_with_fallback(
            name, within[0].moments if within else None, by_class.moments
        )
        n = np.maximum(moments.n, 1.0)
        free = np.where(moments.n > 1, moments.n - 1, 1.0)
        s = np.sqrt(np.where(moments.low < moments.high, moments.squares / free, 0.0))
        bandwidth = np.maximum(1.06 * s * n ** (-0.2), np.sqrt(floor))
        first = within[0] if within else None
        return cls(first, by_class, moments.mean, moments.variance, bandwidth, falls)

    def _centers_and_weights_in_cell(self, cell: int) -> tuple[Array, Array]:
        if self.within is not None and not self.falls.ravel()[cell]:
            return self.within.values_and_weights_in_cell(cell)
        values, weights = self.by_class.values_and_weights_in_cell(cell % self.shape[-1])
        return (values, weights) if len(values) else (self.by_class.values, self.by_class.weights)

    @np.errstate(over="ignore")  # the density of a number that is far away is 0
    def log_density(self, values: Array, parents: Positions) -> Array:
        """Return ln of the mean of normals around the values of a cell, (rows, classes)."""
        n_classes = self.shape[-1]
        logs = np.empty((len(values), n_classes))
        for configuration in map(int, np.unique(parents)):
            rows = np.nonzero(parents == configuration)[0]
            found, inverse = np.unique(values[rows], return_inverse=True)
            for c in range(n_classes):
                logs[rows, c] = self._log_density_of_cell(found, configuration * n_classes + c)[
                    inverse
                ]
        return logs

    def _log_density_of_cell(self, values: Array, cell: int) -> Array:
        """Return ln Σ w N(value; center, h²) / Σ w at some values."""
        centers, weights = self._centers_and_weights_in_cell(cell)
        h = float(self.bandwidth.ravel()[cell])
        logs = np.empty(len(values))
        shares = log(weights / (float(weights.sum()) * h * np.sqrt(2 * np.pi)))
        for block in slices(len(values), len(centers)):
            kernels: Array = shares - 0.5 * ((values[block, None] - centers) / h) ** 2
            top: Array = np.maximum(kernels.max(axis=1), -1e300)  # not infinite
            logs[block] = top + log(np.exp(kernels - top[:, None]).sum(axis=1))
        return logs

    def draw(self, cells: Positions, rng: np.random.Generator) -> Array:
        """Draw in each of some cells a training value plus normal noise of its bandwidth."""
        drawn = np.empty(len(cells))
        for cell in range(prod(self.shape)):
            rows = np.nonzero(cells == cell)[0]
            if len(rows):
                centers, weights = self._centers_and_weights_in_cell(cell)
                drawn[rows] = rng.choice(centers, len(rows), p=weights / weights.sum())
        return drawn + rng.normal(0.0, self.bandwidth.ravel()[cells])

    def parameters_by_name(self) -> Mapping[str, Array]:
        """Return the means and standard deviations of the values, and bandwidths."""
        return {"mean": self.mean, "sd": np.sqrt(self.variance), "bandwidth": self.bandwidth}


Density: TypeAlias = Gaussian | Kernel

FAMILIES: dict[str, type[Gaussian | Kernel]] = {"gaussian": Gaussian, "kernel": Kernel}
"""Types of densities by their names in `lp`."""


Numbers: TypeAlias = str | Mapping[Any, str] | None
"""Densities of numeric columns: one type for all, or one type per column."""


def numeric_columns_of(numbers: Numbers) -> Numeric:
    """Return the columns to keep as numbers, or True for the default columns, or raise."""
    if numbers is None:
        return ()
    if isinstance(numbers, Mapping):
        for name, family in numbers.items():
            OneOf(FAMILIES).check(f"numbers[{shown(name)}]", family)
        return tuple(numbers)
    OneOf(FAMILIES).check("numbers", numbers)
    return True


def numbers_as_setting(numbers: Numbers) -> dict[str, Any]:
    """Return the argument as a setting of a step, without it if it is None."""
    if numbers is None:
        return {}
    return {"numbers": dict(numbers) if isinstance(numbers, Mapping) else numbers}


_DEVIATIONS, _POINTS = 6.0, 121  # of the grid of a density


def density_grid(density: Density) -> tuple[Array, Array]:
    """Return points at which a density is evaluated, and the width that each represents."""
    columns = density.parameters_by_name()
    mean, sd = columns["mean"].reshape(-1, 1), columns["sd"].reshape(-1, 1)
    points = np.unique(mean + sd * np.linspace(-_DEVIATIONS, _DEVIATIONS, _POINTS))
    return points, np.gradient(points)
