"""Records: values of one record do not depend on the others, and decimals are numbers."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn

BIG = 2**53


@pytest.mark.parametrize("options", [{}, {"dag_learner": "nb", "smooth": 1, "discretize": "mdlp"}])
def test_missing_values_of_one_record_do_not_change_integers_of_another(options):
    for ids in ((BIG, BIG + 1), (1234567890123456789, 1234567890123456790)):
        data = pd.DataFrame({"id": list(ids) * 20, "y": ["u", "v"] * 20})
        x = bn.bnc(class_var="y", dataset=data, **options)
        alone = bn.predict(x, {"id": ids[1]}, prob=True).to_numpy()[0]
        assert alone[1] > 0.9
        for other in (None, np.nan, pd.NA, ids[0], Decimal(ids[0])):
            both = bn.predict(x, [{"id": other}, {"id": ids[1]}], prob=True).to_numpy()
            np.testing.assert_array_equal(both[1], alone)


def test_missing_numbers_of_a_record_are_read_without_pandas(monkeypatch):
    pima, made = bn.load_pima(), []
    x = bn.bnc("nb", "diabetes", pima, smooth=1, discretize="mdlp")
    init = pd.Series.__init__
    with monkeypatch.context() as patched:
        patched.setattr(pd.Series, "__init__", lambda *args, **named: made.append(0) or init(*args, **named))
        bn.predict(x, dict.fromkeys(bn.features(x)), prob=True)
    assert len(made) < len(bn.features(x))


@pytest.mark.parametrize("values", [(0.1, 0.2), (0.1, 0.2, 0.3), (1, 2, 3)])
@pytest.mark.parametrize(
    "options", [{}, {"pairs": 0}, {"dag_learner": "nb", "smooth": 1, "discretize": "mdlp"}]
)
def test_decimals_are_numbers_everywhere(values, options):
    rng = np.random.default_rng(0)
    numbers = rng.choice(values, 120)
    y = np.where(rng.random(120) < 0.2 + 0.6 * (numbers == values[0]), "u", "v")
    decimals = [Decimal(str(number)) for number in numbers]
    frame = pd.DataFrame({"x": numbers, "y": y})
    exact = frame.assign(x=decimals)
    x, same = (bn.bnc(class_var="y", dataset=data, **options) for data in (frame, exact))
    expected = bn.predict(x, frame.head(9), prob=True)
    records = [{"x": value} for value in decimals[:9]]
    mixed = [{"x": value} for value in [*decimals[:4], *numbers[4:9]]]
    for model in (x, same):
        for rows in (frame.head(9), exact.head(9), records, mixed):
            pd.testing.assert_frame_equal(bn.predict(model, rows, prob=True), expected)
    assert bn.effects(x).to_csv() == bn.effects(same).to_csv()


def test_decimals_as_categories_are_levels_of_numbers():
    labels = pd.Categorical([Decimal("0.1"), Decimal("2")] * 20 + [None], ordered=True)
    frame = pd.DataFrame({"x": labels, "y": ["u", "v"] * 20 + ["u"]})
    x = bn.lp(bn.nb("y", frame), frame, smooth=1)
    assert bn.values(x)["x"] == (0.1, 2)
    expected = bn.predict(x, frame, prob=True)
    assert bn.predict(x, frame.assign(x=frame["x"].astype(float)), prob=True).equals(expected)
    assert bn.query(x, "y", {"x": Decimal("0.1")}).to_numpy() == pytest.approx(expected.to_numpy()[0])
    # two decimals that are the same float are one level
    near = pd.Categorical([Decimal("0.1"), Decimal("0.1") + Decimal("1e-20"), Decimal("2")] * 4)
    assert bn.values(bn.nb("y", pd.DataFrame({"x": near, "y": ["u", "v", "v"] * 4})))["x"] == (0.1, 2)
