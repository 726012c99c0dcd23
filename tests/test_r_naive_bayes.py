"""Naive Bayes of e1071: the examples of its help page, as R prints them (e1071 1.7, R 4)."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

IRIS = Path(__file__).parent / "reference" / "data" / "iris.csv"

# as.data.frame(Titanic): 4 classes within 2 sexes within 2 ages within 2 outcomes.
TITANIC = """
    0 0 35 0      0 0 17 0     118 154 387 670   4 13 89 3
    5 11 13 0     1 13 14 0    57 14 75 192      140 80 76 20
"""


def titanic():
    cells = product(["No", "Yes"], ["Child", "Adult"], ["Male", "Female"], ["1st", "2nd", "3rd", "Crew"])
    frame = pd.DataFrame(cells, columns=["Survived", "Age", "Sex", "Class"])
    return frame[["Class", "Sex", "Age", "Survived"]].assign(Freq=[int(n) for n in TITANIC.split()])


@pytest.mark.parametrize(("laplace", "printed"), [(0, [238, 13, 29, 155]), (3, [237, 12, 30, 156])])
def test_votes(laplace, printed):
    """``table(predict(naiveBayes(Class ~ ., HouseVotes84, laplace), HouseVotes84), HouseVotes84$Class)``."""
    votes = bn.load_voting()
    model = bn.bnc("nb", "Class", votes, smooth=laplace)
    table = bn.confusion(bn.predict(model, votes), votes["Class"])  # actual classes are rows
    assert table.to_numpy().T.ravel().tolist() == printed


def test_laplace_smooths_features_alone():
    """The tables of features are equal; ``smooth`` smooths the class, too, and ``prior`` undoes it."""
    votes = bn.load_voting()
    model = bn.bnc("nb", "Class", votes, smooth=3)
    first = bn.cpt(model, "handicapped_infants")  # V1 in R
    assert first.loc["n"].round(7).tolist() == [0.3977273, 0.8011696]
    assert bn.cpt(model, "Class")["probability"].round(4).tolist() == [0.6122, 0.3878]
    shares = {"democrat": 267 / 435, "republican": 168 / 435}  # $apriori
    nobody = bn.predict(bn.with_prior(model, shares), {"crime": None}, prob=True, unknown=["crime"])
    assert nobody["democrat"].item() == pytest.approx(267 / 435)


def test_a_table_of_frequencies():
    """``naiveBayes(Survived ~ ., data = Titanic)``."""
    table = titanic()
    data = bn.encode(table, weights="Freq", weights_are="frequencies")
    model = bn.lp(bn.nb("Survived", data), data, smooth=0)
    printed = {
        "Class": [[0.08187919, 0.11208054, 0.35436242, 0.45167785],
                  [0.28551336, 0.16596343, 0.25035162, 0.29817159]],
        "Sex": [[0.08456376, 0.91543624], [0.48382560, 0.51617440]],
        "Age": [[0.96510067, 0.03489933], [0.91983122, 0.08016878]],
    }  # fmt: skip
    for name, expected in printed.items():
        assert bn.cpt(model, name).round(8).to_numpy().T.tolist() == expected
    assert bn.cpt(model, "Survived")["probability"].round(6).tolist() == [0.676965, 0.323035]
    survivors = "YNNNYYYYNNNNYYYY" * 2
    assert "".join(label[0] for label in bn.predict(model, table)) == survivors


def test_numbers_are_normal():
    """``naiveBayes(Species ~ ., data = iris)``; R divides the sum of squares by n - 1, here it is by n."""
    iris = pd.read_csv(IRIS)
    name = iris.columns[-1]
    model = bn.bnc("nb", name, iris, smooth=0, numbers="gaussian")
    length = bn.cpt(model, iris.columns[2])
    assert length["mean"].round(3).tolist() == [1.462, 4.260, 5.552]
    deviations = length["sd"] * np.sqrt(50 / 49)
    assert deviations.round(7).tolist() == [0.1736640, 0.4699110, 0.5518947]
    found = bn.confusion(bn.predict(model, iris), iris[name]).to_numpy()
    assert found.tolist() == [[50, 0, 0], [0, 47, 3], [0, 3, 47]]
