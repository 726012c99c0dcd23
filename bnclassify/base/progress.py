"""The argument ``progress``: progress bars of long calls."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .checks import Flag, Optional

with warnings.catch_warnings():  # in notebooks without widgets, bars are text
    warnings.simplefilter("ignore")
    from tqdm.auto import tqdm as tqdm

_SECONDS = 3  # a bar appears after this time by default

_choice: ContextVar[bool | None] = ContextVar("progress", default=None)
_bar: ContextVar[tqdm[Any] | None] = ContextVar("bar", default=None)


@contextmanager
def showing_progress(progress: bool | None, argument: str = "progress") -> Iterator[None]:
    """Apply a choice to the bars of all calls within; None keeps that of the caller."""
    Optional(Flag()).check(argument, progress)
    token = _choice.set(_choice.get() if progress is None else progress)
    try:
        yield
    finally:
        _choice.reset(token)


@contextmanager
def progress_bar(progress: bool | None, *, by_steps: bool = False, **settings: Any) -> Iterator[tqdm[Any]]:
    """Yield a bar, and hide bars of nested calls; ``by_steps``, calls of `advance` within advance it.

    If no choice was made, the bar is shown after 3 seconds in an interactive session.
    """
    with showing_progress(progress):
        chosen = _choice.get()
    hidden = not (_is_watched() if chosen is None else chosen)
    options = {"disable": True} if hidden else {"delay": 0 if chosen else _SECONDS, "leave": bool(chosen)}
    with showing_progress(False), tqdm(**settings, **options) as bar:
        token = _bar.set(bar if by_steps else None)
        try:
            yield bar
        finally:
            _bar.reset(token)


def advance(note: str = "") -> None:
    """Advance the bar that counts steps, if one is open."""
    bar = _bar.get()
    if bar is not None:
        bar.set_postfix_str(note, refresh=False)  # a refreshed bar would not wait
        bar.update()


def _is_watched() -> bool:
    """Whether Python runs at a prompt, in a notebook, or at a terminal."""
    return hasattr(sys, "ps1") or (sys.stderr is not None and sys.stderr.isatty())
