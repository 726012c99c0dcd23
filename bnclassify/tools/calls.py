"""Calls of public functions: arguments checked against parameters, and progress bars."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

from .checks import Flag, Optional, must_be, options_sentence
from .foreign_words import ARGUMENTS_ELSEWHERE
from .messages import listed, setting_variable, shown

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
"""Parameters that can be passed by name."""


def check_arguments(
    function: Callable[..., Any],
    arguments: Collection[str],
    origin: str,
    supplied: Collection[str],
    advice: str = "",
) -> None:
    """Raise unless a function accepts ``arguments`` by name, and ``supplied`` has its others."""
    twice = [name for name in arguments if name in supplied]
    if twice:
        raise ValueError(
            f"{origin} must not contain arguments that are passed already; got {listed(twice)}."
        )
    takes = list(parameters_of(function).values())[1:]
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in takes)
    named = {p.name: p for p in takes if p.name not in supplied and p.kind in _NAMED}
    name = getattr(function, "__name__", repr(function))
    unknown = [argument for argument in arguments if argument not in named and not takes_any]
    if unknown:
        remedy = options_sentence(unknown[0], named, ARGUMENTS_ELSEWHERE)
        if remedy not in ARGUMENTS_ELSEWHERE.values():
            remedy = f"{remedy} {advice}"
        raise TypeError(must_be(origin, f"arguments of {name}", unknown[0], remedy))
    absent = [
        argument
        for argument, parameter in named.items()
        if parameter.default is Parameter.empty and argument not in arguments
    ]
    if absent:
        raise TypeError(f"{origin} must contain {listed(absent)}, which {name} requires.")


def with_call_advice(advice: str) -> Callable[[F], F]:
    """Decorate a public function with a message and its remedy for calls with wrong arguments."""

    def decorate(function: F) -> F:
        name, parameters = function.__qualname__.removesuffix(".__init__"), parameters_of(function)
        most = sum(p.kind is Parameter.POSITIONAL_OR_KEYWORD for p in parameters.values())
        takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())

        @wraps(function)
        def checked_call(*arguments: Any, **named: Any) -> Any:
            if len(arguments) > most:
                number = "one positional argument" if most == 1 else f"{most} positional arguments"
                raise TypeError(f"{name} accepts at most {number}; got {len(arguments)}. {advice}")
            if not (takes_any or named.keys() <= parameters.keys()):
                unknown = next(argument for argument in named if argument not in parameters)
                options = options_sentence(unknown, parameters, ARGUMENTS_ELSEWHERE)
                raise TypeError(f"{name} has no argument {shown(unknown)}. {options}")
            return function(*arguments, **named)

        return cast(F, checked_call)

    return decorate


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function; ``*args`` and ``**kwargs`` if it has no signature."""
    try:
        return signature(function).parameters
    except ValueError:
        return signature(lambda *arguments, **named: None).parameters


class Bar:
    """A progress bar that is not shown; the methods are those of tqdm's bars."""

    def update(self, n: int = 1) -> object:
        """Count more steps."""

    def set_postfix(self, **values: Any) -> object:
        """Set what is written at the end, by name."""

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> object:
        """Set the text at the end."""


_choice: ContextVar[bool | None] = ContextVar("progress", default=None)
_bar: ContextVar[Bar | None] = ContextVar("bar", default=None)


def _open_progress_bar(*iterables: Any, **settings: Any) -> Any:
    """Open a bar that is shown, over the elements of an iterable if one is given."""
    with warnings.catch_warnings():  # in notebooks without widgets, bars are text
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm  # slow to import
    return tqdm(*iterables, **settings)


def _stderr_is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def with_progress_bar(elements: Iterable[T], **settings: Any) -> Iterable[T]:
    """Return elements, with a bar that counts them if messages go to a terminal."""
    if not _stderr_is_terminal():
        return elements
    bar: Iterable[T] = _open_progress_bar(elements, **settings)
    return bar


def showing_progress(
    progress: bool | None, argument: str = "progress"
) -> AbstractContextManager[bool | None]:
    """Apply a choice to the bars of all calls within; None keeps that of the caller."""
    Optional(Flag()).check(argument, progress)
    return setting_variable(_choice, _choice.get() if progress is None else progress)


@contextmanager
def progress_bar(
    progress: bool | None, *, by_steps: bool = False, **settings: Any
) -> Iterator[Bar]:
    """Yield a bar, and hide those of nested calls.

    If ``by_steps``, calls of `advance_bar` within move it. If no choice was
    made, the bar is shown after 3 seconds in an interactive session.
    """
    with showing_progress(progress) as chosen:
        pass
    shown = hasattr(sys, "ps1") or _stderr_is_terminal() if chosen is None else chosen
    # 3: seconds after which a bar appears by default
    options = {"delay": 0 if chosen else 3, "leave": bool(chosen)}
    opened = _open_progress_bar(**settings, **options) if shown else nullcontext(Bar())
    with showing_progress(False), opened as bar, setting_variable(_bar, bar if by_steps else None):
        yield bar


def advance_bar(note: str = "") -> None:
    """Advance the bar that counts steps, if one is open."""
    bar = _bar.get()
    if bar is not None:
        bar.set_postfix_str(note, refresh=False)  # a refreshed bar would not wait
        bar.update()
