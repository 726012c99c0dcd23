"""Cases, which are held out as a whole, and an order of rows by their contents alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from ..base.arrays import Array, ArrayOf, Positions, blocks
from ..base.messages import listed, warn
from ..frames.dataset import Dataset
from ..frames.encode import each_a_case
from ..frames.numeric import as_floats
from ..frames.row_findings import equal_rows

_MOST_ROWS = 1e12  # with more, the differences between log-likelihoods have too few digits
_BITS = 26  # of hashes that are added up: sums of 2^27 of them are exact in a float

Data = TypeVar("Data", bound=Dataset)
Keys = ArrayOf[np.uint64]


def _hashes_of(values: ArrayOf[np.uint64] | Positions, salt: int) -> Keys:
    """Return pseudo-random numbers of 64 bits, equal for equal values."""
    keys = (values.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(31)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    return keys ^ (keys >> np.uint64(29))


def _numbered_columns(data: Dataset) -> list[tuple[Positions, int]]:
    """Return each column's values as numbers from 0, the last if missing, and their count."""
    columns = []
    for name, codes, card in zip(data.columns, data.codes, data.cards, strict=True):
        values, size = codes.astype(np.intp), card + 1
        if name in data.numbers:
            distinct, values = np.unique(as_floats(data.numbers[name]), return_inverse=True)
            size = len(distinct) + 1
        columns.append((np.where(values < 0, size - 1, values), size))
    return columns


def row_keys(data: Dataset) -> Keys:
    """Return a hash of the values of each row; equal rows have equal hashes."""
    columns = _numbered_columns(data)
    return _row_keys(columns, range(len(columns)))


def _row_keys(columns: Sequence[tuple[Positions, int]], salts: Iterable[int]) -> Keys:
    """Return a hash of the values of each row, in columns that the salts tell apart."""
    total = np.zeros(len(columns[0][0]), dtype=np.uint64)
    for (values, _), salt in zip(columns, salts, strict=True):
        total += _hashes_of(_hashes_of(values, 1), 2 * salt)
    return total


class _Block(NamedTuple):
    """Some columns described together: (columns, rows) numbers that do not overlap.

    The values of a column begin at its start; ``ranks`` describe the ranks of numbers, 0 in other
    columns.
    """

    values: Positions
    starts: Positions
    sizes: Positions
    ranks: Keys
    mass: Array | None

    @classmethod
    def of_columns(
        cls, columns: Sequence[tuple[Positions, int]], is_number: Sequence[bool], mass: Array | None
    ) -> _Block:
        """Return the values of columns, with the weights of their rows."""
        sizes = np.array([size for _, size in columns])
        starts = sizes.cumsum() - sizes
        values = np.array([values for values, _ in columns]) + starts[:, None]
        ranks = [
            _hashes_of(np.arange(n), 11) * np.uint64(of)
            for n, of in zip(sizes, is_number, strict=False)
        ]
        tiled = None if mass is None else np.tile(mass, len(columns))
        return cls(values, starts, sizes, np.concatenate(ranks), tiled)

    def hashes_of_values(self, rows: Keys) -> Keys:
        """Return a hash of each value, (values of all columns,), from those of its rows, (rows,).

        Example: two columns with the values (0, 1, 1) and (0, 0, 1) are numbered (0, 1, 1) and
        (2, 2, 3); value 2 is described by the first two rows.
        """
        tiled = np.tile(rows, len(self.values))
        return _of_values(self.values.ravel(), len(self.ranks), tiled, self.mass) + self.ranks


