"""Incomplete rows in weighted models: trees without each row, and the rule that these choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log
from ..base.immutable import POWER, Immutable, bounded, record
from ..frames.schema import Dataset
from ..network.classifiers import BNC
from ..network.elimination import BLOCK_ROWS, network_joint
from ..network.estimates import Scope
from ..network.factors import Factor
from .cases import name_ranks, row_keys
from .powers import COMMON_PRECISION, Terms, log_likelihood, maximize, odds
from .tables import LeftOut, PrefixTable, class_probabilities

_MOST_CELLS = 2**20  # maximum number of cells of a table in a tree
_TREES = 3


@record
@dataclass(frozen=True)
class Fading(Immutable):
    """S = λ Σ w·term + (1 − λ) (ln P(y) + (base + slope h) M), λ = (1 − h)^exponent, at a share h missing."""

    bounds = bounded(exponent=(1.0, 16.0), base=POWER, slope=POWER)

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
    """Return the mean over trees of ln P(observed features | class), (rows, classes), each with a coding."""
    total = np.zeros((codes.shape[1], trees[0][0][-1].table.shape[-1]))
    nothing = np.full((len(codes), 1), -1)
    for start in range(0, codes.shape[1], BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        for terms, coarsen in trees:
            rows = np.concatenate([codes[:, block], nothing], axis=1)
            logs = network_joint(terms, rows if coarsen is None else coarsen(rows))
            total[block] += logs[:-1] - logs[-1]
    return total / len(trees)


def some(codings: Sequence[object]) -> list[int]:
    """Return an evenly spread selection of the positions of codings, whose trees are averaged."""
    n = len(codings)
    positions: list[int] = np.unique(np.linspace(0, n - 1, min(n, _TREES)).astype(int)).tolist()
    return positions


def marginalize(
    scopes: Sequence[Scope],
    tables: Sequence[PrefixTable],
    codes: Codes,
    left_out: LeftOut,
    known: Codes | None = None,
) -> Array:
    """Return the log joint of (known) rows under the network without each row, (rows, classes)."""
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
    """Return the table of each row from all others, (parents' levels…, levels, rows, classes or 1)."""
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


_COPIES = 3  # number of copies of a row, with different features hidden
_MOST_ROWS = 200
_MOST_LEFT_OUT = 2**23  # number of cells of the tables of a tree, one per row
_EXPONENTS = (1.0, 2.0, 4.0, 8.0, 16.0)


def learn_fading(x: Any, data: Dataset) -> Fading:
    """Return the best rule of a model for rows that lack random shares of features, by leave-one-out."""
    trees = [(i, *first_parents(x._in_coding(i), x.tables[i])) for i in some(x.tables)]
    cells = max(sum(table.cells for table in tables) for _, _, tables in trees)
    rows, counts = _sample(data, max(1, min(_MOST_ROWS, _MOST_LEFT_OUT // cells)))
    shares = data.units[rows]
    left_out = LeftOut(data.codes[-1, rows], shares)
    copies = np.tile(np.arange(len(rows)), _COPIES)
    rng, d = np.random.default_rng(0), len(x.features)
    hidden = rng.random((d, len(copies)))[name_ranks(x.features)] < rng.random(len(copies))
    known = np.where(hidden, -1, data.codes[:-1, rows[copies]])
    places = data.positions
    known_numbers = [(f, v) for f, v in data.numbers.items() if f in x.features]
    numbers = {f: np.where(hidden[places[f]], np.nan, v[rows[copies]]) for f, v in known_numbers}
    copied = left_out.take(copies)
    terms = x.of_tables.left_out(known, copied)
    for _, logs in x._further(x._with_numbers(known, numbers)):  # without leave-one-out
        terms += logs
    log_prior = log(next(class_probabilities(x.tables[0][-1], [], len(rows), left_out)))[copies]
    joints = []
    for i, tree, tables in trees:
        coding = x._coding(i) or (lambda codes: codes)
        own = np.concatenate([coding(data.codes[:-1, rows]), data.codes[-1:, rows]])
        joints.append(marginalize(tree.scopes, tables, own, left_out, coding(known)))
    evidence = np.mean(joints, axis=0) - log_prior
    shares = missing_shares(known)
    return _best(odds(terms), odds(log_prior), odds(evidence), shares, copied.classes, counts[copies])


def _best(
    terms: Array, prior: Array, trees: Array, shares: Array, classes: NDArray[Any], counts: Array
) -> Fading:
    """Return the rule that is best for rows, given odds of the classes, (classes − 1, rows)."""
    mean, ridges, found = np.array([1.0, 0.0]), np.full(2, COMMON_PRECISION), []
    for exponent in _EXPONENTS:
        kept = (1 - shares) ** exponent
        both = np.stack([(1 - kept) * trees, (1 - kept) * shares * trees])
        offset = kept * terms + (1 - kept) * prior
        powers, total, _ = maximize(Terms([both], classes, counts, offset=offset), mean, ridges, mean)
        value = log_likelihood(total, classes, counts)
        value -= COMMON_PRECISION / 2 * float(((powers - mean) ** 2).sum())
        found.append((value, Fading(exponent, *powers.tolist())))
    return max(found, key=lambda pair: pair[0])[1]


def _sample(data: Dataset, most: int) -> tuple[NDArray[np.intp], Array]:
    """Return evenly spread distinct rows and their frequencies."""
    _, first, group = np.unique(row_keys(data), return_index=True, return_inverse=True)
    counts = np.bincount(group, data.weights).astype(np.float64)
    in_turn = np.argsort(first)
    chosen = in_turn[np.unique(np.linspace(0, len(first) - 1, min(len(first), most)).astype(np.intp))]
    return first[chosen], counts[chosen]
