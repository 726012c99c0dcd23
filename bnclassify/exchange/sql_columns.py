"""Names, constants and cleaned columns in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scorer import Column

_MOST_EXACT = 2**53


def is_text(column: Column) -> bool:
    """Whether the values of a column are compared as text."""
    return column.cuts is None and not column.is_number and not are_numbers(column.known)


def as_text(column: Column) -> str:
    """Return the value of a column as text."""
    return f"CAST(r.{quoted(str(column.name))} AS VARCHAR)"


def are_numbers(labels: Sequence[Any]) -> bool:
    """Whether all labels are numbers or bools, which are compared as numbers, of any type in the database."""
    return len(labels) > 0 and (
        all(isinstance(label, bool) for label in labels) or all(map(_is_exact, labels))
    )


def _is_exact(label: Any) -> bool:
    """Whether a label is a number that databases read as the same float."""
    if type(label) is int:
        return abs(label) < _MOST_EXACT
    return type(label) is float and (label == 0 or 1e-100 < abs(label) < 1e100)


def as_literal(label: Any) -> str:
    """Return a label that is compared as a number as a constant."""
    return repr(int(label) if isinstance(label, bool) else label)


def words_of(label: Any) -> list[str]:
    """Return how databases write a label as text."""
    if isinstance(label, bool):
        return ["true", "True", "t", "1"] if label else ["false", "False", "f", "0"]
    return [str(label)]


def literals(labels: Sequence[Any]) -> list[str]:
    """Return labels as constants of one type."""
    if all(isinstance(label, bool) for label in labels):
        return [str(label).upper() for label in labels]
    if all(type(label) is int for label in labels):
        return list(map(str, labels))
    if all(type(label) in (int, float) for label in labels):
        return [f"CAST({label!r} AS DOUBLE PRECISION)" for label in labels]
    return [literal(str(label)) for label in labels]


def literal(text: str) -> str:
    """Return text as a constant."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def quoted(name: str) -> str:
    """Return a name as an identifier."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
