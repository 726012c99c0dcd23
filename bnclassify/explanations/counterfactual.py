"""Counterfactuals: the smallest changes of a row that lead to another prediction.

The effect of changes on the log joint is the sum of a part of each change
alone, and of the interaction of each set of changed features that are together
in a term. Both follow from the log joint by inclusion and exclusion, so that
every model whose score is a sum of terms is searched alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import reduce
from itertools import combinations, groupby
from math import prod
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..accessors import check_fitted, check_not_dropped
from ..dataset import MISSING, Dataset, check_unseen
from ..frames import AnyTable, Row
from ..model import Model
from ..numbers import number_of_decimals
from ..scores import Formula, Rows, averaged_formulas, scopes_of_terms, scores_at
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Mask,
    Positions,
    first_best,
    log_normalize,
    one_thread,
    second_best,
    slices,
)
from ..tools.calls import advance_bar, progress_bar, with_call_advice
from ..tools.checks import Instance, Names, OneOf, Unseen, Whole, must_be
from ..tools.graphs import descending_order
from ..tools.immutable import cached_property
from ..tools.messages import listed, shown, warn
from .explain import original_values, read_one_row


@with_call_advice("Pass options by name: counterfactual(x, row, target, fixed=names).")
def counterfactual(
    x: Model,
    row: AnyTable | Row,
    target: Hashable | None = None,
    *,
    fixed: Sequence[Hashable] = (),
    ranges: Mapping[Hashable, Range] | None = None,
    directions: Mapping[Hashable, Direction] | None = None,
    most: int = 3,
    alternatives: int = 5,
    unseen: Unseen = "error",
) -> pd.DataFrame:
    """Find the smallest changes of a row that change its prediction.

    The changes describe the model, and not what would happen if somebody made
    them.

    Parameters
    ----------
    x : BNC, AODE or another model
        Fitted model.
    row : pandas.DataFrame, Series or dict
        One row. Features that a Series or dict omits are unknown.
    target : optional
        The class to predict after the changes; by default, the second most
        probable class.
    fixed : list of str, optional
        Features that keep their values.
    ranges : dict, optional
        Possible values of features: the lowest and the highest number, as in
        ``{"bmi": (25, 34)}``, or a list of levels, as in
        ``{"job": ["part", "full"]}``.
    directions : dict, optional
        Features that can only rise or fall, as in ``{"age": "increasing"}``.
        They must be numbers.
    most : int, default 3
        Maximum number of features to change.
    alternatives : int, default 5
        Maximum number of alternatives to return.
    unseen : {"error", "missing"}, default "error"
        As in `predict`.

    Returns
    -------
    pandas.DataFrame
        One row per changed feature, with the columns ``alternative`` (from 0),
        ``changes`` (the number of changed features), ``variable``, ``from``,
        ``to`` and ``probability`` (the posterior of the target). Alternatives
        change as few features as possible, and each changes other features. The
        smallest changes come first and, of equal ones, the most probable
        target. The table is empty if the target is predicted already, which
        causes a warning, if no feature is known, or if no possible change of at
        most `most` features suffices.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `row` has not exactly one row, `ranges` or `directions` are not
        valid, a feature is missing and the model is a `DN`, or there are too
        many changes to try.

    Notes
    -----
    Missing features stay missing. A number that the model discretizes changes
    to the nearest value of another interval, with the decimals of the cut
    points. A number with a density does not change. The size of a change of a
    number is the share of the cut points of its feature that it crosses; as
    these are quantiles in many models, it is about the share of the training
    rows between the values. The size of a change of a level is 1. For each set
    of features, the smallest sum that suffices is returned. The search is exact
    [1]_. It takes seconds for averages of 60 networks, such as an AODE of 60
    features.

    References
    ----------
    .. [1] Wachter, S., Mittelstadt, B., Russell, C. (2018). Counterfactual
       explanations without opening the black box: automated decisions and the
       GDPR. Harvard Journal of Law & Technology 31.

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
    wish = check_possible_changes(model, fixed, ranges, directions)
    most = Whole(least=1).check("most", most)
    alternatives = Whole(least=1).check("alternatives", alternatives)
    labels = model.known_levels[-1]
    wanted = None if target is None else labels.index(OneOf(labels).check("target", target))
    raw, data = read_one_row(model, row)
    placed = model.rows_to_score(data, unseen)
    logs = scores_at(model.score, placed)
    predicted = first_best(logs)
    if wanted is None:
        wanted = int(second_best(logs, predicted)[0]) if len(labels) > 1 else 0
    elif wanted == predicted[0]:
        warn(
            f"{shown(target)} is predicted for the row already, so the table is empty. Pass "
            "another class as the target, or none for the second most probable class."
        )
    rows = []
    if wanted != predicted[0]:
        moves = value_changes(model, placed.codes[:, 0].tolist(), raw, wish)
        found = smallest_changes(Changes(model.score, placed, moves, wanted), most, alternatives)
        for i, (changes, probability) in enumerate(found):
            for change in changes:
                name = model.features[change.feature]
                before = original_values(raw, name)[0]
                rows.append((i, len(changes), name, before, change.value, probability))
    columns = ["alternative", "changes", "variable", "from", "to", "probability"]
    table = pd.DataFrame(rows, columns=columns, dtype=object)
    return table.astype({"alternative": int, "changes": int, "probability": float})


