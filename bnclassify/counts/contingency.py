"""Contingency tables of encoded data, counts of families, and those of each extended by one parent.

Every count is over available cases: a table counts the rows in which all its
variables are observed. Counts of different rows add up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Countable, Dataset
from ..tools.arrays import Array, ArrayOf, Codes, Mask, Positions, code_type, slices
from ..tools.immutable import StackedArrays
from ..tools.messages import how_to_merge, listed

MAX_CELLS = 2**27
"""Maximum number of cells of a table (1 GiB)."""

_FEW_CELLS = 2**5  # of a table that is counted fastest by bits

count_bits: Any = getattr(np, "bitwise_count", None)  # which NumPy 1 does not have

Counts = ArrayOf[Any]
Family = tuple[int, ...]


def flat_index(codes: Sequence[ArrayOf[Any]], cards: Sequence[int]) -> Codes:
    """Number the joint values of variables from their complete codes, the last varying fastest.

    >>> flat_index([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3]).tolist()
    [2, 3, 5]
    """
    if len(codes) == 1:
        return codes[0]
    index = codes[0].astype(code_type(max(prod(cards) + 1, *cards)))  # a type for the factors, too
    for code, card in zip(codes[1:], cards[1:], strict=True):
        np.multiply(index, card, out=index)
        np.add(index, code, out=index, casting="same_kind")
    return index


def contingency_table(data: Countable, family: Sequence[int]) -> Array:
    """Count the joint values of a family of columns."""
    table: Array = count_families(data, [family])[0]
    return table


def count_families(data: Countable, families: Sequence[Sequence[int]]) -> StackedArrays:
    """Count families in one pass; tables of families with equal levels are views of one array."""
    return StackedArrays.from_stacks(list(count_families_by_shape(data, families)))


def count_families_by_shape(
    data: Countable, families: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], Array]]:
    """Count families, and yield the positions of those with equal levels, with their tables."""
    cards = data.cards
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for position, family in enumerate(families):
        by_shape.setdefault(tuple(map(cards.__getitem__, family)), []).append(position)
    if by_shape:
        largest = max(by_shape, key=prod)
        columns = families[by_shape[largest][0]]
        check_number_of_cells(data, columns, prod(largest), "use fewer parents")
    counted = data.tables_from_source(families)
    if counted is not None:
        for positions in by_shape.values():
            yield positions, np.stack([counted[position] for position in positions])
        return
    groups = [[families[position] for position in positions] for positions in by_shape.values()]
    tables = data.sum_over_parts(partial(_count_groups, groups))
    yield from zip(by_shape.values(), tables, strict=True)


def _count_groups(groups: Sequence[Sequence[Sequence[int]]], data: Dataset) -> list[Array]:
    """Count each group of families with equal numbers of levels, block by block."""
    tables = []
    for families in groups:
        shape = tuple([data.cards[column] for column in families[0]])
        members = np.array(families, dtype=np.intp).T
        counts = np.empty((len(families), prod(shape)))
        for block in slices(len(families), max(len(data), prod(shape))):
            counts[block] = _count_block_of_families(data, members[:, block], shape)
        tables.append(counts.reshape(len(families), *shape))
    return tables


def _count_block_of_families(
    data: Dataset, members: Positions, shape: Sequence[int]
) -> ArrayOf[Any]:
    """Count families, (members, families), at once; rows that lack a member go to one cell more."""
    cells = prod(shape)
    if data.weights is None and cells <= _FEW_CELLS and count_bits is not None:
        return _count_by_bits(data, members, shape)
    codes: list[Codes] = [data.codes[columns] for columns in members]
    index = flat_index(codes, shape)
    incomplete: Mask = data.incomplete[members]
    partial = [code for code, lacks in zip(codes, incomplete, strict=True) if lacks.any()]
    if partial:
        observed: Mask = np.logical_and.reduce([code >= 0 for code in partial])
        index = np.where(observed, index, np.array(cells, dtype=code_type(cells + 1)))
    width = cells + bool(partial)
    if len(index) > 1:  # two families of 4 cells: cell 3 of the second one is cell 4 + 3 of both
        index = index + width * np.arange(len(index))[:, None]
    weights = None if data.weights is None else np.tile(data.weights, len(index))
    counts = np.bincount(index.ravel(), weights, minlength=width * len(index))
    return counts.reshape(-1, width)[:, :cells]


def _count_by_bits(data: Dataset, members: Positions, shape: Sequence[int]) -> ArrayOf[Any]:
    """Count families of few cells: each level is a bit per row, and 64 rows are counted at once.

    If 1011 are the rows with level 1 of a variable and 1100 those with level 0
    of its parent, the bits of 1011 & 1100 = 1000 are the rows of the cell. A
    missing value has no level.
    """
    joint: ArrayOf[np.uint64] | None = None
    columns: Positions
    for columns, card in zip(members, shape, strict=True):
        is_shared = joint is not None and (columns == columns[0]).all()
        codes: Codes = data.codes[columns[:1] if is_shared else columns]
        bits = pack_bits(codes == np.arange(card, dtype=codes.dtype)[:, None, None])
        joint = bits if joint is None else joint[..., None, :, :] & bits
    counts: Positions = count_bits(joint).sum(axis=-1)
    return counts.reshape(prod(shape), members.shape[1]).T


def pack_bits(mask: Mask) -> ArrayOf[np.uint64]:
    """Return a mask, (…, rows), as bits, (…, groups of 64 rows)."""
    found = np.packbits(mask, axis=-1)
    bits = np.zeros((*mask.shape[:-1], -(-mask.shape[-1] // 64)), dtype=np.uint64)
    bits.view(np.uint8)[..., : found.shape[-1]] = found
    return bits


def count_extended_families(
    data: Countable,
    families: Sequence[Family],
    columns: Sequence[int],
    others: Sequence[Family] = (),
) -> tuple[list[Array], list[Array]]:
    """Count others, and families with each level of columns, (levels…, column levels), at once."""
    extended = [(*family, column) for family in families for column in columns]
    # Each set of variables is counted once, in the order of the first family that has these.
    orders: dict[frozenset[int], Family] = {}
    for family in (*others, *extended):
        orders.setdefault(frozenset(family), tuple(dict.fromkeys(family)))
    counted = count_families(data, list(orders.values()))
    tables: _Tables = dict(zip(orders, zip(orders.values(), counted, strict=True), strict=True))
    with_columns = []
    for family in families:
        by_column = [_table_with_column(tables, family, c, data.cards[c]) for c in columns]
        with_columns.append(np.concatenate(by_column, axis=-1))
    return [_table_of_family(tables, family) for family in others], with_columns


_Tables = dict[frozenset[int], tuple[Family, Array]]
"""The counts of sets of variables, with their axes."""


def _table_of_family(tables: _Tables, family: Family) -> Array:
    """Return the counts of the variables of a family, with its members as axes."""
    order, table = tables[frozenset(family)]
    return table.transpose([order.index(member) for member in family])


def _table_with_column(tables: _Tables, family: Family, column: int, card: int) -> Array:
    """Return the counts of a family with the levels of a column as the last axis."""
    if column not in family:
        return _table_of_family(tables, (*family, column))
    # A row has one level of the column, so [3, 1], the counts of (column,), are [[3, 0], [0, 1]].
    axes = [card if member == column else 1 for member in family]
    is_own = np.eye(card, dtype=bool).reshape(*axes, card)
    return np.asarray(_table_of_family(tables, family)[..., None] * is_own)


def check_table_size(data: Countable, family: Sequence[int]) -> None:
    """Raise a ValueError if the table of a family would have more than ``MAX_CELLS`` cells."""
    cells = prod([data.cards[column] for column in family])
    check_number_of_cells(data, family, cells, "use fewer parents")


def check_number_of_cells(data: Countable, columns: Sequence[int], cells: int, remedy: str) -> None:
    """Raise a ValueError if tables of columns would have more than ``MAX_CELLS`` cells."""
    if cells > MAX_CELLS:
        names = listed([data.columns[column] for column in columns])
        wide = how_to_merge((data.columns[column], data.cards[column]) for column in columns)
        raise ValueError(
            f"dataset must not need tables of more than {MAX_CELLS:,} cells; got {cells:,} for "
            f"{names}. To reduce the number, {remedy}, or {wide}."
        )


class Recoding(NamedTuple):
    """The places of the levels of a variable among other levels, and the number of these."""

    codes: Positions
    card: int

    @classmethod
    def from_labels(cls, labels: Sequence[Hashable], among: Sequence[Any]) -> Recoding:
        """Return the places of labels."""
        position = {label: code for code, label in enumerate(among)}
        return cls(np.array([position[label] for label in labels], dtype=np.intp), len(among))


def recode_counts(counts: Any, recodings: Sequence[Recoding], fill: float = 0) -> Any:
    """Return the counts of a family for other levels of its members, ``fill`` for new levels."""
    if isinstance(counts, list | tuple):
        return [
            part.recoded(own)
            for part, own in zip(counts, (recodings[1:], recodings[-1:]), strict=False)
        ]
    if not isinstance(counts, np.ndarray):
        return counts.recoded(recodings)
    result = np.full([card for _, card in recodings], fill, dtype=counts.dtype)
    result[np.ix_(*[codes for codes, _ in recodings])] = counts
    return result


def to_narrowest_type(counts: ArrayOf[Any]) -> ArrayOf[Any]:
    """Convert whole numbers to the smallest integer type, others and large ones to floats."""
    most = float(counts.max(initial=0))
    whole = counts.astype(np.min_scalar_type(int(most)) if most < 2**53 else np.float64, copy=False)
    if counts.dtype.kind in "iu":
        return whole
    return whole if np.array_equal(whole, counts) else counts.astype(np.float64)
