"""Cases, which are held out as a whole, and an order of rows by their contents alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from ..base.arrays import Array, ArrayOf, Codes, Positions, slices
from ..base.messages import listed, warn
from ..frames.dataset import Dataset
from ..frames.encode import rows_as_cases
from ..frames.numeric import as_floats
from ..frames.row_findings import equal_rows_beyond_chance

_BITS = 26  # of hashes that are added up: sums of 2^27 of them are exact in a float

Data = TypeVar("Data", bound=Dataset)
Keys = ArrayOf[np.uint64]


def _hash_numbers(values: ArrayOf[np.uint64] | Positions, salt: int) -> Keys:
    """Return pseudo-random numbers of 64 bits, equal for equal values."""
    keys = (values.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(31)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    return keys ^ (keys >> np.uint64(29))


class _Column(NamedTuple):
    """The values of a column, numbered from 0 below ``size``; missing categories are the last.

    Example: the numbers 7, 3, 7 are the values 1, 0, 1.
    """

    values: Positions
    size: int
    is_number: bool


def _numbered_columns(data: Dataset) -> list[_Column]:
    """Return the columns of the features and of the class with their values as numbers."""
    columns = []
    codes: Codes
    for name, codes, card in zip(data.columns, data.codes, data.cards, strict=True):
        if name in data.numbers:
            distinct, ranks = np.unique(as_floats(data.numbers[name]), return_inverse=True)
            columns.append(_Column(ranks, len(distinct) + 1, True))
        else:
            values = codes.astype(np.intp)
            columns.append(_Column(np.where(values < 0, card, values), card + 1, False))
    return columns


def hash_rows(data: Dataset) -> Keys:
    """Return a hash of the values of each row; equal rows have equal hashes."""
    columns = _numbered_columns(data)
    return _hash_rows_of_columns(columns, range(len(columns)))


def _hash_rows_of_columns(columns: Sequence[_Column], salts: Iterable[int]) -> Keys:
    """Return a hash of the values of each row, in columns that the salts tell apart."""
    total = np.zeros(len(columns[0].values), dtype=np.uint64)
    for column, salt in zip(columns, salts, strict=True):
        total += _hash_numbers(_hash_numbers(column.values, 1), 2 * salt)
    return total


class _ColumnBlock:
    """Columns that are hashed in one pass; their values have consecutive numbers.

    ``values`` are (columns, rows). The values of a column begin at its start.
    ``ranks``, (values of all columns,), describe the ranks of numbers; they are
    0 for categories. Example: columns with the values (0, 1, 1) and (0, 0, 1)
    of 2 each have the numbers (0, 1, 1) and (2, 2, 3), and start at 0 and 2.
    """

    def __init__(self, columns: Sequence[_Column], mass: Array | None) -> None:
        self.sizes = np.array([column.size for column in columns])
        self.starts = self.sizes.cumsum() - self.sizes
        self.values = np.array([column.values for column in columns]) + self.starts[:, None]
        self.mass = None if mass is None else np.tile(mass, len(columns))
        ranks = []
        for column in columns:
            of_ranks = _hash_numbers(np.arange(column.size), 11)
            ranks.append(of_ranks if column.is_number else np.zeros_like(of_ranks))
        self.ranks = np.concatenate(ranks)

    def hashes_of_values(self, rows: Keys) -> Keys:
        """Return a hash of each value, (values of all columns,), from those of its rows, (rows,).

        Example: value 2 above is described by the hashes of the first two rows.
        """
        tiled = np.tile(rows, len(self.values))
        return _hashes_by_value(self.values.ravel(), len(self.ranks), tiled, self.mass) + self.ranks


class ContentHashes:
    """Hashes that describe rows and columns by their contents alone.

    A value is described by the rows that have it, a column by its values, and a
    row by its values, in turns; the rank of a number among all numbers of its
    column also describes it. If different rows have the same description, as in
    a table with equal counts, one of them is marked, and all are described
    again. Names, labels, units, and the order of rows, columns and levels have
    no influence; only if more than 1,024 different rows have one description,
    as in a complete factorial, their order follows from the names of columns
    and the order of labels. Example: of 5 rows, 3 of class u and 2 of class v,
    a level that occurs in 2 rows of class u and 1 of class v has the same
    description as any other such level.
    """

    def __init__(self, data: Dataset) -> None:
        columns = _numbered_columns(data)
        features, self._classes = columns[:-1], columns[-1]
        contents = _hash_rows_of_columns(columns, range(len(columns)))
        names = [crc32(repr(name).encode()) for name in data.columns]
        self._by_name = _hash_rows_of_columns(columns, names)
        own, contents, self._mass = _hashes_before_rounds(data, contents)
        self._blocks = [
            _ColumnBlock(features[at], self._mass) for at in slices(len(features), len(data))
        ]
        numbers = [data.numbers.get(name) for name in data.columns[:-1]]
        self.shapes = np.array([0.0 if of is None else _scaled_mean_square(of) for of in numbers])
        self.rows, self.columns = self._hashes_of_rows_and_columns(own, own)
        if data.cases is not None:  # the rows of a case describe each other
            _, case = np.unique(data.cases, return_inverse=True)
            of_cases = _hashes_by_value(case, len(data), self.rows, self._mass)
            own = own + _hash_numbers(of_cases, 29)[case]
            self.rows, self.columns = self._hashes_of_rows_and_columns(own, self.rows)
        self._mark_tied_rows(own, contents)

    def _mark_tied_rows(self, own: Keys, contents: Keys) -> None:
        """Mark one of several rows with the same description, as long as there are such rows.

        Example: rows 1 to 4 have the same description. All rows are described
        four times, with row 1, 2, 3 or 4 marked; the description with the least
        sum of hashes is kept, which does not depend on the order of the four.
        """
        for _ in range(9):  # further ties, which only symmetric tables have, remain
            # 16 of these rows: usually one stands for all, as with cells of equal counts
            tied = _hashes_in_smallest_tie(self.rows, contents)[:16]
            if not len(tied):
                return
            found = []
            for one in tied:
                marked = own + (contents == one)
                rows, columns = self._hashes_of_rows_and_columns(marked, self.rows + marked)
                found.append((int(rows.sum(dtype=np.uint64)), marked, rows, columns))
            _, own, self.rows, self.columns = min(found, key=lambda each: each[0])

    def _hashes_of_rows_and_columns(self, own: Keys, rows: Keys) -> tuple[Keys, Keys]:
        """Return hashes of rows and of features after four rounds of mutual description.

        ``own``, (rows,), describe each row by itself in every round, and
        ``rows`` before the first. Example: the rows (a, x), (a, y) and (b, x)
        begin alike. After a round, the values a and x, which have two rows
        each, are alike, so are b and y, and so are both columns. Hence rows 2
        and 3 have the same hash, and row 1 has another one.
        """
        columns: list[Keys] = []
        for _ in range(4):
            described = own + self._class_hashes_of_rows(rows, 7)
            columns = [np.zeros(0, dtype=np.uint64)]  # there may be no features
            for block in self._blocks:
                values = block.hashes_of_values(rows)
                # sums of hashes, so that the order of levels and of columns does not matter
                of_columns = np.add.reduceat(_hash_numbers(values, 13), block.starts)
                in_column = _hash_numbers(values + np.repeat(of_columns, block.sizes), 17)
                described += in_column[block.values].sum(axis=0, dtype=np.uint64)
                columns.append(of_columns)
            rows = described
        return rows, np.concatenate(columns)

    def _class_hashes_of_rows(self, rows: Keys, salt: int) -> Keys:
        classes, size, _ = self._classes
        return _hash_numbers(_hashes_by_value(classes, size, rows, self._mass), salt)[classes]

    @property
    def row_order(self) -> Positions:
        of_classes = self._class_hashes_of_rows(self.rows, 23)
        return np.lexsort((self._by_name, self.rows, self._classes.values, of_classes))

    @property
    def column_order(self) -> Positions:
        """An order of features; those of one description are ordered by their numbers' shape."""
        return np.lexsort((self.shapes, self.columns))


