"""A search for the fewest changes of a row after which a model predicts a class.

The effect of changes on the log joint is the sum of a part of each change alone, and of a correction of each
set of changed features that are together in a term. The part and the corrections follow from the
log joint by inclusion and exclusion, so that every model whose score is a sum of terms is searched alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, first_best, log_normalize
from ..base.graphs import descending
from ..base.immutable import cached_property
from ..model.model import Model

_BLOCK_ROWS = 2**14
_BLOCK_CELLS = 2**20
_MOST_SETS = 2**25

Combos = NDArray[np.intp]
"""Sets of changes as numbers of moves in ascending order, (sets, size)."""


class Move(NamedTuple):
    """The change of a feature to a code; ``value`` is its label, or a number if it ``is_number``."""

    feature: int
    code: int
    value: Any
    is_number: bool


@dataclass(frozen=True, eq=False)
class Changes:
    """A row of a model, (features, 1) codes and its numbers, changes of single features, and a class."""

    x: Model
    codes: Codes
    numbers: Mapping[Hashable, Array]
    moves: Sequence[Move]
    target: int

    @cached_property
    def features(self) -> NDArray[np.intp]:
        """The feature of each move."""
        return np.array([move.feature for move in self.moves], dtype=np.intp)

    @cached_property
    def moves_of(self) -> dict[int, NDArray[np.intp]]:
        """The numbers of the moves of each feature."""
        return {f: np.flatnonzero(self.features == f) for f in dict.fromkeys(self.features.tolist())}

    def logs(self, combos: Combos) -> Array:
        """Return the log joint after each set of changes, (sets, classes)."""
        parts = [self._logs(combos[i : i + _BLOCK_ROWS]) for i in range(0, len(combos), _BLOCK_ROWS)]
        return np.concatenate(parts) if parts else np.empty((0, len(self.x.known_levels[-1])))

    def _logs(self, combos: Combos) -> Array:
        rows = np.arange(len(combos))
        codes = np.repeat(self.codes, len(combos), axis=1)
        numbers = {name: np.repeat(values, len(combos)) for name, values in self.numbers.items()}
        to = np.array([move.code for move in self.moves])
        values = np.array([move.value if move.is_number else np.nan for move in self.moves], dtype=float)
        for column in combos.T:
            codes[self.features[column], rows] = to[column]
            for i in np.unique(self.features[column[~np.isnan(values[column])]]).tolist():
                at = self.features[column] == i
                numbers[self.x.features[i]][at] = values[column[at]]
        return self.x._log_joint(self.x._with_numbers(codes, numbers))

    def wins(self, logs: Array) -> NDArray[np.bool_]:
        """Whether the target is predicted in each row."""
        return np.asarray(first_best(logs) == self.target)

    def posteriors(self, logs: Array) -> Array:
        """Return the posterior of the target in each row."""
        return np.asarray(np.exp(log_normalize(logs)[..., self.target]))

    @cached_property
    def before(self) -> Array:
        """The log joint of the row, (classes,)."""
        return self.logs(np.empty((1, 0), dtype=np.intp))[0]

    @cached_property
    def alone(self) -> Array:
        """The effect of each move on the log joint, (moves, classes)."""
        with np.errstate(invalid="ignore"):
            return self.logs(np.arange(len(self.moves))[:, None]) - self.before

    @cached_property
    def scopes(self) -> list[frozenset[int]] | None:
        """Features that can change and are together in a term; None if the score is not a sum of terms."""
        found = self.x._term_scopes()
        if found is None or not (np.isfinite(self.before).all() and np.isfinite(self.alone).all()):
            return None
        scopes = {frozenset(scope) for scope in found}
        for u in np.flatnonzero(self.codes[:, 0] < 0).tolist():  # marginalization joins the terms
            joined = frozenset[int]().union(*[scope for scope in scopes if u in scope]) - {u}
            scopes = {scope for scope in scopes if u not in scope} | {joined}
        return [scope & self.moves_of.keys() for scope in scopes]

    def corrections(self, most: int) -> dict[tuple[int, ...], Array]:
        """Return what sets of 2 to ``most`` features of a term add, (moves of each…, classes)."""
        found: dict[tuple[int, ...], Array] = {}
        sets = {
            s
            for scope in self.scopes or ()
            for k in range(2, most + 1)
            for s in combinations(sorted(scope), k)
        }
        for scope in sorted(sets, key=lambda s: (len(s), s)):
            own = [self.moves_of[f] for f in scope]
            shape = [len(moves) for moves in own]
            grid = np.stack([moves.ravel() for moves in np.meshgrid(*own, indexing="ij")], axis=1)
            effect = (self.logs(grid) - self.before).reshape(*shape, -1)
            for size in range(1, len(scope)):
                for part in combinations(range(len(scope)), size):
                    own_part = tuple([scope[i] for i in part])
                    known = self.alone[own[part[0]]] if size == 1 else found[own_part]
                    axes = [len(own[i]) if i in part else 1 for i in range(len(scope))]
                    effect = effect - known.reshape(*axes, -1)
            found[scope] = effect
        return found


class Best:
    """The sets of changes with the largest posteriors, and those that tie with the last of them."""

    def __init__(self, size: int, number: int) -> None:
        self.combos = np.empty((0, size), dtype=np.intp)
        self.posteriors, self.number = np.empty(0), number

    @property
    def least(self) -> float:
        """The posterior below which a set is not among the best."""
        n = len(self.posteriors) - self.number
        return float(np.partition(self.posteriors, n)[n]) - 2 * TOLERANCE if n >= 0 else -np.inf

    def add(self, combos: Combos, posteriors: Array) -> None:
        """Add sets that lead to the target."""
        self.combos = np.concatenate([self.combos, combos])
        self.posteriors = np.concatenate([self.posteriors, posteriors])
        kept = self.posteriors >= self.least
        self.combos, self.posteriors = self.combos[kept], self.posteriors[kept]

    def ranked(self) -> Combos:
        """Return the best in descending order, ties in the order of the moves."""
        order = np.lexsort(self.combos.T[::-1])
        return self.combos[order[descending(self.posteriors[order])]][: self.number]


def smallest_changes(changes: Changes, most: int, alternatives: int) -> list[tuple[list[Move], float]]:
    """Return the best of the smallest sets of changes that lead to the target, with their posteriors."""
    for size in range(1, min(most, len(changes.moves_of)) + 1):
        _check_number(changes, size)
        best = Best(size, alternatives)
        (_enumerate if changes.scopes is None else _search)(changes, size, best)
        combos = best.ranked()
        posteriors = changes.posteriors(changes.logs(combos)).tolist()
        if posteriors:
            return [([changes.moves[m] for m in row], p) for row, p in zip(combos, posteriors, strict=True)]
    return []


def _check_number(changes: Changes, size: int) -> None:
    """Raise a ValueError if there are too many sets of changes to keep, or to evaluate."""
    counts = [1] + [0] * size  # sets of 0, 1, … changes of the features so far
    for moves in changes.moves_of.values():
        for k in range(size, 0, -1):
            counts[k] += counts[k - 1] * len(moves)
    number = counts[size] if changes.scopes is None else counts[size - 1]
    if number > _MOST_SETS:
        raise ValueError(
            f"most must be less than {size} for this row, which has {number:,} sets of changes to try. Name "
            "features that keep their values with fixed."
        )


def _enumerate(changes: Changes, size: int, best: Best) -> None:
    """Evaluate all sets of changes."""
    combos = np.empty((1, 0), dtype=np.intp)
    for _ in range(size - 1):
        combos = np.concatenate([block for _, block in _extensions(changes, combos)])
    for _, block in _extensions(changes, combos):
        logs = changes.logs(block)
        wins = changes.wins(logs)
        best.add(block[wins], changes.posteriors(logs[wins]))


def _extensions(changes: Changes, combos: Combos) -> Iterator[tuple[NDArray[np.intp], Combos]]:
    """Yield the numbers of sets, and the sets with one more move, of a later feature, in blocks."""
    last = changes.features[combos[:, -1]] if combos.shape[1] else np.full(len(combos), -1)
    at_once = max(1, _BLOCK_CELLS // max(1, len(changes.moves)))
    for start in range(0, len(combos), at_once):
        rows, moves = np.nonzero(changes.features > last[start : start + at_once, None])
        yield rows + start, np.column_stack([combos[rows + start], moves])


def _search(changes: Changes, size: int, best: Best) -> None:
    """Evaluate the sets of changes whose bounds exceed the posteriors of the best."""
    corrections = changes.corrections(size)
    combos, totals = np.empty((1, 0), dtype=np.intp), changes.before[None]
    for _ in range(size - 1):
        steps = [_extended(changes, corrections, combos, totals, at) for at in _blocks(changes, len(combos))]
        combos, totals = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    bounds = _bounds(changes, corrections, combos, totals)
    order = np.argsort(-bounds, kind="stable")
    for at in _blocks(changes, len(combos)):
        rows = order[at]
        rows = rows[bounds[rows] >= max(best.least, 0.0)]
        if not len(rows):
            break
        block, logs = _extended(changes, corrections, combos, totals, rows)
        wins = changes.wins(logs)
        best.add(block[wins], changes.posteriors(logs[wins]))


def _blocks(changes: Changes, rows: int) -> Iterator[NDArray[np.intp]]:
    """Yield the numbers of rows in blocks."""
    at_once = max(1, _BLOCK_CELLS // (max(1, len(changes.moves)) * len(changes.before)))
    for start in range(0, rows, at_once):
        yield np.arange(start, min(start + at_once, rows))


def _extended(
    changes: Changes,
    corrections: Mapping[tuple[int, ...], Array],
    combos: Combos,
    totals: Array,
    rows: NDArray[np.intp],
) -> tuple[Combos, Array]:
    """Return some sets with one more move, of a later feature, and the log joint after them."""
    combos, features = combos[rows], changes.features[combos[rows]]
    logs = totals[rows][:, None] + changes.alone
    for scope, effect in corrections.items():
        *heads, last = scope
        if len(heads) > combos.shape[1]:
            continue
        has = [features == head for head in heads]
        found = np.flatnonzero(np.logical_and.reduce([h.any(axis=1) for h in has]))
        if len(found):
            pairs = zip(has, heads, strict=True)
            places = [combos[found][h[found]] - changes.moves_of[head][0] for h, head in pairs]
            logs[np.ix_(found, changes.moves_of[last])] += effect[tuple(places)]
    latest = features[:, -1:] if features.shape[1] else np.full((len(combos), 1), -1)
    at, moves = np.nonzero(changes.features > latest)
    return np.column_stack([combos[at], moves]), logs[at, moves]


def _bounds(
    changes: Changes, corrections: Mapping[tuple[int, ...], Array], combos: Combos, totals: Array
) -> Array:
    """Return a bound of the posterior of the target after one more change, -1 if it cannot be predicted."""

    def odds(logs: Array) -> Array:
        return np.asarray(logs[..., [changes.target]] - logs)

    pairs: dict[tuple[int, int], Array] = {}
    for scope, effect in corrections.items():  # what the first feature adds to the change of the last one
        gain = np.maximum(odds(effect).max(axis=tuple(range(1, len(scope)))), 0.0)
        ends = scope[0], scope[-1]
        pairs[ends] = pairs.get(ends, 0.0) + gain
    joint = np.zeros_like(changes.alone)
    for (first, _), gain in pairs.items():
        own = changes.moves_of[first]
        joint[own] = np.maximum(joint[own], gain)
    bounds = odds(totals) + odds(changes.alone).max(axis=0) + joint[combos].sum(axis=1)
    with np.errstate(over="ignore"):
        posteriors = 1 / np.exp(-bounds).sum(axis=1)
    return np.where((bounds >= -2 * TOLERANCE).all(axis=1), posteriors, -1.0)
