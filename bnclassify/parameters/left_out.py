"""The joint distribution of a model at training rows, learned from all rows but the one it judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import TOLERANCE, Array, Codes, log, log_sum_exp
from ..frames.counting import contingency_tables
from ..frames.schema import Dataset
from ..inference.factors import Factor
from ..inference.log_joints import network_joint
from ..inference.prefixes import LeftOut
from ..inference.superparents import electorates
from ..model.ensembles import AODE, Ensemble
from ..model.kinds import Model
from ..model.networks import BNC
from ..model.prefixes import PrefixTable, shrunk
from ..model.superparents import ANDE
from ..model.weighted import Weighted
from .omission import family_logs
from .priors import PrefixPrior
from .weighted import with_prefixes

_BLOCK_CELLS = 2**22  # of the tables of a family, one for each row with missing values


@singledispatch
def left_out_joint(x: Model, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], out: LeftOut) -> Any:
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
    out : LeftOut
        Those rows.
    """
    raise TypeError(f"loo_power: nothing is known of how to leave rows out of a {type(x).__name__}")


@left_out_joint.register
def _(x: BNC, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], out: LeftOut) -> Array:
    network: Weighted = with_prefixes(x, data, prior)
    codes = data.codes[:, rows]
    complete = codes.min(axis=0) >= 0
    result = np.empty((len(rows), data.cards[-1]))
    result[complete] = _sum_families(network, codes[:, complete], out.take(complete))
    part = np.nonzero(~complete)[0]
    most = max(table.cells for table in network.tables)
    size = max(1, _BLOCK_CELLS // most)
    for some in (part[start : start + size] for start in range(0, len(part), size)):
        result[some] = _sum_out(network, codes[:, some], out.take(some))
    return result


@left_out_joint.register(Ensemble)
@left_out_joint.register(AODE)
def _(x: Ensemble | AODE, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], out: LeftOut) -> Array:
    weights = x.log_weights if isinstance(x, Ensemble) else np.full(len(x.members), -np.log(len(x.members)))
    logs = [left_out_joint(member, data, prior, rows, out) for member in x.members]
    return log_sum_exp(np.stack([own + weight for own, weight in zip(logs, weights, strict=True)]), axis=0)


def _sum_families(x: Weighted, codes: Codes, out: LeftOut) -> Array:
    """Return the log joint of complete rows."""
    total = np.zeros((codes.shape[1], x.tables[-1].cards[0]))
    for family in range(len(x.tables)):
        total += family_logs(x, family, codes[:-1], out, [x.depth])[0]
    return total


def _sum_out(x: Weighted, codes: Codes, out: LeftOut) -> Array:
    """Return the log joint of incomplete rows: each has tables of its own."""
    class_number = len(x.features)
    factors = []
    for scope, table in zip(x.structure.scopes, x.tables, strict=True):
        own = [v for v in scope if v != class_number or v == scope[0]]
        full = log(_tables_without(table, [codes[v] for v in own], out))
        if scope[0] == class_number:  # (parents…, classes, rows, 1)
            factors.append(Factor(scope[1:], np.moveaxis(full[..., 0], -2, -1)))
        else:  # (parents…, levels, rows, classes)
            factors.append(Factor(tuple(own), np.moveaxis(full, len(own) - 1, 0)))
    return network_joint(factors, codes[:-1], np.arange(codes.shape[1]))


