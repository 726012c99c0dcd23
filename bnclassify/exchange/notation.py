"""Values as what JSON knows, and back, exactly: every digit of a number, the type of every label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..base.messages import listed, shown, suggestion
from ..base.records import RECORDS, is_record
from ..model.recipes import Step
from ..model.sufficient_statistics import Tally

_KIND = "kind"
"""The key of an object that says what it stands for; an object without is a mapping by text."""

_PLAIN = (str, int, float, bool, type(None))


class UnknownValueError(ValueError):
    """A value that cannot be written, or read; the message says where it stands."""


class Codec(NamedTuple):
    """How values of a type are written as the fields of an object, and made again of these."""

    type: type[Any]
    write: Callable[[Any, str], dict[str, Any]]
    read: Callable[[dict[str, Any], str], Any]


def to_notation(value: Any, where: str) -> Any:
    """Turn a value into lists, objects, text and numbers.

    Parameters
    ----------
    value : object
    where : str
        What the value is, for the message of an error.

    Raises
    ------
    UnknownValueError
        If files cannot hold it, or something in it.
    """
    value = value.item() if isinstance(value, np.generic) else value
    cls = type(value)
    if _is_plain(value):
        return value
    if cls is tuple:
        return [to_notation(item, f"{where}[{i}]") for i, item in enumerate(value)]
    by_text = cls in (dict, MappingProxyType) and all(type(key) is str and _is_plain(key) for key in value)
    if by_text and _KIND not in value:
        return {key: to_notation(item, f"{where}.{key}") for key, item in value.items()}
    for name, codec in CODECS.items():
        if isinstance(value, codec.type):
            return {_KIND: name, **codec.write(value, where)}
    if is_record(cls):
        return {_KIND: cls.__name__, **_write_record(value, where)}
    raise UnknownValueError(f"{where}: {shown(value)} is of type {cls.__name__}")


def _is_plain(value: Any) -> bool:
    """Whether JSON holds a value as it is."""
    if type(value) is str:
        return not any("\ud800" <= sign <= "\udfff" for sign in value)  # half a sign, which UTF-8 lacks
    return type(value) in _PLAIN and not (type(value) is float and not isfinite(value))


def from_notation(written: Any, where: str) -> Any:
    """Make a value again of what was read.

    Raises
    ------
    UnknownValueError
        If it stands for nothing that is known, or what it stands for refuses it.
    """
    if isinstance(written, list):
        return tuple([from_notation(item, f"{where}[{i}]") for i, item in enumerate(written)])
    if not isinstance(written, dict):
        return written
    if _KIND not in written:
        return {key: from_notation(item, f"{where}.{key}") for key, item in written.items()}
    kind = written[_KIND]
    content = {key: item for key, item in written.items() if key != _KIND}
    if not isinstance(kind, str) or not (kind in CODECS or isinstance(RECORDS.get(kind), type)):
        raise UnknownValueError(f"{where}: there is no kind {shown(kind)}; {suggestion(str(kind), RECORDS)}")
    try:
        if kind in CODECS:
            return CODECS[kind].read(content, where)
        return _read_record(RECORDS[kind], content, where)
    except UnknownValueError:
        raise
    except Exception as error:  # whatever a value says that is made of nonsense
        raise UnknownValueError(f"{where}: this makes no {kind}: {error}") from error


def _write_record(value: Any, where: str) -> dict[str, Any]:
    """Return the fields of a record, without those that are None or an empty mapping by default."""
    written = {}
    for name, default in _defaults(type(value)).items():
        item = getattr(value, name)
        empty = item is None or (isinstance(item, Mapping) and not item)
        if not (empty and (default is None or default == {})):
            written[name] = to_notation(item, f"{where}.{name}")
    return written


def _read_record(cls: type[Any], written: dict[str, Any], where: str) -> Any:
    defaults = _defaults(cls)
    strange = [name for name in written if name not in defaults]
    absent = [name for name, default in defaults.items() if default is MISSING and name not in written]
    if strange or absent:
        problem = f"has no {listed(strange)}" if strange else f"needs {listed(absent)}"
        raise UnknownValueError(f"{where}: a {cls.__name__} {problem}")
    return cls(**{name: from_notation(item, f"{where}.{name}") for name, item in written.items()})


def _defaults(cls: type[Any]) -> dict[str, Any]:
    """Return the default of each field of a dataclass or named tuple; MISSING where there is none."""
    if not is_dataclass(cls):
        return {name: cls._field_defaults.get(name, MISSING) for name in cls._fields}
    factories = {f.name: f.default_factory for f in fields(cls) if f.default_factory is not MISSING}
    return {f.name: factories[f.name]() if f.name in factories else f.default for f in fields(cls) if f.init}


def _write_array(array: Any, where: str) -> dict[str, Any]:
    if array.dtype.kind not in "fiub":
        raise UnknownValueError(f"{where}: an array of {array.dtype}")
    written: dict[str, Any] = {} if array.dtype == float else {"dtype": str(array.dtype)}
    if not array.size:
        written["shape"] = list(array.shape)
    values = array.tolist()
    return written | {"values": values if np.isfinite(array).all() else _as_text(values)}


def _as_text(values: Any) -> Any:
    """Write the numbers of nested lists that JSON does not know, inf and nan, as text."""
    if isinstance(values, list):
        return [_as_text(value) for value in values]
    return values if isfinite(values) else str(values)


def _read_array(written: dict[str, Any], where: str) -> Any:
    dtype = np.dtype(written.get("dtype", "float64"))
    if dtype.kind not in "fiub":
        raise UnknownValueError(f"{where}: an array of {dtype}")
    array = np.array(written["values"], dtype=dtype)
    return array.reshape(written["shape"]) if "shape" in written else array


@dataclass(frozen=True)
class Forgotten:
    """Stands for a function that a file could not hold, and says so when it is called."""

    name: str

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Raise a ValueError."""
        raise ValueError(
            f"x: was loaded from a file, which could not hold the code of {shown(self.name)} that it was "
            "learned by; learn it again from the data"
        )


