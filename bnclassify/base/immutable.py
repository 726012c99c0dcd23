"""Immutable values: a base for frozen dataclasses whose arrays cannot be written to."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


class Immutable:
    """Base of the package's frozen dataclasses.

    Arrays among the fields, or in tuples among them, become read-only, and stay so
    when the value is copied or unpickled, because both build it anew from its fields.
    """

    def __post_init__(self) -> None:
        for value in vars(self).values():
            for item in value if isinstance(value, tuple) else (value,):
                lock(item)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


def lock(value: object) -> None:
    """Make an array read-only, and what it is a view of."""
    while isinstance(value, np.ndarray):
        value.setflags(write=False)
        value = value.base
