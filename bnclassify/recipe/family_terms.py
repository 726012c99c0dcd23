"""The terms of families in log-linear models: sums of raised tables over discretizations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..base.arrays import Array, Codes
from ..base.immutable import cached_property
from ..network.families import Scope
from ..scores.formulas import Coding, Table
from .tables import PrefixTable
from .terms import Power, RaisedTable, by_depth

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25

Part = tuple[tuple[Coding, ...], RaisedTable]
"""A raised table, and the coding of each of its features; none if the rows are not coded."""


@dataclass(frozen=True, eq=False)
class FamilyTerm:
    """The sum of the raised tables of a family over discretizations, a term of `Sum`.

    ``cards`` are the numbers of levels of the features in scope before they are coded. ``check``
    raises an error if the terms of the model are too large to be written.
    """

    owner: int
    scope: Scope
    cards: tuple[int, ...]
    parts: tuple[Part, ...]
    check: Callable[[], None]

    @cached_property
    def _fine(self) -> Table | None:
        """The sum as a table, if there are several codings and few cells."""
        # 2**12: maximum number of cells of a table of the sums over all discretizations
        is_small = prod([card + 1 for card in self.cards]) <= 2**12
        return (
            self._sum_of_tables(self._tables_by_coding()) if self.parts[0][0] and is_small else None
        )

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return the values at rows, (rows or 1, classes or 1)."""
        if self._fine is not None:
            return self._fine.entries_of_rows(codes)
        if len(self.parts) == 1:
            [(codings, term)] = self.parts
            return term.logs(self._codes_in_coding(codings, codes) if codings else codes)
        return np.asarray(
            sum(term.logs(self._codes_in_coding(codings, codes)) for codings, term in self.parts)
        )

    def _codes_in_coding(self, codings: Sequence[Coding], codes: Codes) -> dict[int, Codes]:
        """Return the codes of the features in scope, in a coding."""
        pairs = zip(self.scope, codings or (None,) * len(self.scope), strict=True)
        return {v: codes[v] if coding is None else coding[codes[v]] for v, coding in pairs}

    @cached_property
    def owner_entries(self) -> Array:
        """The log tables without feature parents, raised to the powers of those with parents."""
        codes = np.arange(self.cards[0])
        found = sum(
            term.alone(codes if not codings or codings[0] is None else codings[0][codes])
            for codings, term in self.parts
        )
        logs = np.asarray(found)
        return np.concatenate([logs, np.zeros((1, logs.shape[1]))])

    def plain_terms(self) -> tuple[Table, ...]:
        """Return the tables of all discretizations, or their sum if it has fewer cells."""
        self.check()
        tables = self._tables_by_coding()
        if len(tables) > 1 and self.cells <= sum(prod(table.logs.shape[:-1]) for table in tables):
            return (self._sum_of_tables(tables),)
        return tuple(tables)

    @property
    def cells(self) -> int:
        """The number of configurations of the features in scope."""
        return prod([card + 1 for card in self.cards])

    @property
    def written_cells(self) -> int:
        """The number of configurations in the tables of `plain_terms`."""
        sizes = [term.table.cards[self.owner < 0 :] for _, term in self.parts]
        return min(self.cells, sum(prod([card + 1 for card in cards]) for cards in sizes))

    def _tables_by_coding(self) -> list[Table]:
        """Return a table per discretization."""
        return [self._table_in_coding(*part) for part in self.parts]

    def _table_in_coding(self, codings: tuple[Coding, ...], term: RaisedTable) -> Table:
        """Return a term as a table of all values of its features, in a discretization."""
        cards = tuple([card + 1 for card in term.table.cards[self.owner < 0 :]])
        grid = np.indices(cards).reshape(len(cards), prod(cards))
        grid[grid == np.array(cards, dtype=int)[:, None] - 1] = -1
        logs = term.logs(dict(zip(self.scope, grid, strict=True)))
        return Table(self.owner, self.scope, logs.reshape(*cards, logs.shape[-1]), codings)

    def _sum_of_tables(self, tables: Sequence[Table]) -> Table:
        """Return the sum of tables as a table of the codes before they are coded."""
        joined = np.zeros(
            [card + 1 for card in self.cards] + [max(t.logs.shape[-1] for t in tables)]
        )
        for table in tables:
            pairs = zip(table.codings or (None,) * len(self.cards), self.cards, strict=True)
            places = [np.append(np.arange(r), -1) if c is None else c for c, r in pairs]
            joined += table.logs[np.ix_(*places)] if places else table.logs
        return Table(self.owner, self.scope, joined)


def family_terms(
    scopes: Sequence[Scope],
    cards: Sequence[int],
    tables: Sequence[Sequence[PrefixTable]],
    powers: Sequence[Sequence[Power]],
    codings: Sequence[Sequence[Coding]],
    check: Callable[[], None],
) -> tuple[FamilyTerm, ...]:
    """Return a term for each family with a power.

    ``tables`` are those of each discretization, ``powers`` those of the mean over the first
    discretizations, and of each of the last ones that is apart. ``codings`` has those of all
    features in each discretization, if there are several.
    """
    common, *of_others = powers
    n, of_class, found = len(tables) - len(of_others), len(scopes) - 1, dict[int, list[Part]]()
    chosen = []
    for i, _scope in enumerate(scopes):
        times = Counter(id(own[i]) for own in tables[:n])
        shares = [times.pop(id(own[i]), 0) / n for own in tables[:n]]
        weighed = [(share, common) for share in shares] + [(1.0, others) for others in of_others]
        for position, (share, of_families) in enumerate(weighed):
            table = tables[position][i]
            raised = share * by_depth(of_families[i], len(table.cards))
            if raised.any():
                chosen.append((i, position, table, raised))
    most = _most_cells([table for _, _, table, _ in chosen])
    features = [tuple([v for v in scope if v != of_class]) for scope in scopes]
    for i, position, table, raised in chosen:
        own = tuple([codings[position][v] for v in features[i]]) if codings else ()
        found.setdefault(i, []).append((own, RaisedTable(table, features[i], raised, most)))
    return tuple(
        [
            FamilyTerm(
                i if i < of_class else -1,
                features[i],
                tuple([cards[v] for v in features[i]]),
                tuple(parts),
                check,
            )
            for i, parts in found.items()
        ]
    )


def _most_cells(tables: Sequence[PrefixTable]) -> float:
    """Return the largest number of cells of a table that is written out."""
    sizes = np.sort([table.cells for table in tables])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    return float(min(_MOST_CELLS, allowed.max(initial=0)))
