"""The parameters of functions, and arguments checked against them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, signature
from typing import Any

from .checks import available, must_be
from .messages import listed

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
"""The kinds of parameters that can be given by name."""


def check_arguments(
    function: Callable[..., Any],
    arguments: Collection[str],
    origin: str,
    supplied: Collection[str],
    advice: str = "",
) -> None:
    """Raise unless a function accepts ``arguments`` by name, and requires no others but those ``supplied``.

    The first of those supplied is passed by position, so it can have any name.
    """
    twice = [name for name in arguments if name in supplied]
    if twice:
        raise ValueError(f"{origin} must not contain arguments that are passed already; got {listed(twice)}.")
    takes = list(parameters_of(function).values())[1:]
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in takes)
    named = {p.name: p for p in takes if p.name not in supplied and p.kind in _NAMED}
    name = getattr(function, "__name__", repr(function))
    unknown = [argument for argument in arguments if argument not in named and not takes_any]
    if unknown:
        remedy = f"{available(unknown[0], named)} {advice}"
        raise TypeError(must_be(origin, f"arguments of {name}", unknown[0], remedy))
    absent = [
        argument
        for argument, parameter in named.items()
        if parameter.default is Parameter.empty and argument not in arguments
    ]
    if absent:
        raise TypeError(f"{origin} must contain {listed(absent)}, which {name} requires.")


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function; arbitrary ones if it is written in C without a signature."""
    try:
        return signature(function).parameters
    except ValueError:
        return signature(_anything).parameters


def _anything(*arguments: Any, **named: Any) -> None: ...
