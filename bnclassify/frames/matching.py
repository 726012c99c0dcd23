"""Codes of data in terms of the levels of a model, matched by label, and unseen labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Codes, code_type
from ..base.checks import OneOf
from ..base.messages import listed, shown, warn

Levels = tuple[tuple[Any, ...], ...]


class _Coded(Protocol):
    """Rows as codes, (columns, rows); see `Dataset`."""

    @property
    def codes(self) -> Codes: ...
    @property
    def levels(self) -> Levels: ...
    @property
    def positions(self) -> Mapping[Hashable, int]: ...
    def __len__(self) -> int: ...


MISSING = "(missing)"
"""The last level of a column whose missing values are a level."""

_UNSEEN = -2
"""Code of a label that is not among the levels; a missing value has -1."""


def codes_of(codes: Codes, where: list[int]) -> Codes:
    """Select columns by position, without a copy if they are adjacent."""
    if where and where == list(range(where[0], where[0] + len(where))):
        return codes[where[0] : where[0] + len(where)]
    return codes[where]


def scoring_classes(data: _Coded, class_var: Hashable, levels: tuple[Any, ...]) -> Codes:
    """Return the codes of the class in data to evaluate a model on; every row must have one."""
    classes = match(data, (class_var,), (levels,))[0]
    unknown = int(np.count_nonzero(classes < 0))
    if unknown:
        raise ValueError(
            f"dataset: {unknown} of {len(data)} rows have no class {shown(class_var)}. Drop them, for "
            f"example with .dropna(subset=[{shown(class_var)}])."
        )
    return classes


def check_unseen(unseen: object) -> None:
    """Raise a ValueError for an option that `match` does not have."""
    OneOf(("error", "missing")).check("unseen", unseen)


def match(data: _Coded, columns: Sequence[Hashable], levels: Levels, *, unseen: str | None = None) -> Codes:
    """Return the (columns, rows) codes of columns in terms of other levels, matched by label.

    A label that is not among the levels is missing if ``unseen`` is "missing"; if it is "error" or None, it
    raises a ValueError.
    """
    positions, old_levels = data.positions, data.levels
    where = [positions[name] for name in columns]
    codes = codes_of(data.codes, where)
    same = [old_levels[i] == new and new[-1:] != (MISSING,) for i, new in zip(where, levels, strict=True)]
    if all(same):
        return codes
    longest = max(len(labels) for labels in levels)
    matched = np.empty(codes.shape, dtype=np.promote_types(codes.dtype, code_type(longest)))
    code = -1 if unseen == "missing" else None
    advice = _FIXED if unseen is None else _CHOICE
    for k, (old, i, labels) in enumerate(zip(codes, where, levels, strict=True)):
        known, name = data.levels[i], columns[k]
        matched[k] = row = old if same[k] else recode(old, known, labels, name, code, advice)
        if code is not None and len(row) > 1 and (old >= 0).any() and not (row >= 0).any():
            found = [known[value] for value in np.unique(old[old >= 0])]
            are_numbers = all(isinstance(label, int | float) for label in (*found, *labels))
            if are_numbers and np.count_nonzero(old >= 0) < len(labels):
                continue  # Measurements in a few rows need not occur in other rows.
            warn(
                f"column {shown(name)}: none of its values, {listed(found)}, is among the levels of the "
                f"model, {listed(labels)}, so all of them are treated as missing. Check the column."
            )
    return matched


_FIXED = (
    "Correct such values, drop their rows, refit the model to all rows, or add levels with update(..., "
    "levels='grow'). A column that is categorical before the data are split keeps all levels."
)
"""The remedy for unseen labels."""

_CHOICE = (
    "With unseen='missing', or handle_unknown='missing' in BNCClassifier, such values are treated as "
    "missing. A column that is categorical before the data are split keeps all levels."
)
"""The remedy if unseen labels can be treated as missing."""


def recode(
    codes: NDArray[Any],
    old: tuple[Any, ...],
    new: tuple[Any, ...],
    name: Hashable,
    unseen: int | None,
    advice: str = _FIXED,
) -> NDArray[Any]:
    """Return the codes of one column for ``new`` levels; ``unseen`` is the code of other labels, or None."""
    position = {label: code for code, label in enumerate(new)}
    missing = len(new) - 1 if new and new[-1] == MISSING else -1
    # The last entry is the code of a missing value, -1.
    lookup = np.array([position.get(label, _UNSEEN) for label in old] + [missing])
    matched = lookup[codes]
    new_to_us = matched == _UNSEEN
    if new_to_us.any():
        strange = [old[code] for code in np.unique(codes[new_to_us])]
        # A column of another type is an error, even if unseen labels are treated as missing.
        if unseen is None or _same_text(strange, new) or _numbers_for_text(strange, new):
            raise ValueError(f"column {shown(name)}: {_unknown(strange, new, advice)}")
        matched[new_to_us] = unseen
    return matched


def united(name: Hashable, known: tuple[Any, ...], more: Iterable[Any]) -> tuple[Any, ...]:
    """Return the levels of a column, then the further ones of other data; "(missing)" stays last."""
    strange = [label for label in more if label not in known]
    if _same_text(strange, known) or (strange and _numbers_for_text(strange, known)):
        raise ValueError(f"column {shown(name)}: {_unknown(strange, known, _FIXED)}")
    return tuple(sorted((*known, *strange), key=lambda label: label == MISSING))


def _same_text(strange: Iterable[Any], known: Iterable[Any]) -> bool:
    """Whether labels differ only in type, or by the .0 of whole floats."""
    texts, known_texts = ({str(label).removesuffix(".0") for label in labels} for labels in (strange, known))
    return not texts.isdisjoint(known_texts)


def _numbers_for_text(strange: Iterable[Any], known: Sequence[Any]) -> bool:
    """Whether labels are numbers, but text in training, as the intervals of a discretizer are."""
    is_text = len(known) > 0 and all(isinstance(label, str) for label in known)
    return is_text and all(isinstance(label, Real) for label in strange)


def _unknown(strange: list[Any], known: tuple[Any, ...], remedy: str) -> str:
    """Return the message about labels that are not among the known ones."""
    if _same_text(strange, known):
        types = type(strange[0]).__name__, type(known[0]).__name__
        remedy = "They differ only by .0, as in a column with missing values. Convert the column"
        if len(set(types)) > 1:
            remedy = f"They are of type {types[0]} here and {types[1]} in the model. Convert the column"
        if types[1] == "str" and str(strange[0]).removesuffix(".0").isdecimal():
            remedy += ", with pd.to_numeric(column).astype('Int64').astype('string')"
        remedy += "."
    elif _numbers_for_text(strange, known):
        remedy = "Apply the discretizer that discretize returned in training, or convert the column."
    return f"{listed(strange)} not among the levels of the model, {listed(known)}. {remedy}"
