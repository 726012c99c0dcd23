"""Tables of families in every fold, in logs, and what families add to the log joint of tested rows.

A family is a variable and its parents. Families that share all but their last parent, their *head*,
are counted together and their tables laid side by side, since a step of a search asks for many of
them. Families with so many joint values that a table would be longer than the rows are left to
`rowwise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import numpy as np

from ...base.arrays import Array, log, normalize
from ...base.caches import Cache
from ...counts.contingency import contingency_tables
from ...counts.pairs import all_pair_counts
from ...network.priors import PseudoCounts
from .contrasts import Contrasts
from .folded import FoldedData, Index
from .neighbours import Parents
from .rowwise import RowwiseTables

Family = tuple[int, ...]

_KEPT_BYTES = 2**27  # of tables, and of what families add
_PAIR_LEVELS = 12  # of a feature on average, up to where all pairs are best counted at once
_PAIR_CELLS = 2**22  # and up to so many counts
_TABLE_CELLS = 2**21  # of families whose tables are made at once
_SMALL_CELLS = 2**14  # up to here a table is worth while for any number of rows


@dataclass(frozen=True, eq=False)
class HeadTables:
    """Logs of families with one head.

    Attributes
    ----------
    planes : (planes, states, width) array
        A state is a fold with values of the head. The levels of all last parents lie side by side.
    starts : dict
        The position at which the levels of a last parent begin, by its number.
    """

    planes: Array
    starts: dict[int, int]

    @cached_property
    def low(self) -> Array:
        """The least in each state over all levels, (planes, states)."""
        return self.planes.min(axis=2)

    @cached_property
    def high(self) -> Array:
        """The greatest in each state over all levels, (planes, states)."""
        return self.planes.max(axis=2)

    @cached_property
    def flat(self) -> Array:
        """The planes, (planes, states · width)."""
        return self.planes.reshape(len(self.planes), -1)

    @property
    def width(self) -> int:
        """How many levels lie side by side."""
        return self.planes.shape[2]


class FamilyTables:
    """Count families in every fold and give what they add to the log joint.

    Parameters
    ----------
    data : FoldedData
    prior : PseudoCounts
        Makes tables of counts.
    contrasts : Contrasts
        How logs of classes are held.
    """

    def __init__(self, data: FoldedData, prior: PseudoCounts, contrasts: Contrasts) -> None:
        self.data, self.prior, self.contrasts = data, prior, contrasts
        self._offsets = np.cumsum([0, *data.cards[: data.group]])
        self._widest: dict[Family, int] = {}
        self._heads: Cache[list[HeadTables]] = Cache(_KEPT_BYTES // 2, share=8)
        self._states: Cache[Index] = Cache(_KEPT_BYTES)
        self._added: Cache[Array] = Cache(2 * _KEPT_BYTES)
        self._by_row = RowwiseTables(data, prior, contrasts)

    def turn(self) -> None:
        """Begin a step of the search: what the one before the last asked for need not be kept."""
        for cache in (self._heads, self._states, self._added, self._by_row):
            cache.turn()

    def of_class(self) -> Array:
        """Return what the class itself adds, (planes, tested rows)."""
        return self.data.by_row(self._of_class)

    @cached_property
    def _of_class(self) -> Array:
        """What the class itself adds in each fold, (planes, folds)."""
        counts = contingency_tables(self.data.grouped, [(self.data.group,)])[0]
        trained = self.data.trained(counts)
        shares = normalize(trained + self.prior.per_cell(self.data.n_classes, 1), axis=1)
        return self.contrasts.planes(log(shares), axis=1)

    def added(self, variable: int, parents: Parents) -> Array:
        """Return what a family adds to tested rows, (planes, tested rows); 0 where a member is missing."""
        family = (variable, *parents)
        kept = self._added.get(family)
        if kept is not None:
            return kept
        head, last = self.split(variable, parents)
        added = self._look_up(head, last) if self.fits(head, last) else self._by_row.added(variable, parents)
        observed = self.data.observed(family)
        if observed is not None:
            added *= observed
        return self._added.put(family, added, added.nbytes)

    def split(self, variable: int, parents: Parents) -> tuple[Family, int]:
        """Return the head of a family, and the last parent."""
        return ((variable, *parents[:-1]), parents[-1]) if parents else ((variable,), self.data.no_parent)

    def fits(self, head: Family, last: int) -> bool:
        """Tell whether the table of a family is short enough to be worth while."""
        widest = self._widest.get(head)
        if widest is None:
            cells = max(2 * self.data.n_tested * self.data.n_classes, _SMALL_CELLS)
            widest = self._widest[head] = min(cells, _TABLE_CELLS) // self._slices(head)
        return self.data.cards[last] <= widest

    def of_head(self, head: Family, lasts: Sequence[int]) -> list[tuple[HeadTables, list[int]]]:
        """Return tables that together hold the families of a head with these last parents, which fit."""
        result = []
        for tables in self._heads.get(head) or []:
            covered = [last for last in lasts if last in tables.starts]
            if covered:
                result.append((tables, covered))
                lasts = [last for last in lasts if last not in tables.starts]
        while lasts:
            widths = accumulate(self.data.cards[q] for q in lasts)
            n = sum(1 for width in widths if self._slices(head) * width <= _TABLE_CELLS)
            covered, lasts = [*lasts[: max(1, n)]], lasts[max(1, n) :]
            result.append((self._make(head, covered), covered))
        return result

    def states(self, head: Family) -> Index:
        """Return the state of each tested row: its fold with its values of the head, missing as the first."""
        kept = self._states.get(head)
        if kept is not None:
            return kept
        n_states = prod(self.data.cards[u] for u in head)
        states = np.zeros(self.data.n_tested, dtype=np.intp)
        for u in head:
            states *= self.data.cards[u]
            codes = self.data.tested[u]
            states += np.maximum(codes, 0) if u in self.data.partial else codes
        states += self.data.by_row(np.arange(self.data.n_folds) * n_states)
        return self._states.put(head, states, states.nbytes)

    def _slices(self, head: Family) -> int:
        """Return how many cells a level of the last parent has."""
        return self.data.n_groups * prod(self.data.cards[u] for u in head)

    def _look_up(self, head: Family, last: int) -> Array:
        [(tables, _)] = self.of_head(head, [last])
        index = self.states(head) * tables.width
        index += tables.starts[last]
        index += self.data.tested[last]
        return tables.flat.take(index, axis=1)  # a missing value, -1, leads to some other cell

    def _make(self, head: Family, lasts: Sequence[int]) -> HeadTables:
        """Make the tables of a head with these last parents, of a single variable with all that fit."""
        if len(head) == 1:  # the others will be asked for soon
            every = [q for q in range(self.data.group) if q not in head and self.fits(head, q)]
            if self._slices(head) * sum(self.data.cards[q] for q in every) <= _TABLE_CELLS:
                lasts = every
        counts = self._count(head, lasts)
        card, *parent_cards = (self.data.cards[u] for u in head)
        trained = self.data.trained(counts.reshape(len(counts), card, -1, counts.shape[-1]))
        of_last = np.repeat([self.data.cards[q] for q in lasts], [self.data.cards[q] for q in lasts])
        trained += self.prior.per_cell(card, of_last * prod(parent_cards) * self.data.n_classes)
        planes = self.contrasts.planes(log(normalize(trained, axis=2)), axis=1)
        starts = accumulate((self.data.cards[q] for q in lasts), initial=0)
        planes = planes.reshape(len(planes), -1, planes.shape[-1])
        tables = HeadTables(planes, dict(zip(lasts, starts, strict=False)))
        all_tables = [*(self._heads.get(head) or []), tables]
        self._heads.put(head, all_tables, sum(t.planes.nbytes for t in all_tables))
        return tables

    def _count(self, head: Family, lasts: Sequence[int]) -> Array:
        """Count groups and values of the head with the levels of last parents side by side."""
        if len(head) == 1 and self._pairs is not None:
            pairs = self._pairs[self._offsets[head[0]] : self._offsets[head[0] + 1]]
            return np.ascontiguousarray(np.moveaxis(pairs[:, :, self._columns(lasts)], 1, 0))
        n_groups = self.data.n_groups
        starts = np.cumsum([0, *(self.data.cards[q] for q in lasts)])
        counts = np.empty((n_groups, self._slices(head) // n_groups, starts[-1]))
        for card in {self.data.cards[q] for q in lasts}:
            alike = [i for i, q in enumerate(lasts) if self.data.cards[q] == card]
            families = [(self.data.group, *head, lasts[i]) for i in alike]
            tables = contingency_tables(self.data.grouped, families)
            for i, table in zip(alike, tables, strict=True):
                counts[:, :, starts[i] : starts[i + 1]] = table.reshape(n_groups, -1, card)
        return counts

    @cached_property
    def _pairs(self) -> Array | None:
        """Counts of all pairs of levels by group, (levels, groups, levels), or None if that would not pay."""
        if self.data.grouped.is_weighted and not self.data.partition:
            return None  # products add weights up in another order for all rows than for those of a fold
        n_levels = self._offsets[-1]
        if n_levels > _PAIR_LEVELS * self.data.group or n_levels**2 * self.data.n_groups > _PAIR_CELLS:
            return None
        return all_pair_counts(self.data.grouped, range(self.data.group), self.data.group)

    def _columns(self, features: Sequence[int]) -> Index:
        """Return where the levels of features stand among those of all."""
        return np.concatenate([np.arange(self._offsets[q], self._offsets[q + 1]) for q in features])