class Contents:
    """Hashes that describe rows and columns by their contents alone.

    A value is described by the rows that have it, a column by its values, and a row by its values,
    in turns; the rank of a number among all numbers of its column also describes it. If different
    rows have the same description, as in a table with equal counts, one of them is marked, and all
    are described again: of those that can be marked, the one for which the sum of the new hashes is
    least. Names, labels, units, and the order of rows, columns and levels have no influence; only
    if more than 1,024 different rows have one description, as in a complete factorial, their order
    follows from the names of columns and the order of labels.
    Example: of 5 rows, 3 of class u and 2 of class v, a level that occurs in 2 rows of class u and
    1 of class v has the same description as any other such level.
    """

    def __init__(self, data: Dataset) -> None:
        columns = _numbered_columns(data)
        *features, (classes, n_classes) = columns
        mass, contents = data.weights, _row_keys(columns, range(len(columns)))
        names = [crc32(repr(name).encode()) for name in data.columns]
        self._by_name = _row_keys(columns, names)
        if mass is not None and (mass % 1).any():  # each row is a case, described by its weight
            own = _hashes_of(np.round(mass / mass.max() * 2**20).astype(np.uint64), 3)
            mass, contents = None, contents + own
        else:  # by the number of equal rows
            _check_numbers_of_rows(mass)
            _, place = np.unique(contents, return_inverse=True)
            own = _hashes_of(np.bincount(place, mass)[place].astype(np.uint64), 3)
        if data.cases is not None:  # rows of a case describe each other
            case, n_cases = np.unique(data.cases, return_inverse=True)[1], len(data)
            own = own + _hashes_of(_of_values(case, n_cases, own + contents, mass), 29)[case]
        is_number = [name in data.numbers for name in data.columns]
        self._blocks = [
            _Block.of_columns(features[at], is_number[at], mass)
            for at in blocks(len(features), len(data))
        ]
        self._classes, self._mass = (classes, n_classes), mass
        numbers = [data.numbers.get(name) for name in data.columns[:-1]]
        self.shapes = np.array([0.0 if of is None else _mean_square_in_range(of) for of in numbers])
        self.rows, self.columns = self._hashes_of_rows_and_columns(own, own)
        # With rows 1 to 4 alike, mark 1, or 2, or 3, or 4, describe the rows four times, and keep
        # the description with the least sum, whichever row it came from.
        # at most 9 times, one of several rows with the same description is marked
        for _ in range(9):
            marked = [
                # 16 of these rows: usually one stands for all, as with cells of equal counts
                own + (contents == one)
                for one in _tied_rows(self.rows, contents)[:16]
            ]
            if not marked:
                break
            found = [self._hashes_of_rows_and_columns(mark, self.rows + mark) for mark in marked]
            least = min(range(len(found)), key=lambda i: found[i][0].sum(dtype=np.uint64))
            own, (self.rows, self.columns) = marked[least], found[least]

    def _hashes_of_rows_and_columns(self, own: Keys, rows: Keys) -> tuple[Keys, Keys]:
        """Return hashes of rows, one for each row, and of features, after a few rounds."""
        columns = [np.zeros(0, dtype=np.uint64)]
        for _ in range(4):  # rounds in which rows and values describe each other
            # A row is the sum of its class and its values, so their order does not matter; a value
            # is described by the rows that have it, and together with its column.
            total, columns = self._of_classes(rows, 7) + own, columns[:1]
            for block in self._blocks:
                keys = block.hashes_of_values(rows)
                columns.append(np.add.reduceat(_hashes_of(keys, 13), block.starts))
                described = _hashes_of(keys + np.repeat(columns[-1], block.sizes), 17)
                total += described[block.values].sum(axis=0, dtype=np.uint64)
            rows = total
        return rows, np.concatenate(columns)

    def _of_classes(self, rows: Keys, salt: int) -> Keys:
        """Return a hash of the class of each row."""
        classes, n_classes = self._classes
        return _hashes_of(_of_values(classes, n_classes, rows, self._mass), salt)[classes]

    @property
    def order(self) -> Positions:
        """An order of rows, those of a class adjacent; names order rows of one description."""
        classes, _ = self._classes
        return np.lexsort((self._by_name, self.rows, classes, self._of_classes(self.rows, 23)))

    @property
    def column_order(self) -> Positions:
        """An order of features; those of one description are ordered by their numbers' shape."""
        return np.lexsort((self.shapes, self.columns))


