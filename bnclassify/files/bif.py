"""Files of networks of other programs: the Interchange Format (BIF), and XDSL of GeNIe and SMILE.

bnlearn, pgmpy and pyAgrum also read and write BIF. Tables and deterministic nodes of XDSL are read.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count, islice, product
from math import inf, isfinite, prod
from operator import contains
from typing import Any, NoReturn, TypeAlias
from xml.etree import ElementTree

import numpy as np

from ..accessors import check_categorical_network, params, values
from ..classifiers import BNC
from ..dataset import Dataset
from ..model import Model, Step
from ..parameters import lp
from ..structure import fixed_again, network_with_families
from ..tools.arrays import TOLERANCE, Array
from ..tools.checks import OneOf, check_column_name, options_sentence
from ..tools.immutable import record
from ..tools.messages import listed, repeated_items, shorten_text, shown
from .storage import check_file_name, replace_file

Variables: TypeAlias = dict[Hashable, tuple[str, ...]]
"""The labels of each variable."""

Families: TypeAlias = dict[Hashable, tuple[tuple[str, ...], Array]]
"""The family of each variable, and its table with axes in this order."""

Fail: TypeAlias = Callable[[str], NoReturn]
"""A function that raises an error with a message and the place in the file."""


_MOST_CELLS = 2**24
"""Maximum number of cells of all tables of a file, which a few words can describe."""

_MOST_AXES = 32
"""Maximum number of axes of an array in all supported versions of NumPy."""

_MOST_BYTES = 100_000_000
"""Maximum size of the content of a packed file."""


def unpack_gzip(content: bytes, source: str) -> bytes:
    """Return the content of a file, unpacked if it was packed with gzip."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    unpack = zlib.decompressobj(wbits=31)
    try:
        text = unpack.decompress(content, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"{source} must be a complete file of gzip; got {error}.") from error
    if not unpack.eof:
        raise ValueError(
            f"{source} must be a complete file of gzip with at most {_MOST_BYTES:,} bytes of text; "
            "got one that ends early or is larger."
        )
    return text


def checked_sum_of_cells(
    cells: int, family: Sequence[Hashable], variables: Variables, fail: Fail
) -> int:
    """Return the number of cells of tables up to that of a family; fail if they are too many."""
    own = prod(len(variables[name]) for name in family)
    if cells + own > _MOST_CELLS:
        fail(
            f"the table of {shown(family[0])} would have {own:,} cells. All tables of a file can "
            f"have at most {_MOST_CELLS:,} together."
        )
    if len(family) > _MOST_AXES:
        fail(
            f"{shown(family[0])} must have at most {_MOST_AXES - 1} parents; got {len(family) - 1}."
        )
    return cells + own


def normalize_distributions(
    rows: Array, family: Sequence[Hashable], labels: Sequence[tuple[str, ...]], fail: Fail
) -> None:
    """Normalize distributions, (configurations, labels), with sums that are 1 but for rounding."""
    sums: Array = rows.sum(axis=1, keepdims=True)
    # 0.011: largest difference from 1 of the sum of rounded probabilities, as in bnlearn's reader
    for wrong in np.flatnonzero(~(np.abs(sums - 1) <= 0.011)):
        configuration = next(islice(product(*labels[1:]), int(wrong), None))
        condition = f" for ({shorten_text(', '.join(configuration))})" if configuration else ""
        got = "none" if np.isnan(sums[wrong, 0]) else f"a sum of {sums[wrong, 0]:g}"
        fail(f"must be probabilities of {shown(family[0])}{condition} that sum to 1; got {got}.")
    np.divide(rows, sums, out=rows, where=np.abs(sums - 1) > TOLERANCE)


_XDSL = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:[\s\S]{0,1000}?<)?smile\b")

_TO_TABLE = "In GeNIe, change its type to a general chance node, whose table is written"
_NO_DIAGRAM = "Remove decisions and utilities, because a Bayesian network has only chance nodes"
_REFUSED = {
    "noisymax": ("a noisy maximum", _TO_TABLE),
    "noisyadder": ("a noisy adder", _TO_TABLE),
    "demorgan": ("a DeMorgan gate", _TO_TABLE),
    "equation": ("an equation of numbers", "Discretize it in GeNIe"),
    "decision": ("a decision", _NO_DIAGRAM),
    "utility": ("a utility", _NO_DIAGRAM),
    "mau": ("a utility", _NO_DIAGRAM),
}
"""Types of nodes that are not tables, and what to do about them."""


