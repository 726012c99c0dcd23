"""The text of SQL: columns of a chain of SELECTs, numbers, sums, look-ups, values of a table.

In SQL, text that does not represent a number is NULL in every database; SQLite
would read it as 0 or by its first digits, and other databases refuse it. Each
function of numbers returns an expression, which the next one uses by its name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable, Sequence
from math import ceil, isfinite, isnan
from typing import Any

import numpy as np

from ..dataset import rounding_of_numbers
from ..numbers import cut_point_as_text
from .scorer import ColumnCoding

MOST_CHARACTERS = 1_000_000
"""Largest number of characters of a statement; the default of SQLite is the same."""

ZERO = "v1"
"""The column of zeros of type DOUBLE PRECISION."""

IMPOSSIBLE = "-1e300"
NEARLY = "-1e250"  # scores below are impossible
FARTHEST = "1e120"  # numbers beyond are impossible: PostgreSQL refuses squares that are infinite
MOST_ODDS = 600  # difference of logs from which EXP is 0, so that products do not underflow
_BRANCHES = 8
_NAME = re.compile(r"\bv\d+\b")
_PLAIN = re.compile(r"-?[\d.]+")


class TooLargeError(Exception):
    """The statement would have too many characters."""


class Query:
    """Columns by name, each with its text and the number of the SELECT that computes it.

    If it is ``typed``, columns of numbers in the table are numbers.
    """

    def __init__(self, typed: bool = False) -> None:
        self.typed = typed
        self.columns: dict[str, str] = {}
        self.stages: dict[str, int] = {}
        self.size = 0
        self.add_source_column("CAST(0 AS DOUBLE PRECISION)")  # the column ZERO

    def add_source_column(self, text: str) -> str:
        """Return the name of a column that is computed from the columns of the table."""
        return self._add_column_at_stage(text, 1)

    def add_column(self, text: str) -> str:
        """Return the name of a column that is computed from other columns."""
        if text in self.stages:  # the name of a column
            return text
        stages = [self.stages[name] for name in _NAME.findall(text)]
        return self._add_column_at_stage(text, 1 + max(stages, default=1))

    def _add_column_at_stage(self, text: str, stage: int) -> str:
        if text not in self.columns:
            self.size += len(text)
            if self.size > MOST_CHARACTERS:
                raise TooLargeError
            name = f"v{len(self.columns) + 1}"
            self.columns[text], self.stages[name] = name, stage
        return self.columns[text]

    def select_clauses(self, keys: Sequence[str], outputs: Sequence[str]) -> list[str]:
        """Return the beginnings of the SELECTs of the chain, of which the last has the outputs."""
        stages, end = self.stages, max([self.stages[name] for name in outputs], default=1)
        # The last stage that uses each column; columns that no output needs have none.
        last = dict.fromkeys(outputs, 1 + end)
        for text, name in reversed(self.columns.items()):
            if stages[name] > 1 and name in last:
                for used in _NAME.findall(text):
                    last[used] = max(last.get(used, 0), stages[name])
        columns = [(text, name) for text, name in self.columns.items() if name in last]
        result = []
        for stage in range(1, 1 + end):
            texts = [f"{text} AS {name}" for text, name in columns if stages[name] == stage]
            kept = [name for _, name in columns if stages[name] < stage < last[name]]
            chosen = [f"r.{key} AS k{i}" if stage == 1 else f"k{i}" for i, key in enumerate(keys)]
            chosen += [*kept, *texts]
            if len(chosen) > 1600:  # maximum number of columns of a SELECT in PostgreSQL, less some
                raise TooLargeError
            result.append(f"SELECT {', '.join(chosen or ['1 AS v0'])}")
        return result


def sql_number(value: float) -> str:
    """Return a number as SQL, of type double in DuckDB."""
    if isnan(value):
        return "NULL"
    text = IMPOSSIBLE if value == -np.inf else f"{value:.14g}"
    return text if "e" in text else f"{text}e0"


def sql_entry(value: float) -> str:
    """Return an entry of a table as SQL, briefly; `case_by_code` sets the type of all entries."""
    if not isfinite(value):
        return sql_number(value)
    text = f"{value:.12f}".rstrip("0").rstrip(".").replace("0.", ".", 1 if abs(value) < 1 else 0)
    return "0" if text in ("-0", "") else text


def sql_sum(texts: Sequence[str]) -> str:
    """Return a sum, in parentheses so that it is not nested deeply."""
    texts = list(texts) or ["0e0"]
    while len(texts) > 1:
        texts = ["+".join(texts[i : i + _BRANCHES]) for i in range(0, len(texts), _BRANCHES)]
        texts = [f"({text})" for text in texts]
    return texts[0]


def case_by_code(code: str, texts: Sequence[str], default: str) -> str:
    """Return the text at the position of a code, and the default if it is NULL or none of them."""
    cases = [f"WHEN {i} THEN {text} " for i, text in enumerate(texts) if text != default]
    if _PLAIN.fullmatch(default):  # so that all entries are read as DOUBLE PRECISION
        default = ZERO if default == "0" else f"{ZERO}+{default}"
    return f"CASE {code} {''.join(cases)}ELSE {default} END" if cases else default


def sql_cut_point(point: float) -> str:
    """Return a cut point as SQL, clipped like numbers; DuckDB 1.3 rounds decimals otherwise."""
    text = cut_point_as_text(min(max(point, -_MOST), _MOST))
    # 15: number of characters of a number that any database reads exactly
    return f"{text}e0" if len(text) > 15 and "e" not in text else text


def case_by_intervals(name: str, points: Sequence[float], texts: Sequence[str]) -> str:
    """Return the text of the interval of a number; there is one more than points between."""
    size = ceil(len(texts) / _BRANCHES)  # of the texts of a branch, with size - 1 points between
    parts = list(texts)
    if size > 1:
        parts = []
        for i in range(0, len(texts), size):
            inner = points[i : i + size - 1]
            parts.append(case_by_intervals(name, inner, texts[i : i + size]))
    cases = zip(points[size - 1 :: size], parts, strict=False)
    text = "".join(f"WHEN {name}<={sql_cut_point(point)} THEN {part} " for point, part in cases)
    return f"CASE {text}ELSE {parts[-1]} END" if text else parts[-1]


def column_of_maximum(query: Query, names: Sequence[str], unless: str = "") -> str:
    """Return the name of a column with the largest of several columns, NULL under a condition."""
    while len(names) > _BRANCHES:
        groups = [names[i : i + _BRANCHES] for i in range(0, len(names), _BRANCHES)]
        names = [column_of_maximum(query, group, unless) for group in groups]
    cases = [f"WHEN {unless} THEN NULL "] if unless else []
    for i, name in enumerate(names[:-1]):
        is_largest = " AND ".join([f"{name}>={other}" for other in names[i + 1 :]])
        cases.append(f"WHEN {is_largest} THEN {name} ")
    return query.add_column(f"CASE {''.join(cases)}ELSE {names[-1]} END" if cases else names[-1])


def exp_of_difference(name: str, top: str) -> str:
    """Return exp(name - top), for a difference of at most 0."""
    return f"CASE WHEN {name}-{top}< -{MOST_ODDS} THEN 0e0 ELSE EXP({name}-{top}) END"


def is_compared_as_text(column: ColumnCoding) -> bool:
    """Whether the values of a column are compared as text."""
    if column.cuts is not None or column.is_number:
        return False
    known = column.known  # numbers and bools are compared as numbers, of any type in the database
    are_flags = all(isinstance(label, bool) for label in known)
    return not known or not (are_flags or (are_numbers(known) and not _has_long(known)))


def raw_column_value(column: ColumnCoding) -> str:
    """Return the value of a column as it is in the table."""
    return f"r.{quoted_identifier(str(column.name))}"


def column_as_text(column: ColumnCoding) -> str:
    """Return the value of a column as text."""
    return f"CAST({raw_column_value(column)} AS VARCHAR)"


def are_numbers(labels: Sequence[Hashable]) -> bool:
    """Whether all labels are numbers."""
    return all(type(label) in (int, float) for label in labels)


def has_long_integers(column: ColumnCoding) -> bool:
    """Whether a column has numbers as levels, some of them integers that floats merge."""
    is_label = column.cuts is None and not column.is_number
    return is_label and are_numbers(column.known) and _has_long(column.known)


def _has_long(labels: Sequence[Hashable]) -> bool:
    return any(isinstance(label, int) and abs(label) >= 2**53 for label in labels)


def levels_out_of_range(column: ColumnCoding) -> list[Hashable]:
    """Return the levels that are numbers which a statement cannot distinguish from others."""
    numbers = [x for x in column.known if isinstance(x, int | float) and x != 0]
    return [x for x in numbers if not _LEAST < abs(x) < float(_HUGE)]


def conditions_of_numbers(name: str, labels: Sequence[Any]) -> list[str]:
    """Return for each label whether a number equals it; rounding of fractions is tolerated."""
    if not any(type(label) is float for label in labels):
        return [f"{name} = {int(label)!r}" for label in labels]
    margin = rounding_of_numbers(labels)
    ends = [[sql_cut_point(x - margin), sql_cut_point(x + margin)] for x in labels]
    return [f"{name} BETWEEN {low} AND {high}" for low, high in ends]


_FLAGS = (
    (["true", "True", "t", "1"], ("yes", "y", "true", "t", "on")),
    (["false", "False", "f", "0"], ("no", "n", "false", "f", "off")),
)
"""How databases write true and false, and the words of which they make them."""


def texts_of_labels(labels: Sequence[Hashable]) -> list[list[str]]:
    """Return how databases write each label as text, a word such as yes also as a boolean.

    >>> texts_of_labels(["no", "yes"])
    [['no', 'false', 'False', '0'], ['yes', 'true', 'True', '1']]
    """
    result = [_FLAGS[not x][0] if isinstance(x, bool) else [str(x)] for x in labels]
    own = {text for texts in result for text in texts}
    for texts, words in _FLAGS:
        found = [i for i, x in enumerate(labels) if str(x).strip().casefold() in words]
        if len(found) == 1:
            added = [text for text in texts if text not in own and text not in "tf"]
            result[found[0]] = result[found[0]] + added
    return result


def label_literals(labels: Sequence[Hashable]) -> list[str]:
    """Return labels as constants of one type."""
    if all(isinstance(label, bool) for label in labels):
        return [str(label).upper() for label in labels]
    if all(type(label) is int and abs(label) < 2**63 for label in labels):
        return list(map(str, labels))
    if are_numbers(labels) and not _has_long(labels):
        return [f"CAST({label!r} AS DOUBLE PRECISION)" for label in labels]
    return [text_literal(str(label)) for label in labels]


def text_literal(text: str) -> str:
    """Return text as a constant."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def quoted_identifier(name: str) -> str:
    """Return a name as an identifier."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


_HUGE, _MOST, _TINY = "1e300", 9e299, "1e-120"  # no cut point is beyond a huge number
_LEAST = 1e-199
_LARGEST = repr(sys.float_info.max)
# Of digits up to 300, each replaced by one 0.
_RUNS = ("0" * 16, "0" * 16, "0" * 4, "0" * 4, "00", "00")
_MANTISSAS, _EXPONENTS = ("0", "0.", "0.0", ".0"), ("", "e0", "e+0", "e-0")
_FORMS = ",".join(f"'{mantissa}{exponent}'" for mantissa in _MANTISSAS for exponent in _EXPONENTS)
_MANY_DIGITS = (
    "LENGTH({0})>100 OR {0} LIKE '%e____%' OR {0} LIKE '%e___' AND "
    "SUBSTR({0},LENGTH({0})-2,1) >= '0'"
)
"""Whether a number has many digits, or three in its exponent."""
_ENDS = " OR ".join(f"{{0}} LIKE '%e{sign}{digit}__'" for digit in "01" for sign in ("", "+", "-"))
_LARGE = "({0} LIKE '_.%' OR {0} LIKE '_e%') AND ({0} LIKE '%e2__' OR {0} LIKE '%e+2__')"
_FEW_DIGITS = f"LENGTH({{0}})<=100 AND ({_ENDS} OR {_LARGE})"


def cleaned_column(query: Query, column: ColumnCoding) -> str:
    """Return a feature's column as text, or as a number that is NULL for other text, by name."""
    is_long = has_long_integers(column)
    if is_compared_as_text(column) and not is_long:
        # without collation in SQLite
        return query.add_source_column(f"{column_as_text(column)}||''")
    if query.typed and not is_long and not has_boolean_labels(column):
        return query.add_source_column(typed_column_value(column))
    text = query.add_source_column(f"LOWER(TRIM({column_as_text(column)},' \t\n\r\f\v'))")
    unsigned = f"CASE WHEN SUBSTR({text},1,1) IN ('+','-') THEN SUBSTR({text},2) ELSE {text} END"
    digits = query.add_column(unsigned)
    kind = query.add_column(sql_kind_of_text(column, text, digits))
    # PostgreSQL needs text of flags.
    value = column_as_text(column) if _may_hold_booleans(column) else raw_column_value(column)
    value = query.add_source_column(value)
    number = query.add_column(sql_number_from_text(column, text, kind, value))
    if not is_long:
        return number
    # A long integer, which floats merge with others, is compared as text: 2**53 + 1 is not
    # 9.007199254740992e15. Others are compared as numbers: 1.0 is 1, and 1e20 is
    # 100000000000000000000. Other values equal no level.
    is_exact = f"LENGTH({text})>15 AND {text} NOT LIKE '%.%' AND {text} NOT LIKE '%e%'"
    levels = [x for x in column.known if isinstance(x, int | float) and float(x) == x]
    cases = [f"WHEN {x if abs(x) < 2**63 else float(x)!r} THEN '{x}' " for x in levels]
    of_number = f"CASE {number} {''.join(cases)}ELSE '' END" if cases else "''"
    return query.add_column(
        f"CASE WHEN {number} IS NULL THEN NULL WHEN {is_exact} THEN {text} ELSE {of_number} END"
    )


