"""The joint distribution of a model at training rows, learned from all rows but the one it judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log, log_sum_exp
from ..frames.schema import Dataset
from ..model.model import Model
from ..network.bnc import BNC
from ..network.ensemble import AODE, Ensemble
from ..network.factors import Factor
from ..network.log_joints import network_joint
from ..network.priors import PrefixPrior
from .conditionals import LeftOut
from .omission import family_logs
from .tables import PrefixTable, shrunk
from .weighted import Weighted
from .weighted_estimation import with_prefixes

_BLOCK_CELLS = 2**22  # of the tables of a family, one for each row with missing values


@singledispatch
def left_out_joint(
    x: Model, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], left_out: LeftOut
) -> Any:
    """Return ln P(features, class) of rows, each learned from all the others, (rows, classes).

    A kind of model registers here how it leaves rows out. What is missing is summed out, as in the
    log joint of the whole model.

    Parameters
    ----------
    x : Model
        A structure.
    data : Dataset
        The model's variables in its order, the rows among them.
    prior : PrefixPrior
        What is learned from counts alone stays: concentrations are those of all rows.
    rows : array of int
    left_out : LeftOut
        Those rows.
    """
    return x._left_out(data, prior, rows, left_out)


@left_out_joint.register
def _(x: BNC, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], left_out: LeftOut) -> Array:
    network: Weighted = with_prefixes(x, data, prior)
    codes = data.codes[:, rows]
    complete = codes.min(axis=0) >= 0
    result = np.empty((len(rows), data.cards[-1]))
    result[complete] = _sum_families(network, codes[:, complete], left_out.take(complete))
    incomplete = np.nonzero(~complete)[0]
    largest = max(table.cells for table in network.tables)
    rows_per_block = max(1, _BLOCK_CELLS // largest)
    for start in range(0, len(incomplete), rows_per_block):
        block = incomplete[start : start + rows_per_block]
        result[block] = _sum_out(network, codes[:, block], left_out.take(block))
    return result


@left_out_joint.register(Ensemble)
@left_out_joint.register(AODE)
def _(
    x: Ensemble | AODE, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], left_out: LeftOut
) -> Array:
    weights = x.log_weights if isinstance(x, Ensemble) else np.full(len(x.members), -np.log(len(x.members)))
    logs = [left_out_joint(member, data, prior, rows, left_out) for member in x.members]
    return log_sum_exp(
        np.stack([log_joint + weight for log_joint, weight in zip(logs, weights, strict=True)]), axis=0
    )


def _sum_families(x: Weighted, codes: Codes, left_out: LeftOut) -> Array:
    """Return the log joint of complete rows."""
    total = np.zeros((codes.shape[1], x.tables[-1].cards[0]))
    for family in range(len(x.tables)):
        total += family_logs(x, family, codes[:-1], left_out, [x.depth])[0]
    return total


def _sum_out(x: Weighted, codes: Codes, left_out: LeftOut) -> Array:
    """Return the log joint of incomplete rows: each has tables of its own."""
    class_number = len(x.features)
    factors = []
    for scope, table in zip(x.structure.scopes, x.tables, strict=True):
        members = [v for v in scope if v != class_number or v == scope[0]]
        tables = log(_tables_without(table, [codes[v] for v in members], left_out))
        if scope[0] == class_number:  # (parents…, classes, rows, 1)
            factors.append(Factor(scope[1:], np.moveaxis(tables[..., 0], -2, -1)))
        else:  # (parents…, levels, rows, classes)
            factors.append(Factor(tuple(members), np.moveaxis(tables, len(members) - 1, 0)))
    return network_joint(factors, codes[:-1], np.arange(codes.shape[1]))


def _tables_without(table: PrefixTable, codes: Sequence[Codes], left_out: LeftOut) -> Array:
    """Return the full table for each row, the row left out of its counts; see `PrefixTable.full`.

    ``codes`` are those of the variable and its feature parents.

    Returns
    -------
    (levels of each feature parent…, levels of the variable, rows, classes) array
    """
    variable, *parents = codes
    levels, *parent_cards = table.cards
    uniform = np.full((1, levels, len(variable), 1), 1 / levels)
    value: Array = uniform
    observed = variable >= 0
    configuration = np.zeros(len(variable), dtype=np.intp)
    positions = np.zeros(1, dtype=np.intp)
    root = len(table.prefixes) - len(codes)
    for i, (prefix, mass) in enumerate(zip(table.prefixes, table.masses, strict=True)):
        if i > root:
            card, code = parent_cards[i - root - 1], parents[i - root - 1]
            observed, configuration = observed & (code >= 0), configuration * card + code
            previous, level = np.divmod(prefix.parents.keys, card)
            positions = positions[previous] * card + level
            value = np.repeat(value, card, axis=0)
        counts = np.zeros((len(value), levels, 1, prefix.counts.shape[1]))
        counts[positions[prefix.cells.keys // levels], prefix.cells.keys % levels, 0] = prefix.counts
        counts = np.repeat(counts, len(variable), axis=2)
        rows = np.nonzero(observed)[0]
        columns = left_out.classes[rows] if counts.shape[-1] > 1 else 0
        counts[configuration[rows], variable[rows], rows, columns] -= left_out.shares[rows]
        value = shrunk(counts, counts.sum(axis=1, keepdims=True), mass, value if table.nested else uniform)
    return value.reshape(*parent_cards, *value.shape[1:])
