"""Names, constants and cleaned columns in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scorer import Column

_MOST_EXACT = 2**53
_NUMERIC = (  # so that other text is missing, which SQLite would read as 0 or by its first digits
    "LTRIM({0},'+-.0123456789eE ') IN ('','inf','Inf','Infinity') AND {0} NOT IN ('',' ','.','-','--')"
)


def is_text(column: Column) -> bool:
    """Whether the values of a column are compared as text."""
    return column.cuts is None and not column.is_number and not are_numbers(column.known)


def as_text(column: Column) -> str:
    """Return the value of a column as text."""
    return f"CAST(r.{quoted(str(column.name))} AS VARCHAR)"


def as_number(column: Column) -> str:
    """Return the value of a column as a number, NULL for other text."""
    raw, text, flags = f"r.{quoted(str(column.name))}", as_text(column), ""
    if column.known and {*column.known} <= {0, 1}:  # perhaps booleans, which PostgreSQL converts only to text
        flags, raw = f"WHEN {text}='true' THEN 1e0 WHEN {text}='false' THEN 0e0 ", text
    return f"CASE {flags}WHEN {_NUMERIC.format(text)} THEN CAST({raw} AS DOUBLE PRECISION) END"


def are_numbers(labels: Sequence[Any]) -> bool:
    """Whether all labels are numbers, which are compared regardless of their type in the database."""
    return len(labels) > 0 and all(type(v) in (int, float) and abs(v) < _MOST_EXACT for v in labels)


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
