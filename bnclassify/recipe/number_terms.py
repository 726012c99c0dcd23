"""Terms of numeric features in log-linear models: scores on scales, Gaussians and slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..base import special
from ..base.arrays import Array, ArrayOf, Mask, Positions, slices
from ..base.immutable import (
    ANY_NUMBER,
    COUNT,
    POSITIVE,
    POWER,
    Immutable,
    cached_property,
    field_bounds,
    record,
)
from ..scores.formulas import Slope, Student
from ..scores.students import residual_and_leverage
from .prefix_tables import LeftOutRows

SHAPE, RATE = 2.0, 0.5
"""Parameters of the inverse gamma prior of a variance."""

_MOST_KNOTS = 2**10  # number of knots of a scale
_LEAST_STEP = 1e-305  # difference of knots below which slopes overflow


@record
@dataclass(frozen=True, eq=False)
class Scale(Immutable):
    """A function from numbers to scores: linear between ``knots``, and constant beyond them."""

    bounds = field_bounds(knots=ANY_NUMBER, scores=ANY_NUMBER)

    knots: Array
    scores: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        knots, fits = self.knots, self.knots.ndim == 1 and self.knots.shape == self.scores.shape
        if not fits or not len(knots) or (knots[1:] < knots[:-1]).any():
            raise ValueError(
                "knots must contain ascending numbers, at least one, with as many scores."
            )

    def __call__(self, numbers: Array) -> Array:
        """Return scores, 0 for missing numbers."""
        return np.where(np.isnan(numbers), 0.0, np.interp(numbers, self.knots, self.scores))


def normal_scores(numbers: Array, weights: Array) -> Scale:
    """Return the scale that maps each number to the normal quantile of its mid-rank."""
    known = ~np.isnan(numbers) & (weights > 0)
    values, place = np.unique(numbers[known], return_inverse=True)
    if not len(values) or np.diff(values).min(initial=1.0) < _LEAST_STEP:
        return Scale(np.zeros(1), np.zeros(1))
    mass = np.bincount(place, weights[known], len(values))
    shares: Array = (np.cumsum(mass) - mass / 2) / mass.sum()
    # Weights that differ much give shares of 0 or 1, whose normal scores are infinite.
    scores: Array = special.ndtri(np.clip(shares, 1e-300, 1 - 2**-53))
    if len(values) > _MOST_KNOTS:  # knots at even distances on the scale
        wanted = np.linspace(scores[0], scores[-1], _MOST_KNOTS)
        kept = np.unique(np.searchsorted(scores, wanted).clip(0, len(values) - 1))
        values, scores = values[kept], scores[kept]
    return Scale(values, scores)


def z_score_scale(numbers: Array, weights: Array) -> Scale:
    """Return the scale in standard deviations from the mean, bounded by 5."""
    known = ~np.isnan(numbers)
    size = np.abs(numbers[known]).max(initial=0.0) or 1.0
    share: Array = weights[known] / max(weights[known].sum(), 1e-300)
    mean = float(share @ (numbers[known] / size))
    deviation = np.sqrt(share @ (numbers[known] / size - mean) ** 2)
    if not deviation > 0 or deviation * size < _LEAST_STEP:
        return Scale(np.zeros(1), np.zeros(1))
    bounds = np.array([-5.0, 5.0])
    ends: Array = mean + deviation * bounds
    most = np.finfo(np.float64).max / max(size, 1.0) / 2
    return Scale(np.clip(ends, -most, most) * size, bounds)


SCALES: dict[str, Callable[[Array, Array], Scale]] = {
    "gaussians": normal_scores,
    "zscores": z_score_scale,
    "densities": normal_scores,
}
"""A function that learns the scale of a Gaussian term from numbers and the weights of rows."""


@record
@dataclass(frozen=True, eq=False)
class GaussianTerm(Immutable):
    """A linear regression of the score of a number on the scores of others, within each class.

    x ~ N(u·β, σ²), u = (1, parents), with the prior β ~ N(0, σ² / diag(0.01, 1,
    …)), σ² ~ InvGamma(2, ½). The posterior has ``means`` (classes, k) of β and
    ``roots`` (classes, k, k), R Rᵀ σ² being the variance of β, and ``shapes``
    and ``rates`` (classes,) of σ². ``parents`` are positions among the numbers.
    """

    bounds = field_bounds(
        parents=COUNT, means=ANY_NUMBER, roots=ANY_NUMBER, shapes=(SHAPE, COUNT[1]), rates=POSITIVE
    )

    parents: tuple[int, ...]
    means: Array
    roots: Array
    shapes: Array
    rates: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        classes, k = len(self.shapes), len(self.parents) + 1
        fits = self.means.shape == (classes, k) and self.roots.shape == (classes, k, k)
        if not (fits and self.shapes.shape == self.rates.shape == (classes,)):
            raise ValueError(
                "means and roots must have one array per class, of the size of parents."
            )

    def as_formula_term(self, owner: int, first: int, number: int, power: float) -> Student:
        """Return the term as a part of a formula; see `NumberTerms.as_formula_terms`."""
        constants = special.gammaln(self.shapes + 0.5) - special.gammaln(self.shapes)
        constants = constants - 0.5 * np.log(2 * np.pi * self.rates)
        parents = tuple([first + parent for parent in self.parents])
        arrays = self.means, self.roots, self.shapes, self.rates, constants
        return Student(owner, first + number, parents, power, *arrays)


def positions_by_number_of_parents(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the positions of the numbers with equally many parents."""
    sizes = [len(each) for each in parents]
    return [[i for i, size in enumerate(sizes) if size == each] for each in sorted(set(sizes))]


