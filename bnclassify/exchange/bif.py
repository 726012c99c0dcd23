"""Files in the Interchange Format, which bnlearn, pgmpy and pyAgrum read and write too."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, product
from typing import Any

from ..base.arrays import Array
from ..base.messages import listed, shown, suggestion
from ..base.records import record
from ..frames.encoding import check_class_name
from ..frames.schema import Dataset
from ..functions.parameters import lp
from ..learners.fixed import fixed_again, fixed_network
from ..model.model import Model
from ..model.questions import values, vars
from ..model.recipes import Step
from ..model.tables import params
from ..network.bnc import BNC, Family, check_bnc
from .grammar import Declared, Table, fail, parse
from .replacement import as_path, replace_file
from .tables import read_table

_TYPES = (str, int, float, bool)
"""The types of names and labels that can be written."""

_NAME = re.compile(r"[\w.-]+")
_WORD = r"""[^\s,;(){}"\ud800-\udfff]+"""
_LABEL = re.compile(rf"(?!.*(//|/\*)){_WORD}( {_WORD})*")
"""Names and labels that the format allows as they are."""

_ONLY_LABEL = re.compile(rf"(?!.*(//|/\*)){_WORD}")
"""The label of a variable that has no other: pgmpy's reader takes the words of it for as many labels."""


def write_bif(x: BNC, path: str | os.PathLike[str]) -> None:
    """Write a model to a file in the Interchange Format (BIF).

    Parameters
    ----------
    x : BNC
        A model with parameters.
    path : str or path
        Where to write. A file that is there is replaced.

    Raises
    ------
    OSError
        If the file cannot be written.
    TypeError
        If ``x`` is an ensemble; write each of ``members(x)``.
    ValueError
        If the model has no parameters, or if a name or a label is no text, integer, float or
        bool; no file is written then.

    Notes
    -----
    What is written, `read_bif` reads back as it was: names, labels, and all digits of numbers.

    The format knows names of letters, digits and ``_ - .``, and labels without ``, ; ( ) { } "``,
    ``//`` and ``/*`` and without spaces but single ones between words. Others are written in words that
    it knows: ``number of doors`` as ``number_of_doors``, the interval ``(-inf, 5.1]`` of `discretize` as
    ``from_minus_inf_to_5_1``. So other programs read them, and labels that are no text; what they are
    here, a property beside them tells `read_bif`.

    pgmpy 1.1 reads all that, but for names that differ in case alone; bnlearn, but for variables
    of one level and, in some versions, names with ``-``. pyAgrum's reader, which keeps 32 bits of
    a number, raises at all but ASCII words and integers, at keywords of the format such as
    ``default``, and at variables of one level; `to_pyagrum` takes them.

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
    model, file = check_bnc(x, "write_bif"), as_path(path)
    tables, labels = params(model), values(model)
    _check_types(vars(model), labels)
    names = dict(zip(vars(model), _as_words(vars(model), _NAME), strict=True))
    words = {name: _as_words(v, _LABEL if len(v) > 1 else _ONLY_LABEL) for name, v in labels.items()}
    lines = ["network unknown {", "}"]
    for name in vars(model):
        lines += _variable_lines(name, names[name], labels[name], words[name])
    for family in model.families:
        label_words = [words[member] for member in family]
        lines += _table_lines([names[member] for member in family], label_words, tables[family[0]])
    replace_file(file, "\n".join([*lines, ""]).encode("utf-8"))


def _check_types(names: Sequence[Hashable], labels: Mapping[Hashable, tuple[Any, ...]]) -> None:
    wrong = [name for name in names if type(name) not in _TYPES]
    if wrong:
        raise ValueError(
            f"write_bif: the name {listed(wrong)} is no text or number; rename the column and learn again"
        )
    for name in names:
        kinds = {type(label).__name__ for label in labels[name] if type(label) not in _TYPES}
        if kinds:
            raise ValueError(
                f"write_bif: the labels of {shown(name)} are of type {' and '.join(sorted(kinds))}, and only "
                "text, integers, floats and bools can be written; rename them, for example with "
                f"df[{shown(name)}].cat.rename_categories(str), and learn again"
            )


def _as_words(items: Sequence[Any], allowed: re.Pattern[str]) -> list[str]:
    """Return a different text for each item: itself where that is allowed, else what comes near."""
    texts = list(map(str, items))
    taken = set(filter(allowed.fullmatch, texts))
    trials: dict[str, Iterator[str]] = {}  # each goes on where it stopped, as words are only ever added
    words: dict[str, None] = {}
    for text in texts:
        word = text
        if text in words or not allowed.fullmatch(text):
            stem = _word_of(text)
            trial = trials.setdefault(stem, _numbered(stem))
            word = next(word for word in trial if word not in taken and word not in words)
        words[word] = None
    return list(words)


def _numbered(word: str) -> Iterator[str]:
    """Give a word, then the same with 2, 3, ... behind it."""
    yield word
    for number in count(2):
        yield f"{word}_{number}"


def _word_of(text: str) -> str:
    """Make a word of a text; of an interval, one that tells its ends."""
    text = re.sub(r"\((\S+), (\S+)[\])]", r"from_\1_to_\2", text)
    text = re.sub(r"(?<![^_])-(?=\d|inf)", "minus_", text)
    return re.sub(r"[\W_]+", "_", text).strip("_") or "_"


def _variable_lines(name: Hashable, word: str, labels: Sequence[Any], words: list[str]) -> list[str]:
    """Declare a variable; bnlearn reads it only with spaces and lines in these places."""
    lines = [f"variable {word} {{", f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};"]
    if name != word:
        lines.append(f"  property python_name = {_as_json(name)} ;")
    if list(labels) != words:
        lines.append(f"  property python_labels = {_as_json(labels)} ;")
    return [*lines, "}"]


def _as_json(value: object) -> str:
    """Write a value as JSON, without signs that mean something in the format."""

    def escaped(match: re.Match[str]) -> str:
        sign = match[0][-1]
        return f"\\u{ord(sign):04x}" if sign in '";{}/' else match[0]

    return re.sub(r"\\.|[;{}/]", escaped, json.dumps(value))


def _table_lines(family: list[str], words: list[list[str]], table: Array) -> list[str]:
    """Write a table: a line a configuration of the parents, with the distribution given it."""
    name, *parents = family
    rows = [", ".join(map(repr, row)) for row in table.reshape(len(table), -1).T.tolist()]
    if not parents:
        return [f"probability ( {name} ) {{", f"  table {rows[0]};", "}"]
    configurations = product(*words[1:])
    lines = [f"  ({', '.join(labels)}) {row};" for labels, row in zip(configurations, rows, strict=True)]
    return [f"probability ( {name} | {', '.join(parents)} ) {{", *lines, "}"]


def read_bif(path: str | os.PathLike[str], class_var: Hashable) -> BNC:
    """Read a model from a file in the Interchange Format (BIF).

    Parameters
    ----------
    path : str or path
        A file of `write_bif`, bnlearn, pgmpy, pyAgrum or another program.
    class_var : str
        Which of the variables is the class. It may have parents, and need not be a parent of all.

    Returns
    -------
    BNC
        A model with parameters: features, levels and parents in the order of the file.

    Raises
    ------
    KeyError
        If the file has no variable ``class_var``.
    OSError
        If the file cannot be opened.
    TypeError
        If ``path`` is no name of a file, or ``class_var`` no name.
    ValueError
        If the file breaks the rules of the format, or a table would be too large; the message
        tells the line. If its arcs form a cycle.

    Notes
    -----
    Names and labels are text, in files of `write_bif` what they were when written. Probabilities that sum
    to 1 but for rounding, by less than 0.011, are divided by their sum.

    A file does not tell how its tables were estimated. So `cv` keeps its arcs and learns the
    tables again with ``smooth=1``; for another, run ``cv(lp(x, df, smooth=...), df)``. How good
    the tables of the file are, ``accuracy(predict(x, df), df[class_var])`` tells.

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
    file, source = as_path(path), str(path)
    check_class_name(class_var)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: expected text in UTF-8 ({error}); unpack or convert the file") from error
    variables, tables = parse(text, source)
    names = _names(variables, source)
    if class_var not in names.values():
        raise KeyError(
            f"class_var: no variable {shown(class_var)} in {source}; {suggestion(class_var, names.values())}"
        )
    levels = {names[word]: _levels(word, declared, source) for word, declared in variables.items()}
    family_tables = {
        names[word]: (tuple(names[member] for member in family), table)
        for word, (family, table) in _read_tables(tables, variables, source).items()
    }
    parents = {name: family_tables[name][0][1:] for name in levels}
    structure = fixed_network(class_var, parents, Step("read_bif", fixed_again), origin=source)
    return replace(
        structure,
        levels=tuple(levels[name] for name in vars(structure)),
        cpts=tuple(_ordered(family, *family_tables[family[0]]) for family in structure.families),
        recipe=structure.recipe and replace(structure.recipe, parameters=Step("read_bif", tables_again)),
    )


@record
def tables_again(x: Model, dataset: Dataset) -> Model:
    """Learn tables anew in the usual way: a file does not tell how its own were made."""
    return lp(x, dataset, smooth=1)


def _names(variables: Mapping[Hashable, Declared], source: str) -> dict[Hashable, Hashable]:
    """Return what each variable of a file is called here."""
    names: dict[Hashable, Hashable] = {}
    taken: set[Hashable] = set()
    for word, declared in variables.items():
        name = _from_json(declared, "name", source) if "name" in declared.properties else word
        if type(name) not in _TYPES or name != name or name in taken:
            fail(
                source,
                declared.line,
                f"expected python_name of {shown(word)} as a text or number of its own, got {shown(name)}",
            )
        names[word] = name
        taken.add(name)
    return names


def _levels(name: Hashable, declared: Declared, source: str) -> tuple[Any, ...]:
    """Return the labels of a variable as they were when they were written."""
    labels: Any = declared.labels
    if "labels" in declared.properties:
        labels = _from_json(declared, "labels", source)
        fit = isinstance(labels, list) and len(labels) == len(declared.labels)
        if not fit or any(type(label) not in _TYPES or label != label for label in labels):
            expected = f"a JSON list of {len(declared.labels)} texts or numbers"
            message = f"expected python_labels of {shown(name)} as {expected}, got {shown(labels)}"
            fail(source, declared.line, message)
    if not labels or len(set(declared.labels)) < len(labels) or len(set(labels)) < len(labels):
        fail(source, declared.line, f"expected different labels of {shown(name)}, at least one")
    return tuple(labels)


def _from_json(declared: Declared, key: str, source: str) -> Any:
    try:
        return json.loads(declared.properties[key])
    except (ValueError, RecursionError):
        got = shown(declared.properties[key].strip())
        fail(source, declared.line, f"expected python_{key} as JSON, got {got}")


def _read_tables(
    tables: Iterable[Table], variables: Mapping[Hashable, Declared], source: str
) -> dict[Hashable, tuple[Family, Array]]:
    """Return the family and table of each variable, axes in the order of the family there."""
    family_tables: dict[Hashable, tuple[Family, Array]] = {}
    for table in tables:
        family, array = read_table(table, variables, source)
        if family[0] in family_tables:
            fail(source, table.line, f"the probabilities of {shown(family[0])} were given already")
        family_tables[family[0]] = family, array
    absent = [name for name in variables if name not in family_tables]
    if absent:
        raise ValueError(f"{source}: expected probabilities of every variable, got none of {listed(absent)}")
    return family_tables


def _ordered(family: Family, file_family: Family, table: Array) -> Array:
    """Return a table with its axes in the order of another family of the same members.

    It owns its data: of a view, the model would protect no more than the view against writing.
    """
    return table.transpose([file_family.index(member) for member in family]).copy()
