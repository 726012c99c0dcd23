"""Accuracy of this package and of other libraries on public data."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import bnclassify as bn

from .measure import apart
from .public import load_public
from .rivals import RIVALS

BINS = 15  # of calibration
NUMBERS = ("error", "log-loss", "AUC", "calibration error", "fit, s", "predict, s")


def figures(posteriors: Any, actual: Any) -> dict[str, float]:
    """Return error, log-loss, area under the ROC curve, and calibration error.

    With several classes, the area is the mean over classes, weighted by their rows, of the area of one
    class against the others, as in the metric "auc" of `cv`.
    """
    best = posteriors.argmax(axis=1)
    own = np.maximum(posteriors[np.arange(len(actual)), actual], np.finfo(float).eps)
    right, top = best == actual, posteriors.max(axis=1)
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    rows = np.bincount(actual, minlength=posteriors.shape[1])
    areas = [area(p, actual == c) for c, p in enumerate(posteriors.T)]
    gaps = [abs(right[bins == b].sum() - top[bins == b].sum()) for b in range(BINS)]
    return {
        "error": float(1 - right.mean()),
        "log-loss": float(-np.log(own).mean()),
        "AUC": float(np.average(areas, weights=rows)),
        "calibration error": float(sum(gaps) / len(actual)),
    }


def area(scores: Any, is_positive: Any) -> float:
    """Return the proportion of pairs of a positive and a negative row that scores order rightly.

    >>> area(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, True, False, True]))
    0.875
    """
    n, ranks = is_positive.sum(), rankdata(scores)
    return float((ranks[is_positive].sum() - n * (n + 1) / 2) / (n * (len(scores) - n)))


def evaluate(rival: str, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    """Fit to one table and evaluate on another; times are those of the processor."""
    labels = sorted(train["class"].unique())
    actual = np.searchsorted(labels, test["class"].astype(str))
    times = [processor()]
    fitted = RIVALS[rival](train.drop(columns="class"), train["class"].astype(str))
    times.append(processor())
    posteriors = np.asarray(fitted(test.drop(columns="class")))
    fit, predict = np.diff([*times, processor()])
    return {**figures(posteriors, actual), "fit, s": fit, "predict, s": predict}


def processor() -> float:
    """Return the seconds of the processor in this process and in those that it started."""
    return process_time() + sum(os.times()[2:4])  # the former is finer than ticks of .01 s


def measure(
    names: Iterable[str], rivals: Iterable[str], stored: Path | None, patience: float
) -> Iterator[dict[str, Any]]:
    """Fit to one half of each data set and evaluate on the other, stratified by class with seed 0.

    Rows that a file has are read from it, and new ones are appended to it. A model that takes more than
    `patience` seconds has missing values.
    """
    known: dict[tuple[str, str], dict[str, Any]] = {}
    if stored is not None and stored.exists():
        known = {(row["data"], row["model"]): row for row in pd.read_csv(stored).to_dict("records")}
    for name in names:
        frame = load_public(name)
        half = bn.stratified_folds(frame["class"], 2, rng=0)
        for rival in rivals:
            row = known.get((name, rival))
            if row is None:
                job = partial(evaluate, rival, frame[half == 1], frame[half == 0])
                row = {"data": name, "model": rival, **(apart(job, patience) or dict.fromkeys(NUMBERS))}
                if stored is not None:
                    pd.DataFrame([row]).to_csv(stored, mode="a", header=not stored.exists(), index=False)
            yield row


def print_accuracy(names: Iterable[str], rivals: Iterable[str], stored: Path | None, patience: float) -> None:
    """Print tables in Markdown: each data set, the means, and tests on ranks."""
    warnings.filterwarnings("ignore")
    rows = []
    for row in measure(names, rivals, stored, patience):
        rows.append(row)
        cells = [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()]
        if len(rows) == 1:
            print(f"| {' | '.join(row)} |\n|{'---|' * len(row)}")
        print(f"| {' | '.join(cells)} |", flush=True)
    table = pd.DataFrame(rows)
    table, late = table[table["error"].notna()], table[table["error"].isna()]
    for model, sets in late.groupby("model")["data"]:
        ended = table["data"].isin(table.loc[table["model"] == model, "data"])
        means = table[ended].groupby("model", sort=False)[list(NUMBERS)].mean()
        print(f"\nWithout {', '.join(sets)}, where {model} took too long:\n\n{means.round(4)}")
    table = table[~table["model"].isin(late["model"])]
    means = table.groupby("model", sort=False)[list(NUMBERS)].mean()
    print("\nMeans over the data sets\n\n| model |", " | ".join(NUMBERS), "|")
    print(f"|{'---|' * (len(NUMBERS) + 1)}")
    for model, mean in means.iterrows():
        print(f"| {model} | {' | '.join(f'{v:.3g}' for v in mean)} |")
    if len(set(table["data"])) > 1 and len(set(table["model"])) > 2:
        print("\nMean ranks, and p of Wilcoxon's test against the first, adjusted by Holm\n")
        print(ranks(table))
    for number in ("error", "log-loss"):
        by_set = table.set_index(["data", "model"])[number].unstack()[list(dict.fromkeys(table["model"]))]  # noqa: PD010
        first, *others = by_set.columns
        print(f"\nData sets on which {first} has a higher {number} than each other model\n")
        for other in others:
            worse = by_set.index[by_set[first] > by_set[other] + 5e-4]
            print(f"- {other}: {len(worse)} of {len(by_set)} ({', '.join(worse)})")


def ranks(table: pd.DataFrame) -> str:
    """Write the tests on ranks of the first model against each other model."""
    models = list(table["model"].unique())
    found = {}
    for number in ("error", "log-loss", "AUC", "calibration error"):
        by_set = table.set_index(["data", "model"])[number].unstack()[models]  # noqa: PD010
        found[number] = bn.compare_ranks(by_set, lower_is_better=number != "AUC")
    lines = [f"| model | {' | '.join(found)} |", f"|{'---|' * (len(found) + 1)}"]
    for model in models:
        cells = [f"{found[number].ranks[model]:.2f}" for number in found]
        if model != models[0]:
            p = [found[number].wilcoxon["p_holm"][models[0], model] for number in found]
            cells = [f"{rank} ({value:.2g})" for rank, value in zip(cells, p, strict=True)]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    lines.append(f"| *Friedman, p* | {' | '.join(f'{c.p_f:.1g}' for c in found.values())} |")
    apart = " | ".join(f"{c.critical_difference:.2f}" for c in found.values())
    return "\n".join([*lines, f"| *critical difference* | {apart} |"])
