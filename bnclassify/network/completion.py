"""The jointly most probable values of all missing variables of a row.

In a single network, elimination with the maximum in place of the sum finds the largest product, and a pass
in reverse order finds the values. An average of networks does not factorize, so all combinations are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes
from .densities import tabulate_numbers
from .elimination import Run, Table, eliminate, equal_columns, runs
from .factors import Batch, Factor, sum_terms

_MOST_COMBINATIONS = 2**16
_BLOCK_CELLS = 2**20


def try_all(
    log_joint: Callable[[Codes], Array], cards: Sequence[int], codes: Codes, argument: str = "frame"
) -> Codes:
    """Return codes with the most probable values in place of missing ones, by scoring all combinations.

    ``codes`` are (variables, rows), the class last, -1 if missing; ``log_joint`` uses the features.
    """
    result = codes.copy()
    incomplete = np.nonzero((codes < 0).any(axis=0))[0]
    for hidden, alike in equal_columns(codes[:, incomplete] < 0):
        rows = incomplete[alike]
        choices = [range(cards[v]) for v in hidden if v < len(cards) - 1]
        n = prod(len(choice) for choice in choices)
        if n > _MOST_COMBINATIONS:
            raise ValueError(
                f"{argument}: {len(hidden)} values are missing together in a row and have more than "
                f"{_MOST_COMBINATIONS:,} combinations, all of which an average of networks has to score. "
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
    if hidden[-1] != len(codes) - 1:  # the class is observed
        logs = np.where(tried[-1][:, None] == np.arange(logs.shape[1]), logs, -np.inf)
    best = _first_best(logs.reshape(codes.shape[1], -1), axis=1)
    result = codes.copy()
    result[features] = values[:, best // logs.shape[1]]
    result[-1] = best % logs.shape[1]
    return result


def _first_best(logs: Array, axis: int) -> NDArray[np.intp]:
    """Return the first position along an axis that ties with the maximum."""
    return np.asarray((logs >= logs.max(axis=axis, keepdims=True) - TOLERANCE).argmax(axis=axis))


def complete(terms: Sequence[Factor], codes: Codes) -> Codes:
    """Return codes with the most probable values of a single network, found by elimination."""
    terms, coded = tabulate_numbers(terms, codes[:-1])
    result = np.vstack([coded, codes[-1:]])
    unknown = np.nonzero(codes[-1] < 0)[0]
    if len(unknown):
        features = coded[:, unknown]
        by_class = sum_terms(terms, Batch(features, complete=False))
        for run, _, maxima in _maxima(terms, features):
            by_class[run.rows] += maxima
        result[-1, unknown] = _first_best(by_class, axis=1)
    for run, joined, _ in _maxima(terms, coded):
        _read_back(run, joined, result)
    return result


def _maxima(factors: Sequence[Factor], codes: Codes) -> Iterator[tuple[Run, list[Table], Array]]:
    """Yield features that are missing together, their joined tables, and the maxima, (rows, classes)."""
    context = np.zeros(codes.shape[1], dtype=np.intp)
    for run in runs(factors, codes, everywhere=True):
        yield run, *eliminate(run, factors, codes, context, np.max)


def _read_back(run: Run, joined: Sequence[Table], result: Codes) -> None:
    """Fill in the positions of the maxima, in reverse order of elimination; the class is given."""
    rows, levels = np.arange(len(run.rows)), slice(None)
    for u, (scope, logs) in zip(reversed(run.order), reversed(joined), strict=True):
        class_codes = np.minimum(result[-1, run.rows], logs.shape[-1] - 1)  # one for all rows
        index = (rows, *[levels if w == u else result[w, run.rows] for w in scope], class_codes)
        result[u, run.rows] = _first_best(logs[index], axis=1)
