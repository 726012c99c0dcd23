"""Log tables of families, padded so that a missing value adds nothing when rows are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log
from ..counts.contingency import flat_index
from .bnc import Network

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Factor:
    """The table of one family in logs, ln θ, in one or several contexts.

    A context is something that every row has and that says which table holds, such as the
    fold of a row in cross-validation.

    Attributes
    ----------
    scope : tuple of int
        Numbers of the features of the family: of the variable, if it is one, and of its feature
        parents.
    table : (levels of each member of the scope…, contexts, classes) array
        Of a family without the class, the last axis has length 1: it says the same of all classes.
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


class Belief(NamedTuple):
    """How likely the values are that some members of a family have in rows that lack them.

    Attributes
    ----------
    factor : int
        The family: the number of its variable.
    rows : (some,) array of int
    free : tuple of int
        The members that are missing in these rows.
    shares : (some, levels of each of them…, classes) array
        P(values | row, class), which sum to 1 over the values; to 0 where row and class are impossible.
    """

    factor: int
    rows: Rows
    free: tuple[int, ...]
    shares: Array


def network_factors(x: Network) -> list[Factor]:
    """Turn the tables of a fitted network into factors, features in order, the class's own last."""
    factors: list[Factor] = x.derived("factors", _make_factors)
    return factors


def _make_factors(x: Network) -> list[Factor]:
    tables = x.cpts or ()
    ends = np.cumsum([table.size for table in tables]).tolist()
    logs = log(np.concatenate([table.ravel() for table in tables]))
    class_number = len(x.features)
    factors = []
    for scope, table, end in zip(x.scopes, tables, ends, strict=True):
        table_logs = logs[end - table.size : end].reshape(table.shape)
        if scope[0] == class_number:
            scope, table_logs = (*scope[1:], class_number), np.moveaxis(table_logs, 0, -1)
        if scope[-1] == class_number:
            factors.append(Factor(scope[:-1], table_logs[..., None, :]))
        else:
            factors.append(Factor(scope, table_logs[..., None, None]))
    return factors


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
    n_classes = max(factor.table.shape[-1] for factor in factors)
    total = np.zeros((codes.shape[1], n_classes))
    buffers = {width: np.empty((len(total), width)) for width in {n_classes, 1}}
    for factor in factors:
        table = factor.table if complete else factor.padded
        members = [codes[i] for i in factor.scope]
        coordinates = members if context is None else [*members, context]
        if not coordinates:
            total += table
            continue
        index = flat_index(coordinates, table.shape[: len(coordinates)])
        looked_up = buffers[table.shape[-1]]
        # With a mode, take writes into the buffer; only "wrap" ever moves an index.
        mode: Literal["clip", "wrap"] = "clip" if complete else "wrap"
        np.take(table.reshape(-1, table.shape[-1]), index, axis=0, out=looked_up, mode=mode)
        total += looked_up
    return total
