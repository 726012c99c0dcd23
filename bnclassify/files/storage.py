"""Files of models of any type, as JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import numpy as np
import pandas as pd

from ..accessors import check_model, members
from ..model import CountedModel, Model, Tally, check_counted
from ..prediction import predict
from ..scores import scores_at
from ..tools.checks import Instance, must_be
from ..tools.messages import listed, shown, warn
from .notation import Reader, UnregisteredError, Writer, can_save_step, pieces_of_json_text

_FORMAT = "bnclassify model"
_VERSION = 7
_HEADER = re.compile(rb'\s*\{\s*"format"\s*:\s*"bnclassify model"')


def save(x: Model, path: str | os.PathLike[str]) -> None:
    """Save a model to a file, with all its parts.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters.
    path : str or path
        Name of the file. An existing file is replaced, and stays unchanged if
        writing fails.

    Raises
    ------
    OSError, KeyError, TypeError, ValueError
        If the model contains an unsupported value, such as labels that are
        dates.

    Warns
    -----
    UserWarning
        If the model was learned by or with a function of your own, because a
        file contains no code. The loaded model predicts the same, but `cv`
        cannot fit it again.

    Notes
    -----
    The file is JSON, and readable except for arrays of more than 4,096 numbers,
    which are written as bytes (base64). `load` returns an identical model, with
    every digit of a number and the type of every label (text, integers, floats,
    bools, None, tuples and intervals of pandas). The file contains no code, so
    opening a file of unknown origin runs none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bnclassify import bnc, load, load_pima, predict, save
    >>> model = bnc("tan_cl", "diabetes", load_pima(), smooth=1, discretize="mdlp")
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "diabetes.json"))
    ...     again = load(Path(folder, "diabetes.json"))
    >>> predict(again, {"age": 51, "glucose": 171}, prob=True).round(2)
    diabetes    no   yes
    0         0.13  0.87
    """
    model, file, writer = check_model(x), check_file_name(path), Writer()
    try:
        written = writer.write(model, "x")
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "written_by": _package_and_version(),
            "shared": writer.shared,
            "model": written,
        }
        text = "".join(pieces_of_json_text(content))
    except UnregisteredError as error:
        raise TypeError(
            f"x must consist of classes that files know; got {error}. Decorate this class with "
            "@record of bnclassify.tools.immutable."
        ) from error
    except (ValueError, RecursionError) as error:  # also of 4,300 digits, and of nesting
        raise ValueError(
            f"x must contain only text, numbers, bools, None, tuples and intervals; got {error}. "
            "Rename such labels, for example with df[column].cat.rename_categories(str), "
            "and refit the model."
        ) from error
    steps = () if model.recipe is None else (model.recipe.structure, model.recipe.parameters)
    lost = [step.name for step in steps if step is not None and not can_save_step(step)]
    if lost:
        warn(
            f"{listed(lost)} uses a function or class that is not of this package, and a file "
            "contains no code. The loaded model predicts the same, but cv cannot run its recipe."
        )
    replace_file(file, (text + "\n").encode("utf-8", "surrogatepass"))


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model from a file written by `save`.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    BNC, AODE or another model
        The saved model.

    Raises
    ------
    OSError, KeyError, TypeError, ValueError
        If the file was not written by `save`, is damaged or has another version
        of the format. The message names the bnclassify that wrote it.

    Notes
    -----
    Types, ranges and shapes of all fields are checked, so a damaged file raises
    an error. The check does not show who wrote the file.

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
    file, source = check_file_name(path), os.fspath(path)
    hint = "Use read_bif for files of write_bif." if file.suffix == ".bif" else ""
    with file.open("rb") as opened:
        start = opened.read(4096)
    if not _HEADER.match(start):  # before the whole file is read
        found = start[:40].decode("utf-8", "replace")
        raise ValueError(must_be(source, "a file written by save", found, hint))
    reason = "the file is damaged"
    try:
        written: dict[str, object] = json.loads(file.read_bytes().decode("utf-8", "surrogatepass"))
        writer = written.get("written_by", "another bnclassify")
        if writer != (own := _package_and_version()):
            reason = f"the file was written by {str(writer)[:60]}, and this is {own}"
        if written.get("version") != _VERSION or type(written.get("version")) is not int:
            reason = "the file has another format" if writer == _package_and_version() else reason
            hint = "Use the bnclassify that wrote the file, or fit the model again."
            raise ValueError(
                must_be("the format", f"version {_VERSION}", written.get("version"), hint)
            )
        reader = Reader(Instance(list, "a list").check("shared", written.get("shared", [])))
        content = written.get("model")
        model: object = reader.read(content, "model") if isinstance(content, dict) else content
        if not isinstance(model, Model):
            raise ValueError(f"the file must contain a model; got {shown(model)}")
        _check_consistency_of_model(model)
    except RecursionError:
        raise ValueError(f"{source}: {reason}: it is nested too deeply") from None
    except Exception as error:  # any error of inconsistent parts
        raise ValueError(f"{source}: {reason}: {error}") from error
    return model


def _package_and_version() -> str:
    from importlib.metadata import version  # slow to import

    return f"bnclassify {version('pybnclassify')}"


def _check_consistency_of_model(x: Model) -> None:
    repr(x)
    known = x.training_columns
    strange = [name for name in x.features if known and name not in known]
    if strange:
        raise ValueError(f"the recipe has no {listed(strange)}")
    merged = x.merger.columns
    intervals = {} if x.levels is None else x.discretizer.intervals
    for name, labels in intervals.items():
        is_read = name in x.features and name not in merged
        if is_read and x.levels_by_name[name][: len(labels)] != labels:
            raise ValueError(f"the cut points of {shown(name)} do not fit its levels")
    for member in members(x) if "members" in x.__dataclass_fields__ else ():
        _check_consistency_of_model(member)
    for name, table in x.distributions() if isinstance(x, CountedModel) else ():
        sums = table.sum(axis=0) if len(table) else 1.0  # the table of a number is empty
        # 1e-6: largest difference of a sum from 1; those of `lp` are more precise
        if not np.all(np.abs(sums - 1) <= 1e-6):
            raise ValueError(f"the probabilities of {shown(name)} do not sum to 1")
    if not x.fitted:
        return
    _check_shapes_of_tables(x)
    tally = x.learned.get("counts")
    if isinstance(tally, Tally) and tally.prior is not None:
        # replace checks the tables
        _check_shapes_of_tables(replace(check_counted(x).tabulate(tally)))
    # A model that requires every feature raises an error, and so does pandas for some labels.
    with suppress(ValueError, OverflowError):
        names = pd.Index(list(x.features), dtype=object, tupleize_cols=False)
        predict(x, pd.DataFrame([[None] * len(names)], columns=names))


def _check_shapes_of_tables(x: Model) -> None:
    """Raise unless tables fit the levels, in a row of first levels and zeros, and an empty one."""
    if x.one_class:
        codes = np.tile(np.array([0, -1], dtype=np.int8), (len(x.features), 1))
        rows = x.rows_from_codes(codes, {name: np.array([0.0, np.nan]) for name in x.features})
        if scores_at(x.score, rows).shape != (2, len((x.levels or ((),))[-1])):
            raise ValueError("tables do not fit the classes")


def check_file_name(path: object) -> Path:
    return Path(Instance(str | os.PathLike, "the name of a file").check("path", path))


def replace_file(path: Path, content: bytes) -> None:
    """Write a new file and replace the old one by it, so that there is always a complete file."""
    target = Path(os.path.realpath(path))  # links stay links
    if target.exists() and not target.is_file():
        target.write_bytes(content)  # for example a device; a folder raises an error
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path must be in an existing folder; got {str(path)!r}. Create the folder."
        )
    temporary = target.with_name(f".{token_hex(8)}.part")
    try:
        temporary.write_bytes(content)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:  # including an interrupt
        temporary.unlink(missing_ok=True)
        raise
