"""Tables so simple that counting gives the answer: the default recipe does not lose to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn

from .strategies import examples

CLASSES = ("no", "yes", "maybe")


@st.composite
def cells_of_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Draw the numbers of rows ``n`` of all cells of one to four columns and the class.

    They are multiples of a small number, so that tables with exact symmetries and empty cells are drawn too.
    """
    cards = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    classes = CLASSES[: draw(st.integers(2, 3))]
    levels = [list("uvw")[:card] for card in cards]
    names = [f"x{i}" for i in range(len(cards))]
    cells = pd.MultiIndex.from_product([*levels, classes]).to_frame(index=False, name=[*names, "y"])
    counts = st.sampled_from([0, 0, 1, 2, 3, 10, 30])
    n = draw(st.lists(counts, min_size=len(cells), max_size=len(cells)))
    return cells.assign(n=np.multiply(n, draw(st.sampled_from([1, 5]))))


def rows_of(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.loc[cells.index.repeat(cells["n"])].drop(columns="n").reset_index(drop=True)


def of_own_class(model: Any, cells: pd.DataFrame) -> Any:
    p = bn.predict(model, cells.drop(columns=["y", "n"]), prob=True, unseen="missing")
    return p.to_numpy()[np.arange(len(cells)), [list(p.columns).index(label) for label in cells["y"]]]


@pytest.mark.filterwarnings("ignore")
@given(cells_of_tables())
@examples(25)
def test_the_default_does_not_lose_to_counting(cells: pd.DataFrame) -> None:
    """On the rows, 2 (ln P̂ − ln P) of counting is χ² with as many degrees of freedom as it has parameters.

    So a loss of half of them is what counting gains by its choice of the parameters, and is no loss on other
    rows. The 99.99 % quantile is allowed, and half of a row for each configuration that is smoothed.
    """
    cells = cells[cells["n"] > 0]
    if cells["y"].nunique() < 2 or cells["n"].sum() < 20:
        return
    features = [name for name in cells if name not in ("y", "n")]
    model = bn.bnc(class_var="y", dataset=rows_of(cells))
    loss = -float(cells["n"] @ np.log(of_own_class(model, cells)))
    best = -float(cells["n"] @ np.log(cells["n"] / cells.groupby(features)["n"].transform("sum")))
    parameters = cells[features].drop_duplicates().shape[0] * (cells["y"].nunique() - 1)
    from scipy.stats import chi2

    print(parameters, loss - best, chi2.ppf(0.9999, parameters) / 2)
    assert loss - best < chi2.ppf(0.9999, parameters) / 2
