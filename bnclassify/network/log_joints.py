"""The log joint of a model: the sum of each member's factors at each row, members averaged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from ..base.arrays import Array, Codes, log_sum_exp
from ..frames.matching import match
from ..frames.schema import Dataset
from ..frames.training import TrainingData
from ..model.model import Model
from ..model.questions import classes
from ..model.raw_rows import encode_for
from . import elimination, forests
from .bnc import BNC, DN
from .ensemble import Ensemble
from .factors import Factor, network_factors, sum_factors

_MOST_CELLS = 2**28  # of a log joint, 2 GiB
BLOCK_ROWS = 2**13  # what a block needs stays in cache


def log_joint(x: Model, data: Dataset, *, unseen: str | None = None) -> Array:
    """Return ln P(observed features, class) for each row and class.

    Features that are missing are summed out exactly.

    Parameters
    ----------
    x : Model
        A model with parameters.
    data : Dataset
        Has a column for each feature of the model.
    unseen : {"error", "missing"}, optional
        As in `match`: what becomes of values that are not among the model's levels.

    Returns
    -------
    (rows, classes) array
        Columns as `classes`. For an ensemble, the log of the mean over its members.
    """
    check_size(len(data), len(classes(x)))
    if isinstance(data, TrainingData) and data.frame is not None:
        data = encode_for(x, data, x.features)
    return joint_of_codes(x, match(data, x.features, (x.levels or ())[:-1], unseen=unseen))


def check_size(rows: int, n_classes: int) -> None:
    """Raise a ValueError if a number for each row and class would take more memory than is reasonable."""
    if rows * n_classes > _MOST_CELLS:
        raise ValueError(
            f"{rows:,} rows and {n_classes:,} classes would need {rows * n_classes:,} numbers, more than "
            f"{_MOST_CELLS:,}; take fewer rows at a time, or merge rare classes"
        )


@singledispatch
def joint_of_codes(x: Model, codes: Codes) -> Array:
    """Return the same from the codes of the features, (features, rows), -1 where missing.

    A kind of model registers here how its log joint is computed.
    """
    return x._log_joint(codes)


@joint_of_codes.register
def _(x: BNC, codes: Codes) -> Array:
    return joint_in_blocks([network_factors(x)], codes)


@joint_of_codes.register
def _(x: DN, codes: Codes) -> Array:
    lacking = int(np.count_nonzero((codes < 0).any(axis=0)))
    if lacking:
        raise ValueError(
            f"newdata: features are missing in {lacking} of {codes.shape[1]} rows, and a dependency network "
            "has no joint distribution to sum them out by; predict by a network that has one, such as ban "
            "learns, or fill them in by such a network, with impute"
        )
    return joint_in_blocks([network_factors(x)], codes)


@joint_of_codes.register
def _(x: Ensemble, codes: Codes) -> Array:
    return log_sum_exp(
        np.stack([joint_of_codes(m, codes) + w for m, w in zip(x.members, x.log_weights, strict=True)]),
        axis=0,
    )


def joint_in_blocks(networks: Sequence[Sequence[Factor]], codes: Codes) -> Array:
    """Return the log of the mean joint of networks, (rows, classes), a block of rows at a time."""
    rows = codes.shape[1]
    result = np.empty((rows, networks[0][-1].table.shape[-1]))
    for start in range(0, rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        joints = [network_joint(factors, codes[:, block]) for factors in networks]
        mean = log_sum_exp(np.stack(joints), axis=0) - np.log(len(joints)) if len(joints) > 1 else joints[0]
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
    engine = forests if forests.is_forest(factors) else elimination
    engine.add_missing(total, factors, codes, context)
    return total
