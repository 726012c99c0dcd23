"""Columns that identify persons, or other groups of rows with the same class."""

from __future__ import annotations

import re
from math import exp, log, sqrt

import numpy as np

from ..base.arrays import Mask, Positions
from .coded_columns import BEGINNING, CHANCE, CodedColumn, Finding
from .numeric import as_floats

IS_ID = re.compile(r"(?:^|[\W_])(?:[iI][dD]|uuid|key|nr)(?:$|[\W_])|[a-z]I[dD]$")
"""Names of identifiers, such as id, enrollee_id and CustomerId."""

_IS_PERSON = re.compile(
    r"(?:patient|subject|person|participant|respondent|pupil|student|child|family|household)"
    r"[\W_]*(?:id|nr|no|number|code)?",
    re.IGNORECASE,
)
"""Names of persons, or of groups of them, that have several rows each."""

FEWEST_GROUPS, _LARGEST_GROUP = 10, 20
"""Least number of levels, and largest mean number of their rows, of a repeating identifier."""


def find_groups(column: CodedColumn) -> Finding | None:
    """Return the finding that a column identifies persons, or other groups of rows of one class.

    Rows with equal values have the class of the row before them with a
    probability of Σ p² by chance. If the column is not called like an
    identifier, they must have it more often than rows with neighboring values,
    as measurements have not, and the values must occur more evenly than drawn
    values do.
    """
    if column.is_apart or column.is_class or column.classes is None or column.weights is not None:
        return None
    if not _can_label_groups(column):
        return None
    positions = column.value_positions
    is_known: Mask = (positions >= 0) & (column.classes >= 0)
    values, classes = positions[is_known], column.classes[is_known]
    sizes = np.bincount(values)
    sizes, n = sizes[sizes > 0], len(values)
    if len(sizes) < FEWEST_GROUPS or not 1.5 * len(sizes) <= n <= _LARGEST_GROUP * len(sizes):
        return None
    order = np.argsort(values, kind="stable")
    is_same: Mask = np.diff(values[order]) == 0
    agrees: Mask = np.diff(classes[order]) == 0
    share = float(np.square(np.bincount(classes) / n).sum())
    hits, rows = int(np.count_nonzero(is_same & agrees)), int(np.count_nonzero(is_same))
    name = str(column.name)
    if IS_ID.search(name) or _IS_PERSON.fullmatch(name):
        chance = _log_chance_of_hits(hits, rows, share)
        # -3.0: log of one in twenty, below which chance does not explain what names suggest
        is_group, serious = chance < -3.0, chance < CHANCE
    else:
        near = np.count_nonzero(~is_same & agrees) / max(1, len(sizes) - 1)
        chance = _log_chance_of_hits(hits, rows, max(share, near))
        is_group = serious = chance < CHANCE and _are_evenly_sized(sizes)
    if not is_group:
        return None
    return Finding(
        column.name,
        f"{len(sizes):,} values in {n:,} rows, as of persons with several rows each: rows with "
        "equal values have the same class more often than by chance",
        f"If such rows belong together, pass groups={column.name!r} to bnc and to cv, so that "
        "rows of the same group are held out together, and the groups are not a feature",
        serious,
    )


def _can_label_groups(column: CodedColumn) -> bool:
    """Whether a column can have enough values with few rows each; a quick test without sorting."""
    if column.numbers is None:
        return len(column.levels) >= max(FEWEST_GROUPS, len(column.codes) / _LARGEST_GROUP)
    values = as_floats(column.numbers)
    if np.isnan(values).all() or (values[:BEGINNING] % 1 > 0).any():
        return False
    span = np.nanmax(values) - np.nanmin(values) + 1
    return bool(span >= len(values) / _LARGEST_GROUP and not (values % 1 > 0).any())


def _log_chance_of_hits(hits: int, rows: int, share: float) -> float:
    """Return Chernoff's bound on the log probability of so many hits of the given probabilities."""
    observed = hits / rows if rows else 0.0
    if observed <= share:
        return 0.0
    rest = (1 - observed) * log((1 - observed) / (1 - share)) if observed < 1 else 0.0
    return -rows * (observed * log(observed / share) + rest)


def _are_evenly_sized(sizes: Positions) -> bool:
    """Whether groups have more equal sizes than drawn values, of which each occurs at least once.

    Their sizes would have a Poisson distribution without 0, with mean m = λ /
    (1 − exp(−λ)), and a variance of m (1 + λ − m), whose estimate has a
    relative standard deviation of √(2 / (n − 1)).
    """
    mean = rate = float(sizes.mean())
    for _ in range(50):
        rate = mean * (1 - exp(-rate))
    ratio = float(sizes.var()) / (mean * (1 + rate - mean))
    return 2 * ratio < 1 and (1 - ratio) * sqrt((len(sizes) - 1) / 2) > 4
