"""Marginalization if no variable has two feature parents: messages between the features.

A missing feature is marginalized over, given the evidence of its children, and
the sums are sent to its parent if the parent is missing, too. A pass in reverse
order distributes the posteriors of parents. All rows in which a feature is
missing are processed at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..tools.arrays import Array, Codes, Mask, Positions, log, log_sum_exp, slices, softmax
from ..tools.graphs import topological_layers
from .factors import Belief, Factor

_LEAST = 1e-200  # means of likelihoods below which logs are added up


class ChildEvidence(NamedTuple):
    """ln P(observed descendants | value) of a feature that rows lack, (rows, levels, classes)."""

    feature: int
    rows: Positions
    logs: Array


def is_forest(factors: Sequence[Factor]) -> bool:
    """Whether no variable has two feature parents."""
    *of_features, of_class = factors
    return all(len(factor.scope) <= 2 for factor in of_features) and len(of_class.scope) <= 1


def add_terms_by_messages(
    total: Array, factors: Sequence[Factor], codes: Codes, context: Codes
) -> None:
    """Add marginalized terms by probabilities or, in rows in which these are too small, by logs."""
    rows: Positions = np.arange(len(total))
    if all(f.table.shape[-2] == 1 and f.table.max(initial=0) <= 0 for f in factors):
        rows = _add_terms_by_probabilities(total, factors, codes)
    if len(rows):
        some = total[rows]
        for _ in collect_evidence(some, factors, codes[:, rows], context[rows]):
            pass
        total[rows] = some


def _add_terms_by_probabilities(total: Array, factors: Sequence[Factor], codes: Codes) -> Positions:
    """Add terms as `collect_evidence`, but return the rows with a small sum, and leave them."""
    parent, children = _parents_and_children(factors)
    added, is_small = np.zeros_like(total), np.zeros(len(total), dtype=bool)
    # a missing value is a last level, of probability 1, but not of parents
    padded = [f.padded_table[:, :-1] if len(f.scope) > 1 else f.padded_table for f in factors]
    tables = [np.exp(table[..., 0, :]) for table in padded]
    messages: dict[int, tuple[Positions, Array]] = {}  # as in `collect_evidence`, with their rows
    parents = {v: [] if p is None else [p] for v, p in enumerate(parent)}
    for v in (v for layer in reversed(topological_layers(parents)) for v in layer if v in children):
        rows, p = np.flatnonzero(codes[v] < 0), parent[v]
        if p is not None:  # first those with a known parent
            is_known: Mask = codes[p, rows] >= 0
            n, rows = np.count_nonzero(is_known), np.concatenate([rows[is_known], rows[~is_known]])
        own: Array = tables[v][:-1]
        evidence = np.ones((len(rows), len(own), total.shape[1]))
        for child in children[v]:
            if child == len(codes):  # the class, which has no row in the codes
                evidence *= tables[child][:-1]
                continue
            of_child: Codes = codes[child, rows]
            likelihood = tables[child].take(of_child, axis=0, mode="wrap")
            if child in messages:
                lacking, means = messages[child]
                at = np.flatnonzero(of_child < 0)
                if likelihood.shape[2] < means.shape[2]:  # the class is not a parent of the child
                    likelihood = np.repeat(likelihood, means.shape[2], axis=2)
                likelihood[at] = means.take(lacking.searchsorted(rows[at]), axis=0)
            evidence *= likelihood
        seen, joint = rows, evidence
        if p is None:
            joint *= own
        else:
            seen, unseen = rows[:n], rows[n:]
            means = np.matmul(evidence[n:].transpose(2, 0, 1), own.transpose(2, 0, 1))
            messages[v] = unseen, means.transpose(1, 2, 0)
            joint = evidence[:n]
            joint *= own.swapaxes(0, 1).take(codes[p, seen], axis=0)
        sums: Array = reduce(np.add, joint.swapaxes(0, 1))
        if sums.min(initial=1) < _LEAST:
            is_small[seen] |= (sums < _LEAST).any(axis=1)
        added[seen] = added.take(seen, axis=0) + log(sums)
    total[~is_small] += added[~is_small]
    return np.flatnonzero(is_small)


def collect_evidence(
    total: Array, factors: Sequence[Factor], codes: Codes, context: Codes, *, leaves: bool = False
) -> Iterator[ChildEvidence]:
    """Add marginalized terms, and yield the evidence on missing features, children first."""
    parent, children = _parents_and_children(factors)
    # From missing features to missing parents: logs at the rows that lack both, (rows, levels of
    # the parent, classes).
    messages: dict[int, Array] = {}
    parents = {v: [] if p is None else [p] for v, p in enumerate(parent)}
    for v in (v for layer in reversed(topological_layers(parents)) for v in layer):
        if not (leaves or v in children):
            continue
        rows = np.nonzero(codes[v] < 0)[0]
        if not len(rows):
            continue
        evidence = np.zeros((len(rows), len(factors[v].table), total.shape[1]))
        for child in children.get(v, ()):
            _add_evidence_of_child(evidence, rows, child, factors, codes, context, messages)
        yield ChildEvidence(v, rows, evidence)
        if v not in children:
            continue  # an unobserved leaf sums to 1
        p = parent[v]
        known, seen, unseen = _split_by_known_feature(rows, p, codes)
        total[seen] += log_sum_exp(
            _conditional_logs(v, p, seen, factors, codes, context) + evidence[known], axis=1
        )
        if len(unseen):
            messages[v] = _log_evidence_by_parent(
                factors[v].table, context[unseen], evidence[~known]
            )


def distribute_posteriors(
    ascent: Sequence[ChildEvidence], factors: Sequence[Factor], codes: Codes, context: Codes
) -> Iterator[Belief]:
    """Yield the posteriors of the missing members of each family, from the evidence with leaves."""
    parent, children = _parents_and_children(factors)
    beliefs: dict[int, tuple[Positions, Array]] = {}
    for v, rows, logs in reversed(ascent):
        p = parent[v]
        known, seen, unseen = _split_by_known_feature(rows, p, codes)
        belief = np.empty_like(logs)
        belief[known] = softmax(
            _conditional_logs(v, p, seen, factors, codes, context) + logs[known], axis=1
        )
        yield Belief(v, seen, (v,), belief[known])
        if p is not None and len(unseen):
            parent_rows, parent_belief = beliefs[p]
            parent_belief, start = parent_belief[np.searchsorted(parent_rows, unseen)], 0
            marginals = []
            for pairs in _log_joints_with_parent(factors[v].table, context[unseen], logs[~known]):
                block = slice(start, start := start + len(pairs))
                shares: Array = softmax(pairs, axis=1) * parent_belief[block, None]
                yield Belief(v, unseen[block], (v, p), shares)
                marginals.append(shares.sum(axis=2))
            belief[~known] = np.concatenate(marginals)
        beliefs[v] = rows, belief
        for child in children.get(v, ()):
            observed, given, _ = _split_by_known_feature(
                rows, None if child == len(codes) else child, codes
            )
            yield Belief(child, given, (v,), belief[observed])


def _split_by_known_feature(
    rows: Positions, feature: int | None, codes: Codes
) -> tuple[Mask, Positions, Positions]:
    """Return in which rows a feature, if any, is known, these rows, and the others."""
    known = np.full(len(rows), True) if feature is None else codes[feature, rows] >= 0
    return known, rows[known], rows[~known]


def _parents_and_children(
    factors: Sequence[Factor],
) -> tuple[list[int | None], dict[int, list[int]]]:
    """Return the parent of each feature, and the children of each parent, including the class."""
    *of_features, of_class = factors
    parent = [factor.scope[1] if len(factor.scope) > 1 else None for factor in of_features]
    children: dict[int, list[int]] = {}
    for child, p in enumerate([*parent, *of_class.scope]):
        if p is not None:
            children.setdefault(p, []).append(child)
    return parent, children


def _conditional_logs(
    v: int, p: int | None, rows: Positions, factors: Sequence[Factor], codes: Codes, context: Codes
) -> Array:
    """Return ln P(feature | observed parent, class), (rows or 1, levels, classes)."""
    table = factors[v].table
    if p is None:
        return _tables_at_contexts(table, context[rows])
    return _entries_at_codes(table.swapaxes(0, 1), codes[p, rows], context[rows])


def _log_evidence_by_parent(table: Array, context: Codes, evidence: Array) -> Array:
    """Return ln Σ_v P(v | p) e(v) per level p of a missing parent, (rows, levels of p, classes).

    Without further contexts, this is a product of matrices per class. It is
    repeated with logs where it is so small that a term may have been rounded
    to 0.
    """
    if table.shape[-2] > 1:
        pairs = _log_joints_with_parent(table, context, evidence)
        return np.concatenate([log_sum_exp(logs, axis=1) for logs in pairs])
    top: Array = reduce(np.maximum, evidence.swapaxes(0, 1))
    top = np.where(top == -np.inf, 0.0, top)
    shares = np.exp(evidence - top[:, None])
    conditional = np.exp(table[..., 0, :])
    means: Array = np.matmul(shares.transpose(2, 0, 1), conditional.transpose(2, 0, 1))
    means = means.transpose(1, 2, 0)
    result = log(means) + top[:, None]
    small = np.flatnonzero((means < _LEAST).any(axis=(1, 2)))
    if len(small):
        pairs = _log_joints_with_parent(table, context[small], evidence[small])
        result[small] = np.concatenate([log_sum_exp(logs, axis=1) for logs in pairs])
    return result


def _log_joints_with_parent(table: Array, context: Codes, evidence: Array) -> Iterator[Array]:
    """Yield table plus evidence by block, (rows, levels, levels of the missing parent, classes)."""
    tables = np.ascontiguousarray(np.moveaxis(table, -2, 0))  # copied once, not for each block
    cells = table.shape[0] * table.shape[1] * evidence.shape[-1]
    for block in slices(len(evidence), cells):
        of_rows = tables if len(tables) == 1 else tables.take(context[block], axis=0)
        yield of_rows + evidence[block, :, None]


def _entries_at_codes(table: Array, code: Codes, context: Codes) -> Array:
    """Select a code of the first axis, -1 the last, and a context per row: (rows, …, classes)."""
    contexts = table.shape[-2]
    flat = np.moveaxis(table, -2, 1).reshape(-1, *table.shape[1:-2], table.shape[-1])
    index = code if contexts == 1 else code.astype(np.intp) * contexts + context
    return flat.take(index, axis=0, mode="wrap")


def _tables_at_contexts(table: Array, context: Codes) -> Array:
    """Select the context of a table per row, (rows or 1, …, classes)."""
    if table.shape[-2] == 1:
        return table[None, ..., 0, :]
    return np.moveaxis(table, -2, 0).take(context, axis=0)


def _add_evidence_of_child(
    evidence: Array,
    rows: Positions,
    child: int,
    factors: Sequence[Factor],
    codes: Codes,
    context: Codes,
    messages: Mapping[int, Array],
) -> None:
    """Add the evidence of a child on each value of a missing feature to (rows, levels, classes)."""
    if child == len(codes):  # the class, which has no row in the codes
        evidence += _tables_at_contexts(factors[child].table, context[rows])
        return
    # The code of a missing child selects the padding, 0.
    evidence += _entries_at_codes(
        factors[child].padded_table[:, :-1], codes[child, rows], context[rows]
    )
    if child in messages:
        evidence[codes[child, rows] < 0] += messages[child]
