"""The grammar of the Interchange Format: from text to what it declares, each with its line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from math import inf
from typing import NamedTuple, NoReturn

from ..base.messages import shown

_PROPERTY = r'property\b(?:"[^"]*"|[^;"])*;'
_OURS = re.compile(r"property\s+python_(\w+)\s*=\s*([^;]*);")


class Declared(NamedTuple):
    """A variable of a file: its labels as text, and the properties that `write_bif` gave it."""

    line: int
    labels: tuple[str, ...]
    properties: dict[str, str]


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


def parse(text: str, source: str) -> tuple[dict[Hashable, Declared], list[Table]]:
    """Read the variables of a file by name, and the tables, all in the order of the file.

    Raises a ValueError that tells source and line where the text does not follow the grammar.
    """
    reader = _Reader(_without_comments(text, source), source)
    reader.take(r"network\b[^{]*\{", "network NAME {, with which a file begins")
    _properties(reader)
    reader.take(r"\}", "} or property")
    variables: dict[Hashable, Declared] = {}
    tables = []
    while not reader.at_end():
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
    """Give the ways to read a list: items between commas, which may hold spaces, then words.

    >>> list(readings("low risk, high"))
    [['low risk', 'high'], ['low', 'risk', 'high']]
    """
    yield [unquoted(item) for item in re.findall(r'\s*("[^"]*"(?=\s*(?:,|\Z))|[^,]+)', text) if item.strip()]
    yield [unquoted(word) for word in re.findall(r'"[^"]*"(?=[\s,"]|\Z)|[^\s,]+', text)]


def read_list(text: str, fits: Callable[[list[str]], bool]) -> list[str] | None:
    """Return the first reading of a list that fits, or None."""
    return next(filter(fits, readings(text)), None)


def unquoted(text: str) -> str:
    """Take the spaces around a name away, and its quotes."""
    text = text.strip()
    inside = text[1:-1]
    return inside if text == f'"{inside}"' and '"' not in inside else text


def fail(source: str, line: int, message: str) -> NoReturn:
    """Raise a ValueError that tells where in which file."""
    raise ValueError(f"{source}, line {line}: {message}")


class _Reader:
    """A text and how far it is read."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.position = 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.skip_space()

    @property
    def line(self) -> int:
        return 1 + bisect_left(self.newlines, self.position)

    def skip_space(self) -> None:
        match = re.compile(r"\s*").match(self.text, self.position)
        self.position = match.end() if match else self.position

    def at_end(self) -> bool:
        return self.position == len(self.text)

    def next_is(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.position) is not None

    def take(self, pattern: str, expected: str) -> re.Match[str]:
        """Read what matches the pattern and the space after it, or say what was expected."""
        match = re.compile(pattern).match(self.text, self.position)
        if match is None:
            next_text = self.text[self.position : self.position + 40].split("\n")[0]
            fail(
                self.source,
                self.line,
                f"expected {expected}, got {shown(next_text or 'the end of the file')}",
            )
        self.position = match.end()
        self.skip_space()
        return match


def _without_comments(text: str, source: str) -> str:
    """Blank comments out; lines keep their numbers, and what is quoted is no comment."""
    pattern = r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|(/\*)'

    def blank(match: re.Match[str]) -> str:
        if match[1]:
            fail(source, 1 + text.count("\n", 0, match.start()), "expected */ at the end of the comment")
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    return re.sub(pattern, blank, text, flags=re.DOTALL)


def _properties(reader: _Reader) -> dict[str, str]:
    """Read properties, as many as there are, and return ours; the others are for other programs."""
    properties = {}
    while reader.next_is(r"property\b"):
        match = _OURS.fullmatch(reader.take(_PROPERTY, "property ... ;")[0])
        if match:
            properties[match[1]] = match[2]
    return properties


def _variable(reader: _Reader, line: int) -> Declared:
    """Read a variable from behind its brace."""
    before = _properties(reader)
    match = reader.take(
        r"type\s+discrete\s*\[\s*0*(\d{1,9})\s*\]\s*(?:=\s*)?\{([^{}]*)\}\s*;",
        "type discrete [ NUMBER ] { LABEL, LABEL, ... };",
    )
    number = int(match[1])
    labels = read_list(match[2], lambda items: len(items) == number)
    if labels is None:
        fail(reader.source, line, f"expected {number} labels, got {shown(match[2].strip())}")
    after = _properties(reader)
    reader.take(r"\}", "property or }")
    return Declared(line, tuple(labels), before | after)


def _table(reader: _Reader, line: int) -> Table:
    """Read a table from behind the word probability."""
    header = reader.take(r"\(([^{};]*)\)\s*\{", "( NAME | PARENT, ... ) {")[1]
    entries = []
    while not reader.next_is(r"\}"):
        if reader.next_is(r"property\b"):
            _properties(reader)
        else:
            entries.append(_entry(reader))
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
    # What Python reads as a number besides, 0.2_0 and digits of other scripts, is none in a file.
    if not re.fullmatch(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", word) or float(word) == inf:
        fail(source, line, f"expected a probability, got {shown(word)}")
    return float(word)
