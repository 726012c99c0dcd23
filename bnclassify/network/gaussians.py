"""Gaussian densities of numbers: a mean and a variance per configuration of coded parents and class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..base.records import record
from ..counts.moments import Moments, number_moments
from ..frames.schema import Dataset
from .densities import fall_back


@record
@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Immutable):
    """Normal distributions of a number, with arrays (levels of each parent…, classes)."""

    mean: Array
    variance: Array

    is_parametric = True

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of levels of the parents, then that of classes."""
        return self.mean.shape

    @staticmethod
    def count(data: Dataset, scope: Sequence[int]) -> list[Moments]:
        """Return the moments in each cell, if there are parents, and in each class."""
        number, *condition = scope
        families = [condition, condition[-1:]] if len(condition) > 1 else [condition]
        return [number_moments(data, number, family) for family in families]

    @classmethod
    def estimate(cls, counts: Sequence[Moments], name: Hashable) -> Self:
        """Return the maximum-likelihood estimates, with the fallback and the floor of `fall_back`."""
        *within, by_class = counts
        moments, _, floor = fall_back(name, within[0] if within else None, by_class)
        return cls(moments.mean, np.maximum(moments.variance, floor))

    def log_density(self, values: Array, parents: NDArray[np.intp]) -> Array:
        """Return ln N(value; mean, variance), (rows, classes)."""
        mean, variance = (array.reshape(-1, self.shape[-1])[parents] for array in (self.mean, self.variance))
        return -0.5 * (np.log(2 * np.pi * variance) + (values[:, None] - mean) ** 2 / variance)

    def draw(self, cells: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Return a normal number in each of some cells."""
        return rng.normal(self.mean.ravel()[cells], np.sqrt(self.variance.ravel()[cells]))

    def columns(self) -> Mapping[str, Array]:
        """Return means and standard deviations."""
        return {"mean": self.mean, "sd": np.sqrt(self.variance)}
