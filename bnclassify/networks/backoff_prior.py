"""Counts and tables of every prefix of a family, and the prior that lets each back off to the last.

A prefix is the variable given its first 0, 1, 2, … parents. Only observed configurations of the
parents are stored, so the counts of a family with many parents use no more memory than the rows.
The table of each prefix is shrunk towards that of the previous one, by concentrations that the
argument `backoff` of `lp` learns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Number
from typing import Any

import numpy as np

from ..classifiers import LEAST_AMOUNT, MOST_AMOUNT, PRIORS, PseudoCounts, is_nested_prior
from ..counts import MAX_CELLS, Recoding
from ..dataset import Countable, Dataset
from ..tools import special
from ..tools.arrays import (
    BLOCK_CELLS,
    TOLERANCE,
    Array,
    ArrayOf,
    Mask,
    Positions,
    slices,
    weights_at,
)
from ..tools.calls import advance_bar
from ..tools.checks import Real, must_be
from ..tools.immutable import COUNT, POSITIVE, Immutable, cached_property, field_bounds, record
from ..tools.messages import how_to_merge, listed

Places = Positions


@record
@dataclass(frozen=True, eq=False)
class Numbering(Immutable):
    """The observed numbers below ``size``, ascending in ``keys``; their positions replace them."""

    keys: Places
    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        keys = self.keys
        if len(keys) and not (
            keys[0] >= 0 and keys[-1] < self.size and (keys[1:] > keys[:-1]).all()
        ):
            raise ValueError(f"keys must be ascending numbers from 0 to {self.size - 1}.")

    def __len__(self) -> int:
        return len(self.keys)

    def positions_of(self, numbers: Places) -> Places:
        """Return the positions of numbers, -1 for -1 and numbers that do not occur."""
        if self.size == len(self.keys):
            return numbers
        if not len(self.keys):
            return np.full(len(numbers), -1)
        # 2**31 - 1: largest position in a table of narrow integers
        # 256: number of entries per search above which bisection is faster than a table
        if self.size <= min(256 * len(numbers), 2**31 - 1) or self.size <= 64:
            # Most of it is never written: a position is right if its key is the number.
            table = np.empty(self.size + 1, dtype=np.int32)
            table[self.keys], table[-1] = np.arange(len(self.keys)), 0  # the last one of -1
            found = table.take(numbers, mode="wrap")
            is_key: Mask = self.keys.take(found, mode="clip") == numbers
            return np.asarray(np.where(is_key, found, -1))
        places = np.searchsorted(self.keys[:-1], numbers)
        return np.where(self.keys[places] == numbers, places, -1)


@record
@dataclass(frozen=True, eq=False)
class PrefixCounts(Immutable):
    """Counts of the values of a variable given its first parents.

    ``parents`` are the configurations of the feature parents, numbered by
    position in the previous prefix × number of levels of the last parent + its
    level, and ``cells`` are numbered by position of the configuration ×
    levels + level of the variable. ``counts`` is a (cells, classes) array, with
    one column if the class is not a parent.
    """

    bounds = field_bounds(levels=COUNT, counts=COUNT)

    levels: int
    parents: Numbering
    cells: Numbering
    counts: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cells.size != len(self.parents) * self.levels or len(self.counts) != len(
            self.cells
        ):
            raise ValueError(
                "counts must have one row per cell, and cells within the levels and configurations."
            )

    @cached_property
    def totals(self) -> Array:
        """Rows of each configuration of the parents, (configurations, classes)."""
        totals = np.zeros((len(self.parents), self.counts.shape[1]))
        configurations = self.cells.keys // self.levels
        starts = np.flatnonzero(np.diff(configurations, prepend=-1))
        if len(starts):
            totals[configurations[starts]] = np.add.reduceat(self.counts, starts, axis=0)
        return totals

    def cells_of_shorter_prefix(self, shorter: PrefixCounts) -> Places:
        """Return the cell of the previous prefix that contains each cell."""
        parents, levels = np.divmod(self.cells.keys, self.levels)
        # Number of levels of the last parent.
        card = self.parents.size // max(1, len(shorter.parents))
        return shorter.cells.positions_of(self.parents.keys[parents] // card * self.levels + levels)


def count_prefixes(
    codes: Sequence[ArrayOf[Any]],
    cards: Sequence[int],
    classes: ArrayOf[Any] | None = None,
    n_classes: int = 1,
    weights: Array | None = None,
) -> tuple[PrefixCounts, ...]:
    """Count a variable alone, given the class, and given its first 1, 2, … feature parents.

    Each prefix is counted in the rows in which all of it is observed. ``codes``
    and ``cards`` describe the variable and its feature parents, -1 where
    missing; ``classes`` are given if the class is a parent.

    >>> variable, parent, classes = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    >>> prefixes = count_prefixes([variable, parent], [2, 2], classes, 2)
    >>> # Counts of the variable alone, given the class, and given the class and the parent.
    >>> [prefix.counts.astype(int).tolist() for prefix in prefixes]
    [[[2], [2]], [[1, 1], [0, 2]], [[1, 0], [0, 1], [0, 1], [0, 1]]]
    """
    parents = Numbering(np.zeros(1, dtype=np.intp), 1)
    places = np.where(codes[0] >= 0, 0, -1)
    result = []
    for i, (code, card) in enumerate(zip(codes, cards, strict=True)):
        if i > 0:
            parents, places = _numbering_of_observed(
                _numbers_of_pairs(places, code, card), len(parents) * card
            )
        cells, index = _numbering_of_observed(
            _numbers_of_pairs(places, codes[0], cards[0]), len(parents) * cards[0]
        )
        for given in [classes] if i > 0 or classes is None else [None, classes]:
            columns = 1 if given is None else n_classes
            places_of_rows = index if given is None else _numbers_of_pairs(index, given, columns)
            own_weights = weights
            if places_of_rows.min(initial=0) < 0:
                seen = places_of_rows >= 0
                places_of_rows, own_weights = places_of_rows[seen], weights_at(weights, seen)
            sums: Array = np.bincount(places_of_rows, own_weights, len(cells) * columns).astype(
                np.float64
            )
            result.append(PrefixCounts(cards[0], parents, cells, sums.reshape(-1, columns)))
    return tuple(result)


@record
@dataclass(frozen=True, eq=False)
class NestedCounts(Immutable):
    """The counts of every prefix of a family, with its members' levels, ``cards``; they add up."""

    cards: tuple[int, ...]
    prefixes: tuple[PrefixCounts, ...]

    @property
    def n_without_parents(self) -> int:
        """Number of prefixes without feature parents: 2 if the class is a parent, 1 if not."""
        return len(self.prefixes) - len(self.cards) + 1

    @property
    def level_weights(self) -> Array:
        """The number of rows with each level of the variable, (levels,)."""
        alone, weights = self.prefixes[0], np.zeros(self.cards[0])
        weights[alone.cells.keys] = alone.counts[:, 0]
        return weights

    def __add__(self, other: NestedCounts) -> NestedCounts:
        parts = zip(self._rows_with_these_counts(), other._rows_with_these_counts(), strict=True)
        codes, classes, weights = [np.concatenate(pair, axis=-1) for pair in parts]
        return self._nested_counts_of_rows(
            codes, classes, weights, self.cards, self.prefixes[-1].counts.shape[1]
        )

    def recoded(self, recodings: Sequence[Recoding]) -> NestedCounts:
        """Return the counts for other levels of the variable, its feature parents and the class."""
        codes, classes, weights = self._rows_with_these_counts()
        members = recodings[: len(self.cards)]
        pairs = zip(members, codes, strict=True)
        codes = np.stack([np.append(new, -1)[code] for (new, _), code in pairs])
        cards, n_classes = tuple([card for _, card in members]), 1
        if len(recodings) > len(members):
            new, n_classes = recodings[-1]
            classes = new[classes]
        return self._nested_counts_of_rows(codes, classes, weights, cards, n_classes)

    def _nested_counts_of_rows(
        self, codes: Any, classes: Any, weights: Any, cards: tuple[int, ...], n_classes: int
    ) -> NestedCounts:
        """Return the counts of rows, in which the class is a parent if it is one here."""
        given = classes if self.n_without_parents > 1 else None
        return NestedCounts(cards, count_prefixes(list(codes), cards, given, n_classes, weights))

    def _rows_with_these_counts(self) -> tuple[Positions, Positions, Array]:
        """Return rows with these counts: codes, (variables, rows), classes and weights.

        Example: a value occurs in 5 rows, and in 3 of them with a value of the
        first parent; in the other 2, this parent is missing.
        """
        by_depth, parts = self.prefixes[self.n_without_parents - 1 :], []
        parents = np.zeros((0, 1), dtype=np.intp)  # their codes, (parents, configurations)
        for i, prefix in enumerate(by_depth):
            if i > 0:
                before, last = np.divmod(prefix.parents.keys, self.cards[i])
                parents = np.vstack([parents[:, before], last])
            rest = prefix.counts.copy()  # of rows that lack the next parent, (cells, classes)
            if i + 1 < len(by_depth):
                longer = by_depth[i + 1]
                np.subtract.at(rest, longer.cells_of_shorter_prefix(prefix), longer.counts)
            cells, classes = rest.nonzero()
            configurations, level = np.divmod(prefix.cells.keys[cells], prefix.levels)
            missing = np.full((len(by_depth) - 1 - i, len(cells)), -1)
            codes = np.vstack([level, parents[:, configurations], missing])
            parts.append((codes, classes, rest[cells, classes]))
        codes, classes, weights = zip(*parts, strict=True)
        return np.concatenate(codes, axis=1), np.concatenate(classes), np.concatenate(weights)


