"""What files can hold: classes of values, and functions by name, each named here once, where it is defined.

``@record`` above a frozen dataclass or a named tuple is all that a new kind of value needs to be saved: a
file says its name and its fields, and reading makes it again from these. The fields hold text, numbers,
bools, None, arrays, tuples and mappings, or records themselves. What is made checks its fields, because
a file may be damaged. ``@record`` above a function lets the recipes of saved models call it again; a file
says its name and nothing else, so it never holds code.

A field that comes later has a default, for the files that lack it. A field or a name that goes, or means
something else, needs a new version of the format and a reader that knows both.
"""

from __future__ import annotations

from typing import Any, TypeVar

R = TypeVar("R", bound=Any)

RECORDS: dict[str, Any] = {}
"""Classes and functions by the names that stand in files."""


def record(value: R) -> R:
    """Let files hold values of a class, or name a function; a decorator.

    >>> @record
    ... class Pair(tuple): ...
    >>> is_record(Pair), is_record(tuple)
    (True, False)
    """
    name = value.__name__
    if RECORDS.setdefault(name, value) is not value:
        raise ValueError(f"records: {name!r} is taken already; files could not tell the two apart")
    return value


def is_record(value: Any) -> bool:
    """Whether files can hold values of a class, or name a function."""
    return RECORDS.get(getattr(value, "__name__", "")) is value
