"""Contingency tables of encoded data, counts of families, and those of each extended by one parent.

Every count is over available cases: a table counts the rows in which all its variables are observed.
Counts of different rows add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from ..base.arrays import Array, ArrayOf, Codes, Mask, Positions, blocks, code_type, one_thread
from ..base.immutable import cached_property
from ..base.messages import how_to_merge, listed
from ..frames.dataset import Countable, Dataset

MAX_CELLS = 2**27
"""Maximum number of cells of a table (1 GiB)."""

_BLOCK_ITEMS = 2**18  # number of codes that are counted at once
_BLOCK_ROWS = 2**11  # number of rows that are multiplied at once
_FEW_LEVELS = 8  # average number of levels up to which products are faster


def flat_index(codes: Sequence[ArrayOf[Any]], cards: Sequence[int]) -> Codes:
    """Number the joint values of variables from their complete codes, the last varying fastest.

    >>> flat_index([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3]).tolist()
    [2, 3, 5]
    """
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
    for positions, stack in count_alike(data, families):
        for position, table in zip(positions, stack, strict=True):
            tables[position] = table
    return tables


def count_alike(data: Countable, families: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Array]]:
    """Count families, and yield groups with equal positions of levels, with their positions."""
    alike: dict[tuple[int, ...], list[int]] = {}
    cards = data.cards
    for position, family in enumerate(families):
        alike.setdefault(tuple([cards[column] for column in family]), []).append(position)
    groups = [[families[position] for position in group] for group in alike.values()]
    if alike:
        largest = max(alike, key=prod)
        check_number(data, families[alike[largest][0]], prod(largest), "use fewer parents")
    counted = data.counts_of_source(families)
    if counted is not None:
        yield from ((positions, np.stack([counted[n] for n in positions])) for positions in alike.values())
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
    for block in blocks(len(families), _BLOCK_ITEMS, max(len(data), cells)):
        counts[block] = _count_block(data, members[:, block], shape)
    return counts.reshape(len(families), *shape)


def _count_block(data: Dataset, members: Positions, shape: Sequence[int]) -> ArrayOf[Any]:
    """Count families, (members, families), at once; rows that lack a member go to one cell more."""
    cells = prod(shape)
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


class Recoding(NamedTuple):
    """The places of the levels of a variable among other levels, and the number of these."""

    codes: Positions
    card: int

    @classmethod
    def of(cls, labels: Sequence[Hashable], among: Sequence[Any]) -> Recoding:
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


def narrow(counts: ArrayOf[Any]) -> ArrayOf[Any]:
    """Convert whole numbers to the smallest integer type, and fractions and large numbers to floats."""
    most = float(counts.max(initial=0))
    whole = counts.astype(np.min_scalar_type(int(most)) if most < 2**53 else np.float64, copy=False)
    if counts.dtype.kind in "iu":
        return whole
    return whole if np.array_equal(whole, counts) else counts.astype(np.float64)


def by_products(data: Countable, columns: Sequence[int]) -> bool:
    """Whether columns have so few levels that products of matrices count fastest."""
    cards = [data.cards[column] for column in columns]
    return all(cards) and sum(cards) <= _FEW_LEVELS * len(cards) and data.counts_of_source([]) is None


def count_pairs(data: Countable, owners: Positions | slice = slice(None)) -> ArrayOf[Any]:
    """Count the pairs of levels of features in each class, the last column, (owners, classes, levels)."""
    features = range(len(data.cards) - 1)
    return narrow(pair_tables(data, features, len(features), owners))


def pair_tables(
    data: Countable, columns: Sequence[int], given: int | None, owners: Positions | slice = slice(None)
) -> ArrayOf[Any]:
    """Count the pairs of levels of columns, (owners, levels of the given column, levels).

    The levels of all columns are numbered consecutively. An owner, the first of a pair, is by default any
    level.
    """
    if by_products(data, columns):
        return data.add_up(partial(_multiply_levels, columns, given, owners))
    families = [(column,) if given is None else (column, given) for column in columns]
    tables = _count_beside(data, families, columns)[1]
    return np.concatenate([table.reshape(len(table), -1, table.shape[-1]) for table in tables])[owners]


def levels_of_rows(data: Dataset, columns: Sequence[int], rows: Positions) -> Mask:
    """Return which rows have each level of columns, (levels, rows)."""
    pairs = [(column, level) for column in columns for level in range(data.cards[column])]
    of_column, level = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return np.asarray(data.codes.take(rows, axis=1)[of_column] == level[:, None].astype(data.codes.dtype))


def _multiply_levels(
    columns: Sequence[int], given: int | None, owners: Positions | slice, data: Dataset
) -> ArrayOf[Any]:
    """Count pairs of levels by products of the rows that have them, as zeros and ones, with each other."""
    of_given = np.zeros(len(data), dtype=np.intp) if given is None else data.codes[given]
    weights, n_levels = data.weights, sum(data.cards[column] for column in columns)
    exact = np.dtype("f8" if weights is not None else "f4")  # a block has so few rows that these are exact
    smallest = exact if weights is not None else np.min_scalar_type(len(data))
    shape = len(np.arange(n_levels)[owners]), 1 if given is None else data.cards[given], n_levels
    counts = np.zeros(shape, smallest)
    with one_thread:
        for c in range(counts.shape[1]):
            rows = np.flatnonzero(of_given == c)
            for block in blocks(len(rows), _BLOCK_ROWS):
                ones = levels_of_rows(data, columns, rows[block]).astype(exact)
                # Entry (i, j) of the product counts the rows in which levels i and j are both 1:
                # [[1 0 1], [0 1 1]] times its transpose is [[2 1], [1 2]].
                owned = ones[owners] if weights is None else ones[owners] * weights[rows[block]]
                np.add(counts[:, c], owned @ ones.T, out=counts[:, c], casting="unsafe")
    return counts


def _count_beside(
    data: Countable, families: Sequence[Family], columns: Sequence[int], others: Sequence[Family] = ()
) -> tuple[list[Array], list[Array]]:
    """Count others, and families with each level of columns, (levels…, levels of columns), in one pass."""
    further = [tuple(dict.fromkeys((*family, column))) for family in families for column in columns]
    members = {frozenset(family): family for family in (*others, *further)}  # each set is counted once
    tables = dict(zip(members, count_families(data, list(members.values())), strict=True))

    def table(*family: int) -> Array:
        order = members[frozenset(family)]
        return tables[frozenset(family)].transpose([order.index(column) for column in family])

    def beside(family: Family, column: int) -> Array:
        if column not in family:
            return table(*family, column)
        card = data.cards[column]
        own = np.eye(card, dtype=bool).reshape(*[card if v == column else 1 for v in family], card)
        return np.asarray(table(*family)[..., None] * own)

    extended = [np.concatenate([beside(f, column) for column in columns], axis=-1) for f in families]
    return [table(*family) for family in others], extended


def check_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs of features would have more than ``MAX_CELLS`` cells."""
    cards = list(map(data.cards.__getitem__, features))
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    check_number(data, features, cells, "use fewer features")


