"""How often intervals of posteriors contain those of a model of a hundred times as many rows.

``python -m tests.benchmarks.coverage [rows]`` prints one line per kind of data and of model: the share of
posteriors of test rows, of several samples, inside of their 90 % interval, and its mean width. Data
are drawn from known distributions, so a model of many rows is close to what all samples estimate.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import bnclassify as bn

INTERVAL, DRAWS, SAMPLES, TEST_ROWS, TIMES = 0.9, 20, 10, 500, 100


def sums(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw numbers and categories whose effects on the log odds of two classes add up."""
    age, dose, noise = rng.normal(size=(3, rows))
    town, sex = rng.integers(0, 5, rows), rng.integers(0, 2, rows)
    odds = 1.2 * np.tanh(1.5 * age) - 0.5 * dose + 0.6 * (town - 2) / 2 + 0.7 * sex - 0.6
    frame = pd.DataFrame({"age": age, "dose": dose, "noise": noise, "town": town, "sex": sex})
    frame = frame.astype({"town": str, "sex": str})
    return frame.assign(y=np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no"))


def pairs(rows: int, rng: np.random.Generator, sharp: bool = False) -> pd.DataFrame:
    """Draw categories that depend on each other and on three classes, with an interaction of two of them.

    If ``sharp``, some values are impossible in some classes, so that many posteriors are 0.
    """
    y = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    a = (y + rng.choice(3, rows, p=[0.5, 0.5, 0.0] if sharp else [0.45, 0.45, 0.1])) % 3
    b = np.where(rng.random(rows) < 0.6, a, rng.integers(0, 3, rows))
    c = rng.random(rows) < np.where(y == 2, np.abs((a != b) - (1.0 if sharp else 0.9)), 0.4)
    d = rng.integers(0, 4, rows)
    frame = pd.DataFrame({"a": a, "b": b, "c": c.astype(int), "d": d}).astype(str)
    return frame.assign(y=np.array(list("uvw"))[y])


DATA: dict[str, Callable[[int, np.random.Generator], pd.DataFrame]] = {
    "sums": sums,
    "pairs": pairs,
    "sharp": partial(pairs, sharp=True),
}


def covered(
    draw: Callable[[int, np.random.Generator], pd.DataFrame], rows: int, n_pairs: Any
) -> tuple[float, float]:
    """Return the share of posteriors that are inside of the intervals, and the mean width of these."""
    rng, options = np.random.default_rng(0), dict[str, Any](class_var="y", pairs=n_pairs)
    test = draw(TEST_ROWS, rng)
    truth = bn.predict(bn.bnc(dataset=draw(TIMES * rows, rng), **options), test, prob=True)
    inside, widths = [], []
    for _ in range(SAMPLES):
        sample = draw(rows, rng)
        model = bn.bnc(dataset=sample, interval=True, draws=DRAWS, **options)
        found = bn.predict(model, test, prob=True, unseen="missing", interval=INTERVAL)
        low, high = (found.xs(end, axis=1, level=1)[list(truth)] for end in ("lower", "upper"))
        inside.append(((low <= truth) & (truth <= high)).to_numpy().mean())
        widths.append((high - low).to_numpy().mean())
    return float(np.mean(inside)), float(np.mean(widths))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for size in map(int, sys.argv[1:] or ["300", "1000"]):
        for name, draw in DATA.items():
            for n_pairs in ("auto", 0):
                share, width = covered(draw, size, n_pairs)
                kind = "default" if n_pairs else "sum"
                print(f"{name:5} {size:5,} {kind:7}: {share:.3f} covered, mean width {width:.3f}", flush=True)
