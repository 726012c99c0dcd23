"""Cases, which are held out as a whole, and an order of rows that is not that of the file."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np

from ..check.row_findings import equal_rows_beyond_chance
from ..dataset import Data, Dataset
from ..frames import rows_as_cases
from ..tools.arrays import ArrayOf
from ..tools.messages import listed, warn


def hash_rows(data: Dataset) -> ArrayOf[np.uint64]:
    """Return a hash of the codes of each row, whatever the order of the columns."""
    total = np.zeros(len(data), dtype=np.uint64)
    for name, codes in zip(data.columns, data.codes, strict=True):
        keys = (codes.astype(np.int64) + crc32(repr(name).encode())).astype(np.uint64)
        for shift in (31, 29):
            keys *= np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(shift)
        total += keys
    return total


def rows_in_content_order(data: Data) -> Data:
    """Return the rows by class and values, whatever the order of the rows and columns."""
    by_name = sorted(range(len(data.columns) - 1), key=lambda i: repr(data.columns[i]))
    columns = [data.codes[i] for i in by_name]
    return data.take_rows(np.lexsort((data.row_weights, *columns, data.codes[-1])))


def fractional_weights_as_cases(data: Data) -> Data:
    """Return rows with fractional weights as one case each; others without groups unchanged.

    Whole weights are numbers of equal rows, each a case.
    """
    if data.cases is not None or data.weights is None:
        return data
    if (data.weights % 1).any():
        return replace(rows_as_cases(data), given=len(data))
    most = 1e12  # with more, the differences between log-likelihoods have too few digits
    if data.weights.sum() > most:
        raise ValueError(
            f"weights must sum to at most {most:g} if they are numbers of rows; got a sum of "
            f"{data.weights.sum():g}. Divide them by a number, or use "
            "encode(..., weights_are='cases')."
        )
    return data


def warn_of_copies(data: Dataset) -> None:
    """Warn of equal rows that chance does not explain, by the rule of `check_data`."""
    if data.cases is not None or data.weights is not None:
        return
    if copies := equal_rows_beyond_chance(data.codes, data.numbers):
        warn(
            f"{max(copies.values()):,} of {len(data):,} rows equal an earlier row, although the "
            f"numbers in {listed(list(copies)[:3])} are nearly all different, so they are probably "
            "copies. Copies make a model overconfident: call drop_duplicates() first. If such rows "
            "belong together, name their group with groups=."
        )