Range: TypeAlias = "tuple[float, float] | Sequence[Hashable]"
Direction: TypeAlias = Literal["increasing", "decreasing"]

WHOLE = 1000
"""The size of a change of a category, or of a number over all cut points."""


class ValueChange(NamedTuple):
    """The change of a feature to a code: its label, or a number of its interval, as ``value``."""

    feature: int
    code: int
    value: Any
    number: float | None
    size: int = WHOLE


class Wish(NamedTuple):
    """Which changes are possible: features that stay, ends of numbers, levels, and directions."""

    fixed: frozenset[Hashable]
    ends: Mapping[Hashable, tuple[float, float]]
    levels: Mapping[Hashable, frozenset[Hashable]]
    directions: Mapping[Hashable, Direction]


def check_possible_changes(
    x: Model,
    fixed: Sequence[Hashable],
    ranges: Mapping[Hashable, Range] | None,
    directions: Mapping[Hashable, Direction] | None,
) -> Wish:
    """Return what changes are possible, or raise an error that names what is not valid."""
    for argument, given in {"ranges": ranges, "directions": directions}.items():
        value = {} if given is None else given
        Instance(Mapping, f"a dict of {argument} by feature").check(argument, value)
        check_not_dropped(x, argument, value)
        for name in value:
            OneOf(x.features, "a feature of the model").check(argument, name)
    known = {
        name: [label for label in labels if label != MISSING]
        for name, labels in x.levels_by_name.items()
    }
    numeric = {*x.densities, *[name for name, cuts in x.discretizer.cuts.items() if cuts]}
    ends, levels = dict[Hashable, tuple[float, float]](), dict[Hashable, frozenset[Hashable]]()
    for name, values in (ranges or {}).items():
        argument, labels = f"ranges[{name!r}]", known[name]
        pair: tuple[Any, ...] = values if isinstance(values, tuple) and len(values) == 2 else ()
        found = [float(value) for value in pair if isinstance(value, Real)]
        if len(found) == 2:
            low, high = found
            if not low <= high:
                expected = "two numbers, the smaller one first"
                raise ValueError(must_be(argument, expected, (low, high)))
            if name not in numeric and not any(_is_number_within(v, (low, high)) for v in labels):
                expected = f"a range with one of the values {listed(labels)}"
                raise ValueError(must_be(argument, expected, (low, high)))
            ends[name] = low, high
        elif name in numeric:
            raise ValueError(must_be(argument, "two numbers, (lowest, highest)", values))
        elif not isinstance(values, list | tuple | set | frozenset):
            raise ValueError(must_be(argument, "a list of levels", values))
        elif strange := [value for value in values if value not in labels]:
            raise ValueError(f"{argument} must be among {listed(labels)}; got {listed(strange)}.")
        else:
            levels[name] = frozenset(values)
    for name, direction in (directions or {}).items():
        OneOf(("increasing", "decreasing")).check(f"directions[{name!r}]", direction)
        labels = known[name]
        if name not in numeric and not all(isinstance(label, Real) for label in labels):
            raise ValueError(
                f"directions must name features that are numbers; got {shown(name)} with the "
                f"levels {listed(labels)}. Name the possible ones, with ranges={{{name!r}: [...]}}."
            )
    return Wish(frozenset(fixed), ends, levels, directions or {})


