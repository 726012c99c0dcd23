"""Rows that are given in parts: chunks, Dask and tables of databases, read into memory if they fit.

What does not fit, or stays where it is by wish, is counted and scored there. Nothing else in the
package imports these modules: `open_data` calls the function that is added to `OPENERS` here.
"""

from __future__ import annotations

from .. import frames
from . import databases as databases  # which registers its source
from .memory import open_source

frames.OPENERS.append(open_source)
