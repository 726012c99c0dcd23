"""Pseudo-rows of tables that are nested in one another, learned by marginal likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Array
from .concentrations import best_concentration
from .counts import Places, PrefixCounts
from .tables import shrunk


def nested_masses(prefixes: Sequence[PrefixCounts], first_mass: float | None = None) -> tuple[float, ...]:
    """Learn the concentration of each prefix, one after the other, those before it fixed.

    Parameters
    ----------
    prefixes : sequence of PrefixCounts
    first_mass : float, optional
        The concentration of the first prefix, if it is given.
    """
    masses: list[float] = []
    base: Array = np.full((1, 1), 1 / prefixes[0].levels)
    for i, prefix in enumerate(prefixes):
        if i > 0:
            base = base[_cells_before(prefix, prefixes[i - 1])]
        base = np.broadcast_to(base, prefix.counts.shape)
        mass = first_mass if i == 0 else None
        if mass is None:
            mass = best_concentration(prefix.counts, base, prefix.totals)
        base = shrunk(prefix.counts, prefix.totals[prefix.cells.keys // prefix.levels], mass, base)
        masses.append(mass)
    return tuple(masses)


def _cells_before(prefix: PrefixCounts, shorter: PrefixCounts) -> Places:
    """Return the cell of the prefix before that each cell is part of."""
    parents, levels = np.divmod(prefix.cells.keys, prefix.levels)
    card = prefix.parents.size // max(1, len(shorter.parents))  # levels of the last parent
    return shorter.cells.find(prefix.parents.keys[parents] // card * prefix.levels + levels)
