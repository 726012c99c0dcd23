"""Training rows of a sum of effects, in order: a sample in folds, and the pairs they favor."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..dataset import Dataset
from ..tools.arrays import Array, Codes, Mask, Positions, slices
from ..tools.immutable import cached_property
from .contrasts import Feature, principal_contrasts

_SAMPLE, _FOLDS = 400, 4  # numbers of rows and folds by which variances are chosen
_LARGE_SAMPLE = 1600  # maximum number of rows by which the variance of pairs is chosen again
_MOST_CLASSES = 20  # in the sample
_CANDIDATES = 64  # number of features whose pairs are ranked
_STEP = 0.01  # prior variance of the step by which pairs are ranked

Pair = tuple[int, int]  # positions of two features, ascending


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows: features, classes, weights and cases, and a sample of rows in folds.

    Equal rows are one, with the sum of their weights, in an order by their
    contents, which begins with their classes. No share of a class is 0.
    """

    features: Sequence[Feature]
    classes: Positions
    labels: tuple[Hashable, ...]
    weights: Array
    cases: Positions | None
    shares: Array
    sample: Positions
    folds: Positions

    @classmethod
    def from_data(cls, data: Dataset, features: Sequence[Feature]) -> Rows:
        """Return coded rows with the class in the last column."""
        classes, cases = data.codes[-1].astype(np.intp), data.cases
        own_cases = [] if cases is None else [cases]
        first, weights = _merge_equal_rows(
            [classes, *[f.exact for f in features], *own_cases], data.row_weights
        )
        features, classes = [f.at(first) for f in features], classes[first]
        cases = None if cases is None else cases[first]
        counts = np.maximum(np.bincount(classes, weights, len(data.levels[-1])), 0.5)
        shares: Array = counts / counts.sum()
        order = _order_by_contents(features, classes, shares, weights, cases)
        features, classes, weights = [f.at(order) for f in features], classes[order], weights[order]
        cases = None if cases is None else cases[order]
        sample, folds = _sample_in_folds(classes, weights, cases)
        return cls(features, classes, data.levels[-1], weights, cases, shares, sample, folds)

    def large_sample(self) -> tuple[Positions, Mask] | None:
        """Return up to 1,600 rows, and which quarter of their cases is held out.

        Return None if there are fewer than 800 rows, or if most of them are held out.
        """
        sample, places = _sample(self.classes, self.weights, self.cases, _LARGE_SAMPLE)
        is_held_out = places % _FOLDS == 0
        are_many = len(sample) >= 2 * _SAMPLE and 2 * np.count_nonzero(is_held_out) <= len(sample)
        return (sample, is_held_out) if are_many else None

    def some(self, most: int) -> Positions:
        """Return at most so many rows, at equal distances."""
        return np.arange(0, len(self.classes), -(-len(self.classes) // most))

    @cached_property
    def order_of_features(self) -> list[int]:
        """Features in an order by their contents, so that sums do not depend on that of columns."""
        # Groups and their shares determine all contrasts but lines.
        contents = [(f.groups[self.sample], f.mass, f.line) for f in self.features]
        keys = [tuple([array.tobytes() for array in arrays]) for arrays in contents]
        return sorted(range(len(keys)), key=keys.__getitem__)

    @cached_property
    def candidates(self) -> list[int]:
        """The features whose pairs are ranked: those with the largest single effects."""
        found = [i for i, f in enumerate(self.features) if f.contrasts.shape[1]]
        if len(found) <= _CANDIDATES:
            return found
        residuals = np.eye(len(self.labels))[self.classes] - self.shares
        residuals *= self.weights[:, None]
        sizes = []
        for i in found:
            z = principal_contrasts(self.features[i].contrasts, self.features[i].mass, 3)
            sums = np.zeros((len(z), len(self.labels)))
            np.add.at(sums, self.features[i].groups, residuals)
            variance = float(self.features[i].mass @ (z**2).sum(axis=1))
            sizes.append(float(((z.T @ sums) ** 2).sum()) / max(variance, 1e-9))
        best = np.argsort(-np.round(sizes, 9), kind="stable")[:_CANDIDATES]
        return sorted([found[k] for k in best.tolist()])

    def rank_pairs(self, rows: Positions, weights: Array, residuals: Array) -> list[Pair]:
        """Return pairs of candidates, first those whose products raise the likelihood most.

        ``residuals`` are y − p of some rows, (rows, classes). The slope of the
        likelihood along a product z_i z_j of contrasts is G = Σ w z_i z_j (y −
        p), whose square is E = Σ w z_i² z_j² (y − p)² on average by chance. A
        step along it gains about (G² − E) / (E + 1/τ).
        """
        features = [self.features[i] for i in self.candidates]
        sides = [principal_contrasts(f.contrasts, f.mass, 3)[f.groups[rows]] for f in features]
        owner = np.repeat(np.arange(len(sides)), [z.shape[1] for z in sides])
        z = np.hstack(sides)
        slopes = np.zeros((len(owner), len(owner)))
        for of_class in residuals.T:
            slopes += (z.T @ ((weights * of_class)[:, None] * z)) ** 2
        chance = (z**2).T @ ((weights * (residuals**2).sum(axis=1))[:, None] * z**2)
        gains = (slopes - chance) / (chance + 1 / _STEP)
        marks = np.eye(len(sides))[:, owner]
        gains = (marks @ gains @ marks.T).round(9)
        order = sorted(combinations(range(len(sides)), 2), key=lambda pair: -gains[pair])
        return [(self.candidates[i], self.candidates[j]) for i, j in order]


def _merge_equal_rows(columns: Sequence[Codes], weights: Array) -> tuple[Positions, Array]:
    """Return the first of rows with equal codes in all columns, and the sums of their weights.

    Rows are compared, and ordered, by a hash of 64 bits.
    """
    hashes = np.zeros(len(weights), dtype=np.uint64)
    for column in columns:
        hashes = (hashes ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(31)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return first, np.bincount(inverse.ravel(), weights, len(first)).astype(np.float64)


def _order_by_contents(
    features: Sequence[Feature],
    classes: Positions,
    share: Array,
    weights: Array,
    cases: Positions | None,
) -> Positions:
    """Return an order of the rows, by classes, that follows their contents alone.

    It does not depend on the order of rows and columns, or on the names of
    columns, levels and classes, so that no sample of rows does.
    """
    color = classes * 0
    columns = [(f.groups, f.mass, f.values.cuts is not None) for f in features]
    if cases is not None:
        columns.append((cases, np.bincount(cases, weights) / float(weights.sum()), False))
    # Rows have the same color if their values are as frequent, in each class; then, if these occur
    # in rows of the same colors, and so on. Colors are whole numbers, and their last 16 bits are
    # summed, so that sums are exact in any order.
    for _ in range(3):
        marks = list[Array]()
        for groups, mass, is_ordered in columns:
            totals = np.bincount(groups, weights * (color % 2**16 + 1.0) ** 2, len(mass))
            mark = 2 + mass + totals / float(weights.sum()) ** 3
            if is_ordered:
                mark += mass.cumsum()
            marks.append(np.sqrt(mark))
        mixed = (
            _sums(len(color), marks, [column[0] for column in columns])
            + np.sqrt(2 + share)[classes]
        )
        color = np.unique(mixed * 1e4 % 1, return_inverse=True)[1].ravel()
    # Rows of one color are in the order of their numbers. Others can be exchanged, if all rows are:
    # the order of levels decides for all.
    of_numbers = list[Array]()
    for i, f in enumerate(features):
        column = float(f.mass @ (np.bincount(f.groups, minlength=len(f.mass)) * marks[i]))
        marks[i] = np.sqrt(column + np.arange(len(f.mass)))
        if f.numbers is not None:
            of_numbers.append(np.sqrt(column + np.arange(f.n_exact + 1)))
    numbers = _sums(len(color), of_numbers, [f.exact for f in features if f.numbers is not None])
    exchangeable = _sums(len(color), marks[: len(features)], [f.groups for f in features])
    # Rows of cases that can be exchanged have the same order in all colors.
    of_cases = color * 0 if cases is None else cases
    # Classes of the same share are in the order of the colors of their rows, then of their levels.
    sums = [np.bincount(classes, x, len(share)) for x in (exchangeable, color)]
    of_classes = np.lexsort((*sums, share)).argsort()[classes]
    return np.lexsort((of_cases, exchangeable, numbers, color, of_classes))


def _sums(n: int, marks: Sequence[Array], columns: Sequence[Codes]) -> Array:
    """Return the sum of the marks of each of n rows in all columns, in an order of their size."""
    total = np.empty(n)
    for rows in slices(n, most=2**16):
        of_rows = [mark[groups[rows]] for mark, groups in zip(marks, columns, strict=True)]
        total[rows] = np.sort(of_rows, axis=0).sum(axis=0)
    return total


def _sample_in_folds(
    classes: Positions, weights: Array, cases: Positions | None
) -> tuple[Positions, Positions]:
    """Return a sample of rows, and the fold in which each is held out, or −1.

    Of 800 rows or more, a half of 800 is held out; of fewer, each of four folds
    of at most 400.
    """
    sample, places = _sample(classes, weights, cases, 2 * _SAMPLE)
    if len(sample) == 2 * _SAMPLE:
        return sample, -(places % 2)
    sample, places = _sample(classes, weights, cases, _SAMPLE)
    return sample, places % _FOLDS


def _sample(
    classes: Positions, weights: Array, cases: Positions | None, most: int
) -> tuple[Positions, Positions]:
    """Return rows in proportion to their weights, and the place of each, or of its case.

    They are at most so many, of the 20 most frequent classes, so that each of
    many has several rows as among all rows.
    """
    _, first = np.unique(classes, return_index=True)  # rows begin with the rarest class
    frequent = classes[np.sort(first)[-_MOST_CLASSES:]]
    order = np.flatnonzero(np.isin(classes, frequent))
    ends = weights[order].cumsum()
    size = int(min(most, max(round(float(ends[-1])), 1)))
    # At equal distances of weight: a row of weight 2 is as two rows.
    points = (np.arange(size) + 0.5) * (ends[-1] / size)
    sample = order[np.minimum(np.searchsorted(ends, points), len(order) - 1)]
    if cases is None:
        return sample, np.arange(size)
    _, first, place = np.unique(cases[sample], return_index=True, return_inverse=True)
    return sample, np.argsort(np.argsort(first))[place.ravel()]