def _is_number_within(label: object, ends: tuple[float, float]) -> bool:
    return isinstance(label, Real) and ends[0] <= float(label) <= ends[1]


def value_changes(x: Model, codes: Sequence[int], raw: Dataset, wish: Wish) -> list[ValueChange]:
    """Return all possible changes of single features, in the order of columns and levels."""
    moves = list[ValueChange]()
    for i, (name, labels) in enumerate(zip(x.features, x.known_levels, strict=False)):
        is_fixed = name in wish.fixed or name in x.densities
        if is_fixed or codes[i] < 0 or labels[codes[i]] == MISSING:
            continue
        before: Any = original_values(raw, name)[0]
        if name in raw.numbers and name in x.discretizer.cuts:
            ends = wish.ends.get(name, (-np.inf, np.inf))
            found = _changes_to_other_intervals(
                i, codes[i], x.discretizer.cuts[name], float(before), ends
            )
        else:
            found = []
            for code, label in enumerate(labels):
                is_within = name not in wish.levels or label in wish.levels[name]
                if name in wish.ends:
                    is_within = _is_number_within(label, wish.ends[name])
                if is_within and code != codes[i] and label != MISSING:
                    found.append(ValueChange(i, code, label, None))
        sign = {"increasing": 1, "decreasing": -1}.get(wish.directions.get(name, ""))
        moves += [m for m in found if not sign or sign * (float(m.value) - float(before)) > 0]
    return moves


def _changes_to_other_intervals(
    feature: int, own: int, cuts: Sequence[float], before: float, ends: tuple[float, float]
) -> list[ValueChange]:
    """Return the changes of a number to the nearest value of other intervals within a range."""
    (least, most), places = ends, number_of_decimals(cuts, before)
    moves = []
    for code, (low, high) in enumerate(zip([-np.inf, *cuts], [*cuts, np.inf], strict=True)):
        if code == own:
            continue
        number = nearest_number_inside(low, high, code < own, places)
        number = min(number, most) if code < own else max(number, least)
        if low < number <= high and least <= number <= most:
            # across 2 of 4 cut points: 500 of 1,000
            size = max(1, int(WHOLE * abs(code - own) / len(cuts) + 0.5))
            value = int(number) if number.is_integer() and before.is_integer() else number
            moves.append(ValueChange(feature, code, value, number, size))
    return moves


def nearest_number_inside(low: float, high: float, is_below: bool, places: int | None) -> float:
    """Return an interval's largest number, or its smallest, with so many decimals if there is one.

    >>> nearest_number_inside(90.0, 115.5, True, 0), nearest_number_inside(115.5, 130.0, False, 0)
    (115.0, 116.0)
    """
    exact = high if is_below else float(np.nextafter(low, np.inf))
    if places is None or not np.isfinite(exact) or abs(exact) > 10.0 ** (15 - places):
        return exact
    unit, end = Decimal(1).scaleb(-places), Decimal(repr(high if is_below else low))
    number = float(end.quantize(unit, ROUND_FLOOR if is_below else ROUND_CEILING))
    if not is_below and number <= low:
        number = float(Decimal(repr(number)) + unit)
    return number if low < number <= high else exact


_MOST_TERMS = 2**34  # that are looked up to find sets of a size

Interactions: TypeAlias = Mapping[tuple[int, ...], Array]


