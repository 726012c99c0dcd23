"""Contingency tables of encoded data, and the mutual information that follows from them.

Every count is over available cases: a table counts the rows in which all its variables are observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import accumulate
from math import prod
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ..base.arrays import Array, Codes, xlogx
from .partitions import Partitions
from .schema import Countable, Dataset, code_type

P = ParamSpec("P")
R = TypeVar("R")

MAX_CELLS = 2**27
"""A table may have this many cells (1 GiB) before it is refused."""

NLogN = Callable[[NDArray[Any]], Array]

_PRODUCT_LEVELS = 16  # up to here one-hot matrix products beat bincount
_BLOCK_ITEMS = 2**18  # codes that are counted at once
_BLOCK_ONES = 2**22  # cells of a one-hot matrix
_BLOCK_CELLS = 2**22  # cells of tables of pairs
_LOOKED_UP = 2**15  # cells of those tables that are looked up at once
_LONGEST_LOOKED_UP = 2**24  # whole numbers up to which n·ln n is looked up
_PASS_CELLS = 2**25  # cells of tables that are counted in one pass over data in parts
_EXACT_ONES = 2**24  # a sum of fewer ones is exact in single precision


@dataclass(frozen=True)
class _Count:
    """A call of a function that counts, but for its data; workers make it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]

    def __call__(self, data: Dataset) -> Any:
        return self.function(data, *self.arguments, **self.named)


def additive(count: Callable[Concatenate[Dataset, P], R]) -> Callable[Concatenate[Countable, P], R]:
    """Let a function that counts rows in memory count data in parts; a decorator.

    What it returns is made of arrays and numbers which, counted in two parts of the rows, add up to what
    is counted in both: wide enough for the sum, and of the same shape whatever the rows.
    """

    @wraps(count)
    def counted(data: Countable, /, *arguments: P.args, **named: P.kwargs) -> R:
        if isinstance(data, Partitions):
            return data.add_up(_Count(counted, arguments, named))
        return count(data, *arguments, **named)  # type: ignore[arg-type]

    return counted


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


def _observed(data: Dataset, columns: Sequence[int]) -> tuple[list[NDArray[Any]], Array | None]:
    """Return the codes of columns, and the weights, of the rows in which all of them are observed."""
    rows = [data.codes[column] for column in columns]
    partial = [row for row, column in zip(rows, columns, strict=True) if data.incomplete[column]]
    if not partial:
        return rows, data.weights
    observed = np.logical_and.reduce([row >= 0 for row in partial])
    weights = None if data.weights is None else data.weights[observed]
    return [row[observed] for row in rows], weights


def contingency_tables(data: Countable, families: Sequence[Sequence[int]]) -> Array:
    """Count the joint values of families with equal numbers of levels.

    Parameters
    ----------
    data : Dataset or Partitions
    families : sequence of sequences of int
        Columns; member i of every family has as many levels as member i of the others.

    Returns
    -------
    (families, levels of each member…) array
        Each table over the rows in which its family is observed.

    Raises
    ------
    ValueError
        If the table of one family would have more than ``MAX_CELLS`` cells.
    """
    check_cells(data, families[0])
    return _stack_tables(data, families)


def count_families(data: Countable, families: Sequence[Sequence[int]]) -> list[Array]:
    """Count the joint values of any families; data in parts is gone through once.

    Families with equal numbers of levels are counted together, and their tables are views of one array.

    Raises
    ------
    ValueError
        If the table of one family would have more than ``MAX_CELLS`` cells.
    """
    tables: list[Any] = [None] * len(families)
    for numbers, stack in count_alike(data, families):
        for number, table in zip(numbers, stack, strict=True):
            tables[number] = table
    return tables


