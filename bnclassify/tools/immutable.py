"""Immutable values, and the registry of the classes and functions that files can name.

A frozen dataclass or a named tuple with the decorator ``@record`` is saved by
its name and its fields, and rebuilt from these. The fields contain text,
numbers, bools, None, arrays, tuples, mappings or records. A class checks its
fields, because a file may be damaged. A function is saved by its name only.

A new field needs a default, for files that lack it. If a field or a name is
removed or changes its meaning, the format needs a new version, which refuses
older files.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from functools import cache
from sys import float_info
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class _Cached:
        """A property that is computed at the first access, without a lock that forks may keep.

        Two threads may both compute the value.
        """

        def __init__(self, func: Any) -> None:
            self.func, self.__doc__ = func, func.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.func(instance)
            return value

    cached_property = _Cached


Bounds: TypeAlias = Mapping[str, tuple[float, float]]

EMPTY: Mapping[Any, Any] = MappingProxyType({})
"""An empty mapping, the default of fields."""

ANY_NUMBER = (-float_info.max, float_info.max)
COUNT = (0.0, float_info.max)
POSITIVE = (5e-324, float_info.max)
PROBABILITY = (0.0, 1 + 1e-6)
POWER = (-1e6, 1e6)
"""Bounds of finite numbers; leave-one-out powers can be negative, |τ - 1| ≤ √(2 n ln C + 1)."""


def field_bounds(**limits: tuple[float, float]) -> Bounds:
    """Return bounds of the numbers in fields, as `Immutable.check_bounds` checks them."""
    return MappingProxyType(limits)


class Immutable:
    """Base of the package's frozen dataclasses.

    Arrays among the fields, or in tuples or mappings among them, become
    read-only, and mappings are copied and closed. A copy or an unpickled value
    is built from the fields, so it is immutable, too.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    bounds: ClassVar[Bounds] = EMPTY
    """The smallest and the largest number in each of some fields."""

    def __post_init__(self) -> None:
        self._freeze()

    @classmethod
    def check_bounds(cls, content: Mapping[str, Any]) -> None:
        """Raise a ValueError if a number in fields is out of bounds, as in a damaged file."""
        for name, (least, most) in cls.bounds.items():
            value = content.get(name)
            is_single = cls.__dataclass_fields__[name].type == "float"  # annotations are text
            if not is_within_bounds(value, least, most) or (is_single and isinstance(value, tuple)):
                raise ValueError(
                    f"{name} must contain finite numbers from {least:g} to {most:g} only."
                )

    def _freeze(self, **changed: Any) -> None:
        for name, value in (changed or vars(self)).items():
            cls: Any = type(value)
            if _is_tuple_or_array_type(cls):
                make_read_only(value)
            elif _is_open_mapping_type(cls):
                self.__dict__[name] = MappingProxyType(dict(value))
                make_read_only(tuple(value.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        values = [getattr(self, field.name) for field in fields(self)]
        # Closed mappings cannot be pickled.
        opened = [dict(v) if isinstance(v, MappingProxyType) else v for v in values]
        return type(self), tuple(opened)


@cache
def _is_tuple_or_array_type(cls: type) -> bool:
    return issubclass(cls, tuple | np.ndarray)


@cache
def _is_open_mapping_type(cls: type) -> bool:
    return issubclass(cls, Mapping) and cls is not MappingProxyType


def is_within_bounds(value: object, least: float, most: float) -> bool:
    """Whether all numbers of a value, also a tuple of tuples or arrays, are within bounds."""
    if isinstance(value, tuple):
        return all(is_within_bounds(item, least, most) for item in value)
    if isinstance(value, np.ndarray):
        return bool(np.all((value >= least) & (value <= most)))  # not if one is NaN
    return least <= value <= most if isinstance(value, int | float) else not isinstance(value, str)


class StackedArrays(tuple[Any, ...]):
    """A tuple of read-only arrays; those of one shape are views of one array in ``stacks``.

    A stack has the positions of its arrays in the tuple. A copy is an ordinary
    tuple.
    """

    stacks: Sequence[tuple[Sequence[int], np.ndarray[Any, Any]]] = ()

    @classmethod
    def from_stacks(
        cls,
        stacks: Sequence[tuple[Sequence[int], np.ndarray[Any, Any]]],
        values: Sequence[Any] = (),
    ) -> StackedArrays:
        """Return the arrays of stacks at their positions, and other ``values`` at theirs."""
        placed = list(values) or [None] * sum(len(places) for places, _ in stacks)
        for places, stack in stacks:
            make_read_only(stack)
            for place, array in zip(places, stack, strict=True):
                placed[place] = array
        result = cls(placed)
        result.stacks = stacks
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def make_read_only(value: object) -> None:
    """Make an array, or the arrays in a tuple, read-only, with the arrays they are views of."""
    if isinstance(value, StackedArrays) and value.stacks:
        return
    if isinstance(value, tuple) and not any(
        issubclass(cls, np.ndarray) for cls in set(map(type, value))
    ):
        return
    for array in value if isinstance(value, tuple) else (value,):
        while isinstance(array, np.ndarray):
            array.flags.writeable = False
            array = array.base


R = TypeVar("R", bound=Any)

RECORDS: dict[str, Any] = {}
"""Classes and functions by their names in files."""


def record(value: R) -> R:
    """Register a class or a function for files; a decorator."""
    name: str = value.__name__
    if RECORDS.setdefault(name, value) is not value:
        raise ValueError(f"records must have different names; got {name!r} twice.")
    return value


def is_record(value: Any) -> bool:
    return RECORDS.get(getattr(value, "__name__", "")) is value