def read_xdsl(content: bytes, source: str) -> tuple[Variables, Families]:
    """Return the labels of the variables, and the family and table of each."""
    if b"<!DOCTYPE" in content:
        raise ValueError(
            f"{source} must be a file as GeNIe writes it; got one with a document type."
        )
    try:
        network = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise ValueError(f"{source} must be a complete XML file; got {error}.") from error
    if network.find("dynamic") is not None:
        raise ValueError(
            f"{source} must be a Bayesian network; got a dynamic one. Unroll it in GeNIe."
        )
    nodes = list[ElementTree.Element]()
    waiting = [node for part in network.findall("nodes") for node in part][::-1]
    while waiting:  # no recursion, because submodels can be nested deeply
        node = waiting.pop()
        if node.tag == "submodel":
            waiting.extend(reversed(node))
        elif node.find("state") is not None or node.tag in _REFUSED:
            nodes.append(node)
    for node in nodes:
        if node.tag not in ("cpt", "deterministic"):
            what, remedy = _REFUSED.get(node.tag, (f"a node of type {node.tag}", _TO_TABLE))
            expected = "must be a table or a deterministic node"
            _raise_about_node(source, node, f"{expected}; got {what}. {remedy}.")
    variables: Variables = {}
    families: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        name = node.get("id", "")
        fail = partial(_raise_about_node, source, node)
        labels = tuple(state.get("id", "") for state in node.findall("state"))
        if not labels or repeated_items(labels):
            fail(f"must have labels that all differ; got {listed(labels)}.")
        if name in variables:
            fail("is declared twice.")
        variables[name] = labels
        families[name] = (name, *(node.findtext("parents") or "").split())
    if b"aGrUM" in content and any(len(family) > 2 for family in families.values()):
        raise ValueError(
            f"{source} must be written by GeNIe; got a file of pyAgrum, whose tables have another "
            "order. Save the network there in the Interchange Format, with "
            "pyagrum.saveBN(network, 'network.bif')."
        )
    family_tables: Families = {}
    cells = 0
    for node in nodes:
        fail = partial(_raise_about_node, source, node)
        family = families[node.get("id", "")]
        for name in family[1:]:
            if name not in variables:
                advice = options_sentence(name, variables)
                fail(f"must have chance nodes as parents; got {shown(name)}. {advice}")
        if twice := repeated_items(family):
            fail(f"must have different parents, and not itself; got {shown(twice[0])} twice.")
        cells = checked_sum_of_cells(cells, family, variables, fail)
        levels = [variables[name] for name in family]
        shape = list(map(len, levels))
        configurations = prod(shape[1:])
        if node.tag == "deterministic":
            states = (node.findtext("resultingstates") or "").split()
            codes = {label: code for code, label in enumerate(levels[0])}
            unknown = [state for state in states if state not in codes]
            if len(states) != configurations or unknown:
                expected = f"{configurations:,} resulting states that are among its labels"
                got = shown(unknown[0]) if unknown else f"{len(states):,} states"
                fail(f"must have {expected}; got {got}.")
            rows = np.zeros((configurations, shape[0]))
            rows[np.arange(configurations), [codes[state] for state in states]] = 1
        else:
            words = (node.findtext("probabilities") or "").split()
            try:
                numbers = list(map(float, words))
            except ValueError:
                numbers = [-1.0]
            are_masses = all(isfinite(number) and number >= 0 for number in numbers)
            if not are_masses or len(words) != prod(shape):
                got = f"{len(words):,} words, such as {listed(words, 3)}"
                fail(f"must have {prod(shape):,} probabilities; got {got}.")
            rows = np.array(numbers).reshape(configurations, shape[0])
            normalize_distributions(rows, family, levels, fail)
        family_tables[family[0]] = family, rows.T.reshape(shape)  # the last parent changes fastest
    return variables, family_tables


def _raise_about_node(source: str, node: ElementTree.Element, message: str) -> NoReturn:
    raise ValueError(f"{source}, node {shown(node.get('id'))}: {message}")


_BODY = r'(?:"[^"]*"|[^"}]+)*\}?'
"""The probabilities of a variable, up to the brace, whose absence is reported later."""

_FUNCTION = re.compile(r"function\s*=?\s*(?!table)\w+.*", re.DOTALL)
"""A property of a table that is not complete, such as a noisy maximum."""