_BLOCK_CELLS = 2**18  # of rows and columns, or of tables, that are counted at once
_FEW_CONFIGURATIONS = 2**12  # up to this number, all configurations are numbered
_KEPT_CELLS = 2**24  # number of levels of rows, or of pairs, that are kept in memory, in 16 or 32 MiB
_FEW_TOTALS = 2**22  # number of counts up to which products are faster
_SHORT_ROWS = 2**14  # number of rows whose counts 16 bits can hold

Counts = ArrayOf[Any]
Family = tuple[int, ...]


def number_states(
    data: Dataset, family: Sequence[int], *, numbered: bool = True
) -> tuple[Positions, tuple[int, int]]:
    """Number the joint values of a family in each row, and return the numbers of both parts.

    A family is a variable and its parents. A missing value is replaced by the first level. If `numbered` is
    True and there are more configurations of the parents than rows, only observed ones are numbered.
    """
    most = max(len(data), _FEW_CONFIGURATIONS) if numbered else np.inf
    variable, *parents = family
    codes = [np.maximum(data.codes[v], 0) if data.incomplete[v] else data.codes[v] for v in family]
    n, configurations = 1, cast("Codes", np.zeros(len(data), dtype=np.int8))
    for parent, own in zip(parents, codes[1:], strict=True):
        configurations = flat_index([configurations, own], [n, data.cards[parent]])
        n *= data.cards[parent]
        if n > most:
            occurring, configurations = np.unique(configurations, return_inverse=True)
            n = len(occurring)
    card = data.cards[variable]
    return flat_index([codes[0], configurations], [card, n]).astype(np.intp), (card, n)


