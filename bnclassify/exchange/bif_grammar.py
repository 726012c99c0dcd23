"""Text in the Interchange Format (BIF), read into declarations and probability tables with their lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import islice, product
from math import inf, prod
from typing import NamedTuple, NoReturn

import numpy as np

from ..base.arrays import TOLERANCE, Array
from ..base.messages import cut, listed, shown, suggestion
from ..counts.contingency import MAX_CELLS

_PROPERTY = r'property\b(?:"[^"]*"|[^;"])*;'

_ROUNDING = 0.011
"""Largest difference from 1 of the sum of rounded probabilities, as in bnlearn's reader."""


class Entry(NamedTuple):
    """A line of probabilities: ``kind`` is "table", "default", or "row", which has labels."""

    line: int
    kind: str
    labels: str
    numbers: list[float]


class Table(NamedTuple):
    """The probabilities of a variable: ``header`` names it, then its parents."""

    line: int
    header: str
    entries: list[Entry]


def parse(text: str, source: str) -> tuple[dict[Hashable, tuple[str, ...]], list[Table]]:
    """Return the labels of each variable and the tables, in the order of the file."""
    reader = _Reader(_without_comments(text, source), source)
    reader.take(r"network\b[^{]*\{", "network NAME {, with which a file begins")
    reader.skip_properties()
    reader.take(r"\}", "} or property")
    variables: dict[Hashable, tuple[str, ...]] = {}
    tables = []
    while reader.position < len(reader.text):
        line = reader.line
        if reader.take(r"(variable|probability)\b", "variable or probability")[1] == "probability":
            tables.append(_table(reader, line))
            continue
        name = unquoted(reader.take(r"([^{}]+)\{", "a name and {")[1])
        if name in variables:
            fail(source, line, f"the variable {shown(name)} is declared twice")
        variables[name] = _variable(reader, line)
    return variables, tables


def readings(text: str) -> Iterator[list[str]]:
    """Yield the ways to read a list: as items between commas, which may contain spaces, then as words."""
    yield [unquoted(item) for item in re.findall(r'\s*("[^"]*"(?=\s*(?:,|\Z))|[^,]+)', text) if item.strip()]
    yield [unquoted(word) for word in re.findall(r'"[^"]*"(?=[\s,"]|\Z)|[^\s,]+', text)]


def read_list(text: str, fits: Callable[[list[str]], bool]) -> list[str] | None:
    """Return the first reading of a list that fits, or None."""
    return next(filter(fits, readings(text)), None)


def unquoted(text: str) -> str:
    """Return a name without the spaces and quotes around it."""
    text = text.strip()
    inside = text[1:-1]
    return inside if text == f'"{inside}"' and '"' not in inside else text


def fail(source: str, line: int, message: str) -> NoReturn:
    """Raise a ValueError with the place in the file."""
    raise ValueError(f"{source}, line {line}: {message}")


