"""Counts of levels that occur together in each class: alone, in pairs, in triples.

The levels of all features are numbered consecutively, in the order of the
features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..counts import (
    MAX_CELLS,
    Counts,
    Recoding,
    contingency_table,
    count_families,
    count_pairs,
    recode_counts,
    to_narrowest_type,
)
from ..dataset import Countable, Dataset, Schema
from ..tools.arrays import Array, Mask, Positions, Slice, code_type, sum_nested
from ..tools.immutable import COUNT, Immutable, cached_property, field_bounds, record
from ..tools.messages import how_to_merge
from .look_up import level_positions, spans_of_levels

MAX_BYTES = 8 * MAX_CELLS
"""Maximum memory of tables of counts, 1 GiB."""


@record
@dataclass(frozen=True, eq=False)
class Cooccurrence(Immutable):
    """Counts of levels by class, each over the rows in which all counted features are observed.

    `cards` has the number of levels of each feature, `classes` is a (classes,)
    array, and `single` a (levels, classes) array. `pairs`, (levels, classes,
    levels), has the count of a level on its diagonal and 0 at other levels of
    the same feature; it has no rows if pairs are not counted. `triples` has one
    array per level, (owners, classes, columns), over the rows with that level:
    see `LevelsTogether`.
    """

    bounds = field_bounds(cards=COUNT, classes=COUNT, single=COUNT, pairs=COUNT, triples=COUNT)

    cards: tuple[int, ...]
    classes: Array
    single: Array
    pairs: Counts
    triples: tuple[Counts, ...] = ()

    @cached_property
    def feature_of_level(self) -> Positions:
        """The feature of each level."""
        return np.repeat(np.arange(len(self.cards)), self.cards)

    @cached_property
    def spans_of_features(self) -> tuple[Slice, ...]:
        """The slice of the levels of each feature."""
        return spans_of_levels(self.cards)

    @cached_property
    def n_rows_of_pairs(self) -> Array:
        """The number of rows in which both of two features are observed, (features, features)."""
        starts = [span.start for span in self.spans_of_features]
        by_level = np.add.reduceat(self.pairs.sum(axis=1, dtype=np.float64), starts, axis=0)
        rows: Array = np.add.reduceat(by_level, starts, axis=1)
        return rows

    def __add__(self, other: Cooccurrence) -> Cooccurrence:
        pairs = to_narrowest_type(sum_nested([self.pairs, other.pairs]))
        classes, single = self.classes + other.classes, self.single + other.single
        both = Cooccurrence(self.cards, classes, single, pairs)
        every = np.arange(len(self.feature_of_level)), np.arange(len(self.classes))
        return _add_triples(both, [_Source(self, *every), _Source(other, *every)])

    def recoded(self, recodings: Sequence[Recoding]) -> Cooccurrence:
        """Return the counts for other levels of the features and then of the class."""
        *features, of_class = recodings
        cards = tuple([card for _, card in features])
        spans = spans_of_levels(cards)
        levels = [span.start + codes for span, (codes, _) in zip(spans, features, strict=True)]
        of_level = Recoding(np.concatenate([np.empty(0, dtype=np.intp), *levels]), sum(cards))
        classes = recode_counts(self.classes, [of_class])
        single = recode_counts(self.single, [of_level, of_class])
        pairs: Counts = np.empty((0, of_class.card, 0))
        if len(self.pairs):
            pairs = recode_counts(self.pairs, [of_level, of_class, of_level])
        both = Cooccurrence(cards, classes, single, pairs)
        return _add_triples(both, [_Source(self, of_level.codes, of_class.codes)])

    def levels_counted_with(self, level: int) -> LevelsTogether:
        """Return which levels are counted together in the rows with a level."""
        # Of features a (levels 0, 1), b (2, 3) and c (4, 5, 6, 7), let level 0 occur with 2, 4 and
        # 5. Of each feature, one column stands for all absent levels: kept = [2, 3, 4, 5, 6], and 7
        # has the column of 6.
        own: Mask = self.feature_of_level == self.feature_of_level[level]
        occurs: Mask = self.levels_occurring_with(level) & ~own
        absent = np.flatnonzero(~occurs & ~own)
        features, first = np.unique(self.feature_of_level[absent], return_index=True)
        kept = occurs.copy()
        kept[absent[first]] = True
        columns = np.where(kept, np.cumsum(kept) - 1, -1)
        stand_in = np.full(len(self.cards), -1)
        stand_in[features] = columns[absent[first]]
        columns[absent] = stand_in[self.feature_of_level[absent]]
        later: Mask = self.feature_of_level > self.feature_of_level[level]
        return LevelsTogether(level, np.flatnonzero(kept), columns, np.flatnonzero(occurs & later))

    def levels_counted_with_each_level(self) -> list[LevelsTogether]:
        """Return which levels are counted together in the rows with each level."""
        return [self.levels_counted_with(level) for level in range(len(self.feature_of_level))]

    def levels_occurring_with(self, level: int) -> Mask:
        """Return which levels occur together with a level, itself included."""
        return np.asarray(self.pairs[level, :].any(axis=0))

    @property
    def has_triples(self) -> bool:
        """Whether there are counts of triples for each level."""
        plan, n_classes = self.levels_counted_with_each_level(), len(self.classes)
        shapes = [(len(together.owners), n_classes, len(together.kept)) for together in plan]
        return [cells.shape for cells in self.triples] == shapes

    def counts_of_features(self, *features: int) -> Array:
        """Return counts of joint levels of features counted together, (levels…, classes)."""
        if not features:
            return self.classes
        spans = [self.spans_of_features[f] for f in features]
        if len(features) == 1:
            return self.single[spans[0]]
        if len(features) == 2:
            return np.asarray(
                self.pairs[spans[0], :, spans[1]].transpose(0, 2, 1), dtype=np.float64
            )
        table = np.zeros((*[self.cards[f] for f in features], len(self.classes)))
        order = sorted(range(3), key=features.__getitem__)
        first, second, third = [spans[i] for i in order]
        for level, cells in enumerate(self.triples[first], first.start):
            together = self.levels_counted_with(level)
            here: Mask = (together.owners >= second.start) & (together.owners < second.stop)
            owners: Positions = together.owners[here] - second.start
            counts: Counts = cells[here][..., together.columns[third]]
            table.transpose(*order, 3)[level - first.start, owners] = counts.transpose(0, 2, 1)
        return table


@dataclass(frozen=True, eq=False)
class LevelsTogether:
    """The levels that are counted together in the rows with one level.

    `kept` has the observed levels of other features, and one level per feature
    for all unobserved ones. `columns` maps levels to positions among them, -1
    in the same feature. `owners` are the observed levels of later features.
    """

    level: int
    kept: Positions
    columns: Positions
    owners: Positions


class _Source(NamedTuple):
    """Counts, and the numbers that their levels and classes have in other counts."""

    counts: Cooccurrence
    levels: Positions
    classes: Positions


def count_cooccurrence(data: Countable, most: int) -> Cooccurrence:
    """Count levels, pairs if `most` is 2 or more, triples if it is 3; too large tables raise."""
    *cards, n_classes = data.cards
    classes: Array = contingency_table(data, (len(cards),))
    if most < 2 or not cards:
        tables = count_families(data, [(f, len(cards)) for f in range(len(cards))])
        single = np.concatenate([np.empty((0, n_classes)), *tables])
        return Cooccurrence(tuple(cards), classes, single, np.empty((0, n_classes, 0)))
    # Log tables, with as many cells, are floats.
    _check_memory_of_tables(data, "pairs", sum(cards) ** 2 * n_classes, 8)
    pairs = count_pairs(data)
    single = pairs[np.arange(len(pairs)), :, np.arange(len(pairs))].astype(np.float64)
    both = Cooccurrence(tuple(cards), classes, single, pairs)
    if most < 3:
        return both
    plan = both.levels_counted_with_each_level()
    cells = n_classes * sum(len(together.owners) * len(together.kept) for together in plan)
    _check_memory_of_tables(data, "triples", cells, to_narrowest_type(both.single).itemsize)
    triples = data.sum_over_parts(partial(_count_triples, both, plan))
    return replace(both, triples=tuple(map(to_narrowest_type, triples)))


def _check_memory_of_tables(data: Countable, what: str, cells: int, bytes_per_cell: int) -> None:
    """Raise a ValueError if tables would need more than `MAX_BYTES`."""
    *cards, _ = data.cards
    if cells * bytes_per_cell > MAX_BYTES:
        wide = how_to_merge(zip(data.columns, cards, strict=False))
        raise ValueError(
            f"dataset: tables of all {what} of the {sum(cards):,} levels of {len(cards):,} "
            f"features would have {cells:,} cells and need {cells * bytes_per_cell / 2**30:,.1f} "
            f"GiB, more than {MAX_BYTES / 2**30:g}. Use a smaller n, fewer features, or {wide}."
        )


def _count_triples(
    both: Cooccurrence, plan: Sequence[LevelsTogether], data: Dataset
) -> list[Counts]:
    """Count pairs of a level and an owner within the rows of each level."""
    triples: list[Counts] = []
    for together in plan:
        if len(together.owners):
            feature, spans = int(both.feature_of_level[together.level]), both.spans_of_features
            rows = data.take_rows(data.codes[feature] == together.level - spans[feature].start)
            others = [f for f in range(len(both.cards)) if f != feature]
            # in the example of `levels_counted_with`, level 0 is counted with 2 and 3 of b, coded 0
            # and 1, and with 4, 5, 6 of c, coded 0, 1, 2
            n_levels = np.bincount(both.feature_of_level[together.kept], minlength=len(both.cards))
            cards = n_levels[others]
            firsts: Positions = np.cumsum(cards) - cards  # the first column of each feature
            levels = level_positions(rows.codes[others], [spans[f] for f in others])
            codes = np.where(levels < 0, -1, together.columns[levels] - firsts[:, None])
            n_classes = data.cards[-1]
            dtype = code_type(max(*cards, n_classes))
            coded = np.concatenate([codes, rows.codes[-1:]]).astype(dtype)
            labels = tuple([tuple(range(card)) for card in (*cards.tolist(), n_classes)])
            names = tuple([data.columns[f] for f in (*others, -1)])
            rows = replace(rows, schema=Schema(names, labels), codes=coded)
            triples.append(count_pairs(rows, together.columns[together.owners]))
        else:
            triples.append(np.empty((0, len(both.classes), len(together.kept))))
    return triples


def _add_triples(both: Cooccurrence, sources: Sequence[_Source]) -> Cooccurrence:
    """Add the triples of other counts, laid out again, as further levels may occur together."""
    if not any(counts.triples for counts, *_ in sources):
        return both
    triples = []
    for together in both.levels_counted_with_each_level():
        total = np.zeros((len(together.owners), len(both.classes), len(together.kept)))
        for counts, levels, classes in sources:
            for level in np.flatnonzero(levels == together.level).tolist():
                own = counts.levels_counted_with(level)
                rows = np.searchsorted(together.owners, levels[own.owners])
                occurs = counts.levels_occurring_with(level)[own.kept]
                columns: Positions = together.columns[levels[own.kept[occurs]]]
                total[np.ix_(rows, classes, columns)] += counts.triples[level][..., occurs]
        triples.append(to_narrowest_type(total))
    return replace(both, triples=tuple(triples))