class FamilyCounts:
    """Counts of families, each the numbers of a variable and its parents, over rows in memory.

    A row in which a member is missing is not counted.
    """

    def __init__(self, data: Countable) -> None:
        self.data, self._rows = data, cast("Dataset", data)  # whose codes are not used if in parts
        self.cards: Positions = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._tables: dict[Family, Counts] = {}
        self._extended: dict[Family, Counts] = {}

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families that will be extended, if most columns have the same parent or none."""
        alike, every = Counter(tuple(parents) for _, *parents in families), range(len(self.cards))
        most = _KEPT_CELLS // int(self.cards.sum()) ** 2  # configurations of the parents
        wanted = [
            given
            for given, n in alike.items()
            if 2 * n > len(every) and len(given) < 2 and self.cards[list(given)].prod() <= most
        ]
        self._extended = {}
        for given in wanted if wanted and by_products(self.data, every) else ():
            tables, ends = pair_tables(self.data, every, *(given or (None,))), np.cumsum([0, *self.cards])
            own = {(v, *given): tables[slice(*at)] for v, at in enumerate(pairwise(ends.tolist()))}
            self._extended.update(own)

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        state, shape = number_states(self._rows, family)
        observed, weights = self._observed(family), self._rows.weights
        weights = None if weights is None else weights[observed]
        return np.bincount(state[observed], weights, minlength=prod(shape)).reshape(shape)

    def _observed(self, family: Sequence[int]) -> Mask:
        """Return whether all members of a family are observed in each row."""
        if self.is_complete:
            return np.ones(len(self.data), dtype=bool)
        return np.asarray((self._rows.codes[list(family)] >= 0).all(axis=0))

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Yield slices of columns, and (levels, configurations, levels of these columns) counts."""
        if (own := self._extended.get(tuple(family))) is not None:
            yield slice(0, len(self.cards)), own if own.dtype.kind == "f" else own.astype(np.intp)
            return
        state, shape = number_states(self._rows, family)
        cells, widest = prod(shape), int(self.cards.argmax())
        check_number(self.data, (*family, widest), cells * int(self.cards[widest]), "set max_parents")
        has_level = self._has_level
        if has_level is not None and cells * has_level.shape[1] <= _FEW_TOTALS:
            counts = self._add_states(state, cells, has_level, self._observed(family))
            yield slice(0, len(self.cards)), counts.reshape(*shape, -1)
            return
        largest, weights = max(len(self.data), cells * int(self.cards[widest])), self._rows.weights
        for columns in blocks(len(self.cards), _BLOCK_CELLS, largest):
            cards, codes = self.cards[columns], self._rows.codes[columns]
            index: Positions = (state * cards.sum() + (np.cumsum(cards) - cards)[:, None] + codes).ravel()
            weights = None if self._rows.weights is None else np.tile(self._rows.weights, len(cards))
            if not self.is_complete:
                known: Mask = ((codes >= 0) & self._observed(family)).ravel()
                index, weights = index[known], None if weights is None else weights[known]
            counts = np.bincount(index, weights, cells * int(cards.sum()))
            yield columns, counts.reshape(*shape, -1)

    @cached_property
    def _has_level(self) -> ArrayOf[np.uint8] | None:
        """Which level each row has, (rows, levels), or None if there are many levels."""
        every, shape = range(len(self.cards)), (len(self.data), int(self.cards.sum()))
        if prod(shape) > _KEPT_CELLS or not by_products(self.data, every):
            return None
        result = np.empty(shape, dtype=np.uint8)
        for rows in blocks(len(result), _SHORT_ROWS):
            result[rows] = levels_of_rows(self._rows, every, np.arange(rows.start, rows.stop)).T
        return result

    def _add_states(self, state: Positions, cells: int, has_level: ArrayOf[np.uint8], known: Mask) -> Counts:
        """Add up the levels of the known rows of each state, by sparse products of few rows."""
        from scipy.sparse import csc_array  # slow to import

        given = self._rows.weights
        weights: ArrayOf[Any] = known.astype(np.uint16) if given is None else given * known
        states, rows_at = state.astype(np.int32), np.arange(_SHORT_ROWS + 1, dtype=np.int32)
        total: Counts = np.zeros((cells, has_level.shape[1]), np.intp if given is None else np.float64)
        for rows in blocks(len(state), _SHORT_ROWS):
            n: int = rows.stop - rows.start
            of_state = csc_array((weights[rows], states[rows], rows_at[: n + 1]), shape=(cells, n))
            total += np.asarray(of_state @ has_level[rows])
        return total


class FamilyCountsInParts(FamilyCounts):
    """Counts of families of partitioned data: one pass counts all requested families."""

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families to be extended, and others, in one pass."""
        # Counts are requested once, because their scores are cached.
        wanted = [tuple(family) for family in families if tuple(family) not in self._extended]
        alone = [tuple(family) for family in tables if tuple(family) not in self._tables]
        if not wanted and not alone:
            return
        for family in wanted:
            cells = prod(self.cards[list(family)].tolist()) * int(self.cards.sum())
            check_number(self.data, range(len(self.cards)), cells, "set max_parents")
        for family in alone:
            check_cells(self.data, family)
        counted, extended = _count_beside(self.data, wanted, range(len(self.cards)), alone)
        self._tables = {f: table.reshape(len(table), -1) for f, table in zip(alone, counted, strict=True)}
        self._extended = {
            f: table.reshape(len(table), -1, table.shape[-1])
            for f, table in zip(wanted, extended, strict=True)
        }

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family; see `FamilyCounts`."""
        self.prefetch([], [family])
        return self._tables[tuple(family)]

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Count a family together with each level of each column; see `FamilyCounts`."""
        self.prefetch([family])
        yield from super().extended(family)


def family_counts(data: Countable) -> FamilyCounts:
    """Return the counter of families of data."""
    return (FamilyCountsInParts if data.in_parts else FamilyCounts)(data)
