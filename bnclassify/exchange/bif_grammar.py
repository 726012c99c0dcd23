"""Text in the Interchange Format (BIF), read into labels and probability tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from itertools import islice, product
from math import inf, prod
from typing import NoReturn

import numpy as np

from ..base.arrays import TOLERANCE, Array
from ..base.checks import available
from ..base.messages import cut, listed, shown
from ..counts.contingency import MAX_CELLS

_ROUNDING = 0.011
"""Largest difference from 1 of the sum of rounded probabilities, as in bnlearn's reader."""

_BODY = r'(?:"[^"]*"|[^"}])*\}?'
"""The probabilities of a variable, up to the brace, whose absence is reported later."""

_NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""A probability; the function float also accepts 0.2_0 and digits of other scripts."""

Families = dict[Hashable, tuple[tuple[str, ...], Array]]


class BIFReader:
    """A text and the position up to which it is read.

    `variables` has the labels of each variable, in the order of the file.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.text = text
        self.text = re.sub(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|(/\*)', self._blank, text, flags=re.DOTALL)
        self.position = 0
        self.variables: dict[Hashable, tuple[str, ...]] = {}

    def _blank(self, match: re.Match[str]) -> str:
        """Replace a comment by spaces."""
        if match[1]:
            self._fail(
                "must be */ at the end of the comment; got the end of the file.", self._line_of(match.start())
            )
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    def read(self) -> Families:
        """Return the family of each variable and its table, with axes in this order."""
        self._take("", "")
        self._take(r"network\b[^{]*\{", "network NAME {, with which a file begins")
        self._skip_properties()
        self._take(r"\}", "} or property")
        tables = []  # possibly before their variables
        while self.position < len(self.text):
            line = self._line
            if self._take(r"(variable|probability)\b", "variable or probability")[1] == "probability":
                header = self._take(r"\(([^{};]*)\)\s*\{", "( NAME | PARENT, ... ) {")[1]
                tables.append((line, header, self.position))
                self._take(_BODY, "}")
            else:
                self._read_variable(line)
        families: Families = {}
        for line, header, self.position in tables:
            family = self._family(header, line)
            if family[0] in families:
                self._fail(f"the probabilities of {shown(family[0])} are given twice.", line)
            families[family[0]] = family, self._read_table(family, line)
        return families

    @property
    def _line(self) -> int:
        return self._line_of(self.position)

    def _line_of(self, position: int) -> int:
        return 1 + bisect_left(self.newlines, position)

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        """Raise a ValueError with the place in the file."""
        raise ValueError(f"{self.source}, line {line or self._line}: {message}")

    def _next_is(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.position) is not None

    def _take(self, pattern: str, expected: str) -> re.Match[str]:
        """Read text that matches a pattern, and the space after it."""
        match = re.compile(rf"(?:{pattern})\s*").match(self.text, self.position)
        if match is None:
            found = self.text[self.position : self.position + 40].split("\n")[0] or "the end of the file"
            self._fail(f"must be {expected}; got {shown(found)}.")
        self.position = match.end()
        return match

    def _skip_properties(self) -> None:
        while self._next_is(r"property\b"):
            self._take(r'property\b(?:"[^"]*"|[^;"])*;', "property ... ;")

    def _read_variable(self, line: int) -> None:
        """Read a variable, after this word, and its labels."""
        name = _unquoted(self._take(r"([^{}]+)\{", "a name and {")[1])
        if name in self.variables:
            self._fail(f"the variable {shown(name)} is declared twice.", line)
        self._skip_properties()
        match = self._take(
            r"type\s+discrete\s*\[\s*0*(\d{1,9})\s*\]\s*(?:=\s*)?\{([^{}]*)\}\s*;",
            "type discrete [ NUMBER ] { LABEL, LABEL, ... };",
        )
        number = int(match[1])
        labels = _read_list(match[2], lambda items: len(items) == number)
        if labels is None:
            self._fail(f"must be {number} labels; got {shown(match[2].strip())}.", line)
        self._skip_properties()
        self._take(r"\}", "property or }")
        if not labels or len(set(labels)) < len(labels):
            self._fail("must be different labels, at least one.", line)
        self.variables[name] = tuple(labels)

    def _family(self, header: str, line: int) -> tuple[str, ...]:
        """Return the names in a header: the variable, then its parents; | is a separator, too."""
        header = header.replace("|", ",")
        family = _read_list(header, lambda names: bool(names) and self.variables.keys() >= set(names))
        if family is None:
            unknown = [name for name in next(_readings(header)) if name not in self.variables]
            strange = (unknown or [header.strip()])[0]
            advice = available(strange, self.variables)
            self._fail(f"must be declared variables; got {shown(strange)}. {advice}", line)
        if len(set(family)) < len(family):
            self._fail(f"must be different variables; got {listed(family)}.", line)
        return tuple(family)

    def _read_table(self, family: tuple[str, ...], line: int) -> Array:
        """Read the probabilities of a family up to the brace, with axes in the order of the family."""
        labels = [self.variables[name] for name in family]
        shape = [len(levels) for levels in labels]
        if prod(shape) > MAX_CELLS:
            limit = f"{prod(shape):,} cells, more than {MAX_CELLS:,}"
            self._fail(f"the table of {shown(family[0])} would have {limit}.", line)
        rows = np.full((prod(shape[1:]), shape[0]), np.nan)
        default = None
        self._skip_properties()
        while not self._next_is(r"\}"):
            at = self._line
            match = self._take(
                r"(?:(table|default)\b|\(([^{};\n]*)\))([^(){};]*);",
                "(LABEL, ...) NUMBER, ...; or table NUMBER, ...; or default NUMBER, ...; or property or }",
            )
            kind, configuration = match[1], match[2]
            numbers = self._numbers(match[3], prod(shape) if kind == "table" else shape[0], at)
            if kind == "default":
                default = numbers
            else:
                whole = kind == "table"
                place = slice(None) if whole else self._position_of(configuration, family, labels[1:], at)
                if not np.isnan(rows[place]).all():
                    given = f"of {shown(family[0])}" if whole else f"for ({cut(configuration.strip())})"
                    self._fail(f"the probabilities {given} are given twice.", at)
                rows[place] = np.reshape(numbers, (shape[0], -1)).T
            self._skip_properties()
        if default is not None:
            rows[np.isnan(rows[:, 0])] = default
        self._check_sums(rows, family, labels, line)
        return rows.T.reshape(shape)

    def _numbers(self, text: str, expected: int, line: int) -> list[float]:
        words = text.replace(",", " ").replace("|", " ").split()
        for word in words:
            if not _NUMBER.fullmatch(word) or float(word) == inf:
                self._fail(f"must be a probability; got {shown(word)}.", line)
        if len(words) != expected:
            self._fail(f"must be {expected} probabilities; got {len(words)}.", line)
        return list(map(float, words))

    def _position_of(
        self, text: str, family: tuple[str, ...], labels: list[tuple[str, ...]], line: int
    ) -> int:
        """Return the number of a configuration of parents; the last parent changes fastest."""
        states = _read_list(
            text,
            lambda items: (
                len(items) == len(labels) and all(a in b for a, b in zip(items, labels, strict=True))
            ),
        )
        if states is None:
            expected = (
                f"a label of each of {listed(family[1:])}" if labels else "no labels, as there are no parents"
            )
            self._fail(f"must be {expected}; got ({cut(text.strip())}).", line)
        position = 0
        for state, levels in zip(states, labels, strict=True):
            position = position * len(levels) + levels.index(state)
        return position

    def _check_sums(
        self, rows: Array, family: tuple[str, ...], labels: list[tuple[str, ...]], line: int
    ) -> None:
        """Normalize distributions whose sums differ from 1 by rounding; raise for others."""
        sums = rows.sum(axis=1, keepdims=True)
        for wrong in np.flatnonzero(~(np.abs(sums - 1) <= _ROUNDING)):
            configuration = next(islice(product(*labels[1:]), int(wrong), None))
            condition = f" for ({cut(', '.join(configuration))})" if configuration else ""
            got = "none" if np.isnan(sums[wrong, 0]) else f"a sum of {sums[wrong, 0]:g}"
            expected = f"must be probabilities of {shown(family[0])}{condition} that sum to 1"
            self._fail(f"{expected}; got {got}.", line)
        np.divide(rows, sums, out=rows, where=np.abs(sums - 1) > TOLERANCE)


def _readings(text: str) -> Iterator[list[str]]:
    """Yield the ways to read a list: as items between commas, which may contain spaces, then as words."""
    items = re.findall(r'\s*("[^"]*"(?=\s*(?:,|\Z))|[^,]+)', text)
    yield [_unquoted(item) for item in items if item.strip()]
    yield [_unquoted(word) for word in re.findall(r'"[^"]*"(?=[\s,"]|\Z)|[^\s,]+', text)]


def _read_list(text: str, fits: Callable[[list[str]], bool]) -> list[str] | None:
    """Return the first reading of a list that fits, or None."""
    return next(filter(fits, _readings(text)), None)


def _unquoted(text: str) -> str:
    """Return a name without the spaces and quotes around it."""
    text = text.strip()
    inside = text[1:-1]
    return inside if text == f'"{inside}"' and '"' not in inside else text
