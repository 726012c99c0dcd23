"""Files in the Interchange Format, which bnlearn, pgmpy and pyAgrum read and write too."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from ..dataset import Dataset
from ..graph import find_cycle
from ..messages import listed, suggestion
from ..model import BNC, Family, Model, check_single, params, values, vars
from ..parameters.estimation import lp
from ..probs import Array
from ..structure.fixed import anb
from .grammar import Declared, Table, fail, parse
from .tables import read_table

_TYPES: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": {"True": True, "False": False}.__getitem__,
}
"""The types that labels may have, and how text becomes one again."""


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
        If the model has no parameters, or if a name or a label would not be read back as it
        is; no file is written then.

    Notes
    -----
    Numbers have all their digits: `read_bif` gives the same tables, bit for bit.

    A name can be written if it is a text of letters, digits and ``_ - .``, a label if it has
    none of the signs ``, ; ( ) { } "``, no ``//`` or ``/*``, and no spaces but single ones
    between words. Labels are text, integers, floats or bools. For those that are not text, a
    property tells `read_bif` their type; other programs read them as text.

    The intervals of `discretize`, such as ``(-inf, 5.1]``, are not such labels. Rename them before
    learning, and in new data alike: ``frame[name].cat.rename_categories(lambda label:
    label.strip("(])").replace(", ", " to "))`` makes ``-inf to 5.1`` of it.

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
    model, file = check_single(x, "write_bif"), _as_path(path)
    tables, labels = params(model), values(model)
    _check_names(vars(model))
    texts = {name: _texts(name, labels[name]) for name in vars(model)}
    _check_labels(texts)
    lines = ["network unknown {", "}"]
    for name in vars(model):
        lines += _variable_lines(name, texts[name], type(labels[name][0]).__name__)
    for family in model.families:
        lines += _table_lines(family, texts, tables[family[0]])
    # Opening a file to write empties it, so what can fail comes before.
    content = "\n".join([*lines, ""]).encode("utf-8")
    file.write_bytes(content)


def _check_names(names: Iterable[Hashable]) -> None:
    wrong = [name for name in names if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name)]
    if wrong:
        raise ValueError(
            f"write_bif: the name {listed(wrong)} cannot be written, only text of letters, digits and _ - . "
            "can; rename the column and learn again"
        )


def _texts(name: Hashable, labels: tuple[Any, ...]) -> list[str]:
    """Return the labels of a variable as text, or raise for types that would not be read back."""
    kinds = {type(label).__name__ for label in labels}
    if len(kinds) > 1 or not kinds <= set(_TYPES):
        raise ValueError(
            f"write_bif: the labels of {name!r} are of type {' and '.join(sorted(kinds))}, only those of one "
            f"of the types {', '.join(_TYPES)} can be written; rename them, for example with "
            f"df[{name!r}].cat.rename_categories(...), and learn again"
        )
    return [str(label) for label in labels]


def _check_labels(texts: Mapping[Hashable, list[str]]) -> None:
    """Raise for labels that would not be read back as they are."""
    wrong = {name: [text for text in texts[name] if not _is_label(text)] for name in texts}
    names = [name for name in texts if wrong[name]]
    if names:
        first, *others = names
        raise ValueError(
            f"write_bif: the label {listed(wrong[first])} of {first!r} cannot be written"
            f"{', nor some of ' + listed(others) if others else ''}, only labels without "
            ', ; ( ) { } " // /* and half characters, and without spaces but single ones between words, can; '
            f"rename them, for example with df[{first!r}].cat.rename_categories(...), and learn again"
        )


def _is_label(text: str) -> bool:
    """Tell whether a text would be read back as it is; a half character has no code in UTF-8."""
    return (
        bool(text)
        and not re.search(r'[,;(){}"\ud800-\udfff]|//|/\*', text)
        and text == " ".join(text.split())
    )


def _variable_lines(name: Hashable, texts: list[str], kind: str) -> list[str]:
    """Declare a variable; bnlearn reads it only with spaces and lines in these places."""
    levels = f"  type discrete [ {len(texts)} ] {{ {', '.join(texts)} }};"
    python_type = [] if kind == "str" else [f"  property python_type = {kind} ;"]
    return [f"variable {name} {{", levels, *python_type, "}"]


def _table_lines(family: Family, texts: Mapping[Hashable, list[str]], table: Array) -> list[str]:
    """Write a table: a line a configuration of the parents, with the distribution given it."""
    name, *above = family
    rows = [", ".join(map(repr, row)) for row in table.reshape(len(table), -1).T.tolist()]
    if not above:
        return [f"probability ( {name} ) {{", f"  table {rows[0]};", "}"]
    configurations = product(*(texts[parent] for parent in above))
    lines = [f"  ({', '.join(labels)}) {row};" for labels, row in zip(configurations, rows, strict=True)]
    return [f"probability ( {name} | {', '.join(map(str, above))} ) {{", *lines, "}"]


def read_bif(path: str | os.PathLike[str], class_var: str) -> BNC:
    """Read a model from a file in the Interchange Format (BIF).

    Parameters
    ----------
    path : str or path
        A file of `write_bif`, bnlearn, pgmpy, pyAgrum or another program.
    class_var : str
        Which of the variables is the class. It must be a parent of all others.

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
        If ``path`` or ``class_var`` is no name.
    ValueError
        If the file breaks the rules of the format, or a table would be too large; the message
        tells the line. If its network is no augmented naive Bayes; the message tells the variable.

    Notes
    -----
    Labels are text, but in files of `write_bif`, which tell their type. Probabilities that sum
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
    file, source = _as_path(path), str(path)
    if not isinstance(class_var, str):
        raise TypeError(f"class_var: expected the name of a variable as text, got {class_var!r}")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: expected text in UTF-8 ({error}); unpack or convert the file") from error
    variables, tables = parse(text, source)
    if class_var not in variables:
        raise KeyError(
            f"class_var: no variable {class_var!r} in {source}; {suggestion(class_var, variables)}"
        )
    levels = {name: _levels(name, declared, source) for name, declared in variables.items()}
    found = _read_tables(tables, variables, source)
    parents = {name: found[name][0][1:] for name in variables}
    _check_augmented(parents, class_var, source)
    del parents[class_var]
    inner = {name: [p for p in above if p != class_var] for name, above in parents.items()}
    structure = anb(class_var, inner, features=inner)
    return replace(
        structure,
        levels=tuple(levels[name] for name in vars(structure)),
        cpts=tuple(_ordered(family, *found[family[0]]) for family in structure.families),
        recipe=structure.recipe and replace(structure.recipe, parameters=_tables_of_a_file),
    )


