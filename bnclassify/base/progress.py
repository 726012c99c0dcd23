"""The argument ``progress``: bars that tell how far a call is."""

from __future__ import annotations

from typing import Any

from tqdm.auto import tqdm

from .checks import Flag, Optional

_SECONDS = 3  # after which a bar appears by default


def progress_bar(progress: bool | None, **settings: Any) -> tqdm[Any]:
    """Return a bar: shown if True, and if None after 3 seconds in an interactive session."""
    Optional(Flag()).check("progress", progress)
    hidden, delay = (None, _SECONDS) if progress is None else (not progress, 0)
    return tqdm(disable=hidden, delay=delay, **settings)