def _hashes_before_rounds(data: Dataset, contents: Keys) -> tuple[Keys, Keys, Array | None]:
    """Return hashes that describe each row by itself, its contents, and its number of rows.

    Whole weights are numbers of equal rows, so 3 rows (a, x) are described like
    one of weight 3. If a weight is a fraction, each row is one case, and its
    weight is part of its contents.
    """
    mass = data.weights
    if mass is not None and (mass % 1).any():
        # as a share of the largest weight in steps of 2⁻²⁰, so that the unit does not matter
        own = _hash_numbers(np.round(mass / mass.max() * 2**20).astype(np.uint64), 3)
        mass, contents = None, contents + own
    else:
        _check_sum_of_weights(mass)
        _, place = np.unique(contents, return_inverse=True)
        n_equal = np.bincount(place, mass)
        own = _hash_numbers(n_equal.astype(np.uint64), 3)[place]
    return own, contents, mass


def _scaled_mean_square(numbers: Any) -> float:
    """Return the mean square of the numbers, rescaled to 0 to 1.

    Example: prices and their logarithms have the same ranks, but different
    shapes.
    """
    values = as_floats(numbers)
    known = values[~np.isnan(values)]
    known = known / (np.abs(known).max(initial=0.0) or 1.0)  # so that no difference overflows
    low, high = float(known.min(initial=1.0)), float(known.max(initial=-1.0))
    if high <= low:  # one value, or none
        return 0.0
    shares = (known - low) / (high - low)
    return round(float(np.mean(shares**2)), 6)