class _Reader:
    """A text and the position up to which it is read."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.position = 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.take("", "")

    @property
    def line(self) -> int:
        return 1 + bisect_left(self.newlines, self.position)

    def next_is(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.position) is not None

    def take(self, pattern: str, expected: str) -> re.Match[str]:
        """Read text that matches a pattern, and the space after it."""
        match = re.compile(rf"(?:{pattern})\s*").match(self.text, self.position)
        if match is None:
            found = self.text[self.position : self.position + 40].split("\n")[0] or "the end of the file"
            fail(self.source, self.line, f"expected {expected}, got {shown(found)}")
        self.position = match.end()
        return match

    def skip_properties(self) -> None:
        while self.next_is(r"property\b"):
            self.take(_PROPERTY, "property ... ;")


def _without_comments(text: str, source: str) -> str:
    """Return the text with spaces in place of comments, except within quotes."""
    pattern = r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|(/\*)'

    def blank(match: re.Match[str]) -> str:
        if match[1]:
            fail(source, 1 + text.count("\n", 0, match.start()), "expected */ at the end of the comment")
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return re.sub(pattern, blank, text, flags=re.DOTALL)


def _variable(reader: _Reader, line: int) -> tuple[str, ...]:
    """Read the labels of a variable, after its brace."""
    reader.skip_properties()
    match = reader.take(
        r"type\s+discrete\s*\[\s*0*(\d{1,9})\s*\]\s*(?:=\s*)?\{([^{}]*)\}\s*;",
        "type discrete [ NUMBER ] { LABEL, LABEL, ... };",
    )
    number = int(match[1])
    labels = read_list(match[2], lambda items: len(items) == number)
    if labels is None:
        fail(reader.source, line, f"expected {number} labels, got {shown(match[2].strip())}")
    reader.skip_properties()
    reader.take(r"\}", "property or }")
    if not labels or len(set(labels)) < len(labels):
        fail(reader.source, line, "expected different labels, at least one")
    return tuple(labels)


def _table(reader: _Reader, line: int) -> Table:
    """Read a table, after the word probability."""
    header = reader.take(r"\(([^{};]*)\)\s*\{", "( NAME | PARENT, ... ) {")[1]
    entries = []
    reader.skip_properties()
    while not reader.next_is(r"\}"):
        entries.append(_entry(reader))
        reader.skip_properties()
    reader.take(r"\}", "}")
    return Table(line, header, entries)


def _entry(reader: _Reader) -> Entry:
    """Read a line of probabilities."""
    line = reader.line
    match = reader.take(
        r"(?:(table|default)\b|\(([^{};\n]*)\))([^(){};]*);",
        "(LABEL, ...) NUMBER, ...; or table NUMBER, ...; or default NUMBER, ...; or property or }",
    )
    words = match[3].replace(",", " ").replace("|", " ").split()
    numbers = [_number(word, reader.source, line) for word in words]
    return Entry(line, match[1] or "row", match[2] or "", numbers)


def _number(word: str, source: str, line: int) -> float:
    # Unlike the function float, a file has no numbers such as 0.2_0 and no digits of other scripts.
    if not re.fullmatch(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", word) or float(word) == inf:
        fail(source, line, f"expected a probability, got {shown(word)}")
    return float(word)


def read_table(
    table: Table, variables: Mapping[Hashable, tuple[str, ...]], source: str
) -> tuple[tuple[str, ...], Array]:
    """Return the family of a table and its array, with axes in the order of the family."""
    family = _read_family(table, variables, source)
    labels = [variables[name] for name in family]
    shape = [len(levels) for levels in labels]
    if prod(shape) > MAX_CELLS:
        message = f"the table of {shown(family[0])} would have {prod(shape):,} cells, more than {MAX_CELLS:,}"
        fail(source, table.line, message)
    codes = [{label: code for code, label in enumerate(levels)} for levels in labels[1:]]
    rows = np.full((prod(shape[1:]), shape[0]), np.nan)
    default = None
    for entry in table.entries:
        expected = prod(shape) if entry.kind == "table" else shape[0]
        if len(entry.numbers) != expected:
            fail(source, entry.line, f"expected {expected} probabilities, got {len(entry.numbers)}")
        if entry.kind == "default":
            if default is not None:
                fail(source, entry.line, f"the default of {shown(family[0])} was given already")
            default = entry.numbers
            continue
        is_table = entry.kind == "table"
        place = slice(None) if is_table else _position(entry, family, codes, source)
        if not np.isnan(rows[place]).all():
            given = f"of {shown(family[0])}" if is_table else f"for ({cut(entry.labels.strip())})"
            fail(source, entry.line, f"the probabilities {given} were given already")
        rows[place] = np.reshape(entry.numbers, (shape[0], -1)).T if is_table else entry.numbers
    if default is not None:
        rows[np.isnan(rows[:, 0])] = default
    return family, _checked(rows, table, family, labels, source).T.reshape(shape)


def _read_family(table: Table, variables: Mapping[Hashable, tuple[str, ...]], source: str) -> tuple[str, ...]:
    """Return the names in the header: the variable, then its parents; | is one more separator."""
    header = table.header.replace("|", ",")
    family = read_list(header, lambda names: bool(names) and variables.keys() >= set(names))
    if family is None:
        strange = [name for name in next(readings(header)) if name not in variables] or [header.strip()]
        advice = suggestion(strange[0], variables)
        fail(source, table.line, f"expected declared variables, got {shown(strange[0])}; {advice}")
    if len(set(family)) < len(family):
        fail(source, table.line, f"expected each variable once, got {listed(family)}")
    return tuple(family)


def _position(entry: Entry, family: tuple[str, ...], codes: list[dict[str, int]], source: str) -> int:
    """Return the number of the configuration of parents of an entry; the last parent changes fastest."""
    labels = read_list(
        entry.labels,
        lambda items: len(items) == len(codes) and all(a in b for a, b in zip(items, codes, strict=True)),
    )
    if labels is None:
        expected = f"a label of each of {listed(family[1:])}" if codes else "no labels, for want of parents"
        fail(source, entry.line, f"expected {expected}, got ({cut(entry.labels.strip())})")
    place = [code[label] for label, code in zip(labels, codes, strict=True)]
    return int(np.ravel_multi_index(place, [len(code) for code in codes])) if codes else 0


def _checked(
    rows: Array, table: Table, family: tuple[str, ...], labels: list[tuple[str, ...]], source: str
) -> Array:
    """Divide distributions whose sums differ from 1 by rounding by these sums; raise an error for others."""
    sums = rows.sum(axis=1, keepdims=True)
    for wrong in np.flatnonzero(~(np.abs(sums - 1) <= _ROUNDING)):
        configuration = next(islice(product(*labels[1:]), int(wrong), None))
        condition = f" for ({cut(', '.join(configuration))})" if configuration else ""
        got = "none" if np.isnan(sums[wrong, 0]) else f"a sum of {sums[wrong, 0]:g}"
        expected = f"expected probabilities of {shown(family[0])}{condition} that sum to 1"
        fail(source, table.line, f"{expected}, got {got}")
    np.divide(rows, sums, out=rows, where=np.abs(sums - 1) > TOLERANCE)
    return rows
