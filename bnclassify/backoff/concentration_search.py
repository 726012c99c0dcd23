"""Hierarchical smoothing (back-off), with concentrations that are chosen by marginal likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from ..base.arrays import TOLERANCE, Array
from .counts import PrefixCounts, owners
from .tables import back_off

LEAST, MOST = 0.5, 5000.0
"""The interval of concentrations that are considered."""

_GRID = np.geomspace(LEAST, MOST, 9)
_GRID[[0, -1]] = LEAST, MOST
_LOG_GRID = np.log(_GRID)
_FEW = 32  # whole counts up to here are written out as sums: exact, and fast if most counts are small
_STEEP = 1e-6  # a likelihood with a slope by ln m above this is not flat
_NO_STEP = 1e-10
_ROUNDS = 8  # of root finding, before the problems that are solved are set aside
_BLOCK_CELLS = 2**14  # of tables that are solved together, so that their arrays stay in cache


Index = NDArray[np.intp]


def learn_masses(
    families: Sequence[Sequence[PrefixCounts]], cards: Sequence[NDArray[np.intp]], of_class: Sequence[bool]
) -> list[list[Array]]:
    """Return the concentrations of the prefixes of families, each chosen after those before it.

    Of each prefix there is one per coding, as ``cards`` have rows; the class alone has 1. The prefixes of all
    families are worked on together, their counts above 0 one after the other.
    """
    search = _Search(families, cards, of_class)
    for _ in back_off(max(map(len, families), default=0), search.read, search.mass):
        pass
    return search.masses


class _Search:
    """The families of `learn_masses`, and the concentrations that are chosen already."""

    def __init__(
        self,
        families: Sequence[Sequence[PrefixCounts]],
        cards: Sequence[NDArray[np.intp]],
        of_class: Sequence[bool],
    ) -> None:
        self.families, self.cards, self.of_class = families, cards, of_class
        self.order = sorted(range(len(families)), key=lambda f: -len(families[f]))
        self.owners = [owners(prefixes, rows) for prefixes, rows in zip(families, cards, strict=True)]
        self.occurring: list[list[tuple[Any, ...]]] = [
            [prefix.counts.nonzero() for prefix in prefixes] for prefixes in families
        ]
        self.masses: list[list[Array]] = [[] for _ in families]

    def at(self, i: int) -> list[int]:
        """Return the families that have a prefix i, those of most prefixes first."""
        return [f for f in self.order if len(self.families[f]) > i]

    def configurations(self, f: int, i: int) -> Index:
        """Return the configuration of the parents of each count above 0 of a prefix."""
        prefix = self.families[f][i]
        return prefix.cells.keys[self.occurring[f][i][0]] // prefix.levels

    def read(self, i: int, shorter: Array | None) -> tuple[Array, Array, Array]:
        """Return what `back_off` reads, of the counts above 0 of prefix i of all families."""
        families, occurring, at = self.families, self.occurring, self.at(i)
        configurations = [self.configurations(f, i) for f in at]
        counts = np.concatenate([families[f][i].counts[occurring[f][i]] for f in at])
        totals = np.concatenate(
            [families[f][i].totals[c, occurring[f][i][1]] for f, c in zip(at, configurations, strict=True)]
        )
        if shorter is None:
            levels = [self.cards[f][c, 0] for f, c in zip(at, configurations, strict=True)]
            return counts, totals, 1 / np.concatenate(levels)
        places, offset = [], 0
        for f in at:
            before, after = families[f][i - 1 : i + 1]
            place: NDArray[Any] = np.empty(before.counts.shape, dtype=np.intp)
            place[occurring[f][i - 1]] = np.arange(offset, offset + len(occurring[f][i - 1][0]))
            cells, classes = occurring[f][i]
            columns = classes if place.shape[1] > 1 else np.zeros_like(classes)
            places.append(place[after.cells_before(before)[cells], columns])
            offset += len(occurring[f][i - 1][0])
        return counts, totals, shorter[np.concatenate(places)]

    def mass(self, i: int, counts: Array, base: Array) -> Array:
        """Choose the concentrations of prefix i of all families, and return that of each count."""
        sizes, totals, at = [], [], self.at(i)
        for f in at:
            prefix, owner, n = self.families[f][i], self.owners[f][i], len(self.cards[f])
            sizes += np.bincount(owner[self.configurations(f, i)], minlength=n).tolist()
            totals += np.split(prefix.totals, np.searchsorted(owner, np.arange(1, n)))
        ends = np.cumsum(sizes)[:-1]
        best = np.array(best_concentrations(np.split(counts, ends), np.split(base, ends), totals))
        start = 0
        for f in at:
            end = start + len(self.cards[f])
            if self.of_class[f] and i == 0:
                best[start:end] = 1.0
            self.masses[f].append(best[start:end])
            start = end
        return np.repeat(best, sizes)


def best_concentrations(
    counts: Sequence[Array], bases: Sequence[Array], totals: Sequence[Array]
) -> list[float]:
    """Return the concentration m of each table from `LEAST` to `MOST` that maximizes its marginal likelihood.

    Every configuration u of the parents has a Dirichlet prior with m times a base distribution as
    pseudo-counts, and m is the same for all configurations of a table. It maximizes

        Σ_u [ln Γ(m) − ln Γ(m + n(u)) + Σ_x (ln Γ(m p(x|u) + n(u,x)) − ln Γ(m p(x|u)))].

    If that differs by less than 1e-9 over the interval, m is `MOST`.

    ``counts`` and ``bases`` hold n(u, x) and p(x | u) of each table, arrays of one shape, and p is above 0
    where the count is; ``totals`` hold n(u).
    """
    sizes = np.cumsum([table.size for table in counts])
    ends = np.flatnonzero(np.diff(sizes // _BLOCK_CELLS, append=-1)) + 1
    result: list[float] = []
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        block = slice(start, end)
        result += _solve(_evidence(counts[block], bases[block], totals[block])).tolist()
    return result


@dataclass(frozen=True)
class _Evidence:
    """The log marginal likelihoods of tables as functions of their concentrations, up to constants.

    ln Γ(m p + n) − ln Γ(m p) of a whole n is n ln p and the sum of ln(m + j/p) over j from 0 to n − 1. So
    small counts give ``logs`` ln m and Σ weights · ln(m + steps); large ones are added with ``signs``. Counts
    of cells add to the evidence, and totals are subtracted.
    """

    logs: Array
    steps: Array
    weights: Array
    step_tables: Index
    large: Array
    base: Array
    signs: Array
    large_tables: Index

    def take(self, tables: Index) -> _Evidence:
        """Return the evidence of some tables."""
        place = np.full(len(self.logs), -1)
        place[tables] = np.arange(len(tables))
        steps, large = place[self.step_tables], place[self.large_tables]
        s, t = steps >= 0, large >= 0
        return _Evidence(
            self.logs[tables], self.steps[s], self.weights[s], steps[s],
            self.large[t], self.base[t], self.signs[t], large[t],
        )  # fmt: skip

    def __call__(self, m: Array) -> Array:
        """Return the values at one concentration per table."""
        scaled = m[self.large_tables] * self.base
        large = self.signs * (gammaln(scaled + self.large) - gammaln(scaled))
        small = self.weights * np.log(m[self.step_tables] + self.steps)
        return self.logs * np.log(m) + self._add_up(small, large)

    def slopes(self, m: Array | float) -> Array:
        """Return the slopes by ln m, at one concentration per table or at one for all."""
        at_steps: Any = m if isinstance(m, float) else m[self.step_tables]
        at_large: Any = m if isinstance(m, float) else m[self.large_tables]
        scaled = at_large * self.base
        large = self.signs * self.base * (digamma(scaled + self.large) - digamma(scaled))
        small = np.add(self.steps, at_steps)
        np.divide(self.weights, small, out=small)
        return self.logs + m * self._add_up(small, large)

    def _add_up(self, small: Array, large: Array) -> Array:
        n = len(self.logs)
        small_sums = np.bincount(self.step_tables, small, n)
        return np.asarray(small_sums + np.bincount(self.large_tables, large, n), dtype=np.float64)


def _evidence(counts: Sequence[Array], bases: Sequence[Array], totals: Sequence[Array]) -> _Evidence:
    n_tables = len(counts)
    n = np.concatenate([table.ravel() for table in counts])
    base = np.concatenate([table.ravel() for table in bases])
    tables = np.repeat(np.arange(n_tables), [table.size for table in counts])
    occurs = n > 0
    n, base, tables = n[occurs], base[occurs], tables[occurs]
    sums = np.concatenate([table.ravel() for table in totals])
    sum_tables = np.repeat(np.arange(n_tables), [table.size for table in totals])
    few, few_sums = (n <= _FEW) & (n == np.floor(n)), (sums <= _FEW) & (sums == np.floor(sums))
    many_sums = ~few_sums
    # more[t, j] totals of table t exceed j; all have the base 1, so that those with one j are added together
    cells = sum_tables[few_sums] * (_FEW + 1) + sums[few_sums].astype(np.intp)
    tally = np.bincount(cells, minlength=n_tables * (_FEW + 1)).reshape(n_tables, -1)
    more = tally[:, :0:-1].cumsum(axis=1)[:, ::-1]
    sum_steps = more[:, 1:].nonzero()
    repeated = few & (n > 1)
    lengths = n[repeated].astype(np.intp) - 1
    ends = np.cumsum(lengths)
    j = np.arange(1, lengths.sum() + 1) - np.repeat(ends - lengths, lengths)
    return _Evidence(
        logs=np.bincount(tables[few], minlength=n_tables) - more[:, 0].astype(float),
        steps=np.concatenate([j / np.repeat(base[repeated], lengths), sum_steps[1] + 1.0]),
        weights=np.concatenate([np.ones(len(j)), -more[:, 1:][sum_steps].astype(float)]),
        step_tables=np.concatenate([np.repeat(tables[repeated], lengths), sum_steps[0]]),
        large=np.concatenate([n[~few], sums[many_sums]]),
        base=np.concatenate([base[~few], np.ones(np.count_nonzero(many_sums))]),
        signs=np.repeat([1.0, -1.0], [np.count_nonzero(~few), np.count_nonzero(many_sums)]),
        large_tables=np.concatenate([tables[~few], sum_tables[many_sums]]),
    )


def _solve(evidence: _Evidence) -> Array:
    """Return the best concentration of each table: of several local maxima the largest."""
    slopes = np.stack([evidence.slopes(float(m)) for m in _GRID], axis=1)
    is_top = (slopes[:, :-1] > 0) & (slopes[:, 1:] <= 0)
    at_start, at_end = slopes[:, 0] <= 0, slopes[:, -1] > 0
    tables, left = is_top.nonzero()
    tops = _roots(evidence, tables, left, slopes)
    order = np.argsort(
        np.concatenate([tables, np.flatnonzero(at_start), np.flatnonzero(at_end)]), kind="stable"
    )
    candidates = np.concatenate([tops, np.full(at_start.sum(), LEAST), np.full(at_end.sum(), MOST)])[order]
    numbers = is_top.sum(axis=1) + at_start + at_end
    starts = np.cumsum(numbers) - numbers
    result = candidates[starts]
    for table in np.flatnonzero(numbers > 1):
        one = evidence.take(np.array([table]))
        several = candidates[starts[table] : starts[table] + numbers[table]]
        result[table] = max(several, key=lambda m: one(np.array([m])).item())
    flat = np.flatnonzero(np.abs(slopes).max(axis=1) < _STEEP)
    if len(flat):
        some = evidence.take(flat)
        values = np.stack([some(np.full(len(flat), m)) for m in _GRID])
        result[flat[np.ptp(values, axis=0) < TOLERANCE]] = MOST
    return result


def _roots(evidence: _Evidence, tables: Index, left: Index, grid_slopes: Array) -> Array:
    """Return where the slopes of tables are 0 between neighbors on the grid, the first at ``left``."""
    result = np.empty(len(tables))
    rank = np.arange(len(tables)) - np.searchsorted(tables, tables)  # among the problems of a table
    for r in range(rank.max(initial=-1) + 1):
        chosen = np.flatnonzero(rank == r)
        every = len(chosen) == len(grid_slopes)
        part, i = evidence if every else evidence.take(tables[chosen]), left[chosen]
        ends = grid_slopes[tables[chosen], i], grid_slopes[tables[chosen], i + 1]
        result[chosen] = np.exp(_cross(part, _LOG_GRID[i], _LOG_GRID[i + 1], *ends))
    return result


def _cross(evidence: _Evidence, a: Array, b: Array, slope_a: Array, slope_b: Array) -> Array:
    """Return ln m where the slope of each table is 0, between a and b, by the Anderson–Björck method."""
    active = np.ones(len(a), dtype=bool)
    for _ in range(_ROUNDS):
        between = b - np.where(active, slope_b * (b - a) / (slope_b - slope_a), 0.0)
        slope = np.where(active, evidence.slopes(np.exp(between)), slope_b)
        crossed = slope * slope_b < 0
        shrink = 1 - slope / np.where(slope_b == 0, 1.0, slope_b)
        kept = slope_a * np.where(shrink > 0, shrink, 0.5)
        a, slope_a = np.where(crossed, b, a), np.where(crossed, slope_b, kept)
        active &= (np.abs(between - b) > _NO_STEP) & (slope != 0)
        b, slope_b = between, slope
        if not active.any():
            return b
    rest = np.flatnonzero(active)
    b[rest] = _cross(evidence.take(rest), a[rest], b[rest], slope_a[rest], slope_b[rest])
    return b
