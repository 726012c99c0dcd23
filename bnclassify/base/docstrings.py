"""Parts that docstrings have in common, written in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def sharing(parts: Mapping[str, str]) -> Callable[[Function], Function]:
    r"""Return a decorator that replaces marks, each on a separate line, by texts in a docstring.

    >>> @sharing({"{x}": "x : int\n    A number."})
    ... def double(x):
    ...     '''Double.
    ...
    ...     {x}
    ...     '''
    >>> print(double.__doc__)
    Double.
    <BLANKLINE>
    x : int
        A number.
    """

    def decorate(function: Function) -> Function:
        if function.__doc__ is not None:  # None if Python runs with -OO
            text = cleandoc(function.__doc__)
            for mark, part in parts.items():
                text = text.replace(mark, part)
            function.__doc__ = text
        return function

    return decorate
