"""The terms of families in log-linear models: sums of raised tables over discretizations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..counts import Scope, flat_index
from ..scores import Coding, Table
from ..tools.arrays import Array, Codes, Mask, log
from ..tools.immutable import cached_property
from .prefix_tables import PrefixTable, class_probabilities, feature_probabilities

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_CALL = 2**12  # number of values that are looked up in the time that a call takes


class RaisedTable:
    """The log table of a family times its power.

    It is written out, if it is not too large, once rows have been asked for as
    many values as it has; the values of fewer rows are worked out from the
    counts.
    """

    def __init__(
        self, table: PrefixTable, features: Scope, power: float, most_cells: float
    ) -> None:
        self.table = table
        self.features = features
        self.power = power
        self.most_cells = most_cells
        self.of_class = len(features) < len(table.cards)
        self._asked = 0

    @cached_property
    def log_table(self) -> Array:
        """The logs of all configurations, (values of the features, classes)."""
        levels, *cards = self.table.cards
        logs = self._raised_logs(self.table.full_tables_by_depth())
        columns = levels if self.of_class else logs.shape[-1]
        return np.broadcast_to(logs, (*cards, *logs.shape[-2:])).reshape(-1, columns)

    @cached_property
    def logs_by_level(self) -> Array | None:
        """The logs of the levels of a feature without feature parents, and 0 for missing values."""
        if self.of_class or len(self.features) > 1:
            return None
        table = next(self.table.full_tables_by_depth()).reshape(self.table.cards[0], -1)
        logs = self.power * log(table)
        return np.concatenate([logs, np.zeros((1, logs.shape[1]))])

    def _raised_logs(self, values_by_depth: Iterator[Array]) -> Array:
        *_, values = values_by_depth
        return self.power * log(values)

    def logs_at(self, codes: Codes | Mapping[int, Codes]) -> Array:
        """Return the logs of rows, (rows or 1, classes or 1)."""
        if self.logs_by_level is not None:
            return self.logs_by_level.take(codes[self.features[0]], axis=0, mode="wrap")
        members = [codes[i] for i in self.features]
        rows = len(members[0]) if members else 1
        self._asked += rows * self.table.prefixes[-1].counts.shape[1] + _CALL
        if self.table.n_cells > min(self.most_cells, self._asked):  # not worth writing yet
            return self._logs_from_counts(members)
        if not members:
            return self.log_table
        if min(code.min(initial=0) for code in members) >= 0:
            return self._look_up_logs(members)
        complete: Mask = np.logical_and.reduce([code >= 0 for code in members])
        logs = np.empty((len(complete), self.log_table.shape[1]))
        logs[complete] = self._look_up_logs([code[complete] for code in members])
        logs[~complete] = self._logs_from_counts([code[~complete] for code in members])
        return logs

    def _look_up_logs(self, members: list[Codes]) -> Array:
        """Return the logs of rows in which all of the family is observed."""
        levels, *parent_cards = self.table.cards
        cards = parent_cards if self.of_class else [*parent_cards, levels]
        ordered = members if self.of_class else [*members[1:], members[0]]
        return self.log_table.take(flat_index(ordered, cards), axis=0, mode="clip")

    def _logs_from_counts(self, members: list[Codes]) -> Array:
        if not self.of_class:
            return self._raised_logs(feature_probabilities(self.table, members))
        rows = len(members[0]) if members else 1
        return self._raised_logs(class_probabilities(self.table, members, rows))


Part = tuple[tuple[Coding, ...], RaisedTable]
"""A raised table, and the coding of each of its features; none if the rows are not coded."""


@dataclass(frozen=True, eq=False)
class FamilyTerm:
    """The sum of the raised tables of a family over discretizations, a term of `Sum`.

    ``cards`` are the numbers of levels of the features in scope before they are
    coded. ``check`` raises an error if the terms of the model are too large to
    be written.
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
        if not self.parts[0][0] or self.n_cells > 2**12:
            return None
        return self._sum_of_tables(self._tables_by_coding())

    def entries_of_rows(self, codes: Codes) -> Array:
        """Return the values at rows, (rows or 1, classes or 1)."""
        if self._table_of_fine_codes is not None:
            return self._table_of_fine_codes.entries_of_rows(codes)
        logs = []
        for codings, term in self.parts:
            own: Codes | dict[int, Codes] = codes
            if codings:
                pairs = zip(self.scope, codings, strict=True)
                own = {v: codes[v] if coding is None else coding[codes[v]] for v, coding in pairs}
            logs.append(term.logs_at(own))
        return logs[0] if len(logs) == 1 else np.asarray(sum(logs))

    @cached_property
    def entries_if_parents_missing(self) -> Array:
        """The log tables without feature parents, raised to the powers of those with parents."""
        codes, found = np.arange(self.cards[0]), []
        for codings, term in self.parts:
            coding = codings[0] if codings else None
            own = codes if coding is None else coding[codes]
            values = feature_probabilities(term.table.with_first_parents(0), [own])
            found.append(term.power * log(next(values)))
        logs = np.asarray(sum(found))
        return np.concatenate([logs, np.zeros((1, logs.shape[1]))])

    def as_plain_terms(self) -> tuple[Table, ...]:
        """Return the tables of all discretizations, or their sum if it has fewer cells."""
        self.check()
        tables = self._tables_by_coding()
        if len(tables) > 1 and self.n_cells <= sum(prod(table.logs.shape[:-1]) for table in tables):
            return (self._sum_of_tables(tables),)
        return tuple(tables)

    @property
    def n_cells(self) -> int:
        return prod([card + 1 for card in self.cards])

    @property
    def n_written_cells(self) -> int:
        """The number of configurations in the tables of `as_plain_terms`."""
        cells = 0
        for _, term in self.parts:
            cells += prod([card + 1 for card in term.table.cards[self.owner < 0 :]])
        return min(self.n_cells, cells)

    def _tables_by_coding(self) -> list[Table]:
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
        columns = max(table.logs.shape[-1] for table in tables)
        total = np.zeros([*[card + 1 for card in self.cards], columns])
        for table in tables:
            places = []
            for coding, card in zip(table.codings, self.cards, strict=True):
                places.append(np.append(np.arange(card), -1) if coding is None else coding)
            total += table.logs[np.ix_(*places)] if places else table.logs
        return Table(self.owner, self.scope, total)


