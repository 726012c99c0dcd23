"""Rows that are held out as one case, and copies that are not."""

from __future__ import annotations

from dataclasses import replace

from ..check.check_data import equal_rows_beyond_chance
from ..dataset import Data, Dataset
from ..frames import rows_as_cases
from ..tools.messages import listed, warn


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
