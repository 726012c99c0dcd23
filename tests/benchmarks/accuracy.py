"""Accuracy of this package and of other libraries on public data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import bnclassify as bn

from .public import load_public
from .rivals import RIVALS

BINS = 15  # of calibration


def figures(posteriors: Any, actual: Any) -> dict[str, float]:
    """Return error, log-loss, root mean squared error of P(true class), and calibration error."""
    best = posteriors.argmax(axis=1)
    own = np.maximum(posteriors[np.arange(len(actual)), actual], np.finfo(float).eps)
    right, top = best == actual, posteriors.max(axis=1)
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    gaps = [abs(right[bins == b].sum() - top[bins == b].sum()) for b in range(BINS)]
    return {
        "error": float(1 - right.mean()),
        "log-loss": float(-np.log(own).mean()),
        "RMSE": float(np.sqrt(((1 - own) ** 2).mean())),
        "calibration error": float(sum(gaps) / len(actual)),
    }


def measure(names: Iterable[str], rivals: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Fit to one half of each data set and evaluate on the other, stratified by class with seed 0."""
    for name in names:
        frame = load_public(name)
        half = bn.stratified_folds(frame["class"], 2, rng=0)
        train, test = frame[half == 1], frame[half == 0]
        labels = sorted(train["class"].unique())
        actual = np.searchsorted(labels, test["class"].astype(str))
        for rival in rivals:
            start = perf_counter()
            fitted = RIVALS[rival](train.drop(columns="class"), train["class"].astype(str))
            learned = perf_counter()
            posteriors = np.asarray(fitted(test.drop(columns="class")))
            seconds = {"fit, s": learned - start, "predict, s": perf_counter() - learned}
            yield {"data": name, "model": rival, **figures(posteriors, actual), **seconds}


def print_accuracy(names: Iterable[str], rivals: Iterable[str]) -> None:
    """Print tables in Markdown: each data set, the means, and tests on ranks."""
    warnings.filterwarnings("ignore")
    rows = []
    for row in measure(names, rivals):
        rows.append(row)
        cells = [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()]
        if len(rows) == 1:
            print(f"| {' | '.join(row)} |\n|{'---|' * len(row)}")
        print(f"| {' | '.join(cells)} |", flush=True)
    table = pd.DataFrame(rows)
    numbers = [c for c in table if c not in ("data", "model")]
    means = table.groupby("model", sort=False)[numbers].mean()
    print("\nMeans over the data sets\n\n| model |", " | ".join(numbers), "|")
    print(f"|{'---|' * (len(numbers) + 1)}")
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
    for number in ("error", "log-loss", "RMSE", "calibration error"):
        by_set = table.set_index(["data", "model"])[number].unstack()[models]  # noqa: PD010
        found[number] = bn.compare_ranks(by_set, lower_is_better=True)
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
