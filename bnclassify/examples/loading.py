"""The two data sets that travel with the package."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

_CAR = {
    "buying": ["vhigh", "high", "med", "low"],
    "maint": ["vhigh", "high", "med", "low"],
    "doors": ["2", "3", "4", "5more"],
    "persons": ["2", "4", "more"],
    "lug_boot": ["small", "med", "big"],
    "safety": ["low", "med", "high"],
    "class": ["unacc", "acc", "good", "vgood"],
}


def _path(name: str) -> Path:
    """Find a data file: inside the installed package, or at the top of the source tree."""
    package = Path(__file__).parent
    installed = package / name
    return installed if installed.exists() else package.parents[1] / "data" / name


def load_car() -> pd.DataFrame:
    """Load the car evaluation data: every car there is, and how a decision model grades it.

    Returns
    -------
    pandas.DataFrame
        1728 rows; six features and ``class``, one of unacc, acc, good, vgood. All columns are
        categorical, their levels in order of meaning; nothing is missing.

    References
    ----------
    .. [1] Bohanec, M., Rajkovič, V. (1990). Expert system for decision making. Sistemica 1.
       UCI Machine Learning Repository, Car Evaluation.

    Examples
    --------
    >>> from bnclassify import load_car
    >>> load_car().shape
    (1728, 7)
    """
    frame = pd.read_csv(_path("car.csv"), dtype=str)
    return frame.astype({name: pd.CategoricalDtype(levels) for name, levels in _CAR.items()})


def load_voting() -> pd.DataFrame:
    """Load the 1984 votes of the US House of Representatives on 16 key issues.

    Returns
    -------
    pandas.DataFrame
        435 rows; 16 votes, each n or y, and ``Class``, democrat or republican. All columns
        are categorical. 392 votes are missing, in 203 rows; every row has its class.

    References
    ----------
    .. [1] Schlimmer, J. C. (1987). Concept acquisition through representational adjustment.
       UCI Machine Learning Repository, Congressional Voting Records.

    Examples
    --------
    >>> from bnclassify import load_voting
    >>> load_voting()["Class"].value_counts().to_dict()
    {'democrat': 267, 'republican': 168}
    """
    frame = pd.read_csv(_path("voting.csv"), dtype=str)
    vote, party = pd.CategoricalDtype(["n", "y"]), pd.CategoricalDtype(["democrat", "republican"])
    return frame.astype({name: party if name == "Class" else vote for name in frame})