def count_alike(data: Countable, families: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Array]]:
    """Count families, and yield those with equal numbers of levels together, with their positions."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, family in enumerate(families):
        alike.setdefault(tuple([data.cards[column] for column in family]), []).append(number)
    groups = [[families[number] for number in group] for group in alike.values()]
    for group in groups:
        check_cells(data, group[0])
    yield from zip(alike.values(), _count_groups(data, groups), strict=True)


def check_cells(data: Countable, family: Sequence[int]) -> None:
    """Raise a ValueError if the table of a family would have more than ``MAX_CELLS`` cells."""
    cells = prod([data.cards[column] for column in family])
    if cells > MAX_CELLS:
        names = ", ".join(repr(data.columns[column]) for column in family)
        raise ValueError(
            f"dataset: a table of {names} would have {cells:,} cells, more than {MAX_CELLS:,}; "
            "use fewer parents, or merge rare levels"
        )


@additive
def _count_groups(data: Dataset, groups: Sequence[Sequence[Sequence[int]]]) -> list[Array]:
    return [_stack_tables(data, group) for group in groups]


@additive
def _stack_tables(data: Dataset, families: Sequence[Sequence[int]]) -> Array:
    shape = tuple(data.cards[column] for column in families[0])
    cells = prod(shape)
    members = np.array(families, dtype=np.intp).T
    counts = np.empty((len(families), cells))
    size = max(1, min(_BLOCK_ITEMS // max(1, len(data)), _BLOCK_ITEMS // cells))
    for start in range(0, len(families), size):
        block = slice(start, start + size)
        counts[block] = _count_block(data, members[:, block], shape)
    return counts.reshape(-1, *shape)


def _count_block(data: Dataset, members: NDArray[np.intp], shape: Sequence[int]) -> NDArray[Any]:
    """Count families, given as (members, families), at once: each has cells of its own.

    Rows in which a family is not observed go to one cell more.
    """
    cells = prod(shape)
    codes = [data.codes[columns] for columns in members]
    index = flat_index(codes, shape)
    partial = [code for code, columns in zip(codes, members, strict=True) if data.incomplete[columns].any()]
    if partial:
        observed = np.logical_and.reduce([code >= 0 for code in partial])
        index = np.where(observed, index, np.array(cells, dtype=code_type(cells + 1)))
    width = cells + bool(partial)
    if len(index) > 1:
        index = index + width * np.arange(len(index))[:, None]
    weights = None if data.weights is None else np.tile(data.weights, len(index))
    counts = np.bincount(index.ravel(), weights, minlength=width * len(index))
    return counts.reshape(-1, width)[:, :cells]


def _entropy_sum(codes: Sequence[NDArray[Any]], cards: Sequence[int], weights: Array | None) -> float:
    """Sum n·ln n over the joint values of variables that occur; large domains stay sparse."""
    index = flat_index(codes, cards)
    if prod(cards) > max(4 * len(index), 2**16):
        index = np.unique(index, return_inverse=True)[1]
    return float(xlogx(np.bincount(index, weights)).sum())


def mutual_information(data: Countable, x: int, y: int, given: Sequence[int] = ()) -> tuple[float, float]:
    """Return the (conditional) mutual information of two columns in nats, and its number of rows.

    I(X;Y|Z) = Σ N_xyz/N · ln(N_xyz N_z / (N_xz N_yz)), over the rows in which all are observed.
    """
    columns = (x, y, *given)
    if not isinstance(data, Dataset):
        return _table_information(contingency_tables(data, [columns])[0])
    codes, weights = _observed(data, columns)
    cards = [data.cards[column] for column in columns]
    n = len(codes[0]) if weights is None else float(weights.sum())
    if not n:
        return 0.0, 0
    if prod(cards) > np.iinfo(np.int64).max:
        raise ValueError("x, y, z: their joint values are too many to number; condition on fewer variables")
    total = (
        _entropy_sum(codes, cards, weights)
        - _entropy_sum([codes[0], *codes[2:]], [cards[0], *cards[2:]], weights)
        - _entropy_sum(codes[1:], cards[1:], weights)
        + (_entropy_sum(codes[2:], cards[2:], weights) if given else float(xlogy(n, n)))
    )
    return max(total / n, 0.0), n


def _table_information(table: Array) -> tuple[float, float]:
    """Return the same from the table of the two and what is given."""
    n = float(table.sum())
    x, y, both = table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1))
    total = xlogx(table).sum() - xlogx(x).sum() - xlogx(y).sum() + xlogx(both).sum()
    return max(float(total) / max(n, 1.0), 0.0), n


def _informations(
    data: Countable, pairs: Sequence[tuple[int, int]], given: Sequence[int]
) -> Iterator[tuple[float, float]]:
    """Yield the mutual information of pairs, as many in a pass over data in parts as there is room for."""
    if isinstance(data, Dataset):
        for x, y in pairs:
            yield mutual_information(data, x, y, given)
        return
    families = [(*pair, *given) for pair in pairs]
    while families:
        cells = accumulate(prod([data.cards[column] for column in family]) for family in families)
        size = max(1, sum(1 for total in cells if total <= _PASS_CELLS))
        yield from map(_table_information, count_families(data, families[:size]))
        families = families[size:]


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """For all pairs of features: ``information`` I(X;Y|C) in nats and ``rows``, (n, n) arrays."""

    information: Array
    rows: Array


def pair_statistics(data: Countable, features: Sequence[int], class_column: int | None) -> PairStatistics:
    """Compute the class-conditional mutual information of all pairs of features.

    Without a column of classes, it is their mutual information.

    Pairs of features with few levels are counted all at once by products of one-hot
    matrices, the others one by one. The diagonal is 0.
    """
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    small, large = part_by_levels(data, features)
    if small:
        some = _product_statistics(data, np.array(features)[small], class_column)
        information[np.ix_(small, small)] = some.information
        rows[np.ix_(small, small)] = some.rows
    given = () if class_column is None else (class_column,)
    others = [(i, j) for done, i in enumerate(large) for j in small + large[:done]]
    found = _informations(data, [(features[i], features[j]) for i, j in others], given)
    for (i, j), (value, count) in zip(others, found, strict=True):
        information[i, j] = information[j, i] = value
        rows[i, j] = rows[j, i] = count
    np.fill_diagonal(information, 0.0)
    return PairStatistics(information, rows)


def part_by_levels(data: Countable, features: Sequence[int]) -> tuple[list[int], list[int]]:
    """Part the positions of features: those with few enough levels for `pair_tables`, and the others."""
    few = [data.cards[f] <= _PRODUCT_LEVELS for f in features]
    return [i for i, is_few in enumerate(few) if is_few], [i for i, is_few in enumerate(few) if not is_few]


def pair_tables(
    data: Countable,
    columns: NDArray[np.intp],
    levels: NDArray[np.intp],
    class_column: int | None,
    own: NDArray[np.bool_] | None = None,
) -> Iterator[NDArray[np.floating[Any]]]:
    """Yield for each class how many rows have both of two levels, for all pairs of some levels.

    Parameters
    ----------
    data : Dataset
    columns, levels : (n,) arrays of int
        The levels to pair, each with the column that has it.
    class_column : int or None
        None takes all rows for one class.
    own : (n,) array of bool, optional
        The levels that get a row in the table; all by default.

    Yields
    ------
    (own levels, n) array
    """
    if isinstance(data, Dataset):
        yield from _tables_by_class(data, columns, levels, class_column, own)
    else:
        yield from _all_pair_tables(data, columns, levels, class_column, own)


@additive
def _all_pair_tables(
    data: Dataset,
    columns: NDArray[np.intp],
    levels: NDArray[np.intp],
    class_column: int | None,
    own: NDArray[np.bool_] | None,
) -> list[Array]:
    tables = _tables_by_class(data, columns, levels, class_column, own)
    return [table.astype(np.float64) for table in tables]


def _tables_by_class(
    data: Dataset,
    columns: NDArray[np.intp],
    levels: NDArray[np.intp],
    class_column: int | None,
    own: NDArray[np.bool_] | None,
) -> Iterator[NDArray[np.floating[Any]]]:
    size = max(1, _BLOCK_ONES // len(columns))
    for rows in _rows_by_class(data, class_column):
        table = _count_pairs(data, columns, levels, rows[:size], own)
        if len(rows) >= _EXACT_ONES and data.weights is None:
            table = table.astype(np.float64)
        for start in range(size, len(rows), size):
            table += _count_pairs(data, columns, levels, rows[start : start + size], own)
        yield table


def _rows_by_class(data: Dataset, class_column: int | None) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of each class; of all together where none is named."""
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
    own: NDArray[np.bool_] | None,
) -> NDArray[np.floating[Any]]:
    """Multiply a matrix that tells which rows have which levels, as 0 and 1, with itself."""
    codes = data.codes.take(rows, axis=1)[columns]
    ones = codes == levels.astype(codes.dtype)[:, None]
    # Sums of ones are exact in single precision; sums of weights need all digits.
    hot = ones.astype(np.float32 if data.weights is None else np.float64)
    left = hot if own is None else hot[own]
    product: NDArray[np.floating[Any]] = (left if data.weights is None else left * data.weights[rows]) @ hot.T
    return product


