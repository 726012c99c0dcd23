"""Arrays of probabilities and of codes: normalization, sums of x·ln x, ties, BLAS threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from .immutable import StackedArrays

T = TypeVar("T", bound=np.generic)
V = TypeVar("V")
ArrayOf: TypeAlias = np.ndarray[
    tuple[int, ...], np.dtype[T]
]  # as NDArray, but its sizes are int, not Any
Array = ArrayOf[np.float64]
Codes = ArrayOf[np.signedinteger[Any]]
Positions = ArrayOf[np.intp]  # of rows, columns, levels or cells
Mask = ArrayOf[np.bool_]
Slice: TypeAlias = "slice[int, int, None]"


# Arrays are reduced over classes part by part, because NumPy's own reductions are slow along short
# axes that are adjacent in memory, and the order in which they add up depends on the other axes.


BLOCK_CELLS = 2**18
"""The cells of an array that is computed at once, so that it stays in the cache."""

BLOCK_ROWS = 2**13
"""The rows that are scored at once, so that their scores stay in the cache."""

TOLERANCE = 1e-9
"""Two scores, log probabilities or weights that differ by no more than this are tied."""


@cache
def code_type(bound: int) -> np.dtype[Any]:
    """Return the smallest signed integer type for codes up to ``bound``, and one more."""
    return np.min_scalar_type(-bound - 2)


def slices(n: int, cells: int = 1, most: int | None = None) -> Iterator[Slice]:
    """Yield slices of n rows with ``cells`` each: at most `BLOCK_CELLS` per slice, or one row."""
    size = max(1, (most or BLOCK_CELLS) // max(1, cells))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def sum_nested(values: Iterable[V]) -> V:
    """Add values of the same form: numbers, arrays, None, and tuples, lists and dicts of them."""
    total: V = reduce(_sum_of_two, values)
    return total


def _sum_of_two(first: Any, second: Any) -> Any:
    if first is None:
        return None
    if isinstance(first, dict):
        return {key: _sum_of_two(value, second[key]) for key, value in first.items()}
    if isinstance(first, tuple | list):
        items = [_sum_of_two(*pair) for pair in zip(first, second, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if isinstance(first, np.ndarray):  # parts may have counts in types too narrow for the sum
        wide = np.float64 if "f" in (first.dtype.kind, second.dtype.kind) else np.int64
        return np.add(first, second, dtype=wide)
    return first + second


def weights_at(weights: Array | None, rows: Positions | Mask | Slice) -> Array | None:
    return None if weights is None else weights[rows]


def map_by_shape(
    arrays: Sequence[Any], function: Callable[[ArrayOf[Any]], ArrayOf[Any]]
) -> StackedArrays:
    """Apply a function to the stacked arrays of each shape; other elements are unchanged."""
    stacks = arrays.stacks if isinstance(arrays, StackedArrays) else ()
    if not stacks:
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, array in enumerate(arrays):
            if isinstance(array, np.ndarray):
                alike.setdefault(array.shape, []).append(i)
        stacks = [(at, np.array([arrays[i] for i in at])) for at in alike.values()]
    mapped = [(places, function(stack)) for places, stack in stacks]
    return StackedArrays.from_stacks(mapped, arrays)


def normalize(mass: Array, axis: int = 0) -> Array:
    """Divide by the sum over an axis; a sum of 0 gives the uniform distribution."""
    total: Array = mass.sum(axis=axis, keepdims=True)
    return np.where(total > 0, mass, 1.0) / np.where(total > 0, total, mass.shape[axis])


def log(probabilities: Array) -> Array:
    """Natural logarithm with log 0 = -inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def log_sum_exp(logs: Array, axis: int = -1) -> Array:
    """Log of the sum of exponentials over an axis; -inf if all are -inf."""
    parts = last_axis_first(logs) if axis == -1 else np.moveaxis(logs, axis, 0)
    if len(parts) == 2:
        return np.asarray(np.logaddexp(*parts))
    top: Array = reduce(np.maximum, parts)
    top = np.where(top == -np.inf, 0.0, top)
    if parts.size < 2**16:  # the array stays in the cache
        return log(reduce(np.add, np.exp(parts - top))) + top
    # A third of the memory.
    return log(reduce(np.add, (np.exp(part - top) for part in parts))) + top


def softmax(logs: Array, axis: int) -> Array:
    """Return exponentials divided by their sum over an axis; 0 if all are -inf."""
    total = np.expand_dims(log_sum_exp(logs, axis), axis)
    return np.exp(logs - np.where(np.isfinite(total), total, 0.0))


def log_normalize(logs: Array) -> Array:
    """Shift each row of the last axis so that its exponentials sum to 1; -inf becomes uniform."""
    total = log_sum_exp(logs)
    possible = np.isfinite(total)[..., None]
    shifted = logs - np.where(possible, total[..., None], 0.0)
    return np.where(possible, shifted, -float(np.log(logs.shape[-1])))


def last_axis_first(array: ArrayOf[T]) -> ArrayOf[T]:
    """Return a view with the last axis first, in a tenth of the time of `numpy.moveaxis`."""
    return array.transpose(-1, *range(array.ndim - 1))


def xlogx(x: ArrayOf[Any]) -> Array:
    """x·ln x, with 0 at 0."""
    known = np.asarray(x, dtype=np.float64)
    return known * np.log(np.maximum(known, 2e-308))


def first_best(scores: Array) -> Positions:
    """Position of the first score along the last axis that ties with the largest."""
    if scores.shape[-1] > 16:  # longest axis for which NumPy's own reductions are slower
        top: Array = scores.max(axis=-1, keepdims=True)
        return np.asarray(np.argmax(scores >= top - TOLERANCE, axis=-1))
    parts = last_axis_first(scores)
    top = reduce(np.maximum, parts)
    first = np.full(top.shape, len(parts) - 1, dtype=np.intp)
    for position in reversed(range(len(parts) - 1)):
        np.copyto(first, position, where=parts[position] >= top - TOLERANCE)
    return first


def second_best(scores: Array, best: Positions) -> Positions:
    """Position of the first score that ties with the largest but for the best one of each row."""
    others = np.arange(scores.shape[1] - 1)
    others = others + (others >= best[:, None])
    first = first_best(np.take_along_axis(scores, others, axis=1))
    return np.take_along_axis(others, first[:, None], axis=1)[:, 0]


@cache
def _blas_controller(number: int) -> ThreadpoolController:
    """Return the libraries found with a number of modules of SciPy, which has a BLAS of its own."""
    return ThreadpoolController()


class OneThread:
    """Context manager that limits NumPy's BLAS to one thread; the last of nested uses resets it."""

    def __init__(self) -> None:
        self._lock, self._uses = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._uses += 1
            if self._uses == 1:
                loaded = {"scipy.linalg", "scipy.special"}.intersection(sys.modules)
                self._limit = _blas_controller(len(loaded)).limit(limits=1, user_api="blas")

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._uses -= 1
            if self._uses == 0:
                self._limit.restore_original_limits()

    def renew_lock(self) -> None:
        """Release the lock in a forked process, in which its owner may not exist."""
        self._lock, self._uses = Lock(), 0


one_thread = OneThread()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.renew_lock)