def _tables_of_a_file(x: Model, dataset: Dataset) -> Model:
    """Stand for the tables that a file gave: it does not tell how, so learn them in the usual way."""
    return lp(x, dataset, smooth=1)


def _as_path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path: expected the name of a file, got {type(path).__name__}")
    return Path(path)


def _levels(name: Hashable, declared: Declared, source: str) -> tuple[Any, ...]:
    """Return the labels of a variable in the type that they had when they were written."""
    try:
        labels = tuple(map(_TYPES[declared.python_type], declared.labels))
    except (KeyError, ValueError):
        fail(source, declared.line, f"expected labels of {name!r} of the type {declared.python_type}")
    # Texts may differ where numbers do not: 01 and 1.
    if not labels or len(set(labels)) < len(labels):
        fail(source, declared.line, f"expected different labels of {name!r}, at least one")
    if any(label != label for label in labels):
        fail(source, declared.line, f"expected labels of {name!r}, got nan, which stands for a missing value")
    return labels


def _read_tables(
    tables: Iterable[Table], variables: Mapping[Hashable, Declared], source: str
) -> dict[Hashable, tuple[Family, Array]]:
    """Return the family and table of each variable, axes in the order of the family there."""
    found: dict[Hashable, tuple[Family, Array]] = {}
    for table in tables:
        family, array = read_table(table, variables, source)
        if family[0] in found:
            fail(source, table.line, f"the probabilities of {family[0]!r} were given already")
        found[family[0]] = family, array
    absent = [name for name in variables if name not in found]
    if absent:
        raise ValueError(f"{source}: expected probabilities of every variable, got none of {listed(absent)}")
    return found


def _check_augmented(parents: Mapping[Hashable, Family], class_var: str, source: str) -> None:
    """Raise if a network is no augmented naive Bayes."""
    if parents[class_var]:
        raise ValueError(
            f"class_var: {class_var!r} has parents in {source}, {listed(parents[class_var])}; the class of "
            "an augmented naive Bayes has none"
        )
    without = [name for name, above in parents.items() if name != class_var and class_var not in above]
    if without:
        raise ValueError(
            f"class_var: {class_var!r} is no parent of {listed(without)} in {source}; the class of an "
            "augmented naive Bayes is a parent of all features"
        )
    cycle = find_cycle(parents)
    if cycle:
        raise ValueError(f"{source}: the arcs form a cycle: {' -> '.join(map(str, cycle))}")


def _ordered(family: Family, there: Family, table: Array) -> Array:
    """Return a table with its axes in the order of another family of the same members.

    It owns its data: of a view, the model would protect no more than the view against writing.
    """
    return table.transpose([there.index(member) for member in family]).copy()
