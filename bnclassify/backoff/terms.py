"""Terms of the families of a network with weights: their log tables times powers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..base.arrays import Array, Codes, log
from ..counts.contingency import flat_index
from ..network.estimates import Scope
from .tables import LeftOut, PrefixTable, class_probabilities, feature_probabilities

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_MOST_FINE_CELLS = 2**12  # of a table of the sums over all discretizations

Power: TypeAlias = float | tuple[float, ...]
"""The power of the table of a family, or one power per number 0, 1, … of its feature parents."""


class Term:
    """The log tables of one family times their powers, for the numbers of its features, the variable first.

    ``powers`` has one power per number 0, 1, … of feature parents. The sum of the logs is a table if it
    has no more than ``most_cells`` cells, and computed from the counts if not.
    """

    def __init__(self, table: PrefixTable, features: Scope, powers: Array, most_cells: float) -> None:
        self.table, self.features, self.powers, self.most_cells = table, features, powers, most_cells
        self.of_class = len(features) < len(table.cards)

    @cached_property
    def written(self) -> Array | None:
        """The logs of all configurations, (values of the features, classes), unless they are too many."""
        if self.table.cells > self.most_cells:
            return None
        levels, *parent_cards = self.table.cards
        *parents, variable = np.indices((*parent_cards, levels)).reshape(len(self.table.cards), -1)
        logs = self._sum(self.table.at_rows([variable, *parents]))
        return logs.reshape(-1, levels) if self.of_class else logs

    def _sum(self, values: Iterator[Array]) -> Array:
        pairs = zip(values, self.powers.tolist(), strict=True)
        return np.asarray(sum(power * log(value) for value, power in pairs if power))

    def logs(self, codes: Codes | Mapping[int, Codes], left_out: LeftOut | None = None) -> Array:
        """Return the logs of rows, (rows or 1, classes or 1)."""
        members = [codes[i] for i in self.features]
        if left_out is not None or self.written is None:
            return self._work_out(members, left_out)
        if not members:
            return self.written
        if min(code.min(initial=0) for code in members) >= 0:
            return self._look_up(self.written, members)
        complete = np.logical_and.reduce([code >= 0 for code in members])
        logs = np.empty((len(complete), self.written.shape[1]))
        logs[complete] = self._look_up(self.written, [code[complete] for code in members])
        logs[~complete] = self._work_out([code[~complete] for code in members])
        return logs

    def _look_up(self, logs: Array, members: list[Codes]) -> Array:
        """Return the logs of rows in which all of the family is observed."""
        levels, *parent_cards = self.table.cards
        cards = parent_cards if self.of_class else [*parent_cards, levels]
        ordered = members if self.of_class else [*members[1:], members[0]]
        return logs.take(flat_index(ordered, cards), axis=0, mode="clip")

    def _work_out(self, members: list[Codes], left_out: LeftOut | None = None) -> Array:
        """Return the logs of rows from the counts."""
        if self.of_class:
            rows = len(members[0]) if members else 1 if left_out is None else len(left_out.classes)
            return self._sum(class_probabilities(self.table, members, rows, left_out))
        return self._sum(feature_probabilities(self.table, members, left_out))


def by_depth(power: Power, n: int) -> Array:
    """Return the powers of the n tables of a family; one number is that of the last."""
    if isinstance(power, tuple):
        return np.array(power)
    return np.array([0.0] * (n - 1) + [power])


def make_terms(x: Any) -> list[tuple[int, int, Term]]:
    """Return the distinct terms of a model, each with its family and the number of a network that has it.

    The largest are not written out if all together use too much memory.
    """
    class_number, chosen = len(x.features), []
    for i, scope in enumerate(x.structure.scopes):
        features = tuple([v for v in scope if v != class_number])
        times = Counter(id(network.tables[i]) for network in x.networks)
        for position, network in enumerate(x.networks):
            table = network.tables[i]
            share = times.pop(id(table), 0) / len(x.networks)
            powers = share * by_depth(x.powers[i], len(table.cards))
            if powers.any():
                chosen.append((i, position, table, features, powers))
    sizes = np.sort([table.cells for _, _, table, _, _ in chosen])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    most = min(_MOST_CELLS, allowed.max(initial=0))
    return [
        (family, position, Term(table, features, powers, most))
        for family, position, table, features, powers in chosen
    ]


def make_fine_terms(x: Any) -> tuple[list[tuple[Any, ...]], list[tuple[int, int, Term]]]:
    """Return tables of the sums of the terms of families, and the terms of families with too many values.

    A table, with its family, the numbers of its features and their numbers of values, has one row per
    combination of their fine codes, with missing values first, and one column per class.
    """
    families: dict[int, list[tuple[int, int, Term]]] = {}
    for found in make_terms(x):
        families.setdefault(found[0], []).append(found)
    tables: list[tuple[Any, ...]] = []
    others: list[tuple[int, int, Term]] = []
    for family, terms in families.items():
        features = terms[0][2].features
        cards = tuple([len(x.known_levels[i]) + 1 for i in features])
        if prod(cards) > _MOST_FINE_CELLS:
            others += terms
            continue
        grid = np.indices(cards).reshape(len(cards), prod(cards)) - 1
        logs = np.zeros((prod(cards), len(x.known_levels[-1])))
        for _, view, term in terms:
            maps = [x.coarsenings[view].maps[i] for i in features]
            coarse = [row if places is None else places[row] for row, places in zip(grid, maps, strict=True)]
            logs += term.logs(dict(zip(features, coarse, strict=True)))
        tables.append((family, features, cards, logs))
    return tables, others
