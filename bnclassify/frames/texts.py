"""Labels that are text but mean numbers or missing values; labels written in two ways."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import NamedTuple

from ..base.messages import listed

MARKERS = frozenset(("", "?", "na", "n/a", "#n/a", "nan", "null"))
"""Labels, in lower case, that stand for missing values in files, also as labels of a class."""

_ALL_MARKERS = MARKERS | {"-", "--", ".", "*", "none", "unknown", "missing", "not available"}
"""Labels that stand for missing values among numbers, but can be labels elsewhere."""


_BEGINNING = 100
"""Number of labels that are searched first."""

_SIGNS = "%$€£¥"
_SPACES = "' \u00a0\u202f"

_PLAIN, _GROUPS, _COMMA = (
    re.compile(rf"[+-]?[{_SIGNS}]?\s?(?:{digits})\s?[{_SIGNS}]?")
    for digits in (
        r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
        rf"(?:[0-9]{{1,3}}(?:[,{_SPACES}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]*)?",
        rf"(?:[0-9]{{1,3}}(?:[.{_SPACES}][0-9]{{3}})+|[0-9]+)(?:,[0-9]*)?",
    )
)
"""How numbers are written: 1163.5, then 1,163.5, then 1.163,5; with a percent or money sign."""

_REMOVED = {_PLAIN: _SIGNS + _SPACES, _GROUPS: f"{_SIGNS}{_SPACES},", _COMMA: f"{_SIGNS}{_SPACES}."}
"""The characters that are not part of a number, if it is written in one of these ways."""

_A_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")

_UNIT = re.compile(r"[0-9.]\s?([^\W\d_][^0-9]*)$")
"""A unit after a number."""


class WrittenNumbers(NamedTuple):
    """Numbers that are written as text, as `find_number_format` finds them.

    ``code`` is an expression that converts a column, in which ``{0}`` stands
    for the column. The ``others`` are not numbers. Whole numbers without other
    signs can be codes.
    """

    code: str
    found: tuple[str, ...]
    others: tuple[str, ...]
    are_codes: bool = False

    def conversion_code(self, name: Hashable, argument: str = "dataset") -> str:
        """Return code that converts a column of a data frame."""
        column = f"{argument}[{name!r}]"
        return f"{column} = {self.code.format(code_without_labels(self.others, column))}"

    def remedy(self, name: Hashable) -> str:
        """Return what to do about a column of a data frame called dataset."""
        return f"Convert them, with {self.conversion_code(name)}"


def code_without_labels(others: Sequence[str], column: str) -> str:
    """Return code for a column in which some labels are made missing."""
    return f"{column}.mask({column}.isin({list(others)!r}))" if others else column


def find_number_format(texts: Sequence[str]) -> WrittenNumbers | None:
    """Return how numbers are written as text, if nearly all texts are, except codes like 007."""
    unit = _unit_of_most_texts(texts)

    def fits(pattern: re.Pattern[str], text: str) -> object:
        return pattern.fullmatch(text.removesuffix(unit).rstrip())

    ways = [(p, *split_by_match(texts, partial(fits, p))) for p in (_PLAIN, _GROUPS, _COMMA)]
    pattern, found, others = max(ways, key=lambda way: len(way[1]))  # the first of equals
    if not are_nearly_all(found, others):
        return None
    if pattern is _PLAIN and any(re.fullmatch(r"0[0-9]+", text.strip()) for text in found):
        return None
    removed = "".join(sorted({*"".join(map(str.strip, found))} & {*_REMOVED[pattern]}))
    code = f".str.replace({f'[{removed}]'!r}, '', regex=True)" if removed else ""
    code += ".str.replace(',', '.')" if pattern is _COMMA else ""
    code = (f".str.strip().str.removesuffix({unit!r})" if unit else "") + code
    code = "{0}.astype('string')" + code if code else "{0}"
    are_codes = pattern is _PLAIN and not others and all(text.strip().isdecimal() for text in found)
    return WrittenNumbers(f"pd.to_numeric({code})", tuple(found), tuple(others), are_codes)


def _unit_of_most_texts(texts: Sequence[str]) -> str:
    """Return the unit at the end of most texts, such as mg; empty without one."""
    units = [m[1] if (m := _UNIT.search(text.strip())) else "" for text in texts[:_BEGINNING]]
    unit = max(units, key=units.count, default="")
    return unit if 2 * units.count(unit) > len(units) else ""


def how_to_read_numbers(texts: Sequence[str], name: Hashable, argument: str) -> str:
    """Return a sentence on how to convert text that must be numbers, and what is lost."""
    if written := find_number_format(texts):
        return f"Convert it, with {written.conversion_code(name, argument)}."
    column = f"{argument}[{name!r}]"
    lost = [text for text in texts if not _A_NUMBER.fullmatch(text)]
    loss = f", which makes {listed(lost, most=8)} missing" if lost else ""
    return f"Convert it, with {column} = pd.to_numeric({column}, errors='coerce'){loss}."


def split_by_match(
    texts: Sequence[str], fits: Callable[[str], object]
) -> tuple[list[str], list[str]]:
    """Return the texts that fit, and the others; none fit if most of the first do not."""
    beginning = texts[:_BEGINNING]
    if 2 * sum(fits(text.strip()) is not None for text in beginning) < len(beginning):
        return [], list(texts)
    found, others = list[str](), list[str]()
    for text in texts:
        (others if fits(text.strip()) is None else found).append(text)
    return found, others


def are_nearly_all(found: Sequence[str], others: Sequence[str]) -> bool:
    """Whether nearly all texts fit, apart from labels that stand for missing values."""
    strange = [text for text in others if not is_missing_marker(text)]
    # 2: number of further labels among numbers or dates: the lines of a header, for example
    return len(found) > len(others) and len(strange) <= 2


def is_missing_marker(text: str) -> bool:
    """Whether a label among numbers stands for a missing value."""
    return text.strip().casefold() in _ALL_MARKERS


def look_alike_labels_and_code(texts: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the first labels that differ only in white space or case, and a remedy in code.

    >>> look_alike_labels_and_code(["ckd", "notckd", "ckd "])
    (('ckd', 'ckd '), '.str.strip()')
    """
    fewest = len({" ".join(text.split()).casefold() for text in texts})
    if fewest == len(texts):
        return (), ""
    one_space = r".str.replace(r'\s+', ' ', regex=True).str.strip()"
    steps: tuple[tuple[str, Callable[[str], str]], ...] = (
        (".str.strip()", str.strip),
        (one_space, lambda text: " ".join(text.split())),
        (one_space + ".str.casefold()", lambda text: " ".join(text.split()).casefold()),
    )
    code, clean = next(step for step in steps if len(set(map(step[1], texts))) == fewest)
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(clean(text), []).append(text)
    return next(tuple(group) for group in groups.values() if len(group) > 1), code
