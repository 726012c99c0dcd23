"""The back-off prior, its concentrations and tables, and the priors by the arguments of `lp`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from ..base.arrays import TOLERANCE, Array, ArrayOf, Positions
from ..base.checks import Flag, Real, must_be
from ..base.immutable import cached_property, record
from ..frames.dataset import Dataset
from ..network.priors import (
    LEAST_AMOUNT,
    MOST_AMOUNT,
    MOST_ESS,
    Dirichlet,
    EquivalentSize,
    MEstimate,
    Prior,
    PseudoCounts,
    is_nested,
)
from .counts import PrefixCounts, count_nested, owners
from .tables import PrefixTable, Stack, back_off

LEAST, MOST = 0.5, 5000.0
"""The range of concentrations."""

_GRID = np.geomspace(LEAST, MOST, 9)
_GRID[[0, -1]] = LEAST, MOST
_LOG_GRID = np.log(_GRID)
_STEEP = 1e-6  # minimum slope by ln m of a likelihood that is not flat
_NO_STEP = 1e-8
_ROUNDS = 8  # steps of root finding before solved problems are removed
_FEW = 4  # counts up to which a sum is faster than digamma
_BLOCK_CELLS = 2**15  # number of tables that are solved together, so that their arrays stay in cache


def learn_masses(
    families: Sequence[Sequence[PrefixCounts]], cards: Sequence[Positions], of_class: Sequence[bool]
) -> list[list[Array]]:
    """Return the concentrations of the prefixes of families, one per coding (row of ``cards``)."""
    search = _Concentrations(families, cards, of_class)
    for _ in back_off(max(map(len, families), default=0), search.read, search.mass):
        pass
    return search.masses


class _Concentrations:
    """The families of `learn_masses`, and the concentrations chosen so far."""

    def __init__(
        self,
        families: Sequence[Sequence[PrefixCounts]],
        cards: Sequence[Positions],
        of_class: Sequence[bool],
    ) -> None:
        self.families, self.cards, self.of_class = families, cards, of_class
        self.order = sorted(range(len(families)), key=lambda f: -len(families[f]))
        self.owners = [owners(prefixes, rows) for prefixes, rows in zip(families, cards, strict=True)]
        self.occurring: list[list[tuple[Any, ...]]] = [
            [prefix.counts.nonzero() for prefix in prefixes] for prefixes in families
        ]
        self.masses: list[list[Array]] = [[] for _ in families]
        self.sizes: list[Positions] = []
        self.totals: list[Array] = []
        self.total_sizes: list[Positions] = []

    def at(self, i: int) -> list[int]:
        """Return the families that have a prefix i, in descending order of their numbers of prefixes."""
        return [f for f in self.order if len(self.families[f]) > i]

    def read(self, i: int, shorter: Array | None) -> tuple[Array, Array, Array]:
        """Return the arguments of `back_off` for the positive counts of prefix i of all families."""
        counts, totals, bases, start = [], [], [], 0
        self.sizes, self.totals, self.total_sizes = [], [], []
        for f in self.at(i):
            prefix, owner, n = self.families[f][i], self.owners[f][i], len(self.cards[f])
            cells, classes = self.occurring[f][i]
            configurations = prefix.cells.keys[cells] // prefix.levels
            counts.append(prefix.counts[cells, classes])
            totals.append(prefix.totals[configurations, classes])
            self.sizes.append(np.bincount(owner[configurations], minlength=n))
            self.totals.append(prefix.totals.ravel())
            self.total_sizes.append(np.bincount(owner, minlength=n) * prefix.totals.shape[1])
            if shorter is None:
                bases.append(1 / self.cards[f][owner[configurations], 0])
                continue
            before = self.families[f][i - 1]
            place: ArrayOf[Any] = np.empty(before.counts.shape, dtype=np.intp)
            occurring = self.occurring[f][i - 1]
            place[occurring] = np.arange(start, start + len(occurring[0]))
            columns = classes if place.shape[1] > 1 else np.zeros_like(classes)
            bases.append(shorter[place[prefix.cells_before(before)[cells], columns]])
            start += len(occurring[0])
        return np.concatenate(counts), np.concatenate(totals), np.concatenate(bases)

    def mass(self, i: int, counts: Array, base: Array) -> Array:
        """Choose the concentrations of prefix i of all families, and return one per count."""
        sizes, totals = np.concatenate(self.sizes), np.concatenate(self.totals)
        best = best_concentrations(counts, base, sizes, totals, np.concatenate(self.total_sizes))
        start = 0
        for f in self.at(i):
            end = start + len(self.cards[f])
            if self.of_class[f] and i == 0:
                best[start:end] = 1.0
            self.masses[f].append(best[start:end])
            start = end
        return np.repeat(best, sizes)


def best_concentrations(
    counts: Array, bases: Array, sizes: Positions, totals: Array, total_sizes: Positions
) -> Array:
    """Return the concentration m of each table from `LEAST` to `MOST` that maximizes its marginal likelihood.

    Every configuration u of the parents has a Dirichlet prior with m times a base distribution as
    pseudo-counts, and m is the same for all configurations of a table. It maximizes

        Σ_u [ln Γ(m) − ln Γ(m + n(u)) + Σ_x (ln Γ(m p(x|u) + n(u,x)) − ln Γ(m p(x|u)))].

    If the likelihood varies by less than 1e-9 over the range, m is `MOST`.

    ``counts`` and ``bases`` hold the n(u, x) above 0 and their p(x | u), and ``totals`` n(u), those of the
    first table, of ``sizes`` and ``total_sizes``, first.
    """
    cells, rows = np.concatenate([[0], sizes.cumsum()]), np.concatenate([[0], total_sizes.cumsum()])
    ends = np.flatnonzero(np.diff(cells[1:] // _BLOCK_CELLS, append=-1)) + 1
    result = np.empty(len(sizes))
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        of_cells, of_rows = slice(cells[start], cells[end]), slice(rows[start], rows[end])
        found = counts[of_cells], bases[of_cells], sizes[start:end], totals[of_rows], total_sizes[start:end]
        result[start:end] = _solve(_Likelihoods.of(*found))
    return result


@dataclass(frozen=True)
class _Likelihoods:
    """The log marginal likelihoods of tables as functions of their concentrations m, up to constants.

    An entry adds sign · (ln Γ(m · base + count) − ln Γ(m · base)): the count and base of a cell, and, with a
    negative sign, the total of a configuration, with the base 1. Tables have ``sizes`` entries each, in
    order.
    """

    counts: Array
    bases: Array
    signs: Array
    sizes: Positions

    @cached_property
    def _several(self) -> Positions:
        """The entries whose rise is not a short sum."""
        return np.flatnonzero((self.counts > _FEW) | (self.counts % 1 != 0))

    def _rises(self, scaled: Array) -> Array:
        """Return s (ψ(s + n) − ψ(s)) for s = m · base, or 1 + s/(s + 1) + … + s/(s + n − 1) for whole n.

        Example: 1 if n = 1, however large s is, so that levels that occur once say nothing about m.
        """
        rises = np.minimum(self.counts, 1.0)
        for k in range(1, _FEW):
            rises += np.where(self.counts > k, scaled / (scaled + k), 0.0)
        at = self._several
        some = scaled[at]
        rises[at] = some * (digamma(some + self.counts[at]) - digamma(some))
        return rises

    @classmethod
    def of(
        cls, counts: Array, bases: Array, sizes: Positions, totals: Array, total_sizes: Positions
    ) -> _Likelihoods:
        """Return the evidence of tables from their cells and totals, those of the first table first."""
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

    def take(self, tables: Positions) -> _Likelihoods:
        """Return the evidence of some tables, which may be repeated."""
        sizes = self.sizes[tables]
        starts = (self.sizes.cumsum() - self.sizes)[tables] - (sizes.cumsum() - sizes)
        entries = np.repeat(starts, sizes) + np.arange(sizes.sum())
        return _Likelihoods(self.counts[entries], self.bases[entries], self.signs[entries], sizes)

    def __call__(self, m: Array) -> Array:
        """Return the values at one concentration per table."""
        scaled = m.repeat(self.sizes) * self.bases
        return self._add_up(self.signs * (gammaln(scaled + self.counts) - gammaln(scaled)))

    def slopes(self, m: Array | float) -> Array:
        """Return the slopes by ln m, at one concentration per table or at one for all."""
        scaled = (m if isinstance(m, float) else m.repeat(self.sizes)) * self.bases
        return self._add_up(self.signs * self._rises(scaled))

    def _add_up(self, values: Array) -> Array:
        result, some = np.zeros(len(self.sizes)), self.sizes.nonzero()[0]
        if len(some):
            sizes = self.sizes[some]
            result[some] = np.add.reduceat(values, sizes.cumsum() - sizes)
        return result


def _solve(evidence: _Likelihoods) -> Array:
    """Return the best concentration of each table: the largest local maximum."""
    slopes = np.stack([evidence.slopes(float(m)) for m in _GRID], axis=1)
    is_top = (slopes[:, :-1] > 0) & (slopes[:, 1:] <= 0)
    at_start = slopes[:, 0] <= 0
    at_end = (slopes[:, -1] > 0) | ~(at_start | is_top.any(axis=1))  # also if counts of 1e300 give no slopes
    tables, left = is_top.nonzero()
    ends = slopes[tables, left], slopes[tables, left + 1]
    tops = np.exp(_cross(evidence.take(tables), _LOG_GRID[left], _LOG_GRID[left + 1], *ends))
    owner = np.concatenate([tables, np.flatnonzero(at_start), np.flatnonzero(at_end)])
    candidates = np.concatenate([tops, np.full(at_start.sum(), LEAST), np.full(at_end.sum(), MOST)])
    several = np.flatnonzero(np.bincount(owner)[owner] > 1)
    values = np.zeros(len(owner))
    values[several] = evidence.take(owner[several])(candidates[several])
    order = np.lexsort((-values, owner))
    result = candidates[order[np.searchsorted(owner[order], np.arange(len(slopes)))]]
    flat = np.flatnonzero(np.abs(slopes).max(axis=1) < _STEEP)
    if len(flat):
        some = evidence.take(flat)
        values = np.stack([some(np.full(len(flat), m)) for m in _GRID])
        result[flat[np.ptp(values, axis=0) < TOLERANCE]] = MOST
    return result


def _cross(evidence: _Likelihoods, a: Array, b: Array, slope_a: Array, slope_b: Array) -> Array:
    """Return the zero of the slope of each table in ln m, between a and b, by the Anderson–Björck method."""
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


_BLOCK_FAMILIES = 2**6  # number of families whose concentrations are chosen together


@record
@dataclass(frozen=True)
class BackOff:
    """Each table is shrunk towards the table with one parent fewer, by an amount estimated from the data.

    The variable alone is shrunk towards the uniform distribution. The class, if it is a parent, is
    added first, then the feature parents in family order. The class alone has a pseudo-count of 1.
    """

    nested = True

    def __call__(self, counts: Array, axis: int = 0) -> Array:
        """Raise a TypeError, because a single table does not contain the counts of shorter tables."""
        raise TypeError("backoff requires the counts of shorter tables. Use smooth, ess or m.")

    def count(self, data: Dataset, scopes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
        """Return the counts of each family and of its prefixes."""
        return tuple(count_nested(data, scopes))

    def tabulate(
        self,
        counts: Sequence[Any],
        scopes: Sequence[tuple[int, ...]],
        families: Sequence[tuple[Hashable, ...]],
    ) -> tuple[list[Array], dict[str, Any]]:
        """Return the table of each family, and the concentrations."""
        of_class = [number == len(scopes) - 1 for number in range(len(scopes))]
        stacks = make_stacks(
            [c.prefixes for c in counts], [np.array([c.cards]) for c in counts], of_class, self
        )
        tables = [stack.tables(len(scope))[0] for stack, scope in zip(stacks, scopes, strict=True)]
        cpts = [table.conditional(family) for table, family in zip(tables, families, strict=True)]
        return cpts, concentrations_of(tables)


def make_stacks(
    families: Sequence[Sequence[PrefixCounts]],
    cards: Sequence[Positions],
    of_class: Sequence[bool],
    prior: Any,
) -> list[Stack]:
    """Return the tables of families from their counts, in one coding per row of ``cards``."""
    nested = is_nested(check_prefix_prior(prior))
    masses: list[list[Array]] = []
    for start in range(0, len(families), _BLOCK_FAMILIES):
        block = slice(start, start + _BLOCK_FAMILIES)
        if nested:
            masses += learn_masses(families[block], cards[block], of_class[block])
        else:
            masses += map(partial(_given_masses, prior), families[block], cards[block])
    return [
        Stack(rows, tuple(prefixes), amounts, nested)
        for rows, prefixes, amounts in zip(cards, families, masses, strict=True)
    ]


def _given_masses(prior: Any, prefixes: Sequence[PrefixCounts], cards: Positions) -> list[Array]:
    """Return the pseudo-counts that a prior adds to each distribution of each prefix, one per coding."""
    levels, root, masses = cards[:, 0], len(prefixes) - cards.shape[1], []
    for i, prefix in enumerate(prefixes):
        configurations = prefix.counts.shape[1] * cards[:, 1 : max(1, i - root + 1)].prod(axis=1)
        masses.append(np.array(levels * prior.per_cell(levels, configurations), dtype=np.float64))
    return masses


def check_prefix_prior(prior: Any) -> Any:
    """Return a prior that adds pseudo-counts to the table of every prefix, or raise a TypeError."""
    if not is_nested(prior) and not isinstance(prior, PseudoCounts):
        raise TypeError("prior must be smooth, ess, m or backoff.")
    return prior


def concentrations_of(tables: Sequence[PrefixTable]) -> dict[str, Any]:
    """Return the record of back-off in a model, empty for other priors."""
    return {"concentrations": tuple([table.masses for table in tables])} if tables[0].nested else {}


PRIORS: dict[str, Callable[[Any], Prior]] = {
    "smooth": lambda amount: Dirichlet(_check_amount("smooth", amount)),
    "ess": lambda amount: EquivalentSize(_check_amount("ess", amount, MOST_ESS)),
    "m": lambda amount: MEstimate(_check_amount("m", amount)),
    "backoff": lambda asked: BackOff(),
}
"""The priors by the argument of `lp` that requests them."""


def find_prior(**arguments: object) -> Prior:
    """Return the prior of the only argument in `PRIORS` that is not None or False."""
    amounts = {name: value for name, value in arguments.items() if value is not None}
    if not Flag().check("backoff", amounts.get("backoff", False)):
        amounts.pop("backoff", None)
    if not amounts:
        raise TypeError(f"One of {', '.join(arguments)} must be given, for example smooth=1.")
    if len(amounts) > 1:
        raise ValueError(f"Only one of {', '.join(amounts)} can be given. Omit the others.")
    [(name, value)] = amounts.items()
    return PRIORS[name](value)


def _check_amount(name: str, amount: object, most: float = MOST_AMOUNT) -> float:
    """Return an amount of pseudo-counts as a Python number, or raise an error."""
    value: float = Real(0, most).check(name, amount)
    if 0 < value < LEAST_AMOUNT:
        raise ValueError(must_be(name, f"0 or at least {LEAST_AMOUNT:g}", value))
    return value
