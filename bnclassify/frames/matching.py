"""Data in terms of what a model knows: codes matched by label, and what becomes of labels that are new."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Codes, code_type
from ..base.messages import listed, shown

if TYPE_CHECKING:
    from .schema import Dataset, Levels


_UNSEEN = -2
"""Code of a label that is not among the levels; a missing value has -1."""


def codes_of(codes: Codes, where: list[int]) -> Codes:
    """Select columns by position, without a copy if they are adjacent."""
    if where and where == list(range(where[0], where[0] + len(where))):
        return codes[where[0] : where[0] + len(where)]
    return codes[where]


def scoring_classes(data: Dataset, class_var: Hashable, levels: tuple[Any, ...]) -> Codes:
    """Return the codes of the class in data to score a model on: every row must have one."""
    classes = match(data, (class_var,), (levels,))[0]
    unknown = int(np.count_nonzero(classes < 0))
    if unknown:
        raise ValueError(
            f"dataset: {unknown} of {len(data)} rows have no class {shown(class_var)}; leave them "
            f"out, for example with .dropna(subset=[{shown(class_var)}])"
        )
    return classes


def check_unseen(unseen: object) -> None:
    """Raise a ValueError for what `match` does not know."""
    if not isinstance(unseen, str) or unseen not in ("error", "missing"):
        raise ValueError(f"unseen: expected 'error' or 'missing', got {shown(unseen)}")


def match(data: Dataset, columns: Sequence[Hashable], levels: Levels, *, unseen: str | None = None) -> Codes:
    """Return the codes of columns in terms of other levels, matched by label.

    Parameters
    ----------
    data : Dataset
    columns : sequence
        Names of columns, in the wanted order.
    levels : tuple of tuple
        For each column the labels that codes shall stand for.
    unseen : {"error", "missing"}, optional
        What becomes of a value that is not among the levels; None if that is not the caller's to choose, and
        it is an error.

    Returns
    -------
    (columns, rows) array of signed integers

    Raises
    ------
    ValueError
        If a value is not among the levels and ``unseen`` is not "missing".
    """
    where = [data.positions[name] for name in columns]
    codes = codes_of(data.codes, where)
    if tuple(data.levels[i] for i in where) == tuple(levels):
        return codes
    longest = max(len(labels) for labels in levels)
    matched = np.empty(codes.shape, dtype=np.promote_types(codes.dtype, code_type(longest)))
    code = -1 if unseen == "missing" else None
    advice = _FIXED if unseen is None else _CHOICE
    for row, old, name, i, labels in zip(matched, codes, columns, where, levels, strict=True):
        row[:] = old if data.levels[i] == labels else recode(old, data.levels[i], labels, name, code, advice)
    return matched


_FIXED = (
    "the levels of a model do not grow: correct such values or leave their rows out, or learn structure and "
    "parameters again from all rows; a column made a category before splitting keeps all"
)
"""What is said of values that are new."""

_CHOICE = (
    "predict(..., unseen='missing') takes such values as missing, and so does "
    "BNCClassifier(handle_unknown='missing'); a column made a category before splitting keeps all"
)
"""The same where they may be taken as missing."""


def recode(
    codes: NDArray[Any],
    old: tuple[Any, ...],
    new: tuple[Any, ...],
    name: Hashable,
    unseen: int | None,
    advice: str = _FIXED,
) -> NDArray[Any]:
    """Return the codes of one column in terms of other levels, matched by label.

    Parameters
    ----------
    codes : (rows,) array of signed integers
        -1 where missing.
    old, new : tuple
        The labels that codes stand for, and shall stand for.
    name : str
        Of the column, for errors.
    unseen : int or None
        The code of labels that are not among the new; None if there may be none.
    advice : str
        What to do about them, for errors.
    """
    position = {label: code for code, label in enumerate(new)}
    # The last entry is what the code -1, missing, is looked up at.
    lookup = np.array([position.get(label, _UNSEEN) for label in old] + [-1])
    matched = lookup[codes]
    new_to_us = matched == _UNSEEN
    if new_to_us.any():
        strange = [old[code] for code in np.unique(codes[new_to_us])]
        # A column of another type is a mistake, whatever shall become of unseen labels.
        if unseen is None or _same_text(strange, new) or _numbers_for_intervals(strange, new):
            raise ValueError(f"column {shown(name)}: {_unknown(strange, new, advice)}")
        matched[new_to_us] = unseen
    return matched


def _same_text(strange: Iterable[Any], known: Iterable[Any]) -> bool:
    """Whether labels differ in type alone, or in the .0 that pandas gives whole numbers with gaps."""
    return bool({_bare(label) for label in strange} & {_bare(label) for label in known})


def _bare(label: Any) -> str:
    return str(label).removesuffix(".0")


def _numbers_for_intervals(strange: Iterable[Any], known: Iterable[Any]) -> bool:
    """Whether numbers came where the known levels are the intervals of a discretizer."""
    return str(next(iter(known), "")).startswith("(-inf, ") and all(
        isinstance(label, Real) for label in strange
    )


def _unknown(strange: list[Any], known: tuple[Any, ...], advice: str) -> str:
    """Say which labels are not among the known ones, and what could be the matter."""
    if _same_text(strange, known):
        kinds = type(strange[0]).__name__, type(known[0]).__name__
        advice = (
            f"they are of type {kinds[0]} here and {kinds[1]} there"
            if len(set(kinds)) > 1
            else ("they are the same but for .0, which whole numbers with gaps get")
        )
        advice += "; convert the column"
        if kinds[1] == "str" and _bare(strange[0]).isdecimal():
            advice += ", with pd.to_numeric(column).astype('Int64').astype('string')"
    elif _numbers_for_intervals(strange, known):
        advice = "cut new data, too, with the discretizer that discretize returned for the training data"
    return f"{listed(strange)} not among the levels that the model knows, {listed(known)}; {advice}"
