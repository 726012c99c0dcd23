"""Files in the Interchange Format (BIF), which bnlearn, pgmpy and pyAgrum also read and write."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain, count, product
from typing import Any

from ..base.arrays import Array
from ..base.checks import OneOf
from ..base.messages import listed
from ..base.records import record
from ..frames.encoding import check_name
from ..frames.schema import Dataset
from ..functions.parameters import lp
from ..learners.fixed import fixed_again, fixed_network
from ..model.model import Model, check_coded
from ..model.questions import values, vars
from ..model.recipes import Step
from ..model.traces import params
from ..network.classifiers import BNC
from .bif_grammar import BIFReader
from .storage import as_path, replace_file

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
    OSError
        If the file cannot be written.
    TypeError
        If `x` is an ensemble; write each of ``members(x)``.
    ValueError
        If the model has no parameters.

    Notes
    -----
    Probabilities are written with all digits. Names and labels are written as text. The format allows
    names of letters, digits and ``_ - .``, and labels without ``, ; ( ) { } "``, ``//`` and ``/*`` and
    with single spaces between words only. Others are replaced by allowed ones: ``number of doors`` by
    ``number_of_doors``, the interval ``(-inf, 5.1]`` of `discretize` by ``from_minus_inf_to_5_1``.

    pgmpy 1.1 reads all such files, except for names that differ only in case and single levels with
    spaces. bnlearn reads them, except for variables of one level and, in some versions, names with ``-``.
    pyAgrum's reader keeps 32 bits of a number and raises an error unless labels are ASCII words and
    integers, for keywords of the format such as ``default``, and for variables of one level;
    `to_pyagrum` accepts them.

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
    model, file = check_coded(x, "write_bif"), as_path(path)
    tables, labels = params(model), values(model)
    names = dict(zip(vars(model), _as_words(vars(model), _NAME), strict=True))
    words = {name: _as_words(v, _LABEL) for name, v in labels.items()}
    lines = ["network unknown {", "}"]
    for name in vars(model):
        # bnlearn requires spaces and line breaks in these places.
        lines += [f"variable {names[name]} {{"]
        lines += [f"  type discrete [ {len(words[name])} ] {{ {', '.join(words[name])} }};", "}"]
    for family in model.families:
        label_words = [words[member] for member in family]
        lines += _table_lines([names[member] for member in family], label_words, tables[family[0]])
    replace_file(file, "\n".join([*lines, ""]).encode("utf-8"))


def _as_words(items: Sequence[Any], allowed: re.Pattern[str]) -> list[str]:
    """Return a different allowed text for each item, unchanged if possible."""
    texts = list(map(str, items))
    taken = set(filter(allowed.fullmatch, texts))
    words: dict[str, None] = {}
    for text in texts:
        word = text
        if text in words or not allowed.fullmatch(text):
            stem = _word_of(text)
            trials = chain([stem], (f"{stem}_{number}" for number in count(2)))
            word = next(word for word in trials if word not in taken and word not in words)
        words[word] = None
    return list(words)


def _word_of(text: str) -> str:
    """Return an allowed word for a text, which contains the ends of an interval."""
    text = re.sub(r"\((\S+), (\S+)[\])]", r"from_\1_to_\2", text)
    text = re.sub(r"(?<![^_])-(?=\d|inf)", "minus_", text)
    return re.sub(r"[\W_]+", "_", text).strip("_") or "_"


def _table_lines(family: list[str], words: list[list[str]], table: Array) -> list[str]:
    """Write a table with one line per configuration of the parents."""
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
        Name of the class variable. It may have parents, and need not be a parent of all features.

    Returns
    -------
    BNC
        A model with parameters, with features, levels and parents in the order of the file.

    Raises
    ------
    KeyError
        If the file has no variable `class_var`.
    OSError
        If the file cannot be opened.
    TypeError
        If `path` is not the name of a file, or `class_var` is not a name.
    ValueError
        If the file breaks the rules of the format, or a table would be too large; the message
        contains the line. If the arcs form a cycle.

    Notes
    -----
    All names and labels are text. Probabilities whose sum differs from 1 by less than 0.011 are divided by
    their sum.

    A file does not contain the method of estimation. Therefore, `cv` keeps the arcs and estimates tables
    with ``smooth=1``; for other settings, use ``cv(lp(x, df, smooth=...), df)``. To evaluate the tables
    of the file, use ``accuracy(predict(x, df), df[class_var])``.

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
    check_name(class_var)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{source} must be text in UTF-8; got {error}. Unpack or convert the file."
        ) from error
    reader = BIFReader(text, source)
    family_tables, variables = reader.read(), reader.variables
    OneOf(variables, f"a variable of {source}").check("class_var", class_var)
    absent = [name for name in variables if name not in family_tables]
    if absent:
        raise ValueError(f"{source} must have probabilities of every variable; got none of {listed(absent)}.")
    parents = {name: family_tables[name][0][1:] for name in variables}
    structure = fixed_network(class_var, parents, Step("read_bif", fixed_again), origin=source)
    cpts = []
    for family in structure.families:
        file_family, table = family_tables[family[0]]
        # a copy, because the data of a view are writable
        cpts.append(table.transpose([file_family.index(member) for member in family]).copy())
    return replace(
        structure,
        levels=tuple(variables[name] for name in vars(structure)),
        cpts=tuple(cpts),
        recipe=structure.recipe and replace(structure.recipe, parameters=Step("read_bif", tables_again)),
    )


@record
def tables_again(x: Model, dataset: Dataset) -> Model:
    """Estimate tables with one pseudo-count, because a file does not contain the method of estimation."""
    return lp(x, dataset, smooth=1)