def fit_gaussian_terms(
    scores: Array,
    missing: Mask,
    parents: Sequence[Sequence[int]],
    rows: LeftOutRows,
    n_classes: int,
) -> list[GaussianTerm]:
    """Learn the terms of numbers from scores, (rows, numbers), which are missing, and all rows."""
    found: dict[int, GaussianTerm] = {}
    of_class = [np.flatnonzero(rows.classes == c) for c in range(n_classes)]
    for numbers in positions_by_number_of_parents(parents):
        k = len(parents[numbers[0]]) + 1
        for at_once in slices(len(numbers), k * len(scores)):
            block = np.array(numbers[at_once], dtype=np.intp)
            of_block = np.array([parents[i] for i in block], dtype=np.intp)
            learned = []
            for at in of_class:
                x, design = scores.T[block][:, at], _design_of_parents(scores.T, of_block, at)
                weights = rows.shares[at] * ~missing[block][:, at]
                learned.append(_regress_within_class(x, design, weights))
            arrays = [np.stack(parts, axis=1) for parts in zip(*learned, strict=True)]
            for i, *own in zip(block, *arrays, strict=True):
                found[i] = GaussianTerm(tuple(parents[i]), *own)
    return [found[i] for i in range(len(parents))]


def _regress_within_class(x: Array, design: Array, weights: Array) -> tuple[Array, ...]:
    """Return means, roots, shapes and rates of numbers, (numbers, rows), in the rows of a class."""
    # 0.01: precision of the intercept; 1 for the other coefficients
    prior = np.diag([0.01, *[1.0] * (design.shape[2] - 1)])
    weighted = (design * weights[:, :, None]).transpose(0, 2, 1)
    lower = np.linalg.cholesky(prior + weighted @ design)
    roots = np.linalg.inv(lower).transpose(0, 2, 1)
    means = roots @ (roots.transpose(0, 2, 1) @ (weighted @ x[:, :, None]))
    # This form of x'x − m'Am does not fall below 0.
    residual: Array = (weights * (x - (design @ means)[:, :, 0]) ** 2).sum(axis=1)
    residual += (means.transpose(0, 2, 1) @ prior @ means)[:, 0, 0]
    return means[:, :, 0], roots, SHAPE + weights.sum(axis=1) / 2, RATE + residual / 2


def _design_of_parents(scores: Array, parents: Positions, at: Positions) -> Array:
    """Return 1 and the scores of numbers' parents at rows, (numbers, rows, parents + 1)."""
    scores = scores[parents][..., at].transpose(0, 2, 1)
    return np.concatenate([np.ones((*scores.shape[:2], 1)), scores], axis=2)


