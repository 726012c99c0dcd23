"""Log tables of families, padded so that a missing value adds nothing when rows are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from ..base.arrays import Array, Codes, log
from ..frames.counting import flat_index
from ..model.networks import BNC


@dataclass(frozen=True, eq=False)
class Factor:
    """The table of one family in logs, ln θ, in one or several contexts.

    A context is something that every row has and that says which table holds, such as the
    fold of a row in cross-validation.

    Attributes
    ----------
    scope : tuple of int
        Numbers of the variable and of its feature parents; empty for the class's own.
    table : (levels of each member of the scope…, contexts, classes) array
    """

    scope: tuple[int, ...]
    table: Array

    @cached_property
    def padded(self) -> Array:
        """The table with a further level 0 for "missing" at the end of each feature's axis.

        The code of a missing value is -1. In a flat index that wraps round, it leads to one
        of these zeros whatever the other codes are.
        """
        n = len(self.scope)
        padded = np.zeros((*(r + 1 for r in self.table.shape[:n]), *self.table.shape[n:]))
        padded[(slice(-1),) * n] = self.table
        return padded


_KEPT: WeakKeyDictionary[BNC, list[Factor]] = WeakKeyDictionary()
"""The factors of networks, which never change, as long as the networks themselves are there."""


def network_factors(x: BNC) -> list[Factor]:
    """Turn the tables of a fitted network into factors, features in order, the class's own last."""
    factors = _KEPT.get(x)
    if factors is None:
        factors = _KEPT[x] = _make_factors(x)
    return factors


def _make_factors(x: BNC) -> list[Factor]:
    position = {family[0]: i for i, family in enumerate(x.families)}
    tables = x.cpts or ()
    ends = np.cumsum([table.size for table in tables]).tolist()
    logs = log(np.concatenate([table.ravel() for table in tables]))
    return [
        Factor(
            tuple([position[v] for v in family[:-1]]),
            logs[end - table.size : end].reshape(*table.shape[:-1], 1, -1),
        )
        for family, table, end in zip(x.families, tables, ends, strict=True)
    ]


def sum_factors(
    factors: Sequence[Factor], codes: Codes, context: Codes | None = None, *, complete: bool
) -> Array:
    """Sum factors at each row, those without a missing member.

    Parameters
    ----------
    factors : sequence of Factor
    codes : (features, rows) array of integers
        -1 where missing.
    context : (rows,) array of integers, optional
        The context of each row, if there are several.
    complete : bool
        Whether no code is missing. The sums are the same either way.

    Returns
    -------
    (rows, classes) array
    """
    total = np.zeros((codes.shape[1], factors[0].table.shape[-1]))
    looked_up = np.empty_like(total)
    for factor in factors:
        table = factor.table if complete else factor.padded
        own = [codes[i] for i in factor.scope]
        where = own if context is None else [*own, context]
        if not where:
            total += table
            continue
        index = flat_index(where, table.shape[: len(where)])
        # With a mode, take writes into the buffer; only "wrap" ever moves an index.
        mode: Literal["clip", "wrap"] = "clip" if complete else "wrap"
        np.take(table.reshape(-1, total.shape[1]), index, axis=0, out=looked_up, mode=mode)
        total += looked_up
    return total
