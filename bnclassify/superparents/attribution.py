"""What each feature adds to the log odds that averaged n-dependence estimators give a class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log_normalize, log_sum_exp
from ..network.log_joints import joint_of_codes
from .ande import ANDE
from .ande_joint import Ballot, ballots, electorates, naive_stack
from .products import IMPOSSIBLE, Stack

_BLOCK_CELLS = 2**18
_CERTAIN = 1e200  # a weight above comes from a probability of 0


def attribute(x: ANDE, codes: Codes, targets: NDArray[np.intp], rivals: NDArray[np.bool_]) -> Array:
    """Share the log odds of a class among its prior and the features, (rows, 1 + features).

    Parameters
    ----------
    x : ANDE
    codes : (features, rows) array of integers
        -1 where missing.
    targets : (rows,) array of int
        The class whose odds they are.
    rivals : (rows, classes) array of bool
        Those that it is compared with; not all of them and the target are impossible.

    Notes
    -----
    Let a_i be the weighted joint probability of row and target by member i, π_k a_i its part that is set
    against rival k, with π_k the prior share of k among the rivals, and b_ik what member i gives to k. Then

        ln (A / B) = Σ_ik L(π_k a_i, b_ik) / L(A, B) · ln (π_k a_i / b_ik),    A = Σ_i a_i, B = Σ_ik b_ik

    with the logarithmic mean L(a, b) = (a − b) / (ln a − ln b). In a member, the log ratio on the right
    is a sum: the prior log odds of target and rivals, ln P(x_j | x_i, target) − ln P(x_j | x_i, k) for each
    child, and what the superparents' values say of the classes, which two superparents share equally.
    """
    result = np.zeros((codes.shape[1], 1 + len(codes)))
    rows_per_block = max(1, _BLOCK_CELLS // (len(x.tables.counts.classes) * max(1, len(codes))))
    for start in range(0, len(result), rows_per_block):
        rows = slice(start, start + rows_per_block)
        _attribute_block(x, codes[:, rows], targets[rows], rivals[rows], result[rows])
    return np.where(np.abs(result) > _CERTAIN, np.copysign(np.inf, result), result)


@dataclass(frozen=True, eq=False)
class _Contest:
    """The classes that are compared in some rows.

    Attributes
    ----------
    targets : (rows, 1) array of int
    rivals : (rows, classes) array of bool
    prior : (classes,) array
        ln P(class).
    log_shares : (rows, classes) array
        ln π, the prior share of a class among the rivals.
    log_mean : (rows, 1) array
        ln L(A, B).
    """

    targets: NDArray[np.intp]
    rivals: NDArray[np.bool_]
    prior: Array
    log_shares: Array
    log_mean: Array

    def at_rows(self, rows: NDArray[np.intp]) -> _Contest:
        """Return the same of some of the rows."""
        return replace(
            self,
            targets=self.targets[rows],
            rivals=self.rivals[rows],
            log_shares=self.log_shares[rows],
            log_mean=self.log_mean[rows],
        )

    def gain(self, logs: Array) -> Array:
        """Return how much more the target has than each class, (…, rows, classes)."""
        index = np.broadcast_to(self.targets, (*logs.shape[:-1], 1))
        return np.asarray(np.take_along_axis(logs, index, axis=-1) - logs)


def _attribute_block(
    x: ANDE, codes: Codes, targets: NDArray[np.intp], rivals: NDArray[np.bool_], result: Array
) -> None:
    logs = np.maximum(joint_of_codes(x, codes), IMPOSSIBLE)
    prior = naive_stack(x).joint[0]
    target_logs = np.take_along_axis(logs, targets[:, None], axis=1)
    rival_logs = log_sum_exp(np.where(rivals, logs, -np.inf))[:, None]
    shares = log_normalize(np.where(rivals, prior, -np.inf))
    contest = _Contest(targets[:, None], rivals, prior, shares, _log_mean(target_logs, rival_logs))
    for voters in electorates(x, codes):
        for ballot in ballots(x, voters.n, voters.levels):
            weights = voters.log_weights(ballot)[:, None] - np.log(voters.mass[ballot.rows])
            rows = voters.rows[ballot.rows]
            _add_members(result, rows, ballot, weights, contest.at_rows(rows))


def _add_members(
    result: Array, rows: NDArray[np.intp], ballot: Ballot, log_weights: Array, contest: _Contest
) -> None:
    """Add what the members of a ballot contribute to the weights of its rows."""
    members = _Members(ballot, ballot.make_stack())
    joint = members.joint()
    logs = joint + log_weights[..., None]
    for feature in range(result.shape[1] - 1):
        logs += members.child(feature)
    target = np.take_along_axis(logs, np.broadcast_to(contest.targets, (*logs.shape[:2], 1)), axis=-1)
    means = _log_mean(target + np.maximum(contest.log_shares, IMPOSSIBLE), logs) - contest.log_mean
    votes = (ballot.picks >= 0)[..., None] & contest.rivals
    shares = np.where(votes, np.exp(np.where(votes, means, 0.0)), 0.0)
    prior = contest.gain(np.broadcast_to(contest.prior, contest.rivals.shape))
    result[rows, 0] += np.sum(
        shares * (prior + np.where(contest.rivals, contest.log_shares, 0.0)), axis=(0, 2)
    )
    for feature in range(result.shape[1] - 1):
        result[rows, 1 + feature] += np.sum(shares * contest.gain(members.child(feature)), axis=(0, 2))
    of_superparents = np.sum(shares * (contest.gain(joint) - prior), axis=2)
    for superparents in ballot.superparents.T:
        np.add.at(result, (rows, 1 + superparents[:, None]), of_superparents / ballot.superparents.shape[1])


@dataclass(frozen=True, eq=False)
class _Members:
    """The members of a ballot, to be asked for their logs, (members, rows, classes)."""

    ballot: Ballot
    stack: Stack

    @cached_property
    def picks(self) -> NDArray[np.intp]:
        return np.maximum(self.ballot.picks, 0).astype(np.intp)

    def joint(self) -> Array:
        """Return ln P(superparents, class)."""
        return self.stack.joint[self.picks]

    def child(self, feature: int) -> Array:
        """Return ln P(value | superparents, class), 0 where the feature is no child."""
        levels = self.ballot.levels[feature].astype(np.intp)
        logs = self.stack.logs[self.picks, :, np.maximum(levels, 0)]
        is_child = (levels >= 0) & ~(self.ballot.superparents == feature).any(axis=1)[:, None]
        return np.where(is_child[..., None], logs, 0.0)


def _log_mean(log_a: Array, log_b: Array) -> Array:
    """Return ln L(a, b) of the logs of a and b."""
    difference = np.abs(log_a - log_b)
    safe = np.where(difference > 0, difference, 1.0)
    return np.maximum(log_a, log_b) + np.where(difference > 0, np.log(-np.expm1(-safe) / safe), 0.0)