def family_terms(
    scopes: Sequence[Scope],
    cards: Sequence[int],
    tables: Sequence[Sequence[PrefixTable]],
    powers: Sequence[float],
    codings: Sequence[Sequence[Coding]],
    check: Callable[[], None],
) -> tuple[FamilyTerm, ...]:
    """Return a term for each family with a power.

    ``tables`` are those of each discretization, and ``powers`` those of their
    mean. ``codings`` has those of all features in each discretization, if there
    are several.
    """
    class_number, chosen = len(scopes) - 1, []
    for i in range(len(scopes)):
        own_tables = [own[i] for own in tables]
        times = Counter(map(id, own_tables))  # the same table in several discretizations is one
        for position, table in enumerate(own_tables):
            if raised := powers[i] * times.pop(id(table), 0) / len(tables):
                chosen.append((i, position, table, raised))
    # the largest number of cells of a table that is written out
    sizes = np.sort([table.n_cells for _, _, table, _ in chosen])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    most = float(min(_MOST_CELLS, allowed.max(initial=0)))
    features = [tuple([v for v in scope if v != class_number]) for scope in scopes]
    parts: dict[int, list[Part]] = {}
    for i, position, table, raised in chosen:
        own = tuple([codings[position][v] for v in features[i]]) if codings else ()
        parts.setdefault(i, []).append((own, RaisedTable(table, features[i], raised, most)))
    terms = []
    for i, of_family in parts.items():
        owner = i if i < class_number else -1
        own_cards = tuple([cards[v] for v in features[i]])
        terms.append(FamilyTerm(owner, features[i], own_cards, tuple(of_family), check))
    return tuple(terms)