@dataclass(frozen=True, eq=False)
class Changes:
    """A row of a model, changes of single features, and a class.

    Sets of changes are positions of moves in ascending order, (sets, size).
    """

    x: Formula
    row: Rows
    moves: Sequence[ValueChange]
    target: int
    _known: dict[tuple[int, ...], Array] = field(default_factory=dict, init=False)  # interactions

    @cached_property
    def features(self) -> Positions:
        """The feature of each move."""
        return np.array([move.feature for move in self.moves], dtype=np.intp)

    @cached_property
    def moves_by_feature(self) -> dict[int, Positions]:
        """The positions of the moves of each feature."""
        changed: list[int] = np.unique(self.features).tolist()
        return {f: np.flatnonzero(self.features == f) for f in changed}

    def log_joint_after(self, sets: Positions) -> Array:
        """Return the log joint after each set of changes, (sets, classes)."""
        blocks = slices(max(1, len(sets)), most=BLOCK_ROWS)
        rows = (self._rows_after_changes(sets[block]) for block in blocks)
        return np.concatenate([scores_at(self.x, of_block) for of_block in rows])

    def _rows_after_changes(self, sets: Positions) -> Rows:
        rows, copies = np.arange(len(sets)), self.row.subset(np.zeros(len(sets), dtype=np.intp))
        codes, numbers = copies.codes, copies.numbers
        to = np.array([move.code for move in self.moves], dtype=np.intp)
        values = np.array([move.number for move in self.moves], dtype=float)  # NaN for labels
        for moves in list[Positions](sets.T):  # the first move of each set, then the second, …
            changed = self.features[moves]
            codes[changed, rows] = to[moves]
            for i, column in numbers.items():
                at: Mask = (changed == i) & ~np.isnan(values[moves])
                column[at] = values[moves[at]]
        return Rows(codes, numbers, copies.unknown)

    @cached_property
    def log_joint_before(self) -> Array:
        """The log joint of the row, (classes,)."""
        return self.log_joint_after(np.empty((1, 0), dtype=np.intp)).ravel()

    @cached_property
    def single_effects(self) -> Array:
        """The effect of each move on the log joint, (moves, classes)."""
        with np.errstate(invalid="ignore"):
            return self.log_joint_after(np.arange(len(self.moves))[:, None]) - self.log_joint_before

    @cached_property
    def changeable_scopes(self) -> list[frozenset[int]] | None:
        """Features that can change and share a term; None if the score is not a sum of terms."""
        found = scopes_of_terms(self.x)
        logs = np.vstack([self.log_joint_before, self.single_effects])
        if found is None or not np.isfinite(logs).all():
            return None
        scopes = {frozenset(scope) for scope in found}
        unknown: list[int] = np.flatnonzero(self.row.codes[:, 0] < 0).tolist()
        for u in unknown:  # marginalization joins the terms
            joined = frozenset[int]().union(*[scope for scope in scopes if u in scope]) - {u}
            scopes = {scope for scope in scopes if u not in scope} | {joined}
        return [scope & self.moves_by_feature.keys() for scope in scopes]

    def scopes_of_interactions(self, most: int) -> list[tuple[int, ...]]:
        """Return the sets of 2 to ``most`` features that are together in a term, small first."""
        sets = set[tuple[int, ...]]()
        for scope in self.changeable_scopes or ():
            for size in range(2, most + 1):
                sets.update(combinations(sorted(scope), size))
        return sorted(sets, key=lambda subset: (len(subset), subset))

    def interactions_by_scope(self, most: int) -> Interactions:
        """Return what sets of 2 to ``most`` features of a term add, (moves of each…, classes)."""
        wanted = self.scopes_of_interactions(most)
        for f, moves in self.moves_by_feature.items():
            self._known[f,] = self.single_effects[moves]
        for _, group in groupby([scope for scope in wanted if scope not in self._known], len):
            scopes = list(group)
            n_changes = self.n_joint_changes_of_scopes(scopes) // len(scopes)  # of each
            for block in slices(len(scopes), n_changes, BLOCK_ROWS):
                self._compute_interactions(scopes[block])
        return {scope: self._known[scope] for scope in wanted}

    def n_joint_changes_of_scopes(self, scopes: Sequence[tuple[int, ...]]) -> int:
        """Return in how many ways the features of each scope change together, Σ Π moves."""
        return sum(prod([len(self.moves_by_feature[f]) for f in scope]) for scope in scopes)

    def _compute_interactions(self, scopes: Sequence[tuple[int, ...]]) -> None:
        """Compute the effects of equally many features minus what fewer of them add, at once."""
        shapes, sets = list[list[int]](), list[Positions]()
        for scope in scopes:  # with 2 moves 0, 1 of a, and 2, 3, 4 of b: (0, 2), (0, 3), …, (1, 4)
            moves = [self.moves_by_feature[f] for f in scope]
            shapes.append(list(map(len, moves)))
            together = np.stack(np.meshgrid(*moves, indexing="ij"), axis=-1)
            sets.append(together.reshape(-1, len(scope)))
        logs = self.log_joint_after(np.concatenate(sets))
        ends = np.cumsum(list(map(len, sets)))[:-1]
        effects = np.split(logs - self.log_joint_before, ends)
        for scope, shape, effect in zip(scopes, shapes, effects, strict=True):
            # of two features: effect(a, b) − effect(a) − effect(b), (moves of a, of b, classes)
            places, beyond = range(len(scope)), effect.reshape(*shape, -1)
            for axes in [axes for n in places[1:] for axes in combinations(places, n)]:
                known = self._known[tuple([scope[i] for i in axes])]
                own_shape = [n if i in axes else 1 for i, n in enumerate(shape)]
                beyond = beyond - known.reshape(*own_shape, -1)
            self._known[scope] = beyond

    @cached_property
    def changes_in_additive_formulas(self) -> list[Changes]:
        """The same changes in models whose scores are sums of terms: a model, or all of a mean."""
        if self.changeable_scopes is not None:
            return [self]
        members = [replace(self, x=member) for member in averaged_formulas(self.x)]
        return members if all(member.changeable_scopes is not None for member in members) else []


