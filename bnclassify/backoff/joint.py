"""Posteriors of weighted networks: log tables times powers, summed family by family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..base.arrays import Array, Codes, log
from ..counts.contingency import flat_index
from ..network.bnc import Scope
from ..network.log_joints import BLOCK_ROWS, joint_of_codes
from .averaged_cuts import AveragedCuts
from .conditionals import class_probabilities, feature_probabilities
from .powered import Powered
from .tables import PrefixTable
from .weighted import Weighted

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up


@joint_of_codes.register(Weighted)
@joint_of_codes.register(AveragedCuts)
def _(x: Weighted | AveragedCuts, codes: Codes) -> Array:
    """Return Σ w ln P, which is no joint distribution, but tells classes apart as the posterior does."""
    terms = write_out(x)
    total = np.zeros((codes.shape[1], len((x.levels or ())[-1])))
    for start in range(0, codes.shape[1], BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        views = [view_codes for _, view_codes in x.in_codes(codes[:, block])]
        for view, term in terms:
            term.add_to(total[block], views[view])
    return total


@joint_of_codes.register
def _(x: Powered, codes: Codes) -> Array:
    return x.power * joint_of_codes(x.base, codes)


def write_out(x: Weighted | AveragedCuts) -> list[tuple[int, Term]]:
    """Return the terms of a model, written out at the first call and kept as long as the model."""
    terms: list[tuple[int, Term]] = x.derived("terms", _make_terms)
    return terms


def _make_terms(x: Weighted | AveragedCuts) -> list[tuple[int, Term]]:
    """Return the distinct terms of the networks averaged, each with the place of one that has it."""
    class_number = len(x.features)
    terms = []
    for i, scope in enumerate(x.structure.scopes):
        features = tuple([v for v in scope if v != class_number])
        for position, times in repeated([network.tables[i] for network in x.networks]).items():
            power = x.powers[i] * times / len(x.networks)
            terms.append((position, Term(x.networks[position].tables[i], features, power)))
    return terms


def repeated(tables: Sequence[PrefixTable]) -> dict[int, int]:
    """Map the first place of each distinct table to how often it is there."""
    first_position: dict[int, int] = {}
    for position, table in enumerate(tables):
        first_position.setdefault(id(table), position)
    return dict(Counter(first_position[id(table)] for table in tables))


class Term:
    """What one family says of the classes: its log table times its power.

    Parameters
    ----------
    table : PrefixTable
    features : tuple of int
        Numbers of the features of the family: of the variable, if it is one, and of its feature
        parents.
    power : float
    """

    def __init__(self, table: PrefixTable, features: Scope, power: float) -> None:
        self.table, self.features, self.power = table, features, power
        self.of_class = len(features) < len(table.cards)
        self.logs = None if table.cells > _MOST_CELLS else self._write_out()

    def _write_out(self) -> Array:
        """Return the logs of the full table, (values of the features, classes)."""
        logs = self.power * log(self.table.full())
        return logs.reshape(-1, logs.shape[-2] if self.of_class else logs.shape[-1])

    def add_to(self, total: Array, codes: Codes) -> None:
        """Add what the family says of rows, (rows, classes), in place."""
        members = [codes[i] for i in self.features]
        if self.logs is None:
            total += self._work_out(members, len(total))
        elif not members:
            total += self.logs
        elif min(code.min(initial=0) for code in members) >= 0:
            total += self._look_up(self.logs, members)
        else:
            complete = np.logical_and.reduce([code >= 0 for code in members])
            total[complete] += self._look_up(self.logs, [code[complete] for code in members])
            total[~complete] += self._work_out(
                [code[~complete] for code in members], int(np.count_nonzero(~complete))
            )

    def _look_up(self, logs: Array, members: list[Codes]) -> Array:
        """Return the logs of rows that know all of the family."""
        levels, *parent_cards = self.table.cards
        cards = parent_cards if self.of_class else [*parent_cards, levels]
        ordered = members if self.of_class else [*members[1:], members[0]]
        return logs.take(flat_index(ordered, cards), axis=0, mode="clip")

    def _work_out(self, members: list[Codes], rows: int) -> Array:
        """Return the logs of rows from the counts, whatever they know."""
        if self.of_class:
            *_, values = class_probabilities(self.table, members, rows)
        else:
            *_, values = feature_probabilities(self.table, members)
        return self.power * log(values)