def count_prefixes_of_families(
    data: Countable, scopes: Sequence[Sequence[int]]
) -> Iterator[NestedCounts]:
    """Count all prefixes of families: variable and parents by number, the class last if there."""
    for scope, (codes, weights) in zip(scopes, data.family_codes_and_weights(scopes), strict=True):
        has_class = len(scope) > 1 and scope[-1] == len(data.columns) - 1
        members = scope[:-1] if has_class else scope
        cards = tuple([data.cards[column] for column in members])
        classes = codes[-1] if has_class else None
        columns = list(codes[: len(members)])
        yield NestedCounts(cards, count_prefixes(columns, cards, classes, data.cards[-1], weights))


def _numbers_of_pairs(places: Places, codes: ArrayOf[Any], card: int) -> Places:
    """Number pairs of a position and a code; -1 if one of them is -1."""
    numbers = np.multiply(places, card, dtype=np.intp)
    numbers += codes
    if min(places.min(initial=0), codes.min(initial=0)) < 0:
        numbers[(places < 0) | (codes < 0)] = -1
    return numbers


def _numbering_of_observed(numbers: Places, bound: int) -> tuple[Numbering, Places]:
    """Return the numbering of the observed numbers, without -1, and their positions."""
    # 2**20: range of numbers in which a mask is faster than sorting
    if bound > max(2**20, len(numbers)):
        ascending = np.sort(numbers)  # np.unique takes four times as long
        is_first: Mask = np.diff(ascending, prepend=-1) > 0
        numbering = Numbering(ascending[is_first], bound)
        return numbering, numbering.positions_of(numbers)
    seen = np.zeros(bound + 1, dtype=bool)
    seen[numbers] = True
    numbering = Numbering(seen[:-1].nonzero()[0], bound)
    # Most of which is never written, as all numbers occur.
    places = np.empty(bound + 1, dtype=np.int32)
    places[numbering.keys], places[-1] = np.arange(len(numbering)), -1
    return numbering, np.asarray(places.take(numbers, mode="wrap"))


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
    if ``nested``, and uniformly if not.
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
        return prod(self.cards) * self.prefixes[-1].counts.shape[1]

    def _distributions(
        self, read: Callable[[int], tuple[Array, Array, Array | None]]
    ) -> Iterator[Array]:
        """Yield the distributions for 0 feature parents and more, each based on the previous one.

            P(x | u) = (n(u, x) + mass · base(x)) / (n(u) + mass), and the base if
            both are 0

        Example: x occurs in 3 of the 4 rows of u, its base is 0.5, and the mass
        is 4. Then P(x | u) is (3 + 4 · 0.5) / (4 + 4) = 0.625. It is the base of
        the next prefix, which adds a parent to u.

        ``read`` returns n(u, x) and n(u) of a prefix by its number and, for rows,
        (rows, 1), whether a parent is missing, so that they keep the previous
        distribution even if prefixes are not nested.
        """
        uniform: Array = np.full((1, 1), 1 / self.cards[0])
        value = uniform
        for i, mass in enumerate(self.masses):
            counts, totals, keep = read(i)
            base = value if self.nested else uniform
            if keep is not None and not self.nested:
                base = np.where(keep, value, uniform)
            if mass > 0:
                value = shrink_to_base(counts, totals, base, mass)
            else:
                observed = totals > 0
                value = np.where(observed, counts / np.where(observed, totals, 1.0), base)
            advance_bar()
            if i >= self.prefix_without_parents:
                yield value

    def full_tables_by_depth(self) -> Iterator[Array]:
        """Yield P(x | class, first parents) of all configurations, for 0 feature parents and more.

        The axes are the feature parents, of which later ones have length 1, x,
        and the class.
        """
        levels, *cards = self.cards
        shape = [1] * len(cards)
        numbers = np.zeros(1, dtype=np.intp)  # of the observed configurations, among all

        def read(i: int) -> tuple[Array, Array, None]:
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
            return counts.reshape(*shape, levels, columns), totals.reshape(*shape, 1, columns), None

        return self._distributions(read)

    def with_first_parents(self, most: int) -> PrefixTable:
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
        deduct: Callable[[int], tuple[Array, Array]] | None = None,
    ) -> Iterator[Array]:
        """Yield P(x | class, first parents) at rows, for 0, 1, … parents, (rows, classes or 1).

        ``codes`` are the codes of the variable and its feature parents. If a
        parent is missing (-1), the distribution given the previous parents is
        used. ``deduct`` returns, for the number of a prefix, the amounts to
        subtract at each row from n(u, x) and n(u), in the column of its class.
        """
        unknown = np.zeros((len(codes[0]), 1), dtype=bool)
        # where rows are in the counts: -1 if a value is missing or does not occur with the others
        parents: Places = np.zeros(len(codes[0]), dtype=np.intp)
        cells = parents

        def read(i: int) -> tuple[Array, Array, Array]:
            nonlocal parents, cells
            prefix, last = self.prefixes[i], i - self.prefix_without_parents  # the last parent
            if last > 0:
                pairs = _numbers_of_pairs(parents, codes[last], self.cards[last])
                parents = prefix.parents.positions_of(pairs)
            if last > 0 or i == 0:
                cells = prefix.cells.positions_of(
                    _numbers_of_pairs(parents, codes[0], self.cards[0])
                )
            counts = _rows_at_positions(prefix.counts, cells)
            totals = _rows_at_positions(prefix.totals, parents)
            if deduct is not None:  # in the class of each row, if its parents are observed
                columns = 0 if counts.shape[1] == 1 or classes is None else classes
                own = np.arange(0, counts.size, counts.shape[1]) + columns
                absent = parents < 0
                any_absent = absent.any()
                for table, amount in zip((counts, totals), deduct(i), strict=True):
                    amount = np.where(absent, 0.0, amount) if any_absent else amount
                    table.reshape(-1)[own] -= amount
            if last > 0:
                np.logical_or(unknown, codes[last][:, None] < 0, out=unknown)
            return counts, totals, unknown

        return self._distributions(read)


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


