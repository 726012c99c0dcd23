"""Codes of a column in terms of other levels, matched by label; messages about unseen labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..tools.arrays import Codes, Mask, Positions
from ..tools.checks import OneOf
from ..tools.messages import (
    USUAL_SHARE,
    listed,
    share_of_known_values,
    shown,
    similar_names,
    warn,
)
from .schema import MISSING

_UNSEEN = -2
"""Code of a label that is not among the levels; a missing value has -1."""


_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
)
_SPACES_IN_RANGES = re.compile(r"(?<=\d) ?([-.,;:/]) ?(?=\d)")
_ZEROS = re.compile(r"(?<![\w.,])0+(?=\d)|(?<![\w.,])(\d+)\.0+(?![\w.])")
_OVERLOOKED = re.compile(
    r"""(?<!\d)[ ;:/\\]|[ ;:/\\](?!\d)"""  # not in 1 2, 1:2 or 1/2
    r"""|[.,](?!\d)|(?<=[^\W\d])[.,]"""  # not in 1.5 or .5
    r"""|-(?= ?[^\W\d])|(?<=[^\W\d])-(?=\d)"""  # not in -5, 1-2 or A-
    r"""|(?<!\d)[()\[\]{}](?!\d)|[!'"`]"""  # not in (5) or (1, 2]
)
_CHARACTERS = dict.fromkeys(("Zs", "Zl", "Zp", "Cc", "Pc"), " ") | {
    "Pd": "-",
    "Pi": "'",
    "Pf": "'",
    "Cf": "",
}
"""What a character of a category of Unicode, such as a dash or a joiner without width, is for a
reader."""


def label_as_read(label: Hashable) -> Hashable:
    """Return the number that a label is, or its text without what a person overlooks.

    Labels of which this is equal are one label for a person: they differ only
    in white space, case, punctuation, characters without width, the form or
    encoding of Unicode, or zeros that do not change a number. Signs that change
    the meaning, such as those of ``A-``, ``-5``, ``1-5``, ``<5`` and ``5 %``, are kept.

    >>> label_as_read("Self-employed "), label_as_read("self_employed.")
    ('selfemployed', 'selfemployed')
    >>> label_as_read("007") == label_as_read(7.0), label_as_read("A-"), label_as_read("A")
    (True, 'a-', 'a')
    """
    text = str(label).casefold()
    if text.isascii() and text.isalpha():
        return text
    if not text.isascii():
        with suppress(UnicodeError):  # UTF-8 that was read as Latin-1 has two letters for one
            text = str(label).encode("cp1252").decode().casefold()
        text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
        text = "".join([_CHARACTERS.get(unicodedata.category(c), c) for c in text])
    text = " ".join(text.replace("_", " ").split())
    text = _ZEROS.sub(r"\1", _SPACES_IN_RANGES.sub(r"\1", text))
    read = _OVERLOOKED.sub("", text) or text
    return Decimal(read.replace(",", "")) if _NUMBER.fullmatch(read) else read


def check_unseen(unseen: object) -> None:
    """Raise a ValueError for an option that `codes_by_levels` does not have."""
    OneOf(("error", "missing")).check("unseen", unseen)


REFIT = (
    "Correct such values, drop their rows, refit the model to all rows, or add levels with "
    "update(..., levels='grow'). A column that is categorical before the data are "
    "split keeps all levels."
)
"""The remedy for unseen labels."""

TREAT_AS_MISSING = (
    "With unseen='missing', or in methods of BNCClassifier handle_unknown='missing', such values "
    "are treated as missing. A column that is categorical before the data are split keeps all "
    "levels."
)
"""The remedy if unseen labels can be treated as missing."""


