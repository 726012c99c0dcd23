"""Contrasts of the values of a feature: the directions in which its effect can differ.

An effect is a sum of contrasts, of which each has a weight with a normal prior
of mean 0. A number is divided into groups of neighboring values; its contrasts
are a line, a square, and cosines of ranks, of which the k-th is divided by k,
so that smooth effects are more probable than rough ones. A category has one
contrast per level. Contrasts are scaled so that the variances of those of one
type sum to 1 over the training rows: a prior variance of τ then means that the
effect of a row has the variance τ, regardless of the feature.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..dataset import Dataset, as_floats
from ..numbers import shortest_cuts
from ..tools.arrays import Array, Codes, Positions
from ..tools.immutable import cached_property
from .effect_table import UNSEEN, Values

_GROUPS = 64  # maximum number of groups of a number
COSINES = 12  # number of cosines; a category with more levels joins those that occur once
_LEVELS = 2**12  # about the largest number of levels with contrasts, whose products fit into memory
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Feature:
    """The values of a feature in training rows, in groups, and contrasts of the groups.

    ``groups`` has the group of each row; the last of the ``mass`` of groups,
    and of the rows of ``line``, (groups, k), and ``smooth``, is that of missing
    values. ``range`` has the smallest and the largest number.
    ``numbers`` are the different numbers, ascending.
    """

    name: Hashable
    values: Values
    groups: Codes
    mass: Array
    line: Array
    smooth: Array
    range: tuple[float, ...] = ()
    numbers: Array | None = None
    exact_number: Codes | None = None

    @property
    def exact(self) -> Codes:
        """The exact value of each row: its number, or its group; the last is missing."""
        return self.groups if self.exact_number is None else self.exact_number

    @property
    def counts_missing(self) -> bool:
        """Whether missing values have an effect."""
        return bool(self.smooth[-1].any())

    @property
    def n_exact(self) -> int:
        """The number of exact values."""
        return len(self.mass) - 1 if self.numbers is None else len(self.numbers)

    def at(self, rows: Positions) -> Feature:
        """Return the feature of some rows."""
        exact = None if self.exact_number is None else self.exact_number[rows]
        return replace(self, groups=self.groups[rows], exact_number=exact)

    def by_exact_value(self, weights: Array) -> tuple[Feature, Positions, Positions]:
        """Return the feature with a group for each exact value, their groups before, and these.

        Numbers between exact values have groups of their own, without rows. Of
        the numbers 1, 2 and 5, the groups end at .5, 1.5, 2.5, 4.5 and 5.5, and
        those of exact values and of missing ones are 1, 2, 4 and 6.
        """
        if self.numbers is None or self.exact_number is None:
            same = np.arange(len(self.mass))
            return self, same, same
        numbers, half = self.numbers, float(np.diff(self.numbers).min(initial=np.inf)) / 2
        ends = np.unique([numbers - half, numbers + half])
        alike = np.append(False, np.diff(ends) < half)  # the same end of two neighbors
        ends = ends[~alike]
        places = np.append(np.searchsorted(ends, numbers), len(ends) + 1)
        middles = np.concatenate([ends[:1] - half, (ends[:-1] + ends[1:]) / 2, ends[-1:] + half])
        old = np.searchsorted(self.values.cuts or (), middles, side="left")
        old = np.append(old, len(self.mass) - 1)
        groups = places[self.exact_number]
        feature = replace(
            self,
            values=Values.from_cuts(ends.tolist()),
            groups=groups,
            mass=_shares(groups, weights, len(old)),
            line=self.line[old],
            smooth=self.smooth[old],
            numbers=None,
            exact_number=None,
        )
        return feature, old, places

    @cached_property
    def contrasts(self) -> Array:
        """All contrasts, (groups, k), scaled as one type."""
        return _scaled(np.hstack([self.line, self.smooth]), self.mass)


def principal_contrasts(contrasts: Array, mass: Array, most: int | None = None) -> Array:
    """Return the contrasts that explain most of the variance, (groups, at most so many)."""
    roots = np.sqrt(mass)[:, None]
    _, sizes, directions = np.linalg.svd(roots * contrasts, full_matrices=False)
    n = int(np.count_nonzero(sizes[:most] > 1e-9 * sizes.max(initial=_TINY)))
    return np.asarray(contrasts @ directions[:n].T)


def read_feature(
    data: Dataset, name: Hashable, *, counts_missing: bool, min_count: float | None
) -> Feature:
    """Return a column of training rows in groups, and the contrasts of these.

    Levels in fewer than ``min_count`` rows are one group; by default, those
    that occur once, in a column with many levels. If more than 4,096 are left,
    so are those that are not more frequent than the next one.

    If missing values count, they have a contrast to the others: with a share of
    .2, it is .8 for these and -.2 for others, so that few cannot have a large effect.
    """
    weights, position = data.row_weights, data.positions[name]
    codes, labels, exact = data.codes[position], data.levels[position], list[Any]()
    is_number = name in data.numbers and len(labels) not in (1, 2)
    if is_number:
        values, groups, means, *exact = _groups_of_numbers(as_floats(data.numbers[name]), weights)
    else:
        merged = None if name in data.numbers else min_count  # none of two numbers is rare
        values, groups = _groups_of_levels(codes, labels, weights, merged)
    n = len(values.labels)
    mass = _shares(groups, weights, n + 1)
    known = mass[:-1] / max(float(mass[:-1].sum()), _TINY)
    line: Array = np.zeros((n, 0))
    smooth = line
    if np.count_nonzero(known) > 1 and is_number:
        line, smooth = _line_and_cosines(means, known)
    elif np.count_nonzero(known) > 1:
        observed = np.flatnonzero(known)  # a declared level without rows has the mean effect
        smooth = np.equal.outer(np.arange(n), observed) - known[observed]
    line, smooth = [np.vstack([_scaled(z, known), np.zeros(z.shape[1])]) for z in (line, smooth)]
    if counts_missing and 0 < mass[-1] < 1:
        missing = np.append(np.zeros(n), 1.0)[:, None]
        smooth = np.hstack([smooth, missing - mass[-1]])
    return Feature(name, values, groups, mass, line, smooth, *exact)


def _groups_of_levels(
    codes: Codes, labels: tuple[Hashable, ...], weights: Array, min_count: float | None
) -> tuple[Values, Codes]:
    """Return levels, or those that are not rare and the others, and the group of each row."""
    groups = np.where(codes < 0, len(labels), codes).astype(np.min_scalar_type(len(labels) + 1))
    counts = np.bincount(groups, weights, len(labels) + 1)[:-1]
    is_rare = counts < (min_count or 2)
    if len(labels) > _LEVELS:
        is_rare |= counts <= np.sort(counts)[-_LEVELS - 1]
    n_rare = np.count_nonzero(is_rare & (counts > 0))
    if not (n_rare if min_count else n_rare > 1 and np.count_nonzero(counts) > COSINES):
        return Values(labels), groups
    kept = np.flatnonzero(~(is_rare & (counts > 0)))
    group_of_label = np.full(len(labels) + 1, len(kept), dtype=groups.dtype)
    group_of_label[kept] = np.arange(len(kept))
    group_of_label[-1] = len(kept) + 1
    return Values((*[labels[k] for k in kept.tolist()], UNSEEN)), group_of_label[groups]


def _groups_of_numbers(
    numbers: Array, weights: Array
) -> tuple[Values, Codes, Array, tuple[float, ...], Array, Codes]:
    """Return intervals and the group of each row, means of groups, the range, and exact numbers.

    Groups have about equal weight: of the values 1, 2, 3, 4 with the shares .4,
    .1, .4, .1, whose middles are .2, .45, .7 and .95, two groups are 1 and 2,
    and 3 and 4.
    """
    known = ~np.isnan(numbers)
    values, places = np.unique(numbers[known], return_inverse=True)
    counts = np.bincount(places, weights[known], len(values))
    values, places = values + 0.0, places.ravel()  # without -0.0
    middles = (counts.cumsum() - counts / 2) / max(float(counts.sum()), _TINY)
    group = np.arange(len(values)) if len(values) <= _GROUPS else (middles * _GROUPS).astype(int)
    _, group = np.unique(group, return_inverse=True)
    last = np.flatnonzero(np.diff(group))
    cuts = values[last] + (values[last + 1] - values[last]) / 2
    cuts = np.where(cuts < values[last + 1], cuts, values[last])  # of neighboring floats
    n = len(last) + 1
    groups = np.full(len(numbers), n, dtype=np.int8)
    exact = np.full(len(numbers), len(values), dtype=np.int32)
    groups[known], exact[known] = group[places], places
    sums = np.bincount(group, counts * (values / np.abs(values).max(initial=_TINY)), n)
    means = sums / np.maximum(np.bincount(group, counts, n), _TINY)
    ends = (float(values[0]), float(values[-1])) if len(values) else ()
    of_groups = Values.from_cuts(shortest_cuts(cuts.tolist(), values))
    return of_groups, groups, means, ends, values, exact


def _line_and_cosines(means: Array, mass: Array) -> tuple[Array, Array]:
    """Return a line and a square of the means of groups, and cosines of their ranks / k.

    They are orthogonal by the mass. Example: of three equal groups, the cosines
    of the ranks 1/6, 1/2 and 5/6 are proportional to (1, 0, -1) and (1, -2, 1).
    """
    n, roots = len(mass), np.sqrt(mass)[:, None]
    z = means - mass @ means
    z /= max(float(np.sqrt(mass @ z**2)), _TINY)
    orthonormal, _ = np.linalg.qr(roots * z[:, None] ** np.arange(min(n, 3)))
    line = orthonormal[:, 1:] / roots * np.array([1.0, 0.5])[: min(n, 3) - 1]
    ranks = mass.cumsum() - mass / 2
    # Cosines of multiples of an angle are nearly collinear if most rows have the same value. They
    # are polynomials in the cosine of the angle, and so are the products with it.
    cosine, cosines = np.cos(np.pi * ranks), roots.T
    for _ in range(min(n - 1, COSINES)):
        z = cosine * cosines[-1]
        for _ in range(2):
            z -= (cosines @ z) @ cosines
        if (size := float(np.linalg.norm(z))) < 1e-13:
            break
        cosines = np.vstack([cosines, z / size])
    return line, cosines[1:].T / roots / np.arange(1, len(cosines))


def _scaled(contrasts: Array, mass: Array) -> Array:
    """Return contrasts of groups, divided by the root of the sum of their variances."""
    return np.asarray(contrasts / np.sqrt(max(float(mass @ (contrasts**2).sum(axis=1)), _TINY)))


def _shares(groups: Codes, weights: Array, n: int) -> Array:
    counts = np.bincount(groups, weights, n)
    return counts / max(float(counts.sum()), _TINY)