def _tables_without(table: PrefixTable, codes: Sequence[Codes], out: LeftOut) -> Array:
    """Return the full table for each row, the row left out of its counts; see `PrefixTable.full`.

    ``codes`` are those of the variable and its feature parents.

    Returns
    -------
    (levels of each feature parent…, levels of the variable, rows, classes) array
    """
    variable, *parents = codes
    levels, *above = table.cards
    uniform = np.full((1, levels, len(variable), 1), 1 / levels)
    value: Array = uniform
    known = variable >= 0
    place = np.zeros(len(variable), dtype=np.intp)
    where = np.zeros(1, dtype=np.intp)
    alone = len(table.prefixes) - len(codes)
    for i, (prefix, mass) in enumerate(zip(table.prefixes, table.masses, strict=True)):
        if i > alone:
            card, code = above[i - alone - 1], parents[i - alone - 1]
            known, place = known & (code >= 0), place * card + code
            before, last = np.divmod(prefix.parents.keys, card)
            where = where[before] * card + last
            value = np.repeat(value, card, axis=0)
        counts = np.zeros((len(value), levels, 1, prefix.counts.shape[1]))
        counts[where[prefix.cells.keys // levels], prefix.cells.keys % levels, 0] = prefix.counts
        counts = np.repeat(counts, len(variable), axis=2)
        rows = np.nonzero(known)[0]
        columns = out.classes[rows] if counts.shape[-1] > 1 else 0
        counts[place[rows], variable[rows], rows, columns] -= out.shares[rows]
        value = shrunk(counts, counts.sum(axis=1, keepdims=True), mass, value if table.nested else uniform)
    return value.reshape(*above, *value.shape[1:])


@left_out_joint.register
def _(x: ANDE, data: Dataset, prior: PrefixPrior, rows: NDArray[np.intp], out: LeftOut) -> Array:
    # Who votes is decided without the row: every count that decides it is one less.
    subsumption = None if x.subsumption is None else x.subsumption + 1
    strict = replace(x, min_count=x.min_count + 1, subsumption=subsumption)
    result = np.empty((len(rows), data.cards[-1]))
    for voters in electorates(strict, data.codes[:-1, rows]):
        some = rows[voters.rows]
        present = np.where(voters.levels >= 0, data.codes[:-1, some], -1)
        logs = np.full((len(some), data.cards[-1]), -np.inf)
        for superparents in combinations(range(len(x.features)), voters.n):
            votes, own = _member_without(data, superparents, present, out.take(voters.rows), x)
            weight = voters.weights[list(superparents)].sum() if voters.n else 1.0
            if weight > 0 and votes.any():
                logs[votes] = np.logaddexp(logs[votes], own + np.log(weight))
        result[voters.rows] = logs - np.log(voters.mass)[:, None]
    return result


def _member_without(
    data: Dataset, superparents: tuple[int, ...], codes: Codes, out: LeftOut, x: ANDE
) -> tuple[NDArray[np.bool_], Array]:
    """Return in which rows a member votes, and the log joint of those, each left out of the counts."""
    c, prior = len(data.columns) - 1, x.tables.prior
    joint = contingency_tables(data, [(*superparents, c)])[0]
    votes: NDArray[np.bool_] = np.asarray((codes[list(superparents)] >= 0).all(axis=0))
    at = tuple(codes[s] for s in superparents)
    if superparents:
        frequent = joint.sum(axis=-1) >= x.min_count + 1 - TOLERANCE
        votes[votes] = frequent[tuple(own[votes] for own in at)]
    at, out = tuple(own[votes] for own in at), out.take(votes)
    off = out.shares[:, None] * (out.classes[:, None] == np.arange(data.cards[c]))
    pseudo = prior.per_cell(joint.size, 1)
    own = np.broadcast_to(joint[at], off.shape) - off + pseudo
    logs = log(own) - np.log(joint.sum() - out.shares + pseudo * joint.size)[:, None]
    for child in set(range(c)).difference(superparents):
        known = codes[child, votes] >= 0
        counts = contingency_tables(data, [(*superparents, child, c)])[0]
        pseudo = prior.per_cell(data.cards[child], 1)
        where = tuple(s[known] for s in at)
        cell = counts[(*where, codes[child, votes][known])] - off[known] + pseudo
        given = counts.sum(axis=-2)[where] - off[known] + pseudo * data.cards[child]
        logs[known] += log(cell) - log(given)
    return votes, logs
