"""Data sets of the package."""

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


def _example_path(name: str) -> Path:
    """Find a data file: inside the installed package, or at the top of the source tree."""
    package = Path(__file__).parent
    installed = package / name
    return installed if installed.exists() else package.parents[1] / "data" / name


def load_car() -> pd.DataFrame:
    """Load the car evaluation data: six attributes, and a grade.

    A decision model graded all combinations of the attributes.

    Returns
    -------
    pandas.DataFrame
        1,728 rows; six features and ``class``, one of unacc, acc, good, vgood.
        All columns are categorical, with levels in order of meaning. No values
        are missing.

    References
    ----------
    .. [1] Bohanec, M., Rajkovič, V. (1990). Expert system for decision making.
       Sistemica 1. UCI Machine Learning Repository, Car Evaluation.

    Examples
    --------
    >>> from bnclassify import load_car
    >>> load_car().shape
    (1728, 7)
    """
    frame = pd.read_csv(_example_path("car.csv"), dtype=str)
    return frame.astype({name: pd.CategoricalDtype(levels) for name, levels in _CAR.items()})


def load_voting() -> pd.DataFrame:
    """Load 16 votes of the US House of Representatives in 1984, and the party.

    Returns
    -------
    pandas.DataFrame
        435 rows; 16 votes, each n or y, and ``Class``, democrat or republican.
        All columns are categorical. 392 votes are missing, in 203 rows; the
        class is always observed.

    References
    ----------
    .. [1] Schlimmer, J. C. (1987). Concept acquisition through representational
       adjustment. UCI Machine Learning Repository, Congressional Voting
       Records.

    Examples
    --------
    >>> from bnclassify import load_voting
    >>> load_voting()["Class"].value_counts().to_dict()
    {'democrat': 267, 'republican': 168}
    """
    frame = pd.read_csv(_example_path("voting.csv"), dtype=str)
    vote, party = pd.CategoricalDtype(["n", "y"]), pd.CategoricalDtype(["democrat", "republican"])
    return frame.astype({name: party if name == "Class" else vote for name in frame})


def load_pima() -> pd.DataFrame:
    """Load the Pima diabetes data: 768 women, and a test for diabetes.

    Values that were not measured are missing (NaN).

    Returns
    -------
    pandas.DataFrame
        768 rows; eight numeric features and ``diabetes``, no (500 rows) or yes
        (268). Units: glucose mg/dl (two hours after a glucose drink), pressure
        mm Hg (diastolic), skin mm (triceps fold), insulin mu U/ml, bmi kg/m²,
        age years; pedigree is a score of diabetes among relatives.

    References
    ----------
    .. [1] Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C.,
       Johannes, R. S. (1988). Using the ADAP learning algorithm to forecast the
       onset of diabetes mellitus. Proceedings of the Symposium on Computer
       Applications and Medical Care.

    Examples
    --------
    >>> from bnclassify import load_pima
    >>> women = load_pima()
    >>> women.isna().sum().loc[lambda missing: missing > 0].to_dict()
    {'glucose': 5, 'pressure': 35, 'skin': 227, 'insulin': 374, 'bmi': 11}
    """
    names = [
        "pregnancies",
        "glucose",
        "pressure",
        "skin",
        "insulin",
        "bmi",
        "pedigree",
        "age",
        "diabetes",
    ]
    frame = pd.read_csv(_example_path("pima_clean.csv")).set_axis(names, axis=1)
    for name in ("glucose", "pressure", "skin", "insulin", "bmi"):
        # The file has the column mean for missing values; only the mean has more than one decimal.
        frame[name] = frame[name].where((frame[name] - frame[name].round(1)).abs() < 1e-9)
    result = frame["diabetes"].map({"tested_negative": "no", "tested_positive": "yes"})
    return frame.assign(diabetes=result.astype(pd.CategoricalDtype(["no", "yes"])))


def load_solar_flare() -> pd.DataFrame:
    """Load the solar flare data: regions of the sun and three kinds of flares.

    Returns
    -------
    pandas.DataFrame
        1,066 rows; ten categorical features, and the numbers of flares of class
        C, M and X in the next 24 hours: ``c-class-flares``, ``m-class-flares``
        and ``x-class-flares``, also categorical. The numbers are 0 in 884,
        1,030 and 1,061 rows.

    References
    ----------
    .. [1] Bradshaw, G. (1989). Solar Flare. UCI Machine Learning Repository.

    Examples
    --------
    >>> from bnclassify import load_solar_flare
    >>> load_solar_flare().shape
    (1066, 13)
    """
    return pd.read_csv(_example_path("solar_flare.csv"), dtype=str).astype("category")