def _rows_at_positions(table: Array, places: Places) -> Array:
    """Return the rows of a table at positions, zeros for -1."""
    if not len(table):
        return np.zeros((len(places), table.shape[1]))
    entries = table.take(places, axis=0, mode="wrap")
    absent = places < 0
    if absent.any():
        entries[absent] = 0
    return entries


LEAST, MOST = 0.5, 5000.0
"""The range of concentrations."""

_GRID = np.geomspace(LEAST, MOST, 9)
_GRID[[0, -1]] = LEAST, MOST
_LOG_GRID = np.log(_GRID)
_FEW = 4  # counts up to which a sum is faster than digamma


def learn_concentrations(
    families: Sequence[Sequence[PrefixCounts]], of_class: Sequence[bool]
) -> list[list[float]]:
    """Return the concentrations of the prefixes of families.

    The base of a prefix is the distribution of the previous one, so prefix i of
    all families is learned before prefix i + 1 of any.
    """
    masses = [list[float]() for _ in families]
    values = [np.empty((0, 1))] * len(families)  # the distributions of the last prefixes
    for i in range(max(map(len, families), default=0)):
        present = [number for number, prefixes in enumerate(families) if len(prefixes) > i]
        found = []  # positive counts n(u, x), their bases p(x | u) and n(u), and all n(u)
        for number in present:
            prefix, shorter = families[number][i], families[number][i - 1]
            cells, classes = prefix.counts.nonzero()
            bases = np.full(len(cells), 1 / prefix.levels)
            if i > 0:
                columns = classes if values[number].shape[1] > 1 else np.zeros_like(classes)
                bases = values[number][prefix.cells_of_shorter_prefix(shorter)[cells], columns]
            # cells are numbered by configuration x levels + level
            given = prefix.totals[prefix.cells.keys[cells] // prefix.levels, classes]
            found.append((prefix.counts[cells, classes], bases, given, prefix.totals.ravel()))
        counts, bases, _, totals = map(np.concatenate, zip(*found, strict=True))
        sizes, total_sizes = [np.array([len(own[j]) for own in found]) for j in (0, 3)]
        best = best_concentrations(counts, bases, sizes, totals, total_sizes)
        for number, (counts, bases, given, _), mass in zip(
            present, found, best.tolist(), strict=True
        ):
            masses[number].append(1.0 if of_class[number] and i == 0 else mass)
            of_prefix = families[number][i].counts
            values[number] = np.zeros(of_prefix.shape)
            values[number][of_prefix.nonzero()] = shrink_to_base(
                counts, given, bases, masses[number][-1]
            )
    return masses


def best_concentrations(
    counts: Array, bases: Array, sizes: Positions, totals: Array, total_sizes: Positions
) -> Array:
    """Return the m of each table, `LEAST` to `MOST`, that maximizes its marginal likelihood.

    Every configuration u of the parents has a Dirichlet prior with m times a
    base distribution as pseudo-counts, and m is the same for all configurations
    of a table. It maximizes

        Σ_u [ln Γ(m) − ln Γ(m + n(u)) + Σ_x (ln Γ(m p(x|u) + n(u,x)) − ln Γ(m
        p(x|u)))].

    If the likelihood varies by less than 1e-9 over the range, m is `MOST`.

    ``counts`` and ``bases`` hold the n(u, x) above 0 and their p(x | u), and
    ``totals`` n(u), those of the first table, of ``sizes`` and ``total_sizes``,
    first.
    """
    every, seen = np.arange(len(sizes)), totals > 0
    totals = totals[seen]
    tables = np.concatenate([every.repeat(sizes), every.repeat(total_sizes)[seen]])
    order = np.argsort(tables, kind="stable")
    evidence = _MarginalLikelihoods(
        np.concatenate([counts, totals])[order],
        np.concatenate([bases, np.ones(len(totals))])[order],
        np.repeat([1.0, -1.0], [len(counts), len(totals)])[order],
        np.bincount(tables, minlength=len(sizes)),
    )
    ends = np.flatnonzero(np.diff(sizes.cumsum() // BLOCK_CELLS)) + 1
    blocks = np.split(every, ends)
    return np.concatenate([evidence.select_tables(block).largest_modes() for block in blocks])


@dataclass(frozen=True)
class _MarginalLikelihoods:
    """The log marginal likelihoods of tables as functions of m, up to constants.

    An entry adds sign · (ln Γ(m · base + count) − ln Γ(m · base)): the count
    and base of a cell, and, with a negative sign, the total of a configuration,
    with the base 1. Tables have ``sizes`` entries each, in order.
    """

    counts: Array
    bases: Array
    signs: Array
    sizes: Positions

    @cached_property
    def _counts_for_digamma(self) -> Positions:
        return np.flatnonzero((self.counts > _FEW) | (self.counts % 1 != 0))

    def _rises_of_digamma(self, scaled: Array) -> Array:
        """Return s (ψ(s + n) − ψ(s)) for s = m · base; if n is whole, 1 + s/(s + 1) + … of n terms.

        Example: 1 if n = 1, however large s is, so that levels that occur once
        say nothing about m.
        """
        rises = np.minimum(self.counts, 1.0)
        for k in range(1, _FEW):
            rises += np.where(self.counts > k, scaled / (scaled + k), 0.0)
        at = self._counts_for_digamma
        some, counts = scaled[at], self.counts[at]
        rises[at] = some * (special.digamma(some + counts) - special.digamma(some))
        return rises

    def select_tables(self, tables: Positions) -> _MarginalLikelihoods:
        """Return the evidence of some tables, which may be repeated."""
        sizes = self.sizes[tables]
        starts = (self.sizes.cumsum() - self.sizes)[tables] - (sizes.cumsum() - sizes)
        entries = np.repeat(starts, sizes) + np.arange(sizes.sum())
        return _MarginalLikelihoods(
            self.counts[entries], self.bases[entries], self.signs[entries], sizes
        )

    def __call__(self, m: Array) -> Array:
        scaled = m.repeat(self.sizes) * self.bases
        rises = special.gammaln(scaled + self.counts) - special.gammaln(scaled)
        return self._sums_by_table(self.signs * rises)

    def slopes_by_log_m(self, m: Array | float) -> Array:
        """Return the slopes by ln m, at one concentration per table or at one for all."""
        scaled = (m if isinstance(m, float) else m.repeat(self.sizes)) * self.bases
        return self._sums_by_table(self.signs * self._rises_of_digamma(scaled))

    def _sums_by_table(self, values: Array) -> Array:
        result, some = np.zeros(len(self.sizes)), self.sizes.nonzero()[0]
        if len(some):
            sizes = self.sizes[some]
            result[some] = np.add.reduceat(values, sizes.cumsum() - sizes)
        return result

    def largest_modes(self) -> Array:
        """Return the best concentration of each table: the largest local maximum.

        Example: with the slopes (+, +, −, −, +) on the grid, the maxima are between
        its second and third m, and at the end, `MOST`.
        """
        # (tables, numbers of the grid)
        slopes = np.stack([self.slopes_by_log_m(float(m)) for m in _GRID], axis=1)
        has_top = (slopes[:, :-1] > 0) & (slopes[:, 1:] <= 0)
        falls_first = slopes[:, 0] <= 0
        # Also if counts of 1e300 give no slopes.
        rises_last = (slopes[:, -1] > 0) | ~(falls_first | has_top.any(axis=1))
        tables, left = has_top.nonzero()
        some, low, high = self.select_tables(tables), _LOG_GRID[left], _LOG_GRID[left + 1]
        ends = slopes[tables, left], slopes[tables, left + 1]
        tops = np.exp(_find_zero_of_slope(some, low, high, *ends))
        at_start, at_end = np.flatnonzero(falls_first), np.flatnonzero(rises_last)
        maxima = np.concatenate([tops, np.full(len(at_start), LEAST), np.full(len(at_end), MOST)])
        owner = np.concatenate([tables, at_start, at_end])
        values = np.zeros(len(owner))  # compared if a table owns several
        several = np.flatnonzero(np.bincount(owner)[owner] > 1)
        values[several] = self.select_tables(owner[several])(maxima[several])
        order = np.lexsort((-values, owner))  # by table, the largest first
        _, first = np.unique(owner[order], return_index=True)
        result = maxima[order[first]]
        # 1e-6: minimum slope by ln m of a likelihood that is not flat
        flat = np.flatnonzero(np.abs(slopes).max(axis=1) < 1e-6)
        if len(flat):
            some = self.select_tables(flat)
            values = np.stack([some(np.full(len(flat), m)) for m in _GRID])
            result[flat[np.ptp(values, axis=0) < TOLERANCE]] = MOST
        return result


def _find_zero_of_slope(
    evidence: _MarginalLikelihoods, a: Array, b: Array, slope_a: Array, slope_b: Array
) -> Array:
    """Return each table's zero of the slope in ln m in (a, b), by the Anderson–Björck method."""
    active = np.ones(len(a), dtype=bool)
    for _ in range(8):  # steps of root finding before solved problems are removed
        between = b - np.where(active, slope_b * (b - a) / (slope_b - slope_a), 0.0)
        slope = np.where(active, evidence.slopes_by_log_m(np.exp(between)), slope_b)
        crossed = slope * slope_b < 0
        shrink = 1 - slope / np.where(slope_b == 0, 1.0, slope_b)
        kept = slope_a * np.where(shrink > 0, shrink, 0.5)
        a, slope_a = np.where(crossed, b, a), np.where(crossed, slope_b, kept)
        active &= (np.abs(between - b) > 1e-8) & (slope != 0)
        b, slope_b = between, slope
        if not active.any():
            return b
    rest = np.flatnonzero(active)
    ends = a[rest], b[rest], slope_a[rest], slope_b[rest]
    b[rest] = _find_zero_of_slope(evidence.select_tables(rest), *ends)
    return b


@record
@dataclass(frozen=True)
class BackOff(Immutable):
    """Each table is shrunk towards the one with a parent fewer, by an amount from the data.

    The variable alone is shrunk towards the uniform distribution. The class, if
    it is a parent, is added first, then the feature parents in family order.
    The class alone has a pseudo-count of 1.

    If ``per_level`` is a number, tables with feature parents are shrunk by this
    number of pseudo-counts for each level that occurs with a configuration of
    the parents, on average. Witten and Bell (1991) add one per level and
    configuration.
    """

    bounds = field_bounds(per_level=POSITIVE)

    nested = True

    per_level: float | None = None

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        raise TypeError("backoff requires the counts of shorter tables. Use smooth, ess or m.")

    def count(self, data: Dataset, scopes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        return tuple(count_prefixes_of_families(data, scopes))

    def tabulate(
        self,
        counts: Sequence[Any],
        scopes: Sequence[tuple[int, ...]],
        families: Sequence[tuple[Hashable, ...]],
    ) -> tuple[list[Array], dict[str, Any]]:
        of_class = [number == len(scopes) - 1 for number in range(len(scopes))]
        tables = tables_of_counts(counts, of_class, self)
        cpts = [table.cpt_of_family(family) for table, family in zip(tables, families, strict=True)]
        return cpts, concentrations_of(tables)


def tables_of_counts(
    counts: Sequence[NestedCounts], of_class: Sequence[bool], prior: Any
) -> list[PrefixTable]:
    nested = is_nested_prior(check_prefix_prior(prior))
    masses: list[list[float]] = []
    for at in slices(len(counts), most=2**6):  # families whose concentrations are chosen together
        if nested:
            prefixes = [own.prefixes for own in counts[at]]
            if prior.per_level is not None:  # learned without feature parents only
                prefixes = [own.prefixes[: own.n_without_parents] for own in counts[at]]
            learned = learn_concentrations(prefixes, of_class[at])
            for own, found in zip(counts[at], learned, strict=True):
                for prefix in own.prefixes[len(found) :]:
                    # 3 levels occur in class a, and 1 in class b: the mean is 2
                    cells, rows = map(np.count_nonzero, (prefix.counts, prefix.totals))
                    found.append(prior.per_level * (max(int(cells), 1) / max(int(rows), 1)))
            masses += learned
            continue
        for own in counts[at]:
            levels, of_prior = own.cards[0], list[float]()
            for i, prefix in enumerate(own.prefixes):
                parent_cards = own.cards[1 : max(1, i - own.n_without_parents + 2)]
                configurations = prefix.counts.shape[1] * prod(parent_cards)
                of_prior.append(float(levels * prior.pseudo_count_per_cell(levels, configurations)))
            masses.append(of_prior)
    pairs = zip(counts, masses, strict=True)
    return [PrefixTable(own.cards, own.prefixes, tuple(m), nested) for own, m in pairs]


def check_prefix_prior(prior: Any) -> Any:
    """Return a prior that adds pseudo-counts to the table of every prefix, or raise a TypeError."""
    if not is_nested_prior(prior) and not isinstance(prior, PseudoCounts):
        raise TypeError("prior must be smooth, ess, m or backoff.")
    return prior


def concentrations_of(tables: Sequence[PrefixTable]) -> dict[str, Any]:
    """Return the record of back-off in a model, empty for other priors."""
    return {"concentrations": tuple([table.masses for table in tables])} if tables[0].nested else {}


def _requested_back_off(asked: object) -> BackOff:
    if asked is True:
        return BackOff()
    if not isinstance(asked, Number):
        raise TypeError(
            must_be("backoff", "True or False, or a number of pseudo-counts per level", asked)
        )
    return BackOff(Real(LEAST_AMOUNT, MOST_AMOUNT).check("backoff", asked))


PRIORS["backoff"] = _requested_back_off