class Gains:
    """What changes add to the target's log odds against each class, at most, in a sum of terms.

    ``single_gains``, (moves, classes), has the exact effect of each move, and
    ``joint[n]`` the n largest interactions of a move, each with another later
    feature, added up.
    """

    def __init__(self, changes: Changes, size: int) -> None:
        def log_odds_of_target(logs: Array) -> Array:
            return np.asarray(logs[..., [changes.target]] - logs)

        pairs: dict[int, dict[int, Array]] = {}
        for scope, effect in changes.interactions_by_scope(size).items():
            # what the first feature adds to the change of the last one
            gain: Array = np.maximum(
                log_odds_of_target(effect).max(axis=tuple(range(1, len(scope)))), 0.0
            )
            of_first = pairs.setdefault(scope[0], {})
            of_first[scope[-1]] = of_first.get(scope[-1], 0.0) + gain
        self.log_odds_before = log_odds_of_target(changes.log_joint_before)
        self.single_gains = log_odds_of_target(changes.single_effects)
        self.features = changes.features
        self.joint = np.zeros((size, *self.single_gains.shape))
        for first, by_last in pairs.items():
            largest = -np.sort(-np.stack(list(by_last.values())), axis=0)[: size - 1].cumsum(axis=0)
            self.joint[1 : 1 + len(largest), changes.moves_by_feature[first]] = largest
            self.joint[1 + len(largest) :, changes.moves_by_feature[first]] = largest[-1:]

    def log_odds_bounds_after(self, sets: Positions, more: int, odds: Array | None = None) -> Array:
        """Return bounds of log odds after ``more`` moves, (sets, classes), from the sets' ``odds``.

        A move is corrected with as many later moves as there are more. If the
        odds are unknown, it may also have been corrected with the other moves
        of its set.
        """
        if odds is None:
            own = self.single_gains + self.joint[sets.shape[1] + more - 1]
            odds = self.log_odds_before + own[sets].sum(axis=1)
        elif sets.shape[1]:
            odds = odds + self.joint[more][sets].sum(axis=1)
        if not more:
            return np.asarray(odds)
        later = _first_later_features(self.features, sets)
        gains = self.single_gains + self.joint[more - 1]
        return np.asarray(odds + _largest_sums_of_later_gains(self.features, gains, more)[later])


def _largest_sums_of_later_gains(features: Positions, gains: Array, more: int) -> Array:
    """Return the largest sums of gains of moves of ``more`` features from each on.

    ``gains`` are (moves, columns), and the sums (features + 1, columns).
    """
    n = int(features.max(initial=-1)) + 1
    largest = np.full((n, gains.shape[1]), -np.inf)  # of each feature
    np.maximum.at(largest, features, gains)
    top = np.full((more, gains.shape[1]), -np.inf)
    sums = np.empty((n + 1, gains.shape[1]))
    sums[n] = top.sum(axis=0)
    for f in reversed(range(n)):
        top[:1] = np.maximum(top[:1], largest[f])  # the smallest
        top.sort(axis=0)
        sums[f] = top.sum(axis=0)
    return sums


