"""Tables of the prefixes of a family, each shrunk towards the previous one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..counts import MAX_CELLS
from ..tools.arrays import Array, ArrayOf
from ..tools.calls import advance_bar
from ..tools.immutable import COUNT, Immutable, field_bounds, record
from ..tools.messages import how_to_merge, listed
from .prefix_counts import Places, PrefixCounts, positions_in_prefixes

Read: TypeAlias = Callable[[int, "Array | None"], tuple[Array, Array, Array]]
Deduct: TypeAlias = Callable[[int], tuple[Array, Array]]


def backed_off_distributions(
    prefixes: int, read: Read, mass: Callable[[int, Array, Array], Any]
) -> Iterator[Array]:
    """Yield the distributions of the prefixes of a family, each with the previous one as its base.

        P(x | u) = (n(u, x) + mass · base(x)) / (n(u) + mass), and the base if
        both are 0

    Example: x occurs in 3 of the 4 rows of u, its base is 0.5, and the mass
    is 4. Then P(x | u) is (3 + 4 · 0.5) / (4 + 4) = 0.625. It is the base of
    the next prefix, which adds a parent to u.

    ``read`` returns n(u, x), n(u) and the base of a prefix by its number and
    the distributions of the previous prefix; ``mass`` returns its number of
    pseudo-counts, given n(u, x) and the base.
    """
    value: Array | None = None
    for i in range(prefixes):
        counts, totals, base = read(i, value)
        value = distribution_shrunk_to_base(counts, totals, base, mass(i, counts, base))
        advance_bar()
        yield value


def distribution_shrunk_to_base(counts: Array, totals: Array, base: Array, amount: Any) -> Array:
    """Return P(x | u), as `backed_off_distributions`, for masses that are all above 0, or all 0."""
    positive = amount > 0
    if positive is True or np.all(positive):
        return shrink_to_base(counts, totals, base, amount)
    observed = totals > 0
    return np.where(observed, counts / np.where(observed, totals, 1.0), base)


def shrink_to_base(counts: Array, totals: Array, base: Array, amount: Any) -> Array:
    """Return (n(u, x) + mass · base(x)) / (n(u) + mass) for positive masses."""
    value: Array = np.multiply(base, amount, out=np.empty(counts.shape))
    value += counts
    value /= totals + amount
    return value


@record
@dataclass(frozen=True, eq=False)
class PrefixTable(Immutable):
    """The distributions of a variable alone, given the class, and given 1, 2, … parents, too.

    ``cards`` are the numbers of levels of the variable and of its feature
    parents, and there is one more prefix if the class is a parent. ``masses``
    are the pseudo-counts of each prefix, distributed like the previous prefix
    if ``nested``, and uniformly if not; see `backed_off_distributions`.
    """

    bounds = field_bounds(cards=COUNT, masses=COUNT)

    cards: tuple[int, ...]
    prefixes: tuple[PrefixCounts, ...]
    masses: tuple[float, ...]
    nested: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.prefix_without_parents in (0, 1) and len(self.masses) == len(self.prefixes)
        if not fits or any(prefix.levels != self.cards[0] for prefix in self.prefixes):
            raise ValueError(
                "prefixes must have one element, with a mass, per variable, class and parent."
            )

    @property
    def prefix_without_parents(self) -> int:
        """The number of the prefix without feature parents: 1 if the class is one, 0 if not."""
        return len(self.prefixes) - len(self.cards)

    @property
    def n_cells(self) -> int:
        """Number of cells of the full table."""
        return prod(self.cards) * self.prefixes[-1].counts.shape[1]

    def full_tables_by_depth(self) -> Iterator[Array]:
        """Yield P(x | class, first parents) of all configurations, for 0 feature parents and more.

        The axes are the feature parents, of which later ones have length 1, x,
        and the class.
        """
        levels, *cards = self.cards
        shape = [1] * len(cards)
        numbers = np.zeros(1, dtype=np.intp)  # of the observed configurations, among all

        def read(i: int, shorter: Array | None) -> tuple[Array, Array, Array]:
            nonlocal numbers
            prefix, last = self.prefixes[i], i - self.prefix_without_parents - 1
            if last >= 0:
                before, level = np.divmod(prefix.parents.keys, cards[last])
                numbers, shape[last] = numbers[before] * cards[last] + level, cards[last]
            columns, counts, totals = prefix.counts.shape[1], prefix.counts, prefix.totals
            if len(prefix.cells) < prod(shape) * levels:  # some do not occur
                before, level = np.divmod(prefix.cells.keys, levels)
                counts = np.zeros((prod(shape), levels, columns))
                totals = np.zeros((prod(shape), columns))
                counts[numbers[before], level], totals[numbers] = prefix.counts, prefix.totals
            base = np.array(1 / levels) if shorter is None or not self.nested else shorter
            return counts.reshape(*shape, levels, columns), totals.reshape(*shape, 1, columns), base

        steps = backed_off_distributions(
            len(self.prefixes), read, lambda i, counts, base: self.masses[i]
        )
        return islice(steps, self.prefix_without_parents, None)

    def with_first_parents(self, most: int) -> PrefixTable:
        """Return the table given the class and at most so many feature parents."""
        n = self.prefix_without_parents + 1 + most
        return PrefixTable(self.cards[: 1 + most], self.prefixes[:n], self.masses[:n], self.nested)

    def cpt_of_family(self, family: Sequence[Hashable]) -> Array:
        """Return the conditional probability table in family order, or raise if it is too large."""
        if self.n_cells > MAX_CELLS:
            wide = how_to_merge(zip(family, self.cards, strict=False))
            raise ValueError(
                f"dataset: a table of {listed(family)} would have {self.n_cells:,} cells, more "
                f"than {MAX_CELLS:,}. Use fewer parents, or {wide}."
            )
        *_, table = self.full_tables_by_depth()  # (feature parents…, levels, classes or 1)
        table = np.moveaxis(table, len(self.cards) - 1, 0)
        return np.ascontiguousarray(table if self.prefix_without_parents else table[..., 0])

    def probabilities_at_rows(
        self,
        codes: Sequence[ArrayOf[Any]],
        classes: ArrayOf[Any] | None = None,
        deduct: Deduct | None = None,
    ) -> Iterator[Array]:
        """Yield P(x | class, first parents) at rows, for 0, 1, … parents, (rows, classes or 1).

        ``codes`` are the codes of the variable and its feature parents. If a
        parent is missing (-1), the distribution given the previous parents is
        used. ``deduct`` returns, for the number of a prefix, the amounts to
        subtract at each row from n(u, x) and n(u), in the column of its class.
        """
        uniform = np.full((1, 1), 1 / self.cards[0])
        unknown = np.zeros(len(codes[0]), dtype=bool)
        places = positions_in_prefixes(self.prefixes, codes, self.cards)

        def read(i: int, shorter: Array | None) -> tuple[Array, Array, Array]:
            parents, cells = next(places)
            counts = _rows_at_positions(self.prefixes[i].counts, cells)
            totals = _rows_at_positions(self.prefixes[i].totals, parents)
            if deduct is not None:
                _subtract_own_row(deduct(i), counts, totals, classes, parents)
            if shorter is None or self.nested:
                return counts, totals, uniform if shorter is None else shorter
            if i > self.prefix_without_parents:
                # rows with a missing parent have no counts, so they keep the base
                np.logical_or(unknown, codes[i - self.prefix_without_parents] < 0, out=unknown)
                return counts, totals, np.where(unknown[:, None], shorter, uniform)
            return counts, totals, uniform

        steps = backed_off_distributions(
            len(self.prefixes), read, lambda i, counts, base: self.masses[i]
        )
        return islice(steps, self.prefix_without_parents, None)


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Counted rows: their classes, and the amounts to subtract from the counts."""

    classes: ArrayOf[Any]
    shares: Array

    def take(self, rows: Any) -> LeftOutRows:
        return LeftOutRows(self.classes[rows], self.shares[rows])


