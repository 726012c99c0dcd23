"""Immutable values, and the registry of the classes and functions that files can name.

A frozen dataclass or a named tuple with the decorator ``@record`` is saved by its name and its fields, and
rebuilt from these. The fields contain text, numbers, bools, None, arrays, tuples, mappings or records. A
class checks its fields, because a file may be damaged. A function is saved by its name only.

A new field needs a default, for files that lack it. If a field or a name is removed or changes its meaning,
the format needs a new version, and a reader of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np

EMPTY: Mapping[Any, Any] = MappingProxyType({})
"""An empty mapping, the default of fields."""


class Immutable:
    """Base of the package's frozen dataclasses.

    Arrays among the fields, or in tuples or mappings among them, become read-only, and mappings are copied
    and closed. A copy or an unpickled value is built from the fields, so it is immutable, too.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        self._freeze()

    def _freeze(self, **changed: Any) -> None:
        """Make arrays read-only and close mappings, in all fields or in changed ones."""
        for name, value in (changed or vars(self)).items():
            if isinstance(value, tuple | np.ndarray):
                lock(value)
            elif value is not None and isinstance(value, Mapping) and type(value) is not MappingProxyType:
                self.__dict__[name] = MappingProxyType(dict(value))
                lock(tuple(value.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(_open(getattr(self, field.name)) for field in fields(self))


def _open(value: Any) -> Any:
    """Return a closed mapping as a dict, which can be pickled, and any other value unchanged."""
    return dict(value) if isinstance(value, MappingProxyType) else value


def lock(value: object) -> None:
    """Make an array, or the arrays in a tuple, read-only, together with the arrays that they are views of."""
    arrays = value if isinstance(value, tuple) else (value,)
    if len(arrays) > 1 and np.ndarray not in set(map(type, arrays)):
        return
    for array in arrays:
        if isinstance(array, np.ndarray):
            while array is not None:
                if array.flags.writeable:
                    array.flags.writeable = False
                array = array.base if isinstance(array.base, np.ndarray) else None


R = TypeVar("R", bound=Any)

RECORDS: dict[str, Any] = {}
"""Classes and functions by their names in files."""


def record(value: R) -> R:
    """Register a class or a function for files; a decorator.

    >>> @record
    ... class Pair(tuple): ...
    >>> is_record(Pair), is_record(tuple)
    (True, False)
    """
    name = value.__name__
    if RECORDS.setdefault(name, value) is not value:
        raise ValueError(f"records must have different names; got {name!r} twice.")
    return value


def is_record(value: Any) -> bool:
    """Whether a class or a function is registered for files."""
    return RECORDS.get(getattr(value, "__name__", "")) is value
