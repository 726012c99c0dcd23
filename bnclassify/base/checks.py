"""Checks of arguments, each with one wording; what they return is a value of Python's own."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

from .messages import listed, meant, plain, shown


def check_whole(
    argument: str, value: object, least: int = 0, most: float = inf, *, kind: str = "a whole number"
) -> int:
    """Return a whole number within bounds, or raise.

    >>> check_whole("k", 5, least=2)
    5
    >>> check_whole("k", 1, least=2)
    Traceback (most recent call last):
    ValueError: k: expected a whole number, at least 2, got 1
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument}: expected {kind}, got {shown(value)}")
    if not least <= int(value) <= most:
        bounds = f"at least {least:,}" if most == inf else f"{least:,} to {most:,}"
        raise ValueError(f"{argument}: expected {kind}, {bounds}, got {shown(value)}")
    return int(value)


def check_real(argument: str, value: object, least: float = -inf, *, kind: str = "a finite number") -> Any:
    """Return a finite number of at least ``least``, or raise.

    >>> check_real("epsilon", 0.5, least=0)
    0.5
    """
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{argument}: expected {kind}, got {shown(value)}")
    try:
        as_float = float(number)
    except OverflowError:
        as_float = inf
    if not (isfinite(as_float) and as_float >= least):
        bound = "" if least == -inf else f", {least:g} or more"
        raise ValueError(f"{argument}: expected {kind}{bound}, got {shown(value)}")
    return number if abs(as_float) < 2**63 else as_float  # NumPy has no longer whole numbers


def check_flag(argument: str, value: object) -> bool:
    """Return True or False, or raise.

    >>> check_flag("mean", 1)
    Traceback (most recent call last):
    TypeError: mean: expected True or False, got 1
    """
    if not isinstance(value, bool):
        raise TypeError(f"{argument}: expected True or False, got {shown(value)}")
    return value


def check_list(argument: str, value: object, expected: str) -> list[Any]:
    """Return what a list or another collection holds, or raise for what is none, or holds other things.

    >>> check_list("names", ("a", "b"), "a list of names")
    ['a', 'b']
    >>> check_list("names", "ab", "a list of names")
    Traceback (most recent call last):
    TypeError: names: expected a list of names, got 'ab'
    """
    one = isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) != 1
    if one or not isinstance(value, Iterable):
        raise TypeError(f"{argument}: expected {expected}, got {shown(value)}")
    return list(value)


def is_among(value: object, names: Collection[Hashable]) -> bool:
    """Whether a value is one of some names.

    Arrays, tables and `pandas.NA`, which answer ``==`` with something else than True or False, are not.

    >>> is_among("a", ["a", "b"]), is_among([1, 2], ["a", "b"])
    (True, False)
    """
    try:
        return value in frozenset(names)
    except TypeError:
        return False


def check_choice(argument: str, value: object, choices: Collection[str]) -> str:
    """Return one of some words, or raise.

    >>> check_choice("score", "aic", ["aic", "bic"])
    'aic'
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{argument}: expected one of {listed(choices, most=20)}, got {shown(value)}"
            f"{meant(value, choices)}"
        )
    return value
