"""Terms of numeric features: scores on a standard scale, and Gaussian densities given the class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln, ndtri

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..base.records import record
from ..model.formulas import Slope, Student
from .tables import LeftOut

SHAPE, RATE = 2.0, 0.5
"""Parameters of the inverse gamma prior of a variance."""

_INTERCEPT_PRECISION = 0.01  # that of the other coefficients is 1
_WIDEST = 5.0  # standard deviations, beyond which z-scores are cut
_MOST_KNOTS = 2**10  # of a scale
_BLOCK_CELLS = 2**18
_LARGEST = float(np.finfo(np.float64).max)


@record
@dataclass(frozen=True, eq=False)
class Scale(Immutable):
    """A function from numbers to scores: straight lines between ``knots``, and constant beyond these."""

    knots: Array
    scores: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.knots) or len(self.knots) != len(self.scores):
            raise ValueError("knots: expected at least one, with as many scores")

    def __call__(self, numbers: Array) -> Array:
        """Return scores; those of missing numbers are 0."""
        return np.where(np.isnan(numbers), 0.0, np.interp(numbers, self.knots, self.scores))


def normal_scores(numbers: Array, weights: Array) -> Scale:
    """Return the scale that maps each number to the normal quantile of its mid-rank."""
    known = ~np.isnan(numbers)
    values, place = np.unique(numbers[known], return_inverse=True)
    if not len(values):
        return Scale(np.zeros(1), np.zeros(1))
    mass = np.bincount(place, weights[known], len(values))
    scores = ndtri((np.cumsum(mass) - mass / 2) / mass.sum())
    if len(values) > _MOST_KNOTS:  # knots at even distances on the scale
        wanted = np.linspace(scores[0], scores[-1], _MOST_KNOTS)
        kept = np.unique(np.searchsorted(scores, wanted).clip(0, len(values) - 1))
        values, scores = values[kept], scores[kept]
    return Scale(values, scores)


def z_scores(numbers: Array, weights: Array) -> Scale:
    """Return the scale in standard deviations from the mean, cut at 5."""
    known = ~np.isnan(numbers)
    size = np.abs(numbers[known]).max(initial=0.0) or 1.0
    share = weights[known] / max(weights[known].sum(), 1e-300)
    mean = share @ (numbers[known] / size)
    deviation = np.sqrt(share @ (numbers[known] / size - mean) ** 2)
    if not deviation > 0:
        return Scale(np.zeros(1), np.zeros(1))
    ends = mean + deviation * np.array([-_WIDEST, _WIDEST])
    most = _LARGEST / max(size, 1.0) / 2
    return Scale(np.clip(ends, -most, most) * size, np.array([-_WIDEST, _WIDEST]))


SCALES: dict[str, Callable[[Array, Array], Scale]] = {"gaussians": normal_scores, "zscores": z_scores}
"""What learns the scale of a Gaussian term from numbers and the weights of the rows."""


@record
@dataclass(frozen=True, eq=False)
class GaussianTerm(Immutable):
    """A linear regression of the score of a number on those of others, within each class.

    x ~ N(u·β, σ²), u = (1, parents), with the prior β ~ N(0, σ² / diag(0.01, 1, …)), σ² ~ InvGamma(2, ½).
    The posterior has ``means`` (classes, k) of β and ``roots`` (classes, k, k), R Rᵀ σ² being the variance of
    β, and ``shapes`` and ``rates`` (classes,) of σ². ``parents`` are positions among the numbers.
    """

    parents: tuple[int, ...]
    means: Array
    roots: Array
    shapes: Array
    rates: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        classes, k = len(self.shapes), len(self.parents) + 1
        if not (self.means.shape == (classes, k) and self.roots.shape == (classes, k, k)):
            raise ValueError("means, roots: expected one per class, of the size of parents")

    @classmethod
    def fit(
        cls,
        scores: Array,
        number: int,
        parents: Sequence[int],
        classes: NDArray[Any],
        n_classes: int,
        weights: Array,
    ) -> GaussianTerm:
        """Learn from the scores of all numbers, (rows, numbers), classes and weights of rows."""
        prior = np.diag([_INTERCEPT_PRECISION, *[1.0] * len(parents)])
        design, found = _design(scores, parents), []
        for c in range(n_classes):
            rows = np.flatnonzero((classes == c) & (weights > 0))
            u, x, w = design[rows], scores[rows, number], weights[rows]
            weighted = u.T * w
            lower = np.linalg.cholesky(prior + weighted @ u)
            root = solve_triangular(lower, np.eye(len(prior)), lower=True, check_finite=False).T
            mean = root @ (root.T @ (weighted @ x))
            # This form of x'x − m'Am does not fall below 0.
            residual = float(w @ (x - u @ mean) ** 2 + mean @ prior @ mean)
            found.append((mean, root, SHAPE + w.sum() / 2, RATE + residual / 2))
        return cls(tuple(parents), *map(np.array, zip(*found, strict=True)))

    def log_density(self, scores: Array, number: int, left_out: LeftOut | None = None) -> Array:
        """Return ln of the predictive density of a number for each class, (rows, classes).

        ``left_out`` rows are removed from what was learned, in closed form.
        """
        result = np.empty((len(scores), len(self.shapes)))
        rows_per_block = max(1, _BLOCK_CELLS // self.roots[..., 0].size)
        for start in range(0, len(scores), rows_per_block):
            block = slice(start, start + rows_per_block)
            design = _design(scores[block], self.parents)
            residual = scores[block, number, None] - design @ self.means.T
            k = design.shape[1]
            spread = design @ self.roots.transpose(1, 0, 2).reshape(k, -1)
            leverage = np.square(spread).reshape(len(design), -1, k).sum(axis=2)
            result[block] = self._log_student(residual, leverage)
            if left_out is not None:
                taken = left_out.take(block)
                at = np.arange(len(design)), taken.classes
                result[block][at] = self._without_own(residual[at], leverage[at], taken)
        return result

    def described(self, owner: int, first: int, number: int, power: float) -> Student:
        """Return the term as a part of a formula; see `NumberTerms.described`."""
        constants = gammaln(self.shapes + 0.5) - gammaln(self.shapes) - 0.5 * np.log(2 * np.pi * self.rates)
        parents = tuple([first + parent for parent in self.parents])
        arrays = self.means, self.roots, self.shapes, self.rates, constants
        return Student(owner, first + number, parents, power, *arrays)

    def _log_student(self, residual: Array, leverage: Array) -> Array:
        constant = gammaln(self.shapes + 0.5) - gammaln(self.shapes)
        wider = 2 * self.rates * (1 + leverage)
        inside = np.log1p(residual**2 / wider)
        return np.asarray(constant - 0.5 * np.log(np.pi * wider) - (self.shapes + 0.5) * inside)

    def _without_own(self, residual: Array, leverage: Array, left_out: LeftOut) -> Array:
        """Return the log densities for the own classes of rows that are left out, (rows,)."""
        share = left_out.shares
        kept = 1 - share * leverage
        shape = self.shapes[left_out.classes] - share / 2
        rate = self.rates[left_out.classes] - 0.5 * share * residual**2 / kept
        levels, place = np.unique(shape, return_inverse=True)  # one per class if rows have no weights
        constant = (gammaln(levels + 0.5) - gammaln(levels))[place]
        wider = 2 * rate * (1 + leverage / kept)
        inside = np.log1p((residual / kept) ** 2 / wider)
        return np.asarray(constant - 0.5 * np.log(np.pi * wider) - (shape + 0.5) * inside)


def _design(scores: Array, parents: Sequence[int]) -> Array:
    return np.column_stack([np.ones(len(scores)), scores[:, list(parents)]])


@record
@dataclass(frozen=True, eq=False)
class NumberTerms(Immutable):
    """The terms of all numeric features on one scale.

    ``scales`` has one scale per number; ``gaussians`` one term per number, or none, which are multiplied by
    ``powers``. ``slopes`` are (numbers, classes), or empty.
    """

    name: str
    scales: tuple[Scale, ...]
    gaussians: tuple[GaussianTerm, ...]
    powers: Array
    slopes: Array

    def scores(self, numbers: Array) -> Array:
        """Return the scores of (numbers, rows), as (rows, numbers)."""
        columns = [scale(values) for scale, values in zip(self.scales, numbers, strict=True)]
        return np.ascontiguousarray(np.transpose(columns))

    def logs(self, numbers: Array, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the position of a number and what a term of it adds to the score of each class."""
        scores = self.scores(numbers)
        for number, (term, power) in enumerate(zip(self.gaussians, self.powers, strict=True)):
            yield number, power * log_densities(term, scores, number, numbers, left_out)
        for number, slopes in enumerate(self.slopes):
            yield number, scores[:, number, None] * slopes

    def described(self, numbers: Sequence[int], first: int) -> tuple[Student | Slope, ...]:
        """Return the terms as parts of a formula, whose scales of these features begin at ``first``."""
        gaussians, slopes = enumerate(zip(self.gaussians, self.powers, strict=True)), enumerate(self.slopes)
        return (
            *[term.described(numbers[i], first, i, float(power)) for i, (term, power) in gaussians],
            *[Slope(numbers[i], first + i, of_classes) for i, of_classes in slopes],
        )


def log_densities(
    term: GaussianTerm, scores: Array, number: int, numbers: Array, left_out: LeftOut | None
) -> Array:
    """Return the log density of a number at rows, 0 where it is missing."""
    missing = np.isnan(numbers[number])
    if left_out is not None and missing.any():
        left_out = LeftOut(left_out.classes, np.where(missing, 0.0, left_out.shares))
    values = term.log_density(scores, number, left_out)
    values[missing] = 0.0
    return values