_OTHER_FORMATS = {
    "bifxml": "<",
    "dsl": r"net\s+\w+\s*\{",
    "net": r"(net|class)\b",
    "dsc": r"belief\s+network\b",
    "dne": r"bnet\b",
}
"""How files of other formats begin, by the endings of their names."""

_BY_PYAGRUM = "Convert it, with pyagrum.saveBN(pyagrum.loadBN('network.{0}'), 'network.bif')"
_HOW_TO_CONVERT = {
    "bifxml": f"{_BY_PYAGRUM}. If its name ends in .xml, let it end in .bifxml first",
    "dsc": (
        "Convert it, with write.bif('network.bif', read.dsc('network.dsc')) of "
        "the R package bnlearn"
    ),
    "dne": "Save it in Netica as a file of Hugin (NET), and convert that",
}
"""How to convert files of other formats; those that are not listed by pyAgrum."""

_NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""A probability; the function float also accepts 0.2_0 and digits of other scripts."""


class BIFReader:
    """A text, the position up to which it is read, and the labels of the variables read."""

    def __init__(self, text: str, source: str) -> None:
        self.source, self.text = source, text  # which errors of comments show
        quoted_or_comment = r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|(/\*)'
        self.text = re.sub(quoted_or_comment, self._comment_as_spaces, text, flags=re.DOTALL)
        self.position = 0
        self.variables: Variables = {}

    def _comment_as_spaces(self, match: re.Match[str]) -> str:
        if match[1]:
            self._raise_at_line(
                "must be */ at the end of the comment; got the end of the file.", match.start()
            )
        return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])

    def read(self) -> Families:
        """Return the family of each variable and its table, with axes in this order."""
        self._read_match("", "")
        for ending, beginning in _OTHER_FORMATS.items():
            if self._is_next(beginning):
                remedy = _HOW_TO_CONVERT.get(ending, _BY_PYAGRUM).format(ending)
                self._raise_at_line(
                    "must be in the Interchange Format; got a file in the format "
                    f"{ending.upper()}. {remedy}."
                )
        self._read_match(r"network\b[^{]*\{", "network NAME {, with which a file begins")
        self._skip_properties()
        self._read_match(r"\}", "} or property")
        tables = []  # possibly before their variables
        while self.position < len(self.text):
            start = self.position
            word = self._read_match(r"(variable|probability)\b", "variable or probability")[1]
            if word == "probability":
                header = self._read_match(r"\(([^{};]*)\)\s*\{", "( NAME | PARENT, ... ) {")[1]
                tables.append((start, header, self.position))
                self._read_match(_BODY, "}")
            else:
                self._read_and_store_variable(start)
        families: Families = {}
        cells = 0
        for start, header, self.position in tables:
            family = self._family_in_header(header, start)
            if family[0] in families:
                self._raise_at_line(
                    f"the probabilities of {shown(family[0])} are given twice.", start
                )
            fail = partial(self._raise_at_line, at=start)
            cells = checked_sum_of_cells(cells, family, self.variables, fail)
            families[family[0]] = family, self._read_table(family, start)
        return families

    def _raise_at_line(self, message: str, at: int | None = None) -> NoReturn:
        """Raise a ValueError with the line of a position, by default where reading stopped."""
        line = 1 + self.text.count("\n", 0, self.position if at is None else at)
        raise ValueError(f"{self.source}, line {line}: {message}")

    def _is_next(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.position) is not None

    def _read_match(self, pattern: str, expected: str) -> re.Match[str]:
        """Read text that matches a pattern, and the space after it."""
        match = re.compile(rf"(?:{pattern})\s*").match(self.text, self.position)
        if match is None:
            line = self.text[self.position : self.position + 40].split("\n")[0]
            found = line or "the end of the file"
            self._raise_at_line(f"must be {expected}; got {shown(found)}.")
        self.position = match.end()
        return match

    def _skip_properties(self) -> None:
        while self._is_next(r"property\b"):
            taken = self._read_match(r'property\b((?:"[^"]*"|[^;"])*);', "property ... ;")
            if _FUNCTION.fullmatch(text := _unquoted_name(taken[1])):
                self._raise_at_line(
                    "must be a table of probabilities; got a function of the parents (property "
                    f"{text}), of which a file contains some rows only. Write the whole table.",
                    taken.start(),
                )

    def _read_and_store_variable(self, at: int) -> None:
        name = _unquoted_name(self._read_match(r"([^{}]+)\{", "a name and {")[1])
        if name in self.variables:
            self._raise_at_line(f"the variable {shown(name)} is declared twice.", at)
        self._skip_properties()
        pattern = r"type\s+discrete\s*\[\s*0*(\d{1,9})\s*\]\s*(?:=\s*)?\{([^{}]*)\}\s*;"
        match = self._read_match(pattern, "type discrete [ NUMBER ] { LABEL, LABEL, ... };")
        labels = _first_reading_that_fits(match[2], lambda items: len(items) == int(match[1]))
        if labels is None:
            self._raise_at_line(
                f"must be {int(match[1])} labels; got {shown(match[2].strip())}.", at
            )
        self._skip_properties()
        self._read_match(r"\}", "property or }")
        if twice := repeated_items(labels):
            self._raise_at_line(
                f"{shown(name)} must have labels that differ; got {shown(twice[0])} twice. "
                "Write another label in one of the places.",
                at,
            )
        if not labels:
            self._raise_at_line(f"{shown(name)} must have at least one label; got none.", at)
        self.variables[name] = tuple(labels)

    def _family_in_header(self, header: str, at: int) -> tuple[str, ...]:
        """Return the names in a header: the variable, then its parents; | is a separator, too."""
        header = header.replace("|", ",")
        family = _first_reading_that_fits(
            header, lambda names: bool(names) and self.variables.keys() >= set(names)
        )
        if family is None:
            names = next(_readings_of_list(header))
            unknown = [name for name in names if name not in self.variables]
            strange = (unknown or [header.strip()])[0]
            advice = options_sentence(strange, self.variables)
            self._raise_at_line(f"must be declared variables; got {shown(strange)}. {advice}", at)
        if len(set(family)) < len(family):
            self._raise_at_line(f"must be different variables; got {listed(family)}.", at)
        return tuple(family)

    def _read_table(self, family: tuple[str, ...], start: int) -> Array:
        """Read the probabilities of a family up to the brace, with axes in the family's order."""
        labels = [self.variables[name] for name in family]
        codes = [{label: code for code, label in enumerate(levels)} for levels in labels[1:]]
        shape = [len(levels) for levels in labels]
        rows = np.full((prod(shape[1:]), shape[0]), np.nan)
        default = None
        self._skip_properties()
        while not self._is_next(r"\}"):
            at = self.position
            match = self._read_match(
                r"(?:(table|default)\b|\(([^{};\n]*)\))([^(){};]*);",
                "(LABEL, ...) NUMBER, ...; or table NUMBER, ...; or default NUMBER, "
                "...; or property or }",
            )
            word, configuration = match[1], match[2]
            words = match[3].replace(",", " ").replace("|", " ").split()
            for text in words:
                if not _NUMBER.fullmatch(text) or float(text) == inf:
                    self._raise_at_line(f"must be a probability; got {shown(text)}.", at)
            expected = prod(shape) if word == "table" else shape[0]
            if len(words) != expected:
                self._raise_at_line(f"must be {expected} probabilities; got {len(words)}.", at)
            numbers = np.array(list(map(float, words)))
            if word == "default":
                default = numbers
            else:
                place, which = slice(None), f"of {shown(family[0])}"
                if not word:
                    row = self._row_of_configuration(configuration, family, codes, at)
                    place = slice(row, row + 1)
                    which = f"for ({shorten_text(configuration.strip())})"
                if not np.isnan(rows[place]).all():
                    self._raise_at_line(f"the probabilities {which} are given twice.", at)
                rows[place] = numbers.reshape(shape[0], -1).T  # by label, then by configuration
            self._skip_properties()
        if default is not None:
            rows[np.isnan(rows[:, 0])] = default
        normalize_distributions(rows, family, labels, partial(self._raise_at_line, at=start))
        return rows.T.reshape(shape)

    def _row_of_configuration(
        self, text: str, family: tuple[str, ...], codes: list[dict[str, int]], at: int
    ) -> int:
        """Return the position of a configuration of parents; the last parent changes fastest."""
        states = _first_reading_that_fits(
            text, lambda items: len(items) == len(codes) and all(map(contains, codes, items))
        )
        if states is None:
            one_each = f"a label of each of {listed(family[1:])}"
            expected = one_each if codes else "no labels without parents"
            self._raise_at_line(f"must be {expected}; got ({shorten_text(text.strip())}).", at)
        position = 0
        for state, own in zip(states, codes, strict=True):
            position = position * len(own) + own[state]
        return position


