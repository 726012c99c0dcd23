"""The log joint of averaged n-dependence estimators at training rows, each left out of the counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..backoff.tables import LeftOut
from ..base.arrays import Array, Codes
from .ande import ANDE
from .ande_joint import Ballot, ballots, electorates, sum_of_members
from .cooccurrence import Positions
from .products import IMPOSSIBLE, log_total

_ROWS = 2**13


def joint_without(x: ANDE, codes: Codes, left_out: LeftOut) -> Array:
    """Return the log joint of rows, (rows, classes), each learned from all the others.

    Who votes, and what follows from what, is decided without the row, too. Weights by information are
    those of all rows.

    Parameters
    ----------
    x : ANDE
        Learned from all rows, by a prior that leaves no probability at 0.
    codes : (features, rows) array of integers
        -1 where missing.
    left_out : LeftOut
        Those rows.
    """
    result = np.empty((codes.shape[1], len(x.tables.counts.classes)))
    for share in np.unique(left_out.shares).tolist():
        # N − share ≥ limit is N ≥ limit + share, and all counts of a row's own values hold the row.
        limit = None if x.subsumption is None else x.subsumption + share
        stricter = replace(x, min_count=x.min_count + share, subsumption=limit)
        rows = np.nonzero(left_out.shares == share)[0]
        for block in (rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)):
            classes = left_out.classes[block].astype(np.intp)
            result[block] = _joint_of_rows(stricter, codes[:, block], classes, share)
    return result


def _joint_of_rows(x: ANDE, codes: Codes, classes: Positions, share: float) -> Array:
    result = np.empty((codes.shape[1], len(x.tables.counts.classes)))
    for voters in electorates(x, codes):
        total = np.full((len(voters.rows), result.shape[1]), -np.inf)
        for ballot in ballots(x, voters.n, voters.levels):
            joint = _SuperparentCounts.of(x, ballot, share)
            labels = classes[voters.rows[ballot.rows]]
            weights = voters.log_weights(ballot)
            logs = sum_of_members(
                ballot, weights + np.log(np.maximum(joint.before, joint.total) / joint.total)
            )
            own_logs = _own_class(x, ballot, labels, joint, share) + weights[:, None]
            logs[np.arange(len(labels)), labels] = log_total(np.where(ballot.picks < 0, IMPOSSIBLE, own_logs))
            total[ballot.rows] = np.logaddexp(total[ballot.rows], logs)
        result[voters.rows] = total - np.log(voters.mass)[:, None]
    return result


@dataclass(frozen=True, eq=False)
class _SuperparentCounts:
    """What P(superparents, class) of members has in its denominator: in all, and without a row.

    Attributes
    ----------
    pseudo, before, total : (members,) array
    """

    pseudo: Array
    before: Array
    total: Array

    @classmethod
    def of(cls, x: ANDE, ballot: Ballot, share: float) -> _SuperparentCounts:
        """Return those of the members of a ballot."""
        counts = x.tables.counts
        observed = np.array([counts.table(f).sum() for f in range(len(counts.cards))])
        superparents = ballot.superparents
        if superparents.shape[1] == 2:
            rows = counts.pair_rows[superparents[:, 0], superparents[:, 1]]
        else:
            rows = observed[superparents[:, 0]] if superparents.shape[1] else np.array([counts.classes.sum()])
        cells = len(counts.classes) * np.array(counts.cards, dtype=float)[superparents].prod(axis=1)
        pseudo = np.zeros(cells.shape) + x.tables.prior.per_cell(cells, 1)
        before = rows + cells * pseudo
        # Of members that vote nowhere, as no other row knows their superparents, any will do.
        return cls(pseudo, before, np.where(before > share, before - share, 1.0))


def _own_class(x: ANDE, ballot: Ballot, classes: Positions, joint: _SuperparentCounts, share: float) -> Array:
    """Return the log joint of each row and its own class by each member, (members, rows)."""
    stack, cards = ballot.make_stack(), np.array(x.tables.counts.cards)
    picks = np.maximum(ballot.picks, 0).astype(np.intp)
    votes = ballot.picks >= 0
    own_counts = ballot.counts[picks, classes, stack.own_level[picks]] - share + joint.pseudo[:, None]
    result = np.log(np.where(votes, own_counts, 1.0) / joint.total[:, None])
    starts = np.flatnonzero(np.diff(stack.feature, prepend=-1))
    totals = np.add.reduceat(ballot.counts, starts, axis=-1, dtype=np.float64)
    pseudo = np.zeros(cards.shape) + x.tables.prior.per_cell(cards, 1)
    for column, f in enumerate(stack.feature[starts].tolist()):
        if f < len(cards):
            levels = ballot.levels[f].astype(np.intp)
            is_child = votes & (levels >= 0) & ~(ballot.superparents == f).any(axis=1)[:, None]
            cell = ballot.counts[picks, classes, np.maximum(levels, 0)] - share + pseudo[f]
            total = totals[picks, classes, column] - share + cards[f] * pseudo[f]
            result += np.log(np.where(is_child, cell, 1.0) / np.where(is_child, total, 1.0))
    return result
