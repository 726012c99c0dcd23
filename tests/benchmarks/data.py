"""Seeded synthetic data, drawn from a random tree-augmented network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle, islice

import numpy as np
import pandas as pd


def tree_augmented(
    rows: int, features: int, levels: int | list[int], classes: int, seed: int = 0
) -> pd.DataFrame:
    """Draw categorical columns ``x0``… and ``class``; each feature depends on the class and one other.

    A list of numbers of levels is repeated.
    """
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=rows)
    cards = list(islice(cycle([levels] if isinstance(levels, int) else levels), features))
    codes: list[np.ndarray] = []
    for i, card in enumerate(cards):
        parent = int(rng.integers(i)) if i else None
        above = np.zeros(rows, dtype=int) if parent is None else codes[parent]
        states = card if parent is None else cards[parent]
        table = rng.dirichlet(np.ones(card), size=(states, classes)).cumsum(axis=2)
        uniform = rng.random(rows)
        code = np.zeros(rows, dtype=np.int8)
        for k in range(card - 1):
            code += uniform > table[:, :, k][above, label]
        codes.append(code)
    columns = {
        f"x{i}": pd.Categorical.from_codes(code, [f"v{k}" for k in range(card)])
        for i, (code, card) in enumerate(zip(codes, cards, strict=True))
    }
    return pd.DataFrame(
        columns | {"class": pd.Categorical.from_codes(label, [f"c{k}" for k in range(classes)])}
    )


def with_missing(frame: pd.DataFrame, share: float, seed: int = 0) -> pd.DataFrame:
    """Remove feature values at random."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            name: column if name == "class" else column.mask(rng.random(len(frame)) < share)
            for name, column in frame.items()
        }
    )


SETS: dict[str, Callable[[], pd.DataFrame]] = {
    "3,000 x 36": partial(tree_augmented, 3_000, 36, 2, 2),
    "5,600 x 22": partial(tree_augmented, 5_600, 22, [2, 3, 4, 6, 8, 12], 2),
    "3,190 x 60": partial(tree_augmented, 3_190, 60, 4, 3),
    "100,000 x 30": partial(tree_augmented, 100_000, 30, 4, 4),
    "1,000,000 x 30": partial(tree_augmented, 1_000_000, 30, 4, 4),
    "2,000 x 1,000": partial(tree_augmented, 2_000, 1_000, 2, 2),
}
"""Sizes of the data sets, rows x features, with 2 levels and classes; 2 to 12 levels and 2 classes; 4 levels
and 3 classes; twice 4 levels and classes; 2 levels and classes."""
