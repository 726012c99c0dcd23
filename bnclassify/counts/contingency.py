"""Contingency tables of encoded data, of all pairs of features, and moments of numbers in their cells.

Every count is over available cases: a table counts the rows in which all its variables are observed.
Counts and moments of different rows add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, combinations, pairwise
from math import prod
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, code_type
from ..base.immutable import ANY_NUMBER, COUNT, Immutable, bounded, record
from ..base.messages import how_to_merge, listed, shown
from ..frames.numeric import as_floats, check_finite
from ..frames.schema import Countable, Dataset

_LARGEST = 1e150

MAX_CELLS = 2**27
"""Maximum number of cells of a table (1 GiB)."""

_BLOCK_ITEMS = 2**18  # number of codes that are counted at once


def flat_index(codes: Sequence[NDArray[Any]], cards: Sequence[int]) -> Codes:
    """Number the joint values of variables from their complete codes, the last varying fastest."""
    if len(codes) == 1:
        return codes[0]
    index = codes[0].astype(code_type(prod(cards) + 1))  # a type for the factors, too
    for code, card in zip(codes[1:], cards[1:], strict=True):
        np.multiply(index, card, out=index)
        np.add(index, code, out=index, casting="same_kind")
    return index


def contingency_tables(data: Countable, families: Sequence[Sequence[int]]) -> Array:
    """Count families with equal numbers of levels, (families, levels of each member…)."""
    return next(count_alike(data, families))[1]


def count_families(data: Countable, families: Sequence[Sequence[int]]) -> list[Array]:
    """Count any families in one pass; the tables of families with equal levels are views of one array."""
    tables: list[Any] = [None] * len(families)
    for numbers, stack in count_alike(data, families):
        for number, table in zip(numbers, stack, strict=True):
            tables[number] = table
    return tables


def count_alike(data: Countable, families: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Array]]:
    """Count families, and yield groups with equal numbers of levels, with their positions."""
    alike: dict[tuple[int, ...], list[int]] = {}
    cards = data.cards
    for number, family in enumerate(families):
        alike.setdefault(tuple([cards[column] for column in family]), []).append(number)
    groups = [[families[number] for number in group] for group in alike.values()]
    if alike:
        largest = max(alike, key=prod)
        check_number(data, families[alike[largest][0]], prod(largest), "use fewer parents")
    counted = data.counts_of_source(families)
    if counted is not None:
        yield from ((numbers, np.stack([counted[n] for n in numbers])) for numbers in alike.values())
        return
    yield from zip(alike.values(), data.add_up(partial(_count_groups, groups)), strict=True)


def check_cells(data: Countable, family: Sequence[int]) -> None:
    """Raise a ValueError if the table of a family would have more than ``MAX_CELLS`` cells."""
    cards = data.cards
    check_number(data, family, prod([cards[column] for column in family]), "use fewer parents")


def check_number(data: Countable, columns: Sequence[int], cells: int, remedy: str) -> None:
    """Raise a ValueError if tables of columns would have more than ``MAX_CELLS`` cells."""
    if cells > MAX_CELLS:
        names = listed([data.columns[column] for column in columns])
        wide = how_to_merge((data.columns[column], data.cards[column]) for column in columns)
        raise ValueError(
            f"dataset must not need tables of more than {MAX_CELLS:,} cells; got {cells:,} for {names}. "
            f"To reduce the number, {remedy}, or {wide}."
        )


def _count_groups(groups: Sequence[Sequence[Sequence[int]]], data: Dataset) -> list[Array]:
    return [_stack_tables(data, group) for group in groups]


def _stack_tables(data: Dataset, families: Sequence[Sequence[int]]) -> Array:
    cards = data.cards
    shape = tuple([cards[column] for column in families[0]])
    cells = prod(shape)
    members = np.array(families, dtype=np.intp).T
    counts = np.empty((len(families), cells))
    at_once = max(1, min(_BLOCK_ITEMS // max(1, len(data)), _BLOCK_ITEMS // max(1, cells)))
    for start in range(0, len(families), at_once):
        block = slice(start, start + at_once)
        counts[block] = _count_block(data, members[:, block], shape)
    return counts.reshape(len(families), *shape)


def _count_block(data: Dataset, members: NDArray[np.intp], shape: Sequence[int]) -> NDArray[Any]:
    """Count families, (members, families), at once; rows that lack a member go to one cell more."""
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


class Recoding(NamedTuple):
    """The places of the levels of a variable among other levels, and the number of these."""

    codes: NDArray[np.intp]
    card: int

    @classmethod
    def of(cls, labels: Sequence[Any], among: Sequence[Any]) -> Recoding:
        """Return the places of labels."""
        position = {label: code for code, label in enumerate(among)}
        return cls(np.array([position[label] for label in labels], dtype=np.intp), len(among))


def recoded(counts: Any, recodings: Sequence[Recoding], fill: float = 0) -> Any:
    """Return the counts of a family for other levels of its members, ``fill`` where a level is new."""
    if isinstance(counts, list | tuple):
        return [part.recoded(own) for part, own in zip(counts, (recodings[1:], recodings[-1:]), strict=False)]
    if not isinstance(counts, np.ndarray):
        return counts.recoded(recodings)
    result = np.full([card for _, card in recodings], fill, dtype=counts.dtype)
    result[np.ix_(*[codes for codes, _ in recodings])] = counts
    return result


def count_type(data: Countable) -> np.dtype[Any]:
    """Return the smallest type for all counts of the data."""
    return np.dtype(np.float64 if data.is_weighted else np.min_scalar_type(int(data.size)))


def narrow(counts: NDArray[Any]) -> NDArray[Any]:
    """Convert whole numbers to the smallest integer type, and fractions and large numbers to floats."""
    most = float(counts.max(initial=0))
    whole = counts.astype(np.min_scalar_type(int(most)) if most < 2**53 else np.float64, copy=False)
    if counts.dtype.kind in "iu":
        return whole
    return whole if np.array_equal(whole, counts) else counts.astype(np.float64)


def count_pairs(data: Countable, owners: NDArray[np.intp] | None = None) -> NDArray[Any]:
    """Count all levels in the rows with each owner (by default, all levels), (owners, classes, levels).

    The levels of all features are numbered consecutively; the class is the last column.
    """
    *cards, n_classes = data.cards
    of_class, pairs = len(cards), list(combinations(range(len(cards)), 2))
    families = [*((i, of_class) for i in range(len(cards))), *((i, j, of_class) for i, j in pairs)]
    tables = count_families(data, families)
    spans = [slice(start, end) for start, end in pairwise(accumulate((0, *cards)))]
    counts = np.zeros((sum(cards), n_classes, sum(cards)), dtype=count_type(data))
    for span, table in zip(spans, tables, strict=False):
        levels = np.arange(span.start, span.stop)
        counts[levels, :, levels] = table
    for (i, j), table in zip(pairs, tables[len(cards) :], strict=True):
        counts[spans[i], :, spans[j]] = table.transpose(0, 2, 1)
        counts[spans[j], :, spans[i]] = table.transpose(1, 2, 0)
    return narrow(counts if owners is None else counts[owners])


def check_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs of features would have more than ``MAX_CELLS`` cells."""
    cards = list(map(data.cards.__getitem__, features))
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    check_number(data, features, cells, "use fewer features")