def _first_later_features(features: Positions, sets: Positions) -> Positions:
    """Return the first feature of which each set can get a move: after its last one, or 0."""
    return np.asarray(features[sets].max(axis=1, initial=-1) + 1)


def smallest_changes(
    changes: Changes, most: int, alternatives: int
) -> list[tuple[list[ValueChange], float]]:
    """Return the best of the smallest sets of changes that lead to the target, with posteriors."""
    with one_thread, progress_bar(None, by_steps=True, desc="counterfactual", unit=" blocks"):
        for size in range(1, min(most, len(changes.moves_by_feature)) + 1):
            if changes.changeable_scopes is not None:
                scopes = changes.scopes_of_interactions(size)
                _check_number_of_terms(changes, changes.n_joint_changes_of_scopes(scopes), size)
            elif not changes.changes_in_additive_formulas:
                # Of features with 2, 3 and 4 moves, (1 + 2z)(1 + 3z)(1 + 4z) has 26 sets of two
                # at z².
                polynomials = [[1, len(moves)] for moves in changes.moves_by_feature.values()]
                _check_number_of_terms(
                    changes, reduce(np.convolve, polynomials, np.ones(1))[size], size
                )
            sets = SetSearch(changes, size, alternatives).sets_by_descending_value()
            if len(sets):
                logs = log_normalize(changes.log_joint_after(sets))[:, changes.target]
                posteriors: list[float] = np.exp(logs).tolist()
                found = [[changes.moves[move] for move in positions] for positions in sets]
                return list(zip(found, posteriors, strict=True))
    return []


def _check_number_of_terms(changes: Changes, rows: float, size: int) -> None:
    terms = len(changes.row.codes) * max(1, len(averaged_formulas(changes.x)))
    if rows * terms > _MOST_TERMS:
        raise ValueError(
            f"most must be less than {size} for this row, because {rows:,.0f} sets of changes or "
            f"more have to be tried in {terms:,} terms. Name features that keep their "
            "values with fixed."
        )


