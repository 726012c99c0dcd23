"""How often levels occur together in each class: alone, in pairs, in triples.

The levels of all features follow one another in the order of the features, and are numbered so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array
from ..base.immutable import Immutable
from ..base.messages import how_to_merge
from ..base.records import record
from ..counts.contingency import MAX_CELLS, contingency_tables, count_alike, narrow
from ..counts.pairs import pair_tables
from ..frames.schema import Countable, Dataset, Schema, code_type, take_rows

Positions = NDArray[np.intp]
Counts = NDArray[Any]

MAX_BYTES = 8 * MAX_CELLS
"""Tables of counts may take this much, 1 GiB, before they are refused."""

_FEW_LEVELS = 12  # a feature, on average, up to which counting by products of matrices wins
_SMALL = 2**20  # cells of a table that is kept square


@record
@dataclass(frozen=True, eq=False)
class PairCounts(Immutable):
    """How often some levels, the owners, occur beside all levels of other features.

    Attributes
    ----------
    owners : (b,) array of int
        Their numbers, in ascending order.
    columns : (levels,) array of int
        Where ``counts`` has each level. Levels of an owner's feature may share a place.
    counts : (b, classes, k) array
        The rows that have both; at an owner's own place, the rows that have it.
    """

    owners: Positions
    columns: Positions
    counts: Counts

    @cached_property
    def levels(self) -> Positions:
        """The level, or the first of those, at each place of ``counts``."""
        return np.unique(self.columns, return_index=True)[1]

    @cached_property
    def owner_columns(self) -> Positions:
        """The place of each owner."""
        return np.asarray(self.columns[self.owners])


@record
@dataclass(frozen=True, eq=False)
class WithinLevel(Immutable):
    """The same within the rows that have one level, among the levels of the other features that occur there.

    Attributes
    ----------
    level : int
        The number of the level.
    levels : (k,) array of int
        The numbers of the levels that occur in its rows, and of each feature one of those that do not.
    stand_in : (features,) array of int
        The position in ``levels`` of that one, which stands for all of them; -1 where all occur.
    pairs : tuple of PairCounts
        Of levels as positions in ``levels``; owners are those that occur and belong to a later feature.
    """

    level: int
    levels: Positions
    stand_in: Positions
    pairs: tuple[PairCounts, ...] = ()

    def positions(self, feature: Positions) -> Positions:
        """Map the numbers of all levels, given the feature of each, to positions in ``levels``.

        The level's own feature has none, -1.
        """
        positions = self.stand_in[feature]
        positions[self.levels] = np.arange(len(self.levels))
        return positions


Plan: TypeAlias = tuple[WithinLevel, list[int], list[tuple[Positions, Positions]]]
"""A level, without pairs yet, the number of levels of each other feature there, and owners and columns."""


@record
@dataclass(frozen=True, eq=False)
class Cooccurrence(Immutable):
    """Counts of levels by class, each over the rows in which all that is counted is observed.

    Attributes
    ----------
    cards : tuple of int
        The number of levels of each feature.
    classes : (classes,) array
        The rows of each class.
    single : (levels, classes) array
        The rows that have a level.
    pairs : tuple of PairCounts
        The rows that have both of two levels, each level the owner in one; empty if not counted.
    triples : tuple of WithinLevel
        The rows that have three, for each level beside which one of a later feature occurs.
    """

    cards: tuple[int, ...]
    classes: Array
    single: Array
    pairs: tuple[PairCounts, ...] = ()
    triples: tuple[WithinLevel, ...] = ()

    @cached_property
    def feature(self) -> Positions:
        """The feature of each level."""
        return np.repeat(np.arange(len(self.cards)), self.cards)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Where the levels of each feature lie among those of all."""
        return tuple([slice(start, end) for start, end in pairwise(accumulate((0, *self.cards)))])

    @cached_property
    def pair_rows(self) -> Array:
        """How many rows know both of two features, (features, features)."""
        rows = np.zeros((len(self.cards), len(self.cards)))
        for pairs in self.pairs:
            beside = pairs.counts.sum(axis=1, dtype=np.float64)
            np.add.at(rows, np.ix_(self.feature[pairs.owners], self.feature[pairs.levels]), beside)
        return rows

    def beside(self, level: int) -> Counts:
        """Return the rows that have a level and each level of other features, (classes, levels)."""
        for pairs in self.pairs:
            at = int(np.searchsorted(pairs.owners, level))
            if at < len(pairs.owners) and pairs.owners[at] == level:
                return np.asarray(pairs.counts[at][:, pairs.columns])
        raise KeyError(level)

    def table(self, *features: int) -> Array:
        """Return the counts of the joint levels of features counted together, (levels…, classes)."""
        if not features:
            return self.classes
        if len(features) == 1:
            return self.single[self.spans[features[0]]]
        cards = [self.cards[f] for f in features]
        table = np.zeros((*cards, len(self.classes)))
        if len(features) == 2:
            for pairs in self.pairs:
                _put(table, pairs, np.arange(len(self.feature)), [self.spans[f] for f in features])
            return table
        order = np.argsort(features)
        first, second, third = (self.spans[features[i]] for i in order)
        ascending = table.transpose(*order, 3)
        for within in self.triples:
            if first.start <= within.level < first.stop:
                for pairs in within.pairs:
                    _put(ascending[within.level - first.start], pairs, within.levels, [second, third])
        return table


