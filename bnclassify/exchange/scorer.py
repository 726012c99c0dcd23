"""Raw values of rows: their codes and the formula of scores, as plain values, and their expressions in SQL.

Other languages evaluate a `Scorer` as follows. Each value of a row becomes a code; see `Column`. The formula
of the codes, and of the numbers of columns that are kept as numbers, gives one score per class; see
`bnclassify.model.formulas`. The predicted label is the first whose score is within 1e-9 of the largest. The
posterior of a class is exp(score - largest) divided by the sum of these, and uniform if all scores are -inf.
The tests evaluate all this in plain Python, one row at a time (`tests/test_scorer.py`).

In SQL, text that does not represent a number is NULL in every database; SQLite would read it as 0 or by its
first digits, and other databases refuse it. Each function of numbers returns an expression, which the next
one uses by its name.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.messages import listed
from ..frames.schema import MISSING
from ..model.arguments import check_fitted
from ..model.formulas import Formula, Table, sums_in
from ..numbers.preparation import Preparation


@dataclass(frozen=True)
class Column:
    """How a raw value of a feature becomes a code.

    The code of a missing value is ``missing``. If ``cuts`` is not None, other values are numbers, and the
    code is the number of cut points below it, so that a cut point is in the interval below it. If ``cuts`` is
    None, the code is the position of the value among ``known``, and ``other`` if it is not there. A code of
    -1 is missing. If it ``is_number``, the number itself is needed.
    """

    name: Hashable
    known: tuple[Hashable, ...]
    cuts: tuple[float, ...] | None
    other: int
    missing: int
    is_number: bool


@dataclass(frozen=True)
class Scorer:
    """A model as plain values: the class, its labels, one column per feature, and the formula of scores."""

    class_var: Hashable
    labels: tuple[Hashable, ...]
    columns: tuple[Column, ...]
    formula: Formula


def scorer_of(x: object) -> Scorer:
    """Return the scorer of `predict` with ``unseen="missing"``, or raise a TypeError."""
    model = check_fitted(x)
    formula = model.formula()
    preparation = model.preparation or Preparation()
    cuts = {} if preparation.discretizer is None else preparation.discretizer.cuts
    kept = {} if preparation.merger is None else preparation.merger.kept
    numbers = {scale.feature for part in sums_in(formula) for scale in part.scales}
    columns = []
    for i, (name, levels) in enumerate(zip(model.features, model.known_levels, strict=False)):
        n = len(levels) - (levels[-1:] == (MISSING,))
        missing, is_number = (n if n < len(levels) else -1), i in numbers or name in model.densities
        points = () if name in model.densities else cuts.get(name)
        other = len(kept[name]) if name in kept else -1
        columns.append(Column(name, kept.get(name, levels[:n]), points, other, missing, is_number))
    return Scorer(model.class_var, model.known_levels[-1], tuple(columns), formula)


def tables_of(scorer: Scorer) -> list[Table]:
    """Return the tables of a formula."""
    return [term for part in sums_in(scorer.formula) for term in part.terms if isinstance(term, Table)]


def largest_table(scorer: Scorer) -> str:
    """Return the features of the largest table of a formula, as text."""
    largest = max(tables_of(scorer), key=lambda term: term.logs.size)
    return listed([scorer.columns[i].name for i in largest.scope]) or "the class"


_MOST_EXACT = 2**53


def is_text(column: Column) -> bool:
    """Whether the values of a column are compared as text."""
    return column.cuts is None and not column.is_number and not are_numbers(column.known)


def as_text(column: Column) -> str:
    """Return the value of a column as text."""
    return f"CAST(r.{quoted(str(column.name))} AS VARCHAR)"


def are_numbers(labels: Sequence[Hashable]) -> bool:
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


def literals(labels: Sequence[Hashable]) -> list[str]:
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
    form = digits
    for old in (*"123456789", *_RUNS):
        form = f"REPLACE({form},'{old}','0')"
    cases = [
        f"NOT ({_LONG.format(digits)}) OR {_SHORT.format(digits)} OR {digits} NOT LIKE '%e%' THEN 1",
        f"{digits} LIKE '%e-___' AND SUBSTR({digits},LENGTH({digits})-2)<'325' THEN 2",
        f"{digits} LIKE '%e-%' THEN 5",
    ]
    of_number = f"CASE WHEN {' WHEN '.join(cases)} ELSE 3 END"
    kinds = [f"LENGTH({digits})<=300 AND {form} IN ({_FORMS}) THEN {of_number}"]
    kinds += [f"{digits} IN ('inf','infinity') THEN 3"]
    kinds += [f"{text} IN ('true','t') THEN 4 WHEN {text} IN ('false','f') THEN 5"] * _may_be_flag(column)
    return f"CASE WHEN {' WHEN '.join(kinds)} END"


def value_of(column: Column) -> str:
    """Return the value to read: text if it may be a boolean, which PostgreSQL converts only to text."""
    return as_text(column) if _may_be_flag(column) else f"r.{quoted(str(column.name))}"


def number_of(column: Column, text: str, kind: str, value: str) -> str:
    """Return the number, given its text, its kind and the value to read.

    Numbers from 1e200 are 1e300, and those nearer to 0 than 1e-199 are 1e-120, because PostgreSQL raises an
    error for numbers out of range.
    """
    huge = f"CASE WHEN {text} LIKE '-%' THEN -{_HUGE} ELSE {_HUGE} END"
    numbers = {1: f"CAST({value} AS DOUBLE PRECISION)", 2: _TINY, 3: huge, 4: "1e0", 5: "0e0"}
    kept = [i for i in numbers if i != 4 or _may_be_flag(column)]
    return f"CASE {kind} {' '.join(f'WHEN {i} THEN {numbers[i]}' for i in kept)} END"


def _may_be_flag(column: Column) -> bool:
    return bool(column.known) and {*column.known} <= {0, 1}
