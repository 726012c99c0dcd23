"""Cases, which are held out as a whole, and an order of rows that depends on their contents alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..frames.numeric import as_floats
from ..frames.schema import Dataset

_COPIES = 13.0
"""Value of S·d/N from which equal rows are copies; public tables have at most 7 or at least 25."""

_LARGEST_FACTOR = 1e-9  # relative deviation of weights from multiples of the smallest one

Data = TypeVar("Data", bound=Dataset)


def name_ranks(names: Sequence[object]) -> NDArray[np.intp]:
    """Return the place of each name in the alphabetical order of all names."""
    order = sorted(range(len(names)), key=lambda i: str(names[i]))
    return np.argsort(np.array(order, dtype=np.intp))


def _column_keys(data: Dataset, values: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return hashes, (columns, rows), of values and numbers, regardless of the order of features."""
    factors = np.random.default_rng(0).integers(2**64 - 1, size=2 * len(data.columns), dtype=np.uint64) | 1
    keys = np.empty(data.codes.shape, dtype=np.uint64)
    ranks = [*name_ranks(data.columns[:-1]).tolist(), len(data.columns) - 1]
    for i, (name, rank) in enumerate(zip(data.columns, ranks, strict=True)):
        keys[i] = values[i][data.codes[i]] * factors[2 * rank]
        if name in data.numbers:
            bits = (as_floats(data.numbers[name]) + 0.0).view(np.uint64)
            keys[i] += (bits ^ (bits >> np.uint64(29))) * factors[2 * rank + 1]
        keys[i] ^= keys[i] >> np.uint64(32)
        keys[i] *= factors[2 * rank + 1]
    return keys


def row_keys(data: Dataset) -> NDArray[np.uint64]:
    """Return a hash of the values of each row; equal rows have equal hashes."""
    return _identities(data).sum(axis=0, dtype=np.uint64)


def _identities(data: Dataset) -> NDArray[np.uint64]:
    return _column_keys(data, [np.arange(card + 1, dtype=np.uint64) for card in data.cards])


def row_order(data: Dataset) -> NDArray[np.intp]:
    """Return an order of rows that does not depend on that of rows, columns and levels, or on level names.

    A level is described by its frequencies in the classes, and rows of a class are adjacent. Only rows with
    the same description, such as equal rows, can be in any order.
    """
    classes, n_classes = data.codes[-1], data.cards[-1]
    weights = np.ones(len(data)) if data.weights is None else data.weights
    values = []
    for codes, card in zip(data.codes, data.cards, strict=True):
        cells = (codes.astype(np.intp) + 1) * (n_classes + 1) + classes + 1
        table = np.bincount(cells, weights, (card + 1) * (n_classes + 1)).reshape(card + 1, -1)
        table = np.sort(np.roll(table, -1, axis=0), axis=1)  # missing values last
        mixed = (table.round(6) + 0.0).view(np.uint64) * (
            np.arange(1, n_classes + 2, dtype=np.uint64) * 2 + 1
        )
        values.append(mixed.sum(axis=1, dtype=np.uint64))
    keys = _column_keys(data, values).sum(axis=0, dtype=np.uint64)
    return np.lexsort((row_keys(data), keys, values[-1][classes]))


def class_ranks(data: Dataset, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each class among classes by frequency, then by their first row in an order."""
    classes, n_classes = data.codes[-1][order], data.cards[-1]
    counts = np.bincount(classes, minlength=n_classes)
    first = np.full(n_classes, len(classes))
    np.minimum.at(first, classes, np.arange(len(classes)))
    return np.argsort(np.lexsort((first, -counts)))


def in_order(data: Data) -> Data:
    """Return the rows in the order of their contents."""
    return data.taken(row_order(data))


def find_cases(data: Data) -> Data:
    """Return the rows of data with their cases, or the data if each unit of weight is a case.

    A factor that all weights share is divided out. Then equal rows are natural repetitions or copies: with S
    pairs of equal rows, and N pairs that differ in one of d columns, they are copies if S·d/N is large.
    Copies, and rows whose weights are fractions, are one case each, and weights sum to the effective number
    of rows (Σw)²/Σw².
    """
    if data.cases is not None or not len(data):
        return data
    weights = np.ones(len(data)) if data.weights is None else data.weights
    keys = _identities(data)
    _, first, group = np.unique(keys.sum(axis=0, dtype=np.uint64), return_index=True, return_inverse=True)
    if len(first) == len(data) and (data.weights is None or np.ptp(weights) == 0):
        return replace(data, weights=None)
    totals = np.bincount(group, weights).astype(np.float64)
    shared = _shared_factor(totals)
    totals = totals / shared
    if totals.max() == 1:
        return replace(data.taken(np.sort(first)), weights=None, given=len(data))
    whole = not (totals % 1).any()
    if whole and not _are_copies(keys[:, first], totals):
        return data if shared == 1 else replace(data, weights=weights / shared)
    chosen = np.argsort(first)
    scaled = totals * totals.sum() / np.square(totals).sum()
    distinct = data.taken(first[chosen])
    return replace(distinct, weights=scaled[chosen], cases=np.arange(len(first)), given=len(data))


def _shared_factor(weights: Array) -> float:
    """Return the smallest positive weight if all others are multiples of it, or 1."""
    smallest = float(weights[weights > 0].min(initial=np.inf))
    ratios = weights / smallest if np.isfinite(smallest) else np.ones(1)
    multiples = np.abs(ratios - ratios.round()) <= _LARGEST_FACTOR * ratios
    return smallest if multiples.all() and np.isfinite(smallest) else 1.0


def _are_copies(keys: NDArray[np.uint64], weights: Array) -> bool:
    """Whether distinct rows, given by hashes of their columns, are repeated more often than by chance."""
    equal = _pairs(weights).sum()
    near, total = 0.0, keys.sum(axis=0, dtype=np.uint64)
    for column in keys:
        _, group = np.unique(total - column, return_inverse=True)
        near += _pairs(np.bincount(group, weights).astype(np.float64)).sum() - equal
    return bool(equal * len(keys) > _COPIES * near)


def _pairs(sizes: Array) -> Array:
    return sizes * (sizes - 1) / 2