def recode_column(
    codes: Codes,
    old: tuple[Hashable, ...],
    new: tuple[Hashable, ...],
    name: Hashable,
    unseen: int | None,
    advice: str = REFIT,
) -> Positions:
    """Return a column's codes for ``new`` levels; ``unseen`` is the code of others, or None."""
    position: dict[Hashable, int] = {label: code for code, label in enumerate(new)}
    missing = len(new) - 1 if new and new[-1] == MISSING else -1
    # The last entry is the code of a missing value, -1.
    places = [position.get(label, _UNSEEN) for label in old]
    if new and isinstance(new[0], pd.Interval):
        for code, label in enumerate(old):
            if places[code] == _UNSEEN:
                places[code] = _position_of_interval(label, new)
    floats = [c for c, x in enumerate(old) if places[c] == _UNSEEN and isinstance(x, float)]
    for code, place in zip(
        floats, _positions_but_for_rounding([old[c] for c in floats], new), strict=True
    ):
        places[code] = place
    matched: Positions = np.array([*places, missing])[codes]
    is_unseen: Mask = matched == _UNSEEN
    if is_unseen.any():
        strange = [old[code] for code in np.unique(codes[is_unseen])]
        none_known = not ((matched >= 0) & (codes >= 0)).any()
        if unseen is None or (none_known and _has_other_type(strange, new, all_of=unseen < 0)):
            message = _unknown_labels_message(strange, new, advice)
            raise ValueError(f"column {shown(name)}: {message}")
        matched[is_unseen] = unseen
    return matched


def _position_of_interval(label: Hashable, intervals: Sequence[Hashable]) -> int:
    """Return the position of the interval that contains a number, or is written as a text."""
    number: Any = label if isinstance(label, Real) and not isinstance(label, bool) else None
    for code, interval in enumerate(intervals):
        if isinstance(label, str) and label.strip() == str(interval):
            return code
        if number is not None and isinstance(interval, pd.Interval) and number in interval:
            return code
    return _UNSEEN


def _positions_but_for_rounding(numbers: Sequence[Any], levels: Sequence[Any]) -> Sequence[int]:
    """Return the positions of the levels that numbers equal but for rounding."""
    position = {
        float(level): code
        for code, level in enumerate(levels)
        if isinstance(level, float) or (type(level) is int and abs(level) < 2**53)
    }
    if not position or not numbers:
        return [_UNSEEN] * len(numbers)
    known = pd.Index(sorted(position), dtype=np.float64)
    nearest = known.get_indexer(
        pd.Index(numbers), method="nearest", tolerance=rounding_of_numbers(known)
    )
    return [position[known[place]] if place >= 0 else _UNSEEN for place in nearest.tolist()]


def rounding_of_numbers(levels: Iterable[float]) -> float:
    """Return by how much a number may differ from one of these levels because of its type.

    It is the rounding of float32, but at most a thousandth of the smallest gap.
    """
    known = np.unique(list(levels))
    gap = float(np.diff(known).min(initial=np.inf))
    return min(gap / 1000, float(np.abs(known).max()) * 2.0**-23)


def united_levels(
    name: Hashable, known: tuple[Hashable, ...], more: Iterable[Hashable]
) -> tuple[Hashable, ...]:
    """Return the levels of a column, then further ones of other data; "(missing)" stays last."""
    strange = [label for label in more if label not in known]
    in_other_type = [label for label in strange if _differ_only_in_type([label], known)]
    if in_other_type or (strange and _are_numbers_for_text(strange, known)):
        message = _unknown_labels_message(in_other_type or strange, known, REFIT)
        raise ValueError(f"column {shown(name)}: {message}")
    return tuple(sorted((*known, *strange), key=lambda label: label == MISSING))


def _has_other_type(
    strange: Sequence[Hashable], known: Sequence[Hashable], *, all_of: bool
) -> bool:
    """Whether a column without known labels is of another type, which is an error with any option.

    Labels that are treated as missing must all differ from known ones only in
    type, because each can be a mistake by itself. Of labels that are merged
    with rare ones, most are unknown in any case.
    """
    found = [_differ_only_in_type([label], known) for label in strange]
    return (all(found) if all_of else any(found)) or _are_numbers_for_text(strange, known)


def _differ_only_in_type(strange: Iterable[Hashable], known: Iterable[Hashable]) -> bool:
    """Whether all labels differ from known ones only in type, or by the .0 of whole floats."""
    known_texts = {str(label).removesuffix(".0") for label in known}
    return all(str(label).removesuffix(".0") in known_texts for label in strange)


def _are_numbers_for_text(strange: Iterable[Hashable], known: Sequence[Hashable]) -> bool:
    """Whether labels are numbers, but text in training, as the intervals of a discretizer are."""
    is_text = len(known) > 0 and all(isinstance(label, str) for label in known)
    return is_text and all(isinstance(label, Real) for label in strange)