class _StackedGaussians(NamedTuple):
    """Gaussian terms of equally many parents: numbers, parents and learned values, stacked."""

    numbers: Positions
    parents: Positions
    means: Array
    roots: Array
    shapes: Array
    rates: Array

    @classmethod
    def from_terms(cls, numbers: Sequence[int], terms: Sequence[GaussianTerm]) -> _StackedGaussians:
        parents = np.array([term.parents for term in terms], dtype=np.intp)
        learned = []
        for name in ("means", "roots", "shapes", "rates"):
            learned.append(np.array([getattr(term, name) for term in terms]))
        return cls(np.array(numbers, dtype=np.intp), parents, *learned)

    def log_densities(self, scores: Array, missing: Mask, left_out: LeftOutRows | None) -> Array:
        """Return log densities, (terms, rows, classes), of scores (rows, numbers), or 0."""
        result = np.empty((len(self.numbers), len(scores), self.shapes.shape[1]))
        for block in slices(len(scores), self.roots[..., 0].size):
            rows = np.ascontiguousarray(scores[block].T)
            residual, leverage = residual_and_leverage(
                rows[self.numbers], rows[self.parents], self.means, self.roots
            )
            result[:, block] = _log_student_density(
                self.shapes[:, None], self.rates[:, None], residual, leverage
            )
            if left_out is not None:
                taken = left_out.take(block)
                shares = np.where(missing[self.numbers, block], 0.0, taken.shares)
                own = np.arange(len(self.numbers))[:, None], np.arange(rows.shape[1]), taken.classes
                result[:, block][own] = self._log_densities_without_own_row(
                    residual[own], leverage[own], taken.classes, shares
                )
        result[missing[self.numbers]] = 0.0
        return result

    def _log_densities_without_own_row(
        self, residual: Array, leverage: Array, classes: ArrayOf[Any], share: Array
    ) -> Array:
        """Return the log densities of held-out rows given their own classes, (terms, rows)."""
        kept = 1 - share * leverage
        shape = self.shapes[:, classes] - share / 2
        rate = self.rates[:, classes] - 0.5 * share * residual**2 / kept
        return _log_student_density(shape, rate, residual / kept, leverage / kept)


def _log_student_density(shapes: Array, rates: Array, residual: Array, leverage: Array) -> Array:
    values, place = np.unique(shapes, return_inverse=True)  # few if rows have no weights
    constants = special.gammaln(values + 0.5) - special.gammaln(values)
    constant = constants[place].reshape(shapes.shape)
    wider = 2 * rates * (1 + leverage)
    inside = np.log1p(residual**2 / wider)
    return np.asarray(constant - 0.5 * np.log(np.pi * wider) - (shapes + 0.5) * inside)


@record
@dataclass(frozen=True, eq=False)
class NumberTerms(Immutable):
    """Terms of all numeric features on one scale: a Gaussian or none, times powers; slopes."""

    bounds = field_bounds(powers=POWER, slopes=POWER)

    name: str
    scales: tuple[Scale, ...]
    gaussians: tuple[GaussianTerm, ...]
    powers: Array
    slopes: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.scales)
        fits = self.powers.shape == (len(self.gaussians),) and self.slopes.ndim == 2
        fits &= {len(self.gaussians), len(self.slopes)} <= {0, n}
        if not fits or any(parent >= n for term in self.gaussians for parent in term.parents):
            raise ValueError(
                "scales must be one per number, as many as Gaussian terms, powers and slopes."
            )

    def scores(self, numbers: Array) -> Array:
        """Return the scores of (numbers, rows), as (rows, numbers)."""
        scaled = [scale(values) for values, scale in zip(numbers, self.scales, strict=True)]
        return np.array(scaled).T.copy()

    @cached_property
    def _gaussians_by_number_of_parents(self) -> list[_StackedGaussians]:
        stacked = []
        for numbers in positions_by_number_of_parents([term.parents for term in self.gaussians]):
            terms = [self.gaussians[i] for i in numbers]
            stacked.append(_StackedGaussians.from_terms(numbers, terms))
        return stacked

    def log_densities(
        self, numbers: Array, scores: Array, left_out: LeftOutRows | None = None
    ) -> Array:
        """Return the log densities of all numbers, (numbers, rows, classes), 0 if missing."""
        n_classes = self._gaussians_by_number_of_parents[0].shapes.shape[1]
        result = np.empty((len(self.gaussians), len(scores), n_classes))
        missing = np.isnan(numbers)
        for terms in self._gaussians_by_number_of_parents:
            result[terms.numbers] = terms.log_densities(scores, missing, left_out)
        return result

    def sum_with(self, other: NumberTerms) -> NumberTerms:
        """Return the same terms with the sums of the powers and slopes."""
        both = [x.slopes for x in (self, other) if len(x.slopes)]
        slopes = np.sum(both, axis=0) if both else self.slopes
        return replace(self, powers=self.powers + other.powers, slopes=slopes)

    def as_formula_terms(self, numbers: Sequence[int], first: int) -> tuple[Student | Slope, ...]:
        """Return the terms as parts of a formula, in which their scales begin at ``first``."""
        terms: list[Student | Slope] = []
        for i, (gaussian, power) in enumerate(zip(self.gaussians, self.powers, strict=True)):
            terms.append(gaussian.as_formula_term(numbers[i], first, i, float(power)))
        for i, of_classes in enumerate(self.slopes):
            terms.append(Slope(numbers[i], first + i, of_classes))
        return tuple(terms)
