"""The likeliest values of all that is missing in a row, together.

In a single network the largest product is found like the sum in an elimination, the maximum in
place of the sum, and then read backwards. An average of networks does not split so; there every
combination is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes
from ..frames.counting import MAX_CELLS
from ..model.kinds import Model
from ..model.networks import BNC
from .elimination import Table, multiply, plan, restrict
from .factors import Factor, network_factors
from .joint import joint_of_codes

_MOST_COMBINATIONS = 2**16
_BLOCK_CELLS = 2**20

Rows = NDArray[np.intp]


@singledispatch
def complete(x: Model, codes: Codes) -> Codes:
    """Return codes with the likeliest values in place of what is missing.

    A kind of model registers here how it finds them; any that has a log joint can try them all.

    Parameters
    ----------
    x : Model
        With parameters and a joint distribution.
    codes : (variables, rows) array of integers
        Of the features, and of the class at the end; -1 where missing.

    Returns
    -------
    (variables, rows) array
    """
    result = codes.copy()
    cards = [len(labels) for labels in x.levels or ()]
    for hidden, rows in _patterns(codes):
        choices = [range(cards[v]) for v in hidden if v < len(cards) - 1]
        n = prod(len(choice) for choice in choices)
        if n > _MOST_COMBINATIONS:
            raise ValueError(
                f"frame: {len(hidden)} values are missing together in a row, and have more than "
                f"{_MOST_COMBINATIONS:,} combinations to try; a single network (BNC) need not try them all"
            )
        values = np.indices([len(choice) for choice in choices]).reshape(len(choices), n)
        size = max(1, _BLOCK_CELLS // (n * len(cards)))
        for block in (rows[i : i + size] for i in range(0, len(rows), size)):
            result[:, block] = _try_all(x, codes[:, block], hidden, values)
    return result


def _try_all(x: Model, codes: Codes, hidden: Sequence[int], values: NDArray[np.intp]) -> Codes:
    """Return rows with the first of the likeliest combinations of hidden features' values and the class."""
    n = values.shape[1]
    tried = np.repeat(codes, n, axis=1)
    features = [v for v in hidden if v < len(codes) - 1]
    tried[features] = np.tile(values, codes.shape[1])
    logs = joint_of_codes(x, tried[:-1])
    if hidden[-1] != len(codes) - 1:  # the class is known
        logs = np.where(tried[-1][:, None] == np.arange(logs.shape[1]), logs, -np.inf)
    best = _first_best(logs.reshape(codes.shape[1], -1), axis=1)
    result = codes.copy()
    result[features] = values[:, best // logs.shape[1]]
    result[-1] = best % logs.shape[1]
    return result


def _patterns(codes: Codes) -> list[tuple[list[int], Rows]]:
    """Return which variables are missing together, and the rows in which these are, and no others."""
    rows = np.nonzero((codes < 0).any(axis=0))[0]
    if not len(rows):
        return []
    patterns, kind = np.unique(codes[:, rows] < 0, axis=1, return_inverse=True)
    kind = kind.reshape(-1)  # its shape differs between versions of NumPy
    return [
        (np.nonzero(pattern)[0].tolist(), rows[kind == number]) for number, pattern in enumerate(patterns.T)
    ]


def _first_best(logs: Array, axis: int) -> NDArray[np.intp]:
    """Return the first position along an axis that ties with the best."""
    return np.asarray((logs >= logs.max(axis=axis, keepdims=True) - TOLERANCE).argmax(axis=axis))


@complete.register
def _(x: BNC, codes: Codes) -> Codes:
    factors = network_factors(x)
    n_classes = x.cards[-1]
    result = codes.copy()
    for hidden, rows in _patterns(codes):
        features = tuple(v for v in hidden if v < len(x.features))
        touching = [factor for factor in factors if not set(factor.scope).isdisjoint(features)]
        order, cells = plan(features, touching) if features else ([], n_classes)
        if cells > MAX_CELLS:
            raise ValueError(
                f"frame: {len(hidden)} values are missing together in a row, and to find the likeliest would "
                f"need a table of {cells:,} cells, more than {MAX_CELLS:,}; use one with fewer parents"
            )
        size = max(1, _BLOCK_CELLS // cells)
        for block in (rows[i : i + size] for i in range(0, len(rows), size)):
            result[:, block] = _maximise(order, factors, codes[:, block])
    return result


def _maximise(order: Sequence[int], factors: Sequence[Factor], codes: Codes) -> Codes:
    """Return rows with the likeliest values of these features, and of the class where it is missing."""
    context = np.zeros(codes.shape[1], dtype=np.intp)
    tables = [restrict(factor, set(order), codes, context) for factor in factors]
    joined: list[Table] = []
    for u in order:
        scope, logs = multiply([table for table in tables if u in table.scope])
        joined.append(Table(scope, logs))
        tables = [table for table in tables if u not in table.scope]
        rest = tuple([w for w in scope if w != u])
        tables.append(Table(rest, logs.max(axis=1 + scope.index(u))))
    result = codes.copy()
    by_class = multiply(tables).logs
    result[-1] = np.where(codes[-1] < 0, _first_best(by_class, axis=1), codes[-1])
    each = np.arange(codes.shape[1])
    for u, (scope, logs) in zip(reversed(order), reversed(joined), strict=True):
        every = slice(None)
        # A table without the class has one entry for all classes.
        own_class = np.minimum(result[-1], logs.shape[-1] - 1)
        at = (each, *[every if w == u else result[w] for w in scope], own_class)
        result[u] = _first_best(logs[at], axis=1)
    return result