def _unknown_labels_message(
    strange: Sequence[Hashable], known: tuple[Hashable, ...], remedy: str
) -> str:
    if _differ_only_in_type(strange, known):
        remedy = (
            f"{_difference_in_words(strange, known)} Convert the column, with "
            f"{_conversion_code(strange, known)}."
        )
    elif _are_numbers_for_text(strange, known):
        remedy = f"{_difference_in_words(strange, known)} Convert the column."
        if any(str(label).startswith("(") for label in known):  # intervals
            remedy = "Apply the discretizer that discretize returned in training, or convert it."
    return f"{listed(strange, most=8)} not among the levels of the model, {listed(known)}. {remedy}"


def _difference_in_words(strange: Sequence[Hashable], known: Sequence[Hashable]) -> str:
    here, there = type(strange[0]).__name__, type(known[0]).__name__
    if here != there:
        return f"They are of type {here} here and {there} in the model."
    return "They differ only by .0, as in a column with missing values."


def _conversion_code(strange: Sequence[Hashable], known: Sequence[Hashable]) -> str:
    """Return code that converts labels that differ from known ones only in type, or by .0."""
    if isinstance(known[0], bool):
        return "column.map({'True': True, 'False': False})"
    if not isinstance(known[0], str):
        return "pd.to_numeric(column)"
    if all(str(label).removesuffix(".0").isdecimal() for label in strange):
        code = "pd.to_numeric(column).astype('Int64').astype('string')"
        written = {str(label).removesuffix(".0") for label in strange} <= set(known)
        return code if written else f"{code} + '.0'"
    return "column.map(str, na_action='ignore')"


def warn_of_unseen_labels(
    name: Hashable,
    codes: Codes,
    old: tuple[Hashable, ...],
    is_unseen: Mask,
    levels: tuple[Hashable, ...],
    *,
    merged: Hashable = None,
) -> None:
    """Warn if more than a tenth of the known values are not among the levels, or some are alike.

    The ``codes`` of the rows refer to the ``old`` labels. Of labels that are
    ``merged`` into one, which include rare ones, only those that read like a
    level matter. Measurements in a few rows need not occur among a few numbers.
    """
    levels = levels[:-1] if levels[-1:] == (MISSING,) else levels
    counts = np.bincount(codes[is_unseen], minlength=len(old))
    strange = {old[code]: int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    read = _levels_by_reading(levels, tuple(map(type, levels)))
    alike = [label for label in strange if label_as_read(label) in read]
    n_known, n_unseen = int(np.count_nonzero(codes >= 0)), sum(strange.values())
    if not alike:
        are_numbers = all(isinstance(label, int | float) for label in (*strange, *levels))
        is_usual = n_unseen <= USUAL_SHARE * n_known or (are_numbers and n_known < len(levels))
        if merged is not None or is_usual:
            return
    n_told = sum(strange[label] for label in alike) if merged is not None else n_unseen
    example = max(alike or strange, key=strange.__getitem__)
    fate = "treated as missing" if merged is None else f"merged into {shown(merged)}"
    if alike:
        level = shown(read[label_as_read(example)])
        hint = f"{shown(example)} reads like the level {level}. Write both in the same way."
    else:
        nearest = _nearest_level(example, levels)
        hint = f"The nearest level is {shown(nearest[0])}." if nearest else ""
        hint = f"{hint} The levels are {listed(levels)}.".lstrip()
    warn(
        f"column {shown(name)}: {share_of_known_values(n_told, n_known)}, such as "
        f"{shown(example)}, are not among the levels of the model and are {fate}. {hint}"
    )


def _nearest_level(label: Hashable, levels: Sequence[Hashable]) -> list[Any]:
    """Return the nearest of levels that are numbers, or a similar text, if any."""
    numbers: list[Any] = [level for level in levels if isinstance(level, Real)]
    if isinstance(label, Real) and numbers:
        number: Any = label
        return [min(numbers, key=lambda level: abs(level - number))]
    return similar_names(label, levels)[:1]


@lru_cache(maxsize=64)
def _levels_by_reading(
    levels: tuple[Hashable, ...], types: tuple[type, ...]
) -> dict[Hashable, Hashable]:
    """Return the first of the levels that are read in the same way; equal levels differ in type."""
    return {label_as_read(level): level for level in reversed(levels)}
