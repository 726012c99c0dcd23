"""Where executed pages are kept: in a folder for each state of the package, its data and its libraries."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from importlib.metadata import distributions
from pathlib import Path

from jupyter_cache import get_cache

ROOT = Path(__file__).parents[2]

# Folders of other states are removed after these seconds.
KEPT = 3 * 24 * 60 * 60


def state() -> str:
    """Return a hash of all that the output of a page depends on, apart from its own code."""
    found = hashlib.sha256(f"{sys.version} {shutil.which('dot')}".encode())
    for line in sorted(f"{each.name}=={each.version}" for each in distributions()):
        found.update(line.encode())
    for path in sorted([*ROOT.glob("bnclassify/**/*"), *ROOT.glob("data/*")]):
        if path.is_file() and path.suffix != ".pyc":
            found.update(
                f"{path.relative_to(ROOT)} {path.stat().st_size} ".encode()
            )
            found.update(path.read_bytes())
    return found.hexdigest()[:20]


def folder() -> str:
    """Return the folder of the present state, within BNCLASSIFY_PAGES or ``build/pages``."""
    base = Path(os.environ.get("BNCLASSIFY_PAGES") or ROOT / "build" / "pages")
    present = base / state()
    present.mkdir(parents=True, exist_ok=True)
    os.utime(present)
    for other in base.iterdir():
        if time.time() - other.stat().st_mtime > KEPT:
            shutil.rmtree(other, ignore_errors=True)
    _ = get_cache(present).db  # made before processes read pages side by side
    return str(present)
