"""What is odd about rows of a table: counts in place of rows, copies, values missing together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import comb, log
from typing import Any

import numpy as np
import pandas as pd

from ..dataset import MOST_CODES, as_floats
from ..tools.arrays import Array, ArrayOf, Codes, Positions
from ..tools.messages import how_to_weight_by_counts, is_named_as_count, listed
from .coded_columns import CHANCE, CodedColumn, Finding

MOST_COLUMNS = 20
"""Maximum number of columns of a table of frequencies."""

_FEW = 20
"""A value of more than one row in so many is natural, and so are missing values in fewer."""


_LARGEST_COUNT = 2**53  # whole numbers beyond are not exact as floats


def find_frequencies(columns: Sequence[CodedColumn]) -> Finding | None:
    """Return the finding that a column counts equal rows, as in a table of frequencies.

    Without such a column, no two rows are equal. Of n drawn rows, this has a
    probability of at most (1 − 1/c)(1 − 2/c) … (1 − (n − 1)/c), where c is the
    number of cells, that is, of all combinations of values. Columns that follow
    from others do not count. At least a quarter of the cells occur and, unless
    the column is called like a count, nearly all cells of four columns with the
    class.
    """
    n = len(columns[0].codes) if columns else 0
    is_weighted = any(column.weights is not None for column in columns)
    if n < 6 or len(columns) > MOST_COLUMNS or is_weighted:
        return None
    counts = [column for column in columns if not column.is_class and _can_be_counts(column)]
    counts.sort(key=lambda column: not is_named_as_count(column.name))
    # 1000: number of rows, evenly spaced, that are looked at first
    some = slice(None, None, max(1, n // 1000))
    sample = {column.name: column.take_rows(some) for column in columns} if counts else {}
    fine = []  # measurements, most of which differ, but not all, as row numbers do
    for name, column in sample.items():
        size, values = len(column.codes), int(column.value_positions.max()) + 1
        if size / 2 < values < size:
            fine.append(name)
    for column in counts:
        if any(name != column.name for name in fine):
            continue
        others = [other for other in columns if other is not column]
        crossed, cells = _dividing_columns_and_cells([sample[other.name] for other in others])
        if len(crossed) < 2 or not 0 < cells <= 4 * n:
            continue
        # would so many rows without the column be equal by chance, and are not?
        crossed, cells = _dividing_columns_and_cells(others)
        chance = float(np.log1p(-np.arange(1, n) / cells).sum()) if cells >= n else 0.0
        # -4.0: log probability below which chance does not explain different rows
        if chance >= -4.0 or n < cells / 4 or len(crossed) < 2:
            continue
        with_class = any(other.is_class for other in crossed)
        is_full = chance < CHANCE and len(crossed) >= 4 and with_class and n > 0.9 * cells
        if is_full or is_named_as_count(column.name):
            return Finding(
                column.name,
                "numbers of equal rows, as in a table of frequencies: no two rows are "
                "equal without them",
                f"If so, use {how_to_weight_by_counts(column.name)}",
                serious=True,
            )
    return None


def _can_be_counts(column: CodedColumn) -> bool:
    """Whether a column has whole numbers from 0 on, some of which exceed codes of a category."""
    if column.numbers is not None:
        numbers = as_floats(column.numbers)
    else:
        labels = [x for x in column.levels if isinstance(x, int) and not isinstance(x, bool)]
        if not labels or len(labels) < len(column.levels) or (column.codes < 0).any():
            return False
        if max(map(abs, labels)) >= _LARGEST_COUNT:
            return False
        numbers = np.array(labels, dtype=np.float64)
    is_count = np.isfinite(numbers).all() and numbers.min() >= 0 and not (numbers % 1).any()
    return bool(is_count and numbers.max() > MOST_CODES)


def _dividing_columns_and_cells(columns: Sequence[CodedColumn]) -> tuple[list[CodedColumn], float]:
    """Return the columns that divide the rows, and their number of cells; 0 if two rows are equal.

    The column with the most values comes first, because others can follow from
    it. Columns in which all values differ identify rows, and are ignored.
    """
    n = len(columns[0].codes) if columns else 0
    dividing, cells = list[CodedColumn](), 1.0
    group, n_groups = np.zeros(n, dtype=np.intp), 1  # of the rows that these columns do not divide
    positions = [column.value_positions + 1 for column in columns]
    for at in sorted(range(len(columns)), key=lambda i: -positions[i].max()):
        own: Positions = positions[at]
        if own.max() >= n:
            continue
        divided, found = pd.factorize(group * (own.max() + 1) + own)
        if len(found) > n_groups:
            dividing.append(columns[at])
            group, n_groups = divided, len(found)
            cells *= len(np.unique(own))
    return dividing, cells if n_groups == n else 0.0


def find_missing_together(columns: Sequence[CodedColumn]) -> Iterator[Finding]:
    """Yield which columns are missing in the same rows, and rarely in others."""
    masks = {column.name: column.value_positions < 0 for column in columns if not column.is_class}
    # 10: number of rows from which values that are missing together are reported
    masks = {name: mask for name, mask in masks.items() if np.count_nonzero(mask) >= 10}
    distinct = {mask.tobytes(): mask for mask in masks.values()}
    shared = []  # masks with the columns that are missing there, and in less than a tenth elsewhere
    for mask in distinct.values():
        most = np.count_nonzero(~mask) / 10
        names = [v for v, own in masks.items() if own[mask].all() and (own & ~mask).sum() < most]
        shared.append((mask, names))
    told = set[Hashable]()
    for mask, names in sorted(shared, key=lambda pair: -len(pair[1])):
        n = np.count_nonzero(mask)
        together = [name for name in names if name not in told]
        if len(together) > 1 and n * _FEW >= len(mask) > n:
            told.update(together)
            yield Finding(
                together[0],
                f"missing in the same {n:,} rows as {listed(together[1:])}",
                "Find out why, because such rows can be of another kind; to learn without them, "
                f"use dataset.dropna(subset=[{together[0]!r}])",
            )


def equal_rows_beyond_chance(
    codes: Iterable[Codes], numbers: Mapping[Hashable, ArrayOf[Any]], classes: Codes | None = None
) -> dict[Hashable, int]:
    """Return how many rows equal earlier ones, by column of numbers that chance does not explain.

    Rows are compared within classes, because a class that follows from the
    numbers does not make equal rows rarer. If rows of different classes have m
    pairs of equal values in a column of numbers, of all p pairs, chance explains
    at most the share (m + 1)/p of the pairs of rows that are equal. The
    different rows of a class have another such share, and numbers that are
    spread evenly in steps a third one: ages from 20 to 69 are equal in one of
    50 pairs. The largest counts. Missing values, and a value of more than one
    row in 20, such as 0 in a column of amounts, are natural.
    """
    columns = {name: as_floats(values) for name, values in numbers.items()}
    repeats = pd.DataFrame(dict(enumerate([*codes, *columns.values()]))).duplicated().to_numpy()
    labels = np.zeros(len(repeats), dtype=np.int8) if classes is None else classes
    found: dict[Hashable, int] = {}
    for name, values in columns.items() if repeats.any() else ():
        counts = pd.Series(values).map(pd.Series(values).value_counts())
        some = (counts * _FEW <= len(values)).to_numpy()  # False for missing values
        n, different = int(np.count_nonzero(some & repeats)), some & ~repeats
        if not n or np.count_nonzero(different) < 2:
            continue
        of_class = [labels == c for c in np.unique(labels[some])]
        within = [_equal_and_all_pairs(values[different & rows]) for rows in of_class]
        among = np.subtract(_equal_and_all_pairs(values[different]), np.sum(within, axis=0))
        expected = 0.0
        for rows, (equal, pairs) in zip(of_class, within, strict=True):
            shares = [(m + 1) / p for m, p in ((equal, pairs), among) if p]
            share = max(*shares, 0.0, _share_of_equal_pairs(values[different & rows]))
            expected += min(share, 1.0) * comb(int(np.count_nonzero(some & rows)), 2)
        # the bound of Chernoff on the probability of n or more
        if n > expected > 0 and n - expected + n * log(expected / n) <= CHANCE:
            found[name] = n
    return found


def _equal_and_all_pairs(values: Array) -> tuple[int, int]:
    """Return the number of pairs of equal values, and of all pairs."""
    sizes = np.unique(values, return_counts=True)[1].tolist()
    return sum(comb(size, 2) for size in sizes), comb(len(values), 2)


def _share_of_equal_pairs(values: Array) -> float:
    """Return the least share of equal pairs if nine tenths of the numbers lie on a grid."""
    low, high = np.quantile(values, [0.05, 0.95]) if len(values) else (0.0, 0.0)
    if high <= low:
        return 0.0
    distinct = np.unique(((values - low) / (high - low)).round(9))
    steps = 1 / max(float(np.diff(distinct).min(initial=1.0)), 1e-9)
    return 0.81 / (steps + 1)
