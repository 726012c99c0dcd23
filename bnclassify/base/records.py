"""Registry of the classes whose values files can contain, and of the functions that files can name.

A frozen dataclass or a named tuple with the decorator ``@record`` is saved by its name and its fields, and
rebuilt from these. The fields contain text, numbers, bools, None, arrays, tuples, mappings or records. A
class checks its fields, because a file may be damaged. A function is saved by its name only.

A new field needs a default, for files that lack it. If a field or a name is removed or changes its meaning,
the format needs a new version, and a reader of both.
"""

from __future__ import annotations

from typing import Any, TypeVar

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
