"""Files of models of any type, as JSON.

Values are written with every digit of numbers, the type of each label, and shared parts once.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from base64 import b64decode, b64encode
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType, NoneType
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np
import pandas as pd

from ..accessors import check_model, members
from ..model import CountedModel, Model, Step, Tally, check_counted
from ..prediction import predict
from ..scores import scores_at
from ..tools.arrays import ArrayOf
from ..tools.checks import Instance, must_be
from ..tools.immutable import RECORDS, Immutable, StackedArrays, is_record
from ..tools.messages import listed, shown, to_python_scalar, warn

_KIND = "kind"
"""The key of an object with the type of the value; without it, the object is a mapping by text."""

_SHARED = "shared"
"""The name of objects that refer to a shared value by its position."""

_PLAIN = (str, int, float, bool, NoneType)

_MOST_VALUES = 2**24
"""Maximum number of values in a file, in which a shared value counts at each reference."""


_ALTERNATIVES = re.compile(r" \| (?![^\[]*\])")
"""What separates the types of an annotation, outside of brackets."""

_TYPES: dict[str, type[Any]] = {
    **{cls.__name__: cls for cls in (bool, int, float, str, tuple, Mapping, Model, Step)},
    **dict.fromkeys(["Array", "Codes", "Counts", "Mask", "Positions"], np.ndarray),
    "Levels": tuple,
    "None": NoneType,
}
"""Types that annotations of fields name, besides records."""


class UnknownValueError(ValueError):
    """A value that cannot be written or read; the message names its place."""

    def __init__(self, where: str, problem: str) -> None:
        place = where if len(where) <= 80 else f"{where[:30]}…{where[-48:]}"
        super().__init__(f"{place}: {problem if len(problem) <= 200 else problem[:199] + '…'}")


class UnregisteredError(UnknownValueError):
    """A value of a class that files do not know."""


Fields: TypeAlias = dict[str, Any]
"""The fields of an object of JSON, by name."""


class Codec(NamedTuple):
    """Functions that write values of a type as the fields of an object, and read them."""

    type: type[Any]
    write: Callable[[Writer, Any, str], Fields]
    read: Callable[[Reader, Fields, str], Any]


class Writer:
    """Writes values as lists, objects, text and numbers; `shared` lists repeated values."""

    def __init__(self) -> None:
        self.shared: list[Fields] = []
        # By id of a value: the value, which is kept alive, and its JSON.
        self._written: dict[int, tuple[object, Fields]] = {}
        self._positions: dict[int, int] = {}  # among the shared values, by id

    def write(self, value: object, where: str) -> object:
        """Return a value as JSON, or raise an UnknownValueError for an unsupported value."""
        value = to_python_scalar(value)
        if type(value) in _PLAIN and not (isinstance(value, float) and not isfinite(value)):
            return value
        if id(value) in self._written:
            return self._reference_to_shared_value(self._written[id(value)][1])
        written = self._json_of_new_value(value, where)
        if isinstance(written, dict) and _KIND in written:
            self._written[id(value)] = (value, written)
        return written

    def _reference_to_shared_value(self, written: Fields) -> Fields:
        """Return a reference to a repeated value; its first occurrence becomes a reference, too."""
        if id(written) not in self._positions:
            self._positions[id(written)] = position = len(self.shared)
            self.shared.append(written.copy())
            written.clear()
            written.update({_KIND: _SHARED, "number": position})
        return written

    def _json_of_new_value(self, value: object, where: str) -> object:
        cls = type(value)
        if isinstance(value, tuple) and cls in (tuple, StackedArrays):
            return [self.write(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, dict | MappingProxyType) and all(
            type(key) is str and key != _KIND for key in value
        ):
            return {key: self.write(item, f"{where}.{key}") for key, item in value.items()}
        for name, codec in CODECS.items():
            if isinstance(value, codec.type):
                return {_KIND: name, **codec.write(self, value, where)}
        if is_record(cls):
            return {_KIND: cls.__name__, **self.write_fields(value, where)}
        if is_dataclass(cls) or hasattr(cls, "_fields"):
            raise UnregisteredError(where, f"a value of the class {cls.__name__}")
        raise UnknownValueError(where, f"{shown(value)} is of type {cls.__name__}")

    def write_fields(self, value: object, where: str) -> Fields:
        """Return the fields of a record, without defaults that are None or an empty mapping."""
        written: Fields = {}
        for name, default in _field_defaults(cast("Hashable", type(value))).items():
            item: object = getattr(value, name)
            empty = item is None or (isinstance(item, Mapping) and not item)
            if not (empty and (default is None or default == {})):
                written[name] = self.write(item, f"{where}.{name}")
        return written


class Reader:
    """Reads the values of a writer, and checks their types."""

    def __init__(self, shared: list[object]) -> None:
        self._shared = shared
        self._values: dict[int, object] = {}
        self._sizes: dict[int, int] = {}
        self._n = 0

    def read(self, written: object, where: str) -> Any:
        """Return the value, or raise an UnknownValueError if it is unknown or impossible."""
        self._n += 1
        if isinstance(written, list):
            items: list[object] = written
            if all(type(item) in _PLAIN for item in items):
                return tuple(items)
            return tuple([self.read(item, f"{where}[{i}]") for i, item in enumerate(items)])
        if not isinstance(written, dict):
            return written
        content: dict[str, object] = dict(written)
        if _KIND not in content:
            return {key: self.read(item, f"{where}.{key}") for key, item in content.items()}
        kind: object = content.pop(_KIND)
        if kind == _SHARED:
            return self._read_shared_value(content.get("number"), where)
        if not isinstance(kind, str) or not (kind in CODECS or isinstance(RECORDS.get(kind), type)):
            raise UnknownValueError(
                where, f"unknown type {shown(kind)}; if it is your own, import its module first"
            )
        try:
            if kind in CODECS:
                return CODECS[kind].read(self, content, where)
            return self.read_fields(RECORDS[kind], content, where)
        except (UnknownValueError, RecursionError):
            raise
        except Exception as error:  # classes raise errors of many types
            raise UnknownValueError(where, f"this is not a valid {kind} ({error})") from error

    def _read_shared_value(self, position: object, where: str) -> object:
        """Return the shared value at a position, which is read once."""
        if type(position) is not int or not 0 <= position < len(self._shared):
            raise UnknownValueError(where, f"unknown shared value {shown(position)}")
        if position not in self._values:
            self._values[position] = None  # a value within itself raises an error
            before = self._n
            self._values[position] = self.read(self._shared[position], f"shared[{position}]")
            self._sizes[position] = self._n - before
        self._n += self._sizes.get(position, 1)
        if self._n > _MOST_VALUES:
            raise UnknownValueError(where, f"there are more than {_MOST_VALUES:,} values")
        return self._values[position]

    def read_fields(self, cls: type[Any], written: Fields, where: str) -> Any:
        defaults = _field_defaults(cast("Hashable", cls))
        strange = [name for name in written if name not in defaults]
        required = [name for name, default in defaults.items() if default is MISSING]
        absent = [name for name in required if name not in written]
        if strange or absent:
            problem = f"has no {listed(strange)}" if strange else f"needs {listed(absent)}"
            raise UnknownValueError(where, f"{cls.__name__} {problem}")
        content = {name: self.read(item, f"{where}.{name}") for name, item in written.items()}
        levels = content.get("levels")
        for labels in levels if isinstance(levels, tuple) else ():
            typed = [(type(label), label) for label in labels] if isinstance(labels, tuple) else []
            if len(set(typed)) < len(typed):
                raise UnknownValueError(where, f"labels must differ; got {listed(labels)}")
        for name, item in content.items():
            _check_type_of_field(cls, name, item)
        if issubclass(cls, Immutable):
            cls.check_bounds(content)
        return cls(**content)


@cache
def _field_defaults(cls: type[Any]) -> dict[str, object]:
    """Return the default of each field of a dataclass or named tuple; MISSING if it has none."""
    if not is_dataclass(cls):
        return {name: cls._field_defaults.get(name, MISSING) for name in cls._fields}
    factories = {f.name: f.default_factory for f in fields(cls) if f.default_factory is not MISSING}
    return {
        f.name: factories[f.name]() if f.name in factories else f.default
        for f in fields(cls)
        if f.init
    }


def _check_type_of_field(cls: type[Any], field: str, value: object) -> None:
    """Raise a ValueError unless a value is of a type that the annotation of its field names."""
    types = _field_types(cast("Hashable", cls)).get(field)
    if types is not None and not isinstance(value, types):
        names = listed([each.__name__ for each in types])
        raise ValueError(f"{field} must be of type {names}; got {shown(value)}.")


@cache
def _field_types(cls: type[Any]) -> dict[str, tuple[type[Any], ...]]:
    """Return the types of the fields whose annotations, which are text, name known types only."""
    annotations: dict[str, object] = {}
    for owner in reversed(cls.__mro__):
        annotations |= vars(owner).get("__annotations__", {})
    result = {}
    for field, annotation in annotations.items():
        names = [name.split("[")[0] for name in _ALTERNATIVES.split(str(annotation))]
        found = [_TYPES.get(name, RECORDS.get(name)) for name in names]
        types = [each for each in found if isinstance(each, type)]
        if len(types) == len(found):
            result[field] = (*types, int) if float in types else tuple(types)
    return result


def _write_array(writer: Writer, array: ArrayOf[Any], where: str) -> Fields:
    if array.dtype.kind not in "fiub":
        raise UnknownValueError(where, f"an array of {array.dtype}")
    written: Fields = {} if array.dtype == float else {"dtype": str(array.dtype)}
    # 2**12: maximum size of an array whose numbers are written one by one; larger arrays are bytes
    if array.size > 2**12:
        content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        return written | {"shape": list(array.shape), "base64": b64encode(content).decode("ascii")}
    if not array.size:
        written["shape"] = list(array.shape)
    return written | {"values": array}  # which `pieces_of_json_text` writes


def pieces_of_json_text(value: object, indent: int = 0) -> Iterator[str]:
    """Yield the text of a value as JSON; a list without lists or objects takes one line.

    Arrays of more than two axes are written part by part, because lists of
    their numbers need much memory.
    """
    start, end = "\n" + " " * (indent + 1), "\n" + " " * indent
    if isinstance(value, np.ndarray) and value.ndim < 3:
        finite = np.isfinite(value)  # JSON has no other numbers, which are written as text
        array = value if finite.all() else np.where(finite, value.astype(object), value.astype(str))
        text = json.dumps(array.tolist())
        if value.ndim == 2 and value.size:
            text = f"[{start}{text[1:-1].replace('], [', f'],{start}[')}{end}]"
        yield text
        return
    value = list(value) if isinstance(value, np.ndarray) else value
    entries: list[tuple[str, object]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            entries.append((f"{json.dumps(key, ensure_ascii=False)}: ", item))
    elif isinstance(value, list) and not all(type(item) in _PLAIN for item in value):
        entries = [("", item) for item in value]
    if not entries:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)
        return
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    for i, (name, item) in enumerate(entries):
        yield f"{',' if i else opened}{start}{name}"
        yield from pieces_of_json_text(item, indent + 1)
    yield end + closed


def _read_array(reader: Reader, written: Fields, where: str) -> ArrayOf[Any]:
    dtype = np.dtype(str(written.get("dtype", "float64")))
    if dtype.kind not in "fiub":
        raise UnknownValueError(where, f"an array of {dtype}")
    if "base64" in written:
        content = b64decode(written["base64"], validate=True)
        array = np.frombuffer(content, dtype.newbyteorder("<")).astype(dtype, copy=False)
    else:
        array = np.array(written["values"], dtype=dtype)
    # 2**20: maximum length of an axis of an empty array, from which other arrays may be made
    if not array.size and max(written.get("shape", [0])) > 2**20:
        raise UnknownValueError(where, "an empty array must not be so long")
    return array.reshape(written["shape"]) if "shape" in written else array


@dataclass(frozen=True)
class MissingFunction:
    """A function whose code is not in the file."""

    name: str

    def __call__(self, *arguments: object, **settings: object) -> NoReturn:
        raise ValueError(
            "x must have a recipe that can run; the file of the model does not contain the code of "
            f"{shown(self.name)}. Learn the model again."
        )


def can_save_step(step: Step) -> bool:
    """Whether a step can be saved: its function is a record, and its settings are values."""
    try:
        Writer().write(step.settings, step.name)
    except UnknownValueError:
        return False
    return is_record(step.function)


def _write_tally(writer: Writer, tally: Tally, where: str) -> Fields:
    """Write counts and, unless it is a function, their prior, which is needed to add rows."""
    counts = {"counts": writer.write(tally.counts, f"{where}.counts")}
    try:
        return counts | {"prior": writer.write(tally.prior, f"{where}.prior")}
    except UnknownValueError:
        return counts | {"prior": None}


def _write_step(writer: Writer, step: Step, where: str) -> Fields:
    if not can_save_step(step):
        return {"name": step.name}
    written: Fields = {"name": step.name, "function": step.function.__name__}
    if settings := writer.write(step.settings, f"{where}.settings"):
        written["settings"] = settings
    if step.draws:
        written["draws"] = True
    return written


def _read_step(reader: Reader, written: Fields, where: str) -> Step:
    name, function = str(written["name"]), written.get("function")
    settings = reader.read(written.get("settings", {}), f"{where}.settings")
    _check_type_of_field(Step, "settings", settings)
    if function is None:
        return Step(name, MissingFunction(name))
    registered = RECORDS.get(function) if isinstance(function, str) else None
    if registered is None or isinstance(registered, type):
        raise UnknownValueError(where, f"unknown function {shown(function)}")
    return Step(name, registered, settings, written.get("draws", False))


CODECS: dict[str, Codec] = {
    "Step": Codec(Step, _write_step, _read_step),
    "Tally": Codec(
        Tally, _write_tally, lambda reader, *written: reader.read_fields(Tally, *written)
    ),
    "array": Codec(np.ndarray, _write_array, _read_array),
    "number": Codec(
        float,
        lambda writer, value, where: {"value": str(value)},
        lambda reader, written, where: float(written["value"]),
    ),
    "list": Codec(
        list,
        lambda writer, value, where: {"items": [writer.write(item, where) for item in value]},
        lambda reader, written, where: [reader.read(item, where) for item in written["items"]],
    ),
    "mapping": Codec(
        Mapping,
        lambda writer, value, where: {"items": writer.write(tuple(value.items()), where)},
        lambda reader, written, where: dict(reader.read(written["items"], where)),
    ),
    "interval": Codec(
        pd.Interval,
        lambda writer, value, where: {
            **{side: writer.write(getattr(value, side), where) for side in ("left", "right")},
            "closed": value.closed,
        },
        lambda reader, written, where: pd.Interval(
            reader.read(written["left"], where),
            reader.read(written["right"], where),
            written["closed"],
        ),
    ),
}
"""Types of values besides records, text, numbers and tuples, by their names in files."""


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