@record
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Immutable):
    """The weight, mean, Σ w (x − mean)², minimum and maximum of a number in each cell, arrays of cells."""

    bounds = bounded(n=COUNT, mean=ANY_NUMBER, squares=COUNT)

    n: Array
    mean: Array
    squares: Array
    low: Array
    high: Array

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        share, step = other.n / np.where(n > 0, n, 1.0), other.mean - self.mean
        squares = self.squares + other.squares + step**2 * self.n * share
        bounds = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Moments(n, self.mean + step * share, squares, *bounds)

    def recoded(self, recodings: Sequence[Recoding]) -> Moments:
        """Return the moments for other levels of the coded columns."""
        fills = {"low": np.inf, "high": -np.inf}
        arrays = ((getattr(self, name), fills.get(name, 0)) for name in self.__dataclass_fields__)
        return Moments(*[recoded(array, recodings, fill) for array, fill in arrays])

    @property
    def variance(self) -> Array:
        """The variance, with 1/n; exactly 0 without distinct values."""
        return np.where(self.low < self.high, self.squares / np.where(self.n > 0, self.n, 1.0), 0.0)

    def over(self, axis: int) -> Moments:
        """Return the pooled moments of the cells along an axis."""
        arrays = [np.moveaxis(getattr(self, name), axis, 0) for name in self.__dataclass_fields__]
        return reduce(add, [Moments(*cells) for cells in zip(*arrays, strict=True)])


class Known(NamedTuple):
    """The rows in which a number is observed: its values, the cell and the weight of each."""

    values: Array
    cells: NDArray[np.intp]
    weights: Array | None


def known_values(data: Dataset, number: int, condition: Sequence[int]) -> Known:
    """Return the values of a number where the columns are observed, and their configurations."""
    codes = [data.codes[column] for column in condition]
    name = data.columns[number]
    values = _numbers(data, number)
    check_finite({name: values})
    known = np.logical_and.reduce([~np.isnan(values), *[code >= 0 for code in codes]])
    if np.abs(values[known]).max(initial=0.0) > _LARGEST:
        raise ValueError(
            f"numbers: the column {shown(name)} must have numbers up to {_LARGEST:g}, because larger squares "
            f"overflow; got {np.abs(values[known]).max():g}. Divide them by a number."
        )
    if data.weights is not None:
        known &= data.weights > 0
    cards = [data.cards[column] for column in condition]
    observed = [code[known] for code in codes]
    cells = flat_index(observed, cards).astype(np.intp) if codes else np.zeros(known.sum(), dtype=np.intp)
    return Known(values[known], cells, None if data.weights is None else data.weights[known])