def feature_probabilities(
    table: PrefixTable, codes: Sequence[ArrayOf[Any]], left_out: LeftOutRows | None = None
) -> Iterator[Array]:
    """Yield P(feature | class, first parents) at rows, for 0, 1, … parents; 1 if missing."""
    missing = codes[0] < 0
    any_missing = missing.any()
    if left_out is None:
        values = table.probabilities_at_rows(codes)
    else:  # a row with a missing value was not counted
        shares = np.where(missing, 0.0, left_out.shares)
        values = table.probabilities_at_rows(codes, left_out.classes, lambda i: (shares, shares))
    for value in values:
        yield np.where(missing[:, None], 1.0, value) if any_missing else value


def class_probabilities(
    table: PrefixTable,
    codes: Sequence[ArrayOf[Any]],
    rows: int,
    left_out: LeftOutRows | None = None,
) -> Iterator[Array]:
    """Yield P(class | first parents) at rows, for 0 parents and more, as (rows, classes)."""

    def probabilities_of_class(c: int) -> Iterator[Array]:
        of_class = [np.full(rows, c), *codes]
        if left_out is None:
            return table.probabilities_at_rows(of_class)
        amounts = np.where(left_out.classes == c, left_out.shares, 0.0), left_out.shares
        return table.probabilities_at_rows(of_class, deduct=lambda i: amounts)

    of_classes = map(probabilities_of_class, range(table.cards[0]))
    for values in zip(*of_classes, strict=True):
        yield np.concatenate(values, axis=1)


def class_shares(table: PrefixTable) -> Array:
    """Return the shares of the classes in rows, or the smoothed share of a class without rows."""
    parents = [np.zeros(1, dtype=np.intp)] * (len(table.cards) - 1)
    shares = next(class_probabilities(table, parents, 1)).ravel()
    prefix, counts = table.prefixes[0], table.prefixes[0].counts[:, 0]
    some = counts > 0
    shares[prefix.cells.keys[some]] = counts[some] / max(float(counts.sum()), 1e-300)
    return np.asarray(shares / shares.sum())


def _subtract_own_row(
    amounts: tuple[Array, Array],
    counts: Array,
    totals: Array,
    classes: ArrayOf[Any] | None,
    parents: Places,
) -> None:
    """Subtract amounts from counts and totals in each row's class, if parents are observed."""
    n_classes = counts.shape[1]
    absent = parents < 0
    any_absent = absent.any()
    columns = 0 if n_classes == 1 or classes is None else classes
    places = np.arange(0, counts.size, n_classes) + columns
    for table, amount in zip((counts, totals), amounts, strict=True):
        table.reshape(-1)[places] -= np.where(absent, 0.0, amount) if any_absent else amount


def _rows_at_positions(table: Array, places: Places) -> Array:
    """Return the rows of a table at positions, zeros for -1."""
    if not len(table):
        return np.zeros((len(places), table.shape[1]))
    entries = table.take(places, axis=0, mode="wrap")
    absent = places < 0
    if absent.any():
        entries[absent] = 0
    return entries
