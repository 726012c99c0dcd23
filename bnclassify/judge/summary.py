"""A model in one small table: its facts and, with data, its cross-validated performance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..accessors import (
    check_fitted,
    check_has_rows,
    check_model,
    encode_for_model,
    variables_of_new_data,
)
from ..frames import InFull, InParts, open_data
from ..metrics import choose_metrics
from ..model import Model
from ..prediction import weigh_evidence
from ..questions.facts import aligned_lines, facts_of
from ..tools.calls import with_call_advice
from ..tools.checks import Seed, Whole
from ..validation import cv, evaluate_without_refit, recorded_scheme
from .by_group import results_by_group

_METRICS = ["accuracy", "log_loss", "calibration_error"]
_IN_WORDS = {
    "log_loss": "log-loss",
    "calibration_error": "calibration error",
    "rps": "ranked probability score",
}
_MOST_FEATURES = 3


@with_call_advice("Pass data second: summary(x, dataset).")
def summary(
    x: Model,
    dataset: InFull | InParts | None = None,
    *,
    by: Hashable | Sequence[Hashable] | None = None,
    k: int = 10,
    rng: Seed = None,
    groups: Any = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Summarize a model and, if data are given, its performance.

    Parameters
    ----------
    x : BNC, AODE or another model
        With or without parameters; with parameters if `dataset` is given.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        Data for cross-validation, as in `cv`: usually the training data.
    by : str or list of str, optional
        Columns of `dataset` with groups as values, such as "sex". They need not
        be features.
    k : int, default 10
        Number of folds. 0 evaluates the model as it is, without refitting it;
        use it for rows that the model has not seen.
    rng : int or numpy.random.Generator, optional
        Seed of the folds.
    groups : str or array-like, optional
        As in `cv`: rows that belong together, such as those of a person, are in
        the same fold.
    progress : bool, optional
        Whether to show a progress bar of the models that `cv` refits; by
        default after 3 seconds, in an interactive session.

    Returns
    -------
    pandas.DataFrame
        Columns ``item`` and ``value``, with the facts and texts of
        ``print(x)``. With `dataset`, there are also the cross-validated (with
        ``k=0``, the plain) accuracy, log-loss and calibration error, and for a
        class with an order the ranked probability score, each with its
        baseline, the value if every row gets the class proportions, and the
        three features with the largest
        mean absolute contributions in `explain`, in at most 1,000 rows.
        ``attrs["metrics"]`` has the exact values and baselines.

        With `by`, one row per group and a last row of all rows: the number of
        rows, the actual share of a class, the share predicted and the mean
        probability, the error, log-loss and calibration error. The class is the
        last of two; with more, there are three columns per class.

    Raises
    ------
    KeyError, TypeError, ValueError
        With `dataset`, as `cv` and `explain`. If `by` is not a column, its
        values cannot be sorted, or there are more than 100 groups.

    Examples
    --------
    >>> from bnclassify import bnc, load_car, summary
    >>> car = load_car()
    >>> model = bnc("tan_cl", "class", car, smooth=1)
    >>> found = summary(model, car, rng=0).set_index("item")["value"]
    >>> print(found[["accuracy", "strongest features"]].to_string())
    item
    accuracy                     0.943, baseline 0.700
    strongest features    safety 1.43, persons 1.19, maint 0.79
    """
    x = check_model(x)
    k = Whole(least=0).check("k", k)
    if by is not None:
        return results_by_group(x, dataset, by, k, rng, groups, progress)
    facts, metrics = facts_of(x), dict[str, tuple[float, float | None]]()
    if dataset is not None:
        dataset = open_data(dataset).check_in_memory("dataset")
        names = _METRICS + _metrics_of_order(check_fitted(x))
        is_latent = variables_of_new_data(x) == x.features
        if not is_latent and not k:
            metrics = _metrics_without_refit(x, dataset, names)
        elif not is_latent:
            means = cv(
                [x], dataset, metric=names, k=k, rng=rng, groups=groups, progress=progress
            ).droplevel(0)
            scheme = recorded_scheme(means)
            baselines = {} if scheme is None else scheme.baselines
            for name, value in means.items():
                metrics[str(name)] = value, baselines.get(str(name))
        facts |= _facts_of_metrics(metrics)
        facts["strongest features"] = _strongest_features_by_target(x, dataset)
    table = _Summary({"item": list(facts), "value": pd.Series(list(facts.values()), dtype=object)})
    table.attrs["metrics"] = metrics
    return table


def _metrics_without_refit(
    x: Model, dataset: Any, names: Sequence[str]
) -> dict[str, tuple[float, float | None]]:
    """Return the values of metrics in rows, and their baselines, by name."""
    metrics = choose_metrics(list(names), x.targets)
    values = zip(*evaluate_without_refit(x, dataset, metrics), strict=True)
    return dict(zip([metric.name for metric in metrics], values, strict=True))


def _facts_of_metrics(metrics: Mapping[str, tuple[float, float | None]]) -> dict[str, str]:
    """Return the texts of values and baselines by the names of metrics in words."""
    facts = {}
    for name, (value, baseline) in metrics.items():
        for metric, words in _IN_WORDS.items():
            name = name.replace(metric, words)
        facts[name] = f"{value:.3f}" + ("" if baseline is None else f", baseline {baseline:.3f}")
    return facts


def _metrics_of_order(x: Model) -> list[str]:
    """Return metrics of classes that were declared to have an order."""
    rows = x.trained_on
    is_ordered = rows is not None and bool(x.targets) and set(x.targets) <= set(rows.ordered)
    return ["rps"] if is_ordered else []


class _Summary(pd.DataFrame):
    """A table of items and values that prints whole sentences; its parts are plain tables."""

    def __repr__(self) -> str:
        facts = dict(self.itertuples(index=False, name=None)) if self.shape[1] == 2 else {}
        return "\n".join(aligned_lines(facts)) if facts else super().__repr__()

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            return self.to_html(index=False)


def _strongest_features_by_target(x: Model, dataset: Any) -> str:
    texts = {name: _strongest_features(x.model_of_class(name), dataset) for name in x.targets}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "; ".join([f"{name}: {text}" for name, text in texts.items()])


def _strongest_features(x: Model, dataset: Any) -> str:
    """Name the features with the largest mean absolute contributions."""
    # 1000: number of rows from which strengths of features are computed
    strengths = mean_contributions(x, dataset, 1000)
    best = sorted(strengths, key=lambda name: -strengths[name])[:_MOST_FEATURES]
    return ", ".join(f"{name} {strengths[name]:.2f}" for name in best)


def mean_contributions(x: Model, dataset: Any, most: int) -> dict[Hashable, float]:
    """Return the mean absolute contribution of each feature in at most ``most`` spaced rows.

    Of rows with weights, as many units of weight are evenly spaced.
    """
    data = check_has_rows(
        encode_for_model(check_fitted(x), dataset, x.features, "dataset"), "dataset"
    )
    if max(len(data), data.size) > most:
        ends = np.cumsum(data.row_weights)
        units = np.linspace(0, ends[-1] - min(1.0, ends[-1] / most), most)
        data = replace(data.take_rows(np.searchsorted(ends, units, side="right")), weights=None)
    return weigh_evidence(x, data, unseen="missing", argument="dataset").mean_contributions