def _numbers(data: Dataset, column: int) -> Array:
    """Return the values of a column without levels, NaN if none are observed."""
    values = data.numbers.get(data.columns[column])
    return np.full(len(data), np.nan) if values is None else as_floats(values)


def moments_of(rows: Known, shape: Sequence[int]) -> Moments:
    """Return the moments of values in cells of this shape."""
    values, cells, weights = rows
    size = prod(shape)
    n = np.bincount(cells, weights, size).astype(np.float64)
    total = np.where(n > 0, n, 1.0)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, cells, values)
    np.maximum.at(high, cells, values)
    mean: Array = np.bincount(cells, values if weights is None else weights * values, size) / total
    mean = np.where(low < high, mean, np.where(n > 0, low, 0.0))
    deviations = (values - mean[cells]) ** 2
    squares = np.bincount(cells, deviations if weights is None else weights * deviations, size)
    sums = n, mean, squares.astype(np.float64), low, high
    return Moments(*[array.reshape(shape) for array in sums])


def number_moments(data: Dataset, number: int, condition: Sequence[int]) -> Moments:
    """Return the moments of a number per configuration of coded columns, an axis for each."""
    return moments_of(known_values(data, number, condition), [data.cards[column] for column in condition])


def informations_of_numbers(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int] = ()
) -> list[tuple[float, float]]:
    """Return the information of (number, coded column) pairs under Gaussian models, and the rows."""
    if not pairs:
        return []
    families = [(number, (column, *condition)) for number, column in pairs]
    return list(map(_information, data.add_up(partial(_all_moments, families))))


def _all_moments(families: Sequence[tuple[int, Sequence[int]]], data: Dataset) -> list[Moments]:
    return [number_moments(data, number, columns) for number, columns in families]


def _information(cells: Moments) -> tuple[float, float]:
    """Return ½ Σ_z P(z) [ln σ²_z − Σ_x P(x | z) ln σ²_xz], x along the first axis, and the rows."""
    total, variance = float(cells.n.sum()), cells.variance
    given = cells.over(0).variance
    logs = np.log(np.where(given > 0, given, 1.0)) - np.log(np.where(variance > 0, variance, 1.0))
    gains = np.where(variance > 0, cells.n * logs, 0.0)
    return (0.5 * float(gains.sum()) / total if total else 0.0), total


def information_of_two_numbers(
    data: Countable, x: int, y: int, condition: Sequence[int] = ()
) -> tuple[float, float]:
    """Return −½ Σ_z P(z) ln(1 − ρ²_z) of two numbers that are normal given coded columns, and the rows."""
    first, second = data.add_up(partial(_moments_of_two, x, y, condition))
    products = data.add_up(partial(_products, x, y, condition, first.mean, second.mean))
    squares = np.where((first.variance > 0) & (second.variance > 0), first.squares * second.squares, 0.0)
    share = np.divide(products**2, squares, out=np.zeros(np.shape(squares)), where=squares > 0)
    n = float(first.n.sum())
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(share, 1.0))
    return (-0.5 * float((first.n * logs)[first.n > 0].sum()) / n if n else 0.0), n


def _both_known(data: Dataset, x: int, y: int, condition: Sequence[int]) -> tuple[Known, Known]:
    """Return the values of two numbers in the rows in which both are observed."""
    rows = data.taken(~(np.isnan(_numbers(data, x)) | np.isnan(_numbers(data, y))))
    return known_values(rows, x, condition), known_values(rows, y, condition)


def _moments_of_two(x: int, y: int, condition: Sequence[int], data: Dataset) -> list[Moments]:
    shape = [data.cards[column] for column in condition]
    return [moments_of(rows, shape) for rows in _both_known(data, x, y, condition)]


def _products(
    x: int, y: int, condition: Sequence[int], x_mean: Array, y_mean: Array, data: Dataset
) -> NDArray[Any]:
    """Return Σ w (x − mean) (y − mean) per configuration."""
    first, second = _both_known(data, x, y, condition)
    products = (first.values - x_mean.ravel()[first.cells]) * (second.values - y_mean.ravel()[second.cells])
    weighted = products if first.weights is None else first.weights * products
    return np.bincount(first.cells, weighted, x_mean.size).reshape(x_mean.shape)