def check_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs of features would have more than ``MAX_CELLS`` cells."""
    cards = [data.cards[f] for f in features]
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    if cells > MAX_CELLS:
        longest = features[cards.index(max(cards))]
        raise ValueError(
            f"dataset: tables of all pairs of features would have {cells:,} cells, more than {MAX_CELLS:,}; "
            f"use fewer features, or merge rare levels ({data.columns[longest]!r} has {max(cards):,})"
        )


def all_pair_counts(data: Countable, features: Sequence[int], class_column: int) -> Array:
    """Count the joint levels of all pairs of features in each class, for features with few levels.

    Returns
    -------
    (levels of all features, classes, levels of all features) array
        The levels of the features follow one another in order. Where a feature meets itself,
        the diagonal has its counts.
    """
    cards = [data.cards[f] for f in features]
    columns = np.repeat(features, cards)
    levels = np.concatenate([np.arange(card) for card in cards])
    counts = np.empty((len(levels), data.cards[class_column], len(levels)))
    for value, table in enumerate(pair_tables(data, columns, levels, class_column)):
        counts[:, value] = table
    return counts


def _product_statistics(
    data: Countable, features: NDArray[np.intp], class_column: int | None
) -> PairStatistics:
    """Take sums of n·ln n over the pair tables of each class, a block of features at a time.

    Features are sorted by descending number of levels, and their levels by code: the first
    level of all, the second of all that have one, and so on. So a sum over the levels of every
    feature is a sum of as many slices as the longest has levels.
    """
    cards = np.array([data.cards[f] for f in features])
    order = np.argsort(-cards, kind="stable")
    has = np.arange(cards.max()) < cards[order, None]
    levels, feature = np.nonzero(has.T)
    widths = has.sum(axis=0)
    columns = features[order][feature]
    n = len(features)
    information, rows = np.zeros((n, n)), np.zeros((n, n))
    size = max(1, int(_BLOCK_CELLS / cards.sum() / cards.mean()))
    for block in (slice(i, min(i + size, n)) for i in range(0, n, size)):
        own = None if size >= n else (block.start <= feature) & (feature < block.stop)
        for table in pair_tables(data, columns, levels, class_column, own):
            # Asked for once there are tables: counting data in parts tells it by the way.
            sum_pairs = _available_sums if data.incomplete[features].any() else _complete_sums
            sums, totals = sum_pairs(table, widths, block, not data.is_weighted)
            information[block] += sums
            rows[block] += totals
    place = np.argsort(order)
    found = np.maximum(information / np.maximum(rows, 1), 0.0)
    return PairStatistics(found[np.ix_(place, place)], rows[np.ix_(place, place)])


def _complete_sums(
    table: NDArray[Any], widths: NDArray[np.intp], block: slice, whole: bool
) -> tuple[Array, float | NDArray[Any]]:
    """Return for each pair Σ n_xy ln n_xy − Σ n_x ln n_x − Σ n_y ln n_y + n ln n in one class, and n.

    Every row has every feature, so the counts of its levels are the same in all its pairs. Counts
    that are ``whole`` are looked up in a table of n ln n.
    """
    own = _widths_of(block, widths)
    counts = table[np.cumsum(own) - own].sum(axis=0)  # over the levels of one feature
    n = float(counts[np.cumsum(widths) - widths].sum())
    n_log_n = _looking_up(n) if whole else xlogx
    margins = _sum_levels(n_log_n(counts), widths)
    total = float(xlogy(n, n))
    return _sum_cells(n_log_n, table, own, widths) - margins[block, None] - margins + total, n


def _available_sums(
    table: NDArray[Any], widths: NDArray[np.intp], block: slice, whole: bool
) -> tuple[Array, float | NDArray[Any]]:
    """Return the same where each pair has rows of its own, those in which both are observed."""
    own = _widths_of(block, widths)
    by_y = _sum_levels(table, own)
    by_x = _sum_levels(table.T, widths).T
    n = _sum_levels(by_x, own)
    n_log_n = _looking_up(n.max(initial=0)) if whole else xlogx
    x, y, total = (n_log_n(counts) for counts in (by_x, by_y, n))
    cells = _sum_cells(n_log_n, table, own, widths)
    return cells - _sum_levels(x, own) - _sum_levels(y.T, widths).T + total, n


def _sum_cells(n_log_n: NLogN, table: NDArray[Any], own: NDArray[np.intp], widths: NDArray[np.intp]) -> Array:
    """Sum n ln n of the cells of all pairs over the levels of both features, (own, features).

    A few features at a time, so that what is looked up stays in cache.
    """
    starts = np.cumsum(own) - own
    sums = np.empty((own[0], widths[0]))
    size = max(1, _LOOKED_UP // table.shape[1])
    for first in range(0, own[0], size):
        rows = [
            slice(s + first, s + min(first + size, w)) for s, w in zip(starts, own, strict=True) if w > first
        ]
        by_level = n_log_n(table[rows[0]])
        for more in rows[1:]:
            by_level[: more.stop - more.start] += n_log_n(table[more])
        sums[first : first + size] = _sum_levels(by_level.T, widths).T
    return sums


def _widths_of(block: slice, widths: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many features of a block have a first level, a second, and so on."""
    own = np.clip(widths - block.start, 0, block.stop - block.start)
    return own[own > 0]


def _sum_levels(cells: NDArray[Any], widths: NDArray[np.intp]) -> NDArray[Any]:
    """Sum over the levels of each feature along the first axis; level k is that of ``widths[k]`` features."""
    total = cells[: widths[0]].copy("K")
    start = widths[0]
    for width in widths[1:]:
        total[:width] += cells[start : start + width]
        start += width
    return total


def _looking_up(most: float) -> NLogN:
    """Return a function that looks n·ln n of whole numbers up, in a table as long as needed."""
    if most > _LONGEST_LOOKED_UP:
        return xlogx
    logs = xlogx(np.arange(int(most) + 1))
    return lambda counts: logs.take(counts.astype(np.intp))


def narrow(counts: NDArray[Any]) -> NDArray[Any]:
    """Keep whole numbers in the smallest type that holds them."""
    whole = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
    return whole if np.array_equal(whole, counts) else counts.astype(np.float64)
