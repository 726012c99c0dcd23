"""How far counts are to be trusted against a shorter table, by marginal likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

from ..base.arrays import TOLERANCE, Array

LEAST, MOST = 0.5, 5000.0
"""The concentrations that are considered."""

_GRID = np.geomspace(LEAST, MOST, 17)
_GRID[[0, -1]] = LEAST, MOST
_FEW = 32  # whole counts up to here are written out as sums: exact, and quick where most counts are small
_STEEP = 1e-6  # with a slope by ln m above this the likelihood is not flat


def best_concentration(counts: Array, base: Array, totals: Array) -> float:
    """Return the concentration m that makes counts most likely, from `LEAST` to `MOST`.

    Every configuration u of the parents has a Dirichlet prior with m times a base distribution as
    pseudo-counts, and m is the same for all. It maximises

        Σ_u [ln Γ(m) − ln Γ(m + n(u)) + Σ_x (ln Γ(m p(x|u) + n(u,x)) − ln Γ(m p(x|u)))].

    Where that differs by less than 1e-9 over the interval, the counts have no say in m, and m is
    `MOST`, so that they have little say in the table either.

    Parameters
    ----------
    counts, base : arrays of one shape
        n(u, x), and p(x | u), which is above 0 where the count is.
    totals : array
        n(u).
    """
    occurs = counts > 0
    evidence = _Evidence(
        _spread_out(counts[occurs], base[occurs]),
        _spread_out(totals[totals > 0], np.ones(np.count_nonzero(totals > 0))),
    )
    slopes = np.array([evidence.slope(m) for m in _GRID])
    if np.abs(slopes * _GRID).max() < _STEEP and np.ptp([evidence(m) for m in _GRID]) < TOLERANCE:
        return MOST
    tops = np.nonzero((slopes[:-1] > 0) & (slopes[1:] <= 0))[0]
    maxima = [float(brentq(evidence.slope, _GRID[i], _GRID[i + 1], rtol=1e-10)) for i in tops]
    maxima += [LEAST] * bool(slopes[0] <= 0) + [MOST] * bool(slopes[-1] > 0)
    return maxima[0] if len(maxima) == 1 else max(maxima, key=evidence)


@dataclass(frozen=True)
class _Rising:
    """Σ ln Γ(m p + n) − ln Γ(m p) as a function of m, up to a constant.

    Of a whole n that is the sum of ln(m + j/p) over j from 0 to n − 1, and of n ln p.

    Attributes
    ----------
    n_small : int
        How many n are written out; each has a j of 0.
    steps : array
        Their other j/p.
    counts, base : arrays
        The n that are not written out, and their p.
    """

    n_small: int
    steps: Array
    counts: Array
    base: Array

    def __call__(self, m: float) -> float:
        large = gammaln(m * self.base + self.counts) - gammaln(m * self.base)
        return float(self.n_small * np.log(m) + np.log(m + self.steps).sum() + large.sum())

    def slope(self, m: float) -> float:
        total = self.n_small / m + (1 / (m + self.steps)).sum()
        if len(self.counts):
            scaled = m * self.base
            total += (self.base * (digamma(scaled + self.counts) - digamma(scaled))).sum()
        return float(total)


@dataclass(frozen=True)
class _Evidence:
    """The log marginal likelihood as a function of m, up to a constant, and its slope."""

    cells: _Rising
    totals: _Rising

    def __call__(self, m: float) -> float:
        return self.cells(m) - self.totals(m)

    def slope(self, m: float) -> float:
        return self.cells.slope(m) - self.totals.slope(m)


def _spread_out(counts: Array, base: Array) -> _Rising:
    is_small = (counts <= _FEW) & (counts == np.floor(counts))
    n_small = int(np.count_nonzero(is_small))
    has_steps = is_small & (counts > 1)
    lengths: NDArray[np.intp] = counts[has_steps].astype(np.intp) - 1
    ends = np.cumsum(lengths)
    j = np.arange(1, lengths.sum() + 1) - np.repeat(ends - lengths, lengths)
    return _Rising(n_small, j / np.repeat(base[has_steps], lengths), counts[~is_small], base[~is_small])
