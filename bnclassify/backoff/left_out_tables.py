"""Networks with separate tables for each row, estimated from all other rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Array, Codes, log
from ..network.estimates import Scope
from ..network.factors import Factor
from ..network.log_joints import network_joint
from .tables import LeftOut, PrefixTable


def marginalize(
    scopes: Sequence[Scope],
    tables: Sequence[PrefixTable],
    codes: Codes,
    left_out: LeftOut,
    known: Codes | None = None,
) -> Array:
    """Return the log joint of rows under the network without each, (rows, classes).

    ``codes`` are the counted codes of all variables. If features are hidden, ``known`` has the remaining
    codes of any number of concatenated copies of the rows.
    """
    class_number = len(scopes) - 1
    factors = []
    for scope, table in zip(scopes, tables, strict=True):
        members = [v for v in scope if v != class_number or v == scope[0]]
        logs = log(_tables_without(table, [codes[v] for v in members], left_out))
        if scope[0] == class_number:  # (parents…, classes, rows, 1)
            factors.append(Factor(scope[1:], np.moveaxis(logs[..., 0], -2, -1)))
        else:  # (parents…, levels, rows, classes)
            factors.append(Factor(tuple(members), np.moveaxis(logs, len(members) - 1, 0)))
    features = codes[:-1] if known is None else known
    return network_joint(factors, features, np.arange(features.shape[1]) % codes.shape[1])


def _tables_without(table: PrefixTable, codes: Sequence[Codes], left_out: LeftOut) -> Array:
    """Return the full table for each row, estimated from all other rows.

    ``codes`` contains the variable and its feature parents; the result has the shape (levels of each
    feature parent…, levels of the variable, rows, classes or 1).
    """
    rows = len(left_out.classes)
    levels, *parent_cards = table.cards
    *parents, variable = np.indices((*parent_cards, levels)).reshape(len(table.cards), -1, 1)
    all_codes = [np.repeat(values, rows) for values in (variable, *parents)]
    own_value = np.where(variable == codes[0], left_out.shares, 0.0)
    any_value = np.where(codes[0] >= 0, left_out.shares, 0.0)

    def deduct(i: int) -> tuple[Array, Array]:
        same = np.ones((len(variable), rows))
        for cells, code in zip(parents[: max(0, i - table.root)], codes[1:], strict=False):
            same = same * (cells == code)
        return (same * own_value).ravel(), (same * any_value).ravel()

    *_, values = table.at_rows(all_codes, np.tile(left_out.classes, len(variable)), deduct)
    return values.reshape(*parent_cards, levels, rows, values.shape[1])
