"""Values of a table as numbers in SQL: text that does not represent a number is NULL in every database.

SQLite reads other text as 0 or by its first digits, and other databases refuse it. Each function returns an
expression, which the next one uses by its name.
"""

from __future__ import annotations

from .scorer import Column
from .sql_columns import as_text, quoted

_HUGE, _TINY = "1e300", "1e-120"
_RUNS = ("0" * 16, "0" * 16, "0" * 4, "0" * 4, "00", "00")  # of digits up to 300, each replaced by one 0
_MANTISSAS, _EXPONENTS = ("0", "0.", "0.0", ".0"), ("", "e0", "e+0", "e-0")
_FORMS = ",".join(f"'{mantissa}{exponent}'" for mantissa in _MANTISSAS for exponent in _EXPONENTS)
_LONG = "LENGTH({0})>100 OR {0} LIKE '%e____%' OR {0} LIKE '%e___' AND SUBSTR({0},LENGTH({0})-2,1) >= '0'"
"""Whether a number has many digits, or three in its exponent."""
_ENDS = " OR ".join(f"{{0}} LIKE '%e{sign}{digit}__'" for digit in "01" for sign in ("", "+", "-"))
_SHORT = f"LENGTH({{0}})<=100 AND ({_ENDS})"


def trimmed(column: Column) -> str:
    """Return the value as text in lower case, without spaces at its ends."""
    return f"LOWER(TRIM({as_text(column)},' \t\n\r\f\v'))"


def unsigned(text: str) -> str:
    """Return the trimmed text without a sign."""
    return f"CASE WHEN SUBSTR({text},1,1) IN ('+','-') THEN SUBSTR({text},2) ELSE {text} END"


def kind_of(column: Column, text: str, digits: str) -> str:
    """Return what a text and its unsigned form represent, by a number that `number_of` reads, or NULL.

    A text represents a number if its digits, as zeros, make one of a few forms.
    """
    form, sign = digits, f"CASE WHEN {text} LIKE '-%' THEN 3 ELSE 4 END"
    for old in (*"123456789", *_RUNS):
        form = f"REPLACE({form},'{old}','0')"
    cases = [
        f"NOT ({_LONG.format(digits)}) OR {_SHORT.format(digits)} OR {digits} NOT LIKE '%e%' THEN 1",
        f"{digits} LIKE '%e-___' AND SUBSTR({digits},LENGTH({digits})-2)<'325' THEN 2",
        f"{digits} LIKE '%e-%' THEN 6",
    ]
    of_number = f"CASE WHEN {' WHEN '.join(cases)} ELSE {sign} END"
    kinds = [f"LENGTH({digits})<=300 AND {form} IN ({_FORMS}) THEN {of_number}"]
    kinds += [f"{digits} IN ('inf','infinity') THEN {sign}"]
    kinds += [f"{text} IN ('true','t') THEN 5 WHEN {text} IN ('false','f') THEN 6"] * _may_be_flag(column)
    return f"CASE WHEN {' WHEN '.join(kinds)} END"


def value_of(column: Column) -> str:
    """Return the value to read: text if it may be a boolean, which PostgreSQL converts only to text."""
    return as_text(column) if _may_be_flag(column) else f"r.{quoted(str(column.name))}"


def number_of(value: str, kind: str) -> str:
    """Return the number, given the value and its kind.

    Numbers from 1e200 are 1e300, and those nearer to 0 than 1e-199 are 1e-120, because PostgreSQL raises an
    error for numbers out of range.
    """
    numbers = {
        1: f"CAST({value} AS DOUBLE PRECISION)",
        2: _TINY,
        3: f"-{_HUGE}",
        4: _HUGE,
        5: "1e0",
        6: "0e0",
    }
    return f"CASE {kind} {' '.join(f'WHEN {i} THEN {text}' for i, text in numbers.items())} END"


def _may_be_flag(column: Column) -> bool:
    return bool(column.known) and {*column.known} <= {0, 1}
