"""The most probable values of all that is missing in a row, together.

In a single network the largest product is found like the sum in an elimination, with the maximum in
place of the sum, and then read backwards. An average of networks does not factorize in this way, so
every combination is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes
from .elimination import Run, Table, eliminate, runs
from .factors import Batch, Factor, Rows, sum_terms

_MOST_COMBINATIONS = 2**16
_BLOCK_CELLS = 2**20


def try_all(
    log_joint: Callable[[Codes], Array], cards: Sequence[int], codes: Codes, argument: str = "frame"
) -> Codes:
    """Return codes with the most probable values in place of missing ones, all combinations tried.

    ``codes`` are (variables, rows), those of the class at the end, -1 where missing; ``log_joint`` computes
    the log joint of a model from those of the features.
    """
    result = codes.copy()
    for hidden, rows in _patterns(codes):
        choices = [range(cards[v]) for v in hidden if v < len(cards) - 1]
        n = prod(len(choice) for choice in choices)
        if n > _MOST_COMBINATIONS:
            raise ValueError(
                f"{argument}: {len(hidden)} values are missing together in a row and have more than "
                f"{_MOST_COMBINATIONS:,} combinations, which an average of networks has to try one by one. "
                "Use a single network (BNC)."
            )
        values = np.indices([len(choice) for choice in choices]).reshape(len(choices), n)
        rows_per_block = max(1, _BLOCK_CELLS // (n * len(cards)))
        for block in (rows[i : i + rows_per_block] for i in range(0, len(rows), rows_per_block)):
            result[:, block] = _try_rows(log_joint, codes[:, block], hidden, values)
    return result


def _try_rows(
    log_joint: Callable[[Codes], Array], codes: Codes, hidden: Sequence[int], values: NDArray[np.intp]
) -> Codes:
    """Return rows with the first of the most probable combinations of missing values and the class."""
    n = values.shape[1]
    tried = np.repeat(codes, n, axis=1)
    features = [v for v in hidden if v < len(codes) - 1]
    tried[features] = np.tile(values, codes.shape[1])
    logs = log_joint(tried[:-1])
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


def complete(terms: Sequence[Factor], codes: Codes) -> Codes:
    """Do the same in a single network, from its terms, by elimination."""
    result = codes.copy()
    unknown = np.nonzero(codes[-1] < 0)[0]
    if len(unknown):
        features = codes[:-1, unknown]
        by_class = sum_terms(terms, Batch(features, complete=False))
        for run, _, maxima in _maxima(terms, features):
            by_class[run.rows] += maxima
        result[-1, unknown] = _first_best(by_class, axis=1)
    for run, joined, _ in _maxima(terms, codes[:-1]):
        _read_back(run, joined, result)
    return result


def _maxima(factors: Sequence[Factor], codes: Codes) -> Iterator[tuple[Run, list[Table], Array]]:
    """Yield features that are missing together in some rows, what they were joined into, and its maxima."""
    for run in runs(factors, codes, np.full(codes.shape, True)):
        touching = [factors[i] for i in run.factors]
        context = np.zeros(len(run.rows), dtype=np.intp)
        joined, maxima = eliminate(run.order, touching, codes[:, run.rows], context, np.max)
        yield run, joined, maxima


def _read_back(run: Run, joined: Sequence[Table], result: Codes) -> None:
    """Fill in where the maxima are: what is eliminated last is known first, and before it the class."""
    rows, levels = np.arange(len(run.rows)), slice(None)
    for u, (scope, logs) in zip(reversed(run.order), reversed(joined), strict=True):
        class_codes = np.minimum(result[-1, run.rows], logs.shape[-1] - 1)  # one for all, without the class
        index = (rows, *[levels if w == u else result[w, run.rows] for w in scope], class_codes)
        result[u, run.rows] = _first_best(logs[index], axis=1)
