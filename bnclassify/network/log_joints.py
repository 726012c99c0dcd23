"""The log joint of a network: the sum of its terms at each row, missing features marginalized over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Array, Codes, log_sum_exp
from . import elimination, forests
from .densities import tabulate_numbers
from .factors import Batch, Factor, sum_terms

BLOCK_ROWS = 2**13  # a block stays in the cache


def network_joint(terms: Sequence[Factor], codes: Codes, context: Codes | None = None) -> Array:
    """Return the log joint of one network, (rows, classes), from a term per feature, and of the class."""
    rows = Batch(codes, context)
    total = sum_terms(terms, rows)
    if not rows.complete:
        add_missing(total, terms, codes, np.zeros(len(rows), dtype=np.intp) if context is None else context)
    return total


def add_missing(total: Array, terms: Sequence[Factor], codes: Codes, context: Codes) -> None:
    """Add the terms of families with missing features, marginalized over, to the log joint of the rows."""
    terms, codes = tabulate_numbers(terms, codes)
    engine = forests if forests.is_forest(terms) else elimination
    engine.add_missing(total, terms, codes, context)


def joint_in_blocks(networks: Sequence[Sequence[Factor]], codes: Codes) -> Array:
    """Return the log of the mean joint of networks, (rows, classes), a block of rows at a time."""
    rows = codes.shape[1]
    result = np.empty((rows, networks[0][-1].table.shape[-1]))
    for start in range(0, rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        joints = [network_joint(terms, codes[:, block]) for terms in networks]
        result[block] = (
            joints[0] if len(joints) == 1 else log_sum_exp(np.stack(joints), axis=0) - np.log(len(joints))
        )
    return result
