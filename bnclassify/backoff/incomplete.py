"""Incomplete rows in models with weights: a blend of weighted terms and a tree.

Weights are best for complete rows. If features are missing, the weights of the other terms are not adjusted,
so posteriors are overconfident or underconfident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes
from ..base.immutable import Immutable
from ..base.records import record
from ..network.classifiers import BNC
from ..network.factors import Factor
from ..network.log_joints import BLOCK_ROWS, network_joint
from .tables import PrefixTable

_MOST_CELLS = 2**20  # maximum number of cells of a table in a tree
_TREES = 3


@record
@dataclass(frozen=True)
class Fading(Immutable):
    """The blend of terms and trees in the score of a row with a share h of missing features.

    S = λ Σ w·term + (1 − λ) (ln P(y) + (base + slope h) M), with λ = (1 − h)^exponent, where M is the mean of
    ln P(observed features | y) over trees of the first parents, with missing features marginalized over.
    """

    exponent: float
    base: float
    slope: float

    def blend(self, terms: Array, log_prior: Array, trees: Array, shares: Array) -> Array:
        """Return scores, (…, rows, classes), from terms and M; ``shares`` of the features are missing."""
        kept = ((1 - shares) ** self.exponent)[:, None]
        power = (self.base + self.slope * shares)[:, None]
        return np.asarray(kept * terms + (1 - kept) * (log_prior + power * trees))


def missing_shares(codes: Codes) -> Array:
    """Return the share of the features that each row lacks, (rows,)."""
    return np.asarray(np.count_nonzero(codes < 0, axis=0) / max(1, len(codes)))


def first_parents(structure: BNC, tables: Sequence[PrefixTable]) -> tuple[BNC, list[PrefixTable]]:
    """Return the network of the first parents, without parents that would make tables large."""
    families, short = [], []
    for (variable, *parents), table in zip(structure.families, tables, strict=True):
        last = parents[-1:] if parents[-1:] == [structure.class_var] else []
        n = min(1, len(table.cards) - 1)
        n *= prod(table.cards[: n + 1]) * table.prefixes[-1].counts.shape[1] <= _MOST_CELLS
        kept = table.root + 1 + n
        families.append((variable, *parents[:n], *last))
        short.append(
            PrefixTable(table.cards[: n + 1], table.prefixes[:kept], table.masses[:kept], table.nested)
        )
    return replace(structure, families=tuple(families), cpts=None, learned={}), short


def make_tree(structure: BNC, tables: Sequence[PrefixTable]) -> tuple[Factor, ...]:
    """Return the terms of the network of the first parents."""
    tree, short = first_parents(structure, tables)
    pairs = zip(short, tree.families, strict=True)
    return replace(tree, cpts=tuple([table.conditional(family) for table, family in pairs])).terms


def evidence_in_trees(trees: Sequence[tuple[Sequence[Factor], Any]], codes: Codes) -> Array:
    """Return the mean over trees of ln P(observed features | class), (rows, classes).

    Each tree has a function that codes rows for it, or None.
    """
    total = np.zeros((codes.shape[1], trees[0][0][-1].table.shape[-1]))
    nothing = np.full((len(codes), 1), -1)
    for start in range(0, codes.shape[1], BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        for terms, coarsen in trees:
            rows = np.concatenate([codes[:, block], nothing], axis=1)
            logs = network_joint(terms, rows if coarsen is None else coarsen(rows))
            total[block] += logs[:-1] - logs[-1]
    return total / len(trees)


def some(networks: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return an evenly spread selection of networks, with their positions, whose trees are averaged."""
    n = len(networks)
    return [(i, networks[i]) for i in np.unique(np.linspace(0, n - 1, min(n, _TREES)).astype(int)).tolist()]
