"""Seeded synthetic data, drawn from a random tree-augmented network."""

from __future__ import annotations

import numpy as np
import pandas as pd


def tree_augmented(rows: int, features: int, levels: int, classes: int, seed: int = 0) -> pd.DataFrame:
    """Draw categorical columns ``x0``… and ``class``; each feature depends on the class and one other."""
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=rows)
    codes: list[np.ndarray] = []
    for i in range(features):
        parent = codes[rng.integers(i)] if i else np.zeros(rows, dtype=int)
        table = rng.dirichlet(np.ones(levels), size=(levels, classes)).cumsum(axis=2)
        codes.append((rng.random(rows)[:, None] > table[parent, label][:, :-1]).sum(axis=1))
    columns = {
        f"x{i}": pd.Categorical.from_codes(code, [f"v{k}" for k in range(levels)])
        for i, code in enumerate(codes)
    }
    return pd.DataFrame(
        columns | {"class": pd.Categorical.from_codes(label, [f"c{k}" for k in range(classes)])}
    )
