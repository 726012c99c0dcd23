"""The log joint of complete rows: rows of log tables, looked up and summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..counts import flat_index
from ..model import BNC
from ..probs import Array, Codes, log


@dataclass(frozen=True, eq=False)
class Factor:
    """A function of some features and the class, in logs.

    Attributes
    ----------
    scope : tuple of int
        Numbers of the features.
    table : (levels of each feature in the scope…, classes) array
    """

    scope: tuple[int, ...]
    table: Array


def network_factors(x: BNC) -> list[Factor]:
    """Turn the tables of a fitted network into factors; the class's own has an empty scope."""
    position = {family[0]: i for i, family in enumerate(x.families)}
    return [
        Factor(tuple(position[v] for v in family[:-1]), log(table))
        for family, table in zip(x.families, x.cpts or (), strict=True)
    ]


def sum_factors(factors: Sequence[Factor], codes: Codes, n_classes: int) -> Array:
    """Sum factors at each row.

    Parameters
    ----------
    factors : sequence of Factor
    codes : (features, rows) array of integers
        Complete in the features of all scopes.
    n_classes : int

    Returns
    -------
    (rows, classes) array
    """
    total = np.zeros((codes.shape[1], n_classes))
    looked_up = np.empty_like(total)
    for factor in factors:
        if not factor.scope:
            total += factor.table
            continue
        index = flat_index([codes[i] for i in factor.scope], factor.table.shape[:-1])
        # mode="clip" lets take write into the buffer; no index is out of range.
        np.take(factor.table.reshape(-1, n_classes), index, axis=0, out=looked_up, mode="clip")
        total += looked_up
    return total
