"""Rows that are given in parts: chunks, Dask and tables of databases, read into memory if they fit.

Rows that do not fit, or that are to stay where they are, are counted and scored there. No chapter
imports these modules: `open_data` in ``frames`` calls the function that is registered here.
"""

from __future__ import annotations

from .. import frames
from . import databases as databases  # which registers its source
from .memory import open_source

frames.OPENERS.append(open_source)
