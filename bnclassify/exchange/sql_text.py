"""The text of SQL: columns of a chain of SELECTs, numbers, sums and look-ups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, isfinite, isnan

import numpy as np

from ..numbers.cut_points import written_point

MOST_CHARACTERS = 1_000_000
"""Largest number of characters of a statement; the default of SQLite is the same."""

ZERO = "v1"
"""The column of zeros of type DOUBLE PRECISION."""

IMPOSSIBLE = "-1e300"
NEARLY = "-1e250"  # scores below are impossible
FARTHEST = (
    "1e120"  # numbers beyond are impossible, because PostgreSQL raises an error if a square is infinite
)
MOST_ODDS = 600  # difference of logs from which EXP is 0, so that products do not underflow
_MOST_COLUMNS = 1600  # of a SELECT in PostgreSQL, less some
_BRANCHES = 8
_LONG = 15  # number of characters of a number that any database reads exactly
_NAME = re.compile(r"\bv\d+\b")
_PLAIN = re.compile(r"-?[\d.]+")


class TooLargeError(Exception):
    """The statement would have too many characters."""


class Query:
    """Columns by name, each with its text and the number of the SELECT that computes it."""

    def __init__(self) -> None:
        self.columns: dict[str, str] = {}
        self.stages: dict[str, int] = {}
        self.size = 0
        self.source("CAST(0 AS DOUBLE PRECISION)")  # the column ZERO

    def source(self, text: str) -> str:
        """Return the name of a column that is computed from the columns of the table."""
        return self._named(text, 1)

    def add(self, text: str) -> str:
        """Return the name of a column that is computed from other columns."""
        if text in self.stages:  # the name of a column
            return text
        return self._named(text, 1 + max((self.stages[name] for name in _NAME.findall(text)), default=1))

    def _named(self, text: str, stage: int) -> str:
        if text not in self.columns:
            self.size += len(text)
            if self.size > MOST_CHARACTERS:
                raise TooLargeError
            name = f"v{len(self.columns) + 1}"
            self.columns[text], self.stages[name] = name, stage
        return self.columns[text]

    def selects(self, keys: Sequence[str], outputs: Sequence[str]) -> list[str]:
        """Return the beginnings of the SELECTs of the chain, of which the last has the outputs."""
        stages, end = self.stages, max([self.stages[name] for name in outputs], default=1)
        last = dict.fromkeys(outputs, 1 + end)  # the last stages that use columns, without unused ones
        for text, name in reversed(self.columns.items()):
            for used in _NAME.findall(text) if stages[name] > 1 and name in last else ():
                last[used] = max(last.get(used, 0), stages[name])
        columns = [(text, name) for text, name in self.columns.items() if name in last]
        result = []
        for stage in range(1, 1 + end):
            texts = [f"{text} AS {name}" for text, name in columns if stages[name] == stage]
            kept = [name for _, name in columns if stages[name] < stage < last[name]]
            chosen = [f"r.{key} AS k{i}" if stage == 1 else f"k{i}" for i, key in enumerate(keys)]
            chosen += [*kept, *texts]
            if len(chosen) > _MOST_COLUMNS:
                raise TooLargeError
            result.append(f"SELECT {', '.join(chosen or ['1 AS v0'])}")
        return result


def number(value: float) -> str:
    """Return a number as SQL, of type double in DuckDB."""
    if isnan(value):
        return "NULL"
    text = IMPOSSIBLE if value == -np.inf else f"{value:.14g}"
    return text if "e" in text else f"{text}e0"


def entry(value: float) -> str:
    """Return an entry of a table as SQL, briefly; `lookup` gives it the type of another entry."""
    if not isfinite(value):
        return number(value)
    text = f"{value:.12f}".rstrip("0").rstrip(".").replace("0.", ".", 1 if abs(value) < 1 else 0)
    return "0" if text in ("-0", "") else text


def plus(texts: Sequence[str]) -> str:
    """Return a sum, in parentheses so that it is not nested deeply."""
    texts = list(texts) or ["0e0"]
    while len(texts) > 1:
        texts = ["+".join(texts[i : i + _BRANCHES]) for i in range(0, len(texts), _BRANCHES)]
        texts = [f"({text})" for text in texts]
    return texts[0]


def lookup(code: str, texts: Sequence[str], default: str) -> str:
    """Return the text at the position of a code, and the default if it is NULL or none of them."""
    cases = [f"WHEN {i} THEN {text} " for i, text in enumerate(texts) if text != default]
    if _PLAIN.fullmatch(default):  # so that all entries are read as DOUBLE PRECISION
        default = ZERO if default == "0" else f"{ZERO}+{default}"
    return f"CASE {code} {''.join(cases)}ELSE {default} END" if cases else default


def limit(point: float) -> str:
    """Return a cut point as SQL; DuckDB 1.3 rounds decimals with many digits otherwise than floats."""
    text = written_point(point)
    return f"{text}e0" if len(text) > _LONG and "e" not in text else text


def steps(name: str, points: Sequence[float], texts: Sequence[str]) -> str:
    """Return the text of the interval that contains a number; there is one more than points between them."""
    size = ceil(len(texts) / _BRANCHES)
    parts = [
        texts[i] if size == 1 else steps(name, points[i : i + size - 1], texts[i : i + size])
        for i in range(0, len(texts), size)
    ]
    cases = zip(points[size - 1 :: size], parts, strict=False)
    text = "".join(f"WHEN {name}<={limit(point)} THEN {part} " for point, part in cases)
    return f"CASE {text}ELSE {parts[-1]} END" if text else parts[-1]


def largest(query: Query, names: Sequence[str], unless: str = "") -> str:
    """Return the name of a column with the largest of several columns, NULL under a condition."""
    while len(names) > _BRANCHES:
        groups = [names[i : i + _BRANCHES] for i in range(0, len(names), _BRANCHES)]
        names = [largest(query, group, unless) for group in groups]
    cases = [f"WHEN {unless} THEN NULL "] if unless else []
    for i, name in enumerate(names[:-1]):
        cases.append(f"WHEN {' AND '.join(f'{name}>={other}' for other in names[i + 1 :])} THEN {name} ")
    return query.add(f"CASE {''.join(cases)}ELSE {names[-1]} END" if cases else names[-1])


def share(name: str, top: str) -> str:
    """Return exp(name - top), for a difference of at most 0."""
    return f"CASE WHEN {name}-{top}< -{MOST_ODDS} THEN 0e0 ELSE EXP({name}-{top}) END"
