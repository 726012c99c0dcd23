"""Conditional probability tables from contingency tables."""

from __future__ import annotations

from collections.abc import Iterable

from ..base.arrays import Array, normalize
from ..frames.counting import contingency_tables
from ..frames.encoding import Dataset
from ..model.networks import Family

_BLOCK_CELLS = 2**18


def dirichlet_cpt(counts: Array, smooth: float, axis: int = 0) -> Array:
    """Return the posterior mean of a table under a symmetric Dirichlet prior.

    (N_ijk + smooth) / (N_ij· + r_i smooth), i over ``axis``; uniform where there is no mass.
    """
    return normalize(counts + smooth, axis)


def estimate_cpts(data: Dataset, families: Iterable[Family], smooth: float) -> dict[Family, Array]:
    """Estimate the table of each distinct family from the rows in which it is observed.

    Families with equal numbers of levels are counted together.
    """
    alike: dict[tuple[int, ...], dict[Family, list[int]]] = {}
    for family in families:
        columns = [data.positions[variable] for variable in family]
        alike.setdefault(tuple(data.cards[column] for column in columns), {})[family] = columns
    tables: dict[Family, Array] = {}
    for group in alike.values():
        stack = contingency_tables(data, list(group.values()))
        size = max(1, _BLOCK_CELLS // stack[0].size)
        for block in (slice(i, i + size) for i in range(0, len(stack), size)):
            stack[block] = dirichlet_cpt(stack[block], smooth, axis=1)
        tables.update(zip(group, stack, strict=True))
    return tables