def _readings_of_list(text: str) -> Iterator[list[str]]:
    """Yield the ways to read a list: as items between commas, with spaces or not, then as words."""
    items = re.findall(r'\s*("[^"]*"(?=\s*(?:,|\Z))|[^,]+)', text)
    yield [_unquoted_name(item) for item in items if item.strip()]
    yield [_unquoted_name(word) for word in re.findall(r'"[^"]*"(?=[\s,"]|\Z)|[^\s,]+', text)]


def _first_reading_that_fits(text: str, fits: Callable[[list[str]], bool]) -> list[str] | None:
    """Return the first reading of a list that fits, or None."""
    return next(filter(fits, _readings_of_list(text)), None)


def _unquoted_name(text: str) -> str:
    """Return a name without the spaces and quotes around it."""
    text = text.strip()
    inside = text[1:-1]
    return inside if text == f'"{inside}"' and '"' not in inside else text


_NAME = re.compile(r"[\w.-]+")
_WORD = r"""[^\s,;(){}"\ud800-\udfff]+"""
_LABEL = re.compile(rf"(?!.*(//|/\*)){_WORD}( {_WORD})*")
"""Names and labels that need no conversion."""


def write_bif(x: BNC, path: str | os.PathLike[str]) -> None:
    """Write a model to a file in the Interchange Format (BIF).

    Parameters
    ----------
    x : BNC
        A model with parameters.
    path : str or path
        Name of the file. An existing file is replaced.

    Raises
    ------
    OSError, TypeError, ValueError
        If the file cannot be written, `x` is an ensemble, or it has no
        parameters.

    Notes
    -----
    Probabilities are written with all digits. Names and labels are written as
    text. The format allows names of letters, digits and ``_ - .``, and labels
    without ``, ; ( ) { } "``, ``//`` and ``/*`` and with single spaces between
    words only. Other characters are replaced by allowed ones:
    ``number of doors`` by ``number_of_doors``, the interval ``(-inf, 5.1]`` of
    `discretize` by ``from_minus_inf_to_5_1``.

    bnlearn, pgmpy and pyAgrum read such files. pyAgrum's reader requires labels
    that are ASCII words or integers; `to_pyagrum` accepts others.

    References
    ----------
    .. [1] Cozman, F. G. The Interchange Format for Bayesian networks.
       https://www.cs.washington.edu/dm/vfml/appendixes/bif.htm

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bnclassify import load_car, lp, nb, write_bif
    >>> car = load_car()
    >>> model = lp(nb("class", car, features=["safety"]), car, smooth=1)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "car.bif")
    ...     write_bif(model, path)
    ...     print(path.read_text()[:80])
    network unknown {
    }
    variable safety {
      type discrete [ 3 ] { low, med, high };
    """
    model, file = check_categorical_network(x, "write_bif"), check_file_name(path)
    tables, levels = params(model), values(model)
    names = dict(zip(model.variables, _distinct_bif_words(model.variables, _NAME), strict=True))
    words = {name: _distinct_bif_words(v, _LABEL) for name, v in levels.items()}
    lines = ["network unknown {", "}"]
    for name in model.variables:
        # bnlearn requires spaces and line breaks in these places.
        lines += [f"variable {names[name]} {{"]
        lines += [f"  type discrete [ {len(words[name])} ] {{ {', '.join(words[name])} }};", "}"]
    for family in model.families:
        (name, *parents), table = [names[member] for member in family], tables[family[0]]
        rows = [", ".join(map(repr, row)) for row in table.reshape(len(table), -1).T.tolist()]
        condition = f" | {', '.join(parents)}" if parents else ""
        lines.append(f"probability ( {name}{condition} ) {{")
        if parents:  # one line per configuration
            configurations = product(*[words[member] for member in family[1:]])
            pairs = zip(configurations, rows, strict=True)
            lines += [f"  ({', '.join(labels)}) {row};" for labels, row in pairs]
        else:
            lines.append(f"  table {rows[0]};")
        lines.append("}")
    replace_file(file, "\n".join([*lines, ""]).encode("utf-8"))


