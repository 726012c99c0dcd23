"""Contingency tables of encoded data, and the mutual information that follows from them.

Every count is over available cases: a table counts the rows in which all its variables are observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .dataset import Dataset, code_type
from .probs import Array, Codes, xlogx

MAX_CELLS = 2**27
"""A table may have this many cells (1 GiB) before it is refused."""

_PRODUCT_LEVELS = 12  # up to here one-hot matrix products beat bincount
_BLOCK_ROWS = 2**15
_BLOCK_CELLS = 2**22


def flat_index(codes: Sequence[NDArray[Any]], cards: Sequence[int]) -> Codes:
    """Number the joint values of variables, the last varying fastest.

    Parameters
    ----------
    codes : sequence of (rows,) arrays
        Complete codes, one array a variable.
    cards : sequence of int
        Number of levels of each variable.

    Returns
    -------
    (rows,) array in a small integer type; of a single variable, its codes themselves
    """
    if len(codes) == 1:
        return codes[0]
    index = codes[0].astype(code_type(prod(cards) + 1))  # holds the factors too
    for code, card in zip(codes[1:], cards[1:], strict=True):
        np.multiply(index, card, out=index)
        np.add(index, code, out=index, casting="same_kind")
    return index


def observed_codes(data: Dataset, columns: Sequence[int]) -> list[NDArray[Any]]:
    """Return the codes of columns in the rows in which all of them are observed."""
    rows = [data.codes[column] for column in columns]
    partial = [row for row, column in zip(rows, columns, strict=True) if data.incomplete[column]]
    if not partial:
        return rows
    observed = np.logical_and.reduce([row >= 0 for row in partial])
    return [row[observed] for row in rows]


def contingency_table(data: Dataset, columns: Sequence[int]) -> Array:
    """Count joint values; axis i of the table is column i of ``columns``.

    Raises
    ------
    ValueError
        If the table would have more than ``MAX_CELLS`` cells.
    """
    shape = [data.cards[column] for column in columns]
    if prod(shape) > MAX_CELLS:
        names = ", ".join(repr(data.columns[column]) for column in columns)
        raise ValueError(
            f"dataset: a table of {names} would have {prod(shape):,} cells, more than {MAX_CELLS:,}; "
            "use fewer parents, or merge rare levels"
        )
    index = flat_index(observed_codes(data, columns), shape)
    return np.bincount(index, minlength=prod(shape)).reshape(shape).astype(np.float64)


def _entropy_sum(data_codes: Sequence[NDArray[Any]], cards: Sequence[int]) -> float:
    """Sum n·ln n over the joint values of variables that occur; large domains stay sparse."""
    if not cards:
        return float(xlogy(len(data_codes[0]), len(data_codes[0])))
    index = flat_index(data_codes, cards)
    sparse = prod(cards) > max(4 * len(index), 2**16)
    counts = np.unique(index, return_counts=True)[1] if sparse else np.bincount(index)
    return float(xlogx(counts).sum())


def mutual_information(data: Dataset, x: int, y: int, given: Sequence[int] = ()) -> tuple[float, int]:
    """Return the (conditional) mutual information of two columns in nats, and its number of rows.

    I(X;Y|Z) = Σ N_xyz/N · ln(N_xyz N_z / (N_xz N_yz)), over the rows in which all are observed.
    """
    columns = (x, y, *given)
    codes = observed_codes(data, columns)
    cards = [data.cards[column] for column in columns]
    n = len(codes[0])
    if not n:
        return 0.0, 0
    if prod(cards) > np.iinfo(np.int64).max:
        raise ValueError("x, y, z: their joint values are too many to number; condition on fewer variables")
    total = (
        _entropy_sum(codes, cards)
        - _entropy_sum([codes[0], *codes[2:]], [cards[0], *cards[2:]])
        - _entropy_sum(codes[1:], cards[1:])
        + (_entropy_sum(codes[2:], cards[2:]) if given else float(xlogy(n, n)))
    )
    return max(total / n, 0.0), n


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """For all pairs of features: ``information`` I(X;Y|C) in nats and ``rows``, (n, n) arrays."""

    information: Array
    rows: Array


def pair_statistics(data: Dataset, features: Sequence[int], class_column: int) -> PairStatistics:
    """Compute the class-conditional mutual information of all pairs of features.

    Pairs of features with few levels are counted all at once by products of one-hot
    matrices, the others one by one. The diagonal is 0.
    """
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    small = np.array([data.cards[f] <= _PRODUCT_LEVELS for f in features], dtype=bool)
    where = np.nonzero(small)[0]
    if len(where):
        block = _product_statistics(data, [features[int(i)] for i in where], class_column)
        information[np.ix_(where, where)] = block.information
        rows[np.ix_(where, where)] = block.rows
    for i in np.nonzero(~small)[0].tolist():
        for j in range(n):
            if j < i or small[j]:
                value, count = mutual_information(data, features[i], features[j], (class_column,))
                information[i, j] = information[j, i] = value
                rows[i, j] = rows[j, i] = count
    np.fill_diagonal(information, 0.0)
    return PairStatistics(information, rows)


def _product_statistics(data: Dataset, features: Sequence[int], class_column: int) -> PairStatistics:
    """Take sums of n·ln n over the pair tables of each class, a block of features at a time."""
    cards = np.array([data.cards[f] for f in features])
    starts = np.concatenate([[0], np.cumsum(cards)[:-1]])
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    width = max(1, int(_BLOCK_CELLS / cards.sum() / cards.mean()))
    for first in range(0, n, width):
        block = slice(first, min(first + width, n))
        for table in pair_tables(data, features, class_column, block):
            own = starts[block] - starts[first]
            # Of each pair: the table itself, either margin, and the number of rows.
            by_y = np.add.reduceat(table, own, axis=0)
            by_x = np.add.reduceat(table, starts, axis=1)
            total = np.add.reduceat(by_x, own, axis=0)
            cells = np.add.reduceat(np.add.reduceat(xlogx(table), own, axis=0), starts, axis=1)
            information[block] += (
                cells
                - np.add.reduceat(xlogx(by_x), own, axis=0)
                - np.add.reduceat(xlogx(by_y), starts, axis=1)
                + xlogx(total)
            )
            rows[block] += total
    return PairStatistics(np.maximum(information / np.maximum(rows, 1), 0.0), rows)


def pair_tables(
    data: Dataset, features: Sequence[int], class_column: int, block: slice = slice(None)
) -> Iterator[Array]:
    """Yield for each class the joint counts of the levels of a block of features with those of all.

    Yields
    ------
    (levels of the block, levels of all) array
        The levels of the features stacked in order. The table of two features is the rectangle
        where their levels meet.
    """
    blocks = np.cumsum([0] + [data.cards[f] for f in features])
    some = slice(blocks[:-1][block][0], blocks[1:][block][-1])
    classes = data.codes[class_column]
    for value in range(data.cards[class_column]):
        rows = np.nonzero(classes == value)[0]
        table = np.zeros((some.stop - some.start, blocks[-1]))
        for start in range(0, len(rows), _BLOCK_ROWS):
            hot = _one_hot(data, features, rows[start : start + _BLOCK_ROWS])
            table += hot[some] @ hot.T
        yield table


def _one_hot(data: Dataset, features: Sequence[int], rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return a (levels of all features, rows) array of 0 and 1; a missing value is 0 throughout.

    Sums of up to 2**24 ones are exact in float32, more than the rows of a block.
    """
    codes = data.codes[np.asarray(features)[:, None], rows]
    return np.concatenate(
        [
            code == np.arange(data.cards[f], dtype=codes.dtype)[:, None]
            for code, f in zip(codes, features, strict=True)
        ],
        dtype=np.float32,
        casting="unsafe",
    )
