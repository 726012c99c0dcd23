"""The log joint as one feature after the other becomes known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from ..base.arrays import Array, Codes
from ..model.model import Model
from ..network.bnc import BNC, DN, Network
from ..network.factors import network_factors, sum_factors
from ..network.log_joints import joint_of_codes


@singledispatch
def joints_in_sequence(x: Model, codes: Codes, order: Sequence[int]) -> Array:
    """Return the log joint of the class and the first 0, 1, 2 … features, (1 + features, rows, classes).

    Parameters
    ----------
    x : Model
        With parameters. A kind of model registers here only if it has a quicker way than all others.
    codes : (features, rows) array of integers
        -1 where missing. What is missing, and what is not known yet, is summed out.
    order : sequence of int
        The features by number, parents first where the model has one graph.
    """
    return x._log_joints_in_sequence(codes, order)


@joints_in_sequence.register
def _(x: BNC, codes: Codes, order: Sequence[int]) -> Array:
    # Without parents of the class, a feature that comes later has no descendants that are known, so its
    # table sums to 1: each step adds one table to the last.
    one_by_one = joints_in_sequence.dispatch(Model)
    complete = codes.min(axis=0, initial=0) >= 0
    if x.parents[x.class_var] or not complete.any():
        return one_by_one(x, codes, order)
    logs = np.empty((len(order) + 1, codes.shape[1], x.cards[-1]))
    logs[:, complete] = _running_sums(x, codes[:, complete], order)
    if not complete.all():
        logs[:, ~complete] = one_by_one(x, codes[:, ~complete], order)
    return logs


@joints_in_sequence.register
def _(x: DN, codes: Codes, order: Sequence[int]) -> Array:
    joint_of_codes(x, codes)  # refuses what is missing, for nothing can be summed out
    return _running_sums(x, codes, order)


def _running_sums(x: Network, codes: Codes, order: Sequence[int]) -> Array:
    """Sum the tables at complete rows, the class's first, then those of the features in order."""
    *of_features, of_class = network_factors(x)
    logs = np.empty((len(order) + 1, codes.shape[1], of_class.table.shape[-1]))
    for step, factor in enumerate([of_class, *[of_features[i] for i in order]]):
        logs[step] = sum_factors([factor], codes, complete=True)
    return logs.cumsum(axis=0)
