"""Columns with too many levels for their rows, and too few columns: what is told of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from ..base.arrays import Array, Codes
from ..base.messages import listed, shown, warn
from .schema import Schema

_FEWEST_ROWS = 20
"""Rows from which levels are held against their number; in fewer all may differ by chance."""


def warn_of_wide_columns(
    schema: Schema, codes: Iterable[Codes], weights: Array | None, class_var: Hashable
) -> None:
    """Warn of columns with more levels than half of their rows, if there are enough rows to judge."""
    identifiers: list[Hashable] = []
    wide: list[Hashable] = []
    for name, column, card in zip(schema.columns, codes, schema.cards, strict=True):
        rows, levels = _rows_and_levels(column, card, weights)
        if rows < _FEWEST_ROWS or 2 * levels <= rows:
            continue
        if name == class_var:
            _warn_of_class(class_var, rows, levels)
        else:
            (identifiers if levels == rows else wide).append(name)
    if identifiers:
        warn(
            f"every row has a value of its own in {listed(identifiers)}, as in a column of identifiers; that "
            f"tells nothing about other rows, so leave such columns out, with {_without(identifiers)}"
        )
    if wide:
        warn(
            f"more levels than half of the rows in {listed(wide)}; what one or two rows tell of a level is "
            "chance, so merge rare levels, with frame, merger = merge_rare(dataset, "
            f"columns=[{listed(wide)}]), or leave such columns out, with {_without(wide)}"
        )


def _rows_and_levels(codes: Codes, card: int, weights: Array | None) -> tuple[float, int]:
    """Return the known rows of a column and the levels that occur in them, 0 of a narrow one."""
    if card < _FEWEST_ROWS // 2:
        return 0, 0
    is_known = codes >= 0
    known, known_weights = codes[is_known], None if weights is None else weights[is_known]
    rows = len(known) if known_weights is None else float(known_weights.sum())
    if 2 * card <= rows:
        return 0, 0
    return rows, int(np.count_nonzero(np.bincount(known, known_weights)))


def _warn_of_class(class_var: Hashable, rows: float, levels: int) -> None:
    if levels == rows:
        fault = f"every row has a class {shown(class_var)} of its own"
    else:
        fault = f"the class {shown(class_var)} has {levels:,} labels in {rows:,g} rows"
    warn(
        f"{fault}; to learn one, several rows must have it. Where it is a number, make a few classes of it, "
        "with pd.cut"
    )


def _without(names: Sequence[Hashable]) -> str:
    return f"dataset.drop(columns=[{listed(names)}])"


def warn_of_no_features(class_var: Hashable) -> None:
    """Warn that a model has no features to predict by."""
    warn(
        f"no feature is left to predict {shown(class_var)} by, so every row gets the likeliest class; has a "
        "step before, such as leaving out columns without a cut, left out too much?"
    )
