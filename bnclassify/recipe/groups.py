"""Groups of families whose tables are learned together in several discretizations of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, Positions, log
from ..frames.dataset import Dataset
from ..network.families import Scope
from .counts import Places, count_prefixes, without_class
from .left_out_tables import LeftOutTables
from .prior import make_stacks
from .tables import (
    LeftOut,
    PrefixTable,
    Stack,
    class_probabilities,
    feature_probabilities,
)


@dataclass(frozen=True, eq=False)
class Group:
    """Families with equally many feature parents, (families, members), and their tables by coding.

    Example: two features with one feature parent each, in six codings, are a stack of 12 tables,
    those of the first feature first. ``places`` are the configurations and cells of the training
    rows given 0, 1, … feature parents, if they were kept; with 100 rows, 1,200 of each.
    """

    families: Sequence[int]
    members: Positions
    stack: Stack
    places: Sequence[tuple[Places, Places]] | None = None

    @property
    def codings(self) -> int:
        """The number of codings."""
        return len(self.stack.cards) // len(self.families)

    @property
    def of_class(self) -> bool:
        """Whether the family is that of the class."""
        return self.members.shape[1] < self.stack.cards.shape[1]

    def left_out_tables(self, left_out: LeftOut) -> LeftOutTables | None:
        """Return tables for training rows, or None if they differ by row or by a value of it."""
        if self.places is None or self.of_class:  # the cells of each class are looked up
            return None
        return LeftOutTables.of(self.stack, left_out)

    def _places_at(self, rows: Any) -> list[tuple[Places, Places]]:
        """Return the configurations and cells of training rows in each prefix."""
        n, root, kept = len(self.stack.cards), self.stack.root, self.places or ()
        found = [[array.reshape(n, -1)[:, rows].reshape(-1) for array in pair] for pair in kept]
        return [
            (found[max(0, i - root)][0], found[max(0, i - root)][1])
            for i in range(root + len(found))
        ]

    def logs_of_families(
        self,
        codes: Codes,
        left_out: LeftOut | None = None,
        rows: Any = slice(None),
        apart: int = 0,
        tables: LeftOutTables | None = None,
    ) -> Iterator[Array]:
        """Yield logs of families by 0, 1, … parents, (1 + apart, families, rows, classes or 1).

        The first are means over codings, without the ``apart`` last ones, which follow. Families
        that are the same in all codings have the first alone. ``tables`` are those of
        `left_out_tables`.
        """
        n = len(self.stack.cards)
        if left_out is not None and n > 1:
            left_out = left_out.repeated(n)
        for logs in self._logs_of_stack(codes, left_out, rows, tables):
            logs = logs.reshape(len(self.families), self.codings, -1, logs.shape[1])
            logs = logs.swapaxes(0, 1)
            kept = max(1, self.codings - apart)
            mean = logs[:1] if kept == 1 else logs[:kept].sum(axis=0, keepdims=True) / kept
            yield np.concatenate([mean, logs[kept:]]) if len(logs) > kept else mean

    def _logs_of_stack(
        self, codes: Codes, left_out: LeftOut | None, rows: Any, tables: LeftOutTables | None
    ) -> Iterator[Array]:
        """Yield logs at rows, (codings of all families × rows, classes or 1)."""
        if tables is not None and left_out is not None:
            return tables.logs_at(self._places_at(rows), left_out.classes)
        members = _codes_of_members(codes, self.members, self.codings, rows)
        if self.of_class:
            size = codes[0][..., rows].shape[-1] * len(self.stack.cards)
            return map(log, class_probabilities(self.stack, members, size, left_out))
        return map(log, feature_probabilities(self.stack, members, left_out))

    def tables_of_families(self, parents: int) -> Iterator[tuple[int, list[PrefixTable]]]:
        """Yield each family and its tables with a maximum number of feature parents."""
        tables, n = self.stack.tables_of_codings(parents), self.codings
        for i, family in enumerate(self.families):
            yield family, tables[i * n : (i + 1) * n]


def _codes_of_members(
    codes: Codes, members: Positions, codings: int, rows: Any = slice(None)
) -> list[Codes]:
    """Return the codes of each member at rows, those of the first family in all codings first."""
    return [codes[:codings, columns][..., rows].swapaxes(0, 1).reshape(-1) for columns in members.T]


def learn_groups(
    scopes: Sequence[Scope],
    cards: Positions,
    codes: Codes,
    data: Dataset,
    prior: Any,
    varies: Callable[[Scope], bool],
) -> list[Group]:
    """Count families, the class last, in (codings, variables, rows) codes; learn tables."""
    class_number, alike = len(scopes) - 1, dict[tuple[int, int, bool], list[int]]()
    for family, scope in enumerate(scopes):
        kind = len(cards) if varies(scope) else 1, len(scope), scope[-1] == class_number
        alike.setdefault(kind if family < class_number else (0, 0, False), []).append(family)
    found, counts, all_cards, all_places = [], [], [], []
    # 2**24: number of rows x tables whose positions in the counts are kept
    keeps = len(data) * len(cards) * len(scopes) <= 2**24
    for families in alike.values():
        n = len(cards) if varies(scopes[families[0]]) else 1
        # 2**16: rows x tables of a group, unless a family has more
        most = max(1, 2**16 // max(1, len(data) * n))
        for start in range(0, len(families), most):
            block = families[start : start + most]
            members = np.array([without_class(scopes[f], class_number) for f in block])
            by_class = members.shape[1] < len(scopes[block[0]])
            tables = n * len(block)
            levels = cards[:n, members].swapaxes(0, 1).reshape(-1, members.shape[1])
            prefixes, places = count_prefixes(
                _codes_of_members(codes, members, n),
                levels.max(axis=0).tolist(),
                np.tile(data.codes[-1], tables) if by_class else None,
                data.cards[-1],
                None if data.weights is None else np.tile(data.weights, tables),
                tables,
            )
            found.append((block, members))
            counts.append(prefixes)
            all_places.append(places if keeps else None)
            all_cards.append(levels)
    of_class = [block[0] == class_number for block, _ in found]
    stacks = make_stacks(counts, all_cards, of_class, prior)
    return [
        Group(block, members[:, 1:] if own else members, stack, places)
        for (block, members), own, stack, places in zip(
            found, of_class, stacks, all_places, strict=True
        )
    ]
