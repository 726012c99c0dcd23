"""The terms of families in log-linear models: sums of raised tables over discretizations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from ..base.arrays import Array, Codes, Mask, log
from ..base.immutable import cached_property
from ..counts.contingency import flat_index
from ..network.families import Scope
from ..scores.formulas import Coding, Table
from .prefix_tables import PrefixTable, class_probabilities, feature_probabilities

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_CALL = 2**12  # number of values that are looked up in the time that a call takes

Power: TypeAlias = float | tuple[float, ...]
"""The power of the table of a family, or one power per number 0, 1, … of its feature parents."""


class RaisedTable:
    """The log tables of a family times their powers by number of parents.

    Their sum is written out as a table, if it is not too large, once rows have been asked for as
    many values as it has; the values of fewer rows are worked out from the counts.
    """

    def __init__(
        self, table: PrefixTable, features: Scope, powers: Array, most_cells: float
    ) -> None:
        self.table = table
        self.features = features
        self.powers = powers
        self.most_cells = most_cells
        self.of_class = len(features) < len(table.cards)
        self._asked = 0

    @cached_property
    def log_table(self) -> Array:
        """The logs of all configurations, (values of the features, classes)."""
        levels, *cards = self.table.cards
        logs = self._sum_of_raised_logs(self.table.grids_by_depth())
        columns = levels if self.of_class else logs.shape[-1]
        return np.broadcast_to(logs, (*cards, *logs.shape[-2:])).reshape(-1, columns)

    @cached_property
    def logs_by_level(self) -> Array | None:
        """The logs of the levels of a feature without feature parents, and 0 for missing values."""
        if self.of_class or len(self.features) > 1:
            return None
        logs = float(self.powers[-1]) * log(self.table.table_without_parents())
        return np.concatenate([logs, np.zeros((1, logs.shape[1]))])

    def _sum_of_raised_logs(self, values: Iterator[Array]) -> Array:
        pairs = zip(values, self.powers.tolist(), strict=True)
        return np.asarray(sum(power * log(value) for value, power in pairs if power))

    def logs_at(self, codes: Codes | Mapping[int, Codes]) -> Array:
        """Return the logs of rows, (rows or 1, classes or 1)."""
        if self.logs_by_level is not None:
            return self.logs_by_level.take(codes[self.features[0]], axis=0, mode="wrap")
        members = [codes[i] for i in self.features]
        if not self._is_worth_writing(members):
            return self._logs_from_counts(members)
        if not members:
            return self.log_table
        if min(code.min(initial=0) for code in members) >= 0:
            return self._look_up_logs(self.log_table, members)
        complete: Mask = np.logical_and.reduce([code >= 0 for code in members])
        logs = np.empty((len(complete), self.log_table.shape[1]))
        logs[complete] = self._look_up_logs(self.log_table, [code[complete] for code in members])
        logs[~complete] = self._logs_from_counts([code[~complete] for code in members])
        return logs

    def _is_worth_writing(self, members: list[Codes]) -> bool:
        """Whether looking up the values of rows is worth writing the table."""
        rows = len(members[0]) if members else 1
        self._asked += rows * self.table.prefixes[-1].counts.shape[1] + _CALL
        return self.table.cells <= min(self.most_cells, self._asked)

    def logs_without_parents(self, codes: Codes) -> Array:
        """Return the log table without feature parents at rows, times the sum of the powers."""
        table, n = self.table, self.table.root + 1
        short = PrefixTable(table.cards[:1], table.prefixes[:n], table.masses[:n], table.nested)
        *_, values = feature_probabilities(short, [codes])
        return np.asarray(self.powers.sum() * log(values))

    def _look_up_logs(self, logs: Array, members: list[Codes]) -> Array:
        """Return the logs of rows in which all of the family is observed."""
        levels, *parent_cards = self.table.cards
        cards = parent_cards if self.of_class else [*parent_cards, levels]
        ordered = members if self.of_class else [*members[1:], members[0]]
        return logs.take(flat_index(ordered, cards), axis=0, mode="clip")

    def _logs_from_counts(self, members: list[Codes]) -> Array:
        """Return the logs of rows from the counts."""
        if self.of_class:
            return self._sum_of_raised_logs(
                class_probabilities(self.table, members, len(members[0]) if members else 1)
            )
        return self._sum_of_raised_logs(feature_probabilities(self.table, members))


def powers_by_depth(power: Power, n: int) -> Array:
    """Return the powers of the n tables of a family; one number is that of the last."""
    if isinstance(power, tuple):
        return np.array(power)
    return np.array([0.0] * (n - 1) + [power])


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
    def _table_of_fine_codes(self) -> Table | None:
        """The sum as a table, if there are several codings and few cells."""
        # 2**12: maximum number of cells of a table of the sums over all discretizations
        is_small = prod([card + 1 for card in self.cards]) <= 2**12
        return (
            self._sum_of_tables(self._tables_by_coding()) if self.parts[0][0] and is_small else None
        )

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return the values at rows, (rows or 1, classes or 1)."""
        if self._table_of_fine_codes is not None:
            return self._table_of_fine_codes.entries_of_rows(codes)
        if len(self.parts) == 1:
            [(codings, term)] = self.parts
            return term.logs_at(self._codes_in_coding(codings, codes) if codings else codes)
        return np.asarray(
            sum(term.logs_at(self._codes_in_coding(codings, codes)) for codings, term in self.parts)
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
            term.logs_without_parents(
                codes if not codings or codings[0] is None else codings[0][codes]
            )
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
        logs = term.logs_at(dict(zip(self.scope, grid, strict=True)))
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
            raised = share * powers_by_depth(of_families[i], len(table.cards))
            if raised.any():
                chosen.append((i, position, table, raised))
    most = _largest_size_to_write([table for _, _, table, _ in chosen])
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


def _largest_size_to_write(tables: Sequence[PrefixTable]) -> float:
    """Return the largest number of cells of a table that is written out."""
    sizes = np.sort([table.cells for table in tables])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    return float(min(_MOST_CELLS, allowed.max(initial=0)))