def can_write(step: Step) -> bool:
    """Whether files can hold a step: it calls a function that they know by name, with values."""
    try:
        to_notation(step.settings, step.name)
    except UnknownValueError:
        return False
    return is_record(step.function)


def _write_tally(tally: Tally, where: str) -> dict[str, Any]:
    """Write counts, and their prior unless that is a function: without it no rows can be added."""
    counts = {"counts": to_notation(tally.counts, f"{where}.counts")}
    try:
        return counts | {"prior": to_notation(tally.prior, f"{where}.prior")}
    except UnknownValueError:
        return counts | {"prior": None}


def _write_step(step: Step, where: str) -> dict[str, Any]:
    if not can_write(step):
        return {"name": step.name}
    settings = to_notation(step.settings, f"{where}.settings")
    written: dict[str, Any] = {"name": step.name, "function": step.function.__name__}
    return written | ({"settings": settings} if settings else {}) | ({"draws": True} if step.draws else {})


def _read_step(written: dict[str, Any], where: str) -> Step:
    name, function = written["name"], written.get("function")
    if function is None:
        return Step(name, Forgotten(name))
    registered = RECORDS.get(function)
    if registered is None or isinstance(registered, type):
        raise UnknownValueError(f"{where}: there is no function {shown(function)}")
    settings = from_notation(written.get("settings", {}), f"{where}.settings")
    return Step(name, registered, settings, written.get("draws", False))


CODECS: dict[str, Codec] = {
    "Step": Codec(Step, _write_step, _read_step),
    "Tally": Codec(Tally, _write_tally, lambda written, where: _read_record(Tally, written, where)),
    "array": Codec(np.ndarray, _write_array, _read_array),
    "number": Codec(
        float, lambda value, where: {"value": str(value)}, lambda written, where: float(written["value"])
    ),
    "text": Codec(
        str,
        lambda value, where: {"points": [ord(sign) for sign in value]},
        lambda written, where: "".join(map(chr, written["points"])),
    ),
    "list": Codec(
        list,
        lambda value, where: {"items": to_notation(tuple(value), where)},
        lambda written, where: list(from_notation(written["items"], where)),
    ),
    "mapping": Codec(
        Mapping,
        lambda value, where: {"items": to_notation(tuple(value.items()), where)},
        lambda written, where: dict(from_notation(written["items"], where)),
    ),
    "interval": Codec(
        pd.Interval,
        lambda value, where: {
            "left": to_notation(value.left, where),
            "right": to_notation(value.right, where),
            "closed": value.closed,
        },
        lambda written, where: pd.Interval(
            from_notation(written["left"], where), from_notation(written["right"], where), written["closed"]
        ),
    ),
}
"""What files know besides records, text, numbers and tuples, by the name that stands there."""
