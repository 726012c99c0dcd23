"""Formulas of the scores of the classes, as plain values that other languages can evaluate.

A row is one code per feature, -1 if it is missing, and the numbers of some features, NaN if missing. The
value of a formula is one score per class. The posterior is exp(score) / Σ exp(score), and uniform if all
scores are -inf. A score is NaN if the formula does not apply to the row. If that of the whole formula is NaN,
the prediction is missing. h is the share of the features whose code is -1.

Each term has an `owner`: the position of the feature to whose family it belongs, -1 for that of the class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..base.arrays import Array, ArrayOf

Coding: TypeAlias = ArrayOf[Any] | None
"""The code in a table of each code of a feature, ascending with it; None if they are the same."""


@dataclass(frozen=True, eq=False)
class Table:
    """Entries that are looked up: ``logs[codes of the features in scope]``, one number per class.

    ``logs`` is (values of each feature in scope…, classes), or (…, 1) if all classes have the same entry. In
    a `Sum` that does not marginalize, each feature has one value more, the last, for a missing value.
    ``codings`` has one `Coding` per feature in scope, and is empty if none is coded.
    """

    owner: int
    scope: tuple[int, ...]
    logs: Array
    codings: tuple[Coding, ...] = ()


@dataclass(frozen=True, eq=False)
class Normal:
    """The log density of the number of the owner: -(ln(2π variance) + (number - mean)² / variance) / 2.

    ``mean`` and ``variance`` are looked up like a `Table`. If the number is missing, the term is 0 for all
    values of the features in scope.
    """

    owner: int
    scope: tuple[int, ...]
    mean: Array
    variance: Array


@dataclass(frozen=True, eq=False)
class ScaledNumber:
    """The score z of the number of a feature: linear between knots, constant beyond; 0 if it is missing."""

    feature: int
    knots: Array
    scores: Array


@dataclass(frozen=True, eq=False)
class Slope:
    """The term z·slope of class c, (classes,), with z on the scale of this position among the scales."""

    owner: int
    scale: int
    slopes: Array


@dataclass(frozen=True, eq=False)
class Student:
    """The predictive log density of z given other scores, times a power; 0 if the owner's number is missing.

    With u = (1, z of each of the ``parents``), r = z - u·mean and a = 1 + |uᵀroot|² of class c, the term is
    power·(constant - ln(a)/2 - (shape + 1/2)·ln(1 + r²/(2·rate·a))). ``scale`` and ``parents`` are positions
    among the scales. Per class, there are means (classes, k), roots (classes, k, k), and one of the rest.
    """

    owner: int
    scale: int
    parents: tuple[int, ...]
    power: float
    means: Array
    roots: Array
    shapes: Array
    rates: Array
    constants: Array


Term: TypeAlias = Table | Normal | Slope | Student


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of the terms of a row; if it ``marginalizes``, over all values of the missing features."""

    terms: tuple[Term, ...]
    marginalizes: bool
    scales: tuple[ScaledNumber, ...] = ()


@dataclass(frozen=True, eq=False)
class Mixture:
    """The score ln Σ_i exp(log_weight_i + score_i) over the formulas that apply, and NaN if none does."""

    formulas: tuple[Formula, ...]
    log_weights: Array


@dataclass(frozen=True, eq=False)
class Choice:
    """The score of the first of the formulas that applies."""

    formulas: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Raised:
    """The score of a formula, times power + (1 - power)·h."""

    formula: Formula
    power: float


@dataclass(frozen=True, eq=False)
class Blend:
    """The score of a formula and, if features are missing, of trees: k·score + (1-k)·(log_prior + w·t) + s·g.

    w = power + (1 - power)·h, t is the mean of the scores of the trees, and g the sum of the entries of
    ``gaps`` for missing values. Here, h is the sum of the ``usual`` shares of the missing features, divided
    by that of all features, and k = (1 - h)·(1 - m)^(exponent - 1), where m is the number of missing features
    with a ``usual`` share of 1, divided in the same way. If n other features are missing, more than ``most``,
    s = most / n; if not, s = 1.
    """

    formula: Formula
    log_prior: Array
    trees: tuple[Sum, ...]
    usual: Array
    power: float
    gaps: tuple[Table, ...]
    exponent: float
    most: float


@dataclass(frozen=True, eq=False)
class Completed:
    """The score of a sum of one table per feature and, if features are unknown, of what the others say of them.

    A feature is unknown if its code is -2, or -1 and it is ``always`` known in training, or -1 and more than
    ``most`` other features have this code, too. If not, -1 is no evidence of other features, but has an
    effect. With differences to the first class, e the sum of the constant and the known effects, and w the regression by ``covariances``
    of the sum of the unknown effects on the known ones, of which v is the variance that is left, the score is

        (e + Σ unknown means + w·(known effects - their means)) / √(1 + π v / 8) + d v

    with d such that the posteriors are the ``shares`` if nothing is known; d is 0 if there are no shares.
    ``covariances`` have the order (features, classes without the first), and v is a mean over pairs of
    classes. See `bnclassify.additive.unknown`.
    """

    formula: Sum
    means: Array
    covariances: Array
    shares: Array
    always: ArrayOf[np.bool_]
    most: float


Formula: TypeAlias = Sum | Mixture | Choice | Raised | Blend | Completed


def sums_in(formula: Formula) -> Iterator[Sum]:
    """Yield the sums of which a formula is made."""
    if isinstance(formula, Sum):
        yield formula
        return
    for value in vars(formula).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Sum | Mixture | Choice | Raised | Blend | Completed):
                yield from sums_in(part)


def padded(logs: Array, value: float = 0.0) -> Array:
    """Return the entries of a table with one value more, for missing values, on each axis but the last."""
    widths = [(0, 1)] * (logs.ndim - 1) + [(0, 0)]
    return np.pad(logs, widths, constant_values=value)
