"""Conditional probability tables from contingency tables."""

from __future__ import annotations

from collections.abc import Iterable

from ..counts import contingency_table
from ..dataset import Dataset
from ..model import Family
from ..probs import Array, normalize


def dirichlet_cpt(counts: Array, smooth: float) -> Array:
    """Return the posterior mean of a table under a symmetric Dirichlet prior.

    (N_ijk + smooth) / (N_ij· + r_i smooth), i over the first axis; uniform where there is no mass.
    """
    return normalize(counts + smooth)


def estimate_cpts(data: Dataset, families: Iterable[Family], smooth: float) -> dict[Family, Array]:
    """Estimate the table of each distinct family from the rows in which it is observed."""
    return {
        family: dirichlet_cpt(
            contingency_table(data, [data.positions[variable] for variable in family]), smooth
        )
        for family in dict.fromkeys(families)
    }
