"""Contingency tables of all pairs of features with few levels at once, by products of one-hot matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.blas import one_thread
from ..frames.schema import Countable, Dataset
from .contingency import check_number

Table = NDArray[np.floating[Any]]

_PRODUCT_LEVELS = 16  # number of levels up to which matrix products are faster than bincount
_BLOCK_ONES = 2**22  # number of cells of a one-hot matrix
_EXACT_ONES = 2**24  # a sum of fewer ones is exact in single precision


def part_by_levels(data: Countable, features: Sequence[int]) -> tuple[list[int], list[int]]:
    """Split the positions of features: features with few levels, for `pair_tables`, and all others."""
    cards = data.cards
    most = 0 if data.counts_of_source([]) is not None else _PRODUCT_LEVELS
    few = [0 < cards[f] <= most for f in features]
    return [i for i, is_few in enumerate(few) if is_few], [i for i, is_few in enumerate(few) if not is_few]


def pair_tables(
    data: Countable,
    columns: NDArray[np.intp],
    levels: NDArray[np.intp],
    class_column: int | None,
    wanted: NDArray[np.bool_] | None = None,
) -> list[Table]:
    """Count for each class the rows that have both of two levels: (wanted levels, n) arrays.

    The n levels are numbered in `columns` and `levels`. Without a column of classes, all rows are one class.
    """
    return data.add_up(partial(_list_tables, columns, levels, class_column, wanted))


def _list_tables(
    columns: NDArray[np.intp],
    levels: NDArray[np.intp],
    class_column: int | None,
    wanted: NDArray[np.bool_] | None,
    data: Dataset,
) -> list[Table]:
    at_once = max(1, _BLOCK_ONES // len(columns))
    # Sums of ones are exact in single precision; sums of weights need double precision.
    kind = np.float32 if data.weights is None else np.float64
    # Allocated once, because allocation is slow in workers of Dask, which return memory to the system.
    ones = np.empty((len(columns), min(at_once, len(data))), dtype=kind)
    tables = []
    for rows in _rows_by_class(data, class_column):
        table = _count_pairs(data, columns, levels, rows[:at_once], wanted, ones)
        if len(rows) >= _EXACT_ONES and data.weights is None:
            table = table.astype(np.float64)
        for start in range(at_once, len(rows), at_once):
            table += _count_pairs(data, columns, levels, rows[start : start + at_once], wanted, ones)
        tables.append(table)
    return tables


def _rows_by_class(data: Dataset, class_column: int | None) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of each class, or all rows if no class is named."""
    if class_column is None:
        yield np.arange(len(data))
        return
    for value in range(data.cards[class_column]):
        yield np.nonzero(data.codes[class_column] == value)[0]


def _count_pairs(
    data: Dataset,
    columns: NDArray[np.intp],
    levels: NDArray[np.intp],
    rows: NDArray[np.intp],
    wanted: NDArray[np.bool_] | None,
    ones: NDArray[np.floating[Any]],
) -> NDArray[np.floating[Any]]:
    """Multiply the one-hot matrix of the levels of rows with itself."""
    codes = data.codes.take(rows, axis=1)
    hot = ones[:, : len(rows)]
    np.equal(codes[columns], levels.astype(codes.dtype)[:, None], out=hot)
    left = hot if wanted is None else hot[wanted]
    if data.weights is not None:
        left = left * data.weights[rows]
    with one_thread:
        product: NDArray[np.floating[Any]] = left @ hot.T
    return product


def check_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs of features would have more than ``MAX_CELLS`` cells."""
    cards = list(map(data.cards.__getitem__, features))
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    check_number(data, features, cells, "use fewer features")
