"""What is right, computed in the plainest way: products, sums over all values, figures of files."""

from graphlib import CycleError, TopologicalSorter
from itertools import product

import numpy as np
import pandas as pd

import bnclassify as bn


def joint_by_hand(x, row, label):
    """Product over families of the looked-up probabilities."""
    result = 1.0
    for variable, table in bn.params(x).items():
        family = bn.families(x)[variable]
        values = [label if v == "class" else row[v] for v in family]
        result *= table[tuple(bn.values(x)[v].index(value) for v, value in zip(family, values, strict=True))]
    return result


def joint_by_enumeration(x, row, label):
    """Sum the product of the tables over all values of missing variables."""
    missing = [v for v in bn.features(x) if pd.isna(row[v])]
    total = 0.0
    for filled in product(*(bn.values(x)[v] for v in missing)):
        whole = row.astype(object).copy()
        for v, value in zip(missing, filled, strict=True):
            whole[v] = value
        total += joint_by_hand(x, whole, label)
    return total


def posterior_by_enumeration(x, frame):
    weights = np.asarray(getattr(x, "weights", None) or np.ones(len(bn.members(x))))
    joint = np.array(
        [
            [weights @ [joint_by_enumeration(m, row, c) for m in bn.members(x)] for c in bn.classes(x)]
            for _, row in frame.iterrows()
        ]
    )
    return joint / joint.sum(axis=1, keepdims=True)


def with_holes(frame, share, seed):
    """Remove feature values at random."""
    holes = np.random.default_rng(seed).random(frame.shape) < share
    holes[:, frame.columns.get_loc("class")] = False
    return frame.mask(holes)


def close(value, expected):
    """Equal to 1e-9 relative; what R gives as 0 may be rounding noise."""
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-13)


def as_array(table):
    return np.reshape(table["column_major"], table["dim"], order="F")


def halfway_above(points, numbers):
    """The middle between values, such as quantiles, and the next larger ones."""
    values = np.unique(np.asarray(numbers, dtype=float))
    at = np.searchsorted(values, points)
    assert values[at].tolist() == points
    return [float(f"{x:.15g}") for x in (values[at] + values[at + 1]) / 2]


def has_cycle(parents):
    """Whether a graph, the parents of each vertex, has a cycle."""
    try:
        TopologicalSorter(parents).prepare()
    except CycleError:
        return True
    return False
