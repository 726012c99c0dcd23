"""Contingency tables of encoded data, counts of families, and those of each extended by one parent.

Every count is over available cases: a table counts the rows in which all its variables are observed.
Counts of different rows add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, combinations, pairwise
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, blocks, code_type, one_thread
from ..base.messages import how_to_merge, listed
from ..frames.partitions import Partitions
from ..frames.schema import Countable, Dataset

MAX_CELLS = 2**27
"""Maximum number of cells of a table (1 GiB)."""

_BLOCK_ITEMS = 2**18  # number of codes that are counted at once
_BLOCK_ROWS = 2**12  # number of rows that are multiplied at once
_FEW_LEVELS = 8  # average number of levels up to which products are faster


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


def narrow(counts: NDArray[Any]) -> NDArray[Any]:
    """Convert whole numbers to the smallest integer type, and fractions and large numbers to floats."""
    most = float(counts.max(initial=0))
    whole = counts.astype(np.min_scalar_type(int(most)) if most < 2**53 else np.float64, copy=False)
    if counts.dtype.kind in "iu":
        return whole
    return whole if np.array_equal(whole, counts) else counts.astype(np.float64)


def count_pairs(data: Countable, owners: NDArray[np.intp] | None = None) -> NDArray[Any]:
    """For each owner, a level, count every level in the rows that have it: (owners, classes, levels).

    By default, all levels are owners. The levels of all features are numbered consecutively; the class is
    the last column.
    """
    few = sum(data.cards[:-1]) <= _FEW_LEVELS * len(data.cards)
    counts = _multiply_pairs(data) if few and isinstance(data, Dataset) else _join_pairs(data)
    return narrow(counts if owners is None else counts[owners])


def _multiply_pairs(data: Dataset) -> Array:
    """Count pairs of features with few levels by products of the levels of rows as zeros and ones."""
    *cards, n_classes = data.cards
    starts, weights = np.cumsum([0, *cards[:-1]])[:, None], data.weights
    exact = np.float32 if weights is None and len(data) < 2**24 else np.float64
    counts = np.zeros((sum(cards), n_classes, sum(cards)), exact)
    with one_thread:
        for c in range(n_classes):
            of_class = np.flatnonzero(data.codes[-1] == c)
            for start in range(0, len(of_class), _BLOCK_ROWS):
                rows = of_class[start : start + _BLOCK_ROWS]
                codes = data.codes[:-1, rows]
                features, known = (codes >= 0).nonzero()
                hot = np.zeros((len(rows), sum(cards)), exact)
                hot[known, (codes + starts)[features, known]] = 1
                counts[:, c] += (hot if weights is None else hot * weights[rows, None]).T @ hot
    return counts


def _join_pairs(data: Countable) -> NDArray[Any]:
    """Count pairs by the tables of pairs of features."""
    *cards, n_classes = data.cards
    of_class, pairs = len(cards), list(combinations(range(len(cards)), 2))
    families = [*((i, of_class) for i in range(len(cards))), *((i, j, of_class) for i, j in pairs)]
    tables = count_families(data, families)
    spans = [slice(start, end) for start, end in pairwise(accumulate((0, *cards)))]
    smallest = np.float64 if data.is_weighted else np.min_scalar_type(int(data.size))
    counts = np.zeros((sum(cards), n_classes, sum(cards)), dtype=smallest)
    for span, table in zip(spans, tables, strict=False):
        levels = np.arange(span.start, span.stop)
        counts[levels, :, levels] = table
    for (i, j), table in zip(pairs, tables[len(cards) :], strict=True):
        counts[spans[i], :, spans[j]] = table.transpose(0, 2, 1)
        counts[spans[j], :, spans[i]] = table.transpose(1, 2, 0)
    return counts


def check_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs of features would have more than ``MAX_CELLS`` cells."""
    cards = list(map(data.cards.__getitem__, features))
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    check_number(data, features, cells, "use fewer features")


_BLOCK_CELLS = 2**18  # of rows and columns, or of tables, that are counted at once
_FEW_CONFIGURATIONS = 2**12  # up to this number, all configurations are numbered

Counts = NDArray[Any]
Index = NDArray[np.intp]


