"""The back-off prior: its concentrations and tables, and the argument `backoff` of `lp`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Number
from typing import Any

import numpy as np

from ..classifiers import LEAST_AMOUNT, MOST_AMOUNT, PRIORS, PseudoCounts, is_nested_prior
from ..dataset import Dataset
from ..tools import special
from ..tools.arrays import BLOCK_CELLS, TOLERANCE, Array, Positions, slices
from ..tools.checks import Real, must_be
from ..tools.immutable import POSITIVE, Immutable, cached_property, field_bounds, record
from .prefix_tables import (
    NestedCounts,
    PrefixCounts,
    PrefixTable,
    count_prefixes_of_families,
    shrink_to_base,
)

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
    cells, rows = np.concatenate([[0], sizes.cumsum()]), np.concatenate([[0], total_sizes.cumsum()])
    ends = np.flatnonzero(np.diff(cells[1:] // BLOCK_CELLS, append=-1)) + 1
    result = np.empty(len(sizes))
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        of_cells, of_rows = slice(cells[start], cells[end]), slice(rows[start], rows[end])
        of_counts = counts[of_cells], bases[of_cells], sizes[start:end]
        of_totals = totals[of_rows], total_sizes[start:end]
        evidence = _MarginalLikelihoods.from_cells(*of_counts, *of_totals)
        result[start:end] = evidence.largest_modes()
    return result


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
        """The entries whose rise is not a short sum."""
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

    @classmethod
    def from_cells(
        cls, counts: Array, bases: Array, sizes: Positions, totals: Array, total_sizes: Positions
    ) -> _MarginalLikelihoods:
        """Return the evidence of tables from cells and totals, the first table's first."""
        every, seen = np.arange(len(sizes)), totals > 0
        totals = totals[seen]
        tables = np.concatenate([every.repeat(sizes), every.repeat(total_sizes)[seen]])
        order = np.argsort(tables, kind="stable")
        return cls(
            np.concatenate([counts, totals])[order],
            np.concatenate([bases, np.ones(len(totals))])[order],
            np.repeat([1.0, -1.0], [len(counts), len(totals)])[order],
            np.bincount(tables, minlength=len(sizes)),
        )

    def select_tables(self, tables: Positions) -> _MarginalLikelihoods:
        """Return the evidence of some tables, which may be repeated."""
        sizes = self.sizes[tables]
        starts = (self.sizes.cumsum() - self.sizes)[tables] - (sizes.cumsum() - sizes)
        entries = np.repeat(starts, sizes) + np.arange(sizes.sum())
        return _MarginalLikelihoods(
            self.counts[entries], self.bases[entries], self.signs[entries], sizes
        )

    def __call__(self, m: Array) -> Array:
        """Return the values at one concentration per table."""
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
        """Raise a TypeError, because one table does not contain the counts of shorter tables."""
        raise TypeError("backoff requires the counts of shorter tables. Use smooth, ess or m.")

    def count(self, data: Dataset, scopes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        return tuple(count_prefixes_of_families(data, scopes))

    def tabulate(
        self,
        counts: Sequence[Any],
        scopes: Sequence[tuple[int, ...]],
        families: Sequence[tuple[Hashable, ...]],
    ) -> tuple[list[Array], dict[str, Any]]:
        """Return the table of each family, and the concentrations."""
        of_class = [number == len(scopes) - 1 for number in range(len(scopes))]
        tables = tables_of_counts(counts, of_class, self)
        cpts = [table.cpt_of_family(family) for table, family in zip(tables, families, strict=True)]
        return cpts, concentrations_of(tables)


def tables_of_counts(
    counts: Sequence[NestedCounts], of_class: Sequence[bool], prior: Any
) -> list[PrefixTable]:
    """Return the tables of families from their counts."""
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
    """Return the prior for True or a number of pseudo-counts per level, or raise an error."""
    if asked is True:
        return BackOff()
    if not isinstance(asked, Number):
        raise TypeError(
            must_be("backoff", "True or False, or a number of pseudo-counts per level", asked)
        )
    return BackOff(Real(LEAST_AMOUNT, MOST_AMOUNT).check("backoff", asked))


PRIORS["backoff"] = _requested_back_off
