"""Calibration of posteriors: intercept and slope, the parts of the Brier score, errors, bins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

import bnclassify as bn


def made(seed, n, sharpen=1.0):
    """Posteriors of two classes, calibrated if they are not sharpened, and classes drawn from them."""
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(0, 1.5, n))
    actual = pd.Series(np.where(rng.random(n) < p, "yes", "no"))
    told = expit(sharpen * logit(p))
    return pd.DataFrame({"no": 1 - told, "yes": told}), actual


def test_slope_and_intercept_maximize_the_likelihood():
    posteriors, actual = made(0, 400, 1.7)
    found = bn.calibration(posteriors, actual).loc["yes"]
    x, y = logit(posteriors["yes"]), actual == "yes"
    residuals = y - expit(found["intercept"] + found["slope"] * x)
    assert residuals.sum() == pytest.approx(0, abs=1e-6)
    assert (residuals * x).sum() == pytest.approx(0, abs=1e-6)


def test_slope_of_sharpened_posteriors():
    """Log odds three times as large have a slope a third as large; calibrated ones have slope 1."""
    plain, sharpened = (bn.calibration(*made(1, 20_000, times)).loc["yes"] for times in (1, 3))
    assert plain[["intercept", "slope"]].tolist() == pytest.approx([0, 1], abs=0.05)
    assert sharpened["slope"] == pytest.approx(plain["slope"] / 3, rel=1e-6)
    assert sharpened["intercept"] == pytest.approx(plain["intercept"], abs=1e-6)
    assert plain["calibration_error"] == pytest.approx(plain["expected_error"], abs=0.004)
    assert sharpened["calibration_error"] > 5 * sharpened["expected_error"]


def test_both_classes_of_two_have_the_same_slope():
    found = bn.calibration(*made(2, 300, 0.5))
    assert found.loc["no", "slope"] == pytest.approx(found.loc["yes", "slope"])
    assert found.loc["no", "intercept"] == pytest.approx(-found.loc["yes", "intercept"], abs=1e-7)


def test_the_brier_score_of_two_classes_is_that_of_cv_and_of_scikit_learn():
    metrics = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed; the extra sklearn has it"
    )
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.choice(["p", "q"], 400)})
    is_yes = rng.random(400) < data["a"].map({"p": 0.7, "q": 0.3})
    data["y"] = np.where(is_yes, "yes", "no")
    model = bn.bnc("nb", "y", data, smooth=1)
    posteriors = bn.cv_predict(model, data, folds=np.arange(400) % 5)
    expected = metrics.brier_score_loss(is_yes, posteriors["yes"])
    assert bn.cv(model, data, folds=np.arange(400) % 5, metric="brier") == pytest.approx(expected)
    assert bn.calibration(posteriors, data["y"])["brier"].tolist() == pytest.approx([expected] * 2)


def test_parts_of_the_brier_score_by_hand():
    """Two values of the posterior: five rows at .2, one of them right, and three at .7, all right."""
    yes = np.array([0.2] * 5 + [0.7] * 3)
    actual = pd.Series(["yes"] + ["no"] * 4 + ["yes"] * 3)
    found = bn.calibration(pd.DataFrame({"no": 1 - yes, "yes": yes}), actual).loc["yes"]
    assert found["reliability"] == pytest.approx((5 * (0.2 - 0.2) ** 2 + 3 * (0.7 - 1) ** 2) / 8)
    assert found["resolution"] == pytest.approx((5 * (0.2 - 0.5) ** 2 + 3 * (1 - 0.5) ** 2) / 8)
    assert found["uncertainty"] == 0.25
    assert found["within_bins"] == pytest.approx(0)
    assert found["brier"] == pytest.approx((0.8**2 + 4 * 0.2**2 + 3 * 0.3**2) / 8)
    assert found["calibration_error"] == pytest.approx(3 * 0.3 / 8)
    assert found["slope"] == np.inf  # all rows at .7 are right, so the fitted share grows without bound


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from(["width", "quantile"]))
def test_parts_add_up_to_the_brier_score(seed, classes, strategy):
    rng = np.random.default_rng(seed)
    names = list("abcd")[:classes]
    posteriors = pd.DataFrame(rng.dirichlet(np.ones(classes), 60), columns=names)
    actual = pd.Series(rng.choice(names, 60))
    found = bn.calibration(posteriors, actual, bins=7, strategy=strategy)
    assert found.index.tolist() == names
    parts = found["reliability"] - found["resolution"] + found["uncertainty"] + found["within_bins"]
    np.testing.assert_allclose(parts, found["brier"])
    one_hot = (actual.to_numpy()[:, None] == np.array(names)).astype(float)
    assert found["brier"].sum() == pytest.approx(((posteriors - one_hot) ** 2).sum(axis=1).mean())
    assert found["expected_error"].between(0, 1).all()


def test_classes_that_are_separated_or_absent():
    yes = np.array([0.1, 0.2, 0.6, 0.9])
    posteriors = pd.DataFrame({"no": 1 - yes, "yes": yes})
    actual = pd.Series(["no", "no", "yes", "yes"])
    right, wrong = (
        bn.calibration(posteriors, labels).loc["yes"]
        for labels in (actual, actual[::-1].reset_index(drop=True))
    )
    assert right["slope"] == np.inf
    assert wrong["slope"] == -np.inf
    assert np.isnan(right["intercept"])
    alone = bn.calibration(posteriors, pd.Series(["no"] * 4))
    assert alone["slope"].isna().all()
    certain = bn.calibration(
        pd.DataFrame({"no": [0.0, 1.0, 1.0], "yes": [1.0, 0.0, 0.0]}), pd.Series(["yes", "no", "yes"])
    )
    assert certain["brier"].tolist() == pytest.approx([1 / 3, 1 / 3])


def test_quantile_bins_have_equal_numbers_of_rows():
    pytest.importorskip("matplotlib")
    posteriors, actual = made(3, 200)
    axes = bn.plot_calibration(posteriors, actual, bins=8, strategy="quantile", target="yes")
    points = np.asarray(axes.collections[0].get_offsets())
    groups = np.sort(posteriors["yes"].to_numpy()).reshape(8, 25)
    np.testing.assert_allclose(points[:, 0], groups.mean(axis=1))
    order = np.argsort(posteriors["yes"].to_numpy())
    shares = (actual.to_numpy()[order] == "yes").reshape(8, 25).mean(axis=1)
    np.testing.assert_allclose(points[:, 1], shares)
    tied = pd.DataFrame({"no": [0.5] * 9 + [0.1], "yes": [0.5] * 9 + [0.9]})
    axes = bn.plot_calibration(tied, actual.head(10), bins=5, strategy="quantile", target="yes")
    assert len(np.asarray(axes.collections[0].get_offsets())) == 2


def test_certain_posteriors_have_a_band_of_no_height():
    """Bins in which all posteriors are 0 or 1 were left out of the heights of bands only."""
    pytest.importorskip("matplotlib")
    p = np.array([1, 1, *[0.55] * 6, 0])
    posteriors = pd.DataFrame({"no": 1 - p, "yes": p})
    for rows in (posteriors, posteriors.iloc[:2]):
        actual = pd.Series(["yes", "yes", *["no", "yes"] * 3, "no"])[: len(rows)]
        axes = bn.plot_calibration(rows, actual)
        band = np.array([np.ptp(line[:, 1]) for line in axes.collections[2].get_segments()])
        height = 2 * 1.96 * np.sqrt(0.55 * 0.45 / 6)
        expected = [0, height, 0] if len(rows) == 9 else [0]
        np.testing.assert_allclose(band, expected, atol=1e-4)
