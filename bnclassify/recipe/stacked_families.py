"""Groups of families whose tables are learned together in several discretizations of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Array, ArrayOf, Codes, Positions, log
from ..frames.dataset import Dataset
from ..network.families import Scope
from .backoff_prior import stack_tables
from .prefix_counts import (
    Places,
    PrefixCounts,
    codings_of_configurations,
    count_prefixes,
    scope_without_class,
)
from .prefix_tables import (
    LeftOutRows,
    PrefixTable,
    StackedTables,
    class_probabilities,
    distribution_shrunk_to_base,
    feature_probabilities,
)


class LeftOutTables:
    """The tables of a feature in codings, for counted rows that are left out with an equal share.

    Without a row, the counts of its own class and those of the feature alone
    change. So the entries of other classes are the same for all rows with equal
    values, and are computed once per cell; only the entry of the own class is
    computed for each row. Example: x occurs in 3 of 4 rows of class a, and in 1
    of 4 of class b. Without a row of class a with x, P(x | a) is 2/3, and P(x |
    b) is 1/4, before pseudo-counts are added.
    """

    def __init__(self, stack: StackedTables, share: float) -> None:
        self.stack, self.share = stack, share
        self.values: list[Array] = []  # by prefix, (cells, classes or 1)
        all_owners = codings_of_configurations(stack.prefixes, stack.cards)
        for i, (prefix, owner) in enumerate(zip(stack.prefixes, all_owners, strict=True)):
            given = prefix.cells.keys // prefix.levels
            counts, totals = prefix.counts, prefix.totals[given]
            if counts.shape[1] == 1:  # the only column is that of each row's own class
                counts, totals = np.maximum(counts - share, 0.0), np.maximum(totals - share, 0.0)
            base: Array = (1 / stack.cards[owner[given], 0])[:, None]
            if i and stack.nested:
                base = self.values[-1][prefix.cells_of_shorter_prefix(stack.prefixes[i - 1])]
            mass = stack.masses[i][owner[given]][:, None]
            self.values.append(distribution_shrunk_to_base(counts, totals, base, mass))
        self.logs = list(map(log, self.values))

    @classmethod
    def from_stack(cls, stack: StackedTables, left_out: LeftOutRows) -> LeftOutTables | None:
        """Return the tables for rows, or None if shares differ, or tables are empty or large."""
        shares, sizes = left_out.shares, [prefix.counts.size for prefix in stack.prefixes]
        # 2**24: maximum number of cells of all prefixes, 128 MiB
        if not (len(shares) and min(sizes)) or sum(sizes) > 2**24 or np.ptp(shares):
            return None
        return cls(stack, float(shares[0]))

    def logs_at(
        self, places: Sequence[tuple[Places, Places]], classes: ArrayOf[Any]
    ) -> Iterator[Array]:
        """Yield ln P(feature | class, first parents), 0 if it is missing, for 0, 1, … parents.

        ``places`` are the configurations and cells of rows in each prefix, and
        ``classes`` those of the rows, both with codings concatenated; the
        result is (rows, classes or 1). If a parent is missing, the distribution
        given the previous parents is used.
        """
        stack, rows = self.stack, np.arange(len(classes))
        codings = np.repeat(np.arange(len(stack.cards)), len(rows) // len(stack.cards))
        uniform: Array = 1 / stack.cards[codings, 0]
        own, logs = uniform, np.zeros((len(rows), 1))  # P(feature | own class), and all logs
        for i, (prefix, (parents, cells)) in enumerate(zip(stack.prefixes, places, strict=True)):
            shorter, shorter_logs = own, logs
            logs = self.logs[i].take(cells, axis=0, mode="wrap")
            if logs.shape[1] == 1:
                own = self.values[i].take(cells, mode="wrap")
            else:
                counts: Array = np.maximum(prefix.counts[cells, classes] - self.share, 0.0)
                totals: Array = np.maximum(prefix.totals[parents, classes] - self.share, 0.0)
                base = shorter if stack.nested else uniform
                own = distribution_shrunk_to_base(counts, totals, base, stack.masses[i][codings])
                logs[rows, classes] = log(own)
            absent = cells < 0
            if absent.any():
                logs[absent], own = shorter_logs[absent], np.where(absent, shorter, own)
            if i >= stack.prefix_without_parents:
                yield logs


@dataclass(frozen=True, eq=False)
class StackedFamilies:
    """Families with equally many feature parents, (families, members), and their tables by coding.

    Example: two features with one feature parent each, in six codings, are a
    stack of 12 tables, those of the first feature first. ``places`` are the
    configurations and cells of the training rows given 0, 1, … feature parents,
    if they were kept; with 100 rows, 1,200 of each.
    """

    families: Sequence[int]
    members: Positions
    stack: StackedTables
    places: Sequence[tuple[Places, Places]] | None = None

    @property
    def n_codings(self) -> int:
        return len(self.stack.cards) // len(self.families)

    @property
    def is_class_family(self) -> bool:
        return self.members.shape[1] < self.stack.cards.shape[1]

    def left_out_tables(self, left_out: LeftOutRows) -> LeftOutTables | None:
        """Return tables for training rows, or None if they differ by row or by a value of it."""
        if self.places is None or self.is_class_family:  # the cells of each class are looked up
            return None
        return LeftOutTables.from_stack(self.stack, left_out)

    def _positions_of_training_rows(self, rows: Any) -> list[tuple[Places, Places]]:
        """Return the configurations and cells of training rows in each prefix."""
        n = len(self.stack.cards)
        found: list[tuple[Places, Places]] = []
        for configurations, cells in self.places or ():
            in_tables = configurations.reshape(n, -1), cells.reshape(n, -1)
            found.append((in_tables[0][:, rows].reshape(-1), in_tables[1][:, rows].reshape(-1)))
        # the variable alone and given the class have the same ones
        return found[:1] * self.stack.prefix_without_parents + found

    def logs_of_families(
        self,
        codes: Codes,
        left_out: LeftOutRows | None = None,
        rows: Any = slice(None),
        tables: LeftOutTables | None = None,
    ) -> Iterator[Array]:
        """Yield mean logs of families over codings, by 0, 1, … parents.

        They are (families, rows, classes or 1). ``tables`` are those of
        `left_out_tables`.
        """
        n = len(self.stack.cards)
        if left_out is not None and n > 1:
            left_out = LeftOutRows(np.tile(left_out.classes, n), np.tile(left_out.shares, n))
        for logs in self._logs_of_stack(codes, left_out, rows, tables):
            logs = logs.reshape(len(self.families), self.n_codings, -1, logs.shape[1])
            yield logs[:, 0] if self.n_codings == 1 else logs.sum(axis=1) / self.n_codings

    def _logs_of_stack(
        self, codes: Codes, left_out: LeftOutRows | None, rows: Any, tables: LeftOutTables | None
    ) -> Iterator[Array]:
        """Yield logs at rows, (codings of all families × rows, classes or 1)."""
        if tables is not None and left_out is not None:
            return tables.logs_at(self._positions_of_training_rows(rows), left_out.classes)
        members = _codes_of_members(codes, self.members, self.n_codings, rows)
        if self.is_class_family:
            size: int = codes[0][..., rows].shape[-1] * len(self.stack.cards)
            return map(log, class_probabilities(self.stack, members, size, left_out))
        return map(log, feature_probabilities(self.stack, members, left_out))

    def families_with_tables(self, parents: int) -> Iterator[tuple[int, list[PrefixTable]]]:
        """Yield each family and its tables with a maximum number of feature parents."""
        tables, n = self.stack.split_by_coding(parents), self.n_codings
        for i, family in enumerate(self.families):
            yield family, tables[i * n : (i + 1) * n]


def _codes_of_members(
    codes: Codes, members: Positions, codings: int, rows: Any = slice(None)
) -> list[Codes]:
    """Return the codes of each member at rows, those of the first family in all codings first."""
    return [codes[:codings, columns][..., rows].swapaxes(0, 1).reshape(-1) for columns in members.T]


class _CountedFamilies(NamedTuple):
    """Families counted together, (families, members), whose ``known`` ones rows can show."""

    families: list[int]
    known: Positions
    is_class: bool
    levels: Positions
    prefixes: Sequence[PrefixCounts]
    places: Sequence[tuple[Places, Places]] | None


def learn_tables_in_stacks(
    scopes: Sequence[Scope],
    cards: Positions,
    codes: Codes,
    data: Dataset,
    prior: Any,
    varies: Callable[[Scope], bool],
) -> list[StackedFamilies]:
    """Count families, the class last, in (codings, variables, rows) codes; learn tables."""
    class_number = len(scopes) - 1
    counted = list[_CountedFamilies]()
    # 2**24: number of rows x tables whose positions in the counts are kept
    keeps = len(data) * len(cards) * len(scopes) <= 2**24
    for families, n in _blocks_of_alike_families(scopes, len(cards), len(data), varies):
        members = np.array([scope_without_class(scopes[f], class_number) for f in families])
        by_class: bool = members.shape[1] < len(scopes[families[0]])
        tables = n * len(families)  # of the first family in all codings, and so on
        levels = cards[:n, members].swapaxes(0, 1).reshape(tables, -1)
        prefixes, places = count_prefixes(
            _codes_of_members(codes, members, n),
            levels.max(axis=0).tolist(),
            np.tile(data.codes[-1], tables) if by_class else None,
            data.cards[-1],
            None if data.weights is None else np.tile(data.weights, tables),
            tables,
        )
        is_class = families[0] == class_number
        known = members[:, 1:] if is_class else members
        kept = places if keeps else None
        counted.append(_CountedFamilies(families, known, is_class, levels, prefixes, kept))
    of_class = [each.is_class for each in counted]
    all_prefixes, all_levels = (
        [each.prefixes for each in counted],
        [each.levels for each in counted],
    )
    stacks = stack_tables(all_prefixes, all_levels, of_class, prior)
    result = []
    for each, stack in zip(counted, stacks, strict=True):
        result.append(StackedFamilies(each.families, each.known, stack, each.places))
    return result


def _blocks_of_alike_families(
    scopes: Sequence[Scope], codings: int, rows: int, varies: Callable[[Scope], bool]
) -> Iterator[tuple[list[int], int]]:
    """Yield families to be counted together, and their number of codings.

    They have equally many members, all or none of them have the class as a
    parent, and all or none vary by coding. The class is the last one, and
    alone.
    """
    class_number = len(scopes) - 1
    alike: dict[tuple[int, int, bool], list[int]] = {}
    for family, scope in enumerate(scopes[:-1]):
        n = codings if varies(scope) else 1
        alike.setdefault((n, len(scope), scope[-1] == class_number), []).append(family)
    for (n, _, _), families in alike.items():
        # 2**16: rows x tables of a block, unless a family has more
        most = max(1, 2**16 // max(1, rows * n))
        for start in range(0, len(families), most):
            yield families[start : start + most], n
    yield [class_number], codings if varies(scopes[-1]) else 1