def _mean_square_in_range(numbers: Any) -> float:
    """Return the mean square of the numbers, rescaled to 0 to 1.

    Example: prices and their logarithms have the same ranks, but different shapes.
    """
    values = as_floats(numbers)
    known = values[~np.isnan(values)]
    known = known / (np.abs(known).max(initial=0.0) or 1.0)
    low, high = float(known.min(initial=1.0)), float(known.max(initial=-1.0))
    return round(float(np.mean(((known - low) / (high - low)) ** 2)), 6) if high > low else 0.0


def _tied_rows(rows: Keys, contents: Keys) -> Keys:
    """Return the contents of different rows with the same description, if there are a few."""
    different, first = np.unique(contents, return_index=True)
    described, place, times = np.unique(rows[first], return_inverse=True, return_counts=True)
    # at most 2**10 different rows, because each of them may be tried
    if len(described) == len(different) or len(different) > 2**10:
        return different[:0]
    return np.asarray(different[place == np.argmax(times > 1)])


def _of_values(values: Positions, size: int, rows: Keys, mass: Array | None) -> Keys:
    """Return each value's hash from those of its rows; a row of mass m counts as m rows."""
    # Sums of floats are exact up to 2^53, so two parts of 26 bits are added up one by one: hashes 5
    # and 9 of two rows have the sum 16 (1 is added to each, so that a row with hash 0 counts, too).
    total: Keys = np.zeros(size, dtype=np.uint64)
    for shift in (0, _BITS):
        part = ((rows >> np.uint64(shift)) & np.uint64(2**_BITS - 1)).astype(np.float64) + 1
        sums = np.bincount(values, part if mass is None else part * mass, size)
        total = _hashes_of(total + np.fmod(sums, 2.0**63).astype(np.uint64), 19 + shift)
    return total


def _check_numbers_of_rows(weights: Array | None) -> None:
    """Raise a ValueError if whole weights are too large to be numbers of rows."""
    if weights is not None and weights.sum() > _MOST_ROWS:
        raise ValueError(
            f"weights must sum to at most {_MOST_ROWS:g} if they are numbers of rows; got a sum of "
            f"{weights.sum():g}. Divide them by a number, or use encode(..., weights_are='cases')."
        )


def column_order(data: Dataset) -> Positions:
    """Return an order of the features that depends on their contents alone; see `Contents`."""
    return Contents(data).column_order


def class_ranks(data: Dataset, order: Positions) -> Positions:
    """Return each class's place among classes by weight, then by first row in an order."""
    classes, n_classes = data.codes[-1][order], data.cards[-1]
    weights = None if data.weights is None else data.weights[order]
    counts = np.bincount(classes, weights, n_classes).round(6)
    first = np.full(n_classes, len(classes))
    np.minimum.at(first, classes, np.arange(len(classes)))
    return np.argsort(np.lexsort((first, -counts)))


def in_order(data: Data) -> Data:
    """Return the rows in the order of their contents."""
    return data.taken(Contents(data).order)


def as_cases(data: Data) -> Data:
    """Return rows with fractional weights as one case each; others without groups unchanged.

    Whole weights are numbers of equal rows, each a case.
    """
    if data.cases is not None or data.weights is None or not (data.weights % 1).any():
        return data
    return replace(each_a_case(data), given=len(data))


def warn_of_copies(data: Dataset) -> None:
    """Warn of equal rows that chance does not explain, by the rule of `check_data`."""
    if data.cases is not None or data.weights is not None:
        return
    if copies := equal_rows(data.codes, data.numbers):
        warn(
            f"{max(copies.values()):,} of {len(data):,} rows equal an earlier row, although the "
            f"numbers in {listed(list(copies)[:3])} are nearly all different, so they are probably "
            "copies. Copies make a model overconfident: call drop_duplicates() first. If such rows "
            "belong together, name their group with groups=."
        )
