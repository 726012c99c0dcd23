"""Contributions of features to the log odds of a class by averaged n-dependence estimators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log_normalize, log_sum_exp
from .cooccurrence import Positions
from .one_dependence import IMPOSSIBLE
from .row_groups import Estimators, MemberBlock, member_blocks, row_groups

_BLOCK_CELLS = 2**18
_CERTAIN = 1e200  # larger weights result from a probability of 0


def attribute(
    x: Estimators, codes: Codes, logs: Array, targets: Positions, rivals: NDArray[np.bool_]
) -> Array:
    """Split the log odds of a class between its prior and the features, (rows, 1 + features).

    `codes` are (features, rows), -1 where missing, `logs` is the log joint, `targets` has the class to
    explain, and `rivals`, (rows, classes), the classes to compare it with. The target or a rival is possible.

    Notes
    -----
    Let a_i be the weighted joint probability of row and target by member i, π_k a_i its part that is
    compared with rival k, with π_k the prior share of k among the rivals, and b_ik the same for rival k. Then

        ln (A / B) = Σ_ik L(π_k a_i, b_ik) / L(A, B) · ln (π_k a_i / b_ik),    A = Σ_i a_i, B = Σ_ik b_ik

    with the logarithmic mean L(a, b) = (a − b) / (ln a − ln b). In a member, the log ratio on the right
    is a sum: the prior log odds of target and rivals, ln P(x_j | x_i, target) − ln P(x_j | x_i, k) for each
    child, and the rest of ln P(x_i, class), which two superparents share equally.
    """
    result = np.zeros((codes.shape[1], 1 + len(codes)))
    prior = np.broadcast_to(x.naive.stack.joint[0], rivals.shape)
    shares = log_normalize(np.where(rivals, prior, -np.inf))
    logs, targets = np.maximum(logs, IMPOSSIBLE), targets[:, None]
    rival_logs = log_sum_exp(np.where(rivals, logs, -np.inf))[:, None]
    means = _log_mean(np.take_along_axis(logs, targets, axis=1), rival_logs)
    whole = _Contest(targets, rivals, prior, shares, means)
    n = max(1, _BLOCK_CELLS // (rivals.shape[1] * max(1, len(codes))))
    for rows in (slice(start, start + n) for start in range(0, len(result), n)):
        contest = whole.at_rows(rows)
        for group in row_groups(x, codes[:, rows]):
            for block in member_blocks(x, group.n, group.levels):
                weights = group.log_weights(block)[:, None] - np.log(group.total_weight[block.rows])
                at = group.rows[block.rows]
                _add_members(result[rows], at, block, weights, contest.at_rows(at))
    return np.where(np.abs(result) > _CERTAIN, np.copysign(np.inf, result), result)


class _Contest(NamedTuple):
    """The target, (rows, 1), rivals, (rows, classes), and their ln P(class), ln π and ln L(A, B)."""

    targets: Positions
    rivals: NDArray[np.bool_]
    prior: Array
    log_shares: Array
    log_mean: Array

    def at_rows(self, rows: slice | Positions) -> _Contest:
        """Return the contest of some of the rows."""
        return _Contest._make(part[rows] for part in self)

    def of_target(self, logs: Array) -> Array:
        """Return the logs of the target, (…, rows, 1)."""
        return np.take_along_axis(logs, np.broadcast_to(self.targets, (*logs.shape[:-1], 1)), axis=-1)

    def gain(self, logs: Array) -> Array:
        """Return the log of the target minus the log of each class, (…, rows, classes)."""
        return self.of_target(logs) - logs


def _add_members(
    result: Array, rows: Positions, block: MemberBlock, log_weights: Array, contest: _Contest
) -> None:
    """Add the contributions of the members of a block to the weights of its rows."""
    index = np.maximum(block.superparent_index, 0).astype(np.intp)
    n_features = result.shape[1] - 1
    joint = block.tables.stack.joint[index]
    logs = joint + log_weights[..., None]
    for feature in range(n_features):
        logs += _child(block, index, feature)
    means = _log_mean(contest.of_target(logs) + np.maximum(contest.log_shares, IMPOSSIBLE), logs)
    means -= contest.log_mean
    compared = block.takes_part[..., None] & contest.rivals
    shares = np.where(compared, np.exp(np.where(compared, means, 0.0)), 0.0)
    prior = contest.gain(contest.prior)
    log_shares = np.where(contest.rivals, contest.log_shares, 0.0)
    result[rows, 0] += np.sum(shares * (prior + log_shares), axis=(0, 2))
    for feature in range(n_features):
        gain = contest.gain(_child(block, index, feature))
        result[rows, 1 + feature] += np.sum(shares * gain, axis=(0, 2))
    of_superparents = np.sum(shares * (contest.gain(joint) - prior), axis=2)
    for superparents in block.superparents.T:
        np.add.at(result, (rows, 1 + superparents[:, None]), of_superparents / block.superparents.shape[1])


def _child(block: MemberBlock, index: Positions, feature: int) -> Array:
    """Return ln P(value | superparents, class), (members, rows, classes), 0 if the feature is not a child."""
    levels = block.levels[feature].astype(np.intp)
    logs = block.tables.stack.logs[index, :, np.maximum(levels, 0)]
    is_child = (levels >= 0) & ~(block.superparents == feature).any(axis=1)[:, None]
    return np.where(is_child[..., None], logs, 0.0)


def _log_mean(log_a: Array, log_b: Array) -> Array:
    """Return ln L(a, b) from the logs of a and b."""
    difference = np.abs(log_a - log_b)
    safe = np.where(difference > 0, difference, 1.0)
    return np.maximum(log_a, log_b) + np.where(difference > 0, np.log(-np.expm1(-safe) / safe), 0.0)