class SetSearch:
    """The best sets of so many changes that lead to the target, by bounds in descending order.

    The value of a set is the posterior of the target less twice the sizes of
    its changes, so that smaller changes are better, and of equal ones the more
    probable. Of the sets that change the same features, only the best counts.
    Sets are extended by moves of later features, block by block: the sets of a
    block are complete before the next block is begun, so that memory is
    bounded.
    """

    def __init__(self, changes: Changes, size: int, number: int) -> None:
        self.changes, self.size, self.number = changes, size, number
        self.interactions = (
            None if changes.changeable_scopes is None else changes.interactions_by_scope(size)
        )
        self.gains = [Gains(one, size) for one in changes.changes_in_additive_formulas]
        self.best = np.empty((0, size), dtype=np.intp)
        self.values = np.empty(0)
        self.least = -np.inf
        self.sizes = np.array([move.size for move in changes.moves], dtype=np.float64)
        self.tried = 0

    def sets_by_descending_value(self) -> Positions:
        """Return the sets, the largest value first, ties in the order of the moves."""
        nothing, logs = np.empty((1, 0), dtype=np.intp), self.changes.log_joint_before[None]
        self._extend_sets(nothing, logs, self._bounds_of_longer_sets(nothing, logs))
        order = np.lexsort(self.best.T[::-1])
        sizes: Array = self.sizes[self.best].sum(axis=1)
        order = order[descending_order((self.values + 2 * sizes)[order])]  # by posteriors
        best = self.best[order[np.argsort(sizes[order], kind="stable")]]
        _, first = np.unique(self.changes.features[best], axis=0, return_index=True)
        return best[np.sort(first)][: self.number]

    def _extend_sets(self, sets: Positions, totals: Array, bounds: Array) -> None:
        """Extend sets, with the log joint after them and their bounds, to the size."""
        cells = self.changes.single_effects.size * max(1, len(self.gains))
        order = np.argsort(-bounds, kind="stable")
        for block in slices(len(order), cells):
            rows = order[block]
            rows = rows[(bounds[rows] >= self.least) & (bounds[rows] > -np.inf)]
            if not len(rows):
                return
            advance_bar()
            longer, logs = self._extended(sets[rows], totals[rows])
            if longer.shape[1] < self.size:
                self._extend_sets(longer, logs, self._bounds_of_longer_sets(longer, logs))
            elif self.interactions is None:
                ends = self._bounds_of_longer_sets(longer, logs)
                longer = longer[(ends >= self.least) & (ends > -np.inf)]
                self.tried += len(longer)
                _check_number_of_terms(self.changes, self.tried, self.size)
                self._add_to_best_sets(longer, self.changes.log_joint_after(longer))
            else:
                self._add_to_best_sets(longer, logs)

    def _add_to_best_sets(self, sets: Positions, logs: Array) -> None:
        """Keep the best of the sets that lead to the target."""
        wins: Mask = first_best(logs) == self.changes.target
        if not wins.any():
            return
        posteriors = np.exp(log_normalize(logs[wins])[:, self.changes.target])
        self.best = np.concatenate([self.best, sets[wins]])
        self.values = np.append(self.values, posteriors - 2 * self.sizes[sets[wins]].sum(axis=1))
        changed, group = np.unique(self.changes.features[self.best], axis=0, return_inverse=True)
        group = group.ravel()  # of each set: the sets that change the same features
        largest = np.full(len(changed), -np.inf)  # value of each group
        np.maximum.at(largest, group, self.values)
        if len(largest) >= self.number:  # less than that of the group of this rank is not needed
            self.least = np.sort(largest)[-self.number] - 2 * TOLERANCE
        kept = self.values >= np.maximum(self.least, largest[group] - 2 * TOLERANCE)
        self.best, self.values = self.best[kept], self.values[kept]

    def _bounds_of_longer_sets(self, sets: Positions, totals: Array) -> Array:
        """Return a bound of the value of longer sets, (sets,), -inf if they miss the target.

        The odds of an average are not larger than those of the member with the
        largest odds.
        """
        more = self.size - sets.shape[1]
        features = self.changes.features
        later = _first_later_features(features, sets)
        smallest_sums = -_largest_sums_of_later_gains(features, -self.sizes[:, None], more)[:, 0]
        sizes: Array = self.sizes[sets].sum(axis=1) + smallest_sums[later]
        if not self.gains:
            return np.asarray(1.0 - 2 * sizes)
        odds = None if self.interactions is None else totals[:, [self.changes.target]] - totals
        by_sum = [gains.log_odds_bounds_after(sets, more, odds) for gains in self.gains]
        bounds: Array = np.max(by_sum, axis=0)
        bounds[:, self.changes.target] = 0.0
        with np.errstate(over="ignore"):
            posteriors = 1 / np.exp(-bounds).sum(axis=1)
        return np.where((bounds >= -2 * TOLERANCE).all(axis=1), posteriors - 2 * sizes, -np.inf)

    def _extended(self, sets: Positions, totals: Array) -> tuple[Positions, Array]:
        """Return sets with one more move, of a later feature, and their log joint, or the row's."""
        changes, interactions = self.changes, self.interactions
        features, first = changes.features[sets], _first_later_features(changes.features, sets)
        at, moves = np.nonzero(changes.features >= first[:, None])
        longer = np.column_stack([sets[at], moves])
        if interactions is None:
            return longer, totals[at]
        logs = totals[:, None] + changes.single_effects
        for (*heads, last), effect in interactions.items():
            # the sets in which all other features of the interaction have changed
            changed = [(features == head).any(axis=1) for head in heads]
            found = np.flatnonzero(np.logical_and.reduce(changed))
            if len(found):
                positions = []
                for head in heads:
                    moves_of_head: Positions = sets[found][features[found] == head]
                    positions.append(moves_of_head - changes.moves_by_feature[head][0])
                logs[np.ix_(found, changes.moves_by_feature[last])] += effect[tuple(positions)]
        return longer, logs[at, moves]