def _hashes_in_smallest_tie(rows: Keys, contents: Keys) -> Keys:
    """Return the contents of different rows with the same description, if there are a few.

    Example: different rows with the descriptions 5, 2, 5, 2 and 8 have two
    ties; those of the least description, 2, are returned.
    """
    different, first = np.unique(contents, return_index=True)
    described, place, times = np.unique(rows[first], return_inverse=True, return_counts=True)
    # at most 2**10 different rows, because each of them may be tried
    if len(described) == len(different) or len(different) > 2**10:
        return different[:0]
    least_tied = np.argmax(times > 1)  # the first that occurs several times; they are sorted
    return np.asarray(different[place == least_tied])


def _hashes_by_value(values: Positions, size: int, rows: Keys, mass: Array | None) -> Keys:
    """Return each value's hash from those of its rows; a row of mass m counts as m rows.

    Example: a value with two rows, whose hashes are 5 and 9, has the hash of
    their sum.
    """
    # Sums of floats are exact up to 2^53, so two parts of 26 bits of each hash are added up one
    # after the other. 1 is added to each part, so that a row whose hash is 0 counts, too.
    total: Keys = np.zeros(size, dtype=np.uint64)
    for shift in (0, _BITS):
        part = (rows >> np.uint64(shift)) & np.uint64(2**_BITS - 1)
        of_rows = part.astype(np.float64) + 1
        if mass is not None:
            of_rows *= mass
        sums = np.bincount(values, of_rows, size)
        total = _hash_numbers(total + np.fmod(sums, 2.0**63).astype(np.uint64), 19 + shift)
    return total


def _check_sum_of_weights(weights: Array | None) -> None:
    """Raise a ValueError if whole weights are too large to be numbers of rows."""
    most = 1e12  # with more, the differences between log-likelihoods have too few digits
    if weights is not None and weights.sum() > most:
        raise ValueError(
            f"weights must sum to at most {most:g} if they are numbers of rows; got a sum of "
            f"{weights.sum():g}. Divide them by a number, or use encode(..., weights_are='cases')."
        )


def rows_in_content_order(data: Data) -> Data:
    """Return the rows in the order of their contents."""
    return data.take_rows(ContentHashes(data).row_order)


def fractional_weights_as_cases(data: Data) -> Data:
    """Return rows with fractional weights as one case each; others without groups unchanged.

    Whole weights are numbers of equal rows, each a case.
    """
    if data.cases is not None or data.weights is None or not (data.weights % 1).any():
        return data
    return replace(rows_as_cases(data), given=len(data))


def warn_of_copies(data: Dataset) -> None:
    """Warn of equal rows that chance does not explain, by the rule of `check_data`."""
    if data.cases is not None or data.weights is not None:
        return
    if copies := equal_rows_beyond_chance(data.codes, data.numbers):
        warn(
            f"{max(copies.values()):,} of {len(data):,} rows equal an earlier row, although the "
            f"numbers in {listed(list(copies)[:3])} are nearly all different, so they are probably "
            "copies. Copies make a model overconfident: call drop_duplicates() first. If such rows "
            "belong together, name their group with groups=."
        )
