"""The log joint of a model: the sum of each member's factors at each row, members averaged."""

from __future__ import annotations

import numpy as np

from ..dataset import Dataset, match
from ..model import Model, classes, features, members, values
from ..probs import Array, Codes, log_sum_exp
from .complete import network_factors, sum_factors

_BLOCK_ROWS = 2**13  # what a block needs stays in cache


def log_joint(x: Model, data: Dataset) -> Array:
    """Return ln P(row, class) for each row and class.

    Parameters
    ----------
    x : BNC or AODE
        A model with parameters.
    data : Dataset
        Has a column for each feature of the model.

    Returns
    -------
    (rows, classes) array
        Columns as `classes`. For an ensemble, the log of the mean over its members.
    """
    labels = values(x)
    names = features(x)
    codes = match(data, names, tuple(labels[name] for name in names))
    _refuse_incomplete(codes)
    rows, n_classes = len(data), len(classes(x))
    networks = [network_factors(member) for member in members(x)]
    result = np.empty((rows, n_classes))
    for start in range(0, rows, _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        parts = [sum_factors(factors, codes[:, block], n_classes) for factors in networks]
        result[block] = parts[0] if len(parts) == 1 else _log_mean(parts)
    return result


def _log_mean(logs: list[Array]) -> Array:
    """Log of the mean of exponentials over a list of arrays."""
    return log_sum_exp(np.stack(logs, axis=-1)) - np.log(len(logs))


def _refuse_incomplete(codes: Codes) -> None:
    if codes.min(initial=0) < 0:
        count = int(np.count_nonzero((codes < 0).any(axis=0)))
        raise ValueError(
            f"{count} of {codes.shape[1]} rows have missing features, and prediction of such "
            "rows is not implemented yet; leave them out with .dropna(subset=list(features(x)))"
        )
