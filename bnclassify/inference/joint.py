"""The log joint of a model: the sum of each member's factors at each row, members averaged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Array, Codes, log_sum_exp
from ..frames.encoding import Dataset
from ..frames.matching import match
from ..model.networks import AODE, Model, features, members, values
from . import elimination
from . import forests as forest
from .factors import Factor, network_factors, sum_factors
from .stacking import ensemble_joint

_BLOCK_ROWS = 2**13  # what a block needs stays in cache


def log_joint(x: Model, data: Dataset, *, unseen: str = "error") -> Array:
    """Return ln P(observed features, class) for each row and class.

    Features that are missing are summed out exactly.

    Parameters
    ----------
    x : BNC or AODE
        A model with parameters.
    data : Dataset
        Has a column for each feature of the model.
    unseen : {"error", "missing"}
        What becomes of values that are not among the model's levels.

    Returns
    -------
    (rows, classes) array
        Columns as `classes`. For an ensemble, the log of the mean over its members.
    """
    labels = values(x)
    names = features(x)
    codes = match(data, names, tuple(labels[name] for name in names), unseen=unseen)
    return joint_of_codes(x, codes)


def joint_of_codes(x: Model, codes: Codes) -> Array:
    """Return the same from the codes of the features, (features, rows), -1 where missing."""
    if isinstance(x, AODE) and x.has_few_levels:
        return ensemble_joint(x, codes)
    return joint_in_blocks([network_factors(member) for member in members(x)], codes)


def joint_in_blocks(networks: Sequence[Sequence[Factor]], codes: Codes) -> Array:
    """Return the log of the mean joint of networks, (rows, classes), a block of rows at a time."""
    rows = codes.shape[1]
    result = np.empty((rows, networks[0][-1].table.shape[-1]))
    for start in range(0, rows, _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        parts = [network_joint(factors, codes[:, block]) for factors in networks]
        mean = log_sum_exp(np.stack(parts), axis=0) - np.log(len(parts)) if len(parts) > 1 else parts[0]
        result[block] = mean
    return result


def network_joint(factors: Sequence[Factor], codes: Codes, context: Codes | None = None) -> Array:
    """Return the log joint of one network, (rows, classes).

    Parameters
    ----------
    factors : sequence of Factor
        One a feature in the order of ``codes``, and the class's own last.
    codes : (features, rows) array of integers
        -1 where missing.
    context : (rows,) array of integers, optional
        The context of each row, if there are several.
    """
    if codes.min(initial=0) >= 0:
        return sum_factors(factors, codes, context, complete=True)
    total = sum_factors(factors, codes, context, complete=False)
    longest = max(len(factor.scope) for factor in factors)
    if longest > 1:  # in a naive Bayes, missing features are leaves and sum to 1
        room = forest if longest == 2 else elimination
        room.add_missing(total, factors[:-1], codes, context)
    return total
