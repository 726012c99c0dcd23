"""Files that are there whole or not at all: what is written goes beside the old one and takes its place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from secrets import token_hex


def as_path(path: object) -> Path:
    """Return the name of a file, or raise a TypeError for what is none."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path: expected the name of a file, got {type(path).__name__}")
    if "\0" in os.fspath(path):
        raise ValueError("path: expected the name of a file, got one with a null character in it")
    return Path(path)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that whoever opens it, whenever that is, finds the old one or the new one, whole.

    A full disk, an interrupt or a crash meanwhile leaves the old one as it was. Links stay links, and the
    new file has the permissions of the old one.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)  # a device or a pipe has no content to lose; a folder says what it is
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: there is no folder {str(target.parent)!r}; make it first")
    part = target.with_name(f".{token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except BaseException:  # an interrupt too
        part.unlink(missing_ok=True)
        raise
