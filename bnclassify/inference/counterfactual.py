"""Counterfactuals: the smallest changes of a row that lead to another prediction.

The effect of changes on the log joint is the sum of a part of each change alone, and of a correction of each
set of changed features that are together in a term. Both follow from the log joint by inclusion and
exclusion, so that every model whose score is a sum of terms is searched alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..base.arrays import TOLERANCE, Array, Codes, Positions, blocks, first_best, log_normalize, second_best
from ..base.calls import guided
from ..base.checks import Names, OneOf, Unseen, Whole
from ..base.graphs import descending
from ..base.immutable import cached_property
from ..frames.encoding import Row
from ..frames.numeric import as_floats
from ..frames.opening import InFull
from ..frames.schema import MISSING, Dataset, check_unseen
from ..model.arguments import check_fitted
from ..model.model import Model
from .explain import own_values, read_one

_BLOCK_ROWS = 2**14
_BLOCK_CELLS = 2**20
_MOST_SETS = 2**25

Corrections: TypeAlias = Mapping[tuple[int, ...], Array]

_COLUMNS = ("alternative", "changes", "variable", "from", "to", "probability")


@guided("Pass options by name: counterfactual(x, row, target, fixed=names).")
def counterfactual(
    x: Model,
    row: InFull | Row,
    target: Any = None,
    *,
    fixed: Sequence[Hashable] = (),
    most: int = 3,
    alternatives: int = 5,
    unseen: Unseen = "error",
) -> pd.DataFrame:
    """Find the smallest changes of a row with which the model predicts another class.

    The changes describe the model. They do not tell which interventions would change the class.

    Parameters
    ----------
    x : BNC, AODE or another model
        With parameters.
    row : pandas.DataFrame, Series or dict
        One row. A Series or dict may omit features, which are then missing.
    target : optional
        The class to predict after the changes; by default, the second most probable class.
    fixed : list of str, optional
        Features that keep their values.
    most : int, default 3
        Maximum number of features to change.
    alternatives : int, default 5
        Maximum number of alternatives to return.
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        The changes of the fewest features with which `predict` returns the target. Of these, the alternatives
        with the largest posterior of the target, ties in column order and then in the order of levels.
        One row per changed feature, with the columns ``alternative`` (from 0), ``changes`` (the number of
        changed features), ``variable``, ``from``, ``to`` and ``probability`` (the posterior of the target).
        It is empty if the target is predicted already, or if no change of at most `most` features suffices.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `row` is not one row, a feature is missing and the model is a `DN`, or there are too many changes
        to try.

    Notes
    -----
    Missing features stay missing. A number that the model discretizes changes to the nearest value of
    another interval, and one with a density stays as it is. The search is exact [1]_.

    References
    ----------
    .. [1] Wachter, S., Mittelstadt, B., Russell, C. (2018). Counterfactual explanations without opening the
       black box: automated decisions and the GDPR. Harvard Journal of Law & Technology 31.

    Examples
    --------
    >>> from bnclassify import counterfactual, load_car, lp, tan_cl
    >>> car = load_car()
    >>> model = lp(tan_cl("class", car, score="aic"), car, smooth=1)
    >>> counterfactual(model, car.iloc[1727], "unacc", fixed=["buying"], alternatives=2).round(2)
       alternative  changes variable  from   to  probability
    0            0        1  persons  more    2         0.98
    1            1        1   safety  high  low         0.95
    """
    model = check_fitted(x)
    check_unseen(unseen)
    Names(model.features, "features of the model").check("fixed", fixed)
    Whole(least=1).check("most", most)
    Whole(least=1).check("alternatives", alternatives)
    labels = model.known_levels[-1]
    wanted = None if target is None else labels.index(OneOf(labels).check("target", target))
    raw, data = read_one(model, row)
    placed, codes = model._place(data, unseen)
    logs = placed._log_joint(codes)
    predicted = first_best(logs)
    if wanted is None:
        wanted = int(second_best(logs, predicted)[0]) if len(labels) > 1 else 0
    found = []
    if wanted != predicted[0]:
        codes = codes[: len(model.features)]
        moves = _moves(placed, codes[:, 0].tolist(), raw, {*fixed})
        numbers = {name: as_floats(values) for name, values in data.numbers.items()}
        found = smallest_changes(Changes(placed, codes, numbers, moves, wanted), most, alternatives)
    return _table(model, raw, found)


def _moves(x: Model, codes: Sequence[int], raw: Dataset, fixed: set[Hashable]) -> list[ValueChange]:
    """Return all changes of single features, in column order and in the order of levels."""
    discretizer = x.discretizer
    moves = []
    for i, (name, labels) in enumerate(zip(x.features, x.known_levels, strict=False)):
        known = codes[i] >= 0 and labels[codes[i]] != MISSING
        if not known or name in fixed or name in x.densities:
            continue
        cuts = None if discretizer is None or name not in raw.numbers else discretizer.cuts.get(name)
        for code, label in enumerate(labels):
            if code != codes[i] and label != MISSING:
                value = label if cuts is None else _nearest(cuts, codes[i], code)
                moves.append(ValueChange(i, code, value, cuts is not None))
    return moves


def _nearest(cuts: Sequence[float], before: int, after: int) -> float:
    """Return the number of an interval that is nearest to another one; a cut point is in the lower one."""
    return float(cuts[after] if after < before else np.nextafter(cuts[after - 1], np.inf))


def _table(x: Model, raw: Dataset, found: Sequence[tuple[Sequence[ValueChange], float]]) -> pd.DataFrame:
    """Return one row per changed feature."""
    rows = [
        (i, len(moves), x.features[m.feature], own_values(raw, x.features[m.feature])[0], m.value, p)
        for i, (moves, p) in enumerate(found)
        for m in moves
    ]
    table = pd.DataFrame(rows, columns=list(_COLUMNS), dtype=object)
    return table.astype({"alternative": int, "changes": int, "probability": float})


class ValueChange(NamedTuple):
    """The change of a feature to a code; ``value`` is its label, or a number if it ``is_number``."""

    feature: int
    code: int
    value: Any
    is_number: bool


@dataclass(frozen=True, eq=False)
class Changes:
    """A row of a model, (features, 1) codes and its numbers, changes of single features, and a class.

    Sets of changes are numbers of moves in ascending order, (sets, size).
    """

    x: Model
    codes: Codes
    numbers: Mapping[Hashable, Array]
    moves: Sequence[ValueChange]
    target: int

    @cached_property
    def features(self) -> Positions:
        """The feature of each move."""
        return np.array([move.feature for move in self.moves], dtype=np.intp)

    @cached_property
    def moves_of(self) -> dict[int, Positions]:
        """The numbers of the moves of each feature."""
        return {f: np.flatnonzero(self.features == f) for f in dict.fromkeys(self.features.tolist())}

    def logs(self, sets: Positions) -> Array:
        """Return the log joint after each set of changes, (sets, classes)."""
        some = blocks(max(1, len(sets)), _BLOCK_ROWS)
        return np.concatenate([self.x._log_joint(self._rows(sets[block])) for block in some])

    def _rows(self, sets: Positions) -> Codes:
        """Return the codes after each set of changes."""
        rows, codes = np.arange(len(sets)), np.repeat(self.codes, len(sets), axis=1)
        numbers = {name: np.repeat(values, len(sets)) for name, values in self.numbers.items()}
        to = np.array([move.code for move in self.moves], dtype=np.intp)
        values = np.array([move.value if move.is_number else np.nan for move in self.moves], dtype=float)
        for moves in sets.T:
            codes[self.features[moves], rows] = to[moves]
            for i in np.unique(self.features[moves[~np.isnan(values[moves])]]).tolist():
                at = self.features[moves] == i
                numbers[self.x.features[i]][at] = values[moves[at]]
        return self.x._with_numbers(codes, numbers)

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

    def corrections(self, most: int) -> Corrections:
        """Return what sets of 2 to ``most`` features of a term add, (moves of each…, classes)."""
        found: dict[tuple[int, ...], Array] = {}
        sizes, scopes = range(2, most + 1), list(map(sorted, self.scopes or ()))
        sets = {part for scope in scopes for size in sizes for part in combinations(scope, size)}
        for scope in sorted(sets, key=lambda part: (len(part), part)):
            own = [self.moves_of[f] for f in scope]
            grid = np.stack([moves.ravel() for moves in np.meshgrid(*own, indexing="ij")], axis=1)
            effect = (self.logs(grid) - self.before).reshape(*map(len, own), -1)
            for part in (part for n in range(1, len(scope)) for part in combinations(range(len(scope)), n)):
                names = tuple([scope[i] for i in part])
                known = self.alone[own[part[0]]] if len(part) == 1 else found[names]
                effect = effect - known.reshape(
                    *[len(own[i]) if i in part else 1 for i in range(len(own))], -1
                )
            found[scope] = effect
        return found


def smallest_changes(changes: Changes, most: int, alternatives: int) -> list[tuple[list[ValueChange], float]]:
    """Return the best of the smallest sets of changes that lead to the target, with their posteriors."""
    numbers = reduce(np.convolve, [[1, len(moves)] for moves in changes.moves_of.values()], np.ones(1))
    for size in range(1, min(most, len(changes.moves_of)) + 1):
        if numbers[size - (changes.scopes is not None)] > _MOST_SETS:
            raise ValueError(
                f"most must be less than {size} for this row, because there are {numbers[size]:,.0f} sets of "
                "changes. Name features that keep their values with fixed."
            )
        sets = _search(changes, size, alternatives)
        if len(sets):
            posteriors = np.exp(log_normalize(changes.logs(sets))[:, changes.target]).tolist()
            return [([changes.moves[m] for m in row], p) for row, p in zip(sets, posteriors, strict=True)]
    return []


def _search(changes: Changes, size: int, number: int) -> Positions:
    """Return the best sets of a size that lead to the target, trying those with the largest bounds first."""
    corrections = None if changes.scopes is None else changes.corrections(size)
    sets, totals = np.empty((1, 0), dtype=np.intp), changes.before[None]
    for _ in range(size - 1):
        parts = _blocks(changes, np.arange(len(sets)))
        steps = [_extended(changes, corrections, sets[rows], totals[rows]) for rows in parts]
        sets, totals = (np.concatenate(arrays) for arrays in zip(*steps, strict=True))
    bounds = np.ones(len(sets)) if corrections is None else _bounds(changes, corrections, sets, totals)
    best, posteriors, least = np.empty((0, size), dtype=np.intp), np.empty(0), 0.0
    for rows in _blocks(changes, np.argsort(-bounds, kind="stable")):
        rows = rows[bounds[rows] >= least]
        found, logs = _extended(changes, corrections, sets[rows], totals[rows])
        wins = first_best(logs) == changes.target
        best = np.concatenate([best, found[wins]])
        posteriors = np.append(posteriors, np.exp(log_normalize(logs[wins])[:, changes.target]))
        if len(posteriors) >= number:
            least = -np.partition(-posteriors, number - 1)[number - 1] - 2 * TOLERANCE
        best, posteriors = best[posteriors >= least], posteriors[posteriors >= least]
    order = np.lexsort(best.T[::-1])  # ties are in the order of the moves
    return best[order[descending(posteriors[order])]][:number]


def _blocks(changes: Changes, rows: Positions) -> list[Positions]:
    """Return row numbers in blocks that bound memory."""
    cells = len(changes.moves) * len(changes.before)
    return [rows[block] for block in blocks(len(rows), _BLOCK_CELLS, cells)]


def _extended(
    changes: Changes, corrections: Corrections | None, sets: Positions, totals: Array
) -> tuple[Positions, Array]:
    """Return sets with one more move, of a later feature, and the log joint after them."""
    features = changes.features[sets]
    latest = features[:, -1:] if features.shape[1] else np.full((len(sets), 1), -1)
    at, moves = np.nonzero(changes.features > latest)
    longer = np.column_stack([sets[at], moves])
    if corrections is None:
        return longer, changes.logs(longer)
    logs = totals[:, None] + changes.alone
    for (*heads, last), effect in corrections.items():
        has = [features == head for head in heads]
        found = np.flatnonzero(np.logical_and.reduce([own.any(axis=1) for own in has]))
        if len(found):
            pairs = zip(has, heads, strict=True)
            places = [sets[found][own[found]] - changes.moves_of[head][0] for own, head in pairs]
            logs[np.ix_(found, changes.moves_of[last])] += effect[tuple(places)]
    return longer, logs[at, moves]


def _bounds(changes: Changes, corrections: Corrections, sets: Positions, totals: Array) -> Array:
    """Return a bound of the posterior of the target after one more change, -1 if it cannot be predicted."""

    def odds(logs: Array) -> Array:
        return np.asarray(logs[..., [changes.target]] - logs)

    pairs: dict[tuple[int, int], Array] = {}
    for scope, effect in corrections.items():  # what the first feature adds to the change of the last one
        gain = np.maximum(odds(effect).max(axis=tuple(range(1, len(scope)))), 0.0)
        pairs[scope[0], scope[-1]] = pairs.get((scope[0], scope[-1]), 0.0) + gain
    joint = np.zeros_like(changes.alone)
    for (first, _), gain in pairs.items():
        own = changes.moves_of[first]
        joint[own] = np.maximum(joint[own], gain)
    bounds = odds(totals) + odds(changes.alone).max(axis=0) + joint[sets].sum(axis=1)
    with np.errstate(over="ignore"):
        posteriors = 1 / np.exp(-bounds).sum(axis=1)
    return np.where((bounds >= -2 * TOLERANCE).all(axis=1), posteriors, -1.0)
