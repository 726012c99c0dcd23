"""Incomplete rows in weighted models: trees that marginalize over features, their share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ..classifiers import BNC
from ..counts import Scope
from ..dataset import Dataset
from ..elimination import Factor, Fading, log_joint_of_network
from ..tools.arrays import Array, Codes, log
from .conditional_likelihood import best_common_power
from .prefix_tables import LeftOutRows, PrefixTable


def learn_fading(data: Dataset, terms: Array, classes: Codes, counts: Array) -> Fading:
    """Return the rule, given the odds at rows of the tables without feature parents."""
    weights = data.row_weights
    known = data.codes[:-1] >= 0
    shares = known @ weights / max(float(weights.sum()), 1e-300)
    # 1 - 1e-9: largest share of rows in which a feature is known that some rows lack
    usual = np.where(known.all(axis=1), 1.0, np.minimum(shares, 1 - 1e-9))
    power = best_common_power(terms.sum(axis=0), classes, counts) if data.cards[-1] > 1 else 1.0
    return Fading(usual, power)


def keep_first_parents(
    structure: BNC, tables: Sequence[PrefixTable]
) -> tuple[BNC, list[PrefixTable]]:
    """Return the network of the first parents, without parents that would make tables large."""
    families, short = [], []
    for (variable, *parents), table in zip(structure.families, tables, strict=True):
        last = parents[-1:] if parents[-1:] == [structure.class_var] else []
        n = min(1, len(table.cards) - 1)
        # 2**20: maximum number of cells of a table in a tree
        n *= prod(table.cards[: n + 1]) * table.prefixes[-1].counts.shape[1] <= 2**20
        kept = table.prefix_without_parents + 1 + n
        families.append((variable, *parents[:n], *last))
        prefixes, masses = table.prefixes[:kept], table.masses[:kept]
        short.append(PrefixTable(table.cards[: n + 1], prefixes, masses, table.nested))
    return replace(structure, families=tuple(families), cpts=None, learned={}), short


def factors_of_first_parents(structure: BNC, tables: Sequence[PrefixTable]) -> tuple[Factor, ...]:
    """Return the terms of the network of the first parents."""
    tree, short = keep_first_parents(structure, tables)
    pairs = zip(short, tree.families, strict=True)
    cpts = [table.cpt_of_family(family) for table, family in pairs]
    return replace(tree, cpts=tuple(cpts)).formula.factors


def evenly_spread_positions(codings: Sequence[object]) -> list[int]:
    """Return an evenly spread selection of the positions of codings, whose trees are averaged."""
    n = len(codings)
    positions: list[int] = np.unique(np.linspace(0, n - 1, min(n, 3)).astype(int)).tolist()
    return positions


def log_joint_of_incomplete_rows(
    scopes: Sequence[Scope],
    tables: Sequence[PrefixTable],
    codes: Codes,
    left_out: LeftOutRows,
) -> Array:
    """Return the log joint of rows under the network without each row, (rows, classes)."""
    class_number = len(scopes) - 1
    factors = []
    for scope, table in zip(scopes, tables, strict=True):
        members = [v for v in scope if v != class_number or v == scope[0]]
        logs = log(_tables_without_own_row(table, [codes[v] for v in members], left_out))
        if scope[0] == class_number:  # (parents…, classes, rows, 1)
            factors.append(Factor(scope[1:], np.moveaxis(logs[..., 0], -2, -1)))
        else:  # (parents…, levels, rows, classes)
            factors.append(Factor(tuple(members), np.moveaxis(logs, len(members) - 1, 0)))
    return log_joint_of_network(factors, codes[:-1], np.arange(codes.shape[1]))


def _tables_without_own_row(
    table: PrefixTable, codes: Sequence[Codes], left_out: LeftOutRows
) -> Array:
    """Return each row's table from all others, (parents' levels…, levels, rows, classes or 1)."""
    rows = len(left_out.classes)
    levels, *parent_cards = table.cards
    *parents, variable = np.indices((*parent_cards, levels)).reshape(len(table.cards), -1, 1)
    all_codes = [np.repeat(values, rows) for values in (variable, *parents)]
    own_value = np.where(variable == codes[0], left_out.shares, 0.0)
    any_value = np.where(codes[0] >= 0, left_out.shares, 0.0)

    def deduct(i: int) -> tuple[Array, Array]:
        same = np.ones((len(variable), rows))
        for cells, code in zip(
            parents[: max(0, i - table.prefix_without_parents)], codes[1:], strict=False
        ):
            same = same * (cells == code)
        return (same * own_value).ravel(), (same * any_value).ravel()

    *_, values = table.probabilities_at_rows(
        all_codes, np.tile(left_out.classes, len(variable)), deduct
    )
    return values.reshape(*parent_cards, levels, rows, values.shape[1])