def _put(table: Array, pairs: PairCounts, levels: Positions, spans: Sequence[slice]) -> None:
    """Put the counts of two features into their table, (levels, levels, classes)."""
    first, second = spans
    owners, others = levels[pairs.owners], levels[pairs.levels]
    rows = np.nonzero((owners >= first.start) & (owners < first.stop))[0]
    columns = np.nonzero((others >= second.start) & (others < second.stop))[0]
    if len(rows):
        cells = np.ix_(owners[rows] - first.start, others[columns] - second.start)
        table[cells] = pairs.counts[rows][..., columns].transpose(0, 2, 1)


def count_cooccurrence(data: Countable, most: int) -> Cooccurrence:
    """Count levels, pairs of them if ``most`` is at least 2, and triples if it is 3.

    Parameters
    ----------
    data : Dataset
        The features, and at the end the class, which no row lacks.
    most : int

    Raises
    ------
    ValueError
        If the tables would take more than ``MAX_BYTES``; those of pairs become floats later.
    """
    *cards, n_classes = data.cards
    classes = contingency_tables(data, [(len(cards),)])[0]
    if most < 2 or not cards:
        return Cooccurrence(tuple(cards), classes, _count_single(data))
    layouts = list(_lay_out(cards, np.arange(sum(cards)), n_classes))
    _check_size(data, "pairs", layouts, 8)
    counts = data.add_up(partial(_count_layouts, layouts))
    pairs = tuple([PairCounts(*layout, narrow(cells)) for layout, cells in zip(layouts, counts, strict=True)])
    single = np.empty((sum(cards), n_classes))
    for table in pairs:
        single[table.owners] = table.counts[np.arange(len(table.owners)), :, table.owner_columns]
    both = Cooccurrence(tuple(cards), classes, single, pairs)
    return replace(both, triples=_count_triples(data, both)) if most > 2 else both


def _check_size(
    data: Countable, kind: str, layouts: Sequence[tuple[Positions, Positions]], bytes_per_cell: int
) -> None:
    """Raise a ValueError if tables would take more than ``MAX_BYTES``, with so many a cell."""
    *cards, n_classes = data.cards
    cells = n_classes * sum(len(owners) * (int(columns[-1]) + 1) for owners, columns in layouts)
    if cells * bytes_per_cell > MAX_BYTES:
        wide = how_to_merge(zip(data.columns, cards, strict=False))
        raise ValueError(
            f"dataset: tables of all {kind} of the {sum(cards):,} levels of {len(cards):,} features would "
            f"have {cells:,} cells and take {cells * bytes_per_cell / 2**30:,.1f} GiB, more than "
            f"{MAX_BYTES / 2**30:g}; use a smaller n, fewer features, or {wide}"
        )


def _count_single(data: Countable) -> Array:
    """Count the levels of all features by class, those with equally many levels at once."""
    *cards, n_classes = data.cards
    starts = np.cumsum([0, *cards])
    single = np.empty((starts[-1], n_classes))
    for alike, tables in count_alike(data, [(f, len(cards)) for f in range(len(cards))]):
        single[starts[alike][:, None] + np.arange(tables.shape[1])] = tables
    return single


def _lay_out(
    cards: Sequence[int], owners: Positions, n_classes: int
) -> Iterator[tuple[Positions, Positions]]:
    """Yield owners and columns of tables of pairs, see `PairCounts`.

    One table, or two if one feature has more levels than all others together: these never meet each other,
    so one table would be mostly empty.
    """
    every = np.arange(sum(cards))
    longest = int(np.argmax(cards))
    start, card = sum(cards[:longest]), cards[longest]
    is_long = (owners >= start) & (owners < start + card)
    if not is_long.any() or 2 * card <= len(every) or len(owners) * len(every) * n_classes <= _SMALL:
        yield owners, every
        return
    if not is_long.all():
        yield owners[~is_long], every
    yield owners[is_long], np.where(every < start, every, np.maximum(every - card + 1, start))


def _count_layouts(layouts: Sequence[tuple[Positions, Positions]], data: Dataset) -> list[Counts]:
    return [narrow(_count_pairs(data, *layout)) for layout in layouts]