def _distinct_bif_words(items: Sequence[Any], allowed: re.Pattern[str]) -> list[str]:
    """Return a different allowed text for each item, unchanged if possible."""
    texts = list(map(str, items))
    taken = set(filter(allowed.fullmatch, texts))
    words: dict[str, None] = {}
    for text in texts:
        word = text
        if text in words or not allowed.fullmatch(text):
            stem = re.sub(r"\((\S+), (\S+)[\])]", r"from_\1_to_\2", text)  # the ends of an interval
            stem = re.sub(r"(?<![^_])-(?=\d|inf)", "minus_", stem)
            stem = re.sub(r"[\W_]+", "_", stem).strip("_") or "_"
            trials = chain([stem], (f"{stem}_{number}" for number in count(2)))
            word = next(word for word in trials if word not in taken and word not in words)
        words[word] = None
    return list(words)


def read_bif(path: str | os.PathLike[str], class_var: Hashable) -> BNC:
    """Read a model from a file in the format BIF or XDSL (GeNIe).

    Parameters
    ----------
    path : str or path
        A file of `write_bif`, bnlearn, pgmpy, pyAgrum, GeNIe or another
        program. It may be packed with gzip, to at most 100 MB of text.
    class_var : str
        Name of the class variable. It may have parents, and need not be a
        parent of all features.

    Returns
    -------
    BNC
        A model with parameters, with features, levels and parents in the order
        of the file.

    Raises
    ------
    OSError, KeyError, TypeError, ValueError
        If the file does not have the format, or its tables would be too large.
        The message contains the line or, for XDSL, the node.

    Notes
    -----
    All names and labels are text. If probabilities have a sum that differs from
    1 by less than 0.011, they are divided by it. A file does not contain the
    method of estimation. Therefore, `cv` keeps the arcs and estimates tables
    with ``smooth=1``; for other settings, use
    ``cv(lp(x, df, smooth=...), df)``. To evaluate the tables of the file, use
    ``accuracy(predict(x, df), df[class_var])``.

    In a file of GeNIe, nodes can be tables (``cpt``) or functions of their
    parents (``deterministic``). Decisions, utilities, equations and noisy
    maxima raise an error that names the node.

    References
    ----------
    .. [1] Cozman, F. G. The Interchange Format for Bayesian networks.
       https://www.cs.washington.edu/dm/vfml/appendixes/bif.htm

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bnclassify import cpt, read_bif
    >>> text = '''
    ... network clinic { }
    ... variable ill { type discrete [ 2 ] { no, yes }; }
    ... variable test { type discrete [ 2 ] { negative, positive }; }
    ... probability ( ill ) { table 0.9, 0.1; }
    ... probability ( test | ill ) { (no) 0.95, 0.05; (yes) 0.2, 0.8; }
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "clinic.bif")
    ...     size = path.write_text(text)
    ...     cpt(read_bif(path, "ill"), "test")
    ill         no  yes
    test
    negative  0.95  0.2
    positive  0.05  0.8
    """
    file, source = check_file_name(path), str(path)
    check_column_name(class_var)
    content = unpack_gzip(file.read_bytes(), source)
    if _XDSL.match(content):
        variables, family_tables = read_xdsl(content, source)
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{source} must be text in UTF-8; got {error}. Convert the file."
            ) from error
        reader = BIFReader(text.replace("\r\n", "\n").replace("\r", "\n"), source)
        family_tables, variables = reader.read(), reader.variables
    OneOf(variables, f"a variable of {source}").check("class_var", class_var)
    if absent := [name for name in variables if name not in family_tables]:
        raise ValueError(
            f"{source} must have probabilities of every variable; got none of {listed(absent)}."
        )
    parents = {name: family_tables[name][0][1:] for name in variables}
    step = Step("read_bif", fixed_again)
    structure = network_with_families(class_var, parents, step, origin=source)
    cpts = []
    for family in structure.families:
        file_family, table = family_tables[family[0]]
        axes = [file_family.index(member) for member in family]
        cpts.append(table.transpose(axes).copy())  # a copy, because the data of a view are writable
    levels, recipe = tuple(variables[name] for name in structure.variables), structure.recipe
    recipe = recipe and replace(recipe, parameters=Step("read_bif", tables_again))
    return replace(structure, levels=levels, cpts=tuple(cpts), recipe=recipe)


@record
def tables_again(x: Model, dataset: Dataset) -> Model:
    """Estimate tables with one pseudo-count, because a file does not contain the method."""
    return lp(x, dataset, smooth=1)
