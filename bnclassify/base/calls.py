"""The parameters of functions, and arguments checked against them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

from .checks import available, must_be
from .messages import listed, shown

F = TypeVar("F", bound=Callable[..., Any])

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
"""Parameters that can be passed by name."""

_IN_R = {"layoutType": "engine"}
"""Arguments of the R package under other names."""


def check_arguments(
    function: Callable[..., Any],
    arguments: Collection[str],
    origin: str,
    supplied: Collection[str],
    advice: str = "",
) -> None:
    """Raise unless a function accepts ``arguments`` by name, and ``supplied`` has all others it requires."""
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


def guided(advice: str) -> Callable[[F], F]:
    """Decorate a public function with a message and its remedy for calls with wrong arguments."""

    def guide(function: F) -> F:
        name, parameters = function.__name__, parameters_of(function)
        most = sum(p.kind is Parameter.POSITIONAL_OR_KEYWORD for p in parameters.values())
        takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())

        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            if len(arguments) > most:
                number = "one positional argument" if most == 1 else f"{most} positional arguments"
                raise TypeError(f"{name} accepts at most {number}; got {len(arguments)}. {advice}")
            if not (takes_any or named.keys() <= parameters.keys()):
                unknown = next(argument for argument in named if argument not in parameters)
                same = _IN_R.get(unknown)
                remedy = (
                    f"In Python, it is {same!r}." if same in parameters else available(unknown, parameters)
                )
                raise TypeError(f"{name} has no argument {shown(unknown)}. {remedy}")
            return function(*arguments, **named)

        return cast(F, call)

    return guide


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function; ``*args`` and ``**kwargs`` if it has no signature."""
    try:
        return signature(function).parameters
    except ValueError:
        return signature(_anything).parameters


def _anything(*arguments: Any, **named: Any) -> None: ...
