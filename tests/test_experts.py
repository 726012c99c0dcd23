"""Tables of experts that are worth some rows: with data, pooled, and with intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import bnclassify as bn

ILL = pd.DataFrame({"p": [0.98, 0.02]}, index=["no", "yes"])
TEST = pd.DataFrame(
    [[0.95, 0.2], [0.05, 0.8]], index=["neg", "pos"], columns=pd.Index(["no", "yes"], name="ill")
)
TABLES = {"ill": ILL, "test": TEST}


@pytest.fixture
def expert():
    return bn.from_tables("ill", TABLES, rows=100)


@pytest.fixture
def seen():
    labels = ["no"] * 30 + ["yes"] * 10
    return pd.DataFrame({"ill": labels, "test": ["neg"] * 28 + ["pos"] * 9 + ["neg"] * 3})


def test_tables_stay_and_are_updated_as_rows(expert, seen):
    for name, table in TABLES.items():
        np.testing.assert_array_equal(bn.cpt(expert, name).to_numpy(), table.to_numpy())
    x = bn.update(expert, seen)
    assert bn.cpt(x, "ill").loc["yes"].item() == pytest.approx((100 * 0.02 + 10) / 140)
    # two of the 100 rows are ill, and 1.6 of them positive
    assert bn.cpt(x, "test").loc["pos", "yes"] == pytest.approx((1.6 + 7) / (2 + 10))
    twice = bn.update(bn.update(expert, seen.head(20)), seen.tail(20))
    np.testing.assert_allclose(bn.cpt(twice, "test"), bn.cpt(x, "test"))
    sure = bn.update(bn.from_tables("ill", TABLES, rows=1e9), seen)
    np.testing.assert_allclose(bn.cpt(sure, "test"), TEST, atol=1e-6)


def test_a_network_of_several_parents_is_worth_rows_in_its_proportions():
    car = bn.load_car()
    fitted = bn.lp(bn.kdb_mi("class", car, kdbk=2), car, smooth=1)
    tables = {name: bn.cpt(fitted, name) for name in fitted.variables}
    x = bn.from_tables("class", tables, rows=500)
    counts = dict(zip(x.variables, x.learned["counts"].counts, strict=True))
    for family in x.families:
        joint = bn.query(x, list(family)).to_numpy().ravel()
        np.testing.assert_allclose(counts[family[0]].ravel(), 500 * joint, atol=1e-5)
    same = bn.pool([x, x])
    for name in x.variables:
        np.testing.assert_allclose(bn.cpt(same, name), tables[name], atol=1e-12)


def test_experts_are_pooled_with_data_and_with_each_other(expert, seen):
    fitted = bn.lp(bn.nb("ill", seen), seen, smooth=1)
    for models in ([expert, fitted], [fitted, expert]):
        x = bn.pool(models)
        assert bn.cpt(x, "ill").loc["yes"].item() == pytest.approx((2 + 10 + 1) / (140 + 2))
    np.testing.assert_allclose(bn.cpt(bn.pool([expert, expert]), "test"), TEST)
    with pytest.raises(ValueError, match="models must have the same prior"):
        bn.pool([expert, fitted, bn.lp(bn.nb("ill", seen), seen, smooth=2)])


def test_intervals_are_those_of_so_many_rows(expert):
    found = bn.cpt(expert, "ill", interval=0.9).loc["yes"].to_numpy()
    np.testing.assert_allclose(found[[0, 2]], beta.ppf([0.05, 0.95], 2, 98))
    drawn = {"prob": True, "interval": 0.9, "draws": 200, "rng": 0}
    wide = bn.predict(expert, {"test": "pos"}, **drawn)["yes"].to_numpy().ravel()
    many = bn.from_tables("ill", TABLES, rows=10_000)
    narrow = bn.predict(many, {"test": "pos"}, **drawn)["yes"].to_numpy().ravel()
    assert wide[0] < narrow[0] < narrow[1] < narrow[2] < wide[2]
    assert narrow[1] == pytest.approx(wide[1])


def test_probabilities_of_zero_stay_and_have_intervals_without_width(seen):
    never = TEST.assign(no=[1.0, 0.0])
    x = bn.from_tables("ill", {"ill": ILL, "test": never}, rows=50)
    assert bn.cpt(x, "test", interval=0.9)["no"].to_numpy().tolist() == [[1, 1, 1], [0, 0, 0]]
    assert bn.predict(x, {"test": "pos"}, prob=True, interval=0.9, draws=20, rng=0)[
        "yes"
    ].to_numpy().tolist() == [[1, 1, 1]]
    impossible = bn.from_tables("ill", {"ill": ILL.assign(p=[1.0, 0.0]), "test": TEST}, rows=50)
    updated = bn.cpt(bn.update(impossible, seen.head(30)), "test")
    assert updated["yes"].tolist() == pytest.approx([0.2, 0.8])  # without a row, the column stays


def test_files_keep_the_rows(expert, seen, tmp_path):
    bn.save(expert, tmp_path / "x.json")
    x = bn.load(tmp_path / "x.json")
    pd.testing.assert_frame_equal(bn.cpt(bn.update(x, seen), "test"), bn.cpt(bn.update(expert, seen), "test"))


def test_without_rows_the_error_names_them(seen, tmp_path):
    x = bn.from_tables("ill", TABLES)
    bn.write_bif(x, tmp_path / "x.bif")
    scope = {"from_tables": bn.from_tables, "cpt": bn.cpt, "families": bn.families}
    for model in (x, bn.read_bif(tmp_path / "x.bif", "ill")):
        for call in (
            lambda model=model: bn.update(model, seen),
            lambda model=model: bn.pool([model, bn.lp(bn.nb("ill", seen), seen, smooth=1)]),
            lambda model=model: bn.cpt(model, "ill", interval=0.9),
        ):
            with pytest.raises(ValueError, match=r"tables (of x )?were given by hand") as raised:
                call()
            code = str(raised.value).partition("with ")[2].removesuffix(".")
            worth = eval(code, {**scope, "x": model})
            np.testing.assert_allclose(bn.cpt(bn.update(worth, seen), "ill").loc["yes"], 12 / 140)
    changed = bn.with_table(bn.lp(bn.nb("ill", seen), seen, smooth=1), "test", TEST)
    with pytest.raises(ValueError, match=r"were given by hand in part\. Call with_table last"):
        bn.update(changed, seen)
    for rows in (0, -1, np.inf, "many"):
        with pytest.raises((TypeError, ValueError), match="rows must be a finite number greater than 0"):
            bn.from_tables("ill", TABLES, rows=rows)
