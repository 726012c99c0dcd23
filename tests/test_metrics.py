"""Metrics of posteriors, by hand and by scikit-learn."""

import re
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.metrics import METRICS, Metric, find_metric
from bnclassify.prediction import Labelling, Outcome, Outcomes


@st.composite
def outcomes(draw, *, min_classes=1, max_rows=40):
    """Posteriors on a coarse grid, so that many are tied, some of them 0; classes may have no row."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, classes = draw(st.integers(1, max_rows)), draw(st.integers(min_classes, 5))
    mass = rng.integers(0, draw(st.integers(1, 6)), size=(rows, classes), endpoint=True).astype(float)
    mass[mass.sum(axis=1) == 0] = 1
    with np.errstate(divide="ignore"):
        logs = np.log(mass) - rng.exponential(50, size=(rows, 1))
    labels = tuple(f"c{i}" for i in range(classes))
    return Outcome(logs, rng.integers(0, classes, rows), Labelling(labels, "k", pd.RangeIndex(rows)))


def measure(metric, outcome):
    names, actual = outcome.labelling, outcome.actual
    rows = Outcomes(
        [outcome.logs],
        actual[None],
        (names.name,),
        (names.classes,),
        names.index,
        outcome.weights,
        actual.copy,
    )
    return metric.value_from_sums(metric.sums_over_rows(rows))


def figure(name, outcome):
    return measure(find_metric(name), outcome)


def test_metrics_are_found_by_name():
    assert list(METRICS) == [
        "accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "calibration_error", "rmse",
        "f1", "precision", "recall", "kappa", "mcc", "rps", "mean_absolute_error", "loglik",
    ]  # fmt: skip
    assert [name for name, metric in METRICS.items() if metric.is_loss] == [
        "log_loss", "brier", "calibration_error", "rmse", "rps", "mean_absolute_error",
    ]  # fmt: skip
    assert all(isinstance(metric, Metric) and metric.name == name for name, metric in METRICS.items())


def test_metrics_of_other_libraries_have_a_sentence_whose_code_is_right():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    y = pd.Series(rng.choice(["no", "yes"], 200, p=[0.8, 0.2]))
    yes = np.clip(0.2 + 0.3 * (y == "yes") + rng.normal(0, 0.2, 200), 0.01, 0.99).round(2)
    p = pd.DataFrame({"no": 1 - yes, "yes": yes})
    said = p["yes"] > 0.5
    fpr, tpr, _ = metrics.roc_curve(y == "yes", yes)
    expected = {
        "sensitivity": (said & (y == "yes")).sum() / (y == "yes").sum(),
        "specificity": (~said & (y == "no")).sum() / (y == "no").sum(),
        "ppv": (said & (y == "yes")).sum() / said.sum(),
        "npv": (~said & (y == "no")).sum() / (~said).sum(),
        "pr_auc": metrics.average_precision_score(y == "yes", yes),
        "average_precision": metrics.average_precision_score(y == "yes", yes),
        "ks": (tpr - fpr).max(),
    }
    for name, value in expected.items():
        with pytest.raises(ValueError, match="lambda") as caught:
            find_metric(name)
        code = str(caught.value).partition("metric=")[2].removesuffix(".")
        assert eval(code, {"sklearn": sys.modules["sklearn"], "scipy": scipy})(p, y) == pytest.approx(value)
    for name, told in (
        ("gini", "is 2 * auc - 1"),
        ("error_rate", "is 1 - accuracy"),
        ("mse", "metric='brier'"),
        ("aic", "AIC(x, dataset)"),
    ):
        with pytest.raises(ValueError, match=re.escape(told)):
            find_metric(name)
    for name in ("hinge_loss", "top_k_accuracy", "quadratic_kappa", "lift"):  # all names, as all are few
        with pytest.raises(ValueError, match=f"got '{name}'. Available: .*'{list(METRICS)[-1]}'.$"):
            find_metric(name)


@given(outcomes())
def test_metrics_by_hand(outcome):
    p = outcome.posteriors.to_numpy()
    labels = list(outcome.labelling.classes)
    actual = np.array([labels.index(label) for label in outcome.actual_labels])
    best = [max(range(len(labels)), key=lambda c: (round(row[c], 12), -c)) for row in p]
    right = best == actual
    own = np.eye(len(labels))[actual]
    clipped = np.maximum((p * own).sum(axis=1), np.finfo(float).eps)
    there = sorted(set(actual.tolist()))
    assert figure("accuracy", outcome) == pytest.approx(np.mean(right))
    assert figure("balanced_accuracy", outcome) == pytest.approx(
        np.mean([np.mean(right[actual == c]) for c in there])
    )
    assert figure("log_loss", outcome) == pytest.approx(-np.mean(np.log(clipped)), abs=1e-12)
    halved = 2 if len(labels) == 2 else 1
    brier = ((p - own) ** 2).sum(axis=1).mean() / halved
    assert figure("brier", outcome) == pytest.approx(brier, abs=1e-12)
    assert figure("rmse", outcome) == pytest.approx(np.sqrt(np.mean((1 - (p * own).sum(axis=1)) ** 2)))
    areas = {}
    for c in there:
        inside, outside = (p[mask, c].round(12) for mask in (actual == c, actual != c))
        beats = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
        if beats:
            areas[c] = (np.mean(beats), len(inside))
    if areas:
        expected = np.average([a for a, _ in areas.values()], weights=[n for _, n in areas.values()])
        assert figure("auc", outcome) == pytest.approx(expected)
    else:
        assert np.isnan(figure("auc", outcome))


@given(outcomes(min_classes=2))
@pytest.mark.filterwarnings("ignore")
def test_metrics_are_those_of_scikit_learn(outcome):
    sk = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed; the extra sklearn has it"
    )
    p, y, labels = outcome.posteriors.to_numpy(), outcome.actual, np.arange(len(outcome.labelling.classes))
    best = (p >= p.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)
    assert figure("accuracy", outcome) == pytest.approx(sk.accuracy_score(y, best), abs=1e-12)
    assert figure("balanced_accuracy", outcome) == pytest.approx(
        sk.balanced_accuracy_score(y, best), abs=1e-12
    )
    assert figure("log_loss", outcome) == pytest.approx(sk.log_loss(y, p, labels=labels), abs=1e-12)
    there = {"labels": sorted({*y, *best}), "average": "macro", "zero_division": 0}
    for name, expected in {
        "f1": sk.f1_score,
        "precision": sk.precision_score,
        "recall": sk.recall_score,
    }.items():
        assert figure(name, outcome) == pytest.approx(expected(y, best, **there), abs=1e-12)
    assert figure("mcc", outcome) == pytest.approx(sk.matthews_corrcoef(y, best), abs=1e-12)
    if len({*y, *best}) > 1:
        assert figure("kappa", outcome) == pytest.approx(sk.cohen_kappa_score(y, best), abs=1e-12)
    else:
        assert figure("kappa", outcome) == 0
    if len(set(y)) == 1:
        assert np.isnan(figure("auc", outcome))
    elif len(labels) == 2:
        assert figure("auc", outcome) == pytest.approx(sk.roc_auc_score(y, p[:, 1].round(12)), abs=1e-12)
        assert figure("brier", outcome) == pytest.approx(sk.brier_score_loss(y, p[:, 1]), abs=1e-12)
    else:
        shares = np.bincount(y, minlength=len(labels)) / len(y)
        areas = [
            sk.roc_auc_score(y == c, p[:, c].round(12)) if share else 0 for c, share in enumerate(shares)
        ]
        assert figure("auc", outcome) == pytest.approx(np.dot(shares, areas), abs=1e-12)
        if shares.all():
            ovr = sk.roc_auc_score(y, p.round(12), multi_class="ovr", average="weighted")
            assert figure("auc", outcome) == pytest.approx(ovr, abs=1e-12)


@given(outcomes(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_what_logs_are_shifted_by_do_not_matter(outcome, random):
    order = list(range(len(outcome.actual)))
    random.shuffle(order)
    for name in METRICS:
        one = figure(name, outcome)
        other = METRICS[name].metric_of_rows(outcome.logs[order], outcome.actual[order])
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)


def test_posteriors_that_differ_by_rounding_are_tied():
    actual = np.array([0, 1, 0, 1])
    p = np.array([0.6, 0.6, 0.2, 1e-12]) + np.array([1e-13, 0, -1e-13, 0])
    logs = np.log(np.column_stack([p, 1 - p]))
    assert METRICS["auc"].metric_of_rows(logs, actual) == (0.5 + 1 + 0 + 1) / 4
    edges = np.arange(8, 15) / 15
    near = np.concatenate([edges - 1e-12, edges + 1e-12])  # two rows per bin, one of them right
    found = calibration_of(near, np.arange(14) < 7, 15)["calibration_error"]
    assert found == pytest.approx((2 * edges - 1).sum() / 14)


def calibration_of(p, right, bins):
    """The measures of calibration of rows with the probability p of "yes", some of which are right."""
    actual = pd.Series(np.where(right, "yes", "no"))
    return bn.calibration(pd.DataFrame({"no": 1 - p, "yes": p}), actual, bins=bins).loc["yes"]


@pytest.mark.parametrize("n", [1, 20, 43, 173, 5000])
def test_calibration_error_to_expect_of_calibrated_posteriors(n):
    """Means over draws of labels from the posteriors, which are spread over [.5, 1]."""
    rng, p = np.random.default_rng(n), np.linspace(0.5, 1, n, endpoint=False)
    places, drawn = np.ceil(p * 15 - 1e-9).astype(int), []
    for _ in range(2000 if n < 1000 else 100):
        right = rng.random(n) < p
        drawn.append(np.abs(np.bincount(places, p - right)).sum() / n)
    found = calibration_of(p, right, 15)
    assert found["calibration_error"] == pytest.approx(drawn[-1])
    assert found["expected_error"] == pytest.approx(np.mean(drawn), rel=0.03)


def test_figures_of_a_small_table():
    p = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.1, 0.3, 0.6], [0.0, 0.5, 0.5]])
    with np.errstate(divide="ignore"):
        logs = np.log(p)
    outcome = Outcome(logs, np.array([0, 1, 2, 0]), Labelling(("a", "b", "c"), "k", pd.Index(list("wxyz"))))
    assert figure("log_loss", outcome) == pytest.approx(-np.log(0.7 * 0.4 * 0.6 * np.finfo(float).eps) / 4)
    # Bins end at 6/15, 8/15, 9/15 and 11/15; each holds one row.
    assert figure("calibration_error", outcome) == pytest.approx((0.4 + 0.5 + 0.4 + 0.3) / 4)


def test_bins_hold_their_upper_end():
    found = calibration_of(np.array([0.0, 0.2, 0.2001, 1.0]), np.array([True, True, False, True]), 5)
    assert found["calibration_error"] == pytest.approx(((1 + 0.8) + 0.2001 + 0) / 4)


def test_a_perfect_and_a_hopeless_model():
    with np.errstate(divide="ignore"):
        logs = np.log(np.eye(3)[[0, 1, 2, 1]])
    perfect = {name: metric.metric_of_rows(logs, np.array([0, 1, 2, 1])) for name, metric in METRICS.items()}
    assert perfect == {name: 0 if metric.is_loss else 1 for name, metric in METRICS.items()} | {"loglik": 0}
    wrong = METRICS["log_loss"].metric_of_rows(logs, np.array([1, 2, 0, 0]))
    assert wrong == pytest.approx(-np.log(np.finfo(float).eps))
    assert METRICS["brier"].metric_of_rows(logs, np.array([1, 2, 0, 0])) == 2


def test_of_impossible_rows_the_posterior_is_uniform():
    logs = np.full((2, 4), -np.inf)
    assert METRICS["log_loss"].metric_of_rows(logs, np.array([0, 3])) == pytest.approx(np.log(4))
    assert METRICS["auc"].metric_of_rows(logs, np.array([0, 3])) == 0.5


def test_a_class_that_the_model_does_not_know_is_impossible():
    outcome = Outcome(np.log([[0.25, 0.75]]), np.zeros(1, int), Labelling(("n", "y"), "k", pd.RangeIndex(1)))
    assert outcome.log_joint_of_classes(("y", "new")).tolist() == [[np.log(0.75), -np.inf]]


def test_functions_of_the_user_get_labels_and_index():
    index = pd.Index(["u", "v"], name="row")
    labelling = Labelling(("n", "y"), "buys", index)
    outcome = Outcome(np.log([[0.25, 0.75], [0.5, 0.5]]), np.array([1, 0]), labelling)
    seen = []

    def expected_share(posteriors, actual):
        seen.append((posteriors, actual))
        share = posteriors["y"].mean()
        posteriors.loc[:] = 0  # what it is given is its own
        return share

    metric = find_metric(expected_share)
    assert metric.name == "expected_share"
    assert measure(metric, outcome) == measure(metric, outcome) == pytest.approx(0.625)
    _, actual = seen[0]
    assert actual.tolist() == ["y", "n"]
    assert actual.cat.categories.tolist() == ["n", "y"]
    assert actual.name == "buys"
    assert actual.index.equals(index)
    posteriors = outcome.posteriors
    assert posteriors.index.equals(index)
    assert posteriors.columns.tolist() == ["n", "y"]
    assert find_metric(partial(expected_share)).name == "expected_share"
    for wrong in (None, "high", True, [0.5]):
        with pytest.raises(TypeError, match=r"metric <lambda> must return a number; got .*"):
            measure(find_metric(lambda p, a, wrong=wrong: wrong), outcome)


@given(outcomes(), st.data())
def test_whole_weights_are_rows_repeated(outcome, data):
    n = len(outcome.actual)
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    rows = np.repeat(np.arange(n), times)
    repeated = Outcome(outcome.logs[rows], outcome.actual[rows], outcome.labelling)
    weighted = Outcome(outcome.logs, outcome.actual, outcome.labelling, times.astype(float))
    for name in METRICS:
        if len(rows):
            assert figure(name, weighted) == pytest.approx(figure(name, repeated), abs=1e-12, nan_ok=True)
        else:
            assert np.isnan(figure(name, weighted))


def share(posteriors, actual):
    return posteriors.iloc[0, 0]