def has_boolean_labels(column: ColumnCoding) -> bool:
    """Whether a column has booleans, which databases write in several forms."""
    return any(isinstance(label, bool) for label in column.known)


def typed_column_value(column: ColumnCoding) -> str:
    """Return the value of a column that has the type of its levels; NaN and infinity are NULL."""
    if is_compared_as_text(column):
        return raw_column_value(column)
    number = f"CAST({raw_column_value(column)} AS DOUBLE PRECISION)"
    # NaN is above all numbers in DuckDB and PostgreSQL. A level is never infinite.
    is_level = column.cuts is None and not column.is_number
    return number if is_level else f"CASE WHEN ABS({number}) <= {_LARGEST} THEN {number} END"


def sql_kind_of_text(column: ColumnCoding, text: str, digits: str) -> str:
    """Return what a text and its unsigned form represent, for `sql_number_from_text`, or NULL.

    A text represents a number if its digits, as zeros, make one of a few forms.
    """
    form = digits
    for old in (*"123456789", *_RUNS):
        form = f"REPLACE({form},'{old}','0')"
    many, few = _MANY_DIGITS.format(digits), _FEW_DIGITS.format(digits)
    cases = [
        f"NOT ({many}) OR {few} OR {digits} NOT LIKE '%e%' THEN 1",
        f"{digits} LIKE '%e-___' AND SUBSTR({digits},LENGTH({digits})-2)<'325' THEN 2",
        f"{digits} LIKE '%e-%' THEN 5",
    ]
    of_number = f"CASE WHEN {' WHEN '.join(cases)} ELSE 3 END"
    kinds = [f"LENGTH({digits})<=300 AND {form} IN ({_FORMS}) THEN {of_number}"]
    if has_boolean_labels(column):
        one, zero = ([text_literal(word) for word in words] for _, words in _FLAGS)
        kinds.append(f"{text} IN ({','.join(one)}) THEN 4 WHEN {text} IN ({','.join(zero)}) THEN 5")
    elif _may_hold_booleans(column):
        kinds.append(f"{text} IN ('true','t') THEN 4 WHEN {text} IN ('false','f') THEN 5")
    return f"CASE WHEN {' WHEN '.join(kinds)} END"


def sql_number_from_text(column: ColumnCoding, text: str, kind: str, value: str) -> str:
    """Return the number, given its text, its kind and the value to read.

    Numbers from 1e300 are 1e300, and those nearer to 0 than 1e-199 are 1e-120,
    because PostgreSQL raises an error for numbers out of range.
    """
    huge = f"CASE WHEN {text} LIKE '-%' THEN -{_HUGE} ELSE {_HUGE} END"
    numbers = {1: f"CAST({value} AS DOUBLE PRECISION)", 2: _TINY, 3: huge, 4: "1e0", 5: "0e0"}
    if not _may_hold_booleans(column):
        del numbers[4]
    cases = [f"WHEN {i} THEN {number}" for i, number in numbers.items()]
    return f"CASE {kind} {' '.join(cases)} END"


def _may_hold_booleans(column: ColumnCoding) -> bool:
    return bool(column.known) and {*column.known} <= {0, 1}