class FamilyCounts:
    """Counts of families, each the numbers of a variable and its parents, over rows in memory.

    A row in which a member is missing is not counted. If `numbered` is True and there are more configurations
    of the parents than rows, only observed configurations are numbered.
    """

    def __init__(self, data: Dataset, *, numbered: bool = True) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._most = max(len(data), _FEW_CONFIGURATIONS) if numbered else np.inf

    def prefetch(self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]] = ()) -> None:
        """Count families in advance; rows in memory are counted on request."""

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        state, shape = self.states(family)
        observed = self._observed(family)
        weights = None if self.data.weights is None else self.data.weights[observed]
        return np.bincount(state[observed], weights, minlength=prod(shape)).reshape(shape)

    def _observed(self, family: Sequence[int]) -> Any:
        """Return the rows in which all members of a family are observed."""
        return slice(None) if self.is_complete else (self.data.codes[list(family)] >= 0).all(axis=0)

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Yield slices of columns, and (levels, configurations, levels of these columns) counts."""
        state, shape = self.states(family)
        cells, widest = prod(shape), int(self.cards.argmax())
        check_number(self.data, (*family, widest), cells * int(self.cards[widest]), "set max_parents")
        largest = max(len(self.data), cells * int(self.cards[widest]))
        for columns in blocks(len(self.cards), _BLOCK_CELLS, largest):
            cards, codes = self.cards[columns], self.data.codes[columns]
            index = state * cards.sum() + (np.cumsum(cards) - cards)[:, None] + codes
            index, weights = (
                index.ravel(),
                None if self.data.weights is None else np.tile(self.data.weights, len(cards)),
            )
            if not self.is_complete:
                known = ((codes >= 0) & self._observed(family)).ravel()
                index, weights = index[known], None if weights is None else weights[known]
            counts = np.bincount(index, weights, cells * int(cards.sum()))
            yield columns, counts.reshape(*shape, -1)

    def states(self, family: Sequence[int]) -> tuple[Index, tuple[int, int]]:
        """Number the joint values of a family in each row, and return the numbers of both parts."""
        variable, *parents = family
        configuration, n = np.zeros(len(self.data), dtype=np.intp), 1
        for parent in parents:
            n *= int(self.cards[parent])
            configuration *= self.cards[parent]
            configuration += self._codes(parent)
            if n > self._most:
                occurring, configuration = np.unique(configuration, return_inverse=True)
                n = len(occurring)
        configuration += self._codes(variable).astype(np.intp) * n
        return configuration, (int(self.cards[variable]), n)

    def _codes(self, column: int) -> Counts:
        codes = self.data.codes[column]
        return np.maximum(codes, 0) if self.data.incomplete[column] else codes


class FamilyCountsInParts:
    """Counts of families of partitioned data: one pass counts all requested families."""

    def __init__(self, data: Partitions) -> None:
        self.data = data
        self.cards = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._tables: dict[tuple[int, ...], Counts] = {}
        self._extended: dict[tuple[int, ...], Counts] = {}

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
        cards, plain = self.cards.tolist(), [*alone, *wanted]
        further = [(*family, *({column} - {*family})) for family in wanted for column in range(len(cards))]
        counted = iter(count_families(self.data, [*plain, *further]))
        self._tables = {family: next(counted).reshape(cards[family[0]], -1) for family in plain}
        self._extended = {}
        for family in wanted:
            shape = self._tables[family].shape
            blocks = [next(counted).reshape(*shape, -1) for _ in cards]
            # A member of the family itself has the rows at its first level.
            full = [
                b * np.eye(1, card) if b.shape[2] == 1 else b for b, card in zip(blocks, cards, strict=True)
            ]
            self._extended[family] = np.concatenate(full, axis=-1)

    def table(self, family: Sequence[int]) -> Counts:
        """Count a family; see `FamilyCounts`."""
        self.prefetch([], [family])
        return self._tables[tuple(family)]

    def extended(self, family: Sequence[int]) -> Iterator[tuple[slice, Counts]]:
        """Count a family together with each level of each column; see `FamilyCounts`."""
        self.prefetch([family])
        yield slice(0, len(self.cards)), self._extended[tuple(family)]


def family_counts(data: Countable) -> FamilyCounts | FamilyCountsInParts:
    """Return the counter of families of data."""
    return FamilyCountsInParts(data) if isinstance(data, Partitions) else FamilyCounts(cast("Dataset", data))
