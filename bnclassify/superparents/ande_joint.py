"""The log joint of averaged n-dependence estimators: which members vote in a row, and their mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes
from ..network.log_joints import joint_of_codes
from .ande import ANDE, LevelTables
from .cooccurrence import PairCounts, Positions, WithinLevel
from .products import (
    IMPOSSIBLE,
    KEPT_CELLS,
    Numbers,
    Stack,
    finite_log,
    joint_by_rows,
    log_total,
    number_levels,
)
from .subsumption import without_subsumed


@dataclass(frozen=True, eq=False)
class Ballot:
    """Members that may vote in some rows.

    Attributes
    ----------
    rows : (rows,) array of int
        Positions of the rows.
    levels : (features, rows) array of int
        The levels of the rows as the stack numbers them, -1 where a feature is no child.
    superparents : (members, n) array of int
        The features that are the superparents of each.
    picks : (members, rows) array of int
        The number of the superparents' values in the stack, -1 where they do not vote.
    counts : (superparents, classes, levels) array
        What the log tables are made of, at the superparent's own level how often it occurs.
    make_stack : callable
        Makes the log tables.
    """

    rows: Positions
    levels: Numbers
    superparents: Positions
    picks: Numbers
    counts: NDArray[Any]
    make_stack: Callable[[], Stack]


@dataclass(frozen=True, eq=False)
class Electorate:
    """Rows in which members with equally many superparents vote, and how much.

    Attributes
    ----------
    rows : (rows,) array of int
        Positions of the rows.
    n : int
        The number of superparents; 0 is naive Bayes.
    levels : (features, rows) array of int
        The number of each row's level among those of all features, -1 where it is missing or left out.
    weights : (features,) array
        Of a superparent; of two, their sum counts.
    mass : (rows,) array
        The sum of the weights of the members that vote.
    """

    rows: Positions
    n: int
    levels: Numbers
    weights: Array
    mass: Array

    def log_weights(self, ballot: Ballot) -> Array:
        """Return the log weights of the members of a ballot."""
        if not self.n:
            return np.zeros(1)
        weights = self.weights[ballot.superparents].sum(axis=1)
        return np.where(weights > 0, np.log(np.where(weights > 0, weights, 1.0)), IMPOSSIBLE)


@joint_of_codes.register
def _(x: ANDE, codes: Codes) -> Array:
    """Return the log of the mean joint of the members that vote, (rows, classes)."""
    return joint_by_rows(lambda block: _joint_of_rows(x, block), codes, len(x.tables.counts.classes))


def _joint_of_rows(x: ANDE, codes: Codes) -> Array:
    result = np.full((codes.shape[1], len(x.tables.counts.classes)), -np.inf)
    for voters in electorates(x, codes):
        total = np.full((len(voters.rows), result.shape[1]), -np.inf)
        for ballot in ballots(x, voters.n, voters.levels):
            logs = sum_of_members(ballot, voters.log_weights(ballot))
            total[ballot.rows] = np.logaddexp(total[ballot.rows], logs)
        result[voters.rows] = total - np.log(voters.mass)[:, None]
    return result


def sum_of_members(ballot: Ballot, log_weights: Array) -> Array:
    """Return the log of the weighted sum of the joints of members, (rows, classes)."""
    stack = ballot.make_stack()
    result = np.empty((ballot.levels.shape[1], stack.logs.shape[1]))
    for block in stack.blocks(ballot.levels):
        absent = ballot.picks[:, block.rows] < 0
        logs = block.sums_at(ballot.picks[:, block.rows])
        if absent.any():
            np.copyto(logs[:, : absent.shape[1]], IMPOSSIBLE, where=absent[..., None])
        logs += log_weights[:, None, None]
        result[block.rows] = log_total(logs)[: absent.shape[1]]
    return result


def electorates(x: ANDE, codes: Codes) -> Iterator[Electorate]:
    """Part rows by the members that vote: those with n superparents, else with one less, else naive Bayes.

    Where those that would vote all weigh nothing, they weigh the same. Naive Bayes in the end takes all
    features, also those that were left out as subsumed.
    """
    levels = number_levels(codes, x.tables.counts.cards)
    remaining = without_subsumed(x, levels)
    equal_weights = np.ones(len(levels))
    rows = np.arange(levels.shape[1])
    for n in range(x.n, 0, -1):
        for weights in [equal_weights] if x.weighting is None else [x.information, equal_weights]:
            mass = _mass(x, n, _at_rows(remaining, rows), weights)
            voting = rows if mass.all() else rows[mass > 0]
            if len(voting):
                yield Electorate(voting, n, _at_rows(remaining, voting), weights, mass[mass > 0])
            rows = rows[mass == 0]
            if not len(rows):
                return
    yield Electorate(rows, 0, _at_rows(levels if x.n else remaining, rows), equal_weights, np.ones(len(rows)))


def _at_rows(levels: Numbers, rows: Positions) -> Numbers:
    return levels if len(rows) == levels.shape[1] else levels[:, rows]


def _mass(x: ANDE, n: int, levels: Numbers, weights: Array) -> Array:
    """Sum the weights of the members with n superparents that vote in each row."""
    mass = np.zeros(levels.shape[1])
    for ballot in ballots(x, n, levels):
        member_weights = weights[ballot.superparents].sum(axis=1)
        votes = ballot.picks >= 0
        if (member_weights == member_weights[0]).all():
            mass[ballot.rows] += member_weights[0] * np.count_nonzero(votes, axis=0)
        else:  # one after the other, so that a row gets the same sum whatever rows stand beside it
            mass[ballot.rows] += np.cumsum(member_weights[:, None] * votes, axis=0)[-1]
    return mass


def ballots(x: ANDE, n: int, levels: Numbers) -> Iterator[Ballot]:
    """Yield the members with n superparents for rows, given their levels as in `Electorate`."""
    if n == 0:
        yield _naive_ballot(x, levels)
    elif n == 1:
        yield from _single_ballots(x, levels)
    else:
        counts = x.tables.counts
        for within in counts.triples:
            rows = np.nonzero(levels[counts.feature[within.level]] == within.level)[0]
            if len(rows):
                yield from _ballots_within(x, within, rows, levels[:, rows])


def _naive_ballot(x: ANDE, levels: Numbers) -> Ballot:
    """Return naive Bayes as a member whose one superparent is always there, as the last level."""
    rows, counts = levels.shape[1], x.tables.counts
    always = np.full((1, rows), len(counts.feature), dtype=levels.dtype)
    return Ballot(
        np.arange(rows),
        np.concatenate([levels, always]),
        np.empty((1, 0), dtype=np.intp),
        np.zeros((1, rows), dtype=np.intp),
        np.concatenate([counts.single, counts.classes[None]]).T[None],
        partial(naive_stack, x),
    )


def _single_ballots(x: ANDE, levels: Numbers) -> Iterator[Ballot]:
    """Yield the members with one superparent."""
    counts = x.tables.counts
    is_frequent = counts.single.sum(axis=1) >= x.min_count - TOLERANCE
    for i, pairs in enumerate(counts.pairs):
        features = np.unique(counts.feature[pairs.owners])
        yield Ballot(
            np.arange(levels.shape[1]),
            _mapped(levels, pairs.columns),
            features[:, None],
            _mapped(levels[features] if len(features) < len(levels) else levels, _voters(pairs, is_frequent)),
            pairs.counts,
            partial(_single_stack, x, i),
        )


def _ballots_within(x: ANDE, within: WithinLevel, rows: Positions, levels: Numbers) -> Iterator[Ballot]:
    """Yield the members of which one superparent is that of a level and the other one later, for its rows."""
    counts = x.tables.counts
    owner = counts.feature[within.level]
    feature = counts.feature[within.levels]
    beside = counts.beside(within.level).sum(axis=0)[within.levels]
    positions = _mapped(levels, within.positions(counts.feature))
    for pairs in within.pairs:
        partners = np.unique(feature[pairs.owners])
        joint = x.tables.beside(within.level, within.levels[pairs.owners])
        yield Ballot(
            rows,
            _mapped(positions, pairs.columns),
            np.stack([np.full(len(partners), owner), partners], axis=1),
            _mapped(positions[partners], _voters(pairs, beside >= x.min_count - TOLERANCE)),
            pairs.counts,
            partial(_make_stack, x.tables, pairs, feature, joint),
        )


def _voters(pairs: PairCounts, is_frequent: NDArray[np.bool_]) -> Positions:
    """Map levels to their number among the owners; -1 for others, and those without enough rows."""
    numbers = np.full(len(is_frequent), -1)
    numbers[pairs.owners] = np.where(is_frequent[pairs.owners], np.arange(len(pairs.owners)), -1)
    return numbers


def _mapped(levels: Numbers, numbers: Positions) -> Numbers:
    """Map the levels of rows to other numbers; -1 stays."""
    if np.array_equal(numbers, np.arange(len(numbers))):
        return levels
    return np.append(numbers, -1)[levels]


def naive_stack(x: ANDE) -> Stack:
    """Return the log tables of naive Bayes, which the model keeps."""
    stack: Stack = x.derived("naive", _make_naive_stack)
    return stack


def _single_stack(x: ANDE, i: int) -> Stack:
    """Return log tables of members with one superparent, which the model keeps if they are small."""
    small = sum(pairs.counts.size for pairs in x.tables.counts.pairs) <= KEPT_CELLS
    return x.derived("single", _make_single_stacks)[i] if small else _make_single_stacks(x)[i]


def _make_naive_stack(x: ANDE) -> Stack:
    tables, counts = x.tables, x.tables.counts
    n_levels, n_classes = counts.single.shape
    logs = np.empty((1, n_classes, n_levels + 1))
    logs[0, :, :-1] = tables.prior.side_by_side(counts.single.T, counts.feature, np.array(counts.cards))
    logs[0, :, -1] = tables.prior(counts.classes)
    return Stack(finite_log(logs), np.append(counts.feature, len(counts.cards)), np.array([n_levels]))


def _make_single_stacks(x: ANDE) -> list[Stack]:
    tables, counts = x.tables, x.tables.counts
    return [_make_stack(tables, pairs, counts.feature, tables.single[pairs.owners]) for pairs in counts.pairs]


def _make_stack(tables: LevelTables, pairs: PairCounts, feature: Positions, joint: Array) -> Stack:
    """Make log tables from counts of pairs, given the feature of each level and P(superparents, class)."""
    children = tables.conditional(pairs, feature)
    children[np.arange(len(pairs.owners)), :, pairs.owner_columns] = joint
    return Stack(finite_log(children), feature[pairs.levels], pairs.owner_columns)
