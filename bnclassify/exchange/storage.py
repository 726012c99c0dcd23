"""Files of models: any kind, whole, as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from ..base.messages import listed, shown, warn
from ..model.model import Model, check_model
from ..network.bnc import Graph
from ..network.ensemble import Ensemble
from .documents import read_document, write_document
from .notation import UnknownValueError, can_write, from_notation, to_notation
from .replacement import as_path, replace_file

_FORMAT = "bnclassify model"

_VERSION = 1

_ROUNDING = 1e-6
"""How far from 1 a distribution may sum up; those that `lp` makes are much nearer."""


def save(x: Model, path: str | os.PathLike[str]) -> None:
    r"""Save a model to a file, whole: structure, levels, tables, recipe and all else that it carries.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.
    path : str or path
        Where to write. A file that is there is replaced, and stays as it was if that fails.

    Raises
    ------
    OSError
        If the file cannot be written.
    TypeError
        If ``x`` is no model.
    ValueError
        If files cannot hold something in it, such as labels that are dates; the message tells what.

    Warns
    -----
    UserWarning
        If it was learned by a function of your own, or with one as an argument: a file holds no code. What
        `load` gives back predicts the same, but cannot be learned again by `cv`.

    Notes
    -----
    The file is JSON that people can read. `load` reads back what was saved, every digit of a number and
    the type of every label: text, integers, floats, bools, None, tuples and intervals of pandas. It holds
    no code, so opening a file of strangers runs none, as unpickling would.

    For other programs there is `write_bif`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bnclassify import load, load_car, lp, nb, save
    >>> car = load_car()
    >>> model = lp(nb("class", car, features=["safety"]), car, smooth=1)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "car.json")
    ...     save(model, path)
    ...     text, again = path.read_text(), load(path)
    >>> print(*text.splitlines()[:8], sep="\n")
    {
      "format": "bnclassify model",
      "version": 1,
      "model": {
        "kind": "BNC",
        "class_var": "class",
        "families": [["safety", "class"], ["class"]],
        "levels": [["low", "med", "high"], ["unacc", "acc", "good", "vgood"]],
    """
    model, file = check_model(x), as_path(path)
    try:
        notation = to_notation(model, "x")
    except UnknownValueError as error:
        raise ValueError(
            f"save: a file cannot hold {error}; it holds text, numbers, bools, None, tuples and intervals. "
            "Rename labels that are none of these, for example with "
            "df[column].cat.rename_categories(str), and learn again"
        ) from error
    lost = _lost_steps(model)
    if lost:
        warn(
            f"save: {listed(lost)} calls a function that is not of this package, and a file holds no code; "
            "what load gives back predicts the same, but cv cannot learn it again"
        )
    document = write_document({"format": _FORMAT, "version": _VERSION, "model": notation})
    replace_file(file, document.encode("utf-8"))


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model from a file of `save`.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    BNC, AODE or another model
        What was saved.

    Raises
    ------
    OSError
        If the file cannot be opened.
    TypeError
        If ``path`` is no name of a file.
    ValueError
        If it is no file of `save`, is of a later version than this package knows, or is damaged; the
        message tells where.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bnclassify import aode, load, load_car, lp, predict, save
    >>> car = load_car()
    >>> model = lp(aode("class", car), car, smooth=1)
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "car.json"))
    ...     again = load(Path(folder, "car.json"))
    >>> predict(again, car).equals(predict(model, car))
    True
    """
    file, source = as_path(path), os.fspath(path)
    try:
        written = read_document(file.read_text(encoding="utf-8"))
    except ValueError as error:  # UnicodeDecodeError is one
        hint = "; read_bif reads files of write_bif" if file.suffix == ".bif" else ""
        raise ValueError(f"{source}: expected a file of save, got what is no JSON ({error}){hint}") from error
    if not isinstance(written, dict) or written.get("format") != _FORMAT:
        raise ValueError(f"{source}: expected a file of save, got other JSON, {shown(written)}")
    version = written.get("version")
    if version != _VERSION or type(version) is not int:
        raise ValueError(
            f"{source}: expected version {_VERSION} of the format, got {shown(version)}; a later version is "
            "read by a later bnclassify: update it"
        )
    try:
        model = from_notation(written.get("model"), "model")
    except UnknownValueError as error:
        raise ValueError(f"{source}: the file is damaged, or of a later bnclassify: {error}") from error
    if not isinstance(model, Model):
        raise ValueError(f"{source}: expected a model in the file, got {shown(model)}")
    if model.fitted:
        _check_tables(model, source)
    return model


def _check_tables(x: Model, source: str) -> None:
    """Raise unless the tables of a model are such that it can predict."""
    for network in _networks(x):
        for family, table in zip(network.families, network.cpts or (), strict=True):
            if not ((table >= 0).all() and (np.abs(table.sum(axis=0) - 1) <= _ROUNDING).all()):
                raise ValueError(f"{source}: the probabilities of {shown(family[0])} do not sum to 1")
    if not x.one_class:
        return
    row = np.zeros((len(x.features), 1), dtype=np.int8)
    try:
        fits = x._log_joint(row).shape == (1, len((x.levels or ((),))[-1]))
    except Exception as error:  # whatever comes of arrays that do not fit each other
        raise ValueError(f"{source}: the file is damaged, its tables do not fit: {error}") from error
    if not fits:
        raise ValueError(f"{source}: the file is damaged, its tables do not fit its classes")


def _networks(x: Model) -> Iterator[Graph]:
    """Yield the networks that a model holds one by one."""
    if isinstance(x, Graph):
        yield x
    elif isinstance(x, Ensemble):
        for member in x.members:
            yield from _networks(member)


def _lost_steps(x: Model) -> list[str]:
    """Return the names of the steps of the recipe that no file can hold."""
    if x.recipe is None:
        return []
    steps = (x.recipe.structure, x.recipe.parameters)
    return [step.name for step in steps if step is not None and not can_write(step)]