def _count_pairs(data: Dataset, owners: Positions, columns: Positions) -> Counts:
    """Return how often levels of pairs occur; see `PairCounts`."""
    *cards, n_classes = data.cards
    feature = np.repeat(np.arange(len(cards)), cards)
    code = np.arange(len(feature)) - np.repeat(np.cumsum(cards) - cards, cards)
    if columns[-1] + 1 == len(feature) <= _FEW_LEVELS * len(cards):
        is_owner = np.isin(columns, owners)
        tables = pair_tables(data, feature, code, len(cards), None if is_owner.all() else is_owner)
        return np.stack(tables, axis=1)
    counts = np.zeros((len(owners), n_classes, columns[-1] + 1))
    for i in np.unique(feature[owners]).tolist():
        rows = np.nonzero(feature[owners] == i)[0]
        codes = code[owners[rows]]
        counts[rows, :, columns[owners[rows]]] = contingency_tables(data, [(i, len(cards))])[0][codes]
        for card in set(cards):
            alike = [j for j, other in enumerate(cards) if other == card and j != i]
            if alike:
                joint = contingency_tables(data, [(i, len(cards), j) for j in alike])
                for j, table in zip(alike, joint, strict=True):
                    counts[rows[0] : rows[-1] + 1, :, columns[feature == j]] = table[codes]
    return counts


def plan_triples(both: Cooccurrence) -> list[Plan]:
    """Return for each level beside which some of a later feature occurs how pairs are counted there."""
    plans = []
    for level in np.nonzero(both.feature < len(both.cards) - 1)[0].tolist():
        within, owners = _look_beside(both, level)
        if len(owners):
            cards = np.unique(both.feature[within.levels], return_counts=True)[1].tolist()
            plans.append((within, cards, list(_lay_out(cards, owners, len(both.classes)))))
    return plans


def _count_triples(data: Countable, both: Cooccurrence) -> tuple[WithinLevel, ...]:
    """Count pairs within the rows of each level, among the levels that occur there."""
    plans = plan_triples(both)
    width = narrow(both.single).itemsize
    _check_size(data, "triples", [layout for *_, layouts in plans for layout in layouts], width)
    counted = data.add_up(partial(_count_within, both, plans))
    triples = []
    for (within, _, layouts), counts in zip(plans, counted, strict=True):
        pairs = [PairCounts(*layout, narrow(cells)) for layout, cells in zip(layouts, counts, strict=True)]
        triples.append(replace(within, pairs=tuple(pairs)))
    return tuple(triples)


def _count_within(both: Cooccurrence, plans: Sequence[Plan], data: Dataset) -> list[list[Counts]]:
    """Count the pairs that are planned within the rows of each level."""
    counts = []
    for within, cards, layouts in plans:
        rows = _rows_within(data, both, within, cards)
        counts.append([narrow(_count_pairs(rows, *layout)) for layout in layouts])
    return counts


def _look_beside(both: Cooccurrence, level: int) -> tuple[WithinLevel, Positions]:
    """Return the levels to count beside one, and the positions of the owners among them."""
    occurs = both.beside(level).sum(axis=0) > 0
    same_feature = both.feature == both.feature[level]
    absent = np.nonzero(~occurs & ~same_feature)[0]
    features, first = np.unique(both.feature[absent], return_index=True)
    levels = np.sort(np.concatenate([np.nonzero(occurs & ~same_feature)[0], absent[first]]))
    stand_in = np.full(len(both.cards), -1)
    stand_in[features] = np.searchsorted(levels, absent[first])
    owners = np.nonzero(occurs[levels] & (both.feature[levels] > both.feature[level]))[0]
    return WithinLevel(level, levels, stand_in), owners


def _rows_within(data: Dataset, both: Cooccurrence, within: WithinLevel, cards: Sequence[int]) -> Dataset:
    """Return the rows that have a level, the other features coded by the levels that are counted there."""
    feature = int(both.feature[within.level])
    others = [f for f in range(len(both.cards)) if f != feature]
    rows = take_rows(data, data.codes[feature] == within.level - both.spans[feature].start)
    starts = np.array([[both.spans[f].start] for f in others])
    positions = within.positions(both.feature)[rows.codes[others] + starts]
    codes = np.where(rows.codes[others] < 0, -1, positions - (np.cumsum(cards) - cards)[:, None])
    coded = np.concatenate([codes, rows.codes[-1:]]).astype(code_type(max(*cards, data.cards[-1])))
    names = [data.columns[f] for f in (*others, -1)]
    levels = tuple([tuple(range(card)) for card in (*cards, data.cards[-1])])
    return replace(rows, schema=Schema(tuple(names), levels), codes=coded)
